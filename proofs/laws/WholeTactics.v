(** How statements about whole numbers are proved: terms of whole numbers become one whole number. *)
From Volta.laws Require Export Tactics Bits.
Open Scope R_scope.
(* Quotients and remainders by known numbers are linear arithmetic. *)
Ltac Zify.zify_post_hook ::= Z.to_euclidean_division_equations.

Lemma natural_whole n : (0 <= n)%Z -> is_natural (IZR n) = true.
Proof.
  intros H. unfold is_natural. rewrite floor_whole.
  destruct (Req_EM_T _ _); [|contradiction]. destruct (Rle_dec _ _) as [|F]; [reflexivity|].
  apply IZR_le in H. contradiction.
Qed.

Lemma bitwise_and_whole n m :
  (0 <= n)%Z -> (0 <= m)%Z -> bitwise_and (Real (IZR n)) (Real (IZR m)) = Real (IZR (Z.land n m)).
Proof. intros. cbn. rewrite !natural_whole, !floor_whole by assumption. reflexivity. Qed.

Lemma land_not_negative n m : (0 <= n)%Z -> (0 <= Z.land n m)%Z.
Proof. intros. apply Z.land_nonneg; auto. Qed.

(** Terms of whole numbers as one whole number. *)
Ltac whole :=
  repeat (
    first
      [ progress rewrite <- ?plus_IZR, <- ?minus_IZR, <- ?mult_IZR, <- ?opp_IZR
      | rewrite floor_quotient by lia | progress rewrite ?floor_whole, ?truncate_whole, ?round_whole
      | progress rewrite ?exclusive_or
      | rewrite bitwise_and_whole by
          (first [lia | apply land_not_negative; lia | apply Z.lxor_nonneg; lia | vm_compute; discriminate]) ];
    values).

Ltac whole_law := law; whole; evaluated; whole; try (apply f_equal with (f := IZR)).

(** Terms without letters are computed. *)
Ltac compute_whole :=
  repeat match goal with
  | |- context [IZR ?n] =>
    let known := eval vm_compute in n in
    lazymatch known with Z0 => idtac | Zpos _ => idtac | Zneg _ => idtac end;
    is_ground known; progress change n with known
  end.

(** Conditions that need no cases. *)
Ltac settled :=
  repeat match goal with
  | |- context [if ?condition then _ else _] =>
    lazymatch condition with
    | context [if _ then _ else _] => fail
    | _ => first [destruct condition; [|exfalso; lra] | destruct condition; [exfalso; lra|]]
    end;
    values
  end.

Ltac whole_refute point :=
  refute_after ltac:(whole; settled; whole; compute_whole) point; whole; compute_whole; lra.
