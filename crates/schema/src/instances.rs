//! Types by name with actual parameters: `InitialDPArg {bound}`.
//!
//! The name is read by the compiler's own parser, in a module that imports what the parameters name and is resolved together with
//! the specifications: whatever may stand in braces there may stand here.

use crate::{PlanError, Schema};
use std::collections::BTreeMap;
use tercet_model::ir::{TypeId, TypeKind};
use tercet_plan::shape::is_same_name;
use tercet_syntax::ast::{Assignment, AssignmentKind, Module, TagDefault};
use tercet_syntax::{ParseOptions, SourceMap};

/// The module that the names are read in; a name of a text is no such thing.
const MODULE: &str = "Tercet-Instances";

/// Whether a name has actual parameters.
pub(crate) fn is_instance(name: &str) -> bool {
    name.contains('{')
}

impl Schema {
    /// The schema with instances of parameterized types, and the types of these names in their order.
    pub(crate) fn with_instances(&self, types: &[&str]) -> Result<(Self, Vec<TypeId>), PlanError> {
        let mut assignments = String::new();
        let mut imports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut tags = TagDefault::default();
        for (index, name) in types.iter().enumerate().filter(|(_, name)| is_instance(name)) {
            let (base, arguments) = name.split_at(name.find('{').unwrap_or(name.len()));
            let (module, assignment) = self.parameterized(base.trim(), name)?;
            tags = module.tags;
            for symbol in identifiers(arguments) {
                if let Some(from) = self.origin(module, symbol) {
                    let symbols = imports.entry(from).or_default();
                    if !symbols.contains(&symbol) {
                        symbols.push(symbol);
                    }
                }
            }
            assignments +=
                &format!("I{index} ::= {}.{} {arguments}\n", module.name.text, assignment.name.text);
        }
        let tags = match tags {
            TagDefault::Explicit => "",
            TagDefault::Implicit => "IMPLICIT TAGS",
            TagDefault::Automatic => "AUTOMATIC TAGS",
        };
        let lists: Vec<String> =
            imports.iter().map(|(from, symbols)| format!("{} FROM {from}", symbols.join(", "))).collect();
        let imports = if lists.is_empty() { String::new() } else { format!("IMPORTS {};", lists.join(" ")) };
        let text = format!("{MODULE} DEFINITIONS {tags} ::= BEGIN {imports}\n{assignments}END\n");
        self.with_module(&text, types)
    }

    /// Reads and resolves one more module, and finds types in it or, without parameters, in the others.
    fn with_module(&self, text: &str, types: &[&str]) -> Result<(Self, Vec<TypeId>), PlanError> {
        let mut sources = SourceMap::new();
        for (_, file) in self.sources.files() {
            sources.add(file.name.clone(), file.text.clone());
        }
        let id = sources.add("the type", text);
        let parsing = ParseOptions { lenient: !self.options.strict, ..ParseOptions::default() };
        let (more, mut found) = tercet_syntax::parse(&sources, id, &parsing);
        let modules = self.modules().iter().cloned().chain(more).collect();
        let mut schema = Self::of_modules(sources, modules, &self.options);
        schema.reported = self.reported.clone();
        let place = |it: &tercet_syntax::Diagnostic| schema.sources.file_of(it.primary.span.lo);
        found.extend(schema.diagnostics().iter().filter(|it| place(it) == id).cloned());
        if let Some(first) = found.first() {
            let lines = text.lines().nth(schema.sources.line_column(first.primary.span.lo).line - 1);
            let index =
                lines.and_then(|line| line.strip_prefix('I')?.split(' ').next()?.parse::<usize>().ok());
            let asked =
                index.and_then(|index| types.get(index)).or_else(|| types.iter().find(|it| is_instance(it)));
            let name = asked.map(|name| (*name).to_owned()).unwrap_or_default();
            return Err(PlanError::Instance { name, message: first.message.clone() });
        }
        let ids = types
            .iter()
            .enumerate()
            .map(
                |(index, name)| {
                    if is_instance(name) { schema.instance(index, name) } else { schema.find(name) }
                },
            )
            .collect::<Result<Vec<TypeId>, _>>()?;
        // The type is known by the name that was asked for, as it was written.
        for (name, id) in types.iter().zip(&ids).filter(|(name, _)| is_instance(name)) {
            let arguments = name.split_once('{').map_or("", |(_, arguments)| arguments.trim_end());
            let ty = schema.model_mut().and_then(|model| model.types.get_mut(id.index()));
            if let Some(own) = ty.and_then(|ty| ty.name.as_mut()) {
                own.arguments = arguments.strip_suffix('}').unwrap_or(arguments).into();
            }
        }
        Ok((schema, ids))
    }

    /// The type that the assignment of this number stands for.
    fn instance(&self, index: usize, name: &str) -> Result<TypeId, PlanError> {
        let module = self.model().modules.iter().find(|module| module.name == MODULE);
        let assigned = format!("I{index}");
        let found = module.and_then(|module| module.types.iter().find(|(name, _)| *name == assigned));
        let Some((_, id)) = found else {
            return Err(PlanError::Instance { name: name.to_owned(), message: "not a type".to_owned() });
        };
        match self.model().ty(*id).kind {
            TypeKind::Reference(instance) => Ok(instance),
            _ => Ok(*id),
        }
    }

    /// The parameterized types of a name, with their modules.
    pub(crate) fn parameterized_types(&self, base: &str) -> Vec<(&Module, &Assignment)> {
        let mut found: Vec<(&Module, &Assignment)> = Vec::new();
        for module in self.modules() {
            for assignment in &module.assignments {
                let is_type =
                    matches!(assignment.kind, AssignmentKind::Type(_)) && !assignment.parameters.is_empty();
                let full = || format!("{}.{}", module.name.text, assignment.name.text);
                let known = |(other, _): &(&Module, &Assignment)| other.name.text == module.name.text;
                if is_type && is_same_name(&full(), base) && !found.iter().any(known) {
                    found.push((module, assignment));
                }
            }
        }
        found
    }

    fn parameterized(&self, base: &str, name: &str) -> Result<(&Module, &Assignment), PlanError> {
        match &self.parameterized_types(base)[..] {
            [found] => Ok(*found),
            [] => {
                self.find(base)?;
                Err(PlanError::Instance {
                    name: name.to_owned(),
                    message: format!("`{base}` has no parameters"),
                })
            }
            several => Err(PlanError::Ambiguous {
                name: base.to_owned(),
                candidates: several
                    .iter()
                    .map(|(module, assignment)| format!("{}.{}", module.name.text, assignment.name.text))
                    .collect(),
            }),
        }
    }

    /// The module that defines a name as another module sees it; without an import, the only one that defines it.
    fn origin<'s>(&'s self, module: &'s Module, symbol: &str) -> Option<&'s str> {
        let defines = |module: &&Module| module.assignments.iter().any(|it| it.name.text == symbol);
        if defines(&module) {
            return Some(&module.name.text);
        }
        let import = module.imports.iter().find(|import| import.symbols.iter().any(|it| it.text == symbol));
        if let Some(import) = import {
            return Some(&import.module.text);
        }
        let mut others = self.modules().iter().filter(defines);
        let only = others.next()?;
        others.all(|other| other.name.text == only.name.text).then_some(&only.name.text)
    }

    /// The parameters of a type as they are written, for messages.
    pub(crate) fn parameters(&self, assignment: &Assignment) -> String {
        let governed = |it: &tercet_syntax::ast::Parameter| match &it.governor {
            Some(governor) => format!("{}:{}", self.sources.text(governor.span).trim(), it.name.text),
            None => it.name.text.to_string(),
        };
        assignment.parameters.iter().map(governed).collect::<Vec<_>>().join(", ")
    }
}

/// The identifiers of a text that name something by themselves: those in strings and after dots do not.
fn identifiers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if first.is_ascii_alphabetic() {
            let (name, behind) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
            let before = &text[..text.len() - rest.len()];
            if !before.trim_end().ends_with(['.', '&']) && !behind.trim_start().starts_with('.') {
                found.push(name.trim_end_matches('-'));
            }
            rest = behind;
        } else if matches!(first, '"' | '\'') {
            rest = rest[1..].split_once(first).map_or("", |(_, behind)| behind);
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rules, TapeCodec};
    use tercet_dynamic::{Options, Tape};

    const TEXT: &str = "
        M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        IMPORTS large, Extra FROM N;
        P {INTEGER : m} ::= SEQUENCE { a INTEGER (0..m) }
        Pair {A, B} ::= SEQUENCE { a A, b B OPTIONAL }
        BOUND ::= CLASS { &most INTEGER } WITH SYNTAX { MOST &most }
        small BOUND ::= { MOST 7 }
        Arg {BOUND : bound} ::= SEQUENCE { a INTEGER (0..bound.&most) }
        Set {INTEGER : Allowed} ::= INTEGER (Allowed)
        Mixed {Type, INTEGER : m, BOUND : bound} ::= SEQUENCE { t Type, a INTEGER (0..m), b Arg {bound} }
        Plain ::= BOOLEAN
        END
        N DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        large INTEGER ::= 1023
        Extra ::= SEQUENCE { x BOOLEAN }
        Alone ::= NULL
        END";

    fn read(name: &str, octets: &[u8]) -> String {
        let schema = Schema::from_text("a.asn", TEXT);
        assert!(!schema.has_errors(), "{}", schema.render(false));
        let plan = match schema.plan_for(Rules::Uper, &[name]) {
            Ok(plan) => plan,
            Err(error) => return error.to_string(),
        };
        let root = plan.root(name).expect("a root that was asked for");
        let (mut tape, mut text) = (Tape::new(), Vec::new());
        let mut codec = TapeCodec::new(Rules::Uper, &plan);
        codec.read(root, octets, &mut tape, &Options::default()).unwrap();
        TapeCodec::new(Rules::Jer, &plan).write(tape.view(octets), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn instances_of_parameterized_types_by_name() {
        for (name, octets, value) in [
            ("P {7}", &[0xA0][..], r#"{"a":5}"#),
            ("P{7}", &[0xA0], r#"{"a":5}"#),
            ("M.P {  7 }", &[0xA0], r#"{"a":5}"#),
            ("P {large}", &[0xFF, 0xC0], r#"{"a":1023}"#),
            ("Arg {small}", &[0xA0], r#"{"a":5}"#),
            ("Arg {{MOST 1}}", &[0x80], r#"{"a":1}"#),
            ("Pair {BOOLEAN, Extra}", &[0xE0], r#"{"a":true,"b":{"x":true}}"#),
            ("Pair {Alone, P {3}}", &[0xE0], r#"{"a":null,"b":{"a":3}}"#),
            ("Pair {SEQUENCE {a BOOLEAN, b INTEGER (0..3)}, NULL}", &[0x60], r#"{"a":{"a":true,"b":2}}"#),
            ("Set {{1 | 3..4}}", &[0x80], "3"),
            ("Mixed {Extra, 3, small}", &[0xF4], r#"{"t":{"x":true},"a":3,"b":{"a":5}}"#),
            ("Pair {N.Extra, M.P {1}}", &[0xE0], r#"{"a":{"x":true},"b":{"a":1}}"#),
        ] {
            assert_eq!(read(name, octets), value, "{name}");
        }
    }

    #[test]
    fn faults_in_parameters_are_told() {
        for (name, message) in [
            ("P", "the type `P` has parameters: P {INTEGER:m}"),
            ("M.P", "the type `M.P` has parameters: P {INTEGER:m}"),
            ("P {7, 8}", "cannot use the type `P {7, 8}`"),
            ("P {unknown}", "cannot use the type `P {unknown}`"),
            ("P {7", "cannot use the type `P {7`"),
            ("P {}", "cannot use the type `P {}`"),
            ("Plain {7}", "cannot use the type `Plain {7}`: `Plain` has no parameters"),
            ("Nothing {7}", "unknown type `Nothing`"),
        ] {
            let found = read(name, &[]);
            assert!(found.starts_with(message), "{found}");
        }
    }
}
