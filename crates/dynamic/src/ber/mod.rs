//! The engine for BER, DER and CER (X.690).

mod canonical;
pub(crate) mod check;
pub(crate) mod constraints;
mod contents;
mod decode;
mod encode;
mod encode_fault;
mod fault;
mod frame;
mod head;
mod keys;
mod order;
mod output;
mod places;
mod set;
mod strict;

pub(crate) use decode::{DecodeState, decode};
pub(crate) use encode::{EncodeState, encode};

use tercet_plan::Rules;

/// The rules as the runtime names them.
fn rules_of(rules: Rules) -> tercet_runtime::ber::Rules {
    match rules {
        Rules::Der => tercet_runtime::ber::Rules::Der,
        Rules::Cer => tercet_runtime::ber::Rules::Cer,
        _ => tercet_runtime::ber::Rules::Ber,
    }
}
