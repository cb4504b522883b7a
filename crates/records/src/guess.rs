//! What a file is, as far as that can be told without a specification.

use crate::framing::partial::closed;
use crate::framing::{
    Decodes, FileFraming, FileHeader, Framing, Identifiers, Part, RecordFormat, RecordReader, are_nested,
    detect,
};

/// First octets of files that hold no records of ours, and what they are.
const OTHERS: [(&[u8], &str); 24] = [
    (&[0xD4, 0xC3, 0xB2, 0xA1], "a packet capture (pcap)"),
    (&[0xA1, 0xB2, 0xC3, 0xD4], "a packet capture (pcap)"),
    (&[0x4D, 0x3C, 0xB2, 0xA1], "a packet capture (pcap)"),
    (&[0xA1, 0xB2, 0x3C, 0x4D], "a packet capture (pcap)"),
    (&[0x0A, 0x0D, 0x0D, 0x0A], "a packet capture (pcapng)"),
    (b"btsnoop\0", "a packet capture (btsnoop)"),
    (b"snoop\0\0\0", "a packet capture (snoop)"),
    (b"%PDF-", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"Obj\x01", "an Avro file"),
    (b"ORC", "an ORC file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7FELF", "a program (ELF)"),
    (b"\x89PNG", "a picture (PNG)"),
    (&[0xFF, 0xD8, 0xFF], "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (&[0xD0, 0xCF, 0x11, 0xE0], "an Office document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"<?xml", "XML text"),
    (b"{", "JSON text"),
    (b"[{", "JSON text"),
];

/// Record types of 3GPP TS 32.298 (GenericChargingDataTypes, RecordType) and what they are.
const RECORD_TYPES: [(u8, &str); 21] = [
    (0, "MO call"),
    (1, "MT call"),
    (2, "roaming"),
    (3, "incoming gateway"),
    (4, "outgoing gateway"),
    (5, "transit"),
    (6, "MO SMS"),
    (7, "MT SMS"),
    (18, "SGSN PDP"),
    (19, "GGSN PDP"),
    (20, "SGSN MM"),
    (21, "SGSN MO SMS"),
    (22, "SGSN MT SMS"),
    (63, "S-CSCF"),
    (64, "P-CSCF"),
    (67, "MGCF"),
    (69, "AS"),
    (70, "eGSN PDP"),
    (84, "SGW"),
    (85, "PGW"),
    (96, "ePDG"),
];

/// Octets of the first element that are looked at.
const BEGIN: usize = 512;

/// What the first octets of a file are.
#[derive(Clone, Debug)]
pub struct Guess {
    /// What it is, as a noun: `TAP 3.12 batch (TD.57)`, `a packet capture (pcap)`.
    pub kind: String,
    /// Whether it may hold records.
    pub records: bool,
    /// How elements stand in it.
    pub framing: Option<Framing>,
    /// Complete elements among the first octets.
    pub elements: u64,
    /// Of 1,000 octets, those of elements.
    pub share: u64,
}

/// Tells what the first octets of a file are; `whole` tells whether these are all.
pub fn guess(sample: &[u8], whole: bool) -> Guess {
    let other =
        |kind: &str| Guess { kind: kind.to_owned(), records: false, framing: None, elements: 0, share: 0 };
    if sample.is_empty() {
        return other("an empty file");
    }
    if let Some((_, kind)) = OTHERS.iter().find(|(begin, _)| sample.starts_with(begin)) {
        return other(&format!("{kind}, not a record file"));
    }
    if let Some(kind) = text(sample) {
        return other(&format!("{kind}, not a record file"));
    }
    if sample.iter().all(|octet| matches!(octet, 0 | 0xFF)) {
        return other("nothing but filler (00 and FF)");
    }
    let given = Framing::concatenated(constructed());
    let found = detect(&given, sample, whole, &mut Nested);
    let framing = found.as_ref().map_or_else(|| given.clone(), |found| found.framing.clone());
    let (elements, octets, first) = elements(&framing, sample);
    let is_32297 = FileHeader::read(sample).is_some();
    let begin = first.as_deref().unwrap_or_default();
    let filler = sample.iter().take_while(|octet| matches!(octet, 0 | 0xFF)).count();
    let plain = &sample[filler..sample.len().min(filler + BEGIN)];
    let kind = match roaming(plain).or_else(|| roaming(begin)).or_else(|| charging(begin)) {
        Some(kind) if is_32297 => format!("{kind} in a file of 3GPP TS 32.297"),
        Some(kind) => kind,
        None if is_32297 => "charging records in a file of 3GPP TS 32.297".to_owned(),
        None if elements > 0 && octets * 2 >= sample.len() as u64 => "BER".to_owned(),
        None => "no BER, as far as can be seen".to_owned(),
    };
    let share = 1000 * octets / sample.len() as u64;
    let records = is_32297 || !kind.starts_with("no ");
    Guess { kind, records, framing: Some(framing).filter(|_| records), elements, share }
}

/// Takes elements for records that are elements down to the primitive ones.
struct Nested;

impl Decodes for Nested {
    fn decodes(&mut self, _: RecordFormat, octets: &[u8]) -> bool {
        are_nested(octets)
    }

    fn begins(&mut self, _: RecordFormat, octets: &[u8]) -> bool {
        closed(octets).is_some_and(|closed| are_nested(&closed.octets))
    }
}

/// The identifiers of constructed elements, but for those of universal types that no file consists of.
fn constructed() -> Identifiers {
    let mut ids = Identifiers::none();
    let private = (0x60..=0x7F).chain(0xA0..=0xBF).chain(0xE0..=0xFE);
    for octet in [0x30, 0x31].into_iter().chain(private) {
        ids.add_octets(&[octet]);
    }
    ids
}

/// The elements of a sample: their number, their octets, and the first of them.
fn elements(framing: &Framing, sample: &[u8]) -> (u64, u64, Option<Vec<u8>>) {
    let mut reader = RecordReader::new(sample, framing.clone());
    let (mut count, mut octets, mut first) = (0, 0, None);
    while let Ok(Some(item)) = reader.next(&mut are_nested) {
        // The first may go on behind the sample.
        let begins = item.offset < BEGIN as u64
            && matches!(item.part, Part::Rejected { .. })
            && item.octets.len() > 64;
        if item.part.record().is_some() {
            count += 1;
            octets += item.octets.len() as u64;
        }
        if first.is_none() && (begins || item.part.record().is_some()) {
            first = Some(item.octets.iter().copied().take(BEGIN).collect());
            octets += if begins { item.octets.len() as u64 } else { 0 };
            count += u64::from(begins);
        }
    }
    (count, octets, first)
}

/// What the text is that a file consists of.
fn text(sample: &[u8]) -> Option<&'static str> {
    let begin = &sample[..sample.len().min(4096)];
    if begin.starts_with(&[0xFF, 0xFE]) || begin.starts_with(&[0xFE, 0xFF]) {
        let wide = begin.chunks_exact(2).skip(1).all(|two| two.contains(&0));
        return wide.then_some("text in UTF-16");
    }
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    // The last character may be cut.
    let is_utf8 = match str::from_utf8(begin) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    let is_text = |octet: &u8| matches!(octet, b'\t' | b'\n' | b'\r' | 0x0C | 0x20..=0x7E | 0x80..);
    // Some characters of other sets do no harm.
    let odd = begin.iter().filter(|octet| **octet >= 0x80).count();
    if !begin.iter().all(is_text) || !is_utf8 && odd * 20 > begin.len() {
        return None;
    }
    let has = |word: &[u8]| begin.windows(word.len()).any(|octets| octets == word);
    Some(match () {
        () if begin.starts_with(b"-----BEGIN ") => "PEM text",
        () if has(b"DEFINITIONS") || has(b"::=") => "an ASN.1 specification",
        () if begin.iter().all(|octet| octet.is_ascii_hexdigit() || octet.is_ascii_whitespace()) => {
            "hexadecimal text"
        }
        () => "text",
    })
}

/// Files of roaming partners, by the tags that TD.57, TD.32 and TD.35 of the GSM Association give their first elements.
fn roaming(begin: &[u8]) -> Option<String> {
    let find = |octets: &[u8]| begin.windows(octets.len()).position(|window| window == octets);
    let number = |tag: &[u8]| find(tag).and_then(|at| begin.get(at + tag.len()).copied());
    // Specification and release version: tags 201 and 189; of RAP 544 and 543; of NRTRDE 41 and 37.
    let tap = number(&[0x5F, 0x81, 0x49, 0x01]).zip(number(&[0x5F, 0x81, 0x3D, 0x01]));
    let version = |version: Option<(u8, u8)>| {
        version.map_or_else(String::new, |(major, minor)| format!(" {major}.{minor}"))
    };
    match begin {
        [0x7F, 0x84, 0x16, ..] => {
            let rap = number(&[0x5F, 0x84, 0x20, 0x01]).zip(number(&[0x5F, 0x84, 0x1F, 0x01]));
            Some(format!("RAP{} batch (TD.32)", version(rap)))
        }
        [0x7F, 0x84, 0x17, ..] => Some("RAP acknowledgement (TD.32)".to_owned()),
        [0x61, ..] if find(&[0x5F, 0x29, 0x01]).is_some_and(|at| at < 32) => {
            let nrt = number(&[0x5F, 0x29, 0x01]).zip(number(&[0x5F, 0x25, 0x01]));
            Some(format!("NRTRDE{} file (TD.35)", version(nrt)))
        }
        [0x61, ..]
            if begin.iter().take(16).any(|octet| *octet == 0x64) && find(&[0x5F, 0x81, 0x44]).is_some() =>
        {
            Some(format!("TAP{} batch (TD.57)", version(tap)))
        }
        [0x62, ..] if find(&[0x5F, 0x81, 0x44]).is_some_and(|at| at < 32) => {
            Some(format!("TAP{} notification (TD.57)", version(tap)))
        }
        _ => None,
    }
}

/// Charging records of 3GPP TS 32.298: elements with a context tag that begin with their record type.
fn charging(begin: &[u8]) -> Option<String> {
    let [first, rest @ ..] = begin else { return None };
    if first & 0xE0 != 0xA0 {
        return None;
    }
    let rest = if first & 0x1F == 0x1F {
        &rest[1 + rest.iter().take_while(|octet| **octet & 0x80 != 0).count().min(rest.len() - 1)..]
    } else {
        rest
    };
    let inside = match rest {
        [0x80, inside @ ..] | [0..=0x7F, inside @ ..] => inside,
        [length, inside @ ..] => inside.get(usize::from(length & 0x7F)..)?,
        [] => return None,
    };
    let [0x80, 0x01, kind, ..] = inside else { return None };
    let (_, name) = RECORD_TYPES.iter().find(|(number, _)| number == kind)?;
    // The types of calls have the numbers of their tags; others would be taken for them.
    let is_call = *kind < 8 && first & 0x1F != *kind;
    (!is_call).then(|| format!("charging records like those of 3GPP TS 32.298 ({name})"))
}

/// Whether the framing is that of plain elements.
impl Guess {
    /// The framing in the words of the command line, if it is not plain.
    pub fn framing_text(&self) -> Option<String> {
        let framing = self.framing.as_ref()?;
        let plain = framing.file == FileFraming::Plain;
        let text = framing.spelt();
        (!plain || text != "plain").then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(identifier: &[u8], contents: &[u8]) -> Vec<u8> {
        [identifier, &[0x82], &(contents.len() as u16).to_be_bytes(), contents].concat()
    }

    #[test]
    fn files_are_told_by_their_tags() {
        let sender = element(&[0x5F, 0x81, 0x44], b"AAAAA");
        let versions = [0x5F, 0x81, 0x49, 1, 3, 0x5F, 0x81, 0x3D, 1, 12];
        let tap = element(&[0x61], &element(&[0x64], &[&sender[..], &versions].concat()));
        let notification = element(&[0x62], &[&sender[..], &versions].concat());
        let rap = element(
            &[0x7F, 0x84, 0x16],
            &element(&[0x7F, 0x84, 0x19], &[0x5F, 0x84, 0x20, 1, 1, 0x5F, 0x84, 0x1F, 1, 5]),
        );
        let acknowledgement = element(&[0x7F, 0x84, 0x17], &sender);
        let nrt = element(&[0x61], &[0x5F, 0x29, 1, 2, 0x5F, 0x25, 1, 1]);
        let pgw = element(
            &[0xBF, 79],
            &[&[0x80, 1, 85][..], &element(&[0xA4], &element(&[0x80], &[1, 2, 3, 4]))].concat(),
        );
        for (octets, kind) in [
            (tap.clone(), "TAP 3.12 batch (TD.57)"),
            (notification, "TAP 3.12 notification (TD.57)"),
            (rap, "RAP 1.5 batch (TD.32)"),
            (acknowledgement, "RAP acknowledgement (TD.32)"),
            (nrt, "NRTRDE 2.1 file (TD.35)"),
            (pgw.repeat(5), "charging records like those of 3GPP TS 32.298 (PGW)"),
            (element(&[0x30], &element(&[0x02], &[5])).repeat(4), "BER"),
            (vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0], "a packet capture (pcap), not a record file"),
            (b"A DEFINITIONS ::= BEGIN END".to_vec(), "an ASN.1 specification, not a record file"),
            (vec![0xFF; 300], "nothing but filler (00 and FF)"),
            (vec![0x17; 300], "no BER, as far as can be seen"),
        ] {
            assert_eq!(guess(&octets, true).kind, kind);
        }
        // The begin is enough.
        // Without the versions the kind is still known.
        assert_eq!(guess(&tap[..28], false).kind, "TAP batch (TD.57)");
    }

    #[test]
    fn framings_are_told_without_a_specification() {
        let record =
            element(&[0x30], &[element(&[0x02], &[5]), element(&[0x31], &element(&[0x04], b"abc"))].concat());
        let prefixed = [&(record.len() as u16).to_be_bytes()[..], &record].concat().repeat(9);
        assert_eq!(guess(&prefixed, true).framing_text().as_deref(), Some("u16be"));
        assert_eq!(guess(&record.repeat(9), true).framing_text(), None);
    }
}
