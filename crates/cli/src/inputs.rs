//! Inputs: files, directories, globs, standard input; compressed ones are recognised by their first octets.

use crate::args::writes_stdout;
use crate::exit::{Failure, Outcome};
use crate::term;
use clap::Args;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use tercet::dynamic::text::{Octets, push_octets};
use tercet::records::Guard;
use tercet::records::conversion::InputOptions;
use tercet::records::inputs::{self, Contents, Expanded, Skipped, SkippedKind, Spelling};
use tercet::records::{Stopped, Summary};
use tercet_printable::printable;

/// Where data comes from.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    #[command(flatten)]
    pub options: InputOptions,
}

/// How inputs spell octets.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct SpellingArgs {
    /// The input is hexadecimal text, a hexdump or an array in C; by PER, a value in each line
    #[arg(long)]
    pub hex: bool,

    /// The input is binary, even if it looks like PEM, base64 or hexadecimal text
    #[arg(long, conflicts_with = "hex")]
    pub binary: bool,

    /// Suppresses the message that an input was read as text.
    #[arg(skip)]
    pub quiet: bool,
}

impl SpellingArgs {
    /// Returns the same options, without that message if `quiet` is true.
    pub fn quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }
}

/// Octets of an input with a name of their own in messages.
pub struct InputPart {
    pub name: String,
    pub octets: Box<dyn Read>,
}

/// What lets a command go on without files.
const ACCEPT_EMPTY: &str = "help: `--allow-empty` accepts directories and globs without files";

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
    /// The inputs of a command that writes to standard output alone.
    pub fn expand(&self) -> Outcome<Vec<Input>> {
        let mut guard = Guard::default();
        writes_stdout(&mut guard)?;
        self.expand_beside(&mut guard, false)
    }

    /// The inputs in the order given; those from a directory or glob in the order of names. One that the command writes is
    /// refused; if it has been found in a directory, and an earlier run has written it, it is skipped. Unless the command is to be quiet, it
    /// says which files of directories are skipped.
    pub fn expand_beside(&self, guard: &mut Guard, quiet: bool) -> Outcome<Vec<Input>> {
        let InputOptions { inputs, allow_empty } = &self.options;
        if inputs.is_empty() {
            reads_stdin(guard)?;
            return Ok(vec![Input::Stdin]);
        }
        let mut found = Vec::new();
        for text in inputs {
            if text.as_os_str() == "-" {
                reads_stdin(guard)?;
                found.push(Input::Stdin);
                continue;
            }
            let mut expanded = match inputs::expand(text.as_os_str()) {
                Ok(expanded) => expanded,
                // A glob that nothing matches.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    if !allow_empty {
                        return Err(Failure::usage(format_args!("{error}\n{ACCEPT_EMPTY}")));
                    }
                    Expanded::default()
                }
                Err(error) => return Err(Failure::from(error)),
            };
            let is_named = expanded.files.len() == 1 && expanded.files[0] == *text;
            if !is_named {
                let (written, files) =
                    expanded.files.into_iter().partition(|path| guard.is_earlier_output(path));
                expanded.files = files;
                let skipped = |path: PathBuf| Skipped { path, kind: SkippedKind::Output };
                expanded.skipped.extend(Vec::into_iter(written).map(skipped));
            }
            let empty = expanded.files.is_empty();
            if !quiet || empty {
                expanded.skipped_lines().into_iter().for_each(term::say);
            }
            if empty {
                let message = format!("no input files in `{}`", tercet_printable::path(text));
                if !allow_empty {
                    return Err(Failure::usage(format_args!("{message}\n{ACCEPT_EMPTY}")));
                }
                term::warning(message);
            }
            for path in expanded.files {
                guard.reads("input", &path)?;
                found.push(Input::File(path));
            }
        }
        Ok(found)
    }
}

/// Adds the file that standard input has been redirected from, if it is one, to what a command reads.
fn reads_stdin(guard: &mut Guard) -> Outcome<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        if let Ok(found) = file.and_then(|file| file.metadata()) {
            guard.reads_open("input", "<stdin>", &found)?;
        }
    }
    #[cfg(not(unix))]
    let _ = guard;
    Ok(())
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

    /// Its name in a line for people.
    pub fn shown(&self) -> String {
        printable(&self.name()).into_owned()
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
    /// names of files in archives follow on the archive's own and `!`. Text that spells bytes is read as these bytes, which
    /// a message reports if `quiet` is false.
    pub fn each(
        &self,
        quiet: bool,
        act: &mut dyn FnMut(&str, &mut dyn Read) -> Outcome<bool>,
    ) -> Outcome<()> {
        let mut tell = |name: &str, spelling| {
            if !quiet {
                say_spelled(name, spelling);
            }
        };
        inputs::each(&self.name(), self.open()?, &mut tell, act)
    }

    /// The octets of the input; of text that spells them, in its parts: blocks, packets, arrays, or lines of digits unless
    /// they are `joined`.
    pub fn parts(&self, spelling: SpellingArgs, joined: bool) -> Outcome<Vec<InputPart>> {
        let name = self.shown();
        if spelling.binary {
            return Ok(vec![InputPart { name, octets: self.open()? }]);
        }
        let contents = inputs::contents(self.open()?, spelling.hex, joined);
        let contents = contents.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => Failure::usage(format_args!("{name}: {error}")),
            _ => Failure::io(&name, &error),
        })?;
        let (form, blocks) = match contents {
            Contents::Octets(octets) => return Ok(vec![InputPart { name, octets }]),
            Contents::Spelled(form, blocks) => (form, blocks),
        };
        if !spelling.hex && !spelling.quiet {
            say_spelled(&name, form);
        }
        let alone = blocks.len() == 1 && (joined || form != Spelling::Hex);
        let part = |block: inputs::Block| InputPart {
            name: if alone { name.clone() } else { format!("{name}:{}", block.line) },
            octets: Box::new(io::Cursor::new(block.octets)),
        };
        Ok(blocks.into_iter().map(part).collect())
    }

    /// Reads the first octets of it, or of the first file in it.
    pub fn sample(&self, octets: u64) -> Outcome<Vec<u8>> {
        let mut sample = Vec::new();
        self.each(true, &mut |name, reader| {
            reader.take(octets).read_to_end(&mut sample).map_err(|error| Failure::io(name, &error))?;
            Ok(false)
        })?;
        Ok(sample)
    }

    /// Octets that a limit has left of the part of the input with this name, if they can be known: those of a file that is
    /// neither compressed nor text.
    pub fn rest(&self, name: &str, summary: &Summary) -> Option<u64> {
        let Self::File(path) = self else { return None };
        if summary.stopped != Some(Stopped::Limit) || name != self.name() {
            return None;
        }
        let packed = File::open(path).and_then(|mut file| inputs::is_packed(&mut file)).unwrap_or(true);
        self.size().filter(|_| !packed)?.checked_sub(summary.balance.read)
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

/// Says that an input is text that spells octets; of PEM nobody expects anything else.
fn say_spelled(name: &str, spelling: Spelling) {
    if spelling != Spelling::Pem {
        term::say(format_args!("{}: {}, read as the bytes that it spells", printable(name), spelling.name()));
    }
}

#[cfg(test)]
mod tests {
    use tercet::records::inputs::from_hex;

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
