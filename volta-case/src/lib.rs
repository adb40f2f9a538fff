//! The schema of a case: the keys, with type, default and meaning.
//!
//! The readers of `volta.toml`, of attributes and of the headers of file tests use this schema, the tables of
//! `docs/cases.md` are generated from it, and the verifier takes [`Rules`], [`Limits`] and [`Launch`] unchanged. Data
//! only: this crate reads no files and depends on nothing, so that the attributes can check a case while it is
//! compiled.

mod element;
mod family;
mod key;
mod limit;
mod max_error;
mod reason;
mod section;
mod shard;
mod verdict;
mod word;

pub use element::{
    Comparison, Element, Elements, Format, Literals, NamedContents, Region, Role, Sign, Swizzle, Which,
    WmmaLayout,
};
pub use family::{Family, MAX_MEMBERS, Member};
pub use key::{Effect, Field, Key, Section, Takes, Value, duration};
pub use limit::{Limit, Limits};
pub use max_error::{MaxError, Positive};
pub use reason::{DifferenceKind, Hint, InputProblem, Reason, UnknownReason};
pub use section::{
    About, CASE, Contains, DOCUMENT, Expectation, FIELD, FILL, FORMAT_VERSION, GRAPH, KERNEL, Launch, MEMBER,
    Options, PARAM, Rules, Run, SIDE, STEP, TYPE, Target, TensorMap, path_problem, source_problem,
    split_source,
};
pub use shard::{MAX_SHARDS, Shard};
pub use verdict::{Claim, FaultKind, UnknownCause, VerdictName};
pub use word::{Word, Wrong, choose, nearest, spellings};

/// By its extension, a text names a file with contents of a tensor.
pub const CONTENTS_FILES: [&str; 3] = [".npy", ".bin", ".raw"];
