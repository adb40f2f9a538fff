(** Statements of threads, as events, and small kernels of which the rules of docs/semantics.md speak. *)
From Volta Require Import Maps Diamond Model.

Inductive statement :=
| Access (what : access)                                (* read, write, compute, atomic *)
| Barrier (object : nat)                                (* bar.sync of the block, bar.warp.sync: arrives and waits *)
| NamedBarrier (object agents : nat)                    (* bar.sync with a number and a count *)
| Arrival (object : nat)                                (* mbarrier.arrive: does not wait *)
| NamedArrival (object agents : nat)                    (* bar.arrive with a number and a count *)
| RelaxedArrival (object : nat)                         (* mbarrier.arrive.relaxed *)
| Collective (object : nat)                             (* shuffles and votes: waits, and orders no memory *)
| Init (object : nat)                                   (* mbarrier.init *)
| Inval (object : nat)                                  (* mbarrier.inval *)
| ExpectBytes (object bytes : nat)                      (* mbarrier.expect_tx *)
| WaitPhase (object : nat) (parity : bool)              (* mbarrier.try_wait.parity in a loop *)
| Copy (moves : list (nat * nat))                       (* cp.async: from, to *)
| Commit                                                (* cp.async.commit_group *)
| WaitGroups (pending : nat)                            (* cp.async.wait_group *)
| BulkCopy (moves : list (nat * nat)) (object : nat)    (* cp.async.bulk: by the async proxy, completes on a barrier *)
| ProxyFence.                                           (* fence.proxy.async *)

(** A kernel: its threads, its barriers, and the addresses of barriers in memory, where their initialisation is part of
    it. Returning is the end of a thread's list. *)
Record kernel := InMemory { threads : list (list statement); barriers : list kind; cells : list (nat * nat) }.
Definition Kernel threads barriers := InMemory threads barriers [].

(** ** Barriers in memory are initialised (rule Y9)

    A barrier has a cell: initialisation and its end are writes of it, every other use is a read, and what orders them
    is what orders accesses (rules Y1, Y2). The cell has the number of the barrier while there is one, else 0. Each use
    counts, in a register of its agent, whether it finds something else. One place may have several barriers, one after the
    other. *)
Definition found := 8.
Definition misuses := 9.

(** The operations of the examples: sums, maxima, numbers, and whether two numbers differ. *)
Definition number_of n := 2 + 2 * n.
Definition differs_from n := 3 + 2 * n.

Definition computed (f x y : nat) :=
  match f with
  | 0 => x + y
  | 1 => Nat.max x y
  | S (S f) => if Nat.even f then Nat.div2 f else if y =? Nat.div2 f then x else S x
  end.

Definition finds n a := [Do (Read found a) false; Do (Compute misuses (differs_from n) misuses found) false].
Definition writes_cell n a := [Do (Compute found (number_of n) found found) false; Do (Write a found) false].

Section Compile.
Variable cells : list (nat * nat).

Definition cell_of o := option_map snd (find (fun c => fst c =? o) cells).

(** What a use of a barrier does with its cell. *)
Definition uses o := match cell_of o with Some a => finds (S o) a | None => [] end.

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
    | Barrier o => go [Sync o (Arrive 0 Full); Sync o (WaitOwn at_event)] open groups copies
    | NamedBarrier o n => go [Sync o (Arrive (n - 1) Full); Sync o (WaitOwn at_event)] open groups copies
    | Arrival o => go (uses o ++ [Sync o (Arrive 0 Full)]) open groups copies
    | NamedArrival o n => go [Sync o (Arrive (n - 1) Full)] open groups copies
    | RelaxedArrival o => go (uses o ++ [Sync o (Arrive 0 Relaxed)]) open groups copies
    | Collective o => go [Sync o (Arrive 0 Relaxed); Sync o (WaitOwn at_event)] open groups copies
    | Init o => go (match cell_of o with Some a => finds 0 a ++ writes_cell (S o) a | None => [] end) open groups copies
    | Inval o => go (match cell_of o with Some a => finds (S o) a ++ writes_cell 0 a | None => [] end) open groups copies
    | ExpectBytes o n => go (uses o ++ [Sync o (Expect (n - 1))]) open groups copies
    | WaitPhase o p => go (uses o ++ [Sync o (WaitParity p)]) open groups copies
    | Copy l =>
      go [Sync (base + 2 * k) (Arrive 0 Full)] (open ++ [k]) groups
        (copies ++ [[Sync (base + 2 * k) (WaitFor 0)] ++ moves false l ++ [Sync (base + 2 * k + 1) (Arrive 0 Full)]])
    | Commit => go [] [] (groups ++ [open]) copies
    | WaitGroups pending =>
      let done := concat (firstn (length groups - pending) groups) in
      go (map (fun k => Sync (base + 2 * k + 1) (WaitFor 0)) done) open groups copies
    | BulkCopy l o =>
      go (uses o ++ [Sync (base + 2 * k) (Arrive 0 Full)]) open groups
        (copies ++ [[Sync (base + 2 * k) (WaitFor 0)] ++ moves true l ++ uses o ++ [Sync o (Deliver (length l - 1) Alone)]])
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
End Compile.

Definition compiled k := compile_threads (cells k) (length (barriers k)) [] (threads k).
Definition program_of k := let '(ts, copies) := compiled k in ts ++ copies.
Definition kinds_of k := barriers k ++ repeat (Count 0) (2 * length (snd (compiled k))).

(** ** Kernels, run under one schedule *)

(** Updates: sums, maxima, and stores of one number by lanes of one instruction. *)
Definition stored f := match f with S (S f) => Some (f mod 10) | _ => None end.

Definition updated (f v x : nat) :=
  match stored f with Some n => n | None => if f =? 0 then v + x else Nat.max v x end.

(** The updates of the examples commute, as the theorems require. *)
Lemma updates_commute f v x y : updated f (updated f v x) y = updated f (updated f v y) x.
Proof. unfold updated. destruct (stored f); auto. destruct (f =? 0); lia. Qed.

(** Lanes of one instruction that store the same do what as many stores would do (rule Y1). *)
Lemma stores_of_one_number_are_stores f n a r regs mem :
  stored f = Some n -> get 0 regs r = n ->
  perform 0 computed updated (Update a f r) regs mem = perform 0 computed updated (Write a r) regs mem.
Proof. intros S <-. unfold perform, updated. now rewrite S. Qed.

(** Whether some agent has found a barrier that was none, or none where it wanted to make one. *)
Definition misused k (s : @state nat) := existsb (fun c => negb (get 0 (registers (agent_of s c)) misuses =? 0)) (seq 0 (length (program_of k))).

Inductive outcome := Completes (memory : list nat) | Misuses | Hangs | Fails | Unfinished.

Section Outcome.
  Variable k : kernel.
  Let program := program_of k.
  Let kinds := kinds_of k.
  Notation step := (step 0 computed updated program kinds true).
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
      | None =>
        if misused k s then Misuses
        else if forallb (fun c => length (events program c) <=? place s c) (seq 0 (length program)) then Completes (memory s) else Hangs
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
(** A store by lanes of one instruction, all of which store this number. *)
Notation "'put_one' a i n" := (Access (Update a (2 + 10 * i + n) 0)) (at level 9, a at level 9, i at level 9, n at level 9).

(** Y1: lanes of one store instruction may store the same value; two instructions may not, and everything else must be
    ordered with all of these lanes. *)
Example same_value_by_lanes : is_outcome
  (Kernel [[put_one 0 0 7; Barrier 0; take 1 0]; [put_one 0 0 7; Barrier 0; take 1 0]] [Members [0; 1]]) (Completes [7]).
Proof. split; vm_compute; reflexivity. Qed.

Example same_value_by_two_instructions : is_outcome (Kernel [[put_one 0 0 7]; [put_one 0 1 7]] []) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example same_value_read_after_one_lane : is_outcome
  (Kernel [[put_one 0 0 7; Barrier 0]; [put_one 0 0 7]; [Barrier 0; take 1 0]] [Count 1]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

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

(** Y3: a number is used with one count after the other, if something orders the two. *)
Example counts_in_turn : is_outcome
  (Kernel (repeat [NamedBarrier 0 2; Barrier 1; NamedBarrier 0 3] 2 ++ [[Barrier 1; NamedBarrier 0 3]]) [Stated; Members [0; 1; 2]]) (Completes []).
Proof. split; vm_compute; reflexivity. Qed.

Example counts_that_mix : is_outcome
  (Kernel (repeat [NamedBarrier 0 2; NamedBarrier 0 3] 2 ++ [[NamedBarrier 0 3]]) [Stated]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example two_counts : is_outcome (Kernel [[NamedBarrier 0 2]; [NamedArrival 0 3]; [NamedArrival 0 3]] [Stated]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

(** Y3: an arrival does not wait, and orders what came before it. *)
Example arrive : is_outcome (Kernel [[put 0 0; NamedArrival 0 2]; [NamedBarrier 0 2; take 1 0]] [Stated]) (Completes [0]).
Proof. split; vm_compute; reflexivity. Qed.

Example arrive_learns_nothing : is_outcome (Kernel [[NamedArrival 0 2; take 1 0]; [put 0 0; NamedBarrier 0 2]] [Stated]) Fails.
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

(** Y9: initialised before every use, and used no more behind the end of that. *)
Definition in_memory ts := InMemory ts [Count 0; Count 1] [(0, 5)].

Example initialised : is_outcome
  (in_memory [[Init 0; Barrier 1; put 0 0; Arrival 0; Barrier 1; Inval 0]; [Barrier 1; WaitPhase 0 false; take 1 0; Barrier 1]])
  (Completes [0; 0; 0; 0; 0; 0]).
Proof. split; vm_compute; reflexivity. Qed.

Example init_not_waited_for : is_outcome (in_memory [[Init 0; put 0 0; Arrival 0]; [WaitPhase 0 false; take 1 0]]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example inval_early : is_outcome (in_memory [[Init 0; Barrier 1; Arrival 0; Inval 0]; [Barrier 1; WaitPhase 0 false]]) Fails.
Proof. split; vm_compute; reflexivity. Qed.

Example used_without_init : is_outcome (in_memory [[Arrival 0]; [WaitPhase 0 false]]) Misuses.
Proof. split; vm_compute; reflexivity. Qed.

Example used_after_inval : is_outcome (in_memory [[Init 0; Inval 0; Arrival 0]]) Misuses.
Proof. split; vm_compute; reflexivity. Qed.

Example init_twice : is_outcome (in_memory [[Init 0; Init 0]]) Misuses.
Proof. split; vm_compute; reflexivity. Qed.

(** Two barriers at one place, one after the other. *)
Example initialised_anew : is_outcome
  (InMemory [[Init 0; Arrival 0; WaitPhase 0 false; Inval 0; Init 1; Arrival 1; WaitPhase 1 false]] [Count 0; Count 0] [(0, 5); (1, 5)])
  (Completes [0; 0; 0; 0; 0; 2]).
Proof. split; vm_compute; reflexivity. Qed.

Example stale_barrier : is_outcome
  (InMemory [[Init 0; Inval 0; Init 1; Arrival 0]] [Count 0; Count 0] [(0, 5); (1, 5)]) Misuses.
Proof. split; vm_compute; reflexivity. Qed.

(** A copy that completes on a barrier uses it too. *)
Example bulk_copy_on_no_barrier : is_outcome (in_memory [[BulkCopy [(1, 2)] 0; ExpectBytes 0 1; Arrival 0]]) Misuses.
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
