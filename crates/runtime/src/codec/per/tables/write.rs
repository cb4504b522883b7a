//! Writing by tables.

use super::super::Writer;
use super::super::writer::outside;
use super::{Addition, Bounds, Choice, Enumerated, Form, Leaf, List, Member, Sequence, Tables, Time, at};
use crate::codec::UnknownAdditions;
use crate::codec::parts::{
    Alternatives, Defaults, Elements, Item, Members, Seen, Straight, UNKNOWN, Value, alternative_name,
    member_name,
};
use crate::types::{BitStr, BitString, Integer};
use crate::{Error, ErrorKind, Result};
use alloc::vec::Vec;

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// Writes a value by tables.
    ///
    /// # Errors
    /// The value does not meet a constraint that the encoding rests on.
    #[inline]
    pub fn value<'a, T: Value<'a>>(&mut self, tables: &'static Tables, form: Form, value: &T) -> Result<()> {
        self.part(tables, form, value.seen())
    }

    /// Writes a part of a value.
    #[inline(never)]
    fn part(&mut self, tables: &'static Tables, form: Form, part: Seen<'_, '_>) -> Result<()> {
        match (form, part) {
            (Form::Plain, Seen::Bool(bit)) => self.bit(*bit),
            (Form::Integer(number), part) => return self.bounded(at(tables.bounds, number)?, &part),
            (Form::Items(number), Seen::Items(value)) => {
                let bounds = at(tables.bounds, number)?;
                match value.item().0 {
                    Item::Known(number) if number as u64 <= bounds.span => {
                        self.whole(bounds.whole, number as u64);
                    }
                    _ => return Err(Error::new(ErrorKind::Unsupported, 0)),
                }
            }
            (Form::Enumerated(number), Seen::Items(value)) => {
                return self.enumerated(at(tables.enumerations, number)?, value.item().0);
            }
            (Form::Sequence(number), Seen::Members(value)) => {
                let sequence = at(tables.sequences, number)?;
                return self.counted(sequence.counted, |w| w.sequence(tables, sequence, value));
            }
            (Form::Choice(number), Seen::Alternatives(value)) => {
                let choice = at(tables.choices, number)?;
                return self.counted(choice.counted, |w| w.choice(tables, choice, value));
            }
            (Form::List(number), Seen::Elements(elements)) => {
                let list = at(tables.lists, number)?;
                return self.counted(list.counted, |w| w.elements(tables, list, elements));
            }
            (Form::Leaf(number), part) => return self.leaf(tables, at(tables.leaves, number)?, part),
            (form, part) => return self.plain(form, part),
        }
        Ok(())
    }

    /// Writes a value, and counts it if its type has it so.
    #[inline]
    fn counted(&mut self, counted: bool, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if !counted {
            return write(self);
        }
        self.begin_value()?;
        write(self)?;
        self.end_value();
        Ok(())
    }

    /// What needs no table.
    fn plain(&mut self, form: Form, part: Seen<'_, '_>) -> Result<()> {
        match (form, part) {
            (Form::Plain, Seen::Null) => {}
            (Form::Plain, Seen::Real(number)) => self.real(number),
            (Form::Plain, Seen::Float(number)) => self.float(*number),
            (Form::Plain, Seen::Oid(oid)) => self.contents(oid.as_bytes()),
            (Form::Plain, Seen::RelativeOid(oid)) => self.contents(oid.as_bytes()),
            (Form::Plain, Seen::Octets(octets)) => self.any(octets),
            (Form::Straight, Seen::Straight(value)) => return self.straight(value),
            _ => return Err(Error::new(ErrorKind::Unsupported, 0)),
        }
        Ok(())
    }

    /// Strings, and what is rare.
    fn leaf(&mut self, tables: &'static Tables, leaf: &'static Leaf, part: Seen<'_, '_>) -> Result<()> {
        match (leaf, part) {
            (Leaf::SemiConstrained(..) | Leaf::Unconstrained(_) | Leaf::Large(..), part) => {
                match (part.integer(), &part) {
                    (Some(number), _) => self.large_number(leaf, &Integer::from(number)),
                    (None, Seen::Big(number)) => self.large_number(leaf, number),
                    (None, _) => Err(Error::new(ErrorKind::Unsupported, 0)),
                }
            }
            (Leaf::String(size, _), Seen::Octets(octets)) => self.octet_string(*size, octets),
            (Leaf::String(size, _), Seen::FixedOctets(octets)) => self.octet_string(*size, octets),
            (Leaf::String(size, named), Seen::Bits(bits)) => self.bit_string(*size, bits, *named),
            (Leaf::String(size, named), Seen::FixedBits(bits, count)) => {
                let fixed = size.is_fixed() && !size.extensible && size.lo == count;
                if fixed {
                    if ALIGNED && count > 16 {
                        self.align();
                    }
                    self.bits(bits, count);
                    return Ok(());
                }
                let octets = if count == 0 { 0 } else { bits << (64 - count) }.to_be_bytes();
                let used = count.div_ceil(8);
                let unused = (used * 8 - count).to_be_bytes()[3];
                let octets = octets.get(..used as usize).unwrap_or_default();
                let bits = BitString::new(octets, unused).unwrap_or_default();
                self.bit_string(*size, &bits, *named)
            }
            (Leaf::Characters(characters), Seen::Text(text)) => {
                match characters.time {
                    Time::No => {}
                    Time::Utc => self.check_utc_time(text)?,
                    Time::Generalized => self.check_generalized_time(text)?,
                }
                self.characters_by(characters.size, characters.alphabet, text)
            }
            (Leaf::OtherString(kind), Seen::Text(text)) => self.other_string(*kind, text),
            (Leaf::Time(form), Seen::Text(text)) => self.time(form, text),
            (Leaf::Containing(size, inside, bits), Seen::Content(content)) => {
                let inside = match content.content() {
                    // The string with a value inside is a level itself.
                    Ok(value) => {
                        self.begin_value()?;
                        let inside = self.apart(|w| w.part(tables, *inside, value))?;
                        self.end_value();
                        inside
                    }
                    Err(other) => {
                        let other = match &other {
                            Seen::Octets(octets) => BitStr::new(octets, 0).unwrap_or_default(),
                            Seen::Bits(bits) => bits.as_bits(),
                            _ => BitStr::default(),
                        };
                        return match bits {
                            true => self.bit_string(*size, &BitString::from(other), false),
                            false => self.octet_string(*size, other.bytes()),
                        };
                    }
                };
                match bits {
                    true => self.bit_string(*size, &BitString::new(inside, 0).unwrap_or_default(), false),
                    false => self.octet_string(*size, &inside),
                }
            }
            _ => Err(Error::new(ErrorKind::Unsupported, 0)),
        }
    }

    fn bounded(&mut self, bounds: &Bounds, part: &Seen<'_, '_>) -> Result<()> {
        let Bounds { whole, lo, span, extensible } = *bounds;
        if let Some(number) = part.integer() {
            let above = u64::try_from(number - i128::from(lo)).ok().filter(|above| *above <= span);
            if extensible {
                self.bit(above.is_none());
            }
            match above {
                Some(above) => self.whole(whole, above),
                None if extensible => self.unconstrained(&Integer::from(number)),
                None => return Err(outside()),
            }
            return Ok(());
        }
        let Seen::Big(number) = part else { return Err(Error::new(ErrorKind::Unsupported, 0)) };
        if extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            let above = i128::try_from(*number).ok().map(|number| number - i128::from(lo));
            let extended = !above.is_some_and(|above| (0..=i128::from(span)).contains(&above));
            self.bit(extended);
            if extended {
                self.unconstrained(number);
                return Ok(());
            }
        }
        self.constrained(whole, number, lo, span)
    }

    fn large_number(&mut self, leaf: &Leaf, number: &Integer<'_>) -> Result<()> {
        let extended = match *leaf {
            Leaf::SemiConstrained(lo, true) => Some(number < &Integer::from(lo)),
            Leaf::Unconstrained(true) | Leaf::Large(_, _, true) => Some(false),
            _ => None,
        };
        if let Some(extended) = extended {
            self.bit(extended);
        }
        match *leaf {
            _ if extended == Some(true) => self.unconstrained(number),
            Leaf::SemiConstrained(lo, _) => return self.semi_constrained(number, lo),
            Leaf::Large(lo, Some(span), _) => return self.large(number, lo, span),
            Leaf::Large(lo, None, _) => return self.semi_constrained_large(number, lo),
            _ => self.unconstrained(number),
        }
        Ok(())
    }

    fn enumerated(&mut self, items: &Enumerated, item: Item) -> Result<()> {
        let number =
            |list: &[u16], wanted: usize| list.iter().position(|known| usize::from(*known) == wanted);
        let unknown = || Error::new(ErrorKind::UnknownEnumeration, 0);
        let known = match item {
            Item::Known(known) => known,
            Item::Addition(number) if items.extensible => return self.added_item(number),
            Item::Addition(_) | Item::Unknown(_) => return Err(unknown()),
        };
        if let Some(number) = number(items.root, known) {
            if items.extensible {
                self.bit(false);
            }
            self.whole(items.whole, number as u64);
            return Ok(());
        }
        let number = number(items.additions, known).and_then(|number| u32::try_from(number).ok());
        self.added_item(number.ok_or_else(unknown)?)
    }

    fn sequence(
        &mut self,
        tables: &'static Tables,
        sequence: &'static Sequence,
        value: &dyn Members<'_>,
    ) -> Result<()> {
        let root = tables.members(&sequence.root);
        if !sequence.extensible {
            return self.members(tables, root, sequence.optional > 0, value);
        }
        let all = tables.additions(&sequence.additions);
        let any = |addition: &Addition| {
            let mut members = tables.members(&addition.members).iter();
            members.any(|member| value.see(member.number.into(), Defaults::Omitted).is_there())
        };
        let unknown = match sequence.unknown.map(|number| value.see(number.into(), Defaults::Omitted)) {
            Some(Seen::Additions(additions)) => additions,
            _ => &UnknownAdditions::NONE,
        };
        let extended = !unknown.is_empty() || all.iter().any(any);
        self.bit(extended);
        self.members(tables, root, sequence.optional > 0, value)?;
        if !extended {
            return Ok(());
        }
        let additions: Vec<bool> = all.iter().map(any).collect();
        self.all_additions(&additions, unknown)?;
        for addition in all.iter().zip(&additions).filter_map(|(known, there)| there.then_some(known)) {
            let open = self.open();
            if addition.group {
                self.members(tables, tables.members(&addition.members), true, value)?;
            } else if let [member] = tables.members(&addition.members) {
                self.member(tables, member, value)?;
            }
            self.close(open);
        }
        self.unknown_additions(unknown)
    }

    /// Bits that tell which members are there, and these.
    fn members(
        &mut self,
        tables: &'static Tables,
        members: &'static [Member],
        optional: bool,
        value: &dyn Members<'_>,
    ) -> Result<()> {
        if optional {
            for member in members.iter().filter(|member| member.optional) {
                self.bit(value.see(member.number.into(), Defaults::Omitted).is_there());
            }
        }
        members.iter().try_for_each(|member| self.member(tables, member, value))
    }

    fn member(
        &mut self,
        tables: &'static Tables,
        member: &'static Member,
        value: &dyn Members<'_>,
    ) -> Result<()> {
        let result = match value.see(member.number.into(), Defaults::Omitted) {
            Seen::Absent if member.optional => return Ok(()),
            Seen::Absent => Err(Error::new(ErrorKind::MissingComponent, 0)),
            part => self.part(tables, member.form, part),
        };
        result.inspect_err(|_| self.inside(member_name(value, member.number)))
    }

    fn choice(
        &mut self,
        tables: &'static Tables,
        choice: &'static Choice,
        value: &dyn Alternatives<'_>,
    ) -> Result<()> {
        let (chosen, part, _) = value.chosen();
        if let (UNKNOWN, Seen::Unknown(unknown)) = (chosen, &part) {
            return self.unknown_alternative(unknown);
        }
        let place = |list: &'static [Member]| {
            (0_u32..).zip(list).find(|(_, member)| usize::from(member.number) == chosen)
        };
        let say = |w: &mut Self, member: &Member| w.inside(alternative_name(value, member.number));
        if let Some((number, member)) = place(tables.members(&choice.root)) {
            if choice.extensible {
                self.bit(false);
            }
            self.whole(choice.whole, number.into());
            return self.part(tables, member.form, part).inspect_err(|_| say(self, member));
        }
        let Some((number, member)) = place(tables.members(&choice.additions)) else {
            return Err(Error::new(ErrorKind::ValueMismatch, 0));
        };
        let open = self.added_alternative(number);
        self.part(tables, member.form, part).inspect_err(|_| say(self, member))?;
        self.close(open);
        Ok(())
    }

    fn elements(
        &mut self,
        tables: &'static Tables,
        list: &'static List,
        elements: &dyn Elements<'_>,
    ) -> Result<()> {
        let count = elements.count();
        if !list.set || !self.is_canonical() {
            return self.in_order(list, count, &mut |w, number| {
                w.part(tables, list.element, elements.element(number))
            });
        }
        let write = |w: &mut Self, number| w.part(tables, list.element, elements.element(number));
        self.ordered(count, write, |w, order| {
            w.in_order(list, count, &mut |w, at| write(w, *order.get(at).ok_or_else(outside)?))
        })
    }

    fn in_order(
        &mut self,
        list: &List,
        count: usize,
        write: &mut dyn FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let mut length = self.size(list.size, count)?;
        let mut done = 0;
        loop {
            for number in done..done + length.count.min(count - done) {
                write(self, number).inspect_err(|_| self.path.element(number))?;
            }
            done += length.count.min(count - done);
            if !length.more {
                return Ok(());
            }
            length = self.length(count - done);
        }
    }

    fn straight(&mut self, value: &dyn Straight<'_>) -> Result<()> {
        if ALIGNED {
            let mut other = self.with();
            let result = value.write_aper(&mut other);
            *self = other.with();
            return result;
        }
        let mut other = self.with();
        let result = value.write_uper(&mut other);
        *self = other.with();
        result
    }

    /// The same writer, seen as one of the variant that it is.
    fn with<const SAME: bool>(&mut self) -> Writer<SAME> {
        let Self { out, word, used, start, canonical, values, orders, path } = core::mem::take(self);
        Writer { out, word, used, start, canonical, values, orders, path }
    }
}
