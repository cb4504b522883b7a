//! Reading into a place: a larger value is read where it stands, so that it is not moved there.

use super::{Per, bit_of};
use crate::code::per::{Addition, Choice, Member, Members, Primitive, Struct, Value};
use crate::code::{Presence, Table};
use crate::rust::imports::{BOX, PARTS};
use crate::rust::per_forms::{size, whole};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::{Edge, Repr};
use tercet_plan::{FieldId, NodeId};

impl Per<'_, '_> {
    /// Whether what a component or the like holds is read where it stands.
    fn is_in_place(&self, edge: Edge, node: NodeId) -> bool {
        !self.p.types.is_boxed(edge) && self.p.is_filled(node)
    }

    /// The call that reads a value into `place`.
    fn fill(&self, place: &str, value: &Value, at: At<'_>) -> String {
        at.value(format!("{place}.fill_{}(r{})", self.rules, self.p.local_keys(&value.keys)))
    }

    /// The expression of a value that is filled.
    pub(super) fn filled(&self, value: &Value, is_boxed: bool, at: At<'_>) -> String {
        let empty = format!("{}::EMPTY", self.p.names.ty(value.node));
        let empty = if is_boxed { format!("{BOX}::new({empty})") } else { empty };
        let keys = self.p.local_keys(&value.keys);
        at.value(format!("{PARTS}::filled({empty}, |v| v.fill_{}(r{keys}))", self.rules))
    }

    /// The statement that sets a component of `value`, which has nothing to free.
    fn set(&self, id: FieldId, value: &str) -> String {
        let name = self.p.names.field(id);
        let is_plain = matches!(
            self.p.types.repr(self.p.types.shape.field(id).node),
            Repr::Boolean
                | Repr::Null
                | Repr::Integer { .. }
                | Repr::Float
                | Repr::Enumerated
                | Repr::FixedBits(_)
                | Repr::FixedOctets(_)
        );
        if is_plain && !self.p.types.is_boxed(Edge::Field(id)) {
            format!("value.{name} = {value};")
        } else {
            format!("{PARTS}::put(&mut value.{name}, {value});")
        }
    }

    /// The call that reads a string of characters into a component of `value`, where it stands in `value` itself.
    fn characters(&self, member: &Member<'_>) -> Option<String> {
        let Primitive::Characters(known, alphabet) = member.value.primitive else { return None };
        let is_there = member.presence != Presence::Optional
            && !self.p.types.is_boxed(Edge::Field(member.field))
            && !self.p.types.is_owned(member.value.node)
            && !self.p.types.is_newtype(member.value.node);
        let (name, alphabet) = (self.p.names.field(member.field), self.alphabet(alphabet));
        is_there.then(|| format!("r.fill_characters::<{alphabet}>({}, &mut value.{name})", size(known)))
    }

    /// The statement that reads a component of `value`.
    fn fill_member(&self, member: &Member<'_>) -> String {
        let at = At::Component(member.name);
        if !self.is_in_place(Edge::Field(member.field), member.value.node) {
            return match self.characters(member) {
                Some(call) => at.value(call) + ";",
                None => self.set(member.field, &self.present(member)),
            };
        }
        let mut place = format!("value.{}", self.p.names.field(member.field));
        if member.presence == Presence::Optional {
            let ty = self.p.names.ty(member.value.node);
            place += &format!(".get_or_insert_with(|| {ty}::EMPTY)");
        }
        self.fill(&place, &member.value, at) + ";"
    }

    pub(super) fn fill_struct(&mut self, node: NodeId, code: &Struct<'_>) {
        let extended = u32::from(code.extensible);
        let bits = extended + code.root.optional;
        self.presence(bits, "p");
        let mut bit = extended;
        // Components that select a row of a table have a variable of their own, since others look at them.
        let mut keys = Vec::new();
        for member in &code.root.members {
            let condition = member.optional.then(|| bit_of("p", bits, bit));
            bit += u32::from(member.optional);
            if member.selects {
                keys.extend(self.fill_key(member, condition));
                continue;
            }
            let statement = self.fill_member(member);
            self.line(match condition {
                Some(condition) => format!("if {condition} {{ {statement} }}"),
                None => statement,
            });
        }
        for set in keys {
            self.line(set);
        }
        if code.extensible {
            self.open(format!("if {} {{", bit_of("p", bits, 0)));
            self.additions(node, &code.additions);
            self.close("}");
        }
    }

    /// Reads a component that selects a row of a table, and returns the statement that sets it where it is in a variable.
    fn fill_key(&mut self, member: &Member<'_>, condition: Option<String>) -> Option<String> {
        let name = self.p.names.field(member.field).to_owned();
        let key = local(&name);
        if condition.is_none() && self.is_in_place(Edge::Field(member.field), member.value.node) {
            let statement = self.fill_member(member);
            self.line(statement);
            self.line(format!("let {key} = &value.{name};"));
            return None;
        }
        let mut value = self.present(member);
        if let Some(condition) = condition {
            value = format!("if {condition} {{ {value} }} else {{ {} }}", self.p.absent(member));
        }
        self.line(format!("let {key} = {value};"));
        Some(self.set(member.field, &key))
    }

    /// The additions, into the members of `value`.
    pub(super) fn additions(&mut self, node: NodeId, additions: &[Addition<'_>]) {
        let unknown = self.p.names.additions(node).map(str::to_owned);
        if additions.is_empty() {
            return match unknown {
                Some(name) => {
                    self.line(format!("{PARTS}::put(&mut value.{name}, r.all_unknown_additions()?);"));
                }
                None => self.line("r.skip_all_additions()?;"),
            };
        }
        self.line("let mut more = r.additions()?;");
        for addition in additions {
            let at = match addition {
                Addition::Single(member) => At::Component(member.name),
                Addition::Group(_) => At::Nothing,
            };
            self.open(format!("if let Some(open) = {} {{", at.value("r.addition(&mut more)")));
            match addition {
                Addition::Single(member) => {
                    let statement = self.fill_member(member);
                    self.line(statement);
                }
                Addition::Group(group) => self.fill_group(group),
            }
            self.line("r.close(open);");
            self.close("}");
        }
        match unknown {
            Some(name) => {
                let known = additions.len();
                self.line(format!("{PARTS}::put(&mut value.{name}, r.unknown_additions({known}, more)?);"));
            }
            None => self.line("r.skip_additions(more)?;"),
        }
    }

    fn fill_group(&mut self, group: &Members<'_>) {
        self.presence(group.optional, "p");
        let mut bit = 0;
        for member in &group.members {
            let statement = self.fill_member(member);
            if member.optional {
                self.line(format!("if {} {{ {statement} }}", bit_of("p", group.optional, bit)));
                bit += 1;
            } else {
                self.line(statement);
            }
        }
    }

    /// The statements that choose an alternative or row, and read it.
    fn fill_one(&self, variant: &str, edge: Edge, value: &Value, at: At<'_>) -> String {
        if self.is_in_place(edge, value.node) {
            let ty = self.p.names.ty(value.node);
            let fill = self.fill("v", value, at);
            let put = format!("{PARTS}::put(value, Self::{variant}({ty}::EMPTY));");
            return if self.is_only(edge) {
                format!("{put} let Self::{variant}(v) = value; {fill};")
            } else {
                format!("{put} if let Self::{variant}(v) = value {{ {fill}; }}")
            };
        }
        format!("{PARTS}::put(value, Self::{variant}({}));", self.read_held(edge, value, at))
    }

    /// Whether a place is the only alternative that a CHOICE has.
    fn is_only(&self, edge: Edge) -> bool {
        let shape = self.p.types.shape;
        let Edge::Field(id) = edge else { return false };
        let choice = shape.node(shape.field(id).parent);
        choice.count == 1 && !choice.extensible
    }

    fn fill_alternative(&self, member: &Member<'_>) -> String {
        let (variant, edge) = (self.p.names.field(member.field), Edge::Field(member.field));
        self.fill_one(variant, edge, &member.value, At::Component(member.name))
    }

    pub(super) fn fill_choice(&mut self, node: NodeId, code: &Choice<'_>) {
        if code.extensible {
            self.open("if r.bit()? {");
            self.open("match r.small_number()? {");
            for (number, member) in code.additions.iter().enumerate() {
                let open = At::Component(member.name).value("r.open()");
                let fill = self.fill_alternative(member);
                self.line(format!("{number} => {{ let open = {open}; {fill} r.close(open); }}"));
            }
            let end = self.p.ended(node);
            let unknown = "r.unknown_alternative(number)?";
            let unknown = if end.is_empty() { unknown.into() } else { format!("{BOX}::new({unknown}{end})") };
            self.line(format!("number => {PARTS}::put(value, Self::Unknown({unknown})),"));
            self.close("}");
            self.otherwise();
        }
        let count = code.root.len();
        let method = if code.extensible { "root_alternative" } else { "alternative" };
        self.open(format!("match r.{method}({}, {count})? {{", whole(code.whole)));
        for (number, member) in code.root.iter().enumerate() {
            let fill = self.fill_alternative(member);
            // Greater numbers than that of the last are refused before.
            let number = if number + 1 == count { "_".into() } else { number.to_string() };
            self.arm(&number, &fill);
        }
        self.close("}");
        if code.extensible {
            self.close("}");
        }
    }

    /// An arm of one statement or more.
    fn arm(&mut self, pattern: &str, statements: &str) {
        self.line(match statements.strip_suffix(';') {
            Some(one) if !one.contains("; ") => format!("{pattern} => {one},"),
            _ => format!("{pattern} => {{ {statements} }}"),
        });
    }

    pub(super) fn fill_table(&mut self, node: NodeId, code: &Table<'_, Value>) {
        let keys: Vec<String> = code.registers.iter().map(|key| format!("k{key}")).collect();
        let end = self.p.ended(node);
        self.open("let open = match r.open_type()? {");
        self.line("Ok(open) => open,");
        self.open("Err(v) => {");
        self.line(format!("{PARTS}::put(value, Self::Other(v{end}));"));
        self.line("return Ok(());");
        self.close("}");
        self.close("};");
        self.open(format!("match {} {{", tuple(&keys)));
        for row in &code.rows {
            let Some(known) = row.keys else { continue };
            let patterns: Vec<String> = known.iter().filter_map(key_pattern).collect();
            let variant = self.p.names.row(node, row.number).to_owned();
            let mut fill = self.fill_one(&variant, Edge::Row(node, row.number), &row.value, At::Nothing);
            if code.counted {
                fill = format!("r.enter()?; {fill} r.leave();");
            }
            self.arm(&tuple(&patterns), &fill);
        }
        if !keys.is_empty() {
            self.line(format!("_ => {PARTS}::put(value, Self::Other(r.rest()?{end})),"));
        }
        self.close("}");
        self.line("r.close(open);");
    }
}
