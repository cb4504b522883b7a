//! `tercet convert --watch`: which files have come into directories and are complete.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tercet::records::{Guard, inputs};

/// How often the flag that says to stop is looked at.
const TICK: Duration = Duration::from_millis(50);
/// A file that has failed is left alone for a look, for two after the next time, and so on up to two to the power of this.
const PATIENCE: u32 = 6;

/// Intervals after which a file that ends inside a record is taken as complete all the same.
const SETTLED: u32 = 30;

/// Directories that are looked at again and again.
///
/// A file is complete when it has the size and the time of change that it had at the look before: one that is renamed into
/// its directory is taken at the second look. One that ends inside a record then is waited for, up to [`SETTLED`] intervals.
#[derive(Debug)]
pub struct Watch {
    folders: Vec<PathBuf>,
    /// Where the outputs go; what is below is no input.
    output: PathBuf,
    /// What else is written, which is no input either.
    guard: Guard,
    interval: Duration,
    files: HashMap<PathBuf, Seen>,
    /// Which file an output's name belongs to: the first of its name, also once it has gone.
    names: HashMap<OsString, PathBuf>,
    next: Option<Instant>,
}

/// What is known of a file.
#[derive(Clone, Debug)]
struct Seen {
    state: (u64, SystemTime),
    /// Whether it has been given as complete, in this state.
    given: bool,
    failures: u32,
    not_before: Option<Instant>,
}

impl Watch {
    /// For directories, and one that outputs go to.
    pub fn new(folders: &[PathBuf], output: &Path, interval: Duration, guard: &Guard) -> Outcome<Self> {
        if folders.is_empty() {
            return Err(Failure::usage("`--watch` requires the directory in which files arrive"));
        }
        fs::create_dir_all(output).map_err(|error| Failure::io(output.display(), &error))?;
        let output = output.canonicalize().map_err(|error| Failure::io(output.display(), &error))?;
        for folder in folders {
            let path = folder.canonicalize().map_err(|error| Failure::io(folder.display(), &error))?;
            if !path.is_dir() {
                return Err(Failure::usage(format_args!(
                    "`{}` is not a directory, which `--watch` requires",
                    folder.display()
                )));
            }
            if path == output {
                return Err(Failure::usage(format_args!(
                    "`{}` is watched: the outputs require another directory",
                    folder.display()
                )));
            }
        }
        Ok(Self {
            folders: folders.to_vec(),
            output,
            guard: guard.clone(),
            interval,
            files: HashMap::new(),
            names: HashMap::new(),
            next: None,
        })
    }

    /// Waits until there are files to convert, or the flag is set: then there are none.
    pub fn wait(&mut self, stop: &AtomicBool) -> Outcome<Vec<Input>> {
        loop {
            while self.next.is_some_and(|next| Instant::now() < next) {
                if stop.load(Ordering::SeqCst) {
                    return Ok(Vec::new());
                }
                thread::sleep(TICK);
            }
            if stop.load(Ordering::SeqCst) {
                return Ok(Vec::new());
            }
            self.next = Some(Instant::now() + self.interval);
            let ready = self.look()?;
            if !ready.is_empty() {
                return Ok(ready);
            }
        }
    }

    /// Takes note of a file that could not be converted: it is given again after some time.
    pub fn failed(&mut self, input: &Input) {
        if let Input::File(path) = input
            && let Some(seen) = self.files.get_mut(path)
        {
            let looks = 1 << seen.failures.min(PATIENCE);
            seen.failures += 1;
            seen.given = false;
            seen.not_before = Some(Instant::now() + self.interval * looks);
        }
    }

    /// The files that are complete and have not been given.
    fn look(&mut self) -> Outcome<Vec<Input>> {
        let mut files = HashMap::new();
        let mut ready = Vec::new();
        for path in self.list()? {
            // It may have been taken away again.
            let Ok(data) = fs::metadata(&path) else { continue };
            let Ok(changed) = data.modified() else { continue };
            let state = (data.len(), changed);
            let new = Seen { state, given: false, failures: 0, not_before: None };
            let mut seen = match self.files.get(&path) {
                Some(seen) if seen.state == state => seen.clone(),
                _ => {
                    files.insert(path, new);
                    continue;
                }
            };
            let waits = seen.not_before.is_some_and(|time| Instant::now() < time);
            if !seen.given && !waits {
                seen.given = true;
                ready.push(path.clone());
            }
            files.insert(path, seen);
        }
        self.files = files;
        ready.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_owned();
            let owner = self.names.entry(name).or_insert_with(|| path.clone());
            if owner != path {
                term::error(format_args!(
                    "{}: passed over, as its output would be that of {}",
                    tercet_printable::path(path),
                    tercet_printable::path(owner)
                ));
            }
            owner == path
        });
        Ok(ready.into_iter().map(Input::File).collect())
    }

    fn list(&self) -> Outcome<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in &self.folders {
            match inputs::expand(folder.as_os_str()) {
                Ok(found) => files.extend(found.files),
                // Something has been taken away while the directory was read: it is read again soon.
                Err(error) if error.kind() == ErrorKind::NotFound && folder.is_dir() => {}
                Err(error) => return Err(Failure::from(error)),
            }
        }
        let inside =
            |path: &PathBuf| path.canonicalize().is_ok_and(|path: PathBuf| path.starts_with(&self.output));
        files.retain(|path| !inside(path) && !self.guard.is_written(path));
        Ok(files)
    }
}

/// Whether an input has not changed for so long that nobody writes it any more.
pub fn is_settled(input: &Input, interval: Duration) -> bool {
    let Input::File(path) = input else { return true };
    let changed = fs::metadata(path).and_then(|found| found.modified());
    // One that has been taken away, or was changed in the future, is not waited for.
    let age = changed.ok().and_then(|changed| changed.elapsed().ok());
    age.is_none_or(|age| age >= interval * SETTLED)
}

/// Seconds between two looks at directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Interval(pub Duration);

impl Default for Interval {
    fn default() -> Self {
        Self(Duration::from_secs(2))
    }
}

impl TryFrom<f64> for Interval {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err(format!("`{seconds}` is not a time to wait")),
        }
    }
}

impl From<Interval> for f64 {
    fn from(interval: Interval) -> Self {
        interval.0.as_secs_f64()
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
        Self::try_from(seconds)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_secs_f64().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_file_is_given_once_it_has_stopped_growing() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let output = folder.path().join("out");
        let path = folder.path().join("a.ber");
        let folders = [folder.path().to_owned()];
        let mut watch = Watch::new(&folders, &output, Duration::from_secs(1), &Guard::default()).unwrap();
        let look = |watch: &mut Watch| watch.look().unwrap().len();
        fs::write(&path, "1")?;
        assert_eq!(look(&mut watch), 0);
        fs::write(&path, "12")?;
        assert_eq!(look(&mut watch), 0);
        assert_eq!(look(&mut watch), 1);
        assert_eq!(look(&mut watch), 0);
        // What goes to the directory of the outputs, and what is being written, is no input.
        fs::write(output.join("a.ber.csv"), "1")?;
        fs::write(folder.path().join("b.part"), "1")?;
        fs::write(folder.path().join(".b.ber"), "1")?;
        assert_eq!((look(&mut watch), look(&mut watch)), (0, 0));
        // It comes again when it has changed, and some time after it has failed.
        fs::write(&path, "123")?;
        assert_eq!((look(&mut watch), look(&mut watch)), (0, 1));
        watch.interval = Duration::from_millis(1);
        watch.failed(&Input::File(path.clone()));
        thread::sleep(Duration::from_millis(5));
        assert_eq!((look(&mut watch), look(&mut watch)), (1, 0));
        // One of the same name elsewhere would take its output, even after it has gone.
        fs::remove_file(&path)?;
        fs::create_dir(folder.path().join("sub"))?;
        fs::write(folder.path().join("sub/a.ber"), "1")?;
        assert_eq!((look(&mut watch), look(&mut watch), look(&mut watch)), (0, 0, 0));
        Ok(())
    }
}
