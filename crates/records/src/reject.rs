//! Rejects: the raw octets in one file, that can be read again once the cause is gone, and a line about each in another.

use crate::framing::Reason;
use crate::output::Output;
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tercet_dynamic::Error;

/// What is known of a rejected stretch before its octets come.
#[derive(Clone, Debug)]
pub struct Reject {
    /// Absolute offset of its first octet in the input.
    pub offset: u64,
    /// What framing said.
    pub reason: Reason,
    /// What the decoder said, if it was asked.
    pub error: Option<Error>,
    /// Octets so far.
    pub length: u64,
}

impl Reject {
    /// The reason in words, without offset and path.
    pub fn message(&self) -> String {
        match &self.error {
            Some(error) if error.detail().is_empty() => error.kind().message().to_owned(),
            Some(error) => format!("{}: {}", error.kind().message(), error.detail()),
            None => self.reason.to_string(),
        }
    }
}

/// The pair of files that rejects go to; neither exists until something is rejected.
#[derive(Debug)]
pub struct RejectFile {
    path: PathBuf,
    /// Whether rejects go nowhere.
    dropped: bool,
    outputs: Option<(Output, Output)>,
    at: u64,
    kept: Option<Kept>,
}

/// Rejects that are for another file: their octets, and what is known of each.
#[derive(Debug, Default)]
struct Kept {
    octets: Vec<u8>,
    rejects: Vec<(String, Reject)>,
}

impl RejectFile {
    /// Rejects go to `path` and to `path` with `.jsonl` added.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), dropped: false, outputs: None, at: 0, kept: None }
    }

    /// The same pair where rejects are counted by others and not written: those that an earlier run has left are removed.
    pub fn without_octets(path: impl Into<PathBuf>) -> Self {
        Self { dropped: true, ..Self::new(path) }
    }

    /// One that keeps rejects for another to [`RejectFile::append`].
    pub fn in_memory() -> Self {
        Self { kept: Some(Kept::default()), ..Self::new("") }
    }

    /// Adds the rejects that another one has kept.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn append(&mut self, other: Self) -> io::Result<()> {
        let Some(Kept { octets, rejects }) = other.kept else { return Ok(()) };
        let mut at = 0;
        for (input, reject) in rejects {
            let end = at + reject.length as usize;
            self.octets(octets.get(at..end).unwrap_or_default())?;
            at = end;
            self.finish(&input, &reject)?;
        }
        Ok(())
    }

    /// Where the octets go, if anywhere.
    pub fn path(&self) -> Option<&Path> {
        Some(&*self.path).filter(|_| !self.dropped)
    }

    /// Adds octets of a reject.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn octets(&mut self, octets: &[u8]) -> io::Result<()> {
        if let Some(kept) = &mut self.kept {
            kept.octets.extend_from_slice(octets);
            return Ok(());
        }
        if self.dropped {
            return Ok(());
        }
        self.outputs()?.0.write_all(octets)
    }

    /// Completes a reject: its line says where it came from, why, and where its octets are in the reject file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(&mut self, input: &str, reject: &Reject) -> io::Result<()> {
        if let Some(kept) = &mut self.kept {
            kept.rejects.push((input.to_owned(), reject.clone()));
            return Ok(());
        }
        if self.dropped {
            return Ok(());
        }
        let at = self.at;
        self.at += reject.length;
        let mut line = json!({
            "input": input,
            "offset": reject.offset,
            "length": reject.length,
            "reason": reject.message(),
            "rejectOffset": at,
        });
        if let Some(error) = &reject.error {
            line["code"] = error.kind().name().into();
            line["at"] = error.offset().into();
            line["path"] = error.path().into();
        }
        let lines = &mut self.outputs()?.1;
        serde_json::to_writer(&mut *lines, &line)?;
        lines.write_all(b"\n")
    }

    /// Gives the files their names; if nothing was rejected, those that an earlier run has left are removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn commit(self) -> io::Result<()> {
        let lines = self.lines();
        if let Some((octets, lines)) = self.outputs {
            octets.commit()?;
            return lines.commit();
        }
        for stale in [self.path, lines] {
            if fs::symlink_metadata(&stale).is_ok_and(|data| data.is_file()) {
                fs::remove_file(stale)?;
            }
        }
        Ok(())
    }

    /// Where the lines go.
    fn lines(&self) -> PathBuf {
        let mut lines = self.path.clone().into_os_string();
        lines.push(".jsonl");
        lines.into()
    }

    fn outputs(&mut self) -> io::Result<&mut (Output, Output)> {
        let outputs = match self.outputs.take() {
            Some(outputs) => outputs,
            None => (Output::create(&self.path)?, Output::create(self.lines())?),
        };
        Ok(self.outputs.insert(outputs))
    }
}
