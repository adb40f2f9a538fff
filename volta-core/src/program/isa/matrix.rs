//! Tensor cores.

use super::{Row, unsupported};

const WHY: &str = "tensor cores are not done yet";

pub(super) const ROWS: &[Row] = &[
    unsupported("ldmatrix", "Warp Level Matrix Instructions: ldmatrix", WHY),
    unsupported("stmatrix", "Warp Level Matrix Instructions: stmatrix", WHY),
    unsupported("movmatrix", "Warp Level Matrix Instructions: movmatrix", WHY),
    unsupported("mma", "Warp Level Matrix Instructions: mma", WHY),
    unsupported("wmma", "Warp Level Matrix Instructions: wmma", WHY),
    unsupported("wgmma", "Asynchronous Warpgroup Level Matrix Instructions: wgmma", WHY),
    unsupported("tcgen05", "TensorCore 5th Generation Family Instructions: tcgen05", WHY),
];
