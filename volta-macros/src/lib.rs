//! The attributes `#[verify_equiv(…)]` and `#[verify_kernel(…)]`.
//!
//! They parse an attribute and a signature and expand to calls into `volta-test`; nothing is read or run while
//! compiling. For
//!
//! ```text
//! #[verify_equiv(reference = "softmax.cu::naive", opt = "softmax.cu::online", block = 128)]
//! fn softmax(x: &[f32; 128], y: &mut [f32; 128], #[value(128)] n: i32);
//! ```
//!
//! the expansion is, with paths shortened,
//!
//! ```text
//! const __VOLTA_CASE_SOFTMAX: Registered = {
//!     // A changed kernel rebuilds the test.
//!     const _: &[u8] = include_bytes!("softmax.cu");
//!     fn build(case: &mut Builder) {
//!         case.tensor("x", ["f32", "f32"], &[128], Role::In, None, Sign::Any);
//!         case.tensor("y", ["f32", "f32"], &[128], Role::Out, None, Sign::Any);
//!         case.scalar("n", "i32", ScalarValue::Number(literal("128")));
//!         case.reference("softmax.cu::naive", None, vec![("block", extent(128))]);
//!         case.opt("softmax.cu::online", None, vec![("block", extent(128))]);
//!         case.expect(vec![("verdict", Text("equivalent".into()))]);
//!     }
//!     Registered { module: module_path!(), function: "softmax", /* … */ build }
//! };
//! inventory::submit! { __VOLTA_CASE_SOFTMAX }   // for `volta_test::main!()`
//! #[test]                                        // for the ordinary harness
//! fn softmax() { __VOLTA_CASE_SOFTMAX.test(/* … */) }
//! ```

mod attribute;
mod body;
mod expand;
mod family;
mod graph;
mod signature;
mod steps;

use proc_macro::TokenStream;

/// Verifies that two kernels are equivalent.
///
/// # The attribute
/// - `reference = "file.cu::kernel"`, `opt = "file.cu::kernel"`: the kernels, relative to this file; `::kernel` only
///   where a file has several. `.ptx` files may be named as well.
/// - `block`, `grid`: a number, or a list of up to three; `cluster` likewise, the CTAs of a cluster. `cooperative`: all CTAs run
///   together. `shared`: bytes of dynamic shared memory. `ctas = [0]`: run
///   these only. `arch = "sm_80"`, `flags = ["--use_fast_math"]`. `args(y, x, 128)`: the kernel's parameter list, where
///   it is not the declaration order. Each of these has the prefix `ref_` or `opt_` where the sides differ.
/// - `family(N = [1, 31, 64..=66], T = [f32, f16])`: a case and a test for each combination of these values. `N` and `T`
///   stand for them in the attribute and in the signature, and `{T}` in texts. `family(rows = any)`: every number, with
///   which extents, grids and values of scalars may be computed, as in `grid = rows.div_ceil(4)`.
/// - `expect = "race"`, or `expect(verdict = "race", side = "opt", rule = "Y1", lines = [12, 20])`; `why = "…"`.
/// - In place of a kernel: `spec("softmax", dim = 1)`, an operator; `formula("y[i] = exp(x[i])      i < 128")`, what each
///   element of an output is; `graph("attention.json")`, a graph of operators in a file.
/// - `contains = "red.shared"`, or `contains(text = "mma.sync", count = 2, side = "opt")`: a text that the PTX must contain.
/// - `shards = 8`: a test for each of so many parts of the case, which decides a share of the compared elements.
/// - Every key of `[options]`: rules (`partial`, `exit_orders_memory`, …), `slow`, `snapshot = false`,
///   `timeout = "10s"`, and limits (`max_instructions`, `max_memory_bytes`, …). [`volta_case::Options`] has all of them.
///
/// # The signature
/// - `x: &[f32; 128]` is an input, `y: &mut [[f32; 64]; 16]` an output; sizes are constant expressions.
/// - On tensors: `#[inout]`, `#[scratch]`, `#[ignored]`, each also with `(init = 0)`; `#[init(-inf)]`, `#[init(iota)]`,
///   `#[init(lower_triangular)]`, `#[init([1, 2, 3])]`; `#[assume(positive)]`; `#[opt_type(f16)]`;
///   `#[compare(set)]` of an output whose order is free.
/// - On scalars: `#[value(128)]`, or `#[symbolic]`, `#[symbolic(positive)]`.
/// - `#[global]`, or `#[global("ns::name")]`: no argument, but the `__constant__` or `__device__` variable of that name.
/// - `#[pointers(x, y + 256, null)] list: Pointers`: an array of pointers.
/// - `#[tensor_map(of = x, box = [64, 64], swizzle = "128B")] map: TensorMap`: a tensor map, which `args` name.
#[proc_macro_attribute]
pub fn verify_equiv(attribute: TokenStream, item: TokenStream) -> TokenStream {
    run(attribute, item, attribute::Form::Pair)
}

/// Verifies that one kernel alone has no fault: `#[verify_kernel(kernel = "file.cu::kernel", block = 128)]`.
///
/// All else is as in [`macro@verify_equiv`], without sides. With `expect = "race"` it keeps a fault from going unseen.
#[proc_macro_attribute]
pub fn verify_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    run(attribute, item, attribute::Form::Single)
}

fn run(attribute: TokenStream, item: TokenStream, form: attribute::Form) -> TokenStream {
    expand::expanded(attribute.into(), item.into(), form)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
