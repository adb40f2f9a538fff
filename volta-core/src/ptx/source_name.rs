//! Demangling: the CUDA source's names for functions and variables that PTX names by the Itanium C++ ABI, with the
//! template arguments of classes and functions, written as `cu++filt` writes them.
//!
//! Not supported: parameters of functions, and the few kinds of expressions as template arguments besides literals and
//! addresses of functions.

use std::fmt;

/// Nesting limit of types.
const MAX_DEPTH: u32 = 64;

/// The longest demangled name: a mangled name can refer to its own parts, which doubles them.
const MAX_TEXT: usize = 1 << 12;

/// A name in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName {
    /// Namespaces and classes, then the name itself.
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    name: String,
    arguments: Option<Arguments>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Arguments {
    Known(Vec<String>),
    /// Some argument is not supported.
    Unknown,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.arguments {
            None => Ok(()),
            Some(Arguments::Known(list)) => write!(f, "<{}>", list.join(", ")),
            Some(Arguments::Unknown) => f.write_str("<…>"),
        }
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.parts))
    }
}

/// The name in the source: without the namespace by which `nvcc` distinguishes declarations of several sources.
fn joined(parts: &[Part]) -> String {
    let own = parts.iter().filter(|part| !part.name.is_empty() && !part.name.starts_with("_INTERNAL_"));
    own.map(Part::to_string).collect::<Vec<_>>().join("::")
}

impl SourceName {
    /// Demangles a name; `None` when it is not mangled or not supported.
    pub fn of(mangled: &str) -> Option<SourceName> {
        let own = without_file(mangled);
        match own.strip_prefix("_Z") {
            Some(encoding) => SourceName::of_encoding(encoding),
            None if own == mangled => None,
            None => Some(SourceName { parts: vec![Part { name: own.to_owned(), arguments: None }] }),
        }
    }

    /// Demangles what follows `_Z`.
    pub fn of_encoding(encoding: &str) -> Option<SourceName> {
        let mut reader = Reader { rest: encoding, known: Vec::new(), depth: 0 };
        let parts = reader.name(true)?;
        (!joined(&parts).is_empty()).then_some(SourceName { parts })
    }

    /// Whether a name in any usual spelling denotes this one: with or without its namespaces and its last template
    /// arguments, such as `f<float, 128u, true>`, `f<float,128,true>`, `f<(int)4>`, `f<const half *>`.
    pub fn answers_to(&self, wanted: &str) -> bool {
        let wanted = canonical(wanted);
        (0..self.parts.len()).any(|first| {
            let mut parts = self.parts[first..].to_vec();
            let with = canonical(&joined(&parts)) == wanted;
            if let Some(last) = parts.last_mut() {
                last.arguments = None;
            }
            with || canonical(&joined(&parts)) == wanted
        })
    }
}

/// Names of types that have aliases.
const ALIASES: [(&str, &str); 17] = [
    ("unsigned", "unsigned int"),
    ("half", "__half"),
    ("half2", "__half2"),
    ("nv_bfloat16", "__nv_bfloat16"),
    ("nv_bfloat162", "__nv_bfloat162"),
    ("int8_t", "signed char"),
    ("uint8_t", "unsigned char"),
    ("int16_t", "short"),
    ("uint16_t", "unsigned short"),
    ("int32_t", "int"),
    ("uint32_t", "unsigned int"),
    ("int64_t", "long"),
    ("uint64_t", "unsigned long"),
    ("size_t", "unsigned long"),
    ("uint", "unsigned int"),
    ("uchar", "unsigned char"),
    ("ushort", "unsigned short"),
];

/// Words of which a type may consist of several.
const WORDS_OF_TYPES: [&str; 6] = ["unsigned", "signed", "short", "long", "int", "char"];

/// The canonical spelling of a name: blanks only between words, `const` after what it qualifies, numbers without
/// suffixes and casts, one name for each type.
fn canonical(text: &str) -> String {
    let tokens = without_casts(tokens(text));
    let mut out: Vec<String> = Vec::new();
    // Qualifiers that precede their type, and the number of brackets opened since.
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].as_str();
        if matches!(token, "const" | "volatile") && starts_type(out.last()) {
            let end = end_of_type(&tokens, at + 1);
            out.extend(types(&tokens[at + 1..end]));
            out.push(token.to_owned());
            at = end;
        } else {
            let end =
                (at..tokens.len()).find(|at| !is_word(&tokens[*at])).unwrap_or(tokens.len()).max(at + 1);
            out.extend(types(&tokens[at..end]));
            at = end;
        }
    }
    let mut text = String::new();
    for (at, token) in out.iter().enumerate() {
        if at > 0 && is_word(token) && is_word(&out[at - 1]) {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

/// Splits into words, numbers and signs. `::` is part of a word.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut goes_on = false;
    let text = text.replace("(anonymous namespace)", "(anonymous)").replace("(anonymous)::", "");
    for c in text.chars() {
        let is_part = c.is_alphanumeric() || matches!(c, '_' | ':' | '$' | '…');
        match tokens.last_mut() {
            Some(last) if goes_on && is_part => last.push(c),
            _ if c.is_whitespace() => {}
            _ => tokens.push(c.to_string()),
        }
        goes_on = is_part;
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'))
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

/// Numbers without casts and suffixes: `(int)4`, `4u`, `(bool)1`.
fn without_casts(tokens: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_negative = token == "-" && tokens.get(at + 1).is_some_and(|next| is_number(next));
        if (is_number(token) || is_negative)
            && out.last().is_some_and(|last| last == ")")
            && let Some(open) = out.iter().rposition(|token| token == "(")
            && out[open + 1..out.len() - 1].iter().all(|token| is_word(token))
        {
            let cast = out.split_off(open);
            if cast.iter().any(|word| word == "bool") {
                out.push(if token == "0" { "false" } else { "true" }.to_owned());
                continue;
            }
        }
        let number = token.trim_end_matches(['u', 'U', 'l', 'L']);
        let is_suffixed = is_number(token) && number.bytes().all(|byte| byte.is_ascii_digit());
        out.push(if is_suffixed { number.to_owned() } else { token.clone() });
    }
    out
}

/// Whether a type begins after a token.
fn starts_type(before: Option<&String>) -> bool {
    before.is_none_or(|before| matches!(before.as_str(), "<" | "," | "(" | "&"))
}

/// The end of the type that begins at `from`, without its pointer signs.
fn end_of_type(tokens: &[String], from: usize) -> usize {
    let mut at = from;
    while at < tokens.len() && is_word(&tokens[at]) {
        at += 1;
    }
    if tokens.get(at).is_some_and(|token| token == "<") {
        let mut open = 0;
        while at < tokens.len() {
            open += i32::from(tokens[at] == "<") - i32::from(tokens[at] == ">");
            at += 1;
            if open == 0 {
                break;
            }
        }
    }
    at
}

/// Replaces types by their canonical names.
fn types(tokens: &[String]) -> Vec<String> {
    let is_plural = |at: usize| {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        beside.filter_map(|at| tokens.get(at)).any(|word| WORDS_OF_TYPES.contains(&word.as_str()))
    };
    let name = |(at, token): (usize, &String)| {
        let plain = token.strip_prefix("std::").unwrap_or(token);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == plain && !is_plural(at));
        alias.map_or_else(|| token.clone(), |(_, name)| (*name).to_owned())
    };
    let named: Vec<String> = tokens.iter().enumerate().map(name).collect();
    // `long int` is `long`.
    let is_extra = |at: usize| {
        named[at] == "int" && at > 0 && (named[at - 1].ends_with("long") || named[at - 1].ends_with("short"))
    };
    (0..named.len()).filter(|at| !is_extra(*at)).map(|at| named[at].clone()).collect()
}

/// A type as a declarator: `float (*` before a name, `)(int)` after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Type {
    before: String,
    behind: String,
    /// Whether a pointer to it needs parentheses, as for an array or a function.
    encloses: bool,
}

impl Type {
    fn plain(text: impl Into<String>) -> Type {
        Type { before: text.into(), behind: String::new(), encloses: false }
    }

    /// The type with `sign` after it: `*`, `&`.
    fn pointed(self, sign: &str) -> Type {
        if self.encloses {
            Type {
                before: format!("{} ({sign}", self.before),
                behind: format!("){}", self.behind),
                encloses: false,
            }
        } else {
            Type { before: self.before + sign, ..self }
        }
    }

    fn text(&self) -> String {
        let space = if self.encloses { " " } else { "" };
        format!("{}{space}{}", self.before, self.behind)
    }
}

/// The rest of the mangled name, and the parts read so far that it can refer to.
struct Reader<'n> {
    rest: &'n str,
    known: Vec<Type>,
    depth: u32,
}

impl Reader<'_> {
    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn know(&mut self, of: Type) -> Option<Type> {
        if of.before.len() + of.behind.len() > MAX_TEXT {
            return None;
        }
        self.known.push(of.clone());
        Some(of)
    }

    /// `3foo`: a length and that many bytes.
    fn identifier(&mut self) -> Option<String> {
        let (name, rest) = identifier(self.rest)?;
        self.rest = rest;
        let is_hidden = name.starts_with("_GLOBAL__N_");
        Some(if is_hidden { "(anonymous namespace)".to_owned() } else { name.to_owned() })
    }

    /// A name. With `is_last_open`, it is that of a function or variable, which as a whole is no substitution
    /// candidate.
    fn name(&mut self, is_last_open: bool) -> Option<Vec<Part>> {
        if self.take("N") {
            return self.nested(is_last_open);
        }
        if self.take("Z") {
            return self.local();
        }
        let (mut parts, is_new) = if self.take("St") {
            (vec![std_namespace(), self.unqualified()?], true)
        } else if self.peek() == Some('S') {
            (vec![Part { name: self.substitution()?.text(), arguments: None }], false)
        } else {
            (vec![self.unqualified()?], true)
        };
        let is_template = self.peek() == Some('I');
        if is_new && (is_template || !is_last_open) {
            self.know(Type::plain(joined(&parts)))?;
        }
        if is_template {
            parts.last_mut()?.arguments = Some(self.arguments(is_last_open)?);
            if !is_last_open {
                self.know(Type::plain(joined(&parts)))?;
            }
        }
        Some(parts)
    }

    /// After `N`: namespaces and classes, all of them substitution candidates, up to `E`.
    fn nested(&mut self, is_last_open: bool) -> Option<Vec<Part>> {
        while self.take("r") || self.take("V") || self.take("K") || self.take("R") || self.take("O") {}
        let mut parts: Vec<Part> = Vec::new();
        loop {
            if self.take("E") {
                return (!parts.is_empty()).then_some(parts);
            }
            if self.peek() == Some('I') {
                let last = parts.last_mut().filter(|part| part.arguments.is_none())?;
                let name = last.name.clone();
                let arguments = self.arguments(is_last_open)?;
                let is_unknown = arguments == Arguments::Unknown;
                *parts.last_mut()? = Part { name, arguments: Some(arguments) };
                if is_unknown {
                    return Some(parts);
                }
            } else if self.take("St") {
                parts.push(std_namespace());
                continue;
            } else if self.peek() == Some('S') {
                parts.push(Part { name: self.substitution()?.text(), arguments: None });
                continue;
            } else {
                parts.push(self.unqualified()?);
            }
            if !(is_last_open && self.rest.starts_with('E')) {
                self.know(Type::plain(joined(&parts)))?;
            }
        }
    }

    /// After `Z`: a local name of a function.
    fn local(&mut self) -> Option<Vec<Part>> {
        let mut parts = self.name(true)?;
        let types = self.types()?;
        parts.last_mut()?.name += &format!("({})", types.join(", "));
        parts.extend(self.name(false)?);
        Some(parts)
    }

    fn unqualified(&mut self) -> Option<Part> {
        // `L` marks internal linkage.
        let _ = self.take("L");
        let name = if self.take("Ul") {
            let types = self.types()?;
            format!("{{lambda({})#{}}}", types.join(", "), self.ordinal()?)
        } else if self.take("Ut") {
            format!("{{unnamed type#{}}}", self.ordinal()?)
        } else {
            self.identifier()?
        };
        Some(Part { name, arguments: None })
    }

    /// `_` is the first, `0_` the second, ….
    fn ordinal(&mut self) -> Option<u64> {
        let (digits, rest) = self.rest.split_once('_')?;
        self.rest = rest;
        if digits.is_empty() { Some(1) } else { digits.parse::<u64>().ok()?.checked_add(2) }
    }

    /// Types up to `E`; a single `v` is none.
    fn types(&mut self) -> Option<Vec<String>> {
        let mut list = Vec::new();
        while !self.take("E") {
            list.push(self.ty()?.text());
        }
        if list.as_slice() == ["void"] {
            list.clear();
        }
        Some(list)
    }

    /// `I…E`. An argument that is not supported ends the reading, if `may_end`.
    fn arguments(&mut self, may_end: bool) -> Option<Arguments> {
        self.take("I");
        match self.argument_list() {
            Some(list) => Some(Arguments::Known(list)),
            None if may_end => Some(Arguments::Unknown),
            None => None,
        }
    }

    fn argument_list(&mut self) -> Option<Vec<String>> {
        let mut list = Vec::new();
        while !self.take("E") {
            if self.take("J") {
                list.extend(self.argument_list()?);
            } else {
                list.push(self.argument()?);
            }
        }
        Some(list)
    }

    fn argument(&mut self) -> Option<String> {
        if self.take("XadL_Z") {
            let name = joined(&self.name(true)?);
            let types = self.types()?;
            return self.take("E").then(|| format!("&({name}({}))", types.join(", ")));
        }
        if self.take("L") { self.literal() } else { Some(self.ty()?.text()) }
    }

    /// `j32E` is `32u`.
    fn literal(&mut self) -> Option<String> {
        let kind = self.ty()?.text();
        let negative = if self.take("n") { "-" } else { "" };
        let (digits, rest) = self.rest.split_once('E')?;
        self.rest = rest;
        if kind == "decltype(nullptr)" {
            return Some("nullptr".into());
        }
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let suffixes = [
            ("int", ""),
            ("unsigned int", "u"),
            ("long", "l"),
            ("unsigned long", "ul"),
            ("long long", "ll"),
            ("unsigned long long", "ull"),
        ];
        Some(match (kind.as_str(), digits) {
            ("bool", "0") => "false".into(),
            ("bool", "1") => "true".into(),
            (kind, digits) => match suffixes.iter().find(|(known, _)| *known == kind) {
                Some((_, suffix)) => format!("{negative}{digits}{suffix}"),
                None => format!("({kind}){negative}{digits}"),
            },
        })
    }

    /// `S_`, `S0_`, …, in base 36; or a standard abbreviation.
    fn substitution(&mut self) -> Option<Type> {
        self.take("S");
        let own = [
            ("a", "std::allocator"),
            ("b", "std::basic_string"),
            ("s", "std::string"),
            ("i", "std::istream"),
            ("o", "std::ostream"),
            ("d", "std::iostream"),
        ];
        if let Some((_, name)) = own.iter().find(|(letter, _)| self.rest.starts_with(letter)) {
            self.advance();
            return Some(Type::plain(*name));
        }
        let (digits, rest) = self.rest.split_once('_')?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        if !digits.bytes().all(is_digit) {
            return None;
        }
        self.rest = rest;
        let number =
            if digits.is_empty() { 0 } else { usize::from_str_radix(digits, 36).ok()?.checked_add(1)? };
        self.known.get(number).cloned()
    }

    fn ty(&mut self) -> Option<Type> {
        self.depth += 1;
        let found = if self.depth > MAX_DEPTH { None } else { self.ty_within() };
        self.depth -= 1;
        found
    }

    fn ty_within(&mut self) -> Option<Type> {
        if let Some(name) = builtin(self.rest) {
            for _ in 0..name.0 {
                self.advance();
            }
            return Some(Type::plain(name.1));
        }
        match self.peek()? {
            'N' | 'Z' | '0'..='9' => return Some(Type::plain(joined(&self.name(false)?))),
            'S' if self.rest.starts_with("St") => return Some(Type::plain(joined(&self.name(false)?))),
            'S' => {
                let held = self.substitution()?;
                if self.peek() != Some('I') {
                    return Some(held);
                }
                let arguments = self.arguments(false)?;
                let part = Part { name: held.text(), arguments: Some(arguments) };
                return self.know(Type::plain(part.to_string()));
            }
            _ => {}
        }
        let made = match self.advance()? {
            'P' => self.ty()?.pointed("*"),
            'R' => self.ty()?.pointed("&"),
            'O' => self.ty()?.pointed("&&"),
            letter @ ('K' | 'V' | 'r') => {
                let mut words = vec![letter];
                while let Some(next @ ('K' | 'V')) = self.peek() {
                    self.advance();
                    words.push(next);
                }
                let of = self.ty()?;
                let word = |letter: &char| match letter {
                    'K' => " const",
                    'V' => " volatile",
                    _ => " __restrict",
                };
                // The innermost comes first.
                let words: String = words.iter().rev().map(word).collect();
                Type { before: of.before + &words, ..of }
            }
            'A' => {
                let (count, rest) = self.rest.split_once('_')?;
                self.rest = rest;
                let of = self.ty()?;
                Type { before: of.before, behind: format!("[{count}]{}", of.behind), encloses: true }
            }
            'F' => {
                let _ = self.take("Y");
                let returned = self.ty()?;
                let types = self.types()?;
                let behind = format!("({}){}", types.join(", "), returned.behind);
                Type { before: returned.before, behind, encloses: true }
            }
            'M' => {
                let (class, member) = (self.ty()?.text(), self.ty()?);
                if member.encloses {
                    member.pointed(&format!("{class}::*"))
                } else {
                    Type { before: format!("{} {class}::*", member.before), ..member }
                }
            }
            _ => return None,
        };
        self.know(made)
    }
}

fn std_namespace() -> Part {
    Part { name: "std".into(), arguments: None }
}

/// `C` of `__nv_static_19__3527c692_4_a_cu_CI_C`: a name with internal linkage in a program of several files.
pub(crate) fn without_file(name: &str) -> &str {
    let own = || {
        let rest = name.strip_prefix("__nv_static_")?;
        let (digits, rest) = rest.split_once('_')?;
        let (_, rest) = rest.split_at_checked(digits.parse().ok()?)?;
        rest.strip_prefix('_')
    };
    own().unwrap_or(name)
}

/// A length and that many bytes, and the rest.
pub(crate) fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = text.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

/// A builtin type, and the number of its letters.
fn builtin(text: &str) -> Option<(usize, &'static str)> {
    const TWO: [(&str, &str); 6] = [
        ("Dn", "decltype(nullptr)"),
        ("Ds", "char16_t"),
        ("Di", "char32_t"),
        ("Du", "char8_t"),
        ("Da", "auto"),
        ("Dh", "_Float16"),
    ];
    if let Some((_, name)) = TWO.iter().find(|(letters, _)| text.starts_with(letters)) {
        return Some((2, name));
    }
    let name = match text.chars().next()? {
        'v' => "void",
        'w' => "wchar_t",
        'b' => "bool",
        'c' => "char",
        'a' => "signed char",
        'h' => "unsigned char",
        's' => "short",
        't' => "unsigned short",
        'i' => "int",
        'j' => "unsigned int",
        'l' => "long",
        'm' => "unsigned long",
        'x' => "long long",
        'y' => "unsigned long long",
        'n' => "__int128",
        'o' => "unsigned __int128",
        'f' => "float",
        'd' => "double",
        'e' => "long double",
        'g' => "__float128",
        'z' => "...",
        _ => return None,
    };
    Some((1, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Mangled names, with the source names.
    fn samples() -> Vec<(&'static str, &'static str)> {
        let lines = include_str!("source_names.tsv").lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split_once('\t').expect("two columns")).collect()
    }

    fn name(mangled: &str) -> SourceName {
        SourceName::of(mangled).unwrap_or_else(|| panic!("{mangled} is a name"))
    }

    fn without_blanks(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn names_are_those_that_other_tools_tell() {
        for (mangled, expected) in samples() {
            let own = name(mangled).to_string();
            assert_eq!(without_blanks(&own), without_blanks(expected), "{mangled}");
            assert!(name(mangled).answers_to(expected), "{mangled}");
        }
    }

    #[test]
    fn people_and_tools_spell_names_in_many_ways() {
        for (mangled, spellings) in [
            (
                "_Z1gIfLj128ELb1EEvPT_",
                &["g", "g<float,128,true>", "g<float, 128u, true>", "g<float, (unsigned int)128, (bool)1>"][..],
            ),
            ("_Z1gI6__halfLj1ELb0EEvPT_", &["g<half, 1, false>", "g< __half , 1U , false >"]),
            ("_Z1hIPKfEvT_Pf", &["h<const float*>", "h<float const *>"]),
            (
                "_Z1hI4PairIKiPVcEEvT_Pf",
                &["h<Pair<const int, volatile char*>>", "h<Pair<int const,char volatile*> >"],
            ),
            (
                "_Z1hI4PairIjS0_IlmEEEvT_Pf",
                &["h<Pair<unsigned, Pair<long int, size_t>>>", "h<Pair<uint32_t,Pair<int64_t,uint64_t>>>"],
            ),
            (
                "_ZN1a1b4deepINS0_1CENS0_1VIS2_Li2EEEEEvT_T0_Pf",
                &["deep", "b::deep", "a::b::deep<a::b::C, a::b::V<a::b::C, 2>>"],
            ),
            (
                "_ZN34_GLOBAL__N__9c808fd1_4_s_cu__Z2sqf6hiddenIfEEvPT_",
                &["hidden<float>", "(anonymous namespace)::hidden<float>"],
            ),
            (
                "__nv_static_23__9c808fd1_4_s_cu__Z2sqf__ZN34_GLOBAL__N__9c808fd1_4_s_cu__Z2sqf6hiddenIfEEvPT_",
                &["hidden<float>"],
            ),
            ("__nv_static_19__3527c692_4_a_cu_CI_stat", &["stat"]),
            (
                "_Z15unary_op_kernelIXadL_ZN44_INTERNAL_666bdae6_8_unary_cu_849aa9b1_228046op_absEfEEfEvPKT0_PS2_i",
                &["unary_op_kernel<&(op_abs(float)), float>", "unary_op_kernel"],
            ),
            ("_Z4litsILln1ELm2ELxn3ELy4ELsn5ELt6ELc97ELan7ELh8EEvPf", &["lits<-1,2,-3,4,-5,6,97,-7,8>"]),
        ] {
            for spelling in spellings {
                assert!(name(mangled).answers_to(spelling), "{mangled}: {spelling}");
            }
        }
        for (mangled, other) in [
            ("_Z1gIfLj128ELb1EEvPT_", "g<float, 12, true>"),
            ("_Z1gIfLj128ELb1EEvPT_", "g<float, 128, false>"),
            ("_Z1gIfLj128ELb1EEvPT_", "g<float, 128>"),
            ("_Z1hIPKfEvT_Pf", "h<float*>"),
            ("_ZN1a1b4deepINS0_1CENS0_1VIS2_Li2EEEEEvT_T0_Pf", "a::deep"),
            ("_Z4litsILln1ELm2ELxn3ELy4ELsn5ELt6ELc97ELan7ELh8EEvPf", "lits<1,2,-3,4,-5,6,97,-7,8>"),
        ] {
            assert!(!name(mangled).answers_to(other), "{mangled}: {other}");
        }
    }

    #[test]
    fn what_is_no_name_is_none() {
        for text in ["plain", "_Zgarbage", "_Z99short", "_ZN", "_ZNE", "_Z", "_Z1hIT_EvT_", "_Z1hIS9_EvT_"] {
            let source = SourceName::of(text).map(|name| name.to_string());
            assert!(source.as_deref().is_none_or(|name| name == "h<…>"), "{text}: {source:?}");
        }
        // Each argument is twice the size of the one before.
        let doubling: String = (0..40).map(|at| format!("S{at}_S{at}_E1aI")).collect();
        assert_ne!(
            SourceName::of(&format!("_Z1kI1aI1bE{doubling}")).map(|name| name.to_string().len() > 1 << 20),
            Some(true)
        );
    }

    proptest! {
        #[test]
        fn blanks_do_not_matter(which in 0..46usize, at in proptest::collection::vec(0..80usize, 0..6)) {
            let (mangled, expected) = samples()[which];
            let mut spelled = expected.replace(", ", ",").replace("> >", ">>");
            for at in at {
                let signs: Vec<usize> = spelled.match_indices(['<', ',', '>', '*']).map(|(at, _)| at).collect();
                if !signs.is_empty() {
                    spelled.insert(signs[at % signs.len()] + 1, ' ');
                }
            }
            prop_assert!(name(mangled).answers_to(&spelled), "{}: {}", mangled, spelled);
        }

        #[test]
        fn no_kernel_answers_to_the_whole_name_of_another(one in 0..46usize, other in 0..46usize) {
            let ((mangled, own), (_, expected)) = (samples()[one], samples()[other]);
            prop_assert_eq!(name(mangled).answers_to(expected), own == expected);
        }

        #[test]
        fn any_text_is_read_or_refused(which in 0..46usize, cut in 0..80usize, put in "[A-Z0-9_a-z]{0,3}") {
            let (mangled, _) = samples()[which];
            let at = cut.min(mangled.len());
            let text = format!("{}{put}{}", &mangled[..at], &mangled[at..]);
            let _ = SourceName::of(&text).map(|name| (name.to_string(), name.answers_to("f<1>")));
            let _ = SourceName::of(&text[..at]);
        }
    }
}
