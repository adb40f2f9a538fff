//! Branches, addresses, stores and updates that inputs decide: random kernels on integers of small ranges, each compared
//! with itself after an edit, and verdicts held against the interpreter.

use std::fmt::Write as _;

use volta_core::case::{Assumed, Case, Contents, Elements, Launch, Options, Param, ParamKind, Role};
use volta_core::verdict::Verdict;

use super::headline::{self, Seen};
use super::{Checked, Family, kernel, one_of, pair, side, tensor, told, verify};
use crate::interpreter::random::Random;

/// See the module.
pub const FAMILY: Family = Family {
    name: "branches and addresses from data",
    share: 300,
    check,
    expects: &[("equivalent", 25), ("different", 5), ("clean", 25), ("race", 50), ("out-of-bounds", 5)],
};

/// Elements of the output.
const PLACES: usize = 4;

const DECLARATIONS: &str = "  .shared .align 4 .b8 s[16];
  .reg .b32 %t, %n, %g, %a, %b, %v, %u, %c;
  .reg .b64 %x, %i, %y, %w;
  .reg .pred %p<64>;
";

/// A program while it is drawn.
struct Text {
    out: String,
    /// The number of predicates and labels so far.
    count: usize,
    /// The statement that an edit changes, and the number of statements so far.
    edited: Option<usize>,
    statements: usize,
}

impl Text {
    fn push(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    /// A number, or its neighbour in the statement that is edited.
    fn number(&self, random: &mut Random, below: usize) -> usize {
        let number = random.below(below);
        if self.edited == Some(self.statements) { (number + 1) % below } else { number }
    }

    fn label(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// An address in `%w`: of a place that the index names, of the thread's own, or of a fixed one.
    fn address(&mut self, random: &mut Random) {
        match random.below(4) {
            0 | 1 => self.push("mad.wide.s32 %w, %b, 4, %y;"),
            2 => self.push(&format!("and.b32 %c, %g, {}; mad.wide.u32 %w, %c, 4, %y;", PLACES - 1)),
            _ => {
                let at = self.number(random, PLACES);
                self.push(&format!("add.s64 %w, %y, {};", 4 * at));
            }
        }
    }

    fn statement(&mut self, random: &mut Random, depth: usize) {
        self.statements += 1;
        match random.below(if depth < 3 { 14 } else { 9 }) {
            0 | 1 => {
                self.address(random);
                self.push("st.global.u32 [%w], %v;");
            }
            2 | 3 => {
                self.address(random);
                let op = one_of(random, &["add.u32", "add.u32", "add.u32", "max.s32"]);
                self.push(&format!("red.global.{op} [%w], %v;"));
            }
            4 => {
                self.address(random);
                self.push("ld.global.u32 %v, [%w];");
            }
            5 => {
                let by = self.number(random, 4);
                let op = one_of(random, &["add.s32 %v, %v,", "mul.lo.s32 %v, %v,", "add.s32 %v, %a,"]);
                self.push(&format!("{op} {by};"));
            }
            6 => self.push("mad.wide.s32 %w, %b, 4, %x; ld.global.s32 %v, [%w];"),
            7 => {
                let place = one_of(random, &["%t", "%b"]);
                let what = one_of(
                    random,
                    &["st.shared.u32 [%c], %v;", "ld.shared.u32 %v, [%c];", "red.shared.add.u32 [%c], 1;"],
                );
                self.push(&format!("mov.u32 %c, s; mad.lo.u32 %c, {place}, 4, %c; {what}"));
            }
            8 => {
                let (by, greater) = (self.number(random, 3), random.below(2));
                self.push(&format!(
                    "setp.{}.s32 %p0, %a, {by}; @%p0 add.s32 %v, %v, 5;",
                    ["lt", "ge"][greater]
                ));
            }
            _ => self.branch(random, depth),
        }
    }

    fn branch(&mut self, random: &mut Random, depth: usize) {
        let own = self.label();
        let than = self.number(random, 3);
        let what = one_of(random, &["%a", "%a", "%b", "%v"]);
        let how = one_of(random, &["lt.s32", "ge.s32", "eq.s32", "ne.s32", "lt.u32"]);
        self.push(&format!("setp.{how} %p{}, {what}, {than};", own % 64));
        match random.below(5) {
            // An early return.
            0 if depth > 0 => self.push(&format!("@%p{} bra $return;", own % 64)),
            1 => {
                self.address(random);
                self.push(&format!("@%p{} st.global.u32 [%w], %v;", own % 64));
            }
            _ => {
                self.push(&format!("@%p{} bra $then{own};", own % 64));
                for _ in 0..random.below(3) {
                    self.statement(random, depth + 1);
                }
                self.push(&format!("bra.uni $end{own};"));
                self.push(&format!("$then{own}:"));
                for _ in 0..=random.below(2) {
                    self.statement(random, depth + 1);
                }
                self.push(&format!("$end{own}:"));
            }
        }
    }
}

/// The program of a seed, with an edit in one statement or without; and the number of its statements.
fn program(seed: u64, edited: Option<usize>) -> (String, usize) {
    let random = &mut Random::new(seed);
    let mut text = Text { out: String::new(), count: 0, edited, statements: 0 };
    text.push("mov.b64 %x, %P0; mov.b64 %i, %P1; mov.b64 %y, %P2;");
    text.push("mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %g, %ctaid.x; mad.lo.u32 %g, %g, %n, %t;");
    text.push("mad.wide.u32 %w, %g, 4, %x; ld.global.s32 %a, [%w];");
    text.push("mad.wide.u32 %w, %g, 4, %i; ld.global.s32 %b, [%w]; mov.u32 %v, %a;");
    if random.below(3) == 0 {
        text.push("mov.u32 %c, s; mad.lo.u32 %c, %t, 4, %c; st.shared.u32 [%c], 0; bar.sync 0;");
    }
    for _ in 0..1 + random.below(4) {
        text.statement(random, 0);
        if random.below(6) == 0 {
            text.push("bar.sync 0;");
        }
    }
    text.push("$return:");
    (kernel(&["x", "i", "y"], DECLARATIONS, &text.out), text.statements)
}

fn integers(name: &str, length: u64, role: Role, range: [i64; 2], elements: Elements) -> Param {
    let param = tensor(name, "i32", length, role, Contents::Symbolic);
    let ParamKind::Tensor { reference, opt, shape, role, contents, .. } = param.kind else { return param };
    let assumed = Assumed { range: Some(range), elements, ..Assumed::default() };
    Param { kind: ParamKind::Tensor { reference, opt, shape, role, contents, assumed }, ..param }
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed ^ 0x0064_6174_6121);
    let (threads, ctas) = one_of(random, &[(4, 1), (2, 2), (4, 1), (2, 1)]);
    let elements = one_of(random, &[Elements::Any, Elements::Distinct]);
    let greatest = one_of(random, &[3, 3, 3, 3, 3, 3, 3, 4]);
    let params = vec![
        integers("x", 4, Role::In, [-1, 2], Elements::Any),
        integers("i", 4, Role::In, [0, greatest], elements),
        integers("y", PLACES as u64, Role::InOut, [0, 2], Elements::Any),
    ];
    let (text, statements) = program(seed, None);
    let launch = |text: String| {
        let mut own = side(text, threads);
        own.launch = Launch { grid: [ctas, 1, 1], ..own.launch };
        own
    };
    let edited = if random.below(2) == 0 { None } else { Some(1 + random.below(statements)) };
    let case = if random.below(3) == 0 {
        Case { params, reference: None, opt: launch(text).into(), options: Options::default() }
    } else {
        pair(params, launch(text), launch(program(seed, edited).0))
    };
    let report = verify(&case);
    let seen = headline::holds(&case, &report, seed)
        .map_err(|why| told(&case, &format!("{}: {why}\n{:?}", report.verdict.name(), report.verdict)))?;
    if let Verdict::InputError(error) = &report.verdict {
        return match error.message.contains("no output element is written") {
            true => Ok(vec!["nothing is written".into()]),
            false => Err(told(&case, &error.message)),
        };
    }
    if let Verdict::Unknown(unknown) = &report.verdict
        && unknown.kind == volta_core::verdict::UnknownReason::Internal
    {
        return Err(told(&case, &unknown.reason));
    }
    let seen = match seen {
        Seen::Holds => "confirmed",
        Seen::NotShown => "not shown",
        Seen::Nothing => "nothing to show",
    };
    let name = report.verdict.name().to_string();
    Ok(vec![name.clone(), format!("{name}, {seen}")])
}
