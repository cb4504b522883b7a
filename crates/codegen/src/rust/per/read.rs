//! Reading.

use super::{Per, bit_of, closure};
use crate::rust::per_forms::{size, whole};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::{Edge, Repr};
use tercet_plan::per::{Addition, Code, Integer, IntegerForm};
use tercet_plan::{FieldId, Kind, NodeId};

impl Per<'_, '_> {
    /// The expression that reads a value.
    pub(super) fn read(&self, node: NodeId, keys: &str, at: At<'_>) -> String {
        let node = self.p.types.same(node);
        let value = self.read_leaf(node, keys, at);
        self.p.own(node, value)
    }

    fn read_leaf(&self, node: NodeId, keys: &str, at: At<'_>) -> String {
        let rules = self.rules;
        let kind = self.p.types.shape.node(node).kind;
        if self.p.types.is_tabled(node) {
            let (ty, tables, form) = (self.p.spelled(node, "'_"), self.tables_name(), self.form(node));
            return at.value(format!("r.value::<{ty}>(&{tables}, {form})"));
        }
        if self.p.is_filled(node) {
            return self.filled(node, false, keys, at);
        }
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => at.value("r.bit()"),
            (Repr::Null, _) => "()".into(),
            (Repr::Integer { signed, bits }, Code::Integer(form)) => {
                self.read_integer(form, signed, bits, at)
            }
            (Repr::Big, Code::Integer(form)) => self.read_big(form, at),
            (Repr::Real, _) => at.value("r.real()"),
            (Repr::Float, _) => at.value("r.float()"),
            (Repr::FixedBits(bits), Code::BitString(form, _))
                if form.is_fixed() && form.lo == bits && !form.extensible =>
            {
                at.value(format!("r.fixed_bits::<{bits}>()"))
            }
            (Repr::FixedBits(bits), Code::BitString(form, _)) => {
                let string = at.value(format!("r.bit_string({})", size(form)));
                let checked = "ok_or_else(|| r.error(ErrorKind::ConstraintViolated))";
                at.value(format!("per::fixed_of_bits::<{bits}>({string}).{checked}"))
            }
            (Repr::Bits, Code::BitString(form, _)) => at.value(format!("r.bit_string({})", size(form))),
            (Repr::FixedOctets(count), Code::OctetString(form))
                if form.is_fixed() && form.lo == count && !form.extensible =>
            {
                at.value(format!("r.fixed_octets::<{count}>()"))
            }
            (Repr::FixedOctets(_), Code::OctetString(form)) => {
                let string = at.value(format!("r.octet_string({})", size(form)));
                let checked = "map_err(|_| r.error(ErrorKind::ConstraintViolated))";
                at.value(format!("{string}[..].try_into().{checked}"))
            }
            (Repr::Octets, Code::OctetString(form)) => at.value(format!("r.octet_string({})", size(form))),
            (Repr::Oid, _) => at.value("r.oid()"),
            (Repr::RelativeOid, _) => at.value("r.relative_oid()"),
            (Repr::Any, _) => at.value("r.any()"),
            (Repr::Text, Code::Characters(form, index)) => {
                let method = match kind {
                    Kind::UtcTime => "utc_time",
                    Kind::GeneralizedTime => "generalized_time",
                    _ => "characters",
                };
                at.value(format!("r.{method}::<{}>({})", self.alphabet(index), size(form)))
            }
            (Repr::Text, Code::Time(index)) => at.value(format!("r.time(&{})", self.time(node, index))),
            (Repr::Text, Code::Contents) => match kind.string_kind() {
                Some(kind) => at.value(format!("r.other_string(StringKind::{kind:?})")),
                None => at.value("Err(r.error(ErrorKind::Unsupported))"),
            },
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                let unit = if kind == Kind::BitString { 1 } else { 8 };
                let value = self.read_held(Edge::Content(node), inside, keys, At::Nothing);
                at.value(format!("r.contained({}, {unit}, {})", size(form), closure("r", &value)))
            }
            (Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_), _) => {
                at.value(format!("{}::read_{rules}(r{keys})", self.p.names.ty(node)))
            }
            (Repr::List, _) => at.value(format!("read_{rules}_{}(r{keys})", self.function(node))),
            _ => at.value("Err(r.error(ErrorKind::Unsupported))"),
        }
    }

    fn read_integer(&self, integer: Integer, signed: bool, bits: u8, at: At<'_>) -> String {
        let ty = format!("{}{bits}", if signed { "i" } else { "u" });
        let narrow = |number: String| {
            let narrowed = at.value(format!("r.narrow::<{ty}>(&number)"));
            format!("{{ let number = {number}; {narrowed} }}")
        };
        let root = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                let number = at.value(format!("r.whole({}, {span})", whole(form)));
                let top = i128::from(lo) + i128::from(span);
                let most = if signed { (1_i128 << (bits - 1)) - 1 } else { (1_i128 << bits) - 1 };
                let least = if signed { -(1_i128 << (bits - 1)) } else { 0 };
                if top > most || i128::from(lo) < least {
                    // The type is narrower than what the rules see.
                    let checked = "map_err(|_| r.error(ErrorKind::IntegerRange))";
                    at.value(format!("{ty}::try_from(i128::from({number}) + {lo}).{checked}"))
                } else if lo == 0 {
                    format!("{number} as {ty}")
                } else if signed {
                    format!("({number} as i64).wrapping_add({lo}) as {ty}")
                } else {
                    format!("({number} + {lo}) as {ty}")
                }
            }
            _ => narrow(self.read_big(Integer { extensible: false, form: integer.form }, at)),
        };
        if integer.extensible {
            let (extended, wide) = (at.value("r.bit()"), narrow(at.value("r.unconstrained()")));
            let wide = wide.trim_start_matches("{ ").trim_end_matches(" }");
            return format!("if {extended} {{ {wide} }} else {{ {root} }}");
        }
        root
    }

    fn read_big(&self, integer: Integer, at: At<'_>) -> String {
        let root = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                let number = at.value(format!("r.whole({}, {span})", whole(form)));
                format!("Integer::from(i128::from({number}) + {lo})")
            }
            IntegerForm::SemiConstrained(lo) => at.value(format!("r.semi_constrained({lo})")),
            IntegerForm::Unconstrained => at.value("r.unconstrained()"),
            IntegerForm::Large(index) => {
                let large = &self.program.large[index as usize];
                at.value(match &large.span {
                    Some(span) => format!("r.large(&{:?}, &{span:?})", large.lo),
                    None => format!("r.semi_constrained_large(&{:?})", large.lo),
                })
            }
        };
        if integer.extensible {
            let (extended, wide) = (at.value("r.bit()"), at.value("r.unconstrained()"));
            return format!("if {extended} {{ {wide} }} else {{ {root} }}");
        }
        root
    }

    pub(super) fn read_member(&self, node: NodeId, id: FieldId) -> String {
        let field = self.p.types.shape.field(id);
        let keys = self.p.keys_before(node, field.node);
        self.read_held(Edge::Field(id), field.node, &keys, self.p.at(id))
    }

    /// The expression that reads what a component or the like holds, in a box if it is so.
    pub(super) fn read_held(&self, edge: Edge, node: NodeId, keys: &str, at: At<'_>) -> String {
        if self.p.types.is_boxed(edge) && self.p.is_filled(node) {
            return self.filled(node, true, keys, at);
        }
        self.p.boxed(edge, self.read(node, keys, at))
    }

    /// What a component is when it is absent.
    pub(super) fn absent(&self, id: FieldId) -> String {
        if self.p.is_option(id) {
            "None".into()
        } else {
            self.p.default_value(id).unwrap_or_else(|| "None".into())
        }
    }

    pub(super) fn present(&self, id: FieldId, value: String) -> String {
        if self.p.is_option(id) { format!("Some({value})") } else { value }
    }

    pub(super) fn read_struct(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        // The extension bit stands before the presence bits and is read with them.
        let extended = u32::from(sequence.extensible);
        let bits = extended + sequence.optional;
        self.presence(bits, "p");
        let added: Vec<FieldId> = sequence
            .additions
            .iter()
            .flat_map(|addition| match addition {
                Addition::Single(field) => vec![self.member_field(node, *field)],
                Addition::Group { members, .. } => {
                    members.iter().map(|member| self.member_field(node, member.field)).collect()
                }
            })
            .collect();
        let shape = self.p.types.shape;
        // Components that select a row of a table have a variable of their own, since others look at them.
        let keyed = shape.fields_of(node).any(|(id, _)| self.p.types.has_keys(node, id));
        let mut members = Vec::new();
        let mut bit = extended;
        for member in &sequence.root {
            let id = self.member_field(node, member.field);
            let name = self.p.names.field(id).to_owned();
            let mut value = self.present(id, self.read_member(node, id));
            if member.optional {
                value = format!("if {} {{ {value} }} else {{ {} }}", bit_of("p", bits, bit), self.absent(id));
                bit += 1;
            }
            if keyed {
                self.line(format!("let {} = {value};", local(&name)));
                value = local(&name);
            }
            members.push(format!("{name}: {value},"));
        }
        for id in &added {
            members.push(format!("{}: {},", self.p.names.field(*id), self.absent(*id)));
        }
        let unknown = self.p.names.additions(node).map(str::to_owned);
        members.extend(unknown.iter().map(|name| format!("{name}: UnknownAdditions::NONE,")));
        let counted = self.p.types.is_counted(node);
        let plain = !sequence.extensible && !counted;
        let (head, tail) = match (plain, added.is_empty() && unknown.is_none()) {
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
        if sequence.extensible {
            self.open(format!("if {} {{", bit_of("p", bits, 0)));
            self.additions(node, &sequence.additions);
            self.close("}");
        }
        if counted {
            self.line("r.leave();");
        }
        if !plain {
            self.line("Ok(value)");
        }
    }

    pub(super) fn read_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let counted = self.p.types.is_counted(node);
        if choice.extensible {
            self.open("let value = if r.bit()? {");
            self.open("match r.small_number()? {");
            for (number, field) in choice.additions.iter().enumerate() {
                let id = self.member_field(node, *field);
                let value = self.read_member(node, id);
                let variant = self.p.names.field(id).to_owned();
                let open = self.p.at(id).value("r.open()");
                self.line(format!(
                    "{number} => {{ let open = {open}; let v = {value}; r.close(open); Self::{variant}(v) }}"
                ));
            }
            self.line(match self.p.ended(node) {
                "" => "number => Self::Unknown(r.unknown_alternative(number)?),".into(),
                end => format!("number => Self::Unknown(Box::new(r.unknown_alternative(number)?{end})),"),
            });
            self.close("}");
            self.otherwise();
        } else if counted {
            self.open("let value = {");
        }
        let count = choice.root.len();
        let nested = choice.extensible || counted;
        let (head, tail) = if nested { ("match", "}") } else { ("Ok(match", "})") };
        let method = if choice.extensible { "root_alternative" } else { "alternative" };
        self.open(format!("{head} r.{method}({}, {count})? {{", whole(choice.whole)));
        for (number, field) in choice.root.iter().enumerate() {
            let id = self.member_field(node, *field);
            let value = self.read_member(node, id);
            let variant = self.p.names.field(id).to_owned();
            // Greater numbers than that of the last are refused before.
            let number = if number + 1 == count { "_".into() } else { number.to_string() };
            self.line(format!("{number} => Self::{variant}({value}),"));
        }
        self.close(tail);
        if nested {
            self.close("};");
            if counted {
                self.line("r.leave();");
            }
            self.line("Ok(value)");
        }
    }

    fn items(&self, node: NodeId, values: &[i64]) -> String {
        let items = values.iter().map(|value| format!("Self::{}", self.p.names.item(node, *value)));
        items.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn read_enumerated(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        if enumerated.extensible {
            let added = self.items(node, &enumerated.additions);
            self.open("if r.bit()? {");
            self.line("let number = r.small_number()?;");
            self.line(if added.is_empty() {
                "return Ok(Self::UnknownAddition(number));".into()
            } else {
                format!(
                    "return Ok(per::addition(&[{added}], number).unwrap_or(Self::UnknownAddition(number)));"
                )
            });
            self.close("}");
        }
        let items = self.items(node, &enumerated.root);
        let method = if enumerated.extensible { "root_item" } else { "item" };
        self.line(format!("r.{method}({}, &[{items}])", whole(enumerated.whole)));
    }

    pub(super) fn read_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        let keys: Vec<String> = match &shape.node(node).table {
            Some(table) => table.keys.iter().map(|key| format!("k{key}")).collect(),
            None => Vec::new(),
        };
        let end = self.p.ended(node);
        self.line(format!(
            "let open = match r.open_type()? {{ Ok(open) => open, Err(v) => return Ok(Self::Other(v{end})) }};"
        ));
        self.open(format!("let value = match {} {{", tuple(&keys)));
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let Some(patterns) = row.keys.iter().map(key_pattern).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let value =
                self.read_held(Edge::Row(node, number), row.node, &self.no_keys(row.node), At::Nothing);
            let variant = self.p.names.row(node, number).to_owned();
            let patterns = tuple(&patterns);
            self.line(if self.p.types.is_counted(node) {
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
