//! Inputs: files, directories, globs; compressed ones and archives are recognised by their first octets.

use crate::zipped;
use globset::GlobBuilder;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// What of a text is a glob.
const WILD: [char; 4] = ['*', '?', '[', '{'];

/// The file of that name, all files in the directory of that name, or those that match the glob, in the order of names.
/// Hidden files and our own outputs in the making are passed over.
///
/// # Errors
/// Those of the file system; [`io::ErrorKind::InvalidInput`] for a glob that nothing matches or that is none.
pub fn expand(text: &str) -> io::Result<Vec<PathBuf>> {
    let path = PathBuf::from(text);
    match fs::metadata(&path) {
        Ok(data) if data.is_dir() => below(&path, |_| true),
        Ok(_) => Ok(vec![path]),
        Err(_) if text.contains(WILD) => glob(text),
        Err(error) => Err(named(text, &error)),
    }
}

/// All files below a directory whose path is wanted.
fn below(path: &Path, wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let hidden = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with('.') && name.len() > 2);
    let walk = walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name();
    let mut files = Vec::new();
    for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name())) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link that leads back to where it stands.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        let part = entry.path().extension().is_some_and(|suffix| suffix == "part");
        if entry.file_type().is_file() && !part && wanted(entry.path()) {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn glob(text: &str) -> io::Result<Vec<PathBuf>> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    let glob = glob.map_err(|error| invalid(error.to_string()))?.compile_matcher();
    let fixed: PathBuf =
        Path::new(text).iter().take_while(|part| !part.to_string_lossy().contains(WILD)).collect();
    let base = if fixed.as_os_str().is_empty() { Path::new(".") } else { &fixed };
    let found = below(base, |path| glob.is_match(path.strip_prefix("./").unwrap_or(path)))?;
    if found.is_empty() {
        return Err(invalid(format!("no file matches `{text}`")));
    }
    let strip = |path: PathBuf| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path);
    Ok(found.into_iter().map(strip).collect())
}

/// Calls `act` for an unpacked stream or, if it is a tar or zip archive, for each file in it, until that gives false. The
/// names of files in archives follow on the archive's own and `!`.
///
/// # Errors
/// Those of `act`; those of reading, with the name in their text.
pub fn each<E: From<io::Error>>(
    name: &str,
    stream: impl Read,
    act: &mut dyn FnMut(&str, &mut dyn Read) -> Result<bool, E>,
) -> Result<(), E> {
    let io = |error: io::Error| named(name, &error);
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let begin = stream.fill_buf().map_err(io)?;
    let packing = Packing::of(begin);
    if packing == Some(Packing::Tar) {
        let mut archive = tar::Archive::new(stream);
        for entry in archive.entries().map_err(io)? {
            let entry = entry.map_err(io)?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let member = format!("{name}!{}", String::from_utf8_lossy(&entry.path_bytes()));
            if !act(&member, &mut *unpack(entry).map_err(io)?)? {
                break;
            }
        }
        return Ok(());
    }
    if packing == Some(Packing::Zip) {
        return members(name, &mut stream, act);
    }
    act(name, &mut stream).map(drop)
}

/// The same for the members of a zip archive.
fn members<E: From<io::Error>>(
    name: &str,
    stream: &mut impl BufRead,
    act: &mut dyn FnMut(&str, &mut dyn Read) -> Result<bool, E>,
) -> Result<(), E> {
    let io = |error: io::Error| named(name, &error);
    let fault = |error: zip::result::ZipError| io(io::Error::other(error));
    loop {
        let mut begin = Vec::with_capacity(zipped::BEGIN);
        stream.take(zipped::BEGIN as u64).read_to_end(&mut begin).map_err(io)?;
        if let Ok(begin) = <[u8; zipped::BEGIN]>::try_from(&*begin)
            && zipped::is_described(&begin)
        {
            let mut file = zipped::Member::begin(begin, &mut *stream).map_err(io)?;
            let member = format!("{name}!{}", file.name);
            let is_file = !file.name.ends_with('/');
            let more = !is_file || act(&member, &mut *unpack(&mut file).map_err(io)?)?;
            if !more {
                return Ok(());
            }
            file.finish().map_err(io)?;
            continue;
        }
        let mut stream = io::Cursor::new(begin).chain(&mut *stream);
        let Some(file) = zip::read::read_zipfile_from_stream(&mut stream).map_err(fault)? else {
            return Ok(());
        };
        let member = format!("{name}!{}", file.name().map_err(fault)?);
        if file.is_file() && !act(&member, &mut *unpack(file).map_err(io)?)? {
            return Ok(());
        }
    }
}

/// What is inside of a stream that gzip, Zstandard, bzip2 or xz made; others as they are.
///
/// # Errors
/// Those of the stream.
pub fn unpack<'r>(raw: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    Ok(match Packing::of(raw.fill_buf()?) {
        Some(Packing::Zstd) => Box::new(zstd::Decoder::with_buffer(raw)?),
        Some(Packing::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Some(Packing::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Some(Packing::Xz) => Box::new(lzma_rust2::XzReader::new(raw, true)),
        Some(Packing::Tar | Packing::Zip) | None => Box::new(raw),
    })
}

/// Whether an input is compressed or an archive; reads its first octets.
///
/// # Errors
/// Those of the input.
pub fn is_packed(input: &mut impl Read) -> io::Result<bool> {
    let mut begin = Vec::new();
    input.take(512).read_to_end(&mut begin)?;
    Ok(Packing::of(&begin).is_some())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Zstd,
    Gzip,
    Bzip2,
    Xz,
    Tar,
    Zip,
}

impl Packing {
    /// By the first octets.
    fn of(begin: &[u8]) -> Option<Self> {
        match begin {
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstd),
            [0x1F, 0x8B, 0x08, ..] => Some(Self::Gzip),
            // The level, and the first octets of a block or of an empty stream: three letters alone are no proof.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, 0x41 | 0x72, ..] => Some(Self::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'P', b'K', 3, 4, ..] => Some(Self::Zip),
            _ if begin.get(257..262) == Some(b"ustar") => Some(Self::Tar),
            _ => None,
        }
    }
}

fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tercet_dynamic::text::{Octets, parse_octets};

    /// The word `tercet`, compressed.
    const COMPRESSED: [(&str, &str); 3] = [
        ("gzip", "1f8b08000000000000032b492d4a4e2d0100e021e6b406000000"),
        ("bzip2", "425a6839314159265359f13e869d00000201800a001400200030cd3418c8226e2ee48a70a121e27d0d3a"),
        (
            "xz",
            "fd377a585a0000016922de360200210116000000742fe5a3010005746572636574000000e021e6b400011a06c5eac8799042990d010000000001595a",
        ),
    ];

    #[test]
    fn compressed_inputs_of_several_members_and_cut_ones() {
        for (name, hex) in COMPRESSED {
            let member = parse_octets(hex, Octets::UpperHex).expect("digits");
            let read = |octets: &[u8]| {
                let mut plain = Vec::new();
                unpack(octets)?.read_to_end(&mut plain)?;
                io::Result::Ok(plain)
            };
            assert_eq!(read(&member).expect(name), b"tercet", "{name}");
            assert_eq!(read(&member.repeat(2)).expect(name), b"tercettercet", "{name}");
            assert!(read(&member[..member.len() - 3]).is_err(), "{name}: a cut file is an error");
            let mut broken = member.clone();
            let at = member.len() - 6;
            broken[at] ^= 1;
            assert!(read(&broken).is_err(), "{name}: so is a wrong sum");
        }
    }
}
