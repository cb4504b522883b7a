//! What a text leaves out: automatic tags, numbers of enumeration items.

use crate::{Kind, Snapshot};
use std::collections::HashMap;
use tercet_model::ir::{TagClass, TypeKind};
use tercet_syntax::ast::TagDefault;
use tercet_syntax::{FileId, Span};

/// A few characters to show in a text that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Behind what they are shown.
    pub at: u32,
    /// The characters.
    pub text: String,
}

impl Snapshot {
    /// Returns the hints for a part of a text: the tags that AUTOMATIC TAGS gives (X.680 §25.7), and the numbers of items that
    /// are written without (§20.5).
    pub fn hints(&self, file: FileId, span: Span) -> Vec<Hint> {
        let model = self.schema().model();
        let mut tags = HashMap::new();
        for ty in &model.types {
            let (TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list)) = &ty.kind else {
                continue;
            };
            for component in &list.list {
                if let Some(tag) =
                    model.ty(component.ty).tags.first().filter(|tag| tag.class == TagClass::Context)
                {
                    tags.insert(component.span.lo, tag.number);
                }
            }
        }
        let mut numbers = HashMap::new();
        for ty in &model.types {
            let TypeKind::Enumerated(items) = &ty.kind else { continue };
            for (name, number) in items.root.iter().chain(&items.additions) {
                numbers.insert((ty.span, name.as_str()), *number);
            }
        }
        let here = self.definitions().iter().filter(|it| {
            span.lo <= it.name.lo && it.name.hi <= span.hi && self.sources().file_of(it.name.lo) == file
        });
        let text = &self.sources().file(file).text;
        let start = self.sources().file(file).start;
        let behind = |at: u32| text.get((at - start) as usize..).unwrap_or_default().trim_start();
        let hint = |at: u32, text: String| Hint { at, text };
        let modules = self.schema().modules();
        here.filter_map(|it| match it.kind {
            Kind::Component | Kind::Alternative => {
                let is_automatic = modules.get(it.module)?.tags == TagDefault::Automatic;
                let tag =
                    tags.get(&it.name.lo).filter(|_| is_automatic && !behind(it.name.hi).starts_with('['))?;
                Some(hint(it.name.hi, format!(" [{tag}]")))
            }
            Kind::Item if !behind(it.name.hi).starts_with('(') => {
                let name = self.text(it.name);
                let holds = |span: &Span| span.lo <= it.name.lo && it.name.hi <= span.hi;
                let mut found = numbers.iter().filter(|((span, known), _)| *known == name && holds(span));
                found.next().map(|(_, number)| hint(it.name.hi, format!(" ({number})")))
            }
            _ => None,
        })
        .collect()
    }
}
