//! Records replaced in files of all framings.

use std::io::{self, Cursor};
use tercet_records::{FileFraming, Framing, Identifiers, Prefix, Replacement, Used, replace_records};

fn framed(file: FileFraming) -> Framing {
    Framing { file, ..Framing::concatenated(Identifiers::any()) }
}

fn replaced(framing: &Framing, file: &[u8], records: &[(u64, u64, &[u8])]) -> io::Result<Vec<u8>> {
    let records = records
        .iter()
        .map(|(at, length, octets)| (*at, Replacement { length: *length, octets: octets.to_vec() }));
    let mut out = Vec::new();
    replace_records(&mut Cursor::new(file), framing, &records.collect(), &mut out)?;
    Ok(out)
}

#[test]
fn lengths_of_lists_around_records_are_adjusted() {
    // A list in a list; the inner one has an indefinite length.
    let mut framing = Framing::concatenated(Identifiers::any());
    framing.wrappers = vec![Identifiers::any(), Identifiers::any()];
    let file = [0x61, 10, 0x30, 0x80, 2, 1, 5, 2, 1, 6, 0, 0];
    let new = replaced(&framing, &file, &[(4, 3, &[2, 2, 1, 0]), (7, 3, &[2, 3, 1, 0, 0])]).expect("it fits");
    assert_eq!(new, [0x61, 13, 0x30, 0x80, 2, 2, 1, 0, 2, 3, 1, 0, 0, 0, 0]);
    let long = [&[4, 0x81, 150][..], &[7; 150]].concat();
    let new = replaced(&framing, &file, &[(4, 3, &long)]).expect("it fits");
    assert_eq!(&new[..6], [0x61, 0x81, 160, 0x30, 0x80, 4]);
}

#[test]
fn lengths_in_front_of_records_are_adjusted() {
    let bdw = framed(FileFraming::Prefix(Prefix::BDW));
    let file = [0, 18, 0, 0, 0, 7, 0, 0, 2, 1, 5, 0, 7, 0, 0, 2, 1, 6];
    let new = replaced(&bdw, &file, &[(15, 3, &[2, 2, 1, 6])]).expect("it fits");
    assert_eq!(new, [0, 19, 0, 0, 0, 7, 0, 0, 2, 1, 5, 0, 8, 0, 0, 2, 2, 1, 6]);
    let u16be = framed(FileFraming::Prefix(Prefix { inclusive: false, more: 0, ..Prefix::RDW }));
    let long = [&[4, 0x83, 1, 0, 0][..], &[0; 0x10000]].concat();
    let error = replaced(&u16be, &[0, 3, 2, 1, 5], &[(2, 3, &long)]).expect_err("too long");
    assert!(error.to_string().contains("do not fit"), "{error}");
}

#[test]
fn blocks_keep_their_size() {
    let blocks = |used, header| framed(FileFraming::Blocks { size: 12, header, used });
    let file = [2, 1, 5, 2, 1, 6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let plain = blocks(Used::Unknown, 0);
    let new = replaced(&plain, &file, &[(0, 3, &[2, 2, 1, 0])]).expect("it fits");
    assert_eq!(new[..12], [2, 2, 1, 0, 2, 1, 6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_eq!(new[12..], file[12..]);
    assert!(replaced(&plain, &file, &[(0, 3, &[4, 8, 1, 2, 3, 4, 5, 6, 7, 8])]).is_err());
    // With a count of the octets in use.
    let file = [0, 6, 2, 1, 5, 2, 1, 6, 9, 9, 9, 9, 0, 3, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0];
    let counted = blocks(Used::Behind, 2);
    let new = replaced(&counted, &file, &[(5, 3, &[2, 2, 1, 6])]).expect("it fits");
    assert_eq!(new[..12], [0, 7, 2, 1, 5, 2, 2, 1, 6, 9, 9, 9]);
    assert_eq!(new[12..], file[12..]);
    // The same length, across two blocks.
    let file = [2, 1, 5, 4, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let new = replaced(&plain, &file, &[(3, 12, &[4, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9])]).expect("it fits");
    assert_eq!(new[3..15], [4, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
}
