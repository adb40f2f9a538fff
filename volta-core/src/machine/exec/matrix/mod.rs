//! Products of matrices (rules Y12, Y14): fragments in registers, factors in shared memory, and tensor memory.
//!
//! A product that completes on its own is an agent of its own to the race detectors. Other accesses of memory, and waits,
//! are beside this folder.

pub(crate) mod matrix_element;
pub(crate) mod mma;
pub(crate) mod shared_matrix;
pub(crate) mod tensor_copy;
pub(crate) mod tensor_memory;
pub(crate) mod tensor_pair;
pub(crate) mod tensor_product;
pub(crate) mod tensor_scales;
pub(crate) mod tensor_shape;
pub(crate) mod warpgroup;
pub(crate) mod wmma;
