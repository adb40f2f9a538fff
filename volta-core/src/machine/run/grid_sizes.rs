//! CTAs of grids of any size: one is executed for all that do the same with other numbers of CTAs in front and behind.
//!
//! With c CTAs in front and b behind, a grid has c + 1 + b CTAs, so that numbers that are affine in its extent are
//! affine in c and b, and each pair of them is a CTA of a grid of some size. What the launch passes to the kernel and
//! how large its tensors are is taken from three sizes, one after the other; that it goes on like this is what the
//! caller promises.

use super::class_grid::{Found, is_alone, is_plain, linear_of, run_class};
use crate::base::budget::{Exhausted, Held};
use crate::case::Element;
use crate::launch::Launch;
use crate::launch::address_bits;
use crate::launch::bind::Job;
use crate::launch::tensor::{Fields, Initial, Tensor};
use crate::machine::cta::work::Beside;
use crate::machine::cta_class::ClassRun;
use crate::machine::cta_class::extents::{Extents, Steps};
use crate::machine::cta_class::growth::{Growth, Number};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::value::constants::Recognition;
use crate::verdict;
use rustc_hash::FxHashMap;

impl Growth {
    /// How three launches differ, of one size after the other.
    fn of([first, second, third]: [&Launch<'_>; 3], along: usize) -> Result<Growth, String> {
        let all = [first, second, third];
        let alike =
            |what: &dyn Fn(&Launch<'_>, &Launch<'_>) -> bool| what(first, second) && what(second, third);
        let is_fixed = |one: &Launch<'_>, other: &Launch<'_>| {
            let grid = |launch: &Launch<'_>| {
                let mut grid = launch.grid;
                grid[along] = 0;
                grid
            };
            grid(one) == grid(other)
                && one.block == other.block
                && one.dynamic_shared == other.dynamic_shared
                && one.cluster == other.cluster
                && one.tensors.len() == other.tensors.len()
        };
        if !alike(&is_fixed) {
            return Err(
                "more than one dimension of the grid, or the size of its blocks, depends on it".into()
            );
        }
        let [ctas, again] = [(first, second), (second, third)]
            .map(|(one, other)| i64::from(other.grid[along]) - i64::from(one.grid[along]));
        if ctas != again || ctas < 1 {
            return Err("the grid does not grow with it evenly".into());
        }
        let (mut bytes, mut numbers) = (Vec::new(), FxHashMap::default());
        for at in 0..first.tensors.len() {
            let tensors = all.map(|launch| &launch.tensors[at]);
            let size = tensors.map(|tensor| i128::from(tensor.elements) * i128::from(tensor.element.bytes()));
            let grows = size[1] - size[0];
            let is_even = size[2] - size[1] == grows;
            let uneven = || format!("the size of `{}` does not grow with it evenly", first.tensors[at].name);
            bytes.push(i64::try_from(grows).ok().filter(|_| is_even).ok_or_else(uneven)?);
            let differ = || format!("the contents of `{}` depend on it", first.tensors[at].name);
            let changing = numbers_of(tensors, grows != 0).ok_or_else(differ)?;
            if !changing.is_empty() {
                numbers.insert(at as u32, changing);
            }
        }
        Ok(Growth { along, ctas, bytes, numbers })
    }
}

/// The numbers of a tensor that change between three launches. `None` if more than numbers does.
fn numbers_of(tensors: [&Tensor; 3], grows: bool) -> Option<Vec<Number>> {
    let [first, second, third] = tensors;
    let is_named_alike = |one: &Tensor, other: &Tensor| {
        one.name == other.name
            && one.element == other.element
            && one.role == other.role
            && one.param == other.param
    };
    if !is_named_alike(first, second) || !is_named_alike(second, third) {
        return None;
    }
    let [one, two, three] = tensors.map(|tensor| &tensor.initial);
    if let (Initial::Fields(one), Initial::Fields(two), Initial::Fields(three), false) =
        (one, two, three, grows)
    {
        return numbers_of_fields([one, two, three]);
    }
    let is_alike = |one: &Initial, other: &Initial| match (one, other) {
        (Initial::Symbolic(one), Initial::Symbolic(other)) => one == other,
        (Initial::Undefined, Initial::Undefined) => true,
        (Initial::Fill(one), Initial::Fill(other)) => one == other,
        (Initial::Bytes(one), Initial::Bytes(other)) => one == other,
        // What is given element by element is the same where the tensor is, by the case.
        (Initial::List(_), Initial::List(_))
        | (Initial::Iota, Initial::Iota)
        | (Initial::Partly(..), Initial::Partly(..))
        | (Initial::NotGiven, Initial::NotGiven) => !grows,
        _ => false,
    };
    (is_alike(one, two) && is_alike(two, three)).then(Vec::new)
}

fn numbers_of_fields(all: [&Fields; 3]) -> Option<Vec<Number>> {
    let mut changing = Vec::new();
    let [first, ..] = all;
    if all.iter().any(|fields| fields.fields.len() != first.fields.len() || fields.stride != first.stride) {
        return None;
    }
    for at in 0..first.fields.len() {
        let fields = all.map(|fields| &fields.fields[at]);
        let place = |at: usize| (fields[at].offset, fields[at].count, fields[at].tensor.element);
        if place(0) != place(1) || place(1) != place(2) {
            return None;
        }
        let tensors = fields.map(|field| &field.tensor);
        let bytes = u64::from(tensors[0].element.bytes());
        if let [Initial::Fill(one), Initial::Fill(two), Initial::Fill(three)] =
            tensors.map(|tensor| &tensor.initial)
            && (one != two || two != three)
        {
            let bits = 8 * bytes as u32;
            let apart = |from: u64, to: u64| {
                let by = to.wrapping_sub(from) << (u64::BITS - bits);
                (by as i64) >> (u64::BITS - bits)
            };
            let by = apart(*one, *two);
            let is_whole = matches!(tensors[0].element, Element::Int { .. });
            let by = (is_whole && by == apart(*two, *three)).then_some(by);
            changing.push(Number { offset: fields[0].offset, bytes, by });
        } else if !numbers_of(tensors, tensors[0].elements != tensors[2].elements)?.is_empty() {
            return None;
        }
    }
    Some(changing)
}

/// CTAs of grids of all sizes that do the same.
#[derive(Debug)]
pub(crate) struct ClassOfSizes {
    pub(crate) extents: Extents,
    /// By parameter of the case, what the CTAs access of it.
    pub(crate) accessed: Vec<Option<Accessed>>,
    /// The instruction at which sizes were left out, if some were.
    pub(crate) bounded_at: Option<Box<verdict::Place>>,
    /// The instruction at which CTAs were last left out.
    pub(crate) cut_at: Option<Box<verdict::Place>>,
}

/// What CTAs access of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessed {
    /// By how many elements the next CTA's are further on, and by how many those at the next size.
    pub(crate) steps: Steps,
    /// The first and the last of the elements of the CTAs at the first position that matter to others: those that are
    /// written, or read where the launch may write.
    pub(crate) reached: Option<[i128; 2]>,
    pub(crate) is_written: bool,
}

/// Why a CTA cannot be followed for others.
#[derive(Debug)]
pub(crate) enum NotFollowed {
    /// An instruction, or something in words.
    Here(Option<Box<verdict::Place>>, String),
    /// It does not run to its end.
    Stopped(String),
    /// A limit of the case was reached.
    Exhausted(Exhausted),
}

/// Runs a CTA of a launch for all grids of other sizes in which it does the same. `jobs` are launches of three sizes,
/// one after the other.
///
/// # Errors
/// Why that cannot be done.
pub(crate) fn class_of_sizes(
    jobs: &[Job<'_>; 3],
    recognition: &Recognition,
    (cta, extents): ([u32; 3], Extents),
) -> Result<ClassOfSizes, NotFollowed> {
    let here = |reason: &str| NotFollowed::Here(None, reason.into());
    let along =
        extents.sizes().map(|sizes| sizes.along).ok_or_else(|| here("no dimension of the grid grows"))?;
    let job = &jobs[0];
    let program = address_bits::guarded_in_all(job).program;
    let launches: Vec<Launch<'_>> = jobs
        .iter()
        .map(|job| Launch::bind(job, &program, recognition.clone(), None))
        .collect::<Result<_, _>>()
        .map_err(|error| NotFollowed::Stopped(error.message))?;
    let [launch, second, third] = launches.as_slice() else { return Err(here("there are three sizes")) };
    if !is_plain(launch, job.options) {
        return Err(here("the CTAs of such a launch are not followed one by one"));
    }
    let growth = Growth::of([launch, second, third], along).map_err(|reason| here(&reason))?;
    let context = Context { launch, options: job.options, linear: linear_of(launch, cta) };
    let class = ClassRun::growing(launch, extents, growth);
    let beside = Beside { instructions: 0, held: Held::default(), pool: None };
    let (_, class, ran) = run_class(context, class, beside).map_err(|stop| not_followed(launch, stop))?;
    if !is_alone(&ran) {
        return Err(here("it does more in global memory than to load and to store"));
    }
    let [bounded_at, cut_at] =
        [class.bounded_at, class.cut_at].map(|inst| inst.and_then(|inst| launch.place(inst)).map(Box::new));
    let extents = class.extents;
    let found = Found::new(launch, class, &ran, 0).ok_or_else(|| here("what it writes is not followed"))?;
    let accessed = accessed(launch, &found, extents);
    Ok(ClassOfSizes { extents, accessed, bounded_at, cut_at })
}

fn not_followed(launch: &Launch<'_>, stop: Stop) -> NotFollowed {
    match stop {
        Stop::Apart(inst) => {
            let place = inst.and_then(|inst| launch.place(inst));
            NotFollowed::Here(place.map(Box::new), "what it does cannot be told for other sizes".into())
        }
        Stop::Fault(fault) => NotFollowed::Stopped(fault.message),
        Stop::Fork(fork) => NotFollowed::Stopped(fork.fault.message),
        Stop::Possible(possible) => NotFollowed::Stopped(possible.possible().fault.message.clone()),
        Stop::Exhausted(exhausted) => NotFollowed::Exhausted(exhausted),
        Stop::Missing(error) => NotFollowed::Stopped(error.message),
        Stop::Endless(endless) => NotFollowed::Stopped(endless.to_string()),
        Stop::Defect(reason) => NotFollowed::Stopped(reason.into()),
        Stop::Doubtful | Stop::NeedVectorClocks => {
            NotFollowed::Here(None, "it needs another way of being executed".into())
        }
    }
}

/// By parameter, what a class accesses.
fn accessed(launch: &Launch<'_>, found: &Found, extents: Extents) -> Vec<Option<Accessed>> {
    let along = extents.sizes().map(|sizes| sizes.along);
    let mut all: Vec<Option<Accessed>> = found
        .class
        .steps
        .iter()
        .map(|steps| steps.map(|steps| Accessed { steps, reached: None, is_written: false }))
        .collect();
    for (number, tensor) in (0..).zip(&launch.tensors) {
        let Some(own) = tensor.param.and_then(|param| all[param].as_mut()) else { continue };
        let (written, read) = (found.class.written.get(&number), found.read.get(&number));
        own.is_written = written.is_some();
        for element in written.into_iter().chain(read).flatten() {
            let (mut least, mut most) = (i128::from(*element), i128::from(*element));
            for at in (0..3).filter(|at| Some(*at) != along) {
                let all = i128::from(extents.grid()[at] - 1) * i128::from(own.steps[at]);
                least += all.min(0);
                most += all.max(0);
            }
            let [low, high] = own.reached.unwrap_or([least, most]);
            own.reached = Some([low.min(least), high.max(most)]);
        }
    }
    all
}
