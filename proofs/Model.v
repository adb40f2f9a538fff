(** The concurrency model: agents, objects on which they meet, memory, and the checks of one run.

    Agents are the threads and the asynchronous copies. Each executes a straight line of events, since no statement's
    effect on control depends on the contents of memory. An object is whatever threads meet at: a barrier of the
    block, a warp barrier, a barrier in memory, the start or the end of a copy. It goes through phases; an agent
    arrives in the present phase, and waits for the end of one. The end of a phase is a step of the object itself.

    [step false] is the machine. [step true] is the same machine with the checks along it: it fails where an access is
    not ordered by happens-before (rules Y1, Y2, Y10), or where the phase of an operation depends on the schedule (rules
    Y3, Y9). Clocks are part of both, so that the two agree on everything else. *)
From Volta Require Import Maps Diamond.

(** What an arrival passes on to those that wait for its phase. *)
Inductive mode :=
| Full     (* all that its agent has done and knows *)
| Alone    (* what its agent has done, not what it knows: the end of a bulk copy (rule Y11) *)
| Relaxed. (* time only: shuffles (rule Y4), relaxed arrivals (rule Y9) *)

Inductive sync :=
| Arrive (stated : nat) (how : mode)  (* one more than that many arrivals are to meet, where the object asks for it *)
| Expect (bytes : nat)                 (* one more than that *)
| Deliver (bytes : nat) (how : mode)   (* one more than that: a copy is over *)
| WaitFor (phase : nat)
| WaitOwn (event : nat)                (* for the phase in which that event of the same agent arrived *)
| WaitParity (parity : bool).

Inductive access :=
| Read (register address : nat)
| Write (address register : nat)
| Compute (register operation register1 register2 : nat)
| Update (address operation register : nat).

Inductive event :=
| Do (what : access) (async : bool)   (* by the async proxy, or by the generic one *)
| Sync (object : nat) (what : sync)
| Fence.                              (* a proxy fence *)

(** When a phase is over. *)
Inductive kind :=
| Count (arrivals : nat)              (* after one arrival more than that, and with no byte missing *)
| Members (agents : list nat)         (* when each of these has arrived or returned, and not all have returned *)
| Stated.                             (* after as many arrivals as each of them has stated *)

(** ** Accesses in conflict (rules Y1, Y7) *)

Definition address x :=
  match x with Read _ a | Write a _ | Update a _ _ => Some a | Compute _ _ _ _ => None end.

Definition writes x := match x with Write _ _ | Update _ _ _ => true | _ => false end.

Definition commute x y :=
  match x, y with Update _ f _, Update _ g _ => f =? g | _, _ => false end.

Definition conflict x y : bool :=
  match address x, address y with
  | Some a, Some b => (a =? b) && (writes x || writes y) && negb (commute x y)
  | _, _ => false
  end.

(** ** Clocks (rule Y2) *)

Record know := Know {
  known : clock;       (* the number of events of each agent that happened before *)
  past : clock;        (* the same in time, whether or not their effects on memory are visible *)
  over : clock;        (* the number of phases of each object that ended in the past *)
  published : clock    (* events of each agent that a proxy fence makes visible to the async proxy *)
}.

Definition nothing := Know [] [] [] [].

Definition learn k l :=
  Know (join (known k) (known l)) (join (past k) (past l)) (join (over k) (over l)) (join (published k) (published l)).

(** The knowledge of agent [c] after its event number [p]. *)
Definition after_event c p k := Know (upd 0 (known k) c (S p)) (upd 0 (past k) c (S p)) (over k) (published k).

(** What an arrival of [c] adds to its phase; [k] is what it knows, the arrival included. *)
Definition passes how c k :=
  match how with
  | Full => k
  | Alone => Know (upd 0 [] c (at_ (known k) c)) (past k) (over k) []
  | Relaxed => Know [] (past k) (over k) []
  end.

(** Whether returning orders memory, as an arrival does: no (rule Y2), but for an option of this name. *)
Definition exit_orders_memory := false.

(** ** States *)

Section Machine.
  Context {value : Type} (zero : value).
  (** Computations and atomic updates are functions that are not looked into. *)
  Variables (compute update : nat -> value -> value -> value).

  Record agent := Agent {
    log : list (nat * know);     (* for each event: the phase of an arrival, 1 more of a wait; what was known after it *)
    now : know;
    registers : list value
  }.

  Record object := Object {
    phase : nat;                 (* the number of phases that are over *)
    count : nat;                 (* arrivals in the present phase *)
    stated : nat;                (* the largest number of them that one has stated; before the first one, 0 *)
    arrived : list nat;          (* the same by agent *)
    bytes : Z;                   (* expected and not yet delivered *)
    expects : clock;             (* events that have expected bytes *)
    waits : clock;               (* waits by parity that must come before the end of the present phase *)
    passed : know;               (* what arrivals have passed on *)
    arrivals_past : clock;       (* what has happened in time before some arrival *)
    ends : list know             (* what the ends of phases pass on *)
  }.

  Record state := State { agents : list agent; objects : list object; memory : list value }.

  Definition new_agent := Agent [] nothing [].
  Definition new_object := Object 0 0 0 [] 0%Z [] [] nothing [] [].

  (** The program: the events of each agent, and the kind of each object. *)
  Variables (program : list (list event)) (kinds : list kind).

  Definition events c := get [] program c.
  Definition kind_of o := get (Members []) kinds o.
  Definition agent_of s c := get new_agent (agents s) c.
  Definition object_of s o := get new_object (objects s) o.
  Definition place s c := length (log (agent_of s c)).
  Definition next s c := nth_error (events c) (place s c).

  (** A thread that has executed all of its events has returned. *)
  Definition returned s c := length (events c) <= place s c.

  (** ** Data *)

  Definition perform x (regs mem : list value) : list value * list value :=
    match x with
    | Read r a => (upd zero regs r (get zero mem a), mem)
    | Write a r => (regs, upd zero mem a (get zero regs r))
    | Compute r f x y => (upd zero regs r (compute f (get zero regs x) (get zero regs y)), mem)
    | Update a f r => (regs, upd zero mem a (update f (get zero mem a) (get zero regs r)))
    end.

  (** ** Races *)

  (** Whether event [i] of agent [a] is ordered before an access that [c] makes now. *)
  Definition ordered k (y : access) (y_async : bool) a i :=
    forall x x_async, nth_error (events a) i = Some (Do x x_async) -> conflict x y = true ->
      i < at_ (if y_async && negb x_async && writes x then published k else known k) a.

  Definition no_race s c y y_async :=
    forall a, a <> c -> forall i, i < place s a -> ordered (now (agent_of s c)) y y_async a i.

  Definition ordered_dec k y y_async a i : {ordered k y y_async a i} + {~ ordered k y y_async a i}.
  Proof.
    unfold ordered. destruct (nth_error (events a) i) as [[x x_async| |]|]; try (left; congruence).
    destruct (conflict x y) eqn:C; [|left; intros ? ? [= -> ->]; congruence].
    destruct (lt_dec i (at_ (if y_async && negb x_async && writes x then published k else known k) a)) as [H|H].
    - left; intros ? ? [= <- <-]; auto.
    - right; intros F; apply H, (F x x_async); auto.
  Defined.

  Definition no_race_dec s c y y_async : {no_race s c y y_async} + {~ no_race s c y y_async}.
  Proof.
    set (P a := a <> c -> forall i, i < place s a -> ordered (now (agent_of s c)) y y_async a i).
    assert (dec : forall a, {P a} + {~ P a}).
    { intros a. unfold P. destruct (Nat.eq_dec a c) as [->|N]; [left; congruence|].
      destruct (all_dec _ (ordered_dec (now (agent_of s c)) y y_async a) (seq 0 (place s a))) as [H|H].
      - left; intros _ i L. rewrite Forall_forall in H. apply H, in_seq; lia.
      - right; intros F; apply H, Forall_forall. intros i L. apply in_seq in L. apply F; auto; lia. }
    destruct (all_dec P dec (seq 0 (length (agents s)))) as [H|H].
    - left; intros a N i L. rewrite Forall_forall in H. apply (H a); auto. apply in_seq.
      destruct (lt_dec a (length (agents s))); [lia|]. exfalso. revert L. unfold place, agent_of, get.
      rewrite nth_overflow by lia; cbn; lia.
    - right; intros F; apply H, Forall_forall. intros a _ N. apply F; auto.
  Defined.

  (** ** Synchronisation *)

  (** Whether an operation may be executed, has to wait, or fails a check. *)
  Inductive verdict := Go | Stop | Wrong.

  (** What no kernel may do: without checks, such an operation waits. *)
  Definition wrong (check : bool) := if check then Wrong else Stop.

  (** An operation belongs to the present phase under every schedule if its agent knows that the phase before is over
      (rules Y3, Y9). Nobody arrives more often than a phase waits for, or twice as a member, or states another number of
      arrivals than those before. The last arrival must come after all expectations of bytes, and no more bytes may have
      been delivered than were expected. *)
  Definition may_arrive (check : bool) o n k c p ob :=
    match kind_of o with
    | Count most =>
      if lt_dec most (count ob) then wrong check
      else if check then
        if lt_dec (at_ (over k) o) (phase ob) then Wrong
        else if lt_dec (count ob) most then Go
        else if within_dec (expects ob) (join (arrivals_past ob) (past (after_event c p k)))
        then if Z_le_dec 0 (bytes ob) then Go else Wrong
        else Wrong
      else Go
    | Members l =>
      if Nat.eq_dec (at_ (arrived ob) c) 0 then
        if in_dec Nat.eq_dec c l then
          if check then if lt_dec (at_ (over k) o) (phase ob) then Wrong else Go else Go
        else wrong check
      else wrong check
    | Stated =>
      if Nat.eq_dec (stated ob) 0 then if check then if lt_dec (at_ (over k) o) (phase ob) then Wrong else Go else Go
      else if Nat.eq_dec (stated ob) (S n) then
        if lt_dec n (count ob) then wrong check
        else if check then if lt_dec (at_ (over k) o) (phase ob) then Wrong else Go else Go
      else wrong check
    end.

  (** Bytes are expected before some arrival of their phase, so not after the last one. *)
  Definition may_expect (check : bool) o k ob :=
    match kind_of o with
    | Count n =>
      if check then
        if lt_dec (at_ (over k) o) (phase ob) then Wrong else if lt_dec n (count ob) then Wrong else Go
      else Go
    | Members _ | Stated => wrong check
    end.

  (** Bytes may be delivered before they are expected, but not after the last arrival. *)
  Definition may_deliver (check : bool) o k n_bytes ob :=
    match kind_of o with
    | Count n =>
      if check then
        if lt_dec (at_ (over k) o) (phase ob) then Wrong
        else if lt_dec n (count ob) then if Z_le_dec (Z.of_nat (S n_bytes)) (bytes ob) then Go else Wrong else Go
      else Go
    | Members _ | Stated => wrong check
    end.

  (** A wait by parity denotes the last phase that its agent knows to be over, or the next one, according to its parity.
      If the phase after that can be over, it may wait for another one. *)
  Definition may_pass_parity (check : bool) o k parity ob :=
    let late := S (at_ (over k) o) in
    if check then
      if lt_dec late (phase ob) then Wrong
      else if Bool.bool_dec (Nat.odd (at_ (over k) o)) parity then
        if Bool.bool_dec (Nat.odd (phase ob)) parity then Stop else Go
      else if lt_dec (at_ (over k) o) (phase ob) then Wrong else Go
    else if Bool.bool_dec (Nat.odd (phase ob)) parity then Stop else Go.

  Definition phase_of (lg : list (nat * know)) p := fst (get (0, nothing) lg p).

  Definition may (check : bool) c o e (ag : agent) ob : verdict :=
    match e with
    | Arrive n _ => may_arrive check o n (now ag) c (length (log ag)) ob
    | Expect _ => may_expect check o (now ag) ob
    | Deliver n _ => may_deliver check o (now ag) n ob
    | WaitFor k => if lt_dec k (phase ob) then Go else Stop
    | WaitOwn p => if lt_dec (phase_of (log ag) p) (phase ob) then Go else Stop
    | WaitParity parity => may_pass_parity check o (now ag) parity ob
    end.

  (** What is noted in the log: the phase of an arrival; of a wait, the number of phases that are over with it. *)
  Definition number e (ag : agent) ob :=
    match e with
    | Arrive _ _ | Expect _ | Deliver _ _ => phase ob
    | WaitFor k => S k
    | WaitOwn p => S (phase_of (log ag) p)
    | WaitParity _ => phase ob
    end.

  Definition waits_for e := match e with WaitFor _ | WaitOwn _ | WaitParity _ => true | _ => false end.

  (** What the end of phase [j] - 1 passes on. *)
  Definition end_of ob j := match j with 0 => nothing | S j => get nothing (ends ob) j end.

  Definition learned e (ag : agent) ob :=
    if waits_for e then learn (now ag) (end_of ob (number e ag ob)) else now ag.

  Definition take_part c p e (k : know) (ob : object) : object :=
    match e with
    | Arrive n how =>
      Object (phase ob) (S (count ob)) (Nat.max (stated ob) (S n)) (upd 0 (arrived ob) c 1) (bytes ob) (expects ob) (waits ob)
        (learn (passed ob) (passes how c k)) (join (arrivals_past ob) (past k)) (ends ob)
    | Expect m =>
      Object (phase ob) (count ob) (stated ob) (arrived ob) (bytes ob + Z.of_nat (S m)) (upd 0 (expects ob) c (S p)) (waits ob)
        (passed ob) (arrivals_past ob) (ends ob)
    | Deliver m how =>
      Object (phase ob) (count ob) (stated ob) (arrived ob) (bytes ob - Z.of_nat (S m)) (expects ob) (waits ob)
        (learn (passed ob) (passes how c k)) (arrivals_past ob) (ends ob)
    | WaitFor _ | WaitOwn _ => ob
    | WaitParity _ =>
      Object (phase ob) (count ob) (stated ob) (arrived ob) (bytes ob) (expects ob) (upd 0 (waits ob) c (S p))
        (passed ob) (arrivals_past ob) (ends ob)
    end.

  (** Whether the present phase can end. *)
  Definition full s o :=
    match kind_of o with
    | Count n => count (object_of s o) = S n /\ bytes (object_of s o) = 0%Z
    | Members l => Exists (fun c => at_ (arrived (object_of s o)) c <> 0) l /\
                   Forall (fun c => at_ (arrived (object_of s o)) c <> 0 \/ returned s c) l
    | Stated => stated (object_of s o) <> 0 /\ count (object_of s o) = stated (object_of s o)
    end.

  Definition full_dec s o : {full s o} + {~ full s o}.
  Proof using program kinds.
    clear zero compute update.
    unfold full. destruct (kind_of o) as [n|l|].
    - destruct (Nat.eq_dec (count (object_of s o)) (S n)); [|right; tauto].
      destruct (Z.eq_dec (bytes (object_of s o)) 0); [left|right]; tauto.
    - assert (d1 : forall c, {at_ (arrived (object_of s o)) c <> 0} + {~ at_ (arrived (object_of s o)) c <> 0}).
      { intros c. destruct (at_ (arrived (object_of s o)) c); [right|left]; lia. }
      destruct (Exists_dec _ l d1); [|right; tauto].
      destruct (all_dec (fun c => at_ (arrived (object_of s o)) c <> 0 \/ returned s c)) with (l := l); [|left|right]; try tauto.
      intros c. destruct (d1 c); [left; auto|]. destruct (le_dec (length (events c)) (place s c)); [left|right]; tauto.
    - destruct (Nat.eq_dec (stated (object_of s o)) 0); [right; tauto|].
      destruct (Nat.eq_dec (count (object_of s o)) (stated (object_of s o))); [left|right]; tauto.
  Defined.

  (** Members that have returned, and whose knowledge the end of a phase passes on as if they had arrived. *)
  Definition ordered_by_returning s o : list nat :=
    match kind_of o with
    | Count _ | Stated => []
    | Members l => filter (fun c => exit_orders_memory && (length (events c) <=? place s c)) l
    end.

  (** What those learn that wait for the end of the present phase. *)
  Definition released s o ob :=
    let k := fold_right (fun c k => learn k (now (agent_of s c))) (passed ob) (ordered_by_returning s o) in
    Know (known k) (past k) (upd 0 (over k) o (S (phase ob))) (published k).

  Definition end_phase s o ob :=
    Object (S (phase ob)) 0 0 [] (bytes ob) [] [] nothing [] (ends ob ++ [released s o ob]).

  (** ** Steps *)

  Inductive label := Act (agent : nat) | End (object : nat).

  Definition label_dec (a b : label) : {a = b} + {a <> b}.
  Proof. decide equality; apply Nat.eq_dec. Defined.

  Definition log_event c (ag : agent) n k regs :=
    let k := after_event c (length (log ag)) k in Agent (log ag ++ [(n, k)]) k regs.

  Definition fence (ag : agent) :=
    let k := now ag in Know (known k) (past k) (over k) (join (published k) (known k)).

  Definition act (check : bool) s c : res state :=
    let ag := agent_of s c in
    match next s c with
    | None => Blocked
    | Some (Do x x_async) =>
      let after := State (upd new_agent (agents s) c (log_event c ag 0 (now ag) (fst (perform x (registers ag) (memory s)))))
                         (objects s) (snd (perform x (registers ag) (memory s))) in
      if check then if no_race_dec s c x x_async then Ok after else Bad else Ok after
    | Some (Sync o e) =>
      let ob := object_of s o in
      match may check c o e ag ob with
      | Stop => Blocked
      | Wrong => Bad
      | Go =>
        let ag' := log_event c ag (number e ag ob) (learned e ag ob) (registers ag) in
        Ok (State (upd new_agent (agents s) c ag')
                  (upd new_object (objects s) o (take_part c (length (log ag)) e (now ag') ob)) (memory s))
      end
    | Some Fence => Ok (State (upd new_agent (agents s) c (log_event c ag 0 (fence ag) (registers ag))) (objects s) (memory s))
    end.

  Definition step (check : bool) s l : res state :=
    match l with
    | Act c => act check s c
    | End o =>
      let ob := object_of s o in
      if full_dec s o then
        let after := State (agents s) (upd new_object (objects s) o (end_phase s o ob)) (memory s) in
        if check then if within_dec (waits ob) (past (passed ob)) then Ok after else Bad else Ok after
      else Blocked
    end.

  Definition start (mem : list value) := State [] [] mem.

  Definition complete s := forall c, returned s c.
End Machine.
