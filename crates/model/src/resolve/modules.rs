//! The modules of a run, the names each knows, and what its imports lead to (X.680 §13).

use super::Resolver;
use super::definitions::DefId;
use crate::ir::ModuleId;
use crate::options::Duplicates;
use crate::unresolved::Twice;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_suggest::nearest;
use tercet_syntax::ast::{self, Ident};
use tercet_syntax::{Diagnostic, Fix, Span, TokenKind};

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// An assignment.
    Definition(DefId),
    /// TYPE-IDENTIFIER (X.681 Annex A) or ABSTRACT-SYNTAX (Annex B).
    BuiltInClass(BuiltInClass),
    /// Something that was to be there and is not; reported.
    Missing,
    /// Nothing.
    Unknown,
}

/// The classes that need no definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltInClass {
    TypeIdentifier,
    AbstractSyntax,
}

/// The modules by name and their symbols.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    by_name: FxHashMap<SmolStr, usize>,
    by_oid: FxHashMap<Vec<u128>, usize>,
    symbols: Vec<FxHashMap<&'a str, Symbol>>,
    elsewhere: Option<FxHashMap<&'a str, (DefId, bool)>>,
    missing_modules: FxHashMap<SmolStr, Span>,
    searches: u32,
}

impl<'a> Resolver<'a> {
    /// Fills the table: names first, then imports, since those may go in circles.
    pub(super) fn bind_modules(&mut self) {
        let modules = self.modules;
        for (index, module) in modules.iter().enumerate() {
            self.register_module(index, module);
            self.register_symbols(index, module);
        }
        for (alias, target) in &self.options.aliases {
            if let Some(&index) = self.table.by_name.get(target.as_str()) {
                self.table.by_name.entry(alias.as_str().into()).or_insert(index);
            }
        }
        for (index, module) in modules.iter().enumerate() {
            self.bind_imports(index, module);
        }
    }

    fn register_module(&mut self, index: usize, module: &'a ast::Module) {
        if let Some(numbers) = module.oid.and_then(|oid| self.plain_oid(index, oid)) {
            self.table.by_oid.entry(numbers).or_insert(index);
        }
        let Some(&first) = self.table.by_name.get(&module.name.text) else {
            self.table.by_name.insert(module.name.text.clone(), index);
            return;
        };
        let (used, says) = match self.options.duplicates {
            Duplicates::First => (first, "ignored"),
            Duplicates::Last => (index, "used instead of the other"),
        };
        self.table.by_name.insert(module.name.text.clone(), used);
        let unused = if used == index { first } else { index };
        if !self.same_text(first, index) {
            let name = &module.name.text;
            let places = [self.modules[used].name.span, self.modules[unused].name.span];
            match self.model.twice.iter_mut().find(|twice| twice.name == *name) {
                Some(known) if used == index => known.places.insert(0, places[0]),
                Some(known) => known.places.push(places[1]),
                None => self.model.twice.push(Twice { name: name.clone(), places: places.into() }),
            }
        }
        self.report(
            Diagnostic::warning(
                "W0211",
                module.name.span,
                format!("module `{}` is given twice", module.name.text),
            )
            .label(says)
            .also(self.modules[first].name.span, "the other one"),
        );
    }

    /// Whether two modules are written with the same items; comments and white space do not count.
    fn same_text(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.modules[a].tokens, &self.modules[b].tokens);
        let text = |token: &tercet_syntax::Token| self.map.text(token.span);
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kind == b.kind && text(a) == text(b))
    }

    fn register_symbols(&mut self, index: usize, module: &'a ast::Module) {
        let mut symbols: FxHashMap<&'a str, Symbol> = FxHashMap::default();
        symbols.reserve(module.assignments.len());
        for (at, assignment) in module.assignments.iter().enumerate() {
            let symbol = Symbol::Definition(DefId::new(index, at));
            let name = assignment.name.text.as_str();
            if let Some(Symbol::Definition(first)) = symbols.get(name).copied() {
                let finding = self
                    .slip("E0212", assignment.name.span, format!("`{name}` is defined twice"))
                    .label("the first definition is used")
                    .also(module.assignments[first.assignment()].name.span, "first defined here");
                self.report(finding);
            } else {
                symbols.insert(name, symbol);
            }
        }
        self.table.symbols.push(symbols);
    }

    fn bind_imports(&mut self, index: usize, module: &'a ast::Module) {
        for import in &module.imports {
            let Some(target) = self.imported_module(index, import) else {
                self.report_missing_module(&import.module);
                for symbol in &import.symbols {
                    self.table.symbols[index].entry(symbol.text.as_str()).or_insert(Symbol::Missing);
                }
                continue;
            };
            self.check_version(index, import, target);
            self.occurs(import.module.span, self.modules[target].name.span);
            for symbol in &import.symbols {
                let name = symbol.text.as_str();
                if let Some(Symbol::Definition(id)) = self.table.symbols[target].get(name) {
                    let definition = self.definition_tree(*id).name.span;
                    self.occurs(symbol.span, definition);
                }
                if is_useful_type(name)
                    || target == index
                    || matches!(self.table.symbols[index].get(name), Some(Symbol::Definition(_)))
                {
                    continue;
                }
                let bound = self.exported(target, symbol);
                self.table.symbols[index].insert(name, bound);
            }
        }
    }

    /// The module an import names: by its reference, an alias, or else its object identifier (X.680 §13.15).
    fn imported_module(&self, index: usize, import: &ast::Import) -> Option<usize> {
        let named = self.table.by_name.get(&import.module.text).copied();
        let by_oid = import.oid.and_then(|oid| self.plain_oid(index, oid));
        let by_oid = by_oid.and_then(|numbers| self.table.by_oid.get(&numbers).copied());
        // Of several versions of a module, the one that is meant.
        match (named, by_oid) {
            (_, Some(meant)) if self.modules[meant].name.text == import.module.text => Some(meant),
            (named, by_oid) => named.or(by_oid),
        }
    }

    /// Reports a module whose object identifier is not the one that an import names (X.680 §13.15).
    fn check_version(&mut self, index: usize, import: &'a ast::Import, target: usize) {
        let Some(wanted) = import.oid.and_then(|oid| self.plain_oid(index, oid)) else { return };
        let module = &self.modules[target];
        let Some(oid) = module.oid else { return };
        let Some(found) = self.plain_oid(target, oid) else { return };
        let fits = match import.selection {
            // The last arc counts versions.
            Some(ast::Selection::Successors) => match (wanted.split_last(), found.split_last()) {
                (Some((least, before)), Some((last, same))) => before == same && last >= least,
                _ => wanted == found,
            },
            Some(ast::Selection::Descendants) => found.starts_with(&wanted),
            None => wanted == found,
        };
        if fits {
            return;
        }
        let arcs = |arcs: &[u128]| arcs.iter().map(u128::to_string).collect::<Vec<_>>().join(" ");
        let name = &module.name.text;
        let message = format!("module `{name}` is {{{}}}, not {{{}}}", arcs(&found), arcs(&wanted));
        let finding = self
            .slip("L0403", import.module.span, message)
            .label("another version is imported; this one is used")
            .also(oid.span, "the version at hand")
            .note("X.680 §13.15");
        self.report(finding);
    }

    /// What a module gives under a name: its own definition, or what it imports itself (§13.13), followed until a
    /// definition stands.
    fn exported(&mut self, from: usize, symbol: &Ident) -> Symbol {
        let name = symbol.text.as_str();
        let mut at = from;
        // Re-exports may go in circles; a chain longer than the number of modules is one.
        for _ in 0..=self.modules.len() {
            if let Some(&found) = self.table.symbols[at].get(name) {
                if at == from {
                    self.check_exported(from, symbol);
                }
                return found;
            }
            let module = &self.modules[at];
            let next = module.imports.iter().find(|i| i.symbols.iter().any(|s| s.text == symbol.text));
            match next.and_then(|import| self.imported_module(at, import)) {
                Some(next) if next != at => at = next,
                _ => break,
            }
        }
        if let Some(class) = built_in_class(name) {
            return Symbol::BuiltInClass(class);
        }
        let module = &self.modules[from];
        let mut finding = self
            .slip("E0213", symbol.span, format!("module `{}` does not define `{name}`", module.name.text))
            .also(module.name.span, "the module");
        if let Some(near) = self.nearest_name(ModuleId(from as u32), name) {
            finding = finding
                .help(format!("a name much like it is known there: `{near}`"))
                .fix(Fix::replace(symbol.span, near));
        }
        self.report(finding);
        Symbol::Missing
    }

    fn check_exported(&mut self, from: usize, symbol: &Ident) {
        let module = &self.modules[from];
        let Some(exports) = &module.exports else { return };
        if !exports.iter().any(|e| e.text == symbol.text) {
            let text = format!("module `{}` does not export `{}`", module.name.text, symbol.text);
            self.report(Diagnostic::warning("W0214", symbol.span, text).label("used nevertheless"));
        }
    }

    /// The module that a name is imported from.
    pub(super) fn import_of(&self, module: ModuleId, name: &str) -> Option<&'a Ident> {
        let imports = &self.modules.get(module.index())?.imports;
        imports.iter().find(|it| it.symbols.iter().any(|symbol| symbol.text == name)).map(|it| &it.module)
    }

    /// Says once for each module that it is not among those given.
    pub(super) fn report_missing_module(&mut self, name: &Ident) {
        if self.table.missing_modules.insert(name.text.clone(), name.span).is_some() {
            return;
        }
        let mut finding = self
            .slip("E0210", name.span, format!("module `{}` is not among those given", name.text))
            .label("its imports are taken as open types, or ignored");
        let known = self.modules.iter().map(|m| m.name.text.as_str());
        if let Some(near) = nearest(&name.text, known) {
            finding = finding.help(format!("if `{near}` is meant, give the alias `{}={near}`", name.text));
        }
        self.report(finding);
    }

    /// A module by its name or alias.
    pub(super) fn module_named(&self, name: &str) -> Option<ModuleId> {
        self.table.by_name.get(name).map(|&index| ModuleId(index as u32))
    }

    /// Whether this is the module that its name leads to (others of the same name are shadowed).
    pub(super) fn is_current(&self, index: usize) -> bool {
        self.modules.get(index).is_some_and(|m| self.table.by_name.get(&m.name.text) == Some(&index))
    }

    /// What a name leads to in a module.
    pub(super) fn symbol(&self, module: ModuleId, name: &str) -> Symbol {
        match self.table.symbols.get(module.index()).and_then(|s| s.get(name)) {
            Some(&symbol) => symbol,
            None => built_in_class(name).map_or(Symbol::Unknown, Symbol::BuiltInClass),
        }
    }

    /// Remembers what an unknown name was taken for.
    pub(super) fn assume(&mut self, module: ModuleId, name: &'a str, symbol: Symbol) {
        if let Some(symbols) = self.table.symbols.get_mut(module.index()) {
            symbols.insert(name, symbol);
        }
    }

    /// A definition of a name in any module, and whether it is the only one.
    pub(super) fn definition_elsewhere(&mut self, name: &str) -> Option<(DefId, bool)> {
        let modules = self.modules;
        let index = self.table.elsewhere.get_or_insert_with(|| {
            let mut index: FxHashMap<&'a str, (DefId, bool)> = FxHashMap::default();
            for (m, module) in modules.iter().enumerate() {
                for (a, assignment) in module.assignments.iter().enumerate() {
                    index
                        .entry(assignment.name.text.as_str())
                        .and_modify(|(_, alone)| *alone = false)
                        .or_insert_with(|| (DefId::new(m, a), true));
                }
            }
            index
        });
        index.get(name).copied()
    }

    /// The name known in a module that is nearest to a wrong one.
    pub(super) fn nearest_name(&mut self, module: ModuleId, name: &str) -> Option<&'a str> {
        // Looking at every name for every unknown name is quadratic: a text with that many mistakes needs other help.
        self.table.searches += 1;
        if self.table.searches > 100 {
            return None;
        }
        let known = self.table.symbols.get(module.index())?;
        nearest(name, known.keys().copied().chain(KEYWORDS.iter().copied()).chain(TYPES.iter().copied()))
    }

    /// The numbers of an object identifier in braces, where each component has one or is a well-known arc (X.660).
    pub(super) fn plain_oid(&self, module: usize, braced: ast::Braced) -> Option<Vec<u128>> {
        let tokens = self.modules[module].tokens.get(braced.first as usize..braced.end as usize)?;
        let mut numbers = Vec::new();
        let mut name: Option<&str> = None;
        let mut inside = false;
        for token in tokens {
            match token.kind {
                TokenKind::OpenParen => inside = true,
                TokenKind::CloseParen => inside = false,
                TokenKind::Number => {
                    if let Some(name) = name.take().filter(|_| !inside) {
                        numbers.push(well_known_arc(name, &numbers)?);
                    }
                    numbers.push(self.map.text(token.span).parse().ok()?);
                }
                TokenKind::Lower if !inside => {
                    if let Some(name) = name.take() {
                        numbers.push(well_known_arc(name, &numbers)?);
                    }
                    name = Some(self.map.text(token.span));
                }
                TokenKind::OpenBrace | TokenKind::CloseBrace => {}
                _ => return None,
            }
        }
        if let Some(name) = name {
            numbers.push(well_known_arc(name, &numbers)?);
        }
        Some(numbers)
    }
}

/// The arcs whose number may be left out (X.660 Annex A, X.680 §32.3).
pub(crate) fn well_known_arc(name: &str, before: &[u128]) -> Option<u128> {
    Some(match (before, name) {
        ([], "itu-t" | "ccitt") => 0,
        ([], "iso") => 1,
        ([], "joint-iso-itu-t" | "joint-iso-ccitt") => 2,
        ([0], "recommendation") => 0,
        ([0], "question") => 1,
        ([0], "administration") => 2,
        ([0], "network-operator") => 3,
        ([0], "identified-organization") => 4,
        ([0, 0], letter) if letter.len() == 1 && letter.as_bytes()[0].is_ascii_lowercase() => {
            u128::from(letter.as_bytes()[0] - b'a') + 1
        }
        ([1], "standard") => 0,
        ([1], "registration-authority") => 1,
        ([1], "member-body") => 2,
        ([1], "identified-organization") => 3,
        _ => return None,
    })
}

fn built_in_class(name: &str) -> Option<BuiltInClass> {
    match name {
        "TYPE-IDENTIFIER" => Some(BuiltInClass::TypeIdentifier),
        "ABSTRACT-SYNTAX" => Some(BuiltInClass::AbstractSyntax),
        _ => None,
    }
}

/// Types that were imported like others in the 1988 notation and are reserved words now (X.680 §12.38).
fn is_useful_type(name: &str) -> bool {
    name.ends_with("String") && TYPES.contains(&name)
        || matches!(name, "UTCTime" | "GeneralizedTime" | "ObjectDescriptor" | "EXTERNAL" | "REAL")
}

/// Other types whose name is one word, for the help on a misspelt one.
const KEYWORDS: &[&str] = &["BOOLEAN", "ENUMERATED", "GeneralizedTime", "INTEGER", "NULL", "REAL", "UTCTime"];

const TYPES: &[&str] = &[
    "BMPString",
    "GeneralString",
    "GraphicString",
    "IA5String",
    "ISO646String",
    "NumericString",
    "PrintableString",
    "TeletexString",
    "T61String",
    "UniversalString",
    "UTF8String",
    "VideotexString",
    "VisibleString",
];
