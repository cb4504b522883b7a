//! Writing, the last part first: contents, then the headers in front of them.

use super::{Ber, tag_text};
use crate::code::ber::{Choice, List, Member, Primitive, Sort, Struct, Unknown, Value};
use crate::code::{Presence, Table};
use crate::rust::imports::{BER, CONTAINED, STRING_KIND, TAG, TIME_TYPE};
use crate::rust::{At, deref, receiver};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    /// The lines that write the value that the expression `v` refers to, with all its tags.
    fn write(&mut self, value: &Value, v: &str, to: At<'_>) {
        for i in 0..value.around.len() {
            self.line(format!("let m{i} = w.open();"));
        }
        self.write_inner(value, v, to);
        for (i, tag) in value.around.iter().enumerate().rev() {
            self.line(format!("w.close({}, m{i});", tag_text(*tag)));
        }
    }

    fn write_inner(&mut self, value: &Value, v: &str, to: At<'_>) {
        let node = value.node;
        let v = &self.p.inside(node, v)[..];
        let tag = value.tag.map_or_else(|| format!("{TAG}::NULL"), tag_text);
        if let Some(line) = self.p.write_slice(node, &value.primitive, &tag, v) {
            return self.line(to.line(line));
        }
        let (at, of) = (deref(v), receiver(v));
        let line = match &value.primitive {
            Primitive::Boolean => format!("w.boolean({tag}, {at});"),
            Primitive::Null => format!("w.null({tag});"),
            Primitive::Integer { signed: false, bits: 64 } => format!("w.unsigned({tag}, {at});"),
            Primitive::Integer { .. } => format!("w.integer({tag}, i64::from({at}));"),
            Primitive::BigInteger => format!("w.big_integer({tag}, {of}.as_octets());"),
            Primitive::Real => format!("{BER}::write_real(w, {tag}, {v});"),
            Primitive::Float => format!("w.float({tag}, {at});"),
            Primitive::FixedBits(_, true) => format!("{BER}::write_fixed_named_bits(w, {tag}, {at});"),
            Primitive::FixedBits(_, false) => format!("{BER}::write_fixed_bits(w, {tag}, {at});"),
            Primitive::NamedBits(..) => format!("{BER}::write_named_bits(w, {tag}, {v});"),
            Primitive::BitString => format!("w.bit_string({tag}, {of}.as_bits());"),
            Primitive::FixedOctets(octets) => format!("w.fixed_octets::<{octets}>({tag}, {v});"),
            Primitive::OctetString => format!("w.octets({tag}, {v});"),
            Primitive::ObjectIdentifier | Primitive::RelativeOid => {
                format!("w.raw({tag}, {of}.as_bytes());")
            }
            Primitive::Any => format!("{BER}::write_any(w, {v})?;"),
            Primitive::UtcTime => format!("{BER}::write_utc_time(w, {tag}, {v})?;"),
            Primitive::GeneralizedTime => format!("{BER}::write_generalized_time(w, {tag}, {v})?;"),
            Primitive::Time(time) => format!("{BER}::write_time(w, {tag}, {TIME_TYPE}::{time:?}, {v})?;"),
            Primitive::Text(kind) => format!("{BER}::write_text(w, {tag}, {STRING_KIND}::{kind:?}, {v})?;"),
            Primitive::Enumerated => format!("w.integer({tag}, {of}.number());"),
            Primitive::Untagged => format!("{of}.write_ber(w)?;"),
            Primitive::Struct => {
                self.line("let m = w.open();");
                self.line(to.line(format!("{of}.write_ber(w)?;")));
                format!("w.close({tag}, m);")
            }
            Primitive::List => {
                self.line("let m = w.open();");
                let line = format!("write_ber_{}({v}, w)?;", self.p.list_function(node));
                self.line(to.line(line));
                format!("w.close({tag}, m);")
            }
            Primitive::Contained(bits, inside) => {
                return self.write_contained(node, *bits, inside, &tag, v, to);
            }
        };
        self.line(to.line(line));
    }

    fn write_contained(
        &mut self,
        node: NodeId,
        is_bits: bool,
        inside: &Value,
        tag: &str,
        v: &str,
        to: At<'_>,
    ) {
        let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
        let counted = self.p.types.is_counted(node);
        self.open(format!("match {v} {{"));
        self.open(format!("{CONTAINED}::Value(v) => {{"));
        self.line("let end = w.mark();");
        self.begin_value(counted);
        self.write(inside, content, to);
        self.end_value(counted);
        if is_bits {
            self.line("w.push_octet(0);");
        }
        self.line(format!("w.primitive({tag}, end);"));
        self.close("}");
        self.line(if is_bits {
            format!("other => w.bit_string({tag}, other.bits()),")
        } else {
            format!("other => w.octet_string({tag}, other.octets()),")
        });
        self.close("}");
    }

    pub(super) fn write_root(&mut self, value: &Value, v: &str) {
        self.write(value, v, At::Nothing);
    }

    pub(super) fn write_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        self.begin_value(code.counted);
        let name = self.p.names.additions(node).unwrap_or_default().to_owned();
        let unknown = format!("self.{name}.write_ber(w)?;");
        let sort = sorted(code.sort, &name);
        // Behind the additions that are known, in front of a second root.
        let behind = match code.second_root {
            Some(second) if !code.set => second,
            _ => code.members.len(),
        };
        let behind = (code.unknown == Unknown::Keep).then_some(behind);
        if sort.is_some() {
            self.line("let set = w.mark();");
        }
        if behind == Some(code.members.len()) {
            self.line(&unknown);
        }
        for (at, number) in code.written.iter().enumerate().rev() {
            self.write_component(&code.members[*number]);
            if behind == Some(at) {
                self.line(&unknown);
            }
        }
        if let Some(condition) = sort {
            self.open(format!("if {condition} {{"));
            self.line("w.sort_set(set)?;");
            self.close("}");
        }
        self.end_value(code.counted);
        self.line("Ok(())");
    }

    fn write_component(&mut self, member: &Member<'_>) {
        let id = member.field;
        let name = self.p.names.field(id).to_owned();
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        let to = At::Component(member.name);
        if member.presence == Presence::Optional {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(&member.value, if boxed { "&**v" } else { "v" }, to);
            return self.close("}");
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        match self.p.is_default(id, &format!("self.{name}")) {
            Some(equal) => {
                self.open(format!("if !({equal}) {{"));
                self.write(&member.value, &place, to);
                self.close("}");
            }
            None => self.write(&member.value, &place, to),
        }
    }

    pub(super) fn write_choice(&mut self, code: &Choice<'_>) {
        self.begin_value(code.counted);
        self.open("match self {");
        for member in &code.alternatives {
            let variant = self.p.names.field(member.field).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Field(member.field)) { "&**v" } else { "v" };
            self.write(&member.value, v, At::Component(member.name));
            self.close("}");
        }
        if code.extensible {
            let octets = if self.p.types.choices.arena { "v" } else { "&v.octets" };
            self.line(format!("Self::Unknown(v) => {BER}::write_any(w, {octets})?,"));
        }
        self.close("}");
        self.end_value(code.counted);
        self.line("Ok(())");
    }

    pub(super) fn write_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        self.open("match self {");
        for row in &code.rows {
            let variant = self.p.names.row(node, row.number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Row(node, row.number)) { "&**v" } else { "v" };
            self.begin_value(code.counted);
            self.write(&row.value, v, At::Nothing);
            self.end_value(code.counted);
            self.close("}");
        }
        self.line(format!("Self::Other(v) => {BER}::write_any(w, v)?,"));
        self.close("}");
        self.line("Ok(())");
    }

    pub(super) fn write_list(&mut self, code: &List) {
        self.begin_value(code.counted);
        if code.set {
            self.line("let set = w.mark();");
        }
        self.line("let mut left = list.iter();");
        self.open("while let Some(v) = left.next_back() {");
        self.write(&code.element, "v", At::Element);
        self.close("}");
        if code.set {
            self.open(format!("if list.len() > 1 && w.rules() != {BER}::Rules::Ber {{"));
            self.line("w.sort_set_of(set)?;");
            self.close("}");
        }
        self.end_value(code.counted);
        self.line("Ok(())");
    }

    /// See `Types::is_counted` and `ber::Writer::begin_value`.
    fn begin_value(&mut self, counted: bool) {
        if counted {
            self.line("w.begin_value()?;");
        }
    }

    fn end_value(&mut self, counted: bool) {
        if counted {
            self.line("w.end_value();");
        }
    }
}

/// The condition of sorting the elements of a SET, those of later versions in a member with this name.
fn sorted(sort: Sort, unknown: &str) -> Option<String> {
    let canonical = format!("w.rules() != {BER}::Rules::Ber");
    let der = format!("w.rules() == {BER}::Rules::Der");
    Some(match sort {
        Sort::Never => return None,
        Sort::Canonical => canonical,
        Sort::Der => der,
        Sort::Unknown => format!("!self.{unknown}.is_empty() && {canonical}"),
        Sort::DerOrUnknown => format!("{der} || !self.{unknown}.is_empty() && {canonical}"),
    })
}
