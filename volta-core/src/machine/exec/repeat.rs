//! Loops with an input-dependent trip count, inside functions of the mathematical library (rule V5): executed as one
//! step, whose results are terms of the loop's code and of its registers on entry.
//!
//! Such a term is unexplained. It becomes a value where the whole function is recognised, and is a fault wherever it
//! reaches anything else, so that nothing rests on the loop's behaviour or termination, only on the function's
//! definition. In claims about bits (rule B1), it is a function of its operands like an approximate instruction.

use crate::base::lane::{Lane, LaneMask};
use crate::machine::cta::Cta;
use crate::machine::group::context::Context;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::number::Rational;
use crate::program::{InstId, Loop};
use crate::term::{NodeId, TermId, TermOp};
use crate::value::Value;
use crate::value::int_terms::exactly;
use crate::value::register::Register;
use std::sync::Arc;

/// Bytes of text per step of the encoding.
const PIECE: usize = 7;

/// An injective encoding of texts as numbers.
fn number_of(text: &str) -> Rational {
    let shift = Rational::power_of_two(8 * PIECE as i32);
    text.as_bytes().chunks(PIECE).fold(Rational::ONE, |number, piece| {
        let piece = piece.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        &(&number * &shift) + &Rational::from_u64(piece)
    })
}

impl Context<'_> {
    /// The loop that begins at an instruction, if it is executed as one step: if some register that it reads is not
    /// known, and in claims about bits its counter, without which each iteration can be executed.
    pub(super) fn loop_at(&self, warp: &Warp, mask: LaneMask, pc: InstId) -> Option<Arc<Loop>> {
        let own = self.launch.loops().get(&pc)?;
        let is_known =
            |register| mask.iter().all(|lane| matches!(warp.register(register).get(lane), Value::Bits(_)));
        let counted = if self.options.ieee { std::slice::from_ref(&own.counter) } else { own.reads() };
        (!counted.iter().all(|register| is_known(*register))).then(|| own.clone())
    }
}

impl Cta<'_> {
    /// Executes a loop as one step. False where a register on entry is no integer, or not the same in all CTAs.
    pub(super) fn run_loop(&mut self, warp: &mut Warp, mask: LaneMask, own: &Loop, pc: InstId) -> bool {
        if !self.same_in_class(warp, own.reads()) {
            return false;
        }
        // Uniform constants are part of the code, as where the compiler knew them.
        let exact = self.context.options.ieee;
        let code = self.context.launch.program.loop_code(own, exact, &|register| {
            let register = warp.register(register);
            let mut values = mask.iter().map(|lane| register.get(lane));
            match values.next() {
                Some(first @ Value::Bits(bits)) => values.all(|value| value == first).then_some(bits),
                Some(Value::Sym(_) | Value::Undefined(_)) | None => None,
            }
        });
        let mut found = Vec::with_capacity(code.reads.len());
        for register in &code.reads {
            let mut terms = [0; 32];
            for lane in mask {
                let value = warp.register(*register).get(lane);
                let bytes = if self.values.terms.packed.fits(value, 4) { 4 } else { 8 };
                let mut integers = self.values.terms.int_terms(pc);
                let Some(term) = integers.residue(value, bytes) else { return false };
                terms[lane] = integers.unsigned(term, 8 * bytes).raw();
            }
            found.push(terms);
        }
        for register in &own.written {
            warp.register_mut(*register).merge(mask, &Register::unwritten());
        }
        for predicate in &own.predicates {
            warp.predicate_mut(*predicate).forget(mask);
        }
        let text = exactly(&mut self.values.terms.store, number_of(&code.text));
        let mut so_far = self.values.terms.outcome(mask, [text.raw(); 32], pc);
        for terms in &found {
            so_far = self.values.terms.outcome_with(mask, so_far, terms, pc);
        }
        for (register, number) in &code.results {
            let number = exactly(&mut self.values.terms.store, Rational::from_u64(u64::from(*number) + 1));
            let result = self.values.terms.outcome_with(mask, so_far, &[number.raw(); 32], pc);
            for lane in mask {
                let term = TermId::lane(result, lane);
                let value = self.values.terms.int_terms(pc).value(term, 8);
                warp.register_mut(*register).set(lane, value);
            }
        }
        true
    }
}

impl ValueTerms<'_> {
    fn outcome(&mut self, mask: LaneMask, of: [u64; 32], pc: InstId) -> NodeId {
        self.store.push(TermOp::Outcome, mask, &[&of], pc)
    }

    fn outcome_with(&mut self, mask: LaneMask, so_far: NodeId, terms: &[u64; 32], pc: InstId) -> NodeId {
        let so_far = lanes_of(so_far);
        let sum = self.store.push(TermOp::Add, mask, &[&so_far, terms], pc);
        self.outcome(mask, lanes_of(sum), pc)
    }
}

/// The term ids of a node's lanes.
fn lanes_of(node: NodeId) -> [u64; 32] {
    Lane::each(|lane| TermId::lane(node, lane).raw())
}
