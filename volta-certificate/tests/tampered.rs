//! Certificates that hold, and what becomes of them when somebody changes them.

use volta_certificate::{ALL, Certificate, STANDARD, Table, check};

const STEPS: u64 = 1 << 20;

/// Whether all proofs of a certificate hold, by a table; the reason if not.
fn replayed(text: &str, table: &Table) -> Result<(), String> {
    let certificate: Certificate = text.parse()?;
    match check(&certificate, table, STEPS).refused.into_iter().next() {
        None => Ok(()),
        Some((_, why)) => Err(why),
    }
}

#[track_caller]
fn holds(text: &str) {
    assert_eq!(replayed(text, Table::standard()), Ok(()));
}

/// Refused, with a reason that has some words.
#[track_caller]
fn is_refused(text: &str, words: &str) {
    let why = replayed(text, Table::standard()).expect_err("it is accepted");
    assert!(why.contains(words), "{why}");
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}` is there once");
    text.replace(from, to)
}

/// `2·2^x·2^y` and `2·2^(x + y)`
const POWERS: &str = "\
volta certificate 2
case powers
input <=> x
input <=> y
element 0 0
element 1 0
number 2
exp2 0
exp2 1
mul 2 3
mul 5 4
add 0 1
exp2 7
mul 8 2
class 4 6 9 z[0]
laws product_of_powers
equal
end
";

/// `(x·z)/(y·z)` and `x/y`
const FRACTIONS: &str = "\
volta certificate 2
case fractions
input <=> x
element 0 0
element 0 1
element 0 2
mul 0 2
mul 1 2
div 3 4
div 0 1
class 1 5 6 z
equal
end
";

/// `max(x, y)·min(x, y)` and `x·y`
const ORDERS: &str = "\
volta certificate 2
case orders
input <=> x
element 0 0
element 0 1
max 0 1
min 0 1
mul 2 3
mul 0 1
class 1 4 5 z
laws maximum_is_a_set maximum_of_shifted maximum_of_scaled maximum_by_sign minimum_by_maximum orders_of_maxima orders_of_choices
split @0 @1
equal
equal
end
";

/// `log₂(2^x·y)` and `x + log₂ y`, of positive numbers
const LOGARITHMS: &str = "\
volta certificate 2
case logarithms
input > x
element 0 0
element 0 1
exp2 0
mul 2 1
log2 3
log2 1
add 0 5
class 1 4 6 z
laws logarithm_of_power
equal
end
";

#[test]
fn certificates_hold() {
    for text in [POWERS, FRACTIONS, ORDERS, LOGARITHMS] {
        holds(text);
    }
}

#[test]
fn changed_terms_are_refused() {
    is_refused(&changed(POWERS, "mul 8 2\n", "mul 8 8\n"), "differ");
    is_refused(&changed(POWERS, "add 0 1\n", "add 0 0\n"), "differ");
    is_refused(
        &changed(&changed(POWERS, "number 2\n", "number 2\nnumber 3\n"), "mul 8 2\n", "mul 8 3\n"),
        "",
    );
    is_refused(&changed(ORDERS, "min 0 1\n", "max 0 1\n"), "differ");
    is_refused(&changed(POWERS, "exp2 7\n", "exp2 8\n"), "does not come before it");
    is_refused(&changed(POWERS, "exp2 7\n", "exp2 70\n"), "does not come before it");
}

#[test]
fn changed_roots_are_refused() {
    is_refused(&changed(POWERS, "class 4 6 9", "class 4 6 8"), "differ");
    is_refused(&changed(POWERS, "class 4 6 9", "class 4 6 90"), "there is no term 90");
    is_refused(&changed(POWERS, "class 4 6 9", "class 4 90 90"), "no term");
    // The other way round, the second term demands z ≠ 0.
    is_refused(&changed(FRACTIONS, "class 1 5 6", "class 1 6 5"), "demands");
}

#[test]
fn laws_must_be_named() {
    is_refused(&changed(POWERS, "laws product_of_powers\n", ""), "differ");
    is_refused(&changed(POWERS, "product_of_powers", "power_of_power"), "differ");
    is_refused(&changed(POWERS, "product_of_powers", "product_of_power"), "there is no law");
    is_refused(&changed(ORDERS, " orders_of_choices", ""), "cases need the law");
}

#[test]
fn side_conditions_are_checked() {
    is_refused(&changed(LOGARITHMS, "input > x", "input <=> x"), "demands");
    // Where 2^x·y > 0 and y is not negative, it is positive.
    holds(&changed(LOGARITHMS, "input > x", "input => x"));
    // √x·√x is x where √x is defined, but x is not √x·√x everywhere.
    let roots = "\
volta certificate 2
case roots
input <=> x
element 0 0
sqrt 0
mul 1 1
class 1 2 0 z
laws square_of_root
equal
end
";
    holds(roots);
    is_refused(&changed(roots, "class 1 2 0", "class 1 0 2"), "demands");
    // A demand in an arm that may not be taken is no assumption: x/x is not 1 there.
    let guarded = "\
volta certificate 2
case guarded
input <=> x
element 0 0
number 0
number 1
less 1 0
div 0 0
select 3 4 2
class 1 5 2 z
laws orders_of_maxima orders_of_choices condition_by_sign scaled_comparison
split 0 @0
equal
equal
end
";
    holds(guarded);
    is_refused(&changed(guarded, "split 0 @0\nequal\nequal\n", "equal\n"), "differ");
}

#[test]
fn cases_must_be_complete() {
    is_refused(&changed(ORDERS, "equal\nequal\n", "equal\n"), "not a step");
    is_refused(&changed(ORDERS, "split @0 @1\nequal\nequal\n", "equal\n"), "differ");
    is_refused(&changed(ORDERS, "split @0 @1\nequal\nequal\n", "split @0 @0\nequal\nequal\n"), "differ");
    // x < y and y < x: in the first case nothing is to be proved, and nowhere else.
    let twice = "split @0 @1\nsplit @1 @0\nequal\nequal\nequal\n";
    holds(&changed(ORDERS, "split @0 @1\nequal\nequal\n", twice));
    let thrice = changed(ORDERS, "split @0 @1\nequal\nequal\n", twice);
    is_refused(&changed(&thrice, "mul 2 3", "mul 2 2"), "differ");
}

/// `1/x` and `x/(x·x)`, cut at in `z + 1/x` and `x/(x·x) + z`
const CUTS: &str = "\
volta certificate 2
case cuts
input <=> x
element 0 0
element 0 1
number 1
div 2 0
mul 0 0
div 0 4
add 1 3
add 5 1
sub 3 3
add 1 8
sub 5 5
add 1 10
less 2 1
select 12 3 1
select 12 5 1
class 0 3 5 lemma
equal
class 1 6 7 z
cut 3 5
equal
end
";

#[test]
fn cuts_are_at_what_was_proved() {
    holds(CUTS);
    is_refused(&changed(CUTS, "cut 3 5", "cut 3 4"), "3 and 4 were not proved");
    is_refused(&changed(CUTS, "cut 3 5", "cut 5 3"), "were not proved");
    is_refused(&changed(CUTS, "class 0 3 5 lemma\nequal\n", ""), "were not proved");
    // What is wrong with a lemma is wrong with what rests on it.
    let wrong = changed(CUTS, "div 0 4", "div 2 4");
    let checked = check(&wrong.parse().expect("it is a certificate"), Table::standard(), STEPS);
    assert_eq!(checked.refused.len(), 2, "{checked:?}");
    assert_eq!(checked.certified, 0);
    // A lemma cannot rest on itself, nor on a later one.
    is_refused(&changed(CUTS, "lemma\nequal\n", "lemma\ncut 3 5\nequal\n"), "were not proved");
    // Nor is one proved under other readings, or by laws that are not there.
    is_refused(&changed(CUTS, "cut 3 5", "reads\ncut 3 5"), "were not proved");
    is_refused(&changed(CUTS, "lemma\nequal\n", "lemma\nlaws nothing\nequal\n"), "there is no law");
}

#[test]
fn cuts_hide_no_demand() {
    // The second term needs x ≠ 0, the first one does not.
    is_refused(&changed(CUTS, "class 1 6 7", "class 1 1 11"), "demands");
    holds(&changed(CUTS, "class 1 6 7", "class 1 9 11"));
    // In an arm, the first one need not have been computed.
    let arms = changed(
        &changed(CUTS, "class 1 6 7 z\n", "class 1 13 14 z\nlaws choice_as_sum\n"),
        "cut 3 5",
        "cut 3 5",
    );
    is_refused(&arms, "demands");
}

/// `log₂ 2^(x·L)·N` and `x`, where L is read as log₂ e and N as ln 2
const READINGS: &str = "\
volta certificate 2
case readings
input <=> x
element 0 0
literal 24 12102203/8388608
mul 0 1
exp2 2
log2 3
literal 24 1453635/2097152
mul 4 5
class 1 6 0 z
laws logarithm_of_power
reads
equal
end
";

#[test]
fn readings_are_those_of_the_table_and_in_place() {
    const ELSEWHERE: &str = "where that rule does not read it";
    holds(READINGS);
    is_refused(&changed(READINGS, "reads\n", ""), "differ");
    // Powers of two of a literal are read, and within a range.
    holds(&changed(
        &changed(READINGS, "12102203/8388608", "12102203/4194304"),
        "1453635/2097152",
        "1453635/4194304",
    ));
    is_refused(&changed(READINGS, "12102203/8388608", "12102203/4194304"), "differ");
    is_refused(&changed(READINGS, "12102203/8388608", "12102203/262144"), "differ");
    // The next float, another format, the same number as a term that is no literal.
    is_refused(&changed(READINGS, "12102203/8388608", "12102205/8388608"), "differ");
    is_refused(&changed(READINGS, "24 12102203", "53 12102203"), "differ");
    is_refused(&changed(READINGS, "literal 24 12102203/8388608", "number 12102203/8388608"), ELSEWHERE);
    // Other forms of rule V9 are read in the verdict, and not here.
    is_refused(&changed(READINGS, "12102203/8388608", "3025551/2097152"), ELSEWHERE);
    is_refused(&changed(READINGS, "24 12102203/8388608", "11 1477/1024"), ELSEWHERE);
    // Outside of exponents, and beside no logarithm.
    is_refused(&changed(READINGS, "class 1 6 0", "class 1 2 0"), ELSEWHERE);
    is_refused(&changed(READINGS, "mul 4 5", "mul 0 5"), ELSEWHERE);
    is_refused(&changed(READINGS, "mul 4 5", "mul 2 5"), ELSEWHERE);
    is_refused(&changed(READINGS, "mul 4 5", "sqrt 5"), ELSEWHERE);
    // With two logarithms, or itself, as a factor.
    is_refused(
        &changed(READINGS, "mul 4 5", "mul 4 5\nmul 6 4\nmul 6 5").replace("1 6 0", "1 8 0"),
        ELSEWHERE,
    );
    is_refused(&changed(READINGS, "mul 0 1\n", "mul 1 1\n"), ELSEWHERE);
    // In a comparison, and in a maximum with what has no such factor.
    is_refused(&changed(READINGS, "mul 0 1\n", "max 0 1\n"), ELSEWHERE);
    is_refused(&changed(READINGS, "exp2 2\n", "floor 2\n"), ELSEWHERE);
    // A proof that was refused for its readings does not let another one through.
    let twice = changed(READINGS, "end\n", "class 1 2 6 again\nreads\nequal\nend\n");
    let checked = check(&twice.parse().expect("it is a certificate"), Table::standard(), STEPS);
    assert_eq!(checked.refused.len(), 1, "{checked:?}");
}

/// `2^(x·L + x·R)` and `2^(x·L)`, where R is what log₂ e has more than L
const RESIDUAL: &str = "\
volta certificate 2
case residual
input <=> x
element 0 0
literal 24 12102203/8388608
literal 24 338819/17592186044416
mul 0 1
fma 0 2 3
exp2 4
exp2 3
mul 0 2
exp2 7
mul 6 8
class 1 5 6 z
reads
equal
end
";

#[test]
fn residuals_count_beside_what_they_are_of() {
    const ELSEWHERE: &str = "where that rule does not read it";
    holds(RESIDUAL);
    is_refused(&changed(RESIDUAL, "reads\n", ""), "differ");
    // Alone, with another factor, of another multiple, or of the other sign, it is a number.
    is_refused(&changed(RESIDUAL, "class 1 5 6", "class 1 6 9"), ELSEWHERE);
    is_refused(&changed(RESIDUAL, "fma 0 2 3", "fma 1 2 3"), ELSEWHERE);
    is_refused(&changed(RESIDUAL, "338819/17592186044416", "338819/8796093022208"), ELSEWHERE);
    is_refused(&changed(RESIDUAL, "338819/17592186044416", "-338819/17592186044416"), ELSEWHERE);
    is_refused(&changed(RESIDUAL, "338819/17592186044416", "338829/17592186044416"), "differ");
    // A kernel has one reading: where the rest is added somewhere, the literal is not read alone.
    is_refused(
        &changed(RESIDUAL, "class 1 5 6 z", "class 0 6 5 lemma\nreads\nequal\nclass 1 5 6 z"),
        "alone",
    );
}

#[test]
fn choices_are_made_once() {
    // Where x < y or y < x, as sums of both choices: where x = y, neither.
    let text = "\
volta certificate 2
case choices
input <=> x
element 0 0
element 0 1
number 0
number 1
less 0 1
less 1 0
select 4 3 2
select 5 3 2
mul 6 7
add 6 7
mul 9 9
equal 0 1
select 11 2 3
class 1 8 2 z
laws orders_of_choices choice_as_sum product_of_choices orders_of_maxima condition_by_sign scaled_comparison
split @0 @1
equal
equal
class 1 10 9 z
laws orders_of_choices choice_as_sum product_of_choices orders_of_maxima condition_by_sign scaled_comparison
split @0 @1
equal
equal
class 1 9 12 z
laws orders_of_choices choice_as_sum
equal
end
";
    holds(text);
    is_refused(&changed(text, "class 1 8 2 z", "class 1 6 2 z"), "differ");
    is_refused(&changed(text, "class 1 9 12 z", "class 1 9 3 z"), "differ");
    is_refused(&changed(text, "class 1 10 9 z", "class 1 7 6 z"), "differ");
    is_refused(&text.replace(" choice_as_sum", ""), "differ");
}

#[test]
fn a_wrong_law_in_the_table_breaks_certificates() {
    let one = |law: &str, from: &str, to: &str| {
        let (before, rest) = STANDARD.split_once(&format!("law {law}\n")).expect("the law is there");
        let (own, after) = rest.split_once("law ").expect("another one follows");
        assert!(own.contains(from), "{own}");
        Table::new(&format!("{before}law {law}\n{}law {after}", own.replacen(from, to, 1)))
    };
    let wrong = [
        // 2^a·2^b is not 2^(a·b).
        (POWERS, one("product_of_powers", "\nadd 0 1\n", "\nmul 0 1\n")),
        // Maxima keep their order by positive factors alone.
        (ORDERS, one("maximum_of_scaled", "input > k\n", "input <=> k\n")),
        // min(a, b) + max(a, b) is not a − b.
        (ORDERS, one("minimum_by_maximum", "\nadd 0 1\n", "\nsub 0 1\n")),
        // A near miss that is a law says that the table means something else.
        (
            POWERS,
            one(
                "product_of_powers",
                "not exp2(a)*exp2(b) != exp2(a*b)",
                "not exp2(a)*exp2(b) != exp2(a + b)\nTHIS",
            ),
        ),
    ];
    for (text, table) in wrong {
        let why = replayed(text, &table).expect_err("it is accepted");
        assert!(why.contains("of the table is not one"), "{why}");
    }
}

/// For each law that certificates may name: each of its near misses in place of its statements, and each of its statements
/// among its near misses, is refused, and no other law with it.
#[test]
fn no_law_is_its_near_miss() {
    let mut near_misses = 0;
    for law in ALL {
        let (before, rest) = STANDARD.split_once(&format!("law {law}\n")).expect("the law is there");
        let end = rest.find("\nlaw ").map_or(rest.len(), |at| at + 1);
        let (own, after) = rest.split_at(end);
        // A line that states something, and the certificate below it.
        let starts = own
            .match_indices('\n')
            .map(|(at, _)| at + 1)
            .filter(|at| own[*at..].starts_with("is ") || own[*at..].starts_with("not "));
        let mut starts: Vec<usize> = [0].into_iter().chain(starts).collect();
        starts.push(own.len());
        let parts: Vec<&str> = starts.windows(2).map(|at| &own[at[0]..at[1]]).collect();
        let near: Vec<&&str> = parts
            .iter()
            .filter(|part| {
                part.lines().next().is_some_and(|line| line.starts_with("not ") && line.contains("!="))
            })
            .collect();
        near_misses += near.len();
        let is_refused = |own: &str| {
            let table = Table::new(&format!("{before}law {law}\n{own}{after}"));
            let refused: Vec<_> = table.refused.keys().collect();
            assert_eq!(refused, [&law], "{own}");
            assert!(table.named(&[law.to_string()]).is_err());
        };
        for part in near {
            is_refused(&part.replacen("not ", "is ", 1));
            is_refused(&(own.to_string() + &part.replacen("not ", "is ", 1)));
        }
        for part in parts.iter().filter(|part| part.starts_with("is ")) {
            is_refused(&(own.to_string() + &part.replacen("is ", "not ", 1).replacen("==", "!=", 1)));
        }
    }
    // Some laws have only such as hold under another condition.
    assert!(near_misses >= ALL.len(), "{near_misses} near misses");
}

#[test]
fn anything_else_is_no_certificate() {
    let no = |text: &str| assert!(text.parse::<Certificate>().is_err(), "{text}");
    no("");
    no("volta certificate 1\nend\n");
    no(&changed(POWERS, "end\n", ""));
    no(&changed(POWERS, "end\n", "end\nend\n"));
    no(&changed(POWERS, "number 2", "number two"));
    no(&changed(POWERS, "number 2", "number 2/0"));
    no(&changed(POWERS, "add 0 1", "plus 0 1"));
    no(&changed(POWERS, "add 0 1", "add 0"));
    let deep = "split @0 @1\n".repeat(5000) + "equal\n";
    no(&changed(ORDERS, "split @0 @1\nequal\nequal\n", &deep));
}

#[test]
fn numbers_that_grow_with_each_term_are_refused() {
    let squares: String = (1..45).map(|at| format!("mul {at} {at}\n")).collect();
    let text = format!(
        "volta certificate 2\ncase long\ninput <=> x\nelement 0 0\nnumber 3\n{squares}mul 0 45\nmul 45 0\nclass 1 46 47 \
         z\nequal\nend\n"
    );
    is_refused(&text, "too long");
}

#[test]
fn more_elements_than_can_be_counted_are_no_panic() {
    let class = format!("class {} 0 2 z\nequal\n", u64::MAX);
    let open = format!("class {} 0 0 z\nopen why\n", u64::MAX);
    let text = format!(
        "volta certificate 2\ncase many\ninput <=> x\nelement 0 0\nneg 0\nneg 1\n{class}{class}{open}end\n"
    );
    holds(&text);
}

#[test]
fn powers_beyond_the_limit_are_no_powers() {
    let squares: String = (0..14).map(|at| format!("mul {at} {at}\n")).collect();
    let text = format!(
        "volta certificate 2\ncase powers\ninput <=> x\nelement 0 0\n{squares}class 1 14 13 z\nequal\nend\n"
    );
    is_refused(&text, "too large");
}

#[test]
fn an_input_has_some_value() {
    // Of no number, everything is true.
    let text = "volta certificate 2\ncase none\ninput <=> x\nelement 0 0\nneg 0\nclass 1 0 1 z\nequal\nend\n";
    is_refused(text, "differ");
    for signs in ["", "?", "<<", "=<"] {
        let text = changed(text, "input <=> x", &format!("input {signs} x"));
        assert!(text.parse::<Certificate>().is_err(), "{text}");
    }
}

/// Roots of roots, of which the last one divides.
#[test]
fn terms_may_be_nested_deeply() {
    let roots: String = (0..20_000).map(|at| format!("sqrt {at}\n")).collect();
    let text = |tail: &str| {
        format!("volta certificate 2\ncase deep\ninput => x\nelement 0 0\n{roots}{tail}\nequal\nend\n")
    };
    let laws = "laws square_of_root reciprocal_root";
    let parsed: Certificate =
        text(&format!("div 0 20000\nrsqrt 20000\nclass 1 20001 20002 z\n{laws}")).parse().expect("it is one");
    assert_eq!(check(&parsed, Table::standard(), STEPS * 16).refused.len(), 1);
}

/// What is computed in one case is nothing in the other one.
#[test]
fn cases_forget_one_another() {
    // √x·√x is x in the first case. In the second one, x ≤ 0, it is no number that is known.
    let text = "\
volta certificate 2
case cases
input <=> x
element 0 0
number 0
sqrt 0
mul 2 2
less 1 0
select 4 3 1
select 4 0 1
mul 0 0
select 4 3 7
class 1 5 6 z
laws square_of_root orders_of_maxima orders_of_choices condition_by_sign scaled_comparison
split 0 @0
equal
equal
class 1 8 5 z
laws square_of_root orders_of_maxima orders_of_choices condition_by_sign scaled_comparison
split 0 @0
split 0 @3
equal
equal
split 0 @3
equal
equal
end
";
    let checked = check(&text.parse().expect("it is one"), Table::standard(), STEPS);
    assert_eq!(checked.refused.len(), 1, "{checked:?}");
}
