//! Plausible answers to requests, for simulated controllers: every command succeeds, and what was left to the answering side is
//! chosen. A gateway has a model: see `gateway`.

use std::borrow::Cow;

use tercet_megaco::model::{
    ActionReply, ActionRequest, AmmsReply, AuditReply, AuditResult, AuditReturnParameter, AuditToken,
    CONTEXT_CHOOSE, Command, CommandReply, MediaDescriptor, NotifyReply, PackagesItem, ServiceChangeReply,
    ServiceChangeResParm, ServiceChangeResult, ServiceState, TerminationId, TerminationStateDescriptor,
    TransactionResult,
};
use tercet_megaco::{List, Name};

/// Packages that an audit reports, with their versions.
const PACKAGES: [(&str, u8); 6] = [("g", 1), ("root", 2), ("al", 1), ("cg", 1), ("dd", 1), ("rtp", 1)];

/// Answers requests: contexts and terminations that are to be chosen get numbers and names, audits report the terminations
/// that were given.
#[derive(Clone, Debug)]
pub struct Answers {
    max_version: u8,
    terminations: Vec<String>,
    contexts: u32,
    ephemerals: u32,
}

impl Answers {
    /// Answers for a side that speaks versions up to this one and has so many terminations, `line1` and so on.
    pub fn new(max_version: u8, terminations: u32) -> Self {
        let terminations = (1..=terminations).map(|number| format!("line{number}")).collect();
        Self { max_version, terminations, contexts: 0, ephemerals: 0 }
    }

    /// Answers the actions of a request.
    pub fn answer<'r>(&mut self, actions: &'r [ActionRequest<'_>]) -> TransactionResult<'r> {
        TransactionResult::ActionReplies(actions.iter().map(|action| self.action(action)).collect())
    }

    fn action<'r>(&mut self, action: &'r ActionRequest<'_>) -> ActionReply<'r> {
        let context_id = match action.context_id {
            CONTEXT_CHOOSE => {
                self.contexts += 1;
                self.contexts
            }
            context => context,
        };
        ActionReply {
            context_id,
            error_descriptor: None,
            context_reply: None,
            command_reply: action
                .command_requests
                .iter()
                .map(|request| self.command(&request.command))
                .collect(),
        }
    }

    fn command<'r>(&mut self, command: &'r Command<'_>) -> CommandReply<'r> {
        let amms = |termination_id| AmmsReply { termination_id, termination_audit: None };
        match command {
            Command::AddReq(request) => {
                let ids = request.termination_id.iter().map(|id| self.chosen(id)).collect();
                CommandReply::AddReply(amms(ids))
            }
            Command::MoveReq(request) => CommandReply::MoveReply(amms(all(&request.termination_id))),
            Command::ModReq(request) => CommandReply::ModReply(amms(all(&request.termination_id))),
            Command::SubtractReq(request) => CommandReply::SubtractReply(amms(all(&request.termination_id))),
            Command::AuditCapRequest(request) => {
                let tokens = request.audit_descriptor.as_ref().and_then(|audit| audit.audit_token);
                CommandReply::AuditCapReply(self.audit(&request.termination_id, tokens))
            }
            Command::AuditValueRequest(request) => {
                let tokens = request.audit_descriptor.as_ref().and_then(|audit| audit.audit_token);
                CommandReply::AuditValueReply(self.audit(&request.termination_id, tokens))
            }
            Command::NotifyReq(request) => CommandReply::NotifyReply(NotifyReply {
                termination_id: all(&request.termination_id),
                error_descriptor: None,
            }),
            Command::ServiceChangeReq(request) => {
                // The lower version of both sides (H.248.1 11.3).
                let version = request.service_change_parms.service_change_version;
                let parms = ServiceChangeResParm {
                    service_change_version: version.map(|version| version.min(self.max_version)),
                    ..ServiceChangeResParm::default()
                };
                CommandReply::ServiceChangeReply(ServiceChangeReply {
                    termination_id: all(&request.termination_id),
                    service_change_result: ServiceChangeResult::ServiceChangeResParms(Box::new(parms)),
                })
            }
        }
    }

    /// The termination of a name, or a new one for `$`.
    fn chosen<'r>(&mut self, id: &'r TerminationId<'_>) -> TerminationId<'r> {
        if !id.0.contains(&b'$') {
            return one(id);
        }
        self.ephemerals += 1;
        TerminationId(Name::from(format!("rtp{}", self.ephemerals).into_bytes()))
    }

    fn audit<'r>(
        &self,
        id: &'r TerminationId<'_>,
        tokens: Option<tercet_megaco::TokenSet<AuditToken>>,
    ) -> AuditReply<'r> {
        if id.0 == "*" && !self.terminations.is_empty() {
            let names = self.terminations.iter();
            let ids = names.map(|name| TerminationId(Name::from(name.clone().into_bytes())));
            return AuditReply::ContextAuditResult(ids.collect());
        }
        let termination_audit_result =
            tokens.iter().flat_map(|tokens| tokens.iter()).filter_map(audited).collect();
        AuditReply::AuditResult(AuditResult { termination_id: one(id), termination_audit_result })
    }
}

/// What an audit returns for a token; nothing for descriptors that are empty.
fn audited(token: AuditToken) -> Option<AuditReturnParameter<'static>> {
    match token {
        AuditToken::MediaToken => Some(AuditReturnParameter::MediaDescriptor(MediaDescriptor {
            term_state_descr: Some(Box::new(TerminationStateDescriptor {
                property_parms: Vec::new(),
                event_buffer_control: None,
                service_state: Some(ServiceState::InSvc),
            })),
            streams: None,
        })),
        AuditToken::PackagesToken => {
            let item = |(name, package_version): (&'static str, u8)| PackagesItem {
                package_name: name.into(),
                package_version,
            };
            Some(AuditReturnParameter::PackagesDescriptor(PACKAGES.into_iter().map(item).collect()))
        }
        _ => None,
    }
}

fn all<'r>(ids: &'r [TerminationId<'_>]) -> List<TerminationId<'r>> {
    ids.iter().map(one).collect()
}

fn one<'r>(id: &'r TerminationId<'_>) -> TerminationId<'r> {
    TerminationId(Name(Cow::Borrowed(&*id.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Dialect;
    use tercet_megaco::binary::Binary;
    use tercet_megaco::codec::Encoding;
    use tercet_megaco::model::{Lenient, MId, MessageBody, Transaction, TransactionReply};
    use tercet_megaco::text::read_message;

    #[test]
    fn answers_can_be_sent() {
        let mut answers = Answers::new(2, 2);
        for (request, expected) in [
            ("C=${A=${M{L{v=0}}},A=line1}", "C=1{A=rtp1,A=line1}"),
            ("C=1{MF=line1,S=*}", "C=1{MF=line1,S=*}"),
            ("C=1{MV=line1}", "C=1{MV=line1}"),
            ("C=-{AV=root{AT{M,PG}}}", "C=-{AV=root{M{TS{SI=IV}},PG{g-1,root-2,al-1,cg-1,dd-1,rtp-1}}}"),
            ("C=-{AV=line1{AT{}}}", "C=-{AV=line1}"),
            ("C=*{AV=*{AT{}}}", "C=*{AV=C{line1,line2}}"),
            ("C=-{AC=line1{AT{SG}}}", "C=-{AC=line1}"),
            ("C=-{N=line1{OE=1{al/of}}}", "C=-{N=line1}"),
            ("C=-{SC=ROOT{SV{MT=RS,RE=\"901\",V=3}}}", "C=-{SC=root{SV{V=2}}}"),
            ("C=-{SC=line1{SV{MT=FO,RE=\"905\"}}}", "C=-{SC=line1}"),
        ] {
            let message = format!("!/2 mg T=1{{{request}}}");
            let MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) =
                read_message(message.as_bytes()).unwrap().mess.message_body
            else {
                panic!("{request}")
            };
            for encoding in [Encoding::Compact, Encoding::Ber, Encoding::Per] {
                let reply = TransactionReply {
                    transaction_id: Lenient(Some(1)),
                    imm_ack_required: None,
                    transaction_result: answers.clone().answer(&request.actions),
                    segment_number: None,
                    segmentation_complete: None,
                };
                let mid = MId::DeviceName("a".into());
                let dialect = Dialect { encoding, version: 2 };
                let octets = dialect
                    .message(
                        Binary::standard(),
                        &mid,
                        List::One(Transaction::TransactionReply(reply)),
                        &mut Vec::new(),
                    )
                    .unwrap();
                if encoding == Encoding::Compact {
                    let text = String::from_utf8(octets.to_vec()).unwrap();
                    assert_eq!(text, format!("!/2 a\nP=1{{{expected}}}"));
                }
            }
        }
        _ = answers.answer(&[]);
    }
}
