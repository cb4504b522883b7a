//! Inputs: files, directories, globs, standard input; compressed ones are recognised by their first octets.

use crate::exit::{Failure, Outcome};
use clap::Args;
use globset::GlobBuilder;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Where data comes from.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Files, directories (all files in them) or globs; `-` or nothing is standard input
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// What was read already, with its name.
    Octets(String, Vec<u8>),
}

impl InputArgs {
    /// The inputs in the order given; those from a directory or glob in the order of names.
    pub fn expand(&self) -> Outcome<Vec<Input>> {
        if self.inputs.is_empty() {
            return Ok(vec![Input::Stdin]);
        }
        let mut inputs = Vec::new();
        for text in &self.inputs {
            if text == "-" {
                inputs.push(Input::Stdin);
                continue;
            }
            let path = PathBuf::from(text);
            match fs::metadata(&path) {
                Ok(data) if data.is_dir() => inputs.extend(below(&path, |_| true)?),
                Ok(_) => inputs.push(Input::File(path)),
                Err(_) if text.contains(['*', '?', '[', '{']) => inputs.extend(glob(text)?),
                Err(error) => return Err(Failure::io(text, &error)),
            }
        }
        Ok(inputs)
    }
}

/// All files below a directory whose path is wanted, in the order of names. Hidden files and our own outputs in the
/// making are passed over.
fn below(path: &Path, wanted: impl Fn(&Path) -> bool) -> Outcome<Vec<Input>> {
    let hidden =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with('.') && name.len() > 2);
    let walk = walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name();
    let mut inputs = Vec::new();
    for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name())) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link that leads back to where it stands.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => return Err(Failure { exit: crate::exit::Exit::Io, message: error.to_string() }),
        };
        let part = entry.path().extension().is_some_and(|suffix| suffix == "part");
        if entry.file_type().is_file() && !part && wanted(entry.path()) {
            inputs.push(Input::File(entry.into_path()));
        }
    }
    Ok(inputs)
}

fn glob(text: &str) -> Outcome<Vec<Input>> {
    let glob =
        GlobBuilder::new(text).literal_separator(true).build().map_err(Failure::usage)?.compile_matcher();
    let fixed: PathBuf = Path::new(text)
        .iter()
        .take_while(|part| !part.to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let base = if fixed.as_os_str().is_empty() { Path::new(".") } else { &fixed };
    let found = below(base, |path| glob.is_match(path.strip_prefix("./").unwrap_or(path)))?;
    if found.is_empty() {
        return Err(Failure::usage(format_args!("no file matches `{text}`")));
    }
    let strip = |input| match input {
        Input::File(path) => Input::File(path.strip_prefix("./").map(Path::to_owned).unwrap_or(path)),
        other => other,
    };
    Ok(found.into_iter().map(strip).collect())
}

impl Input {
    /// What to call it in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Octets(name, _) => name.clone(),
        }
    }

    /// Its number of octets on the disk, if that is known.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin | Self::Octets(..) => None,
            Self::File(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len()),
        }
    }

    /// Opens it; gzip, Zstandard, bzip2 and xz are unpacked.
    pub fn open(&self) -> Outcome<Box<dyn Read>> {
        let raw: Box<dyn Read> = match self {
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::Octets(_, octets) => return Ok(Box::new(io::Cursor::new(octets.clone()))),
            Self::File(path) => Box::new(File::open(path).map_err(|error| Failure::io(self.name(), &error))?),
        };
        unpack(raw).map_err(|error| Failure::io(self.name(), &error))
    }

    /// Calls `act` for the input or, if it is a tar or zip archive, for each file in it, until that gives false. The
    /// names of files in archives follow on the archive's own and `!`.
    pub fn each(&self, act: &mut dyn FnMut(&str, &mut dyn Read) -> Outcome<bool>) -> Outcome<()> {
        let name = self.name();
        let io = |error: io::Error| Failure::io(&name, &error);
        let mut stream = BufReader::with_capacity(1 << 16, self.open()?);
        let begin = stream.fill_buf().map_err(io)?;
        if begin.get(257..262) == Some(b"ustar") {
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
        if begin.starts_with(b"PK\x03\x04") {
            let zipped = |error: zip::result::ZipError| Failure::io(&name, &io::Error::other(error));
            while let Some(file) = zip::read::read_zipfile_from_stream(&mut stream).map_err(zipped)? {
                let member = format!("{name}!{}", file.name().map_err(zipped)?);
                if file.is_file() && !act(&member, &mut *unpack(file).map_err(io)?)? {
                    break;
                }
            }
            return Ok(());
        }
        act(&name, &mut stream).map(drop)
    }

    /// Reads the first octets of it, or of the first file in it.
    pub fn sample(&self, octets: u64) -> Outcome<Vec<u8>> {
        let mut sample = Vec::new();
        self.each(&mut |name, reader| {
            reader.take(octets).read_to_end(&mut sample).map_err(|error| Failure::io(name, &error))?;
            Ok(false)
        })?;
        Ok(sample)
    }

    /// Reads all of it.
    pub fn read(&self) -> Outcome<Vec<u8>> {
        let mut octets = Vec::new();
        self.open()?.read_to_end(&mut octets).map_err(|error| Failure::io(self.name(), &error))?;
        Ok(octets)
    }
}

/// What is inside of a compressed stream; others as they are.
fn unpack<'r>(raw: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut raw = BufReader::with_capacity(1 << 18, raw);
    let begin = raw.fill_buf()?;
    if begin.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return Ok(Box::new(zstd::Decoder::with_buffer(raw)?));
    }
    if begin.starts_with(&[0x1F, 0x8B, 0x08]) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(raw)));
    }
    // The level, and the first octets of a block or of an empty stream: three letters alone are no proof.
    if let [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, 0x41 | 0x72, ..] = begin {
        return Ok(Box::new(bzip2::bufread::MultiBzDecoder::new(raw)));
    }
    if begin.starts_with(&[0xFD, b'7', b'z', b'X', b'Z', 0]) {
        return Ok(Box::new(lzma_rust2::XzReader::new(raw, true)));
    }
    Ok(Box::new(raw))
}

/// Octets from hexadecimal digits; white space, `0x`, `:`, `,`, and what stands in the value notation (`'…'H`) are
/// passed over.
pub fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '\'' | '"')) {
        for digit in word.strip_prefix("0x").unwrap_or(word).chars() {
            match (digit.to_digit(16), high) {
                (Some(digit), None) => high = Some(digit as u8),
                (Some(digit), Some(first)) => {
                    octets.push(first << 4 | digit as u8);
                    high = None;
                }
                (None, _) if digit == 'H' => {}
                (None, _) => return Err(format!("`{digit}` is no hexadecimal digit")),
            }
        }
    }
    if high.is_some() { Err("a hexadecimal digit is missing at the end".to_owned()) } else { Ok(octets) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_in_many_forms() {
        for text in
            ["30030201FF", "30 03 02 01 ff", "0x30 0x03 0x02 0x01 0xff", "'3003 0201FF'H", "30:03:02:01:ff"]
        {
            assert_eq!(from_hex(text).as_deref(), Ok(&[0x30, 3, 2, 1, 0xFF][..]), "{text}");
        }
        assert!(from_hex("3").is_err() && from_hex("3g").is_err());
    }

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
            let member = from_hex(hex).expect("digits");
            let folder = tempfile::tempdir().expect("a folder");
            let read = |octets: &[u8]| {
                let path = folder.path().join("input");
                fs::write(&path, octets).expect("the input");
                Input::File(path).read()
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
