//! The literals that calls of PER take: sizes, widths, alphabets.

use tercet_plan::per::{Alphabet, Size, UNBOUNDED, Whole};

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

/// The lines of a static for an alphabet.
pub(super) fn alphabet(name: &str, alphabet: &Alphabet) -> Vec<String> {
    let ranges: Vec<String> = alphabet
        .ranges
        .iter()
        .map(|range| format!("per::Range {{ lo: {}, hi: {}, number: {} }}", range.lo, range.hi, range.number))
        .collect();
    // Characters by their number, for alphabets of few.
    let characters: Vec<u32> =
        alphabet.ranges.iter().flat_map(|range| range.lo..=range.hi).take(129).collect();
    let small = alphabet.indexed && characters.iter().all(|character| *character < 128);
    let table = if small { format!("&{characters:?}") } else { "&[]".into() };
    vec![
        format!("static {name}: per::Alphabet = per::Alphabet {{"),
        format!("    bits: {},", alphabet.bits),
        format!("    unaligned: {},", alphabet.unaligned),
        format!("    indexed: {},", alphabet.indexed),
        format!("    ranges: &[{}],", ranges.join(", ")),
        format!("    table: {table},"),
        "};".into(),
    ]
}
