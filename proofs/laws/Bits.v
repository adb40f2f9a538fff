(** Binary digits of whole numbers. *)
From Coq Require Import ZArith Lia Bool.
Open Scope Z_scope.

(** Equal digits, one by one. *)
Ltac digits :=
  apply Z.bits_inj'; let i := fresh "i" in intros i ?;
  repeat first [rewrite Z.lxor_spec | rewrite Z.land_spec | rewrite Z.ldiff_spec | rewrite Z.bits_0];
  repeat match goal with |- context [Z.testbit ?n i] => destruct (Z.testbit n i) end; reflexivity.

(** n + m = (n xor m) + 2·(n and m) *)
Lemma exclusive_or n m : n + m - 2 * Z.land n m = Z.lxor n m.
Proof.
  assert (forall x y, Z.ldiff x y + Z.land x y = x) as split.
  { intros. rewrite Z.add_nocarry_lxor by digits. digits. }
  assert (Z.ldiff n m + Z.ldiff m n = Z.lxor n m) as once.
  { rewrite Z.add_nocarry_lxor by digits. digits. }
  pose proof (split n m). pose proof (split m n). rewrite (Z.land_comm m n) in *. lia.
Qed.

(** (n xor m) and k = (n and k) xor (m and k) *)
Lemma land_exclusive_or n m k :
  Z.land (n + m - 2 * Z.land n m) k = Z.land n k + Z.land m k - 2 * Z.land n (Z.land m k).
Proof.
  replace (Z.land n (Z.land m k)) with (Z.land (Z.land n k) (Z.land m k)) by digits.
  rewrite !exclusive_or. digits.
Qed.

(** Numbers of k digits. *)
Lemma digits_above n k i : 0 <= n < 2 ^ k -> k <= i -> Z.testbit n i = false.
Proof.
  intros [N L] I. destruct (Z.eq_dec n 0) as [-> | Z]; [apply Z.bits_0|].
  apply Z.bits_above_log2; [assumption|]. apply Z.log2_lt_pow2 in L; lia.
Qed.

Lemma exclusive_or_below n m k : 0 <= n < 2 ^ k -> 0 <= m < 2 ^ k -> 0 <= Z.lxor n m < 2 ^ k.
Proof.
  intros N M. assert (0 <= k) by (destruct (Z.lt_ge_cases k 0); [rewrite Z.pow_neg_r in *; lia | assumption]).
  replace (Z.lxor n m) with (Z.lxor n m mod 2 ^ k); [apply Z.mod_pos_bound; lia|].
  apply Z.bits_inj'. intros i I. destruct (Z.lt_ge_cases i k).
  - now apply Z.mod_pow2_bits_low.
  - rewrite Z.mod_pow2_bits_high, Z.lxor_spec, (digits_above n k), (digits_above m k) by lia. reflexivity.
Qed.

(** A mask of k ones above j zeros. *)
Lemma land_ones_above n j k :
  0 <= j -> 0 <= k -> Z.land n (2 ^ j * (2 ^ k - 1)) = 2 ^ j * ((n / 2 ^ j) mod 2 ^ k).
Proof.
  intros J K.
  rewrite <- Z.land_ones, <- Z.shiftr_div_pow2, !(Z.mul_comm (2 ^ j)), <- !Z.shiftl_mul_pow2 by assumption.
  replace (2 ^ k - 1) with (Z.ones k) by (rewrite Z.ones_equiv; lia).
  apply Z.bits_inj'. intros i I. rewrite Z.land_spec, !Z.shiftl_spec by assumption.
  destruct (Z.lt_ge_cases i j).
  - rewrite !(Z.testbit_neg_r _ (i - j)) by lia. apply andb_false_r.
  - rewrite Z.land_spec, Z.shiftr_spec by lia. f_equal. f_equal. lia.
Qed.

(** n and 2ᵏ·m, of an n of k digits *)
Lemma land_disjoint n m k : 0 <= k -> 0 <= n < 2 ^ k -> Z.land n (2 ^ k * m) = 0.
Proof.
  intros K N. apply Z.bits_inj'. intros i I. rewrite Z.land_spec, Z.bits_0.
  destruct (Z.lt_ge_cases i k).
  - rewrite (Z.mul_comm (2 ^ k)), Z.mul_pow2_bits_low by lia. apply andb_false_r.
  - now rewrite (digits_above n k).
Qed.

(** n and ~n *)
Lemma land_complement n k : 0 <= k -> 0 <= n < 2 ^ k -> Z.land n (2 ^ k - 1 - n) = 0.
Proof.
  intros K N. replace (2 ^ k - 1 - n) with (Z.lnot n mod 2 ^ k).
  - apply Z.bits_inj'. intros i I. rewrite Z.land_spec, Z.bits_0. destruct (Z.lt_ge_cases i k).
    + rewrite Z.mod_pow2_bits_low, Z.lnot_spec by lia. apply andb_negb_r.
    + now rewrite (digits_above n k).
  - symmetry. apply Z.mod_unique_pos with (q := -1); unfold Z.lnot; lia.
Qed.
