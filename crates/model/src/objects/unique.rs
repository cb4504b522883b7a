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
    let mut keys = Keys::default();
    for set in &model.object_sets {
        let Some(first) = set.objects.first() else { continue };
        let class = &model.classes[model.objects[first.index()].class.index()];
        for field in class.fields.iter().filter(|field| field.unique) {
            keys.begin();
            for &id in &set.objects {
                let object = &model.objects[id.index()];
                let Some(other) = keys.meet(model, id, &field.name) else { continue };
                // The same pair may meet again in every set that takes this one in.
                if !reported.insert((other, id)) || model.objects[other.index()].span == object.span {
                    continue;
                }
                let Some(Setting::Value(_, value)) = object.settings.get(&field.name) else { continue };
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

/// Numbers for values, so that each is spelled once, however many sets it is in.
#[derive(Default)]
struct Keys {
    numbers: FxHashMap<SmolStr, u32>,
    known: FxHashMap<(ObjectId, SmolStr), Option<u32>>,
    /// For each number the object that was met with it last, and in which round.
    met: Vec<(u32, ObjectId)>,
    round: u32,
}

impl Keys {
    fn begin(&mut self) {
        self.round += 1;
    }

    /// The object of this round that has the same value in a field as one that is met now.
    fn meet(&mut self, model: &Model, id: ObjectId, field: &SmolStr) -> Option<ObjectId> {
        let number = match self.known.get(&(id, field.clone())) {
            Some(number) => *number,
            None => {
                let number = match model.objects[id.index()].settings.get(field) {
                    Some(Setting::Value(_, value)) => key(model, value).map(|key| self.number(key)),
                    _ => None,
                };
                self.known.insert((id, field.clone()), number);
                number
            }
        };
        let met = self.met.get_mut(number? as usize)?;
        let before = std::mem::replace(met, (self.round, id));
        (before.0 == self.round).then_some(before.1)
    }

    fn number(&mut self, key: SmolStr) -> u32 {
        let next = self.met.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.met.push((0, ObjectId(0)));
        }
        number
    }
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
