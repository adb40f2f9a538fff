//! Contents of tensors from files: NumPy's format (`.npy`), or the elements alone (`.bin`, `.raw`).

use volta_case::InputProblem;
use volta_core::case::{Element, bits_of};
use volta_core::number::format::{Format, decode};
use volta_core::number::{Extended, Rational};

use crate::prepare::Obstacle;

/// A longer file is not read.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// So long a header has a file of NumPy at most; longer ones are those of structs.
const MAX_HEADER: usize = 1 << 16;

/// Whether a text in a case names a file with contents, by its extension.
pub(crate) fn is_file(text: &str) -> bool {
    volta_case::CONTENTS_FILES.iter().any(|extension| text.ends_with(extension))
}

/// That a text names no file with contents.
pub(crate) fn no_file(text: &str) -> String {
    format!("`{text}` is no file with contents: .npy is NumPy's format, .bin and .raw are the elements alone")
}

/// The bytes that a text of base64 is, with or without padding; `None` for any other text.
pub(crate) fn of_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    (held & ((1 << bits) - 1) == 0).then_some(bytes)
}

const NUMPY: &str = ".npy";

/// The elements of a tensor from the bytes of a file.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn elements(
    file: &str,
    bytes: &[u8],
    types: [Element; 2],
    shape: &[u64],
) -> Result<Vec<Extended>, Obstacle> {
    let wrong = |message: String, help: Option<String>| {
        Obstacle::new(InputProblem::WrongValue, format!("{file}: {message}"), help)
    };
    let [element, other] = types;
    if element != other {
        let help = "give both sides one type, or the numbers in the case".into();
        return Err(wrong("a tensor of two types has no file: its elements are of one".into(), Some(help)));
    }
    let data = match file.ends_with(NUMPY) {
        true => numpy(bytes, element, shape).map_err(|Wrong { message, help }| wrong(message, help))?,
        false => bytes,
    };
    let size = element.bytes() as usize;
    let count = shape.iter().try_fold(1u64, |count, length| count.checked_mul(*length));
    let wanted = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(size));
    if wanted != Some(data.len()) {
        let wanted = wanted.map_or("more than there can be".into(), |wanted| wanted.to_string());
        let kind = if wanted.parse().is_ok_and(|wanted: usize| wanted > data.len()) {
            "is cut off, or of another shape"
        } else {
            "is of another shape"
        };
        let message = format!(
            "it {kind}: it has {} bytes of elements, and {shape:?} of {} are {wanted}",
            data.len(),
            element.name()
        );
        return Err(wrong(message, None));
    }
    let number = |(at, bytes): (usize, &[u8])| {
        let bits = bytes.iter().rev().fold(0, |bits: u64, byte| bits << 8 | u64::from(*byte));
        number(element, bits).map_err(|why| wrong(format!("element {at} {why}"), None))
    };
    data.chunks_exact(size).enumerate().map(number).collect()
}

/// The number that an element type encodes by some bits.
fn number(element: Element, bits: u64) -> Result<Extended, String> {
    let number = match element {
        Element::Float(format) => match decode(format, bits).extended() {
            Some(number) => number,
            None => return Err("is NaN, which no input is (V2)".into()),
        },
        Element::Int { bytes, signed } => {
            let unused = 64 - 8 * bytes;
            let value = match signed {
                true => i128::from((bits << unused) as i64 >> unused),
                false => i128::from(bits),
            };
            Extended::Finite(Rational::from_i128(value))
        }
        Element::Bool => Extended::Finite(Rational::from_i128(bits.into())),
    };
    // An element is what its type makes of the number: neither −0 nor another spelling of one.
    match bits_of(element, &number) {
        Ok(own) if own == bits => Ok(number),
        Ok(0) => Err("is −0: a case has reals, which have one zero; write 0 in its place".into()),
        Ok(_) => Err(format!("is 0x{bits:x}, which is not how {} spells a number", element.name())),
        Err(why) => Err(format!("is 0x{bits:x}: {why}")),
    }
}

/// What is wrong with a file of NumPy.
struct Wrong {
    message: String,
    help: Option<String>,
}

impl From<&str> for Wrong {
    fn from(message: &str) -> Wrong {
        Wrong { message: message.into(), help: None }
    }
}

/// The elements' bytes in a file of NumPy's format, whose header must agree with the tensor.
fn numpy<'f>(bytes: &'f [u8], element: Element, shape: &[u64]) -> Result<&'f [u8], Wrong> {
    let Some(rest) = bytes.strip_prefix(b"\x93NUMPY") else {
        let help = Some("numpy.save writes such files; elements alone are a file called .bin".into());
        return Err(Wrong { message: "it is no file of NumPy: it begins with other bytes".into(), help });
    };
    let cut_off = || Wrong::from("it is cut off in its header");
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            rest.split_first_chunk().map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest))
        }
        (2, 0) => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
        _ => {
            let message = format!("it is in version {major}.{minor} of NumPy's format; 1.0 and 2.0 are read");
            return Err(Wrong { message, help: None });
        }
    }
    .ok_or_else(cut_off)?;
    if length > MAX_HEADER {
        return Err("its header is too long to be that of a tensor".into());
    }
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut_off)?;
    let header = std::str::from_utf8(header).ok().and_then(Header::parse);
    let header = header.ok_or_else(|| Wrong::from("its header is damaged, or that of a struct"))?;
    if header.is_fortran {
        let help =
            Some("numpy.save(file, numpy.ascontiguousarray(x)) writes rows one after the other".into());
        return Err(Wrong {
            message: "its elements are in the order of Fortran, columns first".into(),
            help,
        });
    }
    let Some(kind) = kind_of(element) else {
        let message = format!("NumPy has no type {}", element.name());
        return Err(Wrong { message, help: Some("a file called .bin has the elements alone".into()) });
    };
    let own = header.kind.trim_start_matches(['<', '|', '=']);
    // A single byte has no order.
    let is_little = !header.kind.starts_with('>') || element.bytes() == 1;
    if own.trim_start_matches('>') != kind || !is_little {
        let wanted = if element.bytes() == 1 { format!("|{kind}") } else { format!("<{kind}") };
        let message = format!(
            "its elements are `{}`; those of the tensor, {}, are `{wanted}`",
            header.kind,
            element.name()
        );
        return Err(Wrong { message, help: Some(format!("numpy.save(file, x.astype('{wanted}'))")) });
    }
    if header.shape != shape {
        let message = format!("its shape is {:?}, and that of the tensor {shape:?}", header.shape);
        return Err(Wrong { message, help: None });
    }
    Ok(data)
}

/// NumPy's name for an element type, without the order of its bytes.
fn kind_of(element: Element) -> Option<String> {
    match element {
        Element::Float(Format::F16) => Some("f2".into()),
        Element::Float(Format::F32) => Some("f4".into()),
        Element::Float(Format::F64) => Some("f8".into()),
        Element::Float(Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0) => None,
        Element::Int { bytes, signed } => Some(format!("{}{bytes}", if signed { "i" } else { "u" })),
        Element::Bool => Some("b1".into()),
    }
}

/// The header of a file of NumPy: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    kind: String,
    is_fortran: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Reads a header; `None` if it is anything but a dictionary of these three.
    fn parse(text: &str) -> Option<Header> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut kind, mut is_fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, behind) = quoted(rest)?;
            let behind = behind.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" if kind.is_none() => {
                    let (value, behind) = quoted(behind)?;
                    kind = Some(value.to_owned());
                    behind
                }
                "fortran_order" if is_fortran.is_none() => {
                    let word = ["False", "True"].into_iter().find(|word| behind.starts_with(word))?;
                    is_fortran = Some(word == "True");
                    &behind[word.len()..]
                }
                "shape" if shape.is_none() => {
                    let (list, behind) = behind.strip_prefix('(')?.split_once(')')?;
                    let list = list.trim();
                    let list = list.strip_suffix(',').unwrap_or(list);
                    let lengths = list.split(',').map(|length| length.trim().parse().ok());
                    shape = if list.is_empty() { Some(Vec::new()) } else { lengths.collect() };
                    shape.as_ref()?;
                    behind
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(more) => more.trim_start(),
                None if rest.is_empty() => rest,
                None => return None,
            };
        }
        Some(Header { kind: kind?, is_fortran: is_fortran?, shape: shape? })
    }
}

/// The text in quotes at the beginning of another one, and what is behind it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let sign = text.chars().next().filter(|sign| ['\'', '"'].contains(sign))?;
    text[1..].split_once(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: [u8; 2], header: &str, data: &[u8]) -> Vec<u8> {
        let length = header.len() as u32;
        let length =
            if version[0] == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().into() };
        [b"\x93NUMPY", &version[..], &length, header.as_bytes(), data].concat()
    }

    fn read(name: &str, bytes: &[u8], element: &str, shape: &[u64]) -> Result<Vec<String>, String> {
        let element = Element::parse(element).expect("it is a type");
        let numbers = elements(name, bytes, [element; 2], shape).map_err(|obstacle| obstacle.to_string())?;
        Ok(numbers.iter().map(|number| format!("{number:?}")).collect())
    }

    fn numbers(values: &[i64]) -> Vec<String> {
        values.iter().map(|value| format!("{:?}", Extended::Finite(Rational::from_integer(*value)))).collect()
    }

    const HEADER: &str = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }          \n";

    #[test]
    fn elements_are_those_of_the_file() {
        let data: Vec<u8> =
            [0i32, 1, -1, i32::MAX, i32::MIN, 7].iter().flat_map(|value| value.to_le_bytes()).collect();
        let own = numbers(&[0, 1, -1, i32::MAX.into(), i32::MIN.into(), 7]);
        for version in [[1, 0], [2, 0]] {
            assert_eq!(read("a.npy", &file(version, HEADER, &data), "i32", &[2, 3]), Ok(own.clone()));
        }
        assert_eq!(read("a.bin", &data, "i32", &[6]), Ok(own));
        assert_eq!(read("a.raw", &[1, 0, 1], "bool", &[3]), Ok(numbers(&[1, 0, 1])));
        assert_eq!(read("a.raw", &[0x80, 0x3f], "bf16", &[]), Ok(numbers(&[1])));
        assert_eq!(read("a.raw", &u64::MAX.to_le_bytes(), "u64", &[]).map(|list| list.len()), Ok(1));
        let header = "{\"shape\": (), 'fortran_order': False, 'descr': '<f2'}";
        assert_eq!(read("a.npy", &file([1, 0], header, &[0, 0xbc]), "f16", &[]), Ok(numbers(&[-1])));
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
        assert_eq!(read("a.npy", &file([1, 0], header, &[255]), "u8", &[1]), Ok(numbers(&[255])));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let data = [0; 24];
        let with = |from: &str, to: &str| file([1, 0], &HEADER.replace(from, to), &data);
        let good = file([1, 0], HEADER, &data);
        let nan = f32::NAN.to_le_bytes();
        // The name and the bytes of a file, type and shape of the tensor, and what is said.
        type Row = (&'static str, Vec<u8>, &'static str, &'static [u64], &'static str);
        let table: [Row; 22] = [
            ("a.npy", b"PK\x03\x04".to_vec(), "i32", &[2, 3], "it is no file of NumPy"),
            ("a.npy", Vec::new(), "i32", &[2, 3], "it is no file of NumPy"),
            ("a.npy", good[..7].to_vec(), "i32", &[2, 3], "it is cut off in its header"),
            ("a.npy", good[..40].to_vec(), "i32", &[2, 3], "it is cut off in its header"),
            (
                "a.npy",
                good[..good.len() - 1].to_vec(),
                "i32",
                &[2, 3],
                "it is cut off, or of another shape: it has 23 bytes",
            ),
            ("a.npy", [&good[..], &[0]].concat(), "i32", &[2, 3], "it is of another shape: it has 25 bytes"),
            ("a.npy", file([3, 0], HEADER, &data), "i32", &[2, 3], "it is in version 3.0"),
            ("a.npy", with("False", "True"), "i32", &[2, 3], "in the order of Fortran"),
            (
                "a.npy",
                with("<i4", ">i4"),
                "i32",
                &[2, 3],
                "its elements are `>i4`; those of the tensor, i32, are `<i4`",
            ),
            ("a.npy", with("<i4", "<u4"), "i32", &[2, 3], "its elements are `<u4`"),
            ("a.npy", with("<i4", "<f4"), "i32", &[2, 3], "numpy.save(file, x.astype('<i4'))"),
            (
                "a.npy",
                with("'<i4'", "[('a', '<i4')]"),
                "i32",
                &[2, 3],
                "its header is damaged, or that of a struct",
            ),
            ("a.npy", with("False", "false"), "i32", &[2, 3], "its header is damaged"),
            ("a.npy", with("(2, 3)", "(2, -3)"), "i32", &[2, 3], "its header is damaged"),
            (
                "a.npy",
                with("(2, 3)", "(6,)"),
                "i32",
                &[2, 3],
                "its shape is [6], and that of the tensor [2, 3]",
            ),
            ("a.npy", with("<i4", "<V2"), "bf16", &[2, 3], "NumPy has no type bf16"),
            ("a.bin", nan.to_vec(), "f32", &[1], "element 0 is NaN"),
            ("a.bin", (-0.0f32).to_le_bytes().to_vec(), "f32", &[1], "element 0 is −0"),
            ("a.bin", vec![1, 2], "bool", &[2], "element 1 is 0x2"),
            ("a.bin", vec![1, 2, 3], "f32", &[1], "it is cut off, or of another shape: it has 3 bytes"),
            ("a.bin", vec![0; 8], "f32", &[u64::MAX, 4], "more than there can be"),
            ("a.bin", vec![1, 0, 0x80, 0x3f], "tf32", &[1], "which is not how tf32 spells a number"),
        ];
        for (name, bytes, element, shape, message) in table {
            let said = read(name, &bytes, element, shape).expect_err(message);
            assert!(said.starts_with(name) && said.contains(message), "{message}: {said}");
        }
    }
}
