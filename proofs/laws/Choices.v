(** Choices. *)
From Volta.laws Require Import Table WholeTactics.
Open Scope R_scope.

Lemma equal_arms_holds : holds equal_arms.
Proof. law; reflexivity. Qed.

Lemma equal_arms_limit_1_refuted : refuted equal_arms_limit_1.
Proof. refute ["a" |-> 1]. lra. Qed.

Lemma chosen_summand_holds : holds chosen_summand.
Proof. law; extrema; lra. Qed.

Lemma chosen_summand_limit_1_refuted : refuted chosen_summand_limit_1.
Proof. refute ["p" |-> 1]. extrema; lra. Qed.

Lemma chosen_exponent_holds : holds chosen_exponent.
Proof.
  law; extrema; try reflexivity.
  replace (3 * 0 * read w log2_e) with 0 by ring. rewrite exp2_0; ring.
Qed.

Lemma chosen_exponent_limit_1_refuted : refuted chosen_exponent_limit_1.
Proof.
  refute ["p" |-> 1; "b" |-> 1]. extrema. pose proof (read_above_1 w reading).
  pose proof (exp2_above_1 (3 * 1 * read w log2_e)). lra.
Qed.

Lemma chosen_exponent_limit_2_refuted : refuted chosen_exponent_limit_2.
Proof. refute ["b" |-> 1]. extrema. powers; lra. Qed.

Lemma condition_by_sign_holds : holds condition_by_sign.
Proof. law; reflexivity. Qed.

Lemma condition_by_sign_limit_1_refuted : refuted condition_by_sign_limit_1.
Proof. refute ["a" |-> 1]. lra. Qed.

Lemma chosen_scales_holds : holds chosen_scales.
Proof.
  assert (forall k p q, exp2 (p * k) * exp2 (- q * k) = exp2 ((p - q) * k)) as ratio.
  { intros. rewrite <- exp2_plus. f_equal; ring. }
  assert (forall k p, exp2 ((p - p) * k) = 1) as same.
  { intros. replace ((p - p) * k) with 0 by ring. apply exp2_0. }
  law; extrema; try (replace q with p in * by lra);
    rewrite Rmult_plus_distr_r, !Rmult_assoc, !ratio, ?same; ring.
Qed.

Lemma chosen_scales_limit_1_refuted : refuted chosen_scales_limit_1.
Proof. refute ["a" |-> 1]. extrema; powers; lra. Qed.

Lemma chosen_scales_limit_2_refuted : refuted chosen_scales_limit_2.
Proof. refute ["a" |-> 1]. extrema; powers; lra. Qed.

Lemma choice_by_digit_holds : holds_of_values choice_by_digit.
Proof.
  assert (forall n, Z.land n 16 = 16 * ((n / 16) mod 2))%Z as digit by (intros n; apply (land_ones_above n 4 1); lia).
  assert (forall n, Z.land n 16 = 0 \/ Z.land n 16 = 16)%Z as digits by (intros n; rewrite digit; lia).
  split; whole_law; destruct (digits z) as [E | E]; rewrite E in *; try lra;
    rewrite mult_IZR, minus_IZR; field.
Qed.

Lemma choice_by_digit_limit_1_refuted : refuted choice_by_digit_limit_1.
Proof. whole_refute ["n" |-> 2; "m" |-> 0]. Qed.

Lemma choice_by_digit_limit_2_refuted : refuted choice_by_digit_limit_2.
Proof. whole_refute ["n" |-> 0; "m" |-> 0]. Qed.

Lemma choice_as_sum_holds : holds_of_values choice_as_sum.
Proof. split; law; ring. Qed.

(** Of terms that may have no value, these two do not hold: the left side drops an arm, and the right side does not. *)
Definition without_value none name := if String.eqb none name then Undefined else Real 0.

Lemma without_value_terms s none :
  Forall (fun '(_, a) => meets a 0) (assumed s) -> terms s (without_value none).
Proof.
  intros F name. unfold without_value. destruct (String.eqb none name); [now left | right].
  exact (inputs_at_witness s [] F name).
Qed.

Lemma choices_need_values : ~ holds choice_by_digit /\ ~ holds choice_as_sum.
Proof.
  set (w := World (fun _ => / ln 2) (fun _ => false)).
  split; intros H.
  - pose proof (without_value_terms choice_by_digit "m") as T. specialize (H w _ eq_refl (T ltac:(
      repeat constructor; exists 0%Z; (split; [reflexivity | lia])))).
    revert H. clear. unfold refines_at, refines, choice_by_digit, without_value. values.
    cbn [String.eqb Ascii.eqb Bool.eqb]. whole. compute_whole. branches.
    intros H. now specialize (H ltac:(discriminate)).
  - pose proof (without_value_terms choice_as_sum "a") as T. specialize (H w _ eq_refl (T ltac:(constructor))).
    revert H. clear. unfold refines_at, refines, choice_as_sum, without_value. values.
    cbn [String.eqb Ascii.eqb Bool.eqb]. branches.
    intros H. now specialize (H ltac:(discriminate)).
Qed.

Lemma choice_as_sum_limit_1_refuted : refuted choice_as_sum_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.

Lemma choice_as_sum_limit_2_refuted : refuted choice_as_sum_limit_2.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.

Lemma choice_as_sum_limit_3_where : holds_where (choice_as_sum_limit_3_conditions, choice_as_sum_limit_3).
Proof. law_where ["a" |-> 0]; field; assumption. Qed.

Lemma product_of_choices_holds : holds product_of_choices.
Proof. law; ring. Qed.

Lemma product_of_choices_limit_1_refuted : refuted product_of_choices_limit_1.
Proof. refute ["b" |-> 1]. lra. Qed.

Lemma product_of_choices_limit_2_refuted : refuted product_of_choices_limit_2.
Proof. refute ["a" |-> 1; "c" |-> 1]. lra. Qed.

Lemma joined_conditions_holds : holds joined_conditions.
Proof. law; reflexivity. Qed.

Lemma joined_conditions_limit_1_refuted : refuted joined_conditions_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1; "c" |-> 1]. lra. Qed.

Lemma scaled_comparison_holds : holds scaled_comparison.
Proof. law; reflexivity. Qed.

Lemma scaled_comparison_limit_1_refuted : refuted scaled_comparison_limit_1.
Proof. refute (@nil (string * R)). lra. Qed.

Lemma orders_of_choices_holds : holds orders_of_choices.
Proof. law; ring. Qed.

Lemma orders_of_choices_limit_1_refuted : refuted orders_of_choices_limit_1.
Proof. refute (@nil (string * R)). lra. Qed.

Lemma equal_atoms_holds : holds equal_atoms.
Proof. law; subst; reflexivity. Qed.

Lemma equal_atoms_limit_1_refuted : refuted equal_atoms_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.
