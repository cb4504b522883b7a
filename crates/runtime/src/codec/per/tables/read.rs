//! Reading by tables.

use super::super::reader::with_extension_bit;
use super::super::{Reader, Size};
use super::{
    Addition, Bounds, Characters, Choice, Enumerated, Form, Leaf, List, Member, Sequence, Tables, Time, at,
};
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
    pub fn value<T: Value<'a>>(&mut self, tables: &'static Tables, form: Form) -> Result<T> {
        let mut value = T::empty();
        self.part(tables, form, value.part())?;
        Ok(value)
    }

    /// Reads a part of a value.
    #[inline(never)]
    fn part(&mut self, tables: &'static Tables, form: Form, part: Part<'_, 'a>) -> Result<()> {
        match (form, part) {
            (Form::Integer(number), part) => self.bounded(at(tables.bounds, number)?, part),
            (Form::Plain, Part::Bool(place)) => self.bit().map(|bit| *place = bit),
            (Form::Items(number), Part::Items(place)) => {
                let bounds = at(tables.bounds, number)?;
                let count = u32::try_from(bounds.span).unwrap_or(u32::MAX).saturating_add(1);
                let number = self.numbered(bounds.whole, count, ErrorKind::UnknownEnumeration)?;
                place.set(Item::Known(number as usize));
                Ok(())
            }
            (Form::Enumerated(number), Part::Items(place)) => {
                self.enumerated(at(tables.enumerations, number)?).map(|item| place.set(item))
            }
            (Form::Sequence(number), Part::Members(value)) => {
                self.sequence(tables, at(tables.sequences, number)?, value)
            }
            (Form::Choice(number), Part::Alternatives(value)) => {
                let choice = at(tables.choices, number)?;
                if choice.counted {
                    self.enter()?;
                }
                self.choice(tables, choice, value)?;
                if choice.counted {
                    self.leave();
                }
                Ok(())
            }
            (Form::List(number), Part::Elements(place)) => {
                self.elements(tables, at(tables.lists, number)?, place)
            }
            (Form::Leaf(number), part) => self.leaf(tables, at(tables.leaves, number)?, part),
            (form, part) => self.plain(form, part),
        }
    }

    fn bounded(&mut self, bounds: &Bounds, part: Part<'_, 'a>) -> Result<()> {
        if bounds.extensible && self.bit()? {
            let number = self.unconstrained()?;
            return self.take_integer(number, part);
        }
        let number = self.whole(bounds.whole, bounds.span)?;
        self.taken(part.set_integer(i128::from(number) + i128::from(bounds.lo)))
    }

    /// What needs no table.
    #[inline(never)]
    fn plain(&mut self, form: Form, part: Part<'_, 'a>) -> Result<()> {
        match (form, part) {
            (Form::Plain, Part::Null) => {}
            (Form::Plain, Part::Real(place)) => *place = self.real()?,
            (Form::Plain, Part::Float(place)) => *place = self.float()?,
            (Form::Plain, Part::Oid(place)) => *place = self.oid()?,
            (Form::Plain, Part::RelativeOid(place)) => *place = self.relative_oid()?,
            (Form::Plain, Part::Octets(place)) => *place = self.any()?,
            (Form::Straight, Part::Straight(place)) => return self.straight(place),
            _ => return Err(self.error(ErrorKind::Unsupported)),
        }
        Ok(())
    }

    /// Strings, and what is rare.
    #[inline(never)]
    fn leaf(&mut self, tables: &'static Tables, leaf: &'static Leaf, part: Part<'_, 'a>) -> Result<()> {
        match (leaf, part) {
            (Leaf::SemiConstrained(lo, extensible), part) => {
                let number = if *extensible && self.bit()? {
                    self.unconstrained()?
                } else {
                    self.semi_constrained(*lo)?
                };
                return self.take_integer(number, part);
            }
            (Leaf::Unconstrained(extensible), part) => {
                // The same on both sides of an extension.
                if *extensible {
                    self.bit()?;
                }
                let number = self.unconstrained()?;
                return self.take_integer(number, part);
            }
            (Leaf::Large(lo, span, extensible), part) => {
                let number = match span {
                    _ if *extensible && self.bit()? => self.unconstrained()?,
                    Some(span) => self.large(lo, span)?,
                    None => self.semi_constrained_large(lo)?,
                };
                return self.take_integer(number, part);
            }
            (Leaf::String(size, _), part) => return self.string(*size, part),
            (Leaf::Characters(characters), Part::Text(place)) => {
                *place = self.characters_of(characters)?;
            }
            (Leaf::OtherString(kind), Part::Text(place)) => *place = self.other_string(*kind)?,
            (Leaf::Time(form), Part::Text(place)) => *place = self.time(form)?,
            (Leaf::Containing(size, inside, bits), Part::Content(place)) => {
                return self.containing(tables, *size, *inside, *bits, place);
            }
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

    fn characters_of(&mut self, characters: &Characters) -> Result<Text<'a>> {
        let Characters { size, alphabet, time } = *characters;
        match time {
            Time::No => self.characters_by(size, alphabet),
            Time::Utc => self.utc_time_by(size, alphabet),
            Time::Generalized => self.generalized_time_by(size, alphabet),
        }
    }

    #[inline(never)]
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

    fn sequence(
        &mut self,
        tables: &'static Tables,
        sequence: &'static Sequence,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        if sequence.counted {
            self.enter()?;
        }
        // The extension bit stands before the presence bits and is read with them.
        let root = tables.members(&sequence.root);
        let mut bits = self.presence_bits(u32::from(sequence.optional) + u32::from(sequence.extensible))?;
        let extended = sequence.extensible && bits.next(self);
        self.members(tables, root, &mut bits, value)?;
        if extended {
            self.added(tables, sequence, value)?;
        }
        if sequence.counted {
            self.leave();
        }
        Ok(())
    }

    fn members(
        &mut self,
        tables: &'static Tables,
        members: &'static [Member],
        bits: &mut Presence,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        for member in members {
            if !member.optional || bits.next(self) {
                self.member(tables, member, value)?;
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        tables: &'static Tables,
        member: &Member,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        let result = self.part(tables, member.form, value.member(member.number.into()));
        result.inspect_err(|_| self.inside(member_name(value, member.number)))
    }

    /// The additions, those that are not known behind the last component.
    #[inline(never)]
    fn added(
        &mut self,
        tables: &'static Tables,
        sequence: &'static Sequence,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        let mut more = self.additions()?;
        let additions = tables.additions(&sequence.additions);
        for addition in additions {
            let open = match (self.addition(&mut more), tables.members(&addition.members)) {
                (Err(error), [member, ..]) if !addition.group => {
                    self.inside(member_name(value, member.number));
                    return Err(error);
                }
                (open, _) => open?,
            };
            let Some(open) = open else { continue };
            self.addition_of(tables, addition, value)?;
            self.close(open);
        }
        let Some(place) = sequence.unknown else { return self.skip_additions(more) };
        let known = u32::try_from(additions.len()).unwrap_or(u32::MAX);
        let unknown = self.unknown_additions(known, more)?;
        if let Part::Additions(place) = value.member(place.into()) {
            *place = unknown;
        }
        Ok(())
    }

    fn addition_of(
        &mut self,
        tables: &'static Tables,
        addition: &Addition,
        value: &mut dyn Members<'a>,
    ) -> Result<()> {
        let members = tables.members(&addition.members);
        if addition.group {
            let optional = members.iter().filter(|member| member.optional).count();
            let mut bits = self.presence_bits(u32::try_from(optional).unwrap_or(u32::MAX))?;
            return self.members(tables, members, &mut bits, value);
        }
        members.iter().try_for_each(|member| self.member(tables, member, value))
    }

    /// So many bits that tell which members are there.
    #[inline]
    fn presence_bits(&mut self, count: u32) -> Result<Presence> {
        match count {
            0 => Ok(Presence::default()),
            1..=56 => Ok(Presence { word: self.bits(count)? << (64 - count), more: None }),
            _ => {
                let start = self.position();
                for _ in 0..count {
                    self.bit()?;
                }
                Ok(Presence { word: 0, more: Some(start) })
            }
        }
    }

    fn choice(
        &mut self,
        tables: &'static Tables,
        choice: &'static Choice,
        value: &mut dyn Alternatives<'a>,
    ) -> Result<()> {
        if choice.extensible && self.bit()? {
            return self.added_choice(tables, choice, value);
        }
        let root = tables.members(&choice.root);
        let count = u32::try_from(root.len()).unwrap_or(u32::MAX);
        let number = match choice.extensible {
            true => self.root_alternative(choice.whole, count)?,
            false => self.alternative(choice.whole, count)?,
        };
        match root.get(number as usize) {
            Some(member) => self.chosen(tables, member, value),
            None => Err(self.error(ErrorKind::UnknownAlternative)),
        }
    }

    fn chosen(
        &mut self,
        tables: &'static Tables,
        member: &'static Member,
        value: &mut dyn Alternatives<'a>,
    ) -> Result<()> {
        let result = self.part(tables, member.form, value.choose(member.number.into()));
        result.inspect_err(|_| self.inside(alternative_name(value, member.number)))
    }

    fn added_choice(
        &mut self,
        tables: &'static Tables,
        choice: &'static Choice,
        value: &mut dyn Alternatives<'a>,
    ) -> Result<()> {
        let number = self.small_number()?;
        let Some(member) = tables.members(&choice.additions).get(number as usize) else {
            let octets = self.any()?;
            if let Part::Unknown(place) = value.choose(UNKNOWN) {
                *place = UnknownAlternative { addition: Some(number), octets };
            }
            return Ok(());
        };
        let open = self.open().inspect_err(|_| self.inside(alternative_name(value, member.number)))?;
        self.chosen(tables, member, value)?;
        self.close(open);
        Ok(())
    }

    #[inline(never)]
    fn elements(
        &mut self,
        tables: &'static Tables,
        list: &'static List,
        place: &mut dyn Elements<'a>,
    ) -> Result<()> {
        if list.counted {
            self.enter()?;
        }
        let mut length = self.size(list.size)?;
        place.expect(length.count.min(self.bits.left()));
        let mut count = 0;
        loop {
            let start = self.position();
            for _ in 0..length.count {
                if let Err(error) = self.part(tables, list.element, place.push()) {
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
        if list.counted {
            self.leave();
        }
        Ok(())
    }

    fn containing(
        &mut self,
        tables: &'static Tables,
        size: Size,
        form: Form,
        bits: bool,
        place: &mut dyn Content<'a>,
    ) -> Result<()> {
        let value =
            self.contained(size, if bits { 1 } else { 8 }, |r| r.part(tables, form, place.value()))?;
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
        let Self { bits, depth, empty, canonical, .. } = *self;
        Reader { bits, depth, empty, canonical, path: core::mem::take(&mut self.path) }
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
