//! Kernels from elsewhere, each alone: its unsupported instructions, and the verdict of a guessed launch.

use std::time::{Duration, Instant};

use serde::Serialize;
use volta_core::base::budget::{Deadline, Limit};
use volta_core::inspect::{guess_launch, inspect};
use volta_core::ptx::tree::{Item, Module};
use volta_core::verdict::{InputError, Verdict};
use volta_core::{program, ptx, verify};

/// The limit on warp instructions of a guessed launch.
const MOST_INSTRUCTIONS: u64 = 1 << 22;

/// The result for a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The name of its file.
    pub file: String,
    /// Its name in the source.
    pub kernel: String,
    /// The reasons why instructions of it are not supported, each once.
    pub unsupported: Vec<String>,
    /// The name of the verdict.
    pub verdict: String,
    /// The reason of the verdict, without numbers, so that kernels can be grouped by it.
    pub reason: String,
    /// The time that it took.
    pub seconds: f64,
}

/// Tries the kernels of a module.
pub fn try_all(file: &str, text: &str, timeout: Duration) -> Vec<Tried> {
    match ptx::parse(text) {
        Ok(module) => program::kernels(&module)
            .into_iter()
            .map(|kernel| {
                let own = alone(&module, text, &kernel.name);
                tried(file, &own, &kernel.name, kernel.source_name, timeout)
            })
            .collect(),
        Err(error) => vec![Tried {
            file: file.into(),
            kernel: "the whole file".into(),
            unsupported: vec![error.message.clone()],
            verdict: "input-error".into(),
            reason: error.message,
            seconds: 0.0,
        }],
    }
}

/// The text of a module without its other kernels; a file may have hundreds.
fn alone(module: &Module, text: &str, name: &str) -> String {
    let (mut own, mut at) = (String::new(), 0);
    for item in &module.items {
        if let Item::Function(function) = item
            && function.entry
            && function.name.text != name
        {
            own += &text[at..function.span.start as usize];
            at = function.span.end as usize;
        }
    }
    own + &text[at..]
}

fn tried(file: &str, text: &str, name: &str, source_name: String, timeout: Duration) -> Tried {
    let started = Instant::now();
    let (unsupported, verdict) = launched(file, text, name, timeout);
    Tried {
        file: file.into(),
        kernel: source_name,
        verdict: verdict.name(),
        reason: reason(&verdict, &unsupported),
        unsupported,
        seconds: started.elapsed().as_secs_f64(),
    }
}

/// The reasons why instructions are not supported, and the verdict of the guessed launch.
fn launched(file: &str, text: &str, name: &str, timeout: Duration) -> (Vec<String>, Verdict) {
    let wrong = |error: InputError| (vec![error.message.clone()], Verdict::InputError(error));
    let kernel = match inspect(file, text, Some(name)) {
        Ok(mut kernels) => kernels.remove(0),
        Err(error) => return wrong(error),
    };
    let mut unsupported: Vec<String> = kernel.unsupported.iter().map(|(_, reason)| reason.clone()).collect();
    unsupported.sort();
    unsupported.dedup();
    let guess = match guess_launch(file, text, &kernel, None) {
        Ok(guess) => guess,
        Err(error) => return wrong(error),
    };
    let verdict = match guess.case(file, text, &kernel) {
        Ok(mut case) => {
            case.options.budgets[Limit::Instructions] = MOST_INSTRUCTIONS;
            case.options.budgets.deadline = Deadline::after(timeout);
            verify(&case).verdict
        }
        Err(verdict) => verdict,
    };
    (unsupported, verdict)
}

/// The reason of a verdict without its numbers, so that it is the same for many kernels.
fn reason(verdict: &Verdict, unsupported: &[String]) -> String {
    let said = match verdict {
        Verdict::Fault(fault) => &fault.message,
        Verdict::Unknown(unknown) => &unknown.reason,
        Verdict::InputError(error) => &error.message,
        Verdict::Clean
        | Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Different(_) => {
            return unsupported
                .first()
                .map_or(String::new(), |_| "its unsupported instructions are not reached".into());
        }
    };
    let mut text = String::new();
    for c in said.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            c => text.push(c),
        }
    }
    text
}
