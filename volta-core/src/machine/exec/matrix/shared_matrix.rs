//! Matrices in shared memory that descriptors define (rules Y12, Y14): the location and the values of their elements.

use crate::base::lane::Lane;
use crate::case::Swizzle;
use crate::concurrency::agent::Agent;
use crate::concurrency::clock::AsyncSpace;
use crate::launch::objects::{Backing, pretty_name};
use crate::launch::tensor_map::{PIECE, swizzled};
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::{At, Warp};
use crate::program::matrix::MatrixElement;
use crate::program::{InstId, Space, VariableId};
use crate::value::Value;
use crate::verdict::FaultKind;

/// The address bits of a descriptor.
const ADDRESS: u64 = (1 << 18) - 1;

/// A matrix in shared memory, from its descriptor (ISA, Matrix Descriptor Format).
pub(crate) struct Layout {
    start: u64,
    leading: u64,
    stride: u64,
    /// Two bits above the address are 0: additions to the address stayed inside shared memory, and carries do not
    /// depend on where the matrix lies.
    is_inside: bool,
    swizzle: Swizzle,
    k_major: bool,
}

impl Layout {
    /// Decodes a descriptor of `wgmma`, if it is supported.
    pub(super) fn of_warpgroup(descriptor: u64, k_major: bool) -> Option<Layout> {
        let swizzle = match descriptor >> 62 {
            0 => Swizzle::None,
            1 => Swizzle::B128,
            2 => Swizzle::B64,
            _ => Swizzle::B32,
        };
        Layout::new(descriptor, swizzle, k_major)
    }

    /// Decodes the fields that all descriptors have.
    pub(crate) fn new(descriptor: u64, swizzle: Swizzle, k_major: bool) -> Option<Layout> {
        let field = |low: u32| (descriptor >> low & 0x3fff) << 4;
        // A base offset: the pattern does not start at a multiple of its size.
        let is_shifted = descriptor >> 49 & 7 != 0 && swizzle != Swizzle::None;
        (!is_shifted).then_some(Layout {
            start: field(0),
            leading: field(16),
            stride: field(32),
            is_inside: descriptor >> 14 & 3 == 0,
            swizzle,
            k_major,
        })
    }

    /// Offset of a piece of 16 bytes in shared memory, before swizzling (ISA, Canonical Layouts). If neighbours in k
    /// are neighbours in memory, `row` is a row and `step` a step of 16 bytes in k; otherwise `row` is a row in k and
    /// `step` a step of 16 bytes in m or n.
    fn piece(&self, row: u64, step: u64) -> u64 {
        let span = self.swizzle.span().max(PIECE);
        let (group, inside) = (row / 8, row % 8);
        let steps = span / PIECE;
        let offset = match (self.k_major, self.swizzle) {
            (true, Swizzle::None) => group * self.stride + inside * span + step * self.leading,
            (true, Swizzle::B32 | Swizzle::B64 | Swizzle::B128) => {
                group * self.stride + inside * span + step * PIECE
            }
            (false, Swizzle::None) => group * self.leading + inside * span + step * self.stride,
            (false, Swizzle::B32 | Swizzle::B64 | Swizzle::B128) => {
                group * self.stride + inside * span + step / steps * self.leading + step % steps * PIECE
            }
        };
        self.start + offset
    }
}

/// An operation that accesses matrices in memory by itself, on behalf of some lanes: it knows what all of them know.
pub(super) struct Operation<'w> {
    pub(crate) warp: &'w mut Warp,
    pub(crate) readers: &'w [Lane],
    pub(crate) pc: InstId,
    pub(crate) number: u32,
}

impl Operation<'_> {
    /// The lane that messages name.
    pub(super) fn at(&self) -> At<'_> {
        At { warp: self.warp, lane: self.readers.first().copied().unwrap_or_default(), pc: self.pc }
    }
}

/// A matrix in the shared memory of the CTA `rank` of the cluster, in the variable `of` if that is known.
#[derive(Clone, Copy)]
pub(super) struct SharedMatrix<'m> {
    pub(crate) layout: &'m Layout,
    pub(crate) of: Option<VariableId>,
    pub(crate) rank: u32,
}

/// Called for each element of a matrix, with its row in m or n and its place in k.
pub(super) type Take<'t> =
    dyn FnMut(&mut Accesses<'_, '_>, At<'_>, (usize, usize), Value) -> Result<(), Stop> + 't;

impl Accesses<'_, '_> {
    /// Reads a matrix in shared memory with this extent in m or n, and in k, and passes its elements to `take` as terms.
    pub(super) fn read_factor(
        &mut self,
        by: &mut Operation<'_>,
        matrix: SharedMatrix<'_>,
        (element, extent): (MatrixElement, (usize, usize)),
        take: &mut dyn FnMut((usize, usize), u64),
    ) -> Result<(), Stop> {
        self.read_shared_matrix(by, matrix, (element.bytes(), extent), &mut |accesses, at, place, value| {
            take(place, accesses.values.matrices().raw_element(at, element, value)?);
            Ok(())
        })
    }

    /// Like [`Self::read_factor`], with elements of `bytes` bytes each as values.
    pub(super) fn read_shared_matrix(
        &mut self,
        by: &mut Operation<'_>,
        SharedMatrix { layout, of, rank }: SharedMatrix<'_>,
        (bytes, (rows, k)): (u32, (usize, usize)),
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        let At { warp, lane, pc } = by.at();
        if !layout.is_inside {
            let message = "the address in a matrix descriptor is not one in shared memory".to_string();
            return Err(self.context.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
        }
        let Some(of) = of else {
            let message =
                "it is not known in which variable in shared memory the matrix of a descriptor lies";
            let sites = vec![self.context.site("reads the matrix".into(), warp, lane, pc)];
            let help = Some("compute the descriptor from the address of one variable, in registers".into());
            return Err(self.context.fault_at(
                FaultKind::Nondeterministic,
                "M1",
                message.into(),
                sites,
                help,
            ));
        };
        let window = self.context.launch.objects.address(of, rank) & !ADDRESS;
        let space = if rank == warp.rank { Space::Shared } else { Space::Cluster };
        let proxy = Some(AsyncSpace::Shared(rank));
        let agent = Agent::Copy { number: by.number, proxy, update: None };
        let inside = (PIECE / u64::from(bytes)) as usize;
        let (outer, steps) = if layout.k_major { (rows, k / inside) } else { (k, rows.div_ceil(inside)) };
        for row in 0..outer {
            for step in 0..steps {
                let address = swizzled(layout.swizzle, window + layout.piece(row as u64, step as u64));
                let mut offsets = [0; 32];
                let place = (space, address);
                let piece = PIECE as u32;
                let access = LaneAccess { place, bytes: piece, alignment: piece, agent, writes: false };
                let at = self.locate_lane(by.warp, lane, pc, access, &mut offsets)?;
                self.context.holds_matrices(by.warp, &at, false)?;
                self.values.terms.lies_by_pattern(by.warp, &at, layout.swizzle)?;
                for within in 0..inside {
                    let offset = at.offsets[lane] + within as u64 * u64::from(bytes);
                    // Checked once for a cell, at its first element.
                    let checked = if offset.is_multiple_of(4) { by.readers } else { &[] };
                    for reader in checked {
                        self.read_cell(by.warp, *reader, &at, offset / 4, 0xf)?;
                    }
                    let value = self.held_value(by.warp, lane, &at, offset, bytes)?;
                    let along = step * inside + within;
                    let place = if layout.k_major { (row, along) } else { (along, row) };
                    if place.0 < rows {
                        take(self, by.at(), place, value)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl ValueTerms<'_> {
    /// Checks that the object's alignment determines the position of the swizzle pattern.
    pub(crate) fn lies_by_pattern(
        &self,
        warp: &Warp,
        at: &WarpAccess<'_>,
        swizzle: Swizzle,
    ) -> Result<(), Stop> {
        let Backing::Shared(_) = at.object.backing else { return Ok(()) };
        let pattern = 8 * swizzle.span();
        if at.object.align < pattern {
            let name = pretty_name(&at.object.name);
            let message = format!(
                "a swizzle depends on the position of `{name}` within {pattern} bytes, but it is only aligned to {}",
                at.object.declared
            );
            let lane = at.mask.first();
            let site = self.context.site("reads or writes it".into(), warp, lane, at.pc);
            let help = format!("declare it with `__align__({pattern})`");
            return Err(self.context.fault_at(FaultKind::Misaligned, "M1", message, vec![site], Some(help)));
        }
        if at.object.declared < pattern {
            self.relied.on_alignment(at.number, pattern);
        }
        Ok(())
    }
}
