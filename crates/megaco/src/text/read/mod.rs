//! The reader: recursive descent, one function a production of H.248.1 B.2. The grammar does not recurse, so the depth
//! of the stack is that of the grammar whatever the input.

mod address;
mod audit;
mod command;
mod context;
mod event;
mod ind_aud;
mod media;
mod property;
pub(super) mod service;
mod signal;

use super::scan::{Scanner, number};
use super::token::Token;
use crate::codec::Opening;
use crate::list::List;
use crate::model::{
    AuthenticationHeader, ErrorDescriptor, Lenient, MId, MegacoMessage, Message, MessageBody, SegmentReply,
    Transaction, TransactionAck, TransactionPending, TransactionReply, TransactionRequest, TransactionResult,
};
use crate::octets::Str;
use crate::{Error, Result};

/// Reads a message.
///
/// # Errors
/// The text is no message of version 1, 2 or 3: where, and what was expected there.
pub fn read_message(text: &[u8]) -> Result<MegacoMessage<'_>> {
    let mut s = Scanner::new(text);
    let (auth_header, version, m_id) = s.header(1..=3)?;
    let message_body = s.message_body()?;
    if !s.at_end() {
        return Err(s.error("a transaction, or the end of the message"));
    }
    Ok(MegacoMessage { auth_header, mess: Message { version, m_id, message_body } })
}

/// Reads version and sender of a message whose rest may be wrong, so that an error can be sent back: also that a version
/// is not supported.
///
/// # Errors
/// These are wrong themselves.
pub fn read_version_and_mid(text: &[u8]) -> Result<(u8, MId<'_>)> {
    let mut s = Scanner::new(text);
    let (_, version, m_id) = s.header(0..=99)?;
    Ok((version, m_id))
}

/// Reads a sender alone, as it stands behind the version of a message: `<name>`, `[address]:port`, `MTP{…}` or a device.
///
/// # Errors
/// The text is not one sender.
pub fn read_mid(text: &[u8]) -> Result<MId<'_>> {
    let mut s = Scanner::new(text);
    s.skip();
    let m_id = s.m_id()?;
    if s.at_end() { Ok(m_id) } else { Err(s.error("the end of a sender (mId)")) }
}

/// Reads which part a message begins with. Faults behind that part do not matter.
///
/// # Errors
/// The text is wrong before, or there.
pub fn read_opening(text: &[u8]) -> Result<Opening> {
    let mut s = Scanner::new(text);
    s.header(0..=99)?;
    let start = s.at;
    Ok(match s.token("a transaction or an error descriptor")? {
        Token::Error => Opening::Error,
        Token::Transaction => Opening::Request,
        Token::Reply => Opening::Reply,
        Token::Pending => Opening::Pending,
        Token::TransactionResponseAck => Opening::Ack,
        Token::Segment => Opening::Segment,
        _ => return Err(Error::new(start, "a transaction or an error descriptor")),
    })
}

type Header<'a> = (Option<Box<AuthenticationHeader<'a>>>, u8, MId<'a>);

impl<'a> Scanner<'a> {
    /// `LWSP [authenticationHeader SEP] MegacopToken SLASH version SEP mId SEP`.
    fn header(&mut self, versions: std::ops::RangeInclusive<u32>) -> Result<Header<'a>> {
        self.skip();
        let mut start = self.at;
        let mut word = self.word("MEGACO/ or ! and a version, or Authentication")?;
        let mut auth_header = None;
        if Token::of(word) == Some(Token::Authentication) {
            auth_header = Some(Box::new(self.authentication_header()?));
            start = self.at;
            word = self.word("MEGACO/ or ! and a version")?;
        }
        let version = match word {
            [b'!', b'/', version @ ..] => Some(version),
            _ if word.len() > 7 && word[..7].eq_ignore_ascii_case(b"megaco/") => Some(&word[7..]),
            _ => None,
        };
        let Some(version) = version else { return Err(Error::new(start, "MEGACO/ or !/ and a version")) };
        let version = number(version, 99).filter(|_| version.len() <= 2);
        match version {
            Some(version) if versions.contains(&version) => self.version = version as u8,
            _ => return Err(Error::new(start, "version 1, 2 or 3")),
        }
        Ok((auth_header, self.version, self.m_id()?))
    }

    fn authentication_header(&mut self) -> Result<AuthenticationHeader<'a>> {
        const WHAT: &str = "0x and 8 hexadecimal digits";
        self.equal()?;
        let sec_parm_index = self.hex(8, 8, WHAT)?;
        self.expect(b':', "`:`")?;
        let seq_num = self.hex(8, 8, WHAT)?;
        self.expect(b':', "`:`")?;
        let ad = self.hex(24, 64, "0x and 24 to 64 hexadecimal digits (AuthData)")?;
        let four = |octets: Vec<u8>| <[u8; 4]>::try_from(octets).map_err(|_| self.error(WHAT));
        Ok(AuthenticationHeader {
            sec_parm_index: four(sec_parm_index)?,
            seq_num: four(seq_num)?,
            ad: Str::from(ad),
        })
    }

    /// `0x` and digits, as octets.
    fn hex(&mut self, min: usize, max: usize, what: &'static str) -> Result<Vec<u8>> {
        let start = self.at;
        let word = self.word(what)?;
        let digits = match word {
            [b'0', b'x' | b'X', digits @ ..] if (min..=max).contains(&digits.len()) => digits,
            _ => return Err(Error::new(start, what)),
        };
        address::hex_octets(digits).ok_or_else(|| Error::new(start, what))
    }

    fn message_body(&mut self) -> Result<MessageBody<'a>> {
        const WHAT: &str = "a transaction or an error descriptor";
        let mut transactions = List::new();
        let mut start = self.at;
        let mut token = self.token(WHAT)?;
        if token == Token::Error {
            return Ok(MessageBody::MessageError(self.error_descriptor()?));
        }
        loop {
            transactions.push(match token {
                Token::Transaction => Transaction::TransactionRequest(self.transaction_request()?),
                Token::Reply => Transaction::TransactionReply(self.transaction_reply()?),
                Token::Pending => {
                    self.equal()?;
                    let transaction_id = self.transaction_id()?;
                    self.open()?;
                    self.close()?;
                    Transaction::TransactionPending(TransactionPending { transaction_id })
                }
                Token::TransactionResponseAck => Transaction::TransactionResponseAck(self.response_ack()?),
                Token::Segment => Transaction::SegmentReply(self.segment_reply()?),
                _ => return Err(Error::new(start, WHAT)),
            });
            if self.at_end() {
                return Ok(MessageBody::Transactions(transactions));
            }
            start = self.at;
            token = self.token("a transaction, or the end of the message")?;
        }
    }

    fn transaction_id(&mut self) -> Result<u32> {
        self.uint32("a transaction id: a number of 32 bits")
    }

    /// `UINT32`.
    fn uint32(&mut self, what: &'static str) -> Result<u32> {
        let start = self.at;
        let word = self.word(what)?;
        number(word, u32::MAX).ok_or_else(|| Error::new(start, what))
    }

    /// `UINT16`.
    fn uint16(&mut self, what: &'static str) -> Result<u16> {
        let start = self.at;
        let word = self.word(what)?;
        number(word, 0xffff).map(|number| number as u16).ok_or_else(|| Error::new(start, what))
    }

    /// The number of a version: `1*2(DIGIT)`.
    fn version_number(&mut self) -> Result<u8> {
        const WHAT: &str = "a version: a number below 100";
        let start = self.at;
        let word = self.word(WHAT)?;
        number(word, 99).map(|number| number as u8).ok_or_else(|| Error::new(start, WHAT))
    }

    /// `TransToken [EQUAL TransactionID] LBRKT …`. A missing id can be read, so that an error reply with id 0 can be
    /// sent.
    fn transaction_request(&mut self) -> Result<TransactionRequest<'a>> {
        let mut transaction_id = Lenient(None);
        if self.accept(b'=') && self.peek() != b'{' {
            transaction_id = Lenient(Some(self.transaction_id()?));
        }
        self.open()?;
        let mut actions = List::new();
        loop {
            actions.push(self.action_request()?);
            if !self.more()? {
                return Ok(TransactionRequest { transaction_id, actions });
            }
        }
    }

    /// `TransactionID [SLASH segmentNumber [SLASH SegmentationCompleteToken]]`.
    fn id_and_segment(&mut self) -> Result<(u32, Option<u16>, Option<()>)> {
        const WHAT: &str = "a transaction id, and from version 3 a segment number and END";
        let start = self.at;
        let word = self.word(WHAT)?;
        let mut parts = word.split(|&octet| octet == b'/');
        let id = parts.next().and_then(|part| number(part, u32::MAX));
        let id = id.ok_or_else(|| Error::new(start, WHAT))?;
        let Some(segment) = parts.next() else { return Ok((id, None, None)) };
        let segment = number(segment, 0xffff).filter(|_| self.version >= 3);
        let segment = segment.ok_or_else(|| Error::new(start, WHAT))? as u16;
        let complete = match parts.next() {
            None => None,
            Some(end) if end.eq_ignore_ascii_case(b"end") || end == b"&" => Some(()),
            Some(_) => return Err(Error::new(start, WHAT)),
        };
        match parts.next() {
            None => Ok((id, Some(segment), complete)),
            Some(_) => Err(Error::new(start, WHAT)),
        }
    }

    fn transaction_reply(&mut self) -> Result<TransactionReply<'a>> {
        self.equal()?;
        let (id, segment_number, segmentation_complete) = self.id_and_segment()?;
        self.open()?;
        let mut imm_ack_required = None;
        let before = *self;
        let mut token = self.token("ImmAckRequired, an action reply or an error descriptor")?;
        if token == Token::ImmAckRequired {
            self.expect(b',', "`,`")?;
            imm_ack_required = Some(());
            token = self.token("an action reply or an error descriptor")?;
        }
        let transaction_result = match token {
            Token::Error => {
                let error = self.error_descriptor()?;
                self.close()?;
                TransactionResult::TransactionError(error)
            }
            Token::Context => {
                let mut replies = List::new();
                loop {
                    replies.push(self.action_reply()?);
                    if !self.more()? {
                        break TransactionResult::ActionReplies(replies);
                    }
                    let start = self.at;
                    if self.token("an action reply")? != Token::Context {
                        return Err(Error::new(start, "an action reply"));
                    }
                }
            }
            _ => return Err(before.error("ImmAckRequired, an action reply or an error descriptor")),
        };
        Ok(TransactionReply {
            transaction_id: Lenient(Some(id)),
            imm_ack_required,
            transaction_result,
            segment_number,
            segmentation_complete,
        })
    }

    fn segment_reply(&mut self) -> Result<SegmentReply> {
        self.equal()?;
        let before = *self;
        let (transaction_id, segment_number, segmentation_complete) = self.id_and_segment()?;
        let segment_number =
            segment_number.ok_or_else(|| before.error("a transaction id and a segment number"))?;
        Ok(SegmentReply { transaction_id, segment_number, segmentation_complete })
    }

    fn response_ack(&mut self) -> Result<List<TransactionAck>> {
        const WHAT: &str = "a transaction id, or a range of them";
        self.open()?;
        let mut acks = List::new();
        loop {
            let start = self.at;
            let word = self.word(WHAT)?;
            let dash = word.iter().position(|&octet| octet == b'-').unwrap_or(word.len());
            let first = number(&word[..dash], u32::MAX);
            let last = word.get(dash + 1..).map(|last| number(last, u32::MAX));
            acks.push(match (first, last) {
                (Some(first_ack), None) => TransactionAck { first_ack, last_ack: None },
                (Some(first_ack), Some(last_ack @ Some(_))) => TransactionAck { first_ack, last_ack },
                _ => return Err(Error::new(start, WHAT)),
            });
            if !self.more()? {
                return Ok(acks);
            }
        }
    }

    /// `ErrorToken` has been read; `EQUAL ErrorCode LBRKT [errorText] RBRKT` follows.
    fn error_descriptor(&mut self) -> Result<ErrorDescriptor<'a>> {
        const WHAT: &str = "an error code: at most 4 digits";
        self.equal()?;
        let start = self.at;
        let word = self.word(WHAT)?;
        let error_code = number(word, 9999).ok_or_else(|| Error::new(start, WHAT))? as u16;
        self.open()?;
        let error_text = if self.peek() == b'}' { None } else { Some(Str::borrowed(self.quoted()?)) };
        self.close()?;
        Ok(ErrorDescriptor { error_code, error_text })
    }
}
