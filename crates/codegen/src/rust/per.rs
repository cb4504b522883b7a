//! Codecs for PER, aligned and unaligned.

use super::Printer;
use super::ber::{deref, local, receiver};
use super::names::snake;
use super::per_forms::{alphabet, size, whole};
use super::values::{key_pattern, string_kind, tuple};
use crate::types::{Edge, Repr};
use std::collections::BTreeSet;
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, Member, Program, Size};
use tercet_plan::{FieldId, Kind, NodeId};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let rules = if program.aligned { "aper" } else { "uper" };
    let mut per = Per { p, program, rules };
    per.alphabets();
    let nodes: Vec<NodeId> = per.p.types.nodes().collect();
    for node in nodes {
        per.node(node);
    }
    for root in per.p.types.roots() {
        per.root(root);
    }
}

struct Per<'p, 'm> {
    p: &'p mut Printer<'m>,
    program: &'p Program,
    rules: &'static str,
}

impl Per<'_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.p.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.p.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.p.text.close(line);
    }

    fn otherwise(&mut self) {
        self.p.text.otherwise();
    }

    fn code(&self, node: NodeId) -> Code {
        self.program.nodes[self.p.types.same(node).index()]
    }

    fn alphabets(&mut self) {
        let program = self.program;
        for (i, known) in program.alphabets.iter().enumerate() {
            self.line("");
            for line in alphabet(&self.alphabet(i as u32), known) {
                self.line(line);
            }
        }
    }

    fn alphabet(&self, index: u32) -> String {
        format!("{}_ALPHABET_{index}", self.rules.to_uppercase())
    }

    fn node(&mut self, node: NodeId) {
        let rules = self.rules;
        let aligned = self.program.aligned;
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let reader = if lifetime.is_empty() { "'_" } else { "'a" };
        let keys = self.p.key_parameters(node);
        match self.p.types.repr(node) {
            Repr::Struct | Repr::Choice | Repr::Table(_) | Repr::Enumerated => {
                let generic = if lifetime.is_empty() { "" } else { "<'a>" };
                self.line("");
                self.open(format!("impl{generic} {name}{lifetime} {{"));
                self.open(format!(
                    "fn read_{rules}(r: &mut per::Reader<{reader}, {aligned}>{keys}) -> Result<Self> {{"
                ));
                let recursive = self.p.types.is_recursive(node);
                if recursive {
                    self.line("r.enter()?;");
                }
                match (self.p.types.repr(node), self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) => self.read_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.read_choice(node, code),
                    (Repr::Enumerated, Code::Enumerated(code)) => self.read_enumerated(node, code),
                    (Repr::Table(table), _) => self.read_table(node, table),
                    _ => self.line("let value = Err(r.error(ErrorKind::Unsupported))?;"),
                }
                if recursive {
                    self.line("r.leave();");
                }
                self.line("Ok(value)");
                self.close("}");
                self.line("");
                self.open(format!(
                    "fn write_{rules}(&self, w: &mut per::Writer<{aligned}>) -> Result<()> {{"
                ));
                match (self.p.types.repr(node), self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) => self.write_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.write_choice(node, code),
                    (Repr::Enumerated, Code::Enumerated(code)) => self.write_enumerated(node, code),
                    (Repr::Table(table), _) => self.write_table(node, table),
                    _ => self.line("return Err(Error::new(ErrorKind::Unsupported, 0));"),
                }
                self.line("Ok(())");
                self.close("}");
                self.close("}");
            }
            Repr::List => self.list(node, reader, &lifetime, &keys),
            _ => {}
        }
    }

    fn function(&self, node: NodeId) -> String {
        snake(self.p.names.ty(self.p.types.same(node))).trim_start_matches("r#").to_owned()
    }

    fn no_keys(&self, node: NodeId) -> String {
        self.p.key_arguments(node, &|_| None, &BTreeSet::new())
    }

    // Reading

    /// The expression that reads a value.
    fn read(&self, node: NodeId, keys: &str) -> String {
        let node = self.p.types.same(node);
        let rules = self.rules;
        let kind = self.p.types.shape.node(node).kind;
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Boolean, _) => "r.bit()?".into(),
            (Repr::Null, _) => "()".into(),
            (Repr::Integer { signed, bits }, Code::Integer(form)) => self.read_integer(form, signed, bits),
            (Repr::Big, Code::Integer(form)) => self.read_big(form),
            (Repr::Real, _) => "r.real()?".into(),
            (Repr::FixedBits(bits), Code::BitString(form, _))
                if form.is_fixed() && form.lo == bits && !form.extensible =>
            {
                format!("r.fixed_bits::<{bits}>()?")
            }
            (Repr::FixedBits(bits), Code::BitString(form, _)) => format!(
                "per::fixed_of_bits::<{bits}>(r.bit_string({})?).ok_or_else(|| r.error(ErrorKind::ConstraintViolated))?",
                size(form)
            ),
            (Repr::Bits, Code::BitString(form, _)) => format!("r.bit_string({})?", size(form)),
            (Repr::FixedOctets(count), Code::OctetString(form))
                if form.is_fixed() && form.lo == count && !form.extensible =>
            {
                format!("r.fixed_octets::<{count}>()?")
            }
            (Repr::FixedOctets(_), Code::OctetString(form)) => format!(
                "r.octet_string({})?[..].try_into().map_err(|_| r.error(ErrorKind::ConstraintViolated))?",
                size(form)
            ),
            (Repr::Octets, Code::OctetString(form)) => format!("r.octet_string({})?", size(form)),
            (Repr::Oid, _) => "r.oid()?".into(),
            (Repr::RelativeOid, _) => "r.relative_oid()?".into(),
            (Repr::Any, _) => "r.contents()?".into(),
            (Repr::Text, Code::Characters(form, index)) => {
                let check = match kind {
                    Kind::UtcTime => ".and_then(per::utc_time)",
                    Kind::GeneralizedTime => ".and_then(per::generalized_time)",
                    _ => "",
                };
                format!("r.characters({}, &{}){check}?", size(form), self.alphabet(index))
            }
            (Repr::Text, Code::Contents) => match string_kind(kind) {
                Some(kind) => format!("r.other_string(StringKind::{kind:?})?"),
                None => "return Err(r.error(ErrorKind::Unsupported))".into(),
            },
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                let unit = if kind == Kind::BitString { 1 } else { 8 };
                let value = self.p.boxed(Edge::Content(node), self.read(inside, &self.no_keys(inside)));
                format!("r.contained({}, {unit}, |r| Ok({value}))?", size(form))
            }
            (Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_), _) => {
                format!("{}::read_{rules}(r{keys})?", self.p.names.ty(node))
            }
            (Repr::List, _) => format!("read_{rules}_{}(r{keys})?", self.function(node)),
            _ => "return Err(r.error(ErrorKind::Unsupported))".into(),
        }
    }

    fn read_integer(&self, integer: Integer, signed: bool, bits: u8) -> String {
        let ty = format!("{}{bits}", if signed { "i" } else { "u" });
        let root = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                let number = format!("r.whole({}, {span})?", whole(form));
                let top = i128::from(lo) + i128::from(span);
                let most = if signed { (1_i128 << (bits - 1)) - 1 } else { (1_i128 << bits) - 1 };
                let least = if signed { -(1_i128 << (bits - 1)) } else { 0 };
                if top > most || i128::from(lo) < least {
                    // The type is narrower than what the rules see.
                    format!(
                        "{ty}::try_from(i128::from({number}) + {lo}).map_err(|_| r.error(ErrorKind::IntegerRange))?"
                    )
                } else if lo == 0 {
                    format!("({number}) as {ty}")
                } else if signed || top <= i128::from(i64::MAX) {
                    format!("({lo}_i64).wrapping_add(({number}) as i64) as {ty}")
                } else {
                    format!("({lo}_u64 + {number}) as {ty}")
                }
            }
            _ => format!(
                "{{ let number = {}; r.narrow::<{ty}>(&number)? }}",
                self.read_big(Integer { extensible: false, form: integer.form })
            ),
        };
        if integer.extensible {
            return format!(
                "if r.bit()? {{ let number = r.unconstrained()?; r.narrow::<{ty}>(&number)? }} else {{ {root} }}"
            );
        }
        root
    }

    fn read_big(&self, integer: Integer) -> String {
        let root = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                format!("Integer::from(i128::from(r.whole({}, {span})?) + {lo})", whole(form))
            }
            IntegerForm::SemiConstrained(lo) => format!("r.semi_constrained({lo})?"),
            IntegerForm::Unconstrained => "r.unconstrained()?".into(),
            IntegerForm::Large(index) => {
                let large = &self.program.large[index as usize];
                match &large.span {
                    Some(span) => format!("r.large(&{:?}, &{span:?})?", large.lo),
                    None => format!("r.semi_constrained_large(&{:?})?", large.lo),
                }
            }
        };
        if integer.extensible {
            return format!("if r.bit()? {{ r.unconstrained()? }} else {{ {root} }}");
        }
        root
    }

    fn member_field(&self, node: NodeId, number: u32) -> FieldId {
        FieldId(self.p.types.shape.node(node).first + number)
    }

    /// The arguments for keys of a component: from the components before it, else from around.
    fn keys_of(&self, parent: NodeId, node: NodeId) -> String {
        let shape = self.p.types.shape;
        let own = |key: u16| {
            let (id, field) = shape.fields_of(parent).find(|(_, field)| field.key == Some(key))?;
            let local = local(self.p.names.field(id));
            let boxed = self.p.types.is_boxed(Edge::Field(id));
            if self.p.is_option(id) {
                let value = self.p.as_key(field.node, if boxed { "(&**v)" } else { "v" })?;
                Some(format!("match &{local} {{ Some(v) => {value}, None => Key::None }}"))
            } else {
                self.p.as_key(field.node, &if boxed { format!("(&*{local})") } else { format!("(&{local})") })
            }
        };
        self.p.key_arguments(node, &own, self.p.types.keys(parent))
    }

    fn read_member(&self, node: NodeId, id: FieldId) -> String {
        let field = self.p.types.shape.field(id);
        let keys = self.keys_of(node, field.node);
        self.p.boxed(Edge::Field(id), self.read(field.node, &keys))
    }

    /// What a component is when it is absent.
    fn absent(&self, id: FieldId) -> String {
        if self.p.is_option(id) {
            "None".into()
        } else {
            self.p.default_value(id).unwrap_or_else(|| "None".into())
        }
    }

    fn present(&self, id: FieldId, value: String) -> String {
        if self.p.is_option(id) { format!("Some({value})") } else { value }
    }

    fn read_struct(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        if sequence.extensible {
            self.line("let extended = r.bit()?;");
        }
        self.presence(sequence.optional, "p");
        self.members(node, &sequence.root, sequence.optional, "p");
        let all: Vec<FieldId> = sequence
            .additions
            .iter()
            .flat_map(|addition| match addition {
                Addition::Single(field) => vec![self.member_field(node, *field)],
                Addition::Group { members, .. } => {
                    members.iter().map(|member| self.member_field(node, member.field)).collect()
                }
            })
            .collect();
        for id in &all {
            let line = format!("let mut {} = {};", local(self.p.names.field(*id)), self.absent(*id));
            self.line(line);
        }
        if sequence.extensible {
            self.open("if extended {");
            let known = if sequence.additions.is_empty() { "" } else { "mut " };
            self.line(format!("let {known}additions = r.additions()?;"));
            for addition in &sequence.additions {
                self.open("if r.next_addition(&mut additions) {");
                self.line("let open = r.open()?;");
                match addition {
                    Addition::Single(field) => {
                        let id = self.member_field(node, *field);
                        let value = self.present(id, self.read_member(node, id));
                        let line = format!("{} = {value};", local(self.p.names.field(id)));
                        self.line(line);
                    }
                    Addition::Group { optional, members, .. } => {
                        self.presence(*optional, "g");
                        let mut bit = 0;
                        for member in members {
                            let id = self.member_field(node, member.field);
                            let value = self.present(id, self.read_member(node, id));
                            let line = format!("{} = {value};", local(self.p.names.field(id)));
                            if member.optional {
                                self.open(format!("if {} {{", bit_of("g", *optional, bit)));
                                self.line(line);
                                self.close("}");
                                bit += 1;
                            } else {
                                self.line(line);
                            }
                        }
                    }
                }
                self.line("r.close(open);");
                self.close("}");
            }
            self.line("r.skip_additions(additions)?;");
            self.close("}");
        }
        let members: Vec<String> = self
            .p
            .types
            .shape
            .fields_of(node)
            .map(|(id, _)| {
                let name = self.p.names.field(id);
                format!("{name}: {}", local(name))
            })
            .collect();
        self.line(format!("let value = Self {{ {} }};", members.join(", ")));
    }

    /// Reads the presence bits: up to 64 as one number, more as an array.
    fn presence(&mut self, count: u32, name: &str) {
        match count {
            0 => {}
            1..=64 => self.line(format!("let {name} = r.bits({count})?;")),
            _ => self.line(format!("let {name} = r.presence::<{count}>()?;")),
        }
    }

    fn members(&mut self, node: NodeId, members: &[Member], count: u32, name: &str) {
        let mut bit = 0;
        for member in members {
            let id = self.member_field(node, member.field);
            let value = self.read_member(node, id);
            let local = local(self.p.names.field(id));
            if member.optional {
                let present = self.present(id, value);
                let absent = self.absent(id);
                self.line(format!(
                    "let {local} = if {} {{ {present} }} else {{ {absent} }};",
                    bit_of(name, count, bit)
                ));
                bit += 1;
            } else {
                let value = self.present(id, value);
                self.line(format!("let {local} = {value};"));
            }
        }
    }

    fn read_choice(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        if choice.extensible {
            self.open("let value = if r.bit()? {");
            self.line("let number = r.small_number()?;");
            self.open("match number {");
            for (number, field) in choice.additions.iter().enumerate() {
                let id = self.member_field(node, *field);
                let value = self.read_member(node, id);
                let variant = self.p.names.field(id).to_owned();
                self.line(format!(
                    "{number} => {{ let open = r.open()?; let v = {value}; r.close(open); Self::{variant}(v) }}"
                ));
            }
            self.line("_ => Self::Unknown(Box::new(UnknownAlternative { addition: Some(number), octets: r.contents()? })),");
            self.close("}");
            self.otherwise();
        } else {
            self.open("let value = {");
        }
        let count = choice.root.len();
        self.open(format!(
            "match r.index({}, {count}, ErrorKind::UnknownAlternative)? {{",
            whole(choice.whole)
        ));
        for (number, field) in choice.root.iter().enumerate() {
            let id = self.member_field(node, *field);
            let value = self.read_member(node, id);
            let variant = self.p.names.field(id).to_owned();
            self.line(format!("{number} => Self::{variant}({value}),"));
        }
        self.line("_ => return Err(r.error(ErrorKind::UnknownAlternative)),");
        self.close("}");
        self.close("};");
    }

    fn read_enumerated(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        if enumerated.extensible {
            self.open("let value = if r.bit()? {");
            self.line("let number = r.small_number()?;");
            self.open("match number {");
            for (number, value) in enumerated.additions.iter().enumerate() {
                let item = self.p.names.item(node, *value).to_owned();
                self.line(format!("{number} => Self::{item},"));
            }
            self.line("_ => Self::UnknownAddition(number),");
            self.close("}");
            self.otherwise();
        } else {
            self.open("let value = {");
        }
        self.open(format!(
            "match r.index({}, {}, ErrorKind::UnknownEnumeration)? {{",
            whole(enumerated.whole),
            enumerated.root.len()
        ));
        for (number, value) in enumerated.root.iter().enumerate() {
            let item = self.p.names.item(node, *value).to_owned();
            self.line(format!("{number} => Self::{item},"));
        }
        self.line("_ => return Err(r.error(ErrorKind::UnknownEnumeration)),");
        self.close("}");
        self.close("};");
    }

    fn read_table(&mut self, node: NodeId, table: u32) {
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
            let value = self.p.boxed(Edge::Row(node, number), self.read(row.node, &self.no_keys(row.node)));
            let variant = self.p.names.row(node, number).to_owned();
            self.line(format!(
                "{} => {{ let open = r.open()?; let v = {value}; r.close(open); Self::{variant}(v) }}",
                tuple(&patterns)
            ));
        }
        if !keys.is_empty() {
            self.line("_ => Self::Other(r.contents()?),");
        }
        self.close("};");
    }

    fn list(&mut self, node: NodeId, reader: &str, lifetime: &str, keys: &str) {
        let Code::SequenceOf(form, _) = self.code(node) else { return };
        let (rules, aligned) = (self.rules, self.program.aligned);
        let function = self.function(node);
        let element = self.p.types.element(node);
        let ty = self.p.ty(element, "'a");
        let generic = if lifetime.is_empty() { "" } else { "<'a>" };
        let arguments = self.p.key_arguments(element, &|_| None, self.p.types.keys(node));
        let value = self.read(element, &arguments);
        self.line("");
        self.open(format!(
            "fn read_{rules}_{function}{generic}(r: &mut per::Reader<{reader}, {aligned}>{keys}) -> Result<Vec<{ty}>> {{"
        ));
        let recursive = self.p.types.is_recursive(node);
        if recursive {
            self.line("r.enter()?;");
        }
        self.line(format!("let mut length = r.size({})?;", size(form)));
        self.line("let mut list = Vec::with_capacity(r.room(length));");
        self.open("loop {");
        self.line("let start = r.position();");
        self.open("for _ in 0..length.count {");
        self.line(format!("list.push({value});"));
        self.close("}");
        self.line("r.end_list(start, length.count)?;");
        self.line("if !length.more { break; }");
        self.line("length = r.length()?;");
        self.close("}");
        if recursive {
            self.line("r.leave();");
        }
        self.line("Ok(list)");
        self.close("}");
        self.line("");
        let ty = self.p.ty(element, "'_");
        self.open(format!(
            "fn write_{rules}_{function}(list: &[{ty}], w: &mut per::Writer<{aligned}>) -> Result<()> {{"
        ));
        let is_set = self.p.types.shape.node(node).kind == Kind::SetOf;
        if is_set {
            self.line(format!("let canonical: Vec<&{ty}>;"));
            self.open("if w.is_canonical() {");
            self.open("canonical = w.sorted(list, |w, v| {");
            self.write(element, "v");
            self.line("Ok(())");
            self.close("})?;");
            self.otherwise();
            self.line("canonical = list.iter().collect();");
            self.close("}");
            self.line("let list = canonical;");
        }
        self.line(format!("let mut length = w.size({}, list.len())?;", size(form)));
        self.line("let mut rest = &list[..];");
        self.open("loop {");
        self.line("let (now, behind) = rest.split_at_checked(length.count).unwrap_or((rest, &[]));");
        self.open(if is_set { "for &v in now {" } else { "for v in now {" });
        self.write(element, "v");
        self.close("}");
        self.line("rest = behind;");
        self.line("if !length.more { return Ok(()); }");
        self.line("length = w.length(rest.len());");
        self.close("}");
        self.close("}");
    }

    // Writing

    /// The lines that write the value that the expression `v` refers to.
    fn write(&mut self, node: NodeId, v: &str) {
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

    fn write_contained(&mut self, node: NodeId, inside: NodeId, form: Size, kind: Kind, v: &str) {
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

    fn write_integer(&mut self, integer: Integer, v: &str) {
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

    fn write_big(&mut self, integer: Integer, v: &str) {
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

    fn in_root(&self, form: IntegerForm, v: &str) -> String {
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

    fn write_struct(&mut self, node: NodeId, code: u32) {
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

    fn write_choice(&mut self, node: NodeId, code: u32) {
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

    fn alternative(&mut self, id: FieldId) {
        let v = if self.p.types.is_boxed(Edge::Field(id)) { "&**v" } else { "v" };
        self.write(self.p.types.shape.field(id).node, v);
    }

    fn write_enumerated(&mut self, node: NodeId, code: u32) {
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

    fn write_table(&mut self, node: NodeId, table: u32) {
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

    // Roots

    fn root(&mut self, root: NodeId) {
        let node = self.p.types.same(root);
        let aligned = self.program.aligned;
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let wrapped = self.p.is_wrapped(node);
        let family = if aligned { "AperType" } else { "UperType" };
        self.line("");
        self.open(format!("impl<'a> codec::{family}<'a> for {name}{lifetime} {{"));
        self.open(format!("fn read(r: &mut per::Reader<'a, {aligned}>) -> Result<Self> {{"));
        let value = self.read(root, &self.no_keys(root));
        self.line(format!("let v = {value};"));
        self.line(if wrapped { "Ok(Self(v))" } else { "Ok(v)" });
        self.close("}");
        self.line("");
        self.open(format!("fn write(&self, w: &mut per::Writer<{aligned}>) -> Result<()> {{"));
        self.write(root, if wrapped { "&self.0" } else { "self" });
        self.line("Ok(())");
        self.close("}");
        self.close("}");
    }
}

/// The condition that a presence bit is set.
fn bit_of(name: &str, count: u32, bit: u32) -> String {
    if count <= 64 { format!("{name} >> {} & 1 != 0", count - 1 - bit) } else { format!("{name}[{bit}]") }
}
