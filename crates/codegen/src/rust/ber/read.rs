//! Reading: an element's header is at hand, its tag compared.

use super::{Ber, tag_text};
use crate::code::Table;
use crate::code::ber::{Choice, End, List, Member, Order, Otherwise, Primitive, Struct, Unknown, Value};
use crate::rust::imports::{BER, BOX, KEY, RESULT, SEQUENCE_OF, STRING_KIND, TAG, TIME_TYPE};
use crate::rust::per::{closure, ok};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::{FieldId, NodeId};

/// Where the components are that have been read, for the keys of those behind them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// In variables of their types.
    Values,
    /// In variables of options.
    Options,
    /// In the options of `value`.
    Place,
}

impl Ber<'_, '_> {
    /// The expression that reads a value with all its tags.
    pub(super) fn read(&self, value: &Value, held: Held, at: At<'_>) -> String {
        self.read_as(value, held, at, "read_ber")
    }

    /// The same with the function of a struct that is called.
    fn read_as(&self, value: &Value, held: Held, at: At<'_>, function: &str) -> String {
        self.around(value, at, |at| self.p.own(value.node, at.value(self.read_call(value, held, function))))
    }

    /// An expression between what enters and leaves the tags around a value; `inside` makes it.
    pub(super) fn around(&self, value: &Value, at: At<'_>, inside: impl FnOnce(At<'_>) -> String) -> String {
        if value.around.is_empty() {
            return inside(at);
        }
        let (first, at) = (at, at.behind());
        let inside = inside(at);
        let mut out = String::from("{ ");
        for (i, tag) in value.around.iter().enumerate() {
            let at = if i == 0 { first } else { at };
            out += &format!("let f{i} = {}; ", at.value(format!("{BER}::enter(r, {})", tag_text(*tag))));
        }
        out += &format!("let v = {inside}; ");
        for i in (0..value.around.len()).rev() {
            out += &format!("{}; ", at.value(format!("r.leave(f{i})")));
        }
        out + "v }"
    }

    /// The call that reads a value with the innermost tag.
    fn read_call(&self, value: &Value, held: Held, function: &str) -> String {
        let node = value.node;
        let tag = value.tag.map_or_else(|| format!("{TAG}::NULL"), tag_text);
        if let Some((function, more)) = self.function(value) {
            return format!("{BER}::{function}(r, {tag}{more})");
        }
        let slice = if self.p.types.keeps_slices(node) { "_slice" } else { "" };
        let name = || self.p.names.ty(node);
        match &value.primitive {
            Primitive::Any => format!("{BER}::any{slice}(r)"),
            Primitive::Contained(bits, inside) => {
                let inside = self.read(inside, held, At::Nothing);
                let inside = self.p.boxed_or_in_arena(Edge::Content(node), inside);
                format!("{BER}::contained(r, {tag}, {bits}, {})", closure("r", &inside))
            }
            Primitive::Struct => {
                format!("{}::{function}(r, {tag}{})", name(), self.keys(value, held))
            }
            Primitive::List => {
                format!("read_ber_{}(r, {tag}{})", self.p.list_function(node), self.keys(value, held))
            }
            // What is untagged, as all others have a function.
            _ => format!("{}::read_ber(r{})", name(), self.keys(value, held)),
        }
    }

    /// The function of the runtime that reads an element with such contents, and its arguments behind the tag.
    pub(super) fn function(&self, value: &Value) -> Option<(String, String)> {
        let plain = |function: &str| (function.to_owned(), String::new());
        let slice = if self.p.types.is_slice(value.node) { "_slice" } else { "" };
        let kept = |function: &str| plain(&format!("{function}{slice}"));
        Some(match &value.primitive {
            Primitive::Boolean => plain("boolean"),
            Primitive::Null => plain("null"),
            Primitive::Integer { signed: true, bits: 64 } => plain("integer"),
            Primitive::Integer { signed: false, bits: 64 } => plain("unsigned"),
            Primitive::Integer { signed, bits } => {
                plain(&format!("narrow::<{}{bits}>", if *signed { "i" } else { "u" }))
            }
            Primitive::BigInteger => kept("big_integer"),
            Primitive::Real => plain("real"),
            Primitive::Float => plain("float"),
            Primitive::FixedBits(bits, true) => plain(&format!("fixed_named_bits::<{bits}>")),
            Primitive::FixedBits(bits, false) => plain(&format!("fixed_bits::<{bits}>")),
            Primitive::NamedBits(least, usize::MAX) => {
                (format!("named_bits{slice}"), format!(", {least}, usize::MAX"))
            }
            Primitive::NamedBits(least, most) => (format!("named_bits{slice}"), format!(", {least}, {most}")),
            Primitive::BitString => kept("bits"),
            Primitive::FixedOctets(octets) => plain(&format!("fixed_octets::<{octets}>")),
            Primitive::OctetString => kept("octets"),
            Primitive::ObjectIdentifier => kept("oid"),
            Primitive::RelativeOid => kept("relative_oid"),
            Primitive::UtcTime => kept("utc_time"),
            Primitive::GeneralizedTime => kept("generalized_time"),
            Primitive::Time(time) => (format!("time{slice}"), format!(", {TIME_TYPE}::{time:?}")),
            Primitive::Text(kind) => (format!("text{slice}"), format!(", {STRING_KIND}::{kind:?}")),
            Primitive::Enumerated => {
                ("enumerated".into(), format!(", {}::from_number", self.p.names.ty(value.node)))
            }
            Primitive::Any
            | Primitive::Contained(..)
            | Primitive::Struct
            | Primitive::Untagged
            | Primitive::List => {
                return None;
            }
        })
    }

    /// The expression that reads contents, `c`, which stand in one piece; nothing where the runtime has no such function, or
    /// there are tags around the value's own.
    pub(super) fn read_contents(&self, value: &Value) -> Option<String> {
        let has_function = match value.primitive {
            Primitive::Boolean
            | Primitive::Null
            | Primitive::Integer { .. }
            | Primitive::BigInteger
            | Primitive::BitString
            | Primitive::FixedOctets(_)
            | Primitive::OctetString
            | Primitive::ObjectIdentifier
            | Primitive::Text(_)
            | Primitive::UtcTime
            | Primitive::GeneralizedTime
            | Primitive::Enumerated => value.around.is_empty(),
            _ => false,
        };
        let (function, more) = self.function(value).filter(|_| has_function)?;
        Some(format!("{BER}::contents::{function}(c{more})"))
    }

    /// The arguments for the keys of a value, each behind a comma.
    pub(super) fn keys(&self, value: &Value, held: Held) -> String {
        match held {
            Held::Values => self.p.local_keys(&value.keys),
            Held::Options | Held::Place => {
                self.p.keys(&value.keys, |field, way| self.option_key(field, way, held))
            }
        }
    }

    /// A component in an option as a key, or what is in it on a way.
    fn option_key(&self, field: FieldId, way: &[FieldId], held: Held) -> Option<String> {
        let name = self.p.names.field(field);
        let place = if held == Held::Place { format!("value.{name}") } else { local(name) };
        let value = if way.is_empty() {
            let is_boxed = self.p.types.is_boxed(Edge::Field(field));
            self.p.as_key(self.p.types.shape.field(field).node, if is_boxed { "(&**v)" } else { "v" })?
        } else {
            self.p.inner_key(way, "v")?
        };
        Some(format!("match &{place} {{ Some(v) => {value}, None => {KEY}::None }}"))
    }

    /// What reads a component, alternative or row, in a box if it is so.
    pub(super) fn read_held(&self, edge: Edge, value: &Value, held: Held, at: At<'_>) -> String {
        if self.p.types.is_boxed(edge) && self.filled.contains_key(&value.node) {
            return self.read_as(value, held, at, "read_ber_boxed");
        }
        self.p.boxed_or_in_arena(edge, self.read(value, held, at))
    }

    pub(super) fn read_root(&mut self, value: &Value, wraps: bool) {
        let value = self.read(value, Held::Values, At::Nothing);
        self.line(if wraps { format!("Ok(Self({value}))") } else { ok(&value) });
    }

    /// The keys that the codec of a type has been given, as arguments for another function, each behind a comma.
    pub(super) fn passed_keys(&self, node: NodeId) -> String {
        self.p.types.keys(node).iter().map(|key| format!(", k{key}")).collect()
    }

    pub(super) fn read_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        if code.counted {
            self.line("r.begin_value()?;");
        }
        self.line(format!("let level = {BER}::enter(r, tag)?;"));
        match &code.order {
            Order::InOrder if self.filled.contains_key(&node) => self.fill_in_order(node, code),
            Order::InOrder => self.read_in_order(node, code),
            Order::ByTag(attempts) => self.read_by_tag(node, code, attempts),
        }
        let place = place_function(code);
        self.line(match code.end {
            End::Read => "r.leave(level)?;".to_owned(),
            End::Skip => format!("{BER}::leave_extensible(r, level, {place})?;"),
            End::Nothing => format!("{BER}::leave(r, level, {place})?;"),
        });
        if code.counted {
            self.line("r.end_value();");
        }
        self.line(if self.filled.contains_key(&node) { "Ok(())" } else { "Ok(value)" });
    }

    /// The expression that keeps or drops an element that is not known.
    pub(super) fn unknown(code: &Struct<'_>, member: &str) -> String {
        let place = place_function(code);
        match code.unknown {
            Unknown::Keep => format!("{member}.read_ber(r, {place})?"),
            Unknown::Skip | Unknown::Refuse => format!("{BER}::pass_unknown(r, {place})?"),
        }
    }

    /// The value of a struct of its members.
    pub(super) fn value(&mut self, members: &[String]) {
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
    pub(super) fn not_default(&self, member: &Member<'_>) -> String {
        let equal = self.p.is_default(member.field, "v").unwrap_or_else(|| "false".into());
        At::Component(member.name).value(format!("{BER}::not_default({equal}, s, r)"))
    }

    pub(super) fn read_choice(&mut self, node: NodeId, code: &Choice<'_>) {
        self.line(format!("let tag = {BER}::tag(r)?;"));
        self.open("Ok(match tag.bits() {");
        for member in code.attempts.iter().map(|number| &code.alternatives[*number]) {
            let edge = Edge::Field(member.field);
            let value = self.read_held(edge, &member.value, Held::Values, At::Component(member.name));
            let pattern = self.pattern(member.begins);
            let line = format!("{pattern} => Self::{}({value}),", self.p.names.field(member.field));
            self.line(line);
        }
        match code.otherwise {
            Otherwise::Impossible => {}
            Otherwise::Keep => {
                let end = self.p.ended(node);
                self.line(if self.p.types.choices.arena {
                    format!("_ => Self::Unknown({BER}::any_slice(r)?),")
                } else {
                    format!("_ => Self::Unknown({BOX}::new({BER}::unknown_alternative(r)?{end})),")
                });
            }
            Otherwise::Refuse => self.line(format!("_ => return Err({BER}::no_alternative(r)),")),
        }
        self.close("})");
    }

    /// The function that tells which tags begin a value of an untagged CHOICE.
    pub(super) fn takes(&mut self, code: &Choice<'_>) {
        let mut conditions: Vec<String> =
            code.alternatives.iter().map(|alternative| self.is(alternative.begins)).collect();
        if conditions.is_empty() {
            conditions.push("false".into());
        }
        self.line("");
        self.open(format!("fn takes(tag: {TAG}) -> bool {{"));
        self.line(conditions.join(" || "));
        self.close("}");
    }

    pub(super) fn read_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let keys: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        self.open(format!("Ok(match {} {{", tuple(&keys)));
        for row in &code.rows {
            let Some(known) = row.keys else { continue };
            let patterns: Vec<String> = known.iter().filter_map(key_pattern).collect();
            let value = self.read(&row.value, Held::Values, At::Nothing);
            let value = self.p.boxed_or_in_arena(Edge::Row(node, row.number), value);
            let variant = self.p.names.row(node, row.number).to_owned();
            let patterns = tuple(&patterns);
            self.line(if code.counted {
                format!(
                    "{patterns} => {{ r.begin_value()?; let v = {value}; r.end_value(); Self::{variant}(v) }}"
                )
            } else {
                format!("{patterns} => Self::{variant}({value}),")
            });
        }
        if !keys.is_empty() {
            let slice = if self.p.types.keeps_slices(node) { "_slice" } else { "" };
            let line = format!("_ => Self::Other({BER}::any{slice}(r)?{}),", self.p.ended(node));
            self.line(line);
        }
        self.close("})");
    }

    pub(super) fn list(&mut self, node: NodeId, code: &List) {
        let lifetime = self.p.lifetime(node, "'a");
        let generic = if lifetime.is_empty() { "<'_>" } else { "<'a>" };
        let fn_generic = if lifetime.is_empty() { "" } else { "<'a>" };
        let keys = self.p.key_parameters(node);
        let function = self.p.list_function(node);
        let element = self.p.types.element(node);
        let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
        self.line("");
        self.open(format!(
            "fn read_ber_{function}{fn_generic}(r: &mut {BER}::Reader{generic}, tag: {TAG}{keys}) -> {RESULT}<{ty}> {{"
        ));
        let read = closure("r", &self.read(&code.element, Held::Values, At::Nothing));
        let list = if self.p.types.is_lazy(node) {
            // The elements are read when they are asked for.
            let checked = if self.p.types.is_checked(node) { "_checked" } else { "" };
            format!("{SEQUENCE_OF}::read_ber{checked}(r, tag, {}, {read})", code.set)
        } else if let Some(list) = self.filled_list(code).filter(|_| !self.p.types.is_inline(node)) {
            list
        } else {
            let place = if self.p.types.is_list_in_arena(node) {
                "arena_"
            } else if self.p.types.is_inline(node) {
                "inline_"
            } else {
                ""
            };
            format!("{BER}::{place}{}(r, tag, {read})", if code.set { "set_of" } else { "list" })
        };
        if code.counted {
            self.line("r.begin_value()?;");
            self.line(format!("let list = {list}?;"));
            self.line("r.end_value();");
            self.line("Ok(list)");
        } else {
            self.line(list);
        }
        self.close("}");
        let ty = self.p.ty(element, "'_");
        if self.p.types.is_lazy(node) {
            self.open(format!(
                "fn write_ber_{function}(list: &{SEQUENCE_OF}<'_, {ty}>, w: &mut {BER}::Writer) -> {RESULT}<()> {{"
            ));
            self.open("list.write_ber(w, |list, w| {");
            self.write_list(code);
            self.close("})");
        } else {
            self.open(format!(
                "fn write_ber_{function}(list: &[{ty}], w: &mut {BER}::Writer) -> {RESULT}<()> {{"
            ));
            self.write_list(code);
        }
        self.close("}");
    }
}

/// The function that finds a component by a tag, for errors.
pub(super) fn place_function(code: &Struct<'_>) -> String {
    if code.places { "Self::place".into() } else { format!("{BER}::no_place") }
}
