(** Obligations: what a term demands as it is executed is what makes it defined (rule V8).

    As in volta-core/src/algebra/obligation.rs, each partial operation demands something of its operands, under the
    guards of the choices around it. Terms with infinities are not treated: there the verifier decides beforehand what
    has a value. *)
From Volta.laws Require Import Semantics Facts Tactics Replacement.
Open Scope R_scope.

(** * Sorts *)

Inductive sort := Number | Condition.

Definition of_sort s v : Prop :=
  match s, v with Number, Real _ | Condition, Truth _ => True | _, _ => False end.

(** A term of reals without infinities, or a condition on such terms. *)
Fixpoint well_sorted s e : Prop :=
  match e with
  | Letter _ | Whole _ | Literal _ => s = Number
  | PosInf => False
  | Unary Not a => s = Condition /\ well_sorted Condition a
  | Unary _ a => s = Number /\ well_sorted Number a
  | Binary (And | Or | Xor) a b => s = Condition /\ well_sorted Condition a /\ well_sorted Condition b
  | Binary (Less | LessEqual | Equal) a b => s = Condition /\ well_sorted Number a /\ well_sorted Number b
  | Binary _ a b => s = Number /\ well_sorted Number a /\ well_sorted Number b
  | CopySign a b => s = Number /\ well_sorted Number a /\ well_sorted Number b
  | If c a b => well_sorted Condition c /\ well_sorted s a /\ well_sorted s b
  end.

(** * Demands *)

Definition demands_of_one op x : Prop :=
  match op with Log2 | Rsqrt => 0 < x | Sqrt => 0 <= x | _ => True end.

Definition demands_of_two op x y : Prop :=
  match op with
  | Div | Mod => y <> 0
  | BitAnd => is_natural x = true /\ is_natural y = true
  | _ => True
  end.

Fixpoint obligations w letters e : Prop :=
  match e with
  | Letter _ | Whole _ | Literal _ | PosInf => True
  | Unary op a => obligations w letters a /\ forall x, eval w letters a = Real x -> demands_of_one op x
  | Binary op a b =>
    obligations w letters a /\ obligations w letters b /\
    forall x y, eval w letters a = Real x -> eval w letters b = Real y -> demands_of_two op x y
  | CopySign a b => obligations w letters a /\ obligations w letters b
  | If c a b =>
    obligations w letters c /\
    (eval w letters c = Truth true -> obligations w letters a) /\
    (eval w letters c = Truth false -> obligations w letters b)
  end.

(** * Where they are met, a term is defined *)

Lemma natural_and x y : is_natural x = true -> is_natural y = true -> of_sort Number (bitwise_and (Real x) (Real y)).
Proof. cbn. intros -> ->. exact I. Qed.

Lemma obligations_suffice w letters e s :
  (forall name, exists x, letters name = Real x) ->
  well_sorted s e -> obligations w letters e -> of_sort s (eval w letters e).
Proof.
  intros N. revert s.
  induction e as [name | n | bits | | op a IH | op a IHa b IHb | a IHa b IHb | c IHc a IHa b IHb]; intros s W O.
  - cbn in *. subst. destruct (N name) as [x ->]. exact I.
  - cbn in *. now subst.
  - cbn in *. now subst.
  - contradiction.
  - destruct O as [O D]. cbn [eval].
    destruct op; cbn [well_sorted] in W; destruct W as [-> W]; specialize (IH _ W O);
      destruct (eval w letters a) as [| x | |]; try contradiction; try (specialize (D x eq_refl); cbn in D);
      values; branches; auto; contradiction.
  - destruct O as (OA & OB & D). cbn [eval].
    destruct op; cbn [well_sorted] in W; destruct W as (-> & WA & WB);
      specialize (IHa _ WA OA); specialize (IHb _ WB OB);
      destruct (eval w letters a) as [| x | |]; try contradiction;
      destruct (eval w letters b) as [| y | |]; try contradiction; try exact I;
      specialize (D x y eq_refl eq_refl); cbn [demands_of_two] in D.
    + values; branches; auto.
    + values; branches; auto.
    + now apply natural_and.
  - destruct O as [OA OB], W as (-> & WA & WB). specialize (IHa _ WA OA). specialize (IHb _ WB OB). cbn [eval].
    destruct (eval w letters a) as [| x | |]; try contradiction.
    destruct (eval w letters b) as [| y | |]; try contradiction.
    unfold with_sign_of. cbn [less equal]. destruct (orb _ _); exact I.
  - destruct O as (OC & OA & OB), W as (WC & WA & WB). specialize (IHc _ WC OC). cbn [eval].
    destruct (eval w letters c) as [| | | []]; try contradiction; cbn; auto.
Qed.

(** * Where a term is defined, they are met *)

Lemma obligations_necessary w letters e : eval w letters e <> Undefined -> obligations w letters e.
Proof.
  induction e as [name | n | bits | | op a IH | op a IHa b IHb | a IHa b IHb | c IHc a IHa b IHb];
    cbn [eval obligations]; intros D; try exact I.
  - split.
    + apply IH. intros E. rewrite E, unary_strict in D. contradiction.
    + intros x E. rewrite E in D. destruct op; cbn; try exact I; revert D; values; branches; auto; contradiction.
  - repeat split.
    + apply IHa. intros E. rewrite E, binary_strict_first in D. contradiction.
    + apply IHb. intros E. rewrite E, binary_strict_second in D. contradiction.
    + intros x y Ea Eb. rewrite Ea, Eb in D. destruct op; cbn [demands_of_two]; try exact I; revert D.
      * values. branches; [contradiction | auto].
      * values. branches; [contradiction | auto].
      * cbn. destruct (is_natural x), (is_natural y); cbn; auto; contradiction.
  - split.
    + apply IHa. intros E. apply D. rewrite E. reflexivity.
    + apply IHb. intros E. apply D. rewrite E. apply magnitude_strict.
  - repeat split.
    + apply IHc. intros E. rewrite E in D. contradiction.
    + intros E. rewrite E in D. auto.
    + intros E. rewrite E in D. auto.
Qed.

(** A term is defined exactly where its obligations are met. *)
Theorem defined_by_obligations w letters e s :
  (forall name, exists x, letters name = Real x) -> well_sorted s e ->
  (obligations w letters e <-> eval w letters e <> Undefined).
Proof.
  intros N W. split; [|apply obligations_necessary].
  intros O E. pose proof (obligations_suffice w letters e s N W O) as S. rewrite E in S. now destruct s.
Qed.

(** The claim of rule V8 for terms that laws have brought into one form: what remains are the obligations of the
    optimized term beyond those of the reference, all of them of the terms as they were executed, and the conditions
    that a verdict states. *)
Theorem equivalent_where (condition : Prop) w letters reference optimized form s :
  (forall name, exists x, letters name = Real x) -> well_sorted s reference -> well_sorted s optimized ->
  refines (eval w letters reference) form -> refines (eval w letters optimized) form ->
  (condition -> obligations w letters reference -> obligations w letters optimized) ->
  condition -> refines (eval w letters reference) (eval w letters optimized).
Proof.
  intros N W W' R R' O C. apply common_form with form; auto.
  intros D. apply (defined_by_obligations w letters optimized s N W'), O, obligations_necessary; assumption.
Qed.
