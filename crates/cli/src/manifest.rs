//! The manifest of a run into a directory: which inputs are done, so that the next run does the others only.

use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::report::verdict;
use crate::term;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use tercet::records::Summary;
use tercet::records::conversion::Fingerprint;

pub use tercet::records::MANIFEST as NAME;

/// What earlier runs have done; a line for each input, added once its outputs have their names.
#[derive(Debug)]
pub struct Manifest {
    /// What the outputs depend on besides the inputs: options and specifications.
    settings: String,
    done: HashMap<String, Value>,
    /// Lines of versions whose settings cannot be compared with these.
    earlier: u64,
    file: Mutex<File>,
}

impl Manifest {
    /// Opens the manifest of a directory, which may not have one yet. A line that a killed run has left unfinished is cut.
    pub fn open(dir: &Path, settings: String) -> Outcome<Self> {
        let path = dir.join(NAME);
        let named = |error| Failure::io(path.display(), &error);
        Self::read(&path, settings).map_err(named)
    }

    fn read(path: &Path, settings: String) -> io::Result<Self> {
        let mut file = open_plain(path)?;
        let mut octets = Vec::new();
        file.read_to_end(&mut octets)?;
        let whole = octets.iter().rposition(|octet| *octet == b'\n').map_or(0, |at| at + 1);
        let (mut done, mut earlier) = (HashMap::new(), 0);
        for (index, line) in octets[..whole].split_inclusive(|octet| *octet == b'\n').enumerate() {
            let line = checked(&line[..line.len() - 1]).ok_or_else(|| damaged(index + 1))?;
            let is_current = line["settings"].as_str().is_some_and(Fingerprint::is_current);
            earlier += u64::from(!is_current);
            if line["settings"] == settings.as_str()
                && let Some(input) = line["input"].as_str()
            {
                done.insert(input.to_owned(), line);
            }
        }
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { settings, done, earlier, file: Mutex::new(file) })
    }

    /// Returns what to say of lines of other versions.
    pub fn warning(&self) -> Option<String> {
        (self.earlier > 0).then(|| {
            format!(
                "{NAME}: {} from a version whose options cannot be compared; their inputs count as not converted",
                term::count(self.earlier, "line")
            )
        })
    }

    /// The line of an input that need not be done again: neither it nor its output has changed since, nor have the child
    /// tables beside.
    pub fn done(&self, input: &Input, output: &Path, children: &[PathBuf]) -> Option<&Value> {
        let line = self.done.get(&input.name())?;
        let size = fs::metadata(output).ok()?.len();
        let same = line["output"] == output.display().to_string().as_str() && line["octets"] == size;
        let same = same && line["children"] == sizes(children).ok()?;
        (same && line["state"] == state(input)? && line["complete"] == true).then_some(line)
    }

    /// Notes that the outputs of an input are there.
    pub fn add<'s>(
        &self,
        input: &Input,
        output: &Path,
        children: &[PathBuf],
        summaries: impl Iterator<Item = &'s Summary>,
        sha256: Option<&str>,
    ) -> io::Result<()> {
        let (mut records, mut rejects, mut complete, mut exit) = (0, 0, true, Exit::Good);
        for summary in summaries {
            records += summary.records;
            rejects += summary.rejects;
            complete &= summary.stopped.is_none();
            exit = exit.max(verdict(summary));
        }
        let mut line = json!({
            "input": input.name(),
            "state": state(input),
            "settings": self.settings,
            "output": output.display().to_string(),
            "octets": fs::metadata(output)?.len(),
            "records": records,
            "rejects": rejects,
            "complete": complete,
            "exit": exit as u8,
        });
        let children = sizes(children)?;
        if !children.is_null() {
            line["children"] = children;
        }
        if let Some(sha256) = sha256 {
            line["sha256"] = sha256.into();
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(with_sum(&line.to_string()).as_bytes())?;
        file.sync_data()
    }
}

/// Opens a file for reading and writing that is or becomes a plain file: no link is followed, no pipe is waited for.
fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        // Should anything come to be there meanwhile, this fails.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return options.create_new(true).open(path),
        Err(error) => return Err(error),
    };
    let other = || {
        io::Error::new(
            io::ErrorKind::AlreadyExists,
            "not a regular file: the manifest of a run cannot be a link or a pipe",
        )
    };
    if !found.is_file() {
        return Err(other());
    }
    let file = options.open(path)?;
    // It may have been replaced between the two looks.
    if same(&found, &file.metadata()?) { Ok(file) } else { Err(other()) }
}

#[cfg(unix)]
fn same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// What stands between a line and its sum, and behind it.
const SUM: (&str, &str) = (",\"sum\":\"", "\"}");
/// Digits of a sum.
const DIGITS: usize = 16;

/// The JSON object of a line, with a sum of its text as the last member, and a line feed.
fn with_sum(object: &str) -> String {
    let members = object.strip_suffix('}').unwrap_or(object);
    format!("{members}{}{}{}\n", SUM.0, sum(members), SUM.1)
}

fn sum(text: &str) -> String {
    hexadecimal(&Sha256::digest(text)[..DIGITS / 2])
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The object of a line, if the line is what was written.
fn checked(line: &[u8]) -> Option<Value> {
    let text = str::from_utf8(line).ok()?;
    let (members, digits) =
        text.strip_suffix(SUM.1)?.split_at_checked(text.len().checked_sub(SUM.1.len() + DIGITS)?)?;
    let members = members.strip_suffix(SUM.0)?;
    if digits != sum(members) {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn damaged(line: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!(
            "line {line} is damaged\nhelp: remove this line, and its input is converted again; without the file, all inputs are"
        ),
    )
}

/// The numbers of octets of files; nothing if there are none.
fn sizes(paths: &[PathBuf]) -> io::Result<Value> {
    let size = |path: &PathBuf| Ok((path.display().to_string(), fs::metadata(path)?.len().into()));
    let sizes = paths.iter().map(size).collect::<io::Result<serde_json::Map<_, _>>>()?;
    Ok(if sizes.is_empty() { Value::Null } else { sizes.into() })
}

/// Size and time of change of an input, if it is a file.
pub fn state(input: &Input) -> Option<String> {
    let Input::File(path) = input else { return None };
    let data = fs::metadata(path).ok()?;
    let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} octets, changed {}.{:09}", data.len(), changed.as_secs(), changed.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_manifest_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let read = || Manifest::read(&path, "1:s".to_owned()).map(|manifest| manifest.done.len());
        let lines =
            [r#"{"input":"a","settings":"1:s"}"#, r#"{"input":"b","settings":"1:s"}"#].map(with_sum).concat();
        fs::write(&path, &lines).unwrap();
        assert_eq!(read().unwrap(), 2);
        for at in 0..lines.len() {
            let mut octets = lines.clone().into_bytes();
            octets[at] ^= 2;
            fs::write(&path, octets).unwrap();
            // The end of the last line tells that it is one.
            match read() {
                Ok(count) => assert_eq!((count, at), (1, lines.len() - 1)),
                Err(error) => assert!(error.to_string().contains(" is damaged\nhelp: ")),
            }
        }
        // A line that a killed run has left.
        fs::write(&path, &lines[..lines.len() - 9]).unwrap();
        assert_eq!(read().unwrap(), 1);
    }

    #[test]
    fn lines_of_other_versions_are_reported_and_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let of = |settings: &str| with_sum(&format!(r#"{{"input":"{settings}","settings":"{settings}"}}"#));
        let warning = |lines: &[String]| {
            fs::write(&path, lines.concat()).unwrap();
            let manifest = Manifest::read(&path, "1:s".to_owned()).unwrap();
            (manifest.done.len(), manifest.warning())
        };
        assert_eq!(warning(&[of("1:s"), of("1:t")]), (1, None));
        let (done, text) = warning(&[of("816b0729212181bd7ab228eb3a3636cc"), of("1:s"), of("2:s")]);
        assert_eq!(done, 1);
        assert!(text.unwrap().contains("2 lines from a version whose options cannot be compared"));
    }

    #[cfg(unix)]
    #[test]
    fn a_manifest_is_no_link_and_no_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, path) = (folder.path().join("victim"), folder.path().join(NAME));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let refused = || Manifest::open(folder.path(), String::new()).unwrap_err().message;
        assert!(refused().contains("not a regular file"));
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(refused().contains("not a regular file"));
    }
}
