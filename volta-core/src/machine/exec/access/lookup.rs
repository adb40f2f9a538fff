//! Lookups: loads of reals at an index that an input chooses, for all lanes of a warp at once. What they give is what
//! [each lane by itself](super::by_cases) would find, a choice by the value of its index: a table of *n* elements takes
//! *n* comparisons and *n* choices for a warp, and not for each of its lanes.

use super::at_address::ByCases;
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::concurrency::race::Detector;
use crate::concurrency::shadow::WHOLE;
use crate::launch::objects::{Backing, locate, owned};
use crate::machine::cta::Cta;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::program::{InstId, Op, Space};
use crate::term::{TermId, TermOp};
use crate::value::int_terms::whole;
use crate::value::{Sym, SymKind, Value};

/// Memory whose elements are reals, and which a load leaves as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    /// A read-only input, by the term of its first element.
    Input(TermId),
    /// Shared memory from this cell on.
    Shared(u32),
}

/// A load of one lane.
pub(super) struct Lookup {
    lane: Lane,
    index: TermId,
    /// The values of the index, in order, and the first element that is loaded for each.
    places: Vec<(i64, u64)>,
    table: Table,
    format: Format,
    /// The number of elements that are loaded.
    count: usize,
}

impl Lookup {
    /// Whether two lanes choose from as many elements of one memory by the same values.
    fn is_like(&self, other: &Lookup) -> bool {
        let values = |of: &Lookup| of.places.iter().map(|(value, _)| *value).collect::<Vec<_>>();
        let are_alike = self.table == other.table && self.format == other.format && self.count == other.count;
        are_alike && values(self) == values(other)
    }
}

/// What a lookup is to load, from so far behind its addresses.
#[derive(Clone, Copy)]
pub(super) struct Sought {
    pub(super) space: Space,
    pub(super) offset: i64,
    pub(super) bytes: u32,
    /// The bytes of an element; if `None`, those of one of the memory.
    pub(super) element: Option<u32>,
}

impl Sought {
    /// What an instruction loads; `None` where it is no load, or does more.
    pub(super) fn of(op: &Op) -> Option<Sought> {
        let Op::Load { access, space, address, width, d } = op else { return None };
        let bytes = width.bytes() * d.len() as u32;
        let is_plain = !access.leads_nowhere && access.ahead_of.is_none();
        let element = Some(width.bytes());
        is_plain.then_some(Sought { space: *space, offset: address.offset, bytes, element })
    }
}

impl ByCases<'_, '_> {
    /// A load at one of some addresses, by the value of an index, as a lookup; `None` where it is executed at each
    /// address, as accesses are that may do more than read reals.
    pub(super) fn as_lookup(
        &self,
        sought: Sought,
        index: TermId,
        addresses: &[(i64, u64)],
    ) -> Option<Lookup> {
        let (cta, warp, lane) = (&*self.cta, &*self.warp, self.lane);
        let terms = &cta.values.terms;
        let is_plain = cta.class.is_none()
            && cta.patterns.is_none()
            && cta.sync.products.is_empty()
            && terms.survey.is_none()
            && !terms.store.explains()
            && !terms.store.is_ieee();
        let (_, first) = addresses.first().filter(|_| is_plain && addresses.len() > 1)?;
        let (own, inner) =
            owned(locate(sought.space, first.wrapping_add_signed(sought.offset)), warp.thread(lane));
        let (number, at_first) = cta.context.found(warp, own, inner)?;
        let object = cta.context.launch.objects.get(number);
        let input = cta.context.unwritten_input(object);
        let (size, bytes) = (sought.element.or(input.map(|(_, own)| own))?.into(), u64::from(sought.bytes));
        let count = (bytes / size) as usize;
        let last = object.size.checked_sub(bytes)?;
        if object.align.min(object.declared) < bytes || !bytes.is_multiple_of(size) {
            return None;
        }
        let element = |(value, address): &(i64, u64)| {
            let offset = at_first.checked_add(address.wrapping_sub(*first).cast_signed())?;
            let offset = u64::try_from(offset).ok()?;
            (offset <= last && offset.is_multiple_of(bytes)).then_some((*value, offset / size))
        };
        let places: Vec<(i64, u64)> = addresses.iter().map(element).collect::<Option<_>>()?;
        if let Some((word, own)) = input {
            let SymKind::Real(format, zero) = Sym::from_raw(word).kind() else { return None };
            let table = Table::Input(zero);
            return (u64::from(own) == size).then_some(Lookup { lane, index, places, table, format, count });
        }
        let (Backing::Shared(first), Detector::Epoch(_)) = (object.backing, &cta.sync.order) else {
            return None;
        };
        if size != 4 || object.rank != warp.rank {
            return None;
        }
        let format_at = |cell: u64| real_at(cta, first, cell).map(|(format, _)| format);
        let cells = places.iter().flat_map(|(_, element)| *element..element + count as u64);
        let mut formats = cells.map(format_at);
        let format = formats.next()??;
        let are_alike = formats.all(|other| other == Some(format));
        are_alike.then_some(Lookup { lane, index, places, table: Table::Shared(first), format, count })
    }
}

impl Cta<'_> {
    /// Executes lookups of one load; returns for each lane the elements that are taken, by their numbers.
    pub(super) fn look_up(
        &mut self,
        warp: &Warp,
        mut lookups: Vec<Lookup>,
        is_taken: impl Fn(usize) -> bool,
        pc: InstId,
    ) -> Result<Vec<(Lane, usize, Value)>, Stop> {
        let mut found = Vec::new();
        while let Some(first) = lookups.first() {
            let (alike, others) = lookups.iter().partition::<Vec<_>, _>(|other| first.is_like(other));
            debug_assert!(!alike.is_empty());
            self.work.counts.warp_instructions += (alike.len() * first.places.len()) as u64;
            self.check_budgets()?;
            for step in 0..first.count {
                let Some(chosen) = looked_up(self, warp, &alike, step as u64, is_taken(step), pc)? else {
                    continue;
                };
                for lookup in &alike {
                    let value = Sym::real(lookup.format, TermId::from_raw(chosen[lookup.lane]));
                    found.push((lookup.lane, step, Value::Sym(value)));
                }
            }
            let left = others.iter().map(|lookup| lookup.lane).collect::<LaneMask>();
            lookups.retain(|lookup| left.contains(lookup.lane));
        }
        Ok(found)
    }
}

/// The real in a cell of shared memory.
fn real_at(cta: &Cta<'_>, first: u32, cell: u64) -> Option<(Format, TermId)> {
    let content = cta.memory.shared[(u64::from(first) + cell) as usize];
    let Some(Value::Sym(sym)) = cta.values.terms.packed.part(content, 0, 4) else { return None };
    if let SymKind::Real(format, term) = sym.kind() { Some((format, term)) } else { None }
}

/// What lanes load that are alike, raw; `None` where nothing takes it.
fn looked_up(
    cta: &mut Cta<'_>,
    warp: &Warp,
    alike: &[&Lookup],
    step: u64,
    is_taken: bool,
    pc: InstId,
) -> Result<Option<[u64; 32]>, Stop> {
    let Some(first) = alike.first() else { return Ok(None) };
    let mut mask = LaneMask::NONE;
    let mut indices = [0; 32];
    for lookup in alike {
        mask |= LaneMask::of(lookup.lane);
        indices[lookup.lane] = lookup.index.raw();
    }
    let mut chosen: Option<[u64; 32]> = None;
    for (at, (value, _)) in first.places.iter().enumerate().rev() {
        let mut own = [0; 32];
        for lookup in alike {
            let element = lookup.places[at].1 + step;
            own[lookup.lane] = match lookup.table {
                Table::Input(zero) => zero.raw() + element,
                Table::Shared(first) => {
                    let (now, cell) = (cta.sync.now(warp), (u64::from(first) + element) as usize);
                    let epochs = &mut cta.memory.shared_epochs[cell];
                    if cta.memory.parts.read_by(Agent::Thread, (epochs, WHOLE), now, lookup.lane) {
                        return Err(Stop::NeedVectorClocks);
                    }
                    match real_at(cta, first, element) {
                        Some((_, term)) => term.raw(),
                        None => return Err(Stop::Defect("a load has changed shared memory")),
                    }
                }
            };
        }
        let is_same = |others: &[u64; 32]| mask.iter().all(|lane| own[lane] == others[lane]);
        chosen = match chosen.filter(|_| is_taken) {
            None => Some(own),
            Some(others) if is_same(&others) => Some(others),
            Some(others) => {
                let store = &mut cta.values.terms.store;
                let number = [whole(store, i128::from(*value)).raw(); 32];
                let is_this = store.push_shared(TermOp::Equal, mask, &[&indices, &number], pc).all();
                Some(store.push_shared(TermOp::Select, mask, &[&is_this, &own, &others], pc).all())
            }
        };
    }
    Ok(chosen.filter(|_| is_taken))
}
