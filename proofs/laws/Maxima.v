(** Maxima, minima, magnitudes. *)
From Volta.laws Require Import Table Tactics.
Open Scope R_scope.

Lemma maximum_is_a_set_holds : holds maximum_is_a_set.
Proof. law. extrema; lra. Qed.

Lemma maximum_is_a_set_limit_1_refuted : refuted maximum_is_a_set_limit_1.
Proof. refute ["b" |-> 1]. extrema; lra. Qed.

Lemma maximum_with_minus_infinity_holds : holds maximum_with_minus_infinity.
Proof. law. reflexivity. Qed.

Lemma maximum_with_minus_infinity_limit_1_refuted : refuted maximum_with_minus_infinity_limit_1.
Proof. refute ["a" |-> -1048577]. extrema; lra. Qed.

Lemma maximum_of_shifted_holds : holds maximum_of_shifted.
Proof. law. extrema; lra. Qed.

Lemma maximum_of_shifted_limit_1_refuted : refuted maximum_of_shifted_limit_1.
Proof. refute ["b" |-> 1; "c" |-> 1]. extrema; lra. Qed.

Lemma maximum_of_scaled_holds : holds maximum_of_scaled.
Proof. law. extrema; nra. Qed.

Lemma maximum_of_scaled_limit_1_refuted : refuted maximum_of_scaled_limit_1.
Proof. refute ["k" |-> -1; "a" |-> 1]. extrema; lra. Qed.

Lemma maximum_of_scaled_limit_2_holds : holds maximum_of_scaled_limit_2.
Proof. law. extrema; nra. Qed.

Lemma maximum_by_sign_holds : holds maximum_by_sign.
Proof. law. extrema; lra. Qed.

Lemma maximum_by_sign_limit_1_refuted : refuted maximum_by_sign_limit_1.
Proof. refute ["b" |-> -1]. extrema; lra. Qed.

Lemma minimum_by_maximum_holds : holds minimum_by_maximum.
Proof. law. extrema; lra. Qed.

Lemma minimum_by_maximum_limit_1_refuted : refuted minimum_by_maximum_limit_1.
Proof. refute ["a" |-> 1]. extrema; lra. Qed.

Lemma magnitude_by_maximum_holds : holds magnitude_by_maximum.
Proof. law. extrema; lra. Qed.

Lemma magnitude_by_maximum_limit_1_refuted : refuted magnitude_by_maximum_limit_1.
Proof. refute ["a" |-> -1]. extrema; lra. Qed.

Lemma saturation_holds : holds saturation.
Proof. law. extrema; lra. Qed.

Lemma saturation_limit_1_refuted : refuted saturation_limit_1.
Proof. refute ["a" |-> 2]. extrema; lra. Qed.

Lemma maximum_of_minima_holds : holds maximum_of_minima.
Proof. law. extrema; lra. Qed.

Lemma maximum_of_minima_limit_1_refuted : refuted maximum_of_minima_limit_1.
Proof. refute ["a" |-> 1; "b" |-> 1]. extrema; lra. Qed.

Lemma orders_of_maxima_holds : holds orders_of_maxima.
Proof. law. extrema; nra. Qed.

Lemma orders_of_maxima_limit_1_refuted : refuted orders_of_maxima_limit_1.
Proof. refute ["a" |-> 1]. extrema; lra. Qed.
