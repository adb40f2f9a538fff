(** The checked machine is a diamond: any two steps commute, or are an error in both orders. *)
From Volta Require Import Maps Diamond Model Commute.

Lemma conflict_sym x y : conflict x y = conflict y x.
Proof.
  unfold conflict. destruct (address x) as [a|], (address y) as [b|]; auto.
  rewrite (Nat.eqb_sym a b), (orb_comm (writes x)). f_equal; f_equal.
  destruct x, y; cbn; auto. apply Nat.eqb_sym.
Qed.

Lemma not_within_upd v c p w : at_ w c <= p -> ~ within (upd 0 v c (S p)) w.
Proof. intros L W. specialize (W c). rewrite get_upd_eq in W. lia. Qed.

Lemma learn_swap k l m : learn (learn k l) m = learn (learn k m) l.
Proof. unfold learn; cbn. f_equal; apply join_swap. Qed.

Lemma after_event_other_past c d p k : c <> d -> at_ (past (after_event c p k)) d = at_ (past k) d.
Proof. intros; cbn. rewrite get_upd_ne; auto. Qed.

Section Checked.
  Context {value : Type} (zero : value) (compute update : nat -> value -> value -> value).
  Context (program : list (list event)) (kinds : list kind).
  Hypothesis update_commutes : forall f v x y, update f (update f v x) y = update f (update f v y) x.

  Notation state := (@state value).
  Notation agent := (@agent value).
  Notation step := (step zero compute update program kinds true).
  Notation perform := (perform zero compute update).
  Notation next := (next program).
  Notation may := (may kinds).
  Notation end_phase := (@end_phase value program kinds).

  (** ** Two operations on one object *)

  Ltac cases := repeat match goal with
    | |- context [if ?c then _ else _] => destruct c
    | H : context [if ?c then _ else _] |- _ => destruct c
    end.

  Definition arrival_knows c (ag : agent) e k :=
    match e with Arrive _ _ => k = after_event c (length (log ag)) (now ag) | _ => True end.

  Lemma two_operations c d o e1 e2 (ag1 ag2 : agent) ob k1 k2 :
    c <> d ->
    at_ (past (now ag1)) d <= length (log ag2) -> at_ (past (now ag2)) c <= length (log ag1) ->
    at_ (arrivals_past ob) c <= length (log ag1) -> at_ (arrivals_past ob) d <= length (log ag2) ->
    arrival_knows c ag1 e1 k1 -> arrival_knows d ag2 e2 k2 ->
    may true c o e1 ag1 ob = Go ->
    let ob1 := take_part c (length (log ag1)) e1 k1 ob in
    let ob2 := take_part d (length (log ag2)) e2 k2 ob in
    match may true d o e2 ag2 ob with
    | Stop => True
    | Wrong => may true d o e2 ag2 ob1 = Wrong
    | Go => (may true d o e2 ag2 ob1 = Go /\ may true c o e1 ag1 ob2 = Go) \/
            (may true d o e2 ag2 ob1 = Wrong /\ may true c o e1 ag1 ob2 = Wrong)
    end.
  Proof.
    intros N P1 P2 A1 A2 K1 K2. destruct ob as [ph n st arr b ex w ps ap en]. cbn [arrivals_past] in A1, A2.
    assert (X1 : forall p v, length (log ag1) <= p -> ~ within (upd 0 v c (S p)) (join ap (past (after_event d (length (log ag2)) (now ag2))))).
    { intros p v L. apply not_within_upd. rewrite at_join, after_event_other_past by auto. lia. }
    assert (X2 : forall p v, length (log ag2) <= p -> ~ within (upd 0 v d (S p)) (join ap (past (after_event c (length (log ag1)) (now ag1))))).
    { intros p v L. apply not_within_upd. rewrite at_join, after_event_other_past by auto. lia. }
    specialize (X1 _ ex (le_n _)). specialize (X2 _ ex (le_n _)).
    unfold Model.may, may_arrive, may_expect, may_deliver, may_pass_parity, wrong.
    destruct e1 as [m1 h1|b1|b1 h1|j1|p1|q1], e2 as [m2 h2|b2|b2 h2|j2|p2|q2]; cbn [take_part phase count stated arrived bytes expects waits passed arrivals_past arrival_knows] in *; subst;
      destruct (kind_of kinds o) as [m|l|]; intros G; try discriminate G.
    all: try (rewrite (join_swap ap (past (after_event d (length (log ag2)) (now ag2))))).
    all: try (rewrite (get_upd_ne 0 arr c d) by auto).
    all: try (rewrite (get_upd_ne 0 arr d c) by auto).
    all: try solve [cases; try discriminate; try lia; try contradiction; auto; exfalso; lia].
  Qed.

  (** ** What other steps leave as it is *)

  Lemma next_upd_ne (s : state) c d (ag : agent) obs mem : c <> d ->
    next (State (upd new_agent (agents s) d ag) obs mem) c = next s c.
  Proof. intros N. unfold Model.next, place. rewrite agent_of_upd_ne by auto. reflexivity. Qed.

  Lemma no_race_later (s : state) c d (ag : agent) obs mem x x_async :
    c <> d -> length (log ag) = S (place s d) ->
    let t := State (upd new_agent (agents s) d ag) obs mem in
    no_race program t c x x_async <->
    no_race program s c x x_async /\ ordered program (now (agent_of s c)) x x_async d (place s d).
  Proof.
    intros N L t. unfold no_race.
    assert (Ec : agent_of t c = agent_of s c) by (apply agent_of_upd_ne; auto). rewrite Ec.
    assert (E : forall a, place t a = if Nat.eq_dec a d then S (place s d) else place s a).
    { intros a. unfold place. destruct (Nat.eq_dec a d) as [->|D].
      - unfold t; rewrite agent_of_upd; auto.
      - unfold t; rewrite agent_of_upd_ne; auto. }
    split.
    - intros H; split.
      + intros a Na i Li. apply H; auto. rewrite E. destruct (Nat.eq_dec a d); subst; lia.
      + apply H; auto. rewrite E. destruct (Nat.eq_dec d d); [lia|congruence].
    - intros [H H'] a Na i Li. rewrite E in Li. destruct (Nat.eq_dec a d) as [->|D]; auto.
      destruct (Nat.eq_dec i (place s d)) as [->|]; auto. apply H; auto; lia.
  Qed.

  Definition harmless (y : option event) x := match y with Some (Do y _) => conflict y x = false | _ => True end.

  Lemma ordered_next (s : state) c d x x_async : bounded s ->
    ordered program (now (agent_of s c)) x x_async d (place s d) <-> harmless (next s d) x.
  Proof.
    intros [B _]. specialize (B c). destruct B as [B _]. specialize (B d).
    unfold ordered, harmless, Model.next. destruct (nth_error (events program d) (place s d)) as [[y ya| |]|].
    - split.
      + intros H. destruct (conflict y x) eqn:C; auto. specialize (H _ _ eq_refl C).
        destruct (_ && _ && _); lia.
      + intros C y' ya' [= <- <-] C'. congruence.
    - split; auto; discriminate.
    - split; auto; discriminate.
    - split; auto; discriminate.
  Qed.

  Lemma no_race_next s c d (ag : agent) obs mem x x_async :
    bounded s -> c <> d -> length (log ag) = S (place s d) ->
    no_race program (State (upd new_agent (agents s) d ag) obs mem) c x x_async <->
    no_race program s c x x_async /\ harmless (next s d) x.
  Proof. intros B N L. rewrite no_race_later, ordered_next by auto. tauto. Qed.

  Lemma perform_after x y r1 r2 m : conflict x y = false ->
    fst (perform y r2 (snd (perform x r1 m))) = fst (perform y r2 m) /\
    snd (perform y r2 (snd (perform x r1 m))) = snd (perform x r1 (snd (perform y r2 m))).
  Proof.
    destruct x as [r a|a r|r f r' r''|a f r], y as [r0 a0|a0 r0|r0 f0 r0' r0''|a0 f0 r0]; cbn; auto;
      unfold conflict; cbn; destruct (Nat.eqb_spec a a0) as [->|N]; cbn; try discriminate; intros C.
    all: try rewrite !get_upd_ne by auto; try (split; auto; rewrite upd_comm by auto; reflexivity).
    destruct (Nat.eqb_spec f f0) as [->|N]; [|discriminate].
    rewrite !get_upd_eq, !upd_upd, update_commutes. auto.
  Qed.

  (** ** The diamond *)

  Lemma joins_sym s a b : joins step s a b -> joins step s b a.
  Proof.
    unfold joins. destruct (step s a), (step s b); auto. intros [(t & H & H')|[H H']]; eauto.
  Qed.

  (** A step of an agent that is no operation on an object. *)
  Lemma local_act s c d :
    bounded s -> c <> d -> (forall o e, next s c <> Some (Sync o e)) -> joins step s (Act c) (Act d).
  Proof.
    intros B N L. unfold joins. cbn [Model.step]. unfold act.
    destruct (next s c) as [[x xa|o e|]|] eqn:Nc; [|destruct (L o e eq_refl)| |exact I].
    - destruct (next s d) as [[y ya|o e|]|] eqn:Nd.
      + pose proof (perform_after x y (registers (agent_of s c)) (registers (agent_of s d)) (memory s)) as D1.
        pose proof (perform_after y x (registers (agent_of s d)) (registers (agent_of s c)) (memory s)) as D2.
        destruct (no_race_dec program s c x xa) as [Rc|Rc], (no_race_dec program s d y ya) as [Rd|Rd]; auto;
          rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto; cbn [memory].
        * destruct (conflict x y) eqn:C.
          -- right. split.
             ++ destruct (no_race_dec _ _ d y ya) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log].
                rewrite Nc in R. cbn in R. destruct R; congruence.
             ++ destruct (no_race_dec _ _ c x xa) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log].
                rewrite Nd in R. cbn in R. rewrite conflict_sym in R. destruct R; congruence.
          -- left. destruct (D1 eq_refl) as [-> ->]. rewrite conflict_sym in C. destruct (D2 C) as [-> _].
             eexists; split.
             ++ destruct (no_race_dec _ _ d y ya) as [R|R]; [reflexivity|].
                exfalso; apply R, no_race_next; auto; [apply place_log|]. rewrite Nc; cbn. rewrite conflict_sym; auto.
             ++ destruct (no_race_dec _ _ c x xa) as [R|R].
                ** f_equal. f_equal; cbn. apply upd_comm; auto.
                ** exfalso; apply R, no_race_next; auto; [apply place_log|]. rewrite Nd; auto.
        * destruct (no_race_dec _ _ d y ya) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log]. tauto.
        * destruct (no_race_dec _ _ c x xa) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log]. tauto.
      + destruct (no_race_dec program s c x xa) as [Rc|Rc], (may true d o e (agent_of s d) (object_of s o)) eqn:M; auto;
          rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto.
        * left. eexists; split.
          -- unfold object_of at 1; cbn [objects]. fold (object_of s o). rewrite M. reflexivity.
          -- destruct (no_race_dec _ _ c x xa) as [R|R].
             ++ f_equal. cbn. f_equal; auto. apply upd_comm; auto.
             ++ exfalso; apply R, no_race_next; auto; [apply place_log|]. rewrite Nd; split; [auto|exact I].
        * unfold object_of at 1; cbn [objects]. fold (object_of s o). rewrite M. reflexivity.
        * destruct (no_race_dec _ _ c x xa) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log]. tauto.
      + destruct (no_race_dec program s c x xa) as [Rc|Rc]; auto;
          rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto.
        * left. eexists; split; [reflexivity|].
          destruct (no_race_dec _ _ c x xa) as [R|R].
          -- f_equal. cbn. f_equal; auto. apply upd_comm; auto.
          -- exfalso; apply R, no_race_next; auto; [apply place_log|]. rewrite Nd; split; [auto|exact I].
        * destruct (no_race_dec _ _ c x xa) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log]. tauto.
      + destruct (no_race_dec program s c x xa); auto.
    - destruct (next s d) as [[y ya|o e|]|] eqn:Nd; auto.
      + destruct (no_race_dec program s d y ya) as [Rd|Rd]; auto;
          rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto.
        * left. eexists; split; [|reflexivity].
          destruct (no_race_dec _ _ d y ya) as [R|R].
          -- f_equal. cbn. f_equal; auto. apply upd_comm; auto.
          -- exfalso; apply R, no_race_next; auto; [apply place_log|]. rewrite Nc; split; [auto|exact I].
        * destruct (no_race_dec _ _ d y ya) as [R|]; auto. apply no_race_next in R; auto; [|apply place_log]. tauto.
      + destruct (may true d o e (agent_of s d) (object_of s o)) eqn:M; auto;
          rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto;
          unfold object_of at 1; cbn [objects]; fold (object_of s o); rewrite M; auto.
        left. eexists; split; [reflexivity|]. f_equal. cbn. f_equal; auto. apply upd_comm; auto.
      + rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd by auto.
        left. eexists; split; [reflexivity|]. f_equal. cbn. f_equal; auto. apply upd_comm; auto.
  Qed.

  Lemma take_part_numbers c p e e' k (ag : agent) ob :
    number e' ag (take_part c p e k ob) = number e' ag ob /\ learned e' ag (take_part c p e k ob) = learned e' ag ob.
  Proof.
    destruct (take_part_phase c p e k ob) as [E1 E2].
    assert (E3 : number e' ag (take_part c p e k ob) = number e' ag ob) by (destruct e'; cbn; auto).
    split; auto. unfold learned. rewrite E3. destruct (waits_for e'); auto. unfold end_of.
    destruct (number e' ag ob); auto. rewrite E2; auto.
  Qed.

  Lemma act_act s c d : bounded s -> c <> d -> joins step s (Act c) (Act d).
  Proof.
    intros B N.
    destruct (next s c) as [[x xa|o e|]|] eqn:Nc; try (apply local_act; auto; congruence).
    destruct (next s d) as [[y ya|o' e'|]|] eqn:Nd; try (apply joins_sym, local_act; auto; congruence).
    unfold joins. cbn [Model.step]. unfold act. rewrite Nc, Nd.
    destruct (Nat.eq_dec o o') as [<-|D].
    - pose proof (two_operations c d o e e' (agent_of s c) (agent_of s d) (object_of s o)) as T.
      set (ag1 := log_event c (agent_of s c) _ _ _) in *. set (ag2 := log_event d (agent_of s d) _ _ _) in *.
      specialize (T (now ag1) (now ag2) N). destruct B as [BA BO].
      destruct (BA c) as [BC _], (BA d) as [BD _], (BO o) as (_ & BP & _).
      pose proof (BC d). pose proof (BD c). unfold place in *.
      assert (K1 : arrival_knows c (agent_of s c) e (now ag1)) by (destruct e; cbn; auto).
      assert (K2 : arrival_knows d (agent_of s d) e' (now ag2)) by (destruct e'; cbn; auto).
      specialize (T ltac:(lia) ltac:(lia) (BP c) (BP d) K1 K2).
      assert (T' := fun M => two_operations d c o e' e (agent_of s d) (agent_of s c) (object_of s o) (now ag2) (now ag1)
        (not_eq_sym N) ltac:(lia) ltac:(lia) (BP d) (BP c) K2 K1 M).
      destruct (may true c o e (agent_of s c) (object_of s o)) eqn:M1; auto;
        destruct (may true d o e' (agent_of s d) (object_of s o)) eqn:M2; auto;
        rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd, ?object_of_upd by auto.
      + specialize (T eq_refl). cbn zeta in T. destruct T as [[T1 T2]|[T1 T2]]; rewrite T1, T2; auto.
        left. eexists; split; [reflexivity|].
        destruct (take_part_numbers c (length (log (agent_of s c))) e e' (now ag1) (agent_of s d) (object_of s o)) as [-> ->].
        destruct (take_part_numbers d (length (log (agent_of s d))) e' e (now ag2) (agent_of s c) (object_of s o)) as [-> ->].
        fold ag1 ag2. cbn [agents objects memory]. f_equal. f_equal; [apply upd_comm; auto|].
        rewrite !upd_upd. f_equal. generalize (now ag1), (now ag2). intros k1 k2.
        destruct (object_of s o) as [ph n st arr b ex w ps ap en].
        destruct e as [m1 h1|b1|b1 h1|j1|p1|q1], e' as [m2 h2|b2|b2 h2|j2|p2|q2];
          cbn [take_part phase count stated arrived bytes expects waits passed arrivals_past ends]; f_equal; auto; try lia;
          try (apply upd_comm; auto); try (apply learn_swap); try (apply join_swap).
      + specialize (T eq_refl). cbn zeta in T. rewrite T. reflexivity.
      + specialize (T' eq_refl). cbn zeta in T'. rewrite T'. reflexivity.
    - destruct (may true c o e (agent_of s c) (object_of s o)) eqn:M1; auto;
        destruct (may true d o' e' (agent_of s d) (object_of s o')) eqn:M2; auto;
        rewrite ?next_upd_ne, ?agent_of_upd_ne, ?Nc, ?Nd, ?object_of_upd_ne by auto;
        rewrite ?M1, ?M2; auto.
      left. eexists; split; [reflexivity|]. f_equal. cbn [agents objects memory]. f_equal; auto.
      all: apply upd_comm; auto.
  Qed.

  Lemma full_later (s t : state) o :
    full program kinds s o -> (forall c, place s c <= place t c) ->
    count (object_of t o) = count (object_of s o) -> stated (object_of t o) = stated (object_of s o) -> bytes (object_of t o) = bytes (object_of s o) ->
    arrived (object_of t o) = arrived (object_of s o) -> full program kinds t o.
  Proof.
    intros F P C T B A. unfold full in *. rewrite C, T, B, A. destruct (kind_of kinds o); auto.
    destruct F as [F1 F2]; split; auto. eapply Forall_impl; [|exact F2]. cbn. intros c [H|H]; auto.
    right. unfold returned in *. specialize (P c). lia.
  Qed.

  Lemma place_upd_le (s : state) c (ag : agent) obs mem a :
    length (log ag) = S (place s c) -> place s a <= place (State (upd new_agent (agents s) c ag) obs mem) a.
  Proof.
    intros L. unfold place at 2. destruct (Nat.eq_dec a c) as [->|N].
    - rewrite agent_of_upd. lia.
    - rewrite agent_of_upd_ne by auto. auto.
  Qed.

  (** An object whose phase can end does not wait for operations, and none of them belongs to a later phase. *)
  Lemma operation_at_full (s : state) c o e :
    sound s -> full program kinds s o -> next s c = Some (Sync o e) ->
    let ag := agent_of s c in
    let ob := object_of s o in
    match may true c o e ag ob with
    | Stop => True
    | Wrong => may true c o e ag (end_phase s o ob) = Wrong
    | Go => match e with
            | WaitFor _ | WaitOwn _ => may true c o e ag (end_phase s o ob) = Go /\ learned e ag (end_phase s o ob) = learned e ag ob
            | WaitParity _ => may true c o e ag (end_phase s o ob) = Wrong
            | _ => False
            end
    end.
  Proof.
    intros [[B _] E] F Nc ag ob. specialize (B c). destruct B as [_ B]. specialize (B o). specialize (E o).
    fold ag in B. fold ob in B, E.
    unfold full in F. fold ob in F. unfold Model.may, may_arrive, may_expect, may_deliver, may_pass_parity, wrong.
    assert (R : ~ returned program s c).
    { unfold returned. unfold Model.next in Nc. intros R. apply nth_error_None in R. congruence. }
    assert (L : forall k, k < phase ob -> end_of (end_phase s o ob) (S k) = end_of ob (S k)).
    { intros k Lk. cbn. unfold get. rewrite app_nth1; auto. lia. }
    destruct e as [m h|b|b h|j|p|q]; cbn [Model.end_phase phase count stated arrived bytes].
    1-3: revert F; destruct (kind_of kinds o) as [n|l|]; [intros [F F0]|intros [_ F]; rewrite Forall_forall in F|intros [F0 F]]; cases; auto; try lia; try congruence.
    - destruct (F c); auto; lia.
    - cases; try lia; auto. split; auto. unfold learned; cbn [waits_for number]. rewrite L; auto.
    - cases; try lia; auto. split; auto. unfold learned; cbn [waits_for number]. rewrite L; auto.
    - assert (S (at_ (over (now ag)) o) < S (phase ob) \/ phase ob = at_ (over (now ag)) o) as [L'|L'] by lia;
        cases; auto; try lia; congruence.
  Qed.

  (** What the end of a phase passes on does not depend on what agents do at the same time. *)
  Lemma released_later (s t : state) o ob : end_phase t o ob = end_phase s o ob.
  Proof. unfold Model.end_phase, released. rewrite !returning_orders_nothing. reflexivity. Qed.

  Lemma end_ok (t : state) o ob :
    full program kinds t o -> object_of t o = ob -> within (waits ob) (past (passed ob)) ->
    step t (End o) = Ok (State (agents t) (upd new_object (objects t) o (end_phase t o ob)) (memory t)).
  Proof.
    intros F <- W. cbn. destruct (full_dec program kinds t o); [|contradiction].
    destruct (within_dec _ _); [reflexivity|contradiction].
  Qed.

  Lemma end_bad (t : state) o ob :
    full program kinds t o -> object_of t o = ob -> ~ within (waits ob) (past (passed ob)) -> step t (End o) = Bad.
  Proof.
    intros F <- W. cbn. destruct (full_dec program kinds t o); [|contradiction].
    destruct (within_dec _ _); [contradiction|reflexivity].
  Qed.

  Lemma act_of_same_agents (t s : state) c : agents t = agents s ->
    agent_of t c = agent_of s c /\ next t c = next s c /\ forall x xa, no_race program s c x xa <-> no_race program t c x xa.
  Proof.
    intros E. unfold no_race, Model.next, place, agent_of. rewrite E. repeat split; auto.
  Qed.

  Lemma act_end s c o : sound s -> joins step s (Act c) (End o).
  Proof.
    intros V. unfold joins.
    destruct (full_dec program kinds s o) as [F|F].
    2:{ cbn [Model.step]. destruct (full_dec program kinds s o); [contradiction|]. destruct (act _ _ _ _ _ _ s c); auto. }
    set (ob := object_of s o).
    set (t := State (agents s) (upd new_object (objects s) o (end_phase s o ob)) (memory s)).
    destruct (act_of_same_agents t s c eq_refl) as (Ea & En & Er).
    assert (F' : forall ag' obs mem, length (log ag') = S (place s c) ->
        count (get new_object obs o) = count ob -> stated (get new_object obs o) = stated ob -> bytes (get new_object obs o) = bytes ob -> arrived (get new_object obs o) = arrived ob ->
        full program kinds (State (upd new_agent (agents s) c ag') obs mem) o).
    { intros. eapply full_later; eauto. intros a; apply place_upd_le; auto. }
    (* Steps that leave the object as it is. *)
    assert (local : forall ag' obs mem obs',
        length (log ag') = S (place s c) -> step s (Act c) = Ok (State (upd new_agent (agents s) c ag') obs mem) ->
        get new_object obs o = ob -> upd new_object obs o (end_phase s o ob) = obs' ->
        step t (Act c) = Ok (State (upd new_agent (agents s) c ag') obs' mem) ->
        joins step s (Act c) (End o)).
    { intros ag' obs mem obs' L H Ho Hobs Ht. unfold joins. rewrite H.
      destruct (within_dec (waits ob) (past (passed ob))) as [W|W].
      - rewrite (end_ok s o ob F eq_refl W). fold t. left. eexists; split; [|exact Ht].
        rewrite (end_ok _ o ob); auto; [rewrite (released_later s); cbn [agents objects memory]; rewrite Hobs; auto|]. apply F'; auto; rewrite Ho; auto.
      - rewrite (end_bad s o ob F eq_refl W). eapply end_bad; eauto. apply F'; auto; rewrite Ho; auto. }
    assert (wrong_too : step s (Act c) = Bad -> step t (Act c) = Bad -> joins step s (Act c) (End o)).
    { intros H Ht. unfold joins. rewrite H. destruct (within_dec (waits ob) (past (passed ob))) as [W|W].
      - rewrite (end_ok s o ob F eq_refl W). exact Ht.
      - rewrite (end_bad s o ob F eq_refl W). exact I. }
    change (joins step s (Act c) (End o)).
    destruct (next s c) as [[x xa|o' e|]|] eqn:Nc.
    - destruct (no_race_dec program s c x xa) as [R|R].
      + eapply local with (obs := objects s); [apply place_log|..|reflexivity|reflexivity|]; cbn; unfold act.
        * rewrite Nc. destruct (no_race_dec program s c x xa); [reflexivity|contradiction].
        * rewrite En, Ea. destruct (no_race_dec program t c x xa) as [R'|R']; [reflexivity|destruct (R' (proj1 (Er _ _) R))].
      + apply wrong_too; cbn; unfold act.
        * rewrite Nc. destruct (no_race_dec program s c x xa); [contradiction|reflexivity].
        * rewrite En. destruct (no_race_dec program t c x xa) as [R'|R']; [destruct (R (proj2 (Er _ _) R'))|reflexivity].
    - destruct (Nat.eq_dec o' o) as [->|D].
      + pose proof (operation_at_full s c o e V F Nc) as T. cbn zeta in T. fold ob in T.
        assert (Ot : object_of t o = end_phase s o ob) by apply object_of_upd.
        destruct (may true c o e (agent_of s c) ob) eqn:M.
        * destruct e as [m h|b|b h|j|p|q]; try contradiction.
          1-2: destruct T as [T1 T2]; eapply local with (obs := upd new_object (objects s) o ob);
            [apply place_log|..|apply get_upd_eq|rewrite upd_upd; reflexivity|]; cbn; unfold act;
            [rewrite Nc; fold ob; rewrite M; reflexivity|rewrite En, Ea, Ot, T1, T2; cbn [agents objects memory number take_part t];
             rewrite upd_upd; reflexivity].
          unfold joins. cbn [Model.step]. unfold act at 1 2. rewrite Nc. fold ob. rewrite M.
          assert (PW : forall v, ~ within (upd 0 v c (S (place s c))) (past (passed ob))).
          { intros v. apply not_within_upd. destruct V as [[_ BO] _]. destruct (BO o) as ((P & _) & _). apply P. }
          set (sa := State _ (upd new_object _ o (take_part _ _ _ _ _)) _).
          assert (Bsa : step sa (End o) = Bad).
          { eapply end_bad; [|apply object_of_upd|].
            - apply F'; [apply place_log|..]; fold (object_of (State (agents s) (upd new_object (objects s) o
                (take_part c (length (log (agent_of s c))) (WaitParity q) (now (log_event c (agent_of s c) (number (WaitParity q) (agent_of s c) ob)
                (learned (WaitParity q) (agent_of s c) ob) (registers (agent_of s c)))) ob)) (memory s)) o);
                rewrite get_upd_eq; destruct ob; reflexivity.
            - pose proof (PW (waits ob)) as PW'. unfold place in PW'. destruct ob; exact PW'. }
          destruct (full_dec program kinds s o); [|contradiction]. fold ob.
          destruct (within_dec (waits ob) (past (passed ob))) as [W|W]; auto.
          fold t. right; split; auto. cbn; unfold act. rewrite En, Ea, Ot, T; auto.
        * unfold joins; cbn [Model.step]. unfold act. rewrite Nc. fold ob. rewrite M. exact I.
        * apply wrong_too; cbn; unfold act; [rewrite Nc; fold ob; rewrite M; auto|rewrite En, Ea, Ot, T; auto].
      + assert (Ot : object_of t o' = object_of s o') by (apply object_of_upd_ne; auto).
        destruct (may true c o' e (agent_of s c) (object_of s o')) eqn:M.
        * eapply local with (obs := upd new_object (objects s) o' (take_part c (length (log (agent_of s c))) e
            (now (log_event c (agent_of s c) (number e (agent_of s c) (object_of s o'))
              (learned e (agent_of s c) (object_of s o')) (registers (agent_of s c)))) (object_of s o')));
            [apply place_log|..|rewrite get_upd_ne by auto; reflexivity|apply upd_comm; auto|]; cbn; unfold act.
          -- rewrite Nc, M; reflexivity.
          -- rewrite En, Ea, Ot, M. reflexivity.
        * unfold joins; cbn [Model.step]. unfold act. rewrite Nc, M. exact I.
        * apply wrong_too; cbn; unfold act; [rewrite Nc, M; auto|rewrite En, Ea, Ot, M; auto].
    - eapply local with (obs := objects s); [apply place_log|..|reflexivity|reflexivity|]; cbn; unfold act;
        [rewrite Nc; reflexivity|rewrite En, Ea; reflexivity].
    - unfold joins; cbn [Model.step]. unfold act. rewrite Nc. exact I.
  Qed.

  Lemma end_end s o o' : o <> o' -> joins step s (End o) (End o').
  Proof.
    intros N. unfold joins. cbn [Model.step].
    destruct (full_dec program kinds s o) as [F|F]; [|exact I].
    destruct (full_dec program kinds s o') as [F'|F']; [|destruct (within_dec _ _); exact I].
    assert (L : forall a b ob, a <> b -> full program kinds s b ->
        full program kinds (State (agents s) (upd new_object (objects s) a ob) (memory s)) b).
    { intros a b ob D G. eapply full_later; eauto; rewrite object_of_upd_ne; auto. }
    destruct (within_dec (waits (object_of s o)) _) as [W|W], (within_dec (waits (object_of s o')) _) as [W'|W']; auto.
    - left. eexists; split.
      + destruct (full_dec _ _ _ o') as [G|G]; [|destruct (G (L _ _ _ N F'))].
        rewrite object_of_upd_ne by auto. destruct (within_dec (waits (object_of s o')) _); [reflexivity|contradiction].
      + destruct (full_dec _ _ _ o) as [G|G]; [|destruct (G (L _ _ _ (not_eq_sym N) F))].
        rewrite object_of_upd_ne by auto. destruct (within_dec (waits (object_of s o)) _); [|contradiction].
        cbn [agents objects memory]. f_equal. f_equal. rewrite upd_comm by auto. reflexivity.
    - destruct (full_dec _ _ _ o') as [G|G]; [|destruct (G (L _ _ _ N F'))].
      rewrite object_of_upd_ne by auto. destruct (within_dec (waits (object_of s o')) _); [contradiction|reflexivity].
    - destruct (full_dec _ _ _ o) as [G|G]; [|destruct (G (L _ _ _ (not_eq_sym N) F))].
      rewrite object_of_upd_ne by auto. destruct (within_dec (waits (object_of s o)) _); [contradiction|reflexivity].
  Qed.

  Theorem checked_diamond s a b : sound s -> a <> b -> joins step s a b.
  Proof.
    intros V N. destruct a as [c|o], b as [d|o'].
    - apply act_act; [apply V|congruence].
    - apply act_end; auto.
    - apply joins_sym, act_end; auto.
    - apply end_end; congruence.
  Qed.
End Checked.
