(** Clocks are for the checks alone: the machine does the same whatever they are. *)
From Volta Require Import Maps Diamond Model Commute.

Section Clocks.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds false).

  (** Equal in all but clocks. *)
  Definition alike (s t : state) : Prop :=
    memory s = memory t /\
    (forall c, registers (agent_of s c) = registers (agent_of t c) /\ map fst (log (agent_of s c)) = map fst (log (agent_of t c))) /\
    (forall o, phase (object_of s o) = phase (object_of t o) /\ count (object_of s o) = count (object_of t o) /\
      stated (object_of s o) = stated (object_of t o) /\
      arrived (object_of s o) = arrived (object_of t o) /\ bytes (object_of s o) = bytes (object_of t o)).

  Lemma alike_place s t c : alike s t -> place s c = place t c.
  Proof.
    intros (_ & A & _). destruct (A c) as [_ L]. unfold place.
    rewrite <- (map_length fst (log (agent_of s c))), L. apply map_length.
  Qed.

  Lemma alike_phase_of s t c p : alike s t -> phase_of (log (agent_of s c)) p = phase_of (log (agent_of t c)) p.
  Proof.
    intros (_ & A & _). destruct (A c) as [_ L]. unfold phase_of, get.
    rewrite <- !(map_nth fst), L. reflexivity.
  Qed.

  Lemma alike_may s t c o e : alike s t ->
    may kinds false c o e (agent_of s c) (object_of s o) = may kinds false c o e (agent_of t c) (object_of t o).
  Proof.
    intros A. pose proof (alike_phase_of s t c) as P. destruct A as (M & A & O). destruct (O o) as (O1 & O2 & O3 & O4 & _).
    unfold may, may_arrive, may_expect, may_deliver, may_pass_parity.
    destruct e; rewrite ?O1, ?O2, ?O3, ?O4, ?P by (split; [|split]; auto); auto.
  Qed.

  Lemma alike_agent s t c n n' k k' regs obs obs' mem :
    alike s t -> n = n' ->
    (forall o, phase (get new_object obs o) = phase (get new_object obs' o) /\ count (get new_object obs o) = count (get new_object obs' o) /\
      stated (get new_object obs o) = stated (get new_object obs' o) /\
      arrived (get new_object obs o) = arrived (get new_object obs' o) /\ bytes (get new_object obs o) = bytes (get new_object obs' o)) ->
    alike (State (upd new_agent (agents s) c (log_event c (agent_of s c) n k regs)) obs mem)
          (State (upd new_agent (agents t) c (log_event c (agent_of t c) n' k' regs)) obs' mem).
  Proof.
    intros (M & A & O) <- Q. split; [reflexivity|]. split; [|exact Q]. intros d. destruct (Nat.eq_dec d c) as [->|N].
    - rewrite !agent_of_upd. cbn. rewrite !map_app. destruct (A c) as [_ L]. rewrite L. auto.
    - rewrite !agent_of_upd_ne by auto. apply A.
  Qed.

  Theorem clocks_have_no_effect (s t : state) l s' : alike s t -> step s l = Ok s' -> exists t', step t l = Ok t' /\ alike s' t'.
  Proof.
    intros A H. apply step_changes in H.
    assert (N : forall c, next program t c = next program s c).
    { intros c. unfold next. rewrite (alike_place s t c A). reflexivity. }
    assert (A0 := A). destruct A as (M & Ag & Ob).
    destruct H as [c x xa Nx R|c Nx|c o e ag' Nx My ->|o F W].
    - eexists. split; [apply changes_step, (Did _ _ _ _ _ _ _ _ x xa); [rewrite N; auto|discriminate]|].
      destruct (Ag c) as [Rg _]. rewrite <- M, <- Rg. apply alike_agent; auto.
    - eexists. split; [apply changes_step, Fenced; rewrite N; auto|].
      destruct (Ag c) as [Rg _]. rewrite <- M, <- Rg. apply alike_agent; auto.
    - eexists. split; [eapply changes_step, Synced; [rewrite N; eauto|rewrite <- (alike_may s t c o e A0); auto|reflexivity]|].
      destruct (Ag c) as [Rg _]. rewrite <- M, <- Rg. destruct (Ob o) as (O1 & O2 & O3 & O4 & O5).
      apply alike_agent; auto.
      + destruct e; cbn [number]; auto. rewrite (alike_phase_of s t c _ A0). reflexivity.
      + intros o'. destruct (Nat.eq_dec o o') as [<-|D].
        * rewrite !get_upd_eq. destruct e; cbn; rewrite ?O1, ?O2, ?O3, ?O4, ?O5; repeat split; auto.
        * rewrite !get_upd_ne by auto. apply Ob.
    - assert (F' : full program kinds t o).
      { unfold full in *. destruct (Ob o) as (_ & O2 & O3 & O4 & O5). rewrite O2, O3, O4, O5 in F. destruct (kind_of kinds o); auto.
        destruct F as [F1 F2]. split; auto. eapply Forall_impl; [|exact F2]. cbn. intros c [Q|Q]; auto. right.
        unfold returned in *. rewrite <- (alike_place s t c A0). auto. }
      eexists. split; [apply changes_step, Ended; [auto|discriminate]|].
      split; [exact M|]. split; [exact Ag|]. intros o'. destruct (Nat.eq_dec o o') as [<-|D].
      + rewrite !object_of_upd. destruct (Ob o) as (O1 & _ & _ & _ & O5). cbn. repeat split; auto.
      + rewrite !object_of_upd_ne by auto. apply Ob.
  Qed.
End Clocks.
