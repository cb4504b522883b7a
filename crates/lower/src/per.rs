//! Widths, orders and bounds of PER (X.691), from the PER-visible constraints.

mod registers;
mod time;

use crate::order::TagOrder;
use crate::shape::Lowered;
use num_bigint::BigInt;
use std::collections::BTreeMap;
use tercet_model::constraints::{Effective, IntegerRange, Visibility, alphabet_of};
use tercet_model::ir::{Model, StringKind, TypeId, TypeKind};
use tercet_plan::per::{
    ADDITION, Addition, Alphabet, Choice, Code, Enumerated, Integer, IntegerForm, Large, Member, Program,
    Sequence, Size, Whole,
};
use tercet_plan::shape::{Place, Presence, Shape};
use tercet_plan::{FieldId, Kind, NodeId};

/// Makes the code for one of the four variants.
pub(crate) fn program(model: &Model, lowered: &Lowered<'_>, aligned: bool, canonical: bool) -> Program {
    let mut builder = Builder {
        shape: &lowered.shape,
        model,
        program: Program { aligned, canonical, ..Program::default() },
        order: TagOrder::new(&lowered.shape, &lowered.sources, model),
    };
    for (index, ty) in lowered.types.iter().enumerate() {
        if let Some(constant) = lowered.predefined.get(&NodeId(index as u32)) {
            builder.program.nodes.push(Code::Predefined(*constant));
            continue;
        }
        let effective = ty.map(|ty| model.effective(ty, Visibility::Per)).unwrap_or_default();
        let named = ty.is_some_and(
            |ty| matches!(&model.ty(model.base(ty)).kind, TypeKind::BitString(n) if !n.is_empty()),
        );
        let code = builder.node(NodeId(index as u32), *ty, &effective, named);
        builder.program.nodes.push(code);
    }
    builder.scopes(lowered);
    builder.spare();
    builder.program.derive(&lowered.shape);
    builder.program
}

struct Builder<'a> {
    shape: &'a Shape,
    model: &'a Model,
    program: Program,
    order: TagOrder<'a>,
}

impl Builder<'_> {
    fn node(&mut self, id: NodeId, ty: Option<TypeId>, effective: &Effective, named: bool) -> Code {
        let size = self.size(effective);
        match self.shape.node(id).kind {
            Kind::Boolean => Code::Boolean,
            Kind::Null => Code::Null,
            Kind::Integer => Code::Integer(self.integer(effective.integer.as_ref())),
            Kind::Enumerated => self.enumerated(id),
            Kind::BitString if self.shape.node(id).containing.is_some() => Code::BitsContaining(size, named),
            Kind::BitString => Code::BitString(size, named),
            Kind::OctetString if self.shape.node(id).containing.is_some() => Code::OctetsContaining(size),
            Kind::OctetString => Code::OctetString(size),
            Kind::NumericString => self.characters(StringKind::Numeric, size, effective, false),
            Kind::PrintableString => self.characters(StringKind::Printable, size, effective, false),
            Kind::Ia5String => self.characters(StringKind::Ia5, size, effective, false),
            Kind::VisibleString => self.characters(StringKind::Visible, size, effective, false),
            Kind::BmpString => self.characters(StringKind::Bmp, size, effective, true),
            Kind::UniversalString => self.characters(StringKind::Universal, size, effective, true),
            // As the types that X.680 §46 and §47 define them by; constraints on them are not PER-visible (§31).
            Kind::UtcTime | Kind::GeneralizedTime => {
                self.characters(StringKind::Visible, Size::ANY, &Effective::default(), true)
            }
            Kind::Real
            | Kind::ObjectIdentifier
            | Kind::RelativeOid
            | Kind::OidIri
            | Kind::RelativeOidIri
            | Kind::Utf8String
            | Kind::TeletexString
            | Kind::VideotexString
            | Kind::GraphicString
            | Kind::GeneralString
            | Kind::ObjectDescriptor => Code::Contents,
            kind @ (Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration) => {
                match time::of(self.model, kind, ty, self.program.aligned) {
                    Some(time) => {
                        self.program.times.push(time);
                        Code::Time(self.program.times.len() as u32 - 1)
                    }
                    None => Code::Unsupported,
                }
            }
            Kind::Sequence | Kind::Set => self.sequence(id),
            Kind::SequenceOf | Kind::SetOf => Code::SequenceOf(size, self.shape.node(id).first),
            Kind::Choice => self.choice(id),
            Kind::Open => Code::Open,
        }
    }

    // INTEGER (§13)

    fn integer(&mut self, range: Option<&IntegerRange>) -> Integer {
        let Some(range) = range else {
            return Integer { extensible: false, form: IntegerForm::Unconstrained };
        };
        // Without a lower bound, the upper one changes nothing (§13.2.4).
        let Some(lo) = &range.lo else {
            return Integer { extensible: range.extensible, form: IntegerForm::Unconstrained };
        };
        let span = range.hi.as_ref().map(|hi| hi - lo);
        let small = i64::try_from(lo);
        let form = match (&span, small) {
            (None, Ok(lo)) => IntegerForm::SemiConstrained(lo),
            (Some(span), Ok(lo)) if u64::try_from(span).is_ok() => {
                let span = u64::try_from(span).unwrap_or_default();
                IntegerForm::Constrained { lo, span, whole: Whole::of(span, self.program.aligned) }
            }
            _ => self.large(lo, span.as_ref()),
        };
        Integer { extensible: range.extensible, form }
    }

    fn large(&mut self, lo: &BigInt, span: Option<&BigInt>) -> IntegerForm {
        let span = span.map(|span| span.magnitude().to_bytes_be().into());
        self.program.large.push(Large { lo: lo.to_signed_bytes_be().into(), span });
        IntegerForm::Large(self.program.large.len() as u32 - 1)
    }

    // ENUMERATED (§14)

    fn enumerated(&mut self, id: NodeId) -> Code {
        // The items are sorted by value; so are the additions in the text (X.680 §20.4).
        let items = self.shape.items_of(id);
        let root: Box<[i64]> = items.iter().filter(|item| !item.addition).map(|item| item.value).collect();
        let additions = items.iter().filter(|item| item.addition).map(|item| item.value).collect();
        let whole = self.index(root.len());
        let extensible = self.shape.node(id).extensible;
        self.program.enumerations.push(Enumerated { extensible, whole, root, additions });
        Code::Enumerated(self.program.enumerations.len() as u32 - 1)
    }

    fn index(&self, count: usize) -> Whole {
        Whole::of(count.saturating_sub(1) as u64, self.program.aligned)
    }

    // Sizes and alphabets (§11.9, §30.5)

    fn size(&self, effective: &Effective) -> Size {
        match effective.size {
            None => Size::ANY,
            Some(size) => Size::new(size.lo, size.hi, size.extensible, self.program.aligned),
        }
    }

    fn characters(&mut self, kind: StringKind, size: Size, effective: &Effective, check: bool) -> Code {
        let Some(whole) = alphabet_of(kind) else { return Code::Contents };
        let set = match &effective.alphabet {
            Some(permitted) => whole.intersection(permitted),
            None => whole.clone(),
        };
        let set = if set.is_empty() { whole } else { set };
        let octets = match kind {
            StringKind::Bmp => 2,
            StringKind::Universal => 4,
            _ => 1,
        };
        let mut alphabet = Alphabet::new(octets, set.codes(), self.program.aligned);
        // §30.5.6, §30.5.7: strings that are short for sure are not aligned.
        let most = u64::from(size.hi) * u64::from(alphabet.bits);
        alphabet.unaligned = size.whole.is_some() && if size.is_fixed() { most <= 16 } else { most < 16 };
        alphabet.check = check;
        let index = match self.program.alphabets.iter().position(|known| *known == alphabet) {
            Some(index) => index,
            None => {
                self.program.alphabets.push(alphabet);
                self.program.alphabets.len() - 1
            }
        };
        Code::Characters(size, index as u32)
    }

    // SEQUENCE and SET (§19, §21)

    fn sequence(&mut self, id: NodeId) -> Code {
        let node = self.shape.node(id);
        let mut root: Vec<Member> = Vec::new();
        // By number of the addition: whether it is a version bracket, and what is in it.
        let mut additions: BTreeMap<u32, (bool, Vec<Member>)> = BTreeMap::new();
        for (number, (_, field)) in (0_u32..).zip(self.shape.fields_of(id)) {
            let member = Member { field: number, optional: field.presence != Presence::Mandatory };
            match field.place {
                Place::Root => root.push(member),
                Place::Addition(at) => additions.entry(at).or_default().1.push(member),
                Place::Group(at) => {
                    let group = additions.entry(at).or_default();
                    group.0 = true;
                    group.1.push(member);
                }
            }
        }
        if node.kind == Kind::Set {
            root.sort_by_cached_key(|member| self.order.of(FieldId(node.first + member.field)));
        }
        let optional = presence_bits(&root);
        let additions = additions.into_values().map(|(group, members)| match members.as_slice() {
            [member] if !group => Addition::Single(member.field),
            _ => Addition::Group { optional: presence_bits(&members), first: 0, members: members.into() },
        });
        let additions = additions.collect();
        let keys = self.shape.fields_of(id).filter_map(|(_, field)| field.key).collect();
        let extensible = node.extensible;
        let (root, scopes) = (root.into(), Box::default());
        self.program.sequences.push(Sequence {
            extensible,
            optional,
            first: 0,
            root,
            additions,
            keys,
            scopes,
        });
        Code::Sequence(self.program.sequences.len() as u32 - 1)
    }

    // CHOICE (§23)

    fn choice(&mut self, id: NodeId) -> Code {
        let node = self.shape.node(id);
        let mut root: Vec<u32> = Vec::new();
        let mut additions: Vec<(u32, u32)> = Vec::new();
        for (number, (_, field)) in (0_u32..).zip(self.shape.fields_of(id)) {
            match field.place {
                Place::Root => root.push(number),
                // The members of a version bracket count one by one (§23.8 NOTE 2).
                Place::Addition(at) | Place::Group(at) => additions.push((at, number)),
            }
        }
        additions.sort();
        root.sort_by_cached_key(|number| self.order.of(FieldId(node.first + number)));
        let additions: Box<[u32]> = additions.into_iter().map(|(_, number)| number).collect();
        let mut indices = vec![0; node.count as usize];
        for (index, number) in (0_u32..).zip(&root) {
            indices[*number as usize] = index;
        }
        for (index, number) in (0_u32..).zip(&additions) {
            indices[*number as usize] = index | ADDITION;
        }
        let whole = self.index(root.len());
        self.program.choices.push(Choice {
            extensible: node.extensible,
            whole,
            first: 0,
            root: root.into(),
            additions,
            indices: indices.into(),
        });
        Code::Choice(self.program.choices.len() as u32 - 1)
    }
}

fn presence_bits(members: &[Member]) -> u32 {
    members.iter().filter(|member| member.optional).count() as u32
}
