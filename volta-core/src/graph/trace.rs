//! References written in Rust: [`Real`], [`Int`] and [`Truth`] look like numbers, and record what is done with them.
//!
//! ```
//! use volta_core::graph::trace::{Real, maximum};
//!
//! fn softmax<const N: usize>(x: &[Real; N], y: &mut [Real; N]) {
//!     let greatest = maximum(x);
//!     let sum: Real = x.iter().map(|x| (*x - greatest).exp()).sum();
//!     for i in 0..N {
//!         y[i] = (x[i] - greatest).exp() / sum;
//!     }
//! }
//! ```
//!
//! Such a function is called once, by [`Trace::record`](crate::rust_reference::Trace::record), and what it did becomes a
//! [`Graph`](super::Graph). It decides and indexes by
//! known numbers only; [`select`] chooses, and [`pick`] indexes, by what depends on inputs.

use std::cell::RefCell;
use std::iter::{Product, Sum};
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Sub, SubAssign,
};
use std::sync::Arc;

use super::listed::{Operation, OperationId};
use super::{Function, ValueId};
use crate::number::{Extended, Rational};

/// A function that records more operations is stopped.
const MOST_OPERATIONS: usize = 1 << 24;

/// No operation: nothing has been written.
pub(crate) const NOTHING: u32 = u32::MAX;

thread_local! {
    /// What the function that runs in this thread has done.
    static RECORDED: RefCell<Option<Vec<Operation>>> = const { RefCell::new(None) };
}

#[track_caller]
fn record(operation: Operation) -> u32 {
    let done = RECORDED.with_borrow_mut(|recorded| {
        let recorded = recorded.as_mut().ok_or("numbers of a reference are used outside of it")?;
        if recorded.len() >= MOST_OPERATIONS {
            return Err("the reference computes too much: more than 16 million operations");
        }
        recorded.push(operation);
        Ok(recorded.len() as u32 - 1)
    });
    match done {
        Ok(id) => id,
        Err(message) => panic!("{message}"),
    }
}

#[track_caller]
fn apply(function: Function, operands: &[u32]) -> u32 {
    assert!(!operands.contains(&NOTHING), "an element is read that nothing has written");
    record(Operation::Apply(function, operands.iter().map(|own| OperationId(*own)).collect()))
}

/// A number or truth value that a function computes with.
pub trait Traced: Copy + private::Sealed {
    #[doc(hidden)]
    fn of(id: u32) -> Self;
    #[doc(hidden)]
    fn id(self) -> u32;
}

mod private {
    pub trait Sealed {}
}

macro_rules! traced {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(u32);

        impl private::Sealed for $name {}

        impl Traced for $name {
            fn of(id: u32) -> $name {
                $name(id)
            }

            fn id(self) -> u32 {
                self.0
            }
        }
    )*};
}

traced! {
    /// A real number.
    Real
    /// A whole number; of any size until it is written to an integer type.
    Int
    /// A truth value.
    Truth
}

macro_rules! operators {
    ($($name:ident: $($operator:ident $method:ident $assign:ident $assign_method:ident $function:ident),*;)*) => {$($(
        impl $operator for $name {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: $name) -> $name {
                $name(apply(Function::$function, &[self.0, other.0]))
            }
        }

        impl<'a> $operator<&'a $name> for $name {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: &'a $name) -> $name {
                self.$method(*other)
            }
        }

        impl<'a> $operator<$name> for &'a $name {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: $name) -> $name {
                (*self).$method(other)
            }
        }

        impl<'a> $operator<&'a $name> for &'a $name {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: &'a $name) -> $name {
                (*self).$method(*other)
            }
        }

        impl<T: Into<$name>> $assign<T> for $name {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = (*self).$method(other.into());
            }
        }
    )*)*};
}

operators! {
    Real: Add add AddAssign add_assign Add, Sub sub SubAssign sub_assign Sub,
        Mul mul MulAssign mul_assign Mul, Div div DivAssign div_assign Div;
    Int: Add add AddAssign add_assign Add, Sub sub SubAssign sub_assign Sub,
        Mul mul MulAssign mul_assign Mul;
}

macro_rules! with_literals {
    ($name:ident: $($operator:ident $method:ident),*; $types:tt) => {$(
        with_literals!(@ $name $operator $method $types);
    )*};
    (@ $name:ident $operator:ident $method:ident [$($literal:ident)*]) => {$(
        impl $operator<$literal> for $name {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: $literal) -> $name {
                self.$method($name::from(other))
            }
        }

        impl $operator<$name> for $literal {
            type Output = $name;
            #[track_caller]
            fn $method(self, other: $name) -> $name {
                $name::from(self).$method(other)
            }
        }
    )*};
}

with_literals! { Real: Add add, Sub sub, Mul mul, Div div; [f64 f32 i32 i64 u32 usize Int] }
with_literals! { Int: Add add, Sub sub, Mul mul; [i32 i64 u32 usize] }

macro_rules! from_integers {
    ($($literal:ident)*) => {$(
        impl From<$literal> for Int {
            #[track_caller]
            fn from(number: $literal) -> Int {
                Int(record(Operation::Number(Extended::Finite(Rational::from_i128(number as i128)))))
            }
        }

        impl From<$literal> for Real {
            #[track_caller]
            fn from(number: $literal) -> Real {
                Real(Int::from(number).0)
            }
        }
    )*};
}

from_integers! { i8 i16 i32 i64 u8 u16 u32 u64 usize }

impl From<Int> for Real {
    fn from(number: Int) -> Real {
        Real(number.0)
    }
}

impl From<&Real> for Real {
    fn from(number: &Real) -> Real {
        *number
    }
}

impl From<f64> for Real {
    /// The decimal that the literal is: `0.1` is 1/10, and becomes the nearest number of the type that is computed
    /// with, as a literal of the kernel does.
    #[track_caller]
    fn from(number: f64) -> Real {
        decimal(&format!("{number:e}"))
    }
}

impl From<f32> for Real {
    #[track_caller]
    fn from(number: f32) -> Real {
        decimal(&format!("{number:e}"))
    }
}

#[track_caller]
fn decimal(text: &str) -> Real {
    let (digits, is_negative) = text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
    let number = match (super::text::decimal(digits), digits, is_negative) {
        (Some(magnitude), _, false) => Extended::Finite(magnitude),
        (Some(magnitude), _, true) => Extended::Finite(-magnitude),
        (None, "inf", false) => Extended::PosInf,
        (None, "inf", true) => Extended::NegInf,
        (None, ..) => panic!("`{text}` is no real number"),
    };
    Real(record(Operation::Number(number)))
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident $function:ident;)*) => {
        impl Real {$(
            $(#[$doc])*
            #[track_caller]
            #[must_use]
            pub fn $method(self) -> Real {
                Real(apply(Function::$function, &[self.0]))
            }
        )*}
    };
}

methods! {
    /// e to this power.
    exp Exp;
    /// 2 to this power.
    exp2 Exp2;
    /// The natural logarithm.
    ln Log;
    /// The logarithm to base 2.
    log2 Log2;
    /// The logarithm to base 10.
    log10 Log10;
    /// The square root.
    sqrt Sqrt;
    /// The reciprocal of the square root.
    rsqrt Rsqrt;
    /// The sine.
    sin Sin;
    /// The cosine.
    cos Cos;
    /// The hyperbolic tangent.
    tanh Tanh;
    /// The arc tangent.
    atan Atan;
    /// The error function.
    erf Erf;
    /// The magnitude.
    abs Abs;
    /// The largest whole number not above.
    floor Floor;
    /// The smallest whole number not below.
    ceil Ceil;
    /// Without its fraction.
    trunc Trunc;
    /// The nearest whole number, of two the even one.
    round_ties_even Round;
}

impl Real {
    /// To a whole power.
    #[track_caller]
    #[must_use]
    pub fn powi(self, exponent: i32) -> Real {
        self.powf(exponent)
    }

    /// To a power.
    #[track_caller]
    #[must_use]
    pub fn powf(self, exponent: impl Into<Real>) -> Real {
        Real(apply(Function::Pow, &[self.0, exponent.into().0]))
    }

    /// One divided by it.
    #[track_caller]
    #[must_use]
    pub fn recip(self) -> Real {
        1 / self
    }

    /// `self * factor + summand`
    #[track_caller]
    #[must_use]
    pub fn mul_add(self, factor: impl Into<Real>, summand: impl Into<Real>) -> Real {
        self * factor.into() + summand.into()
    }
}

macro_rules! numbers {
    ($($name:ident)*) => {$(
        impl Neg for $name {
            type Output = $name;
            #[track_caller]
            fn neg(self) -> $name {
                $name(apply(Function::Neg, &[self.0]))
            }
        }

        impl Sum for $name {
            #[track_caller]
            fn sum<I: Iterator<Item = $name>>(numbers: I) -> $name {
                numbers.reduce(|one, other| one + other).unwrap_or_else(|| $name::from(0))
            }
        }

        impl<'a> Sum<&'a $name> for $name {
            #[track_caller]
            fn sum<I: Iterator<Item = &'a $name>>(numbers: I) -> $name {
                numbers.copied().sum()
            }
        }

        impl Product for $name {
            #[track_caller]
            fn product<I: Iterator<Item = $name>>(numbers: I) -> $name {
                numbers.reduce(|one, other| one * other).unwrap_or_else(|| $name::from(1))
            }
        }

        impl<'a> Product<&'a $name> for $name {
            #[track_caller]
            fn product<I: Iterator<Item = &'a $name>>(numbers: I) -> $name {
                numbers.copied().product()
            }
        }

        impl $name {
            /// The greater of two.
            #[track_caller]
            #[must_use]
            pub fn max(self, other: impl Into<$name>) -> $name {
                $name(apply(Function::Max, &[self.0, other.into().0]))
            }

            /// The lesser of two.
            #[track_caller]
            #[must_use]
            pub fn min(self, other: impl Into<$name>) -> $name {
                $name(apply(Function::Min, &[self.0, other.into().0]))
            }

            /// Whether it is less.
            #[track_caller]
            pub fn lt(self, other: impl Into<$name>) -> Truth {
                Truth(apply(Function::Less, &[self.0, other.into().0]))
            }

            /// Whether it is less or equal.
            #[track_caller]
            pub fn le(self, other: impl Into<$name>) -> Truth {
                Truth(apply(Function::LessEqual, &[self.0, other.into().0]))
            }

            /// Whether it is greater.
            #[track_caller]
            pub fn gt(self, other: impl Into<$name>) -> Truth {
                Truth(apply(Function::Greater, &[self.0, other.into().0]))
            }

            /// Whether it is greater or equal.
            #[track_caller]
            pub fn ge(self, other: impl Into<$name>) -> Truth {
                Truth(apply(Function::GreaterEqual, &[self.0, other.into().0]))
            }

            /// Whether both are the same number.
            #[track_caller]
            pub fn equals(self, other: impl Into<$name>) -> Truth {
                Truth(apply(Function::Equal, &[self.0, other.into().0]))
            }
        }
    )*};
}

numbers! { Real Int }

impl Int {
    /// The magnitude.
    #[track_caller]
    #[must_use]
    pub fn abs(self) -> Int {
        Int(apply(Function::Abs, &[self.0]))
    }
}

macro_rules! connectives {
    ($($operator:ident $method:ident $function:ident;)*) => {$(
        impl $operator for Truth {
            type Output = Truth;
            #[track_caller]
            fn $method(self, other: Truth) -> Truth {
                Truth(apply(Function::$function, &[self.0, other.0]))
            }
        }
    )*};
}

connectives! { BitAnd bitand And; BitOr bitor Or; BitXor bitxor Xor; }

impl Not for Truth {
    type Output = Truth;
    #[track_caller]
    fn not(self) -> Truth {
        Truth(apply(Function::Not, &[self.0]))
    }
}

impl From<bool> for Truth {
    #[track_caller]
    fn from(holds: bool) -> Truth {
        Int::from(0).lt(i32::from(holds))
    }
}

/// The one where a condition holds, else the other.
///
/// ```
/// # use volta_core::graph::trace::{Real, select};
/// fn relu(x: Real) -> Real {
///     select(x.gt(0), x, 0)
/// }
/// ```
#[track_caller]
pub fn select<T: Traced>(condition: Truth, then: impl Into<T>, otherwise: impl Into<T>) -> T {
    T::of(apply(Function::Where, &[condition.0, then.into().id(), otherwise.into().id()]))
}

/// The one at a place that depends on inputs, which must lie within, whatever they are.
///
/// # Panics
/// If there is nothing to pick from.
#[track_caller]
pub fn pick<T: Traced>(among: &[T], place: Int) -> T {
    let among: Vec<u32> = among.iter().map(|own| own.id()).collect();
    assert!(!among.is_empty(), "there is nothing to pick from");
    let is_known = !among.contains(&NOTHING) && place.0 != NOTHING;
    assert!(is_known, "an element is read that nothing has written");
    let among = among.into_iter().map(OperationId).collect();
    T::of(record(Operation::Pick(OperationId(place.0), among)))
}

/// The greatest of some numbers.
///
/// # Panics
/// If there are none.
#[track_caller]
pub fn maximum<'a>(numbers: impl IntoIterator<Item = &'a Real>) -> Real {
    match numbers.into_iter().copied().reduce(Real::max) {
        Some(greatest) => greatest,
        None => panic!("of no numbers none is the greatest"),
    }
}

/// The least of some numbers.
///
/// # Panics
/// If there are none.
#[track_caller]
pub fn minimum<'a>(numbers: impl IntoIterator<Item = &'a Real>) -> Real {
    match numbers.into_iter().copied().reduce(Real::min) {
        Some(least) => least,
        None => panic!("of no numbers none is the least"),
    }
}

/// A number, or an array of such: the types of parameters.
pub trait Tensor: Sized {
    #[doc(hidden)]
    fn made(next: &mut dyn FnMut() -> u32) -> Self;
    #[doc(hidden)]
    fn see(&self, see: &mut dyn FnMut(u32));
}

macro_rules! tensors {
    ($($name:ident)*) => {$(
        impl Tensor for $name {
            fn made(next: &mut dyn FnMut() -> u32) -> $name {
                $name(next())
            }

            fn see(&self, see: &mut dyn FnMut(u32)) {
                see(self.0);
            }
        }
    )*};
}

tensors! { Real Int Truth }

impl<T: Tensor, const N: usize> Tensor for [T; N] {
    fn made(next: &mut dyn FnMut() -> u32) -> [T; N] {
        std::array::from_fn(|_| T::made(next))
    }

    fn see(&self, see: &mut dyn FnMut(u32)) {
        self.iter().for_each(|own| own.see(see));
    }
}

/// What a function does, with what it returns.
///
/// # Panics
/// If the function does.
pub(crate) fn recorded<T>(function: impl FnOnce() -> T) -> (Arc<[Operation]>, T) {
    /// Ends a recording also where the function panics.
    struct Recording;
    impl Drop for Recording {
        fn drop(&mut self) {
            RECORDED.with_borrow_mut(|recorded| *recorded = None);
        }
    }
    RECORDED.with_borrow_mut(|recorded| *recorded = Some(Vec::new()));
    let _recording = Recording;
    let result = function();
    let operations = RECORDED.with_borrow_mut(Option::take).unwrap_or_default();
    (operations.into(), result)
}

/// An element of a value, as a number of the function that runs.
pub(crate) fn element(value: ValueId, place: u64) -> u32 {
    record(Operation::Element(value, place))
}

/// The operation of a number; `None` where nothing has been written.
pub(crate) fn operation(id: u32) -> Option<OperationId> {
    (id != NOTHING).then_some(OperationId(id))
}
