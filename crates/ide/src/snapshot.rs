//! A snapshot of texts, and names in it.

use crate::definitions::{self, Definition, Kind};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use tercet_model::Occurrence;
use tercet_model::ir::TypeId;
use tercet_schema::{Rules, Schema, SchemaOptions};
use tercet_syntax::{Diagnostic, FileId, Fix, Lexed, ParseOptions, SourceMap, Span, lex};

/// What hovers say about the sizes of types, by some encoding rules.
type SizesByType = HashMap<(TypeId, Vec<Rules>), Option<String>>;

/// Texts as they were at one moment, with what they mean. It never changes: an edit makes another one.
#[derive(Debug)]
pub struct Snapshot {
    schema: Schema,
    definitions: Vec<Definition>,
    /// Uses of names, in the order of what they stand for.
    uses: Vec<Occurrence>,
    /// The lexical items and comments of each text, made when they are first needed.
    lexed: Vec<OnceLock<Lexed>>,
    /// The sizes of types that have been asked for, by some rules: a type can reach hundreds of others.
    pub(crate) sizes: Mutex<SizesByType>,
}

/// A name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Where it stands.
    pub span: Span,
    /// The name in the definition of what it stands for; the same place if it is that.
    pub definition: Span,
}

impl Snapshot {
    /// Reads texts, each with its name, with the options of `tercet check --lenient`: faults that are understood are
    /// warnings.
    pub fn new<N: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (N, T)>) -> Self {
        Self::with_options(texts, &SchemaOptions::default())
    }

    /// Reads texts, each with its name.
    pub fn with_options<N: Into<String>, T: Into<String>>(
        texts: impl IntoIterator<Item = (N, T)>,
        options: &SchemaOptions,
    ) -> Self {
        let mut sources = SourceMap::new();
        for (name, text) in texts {
            sources.add(name, text);
        }
        Self::of_sources(sources, options)
    }

    /// Reads all texts of a map.
    pub fn of_sources(sources: SourceMap, options: &SchemaOptions) -> Self {
        let options = SchemaOptions { occurrences: true, ..options.clone() };
        let schema = Schema::from_sources(sources, &options);
        let definitions = definitions::of(schema.modules());
        let mut uses = schema.model().occurrences.clone();
        uses.sort_unstable_by_key(|it| (it.definition, it.at));
        let lexed = schema.sources.files().map(|_| OnceLock::new()).collect();
        Self { schema, definitions, uses, lexed, sizes: Mutex::default() }
    }

    /// Returns what the texts mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the texts.
    pub fn sources(&self) -> &SourceMap {
        &self.schema.sources
    }

    /// The lexical items and comments of a text.
    pub(crate) fn lexed(&self, file: FileId) -> &Lexed {
        let options = ParseOptions { lenient: true, ..ParseOptions::default() };
        self.lexed[file.0 as usize].get_or_init(|| lex(self.sources(), file, &options))
    }

    /// Returns the characters of a span.
    pub fn text(&self, span: Span) -> &str {
        self.sources().text(span)
    }

    /// Returns the text of a name.
    pub fn file(&self, name: &str) -> Option<FileId> {
        self.sources().files().find(|(_, file)| file.name == name).map(|(id, _)| id)
    }

    /// Returns the position of an offset in the text of a name.
    pub fn position(&self, name: &str, offset: usize) -> Option<u32> {
        let file = self.sources().file(self.file(name)?);
        (offset <= file.text.len()).then(|| file.start + offset as u32)
    }

    /// Returns what there is to say about a text.
    pub fn diagnostics(&self, file: FileId) -> impl Iterator<Item = &Diagnostic> {
        let all = self.schema.diagnostics().iter();
        all.filter(move |diagnostic| self.sources().file_of(diagnostic.primary.span.lo) == file)
    }

    /// Returns the fixes of all that is said about a part of a text.
    pub fn fixes(&self, span: Span) -> impl Iterator<Item = (&Diagnostic, &Fix)> {
        let touches = move |found: Span| found.lo <= span.hi && span.lo <= found.hi;
        let said = self.schema.diagnostics().iter();
        let said = said.filter(move |diagnostic| touches(diagnostic.primary.span));
        said.flat_map(|diagnostic| diagnostic.fixes.iter().map(move |fix| (diagnostic, fix)))
    }

    /// Returns all definitions, in the order of the texts.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Returns the definition of a name.
    pub fn definition(&self, name: Span) -> Option<&Definition> {
        let at = self.definitions.partition_point(|it| it.name < name);
        self.definitions.get(at).filter(|it| it.name == name)
    }

    /// Returns the name that a position is in or behind.
    pub fn name_at(&self, at: u32) -> Option<Name> {
        let holds = |span: Span| span.lo <= at && at <= span.hi;
        let occurrences = &self.schema.model().occurrences;
        let behind = occurrences.partition_point(|it| it.at.lo <= at);
        let used = occurrences[..behind].last().filter(|it| holds(it.at));
        // Of several, the first is that of the module itself.
        let used =
            used.and_then(|last| occurrences[..behind].iter().rev().take_while(|it| it.at == last.at).last());
        if let Some(it) = used {
            return Some(Name { span: it.at, definition: it.definition });
        }
        let behind = self.definitions.partition_point(|it| it.name.lo <= at);
        let found = self.definitions[..behind].last().filter(|it| holds(it.name))?;
        Some(Name { span: found.name, definition: found.name })
    }

    /// Returns the places where a definition is used, in the order of the texts.
    pub fn uses(&self, definition: Span) -> &[Occurrence] {
        let from = self.uses.partition_point(|it| it.definition < definition);
        let uses = &self.uses[from..];
        &uses[..uses.partition_point(|it| it.definition == definition)]
    }

    /// Returns the definition of the type of what a definition defines: of a component, a value, or a type that is another
    /// one.
    pub fn type_definition(&self, definition: &Definition) -> Option<Span> {
        let occurrences = &self.schema.model().occurrences;
        let from = occurrences.partition_point(|it| it.at.lo < definition.name.hi);
        let inside = occurrences[from..].iter().take_while(|it| it.at.hi <= definition.whole.hi);
        let kinds = |it: &&Occurrence| {
            self.definition(it.definition)
                .is_some_and(|it| matches!(it.kind, Kind::Type | Kind::Set | Kind::Class))
        };
        inside.filter(kinds).map(|it| it.definition).next()
    }
}
