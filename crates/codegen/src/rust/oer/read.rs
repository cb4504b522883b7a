//! Reading.

use super::{Oer, sized};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::{Edge, Repr};
use tercet_plan::oer::{Addition, Code, Integer, Member, Real, UNTAGGED};
use tercet_plan::{FieldId, Kind, NodeId};

/// Bits of a preamble that are read as one number.
const WORD: u32 = 64;

impl Oer<'_, '_> {
    /// The expression that reads a value.
    pub(super) fn read(&self, node: NodeId, keys: &str, at: At<'_>) -> String {
        let node = self.p.types.same(node);
        let value = self.read_leaf(node, keys, at);
        self.p.own(node, value)
    }

    fn read_leaf(&self, node: NodeId, keys: &str, at: At<'_>) -> String {
        let shape = self.p.types.shape;
        let kind = shape.node(node).kind;
        let unsupported = || at.value("Err(r.error(ErrorKind::Unsupported))");
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => at.value("r.boolean()"),
            (Repr::Null, _) => "()".into(),
            (Repr::Integer { signed, bits }, Code::Integer(form)) => read_integer(form, signed, bits, at),
            (Repr::Big, Code::Integer(form)) => match form {
                Integer::Unsigned(octets) => {
                    format!("Integer::from({})", at.value(format!("r.unsigned({octets})")))
                }
                Integer::Signed(octets) => {
                    format!("Integer::from({})", at.value(format!("r.signed({octets})")))
                }
                Integer::UnsignedVariable => at.value("r.variable(false)"),
                Integer::SignedVariable => at.value("r.variable(true)"),
            },
            (Repr::Real, Code::Real(form)) => at.value(format!("r.real{}()", width(form))),
            (Repr::Float, Code::Real(form)) => at.value(format!("r.float{}()", width(form))),
            (Repr::FixedBits(bits), Code::BitString(size, _)) => {
                at.value(format!("r.fixed_bits::<{bits}>({})", sized(size)))
            }
            (Repr::Bits, Code::BitString(size, named)) => {
                let named = match self.p.types.shape.sizes(node) {
                    _ if !named => "None".into(),
                    (least, usize::MAX) => format!("Some(({least}, usize::MAX))"),
                    (least, most) => format!("Some(({least}, {most}))"),
                };
                at.value(format!("r.bit_string({}, {named})", sized(size)))
            }
            (Repr::FixedOctets(count), Code::OctetString(size)) => {
                at.value(format!("r.fixed_octets::<{count}>({})", sized(size)))
            }
            (Repr::Octets, Code::OctetString(size)) => at.value(format!("r.octet_string({})", sized(size))),
            (Repr::Oid, _) => at.value("r.oid()"),
            (Repr::RelativeOid, _) => at.value("r.relative_oid()"),
            (Repr::Any, _) => at.value("r.any()"),
            (Repr::Text, Code::Contents(size)) => match (kind, kind.string_kind()) {
                (Kind::UtcTime, _) => at.value(format!("r.utc_time({})", sized(size))),
                (Kind::GeneralizedTime, _) => at.value(format!("r.generalized_time({})", sized(size))),
                (_, Some(kind)) => at.value(format!("r.text({}, StringKind::{kind:?})", sized(size))),
                _ => match kind.time_type() {
                    Some(kind) => at.value(format!("r.time({}, TimeType::{kind:?})", sized(size))),
                    None => unsupported(),
                },
            },
            (Repr::Text, Code::Time(index)) => at.value(format!("r.{})", self.time(kind, index))),
            (Repr::Contained(inside), Code::OctetsContaining(size) | Code::BitsContaining(size, _)) => {
                let value = self.p.boxed(Edge::Content(node), self.read(inside, keys, At::Nothing));
                let is_bits = kind == Kind::BitString;
                at.value(format!(
                    "r.contained({}, {is_bits}, |r| -> Result<_> {{ Ok({value}) }})",
                    sized(size)
                ))
            }
            (Repr::Enumerated, _) => at.value(format!("r.item({}::from_number)", self.p.names.ty(node))),
            (Repr::Struct | Repr::Choice | Repr::Table(_), _) => {
                at.value(format!("{}::read_oer(r{keys})", self.p.names.ty(node)))
            }
            (Repr::List, _) => at.value(format!("read_oer_{}(r{keys})", self.function(node))),
            _ => unsupported(),
        }
    }

    fn read_member(&self, node: NodeId, id: FieldId) -> String {
        let field = self.p.types.shape.field(id);
        let keys = self.p.keys_before(node, field.node);
        self.p.boxed(Edge::Field(id), self.read(field.node, &keys, self.p.at(id)))
    }

    /// The expression of a component that is there: one that equals its DEFAULT is told.
    fn present(&self, node: NodeId, id: FieldId) -> String {
        let value = self.read_member(node, id);
        if self.p.is_option(id) {
            return format!("Some({value})");
        }
        match self.p.is_default(id, "v") {
            Some(equal) => {
                let checked = self.p.at(id).value(format!("r.not_default({equal}, begun)"));
                format!("{{ let begun = r.position(); let v = {value}; {checked}; v }}")
            }
            None => value,
        }
    }

    fn absent(&self, id: FieldId) -> String {
        if self.p.is_option(id) {
            return "None".into();
        }
        self.p.default_value(id).unwrap_or_else(|| "None".into())
    }

    /// Reads the bits in front of components.
    fn preamble(&mut self, name: &str, count: u32) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("let {name} = r.preamble({count})?;")),
            _ => self.line(format!("let {name} = r.presence::<{count}>()?;")),
        }
    }

    pub(super) fn read_struct(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let front = u32::from(sequence.extensible);
        let count = sequence.optional + front;
        self.preamble("p", count);
        let mut at = front;
        for member in &sequence.root {
            let id = self.member_field(node, member.field);
            let local = local(self.p.names.field(id));
            let present = self.present(node, id);
            if member.optional {
                let (there, absent) = (bit_of("p", count, at), self.absent(id));
                self.line(format!("let {local} = if {there} {{ {present} }} else {{ {absent} }};"));
                at += 1;
            } else {
                self.line(format!("let {local} = {present};"));
            }
        }
        for addition in &sequence.additions {
            for field in addition.fields() {
                let id = self.member_field(node, field);
                let line = format!("let mut {} = {};", local(self.p.names.field(id)), self.absent(id));
                self.line(line);
            }
        }
        let keeps = self.p.names.additions(node).is_some();
        if keeps {
            self.line("let mut unknown = UnknownAdditions::NONE;");
        }
        if sequence.extensible {
            let extended = bit_of("p", count, 0);
            self.open(format!("if {extended} {{"));
            let mutable = if sequence.additions.is_empty() { "" } else { "mut " };
            self.line(format!("let {mutable}bitmap = r.bitmap()?;"));
            for addition in &sequence.additions {
                self.open("if bitmap.next_addition() {");
                let at = match addition {
                    Addition::Single(field) => self.p.at(self.member_field(node, *field)),
                    Addition::Group { .. } => At::Nothing,
                };
                let (open, close) = (at.value("r.open(oer::VARIABLE)"), at.value("r.close(open)"));
                self.line(format!("let open = {open};"));
                match addition {
                    Addition::Single(field) => {
                        let id = self.member_field(node, *field);
                        let line = format!("{} = {};", local(self.p.names.field(id)), self.present(node, id));
                        self.line(line);
                    }
                    Addition::Group { optional, members } => self.read_bracket(node, *optional, members),
                }
                self.line(format!("{close};"));
                self.close("}");
            }
            self.line(if keeps {
                "unknown = r.unknown_additions(bitmap)?;"
            } else {
                "r.skip_additions(bitmap)?;"
            });
            self.close("}");
        }
        let fields = self.p.types.shape.fields_of(node);
        let mut members: Vec<String> = fields
            .map(|(id, _)| {
                let name = self.p.names.field(id);
                format!("{name}: {}", local(name))
            })
            .collect();
        members.extend(self.p.names.additions(node).map(|name| format!("{name}: unknown")));
        self.line(format!("let value = Self {{ {} }};", members.join(", ")));
    }

    fn read_bracket(&mut self, node: NodeId, optional: u32, members: &[Member]) {
        self.preamble("g", optional);
        if members.iter().all(|member| member.optional) {
            let there = match optional {
                0 => "false",
                1..=WORD => "g != 0",
                _ => "g.contains(&true)",
            };
            self.line(format!("r.bracket({there})?;"));
        }
        let mut at = 0;
        for member in members {
            let id = self.member_field(node, member.field);
            let line = format!("{} = {};", local(self.p.names.field(id)), self.present(node, id));
            if member.optional {
                let there = bit_of("g", optional, at);
                self.open(format!("if {there} {{"));
                self.line(line);
                self.close("}");
                at += 1;
            } else {
                self.line(line);
            }
        }
    }

    pub(super) fn read_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.line("let start = r.cursor();");
        self.open("let value = match r.tag()?.bits() {");
        for (number, alternative) in (0..).zip(&choice.alternatives) {
            let tags: Vec<String> = choice
                .tags
                .iter()
                .filter(|(_, field)| *field == number)
                .map(|(tag, _)| format!("{tag:#x}"))
                .collect();
            if tags.is_empty() {
                continue;
            }
            let id = self.member_field(node, number);
            let value = self.read_member(node, id);
            let value = match alternative.tag {
                _ if alternative.addition => {
                    let at = self.p.at(id);
                    let (open, close) = (at.value("r.open(oer::VARIABLE)"), at.value("r.close(open)"));
                    format!("{{ let open = {open}; let v = {value}; {close}; v }}")
                }
                // The tag is that of the alternative inside, which is read again.
                UNTAGGED => format!("{{ r.back_to(start); {value} }}"),
                _ => value,
            };
            let variant = self.p.names.field(id).to_owned();
            self.line(format!("{} => Self::{variant}({value}),", tags.join(" | ")));
        }
        if self.p.types.shape.node(node).extensible {
            let own = self.p.ended(node);
            self.line(format!("_ => Self::Unknown(Box::new(UnknownAlternative {{ addition: None, octets: r.unknown_alternative(start.position())?{own} }})),"));
        } else if choice.extensible {
            // An untagged CHOICE inside is the one that knows more.
            let inner = (0..).zip(&choice.alternatives).find(|(number, alternative)| {
                let id = self.member_field(node, *number);
                let inner = self.p.types.shape.field(id).node;
                alternative.tag == UNTAGGED && self.p.types.shape.node(inner).extensible
            });
            match inner {
                Some((number, alternative)) if !alternative.addition => {
                    let id = self.member_field(node, number);
                    let value = self.read_member(node, id);
                    let variant = self.p.names.field(id).to_owned();
                    self.line(format!("_ => {{ r.back_to(start); Self::{variant}({value}) }}"));
                }
                _ => self.line("_ => return Err(start.error(ErrorKind::UnknownAlternative)),"),
            }
        } else {
            self.line("_ => return Err(start.error(ErrorKind::UnknownAlternative)),");
        }
        self.close("};");
    }

    pub(super) fn read_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        let keys: Vec<String> = match &shape.node(node).table {
            Some(table) => table.keys.iter().map(|key| format!("k{key}")).collect(),
            None => Vec::new(),
        };
        self.open(format!("let value = match {} {{", tuple(&keys)));
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let Some(patterns) = row.keys.iter().map(key_pattern).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let value = self
                .p
                .boxed(Edge::Row(node, number), self.read(row.node, &self.no_keys(row.node), At::Nothing));
            let variant = self.p.names.row(node, number).to_owned();
            let (begin, end) =
                if self.p.types.is_counted(node) { ("r.enter()?; ", "r.leave(); ") } else { ("", "") };
            self.line(format!(
                "{} => {{ {begin}let open = r.open(oer::VARIABLE)?; let v = {value}; r.close(open)?; {end}Self::{variant}(v) }}",
                tuple(&patterns)
            ));
        }
        if !keys.is_empty() {
            let line = format!("_ => Self::Other(r.any()?{}),", self.p.ended(node));
            self.line(line);
        }
        self.close("};");
    }
}

fn read_integer(form: Integer, signed: bool, bits: u8, at: At<'_>) -> String {
    let ty = format!("{}{bits}", if signed { "i" } else { "u" });
    let number = at.value(match form {
        Integer::Unsigned(octets) => format!("r.unsigned({octets})"),
        Integer::Signed(octets) => format!("r.signed({octets})"),
        Integer::UnsignedVariable => "r.variable(false)".to_owned(),
        Integer::SignedVariable => "r.variable(true)".to_owned(),
    });
    let narrowed = match form {
        Integer::Unsigned(octets) if !signed && octets * 8 <= bits => return format!("{number} as {ty}"),
        Integer::Signed(octets) if signed && octets * 8 <= bits => return format!("{number} as {ty}"),
        Integer::Unsigned(_) | Integer::Signed(_) => format!("r.narrow::<_, {ty}>(number)"),
        Integer::UnsignedVariable | Integer::SignedVariable => format!("r.narrow::<_, {ty}>(&number)"),
    };
    format!("{{ let number = {number}; {} }}", at.value(narrowed))
}

/// What the calls for a REAL are told apart by.
pub(super) const fn width(real: Real) -> &'static str {
    match real {
        Real::Binary32 => "32",
        Real::Binary64 => "64",
        Real::Contents => "",
    }
}

/// The condition that a bit is set.
fn bit_of(name: &str, count: u32, bit: u32) -> String {
    if count <= WORD { format!("{name} >> {} & 1 != 0", count - 1 - bit) } else { format!("{name}[{bit}]") }
}
