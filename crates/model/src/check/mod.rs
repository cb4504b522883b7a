//! Mistakes that only the whole shows.

mod identifiers;
mod infinite;
mod instructions;
mod tags;

pub(crate) use tags::name as tag_name;

use crate::ir::{Model, TypeId, TypeKind};
use crate::names::Names;
use crate::options::Options;
use tercet_syntax::{Diagnostic, Span};

/// Looks at every type of a model.
pub(crate) fn check(model: &Model, options: &Options) -> Vec<Diagnostic> {
    let mut checker = Checker { model, options, out: Vec::new(), names: Names::default() };
    for (index, ty) in model.types.iter().enumerate() {
        match &ty.kind {
            TypeKind::Sequence(components) | TypeKind::Set(components) | TypeKind::Choice(components) => {
                checker.identifiers(components);
                checker.distinct_tags(TypeId(index as u32), components);
            }
            _ => {}
        }
    }
    checker.infinite_types();
    checker.instructions();
    checker.out.extend(crate::constraints::check(model, options));
    checker.out.extend(crate::objects::check(model, options));
    checker.out
}

/// What the checks share.
struct Checker<'m> {
    model: &'m Model,
    options: &'m Options,
    out: Vec<Diagnostic>,
    names: Names<'m>,
}

impl Checker<'_> {
    /// An error, or in lenient mode a warning.
    fn slip(&self, code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        if self.options.lenient {
            Diagnostic::warning(code, span, message)
        } else {
            Diagnostic::error(code, span, message)
        }
    }
}
