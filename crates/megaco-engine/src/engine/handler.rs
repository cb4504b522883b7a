//! The calls by which a user takes what happens, in the manner of the callbacks of Erlang/OTP's megaco application.

use tercet_megaco::model::{ActionReply, ActionRequest};

use super::Engine;
use crate::event::{AckStatus, ConnId, Event, Outcome, RequestId, Token, Unexpected};
use crate::route::Route;
use crate::time::Time;

/// A new request of a message that has just arrived, decoded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Asked<'r, 'a> {
    /// The connection.
    pub conn: ConnId,
    /// The version of the message.
    pub version: u8,
    /// Where the message came from.
    pub route: Route,
    /// By which the request is answered.
    pub token: Token,
    /// The transaction id.
    pub transaction: u32,
    /// The actions.
    pub actions: &'r [ActionRequest<'a>],
}

/// A reply in one piece, decoded: the end of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Replied<'r, 'a> {
    /// The connection.
    pub conn: ConnId,
    /// The version of the message.
    pub version: u8,
    /// The request.
    pub request: RequestId,
    /// The transaction id.
    pub transaction: u32,
    /// The action replies.
    pub actions: &'r [ActionReply<'a>],
}

/// What a user does about what happens.
///
/// [`Engine::handle_input_by`] calls [`request`](Self::request) and [`reply`](Self::reply) while a message is decoded, so that
/// it is decoded once and not copied. Before them it delivers the events that wait; the others are delivered by
/// [`Engine::deliver`]. All methods get the engine, and may call it.
///
/// Each callback of Erlang/OTP's `megaco_user` has a method:
///
/// | callback | method |
/// |---|---|
/// | `handle_connect` | [`connect`](Self::connect) |
/// | `handle_disconnect` | [`disconnect`](Self::disconnect) |
/// | `handle_syntax_error` | [`syntax_error`](Self::syntax_error) |
/// | `handle_message_error` | [`message_error`](Self::message_error) |
/// | `handle_trans_request` | [`request`](Self::request) |
/// | `handle_trans_long_request` | none: a request may be answered by its token at any time |
/// | `handle_trans_reply` | [`reply`](Self::reply), [`result`](Self::result) |
/// | `handle_trans_ack` | [`ack`](Self::ack) |
/// | `handle_unexpected_trans` | [`unexpected`](Self::unexpected) |
/// | `handle_trans_request_abort` | [`abort`](Self::abort) |
/// | `handle_segment_reply` | [`segment`](Self::segment) |
#[expect(unused_variables, reason = "the arguments are named for those who write the methods")]
pub trait Handler {
    /// Takes a new request. It is answered by [`Engine::reply`], now or later; one that is not answered ends after
    /// `execution_timer`.
    fn request(&mut self, engine: &mut Engine, asked: Asked<'_, '_>);

    /// Takes a reply in one piece. Returns whether it was taken; if not, [`result`](Self::result) gets it.
    fn reply(&mut self, engine: &mut Engine, replied: Replied<'_, '_>) -> bool {
        false
    }

    /// Takes the end of a request that [`reply`](Self::reply) has not taken: an error, a timeout, a reply in segments.
    fn result(
        &mut self,
        engine: &mut Engine,
        conn: ConnId,
        request: RequestId,
        transaction: u32,
        outcome: Outcome,
    ) {
    }

    /// Decides about a new connection. Its error is sent to the peer if the connection waits for the decision
    /// (`confirm_connect`).
    ///
    /// # Errors
    /// The code and the text of the error by which the connection is refused (H.248.8).
    fn connect(
        &mut self,
        engine: &mut Engine,
        conn: ConnId,
        version: u8,
        route: Route,
    ) -> Result<(), (u16, String)> {
        Ok(())
    }

    /// Takes the end of a connection.
    fn disconnect(&mut self, engine: &mut Engine, conn: ConnId, reason: &str) {}

    /// Takes a message that could not be decoded or was refused as a whole.
    fn syntax_error(&mut self, engine: &mut Engine, route: Route, code: u16, text: &str) {}

    /// Takes an error of a message of ours, from the peer with this message identifier.
    fn message_error(
        &mut self,
        engine: &mut Engine,
        conn: Option<ConnId>,
        remote_mid: &str,
        code: u16,
        text: Option<&str>,
    ) {
    }

    /// Takes the end of the wait for the acknowledgement of a reply.
    fn ack(&mut self, engine: &mut Engine, conn: ConnId, transaction: u32, status: &AckStatus) {}

    /// Takes what belongs to nothing that is known.
    fn unexpected(&mut self, engine: &mut Engine, conn: Option<ConnId>, kind: Unexpected, transaction: u32) {}

    /// Takes the abort of a request of the peer: work on it may stop.
    fn abort(&mut self, engine: &mut Engine, conn: ConnId, token: Token, transaction: u32, code: u16) {}

    /// Takes the acknowledgement of a segment of a reply (`segment_reply_ind`).
    fn segment(&mut self, engine: &mut Engine, conn: ConnId, transaction: u32, segment: u16, complete: bool) {
    }

    /// Takes each other event: Pendings, limits, silence of a peer.
    fn other(&mut self, engine: &mut Engine, event: Event) {}

    /// Takes an event: calls the method for it. A handler that collects events overrides this one alone.
    fn event(&mut self, engine: &mut Engine, event: Event) {
        match event {
            Event::Connect { conn, version, route, .. } => {
                // Its connection does not wait for the answer.
                _ = self.connect(engine, conn, version, route);
            }
            Event::Disconnect { conn, reason, .. } => self.disconnect(engine, conn, &reason),
            Event::SyntaxError { route, code, text } => self.syntax_error(engine, route, code, &text),
            Event::MessageError { conn, remote_mid, code, text, .. } => {
                self.message_error(engine, conn, &remote_mid, code, text.as_deref());
            }
            Event::Result { conn, request, transaction, outcome } => {
                self.result(engine, conn, request, transaction, outcome);
            }
            Event::Ack { conn, transaction, status } => self.ack(engine, conn, transaction, &status),
            Event::Unexpected { conn, kind, transaction } => self.unexpected(engine, conn, kind, transaction),
            Event::Abort { conn, token, transaction, code } => {
                self.abort(engine, conn, token, transaction, code);
            }
            Event::Segment { conn, transaction, segment, complete } => {
                self.segment(engine, conn, transaction, segment, complete);
            }
            event => self.other(engine, event),
        }
    }
}

/// Who takes requests while their message is decoded.
pub(super) enum Taker<'h> {
    /// Takes replies and events too.
    Handler(&'h mut dyn Handler),
    Requests(&'h mut dyn FnMut(&mut Engine, Asked<'_, '_>)),
}

impl Engine {
    /// Hands all events to a handler, in their order.
    pub fn deliver(&mut self, now: Time, handler: &mut dyn Handler) {
        self.advance(now);
        while let Some(event) = self.poll_event() {
            match event {
                Event::Connect { conn, version, route, must_accept: true } => {
                    let answer = handler.connect(self, conn, version, route);
                    // The connection may have ended meanwhile.
                    _ = match answer {
                        Ok(()) => self.accepted(now, conn, Some(Taker::Handler(handler))),
                        Err((code, text)) => self.refuse(now, conn, Some((code, &text))),
                    };
                }
                event => handler.event(self, event),
            }
        }
    }
}
