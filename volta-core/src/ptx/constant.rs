//! Literals and constant expressions, evaluated as `ptxas` does: 64 bits, signed unless stated otherwise.
//!
//! As in C, an operation on a signed and an unsigned number is unsigned. Unlike in C, `~` and `%` always are.

use super::error::{Parsed, failure, quoted};
use super::parse::Parser;
use super::token::Kind;
use super::tree::{Literal, LiteralValue};
use crate::base::span::Span;

/// The value of a constant expression while it is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// 64 bits of two's complement, and whether they are `.s64` rather than `.u64`.
    Integer {
        bits: u64,
        signed: bool,
    },
    /// The bits of `0f…`, kept since a signalling NaN does not survive conversion.
    Single(u32),
    Double(f64),
}

/// Binary operators with their precedence, as in C.
const BINARY: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    ("<=", 7),
    (">", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl Parser<'_> {
    /// Whether a constant may begin at the current token.
    pub(super) fn at_constant(&self) -> bool {
        match self.token.kind {
            Kind::Number => true,
            Kind::Sign(sign) => matches!(sign, "(" | "-" | "+" | "~" | "!"),
            Kind::Word => self.here() == "WARP_SZ",
            // `.5`
            Kind::Dotted => self.here().as_bytes().get(1).is_some_and(u8::is_ascii_digit),
            Kind::Text | Kind::End => false,
        }
    }

    /// Takes a constant expression.
    pub(super) fn constant(&mut self) -> Parsed<Literal> {
        let start = self.token.span;
        let value = match self.expression()? {
            Value::Integer { bits, .. } => LiteralValue::Integer(bits),
            Value::Single(bits) => LiteralValue::Float32(bits),
            Value::Double(value) => LiteralValue::Float64(value.to_bits()),
        };
        Ok(Literal { value, span: self.since(start) })
    }

    /// Takes a constant expression, which must be an integer.
    pub(super) fn integer(&mut self) -> Parsed<u64> {
        let start = self.token.span;
        match self.expression()? {
            Value::Integer { bits, .. } => Ok(bits),
            Value::Single(_) | Value::Double(_) => {
                Err(failure(self.since(start), "expected an integer, found a floating-point number"))
            }
        }
    }

    /// Takes a plain integer, such as a count or a dimension.
    pub(super) fn count(&mut self, what: &str) -> Parsed<u64> {
        if self.token.kind != Kind::Number {
            return Err(self.expected(what));
        }
        let span = self.bump()?.span;
        match number(self.text(span), span)? {
            Value::Integer { bits, .. } => Ok(bits),
            Value::Single(_) | Value::Double(_) => {
                Err(failure(span, format!("expected {what}, found {}", quoted(self.text(span)))))
            }
        }
    }

    fn expression(&mut self) -> Parsed<Value> {
        self.nested(|parser| {
            let condition = parser.binary(1)?;
            if !parser.accept("?")? {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(":", "`:` and the other value of `?`")?;
            let otherwise = parser.expression()?;
            Ok(if is_true(condition) { then } else { otherwise })
        })
    }

    fn operator(&self) -> Option<(&'static str, u8)> {
        if let Kind::Sign(sign) = self.token.kind {
            BINARY.iter().copied().find(|(operator, _)| *operator == sign)
        } else {
            None
        }
    }

    /// Splits `%3` after a value into the operator `%` and the rest.
    fn split_remainder(&mut self) -> Parsed<()> {
        if self.token.kind == Kind::Word && self.here().starts_with('%') {
            let at = self.token.span.start as usize;
            self.token.kind = Kind::Sign("%");
            self.token.span = Span::new(at, at + 1);
            self.lexer.seek(at + 1);
        }
        Ok(())
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Value> {
        let start = self.token.span;
        let mut left = self.nested(Self::unary)?;
        loop {
            self.split_remainder()?;
            let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength >= weakest)
            else {
                return Ok(left);
            };
            self.bump()?;
            let right = self.nested(|parser| parser.binary(strength + 1))?;
            left = apply(operator, left, right).map_err(|message| failure(self.since(start), message))?;
        }
    }

    fn unary(&mut self) -> Parsed<Value> {
        let start = self.token.span;
        let Kind::Sign(sign) = self.token.kind else { return self.primary() };
        match sign {
            "+" | "-" | "~" | "!" => {
                self.bump()?;
                let value = self.nested(Self::unary)?;
                negate(sign, value).map_err(|message| failure(self.since(start), message))
            }
            "(" => {
                self.bump()?;
                if self.is_dotted(".s64") || self.is_dotted(".u64") {
                    let signed = self.bump()?.span;
                    let signed = self.text(signed) == ".s64";
                    self.expect(")", "`)` behind the type")?;
                    return match self.nested(Self::unary)? {
                        Value::Integer { bits, .. } => Ok(Value::Integer { bits, signed }),
                        Value::Single(_) | Value::Double(_) => {
                            Err(failure(self.since(start), "floating-point numbers cannot be cast"))
                        }
                    };
                }
                let value = self.expression()?;
                self.expect(")", "an operator or `)`")?;
                Ok(value)
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn primary(&mut self) -> Parsed<Value> {
        if self.token.kind == Kind::Word && self.here() == "WARP_SZ" {
            self.bump()?;
            return Ok(Value::Integer { bits: 32, signed: true });
        }
        if !self.at_constant() {
            return Err(self.expected("a number"));
        }
        let span = self.bump()?.span;
        number(self.text(span), span)
    }
}

fn is_true(value: Value) -> bool {
    match value {
        Value::Integer { bits, .. } => bits != 0,
        Value::Single(bits) => f32::from_bits(bits) != 0.0,
        Value::Double(value) => value != 0.0,
    }
}

fn negate(sign: &str, value: Value) -> Result<Value, String> {
    match (sign, value) {
        ("+", value) => Ok(value),
        ("-", Value::Integer { bits, signed }) => Ok(Value::Integer { bits: bits.wrapping_neg(), signed }),
        ("-", Value::Single(bits)) => Ok(Value::Single(bits ^ 1 << 31)),
        ("-", Value::Double(value)) => Ok(Value::Double(-value)),
        ("~", Value::Integer { bits, .. }) => Ok(Value::Integer { bits: !bits, signed: false }),
        ("!", value) => Ok(Value::Integer { bits: u64::from(!is_true(value)), signed: true }),
        (sign, _) => Err(format!("`{sign}` needs an integer")),
    }
}

fn apply(operator: &str, left: Value, right: Value) -> Result<Value, String> {
    let truth = |value: bool| Ok(Value::Integer { bits: u64::from(value), signed: true });
    match operator {
        "&&" => return truth(is_true(left) && is_true(right)),
        "||" => return truth(is_true(left) || is_true(right)),
        _ => {}
    }
    match (left, right) {
        (Value::Integer { bits: left, signed: left_signed }, Value::Integer { bits: right, signed }) => {
            integers(operator, (left, left_signed), (right, signed))
        }
        _ => doubles(operator, double(left), double(right)),
    }
}

fn double(value: Value) -> f64 {
    match value {
        Value::Integer { bits, signed: true } => bits.cast_signed() as f64,
        Value::Integer { bits, signed: false } => bits as f64,
        Value::Single(bits) => f64::from(f32::from_bits(bits)),
        Value::Double(value) => value,
    }
}

fn doubles(operator: &str, left: f64, right: f64) -> Result<Value, String> {
    let truth = |value: bool| Ok(Value::Integer { bits: u64::from(value), signed: true });
    match operator {
        "+" => Ok(Value::Double(left + right)),
        "-" => Ok(Value::Double(left - right)),
        "*" => Ok(Value::Double(left * right)),
        "/" => Ok(Value::Double(left / right)),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        "<=" => truth(left <= right),
        ">" => truth(left > right),
        ">=" => truth(left >= right),
        _ => Err(format!("`{operator}` needs integers")),
    }
}

fn integers(
    operator: &str,
    (left, left_signed): (u64, bool),
    (right, right_signed): (u64, bool),
) -> Result<Value, String> {
    let signed = left_signed && right_signed;
    let integer = |bits: u64| Ok(Value::Integer { bits, signed });
    let truth = |value: bool| Ok(Value::Integer { bits: u64::from(value), signed: true });
    let below = |left: u64, right: u64| match signed {
        true => left.cast_signed() < right.cast_signed(),
        false => left < right,
    };
    match operator {
        "+" => integer(left.wrapping_add(right)),
        "-" => integer(left.wrapping_sub(right)),
        "*" => integer(left.wrapping_mul(right)),
        "/" | "%" if right == 0 => Err("division by zero".to_owned()),
        "/" if signed => integer(left.cast_signed().wrapping_div(right.cast_signed()).cast_unsigned()),
        "/" => integer(left / right),
        "%" => Ok(Value::Integer { bits: left % right, signed: false }),
        "<<" | ">>" if right >= 64 => Err("shift by 64 bits or more".to_owned()),
        "<<" => Ok(Value::Integer { bits: left << right, signed: left_signed }),
        ">>" if left_signed => {
            Ok(Value::Integer { bits: (left.cast_signed() >> right).cast_unsigned(), signed: true })
        }
        ">>" => Ok(Value::Integer { bits: left >> right, signed: false }),
        "<" => truth(below(left, right)),
        ">" => truth(below(right, left)),
        "<=" => truth(!below(right, left)),
        ">=" => truth(!below(left, right)),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "&" => integer(left & right),
        "^" => integer(left ^ right),
        "|" => integer(left | right),
        _ => Err(format!("`{operator}` is not an operator")),
    }
}

/// The value of a literal.
fn number(text: &str, span: Span) -> Parsed<Value> {
    let odd = || failure(span, format!("{} is not a number", quoted(text)));
    match text.as_bytes() {
        [b'0', b'f' | b'F', digits @ ..] => {
            let bits = exact_hex(text, digits.len(), 8)
                .ok_or_else(|| odd().help("write 8 hexadecimal digits after `0f`, the bits of the number"))?;
            Ok(Value::Single(bits as u32))
        }
        [b'0', b'd' | b'D', digits @ ..] => {
            let bits = exact_hex(text, digits.len(), 16).ok_or_else(|| {
                odd().help("write 16 hexadecimal digits after `0d`, the bits of the number")
            })?;
            Ok(Value::Double(f64::from_bits(bits)))
        }
        [b'0', b'x' | b'X', ..] => whole(text, 2, 16, span),
        [b'0', b'b' | b'B', ..] => whole(text, 2, 2, span),
        bytes if bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            let value: f64 = text.parse().map_err(|_| odd())?;
            if value.is_infinite() {
                return Err(failure(span, format!("{} is too large for an f64", quoted(text))));
            }
            Ok(Value::Double(value))
        }
        [b'0', b'0'..=b'9', ..] => whole(text, 1, 8, span),
        _ => whole(text, 0, 10, span),
    }
}

fn exact_hex(text: &str, found: usize, digits: usize) -> Option<u64> {
    let written = text.get(2..)?;
    (found == digits && written.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| u64::from_str_radix(written, 16).ok())
        .flatten()
}

/// An integer with this radix after a prefix, optionally with the suffix `U`.
fn whole(text: &str, prefix: usize, radix: u32, span: Span) -> Parsed<Value> {
    let behind = text.get(prefix..).unwrap_or("");
    let (digits, unsigned) = match behind.strip_suffix('U') {
        Some(digits) => (digits, true),
        None => (behind, false),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        let failure = failure(span, format!("{} is not a number", quoted(text)));
        return Err(if radix == 8 {
            failure.help("a leading 0 means octal, digits 0 to 7")
        } else {
            failure
        });
    }
    let too_large = |_| failure(span, format!("{} does not fit in 64 bits", quoted(text)));
    let bits = u64::from_str_radix(digits, radix).map_err(too_large)?;
    Ok(Value::Integer { bits, signed: !unsigned && i64::try_from(bits).is_ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<LiteralValue, String> {
        let mut parser = Parser::new(text).map_err(|failure| failure.locate(text).message)?;
        let literal = parser.constant().map_err(|failure| failure.locate(text).message)?;
        assert_eq!(parser.token.kind, Kind::End, "{text} was not read to the end");
        Ok(literal.value)
    }

    fn integer(text: &str) -> i64 {
        match value(text) {
            Ok(LiteralValue::Integer(bits)) => bits.cast_signed(),
            other => panic!("{text} gave {other:?}"),
        }
    }

    #[test]
    fn integers_are_read_in_every_radix() {
        for (text, expected) in [
            ("0", 0),
            ("00", 0),
            ("017", 15),
            ("0x1fU", 31),
            ("0X1F79U", 0x1f79),
            ("0b101", 5),
            ("0B11U", 3),
            ("18446744073709551615", -1),
            ("-9223372036854775808", i64::MIN),
            ("- -1", 1),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn floats_keep_their_bits() {
        assert_eq!(value("0f7F800001"), Ok(LiteralValue::Float32(0x7f80_0001)));
        assert_eq!(value("0F3f800000"), Ok(LiteralValue::Float32(0x3f80_0000)));
        assert_eq!(value("-0f3F800000"), Ok(LiteralValue::Float32(0xbf80_0000)));
        assert_eq!(value("0d3FF0000000000000"), Ok(LiteralValue::Float64(1f64.to_bits())));
        for (text, expected) in
            [("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e5", 1e5), ("1.5E-3", 1.5e-3), ("-1e+2", -100.0)]
        {
            assert_eq!(value(text), Ok(LiteralValue::Float64(f64::to_bits(expected))), "{text}");
        }
        assert_eq!(value("1.0+2.0*3.0"), Ok(LiteralValue::Float64(7f64.to_bits())));
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, expected) in [
            ("1<<4|3", 19),
            ("(3+4)*2", 14),
            ("3+4*2", 11),
            ("10-3-2", 5),
            ("1?2:3", 2),
            ("0?2:0?3:4", 4),
            ("5%3", 2),
            ("5 % 3", 2),
            ("-5 % 3", 2),
            ("(5%3-4)>>60", 15),
            ("~0>>60", 15),
            ("(-1&-1)>>60", -1),
            ("-8/3", -2),
            ("0xFFFFFFFFFFFFFFFF>>4", 0x0fff_ffff_ffff_ffff),
            ("(1?-1:1U)>>60", -1),
            ("-7/2", -3),
            ("-1>>1", -1),
            ("-1U>>1", i64::MAX),
            ("(.u64)-1>>63", 1),
            ("-1<0", 1),
            ("-1<0U", 0),
            ("1&3==3", 1),
            ("!0+~0", 0),
            ("1&&0||1", 1),
            ("6^3&1", 7),
            ("WARP_SZ-1", 31),
            ("(-9223372036854775807-1)/-1", i64::MIN),
            ("-9223372036854775808/-1", 0),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_an_error() {
        for text in ["08", "0x", "0xg", "0b2", "12u", "0f3F8", "0f3F8000000", "0d0", "1e", "1x", "0f+1234567"]
        {
            assert!(value(text).is_err_and(|message| message.ends_with("is not a number")), "{text}");
        }
        assert_eq!(value("1/0"), Err("division by zero".to_owned()));
        assert_eq!(value("1<<64"), Err("shift by 64 bits or more".to_owned()));
        assert_eq!(value("~1.5"), Err("`~` needs an integer".to_owned()));
        assert!(
            value("18446744073709551616").is_err_and(|message| message.ends_with("does not fit in 64 bits"))
        );
        assert!(value("1e400").is_err_and(|message| message.ends_with("is too large for an f64")));
        assert!(value(&"9".repeat(1_000_000)).is_err());
    }

    #[test]
    fn deep_expressions_are_an_error() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1?".repeat(100_000), "1?1:".repeat(100_000)] {
            assert_eq!(value(&text), Err("nested more than 256 levels deep".to_owned()));
        }
        assert_eq!(integer(&format!("1{}", "+1".repeat(100_000))), 100_001);
    }
}
