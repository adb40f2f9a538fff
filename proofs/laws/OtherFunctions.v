(** Other functions. *)
From Volta.laws Require Import Table Tactics.
Open Scope R_scope.

(** * What they are *)

Lemma tanh_by_exp x : tanh x = 1 - 2 / (1 + exp (2 * x)).
Proof.
  unfold tanh, sinh, cosh. pose proof (exp_pos x) as P.
  replace (2 * x) with (x + x) by ring. rewrite exp_plus, exp_Ropp. field. split; nra.
Qed.

Lemma exp2_read w x : reads_log2_e w -> exp2 (x * read w log2_e) = exp x.
Proof.
  intros ->. unfold exp2, Rpower. f_equal. pose proof ln_2_positive. field; lra.
Qed.

Lemma erf_odd x : erf (- x) = - erf x.
Proof. unfold erf. rewrite <- Rsqr_neg. ring. Qed.

Lemma erf_1_positive : 0 < erf 1.
Proof.
  unfold erf. rewrite Rsqr_1. repeat apply Rmult_lt_0_compat; try lra.
  - apply Rinv_0_lt_compat, sqrt_lt_R0, PI_RGT_0.
  - apply series_at_1. unfold erf_denominator. cbn. lra.
Qed.

Lemma cbrt_odd x : cbrt (- x) = - cbrt x.
Proof. unfold cbrt. rewrite Ropp_involutive. branches; ring. Qed.

(** It is what its name says. *)
Lemma cbrt_cubed x : cbrt x * cbrt x * cbrt x = x.
Proof.
  assert (forall y, 0 < y -> Rpower y (1 / 3) * Rpower y (1 / 3) * Rpower y (1 / 3) = y) as positive.
  { intros. rewrite <- !Rpower_plus. replace (1 / 3 + 1 / 3 + 1 / 3) with 1 by field. now apply Rpower_1. }
  unfold cbrt. branches.
  - now apply positive.
  - pose proof (positive (- x)). lra.
  - replace x with 0 by lra. ring.
Qed.

Lemma j0_even x : j0 (- x) = j0 x.
Proof. unfold j0. replace (- x / 2) with (- (x / 2)) by field. now rewrite <- Rsqr_neg. Qed.

Lemma j1_odd x : j1 (- x) = - j1 x.
Proof. unfold j1. replace (- x / 2) with (- (x / 2)) by field. rewrite <- Rsqr_neg. ring. Qed.

Lemma j1_2_positive : 0 < j1 2.
Proof.
  unfold j1. replace (2 / 2) with 1 by field. rewrite Rsqr_1, Rmult_1_l.
  apply series_at_1. unfold j1_denominator. cbn. lra.
Qed.

(** * The laws *)

Lemma tanh_by_exponential_holds : holds tanh_by_exponential.
Proof.
  law. rewrite exp2_read by assumption. symmetry; apply tanh_by_exp.
Qed.

Lemma tanh_by_exponential_limit_1_refuted : refuted tanh_by_exponential_limit_1.
Proof.
  refute ["a" |-> 1]. rewrite tanh_by_exp. set (k := read w log2_e) in *.
  assert (exp2 (1 * k) < exp (2 * 1)) as L.
  { unfold exp2, Rpower. apply exp_increasing. pose proof ln_2_positive. pose proof ln_2_below_1.
    destruct reading as [E | E]; unfold k; rewrite E; [|lra].
    replace (1 * / ln 2 * ln 2) with 1 by (field; lra). lra. }
  apply Rgt_not_eq. assert (/ (1 + exp (2 * 1)) < / (1 + exp2 (1 * k))); [|lra].
  pose proof (exp_pos (2 * 1)). apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra.
Qed.

Lemma parity_of_sine_and_cosine_holds : holds parity_of_sine_and_cosine.
Proof. law. replace (b - a) with (- (a - b)) by ring. rewrite sin_neg, cos_neg. ring. Qed.

Lemma parity_of_sine_and_cosine_limit_1_refuted : refuted parity_of_sine_and_cosine_limit_1.
Proof. refute ["a" |-> PI / 2]. rewrite sin_neg, sin_PI2. lra. Qed.

Lemma odd_functions_holds : holds odd_functions.
Proof. law. replace (b - a) with (- (a - b)) by ring. rewrite atan_opp. ring. Qed.

Lemma odd_functions_limit_1_refuted : refuted odd_functions_limit_1.
Proof. refute ["a" |-> 1]. rewrite erf_odd. pose proof erf_1_positive. lra. Qed.

Lemma odd_functions_limit_2_refuted : refuted odd_functions_limit_2.
Proof. refute ["a" |-> 1]. rewrite atan_opp, atan_1. pose proof PI_RGT_0. lra. Qed.

Lemma odd_functions_limit_3_refuted : refuted odd_functions_limit_3.
Proof.
  refute ["a" |-> 1]. rewrite cbrt_odd. intros E. pose proof (cbrt_cubed 1) as C.
  replace (cbrt 1) with 0 in C by lra. lra.
Qed.

Lemma parity_of_bessel_holds : holds parity_of_bessel.
Proof. law. replace (b - a) with (- (a - b)) by ring. rewrite j0_even, j1_odd. ring. Qed.

Lemma parity_of_bessel_limit_1_refuted : refuted parity_of_bessel_limit_1.
Proof. refute ["a" |-> 2]. rewrite j1_odd. pose proof j1_2_positive. lra. Qed.

Lemma squares_of_sine_and_cosine_holds : holds squares_of_sine_and_cosine.
Proof. law. pose proof (sin2_cos2 a) as E. unfold Rsqr in E. lra. Qed.

Lemma squares_of_sine_and_cosine_limit_1_refuted : refuted squares_of_sine_and_cosine_limit_1.
Proof. refute ["b" |-> PI / 2]. rewrite sin_0, cos_PI2. lra. Qed.

Lemma squares_of_sine_and_cosine_limit_2_refuted : refuted squares_of_sine_and_cosine_limit_2.
Proof. refute ["a" |-> 0]. rewrite sin_0, cos_0. lra. Qed.

Lemma copied_sign_holds : holds copied_sign.
Proof. law. reflexivity. Qed.

Lemma copied_sign_limit_1_refuted : refuted copied_sign_limit_1.
Proof. refute ["p" |-> -1; "a" |-> 1]. rewrite Rabs_R1. lra. Qed.
