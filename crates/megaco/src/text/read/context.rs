//! Actions and properties of contexts.

use super::property::check_pkgd_name;
use crate::list::List;
use crate::model::{
    ActionReply, ActionRequest, CONTEXT_ALL, CONTEXT_CHOOSE, CONTEXT_NULL, ContextAttrAuditRequest,
    ContextRequest, IndAudPropertyParm, PropertyParm, SelectLogic, TopologyDirection,
    TopologyDirectionExtension, TopologyRequest,
};
use crate::octets::Name;
use crate::text::scan::{Scanner, number};
use crate::text::token::Token;
use crate::{Error, Result};

const ONCE: &str = "each property of the context once";

/// Sets what may be said once.
fn once<T>(slot: &mut Option<T>, value: T, at: usize, what: &'static str) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(at, what)),
    }
}

impl<'a> Scanner<'a> {
    /// `"*" / "-" / "$" / UINT32`; what the symbols stand for is no number that could be written.
    pub(super) fn context_id(&mut self) -> Result<u32> {
        const WHAT: &str = "a context id: `-`, `$`, `*` or a number of 32 bits";
        let start = self.at;
        match self.word(WHAT)? {
            b"-" => Ok(CONTEXT_NULL),
            b"$" => Ok(CONTEXT_CHOOSE),
            b"*" => Ok(CONTEXT_ALL),
            word => match number(word, u32::MAX) {
                Some(id) if !matches!(id, CONTEXT_NULL | CONTEXT_CHOOSE | CONTEXT_ALL) => Ok(id),
                _ => Err(Error::new(start, WHAT)),
            },
        }
    }

    pub(super) fn action_request(&mut self) -> Result<ActionRequest<'a>> {
        const WHAT: &str = "Context";
        let start = self.at;
        if self.token(WHAT)? != Token::Context {
            return Err(Error::new(start, WHAT));
        }
        self.equal()?;
        let context_id = self.context_id()?;
        self.open()?;
        let mut request = ActionRequest {
            context_id,
            context_request: None,
            context_attr_audit_req: None,
            command_requests: List::new(),
        };
        loop {
            let start = self.at;
            let word = self.word("a command, or a property of the context")?;
            let token = self.token_of(word);
            if token == Some(Token::ContextAudit) {
                let audit = Box::new(self.context_audit()?);
                once(&mut request.context_attr_audit_req, audit, start, "one ContextAudit")?;
            } else if !self.context_property(token, start, &mut request.context_request)? {
                request.command_requests.push(self.command_request(word, start)?);
            }
            if !self.more()? {
                return Ok(request);
            }
        }
    }

    /// `CtxToken` has been read.
    pub(super) fn action_reply(&mut self) -> Result<ActionReply<'a>> {
        self.equal()?;
        let mut reply = ActionReply {
            context_id: self.context_id()?,
            error_descriptor: None,
            context_reply: None,
            command_reply: List::new(),
        };
        if !self.accept(b'{') {
            return Ok(reply);
        }
        loop {
            let start = self.at;
            let word =
                self.word("a reply to a command, a property of the context, or an error descriptor")?;
            let token = self.token_of(word);
            if token == Some(Token::Error) {
                let error = Box::new(self.error_descriptor()?);
                once(&mut reply.error_descriptor, error, start, "one error descriptor")?;
                self.close()?;
                return Ok(reply);
            }
            if !self.context_property(token, start, &mut reply.context_reply)? {
                let token = token.ok_or_else(|| Error::new(start, "a reply to a command"))?;
                reply.command_reply.push(self.command_reply(token, start)?);
            }
            if !self.more()? {
                return Ok(reply);
            }
        }
    }

    /// `contextProperty`, if the token begins one.
    fn context_property(
        &mut self,
        token: Option<Token>,
        at: usize,
        request: &mut Option<Box<ContextRequest<'a>>>,
    ) -> Result<bool> {
        let Some(token) = token else { return Ok(false) };
        if !matches!(
            token,
            Token::Topology
                | Token::Priority
                | Token::Emergency
                | Token::EmergencyOff
                | Token::Ieps
                | Token::ContextAttr
        ) {
            return Ok(false);
        }
        let request = &mut **request.get_or_insert_default();
        match token {
            Token::Topology => {
                let topology = self.topology()?;
                once(&mut request.topology_req, topology, at, ONCE)?;
            }
            Token::Priority => {
                let priority = self.priority()?;
                once(&mut request.priority, priority, at, ONCE)?;
            }
            Token::Emergency => once(&mut request.emergency, true, at, ONCE)?,
            Token::EmergencyOff => once(&mut request.emergency, false, at, ONCE)?,
            Token::Ieps => {
                self.equal()?;
                let on = self.on_or_off()?;
                once(&mut request.iepscallind, on, at, ONCE)?;
            }
            _ => match self.context_attr()? {
                ContextAttr::Properties(properties) => once(&mut request.context_prop, properties, at, ONCE)?,
                ContextAttr::List(list) => once(&mut request.context_list, list, at, ONCE)?,
            },
        }
        Ok(true)
    }

    fn priority(&mut self) -> Result<u16> {
        self.equal()?;
        self.uint16("a priority: a number")
    }

    /// `ON` or `OFF`.
    pub(super) fn on_or_off(&mut self) -> Result<bool> {
        let start = self.at;
        match self.token("ON or OFF")? {
            Token::On => Ok(true),
            Token::Off => Ok(false),
            _ => Err(Error::new(start, "ON or OFF")),
        }
    }

    /// `contextAttrDescriptor` behind its token.
    fn context_attr(&mut self) -> Result<ContextAttr<'a>> {
        self.open()?;
        let before = *self;
        let word = self.word("a property, or ContextList")?;
        if self.token_of(word) == Some(Token::ContextList) {
            self.equal()?;
            self.open()?;
            let mut list = Vec::new();
            loop {
                list.push(self.context_id()?);
                if !self.more()? {
                    break;
                }
            }
            self.close()?;
            return Ok(ContextAttr::List(list));
        }
        *self = before;
        let mut properties = Vec::new();
        loop {
            properties.push(self.property_parm()?);
            if !self.more()? {
                return Ok(ContextAttr::Properties(properties));
            }
        }
    }

    /// `topologyDescriptor` behind its token: from, to, direction and perhaps a stream, again and again.
    fn topology(&mut self) -> Result<Vec<TopologyRequest<'a>>> {
        const WHAT: &str = "two terminations and a direction";
        self.open()?;
        let mut all: Vec<TopologyRequest<'a>> = Vec::new();
        loop {
            let termination_from = self.termination_id()?;
            self.expect(b',', WHAT)?;
            let termination_to = self.termination_id()?;
            self.expect(b',', WHAT)?;
            let start = self.at;
            let word = self.word(WHAT)?;
            let (topology_direction, topology_direction_extension) =
                self.direction(word).ok_or_else(|| Error::new(start, "a direction"))?;
            all.push(TopologyRequest {
                termination_from,
                termination_to,
                topology_direction,
                stream_id: None,
                topology_direction_extension,
            });
            loop {
                if !self.more()? {
                    return Ok(all);
                }
                let before = *self;
                let word = self.word("a stream, a termination or a direction")?;
                let Some(last) = all.last_mut() else { break };
                if self.version >= 2 && self.token_of(word) == Some(Token::Stream) && self.peek() == b'=' {
                    last.stream_id = Some(self.stream_id()?);
                } else if let Some((_, extension @ Some(_))) = self.direction(word) {
                    last.topology_direction_extension = extension;
                } else {
                    *self = before;
                    break;
                }
            }
        }
    }

    fn direction(&self, word: &[u8]) -> Option<(TopologyDirection, Option<TopologyDirectionExtension>)> {
        Some(match self.token_of(word)? {
            Token::Bothway => (TopologyDirection::Bothway, None),
            Token::Isolate => (TopologyDirection::Isolate, None),
            Token::Oneway => (TopologyDirection::Oneway, None),
            Token::OnewayExternal => {
                (TopologyDirection::Oneway, Some(TopologyDirectionExtension::Onewayexternal))
            }
            Token::OnewayBoth => (TopologyDirection::Oneway, Some(TopologyDirectionExtension::Onewayboth)),
            _ => return None,
        })
    }

    /// `EQUAL StreamID`.
    pub(super) fn stream_id(&mut self) -> Result<u16> {
        self.equal()?;
        self.uint16("a stream: a number of 16 bits")
    }

    /// `contextAudit` behind its token.
    fn context_audit(&mut self) -> Result<ContextAttrAuditRequest<'a>> {
        let mut audit = ContextAttrAuditRequest::default();
        self.open()?;
        loop {
            let start = self.at;
            let word = self.word("a property of contexts")?;
            let token = self.token_of(word);
            match token {
                Some(Token::Topology) => once(&mut audit.topology, (), start, ONCE)?,
                Some(Token::Emergency) => once(&mut audit.emergency, (), start, ONCE)?,
                Some(Token::Priority) if self.peek() == b'=' && self.version >= 3 => {
                    let priority = self.priority()?;
                    once(&mut audit.selectpriority, priority, start, ONCE)?;
                }
                Some(Token::Priority) => once(&mut audit.priority, (), start, ONCE)?,
                Some(Token::Ieps) if self.peek() == b'=' => {
                    self.equal()?;
                    let on = self.on_or_off()?;
                    once(&mut audit.selectiepscallind, on, start, ONCE)?;
                }
                Some(Token::Ieps) => once(&mut audit.iepscallind, (), start, ONCE)?,
                Some(Token::EmergencyValue) => {
                    self.equal()?;
                    let start = self.at;
                    let emergency = match self.token("Emergency or EmergencyOff")? {
                        Token::Emergency => true,
                        Token::EmergencyOff => false,
                        _ => return Err(Error::new(start, "Emergency or EmergencyOff")),
                    };
                    once(&mut audit.selectemergency, emergency, start, ONCE)?;
                }
                Some(Token::AndLogic) => {
                    once(&mut audit.select_logic, SelectLogic::AndAuditSelect(()), start, ONCE)?;
                }
                Some(Token::OrLogic) => {
                    once(&mut audit.select_logic, SelectLogic::OrAuditSelect(()), start, ONCE)?;
                }
                Some(Token::ContextAttr) => self.context_attr_audit(&mut audit)?,
                _ if self.version >= 3 => {
                    let name = check_pkgd_name(word, start)?;
                    self.audited_property(name, &mut audit)?;
                }
                _ => return Err(Error::new(start, "Topology, Emergency or Priority")),
            }
            if !self.more()? {
                return Ok(audit);
            }
        }
    }

    /// A property whose name has been read, and perhaps the value that selects.
    fn audited_property(&mut self, name: Name<'a>, audit: &mut ContextAttrAuditRequest<'a>) -> Result<()> {
        let mut property_parms = None;
        if matches!(self.peek(), b'=' | b'#' | b'<' | b'>') {
            let (value, extra_info) = self.parm_value()?;
            property_parms = Some(PropertyParm { name: name.clone(), value, extra_info });
        }
        let property = IndAudPropertyParm { name, property_parms };
        super::ind_aud::add_property(audit.context_prop_aud.get_or_insert_default(), property);
        Ok(())
    }

    /// `indAudcontextAttrDescriptor`: names of properties, or properties with the values that select.
    fn context_attr_audit(&mut self, audit: &mut ContextAttrAuditRequest<'a>) -> Result<()> {
        self.open()?;
        loop {
            let name = self.pkgd_name()?;
            self.audited_property(name, audit)?;
            if !self.more()? {
                return Ok(());
            }
        }
    }
}

enum ContextAttr<'a> {
    Properties(Vec<PropertyParm<'a>>),
    List(Vec<u32>),
}
