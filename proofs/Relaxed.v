(** The relaxed system: agents wait only where happens-before orders memory.

    The machine of [Model] also waits where rules Y2 and Y4 say that nothing is ordered: for threads that return, and at
    shuffles and relaxed arrivals. Memory may be accessed later than that. So races are those of the relaxed system: it
    takes from a run which arrivals each wait waits for (the same in every run, by [Schedules]), and then lets each agent
    perform its events in order, where a wait only waits for the arrivals of its phase that pass something on. *)
From Volta Require Import Maps Diamond Model Commute Checked Schedules History.

Section Relaxed.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).
  Hypothesis update_commutes : forall f v x y, update f (update f v x) y = update f (update f v y) x.

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds true).
  Notation perform := (perform zero compute update).
  Notation next := (next program).
  Notation event_at := (event_at program).
  Notation arrives := (arrives program).
  Notation awaits := (awaits program).
  Notation before := (before program).

  Record relaxed := RState { at_event : list nat; all_registers : list (list value); shared : list value }.

  Definition pos r c := get 0 (at_event r) c.
  Definition relaxed_start mem := RState [] [] mem.

  Section From.
    (** The state that a checked run has reached. *)
    Variable s : state.

    Definition ready r c := forall d q, before s c (pos r c) d q -> q < pos r d.

    Lemma before_dec c p d q : {before s c p d q} + {~ before s c p d q}.
    Proof.
      unfold History.before, History.awaits, History.arrives.
      destruct (event_at c p) as [[| o e|]|] eqn:E1; try (right; intros (? & ? & ? & ? & (? & ? & _) & _); congruence).
      destruct (waits_for e) eqn:W; [|right; intros (? & ? & ? & ? & (? & ? & ?) & _); congruence].
      destruct (event_at d q) as [[| o' e'|]|] eqn:E2; try (right; intros (? & ? & ? & ? & _ & _ & (? & ? & _) & _); congruence).
      destruct (passes_on e') eqn:A; [|right; intros (? & ? & ? & ? & _ & _ & (? & ? & ?) & _); congruence].
      destruct (Nat.eq_dec o o') as [<-|N]; [|right; intros (? & ? & ? & ? & (? & ? & _) & _ & (? & ? & _) & _); congruence].
      unfold logged.
      destruct (nth_error (log (agent_of s c)) p) as [[n k]|]; [|right; intros (? & ? & ? & ? & _ & ? & _); congruence].
      destruct (nth_error (log (agent_of s d)) q) as [[m k']|]; [|right; intros (? & ? & ? & ? & _ & _ & _ & ?); congruence].
      destruct (Nat.eq_dec n (S m)) as [->|N]; [left|right; intros (? & ? & ? & ? & _ & ? & _ & ?); congruence].
      exists o, m, k, k'. eauto 8.
    Defined.

    Lemma ready_dec r c : {ready r c} + {~ ready r c}.
    Proof.
      set (P d q := before s c (pos r c) d q -> q < pos r d).
      assert (dec : forall d q, {P d q} + {~ P d q}).
      { intros d q. unfold P. destruct (before_dec c (pos r c) d q); [destruct (lt_dec q (pos r d))|]; tauto. }
      assert (dec' : forall d, {Forall (P d) (seq 0 (place s d))} + {~ Forall (P d) (seq 0 (place s d))}).
      { intros d. apply all_dec, dec. }
      destruct (all_dec _ dec' (seq 0 (length (agents s)))) as [H|H].
      - left. intros d q B. rewrite Forall_forall in H.
        assert (L : q < place s d) by (destruct B as (? & ? & ? & ? & _ & _ & _ & B); eapply logged_place; eauto).
        assert (L' : d < length (agents s)).
        { destruct (lt_dec d (length (agents s))); auto. exfalso. revert L. unfold place, agent_of, get.
          rewrite nth_overflow by lia. cbn; lia. }
        specialize (H d ltac:(apply in_seq; lia)). rewrite Forall_forall in H. apply (H q); auto. apply in_seq; lia.
      - right. intros R. apply H, Forall_forall. intros d _. apply Forall_forall. intros q _ B. apply R, B.
    Defined.

    Definition advance r c :=
      match event_at c (pos r c) with
      | Some (Do x _) =>
        let regs := get [] (all_registers r) c in
        RState (upd 0 (at_event r) c (S (pos r c))) (upd [] (all_registers r) c (fst (perform x regs (shared r))))
               (snd (perform x regs (shared r)))
      | _ => RState (upd 0 (at_event r) c (S (pos r c))) (all_registers r) (shared r)
      end.

    Definition relaxed_step r c : res relaxed :=
      if lt_dec (pos r c) (place s c) then if ready_dec r c then Ok (advance r c) else Blocked else Blocked.

    Lemma pos_advance r c d : pos (advance r c) d = if Nat.eq_dec d c then S (pos r c) else pos r d.
    Proof.
      unfold advance, pos. destruct (event_at c _) as [[| |]|]; cbn; destruct (Nat.eq_dec d c) as [->|N];
        rewrite ?get_upd_eq; auto; rewrite get_upd_ne; auto.
    Qed.

    Lemma relaxed_step_inv r c r' : relaxed_step r c = Ok r' -> pos r c < place s c /\ ready r c /\ r' = advance r c.
    Proof. unfold relaxed_step. destruct (lt_dec _ _); [|discriminate]. destruct (ready_dec r c); [|discriminate]. intros [= <-]; auto. Qed.

    Lemma relaxed_step_ok r c : pos r c < place s c -> ready r c -> relaxed_step r c = Ok (advance r c).
    Proof. intros L R. unfold relaxed_step. destruct (lt_dec _ _); [|contradiction]. destruct (ready_dec r c); [auto|contradiction]. Qed.

    Variable Hs : history program s.

    (** ** Happens-before is what every relaxed run respects *)

    Definition respects r := forall c p n k, logged s c p n k -> p < pos r c -> forall a i, i < at_ (known k) a -> i < pos r a.

    Lemma respects_start mem : respects (relaxed_start mem).
    Proof. intros c p n k _ L. unfold pos in L; cbn in L. rewrite get_nil in L. lia. Qed.

    Lemma respects_step r c r' : respects r -> relaxed_step r c = Ok r' -> respects r'.
    Proof.
      intros K H. apply relaxed_step_inv in H. destruct H as (L & R & ->).
      assert (M : forall a i, i < pos r a -> i < pos (advance r c) a).
      { intros a i. rewrite pos_advance. destruct (Nat.eq_dec a c); subst; lia. }
      intros d p n k Hl Hp a i Hi. rewrite pos_advance in Hp. destruct (Nat.eq_dec d c) as [->|N]; [|eapply M, K; eauto].
      destruct (Nat.eq_dec p (pos r c)) as [->|Np]; [|eapply M, K; eauto; lia].
      destruct (of_entry _ s Hs _ _ _ _ Hl a i Hi) as [[-> Li]|[(p' & n' & k' & Ep & Hl' & Hi')|(o & j & d & q & k' & Aw & -> & Ar & Hl' & Hi')]].
      - rewrite pos_advance. destruct (Nat.eq_dec c c); [lia|congruence].
      - apply M. eapply K; eauto. lia.
      - apply M. eapply K; eauto. apply R. exists o, j, k, k'. auto.
    Qed.

    Lemma relaxed_no_race r c d x xa y ya : respects r -> c <> d -> pos r c < place s c -> pos r d < place s d ->
      event_at c (pos r c) = Some (Do x xa) -> event_at d (pos r d) = Some (Do y ya) -> conflict x y = false.
    Proof.
      assert (half : forall c d x xa n k, respects r -> c <> d -> event_at c (pos r c) = Some (Do x xa) ->
        logged s c (pos r c) n k -> pos r d < at_ (known k) d -> False).
      { intros a b x' xa' n k K N E Hl Hi.
        destruct (of_entry _ s Hs _ _ _ _ Hl b _ Hi) as [[-> _]|[(p' & n' & k' & Ep & Hl' & Hi')|(o & j & d' & q & k' & (e & Aw & _) & _)]].
        - congruence.
        - specialize (K a p' n' k' Hl' ltac:(lia) b _ Hi'). lia.
        - congruence. }
      intros K N Lc Ld Ec Ed. destruct (conflict x y) eqn:C; auto. exfalso.
      destruct (of_races _ s Hs c _ d _ x xa y ya N Lc Ld Ec Ed C) as [(n & k & Hl & Hi)|(n & k & Hl & Hi)];
        [apply (half c d x xa n k)|apply (half d c y ya n k)]; auto.
    Qed.

    Lemma relaxed_diamond r c d : respects r -> c <> d -> joins relaxed_step r c d.
    Proof.
      intros K N. unfold joins.
      destruct (relaxed_step r c) as [| |rc] eqn:Ec; auto.
      1: { unfold relaxed_step in Ec. destruct (lt_dec _ _); [destruct (ready_dec _ _)|]; discriminate. }
      destruct (relaxed_step r d) as [| |rd] eqn:Ed; auto.
      1: { unfold relaxed_step in Ed. destruct (lt_dec _ _); [destruct (ready_dec _ _)|]; discriminate. }
      apply relaxed_step_inv in Ec, Ed. destruct Ec as (Lc & Rc & ->), Ed as (Ld & Rd & ->). left.
      assert (Pc : forall a, pos r a <= pos (advance r c) a) by (intros a; rewrite pos_advance; destruct (Nat.eq_dec a c); subst; lia).
      assert (Pd : forall a, pos r a <= pos (advance r d) a) by (intros a; rewrite pos_advance; destruct (Nat.eq_dec a d); subst; lia).
      assert (Ec : pos (advance r d) c = pos r c) by (rewrite pos_advance; destruct (Nat.eq_dec c d); congruence).
      assert (Ed : pos (advance r c) d = pos r d) by (rewrite pos_advance; destruct (Nat.eq_dec d c); congruence).
      rewrite !relaxed_step_ok.
      - eexists; split; [reflexivity|]. f_equal. unfold advance at 1 3. rewrite Ec, Ed.
        assert (F := fun x xa y ya Hc Hd => relaxed_no_race r c d x xa y ya K N Lc Ld Hc Hd).
        unfold advance. destruct (event_at c (pos r c)) as [[x xa| |]|], (event_at d (pos r d)) as [[y ya| |]|];
          cbn [at_event all_registers shared]; rewrite ?(get_upd_ne [] _ c d), ?(get_upd_ne [] _ d c) by auto;
          try (f_equal; apply upd_comm; auto).
        specialize (F _ _ _ _ eq_refl eq_refl).
        destruct (perform_after zero compute update update_commutes x y (get [] (all_registers r) c) (get [] (all_registers r) d) (shared r) F) as [F1 F2].
        rewrite conflict_sym in F.
        destruct (perform_after zero compute update update_commutes y x (get [] (all_registers r) d) (get [] (all_registers r) c) (shared r) F) as [F3 F4].
        rewrite F1, F3, F4. f_equal; [apply upd_comm; auto|apply upd_comm; auto].
      - rewrite Ec; auto.
      - intros a q B. rewrite Ec in B. specialize (Rc a q B). specialize (Pd a). lia.
      - rewrite Ed; auto.
      - intros a q B. rewrite Ed in B. specialize (Rd a q B). specialize (Pc a). lia.
    Qed.
  End From.

  (** ** Along a run *)

  (** What a later state has logged before and since. *)
  Definition later (s t : state) :=
    (forall c p n k, logged s c p n k -> logged t c p n k) /\
    (forall c p n k o, logged t c p n k -> arrives c p o -> place s c <= p -> phase (object_of s o) <= n).

  Lemma later_refl (s : state) : later s s.
  Proof. split; auto. intros c p n k o Hl _ L. apply logged_place in Hl. lia. Qed.

  Lemma later_step (s : state) l s' t : step s l = Ok s' -> later s' t -> later s t.
  Proof.
    intros H [A B]. destruct (step_place _ _ _ _ _ _ _ _ _ H) as [P Q].
    assert (Q' : forall o, phase (object_of s o) <= phase (object_of s' o)).
    { intros o. rewrite Q. destruct l; try destruct (Nat.eq_dec _ _); lia. }
    destruct l as [c|o].
    - destruct (act_summary _ _ _ _ _ s c s' H) as (ev & n0 & k0 & N & D & L & W & E).
      pose proof (logged_act s c s' n0 _ D L) as LA. split.
      + intros d p n k Hl. apply A, LA; auto.
      + intros d p n k o Hl Ar Lp. destruct (le_dec (place s' d) p) as [L'|L']; [specialize (B d p n k o Hl Ar L'); specialize (Q' o); lia|].
        rewrite P in L'. destruct (Nat.eq_dec d c) as [->|Nd]; [|lia].
        assert (p = place s c) as -> by lia.
        assert (Hl' : logged t c (place s c) n0 (after_event c (place s c) k0)) by (apply A, LA; auto).
        destruct (logged_same _ _ _ _ _ _ _ Hl Hl') as [-> _].
        destruct Ar as (e & Ee & Pe). rewrite event_at_next in N. rewrite N in Ee. injection Ee as ->.
        destruct E as (_ & -> & _). destruct e; try discriminate Pe; cbn; lia.
    - destruct (end_summary _ _ _ _ _ s o s' H) as (E & _ & _).
      assert (LA : forall c p n k, logged s' c p n k <-> logged s c p n k) by (intros; unfold logged, agent_of; rewrite E; tauto).
      split.
      + intros d p n k Hl. apply A, LA; auto.
      + intros d p n k o' Hl Ar Lp. specialize (P d). rewrite <- P in Lp. specialize (B d p n k o' Hl Ar Lp). specialize (Q' o'). lia.
  Qed.

  Lemma later_run l : forall s t, run step s l = Ok t -> later s t.
  Proof.
    induction l as [|a l IH]; cbn; intros s t H; [injection H as <-; apply later_refl|].
    destruct (step s a) eqn:E; [destruct l; discriminate..|]. eapply later_step; eauto.
  Qed.

  (** Who takes part in which phase does not depend on the schedule (rules Y3, Y9): if one run passes all checks and cannot
      be continued, every event that any run executes has the number of the phase that it has in that run, and knows the
      same. *)
  Theorem participants_do_not_depend_on_the_schedule mem l sf :
    run step (start mem) l = Ok sf -> final step sf ->
    forall l' s', run (Model.step zero compute update program kinds false) (start mem) l' = Ok s' ->
    forall c p n k, logged s' c p n k -> logged sf c p n k.
  Proof.
    intros Hr Hf l' s' H' c p n k Hl.
    pose proof (one_run_for_all step label_dec sound (sound_step _ _ _ _ _)
      (checked_diamond _ _ _ _ _ update_commutes) (start mem) l sf (sound_start mem) Hr Hf) as A.
    destruct (machine_run_is_checked _ _ _ _ _ l' _ _ H') as [C|(l1 & l2 & _ & C)]; [|destruct (A l1); contradiction].
    destruct (A l') as [_ A']. destruct (A' s' C) as (rest & R & _).
    destruct (later_run _ _ _ R) as [L _]. auto.
  Qed.

  Definition good (s : state) := sound s /\ all_published_known s /\ history program s.

  Lemma good_start mem : good (start mem).
  Proof.
    split; [apply sound_start|]. split.
    - split.
      + intros c. unfold agent_of; cbn. rewrite get_nil. apply published_known_nothing.
      + intros o. unfold object_of; cbn. rewrite get_nil. cbn. split; [apply published_known_nothing|].
        intros j. rewrite get_nil. apply published_known_nothing.
    - assert (N : forall c p n k, ~ logged (start mem) c p n k).
      { intros c p n k. unfold logged, agent_of; cbn. rewrite get_nil. destruct p; discriminate. }
      assert (P : forall c, place (start mem) c = 0) by (intros; unfold place, agent_of; cbn; rewrite get_nil; auto).
      constructor.
      + intros c. rewrite P. unfold agent_of; cbn. rewrite get_nil. auto.
      + intros o a i. unfold object_of; cbn. rewrite get_nil. cbn. rewrite get_nil. lia.
      + intros o j a i. unfold object_of; cbn. rewrite get_nil. cbn. rewrite get_nil. cbn. rewrite get_nil. lia.
      + intros c p n k H. destruct (N _ _ _ _ H).
      + intros c p n k o H. destruct (N _ _ _ _ H).
      + intros c. rewrite P. lia.
      + intros c p d q x xa y ya _ L. rewrite P in L. lia.
  Qed.

  Lemma good_step s l s' : good s -> step s l = Ok s' -> good s'.
  Proof.
    intros ([B E] & P & H) R. split; [eapply sound_step; eauto; split; auto|]. split.
    - eapply published_known_step; eauto.
    - eapply history_step; eauto.
  Qed.

  Lemma good_run l : forall s t, good s -> run step s l = Ok t -> good t.
  Proof.
    induction l as [|a l IH]; cbn; intros s t G H; [congruence|].
    destruct (step s a) eqn:E; [destruct l; discriminate..|]. eapply IH; [|exact H]. eapply good_step; eauto.
  Qed.

  (** When a wait is over, the arrivals of its phase have been executed. *)
  Lemma waits_are_over (s : state) c s' t d q :
    good s -> step s (Act c) = Ok s' -> later s' t -> before t c (place s c) d q -> q < place s d.
  Proof.
    intros G H Lt (o & j & k & k' & Aw & Hl & Ar & Hl').
    assert (G' := good_step _ _ _ G H). pose proof (later_step _ _ _ _ H Lt) as [_ B]. destruct Lt as [A _].
    destruct (act_summary _ _ _ _ _ s c s' H) as (ev & n0 & k0 & N & D & L & _ & E).
    pose proof (logged_act s c s' n0 _ D L) as LA.
    assert (Hn : logged s' c (place s c) n0 (after_event c (place s c) k0)) by (apply LA; auto).
    destruct (logged_same _ _ _ _ _ _ _ Hl (A _ _ _ _ Hn)) as [<- _].
    destruct Aw as (e & Ee & We). rewrite event_at_next in N. rewrite N in Ee. injection Ee as ->.
    destruct E as (_ & _ & E & _). specialize (E We).
    destruct (lt_dec q (place s d)); auto. specialize (B d q j k' o Hl' Ar ltac:(lia)). lia.
  Qed.

  Definition matches (s : state) r :=
    (forall c, pos r c = place s c) /\ (forall c, get [] (all_registers r) c = registers (agent_of s c)) /\ shared r = memory s.

  (** Every run of the machine is one of the relaxed system. *)
  Lemma runs_are_relaxed t l : forall s r, good s -> run step s l = Ok t -> matches s r ->
    exists l' r', run (relaxed_step t) r l' = Ok r' /\ matches t r'.
  Proof.
    induction l as [|a l IH]; cbn; intros s r G H M.
    - injection H as <-. exists [], r; auto.
    - destruct (step s a) as [| |s'] eqn:E; [destruct l; discriminate..|].
      assert (G' := good_step _ _ _ G E). pose proof (later_run _ _ _ H) as Lt.
      destruct a as [c|o].
      + assert (R : relaxed_step t r c = Ok (advance r c)).
        { destruct M as (M & _). apply relaxed_step_ok.
          - rewrite M. pose proof (later_step _ _ _ _ E Lt) as _.
            assert (place s c < place s' c). { destruct (step_place _ _ _ _ _ _ _ _ _ E) as [P _]. rewrite P. destruct (Nat.eq_dec c c); [lia|congruence]. }
            destruct (logged_exists s' c (place s c)) as (n & k & Hl); auto. destruct Lt as [A _]. eapply logged_place, A, Hl.
          - intros d q B. rewrite M in *. eapply waits_are_over; eauto. }
        assert (M' : matches s' (advance r c)).
        { destruct M as (M1 & M2 & M3).
          destruct (step_place _ _ _ _ _ _ _ _ _ E) as [P _].
          split; [intros d; rewrite pos_advance, P; destruct (Nat.eq_dec d c); subst; auto|].
          apply step_changes in E. unfold advance. rewrite M1.
          inversion E as [c' x xa N R'|c' N|c' o e ag' N W F|]; subst; rewrite event_at_next in N; rewrite N; cbn; split; auto.
          - intros d. destruct (Nat.eq_dec d c) as [->|Nd].
            + rewrite get_upd_eq, agent_of_upd, M2, M3. auto.
            + rewrite get_upd_ne, agent_of_upd_ne by auto. auto.
          - rewrite M2, M3; auto.
          - intros d. rewrite M2. destruct (Nat.eq_dec d c) as [->|Nd]; [rewrite agent_of_upd|rewrite agent_of_upd_ne by auto]; auto.
          - intros d. rewrite M2. destruct (Nat.eq_dec d c) as [->|Nd]; [rewrite agent_of_upd|rewrite agent_of_upd_ne by auto]; auto. }
        destruct (IH s' _ G' H M') as (l' & r' & R' & M2). exists (c :: l'), r'. cbn. rewrite R. auto.
      + apply (IH s' r G' H). destruct M as (M1 & M2 & M3).
        destruct (step_place _ _ _ _ _ _ _ _ _ E) as [P _].
        split; [intros c; rewrite P; auto|]. apply step_changes in E. inversion E; subst. auto.
  Qed.

  (** ** One run speaks for the relaxed system

      A run passes all checks. Then all relaxed runs of what it has executed end with the same memory and registers, after
      as many steps, and in no state of any of them are two conflicting accesses possible next. *)
  Theorem one_run_speaks_for_the_relaxed_system mem l t :
    run step (start mem) l = Ok t ->
    forall l' r, run (relaxed_step t) (relaxed_start mem) l' = Ok r ->
      (exists rest r', run (relaxed_step t) r rest = Ok r' /\ matches t r') /\
      (final (relaxed_step t) r -> matches t r) /\
      (forall c d x xa y ya, c <> d -> pos r c < place t c -> pos r d < place t d ->
        event_at c (pos r c) = Some (Do x xa) -> event_at d (pos r d) = Some (Do y ya) -> conflict x y = false).
  Proof.
    intros H l' r R. assert (G := good_run _ _ _ (good_start mem) H). destruct G as (V & PK & Hs).
    assert (M0 : matches (start mem) (relaxed_start mem)).
    { repeat split; intros; unfold pos, place, agent_of; cbn; rewrite !get_nil; auto. }
    destruct (runs_are_relaxed t l _ _ (good_start mem) H M0) as (l0 & r0 & R0 & M).
    assert (F : final (relaxed_step t) r0).
    { intros c. unfold relaxed_step. destruct M as (M & _). rewrite M. destruct (lt_dec _ _); [lia|auto]. }
    pose proof (one_run_for_all (relaxed_step t) Nat.eq_dec (respects t) (respects_step t Hs) (relaxed_diamond t Hs)
      _ _ _ (respects_start t mem) R0 F l') as [_ A].
    destruct (A r R) as (rest & Rr & _).
    split; [eauto|]. split.
    - intros Fr. destruct rest as [|a rest]; [injection Rr as ->; auto|].
      cbn in Rr. rewrite (Fr a) in Rr. destruct rest; discriminate.
    - intros. eapply relaxed_no_race; eauto.
      eapply (run_ind_ok (relaxed_step t) (respects t)); [apply respects_start|..|exact R].
      intros. eapply respects_step; eauto.
  Qed.
End Relaxed.
