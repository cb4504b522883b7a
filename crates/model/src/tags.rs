//! The tags of types (X.680 §8, §31), and the small questions about types that everybody asks.

use crate::ir::{Model, StringKind, Tag, TagClass, TagMode, Type, TypeId, TypeKind, UsefulTime};
use smol_str::{SmolStr, format_smolstr};
use tercet_runtime::text;

/// A tag without its mode: what stands on the wire.
pub type OuterTag = (TagClass, u32);

/// The tags that a value's encoding may begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagSet {
    /// Any tag at all: an untagged open type.
    Any,
    /// One of these, in the order of the text: several for an untagged CHOICE.
    Of(Vec<OuterTag>),
}

/// References that follow one another without end have been broken; this only guards a model made by hand.
const HOPS: usize = 1000;

/// Tags collected for one CHOICE; more are not looked at.
const TAG_LIMIT: usize = 10_000;

impl Model {
    /// A type.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The type behind references; tags and constraints on the way are passed over.
    pub fn base(&self, id: TypeId) -> TypeId {
        self.alias_chain(id).last().unwrap_or(id)
    }

    /// The type itself, then the types that its references lead to, one after the other.
    pub fn alias_chain(&self, id: TypeId) -> impl Iterator<Item = TypeId> {
        std::iter::successors(Some(id), |at| match self.ty(*at).kind {
            TypeKind::Reference(next) => Some(next),
            _ => None,
        })
        .take(HOPS)
    }

    /// The tags in front of a value, from the outside in, IMPLICIT ones having replaced what they stand before
    /// (X.690 §8.14). Empty for an untagged CHOICE or open type.
    pub fn tags(&self, id: TypeId) -> Vec<OuterTag> {
        let mut out: Vec<OuterTag> = Vec::new();
        // Built from the inside out, reversed at the end.
        let chain: Vec<TypeId> = self.alias_chain(id).collect();
        for (depth, at) in chain.iter().rev().enumerate() {
            let ty = self.ty(*at);
            if depth == 0
                && let Some(number) = universal_tag(&ty.kind)
            {
                out.push((TagClass::Universal, number));
            }
            for tag in ty.tags.iter().rev() {
                apply(&mut out, tag);
            }
        }
        out.reverse();
        out
    }

    /// The tags that a value's encoding may begin with: the outermost one, those of the alternatives of an untagged
    /// CHOICE, or any.
    pub fn outer_tags(&self, id: TypeId) -> TagSet {
        let mut found = Vec::new();
        if self.collect_outer_tags(id, &mut found, 0) { TagSet::Of(found) } else { TagSet::Any }
    }

    /// `false` when any tag is possible.
    fn collect_outer_tags(&self, id: TypeId, found: &mut Vec<OuterTag>, depth: u32) -> bool {
        for at in self.alias_chain(id) {
            let ty = self.ty(at);
            if let Some(tag) = ty.tags.first() {
                found.push((tag.class, tag.number));
                return true;
            }
            match &ty.kind {
                TypeKind::Reference(_) | TypeKind::Error => {}
                TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => return false,
                TypeKind::Choice(components) => {
                    for alternative in &components.list {
                        if depth > 60 || found.len() > TAG_LIMIT {
                            return true;
                        }
                        if !self.collect_outer_tags(alternative.ty, found, depth + 1) {
                            return false;
                        }
                    }
                }
                kind => found.extend(universal_tag(kind).map(|number| (TagClass::Universal, number))),
            }
        }
        true
    }

    /// A type by `Module.Name`, or by `Name` when it is clear in which module (the first one that has it).
    pub fn find_type(&self, name: &str) -> Option<TypeId> {
        let in_module = |module: &crate::ir::Module, name: &str| {
            module.types.iter().find(|(n, _)| n == name).map(|(_, id)| *id)
        };
        if let Some((module, name)) = name.split_once('.') {
            return self.modules.iter().filter(|m| m.name == module).find_map(|m| in_module(m, name));
        }
        self.modules.iter().find_map(|m| in_module(m, name))
    }

    /// The name of a type for people: that of its definition, with the actual parameters of an instance; the kind of
    /// type when it has none.
    pub fn type_name(&self, id: TypeId) -> SmolStr {
        let ty = self.ty(id);
        match &ty.name {
            Some(name) if name.arguments.is_empty() => name.name.clone(),
            Some(name) => format_smolstr!("{} {{{}}}", name.name, name.arguments),
            None => match ty.kind {
                TypeKind::Reference(next) if next != id => self.type_name_behind(next),
                _ => keyword(&ty.kind).into(),
            },
        }
    }

    fn type_name_behind(&self, id: TypeId) -> SmolStr {
        let named = self.alias_chain(id).find(|at| self.ty(*at).name.is_some());
        match named {
            Some(at) => self.type_name(at),
            None => keyword(&self.ty(self.base(id)).kind).into(),
        }
    }
}

/// Puts a tag before others (given from the inside out).
fn apply(tags: &mut Vec<OuterTag>, tag: &Tag) {
    match (tag.mode, tags.last_mut()) {
        (TagMode::Implicit, Some(outermost)) => *outermost = (tag.class, tag.number),
        _ => tags.push((tag.class, tag.number)),
    }
}

/// The UNIVERSAL tag number of a type (X.680 §8.4, Table 1); `None` for CHOICE, open types and references.
pub fn universal_tag(kind: &TypeKind) -> Option<u32> {
    Some(match kind {
        TypeKind::Boolean => 1,
        TypeKind::Integer(_) => 2,
        TypeKind::BitString(_) => 3,
        TypeKind::OctetString => 4,
        TypeKind::Null => 5,
        TypeKind::ObjectIdentifier => 6,
        TypeKind::ObjectDescriptor => 7,
        TypeKind::External | TypeKind::InstanceOf(_) => 8,
        TypeKind::Real => 9,
        TypeKind::Enumerated(_) => 10,
        TypeKind::EmbeddedPdv => 11,
        TypeKind::RelativeOid => 13,
        TypeKind::Time => 14,
        TypeKind::Sequence(_) | TypeKind::SequenceOf(..) => 16,
        TypeKind::Set(_) | TypeKind::SetOf(..) => 17,
        TypeKind::UtcTime => 23,
        TypeKind::GeneralizedTime => 24,
        TypeKind::UnrestrictedCharacterString => 29,
        TypeKind::UsefulTime(time) => match time {
            UsefulTime::Date => 31,
            UsefulTime::TimeOfDay => 32,
            UsefulTime::DateTime => 33,
            UsefulTime::Duration => 34,
        },
        TypeKind::OidIri => 35,
        TypeKind::RelativeOidIri => 36,
        TypeKind::CharacterString(kind) => text_kind(*kind) as u32,
        TypeKind::Reference(_)
        | TypeKind::Choice(_)
        | TypeKind::Open(_)
        | TypeKind::AnyDefinedBy(_)
        | TypeKind::Error => return None,
    })
}

/// Returns the runtime's name of a restricted character string type, which knows its tag and its characters (X.680 41).
pub const fn text_kind(kind: StringKind) -> text::StringKind {
    match kind {
        StringKind::Utf8 => text::StringKind::Utf8,
        StringKind::Numeric => text::StringKind::Numeric,
        StringKind::Printable => text::StringKind::Printable,
        StringKind::Teletex | StringKind::T61 => text::StringKind::Teletex,
        StringKind::Videotex => text::StringKind::Videotex,
        StringKind::Ia5 => text::StringKind::Ia5,
        StringKind::Graphic => text::StringKind::Graphic,
        StringKind::Visible | StringKind::Iso646 => text::StringKind::Visible,
        StringKind::General => text::StringKind::General,
        StringKind::Universal => text::StringKind::Universal,
        StringKind::Bmp => text::StringKind::Bmp,
    }
}

/// The words that a type begins with in ASN.1.
pub fn keyword(kind: &TypeKind) -> &'static str {
    match kind {
        TypeKind::Reference(_) => "reference",
        TypeKind::Boolean => "BOOLEAN",
        TypeKind::Integer(_) => "INTEGER",
        TypeKind::Enumerated(_) => "ENUMERATED",
        TypeKind::Real => "REAL",
        TypeKind::BitString(_) => "BIT STRING",
        TypeKind::OctetString => "OCTET STRING",
        TypeKind::Null => "NULL",
        TypeKind::Sequence(_) => "SEQUENCE",
        TypeKind::Set(_) => "SET",
        TypeKind::SequenceOf(..) => "SEQUENCE OF",
        TypeKind::SetOf(..) => "SET OF",
        TypeKind::Choice(_) => "CHOICE",
        TypeKind::ObjectIdentifier => "OBJECT IDENTIFIER",
        TypeKind::RelativeOid => "RELATIVE-OID",
        TypeKind::OidIri => "OID-IRI",
        TypeKind::RelativeOidIri => "RELATIVE-OID-IRI",
        TypeKind::EmbeddedPdv => "EMBEDDED PDV",
        TypeKind::External => "EXTERNAL",
        TypeKind::Time => "TIME",
        TypeKind::UsefulTime(UsefulTime::Date) => "DATE",
        TypeKind::UsefulTime(UsefulTime::TimeOfDay) => "TIME-OF-DAY",
        TypeKind::UsefulTime(UsefulTime::DateTime) => "DATE-TIME",
        TypeKind::UsefulTime(UsefulTime::Duration) => "DURATION",
        TypeKind::CharacterString(kind) => match kind {
            StringKind::Bmp => "BMPString",
            StringKind::General => "GeneralString",
            StringKind::Graphic => "GraphicString",
            StringKind::Ia5 => "IA5String",
            StringKind::Iso646 => "ISO646String",
            StringKind::Numeric => "NumericString",
            StringKind::Printable => "PrintableString",
            StringKind::Teletex => "TeletexString",
            StringKind::T61 => "T61String",
            StringKind::Universal => "UniversalString",
            StringKind::Utf8 => "UTF8String",
            StringKind::Videotex => "VideotexString",
            StringKind::Visible => "VisibleString",
        },
        TypeKind::UnrestrictedCharacterString => "CHARACTER STRING",
        TypeKind::GeneralizedTime => "GeneralizedTime",
        TypeKind::UtcTime => "UTCTime",
        TypeKind::ObjectDescriptor => "ObjectDescriptor",
        TypeKind::Open(_) => "open type",
        TypeKind::AnyDefinedBy(_) => "ANY DEFINED BY",
        TypeKind::InstanceOf(_) => "INSTANCE OF",
        TypeKind::Error => "unknown",
    }
}
