//! Requirements of partial operations, and their guards.

use super::condition::ConditionId;
use super::monomial::MonomialId;
use crate::number::value::Demand;
use std::rc::Rc;

/// A demand that must hold where its guards do, and was not proved: on a product, without factors known to be
/// positive. `negative` turns the sign of the product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    pub(super) demand: Demand,
    pub(super) product: MonomialId,
    pub(super) negative: bool,
    pub(super) guards: Guards,
}

/// Conditions under which a part of a term matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Guards {
    /// All of them hold there; sorted, without repetition.
    pub(super) conditions: Rc<[ConditionId]>,
    /// Whether the part matters everywhere they hold, and not only at some of these inputs.
    pub(super) exact: bool,
}

impl Default for Guards {
    /// No guards: the part matters everywhere.
    fn default() -> Guards {
        Guards { conditions: Rc::from([]), exact: true }
    }
}

impl Guards {
    /// Whether the part matters everywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.exact
    }

    /// Whether the part that these guard matters wherever the part that `others` guard does.
    pub(super) fn surely_hold_under(&self, others: &Guards) -> bool {
        self.exact && self.conditions.iter().all(|own| others.conditions.contains(own))
    }

    pub(super) fn inexact(&self) -> Guards {
        Guards { conditions: self.conditions.clone(), exact: false }
    }
}
