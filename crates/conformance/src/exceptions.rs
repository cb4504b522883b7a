//! Vectors of others that are proved wrong: `tests/*-exceptions.toml`.

use std::path::Path;

use crate::corpora;

/// Vectors and cases that are proved wrong, with the clause that proves it.
#[derive(Debug, Default)]
pub(crate) struct Exceptions(Vec<[String; 4]>);

const KEYS: [&str; 4] = ["id", "rule", "clause", "why"];

impl Exceptions {
    /// Reads `[[exception]]` tables of `key = "text"` lines, the only TOML there is in that file.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let Ok(text) = corpora::read_text(path) else { return Ok(Self::default()) };
        let mut found: Vec<[String; 4]> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line == "[[exception]]" {
                found.push(Default::default());
                continue;
            }
            let entry = line.split_once('=').and_then(|(key, value)| {
                let slot = KEYS.iter().position(|k| *k == key.trim())?;
                let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
                *found.last_mut()?.get_mut(slot)? = value.to_owned();
                Some(())
            });
            entry.ok_or_else(|| format!("{}:{}: not understood: {line}", path.display(), i + 1))?;
        }
        match found.iter().position(|e| e.iter().any(String::is_empty)) {
            Some(i) => Err(format!("{}: exception {}: one of {KEYS:?} is missing", path.display(), i + 1)),
            None => Ok(Self(found)),
        }
    }

    /// A rule named alone stands for all checks of that rule, `all` for every check of the vector; several ids may stand
    /// in one exception.
    pub(crate) fn find(&self, id: &str, rule: &str) -> Option<String> {
        let listed = self.0.iter().find(|e| {
            let rule = if e[1] == "all" { "all" } else { rule };
            e[0].split_whitespace().any(|listed| listed == id)
                && rule
                    .strip_prefix(e[1].as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })?;
        Some(format!("{} ({})", listed[3], listed[2]))
    }
}
