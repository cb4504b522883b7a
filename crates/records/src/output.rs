//! Output files that are there whole or not at all.

use crate::settling::Settling;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::BuildHasher;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The parts that exist now, for [`abandon`].
static PARTS: Mutex<Parts> = Mutex::new(Parts { open: Vec::new(), abandoned: false });

struct Parts {
    open: Vec<PathBuf>,
    abandoned: bool,
}

fn parts() -> MutexGuard<'static, Parts> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the parts of all outputs that are not complete, whoever holds them; no output can be begun or completed from
/// then on. For a process that has been told to end while it waits for input.
pub fn abandon() {
    let mut parts = parts();
    parts.abandoned = true;
    for part in parts.open.drain(..) {
        _ = fs::remove_file(part);
    }
}

/// Removes the parts that processes have left in a directory which were killed: those that nobody has locked.
pub fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten().filter(|entry| is_part(&entry.file_name().to_string_lossy())) {
        // A link or a pipe of such a name is not ours.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            _ = fs::remove_file(entry.path());
        }
    }
}

/// The error with the name of the file in its text.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", tercet_printable::path(path)))
}

fn abandoned() -> io::Error {
    io::Error::other("the outputs have been abandoned")
}

/// Octets that one call gives to the system. With larger ones Linux took more time, and not always the same: for 1.1 GB on ext4
/// 0.25 to 1.1 s in pieces of 2.5 MB, 0.2 s in each of nine runs in pieces of 256 KiB.
const PIECE: usize = 1 << 18;

/// What stands before the random digits of a part's name, and behind them.
const MARK: &str = ".tercet-";
const SUFFIX: &str = ".part";
/// Octets of an output's name that its part is called by: with all the rest there are fewer than 255.
const NAME: usize = 180;
/// Names that are tried: that one is taken by chance once does not happen.
const ATTEMPTS: usize = 16;

/// Whether a file has the name of a part.
fn is_part(name: &str) -> bool {
    let digits = name.strip_suffix(SUFFIX).and_then(|name| name.rsplit_once(MARK));
    digits.is_some_and(|(name, digits)| {
        name.starts_with('.') && digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Creates the part of a file beside it: under a name that nobody can know before, and never through a link. It is locked, so
/// that [`sweep`] tells it from what a killed process has left.
fn begin_part(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    let name = &name[..end.unwrap_or(0)];
    let mut attempts = 0;
    loop {
        // The keys of a hasher are random, so that its digest is.
        let digits = RandomState::new().hash_one(target);
        let part = target.with_file_name(format!(".{name}{MARK}{digits:016x}{SUFFIX}"));
        attempts += 1;
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Ok(file) => match file.try_lock() {
                // One that sweeps has been faster.
                Err(TryLockError::WouldBlock) if attempts < ATTEMPTS => {}
                Ok(()) if !part.exists() && attempts < ATTEMPTS => {}
                // Not all file systems have locks.
                _ => return Ok((file, part)),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file that gets its name when it is complete.
///
/// Octets go to a part in the same directory, a hidden file with `.part` at the end of its name; [`Output::commit`] flushes them
/// to the disk and renames. If it is dropped before, the part is removed and an earlier file of the name stays as it was. Octets go
/// straight to what is no file: a device, a pipe. Errors name the file.
#[derive(Debug)]
pub struct Output {
    file: Option<BufWriter<File>>,
    settling: Settling,
    /// The part; nothing where octets go straight.
    part: Option<PathBuf>,
    /// What gets the octets: `path`, or what a link of that name leads to.
    target: PathBuf,
    path: PathBuf,
}

impl Output {
    /// Begins a file that somebody has named. A symbolic link stays one, and what it leads to is written.
    ///
    /// # Errors
    /// When the part cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let target = if path.is_symlink() { fs::canonicalize(&path).ok() } else { None };
        let target = target.unwrap_or_else(|| path.clone());
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => Err(named(&path, &io::ErrorKind::IsADirectory.into())),
            // Opening a pipe waits for a reader: nothing is held that one who ends the process waits for.
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(&target);
                let file = file.map_err(|error| named(&path, &error))?;
                Ok(Self::new(file, None, target, path))
            }
            _ => Self::begin(target, path),
        }
    }

    /// Begins a file whose name follows from that of another: a symbolic link of this name is replaced and not followed, as it
    /// is none that somebody has asked for.
    ///
    /// # Errors
    /// When the part cannot be created; when there is a directory, a device or a pipe of this name.
    pub fn create_derived(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() && !found.is_symlink() => {
                Err(named(&path, &io::Error::new(io::ErrorKind::AlreadyExists, "not a file")))
            }
            _ => Self::begin(path.clone(), path),
        }
    }

    fn begin(target: PathBuf, path: PathBuf) -> io::Result<Self> {
        let mut parts = parts();
        if parts.abandoned {
            return Err(abandoned());
        }
        let (file, part) = begin_part(&target).map_err(|error| named(&path, &error))?;
        parts.open.push(part.clone());
        drop(parts);
        Ok(Self::new(file, Some(part), target, path))
    }

    fn new(file: File, part: Option<PathBuf>, target: PathBuf, path: PathBuf) -> Self {
        let file = Some(BufWriter::with_capacity(PIECE, file));
        Self { file, settling: Settling::default(), part, target, path }
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When the octets do not reach the disk; the part is then removed.
    pub fn commit(mut self) -> io::Result<()> {
        self.settle()?;
        self.rename()
    }

    /// Completes files and gives them their names once all of them are on the disk, and `before` has been done.
    ///
    /// # Errors
    /// As [`Output::commit`], and those of `before`; no file has its name then, but for those before one that could not be
    /// renamed.
    pub fn commit_all(mut outputs: Vec<Self>, before: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        outputs.iter_mut().try_for_each(Self::settle)?;
        before()?;
        outputs.into_iter().try_for_each(Self::rename)
    }

    /// Brings all octets to the disk.
    fn settle(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let is_kept = self.part.is_some();
        let done = file.flush().and_then(|()| self.settling.end());
        let done = done.and_then(|()| if is_kept { file.get_ref().sync_all() } else { Ok(()) });
        done.map_err(|error| named(&self.path, &error))
    }

    fn rename(mut self) -> io::Result<()> {
        // It is locked up to the end: one that sweeps must not take it before it has its name.
        let file = self.file.take();
        let Some(part) = self.part.take() else { return Ok(()) };
        let mut parts = parts();
        let done = if parts.abandoned { Err(abandoned()) } else { fs::rename(&part, &self.target) };
        if done.is_err() {
            _ = fs::remove_file(&part);
        }
        parts.open.retain(|open| *open != part);
        drop(file);
        done.map_err(|error| named(&self.path, &error))
    }
}

impl Write for Output {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => {
                let done = file.write(&octets[..octets.len().min(PIECE)]);
                if let (Ok(count), true) = (&done, self.part.is_some()) {
                    self.settling.written(file.get_ref(), *count);
                }
                done.map_err(|error| named(&self.path, &error))
            }
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let done = file.flush();
        done.map_err(|error| named(&self.path, &error))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let (Some(file), Some(part)) = (self.file.take(), self.part.take()) {
            _ = fs::remove_file(&part);
            drop(file.into_parts());
            parts().open.retain(|open| *open != part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_whole_or_not_at_all() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("a.csv");
        let mut output = Output::create(&path)?;
        output.write_all(b"one")?;
        assert!(!path.exists() && names(dir.path())?.iter().all(|name| is_part(name)));
        assert!(names(dir.path())?[0].starts_with(".a.csv.tercet-"));
        output.commit()?;
        assert_eq!(fs::read(&path)?, b"one");

        let mut output = Output::create(&path)?;
        output.write_all(b"two")?;
        drop(output);
        assert_eq!(fs::read(&path)?, b"one");
        assert_eq!(names(dir.path())?, ["a.csv"]);
        Ok(())
    }

    fn names(dir: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    #[test]
    fn what_killed_processes_have_left_is_swept_away() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let left = dir.path().join(".a.csv.tercet-0123456789abcdef.part");
        let others = [".a.csv.part", "a.csv.tercet-0123456789abcdef.part", ".a.csv.tercet-0123.part"];
        fs::write(&left, "left")?;
        others.iter().try_for_each(|name| fs::write(dir.path().join(name), "kept"))?;
        let mut output = Output::create(dir.path().join("a.csv"))?;
        output.write_all(b"one")?;
        sweep(dir.path());
        output.commit()?;
        sweep(dir.path());
        assert!(!left.exists() && dir.path().join("a.csv").exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
        Ok(())
    }

    #[test]
    fn long_names_have_parts_too() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        for name in ["a".repeat(255), "ä".repeat(127)] {
            let mut output = Output::create(dir.path().join(&name))?;
            output.write_all(b"one")?;
            output.commit()?;
            assert_eq!(fs::read(dir.path().join(&name))?, b"one");
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn names_that_follow_from_others_follow_no_links() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let (victim, path) = (dir.path().join("victim"), dir.path().join("a.csv.header"));
        fs::write(&victim, "precious")?;
        std::os::unix::fs::symlink(&victim, &path)?;
        // Nor is anything that had the name which parts had in earlier versions.
        std::os::unix::fs::symlink(&victim, dir.path().join("a.csv.header.part"))?;
        let mut output = Output::create_derived(&path)?;
        output.write_all(b"one")?;
        output.commit()?;
        assert!(!path.is_symlink());
        assert_eq!((fs::read(&path)?, fs::read(&victim)?), (b"one".to_vec(), b"precious".to_vec()));
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success());
        assert!(Output::create_derived(&pipe).unwrap_err().to_string().ends_with("pipe: not a file"));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_stay_what_they_are() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let (file, link) = (dir.path().join("a.csv"), dir.path().join("link.csv"));
        fs::write(&file, b"one")?;
        std::os::unix::fs::symlink(&file, &link)?;
        let mut output = Output::create(&link)?;
        output.write_all(b"two")?;
        assert_eq!(fs::read(&file)?, b"one");
        output.commit()?;
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file)?, b"two");

        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe)
        });
        let mut output = Output::create(&pipe)?;
        output.write_all(b"three")?;
        output.commit()?;
        assert_eq!(reader.join().unwrap()?, b"three");
        assert!(!fs::metadata(&pipe)?.is_file());
        assert_eq!(fs::read_dir(dir.path())?.count(), 3);
        Ok(())
    }
}
