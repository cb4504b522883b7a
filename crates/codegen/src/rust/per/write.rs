//! Writing.

use super::Per;
use super::tables::form;
use crate::code::per::{
    Addition, Choice, Enumerated, Integer, IntegerForm, MachineInteger, Member, Members, Primitive, Struct,
    Value,
};
use crate::code::{Presence, Table};
use crate::rust::imports::{ERROR, ERROR_KIND, INTEGER, PER, STRING_KIND};
use crate::rust::per_forms::{size, whole};
use crate::rust::{At, deref, missing, receiver, unsupported};
use crate::types::Edge;
use tercet_plan::NodeId;
use tercet_plan::per::{Size, Whole};

impl Per<'_, '_> {
    /// The lines that write the value that the expression `v` refers to. At the end of a function the last of them is its
    /// result where it can be; returns whether it is.
    pub(super) fn write(&mut self, value: &Value, v: &str, to: At<'_>, last: bool) -> bool {
        let node = value.node;
        let v = &self.p.inside(node, v)[..];
        let rules = self.rules;
        let (at, of) = (deref(v), receiver(v));
        let line = match &value.primitive {
            Primitive::Tabled(known) => {
                format!("w.value(&{}, {}, {v})?;", self.tables_name(), form(*known))
            }
            Primitive::Boolean => format!("w.bit({at});"),
            Primitive::Null => return false,
            Primitive::Integer(MachineInteger { integer, signed, bits, .. }) => match integer.form {
                IntegerForm::Constrained { lo, span, whole } => {
                    let unsigned = !signed && *bits == 64;
                    write_constrained(integer.extensible, unsigned, *bits, (whole, lo, span), &at)
                }
                _ => {
                    self.line(format!("let number = {INTEGER}::from({at});"));
                    self.write_big(integer, "&number", to);
                    return false;
                }
            },
            Primitive::BigInteger(integer) => {
                self.write_big(integer, v, to);
                return false;
            }
            Primitive::Real => format!("w.real({v});"),
            Primitive::Float => format!("w.float({at});"),
            Primitive::FixedBits(_) => format!("w.fixed_bits({at});"),
            Primitive::SizedBits(_, known, named) => {
                format!("w.bit_string({}, &{PER}::bits_of_fixed({at}), {named})?;", size(*known))
            }
            Primitive::BitString(known, named) => {
                format!("w.bit_string({}, {v}, {named})?;", size(*known))
            }
            Primitive::FixedOctets(_) => format!("w.fixed_octets({v});"),
            Primitive::SizedOctets(known) | Primitive::OctetString(known) => {
                format!("w.octet_string({}, {v})?;", size(*known))
            }
            Primitive::ObjectIdentifier | Primitive::RelativeOid => {
                format!("w.contents({of}.as_bytes());")
            }
            Primitive::Any => format!("w.any({v});"),
            Primitive::Characters(known, alphabet) => self.write_characters(*known, *alphabet, v),
            Primitive::UtcTime(known, alphabet) => {
                self.line(to.line(format!("w.check_utc_time({v})?;")));
                self.write_characters(*known, *alphabet, v)
            }
            Primitive::GeneralizedTime(known, alphabet) => {
                self.line(to.line(format!("w.check_generalized_time({v})?;")));
                self.write_characters(*known, *alphabet, v)
            }
            Primitive::Time(known) => format!("w.time(&{}, {v})?;", self.time(*known)),
            Primitive::Text(kind) => format!("w.other_string({STRING_KIND}::{kind:?}, {v})?;"),
            Primitive::Contained(is_bits, known, inside) => {
                self.write_contained(node, *is_bits, *known, inside, v);
                "written?;".into()
            }
            Primitive::Declared => format!("{of}.write_{rules}(w)?;"),
            Primitive::List => format!("write_{rules}_{}({v}, w)?;", self.p.list_function(node)),
            Primitive::Unsupported => unsupported(),
        };
        if last
            && matches!(to, At::Nothing)
            && let Some(result) = line.strip_suffix("?;")
        {
            self.line(result);
            return true;
        }
        self.line(to.line(line));
        false
    }

    fn write_characters(&self, known: Size, alphabet: u32, v: &str) -> String {
        format!("w.characters::<{}>({}, {v})?;", self.alphabet(alphabet), size(known))
    }

    fn write_contained(&mut self, node: NodeId, is_bits: bool, known: Size, inside: &Value, v: &str) {
        self.open(format!("let written = w.contained({}, {is_bits}, {v}, |w, v| {{", size(known)));
        let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
        if !self.write(inside, content, At::Nothing, true) {
            self.line("Ok(())");
        }
        self.close("});");
    }

    fn write_big(&mut self, integer: &Integer, v: &str, to: At<'_>) {
        if integer.extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            self.line(format!("let root = {};", in_root(&integer.form, v)));
            self.line("w.bit(!root);");
            self.open("if !root {");
            self.line(format!("w.unconstrained({v});"));
            self.otherwise();
        }
        self.line(to.line(match &integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                format!("w.constrained({}, {v}, {lo}, {span})?;", whole(*form))
            }
            IntegerForm::SemiConstrained(lo) => format!("w.semi_constrained({v}, {lo})?;"),
            IntegerForm::Unconstrained => format!("w.unconstrained({v});"),
            IntegerForm::Large(large) => match &large.span {
                Some(span) => format!("w.large({v}, &{:?}, &{span:?})?;", large.lo),
                None => format!("w.semi_constrained_large({v}, &{:?})?;", large.lo),
            },
        }));
        if integer.extensible {
            self.close("}");
        }
    }

    /// As [`Self::write`] for a component.
    fn write_member(&mut self, member: &Member<'_>, last: bool) -> bool {
        let name = self.p.names.field(member.field).to_owned();
        let boxed = self.p.types.is_boxed(Edge::Field(member.field));
        let to = At::Component(member.name);
        if member.presence == Presence::Optional {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(&member.value, if boxed { "&**v" } else { "v" }, to, false);
            if !member.optional {
                self.otherwise();
                self.line(to.line(missing()));
            }
            self.close("}");
            return false;
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        if member.optional {
            let there = self.p.there(member);
            self.open(format!("if {there} {{"));
            self.write(&member.value, &place, to, false);
            self.close("}");
            return false;
        }
        self.write(&member.value, &place, to, last)
    }

    /// Writes conditions as bits.
    fn flags(&mut self, conditions: &[String]) {
        match conditions {
            [] => {}
            [one] => self.line(format!("w.bit({one});")),
            _ => self.line(format!("w.flags([{}]);", conditions.join(", "))),
        }
    }

    /// The conditions that the components with presence bits are there.
    fn presence_of(&self, code: &Members<'_>) -> Vec<String> {
        let optional = code.members.iter().filter(|member| member.optional);
        optional.map(|member| self.p.there(member)).collect()
    }

    /// The condition that an addition is there.
    fn is_addition_there(&self, addition: &Addition<'_>) -> String {
        let members: Vec<String> = addition.members().iter().map(|member| self.p.there(member)).collect();
        if members.is_empty() { "false".into() } else { members.join(" || ") }
    }

    pub(super) fn write_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        let unknown = self.p.names.additions(node).map(|name| format!("self.{name}"));
        let more = code.extensible && (unknown.is_some() || !code.additions.is_empty());
        let mut flags = Vec::new();
        if code.extensible && !more {
            flags.push("false".to_owned());
        } else if more {
            let there: Vec<String> =
                code.additions.iter().map(|addition| self.is_addition_there(addition)).collect();
            let known = (!there.is_empty()).then(|| {
                self.line(format!("let additions: [bool; {}] = [{}];", there.len(), there.join(", ")));
                "additions.contains(&true)".to_owned()
            });
            let unknown = unknown.as_ref().map(|name| format!("!{name}.is_empty()"));
            let any: Vec<String> = known.into_iter().chain(unknown).collect();
            self.line(format!("let extended = {};", any.join(" || ")));
            flags.push("extended".to_owned());
        }
        flags.extend(self.presence_of(&code.root));
        self.flags(&flags);
        let mut done = false;
        for (i, member) in code.root.members.iter().enumerate() {
            let last = i + 1 == code.root.members.len() && !more;
            done = self.write_member(member, last);
        }
        if more {
            self.write_additions(code, unknown.as_deref());
        }
        if !done {
            self.line("Ok(())");
        }
    }

    fn write_additions(&mut self, code: &Struct<'_>, unknown: Option<&str>) {
        self.open("if extended {");
        match unknown {
            Some(name) if code.additions.is_empty() => {
                self.line(format!("w.all_additions(&[], &{name})?;"));
            }
            Some(name) => self.line(format!("w.all_additions(&additions, &{name})?;")),
            None => self.line("w.additions(&additions);"),
        }
        for (number, addition) in code.additions.iter().enumerate() {
            self.open(format!("if additions[{number}] {{"));
            self.line("let open = w.open();");
            if let Addition::Group(group) = addition {
                let flags = self.presence_of(group);
                self.flags(&flags);
            }
            for member in addition.members() {
                self.write_member(member, false);
            }
            self.line("w.close(open);");
            self.close("}");
        }
        if let Some(name) = unknown {
            self.line(format!("w.unknown_additions(&{name})?;"));
        }
        self.close("}");
    }

    /// Writes which alternative or item of the root it is, the extension bit before it.
    fn number(&mut self, form: Whole, extensible: bool, number: &str) {
        if let Whole::Bits(width) = form {
            return self.line(format!("w.bits({number}, {});", width + u8::from(extensible)));
        }
        if extensible {
            self.line("w.bit(false);");
        }
        if form != Whole::Nothing {
            self.line(format!("w.whole({}, {number});", whole(form)));
        }
    }

    pub(super) fn write_choice(&mut self, code: &Choice<'_>) {
        self.open("match self {");
        for (number, member) in code.root.iter().enumerate() {
            self.open(format!("Self::{}(v) => {{", self.p.names.field(member.field)));
            self.number(code.whole, code.extensible, &number.to_string());
            self.alternative(member);
            self.close("}");
        }
        for (number, member) in code.additions.iter().enumerate() {
            self.open(format!("Self::{}(v) => {{", self.p.names.field(member.field)));
            self.line(format!("let open = w.added_alternative({number});"));
            self.alternative(member);
            self.line("w.close(open);");
            self.close("}");
        }
        if code.extensible {
            self.line("Self::Unknown(v) => w.unknown_alternative(v)?,");
        }
        self.close("}");
        self.line("Ok(())");
    }

    fn alternative(&mut self, member: &Member<'_>) {
        let v = if self.p.types.is_boxed(Edge::Field(member.field)) { "&**v" } else { "v" };
        self.write(&member.value, v, At::Component(member.name), false);
    }

    pub(super) fn write_enumerated(&mut self, node: NodeId, code: &Enumerated) {
        if code.is_numbered {
            self.number(code.whole, false, "*self as u64");
            return self.line("Ok(())");
        }
        self.open("let number = match self {");
        let item = |value: &i64| self.p.names.item(node, *value);
        let root = code.root.iter().enumerate();
        let root: Vec<_> =
            root.map(|(number, value)| format!("Self::{} => {number},", item(value))).collect();
        let added = code.additions.iter().enumerate();
        let added: Vec<_> = added
            .map(|(number, value)| format!("Self::{} => return w.added_item({number}),", item(value)))
            .collect();
        self.p.text.fill(root);
        self.p.text.fill(added);
        if code.extensible {
            self.line("Self::UnknownAddition(number) => return w.added_item(*number),");
            self.line(format!(
                "Self::Unknown(_) => return Err({ERROR}::new({ERROR_KIND}::UnknownEnumeration, 0)),"
            ));
        }
        self.close("};");
        self.number(code.whole, code.extensible, "number");
        self.line("Ok(())");
    }

    pub(super) fn write_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        self.open("if let Self::Other(v) = self {");
        self.line("return Ok(w.any(v));");
        self.close("}");
        self.line("let open = w.open();");
        self.open("match self {");
        for row in &code.rows {
            self.open(format!("Self::{}(v) => {{", self.p.names.row(node, row.number)));
            let v = if self.p.types.is_boxed(Edge::Row(node, row.number)) { "&**v" } else { "v" };
            if code.counted {
                self.line("w.begin_value()?;");
            }
            self.write(&row.value, v, At::Nothing, false);
            if code.counted {
                self.line("w.end_value();");
            }
            self.close("}");
        }
        self.line("Self::Other(_) => {}");
        self.close("}");
        self.line("Ok(w.close(open))");
    }
}

/// The call that writes a machine integer between bounds: how, the least, and the greatest minus the least.
fn write_constrained(
    extensible: bool,
    unsigned: bool,
    bits: u8,
    (form, lo, span): (Whole, i64, u64),
    at: &str,
) -> String {
    if !extensible && unsigned {
        return format!("w.unsigned({}, {at}, {lo}, {span})?;", whole(form));
    }
    // A number of 64 bits is at most this far above the least.
    let span = i128::from(span).min(i128::from(i64::MAX) - i128::from(lo));
    let method = if extensible { "extensible_integer" } else { "integer" };
    let at = if bits == 64 { at.to_owned() } else { format!("i64::from({at})") };
    format!("w.{method}({}, {at}, {lo}, {span})?;", whole(form))
}

/// The condition that a number is one of the root.
fn in_root(form: &IntegerForm, v: &str) -> String {
    match form {
        IntegerForm::Constrained { lo, span, .. } => {
            format!("i128::try_from({v}).is_ok_and(|v| v >= {lo} && v - {lo} <= {span})")
        }
        IntegerForm::SemiConstrained(lo) => format!("{v} >= &{INTEGER}::from({lo}_i64)"),
        IntegerForm::Unconstrained | IntegerForm::Large(_) => "true".into(),
    }
}
