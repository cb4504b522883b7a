//! Files that a run reads and files that it writes: none of them may be both.
//!
//! Two names are the same file if they lead to the same device and inode, through links and `./`; where nothing stands under a
//! name yet, if their directories are the same and the names are. Devices and pipes are no files: they may be named as often as
//! one likes.

use crate::own::is_output;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use tercet_printable::path as printable;

/// What a run reads and writes, collected before it opens anything.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    read: HashMap<FileId, (PathBuf, &'static str)>,
    written: HashMap<FileId, (PathBuf, String)>,
    /// The output that child tables are written beside.
    tables_of: Option<PathBuf>,
    /// Whether inputs may be skipped that earlier runs have written.
    skips_outputs: bool,
}

/// Why a run does not begin: it would overwrite what it reads, or one of its outputs by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwrite(String);

impl Overwrite {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for Overwrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Overwrite {}

impl From<Overwrite> for io::Error {
    fn from(refused: Overwrite) -> Self {
        Self::new(io::ErrorKind::InvalidInput, refused)
    }
}

impl Guard {
    /// Adds a file that is read; `noun` is what it is to the run, as in "the input".
    ///
    /// # Errors
    /// When the run writes it.
    pub fn reads(&mut self, noun: &'static str, path: &Path) -> Result<(), Overwrite> {
        let Some(id) = FileId::of(path) else { return Ok(()) };
        if let Some((written, option)) = self.written.get(&id) {
            return Err(overwritten(noun, path, option, written));
        }
        self.read.entry(id).or_insert_with(|| (path.to_owned(), noun));
        Ok(())
    }

    /// Adds an open file that is read, such as the one that standard input has been redirected from.
    ///
    /// # Errors
    /// When the run writes it.
    pub fn reads_open(&mut self, noun: &'static str, name: &str, file: &Metadata) -> Result<(), Overwrite> {
        let Some(id) = FileId::of_open(file) else { return Ok(()) };
        if let Some((written, option)) = self.written.get(&id) {
            return Err(overwritten(noun, Path::new(name), option, written));
        }
        self.read.entry(id).or_insert_with(|| (PathBuf::from(name), noun));
        Ok(())
    }

    /// Adds a file that is written; `option` is what names it: "`--rejects`", or "the reject file".
    ///
    /// # Errors
    /// When the run reads it, another output of the run is the same file, or a directory has this name.
    pub fn writes(&mut self, option: &str, path: &Path) -> Result<(), Overwrite> {
        if path.is_dir() {
            let path = printable(path);
            return Err(Overwrite(format!("{option}: `{path}` is a directory\nhelp: name a file")));
        }
        let Some(id) = FileId::of(path) else { return Ok(()) };
        if let Some((read, noun)) = self.read.get(&id) {
            return Err(overwritten(noun, read, option, path));
        }
        if let Some((other, other_option)) = self.written.get(&id) {
            let (path, other) = (printable(path), printable(other));
            return Err(Overwrite(format!(
                "{other_option} (`{other}`) and {option} (`{path}`) are the same file\nhelp: name another file for one of them"
            )));
        }
        self.written.insert(id, (path.to_owned(), option.to_owned()));
        Ok(())
    }

    /// Adds an open file that is written, such as the one that standard output has been redirected to.
    ///
    /// # Errors
    /// When the run reads it.
    pub fn writes_open(&mut self, option: &str, file: &Metadata) -> Result<(), Overwrite> {
        let Some(id) = FileId::of_open(file) else { return Ok(()) };
        if let Some((read, noun)) = self.read.get(&id) {
            return Err(overwritten(noun, read, option, Path::new("-")));
        }
        self.written.entry(id).or_insert_with(|| (PathBuf::from("-"), option.to_owned()));
        Ok(())
    }

    /// Adds the child tables of an output, `NAME.TABLE.SUFFIX` of `NAME.SUFFIX`, whose names are not known before inputs have been
    /// looked at.
    pub fn writes_tables_of(&mut self, output: &Path) {
        self.tables_of = Some(output.to_owned());
    }

    /// Lets outputs of earlier runs be skipped among inputs. Without, a file that the run writes is refused as an input wherever
    /// it has been found: where inputs look like outputs, as text that is encoded, nothing tells one from the other.
    pub fn skip_outputs(&mut self) {
        self.skips_outputs = true;
    }

    /// Whether a file that has been found among inputs is an output that an earlier run has left, and the run writes again.
    pub fn is_earlier_output(&self, path: &Path) -> bool {
        self.skips_outputs && self.is_written(path) && is_output(path)
    }

    /// Whether the run writes a file.
    pub fn is_written(&self, path: &Path) -> bool {
        let is_table = self.tables_of.as_ref().is_some_and(|output| is_table_of(output, path));
        is_table || FileId::of(path).is_some_and(|id| self.written.contains_key(&id))
    }
}

fn overwritten(noun: &str, read: &Path, option: &str, written: &Path) -> Overwrite {
    let (read, written) = (printable(read), printable(written));
    Overwrite(format!(
        "refusing to overwrite the {noun} `{read}`: {option} (`{written}`) is the same file\nhelp: name another file"
    ))
}

fn is_table_of(output: &Path, path: &Path) -> bool {
    let (Some(name), Some(file)) = (output.file_stem(), path.file_stem()) else { return false };
    let inner = file.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
    inner.is_some_and(|inner| inner.len() > 1 && inner[0] == b'.')
        && output.extension() == path.extension()
        && resolved(output).parent() == resolved(path).parent()
}

/// What two names of one file have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileId {
    /// Device and inode.
    #[cfg(unix)]
    Inode(u64, u64),
    /// The path without links; of a file that is not there yet, or where there are no inodes.
    Path(PathBuf),
}

impl FileId {
    /// None for what is no file: devices, pipes, directories.
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => None,
            Ok(found) => Self::of_open(&found).or_else(|| fs::canonicalize(path).ok().map(Self::Path)),
            Err(_) => Some(Self::Path(resolved(path))),
        }
    }

    #[cfg(unix)]
    fn of_open(file: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        file.is_file().then(|| Self::Inode(file.dev(), file.ino()))
    }

    #[cfg(not(unix))]
    fn of_open(_: &Metadata) -> Option<Self> {
        None
    }
}

/// The path without links and `..`, as far as its directories are there.
fn resolved(path: &Path) -> PathBuf {
    let mut known = path;
    let mut missing = Vec::new();
    loop {
        let here = if known.as_os_str().is_empty() { Path::new(".") } else { known };
        if let Ok(mut found) = fs::canonicalize(here) {
            for part in missing.into_iter().rev() {
                match part {
                    Component::ParentDir => _ = found.pop(),
                    part => found.push(part),
                }
            }
            return found;
        }
        // `a/.` has the parent `a` and no file name: components are what is left of a path.
        let mut parts = known.components();
        let Some(last) = parts.next_back() else { return path.to_owned() };
        missing.push(last);
        known = parts.as_path();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_under_all_its_names() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub"))?;
        fs::write(at("in.ber"), "1")?;
        fs::write(at("other"), "1")?;
        let mut names = vec![at("in.ber"), at("./in.ber"), at("sub/../in.ber")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("in.ber", at("link"))?;
            std::os::unix::fs::symlink(at("link"), at("link of a link"))?;
            std::os::unix::fs::symlink(folder.path(), at("sub/up"))?;
            fs::hard_link(at("in.ber"), at("hard"))?;
            names.extend([at("link"), at("link of a link"), at("sub/up/in.ber"), at("hard")]);
        }
        for name in &names {
            let mut guard = Guard::default();
            guard.reads("input", &at("in.ber")).unwrap();
            guard.writes("`-o`", &at("other")).unwrap();
            let refused = guard.writes("`--rejects`", name).unwrap_err().to_string();
            assert!(refused.starts_with("refusing to overwrite the input `"), "{refused}");
            // And in the other order.
            let mut guard = Guard::default();
            guard.writes("`--rejects`", name).unwrap();
            assert!(guard.reads("input", &at("in.ber")).is_err() && guard.is_written(&at("in.ber")));
        }
        Ok(())
    }

    #[test]
    fn so_is_one_that_is_not_there_yet() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub"))?;
        for name in ["new.csv", "./new.csv", "sub/../new.csv", "new/../new.csv"] {
            let mut guard = Guard::default();
            guard.writes("`-o`", &at("new.csv")).unwrap();
            guard.writes("`--rejects`", &at("sub/new.csv")).unwrap();
            let refused = guard.writes("`--summary`", &at(name)).unwrap_err().to_string();
            assert!(refused.contains("are the same file"), "{refused}");
        }
        assert!(Guard::default().writes("`-o`", &at("sub")).unwrap_err().0.contains("is a directory"));
        Ok(())
    }

    #[test]
    fn child_tables_are_written_beside_their_output() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("sub"))?;
        let mut guard = Guard::default();
        guard.writes_tables_of(&folder.path().join("out.csv"));
        for (name, is_table) in [
            ("out.data.volumes.csv", true),
            ("sub/../out.a.csv", true),
            ("out.csv", false),
            ("out.a.json", false),
            ("outer.a.csv", false),
            ("sub/out.a.csv", false),
        ] {
            assert_eq!(guard.is_written(&folder.path().join(name)), is_table, "{name}");
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn devices_may_be_named_twice() {
        let mut guard = Guard::default();
        for _ in 0..2 {
            guard.writes("`-o`", Path::new("/dev/null")).unwrap();
            guard.reads("input", Path::new("/dev/null")).unwrap();
        }
    }
}
