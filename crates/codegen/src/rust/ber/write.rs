//! Writing, the last part first: contents, then the headers in front of them.

use super::{Ber, Condition, tag_text};
use crate::rust::{At, deref, receiver};
use crate::types::{Edge, Repr};
use tercet_plan::ber::{Slot, UNTAGGED, flags};
use tercet_plan::{FieldId, Kind, NodeId};

impl Ber<'_, '_> {
    /// The lines that write the value that the expression `v` refers to, with all its tags.
    pub(super) fn write(&mut self, slot: &Slot, node: NodeId, v: &str, to: At<'_>) {
        let mut tags = self.tags(slot);
        let inner = if slot.flags & flags::OPEN_ENDED != 0 { None } else { tags.pop() };
        for i in 0..tags.len() {
            self.line(format!("let m{i} = w.open();"));
        }
        self.write_inner(node, inner, v, to);
        for (i, tag) in tags.iter().enumerate().rev() {
            self.line(format!("w.close({}, m{i});", tag_text(*tag)));
        }
    }

    fn write_inner(&mut self, node: NodeId, tag: Option<u32>, v: &str, to: At<'_>) {
        let node = self.p.types.same(node);
        let v = &self.p.inside(node, v)[..];
        let kind = self.p.types.shape.node(node).kind;
        let tag = tag.map_or_else(|| "Tag::NULL".to_owned(), tag_text);
        let (at, of) = (deref(v), receiver(v));
        let line = match self.p.types.repr(node) {
            Repr::Boolean => format!("w.boolean({tag}, {at});"),
            Repr::Null => format!("w.null({tag});"),
            Repr::Integer { signed: false, bits: 64 } => format!("w.unsigned({tag}, {at});"),
            Repr::Integer { .. } => format!("w.integer({tag}, i64::from({at}));"),
            Repr::Big => format!("w.big_integer({tag}, {of}.as_octets());"),
            Repr::Real => format!("ber::write_real(w, {tag}, {v});"),
            Repr::Float => format!("w.float({tag}, {at});"),
            Repr::FixedBits(_) if self.p.types.shape.has_named_bits(node) => {
                format!("ber::write_fixed_named_bits(w, {tag}, {at});")
            }
            Repr::FixedBits(_) => format!("ber::write_fixed_bits(w, {tag}, {at});"),
            Repr::Bits if self.p.types.shape.has_named_bits(node) => {
                format!("ber::write_named_bits(w, {tag}, {v});")
            }
            Repr::Bits => format!("w.bit_string({tag}, {of}.as_bits());"),
            Repr::FixedOctets(_) | Repr::Octets => format!("w.octet_string({tag}, {v});"),
            Repr::Oid | Repr::RelativeOid => format!("w.raw({tag}, {of}.as_bytes());"),
            Repr::Any => format!("ber::write_any(w, {v})?;"),
            Repr::Text => match kind {
                Kind::UtcTime => format!("ber::write_utc_time(w, {tag}, {v})?;"),
                Kind::GeneralizedTime => format!("ber::write_generalized_time(w, {tag}, {v})?;"),
                _ => match (kind.string_kind(), kind.time_type()) {
                    (_, Some(time)) => format!("ber::write_time(w, {tag}, TimeType::{time:?}, {v})?;"),
                    (Some(kind), _) => format!("ber::write_text(w, {tag}, StringKind::{kind:?}, {v})?;"),
                    _ => format!("ber::write_text(w, {tag}, StringKind::Utf8, {v})?;"),
                },
            },
            Repr::Enumerated => format!("w.integer({tag}, {of}.number());"),
            Repr::Choice | Repr::Table(_) => format!("{of}.write_ber(w)?;"),
            Repr::Struct => {
                self.line("let m = w.open();");
                self.line(to.line(format!("{of}.write_ber(w)?;")));
                format!("w.close({tag}, m);")
            }
            Repr::List => {
                self.line("let m = w.open();");
                let line = format!("write_ber_{}({v}, w)?;", self.list_function(node));
                self.line(to.line(line));
                format!("w.close({tag}, m);")
            }
            Repr::Contained(inside) => {
                self.open(format!("match {v} {{"));
                self.open("Contained::Value(v) => {");
                let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
                self.line("let end = w.mark();");
                let slot = self.entry(inside);
                self.begin_value(node);
                self.write(&slot, inside, content, to);
                self.end_value(node);
                if kind == Kind::BitString {
                    self.line("w.push_octet(0);");
                }
                self.line(format!("w.primitive({tag}, end);"));
                self.close("}");
                if kind == Kind::BitString {
                    self.line(format!("other => w.bit_string({tag}, other.bits()),"));
                } else {
                    self.line(format!("other => w.octet_string({tag}, other.octets()),"));
                }
                self.close("}");
                return;
            }
        };
        self.line(to.line(line));
    }

    pub(super) fn write_struct(&mut self, node: NodeId) {
        self.begin_value(node);
        let shape = self.p.types.shape;
        let mut fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        let is_set = shape.node(node).kind == Kind::Set;
        if is_set {
            // In the order of the tags, which every rule allows, and for untagged CHOICEs is that of CER (9.3).
            fields.sort_by_cached_key(|id| self.least_tag(node, *id));
        }
        let unknown = self.p.names.additions(node).map(str::to_owned);
        let sorted = if is_set { self.sorted(&fields, unknown.as_deref()) } else { None };
        // Behind the additions that are known, in front of a second root.
        let mut behind = match self.second_root(node) {
            Some(second) if !is_set => second,
            _ => fields.len(),
        };
        if unknown.is_none() {
            behind = usize::MAX;
        }
        if sorted.is_some() {
            self.line("let set = w.mark();");
        }
        let unknown = unknown.map(|name| format!("self.{name}.write_ber(w)?;"));
        if behind == fields.len() {
            self.line(unknown.as_deref().unwrap_or_default());
        }
        for (at, id) in fields.into_iter().enumerate().rev() {
            self.write_component(id);
            if at == behind {
                self.line(unknown.as_deref().unwrap_or_default());
            }
        }
        if let Some(condition) = sorted {
            self.open(format!("if {condition} {{"));
            self.line("w.sort_set(set)?;");
            self.close("}");
        }
        self.end_value(node);
        self.line("Ok(())");
    }

    /// When the elements of a SET are sorted once they are written.
    fn sorted(&self, fields: &[FieldId], unknown: Option<&str>) -> Option<String> {
        let untagged: Vec<FieldId> =
            fields.iter().copied().filter(|id| self.slot(*id).tag == UNTAGGED).collect();
        let shape = self.p.types.shape;
        let is_any =
            |id: &FieldId| matches!(self.condition(&self.slot(*id), shape.field(*id).node), Condition::Any);
        let always = "w.rules() != ber::Rules::Ber".to_owned();
        let added = unknown.map(|name| format!("!self.{name}.is_empty()"));
        match added {
            _ if untagged.iter().any(is_any) => Some(always),
            Some(added) if untagged.is_empty() => Some(format!("{added} && {always}")),
            Some(added) => Some(format!("w.rules() == ber::Rules::Der || {added} && {always}")),
            None => (!untagged.is_empty()).then(|| "w.rules() == ber::Rules::Der".to_owned()),
        }
    }

    fn write_component(&mut self, id: FieldId) {
        let shape = self.p.types.shape;
        let field = shape.field(id);
        let name = self.p.names.field(id).to_owned();
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        let slot = self.slot(id);
        let to = self.p.at(id);
        if self.p.is_option(id) {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(&slot, field.node, if boxed { "&**v" } else { "v" }, to);
            return self.close("}");
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        match self.p.is_default(id, &format!("self.{name}")) {
            Some(equal) => {
                self.open(format!("if !({equal}) {{"));
                self.write(&slot, field.node, &place, to);
                self.close("}");
            }
            None => self.write(&slot, field.node, &place, to),
        }
    }

    pub(super) fn write_choice(&mut self, node: NodeId) {
        self.begin_value(node);
        let shape = self.p.types.shape;
        self.open("match self {");
        for (id, field) in shape.fields_of(node) {
            let variant = self.p.names.field(id).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Field(id)) { "&**v" } else { "v" };
            let slot = self.slot(id);
            self.write(&slot, field.node, v, self.p.at(id));
            self.close("}");
        }
        if shape.node(node).extensible {
            self.line("Self::Unknown(v) => ber::write_any(w, &v.octets)?,");
        }
        self.close("}");
        self.end_value(node);
        self.line("Ok(())");
    }

    pub(super) fn write_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        self.open("match self {");
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let variant = self.p.names.row(node, number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Row(node, number)) { "&**v" } else { "v" };
            let slot = self.entry(row.node);
            self.begin_value(node);
            self.write(&slot, row.node, v, At::Nothing);
            self.end_value(node);
            self.close("}");
        }
        self.line("Self::Other(v) => ber::write_any(w, v)?,");
        self.close("}");
        self.line("Ok(())");
    }

    pub(super) fn write_list(&mut self, node: NodeId, element: NodeId) {
        self.begin_value(node);
        let shape = self.p.types.shape;
        let slot = self.slot(FieldId(shape.node(node).first));
        let is_set = shape.node(node).kind == Kind::SetOf;
        if is_set {
            self.line("let set = w.mark();");
        }
        self.line("let mut left = list.iter();");
        self.open("while let Some(v) = left.next_back() {");
        self.write(&slot, element, "v", At::Element);
        self.close("}");
        if is_set {
            self.open("if list.len() > 1 && w.rules() != ber::Rules::Ber {");
            self.line("w.sort_set_of(set)?;");
            self.close("}");
        }
        self.end_value(node);
        self.line("Ok(())");
    }

    /// See `Types::is_counted` and `ber::Writer::begin_value`.
    fn begin_value(&mut self, node: NodeId) {
        if self.p.types.is_counted(node) {
            self.line("w.begin_value()?;");
        }
    }

    fn end_value(&mut self, node: NodeId) {
        if self.p.types.is_counted(node) {
            self.line("w.end_value();");
        }
    }
}
