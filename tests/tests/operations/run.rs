//! Runs one instruction on many rows of operands: a row is a thread.

use super::unknown;
use volta_core::case::{
    Argument, Assumed, Binding, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role,
    Which,
};
use volta_core::launch;
use volta_core::machine::{self, Execution, OutputValue, Recognition};
use volta_core::number::format::Format;
use volta_core::number::{Extended, Rational};
use volta_core::term::{Constant, TermKind};
use volta_core::{program, ptx};

/// What an operand or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Bits in a register of 16, 32 or 64 bits.
    Bits(u32),
    /// A predicate; rows give 0 or 1.
    Pred,
    /// A real: as a result only, checked as a constant term.
    Real(Format),
}

impl Sort {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Sort::Bits(bits) => bits,
            Sort::Pred => 32,
            Sort::Real(format) => 8 * format.bytes().max(2),
        }
    }

    fn register(self) -> &'static str {
        match self {
            Sort::Pred => ".pred",
            sort @ (Sort::Bits(_) | Sort::Real(_)) => match sort.bits() {
                16 => ".b16",
                32 => ".b32",
                _ => ".b64",
            },
        }
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Held {
    Bits(u64),
    Constant(Constant),
}

/// An instruction with its operands: `%d`, `%e` are results, `%a %b %c %f` are sources.
#[derive(Clone, Debug)]
pub(crate) struct Instruction<'t> {
    pub(crate) text: &'t str,
    pub(crate) results: &'t [Sort],
    pub(crate) sources: &'t [Sort],
}

const RESULTS: [&str; 2] = ["%d", "%e"];
const SOURCES: [&str; 4] = ["%a", "%b", "%c", "%f"];

/// What results hold beforehand.
pub(crate) const BEFORE: u64 = 0xdead_beef_5eed_1234;

/// How the instruction stands in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// Threads with an even number execute it.
    Guarded,
    /// The first result is the register of this source.
    Onto(usize),
}

pub(crate) fn kernel(instruction: &Instruction<'_>, form: Form) -> String {
    use std::fmt::Write as _;
    let mut out = String::from(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(");
    let parameters = instruction.sources.len() + instruction.results.len();
    let list: Vec<String> = (0..parameters).map(|at| format!(".param .u64 p{at}")).collect();
    let _ = writeln!(out, "{})\n{{", list.join(", "));
    out += "  .reg .b32 %i, %n, %t; .reg .b64 %p, %o; .reg .pred %even;\n";
    for (names, sorts) in [(&SOURCES[..], instruction.sources), (&RESULTS[..], instruction.results)] {
        for (name, sort) in names.iter().zip(sorts) {
            let _ = writeln!(out, "  .reg {} {name};", sort.register());
        }
    }
    out += "  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;\n";
    out += "  and.b32 %t, %t, 1; setp.eq.u32 %even, %t, 0;\n";
    for (at, (name, sort)) in SOURCES.iter().zip(instruction.sources).enumerate() {
        let bytes = sort.bits() / 8;
        let _ = writeln!(out, "  ld.param.u64 %p, [p{at}]; mad.wide.u32 %o, %i, {bytes}, %p;");
        let _ = match sort {
            Sort::Pred => writeln!(out, "  ld.global.b32 %t, [%o]; setp.ne.b32 {name}, %t, 0;"),
            sort @ (Sort::Bits(_) | Sort::Real(_)) => {
                writeln!(out, "  ld.global.b{} {name}, [%o];", sort.bits())
            }
        };
    }
    for (name, sort) in RESULTS.iter().zip(instruction.results) {
        let _ = match sort {
            Sort::Pred => writeln!(out, "  setp.eq.u32 {name}, 0, 0;"),
            // A float to begin with, so that guarded results are reals too.
            Sort::Real(_) => writeln!(out, "  mov.b{} {name}, 0;", sort.bits()),
            sort => writeln!(out, "  mov.b{} {name}, {};", sort.bits(), BEFORE & mask(sort.bits())),
        };
    }
    let text = match form {
        Form::Onto(at) => instruction.text.replace("%d", SOURCES[at]),
        Form::Plain | Form::Guarded => instruction.text.to_string(),
    };
    let guard = if form == Form::Guarded { "@%even " } else { "" };
    for statement in text.split(';').filter(|statement| !statement.trim().is_empty()) {
        let _ = writeln!(out, "  {guard}{};", statement.trim());
    }
    for (at, (name, sort)) in RESULTS.iter().zip(instruction.results).enumerate() {
        let (bytes, param) = (sort.bits() / 8, instruction.sources.len() + at);
        let name = if let Form::Onto(source) = form
            && at == 0
        {
            SOURCES[source]
        } else {
            name
        };
        let _ = writeln!(out, "  ld.param.u64 %p, [p{param}]; mad.wide.u32 %o, %i, {bytes}, %p;");
        let _ = match sort {
            Sort::Pred => writeln!(out, "  selp.u32 %t, 1, 0, {name}; st.global.b32 [%o], %t;"),
            sort @ (Sort::Bits(_) | Sort::Real(_)) => {
                writeln!(out, "  st.global.b{} [%o], {name};", sort.bits())
            }
        };
    }
    out + "  ret;\n}\n"
}

pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn tensor(name: String, element: Element, shape: u64, role: Role, contents: Contents) -> Param {
    let kind = ParamKind::Tensor {
        reference: element,
        opt: element,
        shape: vec![shape],
        role,
        contents,
        assumed: Assumed::default(),
    };
    Param::new(name, kind, Binding::Argument)
}

/// Runs PTX on lists of integers and hands back what the outputs hold.
///
/// # Errors
/// The fault's name and message.
pub(crate) fn execute(
    ptx: &str,
    inputs: &[(u32, Vec<u64>)],
    outputs: &[(Element, u64)],
    grid: u32,
    block: u32,
) -> Result<Vec<Vec<Held>>, String> {
    let known = |(bits, values): &(u32, Vec<u64>)| {
        let list = values.iter().map(|value| Extended::Finite(Rational::from_u64(value & mask(*bits))));
        (*bits, values.len() as u64, Contents::List(list.collect()))
    };
    let inputs: Vec<(u32, u64, Contents)> = inputs.iter().map(known).collect();
    let outcome = launch(ptx, &inputs, outputs, grid, block)?;
    let mut held = vec![Vec::new(); outputs.len()];
    for output in &outcome.outputs {
        held[output.param - inputs.len()].push(value_of(&outcome, output.store, output.value));
    }
    for (list, (_, count)) in held.iter().zip(outputs) {
        assert_eq!(list.len() as u64, *count, "every element is written");
    }
    Ok(held)
}

/// Runs PTX on integers: of each input their bits, how many there are, and which.
///
/// # Errors
/// The fault's name and message.
pub(crate) fn launch(
    ptx: &str,
    inputs: &[(u32, u64, Contents)],
    outputs: &[(Element, u64)],
    grid: u32,
    block: u32,
) -> Result<Execution, String> {
    let int = |bits: u32| Element::Int { bytes: bits / 8, signed: false };
    let mut params = Vec::new();
    for (at, (bits, count, contents)) in inputs.iter().enumerate() {
        params.push(tensor(format!("in{at}"), int(*bits), *count, Role::In, contents.clone()));
    }
    for (at, (element, count)) in outputs.iter().enumerate() {
        params.push(tensor(format!("out{at}"), *element, *count, Role::Out, Contents::Undefined));
    }
    let module = ptx::parse(ptx).map_err(|error| format!("parse: {}", error.message))?;
    let program = program::lower(&module, ptx, None).map_err(|error| format!("lower: {error}"))?;
    let arguments = params.iter().map(|param| Argument::Named(param.name.clone())).collect();
    let side = KernelLaunch {
        ptx: ptx.into(),
        path: "operation.ptx".into(),
        kernel: None,
        arguments: Some(arguments),
        launch: Launch { grid: [grid, 1, 1], ..Launch::of_threads(block) },
    };
    let options = Options::default();
    let job = launch::Job::only(Which::Opt, (&program, &side), &params, &options);
    let (outcome, _) = machine::run(&job, Recognition::default());
    outcome.map_err(|error| match error {
        machine::RunError::Fault(fault, _) => format!("{}: {}", fault.kind, fault.message),
        other @ (machine::RunError::Bind(_)
        | machine::RunError::Possible(_)
        | machine::RunError::Exhausted(_)
        | machine::RunError::Defect(_)
        | machine::RunError::Endless(_)) => format!("{other:?}"),
    })
}

fn value_of(outcome: &Execution, store: usize, value: OutputValue) -> Held {
    match value {
        OutputValue::Bits(bits) => Held::Bits(bits),
        OutputValue::Real(term) => match term.kind() {
            TermKind::Constant(id) => Held::Constant(outcome.stores[store].constant(id).clone()),
            TermKind::Input { .. } | TermKind::Lane(..) => panic!("a result is no constant"),
        },
        OutputValue::Integer(_) => panic!("a result is not known"),
    }
}

const BLOCK: usize = 256;

/// Runs an instruction on rows of operands.
fn run(instruction: &Instruction<'_>, form: Form, rows: &[Vec<u64>]) -> Result<Vec<Vec<Held>>, String> {
    let block = rows.len().min(BLOCK);
    let grid = rows.len().div_ceil(block);
    let padded = grid * block;
    let inputs: Vec<(u32, Vec<u64>)> = instruction
        .sources
        .iter()
        .enumerate()
        .map(|(at, sort)| {
            let values = (0..padded).map(|row| rows[row.min(rows.len() - 1)][at]).collect();
            (sort.bits(), values)
        })
        .collect();
    let outputs: Vec<(Element, u64)> =
        instruction.results.iter().map(|sort| (output_element(*sort), padded as u64)).collect();
    execute(&kernel(instruction, form), &inputs, &outputs, grid as u32, block as u32)
}

/// What a tensor of results of a sort holds.
pub(crate) fn output_element(sort: Sort) -> Element {
    match sort {
        Sort::Real(format) => Element::Float(format),
        sort @ (Sort::Bits(_) | Sort::Pred) => Element::Int { bytes: sort.bits() / 8, signed: false },
    }
}

/// Runs an instruction once and returns its results row by row.
pub(crate) fn results(instruction: &Instruction<'_>, rows: &[Vec<u64>]) -> Result<Vec<Vec<Held>>, String> {
    run(instruction, Form::Plain, rows)
}

/// Runs an instruction plainly, under a guard, and onto each source of the result's sort; and with operands that are
/// not known. Compares every result with the oracle's.
pub(crate) fn check(instruction: &Instruction<'_>, rows: &[Vec<u64>], oracle: impl Fn(&[u64]) -> Vec<u64>) {
    unknown::check(instruction, rows, &oracle);
    let Instruction { text, results, sources } = instruction;
    let mut forms = vec![Form::Plain, Form::Guarded];
    if !text.contains("%e") {
        let same = sources.iter().enumerate().filter(|(_, sort)| **sort == results[0]);
        forms.extend(same.map(|(at, _)| Form::Onto(at)));
    }
    for form in forms {
        let held = run(instruction, form, rows).unwrap_or_else(|error| panic!("{text} ({form:?}): {error}"));
        for (row, operands) in rows.iter().enumerate() {
            let expected = oracle(operands);
            for (at, sort) in results.iter().enumerate() {
                let executed = form != Form::Guarded || (row % BLOCK).is_multiple_of(2);
                let wanted = match (executed, sort) {
                    (true, _) => expected[at],
                    (false, Sort::Pred) => 1,
                    (false, sort) => BEFORE & mask(sort.bits()),
                };
                let spelled: Vec<String> = operands.iter().map(|word| format!("{word:#x}")).collect();
                assert_eq!(
                    held[at][row],
                    Held::Bits(wanted),
                    "`{text}` ({form:?}), result {at}, on {}: {wanted:#x} expected",
                    spelled.join(", ")
                );
            }
        }
    }
}

/// A generator of numbers, the same on every machine (splitmix64).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn pick(&mut self, list: &[u64]) -> u64 {
        list[(self.next() % list.len() as u64) as usize]
    }
}

/// Numbers at which operations of a width change their ways.
pub(crate) fn boundaries(bits: u32) -> Vec<u64> {
    let mut list: Vec<u64> = vec![0, 1, 2, 3, 5, 7, 10, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa];
    for power in [4, 5, 7, 8, 12, 15, 16, 23, 24, 31, 32, 47, 62, 63] {
        let power = 1u64 << power;
        list.extend([power - 1, power, power + 1, power.wrapping_neg()]);
    }
    list.extend([u64::MAX, u64::MAX - 1, u64::MAX - 2, 0x0123_4567_89ab_cdef, 0x8040_2010_0804_0201]);
    let mut list: Vec<u64> = list.into_iter().map(|value| value & mask(bits)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Operands for sources of these sorts: boundaries against each other, then mixtures with random bits.
pub(crate) fn rows(sources: &[Sort]) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = sources
        .iter()
        .map(|sort| match sort {
            Sort::Pred => vec![0, 1],
            sort @ (Sort::Bits(_) | Sort::Real(_)) => boundaries(sort.bits()),
        })
        .collect();
    let mut rows = Vec::new();
    match lists.as_slice() {
        [a] => rows.extend(a.iter().map(|x| vec![*x])),
        [a, b] => rows.extend(a.iter().flat_map(|x| b.iter().map(|y| vec![*x, *y]))),
        _ => {}
    }
    let mut random = Random(1);
    let more = if sources.len() > 2 { 4096 } else { 1024 };
    for _ in 0..more {
        let row = lists.iter().zip(sources).map(|(list, sort)| match (sort, random.next() % 2) {
            (Sort::Pred, _) | (_, 0) => random.pick(list),
            (sort, _) => random.next() & mask(sort.bits()),
        });
        rows.push(row.collect());
    }
    rows
}
