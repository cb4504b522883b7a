//! The manifest of a run into a directory: which inputs are done, so that the next run does the others only.

use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::report::verdict;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use tercet::records::Summary;

/// Its name in the directory of the outputs.
pub const NAME: &str = "tercet-run.jsonl";

/// What earlier runs have done; a line for each input, added once its outputs have their names.
#[derive(Debug)]
pub struct Manifest {
    /// What the outputs depend on besides the inputs: options and specifications.
    settings: String,
    done: HashMap<String, Value>,
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
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut octets = Vec::new();
        file.read_to_end(&mut octets)?;
        let whole = octets.iter().rposition(|octet| *octet == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        let lines = octets[..whole].split(|octet| *octet == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let done = lines.filter(|line| line["settings"] == settings.as_str());
        let done = done.filter_map(|line| Some((line["input"].as_str()?.to_owned(), line))).collect();
        Ok(Self { settings, done, file: Mutex::new(file) })
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
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
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

/// One word for what outputs depend on: the version, the options, the text of the specifications.
pub fn fingerprint(options: &str, specifications: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut add = |octets: &[u8]| {
        hash.update((octets.len() as u64).to_be_bytes());
        hash.update(octets);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(options.as_bytes());
    for path in specifications {
        add(&fs::read(path)?);
    }
    Ok(hash.finalize().iter().take(16).map(|octet| format!("{octet:02x}")).collect())
}
