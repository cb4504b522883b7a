//! Writes values as JSON.

use crate::octets::Name;
use crate::value::{Sink, Word};
use crate::{Error, Result};

pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    version: u8,
    fault: Option<Error>,
    /// The member whose value comes next.
    member: Option<&'static str>,
    /// Whether the object or list has something already.
    is_first: bool,
    /// The last alternative that was begun.
    choice: Option<&'static str>,
}

impl<'o> Writer<'o> {
    pub(super) const fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, version: 1, fault: None, member: None, is_first: true, choice: None }
    }

    pub(super) fn finish(self) -> Result<()> {
        self.fault.map_or(Ok(()), Err)
    }

    /// What stands before a value.
    fn begin(&mut self) {
        if let Some(member) = self.member.take() {
            if !self.is_first {
                self.out.push(b',');
            }
            self.text(member.as_bytes());
            self.out.push(b':');
            self.is_first = false;
        }
    }

    fn text(&mut self, octets: &[u8]) {
        self.out.push(b'"');
        for &octet in octets {
            match octet {
                b'"' | b'\\' => self.out.extend_from_slice(&[b'\\', octet]),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                0..=31 | 127 => self.out.extend_from_slice(format!("\\u{octet:04x}").as_bytes()),
                128.. => self.out.extend_from_slice(char::from(octet).encode_utf8(&mut [0; 4]).as_bytes()),
                _ => self.out.push(octet),
            }
        }
        self.out.push(b'"');
    }
}

impl Sink for Writer<'_> {
    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    fn refuse(&mut self, what: &'static str) {
        self.fault.get_or_insert_with(|| Error::new(self.out.len(), what));
    }

    fn record(&mut self, _: &'static Word, _: usize) {
        self.begin();
        self.out.push(b'{');
        self.is_first = true;
    }

    fn field(&mut self, name: &'static str) {
        self.member = Some(name);
    }

    fn end_record(&mut self) {
        self.out.push(b'}');
        self.is_first = false;
        self.member = None;
    }

    fn absent(&mut self) {
        if self.member.take().is_none() {
            self.out.extend_from_slice(b"null");
        }
    }

    fn atom(&mut self, atom: &'static Word) {
        self.begin();
        match atom.text {
            "true" | "false" => self.out.extend_from_slice(atom.text.as_bytes()),
            _ => self.text(atom.text.as_bytes()),
        }
    }

    fn number(&mut self, number: u32) {
        self.begin();
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    fn string(&mut self, octets: &[u8]) {
        self.begin();
        self.text(octets);
    }

    fn octets(&mut self, octets: &[u8]) {
        self.begin();
        let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        self.text(digits.as_bytes());
    }

    fn name(&mut self, name: &Name<'_>) {
        self.begin();
        self.text(&name.to_ascii_lowercase());
    }

    fn termination(&mut self, name: &Name<'_>) {
        self.name(name);
    }

    fn list(&mut self, _: usize) {
        self.begin();
        self.out.push(b'[');
        self.is_first = true;
    }

    fn element(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b',');
        }
    }

    fn end_list(&mut self, _: usize) {
        self.out.push(b']');
        self.is_first = false;
    }

    fn choice(&mut self, tag: &'static Word) {
        self.record(tag, 1);
        self.field(tag.text);
        self.choice = Some(tag.text);
    }

    fn end_choice(&mut self) {
        // A choice of nothing, as an audit of no signal in particular.
        if let Some(tag) = self.choice.take().filter(|_| self.out.last() == Some(&b'{')) {
            self.text(tag.as_bytes());
            self.out.extend_from_slice(b":null");
        }
        self.end_record();
    }
}
