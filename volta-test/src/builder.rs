//! What the attributes expand to: calls that put a case together.

use std::time::Duration;

use volta_core::case::{
    Argument, Binding, Contents, Element, Options, Param, ParamKind, Role, ScalarValue, Sign, Which,
};
use volta_core::number::{Extended, Rational};

use crate::case::{Case, Expectation, Home, Kernel};
use crate::{limits, manifest, number};

/// Puts a case together. The attribute has checked names and types; what depends on values is checked in
/// [`Builder::finish`].
#[derive(Debug)]
pub struct Builder {
    name: String,
    home: Home,
    description: String,
    why: Option<String>,
    params: Vec<Param>,
    reference: Option<Kernel>,
    opt: Option<Kernel>,
    expect: Expectation,
    options: Options,
    timeout: Option<Duration>,
    slow: bool,
    snapshots: bool,
    errors: Vec<String>,
}

impl Builder {
    pub(crate) fn new(name: String, home: Home) -> Builder {
        Builder {
            name,
            home,
            description: String::new(),
            why: None,
            params: Vec::new(),
            reference: None,
            opt: None,
            expect: Expectation::of("equivalent"),
            options: Options { budgets: limits::budgets(), ..Options::default() },
            timeout: None,
            slow: false,
            snapshots: true,
            errors: Vec::new(),
        }
    }

    /// A line of the function's documentation.
    pub fn description(&mut self, line: &str) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if !self.description.is_empty() {
            self.description.push('\n');
        }
        self.description.push_str(line);
    }

    /// Why the expected verdict is right.
    pub fn why(&mut self, text: &str) {
        self.why = Some(text.into());
    }

    /// A tensor; dimensions outermost first.
    pub fn tensor(
        &mut self,
        name: &str,
        types: [&str; 2],
        shape: &[usize],
        role: Role,
        contents: Option<Contents>,
        sign: Sign,
    ) {
        let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
        let [reference, opt] = types.map(|name| self.element(name));
        let default = match role {
            Role::In | Role::InOut => Contents::Symbolic,
            Role::Out | Role::Scratch | Role::Ignored => Contents::Undefined,
        };
        let contents = contents.unwrap_or(default);
        if let Contents::List(list) = &contents {
            let count = shape.iter().try_fold(1u64, |product, length| product.checked_mul(*length));
            if count != Some(list.len() as u64) {
                self.errors.push(format!("`{name}` has {} numbers for shape {shape:?}", list.len()));
            }
        }
        let kind = ParamKind::Tensor { reference, opt, shape, role, contents, sign };
        self.params.push(Param { name: name.into(), kind, binding: Binding::Argument });
    }

    /// A scalar.
    pub fn scalar(&mut self, name: &str, element: &str, value: ScalarValue) {
        let element = self.element(element);
        let kind = ParamKind::Scalar { element, value };
        self.params.push(Param { name: name.into(), kind, binding: Binding::Argument });
    }

    /// The parameter that was added last is a variable of the module, which kernels take by its name.
    pub fn by_name(&mut self) {
        if let Some(param) = self.params.last_mut() {
            param.binding = Binding::Variable;
        }
    }

    fn element(&mut self, name: &str) -> Element {
        Element::parse(name).unwrap_or_else(|| {
            self.errors.push(format!("unknown element type `{name}`"));
            Element::Int { bytes: 4, signed: true }
        })
    }

    /// The reference kernel, as `file` or `file::kernel`.
    pub fn reference(&mut self, source: &str) -> &mut Kernel {
        self.reference.insert(Kernel::new(source))
    }

    /// The optimized kernel, or the only one.
    pub fn opt(&mut self, source: &str) -> &mut Kernel {
        self.opt.insert(Kernel::new(source))
    }

    /// The expected verdict.
    pub fn expect(&mut self, verdict: &str) -> &mut Expectation {
        self.expect = Expectation::of(verdict);
        &mut self.expect
    }

    /// Relaxations.
    pub fn options(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Where the elements of `wmma` fragments lie: as on an architecture.
    pub fn wmma_layout(&mut self, architecture: &str) {
        if let Err(message) = manifest::set_wmma_layout(&mut self.options, architecture) {
            self.errors.push(message);
        }
    }

    /// A limit, by the name of its option.
    pub fn limit(&mut self, option: &str, value: u64) {
        if let Err(message) = manifest::set_budget(&mut self.options, option, value) {
            self.errors.push(message);
        }
    }

    /// How long verifying may take: `10s`.
    pub fn timeout(&mut self, text: &str) {
        match limits::timeout(text) {
            Ok(timeout) => self.timeout = Some(timeout),
            Err(message) => self.errors.push(message),
        }
    }

    /// Run on request only.
    pub fn slow(&mut self, slow: bool) {
        self.slow = slow;
    }

    /// Whether there is a snapshot.
    pub fn snapshot(&mut self, snapshots: bool) {
        self.snapshots = snapshots;
    }

    pub(crate) fn finish(mut self) -> Result<Case, String> {
        let Some(opt) = self.opt else { return Err("there is no kernel".into()) };
        for kernel in self.reference.iter().chain([&opt]) {
            if kernel.block.contains(&0) || kernel.grid.contains(&0) {
                self.errors.push(format!("{}: grid and block sizes are at least 1", kernel.shown()));
            }
        }
        if !self.errors.is_empty() {
            return Err(format!("{}: {}", self.name, self.errors.join("; ")));
        }
        Ok(Case {
            name: self.name,
            home: self.home,
            description: Some(self.description).filter(|text| !text.is_empty()),
            why: self.why,
            params: self.params,
            reference: self.reference,
            opt,
            expect: self.expect,
            options: self.options,
            timeout: self.timeout,
            slow: self.slow,
            snapshots: self.snapshots,
            contains: Vec::new(),
        })
    }
}

/// A literal, exactly: `0.1` is 1/10.
///
/// # Panics
/// When it is no number; the attribute has checked that it is one.
pub fn literal(text: &str) -> Extended {
    number::parse(text).unwrap_or_else(|| panic!("`{text}` is no number"))
}

/// The value of a constant expression of a float type.
#[diagnostic::on_unimplemented(message = "a float parameter takes a float constant, not `{Self}`")]
pub trait RealConstant {
    /// The value, exactly.
    fn extended(self) -> Extended;
}

impl RealConstant for f64 {
    fn extended(self) -> Extended {
        if self.is_infinite() {
            return if self > 0.0 { Extended::PosInf } else { Extended::NegInf };
        }
        assert!(!self.is_nan(), "a scalar's value is NaN");
        if self == 0.0 {
            return Extended::Finite(Rational::ZERO);
        }
        let bits = self.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) };
        let value = Rational::from_integer(mantissa).scale_by_power_of_two(exponent);
        Extended::Finite(if self < 0.0 { -value } else { value })
    }
}

impl RealConstant for f32 {
    fn extended(self) -> Extended {
        f64::from(self).extended()
    }
}

/// The value of a constant expression of an integer type.
#[diagnostic::on_unimplemented(message = "an integer constant is expected here, not `{Self}`")]
pub trait IntegerConstant: Copy {
    /// The value.
    fn value(self) -> i128;
}

macro_rules! integer_constants {
    ($($name:ident)*) => {$(
        impl IntegerConstant for $name {
            fn value(self) -> i128 {
                self as i128
            }
        }
    )*};
}

integer_constants!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// [`IntegerConstant::value`] as a number.
pub fn integer(value: impl IntegerConstant) -> Extended {
    Extended::Finite(Rational::from_i128(value.value()))
}

/// [`IntegerConstant::value`] as a size; what is none becomes 0, which [`Builder::finish`] refuses.
pub fn size(value: impl IntegerConstant) -> u32 {
    u32::try_from(value.value()).unwrap_or(0)
}

/// A number or up to three, for `block` and `grid`: `128`, `[16, 16]`, `(16, 16)`.
#[diagnostic::on_unimplemented(message = "a size is an integer, or a list of up to three, not `{Self}`")]
pub trait Extent {
    /// x, y, z.
    fn extent(self) -> [u32; 3];
}

impl<T: IntegerConstant> Extent for T {
    fn extent(self) -> [u32; 3] {
        [size(self), 1, 1]
    }
}

impl<T: IntegerConstant> Extent for [T; 1] {
    fn extent(self) -> [u32; 3] {
        [size(self[0]), 1, 1]
    }
}

impl<T: IntegerConstant> Extent for [T; 2] {
    fn extent(self) -> [u32; 3] {
        [size(self[0]), size(self[1]), 1]
    }
}

impl<T: IntegerConstant> Extent for [T; 3] {
    fn extent(self) -> [u32; 3] {
        self.map(size)
    }
}

impl<T: IntegerConstant, U: IntegerConstant> Extent for (T, U) {
    fn extent(self) -> [u32; 3] {
        [size(self.0), size(self.1), 1]
    }
}

impl<T: IntegerConstant, U: IntegerConstant, V: IntegerConstant> Extent for (T, U, V) {
    fn extent(self) -> [u32; 3] {
        [size(self.0), size(self.1), size(self.2)]
    }
}

/// [`Extent::extent`] as a function.
pub fn extent(size: impl Extent) -> [u32; 3] {
    size.extent()
}

/// [`RealConstant::extended`] as a function.
pub fn real(value: impl RealConstant) -> Extended {
    value.extended()
}

/// An argument that names a parameter.
pub fn named(name: &str) -> Argument {
    Argument::Named(name.into())
}

/// The side of that name.
pub fn side(name: &str) -> Which {
    if name == "reference" { Which::Reference } else { Which::Opt }
}
