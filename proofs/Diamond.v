(** Runs of a machine whose steps commute, or both lead to an error.

    A machine has labels; at each state, a label is blocked, is an error, or leads to one state. If any two labels that
    are not blocked commute, or are an error in both orders, then one run that ends well speaks for all. *)
From Volta Require Import Maps.

Inductive res (S : Type) := Blocked | Bad | Ok (s : S).
Arguments Blocked {S}. Arguments Bad {S}. Arguments Ok {S}.

Section Diamond.
  Context {state label : Type} (step : state -> label -> res state).
  Variable label_dec : forall a b : label, {a = b} + {a <> b}.

  (** [Blocked] if some label of the run is blocked when its turn comes. *)
  Fixpoint run (s : state) (labels : list label) : res state :=
    match labels with
    | [] => Ok s
    | a :: rest => match step s a with Ok s' => run s' rest | r => match rest with [] => r | _ => Blocked end end
    end.

  Definition final s := forall a, step s a = Blocked.
  Definition reaches s s' := exists labels, run s labels = Ok s'.
  Definition fails s := exists labels, run s labels = Bad.

  Lemma run_app s l l' : run s (l ++ l') = match run s l with Ok s' => run s' l' | r => match l' with [] => r | _ => Blocked end end.
  Proof.
    revert s; induction l as [|a l IH]; intros s; cbn; auto.
    destruct (step s a); auto; destruct l; destruct l'; cbn; auto.
  Qed.

  Lemma run_snoc s l a s1 : run s l = Ok s1 -> run s (l ++ [a]) = step s1 a.
  Proof. intros H. rewrite run_app, H. cbn. destruct (step s1 a); auto. Qed.

  (** A run that is no error, label by label from its end. *)
  Lemma run_ind_ok (P : state -> Prop) s :
    P s -> (forall s1 a s2, reaches s s1 -> P s1 -> step s1 a = Ok s2 -> P s2) ->
    forall l s', run s l = Ok s' -> P s'.
  Proof.
    intros H0 HS l. induction l as [|a l IH] using rev_ind; intros s' H.
    - injection H as <-; auto.
    - rewrite run_app in H. destruct (run s l) as [| |s1] eqn:E; try discriminate.
      cbn in H. destruct (step s1 a) eqn:E'; try discriminate. injection H as ->.
      apply (HS s1 a); auto. exists l; auto.
  Qed.

  Variable inv : state -> Prop.
  Hypothesis inv_step : forall s a s', inv s -> step s a = Ok s' -> inv s'.

  Definition joins s a b :=
    match step s a, step s b with
    | Ok sa, Ok sb => (exists s', step sa b = Ok s' /\ step sb a = Ok s') \/ (step sa b = Bad /\ step sb a = Bad)
    | Ok sa, Bad => step sa b = Bad
    | Bad, Ok sb => step sb a = Bad
    | _, _ => True
    end.

  Hypothesis diamond : forall s a b, inv s -> a <> b -> joins s a b.

  (** A label that is not blocked is the first of a run as short, to the same end. *)
  Lemma first_of_a_good_run l : forall s b sf,
    inv s -> run s l = Ok sf -> final sf -> step s b <> Blocked ->
    exists sb l', step s b = Ok sb /\ run sb l' = Ok sf /\ length l = S (length l').
  Proof.
    induction l as [|a l IH]; intros s b sf Hi Hr Hf Hb.
    - injection Hr as ->. destruct (Hb (Hf b)).
    - cbn in Hr. destruct (step s a) as [| |sa] eqn:Ea; [destruct l; discriminate..|].
      destruct (label_dec a b) as [<-|N]; [exists sa, l; auto|].
      pose proof (diamond s a b Hi N) as D; unfold joins in D. rewrite Ea in D.
      destruct (step s b) as [| |sb] eqn:Eb; [congruence|..].
      + destruct (IH sa b sf) as (? & ? & ? & _); eauto; congruence.
      + destruct D as [(s' & D1 & D2)|[D1 _]].
        * destruct (IH sa b sf) as (s1 & l' & E & R & L); eauto; [congruence|].
          rewrite D1 in E; injection E as <-.
          exists sb, (a :: l'); cbn. rewrite D2. auto.
        * destruct (IH sa b sf) as (? & ? & ? & _); eauto; congruence.
  Qed.

  (** One run that ends well speaks for all: no run fails, and each one extends to the same end. *)
  Theorem one_run_for_all s l sf :
    inv s -> run s l = Ok sf -> final sf ->
    forall l', run s l' <> Bad /\
      forall s', run s l' = Ok s' -> exists rest, run s' rest = Ok sf /\ length l = length l' + length rest.
  Proof.
    intros Hi Hr Hf l'. revert s l Hi Hr. induction l' as [|b l' IH]; intros s l Hi Hr; cbn.
    - split; [discriminate|]. intros s' E; injection E as <-. exists l; auto.
    - destruct (step s b) as [| |sb] eqn:Eb.
      + split; destruct l'; discriminate.
      + destruct (first_of_a_good_run l s b sf) as (? & ? & ? & _); auto; congruence.
      + destruct (first_of_a_good_run l s b sf) as (sb' & m & E & R & L); auto; [congruence|].
        rewrite Eb in E; injection E as <-.
        destruct (IH sb m) as [IH1 IH2]; eauto. split; auto.
        intros s' H. destruct (IH2 s' H) as (rest & ? & ?). exists rest. split; auto. lia.
  Qed.

  (** An end is the same end for all. *)
  Corollary ends_agree s l sf l' s' :
    inv s -> run s l = Ok sf -> final sf -> run s l' = Ok s' -> final s' -> s' = sf /\ length l' = length l.
  Proof.
    intros Hi Hr Hf Hr' Hf'. destruct (one_run_for_all s l sf Hi Hr Hf l') as [_ H].
    destruct (H s' Hr') as (rest & R & L). destruct rest as [|a rest].
    - injection R as <-. cbn in L; split; auto; lia.
    - cbn in R. rewrite (Hf' a) in R. destruct rest; discriminate.
  Qed.

  (** If one run fails, each one can be continued to fail. *)
  Theorem one_failure_for_all s :
    inv s -> fails s -> forall l' s', run s l' = Ok s' -> fails s'.
  Proof.
    assert (one : forall l s b sb, inv s -> run s l = Bad -> step s b = Ok sb -> fails sb).
    { induction l as [|a l IH]; intros s0 b sb Hi Hr Hb; [discriminate|].
      destruct (label_dec a b) as [<-|N].
      - cbn in Hr; rewrite Hb in Hr. exists l; auto.
      - pose proof (diamond s0 a b Hi N) as D; unfold joins in D. rewrite Hb in D.
        cbn in Hr. destruct (step s0 a) as [| |sa] eqn:Ea; [destruct l; discriminate| |].
        + exists [a]; cbn. rewrite D; auto.
        + destruct D as [(s' & D1 & D2)|[D1 D2]].
          * destruct (IH sa b s') as [m M]; eauto. exists (a :: m); cbn. rewrite D2; auto.
          * exists [a]; cbn. rewrite D2; auto. }
    intros Hi Hf l'. revert s Hi Hf. induction l' as [|b l' IH]; intros s Hi [l Hl] s' H.
    - injection H as <-. exists l; auto.
    - cbn in H. destruct (step s b) as [| |sb] eqn:Eb; [destruct l'; discriminate..|].
      eapply IH; [..|exact H]; eauto.
  Qed.

  (** Confluence: two runs of one state can be continued to one state, or both to an error. *)
  Theorem confluence s l1 s1 l2 s2 :
    inv s -> run s l1 = Ok s1 -> run s l2 = Ok s2 ->
    (exists s', reaches s1 s' /\ reaches s2 s') \/ (fails s1 /\ fails s2).
  Proof.
    assert (inv_run : forall l s s', inv s -> run s l = Ok s' -> inv s').
    { induction l as [|a l IH]; cbn; intros t t' Hi H; [congruence|].
      destruct (step t a) eqn:E; [destruct l; discriminate..|]. eauto. }
    (* A single step against a run. *)
    assert (strip : forall l s b sb s1, inv s -> step s b = Ok sb -> run s l = Ok s1 ->
      fails sb /\ fails s1 \/ exists s' l', run sb l' = Ok s' /\ length l' <= length l /\ (s' = s1 \/ step s1 b = Ok s')).
    { clear s l1 s1 l2 s2. induction l as [|a l IH]; intros s b sb s1 Hi Hb Hr.
      - injection Hr as <-. right; exists sb, []; cbn; auto.
      - cbn in Hr. destruct (step s a) as [| |sa] eqn:Ea; [destruct l; discriminate..|].
        destruct (label_dec a b) as [<-|N].
        { right. exists s1, l. rewrite Hb in Ea; injection Ea as <-. cbn; auto. }
        pose proof (diamond s a b Hi N) as D; unfold joins in D. rewrite Ea, Hb in D.
        destruct D as [(s' & D1 & D2)|[D1 D2]].
        + destruct (IH sa b s' s1) as [[[m F] F']|(t & m & R & L & E)]; eauto.
          * left; split; auto. exists (a :: m); cbn; rewrite D2; auto.
          * right. exists t, (a :: m); cbn. rewrite D2. repeat split; auto; lia.
        + left; split; [exists [a]; cbn; rewrite D2; auto|].
          apply (one_failure_for_all sa) with (l' := l); eauto. exists [b]; cbn; rewrite D1; auto. }
    revert s l1 s1 s2. induction l2 as [|b l2 IH]; intros s l1 s1 s2 Hi H1 H2.
    - injection H2 as <-. left; exists s1; split; [exists []|exists l1]; auto.
    - cbn in H2. destruct (step s b) as [| |sb] eqn:Eb; [destruct l2; discriminate..|].
      destruct (strip l1 s b sb s1 Hi Eb H1) as [[F1 F2]|(t & m & R & _ & E)].
      + right; split; auto. eapply one_failure_for_all; [..|exact H2]; eauto.
      + destruct (IH sb m t s2) as [(u & [p P] & Q)|[[p P] F]]; eauto.
        * left; exists u; split; auto. destruct E as [->|E]; [exists p; auto|].
          exists (b :: p); cbn; rewrite E; auto.
        * right; split; auto. destruct E as [->|E]; [exists p; auto|].
          exists (b :: p); cbn; rewrite E; auto.
  Qed.
End Diamond.
