//! Names and types of a kernel's parameters, which PTX does not keep, from the text of its source. Macros and templates
//! are not expanded: the result is shown to people, and no verdict depends on it.

/// A parameter as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name; empty where it has none.
    pub name: String,
    /// The rest of its declaration: `const float *`.
    pub ty: String,
}

/// The parameters of a kernel, given its name in the source; `None` if no `__global__` function of that name is found.
pub fn declared(source: &str, kernel: &str) -> Option<Vec<Declared>> {
    let text = without_comments(source);
    let plain = kernel.split('<').next().unwrap_or(kernel);
    let name = plain.rsplit("::").next().unwrap_or(plain);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let starts = text.match_indices(name).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].trim_start();
        // Between `__global__` and the name stand types and attributes.
        let head = text[..*at].rfind("__global__").map(|global| &text[global..*at]);
        before.is_none_or(|c| !is_part(c))
            && after.starts_with('(')
            && head.is_some_and(|head| !head.contains([';', '{', '}']))
    });
    let mut found = starts.filter_map(|(at, _)| {
        let open = at + name.len() + text[at + name.len()..].find('(')?;
        list(&text[open..])
    });
    found.next()
}

/// The parenthesised list of declarations at the beginning of a text.
fn list(text: &str) -> Option<Vec<Declared>> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in text.chars() {
        depth += i32::from("([{<".contains(c)) - i32::from(")]}>".contains(c));
        if depth == 0 {
            let parts =
                parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty() && *part != "void");
            return Some(parts.map(declaration).collect());
        }
        match (c, depth) {
            ('(', 1) if parts.len() == 1 && parts[0].is_empty() => {}
            (',', 1) => parts.push(String::new()),
            _ => parts.last_mut()?.push(c),
        }
    }
    None
}

fn declaration(text: &str) -> Declared {
    let text = text.split('=').next().unwrap_or(text).trim();
    let inner = text.split('[').next().unwrap_or(text).trim_end();
    let start = inner.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    let (ty, name) = inner.split_at(start);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ty = words(ty);
    match ty.is_empty() {
        true => Declared { name: String::new(), ty: words(text) },
        false => Declared { name: name.to_owned(), ty },
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        rest = rest[at + 2..].find(end).map_or("", |length| &rest[at + 2 + length + end.len()..]);
        out.push(' ');
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_the_name_of_the_kernel() {
        let source = "__device__ float sum(float a);\n\
                      template <int N> __global__ void __launch_bounds__(128)\n\
                      scale(const float *__restrict__ x, /* of (all) */ float (&y)[N], int n = 3, // last\n  Pair<int, float> p)\n\
                      { sum(1); }\n\
                      namespace a { __global__ void none() {} __global__ void scaled(float*) {} }";
        let names = |kernel: &str| {
            let list = declared(source, kernel)?;
            Some(list.into_iter().map(|one| (one.name, one.ty)).collect::<Vec<_>>())
        };
        let pair = |name: &str, ty: &str| (name.to_owned(), ty.to_owned());
        let scale = names("scale<4>").expect("it is declared");
        assert_eq!(scale[0], pair("x", "const float *__restrict__"));
        assert_eq!(scale[2..], [pair("n", "int"), pair("p", "Pair<int, float>")]);
        assert_eq!(names("a::none"), Some(Vec::new()));
        assert_eq!(names("scaled"), Some(vec![pair("", "float*")]));
        assert_eq!(names("sum"), None);
    }
}
