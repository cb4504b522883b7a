//! Cookies: what an endpoint knows about a peer that has not shown its address yet, signed, kept by the peer (RFC 9260 5.1.3).

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::keyed::Secret;
use super::packet::Init;

/// How long a cookie may take (Valid.Cookie.Life).
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// The octets of a cookie: fields and signature.
const LENGTH: usize = FIELDS + 8;
const FIELDS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    /// In microseconds.
    pub(super) created: u64,
    pub(super) own_tag: u32,
    pub(super) own_first: u32,
    pub(super) peer_tag: u32,
    pub(super) peer_first: u32,
    pub(super) peer_window: u32,
    pub(super) own_port: u16,
    pub(super) peer_port: u16,
    /// The association that there was when the cookie was made; zero without one.
    pub(super) tie: u64,
}

impl Cookie {
    fn fields(&self) -> Vec<u8> {
        let words = [self.own_tag, self.own_first, self.peer_tag, self.peer_first, self.peer_window];
        let mut octets = Vec::with_capacity(LENGTH);
        octets.extend_from_slice(&self.created.to_be_bytes());
        octets.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        octets.extend_from_slice(&self.tie.to_be_bytes());
        octets.extend_from_slice(&self.own_port.to_be_bytes());
        octets.extend_from_slice(&self.peer_port.to_be_bytes());
        octets
    }

    /// The octets that the peer keeps. They are of use only from its address.
    pub(super) fn sign(&self, secret: &Secret, peer: SocketAddr) -> Vec<u8> {
        let mut octets = self.fields();
        let signature = signature(secret, peer, &octets);
        octets.extend_from_slice(&signature.to_be_bytes());
        octets
    }

    /// Reads a cookie that was made here for this peer.
    pub(super) fn read(secret: &Secret, peer: SocketAddr, octets: &[u8]) -> Option<Self> {
        let (fields, signed) = octets.split_at_checked(FIELDS)?;
        if signed != signature(secret, peer, fields).to_be_bytes() {
            return None;
        }
        let word =
            |at: usize| u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        let (created, ports) = (long(0), word(36));
        Some(Self {
            created,
            own_tag: word(8),
            own_first: word(12),
            peer_tag: word(16),
            peer_first: word(20),
            peer_window: word(24),
            tie: long(28),
            own_port: (ports >> 16) as u16,
            peer_port: ports as u16,
        })
    }

    /// What the peer's INIT has said.
    pub(super) const fn init(&self) -> Init<'static> {
        let (tag, tsn, window) = (self.peer_tag, self.peer_first, self.peer_window);
        Init { tag, tsn, window, outbound: 1, inbound: 1, parameters: &[] }
    }
}

fn signature(secret: &Secret, peer: SocketAddr, fields: &[u8]) -> u64 {
    let mut all = fields.to_vec();
    match peer.ip() {
        IpAddr::V4(ip) => all.extend_from_slice(&ip.octets()),
        IpAddr::V6(ip) => all.extend_from_slice(&ip.octets()),
    }
    all.extend_from_slice(&peer.port().to_be_bytes());
    all.extend_from_slice(b"cookie");
    secret.hash(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_of_use_only_to_their_peer() {
        let secret = Secret::new([1, 2]);
        let peer: SocketAddr = "192.0.2.1:9899".parse().unwrap();
        let cookie = Cookie {
            created: 1 << 40 | 2,
            own_tag: 3,
            own_first: 4,
            peer_tag: 5,
            peer_first: 6,
            peer_window: 7,
            own_port: 8,
            peer_port: 9,
            tie: 10,
        };
        let octets = cookie.sign(&secret, peer);
        assert_eq!(octets.len(), LENGTH);
        assert_eq!(Cookie::read(&secret, peer, &octets), Some(cookie));
        assert_eq!(Cookie::read(&Secret::new([1, 3]), peer, &octets), None);
        assert_eq!(Cookie::read(&secret, "192.0.2.1:9898".parse().unwrap(), &octets), None);
        for at in 0..LENGTH {
            let mut damaged = octets.clone();
            damaged[at] ^= 1;
            assert_eq!(Cookie::read(&secret, peer, &damaged), None);
            assert_eq!(Cookie::read(&secret, peer, &octets[..at]), None);
        }
    }
}
