//! Fields of objects and of object sets by path (X.681 §15), and the rows of a table.

use crate::ir::{ClassFieldKind, Model, ObjectId, ObjectSet, ObjectSetId, Setting, Value};
use crate::resolve::Resolver;
use smol_str::SmolStr;
use tercet_syntax::Span;
use tercet_syntax::ast::Ident;

impl<'a> Resolver<'a> {
    /// What a path of field names leads to; `None` when a field on the way is not set.
    pub(crate) fn field_of_object(&mut self, object: ObjectId, path: &[Ident]) -> Option<Setting> {
        let (first, rest) = path.split_first()?;
        if !self.ensure_object(object, first.span) {
            return None;
        }
        let setting = self.model.objects[object.index()].settings.get(&first.text)?.clone();
        if rest.is_empty() {
            return Some(setting);
        }
        match setting {
            Setting::Object(next) => self.field_of_object(next, rest),
            Setting::ObjectSet(set) => self.field_of_object_set(set, rest, first.span),
            _ => None,
        }
    }

    /// What a path leads to in the objects of a set: the one setting there is, or the objects of all of them
    /// (X.681 §15.2; sets of values are made where the type is built).
    pub(crate) fn field_of_object_set(
        &mut self,
        set: ObjectSetId,
        path: &[Ident],
        at: Span,
    ) -> Option<Setting> {
        if !self.ensure_object_set(set, at) {
            return None;
        }
        let objects = self.model.object_sets[set.index()].objects.clone();
        let mut found = Vec::with_capacity(objects.len());
        for object in objects {
            found.extend(self.field_of_object(object, path));
        }
        if found.len() <= 1 && !matches!(found.first(), Some(Setting::Object(_))) {
            return found.pop();
        }
        if !found.iter().all(|setting| matches!(setting, Setting::Object(_) | Setting::ObjectSet(_))) {
            return None;
        }
        let mut union =
            ObjectSet { extensible: self.model.object_sets[set.index()].extensible, ..Default::default() };
        for setting in found {
            match setting {
                Setting::Object(id) if !union.objects.contains(&id) => union.objects.push(id),
                Setting::ObjectSet(id) if self.ensure_object_set(id, at) => {
                    let inner = self.model.object_sets[id.index()].clone();
                    union.extensible |= inner.extensible;
                    union.objects.extend(inner.objects);
                }
                _ => {}
            }
        }
        let mut known = rustc_hash::FxHashSet::default();
        union.objects.retain(|id| known.insert(*id));
        let class = self.object_set_class(set);
        let class = match self.field_kind(class, path) {
            Some((_, ClassFieldKind::Object(class) | ClassFieldKind::ObjectSet(class))) => class,
            _ => class,
        };
        Some(Setting::ObjectSet(self.new_built_object_set(union, class)))
    }
}

impl Model {
    /// The rows of an object set: the value of one field, by which a row is found, and what another one is set to.
    /// Objects that lack either are left out.
    pub fn rows(&self, set: ObjectSetId, key_field: &str, type_field: &str) -> Vec<(Value, Setting)> {
        let key_field = SmolStr::new(key_field);
        let type_field = SmolStr::new(type_field);
        let objects = self.object_sets.get(set.index()).map_or(&[][..], |set| &set.objects);
        objects
            .iter()
            .filter_map(|id| {
                let settings = &self.objects[id.index()].settings;
                match (settings.get(&key_field)?, settings.get(&type_field)?) {
                    (Setting::Value(_, Value::Error), _) => None,
                    (Setting::Value(_, key), setting) => Some((key.clone(), setting.clone())),
                    _ => None,
                }
            })
            .collect()
    }
}
