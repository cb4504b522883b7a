//! The outline of a text, parts to fold, and what is around a place.

use crate::{Definition, Kind, Snapshot};
use tercet_syntax::{FileId, Span};

/// An entry of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The definition.
    pub definition: Definition,
    /// Those inside of it.
    pub children: Vec<Self>,
}

impl Snapshot {
    /// Returns the outline of a text: modules with their assignments, these with their components, items and fields.
    pub fn symbols(&self, file: FileId) -> Vec<Symbol> {
        let here = |it: &&Definition| self.sources().file_of(it.name.lo) == file;
        let mut open: Vec<Symbol> = Vec::new();
        let mut roots = Vec::new();
        let close = |open: &mut Vec<Symbol>, roots: &mut Vec<Symbol>, depth: usize| {
            while open.last().is_some_and(|last| last.definition.depth >= depth) {
                let Some(done) = open.pop() else { break };
                open.last_mut().map_or(&mut *roots, |parent| &mut parent.children).push(done);
            }
        };
        let shown = |it: &&Definition| it.kind != Kind::Parameter;
        for definition in self.definitions().iter().filter(here).filter(shown) {
            close(&mut open, &mut roots, definition.depth);
            open.push(Symbol { definition: *definition, children: Vec::new() });
        }
        close(&mut open, &mut roots, 0);
        roots
    }

    /// Returns the parts of a text that an editor may fold: modules, assignments, imports, comments of several lines.
    pub fn folds(&self, file: FileId) -> Vec<Span> {
        let here = |span: &Span| self.sources().file_of(span.lo) == file;
        let is_long = |span: &Span| self.text(*span).contains('\n');
        let whole = self.definitions().iter().filter(|it| it.depth < 2).map(|it| it.whole);
        let imports = self.schema().modules().iter().filter_map(|module| {
            let (first, last) = (module.imports.first()?, module.imports.last()?);
            Some(first.span.to(last.span))
        });
        let lexed = self.lexed(file);
        let mut comments: Vec<Span> = Vec::new();
        for comment in &lexed.comments {
            match comments.last_mut() {
                Some(last)
                    if self.text(Span::new(last.hi, comment.span.lo)).trim_matches([' ', '\t']) == "\n" =>
                {
                    last.hi = comment.span.hi;
                }
                _ => comments.push(comment.span),
            }
        }
        let mut folds: Vec<Span> =
            whole.chain(imports).filter(here).chain(comments).filter(is_long).collect();
        folds.sort_unstable();
        folds.dedup();
        folds
    }

    /// Returns what is around a position, from the inside out: a word, a component, an assignment, a module, the text.
    pub fn around(&self, file: FileId, at: u32) -> Vec<Span> {
        let source = self.sources().file(file);
        let mut around = vec![Span::new(source.start, source.start + source.text.len() as u32)];
        let holds = |span: &Span| span.lo <= at && at <= span.hi;
        let mut whole: Vec<Span> = self.definitions().iter().map(|it| it.whole).filter(holds).collect();
        whole.sort_unstable_by_key(|span| std::cmp::Reverse(span.hi - span.lo));
        let lexed = self.lexed(file);
        whole.extend(lexed.tokens.iter().map(|token| token.span).find(holds));
        for span in whole {
            let is_inside =
                around.last().is_some_and(|last| last.lo <= span.lo && span.hi <= last.hi && *last != span);
            if is_inside {
                around.push(span);
            }
        }
        around.reverse();
        around
    }
}
