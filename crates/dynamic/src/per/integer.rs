//! Whole numbers (X.691 §11.3 to §11.8, §13), 64 bits on the fast path and any size beside it.

use num_bigint::{BigInt, BigUint, Sign};
use tercet_plan::per::{Integer, IntegerForm, Large, Program, Whole};
use tercet_runtime::per::{BitReader, BitWriter, Taken};
use tercet_runtime::{Error, ErrorKind};

type Result<T> = std::result::Result<T, Error>;

/// Octets in a number of more than 64 bits; longer ones are refused.
const LONGEST: usize = 1 << 20;

/// A number read.
pub(super) enum Number {
    /// It fits.
    Small(i64),
    /// Its contents octets (X.690 §8.3) are in the buffer.
    Large,
}

/// Reads a constrained whole number: the difference to the least value.
#[inline(always)]
pub(super) fn read_whole(reader: &mut BitReader<'_>, whole: Whole) -> Result<u64> {
    match whole {
        Whole::Octets(width, most) => read_counted(reader, width, most),
        whole => {
            let (width, pad) = whole.field().unwrap_or_default();
            if pad > 0 {
                reader.align();
            }
            reader.bits(u32::from(width))
        }
    }
}

fn read_counted(reader: &mut BitReader<'_>, width: u8, most: u8) -> Result<u64> {
    let octets = reader.bits(u32::from(width))? + 1;
    if octets > u64::from(most) {
        return Err(reader.error(ErrorKind::ConstraintViolated));
    }
    reader.align();
    reader.bits(octets as u32 * 8)
}

/// Writes a constrained whole number.
#[inline]
pub(super) fn write_whole(writer: &mut BitWriter, whole: Whole, number: u64) {
    match whole {
        Whole::Nothing => {}
        Whole::Bits(width) => writer.bits(number, u32::from(width)),
        Whole::Octet => {
            writer.align();
            writer.bits(number, 8);
        }
        Whole::TwoOctets => {
            writer.align();
            writer.bits(number, 16);
        }
        Whole::Octets(width, _) => {
            let octets = octets_of(number);
            writer.bits(u64::from(octets) - 1, u32::from(width));
            writer.align();
            writer.bits(number, octets * 8);
        }
    }
}

/// Octets that an unsigned number needs, at least one.
fn octets_of(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).div_ceil(8).max(1)
}

/// Octets that a two's complement number needs.
fn signed_octets_of(number: i64) -> u32 {
    let magnitude = if number < 0 { !number } else { number };
    (u64::BITS - magnitude.leading_zeros()) / 8 + 1
}

/// Reads an INTEGER; a large one goes to `made`.
#[inline]
pub(super) fn read(
    reader: &mut BitReader<'_>,
    program: &Program,
    integer: Integer,
    made: &mut Vec<u8>,
) -> Result<Number> {
    if integer.extensible && reader.bit()? {
        return read_unconstrained(reader, program.aligned, made);
    }
    match integer.form {
        IntegerForm::Constrained { lo, span, whole } => {
            let start = *reader;
            let number = read_whole(reader, whole)?;
            if number > span {
                return Err(start.error(ErrorKind::ConstraintViolated));
            }
            match lo.checked_add_unsigned(number) {
                Some(value) => Ok(Number::Small(value)),
                None => Ok(fit(i128::from(lo) + i128::from(number), made)),
            }
        }
        IntegerForm::Unconstrained => read_unconstrained(reader, program.aligned, made),
        IntegerForm::SemiConstrained(lo) => {
            octets(reader, program.aligned, made)?;
            if made.len() <= 8 {
                let number = made.iter().fold(0u64, |n, octet| n << 8 | u64::from(*octet));
                return Ok(fit(i128::from(lo) + i128::from(number), made));
            }
            let value = BigInt::from_bytes_be(Sign::Plus, made) + lo;
            *made = value.to_signed_bytes_be();
            Ok(Number::Large)
        }
        IntegerForm::Large(index) => read_large(reader, program, &program.large[index as usize], made),
    }
}

fn fit(value: i128, made: &mut Vec<u8>) -> Number {
    match i64::try_from(value) {
        Ok(small) => Number::Small(small),
        Err(_) => {
            *made = BigInt::from(value).to_signed_bytes_be();
            Number::Large
        }
    }
}

/// Two's complement octets behind a general length determinant (§11.8).
fn read_unconstrained(reader: &mut BitReader<'_>, aligned: bool, made: &mut Vec<u8>) -> Result<Number> {
    octets(reader, aligned, made)?;
    if made.len() > 8 {
        let extra = made
            .windows(2)
            .take_while(|w| matches!(w, [0, b] if b & 0x80 == 0) || matches!(w, [0xff, b] if b & 0x80 != 0));
        let extra = extra.count();
        made.drain(..extra);
    }
    if made.len() > 8 {
        return Ok(Number::Large);
    }
    let sign = if made[0] & 0x80 != 0 { -1i64 } else { 0 };
    Ok(Number::Small(made.iter().fold(sign, |n, octet| n << 8 | i64::from(*octet))))
}

/// The octets behind a general length determinant; at least one.
fn octets(reader: &mut BitReader<'_>, aligned: bool, made: &mut Vec<u8>) -> Result<()> {
    made.clear();
    let start = *reader;
    loop {
        let length = reader.length(aligned)?;
        append(reader, length.count, made)?;
        if made.len() > LONGEST {
            return Err(start.error(ErrorKind::LimitExceeded));
        }
        if !length.more {
            break;
        }
    }
    if made.is_empty() { Err(start.error(ErrorKind::IntegerEmpty)) } else { Ok(()) }
}

/// Appends the next octets of the input.
pub(super) fn append(reader: &mut BitReader<'_>, count: usize, made: &mut Vec<u8>) -> Result<()> {
    match reader.octets(count)? {
        Taken::Aligned(_, octets) => made.extend_from_slice(octets),
        Taken::Shifted(at) => reader.copy_bits(at, count * 8, made),
    }
    Ok(())
}

/// Bits of the number of octets of a difference of up to so much (§11.5.7.4, §13.2.6), in octets.
pub(super) fn octets_width(span: &[u8]) -> u32 {
    width_for(&BigUint::from_bytes_be(span))
}

fn width_for(span: &BigUint) -> u32 {
    let most = span.bits().div_ceil(8);
    u64::BITS - most.saturating_sub(1).leading_zeros()
}

fn read_large(
    reader: &mut BitReader<'_>,
    program: &Program,
    large: &Large,
    made: &mut Vec<u8>,
) -> Result<Number> {
    let start = *reader;
    let lo = BigInt::from_signed_bytes_be(&large.lo);
    let value = match &large.span {
        None => {
            octets(reader, program.aligned, made)?;
            lo + BigInt::from_bytes_be(Sign::Plus, made)
        }
        Some(span) => {
            let span = BigUint::from_bytes_be(span);
            made.clear();
            if program.aligned {
                let count = reader.bits(width_for(&span))? + 1;
                reader.align();
                append(reader, count as usize, made)?;
            } else {
                // The first octet is filled up from the front, so that the rest are whole.
                let bits = span.bits() as usize;
                let odd = bits % 8;
                if odd > 0 {
                    made.push(reader.bits(odd as u32)? as u8);
                }
                append(reader, bits / 8, made)?;
            }
            let number = BigUint::from_bytes_be(made);
            if number > span {
                return Err(start.error(ErrorKind::ConstraintViolated));
            }
            lo + BigInt::from(number)
        }
    };
    *made = value.to_signed_bytes_be();
    Ok(match i64::try_from(&value) {
        Ok(small) => Number::Small(small),
        Err(_) => Number::Large,
    })
}

/// A number to write: as it comes from the tape.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Small(i64),
    /// Contents octets (X.690 §8.3) of more than 64 bits.
    Contents(&'a [u8]),
}

/// Whether a number is one of the root.
pub(super) const fn has(integer: &Integer, number: i64) -> bool {
    match integer.form {
        IntegerForm::Constrained { lo, span, .. } => number >= lo && number.abs_diff(lo) <= span,
        IntegerForm::SemiConstrained(lo) => number >= lo,
        IntegerForm::Unconstrained => true,
        IntegerForm::Large(_) => false,
    }
}

/// Writes an INTEGER. `None` when it is outside of a root that is not extensible.
pub(super) fn write(
    writer: &mut BitWriter,
    program: &Program,
    integer: Integer,
    value: Source<'_>,
) -> Option<()> {
    let aligned = program.aligned;
    let root = match integer.form {
        IntegerForm::Constrained { lo, span, whole } => {
            let difference = match value {
                Source::Small(value) => u64::try_from(i128::from(value) - i128::from(lo)).ok(),
                Source::Contents(_) => u64::try_from(big(value) - lo).ok(),
            };
            difference.filter(|d| *d <= span).map(|d| Root::Whole(whole, d))
        }
        IntegerForm::SemiConstrained(lo) => match value {
            Source::Small(value) => {
                let difference = i128::from(value) - i128::from(lo);
                u64::try_from(difference).ok().map(Root::Unsigned)
            }
            Source::Contents(_) => {
                let value = big(value) - lo;
                (value.sign() != Sign::Minus).then(|| Root::Octets(value.magnitude().to_bytes_be()))
            }
        },
        IntegerForm::Unconstrained => Some(match value {
            Source::Small(value) => Root::Signed(value),
            Source::Contents(_) => Root::Octets(signed(value)),
        }),
        IntegerForm::Large(index) => {
            let large = &program.large[index as usize];
            let value = big(value) - BigInt::from_signed_bytes_be(&large.lo);
            let span = large.span.as_ref().map(|span| BigUint::from_bytes_be(span));
            let inside =
                value.sign() != Sign::Minus && span.as_ref().is_none_or(|span| value.magnitude() <= span);
            inside.then(|| match span {
                None => Root::Octets(value.magnitude().to_bytes_be()),
                Some(span) => Root::Large(value.magnitude().clone(), span),
            })
        }
    };
    let Some(root) = root else {
        if !integer.extensible {
            return None;
        }
        writer.bit(true);
        write_octets(writer, &signed(value), aligned);
        return Some(());
    };
    if integer.extensible {
        writer.bit(false);
    }
    match root {
        Root::Whole(whole, number) => write_whole(writer, whole, number),
        Root::Unsigned(number) => {
            let octets = octets_of(number);
            writer.length(octets as usize, aligned);
            writer.bits(number, octets * 8);
        }
        Root::Signed(number) => {
            let octets = signed_octets_of(number);
            let unused = u64::BITS - octets * 8;
            writer.length(octets as usize, aligned);
            writer.bits(number.cast_unsigned() << unused >> unused, octets * 8);
        }
        Root::Octets(octets) => write_octets(writer, &octets, aligned),
        Root::Large(number, span) => write_large(writer, &number, &span, aligned),
    }
    Some(())
}

enum Root {
    Whole(Whole, u64),
    Unsigned(u64),
    Signed(i64),
    Octets(Vec<u8>),
    Large(BigUint, BigUint),
}

fn big(value: Source<'_>) -> BigInt {
    match value {
        Source::Small(value) => BigInt::from(value),
        Source::Contents(contents) => BigInt::from_signed_bytes_be(contents),
    }
}

fn signed(value: Source<'_>) -> Vec<u8> {
    big(value).to_signed_bytes_be()
}

fn write_large(writer: &mut BitWriter, number: &BigUint, span: &BigUint, aligned: bool) {
    let octets = number.to_bytes_be();
    if aligned {
        writer.bits(octets.len() as u64 - 1, width_for(span));
        writer.align();
        writer.octets(&octets);
    } else {
        let bits = span.bits() as usize;
        let mut filled = vec![0; bits.div_ceil(8)];
        let from = filled.len() - octets.len();
        filled[from..].copy_from_slice(&octets);
        let odd = (bits % 8) as u32;
        if odd > 0 {
            writer.bits(u64::from(filled[0]), odd);
        }
        writer.octets(&filled[usize::from(odd > 0)..]);
    }
}

/// Octets behind general length determinants, fragmented where they are many (§11.9.3.5 to §11.9.3.8).
pub(super) fn write_octets(writer: &mut BitWriter, mut octets: &[u8], aligned: bool) {
    loop {
        let length = writer.length(octets.len(), aligned);
        let (now, rest) = octets.split_at(length.count);
        writer.octets(now);
        octets = rest;
        if !length.more {
            return;
        }
    }
}

/// Contents octets (X.690 §8.3) as a number, if it fits.
#[inline]
pub(super) fn small(contents: &[u8]) -> Option<i64> {
    let (&first, rest) = contents.split_first()?;
    if rest.len() < 8 {
        let sign = i64::from(first.cast_signed());
        return Some(rest.iter().fold(sign, |value, octet| value << 8 | i64::from(*octet)));
    }
    i64::try_from(BigInt::from_signed_bytes_be(contents)).ok()
}
