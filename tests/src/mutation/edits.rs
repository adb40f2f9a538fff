//! The edits of the taxonomy that apply to an instruction.

use volta_core::base::span::Span;
use volta_core::ptx::tree::{Instruction, Literal, LiteralValue, Name, Operand};

use super::Edit;
use super::sites::Site;
use super::taxonomy::{self as kinds, Kind};

/// Constants of the idioms by which compilers build `expf` and `exp2f`.
const IDIOMS: [u32; 8] = [
    0x3fb8_aa3b, // log2 e
    0x32a5_7060, // what it lacks
    0x4b40_0001, // 12582913, which rounds to an integer
    0xcb40_007f, // and takes it away
    0x437c_0000, // 252
    0x3bbb_989d, // log2 e / 252
    0x3102_e308, // ln 2, low part
    0x3f31_7218, // ln 2
];

/// All edits of the instruction at a position, in a fixed order.
pub fn edits(sites: &[Site], at: usize) -> Vec<Edit> {
    let mut all = Edits { instruction: &sites[at].instruction, found: Vec::new() };
    all.whole();
    all.moved(sites, at);
    all.fence_moved(sites, at);
    all.words();
    all.atomic();
    all.guard();
    all.addresses();
    all.literals();
    all.swaps();
    all.wrong(sites, at);
    all.found
}

struct Edits<'i> {
    instruction: &'i Instruction,
    found: Vec<Edit>,
}

fn opcode(instruction: &Instruction) -> &str {
    &instruction.opcode.text
}

fn has(instruction: &Instruction, modifier: &str) -> bool {
    instruction.modifiers.iter().any(|name| name.text == modifier)
}

/// The last type among the modifiers, such as `f32`.
fn element(instruction: &Instruction) -> &str {
    let is_type = |name: &&Name| {
        let (letter, bits) = name.text.split_at(name.text.len().min(1));
        matches!(letter, "f" | "s" | "u" | "b") && bits.parse::<u32>().is_ok()
            || matches!(name.text.as_str(), "bf16" | "f16x2" | "bf16x2" | "pred")
    };
    instruction.modifiers.iter().rfind(is_type).map_or("", |name| &name.text)
}

fn is_float(instruction: &Instruction) -> bool {
    let element = element(instruction);
    element.starts_with('f') || element.starts_with("bf")
}

fn bytes(instruction: &Instruction) -> i64 {
    let digits: String = element(instruction).chars().skip_while(|c| !c.is_ascii_digit()).take(2).collect();
    let bits: i64 = digits.trim_end_matches('x').parse().unwrap_or(32);
    bits.max(8) / 8
}

fn is_barrier(instruction: &Instruction) -> bool {
    matches!(opcode(instruction), "bar" | "barrier")
}

fn is_access(instruction: &Instruction) -> bool {
    let touches =
        matches!(opcode(instruction), "ld" | "st" | "ldmatrix" | "stmatrix" | "atom" | "red" | "cp" | "wmma");
    touches
        && !has(instruction, "param")
        && instruction.operands.iter().any(|operand| matches!(operand, Operand::Address { .. }))
}

fn span(operand: &Operand) -> Option<Span> {
    if let Operand::Name(name) = operand {
        return Some(name.span);
    }
    if let Operand::Literal(literal) = operand { Some(literal.span) } else { None }
}

fn text(operand: &Operand) -> Option<String> {
    if let Operand::Name(name) = operand {
        return Some(name.text.clone());
    }
    let Operand::Literal(literal) = operand else { return None };
    Some(match literal.value {
        LiteralValue::Integer(value) => (value as i64).to_string(),
        LiteralValue::Float32(bits) => float32(bits),
        LiteralValue::Float64(bits) => float64(bits),
    })
}

fn float32(bits: u32) -> String {
    format!("0f{bits:08X}")
}

fn float64(bits: u64) -> String {
    format!("0d{bits:016X}")
}

/// The replacement for an instruction that orders asynchronous operations or operates on a barrier in memory.
fn without_order(instruction: &Instruction) -> Option<String> {
    let any = |modifiers: &[&str]| modifiers.iter().any(|modifier| has(instruction, modifier));
    let is_order = match opcode(instruction) {
        "fence" => any(&["proxy", "mbarrier_init"]),
        // Not `inval`: a kernel may return with valid barriers in memory.
        "mbarrier" => !any(&["inval"]),
        "wgmma" => any(&["fence", "commit_group", "wait_group"]),
        "tcgen05" => any(&["commit", "wait", "fence", "dealloc"]),
        "cp" => has(instruction, "mbarrier"),
        _ => false,
    };
    match instruction.operands.as_slice() {
        // The replacement assumes that the phase is complete.
        [Operand::Name(over), ..] if is_order && any(&["try_wait", "test_wait"]) => {
            Some(format!("setp.eq.b32 {}, 0, 0;", over.text))
        }
        _ if is_order => Some(String::new()),
        _ => None,
    }
}

impl Edits<'_> {
    fn add(&mut self, kind: Kind, changes: Vec<(Span, String)>) {
        let mut changes = changes;
        changes.sort_by_key(|(span, _)| span.start);
        self.found.push(Edit { kind, changes });
    }

    fn replace(&mut self, kind: Kind, span: Span, with: impl Into<String>) {
        self.add(kind, vec![(span, with.into())]);
    }

    /// Drops the instruction, or replaces it by one that does not order accesses.
    fn whole(&mut self) {
        let instruction = self.instruction;
        if let Some(without) = without_order(instruction) {
            self.replace(kinds::ASYNC_DROPPED, instruction.span, without);
            return;
        }
        let kind = match opcode(instruction) {
            "bar" | "barrier" => Some(kinds::BARRIER_DROPPED),
            "cp" if has(instruction, "wait_group")
                || has(instruction, "wait_all")
                || has(instruction, "commit_group") =>
            {
                Some(kinds::COPY_WAIT)
            }
            "st" if !has(instruction, "param") => Some(kinds::STORE_DROPPED),
            "ld" if !has(instruction, "param") => Some(kinds::LOAD_DROPPED),
            "cp" => Some(kinds::STORE_DROPPED),
            "wmma" if has(instruction, "store") => Some(kinds::STORE_DROPPED),
            _ => None,
        };
        if let Some(kind) = kind {
            self.replace(kind, instruction.span, "");
        }
    }

    /// Moves a barrier across a neighbouring access.
    fn moved(&mut self, sites: &[Site], at: usize) {
        if !is_barrier(self.instruction) || self.instruction.guard.is_some() {
            return;
        }
        let barrier = barrier_text(self.instruction);
        let straight = |range: &mut dyn Iterator<Item = usize>| -> Option<usize> {
            for other in range {
                // Control must not enter or leave between the instructions.
                if is_access(&sites[other].instruction) {
                    return Some(other);
                }
                if !sites[other].follows || is_barrier(&sites[other].instruction) {
                    return None;
                }
            }
            None
        };
        let after = straight(&mut (at + 1..sites.len()).take_while(|other| sites[*other].follows));
        if let Some(after) = after {
            let end = sites[after].instruction.span.end;
            let place = Span { start: end, end };
            self.add(
                kinds::BARRIER_MOVED,
                vec![(self.instruction.span, String::new()), (place, format!(" {barrier}"))],
            );
        }
        if sites[at].follows
            && let Some(before) = straight(&mut (0..at).rev())
        {
            let start = sites[before].instruction.span.start;
            let place = Span { start, end: start };
            self.add(
                kinds::BARRIER_MOVED,
                vec![(place, format!("{barrier} ")), (self.instruction.span, String::new())],
            );
        }
    }

    /// Moves a proxy fence before the last access in front of it, if that writes.
    fn fence_moved(&mut self, sites: &[Site], at: usize) {
        let instruction = self.instruction;
        let is_fence = opcode(instruction) == "fence" && has(instruction, "proxy");
        if !is_fence || instruction.guard.is_some() {
            return;
        }
        let mut before = at;
        // Control must not enter or leave between the instructions.
        while sites[before].follows && before > 0 {
            before -= 1;
            let other = &sites[before].instruction;
            if is_barrier(other) || opcode(other) == "mbarrier" {
                return;
            }
            let is_write = matches!(opcode(other), "st" | "stmatrix" | "red") && is_access(other);
            if is_write {
                let start = sites[before].instruction.span.start;
                let place = Span { start, end: start };
                let fence = format!("{} ", barrier_text(instruction));
                self.add(kinds::FENCE_MOVED, vec![(place, fence), (instruction.span, String::new())]);
                return;
            }
            if is_access(other) {
                return;
            }
        }
    }

    /// Replaces modifiers, whose spans begin with their dot, and opcodes.
    fn words(&mut self) {
        let instruction = self.instruction;
        let name = opcode(instruction);
        for (at, word) in instruction.modifiers.iter().enumerate() {
            if name == "setp" || name == "set" {
                for other in comparisons(&word.text) {
                    self.replace(kinds::COMPARISON, word.span, format!(".{other}"));
                }
            }
            let sign_matters = match name {
                "setp" => !has(instruction, "eq") && !has(instruction, "ne"),
                "shr" | "max" | "min" | "div" | "rem" | "cvt" => true,
                "mul" | "mad" => has(instruction, "wide") || has(instruction, "hi"),
                _ => false,
            };
            if sign_matters && let Some(other) = other_sign(&word.text) {
                self.replace(kinds::TYPE, word.span, format!(".{other}"));
            }
            if matches!(name, "ld" | "st")
                && !has(instruction, "param")
                && let Some(half) = half_width(&word.text)
            {
                self.replace(kinds::WIDTH, word.span, format!(".{half}"));
            }
            if name == "shfl" {
                let others: &[&str] = match word.text.as_str() {
                    "bfly" => &["down", "up"],
                    "down" => &["up", "bfly"],
                    "up" => &["down"],
                    "idx" => &["bfly"],
                    _ => &[],
                };
                for other in others {
                    self.replace(kinds::SHUFFLE, word.span, format!(".{other}"));
                }
            }
            if name == "ldmatrix" && word.text == "trans" {
                self.replace(kinds::FRAGMENT, word.span, "");
            }
            if name == "ldmatrix" && word.text == "m8n8" && !has(instruction, "trans") && at > 0 {
                let end = Span { start: word.span.end, end: word.span.end };
                let next = instruction.modifiers.get(at + 1);
                // `.num` may be before or after the shape.
                let end = next
                    .filter(|next| next.text.starts_with('x'))
                    .map_or(end, |next| Span { start: next.span.end, end: next.span.end });
                self.replace(kinds::FRAGMENT, end, ".trans");
            }
            if name == "wmma" && !has(instruction, "mma") && matches!(word.text.as_str(), "row" | "col") {
                self.replace(kinds::FRAGMENT, word.span, if word.text == "row" { ".col" } else { ".row" });
            }
        }
        let simple = instruction.operands.iter().all(|operand| !matches!(operand, Operand::Address { .. }));
        let other = match name {
            "add" => Some("sub"),
            "sub" => Some("add"),
            "max" => Some("min"),
            "min" => Some("max"),
            "mul" if is_float(instruction) => Some("add"),
            "and" => Some("or"),
            "or" => Some("and"),
            "shl" => Some("shr"),
            "shr" if element(instruction).starts_with('b') => Some("shl"),
            "neg" if is_float(instruction) => Some("abs"),
            "abs" if is_float(instruction) => Some("neg"),
            _ => None,
        };
        if let Some(other) = other.filter(|_| simple) {
            // A left shift has no signed form.
            self.replace(kinds::OPERATION, instruction.opcode.span, other);
        }
    }

    /// Replaces an atomic by another one, or by plain accesses.
    fn atomic(&mut self) {
        let instruction = self.instruction;
        let operands = match (opcode(instruction), instruction.operands.as_slice()) {
            ("atom", [_, operands @ ..]) | ("red", operands) => operands,
            _ => return,
        };
        for word in &instruction.modifiers {
            let other = match word.text.as_str() {
                "min" => "max",
                "max" => "min",
                "and" => "or",
                "or" => "xor",
                "xor" => "and",
                "add" if !is_float(instruction) => "max",
                _ => continue,
            };
            self.replace(kinds::ATOMIC, word.span, format!(".{other}"));
        }
        let [Operand::Address { base: Some(base), offset, .. }, operand] = operands else { return };
        let Some(operand) = text(operand) else { return };
        let spaces = ["global", "shared"].into_iter().find(|space| has(instruction, space));
        let space = spaces.map_or(String::new(), |space| format!(".{space}"));
        let bits = 8 * bytes(instruction);
        if !matches!(bits, 32 | 64) {
            return;
        }
        let at = format!("[{}{offset:+}]", base.text);
        let store = format!("st{space}.b{bits} {at}, {operand};");
        let guard = instruction.guard.as_ref().map_or(String::new(), |guard| {
            format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register.text)
        });
        self.replace(kinds::ATOMIC, instruction.span, format!("{guard}{store}"));
        let kind = if is_float(instruction) { "f" } else { "u" };
        if has(instruction, "add") {
            let parts = format!(
                "{{ .reg .{kind}{bits} %held; {guard}ld{space}.{kind}{bits} %held, {at}; \
                 {guard}add.{kind}{bits} %held, %held, {operand}; {guard}st{space}.{kind}{bits} {at}, %held; }}"
            );
            self.replace(kinds::ATOMIC, instruction.span, parts);
        }
    }

    fn guard(&mut self) {
        let Some(guard) = &self.instruction.guard else { return };
        let start = self.instruction.span.start;
        let opposite = if guard.negated { "@" } else { "@!" };
        let before = Span { start, end: guard.register.span.start };
        self.replace(kinds::GUARD, before, opposite);
        let whole = Span { start, end: guard.register.span.end };
        self.replace(kinds::GUARD, whole, "");
    }

    fn addresses(&mut self) {
        if !is_access(self.instruction) {
            return;
        }
        let step = bytes(self.instruction);
        for operand in &self.instruction.operands {
            let Operand::Address { base: Some(base), offset, rest, span } = operand else { continue };
            if !rest.is_empty() {
                continue;
            }
            for step in [step, -step] {
                let offset = offset + step;
                let sign = if offset < 0 { "" } else { "+" };
                self.replace(kinds::INDEX, *span, format!("[{}{sign}{offset}]", base.text));
            }
        }
    }

    fn literals(&mut self) {
        let instruction = self.instruction;
        let name = opcode(instruction);
        let count = instruction.operands.len();
        for (at, operand) in instruction.operands.iter().enumerate() {
            if let Operand::Name(register) = operand
                && let Some(other) = special(&register.text)
            {
                self.replace(kinds::SPECIAL_REGISTER, register.span, other);
            }
            let Operand::Literal(literal) = operand else { continue };
            match literal.value {
                LiteralValue::Integer(value) => match name {
                    "shfl" | "vote" | "match" | "redux" if at + 1 == count => self.mask(literal, value),
                    "bar" if has(instruction, "warp") => self.mask(literal, value),
                    "shfl" if at >= 2 => {
                        let other = if at == 2 { value ^ 1 } else { value >> 1 };
                        self.replace(kinds::SHUFFLE, literal.span, (other as i64).to_string());
                    }
                    "cp" if has(instruction, "wait_group") => {
                        self.replace(kinds::COPY_WAIT, literal.span, (value + 1).to_string());
                    }
                    "add" | "sub" | "mul" | "mad" | "shl" | "shr" | "and" | "or" | "xor" | "setp" | "mov"
                    | "selp" | "min" | "max" | "div" | "rem" | "bfe" | "bfi"
                        if !is_float(instruction) =>
                    {
                        for other in [value.wrapping_add(1), value.wrapping_sub(1)] {
                            self.replace(kinds::INTEGER_CONSTANT, literal.span, (other as i64).to_string());
                        }
                    }
                    _ => {}
                },
                LiteralValue::Float32(bits) if IDIOMS.contains(&bits) => {
                    for flipped in [bits ^ 1 << 2, bits ^ 1 << 12, bits ^ 1 << 23] {
                        self.replace(kinds::IDIOM_CONSTANT, literal.span, float32(flipped));
                    }
                }
                LiteralValue::Float32(bits) => {
                    for other in other_floats(f32::from_bits(bits).into()) {
                        self.replace(kinds::FLOAT_CONSTANT, literal.span, float32((other as f32).to_bits()));
                    }
                }
                LiteralValue::Float64(bits) => {
                    for other in other_floats(f64::from_bits(bits)) {
                        self.replace(kinds::FLOAT_CONSTANT, literal.span, float64(other.to_bits()));
                    }
                }
            }
        }
    }

    fn mask(&mut self, literal: &Literal, value: u64) {
        let mask = value as u32;
        for other in [mask & mask.wrapping_sub(1), mask & !(0x8000_0000 >> mask.leading_zeros().min(31))] {
            self.replace(kinds::MASK, literal.span, other.to_string());
        }
    }

    fn swaps(&mut self) {
        let instruction = self.instruction;
        let pair = match opcode(instruction) {
            "sub" | "div" | "shl" | "shr" | "rem" | "selp" => Some((1, 2)),
            "setp" if !has(instruction, "eq") && !has(instruction, "ne") => Some((1, 2)),
            "fma" => Some((2, 3)),
            "mad" if has(instruction, "lo") => Some((2, 3)),
            _ => None,
        };
        let operands = &instruction.operands;
        if let Some((a, b)) = pair
            && let (Some(a), Some(b)) = (operands.get(a), operands.get(b))
            && let (Some(left), Some(right)) = (span(a), span(b))
            && let (Some(a), Some(b)) = (text(a), text(b))
            && a != b
        {
            self.add(kinds::OPERANDS_SWAPPED, vec![(left, b), (right, a)]);
        }
        let kind = match opcode(instruction) {
            "mma" | "wmma" | "ldmatrix" => kinds::FRAGMENT,
            "ld" | "st" => kinds::VECTOR_ORDER,
            _ => return,
        };
        for operand in operands {
            let Operand::Vector(parts, _) = operand else { continue };
            for two in parts.windows(2) {
                let [a, b] = two else { continue };
                if let (Some(left), Some(right), Some(a), Some(b)) = (span(a), span(b), text(a), text(b))
                    && a != b
                {
                    self.add(kind, vec![(left, b), (right, a)]);
                }
            }
        }
    }

    /// Replaces a source by the most recent result of the same class.
    fn wrong(&mut self, sites: &[Site], at: usize) {
        let class = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let computes = |instruction: &Instruction| {
            !matches!(opcode(instruction), "st" | "bra" | "call" | "bar" | "barrier" | "ret" | "cp" | "red")
        };
        if !computes(self.instruction) || has(self.instruction, "param") {
            return;
        }
        for operand in self.instruction.operands.iter().skip(1) {
            let Operand::Name(source) = operand else { continue };
            if !source.text.starts_with('%') || source.text.contains('.') {
                continue;
            }
            let before =
                sites[..at].iter().rev().take(24).find_map(|site| match site.instruction.operands.first() {
                    Some(Operand::Name(result))
                        if computes(&site.instruction)
                            && class(&result.text) == class(&source.text)
                            && result.text != source.text =>
                    {
                        Some(result.text.clone())
                    }
                    _ => None,
                });
            if let Some(before) = before {
                self.replace(kinds::OPERAND_WRONG, source.span, before);
            }
        }
    }
}

/// A barrier or a fence as text, from its parts.
fn barrier_text(instruction: &Instruction) -> String {
    let modifiers: String = instruction.modifiers.iter().map(|word| format!(".{}", word.text)).collect();
    let operands: Vec<String> = instruction.operands.iter().filter_map(text).collect();
    format!("{}{modifiers} {};", opcode(instruction), operands.join(", "))
}

fn comparisons(word: &str) -> &'static [&'static str] {
    match word {
        "lt" => &["le", "gt"],
        "le" => &["lt", "ge"],
        "gt" => &["ge", "lt"],
        "ge" => &["gt", "le"],
        "eq" => &["ne"],
        "ne" => &["eq"],
        "ltu" => &["leu", "gtu"],
        "leu" => &["ltu", "geu"],
        "gtu" => &["geu", "ltu"],
        "geu" => &["gtu", "leu"],
        "equ" => &["neu"],
        "neu" => &["equ"],
        _ => &[],
    }
}

fn other_sign(word: &str) -> Option<String> {
    let (letter, bits) = word.split_at(word.len().min(1));
    let other = match letter {
        "s" => "u",
        "u" => "s",
        _ => return None,
    };
    bits.parse::<u32>().ok().map(|_| format!("{other}{bits}"))
}

fn half_width(word: &str) -> Option<String> {
    let (letter, bits) = word.split_at(word.len().min(1));
    let bits: u32 = bits.parse().ok()?;
    (matches!(letter, "s" | "u" | "b") && bits > 8).then(|| format!("{letter}{}", bits / 2))
}

fn other_floats(value: f64) -> Vec<f64> {
    if value == 0.0 {
        vec![1.0]
    } else if value.is_infinite() {
        vec![0.0, -value]
    } else {
        vec![value * 2.0, -value]
    }
}

fn special(name: &str) -> Option<&'static str> {
    Some(match name {
        "%tid.x" => "%ctaid.x",
        "%tid.y" => "%tid.x",
        "%tid.z" => "%tid.y",
        "%ctaid.x" => "%tid.x",
        "%ctaid.y" => "%ctaid.x",
        "%ctaid.z" => "%ctaid.y",
        "%ntid.x" => "%nctaid.x",
        "%ntid.y" => "%ntid.x",
        "%nctaid.x" => "%ntid.x",
        "%laneid" => "%tid.y",
        _ => return None,
    })
}
