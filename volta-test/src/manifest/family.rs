//! `[family]`: one case at several sizes, types or names. Each member is a case of its own, called
//! `family::case::n=97,dtype=f16`: numbers in it may be expressions of the variables, and other texts may contain them
//! in braces.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use rustc_hash::FxHashSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use volta_case::{
    Family, InputProblem, Key, Launch, MAX_MEMBERS, Options, Section, Takes, Target, TensorMap,
};
use volta_core::number::Rational;

use super::Problem;
use super::expression::{Even, Unequal, evaluate, value_in};

/// The name of the table.
pub(super) const KEY: &str = "family";

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Bound {
    Number(i64),
    Text(String),
    /// Every number from this one on.
    Any(i64),
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Number(number) => write!(f, "{number}"),
            Bound::Text(text) => f.write_str(text),
            Bound::Any(_) => f.write_str(ANY),
        }
    }
}

pub(super) type Member = volta_case::Member<Bound>;

/// The value of a variable that is every number.
const ANY: &str = "any";

/// The variable of a member that is every number, and its least value.
pub(super) fn any(member: &Member) -> Option<(&str, i64)> {
    member.values().iter().find_map(|(name, value)| match value {
        Bound::Any(least) => Some((name.as_str(), *least)),
        Bound::Number(_) | Bound::Text(_) => None,
    })
}

/// More sizes than these are no period.
pub(crate) const MOST_PERIOD: u64 = 4096;

/// The message of a period that is longer.
pub(crate) fn too_long() -> String {
    format!("numbers of the case grow evenly over more than {MOST_PERIOD} sizes only")
}

/// For the reference and the other kernel: over how many sizes all numbers that it uses change by the same amount.
///
/// # Errors
/// Why there is no such period.
pub(super) fn periods(document: &DeTable<'_>, member: &Member) -> Result<[u64; 2], String> {
    let Some((variable, least)) = any(member) else { return Ok([1; 2]) };
    // Other texts are the same at all sizes.
    let fixed = member.clone().without(variable);
    let mut others = Vec::new();
    for (_, value) in document.iter().filter(|(key, value)| key.get_ref() != KEY && !value.get_ref().is_str())
    {
        texts("", value, &|_, _| true, &mut others);
    }
    let mut numbers = Vec::new();
    for (key, value) in document.iter().filter(|(key, _)| key.get_ref() != KEY) {
        texts(key.get_ref(), value, &is_expression, &mut numbers);
    }
    let is_number = |text: &&str| numbers.iter().any(|number| std::ptr::eq(*number, *text));
    if let Some(text) = others.iter().find(|text| !is_number(text) && filled(&fixed, text).is_err()) {
        return Err(format!(
            "`{text}` is another text for each {variable}, and only numbers may depend on it"
        ));
    }
    let mut periods = [1, 1];
    for (period, others) in periods.iter_mut().zip([&["opt", "kernel"][..], &["reference"]]) {
        let mut own = Vec::new();
        let uses = |key: &str| key != KEY && !others.contains(&key);
        for (key, value) in document.iter().filter(|(key, _)| uses(key.get_ref())) {
            texts(key.get_ref(), value, &is_expression, &mut own);
        }
        'period: loop {
            if *period > MOST_PERIOD {
                return Err(too_long());
            }
            for first in (0..*period as i64).map(|at| least.saturating_add(at)) {
                for text in &own {
                    let value_of = |name: &str| match member.value(name)? {
                        Bound::Number(value) => Some(Even::constant_of(*value)),
                        Bound::Any(_) => Some(Even::of_sizes(first, *period)),
                        Bound::Text(_) => None,
                    };
                    match value_in(text, &value_of) {
                        Ok(_) => {}
                        Err(Unequal::Multiple(by)) => {
                            *period = period.saturating_mul(by.max(2));
                            continue 'period;
                        }
                        Err(Unequal::Wrong(message)) => {
                            return Err(format!("`{text}` is followed for no other {variable}: {message}"));
                        }
                    }
                }
            }
            break;
        }
    }
    Ok(periods)
}

/// The texts of a value that are of some kind, by the key at which they stand.
fn texts<'d>(
    key: &str,
    value: &'d Spanned<DeValue<'_>>,
    is: &dyn Fn(&str, &str) -> bool,
    found: &mut Vec<&'d str>,
) {
    match value.get_ref() {
        DeValue::Table(table) => {
            table.iter().for_each(|(key, value)| texts(key.get_ref(), value, is, found));
        }
        DeValue::Array(items) => items.iter().for_each(|item| texts(key, item, is, found)),
        DeValue::String(text) if is(key, text) => found.push(text),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => {}
    }
}

/// Whether a text at a key is an expression, and no other way to write a number.
fn is_expression(key: &str, text: &str) -> bool {
    let is_constant = ["inf", "infinity"].contains(&text.trim_start_matches(['-', '+']));
    takes_numbers(key) && !is_constant
}

/// The value of an expression for a member.
pub(super) fn value_for(member: &Member, text: &str) -> Result<Rational, String> {
    let value_of = |name: &str| match member.value(name)? {
        Bound::Number(value) | Bound::Any(value) => Some(Rational::from_integer(*value)),
        Bound::Text(_) => None,
    };
    evaluate(text, &value_of)
}

/// A text with the values of the expressions that stand in braces; two braces stand for one.
fn filled(member: &Member, text: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (sign, behind) = rest[at..].split_at(1);
        if let Some(other) = behind.strip_prefix(sign) {
            out.push_str(sign);
            rest = other;
            continue;
        }
        let inner = if sign == "{" { behind.split_once('}') } else { None };
        let (expression, other) = inner.ok_or_else(|| {
            format!("this `{sign}` belongs to no pair; `{sign}{sign}` stands for one brace")
        })?;
        match member.value(expression.trim()) {
            Some(value) => out.push_str(&value.to_string()),
            None => out.push_str(&value_for(member, expression)?.to_string()),
        }
        rest = other;
    }
    out.push_str(rest);
    Ok(out)
}

/// The family of a document; without variables if it has no such table.
pub(super) fn read(document: &DeTable<'_>) -> Result<Family<Bound>, Vec<Problem>> {
    let mut family = Family::default();
    let Some((_, table)) = document.iter().find(|(key, _)| key.get_ref() == KEY) else { return Ok(family) };
    let Some(variables) = table.get_ref().as_table() else {
        return Err(vec![problem(table, "`family` is a table: [family]".into(), Some(EXAMPLE))]);
    };
    let mut named: Vec<_> = variables.iter().collect();
    named.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in named {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let plain = name.get_ref();
        if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !plain.chars().all(is_name) {
            let message = format!("`{plain}` is not a name for a variable: letters, digits and `_`");
            return Err(vec![problem(value, message, None)]);
        }
        let values = values(value)?;
        let is_any = values.iter().any(|value| matches!(value, Bound::Any(_)));
        if is_any && family.members().next().is_some_and(|member| any(&member).is_some()) {
            let message = format!("`{plain}` is \"{ANY}\", and so is another variable: only one may be");
            return Err(vec![problem(value, message, Some(EXAMPLE))]);
        }
        family.add(plain, values).map_err(|wrong| vec![problem(value, wrong.message, Some(EXAMPLE))])?;
    }
    if family.count() == 0 {
        return Err(vec![problem(table, "[family] has no variable".into(), Some(EXAMPLE))]);
    }
    Ok(family)
}

const EXAMPLE: &str = "n = [1, 31, \"32..=64\", \"2^k <= 4096\"], dtype = [\"f32\", \"f16\"]";

/// The values of a variable.
fn values(value: &Spanned<DeValue<'_>>) -> Result<Vec<Bound>, Vec<Problem>> {
    let wrong = |at: &Spanned<DeValue<'_>>, message: String| vec![problem(at, message, Some(EXAMPLE))];
    if let Some(least) = value.get_ref().as_str().and_then(any_from) {
        let least = least.map_err(|message| wrong(value, message))?;
        return Ok(vec![Bound::Any(least)]);
    }
    let (mut all, mut seen): (Vec<Bound>, FxHashSet<Bound>) = Default::default();
    let items: Vec<&Spanned<DeValue<'_>>> = match value.get_ref().as_array() {
        Some(items) => items.iter().collect(),
        None => vec![value],
    };
    for item in items {
        let more = match item.get_ref() {
            DeValue::Integer(_) => {
                match super::as_number(item.get_ref()).and_then(|number| number.finite()?.to_i64()) {
                    Some(number) => vec![Bound::Number(number)],
                    None => return Err(wrong(item, "a number of a family has at most 63 bits".into())),
                }
            }
            DeValue::String(text) => match series(text).map_err(|message| wrong(item, message))? {
                Some(numbers) => numbers.into_iter().map(Bound::Number).collect(),
                // It is a part of the member's name.
                None if text.is_empty()
                    || !text.chars().all(|c| c.is_alphanumeric() || "_-.+*<> ".contains(c)) =>
                {
                    return Err(wrong(item, "a text of a family has letters, digits and `_-.+*<>`".into()));
                }
                None => vec![Bound::Text(text.to_string())],
            },
            DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => {
                return Err(wrong(item, "a value of a family is a whole number or a text".into()));
            }
        };
        for value in more {
            if seen.insert(value.clone()) {
                all.push(value);
            }
        }
    }
    Ok(all)
}

/// The least number that `any` or `any >= 32` stands for; `None` for any other text.
fn any_from(text: &str) -> Option<Result<i64, String>> {
    let rest = text.trim().strip_prefix(ANY)?.trim_start();
    if rest.is_empty() {
        return Some(Ok(1));
    }
    let least = evaluate(rest.strip_prefix(">=")?, &|_| None);
    let wrong = || format!("`{text}` needs a whole number from 1 to 2^32");
    Some(
        least
            .and_then(|least| least.to_i64().filter(|least| (1..=1 << 32).contains(least)).ok_or_else(wrong)),
    )
}

/// The numbers that a text such as `1..=64` or `2^k <= 4096` stands for; `None` for any other text.
fn series(text: &str) -> Result<Option<Vec<i64>>, String> {
    let whole = |text: &str| {
        let value = evaluate(text, &|_| None)?;
        value.to_i64().ok_or_else(|| format!("{value} is not a whole number of 63 bits"))
    };
    let too_many = || format!("`{text}` are more than {MAX_MEMBERS} numbers");
    if let Some((first, last)) = text.split_once("..=") {
        let (first, last) = (whole(first)?, whole(last)?);
        if last.saturating_sub(first) >= MAX_MEMBERS as i64 {
            return Err(too_many());
        }
        return Ok(Some((first..=last).collect()));
    }
    let Some((term, most)) = text.split_once("<=") else { return Ok(None) };
    let most = Rational::from_integer(whole(most)?);
    let mut numbers: Vec<i64> = Vec::new();
    // The one name in the term counts from zero.
    for count in 0.. {
        let value = evaluate(term, &|name| {
            name.starts_with(char::is_alphabetic).then(|| Rational::from_integer(count))
        })?;
        if value > most {
            return Ok(Some(numbers));
        }
        let value = value.to_i64().ok_or_else(|| format!("{value} is not a whole number of 63 bits"))?;
        if numbers.last().is_some_and(|last| *last >= value) {
            return Err(format!("`{term}` does not grow"));
        }
        numbers.push(value);
        if numbers.len() > MAX_MEMBERS {
            break;
        }
    }
    Err(too_many())
}

/// The texts that replace those of a document for a member, by the place of the text.
pub(super) struct Replaced(BTreeMap<usize, Replacement>);

enum Replacement {
    Number(String),
    Text(String),
}

/// What a member makes of the texts of a document.
pub(super) fn replaced(document: &DeTable<'_>, member: &Member) -> Result<Replaced, Vec<Problem>> {
    let (mut all, mut problems) = (BTreeMap::new(), Vec::new());
    let mut work: Vec<(&str, &Spanned<DeValue<'_>>)> = Vec::new();
    for (key, value) in document.iter().filter(|(key, _)| key.get_ref() != KEY) {
        work.push((key.get_ref(), value));
    }
    while let Some((key, value)) = work.pop() {
        match value.get_ref() {
            DeValue::Table(table) => {
                work.extend(table.iter().map(|(key, value)| (key.get_ref().as_ref(), value)));
            }
            DeValue::Array(items) => work.extend(items.iter().map(|item| (key, item))),
            DeValue::String(text) => {
                let new = if is_expression(key, text) {
                    number(member, key, text)
                } else {
                    filled(member, text).map(Replacement::Text)
                };
                match new {
                    Ok(new) => {
                        all.insert(value.span().start, new);
                    }
                    Err(message) => problems.push(problem(value, message, None)),
                }
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
        }
    }
    if problems.is_empty() { Ok(Replaced(all)) } else { Err(problems) }
}

/// The value of an expression at a key.
fn number(member: &Member, key: &str, text: &str) -> Result<Replacement, String> {
    let value = value_for(member, text)?;
    if let Some(integer) = value.to_i128() {
        return Ok(Replacement::Number(integer.to_string()));
    }
    if ["value", "fill"].contains(&key) {
        // A quotient, as the reader of numbers takes it.
        return Ok(Replacement::Text(value.to_string()));
    }
    Err(format!("`{text}` is {value} for {member}, which is no whole number; see ceil and floor"))
}

/// Whether the texts at a key are expressions: where a case has numbers.
fn takes_numbers(key: &str) -> bool {
    let of_sections = [Launch::keys(), Target::keys(), Options::keys(), TensorMap::keys()];
    let is_number = |known: &&Key| match known.takes {
        Takes::Count | Takes::Size | Takes::Extent | Takes::Number | Takes::Counts => true,
        Takes::Flag | Takes::Text | Takes::Texts | Takes::Own => false,
    };
    ["shape", "value", "range", "fill"].contains(&key)
        || of_sections.into_iter().flatten().any(|known| known.name == key && is_number(&known))
}

impl Replaced {
    /// The document of the member.
    pub(super) fn apply<'t>(&'t self, document: &mut DeTable<'t>) {
        let mut work: Vec<&mut Spanned<DeValue<'t>>> = document.iter_mut().map(|(_, value)| value).collect();
        while let Some(value) = work.pop() {
            let place = value.span().start;
            match value.get_mut() {
                DeValue::Table(table) => work.extend(table.iter_mut().map(|(_, value)| value)),
                DeValue::Array(items) => work.extend(items.iter_mut()),
                text @ DeValue::String(_) => match self.0.get(&place) {
                    Some(Replacement::Number(number)) => {
                        if let Ok(number) = DeValue::parse(number) {
                            *text = number.into_inner();
                        }
                    }
                    Some(Replacement::Text(new)) => *text = DeValue::String(Cow::Borrowed(new)),
                    None => {}
                },
                DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
            }
        }
    }
}

fn problem(at: &Spanned<DeValue<'_>>, message: String, help: Option<&str>) -> Problem {
    Problem { span: at.span(), kind: InputProblem::WrongValue, message, help: help.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Home, document, parse};
    use super::*;
    use volta_core::case::{Element, ParamKind};

    const FAMILY: &str = r#"
description = "{{n}} is {n}"

[family]
n = [1, 97, "3..=4", "2^k <= 4"]
dtype = ["f32", "f16"]

[params]
x = { role = "in", type = "{dtype}", shape = [2, "2 * n"] }
s = { type = "f32", value = "1 / n" }
m = { role = "in", type = "f32", shape = 1, contents = { fill = "-inf" } }

[kernel]
source = "k.cu::k<{dtype},{2 * n}>"
grid = "ceil(n / 32)"
block = [32, "min(n, 4)"]
"#;

    fn names(text: &str) -> Result<Vec<String>, Vec<String>> {
        let document = document::parse(text).expect("it is TOML");
        let family = read(&document).map_err(|problems| messages(&problems))?;
        Ok(family.members().map(|member| member.to_string()).collect())
    }

    fn messages(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(|problem| problem.message.clone()).collect()
    }

    fn member(text: &str, name: &str) -> Result<Case, Vec<String>> {
        parse(&format!("a::case::{name}"), Home::default(), text).map_err(|problems| messages(&problems))
    }

    #[test]
    fn members_are_all_combinations_in_order() {
        let all = names(FAMILY).expect("the family is right");
        assert_eq!(all.len(), 10, "1, 97, 3, 4 and 2, each once, in two types");
        assert_eq!(all[..3], ["n=1,dtype=f32", "n=1,dtype=f16", "n=97,dtype=f32"]);
        assert_eq!(all[9], "n=2,dtype=f16");
    }

    #[test]
    fn a_member_is_a_case_with_its_values() {
        let case = member(FAMILY, "n=97,dtype=f16").expect("the member is right");
        assert_eq!(case.description.as_deref(), Some("{n} is 97"));
        assert_eq!(case.opt.shown(), "k.cu::k<f16,194>");
        assert_eq!(
            (case.opt.kernel(0).launch.grid, case.opt.kernel(0).launch.block),
            ([4, 1, 1], [32, 4, 1])
        );
        let [x, s, _] = &case.params[..] else { panic!("three parameters") };
        assert!(
            matches!(&x.kind, ParamKind::Tensor { opt: Element::Float(_), shape, .. } if shape == &[2, 194])
        );
        assert!(format!("{:?}", s.kind).contains("1/97"), "{:?}", s.kind);
        assert!(!case.options.run.snapshot);
    }

    #[test]
    fn a_variable_may_be_every_number() {
        let any = FAMILY.replace(r#"[1, 97, "3..=4", "2^k <= 4"]"#, "\"any >= 3\"");
        assert_eq!(names(&any).expect("the family is right"), ["n=any,dtype=f32", "n=any,dtype=f16"]);
        // The value of a scalar is a quotient by it.
        let case = member(&any, "n=any,dtype=f16").expect("the member is right");
        let every = case.every.expect("it is every number");
        assert_eq!((every.variable.as_str(), every.least), ("n", 3));
        assert!(every.periods.is_err(), "{:?}", every.periods);
        let even = any.replace("1 / n", "n + 2").replace("min(n, 4)", "4").replace(",{2 * n}", "");
        let every = member(&even, "n=any,dtype=f16").expect("the member is right").every;
        let every = every.expect("it is every number");
        assert_eq!(every.periods, Ok([1, 32]));
        assert_eq!(every.at(65).expect("there is such a case").opt.kernel(0).launch.grid, [3, 1, 1]);
        for (text, message) in [
            (any.replace("any >= 3", "any >= 0"), "`any >= 0` needs a whole number from 1 to 2^32"),
            (
                any.replace(r#"["f32", "f16"]"#, "\"any\""),
                "`dtype` is \"any\", and so is another variable: only one may be",
            ),
        ] {
            assert_eq!(names(&text).expect_err("it is wrong"), [message], "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        let with = |from: &str, to: &str| FAMILY.replace(from, to);
        let no_member = ["`n=5` is no member of this family, which has 10"];
        assert_eq!(member(FAMILY, "n=5").expect_err("no member"), no_member);
        for (text, message) in [
            (
                with("ceil(n / 32)", "n / 32"),
                "`n / 32` is 97/32 for n=97,dtype=f16, which is no whole number; see ceil and floor",
            ),
            (with("2 * n\"]", "2 * k\"]"), "`k` is not a number of this family"),
            (with("2 * n\"]", "2 * dtype\"]"), "`dtype` is not a number of this family"),
            (with("k<{dtype}", "k<{type}"), "`type` is not a number of this family"),
            (with("{{n}}", "{n}}"), "this `}` belongs to no pair; `}}` stands for one brace"),
        ] {
            assert_eq!(member(&text, "n=97,dtype=f16").expect_err("it is wrong"), [message], "{text}");
        }
        for (text, message) in [
            (with("[\"f32\", \"f16\"]", "[]"), "the variable `dtype` has no value"),
            (with("[\"f32\", \"f16\"]", "1.5"), "a value of a family is a whole number or a text"),
            (with("f16", "half,n=1"), "a text of a family has letters, digits and `_-.+*<>`"),
            (with("3..=4", "1..=5000"), "`1..=5000` are more than 4096 numbers"),
            (with("3..=4", "1..=4000"), "this family has more than 4096 members"),
            (with("2^k", "4 - k"), "`4 - k ` does not grow"),
            (with("2^k", "2^"), "a number or a name is wanted before its end in `2^ `"),
            (
                with("dtype =", "\"d-type\" ="),
                "`d-type` is not a name for a variable: letters, digits and `_`",
            ),
        ] {
            assert_eq!(names(&text).expect_err("it is wrong"), [message], "{text}");
        }
    }
}
