//! Reading.

use super::{Oer, sized};
use crate::code::oer::{
    Alternative, Choice, MachineInteger, Member, Members, Otherwise, Primitive, Struct, Tag, Value,
};
use crate::code::sequence::Addition;
use crate::code::{Presence, Table};
use crate::rust::imports::{
    BOX, ERROR_KIND, INTEGER, OER, RESULT, STRING_KIND, TIME_TYPE, UNKNOWN_ADDITIONS, UNKNOWN_ALTERNATIVE,
};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Real};

/// Bits of a preamble that are read as one number.
const WORD: u32 = 64;

impl Oer<'_, '_> {
    /// The expression that reads a value.
    pub(super) fn read(&self, value: &Value, at: At<'_>) -> String {
        self.p.own(value.node, self.read_primitive(value, at))
    }

    fn read_primitive(&self, value: &Value, at: At<'_>) -> String {
        let node = value.node;
        let call = match &value.primitive {
            Primitive::Null => return "()".into(),
            Primitive::Integer(integer) => return read_integer(*integer, at),
            Primitive::BigInteger(form @ (Integer::Unsigned(_) | Integer::Signed(_))) => {
                return format!("{INTEGER}::from({})", at.value(number(*form)));
            }
            Primitive::BigInteger(form) => number(*form),
            Primitive::Boolean => "r.boolean()".into(),
            Primitive::Real(form) => format!("r.real{}()", width(*form)),
            Primitive::Float(form) => format!("r.float{}()", width(*form)),
            Primitive::FixedBits(bits, size) => format!("r.fixed_bits::<{bits}>({})", sized(*size)),
            Primitive::BitString(size) => format!("r.bit_string({}, None)", sized(*size)),
            Primitive::NamedBits(size, least, usize::MAX) => {
                format!("r.bit_string({}, Some(({least}, usize::MAX)))", sized(*size))
            }
            Primitive::NamedBits(size, least, most) => {
                format!("r.bit_string({}, Some(({least}, {most})))", sized(*size))
            }
            Primitive::FixedOctets(count, size) => format!("r.fixed_octets::<{count}>({})", sized(*size)),
            Primitive::OctetString(size) => format!("r.octet_string({})", sized(*size)),
            Primitive::ObjectIdentifier => "r.oid()".into(),
            Primitive::RelativeOid => "r.relative_oid()".into(),
            Primitive::Any => "r.any()".into(),
            Primitive::UtcTime(size) => format!("r.utc_time({})", sized(*size)),
            Primitive::GeneralizedTime(size) => format!("r.generalized_time({})", sized(*size)),
            Primitive::Text(kind, size) => format!("r.text({}, {STRING_KIND}::{kind:?})", sized(*size)),
            Primitive::Time(kind, size) => format!("r.time({}, {TIME_TYPE}::{kind:?})", sized(*size)),
            Primitive::Point(kind, form) => format!("r.point({TIME_TYPE}::{kind:?}, OER_TIME_{form})"),
            Primitive::Duration(kind) => format!("r.duration({TIME_TYPE}::{kind:?})"),
            Primitive::Contained(is_bits, size, inside) => {
                let inside = self.p.boxed(Edge::Content(node), self.read(inside, At::Nothing));
                format!("r.contained({}, {is_bits}, |r| -> {RESULT}<_> {{ Ok({inside}) }})", sized(*size))
            }
            Primitive::Enumerated => format!("r.item({}::from_number)", self.p.names.ty(node)),
            Primitive::Declared => {
                format!("{}::read_oer(r{})", self.p.names.ty(node), self.p.local_keys(&value.keys))
            }
            Primitive::List => {
                format!("read_oer_{}(r{})", self.p.list_function(node), self.p.local_keys(&value.keys))
            }
            Primitive::Unsupported => format!("Err(r.error({ERROR_KIND}::Unsupported))"),
        };
        at.value(call)
    }

    fn read_member(&self, member: &Member<'_>) -> String {
        self.p.boxed(Edge::Field(member.field), self.read(&member.value, At::Component(member.name)))
    }

    /// The expression of a component that is there: one that equals its DEFAULT is reported.
    fn present(&self, member: &Member<'_>) -> String {
        let value = self.read_member(member);
        if member.presence == Presence::Optional {
            return format!("Some({value})");
        }
        match self.p.is_default(member.field, "v") {
            Some(equal) => {
                let checked = At::Component(member.name).value(format!("r.not_default({equal}, begun)"));
                format!("{{ let begun = r.position(); let v = {value}; {checked}; v }}")
            }
            None => value,
        }
    }

    /// Reads the bits in front of components.
    fn preamble(&mut self, name: &str, count: u32) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("let {name} = r.preamble({count})?;")),
            _ => self.line(format!("let {name} = r.presence::<{count}>()?;")),
        }
    }

    pub(super) fn read_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        let front = u32::from(code.extensible);
        let count = code.root.optional + front;
        self.preamble("p", count);
        let mut at = front;
        for member in &code.root.members {
            let local = local(self.p.names.field(member.field));
            let present = self.present(member);
            if member.optional {
                let (there, absent) = (bit_of("p", count, at), self.p.absent(member));
                self.line(format!("let {local} = if {there} {{ {present} }} else {{ {absent} }};"));
                at += 1;
            } else {
                self.line(format!("let {local} = {present};"));
            }
        }
        for member in code.additions.iter().flat_map(Addition::members) {
            let line =
                format!("let mut {} = {};", local(self.p.names.field(member.field)), self.p.absent(member));
            self.line(line);
        }
        if code.keeps {
            self.line(format!("let mut unknown = {UNKNOWN_ADDITIONS}::NONE;"));
        }
        if code.extensible {
            self.open(format!("if {} {{", bit_of("p", count, 0)));
            self.read_additions(code);
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

    fn read_additions(&mut self, code: &Struct<'_>) {
        let mutable = if code.additions.is_empty() { "" } else { "mut " };
        self.line(format!("let {mutable}bitmap = r.bitmap()?;"));
        for addition in &code.additions {
            self.open("if bitmap.next_addition() {");
            let at = match addition {
                Addition::Single(member) => At::Component(member.name),
                Addition::Group(_) => At::Nothing,
            };
            self.line(format!("let open = {};", at.value(format!("r.open({OER}::VARIABLE)"))));
            match addition {
                Addition::Single(member) => self.set(member),
                Addition::Group(group) => self.read_bracket(group),
            }
            self.line(format!("{};", at.value("r.close(open)")));
            self.close("}");
        }
        self.line(if code.keeps {
            "unknown = r.unknown_additions(bitmap)?;"
        } else {
            "r.skip_additions(bitmap)?;"
        });
    }

    /// Reads a component into its variable.
    fn set(&mut self, member: &Member<'_>) {
        let line = format!("{} = {};", local(self.p.names.field(member.field)), self.present(member));
        self.line(line);
    }

    fn read_bracket(&mut self, group: &Members<'_>) {
        self.preamble("g", group.optional);
        if group.members.iter().all(|member| member.optional) {
            let there = match group.optional {
                0 => "false",
                1..=WORD => "g != 0",
                _ => "g.contains(&true)",
            };
            self.line(format!("r.bracket({there}, {})?;", group.optional.div_ceil(8)));
        }
        let mut at = 0;
        for member in &group.members {
            if member.optional {
                self.open(format!("if {} {{", bit_of("g", group.optional, at)));
                self.set(member);
                self.close("}");
                at += 1;
            } else {
                self.set(member);
            }
        }
    }

    pub(super) fn read_choice(&mut self, node: NodeId, code: &Choice<'_>) {
        self.line("let start = r.cursor();");
        self.open("let value = match r.tag()?.bits() {");
        for alternative in &code.alternatives {
            if alternative.tags.is_empty() {
                continue;
            }
            let tags: Vec<String> = alternative.tags.iter().map(|tag| format!("{tag:#x}")).collect();
            let value = self.read_alternative(alternative);
            let variant = self.p.names.field(alternative.member.field).to_owned();
            self.line(format!("{} => Self::{variant}({value}),", tags.join(" | ")));
        }
        let refused = format!("_ => return Err(start.error({ERROR_KIND}::UnknownAlternative)),");
        let line = match code.otherwise {
            Otherwise::Keep => {
                let own = self.p.ended(node);
                format!(
                    "_ => Self::Unknown({BOX}::new({UNKNOWN_ALTERNATIVE} {{ addition: None, octets: r.unknown_alternative(start.position())?{own} }})),"
                )
            }
            Otherwise::Inside(number) => {
                let member = &code.alternatives[number].member;
                let value = self.read_member(member);
                let variant = self.p.names.field(member.field);
                format!("_ => {{ r.back_to(start); Self::{variant}({value}) }}")
            }
            Otherwise::Refuse => refused,
        };
        self.line(line);
        self.close("};");
    }

    /// The expression of an alternative whose tag has been read.
    fn read_alternative(&self, alternative: &Alternative<'_>) -> String {
        let value = self.read_member(&alternative.member);
        match alternative.tag {
            _ if alternative.addition => {
                let at = At::Component(alternative.member.name);
                let (open, close) = (at.value(format!("r.open({OER}::VARIABLE)")), at.value("r.close(open)"));
                format!("{{ let open = {open}; let v = {value}; {close}; v }}")
            }
            Tag::Own(_) => value,
            // The tag is that of the alternative inside, which is read again.
            Tag::Inside | Tag::Unknown => format!("{{ r.back_to(start); {value} }}"),
        }
    }

    pub(super) fn read_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let keys: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        self.open(format!("let value = match {} {{", tuple(&keys)));
        for row in &code.rows {
            let Some(known) = row.keys else { continue };
            let patterns: Vec<String> = known.iter().filter_map(key_pattern).collect();
            let value = self.p.boxed(Edge::Row(node, row.number), self.read(&row.value, At::Nothing));
            let variant = self.p.names.row(node, row.number).to_owned();
            let (begin, end) = if code.counted { ("r.enter()?; ", "r.leave(); ") } else { ("", "") };
            self.line(format!(
                "{} => {{ {begin}let open = r.open({OER}::VARIABLE)?; let v = {value}; r.close(open)?; {end}Self::{variant}(v) }}",
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

/// The call that reads a number.
fn number(form: Integer) -> String {
    match form {
        Integer::Unsigned(octets) => format!("r.unsigned({octets})"),
        Integer::Signed(octets) => format!("r.signed({octets})"),
        Integer::UnsignedVariable => "r.variable(false)".into(),
        Integer::SignedVariable => "r.variable(true)".into(),
    }
}

fn read_integer(integer: MachineInteger, at: At<'_>) -> String {
    let MachineInteger { form, signed, bits, fits } = integer;
    let ty = format!("{}{bits}", if signed { "i" } else { "u" });
    let number = at.value(number(form));
    if fits {
        return format!("{number} as {ty}");
    }
    let narrowed = match form {
        Integer::Unsigned(_) | Integer::Signed(_) => format!("r.narrow::<_, {ty}>(number)"),
        Integer::UnsignedVariable | Integer::SignedVariable => format!("r.narrow::<_, {ty}>(&number)"),
    };
    format!("{{ let number = {number}; {} }}", at.value(narrowed))
}

/// The end of the names of the calls for a REAL.
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
