//! Writes call records of `schemas/demo/Demo-CDR.asn`, made up from a seed: the same seed gives the same file.
//!
//! ```text
//! cargo run --release -p make-demo -- 200000 calls.ber [SEED]
//! ```

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use tercet::Schema;
use tercet::dynamic::{Encoder, Leaf, Rules, Shape, Sink, Tape};
use tercet::plan::{FieldId, Kind, NodeId};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [count, path, seed @ ..] = &arguments[..] else {
        return Err("usage: make-demo COUNT FILE [SEED]".into());
    };
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;

    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo/Demo-CDR.asn");
    let schema = Schema::load(&[schema], &tercet::SchemaOptions::default())?;
    let plan = schema.plan(Rules::Ber, &["CallRecord"])?;
    let root = plan.root("CallRecord").ok_or("no type CallRecord")?;

    let mut out = BufWriter::new(File::create(path)?);
    let mut encoder = Encoder::new();
    let mut builder = Builder { shape: &plan.shape, tape: Tape::new(), open: Vec::new() };
    let mut random = Random(seed);
    let mut octets = Vec::new();
    for number in 0..count.parse()? {
        builder.tape.clear();
        builder.root(root);
        call_record(&mut builder, &mut random, number);
        builder.close();
        octets.clear();
        encoder.encode(&plan, Rules::Ber, builder.tape.view(&[]), &mut octets)?;
        out.write_all(&octets)?;
    }
    out.flush()?;
    Ok(())
}

fn call_record(b: &mut Builder<'_>, r: &mut Random, number: i64) {
    // Some 40 records a second from midnight on.
    let begin = number / 40 + r.below(20) as i64;
    let imsi = tbcd(&format!("99970{:010}", r.below(1_000_000)));
    match r.below(10) {
        0..4 => mo_call(b, r, number, begin, &imsi),
        4..7 => mt_call(b, r, number, begin, &imsi),
        7..9 => short_message(b, r, number, begin, &imsi),
        _ => data_session(b, r, number, begin, &imsi),
    }
}

fn mo_call(b: &mut Builder<'_>, r: &mut Random, number: i64, begin: i64, imsi: &[u8]) {
    let answered = r.below(5) > 0;
    let duration = if answered { 1 + r.below(1800) as i64 } else { 0 };
    b.open("moCall");
    b.int("recordNumber", number);
    b.leaf("servedIMSI", imsi);
    if r.below(3) > 0 {
        b.leaf("servedIMEI", &tbcd(&format!("35{:012}0", r.below(1 << 39))));
    }
    b.leaf("callingNumber", &address(r));
    b.leaf("calledNumber", &address(r));
    location(b, r);
    if answered {
        b.leaf("answerTime", &time_stamp(begin));
    }
    b.leaf("releaseTime", &time_stamp(begin + duration));
    b.int("duration", duration);
    if !answered {
        b.int("cause", 3);
    }
    if r.below(10) == 0 {
        b.open("supplementary");
        for _ in 0..=r.below(2) {
            b.open_element();
            b.leaf("code", &[0x20 + r.below(4) as u8]);
            if r.below(2) == 0 {
                b.leaf("parameter", "vers la boîte vocale".as_bytes());
            }
            b.close();
        }
        b.close();
    }
    if answered {
        b.open("charge");
        b.int("amount", duration * 3);
        b.leaf("currency", b"EUR");
        b.close();
    }
    b.close();
}

fn mt_call(b: &mut Builder<'_>, r: &mut Random, number: i64, begin: i64, imsi: &[u8]) {
    let duration = r.below(1800) as i64;
    b.open("mtCall");
    b.int("recordNumber", number);
    b.leaf("servedIMSI", imsi);
    if r.below(4) > 0 {
        b.leaf("callingNumber", &address(r));
    }
    location(b, r);
    b.leaf("answerTime", &time_stamp(begin));
    b.leaf("releaseTime", &time_stamp(begin + duration));
    b.int("duration", duration);
    b.close();
}

fn short_message(b: &mut Builder<'_>, r: &mut Random, number: i64, begin: i64, imsi: &[u8]) {
    b.open("sms");
    b.int("recordNumber", number);
    b.leaf("servedIMSI", imsi);
    b.int("originating", r.below(2) as i64);
    b.leaf("otherParty", &address(r));
    b.leaf("serviceCentre", &[0x91, 0x94, 0x71, 0x00, 0x00, 0x70]);
    b.leaf("eventTime", &time_stamp(begin));
    if r.below(8) == 0 {
        b.int("parts", 2 + r.below(3) as i64);
    }
    b.close();
}

fn data_session(b: &mut Builder<'_>, r: &mut Random, number: i64, begin: i64, imsi: &[u8]) {
    b.open("data");
    b.int("recordNumber", number);
    b.leaf("servedIMSI", imsi);
    b.leaf("accessPoint", [&b"internet"[..], b"iot.example", b"corporate"][r.below(3) as usize]);
    if r.below(4) > 0 {
        b.open("servedAddress");
        b.leaf("v4", &[10, 0, r.below(256) as u8, r.below(256) as u8]);
        b.close();
    }
    b.leaf("openingTime", &time_stamp(begin));
    b.int("duration", 60 + r.below(3600) as i64);
    b.open("volumes");
    for i in 0..=r.below(3) as i64 {
        b.open_element();
        b.int("uplink", r.below(1 << 20) as i64);
        b.int("downlink", r.below(1 << 26) as i64);
        b.leaf("changeTime", &time_stamp(begin + 60 * i));
        b.int("ratType", [1, 6, 51][r.below(3) as usize]);
        b.close();
    }
    b.close();
    // Four bits: the octet before them says that four are unused.
    b.leaf("features", &[4, (r.below(16) as u8) << 4]);
    if r.below(3) == 0 {
        b.leaf("sliceName", b"eMBB");
    }
    b.close();
}

fn location(b: &mut Builder<'_>, r: &mut Random) {
    b.open("location");
    let cell = r.below(1 << 16) as u16;
    let [high, low] = cell.to_be_bytes();
    b.leaf("cell", &[0x99, 0xF9, 0x07, 0x12, (cell >> 12) as u8, high, low]);
    if r.below(2) == 0 {
        b.leaf("exchange", format!("MSC{:02}", r.below(4)).as_bytes());
    }
    b.close();
}

/// An international number: type and plan, then digits.
fn address(r: &mut Random) -> Vec<u8> {
    let mut octets = vec![0x91];
    octets.extend(tbcd(&format!("49170{:07}", r.below(10_000_000))));
    octets
}

/// Digits two an octet, low nibble first, F as filler.
fn tbcd(digits: &str) -> Vec<u8> {
    let digit = |d: &u8| d - b'0';
    digits.as_bytes().chunks(2).map(|pair| pair.get(1).map_or(0xF, digit) << 4 | digit(&pair[0])).collect()
}

/// YYMMDDhhmmss+hhmm of a second in some November.
fn time_stamp(second: i64) -> [u8; 9] {
    let bcd = |n: i64| ((n / 10) << 4 | (n % 10)) as u8;
    let (day, hour, minute) = (second / 86_400, second / 3600 % 24, second / 60 % 60);
    [0x26, 0x11, bcd(1 + day % 30), bcd(hour), bcd(minute), bcd(second % 60), b'+', 0x01, 0x00]
}

/// Says a value to a tape, part by part, by names.
struct Builder<'a> {
    shape: &'a Shape,
    tape: Tape,
    open: Vec<(FieldId, NodeId)>,
}

impl Builder<'_> {
    fn root(&mut self, node: NodeId) {
        self.begin(FieldId::ROOT, node);
    }

    /// Begins a component or alternative.
    fn open(&mut self, name: &str) {
        let (field, node) = self.field(name);
        self.begin(field, node);
    }

    /// Begins an element of the list that is open.
    fn open_element(&mut self) {
        let list = self.open.last().expect("a list is open").1;
        let (field, element) = self.shape.fields_of(list).next().expect("a list has an element");
        self.begin(field, element.node);
    }

    fn begin(&mut self, field: FieldId, node: NodeId) {
        self.tape.open(field, node);
        self.open.push((field, node));
    }

    fn close(&mut self) {
        let (field, node) = self.open.pop().expect("something is open");
        self.tape.close(field, node);
    }

    /// A primitive component by its contents octets.
    fn leaf(&mut self, name: &str, contents: &[u8]) {
        let (field, node) = self.field(name);
        self.tape.leaf(field, node, Leaf::Made(contents));
    }

    /// BOOLEAN, INTEGER or ENUMERATED.
    fn int(&mut self, name: &str, number: i64) {
        let (field, node) = self.field(name);
        debug_assert!(matches!(self.shape.node(node).kind, Kind::Boolean | Kind::Integer | Kind::Enumerated));
        self.tape.leaf(field, node, Leaf::Int(number));
    }

    fn field(&self, name: &str) -> (FieldId, NodeId) {
        let parent = self.open.last().expect("something is open").1;
        let mut fields = self.shape.fields_of(parent);
        let found = fields.find(|(_, field)| self.shape.name(field.name) == name);
        let (id, field) = found.unwrap_or_else(|| panic!("the schema has no `{name}` here"));
        (id, field.node)
    }
}

/// xorshift64*: good enough to make things up.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}
