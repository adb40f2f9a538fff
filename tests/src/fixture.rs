//! Fixtures with their checked-in PTX, as the verifier is given them.

use std::path::{Path, PathBuf};

use volta_core::case::Case;
use volta_test::discover::{Found, discover};
use volta_test::manifest;
use volta_test::nvcc::Toolchain;
use volta_test::run::ready;

/// The folder of all fixtures.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Beginnings of the names of fixtures at full size, which run for a second or more.
const LARGE: [&str; 25] = [
    "cluster::gemm",
    "cluster::pair",
    "cute_dsl::",
    "matmul::tiled",
    "matmul::naive",
    "matmul::coalesced",
    "matmul::shared",
    "matmul::column",
    "matmul::square",
    "matmul::vector",
    "matmul::warp",
    "gemm::",
    "gemm_tensor::gemm_",
    "tilelang::blackwell_",
    "tilelang::hopper_",
    "tilelang::tile_32x32",
    "pipeline::gemm",
    "pipeline::tcgen05",
    "pipeline::triton_",
    "pipeline::wgmma",
    "hopper::",
    "triton::attention_",
    "triton::layer_norm_",
    "triton::matmul_",
    "triton::softmax_",
];

/// Of those that run for several seconds. Their reduced versions are called small, and take up to a second.
const HUGE: [&str; 7] = [
    "attention::",
    "attention_tensor::",
    "causal::",
    "conv::",
    "tilelang::",
    "hopper::flash_512",
    "hopper::pingpong_1024",
];

/// How much there is to do for a fixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Next to nothing.
    Small,
    /// A second.
    Large,
    /// Several seconds.
    Huge,
}

/// The size of a fixture.
pub fn size(name: &str) -> Size {
    let is_one_of = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    let reduced = name.contains("::small");
    match (is_one_of(&LARGE), is_one_of(&HUGE)) {
        (_, true) if reduced => Size::Large,
        (true, _) => Size::Large,
        (false, true) => Size::Huge,
        (false, false) => Size::Small,
    }
}

/// A number that depends on a name.
pub fn drawn(name: &str) -> usize {
    name.bytes().fold(0, |hash: usize, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)))
}

/// Whether a test of a fixture of this size runs every time: a small one does, of large ones one in four, drawn by the
/// test's name, and of huge ones none. With `VOLTA_SLOW=1` all do.
pub fn runs_every_time(size: Size, test: &str) -> bool {
    std::env::var_os("VOLTA_SLOW").is_some()
        || match size {
            Size::Small => true,
            Size::Large => drawn(test).is_multiple_of(4),
            Size::Huge => false,
        }
}

/// Names and folders of all fixtures, by name.
pub fn all() -> Vec<(String, PathBuf)> {
    let found = discover(&root()).into_iter();
    found
        .map(|found| match found {
            Found::Case { name, dir } => (name, dir),
            Found::Wrong { name, message } => panic!("{name}: {message}"),
        })
        .collect()
}

/// What the verifier is given for a fixture, from its checked-in PTX; `None` where a case is wrong on purpose.
pub fn load(name: &str, dir: &Path) -> Option<Case> {
    let case = manifest::load(name, dir, &root()).ok()?;
    ready(&case, &Toolchain::none()).ok()
}
