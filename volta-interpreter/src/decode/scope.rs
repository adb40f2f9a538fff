//! Names in nested scopes.

use std::collections::HashMap;

use super::super::op::{Register, Space};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    Register(Register),
    Variable {
        space: Space,
        at: u64,
        bytes: u64,
    },
    /// A label by its number; its position is set when it is met.
    Label(usize),
    /// The labels of an indexed branch.
    Targets(Vec<String>),
}

/// Scopes from the outermost to the innermost.
#[derive(Debug, Default)]
pub(super) struct Scopes(Vec<HashMap<String, Entity>>);

impl Scopes {
    pub(super) fn enter(&mut self) {
        self.0.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    pub(super) fn declare(&mut self, name: &str, entity: Entity) {
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name.to_string(), entity);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entity> {
        self.0.iter().rev().find_map(|scope| scope.get(name))
    }
}
