//! Names and words that fit at a place.

use crate::governed::Expected;
use crate::{Kind, Outside, Snapshot};
use std::collections::BTreeMap;
use tercet_model::import_fix;
use tercet_syntax::ast::Module;
use tercet_syntax::{Edit, FileId, Keyword, Span};

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word.
    pub label: String,
    /// What it stands for; none for a reserved word.
    pub kind: Option<Kind>,
    /// A few words about it: the module that it comes from.
    pub detail: String,
    /// Changes of the text that belong to it: an import.
    pub edits: Vec<Edit>,
}

impl Snapshot {
    /// Returns the part of a word in front of a position, and what may stand there: names of the module and those that it
    /// imports, names of other modules, which are imported then, reserved words, components and items; where the text in front
    /// says what follows, that alone: components in values and in WITH COMPONENTS, items, the words of WITH SYNTAX in objects,
    /// the names of a module behind its name and a dot, the fields of classes behind `&`.
    pub fn completions(&self, file: FileId, at: u32) -> (Span, Vec<Completion>) {
        self.completions_with(file, at, std::iter::empty())
    }

    /// Returns the same with names of modules that the snapshot does not have.
    pub fn completions_with<'s>(
        &'s self,
        file: FileId,
        at: u32,
        outside: impl Iterator<Item = Outside<'s>>,
    ) -> (Span, Vec<Completion>) {
        let source = self.sources().file(file);
        let before = source.text.get(..(at - source.start) as usize).unwrap_or_default();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let word = before.len() - before.trim_end_matches(is_word).len();
        let prefix = Span::new(at - word as u32, at);
        let before = &before[..before.len() - word];
        let modules = self.schema().modules();
        let here = modules.iter().position(|it| it.span.lo <= at && at <= it.span.hi);
        let here = here.or_else(|| {
            // A module that is not complete has no end yet.
            modules.iter().rposition(|it| it.span.lo <= at && self.sources().file_of(it.span.lo) == file)
        });
        let mut found = Found::default();
        if before.ends_with('&') {
            if let Some(here) = here {
                self.fields(&modules[here], &mut found);
            }
            return (prefix, found.finish());
        }
        if let Some(rest) = before.strip_suffix('.')
            && let Some(module) = modules.iter().find(|it| ends_with_word(rest, &it.name.text))
        {
            own(module, &mut found);
            return (prefix, found.finish());
        }
        let Some(here) = here else {
            ["DEFINITIONS", "BEGIN", "END", "AUTOMATIC", "TAGS"].iter().for_each(|word| found.word(word));
            return (prefix, found.finish());
        };
        let module = &modules[here];
        match self.expected(module, file, prefix.lo) {
            Some(Expected::Only(proposals)) => {
                proposals.into_iter().for_each(|it| found.add(it));
                return (prefix, found.finish());
            }
            Some(Expected::Value(proposals)) => {
                proposals.into_iter().for_each(|it| found.add(it));
                self.values(module, &mut found);
                return (prefix, found.finish());
            }
            None => {}
        }
        own(module, &mut found);
        for import in &module.imports {
            for symbol in &import.symbols {
                let detail = format!("from {}", import.module.text);
                found.name(
                    &symbol.text,
                    kind_of(modules, &import.module.text, &symbol.text),
                    detail,
                    Vec::new(),
                );
            }
        }
        self.inner(here, &mut found);
        let inside = modules.iter().filter(|it| it.name.text != module.name.text).flat_map(|other| {
            let own = other.assignments.iter();
            own.map(move |it| Outside {
                module: &other.name.text,
                name: &it.name.text,
                kind: Kind::of(&it.kind),
            })
        });
        // Editors take letters out of the middle of names too.
        let first = self.text(prefix).chars().next().map(|letter| letter.to_ascii_lowercase());
        let fits =
            |name: &str| first.is_none_or(|first| name.chars().any(|it| it.to_ascii_lowercase() == first));
        // Of several modules with a name the first one by its name: which are inside depends on what is being worked on.
        let mut others: BTreeMap<&str, (&str, Kind)> = BTreeMap::new();
        for Outside { module: owner, name, kind } in inside.chain(outside) {
            if fits(name) && !found.has(name) {
                let known = others.entry(name).or_insert((owner, kind));
                if owner < known.0 {
                    *known = (owner, kind);
                }
            }
        }
        for (name, (owner, kind)) in others {
            let fix = import_fix(module, name, owner);
            found.name(name, kind, format!("import from {owner}"), fix.edits);
        }
        Keyword::ALL.iter().for_each(|word| found.word(word.text()));
        (prefix, found.finish())
    }

    /// Components, alternatives and items that values of the module may name.
    fn inner(&self, module: usize, found: &mut Found) {
        let own = self.definitions().iter().filter(|it| it.module == module);
        let inner = own.filter(|it| matches!(it.kind, Kind::Component | Kind::Alternative | Kind::Item));
        for definition in inner {
            found.name(self.text(definition.name), definition.kind, String::new(), Vec::new());
        }
    }

    /// Values that have a name in the module.
    fn values(&self, module: &Module, found: &mut Found) {
        let own = module.assignments.iter().filter(|it| Kind::of(&it.kind) == Kind::Value);
        own.for_each(|it| found.name(&it.name.text, Kind::Value, String::new(), Vec::new()));
        for import in &module.imports {
            let is_value = |name: &str| name.starts_with(|letter: char| letter.is_ascii_lowercase());
            for symbol in import.symbols.iter().filter(|it| is_value(&it.text)) {
                found.name(&symbol.text, Kind::Value, format!("from {}", import.module.text), Vec::new());
            }
        }
    }

    /// The fields of classes of the module, and of the modules that it imports from.
    fn fields(&self, module: &Module, found: &mut Found) {
        let modules = self.schema().modules();
        let is_near = |other: &Module| {
            other.name.text == module.name.text
                || module.imports.iter().any(|import| import.module.text == other.name.text)
        };
        for definition in self.definitions().iter().filter(|it| it.kind == Kind::Field) {
            if modules.get(definition.module).is_some_and(is_near) {
                let name = self.text(definition.name).trim_start_matches('&');
                found.name(name, Kind::Field, String::new(), Vec::new());
            }
        }
    }
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word)
        .is_some_and(|rest| !rest.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '-'))
}

fn own(module: &Module, found: &mut Found) {
    for assignment in &module.assignments {
        found.name(&assignment.name.text, Kind::of(&assignment.kind), String::new(), Vec::new());
    }
}

fn kind_of(modules: &[Module], module: &str, name: &str) -> Kind {
    let assignments = modules.iter().filter(|it| it.name.text == module).flat_map(|it| &it.assignments);
    assignments.into_iter().find(|it| it.name.text == name).map_or(Kind::Type, |it| Kind::of(&it.kind))
}

/// Proposals by name; the first of a name counts.
#[derive(Default)]
struct Found {
    by_name: BTreeMap<String, Completion>,
}

impl Found {
    fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn name(&mut self, name: &str, kind: Kind, detail: String, edits: Vec<Edit>) {
        let label = name.to_owned();
        let made = || Completion { label: label.clone(), kind: Some(kind), detail, edits };
        self.by_name.entry(label.clone()).or_insert_with(made);
    }

    fn add(&mut self, proposal: Completion) {
        self.by_name.entry(proposal.label.clone()).or_insert(proposal);
    }

    fn word(&mut self, word: &str) {
        let made =
            || Completion { label: word.to_owned(), kind: None, detail: String::new(), edits: Vec::new() };
        self.by_name.entry(word.to_owned()).or_insert_with(made);
    }

    fn finish(self) -> Vec<Completion> {
        self.by_name.into_values().collect()
    }
}
