//! What an asynchronous copy takes from memory, as a load by cases where an input chooses from where, or how much (rule
//! S1). It is read by the copy and not by its thread: what races with it does so until the copy is over (rule Y6).

use super::at_address::{ByCases, What};
use super::by_cases::{Accessed, Places};
use super::lookup::Sought;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, Copied, LaneAccess, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Async, InstId, Space, Src};
use crate::value::int_terms;
use crate::value::packed::PackedPart;
use crate::value::{Truth, Value};

/// What the copies of those lanes write for which an input decides from where they take it, or how much; and the
/// numbers of these copies.
pub(crate) fn copied_by_cases(
    cta: &mut Cta<'_>,
    warp: &mut Warp,
    mask: LaneMask,
    operation: &Async,
    pc: InstId,
) -> Result<Vec<(Lane, u32, Vec<PackedPart>)>, Stop> {
    let Async::Copy { from, bytes, size, ignore, to: _ } = *operation else { return Ok(Vec::new()) };
    let (mut decided, mut lookups) = (Vec::new(), Vec::new());
    for lane in mask {
        let value = |source: Src| cta.context.value(warp, source, lane);
        let is_symbolic = |source: Src| matches!(value(source), Value::Sym(_));
        let is_conditional =
            ignore.is_some_and(|ignore| warp.predicates[ignore.pred.index()].sym.contains(lane));
        let is_sized = size.is_some_and(is_symbolic);
        if !(is_conditional || is_sized || is_symbolic(from.base)) {
            continue;
        }
        let number = cta.sync.begin_copy();
        let agent = Agent::Copy { number, proxy: None, update: None };
        let copy = Copied { from, bytes, size, ignore, agent };
        let mut by_cases = ByCases { cta, warp, lane, pc };
        let Some(sizes) = by_cases.sizes_of(&copy)? else { return Err(by_cases.size_is_unknown(&copy)) };
        let mut parts = Vec::new();
        if let Places::At(wanted) = sizes
            && wanted == u64::from(bytes)
        {
            let places = by_cases.places_of_source(&copy, bytes)?;
            let sought = Sought { space: Space::Global, offset: from.offset, bytes, element: None };
            if let Places::Index(index, addresses) = &places
                && let Some(lookup) = by_cases.as_lookup(sought, *index, addresses)
            {
                lookups.push(lookup);
            } else {
                parts = by_cases.in_parts(&places, What::Source(&copy, bytes))?;
            }
        } else {
            parts = by_cases.in_parts(&sizes, What::Size(&copy))?;
        }
        decided.push((lane, number, parts));
    }
    let mut found = cta.look_up(warp, lookups, |_| true, pc)?;
    found.sort_unstable_by_key(|(lane, step, ..)| (*lane, *step));
    for (of, _, parts) in &mut decided {
        let own: Vec<Value> =
            found.iter().filter(|(lane, ..)| lane == of).map(|(.., value)| *value).collect();
        let element = bytes / (own.len().max(1) as u32);
        let split = |value: Value| cta.values.terms.packed.split(value, element);
        parts.extend(own.into_iter().flat_map(split));
    }
    Ok(decided)
}

impl ByCases<'_, '_> {
    fn in_parts(&mut self, places: &Places, what: What<'_>) -> Result<Vec<PackedPart>, Stop> {
        let words = self.in_each(places, what)?;
        let mut parts = Vec::with_capacity(words.len());
        let terms = &mut self.cta.values.terms;
        for word in words {
            // What is chosen in parts may have more bytes than a word.
            match int_terms::slice(&terms.packed.split(word, 4), 0, 4, &mut terms.store) {
                Ok(own) => parts.extend(own),
                Err(_) => return Err(Stop::Defect("a copy has chosen a part of a value")),
            }
        }
        Ok(parts)
    }

    /// The numbers of bytes that a copy may take.
    fn sizes_of(&mut self, copy: &Copied) -> Result<Option<Places>, Stop> {
        let ByCases { cta, warp, lane, pc } = self;
        let (lane, pc, values) = (*lane, *pc, &mut cta.values);
        let truth = match copy.ignore {
            None => Truth::Known(false),
            Some(ignore) => {
                values.terms.guard_lanes(warp, LaneMask::of(lane), pc, ignore)?;
                values.terms.truth(warp, ignore, lane, pc)
            }
        };
        let sizes = match copy.size {
            None => Some(Places::At(copy.bytes.into())),
            Some(size) => {
                let size = cta.context.value(warp, size, lane);
                values.terms.steers(warp, lane, size, ("how much a copy takes", pc))?;
                values.places(lane, size)
            }
        };
        Ok(match (truth, sizes) {
            (Truth::Known(true), _) => Some(Places::At(0)),
            (Truth::Known(false), sizes) => sizes,
            (Truth::Condition(ignored), Some(sizes)) => {
                Some(Places::Choice(ignored, Box::new([Places::At(0), sizes])))
            }
            (Truth::Condition(_), None) | (Truth::Undefined(_) | Truth::Answer(_), _) => None,
        })
    }

    /// Why it is not known how much a copy takes.
    #[cold]
    fn size_is_unknown(&self, copy: &Copied) -> Stop {
        let (terms, warp, lane, pc) = (&self.cta.values.terms, &*self.warp, self.lane, self.pc);
        if let Some(ignore) = copy.ignore
            && let Err(stop) = terms.known_truth(warp, ignore, lane, pc)
        {
            return stop;
        }
        let size = copy.size.map_or(Value::Bits(0), |size| self.cta.context.value(warp, size, lane));
        terms.not_concrete(warp, size, lane, pc, "the size of a copy")
    }

    /// The addresses from which a copy may read so many bytes, which lie in memory.
    fn places_of_source(&mut self, copy: &Copied, bytes: u32) -> Result<Places, Stop> {
        let accessed = Accessed { space: Space::Global, address: copy.from, bytes, verb: "reads" };
        self.places_of(accessed)?.ok_or_else(|| {
            let address = self.cta.context.value(self.warp, copy.from.base, self.lane);
            self.cta.values.terms.not_concrete(self.warp, address, self.lane, self.pc, "an address")
        })
    }

    /// The words that a copy writes if it takes so many bytes.
    pub(super) fn taken(&mut self, copy: &Copied, wanted: u64) -> Result<Vec<Value>, Stop> {
        let wanted = wanted as u32;
        if wanted > copy.bytes {
            let stop = self.cta.context.copies_too_much((copy.bytes, wanted), self.warp, self.lane, self.pc);
            return Err(self.ended(stop));
        }
        if wanted == 0 {
            return Ok(vec![Value::Bits(0); (copy.bytes / 4) as usize]);
        }
        let places = self.places_of_source(copy, wanted).map_err(|stop| self.ended(stop))?;
        self.in_each(&places, What::Source(copy, wanted))
    }

    /// The words that a copy writes if it takes so many bytes from this address, before its distance is added.
    pub(super) fn taken_at(&mut self, copy: &Copied, address: u64, wanted: u32) -> Result<Vec<Value>, Stop> {
        let source = address.wrapping_add_signed(copy.from.offset);
        let (place, mut offsets) = ((Space::Global, source), [0; 32]);
        let access =
            LaneAccess { place, bytes: wanted, alignment: copy.bytes, agent: copy.agent, writes: false };
        let mut accesses = self.cta.accesses();
        let at = accesses.locate_lane(self.warp, self.lane, self.pc, access, &mut offsets)?;
        let parts = accesses.bytes_for_copy(self.warp, self.lane, &at, (wanted, copy.bytes))?;
        let (mut words, mut word, mut filled) = (Vec::new(), Vec::new(), 0);
        for part in parts {
            filled += part.bytes;
            word.push(part);
            if filled == 4 {
                words.push(accesses.values.terms.packed.join(&word));
                word.clear();
                filled = 0;
            }
        }
        Ok(words)
    }
}

impl Accesses<'_, '_> {
    /// Reads for a copy: so many bytes of an access, and zeros up to all that it writes.
    pub(crate) fn bytes_for_copy(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (wanted, bytes): (u32, u32),
    ) -> Result<Vec<PackedPart>, Stop> {
        let element = at.object.element.map_or(4, |element| element.bytes()).clamp(1, 4);
        let (mut parts, mut done): (Vec<PackedPart>, _) = (Vec::new(), 0);
        while done < wanted {
            let step = element.min(wanted - done);
            let value = self.load_value(warp, lane, at, at.offsets[lane] + u64::from(done), step)?;
            parts.extend(self.values.terms.packed.split(value, step));
            done += step;
        }
        let zero = PackedPart { value: Value::Bits(0), bytes: 1 };
        parts.extend((wanted..bytes).map(|_| zero));
        Ok(parts)
    }
}
