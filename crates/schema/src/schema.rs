//! A set of specifications, ready to be used.

use crate::cache::{Entries, PlanCache, Question};
use crate::gaps::{Listener, Reported, Warning};
use crate::instances::is_instance;
use crate::{Rules, files};
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use tercet_model::ir::{Component, Type, TypeId, TypeKind};
use tercet_model::{Duplicates, Findings, Model, Options, Tagging, strongly_connected};
use tercet_plan::Plan;
use tercet_syntax::{Diagnostic, ParseOptions, Severity, SourceMap, Span, ast, render};

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
    /// Whether faults that lenient reading works around are errors all the same: what is wrong by the standard, such as
    /// an undefined type. `tercet check` reads so. Slips of notation (`L` codes) stay warnings.
    pub faults_are_errors: bool,
    /// Whether plans may be made of types that use names without a definition, or modules given twice: see
    /// [`PlanError::Gaps`].
    pub allow_missing: bool,
    /// Whether the model keeps where names are used: [`tercet_model::Model::occurrences`].
    pub occurrences: bool,
    /// Receives warnings about the types of a plan.
    pub listener: Listener,
    /// Keeps plans between runs: [`Schema::load`] parses the files when the cache cannot answer.
    pub cache: Option<PlanCache>,
}

impl SchemaOptions {
    /// Returns those of them that concern the model.
    fn of_model(&self) -> Options {
        Options {
            lenient: !self.strict,
            aliases: self.aliases.clone(),
            tagging: self.tagging,
            duplicates: self.duplicates,
            occurrences: self.occurrences,
            ..Options::default()
        }
    }
}

/// Specifications that were read, and the model of what they mean, which [`Schema::has_errors`] tells whether to trust.
///
/// ```
/// use tercet_schema::{Schema, plan::Rules};
/// let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END");
/// assert!(!schema.has_errors(), "{}", schema.render(false));
/// let plan = schema.plan(Rules::Ber, &["Age"]).unwrap();
/// assert!(plan.root("Age").is_some());
/// ```
#[derive(Debug)]
pub struct Schema {
    /// The texts.
    pub sources: SourceMap,
    /// What the texts mean: made when it is first asked for.
    resolved: OnceLock<Resolved>,
    /// How they were read.
    pub(crate) options: SchemaOptions,
    pub(crate) reported: Reported,
    /// The plans of a plan file, if that is what the schema is.
    pub(crate) compiled: Vec<Plan>,
    /// What the cache of plans knows about these texts.
    pub(crate) entries: Option<Entries>,
}

/// What the compiler makes of texts.
#[derive(Debug)]
struct Resolved {
    modules: Vec<ast::Module>,
    model: Model,
    /// What the parser found.
    parsed: Vec<Diagnostic>,
    /// What the resolver found, without the checks of the whole.
    findings: Findings,
    /// All of it: made when it is first asked for.
    diagnostics: OnceLock<Vec<Diagnostic>>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No module defines the type.
    Unknown {
        /// What was asked for.
        name: String,
        /// The types that there are, nearest first.
        known: Vec<String>,
    },
    /// Several modules define it.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The full names.
        candidates: Vec<String>,
    },
    /// The type has parameters, and none are given.
    Parameterized {
        /// What was asked for.
        name: String,
        /// The type with its parameters as they are written.
        formal: String,
        /// An instance in the specifications.
        instance: Option<String>,
    },
    /// The type cannot be used with these parameters.
    Instance {
        /// What was asked for.
        name: String,
        /// The fault.
        message: String,
    },
    /// The specifications define no type.
    Empty,
    /// Extended XER cannot be used: the diagnostics of [`Schema::extended_xer`] as text.
    Instructions(String),
    /// The types use names without a definition, or a module given twice with different texts, and the rules are PER or
    /// OER, by which values of unknown types cannot be skipped. Other rules get by with a warning.
    Gaps(String),
    /// The plan file has no plan for these rules.
    NotCompiled(Rules),
    /// The types cannot be in a plan file: why.
    File(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                f.write_str(&tercet_suggest::unknown("type", name, known.iter().map(String::as_str)))
            }
            Self::Parameterized { name, formal, instance } => {
                let example = instance.as_deref().unwrap_or(formal);
                write!(
                    f,
                    "the type `{name}` has parameters: {formal}\nhelp: give values for them, as in `{example}`"
                )
            }
            Self::Instance { name, message } => write!(f, "cannot use the type `{name}`: {message}"),
            Self::Ambiguous { name, candidates } => f.write_str(&tercet_suggest::with_list(
                &format!("type `{name}` in several modules"),
                candidates.iter().map(String::as_str),
            )),
            Self::Empty => f.write_str("the specifications define no type"),
            Self::Instructions(text) => {
                write!(f, "the specifications have encoding instructions that are not supported\n{text}")
            }
            Self::Gaps(text) => f.write_str(text),
            Self::NotCompiled(rules) => write!(
                f,
                "the plan file has no plan for {}\nhelp: make one with `tercet compile --plan FILE --rules RULES`",
                rules.label()
            ),
            Self::File(text) => write!(f, "cannot write a plan file: {text}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl PlanError {
    /// Reports a name that none of some types `Module.Type` has: without a module, it is compared with names without one.
    pub(crate) fn unknown(name: &str, types: impl Iterator<Item = String>) -> Self {
        let is_full = name.contains('.');
        let all: Vec<String> = types
            .map(|full| match full.rsplit('.').next() {
                Some(short) if !is_full => short.to_owned(),
                _ => full,
            })
            .collect();
        let known = tercet_suggest::ranked(name, all.iter().map(String::as_str));
        Self::Unknown { name: name.to_owned(), known: known.into_iter().map(str::to_owned).collect() }
    }
}

impl Schema {
    /// Reads files, and directories with all specifications in them (`*.asn`, `*.asn1`, and `*.txt` that hold `::=`).
    ///
    /// # Errors
    /// When a file cannot be read. What is wrong *in* a file is in [`Schema::diagnostics`].
    pub fn load(paths: &[PathBuf], options: &SchemaOptions) -> io::Result<Self> {
        let mut sources = SourceMap::new();
        for path in files::specifications(paths)? {
            let octets = fs::read(&path).map_err(|error| files::named(&path, &error))?;
            files::check_unpacked(&octets).map_err(|error| files::named(&path, &error))?;
            sources.add_bytes(path.display().to_string(), octets);
        }
        match &options.cache {
            None => Ok(Self::from_sources(sources, options)),
            Some(cache) => {
                let entries = cache.entries(&sources, options);
                Ok(Self { entries: Some(entries), ..Self::unresolved(sources, options) })
            }
        }
    }

    /// Reads one text with default options.
    pub fn from_text(name: &str, text: &str) -> Self {
        let mut sources = SourceMap::new();
        sources.add(name, text);
        Self::from_sources(sources, &SchemaOptions::default())
    }

    /// Reads all texts of a map.
    pub fn from_sources(sources: SourceMap, options: &SchemaOptions) -> Self {
        let schema = Self::unresolved(sources, options);
        schema.resolved();
        schema
    }

    /// Keeps texts for the time when their meaning is asked for.
    pub(crate) fn unresolved(sources: SourceMap, options: &SchemaOptions) -> Self {
        let (resolved, reported) = (OnceLock::new(), Reported::default());
        Self { sources, resolved, options: options.clone(), reported, compiled: Vec::new(), entries: None }
    }

    /// Parses and resolves the texts, once.
    fn resolved(&self) -> &Resolved {
        self.resolved.get_or_init(|| {
            let parsing = ParseOptions { lenient: !self.options.strict, ..ParseOptions::default() };
            let (mut modules, mut parsed) = (Vec::new(), Vec::new());
            for (id, _) in self.sources.files() {
                let (more, found) = tercet_syntax::parse(&self.sources, id, &parsing);
                modules.extend(more);
                parsed.extend(found);
            }
            Resolved::new(&self.sources, modules, parsed, &self.options)
        })
    }

    /// Resolves modules that have been parsed.
    pub(crate) fn of_modules(sources: SourceMap, modules: Vec<ast::Module>, options: &SchemaOptions) -> Self {
        let resolved = Resolved::new(&sources, modules, Vec::new(), options).into();
        Self { resolved, ..Self::unresolved(sources, options) }
    }

    /// Returns whether the texts have been parsed: what the cache knows is known without.
    #[cfg(test)]
    pub(crate) fn is_resolved(&self) -> bool {
        self.resolved.get().is_some()
    }

    /// Returns the syntax trees of the modules.
    pub fn modules(&self) -> &[ast::Module] {
        &self.resolved().modules
    }

    /// Returns what the modules mean.
    pub fn model(&self) -> &Model {
        &self.resolved().model
    }

    /// Returns what there is to say about the texts, in their order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.resolved().diagnostics(&self.options)
    }

    /// Returns the model of a schema of which nothing has been asked.
    pub(crate) fn model_mut(&mut self) -> Option<&mut Model> {
        self.resolved.get_mut().map(|resolved| &mut resolved.model)
    }

    /// Whether something is wrong that makes the specifications unfit for use.
    pub fn has_errors(&self) -> bool {
        !self.holds(&Question::Sound, || !self.resolved().has_errors(&self.options))
    }

    /// All diagnostics as text for people.
    pub fn render(&self, color: bool) -> String {
        self.diagnostics().iter().map(|diagnostic| render(&self.sources, diagnostic, color) + "\n").collect()
    }

    /// The executable form of the named types (`Type`, `Module.Type`, or with actual parameters `Type {5}`) and of all that they
    /// reach; without names, of the types that no other refers to.
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
        if self.is_compiled() {
            return self.compiled_plans(rules, types);
        }
        let make = |schema: &Self, roots: &[TypeId]| {
            let warning = schema.check_gaps(rules, roots)?;
            Ok((tercet_lower::plans(schema.model(), rules, roots).0, warning))
        };
        self.kept_plans(&Question::Plans(rules, types), || self.with_roots(types, make)?)
    }

    /// As [`Schema::plans`], for trials: types with gaps have plans too, and nothing is reported.
    ///
    /// # Errors
    /// As [`Schema::plans`], but for [`PlanError::Gaps`].
    pub fn trial_plans(&self, rules: &[Rules], types: &[&str]) -> Result<Vec<Plan>, PlanError> {
        if self.is_compiled() {
            return self.compiled_plans(rules, types);
        }
        let make = |schema: &Self, roots: &[TypeId]| {
            (tercet_lower::plans(schema.model(), rules, roots).0, Warning::default())
        };
        self.kept_plans(&Question::Trials(rules, types), || self.with_roots(types, make))
    }

    /// Plans for what strings contain under ENCODED BY (X.682 §11), one for each of the encoding rules that a plan of these types
    /// names, for [`tercet_dynamic::value::Annotated::with_contents`].
    pub fn contents_plans(&self, plan: &Plan, types: &[&str]) -> Vec<(Rules, Plan)> {
        let rules = plan.shape.restrictions.rules_of_contents();
        if rules.is_empty() {
            return Vec::new();
        }
        let plans = self.trial_plans(&rules, types).unwrap_or_default();
        // Nodes are those of the same shape.
        rules.into_iter().zip(plans).filter(|(_, other)| other.shape == plan.shape).collect()
    }

    /// Calls `act` for types by name, or the outermost ones, with the schema that has them.
    pub(crate) fn with_roots<T>(
        &self,
        types: &[&str],
        act: impl FnOnce(&Self, &[TypeId]) -> T,
    ) -> Result<T, PlanError> {
        if types.iter().any(|name| is_instance(name)) {
            let (schema, ids) = self.with_instances(types)?;
            return Ok(act(&schema, &ids));
        }
        let mut ids = types.iter().map(|name| self.find(name)).collect::<Result<Vec<_>, _>>()?;
        if types.is_empty() {
            ids = self.outermost().into_iter().map(|(_, id)| id).collect();
        }
        if ids.is_empty() { Err(PlanError::Empty) } else { Ok(act(self, &ids)) }
    }

    /// The same for transfer syntaxes. Extended XER needs encoding instructions that are all supported.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plans_for(&self, syntaxes: &[Rules], types: &[&str]) -> Result<Vec<Plan>, PlanError> {
        if self.is_compiled() {
            return self.compiled_plans_for(syntaxes, types);
        }
        if syntaxes.contains(&Rules::Exer) {
            let (question, mut found) = (Question::ExtendedXer(types), Ok(Vec::new()));
            let is_empty = || {
                found = self.extended_xer(types);
                found.as_ref().is_ok_and(Vec::is_empty)
            };
            if !self.holds(&question, is_empty) {
                let found = found?;
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
    pub fn plan_for(&self, syntax: Rules, types: &[&str]) -> Result<Plan, PlanError> {
        self.plans_for(&[syntax], types).and_then(|mut plans| plans.pop().ok_or(PlanError::Empty))
    }

    /// What of their encoding instructions keeps types from being written as extended XER
    /// (`dynamic::xml::extended`), each with its place; nothing if they can be. Without names, of the types that no other
    /// refers to.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn extended_xer(&self, types: &[&str]) -> Result<Vec<Diagnostic>, PlanError> {
        match self.with_roots(types, |schema, roots| tercet_lower::extended_xer(schema.model(), roots)) {
            Err(PlanError::Empty) => Ok(Vec::new()),
            found => found,
        }
    }

    /// A type by `Module.Type`, or by `Type` where only one module has it.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn find(&self, name: &str) -> Result<TypeId, PlanError> {
        // There may be thousands of names, each asked for: no full name is made unless it is one.
        let (of_module, own) = name.rsplit_once('.').map_or((None, name), |(of, own)| (Some(of), own));
        let modules =
            self.model().modules.iter().filter(|module| of_module.is_none_or(|of| module.name == of));
        let of_name = |module: &'_ tercet_model::ir::Module| {
            let types = module.types.iter().filter(|(known, _)| known == own);
            types.map(|(known, id)| (format!("{}.{known}", module.name), *id)).collect::<Vec<_>>()
        };
        let found: Vec<_> = modules.flat_map(of_name).collect();
        if found.is_empty()
            && let [(_, assignment), ..] = self.parameterized_types(name)[..]
        {
            let of_type = |ty: &&Type| {
                ty.name.as_ref().is_some_and(|it| it.name == assignment.name.text && !it.arguments.is_empty())
            };
            let instance = self.model().types.iter().find(of_type).and_then(|ty| ty.name.as_ref());
            return Err(PlanError::Parameterized {
                name: name.to_owned(),
                formal: format!("{} {{{}}}", assignment.name.text, self.parameters(assignment)),
                instance: instance.map(|it| format!("{} {{{}}}", it.name, it.arguments)),
            });
        }
        match &found[..] {
            [(_, id)] => Ok(*id),
            [] => Err(PlanError::unknown(name, self.names().map(|(full, _)| full))),
            _ => Err(PlanError::Ambiguous {
                name: name.to_owned(),
                candidates: found.into_iter().map(|(full, _)| full).collect(),
            }),
        }
    }

    /// Returns the named types that no other type refers to: those that a file may consist of. Types that refer to one
    /// another in a circle count as one.
    pub fn outermost(&self) -> Vec<(String, TypeId)> {
        let types = &self.model().types;
        let groups = strongly_connected(types.len(), |from, out| {
            out.extend(parts(&types[from]).map(TypeId::index));
        });
        let mut inner = HashSet::new();
        for (from, ty) in types.iter().enumerate() {
            let others = parts(ty).map(|id| groups[id.index()]);
            inner.extend(others.filter(|group| *group != groups[from]));
        }
        self.names().filter(|(_, id)| !inner.contains(&groups[id.index()])).collect()
    }

    /// The named types that are messages: their name ends in `PDU` or `Message`, or they are a CHOICE of such types.
    pub fn messages(&self) -> Vec<String> {
        self.kept_names(&Question::Messages, || self.find_messages())
    }

    fn find_messages(&self) -> Vec<String> {
        let named = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.ends_with("pdu") || name.ends_with("message")
        };
        let names_message = |id: TypeId| {
            self.model()
                .alias_chain(id)
                .any(|at| self.model().ty(at).name.as_ref().is_some_and(|it| named(&it.name)))
        };
        let is_message = |name: &str, id: TypeId| {
            named(name)
                || match &self.model().ty(self.model().base(id)).kind {
                    TypeKind::Choice(alternatives) => {
                        !alternatives.list.is_empty()
                            && alternatives.list.iter().all(|it| names_message(it.ty))
                    }
                    _ => false,
                }
        };
        self.names().filter(|(name, id)| is_message(name, *id)).map(|(name, _)| name).collect()
    }

    /// Where a constraint of a plan is written (`tercet_plan::constraint::Restriction::span`).
    pub fn place(&self, (lo, hi): (u32, u32)) -> Option<Place> {
        if self.is_compiled() {
            return None;
        }
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
        self.model().modules.iter().flat_map(|module| {
            module.types.iter().map(move |(name, id)| (format!("{}.{name}", module.name), *id))
        })
    }
}

impl Resolved {
    fn new(
        sources: &SourceMap,
        modules: Vec<ast::Module>,
        parsed: Vec<Diagnostic>,
        options: &SchemaOptions,
    ) -> Self {
        let (model, findings) = tercet_model::bind(sources, &modules, &options.of_model());
        Self { modules, model, parsed, findings, diagnostics: OnceLock::new() }
    }

    fn diagnostics(&self, options: &SchemaOptions) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| {
            let mut diagnostics = self.parsed.clone();
            diagnostics.extend(self.findings.clone().complete(&self.model, &options.of_model()));
            diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.lo);
            if options.faults_are_errors {
                let faults = diagnostics.iter_mut().filter(|diagnostic| diagnostic.code.starts_with('E'));
                faults.for_each(|diagnostic| diagnostic.severity = Severity::Error);
            }
            diagnostics
        })
    }

    fn has_errors(&self, options: &SchemaOptions) -> bool {
        // By default the checks that are still to be made give warnings alone, and nobody may ask for these.
        if options.strict || options.faults_are_errors {
            return self.diagnostics(options).iter().any(Diagnostic::is_error);
        }
        self.parsed.iter().chain(self.findings.so_far()).any(Diagnostic::is_error)
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
fn parts(ty: &Type) -> impl Iterator<Item = TypeId> {
    let (one, components): (Option<TypeId>, &[Component]) = match &ty.kind {
        TypeKind::Reference(id) | TypeKind::SequenceOf(_, id) | TypeKind::SetOf(_, id) => (Some(*id), &[]),
        TypeKind::Sequence(c) | TypeKind::Set(c) | TypeKind::Choice(c) => (None, &c.list),
        _ => (None, &[]),
    };
    one.into_iter().chain(components.iter().map(|component| component.ty))
}
