//! Actions on contexts.

use super::records::{atoms, choice, record};
use super::{CommandReply, CommandRequest, ErrorDescriptor, IndAudPropertyParm, PropertyParm, TerminationId};
use crate::list::List;

record! {
    /// What is asked of a context.
    ActionRequest<'a> [closed] {
        context_id "contextId": u32,
        context_request "contextRequest": Option<Box<ContextRequest<'a>>>,
        context_attr_audit_req "contextAttrAuditReq": Option<Box<ContextAttrAuditRequest<'a>>>,
        command_requests "commandRequests": List<CommandRequest<'a>>,
    }
}

record! {
    /// What came of it.
    ActionReply<'a> [closed] {
        context_id "contextId": u32,
        error_descriptor "errorDescriptor": Option<Box<ErrorDescriptor<'a>>>,
        context_reply "contextReply": Option<Box<ContextRequest<'a>>>,
        command_reply "commandReply": List<CommandReply<'a>>,
    }
}

record! {
    /// Properties of a context.
    #[derive(Default)]
    ContextRequest<'a> [...] {
        priority "priority": Option<u16> as Nibble,
        emergency "emergency": Option<bool>,
        topology_req "topologyReq": Option<Vec<TopologyRequest<'a>>>,
        ; 3:
        iepscallind "iepscallind": Option<bool>,
        context_prop "contextProp": Option<Vec<PropertyParm<'a>>>,
        context_list "contextList": Option<Vec<u32>>,
    }
}

record! {
    /// Asks for properties of contexts, or selects contexts by them.
    #[derive(Default)]
    ContextAttrAuditRequest<'a> [...] {
        topology "topology": Option<()>,
        emergency "emergency": Option<()>,
        priority "priority": Option<()>,
        ; 3:
        iepscallind "iepscallind": Option<()>,
        context_prop_aud "contextPropAud": Option<Vec<IndAudPropertyParm<'a>>>,
        selectpriority "selectpriority": Option<u16> as Nibble,
        selectemergency "selectemergency": Option<bool>,
        selectiepscallind "selectiepscallind": Option<bool>,
        select_logic "selectLogic": Option<SelectLogic>,
    }
}

choice! {
    /// Whether all or one of the conditions have to hold.
    SelectLogic [...] {
        AndAuditSelect "andAUDITSelect" (()),
        OrAuditSelect "orAUDITSelect" (()),
    }
}

record! {
    /// Who hears whom.
    TopologyRequest<'a> [late ...] {
        termination_from "terminationFrom": TerminationId<'a>,
        termination_to "terminationTo": TerminationId<'a>,
        topology_direction "topologyDirection": TopologyDirection,
        ; 2:
        stream_id "streamID": Option<u16>,
        ; 3:
        topology_direction_extension "topologyDirectionExtension": Option<TopologyDirectionExtension>,
    }
}

atoms! {
    /// Direction of an association of terminations.
    TopologyDirection [closed] {
        Bothway "bothway",
        Isolate "isolate",
        Oneway "oneway",
    }
}

atoms! {
    /// Directions of version 3.
    TopologyDirectionExtension [...] {
        Onewayexternal "onewayexternal",
        Onewayboth "onewayboth",
    }
}
