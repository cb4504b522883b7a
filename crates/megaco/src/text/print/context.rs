//! Actions and properties of contexts.

use super::Printer;
use crate::model::{
    ActionReply, ActionRequest, CONTEXT_ALL, CONTEXT_CHOOSE, CONTEXT_NULL, ContextAttrAuditRequest,
    ContextRequest, IndAudPropertyParm, PropertyParm, SelectLogic, TopologyDirection,
    TopologyDirectionExtension, TopologyRequest,
};
use crate::text::token::Token;

impl Printer<'_> {
    pub(super) fn context_id(&mut self, id: u32) {
        match id {
            CONTEXT_NULL => self.octet(b'-'),
            CONTEXT_CHOOSE => self.octet(b'$'),
            CONTEXT_ALL => self.octet(b'*'),
            id => self.number(id),
        }
    }

    pub(crate) fn action_request(&mut self, request: &ActionRequest<'_>) {
        self.token(Token::Context);
        self.equal();
        self.context_id(request.context_id);
        self.open();
        let mut first = true;
        let (before, after) = if self.version >= 3 {
            (request.context_request.as_deref(), None)
        } else {
            (None, request.context_request.as_deref())
        };
        if let Some(context) = before {
            self.context_request(context, &mut first);
        }
        if let Some(audit) = request.context_attr_audit_req.as_deref() {
            self.context_audit(audit, &mut first);
        }
        if let Some(context) = after {
            self.context_request(context, &mut first);
        }
        for command in &request.command_requests {
            self.next(&mut first);
            self.command_request(command);
        }
        if first {
            self.refuse("an action that asks for something");
        }
        self.close();
    }

    pub(crate) fn action_reply(&mut self, reply: &ActionReply<'_>) {
        self.token(Token::Context);
        self.equal();
        self.context_id(reply.context_id);
        self.braces_if_any(|p| {
            let mut first = true;
            if let Some(context) = reply.context_reply.as_deref() {
                p.context_request(context, &mut first);
            }
            for command in &reply.command_reply {
                p.next(&mut first);
                p.command_reply(command);
            }
            if let Some(error) = &reply.error_descriptor {
                p.next(&mut first);
                p.error_descriptor(error);
            }
        });
    }

    fn context_request(&mut self, context: &ContextRequest<'_>, first: &mut bool) {
        if let Some(priority) = context.priority {
            self.next(first);
            self.token(Token::Priority);
            self.equal();
            self.number(u32::from(priority));
        }
        match context.emergency {
            Some(true) => {
                self.next(first);
                self.token(Token::Emergency);
            }
            Some(false) => {
                self.next(first);
                // OTP writes the name of the token in earlier versions, and reads that too.
                if self.version < 3 && self.pretty {
                    self.raw(b"EmergencyOffToken");
                } else {
                    self.token(Token::EmergencyOff);
                }
            }
            None => {}
        }
        if let Some(topology) = &context.topology_req {
            self.next(first);
            self.topology(topology);
        }
        let is_new =
            context.iepscallind.is_some() || context.context_prop.is_some() || context.context_list.is_some();
        if is_new && self.version < 3 {
            self.refuse("IEPSCall and ContextAttr are of version 3");
        }
        if let Some(ieps) = context.iepscallind {
            self.next(first);
            self.ieps(ieps);
        }
        if let Some(properties) = context.context_prop.as_ref().filter(|properties| !properties.is_empty()) {
            self.next(first);
            self.token(Token::ContextAttr);
            self.open();
            // All but the first line of the properties stand one tab further out.
            let further = usize::from(self.pretty);
            self.depth -= further;
            self.list(properties, Self::property_parm);
            self.depth += further;
            self.close();
        }
        if let Some(list) = context.context_list.as_ref().filter(|list| !list.is_empty()) {
            self.next(first);
            self.token(Token::ContextAttr);
            self.open();
            self.token(Token::ContextList);
            self.equal();
            self.open();
            self.list(list, |p, &id| p.context_id(id));
            self.close();
            self.close();
        }
    }

    /// A comma and a new line one tab further out, as OTP has it in some lists.
    pub(super) fn next_outside(&mut self, first: &mut bool) {
        let out = usize::from(self.pretty);
        self.depth -= out;
        self.next(first);
        self.depth += out;
    }

    fn ieps(&mut self, ieps: bool) {
        self.token(Token::Ieps);
        self.equal();
        self.token(if ieps { Token::On } else { Token::Off });
    }

    fn topology(&mut self, topology: &[TopologyRequest<'_>]) {
        if topology.is_empty() {
            self.refuse("a topology of something");
        }
        self.token(Token::Topology);
        self.open();
        let further = usize::from(self.pretty && self.version < 3);
        let mut first = true;
        for request in topology {
            self.next(&mut first);
            self.depth += further;
            self.name(&request.termination_from.0);
            self.comma();
            self.name(&request.termination_to.0);
            self.comma();
            self.token(match request.topology_direction {
                TopologyDirection::Bothway => Token::Bothway,
                TopologyDirection::Isolate => Token::Isolate,
                TopologyDirection::Oneway => Token::Oneway,
            });
            if let Some(stream) = request.stream_id {
                if self.version < 2 {
                    self.refuse("the stream of a topology is of version 2");
                }
                self.comma();
                self.token(Token::Stream);
                self.equal();
                self.number(u32::from(stream));
            }
            if let Some(extension) = request.topology_direction_extension {
                if self.version < 3 {
                    self.refuse("OnewayExternal and OnewayBoth are of version 3");
                }
                self.comma();
                self.token(match extension {
                    TopologyDirectionExtension::Onewayexternal => Token::OnewayExternal,
                    TopologyDirectionExtension::Onewayboth => Token::OnewayBoth,
                });
            }
            self.depth -= further;
        }
        self.close();
    }

    fn context_audit(&mut self, audit: &ContextAttrAuditRequest<'_>, first: &mut bool) {
        if *audit == ContextAttrAuditRequest::default() {
            return;
        }
        self.next(first);
        self.token(Token::ContextAudit);
        self.open();
        let mut first = true;
        for (asked, token) in [
            (audit.topology, Token::Topology),
            (audit.emergency, Token::Emergency),
            (audit.priority, Token::Priority),
            (audit.iepscallind, Token::Ieps),
        ] {
            if asked.is_some() {
                self.next(&mut first);
                self.token(token);
            }
        }
        for property in audit.context_prop_aud.iter().flatten() {
            self.next(&mut first);
            self.ind_aud_property(property);
        }
        if let Some(priority) = audit.selectpriority {
            self.next(&mut first);
            self.token(Token::Priority);
            self.equal();
            self.number(u32::from(priority));
        }
        if let Some(emergency) = audit.selectemergency {
            self.next(&mut first);
            self.token(Token::EmergencyValue);
            self.equal();
            self.token(if emergency { Token::Emergency } else { Token::EmergencyOff });
        }
        if let Some(ieps) = audit.selectiepscallind {
            self.next(&mut first);
            self.ieps(ieps);
        }
        match audit.select_logic {
            Some(SelectLogic::OrAuditSelect(())) => {
                self.next(&mut first);
                self.token(Token::OrLogic);
            }
            // All conditions together are the default, which OTP does not write.
            Some(SelectLogic::AndAuditSelect(())) | None => {}
        }
        self.close();
    }

    pub(super) fn property_parm(&mut self, property: &PropertyParm<'_>) {
        self.name(&property.name);
        self.parm_values(&property.value, property.extra_info);
    }

    pub(super) fn ind_aud_property(&mut self, property: &IndAudPropertyParm<'_>) {
        self.name(&property.name);
        if let Some(parm) = &property.property_parms {
            self.comma();
            self.property_parm(parm);
        }
    }
}
