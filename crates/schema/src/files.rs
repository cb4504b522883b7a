//! Which files hold specifications.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Suffixes that are taken from directories; a file that is named is taken whatever its suffix.
pub const SUFFIXES: [&str; 4] = ["asn", "asn1", "asn1c", "txt"];

/// The files meant by paths: files as they are, directories with all specifications below them, in the order of names.
///
/// In a directory a `.txt` file counts only if it holds `::=`.
///
/// # Errors
/// When a path cannot be read.
pub fn specifications(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if fs::metadata(path).map_err(|error| named(path, &error))?.is_dir() {
            directory(path, &mut files, 16)?;
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn directory(path: &Path, files: &mut Vec<PathBuf>, depth: u8) -> io::Result<()> {
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<_> =
        entries.map_err(|error| named(path, &error))?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).map(str::to_ascii_lowercase);
        if path.is_dir() {
            // Links may form circles; no one nests specifications this deep.
            if depth > 0 {
                directory(&path, files, depth - 1)?;
            }
        } else if let Some(suffix) = suffix
            && SUFFIXES.contains(&suffix.as_str())
            && (suffix != "txt" || fs::read(&path).is_ok_and(|text| assigns(&text)))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a text holds `::=`, in UTF-8 or UTF-16.
fn assigns(bytes: &[u8]) -> bool {
    match tercet_syntax::utf_16(bytes) {
        Some(text) => text.contains("::="),
        None => bytes.windows(3).any(|window| window == b"::="),
    }
}

/// Reports an archive or a compressed file, whose text nobody could read.
pub(crate) fn check_unpacked(octets: &[u8]) -> io::Result<()> {
    const PACKED: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a ZIP archive"),
        (b"PK\x05\x06", "a ZIP archive"),
        (b"\x1f\x8b", "a gzip file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"\xfd7zXZ\x00", "an xz file"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    ];
    let found = PACKED.iter().find(|(begin, _)| octets.starts_with(begin)).map(|(_, kind)| *kind);
    // In text these could be letters of a module's name: a bzip2 file has the digits of π behind its first bytes, a member of a
    // tar archive a name that is filled with zeros.
    let is_bzip2 = octets.starts_with(b"BZh") && octets.get(4..10) == Some(b"1AY&SY");
    let is_tar = octets.get(257..262) == Some(b"ustar") && octets[..257].contains(&0);
    let found = match found {
        None if is_bzip2 => Some("a bzip2 file"),
        None if is_tar => Some("a tar archive"),
        found => found,
    };
    match found {
        None => Ok(()),
        Some(kind) => {
            let help = "specifications are read, checked and fixed as files and folders: unpack it first";
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("{kind}; {help}")))
        }
    }
}

/// The error with the path that it is about.
pub(crate) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", tercet_printable::path(path)))
}
