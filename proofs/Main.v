(** The main theorems, and the axioms on which they rest: none. *)
From Volta Require Import Maps Diamond Paper PaperTheorems Model Commute Checked Schedules History Relaxed Reports Enabled Clocks Statements Misuse Epoch.
From Volta Require Forget.

(* The paper *)
Print Assumptions paper_confluence.
Print Assumptions confluence_needs_the_error.
Print Assumptions data_race_freedom.
Print Assumptions true_positives.
Print Assumptions chain_is_reported.
Print Assumptions chain_has_no_data_race.
Print Assumptions sound_deadlock_detection.
Print Assumptions complete_deadlock_detection.
Print Assumptions completed_runs_agree.

(* The model *)
Print Assumptions checked_diamond.
Print Assumptions one_run_speaks_for_all.
Print Assumptions every_run_completes.
Print Assumptions no_run_races.
Print Assumptions participants_do_not_depend_on_the_schedule.
Print Assumptions stuck_means_all_stuck.
Print Assumptions stuck_means_none_completes.
Print Assumptions a_fault_is_found_by_every_run.
Print Assumptions one_run_speaks_for_the_relaxed_system.
Print Assumptions reported_races_are_races.
Print Assumptions failed_checks_of_accesses_are_races.
Print Assumptions reported_races_are_races_of_the_machine.
Print Assumptions clocks_have_no_effect.
Print Assumptions misuse_does_not_depend_on_the_schedule.

(* The detectors *)
Print Assumptions epoch_detector_never_misses.
Print Assumptions Forget.forgetting_misses_nothing.
