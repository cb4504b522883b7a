//! Initial context setup requests of NGAP in aligned PER: open types that are chosen by numbers, down to the flows of
//! sessions. All lists are in one place each, and what has a list says which part of it.

use core::ops::Range;

use crate::bits::{Bits, Packer};

/// A message.
#[derive(Clone, Debug, Default)]
pub struct Message {
    elements: Vec<Element<'static>>,
    slices: Vec<Slice<'static>>,
    sessions: Vec<Session<'static>>,
    transfers: Vec<Transfer<'static>>,
    flows: Vec<Flow>,
}

/// An information element with its criticality.
#[derive(Clone, Debug)]
struct Element<'a> {
    criticality: u8,
    value: Information<'a>,
}

#[derive(Clone, Debug)]
enum Information<'a> {
    CoreId(u64),
    RadioId(u64),
    Rates([u64; 2]),
    Guami { network: &'a [u8], region: u8, set: u16, pointer: u8 },
    Sessions(Range<usize>),
    Slices(Range<usize>),
    Capabilities([u16; 4]),
    Key(&'a [u8]),
    Imei(&'a [u8]),
    Message(&'a [u8]),
}

impl Information<'_> {
    const fn id(&self) -> u64 {
        match self {
            Self::CoreId(_) => 10,
            Self::RadioId(_) => 85,
            Self::Rates(_) => 110,
            Self::Guami { .. } => 28,
            Self::Sessions(_) => 71,
            Self::Slices(_) => 0,
            Self::Capabilities(_) => 119,
            Self::Key(_) => 94,
            Self::Imei(_) => 34,
            Self::Message(_) => 38,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slice<'a> {
    sort: u8,
    part: Option<&'a [u8]>,
}

#[derive(Clone, Debug)]
struct Session<'a> {
    id: u8,
    message: Option<&'a [u8]>,
    slice: Slice<'a>,
    transfers: Range<usize>,
}

/// An information element of a session, with its criticality.
#[derive(Clone, Debug)]
struct Transfer<'a> {
    criticality: u8,
    value: Setup<'a>,
}

#[derive(Clone, Debug)]
enum Setup<'a> {
    Rates([u64; 2]),
    Tunnel { bits: u8, address: &'a [u8], id: &'a [u8] },
    Sort(u8),
    Flows(Range<usize>),
}

impl Setup<'_> {
    const fn id(&self) -> u64 {
        match self {
            Self::Rates(_) => 130,
            Self::Tunnel { .. } => 139,
            Self::Sort(_) => 134,
            Self::Flows(_) => 136,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    id: u8,
    quality: Quality,
    retention: u8,
    may_pre_empt: bool,
    is_vulnerable: bool,
    guaranteed: Option<Guaranteed>,
    is_reflective: bool,
    is_likely: bool,
    bearer: Option<u8>,
}

/// The characteristics of a flow.
#[derive(Clone, Copy, Debug)]
struct Quality {
    indicator: Option<u8>,
    priority: Option<u8>,
    window: Option<u16>,
    burst: Option<u16>,
    /// Of those that are not known by their indicator.
    dynamic: Option<Dynamic>,
}

#[derive(Clone, Copy, Debug)]
struct Dynamic {
    delay: u16,
    scalar: u8,
    exponent: u8,
    is_critical: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Guaranteed {
    rates: [u64; 4],
    is_notified: bool,
    losses: [Option<u16>; 2],
}

fn low(word: u64) -> u8 {
    word.to_be_bytes()[7]
}

fn short(word: u64) -> u16 {
    let [.., high, low] = word.to_be_bytes();
    u16::from_be_bytes([high, low])
}

/// Takes bits that must be zero: of extensions, and of components that the input does not have.
#[inline(always)]
fn none(bits: &mut Bits<'_>, count: usize) -> Option<()> {
    (bits.take(count)? == 0).then_some(())
}

#[inline(always)]
fn flag(bits: &mut Bits<'_>) -> Option<bool> {
    Some(bits.take(1)? == 1)
}

/// Takes an INTEGER of a wide range: the number of its octets in so many bits, then these.
#[inline(always)]
fn wide(bits: &mut Bits<'_>, count: usize) -> Option<u64> {
    let octets = bits.take(count)? as usize + 1;
    bits.align();
    bits.take(8 * octets)
}

#[inline(always)]
fn put_wide(value: u64, count: usize, out: &mut Packer) {
    let octets = (8 - value.leading_zeros() as usize / 8).max(1);
    out.put(count, octets as u64 - 1);
    out.align();
    out.put(8 * octets, value);
}

/// Takes octets with their number.
#[inline(always)]
fn string<'a>(bits: &mut Bits<'a>) -> Option<&'a [u8]> {
    bits.align();
    let length = bits.length()?;
    bits.octets(length)
}

#[inline(always)]
fn put_string(octets: &[u8], out: &mut Packer) {
    out.align();
    out.length(octets.len());
    out.octets(octets);
}

#[inline(always)]
fn fixed<'a>(bits: &mut Bits<'a>, count: usize) -> Option<&'a [u8]> {
    bits.align();
    bits.octets(count)
}

#[inline(always)]
fn put_fixed(octets: &[u8], out: &mut Packer) {
    out.align();
    out.octets(octets);
}

/// Takes a number of up to 16 bits that has two octets.
#[inline(always)]
fn pair(bits: &mut Bits<'_>, most: u16) -> Option<u16> {
    none(bits, 1)?;
    bits.align();
    let number = short(bits.take(16)?);
    (number <= most).then_some(number)
}

#[inline(always)]
fn put_pair(number: u16, out: &mut Packer) {
    out.put(1, 0);
    out.align();
    out.put(16, u64::from(number));
}

#[inline(always)]
fn rates(bits: &mut Bits<'_>) -> Option<[u64; 2]> {
    none(bits, 2)?;
    Some([rate(bits)?, rate(bits)?])
}

#[inline(always)]
fn rate(bits: &mut Bits<'_>) -> Option<u64> {
    none(bits, 1)?;
    wide(bits, 3).filter(|rate| *rate <= 4_000_000_000_000)
}

#[inline(always)]
fn put_rate(rate: u64, out: &mut Packer) {
    out.put(1, 0);
    put_wide(rate, 3, out);
}

#[inline(always)]
fn slice<'a>(bits: &mut Bits<'a>) -> Option<Slice<'a>> {
    none(bits, 1)?;
    let has_part = flag(bits)?;
    none(bits, 1)?;
    let sort = low(bits.take(8)?);
    let part = if has_part { Some(fixed(bits, 3)?) } else { None };
    Some(Slice { sort, part })
}

#[inline(always)]
fn put_slice(slice: &Slice<'_>, out: &mut Packer) {
    out.put(3, if slice.part.is_some() { 2 } else { 0 });
    out.put(8, u64::from(slice.sort));
    if let Some(part) = slice.part {
        put_fixed(part, out);
    }
}

/// Takes the identity, the criticality and the octets of an information element.
#[inline(always)]
fn information<'a>(bits: &mut Bits<'a>) -> Option<(u64, u8, Bits<'a>)> {
    bits.align();
    let id = bits.take(16)?;
    let criticality = low(bits.take(2)?);
    Some((id, criticality, Bits::new(string(bits).filter(|_| criticality < 3)?)))
}

#[inline(always)]
fn put_information(id: u64, criticality: u8, out: &mut Packer) -> usize {
    out.align();
    out.put(16, id);
    out.put(2, u64::from(criticality));
    out.open()
}

impl Flow {
    fn read(bits: &mut Bits<'_>) -> Option<Self> {
        none(bits, 1)?;
        let has_bearer = flag(bits)?;
        none(bits, 2)?;
        let id = low(bits.take(6)?);
        none(bits, 1)?;
        let [has_guaranteed, is_reflective, is_likely] = [flag(bits)?, flag(bits)?, flag(bits)?];
        none(bits, 1)?;
        let quality = Quality::read(bits)?;
        none(bits, 2)?;
        let retention = low(bits.take(4).filter(|number| *number < 15)?) + 1;
        none(bits, 1)?;
        let may_pre_empt = flag(bits)?;
        none(bits, 1)?;
        let is_vulnerable = flag(bits)?;
        let guaranteed = if has_guaranteed { Some(Guaranteed::read(bits)?) } else { None };
        // Each has one item, and may have more.
        none(bits, usize::from(is_reflective) + usize::from(is_likely))?;
        let bearer = if has_bearer {
            none(bits, 1)?;
            Some(low(bits.take(4)?))
        } else {
            None
        };
        Some(Self {
            id,
            quality,
            retention,
            may_pre_empt,
            is_vulnerable,
            guaranteed,
            is_reflective,
            is_likely,
            bearer,
        })
    }

    fn write(&self, out: &mut Packer) {
        let bit = |flag: bool, place: u32| u64::from(flag) << place;
        out.put(3, bit(self.bearer.is_some(), 1));
        out.put(7, u64::from(self.id));
        let has_guaranteed = self.guaranteed.is_some();
        out.put(5, bit(has_guaranteed, 3) | bit(self.is_reflective, 2) | bit(self.is_likely, 1));
        self.quality.write(out);
        out.put(6, u64::from(self.retention) - 1);
        out.put(4, bit(self.may_pre_empt, 2) | bit(self.is_vulnerable, 0));
        if let Some(guaranteed) = &self.guaranteed {
            guaranteed.write(out);
        }
        for _ in 0..usize::from(self.is_reflective) + usize::from(self.is_likely) {
            out.put(1, 0);
        }
        if let Some(bearer) = self.bearer {
            out.put(5, u64::from(bearer));
        }
    }
}

/// Takes a priority from 1 to 127.
#[inline(always)]
fn priority(bits: &mut Bits<'_>) -> Option<u8> {
    none(bits, 1)?;
    Some(low(bits.take(7).filter(|number| *number < 127)?) + 1)
}

/// Takes a number from 0 to 9.
#[inline(always)]
fn digit(bits: &mut Bits<'_>) -> Option<u8> {
    none(bits, 1)?;
    Some(low(bits.take(4).filter(|number| *number < 10)?))
}

#[inline(always)]
fn indicator(bits: &mut Bits<'_>) -> Option<u8> {
    none(bits, 1)?;
    bits.align();
    Some(low(bits.take(8)?))
}

#[inline(always)]
fn put_indicator(indicator: u8, out: &mut Packer) {
    out.put(1, 0);
    out.align();
    out.put(8, u64::from(indicator));
}

impl Quality {
    fn read(bits: &mut Bits<'_>) -> Option<Self> {
        // The first or the second alternative of three, and no extensions.
        let is_dynamic = match bits.take(3)? {
            0 => false,
            2 => true,
            _ => return None,
        };
        if !is_dynamic {
            let [has_priority, has_window, has_burst] = [flag(bits)?, flag(bits)?, flag(bits)?];
            none(bits, 1)?;
            let indicator = Some(indicator(bits)?);
            let priority = if has_priority { Some(priority(bits)?) } else { None };
            let window = if has_window { Some(pair(bits, 4095)?) } else { None };
            let burst = if has_burst { Some(pair(bits, 4095)?) } else { None };
            return Some(Self { indicator, priority, window, burst, dynamic: None });
        }
        let [has_indicator, has_critical] = [flag(bits)?, flag(bits)?];
        let [has_window, has_burst] = [flag(bits)?, flag(bits)?];
        none(bits, 1)?;
        let priority = Some(priority(bits)?);
        let delay = pair(bits, 1023)?;
        none(bits, 2)?;
        let [scalar, exponent] = [digit(bits)?, digit(bits)?];
        let indicator = if has_indicator { Some(indicator(bits)?) } else { None };
        let is_critical = if has_critical {
            none(bits, 1)?;
            Some(!flag(bits)?)
        } else {
            None
        };
        let window = if has_window { Some(pair(bits, 4095)?) } else { None };
        let burst = if has_burst { Some(pair(bits, 4095)?) } else { None };
        let dynamic = Some(Dynamic { delay, scalar, exponent, is_critical });
        Some(Self { indicator, priority, window, burst, dynamic })
    }

    fn write(&self, out: &mut Packer) {
        let bit = |flag: bool, place: u32| u64::from(flag) << place;
        let has_pairs = bit(self.window.is_some(), 2) | bit(self.burst.is_some(), 1);
        if let Some(dynamic) = &self.dynamic {
            let has_critical = bit(dynamic.is_critical.is_some(), 3);
            out.put(8, 2 << 5 | bit(self.indicator.is_some(), 4) | has_critical | has_pairs);
            out.put(8, u64::from(self.priority.unwrap_or(1)) - 1);
            put_pair(dynamic.delay, out);
            out.put(12, u64::from(dynamic.scalar) << 5 | u64::from(dynamic.exponent));
            if let Some(indicator) = self.indicator {
                put_indicator(indicator, out);
            }
            if let Some(is_critical) = dynamic.is_critical {
                out.put(2, u64::from(!is_critical));
            }
        } else {
            out.put(7, bit(self.priority.is_some(), 3) | has_pairs);
            put_indicator(self.indicator.unwrap_or(0), out);
            if let Some(priority) = self.priority {
                out.put(8, u64::from(priority) - 1);
            }
        }
        for pair in [self.window, self.burst].into_iter().flatten() {
            put_pair(pair, out);
        }
    }
}

impl Guaranteed {
    fn read(bits: &mut Bits<'_>) -> Option<Self> {
        none(bits, 1)?;
        let [is_notified, down, up] = [flag(bits)?, flag(bits)?, flag(bits)?];
        none(bits, 1)?;
        let rates = [rate(bits)?, rate(bits)?, rate(bits)?, rate(bits)?];
        if is_notified {
            none(bits, 1)?;
        }
        let down = if down { Some(pair(bits, 1000)?) } else { None };
        let up = if up { Some(pair(bits, 1000)?) } else { None };
        Some(Self { rates, is_notified, losses: [down, up] })
    }

    fn write(&self, out: &mut Packer) {
        let [down, up] = self.losses.map(|loss| u64::from(loss.is_some()));
        out.put(5, u64::from(self.is_notified) << 3 | down << 2 | up << 1);
        for rate in self.rates {
            put_rate(rate, out);
        }
        if self.is_notified {
            out.put(1, 0);
        }
        for loss in self.losses.into_iter().flatten() {
            put_pair(loss, out);
        }
    }
}

impl Message {
    #[inline(always)]
    fn element(&mut self, id: u64, bits: &mut Bits<'static>) -> Option<Information<'static>> {
        Some(match id {
            10 => Information::CoreId(wide(bits, 3).filter(|id| *id < 1 << 40)?),
            85 => Information::RadioId(wide(bits, 2)?),
            110 => Information::Rates(rates(bits)?),
            28 => {
                none(bits, 2)?;
                let network = fixed(bits, 3)?;
                let [region, set, pointer] = [bits.take(8)?, bits.take(10)?, bits.take(6)?];
                Information::Guami { network, region: low(region), set: short(set), pointer: low(pointer) }
            }
            71 => {
                let count = bits.take(8)? + 1;
                let start = self.sessions.len();
                for _ in 0..count {
                    self.session(bits)?;
                }
                Information::Sessions(start..self.sessions.len())
            }
            0 => {
                let count = bits.take(3)? + 1;
                let start = self.slices.len();
                for _ in 0..count {
                    none(bits, 2)?;
                    self.slices.push(slice(bits)?);
                }
                Information::Slices(start..self.slices.len())
            }
            119 => {
                none(bits, 2)?;
                let mut sets = [0; 4];
                for set in &mut sets {
                    none(bits, 1)?;
                    *set = short(bits.take(16)?);
                }
                Information::Capabilities(sets)
            }
            94 => Information::Key(fixed(bits, 32)?),
            34 => Information::Imei(fixed(bits, 8)?),
            38 => Information::Message(string(bits)?),
            _ => return None,
        })
    }

    fn session(&mut self, bits: &mut Bits<'static>) -> Option<()> {
        none(bits, 1)?;
        let has_message = flag(bits)?;
        none(bits, 1)?;
        bits.align();
        let id = low(bits.take(8)?);
        let message = if has_message { Some(string(bits)?) } else { None };
        let slice = slice(bits)?;
        let mut inner = Bits::new(string(bits)?);
        none(&mut inner, 1)?;
        inner.align();
        let count = inner.take(16)?;
        let start = self.transfers.len();
        for _ in 0..count {
            let (id, criticality, mut bits) = information(&mut inner)?;
            let value = self.setup(id, &mut bits)?;
            bits.is_done().then_some(())?;
            self.transfers.push(Transfer { criticality, value });
        }
        inner.is_done().then_some(())?;
        self.sessions.push(Session { id, message, slice, transfers: start..self.transfers.len() });
        Some(())
    }

    fn setup(&mut self, id: u64, bits: &mut Bits<'static>) -> Option<Setup<'static>> {
        Some(match id {
            130 => Setup::Rates(rates(bits)?),
            139 => {
                none(bits, 4)?;
                let count = bits.take(8).filter(|count| *count < 160)? + 1;
                let address = fixed(bits, (count as usize).div_ceil(8))?;
                if count % 8 != 0 {
                    return None;
                }
                Setup::Tunnel { bits: low(count), address, id: fixed(bits, 4)? }
            }
            134 => {
                none(bits, 1)?;
                Setup::Sort(low(bits.take(3).filter(|sort| *sort < 5)?))
            }
            136 => {
                let count = bits.take(6)? + 1;
                let start = self.flows.len();
                for _ in 0..count {
                    self.flows.push(Flow::read(bits)?);
                }
                Setup::Flows(start..self.flows.len())
            }
            _ => return None,
        })
    }

    #[inline(always)]
    fn put_element(&self, value: &Information<'_>, out: &mut Packer) {
        match value {
            Information::CoreId(id) => put_wide(*id, 3, out),
            Information::RadioId(id) => put_wide(*id, 2, out),
            Information::Rates(rates) => put_rates(rates, out),
            Information::Guami { network, region, set, pointer } => {
                out.put(2, 0);
                put_fixed(network, out);
                out.put(24, u64::from(*region) << 16 | u64::from(*set) << 6 | u64::from(*pointer));
            }
            Information::Sessions(range) => {
                out.put(8, range.len() as u64 - 1);
                for session in self.sessions.get(range.clone()).unwrap_or_default() {
                    self.put_session(session, out);
                }
            }
            Information::Slices(range) => {
                out.put(3, range.len() as u64 - 1);
                for slice in self.slices.get(range.clone()).unwrap_or_default() {
                    out.put(2, 0);
                    put_slice(slice, out);
                }
            }
            Information::Capabilities(sets) => {
                out.put(2, 0);
                for set in sets {
                    out.put(17, u64::from(*set));
                }
            }
            Information::Key(octets) | Information::Imei(octets) => put_fixed(octets, out),
            Information::Message(octets) => put_string(octets, out),
        }
    }

    fn put_session(&self, session: &Session<'_>, out: &mut Packer) {
        out.put(3, if session.message.is_some() { 2 } else { 0 });
        out.align();
        out.put(8, u64::from(session.id));
        if let Some(message) = session.message {
            put_string(message, out);
        }
        put_slice(&session.slice, out);
        let start = out.open();
        out.put(8, 0);
        out.put(16, session.transfers.len() as u64);
        for transfer in self.transfers.get(session.transfers.clone()).unwrap_or_default() {
            let start = put_information(transfer.value.id(), transfer.criticality, out);
            self.put_setup(&transfer.value, out);
            out.close(start);
        }
        out.close(start);
    }

    fn put_setup(&self, value: &Setup<'_>, out: &mut Packer) {
        match value {
            Setup::Rates(rates) => put_rates(rates, out),
            Setup::Tunnel { bits, address, id } => {
                out.put(12, u64::from(*bits) - 1);
                put_fixed(address, out);
                put_fixed(id, out);
            }
            Setup::Sort(sort) => out.put(4, u64::from(*sort)),
            Setup::Flows(range) => {
                out.put(6, range.len() as u64 - 1);
                for flow in self.flows.get(range.clone()).unwrap_or_default() {
                    flow.write(out);
                }
            }
        }
    }
}

fn put_rates(rates: &[u64; 2], out: &mut Packer) {
    out.put(2, 0);
    put_rate(rates[0], out);
    put_rate(rates[1], out);
}

impl crate::Record for Message {
    type Out = Packer;

    #[inline]
    fn read(&mut self, octets: &'static [u8]) -> Option<()> {
        self.elements.clear();
        self.slices.clear();
        self.sessions.clear();
        self.transfers.clear();
        self.flows.clear();
        let mut outer = Bits::new(octets);
        // The first alternative, and the procedure of such a request, which is rejected if it is not understood.
        if outer.take(24)? != 14 << 8 {
            return None;
        }
        let mut inner = Bits::new(string(&mut outer)?);
        none(&mut inner, 1)?;
        inner.align();
        let count = inner.take(16)?;
        for _ in 0..count {
            let (id, criticality, mut bits) = information(&mut inner)?;
            let value = self.element(id, &mut bits)?;
            bits.is_done().then_some(())?;
            self.elements.push(Element { criticality, value });
        }
        (inner.is_done() && outer.is_done()).then_some(())
    }

    #[inline]
    fn write(&self, by: &mut Packer, out: &mut Vec<u8>) {
        by.put(24, 14 << 8);
        let start = by.open();
        by.put(8, 0);
        by.put(16, self.elements.len() as u64);
        for element in &self.elements {
            let start = put_information(element.value.id(), element.criticality, by);
            self.put_element(&element.value, by);
            by.close(start);
        }
        by.close(start);
        by.flush(out);
    }
}
