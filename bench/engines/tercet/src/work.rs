//! The works: what is done with one record.

use serde_json::{Value, json};
use std::hint::black_box;
use tercet::dynamic::{Decoder, Discard, Encoder, Options, Tape, csv, json as text};
use tercet::plan::{NodeId, Plan, Rules};

/// One work with all the memory that it keeps between records.
#[derive(Debug)]
pub struct Work {
    op: Op,
    plan: &'static Plan,
    rules: Rules,
    node: NodeId,
    options: Options,
    decoder: Decoder,
    encoder: Encoder,
    tape: Tape,
    /// The values to encode.
    tapes: Vec<Tape>,
    json: text::JsonWriter<'static>,
    csv: csv::Writer<'static>,
    out: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Tape,
    Validate,
    Json,
    Csv,
    Encode,
    Walk,
    Memcpy,
}

impl Work {
    /// Prepares a work and does it once with each record, so that a failure is said before anything is timed.
    ///
    /// # Errors
    /// There is no such work, or a record does not decode.
    pub fn new(
        op: &str,
        plan: Plan,
        rules: Rules,
        node: NodeId,
        records: &[Vec<u8>],
    ) -> Result<Self, String> {
        let op = match op {
            "tape" => Op::Tape,
            "validate" => Op::Validate,
            "json" => Op::Json,
            "csv" => Op::Csv,
            "encode" => Op::Encode,
            "walk" if matches!(rules, Rules::Ber | Rules::Der) => Op::Walk,
            "memcpy" => Op::Memcpy,
            _ => return Err(format!("no operation {op}")),
        };
        // One plan for the life of the process.
        let plan: &'static Plan = Box::leak(Box::new(plan));
        let mut options = Options::default();
        options.rules = rules;
        let mut work = Self {
            op,
            plan,
            rules,
            node,
            options,
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            tape: Tape::new(),
            tapes: Vec::new(),
            json: text::JsonWriter::new(&plan.shape, text::Options::default()),
            csv: csv::Writer::new(&plan.shape, node, csv::Options::default()),
            out: Vec::new(),
        };
        for (i, record) in records.iter().enumerate() {
            let decoded = work.decoder.decode(work.plan, node, record, &mut work.tape, &work.options);
            let length = decoded.map_err(|e| format!("record {i}: {e}"))?;
            if length != record.len() {
                return Err(format!("record {i}: {length} octets of {}", record.len()));
            }
            if op == Op::Encode {
                work.tapes.push(std::mem::take(&mut work.tape));
            }
            work.tape.clear();
        }
        Ok(work)
    }

    /// The measured step.
    #[inline]
    pub fn once(&mut self, i: usize, record: &[u8]) {
        match self.op {
            Op::Tape => {
                self.decode(record);
                black_box(self.tape.len());
            }
            Op::Validate => {
                let read = self.decoder.decode(self.plan, self.node, record, &mut Discard, &self.options);
                black_box(read.is_ok());
            }
            Op::Json => {
                self.json(record);
                black_box(self.json.text().len());
            }
            Op::Csv => {
                self.csv(record);
                black_box(self.out.len());
            }
            Op::Encode => {
                self.out.clear();
                let view = self.tapes[i].view(record);
                let written = self.encoder.encode(self.plan, self.rules, view, &mut self.out);
                black_box(written.is_ok());
            }
            Op::Walk => {
                black_box(elements(record));
            }
            Op::Memcpy => {
                self.out.clear();
                self.out.extend_from_slice(black_box(record));
                black_box(&self.out);
            }
        }
    }

    /// The result of the step in words that can be compared.
    pub fn dump(&mut self, i: usize, record: &[u8]) -> Value {
        self.once(i, record);
        if self.op == Op::Encode {
            let digits: String = self.out.iter().map(|octet| format!("{octet:02x}")).collect();
            return json!({"hex": digits});
        }
        if self.op == Op::Tape {
            self.json.clear();
            self.tape.view(record).replay(&mut self.json);
        }
        json!({"text": String::from_utf8_lossy(self.json.text())})
    }

    /// A number that changes with the result.
    pub fn digest(&mut self, records: &[Vec<u8>]) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        let mut add = |octets: &[u8]| {
            for &octet in octets {
                hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3);
            }
        };
        for (i, record) in records.iter().enumerate() {
            self.once(i, record);
            match self.op {
                Op::Csv | Op::Memcpy => add(&self.out),
                _ => add(&elements(record).to_le_bytes()),
            }
        }
        hash
    }

    fn decode(&mut self, record: &[u8]) {
        self.tape.clear();
        let read = self.decoder.decode(self.plan, self.node, record, &mut self.tape, &self.options);
        black_box(read.is_ok());
    }

    fn json(&mut self, record: &[u8]) {
        self.json.clear();
        let read = self.decoder.decode(self.plan, self.node, record, &mut self.json, &self.options);
        black_box(read.is_ok());
    }

    fn csv(&mut self, record: &[u8]) {
        self.out.clear();
        let mut row = self.csv.sink(&mut self.out);
        let read = self.decoder.decode(self.plan, self.node, record, &mut row, &self.options);
        black_box(read.is_ok());
    }
}

/// Steps over all elements by identifier and length octets and counts them: what any decoder has to do at least.
fn elements(record: &[u8]) -> u64 {
    let (mut at, mut count) = (0, 0);
    while let Some(&first) = record.get(at) {
        at += 1;
        if first & 0x1F == 0x1F {
            while record.get(at).is_some_and(|octet| octet & 0x80 != 0) {
                at += 1;
            }
            at += 1;
        }
        let mut length = usize::from(record.get(at).copied().unwrap_or(0));
        at += 1;
        if length > 0x80 {
            let digits = record.get(at..at + (length & 0x7F)).unwrap_or_default();
            at += digits.len();
            length = digits.iter().fold(0, |n, &digit| n << 8 | usize::from(digit));
        } else if length == 0x80 {
            length = 0;
        }
        if first & 0x20 == 0 {
            at += length;
        }
        count += 1;
    }
    count
}
