//! The literals that calls of PER take: sizes, widths, alphabets.

use tercet_plan::per::{Alphabet, Range, Size, UNBOUNDED, Whole};

pub(super) fn whole(whole: Whole) -> String {
    match whole {
        Whole::Nothing => "per::Whole::Nothing".into(),
        Whole::Bits(width) => format!("per::Whole::Bits({width})"),
        Whole::Octet => "per::Whole::Octet".into(),
        Whole::TwoOctets => "per::Whole::TwoOctets".into(),
        Whole::Octets(width, most) => format!("per::Whole::Octets({width}, {most})"),
    }
}

pub(super) fn size(size: Size) -> String {
    if size == Size::ANY {
        return "per::Size::ANY".into();
    }
    let hi = if size.hi == UNBOUNDED { "u32::MAX".into() } else { size.hi.to_string() };
    let whole = match size.whole {
        Some(form) => format!("Some({})", whole(form)),
        None => "None".into(),
    };
    format!("per::Size::new({}, {}, {hi}, {whole})", size.extensible, size.lo)
}

/// A type for an alphabet.
pub(super) fn alphabet(name: &str, alphabet: &Alphabet) -> String {
    let range = |range: &Range| format!("per::Range::new({}, {}, {})", range.lo, range.hi, range.number);
    let ranges: Vec<String> = alphabet.ranges.iter().map(range).collect();
    format!(
        "#[allow(non_camel_case_types)]\nstruct {name};\nimpl per::Letters for {name} {{\n    const ALPHABET: per::Alphabet = per::Alphabet::new({}, {}, {}, &[{}]);\n}}",
        alphabet.bits,
        alphabet.unaligned,
        alphabet.indexed,
        ranges.join(", ")
    )
}
