//! A set of specifications, ready to be used.

use crate::{TransferSyntax, files};
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use tercet_model::ir::{Component, Type, TypeId, TypeKind};
use tercet_model::{Duplicates, Model, Options, Tagging};
use tercet_plan::{Plan, Rules};
use tercet_syntax::{Diagnostic, ParseOptions, SourceMap, Span, ast, render};

/// How specifications are read.
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    /// Whether the slips found in vendors' specifications are errors; they are warnings unless told.
    pub strict: bool,
    /// Modules under another name: `("TAP-03XX", "TAP-0312")` lets imports from the first find the second.
    pub aliases: Vec<(String, String)>,
    /// What tags mean.
    pub tagging: Tagging,
    /// Which of several modules with one name counts.
    pub duplicates: Duplicates,
}

/// Specifications read and resolved. There is always a model; [`Schema::has_errors`] tells whether to trust it.
///
/// ```
/// use tercet::{Schema, plan::Rules};
/// let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END");
/// assert!(!schema.has_errors(), "{}", schema.render(false));
/// let plan = schema.plan(Rules::Ber, &["Age"]).unwrap();
/// assert!(plan.root("Age").is_some());
/// ```
#[derive(Debug)]
pub struct Schema {
    /// The texts.
    pub sources: SourceMap,
    /// Their syntax trees.
    pub modules: Vec<ast::Module>,
    /// What they mean.
    pub model: Model,
    /// What there is to say about them, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No module defines the type.
    Unknown {
        /// What was asked for.
        name: String,
        /// A name much like it.
        like: Option<String>,
    },
    /// Several modules define it.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The full names.
        candidates: Vec<String>,
    },
    /// The specifications define no type.
    Empty,
    /// Extended XER cannot be used: the diagnostics of [`Schema::extended_xer`] as text.
    Instructions(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, like: None } => write!(f, "no module defines the type `{name}`"),
            Self::Unknown { name, like: Some(like) } => {
                write!(f, "no module defines the type `{name}`; there is `{like}`")
            }
            Self::Ambiguous { name, candidates } => {
                write!(f, "several modules define `{name}`: say `{}`", candidates.join("` or `"))
            }
            Self::Empty => f.write_str("the specifications define no type"),
            Self::Instructions(text) => {
                write!(f, "the specifications have encoding instructions that are not supported\n{text}")
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl Schema {
    /// Reads files, and directories with all specifications in them (`*.asn`, `*.asn1`, and `*.txt` that hold `::=`).
    ///
    /// # Errors
    /// When a file cannot be read. What is wrong *in* a file is in [`Schema::diagnostics`].
    pub fn load(paths: &[PathBuf], options: &SchemaOptions) -> io::Result<Self> {
        let mut sources = SourceMap::new();
        for path in files::specifications(paths)? {
            let octets = fs::read(&path).map_err(|error| files::named(&path, &error))?;
            sources.add_bytes(path.display().to_string(), octets);
        }
        Ok(Self::from_sources(sources, options))
    }

    /// Reads one text with default options.
    pub fn from_text(name: &str, text: &str) -> Self {
        let mut sources = SourceMap::new();
        sources.add(name, text);
        Self::from_sources(sources, &SchemaOptions::default())
    }

    /// Reads all texts of a map.
    pub fn from_sources(sources: SourceMap, options: &SchemaOptions) -> Self {
        let parsing = ParseOptions { lenient: !options.strict, ..ParseOptions::default() };
        let (mut modules, mut diagnostics) = (Vec::new(), Vec::new());
        for (id, _) in sources.files() {
            let (more, said) = tercet_syntax::parse(&sources, id, &parsing);
            modules.extend(more);
            diagnostics.extend(said);
        }
        let resolving = Options {
            lenient: !options.strict,
            aliases: options.aliases.clone(),
            tagging: options.tagging,
            duplicates: options.duplicates,
            ..Options::default()
        };
        let (model, said) = tercet_model::resolve(&sources, &modules, &resolving);
        diagnostics.extend(said);
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.lo);
        Self { sources, modules, model, diagnostics }
    }

    /// Whether something is wrong that makes the specifications unfit for use.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All diagnostics as text for people.
    pub fn render(&self, color: bool) -> String {
        self.diagnostics.iter().map(|diagnostic| render(&self.sources, diagnostic, color) + "\n").collect()
    }

    /// The executable form of the named types (`Type` or `Module.Type`) and of all that they reach; without names, of
    /// the types that no other refers to.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, rules: Rules, types: &[&str]) -> Result<Plan, PlanError> {
        self.plans(&[rules], types).and_then(|mut plans| plans.pop().ok_or(PlanError::Empty))
    }

    /// One plan for each of some sets of rules, in their order, over one shape: a value decoded by one of them can be
    /// encoded by another.
    ///
    /// # Errors
    /// As [`Schema::plan`].
    pub fn plans(&self, rules: &[Rules], types: &[&str]) -> Result<Vec<Plan>, PlanError> {
        Ok(tercet_lower::plans(&self.model, rules, &self.roots(types)?).0)
    }

    /// Types by name, or the outermost ones.
    pub(crate) fn roots(&self, types: &[&str]) -> Result<Vec<TypeId>, PlanError> {
        let mut ids = types.iter().map(|name| self.find(name)).collect::<Result<Vec<_>, _>>()?;
        if types.is_empty() {
            ids = self.outermost().into_iter().map(|(_, id)| id).collect();
        }
        if ids.is_empty() { Err(PlanError::Empty) } else { Ok(ids) }
    }

    /// The same for transfer syntaxes. Extended XER needs encoding instructions that are all supported.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plans_for(&self, syntaxes: &[TransferSyntax], types: &[&str]) -> Result<Vec<Plan>, PlanError> {
        if syntaxes.contains(&TransferSyntax::Exer) {
            let found = self.extended_xer(types)?;
            if !found.is_empty() {
                let text = found.iter().map(|it| render(&self.sources, it, false)).collect::<Vec<_>>();
                return Err(PlanError::Instructions(text.join("\n")));
            }
        }
        let rules: Vec<Rules> = syntaxes.iter().map(|syntax| syntax.plan_rules()).collect();
        self.plans(&rules, types)
    }

    /// One such plan, as [`Schema::plans_for`].
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan_for(&self, syntax: TransferSyntax, types: &[&str]) -> Result<Plan, PlanError> {
        self.plans_for(&[syntax], types).and_then(|mut plans| plans.pop().ok_or(PlanError::Empty))
    }

    /// What of their encoding instructions keeps types from being written as extended XER
    /// (`dynamic::xml::extended`), each with its place; nothing if they can be. Without names, of the types that no other
    /// refers to.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn extended_xer(&self, types: &[&str]) -> Result<Vec<Diagnostic>, PlanError> {
        let mut ids = types.iter().map(|name| self.find(name)).collect::<Result<Vec<_>, _>>()?;
        if types.is_empty() {
            ids = self.outermost().into_iter().map(|(_, id)| id).collect();
        }
        Ok(tercet_lower::extended_xer(&self.model, &ids))
    }

    /// A type by `Module.Type`, or by `Type` where only one module has it.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn find(&self, name: &str) -> Result<TypeId, PlanError> {
        let found: Vec<_> =
            self.names().filter(|(full, _)| full == name || full.rsplit('.').next() == Some(name)).collect();
        match &found[..] {
            [(_, id)] => Ok(*id),
            [] => {
                let like = self.names().find(|(full, _)| {
                    let short = full.rsplit('.').next().unwrap_or_default();
                    alike(short, name) || alike(full, name)
                });
                Err(PlanError::Unknown { name: name.to_owned(), like: like.map(|(full, _)| full) })
            }
            _ => Err(PlanError::Ambiguous {
                name: name.to_owned(),
                candidates: found.into_iter().map(|(full, _)| full).collect(),
            }),
        }
    }

    /// The named types that no other type refers to: those that a file may consist of. If all are referred to, all.
    pub fn outermost(&self) -> Vec<(String, TypeId)> {
        let mut inner = HashSet::new();
        for (i, ty) in self.model.types.iter().enumerate() {
            for id in parts(ty) {
                // A type that refers to itself alone is still outermost.
                if id.index() != i {
                    inner.insert(id);
                }
            }
        }
        let all: Vec<_> = self.names().collect();
        let outermost: Vec<_> = all.iter().filter(|(_, id)| !inner.contains(id)).cloned().collect();
        if outermost.is_empty() { all } else { outermost }
    }

    /// Where a constraint of a plan is written (`tercet_plan::constraint::Restriction::span`).
    pub fn place(&self, (lo, hi): (u32, u32)) -> Option<Place> {
        let span = Span::new(lo, hi);
        let text = self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return None;
        }
        let file = self.sources.file(self.sources.file_of(lo)).name.clone();
        Some(Place { file, line: self.sources.line_column(lo).line, text })
    }

    /// All named types as `Module.Type`.
    pub fn names(&self) -> impl Iterator<Item = (String, TypeId)> {
        self.model.modules.iter().flat_map(|module| {
            module.types.iter().map(move |(name, id)| (format!("{}.{name}", module.name), *id))
        })
    }
}

/// A place in a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The text, on one line.
    pub text: String,
}

/// The types that a type is made of.
fn parts(ty: &Type) -> Vec<TypeId> {
    let components = |list: &[Component]| list.iter().map(|component| component.ty).collect();
    match &ty.kind {
        TypeKind::Reference(id) | TypeKind::SequenceOf(_, id) | TypeKind::SetOf(_, id) => vec![*id],
        TypeKind::Sequence(c) | TypeKind::Set(c) | TypeKind::Choice(c) => components(&c.list),
        _ => Vec::new(),
    }
}

/// Whether two names differ in case, hyphens and the like only.
fn alike(a: &str, b: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    plain(a) == plain(b)
}
