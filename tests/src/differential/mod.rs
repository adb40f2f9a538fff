//! Differential testing: random programs whose answers are known independently of the verifier.
//!
//! Each family draws kernels from a seed: [`known`] computes integers from constants, which a plain interpreter of PTX
//! computes as well; [`moves`] moves elements and tracks where they go; [`small`] computes with unknown integers, of
//! which it tries all values; [`real`] computes with unknown reals, and evaluates its formulas with a hundred digits;
//! [`rounding`] derives integers, branches and addresses from known floats; [`tiles`] moves elements through boxes of
//! tensor maps and factors of products; [`decided`] branches, stores and addresses by integers of inputs. [`headline`] compares any verdict with the behaviour of the interpreter.

pub mod decided;
pub mod headline;
pub mod known;
pub mod moves;
pub mod real;
pub mod rounding;
pub mod small;
pub mod tiles;

use std::collections::BTreeMap;

use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role,
};
use volta_core::number::{Extended, Rational};
use volta_core::verdict::Report;

use crate::interpreter::random::Random;

/// A family of programs.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// The number of programs in every run of the tests.
    pub share: u64,
    /// Draws the program of a seed, verifies it and checks the verdict; returns the outcomes.
    pub check: fn(u64) -> Result<Checked, String>,
    /// Outcomes, with the least number of times that each must occur in a run of [`Family::share`] programs.
    pub expects: &'static [(&'static str, u64)],
}

/// The outcomes of a program: verdicts, and further checks.
pub type Checked = Vec<String>;

/// All families.
pub const FAMILIES: [Family; 7] = [
    known::FAMILY,
    moves::FAMILY,
    small::FAMILY,
    real::FAMILY,
    rounding::FAMILY,
    tiles::FAMILY,
    decided::FAMILY,
];

/// The number of times that each outcome occurred.
pub type Tally = BTreeMap<String, u64>;

/// Verifies a case.
pub(crate) fn verify(case: &Case) -> Report {
    volta_core::verify(case)
}

/// A failure message with the kernels.
pub(crate) fn told(case: &Case, why: &str) -> String {
    let mut text = format!("{why}\n");
    let sides = case.reference.iter().map(|side| ("reference", side)).chain([("opt", &case.opt)]);
    for (name, (_, KernelLaunch { launch, ptx, .. })) in
        sides.flat_map(|(name, side)| side.launches().map(move |launch| (name, launch)))
    {
        text += &format!("// {name}: grid {:?}, block {:?}\n{ptx}\n", launch.grid, launch.block);
    }
    for param in &case.params {
        text += &format!("// {param:?}\n");
    }
    text
}

/// A tensor of one dimension.
pub(crate) fn tensor(name: &str, element: &str, length: u64, role: Role, contents: Contents) -> Param {
    let element = Element::parse(element).expect("a type");
    let kind = ParamKind::Tensor {
        reference: element,
        opt: element,
        shape: vec![length],
        role,
        contents,
        assumed: Assumed::default(),
    };
    Param::new(name, kind, Binding::Argument)
}

/// Contents that are a list of integers.
pub(crate) fn list(values: impl Iterator<Item = i128>) -> Contents {
    Contents::List(values.map(|value| Extended::Finite(Rational::from_i128(value))).collect())
}

/// A kernel on one CTA.
pub(crate) fn side(ptx: String, threads: u32) -> KernelLaunch {
    KernelLaunch {
        ptx,
        path: "random.ptx".into(),
        kernel: None,
        arguments: None,
        launch: Launch::of_threads(threads),
    }
}

/// Two kernels over parameters.
pub(crate) fn pair(params: Vec<Param>, reference: KernelLaunch, opt: KernelLaunch) -> Case {
    Case { params, reference: Some(reference.into()), opt: opt.into(), options: Options::default() }
}

/// A kernel with pointers as parameters, which are in the registers `%P0`, `%P1`, ….
pub(crate) fn kernel(pointers: &[&str], declarations: &str, body: &str) -> String {
    let list: Vec<String> = pointers.iter().map(|name| format!(".param .u64 {name}")).collect();
    let load = |(at, name): (usize, &&str)| format!("  ld.param.u64 %P{at}, [{name}];\n");
    let loads: String = pointers.iter().enumerate().map(load).collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k({})\n{{\n  .reg .b64 %P<{}>;\n{declarations}{loads}{body}  ret;\n}}\n",
        list.join(", "),
        pointers.len()
    )
}

/// Replaces each `$x` of a template by the result of `draw` for `x`.
pub(crate) fn fill(template: &str, mut draw: impl FnMut(char) -> String) -> String {
    let mut out = String::new();
    let mut rest = template.chars();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            ('$', Some(what)) => {
                rest.next();
                out += &draw(what);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A random element of `all`.
pub(crate) fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len())]
}

/// A random 32-bit integer: small, an edge case, or any.
pub(crate) fn word(random: &mut Random) -> u32 {
    const EDGES: [u32; 12] =
        [0, 1, 2, 31, 32, 33, 0xff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    match random.below(4) {
        0 => random.below(40) as u32,
        1 => one_of(random, &EDGES),
        2 => (random.below(40) as u32).wrapping_neg(),
        _ => random.bits() as u32,
    }
}
