//! The sizes at which a kernel begins to do something else: those that a family should have.

use std::collections::BTreeMap;

use crate::base::index::InstId;
use crate::case::{Case, KernelLaunch, Which};
use crate::launch::place_in;
use crate::program::{Int2, Op, Src};
use crate::steps::read;
use crate::verdict::{InputError, Place};

/// Numbers beyond this one are no sizes of a test.
const LARGEST: u64 = 1 << 16;

/// A number around which sizes matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Landmark {
    /// The number.
    pub size: u64,
    /// Why, as a part of a sentence: "a block has 128 threads".
    pub why: String,
    /// The instruction that has the number, if one does.
    pub place: Option<Place>,
}

impl Landmark {
    fn of(size: u64, why: String) -> Landmark {
        Landmark { size, why, place: None }
    }
}

/// The numbers around which sizes matter for the kernels of a case: those of threads, and those with which its code
/// compares or by which its loops step. Each is told once, by its first reason; ascending.
///
/// # Errors
/// When a kernel cannot be read.
pub fn landmarks(case: &Case) -> Result<Vec<Landmark>, InputError> {
    let mut known: BTreeMap<u64, Landmark> = BTreeMap::new();
    let mut note = |landmark: Landmark| {
        if (1..=LARGEST).contains(&landmark.size) {
            known.entry(landmark.size).or_insert(landmark);
        }
    };
    note(Landmark::of(1, "it is the smallest".into()));
    let sides = case.reference.iter().map(|side| (Which::Reference, side)).chain([(Which::Opt, &case.opt)]);
    for (which, side) in sides {
        for (at, kernel) in side.launches() {
            of_launch(kernel, &mut note);
            let program = read(which, kernel, at)?;
            for (at, inst) in program.insts.iter().enumerate() {
                let mut found = None;
                if let Op::SetpInt { a, b, .. } = &inst.op {
                    found = [a, b].into_iter().find_map(number).map(|own| (own, "compares with"));
                } else if let Op::Int2 { op: Int2::Add, d, a: Src::Reg(a), b, .. } = &inst.op
                    && d == a
                {
                    // A register that grows by a constant steps through a loop.
                    found = number(b).map(|own| (own, "steps by"));
                }
                if let Some((size, does)) = found.filter(|(size, _)| *size > 1) {
                    let place = place_in(&program, &kernel.ptx, InstId::from_index(at));
                    let why = format!("`{}` {does} {size}", program.name);
                    note(Landmark { size, why, place });
                }
            }
        }
    }
    Ok(known.into_values().collect())
}

fn of_launch(kernel: &KernelLaunch, note: &mut impl FnMut(Landmark)) {
    let all = |extent: [u32; 3]| extent.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let (threads, blocks) = (all(kernel.launch.block), all(kernel.launch.grid));
    if threads > 32 {
        note(Landmark::of(32, "a warp has 32 threads".into()));
    }
    if threads > 1 {
        note(Landmark::of(threads, format!("a block has {threads} threads")));
    }
    if blocks > 1 && threads > 1 {
        let size = threads.saturating_mul(blocks);
        note(Landmark::of(size, format!("{blocks} blocks have {size} threads")));
    }
}

/// A number that is written in the code.
fn number(operand: &Src) -> Option<u64> {
    match operand {
        Src::Imm(bits) => Some(*bits),
        Src::Reg(_) | Src::Symbol(..) => None,
    }
}
