//! What the members of families have in common: for which values of the variables the verdicts are as expected.

use std::collections::BTreeMap;

use volta_case::Shard;

use crate::discover::family_of;

/// The outcomes of members, by the name of their family.
#[derive(Debug, Default)]
pub(crate) struct Outcomes(BTreeMap<String, Vec<Ran>>);

/// A member that ran.
#[derive(Debug)]
struct Ran {
    member: Member,
    is_expected: bool,
    /// How many of its parts have yet to run.
    missing: u32,
}

/// The values of the variables, in the order of the file.
type Member = Vec<(String, Value)>;

/// A value; numbers come in their order, and before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Number(i64),
    Text(String),
}

/// At most so many runs of values of a variable are told.
const MOST_RUNS: usize = 16;

impl Outcomes {
    /// Adds the outcome of a case, if it is a member of a family, or of a part of one.
    pub(crate) fn add(&mut self, name: &str, is_expected: bool) {
        let family = family_of(name);
        let (name, shard) = Shard::split(name);
        let Some(member) = name.strip_prefix(family).and_then(|rest| rest.strip_prefix("::")) else { return };
        let bound = |part: &str| {
            let (name, value) = part.split_once('=')?;
            let number = value.parse().map(Value::Number);
            Some((name.to_owned(), number.unwrap_or_else(|_| Value::Text(value.to_owned()))))
        };
        let member: Option<Member> = member.split(',').map(bound).collect();
        let Some(member) = member else { return };
        let ran = self.0.entry(family.to_owned()).or_default();
        // The parts of a member come one after the other, or in any order from several threads.
        match ran.iter_mut().rev().find(|ran| shard.is_some() && ran.member == member) {
            Some(ran) => {
                ran.is_expected &= is_expected;
                ran.missing = ran.missing.saturating_sub(1);
            }
            None => ran.push(Ran { member, is_expected, missing: shard.map_or(0, |shard| shard.of - 1) }),
        }
    }

    /// A line for each family.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(family, members)| {
            let bad = members.iter().filter(|ran| !ran.is_expected).map(|ran| &ran.member);
            let others = bad.clone().count();
            let smallest = bad.min_by_key(|member| values_of(member));
            let whole: Vec<&Member> =
                members.iter().filter(|ran| ran.missing == 0).map(|ran| &ran.member).collect();
            let parts = match members.len() - whole.len() {
                0 => String::new(),
                some => format!("; of {} only some parts ran", counted(some)),
            };
            match smallest {
                None if whole.is_empty() => format!("{family}: nothing as a whole{parts}"),
                None => format!("{family}: as expected for {}{parts}", told(&whole)),
                Some(smallest) => {
                    let are = if others == 1 { "is" } else { "are" };
                    let of = counted(members.len());
                    format!(
                        "{family}: {others} of {of} {are} not as expected; the smallest is {}",
                        spelled(smallest)
                    )
                }
            }
        })
    }
}

fn counted(members: usize) -> String {
    if members == 1 { "1 member".into() } else { format!("{members} members") }
}

fn values_of(member: &Member) -> Vec<&Value> {
    member.iter().map(|(_, value)| value).collect()
}

fn spelled(member: &Member) -> String {
    let parts: Vec<String> = member.iter().map(|(name, value)| format!("{name}={}", value.text())).collect();
    parts.join(",")
}

/// The values of each variable, if all combinations of them occur; else the number of members.
fn told(members: &[&Member]) -> String {
    let mut variables: Vec<(&str, Vec<&Value>)> = Vec::new();
    for (name, value) in members.iter().copied().flatten() {
        let at = variables.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            variables.push((name, Vec::new()));
            variables.len() - 1
        });
        variables[at].1.push(value);
    }
    for (_, values) in &mut variables {
        values.sort_unstable();
        values.dedup();
    }
    if variables.iter().map(|(_, values)| values.len()).product::<usize>() != members.len() {
        return counted(members.len());
    }
    let parts: Vec<String> =
        variables.iter().map(|(name, values)| format!("{name} = {}", runs(values))).collect();
    format!("{} ({})", parts.join("; "), counted(members.len()))
}

/// Values in order, with consecutive numbers as a range.
fn runs(values: &[&Value]) -> String {
    let follows = |one: &&Value, other: &&Value| match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.checked_add(1) == Some(*other),
        (Value::Number(_) | Value::Text(_), _) => false,
    };
    let runs: Vec<String> = values
        .chunk_by(follows)
        .flat_map(|run| match run {
            [first, _, .., last] => vec![format!("{} to {}", first.text(), last.text())],
            few => few.iter().map(|value| value.text()).collect(),
        })
        .collect();
    match runs.as_slice() {
        [first, .., last] if runs.len() > MOST_RUNS => {
            format!("{} values from {first} to {last}", values.len())
        }
        all => all.join(", "),
    }
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_family_are_told_together() {
        let mut outcomes = Outcomes::default();
        outcomes.add("rows::other", true);
        for n in [1, 31, 32, 33, 128] {
            for dtype in ["f32", "f16"] {
                outcomes.add(&format!("rows::sum::n={n},dtype={dtype}"), true);
            }
            outcomes.add(&format!("rows::mean::n={n}"), n == 1 || n == 33);
        }
        assert_eq!(
            outcomes.lines().collect::<Vec<_>>(),
            [
                "rows::mean: 3 of 5 members are not as expected; the smallest is n=31",
                "rows::sum: as expected for n = 1, 31 to 33, 128; dtype = f16, f32 (10 members)",
            ]
        );
        for part in [3, 1, 2] {
            outcomes.add(&format!("rows::max::n=7/shard_{part}_of_3"), true);
        }
        outcomes.add("rows::max::n=8/shard_2_of_3", true);
        let lines: Vec<String> = outcomes.lines().collect();
        assert_eq!(lines[0], "rows::max: as expected for n = 7 (1 member); of 1 member only some parts ran");
        outcomes.add("rows::sum::n=2,dtype=f32", true);
        assert_eq!(outcomes.lines().last().as_deref(), Some("rows::sum: as expected for 11 members"));
    }
}
