(** One run speaks for all schedules (rule Y8). *)
From Volta Require Import Maps Diamond Model Commute Checked.

Section Schedules.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).
  Hypothesis update_commutes : forall f v x y, update f (update f v x) y = update f (update f v y) x.

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds).
  Notation complete := (@complete value program).

  (** A step of the machine passes the checks, or they fail: they never hold it up. *)
  Lemma machine_step_is_checked (s : state) l s' : step false s l = Ok s' -> step true s l = Ok s' \/ step true s l = Bad.
  Proof.
    destruct l as [c|o]; cbn; unfold act.
    - destruct (next program s c) as [[x xa|o e|]|]; auto.
      + destruct (no_race_dec program s c x xa); auto.
      + destruct (may kinds false c o e _ _) eqn:M; try discriminate. intros [= <-].
        assert (C : may kinds true c o e (agent_of s c) (object_of s o) = Go \/ may kinds true c o e (agent_of s c) (object_of s o) = Wrong).
        { revert M. unfold may, may_arrive, may_expect, may_deliver, may_pass_parity, wrong.
          destruct e; destruct (kind_of kinds o); repeat match goal with |- context [if ?c then _ else _] => destruct c end;
            auto; try discriminate; intros _. }
        destruct C as [->| ->]; auto.
    - destruct (full_dec program kinds s o); auto. destruct (within_dec _ _); auto.
  Qed.

  Lemma machine_never_fails (s : state) l : step false s l <> Bad.
  Proof.
    destruct l as [c|o]; cbn; unfold act.
    - destruct (next program s c) as [[x xa|o e|]|]; try discriminate.
      destruct (may kinds false c o e _ _) eqn:M; try discriminate. exfalso. revert M.
      unfold may, may_arrive, may_expect, may_deliver, may_pass_parity, wrong.
      destruct e; destruct (kind_of kinds o); repeat match goal with |- context [if ?c then _ else _] => destruct c end; discriminate.
    - destruct (full_dec program kinds s o); discriminate.
  Qed.

  Lemma checked_step_is_a_step (s : state) l s' : sound s -> step true s l = Ok s' -> step false s l = Ok s'.
  Proof.
    intros [[B _] _]. destruct l as [c|o]; cbn; unfold act.
    - destruct (next program s c) as [[x xa|o e|]|]; auto.
      + destruct (no_race_dec program s c x xa); auto; discriminate.
      + destruct (may kinds true c o e _ _) eqn:M; try discriminate.
        assert (C : may kinds false c o e (agent_of s c) (object_of s o) = Go); [|rewrite C; auto].
        destruct (B c) as [_ V]. specialize (V o). revert M.
        unfold may, may_arrive, may_expect, may_deliver, may_pass_parity, wrong.
        destruct e as [m h|b|b h|j|p|q]; destruct (kind_of kinds o);
          assert (at_ (over (now (agent_of s c))) o < phase (object_of s o) \/ phase (object_of s o) = at_ (over (now (agent_of s c))) o) as [L|L] by lia;
          repeat match goal with |- context [if ?c then _ else _] => destruct c end;
          auto; try discriminate; try lia; congruence.
    - destruct (full_dec program kinds s o); auto. destruct (within_dec _ _); auto; discriminate.
  Qed.

  Lemma sound_run l : forall s s' : state, sound s -> run (step true) s l = Ok s' -> sound s'.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' V H; [congruence|].
    destruct (step true s a) eqn:E; [destruct l; discriminate..|]. eapply IH; [|exact H]. eapply sound_step; eauto.
  Qed.

  Lemma checked_run_is_a_run l : forall s s' : state, sound s -> run (step true) s l = Ok s' -> run (step false) s l = Ok s'.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' V H; auto.
    destruct (step true s a) eqn:E; [destruct l; discriminate..|].
    rewrite (checked_step_is_a_step s a s0); auto. apply IH; auto. eapply sound_step; eauto.
  Qed.

  (** For every run of the machine there is the checked one, or the checks fail along it. *)
  Lemma machine_run_is_checked l : forall s s' : state,
    run (step false) s l = Ok s' -> run (step true) s l = Ok s' \/ exists l' l'', l = l' ++ l'' /\ run (step true) s l' = Bad.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' H; auto.
    destruct (step false s a) eqn:E; [destruct l; discriminate..|].
    destruct (machine_step_is_checked s a s0 E) as [E'|E'].
    - rewrite E'. destruct (IH s0 s' H) as [R|(l' & l'' & -> & R)]; auto. right. exists (a :: l'), l''. cbn. rewrite E'; auto.
    - right. exists [a], l. cbn. rewrite E'; auto.
  Qed.

  (** ** One run speaks for all

      One run passes all checks and cannot be continued. Then no run of the machine is longer; each one can be continued
      to the same end, so that all maximal runs have the same final state: memory, registers and clocks; and in no state
      of any run are two conflicting accesses possible next. *)
  Theorem one_run_speaks_for_all mem l sf :
    run (step true) (start mem) l = Ok sf -> final (step true) sf ->
    forall l' s', run (step false) (start mem) l' = Ok s' ->
      (exists rest, run (step false) s' rest = Ok sf /\ length l = length l' + length rest) /\
      (final (step false) s' -> s' = sf).
  Proof.
    intros Hr Hf l' s' H'.
    pose proof (one_run_for_all (step true) label_dec sound (sound_step _ _ _ _ _)
      (checked_diamond _ _ _ _ _ update_commutes) (start mem) l sf (sound_start mem) Hr Hf) as A.
    destruct (machine_run_is_checked l' _ _ H') as [C|(l1 & l2 & _ & C)]; [|destruct (A l1); contradiction].
    destruct (A l') as [_ A']. destruct (A' s' C) as (rest & R & L).
    assert (V : sound s') by (eapply sound_run; [apply sound_start|exact C]).
    pose proof (checked_run_is_a_run rest s' sf V R) as R'. split; [eauto|].
    intros F. destruct rest as [|a rest]; [injection R; auto|].
    cbn in R'. rewrite (F a) in R'. destruct rest; discriminate.
  Qed.

  Corollary every_run_completes mem l sf :
    run (step true) (start mem) l = Ok sf -> final (step true) sf -> complete sf ->
    forall l' s', run (step false) (start mem) l' = Ok s' -> final (step false) s' ->
      complete s' /\ memory s' = memory sf /\ (forall c, registers (agent_of s' c) = registers (agent_of sf c)) /\ length l' = length l.
  Proof.
    intros Hr Hf Hc l' s' H' F. destruct (one_run_speaks_for_all mem l sf Hr Hf l' s' H') as [(rest & R & L) E].
    specialize (E F); subst. repeat split; auto. destruct rest as [|a rest]; [cbn in L; lia|].
    cbn in R. rewrite (F a) in R. destruct rest; discriminate.
  Qed.

  Theorem no_run_races mem l sf :
    run (step true) (start mem) l = Ok sf -> final (step true) sf ->
    forall l' s', run (step false) (start mem) l' = Ok s' ->
    forall c d x xa y ya, c <> d -> next program s' c = Some (Do x xa) -> next program s' d = Some (Do y ya) -> conflict x y = false.
  Proof.
    intros Hr Hf l' s' H' c d x xa y ya N Nc Nd.
    pose proof (one_run_for_all (step true) label_dec sound (sound_step _ _ _ _ _)
      (checked_diamond _ _ _ _ _ update_commutes) (start mem) l sf (sound_start mem) Hr Hf) as A.
    destruct (machine_run_is_checked l' _ _ H') as [C|(l1 & l2 & _ & C)]; [|destruct (A l1); contradiction].
    assert (V : sound s') by (eapply sound_run; [apply sound_start|exact C]).
    assert (G : forall a, step true s' a <> Bad).
    { intros a. rewrite <- (run_snoc _ _ _ a _ C). apply A. }
    assert (G2 : forall a t, step true s' a = Ok t -> forall b, step true t b <> Bad).
    { intros a t E b. rewrite <- (run_snoc _ (start mem) (l' ++ [a]) b t); [apply A|].
      rewrite (run_snoc _ _ _ _ _ C); auto. }
    destruct (step true s' (Act c)) as [| |t] eqn:E; [..|specialize (G2 _ _ E (Act d))].
    - cbn in E. unfold act in E. rewrite Nc in E. destruct (no_race_dec program s' c x xa); discriminate.
    - destruct (G _ E).
    - cbn in E, G2. unfold act in E, G2. rewrite Nc in E. destruct (no_race_dec program s' c x xa) as [R|R]; [|discriminate].
      injection E as <-. rewrite next_upd_ne, Nd in G2 by auto.
      destruct (no_race_dec program _ d y ya) as [R'|R']; [|congruence].
      apply no_race_next in R'; auto; [|apply V|apply place_log]. rewrite Nc in R'. apply R'.
  Qed.

  (** ** Reports of deadlock are true *)

  (** Where one run passes the checks and gets stuck, every run that cannot be continued is stuck in the same state. *)
  Theorem stuck_means_all_stuck mem l sf :
    run (step true) (start mem) l = Ok sf -> final (step true) sf -> ~ complete sf ->
    forall l' s', run (step false) (start mem) l' = Ok s' -> final (step false) s' -> ~ complete s'.
  Proof.
    intros Hr Hf Hc l' s' H' F. destruct (one_run_speaks_for_all mem l sf Hr Hf l' s' H') as [_ E]. rewrite (E F); auto.
  Qed.

  (** If some run of the machine is stuck, then no run completes without failing the checks. *)
  Theorem stuck_means_none_completes mem l' s' :
    run (step false) (start mem) l' = Ok s' -> final (step false) s' -> ~ complete s' ->
    forall l sf, run (step true) (start mem) l = Ok sf -> final (step true) sf -> ~ complete sf.
  Proof.
    intros H' F Hc l sf Hr Hf C. destruct (every_run_completes mem l sf Hr Hf C l' s' H' F); auto.
  Qed.

  (** If the checks fail along one run, no run ends without failing them: a fault of one schedule is never hidden by
      another one, though another one may find another fault. *)
  Theorem a_fault_is_found_by_every_run mem :
    fails (step true) (start mem) -> forall l s', run (step true) (start mem) l = Ok s' -> ~ final (step true) s'.
  Proof.
    intros Hf l s' H F.
    pose proof (one_failure_for_all (step true) label_dec sound (sound_step _ _ _ _ _)
      (checked_diamond _ _ _ _ _ update_commutes) (start mem) (sound_start mem) Hf l s' H) as [m M].
    destruct m as [|a m]; [discriminate|]. cbn in M. rewrite (F a) in M. destruct m; discriminate.
  Qed.
End Schedules.
