//! The addresses of listeners and peers as text.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;

use crate::route::Transport;

/// Where to listen, or whom to connect to: `udp://HOST:PORT`, `tcp://HOST:PORT` or `tls://HOST:PORT`. Without a port it is 2944.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The transport.
    pub transport: Transport,
    /// A name or an address; one of IP version 6 is between brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The port of text encodings (H.248.1 D.1.1, D.2).
const TEXT_PORT: u16 = 2944;

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT";
        let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
        let transport = match scheme {
            "udp" => Transport::Udp,
            "tcp" => Transport::Tcp,
            "tls" => Transport::Tls,
            // Its sockets are not reached without unsafe code, and few kernels have them.
            "sctp" => return Err("SCTP is not supported; use udp://, tcp:// or tls://"),
            _ => return Err(EXPECTED),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| EXPECTED)?),
            _ => (rest, TEXT_PORT),
        };
        let is_plain = |host: &str| !host.is_empty() && !host.contains(['/', '[', ']', ':']);
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        match inner {
            Some(inner) if inner.parse::<std::net::Ipv6Addr>().is_ok() => {}
            None if is_plain(host) => {}
            _ => return Err(EXPECTED),
        }
        Ok(Self { transport, host: host.to_owned(), port })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.transport.name(), self.host, self.port)
    }
}

impl Url {
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
        ] {
            assert_eq!(text.parse::<Url>().map(|url| url.to_string()).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "udp:127.0.0.1:1",
            "http://a:1",
            "sctp://127.0.0.1:2944",
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
