//! Media and termination state, statistics, packages, and modems of version 1.

use crate::list::List;
use crate::model::{
    EventBufferControl, LocalControlDescriptor, LocalRemoteDescriptor, MediaDescriptor, MediaStreams,
    ModemDescriptor, ModemType, PackagesItem, ServiceState, StatisticsParameter, StreamDescriptor,
    StreamMode, StreamParms, TerminationStateDescriptor,
};
use crate::octets::{Name, Str};
use crate::sdp::Lines;
use crate::text::scan::{Scanner, number};
use crate::text::token::Token;
use crate::{Error, Result};

const MEDIA: &str = "Stream, LocalControl, Local, Remote or TerminationState";

impl<'a> Scanner<'a> {
    /// `mediaDescriptor` behind its token.
    pub(super) fn media_descriptor(&mut self) -> Result<MediaDescriptor<'a>> {
        let mut media = MediaDescriptor::default();
        self.open()?;
        if self.accept(b'}') {
            return Ok(media);
        }
        loop {
            let start = self.at;
            match self.token(MEDIA)? {
                Token::Stream => {
                    let stream = self.stream_descriptor()?;
                    match media.streams.get_or_insert_with(|| MediaStreams::MultiStream(List::new())) {
                        MediaStreams::MultiStream(streams) => streams.push(stream),
                        MediaStreams::OneStream(_) => {
                            return Err(Error::new(start, "streams all with a number, or none"));
                        }
                    }
                }
                Token::TerminationState if media.term_state_descr.is_none() => {
                    media.term_state_descr = Some(Box::new(self.termination_state()?));
                }
                token => {
                    let streams =
                        media.streams.get_or_insert_with(|| MediaStreams::OneStream(StreamParms::default()));
                    match streams {
                        MediaStreams::OneStream(stream) => self.stream_parm(token, start, stream)?,
                        MediaStreams::MultiStream(_) => {
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

    fn stream_descriptor(&mut self) -> Result<StreamDescriptor<'a>> {
        let stream_id = self.stream_id()?;
        let mut stream = StreamDescriptor { stream_id, stream_parms: StreamParms::default() };
        self.open()?;
        loop {
            let start = self.at;
            let token = self.token("LocalControl, Local or Remote")?;
            self.stream_parm(token, start, &mut stream.stream_parms)?;
            if !self.more()? {
                return Ok(stream);
            }
        }
    }

    /// `streamParm`: each once.
    fn stream_parm(&mut self, token: Token, at: usize, stream: &mut StreamParms<'a>) -> Result<()> {
        match token {
            Token::LocalControl => {
                let control = stream.local_control_descriptor.get_or_insert_default();
                self.local_control(control)?;
            }
            Token::Local if stream.local_descriptor.is_none() => {
                stream.local_descriptor = Some(self.local_remote()?)
            }
            Token::Remote if stream.remote_descriptor.is_none() => {
                stream.remote_descriptor = Some(self.local_remote()?);
            }
            Token::Statistics if self.version >= 3 && stream.statistics_descriptor.is_none() => {
                stream.statistics_descriptor = Some(self.statistics_descriptor()?);
            }
            _ => return Err(Error::new(at, "LocalControl, Local or Remote, each once")),
        }
        Ok(())
    }

    fn local_control(&mut self, control: &mut LocalControlDescriptor<'a>) -> Result<()> {
        const ONCE: &str = "Mode, ReservedGroup and ReservedValue once, or a property";
        self.open()?;
        loop {
            let before = *self;
            let word = self.word("Mode, ReservedGroup, ReservedValue or a property")?;
            match self.token_of(word) {
                Some(Token::Mode) if control.stream_mode.is_none() => {
                    self.equal()?;
                    control.stream_mode = Some(self.stream_mode()?);
                }
                Some(Token::ReservedGroup) if control.reserve_group.is_none() => {
                    self.equal()?;
                    control.reserve_group = Some(self.on_or_off()?);
                }
                Some(Token::ReservedValue) if control.reserve_value.is_none() => {
                    self.equal()?;
                    control.reserve_value = Some(self.on_or_off()?);
                }
                Some(_) => return Err(before.error(ONCE)),
                None => {
                    *self = before;
                    control.property_parms.push(self.property_parm()?);
                }
            }
            if !self.more()? {
                return Ok(());
            }
        }
    }

    pub(super) fn stream_mode(&mut self) -> Result<StreamMode> {
        const WHAT: &str = "SendOnly, ReceiveOnly, SendReceive, Inactive or Loopback";
        let start = self.at;
        Ok(match self.token(WHAT)? {
            Token::SendOnly => StreamMode::SendOnly,
            Token::ReceiveOnly => StreamMode::RecvOnly,
            Token::SendReceive => StreamMode::SendRecv,
            Token::Inactive => StreamMode::Inactive,
            Token::Loopback => StreamMode::LoopBack,
            _ => return Err(Error::new(start, WHAT)),
        })
    }

    /// `LBRKT octetString RBRKT`: lines of SDP, in which `;` begins no comment.
    fn local_remote(&mut self) -> Result<LocalRemoteDescriptor<'a>> {
        self.sdp_text().map(LocalRemoteDescriptor::Text)
    }

    pub(super) fn sdp_text(&mut self) -> Result<Str<'a>> {
        if self.peek() != b'{' {
            return Err(self.error("`{`"));
        }
        self.at += 1;
        let start = self.at;
        let text = self.octet_string()?;
        let text = match memchr::memmem::find(text, b"\\}") {
            None => Str::borrowed(text),
            Some(_) => Str::from(unescape(text)),
        };
        match Lines::new(&text).fault() {
            None => Ok(text),
            Some(at) => Err(Error::new(start + at, "a line `name=value` of SDP")),
        }
    }

    fn termination_state(&mut self) -> Result<TerminationStateDescriptor<'a>> {
        let mut state = TerminationStateDescriptor::default();
        self.open()?;
        loop {
            let before = *self;
            let word = self.word("ServiceStates, Buffer or a property")?;
            match self.token_of(word) {
                Some(Token::ServiceStates) if state.service_state.is_none() => {
                    self.equal()?;
                    state.service_state = Some(self.service_state()?);
                }
                Some(Token::Buffer) if state.event_buffer_control.is_none() => {
                    self.equal()?;
                    let start = self.at;
                    state.event_buffer_control = Some(match self.token("OFF or LockStep")? {
                        Token::Off => EventBufferControl::Off,
                        Token::LockStep => EventBufferControl::LockStep,
                        _ => return Err(Error::new(start, "OFF or LockStep")),
                    });
                }
                Some(_) => return Err(before.error("ServiceStates and Buffer once, or a property")),
                None => {
                    *self = before;
                    state.property_parms.push(self.property_parm()?);
                }
            }
            if !self.more()? {
                return Ok(state);
            }
        }
    }

    pub(super) fn service_state(&mut self) -> Result<ServiceState> {
        const WHAT: &str = "Test, OutOfService or InService";
        let start = self.at;
        Ok(match self.token(WHAT)? {
            Token::Test => ServiceState::Test,
            Token::OutOfService => ServiceState::OutOfSvc,
            Token::InService => ServiceState::InSvc,
            _ => return Err(Error::new(start, WHAT)),
        })
    }

    /// `statisticsDescriptor` behind its token; empty if there is no brace.
    pub(super) fn statistics_descriptor(&mut self) -> Result<Vec<StatisticsParameter<'a>>> {
        let mut statistics = Vec::new();
        if !self.accept(b'{') || self.accept(b'}') {
            return Ok(statistics);
        }
        loop {
            let stat_name = self.pkgd_name()?;
            let stat_value = if self.accept(b'=') { Some(self.value_list()?) } else { None };
            statistics.push(StatisticsParameter { stat_name, stat_value });
            if !self.more()? {
                return Ok(statistics);
            }
        }
    }

    /// `packagesDescriptor` from its brace on.
    pub(super) fn packages_descriptor(&mut self) -> Result<Vec<PackagesItem<'a>>> {
        self.open()?;
        let mut packages = Vec::new();
        loop {
            packages.push(self.packages_item()?);
            if !self.more()? {
                return Ok(packages);
            }
        }
    }

    /// `NAME "-" UINT16`.
    pub(super) fn packages_item(&mut self) -> Result<PackagesItem<'a>> {
        const WHAT: &str = "a package, `-` and its version";
        let start = self.at;
        let word = self.word(WHAT)?;
        let dash = word.iter().position(|&octet| octet == b'-').filter(|&dash| dash > 0);
        let dash = dash.ok_or_else(|| Error::new(start, WHAT))?;
        let version = number(&word[dash + 1..], 99).ok_or_else(|| Error::new(start, WHAT))?;
        Ok(PackagesItem { package_name: Name::borrowed(&word[..dash]), package_version: version as u8 })
    }

    /// `modemDescriptor` behind its token.
    pub(super) fn modem_descriptor(&mut self) -> Result<ModemDescriptor<'a>> {
        let mut modem = ModemDescriptor { mtl: Vec::new(), mpl: Vec::new(), non_standard_data: None };
        if self.accept(b'[') {
            loop {
                modem.mtl.push(self.modem_type()?);
                if !self.accept(b',') {
                    break;
                }
            }
            self.expect(b']', "`,` or `]`")?;
        } else {
            self.equal()?;
            modem.mtl.push(self.modem_type()?);
        }
        if self.accept(b'{') {
            loop {
                modem.mpl.push(self.property_parm()?);
                if !self.more()? {
                    break;
                }
            }
        }
        Ok(modem)
    }

    fn modem_type(&mut self) -> Result<ModemType> {
        let start = self.at;
        let word = self.word("a kind of modem")?;
        Ok(match word.to_ascii_lowercase().as_slice() {
            b"v18" => ModemType::V18,
            b"v22" => ModemType::V22,
            b"v22b" => ModemType::V22bis,
            b"v32" => ModemType::V32,
            b"v32b" => ModemType::V32bis,
            b"v34" => ModemType::V34,
            b"v90" => ModemType::V90,
            b"v91" => ModemType::V91,
            b"sn" | b"synchisdn" => ModemType::SynchIsdn,
            _ => return Err(Error::new(start, "a kind of modem")),
        })
    }
}

/// An octet string with its closing braces as they are.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut octets = text.iter().copied().peekable();
    while let Some(octet) = octets.next() {
        if octet != b'\\' || octets.peek() != Some(&b'}') {
            out.push(octet);
        }
    }
    out
}
