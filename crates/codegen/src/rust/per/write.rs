//! Writing.

use super::Per;
use crate::rust::per_forms::{size, whole};
use crate::rust::{At, MISSING, UNSUPPORTED, deref, receiver};
use crate::types::{Edge, Repr};
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, Size, Whole};
use tercet_plan::{FieldId, Kind, NodeId};

impl Per<'_, '_> {
    /// The lines that write the value that the expression `v` refers to. At the end of a function the last of them is its
    /// result where it can be; says whether it is.
    pub(super) fn write(&mut self, node: NodeId, v: &str, to: At<'_>, last: bool) -> bool {
        let node = self.p.types.same(node);
        let v = &self.p.inside(node, v)[..];
        let rules = self.rules;
        let kind = self.p.types.shape.node(node).kind;
        let (at, of) = (deref(v), receiver(v));
        let tabled = self.p.types.is_tabled(node);
        let line = match (self.p.types.repr(node), self.code(node)) {
            _ if tabled => format!("w.value(&{}, {}, {v})?;", self.tables_name(), self.form(node)),
            (Repr::Boolean, _) => format!("w.bit({at});"),
            (Repr::Null, _) => return false,
            (Repr::Integer { signed, bits }, Code::Integer(form)) => {
                self.write_integer(form, signed, bits, v, to)
            }
            (Repr::Big, Code::Integer(form)) => {
                self.write_big(form, v, to);
                return false;
            }
            (Repr::Real, _) => format!("w.real({v});"),
            (Repr::Float, _) => format!("w.float({at});"),
            (Repr::FixedBits(bits), Code::BitString(form, _))
                if form.is_fixed() && form.lo == bits && !form.extensible =>
            {
                format!("w.fixed_bits({at});")
            }
            (Repr::FixedBits(_), Code::BitString(form, named)) => {
                format!("w.bit_string({}, &per::bits_of_fixed({at}), {named})?;", size(form))
            }
            (Repr::Bits, Code::BitString(form, named)) => {
                format!("w.bit_string({}, {v}, {named})?;", size(form))
            }
            (Repr::FixedOctets(count), Code::OctetString(form))
                if form.is_fixed() && form.lo == count && !form.extensible =>
            {
                format!("w.fixed_octets({v});")
            }
            (Repr::FixedOctets(_) | Repr::Octets, Code::OctetString(form)) => {
                format!("w.octet_string({}, {v})?;", size(form))
            }
            (Repr::Oid | Repr::RelativeOid, _) => format!("w.contents({of}.as_bytes());"),
            (Repr::Any, _) => format!("w.any({v});"),
            (Repr::Text, Code::Characters(form, index)) => {
                match kind {
                    Kind::UtcTime => self.line(to.line(format!("w.check_utc_time({v})?;"))),
                    Kind::GeneralizedTime => {
                        self.line(to.line(format!("w.check_generalized_time({v})?;")));
                    }
                    _ => {}
                }
                format!("w.characters::<{}>({}, {v})?;", self.alphabet(index), size(form))
            }
            (Repr::Text, Code::Time(index)) => format!("w.time(&{}, {v})?;", self.time(node, index)),
            (Repr::Text, Code::Contents) => match kind.string_kind() {
                Some(kind) => format!("w.other_string(StringKind::{kind:?}, {v})?;"),
                None => UNSUPPORTED.into(),
            },
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                self.write_contained(node, inside, form, v);
                "written?;".into()
            }
            (Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_), _) => {
                format!("{of}.write_{rules}(w)?;")
            }
            (Repr::List, _) => format!("write_{rules}_{}({v}, w)?;", self.function(node)),
            _ => UNSUPPORTED.into(),
        };
        if line.is_empty() {
            return false;
        }
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

    fn write_contained(&mut self, node: NodeId, inside: NodeId, form: Size, v: &str) {
        let bits = self.p.types.shape.node(node).kind == Kind::BitString;
        self.open(format!("let written = w.contained({}, {bits}, {v}, |w, v| {{", size(form)));
        let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
        if !self.write(inside, content, At::Nothing, true) {
            self.line("Ok(())");
        }
        self.close("});");
    }

    /// The call that writes a machine integer.
    fn write_integer(&mut self, integer: Integer, signed: bool, bits: u8, v: &str, to: At<'_>) -> String {
        let at = deref(v);
        let IntegerForm::Constrained { lo, span, whole: form } = integer.form else {
            self.line(format!("let number = Integer::from({at});"));
            self.write_big(integer, "&number", to);
            return String::new();
        };
        match (integer.extensible, !signed && bits == 64) {
            (false, true) => format!("w.unsigned({}, {at}, {lo}, {span})?;", whole(form)),
            (extensible, _) => {
                // A number of 64 bits is at most this far above the least.
                let span = i128::from(span).min(i128::from(i64::MAX) - i128::from(lo));
                let method = if extensible { "extensible_integer" } else { "integer" };
                let at = if bits == 64 { at } else { format!("i64::from({at})") };
                format!("w.{method}({}, {at}, {lo}, {span})?;", whole(form))
            }
        }
    }

    fn write_big(&mut self, integer: Integer, v: &str, to: At<'_>) {
        if integer.extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            self.line(format!("let root = {};", self.in_root(integer.form, v)));
            self.line("w.bit(!root);");
            self.open("if !root {");
            self.line(format!("w.unconstrained({v});"));
            self.otherwise();
        }
        let line = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                format!("w.constrained({}, {v}, {lo}, {span})?;", whole(form))
            }
            IntegerForm::SemiConstrained(lo) => format!("w.semi_constrained({v}, {lo})?;"),
            IntegerForm::Unconstrained => format!("w.unconstrained({v});"),
            IntegerForm::Large(index) => {
                let large = &self.program.large[index as usize];
                match &large.span {
                    Some(span) => format!("w.large({v}, &{:?}, &{span:?})?;", large.lo),
                    None => format!("w.semi_constrained_large({v}, &{:?})?;", large.lo),
                }
            }
        };
        self.line(to.line(line));
        if integer.extensible {
            self.close("}");
        }
    }

    pub(super) fn in_root(&self, form: IntegerForm, v: &str) -> String {
        match form {
            IntegerForm::Constrained { lo, span, .. } => {
                format!("i128::try_from({v}).is_ok_and(|v| v >= {lo} && v - {lo} <= {span})")
            }
            IntegerForm::SemiConstrained(lo) => format!("{v} >= &Integer::from({lo}_i64)"),
            IntegerForm::Unconstrained => "true".into(),
            IntegerForm::Large(_) => "true".into(),
        }
    }

    /// Whether a component is there to be written.
    pub(super) fn there(&self, id: FieldId) -> String {
        let name = self.p.names.field(id);
        if self.p.is_option(id) {
            return format!("self.{name}.is_some()");
        }
        match self.p.is_default(id, &format!("self.{name}")) {
            Some(equal) => format!("!({equal})"),
            None => "true".into(),
        }
    }

    /// As [`Self::write`] for a component.
    pub(super) fn write_member(&mut self, id: FieldId, optional: bool, last: bool) -> bool {
        let name = self.p.names.field(id).to_owned();
        let node = self.p.types.shape.field(id).node;
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        let to = self.p.at(id);
        if self.p.is_option(id) {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(node, if boxed { "&**v" } else { "v" }, to, false);
            if !optional {
                self.otherwise();
                self.line(to.line(MISSING.into()));
            }
            self.close("}");
            return false;
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        if optional {
            let there = self.there(id);
            self.open(format!("if {there} {{"));
            self.write(node, &place, to, false);
            self.close("}");
            return false;
        }
        self.write(node, &place, to, last)
    }

    /// Writes conditions as bits.
    fn flags(&mut self, conditions: &[String]) {
        match conditions {
            [] => {}
            [one] => self.line(format!("w.bit({one});")),
            _ => self.line(format!("w.flags([{}]);", conditions.join(", "))),
        }
    }

    pub(super) fn write_struct(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let mut additions = Vec::new();
        for addition in &sequence.additions {
            let there = match addition {
                Addition::Single(field) => self.there(self.member_field(node, *field)),
                Addition::Group { members, .. } => {
                    let members: Vec<String> =
                        members.iter().map(|m| self.there(self.member_field(node, m.field))).collect();
                    if members.is_empty() { "false".into() } else { members.join(" || ") }
                }
            };
            additions.push(there);
        }
        let unknown = self.p.names.additions(node).map(|name| format!("self.{name}"));
        let more = sequence.extensible && (unknown.is_some() || !additions.is_empty());
        let mut flags = Vec::new();
        if sequence.extensible && !more {
            flags.push("false".to_owned());
        } else if more {
            let unknown = unknown.as_ref().map(|name| format!("!{name}.is_empty()"));
            let known = (!additions.is_empty()).then(|| {
                let there = additions.join(", ");
                self.line(format!("let additions: [bool; {}] = [{there}];", additions.len()));
                "additions.contains(&true)".to_owned()
            });
            let any: Vec<String> = known.into_iter().chain(unknown).collect();
            self.line(format!("let extended = {};", any.join(" || ")));
            flags.push("extended".to_owned());
        }
        for member in sequence.root.iter().filter(|member| member.optional) {
            flags.push(self.there(self.member_field(node, member.field)));
        }
        self.flags(&flags);
        let mut done = false;
        for (i, member) in sequence.root.iter().enumerate() {
            let last = i + 1 == sequence.root.len() && !more;
            done = self.write_member(self.member_field(node, member.field), member.optional, last);
        }
        if more {
            self.open("if extended {");
            match &unknown {
                Some(name) if additions.is_empty() => {
                    self.line(format!("w.all_additions(&[], &{name})?;"));
                }
                Some(name) => self.line(format!("w.all_additions(&additions, &{name})?;")),
                None => self.line("w.additions(&additions);"),
            }
            for (number, addition) in sequence.additions.iter().enumerate() {
                self.open(format!("if additions[{number}] {{"));
                self.line("let open = w.open();");
                match addition {
                    Addition::Single(field) => {
                        self.write_member(self.member_field(node, *field), true, false);
                    }
                    Addition::Group { members, .. } => {
                        let optional = members.iter().filter(|member| member.optional);
                        let flags: Vec<String> = optional
                            .map(|member| self.there(self.member_field(node, member.field)))
                            .collect();
                        self.flags(&flags);
                        for member in members {
                            self.write_member(self.member_field(node, member.field), member.optional, false);
                        }
                    }
                }
                self.line("w.close(open);");
                self.close("}");
            }
            if let Some(name) = &unknown {
                self.line(format!("w.unknown_additions(&{name})?;"));
            }
            self.close("}");
        }
        if !done {
            self.line("Ok(())");
        }
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

    pub(super) fn write_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.open("match self {");
        for (number, field) in choice.root.iter().enumerate() {
            let id = self.member_field(node, *field);
            let variant = self.p.names.field(id).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            self.number(choice.whole, choice.extensible, &number.to_string());
            self.alternative(id);
            self.close("}");
        }
        for (number, field) in choice.additions.iter().enumerate() {
            let id = self.member_field(node, *field);
            let variant = self.p.names.field(id).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            self.line(format!("let open = w.added_alternative({number});"));
            self.alternative(id);
            self.line("w.close(open);");
            self.close("}");
        }
        if choice.extensible {
            self.line("Self::Unknown(v) => w.unknown_alternative(v)?,");
        }
        self.close("}");
        self.line("Ok(())");
    }

    pub(super) fn alternative(&mut self, id: FieldId) {
        let v = if self.p.types.is_boxed(Edge::Field(id)) { "&**v" } else { "v" };
        self.write(self.p.types.shape.field(id).node, v, self.p.at(id), false);
    }

    pub(super) fn write_enumerated(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        // Where the items are numbered from 0 on, their numbers are what is written.
        let plain =
            !enumerated.extensible && (0..).zip(&enumerated.root).all(|(number, value)| number == *value);
        if plain {
            self.number(enumerated.whole, false, "*self as u64");
            return self.line("Ok(())");
        }
        self.open("let number = match self {");
        let item = |value: &i64| self.p.names.item(node, *value);
        let root = enumerated.root.iter().enumerate();
        let root: Vec<_> =
            root.map(|(number, value)| format!("Self::{} => {number},", item(value))).collect();
        let added = enumerated.additions.iter().enumerate();
        let added: Vec<_> = added
            .map(|(number, value)| format!("Self::{} => return w.added_item({number}),", item(value)))
            .collect();
        self.p.text.fill(root);
        self.p.text.fill(added);
        if enumerated.extensible {
            self.line("Self::UnknownAddition(number) => return w.added_item(*number),");
            self.line("Self::Unknown(_) => return Err(Error::new(ErrorKind::UnknownEnumeration, 0)),");
        }
        self.close("};");
        self.number(enumerated.whole, enumerated.extensible, "number");
        self.line("Ok(())");
    }

    pub(super) fn write_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        self.open("if let Self::Other(v) = self {");
        self.line("return Ok(w.any(v));");
        self.close("}");
        self.line("let open = w.open();");
        self.open("match self {");
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let variant = self.p.names.row(node, number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Row(node, number)) { "&**v" } else { "v" };
            let counted = self.p.types.is_counted(node);
            if counted {
                self.line("w.begin_value()?;");
            }
            self.write(row.node, v, At::Nothing, false);
            if counted {
                self.line("w.end_value();");
            }
            self.close("}");
        }
        self.line("Self::Other(_) => {}");
        self.close("}");
        self.line("Ok(w.close(open))");
    }
}
