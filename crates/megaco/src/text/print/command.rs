//! Commands and their replies.

use super::Printer;
use crate::model::{
    AmmDescriptor, AmmRequest, AmmsReply, AuditReply, AuditRequest, AuditReturnParameter, Command,
    CommandReply, CommandRequest, MuxDescriptor, MuxType, NotifyReply, NotifyRequest, ServiceChangeReply,
    ServiceChangeResParm, ServiceChangeResult, TerminationId,
};
use crate::text::token::Token;

impl Printer<'_> {
    pub(crate) fn command_request(&mut self, request: &CommandRequest<'_>) {
        if request.optional.is_some() {
            self.raw(b"O-");
        }
        if request.wildcard_return.is_some() {
            self.raw(b"W-");
        }
        match &request.command {
            Command::AddReq(amm) => self.amm_request(Token::Add, amm),
            Command::MoveReq(amm) => self.amm_request(Token::Move, amm),
            Command::ModReq(amm) => self.amm_request(Token::Modify, amm),
            Command::SubtractReq(subtract) => {
                self.token(Token::Subtract);
                self.equal();
                self.termination_ids(&subtract.termination_id);
                if let Some(audit) = &subtract.audit_descriptor {
                    self.open();
                    self.audit_descriptor(audit);
                    self.close();
                }
            }
            Command::AuditCapRequest(audit) => self.audit_request(Token::AuditCapability, audit),
            Command::AuditValueRequest(audit) => self.audit_request(Token::AuditValue, audit),
            Command::NotifyReq(notify) => self.notify_request(notify),
            Command::ServiceChangeReq(change) => {
                self.token(Token::ServiceChange);
                self.equal();
                self.termination_ids(&change.termination_id);
                self.open();
                self.service_change_parms(&change.service_change_parms);
                self.close();
            }
        }
    }

    pub(super) fn termination_id(&mut self, id: &TerminationId<'_>) {
        self.name(&id.0);
    }

    /// One termination, or from version 3 several in brackets.
    fn termination_ids(&mut self, ids: &[TerminationId<'_>]) {
        match ids {
            [] => self.refuse("a termination"),
            [id] => self.termination_id(id),
            _ => {
                if self.version < 3 {
                    self.refuse("lists of terminations are of version 3");
                }
                if self.pretty {
                    self.raw(b" [");
                    self.depth += 1;
                    self.new_line();
                } else {
                    self.octet(b'[');
                }
                self.list(ids, Self::termination_id);
                self.close_with(b']');
            }
        }
    }

    /// Terminations in braces. OTP writes the separator one tab further out.
    fn termination_list(&mut self, ids: &[TerminationId<'_>]) {
        self.open();
        let mut first = true;
        for id in ids {
            self.next_outside(&mut first);
            self.termination_id(id);
        }
        self.close();
    }

    fn amm_request(&mut self, token: Token, request: &AmmRequest<'_>) {
        self.token(token);
        self.equal();
        self.termination_ids(&request.termination_id);
        if !request.descriptors.is_empty() {
            self.open();
            self.list(&request.descriptors, Self::amm_descriptor);
            self.close();
        }
    }

    pub(super) fn amm_descriptor(&mut self, descriptor: &AmmDescriptor<'_>) {
        match descriptor {
            AmmDescriptor::MediaDescriptor(media) => self.media_descriptor(media),
            AmmDescriptor::ModemDescriptor(modem) => self.modem_descriptor(modem),
            AmmDescriptor::MuxDescriptor(mux) => self.mux_descriptor(mux),
            AmmDescriptor::EventsDescriptor(events) => self.events_descriptor(events),
            AmmDescriptor::EventBufferDescriptor(events) => self.event_buffer(events),
            AmmDescriptor::SignalsDescriptor(signals) => self.signals_descriptor(signals),
            AmmDescriptor::DigitMapDescriptor(map) => self.digit_map_descriptor(map),
            AmmDescriptor::AuditDescriptor(audit) => self.audit_descriptor(audit),
            AmmDescriptor::StatisticsDescriptor(statistics) => {
                if self.version < 3 {
                    self.refuse("statistics of a request are of version 3");
                }
                self.statistics_descriptor(statistics);
            }
        }
    }

    fn mux_descriptor(&mut self, mux: &MuxDescriptor<'_>) {
        self.token(Token::Mux);
        self.equal();
        if mux.mux_type == MuxType::Nx64k && self.version < 2 {
            self.refuse("Nx64Kservice is of version 2");
        }
        let is_pretty = self.pretty;
        self.raw(match mux.mux_type {
            MuxType::H221 => b"H221",
            MuxType::H223 => b"H223",
            MuxType::H226 => b"H226",
            MuxType::V76 => b"V76",
            MuxType::Nx64k if is_pretty => b"Nx64Kservice",
            MuxType::Nx64k => b"N64".as_slice(),
        });
        self.termination_list(&mux.term_list);
    }

    fn audit_request(&mut self, token: Token, audit: &AuditRequest<'_>) {
        self.token(token);
        self.equal();
        match &audit.termination_id_list {
            None => self.termination_id(&audit.termination_id),
            Some(list) => {
                if list.first() != Some(&audit.termination_id) {
                    self.refuse("a list of terminations that begins with the one to audit");
                }
                self.termination_ids(list);
            }
        }
        if let Some(descriptor) = &*audit.audit_descriptor {
            self.open();
            self.audit_descriptor(descriptor);
            self.close();
        }
    }

    fn notify_request(&mut self, notify: &NotifyRequest<'_>) {
        self.token(Token::Notify);
        self.equal();
        self.termination_ids(&notify.termination_id);
        self.open();
        match (&*notify.observed_events_descriptor, &notify.error_descriptor) {
            (Some(observed), None) => self.observed_events(observed),
            (Some(observed), Some(error)) if self.version >= 3 => {
                self.observed_events(observed);
                self.raw(if self.pretty { b", ".as_slice() } else { b"," });
                self.error_descriptor(error);
            }
            (_, Some(error)) => self.error_descriptor(error),
            (None, None) => self.refuse("events that were observed, or an error"),
        }
        self.close();
    }

    pub(super) fn command_reply(&mut self, reply: &CommandReply<'_>) {
        match reply {
            CommandReply::AddReply(amms) => self.amms_reply(Token::Add, amms),
            CommandReply::MoveReply(amms) => self.amms_reply(Token::Move, amms),
            CommandReply::ModReply(amms) => self.amms_reply(Token::Modify, amms),
            CommandReply::SubtractReply(amms) => self.amms_reply(Token::Subtract, amms),
            CommandReply::AuditCapReply(audit) => self.audit_reply(Token::AuditCapability, audit),
            CommandReply::AuditValueReply(audit) => self.audit_reply(Token::AuditValue, audit),
            CommandReply::NotifyReply(notify) => self.notify_reply(notify),
            CommandReply::ServiceChangeReply(change) => self.service_change_reply(change),
        }
    }

    fn amms_reply(&mut self, token: Token, reply: &AmmsReply<'_>) {
        self.token(token);
        self.equal();
        self.termination_ids(&reply.termination_id);
        if let Some(audit) = &reply.termination_audit {
            self.termination_audit(audit);
        }
    }

    fn audit_reply(&mut self, token: Token, reply: &AuditReply<'_>) {
        self.token(token);
        self.equal();
        match reply {
            AuditReply::ContextAuditResult(ids) => {
                self.token(Token::Context);
                self.termination_list(ids);
            }
            AuditReply::Error(error) => {
                self.token(Token::Context);
                self.open();
                self.error_descriptor(error);
                self.close();
            }
            AuditReply::AuditResult(result) => {
                self.termination_id(&result.termination_id);
                self.termination_audit(&result.termination_audit_result);
            }
            AuditReply::AuditResultTermList(result) => {
                self.termination_ids(&result.termination_id_list);
                self.termination_audit(&result.termination_audit_result);
            }
        }
    }

    fn termination_audit(&mut self, audit: &[AuditReturnParameter<'_>]) {
        self.braces_if_any(|p| {
            let mut first = true;
            for parameter in audit {
                if matches!(parameter, AuditReturnParameter::EmptyDescriptors(empty) if empty.audit_token.is_none_or(|tokens| tokens.is_empty()))
                {
                    continue;
                }
                p.next(&mut first);
                p.audit_return_parameter(parameter);
            }
        });
    }

    fn audit_return_parameter(&mut self, parameter: &AuditReturnParameter<'_>) {
        match parameter {
            AuditReturnParameter::ErrorDescriptor(error) => self.error_descriptor(error),
            AuditReturnParameter::MediaDescriptor(media) => self.media_descriptor(media),
            AuditReturnParameter::ModemDescriptor(modem) => self.modem_descriptor(modem),
            AuditReturnParameter::MuxDescriptor(mux) => self.mux_descriptor(mux),
            AuditReturnParameter::EventsDescriptor(events) => self.events_descriptor(events),
            AuditReturnParameter::EventBufferDescriptor(events) => self.event_buffer(events),
            AuditReturnParameter::SignalsDescriptor(signals) => self.signals_descriptor(signals),
            AuditReturnParameter::DigitMapDescriptor(map) => self.digit_map_descriptor(map),
            AuditReturnParameter::ObservedEventsDescriptor(observed) => self.observed_events(observed),
            AuditReturnParameter::StatisticsDescriptor(statistics) => self.statistics_descriptor(statistics),
            AuditReturnParameter::PackagesDescriptor(packages) => self.packages_descriptor(packages),
            AuditReturnParameter::EmptyDescriptors(audit) => self.empty_descriptors(audit),
        }
    }

    fn notify_reply(&mut self, notify: &NotifyReply<'_>) {
        self.token(Token::Notify);
        self.equal();
        self.termination_ids(&notify.termination_id);
        if let Some(error) = &notify.error_descriptor {
            self.open();
            self.error_descriptor(error);
            self.close();
        }
    }

    fn service_change_reply(&mut self, change: &ServiceChangeReply<'_>) {
        self.token(Token::ServiceChange);
        self.equal();
        self.termination_ids(&change.termination_id);
        match &change.service_change_result {
            ServiceChangeResult::ErrorDescriptor(error) => {
                self.open();
                self.error_descriptor(error);
                self.close();
            }
            ServiceChangeResult::ServiceChangeResParms(parms)
                if **parms == ServiceChangeResParm::default() => {}
            ServiceChangeResult::ServiceChangeResParms(parms) => {
                self.open();
                self.service_change_res_parms(parms);
                self.close();
            }
        }
    }
}
