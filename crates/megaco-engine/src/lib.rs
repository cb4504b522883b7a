//! The protocol engine of Megaco/H.248.1: transactions between media gateways and their controllers.
//!
//! [`Engine`] does no input and output and reads no clock: a driver hands in octets and the time, and takes octets, events and
//! the next deadline. Messages are those of `tercet-megaco`, in any of its encodings.
//!
//! With the feature `tokio`, `driver` gives it sockets.
//!
//! Clauses in comments are those of H.248.1; D.1 is its annex about UDP.

#![forbid(unsafe_code)]

mod answers;
mod counters;
#[cfg(feature = "tokio")]
pub mod driver;
mod engine;
mod event;
mod export;
mod gateway;
mod items;
mod registrar;
mod route;
#[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "drivers have associations"))]
mod sctp;
mod seeded;
mod slab;
mod time;
mod wheel;
mod wire;

pub use answers::Answers;
pub use counters::Counters;
pub use engine::{
    AckMode, Asked, BEFORE_REGISTRATION, Engine, Error, Gauges, Handler, Latencies, Limits, Replied,
    ReplyOptions, RequestOptions, registration,
};
pub use event::{
    AckStatus, ConnId, Event, Incoming, Outcome, Received, Reply, RequestId, SendFault, Token, Transmit,
    Unexpected, UserId,
};
pub use export::{Packet, PcapWriter, write_hep};
pub use gateway::{Failure, GatewayOptions, VirtualGateway};
pub use items::{BadItem, ConnectBy, Encode, ITEMS, Item, Items, Limit, Window, WrongMid, help};
pub use registrar::{Registrar, Verdict};
pub use route::{Route, Transport};
pub use seeded::Random;
pub use time::{Period, Retries, Time, Timer};
