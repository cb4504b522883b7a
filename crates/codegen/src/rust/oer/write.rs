//! Writing, the last part first.

use super::read::width;
use super::{Oer, sized, tag_text};
use crate::rust::{At, MISSING, UNSUPPORTED, deref, receiver};
use crate::types::{Edge, Repr};
use tercet_plan::oer::{Addition, Code, Integer, Member, Real, UNTAGGED};
use tercet_plan::{FieldId, Kind, NodeId};

impl Oer<'_, '_> {
    /// The lines that write the value that the expression `v` refers to.
    pub(super) fn write(&mut self, node: NodeId, v: &str, to: At<'_>) {
        let node = self.p.types.same(node);
        let v = &self.p.inside(node, v)[..];
        let kind = self.p.types.shape.node(node).kind;
        let (at, of) = (deref(v), receiver(v));
        let line = match (self.p.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => format!("w.boolean({at});"),
            (Repr::Null, _) => return,
            (Repr::Integer { .. }, Code::Integer(form)) => match form {
                Integer::Unsigned(octets) => format!("w.unsigned({at}, {octets})?;"),
                Integer::Signed(octets) => format!("w.signed({at}, {octets})?;"),
                Integer::UnsignedVariable => format!("w.variable(&Integer::from({at}), false)?;"),
                Integer::SignedVariable => format!("w.variable(&Integer::from({at}), true)?;"),
            },
            (Repr::Big, Code::Integer(form)) => match form {
                Integer::Unsigned(octets) => {
                    format!("w.unsigned(i128::try_from({v}).unwrap_or(-1), {octets})?;")
                }
                Integer::Signed(octets) => {
                    format!("w.signed(i128::try_from({v}).unwrap_or(i128::MAX), {octets})?;")
                }
                Integer::UnsignedVariable => format!("w.variable({v}, false)?;"),
                Integer::SignedVariable => format!("w.variable({v}, true)?;"),
            },
            (Repr::Real, Code::Real(Real::Contents)) => format!("w.real({v});"),
            (Repr::Real, Code::Real(form)) => format!("w.real{}({v})?;", width(form)),
            (Repr::Float, Code::Real(Real::Binary32)) => format!("w.float32({at})?;"),
            (Repr::Float, Code::Real(form)) => format!("w.float{}({at});", width(form)),
            (Repr::FixedBits(_), Code::BitString(size, _)) => {
                format!("w.fixed_bits({}, {at})?;", sized(size))
            }
            (Repr::Bits, Code::BitString(size, named)) => {
                let least = self.p.types.shape.least_size(node);
                let named = if named { format!("Some({least})") } else { "None".into() };
                format!("w.bit_string({}, {v}, {named})?;", sized(size))
            }
            (Repr::FixedOctets(_) | Repr::Octets, Code::OctetString(size)) => {
                format!("w.octet_string({}, {v})?;", sized(size))
            }
            (Repr::Oid | Repr::RelativeOid, _) => format!("w.any({of}.as_bytes());"),
            (Repr::Any, _) => format!("w.any({v});"),
            (Repr::Text, Code::Contents(size)) => match (kind, kind.string_kind()) {
                (Kind::UtcTime, _) => format!("w.utc_time({}, {v})?;", sized(size)),
                (Kind::GeneralizedTime, _) => format!("w.generalized_time({}, {v})?;", sized(size)),
                (_, Some(kind)) => format!("w.text({}, StringKind::{kind:?}, {v})?;", sized(size)),
                _ => match kind.time_type() {
                    Some(kind) => format!("w.time({}, TimeType::{kind:?}, {v})?;", sized(size)),
                    None => UNSUPPORTED.into(),
                },
            },
            (Repr::Text, Code::Time(index)) => format!("w.{}, {v})?;", self.time(kind, index)),
            (Repr::Contained(inside), Code::OctetsContaining(size) | Code::BitsContaining(size, _)) => {
                let is_bits = kind == Kind::BitString;
                self.open(format!("let written = w.contained({}, {is_bits}, {v}, |v, w| {{", sized(size)));
                let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
                self.write(inside, content, At::Nothing);
                self.line("Ok(())");
                self.close("});");
                "written?;".into()
            }
            (Repr::Enumerated, _) => format!("w.enumerated({of}.number());"),
            (Repr::Struct | Repr::Choice | Repr::Table(_), _) => format!("{of}.write_oer(w)?;"),
            (Repr::List, _) => format!("write_oer_{}({v}, w)?;", self.function(node)),
            _ => UNSUPPORTED.into(),
        };
        self.line(to.line(line));
    }

    /// Whether a component is there to be written.
    fn there(&self, id: FieldId) -> String {
        let name = self.p.names.field(id);
        if self.p.is_option(id) {
            return format!("self.{name}.is_some()");
        }
        match self.p.is_default(id, &format!("self.{name}")) {
            Some(equal) => format!("!({equal})"),
            None => "true".into(),
        }
    }

    fn write_member(&mut self, id: FieldId, optional: bool) {
        let name = self.p.names.field(id).to_owned();
        let node = self.p.types.shape.field(id).node;
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        let to = self.p.at(id);
        if self.p.is_option(id) {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(node, if boxed { "&**v" } else { "v" }, to);
            if !optional {
                self.p.text.otherwise();
                self.line(to.line(MISSING.into()));
            }
            return self.close("}");
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        if !optional {
            return self.write(node, &place, to);
        }
        let there = self.there(id);
        self.open(format!("if {there} {{"));
        self.write(node, &place, to);
        self.close("}");
    }

    /// Components, the last first, and the bits in front of them.
    fn write_members(&mut self, node: NodeId, members: &[Member], extended: Option<&str>) {
        for member in members.iter().rev() {
            self.write_member(self.member_field(node, member.field), member.optional);
        }
        let optional = members.iter().filter(|member| member.optional);
        let bits = optional.map(|member| self.there(self.member_field(node, member.field)));
        let bits: Vec<String> = extended.map(str::to_owned).into_iter().chain(bits).collect();
        if !bits.is_empty() {
            self.line(format!("w.preamble(&[{}]);", bits.join(", ")));
        }
    }

    pub(super) fn write_struct(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let unknown = self.p.names.additions(node).map(|name| format!("self.{name}"));
        if !sequence.extensible {
            return self.write_members(node, &sequence.root, None);
        }
        if sequence.additions.is_empty() && unknown.is_none() {
            return self.write_members(node, &sequence.root, Some("false"));
        }
        let there: Vec<String> = sequence
            .additions
            .iter()
            .map(|addition| {
                let fields = addition.fields().map(|field| self.there(self.member_field(node, field)));
                let fields: Vec<String> = fields.collect();
                if fields.is_empty() { "false".into() } else { fields.join(" || ") }
            })
            .collect();
        self.line(format!("let additions: [bool; {}] = [{}];", there.len(), there.join(", ")));
        let more = unknown.as_ref().map_or(String::new(), |unknown| format!(" || !{unknown}.is_empty()"));
        self.line(format!("let extended = additions.contains(&true){more};"));
        self.open("if extended {");
        if let Some(unknown) = &unknown {
            self.line(format!("w.unknown_additions(&{unknown})?;"));
        }
        for (number, addition) in sequence.additions.iter().enumerate().rev() {
            self.open(format!("if additions[{number}] {{"));
            self.line("let end = w.mark();");
            match addition {
                Addition::Single(field) => self.write_member(self.member_field(node, *field), true),
                Addition::Group { members, .. } => self.write_members(node, members, None),
            }
            self.line("w.close(end);");
            self.close("}");
        }
        let unknown = unknown.unwrap_or_else(|| "UnknownAdditions::NONE".into());
        self.line(format!("w.bitmap(&additions, &{unknown})?;"));
        self.close("}");
        self.write_members(node, &sequence.root, Some("extended"));
    }

    pub(super) fn write_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.open("match self {");
        for (number, alternative) in (0..).zip(&choice.alternatives) {
            let id = self.member_field(node, number);
            let variant = self.p.names.field(id).to_owned();
            let inner = self.p.types.shape.field(id).node;
            let v = if self.p.types.is_boxed(Edge::Field(id)) { "&**v" } else { "v" };
            self.open(format!("Self::{variant}(v) => {{"));
            if alternative.addition {
                self.line("let end = w.mark();");
            }
            self.write(inner, v, self.p.at(id));
            if alternative.addition {
                self.line("w.close(end);");
            }
            match (alternative.tag, alternative.addition) {
                // An addition says the tag twice: before its length and as the value of the CHOICE inside.
                (UNTAGGED, true) => {
                    let tag = self.first_tag(inner);
                    self.line(format!("w.tag({tag});"));
                }
                (UNTAGGED, false) => {}
                (tag, _) => self.line(format!("w.tag({});", tag_text(tag))),
            }
            self.close("}");
        }
        if self.p.types.shape.node(node).extensible {
            self.line("Self::Unknown(v) => w.unknown_alternative(&v.octets)?,");
        }
        self.close("}");
    }

    /// The tag that the value `v` of an alternative without one begins with: a CHOICE has that of what is chosen, an open
    /// type has none that is known (X.696 clause 20 asks for one).
    fn first_tag(&self, node: NodeId) -> &'static str {
        match self.p.types.repr(node) {
            Repr::Choice => "v.oer_tag()?",
            _ => "return Err(Error::new(ErrorKind::Unsupported, 0))",
        }
    }

    /// The tag that a value begins with.
    pub(super) fn tag_of(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.line("");
        self.open("fn oer_tag(&self) -> Result<Tag> {");
        self.open("Ok(match self {");
        for (number, alternative) in (0..).zip(&choice.alternatives) {
            let variant = self.p.names.field(self.member_field(node, number)).to_owned();
            match alternative.tag {
                UNTAGGED => {
                    let inner = self.p.types.shape.field(self.member_field(node, number)).node;
                    let tag = self.first_tag(inner);
                    self.line(format!("Self::{variant}(v) => {tag},"));
                }
                tag => self.line(format!("Self::{variant}(_) => {},", tag_text(tag))),
            }
        }
        if self.p.types.shape.node(node).extensible {
            self.line("Self::Unknown(_) => return Err(Error::new(ErrorKind::Unsupported, 0)),");
        }
        self.close("})");
        self.close("}");
    }

    pub(super) fn write_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        self.open("match self {");
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let variant = self.p.names.row(node, number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            self.line("let end = w.mark();");
            let v = if self.p.types.is_boxed(Edge::Row(node, number)) { "&**v" } else { "v" };
            let counted = self.p.types.is_counted(node);
            if counted {
                self.line("w.begin_value()?;");
            }
            self.write(row.node, v, At::Nothing);
            self.line("w.close(end);");
            if counted {
                self.line("w.end_value();");
            }
            self.close("}");
        }
        self.line("Self::Other(v) => w.any(v),");
        self.close("}");
    }
}
