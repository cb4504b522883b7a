//! Output files that are there whole or not at all.

use crate::settling::Settling;
use std::fs::{self, File};
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

/// The error with the name of the file in its text.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn abandoned() -> io::Error {
    io::Error::other("the outputs have been abandoned")
}

/// Octets that one call gives to the system. With larger ones Linux took more time, and not always the same: for 1.1 GB on ext4
/// 0.25 to 1.1 s in pieces of 2.5 MB, 0.2 s in each of nine runs in pieces of 256 KiB.
const PIECE: usize = 1 << 18;

/// A file that gets its name when it is complete.
///
/// Octets go to `NAME.part` in the same directory; [`Output::commit`] flushes them to the disk and renames. If it is
/// dropped before, the part is removed and an earlier file of the name stays as it was. A symbolic link stays one, and what it
/// leads to is written so. Octets go straight to what is no file: a device, a pipe. Errors name the file.
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
    /// Begins a file.
    ///
    /// # Errors
    /// When the part cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let target = if path.is_symlink() { fs::canonicalize(&path).ok() } else { None };
        let target = target.unwrap_or_else(|| path.clone());
        let is_file = fs::metadata(&target).map_or(true, |found| found.is_file() || found.is_dir());
        let part = is_file.then(|| {
            let mut name = target.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            target.with_file_name(name)
        });
        let opened = part.as_ref().unwrap_or(&target);
        let mut parts = parts();
        if parts.abandoned {
            return Err(abandoned());
        }
        let file = File::create(opened).map_err(|error| named(opened, &error))?;
        parts.open.extend(part.clone());
        let file = Some(BufWriter::with_capacity(PIECE, file));
        Ok(Self { file, settling: Settling::default(), part, target, path })
    }

    /// What is open, for errors.
    fn opened(&self) -> &Path {
        self.part.as_ref().unwrap_or(&self.target)
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
        self.file = None;
        let Some(part) = self.part.take() else { return Ok(()) };
        let mut parts = parts();
        let done = if parts.abandoned { Err(abandoned()) } else { fs::rename(&part, &self.target) };
        if done.is_err() {
            _ = fs::remove_file(&part);
        }
        parts.open.retain(|open| *open != part);
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
                done.map_err(|error| named(self.opened(), &error))
            }
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let done = file.flush();
        done.map_err(|error| named(self.opened(), &error))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let (Some(file), Some(part)) = (self.file.take(), self.part.take()) {
            drop(file.into_parts());
            _ = fs::remove_file(&part);
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
        assert!(!path.exists() && dir.path().join("a.csv.part").exists());
        output.commit()?;
        assert_eq!(fs::read(&path)?, b"one");

        let mut output = Output::create(&path)?;
        output.write_all(b"two")?;
        drop(output);
        assert_eq!(fs::read(&path)?, b"one");
        assert_eq!(fs::read_dir(dir.path())?.count(), 1);
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
