//! The extension marker (X.680 §25.1, §29.1, §20.1) that a person adds to a type.

use crate::Snapshot;
use tercet_syntax::ast::{Addition, AssignmentKind, Component, ComponentList, Module, Type, TypeKind};
use tercet_syntax::{Edit, Fix, Span, TokenKind};

impl Snapshot {
    /// Returns the fix that adds an extension marker to the innermost SEQUENCE, SET, CHOICE or ENUMERATED around a position.
    /// None if it has one.
    pub fn extension_marker(&self, at: u32) -> Option<Fix> {
        let holds = |span: Span| span.lo <= at && at <= span.hi;
        let module = self.schema().modules().iter().find(|module| holds(module.span))?;
        let assignment = module.assignments.iter().find(|assignment| holds(assignment.span))?;
        let AssignmentKind::Type(outer) = &assignment.kind else { return None };
        // At the name of the assignment its type is meant.
        let ty = if at < outer.span.lo { outer } else { innermost(outer, at)? };
        if is_extensible(&ty.kind) || module.extensibility_implied {
            return None;
        }
        let [open, last, close] = braces(module, ty)?;
        let edits = match last == open {
            true => vec![insert(open.hi, " ... ")],
            false => self.behind_last(last, close),
        };
        let title = "add an extension marker (changes encodings by PER and OER)".to_owned();
        Some(Fix { title, edits, is_certain: false })
    }

    /// The marker behind the last component, on a line of its own where the components have lines.
    fn behind_last(&self, last: Span, close: Span) -> Vec<Edit> {
        let between = self.text(Span::new(last.hi, close.lo));
        let Some(end) = between.rfind('\n') else { return vec![insert(last.hi, ", ...")] };
        let end = end - usize::from(between[..end].ends_with('\r'));
        let file = self.sources().file(self.sources().file_of(last.lo));
        let before = &file.text[..(last.lo - file.start) as usize];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let margin = &line[..line.len() - line.trim_start().len()];
        let break_ = if between[end..].starts_with('\r') { "\r\n" } else { "\n" };
        let marker = format!("{break_}{margin}...");
        // A comment of the last component stays with it.
        match between[..end].trim().is_empty() {
            true => vec![insert(last.hi, &format!(",{marker}"))],
            false => vec![insert(last.hi, ","), insert(last.hi + end as u32, &marker)],
        }
    }
}

fn insert(at: u32, text: &str) -> Edit {
    Edit { span: Span::new(at, at), text: text.to_owned() }
}

fn is_extensible(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => list.extension.is_some(),
        TypeKind::Enumerated(items) => items.additional.is_some(),
        _ => true,
    }
}

/// The opening brace of a type, the item in front of the closing one, and that.
fn braces(module: &Module, ty: &Type) -> Option<[Span; 3]> {
    let from = module.tokens.partition_point(|token| token.span.lo < ty.span.lo);
    // Tags and encoding prefixes stand in front of the keyword.
    let begin =
        ty.tags.iter().map(|tag| tag.span.hi).chain(ty.encoding.iter().map(|it| it.text.span.hi)).max();
    let tokens =
        module.tokens[from..].iter().skip_while(|token| begin.is_some_and(|end| token.span.lo < end));
    let mut tokens = tokens.skip_while(|token| token.kind != TokenKind::OpenBrace);
    let open = tokens.next()?.span;
    let (mut depth, mut last) = (0, open);
    for token in tokens {
        match token.kind {
            TokenKind::CloseBrace if depth == 0 => return Some([open, last, token.span]),
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => depth -= 1,
            _ => {}
        }
        last = token.span;
    }
    None
}

/// The innermost type around a position that could have a marker.
fn innermost(ty: &Type, at: u32) -> Option<&Type> {
    if at < ty.span.lo || ty.span.hi < at {
        return None;
    }
    match &ty.kind {
        TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) => {
            inner_types(list).find_map(|ty| innermost(ty, at)).or(Some(ty))
        }
        TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => innermost(element, at),
        TypeKind::Enumerated(_) => Some(ty),
        _ => None,
    }
}

fn inner_types(list: &ComponentList) -> impl Iterator<Item = &Type> {
    let additions = list.extension.iter().flat_map(|extension| &extension.additions);
    let additions = additions.flat_map(|addition| match addition {
        Addition::Single(component) => std::slice::from_ref(component),
        Addition::Group { components, .. } => components,
    });
    let components = list.root.iter().chain(additions).chain(&list.second_root);
    components.filter_map(|component| match component {
        Component::Named { ty, .. } => Some(ty),
        Component::ComponentsOf(_) => None,
    })
}
