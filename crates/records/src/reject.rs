//! Rejects: the raw octets in one file, that can be read again once the cause is gone, and a line about each in another.

use crate::framing::Reason;
use crate::guard::{Guard, Overwrite};
use crate::output::Output;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
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
    /// Whether the record has a component that the type does not, and another policy would keep the record.
    pub extension: bool,
}

/// What helps where records have components that the specification does not: in the words of all interfaces.
pub const KEEP_UNKNOWN: &str =
    "for private extensions, `--unknown keep` skips components that the specification does not have";

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

/// The members that each line about a reject has: by them the files of earlier runs are known.
const MEMBERS: [&str; 5] = ["input", "offset", "length", "reason", "rejectOffset"];
/// Octets of a first line that are looked at.
const LINE: u64 = 1 << 20;

/// The pair of files that rejects go to; neither exists until something is rejected.
///
/// A pair that is there already is replaced, or removed if nothing is rejected, if an earlier run has written it: if the first line
/// of the file with the lines is one about a reject. Any other file of either name is left alone, and is an error.
#[derive(Debug)]
pub struct RejectFile {
    path: PathBuf,
    /// Whether the name follows from that of another output.
    derived: bool,
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
    ///
    /// # Errors
    /// When there is a file of one of these names that no earlier run has written.
    pub fn new(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::of(path.into(), false)
    }

    /// Rejects go beside an output: to its name with `.rejects` added.
    ///
    /// # Errors
    /// As [`RejectFile::new`].
    pub fn beside(output: &Path) -> io::Result<Self> {
        Self::of(reject_path(output), true)
    }

    fn of(path: PathBuf, derived: bool) -> io::Result<Self> {
        check(&path)?;
        Ok(Self { path, derived, dropped: false, outputs: None, at: 0, kept: None })
    }

    /// The pair beside an output where rejects are counted by others and not written: those that an earlier run has left are
    /// removed.
    pub fn without_octets(output: &Path) -> Self {
        let path = reject_path(output);
        Self { path, derived: true, dropped: true, outputs: None, at: 0, kept: None }
    }

    /// One that keeps rejects for another to [`RejectFile::append`].
    pub fn in_memory() -> Self {
        let kept = Some(Kept::default());
        Self { path: PathBuf::new(), derived: true, dropped: false, outputs: None, at: 0, kept }
    }

    /// Adds the pair of files of a name to what a run writes.
    ///
    /// # Errors
    /// When the run reads or writes one of them already; when there is a file of one of these names that no earlier run has
    /// written.
    pub fn guard(guard: &mut Guard, option: &str, path: &Path) -> Result<(), Overwrite> {
        guard.writes(option, path)?;
        guard.writes(&format!("the lines beside {option}"), &lines_path(path))?;
        check(path).map_err(|error| Overwrite::new(error.to_string()))
    }

    /// Takes the rejects that were kept in memory, each with its octets.
    pub fn take_kept(&mut self) -> Vec<(Reject, Vec<u8>)> {
        let Some(kept) = &mut self.kept else { return Vec::new() };
        let Kept { octets, rejects } = std::mem::take(kept);
        let mut at = 0;
        let with_octets = rejects.into_iter().map(|(_, reject)| {
            let end = at + reject.length as usize;
            let own = octets.get(at..end).unwrap_or_default().to_vec();
            at = end;
            (reject, own)
        });
        with_octets.collect()
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
        if reject.extension {
            line["help"] = KEEP_UNKNOWN.into();
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
        if let Some((octets, lines)) = self.outputs {
            // The octets last: where they are, the lines are, by which the next run knows them.
            lines.commit()?;
            return octets.commit();
        }
        let lines = lines_path(&self.path);
        if self.kept.is_some() || !has_lines(&lines) {
            return Ok(());
        }
        for stale in [self.path, lines] {
            if fs::symlink_metadata(&stale).is_ok_and(|data| data.is_file()) {
                fs::remove_file(&stale).map_err(|error| named(&stale, &error))?;
            }
        }
        Ok(())
    }

    fn outputs(&mut self) -> io::Result<&mut (Output, Output)> {
        let outputs = match self.outputs.take() {
            Some(outputs) => outputs,
            None => {
                let octets = if self.derived { Output::create_derived } else { Output::create };
                (octets(self.path.clone())?, Output::create_derived(lines_path(&self.path))?)
            }
        };
        Ok(self.outputs.insert(outputs))
    }
}

/// Where the rejects of an output go if nobody says otherwise.
pub fn reject_path(output: &Path) -> PathBuf {
    with_suffix(output, ".rejects")
}

/// Where the lines about rejects go.
pub(crate) fn lines_path(rejects: &Path) -> PathBuf {
    with_suffix(rejects, ".jsonl")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a file holds lines about rejects, as its first one tells.
pub(crate) fn has_lines(path: &Path) -> bool {
    // Nothing of ours is a pipe, which would be waited for.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut line = Vec::new();
    let Ok(file) = File::open(path) else { return false };
    let read = BufReader::new(file.take(LINE)).read_until(b'\n', &mut line);
    let value = read.ok().and_then(|_| serde_json::from_slice::<Value>(&line).ok());
    value.is_some_and(|value| MEMBERS.iter().all(|name| value.get(name).is_some()))
}

/// Refuses names of files that no run of ours has written.
fn check(path: &Path) -> io::Result<()> {
    let lines = lines_path(path);
    // There is nothing to lose in an empty file, and nothing is written to the place of a device or a pipe.
    let holds = |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    if has_lines(&lines) {
        return Ok(());
    }
    match [path, &lines].into_iter().find(|path| holds(path)) {
        None => Ok(()),
        Some(foreign) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "refusing to overwrite `{}`: not a reject file of an earlier run\n\
                 help: name another file with `--rejects`, or remove this one",
                tercet_printable::path(foreign)
            ),
        )),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", tercet_printable::path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject(mut file: RejectFile) -> io::Result<()> {
        file.octets(&[1, 2, 3])?;
        let reason = Reason::Identifier;
        file.finish("a.ber", &Reject { offset: 7, reason, error: None, length: 3, extension: false })?;
        file.commit()
    }

    #[test]
    fn only_files_of_earlier_runs_are_replaced_and_removed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        // Ours: written, replaced, removed.
        reject(RejectFile::new(at("r"))?)?;
        reject(RejectFile::new(at("r"))?)?;
        assert!(at("r").exists() && has_lines(&at("r.jsonl")));
        RejectFile::new(at("r"))?.commit()?;
        assert!(!at("r").exists() && !at("r.jsonl").exists());
        // Those of others, as octets and as lines; `r` is there although its run was killed before it had lines.
        for (file, text) in [("r", "notes"), ("r.jsonl", "{\"a\":1}\n"), ("r.jsonl", "no json")] {
            fs::write(at(file), text)?;
            let refused = RejectFile::new(at("r")).unwrap_err().to_string();
            assert!(refused.contains(&format!("{file}`: not a reject file of an earlier run")), "{refused}");
            assert_eq!(fs::read(at(file))?, text.as_bytes());
            fs::remove_file(at(file))?;
        }
        // An empty file is replaced, and not removed.
        fs::write(at("r"), "")?;
        RejectFile::new(at("r"))?.commit()?;
        assert!(at("r").exists());
        reject(RejectFile::new(at("r"))?)?;
        assert_eq!(fs::read(at("r"))?, [1, 2, 3]);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn rejects_beside_an_output_follow_no_link() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "precious")?;
        std::os::unix::fs::symlink(at("victim"), at("o.csv.rejects"))?;
        assert!(RejectFile::beside(&at("o.csv")).is_err());
        // Even if somebody has put lines there.
        fs::write(
            at("o.csv.rejects.jsonl"),
            r#"{"input":"a","offset":0,"length":1,"reason":"","rejectOffset":0}"#,
        )?;
        reject(RejectFile::beside(&at("o.csv"))?)?;
        assert!(!at("o.csv.rejects").is_symlink());
        assert_eq!(fs::read(at("victim"))?, b"precious");
        Ok(())
    }
}
