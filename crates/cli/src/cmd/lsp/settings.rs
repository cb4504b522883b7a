//! `tercet.toml`: how the specifications of a folder are read.

use crate::args::TagMode;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tercet::{Rules, SchemaOptions};
use tercet_ide::HintKind;

/// The name of the file, in a folder that an editor has open.
const FILE: &str = "tercet.toml";

/// What the file has.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    /// Files and folders that are read instead of the whole folder.
    roots: Option<Vec<PathBuf>>,
    /// Modules under another name.
    aliases: BTreeMap<String, String>,
    /// What tags mean.
    tags: Option<TagMode>,
    /// Whether every deviation from the standard is an error. `false` makes warnings of faults that the rest of a text
    /// can be read without, such as unknown names; they are errors without this setting.
    strict: Option<bool>,
    /// The encoding rules whose sizes hovers have.
    rules: Option<Vec<String>>,
    /// The inlay hints that are shown.
    hints: Option<Vec<String>>,
}

impl Settings {
    /// Reads the file of a folder; defaults if there is none.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn of(folder: &Path) -> Result<Self, String> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        toml::from_str(&text).map_err(|error| format!("{}: {}", path.display(), error.to_string().trim()))
    }

    /// The paths to read, from a folder.
    pub(super) fn roots(&self, folder: &Path) -> Vec<PathBuf> {
        match &self.roots {
            Some(roots) => roots.iter().map(|root| folder.join(root)).collect(),
            None => vec![folder.to_owned()],
        }
    }

    /// Changes how texts are read.
    pub(super) fn apply(&self, options: &mut SchemaOptions) {
        options.aliases.extend(self.aliases.iter().map(|(name, other)| (name.clone(), other.clone())));
        match self.strict {
            Some(true) => (options.strict, options.faults_are_errors) = (true, true),
            Some(false) => options.faults_are_errors = options.strict,
            None => {}
        }
        if let Some(tags) = self.tags {
            options.tagging = tags.tagging();
        }
    }

    /// The encoding rules whose sizes hovers have.
    ///
    /// # Errors
    /// A name that no encoding rules have, or rules that give text.
    pub(super) fn rules(&self) -> Result<Option<Vec<Rules>>, String> {
        let Some(names) = &self.rules else { return Ok(None) };
        let rule = |name: &String| match name.parse::<Rules>() {
            Ok(rules) if rules.is_text() => {
                Err(format!("`{name}` is text, whose size depends on its layout"))
            }
            Ok(rules) => Ok(rules),
            Err(error) => Err(error.to_string()),
        };
        names.iter().map(rule).collect::<Result<_, _>>().map(Some).map_err(|error| format!("{FILE}: {error}"))
    }

    /// The inlay hints that are shown.
    ///
    /// # Errors
    /// A name that no hints have.
    pub(super) fn hints(&self) -> Result<Option<Vec<HintKind>>, String> {
        let Some(names) = &self.hints else { return Ok(None) };
        hint_kinds(names.iter().map(String::as_str)).map(Some).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// The inlay hints of some names.
///
/// # Errors
/// A name that no hints have.
pub(super) fn hint_kinds<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<HintKind>, String> {
    let kind =
        |name: &str| HintKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| unknown(name));
    names.map(kind).collect()
}

fn unknown(name: &str) -> String {
    let known = HintKind::ALL.map(HintKind::name);
    format!("unknown hints `{name}`; known: {}", known.join(", "))
}
