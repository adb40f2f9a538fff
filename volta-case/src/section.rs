//! The sections of a case, and their keys.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::element::{Literals, Swizzle, Which, WmmaLayout};
use crate::key::{Field, Key, Section, Takes, Value, read_word, section};
use crate::limit::Limits;
use crate::max_error::MaxError;
use crate::verdict::{Claim, VerdictName};
use crate::word::{Wrong, choose};

/// The version of the format of `volta.toml`, which a case may give. A change that older programs would misread raises it.
pub const FORMAT_VERSION: u64 = 1;

/// The top level.
pub const CASE: &[Key] = &[
    Key::own("version", "the version of this file's format: 1, which is also the default"),
    Key::own("description", "what the case is about, in words"),
    Key::own("family", "variables: the case is verified for each of their values, [below](#family)"),
    Key::own("params", "tensors and scalars, below"),
    Key::own("globals", "variables of the module, below"),
    Key::own("tensor_maps", "how tensors are cut into boxes (`CUtensorMap`), below"),
    Key::own("reference", "with `[opt]`: the kernels of a pair, below"),
    Key::own("opt", "with `[reference]`: the kernels of a pair, below"),
    Key::own("kernel", "in place of both: one kernel alone, below"),
    Key::own("expect", "the verdict that makes the case pass, below"),
    Key::own("options", "relaxations and limits, below"),
    Key::own(
        "contains",
        "`[[contains]]`, any number of times: a text that a side's PTX must contain, below. So the case fails when a \
         compiler removes the code that it tests",
    ),
];

/// What a document has besides, that brings its sources along.
pub const DOCUMENT: &[Key] = &[
    Key::own("name", "the name of the case; default `stdin`"),
    Key::own(
        "sources",
        "the texts of all sources and of what they include, by the names used in `source`; contents of tensors, by the \
         names used in `contents`, are `{ \"base64\": \"…\" }`",
    ),
];

/// What is assumed of symbolic elements, one by one.
const SIGN: Key = Key::own("assume", "sign of every symbolic element: {signs}");

const RANGE: Key = Key::own(
    "range",
    "the least and the greatest value of every symbolic element, `[0, 9]`; of floats, with `claim = \"finite\"` only. It is listed with the verdict",
);

/// What is assumed of symbolic elements together.
const ELEMENTS: Key = Key::own(
    "elements",
    "of a tensor of integers: what its symbolic elements are together: {elements_together}",
);

/// A parameter, or a variable of the module.
pub const PARAM: &[Key] = &[
    Key::own("role", "of a tensor: {roles}"),
    Key::own(
        "type",
        "element type: {elements} (a byte that is 0 or 1); or one for each side, `{ ref = \"f32\", opt = \"f16\" }`, \
         where both sides get the same numbers; or the fields of a [struct](#tensors-of-structs)",
    ),
    Key::own(
        "shape",
        "of a tensor: `[16, 64]`, outermost dimension first, row-major; `[]` is one element; `128` is short for `[128]`",
    ),
    Key::own(
        "contents",
        "of a tensor before the launch: `\"symbolic\"` (any reals; default of `in` and `inout`), `\"undefined\"` \
         (default of the others), `{ fill = 0 }`, `{ fill = \"-inf\" }`, `{ fill = 0, symbolic = \"lower\" }` (any reals in a part of \
         the last two dimensions, {regions}), `\"iota\"` (element *i* is *i*), \
         `\"lower_triangular\"` (1 on and below the diagonal, else 0), a list of all elements, or a \
         [file](#contents-from-a-file) with them, `\"indices.npy\"`",
    ),
    Key::own(
        "pointers",
        "in place of all other keys: the parameter is an [array of pointers](#arrays-of-pointers), `[\"a\", \"b + 256\", \"null\"]`",
    ),
    Key::own("value", "of a scalar: its value at the launch"),
    Key::own("symbolic", "of a scalar, in place of a value: `true` for any real"),
    SIGN,
    RANGE,
    ELEMENTS,
    Key::own(
        "compare",
        "of an `out` tensor whose order is free: {comparisons} (S3); by default, each element with that \
         of the other side",
    ),
];

/// A type by side.
pub const TYPE: &[Key] = &[Key::own("ref", ""), Key::own("reference", ""), Key::own("opt", "")];

/// A field of a tensor of structs that is more than a type.
pub const FIELD: &[Key] = &[
    Key::own(
        "type",
        "the type of its elements, and how many of them a struct has: `\"f16\"`, `\"u8[16]\"`, `\"f16[4x8]\"`",
    ),
    Key::own("contents", "the contents of its elements before the launch, as for a tensor"),
    SIGN,
    RANGE,
    ELEMENTS,
];

/// Contents that are the same in every element.
pub const FILL: &[Key] = &[Key::own("fill", ""), Key::own("symbolic", "")];

/// What a kernel has besides [`Launch`] and [`Target`].
pub const KERNEL: &[Key] = &[
    Key::own(
        "source",
        "`\"file.cu\"` or `\"file.ptx\"`, relative to the case; `\"file.cu::name\"` where the file has several \
         kernels. `name` is the mangled name, the name in the source, or the name as `cu++filt` prints it, with all \
         template arguments, or without the last ones where the name is unambiguous: `\"scale.cu::scale<float, 128u, \
         true>\"`",
    ),
    Key::own(
        "args",
        "the kernel's arguments, as names of parameters or numbers, if they are not the parameters in the order of \
         their declaration: `[\"y\", \"x\", 0.5]`; `\"x + 256\"` points to element 256 of `x`, `\"null\"` or 0 is a null pointer; a list \
         of members is a [struct](#structs)",
    ),
];

/// What a side has in place of one kernel.
pub const SIDE: &[Key] = &[
    Key::own(
        "launch",
        "in place of one kernel: `[[opt.launch]]`, any number of times, one after the other: a kernel with all its keys, \
         or a fill, a copy or a [graph](graphs.md), [below](#several-launches)",
    ),
    Key::own(
        "repeat",
        "how often the side runs, one time after the other, on the same tensors: 1 by default",
    ),
];

/// What a side has in place of kernels: a graph of operators.
pub const GRAPH: &[Key] = &[
    Key::own(
        "spec",
        "in place of a kernel: an [operator](#operators), whose arguments are further keys: `{ spec = \"softmax\", \
         dim = 1 }`. Its tensors are the inputs of the case in the order of their declaration, as far as no argument \
         names them",
    ),
    Key::own(
        "output",
        "with `spec`: the tensor that is written; by default, the outputs of the case in order",
    ),
    Key::own(
        "formula",
        "in place of a kernel: what each element of an output is, or a list of such [formulas](#formulas): \
         `\"y[i,j] = Σ{k<64} x[i,k]·w[j,k]      i < 32, j < 16\"`",
    ),
    Key::own("graph", "in place of a kernel: a file that holds a [graph](#a-file), relative to the case"),
    Key::own("inputs", "of a graph in the case itself: types and shapes of tensors that it reads"),
    Key::own("nodes", "in place of a kernel: the nodes of a graph, as in a [file](#a-file)"),
    Key::own("outputs", "with `nodes`: the tensors that are written, each with the name of a value"),
];

/// A step of a side that is no kernel.
pub const STEP: &[Key] = &[
    Key::own("fill", "in place of a kernel: a tensor, every element of which becomes the number `with`"),
    Key::own("with", "the number, such as `0` or `\"-inf\"`"),
    Key::own("copy", "in place of a kernel: a tensor, whose elements become those of the tensor `to`"),
    Key::own("to", "the tensor that is written, of as many elements"),
];

/// A member of a struct that is neither a name nor a struct.
pub const MEMBER: &[Key] = &[
    Key::own("type", "of a number: its element type"),
    Key::own("value", "the number"),
    Key::own(
        "offset",
        "in place of both: the byte at which the next member begins, or at which the struct ends",
    ),
];

section! {
    /// Texts about a case.
    pub struct About {
        /// why the expected verdict is right, in words
        why: Option<String> = None;
    }
}

section! {
    /// How a kernel is launched.
    pub struct Launch {
        /// threads: `128` or `[16, 16]`, up to three dimensions
        block: [u32; 3] = [1; 3];
        /// CTAs, likewise; default {default}
        grid: [u32; 3] = [1; 3];
        /// CTAs of a cluster, likewise; default: as the kernel is compiled, else 1
        cluster: Option<[u32; 3]> = None;
        /// all CTAs of the grid run at the same time, so that they may wait for one another (Y15), as in a cooperative launch
        cooperative: bool = false;
        /// the launch may begin before the one before it has ended, as soon as all CTAs of that one let it (Y17): programmatic dependent launch
        programmatic: bool = false;
        /// bytes of dynamic shared memory
        shared: u32 = 0;
        /// run only these CTAs, by linear number: `[0]`
        ctas: Option<Vec<u64>> = None;
    }
}

impl Launch {
    /// One CTA of so many threads.
    pub fn of_threads(threads: u32) -> Launch {
        Launch { block: [threads, 1, 1], ..Launch::default() }
    }
}

section! {
    /// How a tensor is cut into boxes that a copy moves: a `CUtensorMap`.
    pub struct TensorMap {
        /// the tensor, by its name among the parameters
        of: String = String::new();
        /// elements of a box in each dimension, outermost first: `[64, 64]`
        r#box: Vec<u64> = Vec::new();
        /// how pieces of 16 bytes are mixed in shared memory: `none`, `32B`, `64B` or `128B`; default `{default}`
        swizzle: Swizzle = Swizzle::None;
        /// extents of the tensor in the map, outermost first; default: those of the parameter
        shape: Vec<u64> = Vec::new();
        /// the distance of neighbours, in elements, in each dimension except the innermost one; default: row-major
        strides: Vec<u64> = Vec::new();
    }
}

section! {
    /// What a source is compiled with, besides the compiler.
    pub struct Target {
        /// architecture to compile for, `sm_…` or `compute_…`; default `{default}`
        arch: String = "sm_80".to_owned();
        /// flags for the compiler: `["--use_fast_math"]`; which are allowed, see [below](#what-a-case-may-touch)
        flags: Vec<String> = Vec::new();
    }
}

section! {
    /// The verdict that makes a case pass; all of it must match.
    pub struct Expectation {
        /// the name of the verdict
        verdict: VerdictName = VerdictName::Equivalent;
        /// the faulty side, `"reference"` or `"opt"`
        side: Option<Which> = None;
        /// the rule that is broken, such as Y1
        rule: Option<String> = None;
        /// the source lines of all sites of a fault (in a function from another file, the line of its call): `[6, 11]`
        lines: Option<BTreeSet<u32>> = None;
        /// in place of `lines`, texts of source lines: each site's line, or that of a call that led there, contains one of the texts, and each text is in one of these lines: `["row[tid] = x[tid];", "// second barrier"]`. They remain correct when lines are added above
        sites: Option<Vec<String>> = None;
    }
}

section! {
    /// A text that a side's PTX must contain.
    pub struct Contains {
        /// the text to search for
        text: String = String::new();
        /// how often it must occur at least; default {default}
        count: u64 = 1;
        /// whose PTX; default `{default}`
        side: Which = Which::Opt;
    }
}

section! {
    /// Rules that a case relaxes or tightens.
    pub struct Rules {
        /// output elements may remain unwritten (S3)
        partial: bool = false, Relaxes("nothing is claimed about output elements that are never written (`partial`, \
                                        S3)");
        /// static shared memory and grids may be larger than any GPU allows; what exceeds a limit is listed (M1)
        unlimited_launches: bool = false;
        /// returning orders memory like arriving at a barrier (Y2)
        exit_orders_memory: bool = false, Relaxes("a returned thread's accesses are ordered by the barriers that it released (`exit_orders_memory`, Y2)");
        /// a thread that has returned does not count as arrived at a barrier that waits for it (Y3, Y4)
        strict_barriers: bool = false, Tightens;
        /// objects in shared memory are aligned only as they are declared, and rows of `wmma` matrices must be aligned as
        /// PTX requires (M1)
        strict_alignment: bool = false, Tightens;
        /// lanes of one instruction that store the same value to one place race (Y1)
        strict_stores: bool = false, Tightens;
        /// a write by the async proxy after a read by a thread needs a proxy fence as well (Y10)
        strict_proxies: bool = false, Tightens;
        /// which lane `elect.sync` chooses is not known (Y4)
        strict_election: bool = false, Tightens;
        /// a number below zero, such as `-1e4`: known floats up to it are read as `-inf` (V3)
        mask_below: Option<i128> = None, Relaxes("known floats up to a bound are read as -inf (`mask_below`, V3)");
        /// shuffles and votes order memory (Y4)
        warp_collectives_order_memory: bool = false, Relaxes("shuffles and votes order memory (`warp_collectives_order_memory`, Y4)");
        /// `activemask` is all lanes that reach it on their way, as if lanes that have diverged ran together again where
        /// their paths meet (S4)
        reconverged_masks: bool = false, Relaxes("lanes that have diverged run together again where their paths meet, \
                                                  and `activemask` is all that reach it (`reconverged_masks`, S4)");
        /// a thread that waits for a phase of a barrier in shared memory tests it before the next phase is complete (Y9)
        prompt_waits: bool = false, Relaxes("a thread that waits for a phase of a barrier in shared memory tests it \
                                             before the next phase is complete (`prompt_waits`, Y9)");
        /// barriers in shared memory are visible to CTAs of the cluster that have passed the cluster's barrier after their
        /// initialisation, also without a fence (Y13)
        unfenced_barriers: bool = false, Relaxes("barriers in shared memory are visible to CTAs that have passed the \
                                                  cluster's barrier after their initialisation, also without a fence \
                                                  (`unfenced_barriers`, Y13)");
        /// bulk copies to global memory may continue to read the shared memory of a CTA that has returned (Y11)
        copies_outlive_blocks: bool = false, Relaxes("shared memory of a CTA that has returned exists until bulk \
                                                      copies to global memory have read it (`copies_outlive_blocks`, \
                                                      Y11)");
        /// `"sm_80"`: elements of `wmma` fragments have the positions that they have on sm_80, where these are known: in
        /// f32 accumulators of `m16n16k16` (V5)
        wmma_layout: WmmaLayout = WmmaLayout::Unspecified, Relaxes("fragments of `wmma` are laid out as on sm_80 (`wmma_layout`, V5)");
        /// `"nearest"`: where the sides differ, a literal that is the rounding of a quotient of small whole numbers is also
        /// read as that quotient, such as `0.16666667f` as 1/6, and so is one that is the rounding of 1 / L, where L is a
        /// literal of the other side, or of a root beside one that a kernel computes, such as `0.088388346f` as √(1/128)
        /// (V9)
        literals: Literals = Literals::Exact;
        /// what is claimed of both kernels (B1): that they compute the same reals, `{default}`; the same sums and products of
        /// floats, each rounded alike, in any order, `order`; the same bits if a product and a sum replace each fused one,
        /// `bits-up-to-fma`; the same bits, `bits`. Or of one kernel as of two, that no operation on floats overflows,
        /// divides by zero or gives NaN, `finite` (B2)
        claim: Claim = Claim::Reals;
        /// with `claim = "finite"`: the largest error of an element of an output that is accepted, as a distance from the exact
        /// value, `"1e-5"`, in units in the last place of it, `"4 ulp"`, or as a multiple of the bound that is proved of the
        /// reference, `"2x reference"` (B3)
        max_error: Option<MaxError> = None;
    }
}

section! {
    /// How a case is run.
    pub struct Run {
        /// run only with `VOLTA_SLOW=1`, with `--slow`, in CI, or when asked for by name
        slow: bool = false;
        /// `false`: do not compare normal forms and messages with a snapshot
        snapshot: bool = true;
        /// `"10s"`, `"500ms"`, `"2m"`: how long verifying may take; after that the verdict is *unknown(timeout)*. There is
        /// no timeout unless it is set here, by `--timeout` or by `VOLTA_TIMEOUT`; the shortest of these applies
        timeout: Option<Duration> = None;
        /// the number of parts, each a test of its own that decides a share of the compared elements, [below](#parts)
        shards: u32 = 1;
    }
}

/// `[options]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Rules that are relaxed or tightened.
    pub rules: Rules,
    /// How it is run.
    pub run: Run,
    /// What it may take.
    pub limits: Limits,
}

impl Section for Options {
    fn keys() -> Vec<&'static Key> {
        [Rules::keys(), Run::keys(), Limits::keys()].concat()
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), Wrong> {
        let has = |keys: Vec<&Key>| keys.iter().any(|known| known.name == key);
        if has(Rules::keys()) {
            self.rules.set(key, value)
        } else if has(Run::keys()) {
            self.run.set(key, value)
        } else {
            self.limits.set(key, value)
        }
    }
}

impl Field for VerdictName {
    const TAKES: Takes = Takes::Text;

    fn read(key: &str, value: Value) -> Result<VerdictName, Wrong> {
        let text = String::read(key, value)?;
        choose(&text, || format!("unknown verdict `{text}`"))
    }
}

macro_rules! word_fields {
    ($($name:ident)*) => {$(
        impl Field for $name {
            const TAKES: Takes = Takes::Text;

            fn read(key: &str, value: Value) -> Result<$name, Wrong> {
                read_word(key, value)
            }

            fn show(&self) -> String {
                self.name().to_owned()
            }
        }
    )*};
}

word_fields!(Which WmmaLayout Literals Swizzle Claim);

/// Splits `file::kernel` behind the file's extension, so that C++ names may hold `::`.
pub fn split_source(text: &str) -> (&str, Option<&str>) {
    let cut = [".cu::", ".ptx::"].iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min();
    match cut {
        Some(cut) => (&text[..cut - 2], Some(&text[cut..])),
        None => (text, None),
    }
}

/// What is wrong with the path of a source.
pub fn source_problem(file: &str) -> Option<String> {
    if !file.ends_with(".cu") && !file.ends_with(".ptx") {
        return Some(format!("`{file}` is neither a .cu nor a .ptx file"));
    }
    path_problem(file)
}

/// What is wrong with the path of a file that a case names.
pub fn path_problem(file: &str) -> Option<String> {
    Path::new(file).is_absolute().then(|| format!("`{file}` is absolute; paths are relative to the case"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_splits_behind_its_extension() {
        assert_eq!(split_source("a.cu"), ("a.cu", None));
        assert_eq!(split_source("../a.cu::k"), ("../a.cu", Some("k")));
        assert_eq!(split_source("a.sm_80.ptx::ns::k<float>"), ("a.sm_80.ptx", Some("ns::k<float>")));
        assert_eq!(split_source("a.cuh"), ("a.cuh", None));
    }
}
