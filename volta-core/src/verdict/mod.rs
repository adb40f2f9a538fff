//! The report of a run: data only, no layout.

mod fault;
#[cfg(feature = "serde")]
mod stored;

pub use fault::{
    BarrierPhases, CudaPlace, Fault, MOST_FINDINGS, Meeting, PhaseLine, Place, Rule, Site, Thread, Timeline,
};
pub use volta_case::{
    Claim, DifferenceKind, FaultKind, InputProblem, Reason, UnknownReason, VerdictName, Which,
};

use crate::base::assumption::Assumption;

/// A verdict (rule R1).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// A proof that both kernels write equal outputs for every input.
    Equivalent,
    /// A proof under conditions beyond the reference's own domain.
    EquivalentWhere(Vec<String>),
    /// A proof of a claim about bits.
    Same(#[cfg_attr(feature = "serde", serde(with = "stored::word"))] Claim),
    /// A counterexample: an element in which the kernels differ.
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
    /// Its kind, without details.
    pub fn kind(&self) -> VerdictName {
        self.reason().verdict()
    }

    /// Its reason, which has a code for programs.
    pub fn reason(&self) -> Reason {
        match self {
            Verdict::Equivalent => Reason::Equivalent,
            Verdict::EquivalentWhere(_) => Reason::EquivalentWhere,
            Verdict::Same(claim) => Reason::Same(*claim),
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
    /// At these inputs, the values differ.
    Values(Witness),
    /// One side writes the element, the other does not.
    Unwritten {
        /// The side that does not write.
        #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
        by: Which,
    },
    /// Neither side writes the element.
    NobodyWrites,
}

impl How {
    /// The kind of difference, which has a code for programs.
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
    /// The number of further elements that the values depend on, all of them 0.
    pub zeros: u64,
    /// The value of the reference: a decimal, `inf`, ….
    pub reference: String,
    /// The value of the optimized kernel.
    pub opt: String,
    /// The intermediate value that explains the difference, if one does.
    pub explanation: Option<Explanation>,
    /// Readings of literals under which this element is equal on both sides, if the case allowed them (`literals`, V9).
    pub readings: Vec<String>,
}

/// An intermediate value that explains a difference: with the optimized kernel's value in its place, the reference
/// computes what the optimized kernel does.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Explanation {
    /// Its kind, such as `divisor`.
    pub what: String,
    /// Its value in the reference.
    pub reference: String,
    /// Its value in the optimized kernel.
    pub opt: String,
    /// The instructions of both kernels that use it, if known.
    pub places: [Option<Box<Place>>; 2],
}

/// Why no claim is made.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unknown {
    /// The reason, which has a code for programs.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: UnknownReason,
    /// The reason in one sentence.
    pub reason: String,
    /// How far a proof came.
    pub progress: Option<Box<Progress>>,
    /// What to do about it.
    pub help: Option<String>,
}

/// How far an unfinished proof came: which intermediate values of both kernels were proved equal.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// The output element.
    pub element: String,
    /// The number of pairs of values that were proved equal.
    pub equal: u64,
    /// The last of these pairs.
    pub last: Vec<ValuePair>,
    /// The first pair that agrees at the trial points but was not proved equal.
    pub open: ValuePair,
    /// Whether that pair is the output element itself.
    pub is_output: bool,
}

/// A value of the reference, and one of the optimized kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValuePair {
    /// The terms of both, abridged.
    pub terms: [String; 2],
    /// The instructions that compute them, or the last known ones before those.
    pub places: [Option<Box<Place>>; 2],
}

impl Unknown {
    /// A defect of the verifier: it contradicts itself, or it panicked. This is no statement about the kernels.
    pub fn internal(reason: impl Into<String>) -> Unknown {
        Unknown {
            kind: UnknownReason::Internal,
            reason: reason.into(),
            progress: None,
            help: Some(
                "this is an error in Volta, and nothing is claimed about the kernels: please report it, with this case"
                    .into(),
            ),
        }
    }
}

/// A part of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CasePart {
    /// The value of a key of a kernel, such as `block`. A missing `args` stands for the parameters, and `source` names
    /// the kernel.
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
    /// The problem, which has a code for programs.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: InputProblem,
    /// The kernel, if the error is about one of them.
    #[cfg_attr(feature = "serde", serde(with = "stored::optional_word"))]
    pub side: Option<Which>,
    /// The step of that side, from 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub step: usize,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// The place in the PTX, if the PTX is wrong.
    pub place: Option<Place>,
    /// The part of the case that is wrong, if one is; if `side` is given, in the section of that kernel.
    pub part: Option<CasePart>,
    /// What to do about it; may have several lines.
    pub help: Option<String>,
}

impl InputError {
    /// An error about the case as a whole.
    pub fn new(kind: InputProblem, message: impl Into<String>) -> InputError {
        InputError { kind, side: None, step: 0, message: message.into(), place: None, part: None, help: None }
    }
}

/// The inputs for which a proof, or a clean run, makes its claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputScope {
    /// Whether the case restricts inputs, so that the claim is about every input that the case allows.
    pub restricted: bool,
    /// The domain of the reference, or of the only kernel, if it is not known to be everything: the conjunction of
    /// these conditions.
    pub domain: Vec<String>,
    /// The number of further conditions that are not listed.
    pub more: usize,
}

/// The numbers of elements that were compared and that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coverage {
    /// Elements proved equal or found different.
    pub compared: u64,
    /// Elements that no executed CTA writes.
    pub unwritten: u64,
    /// Elements of all output tensors.
    pub total: u64,
}

/// An input, some elements of which no kernel computes with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnusedInput {
    /// The tensor.
    pub tensor: String,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    /// The number of these elements.
    pub unused: u64,
    /// The number of runs of neighbouring row-major element numbers that they are.
    pub runs: u64,
    /// The first run: its first element, and its length.
    pub first: (u64, u64),
}

/// Statistics of executing one side.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SideStats {
    /// Name of the kernel.
    pub kernel: String,
    /// Lines of PTX.
    pub ptx_lines: u64,
    /// Threads of one CTA.
    pub threads: u64,
    /// The numbers of executed CTAs, and of CTAs of the grid.
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
    /// The time in seconds.
    pub seconds: f64,
}

/// A size of a case that is verified at every size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeClaim {
    /// The name of the variable.
    pub variable: String,
    /// Its value in the case that a finding or the figures of the report are about.
    pub size: u64,
    /// The sizes of the claim, if it is proved.
    pub every: Option<AllSizes>,
}

/// The sizes for which a claim is proved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AllSizes {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub most: u64,
    /// Why nothing is claimed of larger ones.
    pub ends: String,
    /// How many of them were verified one by one; the others follow.
    pub verified: u64,
}

/// The result of verifying a case.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// If the verdict is a fault, the further findings, in either kernel (rule R2).
    pub also: Vec<Fault>,
    /// The assumptions of the verdict, in a fixed order.
    pub assumptions: Vec<Assumption>,
    /// Where a claim about bits is not proved: the weaker claims that are; where reals have no meaning, `bits`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub holds: Vec<String>,
    /// Where a claim about bits is not proved: the operations with which the kernels part.
    #[cfg_attr(feature = "serde", serde(default))]
    pub parting: Option<Explanation>,
    /// Of a claim about ranges: what the operations on floats may give, by source line (rule B2).
    #[cfg_attr(feature = "serde", serde(default))]
    pub ranges: Vec<LineRange>,
    /// Of a claim about ranges: operations that lose digits at inputs that were found, by source line (rule B2).
    #[cfg_attr(feature = "serde", serde(default))]
    pub losses: Vec<LineLoss>,
    /// Where a case asks for it: how far the elements of outputs may be from their exact values (rule B3).
    #[cfg_attr(feature = "serde", serde(default))]
    pub errors: Vec<OutputError>,
    /// The inputs for which a proof or a clean run makes its claim.
    pub scope: InputScope,
    /// The numbers of elements that were compared and that were not.
    pub coverage: Coverage,
    /// The inputs with elements that no kernel computes with: nothing is claimed about what they would change.
    pub unused: Vec<UnusedInput>,
    /// Of a case at every size: the size that the rest is about, and whether all follow.
    #[cfg_attr(feature = "serde", serde(default))]
    pub size: Option<SizeClaim>,
    /// Statistics of the reference, if there is one.
    pub reference: Option<SideStats>,
    /// Statistics of the optimized kernel, or of the only one.
    pub opt: SideStats,
    /// Seconds spent deciding.
    pub solve_seconds: f64,
    /// The number of pairs of elements that were brought to canonical form to decide them; `None` if nothing was
    /// decided. A difference that evaluation at a point shows needs no canonical form. Forms for `formulas` are not
    /// counted.
    pub canonical_elements: Option<u64>,
    /// The number of points at which the proof was compared with evaluation, if requested.
    pub rechecked: Option<u32>,
    /// If the kernels differ, and on request: the differing elements of each output.
    pub maps: Vec<ElementMap>,
    /// Formulas of all elements, for snapshots: the common one, or that of the reference or of the only kernel,
    /// followed by that of the other side unless both are proved equal.
    pub formulas: Vec<FormulaText>,
    /// Digests of the canonical forms of all compared elements, for snapshots: the common one, or that of the
    /// reference, followed by that of the other side unless both are proved equal.
    pub form_digests: Vec<FormsDigest>,
}

impl Report {
    /// A report with nothing but a verdict.
    pub fn of(verdict: Verdict) -> Report {
        Report {
            verdict,
            also: Vec::new(),
            assumptions: Vec::new(),
            holds: Vec::new(),
            parting: None,
            ranges: Vec::new(),
            losses: Vec::new(),
            errors: Vec::new(),
            scope: InputScope::default(),
            coverage: Coverage::default(),
            unused: Vec::new(),
            size: None,
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

/// An operation whose result stays a number, and loses digits at some inputs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LineLoss {
    /// The kernel.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub side: Which,
    /// The place of the operation.
    pub place: Place,
    /// The operation.
    pub operation: String,
    /// Whether its addends cancel; its result is below the normal numbers otherwise.
    pub cancels: bool,
    /// Numbers between which its results lie, at all inputs.
    pub between: [String; 2],
    /// Inputs at which it loses digits.
    pub inputs: String,
    /// Its operands at these inputs.
    pub operands: Vec<String>,
    /// Its result there.
    pub gives: String,
}

/// What the operations on floats of one source line give: of those, the one with the largest magnitude.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LineRange {
    /// The kernel.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub side: Which,
    /// The place of that operation.
    pub place: Place,
    /// That operation.
    pub operation: String,
    /// Numbers between which its results lie, rounded outwards.
    pub between: [String; 2],
    /// Whether a result may be infinite or NaN.
    pub may_leave: bool,
}

/// How far the elements of one output may be from their exact values, by the operations of one kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OutputError {
    /// The kernel.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub side: Which,
    /// The output.
    pub tensor: String,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    /// What is proved of each element, in ascending order of their numbers.
    pub elements: Vec<ElementError>,
    /// The first element of which nothing is proved: its name, why, and the place of the operation.
    pub open: Option<(String, String, Option<Place>)>,
}

/// How far an element may be from its exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ElementError {
    /// The element, in row-major order.
    pub element: u64,
    /// As a distance.
    pub absolute: f64,
    /// In units in the last place of the exact value.
    pub ulps: f64,
}

/// The elements of an output that differ at one of a few trial points. The others may differ at other inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ElementMap {
    /// The output.
    pub tensor: String,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    /// The differing elements as ascending runs of row-major element numbers: first number, and length.
    pub differing: Vec<(u64, u64)>,
    /// The number of elements that were compared: those that the kernels write.
    pub looked_at: u64,
}

/// The formula of a kernel in several notations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FormulaText {
    /// The formula as plain text.
    pub text: String,
    /// The formula as plain text, in which parts that differ from the other kernel's formula are between `⟦` and `⟧`.
    pub marked: String,
    /// The formula as MathML, in which such parts have the class `marked`.
    pub mathml: String,
}

/// A digest of the normal forms of many elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FormsDigest {
    /// A hash of the values of all forms in prime fields, each with its element.
    pub digest: u128,
    /// The number of elements without a normal form: undefined ones, and those for which a budget ended.
    pub open: u64,
}
