//! Codecs for PER, aligned and unaligned.

mod fill;
mod read;
mod tables;
mod times;
mod write;

use super::names::snake;
use super::per_forms::{alphabet, size};
use super::{At, Printer, RootType};
use crate::types::Repr;
use std::collections::BTreeSet;
use tercet_plan::per::{Code, Program};
use tercet_plan::{FieldId, Kind, NodeId};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let rules = if program.aligned { "aper" } else { "uper" };
    let mut per = Per { p, program, rules, tables: tables::Tables::default() };
    per.number_types();
    per.alphabets();
    per.times();
    let nodes: Vec<NodeId> = per.p.types.nodes().collect();
    for node in nodes {
        per.node(node);
    }
    for root in per.p.roots.clone() {
        per.root(&root);
    }
    per.print_tables();
}

struct Per<'p, 'm> {
    p: &'p mut Printer<'m>,
    program: &'p Program,
    rules: &'static str,
    tables: tables::Tables,
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
            alphabet(&self.alphabet(i as u32), known).lines().for_each(|line| self.line(line));
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
        if self.p.types.is_tabled(node) {
            return self.table(node);
        }
        match self.p.types.repr(node) {
            Repr::Struct | Repr::Choice | Repr::Table(_) | Repr::Enumerated => {
                let generic = if lifetime.is_empty() { "" } else { "<'a>" };
                self.line("");
                self.open(format!("impl{generic} {name}{lifetime} {{"));
                self.apart(node);
                let fills = self.p.is_filled(node);
                self.open(if fills {
                    format!(
                        "fn fill_{rules}(&mut self, r: &mut per::Reader<{reader}, {aligned}>{keys}) -> Result<()> {{"
                    )
                } else {
                    format!("fn read_{rules}(r: &mut per::Reader<{reader}, {aligned}>{keys}) -> Result<Self> {{")
                });
                let counted = self.p.types.is_counted_whole(node);
                if counted {
                    self.line("r.enter()?;");
                }
                if fills {
                    self.line("let value = self;");
                }
                let program = self.program;
                match (self.p.types.repr(node), self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) if fills => {
                        self.fill_struct(node, &program.sequences[code as usize]);
                    }
                    (Repr::Choice, Code::Choice(code)) if fills => {
                        self.fill_choice(node, &program.choices[code as usize]);
                    }
                    (Repr::Table(table), _) if fills => self.fill_table(node, table),
                    (Repr::Struct, Code::Sequence(code)) => self.read_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.read_choice(node, code),
                    (Repr::Enumerated, Code::Enumerated(code)) => self.read_enumerated(node, code),
                    (Repr::Table(table), _) => self.read_table(node, table),
                    _ => self.line("Err(r.error(ErrorKind::Unsupported))"),
                }
                if fills {
                    if counted {
                        self.line("r.leave();");
                    }
                    self.line("Ok(())");
                }
                self.close("}");
                self.apart(node);
                self.open(format!(
                    "fn write_{rules}(&self, w: &mut per::Writer<{aligned}>) -> Result<()> {{"
                ));
                if counted {
                    // The code of the value ends with an expression.
                    self.line("w.begin_value()?;");
                    self.line(format!("self.write_{rules}_inside(w)?;"));
                    self.line("w.end_value();");
                    self.line("Ok(())");
                    self.close("}");
                    self.apart(node);
                    self.open(format!(
                        "fn write_{rules}_inside(&self, w: &mut per::Writer<{aligned}>) -> Result<()> {{"
                    ));
                }
                match (self.p.types.repr(node), self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) => self.write_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.write_choice(node, code),
                    (Repr::Enumerated, Code::Enumerated(code)) => self.write_enumerated(node, code),
                    (Repr::Table(table), _) => self.write_table(node, table),
                    _ => self.line("Err(Error::new(ErrorKind::Unsupported, 0))"),
                }
                self.close("}");
                self.close("}");
            }
            Repr::List => self.list(node, reader, &lifetime, &keys),
            _ => {}
        }
    }

    /// Keeps the codec of a type that has others inside out of those of the types around it: with all of them kept apart,
    /// compiling the code of MeasConfig of NR RRC took 7.2 s rather than 10.5 s. Small ones are decoded faster within others.
    fn apart(&mut self, node: NodeId) {
        let shape = self.p.types.shape;
        let fields: Vec<NodeId> = shape.fields_of(node).map(|(_, field)| field.node).collect();
        let is_outer =
            |node: &NodeId| matches!(self.p.types.repr(*node), Repr::Struct | Repr::Choice | Repr::List);
        let is_apart = matches!(self.p.types.repr(node), Repr::Struct | Repr::Choice)
            && fields.len() > SMALL
            && fields.iter().any(is_outer);
        if is_apart {
            self.line("#[inline(never)]");
        }
    }

    fn function(&self, node: NodeId) -> String {
        snake(self.p.names.ty(self.p.types.same(node))).trim_start_matches("r#").to_owned()
    }

    fn no_keys(&self, node: NodeId) -> String {
        self.p.key_arguments(node, &|_| None, &BTreeSet::new())
    }

    fn member_field(&self, node: NodeId, number: u32) -> FieldId {
        FieldId(self.p.types.shape.node(node).first + number)
    }

    fn list(&mut self, node: NodeId, reader: &str, lifetime: &str, keys: &str) {
        let Code::SequenceOf(form, _) = self.code(node) else { return };
        let (rules, aligned) = (self.rules, self.program.aligned);
        let function = self.function(node);
        let element = self.p.types.element(node);
        let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
        let lazy = self.p.types.is_lazy(node);
        let generic = if lifetime.is_empty() { "" } else { "<'a>" };
        let arguments = self.p.key_arguments(element, &|_| None, self.p.types.keys(node));
        let value = self.read(element, &arguments, At::Nothing);
        let counted = self.p.types.is_counted(node);
        self.line("");
        self.open(format!(
            "fn read_{rules}_{function}{generic}(r: &mut per::Reader<{reader}, {aligned}>{keys}) -> Result<{ty}> {{"
        ));
        let list = if self.p.is_filled(element) {
            let ty = self.p.names.ty(self.p.types.same(element));
            let fill = if arguments.is_empty() {
                format!("{ty}::fill_{rules}")
            } else {
                format!("|v, r| v.fill_{rules}(r{arguments})")
            };
            format!("r.list_filled({}, || {ty}::EMPTY, {fill})", size(form))
        } else {
            format!("r.list({}, {})", size(form), closure("r", &value))
        };
        if counted {
            self.line("r.enter()?;");
            self.line(format!("let list = {list}?;"));
            self.line("r.leave();");
            self.line(if lazy { "Ok(list.into())" } else { "Ok(list)" });
        } else if lazy {
            self.line(format!("Ok({list}?.into())"));
        } else {
            self.line(list);
        }
        self.close("}");
        self.line("");
        let ty = self.p.ty(element, "'_");
        let method = if self.p.types.shape.node(node).kind == Kind::SetOf { "set_of" } else { "list" };
        let list = if lazy { format!("SequenceOf<'_, {ty}>") } else { format!("[{ty}]") };
        self.open(format!(
            "fn write_{rules}_{function}(list: &{list}, w: &mut per::Writer<{aligned}>) -> Result<()> {{"
        ));
        if lazy {
            self.line("let list = &list.to_vec()?[..];");
        }
        if counted {
            self.line("w.begin_value()?;");
        }
        self.open(format!("w.{method}({}, list, |w, v| {{", size(form)));
        if !self.write(element, "v", At::Nothing, true) {
            self.line("Ok(())");
        }
        if counted {
            self.close("})?;");
            self.line("w.end_value();");
            self.line("Ok(())");
        } else {
            self.close("})");
        }
        self.close("}");
    }

    // Roots

    fn root(&mut self, root: &RootType) {
        let RootType { node: root, name, wraps: wrapped, .. } = root.clone();
        let node = self.p.types.same(root);
        let aligned = self.program.aligned;
        let lifetime = self.p.lifetime(node, "'a");
        let family = if aligned { "AperType" } else { "UperType" };
        self.line("");
        self.open(format!("impl<'a> codec::{family}<'a> for {name}{lifetime} {{"));
        let known = self.p.name_const(root);
        self.line(known);
        self.line("");
        self.open(format!("fn read(r: &mut per::Reader<'a, {aligned}>) -> Result<Self> {{"));
        let value = self.read(root, &self.no_keys(root), At::Nothing);
        self.line(if wrapped { format!("Ok(Self({value}))") } else { ok(&value) });
        self.close("}");
        self.line("");
        self.open(format!("fn write(&self, w: &mut per::Writer<{aligned}>) -> Result<()> {{"));
        if !self.write(root, if wrapped { "&self.0" } else { "self" }, At::Nothing, true) {
            self.line("Ok(())");
        }
        self.close("}");
        self.close("}");
    }
}

/// An expression with `?` in it as a result.
pub(super) fn ok(value: &str) -> String {
    match value.strip_suffix('?') {
        // The only `?` is at the end of a call.
        Some(call) if !call.contains('?') && !call.contains('{') && !call.starts_with('(') => call.to_owned(),
        _ => format!("Ok({value})"),
    }
}

/// A closure that reads a value with a reader or the like named so.
pub(super) fn closure(name: &str, value: &str) -> String {
    let result = ok(value);
    match result.strip_suffix(&format!("({name})")) {
        Some(function) if !function.contains(['(', '.']) => function.to_owned(),
        _ => format!("|{name}| {result}"),
    }
}

/// The condition that a presence bit is set.
fn bit_of(name: &str, count: u32, bit: u32) -> String {
    if count <= WORD {
        format!("{name} & {:#x} != 0", 1_u64 << (count - 1 - bit))
    } else {
        format!("{name}[{bit}]")
    }
}

/// Components of a type that is read and written within the types around it.
const SMALL: usize = 3;

/// Presence bits that are read as one number; more as an array.
const WORD: u32 = 56;
