//! Binds names: the state shared by all parts of the resolver, and the order in which they work.
//!
//! Every named type, class, object and object set gets its id when it is first mentioned and its body later, from a
//! queue, so that recursion through components needs no care and no stack. What needs a body at once says so with
//! [`Resolver::ensure`] and its sisters. Constraints and DEFAULT values wait until all types stand (`deferred`).

mod arena;
mod budget;
mod circles;
mod components;
mod deferred;
mod definitions;
mod enumerated;
mod fields;
mod lookup;
mod modules;
mod occurrences;
mod parameters;
mod types;

pub(crate) use budget::Extent;
pub use lookup::import_fix;
pub(crate) use lookup::{Binding, Scope};
pub(crate) use modules::well_known_arc;
pub(crate) use types::BuiltIn;

use crate::findings::Findings;
use crate::instructions::Prefix;
use crate::ir::{self, ClassId, Model, ModuleId, TypeId};
use crate::names::Names;
use crate::options::Options;
use crate::unresolved::Unresolved;
use arena::{Arena, Kept, Tail};
use definitions::{Body, DefId, Definition, Kind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use tercet_syntax::ast::{self, Braced};
use tercet_syntax::{Cursor, Diagnostic, SourceMap, Span, Token};

/// How deep resolving may nest: types in types, values that need values, objects that need types.
/// Specifications stay below twenty; two hundred fit into a thread's stack of 2 MiB without optimisation.
const DEPTH_LIMIT: u32 = 200;

/// Types that room is made for at once at most: five times those of NR RRC.
const MOST_ROOM: usize = 1 << 16;

/// How many references may follow one another before a type stands.
const ALIAS_LIMIT: usize = 1000;

/// Binds every name of the modules, and looks for mistakes that only the whole shows.
///
/// The model holds all that could be understood. The diagnostics are in the order of the text.
pub fn resolve(map: &SourceMap, modules: &[ast::Module], options: &Options) -> (Model, Vec<Diagnostic>) {
    let (model, findings) = bind(map, modules, options);
    let diagnostics = findings.complete(&model, options);
    (model, diagnostics)
}

/// Binds every name of the modules, and leaves mistakes that only the whole shows to [`Findings::complete`].
pub fn bind(map: &SourceMap, modules: &[ast::Module], options: &Options) -> (Model, Findings) {
    let arena = Arena::default();
    let mut resolver = Resolver::new(map, modules, options, &arena);
    resolver.bind_modules();
    resolver.define_all();
    resolver.finish()
}

/// The state of a run. `'a` is the life of the sources, the trees and of trees read again from braces.
pub(crate) struct Resolver<'a> {
    pub(crate) map: &'a SourceMap,
    pub(crate) modules: &'a [ast::Module],
    pub(crate) options: &'a Options,
    /// What has been built so far.
    pub(crate) model: Model,
    findings: Findings,
    depth: u32,
    depth_reported: bool,
    budget: budget::Budget,
    arena: Tail<'a>,
    // modules.rs
    table: modules::Table<'a>,
    // occurrences.rs
    occurrences_until: usize,
    // lookup.rs
    unresolved: BTreeMap<(u32, u32), Unresolved>,
    // definitions.rs
    definitions: Vec<Vec<Definition>>,
    types: Vec<Body<'a, &'a ast::Type>>,
    classes: Vec<Body<'a, &'a ast::ObjectClass>>,
    objects: Vec<Body<'a, &'a ast::Value>>,
    object_sets: Vec<Body<'a, &'a ast::ElementSet>>,
    object_set_classes: Vec<ClassId>,
    queue: VecDeque<definitions::Job>,
    // deferred.rs
    deferred: VecDeque<deferred::Deferred<'a>>,
    constraints: FxHashMap<TypeId, Vec<deferred::Constraints<'a>>>,
    // parameters.rs
    instances: FxHashMap<parameters::Key, definitions::Memo>,
    texts: FxHashMap<(ModuleId, parameters::Role, &'a str), Binding>,
    instances_reported: bool,
    // components.rs
    components_of: Vec<(*const ast::ComponentList, Span)>,
    components_taken: usize,
    components_reported: bool,
    // enumerated.rs
    names: Names<'a>,
    // types.rs
    built_in: types::BuiltIns,
    undecided: Vec<types::Undecided>,
    // instructions/
    pub(crate) prefixes: Vec<Prefix<'a>>,
}

impl<'a> Resolver<'a> {
    fn new(map: &'a SourceMap, modules: &'a [ast::Module], options: &'a Options, arena: &'a Arena) -> Self {
        let mut resolver = Self {
            map,
            modules,
            options,
            model: Model::default(),
            findings: Findings::default(),
            depth: 0,
            depth_reported: false,
            budget: budget::Budget::new(
                options.expansion_limit,
                map.files().map(|(_, file)| file.text.len() as u64).sum(),
            ),
            arena: Tail::of(arena),
            table: modules::Table::default(),
            occurrences_until: 0,
            unresolved: BTreeMap::new(),
            definitions: modules.iter().map(|m| vec![Definition::default(); m.assignments.len()]).collect(),
            types: Vec::new(),
            classes: Vec::new(),
            objects: Vec::new(),
            object_sets: Vec::new(),
            object_set_classes: Vec::new(),
            queue: VecDeque::new(),
            deferred: VecDeque::new(),
            constraints: FxHashMap::default(),
            instances: FxHashMap::default(),
            texts: FxHashMap::default(),
            instances_reported: false,
            components_of: Vec::new(),
            components_taken: 0,
            components_reported: false,
            names: Names::default(),
            built_in: types::BuiltIns::default(),
            undecided: Vec::new(),
            prefixes: Vec::new(),
        };
        // NR RRC has a type in seven lexical items. Room that stays unused is never written to.
        let types = modules.iter().map(|module| module.tokens.len()).sum::<usize>() / 7;
        let types = types.min(MOST_ROOM);
        resolver.model.types.reserve(types);
        resolver.types.reserve(types);
        resolver.error_type();
        resolver
    }

    /// Defines everything: types, classes and objects, then values, then what waited for all of them.
    fn define_all(&mut self) {
        for values in [false, true] {
            for (index, module) in self.modules.iter().enumerate() {
                if !self.is_current(index) {
                    continue;
                }
                for (at, assignment) in module.assignments.iter().enumerate() {
                    let id = DefId::new(index, at);
                    let is_value = matches!(self.kind_of(id), Kind::Value | Kind::MacroValue);
                    if assignment.parameters.is_empty() && is_value == values {
                        self.ensure_definition(id);
                    }
                }
            }
            self.run_queue();
            self.break_reference_cycles();
        }
        self.run_deferred();
        self.break_reference_cycles();
        self.break_constraint_circles();
        self.break_default_circles();
        self.decide_tag_modes();
        self.read_instructions();
    }

    /// Lists what the modules define, and hands it over.
    fn finish(mut self) -> (Model, Findings) {
        self.finish_occurrences();
        for (index, module) in self.modules.iter().enumerate() {
            let oid = module.oid.and_then(|oid| self.plain_oid(index, oid));
            let mut out = ir::Module {
                name: module.name.text.clone(),
                oid,
                tags: module.tags,
                types: Vec::new(),
                values: Vec::new(),
                classes: Vec::new(),
                objects: Vec::new(),
                object_sets: Vec::new(),
                span: module.span,
            };
            for (at, assignment) in module.assignments.iter().enumerate() {
                let name = assignment.name.text.clone();
                match self.take_binding(DefId::new(index, at)) {
                    Some(Binding::Type(id) | Binding::ValueSet(id)) => out.types.push((name, id)),
                    Some(Binding::Value(ty, value)) => out.values.push((name, ty, value)),
                    Some(Binding::Class(id)) => out.classes.push((name, id)),
                    Some(Binding::Object(id)) => out.objects.push((name, id)),
                    Some(Binding::ObjectSet(id)) => out.object_sets.push((name, id)),
                    Some(Binding::Macro | Binding::Missing) | None => {}
                }
            }
            self.model.modules.push(out);
        }
        self.model.unresolved = std::mem::take(&mut self.unresolved).into_values().collect();
        (self.model, self.findings)
    }
}

/// What model's other parts call.
impl<'a> Resolver<'a> {
    /// Takes a diagnostic. The same code at the same place is said once.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.findings.report(diagnostic);
    }

    /// A vendor's slip: an error, or in lenient mode a warning (the message says what is assumed).
    pub(crate) fn slip(&self, code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        if self.options.lenient {
            Diagnostic::warning(code, span, message)
        } else {
            Diagnostic::error(code, span, message)
        }
    }

    /// Goes one level deeper; `false` (and a report, once) when that is too deep. Pair with [`Self::leave`] if `true`.
    #[must_use]
    pub(crate) fn enter(&mut self, span: Span) -> bool {
        if self.depth >= DEPTH_LIMIT {
            if !self.depth_reported {
                self.depth_reported = true;
                self.report(
                    Diagnostic::error(
                        "E0299",
                        span,
                        format!("definitions nest deeper than {DEPTH_LIMIT} levels"),
                    )
                    .help("give the inner parts separate names"),
                );
            }
            return false;
        }
        self.depth += 1;
        true
    }

    /// Comes back from [`Self::enter`].
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The tokens that the [`Braced`] of trees written in this scope point to.
    pub(crate) fn tokens(&self, scope: &Scope<'a>) -> &'a [Token] {
        self.modules.get(scope.module.index()).map_or(&[], |m| &m.tokens)
    }

    /// A cursor on a slice of the scope's module.
    pub(crate) fn cursor(&self, scope: &Scope<'a>, braced: Braced) -> Cursor<'a> {
        Cursor::new(self.map, self.tokens(scope), braced)
    }

    /// Keeps a tree that was read again from braces for the whole run.
    pub(crate) fn keep_type(&mut self, tree: ast::Type) -> &'a ast::Type {
        let Kept::Type(tree) = self.arena.keep(Kept::Type(tree)) else { unreachable!("kept as a type") };
        tree
    }

    /// Keeps a value that was read again from braces.
    pub(crate) fn keep_value(&mut self, tree: ast::Value) -> &'a ast::Value {
        let Kept::Value(tree) = self.arena.keep(Kept::Value(tree)) else { unreachable!("kept as a value") };
        tree
    }

    /// Keeps a set that was read again from braces.
    pub(crate) fn keep_set(&mut self, tree: ast::ElementSet) -> &'a ast::ElementSet {
        let Kept::Set(tree) = self.arena.keep(Kept::Set(tree)) else { unreachable!("kept as a set") };
        tree
    }

    /// Keeps a reference that was read again from braces.
    pub(crate) fn keep_reference(&mut self, tree: ast::Reference) -> &'a ast::Reference {
        let Kept::Reference(tree) = self.arena.keep(Kept::Reference(tree)) else {
            unreachable!("kept as a reference")
        };
        tree
    }
}

// Elsewhere in this folder, for use by values/, objects/ and constraints/:
//
//   types.rs        fn ty(&mut self, scope, &'a ast::Type) -> TypeId        a name gives the id of its definition;
//                                                                           constraints and DEFAULTs follow later
//                   fn type_of(&mut self, BuiltIn) -> TypeId                `INTEGER`, `OBJECT IDENTIFIER` … themselves
//                   fn new_type(&mut self, scope, ir::TypeKind, Span) -> TypeId
//                   fn error_type(&self) -> TypeId, fn open_type(&self) -> TypeId
//   definitions.rs  fn ensure(&mut self, TypeId)                            kind, tags, components are there after it
//                   fn ensure_class(&mut self, ClassId), fn ensure_object(&mut self, ObjectId, Span) -> bool,
//                   fn ensure_object_set(&mut self, ObjectSetId, Span) -> bool      false: it is being built (a cycle)
//                   fn base(&mut self, TypeId) -> TypeId                    references stripped, ensured
//                   fn is_missing(&mut self, TypeId) -> bool                missing or reported: say nothing of its values
//                   fn new_class / new_object / new_object_set              reserve an id and queue the body
//   lookup.rs       fn lookup(&mut self, scope, &'a ast::Reference) -> Option<Binding>      None: reported already
//                   fn peek(&mut self, scope, name: &str) -> Option<Binding>                never reports
//   occurrences.rs  fn occurs, component_occurs, item_occurs, field_occurs   a name is used; only where asked for
//   deferred.rs     fn ensure_constraints(&mut self, TypeId)                Type::constraints are there after it
//
// Given by the other parts:
//
//   values/         fn value(&mut self, &Scope<'a>, &'a ast::Value, governor: TypeId) -> ir::Value
//   objects/        fn define_class(&mut self, ClassId, &Scope<'a>, &'a ast::ObjectClass)     fills model.classes[id]
//                   fn define_object(&mut self, ObjectId, &Scope<'a>, &'a ast::Value)         class is set already
//                   fn define_object_set(&mut self, ObjectSetId, &Scope<'a>, &'a ast::ElementSet, ClassId)
//                   fn field_of_object(&mut self, ObjectId, path: &[ast::Ident]) -> Option<ir::Setting>
//   constraints/    fn constraint(&mut self, &Scope<'a>, &'a ast::Constraint, governor: TypeId) -> Vec<ir::Constraint>
//                   fn element_set(&mut self, &Scope<'a>, &'a ast::ElementSet, governor: TypeId) -> ir::ElementSet
