//! The printers: OTP's pretty layout, octet for octet, and the compact one. Where its three versions differ in layout, so
//! do we.

mod audit;
mod command;
mod context;
mod event;
mod media;
mod part;
mod service;

pub(crate) use part::{join_parts, write_part};

use super::scan::is_quotable;
use super::scan::is_safe;
use super::token::Token;
use crate::model::{
    AuthenticationHeader, DomainName, ErrorDescriptor, Extra, Ip4Address, Ip6Address, MId, MegacoMessage,
    Message, MessageBody, Relation, SegmentReply, Transaction, TransactionAck, TransactionReply,
    TransactionRequest, TransactionResult, Values,
};
use crate::octets::{Name, Str};
use crate::{Error, Result};

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Long tokens, a line for each thing, indented with tabs.
    Pretty,
    /// Short tokens, and nothing between them.
    Compact,
}

/// Writes a message.
///
/// # Errors
/// What the text cannot say: a request without an id, a string with characters that it does not have, more than the
/// version has. The place is the number of octets written until there.
pub fn write_message(message: &MegacoMessage<'_>, layout: Layout, out: &mut Vec<u8>) -> Result<()> {
    let mut printer = Printer::new(out, layout, message.mess.version);
    printer.megaco_message(message);
    printer.finish()
}

/// Writes a sender as it stands behind the version of a message.
///
/// # Errors
/// It has a name that the text cannot say.
pub fn write_mid(m_id: &MId<'_>, out: &mut Vec<u8>) -> Result<()> {
    let mut printer = Printer::new(out, Layout::Compact, 1);
    printer.m_id(m_id);
    printer.finish()
}

/// A value of a vendor's parameter that is more than a string, as text that begins with its mark.
pub(super) fn vendor_data(values: &Values<'_>, extra: Option<Extra>) -> Result<Str<'static>> {
    let mut text = Vec::new();
    let mut printer = Printer::new(&mut text, Layout::Compact, 1);
    printer.parm_values(values, extra);
    printer.finish()?;
    Ok(Str::from(text))
}

/// Writes text, and keeps the first thing that could not be written.
#[derive(Debug)]
pub(crate) struct Printer<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    pretty: bool,
    depth: usize,
    pub(crate) version: u8,
    fault: Option<Error>,
}

/// ` {`, the end of a line, and tabs for the next: what an opening brace is in the pretty layout, and from its third
/// octet on what a new line is.
const OPEN: &[u8; 35] = b" {\n\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
const DEEPEST: usize = OPEN.len() - 3;

/// Safe characters in lower case; 0 for all others.
static LOWER: [u8; 256] = {
    let mut lower = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        if is_safe(octet as u8) {
            lower[octet] = (octet as u8).to_ascii_lowercase();
        }
        octet += 1;
    }
    lower
};

impl<'o> Printer<'o> {
    pub(crate) const fn new(out: &'o mut Vec<u8>, layout: Layout, version: u8) -> Self {
        let start = out.len();
        let pretty = matches!(layout, Layout::Pretty);
        Self { out, start, pretty, depth: 0, version, fault: None }
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.fault {
            None => Ok(()),
            Some(error) => {
                self.out.truncate(self.start);
                Err(error)
            }
        }
    }

    #[cold]
    fn refuse(&mut self, what: &'static str) {
        let at = self.out.len() - self.start;
        self.fault.get_or_insert_with(|| Error::new(at, what));
    }

    fn raw(&mut self, octets: &[u8]) {
        self.out.extend_from_slice(octets);
    }

    fn octet(&mut self, octet: u8) {
        self.out.push(octet);
    }

    fn token(&mut self, token: Token) {
        token.append_to(self.out, self.pretty);
    }

    fn equal(&mut self) {
        if self.pretty { self.raw(b" = ") } else { self.octet(b'=') }
    }

    fn new_line(&mut self) {
        self.raw(&OPEN[2..3 + self.depth.min(DEEPEST)]);
    }

    /// `{` and a new line, further in.
    fn open(&mut self) {
        if self.pretty {
            self.depth += 1;
            self.raw(&OPEN[..3 + self.depth.min(DEEPEST)]);
        } else {
            self.octet(b'{');
        }
    }

    /// A new line, further out, and `}`.
    fn close(&mut self) {
        self.close_with(b'}');
    }

    fn close_with(&mut self, bracket: u8) {
        if self.pretty {
            self.depth -= 1;
            self.new_line();
        }
        self.octet(bracket);
    }

    /// `{` without a new line.
    fn open_here(&mut self) {
        self.raw(if self.pretty { b" { ".as_slice() } else { b"{" });
    }

    /// `}` without a new line.
    fn close_here(&mut self) {
        self.raw(if self.pretty { b" } ".as_slice() } else { b"}" });
    }

    fn comma(&mut self) {
        self.octet(b',');
        if self.pretty {
            self.new_line();
        }
    }

    /// A comma before each but the first.
    fn next(&mut self, first: &mut bool) {
        if !std::mem::replace(first, false) {
            self.comma();
        }
    }

    /// Elements with commas between.
    #[inline(always)]
    fn list<T>(&mut self, elements: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        let mut first = true;
        for element in elements {
            self.next(&mut first);
            each(self, element);
        }
    }

    /// `{ … }` around what is written, or nothing if nothing is.
    #[inline(always)]
    fn braces_if_any(&mut self, inside: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.open();
        let begin = self.out.len();
        inside(self);
        if self.out.len() == begin {
            self.out.truncate(start);
            self.depth -= usize::from(self.pretty);
        } else {
            self.close();
        }
    }

    fn number(&mut self, number: u32) {
        self.raw(itoa::Buffer::new().format(number).as_bytes());
    }

    fn name(&mut self, name: &Name<'_>) {
        let mut is_name = (1..=64).contains(&name.len());
        self.out.extend(name.iter().map(|&octet| {
            let lower = LOWER[usize::from(octet)];
            is_name &= lower != 0;
            lower
        }));
        if !is_name {
            self.refuse("a name of 1 to 64 safe characters");
        }
    }

    /// A quoted string, or a word if it is one.
    fn value(&mut self, value: &Str<'_>) {
        if !value.is_empty() && value.iter().all(|&octet| is_safe(octet)) {
            self.raw(value);
        } else {
            self.quoted(value);
        }
    }

    fn quoted(&mut self, value: &Str<'_>) {
        if !value.iter().all(|&octet| is_quotable(octet)) {
            self.refuse("a string without quotes, control characters and characters of 8 bits");
        }
        self.octet(b'"');
        self.raw(value);
        self.octet(b'"');
    }

    /// What follows the name of a property or parameter.
    fn parm_values(&mut self, values: &Values<'_>, extra: Option<Extra>) {
        match (&values[..], extra) {
            ([value], None) => {
                self.octet(b'=');
                self.value(value);
            }
            ([value], Some(Extra::Relation(relation))) => {
                self.octet(match relation {
                    Relation::GreaterThan => b'>',
                    Relation::SmallerThan => b'<',
                    Relation::UnequalTo => b'#',
                });
                self.value(value);
            }
            ([low, high], Some(Extra::Range(true))) => {
                let spaced = self.pretty && self.version >= 3;
                self.raw(if spaced { b" =  [ ".as_slice() } else { b"=[" });
                self.value(low);
                self.octet(b':');
                self.value(high);
                self.raw(if spaced { b" ] ".as_slice() } else { b"]" });
            }
            ([_, ..], Some(Extra::Sublist(all))) => self.value_list(values, all),
            _ => self.refuse("one value, two of a range, or a list of values"),
        }
    }

    fn value_list(&mut self, values: &Values<'_>, all: bool) {
        let (open, close) = if all { (b'[', b']') } else { (b'{', b'}') };
        if self.pretty && self.version >= 3 {
            self.raw(b" =  ");
            self.octet(open);
            self.depth += 1;
            self.new_line();
            self.list(values, Self::value);
            self.close_with(close);
        } else {
            self.octet(b'=');
            if all {
                self.octet(open)
            } else {
                self.open_here()
            }
            self.list(values, Self::value);
            if all { self.octet(close) } else { self.close_here() }
        }
    }

    pub(crate) fn megaco_message(&mut self, message: &MegacoMessage<'_>) {
        if let Some(header) = &message.auth_header {
            self.authentication_header(header);
        }
        self.message(&message.mess);
    }

    fn authentication_header(&mut self, header: &AuthenticationHeader<'_>) {
        self.token(Token::Authentication);
        self.equal();
        self.hex(&header.sec_parm_index);
        self.octet(b':');
        self.hex(&header.seq_num);
        self.octet(b':');
        if !(12..=32).contains(&header.ad.len()) {
            self.refuse("authentication data of 12 to 32 bytes");
        }
        self.hex(&header.ad);
        self.octet(b'\n');
    }

    fn hex(&mut self, octets: &[u8]) {
        self.raw(b"0x");
        self.hex_digits(octets);
    }

    fn hex_digits(&mut self, octets: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        for &octet in octets {
            self.octet(DIGITS[usize::from(octet >> 4)]);
            self.octet(DIGITS[usize::from(octet & 15)]);
        }
    }

    /// What a message begins with.
    fn head(&mut self, m_id: &MId<'_>) {
        self.raw(if self.pretty { b"MEGACO/".as_slice() } else { b"!/" });
        self.number(u32::from(self.version));
        if !(1..=3).contains(&self.version) {
            self.refuse("version 1, 2 or 3");
        }
        self.octet(b' ');
        self.m_id(m_id);
        self.octet(b'\n');
    }

    fn message(&mut self, message: &Message<'_>) {
        self.head(&message.m_id);
        match &message.message_body {
            MessageBody::MessageError(error) => self.error_descriptor(error),
            MessageBody::Transactions(transactions) => {
                if transactions.is_empty() {
                    self.refuse("a message with a transaction");
                }
                let mut behind_segment = false;
                for transaction in transactions {
                    // Nothing else tells where the number of the segment ends.
                    if std::mem::replace(
                        &mut behind_segment,
                        matches!(transaction, Transaction::SegmentReply(_)),
                    ) {
                        self.octet(b'\n');
                    }
                    self.transaction(transaction);
                }
            }
        }
    }

    pub(crate) fn m_id(&mut self, m_id: &MId<'_>) {
        match m_id {
            MId::Ip4Address(address) => self.ip4_address(address),
            MId::Ip6Address(address) => self.ip6_address(address),
            MId::DomainName(name) => self.domain_name(name),
            MId::DeviceName(name) => self.name(name),
            MId::MtpAddress(address) => self.mtp_address(address),
        }
    }

    fn port(&mut self, port: Option<u16>) {
        if let Some(port) = port {
            self.octet(b':');
            self.number(u32::from(port));
        }
    }

    fn ip4_address(&mut self, address: &Ip4Address) {
        self.octet(b'[');
        for (index, octet) in address.address.into_iter().enumerate() {
            if index > 0 {
                self.octet(b'.');
            }
            self.number(u32::from(octet));
        }
        self.octet(b']');
        self.port(address.port_number);
    }

    fn ip6_address(&mut self, address: &Ip6Address) {
        self.octet(b'[');
        self.raw(ip6_text(&address.address).as_bytes());
        self.octet(b']');
        self.port(address.port_number);
    }

    fn domain_name(&mut self, name: &DomainName<'_>) {
        self.octet(b'<');
        self.name(&name.name);
        self.octet(b'>');
        self.port(name.port_number);
    }

    fn mtp_address(&mut self, address: &Str<'_>) {
        if !(2..=4).contains(&address.len()) {
            self.refuse("an MTP address of 2 to 4 bytes");
        }
        self.token(Token::Mtp);
        self.open_here();
        self.hex_digits(address);
        self.close_here();
    }

    #[inline]
    pub(crate) fn transaction(&mut self, transaction: &Transaction<'_>) {
        match transaction {
            Transaction::TransactionRequest(request) => self.transaction_request(request),
            Transaction::TransactionReply(reply) => self.transaction_reply(reply),
            Transaction::TransactionPending(pending) => {
                self.token(Token::Pending);
                self.equal();
                self.number(pending.transaction_id);
                self.open();
                self.close();
            }
            Transaction::TransactionResponseAck(acks) => self.response_ack(acks),
            Transaction::SegmentReply(segment) => self.segment_reply(segment),
        }
    }

    fn transaction_id(&mut self, id: Option<u32>) {
        match id {
            Some(id) => self.number(id),
            None => self.refuse("a transaction id"),
        }
    }

    #[inline(always)]
    fn transaction_request(&mut self, request: &TransactionRequest<'_>) {
        self.token(Token::Transaction);
        self.equal();
        self.transaction_id(*request.transaction_id);
        if request.actions.is_empty() {
            self.refuse("a request with an action");
        }
        self.open();
        self.list(&request.actions, Self::action_request);
        self.close();
    }

    #[inline(always)]
    fn transaction_reply(&mut self, reply: &TransactionReply<'_>) {
        self.token(Token::Reply);
        self.equal();
        self.transaction_id(*reply.transaction_id);
        self.segment(reply.segment_number, reply.segmentation_complete);
        self.open();
        if reply.imm_ack_required.is_some() {
            self.token(Token::ImmAckRequired);
            self.comma();
        }
        match &reply.transaction_result {
            TransactionResult::TransactionError(error) => self.error_descriptor(error),
            TransactionResult::ActionReplies(replies) => {
                if replies.is_empty() {
                    self.refuse("a reply with an action");
                }
                self.list(replies, Self::action_reply);
            }
        }
        self.close();
    }

    fn segment(&mut self, number: Option<u16>, complete: Option<()>) {
        if let Some(number) = number {
            if self.version < 3 {
                self.refuse("segments are of version 3");
            }
            self.octet(b'/');
            self.number(u32::from(number));
            if complete.is_some() {
                self.raw(if self.pretty { b"/END".as_slice() } else { b"/&" });
            }
        } else if complete.is_some() {
            self.refuse("a segment that has a number");
        }
    }

    fn segment_reply(&mut self, segment: &SegmentReply) {
        self.token(Token::Segment);
        self.equal();
        self.number(segment.transaction_id);
        self.segment(Some(segment.segment_number), segment.segmentation_complete);
    }

    #[inline(always)]
    fn response_ack(&mut self, acks: &[TransactionAck]) {
        if acks.is_empty() {
            self.refuse("an acknowledgement of something");
        }
        self.token(Token::TransactionResponseAck);
        self.open();
        let mut first = true;
        for ack in acks {
            // OTP indents the further ones in version 1 alone.
            if self.version == 1 {
                self.next(&mut first)
            } else {
                self.next_outside(&mut first)
            }
            self.number(ack.first_ack);
            if let Some(last) = ack.last_ack {
                self.octet(b'-');
                self.number(last);
            }
        }
        self.close();
    }

    fn error_descriptor(&mut self, error: &ErrorDescriptor<'_>) {
        self.token(Token::Error);
        self.equal();
        self.number(u32::from(error.error_code));
        self.open_here();
        if let Some(text) = &error.error_text {
            self.quoted(text);
        }
        self.close_here();
    }
}

/// An address of IP version 6, with `::` for the first run of more than one group of zeros.
fn ip6_text(address: &[u8; 16]) -> String {
    let groups: Vec<u16> =
        address.chunks(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(pair[1])).collect();
    let mut run = None;
    let mut index = 0;
    while index < groups.len() && run.is_none() {
        let zeros = groups[index..].iter().take_while(|&&group| group == 0).count();
        if zeros > 1 {
            run = Some((index, zeros));
        }
        index += zeros.max(1);
    }
    let join = |groups: &[u16]| groups.iter().map(|group| format!("{group:X}")).collect::<Vec<_>>().join(":");
    match run {
        None => join(&groups),
        Some((start, zeros)) => format!("{}::{}", join(&groups[..start]), join(&groups[start + zeros..])),
    }
}
