(** Sums, products, quotients. *)
From Volta.laws Require Import Table Tactics.
Open Scope R_scope.

Lemma sum_order_holds : holds sum_order.
Proof. law. ring. Qed.

Lemma sum_order_limit_1_refuted : refuted sum_order_limit_1.
Proof. refute ["c" |-> 1]. lra. Qed.

Lemma product_order_holds : holds product_order.
Proof. law. ring. Qed.

Lemma product_order_limit_1_refuted : refuted product_order_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.

Lemma distributivity_holds : holds distributivity.
Proof. law. ring. Qed.

Lemma distributivity_limit_1_refuted : refuted distributivity_limit_1.
Proof. refute ["c" |-> 1]. lra. Qed.

Lemma polarization_holds : holds polarization.
Proof. law. field. Qed.

Lemma polarization_limit_1_refuted : refuted polarization_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.

Lemma polarization_limit_2_refuted : refuted polarization_limit_2.
Proof. refute ["a" |-> 1; "b" |-> 1]. lra. Qed.

Lemma difference_of_equals_holds : holds difference_of_equals.
Proof. law. ring. Qed.

Lemma difference_of_equals_limit_1_where :
  holds_where (difference_of_equals_limit_1_conditions, difference_of_equals_limit_1).
Proof. law_where ["b" |-> 0]. ring. Qed.

Lemma difference_of_equals_limit_2_refuted : refuted difference_of_equals_limit_2.
Proof. refute ["a" |-> 2; "b" |-> 1]. lra. Qed.

Lemma product_with_zero_holds : holds product_with_zero.
Proof. law. ring. Qed.

Lemma product_with_zero_limit_1_where : holds_where (product_with_zero_limit_1_conditions, product_with_zero_limit_1).
Proof. law_where ["b" |-> 0]. ring. Qed.

Lemma product_with_zero_limit_2_refuted : refuted product_with_zero_limit_2.
Proof. refute ["b" |-> 1]. lra. Qed.

Lemma quotient_of_equals_holds : holds quotient_of_equals.
Proof. law. field; assumption. Qed.

Lemma quotient_of_equals_limit_1_where :
  holds_where (quotient_of_equals_limit_1_conditions, quotient_of_equals_limit_1).
Proof. law_where ["a" |-> 0]. field; assumption. Qed.

Lemma quotient_of_equals_limit_2_refuted : refuted quotient_of_equals_limit_2.
Proof. refute ["a" |-> 1]. lra. Qed.

Lemma cancelled_factor_holds : holds cancelled_factor.
Proof.
  law.
  - intros _; subst; lra.
  - field; split; intros ->; lra.
Qed.

Lemma cancelled_factor_limit_1_where : holds_where (cancelled_factor_limit_1_conditions, cancelled_factor_limit_1).
Proof. law_where ["b" |-> 1]. field; split; intros ->; lra. Qed.

Lemma cancelled_factor_limit_2_refuted : refuted cancelled_factor_limit_2.
Proof. refute ["a" |-> 2; "b" |-> 1; "c" |-> 1]. lra. Qed.

Lemma common_denominator_holds : holds common_denominator.
Proof.
  law.
  - apply Rmult_integral in e as [|]; contradiction.
  - field; auto.
Qed.

Lemma common_denominator_limit_1_refuted : refuted common_denominator_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1; "d" |-> 1]. lra. Qed.

Lemma quotient_by_infinity_holds : holds quotient_by_infinity.
Proof. law. reflexivity. Qed.

Lemma quotient_by_infinity_limit_1_refuted : refuted quotient_by_infinity_limit_1.
Proof. refute ["a" |-> 1]. lra. Qed.
