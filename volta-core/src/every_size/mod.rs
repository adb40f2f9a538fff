//! Cases at every size: a variable of a family may be any number.
//!
//! The CTAs of all sizes are followed as classes ([`follow`]): beyond some numbers of CTAs in front of it and behind it,
//! a CTA does the same with elements that are further on. So what happens at an element of a large case happens at one of
//! a smaller case, and only the sizes at which something new begins have to be verified ([`critical`]). These are verified
//! as cases of their own.

mod critical;
mod follow;
mod known;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::base::assumption::{Assumption, AssumptionKind};
use crate::case::{
    Case, Claim, Element, FormsWanted, Param, ParamKind, ScalarValue, Schedule, Side, Step, Which,
};
use crate::given::of_param;
use crate::verdict::{InputError, InputProblem, Report, SizeClaim, Unknown, UnknownReason, Verdict};
use crate::verify::{on_threads, verify_known};
use critical::Plan;
use follow::{End, Followed, Why};
pub(crate) use known::Known;

/// A case at every size.
pub struct EverySize<'c> {
    /// The name of the variable.
    pub variable: &'c str,
    /// The least size.
    pub least: u64,
    /// The case at a size, or why there is none.
    pub at: &'c (dyn Fn(u64) -> Result<Case, String> + Sync),
    /// For the reference and the optimized kernel: from a size to the one so much larger, every number of the case that
    /// the side uses changes by the same amount, which depends only on the remainder of the size; or why there is no such
    /// size.
    pub periods: Result<[u64; 2], String>,
}

/// So many sizes are verified as evidence where not all can be followed.
const EVIDENCE: u64 = 64;

/// The first size that is not covered is verified as well where both sides have no more threads than this.
const MOST_THREADS: u64 = 1 << 22;

/// Verifies a case at every size that its kernels and launches allow.
///
/// Never panics on a wrong case or wrong PTX, which are [`Verdict::InputError`].
pub fn verify_every_size(sizes: &EverySize<'_>) -> Report {
    let first = match (sizes.at)(sizes.least) {
        Ok(case) => case,
        Err(message) => {
            return Report::of(Verdict::InputError(InputError::new(InputProblem::WrongValue, message)));
        }
    };
    if let Some(error) = unsupported(&first, sizes) {
        return Report::of(Verdict::InputError(error));
    }
    on_threads(first.options.threads, || sizes.verified(&first))
}

/// What about a case cannot be verified at every size.
fn unsupported(case: &Case, sizes: &EverySize<'_>) -> Option<InputError> {
    let variable = sizes.variable;
    let error = |message: String, help: &str| {
        Some(InputError { help: Some(help.into()), ..InputError::new(InputProblem::WrongValue, message) })
    };
    for (side, name) in [(case.reference.as_ref(), "the reference"), (Some(&case.opt), "the kernel")] {
        let is_launch = |side: &Side| matches!(side.steps.as_slice(), [Step::Launch(kernel)] if kernel.launch.ctas.is_none());
        if side.is_some_and(|side| !is_launch(side)) {
            return error(
                format!("`{variable}` is \"any\", and {name} is not one launch of a whole grid"),
                "a case is verified at every size where each side is one kernel, launched once; list sizes, as in \
                 `[1, 31, \"32..=64\"]`, for graphs of operators, references in Rust, several steps, and `ctas`",
            );
        }
    }
    if case.options.rules.claim != Claim::Reals {
        return error(
            format!("`{variable}` is \"any\", and the case has a `claim`"),
            "claims about bits and ranges are made for sizes that are listed",
        );
    }
    if case.options.shard.is_some() || case.options.schedule != Schedule::InOrder {
        return error(
            format!("`{variable}` is \"any\", and the case is divided into parts"),
            "leave out `shards`",
        );
    }
    None
}

/// What two cases of different sizes have that is neither a shape nor the value of a scalar.
fn differs(one: &Case, other: &Case) -> Option<String> {
    if one.params.len() != other.params.len() {
        return Some("the number of parameters depends on it".into());
    }
    for (one, other) in one.params.iter().zip(&other.params) {
        let shapes = [one, other].map(|param| match &param.kind {
            ParamKind::Tensor { shape, .. } => shape.as_slice(),
            ParamKind::Scalar { .. } => &[],
        });
        let blank = |param: &Param| {
            let mut param = param.clone();
            match &mut param.kind {
                ParamKind::Tensor { shape, .. } => shape.clear(),
                ParamKind::Scalar {
                    element: Element::Int { .. } | Element::Bool,
                    value: value @ ScalarValue::Number(_),
                } => *value = ScalarValue::integer(0),
                // What a kernel reads of a float is rounded, and grows by steps.
                ParamKind::Scalar { element: Element::Float(_), .. }
                | ParamKind::Scalar { value: ScalarValue::Symbolic(_), .. } => {}
            }
            param
        };
        if blank(one) != blank(other) || shapes[0].len() != shapes[1].len() {
            return Some(format!(
                "more of `{}` depends on it than its extents, or its value if that is an integer",
                one.name
            ));
        }
        if shapes[0] != shapes[1]
            && let Some(what) = follow::depends_on_extents(one)
        {
            return Some(format!("{what} of `{}` depend on its extents, which depend on it", one.name));
        }
    }
    if one.options.rules != other.options.rules {
        return Some("a rule of the case depends on it".into());
    }
    let launches = |case: &Case| {
        let sides = case.reference.iter().chain([&case.opt]);
        let only = sides.flat_map(|side| side.launches().map(|(_, kernel)| kernel.clone()));
        only.map(|mut kernel| {
            kernel.launch.grid = [1; 3];
            // Arguments are compared where they are bound.
            kernel.arguments = None;
            kernel
        })
        .collect::<Vec<_>>()
    };
    (launches(one) != launches(other)).then(|| "more of a launch depends on it than its grid".into())
}

impl EverySize<'_> {
    fn verified(&self, first: &Case) -> Report {
        let (plan, known) = (self.plan(first), Known::of(first));
        let sizes: Vec<u64> = match &plan {
            Ok(plan) => plan.sizes.iter().copied().collect(),
            Err(_) => (self.least..self.least.saturating_add(EVIDENCE)).collect(),
        };
        let mut done = match self.each(&sizes, &known) {
            Ok(done) => done,
            Err((size, report)) => return self.found(size, *report),
        };
        let claim = match plan {
            Ok(plan) => {
                let end = plan.end.text();
                let only = |most| {
                    Err(Open { most, reason: format!("they are followed to {} only: {end}", plan.most) })
                };
                let next = plan.most.saturating_add(1);
                // What happens where it cannot be followed further may be a fault.
                if !plan.end.is_limit() && self.is_small(next) {
                    match self.each(&[next], &known) {
                        Ok(more) => done.add(more),
                        Err((_, report)) if matches!(report.verdict, Verdict::Unknown(_)) => {
                            return self.told(first, done, only(plan.most));
                        }
                        Err((size, report)) => return self.found(size, *report),
                    }
                    only(next)
                } else if plan.end.is_open() || plan.most - self.least < plan.sizes.len() as u64 {
                    only(plan.most)
                } else {
                    Ok(plan)
                }
            }
            Err(reason) => Err(Open { most: self.least.saturating_add(EVIDENCE - 1), reason }),
        };
        self.told(first, done, claim)
    }

    /// Which sizes have to be verified, or why that does not suffice for all.
    fn plan(&self, first: &Case) -> Result<Plan, String> {
        let [reference, opt] = self.periods.clone()?;
        let cases = follow::Cases::new(self);
        let mut sides = Vec::new();
        if first.reference.is_some() {
            sides.push((Which::Reference, reference));
        }
        sides.push((Which::Opt, opt));
        let second = cases.at(self.least + 1).map_err(|message| self.at_size(self.least + 1, &message))?;
        if let Some(what) = differs(first, &second) {
            return Err(what);
        }
        let followed: Vec<Followed> = sides
            .into_iter()
            .map(|(which, period)| follow::side(&cases, which, period))
            .collect::<Result<_, _>>()?;
        let mut plan = critical::plan(&cases, &followed)?;
        // Sizes below one that cannot be verified follow from smaller ones, too.
        let sizes: Vec<u64> = plan.sizes.iter().copied().collect();
        let small = sizes.partition_point(|size| self.is_small(*size));
        let large = sizes.get(small).copied();
        if let Some(size) = large.filter(|size| *size > self.least) {
            plan.sizes.retain(|own| *own < size);
            plan.most = size - 1;
            let text = format!(
                "around {} = {size}, blocks do something else, and no sizes with more than {MOST_THREADS} threads are \
                 verified one by one",
                self.variable
            );
            plan.end = End { size, why: Why::Here(text) };
        }
        Ok(plan)
    }

    fn at_size(&self, size: u64, message: &str) -> String {
        format!("at {} = {size}, {message}", self.variable)
    }

    /// Whether the kernels of a size have few threads.
    fn is_small(&self, size: u64) -> bool {
        let threads = |side: &Side| {
            let all = |extent: [u32; 3]| extent.iter().fold(1u64, |all, n| all.saturating_mul((*n).into()));
            side.launches().fold(0u64, |sum, (_, kernel)| {
                sum.saturating_add(all(kernel.launch.grid).saturating_mul(all(kernel.launch.block)))
            })
        };
        (self.at)(size).is_ok_and(|case| {
            case.reference.iter().chain([&case.opt]).map(threads).sum::<u64>() <= MOST_THREADS
        })
    }

    /// Verifies sizes one by one, in order.
    ///
    /// # Errors
    /// The smallest that is not proved, with its report.
    fn each(&self, sizes: &[u64], known: &Known) -> Result<Done, (u64, Box<Report>)> {
        let mut done = Done::default();
        for some in sizes.chunks(32) {
            let reports: Vec<(u64, Report, Vec<String>)> = some
                .par_iter()
                .map(|size| match (self.at)(*size) {
                    Ok(mut case) => {
                        case.options.threads = 0;
                        case.options.forms = FormsWanted::Never;
                        let values = case.params.iter().filter(|param| is_number(param));
                        let values = values.flat_map(|param| of_param(param, case.reference.is_some()));
                        (*size, verify_known(&case, known), values.collect())
                    }
                    Err(message) => {
                        let error = InputError::new(InputProblem::WrongValue, message);
                        (*size, Report::of(Verdict::InputError(error)), Vec::new())
                    }
                })
                .collect();
            for (size, report, values) in reports {
                let is_proof = matches!(report.verdict, Verdict::Equivalent | Verdict::Clean);
                if !is_proof || !report.scope.domain.is_empty() || report.scope.more > 0 {
                    return Err((size, Box::new(report)));
                }
                done.note(size, report, values);
            }
        }
        Ok(done)
    }

    /// The report of a size that is no proof without conditions.
    fn found(&self, size: u64, mut report: Report) -> Report {
        if let Verdict::Equivalent | Verdict::Clean | Verdict::EquivalentWhere(_) = report.verdict {
            let reason =
                "it holds under conditions on the inputs, and such claims are not made for every size";
            report.verdict = undecided(reason.into(), None);
        }
        report.size = Some(SizeClaim { variable: self.variable.into(), size, every: None });
        report
    }

    /// The report of a case that is proved at all sizes that were verified.
    fn told(&self, first: &Case, done: Done, claim: Result<Plan, Open>) -> Report {
        let Done { last, values, assumptions, restricted, count } = done;
        let Some((size, mut report)) = last else {
            return Report::of(Verdict::Unknown(Unknown::internal("no size was verified")));
        };
        // Values that differ from size to size are those of the variable.
        let changing = values.into_iter().filter(|(_, sizes)| (sizes.len() as u64) < count);
        let changing: BTreeSet<String> = changing.map(|(text, _)| text).collect();
        let mut all: Vec<Assumption> = Vec::new();
        for assumption in report.assumptions.drain(..).chain(assumptions) {
            if !changing.contains(assumption.text.as_ref()) && !all.contains(&assumption) {
                all.push(assumption);
            }
        }
        // Values that the variable decides do not restrict the inputs.
        let restricted = restricted && all.iter().any(|assumption| assumption.kind == AssumptionKind::Given);
        if !changing.is_empty() {
            let names: Vec<String> = self.changing(first).iter().map(|name| format!("`{name}`")).collect();
            let are = if names.len() == 1 { "has the value" } else { "have the values" };
            let text = format!("{} {are} that the case gives for each {}", names.join(", "), self.variable);
            all.push(Assumption::given(text));
        }
        report.assumptions = all;
        report.scope.restricted = restricted;
        let proved = if let Verdict::Clean = report.verdict { "clean" } else { "equivalent" };
        let mut every = None;
        match claim {
            Ok(plan) => {
                every = Some(crate::verdict::AllSizes {
                    least: self.least,
                    most: plan.most,
                    ends: plan.end.text(),
                    verified: count,
                });
            }
            Err(Open { most, reason }) => {
                let reason = format!(
                    "{proved} for {} = {} to {most}, and not shown for larger sizes: {reason}",
                    self.variable, self.least
                );
                let help = format!(
                    "list the sizes that matter in place of \"any\": {} = [1, 31, \"32..=64\"]",
                    self.variable
                );
                report.verdict = undecided(reason, Some(help));
            }
        }
        report.size = Some(SizeClaim { variable: self.variable.into(), size, every });
        report
    }

    /// The scalars whose values depend on the size.
    fn changing(&self, first: &Case) -> Vec<String> {
        let Ok(second) = (self.at)(self.least + 1) else { return Vec::new() };
        let pairs = first.params.iter().zip(&second.params);
        pairs.filter(|(one, other)| is_number(one) && one != other).map(|(one, _)| one.name.clone()).collect()
    }
}

fn is_number(param: &Param) -> bool {
    matches!(&param.kind, ParamKind::Scalar { value: ScalarValue::Number(_), .. })
}

fn undecided(reason: String, help: Option<String>) -> Verdict {
    Verdict::Unknown(Unknown { kind: UnknownReason::Undecided, reason, progress: None, help })
}

/// Why it is not proved for every size.
struct Open {
    /// The largest size for which it is.
    most: u64,
    reason: String,
}

/// Sizes that are proved.
#[derive(Default)]
struct Done {
    /// The largest, with its report.
    last: Option<(u64, Report)>,
    /// What is said of values of scalars, with the sizes at which it is.
    values: BTreeMap<String, BTreeSet<u64>>,
    assumptions: Vec<Assumption>,
    restricted: bool,
    count: u64,
}

impl Done {
    fn note(&mut self, size: u64, report: Report, values: Vec<String>) {
        for text in values {
            self.values.entry(text).or_default().insert(size);
        }
        for assumption in &report.assumptions {
            if !self.assumptions.contains(assumption) {
                self.assumptions.push(assumption.clone());
            }
        }
        self.restricted |= report.scope.restricted;
        self.count += 1;
        if self.last.as_ref().is_none_or(|(last, _)| *last < size) {
            self.last = Some((size, report));
        }
    }

    fn add(&mut self, other: Done) {
        for (text, sizes) in other.values {
            self.values.entry(text).or_default().extend(sizes);
        }
        for assumption in other.assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
        self.restricted |= other.restricted;
        self.count += other.count;
    }
}
