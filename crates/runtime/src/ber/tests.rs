//! Cases by clause of X.690: bytes in, value or kind of error and offset out, and the way back.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::time::Instant;

use super::*;
use crate::text::StringKind;
use crate::types::{BitStr, Oid, Real, TimeType};
use crate::{Error, ErrorKind, Limits, Result, Tag};

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
        ("30 03 02 02 05 00", Ber, Err((K::BeyondParent, 3))),
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
    let start = Instant::now();
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
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn boolean_8_2_and_null_8_8() {
    assert_eq!(decode_boolean(&[0x00], 0, Der), Ok(false));
    assert_eq!(decode_boolean(&[0x01], 0, Ber), Ok(true));
    for (octets, rules, kind) in [
        (&[][..], Ber, K::BooleanLength),
        (&[0, 0], Ber, K::BooleanLength),
        (&[1], Cer, K::BooleanNotCanonical),
    ] {
        assert_eq!(decode_boolean(octets, 9, rules), Err(Error::new(kind, 9)));
    }
    assert_eq!(decode_null(&[], 0), Ok(()));
    assert_eq!(decode_null(&[0], 0), Err(Error::new(K::NullNotEmpty, 0)));
}

#[test]
fn integer_8_3() {
    for (octets, value) in [
        ("00", 0_i128),
        ("7F", 127),
        ("0080", 128),
        ("0100", 256),
        ("80", -128),
        ("FF7F", -129),
        ("7FFFFFFFFFFFFFFF", i128::from(i64::MAX)),
        ("8000000000000000", i128::from(i64::MIN)),
        ("00FFFFFFFFFFFFFFFF", i128::from(u64::MAX)),
        ("010000000000000000", 1 << 64),
        ("7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", i128::MAX),
        ("80000000000000000000000000000000", i128::MIN),
    ] {
        let octets = hex(octets);
        assert_eq!(decode_i128(&octets, 0, Der), Ok(value));
        let range = |ok: bool| if ok { Ok(()) } else { Err(Error::new(K::IntegerRange, 0)) };
        assert_eq!(decode_i64(&octets, 0, Der).map(drop), range(i64::try_from(value).is_ok()), "{value}");
        assert_eq!(decode_u64(&octets, 0, Der).map(drop), range(u64::try_from(value).is_ok()), "{value}");
        assert_eq!(decode_u128(&octets, 0, Der).map(drop), range(value >= 0));
        let mut writer = Writer::new(Der);
        writer.push_i128(value);
        assert_eq!(writer.finish(), octets);
        // Superfluous octets: removed in BER, an error in the others.
        let sign = if value < 0 { 0xFF } else { 0x00 };
        let padded = [&[sign; 5][..], &octets].concat();
        assert_eq!(decode_i128(&padded, 0, Ber), Ok(value));
        assert_eq!(decode_integer(&padded, 0, Ber), Ok(&octets[..]));
        assert_eq!(decode_i128(&padded, 0, Der), Err(Error::new(K::IntegerNotMinimal, 0)));
    }
    assert_eq!(decode_i64(&[], 4, Ber), Err(Error::new(K::IntegerEmpty, 4)));
    assert_eq!(decode_u128(&[&[0][..], &[0xFF; 16]].concat(), 0, Der), Ok(u128::MAX));
    assert_eq!(decode_u128(&[1; 17], 0, Der), Err(Error::new(K::IntegerRange, 0)));
    let mut writer = Writer::new(Der);
    writer.push_u128(u128::MAX);
    assert_eq!(writer.finish(), [&[0][..], &[0xFF; 16]].concat());
    let large = [0x01; 1_000_000];
    assert_eq!(decode_integer(&large, 0, Der), Ok(&large[..]));
    assert_eq!(decode_integer(&[0; 1_000_000], 0, Ber), Ok(&[0][..]));
}

#[test]
fn bit_strings_8_6() {
    let whole = BitStr::new(&[0x0A, 0x3B, 0x5F, 0x29, 0x1C, 0xD0], 4).unwrap();
    for (input, rules) in [
        ("03 07 04 0A3B5F291CD0", Der),
        ("03 07 04 0A3B5F291CD0", Cer),
        // 8.6.4.2's constructed form of the same value
        ("23 80 03 03 00 0A3B 03 05 04 5F291CD0 00 00", Ber),
        ("23 0E 23 80 03 03 00 0A3B 00 00 03 05 04 5F291CDF", Ber),
    ] {
        let input = hex(input);
        let mut reader = Reader::new(&input, rules);
        let h = reader.read_header().unwrap();
        let got = reader.bit_string(&h);
        if input[1] == 0x0E {
            assert_eq!(got.unwrap_err().kind(), K::BeyondParent);
            continue;
        }
        assert_eq!(got.unwrap().as_bits(), whole);
        reader.finish().unwrap();
    }
    for (input, rules, kind, at) in [
        ("03 00", Ber, K::BitStringEmpty, 2),
        ("03 02 08 00", Ber, K::BitStringUnused, 2),
        ("03 01 01", Ber, K::BitStringUnusedEmpty, 2),
        ("03 02 04 01", Der, K::BitStringPadding, 3),
        ("23 80 03 02 01 00 03 02 00 00 00 00", Ber, K::BitStringSegment, 8),
        ("23 80 04 01 00 00 00", Ber, K::SegmentTag, 2),
        ("23 03 03 01 00", Der, K::ConstructedString, 2),
    ] {
        let input = hex(input);
        let mut reader = Reader::new(&input, rules);
        let h = reader.read_header().unwrap();
        let error = reader.bit_string(&h).unwrap_err();
        assert_eq!((error.kind(), error.at()), (kind, at), "{input:02x?}");
    }
    let mut reader = Reader::new(&[0x23, 0x00], Ber);
    let h = reader.read_header().unwrap();
    assert!(reader.bit_string(&h).unwrap().as_bits().is_empty());
    let named = BitStr::new(&[0x40], 6).unwrap();
    assert!(check_named_bits(named, 0, 0).is_ok());
    assert!(check_named_bits(BitStr::new(&[0x40], 5).unwrap(), 0, 0).is_err());
    let mut writer = Writer::new(Der);
    writer.bit_string(Tag::BIT_STRING, BitStr::new(&[0x40, 0x00], 0).unwrap().trimmed(0));
    assert_eq!(writer.finish(), hex("03 02 06 40"));
}

#[test]
fn octet_and_character_strings_8_7_8_23() {
    for (input, rules, want) in [
        ("1A 05 4A6F6E6573", Der, Ok("Jones")),
        ("3A 09 04 03 4A6F6E 04 02 6573", Ber, Ok("Jones")),
        ("3A 80 04 03 4A6F6E 04 02 6573 00 00", Ber, Ok("Jones")),
        ("3A 80 24 80 04 01 4A 24 00 00 00 24 06 04 04 6F6E6573 00 00", Ber, Ok("Jones")),
        ("3A 00", Ber, Ok("")),
        ("3A 80 00 00", Ber, Ok("")),
        ("3A 05 1A 03 4A6F6E", Ber, Ok("Jon")),
        ("3A 05 16 03 4A6F6E", Ber, Err((K::SegmentTag, 2))),
        ("3A 80 1A 03 4A6F6E 00 00", Cer, Err((K::SegmentTag, 2))),
        ("3A 05 04 03 4A6F6E", Der, Err((K::ConstructedString, 2))),
        ("3A 80 04 03 4A6F6E 00 00", Cer, Err((K::SegmentSize, 9))),
        ("3A 80 04 03 4A6F6E", Ber, Err((K::Incomplete, 7))),
        ("3A 04 04 03 4A6F6E", Ber, Err((K::BeyondParent, 3))),
    ] {
        let input = hex(input);
        let mut reader = Reader::new(&input, rules);
        let got = reader.read_header().and_then(|h| {
            let mut copy = Vec::new();
            let form = StringForm::Text(Tag::VISIBLE_STRING);
            reader.clone().string_into(&h, form, &mut copy)?;
            let octets = reader.string(&h, form)?;
            assert_eq!(reader.finish(), Ok(()));
            assert_eq!(*octets, *copy);
            decode_text(StringKind::Visible, &octets, 0).map(|t| t.to_string())
        });
        match want {
            Ok(text) => assert_eq!(got.as_deref(), Ok(text), "{input:02x?}"),
            Err((K::BeyondParent, _)) => assert!(got.is_err()),
            Err(want) => assert_eq!(got.map_err(|e| (e.kind(), e.at())), Err(want), "{input:02x?}"),
        }
    }
}

#[test]
fn cer_segments_9_2() {
    for length in [0, 1, 999, 1000, 1001, 1998, 2000, 2001] {
        let octets: Vec<u8> = (0..length).map(|i| u8::try_from(i % 251).unwrap()).collect();
        let mut writer = Writer::new(Cer);
        writer.octet_string(Tag::UTF8_STRING, &octets);
        let mut reader = Reader::new(writer.finish(), Cer);
        let h = reader.read_expected(Tag::UTF8_STRING).unwrap();
        assert_eq!(h.constructed, length > 1000);
        assert_eq!(*reader.octet_string(&h).unwrap(), octets);
        reader.finish().unwrap();

        let bits = BitStr::new(&octets, if length > 0 { 3 } else { 0 }).unwrap();
        let mut writer = Writer::new(Cer);
        writer.bit_string(Tag::BIT_STRING, bits);
        let mut reader = Reader::new(writer.finish(), Cer);
        let h = reader.read_expected(Tag::BIT_STRING).unwrap();
        assert_eq!(h.constructed, length > 999);
        assert_eq!(reader.bit_string(&h).unwrap().as_bits(), bits);
        reader.finish().unwrap();
    }
    let piece = |n: usize| {
        let mut writer = Writer::new(Der);
        writer.octet_string(Tag::OCTET_STRING, &alloc::vec![0x41; n]);
        writer.into_vec()
    };
    for (pieces, accepted) in [
        (&[1000, 1][..], true),
        (&[1000, 1000], true),
        (&[1000], false),
        (&[1, 1000], false),
        (&[999, 2], false),
        (&[1001, 1], false),
        (&[1000, 0], false),
        (&[], false),
    ] {
        let inner: Vec<u8> = pieces.iter().flat_map(|n| piece(*n)).collect();
        let input = [&[0x24, 0x80][..], &inner, &[0, 0]].concat();
        let mut reader = Reader::new(&input, Cer);
        let h = reader.read_header().unwrap();
        assert_eq!(reader.octet_string(&h).is_ok(), accepted, "{pieces:?}");
    }
    let whole = piece(1001);
    let mut reader = Reader::new(&whole, Cer);
    let h = reader.read_header().unwrap();
    assert_eq!(reader.octet_string(&h).unwrap_err().kind(), K::SegmentSize);
}

#[test]
fn real_8_5() {
    for (octets, value, canonical) in [
        ("", 0.0, true),
        ("40", f64::INFINITY, true),
        ("41", f64::NEG_INFINITY, true),
        ("43", -0.0, true),
        ("80 00 01", 1.0, true),
        ("C0 00 01", -1.0, true),
        ("80 FF 01", 0.5, true),
        ("80 01 05", 10.0, true),
        ("80 0A 9502F9", 1e10, true),
        ("80 D0 03243F6A8885A3", core::f64::consts::PI, true),
        ("81 FBCE 01", 5e-324, true),
        ("81 03FF 01", 2f64.powi(1023), true),
        ("80 00 0A", 10.0, false),
        ("80 00 0001", 1.0, false),
        ("81 0000 01", 1.0, false),
        ("83 01 00 01", 1.0, false),
        ("83 04 01000000 01", f64::INFINITY, true),
        ("84 00 01", 2.0, false),
        ("8C 00 01", 8.0, false),
        ("90 01 01", 8.0, false),
        ("A0 01 01", 16.0, false),
        ("AC FF 01", 0.5, false),
        ("DC 00 03", -24.0, false),
        ("82 000001 01", 2.0, false),
        ("01 20202B33", 3.0, false),
        ("01 2D37", -7.0, false),
        ("02 322E3735", 2.75, false),
        ("02 322C3735", 2.75, false),
        ("02 2E35", 0.5, false),
        ("03 31352E452D31", 1.5, true),
        ("03 2D312E452B30", -1.0, true),
        ("03 312E45333038", 1e308, true),
        ("03 312E354533", 1.5e3, false),
        ("03 312E45303031", 10.0, false),
        ("03 31302E4530", 10.0, false),
        ("03 312E4530", 1.0, false),
        ("03 2B312E452B30", 1.0, false),
        ("03 312E652B30", 1.0, false),
    ] {
        let octets = hex(octets);
        let real = decode_real(&octets, 0, Ber).unwrap_or_else(|e| panic!("{octets:02x?}: {e}"));
        assert_eq!(real.to_f64().to_bits(), value.to_bits(), "{octets:02x?} {real:?}");
        for rules in [Der, Cer] {
            assert_eq!(decode_real(&octets, 0, rules).is_ok(), canonical, "{octets:02x?}");
        }
        // Written again it is canonical, and the same value.
        let mut writer = Writer::new(Der);
        writer.push_real(&real);
        let again = decode_real(writer.finish(), 0, Der).unwrap();
        assert_eq!(again.to_f64().to_bits(), value.to_bits());
        assert_eq!(writer.finish() == octets, canonical, "{octets:02x?} {:02x?}", writer.finish());
    }
    assert!(decode_real(&[0x42], 0, Der).unwrap().to_f64().is_nan());
    for (octets, kind) in [
        ("44", K::RealEncoding),
        ("00", K::RealEncoding),
        ("04 31", K::RealEncoding),
        ("40 00", K::RealEncoding),
        ("80", K::RealEncoding),
        ("80 00", K::RealEncoding),
        ("83 00 01", K::RealEncoding),
        ("83 05 00", K::RealEncoding),
        ("83 02 0000 01", K::RealEncoding),
        ("B0 00 01", K::RealEncoding),
        ("80 00 00", K::RealZero),
        ("83 09 010000000000000000 01", K::LimitExceeded),
        ("01", K::RealDecimal),
        ("01 2D", K::RealDecimal),
        ("01 31 2E", K::RealDecimal),
        ("02 31", K::RealDecimal),
        ("03 31 2E", K::RealDecimal),
        ("03 31 2E 45", K::RealDecimal),
        ("03 31 2E 45 2E", K::RealDecimal),
        ("02 31 2E 2E", K::RealDecimal),
        ("01 30", K::RealZero),
        ("01 FF", K::RealDecimal),
    ] {
        assert_eq!(decode_real(&hex(octets), 3, Ber), Err(Error::new(kind, 3)), "{octets}");
    }
}

#[test]
fn real_11_3_from_numbers() {
    let mut state = 1_u64;
    for i in 0..20_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = if i % 2 == 0 { f64::from_bits(state) } else { (state >> 40) as f64 / 256.0 };
        if value.is_nan() {
            continue;
        }
        let mut writer = Writer::new(Der);
        writer.push_f64(value);
        assert_eq!(
            decode_real(writer.finish(), 0, Der).unwrap().to_f64().to_bits(),
            value.to_bits(),
            "{value:e}"
        );
        let mut writer = Writer::new(Der);
        writer
            .push_decimal_text(&format!("{value:e}"))
            .or_else(|e| if value.is_infinite() { Ok(()) } else { Err(e) })
            .unwrap();
        if value.is_finite() {
            assert_eq!(decode_real(writer.finish(), 0, Der).unwrap().to_f64().to_bits(), value.to_bits());
        }
    }
    for (text, want) in [
        ("0", &b""[..]),
        ("-0.0", b"\x43"),
        ("1", b"\x031.E+0"),
        ("-3.140e5", b"\x03-314.E3"),
        ("0.00015", b"\x0315.E-5"),
        ("1e-9223372036854775808", b"\x031.E-9223372036854775808"),
    ] {
        let mut writer = Writer::new(Der);
        writer.push_decimal_text(text).unwrap();
        assert_eq!(writer.finish(), want, "{text}");
    }
    for text in ["", "-", "e5", "1e", "1e+", "1.2.3", "0x1", "NaN", "1e99999999999999999999", "1 "] {
        assert!(Writer::new(Der).push_decimal_text(text).is_err(), "{text}");
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
