//! The example of ARCHITECTURE.md, one kernel through every stage, is compared with the output of the stages.

use std::rc::Rc;
use volta_core::launch;

use volta_core::base::ration::Ration;
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role, Which,
};
use volta_core::decide::InputInfo;
use volta_core::decide::forms::Forms;
use volta_core::machine::{self, OutputValue, Recognition};
use volta_core::term::{InputId, expression, spell_element};
use volta_core::{program, ptx};

fn tensor(name: &str, role: Role, contents: Contents) -> Param {
    let element = Element::parse("f32").expect("a type");
    let shape = vec![32];
    let kind = ParamKind::Tensor {
        reference: element,
        opt: element,
        shape,
        role,
        contents,
        assumed: Assumed::default(),
    };
    Param::new(name, kind, Binding::Argument)
}

fn side(text: &str, kernel: &str) -> KernelLaunch {
    KernelLaunch {
        ptx: text.into(),
        path: "halves.ptx".into(),
        kernel: Some(kernel.into()),
        arguments: None,
        launch: Launch::of_threads(32),
    }
}

#[test]
fn the_architecture_page_shows_what_the_stages_give() {
    let page = include_str!("../../ARCHITECTURE.md");
    let text = include_str!("architecture/halves.ptx");
    let shows = |stage: &str, what: &str| {
        for line in what.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert!(
                page.contains(line),
                "ARCHITECTURE.md does not show this line of {stage}:\n{line}\nof\n{what}"
            );
        }
    };
    let source = include_str!("architecture/halves.cu");
    shows("the source", source.split_once("\n\n").expect("two kernels").1);

    let module = ptx::parse(text).expect("valid PTX");
    let lowered = program::lower(&module, text, Some("halves")).expect("a kernel");
    shows("the program", &lowered.to_string());

    let params = vec![tensor("x", Role::In, Contents::Symbolic), tensor("y", Role::Out, Contents::Undefined)];
    let opt = side(text, "halves");
    let options = Options::default();
    let job = launch::Job::only(Which::Opt, (&lowered, &opt), &params, &options);
    let (outcome, _) = machine::run(&job, Recognition::default());
    let outcome = outcome.expect("no fault");
    let output = outcome.outputs[3];
    let store = &outcome.stores[output.store];
    let OutputValue::Real(term) = output.value else { panic!("a real") };
    shows(
        "the term",
        &expression(store, term, 9, &|_, element| spell_element("x", &[32], element), &|_| None),
    );

    let inputs: Vec<InputInfo> = ["x", "y"]
        .map(|name| InputInfo { name: name.into(), shape: vec![32], ..InputInfo::default() })
        .into();
    let mut forms = Forms::new(&inputs);
    forms.add_terms(store, &[(InputId(1), 3, term)], &Rc::new(Ration::endless()));
    shows("the canonical form", &forms.formula().to_string());

    let reference = Some(side(text, "twice").into());
    let report =
        volta_core::verify(&Case { params, reference, opt: opt.into(), options: Options::default() });
    shows("the verdict", &report.verdict.name());
}
