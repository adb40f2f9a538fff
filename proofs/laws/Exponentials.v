(** Exponentials and logarithms. *)
From Volta.laws Require Import Table Tactics.
Open Scope R_scope.

Lemma product_of_powers_holds : holds product_of_powers.
Proof. law. apply exp2_plus. Qed.

Lemma product_of_powers_limit_1_refuted : refuted product_of_powers_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. powers; lra. Qed.

Lemma reciprocal_of_power_holds : holds reciprocal_of_power.
Proof. law. rewrite exp2_opp. lra. Qed.

Lemma reciprocal_of_power_limit_1_refuted : refuted reciprocal_of_power_limit_1.
Proof. refute ["a" |-> 1]. powers; lra. Qed.

Lemma whole_summand_of_exponent_holds : holds whole_summand_of_exponent.
Proof. law. rewrite exp2_shifted. whole_powers; ring. Qed.

Lemma whole_summand_of_exponent_limit_1_refuted : refuted whole_summand_of_exponent_limit_1.
Proof.
  refute ["a" |-> 0]. powers. pose proof (exp2_increasing (0 + 1 / 2) 1 ltac:(lra)) as B. revert B. powers; lra.
Qed.

Lemma power_of_power_holds : holds power_of_power.
Proof. law. rewrite exp2_times. whole_powers; ring. Qed.

Lemma power_of_power_limit_1_refuted : refuted power_of_power_limit_1.
Proof. refute ["a" |-> 1]. powers; lra. Qed.

Lemma power_of_minus_infinity_holds : holds power_of_minus_infinity.
Proof. law. reflexivity. Qed.

Lemma power_of_minus_infinity_limit_1_refuted : refuted power_of_minus_infinity_limit_1.
Proof. refute (@nil (string * R)). pose proof (exp2_positive (-1000)); lra. Qed.

Lemma powers_of_maximum_and_minimum_holds : holds powers_of_maximum_and_minimum.
Proof.
  law. extrema.
  - replace (a + b - b) with a by ring. ring.
  - replace (a + b - a) with b by ring. ring.
Qed.

Lemma powers_of_maximum_and_minimum_limit_1_refuted : refuted powers_of_maximum_and_minimum_limit_1.
Proof. refute ["a" |-> 0; "b" |-> 1]. extrema. powers; lra. Qed.

Lemma powers_of_maximum_and_minimum_limit_2_refuted : refuted powers_of_maximum_and_minimum_limit_2.
Proof. refute ["a" |-> 0; "b" |-> 1]. extrema. powers; lra. Qed.

Lemma powers_of_maximum_and_minimum_limit_3_refuted : refuted powers_of_maximum_and_minimum_limit_3.
Proof. refute ["a" |-> 0; "b" |-> 1]. extrema. powers; lra. Qed.

Lemma power_of_logarithm_holds : holds power_of_logarithm.
Proof. law. rewrite exp2_times_log2 by assumption. whole_powers; ring. Qed.

Lemma power_of_logarithm_limit_1_where :
  holds_where (power_of_logarithm_limit_1_conditions, power_of_logarithm_limit_1).
Proof. law_where ["a" |-> 0]. rewrite exp2_times_log2 by assumption. whole_powers; ring. Qed.

Lemma power_of_logarithm_limit_2_refuted : refuted power_of_logarithm_limit_2.
Proof. refute ["a" |-> 2]. powers. powers. lra. Qed.

Lemma logarithm_of_power_holds : holds logarithm_of_power.
Proof. law. symmetry; apply log2_exp2. Qed.

Lemma logarithm_of_power_limit_1_refuted : refuted logarithm_of_power_limit_1.
Proof. refute ["a" |-> 1]. rewrite log2_exp2. pose proof (read_above_1 w reading). lra. Qed.

Lemma logarithm_of_scaled_holds : holds logarithm_of_scaled.
Proof. law. rewrite <- (log2_scaled a 3) by assumption. f_equal; whole_powers; ring. Qed.

Lemma logarithm_of_scaled_limit_1_refuted : refuted logarithm_of_scaled_limit_1.
Proof. refute ["a" |-> 1]. powers; lra. Qed.

Lemma logarithm_of_quotient_holds : holds logarithm_of_quotient.
Proof.
  law. unfold Rdiv. rewrite log2_product, log2_product, log2_inverse; try assumption; [ring | nra |].
  now apply Rinv_0_lt_compat.
Qed.

Lemma logarithm_of_quotient_limit_1_where :
  holds_where (logarithm_of_quotient_limit_1_conditions, logarithm_of_quotient_limit_1).
Proof. law_where ["a" |-> -1; "b" |-> -1]. symmetry; apply log2_product; assumption. Qed.

Lemma logarithm_of_quotient_limit_2_refuted : refuted logarithm_of_quotient_limit_2.
Proof. refute ["a" |-> 1; "b" |-> 1]. powers; lra. Qed.

Lemma logarithm_of_even_power_holds : holds logarithm_of_even_power.
Proof.
  law.
  - symmetry; apply log2_square. intros ->; lra.
  - intros _. exfalso; apply n, Rabs_pos_lt. intros ->; lra.
Qed.

Lemma logarithm_of_even_power_limit_1_where :
  holds_where (logarithm_of_even_power_limit_1_conditions, logarithm_of_even_power_limit_1).
Proof. law_where ["a" |-> -1]. rewrite log2_product by assumption. ring. Qed.

Lemma logarithm_of_even_power_limit_2_refuted : refuted logarithm_of_even_power_limit_2.
Proof. refute ["a" |-> 2]. powers; lra. Qed.

Lemma logarithm_of_root_holds : holds logarithm_of_root.
Proof. law. symmetry; now apply log2_sqrt. Qed.

Lemma logarithm_of_root_limit_1_refuted : refuted logarithm_of_root_limit_1.
Proof.
  refute_after ltac:(rewrite sqrt_1; replace (1 + 1) with 2 by ring; powers) ["a" |-> 1].
  powers. rewrite sqrt_1; lra.
Qed.
