//! Where the packets of a capture went.

use crate::event::Unread;
use crate::time::Time;
use std::collections::BTreeMap;

/// The most reasons that are counted apart.
const REASON_LIMIT: usize = 1024;

/// Counts of packets. Each packet is counted once among the first five, so that their sum is [`Balance::packets`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// Packets that were read.
    pub packets: u64,
    /// Packets that complete a message.
    pub with_pdus: u64,
    /// Packets with a fault and no message.
    pub bad: u64,
    /// Packets whose fragments wait for others.
    pub waiting: u64,
    /// Packets that are not looked into.
    pub unread: u64,
    /// Packets with nothing to look for: acknowledgements, ARP, ICMP.
    pub nothing: u64,

    /// Bytes that the packets had on the network.
    pub octets: u64,
    /// The time of the first packet.
    pub first: Option<Time>,
    /// The time of the last packet.
    pub last: Option<Time>,
    /// Packets by link type, a number of the registry of tcpdump.org.
    pub link_types: BTreeMap<u32, u64>,

    /// Messages.
    pub pdus: u64,
    /// Faults, with those of the file.
    pub faults: u64,
    /// Chunks of SCTP that were sent once more.
    pub retransmitted: u64,
    /// Fragments of IP that overlap others; the octets that came first count.
    pub overlapping: u64,
    /// Packets and messages that were put together of fragments.
    pub reassembled: u64,
    /// Packets and messages given up: they lacked fragments for too long, or the limit of memory was reached.
    pub given_up: u64,
    /// Packets and messages that lacked fragments at the end.
    pub incomplete: u64,
    /// Why packets are not looked into, at most 1024 reasons.
    pub unread_reasons: BTreeMap<Unread, u64>,
}

/// What a packet ends in; the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Nothing,
    Unread,
    Waiting,
    Bad,
    Pdu,
}

impl Balance {
    pub(crate) fn count(&mut self, end: End) {
        self.packets += 1;
        *match end {
            End::Nothing => &mut self.nothing,
            End::Unread => &mut self.unread,
            End::Waiting => &mut self.waiting,
            End::Bad => &mut self.bad,
            End::Pdu => &mut self.with_pdus,
        } += 1;
    }

    pub(crate) fn count_unread(&mut self, reason: Unread) {
        if self.unread_reasons.len() < REASON_LIMIT || self.unread_reasons.contains_key(&reason) {
            *self.unread_reasons.entry(reason).or_default() += 1;
        }
    }

    /// Returns whether each packet is counted once.
    pub fn holds(&self) -> bool {
        self.packets == self.with_pdus + self.bad + self.waiting + self.unread + self.nothing
    }
}
