(** Reported races are races of the machine itself, where nothing takes part that waits and orders no memory.

    Here, objects count arrivals, all of which pass on everything: barriers of the block and warp barriers which nobody
    leaves out by returning, with a count or without, arrivals, and copies that are waited for. *)
From Volta Require Import Maps Diamond Model Commute Checked Schedules History Relaxed Reports.

Section Enabled.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).

  Notation state := (@state value).
  Notation step := (step zero compute update program kinds).
  Notation event_at := (event_at program).
  Notation arrives := (arrives program).
  Notation good := (good program).
  Notation kept := (kept program).

  Hypothesis counted : forall o l, kind_of kinds o <> Members l.
  Hypothesis plain : forall c p o e, event_at c p = Some (Sync o e) ->
    match e with Arrive _ Full | WaitFor _ | WaitOwn _ => True | _ => False end.

  Lemma plain_no_alone c p o e : event_at c p = Some (Sync o e) -> alone e = false.
  Proof. intros H. specialize (plain c p o e H). destruct e as [m []|b|b []|j|q|q]; auto; contradiction. Qed.

  (** Who knows that a phase is over knows what its arrivals knew. *)
  Definition informed (s : state) k :=
    forall o d q j k', arrives d q o -> logged s d q j k' -> j < at_ (over k) o -> within (known k') (known k).

  Record all_informed (s : state) : Prop := {
    of_agents : forall c, informed s (now (agent_of s c));
    of_logs : forall c p n k, logged s c p n k -> informed s k /\ known_happened s k;
    of_objects : forall o, informed s (passed (object_of s o)) /\
      (0 < count (object_of s o) -> phase (object_of s o) <= at_ (over (passed (object_of s o))) o);
    of_phase_ends : forall o j, informed s (get nothing (ends (object_of s o)) j) /\
      (j < phase (object_of s o) -> S j <= at_ (over (get nothing (ends (object_of s o)) j)) o);
    of_bytes : forall o, bytes (object_of s o) = 0%Z
  }.

  Lemma informed_learn s k l : informed s k -> informed s l -> informed s (learn k l).
  Proof.
    intros A B o d q j k' Ar Hl L i. cbn in *. rewrite at_join in *.
    destruct (lt_dec j (at_ (over k) o)) as [H|H]; [specialize (A o d q j k' Ar Hl H i)|specialize (B o d q j k' Ar Hl ltac:(lia) i)]; lia.
  Qed.

  Lemma informed_nothing s : informed s nothing.
  Proof. intros o d q j k' _ _ L. cbn in L. rewrite get_nil in L. lia. Qed.

  Lemma arrive_checked s c o m h s' : step true s (Act c) = Ok s' -> next program s c = Some (Sync o (Arrive m h)) ->
    phase (object_of s o) <= at_ (over (now (agent_of s c))) o /\
    match kind_of kinds o with
    | Count n => count (object_of s o) <= n
    | Members _ => False
    | Stated => stated (object_of s o) = 0 \/ (stated (object_of s o) = S m /\ count (object_of s o) <= m)
    end.
  Proof.
    intros H N. cbn in H. unfold act in H. rewrite N in H. revert H. unfold may, may_arrive.
    pose proof (counted o) as K. destruct (kind_of kinds o) as [n|l|]; [|destruct (K l eq_refl)|];
      repeat match goal with |- context [if ?c then _ else _] => destruct c end; try discriminate; intros _; split; lia.
  Qed.

  Lemma wait_checked s c o e j s' : step true s (Act c) = Ok s' -> next program s c = Some (Sync o e) ->
    (e = WaitFor j \/ exists q, e = WaitOwn q /\ j = phase_of (log (agent_of s c)) q) -> j < phase (object_of s o).
  Proof.
    intros H N E. cbn in H. unfold act in H. rewrite N in H. revert H. unfold may.
    destruct E as [->|(q & -> & ->)]; (destruct (lt_dec _ _); [auto|discriminate]).
  Qed.

  Lemma all_informed_step s l s' : good s -> kept s -> all_informed s -> step true s l = Ok s' -> all_informed s'.
  Proof.
    intros ([B EC] & _ & Hs) K V H. destruct l as [c|o].
    - destruct (act_summary _ _ _ _ _ s c s' H) as (ev & n0 & k0 & N & D & L & W & E).
      set (k1 := after_event c (place s c) k0) in *.
      pose proof (logged_act s c s' n0 k1 D L) as LA.
      assert (K0 : known_happened s k0 /\ informed s k0).
      { destruct ev as [x xa|o e|].
        - destruct E as (-> & _). split; [apply B|apply V].
        - destruct E as (-> & _). split; [apply learned_happened; auto|]. unfold learned.
          destruct (waits_for e); [|apply V]. apply informed_learn; [apply V|].
          destruct (number e _ _); [apply informed_nothing|apply V].
        - destruct E as (-> & _). split; [apply fence_happened, B|]. exact (of_agents s V c). }
      destruct K0 as [KH K0].
      (* Nobody knows yet that the present phase is over. *)
      assert (later : forall k, known_happened s k -> informed s k -> informed s' k).
      { intros k [_ KO] I o d q j k' Ar Hl Lj. apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)]; [eapply I; eauto|].
        exfalso. destruct Ar as (e & Ee & Pe). rewrite event_at_next in N. rewrite N in Ee. injection Ee as ->.
        destruct E as (_ & -> & _). specialize (KO o). destruct e; try discriminate Pe; cbn in Lj; lia. }
      assert (I1 : informed s' k1).
      { assert (I0 : informed s' k0) by auto. intros o d q j k' Ar Hl Lj. apply within_after_event; [eapply I0; eauto|].
        pose proof (I0 o d q j k' Ar Hl Lj c). destruct KH as [KH _]. specialize (KH c). lia. }
      constructor.
      + intros d. destruct (Nat.eq_dec d c) as [->|Nd]; [rewrite W; auto|rewrite D by auto; apply later; [apply B|apply V]].
      + intros d p n k Hl. assert (KB : known_happened s' k1) by (rewrite <- W; apply (bounded_step _ _ _ _ _ _ _ _ B H)).
        apply LA in Hl. destruct Hl as [Hl|(-> & -> & -> & ->)]; [|auto].
        destruct (of_logs s V _ _ _ _ Hl) as [Il Kl]. split; [apply later; auto|].
        destruct (step_place _ _ _ _ _ _ _ _ _ H) as [P Q]. eapply happened_later; [..|exact Kl].
        * intros b. rewrite P. destruct (Nat.eq_dec b c); lia.
        * intros o. rewrite Q. auto.
      + intros o. assert (keep : informed s' (passed (object_of s o)) /\ (0 < count (object_of s o) -> phase (object_of s o) <= at_ (over (passed (object_of s o))) o)).
        { destruct (of_objects s V o). split; auto. apply later; auto. destruct B as [_ B]. apply (B o). }
        destruct ev as [x xa|o' e|].
        * destruct E as (_ & _ & E). unfold object_of. rewrite E. exact keep.
        * destruct E as (E0 & _ & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [|rewrite E' by auto; exact keep].
          rewrite E. assert (PL := plain c (place s c) o' e N).
          destruct e as [m []|b|b h|j|q|q]; try contradiction; cbn [take_part]; try exact keep.
          cbn [passed count phase passes]. split.
          -- apply informed_learn; [apply keep|exact I1].
          -- intros _. destruct (arrive_checked s c o' m Full s' H N) as (A & _). cbn [learn over]. rewrite at_join.
             subst k0. unfold learned in k1. cbn [waits_for] in k1. unfold k1. cbn [after_event over]. fold k1. lia.
        * destruct E as (_ & E). unfold object_of. rewrite E. exact keep.
      + intros o j. assert (Ph : phase (object_of s' o) = phase (object_of s o) /\ ends (object_of s' o) = ends (object_of s o)).
        { destruct ev as [x xa|o' e|].
          - destruct E as (_ & _ & E). unfold object_of. rewrite E. auto.
          - destruct E as (_ & _ & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [rewrite E; apply take_part_phase|rewrite E' by auto; auto].
          - destruct E as (_ & E). unfold object_of. rewrite E. auto. }
        destruct Ph as [-> ->]. destruct (of_phase_ends s V o j). split; auto. apply later; auto. apply (end_of_happened s o (S j) B).
      + intros o. destruct ev as [x xa|o' e|].
        * destruct E as (_ & _ & E). unfold object_of. rewrite E. apply V.
        * destruct E as (E0 & _ & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [|rewrite E' by auto; apply V].
          rewrite E. assert (PL := plain c (place s c) o' e N). destruct e as [m []|b|b h|j|q|q]; try contradiction; cbn [take_part bytes]; apply V.
        * destruct E as (_ & E). unfold object_of. rewrite E. apply V.
    - assert (Cn : 0 < count (object_of s o)).
      { apply step_changes in H. inversion H as [| | |? F]; subst. unfold full in F. pose proof (counted o) as Ko.
        destruct (kind_of kinds o) as [n|l|]; [|destruct (Ko l eq_refl)|]; lia. }
      destruct (end_summary _ _ _ _ _ s o s' H) as (E & E' & E'').
      assert (A : forall c, agent_of s' c = agent_of s c) by (intros; unfold agent_of; rewrite E; auto).
      assert (LA : forall c p n k, logged s' c p n k <-> logged s c p n k) by (intros; unfold logged; rewrite A; tauto).
      assert (same : forall k, informed s k -> informed s' k) by (intros k I o' d q j k' Ar Hl; apply LA in Hl; eapply I; eauto).
      assert (KH : forall k, known_happened s k -> known_happened s' k).
      { intros k. destruct (step_place _ _ _ _ _ _ _ _ _ H) as [P Q]. apply happened_later.
        - intros b. rewrite P. auto.
        - intros o'. rewrite Q. destruct (Nat.eq_dec o' o); lia. }
      constructor.
      + intros c. rewrite A. apply same, V.
      + intros c p m k Hl. apply LA in Hl. destruct (of_logs s V _ _ _ _ Hl). auto.
      + intros o'. destruct (Nat.eq_dec o' o) as [->|No].
        * rewrite E'. cbn. split; [apply informed_nothing|lia].
        * rewrite E'' by auto. destruct (of_objects s V o'). auto.
      + intros o' j. destruct (Nat.eq_dec o' o) as [->|No].
        2: { rewrite E'' by auto. destruct (of_phase_ends s V o' j). auto. }
        rewrite E'. cbn [ended ends phase]. specialize (EC o).
        destruct (lt_dec j (phase (object_of s o))) as [Lj|Lj].
        * rewrite get_app1 by lia. destruct (of_phase_ends s V o j). auto.
        * rewrite get_app2 by lia. destruct (j - length (ends (object_of s o))) as [|m] eqn:Ej.
          2: { split; [destruct m; apply informed_nothing|]. intros L. exfalso. lia. }
          assert (j = phase (object_of s o)) as -> by lia. cbn [nth]. destruct (of_objects s V o) as [I1 I2]. specialize (I2 ltac:(lia)).
          split; [|cbn; rewrite get_upd_eq; auto].
          intros o' d q j k' Ar Hl L. apply LA in Hl. cbn in L |- *. destruct (Nat.eq_dec o o') as [<-|No]; [|rewrite get_upd_ne in L by auto; eapply I1; eauto].
          rewrite get_upd_eq in L. destruct (arrival_kept _ s K d q j k' o Hl Ar) as [L1 L2].
          destruct (Nat.eqb_spec j (phase (object_of s o))) as [->|Nj]; [exact L2|]. eapply I1; eauto. lia.
      + intros o'. destruct (Nat.eq_dec o' o) as [->|No]; [rewrite E'; cbn; apply V|rewrite E'' by auto; apply V].
  Qed.

  Lemma all_informed_start mem : all_informed (start mem).
  Proof.
    assert (N : forall c p n k, ~ logged (start mem) c p n k).
    { intros c p n k. unfold logged, agent_of; cbn. rewrite get_nil. destruct p; discriminate. }
    assert (O : forall o, object_of (start mem) o = new_object) by (intros; unfold object_of; cbn; apply get_nil).
    constructor.
    - intros c o d q j k' _ Hl. destruct (N _ _ _ _ Hl).
    - intros c p n k Hl. destruct (N _ _ _ _ Hl).
    - intros o. rewrite O. cbn. split; [apply informed_nothing|lia].
    - intros o j. rewrite O. cbn. rewrite get_nil. split; [apply informed_nothing|lia].
    - intros o. rewrite O. reflexivity.
  Qed.

  Lemma all_informed_run l : forall s t, good s -> kept s -> all_informed s -> run (step true) s l = Ok t -> all_informed t.
  Proof.
    induction l as [|b l IH]; cbn; intros s t G K V H; [congruence|].
    destruct (step true s b) eqn:E; [destruct l; discriminate..|]. eapply IH; [..|exact H].
    - eapply good_step; eauto.
    - eapply kept_step; eauto. apply plain_no_alone.
    - eapply all_informed_step; eauto.
  Qed.

  (** ** The machine, without what knows the earlier access *)

  Section Earlier.
    Variables (t : state) (a i : nat).
    Hypothesis (Gt : good t) (Kt : kept t) (Vt : all_informed t).

    Notation knows := (knows t a i).

    Definition blocked_phase o j := exists d q k, arrives d q o /\ logged t d q j k /\ i < at_ (known k) a.

    (** An object as it is, or in a phase that is not over without the earlier access. *)
    Definition mirrored o ob ou := bytes ou = 0%Z /\
      ((phase ou = phase ob /\ count ou = count ob /\ stated ou = stated ob) \/
       (phase ou <= phase ob /\
        (phase ou = phase ob -> count ou <= count ob /\ (kind_of kinds o = Stated -> stated ou = 0 \/ stated ou = stated ob)) /\
        blocked_phase o (phase ou))).

    Record mirrors (s u : state) : Prop := {
      in_place : forall d, place u d <= place s d /\ (forall p, p < place u d -> ~ knows d p) /\ (place u d < place s d -> knows d (place u d));
      in_log : forall d, place u d = place s d -> map fst (log (agent_of u d)) = map fst (log (agent_of s d));
      in_object : forall o, mirrored o (object_of s o) (object_of u o)
    }.

    (** An event that comes after the end of a phase which is not over without the earlier access knows that access. *)
    Lemma past_a_blocked_phase c p n k o j : logged t c p n k -> blocked_phase o j -> j < at_ (over k) o -> knows c p.
    Proof.
      intros Hl (d & q & k' & Ar & Hl' & Hi) L. exists n, k. split; auto.
      destruct (of_logs t Vt _ _ _ _ Hl) as [I _]. specialize (I o d q j k' Ar Hl' L a). lia.
    Qed.

    Lemma mirrored_step s b s' u : good s -> all_informed s -> step true s b = Ok s' -> later program s' t -> mirrors s u ->
      mirrors s' u \/ exists u', step false u b = Ok u' /\ mirrors s' u'.
    Proof.
      intros G V H Lt M.
      destruct (step_place _ _ _ _ _ _ _ _ _ H) as [P Q].
      destruct b as [c|o].
      - destruct (act_summary _ _ _ _ _ s c s' H) as (ev & n0 & k0 & N & D & L & W & E).
        set (k1 := after_event c (place s c) k0) in *.
        assert (Hl : logged t c (place s c) n0 k1).
        { destruct Lt as [A _]. apply A, (logged_act s c s' n0 k1 D L). auto. }
        assert (Lp := logged_place _ _ _ _ _ Hl).
        destruct (in_place s u M c) as (M1 & M2 & M3).
        assert (Ph : forall o, phase (object_of s' o) = phase (object_of s o)) by (intros; rewrite Q; auto).
        (* An arrival of [c] in the present phase, if it knows, blocks it. *)
        assert (skip : knows c (place s c) -> mirrors s' u).
        { intros Kc. constructor.
          - intros d. rewrite P. destruct (Nat.eq_dec d c) as [->|Nd]; [|apply M]. split; [lia|split; auto]. intros _.
            destruct (Nat.eq_dec (place u c) (place s c)) as [->|]; auto. apply M3. lia.
          - intros d Ed. rewrite P in Ed. destruct (Nat.eq_dec d c) as [->|Nd]; [lia|]. rewrite D by auto. apply M; auto.
          - intros o. assert (Mo := in_object s u M o).
            destruct ev as [x xa|o' e|].
            + destruct E as (_ & _ & E). unfold object_of in *. rewrite E. auto.
            + destruct E as (E0 & En & _ & E & E'). destruct (Nat.eq_dec o o') as [->|No]; [|rewrite E' by auto; auto].
              rewrite E. assert (PL := plain c (place s c) o' e N).
              destruct e as [m []|b|b h|j|q|q]; try contradiction; cbn [take_part]; auto.
              destruct (arrive_checked s c o' m Full s' H N) as [_ Ch]. destruct Mo as [Mb Mo].
              split; auto. cbn [phase count stated]. right.
              assert (St : forall x, x = 0 \/ x = stated (object_of s o') -> kind_of kinds o' = Stated -> x = 0 \/ x = Nat.max (stated (object_of s o')) (S m)).
              { intros x X KS. rewrite KS in Ch. lia. }
              destruct Mo as [(Mp & Mc & Ms)|(Mp & Mc & Mb')]; [|split; [auto|split; [|auto]]; intros Ep; destruct (Mc Ep); split; auto].
              rewrite Mp, Mc. split; [auto|]. split; [split; auto|]. destruct Kc as (n & k & Hk & Hi).
              exists c, (place s c), k. repeat split; auto.
              * exists (Arrive m Full). split; auto.
              * destruct (logged_same _ _ _ _ _ _ _ Hk Hl) as [-> _]. rewrite En in Hk. exact Hk.
            + destruct E as (_ & E). unfold object_of in *. rewrite E. auto. }
        destruct (Nat.eq_dec (place u c) (place s c)) as [Ep|Np].
        2: { left. apply skip. eapply knows_later; [exact Kt|apply M3; lia|lia|auto]. }
        destruct (lt_dec i (at_ (known k1) a)) as [Ki|Ki]; [left; apply skip; exists n0, k1; auto|].
        assert (Nk : ~ knows c (place s c)).
        { intros (n & k & Hk & Hi). destruct (logged_same _ _ _ _ _ _ _ Hk Hl) as [_ ->]. auto. }
        right. assert (Nu : next program u c = Some ev) by (rewrite <- N; unfold next; rewrite Ep; auto).
        assert (Lu := in_log s u M c Ep).
        (* What all steps of [c] do to places and logs. *)
        assert (mirror : forall u' nu ku, (forall d, d <> c -> agent_of u' d = agent_of u d) ->
          log (agent_of u' c) = log (agent_of u c) ++ [(nu, ku)] -> nu = n0 ->
          (forall o, mirrored o (object_of s' o) (object_of u' o)) -> mirrors s' u').
        { intros u' nu ku Du Lu' -> Ou. constructor; auto.
          - intros d. rewrite P. destruct (Nat.eq_dec d c) as [->|Nd].
            + assert (place u' c = S (place s c)) as -> by (unfold place in *; rewrite Lu', app_length; cbn; lia).
              split; [auto|split; [|lia]]. intros p Lpp. destruct (Nat.eq_dec p (place s c)) as [->|Ne]; auto. apply M2. lia.
            + assert (place u' d = place u d) as -> by (unfold place; rewrite Du; auto). apply M.
          - intros d Ed. destruct (Nat.eq_dec d c) as [->|Nd].
            + rewrite Lu', L, !map_app, Lu. reflexivity.
            + rewrite Du, D by auto. apply M. rewrite P in Ed. destruct (Nat.eq_dec d c); [congruence|]. unfold place in *. rewrite Du in Ed by auto. auto. }
        assert (no_number : forall k regs, log (agent_of s' c) = log (log_event c (agent_of s c) 0 k regs) -> n0 = 0).
        { intros k regs F. rewrite L in F. cbn in F. apply app_inj_tail in F. destruct F as [_ F]. congruence. }
        assert (unchanged : objects s' = objects s -> forall (ags : list (@agent value)) (mem : list value) o,
          mirrored o (object_of s' o) (object_of (State ags (objects u) mem) o)).
        { intros Eo ags mem o. unfold object_of. cbn [objects]. rewrite Eo. apply M. }
        destruct ev as [x xa|o e|].
        + destruct E as (_ & _ & E). eexists. split; [cbn; unfold act; rewrite Nu; reflexivity|].
          eapply mirror; [intros d Nd; apply agent_of_upd_ne; auto|rewrite agent_of_upd; reflexivity| |apply unchanged; auto].
          symmetry. clear - H N no_number. cbn in H. unfold act in H. rewrite N in H. destruct (no_race_dec _ _ _ _ _); [|discriminate].
          injection H as <-. rewrite agent_of_upd in no_number. eapply no_number. reflexivity.
        + destruct E as (E0 & En & _ & E & E'). assert (PL := plain c (place s c) o e N).
          assert (Mi := in_object s u M o). destruct (in_object s u M o) as [Mb Mo].
          (* The phase that a wait waits for is over without the earlier access too. *)
          assert (over_too : forall j, j < phase (object_of s o) -> j < at_ (over k1) o -> j < phase (object_of u o)).
          { intros j Lj Lo. destruct Mo as [(Mp & _)|(Mp & _ & Bl)]; [lia|].
            destruct (lt_dec j (phase (object_of u o))) as [|Nj]; auto. exfalso. apply Nk.
            apply (past_a_blocked_phase c (place s c) n0 k1 o _ Hl Bl). lia. }
          assert (waited : forall j, waits_for e = true -> number e (agent_of s c) (object_of s o) = S j -> j < phase (object_of s o) -> j < at_ (over k1) o).
          { intros j We Ej Lj. unfold k1. cbn [after_event over]. rewrite E0. unfold learned. rewrite We, Ej. cbn [end_of learn over]. rewrite at_join.
            destruct (of_phase_ends s V o j) as [_ F]. specialize (F Lj). lia. }
          assert (Pq : forall q, phase_of (log (agent_of u c)) q = phase_of (log (agent_of s c)) q).
          { intros q. unfold phase_of, get. rewrite <- !(map_nth fst), Lu. reflexivity. }
          assert (step_u : may kinds false c o e (agent_of u c) (object_of u o) = Go ->
            number e (agent_of u c) (object_of u o) = number e (agent_of s c) (object_of s o) ->
            (forall k, mirrored o (object_of s' o) (take_part c (length (log (agent_of u c))) e k (object_of u o))) ->
            exists u', step false u (Act c) = Ok u' /\ mirrors s' u').
          { intros My Nm Ou. eexists. split; [cbn; unfold act; rewrite Nu, My; reflexivity|].
            eapply mirror; [intros d Nd; apply agent_of_upd_ne; auto|rewrite agent_of_upd; reflexivity|congruence|].
            intros o'. destruct (Nat.eq_dec o o') as [<-|No].
            - rewrite object_of_upd. apply Ou.
            - rewrite object_of_upd_ne, E' by auto. apply M. }
          destruct e as [m []|b|b h|j|q|q]; try contradiction.
          * destruct (arrive_checked s c o m Full s' H N) as (Ov & Ch).
            assert (Pu : phase (object_of u o) = phase (object_of s o)).
            { destruct Mo as [(Mp & _)|(Mp & _ & Bl)]; auto. destruct (Nat.eq_dec (phase (object_of u o)) (phase (object_of s o))) as [|Ne]; auto.
              exfalso. apply Nk. apply (past_a_blocked_phase c (place s c) n0 k1 o _ Hl Bl). unfold k1. cbn [after_event over]. rewrite E0. cbn [learned waits_for]. lia. }
            assert (Cu : count (object_of u o) <= count (object_of s o) /\ (kind_of kinds o = Stated -> stated (object_of u o) = 0 \/ stated (object_of u o) = stated (object_of s o))).
            { destruct Mo as [(_ & Mc & Ms)|(_ & Mc & _)]; [rewrite Mc, Ms|]; auto. }
            destruct Cu as [Cu Su]. apply step_u.
            -- unfold may, may_arrive. clear - Ch Cu Su. destruct (kind_of kinds o) as [n|l|]; [|destruct Ch|specialize (Su eq_refl)];
                 repeat match goal with |- context [if ?c then _ else _] => destruct c end; auto; lia.
            -- exact Pu.
            -- intros k. rewrite E. cbn [take_part]. split; auto. cbn [phase count stated].
               destruct Mo as [(Mp & Mc & Ms)|(Mp & Mc & Bl)]; [left; rewrite Mc, Ms|right; split; [auto|split; [|auto]]]; auto.
               intros _. split; [lia|]. intros KS. rewrite KS in Ch. specialize (Su KS). lia.
          * assert (Lj := wait_checked s c o _ j s' H N (or_introl eq_refl)).
            apply step_u.
            -- cbn. destruct (lt_dec j (phase (object_of u o))) as [|F]; auto. destruct F. apply over_too; auto.
            -- reflexivity.
            -- intros k. cbn [take_part]. rewrite E. cbn [take_part]. auto.
          * assert (Lj := wait_checked s c o _ _ s' H N (or_intror (ex_intro _ q (conj eq_refl eq_refl)))).
            apply step_u.
            -- cbn. rewrite Pq. destruct (lt_dec (phase_of (log (agent_of s c)) q) (phase (object_of u o))) as [|F]; auto. destruct F. apply over_too; auto.
            -- cbn. rewrite Pq. reflexivity.
            -- intros k. cbn [take_part]. rewrite E. cbn [take_part]. auto.
        + destruct E as (_ & E). eexists. split; [cbn; unfold act; rewrite Nu; reflexivity|].
          eapply mirror; [intros d Nd; apply agent_of_upd_ne; auto|rewrite agent_of_upd; reflexivity| |apply unchanged; auto].
          symmetry. clear - H N no_number. cbn in H. unfold act in H. rewrite N in H.
          injection H as <-. rewrite agent_of_upd in no_number. eapply no_number. reflexivity.
      - assert (F : full program kinds s o) by (apply step_changes in H; inversion H; auto).
        destruct (end_summary _ _ _ _ _ s o s' H) as (E & E' & E'').
        assert (A : forall c, agent_of s' c = agent_of s c) by (intros; unfold agent_of; rewrite E; auto).
        assert (Pl : forall c, place s' c = place s c) by (intros; unfold place; rewrite A; auto).
        destruct (in_object s u M o) as [Mb Mo].
        destruct Mo as [(Mp & Mc & Ms)|(Mp & Mc & Bl)].
        + right. assert (F' : full program kinds u o).
          { pose proof (counted o) as Ko. unfold full in *. rewrite Mc, Ms. destruct (kind_of kinds o) as [n|l|]; [|destruct (Ko l eq_refl)|]; tauto. }
          eexists. split; [cbn; destruct (full_dec program kinds u o); [reflexivity|contradiction]|].
          constructor.
          * intros d. rewrite Pl. apply (in_place s u M d).
          * intros d Ed. rewrite A. rewrite Pl in Ed. apply (in_log s u M d Ed).
          * intros o'. destruct (Nat.eq_dec o o') as [<-|No].
            -- rewrite object_of_upd, E'. split; auto. cbn. auto.
            -- rewrite object_of_upd_ne, E'' by auto. apply M.
        + left. constructor.
          * intros d. rewrite Pl. apply M.
          * intros d Ed. rewrite A. apply M. rewrite <- Pl. auto.
          * intros o'. destruct (Nat.eq_dec o o') as [<-|No]; [|rewrite E'' by auto; apply M].
            rewrite E'. split; auto. cbn [ended phase count stated]. right. split; [lia|]. split; [lia|auto].
    Qed.

    Lemma mirrored_run l : forall s u, good s -> kept s -> all_informed s -> run (step true) s l = Ok t -> mirrors s u ->
      exists l' u', run (step false) u l' = Ok u' /\ mirrors t u'.
    Proof.
      induction l as [|b l IH]; cbn; intros s u G K V H M.
      - injection H as ->. exists [], u; auto.
      - destruct (step true s b) as [| |s'] eqn:E; [destruct l; discriminate..|].
        assert (G' := good_step _ _ _ _ _ _ _ _ G E).
        assert (K' := kept_step _ _ _ _ _ plain_no_alone _ _ _ G K E).
        assert (V' := all_informed_step _ _ _ G K V E).
        destruct (mirrored_step s b s' u G V E (later_run _ _ _ _ _ _ _ _ H) M) as [M'|(u' & Eu & M')].
        + apply (IH s' u); auto.
        + destruct (IH s' u' G' K' V' H M') as (l' & u2 & R & M2). exists (b :: l'), u2. cbn. rewrite Eu. auto.
    Qed.
  End Earlier.

  (** Where the check of an access fails, the machine itself reaches a state in which it and a conflicting one are next. *)
  Theorem reported_races_are_races_of_the_machine mem l t c a i x xa y ya :
    run (step true) (start mem) l = Ok t ->
    c <> a -> i < place t a -> event_at a i = Some (Do y ya) -> next program t c = Some (Do x xa) -> conflict y x = true ->
    ~ i < at_ (known (now (agent_of t c))) a ->
    exists l' u, run (step false) (start mem) l' = Ok u /\ next program u a = Some (Do y ya) /\ next program u c = Some (Do x xa).
  Proof.
    intros H N Li Ey Ex C Nk. rewrite event_at_next in Ex.
    assert (G0 := good_start program mem). assert (K0 := kept_start program mem).
    assert (G := good_run _ _ _ _ _ _ _ _ G0 H).
    assert (K := kept_run _ _ _ _ _ plain_no_alone _ _ _ G0 K0 H).
    assert (V := all_informed_run _ _ _ G0 K0 (all_informed_start mem) H).
    assert (M0 : mirrors t a i (start mem) (start mem)).
    { assert (P : forall d, place (start mem) d = 0) by (intros; unfold place, agent_of; cbn; rewrite get_nil; auto).
      constructor; auto.
      - intros d. rewrite P. repeat split; intros; lia.
      - intros o. unfold object_of; cbn. rewrite get_nil. split; auto. }
    destruct (mirrored_run t a i K V l _ _ G0 K0 (all_informed_start mem) H M0) as (l' & u & R & M).
    exists l', u. split; auto. rewrite !event_at_next. destruct G as ([B _] & PK & Hs). split.
    - destruct (in_place t a i t u M a) as (F1 & F2 & F3).
      assert (Reports.knows t a i a i).
      { destruct (logged_exists t a i Li) as (n & k & Hl). exists n, k. split; auto. rewrite (own_kept _ t K _ _ _ _ Hl). lia. }
      assert (L1 : place u a <= i) by (destruct (le_dec (place u a) i); auto; destruct (F2 i ltac:(lia)); auto).
      destruct (Nat.eq_dec (place u a) i) as [->|Ni]; auto.
      destruct F3 as (n & k & Hl & Hi); [lia|]. rewrite (own_kept _ t K _ _ _ _ Hl) in Hi. lia.
    - destruct (in_place t a i t u M c) as (F1 & F2 & F3).
      destruct (Nat.eq_dec (place u c) (place t c)) as [->|Nc]; auto. exfalso. apply Nk.
      assert (L : place u c < place t c) by lia. specialize (F3 L).
      pose proof (of_now _ t Hs c) as W. destruct (place t c) as [|p] eqn:Ep; [lia|]. destruct W as [n W].
      destruct (knows_later _ t a i K c (place u c) p F3) as (n' & k & Hl & Hi); try lia.
      destruct (logged_same _ _ _ _ _ _ _ W Hl) as [_ ->]. auto.
  Qed.
End Enabled.
