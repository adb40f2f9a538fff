(** Roots. *)
From Volta.laws Require Import Table Tactics.
Open Scope R_scope.

Lemma square_of_root_holds : holds square_of_root.
Proof. law. symmetry; now apply sqrt_sqrt. Qed.

Lemma square_of_root_limit_1_where : holds_where (square_of_root_limit_1_conditions, square_of_root_limit_1).
Proof. law_where ["a" |-> -1]. now apply sqrt_sqrt. Qed.

Lemma reciprocal_root_holds : holds reciprocal_root.
Proof.
  law. rewrite <- (sqrt_sqrt a) at 2 by assumption.
  assert (sqrt a <> 0) by (intros E; apply sqrt_eq_0 in E; lra). field; assumption.
Qed.

Lemma reciprocal_root_limit_1_refuted : refuted reciprocal_root_limit_1.
Proof. refute ["a" |-> 4]. rewrite (sqrt_at 4 2); lra. Qed.

Lemma root_of_maximum_holds : holds root_of_maximum.
Proof.
  law.
  rewrite sqrt_max, sqrt_of_square, sqrt_exp2. do 2 f_equal; field.
Qed.

Lemma root_of_maximum_limit_1_refuted : refuted root_of_maximum_limit_1.
Proof.
  refute_after ltac:(rewrite Rmax_left by lra) ["a" |-> 4; "b" |-> 0]. rewrite (sqrt_at 4 2); lra.
Qed.

Lemma root_of_scaled_by_number_holds : holds root_of_scaled_by_number.
Proof. law. rewrite <- sqrt_scaled by lra. f_equal; field. Qed.

Lemma root_of_scaled_by_number_limit_1_refuted : refuted root_of_scaled_by_number_limit_1.
Proof. refute ["a" |-> 1]. rewrite (sqrt_at (9 * 1) 3), sqrt_1; lra. Qed.

Lemma root_of_scaled_by_power_holds : holds root_of_scaled_by_power.
Proof.
  law.
  - replace (2 * a * read w log2_e) with (a * read w log2_e + a * read w log2_e) in * by ring.
    rewrite exp2_plus in *. symmetry; apply sqrt_scaled; lra.
  - nra.
Qed.

Lemma root_of_scaled_by_power_limit_1_refuted : refuted root_of_scaled_by_power_limit_1.
Proof.
  refute_after ltac:(powers) ["a" |-> 0; "b" |-> 1]. rewrite sqrt_1. intros E.
  pose proof (sqrt_sqrt (1 + 1)). rewrite E in *. lra.
Qed.

Lemma root_of_scaled_holds : holds root_of_scaled.
Proof.
  law.
  - symmetry; apply sqrt_scaled; lra.
  - assert (0 < p * p) by nra. nra.
Qed.

Lemma root_of_scaled_limit_1_refuted : refuted root_of_scaled_limit_1.
Proof. refute ["p" |-> -1; "a" |-> 1]. rewrite (sqrt_at (-1 * -1 * 1) 1), sqrt_1; lra. Qed.

Lemma root_of_square_holds : holds root_of_square.
Proof.
  law. symmetry; apply sqrt_of_square.
Qed.

Lemma root_of_square_limit_1_refuted : refuted root_of_square_limit_1.
Proof. refute ["a" |-> -1]. rewrite (sqrt_at (-1 * -1) 1); lra. Qed.

Lemma root_of_square_limit_2_holds : holds root_of_square_limit_2.
Proof.
  law. rewrite sqrt_of_square. symmetry; now apply Rabs_left.
Qed.
