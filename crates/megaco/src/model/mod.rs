//! The types of messages, after the module of H.248.1 annex A: one model for versions 1 to 3 and for all encodings.
//!
//! Where the text encoding says less than the module demands, the model is as weak as the text: a missing transaction id
//! can be read, so that an error reply can be sent, and is refused when written.

mod audit;
mod command;
mod context;
mod event;
mod media;
mod message;
mod names;
mod owned;
mod property;
pub(crate) mod records;
mod service;
mod signal;

pub use audit::{
    AuditDescriptor, AuditToken, EventSpecParameter, IndAudDigitMapDescriptor, IndAudEventBufferDescriptor,
    IndAudEventsDescriptor, IndAudLocalControlDescriptor, IndAudLocalRemoteDescriptor, IndAudMediaDescriptor,
    IndAudMediaStreams, IndAudPackagesDescriptor, IndAudPropertyParm, IndAudSeqSigList, IndAudSignal,
    IndAudSignalsDescriptor, IndAudStatisticsDescriptor, IndAudStreamDescriptor, IndAudStreamParms,
    IndAudTerminationStateDescriptor, IndAuditParameter,
};
pub use command::{
    AmmDescriptor, AmmRequest, AmmsReply, AuditReply, AuditRequest, AuditResult, AuditReturnParameter,
    Command, CommandReply, CommandRequest, MuxDescriptor, MuxType, NotifyReply, NotifyRequest, PackagesItem,
    StatisticsParameter, SubtractRequest, TermListAuditResult, TerminationAudit,
};
pub use context::{
    ActionReply, ActionRequest, ContextAttrAuditRequest, ContextRequest, SelectLogic, TopologyDirection,
    TopologyDirectionExtension, TopologyRequest,
};
pub use event::{
    DigitMapDescriptor, DigitMapValue, EventDm, EventParameter, EventSpec, EventsDescriptor, NotifyBehaviour,
    ObservedEvent, ObservedEventsDescriptor, RegulatedEmbeddedDescriptor, RequestedActions, RequestedEvent,
    SecondEventsDescriptor, SecondRequestedActions, SecondRequestedEvent,
};
pub use media::{
    EventBufferControl, LocalControlDescriptor, LocalRemoteDescriptor, MediaDescriptor, MediaStreams,
    ModemDescriptor, ModemType, ServiceState, StreamDescriptor, StreamMode, StreamParms,
    TerminationStateDescriptor,
};
pub(crate) use message::Head;
pub use message::{
    AuthenticationHeader, DomainName, ErrorDescriptor, Ip4Address, Ip6Address, MId, MegacoMessage, Message,
    MessageBody, SegmentReply, Transaction, TransactionAck, TransactionPending, TransactionReply,
    TransactionRequest, TransactionResult,
};
pub use names::{Lenient, TerminationId};
pub use owned::IntoOwned;
pub use property::{Extra, PropertyGroup, PropertyParm, Relation, Values};
pub use service::{
    H221NonStandard, NonStandardData, NonStandardIdentifier, ServiceChangeAddress, ServiceChangeMethod,
    ServiceChangeParm, ServiceChangeProfile, ServiceChangeReply, ServiceChangeRequest, ServiceChangeResParm,
    ServiceChangeResult, TimeNotation,
};
pub use signal::{
    NotifyCompletion, SeqSigList, SigParameter, Signal, SignalDirection, SignalRequest, SignalType,
};

/// The NULL context.
pub const CONTEXT_NULL: u32 = 0;
/// A context that the gateway chooses.
pub const CONTEXT_CHOOSE: u32 = 0xffff_fffe;
/// All contexts.
pub const CONTEXT_ALL: u32 = 0xffff_ffff;
/// Any request, in descriptors that answer an audit.
pub const REQUEST_ALL: u32 = 0xffff_ffff;
