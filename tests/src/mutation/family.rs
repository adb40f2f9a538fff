//! Families of fixtures, and the mutants drawn from each.

use crate::OneLaunch as _;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use volta_core::case::Side;
use volta_core::case::{Case, FormsWanted};
use volta_core::ptx::{self, tree::Module};
use volta_test::manifest;

use super::edits::edits;
use super::judge::excerpt;
use super::place::Sources;
use super::sites::{Site, sites};
use super::taxonomy::{self as kinds, Kind};
use super::{Edit, hash};
use crate::fixture::{self, Size};

/// The number of mutants of one kind in one function that a full run draws: 1, from 8 on 2, from 64 on 3, …. Of the
/// instructions that order asynchronous operations, it drops each.
fn drawn(kind: Kind, count: usize) -> usize {
    if kind == kinds::ASYNC_DROPPED { count } else { 1 + count.max(1).ilog2() as usize / 3 }
}

/// Families that are left out, and why.
pub const LEFT_OUT: [(&str, &str); 8] = [
    ("compaction", "its outputs are multisets, which the judge of mutants does not compare"),
    ("outside", "its cases are about inputs that are refused; the few that pass are single kernels"),
    ("bits", "its claims are not about reals, for which the interpreter judges mutants"),
    (
        "encodings",
        "what its kernels compute has no meaning over the reals, for which the interpreter judges mutants",
    ),
    ("ranges", "its claims are about what each operation gives, and not about the values of a pair"),
    ("every_size", "its cases are families, whose members are not edited"),
    ("literals", "its kernels are one product or quotient"),
    ("dependent", "its sides are several launches, which are not edited yet, but for one small reference"),
];

/// The cases that are used of families with large pairs: those that are small enough.
const REDUCED: [(&str, &[&str]); 10] = [
    ("attention", &["small_fa1", "small_fa1_warp"]),
    ("attention_tensor", &["small_fa1", "small_fa1_causal", "small_fa2", "small_fa2_causal"]),
    ("causal", &["small_fa1", "small_attention", "small_attention_added", "small_attention_selected"]),
    ("conv", &["small"]),
    ("gemm", &["shared_double_buffer"]),
    (
        "gemm_tensor",
        &["small_ldmatrix", "small_mma", "small_wmma", "async", "bf16_wmma", "tf32_wmma", "f64_wmma"],
    ),
    ("matmul", &["small"]),
    ("selection", &["bitonic_8", "smallest", "top2", "weights"]),
    ("tilelang", &["small_32x32", "small_64x64"]),
    ("triton", &["gated_90", "softmax_80", "softmax_100"]),
];

/// The kinds of edits for single kernels, whose values do not matter, and for large kernels with barriers in memory.
const ORDER: [Kind; 6] = [
    kinds::ASYNC_DROPPED,
    kinds::BARRIER_DROPPED,
    kinds::BARRIER_MOVED,
    kinds::COPY_WAIT,
    kinds::FENCE_MOVED,
    kinds::MASK,
];

/// One side of a case, to be mutated.
#[derive(Debug)]
pub struct Subject {
    /// Its name: `family::case`.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// The case.
    pub case: Case,
    /// Whether it is the reference, rather than the optimized kernel.
    pub reference: bool,
    /// Whether only instructions that order accesses are edited.
    pub only_order: bool,
    /// The instructions of the kernel.
    pub sites: Vec<Site>,
}

impl Subject {
    /// The original PTX.
    pub fn text(&self) -> &str {
        match &self.case.reference {
            Some(reference) if self.reference => &reference.one().ptx,
            _ => &self.case.opt.one().ptx,
        }
    }

    /// The case with another text.
    pub fn with(&self, text: String) -> Case {
        let mut case = self.case.clone();
        match &mut case.reference {
            Some(reference) if self.reference => reference.one_mut().ptx = text,
            _ => case.opt.one_mut().ptx = text,
        }
        case
    }

    /// The path of its PTX, relative to the folder of the case.
    fn path(&self) -> &str {
        match &self.case.reference {
            Some(reference) if self.reference => &reference.one().path,
            _ => &self.case.opt.one().path,
        }
    }

    /// The name of the file up to the first dot.
    pub fn stem(&self) -> &str {
        let name = self.path().rsplit('/').next().unwrap_or(self.path());
        name.split('.').next().unwrap_or(name)
    }

    /// The name of an instruction's place in records.
    pub fn place(&self, site: usize, sources: &mut Sources) -> String {
        let source = self.dir.join(self.path()).with_file_name(format!("{}.cu", self.stem()));
        sources.place(&source, self.sites[site].line)
    }
}

/// One mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The number of the subject.
    pub subject: usize,
    /// The number of the instruction.
    pub site: usize,
    /// The number of mutants of its kind before it in its function.
    pub rank: usize,
    /// Whether a full run takes it.
    pub drawn: bool,
    /// The edit.
    pub edit: Edit,
}

/// The names of all families except [`LEFT_OUT`].
pub fn families() -> BTreeSet<String> {
    let names = fixture::all().into_iter().filter_map(|(name, _)| Some(name.split_once("::")?.0.to_owned()));
    names.filter(|name| LEFT_OUT.iter().all(|(left, _)| left != name)).collect()
}

/// The sides of the pairs of a family that are *equivalent*, and its single kernels that are *clean*.
pub fn subjects(family: &str) -> Vec<Subject> {
    let reduced = REDUCED.iter().find(|(name, _)| *name == family).map(|(_, cases)| *cases);
    let mut found = Vec::new();
    // Many cases of a family have their kernels in one file.
    let mut modules: BTreeMap<String, Option<Module>> = BTreeMap::new();
    for (name, dir) in fixture::all() {
        let Some(case) = name.strip_prefix(family).and_then(|rest| rest.strip_prefix("::")) else { continue };
        let is_small = match reduced {
            Some(cases) => cases.contains(&case),
            None => fixture::size(&name) == Size::Small,
        };
        let Ok(loaded) = manifest::load(&name, &dir, &fixture::root()) else { continue };
        if fixture::size(&name) == Size::Huge
            || !matches!(loaded.expect.verdict.name(), "equivalent" | "clean")
        {
            continue;
        }
        let Some(mut case) = fixture::load(&name, &dir) else { continue };
        case.options.threads = 1;
        case.options.forms = FormsWanted::Never;
        for reference in [true, false] {
            let side = if reference { case.reference.as_ref() } else { Some(&case.opt) };
            let Some(side) = side.and_then(Side::only) else { continue };
            if !is_small && !side.ptx.contains("mbarrier.") {
                continue;
            }
            let parsed = modules.entry(side.ptx.clone()).or_insert_with(|| ptx::parse(&side.ptx).ok());
            let Some(module) = parsed else { continue };
            let sites = sites(module, side.kernel.as_deref());
            found.push(Subject {
                name: name.clone(),
                dir: dir.clone(),
                case: case.clone(),
                reference,
                only_order: !is_small || case.reference.is_none(),
                sites,
            });
        }
    }
    found
}

/// All mutants of a family, in the order in which a sample takes them: the kinds in turn, so that rare ones are drawn
/// as well. The mutants drawn for a function of PTX, and the case of each, depend only on that function and on the
/// names of its cases: adding kernels and cases does not change the mutants of others.
pub fn mutants(subjects: &[Subject]) -> Vec<Mutant> {
    // The key identifies an edit independently of the others; equal edits of several cases are merged into one.
    let mut by_edit: BTreeMap<(Kind, u64, String), Mutant> = BTreeMap::new();
    for (number, subject) in subjects.iter().enumerate() {
        for (at, site) in subject.sites.iter().enumerate() {
            for edit in edits(&subject.sites, at) {
                if subject.only_order && !ORDER.contains(&edit.kind) {
                    continue;
                }
                let mutant = Mutant { subject: number, site: at, rank: 0, drawn: false, edit };
                let name = format!(
                    "{} {} {} {}: {}",
                    subject.stem(),
                    site.function,
                    site.index,
                    mutant.edit.kind.0,
                    excerpt(subject, &mutant)
                );
                let by_name = |mutant: &Mutant| hash(&subjects[mutant.subject].name);
                match by_edit.entry((mutant.edit.kind, hash(&name), name)) {
                    Entry::Vacant(entry) => drop(entry.insert(mutant)),
                    Entry::Occupied(mut entry) if by_name(&mutant) < by_name(entry.get()) => {
                        entry.insert(mutant);
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
    }
    let mut by_function: BTreeMap<(Kind, String, String), Vec<Mutant>> = BTreeMap::new();
    for ((kind, ..), mutant) in by_edit {
        let subject = &subjects[mutant.subject];
        let function = subject.sites[mutant.site].function.clone();
        by_function.entry((kind, subject.stem().to_owned(), function)).or_default().push(mutant);
    }
    let mut by_kind: BTreeMap<Kind, Vec<Mutant>> = BTreeMap::new();
    for ((kind, ..), list) in by_function {
        let drawn = drawn(kind, list.len());
        let ranked = list.into_iter().enumerate();
        let ranked = ranked.map(|(rank, mutant)| Mutant { rank, drawn: rank < drawn, ..mutant });
        by_kind.entry(kind).or_default().extend(ranked);
    }
    let mut lists: Vec<_> = by_kind.into_values().collect();
    for list in &mut lists {
        list.sort_by_key(|mutant| mutant.rank);
    }
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at)).cloned()).collect()
}
