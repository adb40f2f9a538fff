//! Limits on the resources of a verification, with the options that set them.

use std::ops::{Index, IndexMut};

use crate::key::{Effect, Field, Key, Section, Takes, Value};
use crate::word::{Wrong, words};

/// Defines the limits, a row each: the option that sets it, the counted unit for messages, and the default.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $limit:ident = $option:literal, $counts:literal, $default:expr;)+) => {
        words! {
            /// A limited resource.
            pub enum Limit {
                $($(#[doc = $doc])+ $limit = $option,)+
            }
        }

        static KEYS: &[Key] = &[$(Key {
            name: $option,
            takes: Takes::Count,
            default: || Field::show(&Limits::default()[Limit::$limit]),
            effect: Effect::None,
            doc: concat!($($doc),+),
        },)+];

        impl Limit {
            /// The unit that it counts, for messages.
            pub fn counts(self) -> &'static str {
                match self {
                    $(Limit::$limit => $counts,)+
                }
            }
        }

        impl Default for Limits {
            fn default() -> Limits {
                Limits([$($default),+])
            }
        }
    };
}

limits! {
    /// warp instructions that are executed on one side, where CTAs that do the same with other elements are executed once;
    /// default {default}
    Instructions = "max_instructions", "warp instructions", 200_000_000;
    /// bytes that are kept for the case: terms, memory, registers, accesses, facts, tables of the algebra; default: half
    /// of the machine's memory, or of what `ulimit -v` or a cgroup allows, divided by the number of cases that run at
    /// the same time. While both kernels run, each gets half
    MemoryBytes = "max_memory_bytes", "bytes of memory", 8 << 30;
    /// threads of a block; {default}
    BlockThreads = "max_block_threads", "threads in one CTA", 1024;
    /// CTAs that are executed on one side; {default}
    Ctas = "max_ctas", "CTAs", 65_536;
    /// steps of algebra for one output element; {default}. All elements together may take 64 times as many
    AlgebraSteps = "max_algebra_steps", "steps of algebra", 50_000_000;
    /// operations of a kernel, with its calls inlined; {default}
    ProgramSize = "max_program_size", "operations in one kernel", 1 << 20;
}

/// The limits of one case: `limits[Limit::Ctas]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits([u64; Limit::ALL.len()]);

impl Index<Limit> for Limits {
    type Output = u64;

    fn index(&self, limit: Limit) -> &u64 {
        &self.0[limit as usize]
    }
}

impl IndexMut<Limit> for Limits {
    fn index_mut(&mut self, limit: Limit) -> &mut u64 {
        &mut self.0[limit as usize]
    }
}

impl Section for Limits {
    fn keys() -> Vec<&'static Key> {
        KEYS.iter().collect()
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), Wrong> {
        let limit = Limit::parse(key).ok_or_else(|| format!("no limit is called `{key}`"))?;
        self[limit] = u64::read(key, value)?;
        Ok(())
    }
}
