//! Families of cases: one case for each combination of the values of some variables.

use std::fmt::{self, Display, Formatter};

use crate::word::Wrong;

/// A family has at most so many members.
pub const MAX_MEMBERS: usize = 4096;

/// Variables in the order of the text, each with its values.
#[derive(Clone, Debug)]
pub struct Family<V>(Vec<(String, Vec<V>)>);

/// The values of the variables of one member. It is shown as its name: `n=97,dtype=f16`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<V>(Vec<(String, V)>);

impl<V> Default for Family<V> {
    fn default() -> Family<V> {
        Family(Vec::new())
    }
}

impl<V: Clone + Display> Family<V> {
    /// Adds a variable.
    ///
    /// # Errors
    /// When it has no value, or the family has too many members.
    pub fn add(&mut self, name: &str, values: Vec<V>) -> Result<(), Wrong> {
        if values.is_empty() {
            return Err(format!("the variable `{name}` has no value").into());
        }
        if self.count().max(1) * values.len() > MAX_MEMBERS {
            return Err(format!("this family has more than {MAX_MEMBERS} members").into());
        }
        self.0.push((name.to_owned(), values));
        Ok(())
    }

    /// The number of members; none without a variable.
    pub fn count(&self) -> usize {
        if self.0.is_empty() { 0 } else { self.0.iter().map(|(_, values)| values.len()).product() }
    }

    /// The members in order: the values of the last variable change first.
    pub fn members(&self) -> impl Iterator<Item = Member<V>> {
        (0..self.count()).map(|at| {
            let mut rest = at;
            let bound = |(name, values): &(String, Vec<V>)| {
                let value = values[rest % values.len()].clone();
                rest /= values.len();
                (name.clone(), value)
            };
            let mut bounds: Vec<(String, V)> = self.0.iter().rev().map(bound).collect();
            bounds.reverse();
            Member(bounds)
        })
    }

    /// The member with a name.
    pub fn member(&self, name: &str) -> Option<Member<V>> {
        let mut parts = name.split(',');
        let bound = |(variable, values): &(String, Vec<V>)| {
            let wanted = parts.next()?.strip_prefix(variable.as_str())?.strip_prefix('=')?;
            let value = values.iter().find(|value| value.to_string() == wanted)?;
            Some((variable.clone(), value.clone()))
        };
        let bounds: Option<Vec<(String, V)>> = self.0.iter().map(bound).collect();
        bounds.filter(|bounds| !bounds.is_empty() && parts.next().is_none()).map(Member)
    }
}

impl<V> Member<V> {
    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The same with another value of a variable.
    #[must_use]
    pub fn with(self, name: &str, value: V) -> Member<V> {
        let mut given = Some(value);
        let change = |(known, old): (String, V)| {
            let new = if known == name { given.take() } else { None };
            (known, new.unwrap_or(old))
        };
        Member(self.0.into_iter().map(change).collect())
    }

    /// The same without a variable.
    #[must_use]
    pub fn without(self, name: &str) -> Member<V> {
        Member(self.0.into_iter().filter(|(known, _)| known != name).collect())
    }

    /// The variables with their values.
    pub fn values(&self) -> &[(String, V)] {
        &self.0
    }
}

impl<V: Display> Display for Member<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_names_by_which_they_are_found() {
        let mut family = Family::default();
        assert_eq!(family.members().count(), 0);
        family.add("n", vec!["1", "31"]).expect("two values");
        family.add("m", vec!["f32", "f16", "1"]).expect("three values");
        let names: Vec<String> = family.members().map(|member| member.to_string()).collect();
        assert_eq!(names, ["n=1,m=f32", "n=1,m=f16", "n=1,m=1", "n=31,m=f32", "n=31,m=f16", "n=31,m=1"]);
        for member in family.members() {
            assert_eq!(family.member(&member.to_string()), Some(member));
        }
        for wrong in ["", "n=1", "n=2,m=f32", "m=f32,n=1", "n=1,m=f32,", "n=1,m=f32,n=1"] {
            assert_eq!(family.member(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_family_has_members_but_not_too_many() {
        let mut family = Family::default();
        let message = |wrong: Result<(), Wrong>| wrong.expect_err("it is refused").message;
        assert_eq!(message(family.add("n", Vec::<u32>::new())), "the variable `n` has no value");
        family.add("n", (0..64).collect()).expect("64 members");
        family.add("m", (0..64).collect()).expect("as many as there may be");
        assert_eq!(message(family.add("k", vec![1, 2])), "this family has more than 4096 members");
        assert_eq!(family.count(), MAX_MEMBERS);
    }
}
