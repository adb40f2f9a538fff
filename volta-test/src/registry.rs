//! Cases made by attributes.

use std::path::PathBuf;

use crate::builder::Builder;
use crate::case::{AtSize, Case, Every, Home};
use crate::manifest::{MOST_PERIOD, too_long};
use crate::nvcc::Toolchain;
use crate::runner::{self, manifest_dir};
use crate::size::{Size, Uneven};

/// A case that an attribute made.
#[derive(Debug)]
pub struct Registered {
    /// `module_path!()` of the function.
    pub module: &'static str,
    /// The name of the function.
    pub function: &'static str,
    /// `file!()`
    pub file: &'static str,
    /// `line!()`
    pub line: u32,
    /// `CARGO_MANIFEST_DIR`
    pub manifest_dir: &'static str,
    /// Whether it says `slow`.
    pub slow: bool,
    /// The variable that is any number, and the least one.
    pub any: Option<(&'static str, u64)>,
    /// Builds the rest of the case.
    pub build: fn(&mut Builder),
}

inventory::collect!(Registered);

/// All cases of this binary.
pub fn registered() -> impl Iterator<Item = &'static Registered> {
    inventory::iter::<Registered>.into_iter()
}

impl Registered {
    /// `crate::module::function`, which is `family::case` in a test file.
    pub fn name(&self) -> String {
        format!("{}::{}", self.module, self.function)
    }

    /// Builds the case.
    ///
    /// # Errors
    /// When the value of a constant is wrong, which the attribute cannot check.
    pub fn case(&'static self) -> Result<Case, String> {
        let least = self.any.map_or(1, |(_, least)| least);
        let mut case = self.built(Size::of(least)).finish()?;
        case.every = self.any.map(|(variable, least)| Every {
            variable: variable.into(),
            least,
            periods: self.periods(variable, least),
            source: AtSize::Attribute(self),
        });
        Ok(case)
    }

    /// The case at a size of the variable that is any number.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn at(&self, size: u64) -> Result<Case, String> {
        self.built(Size::of(size)).finish()
    }

    /// For the reference and the other kernel: over how many sizes all numbers that it uses change by the same amount.
    fn periods(&self, variable: &str, least: u64) -> Result<[u64; 2], String> {
        let mut periods = [1, 1];
        for (side, period) in periods.iter_mut().enumerate() {
            'period: loop {
                if *period > MOST_PERIOD {
                    return Err(too_long());
                }
                for first in (0..*period).map(|at| least.saturating_add(at)) {
                    match self.built(Size::of_sizes(first, *period)).uneven()[side] {
                        None => {}
                        Some(Uneven::Multiple(by)) => {
                            *period = period.saturating_mul(by.max(2));
                            continue 'period;
                        }
                        Some(Uneven::Never) => {
                            return Err(format!(
                                "a number of the case is followed for no other {variable}: it does not grow evenly, as \
                                 a product of two numbers that grow, or the smaller one of two"
                            ));
                        }
                    }
                }
                break;
            }
        }
        Ok(periods)
    }

    fn built(&self, size: Size) -> Builder {
        let name = self.name();
        let manifest = manifest_dir(self.manifest_dir);
        let file = self.source_file();
        let dir = file.parent().map(PathBuf::from).unwrap_or_default();
        let home = Home {
            document: None,
            line: Some(self.line),
            snapshot_dir: dir.join("snapshots"),
            snapshot_name: name.replace("::", "__"),
            root: root_of(&manifest),
            file,
            dir,
        };
        let mut builder = Builder::new(name, home, size);
        (self.build)(&mut builder);
        builder
    }

    /// `file!()` is relative to the folder that the compiler ran in: the workspace's root, above the manifest.
    fn source_file(&self) -> PathBuf {
        let manifest = manifest_dir(self.manifest_dir);
        let candidates = manifest.ancestors().map(|dir| dir.join(self.file));
        let mut candidates = candidates.filter(|path| path.is_file());
        candidates.next().unwrap_or_else(|| manifest.join(self.file))
    }

    /// Runs the case as an ordinary `#[test]`.
    ///
    /// # Panics
    /// When it is not as expected.
    pub fn test(&'static self) {
        let toolchain = Toolchain::from_environment();
        let result = self.case().and_then(|case| runner::check(&case, &toolchain));
        if let Err(message) = result {
            panic!("{message}");
        }
    }
}

/// Kernels may lie anywhere in the workspace.
fn root_of(manifest: &std::path::Path) -> PathBuf {
    let has_lock = |dir: &&std::path::Path| dir.join("Cargo.lock").is_file();
    manifest.ancestors().find(has_lock).unwrap_or(manifest).into()
}
