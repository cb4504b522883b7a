//! Object sets (X.681 §12): the objects that set arithmetic comes to, each once, in order.

use crate::ir::{ClassId, ObjectId, ObjectSetId, Setting};
use crate::resolve::{Binding, Resolver, Scope};
use rustc_hash::FxHashSet;
use tercet_syntax::ast::{self, ElementKind, ValueKind};
use tercet_syntax::{Diagnostic, Span};

/// Objects met so far.
#[derive(Debug, Default)]
struct Objects {
    list: Vec<ObjectId>,
    known: FxHashSet<ObjectId>,
    extensible: bool,
}

impl Objects {
    fn add(&mut self, id: ObjectId) {
        if self.known.insert(id) {
            self.list.push(id);
        }
    }
}

impl<'a> Resolver<'a> {
    /// Fills the object set.
    pub(crate) fn define_object_set(
        &mut self,
        id: ObjectSetId,
        scope: &Scope<'a>,
        set: &'a ast::ElementSet,
        class: ClassId,
    ) {
        let mut objects = Objects { extensible: set.extensible, ..Objects::default() };
        for element in set.root.iter().chain(set.additional.as_deref()) {
            self.objects_of(scope, element, class, &mut objects);
        }
        let out = &mut self.model.object_sets[id.index()];
        out.objects = objects.list;
        out.extensible = objects.extensible;
    }

    fn objects_of(
        &mut self,
        scope: &Scope<'a>,
        element: &'a ast::Element,
        class: ClassId,
        out: &mut Objects,
    ) {
        if !self.spend(1, element.span) || !self.enter(element.span) {
            return;
        }
        match &element.kind {
            ElementKind::Union(parts) => {
                for part in parts {
                    self.objects_of(scope, part, class, out);
                }
            }
            ElementKind::Intersection(parts) => {
                let mut sets = Vec::with_capacity(parts.len());
                for part in parts {
                    let mut objects = Objects::default();
                    self.objects_of(scope, part, class, &mut objects);
                    sets.push(objects);
                }
                if let Some((first, others)) = sets.split_first() {
                    for &id in &first.list {
                        if others.iter().all(|set| set.known.contains(&id)) {
                            out.add(id);
                        }
                    }
                    // An open-ended part may come to hold what the others have (X.680 §50.10 c).
                    out.extensible |= sets.iter().any(|set| set.extensible);
                }
            }
            ElementKind::Except(from, what) => {
                let (mut kept, mut left_out) = (Objects::default(), Objects::default());
                self.objects_of(scope, from, class, &mut kept);
                self.objects_of(scope, what, class, &mut left_out);
                for &id in &kept.list {
                    if !left_out.known.contains(&id) {
                        out.add(id);
                    }
                }
                out.extensible |= kept.extensible;
            }
            ElementKind::Value(value) => self.object_element(scope, value, class, out),
            ElementKind::Braced(braced) => {
                let value = ast::Value { kind: ValueKind::Braced(*braced), span: element.span };
                let value = self.keep_value(value);
                out.add(self.new_object(scope, value, class, None));
            }
            ElementKind::Type(ty) => self.set_element(scope, ty, out),
            _ => self.no_object(element.span),
        }
        self.leave();
    }

    fn object_element(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        class: ClassId,
        out: &mut Objects,
    ) {
        match &value.kind {
            ValueKind::Reference(reference) => match self.lookup(scope, reference) {
                Some(binding) => self.add_named(reference, binding, out),
                None => out.extensible = true,
            },
            ValueKind::FromObject { base, path } => {
                let setting = self.setting_of(scope, base, path);
                self.add_setting(setting, value.span, out);
            }
            ValueKind::Braced(_) => out.add(self.new_object(scope, value, class, None)),
            _ => self.no_object(value.span),
        }
    }

    /// A name in capitals: another set (X.681 §12.3), with its extension marker (§12.7).
    fn set_element(&mut self, scope: &Scope<'a>, ty: &'a ast::Type, out: &mut Objects) {
        match &ty.kind {
            ast::TypeKind::Reference(reference) => match self.lookup(scope, reference) {
                Some(binding) => self.add_named(reference, binding, out),
                None => out.extensible = true,
            },
            ast::TypeKind::FromObject { base, path } | ast::TypeKind::ClassField { class: base, path } => {
                let setting = self.setting_of(scope, base, path);
                self.add_setting(setting, ty.span, out);
            }
            _ => self.no_object(ty.span),
        }
    }

    fn add_named(&mut self, reference: &'a ast::Reference, binding: Binding, out: &mut Objects) {
        match binding {
            Binding::Object(id) => out.add(id),
            Binding::ObjectSet(id) => self.add_set(id, reference.span, out),
            // What is missing may be anything.
            Binding::Missing => out.extensible = true,
            other => self.report_wrong_kind(reference, &other, "an object or object set"),
        }
    }

    fn add_setting(&mut self, setting: Option<Setting>, span: Span, out: &mut Objects) {
        match setting {
            Some(Setting::Object(id)) => out.add(id),
            Some(Setting::ObjectSet(id)) => self.add_set(id, span, out),
            Some(_) => self.no_object(span),
            None => {}
        }
    }

    fn add_set(&mut self, id: ObjectSetId, span: Span, out: &mut Objects) {
        if !self.ensure_object_set(id, span) {
            return;
        }
        // Four entries of a set take the time of a value, if not the room.
        let count = self.model.object_sets[id.index()].objects.len() as u64;
        if !self.spend(count / 4, span) {
            return;
        }
        let set = &self.model.object_sets[id.index()];
        out.extensible |= set.extensible;
        for &object in &set.objects {
            out.add(object);
        }
    }

    fn no_object(&mut self, span: Span) {
        self.report(
            Diagnostic::error("E0503", span, "this is neither an object nor an object set")
                .note("X.681 §12.3"),
        );
    }
}
