//! The literals that calls of PER take: sizes, widths, alphabets.

use super::imports::PER;
use tercet_plan::per::{Alphabet, Range, Size, UNBOUNDED, Whole};

pub(super) fn whole(whole: Whole) -> String {
    match whole {
        Whole::Nothing => format!("{PER}::Whole::Nothing"),
        Whole::Bits(width) => format!("{PER}::Whole::Bits({width})"),
        Whole::Octet => format!("{PER}::Whole::Octet"),
        Whole::TwoOctets => format!("{PER}::Whole::TwoOctets"),
        Whole::Octets(width, most) => format!("{PER}::Whole::Octets({width}, {most})"),
    }
}

pub(super) fn size(size: Size) -> String {
    if size == Size::ANY {
        return format!("{PER}::Size::ANY");
    }
    let hi = if size.hi == UNBOUNDED { "u32::MAX".into() } else { size.hi.to_string() };
    let whole = match size.whole {
        Some(form) => format!("Some({})", whole(form)),
        None => "None".into(),
    };
    format!("{PER}::Size::new({}, {}, {hi}, {whole})", size.extensible, size.lo)
}

/// A type for an alphabet.
pub(super) fn alphabet(name: &str, alphabet: &Alphabet) -> String {
    let range = |range: &Range| format!("{PER}::Range::new({}, {}, {})", range.lo, range.hi, range.number);
    let ranges: Vec<String> = alphabet.ranges.iter().map(range).collect();
    format!(
        "#[allow(non_camel_case_types)]\nstruct {name};\nimpl {PER}::Letters for {name} {{\n    const ALPHABET: {PER}::Alphabet = {PER}::Alphabet::new({}, {}, {}, &[{}]);\n}}",
        alphabet.bits,
        alphabet.unaligned,
        alphabet.indexed,
        ranges.join(", ")
    )
}
