//! Sending, alone and together: requests and acknowledgements of a connection are gathered, and leave in one message when
//! their time is over, when there are enough of them, or when something is sent that cannot wait.

use std::sync::Arc;

use tercet_megaco::List;
use tercet_megaco::model::{Transaction, TransactionAck};

use super::{Due, Engine};
use crate::event::{Origin, Transmit};
use crate::route::Route;
use crate::wheel::TimerId;
use crate::wire::Dialect;

/// What is gathered for a connection.
#[derive(Debug)]
pub(super) struct Gather {
    /// Requests, in their order.
    requests: Vec<u32>,
    /// Their octets.
    octets: usize,
    /// Ids of replies to acknowledge.
    acks: Vec<u32>,
    timer: TimerId,
}

impl Engine {
    /// How messages of a connection are written.
    pub(super) fn dialect(&self, conn: u32) -> Dialect {
        self.conns
            .get(conn)
            .map_or(Dialect { encoding: tercet_megaco::codec::Encoding::Pretty, version: 1 }, |conn| {
                Dialect { encoding: conn.encoding, version: conn.version }
            })
    }

    /// The octets of the largest message that a connection sends by a route.
    pub(super) fn max_message(&self, conn: u32, route: Option<Route>) -> usize {
        let transport = route.map_or(usize::MAX, |route| route.transport.max_message());
        let pdu = self.conns.get(conn).and_then(|conn| conn.items.max_pdu_size.get());
        transport.min(pdu.map_or(usize::MAX, |pdu| pdu as usize))
    }

    /// The octets of the largest message of several transactions.
    fn max_gathered(&self, conn: u32, route: Option<Route>) -> usize {
        let size = self.conns.get(conn).map_or(0, |conn| conn.items.trans_req_maxsize as usize);
        self.max_message(conn, route).min(size)
    }

    /// Puts a message on its way.
    pub(super) fn transmit(
        &mut self,
        conn: Option<u32>,
        route: Route,
        octets: Arc<[u8]>,
        origins: List<Origin>,
        is_resend: bool,
    ) {
        let length = octets.len() as u64;
        self.count(conn, |counters| {
            counters.out_messages += 1;
            counters.out_octets += length;
        });
        let conn = conn.map(|index| self.conn_id(index));
        self.transmits.push_back(Transmit { route, octets, is_resend, origins, conn });
    }

    /// Encodes a transaction as a message of a connection, and sends it with what is gathered.
    ///
    /// Returns the message of the transaction alone; `None` if it cannot be encoded.
    pub(super) fn send_at_once(
        &mut self,
        conn: u32,
        route: Route,
        dialect: Dialect,
        transaction: Transaction<'_>,
        origin: Option<Origin>,
    ) -> Option<Arc<[u8]>> {
        let user = self.conns.get(conn)?.user as usize;
        let mid = &self.users.get(user)?.mid;
        let origins = origin.map_or_else(List::new, List::One);
        if !self.goes_along(conn, route, dialect) {
            let transactions = List::One(transaction);
            let octets = dialect.message(&self.registry, mid, transactions, &mut self.scratch).ok()?;
            self.transmit(Some(conn), route, Arc::clone(&octets), origins, false);
            return Some(octets);
        }
        let piece = dialect.piece(&self.registry, mid, transaction).ok()?;
        let alone: Arc<[u8]> = dialect.join(&self.registry, mid, &[&piece]).ok()?.into();
        if !self.flush_with(conn, Some((&piece, &origins))) {
            self.flush(conn);
            self.transmit(Some(conn), route, Arc::clone(&alone), origins, false);
        }
        Some(alone)
    }

    /// Whether something is gathered that can go with a message.
    fn goes_along(&self, conn: u32, route: Route, dialect: Dialect) -> bool {
        self.conns.get(conn).is_some_and(|conn| {
            conn.gather.is_some()
                && conn.route == Some(route)
                && dialect == Dialect { encoding: conn.encoding, version: conn.version }
        })
    }

    /// Gathers a request, or sends it if it is not to be gathered. Its octets are there as a piece.
    pub(super) fn gather_request(&mut self, conn: u32, request: u32) {
        let Some(length) = self.requests.get(request).and_then(|request| request.piece_length()) else {
            return self.send_request(request, false);
        };
        let Some(found) = self.conns.get(conn) else { return };
        let route = found.route;
        let overhead = self.overhead(conn);
        let max = self.max_gathered(conn, route);
        let gathered = found.gather.as_ref().map_or(0, |gather| gather.octets + ack_octets(&gather.acks));
        if overhead + gathered + length > max {
            // What is gathered goes first, so that the order stays.
            self.flush(conn);
        }
        if overhead + length >= max {
            return self.send_request(request, false);
        }
        let gather = self.gather(conn);
        gather.requests.push(request);
        gather.octets += length;
        let is_full =
            gather.requests.len() >= self.conns.get(conn).map_or(0, |c| c.items.trans_req_maxcount as usize);
        if let Some(request) = self.requests.get_mut(request) {
            request.is_gathered = true;
        }
        if is_full {
            self.flush(conn);
        }
    }

    /// Acknowledges a reply: at once, or with others.
    pub(super) fn acknowledge(&mut self, conn: u32, route: Route, id: u32, at_once: bool) {
        self.count(Some(conn), |counters| counters.acks_sent += 1);
        let Some(found) = self.conns.get(conn) else { return };
        let gathers = found.items.trans_ack && found.items.gathers();
        let same_route = found.route == Some(route);
        if same_route && (found.gather.is_some() || (gathers && !at_once)) {
            let max = found.items.trans_ack_maxcount as usize;
            let gather = self.gather(conn);
            gather.acks.push(id);
            if at_once || gather.acks.len() >= max {
                self.flush(conn);
            }
            return;
        }
        let dialect = self.dialect(conn);
        let ack = TransactionAck { first_ack: id, last_ack: None };
        self.send_at_once(conn, route, dialect, Transaction::TransactionResponseAck(List::One(ack)), None);
    }

    /// Sends what is gathered.
    pub(super) fn flush(&mut self, conn: u32) {
        while !self.flush_with(conn, None) {}
    }

    /// Sends what is gathered, with one more piece if there is room for it; otherwise nothing is sent.
    ///
    /// Without a piece as much is sent as there is room for. Returns whether nothing is left.
    fn flush_with(&mut self, conn: u32, last: Option<(&[u8], &List<Origin>)>) -> bool {
        let Some(found) = self.conns.get_mut(conn) else { return true };
        let Some(mut gather) = found.gather.take() else { return true };
        let route = found.route;
        let max = self.max_gathered(conn, route);
        let dialect = self.dialect(conn);
        let mid = match self.conns.get(conn).and_then(|conn| self.users.get(conn.user as usize)) {
            Some(user) => &user.mid,
            None => return true,
        };
        let mut pieces: Vec<&[u8]> = Vec::new();
        let ack = if gather.acks.is_empty() {
            None
        } else {
            dialect.piece(&self.registry, mid, Transaction::TransactionResponseAck(ranges(&gather.acks))).ok()
        };
        pieces.extend(ack.as_deref());
        let last_octets = last.map_or(0, |(piece, _)| piece.len());
        let mut size = dialect.overhead(mid) + ack.as_ref().map_or(0, Vec::len) + last_octets;
        let mut origins = List::new();
        let mut sent = 0;
        for &index in &gather.requests {
            let Some(piece) = self.requests.get(index).and_then(|request| request.piece()) else {
                sent += 1;
                continue;
            };
            if size + piece.len() > max && !pieces.is_empty() {
                break;
            }
            size += piece.len();
            pieces.push(piece);
            origins.push(Origin::Request(self.request_id(index)));
            sent += 1;
        }
        if let Some((piece, of)) = last {
            if size > max || sent < gather.requests.len() {
                if let Some(found) = self.conns.get_mut(conn) {
                    found.gather = Some(gather);
                }
                return false;
            }
            pieces.push(piece);
            of.iter().for_each(|&origin| origins.push(origin));
        }
        let octets = if pieces.is_empty() { None } else { dialect.join(&self.registry, mid, &pieces).ok() };
        let rest = gather.requests.split_off(sent);
        for index in gather.requests {
            if let Some(request) = self.requests.get_mut(index) {
                request.is_gathered = false;
            }
        }
        if let (Some(octets), Some(route)) = (octets, route) {
            self.transmit(Some(conn), route, octets.into(), origins, false);
        }
        if rest.is_empty() {
            self.wheel.stop(&mut gather.timer);
            return true;
        }
        let octets = rest.iter().filter_map(|&index| self.requests.get(index)?.piece_length()).sum();
        let gather = Gather { requests: rest, octets, acks: Vec::new(), timer: gather.timer };
        if let Some(found) = self.conns.get_mut(conn) {
            found.gather = Some(Box::new(gather));
        }
        false
    }

    /// Takes a request out of what is gathered.
    pub(super) fn forget_gathered(&mut self, conn: u32, request: u32, length: usize) {
        let Some(found) = self.conns.get_mut(conn) else { return };
        let Some(gather) = &mut found.gather else { return };
        gather.requests.retain(|&index| index != request);
        gather.octets = gather.octets.saturating_sub(length);
        if gather.requests.is_empty() && gather.acks.is_empty() {
            self.wheel.stop(&mut gather.timer);
            found.gather = None;
        }
    }

    /// What is gathered; its timer starts with the first thing.
    fn gather(&mut self, conn: u32) -> &mut Gather {
        let Some(found) = self.conns.get_mut(conn) else { unreachable!("a connection that is there") };
        let wait = found.items.trans_timer.as_millis();
        let (now, wheel) = (self.now, &mut self.wheel);
        found.gather.get_or_insert_with(|| {
            let timer = wait.map_or(TimerId::NONE, |wait| wheel.start(now, wait.into(), Due::Flush(conn)));
            Box::new(Gather { requests: Vec::new(), octets: 0, acks: Vec::new(), timer })
        })
    }

    pub(super) fn overhead(&self, conn: u32) -> usize {
        let user = self.conns.get(conn).and_then(|conn| self.users.get(conn.user as usize));
        user.map_or(0, |user| self.dialect(conn).overhead(&user.mid))
    }
}

/// Sorted ranges without gaps.
fn ranges(ids: &[u32]) -> List<TransactionAck> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut all: Vec<TransactionAck> = Vec::new();
    for id in ids {
        match all.last_mut() {
            Some(range) if range.last_ack.unwrap_or(range.first_ack).checked_add(1) == Some(id) => {
                range.last_ack = Some(id);
            }
            _ => all.push(TransactionAck { first_ack: id, last_ack: None }),
        }
    }
    all.into()
}

/// The octets of acknowledgements, at most: ten digits and a separator each.
const fn ack_octets(acks: &[u32]) -> usize {
    if acks.is_empty() { 0 } else { acks.len() * 12 + 24 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_as_ranges() {
        let text = |ids: &[u32]| -> Vec<(u32, Option<u32>)> {
            ranges(ids).iter().map(|range| (range.first_ack, range.last_ack)).collect()
        };
        assert_eq!(text(&[3, 1, 2, 7, 5, 2]), [(1, Some(3)), (5, None), (7, None)]);
        assert_eq!(text(&[u32::MAX, 0, u32::MAX - 1]), [(0, None), (u32::MAX - 1, Some(u32::MAX))]);
    }
}
