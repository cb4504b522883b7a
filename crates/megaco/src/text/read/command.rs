//! Commands and their replies.

use crate::list::List;
use crate::model::{
    AmmDescriptor, AmmRequest, AmmsReply, AuditDescriptor, AuditReply, AuditRequest, AuditResult, Command,
    CommandReply, CommandRequest, Lenient, MuxDescriptor, MuxType, NotifyReply, NotifyRequest,
    ServiceChangeReply, ServiceChangeRequest, ServiceChangeResult, SubtractRequest, TermListAuditResult,
    TerminationAudit, TerminationId,
};
use crate::text::scan::Scanner;
use crate::text::token::Token;
use crate::{Error, Result};

impl<'a> Scanner<'a> {
    /// A command whose first word has been read: `["O-"] ["W-"] token`.
    pub(super) fn command_request(&mut self, word: &[u8], at: usize) -> Result<CommandRequest<'a>> {
        let (word, optional) = match word {
            [b'o' | b'O', b'-', rest @ ..] => (rest, Some(())),
            _ => (word, None),
        };
        let (word, wildcard_return) = match word {
            [b'w' | b'W', b'-', rest @ ..] => (rest, Some(())),
            _ => (word, None),
        };
        let command = match self.token_of(word) {
            Some(Token::Add) => Command::AddReq(self.amm_request()?),
            Some(Token::Move) => Command::MoveReq(self.amm_request()?),
            Some(Token::Modify) => Command::ModReq(self.amm_request()?),
            Some(Token::Subtract) => {
                self.equal()?;
                let termination_id = self.termination_ids()?;
                let audit_descriptor = self.optional_audit()?.map(Box::new);
                Command::SubtractReq(SubtractRequest { termination_id, audit_descriptor })
            }
            Some(Token::AuditCapability) => Command::AuditCapRequest(self.audit_request()?),
            Some(Token::AuditValue) => Command::AuditValueRequest(self.audit_request()?),
            Some(Token::Notify) => Command::NotifyReq(self.notify_request()?),
            Some(Token::ServiceChange) => {
                self.equal()?;
                let termination_id = self.termination_ids()?;
                self.open()?;
                let service_change_parms = Box::new(self.service_change_parms()?);
                self.close()?;
                Command::ServiceChangeReq(ServiceChangeRequest { termination_id, service_change_parms })
            }
            _ => return Err(Error::new(at, "a command, or a property of the context")),
        };
        Ok(CommandRequest { command, optional, wildcard_return })
    }

    /// `TerminationID`, or from version 3 a list of them in brackets.
    pub(super) fn termination_ids(&mut self) -> Result<List<TerminationId<'a>>> {
        if self.peek() != b'[' || self.version < 3 {
            return Ok(List::One(self.termination_id()?));
        }
        self.accept(b'[');
        let mut list = List::One(self.termination_id()?);
        while self.accept(b',') {
            list.push(self.termination_id()?);
        }
        self.expect(b']', "`,` or `]`")?;
        Ok(list)
    }

    /// `LBRKT TerminationID *(COMMA TerminationID) RBRKT`, from the brace on.
    fn termination_list(&mut self) -> Result<List<TerminationId<'a>>> {
        self.open()?;
        let mut list = List::new();
        loop {
            list.push(self.termination_id()?);
            if !self.more()? {
                return Ok(list);
            }
        }
    }

    fn amm_request(&mut self) -> Result<AmmRequest<'a>> {
        self.equal()?;
        let termination_id = self.termination_ids()?;
        let mut descriptors = Vec::new();
        if self.accept(b'{') {
            loop {
                let start = self.at;
                let token = self.token("a descriptor")?;
                let descriptor = match token {
                    Token::Media => AmmDescriptor::MediaDescriptor(self.media_descriptor()?),
                    Token::Modem => AmmDescriptor::ModemDescriptor(Box::new(self.modem_descriptor()?)),
                    Token::Mux => AmmDescriptor::MuxDescriptor(self.mux_descriptor()?),
                    Token::Events => AmmDescriptor::EventsDescriptor(self.events_descriptor()?),
                    Token::EventBuffer => AmmDescriptor::EventBufferDescriptor(self.event_buffer()?),
                    Token::Signals => AmmDescriptor::SignalsDescriptor(self.signals_descriptor()?),
                    Token::DigitMap => AmmDescriptor::DigitMapDescriptor(self.digit_map_descriptor()?),
                    Token::Audit => AmmDescriptor::AuditDescriptor(self.audit_descriptor()?),
                    Token::Statistics if self.version >= 3 => {
                        AmmDescriptor::StatisticsDescriptor(self.statistics_descriptor()?)
                    }
                    _ => return Err(Error::new(start, "a descriptor")),
                };
                // Modems are of version 1; later versions read over them.
                if token != Token::Modem || self.version == 1 {
                    descriptors.push(descriptor);
                }
                if !self.more()? {
                    break;
                }
            }
        }
        Ok(AmmRequest { termination_id, descriptors })
    }

    pub(super) fn mux_descriptor(&mut self) -> Result<MuxDescriptor<'a>> {
        self.equal()?;
        let start = self.at;
        let word = self.word("a kind of multiplexing")?;
        let mux_type = match word.to_ascii_lowercase().as_slice() {
            b"h221" => MuxType::H221,
            b"h223" => MuxType::H223,
            b"h226" => MuxType::H226,
            b"v76" => MuxType::V76,
            b"nx64k" | b"nx64kservice" | b"n64" if self.version >= 2 => MuxType::Nx64k,
            _ => return Err(Error::new(start, "H221, H223, H226, V76 or from version 2 Nx64Kservice")),
        };
        let term_list = self.termination_list()?;
        Ok(MuxDescriptor { mux_type, term_list, non_standard_data: None })
    }

    fn optional_audit(&mut self) -> Result<Option<AuditDescriptor<'a>>> {
        if !self.accept(b'{') {
            return Ok(None);
        }
        let start = self.at;
        if self.token("Audit")? != Token::Audit {
            return Err(Error::new(start, "Audit"));
        }
        let audit = self.audit_descriptor()?;
        self.close()?;
        Ok(Some(audit))
    }

    fn audit_request(&mut self) -> Result<AuditRequest<'a>> {
        self.equal()?;
        let ids = self.termination_ids()?;
        let audit_descriptor = Lenient(self.optional_audit()?);
        let termination_id = ids[0].clone();
        let termination_id_list = match ids {
            List::Many(many) => Some(many),
            List::One(_) => None,
        };
        Ok(AuditRequest { termination_id, audit_descriptor, termination_id_list })
    }

    fn notify_request(&mut self) -> Result<NotifyRequest<'a>> {
        const WHAT: &str = "ObservedEvents or an error descriptor";
        self.equal()?;
        let termination_id = self.termination_ids()?;
        self.open()?;
        let mut request = NotifyRequest {
            termination_id,
            observed_events_descriptor: Lenient(None),
            error_descriptor: None,
        };
        loop {
            let start = self.at;
            match self.token(WHAT)? {
                Token::ObservedEvents if request.observed_events_descriptor.is_none() => {
                    request.observed_events_descriptor = Lenient(Some(self.observed_events()?));
                }
                Token::Error if request.error_descriptor.is_none() => {
                    request.error_descriptor = Some(Box::new(self.error_descriptor()?));
                }
                _ => return Err(Error::new(start, WHAT)),
            }
            if !self.more()? {
                return Ok(request);
            }
        }
    }

    /// A reply whose token has been read.
    pub(super) fn command_reply(&mut self, token: Token, at: usize) -> Result<CommandReply<'a>> {
        Ok(match token {
            Token::Add => CommandReply::AddReply(self.amms_reply()?),
            Token::Move => CommandReply::MoveReply(self.amms_reply()?),
            Token::Modify => CommandReply::ModReply(self.amms_reply()?),
            Token::Subtract => CommandReply::SubtractReply(self.amms_reply()?),
            Token::AuditCapability => CommandReply::AuditCapReply(self.audit_reply()?),
            Token::AuditValue => CommandReply::AuditValueReply(self.audit_reply()?),
            Token::Notify => {
                self.equal()?;
                let termination_id = self.termination_ids()?;
                let error_descriptor = self.optional_error()?.map(Box::new);
                CommandReply::NotifyReply(NotifyReply { termination_id, error_descriptor })
            }
            Token::ServiceChange => {
                self.equal()?;
                let termination_id = self.termination_ids()?;
                let service_change_result = self.service_change_result()?;
                CommandReply::ServiceChangeReply(ServiceChangeReply { termination_id, service_change_result })
            }
            _ => return Err(Error::new(at, "a reply to a command, a property of the context, or an error")),
        })
    }

    fn optional_error(&mut self) -> Result<Option<crate::model::ErrorDescriptor<'a>>> {
        if !self.accept(b'{') {
            return Ok(None);
        }
        let start = self.at;
        if self.token("Error")? != Token::Error {
            return Err(Error::new(start, "Error"));
        }
        let error = self.error_descriptor()?;
        self.close()?;
        Ok(Some(error))
    }

    fn amms_reply(&mut self) -> Result<AmmsReply<'a>> {
        self.equal()?;
        let termination_id = self.termination_ids()?;
        let termination_audit = self.optional_termination_audit()?;
        Ok(AmmsReply { termination_id, termination_audit })
    }

    fn optional_termination_audit(&mut self) -> Result<Option<TerminationAudit<'a>>> {
        if self.accept(b'{') { self.termination_audit().map(Some) } else { Ok(None) }
    }

    /// `AuditValue = Context{…}`, `AuditValue = Context{Error…}`, or what was found at terminations.
    fn audit_reply(&mut self) -> Result<AuditReply<'a>> {
        self.equal()?;
        let before = *self;
        if self.peek() != b'[' {
            let word = self.word("Context or a termination id")?;
            if self.token_of(word) == Some(Token::Context) && self.peek() == b'{' {
                let list = *self;
                self.open()?;
                let word = self.word("a termination id or an error descriptor")?;
                if self.token_of(word) == Some(Token::Error) && self.peek() == b'=' {
                    let error = self.error_descriptor()?;
                    self.close()?;
                    return Ok(AuditReply::Error(error));
                }
                *self = list;
                return self.termination_list().map(AuditReply::ContextAuditResult);
            }
            *self = before;
        }
        let termination_id_list = self.termination_ids()?;
        let termination_audit_result = self.optional_termination_audit()?.unwrap_or_default();
        Ok(match termination_id_list {
            List::One(termination_id) => {
                AuditReply::AuditResult(AuditResult { termination_id, termination_audit_result })
            }
            termination_id_list @ List::Many(_) => AuditReply::AuditResultTermList(TermListAuditResult {
                termination_id_list,
                termination_audit_result,
            }),
        })
    }

    fn service_change_result(&mut self) -> Result<ServiceChangeResult<'a>> {
        const WHAT: &str = "Services or an error descriptor";
        if !self.accept(b'{') {
            return Ok(ServiceChangeResult::ServiceChangeResParms(Box::default()));
        }
        let start = self.at;
        let result = match self.token(WHAT)? {
            Token::Error => ServiceChangeResult::ErrorDescriptor(self.error_descriptor()?),
            Token::Services => {
                ServiceChangeResult::ServiceChangeResParms(Box::new(self.service_change_res_parms()?))
            }
            _ => return Err(Error::new(start, WHAT)),
        };
        self.close()?;
        Ok(result)
    }
}
