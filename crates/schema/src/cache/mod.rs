//! Plans kept between runs: one file for each answer of the compiler.
//!
//! An entry is known by the SHA-256 of everything that its answer follows from: the names and texts of the specifications
//! in their order, the options for reading them, the question (types and rules), the layout of plans, and the version and
//! the file of the program. So entries are never out of date, only no longer asked for.
//!
//! Nothing about the cache is an error: what cannot be read, is damaged or belongs to another question is worked out again,
//! and what cannot be written is not kept.

mod answers;
mod store;

pub(crate) use answers::{Entries, Question};

use crate::SchemaOptions;
use sha2::{Digest as _, Sha256};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;
use tercet_model::{Duplicates, Tagging};
use tercet_plan::bytes;
use tercet_syntax::SourceMap;

/// A folder with the plans of earlier runs, for [`SchemaOptions::cache`].
///
/// The folder and its files belong to the user (modes 0700 and 0600 on Unix). It is not used if others may write to it. Its
/// files are bounded in number, size and age: see [`PlanCache::LIMITS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCache {
    folder: PathBuf,
}

/// The bounds of a cache, which are restored with each entry that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheLimits {
    /// Entries in the folder.
    pub entries: usize,
    /// Bytes of all entries.
    pub bytes: u64,
    /// Bytes of one entry.
    pub entry_bytes: u64,
    /// Days since the last use of an entry.
    pub days: u64,
}

impl PlanCache {
    /// The bounds of every cache. The entries that were not used for the longest time go first.
    pub const LIMITS: CacheLimits =
        CacheLimits { entries: 512, bytes: 256 << 20, entry_bytes: 64 << 20, days: 30 };

    /// Returns the cache in a folder, which is made when the first entry is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the cache of the user: the folder that `TERCET_CACHE` names, or `tercet` in the folder for caches of the
    /// platform (`$XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows). `None` if
    /// `TERCET_CACHE` is `off`, or there is no such folder.
    pub fn of_user() -> Option<Self> {
        folder(|name| env::var_os(name).filter(|value| !value.is_empty())).map(Self::new)
    }

    /// Returns the entries about some texts, read with some options.
    pub(crate) fn entries(&self, sources: &SourceMap, options: &SchemaOptions) -> Entries {
        let mut key = Key::new();
        key.add(env!("CARGO_PKG_VERSION").as_bytes());
        key.add(&program());
        key.add(&bytes::VERSION.to_be_bytes());
        // A new option is thought about here.
        let SchemaOptions {
            strict,
            aliases,
            tagging,
            duplicates,
            faults_are_errors,
            allow_missing,
            listener: _,
            cache: _,
            // Changes no plan.
            occurrences: _,
        } = options;
        let tagging = match tagging {
            Tagging::AsWritten => 0,
            Tagging::ImplicitExceptChoice => 1,
            Tagging::Explicit => 2,
        };
        let duplicates = match duplicates {
            Duplicates::First => 0,
            Duplicates::Last => 1,
        };
        let switches = [*strict, *faults_are_errors, *allow_missing].map(u8::from);
        key.add(&[&switches[..], &[tagging, duplicates]].concat());
        key.add_all(aliases.iter().flat_map(|(name, other)| [name.as_bytes(), other.as_bytes()]));
        key.add_all(sources.files().flat_map(|(_, file)| [file.name.as_bytes(), file.text.as_bytes()]));
        Entries::new(self.clone(), key)
    }
}

/// The folder of the user, by variables of the environment.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(given) = variable("TERCET_CACHE") {
        return (given != "off").then(|| given.into());
    }
    // A relative path is invalid by the XDG Base Directory Specification.
    let base = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = if cfg!(windows) {
        base("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        base("HOME").map(|home| home.join("Library/Caches"))
    } else {
        base("XDG_CACHE_HOME").or_else(|| base("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("tercet"))
}

/// Size and time of the program's file: programs of one version may have been built from different sources.
fn program() -> [u8; 24] {
    let found = env::current_exe().and_then(|path| path.metadata());
    let time =
        |found: &std::fs::Metadata| Some(found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos());
    let (length, time) = found.map_or((0, 0), |found| (found.len(), time(&found).unwrap_or_default()));
    let mut stamp = [0; 24];
    stamp[..8].copy_from_slice(&length.to_be_bytes());
    stamp[8..].copy_from_slice(&time.to_be_bytes());
    stamp
}

/// What an entry is known by: the digest of parts, each with its length.
#[derive(Clone, Debug)]
struct Key(Sha256);

impl Key {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
    }

    /// Adds a list, and where it ends.
    fn add_all<'a>(&mut self, parts: impl Iterator<Item = &'a [u8]>) {
        let mut count = 0_u64;
        for part in parts {
            self.add(part);
            count += 1;
        }
        self.add(&count.to_be_bytes());
    }

    fn digest(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_the_environment() {
        let of = |variables: &[(&str, &str)]| {
            folder(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert_eq!(of(&[("TERCET_CACHE", "off"), ("HOME", "/home/a")]), None);
        assert_eq!(of(&[("TERCET_CACHE", "x/y"), ("HOME", "/home/a")]), Some("x/y".into()));
        assert_eq!(of(&[]), None);
        if cfg!(all(unix, not(target_os = "macos"))) {
            assert_eq!(of(&[("HOME", "/home/a")]), Some("/home/a/.cache/tercet".into()));
            assert_eq!(of(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")]), Some("/c/tercet".into()));
            assert_eq!(
                of(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "c")]),
                Some("/home/a/.cache/tercet".into())
            );
        }
    }

    #[test]
    fn parts_of_keys_do_not_run_together() {
        let key = |lists: &[&[&str]]| {
            let mut key = Key::new();
            lists.iter().for_each(|list| key.add_all(list.iter().map(|part| part.as_bytes())));
            key.digest()
        };
        let different = [
            key(&[&["ab"], &[]]),
            key(&[&["a", "b"], &[]]),
            key(&[&["a"], &["b"]]),
            key(&[&["ab", ""], &[]]),
        ];
        for (i, one) in different.iter().enumerate() {
            assert!(!different[..i].contains(one), "{i}");
        }
    }
}
