//! The fields of X.696 at their boundaries, both ways.

use super::{Reader, Writer};
use crate::{Class, ErrorKind, Tag};
use alloc::vec::Vec;

fn written(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.finish().to_vec()
}

#[test]
fn lengths() {
    for (length, octets) in [
        (0, &[0][..]),
        (127, &[127]),
        (128, &[0x81, 0x80]),
        (255, &[0x81, 0xFF]),
        (256, &[0x82, 1, 0]),
        (1 << 24, &[0x84, 1, 0, 0, 0]),
    ] {
        assert_eq!(written(|w| w.push_length(length)), octets);
        assert_eq!(Reader::new(octets).length(), Ok(length));
    }
    // BASIC-OER does not ask for the fewest octets.
    assert_eq!(Reader::new(&[0x81, 5]).length(), Ok(5));
    assert_eq!(Reader::new(&[0x89, 0, 0, 0, 0, 0, 0, 0, 0, 5]).length(), Ok(5));
    for (octets, kind) in [
        (&[][..], ErrorKind::Incomplete),
        (&[0x80, 0], ErrorKind::LengthEmpty),
        (&[0x82, 1], ErrorKind::Incomplete),
        (&[0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], ErrorKind::LengthTooLarge),
    ] {
        assert_eq!(Reader::new(octets).length().map_err(|e| e.kind()), Err(kind), "{octets:02x?}");
    }
}

#[test]
fn tags() {
    for (class, number, octets) in [
        (Class::Universal, 1, &[0x01][..]),
        (Class::Application, 62, &[0x7E]),
        (Class::Context, 63, &[0xBF, 0x3F]),
        (Class::Private, 128, &[0xFF, 0x81, 0x00]),
        (Class::Context, Tag::MAX_NUMBER, &[0xBF, 0x81, 0xFF, 0xFF, 0xFF, 0x7F]),
    ] {
        let tag = Tag::new(class, number).unwrap();
        assert_eq!(written(|w| w.push_tag(tag)), octets);
        assert_eq!(Reader::new(octets).tag(), Ok(tag));
    }
    for (octets, kind) in [
        (&[0xBF, 0x3E][..], ErrorKind::TagForm),
        (&[0xBF, 0x80, 0x7F], ErrorKind::TagForm),
        (&[0xBF, 0x82, 0x80, 0x80, 0x80, 0x00], ErrorKind::TagTooLarge),
        (&[0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], ErrorKind::TagTooLarge),
        (&[0xBF, 0x81], ErrorKind::Incomplete),
    ] {
        assert_eq!(Reader::new(octets).tag().map_err(|e| e.kind()), Err(kind), "{octets:02x?}");
    }
}

#[test]
fn numbers() {
    assert_eq!(Reader::new(&[0xFF, 0x7F]).unsigned(2), Ok(0xFF7F));
    assert_eq!(Reader::new(&[0xFF, 0x7F]).signed(2), Ok(-129));
    assert_eq!(Reader::new(&[0x80, 0, 0, 0, 0, 0, 0, 0]).signed(8), Ok(i64::MIN));
    assert_eq!(written(|w| w.push_fixed(0xFF, 4)), [0, 0, 0, 0xFF]);
    assert_eq!(written(|w| w.push_fixed((-2_i64).cast_unsigned(), 1)), [0xFE]);
    for (number, octets) in
        [(0, &[1, 0][..]), (255, &[1, 255]), (256, &[2, 1, 0]), (1 << 56, &[8, 1, 0, 0, 0, 0, 0, 0, 0])]
    {
        assert_eq!(written(|w| w.push_unsigned(number)), octets);
        // What no address reaches is refused, as on machines with 32 bits.
        let expected = usize::try_from(number).map_err(|_| ErrorKind::LimitExceeded);
        assert_eq!(Reader::new(octets).quantity().map_err(|e| e.kind()), expected);
    }
    for (number, octets) in
        [(0, &[1, 0][..]), (-1, &[1, 0xFF]), (128, &[2, 0, 0x80]), (-129, &[2, 0xFF, 0x7F])]
    {
        assert_eq!(written(|w| w.push_signed(number)), octets);
    }
    for (number, octets) in [(0, &[0][..]), (127, &[0x7F]), (128, &[0x82, 0, 0x80]), (-1, &[0x81, 0xFF])] {
        assert_eq!(written(|w| w.push_enumerated(number)), octets);
    }
    assert_eq!(Reader::new(&[0]).quantity().map_err(|e| e.kind()), Err(ErrorKind::IntegerEmpty));
    let many = [9, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(Reader::new(&many).quantity().map_err(|e| e.kind()), Err(ErrorKind::LimitExceeded));
}

#[test]
fn a_part_ends_where_its_length_says() {
    let mut reader = Reader::new(&[1, 2, 3]);
    let around = reader.enter(2).unwrap();
    assert_eq!(reader.take(2), Ok(&[1, 2][..]));
    assert_eq!((reader.left(), reader.position()), (0, 2));
    // More input helps the whole, not the part.
    assert_eq!(reader.octet().unwrap_err().kind(), ErrorKind::BeyondParent);
    reader.leave(around);
    let error = reader.take(5).unwrap_err();
    assert_eq!((error.kind(), error.at(), error.needed()), (ErrorKind::Incomplete, 3, Some(4)));
    assert_eq!(reader.enter(2).unwrap_err().kind(), ErrorKind::Incomplete);
    assert_eq!(reader.octet(), Ok(3));
}
