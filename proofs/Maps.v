(** Total maps from numbers, and clocks.

    A map is a list padded with a default, so that equal maps are equal terms and no axiom of extensionality is needed.
    A clock has one entry for each agent, and missing entries are 0. *)
From Coq Require Export List Arith Lia Bool ZArith.
Export ListNotations.

Section Maps.
  Context {A : Type} (d : A).

  Definition get (m : list A) (i : nat) : A := nth i m d.

  Fixpoint upd (m : list A) (i : nat) (x : A) {struct i} : list A :=
    match i, m with
    | 0, [] => [x]
    | 0, _ :: m => x :: m
    | S i, [] => d :: upd [] i x
    | S i, y :: m => y :: upd m i x
    end.

  Lemma get_nil i : get [] i = d.
  Proof. destruct i; reflexivity. Qed.

  Lemma get_upd_eq m i x : get (upd m i x) i = x.
  Proof. revert m; induction i; intros [|y m]; cbn; auto; apply IHi. Qed.

  Lemma get_upd_ne m i j x : i <> j -> get (upd m i x) j = get m j.
  Proof.
    revert m j; induction i; intros [|y m] [|j] H; cbn; try congruence; auto.
    - destruct j; reflexivity.
    - change (get (upd [] i x) j = d). rewrite IHi by congruence. apply get_nil.
    - apply IHi; congruence.
  Qed.

  Lemma get_app1 l l' i : i < length l -> get (l ++ l') i = get l i.
  Proof. intros; apply app_nth1; auto. Qed.

  Lemma get_app2 l l' i : length l <= i -> get (l ++ l') i = nth (i - length l) l' d.
  Proof. intros; apply app_nth2; auto. Qed.

  Lemma upd_comm m i j x y : i <> j -> upd (upd m i x) j y = upd (upd m j y) i x.
  Proof.
    revert m j; induction i; intros [|z m] [|j] H; cbn; try congruence; f_equal; apply IHi; congruence.
  Qed.

  Lemma upd_upd m i x y : upd (upd m i x) i y = upd m i y.
  Proof. revert m; induction i; intros [|z m]; cbn; auto; f_equal; apply IHi. Qed.

  (** ** Changing all entries *)

  Fixpoint map_from (k : nat) (f : nat -> A -> A) (m : list A) : list A :=
    match m with [] => [] | x :: m => f k x :: map_from (S k) f m end.

  Definition map_all := map_from 0.

  Lemma get_map_from k f m i : (forall i, f i d = d) -> get (map_from k f m) i = f (k + i) (get m i).
  Proof.
    intros F. revert k i. induction m as [|x m IH]; intros k i; [cbn [map_from]; rewrite !get_nil, F; auto|].
    destruct i as [|i]; cbn [map_from]; [rewrite Nat.add_0_r; reflexivity|].
    change (get (map_from (S k) f m) i = f (k + S i) (get m i)). rewrite IH. f_equal. lia.
  Qed.

  Lemma get_map_all f m i : (forall i, f i d = d) -> get (map_all f m) i = f i (get m i).
  Proof. intros; apply get_map_from; auto. Qed.

  Lemma map_from_upd k f m i x : (forall i, f i d = d) -> map_from k f (upd m i x) = upd (map_from k f m) i (f (k + i) x).
  Proof.
    intros F. revert k m. induction i as [|i IH]; intros k [|y m]; cbn; rewrite ?Nat.add_0_r; auto; rewrite IH, <- plus_n_Sm; cbn; auto.
    rewrite F; auto.
  Qed.

  Lemma map_all_upd f m i x : (forall i, f i d = d) -> map_all f (upd m i x) = upd (map_all f m) i (f i x).
  Proof. intros; apply map_from_upd; auto. Qed.

  Lemma map_all_swap f g m : (forall i x, f i (g i x) = g i (f i x)) -> map_all f (map_all g m) = map_all g (map_all f m).
  Proof.
    intros F. unfold map_all. generalize 0. induction m as [|x m IH]; intros k; cbn; auto. rewrite F, IH; auto.
  Qed.
End Maps.

(** ** Clocks *)

Definition clock := list nat.
Notation at_ := (get 0).

Fixpoint join (a b : clock) : clock :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | x :: a, y :: b => Nat.max x y :: join a b
  end.

Lemma at_join a b i : at_ (join a b) i = Nat.max (at_ a i) (at_ b i).
Proof.
  revert b i; induction a as [|x a IH]; intros [|y b] i; cbn; try (destruct i; cbn; lia).
  destruct i; cbn; auto. apply IH.
Qed.

Lemma join_comm a b : join a b = join b a.
Proof. revert b; induction a; intros [|y b]; cbn; auto. rewrite IHa. f_equal; lia. Qed.

Lemma join_assoc a b c : join (join a b) c = join a (join b c).
Proof. revert b c; induction a; intros [|y b] [|z c]; cbn; auto. rewrite IHa. f_equal; lia. Qed.

Lemma join_swap a b c : join (join a b) c = join (join a c) b.
Proof. rewrite !join_assoc. f_equal. apply join_comm. Qed.

Definition within (a b : clock) : Prop := forall i, at_ a i <= at_ b i.

Definition within_dec a b : {within a b} + {~ within a b}.
Proof.
  revert b; induction a as [|x a IH]; intros b.
  - left; intros i. rewrite get_nil; lia.
  - destruct (le_dec x (at_ b 0)) as [H|H].
    + destruct (IH (tl b)) as [H'|H'].
      * left; intros [|i]; [exact H|]. specialize (H' i). destruct b; cbn in *; auto.
        destruct i; auto.
      * right; intros W; apply H'; intros i. specialize (W (S i)). destruct b; cbn in *; auto.
        destruct i; auto.
    + right; intros W; apply H, (W 0).
Defined.

Arguments get {A} d m i : simpl never.
Arguments upd {A} d m i x : simpl never.
Arguments join a b : simpl never.
Arguments map_all {A} f m : simpl never.

(** ** Searching lists *)

Definition all_dec {A} (P : A -> Prop) (dec : forall x, {P x} + {~ P x}) l : {Forall P l} + {~ Forall P l} :=
  Forall_dec P dec l.

Lemma nth_error_snoc {A} (l : list A) x i :
  nth_error (l ++ [x]) i = if i =? length l then Some x else nth_error l i.
Proof.
  destruct (i =? length l) eqn:E.
  - apply Nat.eqb_eq in E; subst. rewrite nth_error_app2, Nat.sub_diag by lia; reflexivity.
  - apply Nat.eqb_neq in E. destruct (lt_dec i (length l)).
    + apply nth_error_app1; auto.
    + rewrite (proj2 (nth_error_None l i)) by lia. apply nth_error_None. rewrite app_length; cbn; lia.
Qed.
