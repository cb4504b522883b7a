//! Imports that nothing uses.

use crate::Snapshot;
use tercet_syntax::ast::Module;
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
}
