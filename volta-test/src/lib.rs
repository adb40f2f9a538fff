//! Verify GPU kernels with `cargo test`.
//!
//! Volta proves that an optimized kernel computes what its reference computes, for every input, with floats taken as
//! real numbers, and that it has no data race, no deadlock and no access out of bounds. It reads PTX and needs no GPU.
//!
//! # In a test
//!
//! The signature declares what the kernels are launched with: `&[T; N]` is an input, `&mut [T; N]` an output, a scalar
//! has the value it is launched with.
//!
//! ```no_run
//! use volta_test::prelude::*;
//!
//! #[verify_equiv(
//!     reference = "../../fixtures/softmax/softmax.cu::softmax_naive", // relative to this file
//!     opt = "../../fixtures/softmax/softmax.cu::softmax_online",
//!     block = 128,
//! )]
//! fn softmax(x: &[f32; 128], y: &mut [f32; 128], #[value(128)] n: i32);
//! ```
//!
//! This is a `#[test]` in an ordinary test file. In a target with `harness = false` and `volta_test::main!();` it is a
//! trial of Volta's own runner, which also runs folders:
//!
//! # In a folder
//!
//! `fixtures/<family>/<case>/volta.toml` names kernels, tensors and the expected verdict; no Rust is written.
//! `volta_test::main!(fixtures = "fixtures");` makes each a test called `family::case`, and `cargo volta check fixtures` runs
//! them from the command line.
//!
//! # Compilers
//!
//! `nvcc` is found through `VOLTA_NVCC`, `NVCC`, `CUDA_HOME`, `CUDA_PATH`, `PATH` and the usual folders. Without one,
//! the PTX checked in beside a source (`x.sm_80.ptx` beside `x.cu`, made by `cargo volta refresh`) is verified.

pub mod accuracy;
pub mod attempt;
pub mod beside;
pub mod builder;
pub mod cache;
pub mod case;
pub mod cli;
mod contents;
pub mod declared;
pub mod discover;
pub mod files;
pub mod limits;
pub mod manifest;
mod members;
pub mod number;
pub mod nvcc;
pub mod prepare;
pub mod registry;
pub mod render;
pub mod reproduction;
pub mod run;
pub mod runner;
pub mod size;
pub mod snapshot;
mod speed;
pub mod z3;

pub use volta_macros::{verify_equiv, verify_kernel};

/// What test files use.
pub mod prelude {
    pub use crate::{verify_equiv, verify_kernel};
    pub use volta_core::graph::trace::{Int, Real, Truth, maximum, minimum, pick, select};
}

/// What the macros expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use inventory;
    pub use volta_case::Value::{Counts, Flag, Number, Text, Texts};
    pub use volta_core::case::{
        Argument, Assumed, Contents, Elements, Member, Region, Role, ScalarValue, Sign, Which,
    };

    pub use crate::builder::{
        Builder, count, element, extent, float, integer, length, literal, named, real, size, typed,
    };
    pub use crate::registry::Registered;
    pub use crate::runner::{Suite, main};
    pub use volta_core::graph::trace;
}

/// The `main` of a test target with `harness = false`: runs the crate's attribute cases, and fixture folders.
///
/// ```no_run
/// volta_test::main!(fixtures = "../fixtures"); // relative to the crate's manifest; or only `main!();`
/// ```
#[macro_export]
macro_rules! main {
    ($(fixtures = $path:literal),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::main($crate::__private::Suite {
                manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
                fixtures: &[$($path),*],
            })
        }
    };
}
