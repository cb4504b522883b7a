//! From the places that instructions name to sites of the model.

use super::parse::{self, Target, What, Written};
use super::{Instruction, InstructionKind, InstructionRules, Site};
use crate::ir::{ModuleId, TypeId, TypeKind};
use crate::resolve::Resolver;
use smol_str::SmolStr;
use tercet_syntax::{Cursor, Span, TokenKind, ast};

/// A prefix met while types were built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix<'a> {
    pub(crate) ty: TypeId,
    pub(crate) module: ModuleId,
    pub(crate) tree: &'a ast::EncodingPrefix,
}

impl Resolver<'_> {
    /// Reads the instructions of all modules. Those of control sections come first, so that a prefix, which stands closer
    /// to its type, has the last word.
    pub(crate) fn read_instructions(&mut self) {
        for (index, module) in (0..).zip(self.modules) {
            for section in &module.encoding_control {
                let rules = match section.reference.text.as_str() {
                    "XER" => InstructionRules::Xer,
                    "JER" => InstructionRules::Jer,
                    _ => continue,
                };
                let mut cursor = Cursor::slice(self.map, &module.tokens, section.body);
                // ENCODING-CONTROL and the reference.
                cursor.bump();
                cursor.bump();
                self.section(ModuleId(index), rules, &mut cursor);
            }
        }
        for prefix in std::mem::take(&mut self.prefixes) {
            self.prefix(prefix);
        }
    }

    fn section(&mut self, module: ModuleId, rules: InstructionRules, cursor: &mut Cursor<'_>) {
        while !cursor.is_end() {
            let found = match parse::global_default(cursor) {
                Some(Ok(default)) => {
                    let defaults = self.model.instructions.defaults.entry(module).or_default();
                    match default {
                        parse::Default::ModifiedEncodings => defaults.modified_encodings = true,
                        parse::Default::ControlNamespace(uri, prefix) => {
                            defaults.control_namespace = Some((uri, prefix));
                        }
                    }
                    continue;
                }
                Some(Err(fault)) => Err(fault),
                None => parse::assignment(cursor),
            };
            match found {
                Ok(found) => {
                    for written in found {
                        self.assign(module, rules, &written);
                    }
                }
                Err((span, message)) => {
                    self.not_understood(span, message);
                    let position = cursor.position();
                    parse::recover(cursor);
                    if cursor.position() == position {
                        cursor.bump();
                    }
                }
            }
        }
    }

    fn not_understood(&mut self, span: Span, message: String) {
        let finding = self.slip("E0601", span, message).note("X.693 clauses 14 to 39; X.697 clause 13");
        self.report(finding);
    }

    fn prefix(&mut self, prefix: Prefix<'_>) {
        let Some(module) = self.modules.get(prefix.module.index()) else { return };
        let mut cursor = Cursor::slice(self.map, &module.tokens, prefix.tree.text);
        cursor.bump();
        let written = prefix.tree.reference.as_ref();
        if written.is_some() {
            // The reference and the colon.
            cursor.bump();
            cursor.bump();
        }
        // X.680 §31.3: without a reference, the default of the module; without that, what the word tells.
        let reference = written.or(module.encoding_reference.as_ref()).map(|name| name.text.as_str());
        let rules = match reference {
            Some("XER") => InstructionRules::Xer,
            Some("JER") => InstructionRules::Jer,
            _ if written.is_some() => return,
            _ => match parse::rules_of(cursor.text()) {
                Some(rules) => rules,
                None => return,
            },
        };
        match parse::prefix(&mut cursor) {
            Ok(_) if cursor.peek_kind() != TokenKind::CloseBracket => {
                self.not_understood(cursor.span(), "`]` expected after an encoding instruction".into());
            }
            Ok(found) => {
                for Written { kind, negated, span, .. } in found {
                    self.give(Site::Type(prefix.ty), Instruction { rules, kind, negated, span });
                }
            }
            Err((span, message)) => self.not_understood(span, message),
        }
    }

    fn give(&mut self, site: Site, instruction: Instruction) {
        self.model.instructions.sites.entry(site).or_default().push(instruction);
    }

    fn assign(&mut self, module: ModuleId, rules: InstructionRules, written: &Written) {
        for target in &written.targets {
            let (sites, item) = self.sites(module, target);
            if sites.is_empty() && !matches!(target.what, What::BuiltIn(_) | What::All | What::AllParts) {
                let finding = self
                    .slip("E0602", target.span, "there is no such place for an encoding instruction")
                    .label("names no component of a type of this module");
                self.report(finding);
            }
            let mut kind = written.kind.clone();
            if let (InstructionKind::Text(of, _), Some(item)) =
                (&mut kind, item.or_else(|| target.items.first().cloned()))
            {
                *of = if item == "ALL" { super::TextOf::All } else { super::TextOf::Item(item) };
            }
            for site in sites {
                let kind = kind.clone();
                let (negated, span) = (written.negated, written.span);
                self.give(site, Instruction { rules, kind, negated, span });
            }
        }
    }

    /// The sites of a target, and the item that its last name turned out to be.
    fn sites(&mut self, module: ModuleId, target: &Target) -> (Vec<Site>, Option<SmolStr>) {
        let types = || (0..).map(TypeId).zip(&self.model.types).filter(|(_, ty)| ty.module == module);
        match &target.what {
            What::All => {
                (types().filter(|(_, ty)| ty.name.is_some()).map(|(id, _)| Site::Type(id)).collect(), None)
            }
            What::AllParts => (types().flat_map(|(id, _)| self.parts(id)).collect(), None),
            What::BuiltIn(name) => {
                let is_it = |kind: &TypeKind| match kind {
                    TypeKind::SequenceOf(..) => name == "SEQUENCE OF",
                    TypeKind::SetOf(..) => name == "SET OF",
                    TypeKind::Reference(_) => false,
                    kind => crate::keyword(kind) == name.as_str(),
                };
                (types().filter(|(_, ty)| is_it(&ty.kind)).map(|(id, _)| Site::Type(id)).collect(), None)
            }
            What::Path(path, all) => self.path(module, path, *all),
        }
    }

    fn parts(&self, id: TypeId) -> Vec<Site> {
        let count = match &self.model.ty(id).kind {
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => parts.list.len(),
            TypeKind::SequenceOf(..) | TypeKind::SetOf(..) => 1,
            _ => 0,
        };
        (0..count as u32).map(|index| Site::Part(id, index)).collect()
    }

    fn path(&self, module: ModuleId, path: &[SmolStr], all: bool) -> (Vec<Site>, Option<SmolStr>) {
        let named = |(_, ty): &(TypeId, &crate::ir::Type)| {
            ty.module == module && ty.name.as_ref().is_some_and(|name| Some(&name.name) == path.first())
        };
        let first = (0..).map(TypeId).zip(&self.model.types).find(named);
        let Some((id, _)) = first else { return (Vec::new(), None) };
        let (mut ty, mut site) = (id, Site::Type(id));
        for (at, step) in path.iter().enumerate().skip(1) {
            let base = self.model.base(ty);
            let last = at + 1 == path.len();
            let (index, inner) = match &self.model.ty(base).kind {
                TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                    if last && step == "*" {
                        return (self.parts(base), None);
                    }
                    match parts.list.iter().position(|part| part.name == *step) {
                        Some(index) => (index, parts.list[index].ty),
                        None => return (Vec::new(), None),
                    }
                }
                TypeKind::SequenceOf(name, element) | TypeKind::SetOf(name, element)
                    if step == "*" || name.as_ref() == Some(step) =>
                {
                    (0, *element)
                }
                kind if last && has_item(kind, step) => return (vec![site], Some(step.clone())),
                _ => return (Vec::new(), None),
            };
            site = Site::Part(base, index as u32);
            ty = inner;
        }
        if all { (self.parts(self.model.base(ty)), None) } else { (vec![site], None) }
    }
}

/// Whether a type has a named number, item or bit of this name.
fn has_item(kind: &TypeKind, name: &SmolStr) -> bool {
    match kind {
        TypeKind::Enumerated(items) => items.root.iter().chain(&items.additions).any(|item| item.0 == *name),
        TypeKind::Integer(numbers) | TypeKind::BitString(numbers) => numbers.iter().any(|n| n.name == *name),
        _ => false,
    }
}
