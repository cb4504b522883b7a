//! The addresses of listeners and peers as text.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::route::Transport;

/// Where to listen, or whom to connect to: `udp://HOST:PORT`, `tcp://HOST:PORT`, `tls://HOST:PORT` or `sctp://HOST:PORT`. Without
/// a port it is 2944.
///
/// SCTP goes over UDP (RFC 6951). The port of the URL is that of SCTP; that of UDP is 9899, or what `?udp=PORT` at the end says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The transport.
    pub transport: Transport,
    /// A name or an address; one of IP version 6 is between brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The port of UDP that SCTP goes over; other transports do not look at it.
    pub udp: u16,
}

/// The port of text encodings (H.248.1 D.1.1, D.2).
const TEXT_PORT: u16 = 2944;
/// The port of UDP for SCTP (RFC 6951 5.1).
const SCTP_OVER_UDP: u16 = 9899;

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or sctp://HOST:PORT";
        let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
        let transport = match scheme {
            "udp" => Transport::Udp,
            "tcp" => Transport::Tcp,
            "tls" => Transport::Tls,
            "sctp" => Transport::Sctp,
            _ => return Err(EXPECTED),
        };
        let (rest, udp) = match rest.split_once("?udp=") {
            Some((rest, udp)) if transport == Transport::Sctp => (rest, udp.parse().map_err(|_| EXPECTED)?),
            _ => (rest, SCTP_OVER_UDP),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| EXPECTED)?),
            _ => (rest, TEXT_PORT),
        };
        let is_plain = |host: &str| !host.is_empty() && !host.contains(['/', '[', ']', ':', '?']);
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        match inner {
            Some(inner) if inner.parse::<std::net::Ipv6Addr>().is_ok() => {}
            None if is_plain(host) => {}
            _ => return Err(EXPECTED),
        }
        Ok(Self { transport, host: host.to_owned(), port, udp })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.transport.name(), self.host, self.port)?;
        if self.transport == Transport::Sctp && self.udp != SCTP_OVER_UDP {
            write!(f, "?udp={}", self.udp)?;
        }
        Ok(())
    }
}

impl Url {
    /// The URL of an address that was taken: of SCTP its ports there and of UDP.
    pub(super) fn of(transport: Transport, address: SocketAddr, udp: u16) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Self { transport, host, port: address.port(), udp }
    }

    pub(super) async fn resolve(&self) -> io::Result<SocketAddr> {
        let mut found = tokio::net::lookup_host((self.host.trim_matches(['[', ']']), self.port)).await?;
        found.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (text, expected) in [
            ("udp://127.0.0.1:0", "udp://127.0.0.1:0"),
            ("tcp://[::1]:2945", "tcp://[::1]:2945"),
            ("tls://mgc.example", "tls://mgc.example:2944"),
            ("udp://[::1]", "udp://[::1]:2944"),
            ("sctp://mgc.example", "sctp://mgc.example:2944"),
            ("sctp://127.0.0.1:2945?udp=9899", "sctp://127.0.0.1:2945"),
            ("sctp://[::1]:2945?udp=0", "sctp://[::1]:2945?udp=0"),
            ("sctp://[::1]/?udp=1", "sctp://[::1]:2944?udp=1"),
        ] {
            assert_eq!(text.parse::<Url>().map(|url| url.to_string()).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "udp:127.0.0.1:1",
            "http://a:1",
            "sctp://127.0.0.1:2944?udp=",
            "sctp://127.0.0.1:2944?udp=65536",
            "sctp://127.0.0.1:2944?tcp=1",
            "udp://127.0.0.1:2944?udp=1",
            "udp://",
            "udp://:1",
            "udp://a:b",
            "udp://a:1:2",
            "udp://[a]:1",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }
}
