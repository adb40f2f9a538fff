//! Elements of matrices as terms: reals for floats, integers for integers (rules V2, V4).

use super::mma::real_or_undefined;
use crate::base::lane::Lane;
use crate::machine::group::fragment_layout::of_wide_c;
use crate::machine::group::matrix_terms::{Terms, is_undefined, origin_of, undefined};
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::{At, Step};
use crate::program::matrix::MatrixElement;
use crate::program::{InstId, Int, RegId, Width};
use crate::term::TermId;
use crate::value::Value;
use crate::value::int_terms::IntTerms;

impl Matrices<'_, '_> {
    /// A value as an element of a matrix.
    pub(super) fn raw_element(
        &mut self,
        at: At<'_>,
        element: MatrixElement,
        value: Value,
    ) -> Result<u64, Stop> {
        if let MatrixElement::Float(format) = element {
            return self.raw_real(at, value, format);
        }
        if let Some(origin) = self.terms.packed.taint(&[value]) {
            return Ok(undefined(origin));
        }
        let mut residues = self.terms.int_terms(at.pc);
        let term = match element {
            MatrixElement::Int8 { signed } => residues.reading(value, Int { width: Width::W8, signed }),
            MatrixElement::Float(_) | MatrixElement::Int32 => residues.residue(value, element.bytes()),
        };
        Ok(term.ok_or_else(|| self.no_integer(at, value))?.raw())
    }

    /// An element of a matrix as a value.
    pub(crate) fn element_value(&mut self, element: MatrixElement, raw: u64, pc: InstId) -> Value {
        match element {
            MatrixElement::Float(format) => real_or_undefined(format, raw, pc),
            MatrixElement::Int8 { .. } | MatrixElement::Int32 if is_undefined(raw) => {
                Value::Undefined(origin_of(raw, pc))
            }
            MatrixElement::Int8 { .. } | MatrixElement::Int32 => {
                self.terms.int_terms(pc).value(TermId::from_raw(raw), element.bytes())
            }
        }
    }

    /// Writes a matrix to the registers of a warp, as those of C of products of 16 × 8 side by side.
    pub(super) fn set_elements(
        &mut self,
        mut step: Step<'_>,
        element: MatrixElement,
        terms: &Terms,
        d: &[RegId],
    ) {
        for (at, d) in d.iter().enumerate() {
            for lane in Lane::all() {
                let (row, column) = of_wide_c(lane, at);
                step.set(*d, lane, self.element_value(element, terms.at(row, column), step.pc));
            }
        }
    }

    /// The signed numbers of integer sums; saturating products start from these.
    pub(super) fn numbers_of_sums(&mut self, pc: InstId, sums: &[u64]) -> Vec<u64> {
        self.each_defined(pc, sums, |residues, term| residues.signed(term, 32))
    }

    /// Integer sums, saturated.
    pub(super) fn saturated_sums(&mut self, pc: InstId, sums: &[u64]) -> Vec<u64> {
        let word = Int { width: Width::W32, signed: true };
        self.each_defined(pc, sums, |residues, term| residues.saturated(term, word))
    }

    fn each_defined(
        &mut self,
        pc: InstId,
        terms: &[u64],
        f: impl Fn(&mut IntTerms<'_>, TermId) -> TermId,
    ) -> Vec<u64> {
        let mut each = |raw: u64| f(&mut self.terms.int_terms(pc), TermId::from_raw(raw)).raw();
        terms.iter().map(|raw| if is_undefined(*raw) { *raw } else { each(*raw) }).collect()
    }
}
