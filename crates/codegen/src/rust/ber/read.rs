//! Reading: an element's header is at hand, its tag compared.

use super::{Ber, Condition, local, ok, tag_pattern, tag_text, time_type};
use crate::rust::values::{key_pattern, string_kind, tuple};
use crate::types::{Edge, Repr};
use tercet_plan::ber::{Slot, UNTAGGED, flags};
use tercet_plan::shape::Place;
use tercet_plan::{FieldId, Kind, NodeId};

/// Components from which on, most of them optional, a SEQUENCE is read by tags rather than in order.
const MANY: usize = 10;

impl Ber<'_, '_> {
    /// The expression that reads a value whose outermost header is `h`, a reference.
    pub(super) fn read(&self, slot: &Slot, node: NodeId, keys: &str) -> String {
        let tags = self.tags(slot);
        let open_ended = slot.flags & flags::OPEN_ENDED != 0;
        let inner: Vec<Option<u32>> = if open_ended {
            let inner = tags.iter().skip(1).map(|tag| Some(*tag));
            if tags.is_empty() { Vec::new() } else { inner.chain([None]).collect() }
        } else {
            tags.iter().skip(1).map(|tag| Some(*tag)).collect()
        };
        let value = self.read_contents(node, keys);
        if inner.is_empty() {
            return value;
        }
        let mut out = String::from("{ ");
        for (i, tag) in inner.iter().enumerate() {
            let header = match tag {
                Some(tag) => format!("r.read_expected({})?", tag_text(*tag)),
                None => "r.read_header()?".into(),
            };
            out += &format!("let f{i} = r.enter(h)?; let h = &{header}; ");
        }
        out += &format!("let v = {value}; ");
        for i in (0..inner.len()).rev() {
            out += &format!("r.leave(f{i})?; ");
        }
        out + "v }"
    }

    /// The same behind all tags.
    pub(super) fn read_contents(&self, node: NodeId, keys: &str) -> String {
        let node = self.p.types.same(node);
        let value = self.read_leaf(node, keys);
        self.p.own(node, value)
    }

    fn read_leaf(&self, node: NodeId, keys: &str) -> String {
        let kind = self.p.types.shape.node(node).kind;
        match self.p.types.repr(node) {
            Repr::Boolean => "r.boolean(h)?".into(),
            Repr::Null => "r.null(h)?".into(),
            Repr::Integer { signed: true, bits: 64 } => "r.integer(h)?".into(),
            Repr::Integer { signed: false, bits: 64 } => "r.unsigned(h)?".into(),
            Repr::Integer { signed: true, bits } => format!("ber::narrow::<_, i{bits}>(r.integer(h)?, r)?"),
            Repr::Integer { signed: false, bits } => format!("ber::narrow::<_, u{bits}>(r.unsigned(h)?, r)?"),
            Repr::Big => "ber::integer(r, h)?".into(),
            Repr::Real => "ber::real(r, h)?".into(),
            Repr::FixedBits(bits) => format!("ber::fixed_bits::<{bits}>(r, h)?"),
            Repr::Bits if self.p.types.shape.node(node).item_count > 0 => {
                format!("ber::named_bits(r, h, {})?", self.p.types.shape.least_size(node))
            }
            Repr::Bits => "ber::bits(r, h)?".into(),
            Repr::FixedOctets(octets) => format!("ber::fixed_octets::<{octets}>(r, h)?"),
            Repr::Octets => "ber::octets(r, h)?".into(),
            Repr::Oid => "ber::oid(r, h)?".into(),
            Repr::RelativeOid => "ber::relative_oid(r, h)?".into(),
            Repr::Any => "ber::any(r, h)?".into(),
            Repr::Text => match kind {
                Kind::UtcTime => "ber::utc_time(r, h)?".into(),
                Kind::GeneralizedTime => "ber::generalized_time(r, h)?".into(),
                _ => match (string_kind(kind), time_type(kind)) {
                    (_, Some(time)) => format!("ber::time(r, h, TimeType::{time})?"),
                    (Some(kind), _) => format!("ber::text(r, h, StringKind::{kind:?})?"),
                    _ => "ber::text(r, h, StringKind::Utf8)?".into(),
                },
            },
            Repr::Contained(inside) => {
                let slot = self.entry(inside);
                let read = self.p.boxed(Edge::Content(node), self.read_bare(&slot, inside));
                let bits = kind == Kind::BitString;
                format!("ber::contained(r, h, {bits}, |r| {{ {read} }})?", read = ok(&read))
            }
            Repr::Enumerated => {
                let name = self.p.names.ty(node);
                format!(
                    "{name}::from_number(r.integer(h)?).ok_or_else(|| r.error(ErrorKind::UnknownEnumeration))?"
                )
            }
            Repr::Struct | Repr::Choice | Repr::Table(_) => {
                format!("{}::read_ber(r, h{keys})?", self.p.names.ty(node))
            }
            Repr::List => format!("read_ber_{}(r, h{keys})?", self.list_function(node)),
        }
    }

    /// A value that stands alone, its header not read yet.
    pub(super) fn read_bare(&self, slot: &Slot, node: NodeId) -> String {
        let header = match self.tags(slot).first() {
            Some(tag) => format!("r.read_expected({})?", tag_text(*tag)),
            None => "r.read_header()?".into(),
        };
        format!("{{ let h = &{header}; {} }}", self.read(slot, node, &self.no_keys(node)))
    }

    pub(super) fn no_keys(&self, node: NodeId) -> String {
        self.p.key_arguments(node, &|_| None, &std::collections::BTreeSet::new())
    }

    /// The arguments for keys of a component: from the components before it, else from around.
    pub(super) fn keys_of(&self, parent: NodeId, node: NodeId, by_tag: bool) -> String {
        let shape = self.p.types.shape;
        let own = |key: u16| {
            let (id, field) = shape.fields_of(parent).find(|(_, field)| field.key == Some(key))?;
            let local = local(self.p.names.field(id));
            let boxed = if self.p.types.is_boxed(Edge::Field(id)) { "&**" } else { "" };
            if by_tag || self.p.is_option(id) {
                let value = self.p.as_key(field.node, if boxed.is_empty() { "v" } else { "(&**v)" })?;
                Some(format!("match &{local} {{ Some(v) => {value}, None => Key::None }}"))
            } else {
                self.p.as_key(field.node, &format!("({boxed}&{local})").replace("&**&", "&*"))
            }
        };
        self.p.key_arguments(node, &own, self.p.types.keys(parent))
    }

    pub(super) fn read_struct(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        let tags: Vec<u32> = fields.iter().map(|id| self.slot(*id).tag).collect();
        let mut sorted = tags.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let distinct = sorted.len() == tags.len() && !tags.contains(&UNTAGGED);
        let optional = fields.iter().filter(|id| self.p.is_option(**id)).count();
        let is_set = shape.node(node).kind == Kind::Set;
        self.line("let level = r.enter(h)?;");
        if self.p.names.additions(node).is_some() {
            self.line("let mut unknown = UnknownAdditions::NONE;");
        }
        if is_set || (distinct && fields.len() >= MANY && optional * 3 >= fields.len() * 2) {
            self.read_by_tag(node, &fields, is_set);
        } else {
            self.read_in_order(node, &fields);
        }
    }

    /// What takes an element that is not known.
    fn unknown(&self, node: NodeId) -> &'static str {
        if self.p.names.additions(node).is_some() { "unknown.read_ber" } else { "ber::skip_unknown" }
    }

    pub(super) fn read_in_order(&mut self, node: NodeId, fields: &[FieldId]) {
        let shape = self.p.types.shape;
        let extensible = shape.node(node).extensible;
        self.line("let mut next = r.next_header()?;");
        let second = fields.iter().position(|id| shape.field(*id).place != Place::Root).and_then(|first| {
            fields
                .iter()
                .skip(first)
                .position(|id| shape.field(*id).place == Place::Root)
                .map(|at| at + first)
        });
        for (i, &id) in fields.iter().enumerate() {
            if Some(i) == second {
                let tags: Vec<String> = fields[i..]
                    .iter()
                    .map(|id| self.condition(&self.slot(*id), shape.field(*id).node).text("h"))
                    .collect();
                self.open(format!("while let Some(h) = next.filter(|h| !({})) {{", tags.join(" || ")));
                let line = format!("{}(r, &h)?;", self.unknown(node));
                self.line(line);
                self.line("next = r.next_header()?;");
                self.close("}");
            }
            let field = shape.field(id);
            let slot = self.slot(id);
            let keys = self.keys_of(node, field.node, false);
            let value = self.p.boxed(Edge::Field(id), self.read(&slot, field.node, &keys));
            let condition = self.condition(&slot, field.node);
            let local = local(self.p.names.field(id));
            let absent =
                if self.p.is_option(id) { Some("None".to_owned()) } else { self.p.default_value(id) };
            match absent {
                None => {
                    let header = match &condition {
                        Condition::Tag(tag) => format!("&ber::required(next, {}, r)?", tag_text(*tag)),
                        Condition::Any => "&next.ok_or_else(|| ber::missing(None, r))?".into(),
                        Condition::Choice(name) if !shape.node(field.node).extensible => format!(
                            "&match next {{ Some(h) if {name}::takes(h.tag) => h, other => return Err(ber::missing(other, r)) }}"
                        ),
                        Condition::Choice(_) => "&next.ok_or_else(|| ber::missing(None, r))?".into(),
                    };
                    self.line(format!("let h = {header};"));
                    self.line(format!("let {local} = {value};"));
                    self.line("next = r.next_header()?;");
                }
                Some(absent) => {
                    let header = match &condition {
                        Condition::Tag(tag) => format!("ber::optional(next, {})", tag_text(*tag)),
                        Condition::Any => "next".into(),
                        other => format!("next.filter(|h| {})", other.text("h")),
                    };
                    self.open(format!("let {local} = match &{header} {{"));
                    self.open("Some(h) => {");
                    self.line(format!("let v = {value};"));
                    if self.p.is_option(id) {
                        self.line("next = r.next_header()?;");
                        self.line("Some(v)");
                    } else {
                        let equal = self.p.is_default(id, "v").unwrap_or_else(|| "false".into());
                        self.line(format!("ber::not_default({equal}, r)?;"));
                        self.line("next = r.next_header()?;");
                        self.line("v");
                    }
                    self.close("}");
                    self.line(format!("None => {absent},"));
                    self.close("};");
                }
            }
        }
        if extensible {
            self.open("while let Some(h) = next {");
            let line = format!("{}(r, &h)?;", self.unknown(node));
            self.line(line);
            self.line("next = r.next_header()?;");
            self.close("}");
        } else {
            self.line("ber::end(next, r)?;");
        }
        self.line("r.leave(level)?;");
        let mut members: Vec<String> = fields
            .iter()
            .map(|id| {
                let name = self.p.names.field(*id);
                format!("{name}: {}", local(name))
            })
            .collect();
        members.extend(self.p.names.additions(node).map(|name| format!("{name}: unknown")));
        self.line(format!("Ok(Self {{ {} }})", members.join(", ")));
    }

    pub(super) fn read_by_tag(&mut self, node: NodeId, fields: &[FieldId], is_set: bool) {
        let shape = self.p.types.shape;
        for &id in fields {
            let held = self.p.held(Edge::Field(id), shape.field(id).node, "'_");
            let local = local(self.p.names.field(id));
            self.line(format!("let mut {local}: Option<{held}> = None;"));
        }
        self.line("let mut last = 0_u32;");
        self.open("while let Some(h) = &r.next_header()? {");
        self.open("match h.tag.bits() {");
        for (i, &id) in fields.iter().enumerate() {
            let field = shape.field(id);
            let slot = self.slot(id);
            let keys = self.keys_of(node, field.node, true);
            let value = self.p.boxed(Edge::Field(id), self.read(&slot, field.node, &keys));
            let local = local(self.p.names.field(id));
            let order = if is_set {
                format!("ber::in_set({local}.is_some(), &mut last, h, r)?;")
            } else {
                format!("ber::in_order(&mut last, {}, h, r)?;", i + 1)
            };
            let pattern = match self.condition(&slot, field.node) {
                Condition::Tag(tag) => tag_pattern(tag),
                Condition::Choice(name) => format!("_ if {name}::takes(h.tag)"),
                Condition::Any => "_".into(),
            };
            self.open(format!("{pattern} => {{"));
            self.line(order);
            self.line(format!("{local} = Some({value});"));
            self.close("}");
        }
        if shape.node(node).extensible {
            let line = format!("_ => {}(r, h)?,", self.unknown(node));
            self.line(line);
        } else {
            self.line("_ => return Err(ber::unexpected(h, ErrorKind::UnexpectedElement, r)),");
        }
        self.close("}");
        self.close("}");
        let mut members = Vec::new();
        for &id in fields {
            let name = self.p.names.field(id).to_owned();
            let local = local(&name);
            if self.p.is_option(id) {
                members.push(format!("{name}: {local}"));
            } else if let Some(default) = self.p.default_value(id) {
                let equal = self.p.is_default(id, "v").unwrap_or_else(|| "false".into());
                members.push(format!(
                    "{name}: match {local} {{ Some(v) => {{ ber::not_default({equal}, r)?; v }} None => {default} }}"
                ));
            } else {
                members.push(format!("{name}: {local}.ok_or_else(|| ber::missing(None, r))?"));
            }
        }
        members.extend(self.p.names.additions(node).map(|name| format!("{name}: unknown")));
        self.open("let value = Self {");
        for member in members {
            self.line(member + ",");
        }
        self.close("};");
        self.line("r.leave(level)?;");
        self.line("Ok(value)");
    }

    pub(super) fn read_choice(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.open("Ok(match h.tag.bits() {");
        for (id, field) in shape.fields_of(node) {
            let slot = self.slot(id);
            let keys = self.keys_of(node, field.node, false);
            let value = self.p.boxed(Edge::Field(id), self.read(&slot, field.node, &keys));
            let pattern = match self.condition(&slot, field.node) {
                Condition::Tag(tag) => tag_pattern(tag),
                Condition::Choice(name) => format!("_ if {name}::takes(h.tag)"),
                Condition::Any => "_".into(),
            };
            let variant = self.p.names.field(id).to_owned();
            self.line(format!("{pattern} => Self::{variant}({value}),"));
        }
        if shape.node(node).extensible {
            let own = self.p.ended(node);
            self.line(format!("_ => Self::Unknown(Box::new(UnknownAlternative {{ addition: None, octets: ber::any(r, h)?{own} }})),"));
        } else {
            self.line("_ => return Err(ber::unexpected(h, ErrorKind::UnknownAlternative, r)),");
        }
        self.close("})");
    }

    pub(super) fn read_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        let keys: Vec<String> = match &shape.node(node).table {
            Some(table) => table.keys.iter().map(|key| format!("k{key}")).collect(),
            None => Vec::new(),
        };
        self.open(format!("Ok(match {} {{", tuple(&keys)));
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let Some(patterns) = row.keys.iter().map(key_pattern).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let slot = self.entry(row.node);
            let value = self.read(&slot, row.node, &self.no_keys(row.node));
            let value = match self.tags(&slot).first() {
                Some(tag) => format!("{{ ber::expect(h, {}, r)?; {value} }}", tag_text(*tag)),
                None => value,
            };
            let value = self.p.boxed(Edge::Row(node, number), value);
            let variant = self.p.names.row(node, number).to_owned();
            self.line(format!("{} => Self::{variant}({value}),", tuple(&patterns)));
        }
        if !keys.is_empty() {
            let line = format!("_ => Self::Other(ber::any(r, h)?{}),", self.p.ended(node));
            self.line(line);
        }
        self.close("})");
    }

    /// A list whose elements are read when they are asked for.
    pub(super) fn read_lazy_list(&mut self, node: NodeId, element: NodeId) {
        let shape = self.p.types.shape;
        let slot = self.slot(FieldId(shape.node(node).first));
        let ordered = shape.node(node).kind == Kind::SetOf;
        let value = self.read_bare(&slot, element);
        self.line(format!("SequenceOf::read_ber(r, h, {ordered}, |r| {})", ok(&value)));
    }

    pub(super) fn read_list(&mut self, node: NodeId, element: NodeId) {
        let shape = self.p.types.shape;
        let slot = self.slot(FieldId(shape.node(node).first));
        let is_set = shape.node(node).kind == Kind::SetOf;
        let keys = self.p.key_arguments(element, &|_| None, self.p.types.keys(node));
        let value = self.read(&slot, element, &keys);
        self.line("let level = r.enter(h)?;");
        self.line("let mut list = Vec::new();");
        if is_set {
            self.line("let mut previous: &[u8] = &[];");
        }
        self.open("while let Some(h) = &r.next_header()? {");
        if is_set {
            self.line("let start = r.position().saturating_sub(usize::from(h.size));");
        }
        if let Some(tag) = self.tags(&slot).first() {
            let line = format!("ber::expect(h, {}, r)?;", tag_text(*tag));
            self.line(line);
        }
        self.line(format!("list.push({value});"));
        if is_set {
            self.line("ber::set_of_order(&mut previous, start, r)?;");
        }
        self.close("}");
        self.line("r.leave(level)?;");
        self.line("Ok(list)");
    }
}
