//! Reading by tables.

use super::super::reader::with_extension_bit;
use super::super::{Reader, Size};
use super::{Addition, Characters, Choice, Enumerated, Form, List, Member, Sequence, Time};
use crate::codec::parts::{
    Alternatives, Content, Elements, Item, Members, Part, Straight, UNKNOWN, Value, alternative_name,
    member_name,
};
use crate::codec::{Contained, UnknownAlternative};
use crate::types::{Integer, Octets, Text};
use crate::{ErrorKind, Result};

/// Presence bits that have been read.
#[derive(Default)]
struct Presence {
    /// Up to 56 of them, the next the highest.
    word: u64,
    /// Where the next one stands, if there are more.
    more: Option<usize>,
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// Reads a value by tables.
    ///
    /// # Errors
    /// The first fault.
    #[inline] // where the type is, so that what frees it is made there alone
    pub fn value<T: Value<'a>>(&mut self, form: Form) -> Result<T> {
        let mut value = T::empty();
        self.part(form, value.part())?;
        Ok(value)
    }

    /// Reads a part of a value.
    #[inline(never)]
    fn part(&mut self, form: Form, part: Part<'_, 'a>) -> Result<()> {
        match (form, part) {
            (Form::Integer(whole, lo, span, extensible), part) => {
                if extensible && self.bit()? {
                    let number = self.unconstrained()?;
                    return self.take_integer(number, part);
                }
                let number = self.whole(whole, span)?;
                self.taken(part.set_integer(i128::from(number) + i128::from(lo)))
            }
            (Form::Plain, Part::Bool(place)) => self.bit().map(|bit| *place = bit),
            (Form::Items(whole, count), Part::Items(place)) => {
                let number = self.numbered(whole, count, ErrorKind::UnknownEnumeration)?;
                place.set(Item::Known(number as usize));
                Ok(())
            }
            (Form::Enumerated(items), Part::Items(place)) => {
                self.enumerated(items).map(|item| place.set(item))
            }
            (Form::Sequence(sequence), Part::Members(value)) => self.sequence(sequence, value),
            (Form::Choice(choice), Part::Alternatives(value)) => {
                if choice.recursive {
                    self.enter()?;
                }
                self.choice(choice, value)?;
                if choice.recursive {
                    self.leave();
                }
                Ok(())
            }
            (Form::List(list), Part::Elements(place)) => self.elements(list, place),
            (form, part) => self.leaf(form, part),
        }
    }

    /// Strings, and what is rare.
    fn leaf(&mut self, form: Form, part: Part<'_, 'a>) -> Result<()> {
        match (form, part) {
            (Form::Plain, Part::Null) => {}
            (Form::Plain, Part::Real(place)) => *place = self.real()?,
            (Form::Plain, Part::Float(place)) => *place = self.float()?,
            (Form::Plain, Part::Oid(place)) => *place = self.oid()?,
            (Form::Plain, Part::RelativeOid(place)) => *place = self.relative_oid()?,
            (Form::Plain, Part::Octets(place)) => *place = self.any()?,
            (Form::SemiConstrained(lo, extensible), part) => {
                let number = if extensible && self.bit()? {
                    self.unconstrained()?
                } else {
                    self.semi_constrained(lo)?
                };
                return self.take_integer(number, part);
            }
            (Form::Unconstrained(extensible), part) => {
                // The same on both sides of an extension.
                if extensible {
                    self.bit()?;
                }
                let number = self.unconstrained()?;
                return self.take_integer(number, part);
            }
            (Form::Large(lo, span, extensible), part) => {
                let number = match span {
                    _ if extensible && self.bit()? => self.unconstrained()?,
                    Some(span) => self.large(lo, span)?,
                    None => self.semi_constrained_large(lo)?,
                };
                return self.take_integer(number, part);
            }
            (Form::String(size, _), part) => return self.string(size, part),
            (Form::Characters(characters), Part::Text(place)) => {
                *place = self.characters_of(characters)?;
            }
            (Form::OtherString(kind), Part::Text(place)) => *place = self.other_string(kind)?,
            (Form::Time(form), Part::Text(place)) => *place = self.time(form)?,
            (Form::Containing(size, inside, bits), Part::Content(place)) => {
                return self.containing(size, *inside, bits, place);
            }
            (Form::Straight, Part::Straight(place)) => return self.straight(place),
            _ => return Err(self.error(ErrorKind::Unsupported)),
        }
        Ok(())
    }

    fn take_integer(&self, number: Integer<'a>, part: Part<'_, 'a>) -> Result<()> {
        if let Part::Big(place) = part {
            *place = number;
            return Ok(());
        }
        let number = i128::try_from(&number).ok();
        self.taken(number.is_some_and(|number| part.set_integer(number)))
    }

    fn taken(&self, taken: bool) -> Result<()> {
        if taken { Ok(()) } else { Err(self.error(ErrorKind::IntegerRange)) }
    }

    fn string(&mut self, size: Size, part: Part<'_, 'a>) -> Result<()> {
        let fixed = |count: usize| size.is_fixed() && !size.extensible && size.lo as usize == count;
        match part {
            Part::Octets(place) => *place = self.octet_string(size)?,
            Part::Bits(place) => *place = self.bit_string(size)?,
            Part::FixedOctets(place) => {
                let octets = if fixed(place.len()) && place.len() <= 8 {
                    if ALIGNED && place.len() > 2 {
                        self.bits.align();
                    }
                    let bits = self.bits(u32::try_from(place.len() * 8).unwrap_or(0))?.to_be_bytes();
                    Octets::copied(bits.get(8 - place.len()..).unwrap_or_default())
                } else {
                    self.octet_string(size)?
                };
                if octets.len() != place.len() {
                    return Err(self.error(ErrorKind::ConstraintViolated));
                }
                place.copy_from_slice(&octets);
            }
            Part::FixedBits(place, count) if fixed(count as usize) => {
                if ALIGNED && count > 16 {
                    self.bits.align();
                }
                *place = self.bits(count)?;
            }
            Part::FixedBits(place, count) => {
                let string = self.bit_string(size)?;
                let bits = string.as_bits();
                if bits.len() != count as usize {
                    return Err(self.error(ErrorKind::ConstraintViolated));
                }
                let word = bits.bytes().iter().fold(0_u64, |word, octet| word << 8 | u64::from(*octet));
                *place = word >> bits.unused();
            }
            _ => return Err(self.error(ErrorKind::Unsupported)),
        }
        Ok(())
    }

    fn characters_of(&mut self, characters: &'static Characters) -> Result<Text<'a>> {
        let Characters { size, alphabet, time } = *characters;
        match time {
            Time::No => self.characters(size, alphabet),
            Time::Utc => self.utc_time(size, alphabet),
            Time::Generalized => self.generalized_time(size, alphabet),
        }
    }

    fn enumerated(&mut self, items: &Enumerated) -> Result<Item> {
        let known = |number: u16| Item::Known(number.into());
        if items.extensible && self.bit()? {
            let number = self.small_number()?;
            let item = items.additions.get(number as usize).copied();
            return Ok(item.map_or(Item::Addition(number), known));
        }
        let count = u32::try_from(items.root.len()).unwrap_or(u32::MAX);
        let start = self.position();
        let number = self.numbered(items.whole, count, ErrorKind::UnknownEnumeration);
        let number = number.map_err(|error| match items.extensible {
            true => with_extension_bit(error, start),
            false => error,
        })?;
        items
            .root
            .get(number as usize)
            .copied()
            .map(known)
            .ok_or_else(|| self.error(ErrorKind::UnknownEnumeration))
    }

    fn sequence(&mut self, sequence: &'static Sequence, value: &mut dyn Members<'a>) -> Result<()> {
        if sequence.recursive {
            self.enter()?;
        }
        // The extension bit stands before the presence bits and is read with them.
        let mut bits = self.presence_of(sequence.root, sequence.extensible)?;
        let extended = sequence.extensible && bits.next(self);
        self.members(sequence.root, &mut bits, value)?;
        if extended {
            self.added(sequence, value)?;
        }
        if sequence.recursive {
            self.leave();
        }
        Ok(())
    }

    fn members(
        &mut self,
        members: &'static [Member],
        bits: &mut Presence,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        for member in members {
            if !member.optional || bits.next(self) {
                self.member(member, value)?;
            }
        }
        Ok(())
    }

    fn member(&mut self, member: &Member, value: &mut dyn Members<'a>) -> Result<()> {
        let result = self.part(member.form, value.member(member.number.into()));
        result.inspect_err(|_| self.inside(member_name(value, member.number)))
    }

    /// The additions, those that are not known behind the last component.
    #[inline(never)]
    fn added(&mut self, sequence: &'static Sequence, value: &mut dyn Members<'a>) -> Result<()> {
        let mut more = self.additions()?;
        for addition in sequence.additions {
            let open = match (self.addition(&mut more), addition.members) {
                (Err(error), [member, ..]) if !addition.group => {
                    self.inside(member_name(value, member.number));
                    return Err(error);
                }
                (open, _) => open?,
            };
            let Some(open) = open else { continue };
            self.addition_of(addition, value)?;
            self.close(open);
        }
        let Some(place) = sequence.unknown else { return self.skip_additions(more) };
        let known = u32::try_from(sequence.additions.len()).unwrap_or(u32::MAX);
        let unknown = self.unknown_additions(known, more)?;
        if let Part::Additions(place) = value.member(place.into()) {
            *place = unknown;
        }
        Ok(())
    }

    fn addition_of(&mut self, addition: &Addition, value: &mut dyn Members<'a>) -> Result<()> {
        if addition.group {
            let mut bits = self.presence_of(addition.members, false)?;
            return self.members(addition.members, &mut bits, value);
        }
        addition.members.iter().try_for_each(|member| self.member(member, value))
    }

    /// The bits that tell which members are there, behind one that tells of extensions.
    #[inline]
    fn presence_of(&mut self, members: &[Member], extensible: bool) -> Result<Presence> {
        let count = members.iter().filter(|member| member.optional).count() + usize::from(extensible);
        match u32::try_from(count) {
            Ok(0) => Ok(Presence::default()),
            Ok(count @ 1..=56) => Ok(Presence { word: self.bits(count)? << (64 - count), more: None }),
            _ => {
                let start = self.position();
                for _ in 0..count {
                    self.bit()?;
                }
                Ok(Presence { word: 0, more: Some(start) })
            }
        }
    }

    fn choice(&mut self, choice: &'static Choice, value: &mut dyn Alternatives<'a>) -> Result<()> {
        if choice.extensible && self.bit()? {
            return self.added_choice(choice, value);
        }
        let count = u32::try_from(choice.root.len()).unwrap_or(u32::MAX);
        let number = match choice.extensible {
            true => self.root_alternative(choice.whole, count)?,
            false => self.alternative(choice.whole, count)?,
        };
        match choice.root.get(number as usize) {
            Some(member) => self.chosen(member, value),
            None => Err(self.error(ErrorKind::UnknownAlternative)),
        }
    }

    fn chosen(&mut self, member: &'static Member, value: &mut dyn Alternatives<'a>) -> Result<()> {
        let result = self.part(member.form, value.choose(member.number.into()));
        result.inspect_err(|_| self.inside(alternative_name(value, member.number)))
    }

    fn added_choice(&mut self, choice: &'static Choice, value: &mut dyn Alternatives<'a>) -> Result<()> {
        let number = self.small_number()?;
        let Some(member) = choice.additions.get(number as usize) else {
            let octets = self.any()?;
            if let Part::Unknown(place) = value.choose(UNKNOWN) {
                *place = UnknownAlternative { addition: Some(number), octets };
            }
            return Ok(());
        };
        let open = self.open().inspect_err(|_| self.inside(alternative_name(value, member.number)))?;
        self.chosen(member, value)?;
        self.close(open);
        Ok(())
    }

    fn elements(&mut self, list: &'static List, place: &mut dyn Elements<'a>) -> Result<()> {
        if list.recursive {
            self.enter()?;
        }
        let mut length = self.size(list.size)?;
        place.expect(length.count.min(self.bits.left()));
        let mut count = 0;
        loop {
            let start = self.position();
            for _ in 0..length.count {
                if let Err(error) = self.part(list.element, place.push()) {
                    self.path.element(count);
                    return Err(error);
                }
                count += 1;
            }
            self.end_list(start, length.count)?;
            if !length.more {
                break;
            }
            length = self.length()?;
        }
        if list.recursive {
            self.leave();
        }
        Ok(())
    }

    fn containing(&mut self, size: Size, form: Form, bits: bool, place: &mut dyn Content<'a>) -> Result<()> {
        let value = self.contained(size, if bits { 1 } else { 8 }, |r| r.part(form, place.value()))?;
        match value {
            Contained::Value(()) => {}
            Contained::Octets(octets) => place.set_octets(octets),
            Contained::Bits(bits) => place.set_bits(*bits),
        }
        Ok(())
    }

    fn straight(&mut self, place: &mut dyn Straight<'a>) -> Result<()> {
        if ALIGNED {
            let mut other = self.with();
            let result = place.read_aper(&mut other);
            *self = other.with();
            return result;
        }
        let mut other = self.with();
        let result = place.read_uper(&mut other);
        *self = other.with();
        result
    }

    /// The same reader, seen as one of the variant that it is.
    fn with<const SAME: bool>(&mut self) -> Reader<'a, SAME> {
        let Self { bits, depth, empty, .. } = *self;
        Reader { bits, depth, empty, path: core::mem::take(&mut self.path) }
    }
}

impl Presence {
    /// Whether the next one is there.
    #[inline]
    fn next<const ALIGNED: bool>(&mut self, r: &Reader<'_, ALIGNED>) -> bool {
        match &mut self.more {
            None => {
                let there = self.word >> 63 == 1;
                self.word <<= 1;
                there
            }
            Some(at) => {
                *at += 1;
                r.bits.word_at(*at - 1) >> 63 == 1
            }
        }
    }
}
