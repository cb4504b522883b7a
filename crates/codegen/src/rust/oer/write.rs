//! Writing, the last part first.

use super::read::width;
use super::{Oer, sized, tag_text};
use crate::code::oer::{Choice, Member, Members, Primitive, Struct, Tag, Value};
use crate::code::sequence::Addition;
use crate::code::{Presence, Table};
use crate::rust::imports::{
    ERROR, ERROR_KIND, INTEGER, RESULT, STRING_KIND, TAG, TIME_TYPE, UNKNOWN_ADDITIONS,
};
use crate::rust::{At, deref, missing, receiver, unsupported};
use crate::types::Edge;
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Real, Size};

impl Oer<'_, '_> {
    /// The lines that write the value that the expression `v` refers to.
    pub(super) fn write(&mut self, value: &Value, v: &str, to: At<'_>) {
        let node = value.node;
        let v = &self.p.inside(node, v)[..];
        let (at, of) = (deref(v), receiver(v));
        let line = match &value.primitive {
            Primitive::Boolean => format!("w.boolean({at});"),
            Primitive::Null => return,
            Primitive::Integer(integer) => match integer.form {
                Integer::Unsigned(octets) => format!("w.unsigned({at}, {octets})?;"),
                Integer::Signed(octets) => format!("w.signed({at}, {octets})?;"),
                Integer::UnsignedVariable => format!("w.variable(&{INTEGER}::from({at}), false)?;"),
                Integer::SignedVariable => format!("w.variable(&{INTEGER}::from({at}), true)?;"),
            },
            Primitive::BigInteger(form) => match form {
                Integer::Unsigned(octets) => {
                    format!("w.unsigned(i128::try_from({v}).unwrap_or(-1), {octets})?;")
                }
                Integer::Signed(octets) => {
                    format!("w.signed(i128::try_from({v}).unwrap_or(i128::MAX), {octets})?;")
                }
                Integer::UnsignedVariable => format!("w.variable({v}, false)?;"),
                Integer::SignedVariable => format!("w.variable({v}, true)?;"),
            },
            Primitive::Real(Real::Contents) => format!("w.real({v});"),
            Primitive::Real(form) => format!("w.real{}({v})?;", width(*form)),
            Primitive::Float(Real::Binary32) => format!("w.float32({at})?;"),
            Primitive::Float(form) => format!("w.float{}({at});", width(*form)),
            Primitive::FixedBits(_, size) => format!("w.fixed_bits({}, {at})?;", sized(*size)),
            Primitive::BitString(size) => format!("w.bit_string({}, {v}, None)?;", sized(*size)),
            Primitive::NamedBits(size, least, _) => {
                format!("w.bit_string({}, {v}, Some({least}))?;", sized(*size))
            }
            Primitive::FixedOctets(_, size) | Primitive::OctetString(size) => {
                format!("w.octet_string({}, {v})?;", sized(*size))
            }
            Primitive::ObjectIdentifier | Primitive::RelativeOid => format!("w.any({of}.as_bytes());"),
            Primitive::Any => format!("w.any({v});"),
            Primitive::UtcTime(size) => format!("w.utc_time({}, {v})?;", sized(*size)),
            Primitive::GeneralizedTime(size) => format!("w.generalized_time({}, {v})?;", sized(*size)),
            Primitive::Text(kind, size) => {
                format!("w.text({}, {STRING_KIND}::{kind:?}, {v})?;", sized(*size))
            }
            Primitive::Time(kind, size) => format!("w.time({}, {TIME_TYPE}::{kind:?}, {v})?;", sized(*size)),
            Primitive::Point(kind, form) => {
                format!("w.point({TIME_TYPE}::{kind:?}, OER_TIME_{form}, {v})?;")
            }
            Primitive::Duration(kind) => format!("w.duration({TIME_TYPE}::{kind:?}, {v})?;"),
            Primitive::Contained(is_bits, size, inside) => {
                self.write_contained(node, *is_bits, *size, inside, v);
                "written?;".into()
            }
            Primitive::Enumerated => format!("w.enumerated({of}.number());"),
            Primitive::Declared => format!("{of}.write_oer(w)?;"),
            Primitive::List => format!("write_oer_{}({v}, w)?;", self.p.list_function(node)),
            Primitive::Unsupported => unsupported(),
        };
        self.line(to.line(line));
    }

    fn write_contained(&mut self, node: NodeId, is_bits: bool, size: Size, inside: &Value, v: &str) {
        self.open(format!("let written = w.contained({}, {is_bits}, {v}, |v, w| {{", sized(size)));
        let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
        self.write(inside, content, At::Nothing);
        self.line("Ok(())");
        self.close("});");
    }

    fn write_member(&mut self, member: &Member<'_>) {
        let name = self.p.names.field(member.field).to_owned();
        let boxed = self.p.types.is_boxed(Edge::Field(member.field));
        let to = At::Component(member.name);
        if member.presence == Presence::Optional {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(&member.value, if boxed { "&**v" } else { "v" }, to);
            if !member.optional {
                self.p.text.otherwise();
                self.line(to.line(missing()));
            }
            return self.close("}");
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        if !member.optional {
            return self.write(&member.value, &place, to);
        }
        let there = self.p.there(member);
        self.open(format!("if {there} {{"));
        self.write(&member.value, &place, to);
        self.close("}");
    }

    /// Components, the last first, and the bits in front of them.
    fn write_members(&mut self, code: &Members<'_>, extended: Option<&str>) {
        for member in code.members.iter().rev() {
            self.write_member(member);
        }
        let optional = code.members.iter().filter(|member| member.optional);
        let bits = optional.map(|member| self.p.there(member));
        let bits: Vec<String> = extended.map(str::to_owned).into_iter().chain(bits).collect();
        if !bits.is_empty() {
            self.line(format!("w.preamble(&[{}]);", bits.join(", ")));
        }
    }

    pub(super) fn write_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        if !code.extensible {
            return self.write_members(&code.root, None);
        }
        if code.additions.is_empty() && !code.keeps {
            return self.write_members(&code.root, Some("false"));
        }
        let unknown = self.p.names.additions(node).map(|name| format!("self.{name}"));
        let there = |addition: &Addition<'_, Value>| {
            let members: Vec<String> = addition.members().iter().map(|member| self.p.there(member)).collect();
            if members.is_empty() { "false".into() } else { members.join(" || ") }
        };
        let there: Vec<String> = code.additions.iter().map(there).collect();
        self.line(format!("let additions: [bool; {}] = [{}];", there.len(), there.join(", ")));
        let more = unknown.as_ref().map_or(String::new(), |unknown| format!(" || !{unknown}.is_empty()"));
        self.line(format!("let extended = additions.contains(&true){more};"));
        self.open("if extended {");
        if let Some(unknown) = &unknown {
            self.line(format!("w.unknown_additions(&{unknown})?;"));
        }
        for (number, addition) in code.additions.iter().enumerate().rev() {
            self.open(format!("if additions[{number}] {{"));
            self.line("let end = w.mark();");
            match addition {
                Addition::Single(member) => self.write_member(member),
                Addition::Group(group) => self.write_members(group, None),
            }
            self.line("w.close(end);");
            self.close("}");
        }
        let unknown = unknown.unwrap_or_else(|| format!("{UNKNOWN_ADDITIONS}::NONE"));
        self.line(format!("w.bitmap(&additions, &{unknown})?;"));
        self.close("}");
        self.write_members(&code.root, Some("extended"));
    }

    pub(super) fn write_choice(&mut self, code: &Choice<'_>) {
        self.open("match self {");
        for alternative in &code.alternatives {
            let member = &alternative.member;
            let variant = self.p.names.field(member.field).to_owned();
            let v = if self.p.types.is_boxed(Edge::Field(member.field)) { "&**v" } else { "v" };
            self.open(format!("Self::{variant}(v) => {{"));
            if alternative.addition {
                self.line("let end = w.mark();");
            }
            self.write(&member.value, v, At::Component(member.name));
            if alternative.addition {
                self.line("w.close(end);");
            }
            match alternative.tag {
                Tag::Own(tag) => self.line(format!("w.tag({});", tag_text(tag))),
                // An addition has the tag twice: before its length and as the value of the CHOICE inside.
                tag if alternative.addition => self.line(format!("w.tag({});", first_tag(tag))),
                _ => {}
            }
            self.close("}");
        }
        if code.extensible {
            self.line("Self::Unknown(v) => w.unknown_alternative(&v.octets)?,");
        }
        self.close("}");
    }

    /// The function that returns the tag that a value begins with.
    pub(super) fn tag_of(&mut self, code: &Choice<'_>) {
        self.line("");
        self.open(format!("fn oer_tag(&self) -> {RESULT}<{TAG}> {{"));
        self.open("Ok(match self {");
        for alternative in &code.alternatives {
            let variant = self.p.names.field(alternative.member.field).to_owned();
            let v = if matches!(alternative.tag, Tag::Own(_)) { "_" } else { "v" };
            self.line(format!("Self::{variant}({v}) => {},", first_tag(alternative.tag)));
        }
        if code.extensible {
            self.line(format!("Self::Unknown(_) => return Err({ERROR}::new({ERROR_KIND}::Unsupported, 0)),"));
        }
        self.close("})");
        self.close("}");
    }

    pub(super) fn write_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        self.open("match self {");
        for row in &code.rows {
            let variant = self.p.names.row(node, row.number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            self.line("let end = w.mark();");
            let v = if self.p.types.is_boxed(Edge::Row(node, row.number)) { "&**v" } else { "v" };
            if code.counted {
                self.line("w.begin_value()?;");
            }
            self.write(&row.value, v, At::Nothing);
            self.line("w.close(end);");
            if code.counted {
                self.line("w.end_value();");
            }
            self.close("}");
        }
        self.line("Self::Other(v) => w.any(v),");
        self.close("}");
    }
}

/// The expression of the tag that the value `v` of an alternative begins with.
fn first_tag(tag: Tag) -> String {
    match tag {
        Tag::Own(tag) => tag_text(tag),
        Tag::Inside => "v.oer_tag()?".into(),
        Tag::Unknown => format!("return Err({ERROR}::new({ERROR_KIND}::Unsupported, 0))"),
    }
}
