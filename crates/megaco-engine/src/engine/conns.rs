//! The table of connections: how they are found, begin, move and end.

use std::sync::Arc;
use std::time::Duration;

use tercet_megaco::codec::Encoding;
use tercet_megaco::model::MId;

use super::{Conn, Due, Engine, Error, State};
use crate::counters::Counters;
use crate::event::{ConnId, Event};
use crate::items::Encode;
use crate::route::{Route, Transport};
use crate::slab::Chain;
use crate::wheel::TimerId;
use crate::wire;

/// The time between two looks at connections that may be forged.
const SWEEP: Duration = Duration::from_secs(1);

impl Engine {
    pub(super) fn find_mid(&mut self, user: u32, mid: &MId<'_>) -> Option<u32> {
        write_key(&mut self.key, user, mid);
        self.by_mid.get(&*self.key).copied()
    }

    pub(super) fn add_conn(
        &mut self,
        user: u32,
        mid: Option<MId<'_>>,
        route: Option<Route>,
        state: State,
    ) -> Result<u32, Error> {
        if self.conns.len() >= self.limits.connections && !self.evict_unproven() {
            return Err(Error::LimitReached("connections"));
        }
        let Some(found) = self.users.get_mut(user as usize) else { return Err(Error::NoSuchUser) };
        found.active += 1;
        let items = Arc::clone(&found.items);
        let encoding = match items.encoding {
            Encode::As(encoding) => encoding,
            Encode::Auto => Encoding::Compact,
        };
        let mid_text = mid.as_ref().map_or_else(|| "preliminary".into(), |mid| wire::mid_text(mid).into());
        let index = self.conns.insert(Conn {
            user,
            mid: mid.map(wire::into_owned),
            mid_text,
            state,
            route,
            version: items.protocol_version,
            items,
            encoding,
            is_registering: false,
            is_full: false,
            held: None,
            requests: Chain::EMPTY,
            responses: Chain::EMPTY,
            gather: None,
            idle: TimerId::NONE,
            is_unproven: false,
            is_registered: false,
            last_input: self.now,
            counters: Counters::default(),
        });
        self.index_mid(index);
        self.enter_stream(index, route);
        self.start_idle(index);
        Ok(index)
    }

    /// Makes a connection known by its mid.
    pub(super) fn index_mid(&mut self, index: u32) {
        let Some(Conn { user, mid: Some(mid), .. }) = self.conns.get(index) else { return };
        write_key(&mut self.key, *user, mid);
        self.by_mid.insert(self.key.as_slice().into(), index);
    }

    /// Opens a connection again of which something is remembered.
    pub(super) fn reconnect(&mut self, index: u32, route: Option<Route>) {
        if let Some(conn) = self.conns.get_mut(index) {
            conn.state = State::Connected;
            conn.is_registering = false;
            let (user, items) = (conn.user, self.users.get(conn.user as usize).map(|u| Arc::clone(&u.items)));
            if let Some(items) = items {
                conn.version = items.protocol_version;
                conn.items = items;
            }
            if let Some(user) = self.users.get_mut(user as usize) {
                user.active += 1;
            }
        }
        self.move_to(index, route);
        self.start_idle(index);
    }

    /// Gives a preliminary connection the mid of its peer. What was remembered of that peer moves along.
    pub(super) fn name_conn(&mut self, index: u32, mid: &MId<'_>) {
        let Some(conn) = self.conns.get_mut(index) else { return };
        let user = conn.user;
        if let Some(route) = conn.route {
            self.preliminary.remove(&(user, route));
        }
        let old = self.find_mid(user, mid);
        if let Some(conn) = self.conns.get_mut(index) {
            conn.mid_text = wire::mid_text(mid).into();
            conn.mid = Some(wire::into_owned(wire::borrow(mid)));
        }
        if let Some(old) = old {
            self.absorb(old, index);
        }
        self.index_mid(index);
    }

    /// Moves the transactions and the counters of one connection to another, and frees it.
    pub(super) fn absorb(&mut self, old: u32, new: u32) {
        self.flush(old);
        self.absorb_requests(old, new);
        self.absorb_responses(old, new);
        let Some(mut gone) = self.conns.remove(old) else { return };
        self.leave_stream(old, gone.route);
        self.wheel.stop(&mut gone.idle);
        if gone.state != State::Disconnected
            && let Some(user) = self.users.get_mut(gone.user as usize)
        {
            user.active -= 1;
        }
        if let Some(conn) = self.conns.get_mut(new) {
            conn.counters.merge(&gone.counters);
        }
    }

    /// Changes the route of a connection.
    pub(super) fn move_to(&mut self, index: u32, route: Option<Route>) {
        let Some(conn) = self.conns.get_mut(index) else { return };
        let old = std::mem::replace(&mut conn.route, route);
        let (user, is_preliminary) = (conn.user, conn.mid.is_none());
        self.leave_stream(index, old);
        self.enter_stream(index, route);
        if is_preliminary {
            if let Some(old) = old {
                self.preliminary.remove(&(user, old));
            }
            if let Some(route) = route {
                self.preliminary.insert((user, route), index);
            }
        }
    }

    pub(super) fn end_conn(&mut self, index: u32, reason: &str) {
        let id = self.conn_id(index);
        let Some(conn) = self.conns.get_mut(index) else { return };
        conn.state = State::Disconnected;
        conn.held = None;
        let mut idle = std::mem::replace(&mut conn.idle, TimerId::NONE);
        (conn.is_unproven, conn.is_registered) = (false, false);
        let (user, remote_mid) = (conn.user, Arc::clone(&conn.mid_text));
        self.wheel.stop(&mut idle);
        if let Some(user) = self.users.get_mut(user as usize) {
            user.active -= 1;
        }
        self.events.push_back(Event::Disconnect { conn: id, remote_mid, reason: reason.to_owned() });
        self.free_if_unused(index);
    }

    /// Forgets a connection that has ended and of which nothing is remembered.
    pub(super) fn free_if_unused(&mut self, index: u32) {
        let Some(conn) = self.conns.get(index) else { return };
        if conn.state != State::Disconnected || !conn.requests.is_empty() || !conn.responses.is_empty() {
            return;
        }
        let (user, route) = (conn.user, conn.route);
        match (&conn.mid, route) {
            (Some(mid), _) => {
                write_key(&mut self.key, user, mid);
                self.by_mid.remove(&*self.key);
            }
            (None, Some(route)) => {
                self.preliminary.remove(&(user, route));
            }
            (None, None) => {}
        }
        self.conns.remove(index);
        self.leave_stream(index, route);
    }

    /// Notes that a connection sends by a stream. Datagrams share a socket, which is not closed by a peer.
    pub(super) fn enter_stream(&mut self, index: u32, route: Option<Route>) {
        if let Some(route) = route.filter(|route| route.transport != Transport::Udp) {
            self.by_stream.entry((route.transport, route.link)).or_default().insert(index);
        }
    }

    pub(super) fn leave_stream(&mut self, index: u32, route: Option<Route>) {
        let Some(route) = route else { return };
        let key = (route.transport, route.link);
        if let Some(conns) = self.by_stream.get_mut(&key) {
            conns.remove(&index);
            if conns.is_empty() {
                self.by_stream.remove(&key);
            }
        }
    }

    /// Watches a connection that a datagram began: its sender may be forged.
    pub(super) fn watch_unproven(&mut self, index: u32, route: Route) {
        if !route.transport.may_be_spoofed() {
            return;
        }
        if let Some(conn) = self.conns.get_mut(index) {
            conn.is_unproven = true;
        }
        if self.unproven.len() > 2 * self.conns.len() + 64 {
            let mut all = std::mem::take(&mut self.unproven);
            all.retain(|&id| self.is_unproven(id));
            self.unproven = all;
        }
        self.unproven.push_back(self.conn_id(index));
    }

    fn is_unproven(&self, id: ConnId) -> bool {
        self.conns.is_current(id.index, id.generation)
            && self.conns.get(id.index).is_some_and(|conn| conn.is_unproven)
    }

    /// The peer has answered something that it was sent.
    pub(super) fn proven(&mut self, index: u32) {
        if let Some(conn) = self.conns.get_mut(index) {
            conn.is_unproven = false;
        }
    }

    /// Ends connections that have been silent and may be forged. A registration holds until its room is needed.
    pub(super) fn sweep_unproven(&mut self) {
        if self.now < self.next_sweep || self.unproven.is_empty() {
            return;
        }
        self.next_sweep = self.now.after(SWEEP);
        // Each sweep looks at a share, so that none takes long.
        for _ in 0..self.unproven.len().min(1 + self.unproven.len() / 16) {
            let Some(id) = self.unproven.pop_front() else { return };
            let Some(conn) = self.conns.get(id.index).filter(|_| self.is_unproven(id)) else { continue };
            let limit = conn.items.unproven_timer.as_millis().map_or(u128::MAX, u128::from);
            let is_silent = self.now.since(conn.last_input).as_millis() >= limit;
            if is_silent && !conn.is_registered && conn.requests.is_empty() {
                self.end_conn(id.index, "nothing was received for long");
            } else {
                self.unproven.push_back(id);
            }
        }
    }

    /// Makes room for a connection: the oldest one that may be forged ends, with what is remembered of it. Returns whether there
    /// was one.
    fn evict_unproven(&mut self) -> bool {
        while let Some(id) = self.unproven.pop_front() {
            if !self.is_unproven(id) {
                continue;
            }
            self.end_conn(id.index, "room for another connection");
            if self.conns.is_current(id.index, id.generation) {
                self.cancel_requests(id.index);
                self.forget_all(id.index);
                self.free_if_unused(id.index);
            }
            return true;
        }
        false
    }

    pub(super) fn start_idle(&mut self, index: u32) {
        let Some(conn) = self.conns.get_mut(index) else { return };
        self.wheel.stop(&mut conn.idle);
        if let Some(millis) = conn.items.idle_timer.as_millis() {
            conn.idle = self.wheel.start(self.now, millis.into(), Due::Idle(index));
        }
    }

    /// Inputs only note their time: the timer starts again here for what is left.
    pub(super) fn idle_expired(&mut self, index: u32) {
        let id = self.conn_id(index);
        let Some(conn) = self.conns.get_mut(index) else { return };
        conn.idle = TimerId::NONE;
        let Some(millis) = conn.items.idle_timer.as_millis() else { return };
        let silent = u64::try_from(self.now.since(conn.last_input).as_millis()).unwrap_or(u64::MAX);
        let left = match u64::from(millis).checked_sub(silent) {
            None | Some(0) => {
                self.events.push_back(Event::Idle { conn: id });
                u64::from(millis)
            }
            Some(left) => left,
        };
        conn.idle = self.wheel.start(self.now, left, Due::Idle(index));
    }
}

/// Writes what a connection is found by: its user and its remote mid.
fn write_key(key: &mut Vec<u8>, user: u32, mid: &MId<'_>) {
    key.clear();
    key.extend_from_slice(&user.to_be_bytes());
    wire::mid_key(mid, key);
}
