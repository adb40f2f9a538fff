//! What is reported: data only, no layout.

mod fault;
#[cfg(feature = "serde")]
mod stored;

pub use fault::{
    BarrierPhases, CudaPlace, Fault, MOST_FINDINGS, Meeting, PhaseLine, Place, Rule, Site, Thread, Timeline,
};
pub use volta_case::{DifferenceKind, FaultKind, InputProblem, Reason, UnknownReason, VerdictName, Which};

use crate::base::assumption::Assumption;

/// A verdict (rule R1).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// A proof that both kernels write equal outputs for every input.
    Equivalent,
    /// A proof under conditions beyond the reference's own domain.
    EquivalentWhere(Vec<String>),
    /// They differ, and here is where.
    Different(Difference),
    /// One kernel is faulty.
    Fault(Fault),
    /// No claim.
    Unknown(Unknown),
    /// The case or the PTX is wrong.
    InputError(InputError),
    /// A single kernel ran without fault.
    Clean,
}

impl Verdict {
    /// Which one it is.
    pub fn kind(&self) -> VerdictName {
        self.reason().verdict()
    }

    /// Why it is this one, as programs know it.
    pub fn reason(&self) -> Reason {
        match self {
            Verdict::Equivalent => Reason::Equivalent,
            Verdict::EquivalentWhere(_) => Reason::EquivalentWhere,
            Verdict::Different(difference) => Reason::Different(difference.how.kind()),
            Verdict::Fault(fault) => Reason::Fault(fault.kind),
            Verdict::Unknown(unknown) => Reason::Unknown(unknown.kind),
            Verdict::InputError(error) => Reason::Input(error.kind),
            Verdict::Clean => Reason::Clean,
        }
    }

    /// The name that cases use: `equivalent`, `different`, `race`, `unknown(budget)`, ….
    pub fn name(&self) -> String {
        self.kind().name().into()
    }
}

/// An output element on which the kernels differ.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Difference {
    /// The tensor.
    pub tensor: String,
    /// Row-major element number.
    pub element: u64,
    /// Its index along each dimension.
    pub index: Vec<u64>,
    /// What differs.
    pub how: How,
}

/// How two outputs differ.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum How {
    /// At these inputs, the values are apart.
    Values(Witness),
    /// One side writes the element, the other leaves it.
    Unwritten {
        /// The side that does not write.
        #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
        by: Which,
    },
    /// Neither side writes the element.
    NobodyWrites,
}

impl How {
    /// What it is, as programs know it.
    pub const fn kind(&self) -> DifferenceKind {
        match self {
            How::Values(_) => DifferenceKind::Values,
            How::Unwritten { .. } => DifferenceKind::OneSided,
            How::NobodyWrites => DifferenceKind::Unwritten,
        }
    }
}

/// Concrete inputs and both values. Inputs not listed may have any value (zero, say).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Witness {
    /// `(input element as "x[3]", value)` in declaration order.
    pub inputs: Vec<(String, String)>,
    /// How many more elements the values depend on: these are 0.
    pub zeros: u64,
    /// What the reference computes there: a decimal, `inf`, ….
    pub reference: String,
    /// What the optimized kernel computes there.
    pub opt: String,
    /// What differs on the way there, where one value explains the difference.
    pub explanation: Option<Explanation>,
}

/// A value on the way to two different results. With the optimized kernel's in its place, the reference computes what
/// the optimized kernel does.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Explanation {
    /// What it is: `divisor`, say.
    pub what: String,
    /// What the reference has there.
    pub reference: String,
    /// What the optimized kernel has there.
    pub opt: String,
    /// The instructions of both that take it, where that is known.
    pub places: [Option<Box<Place>>; 2],
}

/// Why no claim is made.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unknown {
    /// What ended, as programs know it.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: UnknownReason,
    /// One sentence.
    pub reason: String,
    /// How far a proof came.
    pub progress: Option<Box<Progress>>,
    /// What to do about it.
    pub help: Option<String>,
}

/// How far a proof came that was not found, of the values that both kernels compute on the way.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// The output element.
    pub element: String,
    /// How many pairs of values were proved equal.
    pub equal: u64,
    /// The last of these, from which others are computed.
    pub last: Vec<ValuePair>,
    /// The first pair with the same values at some points of which nothing was proved.
    pub open: ValuePair,
    /// Whether that pair is the output element itself.
    pub is_output: bool,
}

/// A value of the reference, and one of the optimized kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValuePair {
    /// What both compute, in short.
    pub terms: [String; 2],
    /// The instructions that compute them, or the last ones before that are known.
    pub places: [Option<Box<Place>>; 2],
}

impl Unknown {
    /// The verifier contradicts itself, or it panicked: this is no statement about the kernels.
    pub fn internal(reason: impl Into<String>) -> Unknown {
        Unknown {
            kind: UnknownReason::Internal,
            reason: reason.into(),
            progress: None,
            help: Some(
                "Volta is wrong here, and nothing is known of the kernels: please report it, with this case"
                    .into(),
            ),
        }
    }
}

/// A part of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CasePart {
    /// What a key of a kernel says: `block`, say. `args` are the parameters where it is not given, and `source` names the
    /// kernel.
    Key(String),
    /// An argument of a kernel, from 0.
    Argument(usize),
    /// A parameter, or a variable of the module.
    Parameter(String),
}

/// The case or its PTX is wrong.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputError {
    /// What is wrong, as programs know it.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: InputProblem,
    /// In which kernel, when it is about one.
    #[cfg_attr(feature = "serde", serde(with = "stored::optional_word"))]
    pub side: Option<Which>,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// Where in the PTX.
    pub place: Option<Place>,
    /// Which part of the case is wrong, if one is: of that kernel, where it is about one.
    pub part: Option<CasePart>,
    /// What to do about it; may have several lines.
    pub help: Option<String>,
}

impl InputError {
    /// One about the case as a whole.
    pub fn new(kind: InputProblem, message: impl Into<String>) -> InputError {
        InputError { kind, side: None, message: message.into(), place: None, part: None, help: None }
    }
}

/// Which inputs a proof, or a clean run, speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputScope {
    /// Something that the case gives narrows the claim: it is about every input that the case allows.
    pub restricted: bool,
    /// Where the reference, or the only kernel, is defined, if that is not known to be everywhere: conditions, all of
    /// which hold there.
    pub domain: Vec<String>,
    /// How many conditions there are beyond those listed.
    pub more: usize,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coverage {
    /// Elements proved equal or found different.
    pub compared: u64,
    /// Elements that no run CTA writes.
    pub unwritten: u64,
    /// Elements of all output tensors.
    pub total: u64,
}

/// What running one side took.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SideStats {
    /// Name of the kernel.
    pub kernel: String,
    /// Lines of PTX.
    pub ptx_lines: u64,
    /// Threads of one CTA.
    pub threads: u64,
    /// CTAs that ran, and that the grid has.
    pub ctas: (u64, u64),
    /// Thread instructions executed.
    pub thread_instructions: u64,
    /// Completed CTA barriers.
    pub barriers: u64,
    /// Completed warp synchronisations.
    pub warp_syncs: u64,
    /// Bytes of terms.
    pub term_bytes: u64,
    /// Nodes of the term store.
    pub term_nodes: u64,
    /// Seconds.
    pub seconds: f64,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Where that is a fault: what else was found, in either kernel (rule R2).
    pub also: Vec<Fault>,
    /// What the verdict rests on, in a fixed order.
    pub assumptions: Vec<Assumption>,
    /// Which inputs a proof or a clean run speaks of.
    pub scope: InputScope,
    /// What was compared.
    pub coverage: Coverage,
    /// The reference's side, when there is one.
    pub reference: Option<SideStats>,
    /// The optimized side.
    pub opt: SideStats,
    /// Seconds spent deciding.
    pub solve_seconds: f64,
    /// How many pairs of elements were brought to canonical form to decide them; `None` where there was nothing to
    /// decide. A wrong kernel that evaluation at a point refutes needs none. `formulas`, which are for people, do not
    /// count.
    pub canonical_elements: Option<u64>,
    /// Points at which the proof was held against evaluation, if that was asked for.
    pub rechecked: Option<u32>,
    /// Where the kernels differ, and it was asked for: in which elements of each output.
    pub maps: Vec<ElementMap>,
    /// What the kernels compute, as formulas of all elements, for snapshots: the reference's, the only kernel's or the
    /// common one, and the other side's where a proof does not say that it is the same.
    pub formulas: Vec<FormulaText>,
    /// Digests of the canonical forms of all compared elements, for snapshots: the reference's or the common one, and
    /// the other side's where a proof does not say that it is the same.
    pub form_digests: Vec<FormsDigest>,
}

impl Report {
    /// A report that says nothing but its verdict.
    pub fn of(verdict: Verdict) -> Report {
        Report {
            verdict,
            also: Vec::new(),
            assumptions: Vec::new(),
            scope: InputScope::default(),
            coverage: Coverage::default(),
            reference: None,
            opt: SideStats::default(),
            solve_seconds: 0.0,
            canonical_elements: None,
            rechecked: None,
            maps: Vec::new(),
            formulas: Vec::new(),
            form_digests: Vec::new(),
        }
    }
}

/// Which elements of an output differ at some of a few trial points. The others were not seen to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ElementMap {
    /// The output.
    pub tensor: String,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    /// Runs of row-major element numbers, ascending: the first one, and how many.
    pub differing: Vec<(u64, u64)>,
    /// How many elements were looked at: those that the kernels write.
    pub looked_at: u64,
}

/// What a kernel computes, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FormulaText {
    /// As plain text.
    pub text: String,
    /// As plain text, with what the other kernel's formula has otherwise between `⟦` and `⟧`.
    pub marked: String,
    /// The same as MathML, where it is of the class `marked`.
    pub mathml: String,
}

/// What the normal forms of many elements say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FormsDigest {
    /// A hash of the values of all forms in prime fields and of whose they are.
    pub digest: u128,
    /// Elements without a normal form: it is undefined, or a budget ended.
    pub open: u64,
}
