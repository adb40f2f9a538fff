//! A case: what [`crate::verify`] is given.

pub use crate::machine::bits_of;
pub use crate::machine::launch::{
    Argument, Binding, Contents, Element, Launch, Layout, Options, Param, ParamKind, Role, Rules,
    ScalarValue, Schedule, Side, Sign, Which, WmmaLayout,
};

/// One or two kernels over shared parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Parameters, in declaration order.
    pub params: Vec<Param>,
    /// The reference; without one, only faults of `opt` are looked for.
    pub reference: Option<Side>,
    /// The optimized kernel, or the only one.
    pub opt: Side,
    /// Relaxations and limits.
    pub options: Options,
}
