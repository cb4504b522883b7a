//! One word for what outputs depend on besides the inputs.

use super::given::{OptionFault, changed};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The version of fingerprints: it changes when outputs of the same options do, or the way of counting.
pub const FINGERPRINT_VERSION: u32 = 1;

/// Octets of the hash that a fingerprint has.
const OCTETS: usize = 16;

/// What outputs depend on, by stable names. An option at its default is not part of it, so that a new option changes nothing,
/// and neither does the order of options.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    parts: BTreeMap<String, String>,
    files: Vec<[u8; 32]>,
}

impl Fingerprint {
    /// Adds a text under a name.
    pub fn add(&mut self, name: &str, text: &str) {
        self.parts.insert(name.to_owned(), text.to_owned());
    }

    /// Adds the options of a group that do not have their defaults.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn add_changed<T: Serialize + Default>(&mut self, options: &T) -> Result<(), OptionFault> {
        self.parts.extend(changed(options)?.into_iter().map(|(key, value)| (key, value.to_string())));
        Ok(())
    }

    /// Adds the contents of a file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn add_file(&mut self, path: &Path) -> io::Result<()> {
        self.files.push(Sha256::digest(fs::read(path)?).into());
        Ok(())
    }

    /// Returns the fingerprint: its version, a colon, and hexadecimal digits.
    pub fn finish(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |octets: &[u8]| {
            hash.update((octets.len() as u64).to_be_bytes());
            hash.update(octets);
        };
        for (name, text) in &self.parts {
            add(name.as_bytes());
            add(text.as_bytes());
        }
        self.files.iter().for_each(|file| add(file));
        let digits: String = hash.finalize()[..OCTETS].iter().map(|octet| format!("{octet:02x}")).collect();
        format!("{FINGERPRINT_VERSION}:{digits}")
    }

    /// Returns whether a text is a fingerprint of this version; one of another version is not comparable.
    pub fn is_current(text: &str) -> bool {
        text.split_once(':').is_some_and(|(version, _)| version == FINGERPRINT_VERSION.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Conversion, OptionSet};
    use super::*;

    fn of(text: &str) -> String {
        let mut set = OptionSet::from_toml(text).unwrap();
        let conversion = Conversion::take(&mut set).unwrap();
        let mut fingerprint = Fingerprint::default();
        conversion.add_to(&mut fingerprint).unwrap();
        fingerprint.finish()
    }

    #[test]
    fn fingerprints_are_of_what_differs_from_the_defaults() {
        let known = of("where = \"duration > 5\"\ncolumns = [\"a\", \"b\"]");
        // The first half of the SHA-256 of `columns`, `["a", "b"]`, `format`, `jsonl`, `where` and `["duration > 5"]`, each behind
        // its length in 8 bytes. What earlier runs have written stays what it is.
        assert_eq!(known, "1:16d1c2036ed3ef0dfb3380b7ee6e3d46");
        assert!(Fingerprint::is_current(&known) && !Fingerprint::is_current(&known[2..]));
        // The order of options, the defaults, inputs and outputs are not part of it.
        for same in [
            "columns = [\"a\", \"b\"]\nwhere = [\"duration > 5\"]\nframing = \"auto\"\nfiller = \"00FF\"",
            "columns = [\"a\", \"b\"]\nwhere = \"duration > 5\"\ninputs = [\"x\"]\nmarks = \"m\"\noutput = \"y/\"",
        ] {
            assert_eq!(of(same), known, "{same}");
        }
        for other in ["where = \"duration > 5\"", "where = \"duration > 5\"\ncolumns = [\"b\", \"a\"]", ""] {
            assert!(of(other) != known, "{other}");
        }
        assert_eq!(of("output = \"a.csv\""), of("format = \"csv\""));
    }
}
