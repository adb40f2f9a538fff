//! Programs as kernels.

use crate::explore::{End, Site};
use crate::model::{Act, AtomicOrder, FLAGS, FenceKind, Layout, Look, Order, Program, Scope, Until};
use std::fmt::Write;

/// A kernel `k` with the tensors `rows`, `y` (sums) and `flags`.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Its text.
    pub(crate) ptx: String,
    /// For each line, the step that it belongs to.
    pub(crate) lines: Vec<Option<Site>>,
}

const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n\n\
    .visible .entry k(.param .u64 rows, .param .u64 y, .param .u64 flags)\n{\n";

struct Writer {
    kernel: Kernel,
    site: Option<Site>,
    layout: Layout,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.kernel.ptx, "{text}");
        self.kernel.lines.push(self.site);
    }

    fn space(&self) -> &'static str {
        if self.layout == Layout::Shared { "shared" } else { "global" }
    }

    fn flag(&self, flag: u8) -> String {
        let base = if self.layout == Layout::Shared { "own" } else { "%flags" };
        format!("[{base}+{}]", 4 * flag)
    }

    fn look(&mut self, thread: usize, Look { wait, flag, order, scope, .. }: Look) {
        let (space, order, at) = (self.space(), access_order(order, "acquire", scope), self.flag(flag));
        self.line(&format!("\tld{order}.{space}.u32 {}, {at};", looked(thread, wait)));
    }

    fn act(&mut self, (thread, number): Site, act: Act, old: Option<usize>, looks: bool) {
        let space = self.space();
        match act {
            Act::Read(row) => {
                self.line(&format!("\tld.global.u32 %v, [%rows+{}];", 4 * row));
                self.line("\tmad.lo.u32 %sum, %sum, 31, %v;");
            }
            Act::Write(row, value) => {
                self.line(&format!("\tmov.u32 %v, {value};"));
                self.line(&format!("\tst.global.u32 [%rows+{}], %v;", 4 * row));
            }
            Act::Add { flag, by, order, scope, old } => {
                let at = self.flag(flag);
                let order = atomic_order(order);
                let name = format!("{order}.{}.{space}.add.u32", scope.name());
                let red = !old && matches!(order, "relaxed" | "release");
                if red {
                    self.line(&format!("\tred.{name} {at}, {by};"));
                } else {
                    self.line(&format!("\tatom.{name} {}, {at}, {by};", found(thread, number)));
                }
            }
            Act::Set { flag, to, order, scope } => {
                let order = access_order(order, "release", scope);
                self.line(&format!("\tmov.u32 %v, {to};"));
                self.line(&format!("\tst{order}.{space}.u32 {}, %v;", self.flag(flag)));
            }
            Act::Wait { flag, until, order, scope, used } => {
                let label = format!("W{thread}_{number}");
                let order = access_order(order, "acquire", scope);
                if looks {
                    self.line(&format!("\tbra M{label};"));
                }
                let value = if looks { looked(thread, number) } else { "%v".into() };
                self.line(&format!("{label}:"));
                self.line(&format!("\tld{order}.{space}.u32 {value}, {};", self.flag(flag)));
                if looks {
                    self.line(&format!("M{label}:"));
                }
                let old = old.map_or("0".into(), |old| found(thread, old));
                match until {
                    Until::AtLeast(least) => self.line(&format!("\tsetp.ge.u32 %p, {value}, {least};")),
                    Until::Equal(number) => self.line(&format!("\tsetp.eq.u32 %p, {value}, {number};")),
                    Until::Differs(number) => self.line(&format!("\tsetp.ne.u32 %p, {value}, {number};")),
                    Until::Bits(bits) => {
                        self.line(&format!("\tand.b32 %t, {value}, {bits};"));
                        self.line("\tsetp.ne.u32 %p, %t, 0;");
                    }
                    Until::OldDiffers(bits) => {
                        self.line(&format!("\txor.b32 %t, {value}, {old};"));
                        self.line(&format!("\tand.b32 %t, %t, {bits};"));
                        self.line("\tsetp.ne.u32 %p, %t, 0;");
                    }
                    Until::OldAndMore(more) => {
                        self.line(&format!("\tsub.u32 %t, {value}, {old};"));
                        self.line(&format!("\tsetp.ge.u32 %p, %t, {more};"));
                    }
                }
                if looks {
                    self.line("\tbar.red.and.pred %q, 0, !%p;");
                    self.line(&format!("\t@%q bra {label};"));
                } else {
                    self.line(&format!("\t@!%p bra {label};"));
                }
                if used {
                    self.line("\tmad.lo.u32 %sum, %sum, 31, %v;");
                }
            }
            // Written by [`Writer::look`].
            Act::Look { .. } => {}
            Act::Fence(FenceKind::Membar, scope) => {
                let scope = match scope {
                    Scope::Cta => "cta",
                    Scope::Cluster | Scope::Gpu => "gl",
                    Scope::Sys => "sys",
                };
                self.line(&format!("\tmembar.{scope};"));
            }
            Act::Fence(kind, scope) => {
                let kind = match kind {
                    FenceKind::Sequential => "sc",
                    FenceKind::Both | FenceKind::Membar => "acq_rel",
                    FenceKind::Acquire => "acquire",
                    FenceKind::Release => "release",
                };
                self.line(&format!("\tfence.{kind}.{};", scope.name()));
            }
            Act::Meet => self.line("\tbar.sync 0;"),
        }
    }
}

/// The register of a flag for which a thread waits in rounds.
fn looked(thread: usize, number: usize) -> String {
    format!("%flag{thread}_{number}")
}

/// The register of what an addition found.
fn found(thread: usize, number: usize) -> String {
    format!("%old{thread}_{number}")
}

fn atomic_order(order: AtomicOrder) -> &'static str {
    match order {
        AtomicOrder::Relaxed => "relaxed",
        AtomicOrder::Acquire => "acquire",
        AtomicOrder::Release => "release",
        AtomicOrder::Both => "acq_rel",
    }
}

fn access_order(order: Order, ordered: &str, scope: Scope) -> String {
    match order {
        Order::Weak => String::new(),
        Order::Volatile => ".volatile".into(),
        Order::Relaxed => format!(".relaxed.{}", scope.name()),
        Order::Ordered => format!(".{ordered}.{}", scope.name()),
    }
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Scope::Cta => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::Sys => "sys",
        }
    }
}

/// The program's kernel.
pub(crate) fn kernel(program: &Program) -> Kernel {
    let layout = program.layout;
    let kernel = Kernel { ptx: HEAD.into(), lines: vec![None; HEAD.lines().count()] };
    let mut out = Writer { kernel, site: None, layout };
    out.line("\t.reg .pred %p, %q;");
    out.line("\t.reg .b32 %who, %lane, %sum, %v, %t;");
    for (thread, acts) in program.threads.iter().enumerate() {
        for number in 0..acts.len() {
            out.line(&format!("\t.reg .b32 {}, {};", found(thread, number), looked(thread, number)));
        }
    }
    out.line("\t.reg .b64 %rows, %y, %flags;");
    out.line("\tld.param.u64 %rows, [rows];");
    out.line("\tld.param.u64 %y, [y];");
    out.line("\tld.param.u64 %flags, [flags];");
    out.line("\tmov.u32 %sum, 0;");
    out.line("\tmov.u32 %who, %tid.x;");
    if layout == Layout::Shared {
        out.line("\t.shared .align 4 .b8 own[8];");
        out.line("\tsetp.ne.u32 %p, %who, 0;");
        out.line("\t@%p bra READY;");
        for flag in 0..FLAGS {
            out.line(&format!("\tst.shared.u32 [own+{}], 0;", 4 * flag));
        }
        out.line("READY:");
        out.line("\tbar.sync 0;");
    }
    match layout {
        Layout::Grid | Layout::Cluster => out.line("\tmov.u32 %who, %ctaid.x;"),
        Layout::Lanes => {}
        Layout::Warps | Layout::Shared | Layout::Pairs => {
            out.line("\tand.b32 %lane, %who, 31;");
            out.line("\tsetp.ne.u32 %p, %lane, 0;");
            out.line("\t@%p exit;");
            out.line("\tshr.u32 %who, %who, 5;");
        }
    }
    if layout == Layout::Pairs {
        out.line("\tmov.u32 %t, %ctaid.x;");
        out.line("\tmad.lo.u32 %who, %t, 2, %who;");
    }
    for thread in 0..program.threads.len() {
        out.line(&format!("\tsetp.eq.u32 %p, %who, {thread};"));
        out.line(&format!("\t@%p bra T{thread};"));
    }
    out.line("\texit;");
    for (thread, acts) in program.threads.iter().enumerate() {
        out.line(&format!("T{thread}:"));
        let mut old = None;
        for (number, act) in acts.iter().enumerate() {
            out.site = Some((thread, number));
            if let Some(look) = program.look(thread, number) {
                out.look(thread, look);
            }
            let looks = program.looked(thread, number).is_some();
            out.act((thread, number), *act, old, looks);
            if let Act::Add { old: true, .. } = act {
                old = Some(number);
            }
            out.site = None;
        }
        out.line(&format!("\tst.global.u32 [%y+{}], %sum;", 4 * thread));
        out.line("\texit;");
    }
    out.line("}");
    out.kernel
}

/// A kernel `k` of one thread that leaves what a run does.
pub(crate) fn outcome(end: &End, layout: Layout) -> String {
    let mut out = format!(
        "{HEAD}\t.reg .b32 %v;\n\t.reg .b64 %rows, %y, %flags;\n\tld.param.u64 %rows, [rows];\n\
         \tld.param.u64 %y, [y];\n\tld.param.u64 %flags, [flags];\n"
    );
    let mut words = vec![("rows", end.rows.as_slice()), ("y", end.sums.as_slice())];
    if layout != Layout::Shared {
        words.push(("flags", end.flags.as_slice()));
    }
    for (tensor, values) in words {
        for (number, value) in values.iter().enumerate() {
            let _ = writeln!(out, "\tmov.u32 %v, {value};\n\tst.global.u32 [%{tensor}+{}], %v;", 4 * number);
        }
    }
    out.push_str("\texit;\n}\n");
    out
}
