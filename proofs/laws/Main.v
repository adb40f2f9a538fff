(** The main theorems about the laws, and the axioms on which they rest: those of the library's real numbers. *)
From Volta.laws Require Import Table Complete Values Replacement Obligations.

Definition main_theorems :=
  ( (* the laws *)
    every_law_holds, every_law_of_values_holds, every_law_has_values,
    (* near misses *)
    every_false_near_miss_is_refuted, every_conditional_near_miss_holds_where,
    (* replacement, and what remains to be shown *)
    law_preserves_claim, law_with_condition_preserves_claim, equal_terms_differ_in_sign,
    defined_by_obligations, equivalent_where).

Print Assumptions main_theorems.
