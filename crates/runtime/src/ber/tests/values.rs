//! Contents octets of each type, clause by clause.

use super::*;

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
        ("1e-1152921504606846976", b"\x031.E-1152921504606846976"),
    ] {
        let mut writer = Writer::new(Der);
        writer.push_decimal_text(text).unwrap();
        assert_eq!(writer.finish(), want, "{text}");
    }
    for text in [
        "",
        "-",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "0x1",
        "NaN",
        "1e1152921504606846977",
        "1e99999999999999999999",
        "1 ",
    ] {
        assert!(Writer::new(Der).push_decimal_text(text).is_err(), "{text}");
    }
}
