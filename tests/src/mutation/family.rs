//! Families of fixtures, and the mutants drawn from each.

use std::collections::{BTreeMap, BTreeSet};

use volta_core::case::Case;
use volta_core::ptx;
use volta_test::manifest;

use super::edits::edits;
use super::sites::{Site, sites};
use super::taxonomy::{self as kinds, Kind};
use super::{Edit, shuffle};
use crate::fixture::{self, Size};

/// Mutants that a full run draws from each family.
pub const SAMPLE: usize = 200;

/// Families that are left out, and why.
pub const LEFT_OUT: [(&str, &str); 1] =
    [("outside", "its cases are about inputs that are refused; the few that pass are single kernels")];

/// Of families whose pairs are large: the ones that are small enough, or made so.
const REDUCED: [(&str, &[&str]); 8] = [
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
    ("tilelang", &["small_32x32", "small_64x64"]),
];

/// What is edited in kernels that nothing is compared with: values do not matter there.
const ORDER: [Kind; 4] = [kinds::BARRIER_DROPPED, kinds::BARRIER_MOVED, kinds::COPY_WAIT, kinds::MASK];

/// One side of a case, to be mutated.
#[derive(Debug)]
pub struct Subject {
    /// Its name: `family::case`.
    pub name: String,
    /// The case.
    pub case: Case,
    /// The reference, and not the optimized kernel.
    pub reference: bool,
    /// The instructions of the kernel.
    pub sites: Vec<Site>,
}

impl Subject {
    /// The PTX as it is.
    pub fn text(&self) -> &str {
        match &self.case.reference {
            Some(reference) if self.reference => &reference.ptx,
            _ => &self.case.opt.ptx,
        }
    }

    /// The case with another text.
    pub fn with(&self, text: String) -> Case {
        let mut case = self.case.clone();
        match &mut case.reference {
            Some(reference) if self.reference => reference.ptx = text,
            _ => case.opt.ptx = text,
        }
        case
    }

    /// The name of the file, without what follows the first dot.
    pub fn stem(&self) -> &str {
        let path = match &self.case.reference {
            Some(reference) if self.reference => &reference.path,
            _ => &self.case.opt.path,
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        name.split('.').next().unwrap_or(name)
    }
}

/// One mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The number of the subject.
    pub subject: usize,
    /// The number of the instruction.
    pub site: usize,
    /// What is done.
    pub edit: Edit,
}

/// The names of all families, those that are left out excepted.
pub fn families() -> BTreeSet<String> {
    let names = fixture::all().into_iter().filter_map(|(name, _)| Some(name.split_once("::")?.0.to_owned()));
    names.filter(|name| LEFT_OUT.iter().all(|(left, _)| left != name)).collect()
}

/// The sides of the pairs of a family that are *equivalent*, and its single kernels that are *clean*.
pub fn subjects(family: &str) -> Vec<Subject> {
    let reduced = REDUCED.iter().find(|(name, _)| *name == family).map(|(_, cases)| *cases);
    let mut found = Vec::new();
    for (name, dir) in fixture::all() {
        let Some(case) = name.strip_prefix(family).and_then(|rest| rest.strip_prefix("::")) else { continue };
        let wanted = match reduced {
            Some(cases) => cases.contains(&case),
            None => fixture::size(&name) == Size::Small,
        };
        let Ok(loaded) = manifest::load(&name, &dir, &fixture::root()) else { continue };
        if !wanted || !matches!(loaded.expect.verdict.name(), "equivalent" | "clean") {
            continue;
        }
        let Some(mut case) = fixture::load(&name, &dir) else { continue };
        case.options.threads = 1;
        case.options.forms = false;
        for reference in [true, false] {
            let side = if reference { case.reference.as_ref() } else { Some(&case.opt) };
            let Some(side) = side else { continue };
            let Ok(module) = ptx::parse(&side.ptx) else { continue };
            let sites = sites(&module, side.kernel.as_deref());
            found.push(Subject { name: name.clone(), case: case.clone(), reference, sites });
        }
    }
    found
}

/// All mutants of a family in the order in which a sample takes them: shuffled within each kind, and the kinds in
/// turn, so that rare ones are drawn as well.
pub fn mutants(family: &str, subjects: &[Subject]) -> Vec<Mutant> {
    let mut seen = BTreeSet::new();
    let mut by_kind: BTreeMap<Kind, Vec<Mutant>> = BTreeMap::new();
    for (number, subject) in subjects.iter().enumerate() {
        let single = subject.case.reference.is_none();
        for site in 0..subject.sites.len() {
            for edit in edits(&subject.sites, site) {
                let allowed = !single || ORDER.contains(&edit.kind);
                let places: Vec<_> =
                    edit.changes.iter().map(|(span, new)| (span.start, new.clone())).collect();
                if allowed && seen.insert((subject.stem().to_owned(), edit.kind, places)) {
                    by_kind.entry(edit.kind).or_default().push(Mutant { subject: number, site, edit });
                }
            }
        }
    }
    let mut state =
        family.bytes().fold(1, |state: u64, byte| state.wrapping_mul(257).wrapping_add(byte.into()));
    for list in by_kind.values_mut() {
        shuffle(list, &mut state);
    }
    let mut order = Vec::new();
    let mut at = 0;
    while by_kind.values().any(|list| at < list.len()) {
        let mut turn: Vec<&Mutant> = by_kind.values().filter_map(|list| list.get(at)).collect();
        shuffle(&mut turn, &mut state);
        order.extend(turn.into_iter().cloned());
        at += 1;
    }
    order
}
