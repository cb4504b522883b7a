//! Reading.

use super::tables::form;
use super::{Per, WORD, bit_of, closure};
use crate::code::per::{
    Addition, Choice, Enumerated, Integer, IntegerForm, MachineInteger, Member, Primitive, Struct, Value,
};
use crate::code::{Presence, Table};
use crate::rust::imports::{BOX, ERROR_KIND, INTEGER, PER, STRING_KIND, UNKNOWN_ADDITIONS};
use crate::rust::per_forms::{size, whole};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Per<'_, '_> {
    /// The expression that reads a value.
    pub(super) fn read(&self, value: &Value, at: At<'_>) -> String {
        self.p.own(value.node, self.read_primitive(value, at))
    }

    fn read_primitive(&self, value: &Value, at: At<'_>) -> String {
        let (rules, node) = (self.rules, value.node);
        if self.p.is_filled(node) {
            return self.filled(value, false, at);
        }
        let call = match &value.primitive {
            Primitive::Tabled(known) => {
                let (ty, tables) = (self.p.spelled(node, "'_"), self.tables_name());
                format!("r.value::<{ty}>(&{tables}, {})", form(*known))
            }
            Primitive::Null => return "()".into(),
            Primitive::Integer(integer) => return read_integer(integer, at),
            Primitive::BigInteger(integer) => return read_big(integer, at),
            Primitive::Boolean => "r.bit()".into(),
            Primitive::Real => "r.real()".into(),
            Primitive::Float => "r.float()".into(),
            Primitive::FixedBits(bits) => format!("r.fixed_bits::<{bits}>()"),
            Primitive::SizedBits(bits, known, _) => {
                let string = at.value(format!("r.bit_string({})", size(*known)));
                let checked = format!("ok_or_else(|| r.error({ERROR_KIND}::ConstraintViolated))");
                format!("{PER}::fixed_of_bits::<{bits}>({string}).{checked}")
            }
            Primitive::BitString(known, _) => format!("r.bit_string({})", size(*known)),
            Primitive::FixedOctets(count) => format!("r.fixed_octets::<{count}>()"),
            Primitive::SizedOctets(known) => {
                let string = at.value(format!("r.octet_string({})", size(*known)));
                format!("{string}[..].try_into().map_err(|_| r.error({ERROR_KIND}::ConstraintViolated))")
            }
            Primitive::OctetString(known) => format!("r.octet_string({})", size(*known)),
            Primitive::ObjectIdentifier => "r.oid()".into(),
            Primitive::RelativeOid => "r.relative_oid()".into(),
            Primitive::Any => "r.any()".into(),
            Primitive::Characters(known, alphabet) => {
                format!("r.characters::<{}>({})", self.alphabet(*alphabet), size(*known))
            }
            Primitive::UtcTime(known, alphabet) => {
                format!("r.utc_time::<{}>({})", self.alphabet(*alphabet), size(*known))
            }
            Primitive::GeneralizedTime(known, alphabet) => {
                format!("r.generalized_time::<{}>({})", self.alphabet(*alphabet), size(*known))
            }
            Primitive::Time(known) => format!("r.time(&{})", self.time(*known)),
            Primitive::Text(kind) => format!("r.other_string({STRING_KIND}::{kind:?})"),
            Primitive::Contained(is_bits, known, inside) => {
                let unit = if *is_bits { 1 } else { 8 };
                let inside = self.read_held(Edge::Content(node), inside, At::Nothing);
                format!("r.contained({}, {unit}, {})", size(*known), closure("r", &inside))
            }
            Primitive::Declared => {
                let keys = self.p.local_keys(&value.keys);
                format!("{}::read_{rules}(r{keys})", self.p.names.ty(node))
            }
            Primitive::List => {
                format!("read_{rules}_{}(r{})", self.p.list_function(node), self.p.local_keys(&value.keys))
            }
            Primitive::Unsupported => format!("Err(r.error({ERROR_KIND}::Unsupported))"),
        };
        at.value(call)
    }

    pub(super) fn read_member(&self, member: &Member<'_>) -> String {
        self.read_held(Edge::Field(member.field), &member.value, At::Component(member.name))
    }

    /// The expression that reads what a component or the like holds, in a box if it is so.
    pub(super) fn read_held(&self, edge: Edge, value: &Value, at: At<'_>) -> String {
        if self.p.types.is_boxed(edge) && self.p.is_filled(value.node) {
            return self.filled(value, true, at);
        }
        self.p.boxed(edge, self.read(value, at))
    }

    /// The expression of a component that is there.
    pub(super) fn present(&self, member: &Member<'_>) -> String {
        let value = self.read_member(member);
        if member.presence == Presence::Optional { format!("Some({value})") } else { value }
    }

    /// Reads the presence bits: up to 56 as one number, more as an array.
    pub(super) fn presence(&mut self, count: u32, name: &str) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("let {name} = r.bits({count})?;")),
            _ => self.line(format!("let {name} = r.presence::<{count}>()?;")),
        }
    }

    pub(super) fn read_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        // The extension bit stands before the presence bits and is read with them.
        let extended = u32::from(code.extensible);
        let bits = extended + code.root.optional;
        self.presence(bits, "p");
        let members = self.members(node, code, bits);
        let added = code.additions.iter().flat_map(Addition::members).next().is_some();
        let plain = !code.extensible && !code.counted;
        let (head, tail) = match (plain, !added && !code.keeps) {
            (true, _) => ("Ok(Self {", "})"),
            (false, true) => ("let value = Self {", "};"),
            (false, false) => ("let mut value = Self {", "};"),
        };
        if members.is_empty() {
            self.line(format!("{head}{tail}"));
        } else {
            self.open(head);
            for member in members {
                self.line(member);
            }
            self.close(tail);
        }
        if code.extensible {
            self.open(format!("if {} {{", bit_of("p", bits, 0)));
            self.additions(node, &code.additions);
            self.close("}");
        }
        if code.counted {
            self.line("r.leave();");
        }
        if !plain {
            self.line("Ok(value)");
        }
    }

    /// Reads the components of the root, and returns the members of the value: additions are absent yet.
    fn members(&mut self, node: NodeId, code: &Struct<'_>, bits: u32) -> Vec<String> {
        // Components that select a row of a table have a variable of their own, since others look at them.
        let added = code.additions.iter().flat_map(Addition::members);
        let keyed = code.root.members.iter().chain(added.clone()).any(|member| member.selects);
        let mut members = Vec::new();
        let mut bit = u32::from(code.extensible);
        for member in &code.root.members {
            let name = self.p.names.field(member.field).to_owned();
            let mut value = self.present(member);
            if member.optional {
                let (there, absent) = (bit_of("p", bits, bit), self.p.absent(member));
                value = format!("if {there} {{ {value} }} else {{ {absent} }}");
                bit += 1;
            }
            if keyed {
                self.line(format!("let {} = {value};", local(&name)));
                value = local(&name);
            }
            members.push(format!("{name}: {value},"));
        }
        for member in added {
            members.push(format!("{}: {},", self.p.names.field(member.field), self.p.absent(member)));
        }
        members
            .extend(self.p.names.additions(node).map(|name| format!("{name}: {UNKNOWN_ADDITIONS}::NONE,")));
        members
    }

    pub(super) fn read_choice(&mut self, node: NodeId, code: &Choice<'_>) {
        if code.extensible {
            self.open("let value = if r.bit()? {");
            self.read_added_alternative(node, code);
            self.otherwise();
        } else if code.counted {
            self.open("let value = {");
        }
        let count = code.root.len();
        let nested = code.extensible || code.counted;
        let (head, tail) = if nested { ("match", "}") } else { ("Ok(match", "})") };
        let method = if code.extensible { "root_alternative" } else { "alternative" };
        self.open(format!("{head} r.{method}({}, {count})? {{", whole(code.whole)));
        for (number, member) in code.root.iter().enumerate() {
            let value = self.read_member(member);
            let variant = self.p.names.field(member.field).to_owned();
            // Greater numbers than that of the last are refused before.
            let number = if number + 1 == count { "_".into() } else { number.to_string() };
            self.line(format!("{number} => Self::{variant}({value}),"));
        }
        self.close(tail);
        if nested {
            self.close("};");
            if code.counted {
                self.line("r.leave();");
            }
            self.line("Ok(value)");
        }
    }

    fn read_added_alternative(&mut self, node: NodeId, code: &Choice<'_>) {
        self.open("match r.small_number()? {");
        for (number, member) in code.additions.iter().enumerate() {
            let value = self.read_member(member);
            let variant = self.p.names.field(member.field).to_owned();
            let open = At::Component(member.name).value("r.open()");
            self.line(format!(
                "{number} => {{ let open = {open}; let v = {value}; r.close(open); Self::{variant}(v) }}"
            ));
        }
        self.line(match self.p.ended(node) {
            "" => "number => Self::Unknown(r.unknown_alternative(number)?),".into(),
            end => format!("number => Self::Unknown({BOX}::new(r.unknown_alternative(number)?{end})),"),
        });
        self.close("}");
    }

    fn items(&self, node: NodeId, values: &[i64]) -> String {
        let items = values.iter().map(|value| format!("Self::{}", self.p.names.item(node, *value)));
        items.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn read_enumerated(&mut self, node: NodeId, code: &Enumerated) {
        if code.extensible {
            let added = self.items(node, &code.additions);
            self.open("if r.bit()? {");
            self.line("let number = r.small_number()?;");
            self.line(if added.is_empty() {
                "return Ok(Self::UnknownAddition(number));".into()
            } else {
                format!(
                    "return Ok({PER}::addition(&[{added}], number).unwrap_or(Self::UnknownAddition(number)));"
                )
            });
            self.close("}");
        }
        let items = self.items(node, &code.root);
        let method = if code.extensible { "root_item" } else { "item" };
        self.line(format!("r.{method}({}, &[{items}])", whole(code.whole)));
    }

    pub(super) fn read_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let keys: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        let end = self.p.ended(node);
        self.line(format!(
            "let open = match r.open_type()? {{ Ok(open) => open, Err(v) => return Ok(Self::Other(v{end})) }};"
        ));
        self.open(format!("let value = match {} {{", tuple(&keys)));
        for row in &code.rows {
            let Some(known) = row.keys else { continue };
            let patterns: Vec<String> = known.iter().filter_map(key_pattern).collect();
            let value = self.read_held(Edge::Row(node, row.number), &row.value, At::Nothing);
            let variant = self.p.names.row(node, row.number).to_owned();
            let patterns = tuple(&patterns);
            self.line(if code.counted {
                format!("{patterns} => {{ r.enter()?; let v = {value}; r.leave(); Self::{variant}(v) }}")
            } else {
                format!("{patterns} => Self::{variant}({value}),")
            });
        }
        if !keys.is_empty() {
            self.line(format!("_ => Self::Other(r.rest()?{end}),"));
        }
        self.close("};");
        self.line("r.close(open);");
        self.line("Ok(value)");
    }
}

fn read_integer(machine: &MachineInteger, at: At<'_>) -> String {
    let MachineInteger { integer, signed, bits, fits } = machine;
    let ty = format!("{}{bits}", if *signed { "i" } else { "u" });
    let narrow =
        |number: String| format!("let number = {number}; {}", at.value(format!("r.narrow::<{ty}>(&number)")));
    let root = match integer.form {
        IntegerForm::Constrained { lo, span, whole: form } => {
            let number = at.value(format!("r.whole({}, {span})", whole(form)));
            if !fits {
                let checked = format!("map_err(|_| r.error({ERROR_KIND}::IntegerRange))");
                at.value(format!("{ty}::try_from(i128::from({number}) + {lo}).{checked}"))
            } else if lo == 0 {
                format!("{number} as {ty}")
            } else if *signed {
                format!("({number} as i64).wrapping_add({lo}) as {ty}")
            } else {
                format!("({number} + {lo}) as {ty}")
            }
        }
        _ => format!("{{ {} }}", narrow(read_form(&integer.form, at))),
    };
    if integer.extensible {
        let (extended, wide) = (at.value("r.bit()"), narrow(at.value("r.unconstrained()")));
        return format!("if {extended} {{ {wide} }} else {{ {root} }}");
    }
    root
}

fn read_big(integer: &Integer, at: At<'_>) -> String {
    let root = read_form(&integer.form, at);
    if integer.extensible {
        let (extended, wide) = (at.value("r.bit()"), at.value("r.unconstrained()"));
        return format!("if {extended} {{ {wide} }} else {{ {root} }}");
    }
    root
}

/// The expression of an INTEGER of the root, in the type for any size.
fn read_form(form: &IntegerForm, at: At<'_>) -> String {
    at.value(match form {
        IntegerForm::Constrained { lo, span, whole: form } => {
            let number = at.value(format!("r.whole({}, {span})", whole(*form)));
            return format!("{INTEGER}::from(i128::from({number}) + {lo})");
        }
        IntegerForm::SemiConstrained(lo) => format!("r.semi_constrained({lo})"),
        IntegerForm::Unconstrained => "r.unconstrained()".into(),
        IntegerForm::Large(large) => match &large.span {
            Some(span) => format!("r.large(&{:?}, &{span:?})", large.lo),
            None => format!("r.semi_constrained_large(&{:?})", large.lo),
        },
    })
}
