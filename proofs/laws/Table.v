(** The table of laws, as statements. Generated from volta-core/src/algebra/laws.rs by tests/src/lemmas.rs. *)
From Volta.laws Require Export Semantics.
Local Open Scope Z_scope.
Local Open Scope string_scope.
Local Open Scope term_scope.

(** * Sums, products, quotients *)

(** a + b = b + a, (a + b) + c = a + (b + c): always. *)
Definition sum_order := Statement [] ("a" + "b" + "c") ("b" + ("c" + "a")).
Definition sum_order_limit_1 := Statement [] ("a" + "b" + "c") ("a" + "b").

(** a·b = b·a, (a·b)·c = a·(b·c): always. *)
Definition product_order := Statement [] ("a" * "b" * "c") ("b" * ("c" * "a")).
Definition product_order_limit_1 := Statement [] ("a" * "b" * "c") ("a" * "b").

(** a·(b + c) = a·b + a·c: always. *)
Definition distributivity := Statement [] ("a" * ("b" + "c")) ("a" * "b" + "a" * "c").
Definition distributivity_limit_1 := Statement [] ("a" * ("b" + "c")) ("a" * "b" + "c").

(** a·b = ((a + b)² − a² − b²)/2: always; used for long sums whose squares cancel. *)
Definition polarization := Statement [] ("a" * "b") ((("a" + "b") * ("a" + "b") - "a" * "a" - "b" * "b") / 2).
Definition polarization_limit_1 :=
  Statement []
    ("a" * "b")
    (("a" + "b") * ("a" + "b") - "a" * "a" - "b" * "b").
Definition polarization_limit_2 :=
  Statement []
    ("a" * "b")
    ((("a" - "b") * ("a" - "b") - "a" * "a" - "b" * "b") / 2).

(** a − a = 0: a is defined. *)
Definition difference_of_equals := Statement [] ("a" / "b" - "a" / "b") 0.
Definition difference_of_equals_limit_1 := Statement [] 0 ("a" / "b" - "a" / "b").
Definition difference_of_equals_limit_1_conditions := [Not ("b" = 0)].
Definition difference_of_equals_limit_2 := Statement [] ("a" / "b" - "b" / "a") 0.

(** 0·a = 0: a is defined. *)
Definition product_with_zero := Statement [] (0 * ("a" / "b")) 0.
Definition product_with_zero_limit_1 := Statement [] 0 (0 * ("a" / "b")).
Definition product_with_zero_limit_1_conditions := [Not ("b" = 0)].
Definition product_with_zero_limit_2 := Statement [] (0 * "a" + "b") 0.

(** a/a = 1: a ≠ 0. *)
Definition quotient_of_equals := Statement [] ("a" / "a") 1.
Definition quotient_of_equals_limit_1 := Statement [] 1 ("a" / "a").
Definition quotient_of_equals_limit_1_conditions := [Not ("a" = 0)].
Definition quotient_of_equals_limit_2 := Statement [] ("a" / "a") 0.

(** (a·c)/(b·c) = a/b: c ≠ 0. *)
Definition cancelled_factor := Statement [] ("a" * "c" / ("b" * "c")) ("a" / "b").
Definition cancelled_factor_limit_1 := Statement [] ("a" / "b") ("a" * "c" / ("b" * "c")).
Definition cancelled_factor_limit_1_conditions := [Not ("b" * "c" = 0)].
Definition cancelled_factor_limit_2 := Statement [] (("a" + "c") / ("b" + "c")) ("a" / "b").

(** a/b + c/d = (a·d + c·b)/(b·d): b, d ≠ 0. *)
Definition common_denominator := Statement [] ("a" / "b" + "c" / "d") (("a" * "d" + "c" * "b") / ("b" * "d")).
Definition common_denominator_limit_1 := Statement [] ("a" / "b" + "c" / "d") (("a" + "c") / ("b" + "d")).

(** a/±∞ = 0: a is a number. *)
Definition quotient_by_infinity := Statement [] ("a" / PosInf) 0.
Definition quotient_by_infinity_limit_1 := Statement [] ("a" / 1000000000) 0.

(** * Exponentials and logarithms *)

(** 2^a·2^b = 2^(a + b): always. *)
Definition product_of_powers := Statement [] (Exp2 "a" * Exp2 "b") (Exp2 ("a" + "b")).
Definition product_of_powers_limit_1 := Statement [] (Exp2 "a" * Exp2 "b") (Exp2 ("a" * "b")).

(** 1/2^a = 2^(−a): always: 2^a > 0. *)
Definition reciprocal_of_power := Statement [] (1 / Exp2 "a") (Exp2 (- "a")).
Definition reciprocal_of_power_limit_1 := Statement [] (1 / Exp2 "a") (- Exp2 "a").

(** 2^(n + a) = 2ⁿ·2^a: integer n. *)
Definition whole_summand_of_exponent := Statement [] (Exp2 ("a" + 5)) (32 * Exp2 "a").
Definition whole_summand_of_exponent_limit_1 := Statement [] (Exp2 ("a" + 1 / 2)) (32 * Exp2 "a").

(** (2^a)ⁿ = 2^(n·a): integer n. *)
Definition power_of_power := Statement [] (Exp2 "a" * Exp2 "a" * Exp2 "a") (Exp2 (3 * "a")).
Definition power_of_power_limit_1 := Statement [] (Exp2 "a" * Exp2 "a" * Exp2 "a") (Exp2 ("a" * "a" * "a")).

(** 2^(−∞) = 0: always. *)
Definition power_of_minus_infinity := Statement [] (Exp2 (- PosInf)) 0.
Definition power_of_minus_infinity_limit_1 := Statement [] (Exp2 (Whole (-1000))) 0.

(** 2^max(a, b) + 2^min(a, b) = 2^a + 2^b: always; with any scale. *)
Definition powers_of_maximum_and_minimum :=
  Statement []
    ("c" * Exp2 (2 * Max "a" "b") + "c" * Exp2 (2 * ("a" + "b" - Max "a" "b")))
    ("c" * Exp2 (2 * "a") + "c" * Exp2 (2 * "b")).
Definition powers_of_maximum_and_minimum_limit_1 :=
  Statement []
    (Exp2 (Max "a" "b") + 2 * Exp2 (Min "a" "b"))
    (Exp2 "a" + 2 * Exp2 "b").
Definition powers_of_maximum_and_minimum_limit_2 :=
  Statement []
    (Exp2 (Max "a" "b") - Exp2 (Min "a" "b"))
    (Exp2 "a" - Exp2 "b").
Definition powers_of_maximum_and_minimum_limit_3 :=
  Statement []
    (Exp2 (Max "a" "b") + Exp2 (2 * Min "a" "b"))
    (Exp2 "a" + Exp2 (2 * "b")).

(** 2^(k·log₂ a) = a^k: integer k; a > 0 is the logarithm's requirement. *)
Definition power_of_logarithm := Statement [] (Exp2 (3 * Log2 "a")) ("a" * "a" * "a").
Definition power_of_logarithm_limit_1 := Statement [] ("a" * "a" * "a") (Exp2 (3 * Log2 "a")).
Definition power_of_logarithm_limit_1_conditions := [0 < "a"].
Definition power_of_logarithm_limit_2 := Statement [] (Exp2 (3 * Log2 "a")) (3 * "a").

(** log₂ 2^a = a: always. *)
Definition logarithm_of_power := Statement [] (Log2 (Exp2 "a")) "a".
Definition logarithm_of_power_limit_1 := Statement [] (Log2 (Exp "a")) "a".

(** log₂(2ᵏ·a) = k + log₂ a: integer k. *)
Definition logarithm_of_scaled := Statement [] (Log2 (8 * "a")) (3 + Log2 "a").
Definition logarithm_of_scaled_limit_1 := Statement [] (Log2 (8 * "a")) (8 + Log2 "a").

(** log₂(a·b) = log₂ a + log₂ b, and for quotients and powers: a > 0 and b > 0 by their signs. *)
Definition logarithm_of_quotient :=
  Statement [("a", Positive); ("b", Positive)]
    (Log2 ("a" * "a" / "b"))
    (2 * Log2 "a" - Log2 "b").
Definition logarithm_of_quotient_limit_1 := Statement [] (Log2 ("a" * "b")) (Log2 "a" + Log2 "b").
Definition logarithm_of_quotient_limit_1_conditions := [0 < "a"; 0 < "b"].
Definition logarithm_of_quotient_limit_2 :=
  Statement [("a", Positive); ("b", Positive)]
    (Log2 ("a" + "b"))
    (Log2 "a" + Log2 "b").

(** log₂ a^k = k·log₂ |a|: even k; that a ≠ 0 is the logarithm's requirement. *)
Definition logarithm_of_even_power := Statement [] (Log2 ("a" * "a")) (2 * Log2 (Abs "a")).
Definition logarithm_of_even_power_limit_1 := Statement [] (Log2 ("a" * "a")) (2 * Log2 "a").
Definition logarithm_of_even_power_limit_1_conditions := [0 < "a"].
Definition logarithm_of_even_power_limit_2 := Statement [] (Log2 ("a" * "a")) (Log2 "a" * Log2 "a").

(** √ under a logarithm: log₂ √a = log₂(a)/2: a > 0 by its signs. *)
Definition logarithm_of_root := Statement [("a", Positive)] (Log2 (Sqrt "a")) (Log2 "a" / 2).
Definition logarithm_of_root_limit_1 := Statement [("a", Positive)] (Log2 (Sqrt "a")) (Sqrt (Log2 ("a" + 1))).

(** literals near log₂ e and ln 2 are read as these (V9): in exponents of two, and as factors of logarithms; recorded with the verdict. *)
(* reading_of_constants: how a literal is read is a definition. *)

(** a literal that is the rounded r·log₂ e, where r is a literal of the other side, is read as that (V9): in exponents of two; recorded with the verdict. *)
(* reading_of_scaled_constants: how a literal is read is a definition. *)

(** log₂ e and ln 2 as literals are each other's reciprocals (V9): in a sum in which ln 2 also multiplies a logarithm; recorded with the verdict. *)
(* reading_of_reciprocals: how a literal is read is a definition. *)

(** * Roots *)

(** (√a)² = a: a ≥ 0 is the root's requirement. *)
Definition square_of_root := Statement [] (Sqrt "a" * Sqrt "a") "a".
Definition square_of_root_limit_1 := Statement [] "a" (Sqrt "a" * Sqrt "a").
Definition square_of_root_limit_1_conditions := [0 <= "a"].

(** 1/√a = √a/a: a > 0 is the root's requirement. *)
Definition reciprocal_root := Statement [] (Rsqrt "a") (Sqrt "a" / "a").
Definition reciprocal_root_limit_1 := Statement [] (Rsqrt "a") (1 / "a").

(** √max(a, b) = max(√a, √b): neither is negative, by their signs. *)
Definition root_of_maximum := Statement [] (Sqrt (Max ("a" * "a") (Exp "b"))) (Max (Abs "a") (Exp ("b" / 2))).
Definition root_of_maximum_limit_1 := Statement [] (Sqrt (Max "a" "b")) (Max "a" "b").

(** √(q²·a) = q·√a: rational q ≥ 0. *)
Definition root_of_scaled_by_number := Statement [] (Sqrt (9 / 4 * "a")) (3 / 2 * Sqrt "a").
Definition root_of_scaled_by_number_limit_1 := Statement [] (Sqrt (9 * "a")) (9 * Sqrt "a").

(** √(2^(2a)·b) = 2^a·√b: always. *)
Definition root_of_scaled_by_power := Statement [] (Sqrt (Exp (2 * "a") * "b")) (Exp "a" * Sqrt "b").
Definition root_of_scaled_by_power_limit_1 := Statement [] (Sqrt (Exp (2 * "a") + "b")) (Exp "a" + Sqrt "b").

(** √(p²·a) = p·√a: p > 0 by its signs. *)
Definition root_of_scaled := Statement [("p", Positive)] (Sqrt ("p" * "p" * "a")) ("p" * Sqrt "a").
Definition root_of_scaled_limit_1 := Statement [] (Sqrt ("p" * "p" * "a")) ("p" * Sqrt "a").

(** √(a²) = |a|: always. *)
Definition root_of_square := Statement [] (Sqrt ("a" * "a")) (Abs "a").
Definition root_of_square_limit_1 := Statement [] (Sqrt ("a" * "a")) "a".
Definition root_of_square_limit_2 := Statement [("a", Negative)] (Sqrt ("a" * "a")) (- "a").

(** * Maxima, minima, magnitudes *)

(** max is a set: max(a, b) = max(b, a), max(a, max(b, c)) = max(a, b, c), max(a, a) = a: always. *)
Definition maximum_is_a_set := Statement [] (Max "a" (Max "b" "a")) (Max "b" "a").
Definition maximum_is_a_set_limit_1 := Statement [] (Max "a" "b") "a".

(** max(−∞, a) = a: always. *)
Definition maximum_with_minus_infinity := Statement [] (Max (- PosInf) "a") "a".
Definition maximum_with_minus_infinity_limit_1 := Statement [] (Max (Whole (-1048576)) "a") "a".

(** max(a + c, b + c) = max(a, b) + c: always. *)
Definition maximum_of_shifted := Statement [] (Max ("a" + "c") ("b" + "c")) (Max "a" "b" + "c").
Definition maximum_of_shifted_limit_1 := Statement [] (Max ("a" + "c") "b") (Max "a" "b" + "c").

(** max(k·a, k·b) = k·max(a, b): k ≥ 0 by its signs. *)
Definition maximum_of_scaled := Statement [("k", Positive)] (Max ("k" * "a") ("k" * "b")) ("k" * Max "a" "b").
Definition maximum_of_scaled_limit_1 := Statement [] (Max ("k" * "a") ("k" * "b")) ("k" * Max "a" "b").
Definition maximum_of_scaled_limit_2 :=
  Statement [("k", Negative)]
    (Max ("k" * "a") ("k" * "b"))
    ("k" * Min "a" "b").

(** max(a, b) = a: a − b ≥ 0 by its signs. *)
Definition maximum_by_sign := Statement [("b", NotNegative)] (Max ("a" + "b") "a") ("a" + "b").
Definition maximum_by_sign_limit_1 := Statement [] (Max ("a" + "b") "a") ("a" + "b").

(** min(a, b) = −max(−a, −b) = a + b − max(a, b): always. *)
Definition minimum_by_maximum := Statement [] (Min "a" "b" + Max "a" "b") ("a" + "b").
Definition minimum_by_maximum_limit_1 := Statement [] (Min "a" "b") (- Max "a" "b").

(** |a| = max(a, −a): always. *)
Definition magnitude_by_maximum := Statement [] (Abs "a") (Max "a" (- "a")).
Definition magnitude_by_maximum_limit_1 := Statement [] (Abs "a") "a".

(** saturate(a) = min(max(a, 0), 1): always. *)
Definition saturation := Statement [] (Saturate "a") (Max (Min "a" 1) 0).
Definition saturation_limit_1 := Statement [] (Saturate "a") (Max "a" 0).

(** max(min(a, b), min(a, c)) = min(a, max(b, c)), and its variants: always. *)
Definition maximum_of_minima := Statement [] (Max (Min "a" "b") (Min "a" "c")) (Min "a" (Max "b" "c")).
Definition maximum_of_minima_limit_1 :=
  Statement []
    (Max (Min "a" "b") (Min "a" "c"))
    (Min "a" (Min "b" "c")).

(** each order of the compared quantities separately: orders that are linear in products of atoms, within a budget. *)
Definition orders_of_maxima := Statement [] (Max "a" "b" * Min "a" "b") ("a" * "b").
Definition orders_of_maxima_limit_1 := Statement [] (Max "a" "b" * Max "a" "b") ("a" * "b").

(** * Choices *)

(** (c ? a : a) = a: always. *)
Definition equal_arms := Statement [] (If (0 < "b") "a" "a") "a".
Definition equal_arms_limit_1 := Statement [] (If (0 < "b") "a" "b") "a".

(** (p > 0 ? b + k·p : b) = b + k·max(p, 0): rational k. *)
Definition chosen_summand := Statement [] (If (0 < "p") ("b" + 3 * "p") "b") ("b" + 3 * Max "p" 0).
Definition chosen_summand_limit_1 := Statement [] (If (1 < "p") ("b" + 3 * "p") "b") ("b" + 3 * Max "p" 0).

(** (p > 0 ? b·2^(k·p) : b) = b·2^(k·max(p, 0)): rational k, or one times log₂ e. *)
Definition chosen_exponent :=
  Statement []
    (If (0 < "p") ("b" * Exp (3 * "p")) "b")
    ("b" * Exp (3 * Max "p" 0)).
Definition chosen_exponent_limit_1 :=
  Statement []
    (If (1 < "p") ("b" * Exp (3 * "p")) "b")
    ("b" * Exp (3 * Max "p" 0)).
Definition chosen_exponent_limit_2 := Statement [] (If (0 < "p") ("b" * Exp "p") "c") ("b" * Exp (Max "p" 0)).

(** (c ? a : b) = a: c holds, by signs. *)
Definition condition_by_sign := Statement [] (If (0 < Exp "c") "a" "b") "a".
Definition condition_by_sign_limit_1 := Statement [] (If (0 < "c") "a" "b") "a".

(** (p < q ? b : a) + (p < q ? a : b)·2^(k·(min(p, q) − max(p, q))) = (a·2^(k·p) + b·2^(k·q))·2^(−k·max(p, q)), and its variants: rational k, or one times log₂ e; all choices agree where p = q. *)
Definition chosen_scales :=
  Statement []
    (If ("p" < "q") "b" "a" + If ("p" < "q") "a" "b" * Exp (If ("p" < "q") "p" "q" - If ("p" < "q") "q" "p"))
    (("a" * Exp "p" + "b" * Exp "q") * Exp (- Max "p" "q")).
Definition chosen_scales_limit_1 :=
  Statement []
    (If ("p" < "q") "b" "a" + If ("p" <= "q") "a" "b" * Exp (If ("p" < "q") "p" "q" - If ("p" < "q") "q" "p"))
    (("a" * Exp "p" + "b" * Exp "q") * Exp (- Max "p" "q")).
Definition chosen_scales_limit_2 :=
  Statement []
    (If ("p" < "q") "b" "a" + If ("p" < "q") "b" "a" * Exp (If ("p" < "q") "p" "q" - If ("p" < "q") "q" "p"))
    (("a" * Exp "p" + "b" * Exp "q") * Exp (- Max "p" "q")).

(** (d = 0 ? a : b) = a + d·(b − a): d is 0 or 1 by the ranges of inputs and of digits; a and b are multiples of whole numbers. *)
Definition choice_by_digit :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (If (BitAnd "n" 16 = 0) 3 "m")
    (3 + BitAnd "n" 16 * ("m" - 3) / 16).
Definition choice_by_digit_limit_1 :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (If (Mod "n" 3 = 0) 3 "m")
    (3 + Mod "n" 3 * ("m" - 3)).
Definition choice_by_digit_limit_2 :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (If (Mod "n" 2 = 0) 3 "m")
    ("m" + Mod "n" 2 * (3 - "m")).

(** (c ? a : b) = b + [c]·(a − b), where [c] is (c ? 1 : 0): a and b have a value at every input, and the sum shows the signs and the range of the choice; short sums. *)
Definition choice_as_sum :=
  Statement []
    (If (0 < "b") "a" 0 + If (0 < "b") "c" (2 * "c"))
    ("a" * If (0 < "b") 1 0 + "c" * (2 - If (0 < "b") 1 0)).
Definition choice_as_sum_limit_1 := Statement [] (If (0 < "b") "a" 0) ("a" * If ("b" < 0) 1 0).
Definition choice_as_sum_limit_2 :=
  Statement []
    (If (0 < "b") "a" "c")
    ("c" + ("a" - "c") * If (0 < "c") 1 0).
Definition choice_as_sum_limit_3 := Statement [] (If (0 < "b") (1 / "a") 0) (If (0 < "b") 1 0 / "a").
Definition choice_as_sum_limit_3_conditions := [Not ("a" = 0)].

(** [c]² = [c]: of choices between 1 and 0, and of integers that are 0 or 1 by their ranges. *)
Definition product_of_choices :=
  Statement []
    (If (0 < "b") "a" 0 * If (0 < "b") "c" 0)
    (If (0 < "b") ("a" * "c") 0).
Definition product_of_choices_limit_1 :=
  Statement []
    (If (0 < "b") 2 0 * If (0 < "b") 2 0)
    (If (0 < "b") 2 0).
Definition product_of_choices_limit_2 := Statement [] (If (0 < "b") "a" 0 * If ("b" <= 0) "c" 0) ("a" * "c").

(** [c ∧ d] = [c]·[d], and for all ways to join conditions: the products are short. *)
Definition joined_conditions :=
  Statement []
    (If (And (0 < "a") (0 < "b")) "c" 0)
    (If (0 < "a") (If (0 < "b") "c" 0) 0).
Definition joined_conditions_limit_1 :=
  Statement []
    (If (And (0 < "a") (0 < "b")) "c" 0)
    (If (0 < "a") "c" 0 + If (0 < "b") "c" 0).

(** comparisons up to positive factors and to shifts on both sides: always. *)
Definition scaled_comparison := Statement [] (If (2 * "a" < 2 * "b") 1 0) (If ("a" - "b" < 0) 1 0).
Definition scaled_comparison_limit_1 := Statement [] (If ("a" < "b") 1 0) (If ("a" <= "b") 1 0).

(** each order of the quantities that a choice compares, separately: as for maxima. *)
Definition orders_of_choices := Statement [] (If ("a" < "b") 1 0 + If ("b" <= "a") 1 0) 1.
Definition orders_of_choices_limit_1 := Statement [] (If ("a" < "b") 1 0 + If ("b" < "a") 1 0) 1.

(** where a = b, one stands for the other: the sum that is zero has a term that is an atom. *)
Definition equal_atoms := Statement [] (If ("a" = "b") ("a" * "c") 0) (If ("a" = "b") ("b" * "c") 0).
Definition equal_atoms_limit_1 := Statement [] (If ("a" = "b") ("a" * "c") 1) (If ("a" = "b") ("b" * "b") 1).

(** * Whole numbers and their binary digits *)

(** ⌊a + n⌋ = ⌊a⌋ + n; ⌈a⌉ = −⌊−a⌋: n is whole at every input. *)
Definition floor_of_shifted :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (Floor ("a" + 3 * "n" - 2))
    (- Ceil (- "a") + 3 * "n" - 2).
Definition floor_of_shifted_limit_1 := Statement [] (Floor ("a" + 1 / 2)) (Floor "a" + 1 / 2).
Definition floor_of_shifted_limit_2 := Statement [] (Floor ("a" + "b")) (Floor "a" + "b").

(** ⌊n⌋ = n, and for all roundings: n is whole at every input. *)
Definition rounding_of_whole := Statement [("n", Between (-128) 127)] (Trunc "n" + Round (3 * "n")) (4 * "n").
Definition rounding_of_whole_limit_1 := Statement [("n", Between (-128) 127)] (Trunc ("n" / 2)) ("n" / 2).
Definition rounding_of_whole_limit_2 := Statement [] (Trunc "a") "a".

(** n mod m = n − m·⌊n/m⌋: whole m > 0. *)
Definition remainder_by_floor :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (Mod "n" 16)
    ("n" - 16 * Floor ("n" / 16)).
Definition remainder_by_floor_limit_1 :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (Mod "n" 16)
    ("n" - 16 * Trunc ("n" / 16)).

(** ⌊(⌊a⌋ + n)/b⌋ = ⌊(a + n)/b⌋: whole n and whole b > 0. *)
Definition nested_floor :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (Floor ((Floor ("a" / 3) + "n") / 4))
    (Floor (("a" / 3 + "n") / 4)).
Definition nested_floor_limit_1 :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (Floor (3 * Floor ("n" / 2) / 4))
    (Floor (3 * "n" / 8)).
Definition nested_floor_limit_2 := Statement [] (Floor ((Floor "a" + "b") / 4)) (Floor (("a" + "b") / 4)).

(** ⌊a + 1/2⌋ = ⌊2a⌋ − ⌊a⌋: a is a whole number over a power of two. *)
Definition floor_above_half :=
  Statement [("n", Between (-32768) 32767)]
    (Floor (("n" + 4) / 8))
    (Floor ("n" / 4) - Floor ("n" / 8)).
Definition floor_above_half_limit_1 :=
  Statement [("n", Between (-32768) 32767)]
    (Floor (("n" + 2) / 8))
    (Floor ("n" / 4) - Floor ("n" / 8)).

(** ⌊a⌋ = k: k ≤ a < k + 1 by the ranges of inputs and of digits. *)
Definition floor_by_range :=
  Statement [("n", Between 0 255)]
    (Floor ("n" / 256) + Floor ((Mod "n" 16 + 32) / 16))
    2.
Definition floor_by_range_limit_1 := Statement [("n", Between (-128) 127)] (Floor ("n" / 256)) 0.
Definition floor_by_range_limit_2 := Statement [("n", Between 0 255)] (Floor ("n" / 255)) 0.

(** ⌊(n + k·m)/(k·l)⌋ = ⌊m/l⌋: 0 ≤ n < k by the ranges of inputs and of digits; whole m, k and l. *)
Definition floor_of_fields :=
  Statement [("n", Between 0 255); ("m", Between 0 65535)]
    (Floor (("n" + 256 * "m") / 4096))
    (Floor ("m" / 16)).
Definition floor_of_fields_limit_1 :=
  Statement [("n", Between 0 65535); ("m", Between 0 255)]
    (Floor (("n" + 256 * "m") / 4096))
    (Floor ("m" / 16)).
Definition floor_of_fields_limit_2 :=
  Statement [("n", Between (-128) 127); ("m", Between 0 65535)]
    (Floor (("n" + 256 * "m") / 4096))
    (Floor ("m" / 16)).

(** ⌊(n + c)/b⌋ = ⌊n/(b − c)⌋: 0 ≤ n < 2·(b − c) by the ranges of inputs and of digits; whole n, 0 < c < b, b − c a power of two. *)
Definition floor_of_offset :=
  Statement [("n", Between 0 255)]
    (Floor ((Mod "n" 4 + 6) / 8))
    (Floor (Mod "n" 4 / 2)).
Definition floor_of_offset_limit_1 :=
  Statement [("n", Between 0 255)]
    (Floor ((Mod "n" 8 + 6) / 8))
    (Floor (Mod "n" 8 / 2)).
Definition floor_of_offset_limit_2 :=
  Statement [("n", Between (-128) 127)]
    (Floor (("n" + 6) / 8))
    (Floor ("n" / 2)).

(** ⌊c·n⌋ = ⌊c'·n⌋, for the simplest such c': for every n of its range. *)
Definition simplest_multiplier :=
  Statement [("n", Between 0 4294967295)]
    (Floor (2863311531 * "n" / 8589934592))
    (Floor ("n" / 3)).
Definition simplest_multiplier_limit_1 :=
  Statement [("n", Between 0 4294967295)]
    (Floor (2863311530 * "n" / 8589934592))
    (Floor ("n" / 3)).

(** ⌊max(a, b)⌋ = max(⌊a⌋, ⌊b⌋), and for all roundings: always. *)
Definition rounding_of_maximum :=
  Statement []
    (Round (Max "a" (Min "b" 7)))
    (Max (Round "a") (Min (Round "b") 7)).
Definition rounding_of_maximum_limit_1 := Statement [] (Floor (Max "a" "b")) (Max (Floor "a") "b").

(** n & m = Σ 2ᵏ·(⌊n/2ᵏ⌋ mod 2), over the ones of m: a known m. *)
Definition mask_by_digits :=
  Statement [("n", Between 0 4294967295)]
    (BitAnd "n" 240)
    (16 * Mod (Floor ("n" / 16)) 16).
Definition mask_by_digits_limit_1 :=
  Statement [("n", Between 0 4294967295)]
    (BitAnd "n" 240)
    (Mod (Floor ("n" / 16)) 16).

(** n & n = n; n & (2ᵏ − 1 − n) = 0: n has no more than k digits. *)
Definition mask_of_complement :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (BitAnd "n" (255 - "n") + BitAnd "m" "m")
    "m".
Definition mask_of_complement_limit_1 := Statement [("n", Between 0 255)] (BitAnd "n" (256 - "n")) 0.

(** (a ^ b) & c = (a & c) ^ (b & c), where n ^ m is n + m − 2·(n & m), and its variants: natural numbers; of ~a = 2ᵏ − 1 − a, none has more than k digits. *)
Definition mask_of_exclusive_or :=
  Statement [("n", Between 0 4294967295); ("m", Between 0 4294967295); ("k", Between 0 4294967295)]
    (BitAnd ("n" + "m" - 2 * BitAnd "n" "m") "k")
    (BitAnd "n" "k" + BitAnd "m" "k" - 2 * BitAnd "n" (BitAnd "m" "k")).
Definition mask_of_exclusive_or_limit_1 :=
  Statement [("n", Between 0 4294967295); ("m", Between 0 4294967295); ("k", Between 0 4294967295)]
    (BitAnd ("n" + "m") "k")
    (BitAnd "n" "k" + BitAnd "m" "k").
Definition mask_of_exclusive_or_limit_2 :=
  Statement [("n", Between 0 4294967295); ("m", Between 0 4294967295)]
    (BitAnd ("n" + "m" - 2 * BitAnd "n" "m") "m")
    "m".
Definition mask_of_exclusive_or_limit_3 :=
  Statement [("n", Between 0 4294967295); ("m", Between 0 255)]
    (BitAnd (255 - "m") "n")
    ("n" - BitAnd "m" "n").

(** n & 2ᵏ·m = 0: 0 ≤ n < 2ᵏ, whole m. *)
Definition disjoint_masks :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (BitAnd "n" (256 * "m"))
    0.
Definition disjoint_masks_limit_1 :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (BitAnd "n" (128 * "m"))
    0.

(** (n + m − 2·(n & m)) < 2ᵏ: n and m have no more than k digits. *)
Definition exclusive_or_by_range :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (Floor (("n" + "m" - 2 * BitAnd "n" "m") / 256))
    0.
Definition exclusive_or_by_range_limit_1 :=
  Statement [("n", Between 0 255); ("m", Between 0 255)]
    (Floor (("n" + "m") / 256))
    0.

(** k·n + c > 0 where n + ⌈c/k⌉ > 0, and not where 1 − n − ⌈c/k⌉ > 0: whole n and whole k > 0. *)
Definition comparison_of_whole :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (If (5 < 2 * "n") 1 0)
    (If ("n" < 3) 0 1).
Definition comparison_of_whole_limit_1 :=
  Statement [("n", Between (-2147483648) 2147483647)]
    (If (5 < 2 * "n") 1 0)
    (If ("n" < 2) 0 1).
Definition comparison_of_whole_limit_2 := Statement [] (If (5 < 2 * "a") 1 0) (If ("a" < 3) 0 1).

(** * Other functions *)

(** tanh a = 1 − 2/(1 + e^(2a)): always: the denominator is above 1. *)
Definition tanh_by_exponential := Statement [] (Tanh "a") (1 - 2 / (1 + Exp (2 * "a"))).
Definition tanh_by_exponential_limit_1 := Statement [] (Tanh "a") (1 - 2 / (1 + Exp "a")).

(** sin(−a) = −sin a, cos(−a) = cos a: always. *)
Definition parity_of_sine_and_cosine :=
  Statement []
    (Sin ("a" - "b") * Cos ("b" - "a"))
    (- Sin ("b" - "a") * Cos ("a" - "b")).
Definition parity_of_sine_and_cosine_limit_1 := Statement [] (Sin (- "a")) (Sin "a").

(** f(−a) = −f(a) for erf, atan and cbrt: always. *)
Definition odd_functions :=
  Statement []
    (Erf ("a" - "b") * Atan ("b" - "a") * Cbrt ("a" - "b"))
    (- Erf ("a" - "b") * Atan ("a" - "b") * Cbrt ("a" - "b")).
Definition odd_functions_limit_1 := Statement [] (Erf (- "a")) (Erf "a").
Definition odd_functions_limit_2 := Statement [] (Atan (- "a")) (Atan "a").
Definition odd_functions_limit_3 := Statement [] (Cbrt (- "a")) (Cbrt "a").

(** j0(−a) = j0(a), j1(−a) = −j1(a): always. *)
Definition parity_of_bessel :=
  Statement []
    (BesselJ0 ("a" - "b") * BesselJ1 ("b" - "a"))
    (- BesselJ0 ("b" - "a") * BesselJ1 ("a" - "b")).
Definition parity_of_bessel_limit_1 := Statement [] (BesselJ1 (- "a")) (BesselJ1 "a").

(** cos² a = 1 − sin² a: always. *)
Definition squares_of_sine_and_cosine := Statement [] (Sin "a" * Sin "a" + Cos "a" * Cos "a") 1.
Definition squares_of_sine_and_cosine_limit_1 := Statement [] (Sin "a" * Sin "a" + Cos "b" * Cos "b") 1.
Definition squares_of_sine_and_cosine_limit_2 := Statement [] (Sin "a" * Sin "a" - Cos "a" * Cos "a") 1.

(** copysign(p, a) = |a|, copysign(−p, a) = −|a|: p > 0 by its signs. *)
Definition copied_sign := Statement [("p", Positive)] (CopySign "p" "a") (Abs "a").
Definition copied_sign_limit_1 := Statement [] (CopySign "p" "a") (Abs "a").

(** * All of them *)

(** Laws of terms. *)
Definition laws := [
  sum_order;
  product_order;
  distributivity;
  polarization;
  difference_of_equals;
  product_with_zero;
  quotient_of_equals;
  cancelled_factor;
  common_denominator;
  quotient_by_infinity;
  product_of_powers;
  reciprocal_of_power;
  whole_summand_of_exponent;
  power_of_power;
  power_of_minus_infinity;
  powers_of_maximum_and_minimum;
  power_of_logarithm;
  logarithm_of_power;
  logarithm_of_scaled;
  logarithm_of_quotient;
  logarithm_of_even_power;
  logarithm_of_root;
  square_of_root;
  reciprocal_root;
  root_of_maximum;
  root_of_scaled_by_number;
  root_of_scaled_by_power;
  root_of_scaled;
  root_of_square;
  root_of_square_limit_2;
  maximum_is_a_set;
  maximum_with_minus_infinity;
  maximum_of_shifted;
  maximum_of_scaled;
  maximum_of_scaled_limit_2;
  maximum_by_sign;
  minimum_by_maximum;
  magnitude_by_maximum;
  saturation;
  maximum_of_minima;
  orders_of_maxima;
  equal_arms;
  chosen_summand;
  chosen_exponent;
  condition_by_sign;
  chosen_scales;
  product_of_choices;
  joined_conditions;
  scaled_comparison;
  orders_of_choices;
  equal_atoms;
  floor_of_shifted;
  rounding_of_whole;
  remainder_by_floor;
  nested_floor;
  floor_above_half;
  floor_by_range;
  floor_of_fields;
  floor_of_offset;
  simplest_multiplier;
  rounding_of_maximum;
  mask_by_digits;
  mask_of_complement;
  mask_of_exclusive_or;
  disjoint_masks;
  exclusive_or_by_range;
  comparison_of_whole;
  tanh_by_exponential;
  parity_of_sine_and_cosine;
  odd_functions;
  parity_of_bessel;
  squares_of_sine_and_cosine;
  copied_sign
].

(** Laws of terms that have values. *)
Definition laws_of_values := [
  choice_by_digit;
  choice_as_sum
].

(** Near misses that are false. *)
Definition false_near_misses := [
  sum_order_limit_1;
  product_order_limit_1;
  distributivity_limit_1;
  polarization_limit_1;
  polarization_limit_2;
  difference_of_equals_limit_2;
  product_with_zero_limit_2;
  quotient_of_equals_limit_2;
  cancelled_factor_limit_2;
  common_denominator_limit_1;
  quotient_by_infinity_limit_1;
  product_of_powers_limit_1;
  reciprocal_of_power_limit_1;
  whole_summand_of_exponent_limit_1;
  power_of_power_limit_1;
  power_of_minus_infinity_limit_1;
  powers_of_maximum_and_minimum_limit_1;
  powers_of_maximum_and_minimum_limit_2;
  powers_of_maximum_and_minimum_limit_3;
  power_of_logarithm_limit_2;
  logarithm_of_power_limit_1;
  logarithm_of_scaled_limit_1;
  logarithm_of_quotient_limit_2;
  logarithm_of_even_power_limit_2;
  logarithm_of_root_limit_1;
  reciprocal_root_limit_1;
  root_of_maximum_limit_1;
  root_of_scaled_by_number_limit_1;
  root_of_scaled_by_power_limit_1;
  root_of_scaled_limit_1;
  root_of_square_limit_1;
  maximum_is_a_set_limit_1;
  maximum_with_minus_infinity_limit_1;
  maximum_of_shifted_limit_1;
  maximum_of_scaled_limit_1;
  maximum_by_sign_limit_1;
  minimum_by_maximum_limit_1;
  magnitude_by_maximum_limit_1;
  saturation_limit_1;
  maximum_of_minima_limit_1;
  orders_of_maxima_limit_1;
  equal_arms_limit_1;
  chosen_summand_limit_1;
  chosen_exponent_limit_1;
  chosen_exponent_limit_2;
  condition_by_sign_limit_1;
  chosen_scales_limit_1;
  chosen_scales_limit_2;
  choice_by_digit_limit_1;
  choice_by_digit_limit_2;
  choice_as_sum_limit_1;
  choice_as_sum_limit_2;
  product_of_choices_limit_1;
  product_of_choices_limit_2;
  joined_conditions_limit_1;
  scaled_comparison_limit_1;
  orders_of_choices_limit_1;
  equal_atoms_limit_1;
  floor_of_shifted_limit_1;
  floor_of_shifted_limit_2;
  rounding_of_whole_limit_1;
  rounding_of_whole_limit_2;
  remainder_by_floor_limit_1;
  nested_floor_limit_1;
  nested_floor_limit_2;
  floor_above_half_limit_1;
  floor_by_range_limit_1;
  floor_by_range_limit_2;
  floor_of_fields_limit_1;
  floor_of_fields_limit_2;
  floor_of_offset_limit_1;
  floor_of_offset_limit_2;
  simplest_multiplier_limit_1;
  rounding_of_maximum_limit_1;
  mask_by_digits_limit_1;
  mask_of_complement_limit_1;
  mask_of_exclusive_or_limit_1;
  mask_of_exclusive_or_limit_2;
  mask_of_exclusive_or_limit_3;
  disjoint_masks_limit_1;
  exclusive_or_by_range_limit_1;
  comparison_of_whole_limit_1;
  comparison_of_whole_limit_2;
  tanh_by_exponential_limit_1;
  parity_of_sine_and_cosine_limit_1;
  odd_functions_limit_1;
  odd_functions_limit_2;
  odd_functions_limit_3;
  parity_of_bessel_limit_1;
  squares_of_sine_and_cosine_limit_1;
  squares_of_sine_and_cosine_limit_2;
  copied_sign_limit_1
].

(** Near misses that are true under conditions only. *)
Definition conditional_near_misses := [
  (difference_of_equals_limit_1_conditions, difference_of_equals_limit_1);
  (product_with_zero_limit_1_conditions, product_with_zero_limit_1);
  (quotient_of_equals_limit_1_conditions, quotient_of_equals_limit_1);
  (cancelled_factor_limit_1_conditions, cancelled_factor_limit_1);
  (power_of_logarithm_limit_1_conditions, power_of_logarithm_limit_1);
  (logarithm_of_quotient_limit_1_conditions, logarithm_of_quotient_limit_1);
  (logarithm_of_even_power_limit_1_conditions, logarithm_of_even_power_limit_1);
  (square_of_root_limit_1_conditions, square_of_root_limit_1);
  (choice_as_sum_limit_3_conditions, choice_as_sum_limit_3)
].
