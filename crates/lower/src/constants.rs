//! Values of the model → constants of the shape.

use crate::shape::{Lowered, kind_of};
use num_bigint::BigInt;
use tercet_model::constraints::Visibility;
use tercet_model::ir::{Model, Real, TypeId, TypeKind, Value};
use tercet_plan::Kind;
use tercet_plan::shape::Constant;
use tercet_runtime::ber::{Rules, Writer};
use tercet_runtime::text;
use tercet_runtime::types::{self, BitStr, Oid, RelativeOid};

/// The constant for a value of a type, or nothing if it is not one.
pub(crate) fn constant(
    lowered: &mut Lowered<'_>,
    model: &Model,
    ty: TypeId,
    value: &Value,
) -> Option<Constant> {
    let base = model.base(ty);
    match (&model.ty(base).kind, value) {
        (TypeKind::Sequence(parts) | TypeKind::Set(parts), Value::Struct(given)) => {
            let node = lowered.node(base, None);
            lowered.fill_fields();
            let mut fields = Vec::with_capacity(given.len());
            for (name, value) in given {
                let field = lowered.component(node, name)?;
                let part = parts.list.iter().find(|part| part.name == *name)?;
                fields.push((field, constant(lowered, model, part.ty, value)?));
            }
            fields.sort_by_key(|(field, _)| *field);
            Some(Constant::Struct(fields))
        }
        // `{}` may have been read as either.
        (TypeKind::Sequence(_) | TypeKind::Set(_), Value::List(list)) if list.is_empty() => {
            Some(Constant::Struct(Vec::new()))
        }
        (TypeKind::SequenceOf(..) | TypeKind::SetOf(..), Value::Struct(list)) if list.is_empty() => {
            Some(Constant::List(Vec::new()))
        }
        (TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element), Value::List(list)) => {
            let list = list.iter().map(|value| constant(lowered, model, *element, value));
            list.collect::<Option<_>>().map(Constant::List)
        }
        (TypeKind::Choice(parts), Value::Choice(name, inner)) => {
            let node = lowered.node(base, None);
            lowered.fill_fields();
            let part = parts.list.iter().find(|part| part.name == *name)?;
            let field = lowered.component(node, name)?;
            Some(Constant::Choice(field, Box::new(constant(lowered, model, part.ty, inner)?)))
        }
        (_, Value::Open(inside, inner)) => {
            let node = lowered.bare(*inside);
            Some(Constant::Open(node, Box::new(constant(lowered, model, *inside, inner)?)))
        }
        // As many zeros as the size wants belong to the value (X.680 §22.7).
        (TypeKind::BitString(names), Value::BitString(octets, bits)) if !names.is_empty() => {
            let least = model.effective(ty, Visibility::All).size.map_or(0, |size| size.lo);
            let least = usize::try_from(least).ok().filter(|least| *least <= MOST_NAMED_BITS).unwrap_or(0);
            Some(Constant::Contents(bit_contents(octets, *bits, Some(least))?))
        }
        (kind, value) => leaf(kind, value),
    }
}

/// Bits that zeros are added up to.
const MOST_NAMED_BITS: usize = 1 << 16;

/// The constant for a value of a primitive type.
pub(crate) fn leaf(kind: &TypeKind, value: &Value) -> Option<Constant> {
    Some(match value {
        Value::Boolean(value) => Constant::Boolean(*value),
        Value::Integer(number) => match i64::try_from(number.clone()) {
            Ok(number) => Constant::Int(number),
            Err(_) => Constant::Contents(number.to_signed_bytes_be()),
        },
        Value::Enumerated(_, number) => Constant::Int(*number),
        Value::Real(real) => Constant::Contents(real_contents(real)?),
        Value::BitString(octets, bits) => {
            let named = matches!(kind, TypeKind::BitString(names) if !names.is_empty());
            Constant::Contents(bit_contents(octets, *bits, named.then_some(0))?)
        }
        Value::OctetString(octets) => Constant::Contents(octets.clone()),
        Value::Null => Constant::Contents(Vec::new()),
        Value::Oid(arcs) => Constant::Contents(match kind {
            TypeKind::RelativeOid => RelativeOid::from_arcs(arcs.to_vec()).ok()?.as_bytes().to_vec(),
            _ => Oid::from_arcs(arcs.to_vec()).ok()?.as_bytes().to_vec(),
        }),
        Value::Text(text) => Constant::Contents(text_contents(kind, text)?),
        _ => return None,
    })
}

/// The bits; of named ones without the zeros at the end, but so many at least.
fn bit_contents(octets: &[u8], bits: u64, named: Option<usize>) -> Option<Vec<u8>> {
    let mut padded = octets.to_vec();
    let bits = bits.max(named.unwrap_or(0) as u64);
    padded.resize(octets.len().max(usize::try_from(bits.div_ceil(8)).ok()?), 0);
    let octets = padded;
    let length = usize::try_from(bits.div_ceil(8)).ok()?;
    let unused = (length as u64 * 8).checked_sub(bits).and_then(|unused| u8::try_from(unused).ok())?;
    let mut bits = BitStr::new(octets.get(..length)?, unused)?;
    if let Some(least) = named {
        bits = bits.trimmed(least);
    }
    let mut writer = Writer::new(Rules::Der);
    writer.push_bits(bits);
    Some(writer.into_vec())
}

fn real_contents(real: &Real) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Rules::Der);
    match real {
        Real::Finite { mantissa, .. } if *mantissa == BigInt::from(0) => {}
        Real::Finite { mantissa, base: 2, exponent } => {
            let (sign, magnitude) = mantissa.to_bytes_be();
            writer.push_real(&types::Real::Binary(types::Binary {
                negative: sign == num_bigint::Sign::Minus,
                base: types::Base::Two,
                scale: 0,
                exponent: *exponent,
                mantissa: &magnitude,
            }));
        }
        Real::Finite { mantissa, exponent, .. } => {
            writer.push_decimal_text(&format!("{mantissa}E{exponent}")).ok()?;
        }
        Real::MinusZero => writer.push_real(&types::Real::MinusZero),
        Real::PlusInfinity => writer.push_real(&types::Real::PlusInfinity),
        Real::MinusInfinity => writer.push_real(&types::Real::MinusInfinity),
        Real::NotANumber => writer.push_real(&types::Real::NotANumber),
    }
    Some(writer.into_vec())
}

fn text_contents(kind: &TypeKind, value: &str) -> Option<Vec<u8>> {
    let kind = kind_of(kind);
    match (kind.string_kind(), kind.time_type()) {
        (Some(string), _) => text::from_utf8(string, value).ok().map(|octets| octets.into_owned()),
        (_, Some(time)) => time.encode(value, Rules::Der).ok().map(|octets| octets.into_owned()),
        (None, None) => {
            matches!(kind, Kind::UtcTime | Kind::GeneralizedTime).then(|| value.as_bytes().to_vec())
        }
    }
}
