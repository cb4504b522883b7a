//! Writing primitive values: from contents octets of X.690 to those of X.696.

use super::encode::{Engine, Result};
use super::time;
use crate::ErrorKind;
use crate::ber::check;
use crate::contents::normal_real;
use crate::event::Leaf;
use crate::leaf::number;
use tercet_plan::oer::{Code, Integer, Real, Size, VARIABLE};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::ber::{Rules, decode_bit_string, decode_boolean, decode_integer, decode_real};
use tercet_runtime::types::BitStr;

impl Engine<'_> {
    pub(super) fn leaf(&mut self, node: NodeId, code: Code, leaf: Leaf<'_>) -> Result<()> {
        match (code, leaf) {
            (Code::Boolean, Leaf::Int(value)) => self.boolean(value != 0),
            (Code::Null, _) => {}
            (Code::Integer(integer), _) => return self.integer(integer, leaf),
            (Code::Enumerated, _) => {
                let number = number(leaf).ok_or(ErrorKind::UnknownEnumeration)?;
                self.state.writer.push_enumerated(number);
            }
            (_, Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                return self.string(node, code, contents);
            }
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        Ok(())
    }

    fn boolean(&mut self, value: bool) {
        self.state.writer.push_octet(if value { 0xFF } else { 0 });
    }

    /// §10. A number that the width does not hold is none of the type.
    fn integer(&mut self, integer: Integer, leaf: Leaf<'_>) -> Result<()> {
        let writer = &mut self.state.writer;
        if let Some(number) = number(leaf) {
            match integer {
                Integer::SignedVariable => writer.push_signed(number),
                Integer::UnsignedVariable => match u128::try_from(number) {
                    Ok(number) => writer.push_unsigned(number),
                    Err(_) => return Err(ErrorKind::ConstraintViolated.into()),
                },
                Integer::Unsigned(octets) => {
                    if number < 0 || octets < 8 && number >> (u32::from(octets) * 8) != 0 {
                        return Err(ErrorKind::ConstraintViolated.into());
                    }
                    writer.push_fixed(number.cast_unsigned(), octets);
                }
                Integer::Signed(octets) => {
                    let sign = number >> (u32::from(octets) * 8 - 1);
                    if !matches!(sign, 0 | -1) {
                        return Err(ErrorKind::ConstraintViolated.into());
                    }
                    writer.push_fixed(number.cast_unsigned(), octets);
                }
            }
            return Ok(());
        }
        let contents = leaf.contents().ok_or(ErrorKind::ValueMismatch)?;
        let octets = decode_integer(contents, 0, Rules::Ber)?;
        match (integer, octets) {
            (Integer::SignedVariable, _) => writer.push_sized(octets),
            // Without the zero that only says that the number is not negative.
            (Integer::UnsignedVariable, [0, rest @ ..]) => writer.push_sized(rest),
            (Integer::UnsignedVariable, [1..0x80, ..]) => writer.push_sized(octets),
            (Integer::Unsigned(8), [0, rest @ ..]) if rest.len() == 8 => writer.push(rest),
            _ => return Err(ErrorKind::ConstraintViolated.into()),
        }
        Ok(())
    }

    pub(super) fn string(&mut self, node: NodeId, code: Code, contents: &[u8]) -> Result<()> {
        let kind = self.shape.node(node).kind;
        match code {
            Code::Boolean => self.boolean(decode_boolean(contents, 0, Rules::Ber)?),
            Code::Real(real) => return self.real(real, contents),
            Code::OctetString(size) | Code::OctetsContaining(size) => return self.sized(size, contents),
            Code::BitString(size, named) | Code::BitsContaining(size, named) => {
                let bits = decode_bit_string(contents, 0, Rules::Ber)?;
                return self.bits(node, size, bits, named);
            }
            Code::Contents(size) => {
                let rules = match kind {
                    Kind::UtcTime | Kind::GeneralizedTime | Kind::Time if self.program.canonical => {
                        Rules::Der
                    }
                    _ => Rules::Ber,
                };
                check::check(kind, contents, 0, rules)?;
                return self.sized(size, contents);
            }
            Code::Time(form) => {
                let Some(form) = self.program.times.get(form as usize) else {
                    return Err(ErrorKind::Unsupported.into());
                };
                return time::write(&mut self.state.writer, form, kind, contents);
            }
            // An unresolved open type: its complete encoding.
            Code::Open => self.state.writer.push_sized(contents),
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        Ok(())
    }

    /// Octets, behind their number unless there is only one that it can be.
    pub(super) fn sized(&mut self, size: Size, octets: &[u8]) -> Result<()> {
        if size == VARIABLE {
            self.state.writer.push_sized(octets);
        } else if octets.len() == size as usize {
            self.state.writer.push(octets);
        } else {
            return Err(ErrorKind::ConstraintViolated.into());
        }
        Ok(())
    }

    /// §13. Trailing zero bits that mean nothing are left out as far as the size allows (§31.7), or filled up to it.
    fn bits(&mut self, node: NodeId, size: Size, bits: BitStr<'_>, named: bool) -> Result<()> {
        let least = self.shape.least_size(node);
        let bits = if named { bits.trimmed(least.min(bits.len())) } else { bits };
        let count = match size {
            VARIABLE if named => bits.len().max(least),
            VARIABLE => bits.len(),
            size if bits.len() == size as usize || named && bits.len() < size as usize => size as usize,
            _ => return Err(ErrorKind::ConstraintViolated.into()),
        };
        let end = self.state.writer.mark();
        let used = bits.bytes().len();
        for _ in used..count.div_ceil(8) {
            self.state.writer.push_octet(0);
        }
        if let Some((last, front)) = bits.bytes().split_last() {
            self.state.writer.push_octet(last >> bits.unused() << bits.unused());
            self.state.writer.push(front);
        }
        if size == VARIABLE {
            self.state.writer.push_octet((8 - count % 8) as u8 % 8);
            self.state.writer.push_length(self.state.writer.since(end));
        }
        Ok(())
    }

    /// §12. A number that a format of IEEE 754 does not have becomes the nearest that it has; one beyond all of them is
    /// none of the type.
    fn real(&mut self, real: Real, contents: &[u8]) -> Result<()> {
        let state = &mut *self.state;
        if real == Real::Contents {
            state.writer.push_sized(normal_real(&mut state.normal, contents)?);
            return Ok(());
        }
        let value = decode_real(contents, 0, Rules::Ber)?;
        let number = value.to_f64();
        let near = if real == Real::Binary32 { f64::from(number as f32) } else { number };
        let infinite = matches!(
            value,
            tercet_runtime::types::Real::PlusInfinity | tercet_runtime::types::Real::MinusInfinity
        );
        if near.is_infinite() && !infinite {
            return Err(ErrorKind::ConstraintViolated.into());
        }
        match real {
            Real::Binary32 => state.writer.push_fixed(u64::from((number as f32).to_bits()), 4),
            _ => state.writer.push_fixed(number.to_bits(), 8),
        }
        Ok(())
    }
}
