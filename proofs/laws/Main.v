(** The main theorems about the laws, and the axioms on which they rest: those of the library's real numbers. *)
From Volta.laws Require Import Table Complete Values Replacement.

Definition main_theorems :=
  ( (* the laws *)
    every_law_holds, every_law_of_values_holds, every_law_has_values,
    (* near misses *)
    every_false_near_miss_is_refuted, every_conditional_near_miss_holds_where,
    (* replacement *)
    law_preserves_claim, law_with_condition_preserves_claim, common_form, equal_terms_differ_in_sign).

Print Assumptions main_theorems.
