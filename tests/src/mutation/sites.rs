//! The instructions of a kernel and of the functions that it calls, in order, with their source lines.

use volta_core::ptx::location::Loc;
use volta_core::ptx::tree::{FunctionDefinition, Instruction, Item, Module, Operand, Statement};

/// An instruction.
#[derive(Clone, Debug)]
pub struct Site {
    /// The instruction.
    pub instruction: Instruction,
    /// The PTX function that contains it.
    pub function: String,
    /// The number of instructions before it in the function.
    pub index: usize,
    /// Its source line according to `.loc`; 0 if there is none.
    pub line: u32,
    /// Whether control reaches it only from the instruction before it.
    pub follows: bool,
}

/// All instructions of `kernel`, or of the only entry if it is `None`, and of the functions that it calls.
pub fn sites(module: &Module, kernel: Option<&str>) -> Vec<Site> {
    let functions = || {
        module.items.iter().filter_map(|item| {
            if let Item::Function(function) = item
                && function.body.is_some()
            {
                Some(function)
            } else {
                None
            }
        })
    };
    let is_root =
        |function: &&FunctionDefinition| function.entry && kernel.is_none_or(|name| named(function, name));
    let mut wanted: Vec<&FunctionDefinition> = functions().find(is_root).into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < wanted.len() {
        let body = wanted[at].body.as_deref().unwrap_or_default();
        let start = found.len();
        let mut line = 0;
        collect(body, &mut line, &mut false, &mut found);
        for (index, site) in found[start..].iter_mut().enumerate() {
            (site.function, site.index) = (wanted[at].name.text.clone(), index);
        }
        for site in &found[start..] {
            for operand in &site.instruction.operands {
                let Operand::Name(callee) = operand else { continue };
                let callee = functions().find(|function| function.name.text == callee.text);
                if site.instruction.opcode.text == "call"
                    && let Some(callee) = callee
                    && !wanted.iter().any(|known| std::ptr::eq(*known, callee))
                {
                    wanted.push(callee);
                }
            }
        }
        at += 1;
    }
    found
}

/// Whether `name` in a case means this function: its name in PTX, or its demangled one.
fn named(function: &FunctionDefinition, name: &str) -> bool {
    let plain = name.split(['<', '(']).next().unwrap_or(name);
    function.name.text == name || function.name.text.contains(&format!("{}{plain}", plain.len()))
}

fn collect(body: &[Statement], line: &mut u32, follows: &mut bool, found: &mut Vec<Site>) {
    for statement in body {
        match statement {
            Statement::Instruction(instruction) => {
                found.push(Site {
                    instruction: instruction.clone(),
                    function: String::new(),
                    index: 0,
                    line: *line,
                    follows: *follows,
                });
                *follows =
                    !matches!(instruction.opcode.text.as_str(), "bra" | "ret" | "exit" | "call" | "brx");
            }
            Statement::Label(_) => *follows = false,
            Statement::Block(inner, _) => collect(inner, line, follows, found),
            Statement::Directive(directive) => {
                if let Some(loc) = Loc::read(directive) {
                    // For code inlined from a header, the line of the call.
                    *line = match loc.inlined_at {
                        Some((file, outer, _)) if file != loc.file => outer,
                        _ => loc.line,
                    };
                }
            }
            Statement::Registers(_) | Statement::Variable(_) | Statement::Table(_) => {}
        }
    }
}
