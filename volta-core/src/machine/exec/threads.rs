//! Groups of threads that execute an operation together.

use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::accesses::Accesses;
use crate::machine::exec::access::affine_memory::Places;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::program::{Address, InstId, PredId, RegId, Space, Src, Width};
use crate::term::{Pattern, Store, TermOp};
use crate::value::Sym;
use crate::value::register::{Affine, Held};

/// A group of threads with thread numbers of `B` bits.
pub(crate) trait Group<const B: usize> {
    /// The first warp of the group.
    fn first(&self) -> &Warp;

    /// The contents of a register in all threads, if they are affine.
    fn held(&mut self, register: RegId) -> Option<Held<B>>;

    /// Sets a register in all threads.
    fn hold(&mut self, register: RegId, held: Held<B>);

    /// Sets a predicate to one value in all threads.
    fn decide(&mut self, predicate: PredId, holds: bool);

    /// Appends one node for each warp. The operands are not all uniform.
    fn push(&self, store: &mut Store, op: TermOp, operands: &[Affine<B>], pc: InstId) -> Option<Affine<B>>;

    /// Loads from memory other than read-only inputs. Returns false where the fast path does not suffice.
    fn load(
        &mut self,
        accesses: &mut Accesses<'_, '_>,
        places: &Places<'_, B>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop>;

    /// Stores registers. Returns false where there is no fast path, or it does not suffice.
    fn store(
        &mut self,
        _: &mut Accesses<'_, '_>,
        _: (Space, Address),
        _: Width,
        _: &[Src],
    ) -> Result<bool, Stop> {
        Ok(false)
    }
}

/// One lane of a warp.
pub(super) struct OneThread<'w> {
    pub(crate) warp: &'w mut Warp,
    pub(crate) lane: Lane,
}

impl Group<0> for OneThread<'_> {
    #[inline]
    fn first(&self) -> &Warp {
        self.warp
    }

    #[inline]
    fn held(&mut self, register: RegId) -> Option<Held<0>> {
        self.warp.register(register).get(self.lane).as_word().map(Held::uniform)
    }

    #[inline]
    fn hold(&mut self, register: RegId, held: Held<0>) {
        self.warp.register_mut(register).set(self.lane, held.first());
    }

    #[inline]
    fn decide(&mut self, predicate: PredId, holds: bool) {
        self.warp.predicate_mut(predicate).merge_bits(LaneMask::of(self.lane), LaneMask::all_if(holds));
    }

    fn push(&self, _: &mut Store, _: TermOp, _: &[Affine<0>], _: InstId) -> Option<Affine<0>> {
        None
    }

    /// Loads words of the thread's local memory.
    #[inline]
    fn load(
        &mut self,
        accesses: &mut Accesses<'_, '_>,
        places: &Places<'_, 0>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        for (step, target) in d.iter().enumerate() {
            let Some(word) = accesses.values.terms.packed.own_word(self.warp, self.lane, places, width, step)
            else {
                return Ok(false);
            };
            if let Some(target) = target {
                self.warp.register_mut(*target).set(self.lane, word);
            }
        }
        Ok(true)
    }
}

/// All lanes of a warp.
pub(super) struct WholeWarp<'w>(pub(crate) &'w mut Warp);

impl Group<5> for WholeWarp<'_> {
    #[inline]
    fn first(&self) -> &Warp {
        self.0
    }

    #[inline]
    fn held(&mut self, register: RegId) -> Option<Held> {
        self.0.register(register).held()
    }

    #[inline]
    fn hold(&mut self, register: RegId, held: Held) {
        self.0.register_mut(register).set_affine(held.words, held.symbolic);
    }

    #[inline]
    fn decide(&mut self, predicate: PredId, holds: bool) {
        self.0.predicate_mut(predicate).merge_bits(LaneMask::ALL, LaneMask::all_if(holds));
    }

    #[inline]
    fn push(&self, store: &mut Store, op: TermOp, operands: &[Affine], pc: InstId) -> Option<Affine> {
        let mut patterns = [Pattern::Strides(Affine::uniform(0)); 3];
        for (pattern, terms) in patterns.iter_mut().zip(operands) {
            *pattern = Pattern::Strides(*terms);
        }
        let results = store.push_patterns(op, &patterns[..operands.len()], pc);
        let stride = results.lane(Lane::at(1)).wrapping_sub(results.lane(Lane::FIRST));
        Some(Affine::strided(results.lane(Lane::FIRST), stride.cast_signed()))
    }

    #[inline]
    fn load(
        &mut self,
        accesses: &mut Accesses<'_, '_>,
        places: &Places<'_>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        accesses.load_shared_words(self.0, places, width, d)
    }

    #[inline]
    fn store(
        &mut self,
        accesses: &mut Accesses<'_, '_>,
        (space, address): (Space, Address),
        width: Width,
        a: &[Src],
    ) -> Result<bool, Stop> {
        let Some(addresses) = accesses.context.addresses_of(self, address) else { return Ok(false) };
        accesses.store_shared_words(self.0, (space, addresses), width, a)
    }
}

/// Raw term ids of reals in a format, as the contents of a register.
#[inline]
pub(crate) fn reals<const B: usize>(format: Format, terms: Affine<B>) -> Held<B> {
    Held { words: Affine { first: Sym::real_tag(format) | terms.first, ..terms }, symbolic: true }
}
