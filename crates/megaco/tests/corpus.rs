//! The messages of the corpora, 149 of them from Erlang/OTP: every encoding decodes to the same value, and is written again
//! as it was.
#![expect(clippy::print_stderr, reason = "a test talks to people")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tercet_megaco::codec::{Codec, Encoding, decode_any};
use tercet_megaco::text::{Layout, read_message, write_message};

/// Files of a folder of a corpus by their number.
fn corpus(root: &Path, folder: &str) -> BTreeMap<u32, Vec<u8>> {
    let folder = root.join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| {
        let path = entry.unwrap().path();
        let number = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        (number, fs::read(path).unwrap())
    });
    files.collect()
}

/// The corpora, each with how many messages it has.
fn corpora() -> impl Iterator<Item = (PathBuf, usize)> {
    let own = tercet_testing::own_corpora();
    tercet_testing::all_corpora("megaco").into_iter().map(move |root| {
        let count = if root.starts_with(&own) { 4 } else { 149 };
        (root, count)
    })
}

#[test]
fn text_is_written_as_otp_writes_it() {
    corpora().for_each(|(root, count)| is_written_as_otp_writes_it(&root, count));
}

fn is_written_as_otp_writes_it(root: &Path, count: usize) {
    let (original, pretty, compact) =
        (corpus(root, "original"), corpus(root, "pretty"), corpus(root, "compact"));
    assert_eq!(original.len(), count);
    let mut different = Vec::new();
    for (number, text) in &original {
        let message = read_message(text).unwrap_or_else(|error| {
            panic!("{number} {:?}: {error}", error.line_and_column(text));
        });
        for (layout, expected) in [(Layout::Pretty, &pretty), (Layout::Compact, &compact)] {
            let theirs = &expected[number];
            let again = read_message(theirs).unwrap_or_else(|error| {
                panic!("{number} {layout:?} {:?}: {error}", error.line_and_column(theirs));
            });
            assert_eq!(again, message, "{number} {layout:?}");
            let mut ours = Vec::new();
            write_message(&message, layout, &mut ours).unwrap();
            // Message 130 has its audit tokens the other way round in OTP, where a set is a list.
            if ours != *theirs && *number != 130 {
                if different.is_empty() {
                    eprintln!(
                        "{number}\n{}\n---\n{}",
                        String::from_utf8_lossy(&ours),
                        String::from_utf8_lossy(theirs)
                    );
                }
                different.push((number, layout));
            }
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

#[test]
fn every_encoding_has_the_same_value() {
    corpora().for_each(|(root, _)| has_the_same_value(&root));
}

fn has_the_same_value(root: &Path) {
    let original = corpus(root, "original");
    for (folder, encoding, is_exact) in [
        ("erl_dist", "etf", true),
        ("erl_dist_mc", "etf-mc", true),
        ("erl_dist_c", "etf-zlib", false),
        ("erl_dist_mcc", "etf-mc-zlib", false),
        ("ber", "ber", true),
        ("per", "per", true),
        ("original", "json", false),
    ] {
        let encoding = Encoding::named(encoding).unwrap();
        // Our own messages are there as text only.
        if !root.join(folder).exists() && root.starts_with(tercet_testing::own_corpora()) {
            to_and_fro(&original, encoding);
            continue;
        }
        let files = corpus(root, folder);
        let mut size = 0;
        for (number, text) in &original {
            let message = read_message(text).unwrap();
            let theirs = &files[number];
            if folder != "original" {
                // A term that zlib would make longer stays as it is.
                let detected = Encoding::detect(theirs);
                assert!(detected == encoding || theirs[1] != 80, "{folder} {number} {detected:?}");
                let decoded =
                    detected.decode(theirs).unwrap_or_else(|error| panic!("{folder} {number}: {error}"));
                assert_eq!(decoded, message, "{folder} {number}");
            }
            let mut ours = Vec::new();
            encoding.encode(&message, &mut ours).unwrap();
            size += ours.len();
            assert!(
                !is_exact || ours == *theirs,
                "{folder} {number}\n{}\n{}",
                ours.escape_ascii(),
                theirs.escape_ascii()
            );
            let again = decode_any(&ours).unwrap_or_else(|error| panic!("{encoding:?} {number}: {error}"));
            assert_eq!(again, message, "{encoding:?} {number}");
        }
        eprintln!("{}: {} octets a message", encoding.name(), size / original.len());
    }
}

fn to_and_fro(messages: &BTreeMap<u32, Vec<u8>>, encoding: Encoding) {
    for (number, text) in messages {
        let message = read_message(text).unwrap();
        let mut octets = Vec::new();
        encoding.encode(&message, &mut octets).unwrap();
        assert_eq!(encoding.decode(&octets).unwrap(), message, "{encoding:?} {number}");
    }
}
