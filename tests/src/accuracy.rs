//! The table of accuracy: of each fixture with a proof, the strongest claim that holds, the inputs for which all floats
//! stay finite, what is proved of the errors of its outputs, and the largest that are found.
//!
//! All limits are counts, so that a row is the same on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use volta_case::UnknownCause;
use volta_core::base::budget::Limit;
use volta_core::case::{Case, Claim, Element, MaxError, Param, ParamKind, ScalarValue, Sign, Which};
use volta_core::verdict::{OutputError, Report, Verdict};
use volta_core::verify;
use volta_interpreter::errors::{Search, SeenError};
use volta_test::accuracy::{measured, number_of};
use volta_test::discover::family_of;
use volta_test::manifest;
use volta_test::nvcc::Toolchain;
use volta_test::run::ready;

use crate::fixture::{self, Size};

/// The page with the table.
pub const PAGE: &str = "docs/accuracy.md";

/// The verdicts of fixtures that have a row.
const PROVED: [&str; 6] =
    ["equivalent", "equivalent-where", "same-bits", "same-up-to-fma", "same-up-to-order", "finite"];

/// Of fixtures that execute more instructions of threads, the claim about reals is looked for only.
const MOST_INSTRUCTIONS: u64 = 250_000;

/// The steps of an analysis of ranges or errors.
const STEPS: u64 = 2_000_000;

/// Bytes that are kept while kernels are executed on values of IEEE arithmetic.
const MEMORY: u64 = 1 << 30;

/// The search for large errors ends after so many inputs, or so many instructions of threads.
const SEARCH: Search = Search { tries: 60, instructions: 2_000_000 };

/// Errors are looked for in so many elements of an output.
const ELEMENTS: u64 = 64;

/// A case at every size is measured at this one.
const EVERY: u64 = 35;

/// The largest magnitude of floats whose range the case does not give, where errors are bounded.
const USUAL: f64 = 8.0;

/// A bound within this factor of an error that was seen says how large errors are.
const CLOSE: f64 = 100.0;

/// In place of a quotient, where no error was seen.
const NONE_SEEN: &str = "none seen";

/// Bounds of more units in the last place than this are told as distances.
const MOST_UNITS: f64 = 1e4;

/// A fixture with a row: the name of its family, and the case that is measured.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in the table: without the member of a family.
    pub row: String,
    /// The name of the case.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
}

/// What was found of a fixture.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The cells behind its name.
    pub cells: [String; 5],
    /// The largest quotient of a proved bound by the largest error that was found, of all outputs that have both; it is
    /// infinite where no error was found.
    pub ratio: Option<f64>,
}

/// The fixtures that have a row, by name. Of a family, the member with the most elements is measured.
pub fn entries() -> Vec<Entry> {
    let mut largest: BTreeMap<String, (u64, Entry)> = BTreeMap::new();
    for (name, dir) in fixture::all() {
        let Some((size, entry)) = entry(&name, &dir) else { continue };
        let known = largest.entry(entry.row.clone()).or_insert_with(|| (size, entry.clone()));
        if size > known.0 {
            *known = (size, entry);
        }
    }
    largest.into_values().map(|(_, entry)| entry).collect()
}

fn entry(name: &str, dir: &Path) -> Option<(u64, Entry)> {
    let row = family_of(name);
    let whole = volta_case::Shard::split(name).0;
    let case = manifest::load(whole, dir, &fixture::root()).ok()?;
    PROVED.contains(&case.expect.verdict.name()).then(|| {
        let size = case.params.iter().map(Param::count).sum();
        (size, Entry { row: row.into(), name: whole.into(), dir: dir.into() })
    })
}

/// A word in place of a bound, and what it says.
struct Word {
    /// The reason in the verifier's words, or its beginning.
    reason: &'static str,
    word: &'static str,
}

/// Why there is no bound, as messages say it and as the table does.
const WORDS: [Word; 15] = [
    Word { reason: "its relative error may be large", word: "large" },
    Word { reason: "the error of the exponent of an exponential may be large", word: "exponent" },
    Word { reason: "it computes with infinities", word: "infinities" },
    Word { reason: "the exact operand may be zero or have the other sign: it cancels", word: "cancels" },
    Word { reason: "a rounded value decides, and the exact one may decide otherwise", word: "decides" },
    Word {
        reason: "it reads the encoding of a rounded value, or rounds it to an integer, and is no function that is known",
        word: "encoding",
    },
    Word { reason: "the error of products of matrices of these formats is not documented", word: "matrices" },
    Word { reason: "no error of this approximation is documented", word: "undocumented" },
    Word {
        reason: "it computes with a coefficient of a function of the mathematical library that is not recognised",
        word: "function",
    },
    Word { reason: "a conversion to the largest number where that is exceeded", word: "saturates" },
    Word { reason: "errors are bounded for sides of one launch only (B3)", word: "launches" },
    Word { reason: NOT_EXECUTED, word: "not executed" },
    Word { reason: MULTISET, word: "multiset" },
    Word { reason: BUDGET, word: "budget" },
    Word { reason: NOT_FINITE, word: "not finite" },
];

const NOT_EXECUTED: &str = "its kernels cannot be executed on values of IEEE arithmetic";
const MULTISET: &str = "its outputs are compared as multisets, whose elements have no places";
const BUDGET: &str = "there are too many operations";
const NOT_FINITE: &str = "no range is known in which all floats stay finite";

fn word(reason: &str) -> Result<&'static str, String> {
    let found = WORDS.iter().find(|word| reason.starts_with(word.reason));
    found.map(|word| word.word).ok_or_else(|| format!("there is no word for: {reason}"))
}

/// The case with another claim.
fn claiming(case: &Case, claim: Claim, most: Option<MaxError>) -> Case {
    let mut case = case.clone();
    (case.options.rules.claim, case.options.rules.max_error) = (claim, most);
    if claim != Claim::Reals {
        case.options.budgets[Limit::MemoryBytes] = MEMORY;
    }
    if claim == Claim::Finite {
        case.options.budgets[Limit::AlgebraSteps] = STEPS;
    } else {
        // Without ranges, the claim is about more inputs.
        case.params.iter_mut().for_each(|param| set_range(param, None));
    }
    case
}

fn is_float(param: &Param) -> bool {
    param.elements().iter().all(|element| matches!(element, Element::Float(_)))
}

/// Whether the case leaves the range of the floats of a parameter open.
fn is_open(param: &Param) -> bool {
    is_float(param) && param.assumed().is_some_and(|assumed| assumed.floats.is_none())
}

fn set_range(param: &mut Param, range: Option<[f64; 2]>) {
    if let ParamKind::Tensor { assumed, .. }
    | ParamKind::Scalar { value: ScalarValue::Symbolic(assumed), .. } = &mut param.kind
    {
        assumed.floats = range;
    }
}

/// Floats up to a magnitude, of the sign that the case assumes; `least`: the least magnitude of those that are not zero.
fn within(sign: Sign, most: f64, least: f64) -> [f64; 2] {
    match sign {
        Sign::Any | Sign::Nonzero => [-most, most],
        Sign::Positive => [least, most],
        Sign::NonNegative => [0.0, most],
        Sign::Negative => [-most, -least],
        Sign::NonPositive => [-most, 0.0],
    }
}

/// The case with a range for all floats that have none.
fn ranged(case: &Case, most: f64) -> Case {
    let mut case = claiming(case, Claim::Finite, Some(MaxError::ANY));
    for param in case.params.iter_mut().filter(|param| is_open(param)) {
        let sign = param.sign();
        set_range(param, Some(within(sign, most, most / 1024.0)));
    }
    case
}

/// The strongest claim that is proved; `reals`: what was found over the reals.
fn claim(case: &Case, reals: &Report) -> Result<String, String> {
    if case.reference.is_none() {
        return Ok("–".into());
    }
    let report = verify(&claiming(case, Claim::Bits, None));
    if report.verdict == Verdict::Same(Claim::Bits) {
        return Ok("bits".into());
    }
    let named = [("bits-up-to-fma", "bits up to fma"), ("order", "order")];
    let held = named.iter().find(|(own, _)| report.holds.iter().any(|held| held == own));
    let claim = match held {
        Some((_, name)) => (*name).to_owned(),
        None => of_reals(reals)?,
    };
    Ok(if is_stopped(&report.verdict) { format!("{claim}, or more") } else { claim })
}

/// Whether a limit was reached.
fn is_stopped(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unknown(unknown) if unknown.kind.cause() == UnknownCause::Budget)
}

/// What is proved over the reals.
fn of_reals(report: &Report) -> Result<String, String> {
    match report.verdict {
        Verdict::Equivalent => Ok("reals".into()),
        Verdict::EquivalentWhere(_) => Ok("reals, where".into()),
        Verdict::Same(_)
        | Verdict::Different(_)
        | Verdict::Fault(_)
        | Verdict::Unknown(_)
        | Verdict::Clean
        | Verdict::InputError(_) => Err(format!("it is {} over the reals", report.verdict.name())),
    }
}

/// For which inputs all floats stay finite.
enum Finite {
    /// For all that the case allows.
    All,
    /// Where the magnitudes of all floats without a range are at most this.
    Upto(f64),
    /// That is not known; why.
    Open(&'static str),
}

fn finite(case: &Case) -> Result<Finite, String> {
    if case.params.iter().any(Param::is_set) {
        return Ok(Finite::Open(MULTISET));
    }
    let report = verify(&claiming(case, Claim::Finite, None));
    let help = match &report.verdict {
        Verdict::Same(Claim::Finite) => return Ok(Finite::All),
        Verdict::Fault(fault) => fault.help.clone(),
        Verdict::Unknown(unknown) if unknown.reason.contains("cannot be executed on values") => {
            return Ok(Finite::Open(NOT_EXECUTED));
        }
        Verdict::Unknown(unknown) if unknown.reason.contains("is not evaluated (S2)") => {
            return Ok(Finite::Open(NOT_EXECUTED));
        }
        stopped if is_stopped(stopped) => return Ok(Finite::Open(BUDGET)),
        Verdict::Unknown(unknown) if unknown.reason.starts_with(BUDGET) => return Ok(Finite::Open(BUDGET)),
        Verdict::Unknown(unknown) => unknown.help.clone(),
        Verdict::Same(_)
        | Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Different(_)
        | Verdict::Clean
        | Verdict::InputError(_) => {
            return Err(format!("it is {} as a claim about ranges", report.verdict.name()));
        }
    };
    let help = help.unwrap_or_default();
    let Some((_, most)) = help.split_once(" ≤ ").filter(|_| help.starts_with("proved safe where ")) else {
        return Ok(Finite::Open(NOT_FINITE));
    };
    most.parse().map(Finite::Upto).map_err(|_| format!("no magnitude: {help}"))
}

/// A number of two digits, not less than the value.
fn upwards(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let mut shown: f64 = format!("{value:.1e}").parse().unwrap_or(value);
    if shown < value {
        let unit = f64::powi(10.0, value.abs().log10().floor() as i32 - 1);
        shown = format!("{:.1e}", value + unit * 0.5).parse().unwrap_or(value);
    }
    spelled(shown)
}

fn spelled(value: f64) -> String {
    if (1e-2..1e4).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// An output of one side in words, and the quotient of what is proved by what was found.
fn told(output: Option<&OutputError>, seen: &[&SeenError]) -> Result<(String, Option<f64>), String> {
    let found = |of: fn(&SeenError) -> f64| largest(seen.iter().map(|error| of(error)));
    let at_all = |text: String| if seen.is_empty() { "not run".into() } else { text };
    let distance = || at_all(format!("seen {}", upwards(found(|error| error.absolute))));
    let Some(output) = output else { return Ok((distance(), None)) };
    if let Some((_, why, _)) = &output.open {
        return Ok((format!("no bound ({}), {}", word(why)?, distance()), None));
    }
    let absolute = largest(output.elements.iter().map(|element| element.absolute));
    let ulps = largest(output.elements.iter().map(|element| element.ulps));
    if absolute == 0.0 {
        return Ok(("exact".into(), None));
    }
    let text = if ulps <= MOST_UNITS {
        let seen = at_all(format!("seen {}", upwards(found(|error| error.ulps))));
        format!("{} ulp, {seen}", upwards(ulps))
    } else {
        format!("{}, {}", upwards(absolute), distance())
    };
    let ratio = (!seen.is_empty()).then(|| 1.0 / found(|error| error.part));
    Ok((text, ratio))
}

/// The input of the verifier; of a case at every size, at one that has full and started warps.
fn load(entry: &Entry) -> Result<Case, String> {
    let case = manifest::load(&entry.name, &entry.dir, &fixture::root()).map_err(|_| "it cannot be read")?;
    let case = match &case.every {
        Some(every) => every.at(every.least.max(EVERY))?,
        None => case,
    };
    let mut case = ready(&case, &Toolchain::none()).map_err(|obstacle| obstacle.to_string())?;
    (case.options.recheck, case.options.threads) = (0, 1);
    Ok(case)
}

/// The ranges of the floats of a case.
fn ranges_of(case: &Case) -> String {
    let floats = case.params.iter().filter(|param| is_float(param));
    let ranges: BTreeSet<String> = floats
        .filter_map(|param| param.assumed()?.floats)
        .map(|[low, high]| format!("[{}, {}]", spelled(low), spelled(high)))
        .collect();
    ranges.into_iter().collect::<Vec<_>>().join(", ")
}

/// Measures a fixture.
///
/// # Errors
/// If nothing is proved of it, or if what was found contradicts what is proved.
pub fn row(entry: &Entry) -> Result<Row, String> {
    let case = load(entry)?;
    let report = verify(&claiming(&case, Claim::Reals, None));
    let sides = [report.reference.as_ref(), Some(&report.opt)];
    let taken: u64 = sides.into_iter().flatten().map(|side| side.thread_instructions).sum();
    if taken > MOST_INSTRUCTIONS || fixture::size(&entry.row) == Size::Huge {
        let none = || "–".to_owned();
        let claim = format!("{}, or more", of_reals(&report)?);
        let cells = [claim, word(BUDGET)?.into(), none(), none(), none()];
        return Ok(Row { name: entry.row.clone(), cells, ratio: None });
    }
    let mut row = Row {
        name: entry.row.clone(),
        cells: [claim(&case, &report)?, "–".into(), "–".into(), "–".into(), "–".into()],
        ratio: None,
    };
    let mut known = finite(&case)?;
    let mut most = USUAL;
    let mut bounded = match known {
        Finite::Open(why) if why != NOT_FINITE => None,
        Finite::All | Finite::Upto(_) | Finite::Open(_) => Some(verify(&ranged(&case, most))),
    };
    let is_finite = |report: &Report| report.verdict == Verdict::Same(Claim::Finite);
    if let Finite::Upto(safe) = known {
        let whole = !case
            .params
            .iter()
            .any(|param| is_open(param) && matches!(param.sign(), Sign::Positive | Sign::Negative));
        if bounded.as_ref().is_some_and(is_finite) {
            known = Finite::Upto(if whole { safe.max(USUAL) } else { safe });
        } else if safe < USUAL {
            most = safe;
            bounded = Some(verify(&ranged(&case, most)));
        }
    }
    let declared = ranges_of(&case);
    row.cells[1] = match known {
        Finite::All if !declared.is_empty() => declared,
        Finite::All => "all".into(),
        Finite::Upto(most) => format!("≤ {}", spelled(most)),
        Finite::Open(why) => word(why)?.into(),
    };
    let case = ranged(&case, most);
    if let (Finite::Open(_), true) = (&known, bounded.as_ref().is_some_and(is_finite)) {
        row.cells[1] = ranges_of(&case);
    }
    let mut bounds = Report::of(Verdict::Clean);
    let mut why_not = None;
    match bounded {
        Some(report) if report.verdict == Verdict::Same(Claim::Finite) => bounds = report,
        Some(report) if is_stopped(&report.verdict) => why_not = Some(word(BUDGET)?),
        Some(report) => match &report.verdict {
            Verdict::Unknown(unknown) if word(&unknown.reason).is_ok() => {
                why_not = Some(word(&unknown.reason)?);
            }
            Verdict::Unknown(_) | Verdict::Fault(_) => why_not = Some(word(NOT_FINITE)?),
            Verdict::Same(_)
            | Verdict::Equivalent
            | Verdict::EquivalentWhere(_)
            | Verdict::Different(_)
            | Verdict::Clean
            | Verdict::InputError(_) => return Err(format!("it is {}", report.verdict.name())),
        },
        None => {}
    }
    let seen = measured(&case, &bounds, SEARCH, ELEMENTS).unwrap_or_default();
    if let Some(wrong) = seen.iter().find(|error| error.part > 1.0) {
        return Err(format!("an error is larger than what is proved of it: {wrong:?}"));
    }
    for (at, side) in [Which::Reference, Which::Opt].into_iter().enumerate() {
        if side == Which::Reference && case.reference.is_none() {
            continue;
        }
        let mut parts: Vec<(String, String)> = Vec::new();
        for (number, param) in case.params.iter().enumerate() {
            let own: Vec<&SeenError> =
                seen.iter().filter(|error| error.side == number_of(side) && error.param == number).collect();
            let output =
                bounds.errors.iter().find(|output| output.side == side && output.tensor == param.name);
            if own.is_empty() && output.is_none() {
                continue;
            }
            let (mut text, ratio) = told(output, &own)?;
            if let (None, Some(why)) = (output, why_not) {
                text = format!("no bound ({why}), {text}");
            }
            row.ratio = match (row.ratio, ratio) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            parts.push((param.name.clone(), text));
        }
        let same = parts.iter().all(|(_, text)| *text == parts[0].1);
        let text = match parts.as_slice() {
            [] => "–".into(),
            [(_, text), ..] if same => text.clone(),
            several => {
                let named: Vec<String> =
                    several.iter().map(|(name, text)| format!("`{name}` {text}")).collect();
                named.join("; ")
            }
        };
        row.cells[2 + at] = text;
    }
    row.cells[4] = match row.ratio {
        Some(ratio) if ratio.is_finite() => upwards(ratio),
        Some(_) => NONE_SEEN.into(),
        None => "–".into(),
    };
    Ok(row)
}

/// A row as a line of the table.
pub fn line(row: &Row) -> String {
    format!("| {} | {} |\n", row.name, row.cells.join(" | "))
}

/// The lines of a page that are rows, by name.
///
/// # Errors
/// A name that has two rows.
pub fn lines(page: &str) -> Result<BTreeMap<String, String>, String> {
    let mut rows = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains("::")) {
        let name = line[2..].split(" |").next().unwrap_or_default().to_owned();
        if rows.insert(name.clone(), format!("{line}\n")).is_some() {
            return Err(format!("{name} has two rows"));
        }
    }
    Ok(rows)
}

/// The page, from its rows by name.
pub fn page(rows: &BTreeMap<String, String>) -> String {
    let mut out = preface(rows);
    let families: BTreeSet<&str> = rows.keys().map(|name| family(name)).collect();
    for own in families {
        let _ = writeln!(out, "\n## {own}\n");
        out += "| fixture | claim | finite for | reference | optimized | proved / seen |\n|---|---|---|---|---|---|\n";
        out.extend(rows.iter().filter(|(name, _)| family(name) == own).map(|(_, line)| line.as_str()));
    }
    out
}

fn family(name: &str) -> &str {
    name.split("::").next().unwrap_or(name)
}

/// A cell of a row.
fn cell(line: &str, at: usize) -> &str {
    line.split(" | ").nth(at).unwrap_or_default().trim_end().trim_end_matches(" |")
}

fn preface(rows: &BTreeMap<String, String>) -> String {
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for line in rows.values() {
        *claims.entry(cell(line, 1)).or_default() += 1;
    }
    let claims: Vec<String> = claims.iter().map(|(claim, count)| format!("{claim}: {count}")).collect();
    let ratios: Vec<f64> = rows.values().filter_map(|line| cell(line, 5).parse().ok()).collect();
    let close = ratios.iter().filter(|ratio| **ratio <= CLOSE).count();
    let unseen = rows.values().filter(|line| cell(line, 5) == NONE_SEEN).count();
    let exact = rows
        .values()
        .filter(|line| {
            [3, 4].iter().all(|at| ["exact", "–"].contains(&cell(line, *at))) && line.contains("exact")
        })
        .count();
    let mut out = format!(
        "# Accuracy of the fixtures\n\n\
         Generated: `VOLTA_SLOW=1 VOLTA_WRITE_DOCS=1 cargo test -p volta-suite --test accuracy` measures all fixtures \
         that are proved; without `VOLTA_WRITE_DOCS`, they are compared, and without `VOLTA_SLOW`, a sample of them is. A \
         row is a case, or a family of sizes, of which the one with the most elements is measured; a case at every size \
         is measured at {EVERY}.\n\n\
         - **claim**: the strongest that is proved: the same `bits`, up to fma, up to the `order` of sums, or the same \
         `reals` ([B1](semantics.md#b1)), for all inputs or *where* a printed condition holds. Of a single kernel, none; of large cases, those of the reals are looked for only.\n\
         - **finite for**: for which inputs no float overflows or becomes NaN ([B2](semantics.md#b2)): the `range` that the \
         case declares, `all` that its types have, or where all floats have at most this magnitude; a range that is not \
         declared is what errors are bounded for, and nothing is known of others.\n\
         - **reference**, **optimized**: what is proved of the error of each element of the outputs \
         ([B3](semantics.md#b3)), in units in the last place, or as a distance where a sum may be zero; and the largest \
         error that was *seen* in the interpreter, over random and adversarial inputs. Floats without a range have at most \
         the magnitude {USUAL}, or the one before it if that is less; where a sign is assumed, not less than a 1024th of \
         it. Of `wmma` the \
         interpreter places fragments nowhere, so that nothing is seen rightly of kernels that rely on their places.\n\
         - **proved / seen**: the largest of these quotients, of all outputs that have both, at the same inputs.\n\n\
         Of {} rows ({}), {exact} are exact, and {} have a bound and an error that was seen: {close} of these are within a \
         factor of {CLOSE}. In {unseen}, no error was found where rounding is allowed for.\n\n\
         Words in place of a bound:\n\n| word | why there is none |\n|---|---|\n",
        rows.len(),
        claims.join(", "),
        ratios.len(),
    );
    for Word { reason, word } in &WORDS {
        let _ = writeln!(out, "| {word} | {reason} |");
    }
    out
}
