//! Certificates that hold, and what becomes of them when somebody changes them.

use volta_certificate::{Certificate, Table, check};

const STEPS: u64 = 1 << 20;

/// Whether all proofs of a certificate hold, by a table; the reason if not.
fn replayed(text: &str, table: &Table) -> Result<(), String> {
    let certificate: Certificate = text.parse()?;
    assert_eq!(certificate.to_string(), text, "a certificate is printed as it was read");
    match check(&certificate, table, STEPS).classes.into_iter().find_map(|class| class.refused) {
        None => Ok(()),
        Some(why) => Err(why),
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
volta certificate 1
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
volta certificate 1
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
volta certificate 1
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

/// `log₂(x·y)` and `log₂ x + log₂ y`, of positive numbers
const LOGARITHMS: &str = "\
volta certificate 1
case logarithms
input > x
element 0 0
element 0 1
mul 0 1
log2 2
log2 0
log2 1
add 4 5
class 1 3 6 z
laws logarithm_of_quotient
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
    is_refused(&changed(LOGARITHMS, "input > x", "input < x"), "demands");
    // Where x·y > 0 and neither is negative, both are positive.
    holds(&changed(LOGARITHMS, "input > x", "input => x"));
    // √x·√x is x where √x is defined, but x is not √x·√x everywhere.
    let roots = "\
volta certificate 1
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
volta certificate 1
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
    is_refused(&changed(ORDERS, "equal\nequal\n", "equal\nvacuous 0 1\n"), "do not contradict");
    is_refused(&changed(ORDERS, "equal\nequal\n", "vacuous 0 -1\nequal\n"), "do not contradict");
    is_refused(&changed(ORDERS, "equal\nequal\n", "vacuous 7 1\nequal\n"), "do not contradict");
    // x < y and y < x, by their sum.
    let twice = "split @0 @1\nsplit @1 @0\nvacuous 0 1 1 1\nequal\nequal\n";
    holds(&changed(ORDERS, "split @0 @1\nequal\nequal\n", twice));
}

#[test]
fn cut_points_are_compared() {
    let cut = changed(POWERS, "laws product_of_powers\n", "laws product_of_powers\ncut 6 9\n");
    holds(&cut);
    is_refused(&changed(&cut, "cut 6 9", "cut 5 9"), "different forms");
    is_refused(&changed(&cut, "cut 6 9", "cut 8 9"), "does not reach");
}

/// `2^(x·L)·2^(x·L)` and `2^(2·x·L)` where L is read as log₂ e, and `ln 2` times a logarithm of it
const READINGS: &str = "\
volta certificate 1
case readings
input <=> x
element 0 0
literal 24 12102203/8388608
mul 0 1
exp2 2
log2 3
literal 24 11629080/16777216
mul 4 5
class 1 6 0 z
laws logarithm_of_power
read 12102203/8388608 1 log2(e)
read 1453635/2097152 1 ln(2)
equal
end
";

#[test]
fn readings_are_near_and_in_place() {
    let text = changed(READINGS, "11629080/16777216", "1453635/2097152");
    holds(&text);
    is_refused(&changed(&text, "read 12102203/8388608 1 log2(e)\n", ""), "differ");
    is_refused(&changed(&text, "read 12102203/8388608 1 ", "read 12102203/8388608 2 "), "not a literal near");
    let far = text.replace("12102203/8388608", "12102303/8388608");
    is_refused(&far, "not a literal near");
    // As a factor of what is no exponent, the literal is a number.
    is_refused(&changed(&text, "class 1 6 0", "class 1 6 2"), "outside of exponents");
}

#[test]
fn a_wrong_law_in_the_table_breaks_certificates() {
    let wrong = [
        (POWERS, "exp2(a)*exp2(b) == exp2(a + b)", "exp2(a)*exp2(b) == exp2(a*b)"),
        (LOGARITHMS, "a > 0, b > 0: log2(a^2/b)", "log2(a^2/b)"),
        (ORDERS, "is min(a, b) + max(a, b) == a + b", "is min(a, b) + max(a, b) == a - b"),
        // A near miss that is a law says that the table means something else.
        (POWERS, "not exp2(a)*exp2(b) != exp2(a*b)", "not exp2(b)*exp2(a) != exp2(b + a)"),
    ];
    for (text, right, wrong) in wrong {
        let table = Table::new(&changed(Table::text(), right, wrong));
        let why = replayed(text, &table).expect_err("it is accepted");
        assert!(why.contains("of the table is not one"), "{why}");
    }
}

#[test]
fn anything_else_is_no_certificate() {
    let no = |text: &str| assert!(text.parse::<Certificate>().is_err(), "{text}");
    no("");
    no("volta certificate 2\nend\n");
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
        "volta certificate 1\ncase long\ninput <=> x\nelement 0 0\nnumber 3\n{squares}mul 0 45\nmul 45 0\nclass 1 46 47 \
         z\nequal\nend\n"
    );
    is_refused(&text, "too long");
}

#[test]
fn more_elements_than_can_be_counted_are_no_panic() {
    let class = format!("class {} 0 2 z\nequal\n", u64::MAX);
    let open = format!("open {} - - z why\n", u64::MAX);
    let text = format!(
        "volta certificate 1\ncase many\ninput <=> x\nelement 0 0\nneg 0\nneg 1\n{class}{class}{open}end\n"
    );
    holds(&text);
}
