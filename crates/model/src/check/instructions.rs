//! Encoding instructions stand where they can mean something (X.693 clauses 18 to 39, X.697 clause 13).

use super::Checker;
use crate::instructions::{Instruction, InstructionKind, InstructionRules, Site};
use crate::ir::{Presence, TypeId, TypeKind};

impl Checker<'_> {
    pub(super) fn instructions(&mut self) {
        let model = self.model;
        let mut found: Vec<(Site, &Instruction)> = model.instructions.all().collect();
        found.sort_by_key(|(site, instruction)| (instruction.span, *site));
        for (site, instruction) in found {
            let Some(ty) = self.type_at(site) else { continue };
            if let Some(needed) = self.needed(ty, instruction) {
                let finding = self
                    .slip("E0604", instruction.span, format!("this encoding instruction is for {needed}"))
                    .label("has no effect, or leaves values without a form")
                    .also(model.ty(ty).span, "given to this");
                self.out.push(finding);
            }
        }
    }

    fn type_at(&self, site: Site) -> Option<TypeId> {
        let (owner, index) = match site {
            Site::Type(ty) => return Some(ty),
            Site::Part(owner, index) => (owner, index as usize),
        };
        match &self.model.ty(owner).kind {
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                parts.list.get(index).map(|part| part.ty)
            }
            TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => Some(*element),
            _ => None,
        }
    }

    /// What an instruction is for, if it is not for this type.
    fn needed(&self, ty: TypeId, instruction: &Instruction) -> Option<&'static str> {
        use InstructionKind as I;
        let kind = &self.model.ty(self.model.base(ty)).kind;
        if instruction.negated || matches!(kind, TypeKind::Error) {
            return None;
        }
        let is_list = matches!(kind, TypeKind::SequenceOf(..) | TypeKind::SetOf(..));
        let is_choice = matches!(kind, TypeKind::Choice(_));
        let is_string = matches!(kind, TypeKind::CharacterString(_));
        let (fits, needed) = match &instruction.kind {
            I::Array => (matches!(kind, TypeKind::Sequence(_)), "a SEQUENCE"),
            I::Object => {
                (self.is_list_of_pairs(kind), "a list of SEQUENCEs of a string and one component more")
            }
            I::Unwrapped | I::UseType | I::UseUnion => (is_choice, "a CHOICE"),
            I::Base64 if instruction.rules == InstructionRules::Jer => {
                (matches!(kind, TypeKind::OctetString), "an OCTET STRING")
            }
            I::Base64 => {
                let octets =
                    matches!(kind, TypeKind::OctetString | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_));
                (octets || is_string, "bytes or characters")
            }
            I::Attribute => {
                let parts = matches!(kind, TypeKind::Sequence(_) | TypeKind::Set(_) | TypeKind::Open(_));
                (!parts, "values that are characters alone")
            }
            I::Decimal => (matches!(kind, TypeKind::Real), "a REAL"),
            I::List => (is_list, "a SEQUENCE OF or SET OF"),
            I::UseNumber => (matches!(kind, TypeKind::Enumerated(_)), "an ENUMERATED"),
            I::UseNil => {
                let last = match kind {
                    TypeKind::Sequence(parts) | TypeKind::Set(parts) => parts.list.last(),
                    _ => None,
                };
                let optional = last.is_some_and(|part| matches!(part.presence, Presence::Optional));
                (optional, "a SEQUENCE whose last component is OPTIONAL")
            }
            I::UseOrder => {
                let first = match kind {
                    TypeKind::Sequence(parts) => parts.list.first(),
                    _ => None,
                };
                let names = first.is_some_and(|part| self.is_list_of_names(part.ty));
                (names, "a SEQUENCE whose first component is a list of ENUMERATED")
            }
            I::Whitespace(_) => (is_string, "a character string"),
            _ => return None,
        };
        (!fits).then_some(needed)
    }

    fn is_list_of_names(&self, ty: TypeId) -> bool {
        match &self.model.ty(self.model.base(ty)).kind {
            TypeKind::SequenceOf(_, element) => {
                matches!(self.model.ty(self.model.base(*element)).kind, TypeKind::Enumerated(_))
            }
            _ => false,
        }
    }

    fn is_list_of_pairs(&self, kind: &TypeKind) -> bool {
        let (TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element)) = kind else { return false };
        match &self.model.ty(self.model.base(*element)).kind {
            TypeKind::Sequence(parts) if parts.list.len() == 2 && !parts.extensible => {
                let first = &self.model.ty(self.model.base(parts.list[0].ty)).kind;
                matches!(first, TypeKind::CharacterString(_))
                    && parts.list.iter().all(|part| matches!(part.presence, Presence::Mandatory))
            }
            _ => false,
        }
    }
}
