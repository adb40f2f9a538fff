(** Steps of the checked machine commute, or are an error in both orders. *)
From Volta Require Import Maps Diamond Model.

Section Commute.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).
  (** Updates of one operation commute (rule Y7). *)
  Hypothesis update_commutes : forall f v x y, update f (update f v x) y = update f (update f v y) x.

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds).
  Notation perform := (perform zero compute update).
  Notation next := (next program).
  Notation may := (may kinds).
  Notation end_phase := (@end_phase value program kinds).
  Notation ordered_by_returning := (@ordered_by_returning value program kinds).

  Lemma returning_orders_nothing s o : ordered_by_returning s o = [].
  Proof. unfold Model.ordered_by_returning. destruct (kind_of kinds o) as [n|l|]; auto. induction l; auto. Qed.

  (** ** Bounds: nobody knows what has not happened. *)

  Definition known_happened (s : state) k :=
    (forall a, at_ (known k) a <= place s a /\ at_ (past k) a <= place s a /\ at_ (published k) a <= place s a) /\
    (forall o, at_ (over k) o <= phase (object_of s o)).

  Definition bounded (s : state) :=
    (forall c, known_happened s (now (agent_of s c))) /\
    (forall o, known_happened s (passed (object_of s o)) /\
      (forall a, at_ (arrivals_past (object_of s o)) a <= place s a) /\
      Forall (known_happened s) (ends (object_of s o))).

  Lemma nothing_happened s : known_happened s nothing.
  Proof. split; intros; cbn; repeat split; rewrite get_nil; lia. Qed.

  Lemma learn_happened s k l : known_happened s k -> known_happened s l -> known_happened s (learn k l).
  Proof.
    intros [A B] [C D]; split; intros i; cbn; rewrite !at_join.
    - specialize (A i); specialize (C i); lia.
    - specialize (B i); specialize (D i); lia.
  Qed.

  Lemma all_happened (s t : state) l k : (forall c, known_happened t (now (agent_of s c))) -> known_happened t k ->
    known_happened t (fold_right (fun c k => learn k (now (agent_of s c))) k l).
  Proof. intros A K. induction l; cbn; auto. apply learn_happened; auto. Qed.

  Lemma happened_later s s' k :
    (forall a, place s a <= place s' a) -> (forall o, phase (object_of s o) <= phase (object_of s' o)) ->
    known_happened s k -> known_happened s' k.
  Proof.
    intros P Q [A B]; split; intros i.
    - specialize (A i); specialize (P i); lia.
    - specialize (B i); specialize (Q i); lia.
  Qed.

  Lemma after_event_happened s c p k : p < place s c -> known_happened s k -> known_happened s (after_event c p k).
  Proof.
    intros L [A B]; split; [|exact B]. intros a. specialize (A a). cbn.
    destruct (Nat.eq_dec c a) as [<-|N]; [rewrite !get_upd_eq|rewrite !get_upd_ne by auto]; lia.
  Qed.

  Lemma passes_happened s how c k : known_happened s k -> known_happened s (passes how c k).
  Proof.
    intros [A B]; destruct how; split; auto; intros a; specialize (A a); cbn; rewrite ?get_nil; try lia;
      (destruct (Nat.eq_dec c a) as [<-|N]; [rewrite !get_upd_eq|rewrite !get_upd_ne, get_nil by auto]; lia).
  Qed.

  Lemma fence_happened s c : known_happened s (now (agent_of s c)) -> known_happened s (fence (agent_of s c)).
  Proof.
    intros [A B]; split; auto. intros a; specialize (A a). unfold fence; cbn. rewrite at_join. lia.
  Qed.

  Lemma end_of_happened s o j : bounded s -> known_happened s (end_of (object_of s o) j).
  Proof.
    intros [_ B]. destruct (B o) as (_ & _ & E). destruct j as [|j]; cbn; [apply nothing_happened|].
    unfold get. destruct (nth_in_or_default j (ends (object_of s o)) nothing) as [H|H]; [|rewrite H; apply nothing_happened].
    rewrite Forall_forall in E; auto.
  Qed.

  Lemma learned_happened s e c o : bounded s -> known_happened s (learned e (agent_of s c) (object_of s o)).
  Proof.
    intros B. pose proof (proj1 B c). pose proof (proj1 (proj2 B o)). pose proof (fun j => end_of_happened s o j B).
    destruct e; unfold learned; cbn [waits_for]; auto; apply learn_happened; auto.
  Qed.

  Lemma agent_of_upd ags c ag obs mem : agent_of (State (upd new_agent ags c ag) obs mem) c = ag :> @agent value.
  Proof. apply get_upd_eq. Qed.

  Lemma agent_of_upd_ne (s : state) c d ag obs mem : d <> c ->
    agent_of (State (upd new_agent (agents s) c ag) obs mem) d = agent_of s d.
  Proof. intros; unfold agent_of; cbn. rewrite get_upd_ne; auto. Qed.

  Lemma object_of_upd (ags : list (@agent value)) obs o ob mem : object_of (State ags (upd new_object obs o ob) mem) o = ob.
  Proof. apply get_upd_eq. Qed.

  Lemma object_of_upd_ne (s : state) (ags : list (@agent value)) o o' ob mem : o <> o' ->
    object_of (State ags (upd new_object (objects s) o ob) mem) o' = object_of s o'.
  Proof. intros; unfold object_of; cbn. rewrite get_upd_ne; auto. Qed.

  Lemma take_part_phase c p e k ob : phase (take_part c p e k ob) = phase ob /\ ends (take_part c p e k ob) = ends ob.
  Proof. destruct ob, e; cbn; auto. Qed.

  Lemma place_log c (ag : @agent value) n k regs : length (log (log_event c ag n k regs)) = S (length (log ag)).
  Proof. cbn. rewrite app_length; cbn; lia. Qed.

  (** The three ways in which a step changes the state. *)
  Inductive changes (check : bool) (s : state) : label -> state -> Prop :=
  | Did c x x_async :
      next s c = Some (Do x x_async) -> (check = true -> no_race program s c x x_async) ->
      changes check s (Act c) (State (upd new_agent (agents s) c (log_event c (agent_of s c) 0 (now (agent_of s c))
          (fst (perform x (registers (agent_of s c)) (memory s))))) (objects s) (snd (perform x (registers (agent_of s c)) (memory s))))
  | Fenced c :
      next s c = Some Fence ->
      changes check s (Act c) (State (upd new_agent (agents s) c (log_event c (agent_of s c) 0 (fence (agent_of s c))
          (registers (agent_of s c)))) (objects s) (memory s))
  | Synced c o e ag' :
      next s c = Some (Sync o e) -> may check c o e (agent_of s c) (object_of s o) = Go ->
      ag' = log_event c (agent_of s c) (number e (agent_of s c) (object_of s o)) (learned e (agent_of s c) (object_of s o))
              (registers (agent_of s c)) ->
      changes check s (Act c) (State (upd new_agent (agents s) c ag') (upd new_object (objects s) o
          (take_part c (place s c) e (now ag') (object_of s o))) (memory s))
  | Ended o :
      full program kinds s o -> (check = true -> within (waits (object_of s o)) (past (passed (object_of s o)))) ->
      changes check s (End o) (State (agents s) (upd new_object (objects s) o (end_phase s o (object_of s o))) (memory s)).

  Lemma step_changes check s l s' : step check s l = Ok s' -> changes check s l s'.
  Proof.
    destruct l as [c|o]; cbn; unfold act.
    - destruct (next s c) as [[x x_async|o e|]|] eqn:N; try discriminate.
      + destruct check.
        * destruct (no_race_dec program s c x x_async); try discriminate. intros [= <-]; eapply Did; eauto.
        * intros [= <-]; eapply Did; eauto; discriminate.
      + destruct (may check c o e _ _) eqn:M; try discriminate. intros [= <-]. eapply Synced; eauto.
      + intros [= <-]. apply Fenced; auto.
    - destruct (full_dec program kinds s o); try discriminate.
      destruct check.
      + destruct (within_dec _ _); try discriminate. intros [= <-]. apply Ended; auto.
      + intros [= <-]. apply Ended; auto; discriminate.
  Qed.

  Lemma changes_step check s l s' : changes check s l s' -> step check s l = Ok s'.
  Proof.
    intros [c x x_async N R|c N|c o e ag' N M ->|o F W]; cbn; unfold act; rewrite ?N, ?M; auto.
    - destruct check; auto. destruct (no_race_dec program s c x x_async); auto. destruct (n (R eq_refl)).
    - destruct (full_dec program kinds s o); [|contradiction].
      destruct check; auto. destruct (within_dec _ _); auto. destruct (n (W eq_refl)).
  Qed.

  Lemma step_place check s l s' : step check s l = Ok s' ->
    (forall a, place s' a = match l with Act c => if Nat.eq_dec a c then S (place s a) else place s a | End _ => place s a end) /\
    (forall o, phase (object_of s' o) = match l with End o' => if Nat.eq_dec o o' then S (phase (object_of s o)) else phase (object_of s o)
                                        | Act _ => phase (object_of s o) end).
  Proof.
    intros H; apply step_changes in H. unfold place.
    destruct H as [c x x_async N R|c N|c o e ag' N M E|o F W]; (split; [intros a|intros o']); auto.
    all: try (destruct (Nat.eq_dec a c) as [->|D]; [rewrite agent_of_upd; subst; apply place_log|rewrite agent_of_upd_ne by auto; reflexivity]).
    - destruct (Nat.eq_dec o o') as [<-|D]; [rewrite object_of_upd; apply take_part_phase|rewrite object_of_upd_ne by auto; reflexivity].
    - destruct (Nat.eq_dec o' o) as [->|D]; [rewrite object_of_upd; reflexivity|rewrite object_of_upd_ne by auto; reflexivity].
  Qed.

  Lemma bounded_step s l s' : bounded s -> step true s l = Ok s' -> bounded s'.
  Proof.
    intros B H. destruct (step_place _ _ _ _ H) as [P Q].
    assert (P' : forall a, place s a <= place s' a).
    { intros a; rewrite P; destruct l; try destruct (Nat.eq_dec _ _); lia. }
    assert (Q' : forall o, phase (object_of s o) <= phase (object_of s' o)).
    { intros o; rewrite Q; destruct l; try destruct (Nat.eq_dec _ _); lia. }
    assert (later : forall k, known_happened s k -> known_happened s' k) by (intros k; apply happened_later; auto).
    assert (B0 := B). destruct B as [BA BO].
    assert (old_object : forall o, known_happened s' (passed (object_of s o)) /\
      (forall a, at_ (arrivals_past (object_of s o)) a <= place s' a) /\ Forall (known_happened s') (ends (object_of s o))).
    { intros o. destruct (BO o) as (O1 & O2 & O3). split; [auto|]. split.
      - intros a. specialize (O2 a); specialize (P' a); lia.
      - eapply Forall_impl; eauto. }
    assert (own : forall c n k regs, l = Act c -> known_happened s k -> known_happened s' (now (log_event c (agent_of s c) n k regs))).
    { intros c n k regs -> K. cbn. apply after_event_happened; auto. rewrite P. destruct (Nat.eq_dec c c); [unfold place; lia|congruence]. }
    apply step_changes in H.
    destruct H as [c x x_async N R|c N|c o e ag' N M ->|o F W].
    - split; [|exact old_object]. intros a. destruct (Nat.eq_dec a c) as [->|D].
      + rewrite agent_of_upd. apply own; auto.
      + rewrite agent_of_upd_ne by auto; apply later, BA.
    - split; [|exact old_object]. intros a. destruct (Nat.eq_dec a c) as [->|D].
      + rewrite agent_of_upd. apply own; auto. apply fence_happened; auto.
      + rewrite agent_of_upd_ne by auto; apply later, BA.
    - assert (L := learned_happened s e c o B0).
      pose proof (own c (number e (agent_of s c) (object_of s o)) _ (registers (agent_of s c)) eq_refl L) as K.
      set (ag' := log_event _ _ _ _ _) in *.
      split.
      + intros a. destruct (Nat.eq_dec a c) as [->|D].
        * rewrite agent_of_upd. exact K.
        * rewrite agent_of_upd_ne by auto; apply later, BA.
      + intros o'. destruct (Nat.eq_dec o o') as [<-|D].
        2: { rewrite object_of_upd_ne by auto. apply old_object. }
        rewrite object_of_upd. specialize (old_object o). destruct (object_of s o) as [ph n st arr b ex w ps ap en].
        destruct old_object as (O1 & O2 & O3). cbn [passed arrivals_past ends] in *.
        destruct e; cbn [take_part passed arrivals_past ends] in *; (split; [|split]); auto.
        all: try (apply learn_happened; auto; apply passes_happened; auto).
        all: try (intros a; rewrite at_join; destruct K as [K _]; specialize (K a); specialize (O2 a); lia).
    - split; [intros a; apply later, BA|].
      intros o'. destruct (Nat.eq_dec o o') as [<-|D].
      2: { rewrite object_of_upd_ne by auto. apply old_object. }
      rewrite object_of_upd. destruct (old_object o) as (O1 & O2 & O3). cbn. split; [apply nothing_happened|]. split; [intros; rewrite get_nil; lia|].
      apply Forall_app; split; auto. constructor; auto. unfold released.
      pose proof (all_happened s _ (ordered_by_returning s o) _ (fun c => later _ (BA c)) O1) as K.
      destruct K as [K1 K2]. split; [exact K1|]. intros o'. cbn [over]. destruct (Nat.eq_dec o o') as [<-|D].
      + rewrite get_upd_eq, Q. destruct (Nat.eq_dec o o); [lia|congruence].
      + rewrite get_upd_ne by auto. apply K2.
  Qed.

  Lemma bounded_start mem : bounded (start mem).
  Proof.
    split.
    - intros c. unfold agent_of; cbn. rewrite get_nil. apply nothing_happened.
    - intros o. unfold object_of; cbn. rewrite get_nil. cbn. split; [apply nothing_happened|]. split; [intros; rewrite get_nil; lia|constructor].
  Qed.

  Definition ends_counted (s : state) := forall o, length (ends (object_of s o)) = phase (object_of s o).

  Lemma ends_counted_step check s l s' : ends_counted s -> step check s l = Ok s' -> ends_counted s'.
  Proof.
    intros C H o'. specialize (C o'). apply step_changes in H.
    destruct H as [c x x_async N R|c N|c o e ag' N M E|o F W]; auto.
    - destruct (Nat.eq_dec o o') as [<-|D]; [|rewrite object_of_upd_ne by auto; auto].
      rewrite object_of_upd. destruct (take_part_phase c (place s c) e (now ag') (object_of s o)) as [-> ->]; auto.
    - destruct (Nat.eq_dec o o') as [<-|D]; [|rewrite object_of_upd_ne by auto; auto].
      rewrite object_of_upd. cbn. rewrite app_length; cbn. lia.
  Qed.

  Definition sound s := bounded s /\ ends_counted s.

  Lemma sound_start mem : sound (start mem).
  Proof. split; [apply bounded_start|]. intros o. unfold object_of; cbn. rewrite get_nil. reflexivity. Qed.

  Lemma sound_step s l s' : sound s -> step true s l = Ok s' -> sound s'.
  Proof. intros [B E] H. split; [eapply bounded_step|eapply ends_counted_step]; eauto. Qed.
End Commute.
