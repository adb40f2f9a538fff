//! The claim that floats stay finite (rule B2): runs the kernels on values of IEEE arithmetic, and bounds the results of
//! all operations on which an output depends.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::accuracy::known_function;
use crate::base::assumption::Assumption;
use crate::base::budget::Limit;
use crate::base::index::InstId;
use crate::bits::range::set::{FloatSet, greatest};
use crate::bits::range::{
    Analysis, ConeCache, Departure, Effort, InputRange, Known, Leaving, PointValue, RangeWitness, Survey,
    TooMany, search,
};
use crate::case::{Assumed, Case, Claim, Element, FormsWanted, Options, Param, ParamKind, Sign, Which};
use crate::given::spelled_shortly;
use crate::machine::{Execution, OutputValue};
use crate::number::format::Format;
use crate::term::{IeeeOp, InputId, Store, TermId, spell_element};
use crate::verdict::{
    CasePart, Coverage, Fault, FaultKind, InputError, InputProblem, LineLoss, LineRange, MOST_FINDINGS,
    Place, Report, Site, Unknown, UnknownReason, Verdict,
};
use crate::verify::{Verification, output_elements, shape};

/// The search for inputs at which digits are lost takes at most one of so many parts of the steps.
const PART_FOR_LOSSES: u64 = 8;

/// At most so many inputs of a witness are spelled out.
const SPELLED: usize = 4;

/// The range of floats of a case that is not one, or that its claim does not read.
pub(crate) fn wrong_range(params: &[Param], claim: Claim) -> Option<InputError> {
    params.iter().find_map(|param| {
        let name = &param.name;
        if let ParamKind::Tensor { assumed: Assumed { floats: Some(_), .. }, .. } = &param.kind
            && param.assumed().is_none()
        {
            let message = format!("`{name}` has a `range`, and no unknown elements before the launch");
            let help = Some(
                "a `range` is about inputs: a kernel's results have the values that it gives them".into(),
            );
            let part = Some(CasePart::Parameter(name.clone()));
            return Some(InputError { part, help, ..InputError::new(InputProblem::WrongValue, message) });
        }
        let [low, high] = param.assumed()?.floats?;
        let most = param.elements().into_iter().map(|element| match element {
            Element::Float(format) => greatest(format),
            Element::Int { .. } | Element::Bool => f64::MAX,
        });
        let most = most.fold(f64::MAX, f64::min);
        let (message, help) = if claim != Claim::Finite {
            let help = "options = { claim = \"finite\" }, or no `range`: other claims are about all floats";
            (
                format!(
                    "`{name}` is an input of floats with a `range`, which only `claim = \"finite\"` reads"
                ),
                help,
            )
        } else if !low.is_finite() || !high.is_finite() {
            (format!("the `range` of `{name}` is not one of numbers"), "two numbers: [-8, 8]")
        } else if low > high {
            (
                format!("the `range` of `{name}` has no number: {low} is more than {high}"),
                "the least comes first",
            )
        } else if low > most || high < -most {
            (format!("no number of the `range` of `{name}` is one of its type"), "two numbers of the type")
        } else {
            return None;
        };
        let part = Some(CasePart::Parameter(name.clone()));
        Some(InputError {
            part,
            help: Some(help.into()),
            ..InputError::new(InputProblem::WrongValue, message)
        })
    })
}

/// One side that ran: its outputs that are terms.
pub(crate) struct RanSide<'e> {
    pub(crate) which: Which,
    pub(crate) roots: Vec<(&'e Store, TermId)>,
    /// The output element of each root.
    pub(crate) names: Vec<String>,
    /// Its parameter and its number.
    pub(crate) elements: Vec<(usize, u64)>,
    /// All stores of the run.
    pub(crate) stores: &'e [Store],
}

/// Verifies the claim that floats stay finite.
pub(crate) fn of_floats(case: &Case) -> Report {
    let with = |ieee: bool| Case {
        options: Options { ieee, forms: FormsWanted::Never, ..case.options.clone() },
        ..case.clone()
    };
    let exact = with(true);
    let mut verification = Verification::new(&exact);
    let Some(outcomes) = verification.execute() else {
        let mut report = verification.report;
        if let Verdict::Fault(fault) = &report.verdict {
            // What does not depend on how floats are read is a fault; anything else was not executed.
            let reals = with(false);
            let real = Verification::new(&reals).run();
            if let Verdict::Fault(own) = &real.verdict
                && !matches!(
                    own.kind,
                    FaultKind::Undefined | FaultKind::TypeMismatch | FaultKind::InputDependentControl
                )
            {
                return real;
            }
            let why = &fault.message;
            report.verdict = undecided(
                format!("a kernel cannot be executed on values of IEEE arithmetic (B2): {why}"),
                None,
            );
            report.also.clear();
        }
        return report;
    };
    match <[Execution; 2]>::try_from(outcomes) {
        Ok([reference, opt]) => match verification.pair(reference, opt) {
            Ok(conditions) => {
                let sides = [(Which::Reference, &conditions.reference), (Which::Opt, &conditions.opt)];
                verification.report.coverage.compared = conditions.pairs.len() as u64;
                verification.decide_finite(&sides);
            }
            Err(verdict) => verification.report.verdict = verdict,
        },
        Err(outcomes) => {
            for opt in &outcomes {
                verification.single(opt);
                // Nothing is compared.
                verification.report.coverage = Coverage::default();
                if verification.report.verdict == Verdict::Clean {
                    verification.decide_finite(&[(Which::Opt, opt)]);
                }
            }
        }
    }
    verification.report
}

pub(crate) fn undecided(reason: String, help: Option<String>) -> Verdict {
    Verdict::Unknown(Unknown { kind: UnknownReason::Undecided, reason, progress: None, help })
}

/// What the elements of a parameter may be. Without a range, they are between `-most` and `most`.
fn input_range(param: &Param, most: f64) -> InputRange {
    if let Some(integers) = param.integers() {
        return match param.elements() {
            [Element::Float(_), _] | [_, Element::Float(_)] => InputRange::Other,
            _ => InputRange::Int(integers),
        };
    }
    let [Element::Float(one), Element::Float(other)] = param.elements() else { return InputRange::Other };
    let own = greatest(one).min(greatest(other));
    let ([mut low, mut high], least) = (
        param.assumed().and_then(|assumed| assumed.floats).unwrap_or([-most, most]),
        // The least positive number of f64 is at most those of all formats.
        f64::from_bits(1),
    );
    match param.sign() {
        Sign::Any | Sign::Nonzero => {}
        Sign::Positive => low = low.max(least),
        Sign::NonNegative => low = low.max(0.0),
        Sign::Negative => high = high.min(-least),
        Sign::NonPositive => high = high.min(0.0),
    }
    let (low, high) = (low.max(-own), high.min(own));
    InputRange::Float { bounds: [low, high.max(low)], formats: [one, other] }
}

/// Whether a parameter has floats whose range the case does not give.
fn is_unbounded(param: &Param) -> bool {
    let floats = param.elements().iter().all(|element| matches!(element, Element::Float(_)));
    floats && param.assumed().is_some_and(|assumed| assumed.floats.is_none())
}

impl Verification<'_> {
    pub(crate) fn inputs_within(&self, most: f64) -> Vec<InputRange> {
        self.case.params.iter().map(|param| input_range(param, most)).collect()
    }

    /// Decides whether all operations stay finite.
    fn decide_finite(&mut self, sides: &[(Which, &Execution)]) {
        for (which, outcome) in sides {
            if let Some((param, element)) = outcome.unevaluated.first() {
                let param = &self.case.params[*param];
                let name = spell_element(&param.name, shape(param), *element);
                let reason = format!(
                    "{name} of the {} depends on an instruction that is not evaluated (S2)",
                    side_name(*which)
                );
                self.report.verdict = undecided(reason, None);
                return;
            }
        }
        let sides: Vec<RanSide<'_>> = sides.iter().map(|(which, ran)| self.roots_of(*which, ran)).collect();
        let inputs = self.inputs_within(f64::MAX);
        let mut effort = Effort(self.case.options.budgets[Limit::AlgebraSteps]);
        let mut surveys = Vec::new();
        for side in &sides {
            match survey(side, &inputs, &mut effort) {
                Ok(survey) => surveys.push(survey),
                Err(TooMany) => {
                    let reason = "there are too many operations to bound (`max_algebra_steps`)".to_owned();
                    self.report.verdict = undecided(reason, None);
                    return;
                }
            }
        }
        for (side, survey) in sides.iter().zip(&surveys) {
            self.tell_ranges(side, survey);
            self.tell_losses(side, survey, &inputs);
        }
        self.report.assumptions.push(Assumption::relied(
            "approximate instructions have at most the errors that the PTX ISA documents (B2)",
        ));
        let relied: BTreeSet<&String> = surveys.iter().flat_map(|survey| &survey.relied).collect();
        self.report.assumptions.extend(relied.into_iter().map(|claim| Assumption::relied(claim.clone())));
        let multiplies = |survey: &Survey| survey.values.values().any(|values| values.key.op == IeeeOp::Step);
        if surveys.iter().any(multiplies) {
            self.report.assumptions.push(Assumption::relied(
                "products of matrices keep subnormal factors, multiply exactly, and add in any order, with at least the \
                 precision of their results (B2)",
            ));
        }
        if surveys.iter().all(|survey| survey.departures.is_empty()) {
            self.report.verdict = Verdict::Same(Claim::Finite);
            if let Some(most) = self.case.options.rules.max_error {
                self.bound_errors(&sides, &inputs, &mut effort, most);
            }
            return;
        }
        let safe = self.safe_bound(&sides);
        let mut faults: Vec<Fault> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for (side, survey) in sides.iter().zip(&surveys) {
            let found = search(&side.roots, &survey.departures, &inputs, &mut effort);
            let mut list: Vec<&Departure> = survey.departures.values().collect();
            let found_at = |departure: &Departure| {
                found.get(&(departure.site, departure.leaving)).map_or(usize::MAX, |witness| witness.point)
            };
            list.sort_unstable_by_key(|departure| {
                (departure.root, found_at(departure), departure.site, departure.leaving)
            });
            let mut told: Vec<(Option<(String, u32)>, Leaving)> = Vec::new();
            for departure in list {
                let place = departure.site.and_then(|site| self.place_of(side.which, site));
                let line = place.as_ref().and_then(|place| place.cuda.as_ref());
                let line = line.map(|line| (line.file.clone(), line.line));
                match found.get(&(departure.site, departure.leaving)) {
                    Some(witness) => {
                        // One finding for a line and a kind.
                        if line.is_some() && told.contains(&(line.clone(), departure.leaving)) {
                            continue;
                        }
                        told.push((line, departure.leaving));
                        faults.push(self.finding(side, departure, place, witness, safe.as_deref()));
                    }
                    None => open.push(told_open(side, departure, place.as_ref())),
                }
            }
        }
        if faults.is_empty() {
            let more = open.len().saturating_sub(SPELLED);
            open.truncate(SPELLED);
            let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
            let reason =
                format!("not excluded, and no input was found that shows it: {}{rest}", open.join("; "));
            self.report.verdict = undecided(reason, safe);
            return;
        }
        faults.truncate(MOST_FINDINGS);
        let first = faults.remove(0);
        self.report.also = faults;
        self.report.verdict = Verdict::Fault(first);
    }

    fn roots_of<'e>(&self, which: Which, ran: &'e Execution) -> RanSide<'e> {
        let mut side = RanSide {
            which,
            roots: Vec::new(),
            names: Vec::new(),
            elements: Vec::new(),
            stores: &ran.stores,
        };
        for output in &ran.outputs {
            let param = &self.case.params[output.param];
            let (OutputValue::Real(term) | OutputValue::Integer(term)) = output.value else { continue };
            if output_elements(param).is_some() {
                side.roots.push((&ran.stores[output.store], term));
                side.names.push(spell_element(&param.name, shape(param), output.element));
                side.elements.push((output.param, output.element));
            }
        }
        side
    }

    pub(crate) fn place_of(&self, which: Which, site: InstId) -> Option<Place> {
        let (programs, side) = match which {
            Which::Reference => (self.programs.first()?, self.case.reference.as_ref()?),
            Which::Opt => (self.programs.last()?, &self.case.opt),
        };
        programs.place(side, site)
    }

    /// Notes, for each source line, the operation with the largest results.
    fn tell_ranges(&mut self, side: &RanSide<'_>, survey: &Survey) {
        let mut lines: BTreeMap<(usize, String, u32), (f64, LineRange)> = BTreeMap::new();
        for (site, values) in &survey.values {
            let Some(place) = self.place_of(side.which, *site) else { continue };
            let Some([low, high]) = values.set.finite else { continue };
            let line = match &place.cuda {
                Some(cuda) => (place.step, cuda.file.clone(), cuda.line),
                None => (place.step, String::new(), place.line),
            };
            let size = if values.set.is_finite() { high.max(-low) } else { f64::INFINITY };
            let own = LineRange {
                side: side.which,
                operation: values.key.spelled(),
                between: [outwards(low, false), outwards(high, true)],
                may_leave: !values.set.is_finite(),
                place,
            };
            match lines.get_mut(&line) {
                Some(known)
                    if (known.0, std::cmp::Reverse(known.1.place.line))
                        >= (size, std::cmp::Reverse(own.place.line)) => {}
                Some(known) => *known = (size, own),
                None => {
                    lines.insert(line, (size, own));
                }
            }
        }
        self.report.ranges.extend(lines.into_values().map(|(_, line)| line));
    }

    /// Notes the operations that lose digits at inputs that are found: one of a kind for each source line.
    fn tell_losses(&mut self, side: &RanSide<'_>, survey: &Survey, inputs: &[InputRange]) {
        let mut effort = Effort(self.case.options.budgets[Limit::AlgebraSteps] / PART_FOR_LOSSES);
        let found = search(&side.roots, &survey.losses, inputs, &mut effort);
        let mut list: Vec<(&Departure, &RangeWitness)> =
            survey.losses.iter().filter_map(|(key, loss)| Some((loss, found.get(key)?))).collect();
        list.sort_unstable_by_key(|(loss, _)| (loss.site, loss.leaving));
        let mut told: BTreeSet<(u32, String, u32, Leaving)> = BTreeSet::new();
        for (loss, witness) in list {
            let Some(there) = &witness.there else { continue };
            let Some(place) = loss.site.and_then(|site| self.place_of(side.which, site)) else { continue };
            let line = match &place.cuda {
                Some(cuda) => (place.step as u32, cuda.file.clone(), cuda.line, loss.leaving),
                None => (place.step as u32, String::new(), place.line, loss.leaving),
            };
            if !told.insert(line) {
                continue;
            }
            let all =
                loss.site.and_then(|site| survey.values.get(&site)).map_or(loss.set, |values| values.set);
            let [low, high] = all.finite.unwrap_or([0.0; 2]);
            let sets = |of: &Departure| of.operands.iter().map(|set| spelled_set(*set)).collect();
            self.report.losses.push(LineLoss {
                side: side.which,
                operation: loss.operation.clone(),
                cancels: loss.leaving == Leaving::Cancels,
                between: [outwards(low, false), outwards(high, true)],
                inputs: self.spell_inputs(&witness.inputs),
                operands: sets(there),
                gives: spelled_set(there.set),
                place,
            });
        }
    }

    /// A finding, with inputs at which the operation leaves the numbers.
    fn finding(
        &self,
        side: &RanSide<'_>,
        departure: &Departure,
        place: Option<Place>,
        witness: &RangeWitness,
        safe: Option<&str>,
    ) -> Fault {
        let inputs = self.spell_inputs(&witness.inputs);
        let message = format!(
            "{} where {inputs}: {} depends on it",
            what_happens(departure),
            side.names[departure.root]
        );
        let sets: Vec<String> = departure.operands.iter().map(|set| spelled_set(*set)).collect();
        let action = match departure.leaving {
            Leaving::Output => "is the output".to_owned(),
            Leaving::Overflow
            | Leaving::Division
            | Leaving::Invalid
            | Leaving::Underflow
            | Leaving::Cancels => {
                format!("computes from {}", sets.join(" and "))
            }
        };
        let sites = vec![Site { action, thread: None, place }];
        let help = safe.map_or_else(
            || "limit the inputs by `range`, subtract a maximum, add an epsilon, or compute in a wider format".into(),
            str::to_owned,
        );
        Fault::new(side.which, FaultKind::Overflow, "B2", message, sites, Some(help))
    }

    /// The inputs of a witness: in short where all elements of a tensor are the same.
    fn spell_inputs(&self, values: &[PointValue]) -> String {
        let mut texts = Vec::new();
        let mut of: BTreeMap<usize, Vec<(u64, f64)>> = BTreeMap::new();
        for (input, element, value) in values {
            of.entry(*input).or_default().push((*element, *value));
        }
        for (input, list) in of {
            let param = &self.case.params[input];
            let (first, value) = list[0];
            if list.iter().all(|(_, other)| *other == value) && list.len() > 1 {
                texts.push(format!("each element of `{}` is {}", param.name, spelled_shortly(value)));
                continue;
            }
            let name = |element| spell_element(&param.name, shape(param), element);
            let _ = first;
            for (element, value) in list.iter().take(SPELLED) {
                texts.push(format!("{} = {}", name(*element), spelled_shortly(*value)));
            }
            if list.len() > SPELLED {
                texts.push(format!("{} more elements of `{}`", list.len() - SPELLED, param.name));
            }
        }
        if texts.is_empty() { "the inputs are any".into() } else { texts.join(", ") }
    }

    /// Up to which magnitude of all floats without a range nothing leaves the numbers.
    fn safe_bound(&self, sides: &[RanSide<'_>]) -> Option<String> {
        if !self.case.params.iter().any(is_unbounded) {
            return None;
        }
        let budget = self.case.options.budgets[Limit::AlgebraSteps];
        let mut effort = Effort(budget);
        let mut is_safe = |most: f64| {
            let inputs = self.inputs_within(most);
            sides.iter().all(|side| {
                survey(side, &inputs, &mut effort).is_ok_and(|survey| survey.departures.is_empty())
            })
        };
        let names: Vec<String> = self
            .case
            .params
            .iter()
            .filter(|param| is_unbounded(param))
            .map(|param| format!("|{}|", param.name))
            .collect();
        // Powers of two first, then three digits.
        let (mut low, mut high) = (-12, 128);
        if !is_safe(f64::powi(2.0, low)) {
            return None;
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if is_safe(f64::powi(2.0, middle)) { low = middle } else { high = middle }
        }
        let (mut safe, mut unsafe_one) = (f64::powi(2.0, low), f64::powi(2.0, high));
        for _ in 0..9 {
            let middle = (safe + unsafe_one) / 2.0;
            if is_safe(middle) { safe = middle } else { unsafe_one = middle }
        }
        // Three digits, rounded down.
        let three = |value: f64| format!("{value:.2e}").parse::<f64>().ok();
        let unit = f64::powi(10.0, safe.log10().floor() as i32 - 2);
        let shown = three(safe).filter(|shown| *shown <= safe).or_else(|| three(safe - unit / 2.0))?;
        if shown > safe {
            return None;
        }
        Some(format!("proved safe where {} ≤ {}", names.join(", "), spelled_shortly(shown)))
    }
}

pub(crate) fn side_name(which: Which) -> &'static str {
    match which {
        Which::Reference => "reference",
        Which::Opt => "optimized kernel",
    }
}

/// Bounds the results of all operations on which the outputs of a side depend.
fn survey(side: &RanSide<'_>, inputs: &[InputRange], effort: &mut Effort) -> Result<Survey, TooMany> {
    let mut result = Survey::default();
    let mut cones = ConeCache::knowing(known_function);
    let input = |which: InputId, _: u64| {
        inputs.get(which.index()).map_or(Known::Float(FloatSet::all(Format::F64)), |of| of.known())
    };
    // All roots of a store together, so that what they share is evaluated once.
    let mut stores: FxHashMap<*const Store, usize> = FxHashMap::default();
    let mut groups: Vec<(&Store, Vec<(usize, TermId)>)> = Vec::new();
    for (number, (store, root)) in side.roots.iter().enumerate() {
        let at = *stores.entry(std::ptr::from_ref(*store)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((store, Vec::new()));
        }
        groups[at].1.push((number, *root));
    }
    for (store, roots) in groups {
        let mut analysis = Analysis::new(store, &input, &mut cones, effort);
        for (number, root) in roots {
            analysis.root(number, root, &mut result)?;
        }
    }
    if result.departures.is_empty()
        && let Some((root, set)) = result.roots.iter().find(|(_, set)| !set.is_finite())
    {
        let departure = Departure {
            leaving: Leaving::Output,
            site: None,
            operation: String::new(),
            operands: std::iter::once(*set).collect(),
            set: *set,
            surely: false,
            root: *root,
        };
        result.departures.insert((None, Leaving::Output), departure);
    }
    result.relied = cones.relied;
    Ok(result)
}

fn what_happens(departure: &Departure) -> String {
    let operation = &departure.operation;
    match departure.leaving {
        Leaving::Overflow => format!("`{operation}` overflows"),
        Leaving::Division => format!("`{operation}` of zero is infinite"),
        Leaving::Invalid => format!("`{operation}` gives NaN"),
        Leaving::Output => "an output is infinite or NaN".into(),
        Leaving::Underflow => format!("`{operation}` underflows"),
        Leaving::Cancels => format!("`{operation}` cancels"),
    }
}

fn told_open(side: &RanSide<'_>, departure: &Departure, place: Option<&Place>) -> String {
    let line = place.and_then(|place| place.cuda.as_ref()).map_or_else(
        || place.map(|place| format!(" (line {} of the PTX)", place.line)).unwrap_or_default(),
        |cuda| format!(" (line {})", cuda.line),
    );
    let sets: Vec<String> = departure.operands.iter().map(|set| spelled_set(*set)).collect();
    format!(
        "in the {}, that {}{line}, with operands in {}",
        side_name(side.which),
        what_happens(departure),
        sets.join(" and ")
    )
}

/// A bound with four digits, rounded outwards.
pub(crate) fn outwards(value: f64, up: bool) -> String {
    if value == 0.0 || !value.is_finite() || value.abs() < 1e-300 {
        return spelled_shortly(if value.abs() < 1e-300 && value.is_finite() { 0.0 } else { value });
    }
    let mut digits = format!("{value:.3e}").parse::<f64>().unwrap_or(value);
    // One unit further where rounding went inwards.
    if up && digits < value || !up && digits > value {
        let unit = f64::powi(10.0, value.abs().log10().floor() as i32 - 3);
        digits = format!("{:.3e}", if up { digits + unit } else { digits - unit }).parse().unwrap_or(value);
    }
    spelled_shortly(digits)
}

fn spelled_set(set: FloatSet) -> String {
    let mut parts = Vec::new();
    match set.finite {
        Some([low, high]) if low == high => parts.push(spelled_shortly(low)),
        Some([low, high]) => parts.push(format!("[{}, {}]", outwards(low, false), outwards(high, true))),
        None => {}
    }
    for (has, name) in [(set.plus, "+∞"), (set.minus, "−∞"), (set.nan, "NaN")] {
        if has {
            parts.push(name.into());
        }
    }
    parts.join(" or ")
}
