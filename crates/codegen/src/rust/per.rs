//! Codecs for PER, aligned and unaligned: spells the steps of [`crate::code::per`].

mod fill;
mod read;
mod tables;
mod times;
mod write;

use super::imports::{CODEC, ERROR, ERROR_KIND, PER, RESULT, SEQUENCE_OF};
use super::per_forms::{alphabet, size};
use super::{At, Printer, RootType};
use crate::code::Source;
use crate::code::per::{Body, Code, List, Value};
use crate::types::Repr;
use tercet_plan::NodeId;
use tercet_plan::per::{Alphabet, Program};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let presence = p.presence();
    let roots: Vec<NodeId> = p.roots.iter().map(|root| root.node).collect();
    let code = Code::new(Source { types: &p.types, presence: &presence }, program, &roots);
    let rules = if code.aligned { "aper" } else { "uper" };
    let mut per = Per { p, aligned: code.aligned, rules };
    per.alphabets(&code.alphabets);
    per.times(&code.times);
    for (node, body) in &code.bodies {
        per.node(*node, body);
    }
    for (root, value) in per.p.roots.clone().iter().zip(&code.roots) {
        per.root(root, value);
    }
    per.print_tables(&code.tables);
}

struct Per<'p, 'm> {
    p: &'p mut Printer<'m>,
    aligned: bool,
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

    fn alphabets(&mut self, alphabets: &[Alphabet]) {
        for (number, known) in (0..).zip(alphabets) {
            self.line("");
            alphabet(&self.alphabet(number), known).lines().for_each(|line| self.line(line));
        }
    }

    fn alphabet(&self, number: u32) -> String {
        format!("{}_ALPHABET_{number}", self.rules.to_uppercase())
    }

    fn node(&mut self, node: NodeId, body: &Body<'_>) {
        let counted = match body {
            Body::List(list) => return self.list(node, list),
            Body::Struct(code) => code.counted,
            Body::Choice(code) => code.counted,
            // A table counts where its content is known.
            Body::Table(_) | Body::Enumerated(_) => false,
            Body::Unsupported(counted) => *counted,
        };
        let (rules, aligned) = (self.rules, self.aligned);
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let (generic, reader) = if lifetime.is_empty() { ("", "'_") } else { ("<'a>", "'a") };
        let keys = self.p.key_parameters(node);
        self.line("");
        self.open(format!("impl{generic} {name}{lifetime} {{"));
        self.apart(node);
        let fills = self.p.is_filled(node);
        self.open(if fills {
            format!(
                "fn fill_{rules}(&mut self, r: &mut {PER}::Reader<{reader}, {aligned}>{keys}) -> {RESULT}<()> {{"
            )
        } else {
            format!("fn read_{rules}(r: &mut {PER}::Reader<{reader}, {aligned}>{keys}) -> {RESULT}<Self> {{")
        });
        if counted {
            self.line("r.enter()?;");
        }
        if fills {
            self.line("let value = self;");
        }
        match body {
            Body::Struct(code) if fills => self.fill_struct(node, code),
            Body::Choice(code) if fills => self.fill_choice(node, code),
            Body::Table(code) if fills => self.fill_table(node, code),
            Body::Struct(code) => self.read_struct(node, code),
            Body::Choice(code) => self.read_choice(node, code),
            Body::Enumerated(code) => self.read_enumerated(node, code),
            Body::Table(code) => self.read_table(node, code),
            _ => self.line(format!("Err(r.error({ERROR_KIND}::Unsupported))")),
        }
        if fills {
            if counted {
                self.line("r.leave();");
            }
            self.line("Ok(())");
        }
        self.close("}");
        self.apart(node);
        self.open(format!("fn write_{rules}(&self, w: &mut {PER}::Writer<{aligned}>) -> {RESULT}<()> {{"));
        if counted {
            // The code of the value ends with an expression.
            self.line("w.begin_value()?;");
            self.line(format!("self.write_{rules}_inside(w)?;"));
            self.line("w.end_value();");
            self.line("Ok(())");
            self.close("}");
            self.apart(node);
            self.open(format!(
                "fn write_{rules}_inside(&self, w: &mut {PER}::Writer<{aligned}>) -> {RESULT}<()> {{"
            ));
        }
        match body {
            Body::Struct(code) => self.write_struct(node, code),
            Body::Choice(code) => self.write_choice(code),
            Body::Enumerated(code) => self.write_enumerated(node, code),
            Body::Table(code) => self.write_table(node, code),
            _ => self.line(format!("Err({ERROR}::new({ERROR_KIND}::Unsupported, 0))")),
        }
        self.close("}");
        self.close("}");
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

    fn list(&mut self, node: NodeId, code: &List) {
        let (rules, aligned) = (self.rules, self.aligned);
        let lifetime = self.p.lifetime(node, "'a");
        let (generic, reader) = if lifetime.is_empty() { ("", "'_") } else { ("<'a>", "'a") };
        let keys = self.p.key_parameters(node);
        let function = self.p.list_function(node);
        let element = self.p.types.element(node);
        let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
        let lazy = self.p.types.is_lazy(node);
        self.line("");
        self.open(format!(
            "fn read_{rules}_{function}{generic}(r: &mut {PER}::Reader<{reader}, {aligned}>{keys}) -> {RESULT}<{ty}> {{"
        ));
        let list = self.read_list(code);
        if code.counted {
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
        let method = if code.set { "set_of" } else { "list" };
        let list = if lazy { format!("{SEQUENCE_OF}<'_, {ty}>") } else { format!("[{ty}]") };
        self.open(format!(
            "fn write_{rules}_{function}(list: &{list}, w: &mut {PER}::Writer<{aligned}>) -> {RESULT}<()> {{"
        ));
        if lazy {
            self.line("let list = &list.to_vec()?[..];");
        }
        if code.counted {
            self.line("w.begin_value()?;");
        }
        self.open(format!("w.{method}({}, list, |w, v| {{", size(code.size)));
        if !self.write(&code.element, "v", At::Nothing, true) {
            self.line("Ok(())");
        }
        if code.counted {
            self.close("})?;");
            self.line("w.end_value();");
            self.line("Ok(())");
        } else {
            self.close("})");
        }
        self.close("}");
    }

    /// The call that reads the elements of a list.
    fn read_list(&self, code: &List) -> String {
        let (rules, element, size) = (self.rules, &code.element, size(code.size));
        if !self.p.is_filled(element.node) {
            return format!("r.list({size}, {})", closure("r", &self.read(element, At::Nothing)));
        }
        let (ty, keys) = (self.p.names.ty(element.node), self.p.local_keys(&element.keys));
        let fill = if keys.is_empty() {
            format!("{ty}::fill_{rules}")
        } else {
            format!("|v, r| v.fill_{rules}(r{keys})")
        };
        format!("r.list_filled({size}, || {ty}::EMPTY, {fill})")
    }

    // Roots

    fn root(&mut self, root: &RootType, value: &Value) {
        let RootType { node, name, wraps, .. } = root;
        let aligned = self.aligned;
        let lifetime = self.p.lifetime(*node, "'a");
        let family = if aligned { "AperType" } else { "UperType" };
        self.line("");
        self.open(format!("impl<'a> {CODEC}::{family}<'a> for {name}{lifetime} {{"));
        let known = self.p.name_const(*node);
        self.line(known);
        self.line("");
        if self.p.types.is_tabled(*node) {
            // What frees a value is made where values are asked for, and not here too.
            self.line("#[inline]");
        }
        self.open(format!("fn read(r: &mut {PER}::Reader<'a, {aligned}>) -> {RESULT}<Self> {{"));
        let read = self.read(value, At::Nothing);
        self.line(if *wraps { format!("Ok(Self({read}))") } else { ok(&read) });
        self.close("}");
        self.line("");
        self.open(format!("fn write(&self, w: &mut {PER}::Writer<{aligned}>) -> {RESULT}<()> {{"));
        if !self.write(value, if *wraps { "&self.0" } else { "self" }, At::Nothing, true) {
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
