//! Inputs: files, directories, globs; compressed ones, archives and text that spells octets are recognised by what is in them.

mod base64;
mod compress;
mod digits;
mod hexdump;
mod packing;
mod spelled;

pub use spelled::{Block, Contents, Spelling, SpellingError, blocks, contents, from_hex, spelled};

use crate::own::take_outputs;
use crate::tar_names::BoundedNames;
use crate::zipped;
use fast_glob::glob_match;
use packing::Packing;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// What of a text is a glob.
const WILD: [char; 4] = ['*', '?', '[', '{'];
/// Suffixes of files that are being written: our own, and those of programs that copy and transfer.
const TEMPORARY: [&str; 10] = [
    "part",
    "partial",
    "filepart",
    "tmp",
    "temp",
    "crdownload",
    "download",
    "inprogress",
    "uploading",
    "swp",
];
/// Archives inside of each other that are read.
const NESTED: usize = 4;

/// The files that a path or a glob means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The files, in the order of names.
    pub files: Vec<PathBuf>,
    /// What is in the directory and was not taken.
    pub skipped: Vec<Skipped>,
}

/// A file or directory that is passed over unless it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its path.
    pub path: PathBuf,
    /// Why it is passed over.
    pub kind: SkippedKind,
}

/// Why a file is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippedKind {
    /// Its name begins with a dot; a directory may be meant.
    Hidden,
    /// Its suffix says that it is being written.
    Temporary,
    /// A run of ours has written it, or is about to.
    Output,
}

impl SkippedKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Temporary => "temporary",
            Self::Output => "output",
        }
    }
}

impl Expanded {
    /// Sorts the files of a listing, as of an object store, as [`expand`] does those below a directory, or, with its text, those
    /// that match a glob. Each file comes with its path below the directory.
    pub fn of_listing(files: impl IntoIterator<Item = (PathBuf, PathBuf)>, glob: Option<&str>) -> Self {
        let mut found = Self::default();
        for (path, below) in files {
            if below.iter().any(is_hidden) {
                found.skipped.push(Skipped { path, kind: SkippedKind::Hidden });
            } else if is_temporary(&below, glob.unwrap_or_default()) {
                found.skipped.push(Skipped { path, kind: SkippedKind::Temporary });
            } else {
                found.files.push(path);
            }
        }
        if glob.is_some() {
            found.skipped.retain(|skipped| skipped.kind != SkippedKind::Hidden);
        }
        found
    }

    /// A line for each kind of what was passed over: how many, and the first names.
    pub fn skipped_lines(&self) -> Vec<String> {
        let line = |kind: SkippedKind| {
            let of_kind: Vec<_> = self.skipped.iter().filter(|skipped| skipped.kind == kind).collect();
            let names = of_kind.iter().take(3).map(|skipped| tercet_printable::path(&skipped.path));
            let more = if of_kind.len() > 3 { ", …" } else { "" };
            let (count, word) = (of_kind.len(), kind.word());
            let (s, it) = if count == 1 { ("", "it") } else { ("s", "them") };
            let names = names.collect::<Vec<_>>().join(", ");
            (count > 0)
                .then(|| format!("skipping {count} {word} file{s}: {names}{more} (name {it} to read {it})"))
        };
        [SkippedKind::Hidden, SkippedKind::Temporary, SkippedKind::Output]
            .into_iter()
            .filter_map(line)
            .collect()
    }
}

/// The file of that name, all files in the directory of that name, or those that match the glob.
///
/// Hidden and temporary files in directories, and what earlier runs have written there, are passed over, and listed.
///
/// # Errors
/// Those of the file system; [`io::ErrorKind::InvalidInput`] for a glob that nothing matches or that is none.
pub fn expand(name: impl AsRef<OsStr>) -> io::Result<Expanded> {
    let name = name.as_ref();
    let path = PathBuf::from(name);
    match fs::metadata(&path) {
        Ok(data) if data.is_dir() => below(&path, |_| true, ""),
        Ok(_) => Ok(Expanded { files: vec![path], skipped: Vec::new() }),
        Err(error) => match name.to_str().filter(|text| text.contains(WILD)) {
            Some(text) => glob(text),
            None => Err(named(&name.display().to_string(), &error)),
        },
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Checks whether the suffix of a file says that it is being written, and is not what was asked for.
fn is_temporary(path: &Path, asked: &str) -> bool {
    let suffix = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let suffix = if TEMPORARY.iter().any(|known| known.eq_ignore_ascii_case(suffix)) {
        suffix
    } else if path.as_os_str().as_encoded_bytes().ends_with(b"~") {
        // Editors keep copies so.
        "~"
    } else {
        return false;
    };
    asked.is_empty() || !asked.ends_with(suffix)
}

/// All files below a directory whose path is wanted; those with a suffix that was asked for are never temporary.
fn below(path: &Path, wanted: impl Fn(&Path) -> bool, asked: &str) -> io::Result<Expanded> {
    let mut walk = walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name().into_iter();
    let mut found = Expanded::default();
    while let Some(entry) = walk.next() {
        let entry = match entry {
            Ok(entry) => entry,
            // A link that leads back to where it stands.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        let is_directory = entry.file_type().is_dir();
        if entry.depth() > 0 && is_hidden(entry.file_name()) {
            if is_directory {
                walk.skip_current_dir();
            }
            // An index of splits, which the Python package keeps beside a file, is nobody's input.
            let is_index = !is_directory && entry.file_name().as_encoded_bytes().ends_with(b".splits");
            // A glob does not mean them unless it says so, as in a shell.
            if wanted(entry.path()) && !is_index {
                found.skipped.push(Skipped { path: entry.into_path(), kind: SkippedKind::Hidden });
            }
            continue;
        }
        if !entry.file_type().is_file() || !wanted(entry.path()) {
            continue;
        }
        if is_temporary(entry.path(), asked) {
            found.skipped.push(Skipped { path: entry.into_path(), kind: SkippedKind::Temporary });
        } else {
            found.files.push(entry.into_path());
        }
    }
    let outputs = take_outputs(&mut found.files).into_iter();
    found.skipped.extend(outputs.map(|path| Skipped { path, kind: SkippedKind::Output }));
    Ok(found)
}

fn glob(text: &str) -> io::Result<Expanded> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    // A name may begin with the mark that negates a glob.
    let pattern = text.strip_prefix('!').map_or_else(|| text.to_owned(), |rest| format!("\\!{rest}"));
    let matches = |path: &Path| {
        glob_match(&pattern, path.strip_prefix("./").unwrap_or(path).as_os_str().as_encoded_bytes())
    };
    let fixed: PathBuf =
        Path::new(text).iter().take_while(|part| !part.to_string_lossy().contains(WILD)).collect();
    let base = if fixed.as_os_str().is_empty() { Path::new(".") } else { &fixed };
    let mut found = below(base, matches, text)?;
    // As in a shell, a glob does not mean hidden files.
    found.skipped.retain(|skipped| skipped.kind != SkippedKind::Hidden);
    if found.files.is_empty() {
        let lines = found.skipped_lines().join("; ");
        let skipped = if lines.is_empty() { lines } else { format!(": {lines}") };
        return Err(invalid(format!("no file matches `{text}`{skipped}")));
    }
    let strip = |path: PathBuf| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path);
    found.files = found.files.into_iter().map(strip).collect();
    Ok(found)
}

/// Calls `act` for an unpacked stream or, if it is a tar or zip archive, for each file in it, until that gives false.
///
/// The names of files in archives follow on the archive's own and `!`; archives in archives are read too. Text that spells
/// octets (PEM, base64, hexadecimal in many forms) is read as these octets, and `tell` is called with its name.
///
/// # Errors
/// Those of `act`; those of reading, with the name in their text.
pub fn each<E: From<io::Error>>(
    name: &str,
    stream: impl Read,
    tell: &mut dyn FnMut(&str, Spelling),
    act: &mut dyn FnMut(&str, &mut dyn Read) -> Result<bool, E>,
) -> Result<(), E> {
    each_in(name, packing::stream(Box::new(stream)), NESTED, tell, act).map(drop)
}

/// The same for a stream inside of so many archives less than are read; whether to go on.
fn each_in<E: From<io::Error>>(
    name: &str,
    mut stream: packing::Stream<'_>,
    levels: usize,
    tell: &mut dyn FnMut(&str, Spelling),
    act: &mut dyn FnMut(&str, &mut dyn Read) -> Result<bool, E>,
) -> Result<bool, E> {
    let io = |error: io::Error| named(name, &error);
    let packing = packing::packing(&mut stream).map_err(io)?;
    match packing {
        None => {
            let mut octets = spelled(stream, &mut |spelling| tell(name, spelling)).map_err(io)?;
            act(name, &mut *octets)
        }
        Some(_) if levels == 0 => {
            let text =
                format!("archives inside of each other more than {NESTED} deep\nhelp: unpack them first");
            Err(io(io::Error::new(io::ErrorKind::Unsupported, text)).into())
        }
        Some(Packing::Tar) => {
            let mut archive = tar::Archive::new(BoundedNames::new(stream));
            for entry in archive.entries().map_err(io)? {
                let entry = entry.map_err(io)?;
                if !entry.header().entry_type().is_file() {
                    continue;
                }
                let member = format!("{name}!{}", String::from_utf8_lossy(&entry.path_bytes()));
                if !each_in(&member, packing::stream(Box::new(entry)), levels - 1, tell, act)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Some(Packing::Zip) => members(name, &mut stream, levels, tell, act),
        Some(_) => {
            let octets = packing::unpacked(stream).map_err(io)?;
            each_in(name, packing::stream(octets), levels - 1, tell, act)
        }
    }
}

/// The same for the members of a zip archive.
fn members<E: From<io::Error>>(
    name: &str,
    stream: &mut impl BufRead,
    levels: usize,
    tell: &mut dyn FnMut(&str, Spelling),
    act: &mut dyn FnMut(&str, &mut dyn Read) -> Result<bool, E>,
) -> Result<bool, E> {
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
            let more =
                !is_file || each_in(&member, packing::stream(Box::new(&mut file)), levels - 1, tell, act)?;
            if !more {
                return Ok(false);
            }
            file.finish().map_err(io)?;
            continue;
        }
        let mut stream = io::Cursor::new(begin).chain(&mut *stream);
        let Some(file) = zip::read::read_zipfile_from_stream(&mut stream).map_err(fault)? else {
            return Ok(true);
        };
        let member = format!("{name}!{}", file.name().map_err(fault)?);
        if file.is_file() && !each_in(&member, packing::stream(Box::new(file)), levels - 1, tell, act)? {
            return Ok(false);
        }
    }
}

/// What is inside of a stream that gzip, Zstandard, bzip2, xz or compress made; others as they are.
///
/// # Errors
/// Those of the stream; [`io::ErrorKind::Unsupported`] for other packings that are known.
pub fn unpack<'r>(raw: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    packing::unpacked(packing::stream(Box::new(raw)))
}

/// Whether the octets of an input are not those of its values: compressed, an archive, or text that spells octets.
///
/// Reads the first octets of the input.
///
/// # Errors
/// Those of the input.
pub fn is_packed(input: &mut impl Read) -> io::Result<bool> {
    let mut begin = Vec::new();
    input.take(spelled::LOOKED_AT as u64).read_to_end(&mut begin)?;
    let whole = begin.len() < spelled::LOOKED_AT;
    Ok(packing::is_packed(&begin) || Spelling::of(&begin, whole).is_some())
}

fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", tercet_printable::printable(name)))
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

    fn read(octets: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        unpack(octets)?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    /// All compressed forms of the word, with their names.
    fn compressed() -> Vec<(&'static str, Vec<u8>)> {
        let octets = |hex| parse_octets(hex, Octets::UpperHex).expect("digits");
        let mut all: Vec<_> = COMPRESSED.iter().map(|(name, hex)| (*name, octets(hex))).collect();
        all.push(("zstd", zstd::encode_all(&b"tercet"[..], 3).expect("in memory")));
        all
    }

    #[test]
    fn compressed_inputs_of_several_members_and_cut_ones() {
        for (name, member) in compressed() {
            assert_eq!(read(&member).expect(name), b"tercet", "{name}");
            assert_eq!(read(&member.repeat(2)).expect(name), b"tercettercet", "{name}");
            assert!(read(&member[..member.len() - 3]).is_err(), "{name}: a cut file is an error");
            if name == "zstd" {
                // Its sum is optional, and absent here.
                continue;
            }
            let mut broken = member.clone();
            let at = member.len() - 6;
            broken[at] ^= 1;
            assert!(read(&broken).is_err(), "{name}: so is a wrong sum");
        }
    }

    #[test]
    fn zeros_after_the_last_member_are_padding_and_all_else_is_an_error() {
        for (name, member) in compressed() {
            // Boundaries of buffers, too.
            for zeros in [1, 3, 512, 70_000] {
                let padded = [&member[..], &vec![0; zeros]].concat();
                assert_eq!(read(&padded).expect(name), b"tercet", "{name}");
                assert_eq!(read(&[&padded[..], &member].concat()).expect(name), b"tercettercet", "{name}");
                let error = read(&[&padded[..], b"garbage"].concat()).unwrap_err().to_string();
                assert!(
                    error.contains(&format!("the end of the {name} stream, after {zeros} zeros: 67617262")),
                    "{error}"
                );
            }
            let error = read(&[&member[..], b"x"].concat()).unwrap_err().to_string();
            assert!(error.contains("data that is not"), "{error}");
        }
        // Frames that decoders skip, between and after.
        let zstd = zstd::encode_all(&b"tercet"[..], 3).expect("in memory");
        let skipped = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 7, 7];
        assert_eq!(read(&[&zstd[..], &skipped, &zstd, &skipped].concat()).unwrap(), b"tercettercet");
    }

    #[test]
    fn unsupported_packings_are_named() {
        let lz4 = [0x04, 0x22, 0x4D, 0x18, 0x64, 0x40, 0xA7];
        for (octets, name) in
            [(&b"7z\xBC\xAF\x27\x1C"[..], "7-Zip"), (b"Rar!\x1A\x07\0", "RAR"), (&lz4, "lz4")]
        {
            let error = read(octets).unwrap_err();
            assert!(
                error.to_string().contains(name) && error.kind() == io::ErrorKind::Unsupported,
                "{error}"
            );
        }
        // An OCTET STRING of 34 octets is one.
        assert!(read(&[0x04, 0x22, 0x4D, 0x18, 0, 0]).is_ok());
    }

    /// The files of an input with their octets.
    fn files(octets: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut found = Vec::new();
        each("a", octets, &mut |_, _| {}, &mut |name, reader| {
            let mut octets = Vec::new();
            reader.read_to_end(&mut octets)?;
            found.push((name.to_owned(), octets));
            io::Result::Ok(true)
        })?;
        Ok(found)
    }

    fn tar_of(name: &str, octets: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.set_size(octets.len() as u64);
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_data(&mut header, name, octets).expect("in memory");
        archive.into_inner().expect("in memory")
    }

    fn zip_of(name: &str, octets: &[u8]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("in memory");
        io::Write::write_all(&mut archive, octets).expect("in memory");
        archive.finish().expect("in memory").into_inner()
    }

    #[test]
    fn archives_in_archives_are_read_to_a_depth() {
        let gzip = &compressed()[0].1;
        let expected = |name: &str| vec![(name.to_owned(), b"tercet".to_vec())];
        let zip = zip_of("b.gz", gzip);
        assert_eq!(files(&zip).unwrap(), expected("a!b.gz"));
        assert_eq!(files(&zip_of("c.zip", &zip)).unwrap(), expected("a!c.zip!b.gz"));
        assert_eq!(files(&tar_of("c.zip", &zip)).unwrap(), expected("a!c.zip!b.gz"));
        let tar = zstd::encode_all(&tar_of("b", b"tercet")[..], 3).expect("in memory");
        assert_eq!(files(&zip_of("c.tar.zst", &tar)).unwrap(), expected("a!c.tar.zst!b"));
        let deep = (0..6).fold(b"tercet".to_vec(), |octets, _| zip_of("z", &octets));
        let error = files(&deep).unwrap_err().to_string();
        assert!(error.starts_with("a!z!z!z!z: archives inside of each other"), "{error}");
        // An archive of before POSIX, known by its sum alone.
        let mut old = tar_of("b", b"tercet");
        old[257..265].fill(0);
        old[148..156].fill(b' ');
        let sum: u32 = old[..512].iter().map(|octet| u32::from(*octet)).sum();
        old[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert_eq!(files(&old).unwrap(), expected("a!b"));
    }

    #[test]
    fn hidden_and_temporary_files_of_directories_are_listed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join(".git"))?;
        for name in [
            "a.ber",
            "b.ber.tmp",
            "c.filepart",
            "d.PART",
            "e~",
            ".a.ber.splits",
            ".f.ber",
            ".git/g.ber",
            "tmp",
        ] {
            fs::write(folder.path().join(name), "1")?;
        }
        let found = expand(folder.path())?;
        let names = |paths: Vec<&PathBuf>| -> Vec<String> {
            paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(names(found.files.iter().collect()), ["a.ber", "tmp"]);
        let skipped = |kind| {
            names(found.skipped.iter().filter(|skipped| skipped.kind == kind).map(|it| &it.path).collect())
        };
        assert_eq!(skipped(SkippedKind::Hidden), [".f.ber", ".git"]);
        assert_eq!(skipped(SkippedKind::Temporary), ["b.ber.tmp", "c.filepart", "d.PART", "e~"]);
        let lines = found.skipped_lines().join("\n").replace(&*folder.path().to_string_lossy(), "D");
        assert_eq!(
            lines,
            "skipping 2 hidden files: D/.f.ber, D/.git (name them to read them)\n\
             skipping 4 temporary files: D/b.ber.tmp, D/c.filepart, D/d.PART, … (name them to read them)"
        );
        // What is named is read, and what a glob says.
        let of =
            |name: &str| expand(folder.path().join(name)).map(|found| names(found.files.iter().collect()));
        assert_eq!(of("b.ber.tmp")?, ["b.ber.tmp"]);
        assert_eq!(of("*.tmp")?, ["b.ber.tmp"]);
        assert_eq!(of("*.ber*")?, ["a.ber"]);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn names_may_be_any_octets() -> io::Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(OsStr::from_bytes(b"caf\xE9.ber"));
        fs::write(&path, "1")?;
        assert_eq!(expand(&path)?.files, std::slice::from_ref(&path));
        assert_eq!(expand(folder.path())?.files, std::slice::from_ref(&path));
        assert_eq!(expand(folder.path().join("c*"))?.files, [path]);
        let missing = expand(folder.path().join(OsStr::from_bytes(b"\xE9*"))).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        Ok(())
    }
}
