//! What audits ask for.

use super::Printer;
use crate::model::{
    AuditDescriptor, AuditToken, EventSpecParameter, IndAudLocalControlDescriptor,
    IndAudLocalRemoteDescriptor, IndAudMediaDescriptor, IndAudMediaStreams, IndAudSignal,
    IndAudSignalsDescriptor, IndAudStatisticsDescriptor, IndAudStreamParms, IndAudTerminationStateDescriptor,
    IndAuditParameter,
};
use crate::text::token::Token;

impl Printer<'_> {
    pub(super) fn audit_descriptor(&mut self, audit: &AuditDescriptor<'_>) {
        self.token(Token::Audit);
        if audit.audit_token.is_none_or(|tokens| tokens.is_empty())
            && audit.audit_property_token.as_ref().is_none_or(Vec::is_empty)
        {
            self.open_here();
            self.close_here();
            return;
        }
        self.open();
        self.audit_items(audit);
        self.close();
    }

    pub(super) fn audit_items(&mut self, audit: &AuditDescriptor<'_>) {
        let mut first = true;
        for token in audit.audit_token.iter().flat_map(|tokens| tokens.iter()) {
            self.next(&mut first);
            self.audit_item(token);
        }
        for (index, part) in audit.audit_property_token.iter().flatten().enumerate() {
            if self.version < 2 {
                self.refuse("audits of parts of descriptors are of version 2");
            }
            // OTP writes the separator between tokens and parts one tab further out.
            if index == 0 && !first {
                self.next_outside(&mut first)
            } else {
                self.next(&mut first)
            }
            self.ind_aud_parameter(part);
        }
    }

    fn audit_item(&mut self, token: AuditToken) {
        self.token(match token {
            AuditToken::MuxToken => Token::Mux,
            AuditToken::ModemToken => Token::Modem,
            AuditToken::MediaToken => Token::Media,
            AuditToken::EventsToken => Token::Events,
            AuditToken::SignalsToken => Token::Signals,
            AuditToken::DigitMapToken => Token::DigitMap,
            AuditToken::StatsToken => Token::Statistics,
            AuditToken::ObservedEventsToken => Token::ObservedEvents,
            AuditToken::PackagesToken => Token::Packages,
            AuditToken::EventBufferToken => Token::EventBuffer,
        });
    }

    /// Descriptors that are empty, a set: written from the last token of the module to the first, as OTP writes what an
    /// audit has asked for in the order of the module.
    pub(super) fn empty_descriptors(&mut self, audit: &AuditDescriptor<'_>) {
        let further = usize::from(self.pretty && self.version < 3);
        self.depth += further;
        let bits = audit.audit_token.map_or(0, |tokens| tokens.bits());
        let tokens = (0..16)
            .rev()
            .filter(|bit| bits >> bit & 1 == 1)
            .filter_map(<AuditToken as crate::Token>::of_number);
        self.list(tokens, Self::audit_item);
        self.depth -= further;
    }

    fn ind_aud_parameter(&mut self, part: &IndAuditParameter<'_>) {
        match part {
            IndAuditParameter::IndAudMediaDescriptor(media) => self.ind_aud_media(media),
            IndAuditParameter::IndAudEventsDescriptor(events) => {
                self.token(Token::Events);
                if let Some(id) = events.request_id {
                    self.equal();
                    self.request_id(id);
                }
                self.open();
                self.name(&events.pkgd_name);
                self.close();
            }
            IndAuditParameter::IndAudEventBufferDescriptor(events) => {
                self.token(Token::EventBuffer);
                self.open();
                self.name(&events.event_name);
                match &events.stream_id {
                    None => {}
                    Some(EventSpecParameter::Stream(stream)) => {
                        self.open();
                        self.event_stream(*stream);
                        self.close();
                    }
                    Some(EventSpecParameter::Parameter(name)) => {
                        self.open();
                        self.name(name);
                        self.close();
                    }
                }
                self.close();
            }
            IndAuditParameter::IndAudSignalsDescriptor(signals) => {
                self.token(Token::Signals);
                self.open();
                match signals {
                    None => {}
                    Some(IndAudSignalsDescriptor::Signal(signal)) => self.ind_aud_signal(signal),
                    Some(IndAudSignalsDescriptor::SeqSigList(list)) => {
                        self.token(Token::SignalList);
                        self.equal();
                        self.number(u32::from(list.id));
                        if let Some(signal) = &list.signal_list {
                            self.open();
                            self.ind_aud_signal(signal);
                            self.close();
                        }
                    }
                }
                self.close();
            }
            IndAuditParameter::IndAudDigitMapDescriptor(map) => {
                self.token(Token::DigitMap);
                self.equal();
                match &map.digit_map_name {
                    Some(name) => self.digit_map_name(name),
                    None => self.refuse("the name of a digit map"),
                }
            }
            IndAuditParameter::IndAudStatisticsDescriptor(statistics) => self.ind_aud_statistics(statistics),
            IndAuditParameter::IndAudPackagesDescriptor(package) => {
                self.token(Token::Packages);
                self.open();
                self.packages_item(&package.package_name, package.package_version);
                self.close();
            }
        }
    }

    fn ind_aud_statistics(&mut self, statistics: &IndAudStatisticsDescriptor<'_>) {
        self.token(Token::Statistics);
        self.open();
        self.name(&statistics.stat_name);
        self.close();
    }

    fn ind_aud_signal(&mut self, signal: &IndAudSignal<'_>) {
        self.name(&signal.signal_name);
        self.braces_if_any(|p| {
            let mut first = true;
            if let Some(stream) = signal.stream_id {
                p.next(&mut first);
                p.event_stream(stream);
            }
            if let Some(id) = signal.signal_request_id {
                p.next(&mut first);
                p.signal_request_id(id);
            }
        });
    }

    fn ind_aud_media(&mut self, media: &IndAudMediaDescriptor<'_>) {
        self.token(Token::Media);
        self.open();
        let mut first = true;
        if let Some(state) = &media.term_state_descr {
            self.next(&mut first);
            self.ind_aud_termination_state(state);
        }
        match &media.streams {
            None => {}
            Some(IndAudMediaStreams::OneStream(stream)) => {
                if !first {
                    self.next(&mut first);
                }
                self.ind_aud_stream_parms(stream);
            }
            Some(IndAudMediaStreams::MultiStream(streams)) => {
                for stream in streams {
                    self.next(&mut first);
                    let further = usize::from(self.pretty && self.version < 3);
                    self.depth += further;
                    self.token(Token::Stream);
                    self.equal();
                    self.number(u32::from(stream.stream_id));
                    self.open();
                    self.ind_aud_stream_parms(&stream.stream_parms);
                    self.close();
                    self.depth -= further;
                }
            }
        }
        self.close();
    }

    /// OTP indents parts of a stream once more than the stream's braces do.
    fn ind_aud_stream_parms(&mut self, stream: &IndAudStreamParms<'_>) {
        let further = usize::from(self.pretty);
        self.depth += further;
        let mut first = true;
        if let Some(control) = &stream.local_control_descriptor {
            self.next(&mut first);
            self.ind_aud_local_control(control);
        }
        if let Some(local) = &stream.local_descriptor {
            self.next(&mut first);
            self.ind_aud_local_remote(Token::Local, local);
        }
        if let Some(remote) = &stream.remote_descriptor {
            self.next(&mut first);
            self.ind_aud_local_remote(Token::Remote, remote);
        }
        if let Some(statistics) = &stream.statistics_descriptor {
            self.next(&mut first);
            self.ind_aud_statistics(statistics);
        }
        self.depth -= further;
    }

    fn ind_aud_local_remote(&mut self, token: Token, descriptor: &IndAudLocalRemoteDescriptor<'_>) {
        self.token(token);
        self.open_here();
        for property in &descriptor.prop_grps {
            self.octet(b'\n');
            self.raw(&property.name);
            self.raw(b"=\r");
        }
        self.octet(b'\n');
        self.octet(b'}');
    }

    fn ind_aud_local_control(&mut self, control: &IndAudLocalControlDescriptor<'_>) {
        self.token(Token::LocalControl);
        self.open();
        let mut first = true;
        for (asked, token) in [
            (control.stream_mode, Token::Mode),
            (control.reserve_value, Token::ReservedValue),
            (control.reserve_group, Token::ReservedGroup),
        ] {
            if asked.is_some() {
                self.next(&mut first);
                self.token(token);
            }
        }
        for property in control.property_parms.iter().flatten() {
            self.next(&mut first);
            self.ind_aud_property(property);
        }
        if let Some(mode) = control.stream_mode_sel {
            self.next(&mut first);
            self.stream_mode(mode);
        }
        self.close();
    }

    fn ind_aud_termination_state(&mut self, state: &IndAudTerminationStateDescriptor<'_>) {
        self.token(Token::TerminationState);
        self.open();
        let mut first = true;
        for property in &state.property_parms {
            self.next(&mut first);
            self.ind_aud_property(property);
        }
        for (asked, token) in
            [(state.event_buffer_control, Token::Buffer), (state.service_state, Token::ServiceStates)]
        {
            if asked.is_some() {
                self.next(&mut first);
                self.token(token);
            }
        }
        if let Some(service) = state.service_state_sel {
            self.next(&mut first);
            self.service_state(service);
        }
        self.close();
    }
}
