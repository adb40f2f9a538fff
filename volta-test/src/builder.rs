//! The calls that the attributes expand to, and that build a case.

use std::any::Any;
use std::sync::Arc;

use volta_case::{About, Options, Section, Value};
use volta_core::case::{
    Argument, Assumed, Binding, Comparison, Contents, Element, FieldType, Member, Param, ParamKind, Role,
    ScalarValue, TensorAddress, TensorMap, Which, tensor_of_structs,
};
use volta_core::number::{Extended, Rational};
use volta_core::rust_reference::Trace;

use crate::case::{Case, Contains, DataFile, Expectation, GraphSource, Home, Kernel, Side, Step};
use crate::manifest::{MOST_RUNS, graph_of, parts};
use crate::size::{self, Size, Uneven};
use crate::{contents, limits, number};

/// Builds a case. The attribute has checked names and types; checks that need values are in [`Builder::finish`].
#[derive(Debug)]
pub struct Builder {
    name: String,
    home: Home,
    description: String,
    about: About,
    params: Vec<Param>,
    maps: Vec<(String, TensorMap)>,
    /// The steps of both sides, and how often they run.
    steps: [Vec<Step>; 2],
    repeat: [u32; 2],
    expect: Expectation,
    options: Options,
    contains: Vec<Contains>,
    /// The parameters with contents from files.
    data: Vec<(usize, String)>,
    errors: Vec<String>,
    size: Size,
    uneven: [Option<Uneven>; 2],
}

/// A reference in Rust takes no more elements: each is a number that is recorded.
const MOST_TRACED: u64 = 1 << 24;

/// The message of a panic.
fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Keys of a section and what they are set to.
type Values = Vec<(&'static str, Value)>;

fn set(section: &mut impl Section, values: Values, errors: &mut Vec<String>) {
    let wrong = values.into_iter().filter_map(|(key, value)| section.set(key, value).err());
    errors.extend(wrong.map(|wrong| wrong.to_string()));
}

impl Builder {
    /// A builder of the case at a size; at any if it has none.
    pub(crate) fn new(name: String, home: Home, size: Size) -> Builder {
        // What another case left is not of this one.
        size::taken();
        Builder {
            size,
            uneven: [None; 2],
            name,
            home,
            description: String::new(),
            about: About::default(),
            params: Vec::new(),
            maps: Vec::new(),
            steps: [Vec::new(), Vec::new()],
            repeat: [1; 2],
            expect: Expectation::default(),
            options: Options { limits: limits::of_machine(), ..Options::default() },
            contains: Vec::new(),
            data: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// The number of the variable that is any number.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Notes that sides use the sizes that have been turned into numbers since the last call.
    fn used(&mut self, by: [bool; 2]) {
        let uneven = size::taken();
        for (own, _) in self.uneven.iter_mut().zip(by).filter(|(_, used)| *used) {
            *own = (*own).max(uneven);
        }
    }

    /// For the reference and the other kernel: why a number that it uses does not grow evenly.
    pub(crate) fn uneven(&self) -> [Option<Uneven>; 2] {
        self.uneven
    }

    /// A line of the function's documentation.
    pub fn description(&mut self, line: &str) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if !self.description.is_empty() {
            self.description.push('\n');
        }
        self.description.push_str(line);
    }

    /// A tensor; dimensions outermost first.
    pub fn tensor(
        &mut self,
        name: &str,
        types: [&str; 2],
        shape: &[u64],
        role: Role,
        contents: Option<Contents>,
        assumed: Assumed,
    ) {
        self.used([true; 2]);
        let shape = shape.to_vec();
        let [reference, opt] = types.map(|name| self.element(name));
        let contents = contents.unwrap_or(Contents::of_role(role));
        if let Contents::List(list) = &contents {
            let count = shape.iter().try_fold(1u64, |product, length| product.checked_mul(*length));
            if count != Some(list.len() as u64) {
                self.errors.push(format!("`{name}` has {} numbers for the shape {shape:?}", list.len()));
            }
        }
        let kind = ParamKind::Tensor { reference, opt, shape, role, contents, assumed };
        self.params.push(Param::new(name, kind, Binding::Argument));
    }

    /// Compares the elements of the last parameter as a multiset.
    pub fn in_any_order(&mut self) {
        if let Some(param) = self.params.last_mut() {
            param.compare = Comparison::Set;
        }
    }

    /// Gives the last parameter the contents of a file.
    pub fn contents_of(&mut self, file: &str) {
        let problem = volta_case::path_problem(file);
        let problem = problem.or_else(|| (!contents::is_file(file)).then(|| contents::no_file(file)));
        self.errors.extend(problem);
        if let Some(Param { kind: ParamKind::Tensor { contents, .. }, .. }) = self.params.last_mut() {
            *contents = Contents::List(Vec::new());
            self.data.push((self.params.len() - 1, file.into()));
        }
    }

    /// A scalar.
    pub fn scalar(&mut self, name: &str, element: &str, value: ScalarValue) {
        self.used([true; 2]);
        let element = self.element(element);
        let kind = ParamKind::Scalar { element, value };
        self.params.push(Param::new(name, kind, Binding::Argument));
    }

    /// Makes the last `fields` tensors the fields of a tensor of structs, which has their first `rank` dimensions.
    pub fn structs(&mut self, name: &str, rank: usize, fields: usize) {
        let fields = self.params.split_off(self.params.len().saturating_sub(fields));
        let (mut types, mut outer) = (Vec::new(), None);
        for Param { name, kind, .. } in fields {
            let ParamKind::Tensor { reference: element, shape, role, contents, assumed, .. } = kind else {
                self.errors.push(format!("the field `{name}` is not a tensor"));
                continue;
            };
            let (structs, inner) = shape.split_at(rank.min(shape.len()));
            outer = outer.or(Some((structs.to_vec(), role)));
            let shape = inner.to_vec();
            types.push(FieldType { name, element, shape, contents: Some(contents), assumed });
        }
        let (shape, role) = outer.unwrap_or((Vec::new(), Role::In));
        match tensor_of_structs(name, &shape, role, types) {
            Ok(params) => self.params.extend(params),
            Err(message) => self.errors.push(message),
        }
    }

    /// An array of pointers: tensors and elements of them, or nothing for the null pointer.
    pub fn pointers(&mut self, name: &str, pointers: Vec<Option<Argument>>) {
        let pointers = pointers.into_iter().map(|pointer| match pointer? {
            Argument::Element { of, at } => Some(TensorAddress { of, at }),
            Argument::Named(of) => Some(TensorAddress { of, at: 0 }),
            // The attribute gives names only.
            Argument::Literal(_) | Argument::Map { .. } | Argument::Struct(_) => None,
        });
        let kind = ParamKind::of_pointers(pointers.collect());
        self.params.push(Param::new(name, kind, Binding::Argument));
    }

    /// A tensor map: how a tensor is cut into boxes.
    pub fn tensor_map(&mut self, name: &str, values: Values) {
        self.used([true; 2]);
        let mut map = TensorMap::default();
        set(&mut map, values, &mut self.errors);
        self.maps.push((name.into(), map));
    }

    /// Makes the last parameter a variable of the module, which kernels access by its name.
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

    /// The next step of a side: a kernel, as `file` or `file::kernel`.
    pub fn launch(&mut self, side: Which, source: &str, args: Option<Vec<Argument>>, values: Values) {
        self.used([Which::Reference, Which::Opt].map(|own| own == side));
        let mut kernel = Kernel { args, ..Kernel::new(source) };
        set(&mut kernel, values, &mut self.errors);
        self.steps[side as usize].push(Step::Launch(kernel));
    }

    /// The next step of a side: every element of a tensor becomes a number.
    pub fn fill(&mut self, side: Which, tensor: &str, with: Extended) {
        self.steps[side as usize].push(Step::Fill { tensor: tensor.into(), with });
    }

    /// The next step of a side: every element of a tensor becomes that of another one.
    pub fn copy(&mut self, side: Which, from: &str, to: &str) {
        self.steps[side as usize].push(Step::Copy { from: from.into(), to: to.into() });
    }

    /// The next step of a side: a graph of operators, from its keys with their values as text.
    pub fn graph(&mut self, side: Which, keys: &[(&str, &str)]) {
        self.used([Which::Reference, Which::Opt].map(|own| own == side));
        match graph_of(keys, &self.params, side) {
            Ok(step) => self.steps[side as usize].push(step),
            Err(message) => self.errors.push(message),
        }
    }

    /// The reference, written in Rust: what `record` does, under the name `shown`.
    ///
    /// It runs in a thread of its own, whose stack has room for all its arrays: a panic ends the reference and not the
    /// run of the tests, and its message has the name of the case.
    pub fn function(&mut self, shown: &str, record: fn(&mut Trace<'_>)) {
        let elements = self.params.iter().map(|param| match &param.kind {
            ParamKind::Tensor { shape, .. } => shape.iter().fold(1u64, |all, own| all.saturating_mul(*own)),
            ParamKind::Scalar { .. } => 1,
        });
        let elements = elements.fold(0, u64::saturating_add);
        if elements > MOST_TRACED {
            self.errors.push(format!("a reference in Rust takes at most {MOST_TRACED} elements"));
            return;
        }
        let stack = (64 << 20) + 64 * elements as usize;
        let (params, name) = (&self.params, &self.name);
        let recorded = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name(name.clone()).stack_size(stack);
            let running = thread.spawn_scoped(scope, || Trace::record(shown, params, record));
            match running.map(|running| running.join()) {
                Ok(Ok(recorded)) => recorded,
                Ok(Err(panic)) => Err(format!("`{shown}` panicked: {}", told(panic.as_ref()))),
                Err(error) => Err(format!("`{shown}` cannot run: {error}")),
            }
        });
        match recorded {
            Ok(graph) => {
                self.steps[Which::Reference as usize].push(Step::Graph(GraphSource::Here(Arc::new(graph))));
            }
            Err(message) => self.errors.push(message),
        }
    }

    /// How often a side runs.
    pub fn repeat(&mut self, side: Which, times: u32) {
        if times == 0 || u64::from(times) > MOST_RUNS {
            self.errors.push(format!("`repeat` must be from 1 to {MOST_RUNS}"));
        }
        self.repeat[side as usize] = times.clamp(1, MOST_RUNS as u32);
    }

    /// Texts about the case.
    pub fn about(&mut self, values: Values) {
        set(&mut self.about, values, &mut self.errors);
    }

    /// The expected verdict.
    pub fn expect(&mut self, values: Values) {
        set(&mut self.expect, values, &mut self.errors);
    }

    /// The keys of `[options]` in a `volta.toml`.
    pub fn options(&mut self, values: Values) {
        self.used([true; 2]);
        set(&mut self.options, values, &mut self.errors);
    }

    /// A text that a side's PTX must contain.
    pub fn contains(&mut self, values: Values) {
        let mut wanted = Contains::default();
        set(&mut wanted, values, &mut self.errors);
        self.contains.push(wanted);
    }

    pub(crate) fn finish(mut self) -> Result<Case, String> {
        let ([reference, opt], [first, second]) = (self.steps, self.repeat);
        let mut reference = Side::of_steps(reference, first);
        let Some(mut opt) = Side::of_steps(opt, second) else {
            let errors =
                if self.errors.is_empty() { "there is no kernel".into() } else { self.errors.join("; ") };
            return Err(format!("{}: {errors}", self.name));
        };
        for side in reference.iter_mut().chain([&mut opt]) {
            side.change_kernels(|kernel| {
                kernel.args = kernel.args.take().map(|list| Argument::with_maps(list, &self.maps));
            });
        }
        for (_, kernel) in reference.iter().chain([&opt]).flat_map(Side::kernels) {
            if kernel.launch.block.contains(&0) || kernel.launch.grid.contains(&0) {
                self.errors.push(format!("{}: grid and block sizes are at least 1", kernel.shown()));
            }
        }
        if !self.errors.is_empty() {
            return Err(format!("{}: {}", self.name, self.errors.join("; ")));
        }
        let shard = parts::part(&self.name, &self.options, self.expect.verdict, reference.is_some())
            .map_err(|wrong| format!("{}: {wrong}", self.name))?;
        let of = |(at, file): (usize, String)| Some(DataFile { of: self.params.get(at)?.name.clone(), file });
        let data = self.data.into_iter().filter_map(of).collect();
        // Its forms are those of a share.
        self.options.run.snapshot &= shard.is_none();
        Ok(Case {
            name: self.name,
            home: self.home,
            description: Some(self.description).filter(|text| !text.is_empty()),
            about: self.about,
            params: self.params,
            reference,
            opt,
            expect: self.expect,
            options: self.options,
            recheck: 0,
            contains: self.contains,
            guesses: Vec::new(),
            data,
            shard,
            every: None,
        })
    }
}

/// The exact value of a literal: `0.1` is 1/10.
///
/// # Panics
/// When it is no number; the attribute has checked that it is one.
pub fn literal(text: &str) -> Extended {
    number::parse(text).unwrap_or_else(|| panic!("`{text}` is not a number"))
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

/// An extent of a tensor.
#[diagnostic::on_unimplemented(message = "an extent of a tensor is a `usize`, not `{Self}`")]
pub trait Length {
    /// The number of elements; none of what is less than nothing.
    fn length(self) -> u64;
}

impl Length for usize {
    fn length(self) -> u64 {
        self as u64
    }
}

impl Length for Size {
    fn length(self) -> u64 {
        u64::try_from(self.value()).unwrap_or(0)
    }
}

/// [`Length::length`] as a function.
pub fn length(of: impl Length) -> u64 {
    of.length()
}

impl IntegerConstant for Size {
    fn value(self) -> i128 {
        self.number()
    }
}

/// A limit.
pub fn count(value: u64) -> Value {
    Value::Count(value.into())
}

/// [`IntegerConstant::value`] as the value of a key.
pub fn size(value: impl IntegerConstant) -> Value {
    Value::Count(value.value())
}

/// One to three numbers, for `block` and `grid`: `128`, `[16, 16]`, `(16, 16)`.
#[diagnostic::on_unimplemented(message = "a size is an integer, or a list of up to three, not `{Self}`")]
pub trait Extent {
    /// The sizes given, in the order x, y, z.
    fn sizes(self) -> Vec<i128>;
}

impl<T: IntegerConstant> Extent for T {
    fn sizes(self) -> Vec<i128> {
        vec![self.value()]
    }
}

impl<T: IntegerConstant> Extent for (T,) {
    fn sizes(self) -> Vec<i128> {
        vec![self.0.value()]
    }
}

impl<T: IntegerConstant> Extent for [T; 1] {
    fn sizes(self) -> Vec<i128> {
        self.map(T::value).into()
    }
}

impl<T: IntegerConstant> Extent for [T; 2] {
    fn sizes(self) -> Vec<i128> {
        self.map(T::value).into()
    }
}

impl<T: IntegerConstant> Extent for [T; 3] {
    fn sizes(self) -> Vec<i128> {
        self.map(T::value).into()
    }
}

impl<T: IntegerConstant, U: IntegerConstant> Extent for (T, U) {
    fn sizes(self) -> Vec<i128> {
        vec![self.0.value(), self.1.value()]
    }
}

impl<T: IntegerConstant, U: IntegerConstant, V: IntegerConstant> Extent for (T, U, V) {
    fn sizes(self) -> Vec<i128> {
        vec![self.0.value(), self.1.value(), self.2.value()]
    }
}

/// [`Extent::sizes`] as the value of a key.
pub fn extent(size: impl Extent) -> Value {
    Value::Counts(size.sizes())
}

/// [`RealConstant::extended`] as a function.
pub fn real(value: impl RealConstant) -> Extended {
    value.extended()
}

/// The nearest `f64` of a number.
pub fn float(value: Extended) -> f64 {
    number::nearest(&value)
}

/// An argument that names a parameter.
pub fn named(name: &str) -> Argument {
    Argument::Named(name.into())
}

/// An argument that points to an element of a tensor.
pub fn element(name: &str, at: usize) -> Argument {
    Argument::Element { of: name.into(), at: at as u64 }
}

/// A member of a struct that is a number of a type.
pub fn typed(element: &str, value: Extended) -> Member {
    // The attribute has checked the name; binding refuses a number without a type.
    match Element::parse(element) {
        Some(element) => Member::Number(element, value),
        None => Member::Argument(Argument::Literal(value)),
    }
}
