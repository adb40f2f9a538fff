//! The CTAs of one side at every size, as classes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::EverySize;
use crate::case::{
    Case, Contents, Element, Elements, KernelLaunch, Options, Param, ParamKind, ScalarValue, Which,
};
use crate::launch::{Job, Outputs};
use crate::library;
use crate::machine::{ClassOfSizes, Extents, NotFollowed, Sizes, class_of_sizes};
use crate::number::Extended;
use crate::program::Program;
use crate::steps;
use crate::verdict::Place;

/// A side has at most so many classes for one remainder of the size.
const MOST_CLASSES: usize = 64;

/// The smallest size has at most so many CTAs that are alike.
const MOST_AHEAD: i64 = 256;

/// A period has at most so many sizes, and a size at most so many CTAs.
pub(super) const MOST_REMAINDERS: u64 = 4096;

/// So many cases are kept.
const MOST_KEPT: usize = 512;

/// Tensors of more bytes are not claimed.
const MOST_BYTES: i128 = 1 << 39;

/// The cases at some sizes.
pub(super) struct Cases<'s> {
    pub(super) sizes: &'s EverySize<'s>,
    known: Mutex<FxHashMap<u64, Arc<Case>>>,
}

impl<'s> Cases<'s> {
    pub(super) fn new(sizes: &'s EverySize<'s>) -> Cases<'s> {
        Cases { sizes, known: Mutex::default() }
    }

    /// The case at a size.
    pub(super) fn at(&self, size: u64) -> Result<Arc<Case>, String> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(case) = known().get(&size) {
            return Ok(Arc::clone(case));
        }
        if known().len() >= MOST_KEPT {
            known().clear();
        }
        let mut case = (self.sizes.at)(size)?;
        case.options = Options { first_fault_only: true, threads: 0, ..case.options };
        let case = Arc::new(case);
        known().insert(size, Arc::clone(&case));
        Ok(case)
    }
}

/// What about a tensor would be something else with other extents.
pub(super) fn depends_on_extents(param: &Param) -> Option<&'static str> {
    if param.is_set() {
        return Some("the multiset");
    }
    match &param.kind {
        ParamKind::Tensor {
            contents: Contents::Symbolic | Contents::Undefined | Contents::Fill(_),
            assumed,
            ..
        } => (assumed.elements == Elements::Permutation).then_some("the numbers that are elements"),
        ParamKind::Tensor { .. } => Some("the contents"),
        ParamKind::Scalar { .. } => None,
    }
}

/// A class of CTAs of a side, at sizes with one remainder.
pub(super) struct Class {
    /// The smallest size with the remainder.
    pub(super) least: u64,
    /// How many periods a size is from the smallest one, beyond the CTAs in front and behind.
    pub(super) ahead: i64,
    /// How many are in front of its first CTA, and behind it.
    pub(super) first: [u64; 2],
    pub(super) class: ClassOfSizes,
}

impl Class {
    /// The largest numbers of CTAs in front and behind, from the first one on, if there were all sizes.
    pub(super) fn extents(&self) -> [u64; 2] {
        let extents = self.class.extents;
        let Some(Sizes { along, behind, together }) = extents.sizes() else { return [1; 2] };
        [extents.grid()[along], behind].map(|extent| u64::from(extent).min(together + 1))
    }
}

/// Where sizes end that can be followed.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The first size that is not.
    pub(super) size: u64,
    pub(super) why: Why,
}

#[derive(Clone, Debug)]
pub(super) enum Why {
    /// A limit of the launch or of types.
    Limit(String),
    /// What happens there is not followed.
    Here(String),
    /// There are too many classes.
    Classes(String),
}

impl End {
    pub(super) fn text(&self) -> String {
        match &self.why {
            Why::Limit(text) | Why::Here(text) | Why::Classes(text) => text.clone(),
        }
    }

    /// Whether there are no larger sizes.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self.why, Why::Limit(_))
    }

    /// Whether larger sizes might be followed with more classes.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.why, Why::Classes(_))
    }
}

/// A side at every size.
pub(super) struct Followed {
    pub(super) which: Which,
    pub(super) period: u64,
    /// The dimension of the grid that grows.
    pub(super) along: usize,
    pub(super) classes: Vec<Class>,
    pub(super) end: End,
}

/// Follows a side.
///
/// # Errors
/// Why it cannot be followed at any size.
pub(super) fn side(cases: &Cases<'_>, which: Which, period: u64) -> Result<Followed, String> {
    let name = if which == Which::Reference { "the reference" } else { "the kernel" };
    if period > MOST_REMAINDERS {
        return Err(format!(
            "the numbers of {name} grow evenly over {period} sizes only, and at most {MOST_REMAINDERS} are followed"
        ));
    }
    let first = cases.at(cases.sizes.least)?;
    let loaded = match which {
        Which::Reference => first.reference.as_ref().map(|side| steps::load(which, side)),
        Which::Opt => Some(steps::load(which, &first.opt)),
    };
    let loaded = loaded.transpose().map_err(|error| error.message)?;
    let program = loaded.as_ref().and_then(|loaded| loaded.kernels().next());
    let program = program.ok_or_else(|| format!("{name} has no kernel"))?;
    let side = SideOf { cases, which, name, period, program };
    let along = side.along()?;
    let remainders: Vec<u64> = (0..period).map(|at| cases.sizes.least + at).collect();
    let all: Vec<Result<(Vec<Class>, End), String>> =
        remainders.par_iter().map(|least| side.remainder(*least, along)).collect();
    let (mut classes, mut end): (Vec<Class>, Option<End>) = (Vec::new(), None);
    for one in all {
        let (own, own_end) = one?;
        classes.extend(own);
        if end.as_ref().is_none_or(|end| own_end.size < end.size) {
            end = Some(own_end);
        }
    }
    let end = end.ok_or_else(|| "there is no size".to_string())?;
    Ok(Followed { which, period, along, classes, end })
}

struct SideOf<'s> {
    cases: &'s Cases<'s>,
    which: Which,
    name: &'static str,
    period: u64,
    program: &'s Program,
}

impl SideOf<'_> {
    fn kernel<'c>(&self, case: &'c Case) -> Result<&'c KernelLaunch, String> {
        let side = match self.which {
            Which::Reference => case.reference.as_ref(),
            Which::Opt => Some(&case.opt),
        };
        side.and_then(|side| side.only()).ok_or_else(|| format!("{} is not one launch", self.name))
    }

    fn grid(&self, size: u64) -> Result<[u32; 3], String> {
        Ok(self.kernel(&*self.cases.at(size)?)?.launch.grid)
    }

    /// The dimension of the grid that grows.
    fn along(&self) -> Result<usize, String> {
        let least = self.cases.sizes.least;
        let (one, other) = (self.grid(least)?, self.grid(least + self.period)?);
        let mut grows = (0..3).filter(|at| one[*at] != other[*at]);
        let variable = self.cases.sizes.variable;
        match (grows.next(), grows.next()) {
            (Some(along), None) => Ok(along),
            (None, _) => Err(format!(
                "the grid of {} is the same for every {variable}: what one block does at every size is not followed",
                self.name
            )),
            (Some(_), Some(_)) => Err(format!("{variable} decides two extents of the grid of {}", self.name)),
        }
    }

    /// The classes at sizes with one remainder, of which this is the smallest.
    fn remainder(&self, least: u64, along: usize) -> Result<(Vec<Class>, End), String> {
        let (first, second) = (self.cases.at(least)?, self.cases.at(least + self.period)?);
        if let Some(what) = super::differs(&first, &second) {
            return Err(what);
        }
        let (one, other) = (self.grid(least)?[along], self.grid(least + self.period)?[along]);
        let by = other.checked_sub(one).filter(|by| *by > 0);
        let by = by.ok_or_else(|| format!("the grid of {} shrinks", self.name))?;
        if u64::from(by) * self.period > MOST_REMAINDERS {
            return Err(format!(
                "the grid of {} grows by {by} blocks for every {} sizes, and by at most {} they are followed",
                self.name,
                self.period,
                MOST_REMAINDERS / self.period
            ));
        }
        let (periods, why) = self.limit([&first, &second], along);
        let mut end = End { size: self.size(least, periods + 1), why: Why::Limit(why) };
        let mut classes = Vec::new();
        for own in 0..by {
            // Of the CTAs that a period adds, the one with this number: the smallest size has so many of these, less one.
            let ahead = -(i64::from(one) - 1 - i64::from(own)).div_euclid(by.into());
            if -ahead > MOST_AHEAD {
                return Err(format!("{} has {one} blocks at the smallest size already", self.name));
            }
            let of_one = OfOne { side: self, along, by, own, least, ahead };
            let (found, own_end) = of_one.classes(periods)?;
            classes.extend(found);
            if let Some(own_end) = own_end
                && own_end.size < end.size
            {
                end = own_end;
            }
        }
        Ok((classes, end))
    }

    /// The size that is so many periods from another one.
    fn size(&self, least: u64, periods: u64) -> u64 {
        least.saturating_add(self.period.saturating_mul(periods))
    }

    /// How many periods there may be, and why not more.
    fn limit(&self, [first, second]: [&Case; 2], along: usize) -> (u64, String) {
        let grids =
            [first, second].map(|case| self.kernel(case).map_or(0, |kernel| kernel.launch.grid[along]));
        let most = if along == 0 { (1u64 << 31) - 1 } else { (1 << 16) - 1 };
        let by = u64::from(grids[1]).saturating_sub(grids[0].into()).max(1);
        let mut limit = most.saturating_sub(grids[0].into()) / by;
        let mut why = format!("a grid has at most {most} blocks in {}", ["x", "y", "z"][along]);
        let mut at_most = |periods: i128, reason: &dyn Fn() -> String| {
            if periods < i128::from(limit) {
                limit = u64::try_from(periods).unwrap_or(0);
                why = reason();
            }
        };
        let none = Vec::new();
        let arguments = [first, second]
            .map(|case| self.kernel(case).ok().and_then(|kernel| kernel.arguments.as_ref()).unwrap_or(&none));
        if arguments[0] != arguments[1] {
            at_most(0, &|| format!("the arguments of {} depend on it", self.name));
        }
        for (one, other) in first.params.iter().zip(&second.params) {
            match (&one.kind, &other.kind) {
                (
                    ParamKind::Scalar { element, value: ScalarValue::Number(from) },
                    ParamKind::Scalar { value: ScalarValue::Number(to), .. },
                ) => {
                    let (Some([low, high]), Some(from), Some(to)) =
                        (numbers_of(*element), whole(from), whole(to))
                    else {
                        continue;
                    };
                    let by = to - from;
                    let room = if by > 0 { high - from } else { from - low };
                    if by != 0 {
                        at_most(room / by.abs(), &|| {
                            format!("`{}` is an {}, from {low} to {high}", one.name, element.name())
                        });
                    }
                }
                (ParamKind::Tensor { shape, .. }, ParamKind::Tensor { shape: next, .. }) => {
                    let bytes = one.elements().iter().map(|element| i128::from(element.bytes())).max();
                    let count = |shape: &[u64]| {
                        shape.iter().fold(1i128, |all, extent| all.saturating_mul((*extent).into()))
                    };
                    let (bytes, from) = (bytes.unwrap_or(1), count(shape));
                    let by = count(next) - from;
                    if by > 0 {
                        at_most((MOST_BYTES / bytes - from) / by, &|| {
                            format!("`{}` is a tensor of at most 2^39 bytes", one.name)
                        });
                    }
                }
                (ParamKind::Scalar { .. }, _) | (ParamKind::Tensor { .. }, _) => {}
            }
        }
        (limit, why)
    }

    /// An instruction, in words.
    fn place(&self, place: Option<&Place>) -> String {
        let Some(place) = place else { return String::new() };
        let line = match &place.cuda {
            Some(cuda) => format!("{}:{}", cuda.file, cuda.line),
            None => format!("line {}", place.line),
        };
        format!(", at {line}, `{}`", place.text)
    }

    fn why(&self, stopped: NotFollowed, size: u64) -> Why {
        let at = format!("{} = {size}", self.cases.sizes.variable);
        match stopped {
            NotFollowed::Here(place, reason) => {
                Why::Here(format!("in {} from {at} on, {reason}{}", self.name, self.place(place.as_deref())))
            }
            NotFollowed::Stopped(reason) => Why::Here(format!("in {} from {at} on, {reason}", self.name)),
            NotFollowed::Exhausted(exhausted) => Why::Classes(format!("in {}, {exhausted}", self.name)),
        }
    }
}

/// The least and the greatest number of a type of integers.
fn numbers_of(element: Element) -> Option<[i128; 2]> {
    match element {
        Element::Int { bytes, signed: true } => {
            Some([-(1i128 << (8 * bytes - 1)), (1i128 << (8 * bytes - 1)) - 1])
        }
        Element::Int { bytes, signed: false } => Some([0, (1i128 << (8 * bytes)) - 1]),
        Element::Bool => Some([0, 1]),
        Element::Float(_) => None,
    }
}

fn whole(number: &Extended) -> Option<i128> {
    number.finite()?.to_i128()
}

/// One CTA of those by which the grid grows.
struct OfOne<'s> {
    side: &'s SideOf<'s>,
    along: usize,
    by: u32,
    own: u32,
    least: u64,
    ahead: i64,
}

impl OfOne<'_> {
    /// The size with so many CTAs in front and behind.
    fn size(&self, sum: u64) -> u64 {
        self.side.size(self.least, sum.saturating_add_signed(self.ahead))
    }

    /// The classes, and where they end if that is before the limit of so many periods.
    fn classes(&self, periods: u64) -> Result<(Vec<Class>, Option<End>), String> {
        let recognition = library::recognition(self.side.program);
        let Some(mut most) = periods.checked_add_signed(-self.ahead) else { return Ok((Vec::new(), None)) };
        let grid = self.side.grid(self.least)?;
        let extent = u32::try_from(most + 1).unwrap_or(u32::MAX);
        let all = |[x, y, z, behind]: [u32; 4], together| {
            Extents::of_sizes([x, y, z], Sizes { along: self.along, behind, together })
        };
        let mut whole = [grid[0], grid[1], grid[2], extent];
        whole[self.along] = extent;
        // Of CTAs with fewer in front and behind together, there is no size.
        let fewest = u32::try_from(-self.ahead).unwrap_or(0);
        let mut open = BinaryHeap::new();
        for in_front in 0..=fewest {
            let (mut first, mut extents) = ([0u32; 4], whole);
            first[self.along] = in_front;
            first[3] = fewest - in_front;
            if in_front < fewest {
                extents[self.along] = 1;
            }
            open.push(Reverse((u64::from(fewest), first, extents)));
        }
        let (mut classes, mut end) = (Vec::new(), None);
        while let Some(Reverse((sum, first, extents))) = open.pop() {
            if sum > most {
                break;
            }
            let size = self.size(sum);
            if classes.len() >= MOST_CLASSES + fewest as usize {
                let text = format!(
                    "blocks of {} do something else at more than {MOST_CLASSES} places of the grid{}",
                    self.side.name,
                    self.side.place(classes.last().and_then(|class: &Class| class.class.cut_at.as_deref()))
                );
                end = Some(End { size, why: Why::Classes(text) });
                break;
            }
            let extents = all(extents, most - sum);
            let class = match self.run(size, first, extents, &recognition) {
                Ok(class) => class,
                Err(stopped) => {
                    let why = self.side.why(stopped, size);
                    if sum == u64::from(fewest) {
                        let (Why::Limit(text) | Why::Here(text) | Why::Classes(text)) = why;
                        return Err(text);
                    }
                    end = Some(End { size, why });
                    break;
                }
            };
            let together = class.extents.sizes().map_or(0, |sizes| sizes.together);
            if together < most - sum {
                most = sum + together;
                let size = self.size(most + 1);
                let text = format!(
                    "in {} from {} = {size} on, numbers have other outcomes{}",
                    self.side.name,
                    self.side.cases.sizes.variable,
                    self.side.place(class.bounded_at.as_deref())
                );
                end = Some(End { size, why: Why::Here(text) });
            }
            for (first, part) in class.extents.rest_of(extents, first) {
                let sum = u64::from(first[self.along]) + u64::from(first[3]);
                let [x, y, z] = part.grid();
                let behind = part.sizes().map_or(1, |sizes| sizes.behind);
                open.push(Reverse((sum, first, [x, y, z, behind])));
            }
            let first = [first[self.along], first[3]].map(u64::from);
            classes.push(Class { least: self.least, ahead: self.ahead, first, class });
        }
        Ok((classes, end))
    }

    fn run(
        &self,
        size: u64,
        first: [u32; 4],
        extents: Extents,
        recognition: &crate::machine::Recognition,
    ) -> Result<ClassOfSizes, NotFollowed> {
        let stopped = |message: String| NotFollowed::Stopped(message);
        let cases = [0, 1, 2].map(|at| self.side.cases.at(self.side.size(size, at)));
        let [one, two, three] = cases;
        let cases = [one.map_err(stopped)?, two.map_err(stopped)?, three.map_err(stopped)?];
        let mut kernels = Vec::new();
        for case in &cases {
            kernels.push(self.side.kernel(case).map_err(stopped)?);
        }
        let job = |at: usize| Job {
            outputs: if cases[at].reference.is_some() { Outputs::Compared } else { Outputs::Written },
            ..Job::only(
                self.side.which,
                (self.side.program, kernels[at]),
                &cases[at].params,
                &cases[at].options,
            )
        };
        let mut cta = [first[0], first[1], first[2]];
        cta[self.along] = first[self.along] * self.by + self.own;
        class_of_sizes(&[job(0), job(1), job(2)], recognition, (cta, extents))
    }
}
