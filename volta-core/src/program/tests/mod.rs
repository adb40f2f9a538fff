//! Tests of lowering as a whole.

use super::*;

mod calls;
mod control;
mod corpus;
mod instructions;
mod names;
mod opcodes;
mod programs;
mod repeat;
mod variables;

/// Lowers a body that may use `%r %f %d %fd %h %p` registers, and prints its operations, without the last exit.
fn ops(body: &str) -> String {
    let text = format!(
        ".visible .entry k(.param .u64 a, .param .u32 n)
        {{
            .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %d<10>; .reg .f64 %fd<10>; .reg .b16 %h<10>;
            .reg .pred %p<10>; .reg .b8 %b<10>;
            {body}
        }}"
    );
    shown(&text)
}

/// Lowers the only kernel of a text, and prints its operations, without the last exit and the end without one;
/// or its error.
fn shown(text: &str) -> String {
    let module = crate::ptx::parse(text).expect("PTX");
    match lower(&module, text, None) {
        Ok(program) => {
            let (last, insts) = program.insts.split_last().expect("an exit");
            assert_eq!((last.op.clone(), last.guard), (Op::Exit, None));
            // Most texts here leave out the return.
            let is_end =
                |inst: &Inst| inst.op.not_supported().is_some_and(|why| why.starts_with("the end of `k`"));
            let insts = insts.split_last().filter(|(last, _)| is_end(last)).map_or(insts, |(_, insts)| insts);
            insts.iter().map(|inst| format!("{inst}\n")).collect()
        }
        Err(error) => {
            let place = error.span().and_then(|span| text.get(span.start as usize..span.end as usize));
            let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("error at `{}`: {error}{help}\n", place.unwrap_or("nothing"))
        }
    }
}
