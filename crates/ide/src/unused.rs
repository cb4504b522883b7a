//! Imports and types that nothing uses.

use crate::Snapshot;
use tercet_syntax::ast::{AssignmentKind, Module, TypeKind};
use tercet_syntax::{Edit, FileId, Fix, Span};

/// A symbol that a module imports and does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedImport {
    /// The symbol in IMPORTS.
    pub symbol: Span,
    /// The edit that takes it away.
    pub fix: Fix,
}

impl Snapshot {
    /// Returns the imported symbols of a text that their module neither uses nor exports. A symbol that leads to nothing is
    /// none: that is told by a diagnostic.
    pub fn unused_imports(&self, file: FileId) -> Vec<UnusedImport> {
        let here = |module: &&Module| self.sources().file_of(module.span.lo) == file;
        self.schema().modules().iter().filter(here).flat_map(|module| self.unused_in(module)).collect()
    }

    fn unused_in(&self, module: &Module) -> Vec<UnusedImport> {
        let inside = |span: Span| module.span.lo <= span.lo && span.hi <= module.span.hi;
        let mut unused = Vec::new();
        for import in &module.imports {
            for (index, symbol) in import.symbols.iter().enumerate() {
                let Some(name) = self.name_at(symbol.span.lo).filter(|name| name.span == symbol.span) else {
                    continue;
                };
                let is_used =
                    self.uses(name.definition).iter().any(|it| it.at != symbol.span && inside(it.at));
                if is_used || name.definition == symbol.span {
                    continue;
                }
                // The comma in front goes with it; of the first one, that behind; of the only one, all of the import.
                let gone = match (index.checked_sub(1), import.symbols.get(index + 1)) {
                    (Some(before), _) => Span::new(import.symbols[before].span.hi, symbol.span.hi),
                    (None, Some(after)) => Span::new(symbol.span.lo, after.span.lo),
                    (None, None) => import.span,
                };
                let edits = vec![Edit { span: gone, text: String::new() }];
                let title = format!("remove the import of `{}`", symbol.text);
                unused
                    .push(UnusedImport { symbol: symbol.span, fix: Fix { title, edits, is_certain: true } });
            }
        }
        unused
    }

    /// Returns the names of the types of a text that nothing uses: no definition here, no module that imports them by
    /// `is_imported`. Constructed types are messages, which nobody needs to use, unless EXPORTS of their module leaves them
    /// out.
    pub fn unused_types(&self, file: FileId, is_imported: impl Fn(&str) -> bool) -> Vec<Span> {
        let here = |module: &&Module| self.sources().file_of(module.span.lo) == file;
        let mut unused = Vec::new();
        for module in self.schema().modules().iter().filter(here) {
            let is_exported = |name: &str| {
                module.exports.as_ref().map(|names| names.iter().any(|it| it.text.as_str() == name))
            };
            for it in &module.assignments {
                let AssignmentKind::Type(ty) = &it.kind else { continue };
                let may_be_message = match is_exported(&it.name.text) {
                    Some(is_exported) => is_exported,
                    None => is_constructed(&ty.kind),
                };
                if may_be_message || it.name.text.is_empty() {
                    continue;
                }
                // A type that refers to itself is not used by that.
                let is_inside = |at: Span| it.span.lo <= at.lo && at.hi <= it.span.hi;
                let is_unused = self.uses(it.name.span).iter().all(|used| is_inside(used.at));
                if is_unused && !is_imported(&it.name.text) {
                    unused.push(it.name.span);
                }
            }
        }
        unused
    }
}

const fn is_constructed(kind: &TypeKind) -> bool {
    use TypeKind::{Choice, Sequence, SequenceOf, Set, SetOf};
    matches!(kind, Sequence(_) | Set(_) | Choice(_) | SequenceOf(..) | SetOf(..))
}
