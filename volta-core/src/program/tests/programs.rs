//! Facts of a program besides its code.

use crate::program::{Location, LowerError, Program, lower};

#[test]
fn the_launch_bounds_are_read() {
    let text = ".entry k() .maxntid 128, 2 .minnctapersm 2 .reqntid 64 { ret; }";
    let module = crate::ptx::parse(text).expect("PTX");
    let program = lower(&module, text, None).expect("a program");
    assert_eq!(
        (program.bounds.max_block, program.bounds.required_block),
        (Some([128, 2, 1]), Some([64, 1, 1]))
    );
}

#[test]
fn places_come_from_the_last_loc() {
    let text = ".entry k()
        {
            .reg .b32 %r<9>;
            bar.sync 0;
            .loc 1 7 3
            mov.u32 %r1, 1;
            mov.u32 %r1, 2;
            .loc 2 9 0, function_name $L__info, inlined_at 1 7 3
            mov.u32 %r1, 3;
            .loc 2 4 2, function_name $L__other, inlined_at 2 9 0
            mov.u32 %r1, 4;
            .loc 1 7 3
            ret;
        }
        .file 1 \"a.cu\"
        .file 2 \"b.h\"
        ";
    let module = crate::ptx::parse(text).expect("PTX");
    let program = lower(&module, text, None).expect("a program");
    let locations: Vec<_> = program.insts.iter().map(|inst| inst.location).collect();
    assert_eq!(locations, [None, Some(0), Some(0), Some(1), Some(2), Some(0), None]);
    let place =
        |file: &str, line, column, inlined_at| Location { file: file.into(), line, column, inlined_at };
    assert_eq!(
        program.locations,
        [place("a.cu", 7, 3, None), place("b.h", 9, 0, Some(0)), place("b.h", 4, 2, Some(1))]
    );
    assert_eq!(program.lines, 17);
    let texts: Vec<_> =
        program.insts.iter().map(|inst| text.get(inst.span.start as usize..inst.span.end as usize)).collect();
    assert_eq!(texts[1], Some("mov.u32 %r1, 1;"));
    assert_eq!(texts[6], Some("}"));
}

#[test]
fn deep_blocks_are_an_error() {
    let text = format!(".entry k() {{ {}{} }}", "{".repeat(240), "}".repeat(240));
    if let Ok(module) = crate::ptx::parse(&text) {
        assert!(matches!(lower(&module, &text, None), Err(LowerError::Depth { .. })));
    }
}

#[test]
fn the_code_always_ends() {
    let text = ".entry k() { .reg .pred p; L: @p bra L; }";
    let module = crate::ptx::parse(text).expect("PTX");
    let program = lower(&module, text, None).expect("a program");
    let end = "unsupported: the end of `k` is reached without `ret`: what happens there is not defined";
    assert_eq!(program.to_string(), format!("kernel k\n@0   @p0 branch @0\n@1   {end}\n@2   exit\n"));
    assert_eq!(program.check(), Ok(()));
}

#[test]
fn broken_programs_are_noticed() {
    let text = ".entry k() { .reg .pred p; .reg .b32 r; .shared .b32 s; @p mov.u32 r, s; ret; }";
    let module = crate::ptx::parse(text).expect("PTX");
    let program = lower(&module, text, None).expect("a program");
    assert_eq!(program.check(), Ok(()));
    let broken = |change: fn(&mut Program)| {
        let mut program = program.clone();
        change(&mut program);
        program.check().map_err(|broken| broken.to_string())
    };
    assert_eq!(broken(|program| program.registers = 0), Err("@0: there is no register r0".into()));
    assert_eq!(broken(|program| program.predicates = 0), Err("@0: there is no predicate p0".into()));
    assert_eq!(broken(|program| program.variables.clear()), Err("@0: there is no variable v0".into()));
    assert_eq!(
        broken(|program| program.insts.truncate(1)),
        Err("@0: the program does not end with an exit".into())
    );
    assert_eq!(
        broken(|program| program.insts[2].guard = program.insts[0].guard),
        Err("@2: the program does not end with an exit".into())
    );
}
