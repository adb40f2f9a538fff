(** Misuse of barriers in memory (rule Y9) does not depend on the schedule. *)
From Volta Require Import Maps Diamond Model Schedules Statements.

(** An agent's uses of what is no barrier are counted in a register, so they are those of every run, if one run passes the
    checks and cannot be continued. *)
Theorem misuse_does_not_depend_on_the_schedule k mem l sf :
  let step := step 0 computed updated (program_of k) (kinds_of k) in
  run (step true) (start mem) l = Ok sf -> final (step true) sf ->
  forall l' s', run (step false) (start mem) l' = Ok s' -> final (step false) s' -> misused k s' = misused k sf.
Proof.
  intros step Hr Hf l' s' H' F.
  destruct (one_run_speaks_for_all 0 computed updated (program_of k) (kinds_of k) updates_commute mem l sf Hr Hf l' s' H') as [_ E].
  now rewrite (E F).
Qed.
