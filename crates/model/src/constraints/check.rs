//! Constraints that leave nothing, and values that their own type does not have.

use super::effective::{Effective, Visibility};
use super::evaluate::{Conflict, conflict};
use crate::ir::{Model, Presence, TypeId, TypeKind, Value};
use crate::options::Options;
use rustc_hash::FxHashMap;
use tercet_syntax::{Diagnostic, Span};

/// Looks at the constraints of all types, and at DEFAULT values and value assignments.
pub(crate) fn check(model: &Model, options: &Options) -> Vec<Diagnostic> {
    let mut checker = Checker { model, options, out: Vec::new(), known: FxHashMap::default() };
    for (index, ty) in model.types.iter().enumerate() {
        if !ty.constraints.is_empty() {
            checker.conflicts(TypeId(index as u32));
        }
        if let TypeKind::Sequence(components) | TypeKind::Set(components) = &ty.kind {
            for component in &components.list {
                if let Presence::Default(value) = &component.presence {
                    checker.value(component.ty, value, component.span, || "the DEFAULT".to_owned());
                }
            }
        }
    }
    for module in &model.modules {
        for (name, ty, value) in &module.values {
            let span = model.types[ty.index()].span;
            checker.value(*ty, value, span, || format!("`{name}`"));
        }
    }
    checker.out
}

struct Checker<'m> {
    model: &'m Model,
    options: &'m Options,
    out: Vec<Diagnostic>,
    known: FxHashMap<TypeId, Effective>,
}

impl Checker<'_> {
    fn slip(&self, code: &'static str, span: Span, message: String) -> Diagnostic {
        if self.options.lenient {
            Diagnostic::warning(code, span, message)
        } else {
            Diagnostic::error(code, span, message)
        }
    }

    /// Serial constraints that have nothing in common (X.680 §50.4: a subtype has at least one value).
    fn conflicts(&mut self, ty: TypeId) {
        if let Some(Conflict { span, what }) = conflict(self.model, ty) {
            let finding = self
                .slip("E0405", span, format!("no {what} satisfies this constraint and those before it"))
                .label("the earlier constraints are ignored")
                .note("X.680 §50.4");
            self.out.push(finding);
        }
    }

    fn value(&mut self, ty: TypeId, value: &Value, span: Span, subject: impl Fn() -> String) {
        if matches!(
            value,
            Value::Error | Value::Struct(_) | Value::Choice(..) | Value::Boolean(_) | Value::Null
        ) {
            return;
        }
        let model = self.model;
        let known = self.known.entry(ty).or_insert_with(|| model.effective(ty, Visibility::All));
        let extensible = known.integer.as_ref().is_some_and(|range| range.extensible)
            || known.size.is_some_and(|size| size.extensible);
        if extensible {
            return;
        }
        let wrong = match value {
            Value::Integer(number) => known.integers.as_ref().is_some_and(|set| !set.contains(number)),
            Value::OctetString(octets) => known.lacks_size(octets.len() as u64),
            Value::List(items) => known.lacks_size(items.len() as u64),
            Value::Text(text) => {
                known.lacks_size(text.chars().count() as u64)
                    || known
                        .alphabet
                        .as_ref()
                        .is_some_and(|alphabet| text.chars().any(|c| !alphabet.contains(&u32::from(c))))
            }
            // Trailing zero bits do not count where bits are named (X.680 §22.7).
            Value::BitString(_, bits) => {
                let base = model.underlying(ty);
                let named = matches!(&model.types[base.index()].kind, TypeKind::BitString(names) if !names.is_empty());
                !named && known.lacks_size(*bits)
            }
            _ => false,
        };
        if wrong {
            let constraint = known.to_string();
            let value = model.notation(value).to_string();
            let finding = self
                .slip("E0406", span, format!("{} is not a value of its type", subject()))
                .label(format!("{} is not within {constraint}", shorten(&value)));
            self.out.push(finding);
        }
    }
}

impl Effective {
    fn lacks_size(&self, size: u64) -> bool {
        self.sizes.as_ref().is_some_and(|sizes| !sizes.contains(&size))
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
