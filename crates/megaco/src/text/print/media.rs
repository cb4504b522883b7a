//! Media and termination state, statistics, packages, and modems of version 1.

use super::Printer;
use crate::model::{
    EventBufferControl, LocalControlDescriptor, LocalRemoteDescriptor, MediaDescriptor, MediaStreams,
    ModemDescriptor, ModemType, PackagesItem, ServiceState, StatisticsParameter, StreamDescriptor,
    StreamMode, StreamParms, TerminationStateDescriptor,
};
use crate::sdp::Lines;
use crate::text::token::Token;

impl Printer<'_> {
    pub(super) fn media_descriptor(&mut self, media: &MediaDescriptor<'_>) {
        self.token(Token::Media);
        self.open();
        let mut first = true;
        if let Some(state) = &media.term_state_descr {
            self.next(&mut first);
            self.termination_state(state);
        }
        match &media.streams {
            Some(MediaStreams::OneStream(stream)) => self.stream_parms(stream, &mut first),
            Some(MediaStreams::MultiStream(streams)) => {
                for stream in streams {
                    self.next(&mut first);
                    self.stream_descriptor(stream);
                }
            }
            None => {}
        }
        self.close();
    }

    fn stream_descriptor(&mut self, stream: &StreamDescriptor<'_>) {
        self.token(Token::Stream);
        self.equal();
        self.number(u32::from(stream.stream_id));
        self.open();
        self.stream_parms(&stream.stream_parms, &mut true);
        self.close();
    }

    fn stream_parms(&mut self, stream: &StreamParms<'_>, first: &mut bool) {
        if let Some(control) = &stream.local_control_descriptor {
            self.next(first);
            self.local_control(control);
        }
        if let Some(local) = &stream.local_descriptor {
            self.next(first);
            self.local_remote(Token::Local, local);
        }
        if let Some(remote) = &stream.remote_descriptor {
            self.next(first);
            self.local_remote(Token::Remote, remote);
        }
        if let Some(statistics) = &stream.statistics_descriptor {
            if self.version < 3 {
                self.refuse("statistics of a stream are of version 3");
            }
            self.next(first);
            self.statistics_descriptor(statistics);
        }
    }

    fn local_control(&mut self, control: &LocalControlDescriptor<'_>) {
        self.token(Token::LocalControl);
        self.open();
        let mut first = true;
        if let Some(mode) = control.stream_mode {
            self.next(&mut first);
            self.stream_mode(mode);
        }
        for (reserve, token) in
            [(control.reserve_group, Token::ReservedGroup), (control.reserve_value, Token::ReservedValue)]
        {
            if let Some(on) = reserve {
                self.next(&mut first);
                self.token(token);
                self.equal();
                self.token(if on { Token::On } else { Token::Off });
            }
        }
        for property in &control.property_parms {
            self.next(&mut first);
            self.property_parm(property);
        }
        if first {
            self.refuse("a local control descriptor with a parameter");
        }
        self.close();
    }

    pub(super) fn stream_mode(&mut self, mode: StreamMode) {
        self.token(Token::Mode);
        self.equal();
        self.token(match mode {
            StreamMode::SendOnly => Token::SendOnly,
            StreamMode::RecvOnly => Token::ReceiveOnly,
            StreamMode::SendRecv => Token::SendReceive,
            StreamMode::Inactive => Token::Inactive,
            StreamMode::LoopBack => Token::Loopback,
        });
    }

    /// Lines of SDP, each with CR LF.
    fn local_remote(&mut self, token: Token, descriptor: &LocalRemoteDescriptor<'_>) {
        self.token(token);
        self.open_here();
        match descriptor {
            LocalRemoteDescriptor::Text(text) => {
                if !text.is_empty() {
                    self.octet(b'\n');
                }
                for line in Lines::new(text) {
                    self.sdp_line(line.name, line.value);
                }
            }
            LocalRemoteDescriptor::Groups(groups) => {
                for (index, group) in groups.iter().enumerate() {
                    if index == 0 {
                        self.octet(b'\n');
                    } else if group.first().is_none_or(|first| first.name != "v") {
                        self.refuse("session descriptions that begin with a version");
                    }
                    for property in group {
                        match (&property.value[..], property.extra_info) {
                            ([value], None) => self.sdp_line(&property.name, value),
                            _ => self.refuse("one value for each line of a session description"),
                        }
                    }
                }
            }
        }
        if self.pretty {
            self.new_line();
        }
        self.octet(b'}');
    }

    #[inline(always)]
    fn sdp_line(&mut self, name: &[u8], value: &[u8]) {
        if value.iter().any(|octet| matches!(octet, b'\r' | b'\n' | 0)) {
            self.refuse("lines of a session description without line ends in them");
        }
        self.raw(name);
        self.octet(b'=');
        let mut rest = value;
        while let Some(brace) = memchr::memchr(b'}', rest) {
            self.raw(&rest[..brace]);
            self.raw(b"\\}");
            rest = &rest[brace + 1..];
        }
        self.raw(rest);
        self.raw(b"\r\n");
    }

    fn termination_state(&mut self, state: &TerminationStateDescriptor<'_>) {
        self.token(Token::TerminationState);
        self.open();
        let mut first = true;
        for property in &state.property_parms {
            self.next(&mut first);
            self.property_parm(property);
        }
        if let Some(control) = state.event_buffer_control {
            self.next(&mut first);
            self.token(Token::Buffer);
            self.equal();
            self.token(match control {
                EventBufferControl::Off => Token::Off,
                EventBufferControl::LockStep => Token::LockStep,
            });
        }
        if let Some(service) = state.service_state {
            self.next(&mut first);
            self.service_state(service);
        }
        self.close();
    }

    pub(super) fn service_state(&mut self, state: ServiceState) {
        self.token(Token::ServiceStates);
        self.equal();
        self.token(match state {
            ServiceState::Test => Token::Test,
            ServiceState::OutOfSvc => Token::OutOfService,
            ServiceState::InSvc => Token::InService,
        });
    }

    pub(super) fn statistics_descriptor(&mut self, statistics: &[StatisticsParameter<'_>]) {
        self.token(Token::Statistics);
        if statistics.is_empty() {
            return;
        }
        self.open();
        self.list(statistics, |p, statistic| {
            p.name(&statistic.stat_name);
            match statistic.stat_value.as_deref() {
                None => {}
                Some([value]) => {
                    p.equal();
                    p.value(value);
                }
                Some(values) => {
                    p.equal();
                    p.octet(b'[');
                    p.list(values, |p, value| p.value(value));
                    p.octet(b']');
                }
            }
        });
        self.close();
    }

    pub(super) fn packages_descriptor(&mut self, packages: &[PackagesItem<'_>]) {
        self.token(Token::Packages);
        self.open();
        self.list(packages, |p, item| p.packages_item(&item.package_name, item.package_version));
        self.close();
    }

    pub(super) fn packages_item(&mut self, name: &crate::octets::Name<'_>, version: u8) {
        self.name(name);
        self.octet(b'-');
        self.number(u32::from(version));
    }

    pub(super) fn modem_descriptor(&mut self, modem: &ModemDescriptor<'_>) {
        if self.version > 1 {
            self.refuse("modems are of version 1 alone");
        }
        self.token(Token::Modem);
        match (&modem.mtl[..], modem.mpl.is_empty()) {
            ([modem], true) => {
                self.equal();
                self.modem_type(*modem);
            }
            _ => {
                self.octet(b'[');
                self.list(&modem.mtl, |p, modem| p.modem_type(*modem));
                self.octet(b']');
            }
        }
        if !modem.mpl.is_empty() {
            self.open();
            self.list(&modem.mpl, Self::property_parm);
            self.close();
        }
    }

    fn modem_type(&mut self, modem: ModemType) {
        let is_pretty = self.pretty;
        self.raw(match modem {
            ModemType::V18 => b"V18",
            ModemType::V22 => b"V22",
            ModemType::V22bis => b"V22b",
            ModemType::V32 => b"V32",
            ModemType::V32bis => b"V32b",
            ModemType::V34 => b"V34",
            ModemType::V90 => b"V90",
            ModemType::V91 => b"V91",
            ModemType::SynchIsdn if is_pretty => b"SynchISDN",
            ModemType::SynchIsdn => b"SN".as_slice(),
        });
    }
}
