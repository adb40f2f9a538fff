//! Kernels that are read once for cases of many sizes.

use crate::case::{Case, KernelLaunch, Side, Which};
use crate::steps::{Loaded, Sides, load};

/// Sides that were read already: those of cases that differ in sizes.
pub(crate) struct Known {
    sides: [Option<(KernelLaunch, Loaded)>; 2],
}

impl Known {
    /// The kernels of a case both sides of which are one launch.
    pub(crate) fn of(case: &Case) -> Known {
        let known = |which, side: Option<&Side>| {
            let side = side?;
            Some((side.only()?.clone(), load(which, side).ok()?))
        };
        Known {
            sides: [known(Which::Reference, case.reference.as_ref()), known(Which::Opt, Some(&case.opt))],
        }
    }

    /// The sides of a case, of which those with the same kernel need not be read.
    pub(crate) fn sides(&self, case: &Case) -> Sides {
        let reference = case.reference.as_ref();
        let reference = reference.and_then(|reference| self.side(Which::Reference, reference));
        Sides::known([reference, self.side(Which::Opt, &case.opt)])
    }

    /// A side, if it has the same kernel.
    fn side(&self, which: Which, side: &Side) -> Option<Loaded> {
        let (known, loaded) = self.sides[usize::from(which == Which::Opt)].as_ref()?;
        let kernel = side.only()?;
        let is_same = (&known.ptx, &known.path, &known.kernel) == (&kernel.ptx, &kernel.path, &kernel.kernel);
        is_same.then(|| loaded.clone())
    }
}
