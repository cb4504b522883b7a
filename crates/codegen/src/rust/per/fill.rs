//! Reading into a place: a larger value is read where it stands, so that it is not moved there.

use super::{Per, WORD, bit_of};
use crate::rust::per_forms::{size, whole};
use crate::rust::values::{key_pattern, tuple};
use crate::rust::{At, local};
use crate::types::{Edge, Repr};
use tercet_plan::per::{Addition, Choice, Code, Sequence};
use tercet_plan::{FieldId, Kind, NodeId};

impl Per<'_, '_> {
    /// Whether what a component or the like holds is read where it stands.
    fn is_in_place(&self, edge: Edge, node: NodeId) -> bool {
        !self.p.types.is_boxed(edge) && self.p.is_filled(node)
    }

    /// The call that reads a value into `place`.
    fn fill(&self, place: &str, keys: &str, at: At<'_>) -> String {
        at.value(format!("{place}.fill_{}(r{keys})", self.rules))
    }

    /// The expression of a value that is filled.
    pub(super) fn filled(&self, node: NodeId, is_boxed: bool, keys: &str, at: At<'_>) -> String {
        let empty = format!("{}::EMPTY", self.p.names.ty(self.p.types.same(node)));
        let empty = if is_boxed { format!("Box::new({empty})") } else { empty };
        at.value(format!("parts::filled({empty}, |v| v.fill_{}(r{keys}))", self.rules))
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
            format!("parts::put(&mut value.{name}, {value});")
        }
    }

    /// The size and the alphabet of a component that is a string of characters and stands in `value` itself.
    fn characters(&self, id: FieldId) -> Option<(String, String)> {
        let node = self.p.types.same(self.p.types.shape.field(id).node);
        let is_time = matches!(self.p.types.shape.node(node).kind, Kind::UtcTime | Kind::GeneralizedTime);
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Text, Code::Characters(form, index))
                if !is_time
                    && !self.p.is_option(id)
                    && !self.p.types.is_boxed(Edge::Field(id))
                    && self.p.own(node, String::new()).is_empty() =>
            {
                Some((size(form), self.alphabet(index)))
            }
            _ => None,
        }
    }

    /// The statement that reads a component of `value`.
    fn fill_member(&self, node: NodeId, id: FieldId) -> String {
        let field = self.p.types.shape.field(id);
        if !self.is_in_place(Edge::Field(id), field.node) {
            if let Some((size, alphabet)) = self.characters(id) {
                let name = self.p.names.field(id);
                let call = format!("r.fill_characters::<{alphabet}>({size}, &mut value.{name})");
                return self.p.at(id).value(call) + ";";
            }
            return self.set(id, &self.present(id, self.read_member(node, id)));
        }
        let mut place = format!("value.{}", self.p.names.field(id));
        if self.p.is_option(id) {
            let ty = self.p.names.ty(self.p.types.same(field.node));
            place += &format!(".get_or_insert_with(|| {ty}::EMPTY)");
        }
        self.fill(&place, &self.p.keys_before(node, field.node), self.p.at(id)) + ";"
    }

    pub(super) fn fill_struct(&mut self, node: NodeId, sequence: &Sequence) {
        let extended = u32::from(sequence.extensible);
        let bits = extended + sequence.optional;
        self.presence(bits, "p");
        let mut bit = extended;
        // Components that select a row of a table have a variable of their own, since others look at them.
        let mut keys = Vec::new();
        for member in &sequence.root {
            let id = self.member_field(node, member.field);
            let condition = member.optional.then(|| bit_of("p", bits, bit));
            bit += u32::from(member.optional);
            if !self.p.types.has_keys(node, id) {
                let statement = self.fill_member(node, id);
                self.line(match condition {
                    Some(condition) => format!("if {condition} {{ {statement} }}"),
                    None => statement,
                });
                continue;
            }
            let name = self.p.names.field(id).to_owned();
            let key = local(&name);
            if condition.is_none() && self.is_in_place(Edge::Field(id), self.p.types.shape.field(id).node) {
                let statement = self.fill_member(node, id);
                self.line(statement);
                self.line(format!("let {key} = &value.{name};"));
                continue;
            }
            let mut value = self.present(id, self.read_member(node, id));
            if let Some(condition) = condition {
                value = format!("if {condition} {{ {value} }} else {{ {} }}", self.absent(id));
            }
            self.line(format!("let {key} = {value};"));
            keys.push(self.set(id, &key));
        }
        for set in keys {
            self.line(set);
        }
        if sequence.extensible {
            self.open(format!("if {} {{", bit_of("p", bits, 0)));
            self.additions(node, &sequence.additions);
            self.close("}");
        }
    }

    /// The additions, into the members of `value`.
    pub(super) fn additions(&mut self, node: NodeId, additions: &[Addition]) {
        let unknown = self.p.names.additions(node).map(str::to_owned);
        if additions.is_empty() {
            return match unknown {
                Some(name) => {
                    self.line(format!("parts::put(&mut value.{name}, r.all_unknown_additions()?);"));
                }
                None => self.line("r.skip_all_additions()?;"),
            };
        }
        self.line("let mut more = r.additions()?;");
        for addition in additions {
            let at = match addition {
                Addition::Single(field) => self.p.at(self.member_field(node, *field)),
                Addition::Group { .. } => At::Nothing,
            };
            self.open(format!("if let Some(open) = {} {{", at.value("r.addition(&mut more)")));
            match addition {
                Addition::Single(field) => {
                    let statement = self.fill_member(node, self.member_field(node, *field));
                    self.line(statement);
                }
                Addition::Group { optional, members, .. } => {
                    self.presence(*optional, "p");
                    let mut bit = 0;
                    for member in members {
                        let statement = self.fill_member(node, self.member_field(node, member.field));
                        if member.optional {
                            self.line(format!("if {} {{ {statement} }}", bit_of("p", *optional, bit)));
                            bit += 1;
                        } else {
                            self.line(statement);
                        }
                    }
                }
            }
            self.line("r.close(open);");
            self.close("}");
        }
        match unknown {
            Some(name) => {
                let known = additions.len();
                self.line(format!("parts::put(&mut value.{name}, r.unknown_additions({known}, more)?);"));
            }
            None => self.line("r.skip_additions(more)?;"),
        }
    }

    /// Reads the presence bits: up to 56 as one number, more as an array.
    pub(super) fn presence(&mut self, count: u32, name: &str) {
        match count {
            0 => {}
            1..=WORD => self.line(format!("let {name} = r.bits({count})?;")),
            _ => self.line(format!("let {name} = r.presence::<{count}>()?;")),
        }
    }

    /// The statements that choose an alternative or row, and read it.
    fn fill_one(&self, variant: &str, edge: Edge, node: NodeId, keys: &str, at: At<'_>) -> String {
        if self.is_in_place(edge, node) {
            let ty = self.p.names.ty(self.p.types.same(node));
            let fill = self.fill("v", keys, at);
            let put = format!("parts::put(value, Self::{variant}({ty}::EMPTY));");
            return if self.is_only(edge) {
                format!("{put} let Self::{variant}(v) = value; {fill};")
            } else {
                format!("{put} if let Self::{variant}(v) = value {{ {fill}; }}")
            };
        }
        format!("parts::put(value, Self::{variant}({}));", self.read_held(edge, node, keys, at))
    }

    /// Whether a place is the only alternative that a CHOICE has.
    fn is_only(&self, edge: Edge) -> bool {
        let shape = self.p.types.shape;
        let Edge::Field(id) = edge else { return false };
        let choice = shape.node(shape.field(id).parent);
        choice.count == 1 && !choice.extensible
    }

    fn fill_alternative(&self, node: NodeId, id: FieldId) -> String {
        let field = self.p.types.shape.field(id);
        let keys = self.p.keys_before(node, field.node);
        self.fill_one(self.p.names.field(id), Edge::Field(id), field.node, &keys, self.p.at(id))
    }

    pub(super) fn fill_choice(&mut self, node: NodeId, choice: &Choice) {
        if choice.extensible {
            self.open("if r.bit()? {");
            self.open("match r.small_number()? {");
            for (number, field) in choice.additions.iter().enumerate() {
                let id = self.member_field(node, *field);
                let open = self.p.at(id).value("r.open()");
                let fill = self.fill_alternative(node, id);
                self.line(format!("{number} => {{ let open = {open}; {fill} r.close(open); }}"));
            }
            let end = self.p.ended(node);
            let unknown = "r.unknown_alternative(number)?";
            let unknown = if end.is_empty() { unknown.into() } else { format!("Box::new({unknown}{end})") };
            self.line(format!("number => parts::put(value, Self::Unknown({unknown})),"));
            self.close("}");
            self.otherwise();
        }
        let count = choice.root.len();
        let method = if choice.extensible { "root_alternative" } else { "alternative" };
        self.open(format!("match r.{method}({}, {count})? {{", whole(choice.whole)));
        for (number, field) in choice.root.iter().enumerate() {
            let fill = self.fill_alternative(node, self.member_field(node, *field));
            // Greater numbers than that of the last are refused before.
            let number = if number + 1 == count { "_".into() } else { number.to_string() };
            self.arm(&number, &fill);
        }
        self.close("}");
        if choice.extensible {
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

    pub(super) fn fill_table(&mut self, node: NodeId, table: u32) {
        let shape = self.p.types.shape;
        let keys: Vec<String> = match &shape.node(node).table {
            Some(table) => table.keys.iter().map(|key| format!("k{key}")).collect(),
            None => Vec::new(),
        };
        let end = self.p.ended(node);
        self.open("let open = match r.open_type()? {");
        self.line("Ok(open) => open,");
        self.open("Err(v) => {");
        self.line(format!("parts::put(value, Self::Other(v{end}));"));
        self.line("return Ok(());");
        self.close("}");
        self.close("};");
        self.open(format!("match {} {{", tuple(&keys)));
        for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
            let Some(patterns) = row.keys.iter().map(key_pattern).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let variant = self.p.names.row(node, number).to_owned();
            let keys = self.no_keys(row.node);
            let mut fill = self.fill_one(&variant, Edge::Row(node, number), row.node, &keys, At::Nothing);
            if self.p.types.is_counted(node) {
                fill = format!("r.enter()?; {fill} r.leave();");
            }
            self.arm(&tuple(&patterns), &fill);
        }
        if !keys.is_empty() {
            self.line(format!("_ => parts::put(value, Self::Other(r.rest()?{end})),"));
        }
        self.close("}");
        self.line("r.close(open);");
    }
}
