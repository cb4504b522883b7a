//! Cases by clause of X.690: bytes in, value or kind of error and offset out, and the way back.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::text::StringKind;
use crate::types::{BitStr, Oid, Real, TimeType};
use crate::{Error, ErrorKind, Limits, Result, Tag};

mod values;

use ErrorKind as K;
use Rules::{Ber, Cer, Der};

/// Octets from hexadecimal text with blanks.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn header(input: &[u8], rules: Rules) -> Result<(String, bool, Option<usize>)> {
    let mut reader = Reader::new(input, rules);
    let h = reader.read_header()?;
    assert_eq!(reader.position(), usize::from(h.size));
    Ok((h.tag.to_string(), h.constructed, (!h.indefinite).then_some(h.length)))
}

#[test]
fn headers_8_1() {
    for (input, rules, tag, constructed, length) in [
        ("05 00", Der, "[UNIVERSAL 5]", false, Some(0)),
        ("02 01 05", Der, "[UNIVERSAL 2]", false, Some(1)),
        ("30 02 05 00", Der, "[UNIVERSAL 16]", true, Some(2)),
        ("30 80 00 00", Ber, "[UNIVERSAL 16]", true, None),
        ("30 80 00 00", Cer, "[UNIVERSAL 16]", true, None),
        ("9F 1F 00", Der, "[31]", false, Some(0)),
        ("9F 81 00 01 05", Der, "[128]", false, Some(1)),
        ("5F 81 80 00 01 05", Der, "[APPLICATION 16384]", false, Some(1)),
        ("DF 81 FF FF FF 7F 00", Der, "[PRIVATE 536870911]", false, Some(0)),
        ("04 82 00 01 05", Ber, "[UNIVERSAL 4]", false, Some(1)),
        ("04 88 00 00 00 00 00 00 00 01 05", Ber, "[UNIVERSAL 4]", false, Some(1)),
        ("04 90 00000000000000000000000000000001 05", Ber, "[UNIVERSAL 4]", false, Some(1)),
    ] {
        let want = (tag.to_string(), constructed, length);
        assert_eq!(header(&hex(input), rules), Ok(want), "{input} {rules:?}");
    }
    let long = [&hex("04 81 80")[..], &[0; 128]].concat();
    for rules in [Ber, Der, Cer] {
        assert_eq!(header(&long, rules).unwrap().2, Some(128));
    }
}

#[test]
fn header_faults_8_1() {
    for (input, rules, kind, at) in [
        ("", Ber, K::Incomplete, 0),
        ("04", Ber, K::Incomplete, 1),
        ("04 05 00", Ber, K::Incomplete, 3),
        ("1F", Ber, K::Incomplete, 1),
        ("1F 81", Ber, K::Incomplete, 2),
        ("04 82 01", Ber, K::Incomplete, 3),
        ("1F 1E 00", Ber, K::TagLongForm, 0),
        ("1F 80 1F 00", Ber, K::TagLeadingZero, 1),
        ("1F 82 80 80 80 00 00", Ber, K::TagTooLarge, 0),
        ("1F 81 80 80 80 80 00 00", Ber, K::TagTooLarge, 0),
        ("1F 81 80 80 80 80 80 80 80 80 00 00", Ber, K::TagTooLarge, 0),
        ("04 FF", Ber, K::LengthReserved, 1),
        ("04 80 00 00", Ber, K::IndefinitePrimitive, 1),
        ("30 80 00 00", Der, K::IndefiniteForbidden, 1),
        ("30 00", Cer, K::DefiniteForbidden, 1),
        ("04 81 01 05", Der, K::LengthNotMinimal, 1),
        ("04 81 01 05", Cer, K::LengthNotMinimal, 1),
        ("04 82 00 80", Der, K::LengthNotMinimal, 1),
        ("04 88 80 00 00 00 00 00 00 00", Ber, K::LengthTooLarge, 1),
        ("30 89 01 00 00 00 00 00 00 00 00", Ber, K::LengthTooLarge, 1),
        ("04 88 7F FF FF FF FF FF FF FF", Ber, K::Incomplete, 10),
        ("04 84 FF FF FF FF 00", Ber, K::Incomplete, 7),
        ("00 00", Ber, K::EndOfContentsUnexpected, 0),
        ("00 01", Ber, K::EndOfContentsMalformed, 0),
        ("00 81 00", Ber, K::EndOfContentsMalformed, 0),
        ("20 00", Ber, K::EndOfContentsMalformed, 0),
    ] {
        let input = hex(input);
        let mut reader = Reader::with_limits(&input, 1000, rules, &Limits::DEFAULT);
        let error = reader.read_header().unwrap_err();
        assert_eq!((error.kind(), error.at()), (kind, 1000 + at), "{input:02x?} {rules:?}");
    }
    let error = header(&hex("04 84 FF FF FF FF 00"), Ber).unwrap_err();
    assert_eq!(error.needed(), Some(u32::MAX - 1));
    let limits = Limits::default().with_element_length(3);
    assert_eq!(
        Reader::with_limits(&hex("04 04 00000000"), 0, Ber, &limits).read_header().unwrap_err().kind(),
        K::LengthLimit
    );
}

/// Walks everything, as a decoder of any type would.
fn walk_all(input: &[u8], rules: Rules) -> Result<usize> {
    fn level(reader: &mut Reader<'_>, count: &mut usize) -> Result<()> {
        while let Some(header) = reader.next_header()? {
            *count += 1;
            if header.constructed {
                let frame = reader.enter(&header)?;
                level(reader, count)?;
                reader.leave(frame)?;
            } else {
                reader.contents(&header)?;
            }
        }
        Ok(())
    }
    let mut reader = Reader::new(input, rules);
    let mut count = 0;
    level(&mut reader, &mut count)?;
    reader.finish()?;
    Ok(count)
}

#[test]
fn levels_8_1_3_and_8_1_5() {
    for (input, rules, want) in [
        ("30 06 02 01 05 01 01 FF", Der, Ok(3)),
        ("30 80 02 01 05 01 01 FF 00 00", Cer, Ok(3)),
        ("30 80 30 02 05 00 30 80 00 00 00 00", Ber, Ok(4)),
        ("30 04 30 80 00 00", Ber, Ok(2)),
        ("30 80 30 04 30 80 00 00 00 00", Ber, Ok(3)),
        // X.690 annex: personnel record, its name only
        ("60 12 61 10 1A 04 4A6F686E 1A 01 50 1A 05 536D697468", Der, Ok(5)),
        ("30 03 02 02 05 00", Ber, Err((K::BeyondParent, 5))),
        ("30 05 30 80 05 00 00 00", Ber, Err((K::BeyondParent, 7))),
        ("30 04 30 80 05 00 00 00", Ber, Err((K::EndOfContentsMissing, 6))),
        ("30 80 05 00", Ber, Err((K::Incomplete, 4))),
        ("30 80 05 00 00", Ber, Err((K::Incomplete, 5))),
        ("30 80 00 01 00", Ber, Err((K::EndOfContentsMalformed, 2))),
        ("30 02 00 00", Ber, Err((K::EndOfContentsUnexpected, 2))),
        ("30 80 00 00 00 00", Ber, Err((K::EndOfContentsUnexpected, 4))),
        ("30 80 30 00 00 00", Cer, Err((K::DefiniteForbidden, 3))),
        ("30 01 05", Ber, Err((K::BeyondParent, 3))),
    ] {
        let input = hex(input);
        let got = walk_all(&input, rules).map_err(|e| (e.kind(), e.at()));
        assert_eq!(got, want, "{input:02x?} {rules:?}");
    }
    let mut reader = Reader::new(&[0x30, 0x02, 0x05, 0x00], Ber);
    let h = reader.read_header().unwrap();
    assert_eq!(reader.clone().contents(&h).unwrap_err().kind(), K::PrimitiveExpected);
    let frame = reader.enter(&h).unwrap();
    assert_eq!(reader.clone().leave(frame).unwrap_err().kind(), K::UnexpectedElement);
    reader.leave_skipping(frame).unwrap();
    reader.finish().unwrap();
}

#[test]
fn levels_tell_what_is_next_and_how_deep_it_may_go() {
    let input = hex("30 80 02 01 05 00 00");
    let mut reader = Reader::new(&input, Ber);
    let depth = reader.depth_left();
    let h = reader.read_header().unwrap();
    let frame = reader.enter(&h).unwrap();
    assert_eq!(reader.depth_left(), depth - 1);
    assert!(depth > 2);
    assert_eq!(reader.peek_tag(), Ok(Some(Tag::universal(2))));
    assert!(!reader.is_at_end());
    let h = reader.read_header().unwrap();
    reader.contents(&h).unwrap();
    // An end is no tag, and it is not known to be one before it is looked at.
    assert_eq!((reader.peek_tag(), reader.has_more(), reader.is_at_end()), (Ok(None), Ok(false), false));
    reader.leave(frame).unwrap();
    assert_eq!((reader.peek_tag(), reader.has_more(), reader.is_at_end()), (Ok(None), Ok(false), true));
    assert!(!Reader::new(&input, Ber).is_at_end(), "of a definite level, before what is in it");
    let open = hex("30 80");
    let mut reader = Reader::new(&open, Ber);
    let h = reader.read_header().unwrap();
    let _level = reader.enter(&h).unwrap();
    assert!(!reader.is_at_end(), "of an indefinite level, before its end-of-contents octets");
    for end in ["00 00", "20 00"] {
        let input = hex(end);
        assert!(Reader::new(&input, Ber).peek_tag().is_err(), "{end}");
    }
}

#[test]
fn elements_are_stepped_over() {
    let input = hex("30 80 24 80 04 01 41 00 00 00 00 05 00");
    for checked in [false, true] {
        let mut reader = Reader::new(&input, Ber);
        let h = reader.read_header().unwrap();
        let element = if checked { reader.skip_checked(&h) } else { reader.element(&h) };
        assert_eq!(element.unwrap().len(), 11);
        assert_eq!(reader.offset(), 11);
    }
    let mut reader = Reader::new(&input, Ber);
    let h = reader.read_header().unwrap();
    assert_eq!(reader.any_contents(&h).unwrap(), hex("24 80 04 01 41 00 00"));
    // DER: an element that nobody decodes still has to be DER.
    let input = hex("30 04 24 80 00 00");
    let mut reader = Reader::new(&input, Der);
    let h = reader.read_header().unwrap();
    assert_eq!(reader.skip_checked(&h).unwrap_err().kind(), K::IndefiniteForbidden);
    assert_eq!(find_end(&hex("05 00 00"), 10, Ber, 64), Err(Error::incomplete(13, 1)));
    assert_eq!(find_end(&hex("30 80 00 00 00 00"), 0, Ber, 0).unwrap_err().kind(), K::DepthLimit);
}

#[test]
fn bombs_are_linear() {
    for bomb in [[0x30_u8, 0x80].repeat(100_000), [0x24, 0x80].repeat(100_000), [0xA0, 0x80].repeat(100_000)]
    {
        let error = walk_all(&bomb, Ber).unwrap_err();
        assert_eq!((error.kind(), error.at()), (K::DepthLimit, 128));
        let mut reader = Reader::new(&bomb, Ber);
        let h = reader.read_header().unwrap();
        assert_eq!(reader.skip(&h).unwrap_err().kind(), K::DepthLimit);
        assert_eq!(reader.skip_checked(&h).unwrap_err().kind(), K::DepthLimit);
        let deep = find_end(&bomb[2..], 0, Ber, u16::MAX).unwrap_err();
        assert_eq!(deep.kind(), K::DepthLimit);
    }
    let mut reader = Reader::new(&[0x24, 0x80], Ber);
    let h = reader.read_header().unwrap();
    assert_eq!(reader.octet_string(&h).unwrap_err().kind(), K::Incomplete);

    // 100,000 segments, empty ones and of one octet
    for segment in [&[0x04, 0x00][..], &[0x04, 0x01, 0x41]] {
        let input = [&[0x24, 0x80][..], &segment.repeat(100_000), &[0, 0]].concat();
        let mut reader = Reader::new(&input, Ber);
        let h = reader.read_header().unwrap();
        assert_eq!(reader.octet_string(&h).unwrap().len(), 100_000 * (segment.len() - 2));
        reader.finish().unwrap();
    }
}

#[test]
fn set_order_10_3_and_11_6() {
    let mut writer = Writer::new(Der);
    let set = writer.open();
    writer.push(&hex("02 01 03 02 01 01 04 01 00 04 00 02 01 02"));
    writer.sort_set_of(set).unwrap();
    writer.close(Tag::SET, set);
    assert_eq!(writer.finish(), hex("31 0E 02 01 01 02 01 02 02 01 03 04 00 04 01 00"));
    for rules in [Der, Cer, Ber] {
        let mut writer = Writer::new(rules);
        let set = writer.open();
        writer.push(&hex("9F 1F 00 81 00 05 00 C0 00 40 00"));
        writer.sort_set(set).unwrap();
        let sorted = if rules == Ber {
            "9F 1F 00 81 00 05 00 C0 00 40 00"
        } else {
            "05 00 40 00 81 00 9F 1F 00 C0 00"
        };
        assert_eq!(&writer.finish()[..11], hex(sorted));
        writer.close(Tag::SET, set);
        assert!(walk_all(writer.finish(), rules).is_ok());
    }
    let mut writer = Writer::new(Der);
    let mark = writer.mark();
    writer.push(&[0x04, 0x05]);
    assert!(writer.sort_set_of(mark).is_err());
    writer.rewind(mark);
    assert!(writer.is_empty());
    assert!(check_set_of_order(&[4, 0], &[4, 0], 0).is_ok());
    assert_eq!(check_set_of_order(&[4, 1, 0], &[4, 0], 5), Err(Error::new(K::SetOfOrder, 5)));
}

#[test]
fn writer_headers() {
    for (tag, length) in [
        (Tag::SEQUENCE, 0),
        (Tag::context(30), 127),
        (Tag::context(31), 128),
        (Tag::application(127), 255),
        (Tag::private(128), 256),
        (Tag::context(16_383), 65_535),
        (Tag::context(16_384), 65_536),
        (Tag::context(Tag::MAX_NUMBER), 3),
    ] {
        let contents = alloc::vec![0x55; length];
        let mut writer = Writer::with_capacity(Der, 16);
        let mark = writer.mark();
        writer.push(&contents);
        writer.primitive(tag, mark);
        let mut reader = Reader::new(writer.finish(), Der);
        let h = reader.read_header().unwrap();
        assert_eq!((h.tag, h.length, h.constructed), (tag, length, false));
        assert_eq!(reader.contents(&h).unwrap(), contents);
        reader.finish().unwrap();
        writer.clear();
        assert!(writer.finish().is_empty());
    }
}

/// Decodes contents with every reader; a DER value is written again and has to come out the same.
fn exercise(contents: &[u8]) {
    fn check(contents: &[u8], what: &str, write: impl FnOnce(&mut Writer)) {
        let mut writer = Writer::new(Der);
        write(&mut writer);
        assert_eq!(writer.finish(), contents, "{what}");
    }
    for rules in [Ber, Cer] {
        let _ = decode_boolean(contents, 0, rules);
        let _ = decode_integer(contents, 0, rules);
        let _ = decode_i64(contents, 0, rules);
        let _ = decode_u128(contents, 0, rules);
        let _ = decode_bit_string(contents, 0, rules).map(|b| (b.trimmed(0).len(), b.iter().count()));
        let _ = decode_real(contents, 0, rules).map(|r| r.to_f64());
        let _ = decode_utc_time(contents, 0, rules);
        let _ = decode_generalized_time(contents, 0, rules);
    }
    if let Ok(v) = decode_boolean(contents, 0, Der) {
        check(contents, "BOOLEAN", |w| w.push_boolean(v));
    }
    if let Ok(v) = decode_i64(contents, 0, Der) {
        check(contents, "INTEGER", |w| w.push_i64(v));
        assert_eq!(decode_i128(contents, 0, Der), Ok(i128::from(v)));
    }
    if let Ok(v) = decode_bit_string(contents, 0, Der) {
        check(contents, "BIT STRING", |w| w.push_bits(v));
    }
    if let Ok(v) = decode_real(contents, 0, Der) {
        check(contents, "REAL", |w| w.push_real(&v));
        if let Real::Binary(_) = v
            && v.to_f64().is_finite()
            && v.to_f64() != 0.0
            && contents.len() < 6
        {
            check(contents, "REAL", |w| w.push_f64(v.to_f64()));
        }
    }
    if let Ok(v) = decode_oid(contents, 0) {
        let text = v.to_string();
        check(contents, "OBJECT IDENTIFIER", |w| w.push(text.parse::<Oid>().unwrap().as_bytes()));
    }
    if let Ok(v) = decode_relative_oid(contents, 0) {
        let text = v.to_string();
        check(contents, "RELATIVE-OID", |w| {
            w.push(text.parse::<crate::types::RelativeOid>().unwrap().as_bytes())
        });
    }
    for kind in StringKind::ALL {
        if let Ok(text) = decode_text(*kind, contents, 0) {
            check(contents, "string", |w| w.push(&crate::text::from_utf8(*kind, &text).unwrap()));
        }
    }
    for kind in [TimeType::Time, TimeType::Date, TimeType::TimeOfDay, TimeType::DateTime, TimeType::Duration]
    {
        if let Ok(text) = decode_time(kind, contents, 0, Der) {
            check(contents, "TIME", |w| w.push(&kind.encode(&text, Der).unwrap()));
        }
    }
}

/// Every way through the headers; the offset of an error is inside the input.
fn exercise_elements(input: &[u8]) {
    for rules in [Ber, Der, Cer] {
        if let Err(error) = walk_all(input, rules) {
            assert!(error.at() <= input.len() as u64, "{input:02x?} {error}");
        }
        for line in crate::dump::Dump::with_limits(input, 0, rules, &Limits::DEFAULT).flatten() {
            line.guesses().for_each(drop);
        }
        for element in Walk::with_limits(input, 0, rules, &Limits::DEFAULT) {
            let Ok((_, h, octets)) = element else { break };
            let mut reader = Reader::new(octets, rules);
            assert_eq!(reader.read_header(), Ok(h));
            let _ = reader.clone().octet_string(&h);
            let _ = reader.clone().bit_string(&h);
            let checked = reader.skip_checked(&h);
            assert!(checked.is_err() || checked == Ok(octets));
        }
    }
}

#[test]
fn all_short_inputs() {
    exercise(&[]);
    for a in 0..=255 {
        exercise(&[a]);
        exercise_elements(&[a]);
        for b in 0..=255 {
            exercise(&[a, b]);
            exercise_elements(&[a, b]);
        }
    }
}

#[test]
fn random_inputs() {
    let mut state = 7_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    // Octets that mean something in a header or a time more often than others.
    const LIKELY: &[u8] = &[
        0x00, 0x01, 0x02, 0x03, 0x04, 0x23, 0x24, 0x30, 0x80, 0x81, 0x1F, 0xFF, b'1', b'2', b'Z', b'P', b'-',
        b':',
    ];
    for _ in 0..60_000 {
        let length = usize::try_from(next() % 14).unwrap();
        let input: Vec<u8> = (0..length)
            .map(|_| {
                let [a, b, ..] = next().to_le_bytes();
                if a < 200 { LIKELY[usize::from(b) % LIKELY.len()] } else { b }
            })
            .collect();
        exercise(&input);
        exercise_elements(&input);
    }
}

#[test]
fn long_tags_are_compared_as_they_are_read() {
    let tags = [0, 30, 31, 127, 128, 129, 255, 256, 430, 16383, 16384, 16385].map(Tag::application);
    for tag in tags {
        let mut writer = Writer::new(Der);
        let end = writer.mark();
        writer.push(b"ab");
        writer.primitive(tag, end);
        let reader = Reader::new(writer.finish(), Der);
        assert_eq!(reader.peek_tag(), Ok(Some(tag)));
        for other in tags {
            assert_eq!(reader.is_next(other), other == tag, "{other} {tag}");
            let short = reader.clone().short_primitive(other, Some);
            let expected = other == tag && tag.number() < 0x4000;
            assert_eq!(short, expected.then_some(&b"ab"[..]), "{other} {tag}");
        }
        for length in 0..writer.finish().len() - 3 {
            assert!(Reader::new(&writer.finish()[..length], Der).read_expected(tag).is_err());
        }
    }
}

#[test]
fn octets_of_a_fixed_size_are_octets() {
    fn check<const N: usize>() {
        let contents = core::array::from_fn::<u8, N, _>(|at| at.to_le_bytes()[0]);
        for tag in [0, 30, 31, 128, 16384].map(Tag::context) {
            for rules in [Ber, Der, Cer] {
                for room in [0, 1, N, N + 2, 31, 32, 33, 3000] {
                    let mut writer = Writer::with_capacity(rules, room);
                    writer.fixed_octets(tag, &contents);
                    let mut other = Writer::new(rules);
                    other.octet_string(tag, &contents);
                    assert_eq!(writer.finish(), other.finish(), "{tag} {N} {room}");
                }
            }
        }
    }
    check::<0>();
    check::<1>();
    check::<3>();
    check::<16>();
    check::<17>();
    check::<200>();
    check::<1001>();
}

#[test]
fn elements_have_the_headers_of_their_tags_and_lengths() {
    let tags = [0, 30, 31, 127, 128, 16383, 16384].map(Tag::context);
    for tag in tags {
        for length in (0..20).chain([124, 125, 126, 127, 128, 255, 256, 300]) {
            let contents: Vec<u8> = (1..=255).cycle().take(length).collect();
            let mut writer = Writer::new(Der);
            writer.octet_string(tag, &contents);
            // With room in front, short elements are written in another way.
            let mut roomy = Writer::with_capacity(Der, 1000);
            roomy.octet_string(tag, &contents);
            assert_eq!(roomy.finish(), writer.finish(), "{tag} {length}");
            let within = writer.finish().to_vec();
            let mut reader = Reader::new(&within, Der);
            let header = reader.peek_header().unwrap().unwrap();
            assert_eq!((header.tag, header.constructed, header.length), (tag, false, length));
            assert_eq!(usize::from(header.size) + length, within.len(), "{tag} {length}");
            assert_eq!(reader.position(), 0);
            assert_eq!(reader.read_header(), Ok(header));
            assert_eq!(&within[usize::from(header.size)..], contents);

            let mark = writer.open();
            writer.push(&within[..]);
            writer.close(tag, mark);
            let mark = roomy.mark();
            roomy.push(&within[..]);
            roomy.close(tag, mark);
            assert_eq!(roomy.finish(), writer.finish(), "{tag} {length}");
            let around = &writer.finish()[..writer.finish().len() - within.len()];
            let header = Reader::new(around, Der).peek_header().unwrap().unwrap();
            assert_eq!((header.tag, header.constructed, header.length), (tag, true, within.len()));
            assert_eq!(usize::from(header.size) + within.len(), around.len(), "{tag} {length}");
        }
    }
    assert_eq!(Reader::new(&[], Der).peek_header(), Ok(None));
}

#[test]
fn integers_are_the_same_with_room_and_without() {
    for bits in 0..64 {
        for value in
            [-2, -1, 0, 1].map(|more| (1_i64 << bits).wrapping_add(more)).into_iter().flat_map(|v| [v, !v])
        {
            let mut writer = Writer::new(Der);
            writer.push_i64(value);
            let contents = writer.finish().to_vec();
            let mut roomy = Writer::with_capacity(Der, 100);
            roomy.integer(Tag::context(200), value);
            let length = u8::try_from(contents.len()).unwrap();
            assert_eq!(roomy.finish(), [&[0x9F, 0x81, 0x48, length][..], &contents[..]].concat(), "{value}");
        }
    }
}

#[test]
fn numbers_without_a_sign_are_positive() {
    for bits in 0..=128 {
        let value = 1_u128.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        let mut writer = Writer::new(Der);
        writer.push_u128(value);
        let written = writer.finish();
        assert_eq!(written.len(), (bits / 8 + 1) as usize, "{bits}");
        assert_eq!(written.iter().fold(0, |number: u128, octet| number << 8 | u128::from(*octet)), value);
        assert_eq!(written[0] & 0x80, 0);
    }
}

#[test]
fn a_writer_that_keeps_nothing_counts() {
    let mut writer = Writer::counting(Der);
    writer.push(&[1, 2, 3]);
    writer.push_octet(4);
    let mark = writer.mark();
    writer.push_length(300);
    assert_eq!((writer.len(), writer.since(mark)), (7, 3));
    writer.rewind(mark);
    assert_eq!(writer.len(), 4);
}

#[test]
fn strings_are_split_by_their_own_length_9_2() {
    // What is in the buffer already is no part of the string.
    let mut out = alloc::vec![0; 2000];
    let short = hex("24 80 04 02 41 42 00 00");
    let mut reader = Reader::new(&short, Cer);
    let h = reader.read_header().unwrap();
    assert!(reader.octet_string_into(&h, &mut out).is_err());

    // The last piece too has 1 octet at least, and 1000 at most.
    for (last, header) in [(0, "04 00"), (1, "04 01"), (1000, "04 82 03 E8"), (1001, "04 82 03 E9")] {
        let mut octets = hex("24 80 04 82 03 E8");
        octets.resize(octets.len() + 1000, 0x41);
        octets.extend(hex(header));
        octets.resize(octets.len() + last, 0x41);
        octets.extend([0, 0]);
        let mut reader = Reader::new(&octets, Cer);
        let h = reader.read_header().unwrap();
        let read = reader.octet_string(&h).map(|contents| contents.len()).map_err(|f| (f.kind(), f.at()));
        let is_legal = (1..=1000).contains(&last);
        assert_eq!(read, if is_legal { Ok(1000 + last) } else { Err((K::SegmentSize, 1006)) });
    }

    let contents = alloc::vec![0x41; 1001];
    let mut writer = Writer::new(Cer);
    writer.octet_string(Tag::OCTET_STRING, &contents);
    let long = writer.finish().to_vec();
    let mut reader = Reader::new(&long, Cer);
    let h = reader.read_header().unwrap();
    let mut out = b"before".to_vec();
    assert_eq!(reader.octet_string_into(&h, &mut out), Ok(()));
    assert_eq!(out, [&b"before"[..], &contents].concat());
}

#[test]
fn lists_have_room_for_their_elements_whatever_their_tags_are() {
    let room = |octets: &str| Reader::new(&hex(octets), Ber).elements(100);
    assert_eq!(room(""), 0);
    assert_eq!(room("0500 0500 0500"), 3);
    assert_eq!(room("3F1F00 1F7F0101 0500"), 3);
    assert_eq!(room("5F810100 7F814103050000 5F81020101"), 3);
    let long = format!("30 8180 {} 0500", "00".repeat(128));
    assert_eq!(room(&long), 2);
    // One for all that is behind what is not looked through, and no more than are wanted.
    assert_eq!(room("0500 3080 0000 0500"), 2);
    assert_eq!(room("0500 1F81810100 0500"), 2);
    assert_eq!(Reader::new(&hex("0500 0500 0500"), Ber).elements(2), 2);
}
