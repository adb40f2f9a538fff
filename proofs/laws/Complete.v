(** Each statement of the table has its lemma. Generated from volta-core/src/algebra/laws.rs by tests/src/lemmas.rs. *)
From Volta.laws Require Import Table Sums Exponentials Roots Maxima Choices Whole OtherFunctions.

Theorem every_law_holds : Forall holds laws.
Proof.
  repeat apply Forall_cons;
    [ exact sum_order_holds
    | exact product_order_holds
    | exact distributivity_holds
    | exact polarization_holds
    | exact difference_of_equals_holds
    | exact product_with_zero_holds
    | exact quotient_of_equals_holds
    | exact cancelled_factor_holds
    | exact common_denominator_holds
    | exact quotient_by_infinity_holds
    | exact product_of_powers_holds
    | exact reciprocal_of_power_holds
    | exact whole_summand_of_exponent_holds
    | exact power_of_power_holds
    | exact power_of_minus_infinity_holds
    | exact powers_of_maximum_and_minimum_holds
    | exact power_of_logarithm_holds
    | exact logarithm_of_power_holds
    | exact logarithm_of_scaled_holds
    | exact logarithm_of_quotient_holds
    | exact logarithm_of_even_power_holds
    | exact logarithm_of_root_holds
    | exact square_of_root_holds
    | exact reciprocal_root_holds
    | exact root_of_maximum_holds
    | exact root_of_scaled_by_number_holds
    | exact root_of_scaled_by_power_holds
    | exact root_of_scaled_holds
    | exact root_of_square_holds
    | exact root_of_square_limit_2_holds
    | exact maximum_is_a_set_holds
    | exact maximum_with_minus_infinity_holds
    | exact maximum_of_shifted_holds
    | exact maximum_of_scaled_holds
    | exact maximum_of_scaled_limit_2_holds
    | exact maximum_by_sign_holds
    | exact minimum_by_maximum_holds
    | exact magnitude_by_maximum_holds
    | exact saturation_holds
    | exact maximum_of_minima_holds
    | exact orders_of_maxima_holds
    | exact equal_arms_holds
    | exact chosen_summand_holds
    | exact chosen_exponent_holds
    | exact condition_by_sign_holds
    | exact chosen_scales_holds
    | exact product_of_choices_holds
    | exact joined_conditions_holds
    | exact scaled_comparison_holds
    | exact orders_of_choices_holds
    | exact equal_atoms_holds
    | exact floor_of_shifted_holds
    | exact rounding_of_whole_holds
    | exact remainder_by_floor_holds
    | exact nested_floor_holds
    | exact floor_above_half_holds
    | exact floor_by_range_holds
    | exact floor_of_fields_holds
    | exact floor_of_offset_holds
    | exact simplest_multiplier_holds
    | exact rounding_of_maximum_holds
    | exact mask_by_digits_holds
    | exact mask_of_complement_holds
    | exact mask_of_exclusive_or_holds
    | exact disjoint_masks_holds
    | exact exclusive_or_by_range_holds
    | exact comparison_of_whole_holds
    | exact tanh_by_exponential_holds
    | exact parity_of_sine_and_cosine_holds
    | exact odd_functions_holds
    | exact parity_of_bessel_holds
    | exact squares_of_sine_and_cosine_holds
    | exact copied_sign_holds
    | apply Forall_nil ].
Qed.

Theorem every_law_of_values_holds : Forall holds_of_values laws_of_values.
Proof.
  repeat apply Forall_cons;
    [ exact choice_by_digit_holds
    | exact choice_as_sum_holds
    | apply Forall_nil ].
Qed.

Theorem every_false_near_miss_is_refuted : Forall refuted false_near_misses.
Proof.
  repeat apply Forall_cons;
    [ exact sum_order_limit_1_refuted
    | exact product_order_limit_1_refuted
    | exact distributivity_limit_1_refuted
    | exact polarization_limit_1_refuted
    | exact polarization_limit_2_refuted
    | exact difference_of_equals_limit_2_refuted
    | exact product_with_zero_limit_2_refuted
    | exact quotient_of_equals_limit_2_refuted
    | exact cancelled_factor_limit_2_refuted
    | exact common_denominator_limit_1_refuted
    | exact quotient_by_infinity_limit_1_refuted
    | exact product_of_powers_limit_1_refuted
    | exact reciprocal_of_power_limit_1_refuted
    | exact whole_summand_of_exponent_limit_1_refuted
    | exact power_of_power_limit_1_refuted
    | exact power_of_minus_infinity_limit_1_refuted
    | exact powers_of_maximum_and_minimum_limit_1_refuted
    | exact powers_of_maximum_and_minimum_limit_2_refuted
    | exact powers_of_maximum_and_minimum_limit_3_refuted
    | exact power_of_logarithm_limit_2_refuted
    | exact logarithm_of_power_limit_1_refuted
    | exact logarithm_of_scaled_limit_1_refuted
    | exact logarithm_of_quotient_limit_2_refuted
    | exact logarithm_of_even_power_limit_2_refuted
    | exact logarithm_of_root_limit_1_refuted
    | exact reciprocal_root_limit_1_refuted
    | exact root_of_maximum_limit_1_refuted
    | exact root_of_scaled_by_number_limit_1_refuted
    | exact root_of_scaled_by_power_limit_1_refuted
    | exact root_of_scaled_limit_1_refuted
    | exact root_of_square_limit_1_refuted
    | exact maximum_is_a_set_limit_1_refuted
    | exact maximum_with_minus_infinity_limit_1_refuted
    | exact maximum_of_shifted_limit_1_refuted
    | exact maximum_of_scaled_limit_1_refuted
    | exact maximum_by_sign_limit_1_refuted
    | exact minimum_by_maximum_limit_1_refuted
    | exact magnitude_by_maximum_limit_1_refuted
    | exact saturation_limit_1_refuted
    | exact maximum_of_minima_limit_1_refuted
    | exact orders_of_maxima_limit_1_refuted
    | exact equal_arms_limit_1_refuted
    | exact chosen_summand_limit_1_refuted
    | exact chosen_exponent_limit_1_refuted
    | exact chosen_exponent_limit_2_refuted
    | exact condition_by_sign_limit_1_refuted
    | exact chosen_scales_limit_1_refuted
    | exact chosen_scales_limit_2_refuted
    | exact choice_by_digit_limit_1_refuted
    | exact choice_by_digit_limit_2_refuted
    | exact choice_as_sum_limit_1_refuted
    | exact choice_as_sum_limit_2_refuted
    | exact product_of_choices_limit_1_refuted
    | exact product_of_choices_limit_2_refuted
    | exact joined_conditions_limit_1_refuted
    | exact scaled_comparison_limit_1_refuted
    | exact orders_of_choices_limit_1_refuted
    | exact equal_atoms_limit_1_refuted
    | exact floor_of_shifted_limit_1_refuted
    | exact floor_of_shifted_limit_2_refuted
    | exact rounding_of_whole_limit_1_refuted
    | exact rounding_of_whole_limit_2_refuted
    | exact remainder_by_floor_limit_1_refuted
    | exact nested_floor_limit_1_refuted
    | exact nested_floor_limit_2_refuted
    | exact floor_above_half_limit_1_refuted
    | exact floor_by_range_limit_1_refuted
    | exact floor_by_range_limit_2_refuted
    | exact floor_of_fields_limit_1_refuted
    | exact floor_of_fields_limit_2_refuted
    | exact floor_of_offset_limit_1_refuted
    | exact floor_of_offset_limit_2_refuted
    | exact simplest_multiplier_limit_1_refuted
    | exact rounding_of_maximum_limit_1_refuted
    | exact mask_by_digits_limit_1_refuted
    | exact mask_of_complement_limit_1_refuted
    | exact mask_of_exclusive_or_limit_1_refuted
    | exact mask_of_exclusive_or_limit_2_refuted
    | exact mask_of_exclusive_or_limit_3_refuted
    | exact disjoint_masks_limit_1_refuted
    | exact exclusive_or_by_range_limit_1_refuted
    | exact comparison_of_whole_limit_1_refuted
    | exact comparison_of_whole_limit_2_refuted
    | exact tanh_by_exponential_limit_1_refuted
    | exact parity_of_sine_and_cosine_limit_1_refuted
    | exact odd_functions_limit_1_refuted
    | exact odd_functions_limit_2_refuted
    | exact odd_functions_limit_3_refuted
    | exact parity_of_bessel_limit_1_refuted
    | exact squares_of_sine_and_cosine_limit_1_refuted
    | exact squares_of_sine_and_cosine_limit_2_refuted
    | exact copied_sign_limit_1_refuted
    | apply Forall_nil ].
Qed.

Theorem every_conditional_near_miss_holds_where : Forall holds_where conditional_near_misses.
Proof.
  repeat apply Forall_cons;
    [ exact difference_of_equals_limit_1_where
    | exact product_with_zero_limit_1_where
    | exact quotient_of_equals_limit_1_where
    | exact cancelled_factor_limit_1_where
    | exact power_of_logarithm_limit_1_where
    | exact logarithm_of_quotient_limit_1_where
    | exact logarithm_of_even_power_limit_1_where
    | exact square_of_root_limit_1_where
    | exact choice_as_sum_limit_3_where
    | apply Forall_nil ].
Qed.
