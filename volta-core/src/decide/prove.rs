//! One element: proved equal, refuted, or neither.
//!
//! The cheap rungs of the prover come first: most pairs are equal, and equal lists say so. Where they do not,
//! one pseudo-random point shows most differences before anything is multiplied out; then the dear rungs; then
//! the full search for a witness. A proof of equality counts where both sides are defined, so the requirements
//! of the partial operations (rule V8) are compared next: the optimized kernel's must follow from the
//! reference's, or they become conditions.

use super::probe::{Screen, refute};
use super::witness::{Witness, element_name};
use super::{Element, InputInfo, Options, Sign};
use crate::algebra::{Equality, Facts, Obligations, Prover, Requirement, Rung, Signs, Stop, TermRef};
use crate::base::budget::Exhausted;
use crate::term::{InputId, Store, TermId};

/// A side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The kernel that says what is right.
    Reference,
    /// The kernel that is judged.
    Opt,
}

/// Why an element was not proved equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The two sides differ at a point of the reference's domain.
    Different(Witness),
    /// One side has no value, at any input (V6).
    Undefined {
        /// Which.
        side: Side,
        /// Why.
        reason: String,
    },
    /// The budget of algebra ended.
    Exhausted(Exhausted),
    /// Neither a proof nor a witness was found.
    Unknown {
        /// What ended the search.
        reason: String,
    },
}

/// What was proved of one element: equal where the reference is defined and the conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Requirements of the optimized kernel that do not follow from the reference's.
    pub conditions: Vec<String>,
    /// Requirements of the reference that always holding was not proved for: its domain.
    pub domain: Vec<String>,
}

/// Proves elements one after the other, each with what the ones before taught it.
pub struct ElementProver<'s, 'i> {
    prover: Prover<'s>,
    obligations: Obligations,
    inputs: &'i [InputInfo],
    options: &'i Options,
    /// Of the stores of the last element that needed one.
    screen: Option<([&'s Store; 2], Screen<'s, 'i>)>,
}

/// What one rung came to.
enum Attempt {
    Equal,
    Open(String),
    FirstUndefined(String),
    SecondUndefined(String),
    /// Higher rungs would stop as well.
    Stopped(Stop),
}

impl Sign {
    fn signs(self) -> Signs {
        match self {
            Sign::Any => Signs::ANY,
            Sign::Positive => Signs::POSITIVE,
            Sign::NonNegative => Signs::NOT_NEGATIVE,
            Sign::Negative => Signs::NEGATIVE,
            Sign::NonPositive => Signs::NEGATIVE | Signs::ZERO,
            Sign::Nonzero => Signs::NEGATIVE | Signs::POSITIVE,
        }
    }
}

impl<'s, 'i> ElementProver<'s, 'i> {
    /// A prover that knows nothing yet.
    pub fn new(inputs: &'i [InputInfo], options: &'i Options) -> ElementProver<'s, 'i> {
        let signs = inputs.iter().map(|input| input.sign.signs()).collect();
        ElementProver {
            prover: Prover::new(signs),
            obligations: Obligations::default(),
            inputs,
            options,
            screen: None,
        }
    }

    /// The prover, for what it has read and counted.
    pub fn prover(&self) -> &Prover<'s> {
        &self.prover
    }

    /// Decides one element.
    pub fn decide(&mut self, element: &Element<'s>, facts: [&'s Facts; 2]) -> Result<Proof, Failure> {
        let reference = TermRef {
            store: self.prover.add_store(element.reference.0, facts[0]),
            term: element.reference.1,
        };
        let opt = TermRef { store: self.prover.add_store(element.opt.0, facts[1]), term: element.opt.1 };
        self.prover.set_budget(self.options.algebra_steps);
        let mut unproved = self.climb(reference, opt, Rung::Lists);
        if matches!(unproved, Attempt::Open(_)) {
            if self.differs(element)
                && let Some(witness) = self.refute(element)
            {
                return Err(Failure::Different(witness));
            }
            unproved = self.climb(reference, opt, Rung::Expansions);
        }
        match unproved {
            Attempt::Equal => self.compare_requirements(reference, opt),
            Attempt::FirstUndefined(reason) => Err(Failure::Undefined { side: Side::Reference, reason }),
            Attempt::SecondUndefined(reason) => {
                // The reference may be undefined as well, for a reason found only among its requirements.
                self.requirements(reference, Side::Reference)?;
                Err(Failure::Undefined { side: Side::Opt, reason })
            }
            Attempt::Open(reason) | Attempt::Stopped(Stop::Unknown(reason)) => {
                Err(self.refute(element).map_or(Failure::Unknown { reason }, Failure::Different))
            }
            Attempt::Stopped(stop) => Err(match (self.refute(element), stop) {
                (Some(witness), _) => Failure::Different(witness),
                (None, Stop::Exhausted(exhausted)) => Failure::Exhausted(exhausted),
                (None, stop) => Failure::Unknown { reason: stop.to_string() },
            }),
        }
    }

    /// One rung of the ladder.
    fn climb(&mut self, reference: TermRef, opt: TermRef, rung: Rung) -> Attempt {
        match self.prover.equal(reference, opt, rung) {
            Ok(Equality::Equal) => Attempt::Equal,
            Ok(Equality::Open(reason)) => Attempt::Open(reason),
            Ok(Equality::FirstUndefined(reason)) => Attempt::FirstUndefined(reason),
            Ok(Equality::SecondUndefined(reason)) => Attempt::SecondUndefined(reason),
            Err(stop) => Attempt::Stopped(stop),
        }
    }

    /// Whether the two sides surely differ at the first point.
    fn differs(&mut self, element: &Element<'s>) -> bool {
        let stores = [element.reference.0, element.opt.0];
        let same =
            |known: &[&Store; 2]| known.iter().zip(stores).all(|(known, store)| std::ptr::eq(*known, store));
        if !self.screen.as_ref().is_some_and(|(known, _)| same(known)) {
            let remembered = self.options.effort.remembered;
            self.screen = Some((stores, Screen::new(stores[0], stores[1], self.inputs, 0, remembered)));
        }
        self.screen.as_mut().is_some_and(|(_, screen)| screen.differs(element.reference.1, element.opt.1))
    }

    fn refute(&self, element: &Element<'s>) -> Option<Witness> {
        refute(element.reference, element.opt, self.inputs, &self.options.effort)
    }

    fn requirements(&mut self, at: TermRef, side: Side) -> Result<Vec<Requirement>, Failure> {
        self.prover.requirements(&mut self.obligations, at).map_err(|stop| match stop {
            Stop::Undefined(reason) => Failure::Undefined { side, reason },
            Stop::Exhausted(exhausted) => Failure::Exhausted(exhausted),
            Stop::Missing | Stop::Unknown(_) => Failure::Unknown { reason: stop.to_string() },
        })
    }

    fn compare_requirements(&mut self, reference: TermRef, opt: TermRef) -> Result<Proof, Failure> {
        let domain = self.requirements(reference, Side::Reference)?;
        let own = self.requirements(opt, Side::Opt)?;
        let inputs = self.inputs;
        let names = |input: InputId, element: u64| element_name(inputs.get(input.index()), input, element);
        let text = |requirement: &Requirement| self.prover.requirement_text(requirement, &names);
        let extra = own.iter().filter(|requirement| !self.prover.implied(requirement, &domain));
        Ok(Proof { conditions: extra.map(text).collect(), domain: domain.iter().map(text).collect() })
    }
}

/// The normal forms of some terms as text, each at most about 2 kB, independent of how the terms are computed.
/// `steps` of algebra are allowed for each.
pub fn normal_forms(terms: &[(&Store, TermId)], inputs: &[InputInfo], steps: u64) -> Vec<String> {
    let mut stores: Vec<&Store> = Vec::new();
    for (store, _) in terms {
        if !stores.iter().any(|known| std::ptr::eq(*known, *store)) {
            stores.push(store);
        }
    }
    let facts: Vec<Facts> = stores.iter().map(|store| Facts::new(store)).collect();
    let mut prover = Prover::new(inputs.iter().map(|input| input.sign.signs()).collect());
    for (store, facts) in stores.iter().zip(&facts) {
        prover.add_store(store, facts);
    }
    let names = |input: InputId, element: u64| element_name(inputs.get(input.index()), input, element);
    let mut form = |(store, term): &(&Store, TermId)| {
        prover.set_budget(steps);
        let store = stores.iter().position(|known| std::ptr::eq(*known, *store)).unwrap_or_default() as u32;
        prover.normal_form(TermRef { store, term: *term }, &names)
    };
    terms.iter().map(&mut form).collect()
}
