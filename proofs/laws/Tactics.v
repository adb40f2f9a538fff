(** How statements are proved: letters become numbers, or have no value; terms are evaluated; conditions are decided.
    What remains are equations of real numbers. *)
From Volta.laws Require Export Semantics Facts.
Open Scope R_scope.

(** * Evaluation *)

(** Operations on known values. Functions of reals stay as they are. *)
Ltac values :=
  repeat progress (
    cbn [
      eval lhs rhs unary_value binary_value Exp select with_sign_of magnitude remainder round_to apply join complement
      equal less minimum maximum divide multiply subtract add negate infinity_of_sign Bool.eqb negb andb orb xorb
    ] in *;
    unfold total, if_positive, if_not_negative in *).

(** What is known of each power and root, as premises. *)
Ltac signs :=
  repeat match goal with
  | |- context [exp2 ?x] =>
    lazymatch goal with H : 0 < exp2 x |- _ => fail | _ => pose proof (exp2_positive x) end
  | |- context [sqrt ?x] =>
    lazymatch goal with H : 0 <= sqrt x |- _ => fail | _ => pose proof (sqrt_pos x) end
  end.

(** Cases of a condition on reals; those that the premises exclude are dropped. *)
Ltac branches :=
  signs;
  repeat (
    match goal with
    | |- context [if ?condition then _ else _] =>
      lazymatch condition with context [if _ then _ else _] => fail | _ => destruct condition end
    end;
    try (exfalso; lra); values).

(** * Letters *)

Ltac name_of letter :=
  match letter with
  | "a"%string => fresh "a" | "b"%string => fresh "b" | "c"%string => fresh "c" | "d"%string => fresh "d"
  | "k"%string => fresh "k" | "m"%string => fresh "m" | "n"%string => fresh "n"
  | "p"%string => fresh "p" | "q"%string => fresh "q"
  | _ => fresh "x"
  end.

(** What is assumed of a letter's number, as premises. *)
Ltac assumptions M :=
  cbn [meets assumption_of find fst snd assumed String.eqb Ascii.eqb Bool.eqb] in M;
  match type of M with
  | True => clear M
  | exists n, _ = IZR n /\ _ => let z := fresh "z" in let E := fresh in destruct M as (z & E & M); try subst
  | _ => idtac
  end.

Ltac letter :=
  match goal with
  | T : terms ?s ?letters |- context [?letters ?name] =>
    let x := name_of name in let E := fresh "E" in let M := fresh "M" in
    destruct (T name) as [E | (x & E & M)]; rewrite ?E; clear E; values;
    [try (intros D; elim D; reflexivity) | unfold s in M; assumptions M]
  | T : inputs ?s ?letters |- context [?letters ?name] =>
    let x := name_of name in let E := fresh "E" in let M := fresh "M" in
    destruct (T name) as (x & E & M); rewrite ?E in *; clear E; values; unfold s in M; assumptions M
  end.

(** The goal of a law: what is left is an equation of reals. *)
Ltac evaluated :=
  repeat letter; values; branches;
  try (let D := fresh in intros D; elim D; reflexivity);
  try (let D := fresh in intros _ D; elim D; reflexivity);
  try (intros _; apply f_equal with (f := Real));
  try (intros _ _; apply f_equal with (f := Real)).

Ltac law :=
  let w := fresh "w" in let letters := fresh "letters" in
  intros w letters reading T; unfold refines_at, refines, agrees_at, agrees;
  match goal with |- context [eval _ _ (lhs ?s)] => unfold s end; values; evaluated.

(** * Witnesses *)

Notation "name |-> x" := (name%string, x%R) (at level 60).

Definition number_at (numbers : list (string * R)) (name : string) : R :=
  match find (fun known => String.eqb (fst known) name) numbers with Some (_, x) => x | None => 0 end.

Definition inputs_at numbers name := Real (number_at numbers name).

Lemma inputs_at_witness s numbers :
  Forall (fun '(name, a) => meets a (number_at numbers name)) (assumed s) -> inputs s (inputs_at numbers).
Proof.
  intros H name. exists (number_at numbers name); split; [reflexivity|].
  unfold assumption_of. destruct (find _ _) as [[known a]|] eqn:F; [|exact I].
  apply find_some in F as [In F]. cbn in F. apply String.eqb_eq in F; subst.
  rewrite Forall_forall in H. exact (H (name, a) In).
Qed.

Ltac numbers :=
  unfold inputs_at in *;
  cbn [number_at find fst snd String.eqb Ascii.eqb Bool.eqb] in *; values.

(** These numbers are inputs. *)
Ltac witness s point :=
  exists (inputs_at point); split;
  [ apply inputs_at_witness; unfold s; cbn [assumed];
    once (repeat constructor); cbn [meets number_at find fst snd String.eqb Ascii.eqb Bool.eqb];
    first [lra | exact I | eexists; split; [reflexivity | lia]]
  | unfold refines_at, refines, s; values; numbers ].

Lemma distinct x y : x <> y -> Real x <> Real y.
Proof. congruence. Qed.

(** At these numbers, both sides have values; what is left is that they differ. *)
Ltac differ :=
  branches; (split; [discriminate | split; [discriminate |]]); apply distinct.

(** [prepare] rewrites what the choice of a branch depends on. *)
Ltac refute_after prepare point :=
  let w := fresh "w" in intros w reading;
  match goal with |- exists l, inputs ?s l /\ _ => witness s point end; prepare; differ.

Ltac refute point := refute_after idtac point.

(** A near miss that is true under conditions, and what it is not true of. *)
Ltac conditions C :=
  repeat match type of C with
  | Forall _ (_ :: _) => let H := fresh in apply Forall_cons_iff in C as [H C]; values
  end;
  clear C.

Ltac given :=
  repeat match goal with
  | H : Truth _ = Truth true |- _ => injection H as H
  | H : context [if ?condition then _ else _] |- _ => destruct condition; cbn [negb] in H; try discriminate H
  end.

Ltac law_where point :=
  unfold holds_where; split;
  [ let w := fresh "w" in let letters := fresh "letters" in let C := fresh "C" in
    intros w letters reading T C; unfold refines_at, refines;
    match type of C with Forall _ ?c => unfold c in C end;
    match goal with |- context [eval _ _ (lhs ?s)] => unfold s end; values; conditions C;
    repeat letter; given; branches;
    try (intros D; elim D; reflexivity); try (intros _; apply f_equal with (f := Real))
  | intros w reading;
    match goal with |- exists l, inputs ?s l /\ _ => witness s point end; branches;
    let H := fresh in intros H; specialize (H ltac:(discriminate)); try discriminate H ].

(** * Special values *)

(** Whichever way it is read. *)
Lemma read_above_1 w : reads_log2_e w \/ reads_number w -> 1 < read w log2_e.
Proof.
  pose proof ln_2_positive. pose proof ln_2_below_1.
  intros [-> | ->]; [|lra]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.

(** Maxima, minima and magnitudes, case by case. *)
Ltac extrema := unfold Rmax, Rmin, Rabs in *; branches.

(** Small powers and logarithms of two. *)
Ltac powers :=
  repeat match goal with
  | |- context [exp2 ?x] =>
    first
      [ rewrite (exp2_at x 0) by (cbn; lra) | rewrite (exp2_at x 1) by (cbn; lra)
      | rewrite (exp2_at x 2) by (cbn; lra) | rewrite (exp2_at x 3) by (cbn; lra) ]
  | |- context [log2 ?x] =>
    first
      [ rewrite (log2_at x 0) by (cbn; lra) | rewrite (log2_at x 1) by (cbn; lra)
      | rewrite (log2_at x 2) by (cbn; lra) | rewrite (log2_at x 3) by (cbn; lra) ]
  end;
  cbn [pow INR]; rewrite ?Rmult_1_r.

(** Powers with known whole exponents. *)
Ltac whole_powers := simpl (powerRZ _ _).
