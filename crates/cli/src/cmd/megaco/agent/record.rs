//! Messages that are received and sent, for other tools: a capture file, and packets to Homer.

use crate::exit::{Failure, Outcome};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use tercet_megaco_engine::driver::{Note, Url};
use tercet_megaco_engine::{Packet, PcapWriter, Route, Transport, write_hep};

/// Where messages go beside their peers.
#[derive(Default)]
pub(in crate::cmd::megaco) struct Record {
    capture: Option<(String, PcapWriter<BufWriter<File>>)>,
    homer: Option<(UdpSocket, SocketAddr)>,
    buffer: Vec<u8>,
}

/// The number of the agent in packets to Homer.
const AGENT: u32 = 2944;

impl Record {
    /// Opens what is asked for.
    pub(in crate::cmd::megaco) fn open(capture: Option<&Path>, homer: Option<&Url>) -> Outcome<Self> {
        let mut record = Self::default();
        if let Some(path) = capture {
            let name = path.display().to_string();
            let writer = File::create(path).and_then(|file| PcapWriter::new(BufWriter::new(file)));
            let writer = writer.map_err(|error| Failure::io(&name, &error))?;
            record.capture = Some((name, writer));
        }
        if let Some(url) = homer {
            if url.transport != Transport::Udp {
                return Err(Failure::usage(format_args!(
                    "unsupported URL `{url}`: packets to Homer go over UDP\nhelp: `--hep udp://HOST:PORT`"
                )));
            }
            let found = || -> io::Result<_> {
                let mut all = (url.host.trim_matches(['[', ']']), url.port).to_socket_addrs()?;
                let missing = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                let address = all.next().ok_or_else(missing)?;
                let any: SocketAddr = match address {
                    SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
                    SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
                };
                let socket = UdpSocket::bind(any)?;
                // A collector that does not read must not hold up the gateway.
                socket.set_nonblocking(true)?;
                Ok((socket, address))
            };
            record.homer = Some(found().map_err(|error| Failure::io(url, &error))?);
        }
        Ok(record)
    }

    /// Returns whether messages are to be noted.
    pub(in crate::cmd::megaco) const fn is_wanted(&self) -> bool {
        self.capture.is_some() || self.homer.is_some()
    }

    /// Takes a message that was received or sent.
    pub(in crate::cmd::megaco) fn note(&mut self, note: &Note) -> Outcome<()> {
        let (route, source, destination, octets) = match note {
            Note::Received { route, local, octets } => (route, route.peer, *local, &**octets),
            Note::Sent { transmit, local } => {
                (&transmit.route, *local, transmit.route.peer, &*transmit.octets)
            }
            _ => return Ok(()),
        };
        let Route { transport, link, .. } = *route;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        self.packet(&Packet { micros, transport, link, source, destination, octets })
    }

    /// Takes the packet of a message.
    pub(in crate::cmd::megaco) fn packet(&mut self, packet: &Packet<'_>) -> Outcome<()> {
        if let Some((name, capture)) = &mut self.capture {
            capture.write(packet).map_err(|error| Failure::io(&*name, &error))?;
        }
        if let Some((socket, address)) = &self.homer {
            self.buffer.clear();
            if write_hep(packet, AGENT, &mut self.buffer) {
                // A collector that is not there loses packets, like any of UDP.
                _ = socket.send_to(&self.buffer, address);
            }
        }
        Ok(())
    }

    /// Hands what is written to the file.
    pub(in crate::cmd::megaco) fn flush(&mut self) -> Outcome<()> {
        match &mut self.capture {
            Some((name, capture)) => capture.flush().map_err(|error| Failure::io(&*name, &error)),
            None => Ok(()),
        }
    }
}
