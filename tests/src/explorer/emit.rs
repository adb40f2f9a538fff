//! Programs as PTX.
//!
//! The kernel takes the tensor `g` of [`HALVES`] half words, the tensor `s` of the half words of the source, and the
//! tensor `y` of one word a thread. Before an active thread returns, it stores its register in `y`, unless the shared
//! words were not initialised.

use std::fmt::Write;

use super::{
    Act, CELLS, Cell, Count, Final, HALVES, INITIAL, Members, Operation, Program, Space, Stored, Transfer,
    Update, Use, Warp, threads,
};

/// How guards are emitted as PTX; the meaning is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Every guarded line is branched around.
    Branches,
    /// Barriers and accesses are predicated.
    Predicates,
}

/// The number of threads of the block.
pub fn block(program: &Program) -> u32 {
    let whole = 32 * program.warps.len() as u32;
    match program.warps.last() {
        Some(last) if !last.rest => whole - 32 + last.lanes.len() as u32,
        _ => whole,
    }
}

/// Where warps run; the meaning is the same if all barriers are for all threads and the words are global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// All in one CTA.
    Cta,
    /// Each is a CTA of a cluster; barriers are the cluster's.
    Cluster,
}

/// The number of flags that lines may be under.
pub const FLAGS: usize = 2;

/// By warp and line: the flag under which a line is executed, if it is under one.
pub type Flags = Vec<Vec<Option<usize>>>;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\n\
    .visible .entry k(.param .u64 g, .param .u64 s, .param .u64 y)\n{\n\
    \t.reg .pred %p, %warp, %member<4>, %true, %any, %flag<2>;\n\
    \t.reg .b16 %h;\n\
    \t.reg .b32 %thread, %w, %lane, %r, %t, %s;\n\
    \t.reg .b64 %base, %source, %y, %o, %u, %v;\n";

/// A program as a kernel `k`.
pub struct Kernel {
    /// The text.
    pub ptx: String,
    /// For each of its lines, the warp and the line of the warp's text from which it is emitted, if any.
    pub lines: Vec<Option<(usize, usize)>>,
}

/// The program as a kernel `k`.
pub fn kernel(program: &Program, style: Style, home: Home) -> Kernel {
    kernel_under(program, style, home, Flags::new())
}

/// The program as a kernel `k` that executes lines where words of the tensor `f` are not 0: branches that inputs decide,
/// for all threads of a warp alike.
pub fn kernel_under(program: &Program, style: Style, home: Home, flags: Flags) -> Kernel {
    let mut emitter = Emitter::new(style, program.space, home);
    if !flags.is_empty() {
        emitter.out = HEAD.replace(".param .u64 y)", ".param .u64 y, .param .u64 f)");
        emitter.flags = flags;
    }
    emitter.head();
    for at in 0..program.warps.len() {
        emitter.line(&format!("setp.eq.u32 %warp, %w, {at};"));
        emitter.line(&format!("@%warp bra W{at};"));
    }
    emitter.line("exit;");
    for (at, warp) in program.warps.iter().enumerate() {
        emitter.label(&format!("W{at}"));
        emitter.warp(at, warp);
    }
    emitter.out.push_str("}\n");
    Kernel { ptx: emitter.out, lines: emitter.lines }
}

/// A kernel `k` of one thread that stores the memory and registers of `end` in the tensors.
pub fn outcome(program: &Program, end: &Final) -> String {
    let mut emitter = Emitter::new(Style::Branches, program.space, Home::Cta);
    for (tensor, halves) in [("g", 0..HALVES), ("s", HALVES..CELLS)] {
        if tensor == "g" && program.space != Space::Global || tensor == "s" && !writes_source(program) {
            continue;
        }
        emitter.line(&format!("ld.param.u64 %o, [{tensor}];"));
        emitter.line("cvta.to.global.u64 %o, %o;");
        for (at, half) in halves.enumerate() {
            emitter.line(&format!("mov.b16 %h, {};", end.memory[half]));
            emitter.line(&format!("st.global.u16 [%o+{}], %h;", 2 * at));
        }
    }
    emitter.line("ld.param.u64 %y, [y];");
    emitter.line("cvta.to.global.u64 %y, %y;");
    for (thread, value) in threads(program).iter().zip(&end.registers) {
        let Some(lane) = program.warps[thread.warp].lanes.get(thread.member) else { continue };
        emitter.line(&format!("mov.u32 %r, {value};"));
        emitter.line(&format!("st.global.u32 [%y+{}], %r;", 4 * (32 * thread.warp + usize::from(*lane))));
    }
    emitter.line("exit;");
    emitter.out.push_str("}\n");
    emitter.out
}

/// Whether some thread writes to the source, so that it is not only an input.
pub fn writes_source(program: &Program) -> bool {
    let mut lines = program.warps.iter().flat_map(|warp| &warp.lines);
    lines.any(|line| matches!(line.act, Act::Write(cell, _) if usize::from(cell.half) >= HALVES))
}

struct Emitter {
    out: String,
    labels: u32,
    style: Style,
    space: Space,
    home: Home,
    flags: Flags,
    lines: Vec<Option<(usize, usize)>>,
}

impl Emitter {
    fn new(style: Style, space: Space, home: Home) -> Emitter {
        let (flags, lines) = (Flags::new(), Vec::new());
        Emitter { out: HEAD.into(), labels: 0, style, space, home, flags, lines }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "\t{text}");
    }

    fn label(&mut self, name: &str) {
        let _ = writeln!(self.out, "{name}:");
    }

    fn head(&mut self) {
        if self.space != Space::Global {
            self.line(&format!(".shared .align 8 .b8 cells[{}];", 2 * HALVES));
            self.line("mov.u64 %base, cells;");
        } else {
            self.line("ld.param.u64 %base, [g];");
            self.line("cvta.to.global.u64 %base, %base;");
        }
        let places = match self.home {
            Home::Cta => {
                ["mov.u32 %thread, %tid.x;", "shr.u32 %w, %thread, 5;", "and.b32 %lane, %thread, 31;"]
            }
            Home::Cluster => [
                "mov.u32 %lane, %tid.x;",
                "mov.u32 %w, %cluster_ctarank;",
                "mad.lo.u32 %thread, %w, 32, %lane;",
            ],
        };
        places.iter().for_each(|text| self.line(text));
        for text in [
            "ld.param.u64 %source, [s];",
            "cvta.to.global.u64 %source, %source;",
            "ld.param.u64 %y, [y];",
            "cvta.to.global.u64 %y, %y;",
            "mul.wide.u32 %o, %thread, 4;",
            "add.s64 %y, %y, %o;",
            "mov.u32 %r, 0;",
            "setp.eq.u32 %true, %r, 0;",
        ] {
            self.line(text);
        }
        if !self.flags.is_empty() {
            self.line("ld.param.u64 %o, [f];");
            self.line("cvta.to.global.u64 %o, %o;");
            for flag in 0..FLAGS {
                self.line(&format!("ld.global.u32 %r, [%o+{}];", 4 * flag));
                self.line(&format!("setp.ne.u32 %flag{flag}, %r, 0;"));
            }
            self.line("mov.u32 %r, 0;");
        }
        if self.space == Space::SharedInitialised {
            self.line("setp.ne.u32 %p, %thread, 0;");
            self.line("@%p bra INITIALISED;");
            for (half, value) in INITIAL[..HALVES].iter().enumerate() {
                self.line(&format!("mov.b16 %h, {value};"));
                self.line(&format!("st.volatile.shared.u16 [%base+{}], %h;", 2 * half));
            }
            self.label("INITIALISED");
            self.line("bar.sync 15;");
        }
    }

    fn warp(&mut self, at: usize, warp: &Warp) {
        for (member, lane) in warp.lanes.iter().enumerate() {
            self.line(&format!("setp.eq.u32 %member{member}, %lane, {lane};"));
        }
        if warp.rest {
            let rest = warp.lanes.len();
            self.line(&format!("or.pred %member{rest}, %member0, %member{};", rest - 1));
            if rest == 3 {
                self.line("or.pred %member3, %member3, %member1;");
            }
            self.line(&format!("not.pred %member{rest}, %member{rest};"));
        }
        for (number, line) in warp.lines.iter().enumerate() {
            self.lines.resize(self.out.lines().count(), None);
            let executes = (0..warp.members()).filter(|member| warp.executes(*member, line));
            let guard = executes.fold(0, |guard, member| guard | 1 << member);
            let flag = self.flags.get(at).and_then(|lines| lines[number]);
            if let Some(flag) = flag {
                self.line(&format!("@!%flag{flag} bra F{at}_{number};"));
            }
            self.guarded(warp, guard, line.act);
            if flag.is_some() {
                self.label(&format!("F{at}_{number}"));
            }
            self.lines.resize(self.out.lines().count(), Some((at, number)));
        }
        self.guarded(warp, warp.everybody(), Act::Exit);
    }

    fn guarded(&mut self, warp: &Warp, guard: Members, act: Act) {
        if guard == 0 {
            return;
        }
        if guard == warp.everybody() {
            return self.act(warp, act, "");
        }
        let mut members = (0..warp.members()).filter(|member| guard >> member & 1 == 1);
        if let Some(first) = members.next() {
            self.line(&format!("and.pred %p, %member{first}, %true;"));
        }
        for member in members {
            self.line(&format!("or.pred %p, %p, %member{member};"));
        }
        if self.style == Style::Predicates && !matches!(act, Act::Exit) {
            return self.act(warp, act, "@%p ");
        }
        let label = format!("L{}", self.labels);
        self.labels += 1;
        self.line(&format!("@!%p bra {label};"));
        self.act(warp, act, "");
        self.label(&label);
    }

    fn act(&mut self, warp: &Warp, act: Act, guard: &str) {
        let in_source = |half: u8| format!("[%source+{}]", 2 * (usize::from(half) - HALVES));
        let in_words = |half: u8| format!("[%base+{}]", 2 * half);
        let at = |Cell { half, .. }: Cell| match (usize::from(half) < HALVES, self.space) {
            (true, Space::Global) => ("global", in_words(half)),
            (true, Space::Shared | Space::SharedInitialised) => ("shared", in_words(half)),
            (false, _) => ("global", in_source(half)),
        };
        match act {
            Act::Read(cell) if cell.wide => {
                let (space, at) = at(cell);
                self.line(&format!("{guard}ld.volatile.{space}.u32 %r, {at};"));
            }
            Act::Read(cell) => {
                let (space, at) = at(cell);
                self.line(&format!("{guard}ld.volatile.{space}.u16 %h, {at};"));
                self.line(&format!("{guard}cvt.u32.u16 %r, %h;"));
            }
            Act::Write(cell, stored) => {
                let (space, at) = at(cell);
                let source = match stored {
                    Stored::Register => "%r",
                    Stored::Constant(value) => {
                        self.line(&format!("mov.u32 %t, {value};"));
                        "%t"
                    }
                };
                if cell.wide {
                    self.line(&format!("{guard}st.volatile.{space}.u32 {at}, {source};"));
                } else {
                    self.line(&format!("{guard}cvt.u16.u32 %h, {source};"));
                    self.line(&format!("{guard}st.volatile.{space}.u16 {at}, %h;"));
                }
            }
            Act::Update(update) => self.update(update, guard),
            Act::Barrier { .. } if self.home == Home::Cluster => {
                self.line(&format!("{guard}barrier.cluster.arrive.aligned;"));
                self.line(&format!("{guard}barrier.cluster.wait.aligned;"));
            }
            Act::Barrier { how, id, count, aligned } => {
                let name = if aligned { "bar" } else { "barrier" };
                let count = match count {
                    Count::All => String::new(),
                    Count::Threads(threads) => format!(", {threads}"),
                };
                match how {
                    Use::Sync => self.line(&format!("{guard}{name}.sync {id}{count};")),
                    Use::Arrive => self.line(&format!("{guard}{name}.arrive {id}{count};")),
                    Use::Reduce => {
                        self.line(&format!("{guard}{name}.red.popc.u32 %s, {id}{count}, %true;"));
                    }
                    Use::ReduceAny => {
                        self.line(&format!("{guard}{name}.red.or.pred %any, {id}{count}, %true;"));
                    }
                }
            }
            Act::WarpSync(mask) => {
                self.line(&format!("{guard}bar.warp.sync {:#x};", lanes(warp, mask)));
            }
            Act::Shuffle { mask, from } => {
                let from = warp.lanes.get(usize::from(from)).copied().unwrap_or(31);
                let mask = lanes(warp, mask);
                self.line(&format!("{guard}shfl.sync.idx.b32 %s, %lane, {from}, 31, {mask:#x};"));
            }
            Act::Copy(Transfer { to, from, size, taken }) => {
                let part = match taken {
                    _ if taken == size => String::new(),
                    // A copy of nothing has two spellings.
                    0 if self.style == Style::Predicates => ", %true".into(),
                    _ => format!(", {}", 2 * taken),
                };
                let (to, from) = (in_words(to), in_source(from));
                self.line(&format!("{guard}cp.async.ca.shared.global {to}, {from}, {}{part};", 2 * size));
            }
            Act::Commit => self.line(&format!("{guard}cp.async.commit_group;")),
            Act::Wait(Some(pending)) => self.line(&format!("{guard}cp.async.wait_group {pending};")),
            Act::Wait(None) => self.line(&format!("{guard}cp.async.wait_all;")),
            Act::Exit => {
                if self.space != Space::Shared {
                    self.line("st.global.u32 [%y], %r;");
                }
                self.line("exit;");
            }
        }
    }

    /// An atomic, whose old value is ignored or not returned.
    fn update(&mut self, Update { half, double, operation, operand }: Update, guard: &str) {
        let (name, sort) = match operation {
            Operation::Add => ("add", 'u'),
            Operation::MinSigned => ("min", 's'),
            Operation::MaxSigned => ("max", 's'),
            Operation::MaxUnsigned => ("max", 'u'),
            Operation::And => ("and", 'b'),
            Operation::Or => ("or", 'b'),
            Operation::Xor => ("xor", 'b'),
        };
        let space = if self.space == Space::Global { "global" } else { "shared" };
        let (bits, old, value) = if double { (64, "%u", "%v") } else { (32, "%s", "%t") };
        let word = u64::from(operand);
        let operand = if double { word << 32 | word } else { word };
        self.line(&format!("mov.u{bits} {value}, {operand};"));
        let (opcode, old) = match self.style {
            Style::Branches => ("red", String::new()),
            Style::Predicates => ("atom", format!("{old}, ")),
        };
        let at = 2 * half;
        self.line(&format!("{guard}{opcode}.{space}.{name}.{sort}{bits} {old}[%base+{at}], {value};"));
    }
}

/// The lanes of a set of members.
fn lanes(warp: &Warp, members: Members) -> u32 {
    let active = warp.lanes.iter().fold(0u32, |lanes, lane| lanes | 1 << lane);
    let named = warp.lanes.iter().enumerate().filter(|(member, _)| members >> member & 1 == 1);
    let rest = if warp.rest && members >> warp.lanes.len() & 1 == 1 { !active } else { 0 };
    named.fold(rest, |lanes, (_, lane)| lanes | 1 << lane)
}
