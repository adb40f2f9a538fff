(** The theorems of the paper's section on guarantees. *)
From Volta Require Import Maps Diamond Paper.

Section PaperTheorems.
  Context {value : Type} (zero : value) (op : value -> value -> value).
  Variable everybody : N.

  Notation config := (@config value).
  Notation step := (step zero op everybody).
  Notation among := (@among value everybody).
  Notation "i ∈ I" := (has I i = true) (at level 70).
  Notation "i ∉ I" := (has I i = false) (at level 70).

  Notation schd := (schd zero op everybody).
  Notation after := (after zero op everybody).

  (** ** Confluence *)

  Theorem paper_confluence (s : config) l1 s1 l2 s2 :
    among s -> run (step true) s l1 = Ok s1 -> run (step true) s l2 = Ok s2 ->
    (exists s', reaches (step true) s1 s' /\ reaches (step true) s2 s') \/ (fails (step true) s1 /\ fails (step true) s2).
  Proof. apply confluence with (inv := among); [apply label_dec|apply among_step|apply diamond]. Qed.

  (** Checked and unchecked runs. *)

  Lemma checked_or_bad (s : config) l s' : step false s l = Ok s' -> step true s l = Ok s' \/ step true s l = Bad.
  Proof.
    destruct l as [i|I]; rewrite ?schd, ?sync_step; auto. destruct (runs _); [|discriminate].
    destruct (passes_dec _ _ _); auto.
  Qed.

  Lemma checked_is_unchecked (s : config) l s' : step true s l = Ok s' -> step false s l = Ok s'.
  Proof.
    destruct l as [i|I]; rewrite ?schd, ?sync_step; auto. destruct (runs _); [|discriminate].
    destruct (passes_dec _ _ _); auto; discriminate.
  Qed.

  Lemma blocked_alike (s : config) l : step true s l = Blocked <-> step false s l = Blocked.
  Proof.
    destruct l as [i|I]; rewrite ?schd, ?sync_step; [|tauto]. destruct (runs _); [|tauto].
    destruct (passes_dec _ _ _); split; discriminate.
  Qed.

  Theorem unchecked_runs_are_checked l : forall (s s' : config),
    run (step false) s l = Ok s' -> run (step true) s l = Ok s' \/ fails (step true) s.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' H; auto.
    destruct (step false s a) as [| |t] eqn:E; [destruct l; discriminate..|].
    destruct (checked_or_bad s a t E) as [E'|E'].
    - rewrite E'. destruct (IH t s' H) as [R|[m R]]; auto. right. exists (a :: m). cbn. rewrite E'; auto.
    - right. exists [a]. cbn. rewrite E'; auto.
  Qed.

  Theorem checked_runs_are_unchecked l : forall (s s' : config), run (step true) s l = Ok s' -> run (step false) s l = Ok s'.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' H; auto.
    destruct (step true s a) as [| |t] eqn:E; [destruct l; discriminate..|].
    rewrite (checked_is_unchecked s a t E). auto.
  Qed.

  (** Contents of memory and registers have no effect on steps. *)
  Lemma unchecked_alike l : forall (s s' t : config), rest s = rest s' -> run (step false) s l = Ok t ->
    exists t', run (step false) s' l = Ok t' /\ rest t = rest t'.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' t E H; [injection H as <-; eauto|].
    destruct (step false s a) as [| |s1] eqn:H1; [destruct l; discriminate..|].
    assert (exists s2, step false s' a = Ok s2) as [s2 H2].
    { destruct a as [i|I].
      - rewrite schd in *. assert (of_thread s' i = of_thread s i) as -> by (unfold of_thread; congruence).
        destruct (runs _); [eauto|discriminate].
      - rewrite sync_step in *. destruct (may_sync_dec _ _ s I) as [M|]; [|discriminate].
        destruct (may_sync_dec _ _ s' I) as [|M']; [eauto|]. destruct M'. unfold may_sync, of_thread in *. rewrite <- E. auto. }
    rewrite H2. apply (IH s1 s2 t); auto. rewrite (step_rest _ _ _ _ _ _ _ H1), (step_rest _ _ _ _ _ _ _ H2). congruence.
  Qed.

  Lemma failures_alike l : forall (s s' : config), rest s = rest s' -> tracked s = tracked s' ->
    run (step true) s l = Bad -> run (step true) s' l = Bad.
  Proof.
    induction l as [|a l IH]; cbn; intros s s' E X H; [discriminate|].
    assert (Et : forall i, of_thread s' i = of_thread s i) by (intros; unfold of_thread; congruence).
    assert (C : match step true s a, step true s' a with
                | Ok s1, Ok s2 => rest s1 = rest s2 /\ tracked s1 = tracked s2
                | Bad, Bad => True | Blocked, Blocked => True | _, _ => False end).
    { destruct a as [i|I].
      - rewrite !schd, Et, <- X. destruct (runs _); auto. destruct (passes_dec _ _ _); auto.
        unfold Paper.after; cbn. rewrite Et. split; congruence.
      - rewrite !sync_step. destruct (may_sync_dec _ _ s I) as [M|M], (may_sync_dec _ _ s' I) as [M'|M']; auto.
        + cbn. split; congruence.
        + apply M'. unfold may_sync, of_thread in *. rewrite <- E. auto.
        + apply M. unfold may_sync, of_thread in *. rewrite E. auto. }
    destruct (step true s a) as [| |s1], (step true s' a) as [| |s2]; try contradiction; auto.
    destruct C. eapply IH; eauto.
  Qed.

  (** ** Data race freedom *)

  (** Two conflicting accesses follow one another directly in both orders. *)
  Definition data_race (s : config) :=
    exists l s1 i j, i <> j /\ run (step false) s l = Ok s1 /\ conflicting (of_thread s1 i) (of_thread s1 j) /\
      (exists s', run (step false) s (l ++ [Schd i; Schd j]) = Ok s') /\
      (exists s', run (step false) s (l ++ [Schd j; Schd i]) = Ok s').

  (** The program of [s] has a data race, from some contents of memory and registers. *)
  Definition has_data_race (s : config) := exists s0, rest s0 = rest s /\ data_race s0.

  Lemma conflicting_runs (t u : list (@statement value)) : conflicting t u -> runs t = true /\ runs u = true.
  Proof. unfold conflicting. destruct t as [|[] t], u as [|[] u]; cbn; tauto. Qed.

  Theorem data_race_freedom (s : config) : among s -> has_data_race s -> fails (step true) s.
  Proof.
    intros A (s0 & E0 & l & s1 & i & j & N & R & C & _).
    (* The same run, from what is tracked in [s]. *)
    set (s2 := Config (tracked s) (memory s0) (registers s0) (rest s0)).
    destruct (unchecked_alike l s0 s2 s1 eq_refl R) as (s3 & R3 & E3).
    assert (F : fails (step true) s2).
    { destruct (unchecked_runs_are_checked l s2 s3 R3) as [R3'|F]; auto.
      assert (A3 : among s3).
      { assert (A2 : among s2) by (intros u Hu; apply A; intros Hs; apply Hu; unfold of_thread, s2 in *; cbn; congruence).
        eapply (run_ind_ok (step true) among); [exact A2|..|exact R3']. intros; eapply among_step; eauto. }
      assert (C3 : conflicting (of_thread s3 i) (of_thread s3 j)).
      { unfold of_thread in *. rewrite <- E3. exact C. }
      destruct (conflicting_runs _ _ C3) as [Ri Rj].
      destruct (step true s3 (Schd i)) as [| |s4] eqn:E4.
      - rewrite schd, Ri in E4. destruct (passes_dec _ _ _); discriminate.
      - exists (l ++ [Schd i]). rewrite (run_snoc _ _ _ _ _ R3'). auto.
      - exists ((l ++ [Schd i]) ++ [Schd j]). rewrite (run_snoc _ _ _ _ s4); [|rewrite (run_snoc _ _ _ _ _ R3'); auto].
        rewrite schd, Ri in E4. destruct (passes_dec _ _ _); [|discriminate]. injection E4 as <-.
        rewrite schd, after_other, Rj by auto. destruct (passes_dec _ _ _) as [P|]; auto.
        apply passes_later in P; auto. destruct P as [_ P]. contradiction. }
    destruct F as [m F]. exists m. apply (failures_alike m s2 s); auto.
  Qed.

  (** ** True positives

      This holds where any two sets of threads that meet are disjoint, or one is part of the other: barriers of the block
      and disjoint groups of lanes. *)

  Definition occurs (s : config) I := exists i, In (SyncOn I) (of_thread s i).
  Definition part_of I J := forall i, i ∈ I -> i ∈ J.
  Definition nested (s : config) := forall I J, occurs s I -> occurs s J ->
    (forall i, i ∈ I -> i ∈ J -> False) \/ part_of I J \/ part_of J I.

  Lemma occurs_step check (s : config) l s' I : step check s l = Ok s' -> occurs s' I -> occurs s I.
  Proof.
    intros H [i Hi]. exists i. unfold of_thread in *. rewrite (step_rest _ _ _ _ _ _ _ H) in Hi.
    assert (T : forall t : list (@statement value), In (SyncOn I) (tl t) -> In (SyncOn I) t) by (intros [|st t]; cbn; auto).
    destruct l as [j|J]; cbn in Hi.
    - destruct (Nat.eq_dec i j) as [->|N]; [rewrite get_upd_eq in Hi; auto|rewrite get_upd_ne in Hi by auto; auto].
    - rewrite (get_map_all []) in Hi by apply sync_threads_nil. unfold sync_threads in Hi. destruct (has J i); auto.
  Qed.

  Lemma sync_occurs check (s : config) I s' : step check s (Sync I) = Ok s' -> occurs s I.
  Proof.
    rewrite sync_step. destruct (may_sync_dec _ _ s I) as [M|]; [|discriminate]. intros _. apply may_sync_spec in M.
    destruct M as [_ (i & _ & M)]. exists i. destruct (of_thread s i) as [|[] t]; try contradiction. cbn in M. subst. left; auto.
  Qed.

  Definition meets_both i j (a : label) := match a with Sync J => i ∈ J /\ j ∈ J | _ => False end.

  Lemma nested_step check (s : config) l s' : step check s l = Ok s' -> nested s -> nested s'.
  Proof. intros H N I J HI HJ. apply N; eapply occurs_step; eauto. Qed.

  (** A run from where [j] is at an access, in which [i] and [j] do not meet, without what comes after that access:
      [T] are the threads that may have learnt of it. *)
  Lemma without_what_comes_after i j l : i <> j -> forall (s t s' : config) (T : N),
    nested s -> run (step true) s l = Ok s' ->
    (forall u, u ∉ T -> of_thread t u = of_thread s u) -> j ∈ T -> i ∉ T ->
    (T = N.setbit 0 (N.of_nat j) \/ exists s0, nested s0 /\ (forall I, occurs s I -> occurs s0 I) /\ occurs s0 T) ->
    Forall (fun a => ~ meets_both i j a) l ->
    exists l' t', run (step false) t l' = Ok t' /\ of_thread t' j = of_thread t j /\ of_thread t' i = of_thread s' i.
  Proof.
    intros Nij. induction l as [|a l IH]; cbn; intros s t s' T Ns R Et Tj Ti TS F.
    - injection R as <-. exists [], t. cbn. auto.
    - destruct (step true s a) as [| |s1] eqn:E; [destruct l; discriminate..|]. inversion F as [|? ? Fa F']; subst.
      assert (N1 := nested_step _ _ _ _ E Ns).
      assert (TS1 : T = N.setbit 0 (N.of_nat j) \/ exists s0, nested s0 /\ (forall I, occurs s1 I -> occurs s0 I) /\ occurs s0 T).
      { destruct TS as [TS|(s0 & S1 & S2 & S3)]; auto. right. exists s0. split; auto. split; auto.
        intros I HI. apply S2. eapply occurs_step; eauto. }
      pose proof (step_rest _ _ _ _ _ _ _ E) as Er.
      destruct a as [u|J].
      + assert (E1 : forall v, v <> u -> of_thread s1 v = of_thread s v).
        { intros v Nv. unfold of_thread. rewrite Er. cbn. apply get_upd_ne; auto. }
        destruct (has T u) eqn:Tu.
        * (* The step is left out. *)
          apply (IH s1 t s' T); auto. intros v Tv. rewrite Et, E1; auto. congruence.
        * rewrite schd in E. destruct (runs (of_thread s u)) eqn:Ru; [|discriminate].
          assert (Et1 : step false t (Schd u) = Ok (after t u)) by (rewrite schd, Et, Ru; auto).
          destruct (IH s1 (after t u) s' T) as (l' & t' & R' & Hj & Hi); auto.
          { intros v Tv. unfold of_thread. rewrite Er. cbn. destruct (Nat.eq_dec v u) as [->|Nv].
            - rewrite !get_upd_eq. rewrite Et; auto.
            - rewrite !get_upd_ne by auto. apply Et; auto. }
          exists (Schd u :: l'), t'. cbn [run]. rewrite Et1. repeat split; auto. rewrite Hj. apply after_other. congruence.
      + assert (E1 : forall v, of_thread s1 v = sync_threads J v (of_thread s v)).
        { intros v. unfold of_thread. rewrite Er. apply get_map_all, sync_threads_nil. }
        destruct (N.eq_dec (N.land J T) 0) as [D|D].
        * assert (Dv : forall v, v ∈ J -> v ∉ T).
          { intros v Jv. destruct (has T v) eqn:Tv; auto. assert (has (N.land J T) v = true) as L.
            { unfold has in *. rewrite N.land_spec, Jv, Tv. auto. }
            rewrite D in L. rewrite has_none in L. discriminate. }
          assert (M : may_sync t J).
          { rewrite sync_step in E. destruct (may_sync_dec _ _ s J) as [M|]; [|discriminate]. apply may_sync_spec in M. apply may_sync_spec.
            destruct M as [M1 (v & M2 & M3)]. split; [intros w Jw; rewrite Et by auto; auto|]. exists v. rewrite Et; auto. }
          set (t1 := Config (map_all (sync_mem J) (tracked t)) (memory t) (registers t) (map_all (sync_threads J) (rest t))).
          assert (Et1 : step false t (Sync J) = Ok t1).
          { rewrite sync_step. destruct (may_sync_dec _ _ t J); [reflexivity|contradiction]. }
          assert (Ht1 : forall v, of_thread t1 v = sync_threads J v (of_thread t v)).
          { intros v. unfold t1. rewrite of_thread_sync. reflexivity. }
          destruct (IH s1 t1 s' T) as (l' & t' & R' & Hj & Hi); auto.
          { intros v Tv. rewrite Ht1, E1, Et; auto. }
          exists (Sync J :: l'), t'. cbn [run]. rewrite Et1. repeat split; auto. rewrite Hj, Ht1.
          unfold sync_threads. destruct (has J j) eqn:Jj; auto. rewrite (Dv j Jj) in Tj. discriminate.
        * (* It meets a thread that may know: all of the set may know from here on. *)
          assert (exists v, v ∈ J /\ v ∈ T) as (v & Jv & Tv).
          { destruct (N.land J T) as [|p] eqn:L; [congruence|].
            exists (N.to_nat (N.log2 (N.pos p))). unfold has. rewrite Nnat.N2Nat.id.
            assert (B : N.testbit (N.land J T) (N.log2 (N.pos p)) = true) by (rewrite L; apply N.bit_log2; discriminate).
            rewrite N.land_spec in B. apply andb_true_iff in B. auto. }
          assert (OJ := sync_occurs _ _ _ _ E).
          assert (K : exists T', (T' = T \/ (T' = J /\ j ∈ J)) /\ part_of T T' /\ part_of J T').
          { destruct TS as [->|(s0 & S1 & S2 & S3)].
            - assert (Hv : forall w, w ∈ N.setbit 0 (N.of_nat j) -> w = j).
              { intros w Hw. unfold has in Hw. apply N.setbit_iff in Hw. destruct Hw as [Hw|Hw]; [apply Nnat.Nat2N.inj; auto|].
                rewrite N.bits_0 in Hw; discriminate. }
              assert (v = j) by auto. subst v. exists J. split; auto. split; [|intros w; auto].
              intros w Hw. rewrite (Hv w Hw). auto.
            - destruct (S1 J T (S2 _ OJ) S3) as [X|[X|X]].
              + destruct (X v Jv Tv).
              + exists T. split; auto. split; [intros w; auto|exact X].
              + exists J. split; [right; split; auto; apply X; auto|]. split; [exact X|intros w; auto]. }
          destruct K as (T' & K1 & K2 & K3).
          assert (out : forall w, w ∉ T' -> w ∉ T /\ w ∉ J).
          { intros w Hw. split; [destruct (has T w) eqn:Z|destruct (has J w) eqn:Z]; auto; [rewrite (K2 w Z) in Hw|rewrite (K3 w Z) in Hw]; discriminate. }
          apply (IH s1 t s' T'); auto.
          -- intros w Hw. destruct (out w Hw) as [HT HJ]. rewrite E1, Et by auto. unfold sync_threads. rewrite HJ. auto.
          -- destruct K1 as [->|[-> Jj]]; auto. destruct (has J i) eqn:Ji; auto. destruct Fa. cbn. auto.
          -- destruct K1 as [->|[-> Jj]]; auto. right. exists s. repeat split; auto. intros I HI. eapply occurs_step; eauto.
  Qed.

  (** What is tracked says which threads have not met since. *)
  Definition not_met (s : config) i j g w :=
    i ∈ (if w : bool then if Nat.eq_dec (fst (snd (get no_events (tracked s) g))) j then snd (snd (get no_events (tracked s) g)) else 0%N
         else get 0%N (fst (get no_events (tracked s) g)) j).

  Definition untracked (s : config) := tracked s = [].

  Lemma tracked_truly (s0 : config) l : untracked s0 -> forall s, run (step true) s0 l = Ok s ->
    forall i j g w, i <> j -> not_met s i j g w ->
    exists l1 s1 l2, l = l1 ++ Schd j :: l2 /\ run (step true) s0 l1 = Ok s1 /\ access (of_thread s1 j) = Some (g, w) /\
      Forall (fun a => ~ meets_both i j a) l2.
  Proof.
    intros U. induction l as [|a l IH] using rev_ind; intros s R i j g w N M.
    - injection R as <-. exfalso. unfold not_met in M. rewrite U, !get_nil in M. cbn [no_events fst snd] in M.
      destruct w; [destruct (Nat.eq_dec 0 j)|rewrite get_nil in M]; rewrite has_none in M; discriminate M.
    - rewrite run_app in R. destruct (run (step true) s0 l) as [| |s1] eqn:R1; try discriminate.
      cbn in R. destruct (step true s1 a) as [| |s'] eqn:E; try discriminate. injection R as ->.
      assert (old : not_met s1 i j g w -> ~ meets_both i j a -> exists l1 s1 l2, l ++ [a] = l1 ++ Schd j :: l2 /\
        run (step true) s0 l1 = Ok s1 /\ access (of_thread s1 j) = Some (g, w) /\ Forall (fun a => ~ meets_both i j a) l2).
      { intros M1 Na. destruct (IH s1 eq_refl i j g w N M1) as (l1 & t & l2 & -> & Rt & Ac & F).
        exists l1, t, (l2 ++ [a]). rewrite <- app_assoc. repeat split; auto. apply Forall_app; auto. }
      destruct a as [u|J].
      + rewrite schd in E. destruct (runs (of_thread s1 u)); [|discriminate]. destruct (passes_dec _ _ _); [|discriminate]. injection E as <-.
        unfold not_met in M. cbn [tracked] in M. unfold Paper.after in M. cbn [tracked] in M. unfold track in M.
        destruct (access (of_thread s1 u)) as [[g' w']|] eqn:Ac; [|apply old; auto].
        destruct (Nat.eq_dec g' g) as [->|Ng]; [|rewrite get_upd_ne in M by auto; apply old; auto].
        rewrite get_upd_eq in M.
        assert (same : u = j -> w' = w -> exists l1 s1 l2, l ++ [Schd u] = l1 ++ Schd j :: l2 /\
          run (step true) s0 l1 = Ok s1 /\ access (of_thread s1 j) = Some (g, w) /\ Forall (fun a => ~ meets_both i j a) l2).
        { intros -> ->. exists l, s1, []. auto. }
        destruct w, w'; cbn [fst snd] in M; try (apply old; auto; fail).
        * destruct (Nat.eq_dec u j); auto. rewrite has_none in M. discriminate.
        * destruct (Nat.eq_dec u j) as [->|Nu]; auto. rewrite get_upd_ne in M by auto. apply old; auto.
      + rewrite sync_step in E. destruct (may_sync_dec _ _ s1 J); [|discriminate]. injection E as <-.
        unfold not_met in M. cbn [tracked] in M. rewrite get_sync_mem in M. unfold sync_mem in M. cbn [fst snd] in M.
        assert (Q : not_met s1 i j g w /\ ~ meets_both i j (Sync J)).
        { unfold not_met, meets_both. destruct w.
          - unfold sync_wr in M. destruct (snd (get no_events (tracked s1) g)) as [v K]. cbn [fst snd] in *.
            destruct (has J v) eqn:Jv; cbn [fst snd] in M; (destruct (Nat.eq_dec v j) as [->|]; [|rewrite has_none in M; discriminate]).
            + rewrite has_diff in M. apply andb_true_iff in M. destruct M as [M1 M2]. split; auto. intros [F _]. rewrite F in M2. discriminate.
            + split; auto. intros [_ F]. congruence.
          - rewrite get_map_all in M by apply sync_rd_nil. unfold sync_rd in M. destruct (has J j) eqn:Jj.
            + rewrite has_diff in M. apply andb_true_iff in M. destruct M as [M1 M2]. split; auto. intros [F _]. rewrite F in M2. discriminate.
            + split; auto. intros [_ F]. congruence. }
        apply old; apply Q.
  Qed.

  (** A check that fails has met a thread with which the present one has not met. *)
  Lemma failed_check (s : config) i : runs (of_thread s i) = true -> step true s (Schd i) = Bad ->
    exists j g w w', i <> j /\ access (of_thread s i) = Some (g, w) /\ not_met s i j g w' /\ w || w' = true.
  Proof.
    intros Ri H. rewrite schd, Ri in H. destruct (passes_dec _ _ _) as [|P]; [discriminate|]. unfold passes in P.
    destruct (access (of_thread s i)) as [[g w]|]; [|destruct P; exact Logic.I].
    set (x := get no_events (tracked s) g) in *.
    destruct (no_racing_wr_dec i (snd x)) as [W|W].
    - destruct w; [|destruct P; split; [auto|discriminate]].
      assert (Rd : ~ no_racing_rd i (fst x)) by (intros Rd; apply P; auto).
      assert (exists j, i <> j /\ has (get 0%N (fst x) j) i = true) as (j & N & Hj).
      { set (Q j := i <> j -> has (get 0%N (fst x) j) i = false).
        assert (dec : forall j, {Q j} + {~ Q j}).
        { intros j. unfold Q. destruct (Nat.eq_dec i j); [left; congruence|].
          destruct (has (get 0%N (fst x) j) i); [right|left]; auto. intros F. specialize (F n). discriminate. }
        destruct (all_dec Q dec (seq 0 (length (fst x)))) as [A|A].
        - destruct Rd. intros j Nj. destruct (lt_dec j (length (fst x))).
          + rewrite Forall_forall in A. apply A; auto. apply in_seq; lia.
          + unfold get. rewrite nth_overflow by lia. apply has_none.
        - apply neg_Forall_Exists_neg in A; [|exact dec]. apply Exists_exists in A. destruct A as (j & _ & A). exists j.
          unfold Q in A. destruct (Nat.eq_dec i j); [destruct A; congruence|]. split; auto.
          destruct (has (get 0%N (fst x) j) i); auto; destruct A; auto. }
      exists j, g, true, false. repeat split; auto.
    - unfold no_racing_wr in W. exists (fst (snd x)), g, w, true. repeat split; auto.
      + unfold not_met. fold x. destruct (Nat.eq_dec (fst (snd x)) (fst (snd x))); [|congruence].
        destruct (has (snd (snd x)) i) eqn:Hi; auto; destruct W; auto.
      + apply orb_true_r.
  Qed.

  Theorem true_positives (s0 : config) : nested s0 -> untracked s0 -> fails (step true) s0 -> has_data_race s0.
  Proof.
    intros Ns U [l0 F0]. exists s0. split; auto.
    (* The run up to the step that fails. *)
    assert (exists l s i, run (step true) s0 l = Ok s /\ step true s (Schd i) = Bad) as (l & s & i & R & B).
    { clear U Ns. revert s0 F0. induction l0 as [|a l0 IH]; intros s0 F0; [discriminate|]. cbn in F0.
      destruct (step true s0 a) as [| |s1] eqn:E.
      - destruct l0; discriminate.
      - destruct a as [i|J]; [exists [], s0, i; auto|]. rewrite sync_step in E. destruct (may_sync_dec _ _ s0 J); discriminate.
      - destruct (IH s1 F0) as (l & s & i & R & B). exists (a :: l), s, i. cbn. rewrite E. auto. }
    assert (Ri : runs (of_thread s i) = true) by (rewrite schd in B; destruct (runs _); auto; discriminate).
    destruct (failed_check s i Ri B) as (j & g & w & w' & N & Ac & Nm & W).
    destruct (tracked_truly s0 l U s R i j g w' N Nm) as (l1 & s1 & l2 & -> & R1 & Ac1 & F).
    rewrite run_app, R1 in R. cbn [run] in R.
    assert (Rj : runs (of_thread s1 j) = true) by (destruct (of_thread s1 j) as [|[] t]; cbn in Ac1; try discriminate; auto).
    destruct (step true s1 (Schd j)) as [| |s2] eqn:E; [destruct l2; discriminate..|].
    assert (N1 : nested s1) by (eapply (run_ind_ok (step true) nested); [exact Ns|intros; eapply nested_step; eauto|exact R1]).
    assert (T0 : forall v, has (N.setbit 0 (N.of_nat j)) v = (j =? v)).
    { intros v. unfold has. destruct (Nat.eqb_spec j v) as [->|D].
      - apply N.setbit_eq.
      - rewrite N.setbit_neq; [apply N.bits_0|]. intros H. apply D, Nnat.Nat2N.inj; auto. }
    destruct (without_what_comes_after i j l2 N s2 s1 s (N.setbit 0 (N.of_nat j))) as (l' & t & Rt & Tj & Ti); auto.
    - eapply nested_step; eauto.
    - intros v Hv. rewrite T0 in Hv. apply Nat.eqb_neq in Hv. unfold of_thread. rewrite (step_rest _ _ _ _ _ _ _ E). cbn.
      rewrite get_upd_ne; auto.
    - rewrite T0. apply Nat.eqb_refl.
    - rewrite T0. apply Nat.eqb_neq. auto.
    - pose proof (checked_runs_are_unchecked l1 s0 s1 R1) as U1.
      assert (Rl : run (step false) s0 (l1 ++ l') = Ok t) by (rewrite run_app, U1; auto).
      exists (l1 ++ l'), t, i, j. split; auto. split; auto.
      assert (both : forall u v, u <> v -> runs (of_thread t u) = true -> runs (of_thread t v) = true ->
        exists s', run (step false) s0 ((l1 ++ l') ++ [Schd u; Schd v]) = Ok s').
      { intros u v D Ru Rv. rewrite run_app, Rl. cbn [run]. rewrite schd, Ru, schd, after_other, Rv by auto. eauto. }
      rewrite <- Ti in Ri, Ac. rewrite <- Tj in Rj, Ac1.
      split; [|split; apply both; auto].
      unfold conflicting. rewrite Ac, Ac1. auto.
  Qed.

  (** ** Deadlock *)

  Definition deadlocked check (s : config) := final (step check) s /\ exists i, of_thread s i <> [].

  Theorem sound_deadlock_detection (s : config) l d : among s -> run (step true) s l = Ok d -> deadlocked true d ->
    (forall l', run (step true) s l' <> Bad) /\
    (forall l' d', run (step true) s l' = Ok d' -> final (step true) d' -> d' = d) /\
    (run (step false) s l = Ok d /\ deadlocked false d).
  Proof.
    intros A R [F W]. split; [|split; [|split]].
    - intros l'. apply (one_run_for_all (step true) label_dec among (fun s a s' => among_step zero op everybody true s a s')
        (diamond zero op everybody) s l d A R F l').
    - intros l' d' R' F'. apply (ends_agree (step true) label_dec among (fun s a s' => among_step zero op everybody true s a s')
        (diamond zero op everybody) s l d l' d'); auto.
    - apply checked_runs_are_unchecked; auto.
    - split; auto. intros a. apply blocked_alike, F.
  Qed.

  Theorem complete_deadlock_detection (s0 s : config) l d :
    run (step false) s0 l = Ok d -> deadlocked false d -> rest s = rest s0 -> among s ->
    forall l' d', run (step true) s l' = Ok d' -> final (step true) d' -> deadlocked true d'.
  Proof.
    intros R [F (i & W)] E A l' d' R' F'. split; auto.
    destruct (unchecked_alike l s0 s d (eq_sym E) R) as (d2 & R2 & E2).
    assert (F2 : final (step true) d2).
    { intros a. apply blocked_alike. specialize (F a). destruct a as [u|J].
      - rewrite schd in *. assert (of_thread d2 u = of_thread d u) as -> by (unfold of_thread; congruence).
        destruct (runs _); [discriminate|auto].
      - rewrite sync_step in *. destruct (may_sync_dec _ _ d J) as [|M]; [discriminate|].
        destruct (may_sync_dec _ _ d2 J) as [M'|]; auto. destruct M. unfold may_sync, of_thread in *. rewrite E2. auto. }
    destruct (unchecked_runs_are_checked l s d2 R2) as [R3|B].
    - assert (d' = d2) as ->.
      { apply (ends_agree (step true) label_dec among (fun s a s' => among_step zero op everybody true s a s')
          (diamond zero op everybody) s l d2 l' d'); auto. }
      exists i. unfold of_thread in *. rewrite <- E2. auto.
    - exfalso. destruct (one_failure_for_all (step true) label_dec among (fun s a s' => among_step zero op everybody true s a s')
        (diamond zero op everybody) s A B l' d' R') as [m M].
      destruct m as [|a m]; [discriminate|]. cbn in M. rewrite (F' a) in M. destruct m; discriminate.
  Qed.

  (** Two runs that complete, of a program that passes the checks, leave the same. *)
  Theorem completed_runs_agree (s : config) l1 s1 l2 s2 : among s ->
    run (step false) s l1 = Ok s1 -> run (step false) s l2 = Ok s2 ->
    (forall i, of_thread s1 i = []) -> (forall i, of_thread s2 i = []) ->
    (memory s1 = memory s2 /\ registers s1 = registers s2) \/ fails (step true) s.
  Proof.
    intros A R1 R2 C1 C2.
    assert (fin : forall t : config, (forall i, of_thread t i = []) -> final (step true) t).
    { intros t C [u|J]; [rewrite schd, C; auto|]. rewrite sync_step. destruct (may_sync_dec _ _ t J) as [M|]; auto.
      apply may_sync_spec in M. destruct M as [_ (v & _ & M)]. rewrite C in M. destruct M. }
    destruct (unchecked_runs_are_checked l1 s s1 R1) as [T1|]; auto.
    destruct (unchecked_runs_are_checked l2 s s2 R2) as [T2|]; auto. left.
    destruct (ends_agree (step true) label_dec among (fun s a s' => among_step zero op everybody true s a s')
      (diamond zero op everybody) s l1 s1 l2 s2) as [-> _]; auto.
  Qed.
End PaperTheorems.

(** ** Where the paper's statements do not hold as they stand *)

Section Counterexamples.
  Context {value : Type} (zero : value) (op : value -> value -> value).

  Notation "{{ 0 , 1 }}" := 3%N.
  Notation "{{ 1 , 2 }}" := 6%N.
  Notation "{{ 0 , 1 , 2 }}" := 7%N.

  (** Thread 0 meets thread 1, then thread 1 meets thread 2, then thread 2 reads what thread 0 has written. *)
  Definition chain := Config (value := value) [] [] []
    [[WrMem 0 0; SyncOn {{0, 1}}]; [SyncOn {{0, 1}}; SyncOn {{1, 2}}]; [SyncOn {{1, 2}}; RdMem 0 0]].

  Theorem chain_is_reported : fails (step zero op {{0, 1, 2}} true) chain.
  Proof. exists [Schd 0; Sync {{0, 1}}; Sync {{1, 2}}; Schd 2]. vm_compute. reflexivity. Qed.

  (** In every reachable state, the read comes after the write. *)
  Definition chain_states : list (list (list (@statement value))) := [
    [[WrMem 0 0; SyncOn {{0, 1}}]; [SyncOn {{0, 1}}; SyncOn {{1, 2}}]; [SyncOn {{1, 2}}; RdMem 0 0]];
    [[SyncOn {{0, 1}}]; [SyncOn {{0, 1}}; SyncOn {{1, 2}}]; [SyncOn {{1, 2}}; RdMem 0 0]];
    [[]; [SyncOn {{1, 2}}]; [SyncOn {{1, 2}}; RdMem 0 0]];
    [[]; []; [RdMem 0 0]];
    [[]; []; []]].

  Theorem chain_has_no_data_race : ~ has_data_race zero op {{0, 1, 2}} chain.
  Proof.
    intros (s0 & E0 & l & s & i & j & N & R & C & _).
    assert (I : In (rest s) chain_states).
    { apply (run_ind_ok (step zero op {{0, 1, 2}} false) (fun s => In (rest s) chain_states) s0) with (l := l); auto.
      - rewrite E0. left; auto.
      - intros s1 a s2 _ H E. rewrite (step_rest _ _ _ _ _ _ _ E).
        assert (S : match a with Schd u => runs (of_thread s1 u) = true | Sync J => may_sync s1 J end).
        { destruct a as [u|J].
          - rewrite schd in E. destruct (runs _); auto; discriminate.
          - rewrite sync_step in E. destruct (may_sync_dec _ _ s1 J); auto; discriminate. }
        unfold of_thread in S. unfold chain_states in H. cbn [In] in H.
        destruct a as [u|J].
        + destruct H as [H|[H|[H|[H|[H|[]]]]]]; rewrite <- H in *; clear - S;
            destruct u as [|[|[|u]]]; vm_compute in S; try discriminate S; try (destruct u; discriminate S); vm_compute; auto 6.
        + apply may_sync_spec in S. destruct S as [S1 (v & S2 & S3)]. unfold of_thread in *.
          assert (S0 := S1 0). specialize (S1 1).
          destruct H as [H|[H|[H|[H|[H|[]]]]]]; rewrite <- H in *; clear - S0 S1 S2 S3;
            destruct v as [|[|[|v]]]; vm_compute in S3; try contradiction S3; try (destruct v; contradiction S3); subst J;
            vm_compute in S0, S1; try (destruct (S0 eq_refl); [discriminate|contradiction]);
            try (destruct (S1 eq_refl); [discriminate|try contradiction; try discriminate]); vm_compute; auto 6. }
    unfold chain_states in I. cbn [In] in I. unfold of_thread, get in C.
    destruct I as [H|[H|[H|[H|[H|[]]]]]]; rewrite <- H in C; clear - C N;
      destruct i as [|[|[|i]]], j as [|[|[|j]]]; cbn in C; try tauto; try (destruct i; cbn in C; tauto); try (destruct j; cbn in C; tauto).
  Qed.

  (** The lemma of confluence, read as if the common state were never the error: two threads that write one address. *)
  Definition two_writes := Config (value := value) [] [] [] [[WrMem 0 0]; [WrMem 0 0]].

  Theorem confluence_needs_the_error : exists s1 s2,
    step zero op {{0, 1}} true two_writes (Schd 0) = Ok s1 /\ step zero op {{0, 1}} true two_writes (Schd 1) = Ok s2 /\
    ~ exists s', reaches (step zero op {{0, 1}} true) s1 s' /\ reaches (step zero op {{0, 1}} true) s2 s'.
  Proof.
    eexists; eexists. split; [vm_compute; reflexivity|]. split; [vm_compute; reflexivity|].
    intros (s' & [l1 R1] & [l2 R2]).
    assert (stays : forall i t l (s' : @config value), access (of_thread t i) <> None -> ~ passes i (of_thread t i) (tracked t) ->
      (forall j, j <> i -> of_thread t j = []) -> run (step zero op {{0, 1}} true) t l = Ok s' -> s' = t).
    { clear. intros i t l s' Ac P O R. destruct l as [|a l]; [injection R; auto|]. exfalso. cbn [run] in R.
      destruct a as [u|J].
      - rewrite schd in R. destruct (Nat.eq_dec u i) as [->|D].
        + destruct (runs (of_thread t i)); [destruct (passes_dec _ _ _); [contradiction|]|]; destruct l; discriminate.
        + rewrite O in R by auto. cbn in R. destruct l; discriminate.
      - rewrite sync_step in R. destruct (may_sync_dec _ _ t J) as [M|]; [|destruct l; discriminate].
        apply may_sync_spec in M. destruct M as [_ (v & _ & M)]. destruct (Nat.eq_dec v i) as [->|D]; [|rewrite O in M by auto; destruct M].
        destruct (of_thread t i) as [|[] ?]; cbn in M, Ac; tauto. }
    apply (stays 1) in R1. apply (stays 0) in R2.
    - subst. discriminate.
    - discriminate.
    - intros [P _]. vm_compute in P. destruct P; discriminate.
    - intros [|[|[|j]]] H; try reflexivity; try congruence; destruct j; reflexivity.
    - discriminate.
    - intros [P _]. vm_compute in P. destruct P; discriminate.
    - intros [|[|[|j]]] H; try reflexivity; try congruence; destruct j; reflexivity.
  Qed.
End Counterexamples.
