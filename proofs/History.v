(** What a checked run leaves in its logs: happens-before, and what the clocks say of it. *)
From Volta Require Import Maps Diamond Model Commute Checked.

Section History.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds true).
  Notation next := (next program).
  Notation end_phase := (@end_phase value program kinds).

  Definition logged (s : state) c p n k := nth_error (log (agent_of s c)) p = Some (n, k).
  Definition event_at c p := nth_error (events program c) p.

  (** Arrivals that pass on what their agent has done. *)
  Definition passes_on e := match e with Arrive _ Relaxed | Deliver _ Relaxed => false | Arrive _ _ | Deliver _ _ => true | _ => false end.

  Definition arrives d q o := exists e, event_at d q = Some (Sync o e) /\ passes_on e = true.
  Definition awaits c p o := exists e, event_at c p = Some (Sync o e) /\ waits_for e = true.

  (** Event [q] of [d] is an arrival in the phase for whose end event [p] of [c] waited. *)
  Definition before s c p d q :=
    exists o j k k', awaits c p o /\ logged s c p (S j) k /\ arrives d q o /\ logged s d q j k'.

  (** ** Steps, in terms of logs *)

  Lemma act_summary (s : state) c s' : step s (Act c) = Ok s' ->
    exists ev n k0, next s c = Some ev /\ (forall d, d <> c -> agent_of s' d = agent_of s d) /\
      log (agent_of s' c) = log (agent_of s c) ++ [(n, after_event c (place s c) k0)] /\
      now (agent_of s' c) = after_event c (place s c) k0 /\
      match ev with
      | Do x xa => k0 = now (agent_of s c) /\ no_race program s c x xa /\ objects s' = objects s
      | Fence => k0 = fence (agent_of s c) /\ objects s' = objects s
      | Sync o e => k0 = learned e (agent_of s c) (object_of s o) /\ n = number e (agent_of s c) (object_of s o) /\
          (waits_for e = true -> n <= phase (object_of s o)) /\
          object_of s' o = take_part c (place s c) e (after_event c (place s c) k0) (object_of s o) /\
          (forall o', o' <> o -> object_of s' o' = object_of s o')
      end.
  Proof.
    intros H. apply step_changes in H. inversion H as [c' x xa N R|c' N|c' o e ag' N M E|]; subst.
    - do 3 eexists. split; [exact N|]. split; [intros; apply agent_of_upd_ne; auto|]. rewrite agent_of_upd. cbn.
      repeat split; auto.
    - do 3 eexists. split; [exact N|]. split; [intros; apply agent_of_upd_ne; auto|]. rewrite agent_of_upd. cbn.
      repeat split; auto.
    - do 3 eexists. split; [exact N|]. split; [intros; apply agent_of_upd_ne; auto|]. rewrite agent_of_upd. cbn.
      repeat split; auto.
      + intros W. revert M. unfold may, may_pass_parity. destruct e; try discriminate W; cbn [number];
          repeat match goal with |- context [if ?c then _ else _] => destruct c end; try discriminate; lia.
      + rewrite object_of_upd. reflexivity.
      + intros o' D. apply object_of_upd_ne; auto.
  Qed.

  (** An object after the end of a phase, since returning orders nothing. *)
  Definition ended o ob :=
    Object (S (phase ob)) 0 0 [] (bytes ob) [] [] nothing []
      (ends ob ++ [Know (known (passed ob)) (past (passed ob)) (upd 0 (over (passed ob)) o (S (phase ob))) (published (passed ob))]).

  Lemma end_summary (s : state) o s' : step s (End o) = Ok s' ->
    agents s' = agents s /\ object_of s' o = ended o (object_of s o) /\
    (forall o', o' <> o -> object_of s' o' = object_of s o').
  Proof.
    intros H. apply step_changes in H. inversion H; subst. repeat split.
    - rewrite object_of_upd. unfold Model.end_phase, released. rewrite returning_orders_nothing. reflexivity.
    - intros o' D. apply object_of_upd_ne; auto.
  Qed.

  Lemma logged_act (s : state) c (s' : state) n0 k0 : (forall d, d <> c -> agent_of s' d = agent_of s d) ->
    log (agent_of s' c) = log (agent_of s c) ++ [(n0, k0)] ->
    forall d p n k, logged s' d p n k <-> logged s d p n k \/ (d = c /\ p = place s c /\ n = n0 /\ k = k0).
  Proof.
    intros A L d p n k. unfold logged. destruct (Nat.eq_dec d c) as [->|N].
    - rewrite L, nth_error_snoc. unfold place. destruct (Nat.eqb_spec p (length (log (agent_of s c)))) as [->|D].
      + rewrite (proj2 (nth_error_None _ _) (le_n _)). split; [intros [= <- <-]; auto|]. intros [[=]|(_ & _ & -> & ->)]; auto.
      + split; auto. intros [H|(_ & D' & _)]; auto; congruence.
    - rewrite A by auto. split; auto. intros [H|(D & _)]; auto; congruence.
  Qed.

  Lemma logged_place (s : state) c p n k : logged s c p n k -> p < place s c.
  Proof. intros H. apply nth_error_Some. unfold logged in H. congruence. Qed.

  Lemma logged_exists (s : state) c p : p < place s c -> exists n k, logged s c p n k.
  Proof.
    intros H. unfold logged. destruct (nth_error (log (agent_of s c)) p) as [[n k]|] eqn:E; eauto.
    apply nth_error_None in E. unfold place in H. lia.
  Qed.

  Lemma logged_same s c p n k n' k' : logged s c p n k -> logged s c p n' k' -> n = n' /\ k = k'.
  Proof. unfold logged. intros -> [= -> ->]; auto. Qed.

  Lemma event_at_next (s : state) c : next s c = event_at c (place s c).
  Proof. reflexivity. Qed.

  (** ** The invariant of checked runs *)

  Record history (s : state) : Prop := {
    of_now : forall c, match place s c with 0 => now (agent_of s c) = nothing | S p => exists n, logged s c p n (now (agent_of s c)) end;
    of_passed : forall o a i, i < at_ (known (passed (object_of s o))) a ->
      exists d q k, arrives d q o /\ logged s d q (phase (object_of s o)) k /\ i < at_ (known k) a;
    of_ends : forall o j a i, i < at_ (known (get nothing (ends (object_of s o)) j)) a ->
      exists d q k, arrives d q o /\ logged s d q j k /\ i < at_ (known k) a;
    (** Knowledge has a source: the event itself, the event before it, or an arrival that was waited for. *)
    of_entry : forall c p n k, logged s c p n k -> forall a i, i < at_ (known k) a ->
      (a = c /\ i <= p) \/
      (exists p' n' k', p = S p' /\ logged s c p' n' k' /\ i < at_ (known k') a) \/
      (exists o j d q k', awaits c p o /\ n = S j /\ arrives d q o /\ logged s d q j k' /\ i < at_ (known k') a);
    of_wait : forall c p n k o, logged s c p n k -> awaits c p o -> n <= phase (object_of s o);
    of_place : forall c, place s c <= length (events program c);
    (** Of two conflicting accesses, one is known to the agent of the other. *)
    of_races : forall c p d q x xa y ya, c <> d -> p < place s c -> q < place s d ->
      event_at c p = Some (Do x xa) -> event_at d q = Some (Do y ya) -> conflict x y = true ->
      (exists n k, logged s c p n k /\ q < at_ (known k) d) \/ (exists n k, logged s d q n k /\ p < at_ (known k) c)
  }.

  Definition published_known k := forall a, at_ (published k) a <= at_ (known k) a.

  Definition all_published_known (s : state) :=
    (forall c, published_known (now (agent_of s c))) /\
    (forall o, published_known (passed (object_of s o)) /\ forall j, published_known (get nothing (ends (object_of s o)) j)).

  Lemma published_known_learn k l : published_known k -> published_known l -> published_known (learn k l).
  Proof. intros A B a. cbn. rewrite !at_join. specialize (A a); specialize (B a). lia. Qed.

  Lemma published_known_nothing : published_known nothing.
  Proof. intros a; cbn. lia. Qed.

  Lemma published_known_after c p k : published_known k -> at_ (known k) c <= S p -> at_ (published k) c <= p ->
    published_known (after_event c p k).
  Proof. intros A _ L a. cbn. destruct (Nat.eq_dec c a) as [<-|N]; [rewrite get_upd_eq; lia|rewrite get_upd_ne by auto; apply A]. Qed.

  Lemma published_known_passes how c k : published_known k -> published_known (passes how c k).
  Proof. intros A. destruct how; auto; intros a; cbn; rewrite get_nil; lia. Qed.

  Lemma published_known_step (s : state) l s' : bounded s -> all_published_known s -> step s l = Ok s' -> all_published_known s'.
  Proof.
    intros B [A O] H. destruct l as [c|o].
    - destruct (act_summary s c s' H) as (ev & n & k0 & N & D & L & W & E).
      assert (K : known_happened s k0 /\ published_known k0).
      { destruct ev as [x xa|o e|].
        - destruct E as (-> & _). split; auto. apply B.
        - destruct E as (-> & _). unfold learned. destruct (waits_for e); [|split; auto; apply B]. split.
          + apply learn_happened; [apply B|]. apply end_of_happened; auto.
          + apply published_known_learn; auto. destruct (number e _ _); [apply published_known_nothing|]. apply O.
        - destruct E as (-> & _). split; [apply fence_happened, B|]. intros a. unfold fence; cbn. rewrite at_join. specialize (A c a). lia. }
      destruct K as [[K _] K0]. specialize (K c).
      assert (K' : published_known (after_event c (place s c) k0)) by (apply published_known_after; auto; lia).
      split.
      + intros d. destruct (Nat.eq_dec d c) as [->|Nd]; [rewrite W; auto|rewrite D by auto; auto].
      + destruct ev as [x xa|o e|].
        * destruct E as (_ & _ & E). unfold object_of. rewrite E. apply O.
        * destruct E as (_ & _ & _ & E & E'). intros o'. destruct (Nat.eq_dec o' o) as [->|No]; [|rewrite E' by auto; apply O].
          rewrite E. destruct (O o) as [O1 O2]. destruct e; cbn [take_part passed ends]; split; auto;
            apply published_known_learn; auto; apply published_known_passes; auto.
        * destruct E as (_ & E). unfold object_of. rewrite E. apply O.
    - destruct (end_summary s o s' H) as (E & E' & E''). split.
      + intros c. unfold agent_of. rewrite E. apply A.
      + intros o'. destruct (Nat.eq_dec o' o) as [->|No]; [|rewrite E'' by auto; apply O].
        rewrite E'. destruct (O o) as [O1 O2]. cbn. split; [apply published_known_nothing|].
        intros j. unfold get. destruct (lt_dec j (length (ends (object_of s o)))).
        * rewrite app_nth1 by auto. apply O2.
        * rewrite app_nth2 by lia. destruct (j - _) as [|[|m]]; cbn; auto using published_known_nothing.
  Qed.

  (** Knowledge that an arrival passes on is that of the arrival. *)
  Lemma passes_known how c p k a i : i < at_ (known (passes how c (after_event c p k))) a ->
    how <> Relaxed /\ i < at_ (known (after_event c p k)) a.
  Proof.
    intros H. split; [intros ->; cbn in H; rewrite get_nil in H; lia|].
    destruct how; cbn in *; auto; try (rewrite get_nil in H; lia);
      (destruct (Nat.eq_dec c a) as [<-|N]; [rewrite get_upd_eq in H; auto|rewrite (get_upd_ne 0 []), get_nil in H by auto; lia]).
  Qed.

  Lemma history_step (s : state) l s' : bounded s -> ends_counted s -> all_published_known s -> history s -> step s l = Ok s' -> history s'.
  Proof.
    intros B EC PK Hs H. destruct l as [c|o].
    - destruct (act_summary s c s' H) as (ev & n0 & k0 & N & D & L & W & E).
      set (k1 := after_event c (place s c) k0) in *.
      pose proof (logged_act s c s' n0 k1 D L) as LA.
      assert (old : forall d p n k, logged s d p n k -> logged s' d p n k) by (intros; apply LA; auto).
      assert (Pc : place s' c = S (place s c)).
      { unfold place. rewrite L, app_length. cbn. lia. }
      assert (Pd : forall d, d <> c -> place s' d = place s d).
      { intros d Nd. unfold place. rewrite D; auto. }
      assert (new : logged s' c (place s c) n0 k1) by (apply LA; auto).
      assert (Ph : forall o, phase (object_of s' o) = phase (object_of s o) /\ ends (object_of s' o) = ends (object_of s o)).
      { intros o. destruct ev as [x xa|o' e|].
        - destruct E as (_ & _ & E). unfold object_of. rewrite E. auto.
        - destruct E as (_ & _ & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [rewrite E; apply take_part_phase|rewrite E' by auto; auto].
        - destruct E as (_ & E). unfold object_of. rewrite E. auto. }
      assert (from_now : forall a i, i < at_ (known (now (agent_of s c))) a ->
        exists p' n' k', place s c = S p' /\ logged s c p' n' k' /\ i < at_ (known k') a).
      { intros a i Hi. pose proof (of_now s Hs c) as F. destruct (place s c) as [|p']; [rewrite F in Hi; cbn in Hi; rewrite get_nil in Hi; lia|].
        destruct F as [n' F]. eauto 6. }
      constructor.
      + intros d. destruct (Nat.eq_dec d c) as [->|Nd].
        * rewrite Pc, W. eauto.
        * rewrite Pd, D by auto. pose proof (of_now s Hs d) as F. destruct (place s d); auto. destruct F as [m F]. eauto.
      + intros o a i Hi. destruct (Ph o) as [-> _].
        assert (keep : i < at_ (known (passed (object_of s o))) a -> exists d q k, arrives d q o /\ logged s' d q (phase (object_of s o)) k /\ i < at_ (known k) a).
        { intros Hi'. destruct (of_passed s Hs o a i Hi') as (d & q & k & ? & ? & ?). eauto 7. }
        destruct ev as [x xa|o' e|].
        * destruct E as (_ & _ & E). unfold object_of in Hi. rewrite E in Hi. auto.
        * destruct E as (E0 & En & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [|rewrite E' in Hi by auto; auto].
          rewrite E in Hi. rewrite event_at_next in N.
          destruct e as [m h|b|b h|j|p|q]; cbn [take_part passed] in Hi; auto;
            cbn [learn known] in Hi; rewrite at_join in Hi;
            destruct (lt_dec i (at_ (known (passed (object_of s o'))) a)) as [Hi'|Hi']; auto;
            (destruct (passes_known h c (place s c) k0 a i) as [Hh Hk]; [fold k1; lia|]);
            exists c, (place s c), k1; (split; [|split; auto; subst n0; auto]);
            (eexists; split; [exact N|]); destruct h; cbn; congruence.
        * destruct E as (_ & E). unfold object_of in Hi. rewrite E in Hi. auto.
      + intros o j a i Hi. destruct (Ph o) as [_ Eo]. rewrite Eo in Hi.
        destruct (of_ends s Hs o j a i Hi) as (d & q & k & ? & ? & ?). eauto 7.
      + intros d p n k Hl a i Hi. apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)].
        * destruct (of_entry s Hs d p n k Hl a i Hi) as [X|[(p' & n' & k' & ? & ? & ?)|(o & j & d' & q & k' & ? & ? & ? & ? & ?)]]; auto.
          -- right; left. eauto 7.
          -- right; right. exists o, j, d', q, k'. eauto 6.
        * unfold k1 in Hi. cbn in Hi. destruct (Nat.eq_dec c a) as [<-|Na].
          { rewrite get_upd_eq in Hi. left; split; auto; lia. }
          rewrite get_upd_ne in Hi by auto.
          assert (keep : i < at_ (known (now (agent_of s c))) a ->
            exists p' n' k', place s c = S p' /\ logged s' c p' n' k' /\ i < at_ (known k') a).
          { intros Hi'. destruct (from_now a i Hi') as (p' & n' & k' & ? & ? & ?). eauto 7. }
          destruct ev as [x xa|o e|].
          -- destruct E as (-> & _). right; left; auto.
          -- destruct E as (E0 & En & _ & _). subst k0. unfold learned in Hi.
             destruct (waits_for e) eqn:We; [|right; left; auto].
             cbn [learn known] in Hi. rewrite at_join in Hi.
             destruct (lt_dec i (at_ (known (now (agent_of s c))) a)) as [Hi'|Hi']; [right; left; auto|].
             assert (Hi2 : i < at_ (known (end_of (object_of s o) n0)) a) by (subst n0; lia). right; right.
             destruct n0 as [|j]; [cbn in Hi2; rewrite get_nil in Hi2; lia|]. cbn in Hi2.
             destruct (of_ends s Hs o j a i Hi2) as (d & q & k & Ar & Lg & Hk).
             exists o, j, d, q, k. repeat split; auto. exists e. rewrite event_at_next in N. auto.
          -- destruct E as (-> & _). right; left; auto.
      + intros d p n k o Hl Ha. destruct (Ph o) as [-> _]. apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)].
        * eapply of_wait; eauto.
        * destruct Ha as (e & He & Hw). rewrite event_at_next in N. rewrite N in He. injection He as ->.
          destruct E as (_ & _ & E & _). auto.
      + intros d. destruct (Nat.eq_dec d c) as [->|Nd]; [|rewrite Pd by auto; apply of_place; auto].
        rewrite Pc. rewrite event_at_next in N. apply nth_error_Some. unfold event_at in N. congruence.
      + (* The new access against an old one. *)
        assert (fresh : forall x xa d q y ya, d <> c -> q < place s d -> event_at c (place s c) = Some (Do x xa) ->
          event_at d q = Some (Do y ya) -> conflict y x = true -> q < at_ (known k1) d).
        { intros x xa d q y ya Nd Lq Nx Ny C. rewrite event_at_next in N. rewrite N in Nx. injection Nx as ->.
          destruct E as (-> & R & _). specialize (R d Nd q Lq y ya Ny C).
          unfold k1; cbn. rewrite get_upd_ne by auto. destruct PK as [PK _]. specialize (PK c d).
          destruct (_ && _ && _); lia. }
        intros d p d' q x xa y ya Nd Lp Lq Ex Ey C.
        destruct (Nat.eq_dec d c) as [->|Dc]; [destruct (Nat.eq_dec p (place s c)) as [->|Dp]|].
        * rewrite Pd in Lq by auto. left. exists n0, k1. split; auto. eapply fresh; eauto. rewrite <- C. apply conflict_sym.
        * rewrite Pc in Lp. rewrite Pd in Lq by auto.
          destruct (of_races s Hs c p d' q x xa y ya Nd) as [(n & k & ? & ?)|(n & k & ? & ?)]; auto; try lia; [left|right]; eauto.
        * rewrite Pd in Lp by auto. destruct (Nat.eq_dec d' c) as [->|Dc']; [destruct (Nat.eq_dec q (place s c)) as [->|Dq]|].
          -- right. exists n0, k1. split; auto. eapply fresh; eauto.
          -- rewrite Pc in Lq.
             destruct (of_races s Hs d p c q x xa y ya Nd) as [(n & k & ? & ?)|(n & k & ? & ?)]; auto; try lia; [left|right]; eauto.
          -- rewrite Pd in Lq by auto.
             destruct (of_races s Hs d p d' q x xa y ya Nd) as [(n & k & ? & ?)|(n & k & ? & ?)]; auto; [left|right]; eauto.
    - destruct (end_summary s o s' H) as (E & E' & E'').
      assert (A : forall c, agent_of s' c = agent_of s c) by (intros; unfold agent_of; rewrite E; auto).
      assert (LA : forall c p n k, logged s' c p n k <-> logged s c p n k) by (intros; unfold logged; rewrite A; tauto).
      assert (P : forall c, place s' c = place s c) by (intros; unfold place; rewrite A; auto).
      constructor.
      + intros c. rewrite P, A. pose proof (of_now s Hs c) as F. destruct (place s c); auto. destruct F as [m F]. exists m. apply LA; auto.
      + intros o' a i Hi. destruct (Nat.eq_dec o' o) as [->|No].
        * rewrite E' in Hi. cbn in Hi. rewrite get_nil in Hi. lia.
        * rewrite E'' in * by auto. destruct (of_passed s Hs o' a i Hi) as (d & q & k & ? & ? & ?). exists d, q, k. rewrite LA. auto.
      + intros o' j a i Hi. destruct (Nat.eq_dec o' o) as [->|No].
        * rewrite E' in Hi. cbn [ended ends] in Hi. destruct (lt_dec j (length (ends (object_of s o)))) as [Lj|Lj].
          -- rewrite get_app1 in Hi by auto. destruct (of_ends s Hs o j a i Hi) as (d & q & k & ? & ? & ?). exists d, q, k. rewrite LA. auto.
          -- rewrite get_app2 in Hi by lia. destruct (j - length (ends (object_of s o))) as [|[|m]] eqn:Ej; cbn in Hi; try (rewrite get_nil in Hi; lia).
             assert (j = phase (object_of s o)) as -> by (specialize (EC o); lia).
             destruct (of_passed s Hs o a i Hi) as (d & q & k & ? & ? & ?). exists d, q, k. rewrite LA. auto.
        * rewrite E'' in Hi by auto. destruct (of_ends s Hs o' j a i Hi) as (d & q & k & ? & ? & ?). exists d, q, k. rewrite LA. auto.
      + intros c p n k Hl a i Hi. apply LA in Hl.
        destruct (of_entry s Hs c p n k Hl a i Hi) as [X|[(p' & n' & k' & ? & ? & ?)|(o' & j & d' & q & k' & ? & ? & ? & ? & ?)]]; auto.
        * right; left. exists p', n', k'. rewrite LA; auto.
        * right; right. exists o', j, d', q, k'. rewrite LA; auto.
      + intros c p n k o' Hl Ha. apply LA in Hl. pose proof (of_wait s Hs c p n k o' Hl Ha).
        destruct (Nat.eq_dec o' o) as [->|No]; [rewrite E'; cbn; lia|rewrite E'' by auto; auto].
      + intros c. rewrite P. apply of_place; auto.
      + intros d p d' q x xa y ya Nd Lp Lq Ex Ey C. rewrite P in *.
        destruct (of_races s Hs d p d' q x xa y ya Nd) as [(n & k & ? & ?)|(n & k & ? & ?)]; auto; [left|right]; exists n, k; rewrite LA; auto.
  Qed.
End History.
