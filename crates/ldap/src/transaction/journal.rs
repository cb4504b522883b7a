//! The journal of a transaction: what was to be done, written before it was done, one JSON object a line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::ldif::{Change, ModificationKind, Record, RecordModification};

/// The suffix of the files.
const SUFFIX: &str = "journal";

/// An attribute with its values.
pub(super) type Attribute = (String, Vec<Vec<u8>>);

/// An entry as it was at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) attributes: Vec<Attribute>,
    pub(super) marks: Marks,
}

/// What a server keeps to know an entry, and its last change, by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// `entryUUID` or `objectGUID`
    pub(super) uuid: Option<Vec<u8>>,
    /// `entryCSN`, `uSNChanged` or `modifyTimestamp`
    pub(super) change: Option<Vec<u8>>,
    /// Whether nobody has changed the entry since it was added, as far as its times tell; the journal does not have it.
    pub(super) is_fresh: Option<bool>,
}

/// An operation, as far as the journal knows it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) record: Record,
    pub(super) before: Option<Image>,
    /// The code of the answer; `None` if none came.
    pub(super) code: Option<u32>,
    /// What the entry was known by after the operation.
    pub(super) after: Marks,
    pub(super) undone: bool,
    /// What the entry was known by after the operation was undone.
    pub(super) after_undo: Marks,
}

/// The state of a transaction that has a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Nothing was sent yet.
    Open,
    /// Operations were sent.
    Committing,
    /// Operations are being undone.
    Undoing,
    /// An operation could not be undone because somebody else has changed its entry.
    Conflict,
}

impl State {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Committing => "committing",
            Self::Undoing => "undoing",
            Self::Conflict => "conflict",
        }
    }
}

/// The file of a journal. It is locked for as long as this value lives, so that nobody recovers a transaction that goes on.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    lines: u64,
}

/// What a journal says.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) transaction: String,
    pub(super) uris: Vec<String>,
    pub(super) bind_dn: String,
    pub(super) locks: String,
    pub(super) lease: u64,
    pub(super) names: Vec<String>,
    pub(super) steps: Vec<Step>,
    pub(super) is_undoing: bool,
    pub(super) has_conflict: bool,
    /// Whether all is done, and only the file is left.
    pub(super) is_over: bool,
}

impl Contents {
    pub(super) const fn state(&self) -> State {
        match (self.has_conflict, self.is_undoing, self.steps.is_empty()) {
            (true, ..) => State::Conflict,
            (false, true, _) => State::Undoing,
            (false, false, false) => State::Committing,
            (false, false, true) => State::Open,
        }
    }
}

fn fault(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

/// Makes the names of a folder durable.
fn sync_folder(folder: &Path) -> Result<()> {
    // Other systems have no such call, and need none.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| fault(folder, error))?;
    }
    Ok(())
}

impl Journal {
    /// Creates the journal of a transaction in a folder, which is made if it is not there. Only the user can read it: it holds
    /// values.
    pub(super) fn create(folder: &Path, transaction: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
        let path = folder.join(format!("{transaction}.{SUFFIX}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| fault(&path, error))?;
        file.lock().map_err(|error| fault(&path, error))?;
        sync_folder(folder)?;
        Ok(Self { file, path, lines: 0 })
    }

    /// Opens a journal; nothing if the transaction goes on in another process. A line that was not written to its end is cut off.
    pub(super) fn open(path: &Path) -> Result<Option<(Self, Contents)>> {
        let file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| fault(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(fault(path, error)),
        }
        let mut journal = Self { file, path: path.to_owned(), lines: 0 };
        let text = journal.text()?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let contents =
            read(text.get(..whole).unwrap_or_default()).map_err(|error| fault(path, error.message()))?;
        journal.file.set_len(whole as u64).map_err(|error| fault(path, error))?;
        journal.file.seek(SeekFrom::End(0)).map_err(|error| fault(path, error))?;
        Ok(Some((journal, contents)))
    }

    fn text(&mut self) -> Result<String> {
        let mut octets = Vec::new();
        self.file.read_to_end(&mut octets).map_err(|error| fault(&self.path, error))?;
        Ok(String::from_utf8_lossy(&octets).into_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line, and returns when it is on the disk.
    pub(super) fn write(&mut self, line: &Value) -> Result<()> {
        let text = format!("{line}\n");
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| fault(&self.path, error))?;
        self.lines += 1;
        crash(self.lines);
        Ok(())
    }

    /// Removes the file: the transaction is over.
    pub(super) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|error| fault(&self.path, error))?;
        sync_folder(self.path.parent().unwrap_or_else(|| Path::new(".")))
    }
}

/// Ends the process after a line of a journal, as a crash does, where a test asks for it.
#[cfg(debug_assertions)]
fn crash(lines: u64) {
    if std::env::var("TERCET_TEST_CRASH_AT_LINE").is_ok_and(|at| at.parse() == Ok(lines)) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
const fn crash(_: u64) {}

/// The journals of a folder, sorted by name; none if there is no such folder.
pub(super) fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(folder, error)),
    };
    let mut paths = Vec::new();
    for file in files {
        let path = file.map_err(|error| fault(folder, error))?.path();
        if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads the lines of a journal that another process may be writing.
pub(super) fn look(path: &Path) -> Result<Contents> {
    let octets = std::fs::read(path).map_err(|error| fault(path, error))?;
    let text = String::from_utf8_lossy(&octets);
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    read(text.get(..whole).unwrap_or_default()).map_err(|error| fault(path, error.message()))
}

fn value(octets: &[u8]) -> Value {
    match std::str::from_utf8(octets) {
        Ok(text) => Value::from(text),
        Err(_) => json!({ "base64": STANDARD.encode(octets) }),
    }
}

fn read_value(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        other => STANDARD.decode(other.get("base64")?.as_str()?).ok(),
    }
}

fn values(all: &[Vec<u8>]) -> Value {
    all.iter().map(|octets| value(octets)).collect()
}

fn read_values(all: &Value) -> Option<Vec<Vec<u8>>> {
    all.as_array()?.iter().map(read_value).collect()
}

fn attributes(all: &[Attribute]) -> Value {
    all.iter().map(|(name, all)| json!([name, values(all)])).collect()
}

fn read_attributes(all: &Value) -> Option<Vec<Attribute>> {
    let one = |one: &Value| Some((one.get(0)?.as_str()?.to_owned(), read_values(one.get(1)?)?));
    all.as_array()?.iter().map(one).collect()
}

/// What goes out, as an object.
fn request(record: &Record) -> Value {
    match &record.change {
        Change::Add(all) => json!({ "op": "add", "dn": record.dn, "attributes": attributes(all) }),
        Change::Delete => json!({ "op": "delete", "dn": record.dn }),
        Change::Modify(changes) => {
            let changes: Value = changes
                .iter()
                .map(|change| json!([change.kind.word(), change.attribute, values(&change.values)]))
                .collect();
            json!({ "op": "modify", "dn": record.dn, "changes": changes })
        }
        Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => json!({
            "op": "rename", "dn": record.dn, "rdn": new_rdn, "delete_old": delete_old_rdn, "superior": new_superior,
        }),
    }
}

fn read_request(object: &Value) -> Option<Record> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let change = match object.get("op")?.as_str()? {
        "add" => Change::Add(read_attributes(object.get("attributes")?)?),
        "delete" => Change::Delete,
        "modify" => {
            let one = |one: &Value| {
                let kind = ModificationKind::from_word(one.get(0)?.as_str()?)?;
                let attribute = one.get(1)?.as_str()?.to_owned();
                Some(RecordModification { kind, attribute, values: read_values(one.get(2)?)? })
            };
            Change::Modify(object.get("changes")?.as_array()?.iter().map(one).collect::<Option<_>>()?)
        }
        "rename" => Change::ModifyDn {
            new_rdn: text("rdn")?,
            delete_old_rdn: object.get("delete_old")?.as_bool()?,
            new_superior: text("superior"),
        },
        _ => return None,
    };
    Some(Record { dn: text("dn")?, controls: Vec::new(), change, is_change: true })
}

fn marks(marks: &Marks) -> Value {
    json!({ "uuid": marks.uuid.as_deref().map(value), "change": marks.change.as_deref().map(value) })
}

fn read_marks(object: &Value) -> Marks {
    let one = |name: &str| object.get(name).and_then(read_value);
    Marks { uuid: one("uuid"), change: one("change"), is_fresh: None }
}

/// The line with which a journal begins.
pub(super) fn begin(contents: &Contents, fences: &[(&str, u64)]) -> Value {
    let held: Value = fences.iter().map(|(name, fence)| json!({ "for": name, "fence": fence })).collect();
    json!({
        "t": "begin", "v": 1, "txn": contents.transaction, "uris": contents.uris, "bind": contents.bind_dn,
        "locks": contents.locks, "lease": contents.lease, "held": held,
    })
}

/// The line before a request.
pub(super) fn intent(number: usize, step: &Step) -> Value {
    let before = step
        .before
        .as_ref()
        .map(|image| json!({ "attributes": attributes(&image.attributes), "marks": marks(&image.marks) }));
    json!({ "t": "intent", "n": number, "request": request(&step.record), "before": before })
}

/// The line after an answer.
pub(super) fn result(number: usize, code: u32, after: &Marks) -> Value {
    json!({ "t": "result", "n": number, "code": code, "after": marks(after) })
}

/// A line about a whole transaction: `commit`, `undo` before the first operation is undone, `rolled-back`.
pub(super) fn mark(word: &str) -> Value {
    json!({ "t": word })
}

/// The line after an operation was undone.
pub(super) fn undone(number: usize, after: &Marks) -> Value {
    json!({ "t": "undone", "n": number, "after": marks(after) })
}

/// The line about an operation that was not undone.
pub(super) fn conflict(number: usize, dn: &str, reason: &str) -> Value {
    json!({ "t": "conflict", "n": number, "dn": dn, "reason": reason })
}

fn read(text: &str) -> Result<Contents> {
    let mut contents = Contents::default();
    for (index, line) in text.lines().enumerate() {
        let bad = || Error::new(ErrorKind::Syntax, format!("line {}: not a line of a journal", index + 1));
        let object: Map<String, Value> = serde_json::from_str(line).map_err(|_| bad())?;
        take(&mut contents, &Value::Object(object), index == 0).ok_or_else(bad)?;
    }
    Ok(contents)
}

fn take(contents: &mut Contents, object: &Value, is_first: bool) -> Option<()> {
    let kind = object.get("t")?.as_str()?;
    if (kind == "begin") != is_first {
        return None;
    }
    let number = || usize::try_from(object.get("n")?.as_u64()?).ok()?.checked_sub(1);
    match kind {
        "begin" => {
            let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let list = |name: &str| object.get(name).and_then(Value::as_array).into_iter().flatten();
            if object.get("v")?.as_u64()? != 1 {
                return None;
            }
            contents.transaction = text("txn");
            contents.bind_dn = text("bind");
            contents.locks = text("locks");
            contents.lease = object.get("lease")?.as_u64()?;
            contents.uris = list("uris").filter_map(|uri| Some(uri.as_str()?.to_owned())).collect();
            contents.names =
                list("held").filter_map(|held| Some(held.get("for")?.as_str()?.to_owned())).collect();
        }
        "intent" => {
            let before = match object.get("before")? {
                Value::Null => None,
                image => Some(Image {
                    attributes: read_attributes(image.get("attributes")?)?,
                    marks: read_marks(image.get("marks")?),
                }),
            };
            let record = read_request(object.get("request")?)?;
            if number()? != contents.steps.len() {
                return None;
            }
            contents.steps.push(Step {
                record,
                before,
                code: None,
                after: Marks::default(),
                undone: false,
                after_undo: Marks::default(),
            });
        }
        "result" => {
            let step = contents.steps.get_mut(number()?)?;
            step.code = Some(u32::try_from(object.get("code")?.as_u64()?).ok()?);
            step.after = read_marks(object.get("after")?);
        }
        "commit" | "rolled-back" => contents.is_over = true,
        "undo" => (contents.is_undoing, contents.has_conflict) = (true, false),
        "undone" => {
            let step = contents.steps.get_mut(number()?)?;
            (step.undone, step.after_undo) = (true, read_marks(object.get("after")?));
        }
        "conflict" => contents.has_conflict = true,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Vec<Step> {
        let step = |dn: &str, change, before| Step {
            record: Record { dn: dn.to_owned(), controls: Vec::new(), change, is_change: true },
            before,
            code: None,
            after: Marks::default(),
            undone: false,
            after_undo: Marks::default(),
        };
        let image = Image {
            attributes: vec![("cn".to_owned(), vec![b"a".to_vec(), vec![0xFF, 0]])],
            marks: Marks { uuid: Some(b"u".to_vec()), change: None, is_fresh: None },
        };
        let change = RecordModification {
            kind: ModificationKind::Increment,
            attribute: "n".to_owned(),
            values: vec![b"1".to_vec()],
        };
        let rename =
            Change::ModifyDn { new_rdn: "cn=b".to_owned(), delete_old_rdn: true, new_superior: None };
        vec![
            step("cn=a", Change::Add(image.attributes.clone()), None),
            step("cn=b", Change::Modify(vec![change]), Some(image.clone())),
            step("cn=c", Change::Delete, Some(image.clone())),
            step("cn=d", rename, Some(image)),
        ]
    }

    #[test]
    fn lines_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Contents {
            transaction: "t-1".to_owned(),
            uris: vec!["ldap://a".to_owned()],
            bind_dn: "cn=x".to_owned(),
            locks: "ou=locks".to_owned(),
            lease: 30,
            ..Contents::default()
        };
        let mut journal = Journal::create(folder.path(), "t-1").unwrap();
        journal.write(&begin(&begun, &[("cn=a", 7)])).unwrap();
        assert_eq!(look(journal.path()).unwrap().state(), State::Open);
        for (index, step) in steps().iter().enumerate() {
            journal.write(&intent(index + 1, step)).unwrap();
            let after = Marks { change: Some(b"csn".to_vec()), ..Marks::default() };
            journal.write(&result(index + 1, 0, &after)).unwrap();
        }
        let path = journal.path().to_owned();
        assert!(Journal::open(&path).unwrap().is_none(), "it goes on in another");
        drop(journal);
        // A line that is not whole is no line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"t\":\"und").unwrap();
        let (mut journal, contents) = Journal::open(&path).unwrap().unwrap();
        assert_eq!(
            (contents.names.as_slice(), contents.state()),
            (&["cn=a".to_owned()][..], State::Committing)
        );
        for (known, read) in steps().iter().zip(&contents.steps) {
            assert_eq!((&known.record, &known.before), (&read.record, &read.before));
            assert_eq!((read.code, read.after.change.as_deref()), (Some(0), Some(&b"csn"[..])));
        }
        for (line, state, over) in [
            (mark("undo"), State::Undoing, false),
            (undone(4, &Marks::default()), State::Undoing, false),
            (conflict(3, "cn=c", "x"), State::Conflict, false),
            (mark("undo"), State::Undoing, false),
            (mark("rolled-back"), State::Undoing, true),
        ] {
            journal.write(&line).unwrap();
            let contents = look(&path).unwrap();
            assert_eq!((contents.state(), contents.is_over), (state, over));
        }
        assert!(look(&path).unwrap().steps[3].undone);
        journal.remove().unwrap();
        assert!(paths(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn faults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.journal");
        for text in ["x\n", "{}\n", "{\"t\":\"commit\"}\n", "{\"t\":\"begin\",\"v\":2,\"lease\":1}\n", "[]\n"]
        {
            std::fs::write(&path, text).unwrap();
            let error = look(&path).unwrap_err();
            assert!(error.message().contains("line 1"), "{text}: {error}");
        }
    }
}
