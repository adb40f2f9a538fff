(** Replacing terms by laws preserves the claim of rule V8.

    A law is about letters. It holds of any terms in their place, and a term may be replaced by an equal one wherever it
    occurs, but where its sign is copied. Conditions that the new term does not show are those of the terms as they were
    executed. *)
From Volta.laws Require Import Semantics.
Open Scope R_scope.

(** * The claim *)

Lemma refines_refl a : refines a a.
Proof. easy. Qed.

Lemma refines_trans a b c : refines a b -> refines b c -> refines a c.
Proof. unfold refines. intros L R D. rewrite R; [auto | rewrite L; auto]. Qed.

(** Two terms with a common form are equal where both are defined; what is left to show, the obligations, is that the
    one is defined wherever the other is. *)
Theorem common_form reference optimized form :
  refines reference form -> refines optimized form ->
  (reference <> Undefined -> optimized <> Undefined) -> refines reference optimized.
Proof.
  intros L R O D. rewrite <- (L D). symmetry. apply R. auto.
Qed.

(** * Terms in place of letters *)

Fixpoint replaced (terms : string -> expression) (e : expression) : expression :=
  match e with
  | Letter name => terms name
  | Whole _ | Literal _ | PosInf => e
  | Unary op a => Unary op (replaced terms a)
  | Binary op a b => Binary op (replaced terms a) (replaced terms b)
  | CopySign a b => CopySign (replaced terms a) (replaced terms b)
  | If c a b => If (replaced terms c) (replaced terms a) (replaced terms b)
  end.

(** The signs of zeros are those of the terms that are in place of letters. *)
Definition world_of terms w := World (read w) (fun e => negative_zero w (replaced terms e)).

Lemma eval_replaced w letters terms e :
  eval w letters (replaced terms e) = eval (world_of terms w) (fun name => eval w letters (terms name)) e.
Proof. induction e; cbn; congruence. Qed.

(** An instance of a law. *)
Theorem instance_refines s w letters terms :
  holds s -> reads_log2_e w -> Semantics.terms s (fun name => eval w letters (terms name)) ->
  refines (eval w letters (replaced terms (lhs s))) (eval w letters (replaced terms (rhs s))).
Proof. intros H R T. rewrite !eval_replaced. now apply (H (world_of terms w)). Qed.

Theorem instance_agrees s w letters terms :
  holds_of_values s -> reads_log2_e w -> Semantics.terms s (fun name => eval w letters (terms name)) ->
  agrees (eval w letters (replaced terms (lhs s))) (eval w letters (replaced terms (rhs s))).
Proof. intros [_ H] R T. rewrite !eval_replaced. now apply (H (world_of terms w)). Qed.

(** * Terms within terms *)

Inductive context :=
| Here
| InUnary (op : unary) (inner : context)
| InFirst (op : binary) (inner : context) (b : expression)
| InSecond (op : binary) (a : expression) (inner : context)
| InMagnitude (sign : expression) (inner : context)
| InCondition (inner : context) (a b : expression)
| InThen (c : expression) (inner : context) (b : expression)
| InElse (c a : expression) (inner : context).

Fixpoint within (place : context) (e : expression) : expression :=
  match place with
  | Here => e
  | InUnary op inner => Unary op (within inner e)
  | InFirst op inner b => Binary op (within inner e) b
  | InSecond op a inner => Binary op a (within inner e)
  | InMagnitude sign inner => CopySign sign (within inner e)
  | InCondition inner a b => If (within inner e) a b
  | InThen c inner b => If c (within inner e) b
  | InElse c a inner => If c a (within inner e)
  end.

(** Operations have no value where an operand has none (rule V6). *)
Lemma unary_strict op : unary_value op Undefined = Undefined.
Proof. destruct op; reflexivity. Qed.

Lemma binary_strict_first op b : binary_value op Undefined b = Undefined.
Proof. destruct op, b; reflexivity. Qed.

Lemma binary_strict_second op a : binary_value op a Undefined = Undefined.
Proof. destruct op, a as [| | [] |]; reflexivity. Qed.

Lemma magnitude_strict zero a : with_sign_of zero a Undefined = Undefined.
Proof.
  unfold with_sign_of. destruct (less a (Real 0)) as [| | | p], (equal a (Real 0)) as [| | | q]; try reflexivity.
  now destruct (p || q && zero)%bool.
Qed.

(** Whether an operand has a value. *)
Lemma is_defined (v : value) : v = Undefined \/ v <> Undefined.
Proof. destruct v; [now left | right; discriminate ..]. Qed.

(** A strict function of the value of a part: of two parts, if they agree. *)
Lemma strict_refines (f : value -> value) a b : f Undefined = Undefined -> refines a b -> refines (f a) (f b).
Proof.
  intros S R. destruct (is_defined a) as [-> | D]; [|rewrite (R D); apply refines_refl].
  intros D. contradiction.
Qed.

Lemma strict_agrees (f : value -> value) a b : f Undefined = Undefined -> agrees a b -> agrees (f a) (f b).
Proof.
  intros S R. destruct (is_defined a) as [-> | D]; [intros D; contradiction|].
  destruct (is_defined b) as [-> | D']; [intros _ D'; contradiction|]. now rewrite (R D D').
Qed.

(** A condition that is discharged. *)
Theorem refines_within place w letters e e' :
  refines (eval w letters e) (eval w letters e') ->
  refines (eval w letters (within place e)) (eval w letters (within place e')).
Proof.
  intros R. induction place as
    [| op C IH | op C IH b | op a C IH | sign C IH | C IH a b | c C IH b | c a C IH]; cbn [within eval].
  - exact R.
  - apply (strict_refines (unary_value op)); auto using unary_strict.
  - apply (strict_refines (fun v => binary_value op v _)); auto using binary_strict_first.
  - apply (strict_refines (binary_value op _)); auto using binary_strict_second.
  - apply (strict_refines (with_sign_of _ _)); auto using magnitude_strict.
  - apply (strict_refines (fun v => select v _ _)); auto.
  - destruct (eval w letters c) as [| | | []]; cbn; auto using refines_refl.
  - destruct (eval w letters c) as [| | | []]; cbn; auto using refines_refl.
Qed.

(** A condition that is recorded: where it holds, the new term is defined. *)
Theorem agrees_within place w letters e e' :
  agrees (eval w letters e) (eval w letters e') ->
  agrees (eval w letters (within place e)) (eval w letters (within place e')).
Proof.
  intros R. induction place as
    [| op C IH | op C IH b | op a C IH | sign C IH | C IH a b | c C IH b | c a C IH]; cbn [within eval].
  - exact R.
  - apply (strict_agrees (unary_value op)); auto using unary_strict.
  - apply (strict_agrees (fun v => binary_value op v _)); auto using binary_strict_first.
  - apply (strict_agrees (binary_value op _)); auto using binary_strict_second.
  - apply (strict_agrees (with_sign_of _ _)); auto using magnitude_strict.
  - apply (strict_agrees (fun v => select v _ _)); auto.
  - destruct (eval w letters c) as [| | | []]; cbn; try (intros; congruence). auto.
  - destruct (eval w letters c) as [| | | []]; cbn; try (intros; congruence). auto.
Qed.

(** * Laws in terms *)

(** Replacing an instance of a law: wherever the term was defined, it is defined and equal. *)
Theorem law_preserves_claim s place w letters terms :
  holds s -> reads_log2_e w -> Semantics.terms s (fun name => eval w letters (terms name)) ->
  refines (eval w letters (within place (replaced terms (lhs s))))
    (eval w letters (within place (replaced terms (rhs s)))).
Proof. intros. now apply refines_within, instance_refines. Qed.

(** Replacing an instance of a law that leaves a condition: so it is where the new term is defined. *)
Theorem law_with_condition_preserves_claim s place w letters terms :
  holds_of_values s -> reads_log2_e w -> Semantics.terms s (fun name => eval w letters (terms name)) ->
  eval w letters (within place (replaced terms (rhs s))) <> Undefined ->
  refines (eval w letters (within place (replaced terms (lhs s))))
    (eval w letters (within place (replaced terms (rhs s)))).
Proof.
  intros H R T D D'. exact (agrees_within place w letters _ _ (instance_agrees s w letters terms H R T) D' D).
Qed.

(** Where a sign is copied, equal terms may not replace one another: their zeros need not have the same sign (V7). *)
Definition difference : expression := Binary Sub "a"%string "b"%string.
Definition turned : expression := Unary Neg (Binary Sub "b"%string "a"%string).

Example equal_terms_differ_in_sign :
  (forall w letters, (forall name, exists x, letters name = Real x) ->
     refines (eval w letters difference) (eval w letters turned)) /\
  exists w letters, (forall name, exists x, letters name = Real x) /\
     ~ refines (eval w letters (CopySign difference 1%Z)) (eval w letters (CopySign turned 1%Z)).
Proof.
  split.
  - intros w letters N. destruct (N "a"%string) as [a A], (N "b"%string) as [b B]. cbn. rewrite A, B. cbn.
    intros _. f_equal; ring.
  - exists (World (fun _ => 0) (fun e => match e with Binary Sub _ _ => false | _ => true end)), (fun _ => Real 0).
    split; [now exists 0|]. cbn.
    repeat match goal with
    | |- context [if ?c then _ else _] =>
      lazymatch c with context [if _ then _ else _] => fail | _ => destruct c; try (exfalso; lra); cbn end
    end.
    intros R. specialize (R ltac:(discriminate)). injection R as R. rewrite Rabs_R1 in R. lra.
Qed.
