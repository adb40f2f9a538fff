(** What the terms of the table of laws mean, and what its statements claim.

    Values are those of the verifier's evaluation at a point (volta-core/src/number/value.rs), with real numbers in
    place of enclosures. Letters stand for values, so that a law is one about terms (Replacement.v). *)
From Coq Require Export Reals String List ZArith Lra Lia.
From Volta.laws Require Export Functions.
Export ListNotations.
Open Scope R_scope.

(** * Values (rules V3, V4, V6) *)

Inductive value :=
| Undefined
| Real (x : R)
| Infinity (positive : bool)
| Truth (holds : bool).

(** The infinity with the sign of a number, of which zero has none. *)
Definition infinity_of_sign (x : R) : value :=
  if Rlt_dec 0 x then Infinity true else if Rlt_dec x 0 then Infinity false else Undefined.

Definition negate a :=
  match a with Real x => Real (- x) | Infinity s => Infinity (negb s) | _ => Undefined end.

Definition add a b :=
  match a, b with
  | Real x, Real y => Real (x + y)
  | Infinity s, Infinity t => if Bool.eqb s t then Infinity s else Undefined
  | Infinity s, Real _ | Real _, Infinity s => Infinity s
  | _, _ => Undefined
  end.

Definition subtract a b := match a, b with Real x, Real y => Real (x - y) | _, _ => add a (negate b) end.

Definition multiply a b :=
  match a, b with
  | Real x, Real y => Real (x * y)
  | Infinity s, Infinity t => Infinity (Bool.eqb s t)
  | Infinity true, Real x | Real x, Infinity true => infinity_of_sign x
  | Infinity false, Real x | Real x, Infinity false => infinity_of_sign (- x)
  | _, _ => Undefined
  end.

Definition divide a b :=
  match a, b with
  | Real x, Real y => if Req_EM_T y 0 then Undefined else Real (x / y)
  | Real _, Infinity _ => Real 0
  | Infinity true, Real y => infinity_of_sign y
  | Infinity false, Real y => infinity_of_sign (- y)
  | _, _ => Undefined
  end.

Definition maximum a b :=
  match a, b with
  | Real x, Real y => Real (Rmax x y)
  | Infinity s, Infinity t => Infinity (orb s t)
  | Infinity s, Real _ => if s then a else b
  | Real _, Infinity s => if s then b else a
  | _, _ => Undefined
  end.

Definition minimum a b :=
  match a, b with Real x, Real y => Real (Rmin x y) | _, _ => negate (maximum (negate a) (negate b)) end.

Definition less a b :=
  match a, b with
  | Real x, Real y => Truth (if Rlt_dec x y then true else false)
  | Real _, Infinity s => Truth s
  | Infinity s, Real _ => Truth (negb s)
  | Infinity s, Infinity t => Truth (andb (negb s) t)
  | _, _ => Undefined
  end.

Definition equal a b :=
  match a, b with
  | Real x, Real y => Truth (if Req_EM_T x y then true else false)
  | Infinity s, Infinity t => Truth (Bool.eqb s t)
  | Real _, Infinity _ | Infinity _, Real _ => Truth false
  | _, _ => Undefined
  end.

Definition complement a := match a with Truth p => Truth (negb p) | _ => Undefined end.

Definition join (f : bool -> bool -> bool) a b :=
  match a, b with Truth p, Truth q => Truth (f p q) | _, _ => Undefined end.

(** A function of one real, with its values at the infinities. *)
Definition apply (f : R -> value) (low high : value) a :=
  match a with
  | Real x => f x
  | Infinity false => low
  | Infinity true => high
  | _ => Undefined
  end.

(** Functions that have a value at each real. *)
Definition total (f : R -> R) x := Real (f x).

(** Demands of partial operations (rule V8). *)
Definition if_positive (f : R -> R) x := if Rlt_dec 0 x then Real (f x) else Undefined.
Definition if_not_negative (f : R -> R) x := if Rle_dec 0 x then Real (f x) else Undefined.

Definition round_to (f : R -> Z) := apply (fun x => Real (IZR (f x))) (Infinity false) (Infinity true).

Definition is_natural x := if Req_EM_T (IZR (floor x)) x then if Rle_dec 0 x then true else false else false.

(** The bits of natural numbers; the verifier uses it of no others. *)
Definition bitwise_and a b :=
  match a, b with
  | Real x, Real y =>
    if andb (is_natural x) (is_natural y) then Real (IZR (Z.land (floor x) (floor y))) else Undefined
  | _, _ => Undefined
  end.

Definition remainder a b := subtract a (multiply b (round_to floor (divide a b))).

Definition magnitude a :=
  match a with Real x => Real (Rabs x) | Infinity _ => Infinity true | _ => Undefined end.

(** [magnitude b] with the sign of [a]; where [a] is zero, its sign is that of [zero_is_negative]. *)
Definition with_sign_of (zero_is_negative : bool) a b :=
  match less a (Real 0), equal a (Real 0) with
  | Truth negative, Truth zero =>
    if orb negative (andb zero zero_is_negative) then negate (magnitude b) else magnitude b
  | _, _ => Undefined
  end.

(** The arm that is not taken is dropped, also where it is undefined. *)
Definition select c a b := match c with Truth true => a | Truth false => b | _ => Undefined end.

(** * Terms *)

Inductive unary :=
| Neg | Abs | Saturate | Exp2 | Log2 | Sqrt | Rsqrt | Sin | Cos | Tanh | Floor | Ceil | Trunc | Round
| Erf | Atan | Cbrt | BesselJ0 | BesselJ1 | Not.

Inductive binary := Add | Sub | Mul | Div | Max | Min | Mod | BitAnd | Less | LessEqual | Equal | And | Or | Xor.

Inductive expression :=
| Letter (name : string)
| Whole (n : Z)
| Literal (bits : Z)
| PosInf
| Unary (op : unary) (a : expression)
| Binary (op : binary) (a b : expression)
| CopySign (sign magnitude : expression)
| If (c a b : expression).

Definition unary_value op : value -> value :=
  match op with
  | Neg => negate
  | Abs => magnitude
  | Saturate => apply (total (fun x => Rmin (Rmax x 0) 1)) (Real 0) (Real 1)
  | Exp2 => apply (total exp2) (Real 0) (Infinity true)
  | Log2 => apply (if_positive log2) Undefined (Infinity true)
  | Sqrt => apply (if_not_negative sqrt) Undefined (Infinity true)
  | Rsqrt => apply (if_positive (fun x => / sqrt x)) Undefined (Real 0)
  | Sin => apply (total sin) Undefined Undefined
  | Cos => apply (total cos) Undefined Undefined
  | Tanh => apply (total tanh) (Real (-1)) (Real 1)
  | Floor => round_to floor
  | Ceil => round_to ceiling
  | Trunc => round_to truncate
  | Round => round_to round_half_even
  | Erf => apply (total erf) (Real (-1)) (Real 1)
  | Atan => apply (total atan) Undefined Undefined
  | Cbrt => apply (total cbrt) (Infinity false) (Infinity true)
  | BesselJ0 => apply (total j0) (Real 0) (Real 0)
  | BesselJ1 => apply (total j1) (Real 0) (Real 0)
  | Not => complement
  end.

Definition binary_value op (a b : value) : value :=
  match op with
  | Add => add a b
  | Sub => subtract a b
  | Mul => multiply a b
  | Div => divide a b
  | Max => maximum a b
  | Min => minimum a b
  | Mod => remainder a b
  | BitAnd => bitwise_and a b
  | Less => less a b
  | LessEqual => complement (less b a)
  | Equal => equal a b
  | And => join andb a b
  | Or => join orb a b
  | Xor => join xorb a b
  end.

(** What the reals leave open: the number that a literal is read as (rule V9), and the sign of a zero, which is that of
    the very term whose sign is copied (rule V7). *)
Record world := World { read : Z -> R; negative_zero : expression -> bool }.

Fixpoint eval (w : world) (letters : string -> value) (e : expression) : value :=
  match e with
  | Letter name => letters name
  | Whole n => Real (IZR n)
  | Literal bits => Real (read w bits)
  | PosInf => Infinity true
  | Unary op a => unary_value op (eval w letters a)
  | Binary op a b => binary_value op (eval w letters a) (eval w letters b)
  | CopySign a b => with_sign_of (negative_zero w a) (eval w letters a) (eval w letters b)
  | If c a b => select (eval w letters c) (eval w letters a) (eval w letters b)
  end.

(** log₂ e as compilers write it, and [exp] as they express it. *)
Definition log2_e : Z := 0x3fb8aa3b.
Definition Exp a := Unary Exp2 (Binary Mul a (Literal log2_e)).

(** * Statements *)

(** What is assumed of a letter, where it has a value. *)
Inductive assumption := Any | Positive | NotNegative | Negative | NotPositive | NotZero | Between (low high : Z).

Definition meets (assumed : assumption) (x : R) : Prop :=
  match assumed with
  | Any => True
  | Positive => 0 < x
  | NotNegative => 0 <= x
  | Negative => x < 0
  | NotPositive => x <= 0
  | NotZero => x <> 0
  | Between low high => exists n, x = IZR n /\ (low <= n <= high)%Z
  end.

Record statement := Statement {
  assumed : list (string * assumption);
  lhs : expression;
  rhs : expression;
}.

Definition assumption_of s name : assumption :=
  match find (fun known => String.eqb (fst known) name) (assumed s) with
  | Some (_, found) => found
  | None => Any
  end.

(** Letters that are inputs: numbers. *)
Definition inputs s (letters : string -> value) : Prop :=
  forall name, exists x, letters name = Real x /\ meets (assumption_of s name) x.

(** Letters that are terms: finite where they have a value. *)
Definition terms s (letters : string -> value) : Prop :=
  forall name, letters name = Undefined \/ exists x, letters name = Real x /\ meets (assumption_of s name) x.

(** Rule V8: wherever the one is defined, the other is defined and equal. *)
Definition refines (a b : value) : Prop := a <> Undefined -> b = a.

(** Where both are defined, they are equal. *)
Definition agrees (a b : value) : Prop := a <> Undefined -> b <> Undefined -> b = a.

Definition refines_at w letters s := refines (eval w letters (lhs s)) (eval w letters (rhs s)).

Definition agrees_at w letters s := agrees (eval w letters (lhs s)) (eval w letters (rhs s)).

(** In exponents, the literal is read as log₂ e. *)
Definition reads_log2_e w : Prop := read w log2_e = / ln 2.

(** A literal may also be the number that its bits encode. *)
Definition reads_number w : Prop := read w log2_e = 12102203 / 8388608.

(** A law, whose letters are any terms. *)
Definition holds s : Prop := forall w letters, reads_log2_e w -> terms s letters -> refines_at w letters s.

(** A law whose right side needs values that the left side may drop. Its letters are inputs, which have values; of other
    terms, it holds where both sides are defined, and replacing the one by the other leaves a condition. *)
Definition holds_of_values s : Prop :=
  (forall w letters, reads_log2_e w -> inputs s letters -> refines_at w letters s) /\
  (forall w letters, reads_log2_e w -> terms s letters -> agrees_at w letters s).

(** A near miss that is false: whichever way literals are read, there are inputs at which both sides have values, which
    differ. *)
Definition refuted s : Prop :=
  forall w, reads_log2_e w \/ reads_number w ->
  exists letters, inputs s letters /\
    eval w letters (lhs s) <> Undefined /\ eval w letters (rhs s) <> Undefined /\
    eval w letters (lhs s) <> eval w letters (rhs s).

(** A near miss that is true of inputs that meet its conditions, and of others not. *)
Definition holds_where (near_miss : list expression * statement) : Prop :=
  let (conditions, s) := near_miss in
  (forall w letters, reads_log2_e w -> inputs s letters ->
    Forall (fun c => eval w letters c = Truth true) conditions -> refines_at w letters s) /\
  (forall w, reads_log2_e w \/ reads_number w -> exists letters, inputs s letters /\ ~ refines_at w letters s).

(** * Notations, for the generated statements *)

Coercion Letter : string >-> expression.
Coercion Whole : Z >-> expression.
Coercion Unary : unary >-> Funclass.
Coercion Binary : binary >-> Funclass.

Declare Scope term_scope.
Delimit Scope term_scope with term.
Bind Scope term_scope with expression.
Notation "- a" := (Unary Neg a) : term_scope.
Notation "a + b" := (Binary Add a b) : term_scope.
Notation "a - b" := (Binary Sub a b) : term_scope.
Notation "a * b" := (Binary Mul a b) : term_scope.
Notation "a / b" := (Binary Div a b) : term_scope.
Notation "a < b" := (Binary Less a b) : term_scope.
Notation "a <= b" := (Binary LessEqual a b) : term_scope.
Notation "a = b" := (Binary Equal a b) : term_scope.
