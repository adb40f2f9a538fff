use super::*;
use volta_core::case::{Argument, Assumed, FieldPlace, Member, Region, TensorAddress};

use crate::number;

const PAIR: &str = r#"description = "two ways"
expect = { verdict = "race", side = "opt", rule = "Y1", lines = [12, 20] }
why = "so"

[params]
z = { role = "out", type = "f32", shape = [2, 2] }
x = { role = "in", type = { ref = "f32", opt = "f16" }, shape = 4, assume = "positive" }
m = { role = "ignored", type = "f32", shape = [], contents = { fill = "-inf" } }
l = { role = "inout", type = "i32", shape = [3], contents = [1, 2, 0x10] }
t = { role = "in", type = "f32", shape = [2, 2], contents = "lower_triangular" }
n = { type = "i32", value = 128 }
alpha = { type = "f32", symbolic = true, assume = "nonzero" }
s = { type = "f32", value = 0.1 }

[reference]
source = "../k.cu::naive<float>"
block = 128
args = ["z", "x", -1, "inf"]
ctas = [0, 2]
flags = ["--use_fast_math"]

[opt]
source = "k.ptx"
block = [16, 16]
grid = [2]
shared = 1024
arch = "sm_90"

[options]
partial = true
slow = true
snapshot = false
max_instructions = 1000

[[contains]]
side = "opt"
text = "mma"
count = 2
"#;

fn read(text: &str) -> Result<Case, Vec<Problem>> {
    parse("family::case", Home::default(), text)
}

/// The problems of a text, as `line:column: message | help`.
fn problems(text: &str) -> Vec<String> {
    let problems = read(text).expect_err("something is wrong");
    let show = |problem: &Problem| {
        let (line, column) = position(text, &problem.span);
        let help = problem.help.as_ref().map_or(String::new(), |help| format!(" | {help}"));
        format!("{line}:{column}: {}{help}", problem.message)
    };
    problems.iter().map(show).collect()
}

#[test]
fn everything_is_read() {
    let case = read(PAIR).expect("the case is right");
    let names: Vec<&str> = case.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["z", "x", "m", "l", "t", "n", "alpha", "s"], "the order is the text's");
    let reference = case.reference.expect("a pair has a reference");
    assert_eq!(
        (reference.kernel(0).source.as_str(), reference.kernel(0).name.as_deref()),
        ("../k.cu", Some("naive<float>"))
    );
    assert_eq!((reference.kernel(0).launch.block, reference.kernel(0).launch.grid), ([128, 1, 1], [1, 1, 1]));
    assert_eq!(reference.kernel(0).args.as_ref().map(|args| args.len()), Some(4));
    assert_eq!(reference.kernel(0).launch.ctas, Some(vec![0, 2]));
    assert_eq!(
        (case.opt.kernel(0).launch.block, case.opt.kernel(0).launch.grid, case.opt.kernel(0).launch.shared),
        ([16, 16, 1], [2, 1, 1], 1024)
    );
    assert_eq!(case.expect.lines, Some([12, 20].into()));
    assert_eq!(
        (case.options.run.slow, case.options.run.snapshot, case.options.rules.partial),
        (true, false, true)
    );
    assert_eq!(case.options.limits[volta_case::Limit::Instructions], 1000);
    assert_eq!(case.contains.len(), 1);
    let ParamKind::Tensor { reference, opt, shape, assumed: Assumed { sign, .. }, .. } = &case.params[1].kind
    else {
        panic!("x is a tensor")
    };
    assert_eq!(
        (reference.name(), opt.name(), shape.as_slice(), *sign),
        ("f32", "f16", &[4][..], Sign::Positive)
    );
    let ParamKind::Scalar { value: ScalarValue::Number(tenth), .. } = &case.params[7].kind else {
        panic!("s is a number")
    };
    assert_eq!(number::show(tenth), "0.1", "decimals are exact");
}

#[test]
fn a_single_kernel_is_clean_by_default() {
    let text = "[params]\n[kernel]\nsource = \"k.cu\"\nblock = 1\n";
    let case = read(text).expect("the case is right");
    assert!(case.reference.is_none());
    assert_eq!(case.expect.verdict, VerdictName::Clean);
}

#[test]
fn variables_of_the_module_are_read_like_parameters() {
    let text = "[globals]\nc = { type = \"f32\", shape = [4] }\nn = { type = \"i32\", value = 3 }\n\
                \"a::out\" = { role = \"out\", type = \"f32\", shape = 8 }\n\
                k = { role = \"scratch\", type = \"u32\", value = 0 }\n[kernel]\nsource = \"k.cu\"\nblock = 1\n";
    let case = read(text).expect("the case is right");
    assert!(case.params.iter().all(|param| param.binding == Binding::Variable));
    let role = |at: usize| match &case.params[at].kind {
        ParamKind::Tensor { role, contents, .. } => Some((*role, contents.clone())),
        ParamKind::Scalar { .. } => None,
    };
    assert_eq!(role(0), Some((Role::In, Contents::Symbolic)), "what the host sets is any number");
    assert_eq!(role(1), None, "it has a value, and nobody writes it");
    assert_eq!(role(2), Some((Role::Out, Contents::Undefined)));
    let zero = Extended::Finite(volta_core::number::Rational::ZERO);
    assert_eq!(role(3), Some((Role::Scratch, Contents::Fill(zero))));
    assert_eq!(
        problems(&text.replacen("[kernel]", "[params]\nn = { type = \"i32\", value = 1 }\n[kernel]", 1)),
        ["3:1: `n` is a parameter already | rename the parameter"]
    );
    assert_eq!(
        problems(&text.replacen("shape = [4]", "shap = [4]", 1)),
        [
            "2:1: `c` is neither a tensor nor a scalar | a tensor needs `role` and `shape`, a scalar `value` (or \
             `symbolic = true`)",
            "2:21: unknown key `shap` in the variable `c` | did you mean `shape`?",
        ]
    );
}

#[test]
fn a_scalar_with_a_range_alone_is_told_what_it_lacks() {
    let text = "[params]\nn = { type = \"i32\", range = [0, 4] }\n[kernel]\nsource = \"k.cu\"\nblock = 1\n";
    assert_eq!(
        problems(text),
        [
            "2:1: `n` has a `range`, and neither a value nor `symbolic = true` | a scalar that may be any number of its \
             range is `symbolic = true`; a tensor has a `role` and a `shape`"
        ]
    );
}

#[test]
fn numbers_that_a_type_cannot_hold_are_mistakes_at_their_place() {
    let text = |line: &str| problems(&format!("[params]\n{line}\n[kernel]\nsource = \"k.cu\"\nblock = 1\n"));
    assert_eq!(
        text("x = { role = \"in\", type = \"f16\", shape = [1], contents = { fill = -1e9 } }"),
        ["2:58: -1000000000 is not a value of type f16: its largest number is 65504"]
    );
    assert_eq!(
        text(
            "x = { role = \"in\", type = { ref = \"f32\", opt = \"f16\" }, shape = [2], contents = [1, 70000] }"
        ),
        ["2:85: 70000 is not a value of type f16: its largest number is 65504"]
    );
    let [large] = &text("a = { type = \"f32\", value = 1e39 }")[..] else { panic!("one mistake") };
    assert!(large.starts_with("2:29: ") && large.contains("is not a value of type f32"), "{large}");
    let [small] = &text("a = { type = \"f32\", value = 1e-50 }")[..] else { panic!("one mistake") };
    assert!(small.contains("it would become 0"), "{small}");
    let large = "[params]\na = { type = \"f32\", value = 3.4e38 }\n[kernel]\nsource = \"k.cu\"\nblock = 1\n";
    assert!(read(large).is_ok());
    assert_eq!(text("a = { type = \"f32\", value = -0.0 }").len(), 1, "reals have one zero");
}

#[test]
fn mistakes_have_a_place_and_a_suggestion() {
    let change = |from: &str, to: &str| {
        assert!(PAIR.contains(from), "{from}");
        problems(&PAIR.replacen(from, to, 1))
    };
    assert_eq!(change("why =", "wy ="), ["3:1: unknown key `wy` in a case | did you mean `why`?"]);
    assert_eq!(
        change("block = 128", "blok = 128"),
        [
            "15:2: a kernel needs a block | block = 128, or [16, 16]",
            "17:1: unknown key `blok` in [reference] | did you mean `block`?",
        ]
    );
    assert_eq!(change("\"race\"", "\"rice\""), ["2:22: unknown verdict `rice` | did you mean `race`?"]);
    assert_eq!(
        change("\"race\"", "\"clean\""),
        ["2:22: `clean` is for one kernel alone; a pair is `equivalent`"]
    );
    assert_eq!(
        change("role = \"out\"", "role = \"outt\""),
        ["6:14: `role` is not `outt` | did you mean `out`?"]
    );
    assert_eq!(
        change("n = { type = \"i32\"", "n = { type = \"i23\""),
        ["11:14: unknown element type `i23` | did you mean `i32`?"]
    );
    assert_eq!(change("[1, 2, 0x10]", "[1, 2]"), ["9:61: 2 numbers for a tensor of 3 elements"]);
    assert_eq!(
        change("[\"z\", \"x\"", "[\"z\", \"al\""),
        ["18:14: there is no parameter `al` | did you mean `l`?"]
    );
    assert_eq!(change("slow = true", "slow = 1"), ["31:8: `slow` is true or false, not 1"]);
    assert_eq!(
        change("source = \"k.ptx\"", "source = \"k.c\""),
        ["23:10: `k.c` is neither a .cu nor a .ptx file"]
    );
    assert_eq!(
        change("source = \"k.ptx\"", "source = \"/k.ptx\""),
        ["23:10: `/k.ptx` is absolute; paths are relative to the case"]
    );
    assert_eq!(change("value = 128", "value = \"128\""), ["11:29: `value` is a number, not \"128\""]);
    assert_eq!(change("value = 128", "valeu = 128").len(), 2);
    assert_eq!(change("[opt]", "[kernel]"), ["22:2: [kernel] stands alone: a pair is [reference] and [opt]"]);
    assert_eq!(change("block = [16, 16]", "block = [0, 16]").len(), 1);
    assert_eq!(change("shape = [2, 2] }", "shape = [-2] }").len(), 1);
}

#[test]
fn what_is_no_toml_is_shown_at_its_place() {
    assert_eq!(problems("a = 1\na = 2\n"), ["2:1: duplicate key"]);
    assert!(problems("[params\n")[0].starts_with("1:"));
}

#[test]
fn senseless_input_reaches_the_verifier_when_it_is_the_point() {
    let text = "expect = \"input-error\"\n[params]\n[kernel]\nsource = \"k.cu\"\nblock = 0\nargs = [\"x\"]\n";
    assert_eq!(read(text).expect("the case may be wrong").opt.kernel(0).launch.block, [0, 1, 1]);
    assert_eq!(problems(&text.replace("input-error", "race")).len(), 2);
    assert_eq!(problems(&text.replace("block", "blok")).len(), 2, "unreadable is unreadable");
}

#[test]
fn slowness_is_known_without_reading_the_case() {
    let folder = tempfile::tempdir().expect("the folder can be made");
    let dir = folder.path();
    std::fs::write(dir.join(FILE_NAME), "unknown = 1\n[options]\nslow = true\n").expect("it can be written");
    assert!(is_slow(dir));
    std::fs::write(dir.join(FILE_NAME), "slow = true\n").expect("it can be written");
    assert!(!is_slow(dir));
}

#[test]
fn another_version_of_the_format_is_all_that_is_told() {
    let given = read(&format!("version = 1\n{PAIR}")).expect("it is this one");
    assert_eq!(format!("{given:?}"), format!("{:?}", read(PAIR).expect("it is read")));
    let text = "unheard-of = true\nversion = 2\n[kernels]\n";
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(
        problems(text),
        [format!(
            "2:11: this case is in version 2 of the format, which this program cannot read | \
             install a newer Volta: this one, {own}, reads version 1"
        )]
    );
    for (version, found) in [("0", "0"), ("\"1\"", "\"1\""), ("1.0", "1.0")] {
        let text = format!("version = {version}\n{PAIR}");
        assert_eq!(problems(&text), [format!("1:11: `version` is 1, not {found}")]);
    }
}

#[test]
fn no_key_is_passed_over() {
    let tensor = [("role", "\"in\""), ("type", "\"f32\""), ("shape", "[1]"), ("contents", "\"iota\"")];
    let sections: Vec<(&str, &[_], Vec<_>)> = vec![
        ("", &[], CASE.iter().chain(About::keys()).collect()),
        ("[params.x]", &tensor, PARAM.iter().collect()),
        (
            "[kernel]",
            &[],
            volta_case::SIDE.iter().chain(volta_case::KERNEL).chain(crate::case::Kernel::keys()).collect(),
        ),
        ("[expect]", &[], Expectation::keys()),
        ("[options]", &[], Options::keys()),
        ("[[contains]]", &[], Contains::keys()),
    ];
    for (header, others, keys) in sections {
        for key in keys {
            // A date is a value of no key.
            let mut text = format!("{header}\n{} = 2020-01-01\n", key.name);
            for (other, value) in others.iter().filter(|(other, _)| *other != key.name) {
                text += &format!("{other} = {value}\n");
            }
            let found = problems(&text);
            assert!(found.iter().any(|problem| problem.starts_with("2:")), "{text}{found:?}");
        }
    }
}

#[test]
fn tensor_maps_are_read_and_stand_among_arguments() {
    let text = r#"
[params]
x = { role = "in", type = "f16", shape = [64, 64] }

[tensor_maps]
m = { of = "x", box = [8, 64], swizzle = "128B" }

[kernel]
source = "k.ptx"
block = 32
args = ["m", "x"]
"#;
    let case = read(text).expect("the case is right");
    let [Argument::Map { name, map }, Argument::Named(tensor)] =
        case.opt.kernel(0).args.as_deref().unwrap_or(&[])
    else {
        panic!("a map and a tensor: {:?}", case.opt.kernel(0).args)
    };
    assert_eq!((name.as_str(), tensor.as_str(), map.of.as_str()), ("m", "x", "x"));
    assert_eq!((map.r#box.as_slice(), map.swizzle.span()), ([8, 64].as_slice(), 128));
    let change = |from: &str, to: &str| problems(&text.replace(from, to));
    assert_eq!(change(", box = [8, 64]", ""), ["6:1: the tensor map `m` needs `box` | box = [64, 64]"]);
    assert_eq!(change("of = \"x\"", "of = \"y\""), ["6:12: there is no parameter `y` | there are: x"]);
    assert_eq!(change("m = {", "x = {")[0], "6:1: `x` is a parameter already | rename the tensor map");
    assert_eq!(change("\"128B\"", "\"256B\"").len(), 1);
    assert_eq!(change("[\"m\"", "[\"n\"").len(), 1);
}

#[test]
fn a_parameter_may_be_an_array_of_pointers() {
    let text = r#"
[params]
x = { role = "in", type = "f32", shape = [4] }
list = { pointers = ["x", "x + 3", "null"] }

[globals]
table = { pointers = ["list"] }

[kernel]
source = "k.ptx"
block = 32
args = ["null", ["x", "null"]]
"#;
    let case = read(text).expect("the case is right");
    let pointer = |of: &str, at| Some(TensorAddress { of: of.into(), at });
    let held: Vec<Vec<Option<TensorAddress>>> =
        case.params.iter().filter_map(|param| param.pointers().map(<[_]>::to_vec)).collect();
    assert_eq!(held, [vec![pointer("x", 0), pointer("x", 3), None], vec![pointer("list", 0)]]);
    let zero = || number::parse("0").expect("a number");
    let word = Element::parse("u64").expect("a type");
    let x = Member::Argument(Argument::Named("x".into()));
    let args = vec![Argument::Literal(zero()), Argument::Struct(vec![x, Member::Number(word, zero())])];
    assert_eq!(case.opt.kernel(0).args, Some(args));
    let change = |from: &str, to: &str| problems(&text.replace(from, to));
    assert_eq!(change("\"x + 3\"", "\"y + 3\""), ["4:27: there is no parameter `y` | there are: x, list"]);
    assert_eq!(
        change("\"x + 3\"", "3"),
        ["4:27: a pointer is a tensor, an element of one, or null: \"a\", \"b + 256\", \"null\", not 3"]
    );
    assert_eq!(change("pointers = [\"x\",", "role = \"in\", pointers = [\"x\",").len(), 1);
    assert_eq!(change("[\"list\"]", "[]").len(), 1);
    // Whatever its name, a tensor is no null pointer.
    let named = read(&text.replace("x = {", "null = {").replace("\"x", "\"null")).expect("it is right");
    let first = named.params.iter().find_map(Param::pointers).and_then(|all| all.first().cloned());
    assert_eq!(first, Some(pointer("null", 0)));
}

#[test]
fn structs_are_lists_of_members() {
    let text = r#"
[params]
x = { role = "in", type = "f32", shape = [4] }
n = { type = "i32", value = 4 }

[kernel]
source = "k.ptx"
block = 32
args = [["x", ["n", { type = "f16", value = 0.5 }], { offset = 24 }], 7]
"#;
    let case = read(text).expect("the case is right");
    let named = |name: &str| Member::Argument(Argument::Named(name.into()));
    let half =
        Member::Number(Element::parse("f16").expect("a type"), number::parse("0.5").expect("a number"));
    let inner = Member::Argument(Argument::Struct(vec![named("n"), half]));
    let seven = Argument::Literal(number::parse("7").expect("a number"));
    let whole = Argument::Struct(vec![named("x"), inner, Member::Offset(24)]);
    assert_eq!(case.opt.kernel(0).args, Some(vec![whole, seven]));
    let change = |from: &str, to: &str| problems(&text.replace(from, to));
    assert_eq!(change("[\"n\"", "[\"m\"").len(), 1);
    assert_eq!(
        change("[\"n\",", "[\"n\", 3,"),
        ["9:21: a member of a struct is a parameter's name, a list, `{ type = \"f32\", value = 0.5 }` or \
             `{ offset = 16 }`, not 3"]
    );
    assert_eq!(change("\"f16\"", "\"half\"").len(), 1);
    assert_eq!(change("offset = 24", "offset = -1").len(), 1);
    assert_eq!(change("offset = 24", "byte = 24").len(), 2);
    assert_eq!(change("value = 0.5", "value = 70000").len(), 1);
}

#[test]
fn a_part_of_a_matrix_may_be_known() {
    let text = |contents: &str| {
        format!(
            "[params]\nx = {{ role = \"in\", type = \"f32\", shape = [4, 4], contents = {contents} }}\n\
             [kernel]\nsource = \"k.ptx\"\nblock = 1\n"
        )
    };
    let case = read(&text("{ fill = \"-inf\", symbolic = \"strictly_upper\" }")).expect("the case is right");
    let ParamKind::Tensor { contents, .. } = &case.params[0].kind else { panic!("{case:?}") };
    assert_eq!(*contents, Contents::Partly(Region::StrictlyUpper, Extended::NegInf));
    assert_eq!(problems(&text("{ symbolic = \"lower\" }")).len(), 1);
    assert_eq!(problems(&text("{ fill = 0, symbolic = \"left\" }")).len(), 1);
    assert_eq!(problems(&text("{ fill = 0, symbolic = \"lower\" }").replace("[4, 4]", "[4]")).len(), 1);
}

#[test]
fn types_of_structs_are_parameters_for_each_field() {
    let text = r#"
[params]
x = { role = "in", shape = [4], type = { d = "f16", q = { type = "u8[2x3]", contents = "iota" } } }
y = { role = "out", type = "f32", shape = [4] }

[kernel]
source = "k.ptx"
block = 32
args = ["y", "x"]
"#;
    let case = read(text).expect("the case is right");
    let fields: Vec<_> = case.params.iter().map(|param| (param.name.as_str(), param.binding)).collect();
    let place = |offset, count| Binding::Field(FieldPlace { offset, count, stride: 8 });
    assert_eq!(fields, [("x.d", place(0, 1)), ("x.q", place(2, 6)), ("y", Binding::Argument)]);
    let change = |from: &str, to: &str| problems(&text.replace(from, to));
    assert_eq!(
        change("shape = [4], type = {", "shape = [4], contents = \"iota\", type = {"),
        [
            "3:33: `x` holds structs, and cannot have `contents` | say it of a field: { type = \"f16\", contents = … }"
        ]
    );
    assert_eq!(change("role = \"in\", ", "").len(), 1);
    assert_eq!(change("shape = [4], type = { d", "type = { d").len(), 1);
    assert!(change("\"f16\"", "\"half\"")[0].starts_with("3:46: unknown element type `half` | such as"));
    assert_eq!(change("u8[2x3]", "u8[]").len(), 1);
    assert_eq!(change("\"f16\"", "7").len(), 1);
    assert_eq!(change("\"iota\"", "[1, 2]").len(), 1);
    assert_eq!(change("[\"y\", \"x\"]", "[\"y\", \"x.d\"]").len(), 1);
    assert!(change("[params]", "[globals]")[0].contains("the variable `x` is given as a struct"));
}

#[test]
fn words_where_values_are_wanted_are_named() {
    let sizes = "sizes must be numbers, since a case is verified at one size: shape = [128]; for several, see [family]";
    let params = |value: &str| format!("description = \"ß\"\n[params]\nx = {{ {value} }}\n");
    assert_eq!(problems(&params("shape = [n]")), [format!("3:16: `n` is not a value | {sizes}")]);
    assert_eq!(problems(&params("type = f32")), ["3:14: `f32` is not a value | strings are quoted: \"f32\""]);
    let told = problems(&params("role = \"in\", type = \"f32\", shape = [\"n\"]"));
    assert!(told.iter().any(|problem| problem.ends_with(&format!("| {sizes}"))), "{told:?}");
    // What is wrong may stand behind any character.
    assert_eq!(problems("a = ß\n").len(), 1);
}

#[test]
fn what_a_case_cannot_say_is_named() {
    let with = |from: &str, to: &str| problems(&PAIR.replacen(from, to, 1)).join("\n");
    for (text, meant) in [
        (
            with("[options]\n", "[options]\ntolerance = 0.001\n"),
            "as real numbers: neither their bits nor a distance between them (docs/limits.md)",
        ),
        (with("[options]\n", "[options]\nbit-exact = true\n"), "as real numbers"),
        (with("[opt]\n", "[opt]\nlaunches = [1, 2]\n"), "each in a table `[[reference.launch]]`"),
        (with("[opt]\n", "[[opt]]\n"), "each in a table `[[reference.launch]]`"),
        (with("[params]\n", "formula = \"z = x\"\n[params]\n"), "docs/graphs.md"),
        (
            problems("reference = \"y = x\"\n[params]\n[opt]\nsource = \"k.ptx\"\nblock = 1\n").join("\n"),
            "docs/graphs.md",
        ),
    ] {
        assert!(text.contains(meant), "{meant}: {text}");
    }
}

#[test]
fn what_is_marked_as_a_guess_is_known() {
    let text = PAIR.replace("block = 128\n", "block = 128 # guess\n");
    let text = text.replace("source = \"k.ptx\"", "source = \"k.ptx\" #GUESS: why");
    let text = text.replace("shared = 1024", "shared = 1024 # it is 1024 # guess");
    let guesses = read(&text).expect("it is a case").guesses;
    let found: Vec<&str> = guesses.iter().map(|guess| guess.text.as_str()).collect();
    assert_eq!(found, ["block = 128", "source = \"k.ptx\"", "shared = 1024 # it is 1024"]);
    let line = |text: &str| PAIR.lines().position(|line| line.starts_with(text)).map(|at| at as u32 + 1);
    assert_eq!(
        guesses.iter().map(|guess| guess.line).collect::<Vec<_>>(),
        [
            line("block = 128").expect("it is there"),
            line("source = \"k.ptx\"").expect("it is there"),
            line("shared").expect("it is there"),
        ]
    );
    // Other comments, and texts and keys with the sign.
    for other in ["# guessed", "# a guess", "#", "# guess_"] {
        let text = PAIR.replace("block = 128\n", &format!("block = 128 {other}\n"));
        assert_eq!(read(&text).expect("it is a case").guesses, [], "{other}");
    }
    let text = PAIR.replace("\"so\"", "\"so # guess\"");
    let text = text.replace("text = \"mma\"", "text = \"\"\"\n# guess\"\"\"");
    assert_eq!(read(&text).expect("it is a case").guesses, []);
}
