//! The same records in every framing, found by trial: all of them come out, and every octet is accounted for.
#![cfg(unix)]

use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Records one behind the other, none of them with a long or indefinite length.
fn split(octets: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    let mut rest = octets;
    while let [_, length, ..] = rest {
        let size = match *length {
            0x81 => 3 + usize::from(rest[2]),
            0x82 => 4 + usize::from(u16::from_be_bytes([rest[2], rest[3]])),
            length => 2 + usize::from(length),
        };
        records.push(&rest[..size]);
        rest = &rest[size..];
    }
    records
}

fn length(size: usize) -> Vec<u8> {
    let mut octets = vec![0x84];
    octets.extend((size as u32).to_be_bytes());
    octets
}

fn element(identifier: u8, contents: &[u8]) -> Vec<u8> {
    [vec![identifier], length(contents.len()), contents.to_vec()].concat()
}

/// A block's header: octets used, number of the block.
fn block_header(used: usize, number: usize) -> Vec<u8> {
    [(used as u16).to_be_bytes(), (number as u16).to_be_bytes()].concat()
}

/// Records in blocks that they do not cross.
fn blocks(records: &[&[u8]], size: usize, header: usize, pad: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = Vec::new();
    let mut end = |block: &mut Vec<u8>| {
        let number = file.len() / size;
        file.extend(&block_header(block.len(), number)[..header]);
        file.append(block);
        file.resize((number + 1) * size, pad);
    };
    for record in records {
        if header + block.len() + record.len() > size {
            end(&mut block);
        }
        block.extend_from_slice(record);
    }
    end(&mut block);
    file
}

/// Blocks that records cross.
fn spanning(octets: &[u8], size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for (number, part) in octets.chunks(size - 4).enumerate() {
        file.extend(block_header(part.len(), number));
        file.extend_from_slice(part);
        file.resize((number + 1) * size, 0);
    }
    file
}

fn prefixed(records: &[&[u8]], prefix: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    records.iter().flat_map(|record| [prefix(record.len()), record.to_vec()].concat()).collect()
}

/// Descriptor words of records, in blocks with one each.
fn descriptors(records: &[&[u8]]) -> Vec<u8> {
    let word = |size: usize| [&(size as u16 + 4).to_be_bytes()[..], &[0, 0]].concat();
    let blocks = records.chunks(7).map(|records| prefixed(records, word));
    blocks.flat_map(|block| [word(block.len()), block].concat()).collect()
}

/// A file of 3GPP TS 32.297.
fn ts32297(records: &[&[u8]], release: u8, filter: &[u8], private: &[u8]) -> Vec<u8> {
    let extended = release == 7;
    let body = prefixed(records, |size| {
        let mut header = (size as u16).to_be_bytes().to_vec();
        header.extend([release << 5 | 2, 1 << 5 | 7]);
        header.extend(extended.then_some(6));
        header
    });
    let size = 52 + filter.len() + private.len() + 2 * usize::from(extended);
    let mut file = ((size + body.len()) as u32).to_be_bytes().to_vec();
    file.extend((size as u32).to_be_bytes());
    file.extend([release << 5 | 2; 2]);
    file.extend([0x21; 8]);
    file.extend((records.len() as u32).to_be_bytes());
    file.extend([0, 0, 0, 1, 3]);
    file.extend([0xAB; 20]);
    file.push(0);
    file.extend((filter.len() as u16).to_be_bytes());
    file.extend(filter);
    file.extend((private.len() as u16).to_be_bytes());
    file.extend(private);
    file.extend([6; 2].iter().take(2 * usize::from(extended)));
    assert_eq!(file.len(), size);
    file.extend(body);
    file
}

fn control(name: &str, size: usize) -> Vec<u8> {
    let mut octets = format!("{name}20261122 SWITCH-7 ").into_bytes();
    octets.resize(size, b'.');
    octets
}

fn framings(records: &[&[u8]]) -> Vec<(&'static str, Vec<u8>)> {
    let raw = records.concat();
    let header = [vec![0u8], (1..59).collect()].concat();
    let half = records.len() / 2;
    let opaque = prefixed(records, |size| vec![0, size as u8, 0x21, 6, 1]);
    vec![
        ("plain", raw.clone()),
        ("blocks-00", blocks(records, 512, 0, 0)),
        ("blocks-ff", blocks(records, 2048, 0, 0xFF)),
        ("blocks-20", blocks(records, 700, 0, 0x20)),
        ("blocks-with-headers", blocks(records, 512, 4, 0)),
        ("blocks-with-headers-ff", blocks(records, 600, 4, 0x55)),
        ("blocks-crossed", [&raw[..], &[0; 100]].concat()),
        ("blocks-crossed-with-headers", spanning(&raw, 500)),
        ("filler", prefixed(records, |size| vec![if size % 2 == 0 { 0 } else { 0xFF }; size % 9])),
        ("lines", records.iter().flat_map(|record| [record, &b"\r\n"[..]].concat()).collect()),
        ("u16be", prefixed(records, |size| (size as u16).to_be_bytes().to_vec())),
        ("u16le", prefixed(records, |size| (size as u16).to_le_bytes().to_vec())),
        ("u16be-incl", prefixed(records, |size| (size as u16 + 2).to_be_bytes().to_vec())),
        ("u32be", prefixed(records, |size| (size as u32).to_be_bytes().to_vec())),
        ("u32be-incl", prefixed(records, |size| (size as u32 + 4).to_be_bytes().to_vec())),
        ("u32le", prefixed(records, |size| (size as u32).to_le_bytes().to_vec())),
        ("rdw", prefixed(records, |size| [&(size as u16 + 4).to_be_bytes()[..], &[0, 0]].concat())),
        ("bdw", descriptors(records)),
        ("opaque", [header, opaque].concat()),
        (
            "controls",
            [
                control("FD", 32),
                control("LD", 16),
                records[..half].concat(),
                control("LT", 6),
                control("LD", 16),
                records[half..].concat(),
                control("LT", 6),
                control("FT", 32),
            ]
            .concat(),
        ),
        ("inside-indefinite", [&[0x30, 0x80, 0xA9, 0x80][..], &raw, &[0; 4]].concat()),
        (
            "inside-definite",
            element(0x30, &[vec![0x80, 2, 7, 7], element(0xA9, &raw), vec![0x82, 1, 9]].concat()),
        ),
        ("ts32297-16", ts32297(records, 7, b"", b"")),
        ("ts32297-16-parts", ts32297(records, 7, b"route-A", &[1, 2, 3, 4, 5])),
        ("ts32297-9", ts32297(records, 4, b"", b"")),
        (
            "ts32297-two",
            [ts32297(&records[..half], 7, b"", b""), ts32297(&records[half..], 7, b"x", b"")].concat(),
        ),
        ("gzip", gzip(&raw)),
        ("gzip-members", [gzip(&raw[..raw.len() / 2 + 3]), gzip(&raw[raw.len() / 2 + 3..])].concat()),
        ("zstd", zstd::encode_all(&raw[..], 1).unwrap()),
        ("tar-gzip", gzip(&tar(records))),
        ("zip", zip(records)),
        ("zip-stream", zip_stream(records)),
    ]
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

fn tar(records: &[&[u8]]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (number, records) in records.chunks(records.len().div_ceil(4)).enumerate() {
        let octets = records.concat();
        let mut header = tar::Header::new_ustar();
        header.set_size(octets.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, format!("part{number}.ber"), &octets[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

fn zip(records: &[&[u8]]) -> Vec<u8> {
    zipped(records, zip::ZipWriter::new(std::io::Cursor::new(Vec::new()))).into_inner()
}

/// As it is written to a pipe: sizes stand behind the contents.
fn zip_stream(records: &[&[u8]]) -> Vec<u8> {
    let mut octets = Vec::new();
    zipped(records, zip::ZipWriter::new_stream(&mut octets));
    octets
}

fn zipped<W: Write + std::io::Seek>(records: &[&[u8]], mut archive: zip::ZipWriter<W>) -> W {
    for (number, records) in records.chunks(records.len().div_ceil(4)).enumerate() {
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        archive.start_file(format!("part{number}.ber"), options).unwrap();
        archive.write_all(&records.concat()).unwrap();
    }
    archive.finish().unwrap()
}

/// Converts a file; gives the rows and the totals.
fn convert(folder: &Path, schema: &[&str], octets: &[u8], name: &str) -> (Vec<u8>, Value) {
    let dir = tempfile::tempdir().unwrap();
    let (path, summary) = (dir.path().join("input"), dir.path().join("summary"));
    std::fs::write(&path, octets).unwrap();
    let output = Command::new(TERCET)
        .current_dir(folder)
        .args(["convert", "--format", "jsonl", "--summary", summary.to_str().unwrap()])
        .args(schema)
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let summary: Value = serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    // Headers and filler that nothing confirms are taken with a warning.
    let guessed = summary["inputs"][0]["guessed"] == true;
    assert_eq!(output.status.code(), Some(if guessed { 2 } else { 0 }), "{name}: {said}");
    assert_eq!(said.contains("skips bytes that nothing confirms"), guessed, "{name}: {said}");
    let unconfirmed = ["blocks-20", "lines", "opaque", "msc_filehdr"];
    assert!(
        !guessed || unconfirmed.iter().any(|unconfirmed| name.starts_with(unconfirmed)),
        "{name}: {said}"
    );
    let part = |name: &str| summary["octets"][name].as_u64().unwrap();
    assert_eq!(part("read"), part("records") + part("filler") + part("headers"), "{name}");
    assert_eq!(part("rejected"), 0, "{name}");
    (output.stdout, summary)
}

fn check(folder: &Path, schema: &[&str], raw: &[u8]) {
    let records = split(raw);
    let (known, _) = convert(folder, schema, raw, "plain");
    for (name, octets) in framings(&records) {
        let (rows, summary) = convert(folder, schema, &octets, name);
        assert!(rows == known, "{name}: {}", summary["inputs"][0]["framing"]);
        assert_eq!(summary["records"].as_u64(), Some(records.len() as u64), "{name}");
        let packed = ["gzip", "zstd", "tar", "zip"].iter().any(|packed| name.starts_with(packed));
        if !packed {
            assert_eq!(summary["octets"]["read"].as_u64(), Some(octets.len() as u64), "{name}");
        }
    }
}

#[test]
fn every_framing_gives_the_same_records() {
    let raw = std::fs::read(root().join("examples/calls.ber")).unwrap();
    check(&root(), &["-s", "schemas/demo", "-t", "CallRecord"], &raw);
}

#[test]
fn members_of_streamed_zip_archives_are_checked() {
    let raw = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let whole = zip_stream(&split(&raw));
    let descriptor = whole.windows(4).position(|octets| octets == b"PK\x07\x08").unwrap();
    let mut sum = whole.clone();
    sum[descriptor + 4] ^= 1;
    let mut size = whole.clone();
    size[descriptor + 8] ^= 1;
    let mut stored = whole.clone();
    stored[8] = 0;
    let mut encrypted = whole.clone();
    encrypted[6] |= 1;
    let cut = whole[..descriptor + 7].to_vec();
    for (octets, said) in [
        (sum, "the contents do not match the data descriptor"),
        (size, "the contents do not match the data descriptor"),
        (stored, "with its size after its contents, which cannot be read from a stream"),
        (encrypted, "part0.ber: the member is encrypted"),
        (cut, "failed to fill whole buffer"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.zip"), octets).unwrap();
        let output = Command::new(TERCET)
            .current_dir(root())
            .args(["convert", "-q", "-s", "schemas/demo", "-t", "CallRecord", "-f", "jsonl"])
            .arg(dir.path().join("a.zip"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4), "{said}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("a.zip: ") && text.contains(said), "{text}");
    }
}

#[test]
fn headers_of_files_are_told_and_their_numbers_followed() {
    let raw = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let records = split(&raw);
    let dir = tempfile::tempdir().unwrap();
    let (mut paths, summary) = (Vec::new(), dir.path().join("summary"));
    for (name, number, closure, lost) in [("a", 65_534_u32, 3, 0), ("b", 65_535, 1, 0x85), ("c", 1, 129, 0)] {
        let mut file = ts32297(&records, 7, b"", b"");
        // April 28, 17:18, 8 hours ahead.
        file[10..14].copy_from_slice(
            &(4_u32 << 28 | 28 << 23 | 17 << 18 | 18 << 12 | 1 << 11 | 8 << 6).to_be_bytes(),
        );
        file[22..26].copy_from_slice(&number.to_be_bytes());
        (file[26], file[47]) = (closure, lost);
        paths.push(dir.path().join(name));
        std::fs::write(dir.path().join(name), file).unwrap();
    }
    let run = |more: &[&str]| {
        let mut command = Command::new(TERCET);
        command.current_dir(root()).args(["convert", "-s", "schemas/demo", "-t", "CallRecord", "-o"]);
        command.arg(dir.path().join("out.csv")).arg("--summary").arg(&summary).args(more).args(&paths);
        let output = command.output().unwrap();
        let summary: Value = serde_json::from_slice(&std::fs::read(&summary).unwrap()).unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), summary)
    };
    let (exit, said, summary) = run(&["--file-sequence", "0..65535"]);
    assert_eq!(exit, Some(0), "{said}");
    for line in [
        "  file 65534 of 3GPP TS 32.297, opened 04-28T17:18+08:00, last record 02-02T08:18-04:33, closed: 3 (number of records)\n",
        "b: by the header of the file, 5 records have been lost\n",
        "c: by the header of the file, the file was closed by an error: 129 (error of the file system)\n",
        "  files of 3GPP TS 32.297: 65534 to 1, missing 1 (0), repeated 0\n",
    ] {
        assert!(said.contains(line), "{line}{said}");
    }
    assert_eq!(summary["file_sequence"]["gaps"], serde_json::json!([[0, 0]]));
    let header = &summary["inputs"][1]["file_headers"][0];
    assert_eq!(header["sequence"], 65_535);
    assert_eq!(header["closure_reason"], "size of the file");
    let (_, said, _) = run(&[]);
    assert!(said.contains("1 to 65535, missing 65532 (2 to 65533), repeated 0\n"), "{said}");
}

#[test]
fn offsets_are_those_of_the_file() {
    let raw = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let records = split(&raw);
    let mut file = ts32297(&records, 7, b"", b"");
    // The third record's first component becomes one that is not there.
    let at = 54 + records[..2].iter().map(|record| 5 + record.len()).sum::<usize>() + 5;
    file[at + 2] = 0x9E;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("input");
    std::fs::write(&path, &file).unwrap();
    let output = Command::new(TERCET)
        .current_dir(root())
        .args(["convert", "-s", "schemas/demo", "-t", "CallRecord", "--unknown", "error", "-o"])
        .arg(dir.path().join("out.jsonl"))
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let reject = std::fs::read(dir.path().join("out.jsonl.rejects.jsonl")).unwrap();
    let reject: Value = serde_json::from_slice(&reject).unwrap();
    assert_eq!(reject["offset"].as_u64(), Some(at as u64), "{reject}");
    assert_eq!(std::fs::read(dir.path().join("out.jsonl.rejects")).unwrap(), file[at..at + records[2].len()]);
}

#[test]
fn the_corpus_of_framings() {
    let own = tercet_testing::own_corpora().join("cdr");
    let octets = std::fs::File::open(own.join("synth/demo/calls_800.ber.zst")).unwrap();
    let mut raw = Vec::new();
    zstd::Decoder::new(octets).unwrap().read_to_end(&mut raw).unwrap();
    check(&own, &["-s", "../../../schemas/demo", "-t", "CallRecord"], &raw);
    let Some(folder) = tercet_testing::all_corpora("cdr").into_iter().nth(1) else { return };
    let archive = std::fs::File::open(folder.join("synth/framing.tar.zst")).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(archive).unwrap());
    let mut files = std::collections::BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut octets = Vec::new();
        entry.read_to_end(&mut octets).unwrap();
        files.insert(name, octets);
    }
    let msc = ["-s", "specs/synthetic/SYN-MSC-R12.asn", "-t", "CallDataRecord"];
    let raw = &files["msc_raw.ber"];
    let (known, _) = convert(&folder, &msc, raw, "msc_raw.ber");
    let mut seen = 0;
    for (name, octets) in &files {
        if name.starts_with("msc_") && !name.contains("damaged") && !name.contains("truth") {
            let (rows, summary) = convert(&folder, &msc, octets, name);
            assert_eq!(summary["records"].as_u64(), Some(2000), "{name}");
            assert!(rows == known, "{name}");
            seen += 1;
        }
    }
    let three = |kind| ["--allow-errors", "-s", "specs/3gpp-32298-pycrate", "-t", kind];
    for (name, octets) in files.iter().filter(|(name, _)| name.contains("32297")) {
        let kind = if name.starts_with("ps") { "GPRSRecord" } else { "CSRecord" };
        let (_, summary) = convert(&folder, &three(kind), octets, name);
        assert_eq!(summary["records"].as_u64(), Some(1200), "{name}");
        assert_eq!(summary["inputs"][0]["announced"].as_u64(), Some(1200), "{name}");
        seen += 1;
    }
    let mut tap = vec!["-s", "specs/gsma-sigscale/TAP-0312.asn1", "-t", "DataInterChange"];
    tap.extend(["-r", "TransferBatch.callEventDetails"]);
    let mut first = None;
    for (name, octets) in files.iter().filter(|(name, _)| name.starts_with("tap")) {
        let (rows, summary) = convert(&folder, &tap, octets, name);
        assert_eq!(summary["records"].as_u64(), Some(400), "{name}");
        assert!(*first.get_or_insert_with(|| rows.clone()) == rows, "{name}");
        seen += 1;
    }
    assert!(seen >= 19, "{seen} files");
    // Those that the archive does not have are made of its records.
    check(&folder, &msc, raw);
}
