//! What a text can depend on: a snapshot of a few texts that gives the same answers about them as one of all texts.

use crate::{Kind, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tercet_schema::SchemaOptions;
use tercet_syntax::ast::Module;
use tercet_syntax::{FileId, ParseOptions, SourceMap};

/// How often texts are added that turn out to be needed, before all are read.
const MOST_ROUNDS: usize = 8;
/// The diagnostic of a name that is neither defined nor imported: other modules may define it.
const UNKNOWN_NAME: &str = "E0201";
/// The diagnostic of a module that is not there: it names the one whose name is nearest.
const MISSING_MODULE: &str = "E0210";

/// What the modules of a text define and import.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outline {
    modules: Vec<Outlined>,
    /// Words in front of a dot, which may be names of modules (X.680 14.1).
    dotted: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Outlined {
    name: String,
    /// The modules that it imports from, and whether an object identifier says which.
    imports: Vec<(String, bool)>,
    /// The names that it imports.
    imported: Vec<String>,
    names: Vec<(String, Kind)>,
}

/// A definition in a module that a snapshot does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside<'r> {
    /// The module.
    pub module: &'r str,
    /// The name that it defines.
    pub name: &'r str,
    /// The kind of thing.
    pub kind: Kind,
}

/// The outlines of texts, by the names of the texts. They are made once for each version of a text.
#[derive(Debug, Default)]
pub struct Reach {
    outlines: BTreeMap<String, Outline>,
    /// Texts that define names which others use without importing them.
    extra: BTreeSet<String>,
    /// Whether the names that texts define have changed.
    has_new_names: bool,
}

/// A snapshot of some texts.
#[derive(Debug)]
pub struct Near {
    /// What these texts mean.
    pub snapshot: Snapshot,
    /// Whether they are all texts.
    pub is_whole: bool,
}

impl Reach {
    /// Forgets the outline of a text that was read again.
    pub fn forget(&mut self, name: &str) {
        self.outlines.remove(name);
        self.extra.remove(name);
    }

    /// Makes the outlines of texts that have none yet, and forgets those of texts that are not there.
    pub fn read(&mut self, texts: &BTreeMap<&str, &str>, options: &SchemaOptions) {
        self.outlines.retain(|name, _| texts.contains_key(name.as_str()));
        self.extra.retain(|name| texts.contains_key(name.as_str()));
        for (name, text) in texts {
            if !self.outlines.contains_key(*name) {
                self.outlines.insert((*name).to_owned(), Outline::of_text(name, text, options));
            }
        }
    }

    /// Reports whether the names that texts define have changed since this was asked last: then the diagnostics of texts can
    /// change that do not depend on them by imports.
    pub fn take_new_names(&mut self) -> bool {
        std::mem::take(&mut self.has_new_names)
    }

    /// Makes a snapshot of some texts, and of all that their diagnostics and the meaning of their names can depend on: modules
    /// that they import from, the modules of these, and those that define names which are not imported.
    pub fn near(&mut self, texts: &BTreeMap<&str, &str>, start: &[&str], options: &SchemaOptions) -> Near {
        self.read(texts, options);
        for _ in 0..MOST_ROUNDS {
            let Some(reached) = self.reached(start, options) else { break };
            if reached.len() == texts.len() {
                break;
            }
            let some = texts.iter().filter(|(name, _)| reached.contains(**name));
            let snapshot = Snapshot::with_options(some.map(|(name, text)| (*name, *text)), options);
            self.update(&snapshot);
            let Some(now) = self.reached(start, options) else { break };
            if now.is_subset(&reached) && !self.adds(&snapshot, &reached) {
                return Near { snapshot, is_whole: false };
            }
        }
        let all = texts.iter().map(|(name, text)| (*name, *text));
        let snapshot = Snapshot::with_options(all, options);
        self.update(&snapshot);
        Near { snapshot, is_whole: true }
    }

    /// Returns the names that texts import, from whatever module, and those of modules that stand in front of a dot.
    pub fn imported_names(&self) -> HashSet<&str> {
        let modules = || self.outlines.values().flat_map(|outline| &outline.modules);
        let dotted: HashSet<&str> =
            self.outlines.values().flat_map(|outline| &outline.dotted).map(String::as_str).collect();
        let used = modules().filter(|module| dotted.contains(module.name.as_str()));
        let defined = used.flat_map(|module| module.names.iter().map(|(name, _)| name.as_str()));
        modules().flat_map(|module| module.imported.iter().map(String::as_str)).chain(defined).collect()
    }

    /// Reports whether a text depends on another one of some, or is one of them.
    pub fn depends(&self, name: &str, others: &BTreeSet<String>, options: &SchemaOptions) -> bool {
        if others.contains(name) {
            return true;
        }
        match self.reached(&[name], options) {
            Some(reached) => others.iter().any(|other| reached.contains(other)),
            None => true,
        }
    }

    /// Returns what modules define that a snapshot does not have.
    pub fn outside<'r>(&'r self, snapshot: &'r Snapshot) -> impl Iterator<Item = Outside<'r>> {
        let others = self.outlines.iter().filter(|(name, _)| snapshot.file(name).is_none());
        others.flat_map(|(_, outline)| &outline.modules).flat_map(|module| {
            module.names.iter().map(|(name, kind)| Outside { module: &module.name, name, kind: *kind })
        })
    }

    /// Returns the texts that some depend on, and they themselves; `None` where only all texts can tell.
    fn reached(&self, start: &[&str], options: &SchemaOptions) -> Option<BTreeSet<String>> {
        let mut by_module: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, outline) in &self.outlines {
            for module in &outline.modules {
                by_module.entry(&module.name).or_default().push(name);
            }
        }
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> =
            start.iter().copied().chain(self.extra.iter().map(String::as_str)).collect();
        while let Some(name) = open.pop() {
            let Some(outline) = self.outlines.get(name) else { continue };
            if !reached.insert(name.to_owned()) {
                continue;
            }
            // Two texts with one module are a finding in both.
            for module in &outline.modules {
                open.extend(by_module.get(module.name.as_str()).into_iter().flatten());
                for (import, has_oid) in &module.imports {
                    let alias = options.aliases.iter().find(|(alias, _)| alias == import);
                    let found = by_module
                        .get(import.as_str())
                        .or_else(|| alias.and_then(|(_, target)| by_module.get(target.as_str())));
                    match found {
                        Some(files) => open.extend(files),
                        // Another name, found by the object identifier.
                        None if *has_oid => return None,
                        None => {}
                    }
                }
            }
            for word in &outline.dotted {
                open.extend(by_module.get(word.as_str()).into_iter().flatten());
            }
        }
        Some(reached)
    }

    /// Takes the outlines of the texts of a snapshot, which has read them anyway.
    fn update(&mut self, snapshot: &Snapshot) {
        let mut found: BTreeMap<FileId, Outline> = BTreeMap::new();
        for (id, _) in snapshot.sources().files() {
            found.insert(id, Outline::default());
        }
        for module in snapshot.schema().modules() {
            let id = snapshot.sources().file_of(module.span.lo);
            found.entry(id).or_default().modules.push(Outlined::of(module));
        }
        for (id, mut outline) in found {
            let file = snapshot.sources().file(id);
            outline.dotted = dotted(&file.text);
            // With the names that it imports, which are used by that.
            let names = |outline: &Outline| -> Vec<(String, Vec<String>, Vec<String>)> {
                let defined = |it: &Outlined| it.names.iter().map(|(name, _)| name.clone()).collect();
                outline.modules.iter().map(|it| (it.name.clone(), defined(it), it.imported.clone())).collect()
            };
            let new = (names(&outline), outline.dotted.clone());
            let old = self.outlines.insert(file.name.clone(), outline);
            self.has_new_names |= old.is_some_and(|old| (names(&old), old.dotted) != new);
        }
    }

    /// Adds the texts that define names which are not known in a snapshot; returns whether there are new ones.
    fn adds(&mut self, snapshot: &Snapshot, reached: &BTreeSet<String>) -> bool {
        let said = |code: &'static str| {
            let found = snapshot.schema().diagnostics().iter().filter(move |it| it.code == code);
            found.map(|it| snapshot.text(it.primary.span))
        };
        let unknown: BTreeSet<&str> = said(UNKNOWN_NAME).collect();
        let modules =
            || self.outlines.values().flat_map(|outline| &outline.modules).map(|it| it.name.as_str());
        let near: BTreeSet<&str> = said(MISSING_MODULE)
            .filter_map(|name| tercet_schema::suggest::nearest(name, modules()))
            .collect();
        if unknown.is_empty() && near.is_empty() {
            return false;
        }
        let defines = |outline: &Outline| {
            let names = outline.modules.iter().flat_map(|module| &module.names);
            let has_name = names.into_iter().any(|(name, _)| unknown.contains(name.as_str()));
            has_name || outline.modules.iter().any(|module| near.contains(module.name.as_str()))
        };
        let others =
            self.outlines.iter().filter(|(name, outline)| !reached.contains(*name) && defines(outline));
        let new: Vec<String> = others.map(|(name, _)| name.clone()).collect();
        let is_new = !new.is_empty();
        self.extra.extend(new);
        is_new
    }
}

impl Outline {
    fn of_text(name: &str, text: &str, options: &SchemaOptions) -> Self {
        let mut sources = SourceMap::new();
        let id = sources.add(name, text);
        let parsing = ParseOptions { lenient: !options.strict, ..ParseOptions::default() };
        let (modules, _) = tercet_syntax::parse(&sources, id, &parsing);
        Self { modules: modules.iter().map(Outlined::of).collect(), dotted: dotted(text) }
    }
}

impl Outlined {
    fn of(module: &Module) -> Self {
        let imports = module.imports.iter();
        let symbols = module.imports.iter().flat_map(|import| &import.symbols);
        Self {
            name: module.name.text.to_string(),
            imports: imports.map(|it| (it.module.text.to_string(), it.oid.is_some())).collect(),
            imported: symbols.map(|it| it.text.to_string()).collect(),
            names: module
                .assignments
                .iter()
                .map(|it| (it.name.text.to_string(), Kind::of(&it.kind)))
                .collect(),
        }
    }
}

/// Words in front of a dot that begin with a capital letter.
fn dotted(text: &str) -> BTreeSet<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('.') {
        let before = text[..at].trim_end();
        let word = &before[before.trim_end_matches(is_word).len()..];
        if word.starts_with(|first: char| first.is_ascii_uppercase()) && !found.contains(word) {
            found.insert(word.to_owned());
        }
    }
    found
}
