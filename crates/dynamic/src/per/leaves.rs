//! Reading primitive values.

use super::characters;
use super::decode::{Engine, Result};
use super::integer::{self, Number, append};
use super::places::owner;
use super::strings::is_short;
use super::time;
use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use crate::{Part, Unknown};
use tercet_plan::per::{Alphabet, Code, Integer, IntegerForm, NO_KEY, NOT_PERMITTED, Size, Step, Whole};
use tercet_plan::shape::Key;
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::ErrorKind;
use tercet_runtime::ber::Rules;
use tercet_runtime::per::{BitReader, Length, Taken, Units};

/// Characters of a string that is read without memory of its own (PersonnelRecord A2, 17 strings: 4,100 to 3,100
/// instructions).
const SHORT: usize = 32;

impl<S: Sink> Engine<'_, S> {
    /// Reads a value without parts, or a string with CONTAINING, whatever form it has.
    #[inline(never)]
    pub(super) fn leaf(&mut self, step: &Step) -> Result<()> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        self.at = field;
        match &self.program.nodes[node.index()] {
            Code::Boolean => {
                let start = self.reader.position();
                let value = self.reader.bit()?;
                if self.sink.wants_places() {
                    self.place_contents((field, node), start);
                }
                if self.is_key(step) {
                    self.remember(step, Key::Octets(vec![if value { 0xff } else { 0 }]));
                }
                self.sink.leaf(field, node, Leaf::Int(i64::from(value)));
            }
            Code::Null => {
                self.pending = None;
                if self.sink.wants_places() {
                    self.place_contents((field, node), self.reader.position());
                }
                self.sink.leaf(field, node, Leaf::Made(&[]));
            }
            Code::Integer(integer) => self.integer(step, integer)?,
            Code::Enumerated(code) => self.enumerated(step, *code)?,
            Code::OctetString(size) => self.octet_string(step, size, false)?,
            Code::OctetsContaining(size) => self.octet_string(step, size, true)?,
            Code::BitString(size, _) => self.bit_string(step, size, false)?,
            Code::BitsContaining(size, _) => self.bit_string(step, size, true)?,
            Code::Characters(size, alphabet) => self.characters(step, size, *alphabet)?,
            Code::Contents => self.contents(step)?,
            Code::Time(code) => self.time(step, *code)?,
            Code::Predefined(constant) => self.predefined(field, node, *constant)?,
            Code::Unsupported | Code::Sequence(_) | Code::SequenceOf(..) | Code::Choice(_) | Code::Open => {
                return Err(self.fault(ErrorKind::Unsupported));
            }
        }
        self.pending = None;
        Ok(())
    }

    fn integer(&mut self, step: &Step, integer: &Integer) -> Result<()> {
        let start = self.reader.position();
        if let Some(value) = self.small(integer) {
            if self.sink.wants_places() {
                self.place_integer(step, integer, start);
            }
            self.number(step, value);
            return Ok(());
        }
        self.reader.seek(start);
        let number = integer::read(&mut self.reader, self.program, *integer, &mut self.state.made)?;
        if self.sink.wants_places() {
            self.place_integer(step, integer, start);
        }
        match number {
            Number::Small(value) => self.number(step, value),
            Number::Large => {
                if self.is_key(step) {
                    self.remember(step, Key::Octets(self.state.made.clone()));
                }
                self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Made(&self.state.made));
            }
        }
        Ok(())
    }

    /// A number of the root, in a field of bits or behind the number of its octets (§11.5.7.4, §11.7, §11.8), up to seven;
    /// nothing if it is of another form (NGAP InitialContextSetup, eight of them: 210 instructions each by way of
    /// [`integer::read`]; PersonnelRecord, without bounds: 260).
    #[inline(always)]
    fn small(&mut self, integer: &Integer) -> Option<i64> {
        self.reader.number(u32::from(integer.extensible), 0, 0)?;
        match integer.form {
            IntegerForm::Constrained { lo, span, whole } => {
                let (width, pad) = match whole {
                    Whole::Octets(width, most) => {
                        let octets = self.reader.number(u32::from(width), 0, u64::from(most.min(7)) - 1)?;
                        (8 * (1 + octets) as u32, 7)
                    }
                    whole => match whole.field()? {
                        (width @ 0..=56, pad) => (u32::from(width), u32::from(pad)),
                        _ => return None,
                    },
                };
                lo.checked_add_unsigned(self.reader.number(width, pad, span)?)
            }
            IntegerForm::SemiConstrained(lo) => lo.checked_add_unsigned(self.counted_octets()?.0),
            IntegerForm::Unconstrained => {
                let (number, width) = self.counted_octets()?;
                let unused = 64 - width;
                Some((number << unused).cast_signed() >> unused)
            }
            IntegerForm::Large(_) => None,
        }
    }

    /// One to seven octets behind their number, and their bits.
    #[inline(always)]
    fn counted_octets(&mut self) -> Option<(u64, u32)> {
        let pad = if self.program.aligned { 7 } else { 0 };
        let width = 8 * self.reader.number(8, pad, 7)? as u32;
        if width == 0 {
            return None;
        }
        Some((self.reader.number(width, 0, u64::MAX)?, width))
    }

    /// An EMBEDDED PDV or CHARACTER STRING of which only the octets are there (§28.2, §31.2).
    #[cold]
    fn predefined(&mut self, field: FieldId, node: NodeId, constant: u32) -> Result<()> {
        let shape = self.shape;
        self.pending = None;
        self.sink.open(field, node);
        let mut fields = shape.fields_of(node).map(|(id, _)| id);
        if let (Some(identification), Some(octets)) = (fields.next(), fields.next()) {
            say_constant(shape, identification, shape.field(identification).node, constant, self.sink);
            self.at = octets;
            let step = self.program.steps[octets.index()];
            self.octet_string(&step, &Size::ANY, false)?;
        }
        self.sink.close(field, node);
        Ok(())
    }

    #[inline(never)]
    fn time(&mut self, step: &Step, code: u32) -> Result<()> {
        let (program, kind) = (self.program, self.shape.node(NodeId(step.node)).kind);
        let start = self.reader.position();
        time::read(&mut self.reader, program, &program.times[code as usize], kind, &mut self.state.made)?;
        if self.sink.wants_places() {
            self.place_contents(owner(step), start);
        }
        let made = std::mem::take(&mut self.state.made);
        self.say(step, Leaf::Made(&made));
        self.state.made = made;
        Ok(())
    }

    /// Says a string or time, which may be a key.
    #[inline(always)]
    fn say(&mut self, step: &Step, leaf: Leaf<'_>) {
        if self.is_key(step)
            && let Some(contents) = leaf.contents()
        {
            self.remember_octets(step, contents);
        }
        self.sink.leaf(FieldId(step.field), NodeId(step.node), leaf);
    }

    #[inline(never)]
    fn remember_octets(&mut self, step: &Step, contents: &[u8]) {
        self.remember(step, Key::Octets(contents.to_vec()));
    }

    #[inline]
    fn number(&mut self, step: &Step, value: i64) {
        if self.is_key(step) {
            self.remember(step, Key::Int(value));
        }
        self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Int(value));
    }

    /// Whether the value of a field is remembered.
    #[inline]
    fn is_key(&self, step: &Step) -> bool {
        self.pending.is_some() || step.key != NO_KEY
    }

    /// The value of a key goes to its register.
    #[inline(never)]
    fn remember(&mut self, step: &Step, key: Key) {
        let registers = &mut self.state.registers;
        match self.pending.take() {
            Some(pending) => pending.set(registers, self.shape, key),
            None => registers.set(self.shape, step.key, key, None),
        }
    }

    fn enumerated(&mut self, step: &Step, code: u32) -> Result<()> {
        let program = self.program;
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let enumerated = &program.enumerations[code as usize];
        let start = self.reader;
        if enumerated.extensible && self.reader.bit()? {
            let behind = self.reader;
            let number = self.reader.small_number(program.aligned)?;
            if self.sink.wants_places() {
                self.place((field, node), Part::ExtensionBit, start.position(), behind.position(), None);
                self.place_small((field, node), Part::Contents, behind.position(), None);
            }
            match usize::try_from(number).ok().and_then(|n| enumerated.additions.get(n)) {
                Some(value) => self.number(step, *value),
                None => {
                    let Ok(number) = u32::try_from(number) else {
                        return Err(behind.error(ErrorKind::LimitExceeded));
                    };
                    if self.options.unknown == Unknown::Error {
                        return Err(start.error(ErrorKind::UnknownEnumeration));
                    }
                    self.state.registers.forget(step.key);
                    self.sink.leaf(field, node, Leaf::Addition(number));
                }
            }
            return Ok(());
        }
        let number = integer::read_whole(&mut self.reader, enumerated.whole)?;
        if self.sink.wants_places() {
            let at = start.position() + usize::from(enumerated.extensible);
            self.place((field, node), Part::ExtensionBit, start.position(), at, None);
            self.place_whole((field, node), Part::Contents, enumerated.whole, at, None);
        }
        match usize::try_from(number).ok().and_then(|n| enumerated.root.get(n)) {
            Some(value) => self.number(step, *value),
            None => return Err(start.error(ErrorKind::UnknownEnumeration)),
        }
        Ok(())
    }

    #[inline(never)]
    fn octet_string(&mut self, step: &Step, size: &Size, contains: bool) -> Result<()> {
        let start = self.reader.position();
        let (count, more) = self.size(size)?;
        let behind = self.reader.position();
        if self.program.aligned && count > 0 && !is_short(size, count, 2) {
            self.reader.align();
        }
        if self.sink.wants_places() {
            self.place_size_until(owner(step), size, (start, behind), count);
        }
        if contains && !more && self.contained(step, self.reader.position(), count)? {
            return Ok(());
        }
        self.take(step, count, more)
    }

    /// Octets, in the input or joined.
    #[inline(always)]
    fn take(&mut self, step: &Step, count: usize, more: bool) -> Result<()> {
        let node = NodeId(step.node);
        let units = Units::octets(self.reader, Length { count, more });
        if !more && let Taken::Aligned(at, contents) = self.reader.octets(count)? {
            if self.sink.wants_places() {
                self.place_units(owner(step), 8, units.first.position(), units.length);
            }
            self.text_check(node, contents, units)?;
            self.say(step, Leaf::Input { at, contents });
            return Ok(());
        }
        self.reader = units.first;
        self.state.made.clear();
        append(&mut self.reader, count, &mut self.state.made)?;
        self.rest_of_fragments(more)?;
        if self.sink.wants_places() {
            self.place_units(owner(step), 8, units.first.position(), units.length);
        }
        let made = std::mem::take(&mut self.state.made);
        let checked = self.text_check(node, &made, units);
        if checked.is_ok() {
            self.say(step, Leaf::Made(&made));
        }
        self.state.made = made;
        checked
    }

    #[inline(always)]
    fn text_check(&self, node: NodeId, contents: &[u8], units: Units<'_>) -> Result<()> {
        let kind = self.shape.node(node).kind;
        if kind == Kind::OctetString {
            return Ok(());
        }
        // Times have one form in the canonical rules (X.691 §31).
        let is_time = matches!(kind, Kind::UtcTime | Kind::GeneralizedTime);
        let rules = if is_time && self.program.canonical { Rules::Der } else { Rules::Ber };
        let checked = crate::ber::check::check(kind, contents, 0, rules);
        checked.map_err(|fault| units.fault(self.program.aligned, &fault))
    }

    #[inline(never)]
    fn bit_string(&mut self, step: &Step, size: &Size, contains: bool) -> Result<()> {
        let start = self.reader.position();
        let (mut count, mut more) = self.size(size)?;
        let aligned = self.program.aligned;
        let behind = self.reader.position();
        if aligned && count > 0 && !is_short(size, count, 16) {
            self.reader.align();
        }
        if self.sink.wants_places() {
            self.place_size_until(owner(step), size, (start, behind), count);
        }
        if contains && !more && count % 8 == 0 && self.contained(step, self.reader.position(), count / 8)? {
            return Ok(());
        }
        if !more && count <= 64 {
            let start = self.reader.position();
            let bits = self.reader.bits(count as u32)?;
            if self.sink.wants_places() {
                self.place_contents(owner(step), start);
            }
            let mut octets = [0; 9];
            octets[0] = (8 - count % 8) as u8 % 8;
            octets[1..].copy_from_slice(&(bits << (64 - count.max(1))).to_be_bytes());
            self.say(step, Leaf::Made(&octets[..1 + count.div_ceil(8)]));
            return Ok(());
        }
        self.state.made.clear();
        self.state.made.push(0);
        let mut bits = 0;
        let (start, first) = (self.reader.position(), Length { count, more });
        loop {
            let from = self.reader.position();
            self.reader.skip(count)?;
            // All fragments but the last are whole octets (§11.9.3.8).
            self.reader.copy_bits(from, count, &mut self.state.made);
            bits += count;
            if !more {
                break;
            }
            let length = self.reader.length(aligned)?;
            (count, more) = (length.count, length.more);
        }
        if self.sink.wants_places() {
            self.place_units(owner(step), 1, start, first);
        }
        let mut made = std::mem::take(&mut self.state.made);
        made[0] = (8 - bits % 8) as u8 % 8;
        self.say(step, Leaf::Made(&made));
        self.state.made = made;
        Ok(())
    }

    #[inline(never)]
    fn characters(&mut self, step: &Step, size: &Size, alphabet: u32) -> Result<()> {
        let (program, node) = (self.program, NodeId(step.node));
        let alphabet = &program.alphabets[alphabet as usize];
        let outside = size.extensible && self.peek_bit();
        let start = self.reader.position();
        let (count, more) = self.size(size)?;
        let behind = self.reader.position();
        if program.aligned && count > 0 && (outside || !alphabet.unaligned) {
            self.reader.align();
        }
        if self.sink.wants_places() {
            self.place_size_until(owner(step), size, (start, behind), count);
        }
        if let Some(table) = alphabet.table.as_deref()
            && !more
        {
            let start = self.reader.position();
            let units = units_of(self.reader, Length { count, more }, alphabet);
            if alphabet.bits == 8
                && !alphabet.indexed
                && let Taken::Aligned(at, contents) = self.reader.octets(count)?
            {
                if self.sink.wants_places() {
                    self.place_contents(owner(step), start);
                }
                let look = |octet: &u8| table[usize::from(*octet)];
                if contents.iter().fold(0, |all, octet| all | look(octet)) & NOT_PERMITTED != 0 {
                    let wrong = contents.iter().position(|octet| look(octet) & NOT_PERMITTED != 0);
                    self.reader.seek(start + 8 * wrong.unwrap_or(0));
                    return Err(self.fault(ErrorKind::CharacterInvalid));
                }
                if alphabet.check {
                    self.text_check(node, contents, units)?;
                }
                self.say(step, Leaf::Input { at, contents });
                return Ok(());
            }
            self.reader.seek(start);
            if count <= SHORT && alphabet.bits > 0 {
                let mut short = [0; SHORT];
                let short = &mut short[..count];
                characters::fill(&mut self.reader, table, alphabet.bits, short)?;
                if self.sink.wants_places() {
                    self.place_contents(owner(step), start);
                }
                if alphabet.check {
                    self.text_check(node, short, units)?;
                }
                self.say(step, Leaf::Made(short));
                return Ok(());
            }
        }
        self.any_characters(step, alphabet, count, more)
    }

    /// Characters of any number.
    #[inline(never)]
    fn any_characters(
        &mut self,
        step: &Step,
        alphabet: &Alphabet,
        mut count: usize,
        mut more: bool,
    ) -> Result<()> {
        let (program, node) = (self.program, NodeId(step.node));
        let units = units_of(self.reader, Length { count, more }, alphabet);
        let mut made = std::mem::take(&mut self.state.made);
        made.clear();
        let read = loop {
            if let Err(fault) = characters::read(&mut self.reader, alphabet, count, &mut made) {
                break Err(fault);
            }
            if !more {
                break Ok(());
            }
            match self.reader.length(program.aligned) {
                Ok(length) => (count, more) = (length.count, length.more),
                Err(fault) => break Err(fault),
            }
        };
        if read.is_ok() && self.sink.wants_places() {
            let (start, unit) = (units.first.position(), usize::from(alphabet.bits));
            self.place_units(owner(step), unit, start, units.length);
        }
        let read =
            read.and_then(|()| if alphabet.check { self.text_check(node, &made, units) } else { Ok(()) });
        if read.is_ok() {
            self.say(step, Leaf::Made(&made));
        }
        self.state.made = made;
        read
    }

    fn peek_bit(&self) -> bool {
        self.bit_at(self.reader.position())
    }

    fn contents(&mut self, step: &Step) -> Result<()> {
        let start = self.reader.position();
        let length = self.reader.length(self.program.aligned)?;
        if self.sink.wants_places() {
            self.place_length(owner(step), start, length.count);
        }
        self.take(step, length.count, length.more)
    }
}

/// Characters.
fn units_of<'a>(first: BitReader<'a>, length: Length, alphabet: &Alphabet) -> Units<'a> {
    Units { first, length, octets: usize::from(alphabet.octets), bits: usize::from(alphabet.bits) }
}
