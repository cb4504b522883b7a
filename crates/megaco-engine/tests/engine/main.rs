//! The engine against a peer that the tests play. Tests `otp_NUMBER_…` are about faults that Erlang/OTP's megaco application had
//! under these ticket numbers; they check the right behaviour.

mod gathering;
mod harness;
mod identifiers;
mod messages;
mod model;
mod requester;
mod responder;
mod segments;
