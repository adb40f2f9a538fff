//! Volta's verifier: PTX in, verdicts out.
//!
//! No files, no processes, no terminal: strings and data in, data out.
//!
//! ```
//! use volta_core::case::{Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role};
//! use volta_core::verdict::Verdict;
//!
//! /// A kernel in which each thread loads a float, computes, and stores the result.
//! fn kernel(computes: &str) -> KernelLaunch {
//!     let ptx = format!(
//!         ".version 8.0
//!         .target sm_80
//!         .address_size 64
//!         .visible .entry k(.param .u64 x, .param .u64 y) {{
//!             .reg .b32 %r;  .reg .f32 %f;  .reg .b64 %x, %y, %at;
//!             ld.param.u64 %x, [x];
//!             ld.param.u64 %y, [y];
//!             mov.u32 %r, %tid.x;
//!             mul.wide.u32 %at, %r, 4;
//!             add.s64 %x, %x, %at;
//!             add.s64 %y, %y, %at;
//!             ld.global.f32 %f, [%x];
//!             {computes}
//!             st.global.f32 [%y], %f;
//!             ret;
//!         }}"
//!     );
//!     KernelLaunch { ptx, path: "k.ptx".into(), kernel: None, arguments: None, launch: Launch::of_threads(64) }
//! }
//!
//! /// 64 floats.
//! fn tensor(name: &str, role: Role) -> Param {
//!     let float = Element::parse("f32").expect("it is a type");
//!     let contents = Contents::of_role(role);
//!     let kind =
//!         ParamKind::Tensor { reference: float, opt: float, shape: vec![64], role, contents, assumed: Assumed::default() };
//!     Param::new(name, kind, Binding::Argument)
//! }
//!
//! let case = |opt| Case {
//!     params: vec![tensor("x", Role::In), tensor("y", Role::Out)],
//!     reference: Some(kernel("add.f32 %f, %f, %f;").into()),
//!     opt: kernel(opt).into(),
//!     options: Options::default(),
//! };
//! assert!(matches!(volta_core::verify(&case("mul.f32 %f, %f, 0f40000000;")).verdict, Verdict::Equivalent)); // 2
//! assert!(matches!(volta_core::verify(&case("mul.f32 %f, %f, 0f40400000;")).verdict, Verdict::Different(_))); // 3
//! ```

pub mod accuracy;
pub mod algebra;
pub mod base;
pub mod bits;
mod by_classes;
pub mod case;
pub mod certificate;
pub mod circuit;
mod claims;
mod concurrency;
mod conditions;
pub mod decide;
mod element_map;
mod every_size;
mod finite;
pub mod formula;
mod given;
pub mod graph;
mod graph_step;
mod infeasible;
pub mod inspect;
pub mod launch;
pub mod library;
pub mod lint;
mod literals;
pub mod machine;
mod multiset;
mod nearest;
pub mod number;
mod part;
mod precision;
pub mod program;
mod progress;
pub mod ptx;
pub mod rust_reference;
mod sound_case;
mod steps;
pub mod term;
mod unused;
mod value;
pub mod verdict;
mod verify;

pub use conditions::Conditions;
pub use every_size::{EverySize, verify_every_size};
pub use verify::{Formulas, SideFormula, conditions, formulas, verify};

/// The level at which this crate was compiled: `0` for a debug build, which takes many times as long as `3`.
pub const OPT_LEVEL: &str = env!("COMPILED_AT_LEVEL");

/// A digest of this crate's source, by which programs tell whether they have the same verifier.
pub const SOURCE_DIGEST: &str = env!("DIGEST_OF_SOURCE");
