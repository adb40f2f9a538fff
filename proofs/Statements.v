(** Statements of threads, as events, and small kernels of which the rules of docs/semantics.md speak. *)
From Volta Require Import Maps Diamond Model.

Inductive statement :=
| Access (what : access)                                (* read, write, compute, atomic *)
| Barrier (object : nat)                                (* bar.sync with or without a count, bar.warp.sync: arrives and waits *)
| Arrival (object : nat)                                (* bar.arrive, mbarrier.arrive: does not wait *)
| RelaxedArrival (object : nat)                         (* mbarrier.arrive.relaxed *)
| Collective (object : nat)                             (* shuffles and votes: waits, and orders no memory *)
| ExpectBytes (object bytes : nat)                      (* mbarrier.expect_tx *)
| WaitPhase (object : nat) (parity : bool)              (* mbarrier.try_wait.parity in a loop *)
| Copy (moves : list (nat * nat))                       (* cp.async: from, to *)
| Commit                                                (* cp.async.commit_group *)
| WaitGroups (pending : nat)                            (* cp.async.wait_group *)
| BulkCopy (moves : list (nat * nat)) (object : nat)    (* cp.async.bulk: by the async proxy, completes on a barrier *)
| ProxyFence.                                           (* fence.proxy.async *)

(** A kernel: its threads, and its barriers. Returning is the end of a thread's list. *)
Record kernel := Kernel { threads : list (list statement); barriers : list kind }.

(** The events of a thread. [at_event] is the number of its next event, [base] that of the first object of copies; copy
    [k] starts at object [base + 2k], and is over at the next one. Copies are agents. *)
Fixpoint compile (base at_event : nat) (open : list nat) (groups : list (list nat)) (copies : list (list event))
    (body : list statement) : list event * list (list event) :=
  match body with
  | [] => ([], copies)
  | st :: rest =>
    let go now open groups copies :=
      let '(later, copies) := compile base (at_event + length now) open groups copies rest in (now ++ later, copies) in
    let k := length copies in
    let moves async l := flat_map (fun m => [Do (Read 0 (fst m)) async; Do (Write (snd m) 0) async]) l in
    match st with
    | Access x => go [Do x false] open groups copies
    | Barrier o => go [Sync o (Arrive Full); Sync o (WaitOwn at_event)] open groups copies
    | Arrival o => go [Sync o (Arrive Full)] open groups copies
    | RelaxedArrival o => go [Sync o (Arrive Relaxed)] open groups copies
    | Collective o => go [Sync o (Arrive Relaxed); Sync o (WaitOwn at_event)] open groups copies
    | ExpectBytes o n => go [Sync o (Expect (n - 1))] open groups copies
    | WaitPhase o p => go [Sync o (WaitParity p)] open groups copies
    | Copy l =>
      go [Sync (base + 2 * k) (Arrive Full)] (open ++ [k]) groups
        (copies ++ [[Sync (base + 2 * k) (WaitFor 0)] ++ moves false l ++ [Sync (base + 2 * k + 1) (Arrive Full)]])
    | Commit => go [] [] (groups ++ [open]) copies
    | WaitGroups pending =>
      let done := concat (firstn (length groups - pending) groups) in
      go (map (fun k => Sync (base + 2 * k + 1) (WaitFor 0)) done) open groups copies
    | BulkCopy l o =>
      go [Sync (base + 2 * k) (Arrive Full)] open groups
        (copies ++ [[Sync (base + 2 * k) (WaitFor 0)] ++ moves true l ++ [Sync o (Deliver (length l - 1) Alone)]])
    | ProxyFence => go [Fence] open groups copies
    end
  end.

Fixpoint compile_threads (base : nat) (copies : list (list event)) (ts : list (list statement)) :=
  match ts with
  | [] => ([], copies)
  | t :: ts =>
    let '(events, copies) := compile base 0 [] [] copies t in
    let '(others, copies) := compile_threads base copies ts in (events :: others, copies)
  end.

Definition program_of k := let '(ts, copies) := compile_threads (length (barriers k)) [] (threads k) in ts ++ copies.
Definition kinds_of k :=
  barriers k ++ repeat (Count 0) (2 * length (snd (compile_threads (length (barriers k)) [] (threads k)))).

(** ** Kernels, run under one schedule *)

Definition add_or_max (f x y : nat) := match f with 0 => x + y | _ => Nat.max x y end.

(** The updates of the examples commute, as the theorems require. *)
Lemma add_or_max_commutes f v x y : add_or_max f (add_or_max f v x) y = add_or_max f (add_or_max f v y) x.
Proof. destruct f; cbn; lia. Qed.

Inductive outcome := Completes (memory : list nat) | Hangs | Fails | Unfinished.

Section Outcome.
  Variable k : kernel.
  Let program := program_of k.
  Let kinds := kinds_of k.
  Notation step := (step 0 add_or_max add_or_max program kinds true).
  Variable labels : list label.

  (** Takes the first label that is not blocked, in the order of [labels]. *)
  Fixpoint first_step (s : @state nat) ls : option (res state) :=
    match ls with
    | [] => None
    | l :: ls => match step s l with Blocked => first_step s ls | r => Some r end
    end.

  Fixpoint drive (fuel : nat) (s : @state nat) : outcome :=
    match fuel with
    | 0 => Unfinished
    | S fuel =>
      match first_step s labels with
      | None => if forallb (fun c => length (events program c) <=? place s c) (seq 0 (length program)) then Completes (memory s) else Hangs
      | Some (Ok s) => drive fuel s
      | Some _ => Fails
      end
    end.
End Outcome.

Definition in_order k :=
  map End (seq 0 (length (kinds_of k))) ++ map Act (seq 0 (length (program_of k))).

Definition outcome_in_order k := drive k (in_order k) 1000 (start []).
Definition outcome_in_reverse k := drive k (rev (in_order k)) 1000 (start []).

(** The same outcome in both orders. *)
Definition is_outcome k o := outcome_in_order k = o /\ outcome_in_reverse k = o.

Notation "'put' a v" := (Access (Write a v)) (at level 9, a at level 9, v at level 9).
Notation "'take' r a" := (Access (Read r a)) (at level 9, r at level 9, a at level 9).
Notation "'add' a r" := (Access (Update a 0 r)) (at level 9, a at level 9, r at level 9).
Notation "'raise' a r" := (Access (Update a 1 r)) (at level 9, a at level 9, r at level 9).

(** Y2: order is transitive. *)
Example chain : is_outcome (Kernel [[put 0 0; Barrier 0]; [Barrier 0; Barrier 1]; [Barrier 1; take 1 0]] [Count 1; Count 1])
  (Completes [0]).
Proof. split; vm_compute; reflexivity. Qed.

(** Y2: returning orders nothing, though the barrier counts the thread as arrived. *)
Example exit_is_no_barrier : is_outcome (Kernel [[put 0 0]; [Barrier 0; take 1 0]; [Barrier 0]] [Members [0; 1; 2]]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example exit_completes_a_barrier : is_outcome (Kernel [[]; [Barrier 0; take 1 0]; [Barrier 0]] [Members [0; 1; 2]]) (Completes []).
Proof. split; vm_compute; reflexivity. Qed.

(** Y3: which threads meet must not depend on the schedule. *)
Example any_two : is_outcome (Kernel (repeat [Barrier 0] 4) [Count 1]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

(** Y3: an arrival does not wait, and orders what came before it. *)
Example arrive : is_outcome (Kernel [[put 0 0; Arrival 0]; [Barrier 0; take 1 0]] [Count 1]) (Completes [0]).
Proof. split; vm_compute; reflexivity. Qed.

Example arrive_learns_nothing : is_outcome (Kernel [[Arrival 0; take 1 0]; [put 0 0; Barrier 0]] [Count 1]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

(** Y4: a shuffle waits and orders no memory; a warp barrier orders it. *)
Example shuffle_is_no_fence : is_outcome (Kernel [[put 0 0; Collective 0]; [Collective 0; take 1 0]] [Members [0; 1]]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example syncwarp : is_outcome (Kernel [[put 0 0; Barrier 0]; [Barrier 0; take 1 0]] [Members [0; 1]]) (Completes [0]).
Proof. split; vm_compute; reflexivity. Qed.

(** Y5: two barriers in opposite orders. *)
Example crossed : is_outcome (Kernel [[Barrier 0; Barrier 1]; [Barrier 1; Barrier 0]] [Count 1; Count 1]) Hangs.
Proof. split; vm_compute; reflexivity. Qed.

(** Y6: a copy may access memory until it is waited for, and the wait orders it for its thread only. *)
Example copy_waited_for : is_outcome (Kernel [[Copy [(0, 1)]; Commit; WaitGroups 0; take 1 1; Barrier 0]; [Barrier 0; take 1 1]] [Count 1])
  (Completes [0; 0]).
Proof. split; vm_compute; reflexivity. Qed.

Example copy_read_early : is_outcome (Kernel [[Copy [(0, 1)]; Commit; take 1 1]] []) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example copy_without_barrier :
  is_outcome (Kernel [[Copy [(0, 1)]; Commit; WaitGroups 0]; [take 1 1]] []) Fails.
Proof. split; vm_compute; reflexivity. Qed.

(** Y7: atomics of one operation commute; of two, they do not. *)
Example atomics : is_outcome (Kernel (repeat [add 0 0] 3) []) (Completes [0]).
Proof. split; vm_compute; reflexivity. Qed.

Example sum_and_bound : is_outcome (Kernel [[add 0 0]; [raise 0 0]] []) Fails.
Proof. split; vm_compute; reflexivity. Qed.

(** Y9: a stage that is filled by bulk copies and freed by arrivals, twice: barrier 0 is full, barrier 1 is empty. *)
Definition producer_step (parity : bool) :=
  [WaitPhase 1 (negb parity); ExpectBytes 0 2; BulkCopy [(2, 0); (3, 1)] 0; Arrival 0].
Definition consumer_step (parity : bool) := [WaitPhase 0 parity; take 1 0; take 2 1; Arrival 1].

Example pipeline : is_outcome
  (Kernel [producer_step false ++ producer_step true; consumer_step false ++ consumer_step true] [Count 0; Count 0])
  (Completes [0; 0]).
Proof. split; vm_compute; reflexivity. Qed.

(** Without the wait for the empty stage, the second copy is not ordered after the reads. *)
Example pipeline_no_wait_for_empty : is_outcome
  (Kernel [producer_step false ++ tl (producer_step true); consumer_step false ++ consumer_step true] [Count 0; Count 0]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example pipeline_bytes_short : is_outcome
  (Kernel [[ExpectBytes 0 3; BulkCopy [(2, 0); (3, 1)] 0; Arrival 0]; [WaitPhase 0 false]] [Count 0]) Hangs.
Proof. split; vm_compute; reflexivity. Qed.

(** Y10: a copy reads what a thread has written only after a proxy fence. *)
Example bulk_copy_with_fence : is_outcome
  (Kernel [[put 0 0; ProxyFence; ExpectBytes 0 1; BulkCopy [(0, 1)] 0; Arrival 0; WaitPhase 0 false; take 1 1]] [Count 0]) (Completes [0; 0]).
Proof. split; vm_compute; reflexivity. Qed.

Example bulk_copy_without_fence : is_outcome
  (Kernel [[put 0 0; ExpectBytes 0 1; BulkCopy [(0, 1)] 0; Arrival 0; WaitPhase 0 false; take 1 1]] [Count 0]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example bulk_copy_with_fence_behind_barrier : is_outcome
  (Kernel [[put 0 0; Barrier 1]; [Barrier 1; ProxyFence; ExpectBytes 0 1; BulkCopy [(0, 1)] 0; Arrival 0]] [Count 0; Count 1])
  (Completes [0; 0]).
Proof. split; vm_compute; reflexivity. Qed.
