//! Fields marked UNIQUE: no two objects of a set agree in one (X.681 §9.20, §12.9).

use crate::ir::{Model, ObjectId, Setting, Value};
use crate::options::Options;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use tercet_syntax::Diagnostic;

/// Looks through all object sets.
pub(crate) fn check(model: &Model, options: &Options) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut reported = FxHashSet::default();
    for set in &model.object_sets {
        let Some(first) = set.objects.first() else { continue };
        let class = &model.classes[model.objects[first.index()].class.index()];
        for field in class.fields.iter().filter(|field| field.unique) {
            let mut known: FxHashMap<SmolStr, ObjectId> = FxHashMap::default();
            for &id in &set.objects {
                let object = &model.objects[id.index()];
                let Some(Setting::Value(_, value)) = object.settings.get(&field.name) else { continue };
                let Some(key) = key(model, value) else { continue };
                let Some(other) = known.insert(key, id) else { continue };
                // The same pair may meet again in every set that takes this one in.
                if !reported.insert((other, id)) || model.objects[other.index()].span == object.span {
                    continue;
                }
                let shown = model.notation(value);
                let message = format!("two objects of a set have `{}` {shown}", field.name);
                let finding = if options.lenient {
                    Diagnostic::warning("E0507", object.span, message)
                } else {
                    Diagnostic::error("E0507", object.span, message)
                };
                let finding = finding.also(model.objects[other.index()].span, "the other one");
                out.push(finding.note("the field is UNIQUE (X.681 §9.20)"));
            }
        }
    }
    out
}

/// A value in a form that can be looked up; only kinds that identify something.
fn key(model: &Model, value: &Value) -> Option<SmolStr> {
    match value {
        Value::Integer(number) => Some(format_smolstr!("{number}")),
        Value::Oid(_) | Value::Choice(..) | Value::Text(_) | Value::Enumerated(..) => {
            Some(format_smolstr!("{}", model.notation(value)))
        }
        _ => None,
    }
}
