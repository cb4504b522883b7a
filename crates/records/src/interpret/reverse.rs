//! From what is shown back to bytes: values with rendered components, such as `"duration":"00:10:00"`, can be encoded again.
//!
//! A text is turned into bytes and those are shown again: only if that gives the same text are they its bytes. What is not the
//! form of its rendering may be the bytes in hexadecimal, as they are shown where a rendering has no form for them.

use super::kinds::{self, RenderKind};
use super::{Action, Form, Interpretation};
use std::net::IpAddr;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::text::parse_hex;
use tercet_dynamic::{Error, ErrorKind, FieldId, Leaf, NodeId, Rules, Shape, Sink, Tape, View};
use tercet_plan::Kind;

impl Interpretation {
    /// Writes a value of [`Interpretation::shape`] to a tape, which is cleared first, as a value of the shape that was rendered.
    ///
    /// # Errors
    /// When what is shown does not tell the bytes: renderings that drop a part of these cannot be reversed.
    pub fn restore(&self, shown: View<'_>, restored: &mut Tape) -> Result<(), Error> {
        restored.clear();
        let mut sink =
            Restored { rendering: self, sink: restored, path: Vec::new(), group: None, error: None };
        shown.replay(&mut sink);
        sink.error.map_or(Ok(()), Err)
    }

    /// The text of a leaf that is rendered, for messages; `None` if it is shown as it is.
    pub fn text_of(&self, field: FieldId, leaf: Leaf<'_>) -> Option<String> {
        let action = (*self.actions.get(field.index())?)?;
        let octets = leaf.contents()?;
        let mut text = Vec::new();
        match action.form {
            Form::Text => kinds::push_text(action.kind, octets, &mut text)?,
            Form::Number => text = kinds::number_of(action.kind, octets)?.to_string().into_bytes(),
            Form::Group => return None,
        }
        String::from_utf8(text).ok()
    }
}

/// Hears what is shown and says what it is shown of.
struct Restored<'a> {
    rendering: &'a Interpretation,
    sink: &'a mut Tape,
    /// The fields of the values that are open.
    path: Vec<FieldId>,
    /// The members of a group so far.
    group: Option<Group>,
    error: Option<Error>,
}

/// The members of a rendered value, by their numbers.
struct Group {
    field: FieldId,
    action: Action,
    /// Values inside of the group that are open.
    depth: u32,
    members: Vec<(u32, String)>,
    /// Whether some are inside of another one.
    is_nested: bool,
}

impl Restored<'_> {
    fn action(&self, field: FieldId) -> Option<Action> {
        self.rendering.actions.get(field.index()).copied().flatten()
    }

    /// Says the contents of a field.
    fn say(&mut self, field: FieldId, contents: Option<Vec<u8>>, shown: &str, action: Action) {
        let shape = &*self.rendering.decoded;
        match contents {
            Some(contents) => self.sink.leaf(field, shape.field(field).node, Leaf::Made(&contents)),
            None if self.error.is_none() => {
                let names = self.path.iter().chain([&field]).filter(|field| **field != FieldId::ROOT);
                let names: Vec<&str> = names.map(|field| shape.name(shape.field(*field).name)).collect();
                let kind = action.kind.name();
                let detail = format!(
                    "`{shown}` does not determine the bytes that are shown as `{kind}`; give them in hexadecimal"
                );
                let error = Error::new(ErrorKind::ValueMismatch, 0).with_path(names.join("."));
                self.error = Some(error.with_detail(detail));
            }
            None => {}
        }
    }
}

impl Sink for Restored<'_> {
    fn begin(&mut self, rules: Rules) {
        self.sink.begin(rules);
    }

    fn within(&mut self, depth: u16) {
        self.sink.within(depth);
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let shape = &*self.rendering.shape;
        if let Some(group) = &mut self.group {
            group.is_nested |= group.depth > 0;
            let member = field.0.wrapping_sub(shape.node(group.action.node).first);
            group.members.push((member, text(shape, node, leaf)));
            return;
        }
        let Some(action) = self.action(field) else { return self.sink.leaf(field, node, leaf) };
        let shown = text(shape, node, leaf);
        let contents = contents(&self.rendering.decoded, field, action.kind, &shown);
        self.say(field, contents, &shown, action);
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if let Some(group) = &mut self.group {
            group.depth += 1;
            return;
        }
        match self.action(field) {
            Some(action) if action.form == Form::Group => {
                let (members, is_nested) = (Vec::new(), false);
                self.group = Some(Group { field, action, depth: 0, members, is_nested });
            }
            _ => {
                self.path.push(field);
                self.sink.open(field, node);
            }
        }
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        match self.group.take() {
            Some(Group { depth: 0, field, action, members, is_nested }) => {
                let shown: Vec<&str> = members.iter().map(|(_, text)| text.as_str()).collect();
                let shown = shown.join(", ");
                let contents = match is_nested {
                    true => None,
                    false => group(&self.rendering.decoded, field, action, &members, &self.rendering.shape),
                };
                self.say(field, contents, &shown, action);
            }
            Some(group) => self.group = Some(Group { depth: group.depth - 1, ..group }),
            None => {
                self.path.pop();
                self.sink.close(field, node);
            }
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.sink.absent(field, node, constant);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.sink.unknown(addition, leaf);
    }

    fn earlier(&mut self, additions: u32) {
        self.sink.earlier(additions);
    }
}

fn text(shape: &Shape, node: NodeId, leaf: Leaf<'_>) -> String {
    match scalar(shape, node, leaf) {
        Scalar::Text(text) | Scalar::Time(text) => text.into_owned(),
        Scalar::Integer(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The contents octets of a component by the text that it is shown as.
fn contents(shape: &Shape, field: FieldId, kind: RenderKind, text: &str) -> Option<Vec<u8>> {
    let node = shape.field(field).node;
    let of_kind = shape.node(node).kind;
    match of_kind {
        Kind::OctetString => {}
        Kind::UtcTime | Kind::GeneralizedTime => {
            return asn1_time(of_kind, text).or_else(|| Some(text.to_owned())).map(String::into_bytes);
        }
        Kind::Integer | Kind::Enumerated => {
            let item = shape.items_of(node).iter().find(|item| shape.name(item.name) == text);
            let number = item.map_or_else(|| text.parse().ok(), |item| Some(item.value))?;
            return Some(integer(number));
        }
        Kind::BitString => return flags(shape, node, text),
        _ => return None,
    }
    let least = shape.least_size(node);
    let made = octets(kind, text, shape.sizes(node)).map(|mut made| {
        match kind {
            RenderKind::Tbcd | RenderKind::Bcd => made.resize(made.len().max(least), 0xFF),
            RenderKind::TimeZone => made.resize(made.len().max(least), 0),
            _ => {}
        }
        made
    });
    let is_same = |octets: &Vec<u8>| {
        let mut again = Vec::new();
        match kinds::form(kind) {
            kinds::Member::Number => {
                kinds::number_of(kind, octets).map(|number| number.to_string()) == Some(text.to_owned())
            }
            _ => kinds::push_text(kind, octets, &mut again).is_some() && again == text.as_bytes(),
        }
    };
    made.filter(is_same).or_else(|| parse_hex(text.as_bytes()))
}

/// Bytes that may be shown as a text.
fn octets(kind: RenderKind, text: &str, (least, most): (usize, usize)) -> Option<Vec<u8>> {
    Some(match kind {
        RenderKind::Tbcd => tbcd(text)?,
        RenderKind::Bcd => {
            let mut digits: Vec<u8> = text.bytes().map(nibble).collect::<Option<_>>()?;
            if digits.len() % 2 == 1 {
                digits.push(0xF);
            }
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        }
        RenderKind::Text => text.as_bytes().to_vec(),
        RenderKind::Base64 => tercet_dynamic::text::parse_octets(text, tercet_dynamic::text::Octets::Base64)?,
        RenderKind::Number | RenderKind::NumberLe => {
            let number: u64 = text.parse().ok()?;
            let bytes = number.to_be_bytes();
            let first = bytes.iter().position(|octet| *octet != 0).unwrap_or(7);
            let mut made = bytes[first..].to_vec();
            while made.len() < least.min(8) {
                made.insert(0, 0);
            }
            if kind == RenderKind::NumberLe {
                made.reverse();
            }
            made
        }
        RenderKind::Seconds => {
            let seconds: u32 = text.parse().ok()?;
            vec![u8::try_from(seconds / 3600).ok()?, (seconds / 60 % 60) as u8, (seconds % 60) as u8]
        }
        RenderKind::TimeStamp => {
            let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
            let sign = *text.as_bytes().get(19)?;
            let [2, 0, rest @ ..] = &digits[..] else { return None };
            let mut made: Vec<u8> = rest.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
            if made.len() != 8 {
                return None;
            }
            made.insert(6, sign);
            made
        }
        RenderKind::DateBcd | RenderKind::Date => {
            let mut parts = text.split('-').map(|part| part.parse::<u16>().ok());
            let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
            let one = |number: u16| {
                let number = u8::try_from(number).ok().filter(|number| *number < 100)?;
                Some(if kind == RenderKind::DateBcd { ((number / 10) << 4) | (number % 10) } else { number })
            };
            let mut made = vec![one(year / 100)?, one(year % 100)?, one(month)?, one(day)?];
            // Without the century where the type has no room for it, or does not ask for it.
            if (2000..2100).contains(&year) && (most == 3 || least < 4 && most == 0) {
                made.remove(0);
            }
            made
        }
        RenderKind::Time => {
            let (time, tenths) = text.split_once('.').map_or((text, None), |(time, rest)| (time, Some(rest)));
            let mut made: Vec<u8> =
                time.split(':').map(|part| part.parse().ok()).collect::<Option<Vec<_>>>()?;
            if let Some(tenths) = tenths {
                made.push(tenths.parse().ok()?);
            }
            made
        }
        RenderKind::TimeZone => {
            let (sign, time) = text.split_at_checked(1)?;
            let (hours, minutes) = time.split_once(':')?;
            let quarters = hours.parse::<u8>().ok()?.checked_mul(4)?;
            let quarters = quarters.checked_add(minutes.parse::<u8>().ok()? / 15).filter(|it| *it < 80)?;
            let minus = if sign == "-" { 8 } else { 0 };
            vec![((quarters % 10) << 4) | minus | (quarters / 10)]
        }
        RenderKind::Plmn => plmn(text)?.to_vec(),
        RenderKind::Ip => match text.parse().ok()? {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        },
        _ => return None,
    })
}

/// Bytes by the members of a group: by those in hexadecimal if they are there.
fn group(
    shape: &Shape,
    field: FieldId,
    action: Action,
    members: &[(u32, String)],
    shown: &Shape,
) -> Option<Vec<u8>> {
    let names = shown.fields_of(action.node).map(|(_, field)| shown.name(field.name));
    let names: Vec<&str> = names.collect();
    let member = |name: &str| {
        let number = names.iter().position(|known| *known == name)? as u32;
        members.iter().find(|(known, _)| *known == number).map(|(_, text)| text.as_str())
    };
    if let Some(raw) = member("raw") {
        return parse_hex(raw.as_bytes());
    }
    let number = |name: &str| member(name).map_or(Some(0), |text| text.parse::<u16>().ok());
    let small = |name: &str| number(name).and_then(|number| u8::try_from(number).ok());
    let node = shape.field(field).node;
    Some(match action.kind {
        RenderKind::Both if matches!(shape.node(node).kind, Kind::Integer | Kind::Enumerated) => {
            return contents(shape, field, RenderKind::Name, member("number").or_else(|| member("name"))?);
        }
        RenderKind::Address | RenderKind::AddressNibbles => {
            let (ton, npi) = (small("ton")?, small("npi")?);
            let is_address = action.kind == RenderKind::Address;
            // A name in characters of 7 bits does not tell how many of its bits are a fill.
            if npi > 15 || ton > if is_address { 7 } else { 15 } || is_address && ton == 5 {
                return None;
            }
            let extension = if is_address { (small("ext")? & 1) << 7 } else { 0 };
            let mut made = vec![extension | ton << 4 | npi];
            made.extend(tbcd(member("digits").unwrap_or_default())?);
            made
        }
        RenderKind::Cell => {
            let mut made = plmn(member("plmn")?)?.to_vec();
            made.extend(number("lac")?.to_be_bytes());
            made.extend(number("ci")?.to_be_bytes());
            made
        }
        _ => return None,
    })
}

/// Digits, low nibble first; an odd number of them ends with a fill.
fn tbcd(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| Some(b"0123456789*#abc".iter().position(|known| *known == c)? as u8);
    let mut digits: Vec<u8> = text.bytes().map(digit).collect::<Option<_>>()?;
    if digits.len() % 2 == 1 {
        digits.push(0xF);
    }
    Some(digits.chunks(2).map(|pair| pair[1] << 4 | pair[0]).collect())
}

fn plmn(text: &str) -> Option<[u8; 3]> {
    let (mcc, mnc) = text.split_once('-')?;
    let digits: Vec<u8> = mcc.bytes().chain(mnc.bytes()).map(nibble).collect::<Option<_>>()?;
    let (&[a, b, c, d, e], rest) = digits.split_first_chunk::<5>()?;
    let third = match (mcc.len(), rest) {
        (3, []) => 0xF,
        (3, [third]) => *third,
        _ => return None,
    };
    Some([b << 4 | a, third << 4 | c, e << 4 | d])
}

fn nibble(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|digit| digit as u8)
}

/// Contents octets of an INTEGER or ENUMERATED (X.690 8.3).
fn integer(number: i64) -> Vec<u8> {
    let octets = number.to_be_bytes();
    let is_spare = |at: &usize| {
        let (this, next) = (octets[*at], octets[*at + 1]);
        this == 0 && next < 0x80 || this == 0xFF && next >= 0x80
    };
    octets[(0..7).take_while(is_spare).count()..].to_vec()
}

/// Contents octets of a BIT STRING (X.690 8.6) of which some bits have names.
fn flags(shape: &Shape, node: NodeId, text: &str) -> Option<Vec<u8>> {
    let mut bits = vec![false; shape.least_size(node)];
    for name in text.split(',').filter(|name| !name.is_empty()) {
        let item = shape.items_of(node).iter().find(|item| shape.name(item.name) == name);
        let bit = item.map_or_else(|| name.parse().ok(), |item| usize::try_from(item.value).ok())?;
        // No specification names a bit beyond.
        if bit > 1 << 16 {
            return None;
        }
        bits.resize(bits.len().max(bit + 1), false);
        bits[bit] = true;
    }
    let mut contents = vec![(bits.len().wrapping_neg() & 7) as u8];
    contents.extend(
        bits.chunks(8).map(|bits| {
            bits.iter().enumerate().fold(0, |octet, (at, bit)| octet | u8::from(*bit) << (7 - at))
        }),
    );
    Some(contents)
}

/// A UTCTime or GeneralizedTime of `2026-11-01T08:00:17+01:00`.
fn asn1_time(kind: Kind, text: &str) -> Option<String> {
    let (date, rest) = text.split_once('T')?;
    let zone = rest.find(['+', '-'])?;
    let (time, zone) = rest.split_at(zone);
    let date = date.replace('-', "");
    let zone = if zone == "+00:00" { "Z".to_owned() } else { zone.replace(':', "") };
    let date = if kind == Kind::UtcTime { date.get(2..)? } else { &date[..] };
    Some(format!("{date}{}{zone}", time.replace(':', "")))
}
