//! Fixtures with their checked-in PTX, as input of the verifier.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use volta_core::case::Case;
use volta_test::discover::{Found, discover};
use volta_test::manifest;
use volta_test::nvcc::Toolchain;
use volta_test::run::ready;

/// The folder of all fixtures.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The time that verifying a fixture takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Much less than a second.
    Small,
    /// About a second.
    Large,
    /// Several seconds.
    Huge,
}

/// Prefixes of the names of fixtures that take a second or more; the longest matching prefix gives the size.
const SIZES: [(&str, Size); 40] = [
    ("attention::", Size::Huge),
    ("attention::small", Size::Large),
    ("attention_tensor::", Size::Huge),
    ("attention_tensor::small", Size::Large),
    ("causal::", Size::Huge),
    ("causal::small", Size::Large),
    ("cluster::gemm", Size::Large),
    ("cluster::pair", Size::Large),
    ("conv::", Size::Huge),
    ("conv::small", Size::Large),
    ("cute_dsl::", Size::Large),
    ("gemm::", Size::Large),
    ("gemm_tensor::gemm_", Size::Large),
    ("gemm_tensor::gemm_no_barrier_", Size::Huge),
    ("hopper::", Size::Large),
    ("hopper::flash_512", Size::Huge),
    ("hopper::pingpong_1024", Size::Huge),
    ("matmul::coalesced", Size::Large),
    ("matmul::column", Size::Large),
    ("matmul::naive", Size::Large),
    ("matmul::shared", Size::Large),
    ("matmul::square", Size::Large),
    ("matmul::tiled", Size::Large),
    ("matmul::vector", Size::Large),
    ("matmul::warp", Size::Large),
    ("pipeline::gemm", Size::Large),
    ("pipeline::tcgen05", Size::Large),
    ("pipeline::triton_", Size::Large),
    ("pipeline::wgmma", Size::Large),
    ("pipeline::wgmma_bytes_", Size::Huge),
    ("race::grad_input_one_warp", Size::Large),
    ("tilelang::", Size::Huge),
    ("tilelang::blackwell_", Size::Large),
    ("tilelang::hopper_", Size::Large),
    ("tilelang::small", Size::Large),
    ("tilelang::tile_32x32", Size::Large),
    ("triton::attention_", Size::Large),
    ("triton::layer_norm_", Size::Large),
    ("triton::matmul_", Size::Large),
    ("triton::softmax_", Size::Large),
];

/// The size of a fixture.
pub fn size(name: &str) -> Size {
    let fit = SIZES.iter().filter(|(start, _)| name.starts_with(start));
    fit.max_by_key(|(start, _)| start.len()).map_or(Size::Small, |(_, size)| *size)
}

/// Whether a test runs every time, of which one in so many does; with `VOLTA_SLOW=1` all do. It says nothing about what
/// [`drawn`] then chooses for the test.
pub fn in_sample(test: &str, of: usize) -> bool {
    let spread = (drawn(test) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    crate::in_full() || spread.is_multiple_of(of as u64)
}

/// A hash of a name, to choose by.
pub fn drawn(name: &str) -> usize {
    name.bytes().fold(0, |hash: usize, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)))
}

/// Of so many large fixtures, one runs every time.
const OF_LARGE: usize = 12;

/// Whether a test of a fixture of this size runs every time: all small ones do, some large ones, drawn by the test's
/// name, and no huge ones. With `VOLTA_SLOW=1` all do.
pub fn runs_every_time(size: Size, test: &str) -> bool {
    match size {
        Size::Small => true,
        Size::Large => in_sample(test, OF_LARGE),
        Size::Huge => crate::in_full(),
    }
}

/// Names and folders of all fixtures, by name; they are looked for once.
pub fn all() -> Vec<(String, PathBuf)> {
    static ALL: OnceLock<Vec<(String, PathBuf)>> = OnceLock::new();
    let look = || {
        let found = discover(&root()).into_iter();
        let case = |found| match found {
            Found::Case { name, dir, .. } => (name, dir),
            Found::Wrong { name, message } => panic!("{name}: {message}"),
        };
        found.map(case).collect()
    };
    ALL.get_or_init(look).clone()
}

/// The verifier's input for a fixture, with its checked-in PTX; `None` if the case is invalid on purpose. Proofs are
/// compared with evaluation where fixtures are verified as cases, and not once more by each suite that draws on them.
pub fn load(name: &str, dir: &Path) -> Option<Case> {
    let case = manifest::load(name, dir, &root()).ok()?;
    let mut case = ready(&case, &Toolchain::none()).ok()?;
    case.options.recheck = 0;
    Some(case)
}
