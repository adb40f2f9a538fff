(** No law holds for want of values: the left side of each has one somewhere. *)
From Volta.laws Require Import Table WholeTactics.
Open Scope R_scope.

Definition has_value s : Prop :=
  forall w, reads_log2_e w -> exists letters, inputs s letters /\ eval w letters (lhs s) <> Undefined.

Definition each x : list (string * R) :=
  map (fun name => (name, x)) ["a"; "b"; "c"; "d"; "k"; "m"; "n"; "p"; "q"]%string.

Ltac has_value_at x :=
  let point := eval cbv [each map] in (each x) in
  let w := fresh "w" in intros w reading;
  match goal with |- exists l, inputs ?s l /\ _ => witness s point end;
  do 2 (whole; compute_whole; rewrite ?sqrt_1; settled); extrema; discriminate.

Theorem every_law_has_values : Forall has_value (laws ++ laws_of_values).
Proof.
  unfold laws, laws_of_values; cbn [app].
  repeat (apply Forall_cons; [first [has_value_at 1 | has_value_at (-1)]|]). apply Forall_nil.
Qed.
