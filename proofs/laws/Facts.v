(** What the proofs use of powers, logarithms, roots and roundings. *)
From Coq Require Import Reals Lra Lia ZArith.
From Volta.laws Require Export Functions.
Open Scope R_scope.

(** * Powers and logarithms of two *)

Lemma ln_2_positive : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma ln_2_below_1 : ln 2 < 1.
Proof.
  rewrite <- (ln_exp 1). apply ln_increasing; [lra|].
  pose proof (exp_ineq1 1 ltac:(lra)); lra.
Qed.

Lemma exp2_positive x : 0 < exp2 x.
Proof. apply exp_pos. Qed.

Lemma exp2_plus x y : exp2 (x + y) = exp2 x * exp2 y.
Proof. apply Rpower_plus. Qed.

Lemma exp2_opp x : exp2 (- x) = / exp2 x.
Proof. apply Rpower_Ropp. Qed.

Lemma exp2_0 : exp2 0 = 1.
Proof. apply Rpower_O; lra. Qed.

Lemma exp2_increasing x y : x < y -> exp2 x < exp2 y.
Proof. intros; apply Rpower_lt; lra. Qed.

Lemma exp2_above_1 x : 0 < x -> 1 < exp2 x.
Proof. intros; rewrite <- exp2_0. now apply exp2_increasing. Qed.

Lemma exp2_not_decreasing x y : x <= y -> exp2 x <= exp2 y.
Proof. intros [H | ->]; [left; now apply exp2_increasing | lra]. Qed.

Lemma exp2_natural n : exp2 (INR n) = 2 ^ n.
Proof. apply Rpower_pow; lra. Qed.

Lemma exp2_whole n : exp2 (IZR n) = powerRZ 2 n.
Proof. symmetry; apply powerRZ_Rpower; lra. Qed.

Lemma exp2_at x n : x = INR n -> exp2 x = 2 ^ n.
Proof. intros ->; apply exp2_natural. Qed.

(** (2^a)ⁿ = 2^(n·a), for each whole n. *)
Lemma exp2_times x n : exp2 (IZR n * x) = powerRZ (exp2 x) n.
Proof.
  rewrite powerRZ_Rpower by apply exp2_positive. unfold exp2. rewrite Rpower_mult. f_equal; ring.
Qed.

(** 2^(n + a) = 2ⁿ·2^a, for each whole n. *)
Lemma exp2_shifted x n : exp2 (x + IZR n) = powerRZ 2 n * exp2 x.
Proof. rewrite exp2_plus, exp2_whole; ring. Qed.

Lemma exp2_log2 x : 0 < x -> exp2 (log2 x) = x.
Proof.
  intros H. unfold exp2, Rpower, log2. pose proof ln_2_positive.
  replace (ln x / ln 2 * ln 2) with (ln x) by (field; lra). now apply exp_ln.
Qed.

Lemma log2_exp2 x : log2 (exp2 x) = x.
Proof. unfold exp2, Rpower, log2. rewrite ln_exp. pose proof ln_2_positive. field; lra. Qed.

Lemma log2_product x y : 0 < x -> 0 < y -> log2 (x * y) = log2 x + log2 y.
Proof. intros; unfold log2. rewrite ln_mult by assumption. pose proof ln_2_positive. field; lra. Qed.

Lemma log2_inverse x : 0 < x -> log2 (/ x) = - log2 x.
Proof. intros; unfold log2. rewrite ln_Rinv by assumption. pose proof ln_2_positive. field; lra. Qed.

Lemma log2_at x n : x = 2 ^ n -> log2 x = INR n.
Proof. intros ->. rewrite <- exp2_natural. apply log2_exp2. Qed.

(** 2^(k·log₂ a) = a^k, for each whole k. *)
Lemma exp2_times_log2 x k : 0 < x -> exp2 (IZR k * log2 x) = powerRZ x k.
Proof. intros; rewrite exp2_times, exp2_log2; auto. Qed.

(** log₂(2ᵏ·a) = k + log₂ a, for each whole k. *)
Lemma log2_scaled x k : 0 < x -> log2 (powerRZ 2 k * x) = IZR k + log2 x.
Proof.
  intros. rewrite <- exp2_whole, log2_product, log2_exp2; auto using exp2_positive.
Qed.

Lemma log2_square x : x <> 0 -> log2 (x * x) = 2 * log2 (Rabs x).
Proof.
  intros H. replace (x * x) with (Rabs x * Rabs x) by (rewrite <- Rabs_mult; apply Rabs_pos_eq; nra).
  rewrite log2_product by (now apply Rabs_pos_lt). ring.
Qed.

Lemma sqrt_exp2 x : sqrt (exp2 x) = exp2 (x / 2).
Proof.
  replace x with (x / 2 + x / 2) at 1 by lra. rewrite exp2_plus.
  apply sqrt_square. left; apply exp2_positive.
Qed.

Lemma log2_sqrt x : 0 < x -> log2 (sqrt x) = log2 x / 2.
Proof. intros. rewrite <- (exp2_log2 x) at 1 by assumption. now rewrite sqrt_exp2, log2_exp2. Qed.

(** * Roots and maxima *)

Lemma increasing_max (f : R -> R) x y :
  (forall u v, u <= v -> f u <= f v) -> f (Rmax x y) = Rmax (f x) (f y).
Proof.
  intros H. unfold Rmax. pose proof (H x y). pose proof (H y x).
  destruct (Rle_dec x y), (Rle_dec (f x) (f y)); lra.
Qed.

(** √(q²·a) = q·√a, for each q ≥ 0. *)
Lemma sqrt_scaled q x : 0 <= q -> 0 <= x -> sqrt (q * q * x) = q * sqrt x.
Proof. intros. rewrite sqrt_mult, sqrt_square; auto; nra. Qed.

(** At a square. *)
Lemma sqrt_at x r : 0 <= r -> x = r * r -> sqrt x = r.
Proof. intros ? ->. now apply sqrt_square. Qed.

Lemma sqrt_of_square x : sqrt (x * x) = Rabs x.
Proof. apply sqrt_Rsqr_abs. Qed.

Lemma sqrt_max x y : sqrt (Rmax x y) = Rmax (sqrt x) (sqrt y).
Proof. apply increasing_max. apply sqrt_le_1_alt. Qed.

(** * Roundings *)

Lemma floor_bounds x : IZR (floor x) <= x < IZR (floor x) + 1.
Proof. unfold floor. destruct (base_Int_part x). lra. Qed.

Lemma floor_is x n : IZR n <= x < IZR n + 1 -> floor x = n.
Proof.
  intros. pose proof (floor_bounds x).
  assert (floor x < n + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra).
  assert (n < floor x + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra). lia.
Qed.

Lemma floor_whole n : floor (IZR n) = n.
Proof. apply floor_is; lra. Qed.

Lemma floor_plus x n : floor (x + IZR n) = (floor x + n)%Z.
Proof. apply floor_is. rewrite plus_IZR. pose proof (floor_bounds x); lra. Qed.

Lemma floor_not_decreasing x y : x <= y -> (floor x <= floor y)%Z.
Proof.
  intros. pose proof (floor_bounds x). pose proof (floor_bounds y).
  apply Z.lt_succ_r, lt_IZR. rewrite succ_IZR. lra.
Qed.

Lemma floor_quotient n d : (0 < d)%Z -> floor (IZR n / IZR d) = (n / d)%Z.
Proof.
  intros Hd. apply floor_is. apply IZR_lt in Hd as Hd'.
  pose proof (Z.div_mod n d ltac:(lia)) as E. pose proof (Z.mod_pos_bound n d Hd) as B.
  assert (IZR n / IZR d = IZR (n / d) + IZR (n mod d) / IZR d) as ->.
  { rewrite E at 1. rewrite plus_IZR, mult_IZR. field; lra. }
  assert (0 <= IZR (n mod d) / IZR d < 1); [|lra].
  split; [apply Rle_mult_inv_pos; [apply IZR_le; lia | lra]|].
  apply Rmult_lt_reg_r with (IZR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  rewrite Rmult_1_r, Rmult_1_l. apply IZR_lt; lia.
Qed.

Lemma truncate_whole n : truncate (IZR n) = n.
Proof.
  unfold truncate, ceiling. rewrite <- opp_IZR, !floor_whole. destruct (Rlt_dec _ _); lia.
Qed.

Lemma round_whole n : round_half_even (IZR n) = n.
Proof.
  unfold round_half_even. rewrite floor_whole. destruct (Rlt_dec _ _); [reflexivity | lra].
Qed.

Lemma round_not_decreasing x y : x <= y -> (round_half_even x <= round_half_even y)%Z.
Proof.
  intros H. pose proof (floor_not_decreasing x y H) as L.
  unfold round_half_even. destruct (Z.eq_dec (floor x) (floor y)) as [E | E].
  - rewrite <- E. set (k := floor x).
    destruct (Rlt_dec (x - IZR k) (1 / 2)), (Rlt_dec (y - IZR k) (1 / 2)); try lia; try lra;
      destruct (Rlt_dec (1 / 2) (x - IZR k)), (Rlt_dec (1 / 2) (y - IZR k)), (Z.even k); try lia; lra.
  - assert (floor x + 1 <= floor y)%Z by lia.
    repeat match goal with |- context [if ?condition then _ else _] => destruct condition end; lia.
Qed.
