//! What partial operations require, and where.

use super::condition::ConditionId;
use super::monomial::MonomialId;
use crate::number::value::Demand;
use std::rc::Rc;

/// Something that must hold where its guards do, and was not proved: the product, without factors known to be
/// positive, under the demand. `negative` turns the sign of the product.
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
    /// All of them hold there; sorted, each once.
    pub(super) conditions: Rc<[ConditionId]>,
    /// It matters wherever they hold, and not only in some of those places.
    pub(super) exact: bool,
}

impl Default for Guards {
    /// None: it matters everywhere.
    fn default() -> Guards {
        Guards { conditions: Rc::from([]), exact: true }
    }
}

impl Guards {
    /// Whether the part matters everywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.exact
    }

    /// Whether what these guard matters wherever what `others` guard does.
    pub(super) fn surely_hold_under(&self, others: &Guards) -> bool {
        self.exact && self.conditions.iter().all(|own| others.conditions.contains(own))
    }

    pub(super) fn inexact(&self) -> Guards {
        Guards { conditions: self.conditions.clone(), exact: false }
    }
}
