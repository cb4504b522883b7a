//! The texts of a workspace: those of files, and those that the editor holds.

use super::uri;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tercet::syntax::SourceMap;
use tercet_ide::{Columns, Lines};

/// Bytes of specifications that are read from folders; what is above is left out, and said.
const MOST_BYTES: usize = 256 << 20;

/// A text.
#[derive(Debug)]
struct Document {
    text: String,
    /// The version of the editor; none for a file that it has not opened.
    version: Option<i64>,
}

/// The texts, by URI.
#[derive(Debug, Default)]
pub(super) struct Documents {
    texts: BTreeMap<String, Document>,
    roots: Vec<PathBuf>,
    /// What the columns of the editor count.
    pub(super) columns: Columns,
}

impl Documents {
    /// No texts yet.
    pub(super) fn new(columns: Columns) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Reads the specifications of a folder or a file. Returns what could not be read.
    pub(super) fn add_root(&mut self, root: &Path) -> Vec<String> {
        let mut faults = Vec::new();
        self.roots.push(root.to_owned());
        match tercet::files::specifications(&[root.to_owned()]) {
            Ok(paths) => paths.iter().for_each(|path| faults.extend(self.read(path))),
            Err(error) => faults.push(error.to_string()),
        }
        faults
    }

    /// Forgets the files of a folder.
    pub(super) fn remove_root(&mut self, root: &Path) {
        self.roots.retain(|known| known != root);
        let roots = &self.roots;
        let stays = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        self.texts.retain(|uri, document| {
            document.version.is_some() || uri::to_path(uri).is_none_or(|path| stays(&path))
        });
    }

    /// Reads a file, unless the editor holds it.
    fn read(&mut self, path: &Path) -> Option<String> {
        let uri = uri::of_path(path);
        if self.texts.get(&uri).is_some_and(|known| known.version.is_some()) {
            return None;
        }
        match fs::read(path) {
            Ok(octets) => {
                let others = self.texts.iter().filter(|(known, _)| **known != uri);
                let held: usize = others.map(|(_, document)| document.text.len()).sum();
                if held + octets.len() > MOST_BYTES {
                    return Some(format!(
                        "{}: not read, more than 256 MiB of specifications",
                        path.display()
                    ));
                }
                let mut sources = SourceMap::new();
                let (id, _) = sources.add_bytes("", octets);
                let text = sources.file(id).text.clone();
                self.texts.insert(uri, Document { text, version: None });
                None
            }
            Err(error) => Some(format!("{}: {error}", path.display())),
        }
    }

    /// Reads a file again that has changed outside of the editor, or forgets it.
    pub(super) fn changed_outside(&mut self, uri: &str) -> Option<String> {
        let uri = uri::normal(uri);
        let path = uri::to_path(&uri)?;
        if self.texts.get(&uri).is_some_and(|known| known.version.is_some()) {
            return None;
        }
        if path.is_file() {
            let is_one = tercet::files::specifications(&[path.parent()?.to_owned()]).ok()?.contains(&path);
            return if is_one { self.read(&path) } else { None };
        }
        self.texts.remove(&uri);
        None
    }

    /// The editor holds a text from now on.
    pub(super) fn open(&mut self, uri: &str, text: String, version: i64) {
        self.texts.insert(uri::normal(uri), Document { text, version: Some(version) });
    }

    /// The text is that of the file again.
    pub(super) fn close(&mut self, uri: &str) -> Option<String> {
        let uri = uri::normal(uri);
        self.texts.remove(&uri);
        let path = uri::to_path(&uri).filter(|path| path.is_file())?;
        if self.roots.iter().any(|root| path.starts_with(root)) { self.read(&path) } else { None }
    }

    /// Replaces a part of a text, or all of it.
    pub(super) fn edit(&mut self, uri: &str, version: i64, range: Option<[(u32, u32); 2]>, new: &str) {
        let Some(document) = self.texts.get_mut(&uri::normal(uri)) else { return };
        document.version = Some(version);
        match range {
            None => new.clone_into(&mut document.text),
            Some([from, to]) => {
                let lines = Lines::with_columns(&document.text, self.columns);
                let range = lines.range(&document.text, from, to);
                document.text.replace_range(range, new);
            }
        }
    }

    /// The texts that the editor holds, with their versions.
    pub(super) fn open_ones(&self) -> impl Iterator<Item = (&str, i64)> {
        self.texts.iter().filter_map(|(uri, document)| Some((uri.as_str(), document.version?)))
    }

    /// All texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(uri, document)| (uri.as_str(), document.text.as_str()))
    }
}
