(** The epoch detector never misses: what it accepts, the vector clocks accept.

    One cell of memory is considered. The epoch detector (volta-core/src/concurrency/epoch.rs) keeps for it the last write and
    some of the reads of the present epoch; epochs end at barriers at which every thread waits, and whole warps
    synchronise. The exact detector keeps everything: which accesses each thread knows, as a set, which is what vector
    clocks encode. Both watch the same sequence of operations. *)
From Volta Require Import Maps.

Definition thread := (nat * nat)%type.   (* warp and lane *)

Definition thread_eq (t u : thread) : {t = u} + {t <> u}.
Proof. decide equality; apply Nat.eq_dec. Defined.

Inductive operation :=
| Everybody                              (* a barrier at which every thread waits *)
| Warp (warp : nat)                      (* all lanes of a warp synchronise *)
| Reads (by_ : thread)
| Writes (by_ : thread)
| Updates (by_ : thread) (kind : nat)    (* atomically *)
| Begins (by_ : thread)                  (* a copy that will write, until it is waited for *)
| Ends.

Inductive kind := Read | Write | Update (kind : nat).

(** An access as the exact detector records it; [before] is what its thread knew, and [epoch_of] and [sync_of] are those
    from which on its thread knows it. *)
Record access := Access { time : nat; epoch_of : nat; sync_of : nat; who : thread; what : kind; before : nat -> Prop }.

Inductive writer := Thread (t : thread) | Atomic (kind : nat).

Record shadow := Shadow {
  write_epoch : option nat;              (* [None]: a copy is under way *)
  write_sync : nat;
  write_thread : writer;
  read_epoch : nat;
  read_sync : nat;
  read_warp : option nat;                (* [None]: many *)
  read_lanes : list nat
}.

Record both := Both {
  epoch : nat;
  syncs : nat -> nat;
  cell : shadow;
  now : nat;
  known : thread -> nat -> Prop;
  history : list access;
  under_way : option (thread * nat * (nat -> Prop))
}.

(** ** The epoch detector *)

Definition conflicts_with_write s (t : thread) :=
  match write_epoch (cell s) with
  | None => True
  | Some e => e = epoch s /\
    match write_thread (cell s) with
    | Thread u => u <> t /\ ~ (fst u = fst t /\ write_sync (cell s) < syncs s (fst t))
    | Atomic _ => True
    end
  end.

Definition conflicts_with_read s (t : thread) :=
  read_epoch (cell s) = epoch s /\
  ~ (read_warp (cell s) = Some (fst t) /\ (read_sync (cell s) < syncs s (fst t) \/ forall l, In l (read_lanes (cell s)) -> l = snd t)).

Definition epoch_accepts s op :=
  match op with
  | Everybody | Warp _ => True
  | Ends => under_way s <> None
  | Reads t => ~ conflicts_with_write s t
  | Writes t | Begins t => ~ conflicts_with_write s t /\ ~ conflicts_with_read s t
  | Updates t k =>
    match write_epoch (cell s) with None => False | Some e => e = epoch s -> write_thread (cell s) = Atomic k end /\
    ~ conflicts_with_read s t
  end.

Definition read_cell s (t : thread) (c : shadow) :=
  let '(Shadow we ws wt re rs rw rl) := c in
  if Nat.eq_dec re (epoch s) then
    match rw with
    | Some w =>
      if Nat.eq_dec w (fst t) then
        if Nat.eq_dec rs (syncs s (fst t)) then Shadow we ws wt re rs rw (snd t :: rl)
        else Shadow we ws wt re (syncs s (fst t)) rw [snd t]
      else Shadow we ws wt re rs None rl
    | None => c
    end
  else Shadow we ws wt (epoch s) (syncs s (fst t)) (Some (fst t)) [snd t].

Definition written s (we : option nat) (wt : writer) w (c : shadow) :=
  Shadow we (syncs s w) wt (read_epoch c) (read_sync c) (read_warp c) (read_lanes c).

(** ** The exact detector *)

Definition conflicting j k :=
  match j, k with Read, Read => False | Update a, Update b => a <> b | _, _ => True end.

Definition exact_accepts_access s (t : thread) k :=
  under_way s = None /\ forall a, In a (history s) -> conflicting (what a) k -> known s t (time a).

Definition exact_accepts s op :=
  match op with
  | Everybody | Warp _ | Ends => True
  | Reads t => exact_accepts_access s t Read
  | Writes t | Begins t => exact_accepts_access s t Write
  | Updates t k => exact_accepts_access s t (Update k)
  end.

Definition also_knows (known : thread -> nat -> Prop) (t : thread) n u p := known u p \/ (u = t /\ p = n).

(** ** Both, after an operation *)

Definition accessed s c (t : thread) k :=
  Both (epoch s) (syncs s) c (S (now s)) (also_knows (known s) t (now s))
    (Access (now s) (epoch s) (syncs s (fst t)) t k (known s t) :: history s) (under_way s).

Definition next s op : both :=
  match op with
  | Everybody => Both (S (epoch s)) (syncs s) (cell s) (now s) (fun _ p => exists u, known s u p) (history s) (under_way s)
  | Warp w =>
    Both (epoch s) (fun v => if Nat.eq_dec v w then S (syncs s w) else syncs s v) (cell s) (now s)
      (fun u p => known s u p \/ (fst u = w /\ exists v, fst v = w /\ known s v p)) (history s) (under_way s)
  | Reads t => accessed s (read_cell s t (cell s)) t Read
  | Writes t => accessed s (written s (Some (epoch s)) (Thread t) (fst t) (cell s)) t Write
  | Updates t k => accessed s (written s (Some (epoch s)) (Atomic k) (fst t) (cell s)) t (Update k)
  | Begins t =>
    Both (epoch s) (syncs s) (written s None (Thread t) (fst t) (cell s)) (S (now s)) (known s) (history s) (Some (t, now s, known s t))
  | Ends =>
    match under_way s with
    | None => s
    | Some (t, n, b) =>
      Both (epoch s) (syncs s) (written s (Some (epoch s)) (Thread t) (fst t) (cell s)) (now s) (also_knows (known s) t n)
        (Access n (epoch s) (syncs s (fst t)) t Write b :: history s) None
    end
  end.

Fixpoint all_accepted (accepts : both -> operation -> Prop) s ops :=
  match ops with [] => True | op :: ops => accepts s op /\ all_accepted accepts (next s op) ops end.

Definition clean := Shadow (Some 0) 0 (Thread (0, 0)) 0 0 None [].
Definition start := Both 1 (fun _ => 0) clean 0 (fun _ _ => False) [] None.

(** ** The invariant *)

Definition is_write k := match k with Read => False | _ => True end.

Record agrees s : Prop := {
  (** What both kinds of synchronisation order. *)
  of_access : forall a, In a (history s) -> epoch_of a <= epoch s /\ sync_of a <= syncs s (fst (who a)) /\
    forall u, (u = who a \/ epoch_of a < epoch s \/ (fst u = fst (who a) /\ sync_of a < syncs s (fst u))) -> known s u (time a);
  (** Who knows an access knows what came before it. *)
  of_before : forall a u, In a (history s) -> known s u (time a) -> forall p, before a p -> known s u p;
  of_time : forall u p, known s u p -> p < now s;
  of_history : forall a, In a (history s) -> time a < now s;
  of_under_way : match under_way s with
    | None => write_epoch (cell s) <> None
    | Some (t, n, b) => write_epoch (cell s) = None /\ n < now s /\ (forall p, b p -> known s t p) /\ (forall u, ~ known s u n) /\
        (forall a, In a (history s) -> is_write (what a) -> b (time a))
    end;
  of_writes : forall e, write_epoch (cell s) = Some e -> e <= epoch s /\
    (forall a, In a (history s) -> is_write (what a) -> epoch_of a <= e) /\
    match write_thread (cell s) with
    | Atomic k => forall a, In a (history s) -> is_write (what a) -> epoch_of a = e -> what a = Update k
    | Thread t => (forall a, In a (history s) -> is_write (what a) -> epoch_of a < epoch s) \/
        exists m, In m (history s) /\ epoch_of m = e /\ sync_of m = write_sync (cell s) /\ who m = t /\
          forall a, In a (history s) -> is_write (what a) -> time a = time m \/ before m (time a)
    end;
  of_reads : read_epoch (cell s) <= epoch s /\
    forall a, In a (history s) -> what a = Read -> epoch_of a <= read_epoch (cell s) /\
      (epoch_of a = read_epoch (cell s) -> forall w, read_warp (cell s) = Some w ->
        fst (who a) = w /\ sync_of a <= read_sync (cell s) <= syncs s w /\ (sync_of a = read_sync (cell s) -> In (snd (who a)) (read_lanes (cell s))))
}.

Lemma agrees_start : agrees start.
Proof.
  constructor; cbn; try tauto; try discriminate.
  - intros e [= <-]. split; [auto|]. split; [tauto|]. left; tauto.
  - split; [auto|tauto].
Qed.

(** A thread that does not conflict with the last write knows all writes. *)
Lemma knows_writes s t a : agrees s -> ~ conflicts_with_write s t -> In a (history s) -> is_write (what a) -> known s t (time a).
Proof.
  intros V C H W. unfold conflicts_with_write in C. destruct (write_epoch (cell s)) as [e|] eqn:E; [|tauto].
  destruct (of_writes s V e E) as (L & A & B). destruct (of_access s V a H) as (_ & _ & K).
  destruct (Nat.eq_dec e (epoch s)) as [->|N].
  2: { apply K. specialize (A a H W). right; left. lia. }
  destruct (write_thread (cell s)) as [u|k]; [|tauto].
  destruct B as [B|(m & M & Em & Sm & Wm & B)]; [apply K; right; left; auto|].
  destruct (of_access s V m M) as (_ & _ & Km).
  assert (T : known s t (time m)).
  { apply Km. rewrite Wm, Sm. destruct (thread_eq u t) as [->|D]; [auto|]. right; right.
    destruct (Nat.eq_dec (fst u) (fst t)) as [F|F]; [destruct (lt_dec (write_sync (cell s)) (syncs s (fst t))) as [G|G]; [auto|]|];
      exfalso; apply C; (split; [auto|split; [auto|intros [? ?]; contradiction]]). }
  destruct (B a H W) as [->|P]; auto. eapply of_before; eauto.
Qed.

(** A thread that does not conflict with the reads that are kept knows all reads. *)
Lemma knows_reads s t a : agrees s -> ~ conflicts_with_read s t -> In a (history s) -> what a = Read -> known s t (time a).
Proof.
  intros V C H W. destruct (of_reads s V) as (L & B). destruct (B a H W) as (B1 & B2).
  destruct (of_access s V a H) as (_ & _ & K). apply K.
  destruct (lt_dec (epoch_of a) (epoch s)) as [|N]; [auto|].
  assert (E : read_epoch (cell s) = epoch s) by lia.
  destruct (read_warp (cell s)) as [w|] eqn:Ew.
  2: { exfalso. apply C. split; auto. intros [? _]; congruence. }
  destruct (B2 ltac:(lia) w eq_refl) as (Ba & Bb & Bc).
  destruct (Nat.eq_dec w (fst t)) as [->|Nw].
  2: { exfalso. apply C. split; auto. intros [F _]. congruence. }
  destruct (lt_dec (sync_of a) (syncs s (fst t))) as [Ls|Ls]; [auto|].
  left. destruct (thread_eq t (who a)) as [|D]; auto. exfalso. apply C. split; auto. intros [_ [F|F]]; [lia|].
  apply D. rewrite (surjective_pairing t), (surjective_pairing (who a)). f_equal; auto. symmetry. apply F, Bc. lia.
Qed.

(** ** Each operation keeps it *)

Lemma conflicts_none s t : agrees s -> ~ conflicts_with_write s t -> under_way s = None.
Proof.
  intros V C. pose proof (of_under_way s V) as U. destruct (under_way s) as [[[u n] b]|]; auto.
  destruct U as (U & _). exfalso. apply C. unfold conflicts_with_write. rewrite U. exact I.
Qed.

(** What does not depend on the cell, after an access at time [now s]. *)
Lemma agrees_accessed s c t k :
  agrees s -> under_way s = None -> write_epoch c <> None ->
  let s' := accessed s c t k in
  (forall e, write_epoch c = Some e -> e <= epoch s /\
    (forall a, In a (history s') -> is_write (what a) -> epoch_of a <= e) /\
    match write_thread c with
    | Atomic k => forall a, In a (history s') -> is_write (what a) -> epoch_of a = e -> what a = Update k
    | Thread t => (forall a, In a (history s') -> is_write (what a) -> epoch_of a < epoch s) \/
        exists m, In m (history s') /\ epoch_of m = e /\ sync_of m = write_sync c /\ who m = t /\
          forall a, In a (history s') -> is_write (what a) -> time a = time m \/ before m (time a)
    end) ->
  (read_epoch c <= epoch s /\
    forall a, In a (history s') -> what a = Read -> epoch_of a <= read_epoch c /\
      (epoch_of a = read_epoch c -> forall w, read_warp c = Some w ->
        fst (who a) = w /\ sync_of a <= read_sync c <= syncs s w /\ (sync_of a = read_sync c -> In (snd (who a)) (read_lanes c)))) ->
  agrees s'.
Proof.
  intros V U We s' W R. constructor; auto.
  - intros a [<-|H]; cbn.
    + repeat split; auto. intros u [->|[F|[E F]]]; [right; auto|lia|]. rewrite E in F. lia.
    + destruct (of_access s V a H) as (A & B & C). repeat split; auto. intros u Hu. left. auto.
  - intros a u [<-|H] K p P; cbn in *.
    + destruct K as [K|[-> _]]; [apply of_time in K; auto; lia|left; auto].
    + destruct K as [K|[-> E]]; [left; eapply of_before; eauto|]. pose proof (of_history s V a H). lia.
  - intros u p [K|[_ ->]]; cbn; [apply of_time in K; auto; lia|lia].
  - intros a [<-|H]; cbn; [lia|]. pose proof (of_history s V a H). lia.
  - cbn. rewrite U. auto.
Qed.

Theorem agrees_next s op : agrees s -> epoch_accepts s op -> exact_accepts s op /\ agrees (next s op).
Proof.
  intros V A.
  destruct op as [|w|t|t|t k|t|]; cbn [epoch_accepts exact_accepts] in *.
  - (* everybody *) split; auto. constructor; cbn.
    + intros a H. destruct (of_access s V a H) as (B & C & D). repeat split; auto. intros _ _. exists (who a). auto.
    + intros a u H [v K] p P. exists v. eapply of_before; eauto.
    + intros u p [v K]. eapply of_time; eauto.
    + apply (of_history s V).
    + pose proof (of_under_way s V) as U. destruct (under_way s) as [[[t n] b]|]; auto. destruct U as (U1 & U2 & U3 & U4 & U5).
      repeat split; eauto. intros u [v K]. eapply U4; eauto.
    + intros e E. destruct (of_writes s V e E) as (L & B & C). repeat split; auto.
      destruct (write_thread (cell s)); auto. left. intros a H W. specialize (B a H W). lia.
    + destruct (of_reads s V) as (L & B). split; auto.
  - (* a warp *) split; auto. constructor; cbn.
    + intros a H. destruct (of_access s V a H) as (B & C & D). repeat split; auto.
      * destruct (Nat.eq_dec (fst (who a)) w) as [<-|]; lia.
      * intros u Hu. destruct (Nat.eq_dec (fst u) w) as [E|N].
        -- destruct Hu as [Hu|[Hu|[Hu Hs]]]; [left; auto..|]. right. split; auto. exists (who a). split; [congruence|auto].
        -- left; auto.
    + intros a u H [K|[Hu (v & Hv & K)]] p P; [left|right; split; auto; exists v; split; auto]; eapply of_before; eauto.
    + intros u p [K|[_ (v & _ & K)]]; eapply of_time; eauto.
    + apply (of_history s V).
    + pose proof (of_under_way s V) as U. destruct (under_way s) as [[[t n] b]|]; auto. destruct U as (U1 & U2 & U3 & U4 & U5).
      repeat split; eauto. intros u [K|[_ (v & _ & K)]]; eapply U4; eauto.
    + apply (of_writes s V).
    + destruct (of_reads s V) as (L & B). split; auto. intros a H W. destruct (B a H W) as (B1 & B2). split; auto.
      intros E v Ev. destruct (B2 E v Ev) as (? & ? & ?). repeat split; auto; try lia. destruct (Nat.eq_dec v w); subst; lia.
  - (* reads *)
    assert (U : under_way s = None) by (eapply conflicts_none; eauto).
    split. { split; auto. intros a H C. eapply knows_writes; eauto. }
    assert (We : forall we ws wt re rs rw rl, cell s = Shadow we ws wt re rs rw rl ->
      exists re' rs' rw' rl', read_cell s t (cell s) = Shadow we ws wt re' rs' rw' rl').
    { intros we ws wt re rs rw rl H. rewrite H. cbn. destruct (Nat.eq_dec _ _); [destruct rw; [destruct (Nat.eq_dec _ _); [destruct (Nat.eq_dec _ _)|]|]|]; eauto. }
    pose proof (of_under_way s V) as UW. rewrite U in UW. pose proof (of_writes s V) as OW. destruct (of_reads s V) as (L & B).
    destruct (cell s) as [we ws wt re rs rw rl] eqn:Ec. cbn [write_epoch write_thread write_sync read_epoch read_sync read_warp read_lanes] in *.
    destruct (We _ _ _ _ _ _ _ eq_refl) as (re' & rs' & rw' & rl' & Er).
    cbn [next]. rewrite Ec. apply agrees_accessed; auto.
    + rewrite Er. exact UW.
    + rewrite Er. cbn. intros e E. destruct (OW e E) as (W1 & W2 & W3). split; auto. split.
      * intros a [<-|H]; [intros []|auto].
      * destruct wt as [u|k].
        -- destruct W3 as [W3|(m & M1 & M2 & M3 & M4 & M5)].
           ++ left. intros a [<-|H]; [intros []|auto].
           ++ right. exists m. repeat split; auto. intros a [<-|H]; [intros []|auto].
        -- intros a [<-|H]; [intros []|auto].
    + clear We Er OW. cbn [read_cell]. destruct (Nat.eq_dec re (epoch s)) as [E|N].
      * destruct rw as [v|].
        -- destruct (Nat.eq_dec v (fst t)) as [->|Nv]; [destruct (Nat.eq_dec rs (syncs s (fst t))) as [->|Ns]|]; cbn; (split; [auto|]);
             intros a [<-|H] Wa; cbn.
           ++ split; [lia|]. intros _ w [= <-]. repeat split; auto.
           ++ destruct (B a H Wa) as (B1 & B2). split; auto. intros Ea w [= <-]. destruct (B2 Ea _ eq_refl) as (? & ? & ?). repeat split; auto; lia.
           ++ split; [lia|]. intros _ w [= <-]. repeat split; auto.
           ++ destruct (B a H Wa) as (B1 & B2). split; auto. intros Ea w [= <-]. destruct (B2 Ea _ eq_refl) as (? & ? & ?). repeat split; auto; lia.
           ++ split; [lia|intros _ w; discriminate].
           ++ destruct (B a H Wa) as (B1 & B2). split; [auto|intros Ea w; discriminate].
        -- cbn. split; [auto|]. intros a [<-|H] Wa; cbn.
           ++ split; [lia|intros _ w; discriminate].
           ++ destruct (B a H Wa) as (B1 & B2). split; [auto|intros Ea w; discriminate].
      * cbn. split; [auto|]. intros a [<-|H] Wa; cbn.
        -- split; [lia|]. intros _ w [= <-]. repeat split; auto.
        -- destruct (B a H Wa) as (B1 & B2). split; [lia|]. intros Ea. exfalso. lia.
  - (* writes *)
    destruct A as [A1 A2]. assert (U : under_way s = None) by (eapply conflicts_none; eauto).
    split. { split; auto. intros a H C. destruct (what a) eqn:Wa; [eapply knows_reads; eauto|..]; eapply knows_writes; eauto; rewrite Wa; exact I. }
    destruct (of_reads s V) as (L & B).
    cbn [next]. apply agrees_accessed; auto; cbn.
    + discriminate.
    + intros e [= <-]. split; auto. split.
      * intros a [<-|H] _; cbn; auto. apply (of_access s V a H).
      * right. eexists. split; [left; reflexivity|]. cbn. repeat split; auto. intros a [<-|H] Wa; cbn; auto. right. eapply knows_writes; eauto.
    + split; auto. intros a [<-|H] Wa; [discriminate|]. auto.
  - (* updates *)
    destruct A as [A1 A2].
    assert (U : under_way s = None).
    { pose proof (of_under_way s V) as U. destruct (under_way s) as [[[u n] b]|]; auto. destruct U as (U & _). rewrite U in A1. tauto. }
    destruct (write_epoch (cell s)) as [e0|] eqn:E0; [|tauto]. destruct (of_writes s V e0 E0) as (W1 & W2 & W3).
    assert (old : forall a, In a (history s) -> is_write (what a) -> epoch_of a = epoch s -> what a = Update k).
    { intros a H Wa Ea. specialize (W2 a H Wa). assert (e0 = epoch s) as -> by lia. rewrite (A1 eq_refl) in W3. auto. }
    split.
    { split; auto. intros a H C. destruct (what a) eqn:Wa.
      - eapply knows_reads; eauto.
      - apply (of_access s V a H). right; left. destruct (of_access s V a H) as (D & _).
        destruct (Nat.eq_dec (epoch_of a) (epoch s)) as [Ea|]; [|lia]. specialize (old a H). rewrite Wa in old. specialize (old I Ea). discriminate.
      - apply (of_access s V a H). right; left. destruct (of_access s V a H) as (D & _).
        destruct (Nat.eq_dec (epoch_of a) (epoch s)) as [Ea|]; [|lia]. specialize (old a H). rewrite Wa in old. specialize (old I Ea).
        cbn in C. congruence. }
    destruct (of_reads s V) as (L & B).
    cbn [next]. apply agrees_accessed; auto; cbn.
    + discriminate.
    + intros e [= <-]. split; auto. split.
      * intros a [<-|H] _; cbn; auto. apply (of_access s V a H).
      * intros a [<-|H] Wa Ea; cbn in *; auto.
    + split; auto. intros a [<-|H] Wa; [discriminate|]. auto.
  - (* begins *)
    destruct A as [A1 A2]. assert (U : under_way s = None) by (eapply conflicts_none; eauto).
    split. { split; auto. intros a H C. destruct (what a) eqn:Wa; [eapply knows_reads; eauto|..]; eapply knows_writes; eauto; rewrite Wa; exact I. }
    constructor; cbn.
    + apply (of_access s V).
    + apply (of_before s V).
    + intros u p K. apply of_time in K; auto.
    + intros a H. pose proof (of_history s V a H). lia.
    + repeat split; auto.
      * intros u K. apply of_time in K; auto. lia.
      * intros a H Wa. eapply knows_writes; eauto.
    + discriminate.
    + apply (of_reads s V).
  - (* ends *)
    split; auto. cbn [next]. pose proof (of_under_way s V) as U. destruct (under_way s) as [[[t n] b]|] eqn:Eu; [|congruence].
    destruct U as (U1 & U2 & U3 & U4 & U5). constructor; cbn.
    + intros a [<-|H]; cbn.
      * repeat split; auto. intros u [->|[F|[E F]]]; [right; auto|lia|]. rewrite E in F. lia.
      * destruct (of_access s V a H) as (B & C & D). repeat split; auto. intros u Hu. left; auto.
    + intros a u [<-|H] K p P; cbn in *.
      * destruct K as [K|[-> _]]; [destruct (U4 u K)|left; auto].
      * destruct K as [K|[-> E]]; [left; eapply of_before; eauto|].
        (* No access has the number of the copy. *)
        destruct (of_access s V a H) as (_ & _ & D). exfalso. apply (U4 (who a)). rewrite <- E. auto.
    + intros u p [K|[_ ->]]; auto. apply of_time in K; auto.
    + intros a [<-|H]; cbn; auto. apply (of_history s V a H).
    + discriminate.
    + intros e [= <-]. split; auto. split.
      * intros a [<-|H] _; cbn; auto. apply (of_access s V a H).
      * right. eexists. split; [left; reflexivity|]. cbn. repeat split; auto. intros a [<-|H] Wa; cbn; auto.
    + destruct (of_reads s V) as (L & B). split; auto. intros a [<-|H] Wa; [discriminate|]. auto.
Qed.

(** What the epoch detector accepts, the exact detector accepts. *)
Theorem epoch_detector_never_misses ops : all_accepted epoch_accepts start ops -> all_accepted exact_accepts start ops.
Proof.
  assert (G : forall s, agrees s -> all_accepted epoch_accepts s ops -> all_accepted exact_accepts s ops).
  { induction ops as [|op ops IH]; cbn; auto. intros s V [A R]. destruct (agrees_next s op V A). auto. }
  apply G, agrees_start.
Qed.
