//! Edits that a person asks for: the layout of a part, sorted imports, a type that gets a name.

use crate::{Definition, Kind, Snapshot};
use std::collections::HashSet;
use tercet_syntax::ast::{Addition, AssignmentKind, Component, Module, Type, TypeKind};
use tercet_syntax::{Edit, FileId, Fix, Keyword, ParseOptions, SourceMap, Span, TokenKind, format, parse};

impl Snapshot {
    /// Returns the edits that lay out the assignments in a part of a text, as `tercet fmt` lays out all of it; none for a text
    /// that has errors.
    pub fn layout(&self, file: FileId, part: Span) -> Vec<Edit> {
        let Ok(text) = format(self.sources(), file) else { return Vec::new() };
        let mut map = SourceMap::new();
        let id = map.add("", text);
        let (new, _) = parse(&map, id, &ParseOptions::default());
        let here = |module: &&Module| self.sources().file_of(module.span.lo) == file;
        let old = self.schema().modules().iter().filter(here).flat_map(|module| &module.assignments);
        // Only white space differs: the assignments are the same ones.
        let pairs = old.zip(new.iter().flat_map(|module| &module.assignments));
        let touches = |span: Span| span.lo < part.hi && part.lo < span.hi;
        let edits = pairs.filter(|(old, _)| touches(old.span)).filter_map(|(old, new)| {
            let text = map.text(new.span);
            (text != self.text(old.span)).then(|| Edit { span: old.span, text: text.to_owned() })
        });
        edits.collect()
    }

    /// Returns a fix for each module of a text that sorts its imports by module and name, and removes those that nothing uses.
    /// None where they are sorted, where comments are among them, and where a module is imported from twice.
    pub fn sorted_imports(&self, file: FileId) -> Vec<Fix> {
        let here = |module: &&Module| self.sources().file_of(module.span.lo) == file;
        let unused: HashSet<Span> = self.unused_imports(file).into_iter().map(|it| it.symbol).collect();
        let modules = self.schema().modules().iter().filter(here);
        modules.filter_map(|module| self.sorted_imports_of(module, &unused)).collect()
    }

    fn sorted_imports_of(&self, module: &Module, unused: &HashSet<Span>) -> Option<Fix> {
        let (first, last) = (module.imports.first()?, module.imports.last()?);
        let whole = first.span.to(last.span);
        let file = self.sources().file_of(whole.lo);
        let lexed = self.lexed(file);
        if lexed.comments.iter().any(|it| whole.lo <= it.span.lo && it.span.hi <= whole.hi) {
            return None;
        }
        let mut groups = Vec::new();
        for import in &module.imports {
            let mut names: Vec<String> = Vec::new();
            for symbol in import.symbols.iter().filter(|it| !unused.contains(&it.span)) {
                let name = self.text(symbol.span);
                // A parameterized reference may be written with braces.
                let rest = self.text(Span::new(symbol.span.hi, import.span.hi)).trim_start();
                let braces = if rest.strip_prefix('{').is_some_and(|it| it.trim_start().starts_with('}')) {
                    "{}"
                } else {
                    ""
                };
                names.push(format!("{name}{braces}"));
            }
            names.sort_by_key(|name| (name.to_lowercase(), name.clone()));
            names.dedup();
            let from = self.text(Span::new(import.module.span.lo, import.span.hi));
            if !names.is_empty() {
                groups.push((from.split_whitespace().collect::<Vec<_>>().join(" "), names));
            }
        }
        groups.sort();
        let is_twice = groups.windows(2).any(|pair| pair[0].0 == pair[1].0);
        if is_twice || groups.is_empty() {
            return None;
        }
        let margin = "    ";
        let lines =
            groups.iter().map(|(from, names)| format!("{}\n{margin}{margin}FROM {from}", names.join(", ")));
        let text = lines.collect::<Vec<_>>().join(&format!("\n{margin}"));
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if plain(&text) == plain(self.text(whole)) {
            return None;
        }
        let edits = vec![Edit { span: whole, text }];
        Some(Fix { title: "sort imports and remove unused ones".to_owned(), edits, is_certain: true })
    }

    /// Returns the fix that gives the type of a component a name: the type at a position that is written inside of another one.
    /// None in parameterized assignments, and for types with `@` relations, which may lead out of them.
    pub fn extracted_type(&self, at: u32) -> Option<Fix> {
        let holds = |span: Span| span.lo <= at && at < span.hi;
        let module = self.schema().modules().iter().find(|module| holds(module.span))?;
        let assignment = module.assignments.iter().find(|assignment| holds(assignment.span))?;
        let AssignmentKind::Type(outer) = &assignment.kind else { return None };
        if !assignment.parameters.is_empty() {
            return None;
        }
        let (component, ty) = innermost(outer, at)?;
        // Tags stay with the component.
        let begin = ty.tags.last().map_or(ty.span.lo, |tag| self.behind(tag.span.hi, ty.span));
        let span = Span::new(begin, ty.span.hi);
        let text = self.text(span);
        if text.contains('@') || !ty.encoding.is_empty() {
            return None;
        }
        let name = self.free_name(module, component)?;
        let column =
            self.text(Span::new(assignment.span.lo, span.lo)).rsplit('\n').next().unwrap_or_default();
        let margin = column.len() - column.trim_start().len();
        let moved = dedented(text, margin);
        let edits = vec![
            Edit { span, text: name.clone() },
            Edit {
                span: Span::new(assignment.span.hi, assignment.span.hi),
                text: format!("\n\n{name} ::= {moved}"),
            },
        ];
        Some(Fix { title: format!("extract the type as `{name}`"), edits, is_certain: false })
    }

    /// The first place behind another one that is no white space, nor IMPLICIT or EXPLICIT.
    fn behind(&self, from: u32, within: Span) -> u32 {
        let mut at = from;
        loop {
            let rest = self.text(Span::new(at, within.hi));
            let blank = (rest.len() - rest.trim_start().len()) as u32;
            at += blank;
            let rest = rest.trim_start();
            match ["IMPLICIT", "EXPLICIT"].iter().find(|word| rest.starts_with(**word)) {
                Some(word) => at += word.len() as u32,
                None => return at,
            }
        }
    }

    /// A name for the type of a component that its module does not have yet.
    fn free_name(&self, module: &Module, component: &str) -> Option<String> {
        let mut letters = component.chars();
        let base: String = letters.next()?.to_uppercase().chain(letters).collect();
        let is_taken = |name: &str| {
            module.assignments.iter().any(|it| it.name.text == name)
                || module.imports.iter().flat_map(|import| &import.symbols).any(|symbol| symbol.text == name)
                || Keyword::ALL.iter().any(|word| word.text() == name)
        };
        let names = std::iter::once(base.clone()).chain((2..100).map(|number| format!("{base}{number}")));
        names.into_iter().find(|name| !is_taken(name))
    }

    /// Returns the places of notation that later editions of the standard have replaced (X.680 of 1988, X.208), and what to use
    /// instead: ANY and MACRO.
    pub fn deprecated(&self, file: FileId) -> Vec<(Span, &'static str)> {
        let here = |it: &&Definition| it.kind == Kind::Macro && self.sources().file_of(it.name.lo) == file;
        let macros = self.definitions().iter().filter(here).map(|it| it.name);
        let lexed = self.lexed(file);
        let is_any = |kind| kind == TokenKind::Word(Keyword::Any);
        let anys = lexed.tokens.iter().filter(|token| is_any(token.kind)).map(|token| token.span);
        let mut all: Vec<(Span, &'static str)> = macros
            .map(|span| (span, "MACRO is notation of 1988; use an information object class (X.681)"))
            .chain(
                anys.map(|span| (span, "ANY is notation of 1988; use an open type of a class field (X.681)")),
            )
            .collect();
        all.sort_unstable();
        all
    }
}

/// The innermost component around a position whose type could have a name of its own, with its name.
fn innermost(ty: &Type, at: u32) -> Option<(&str, &Type)> {
    let holds = |span: Span| span.lo <= at && at < span.hi;
    match &ty.kind {
        TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => {
            let additions = list.extension.iter().flat_map(|extension| &extension.additions);
            let additions = additions.flat_map(|addition| match addition {
                Addition::Single(component) => std::slice::from_ref(component),
                Addition::Group { components, .. } => components,
            });
            for component in list.root.iter().chain(additions).chain(&list.second_root) {
                if let Component::Named { name, ty, .. } = component
                    && holds(name.span.to(ty.span))
                {
                    let is_inline = matches!(
                        ty.kind,
                        TypeKind::Sequence(_)
                            | TypeKind::Set(_)
                            | TypeKind::Choice(_)
                            | TypeKind::Enumerated(_)
                            | TypeKind::SequenceOf(..)
                            | TypeKind::SetOf(..)
                    );
                    return innermost(ty, at)
                        .or_else(|| (is_inline && !name.text.is_empty()).then_some((&*name.text, ty)));
                }
            }
            None
        }
        TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => innermost(element, at),
        _ => None,
    }
}

/// A text whose lines behind the first begin further to the left.
fn dedented(text: &str, margin: usize) -> String {
    let cut = |line: &'_ str| {
        let blank = line.len() - line.trim_start().len();
        line[blank.min(margin)..].to_owned()
    };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    std::iter::once(first).chain(lines.map(cut)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::Snapshot;
    use tercet_syntax::{Edit, Span};

    fn applied(text: &str, edits: &[Edit]) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.lo));
        let mut text = text.to_owned();
        for edit in edits {
            text.replace_range(edit.span.lo as usize..edit.span.hi as usize, &edit.text);
        }
        text
    }

    fn snapshot(text: &str) -> (Snapshot, tercet_syntax::FileId) {
        let snapshot = Snapshot::new([("a.asn", text)]);
        let file = snapshot.file("a.asn").unwrap();
        (snapshot, file)
    }

    #[test]
    fn a_part_is_laid_out_alone() {
        let text = "A DEFINITIONS ::= BEGIN\nB::=   INTEGER\nC::=   BOOLEAN\nEND\n";
        let (snapshot, file) = snapshot(text);
        let at = text.find("C::").unwrap() as u32;
        let edits = snapshot.layout(file, Span::new(at, at + 2));
        assert_eq!(applied(text, &edits), text.replace("C::=   BOOLEAN", "C ::= BOOLEAN"));
        assert_eq!(snapshot.layout(file, Span::new(0, text.len() as u32)).len(), 2);
    }

    #[test]
    fn imports_are_sorted_and_pruned() {
        let text = "A DEFINITIONS ::= BEGIN IMPORTS Z, b, Unused FROM Y C{} FROM B {1 2}; T ::= SEQUENCE { z Z, c C {5} DEFAULT b } END
            Y DEFINITIONS ::= BEGIN Z ::= NULL b INTEGER ::= 5 Unused ::= NULL END
            B {1 2} DEFINITIONS ::= BEGIN C {INTEGER: n} ::= INTEGER (0..n) END";
        let (snapshot, file) = snapshot(text);
        let fixes = snapshot.sorted_imports(file);
        assert_eq!(fixes.len(), 1);
        let new = applied(text, &fixes[0].edits);
        let plain = new.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains("IMPORTS C{} FROM B {1 2} b, Z FROM Y;"), "{new}");
        let after = Snapshot::new([("a.asn", new.as_str())]);
        assert!(after.sorted_imports(after.file("a.asn").unwrap()).is_empty(), "{new}");
        let commented = text.replace("Z, b", "Z, -- the last -- b");
        let after = Snapshot::new([("a.asn", commented.as_str())]);
        assert!(after.sorted_imports(after.file("a.asn").unwrap()).is_empty());
    }

    #[test]
    fn an_inner_type_gets_a_name() {
        let text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nT ::= SEQUENCE {\n    place SEQUENCE {\n        lat INTEGER\n    } OPTIONAL,\n    kind [5] IMPLICIT ENUMERATED { a, b }\n}\nKind ::= NULL\nEND\n";
        let (snapshot, _) = snapshot(text);
        let model = |text: &str| {
            let schema = tercet_schema::Schema::from_text("a.asn", text);
            assert!(!schema.has_errors(), "{text}");
            let plan = schema.plan(tercet_schema::Rules::Ber, &["T"]).unwrap();
            match plan.code {
                tercet_schema::plan::Code::Ber(program) => program.slots,
                _ => unreachable!(),
            }
        };
        let fix = snapshot.extracted_type(text.find("SEQUENCE {\n        lat").unwrap() as u32).unwrap();
        let new = applied(text, &fix.edits);
        assert!(
            new.contains("    place Place OPTIONAL,")
                && new.contains("\n\nPlace ::= SEQUENCE {\n    lat INTEGER\n}\n"),
            "{new}"
        );
        assert_eq!(model(text), model(&new), "tags stay the same");
        let fix = snapshot.extracted_type(text.find("ENUMERATED").unwrap() as u32).unwrap();
        let new = applied(text, &fix.edits);
        assert!(
            new.contains("kind [5] IMPLICIT Kind2\n") && new.contains("Kind2 ::= ENUMERATED { a, b }"),
            "{new}"
        );
        assert!(
            snapshot
                .extracted_type(text.find("INTEGER").unwrap() as u32)
                .is_some_and(|it| it.title.contains("Place"))
        );
        assert!(snapshot.extracted_type(text.find("NULL").unwrap() as u32).is_none());
    }

    #[test]
    fn notation_of_1988_is_marked() {
        let text = "A DEFINITIONS ::= BEGIN T ::= SEQUENCE { a INTEGER, b ANY DEFINED BY a } END";
        let (snapshot, file) = snapshot(text);
        let found = snapshot.deprecated(file);
        assert_eq!(found.len(), 1);
        assert_eq!(snapshot.text(found[0].0), "ANY");
    }
}
