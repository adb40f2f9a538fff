//! What memory holds: where addresses were stored, and what loads find.

use super::form::{Base, Form, exact};
use crate::launch::address_bits::{Analysis, Held, MAX_PLACES};
use crate::program::Space;

impl Analysis<'_> {
    /// The object at an address, and the offset if it is known. `None` stands for any object.
    pub(crate) fn object(&self, address: Form) -> Option<(Base, Option<i64>)> {
        let Form::Linear { sum, offset } = address else { return None };
        self.sums.object(sum).map(|(base, _)| (base, exact(offset)))
    }

    /// Whether an access in a space through the address of an unknown object may touch this one.
    fn may_be_read(&self, base: Base, space: Space) -> bool {
        let own = match base {
            Base::Variable(variable) => self.program.variables[variable.index()].space,
            Base::Tensor(_) | Base::Window(_) => Space::Global,
            Base::Columns => Space::Tensor,
        };
        match space {
            // The kernel's parameters are read by name, unless the address of one is taken.
            Space::Generic => own != Space::Param || self.parameters_escape,
            Space::Cluster => own == Space::Shared,
            Space::Global | Space::Shared | Space::Local | Space::Const | Space::Param | Space::Tensor => {
                own == space
            }
        }
    }

    /// The contents at an address.
    pub(crate) fn loaded(&self, space: Space, address: Form, bytes: u32) -> Form {
        let number = Form::number(u64::MAX >> (64 - 8 * bytes.clamp(1, 8)));
        // An access at a number is a fault, so there are no contents.
        if address.is_number() {
            return number;
        }
        let found = self.object(address);
        let own: Vec<&Held> = match (found, address) {
            (Some((base, _)), _) => self.held.get(&base).into_iter().collect(),
            (None, Form::Some { of: Some(set), .. }) => {
                self.sums.objects(set).iter().filter_map(|base| self.held.get(base)).collect()
            }
            (None, _) => {
                let may_lie_there = |base: &Base| self.may_be_read(*base, space);
                self.held.iter().filter(|(base, _)| may_lie_there(base)).map(|(_, held)| held).collect()
            }
        };
        let offset = found.and_then(|(_, offset)| offset);
        let within = match address {
            Form::Linear { offset, .. } if found.is_some() => offset,
            Form::Bits { .. }
            | Form::Linear { .. }
            | Form::Some { .. }
            | Form::Half { .. }
            | Form::Descriptor { .. } => None,
        };
        let mut result: Option<Form> = None;
        let mut clean = true;
        let own: Vec<&Held> = own.into_iter().filter(|held| held.has_addresses).collect();
        if own.iter().map(|held| held.by_place.len()).sum::<usize>() > MAX_PLACES {
            return Form::tainted(u64::MAX);
        }
        for ((at, size), form) in own.into_iter().flat_map(|held| &held.by_place) {
            let form = match (offset, at) {
                (Some(offset), Some(at)) if offset == *at && bytes == *size => *form,
                (_, Some(at))
                    if within.is_some_and(|[least, most]| {
                        least >= at.saturating_add(i64::from(*size))
                            || *at >= most.saturating_add(i64::from(bytes))
                    }) =>
                {
                    continue;
                }
                (None, _) | (_, None) if bytes == *size => *form,
                _ if form.is_number() => number,
                (Some(offset), Some(at))
                    if *size == 8 && bytes == 4 && (offset - at == 0 || offset - at == 4) =>
                {
                    match *form {
                        Form::Linear { sum, offset: own } => {
                            Form::Half { sum, offset: own, high: offset - at == 4 }
                        }
                        Form::Bits { .. }
                        | Form::Some { .. }
                        | Form::Half { .. }
                        | Form::Descriptor { .. } => Form::tainted(u64::MAX),
                    }
                }
                _ => Form::tainted(u64::MAX),
            };
            clean &= form.is_number();
            result = Some(result.map_or(form, |result| self.sums.join(result, form)));
        }
        // The initial contents, or numbers stored at unknown places.
        let others = self.numbers_anywhere || !matches!(found, Some((Base::Variable(_), _)));
        match result.filter(|_| !clean) {
            Some(result) if others && space != Space::Param => self.sums.join(result, number),
            Some(result) => result,
            None => number,
        }
    }

    pub(crate) fn stored(&mut self, address: Form, bytes: u32, form: Form) {
        let Some((base, offset)) = self.object(address) else {
            // Storing an address there is a fault.
            self.changed |= !self.numbers_anywhere;
            self.numbers_anywhere = true;
            return;
        };
        let known = self.held.get(&base).and_then(|held| held.by_place.get(&(offset, bytes))).copied();
        let joined = known.map_or(form, |known| self.sums.join(known, form));
        if known != Some(joined) {
            let held = self.held.entry(base).or_default();
            held.by_place.insert((offset, bytes), joined);
            held.has_addresses |= !joined.is_number();
            self.changed = true;
        }
    }
}
