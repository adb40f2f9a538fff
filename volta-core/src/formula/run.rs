//! Finds runs in lists of expressions of one shape: slots that are affine become a first value, a stride and a length.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::shape::{Node, Shape, Shapes, TooLarge};
use super::tree::Over;

/// Positions in a list, in the order of a run.
type Run = Vec<usize>;

/// The difference of two lists of slots.
type Step = SmallVec<[i64; 8]>;

/// The position in a list of the item with given slots.
type Places<'l> = FxHashMap<&'l [i64], usize>;

impl Shapes {
    /// Combines expressions of one shape with affine slots into runs. Runs that are themselves affine are combined
    /// again, so that a block of a matrix is a run of rows, and a triangle a run of rows of increasing length.
    ///
    /// If one step joins most of a list, the whole list is divided into its runs, some of which may have length 1;
    /// otherwise only runs of three or more are taken, and the rest is searched again.
    pub(super) fn runs(&mut self, over: Over, list: Vec<Node>) -> Result<Vec<Node>, TooLarge> {
        let mut done = Vec::new();
        let mut open = vec![list];
        while let Some(mut list) = open.pop() {
            list.sort_unstable_by(|a, b| a.slots.cmp(&b.slots));
            let places: Places<'_> = list.iter().enumerate().map(|(at, node)| (&*node.slots, at)).collect();
            let mut best: Option<(Step, Vec<Run>)> = None;
            for step in self.steps(&list)? {
                let runs = self.along((&list, &places), &step, over)?;
                if best.as_ref().is_none_or(|(_, best)| runs.len() < best.len()) {
                    best = Some((step, runs));
                }
                if best.as_ref().is_some_and(|(_, best)| best.len() * 2 <= list.len()) {
                    break;
                }
            }
            let Some((strides, mut runs)) = best else {
                done.extend(list);
                continue;
            };
            if runs.len() * 2 > list.len() {
                let (long, short): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.len() > 2);
                if long.is_empty() {
                    done.extend(list);
                    continue;
                }
                open.push(short.into_iter().flatten().map(|at| list[at].clone()).collect());
                runs = long;
            }
            let shape =
                self.intern(Shape::Run { over, body: list[0].shape, strides: strides.into_vec().into() })?;
            let run = |run: Run| {
                let slots = list[run[0]].slots.iter().copied().chain([run.len() as i64]);
                Node { shape, slots: slots.collect() }
            };
            open.push(runs.into_iter().map(run).collect());
        }
        Ok(done)
    }

    /// Candidate steps, the most frequent difference between consecutive items first; each is given once.
    fn steps(&mut self, list: &[Node]) -> Result<Vec<Step>, TooLarge> {
        /// At most this many items are looked past for a candidate step.
        const BETWEEN: usize = 16;
        let step =
            |a: &Node, b: &Node| -> Step { a.slots.iter().zip(b.slots.iter()).map(|(a, b)| b - a).collect() };
        let mut often: FxHashMap<Step, usize> = FxHashMap::default();
        for pair in list.windows(2) {
            self.charge(pair[0].slots.len())?;
            *often.entry(step(&pair[0], &pair[1])).or_default() += 1;
        }
        let first = often.into_iter().max_by(|(a, often), (b, more)| often.cmp(more).then_with(|| b.cmp(a)));
        let mut steps: Vec<Step> = first.map(|(step, _)| step).into_iter().collect();
        let middle = list.len() / 2;
        for from in [0, middle] {
            let to = list.iter().skip(from + 1).take(BETWEEN);
            steps.extend(to.map(|to| step(&list[from], to)));
        }
        let mut seen = FxHashSet::default();
        steps.retain(|step| step.iter().any(|step| *step != 0) && seen.insert(step.clone()));
        Ok(steps)
    }

    /// Whether two items alone form a run. Any two are affine, so only neighbours count.
    fn are_neighbours(&self, first: &Node, step: &[i64], over: Over) -> bool {
        let (mut inner, mut slots) = (first.shape, &first.slots[..]);
        // The extent of the items along each slot: a block may directly follow another.
        let mut reach = vec![1; step.len()];
        while let (Shape::Run { body, strides, .. }, Some((count, rest))) =
            (self.get(inner), slots.split_last())
        {
            for (reach, stride) in reach.iter_mut().zip(strides).filter(|_| over == Over::All) {
                *reach += stride.abs() * (count - 1);
            }
            (inner, slots) = (*body, rest);
        }
        let (places, lengths) = step.split_at(slots.len());
        let index = if let (Shape::Entry(param, _), Over::All) = (self.get(inner), over) {
            self.rank(*param)
        } else {
            places.len()
        };
        let is_near = |(step, reach): (&i64, &i64)| step.abs() <= *reach;
        lengths.iter().all(|step| *step == 0) && places[..index].iter().zip(&reach).all(is_near)
    }

    /// The runs with a given step.
    fn along(
        &mut self,
        (list, places): (&[Node], &Places<'_>),
        step: &[i64],
        over: Over,
    ) -> Result<Vec<Run>, TooLarge> {
        self.charge(list.len() * step.len())?;
        let next = |node: &Node| {
            let slots = node.slots.iter().zip(step).map(|(slot, step)| slot + step);
            places.get(&*slots.collect::<Step>()).copied()
        };
        let next: Vec<Option<usize>> = list.iter().map(next).collect();
        let mut is_first = vec![true; list.len()];
        for at in next.iter().flatten() {
            is_first[*at] = false;
        }
        let mut runs = Vec::new();
        for first in (0..list.len()).filter(|at| is_first[*at]) {
            let run: Run = std::iter::successors(Some(first), |at| next[*at]).collect();
            if run.len() == 2 && !self.are_neighbours(&list[first], step, over) {
                runs.extend(run.into_iter().map(|at| vec![at]));
            } else {
                runs.push(run);
            }
        }
        Ok(runs)
    }
}
