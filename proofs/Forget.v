(** What the vector-clock detector forgets is implied by what it keeps (volta-core/src/concurrency/race.rs, [record]).

    Of one cell it keeps the accesses that later ones may race with: an access may be forgotten when one of the same thread
    or of a thread that knows it covers it. Threads learn from one another in any way; an object that passes knowledge on
    is a thread that makes no access. *)
From Volta Require Import Maps.

Inductive kind := Read | Write | Update (kind : nat).

Definition conflicting j k :=
  match j, k with Read, Read => False | Update a, Update b => a <> b | _, _ => True end.

(** Whether the first may cover the second: an atomic covers atomics of its kind only. *)
Definition may_cover j k :=
  match j, k with Write, _ => True | Read, Read => True | Update a, Update b => a = b | _, _ => False end.

Record access := Access { time : nat; what : kind; before : nat -> Prop }.

Record state := State { now : nat; known : nat -> nat -> Prop; all : list access; kept : list access }.

Definition start := State 0 (fun _ _ => False) [] [].

(** The detector's answer to an access by thread [t], from what it keeps or from everything. *)
Definition accepts accesses s t k := forall a, In a accesses -> conflicting (what a) k -> known s t (time a).

Inductive step (s : state) : state -> Prop :=
| Learn (hears : nat -> nat -> Prop) :
    step s (State (now s) (fun u p => known s u p \/ exists v, hears u v /\ known s v p) (all s) (kept s))
| Accessed t k kept' :
    let a := Access (now s) k (known s t) in
    In a kept' -> (forall x, In x kept' -> x = a \/ In x (kept s)) ->
    (forall x, In x (kept s) -> In x kept' \/ (may_cover k (what x) /\ known s t (time x))) ->
    step s (State (S (now s)) (fun u p => known s u p \/ (u = t /\ p = now s)) (a :: all s) kept').

Inductive reachable : state -> Prop :=
| Start : reachable start
| Step s s' : reachable s -> step s s' -> reachable s'.

Record covered s : Prop := {
  of_time : forall u p, known s u p -> p < now s;
  of_all : forall a, In a (all s) -> time a < now s;
  of_kept : forall a, In a (kept s) -> In a (all s);
  of_before : forall a u, In a (all s) -> known s u (time a) -> forall p, before a p -> known s u p;
  of_forgotten : forall a, In a (all s) -> exists m, In m (kept s) /\ (m = a \/ before m (time a)) /\
    forall k, conflicting (what a) k -> conflicting (what m) k
}.

Lemma covering j k : may_cover j k -> forall l, conflicting k l -> conflicting j l.
Proof. destruct j, k; cbn; try tauto; intros H [| |l]; cbn; subst; tauto. Qed.

Lemma covered_reachable s : reachable s -> covered s.
Proof.
  induction 1 as [|s s' _ V H]; [constructor; cbn; tauto|]. destruct H as [hears|t k kept' a In1 In2 In3].
  - constructor; cbn.
    + intros u p [K|(v & _ & K)]; eapply of_time; eauto.
    + apply V.
    + apply V.
    + intros a u H [K|(v & Hv & K)] p P; [left|right; exists v; split; auto]; eapply of_before; eauto.
    + apply V.
  - constructor; cbn.
    + intros u p [K|[_ ->]]; [pose proof (of_time s V u p K)|]; lia.
    + intros x [<-|H]; cbn; [lia|]. pose proof (of_all s V x H). lia.
    + intros x H. destruct (In2 x H) as [->|]; auto. right. apply V; auto.
    + intros x u [<-|H] K p P; cbn in *.
      * destruct K as [K|[-> _]]; [pose proof (of_time s V u _ K); lia|auto].
      * destruct K as [K|[-> E]]; [left; eapply of_before; eauto|]. pose proof (of_all s V x H). lia.
    + intros x [<-|H]; [exists a; auto|].
      destruct (of_forgotten s V x H) as (m & Hm & B & D). destruct (In3 m Hm) as [|[C K]]; [exists m; auto|].
      (* What covered it is covered itself. *)
      exists a. split; auto. split.
      * right. cbn. destruct B as [->|B]; auto. eapply of_before; [exact V|apply V, Hm|exact K|exact B].
      * intros l Hl. apply (covering k (what m) C l), D, Hl.
Qed.

Theorem forgetting_misses_nothing s : reachable s -> forall t k, accepts (kept s) s t k <-> accepts (all s) s t k.
Proof.
  intros R t k. apply covered_reachable in R. split; intros A a H C.
  - destruct (of_forgotten s R a H) as (m & Hm & B & D). specialize (A m Hm (D k C)).
    destruct B as [->|B]; auto. eapply of_before; [exact R|apply R, Hm|exact A|exact B].
  - apply A; auto. apply R; auto.
Qed.
