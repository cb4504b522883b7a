//! Reading: an element's header is at hand, its tag compared.

use super::{Ber, Condition, closure, local, tag_pattern, tag_text};
use crate::rust::At;
use crate::rust::values::{key_pattern, tuple};
use crate::types::{Edge, Repr};
use tercet_plan::ber::{Slot, UNTAGGED, flags};
use tercet_plan::{FieldId, Kind, NodeId};

/// Components from which on, most of them optional, a SEQUENCE is read by tags rather than in order.
const MANY: usize = 10;

impl Ber<'_, '_> {
    /// The expression that reads a value with all its tags.
    pub(super) fn read(&self, slot: &Slot, node: NodeId, keys: &str, at: At<'_>) -> String {
        let mut around = self.tags(slot);
        let own = if slot.flags & flags::OPEN_ENDED != 0 { None } else { around.pop() };
        let (first, at) = (at, if around.is_empty() { at } else { at.behind() });
        let value = self.read_inner(node, own, keys, at);
        if around.is_empty() {
            return value;
        }
        let mut out = String::from("{ ");
        for (i, tag) in around.iter().enumerate() {
            let at = if i == 0 { first } else { at };
            out += &format!("let f{i} = {}; ", at.value(format!("ber::enter(r, {})", tag_text(*tag))));
        }
        out += &format!("let v = {value}; ");
        for i in (0..around.len()).rev() {
            out += &format!("{}; ", at.value(format!("r.leave(f{i})")));
        }
        out + "v }"
    }

    /// The same behind the tags around its own.
    fn read_inner(&self, node: NodeId, tag: Option<u32>, keys: &str, at: At<'_>) -> String {
        let node = self.p.types.same(node);
        let value = at.value(self.read_call(node, tag, keys));
        self.p.own(node, value)
    }

    /// The call that reads a value with the innermost tag.
    fn read_call(&self, node: NodeId, tag: Option<u32>, keys: &str) -> String {
        let kind = self.p.types.shape.node(node).kind;
        let tag = tag.map_or_else(|| "Tag::NULL".to_owned(), tag_text);
        let plain = |function: &str| format!("ber::{function}(r, {tag})");
        match self.p.types.repr(node) {
            Repr::Boolean => plain("boolean"),
            Repr::Null => plain("null"),
            Repr::Integer { signed: true, bits: 64 } => plain("integer"),
            Repr::Integer { signed: false, bits: 64 } => plain("unsigned"),
            Repr::Integer { signed, bits } => {
                plain(&format!("narrow::<{}{bits}>", if signed { "i" } else { "u" }))
            }
            Repr::Big => plain("big_integer"),
            Repr::Real => plain("real"),
            Repr::Float => plain("float"),
            Repr::FixedBits(bits) if self.p.types.shape.has_named_bits(node) => {
                plain(&format!("fixed_named_bits::<{bits}>"))
            }
            Repr::FixedBits(bits) => plain(&format!("fixed_bits::<{bits}>")),
            Repr::Bits if self.p.types.shape.has_named_bits(node) => match self.p.types.shape.sizes(node) {
                (least, usize::MAX) => format!("ber::named_bits(r, {tag}, {least}, usize::MAX)"),
                (least, most) => format!("ber::named_bits(r, {tag}, {least}, {most})"),
            },
            Repr::Bits => plain("bits"),
            Repr::FixedOctets(octets) => plain(&format!("fixed_octets::<{octets}>")),
            Repr::Octets => plain("octets"),
            Repr::Oid => plain("oid"),
            Repr::RelativeOid => plain("relative_oid"),
            Repr::Any => "ber::any(r)".into(),
            Repr::Text => match kind {
                Kind::UtcTime => plain("utc_time"),
                Kind::GeneralizedTime => plain("generalized_time"),
                _ => match (kind.string_kind(), kind.time_type()) {
                    (_, Some(time)) => format!("ber::time(r, {tag}, TimeType::{time:?})"),
                    (Some(kind), _) => format!("ber::text(r, {tag}, StringKind::{kind:?})"),
                    _ => format!("ber::text(r, {tag}, StringKind::Utf8)"),
                },
            },
            Repr::Contained(inside) => {
                let value = self.read(&self.entry(inside), inside, keys, At::Nothing);
                let value = self.p.boxed(Edge::Content(node), value);
                let bits = kind == Kind::BitString;
                format!("ber::contained(r, {tag}, {bits}, {})", closure("r", &value))
            }
            Repr::Enumerated => {
                format!("ber::enumerated(r, {tag}, {}::from_number)", self.p.names.ty(node))
            }
            Repr::Struct => format!("{}::read_ber(r, {tag}{keys})", self.p.names.ty(node)),
            Repr::Choice | Repr::Table(_) => format!("{}::read_ber(r{keys})", self.p.names.ty(node)),
            Repr::List => format!("read_ber_{}(r, {tag}{keys})", self.list_function(node)),
        }
    }

    pub(super) fn no_keys(&self, node: NodeId) -> String {
        self.p.key_arguments(node, &|_| None, &std::collections::BTreeSet::new())
    }

    /// The arguments for keys of a component: from the components before it, else from around.
    pub(super) fn keys_of(&self, parent: NodeId, node: NodeId, place: &str) -> String {
        let shape = self.p.types.shape;
        let own = |key: u16| {
            let (id, way) = self.p.key_place(parent, key)?;
            let field = shape.field(id);
            let by_tag = !place.is_empty();
            let name = self.p.names.field(id);
            let local = if place == "value." { format!("value.{name}") } else { local(name) };
            if !way.is_empty() {
                let value = self.p.inner_key(&way, if by_tag { "v" } else { &local })?;
                let is_there = format!("match &{local} {{ Some(v) => {value}, None => Key::None }}");
                return Some(if by_tag { is_there } else { value });
            }
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
        let is_set = shape.node(node).kind == Kind::Set;
        let counted = self.p.types.is_counted(node);
        if counted {
            self.line("r.begin_value()?;");
        }
        self.line("let level = ber::enter(r, tag)?;");
        let by_tag = self.is_read_by_tag(node, &fields);
        if by_tag {
            self.read_by_tag(node, &fields, is_set);
        } else {
            self.read_in_order(node, &fields);
        }
        let place = self.place_function(node);
        // Elements of later versions may be left where the additions are the last.
        let is_open = shape.node(node).extensible && self.second_root(node).is_none();
        self.line(match self.p.names.additions(node) {
            // Nothing is left to step over.
            _ if by_tag => "r.leave(level)?;".to_owned(),
            Some(_) if is_open => "r.leave(level)?;".to_owned(),
            None if is_open => format!("ber::leave_extensible(r, level, {place})?;"),
            _ => format!("ber::leave(r, level, {place})?;"),
        });
        if counted {
            self.line("r.end_value();");
        }
        self.line(if self.is_filled(node) { "Ok(())" } else { "Ok(value)" });
    }

    /// Whether a struct is filled where it stands, as its components come: it has so many, all of which may be absent, that
    /// to move it into a box would take longer than to read it (records of an MSC are decoded with 14 % fewer instructions).
    pub(super) fn is_filled(&self, node: NodeId) -> bool {
        let fields: Vec<FieldId> = self.p.types.shape.fields_of(node).map(|(id, _)| id).collect();
        self.p.is_sparse(node) && self.is_read_by_tag(node, &fields)
    }

    /// The functions around that which fills a struct, whose first line is printed last.
    pub(super) fn filling(&mut self, parameters: &str, node: NodeId) {
        let keys: String = self.p.types.keys(node).iter().map(|key| format!(", k{key}")).collect();
        for (function, ty) in [("read_ber", "Self"), ("read_ber_boxed", "Box<Self>")] {
            self.open(format!("fn {function}({parameters}) -> Result<{ty}> {{"));
            self.line(format!("let mut value = {}::default();", ty.replace('<', "::<")));
            self.line(format!("value.fill_ber(r, tag{keys})?;"));
            self.line("Ok(value)");
            self.close("}");
        }
        self.open(format!("fn fill_ber(&mut self, {parameters}) -> Result<()> {{"));
        self.line("let value = self;");
    }

    /// What reads a component, alternative or row, in a box if it is so.
    fn read_held(&self, edge: Edge, slot: &Slot, node: NodeId, keys: &str, at: At<'_>) -> String {
        let value = self.read(slot, node, keys, at);
        let same = self.p.types.same(node);
        if self.p.types.is_boxed(edge) && self.is_filled(same) {
            let name = self.p.names.ty(same);
            return value.replace(&format!("{name}::read_ber("), &format!("{name}::read_ber_boxed("));
        }
        self.p.boxed(edge, value)
    }

    /// Whether components are read in whatever order they come.
    fn is_read_by_tag(&self, node: NodeId, fields: &[FieldId]) -> bool {
        if self.p.types.shape.node(node).kind == Kind::Set {
            return true;
        }
        let tags: Vec<u32> = fields.iter().map(|id| self.slot(*id).tag).collect();
        let mut sorted = tags.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let distinct = sorted.len() == tags.len() && !tags.contains(&UNTAGGED);
        let optional = fields.iter().filter(|id| self.p.is_option(**id)).count();
        distinct && fields.len() >= MANY && optional * 3 >= fields.len() * 2
    }

    /// What keeps or drops an element that is not known.
    fn unknown(&self, node: NodeId, member: &str) -> String {
        let place = self.place_function(node);
        match self.p.names.additions(node) {
            Some(_) => format!("{member}.read_ber(r, {place})?"),
            None => format!("ber::pass_unknown(r, {place})?"),
        }
    }

    /// The number of the first component behind the additions.
    pub(super) fn second_root(&self, node: NodeId) -> Option<usize> {
        let node = self.p.types.shape.node(node);
        (node.extensible && node.second_root < node.count).then_some(node.second_root as usize)
    }

    /// Components in their order, each with a look at the next tag where it may be absent.
    fn read_in_order(&mut self, node: NodeId, fields: &[FieldId]) {
        let shape = self.p.types.shape;
        let second = self.second_root(node);
        // Components that select a row of a table have a variable of their own, since others look at them.
        let keyed = fields.iter().any(|id| self.p.types.has_keys(node, *id));
        let mut members = Vec::new();
        for (i, &id) in fields.iter().enumerate() {
            if Some(i) == second {
                let tags: Vec<String> = fields[i..]
                    .iter()
                    .map(|id| self.condition(&self.slot(*id), shape.field(*id).node).is("tag"))
                    .collect();
                if self.p.names.additions(node).is_some() {
                    self.line("let mut unknown = UnknownAdditions::NONE;");
                }
                self.open(format!("while r.peek_tag()?.is_some_and(|tag| !({})) {{", tags.join(" || ")));
                let line = format!("{};", self.unknown(node, "unknown"));
                self.line(line);
                self.close("}");
            }
            let field = shape.field(id);
            let slot = self.slot(id);
            let keys = self.keys_of(node, field.node, "");
            let at = match self.is_placed(id) {
                true => At::Mandatory(shape.name(field.name), i, shape.node(node).extensible),
                false => self.p.at(id),
            };
            let value = self.read_held(Edge::Field(id), &slot, field.node, &keys, at);
            let next = self.next(&slot, field.node, &fields[i + 1..]);
            let name = self.p.names.field(id).to_owned();
            let value = if self.p.is_option(id) {
                format!("if {next} {{ Some({value}) }} else {{ None }}")
            } else if let Some(default) = self.p.default_value(id) {
                let checked = self.not_default(id);
                format!(
                    "if {next} {{ let s = r.position(); let v = {value}; {checked}; v }} else {{ {default} }}"
                )
            } else {
                value
            };
            if keyed || second.is_some() {
                self.line(format!("let {} = {value};", local(&name)));
                members.push(format!("{name}: {},", local(&name)));
            } else {
                members.push(format!("{name}: {value},"));
            }
        }
        if let Some(name) = self.p.names.additions(node) {
            let place = self.place_function(node);
            let rest = match second {
                Some(_) => "unknown".to_owned(),
                None => format!("UnknownAdditions::rest_ber(r, {place})?"),
            };
            members.push(format!("{name}: {rest},"));
        }
        self.value(&members);
    }

    /// That the next element begins a component, with others behind it.
    fn next(&self, slot: &Slot, node: NodeId, behind: &[FieldId]) -> String {
        let condition = self.condition(slot, node);
        if !self.takes_unknown(slot, node) {
            return condition.next();
        }
        let shape = self.p.types.shape;
        let others = behind.iter().map(|id| self.condition(&self.slot(*id), shape.field(*id).node).is("tag"));
        let others: Vec<String> = others.collect();
        if others.is_empty() {
            return "r.has_more()?".into();
        }
        format!("r.peek_tag()?.is_some_and(|tag| {} || !({}))", condition.is("tag"), others.join(" || "))
    }

    /// Whether a component has to be there and is known by its tag, so that another element may be there instead.
    fn is_placed(&self, id: FieldId) -> bool {
        let field = self.p.types.shape.field(id);
        let has_tag = !matches!(self.condition(&self.slot(id), field.node), Condition::Any);
        has_tag && !self.p.is_option(id) && self.p.default_value(id).is_none()
    }

    /// Whether components are found by their tags, for errors: those of a SEQUENCE that is read in order.
    fn has_place(&self, node: NodeId) -> bool {
        let shape = self.p.types.shape;
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        let has_tag =
            |id: &FieldId| !matches!(self.condition(&self.slot(*id), shape.field(*id).node), Condition::Any);
        !self.is_read_by_tag(node, &fields) && fields.iter().any(has_tag)
    }

    /// The function that does.
    fn place_function(&self, node: NodeId) -> &'static str {
        if self.has_place(node) { "Self::place" } else { "ber::no_place" }
    }

    /// Prints it.
    pub(super) fn place(&mut self, node: NodeId) {
        if !self.has_place(node) {
            return;
        }
        let shape = self.p.types.shape;
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        self.line("");
        self.open("fn place(tag: Tag, from: usize) -> Option<(usize, &'static str)> {");
        self.open("Some(match tag.bits() {");
        for (number, id) in fields.into_iter().enumerate() {
            let field = shape.field(id);
            let pattern = match self.condition(&self.slot(id), field.node) {
                Condition::Tag(tag) => format!("{} if from <= {number}", tag_pattern(tag)),
                Condition::Choice(name) => format!("_ if from <= {number} && {name}::takes(tag)"),
                Condition::Any => continue,
            };
            self.line(format!("{pattern} => ({number}, {:?}),", shape.name(field.name)));
        }
        self.line("_ => return None,");
        self.close("})");
        self.close("}");
    }

    fn value(&mut self, members: &[String]) {
        if members.is_empty() {
            return self.line("let value = Self {};");
        }
        self.open("let value = Self {");
        for member in members {
            self.line(member);
        }
        self.close("};");
    }

    /// The check that a component, `v`, is not its DEFAULT.
    fn not_default(&self, id: FieldId) -> String {
        let equal = self.p.is_default(id, "v").unwrap_or_else(|| "false".into());
        self.p.at(id).value(format!("ber::not_default({equal}, s, r)"))
    }

    /// The components of a SEQUENCE that have to be there, by their positions from 1 on.
    fn required(&self, fields: &[FieldId]) -> Vec<(u32, String)> {
        let is_required = |id: FieldId| !self.p.is_option(id) && self.p.default_value(id).is_none();
        let shape = self.p.types.shape;
        let name = |id: FieldId| shape.name(shape.field(id).name).to_owned();
        (1..)
            .zip(fields)
            .filter(|(_, id)| is_required(**id))
            .map(|(number, id)| (number, name(*id)))
            .collect()
    }

    /// Components in any order, or so many that may be absent that to ask for each would take long.
    fn read_by_tag(&mut self, node: NodeId, fields: &[FieldId], is_set: bool) {
        let shape = self.p.types.shape;
        // Without a component that has to be there the value is filled in place.
        let in_place = self.p.is_sparse(node);
        if !in_place {
            for &id in fields {
                let held = self.p.held(Edge::Field(id), shape.field(id).node, "'_");
                let local = local(self.p.names.field(id));
                self.line(format!("let mut {local}: Option<{held}> = None;"));
            }
            if self.p.names.additions(node).is_some() {
                self.line("let mut unknown = UnknownAdditions::NONE;");
            }
        }
        let place = |name: &str| if in_place { format!("value.{name}") } else { local(name) };
        let required = self.required(fields);
        let list = if required.is_empty() { "&[]" } else { "REQUIRED" };
        if !is_set && !required.is_empty() {
            let items: Vec<String> =
                required.iter().map(|(position, name)| format!("({position}, {name:?})")).collect();
            self.line(format!("const REQUIRED: ber::Required = &[{}];", items.join(", ")));
        }
        let extensible = shape.node(node).extensible;
        self.line("let mut last = 0_u32;");
        self.open("while let Some(tag) = r.peek_tag()? {");
        self.open("match tag.bits() {");
        // What takes unknown elements of a SET comes behind those that are known.
        let takes_unknown = |id: FieldId| is_set && self.takes_unknown(&self.slot(id), shape.field(id).node);
        let mut order: Vec<(usize, FieldId)> = fields.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, id)| takes_unknown(*id));
        for (i, id) in order {
            let field = shape.field(id);
            let slot = self.slot(id);
            let prefix = if in_place { "value." } else { "f_" };
            let keys = self.keys_of(node, field.node, prefix);
            let value = self.read_held(Edge::Field(id), &slot, field.node, &keys, self.p.at(id));
            let place = place(self.p.names.field(id));
            let order = if is_set {
                let tag = match self.condition(&slot, field.node) {
                    Condition::Choice(_) => {
                        let least = tag_text(self.least_tag(node, id));
                        format!("ber::set_key(tag, {least}, r)")
                    }
                    _ => "tag".to_owned(),
                };
                let name = shape.name(field.name);
                format!("ber::in_set({place}.is_some(), &mut last, {tag}, {name:?}, r)?;")
            } else {
                let (position, name) = (i as u32 + 1, shape.name(field.name));
                let least =
                    required.iter().map(|(number, _)| *number).filter(|number| *number < position).max();
                let least = least.unwrap_or(0);
                format!("ber::in_order(&mut last, ({position}, {name:?}), {least}, {list}, r)?;")
            };
            let condition = self.condition(&slot, field.node);
            let mut pattern = condition.pattern();
            // Later versions may add elements with universal tags of components that have passed.
            if is_set && self.takes_unknown(&slot, field.node) {
                pattern = format!("_ if {place}.is_none() || {}", condition.is("tag"));
            }
            if extensible && !is_set && matches!(condition, Condition::Tag(tag) if tag >> 30 == 0) {
                pattern += &format!(" if last <= {i}");
            }
            self.open(format!("{pattern} => {{"));
            self.line(order);
            if self.p.default_value(id).is_some() && !self.p.is_option(id) {
                self.line("let s = r.position();");
                self.line(format!("let v = {value};"));
                let checked = self.not_default(id);
                self.line(format!("{checked};"));
                self.line(format!("{place} = Some(v);"));
            } else {
                self.line(format!("{place} = Some({value});"));
            }
            self.close("}");
        }
        if extensible {
            let member = match self.p.names.additions(node) {
                Some(name) if in_place => format!("value.{name}"),
                _ => "unknown".into(),
            };
            let unknown = self.unknown(node, &member);
            let order = if is_set {
                "ber::in_set(false, &mut last, tag, \"\", r)?".to_owned()
            } else {
                let additions = self.second_root(node).unwrap_or(fields.len());
                format!("ber::in_additions(&mut last, {additions}, {list}, r)?")
            };
            self.line(format!("_ => {{ {order}; {unknown}; }}"));
        } else {
            self.line("_ => return Err(ber::unexpected(r)),");
        }
        self.close("}");
        self.close("}");
        if in_place {
            return;
        }
        let mut members = Vec::new();
        for &id in fields {
            let name = self.p.names.field(id).to_owned();
            let local = local(&name);
            if self.p.is_option(id) {
                members.push(format!("{name}: {local},"));
            } else if let Some(default) = self.p.default_value(id) {
                members.push(format!("{name}: match {local} {{ Some(v) => v, None => {default} }},"));
            } else {
                let missing = format!("{local}.ok_or_else(|| r.error(ErrorKind::MissingComponent))");
                members.push(format!("{name}: {},", self.p.at(id).value(missing)));
            }
        }
        members.extend(self.p.names.additions(node).map(|name| format!("{name}: unknown,")));
        self.value(&members);
    }

    pub(super) fn read_choice(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        self.line("let tag = ber::tag(r)?;");
        self.open("Ok(match tag.bits() {");
        // What takes any tag comes behind those that have one.
        let is_wild =
            |id: FieldId| matches!(self.condition(&self.slot(id), shape.field(id).node), Condition::Any);
        let (wild, tagged): (Vec<_>, Vec<_>) = shape.fields_of(node).partition(|(id, _)| is_wild(*id));
        for (id, field) in tagged.iter().chain(wild.first()) {
            let slot = self.slot(*id);
            let keys = self.keys_of(node, field.node, "");
            let value = self.read_held(Edge::Field(*id), &slot, field.node, &keys, self.p.at(*id));
            let pattern = self.condition(&slot, field.node).pattern();
            let variant = self.p.names.field(*id).to_owned();
            self.line(format!("{pattern} => Self::{variant}({value}),"));
        }
        if !wild.is_empty() {
            // Nothing is left.
        } else if shape.node(node).extensible {
            let line =
                format!("_ => Self::Unknown(Box::new(ber::unknown_alternative(r)?{})),", self.p.ended(node));
            self.line(line);
        } else {
            self.line("_ => return Err(ber::no_alternative(r)),");
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
            let value = self.read(&self.entry(row.node), row.node, &self.no_keys(row.node), At::Nothing);
            let value = self.p.boxed(Edge::Row(node, number), value);
            let variant = self.p.names.row(node, number).to_owned();
            let patterns = tuple(&patterns);
            self.line(if self.p.types.is_counted(node) {
                format!(
                    "{patterns} => {{ r.begin_value()?; let v = {value}; r.end_value(); Self::{variant}(v) }}"
                )
            } else {
                format!("{patterns} => Self::{variant}({value}),")
            });
        }
        if !keys.is_empty() {
            let line = format!("_ => Self::Other(ber::any(r)?{}),", self.p.ended(node));
            self.line(line);
        }
        self.close("})");
    }

    /// A list whose elements are read when they are asked for.
    pub(super) fn read_lazy_list(&self, node: NodeId, element: NodeId) -> String {
        let shape = self.p.types.shape;
        let slot = self.slot(FieldId(shape.node(node).first));
        let ordered = shape.node(node).kind == Kind::SetOf;
        let value = self.read(&slot, element, &self.no_keys(element), At::Nothing);
        let function = if self.p.types.is_checked(node) { "read_ber_checked" } else { "read_ber" };
        format!("SequenceOf::{function}(r, tag, {ordered}, {})", closure("r", &value))
    }

    pub(super) fn read_list(&self, node: NodeId, element: NodeId) -> String {
        let shape = self.p.types.shape;
        let slot = self.slot(FieldId(shape.node(node).first));
        let keys = self.p.key_arguments(element, &|_| None, self.p.types.keys(node));
        let value = self.read(&slot, element, &keys, At::Nothing);
        let function = if shape.node(node).kind == Kind::SetOf { "set_of" } else { "list" };
        format!("ber::{function}(r, tag, {})", closure("r", &value))
    }
}
