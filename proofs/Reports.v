(** Reports of races are true (rules Y1, Y2).

    A checked run is about to make an access that conflicts with an earlier one, which its agent does not know. Then the
    relaxed system has a run to a state in which both accesses are next: the checked run without everything that comes
    after the earlier access.

    This needs one premise: no arrival is [Alone]. The end of a bulk copy passes on the copy, and not what the thread
    that started it had done (rule Y11), although that came earlier in time; no interleaving of steps shows the difference. *)
From Volta Require Import Maps Diamond Model Commute Checked Schedules History Relaxed.

Section Reports.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds true).
  Notation event_at := (event_at program).
  Notation arrives := (arrives program).
  Notation awaits := (awaits program).
  Notation before := (before program).
  Notation good := (good program).
  Notation relaxed_step := (relaxed_step zero compute update program).

  Definition alone e := match e with Arrive _ Alone | Deliver _ Alone => true | _ => false end.

  Hypothesis no_alone : forall c p o e, event_at c p = Some (Sync o e) -> alone e = false.

  (** Nothing that is passed on is lost. *)
  Record kept (s : state) : Prop := {
    own_kept : forall c p n k, logged s c p n k -> at_ (known k) c = S p;
    last_kept : forall c p n k n' k', logged s c p n k -> logged s c (S p) n' k' -> within (known k) (known k');
    wait_kept : forall c p j k o, logged s c p (S j) k -> awaits c p o -> within (known (get nothing (ends (object_of s o)) j)) (known k);
    arrival_kept : forall d q n k o, logged s d q n k -> arrives d q o ->
      n <= phase (object_of s o) /\
      within (known k) (known (if n =? phase (object_of s o) then passed (object_of s o) else get nothing (ends (object_of s o)) n))
  }.

  Lemma within_refl a : within a a.
  Proof. intros i; auto. Qed.

  Lemma within_trans a b c : within a b -> within b c -> within a c.
  Proof. intros A B i. specialize (A i); specialize (B i). lia. Qed.

  Lemma within_join_l a b : within a (join a b).
  Proof. intros i. rewrite at_join. lia. Qed.

  Lemma within_join_r a b : within b (join a b).
  Proof. intros i. rewrite at_join. lia. Qed.

  Lemma within_after_event c p k l : within k (known l) -> at_ k c <= S p -> within k (known (after_event c p l)).
  Proof.
    intros A B i. cbn. destruct (Nat.eq_dec c i) as [<-|N]; [rewrite get_upd_eq; auto|rewrite get_upd_ne by auto; apply A].
  Qed.

  Lemma kept_start mem : kept (start mem).
  Proof.
    assert (N : forall c p n k, ~ logged (start mem) c p n k).
    { intros c p n k. unfold logged, agent_of; cbn. rewrite get_nil. destruct p; discriminate. }
    constructor; intros; exfalso; eapply N; eauto.
  Qed.

  Lemma kept_step (s : state) l s' : good s -> kept s -> step s l = Ok s' -> kept s'.
  Proof.
    intros ([B EC] & _ & Hs) K H. destruct l as [c|o].
    - destruct (act_summary _ _ _ _ _ s c s' H) as (ev & n0 & k0 & N & D & L & W & E). rewrite event_at_next in N.
      set (k1 := after_event c (place s c) k0) in *.
      pose proof (logged_act s c s' n0 k1 D L) as LA.
      assert (Ph : forall o, phase (object_of s' o) = phase (object_of s o) /\ ends (object_of s' o) = ends (object_of s o)
                     /\ within (known (passed (object_of s o))) (known (passed (object_of s' o)))).
      { intros o. destruct ev as [x xa|o' e|].
        - destruct E as (_ & _ & E). unfold object_of. rewrite E. auto using within_refl.
        - destruct E as (_ & _ & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [|rewrite E' by auto; auto using within_refl].
          rewrite E. destruct (take_part_phase c (place s c) e k1 (object_of s o')). repeat split; auto.
          destruct e; cbn [take_part passed learn known]; auto using within_refl, within_join_l.
        - destruct E as (_ & E). unfold object_of. rewrite E. auto using within_refl. }
      assert (Kn : within (known (now (agent_of s c))) (known k0)).
      { destruct ev as [x xa|o e|]; destruct E as (-> & _); auto using within_refl.
        unfold learned. destruct (waits_for e); auto using within_refl. apply within_join_l. }
      constructor.
      + intros d p n k Hl. apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)]; [eapply own_kept; eauto|].
        unfold k1; cbn. apply get_upd_eq.
      + intros d p n k n' k' Hl Hl'. apply LA in Hl, Hl'.
        destruct Hl as [Hl|(Ed0 & Ep0 & -> & ->)], Hl' as [Hl'|(Ed & Ep & -> & ->)]; subst.
        * eapply last_kept; eauto.
        * pose proof (of_now _ s Hs c) as F. rewrite <- Ep in F. destruct F as [m F].
          destruct (logged_same _ _ _ _ _ _ _ Hl F) as [_ ->].
          apply within_after_event; auto. destruct B as [B _]. destruct (B c) as [B' _]. specialize (B' c). lia.
        * apply logged_place in Hl'. lia.
        * lia.
      + intros d p j k o Hl Aw. destruct (Ph o) as (_ & -> & _). apply LA in Hl. destruct Hl as [Hl|(-> & -> & <- & ->)]; [eapply wait_kept; eauto|].
        destruct Aw as (e & Ee & We). rewrite N in Ee. injection Ee as ->. destruct E as (E0 & En & _).
        assert (KH : known_happened s (get nothing (ends (object_of s o)) j)) by apply (end_of_happened s o (S j) B).
        apply within_after_event.
        * rewrite E0. unfold learned. rewrite We, <- En. cbn. apply within_join_r.
        * destruct KH as [KH _]. specialize (KH c). lia.
      + intros d q n k o Hl Ar. destruct (Ph o) as (-> & -> & Wp). apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)].
        * destruct (arrival_kept s K d q n k o Hl Ar) as [L1 L2]. split; auto.
          destruct (n =? phase (object_of s o)); auto. eapply within_trans; eauto.
        * destruct Ar as (e & Ee & Pe). rewrite N in Ee. injection Ee as ->. destruct E as (E0 & En & _ & E & _).
          assert (n0 = phase (object_of s o)) as Hn by (destruct e; try discriminate Pe; auto).
          rewrite Hn, Nat.eqb_refl. split; auto. rewrite E.
          pose proof (no_alone _ _ _ _ N) as NA.
          destruct e as [m []|b|b []|j|p|q]; try discriminate Pe; try discriminate NA; cbn [take_part passed passes learn known]; apply within_join_r.
    - destruct (end_summary _ _ _ _ _ s o s' H) as (E & E' & E'').
      assert (LA : forall c p n k, logged s' c p n k <-> logged s c p n k) by (intros; unfold logged, agent_of; rewrite E; tauto).
      constructor.
      + intros c p n k Hl. apply LA in Hl. eapply own_kept; eauto.
      + intros c p n k n' k' Hl Hl'. apply LA in Hl, Hl'. eapply last_kept; eauto.
      + intros c p j k o' Hl Aw. apply LA in Hl. pose proof (wait_kept s K c p j k o' Hl Aw) as W.
        destruct (Nat.eq_dec o' o) as [->|No]; [|rewrite E'' by auto; auto].
        rewrite E'. cbn [ended ends]. pose proof (of_wait _ s Hs c p _ k o Hl Aw). rewrite get_app1; auto. rewrite (EC o). lia.
      + intros d q n k o' Hl Ar. apply LA in Hl. destruct (arrival_kept s K d q n k o' Hl Ar) as [L1 L2].
        destruct (Nat.eq_dec o' o) as [->|No]; [|rewrite E'' by auto; auto].
        rewrite E'. cbn [ended phase ends]. split; [lia|].
        destruct (Nat.eqb_spec n (S (phase (object_of s o)))); [lia|].
        destruct (Nat.eqb_spec n (phase (object_of s o))) as [->|Nn].
        * rewrite get_app2 by (rewrite (EC o); auto). rewrite (EC o), Nat.sub_diag. exact L2.
        * rewrite get_app1 by (rewrite (EC o); lia). exact L2.
  Qed.

  Lemma kept_run l : forall s t, good s -> kept s -> run step s l = Ok t -> kept t.
  Proof.
    induction l as [|a l IH]; cbn; intros s t G K H; [congruence|].
    destruct (step s a) eqn:E; [destruct l; discriminate..|]. eapply IH; [..|exact H].
    - eapply good_step; eauto.
    - eapply kept_step; eauto.
  Qed.

  (** ** The run without what knows the earlier access *)

  Section Earlier.
    Variables (t : state) (a i : nat).
    Hypothesis (Gt : good t) (Kt : kept t).

    (** Event [p] of [c] comes after event [i] of [a], or is that event. *)
    Definition knows c p := exists n k, logged t c p n k /\ i < at_ (known k) a.

    Lemma knows_later c p q : knows c p -> p <= q -> q < place t c -> knows c q.
    Proof.
      intros Kp L. induction L as [|q L IH]; auto. intros Lq.
      destruct (IH ltac:(lia)) as (n & k & Hl & Hi). destruct (logged_exists t c (S q) Lq) as (n' & k' & Hl').
      exists n', k'. split; auto. pose proof (last_kept t Kt _ _ _ _ _ _ Hl Hl' a). lia.
    Qed.

    Lemma knows_over_a_wait c p d q : before t c p d q -> knows d q -> knows c p.
    Proof.
      intros (o & j & k & k' & Aw & Hl & Ar & Hl') (n & k2 & Hl2 & Hi).
      destruct (logged_same _ _ _ _ _ _ _ Hl' Hl2) as [<- <-].
      destruct Gt as (_ & _ & Hs). pose proof (of_wait _ t Hs c p _ k o Hl Aw).
      destruct (arrival_kept t Kt d q j k' o Hl' Ar) as [_ W1].
      destruct (Nat.eqb_spec j (phase (object_of t o))); [lia|].
      pose proof (wait_kept t Kt c p j k o Hl Aw a). specialize (W1 a). exists (S j), k. split; auto. lia.
    Qed.

    Definition follows (s : state) (r : @relaxed value) :=
      forall d, pos r d <= place s d /\ (forall p, p < pos r d -> ~ knows d p) /\ (pos r d < place s d -> knows d (pos r d)).

    Lemma without_what_knows l : forall s r, good s -> run step s l = Ok t -> follows s r ->
      exists l' r', run (relaxed_step t) r l' = Ok r' /\ follows t r'.
    Proof.
      induction l as [|b l IH]; cbn; intros s r G H F.
      - injection H as ->. exists [], r; auto.
      - destruct (step s b) as [| |s'] eqn:E; [destruct l; discriminate..|].
        assert (G' := good_step _ _ _ _ _ _ _ _ G E). pose proof (later_run _ _ _ _ _ _ _ _ H) as Lt.
        destruct (step_place _ _ _ _ _ _ _ _ _ E) as [P _].
        destruct b as [c|o].
        2: { apply (IH s' r G' H). intros d. rewrite P. apply F. }
        assert (Lc : place s c < place s' c) by (rewrite P; destruct (Nat.eq_dec c c); [lia|congruence]).
        assert (Lt' : place s c < place t c).
        { destruct (logged_exists s' c (place s c) Lc) as (n & k & Hl). destruct Lt as [A _]. eapply logged_place, A, Hl. }
        destruct (Nat.eq_dec (pos r c) (place s c)) as [Ec|Nc].
        + destruct (logged_exists t c (place s c) Lt') as (n & k & Hl).
          destruct (lt_dec i (at_ (known k) a)) as [Ki|Ki].
          * (* It knows: it is left out, and so is all that its agent does from here on. *)
            apply (IH s' r G' H). intros d. destruct (F d) as (F1 & F2 & F3). rewrite P. destruct (Nat.eq_dec d c) as [->|Nd]; auto.
            repeat split; auto. intros _. rewrite Ec. exists n, k; auto.
          * assert (Nk : ~ knows c (place s c)).
            { intros (n' & k' & Hl' & Hi). destruct (logged_same _ _ _ _ _ _ _ Hl Hl') as [-> ->]. auto. }
            assert (R : relaxed_step t r c = Ok (advance zero compute update program r c)).
            { apply relaxed_step_ok; [lia|]. intros d q Bf. rewrite Ec in Bf.
              pose proof (waits_are_over _ _ _ _ _ _ _ _ _ _ _ G E Lt Bf) as Lq.
              destruct (lt_dec q (pos r d)) as [|Nq]; auto. exfalso. apply Nk. eapply knows_over_a_wait; eauto.
              destruct (F d) as (_ & _ & F3). apply (knows_later d (pos r d)); [apply F3; lia|lia|].
              destruct Bf as (? & ? & ? & ? & _ & _ & _ & Bf). eapply logged_place; eauto. }
            destruct (IH s' (advance zero compute update program r c) G' H) as (l' & r' & R' & F').
            { intros d. rewrite pos_advance, P. destruct (F d) as (F1 & F2 & F3). destruct (Nat.eq_dec d c) as [->|Nd]; auto.
              rewrite Ec. split; [auto|split; [|lia]]. intros p Lp. destruct (Nat.eq_dec p (place s c)) as [->|Np]; auto. apply F2. lia. }
            exists (c :: l'), r'. cbn. rewrite R. auto.
        + apply (IH s' r G' H). intros d. destruct (F d) as (F1 & F2 & F3). rewrite P. destruct (Nat.eq_dec d c) as [->|Nd]; auto.
          split; [lia|split; auto]. intros _. apply F3. lia.
    Qed.
  End Earlier.

  (** ** Reports are true

      After a checked run, the next access of [c] conflicts with an earlier access of [a] that [c] does not know. Then the
      relaxed system reaches a state in which both are next, and an access waits for nothing. *)
  Theorem reported_races_are_races mem l t c a i x xa y ya :
    run step (start mem) l = Ok t ->
    c <> a -> i < place t a -> event_at a i = Some (Do y ya) -> next program t c = Some (Do x xa) -> conflict y x = true ->
    ~ i < at_ (known (now (agent_of t c))) a ->
    exists l' r, run (relaxed_step t) (relaxed_start mem) l' = Ok r /\
      event_at a (pos r a) = Some (Do y ya) /\ event_at c (pos r c) = Some (Do x xa).
  Proof.
    intros H N Li Ey Ex C Nk. rewrite event_at_next in Ex.
    assert (G := good_run _ _ _ _ _ _ _ _ (good_start _ mem) H).
    assert (K := kept_run _ _ _ (good_start _ mem) (kept_start mem) H).
    assert (F0 : follows t a i (start mem) (relaxed_start mem)).
    { intros d. unfold pos, place, agent_of; cbn. rewrite !get_nil. cbn. repeat split; intros; lia. }
    destruct (without_what_knows t a i G K l _ _ (good_start _ mem) H F0) as (l' & r & R & F).
    exists l', r. split; auto.
    destruct G as ([B _] & PK & Hs). split.
    - destruct (F a) as (F1 & F2 & F3).
      assert (knows t a i a i).
      { destruct (logged_exists t a i Li) as (n & k & Hl). exists n, k. split; auto. rewrite (own_kept t K _ _ _ _ Hl). lia. }
      assert (L1 : pos r a <= i) by (destruct (le_dec (pos r a) i); auto; destruct (F2 i ltac:(lia)); auto).
      destruct (Nat.eq_dec (pos r a) i) as [->|Ni]; auto.
      destruct F3 as (n & k & Hl & Hi); [lia|]. rewrite (own_kept t K _ _ _ _ Hl) in Hi. lia.
    - destruct (F c) as (F1 & F2 & F3).
      destruct (Nat.eq_dec (pos r c) (place t c)) as [->|Nc]; auto. exfalso. apply Nk.
      assert (L : pos r c < place t c) by lia. specialize (F3 L).
      pose proof (of_now _ t Hs c) as W. destruct (place t c) as [|p] eqn:Ep; [lia|]. destruct W as [n W].
      destruct (knows_later t a i K c (pos r c) p F3) as (n' & k & Hl & Hi); try lia.
      destruct (logged_same _ _ _ _ _ _ _ W Hl) as [_ ->]. auto.
  Qed.

  (** ** What a failed check says *)

  Lemma a_race_is_found (t : state) c x xa : ~ no_race program t c x xa ->
    exists a i, a <> c /\ i < place t a /\ ~ ordered program (now (agent_of t c)) x xa a i.
  Proof.
    intros R.
    set (P a := a <> c -> Forall (ordered program (now (agent_of t c)) x xa a) (seq 0 (place t a))).
    assert (dec : forall a, {P a} + {~ P a}).
    { intros a. unfold P. destruct (Nat.eq_dec a c) as [->|N]; [left; congruence|].
      destruct (all_dec _ (ordered_dec program (now (agent_of t c)) x xa a) (seq 0 (place t a))); [left|right]; auto. }
    destruct (all_dec P dec (seq 0 (length (agents t)))) as [F|F].
    - exfalso. apply R. intros a N i Li. rewrite Forall_forall in F.
      assert (L : a < length (agents t)).
      { destruct (lt_dec a (length (agents t))); auto. exfalso. revert Li. unfold place, agent_of, get.
        rewrite nth_overflow by lia. cbn; lia. }
      specialize (F a ltac:(apply in_seq; lia) N). rewrite Forall_forall in F. apply F, in_seq. lia.
    - apply neg_Forall_Exists_neg in F; [|exact dec]. apply Exists_exists in F. destruct F as (a & _ & F).
      unfold P in F. destruct (Nat.eq_dec a c) as [->|N]; [destruct F; congruence|].
      destruct (all_dec _ (ordered_dec program (now (agent_of t c)) x xa a) (seq 0 (place t a))) as [F'|F']; [destruct F; auto|].
      apply neg_Forall_Exists_neg in F'; [|apply ordered_dec]. apply Exists_exists in F'. destruct F' as (i & Hi & F').
      apply in_seq in Hi. exists a, i. repeat split; auto. lia.
  Qed.

  (** A check that fails at an access by the generic proxy shows a race of the relaxed system. *)
  Corollary failed_checks_of_accesses_are_races mem l t c x :
    run step (start mem) l = Ok t -> next program t c = Some (Do x false) -> step t (Act c) = Bad ->
    exists l' r a y ya, run (relaxed_step t) (relaxed_start mem) l' = Ok r /\ a <> c /\ conflict y x = true /\
      event_at a (pos r a) = Some (Do y ya) /\ event_at c (pos r c) = Some (Do x false).
  Proof.
    intros H Nx Bd. cbn in Bd. unfold act in Bd. rewrite Nx in Bd.
    destruct (no_race_dec program t c x false) as [|R]; [discriminate|].
    destruct (a_race_is_found t c x false R) as (a & i & N & Li & O).
    destruct (event_at a i) as [[y ya| |]|] eqn:Ey.
    2-4: destruct O; intros y ya Hy; unfold History.event_at in Ey; congruence.
    destruct (conflict y x) eqn:C.
    2: { destruct O. intros y' ya' Hy Cy. unfold History.event_at in Ey. congruence. }
    assert (Nk : ~ i < at_ (known (now (agent_of t c))) a).
    { intros L. apply O. intros y' ya' Hy Cy. cbn. exact L. }
    destruct (reported_races_are_races mem l t c a i x false y ya H (not_eq_sym N) Li Ey Nx C Nk) as (l' & r & ? & ? & ?).
    exists l', r, a, y, ya. auto.
  Qed.
End Reports.
