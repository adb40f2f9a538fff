//! Certificates as text, which the checker reads.

use std::fmt;

use volta_certificate::{Certificate, Class, HEADER, Input, Node, Operand, Step};

/// A certificate as text, as the checker reads it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'c>(pub &'c Certificate);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let certificate = self.0;
        writeln!(f, "{HEADER}\ncase {}", line(&certificate.name))?;
        for Input { name, signs } in &certificate.inputs {
            let signs: String =
                "<=>".chars().zip(signs).filter(|(_, has)| **has).map(|(sign, _)| sign).collect();
            writeln!(f, "input {signs} {}", line(name))?;
        }
        for node in &certificate.nodes {
            match node {
                Node::Input(input, element) => writeln!(f, "element {input} {element}")?,
                Node::Number(number) => writeln!(f, "number {number}")?,
                Node::Literal(digits, number) => writeln!(f, "literal {digits} {number}")?,
                Node::Infinity(negative) => writeln!(f, "infinity {}", if *negative { "-" } else { "+" })?,
                Node::Apply(op, operands) => {
                    f.write_str(op.name())?;
                    operands[..op.arity()].iter().try_for_each(|at| write!(f, " {at}"))?;
                    writeln!(f)?;
                }
            }
        }
        for Class { name, elements, roots: [reference, opt], laws, reads, cuts, step } in &certificate.classes
        {
            writeln!(f, "class {elements} {reference} {opt} {}", line(name))?;
            if !laws.is_empty() {
                writeln!(f, "laws {}", laws.join(" "))?;
            }
            f.write_str(if *reads { "reads\n" } else { "" })?;
            cuts.iter().try_for_each(|[reference, opt]| writeln!(f, "cut {reference} {opt}"))?;
            write_step(step, f)?;
        }
        f.write_str("end\n")
    }
}

fn line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

fn write_step(step: &Step, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (low, high, arms) = match step {
        Step::Equal => return writeln!(f, "equal"),
        Step::Open(why) => return writeln!(f, "open {}", line(why)),
        Step::Split(low, high, arms) => (low, high, arms),
    };
    let operand = |operand: &Operand| match operand {
        Operand::Term(at) => format!("@{at}"),
        Operand::Number(number) => number.to_string(),
    };
    writeln!(f, "split {} {}", operand(low), operand(high))?;
    arms.iter().try_for_each(|arm| write_step(arm, f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_read_as_they_are_written() {
        let text = "\
volta certificate 2
case powers
input <=> x
input > two words
element 0 0
element 1 0
literal 24 3/2
infinity -
number -5/3
fma 0 1 2
neg 5
class 4 5 5 z[0]
laws product_of_powers power_of_power
reads
cut 5 6
split @0 1/2
equal
equal
class 0 6 6 lemma
equal
class 3 5 6 z[1]
open a reason
end
";
        let certificate: Certificate = text.parse().expect("it is a certificate");
        assert_eq!(Text(&certificate).to_string(), text);
    }
}
