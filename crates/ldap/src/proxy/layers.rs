//! Layers of a proxy.

use super::{Context, Flow, Layer, answer};
use crate::extended;
use crate::generated::ProtocolOp;
use crate::proto::{self, LdapResult, Limits, ResultCode};

/// Refuses all changes: add, modify, delete, rename and new passwords (unwillingToPerform).
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

impl Layer for ReadOnly {
    fn request(&self, _: &Context, message: &[u8]) -> Flow {
        // What cannot be read is not passed on: the server might read it otherwise.
        let Ok(message) = proto::decode(message, &Limits::default()) else { return Flow::Close };
        let is_change = match &message.protocol_op {
            ProtocolOp::AddRequest(_)
            | ProtocolOp::ModifyRequest(_)
            | ProtocolOp::DelRequest(_)
            | ProtocolOp::ModDnRequest(_) => true,
            ProtocolOp::ExtendedReq(request) => {
                &*request.request_name == extended::PASSWORD_MODIFY.as_bytes()
            }
            _ => false,
        };
        if !is_change {
            return Flow::Pass;
        }
        let result = LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message("read-only");
        match answer(&message, &result) {
            Ok(Some(octets)) => Flow::Answer(octets),
            _ => Flow::Close,
        }
    }
}
