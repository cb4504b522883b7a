//! Reading primitive values.

use super::decode::{Engine, Result};
use super::time;
use crate::Part;
use crate::ber::{check, constraints};
use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use tercet_plan::oer::{Code, Integer, Real, Size, VARIABLE};
use tercet_plan::shape::Key;
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::ErrorKind;
use tercet_runtime::ber::{Rules, Writer, check_named_bits, decode_bit_string, decode_integer};
use tercet_runtime::oer::Reader;

/// Octets in a number; longer ones are refused.
const LONGEST: usize = 1 << 20;

impl<'a, S: Sink> Engine<'a, S> {
    pub(super) fn leaf(&mut self, field: FieldId, node: NodeId, code: Code) -> Result<()> {
        self.count()?;
        match code {
            Code::Boolean => self.boolean(field, node),
            Code::Null => {
                self.place_from((field, node), Part::Contents, self.reader.position());
                self.say(field, node, Leaf::Made(&[]));
                Ok(())
            }
            Code::Integer(integer) => self.integer(field, node, integer),
            Code::Enumerated => self.enumerated(field, node),
            Code::Real(real) => self.real(field, node, real),
            Code::OctetString(size) => self.octet_string(field, node, size),
            Code::BitString(size, _) => self.bit_string(field, node, size),
            Code::Contents(size) => self.contents(field, node, size),
            Code::Predefined(constant) => self.predefined(field, node, constant),
            Code::Time(form) => {
                let start = self.reader.position();
                let contents = time::read(self, form, self.shape.node(node).kind)?;
                self.place_from((field, node), Part::Contents, start);
                self.say(field, node, Leaf::Made(&contents));
                Ok(())
            }
            _ => Err(self.fault(ErrorKind::Unsupported)),
        }
    }

    /// An EMBEDDED PDV or CHARACTER STRING of which only the octets are there (§25, §28).
    fn predefined(&mut self, field: FieldId, node: NodeId, constant: u32) -> Result<()> {
        let shape = self.shape;
        self.pending_key = None;
        self.sink.open(field, node);
        let mut fields = shape.fields_of(node);
        if let (Some((identification, first)), Some((octets, second))) = (fields.next(), fields.next()) {
            say_constant(shape, identification, first.node, constant, self.sink);
            self.at = octets;
            self.octet_string(octets, second.node, VARIABLE)?;
        }
        self.sink.close(field, node);
        Ok(())
    }

    /// §9: anything but zero is true, under CANONICAL-OER FF (§31.3).
    fn boolean(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let start = self.reader;
        let octet = self.reader.octet()?;
        self.place_from((field, node), Part::Contents, start.position());
        if self.program.canonical && !matches!(octet, 0 | 0xFF) {
            return Err(self.not_canonical(&start, "a TRUE is not FF (X.696 31.3)"));
        }
        if self.is_key(field) {
            self.remember(field, Key::Octets(vec![if octet == 0 { 0 } else { 0xFF }]));
        }
        self.sink.leaf(field, node, Leaf::Int(i64::from(octet != 0)));
        Ok(())
    }

    // INTEGER and ENUMERATED (§10, §11)

    fn integer(&mut self, field: FieldId, node: NodeId, integer: Integer) -> Result<()> {
        let start = self.reader;
        match integer {
            Integer::Signed(octets) => {
                let number = self.reader.signed(octets)?;
                self.place_from((field, node), Part::Contents, start.position());
                self.number(field, node, number, &start)
            }
            Integer::Unsigned(octets) => {
                let number = self.reader.unsigned(octets)?;
                self.place_from((field, node), Part::Contents, start.position());
                match i64::try_from(number) {
                    Ok(number) => self.number(field, node, number, &start),
                    Err(_) => self.large(field, node, &number.to_be_bytes(), false, &start),
                }
            }
            Integer::SignedVariable | Integer::UnsignedVariable => {
                let octets = self.number_octets(integer == Integer::SignedVariable)?;
                if self.sink.wants_places() {
                    let at = self.reader.position() - octets.len();
                    let length = Some(octets.len() as u64);
                    self.place((field, node), Part::Length, start.position(), at, length);
                    self.place_from((field, node), Part::Contents, at);
                }
                self.octets_as_number(field, node, octets, integer == Integer::SignedVariable, &start)
            }
        }
    }

    /// The octets of a number behind a length determinant.
    pub(super) fn number_octets(&mut self, signed: bool) -> Result<&'a [u8]> {
        let start = self.reader;
        let length = self.length()?;
        if length == 0 {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        let octets = self.reader.take(length)?;
        if length > LONGEST {
            return Err(start.error(ErrorKind::LimitExceeded));
        }
        if self.program.canonical && strip(octets, signed).len() < octets.len() {
            return Err(self.not_canonical(&start, "a number has not the fewest octets (X.696 31.4)"));
        }
        Ok(octets)
    }

    fn octets_as_number(
        &mut self,
        field: FieldId,
        node: NodeId,
        octets: &[u8],
        signed: bool,
        start: &Reader<'_>,
    ) -> Result<()> {
        let octets = strip(octets, signed);
        let negative = signed && octets[0] >= 0x80;
        if octets.len() > 8 || (!signed && octets.len() == 8 && octets[0] >= 0x80) {
            return self.large(field, node, octets, signed, start);
        }
        let sign = if negative { -1 } else { 0 };
        let number = octets.iter().fold(sign, |number: i64, octet| number << 8 | i64::from(*octet));
        self.number(field, node, number, start)
    }

    fn number(&mut self, field: FieldId, node: NodeId, number: i64, start: &Reader<'_>) -> Result<()> {
        if self.options.check_constraints
            && !constraints::is_number_allowed(self.shape, self.shape.node(node), i128::from(number))
        {
            return Err(start.error(ErrorKind::ConstraintViolated));
        }
        if self.is_key(field) {
            self.remember(field, Key::Int(number));
        }
        self.sink.leaf(field, node, Leaf::Int(number));
        Ok(())
    }

    /// A number beyond 64 bits, as contents octets of X.690 8.3.
    fn large(
        &mut self,
        field: FieldId,
        node: NodeId,
        octets: &[u8],
        signed: bool,
        start: &Reader<'_>,
    ) -> Result<()> {
        let mut made = std::mem::take(&mut self.state.made);
        made.clear();
        if !signed && octets[0] >= 0x80 {
            made.push(0);
        }
        made.extend_from_slice(octets);
        let allowed = !self.options.check_constraints
            || constraints::is_allowed(self.shape, self.shape.node(node), &made);
        if allowed {
            self.say(field, node, Leaf::Made(&made));
        }
        self.state.made = made;
        if allowed { Ok(()) } else { Err(start.error(ErrorKind::ConstraintViolated)) }
    }

    fn enumerated(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let start = self.reader;
        let first = self.reader.octet()?;
        if first < 0x80 {
            self.place_from((field, node), Part::Contents, start.position());
            return self.item(field, node, i64::from(first), &start);
        }
        let length = usize::from(first & 0x7F);
        if length == 0 {
            return Err(start.error(ErrorKind::LengthEmpty));
        }
        self.place_number((field, node), Part::Length, start.position(), length);
        let octets = self.reader.take(length)?;
        self.place_from((field, node), Part::Contents, start.position() + 1);
        let fewest = strip(octets, true);
        if self.program.canonical && (fewest.len() < octets.len() || matches!(fewest, [0..0x80])) {
            return Err(self.not_canonical(&start, "an ENUMERATED has not the fewest octets (X.696 31.5)"));
        }
        match crate::leaf::small(fewest) {
            Some(number) => self.item(field, node, number, &start),
            None => Err(start.error(ErrorKind::LimitExceeded)),
        }
    }

    fn item(&mut self, field: FieldId, node: NodeId, number: i64, start: &Reader<'_>) -> Result<()> {
        let known = self.shape.node(node).extensible
            || !self.options.strict_enumerations
            || self.shape.item_name(node, number).is_some();
        if !known {
            return Err(start.error(ErrorKind::UnknownEnumeration));
        }
        if self.is_key(field) {
            self.remember(field, Key::Int(number));
        }
        self.sink.leaf(field, node, Leaf::Int(number));
        Ok(())
    }

    // REAL (§12)

    fn real(&mut self, field: FieldId, node: NodeId, real: Real) -> Result<()> {
        let start = self.reader.position();
        let number = match real {
            Real::Contents => return self.contents(field, node, VARIABLE),
            Real::Binary32 => f64::from(f32::from_bits(self.reader.unsigned(4)? as u32)),
            Real::Binary64 => f64::from_bits(self.reader.unsigned(8)?),
        };
        self.place_from((field, node), Part::Contents, start);
        let writer = &mut self.state.normal;
        if writer.rules() != Rules::Der {
            *writer = Writer::new(Rules::Der);
        }
        writer.clear();
        writer.push_f64(number);
        self.sink.leaf(field, node, Leaf::Made(writer.finish()));
        Ok(())
    }

    // Strings (§13, §14, §21 to §24, §27)

    pub(super) fn octet_string(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let start = self.reader;
        let length = if size == VARIABLE { self.length_of((field, node))? } else { size as usize };
        let at = self.reader.position();
        let contents = self.reader.take(length)?;
        self.place_from((field, node), Part::Contents, at);
        self.check_string(node, contents, &start)?;
        self.say(field, node, Leaf::Input { at, contents });
        Ok(())
    }

    pub(super) fn bit_string(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let start = self.reader;
        if size == VARIABLE {
            let length = self.length_of((field, node))?;
            let at = self.reader.position();
            let contents = self.reader.take(length)?;
            self.place_from((field, node), Part::Contents, at);
            let rules = if self.program.canonical { Rules::Der } else { Rules::Ber };
            let bits = decode_bit_string(contents, at as u64, rules)?;
            let named = matches!(
                self.program.nodes.get(node.index()),
                Some(Code::BitString(_, true) | Code::BitsContaining(_, true))
            );
            if named {
                let (least, most) = self.shape.sizes(node);
                if self.program.canonical {
                    check_named_bits(bits, least, at as u64)?;
                }
                // The value has the size that is asked for (X.680 22.7).
                if let Some(bits) = bits.resized(least, most) {
                    let made = [&[bits.as_bits().unused()][..], bits.as_bits().bytes()].concat();
                    self.check_string(node, &made, &start)?;
                    self.say(field, node, Leaf::Made(&made));
                    return Ok(());
                }
            }
            self.check_string(node, contents, &start)?;
            self.say(field, node, Leaf::Input { at, contents });
            return Ok(());
        }
        let octets = self.reader.take((size as usize).div_ceil(8))?;
        self.place_from((field, node), Part::Contents, start.position());
        let unused = octets.len() * 8 - size as usize;
        if self.program.canonical {
            self.check_padding(&start, octets, unused)?;
        }
        let made = &mut self.state.made;
        made.clear();
        made.push(unused as u8);
        made.extend_from_slice(octets);
        let made = std::mem::take(made);
        self.say(field, node, Leaf::Made(&made));
        self.state.made = made;
        Ok(())
    }

    /// A type whose encoding is its X.690 contents octets.
    fn contents(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let start = self.reader;
        let length = if size == VARIABLE { self.length_of((field, node))? } else { size as usize };
        let at = self.reader.position();
        let contents = self.reader.take(length)?;
        self.place_from((field, node), Part::Contents, at);
        let rules = if self.program.canonical { Rules::Der } else { Rules::Ber };
        check::check(self.shape.node(node).kind, contents, at as u64, rules)?;
        self.check_string(node, contents, &start)?;
        self.say(field, node, Leaf::Input { at, contents });
        Ok(())
    }

    fn check_string(&self, node: NodeId, contents: &[u8], start: &Reader<'_>) -> Result<()> {
        let allowed = !self.options.check_constraints
            || constraints::is_allowed(self.shape, self.shape.node(node), contents);
        if allowed { Ok(()) } else { Err(start.error(ErrorKind::ConstraintViolated)) }
    }

    /// Whether a list may have so many elements.
    pub(super) fn check_quantity(&self, node: NodeId, count: usize) -> Result<()> {
        let allowed = !self.options.check_constraints
            || constraints::is_count_allowed(self.shape, self.shape.node(node), count as u64);
        if allowed { Ok(()) } else { Err(self.fault(ErrorKind::ConstraintViolated)) }
    }

    // Keys of tables

    /// Says a value of contents octets, which may be a key.
    fn say(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.is_key(field)
            && let Some(contents) = leaf.contents()
        {
            self.remember(field, Key::Octets(contents.to_vec()));
        }
        self.sink.leaf(field, node, leaf);
    }

    fn is_key(&self, field: FieldId) -> bool {
        self.pending_key.is_some() || self.key_of(field).is_some()
    }

    pub(super) fn key_of(&self, field: FieldId) -> Option<u16> {
        self.shape.fields.get(field.index()).and_then(|field| field.key)
    }

    fn remember(&mut self, field: FieldId, key: Key) {
        let pending = self.pending_key.take().or_else(|| Some((self.key_of(field)?, Vec::new())));
        if let Some((register, alternatives)) = pending {
            self.state.registers.set(self.shape, register, key, alternatives);
        }
    }
}

/// A number without superfluous octets at its front; one stays.
fn strip(octets: &[u8], signed: bool) -> &[u8] {
    if signed {
        return decode_integer(octets, 0, Rules::Ber).unwrap_or(octets);
    }
    let zeros = octets.iter().take(octets.len().saturating_sub(1)).take_while(|octet| **octet == 0).count();
    octets.get(zeros..).unwrap_or(octets)
}
