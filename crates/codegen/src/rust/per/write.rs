//! Writing.

use super::Per;
use crate::rust::per_forms::{size, whole};
use crate::rust::values::string_kind;
use crate::rust::{deref, receiver};
use crate::types::{Edge, Repr};
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, Size};
use tercet_plan::{FieldId, Kind, NodeId};

impl Per<'_, '_> {
    /// The lines that write the value that the expression `v` refers to.
    pub(super) fn write(&mut self, node: NodeId, v: &str) {
        let node = self.p.types.same(node);
        let rules = self.rules;
        let kind = self.p.types.shape.node(node).kind;
        let unsupported = "return Err(Error::new(ErrorKind::Unsupported, 0));";
        let (at, of) = (deref(v), receiver(v));
        let line = match (self.p.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => format!("w.bit({at});"),
            (Repr::Null, _) => return,
            (Repr::Integer { .. }, Code::Integer(form)) => return self.write_integer(form, v),
            (Repr::Big, Code::Integer(form)) => return self.write_big(form, v),
            (Repr::Real, _) => format!("w.real({at});"),
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
                    Kind::UtcTime => self.line(format!("w.check_utc_time({v})?;")),
                    Kind::GeneralizedTime => self.line(format!("w.check_generalized_time({v})?;")),
                    _ => {}
                }
                format!("w.characters({}, &{}, {v})?;", size(form), self.alphabet(index))
            }
            (Repr::Text, Code::Contents) => match string_kind(kind) {
                Some(kind) => format!("w.other_string(StringKind::{kind:?}, {v})?;"),
                None => unsupported.into(),
            },
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                return self.write_contained(node, inside, form, kind, v);
            }
            (Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_), _) => {
                format!("{of}.write_{rules}(w)?;")
            }
            (Repr::List, _) => format!("write_{rules}_{}({v}, w)?;", self.function(node)),
            _ => unsupported.into(),
        };
        self.line(line);
    }

    pub(super) fn write_contained(&mut self, node: NodeId, inside: NodeId, form: Size, kind: Kind, v: &str) {
        let aligned = self.program.aligned;
        self.open(format!("match {v} {{"));
        self.open("Contained::Value(v) => {");
        let content = if self.p.types.is_boxed(Edge::Content(node)) { "&**v" } else { "v" };
        self.line(format!("let inside = per::Writer::<{aligned}>::onto(Vec::new(), w.is_canonical());"));
        self.line("let outer = core::mem::replace(w, inside);");
        self.write(inside, content);
        self.line("let inside = core::mem::replace(w, outer).finish(true);");
        if kind == Kind::BitString {
            self.line(format!(
                "w.bit_string({}, &BitString::new(inside, 0).unwrap_or_default(), false)?;",
                size(form)
            ));
        } else {
            self.line(format!("w.octet_string({}, &inside)?;", size(form)));
        }
        self.close("}");
        if kind == Kind::BitString {
            self.line(format!(
                "Contained::Octets(v) => w.bit_string({}, &BitString::new(&v[..], 0).unwrap_or_default(), false)?,",
                size(form)
            ));
        } else {
            self.line(format!("Contained::Octets(v) => w.octet_string({}, v)?,", size(form)));
        }
        self.close("}");
    }

    pub(super) fn write_integer(&mut self, integer: Integer, v: &str) {
        let at = deref(v);
        let IntegerForm::Constrained { lo, span, whole: form } = integer.form else {
            self.line(format!("let number = Integer::from({at});"));
            return self.write_big(integer, "&number");
        };
        self.open(format!("match u64::try_from(i128::from({at}) - {lo}) {{"));
        let within = if span == u64::MAX { String::new() } else { format!(" if number <= {span}") };
        self.open(format!("Ok(number){within} => {{"));
        if integer.extensible {
            self.line("w.bit(false);");
        }
        self.line(format!("w.whole({}, number);", whole(form)));
        self.close("}");
        if integer.extensible {
            self.open("_ => {");
            self.line("w.bit(true);");
            self.line(format!("w.unconstrained(&Integer::from({at}));"));
            self.close("}");
        } else {
            self.line("_ => return Err(Error::new(ErrorKind::ConstraintViolated, 0)),");
        }
        self.close("}");
    }

    pub(super) fn write_big(&mut self, integer: Integer, v: &str) {
        if integer.extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            self.line(format!("let root = {};", self.in_root(integer.form, v)));
            self.line("w.bit(!root);");
            self.open("if !root {");
            self.line(format!("w.unconstrained({v});"));
            self.otherwise();
        }
        let line = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => format!(
                "w.whole({}, i128::try_from({v}).ok().and_then(|v| u64::try_from(v - {lo}).ok()).filter(|v| *v <= {span}).ok_or(Error::new(ErrorKind::ConstraintViolated, 0))?);",
                whole(form)
            ),
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
        self.line(line);
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

    pub(super) fn write_member(&mut self, id: FieldId, optional: bool) {
        let name = self.p.names.field(id).to_owned();
        let node = self.p.types.shape.field(id).node;
        let boxed = self.p.types.is_boxed(Edge::Field(id));
        if self.p.is_option(id) {
            self.open(format!("if let Some(v) = &self.{name} {{"));
            self.write(node, if boxed { "&**v" } else { "v" });
            if !optional {
                self.otherwise();
                self.line("return Err(Error::new(ErrorKind::MissingComponent, 0));");
            }
            return self.close("}");
        }
        let place = format!("{}self.{name}", if boxed { "&*" } else { "&" });
        if optional {
            let there = self.there(id);
            self.open(format!("if {there} {{"));
            self.write(node, &place);
            self.close("}");
        } else {
            self.write(node, &place);
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
        if sequence.extensible {
            if additions.is_empty() {
                self.line("w.bit(false);");
            } else {
                self.line(format!("let additions = [{}];", additions.join(", ")));
                self.line("let extended = additions.contains(&true);");
                self.line("w.bit(extended);");
            }
        }
        for member in sequence.root.iter().filter(|member| member.optional) {
            let id = self.member_field(node, member.field);
            let line = format!("w.bit({});", self.there(id));
            self.line(line);
        }
        for member in &sequence.root {
            self.write_member(self.member_field(node, member.field), member.optional);
        }
        if additions.is_empty() {
            return;
        }
        self.open("if extended {");
        self.line("w.additions(&additions);");
        for (number, addition) in sequence.additions.iter().enumerate() {
            self.open(format!("if additions[{number}] {{"));
            self.line("let open = w.open();");
            match addition {
                Addition::Single(field) => self.write_member(self.member_field(node, *field), true),
                Addition::Group { members, .. } => {
                    for member in members.iter().filter(|member| member.optional) {
                        let line = format!("w.bit({});", self.there(self.member_field(node, member.field)));
                        self.line(line);
                    }
                    for member in members {
                        self.write_member(self.member_field(node, member.field), member.optional);
                    }
                }
            }
            self.line("w.close(open);");
            self.close("}");
        }
        self.close("}");
    }

    pub(super) fn write_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.open("match self {");
        for (number, field) in choice.root.iter().enumerate() {
            let id = self.member_field(node, *field);
            let variant = self.p.names.field(id).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            if choice.extensible {
                self.line("w.bit(false);");
            }
            self.line(format!("w.whole({}, {number});", whole(choice.whole)));
            self.alternative(id);
            self.close("}");
        }
        for (number, field) in choice.additions.iter().enumerate() {
            let id = self.member_field(node, *field);
            let variant = self.p.names.field(id).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            self.line("w.bit(true);");
            self.line(format!("w.small_number({number});"));
            self.line("let open = w.open();");
            self.alternative(id);
            self.line("w.close(open);");
            self.close("}");
        }
        if choice.extensible {
            self.open("Self::Unknown(v) => {");
            self.line("w.bit(true);");
            self.line("w.small_number(v.addition.ok_or(Error::new(ErrorKind::ValueMismatch, 0))?);");
            self.line("w.any(&v.octets);");
            self.close("}");
        }
        self.close("}");
    }

    pub(super) fn alternative(&mut self, id: FieldId) {
        let v = if self.p.types.is_boxed(Edge::Field(id)) { "&**v" } else { "v" };
        self.write(self.p.types.shape.field(id).node, v);
    }

    pub(super) fn write_enumerated(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        let root = if enumerated.extensible { "w.bit(false); " } else { "" };
        self.open("match self {");
        for (number, value) in enumerated.root.iter().enumerate() {
            let item = self.p.names.item(node, *value).to_owned();
            self.line(format!("Self::{item} => {{ {root}w.whole({}, {number}); }}", whole(enumerated.whole)));
        }
        for (number, value) in enumerated.additions.iter().enumerate() {
            let item = self.p.names.item(node, *value).to_owned();
            self.line(format!("Self::{item} => {{ w.bit(true); w.small_number({number}); }}"));
        }
        if enumerated.extensible {
            self.line("Self::UnknownAddition(number) => { w.bit(true); w.small_number(*number); }");
            self.line("Self::Unknown(_) => return Err(Error::new(ErrorKind::UnknownEnumeration, 0)),");
        }
        self.close("}");
    }

    pub(super) fn write_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        self.open("match self {");
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let variant = self.p.names.row(node, number).to_owned();
            self.open(format!("Self::{variant}(v) => {{"));
            let v = if self.p.types.is_boxed(Edge::Row(node, number)) { "&**v" } else { "v" };
            self.line("let open = w.open();");
            self.write(row.node, v);
            self.line("w.close(open);");
            self.close("}");
        }
        self.line("Self::Other(v) => w.any(v),");
        self.close("}");
    }
}
