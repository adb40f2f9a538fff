//! Attributes under the ordinary test harness, and the cases that they make.

use volta_core::case::{
    Argument, Assumed, Binding, Contents, ParamKind, Role, ScalarValue, Sign, TensorAddress,
};
use volta_core::number::{Extended, Rational};
use volta_test::case::{Case, Step};
use volta_test::prelude::*;

const WIDTH: usize = 16;
const SCALE: f32 = 0.125;

#[verify_equiv(
    reference = "kernels/add.cu::add",
    opt = "kernels/add.cu::add_backwards",
    block = 32,
    grid = 4,
    opt_args(z, x, y)
)]
fn add(x: &[f32; 128], y: &[f32; 128], z: &mut [f32; 128], #[value(128)] n: i32);

#[verify_kernel(kernel = "kernels/add.cu::scale", block = [WIDTH, 2])]
fn scale(#[inout] a: &mut [[f32; WIDTH]; 2], #[symbolic(positive)] beta: f32);

#[verify_kernel(kernel = "kernels/add.cu::shift<double>", block = 8)]
fn shift(x: &[f64; 8], y: &mut [f64; 8], #[value(-0.5)] by: f64);

/// Rows of {N}.
#[verify_equiv(
    reference = "kernels/add.cu::shift<{C}>",
    opt = "kernels/add.cu::shift<{C}>",
    block = N,
    family(N = [1, 31..=33], C = [float])
)]
fn shifts(x: &[f32; N], y: &mut [f32; N], #[value(0.5)] by: f32);

/// Two launches, the second on what the first one left, against one.
#[verify_equiv(
    reference = "kernels/add.cu::add_twice", ref_args(x, y, z, 16),
    opt = [fill(s, 0), "kernels/add.cu::add", copy(s, t), "kernels/add.cu::add"],
    opt_args([x, y, s, 16], [t, y, z, 16]), opt_block = [16, 8], opt_grid = [1, 2], ref_block = 16, opt_repeat = 2,
)]
fn twice(
    x: &[f32; 16],
    y: &[f32; 16],
    z: &mut [f32; 16],
    #[scratch] s: &mut [f32; 16],
    #[scratch] t: &mut [f32; 16],
);

/// In two parts, at two sizes.
#[verify_equiv(
    reference = "kernels/add.cu::shift<float>", opt = "kernels/add.cu::shift<float>", block = N, family(N = [2, 4]),
    shards = 2
)]
fn parts(#[init("kernels/four.bin")] x: &[f32; 4], y: &mut [f32; N], #[value(0.5)] by: f32);

/// A list of two tensors and a null pointer that no block follows.
#[verify_equiv(
    reference = ["../../fixtures/pointers/pointers.cu::axpy", "../../fixtures/pointers/pointers.cu::axpy"],
    ref_block = 64, ref_args([x0, y, 40, alpha], [x1, y + 40, 7, alpha]),
    opt = "../../fixtures/pointers/pointers.cu::axpy_list", opt_block = 32, opt_grid = [1, 2],
    opt_args(xs, ys, sizes, alpha), snapshot = false
)]
fn list(
    x0: &[f32; 40],
    x1: &[f32; 7],
    #[inout] y: &mut [f32; 47],
    #[init([40, 7])] sizes: &[i32; 2],
    #[symbolic] alpha: f32,
    #[pointers(x0, x1, null)] xs: Pointers,
    #[pointers(y, y + 40)] ys: Pointers,
);

mod inner {
    use super::*;

    /// Everything that an attribute can say.
    /// On two lines.
    #[verify_equiv(
        reference = "kernels/add.cu::add", opt = "kernels/add.cu::add_twice",
        ref_block = [8, 2], opt_block = WIDTH, grid = (2, 3, 1), opt_shared = 64, ref_args(x, 1.5, -inf, n),
        opt_args(y), ctas = [0, 2], opt_ctas = [1], arch = "sm_90", opt_flags = ["--use_fast_math"],
        expect(verdict = "race", side = "opt", rule = "Y1", lines = [3, 4]), why = "because",
        partial, exit_orders_memory = false, max_instructions = 10 * 1000, slow, snapshot = false,
        wmma_layout = "sm_80", timeout = "90s",
    )]
    fn everything(
        #[assume(nonnegative)] x: &[f32; 2 * WIDTH],
        #[opt_type(f16)] y: &mut [[f32; WIDTH]; 2],
        #[scratch] s: &mut [i64; 4],
        #[inout(init = 0)] b: &mut [f32; 1],
        #[ignored(init = -inf)] m: &mut [bf16; 3],
        #[init([1, 2.5])] l: &[f32; 2],
        #[init(lower_triangular)] t: &[[f32; 4]; 4],
        #[value(128)] n: i32,
        #[value(SCALE)] scale: f32,
        #[value(WIDTH as i32 * 2)] k: u32,
        #[symbolic] alpha: f32,
        #[global] weights: &[f32; 4],
        #[global("buffers::result")]
        #[scratch]
        result: &mut [u32; 8],
        #[global]
        #[value(3)]
        count: i32,
    );
}

fn case(name: &str) -> Case {
    let mut cases = volta_test::registry::registered();
    let found = cases.find(|case| case.name() == format!("ordinary_harness::{name}"));
    found.expect("the case is registered").case().expect("the case is right")
}

#[test]
fn an_attribute_fills_in_the_whole_case() {
    let case = case("inner::everything");
    assert_eq!(case.description.as_deref(), Some("Everything that an attribute can say.\nOn two lines."));
    assert_eq!(case.about.why.as_deref(), Some("because"));
    assert_eq!((case.options.run.slow, case.options.run.snapshot), (true, false));
    assert_eq!((case.options.rules.partial, case.options.rules.exit_orders_memory), (true, false));
    assert_eq!(case.options.rules.wmma_layout, volta_core::case::WmmaLayout::Sm80);
    assert_eq!(case.options.limits[volta_case::Limit::Instructions], 10_000);
    assert_eq!(case.options.run.timeout, Some(std::time::Duration::from_secs(90)));
    assert_eq!(case.expect.verdict.name(), "race");
    assert_eq!(case.expect.rule.as_deref(), Some("Y1"));
    assert_eq!(case.expect.lines, Some([3, 4].into()));
    let reference = case.reference.as_ref().expect("a pair has a reference");
    assert_eq!(
        (
            reference.kernel(0).launch.block,
            reference.kernel(0).launch.grid,
            reference.kernel(0).launch.shared
        ),
        ([8, 2, 1], [2, 3, 1], 0)
    );
    assert_eq!(
        (case.opt.kernel(0).launch.block, case.opt.kernel(0).launch.grid, case.opt.kernel(0).launch.shared),
        ([16, 1, 1], [2, 3, 1], 64)
    );
    assert_eq!(
        (reference.kernel(0).launch.ctas.as_deref(), case.opt.kernel(0).launch.ctas.as_deref()),
        (Some(&[0, 2][..]), Some(&[1][..]))
    );
    assert_eq!(
        (reference.kernel(0).target.flags.len(), case.opt.kernel(0).target.flags[0].as_str()),
        (0, "--use_fast_math")
    );
    assert_eq!(
        (reference.kernel(0).target.arch.as_str(), case.opt.kernel(0).target.arch.as_str()),
        ("sm_90", "sm_90")
    );
    let number = |num, den| Extended::Finite(Rational::from_ratio(num, den));
    let args = [
        Argument::Named("x".into()),
        Argument::Literal(number(3, 2)),
        Argument::Literal(Extended::NegInf),
        Argument::Named("n".into()),
    ];
    assert_eq!(reference.kernel(0).args.as_deref(), Some(&args[..]));
    assert_eq!(case.opt.kernel(0).args, Some(vec![Argument::Named("y".into())]));
    let scalars: Vec<ScalarValue> = case
        .params
        .iter()
        .filter_map(|param| match &param.kind {
            ParamKind::Scalar { value, .. } => Some(value.clone()),
            ParamKind::Tensor { .. } => None,
        })
        .collect();
    let expected = [
        ScalarValue::integer(128),
        ScalarValue::Number(number(1, 8)),
        ScalarValue::integer(32),
        ScalarValue::Symbolic(Assumed::default()),
        ScalarValue::integer(3),
    ];
    assert_eq!(scalars, expected);
}

#[test]
fn a_side_may_have_several_steps() {
    let case = case("twice");
    let blocks: Vec<(usize, u32)> =
        case.opt.kernels().map(|(at, kernel)| (at, kernel.launch.block[0])).collect();
    assert_eq!(blocks, [(1, 16), (3, 8)]);
    let steps = case.opt.steps();
    assert_eq!(steps.len(), 8, "four steps, twice");
    assert_eq!(steps[2], Step::Copy { from: "s".into(), to: "t".into() });
    assert_eq!(case.opt.step_shown(5), "kernels/add.cu::add (step 6, in run 2)");
}

#[test]
fn a_family_is_a_case_for_each_of_its_values() {
    let cases = volta_test::registry::registered().map(|case| case.name());
    let mut names: Vec<String> = cases.filter(|name| name.contains("shifts")).collect();
    names.sort();
    let expected = [1, 31, 32, 33].map(|n| format!("ordinary_harness::shifts::N={n},C=float"));
    assert_eq!(names, expected);
    let case = case("shifts::N=33,C=float");
    assert_eq!(case.description.as_deref(), Some("Rows of 33."));
    assert_eq!(case.opt.shown(), "kernels/add.cu::shift<float>");
    assert_eq!(case.opt.kernel(0).launch.block, [33, 1, 1]);
    assert_eq!(case.params.len(), 3);
    let ParamKind::Tensor { shape, .. } = &case.params[0].kind else { panic!("x is a tensor") };
    assert_eq!(shape, &[33]);
    assert!(!case.options.run.snapshot, "the forms of members are not for reading");
}

#[test]
fn a_case_in_parts_is_a_test_for_each() {
    let cases = volta_test::registry::registered().map(|case| case.name());
    let mut names: Vec<String> = cases.filter(|name| name.contains("::parts")).collect();
    names.sort();
    let expected = ["N=2/shard_1_of_2", "N=2/shard_2_of_2", "N=4/shard_1_of_2", "N=4/shard_2_of_2"];
    assert_eq!(names, expected.map(|name| format!("ordinary_harness::parts::{name}")));
    let case = case("parts::N=4/shard_2_of_2");
    assert_eq!(case.shard.map(|shard| (shard.part, shard.of)), Some((2, 2)));
    assert!(!case.options.run.snapshot, "the forms of a share are not for reading");
    assert_eq!(case.elements(), 4);
    let data: Vec<(&str, &str)> =
        case.data.iter().map(|data| (data.of.as_str(), data.file.as_str())).collect();
    assert_eq!(data, [("x", "kernels/four.bin")]);
}

#[test]
fn a_parameter_may_hold_pointers() {
    let case = case("list");
    let pointer = |of: &str, at| Some(TensorAddress { of: of.into(), at });
    let held = |name: &str| {
        let param = case.params.iter().find(|param| param.name == name).expect("it is declared");
        param.pointers().map(<[_]>::to_vec)
    };
    assert_eq!(held("xs"), Some(vec![pointer("x0", 0), pointer("x1", 0), None]));
    assert_eq!(held("ys"), Some(vec![pointer("y", 0), pointer("y", 40)]));
    assert_eq!(held("sizes"), None);
}

#[test]
fn variables_are_taken_by_their_names() {
    let case = case("inner::everything");
    let variables = case.params.iter().filter(|param| param.binding == Binding::Variable);
    let names: Vec<&str> = variables.map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["weights", "buffers::result", "count"]);
}

#[test]
fn parameters_become_tensors() {
    let case = case("inner::everything");
    let tensor = |name: &str| {
        let param = case.params.iter().find(|param| param.name == name).expect("it is declared");
        match &param.kind {
            ParamKind::Tensor { reference, opt, shape, role, contents, assumed } => {
                (reference.name(), opt.name(), shape.clone(), *role, contents.clone(), assumed.sign)
            }
            ParamKind::Scalar { .. } => panic!("{name} is a tensor"),
        }
    };
    let number = |num, den| Extended::Finite(Rational::from_ratio(num, den));
    let any = Sign::Any;
    assert_eq!(tensor("x"), ("f32", "f32", vec![32], Role::In, Contents::Symbolic, Sign::NonNegative));
    assert_eq!(tensor("y"), ("f32", "f16", vec![2, 16], Role::Out, Contents::Undefined, any));
    assert_eq!(tensor("s"), ("i64", "i64", vec![4], Role::Scratch, Contents::Undefined, any));
    assert_eq!(tensor("b"), ("f32", "f32", vec![1], Role::InOut, Contents::Fill(number(0, 1)), any));
    assert_eq!(tensor("m"), ("bf16", "bf16", vec![3], Role::Ignored, Contents::Fill(Extended::NegInf), any));
    let list = Contents::List(vec![number(1, 1), number(5, 2)]);
    assert_eq!(tensor("l"), ("f32", "f32", vec![2], Role::In, list, any));
    assert_eq!(tensor("t"), ("f32", "f32", vec![4, 4], Role::In, Contents::LowerTriangular, any));
}

#[test]
fn names_and_places_are_those_of_the_test() {
    let case = case("inner::everything");
    assert_eq!(case.home.file.file_name().and_then(|name| name.to_str()), Some("ordinary_harness.rs"));
    assert!(case.home.dir.join(&case.opt.kernel(0).source).is_file());
    assert_eq!(case.home.snapshot_name, "ordinary_harness__inner__everything");
}

#[test]
fn a_changed_kernel_rebuilds_the_test() {
    // Cargo rebuilds when a file changes that the compiler lists here.
    let program = std::env::current_exe().expect("the test has a path");
    let list = std::fs::read_to_string(program.with_extension("d")).expect("there is a list of dependencies");
    assert!(list.contains("kernels/add.cu"), "{list}");
}
