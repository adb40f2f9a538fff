(** Whole numbers and their binary digits. *)
From Volta.laws Require Import Table WholeTactics.
Open Scope R_scope.

Lemma floor_of_shifted_holds : holds floor_of_shifted.
Proof.
  law. unfold ceiling. rewrite Ropp_involutive. whole.
  replace (a + IZR (3 * z) - 2) with (a + IZR (3 * z - 2)) by (rewrite minus_IZR; ring).
  rewrite floor_plus. whole. f_equal. lia.
Qed.

Lemma floor_of_shifted_limit_1_refuted : refuted floor_of_shifted_limit_1.
Proof. refute ["a" |-> 0]. rewrite (floor_is (0 + 1 / 2) 0), (floor_whole 0); lra. Qed.

Lemma floor_of_shifted_limit_2_refuted : refuted floor_of_shifted_limit_2.
Proof. refute ["b" |-> 1 / 2]. rewrite (floor_is (0 + 1 / 2) 0), (floor_whole 0); lra. Qed.

Lemma rounding_of_whole_holds : holds rounding_of_whole.
Proof. whole_law. lia. Qed.

Lemma rounding_of_whole_limit_1_refuted : refuted rounding_of_whole_limit_1.
Proof.
  refute ["n" |-> 1]. unfold truncate. rewrite (floor_is (1 / 2) 0) by lra. branches; lra.
Qed.

Lemma rounding_of_whole_limit_2_refuted : refuted rounding_of_whole_limit_2.
Proof.
  refute ["a" |-> 1 / 2]. unfold truncate. rewrite (floor_is (1 / 2) 0) by lra. branches; lra.
Qed.

Lemma remainder_by_floor_holds : holds remainder_by_floor.
Proof. law. reflexivity. Qed.

Lemma remainder_by_floor_limit_1_refuted : refuted remainder_by_floor_limit_1.
Proof.
  refute ["n" |-> -1]. unfold truncate, ceiling.
  rewrite (floor_is (-1 / 16) (-1)), (floor_is (- (-1 / 16)) 0) by lra. cbn [Z.opp]. branches; lra.
Qed.

(** ⌊(⌊a⌋ + n)/b⌋ = ⌊(a + n)/b⌋, for each whole n and b > 0. *)
Lemma nested_floors a n b : (0 < b)%Z -> floor ((a + IZR n) / IZR b) = floor (IZR (floor a + n) / IZR b).
Proof.
  intros H. rewrite floor_quotient, <- floor_plus by assumption. set (x := a + IZR n).
  pose proof (floor_bounds x) as B. apply IZR_lt in H as P. apply floor_is.
  set (q := (floor x / b)%Z).
  assert (q * b <= floor x)%Z as L by lia. assert (floor x + 1 <= (q + 1) * b)%Z as U by lia.
  apply IZR_le in L, U. rewrite mult_IZR in L. rewrite mult_IZR, !plus_IZR in U.
  split; [apply Rmult_le_reg_r with (IZR b) | apply Rmult_lt_reg_r with (IZR b)]; try assumption;
    replace (x / IZR b * IZR b) with x by (field; lra); lra.
Qed.

Lemma nested_floor_holds : holds nested_floor.
Proof. law. rewrite nested_floors by lia. now whole. Qed.

Lemma nested_floor_limit_1_refuted : refuted nested_floor_limit_1.
Proof. whole_refute ["n" |-> 3]. Qed.

Lemma nested_floor_limit_2_refuted : refuted nested_floor_limit_2.
Proof.
  refute ["a" |-> 1 / 2; "b" |-> 7 / 2].
  rewrite (floor_is (1 / 2) 0), (floor_is ((0 + 7 / 2) / 4) 0), (floor_is ((1 / 2 + 7 / 2) / 4) 1); lra.
Qed.

Lemma floor_above_half_holds : holds floor_above_half.
Proof. whole_law. lia. Qed.

Lemma floor_above_half_limit_1_refuted : refuted floor_above_half_limit_1.
Proof. whole_refute ["n" |-> 4]. Qed.

Lemma floor_by_range_holds : holds floor_by_range.
Proof. whole_law. lia. Qed.

Lemma floor_by_range_limit_1_refuted : refuted floor_by_range_limit_1.
Proof. whole_refute ["n" |-> -1]. Qed.

Lemma floor_by_range_limit_2_refuted : refuted floor_by_range_limit_2.
Proof. whole_refute ["n" |-> 255]. Qed.

Lemma floor_of_fields_holds : holds floor_of_fields.
Proof. whole_law. lia. Qed.

Lemma floor_of_fields_limit_1_refuted : refuted floor_of_fields_limit_1.
Proof. whole_refute ["n" |-> 4096]. Qed.

Lemma floor_of_fields_limit_2_refuted : refuted floor_of_fields_limit_2.
Proof. whole_refute ["n" |-> -1]. Qed.

Lemma floor_of_offset_holds : holds floor_of_offset.
Proof. whole_law. lia. Qed.

Lemma floor_of_offset_limit_1_refuted : refuted floor_of_offset_limit_1.
Proof. whole_refute ["n" |-> 4]. Qed.

Lemma floor_of_offset_limit_2_refuted : refuted floor_of_offset_limit_2.
Proof. whole_refute ["n" |-> -1]. Qed.

Lemma simplest_multiplier_holds : holds simplest_multiplier.
Proof. whole_law. lia. Qed.

Lemma simplest_multiplier_limit_1_refuted : refuted simplest_multiplier_limit_1.
Proof. whole_refute ["n" |-> 3]. Qed.

Lemma rounding_of_maximum_holds : holds rounding_of_maximum.
Proof.
  law. pose proof (round_not_decreasing) as monotone.
  assert (forall x y, IZR (round_half_even (Rmax x y)) = Rmax (IZR (round_half_even x)) (IZR (round_half_even y)))
    as of_maximum by (intros; apply (increasing_max (fun x => IZR (round_half_even x))); auto using IZR_le).
  assert (IZR (round_half_even (Rmin b 7)) = Rmin (IZR (round_half_even b)) 7) as of_minimum.
  { pose proof (monotone b 7) as B. pose proof (monotone 7 b) as B'. rewrite (round_whole 7) in *.
    unfold Rmin at 1. destruct (Rle_dec b 7) as [L | L].
    - symmetry. apply Rmin_left, IZR_le; auto.
    - rewrite round_whole. symmetry. apply Rmin_right, IZR_le. apply B'; lra. }
  rewrite of_maximum, of_minimum. reflexivity.
Qed.

Lemma rounding_of_maximum_limit_1_refuted : refuted rounding_of_maximum_limit_1.
Proof.
  refute ["b" |-> 1 / 2]. rewrite Rmax_right, (floor_is (1 / 2) 0), (floor_whole 0), Rmax_right; lra.
Qed.

Lemma mask_by_digits_holds : holds mask_by_digits.
Proof. whole_law. change 240%Z with (2 ^ 4 * (2 ^ 4 - 1))%Z. rewrite land_ones_above by lia. lia. Qed.

Lemma mask_by_digits_limit_1_refuted : refuted mask_by_digits_limit_1.
Proof. whole_refute ["n" |-> 16]. Qed.

Lemma mask_of_complement_holds : holds mask_of_complement.
Proof.
  whole_law. change 255%Z with (2 ^ 8 - 1)%Z. rewrite land_complement, Z.land_diag; cbn; lia.
Qed.

Lemma mask_of_complement_limit_1_refuted : refuted mask_of_complement_limit_1.
Proof. whole_refute ["n" |-> 128]. Qed.

Lemma mask_of_exclusive_or_holds : holds mask_of_exclusive_or.
Proof. whole_law. rewrite <- exclusive_or. symmetry; apply land_exclusive_or. Qed.

Lemma mask_of_exclusive_or_limit_1_refuted : refuted mask_of_exclusive_or_limit_1.
Proof. whole_refute ["n" |-> 1; "m" |-> 1; "k" |-> 1]. Qed.

Lemma mask_of_exclusive_or_limit_2_refuted : refuted mask_of_exclusive_or_limit_2.
Proof. whole_refute ["n" |-> 1; "m" |-> 1]. Qed.

Lemma mask_of_exclusive_or_limit_3_refuted : refuted mask_of_exclusive_or_limit_3.
Proof. whole_refute ["n" |-> 256]. Qed.

Lemma disjoint_masks_holds : holds disjoint_masks.
Proof. whole_law. symmetry. apply (land_disjoint z z0 8); lia. Qed.

Lemma disjoint_masks_limit_1_refuted : refuted disjoint_masks_limit_1.
Proof. whole_refute ["n" |-> 128; "m" |-> 1]. Qed.

Lemma exclusive_or_by_range_holds : holds exclusive_or_by_range.
Proof.
  whole_law. pose proof (exclusive_or_below z z0 8 ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma exclusive_or_by_range_limit_1_refuted : refuted exclusive_or_by_range_limit_1.
Proof. whole_refute ["n" |-> 128; "m" |-> 128]. Qed.

Lemma comparison_of_whole_holds : holds comparison_of_whole.
Proof.
  law; try reflexivity. exfalso.
  assert (z <= 2)%Z as L by (apply Z.lt_succ_r, lt_IZR; cbn; lra). apply IZR_le in L. lra.
Qed.

Lemma comparison_of_whole_limit_1_refuted : refuted comparison_of_whole_limit_1.
Proof. refute ["n" |-> 2]. lra. Qed.

Lemma comparison_of_whole_limit_2_refuted : refuted comparison_of_whole_limit_2.
Proof. refute ["a" |-> 11 / 4]. lra. Qed.
