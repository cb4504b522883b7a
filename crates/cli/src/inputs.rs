//! Inputs: files, directories, globs, standard input; compressed ones are recognised by their first octets.

use crate::exit::{Failure, Outcome};
use clap::Args;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use tercet::dynamic::text::{Octets, push_octets};
use tercet::records::inputs;

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
        let mut found = Vec::new();
        for text in &self.inputs {
            if text == "-" {
                found.push(Input::Stdin);
                continue;
            }
            let files = inputs::expand(text).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => Failure::usage(error),
                _ => Failure::from(error),
            })?;
            found.extend(files.into_iter().map(Input::File));
        }
        Ok(found)
    }
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
        inputs::unpack(raw).map_err(|error| Failure::io(self.name(), &error))
    }

    /// Calls `act` for the input or, if it is a tar or zip archive, for each file in it, until that gives false. The
    /// names of files in archives follow on the archive's own and `!`.
    pub fn each(&self, act: &mut dyn FnMut(&str, &mut dyn Read) -> Outcome<bool>) -> Outcome<()> {
        inputs::each(&self.name(), self.open()?, act)
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

    /// The SHA-256 of a file as it is on the disk, in hexadecimal as `sha256sum` has it; nothing of what comes once.
    pub fn sha256(&self) -> Outcome<Option<String>> {
        let Self::File(path) = self else { return Ok(None) };
        let named = |error: io::Error| Failure::io(self.name(), &error);
        let mut file = File::open(path).map_err(named)?;
        if !file.metadata().map_err(named)?.is_file() {
            return Ok(None);
        }
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hash.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(named(error)),
            }
        }
        let mut text = Vec::new();
        push_octets(&mut text, &hash.finalize(), Octets::LowerHex);
        Ok(String::from_utf8(text).ok())
    }

    /// Reads all of it.
    pub fn read(&self) -> Outcome<Vec<u8>> {
        let mut octets = Vec::new();
        self.open()?.read_to_end(&mut octets).map_err(|error| Failure::io(self.name(), &error))?;
        Ok(octets)
    }
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
}
