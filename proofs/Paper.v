(** The language, the rules and the theorems of the paper's section on its algorithm, as the paper states them where they
    hold, and otherwise with the premise that they need.

    Threads are straight lines of assignments, reads, writes and [sync I], where I is a set of threads. The checked rules
    keep, for each address, which threads have not met its last writer, and each of its readers, since. *)
From Volta Require Import Maps Diamond.

Section Paper.
  Context {value : Type} (zero : value) (op : value -> value -> value).

  Inductive statement :=
  | Const (r : nat) (c : value)
  | BinOp (r r1 r2 : nat)
  | RdReg (r r' : nat)
  | RdMem (r g : nat)
  | WrMem (g r : nat)
  | SyncOn (threads : N).

  (** A set of threads is a number, by its bits. *)
  Definition has (I : N) (i : nat) := N.testbit I (N.of_nat i).
  Notation "i ∈ I" := (has I i = true) (at level 70).
  Notation "i ∉ I" := (has I i = false) (at level 70).

  Variable everybody : N.

  (** For an address: for each reader, the threads that have not met it since; the last writer, and those that have not
      met it since. *)
  Definition events := (list N * (nat * N))%type.
  Definition no_events : events := ([], (0, 0%N)).

  (** The contents of memory, registers of threads, and what threads have still to do: nothing, if a thread has returned. *)
  Record config := Config { tracked : list events; memory : list value; registers : list (list value); rest : list (list statement) }.

  Definition of_thread s i := get [] (rest s) i.

  Definition no_racing_rd i (rd : list N) := forall j, i <> j -> i ∉ get 0%N rd j.
  Definition no_racing_wr i (wr : nat * N) := i = fst wr \/ i ∉ snd wr.

  Definition no_racing_rd_dec i rd : {no_racing_rd i rd} + {~ no_racing_rd i rd}.
  Proof.
    assert (dec : forall j, {i <> j -> i ∉ get 0%N rd j} + {~ (i <> j -> i ∉ get 0%N rd j)}).
    { intros j. destruct (Nat.eq_dec i j) as [->|N]; [left; congruence|].
      destruct (has (get 0%N rd j) i); [right|left]; auto. intros H. specialize (H N). discriminate. }
    destruct (all_dec _ dec (seq 0 (length rd))) as [H|H].
    - left. intros j N. destruct (lt_dec j (length rd)).
      + rewrite Forall_forall in H. apply H; auto. apply in_seq; lia.
      + unfold get. rewrite nth_overflow by lia. reflexivity.
    - right. intros R. apply H, Forall_forall. auto.
  Defined.

  Definition no_racing_wr_dec i wr : {no_racing_wr i wr} + {~ no_racing_wr i wr}.
  Proof.
    unfold no_racing_wr. destruct (Nat.eq_dec i (fst wr)); [left; auto|].
    destruct (has (snd wr) i) eqn:E; [right|left; auto]. intros [H|H]; congruence.
  Defined.

  Definition sync_threads (I : N) (i : nat) (t : list statement) := if has I i then tl t else t.
  Definition sync_rd I (i : nat) (J : N) := if has I i then N.ldiff J I else J.
  Definition sync_wr I (wr : nat * N) := if has I (fst wr) then (fst wr, N.ldiff (snd wr) I) else wr.
  Definition sync_mem I (_ : nat) (x : events) : events := (map_all (sync_rd I) (fst x), sync_wr I (snd x)).

  Definition at_sync I (t : list statement) := match t with SyncOn J :: _ => I = J | _ => False end.

  Definition at_sync_dec I t : {at_sync I t} + {~ at_sync I t}.
  Proof. destruct t as [|[] t]; cbn; auto. apply N.eq_dec. Defined.

  (** The paper's premise, and that some thread of the set waits: without this, the rule applies to the empty set in every
      state, and no state is deadlocked. *)
  Definition may_sync s I :=
    Forall (fun i => i ∈ I -> of_thread s i = [] \/ at_sync I (of_thread s i)) (seq 0 (length (rest s))) /\
    Exists (fun i => i ∈ I /\ at_sync I (of_thread s i)) (seq 0 (length (rest s))).

  Definition may_sync_dec s I : {may_sync s I} + {~ may_sync s I}.
  Proof.
    assert (d1 : forall i, {i ∈ I -> of_thread s i = [] \/ at_sync I (of_thread s i)} +
                           {~ (i ∈ I -> of_thread s i = [] \/ at_sync I (of_thread s i))}).
    { intros i. destruct (has I i); [|left; discriminate]. destruct (of_thread s i) as [|st t]; auto.
      destruct (at_sync_dec I (st :: t)); [left; auto|right]. intros H; destruct (H eq_refl); [discriminate|contradiction]. }
    assert (d2 : forall i, {i ∈ I /\ at_sync I (of_thread s i)} + {~ (i ∈ I /\ at_sync I (of_thread s i))}).
    { intros i. destruct (has I i); [|right; intros [? _]; discriminate].
      destruct (at_sync_dec I (of_thread s i)); [left; auto|right; tauto]. }
    unfold may_sync. destruct (all_dec _ d1 (seq 0 (length (rest s)))) as [A|A]; [|right; tauto].
    destruct (Exists_dec _ (seq 0 (length (rest s))) d2) as [B|B]; [left|right]; tauto.
  Defined.

  Inductive label := Schd (i : nat) | Sync (I : N).

  Definition label_dec (a b : label) : {a = b} + {a <> b}.
  Proof. decide equality; [apply Nat.eq_dec|apply N.eq_dec]. Defined.

  Definition regs_of s i := get [] (registers s) i.

  Definition assign s i r v t := Config (tracked s) (memory s) (upd [] (registers s) i (upd zero (regs_of s i) r v)) (upd [] (rest s) i t).

  (** [check = false] is the paper's machine, [check = true] its checked one. *)
  Definition step (check : bool) (s : config) (l : label) : res config :=
    match l with
    | Schd i =>
      match of_thread s i with
      | [] | SyncOn _ :: _ => Blocked
      | Const r c :: t => Ok (assign s i r c t)
      | BinOp r r1 r2 :: t => Ok (assign s i r (op (get zero (regs_of s i) r1) (get zero (regs_of s i) r2)) t)
      | RdReg r r' :: t => Ok (assign s i r (get zero (regs_of s i) r') t)
      | RdMem r g :: t =>
        let x := get no_events (tracked s) g in
        let after := Config (upd no_events (tracked s) g (upd 0%N (fst x) i everybody, snd x)) (memory s)
                       (upd [] (registers s) i (upd zero (regs_of s i) r (get zero (memory s) g))) (upd [] (rest s) i t) in
        if check then if no_racing_wr_dec i (snd x) then Ok after else Bad else Ok after
      | WrMem g r :: t =>
        let x := get no_events (tracked s) g in
        let after := Config (upd no_events (tracked s) g (fst x, (i, everybody))) (upd zero (memory s) g (get zero (regs_of s i) r))
                       (registers s) (upd [] (rest s) i t) in
        if check then if no_racing_rd_dec i (fst x) then if no_racing_wr_dec i (snd x) then Ok after else Bad else Bad else Ok after
      end
    | Sync J =>
      if may_sync_dec s J
      then Ok (Config (map_all (sync_mem J) (tracked s)) (memory s) (registers s) (map_all (sync_threads J) (rest s)))
      else Blocked
    end.

  (** All threads that have anything to do are threads. *)
  Definition among s := forall i, of_thread s i <> [] -> i ∈ everybody.

  Lemma of_thread_upd X G R (P : list (list statement)) i t j :
    of_thread (Config X G R (upd [] P i t)) j = if Nat.eq_dec j i then t else get [] P j.
  Proof. unfold of_thread; cbn. destruct (Nat.eq_dec j i) as [->|N]; [apply get_upd_eq|apply get_upd_ne; auto]. Qed.

  Lemma sync_threads_nil I i : sync_threads I i [] = [].
  Proof. unfold sync_threads. destruct (has I i); auto. Qed.

  Lemma sync_rd_nil I i : sync_rd I i 0%N = 0%N.
  Proof. unfold sync_rd. destruct (has I i); auto. Qed.

  Lemma sync_mem_nil I i : sync_mem I i no_events = no_events.
  Proof. unfold sync_mem, sync_wr, no_events; cbn. destruct (has I 0); auto. Qed.

  Lemma of_thread_sync X G R (P : list (list statement)) I j :
    of_thread (Config X G R (map_all (sync_threads I) P)) j = sync_threads I j (get [] P j).
  Proof. apply get_map_all, sync_threads_nil. Qed.

  Lemma may_sync_spec s I : may_sync s I <->
    (forall i, i ∈ I -> of_thread s i = [] \/ at_sync I (of_thread s i)) /\ (exists i, i ∈ I /\ at_sync I (of_thread s i)).
  Proof.
    unfold may_sync. rewrite Forall_forall, Exists_exists. split.
    - intros [A (i & _ & B)]. split; [|eauto]. intros j Hj. destruct (lt_dec j (length (rest s))) as [L|L].
      + apply A; auto. apply in_seq; lia.
      + left. unfold of_thread, get. apply nth_overflow; lia.
    - intros [A (i & B & C)]. split; [auto|]. exists i. split; auto. apply in_seq.
      destruct (lt_dec i (length (rest s))); [lia|]. unfold of_thread, get in C. rewrite nth_overflow in C by lia. destruct C.
  Qed.

  (** What the threads have still to do after a step does not depend on anything else. *)
  Definition rest_after (P : list (list statement)) l :=
    match l with Schd i => upd [] P i (tl (get [] P i)) | Sync J => map_all (sync_threads J) P end.

  Lemma step_rest check s l s' : step check s l = Ok s' -> rest s' = rest_after (rest s) l.
  Proof.
    destruct l as [i|I]; cbn.
    - fold (of_thread s i). destruct (of_thread s i) as [|[] t]; try discriminate; try (intros [= <-]; reflexivity).
      + destruct check; [destruct (no_racing_wr_dec _ _); try discriminate|]; intros [= <-]; reflexivity.
      + destruct check; [destruct (no_racing_rd_dec _ _); try discriminate; destruct (no_racing_wr_dec _ _); try discriminate|];
          intros [= <-]; reflexivity.
    - destruct (may_sync_dec s I); try discriminate. intros [= <-]; reflexivity.
  Qed.

  Lemma among_step check s l s' : among s -> step check s l = Ok s' -> among s'.
  Proof.
    intros A H i Hi. apply A. intros E. apply Hi. unfold of_thread in *. rewrite (step_rest _ _ _ _ H).
    destruct l as [j|I]; cbn.
    - destruct (Nat.eq_dec i j) as [->|N]; [rewrite get_upd_eq, E|rewrite get_upd_ne by auto]; auto.
    - rewrite get_map_all, E by apply sync_threads_nil. apply sync_threads_nil.
  Qed.

  (** ** Confluence *)

  Lemma has_none i : i ∉ 0%N.
  Proof. apply N.bits_0. Qed.

  Lemma has_diff J I i : has (N.ldiff J I) i = has J i && negb (has I i).
  Proof. apply N.ldiff_spec. Qed.

  Lemma diff_swap K I J : N.ldiff (N.ldiff K I) J = N.ldiff (N.ldiff K J) I.
  Proof.
    apply N.bits_inj; intros n. rewrite !N.ldiff_spec, <- !andb_assoc. f_equal. apply andb_comm.
  Qed.

  Lemma sync_mem_swap I J k x : sync_mem I k (sync_mem J k x) = sync_mem J k (sync_mem I k x).
  Proof.
    unfold sync_mem; cbn. f_equal.
    - apply map_all_swap. intros i K. unfold sync_rd. destruct (has I i), (has J i); auto. apply diff_swap.
    - destruct x as [rd [j K]]; unfold sync_wr; cbn. destruct (has I j) eqn:EI, (has J j) eqn:EJ; cbn; rewrite ?EI, ?EJ; auto.
      f_equal. apply diff_swap.
  Qed.

  Lemma get_sync_mem I X g : get no_events (map_all (sync_mem I) X) g = sync_mem I g (get no_events X g).
  Proof. apply get_map_all, sync_mem_nil. Qed.

  Lemma racing_rd_sync i I rd : i ∉ I -> no_racing_rd i (map_all (sync_rd I) rd) <-> no_racing_rd i rd.
  Proof.
    intros N. assert (E : forall j, has (get 0%N (map_all (sync_rd I) rd) j) i = has (get 0%N rd j) i).
    { intros j. rewrite get_map_all by apply sync_rd_nil. unfold sync_rd. destruct (has I j); auto.
      rewrite has_diff, N. apply andb_true_r. }
    unfold no_racing_rd. split; intros H j D; specialize (H j D); rewrite E in *; auto.
  Qed.

  Lemma racing_wr_sync i I wr : i ∉ I -> no_racing_wr i (sync_wr I wr) <-> no_racing_wr i wr.
  Proof.
    intros N. unfold no_racing_wr, sync_wr. destruct (has I (fst wr)); cbn; [|tauto].
    rewrite has_diff, N, andb_true_r. tauto.
  Qed.

  (** The access at which a thread is. *)
  Definition access t := match t with RdMem _ g :: _ => Some (g, false) | WrMem g _ :: _ => Some (g, true) | _ => None end.
  Definition conflicting t u :=
    match access t, access u with Some (g, w), Some (g', w') => g = g' /\ (w || w' = true) | _, _ => False end.

  (** The checks that a thread must pass. *)
  Definition passes i t (X : list events) :=
    match access t with
    | Some (g, w) => no_racing_wr i (snd (get no_events X g)) /\ (w = true -> no_racing_rd i (fst (get no_events X g)))
    | None => True
    end.

  Definition passes_dec i t X : {passes i t X} + {~ passes i t X}.
  Proof.
    unfold passes. destruct (access t) as [[g []]|]; [| |left; exact I].
    - destruct (no_racing_wr_dec i (snd (get no_events X g))), (no_racing_rd_dec i (fst (get no_events X g))); try (left; tauto); right; tauto.
    - destruct (no_racing_wr_dec i (snd (get no_events X g))); [left|right]; intuition discriminate.
  Defined.

  Definition track i t (X : list events) :=
    match access t with
    | Some (g, w) => let x := get no_events X g in upd no_events X g (if w then (fst x, (i, everybody)) else (upd 0%N (fst x) i everybody, snd x))
    | None => X
    end.

  (** The contents of memory and registers after a step. *)
  Definition perform t (G R : list value) : list value * list value :=
    match t with
    | Const r c :: _ => (G, upd zero R r c)
    | BinOp r r1 r2 :: _ => (G, upd zero R r (op (get zero R r1) (get zero R r2)))
    | RdReg r r' :: _ => (G, upd zero R r (get zero R r'))
    | RdMem r g :: _ => (G, upd zero R r (get zero G g))
    | WrMem g r :: _ => (upd zero G g (get zero R r), R)
    | _ => (G, R)
    end.

  Definition runs t := match t with [] | SyncOn _ :: _ => false | _ => true end.

  Definition after s i :=
    let t := of_thread s i in
    Config (track i t (tracked s)) (fst (perform t (memory s) (regs_of s i)))
      (match t with WrMem _ _ :: _ => registers s | _ => upd [] (registers s) i (snd (perform t (memory s) (regs_of s i))) end)
      (upd [] (rest s) i (tl t)).

  Lemma schd check s i : step check s (Schd i) =
    if runs (of_thread s i) then if check then if passes_dec i (of_thread s i) (tracked s) then Ok (after s i) else Bad else Ok (after s i) else Blocked.
  Proof.
    unfold step, after, passes_dec, track, perform. destruct (of_thread s i) as [|[] t] eqn:E; cbn; try reflexivity; try (destruct check; reflexivity).
    - destruct check; auto. destruct (no_racing_wr_dec i _); cbn; auto.
    - destruct check; auto. destruct (no_racing_wr_dec i _), (no_racing_rd_dec i _); cbn; auto.
  Qed.

  Lemma passes_later s i j : among s -> i <> j -> runs (of_thread s i) = true ->
    passes i (of_thread s i) (track j (of_thread s j) (tracked s)) <->
    passes i (of_thread s i) (tracked s) /\ ~ conflicting (of_thread s j) (of_thread s i).
  Proof.
    intros A N Ri. assert (Ei : i ∈ everybody) by (apply A; intros E; rewrite E in Ri; discriminate).
    unfold passes, track, conflicting. destruct (access (of_thread s j)) as [[g w]|], (access (of_thread s i)) as [[g' w']|]; try tauto.
    destruct (Nat.eq_dec g g') as [<-|Ng]; [rewrite get_upd_eq|rewrite get_upd_ne by auto; tauto].
    destruct w; cbn.
    - split; [intros [[H|H] _]; cbn in H; congruence|]. intros [_ H]. destruct H; auto.
    - destruct w'; cbn.
      + split; [|intros [_ H]; destruct H; auto]. intros [_ H]. specialize (H eq_refl j N). rewrite get_upd_eq in H. congruence.
      + split; [intros [H _]; split; [split; [auto|discriminate]|intros [_ ?]; discriminate]|]. intros [[H _] _]; split; [auto|discriminate].
  Qed.

  Lemma conflicting_sym t u : conflicting t u <-> conflicting u t.
  Proof.
    unfold conflicting. destruct (access t) as [[g w]|], (access u) as [[g' w']|]; try tauto. rewrite orb_comm. intuition.
  Qed.

  Lemma conflicting_dec t u : {conflicting t u} + {~ conflicting t u}.
  Proof.
    unfold conflicting. destruct (access t) as [[g w]|], (access u) as [[g' w']|]; auto.
    destruct (Nat.eq_dec g g'); [|right; tauto]. destruct (w || w'); [left|right; intros [_ ?]; discriminate]; auto.
  Qed.

  Lemma after_other s i j : i <> j -> of_thread (after s j) i = of_thread s i.
  Proof. intros N. unfold of_thread, after; cbn. apply get_upd_ne; auto. Qed.

  Lemma regs_after_other s i j : i <> j -> regs_of (after s j) i = regs_of s i.
  Proof.
    intros N. unfold regs_of, after; cbn. destruct (of_thread s j) as [|[] t]; cbn; auto; apply get_upd_ne; auto.
  Qed.

  Lemma after_swap s i j : i <> j -> ~ conflicting (of_thread s i) (of_thread s j) -> after (after s i) j = after (after s j) i.
  Proof.
    intros N C. unfold after at 1 3. rewrite !after_other, !regs_after_other by auto. unfold after. cbn [tracked memory registers rest].
    rewrite (upd_comm _ (rest s) i j) by auto.
    unfold conflicting in C.
    destruct (of_thread s i) as [|st t], (of_thread s j) as [|st' t'];
      try destruct st as [r c|r r1 r2|r r1|r g|g r|I]; try destruct st' as [r' c'|r' r1' r2'|r' r1'|r' g'|g' r'|I'];
      cbn [perform track access fst snd tl]; cbn in C;
      try (f_equal; try apply upd_comm; auto; fail).
    - f_equal; [|apply upd_comm; auto]. destruct (Nat.eq_dec g g') as [<-|Ng].
      + rewrite !get_upd_eq, !upd_upd. cbn. rewrite (upd_comm _ (fst _) i j) by auto. reflexivity.
      + rewrite !get_upd_ne by auto. apply upd_comm; auto.
    - assert (g <> g') by tauto. rewrite !get_upd_ne by auto. f_equal; apply upd_comm; auto.
    - assert (g <> g') by tauto. rewrite !get_upd_ne by auto. f_equal; apply upd_comm; auto.
    - assert (g <> g') by tauto. rewrite !get_upd_ne by auto. f_equal; apply upd_comm; auto.
  Qed.

  Lemma sync_step check s I : step check s (Sync I) =
    if may_sync_dec s I
    then Ok (Config (map_all (sync_mem I) (tracked s)) (memory s) (registers s) (map_all (sync_threads I) (rest s)))
    else Blocked.
  Proof. reflexivity. Qed.

  Lemma diamond s a b : among s -> a <> b -> joins (step true) s a b.
  Proof.
    intros A N. assert (sym : joins (step true) s b a -> joins (step true) s a b).
    { unfold joins. destruct (step true s a), (step true s b); auto. intros [(t & H & H')|[H H']]; eauto. }
    assert (schd_sync : forall i I, joins (step true) s (Schd i) (Sync I)).
    { intros i I. unfold joins. rewrite schd. destruct (runs (of_thread s i)) eqn:R; [|exact Logic.I].
      rewrite sync_step. destruct (may_sync_dec s I) as [M|M]; [|destruct (passes_dec _ _ _); exact Logic.I].
      set (sI := Config (map_all (sync_mem I) (tracked s)) (memory s) (registers s) (map_all (sync_threads I) (rest s))).
      apply may_sync_spec in M. destruct M as [M1 M2].
      assert (NI : i ∉ I).
      { destruct (has I i) eqn:E; auto. destruct (M1 i E) as [H|H]; [rewrite H in R; discriminate|].
        destruct (of_thread s i) as [|[] t]; try contradiction; discriminate. }
      assert (Ei : of_thread sI i = of_thread s i).
      { unfold sI. rewrite of_thread_sync. unfold sync_threads. rewrite NI. reflexivity. }
      assert (P : passes i (of_thread s i) (tracked sI) <-> passes i (of_thread s i) (tracked s)).
      { unfold passes. destruct (access (of_thread s i)) as [[g w]|]; [|tauto]. unfold sI; cbn [tracked]. rewrite get_sync_mem.
        cbn [sync_mem fst snd]. rewrite racing_rd_sync, racing_wr_sync by auto. tauto. }
      assert (M' : may_sync (after s i) I).
      { apply may_sync_spec. split.
        - intros j Hj. rewrite after_other; auto. congruence.
        - destruct M2 as (j & Hj & H). exists j. split; auto. rewrite after_other; auto. congruence. }
      destruct (passes_dec i (of_thread s i) (tracked s)) as [Q|Q].
      - left. exists (after sI i). split.
        + rewrite sync_step. destruct (may_sync_dec (after s i) I) as [_|?]; [|contradiction]. f_equal.
          unfold after at 5. rewrite Ei. unfold after, sI; cbn [tracked memory registers rest].
          assert (Rg : regs_of (Config (map_all (sync_mem I) (tracked s)) (memory s) (registers s) (map_all (sync_threads I) (rest s))) i = regs_of s i) by reflexivity.
          rewrite Rg. f_equal.
          * unfold track. destruct (access (of_thread s i)) as [[g w]|]; auto.
            rewrite (map_all_upd no_events) by apply sync_mem_nil. rewrite get_sync_mem. f_equal.
            destruct w; unfold sync_mem; cbn [fst snd]; f_equal.
            -- unfold sync_wr; cbn. rewrite NI. auto.
            -- rewrite (map_all_upd 0%N) by apply sync_rd_nil. f_equal. unfold sync_rd. rewrite NI. auto.
          * rewrite (map_all_upd []) by apply sync_threads_nil. f_equal. unfold sync_threads. rewrite NI. auto.
        + rewrite schd, Ei, R. destruct (passes_dec i (of_thread s i) (tracked sI)); [auto|tauto].
      - rewrite schd, Ei, R. destruct (passes_dec i (of_thread s i) (tracked sI)); [tauto|auto]. }
    destruct a as [i|I], b as [j|J]; [|apply schd_sync|apply sym, schd_sync|].
    - assert (Nij : i <> j) by congruence. unfold joins. rewrite !schd.
      destruct (runs (of_thread s i)) eqn:Ri; [|exact Logic.I].
      destruct (runs (of_thread s j)) eqn:Rj; [|destruct (passes_dec i _ _); exact Logic.I].
      pose proof (passes_later s i j A Nij Ri) as Pi. pose proof (passes_later s j i A (not_eq_sym Nij) Rj) as Pj.
      assert (Si : step true (after s j) (Schd i) = if passes_dec i (of_thread s i) (track j (of_thread s j) (tracked s)) then Ok (after (after s j) i) else Bad).
      { rewrite schd, after_other, Ri by auto. reflexivity. }
      assert (Sj : step true (after s i) (Schd j) = if passes_dec j (of_thread s j) (track i (of_thread s i) (tracked s)) then Ok (after (after s i) j) else Bad).
      { rewrite schd, after_other, Rj by auto. reflexivity. }
      destruct (passes_dec i (of_thread s i) (tracked s)) as [Qi|Qi], (passes_dec j (of_thread s j) (tracked s)) as [Qj|Qj]; auto; rewrite ?Si, ?Sj.
      + destruct (conflicting_dec (of_thread s i) (of_thread s j)) as [C|C].
        * right. split; [destruct (passes_dec j _ (track _ _ _)); [tauto|auto]|].
          destruct (passes_dec i _ (track _ _ _)) as [Q|Q]; auto. exfalso. destruct (proj1 Pi Q) as [_ F]. apply F, conflicting_sym; auto.
        * left. exists (after (after s i) j). split; [destruct (passes_dec j _ (track _ _ _)); [auto|tauto]|].
          destruct (passes_dec i _ (track _ _ _)) as [Q|Q]; [rewrite <- (after_swap s i j); auto|].
          exfalso; apply Q, Pi. split; auto. intros F. apply C, conflicting_sym; auto.
      + destruct (passes_dec j _ (track _ _ _)); [tauto|auto].
      + destruct (passes_dec i _ (track _ _ _)); [tauto|auto].
    - assert (NIJ : I <> J) by congruence. unfold joins. cbn [step].
      destruct (may_sync_dec s I) as [MI|MI]; [|exact Logic.I]. destruct (may_sync_dec s J) as [MJ|MJ]; [|exact Logic.I].
      apply may_sync_spec in MI, MJ. left.
      assert (later : forall I J, I <> J ->
        ((forall i, i ∈ I -> of_thread s i = [] \/ at_sync I (of_thread s i)) /\ (exists i, i ∈ I /\ at_sync I (of_thread s i))) ->
        ((forall i, i ∈ J -> of_thread s i = [] \/ at_sync J (of_thread s i)) /\ (exists i, i ∈ J /\ at_sync J (of_thread s i))) ->
        may_sync (Config (map_all (sync_mem I) (tracked s)) (memory s) (registers s) (map_all (sync_threads I) (rest s))) J).
      { intros I' J' D [A1 (u & U1 & U2)] [B1 (v & V1 & V2)]. apply may_sync_spec.
        assert (apart : forall i, i ∈ I' -> i ∈ J' -> of_thread s i = []).
        { intros i H1 H2. destruct (A1 i H1) as [|H3]; auto. destruct (B1 i H2) as [|H4]; auto.
          destruct (of_thread s i) as [|[] t]; try contradiction. cbn in *. congruence. }
        split.
        - intros i Hi. rewrite of_thread_sync. fold (of_thread s i). unfold sync_threads. destruct (has I' i) eqn:E; auto.
          rewrite (apart i E Hi). auto.
        - exists v. split; auto. rewrite of_thread_sync. fold (of_thread s v). unfold sync_threads. destruct (has I' v) eqn:E; auto.
          rewrite (apart v E V1) in V2. destruct V2. }
      eexists. split.
      + destruct (may_sync_dec _ J) as [_|F]; [reflexivity|destruct F; apply later; auto].
      + destruct (may_sync_dec _ I) as [_|F]; [|destruct F; apply later; auto].
        cbn [tracked memory registers rest]. f_equal. f_equal.
        * apply map_all_swap. intros. apply sync_mem_swap.
        * apply map_all_swap. intros i t. unfold sync_threads. destruct (has I i), (has J i); auto.
  Qed.
End Paper.
