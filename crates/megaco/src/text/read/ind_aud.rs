//! Audits of parts of descriptors, from version 2.

use crate::list::List;
use crate::model::{
    EventSpecParameter, IndAudDigitMapDescriptor, IndAudEventBufferDescriptor, IndAudEventsDescriptor,
    IndAudLocalControlDescriptor, IndAudLocalRemoteDescriptor, IndAudMediaDescriptor, IndAudMediaStreams,
    IndAudPackagesDescriptor, IndAudPropertyParm, IndAudSeqSigList, IndAudSignal, IndAudSignalsDescriptor,
    IndAudStatisticsDescriptor, IndAudStreamDescriptor, IndAudStreamParms, IndAudTerminationStateDescriptor,
    IndAuditParameter, PropertyParm,
};
use crate::octets::Name;
use crate::sdp::Lines;
use crate::text::scan::{Mark, Scanner};
use crate::text::token::Token;
use crate::{Error, Result};

impl<'a> Scanner<'a> {
    /// A part of the descriptor whose token has been read.
    pub(super) fn ind_aud_parameter(&mut self, token: Token, at: usize) -> Result<IndAuditParameter<'a>> {
        Ok(match token {
            Token::Media => IndAuditParameter::IndAudMediaDescriptor(self.ind_aud_media()?),
            Token::Events => {
                let request_id = if self.accept(b'=') { Some(self.request_id()?) } else { None };
                self.open()?;
                let pkgd_name = self.pkgd_name()?;
                self.close()?;
                IndAuditParameter::IndAudEventsDescriptor(IndAudEventsDescriptor {
                    request_id,
                    pkgd_name,
                    stream_id: None,
                })
            }
            Token::Signals => IndAuditParameter::IndAudSignalsDescriptor(self.ind_aud_signals()?),
            Token::DigitMap => {
                self.equal()?;
                let name = self.word("the name of a digit map")?;
                IndAuditParameter::IndAudDigitMapDescriptor(IndAudDigitMapDescriptor {
                    digit_map_name: Some(Name::borrowed(name)),
                })
            }
            Token::EventBuffer => {
                IndAuditParameter::IndAudEventBufferDescriptor(self.ind_aud_event_buffer()?)
            }
            Token::Statistics => IndAuditParameter::IndAudStatisticsDescriptor(self.ind_aud_statistics()?),
            Token::Packages => {
                self.open()?;
                let item = self.packages_item()?;
                self.close()?;
                IndAuditParameter::IndAudPackagesDescriptor(IndAudPackagesDescriptor {
                    package_name: item.package_name,
                    package_version: item.package_version,
                })
            }
            _ => return Err(Error::new(at, "a descriptor of which parts can be audited")),
        })
    }

    fn ind_aud_statistics(&mut self) -> Result<IndAudStatisticsDescriptor<'a>> {
        self.open()?;
        let stat_name = self.pkgd_name()?;
        self.close()?;
        Ok(IndAudStatisticsDescriptor { stat_name })
    }

    fn ind_aud_event_buffer(&mut self) -> Result<IndAudEventBufferDescriptor<'a>> {
        self.open()?;
        let event_name = self.pkgd_name()?;
        let mut stream_id = None;
        if self.accept(b'{') {
            let word = self.word("Stream or a parameter of the event")?;
            stream_id = Some(if self.token_of(word) == Some(Token::Stream) && self.peek() == b'=' {
                EventSpecParameter::Stream(self.stream_id()?)
            } else {
                EventSpecParameter::Parameter(Name::borrowed(word))
            });
            self.close()?;
        }
        self.close()?;
        Ok(IndAudEventBufferDescriptor { event_name, stream_id })
    }

    fn ind_aud_signals(&mut self) -> Result<Option<IndAudSignalsDescriptor<'a>>> {
        self.open()?;
        if self.accept(b'}') {
            return Ok(None);
        }
        let before = *self;
        let word = self.word("a signal, or SignalList")?;
        let part = if self.token_of(word) == Some(Token::SignalList) {
            self.equal()?;
            let id = self.uint16("the id of a list of signals: a number of 16 bits")?;
            let mut signal_list = None;
            if self.accept(b'{') {
                signal_list = Some(self.ind_aud_signal()?);
                self.close()?;
            }
            IndAudSignalsDescriptor::SeqSigList(IndAudSeqSigList { id, signal_list })
        } else {
            *self = before;
            IndAudSignalsDescriptor::Signal(self.ind_aud_signal()?)
        };
        self.close()?;
        Ok(Some(part))
    }

    fn ind_aud_signal(&mut self) -> Result<IndAudSignal<'a>> {
        let mut part =
            IndAudSignal { signal_name: self.pkgd_name()?, stream_id: None, signal_request_id: None };
        if self.accept(b'{') {
            loop {
                let start = self.at;
                match self.token("Stream or RequestID")? {
                    Token::Stream if part.stream_id.is_none() => part.stream_id = Some(self.stream_id()?),
                    Token::RequestId if self.version >= 3 && part.signal_request_id.is_none() => {
                        self.equal()?;
                        part.signal_request_id = Some(self.request_id()?);
                    }
                    _ => return Err(Error::new(start, "Stream or RequestID, each once")),
                }
                if !self.more()? {
                    break;
                }
            }
        }
        Ok(part)
    }

    fn ind_aud_media(&mut self) -> Result<IndAudMediaDescriptor<'a>> {
        let mut media = IndAudMediaDescriptor::default();
        self.open()?;
        loop {
            let start = self.at;
            match self.token("a part of the media descriptor")? {
                Token::TerminationState if media.term_state_descr.is_none() => {
                    media.term_state_descr = Some(self.ind_aud_termination_state()?);
                }
                Token::Stream => {
                    let stream_id = self.stream_id()?;
                    let mut stream_parms = IndAudStreamParms::default();
                    self.open()?;
                    loop {
                        let start = self.at;
                        let token = self.token("a part of a stream")?;
                        self.ind_aud_stream_parm(token, start, &mut stream_parms)?;
                        if !self.more()? {
                            break;
                        }
                    }
                    let stream = IndAudStreamDescriptor { stream_id, stream_parms };
                    match media.streams.get_or_insert_with(|| IndAudMediaStreams::MultiStream(List::new())) {
                        IndAudMediaStreams::MultiStream(streams) => streams.push(stream),
                        IndAudMediaStreams::OneStream(_) => {
                            return Err(Error::new(start, "streams all with a number, or none"));
                        }
                    }
                }
                token => {
                    let streams = media
                        .streams
                        .get_or_insert_with(|| IndAudMediaStreams::OneStream(IndAudStreamParms::default()));
                    match streams {
                        IndAudMediaStreams::OneStream(stream) => {
                            self.ind_aud_stream_parm(token, start, stream)?
                        }
                        IndAudMediaStreams::MultiStream(_) => {
                            return Err(Error::new(start, "streams all with a number, or none"));
                        }
                    }
                }
            }
            if !self.more()? {
                return Ok(media);
            }
        }
    }

    fn ind_aud_stream_parm(
        &mut self,
        token: Token,
        at: usize,
        stream: &mut IndAudStreamParms<'a>,
    ) -> Result<()> {
        match token {
            Token::LocalControl if stream.local_control_descriptor.is_none() => {
                stream.local_control_descriptor = Some(self.ind_aud_local_control()?);
            }
            Token::Local if stream.local_descriptor.is_none() => {
                stream.local_descriptor = Some(self.ind_aud_local_remote()?);
            }
            Token::Remote if stream.remote_descriptor.is_none() => {
                stream.remote_descriptor = Some(self.ind_aud_local_remote()?);
            }
            Token::Statistics if self.version >= 3 && stream.statistics_descriptor.is_none() => {
                stream.statistics_descriptor = Some(self.ind_aud_statistics()?);
            }
            _ => return Err(Error::new(at, "LocalControl, Local, Remote or Statistics, each once")),
        }
        Ok(())
    }

    fn ind_aud_local_remote(&mut self) -> Result<IndAudLocalRemoteDescriptor<'a>> {
        let text = self.sdp_text()?;
        let prop_grps = Lines::new(&text)
            .map(|line| IndAudPropertyParm { name: Name::from(line.name.to_vec()), property_parms: None });
        Ok(IndAudLocalRemoteDescriptor { prop_group_id: None, prop_grps: prop_grps.collect() })
    }

    fn ind_aud_local_control(&mut self) -> Result<IndAudLocalControlDescriptor<'a>> {
        let mut control = IndAudLocalControlDescriptor::default();
        self.open()?;
        loop {
            let before = *self;
            let word = self.word("Mode, ReservedGroup, ReservedValue or a property")?;
            let token = self.token_of(word);
            match token {
                Some(Token::Mode) if self.version >= 3 && matches!(self.peek(), b'=' | b'#') => {
                    self.selector()?;
                    control.stream_mode = None;
                    control.stream_mode_sel = Some(self.stream_mode()?);
                }
                Some(Token::Mode) if control.stream_mode.is_none() => control.stream_mode = Some(()),
                Some(Token::ReservedGroup) if control.reserve_group.is_none() => {
                    control.reserve_group = Some(())
                }
                Some(Token::ReservedValue) if control.reserve_value.is_none() => {
                    control.reserve_value = Some(())
                }
                Some(_) => {
                    return Err(before.error("Mode, ReservedGroup and ReservedValue once, or a property"));
                }
                None => {
                    *self = before;
                    let property = self.ind_aud_property()?;
                    add_property(control.property_parms.get_or_insert_default(), property);
                }
            }
            if !self.more()? {
                return Ok(control);
            }
        }
    }

    /// A property, and from version 3 perhaps the value that selects.
    fn ind_aud_property(&mut self) -> Result<IndAudPropertyParm<'a>> {
        let name = self.pkgd_name()?;
        let mut property_parms = None;
        if self.version >= 3 && matches!(self.peek(), b'=' | b'#' | b'<' | b'>') {
            let (value, extra_info) = self.parm_value()?;
            property_parms = Some(PropertyParm { name: name.clone(), value, extra_info });
        }
        Ok(IndAudPropertyParm { name, property_parms })
    }

    /// `=` or `#`: the module has no place to say which.
    fn selector(&mut self) -> Result<()> {
        match self.mark()? {
            Mark::Equal | Mark::Unequal => Ok(()),
            Mark::Less | Mark::Greater => Err(self.error("`=` or `#`")),
        }
    }

    fn ind_aud_termination_state(&mut self) -> Result<IndAudTerminationStateDescriptor<'a>> {
        let mut state = IndAudTerminationStateDescriptor::default();
        self.open()?;
        loop {
            let before = *self;
            let word = self.word("ServiceStates, Buffer or a property")?;
            match self.token_of(word) {
                Some(Token::ServiceStates) if self.version >= 3 && matches!(self.peek(), b'=' | b'#') => {
                    self.selector()?;
                    state.service_state_sel = Some(self.service_state()?);
                }
                Some(Token::ServiceStates) if state.service_state.is_none() => state.service_state = Some(()),
                Some(Token::Buffer) if state.event_buffer_control.is_none() => {
                    state.event_buffer_control = Some(())
                }
                Some(_) => return Err(before.error("ServiceStates and Buffer once, or a property")),
                None => {
                    *self = before;
                    let property = self.ind_aud_property()?;
                    add_property(&mut state.property_parms, property);
                }
            }
            if !self.more()? {
                return Ok(state);
            }
        }
    }
}

/// Adds a property. One with a value belongs to the one before if that has the same name and no value yet: OTP writes the
/// name alone and then both.
pub(super) fn add_property<'a>(
    properties: &mut Vec<IndAudPropertyParm<'a>>,
    property: IndAudPropertyParm<'a>,
) {
    match properties.last_mut() {
        Some(last)
            if last.property_parms.is_none()
                && property.property_parms.is_some()
                && last.name == property.name =>
        {
            last.property_parms = property.property_parms;
        }
        _ => properties.push(property),
    }
}
