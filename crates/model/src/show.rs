//! A readable dump of a model: ASN.1 with the tags, numbers and bounds that were worked out.

use crate::constraints::Visibility;
use crate::ir::{
    ClassFieldKind, Components, ConstraintKind, Model, Module, ObjectSetId, Place, Presence, Setting,
    TagMode, TypeId, TypeKind,
};
use crate::tags::keyword;
use smol_str::SmolStr;
use std::fmt::{self, Write as _};

/// Lists that nest deeper than this are cut: nobody reads them.
const DEPTH: usize = 100;

impl Model {
    /// The whole model as text.
    pub fn show(&self) -> String {
        let mut out = String::new();
        for (index, module) in self.modules.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = self.write_module(&mut out, module);
        }
        let _ = self.write_instances(&mut out);
        out
    }

    /// One type as text: its name, if it has one, and its notation.
    pub fn show_type(&self, id: TypeId) -> String {
        let mut out = String::new();
        if self.ty(id).name.is_some() {
            let _ = write!(out, "{} ::= ", self.type_name(id));
        }
        let _ = self.write_type(&mut out, id, 0);
        out
    }

    fn write_module(&self, out: &mut String, module: &Module) -> fmt::Result {
        write!(out, "{}", module.name)?;
        if let Some(oid) = &module.oid {
            write!(out, " {{{}}}", join(oid.iter(), " "))?;
        }
        writeln!(out, " DEFINITIONS ::=")?;
        for (name, id) in &module.types {
            write!(out, "  {name} ::= ")?;
            self.write_type(out, *id, 1)?;
            out.push('\n');
        }
        for (name, ty, value) in &module.values {
            writeln!(out, "  {name} {} ::= {}", self.type_name(*ty), self.notation(value))?;
        }
        for (name, id) in &module.classes {
            let class = &self.classes[id.index()];
            write!(out, "  {name} ::= CLASS {{")?;
            for (index, field) in class.fields.iter().enumerate() {
                write!(out, "{} {}", if index > 0 { "," } else { "" }, field.name)?;
                match &field.kind {
                    ClassFieldKind::Type => {}
                    ClassFieldKind::Value(ty) | ClassFieldKind::ValueSet(ty) => {
                        write!(out, " {}", self.type_name(*ty))?;
                    }
                    ClassFieldKind::VariableValue(path) | ClassFieldKind::VariableValueSet(path) => {
                        write!(out, " {}", join(path.iter(), "."))?;
                    }
                    ClassFieldKind::Object(class) | ClassFieldKind::ObjectSet(class) => {
                        write!(out, " {}", self.classes[class.index()].name)?;
                    }
                }
                match (field.unique, field.optional) {
                    (true, _) => out.push_str(" UNIQUE"),
                    (false, true) => out.push_str(" OPTIONAL"),
                    (false, false) => {}
                }
            }
            out.push_str(" }\n");
        }
        for (name, id) in &module.objects {
            let object = &self.objects[id.index()];
            write!(out, "  {name} {} ::= {{", self.classes[object.class.index()].name)?;
            let mut fields: Vec<(&SmolStr, &Setting)> = object.settings.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            for (index, (name, setting)) in fields.into_iter().enumerate() {
                write!(out, "{} {name} ", if index > 0 { "," } else { "" })?;
                self.write_setting(out, setting)?;
            }
            out.push_str(" }\n");
        }
        for (name, id) in &module.object_sets {
            let class = self.object_sets[id.index()]
                .objects
                .first()
                .map_or("", |o| self.classes[self.objects[o.index()].class.index()].name.as_str());
            writeln!(out, "  {name} {class} ::= {}", self.object_set_text(*id))?;
        }
        Ok(())
    }

    fn write_setting(&self, out: &mut String, setting: &Setting) -> fmt::Result {
        match setting {
            Setting::Type(ty) | Setting::ValueSet(ty) => write!(out, "{}", self.type_name(*ty)),
            Setting::Value(_, value) => write!(out, "{}", self.notation(value)),
            Setting::Object(id) => out.write_str(self.objects[id.index()].name.as_deref().unwrap_or("{…}")),
            Setting::ObjectSet(id) => out.write_str(&self.object_set_text(*id)),
        }
    }

    /// An object set by name, or its members by theirs.
    fn object_set_text(&self, id: ObjectSetId) -> String {
        let set = &self.object_sets[id.index()];
        let mut parts: Vec<&str> =
            set.objects.iter().map(|o| self.objects[o.index()].name.as_deref().unwrap_or("{…}")).collect();
        if set.extensible {
            parts.push("...");
        }
        format!("{{{}}}", parts.join(" | "))
    }

    /// Instances of parameterized types, which belong to no module's list.
    fn write_instances(&self, out: &mut String) -> fmt::Result {
        let mut first = true;
        for (index, ty) in self.types.iter().enumerate() {
            if ty.name.as_ref().is_none_or(|n| n.arguments.is_empty()) {
                continue;
            }
            if std::mem::take(&mut first) {
                out.push_str("\n-- instances\n");
            }
            let id = TypeId(index as u32);
            write!(out, "  {} ::= ", self.type_name(id))?;
            self.write_type(out, id, 1)?;
            out.push('\n');
        }
        Ok(())
    }

    fn write_type(&self, out: &mut String, id: TypeId, depth: usize) -> fmt::Result {
        if depth > DEPTH {
            return out.write_str("…");
        }
        let ty = self.ty(id);
        for tag in &ty.tags {
            out.push_str(&crate::check::tag_name((tag.class, tag.number)));
            out.push_str(if tag.mode == TagMode::Explicit { " EXPLICIT " } else { " " });
        }
        match &ty.kind {
            TypeKind::Reference(next) => self.write_use(out, *next, depth)?,
            TypeKind::Sequence(components) | TypeKind::Set(components) | TypeKind::Choice(components) => {
                write!(out, "{} ", keyword(&ty.kind))?;
                self.write_components(out, components, depth)?;
            }
            TypeKind::SequenceOf(name, element) | TypeKind::SetOf(name, element) => {
                write!(out, "{} ", keyword(&ty.kind))?;
                if let Some(name) = name {
                    write!(out, "{name} ")?;
                }
                self.write_use(out, *element, depth)?;
            }
            TypeKind::Enumerated(items) => {
                let mut parts: Vec<String> = items.root.iter().map(|(n, v)| format!("{n}({v})")).collect();
                if items.extensible {
                    parts.push("...".into());
                }
                parts.extend(items.additions.iter().map(|(n, v)| format!("{n}({v})")));
                write!(out, "ENUMERATED {{{}}}", parts.join(", "))?;
            }
            TypeKind::Integer(names) | TypeKind::BitString(names) if !names.is_empty() => {
                let parts = names.iter().map(|n| format!("{}({})", n.name, n.value));
                write!(out, "{} {{{}}}", keyword(&ty.kind), join(parts, ", "))?;
            }
            TypeKind::Open(Some((class, field))) => {
                write!(out, "{}.{field}", self.classes[class.index()].name)?;
            }
            TypeKind::AnyDefinedBy(name) => write!(out, "ANY DEFINED BY {name}")?,
            TypeKind::InstanceOf(class) => write!(out, "INSTANCE OF {}", self.classes[class.index()].name)?,
            kind => out.push_str(keyword(kind)),
        }
        self.write_constraints(out, id)
    }

    /// A type where it is used: by name if it has one.
    fn write_use(&self, out: &mut String, id: TypeId, depth: usize) -> fmt::Result {
        match &self.ty(id).name {
            Some(_) => out.write_str(&self.type_name(id)),
            None => self.write_type(out, id, depth),
        }
    }

    fn write_components(&self, out: &mut String, components: &Components, depth: usize) -> fmt::Result {
        let pad = "  ".repeat(depth + 1);
        let close = "  ".repeat(depth);
        out.push('{');
        let mut place = Place::Root;
        let mut marked = false;
        let mut first = true;
        for component in &components.list {
            if component.place != place
                && let Place::Group(_) = place
            {
                out.push_str(" ]]");
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            if component.place != place {
                let first_addition = !std::mem::replace(&mut marked, true);
                if first_addition || component.place == Place::Root {
                    write!(out, "\n{pad}...,")?;
                }
                if let Place::Group(_) = component.place {
                    write!(out, "\n{pad}[[")?;
                }
                place = component.place;
            }
            write!(out, "\n{pad}{} ", component.name)?;
            self.write_use(out, component.ty, depth + 1)?;
            match &component.presence {
                Presence::Mandatory => {}
                Presence::Optional => out.push_str(" OPTIONAL"),
                Presence::Default(value) => write!(out, " DEFAULT {}", self.notation(value))?,
            }
        }
        if let Place::Group(_) = place {
            write!(out, " ]]")?;
        }
        if components.extensible && !marked {
            write!(out, "{}\n{pad}...", if first { "" } else { "," })?;
            first = false;
        }
        if !first {
            write!(out, "\n{close}")?;
        }
        out.write_str("}")
    }

    /// What the constraints written at a place come to, together with those behind it.
    fn write_constraints(&self, out: &mut String, id: TypeId) -> fmt::Result {
        for constraint in &self.ty(id).constraints {
            match &constraint.kind {
                ConstraintKind::Contents { containing: Some(inner), .. } => {
                    write!(out, " (CONTAINING {})", self.type_name(*inner))?;
                }
                ConstraintKind::Table { set, relations } => {
                    let name = self.object_sets[set.index()].name.clone();
                    let name = name.map_or_else(|| self.object_set_text(*set), |n| format!("{{{n}}}"));
                    write!(out, " ({name}")?;
                    if !relations.is_empty() {
                        let each = relations.iter().map(|r| {
                            format!("@{}{}", ".".repeat(r.level as usize), join(r.path.iter(), "."))
                        });
                        write!(out, "{{{}}}", join(each, ", "))?;
                    }
                    out.push(')');
                }
                _ => {}
            }
        }
        if !self.ty(id).constraints.is_empty() {
            let text = self.effective(id, Visibility::Per).to_string();
            if !text.is_empty() {
                write!(out, " ({text})")?;
            }
        }
        Ok(())
    }
}

fn join<T: fmt::Display>(parts: impl Iterator<Item = T>, between: &str) -> String {
    let mut out = String::new();
    for (index, part) in parts.enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        let _ = write!(out, "{part}");
    }
    out
}
