//! Entries as files.
//!
//! | part | form |
//! |---|---|
//! | magic | the octets of [`MAGIC`] |
//! | key | 32 octets: what the entry is known by, which is its name in hexadecimal too |
//! | digest | 32 octets: SHA-256 of the contents |
//! | contents | all that follows |

use super::PlanCache;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

/// The first octets of an entry. The last is the version of this layout.
const MAGIC: [u8; 9] = *b"\x89TERC\r\n\x1C\x01";
const HEADER: usize = MAGIC.len() + 64;
const SUFFIX: &str = "tercet";
/// Suffix of an entry that is being written.
const UNFINISHED: &str = "tmp";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

impl PlanCache {
    /// Returns the contents of an entry, if there is one and it is whole.
    pub(super) fn read(&self, key: &[u8; 32]) -> Option<Vec<u8>> {
        self.is_private().then_some(())?;
        let path = self.path(key);
        // A link could lead out of the folder.
        let found = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
        let length = found.len();
        if length > Self::LIMITS.entry_bytes {
            return None;
        }
        let file = File::open(&path).ok()?;
        let mut octets = Vec::with_capacity(length as usize);
        (&file).take(length).read_to_end(&mut octets).ok()?;
        let contents = contents(&octets, key)?.len();
        let age = found.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > DAY) {
            // The cache can do without: the entry counts as old then.
            let _ =
                File::options().append(true).open(&path).and_then(|it| it.set_modified(SystemTime::now()));
        }
        octets.drain(..octets.len() - contents);
        Some(octets)
    }

    /// Writes an entry, if that can be done, and restores the bounds of the cache.
    pub(super) fn write(&self, key: &[u8; 32], contents: &[u8]) {
        let length = (HEADER + contents.len()) as u64;
        if length <= Self::LIMITS.entry_bytes && self.try_write(key, contents).is_ok() {
            // What cannot be removed now is tried again with the next entry.
            let _ = self.clean(key);
        }
    }

    fn try_write(&self, key: &[u8; 32], contents: &[u8]) -> io::Result<()> {
        create_folder(&self.folder)?;
        if !self.is_private() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = self.path(key);
        let unfinished = path.with_extension(format!("{}-{time}.{UNFINISHED}", process::id()));
        let digest: [u8; 32] = Sha256::digest(contents).into();
        let octets = [&MAGIC[..], key, &digest, contents].concat();
        let done = create(&unfinished)
            .and_then(|mut file| file.write_all(&octets))
            .and_then(|()| fs::rename(&unfinished, &path));
        if done.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        done
    }

    /// Removes entries that are too old or too many, the oldest first, but not the one that was just written. Files that are
    /// not entries stay.
    fn clean(&self, written: &[u8; 32]) -> io::Result<()> {
        let now = SystemTime::now();
        let written = self.path(written);
        let mut entries: Vec<(Duration, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.filter_map(Result::ok) {
            let path = entry.path();
            let Some((is_entry, found)) = is_ours(&path).zip(entry.metadata().ok()) else { continue };
            let age =
                found.modified().ok().and_then(|time| now.duration_since(time).ok()).unwrap_or_default();
            if path == written {
                entries.push((Duration::ZERO, found.len(), path));
            } else if found.is_dir() {
                continue;
            } else if is_entry && age <= DAY * Self::LIMITS.days as u32 {
                entries.push((age, found.len(), path));
            } else if is_entry || age > HOUR {
                fs::remove_file(path)?;
            }
        }
        entries.sort();
        let mut sum = 0;
        for (index, (_, length, path)) in entries.iter().enumerate() {
            sum += length;
            if *path != written && (index >= Self::LIMITS.entries || sum > Self::LIMITS.bytes) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn path(&self, key: &[u8; 32]) -> PathBuf {
        let name: String = key.iter().map(|octet| format!("{octet:02x}")).collect();
        self.folder.join(format!("{name}.{SUFFIX}"))
    }

    /// Returns whether the folder is there and nobody else may write to it.
    fn is_private(&self) -> bool {
        fs::metadata(&self.folder).is_ok_and(|found| found.is_dir() && is_of_user(&found))
    }
}

/// Returns the contents of a whole entry with a key.
fn contents<'o>(octets: &'o [u8], key: &[u8; 32]) -> Option<&'o [u8]> {
    let (header, contents) = octets.split_at_checked(HEADER)?;
    let digest: [u8; 32] = Sha256::digest(contents).into();
    (header == [&MAGIC[..], key, &digest].concat()).then_some(contents)
}

/// Returns whether a file is named as entries are: `true` for entries, `false` for unfinished ones.
fn is_ours(path: &Path) -> Option<bool> {
    let (key, suffix) = path.file_name()?.to_str()?.split_once('.')?;
    let is_key = key.len() == 64 && key.bytes().all(|octet| octet.is_ascii_hexdigit());
    let is_entry = suffix == SUFFIX;
    (is_key && (is_entry || suffix.ends_with(UNFINISHED))).then_some(is_entry)
}

#[cfg(unix)]
fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Makes a file that is not there: a link of its name is not followed.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn is_of_user(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The user is asked for where the system has a file that knows.
    let user = if cfg!(target_os = "linux") { fs::metadata("/proc/self").ok() } else { None };
    folder.mode() & 0o022 == 0 && user.is_none_or(|user| user.uid() == folder.uid())
}

#[cfg(not(unix))]
fn is_of_user(_: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [0xA5; 32];

    fn cache() -> (tempfile::TempDir, PlanCache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = PlanCache::new(dir.path().join("a/b"));
        (dir, cache)
    }

    /// The names in the folder, by a letter for each key.
    fn names(cache: &PlanCache) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&cache.folder)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn age(cache: &PlanCache, key: &[u8; 32], days: u32) {
        let file = File::options().append(true).open(cache.path(key)).unwrap();
        file.set_modified(SystemTime::now() - DAY * days).unwrap();
    }

    #[test]
    fn entries_are_read_back_by_their_key_alone() {
        let (_dir, cache) = cache();
        assert_eq!(cache.read(&KEY), None);
        cache.write(&KEY, b"contents");
        assert_eq!(cache.read(&KEY).as_deref(), Some(&b"contents"[..]));
        assert_eq!(cache.read(&[0; 32]), None);
        fs::copy(cache.path(&KEY), cache.path(&[0; 32])).unwrap();
        assert_eq!(cache.read(&[0; 32]), None, "the entry of another question");
        cache.write(&KEY, b"other");
        assert_eq!(cache.read(&KEY).as_deref(), Some(&b"other"[..]));
        cache.write(&KEY, b"");
        assert_eq!(cache.read(&KEY).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn damaged_entries_are_none() {
        let (_dir, cache) = cache();
        cache.write(&KEY, b"contents");
        let whole = fs::read(cache.path(&KEY)).unwrap();
        for length in 0..whole.len() {
            fs::write(cache.path(&KEY), &whole[..length]).unwrap();
            assert_eq!(cache.read(&KEY), None, "{length}");
            let mut other = whole.clone();
            other[length] ^= 0x10;
            fs::write(cache.path(&KEY), other).unwrap();
            assert_eq!(cache.read(&KEY), None, "{length}");
        }
        fs::remove_file(cache.path(&KEY)).unwrap();
        fs::create_dir(cache.path(&KEY)).unwrap();
        assert_eq!(cache.read(&KEY), None);
        cache.write(&KEY, b"contents");
        assert_eq!(cache.read(&KEY), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_folders_of_others_are_not_used() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (dir, cache) = cache();
        cache.write(&KEY, b"contents");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&cache.folder), mode(&cache.path(&KEY))), (0o700, 0o600));
        // An entry elsewhere, and a link to it.
        let outside = dir.path().join("outside");
        fs::rename(cache.path(&KEY), &outside).unwrap();
        symlink(&outside, cache.path(&KEY)).unwrap();
        assert_eq!(cache.read(&KEY), None);
        // Writing replaces the link, not its target.
        cache.write(&KEY, b"new");
        assert_eq!(cache.read(&KEY).as_deref(), Some(&b"new"[..]));
        assert!(fs::read(&outside).unwrap().ends_with(b"contents"));
        for mode in [0o770, 0o707, 0o500] {
            fs::set_permissions(&cache.folder, PermissionsExt::from_mode(mode)).unwrap();
            cache.write(&[1; 32], b"contents");
            assert_eq!(cache.read(&KEY).is_some(), mode == 0o500, "{mode:o}");
        }
        fs::set_permissions(&cache.folder, PermissionsExt::from_mode(0o700)).unwrap();
    }

    #[test]
    fn cleaning_keeps_what_is_new_and_what_is_not_ours() {
        let (_dir, cache) = cache();
        let key = |at: u16| {
            let mut key = [0; 32];
            key[..2].copy_from_slice(&at.to_be_bytes());
            key
        };
        cache.write(&key(0), b"0");
        cache.write(&key(1), b"1");
        age(&cache, &key(0), 31);
        age(&cache, &key(1), 29);
        let tmp = cache.path(&key(1)).with_extension("1-2.tmp");
        fs::write(&tmp, b"").unwrap();
        fs::write(cache.folder.join("README"), b"").unwrap();
        fs::write(cache.folder.join("x.tercet"), b"").unwrap();
        cache.write(&key(2), b"2");
        assert_eq!((cache.read(&key(0)), cache.read(&key(2))), (None, Some(b"2".to_vec())));
        assert!(tmp.exists());
        File::options().append(true).open(&tmp).unwrap().set_modified(SystemTime::now() - 2 * HOUR).unwrap();
        // What was read is not old any more.
        assert_eq!(cache.read(&key(1)).as_deref(), Some(&b"1"[..]));
        assert!(cache.path(&key(1)).metadata().unwrap().modified().unwrap() > SystemTime::now() - DAY);
        // The oldest go.
        age(&cache, &key(1), 2);
        for at in 3..=PlanCache::LIMITS.entries as u16 + 1 {
            fs::copy(cache.path(&key(2)), cache.path(&key(at))).unwrap();
        }
        cache.write(&key(2), b"2");
        let left = names(&cache);
        assert_eq!(left.len(), PlanCache::LIMITS.entries + 2, "with the two files that are not ours");
        assert!(left.iter().any(|name| name == "README") && left.iter().any(|name| name == "x.tercet"));
        assert!(!tmp.exists() && cache.read(&key(1)).is_none() && cache.read(&key(2)).is_some());
    }

    #[test]
    fn the_sum_of_all_entries_is_bounded() {
        let (_dir, cache) = cache();
        let key = |at: u8| [at; 32];
        for at in 0..5 {
            cache.write(&key(at), b"x");
            // A file with a hole: it takes no room.
            let file = File::options().append(true).open(cache.path(&key(at))).unwrap();
            file.set_len(PlanCache::LIMITS.entry_bytes).unwrap();
            age(&cache, &key(at), 9 - u32::from(at));
        }
        cache.write(&key(9), b"y");
        let there: Vec<bool> = (0..5).map(|at| cache.path(&key(at)).exists()).collect();
        assert_eq!(there, [false, false, true, true, true]);
        assert!(cache.read(&key(9)).is_some());
    }

    #[test]
    fn two_writers_leave_a_whole_entry() {
        let (_dir, cache) = cache();
        let large: Vec<Vec<u8>> = (0..4_u8).map(|of| vec![of; 100_000 + usize::from(of)]).collect();
        std::thread::scope(|scope| {
            for contents in &large {
                scope.spawn(|| (0..50).for_each(|_| cache.write(&KEY, contents)));
            }
            for _ in 0..200 {
                let found = cache.read(&KEY);
                assert!(found.is_none_or(|found| large.contains(&found)));
            }
        });
        assert!(cache.read(&KEY).is_some());
        assert_eq!(names(&cache).len(), 1);
    }
}
