//! Writing by tables.

use super::super::Writer;
use super::super::writer::outside;
use super::{Addition, Bounds, Choice, Enumerated, Form, Leaf, List, Member, Sequence, Tables, Time, at};
use crate::codec::UnknownAdditions;
use crate::codec::parts::{Item, LeafRef, Parts, Sink, Straight, UNKNOWN, Value, name};
use crate::types::{BitString, Integer};
use crate::{Error, ErrorKind, Result};
use alloc::vec::Vec;

/// A writer with the tables of the types that are written.
struct Tabled<'w, 'v, const ALIGNED: bool> {
    w: &'w mut Writer<ALIGNED>,
    tables: &'static Tables,
    /// How what is written next is encoded.
    form: Form,
    /// The fault of what was written last.
    result: Result<()>,
    /// Whether a component is only asked whether it is there.
    asks: bool,
    /// Whether it is.
    there: bool,
    /// Extension additions that a type does not know.
    unknown: Option<&'v UnknownAdditions>,
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// Writes a value by tables.
    ///
    /// # Errors
    /// The value does not meet a constraint that the encoding rests on.
    #[inline]
    pub fn value<'a, T: Value<'a>>(&mut self, tables: &'static Tables, form: Form, value: &T) -> Result<()> {
        let mut tabled = Tabled::new(self, tables, form);
        value.write(&mut tabled);
        tabled.result
    }
}

impl<'v, 'a, const ALIGNED: bool> Sink<'v, 'a> for Tabled<'_, 'v, ALIGNED> {
    fn leaf(&mut self, value: LeafRef<'v, 'a>) {
        if self.is_asked() {
            if let LeafRef::Additions(additions) = value {
                self.unknown = Some(additions);
            }
            return;
        }
        self.result = self.write_leaf(value);
    }

    fn item(&mut self, item: Item, _: &'static str) {
        if !self.is_asked() {
            self.result = self.write_item(item);
        }
    }

    fn members(&mut self, value: &dyn Parts<'v, 'a>, names: &'static str) {
        if !self.is_asked() {
            self.result = self.write_members(value, names);
            self.there = true;
        }
    }

    fn alternative(&mut self, number: usize, value: &dyn Parts<'v, 'a>, names: &'static str) {
        if !self.is_asked() {
            self.result = self.write_alternative(number, value, names);
            self.there = true;
        }
    }

    fn elements(&mut self, count: usize, value: &dyn Parts<'v, 'a>) {
        if !self.is_asked() {
            self.result = self.write_elements(count, value);
            self.there = true;
        }
    }

    fn content(&mut self, value: &dyn Parts<'v, 'a>) {
        if !self.is_asked() {
            self.result = self.write_content(value);
        }
    }

    fn omits_defaults(&self) -> bool {
        true
    }
}

/// What a form does not fit.
#[cold]
fn unlike() -> Error {
    Error::new(ErrorKind::Unsupported, 0)
}

impl<'w, 'v, const ALIGNED: bool> Tabled<'w, 'v, ALIGNED> {
    const fn new(w: &'w mut Writer<ALIGNED>, tables: &'static Tables, form: Form) -> Self {
        Self { w, tables, form, result: Ok(()), asks: false, there: false, unknown: None }
    }

    /// Whether the value at hand is only asked whether it is there, which it is.
    #[inline]
    const fn is_asked(&mut self) -> bool {
        self.there = true;
        self.asks
    }

    fn write_leaf(&mut self, value: LeafRef<'v, '_>) -> Result<()> {
        match (self.form, value) {
            (Form::Integer(number), value) => self.w.bounded(at(self.tables.bounds, number)?, value),
            (Form::Plain, LeafRef::Bool(bit)) => {
                self.w.bit(*bit);
                Ok(())
            }
            (Form::Leaf(number), value) => self.w.leaf(at(self.tables.leaves, number)?, value),
            (form, value) => self.w.plain(form, value),
        }
    }

    fn write_item(&mut self, item: Item) -> Result<()> {
        match (self.form, item) {
            (Form::Items(number), Item::Known(item)) => {
                let bounds = at(self.tables.bounds, number)?;
                if item as u64 > bounds.span {
                    return Err(unlike());
                }
                self.w.whole(bounds.whole, item as u64);
                Ok(())
            }
            (Form::Enumerated(number), item) => {
                self.w.enumerated(at(self.tables.enumerations, number)?, item)
            }
            _ => Err(unlike()),
        }
    }

    fn write_members<'a>(&mut self, value: &dyn Parts<'v, 'a>, names: &'static str) -> Result<()> {
        let Form::Sequence(number) = self.form else { return Err(unlike()) };
        let sequence = at(self.tables.sequences, number)?;
        self.counted(sequence.counted, |w| w.sequence(sequence, value, names))
    }

    fn write_alternative<'a>(
        &mut self,
        number: usize,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        let Form::Choice(choice) = self.form else { return Err(unlike()) };
        let choice = at(self.tables.choices, choice)?;
        self.counted(choice.counted, |w| w.choice(choice, number, value, names))
    }

    fn write_elements<'a>(&mut self, count: usize, value: &dyn Parts<'v, 'a>) -> Result<()> {
        let Form::List(number) = self.form else { return Err(unlike()) };
        let list = at(self.tables.lists, number)?;
        self.counted(list.counted, |w| w.list(list, count, value))
    }

    fn write_content<'a>(&mut self, value: &dyn Parts<'v, 'a>) -> Result<()> {
        let tables = self.tables;
        let Form::Leaf(number) = self.form else { return Err(unlike()) };
        let Leaf::Containing(size, inside, bits) = *at(tables.leaves, number)? else {
            return Err(unlike());
        };
        // The string with a value inside is a level itself.
        self.w.begin_value()?;
        let inside = self.w.apart(|w| Tabled::new(w, tables, inside).part(0, inside, value))?;
        self.w.end_value();
        match bits {
            true => self.w.bit_string(size, &BitString::new(inside, 0).unwrap_or_default(), false),
            false => self.w.octet_string(size, &inside),
        }
    }

    /// Writes a part of a value.
    #[inline]
    fn part(&mut self, number: usize, form: Form, value: &dyn Parts<'v, '_>) -> Result<()> {
        (self.form, self.there) = (form, false);
        value.write_part(number, self);
        if self.there { self.result } else { Err(Error::new(ErrorKind::MissingComponent, 0)) }
    }

    /// Whether a component is there.
    fn is_there(&mut self, number: u16, value: &dyn Parts<'v, '_>) -> bool {
        (self.asks, self.there) = (true, false);
        value.write_part(number.into(), self);
        self.asks = false;
        self.there
    }

    /// Writes a value, and counts it if its type has it so.
    #[inline]
    fn counted(&mut self, counted: bool, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if !counted {
            return write(self);
        }
        self.w.begin_value()?;
        write(self)?;
        self.w.end_value();
        Ok(())
    }

    fn sequence<'a>(
        &mut self,
        sequence: &'static Sequence,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        let root = self.tables.members(&sequence.root);
        if !sequence.extensible {
            return self.components(root, sequence.optional > 0, value, names);
        }
        let all = self.tables.additions(&sequence.additions);
        self.unknown = None;
        if let Some(number) = sequence.unknown {
            self.is_there(number, value);
        }
        let unknown = self.unknown;
        let absent = all.iter().take_while(|addition| !self.is_any_there(addition, value)).count();
        let extended = absent < all.len() || unknown.is_some_and(|unknown| !unknown.is_empty());
        self.w.bit(extended);
        self.components(root, sequence.optional > 0, value, names)?;
        if extended { self.additions(all, absent, unknown, value, names) } else { Ok(()) }
    }

    /// Whether a component of an addition is there.
    fn is_any_there(&mut self, addition: &Addition, value: &dyn Parts<'v, '_>) -> bool {
        let mut members = self.tables.members(&addition.members).iter();
        members.any(|member| self.is_there(member.number, value))
    }

    /// The additions, of which so many are known to be absent and the next one to be there.
    #[inline(never)]
    fn additions<'a>(
        &mut self,
        all: &'static [Addition],
        absent: usize,
        unknown: Option<&UnknownAdditions>,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        let none = UnknownAdditions::NONE;
        let unknown = unknown.unwrap_or(&none);
        let is_there =
            |(number, addition)| number == absent || number > absent && self.is_any_there(addition, value);
        let additions: Vec<bool> = all.iter().enumerate().map(is_there).collect();
        self.w.all_additions(&additions, unknown)?;
        for addition in all.iter().zip(&additions).filter_map(|(known, there)| there.then_some(known)) {
            let open = self.w.open();
            let members = self.tables.members(&addition.members);
            if addition.group {
                self.components(members, true, value, names)?;
            } else if let [member] = members {
                self.member(member, value, names)?;
            }
            self.w.close(open);
        }
        self.w.unknown_additions(unknown)
    }

    /// Bits that tell which components are there, and these.
    fn components<'a>(
        &mut self,
        members: &'static [Member],
        optional: bool,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        if members.len() > 64 {
            return self.many_components(members, value, names);
        }
        let mut there = 0_u64;
        if optional {
            let mut count = 0;
            for member in members.iter().filter(|member| member.optional) {
                there = there << 1 | u64::from(self.is_there(member.number, value));
                count += 1;
            }
            self.w.bits(there, count);
            // The first is the highest.
            there = there.rotate_right(count);
        }
        for member in members {
            if member.optional {
                let is_there = there >> 63 == 1;
                there <<= 1;
                if !is_there {
                    continue;
                }
            }
            self.member(member, value, names)?;
        }
        Ok(())
    }

    /// The same of components whose bits do not fit into a word: they are asked twice.
    #[inline(never)]
    fn many_components<'a>(
        &mut self,
        members: &'static [Member],
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        for member in members.iter().filter(|member| member.optional) {
            let is_there = self.is_there(member.number, value);
            self.w.bit(is_there);
        }
        for member in members {
            if !member.optional || self.is_there(member.number, value) {
                self.member(member, value, names)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn member<'a>(
        &mut self,
        member: &'static Member,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        match self.part(member.number.into(), member.form, value) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.inside(error, names, member)),
        }
    }

    /// The fault is in this component.
    #[cold]
    #[inline(never)]
    fn inside(&mut self, error: Error, names: &'static str, member: &Member) -> Error {
        self.w.inside(name(names, member.number.into()));
        error
    }

    fn choice<'a>(
        &mut self,
        choice: &'static Choice,
        chosen: usize,
        value: &dyn Parts<'v, 'a>,
        names: &'static str,
    ) -> Result<()> {
        let place = |list: &'static [Member]| {
            (0_u32..).zip(list).find(|(_, member)| usize::from(member.number) == chosen)
        };
        if let Some((number, member)) = place(self.tables.members(&choice.root)) {
            if choice.extensible {
                self.w.bit(false);
            }
            self.w.whole(choice.whole, number.into());
            return self.member(member, value, names);
        }
        if let Some((number, member)) = place(self.tables.members(&choice.additions)) {
            let open = self.w.added_alternative(number);
            self.member(member, value, names)?;
            self.w.close(open);
            return Ok(());
        }
        if chosen == UNKNOWN {
            return self.part(chosen, Form::Plain, value);
        }
        Err(Error::new(ErrorKind::ValueMismatch, 0))
    }

    fn list<'a>(&mut self, list: &'static List, count: usize, value: &dyn Parts<'v, 'a>) -> Result<()> {
        let tables = self.tables;
        let write = |w: &mut Writer<ALIGNED>, number| {
            Tabled::new(w, tables, list.element).part(number, list.element, value)
        };
        if !list.set || !self.w.is_canonical() {
            return self.w.in_order(list, count, &mut |w, number| write(w, number));
        }
        self.w.ordered(count, write, |w, order| {
            w.in_order(list, count, &mut |w, at| write(w, *order.get(at).ok_or_else(outside)?))
        })
    }
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// What needs no table.
    fn plain(&mut self, form: Form, part: LeafRef<'_, '_>) -> Result<()> {
        match (form, part) {
            (Form::Plain, LeafRef::Null) => {}
            (Form::Plain, LeafRef::Real(number)) => self.real(number),
            (Form::Plain, LeafRef::Float(number)) => self.float(*number),
            (Form::Plain, LeafRef::Oid(oid)) => self.contents(oid.as_bytes()),
            (Form::Plain, LeafRef::RelativeOid(oid)) => self.contents(oid.as_bytes()),
            (Form::Plain, LeafRef::Octets(octets)) => self.any(octets),
            (Form::Plain, LeafRef::Unknown(unknown)) => return self.unknown_alternative(unknown),
            (Form::Straight, LeafRef::Straight(value)) => return self.straight(value),
            _ => return Err(Error::new(ErrorKind::Unsupported, 0)),
        }
        Ok(())
    }

    /// Strings, and what is rare.
    fn leaf(&mut self, leaf: &'static Leaf, part: LeafRef<'_, '_>) -> Result<()> {
        match (leaf, part) {
            (Leaf::SemiConstrained(..) | Leaf::Unconstrained(_) | Leaf::Large(..), part) => {
                match (part.integer(), &part) {
                    (Some(number), _) => self.large_number(leaf, &Integer::from(number)),
                    (None, LeafRef::Big(number)) => self.large_number(leaf, number),
                    (None, _) => Err(Error::new(ErrorKind::Unsupported, 0)),
                }
            }
            (Leaf::String(size, _), LeafRef::Octets(octets)) => self.octet_string(*size, octets),
            (Leaf::String(size, _), LeafRef::FixedOctets(octets)) => self.octet_string(*size, octets),
            (Leaf::String(size, named), LeafRef::Bits(bits)) => self.bit_string(*size, bits, *named),
            (Leaf::String(size, named), LeafRef::FixedBits(bits, count)) => {
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
            (Leaf::Characters(characters), LeafRef::Text(text)) => {
                match characters.time {
                    Time::No => {}
                    Time::Utc => self.check_utc_time(text)?,
                    Time::Generalized => self.check_generalized_time(text)?,
                }
                self.characters_by(characters.size, characters.alphabet, text)
            }
            (Leaf::OtherString(kind), LeafRef::Text(text)) => self.other_string(*kind, text),
            (Leaf::Time(form), LeafRef::Text(text)) => self.time(form, text),
            // What is no value of the type inside.
            (Leaf::Containing(size, _, true), LeafRef::Octets(octets)) => {
                self.bit_string(*size, &BitString::new(&octets[..], 0).unwrap_or_default(), false)
            }
            (Leaf::Containing(size, _, true), LeafRef::Bits(bits)) => self.bit_string(*size, bits, false),
            (Leaf::Containing(size, _, false), LeafRef::Octets(octets)) => self.octet_string(*size, octets),
            (Leaf::Containing(size, _, false), LeafRef::Bits(bits)) => {
                self.octet_string(*size, bits.as_bits().bytes())
            }
            _ => Err(Error::new(ErrorKind::Unsupported, 0)),
        }
    }

    fn bounded(&mut self, bounds: &Bounds, part: LeafRef<'_, '_>) -> Result<()> {
        let Bounds { whole, lo, span, extensible } = *bounds;
        let above = part.short().and_then(|number| u64::try_from(number.checked_sub(lo)?).ok());
        if let Some(above) = above.filter(|above| *above <= span) {
            if extensible {
                self.bit(false);
            }
            self.whole(whole, above);
            return Ok(());
        }
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
        let LeafRef::Big(number) = part else { return Err(Error::new(ErrorKind::Unsupported, 0)) };
        if extensible {
            // Which side of the extension a number is on shows when its root form is tried.
            let above = i128::try_from(number).ok().map(|number| number - i128::from(lo));
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
