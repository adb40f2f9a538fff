(** The functions of terms that the library of the prover does not define. *)
From Coq Require Import Reals Lra Lia ZArith.
Open Scope R_scope.

(** * Powers and logarithms of two *)

Definition exp2 (x : R) : R := Rpower 2 x.
Definition log2 (x : R) : R := ln x / ln 2.

(** * Roundings *)

Definition floor (x : R) : Z := Int_part x.
Definition ceiling (x : R) : Z := (- floor (- x))%Z.
Definition truncate (x : R) : Z := if Rlt_dec x 0 then ceiling x else floor x.

(** To the nearest whole number, ties to even. *)
Definition round_half_even (x : R) : Z :=
  let below := floor x in
  let rest := x - IZR below in
  if Rlt_dec rest (1 / 2) then below
  else if Rlt_dec (1 / 2) rest then (below + 1)%Z
  else if Z.even below then below else (below + 1)%Z.

(** * The cube root *)

Definition cbrt (x : R) : R :=
  if Rlt_dec 0 x then Rpower x (1 / 3) else if Rlt_dec x 0 then - Rpower (- x) (1 / 3) else 0.

(** * Alternating power series

    The error function and the Bessel functions are entire: their series converge everywhere, as the denominators of
    their coefficients grow like factorials. *)

Section Series.
  Variable denominator : nat -> R.
  Hypothesis positive : forall n, 0 < denominator n.
  Hypothesis grows : forall n, INR (S n) * denominator n <= denominator (S n).

  Definition coefficient n := (-1) ^ n / denominator n.

  Lemma coefficient_nonzero n : coefficient n <> 0.
  Proof.
    unfold coefficient, Rdiv. apply Rmult_integral_contrapositive; split.
    - apply pow_nonzero; lra.
    - apply Rinv_neq_0_compat, Rgt_not_eq, positive.
  Qed.

  Lemma ratios_vanish : Un_cv (fun n => Rabs (coefficient (S n) / coefficient n)) 0.
  Proof.
    intros eps He. destruct (RinvN_cv He) as [N HN]. exists N; intros n Hn.
    specialize (HN n Hn). unfold R_dist in *. rewrite Rminus_0_r in *.
    apply Rle_lt_trans with (2 := HN). rewrite Rabs_Rabsolu. cbn [RinvN pos].
    pose proof (positive n) as P. pose proof (positive (S n)) as P'. pose proof (grows n) as G.
    assert (0 < INR n + 1) as I by (pose proof (pos_INR n); lra).
    rewrite S_INR in G.
    replace (coefficient (S n) / coefficient n) with (- (denominator n / denominator (S n))).
    - rewrite Rabs_Ropp, !Rabs_pos_eq.
      + apply Rmult_le_reg_r with (denominator (S n)); [lra|].
        apply Rmult_le_reg_r with (INR n + 1); [lra|]. field_simplify; lra.
      + left; apply Rinv_0_lt_compat; lra.
      + left; apply Rdiv_lt_0_compat; lra.
    - unfold coefficient. rewrite <- tech_pow_Rmult. field.
      repeat split; try lra. apply pow_nonzero; lra.
  Qed.

  Lemma converges x : {sum : R | Pser coefficient x sum}.
  Proof. apply Alembert_C3; [exact coefficient_nonzero | exact ratios_vanish]. Qed.

  Definition series x : R := proj1_sig (converges x).

  (** At 1, the first two terms are a lower bound. *)
  Lemma series_at_1 : 0 < / denominator 0 - / denominator 1 -> 0 < series 1.
  Proof.
    intros H. unfold series. destruct (converges 1) as [sum limits]; cbn.
    set (term n := / denominator n).
    assert (0 < denominator 0) by apply positive.
    assert (forall n, term (S n) <= / INR (S n) * term n) as smaller.
    { intros n. unfold term. pose proof (positive n). pose proof (grows n).
      rewrite <- Rinv_mult. apply Rinv_le_contravar; [|assumption].
      apply Rmult_lt_0_compat; [apply lt_0_INR; lia | assumption]. }
    assert (forall n, 0 < term n) as Hpos by (intros n; apply Rinv_0_lt_compat, positive).
    assert (Un_decreasing term) as decreasing.
    { intros n. apply Rle_trans with (1 := smaller n).
      rewrite <- (Rmult_1_l (term n)) at 2. apply Rmult_le_compat_r; [left; apply Hpos|].
      rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. rewrite S_INR. pose proof (pos_INR n); lra. }
    assert (Un_cv term 0) as vanish.
    { intros eps He.
      destruct (RinvN_cv (eps := eps / term 0%nat)) as [N HN]; [apply Rdiv_lt_0_compat; auto|].
      exists (S N); intros [|n] Hn; [lia|]. specialize (HN n ltac:(lia)).
      unfold R_dist in *. rewrite Rminus_0_r in *. cbn [RinvN pos] in HN.
      rewrite Rabs_pos_eq in * by (left; first [apply Hpos | apply Rinv_0_lt_compat; pose proof (pos_INR n); lra]).
      assert (term n <= term 0%nat) as L.
      { clear -decreasing. induction n; [lra|]. specialize (decreasing n); lra. }
      apply Rle_lt_trans with (1 := smaller n). rewrite S_INR.
      apply Rle_lt_trans with (/ (INR n + 1) * term 0%nat).
      - apply Rmult_le_compat_l; [|assumption]. left; apply Rinv_0_lt_compat; pose proof (pos_INR n); lra.
      - apply Rmult_lt_reg_r with (/ term 0%nat); [apply Rinv_0_lt_compat, Hpos|].
        rewrite Rmult_assoc, Rinv_r, Rmult_1_r by (apply Rgt_not_eq, Hpos). exact HN. }
    assert (Un_cv (fun N => sum_f_R0 (tg_alt term) N) sum) as limit.
    { intros eps He. destruct (limits eps He) as [N HN]. exists N; intros n Hn. specialize (HN n Hn).
      rewrite (sum_eq _ (fun k => coefficient k * 1 ^ k)); [exact HN|].
      intros k _. unfold tg_alt, coefficient, term. rewrite pow1. unfold Rdiv; ring. }
    destruct (alternated_series_ineq term sum 0 decreasing vanish limit) as [L _].
    cbn in L. unfold tg_alt, term in L. cbn in L. lra.
  Qed.
End Series.

Lemma factorial_S n : INR (fact (S n)) = INR (S n) * INR (fact n).
Proof. rewrite fact_simpl. apply mult_INR. Qed.

(** ** The error function, 2/√π · ∑ (−1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)) *)

Definition erf_denominator n := INR (fact n) * (2 * INR n + 1).

Lemma erf_positive n : 0 < erf_denominator n.
Proof. apply Rmult_lt_0_compat; [apply INR_fact_lt_0 | pose proof (pos_INR n); lra]. Qed.

Lemma erf_grows n : INR (S n) * erf_denominator n <= erf_denominator (S n).
Proof.
  unfold erf_denominator. rewrite factorial_S, <- Rmult_assoc. apply Rmult_le_compat_l; [|rewrite S_INR; lra].
  left; apply Rmult_lt_0_compat; [apply lt_0_INR; lia | apply INR_fact_lt_0].
Qed.

Definition erf x := 2 / sqrt PI * x * series erf_denominator erf_positive erf_grows (Rsqr x).

(** ** The Bessel functions, ∑ (−1)ⁿ (x/2)²ⁿ / n!² and ∑ (−1)ⁿ (x/2)²ⁿ⁺¹ / (n! (n + 1)!) *)

Definition j0_denominator n := INR (fact n) * INR (fact n).
Definition j1_denominator n := INR (fact n) * INR (fact (S n)).

Lemma at_least_1 n : 1 <= INR (S n).
Proof. rewrite S_INR. pose proof (pos_INR n); lra. Qed.

Lemma j0_positive n : 0 < j0_denominator n.
Proof. apply Rmult_lt_0_compat; apply INR_fact_lt_0. Qed.

Lemma j1_positive n : 0 < j1_denominator n.
Proof. apply Rmult_lt_0_compat; apply INR_fact_lt_0. Qed.

Lemma j0_grows n : INR (S n) * j0_denominator n <= j0_denominator (S n).
Proof.
  unfold j0_denominator. rewrite factorial_S. pose proof (at_least_1 n). pose proof (INR_fact_lt_0 n).
  assert (0 <= INR (S n) * (INR (fact n) * INR (fact n))) by (repeat apply Rmult_le_pos; lra).
  nra.
Qed.

Lemma j1_grows n : INR (S n) * j1_denominator n <= j1_denominator (S n).
Proof.
  unfold j1_denominator. rewrite (factorial_S (S n)), (factorial_S n).
  pose proof (at_least_1 n). pose proof (at_least_1 (S n)). pose proof (INR_fact_lt_0 n).
  set (u := INR (S n)) in *. set (v := INR (S (S n))) in *. set (f := INR (fact n)) in *.
  assert (0 <= u * (f * (u * f))) by (repeat apply Rmult_le_pos; lra).
  nra.
Qed.

Definition j0 x := series j0_denominator j0_positive j0_grows (Rsqr (x / 2)).
Definition j1 x := x / 2 * series j1_denominator j1_positive j1_grows (Rsqr (x / 2)).
