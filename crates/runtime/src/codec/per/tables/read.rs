//! Reading by tables.

use super::super::reader::with_extension_bit;
use super::super::{Additions, Reader, Size};
use super::{
    Addition, Bounds, Characters, Choice, Enumerated, Form, Leaf, List, Member, Sequence, Tables, Time, at,
};
use crate::codec::parts::{Item, LeafMut, Places, Source, Straight, UNKNOWN, Value, name};
use crate::codec::{Contained, UnknownAdditions, UnknownAlternative};
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

/// A reader with the tables of the types that are read.
struct Tabled<'r, 'a, const ALIGNED: bool> {
    r: &'r mut Reader<'a, ALIGNED>,
    tables: &'static Tables,
    /// How what is read next is encoded.
    form: Form,
    /// What a type does not know and is read next.
    unknown: Unknown,
    /// The fault of what was read last.
    result: Result<()>,
}

/// What a type does not know.
#[derive(Clone, Copy)]
enum Unknown {
    Nothing,
    /// Extension additions, behind so many that are known.
    Additions(u32, Additions),
    /// An alternative, by its number among the additions.
    Alternative(u32),
}

impl<'r, 'a, const ALIGNED: bool> Tabled<'r, 'a, ALIGNED> {
    const fn new(r: &'r mut Reader<'a, ALIGNED>, tables: &'static Tables, form: Form) -> Self {
        Self { r, tables, form, unknown: Unknown::Nothing, result: Ok(()) }
    }
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// Reads a value by tables.
    ///
    /// # Errors
    /// The first fault.
    #[inline] // where the type is, so that what frees it is made there alone
    pub fn value<T: Value<'a>>(&mut self, tables: &'static Tables, form: Form) -> Result<T> {
        let mut value = T::empty();
        let mut tabled = Tabled::new(self, tables, form);
        value.read(&mut tabled);
        tabled.result.map(|()| value)
    }
}

impl<'a, const ALIGNED: bool> Source<'a> for Tabled<'_, 'a, ALIGNED> {
    fn leaf(&mut self, place: LeafMut<'_, 'a>) {
        self.result = self.read_leaf(place);
    }

    fn item(&mut self) -> Option<Item> {
        let item = self.read_item();
        self.result = item.map(|_| ());
        item.ok()
    }

    fn parts(&mut self, value: &mut dyn Places<'a>, names: &'static str) {
        self.result = self.read_parts(value, names);
    }

    fn content(&mut self, value: &mut dyn Places<'a>) -> Option<Contained<'a, ()>> {
        match self.read_content(value) {
            Ok(content) => Some(content),
            Err(error) => {
                self.result = Err(error);
                None
            }
        }
    }
}

impl<'a, const ALIGNED: bool> Tabled<'_, 'a, ALIGNED> {
    #[inline]
    fn read_leaf(&mut self, place: LeafMut<'_, 'a>) -> Result<()> {
        match (self.form, place) {
            (Form::Integer(number), place) => self.bounded(at(self.tables.bounds, number)?, place),
            (Form::Plain, LeafMut::Bool(place)) => self.r.bit().map(|bit| *place = bit),
            (Form::Leaf(number), place) => self.r.leaf(at(self.tables.leaves, number)?, place),
            (Form::Plain, LeafMut::Additions(place)) => self.unknown_additions(place),
            (Form::Plain, LeafMut::Unknown(place)) => self.unknown_alternative(place),
            (form, place) => self.r.plain(form, place),
        }
    }

    #[inline]
    fn read_item(&mut self) -> Result<Item> {
        match self.form {
            Form::Items(number) => {
                let bounds = at(self.tables.bounds, number)?;
                let count = u32::try_from(bounds.span).unwrap_or(u32::MAX).saturating_add(1);
                let number = self.r.numbered(bounds.whole, count, ErrorKind::UnknownEnumeration)?;
                Ok(Item::Known(number as usize))
            }
            Form::Enumerated(number) => self.r.enumerated(at(self.tables.enumerations, number)?),
            _ => Err(self.r.error(ErrorKind::Unsupported)),
        }
    }

    #[inline]
    fn read_parts(&mut self, value: &mut dyn Places<'a>, names: &'static str) -> Result<()> {
        let tables = self.tables;
        match self.form {
            Form::Sequence(number) => self.sequence(at(tables.sequences, number)?, value, names),
            Form::Choice(number) => {
                let choice = at(tables.choices, number)?;
                if choice.counted {
                    self.r.enter()?;
                }
                self.choice(choice, value, names)?;
                if choice.counted {
                    self.r.leave();
                }
                Ok(())
            }
            Form::List(number) => self.elements(at(tables.lists, number)?, value),
            _ => Err(self.r.error(ErrorKind::Unsupported)),
        }
    }

    fn read_content(&mut self, value: &mut dyn Places<'a>) -> Result<Contained<'a, ()>> {
        let tables = self.tables;
        let Form::Leaf(number) = self.form else { return Err(self.r.error(ErrorKind::Unsupported)) };
        let Leaf::Containing(size, inside, bits) = *at(tables.leaves, number)? else {
            return Err(self.r.error(ErrorKind::Unsupported));
        };
        let unit = if bits { 1 } else { 8 };
        self.r.contained(size, unit, |r| Tabled::new(r, tables, inside).part(0, inside, value))
    }

    /// Reads a part of a value.
    #[inline]
    fn part(&mut self, number: usize, form: Form, value: &mut dyn Places<'a>) -> Result<()> {
        self.form = form;
        value.read_part(number, self);
        self.result
    }

    fn bounded(&mut self, bounds: &Bounds, place: LeafMut<'_, 'a>) -> Result<()> {
        if bounds.extensible && self.r.bit()? {
            let number = self.r.unconstrained()?;
            return self.r.take_integer(number, place);
        }
        let above = self.r.whole(bounds.whole, bounds.span)?;
        // Most numbers have up to 64 bits with their sign.
        let taken = match i64::try_from(above).ok().and_then(|above| bounds.lo.checked_add(above)) {
            Some(number) => place.set_short(number),
            None => place.set_integer(i128::from(above) + i128::from(bounds.lo)),
        };
        self.r.taken(taken)
    }

    fn sequence(
        &mut self,
        sequence: &'static Sequence,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        if sequence.counted {
            self.r.enter()?;
        }
        // The extension bit stands before the presence bits and is read with them.
        let root = self.tables.members(&sequence.root);
        let count = u32::from(sequence.optional) + u32::from(sequence.extensible);
        let mut bits = self.r.presence_bits(count)?;
        let extended = sequence.extensible && bits.next(self.r);
        self.members(root, &mut bits, value, names)?;
        if extended {
            self.added(sequence, value, names)?;
        }
        if sequence.counted {
            self.r.leave();
        }
        Ok(())
    }

    fn members(
        &mut self,
        members: &'static [Member],
        bits: &mut Presence,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        for member in members {
            if !member.optional || bits.next(self.r) {
                self.member(member, value, names)?;
            }
        }
        Ok(())
    }

    /// A component or alternative.
    #[inline]
    fn member(&mut self, member: &Member, value: &mut dyn Places<'a>, names: &'static str) -> Result<()> {
        match self.part(member.number.into(), member.form, value) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.inside(names, member);
                Err(error)
            }
        }
    }

    /// The fault is in this component.
    #[cold]
    #[inline(never)]
    fn inside(&mut self, names: &'static str, member: &Member) {
        self.r.inside(name(names, member.number.into()));
    }

    /// The additions, those that are not known behind the last component.
    #[inline(never)]
    fn added(
        &mut self,
        sequence: &'static Sequence,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        let mut more = self.r.additions()?;
        let additions = self.tables.additions(&sequence.additions);
        for addition in additions {
            let open = match (self.r.addition(&mut more), self.tables.members(&addition.members)) {
                (Err(error), [member, ..]) if !addition.group => {
                    self.inside(names, member);
                    return Err(error);
                }
                (open, _) => open?,
            };
            let Some(open) = open else { continue };
            self.addition_of(addition, value, names)?;
            self.r.close(open);
        }
        let Some(place) = sequence.unknown else { return self.r.skip_additions(more) };
        let known = u32::try_from(additions.len()).unwrap_or(u32::MAX);
        self.unknown = Unknown::Additions(known, more);
        self.part(place.into(), Form::Plain, value)
    }

    #[inline(never)]
    fn unknown_additions(&mut self, place: &mut UnknownAdditions) -> Result<()> {
        let Unknown::Additions(known, more) = self.unknown else {
            return Err(self.r.error(ErrorKind::Unsupported));
        };
        *place = self.r.unknown_additions(known, more)?;
        Ok(())
    }

    #[inline(never)]
    fn unknown_alternative(&mut self, place: &mut UnknownAlternative<'a>) -> Result<()> {
        let Unknown::Alternative(number) = self.unknown else {
            return Err(self.r.error(ErrorKind::Unsupported));
        };
        *place = UnknownAlternative { addition: Some(number), octets: self.r.any()? };
        Ok(())
    }

    fn addition_of(
        &mut self,
        addition: &Addition,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        let members = self.tables.members(&addition.members);
        if addition.group {
            let optional = members.iter().filter(|member| member.optional).count();
            let mut bits = self.r.presence_bits(u32::try_from(optional).unwrap_or(u32::MAX))?;
            return self.members(members, &mut bits, value, names);
        }
        members.iter().try_for_each(|member| self.member(member, value, names))
    }

    fn choice(
        &mut self,
        choice: &'static Choice,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        if choice.extensible && self.r.bit()? {
            return self.added_choice(choice, value, names);
        }
        let root = self.tables.members(&choice.root);
        let count = u32::try_from(root.len()).unwrap_or(u32::MAX);
        let number = match choice.extensible {
            true => self.r.root_alternative(choice.whole, count)?,
            false => self.r.alternative(choice.whole, count)?,
        };
        match root.get(number as usize) {
            Some(member) => self.member(member, value, names),
            None => Err(self.r.error(ErrorKind::UnknownAlternative)),
        }
    }

    fn added_choice(
        &mut self,
        choice: &'static Choice,
        value: &mut dyn Places<'a>,
        names: &'static str,
    ) -> Result<()> {
        let number = self.r.small_number()?;
        let Some(member) = self.tables.members(&choice.additions).get(number as usize) else {
            self.unknown = Unknown::Alternative(number);
            return self.part(UNKNOWN, Form::Plain, value);
        };
        let open = self.r.open().inspect_err(|_| self.inside(names, member))?;
        self.member(member, value, names)?;
        self.r.close(open);
        Ok(())
    }

    #[inline(never)]
    fn elements(&mut self, list: &'static List, value: &mut dyn Places<'a>) -> Result<()> {
        if list.counted {
            self.r.enter()?;
        }
        let mut length = self.r.size(list.size)?;
        let mut count = 0;
        loop {
            let start = self.r.position();
            for done in 0..length.count {
                // No more room is made than there are bits.
                let expected = (length.count - done).min(self.r.bits.left().max(1));
                if let Err(error) = self.part(expected, list.element, value) {
                    self.r.path.element(count);
                    return Err(error);
                }
                count += 1;
            }
            self.r.end_list(start, length.count)?;
            if !length.more {
                break;
            }
            length = self.r.length()?;
        }
        if list.counted {
            self.r.leave();
        }
        Ok(())
    }
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// What needs no table.
    #[inline(never)]
    fn plain(&mut self, form: Form, place: LeafMut<'_, 'a>) -> Result<()> {
        match (form, place) {
            (Form::Plain, LeafMut::Null) => {}
            (Form::Plain, LeafMut::Real(place)) => *place = self.real()?,
            (Form::Plain, LeafMut::Float(place)) => *place = self.float()?,
            (Form::Plain, LeafMut::Oid(place)) => *place = self.oid()?,
            (Form::Plain, LeafMut::RelativeOid(place)) => *place = self.relative_oid()?,
            (Form::Plain, LeafMut::Octets(place)) => *place = self.any()?,
            (Form::Straight, LeafMut::Straight(place)) => return self.straight(place),
            _ => return Err(self.error(ErrorKind::Unsupported)),
        }
        Ok(())
    }

    /// Strings, and what is rare.
    #[inline(never)]
    fn leaf(&mut self, leaf: &'static Leaf, place: LeafMut<'_, 'a>) -> Result<()> {
        match (leaf, place) {
            (Leaf::SemiConstrained(lo, extensible), place) => {
                let number = if *extensible && self.bit()? {
                    self.unconstrained()?
                } else {
                    self.semi_constrained(*lo)?
                };
                return self.take_integer(number, place);
            }
            (Leaf::Unconstrained(extensible), place) => {
                // The same on both sides of an extension.
                if *extensible {
                    self.bit()?;
                }
                let number = self.unconstrained()?;
                return self.take_integer(number, place);
            }
            (Leaf::Large(lo, span, extensible), place) => {
                let number = match span {
                    _ if *extensible && self.bit()? => self.unconstrained()?,
                    Some(span) => self.large(lo, span)?,
                    None => self.semi_constrained_large(lo)?,
                };
                return self.take_integer(number, place);
            }
            (Leaf::String(size, _), place) => return self.string(*size, place),
            (Leaf::Characters(characters), LeafMut::Text(place)) => {
                *place = self.characters_of(characters)?;
            }
            (Leaf::OtherString(kind), LeafMut::Text(place)) => *place = self.other_string(*kind)?,
            (Leaf::Time(form), LeafMut::Text(place)) => *place = self.time(form)?,
            _ => return Err(self.error(ErrorKind::Unsupported)),
        }
        Ok(())
    }

    fn take_integer(&self, number: Integer<'a>, place: LeafMut<'_, 'a>) -> Result<()> {
        if let LeafMut::Big(place) = place {
            *place = number;
            return Ok(());
        }
        let number = i128::try_from(&number).ok();
        self.taken(number.is_some_and(|number| place.set_integer(number)))
    }

    fn taken(&self, taken: bool) -> Result<()> {
        if taken { Ok(()) } else { Err(self.error(ErrorKind::IntegerRange)) }
    }

    fn string(&mut self, size: Size, place: LeafMut<'_, 'a>) -> Result<()> {
        let fixed = |count: usize| size.is_fixed() && !size.extensible && size.lo as usize == count;
        match place {
            LeafMut::Octets(place) => *place = self.octet_string(size)?,
            LeafMut::Bits(place) => *place = self.bit_string(size)?,
            LeafMut::FixedOctets(place) => {
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
            LeafMut::FixedBits(place, count) if fixed(count as usize) => {
                if ALIGNED && count > 16 {
                    self.bits.align();
                }
                *place = self.bits(count)?;
            }
            LeafMut::FixedBits(place, count) => {
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
