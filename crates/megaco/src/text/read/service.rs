//! Parameters of changes of service.

use crate::list::List;
use crate::model::{
    Extra, NonStandardData, NonStandardIdentifier, ServiceChangeMethod, ServiceChangeParm,
    ServiceChangeProfile, ServiceChangeResParm, TimeNotation, Values,
};
use crate::octets::{Name, Str};
use crate::text::print::vendor_data;
use crate::text::scan::{Scanner, is_vendor_name, number};
use crate::text::token::Token;
use crate::{Error, Result};

use super::event::time_stamp;

const ONCE: &str = "each parameter of the change once, and not both an address and MgcIdToTry";

fn once<T>(slot: &mut Option<T>, value: T, at: usize) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(at, ONCE)),
    }
}

impl<'a> Scanner<'a> {
    /// `serviceChangeDescriptor`: method and reason are mandatory.
    pub(super) fn service_change_parms(&mut self) -> Result<ServiceChangeParm<'a>> {
        const WHAT: &str = "a parameter of the change";
        let before = *self;
        if self.token("Services")? != Token::Services {
            return Err(before.error("Services"));
        }
        let mut method: Option<ServiceChangeMethod> = None;
        let mut reason: Option<Str<'a>> = None;
        let mut parms = ServiceChangeParm {
            service_change_method: ServiceChangeMethod::Restart,
            service_change_address: None,
            service_change_version: None,
            service_change_profile: None,
            service_change_reason: List::new(),
            service_change_delay: None,
            service_change_mgc_id: None,
            time_stamp: None,
            non_standard_data: None,
            service_change_info: None,
            service_change_incomplete_flag: None,
        };
        self.open()?;
        loop {
            let at = self.at;
            let word = self.word(WHAT)?;
            match self.token_of(word) {
                Some(Token::Method) => {
                    self.equal()?;
                    let value = self.service_change_method()?;
                    once(&mut method, value, at)?;
                }
                Some(Token::Reason) => {
                    self.equal()?;
                    let value = self.one_value()?;
                    once(&mut reason, value, at)?;
                }
                Some(Token::Delay) => {
                    self.equal()?;
                    let delay = self.uint32("a delay: a number of 32 bits")?;
                    once(&mut parms.service_change_delay, delay, at)?;
                }
                Some(Token::ServiceChangeAddress) if parms.service_change_mgc_id.is_none() => {
                    self.equal()?;
                    let address = self.service_change_address()?;
                    once(&mut parms.service_change_address, address, at)?;
                }
                Some(Token::MgcIdToTry) if parms.service_change_address.is_none() => {
                    self.equal()?;
                    let m_id = self.m_id()?;
                    once(&mut parms.service_change_mgc_id, m_id, at)?;
                }
                Some(Token::Profile) => {
                    self.equal()?;
                    let profile = self.profile()?;
                    once(&mut parms.service_change_profile, profile, at)?;
                }
                Some(Token::Version) => {
                    self.equal()?;
                    let version = self.version_number()?;
                    once(&mut parms.service_change_version, version, at)?;
                }
                Some(Token::ServiceChangeInc) => {
                    once(&mut parms.service_change_incomplete_flag, (), at)?;
                }
                Some(Token::ServiceChangeAddress | Token::MgcIdToTry) => return Err(Error::new(at, ONCE)),
                Some(token) if self.version >= 2 => {
                    let mut audit = parms.service_change_info.take().unwrap_or_default();
                    self.audit_item(token, at, &mut audit)?;
                    parms.service_change_info = Some(audit);
                }
                _ => match time_stamp(word) {
                    Some(time) => once(&mut parms.time_stamp, time, at)?,
                    None if is_vendor_name(word) => {
                        let data = NonStandardData {
                            non_standard_identifier: NonStandardIdentifier::Experimental(Str::borrowed(word)),
                            data: self.vendor_data()?,
                        };
                        once(&mut parms.non_standard_data, Box::new(data), at)?;
                    }
                    None => return Err(Error::new(at, WHAT)),
                },
            }
            if !self.more()? {
                break;
            }
        }
        parms.service_change_method = method.ok_or_else(|| before.error("Services with a Method"))?;
        parms.service_change_reason =
            List::One(reason.ok_or_else(|| before.error("Services with a Reason"))?);
        Ok(parms)
    }

    /// `parmValue` of a vendor's parameter as octets of the module.
    fn vendor_data(&mut self) -> Result<Str<'a>> {
        let (mut values, extra) = self.parm_value()?;
        match (&mut values, extra) {
            (List::One(value), None) if !begins_as_text(value) => Ok(std::mem::take(value)),
            _ => vendor_data(&values, extra),
        }
    }

    fn service_change_method(&mut self) -> Result<ServiceChangeMethod> {
        const WHAT: &str = "Failover, Forced, Graceful, Restart, Disconnected or HandOff";
        let start = self.at;
        Ok(match self.token(WHAT)? {
            Token::Failover => ServiceChangeMethod::Failover,
            Token::Forced => ServiceChangeMethod::Forced,
            Token::Graceful => ServiceChangeMethod::Graceful,
            Token::Restart => ServiceChangeMethod::Restart,
            Token::Disconnected => ServiceChangeMethod::Disconnected,
            Token::HandOff => ServiceChangeMethod::HandOff,
            _ => return Err(Error::new(start, WHAT)),
        })
    }

    /// `NAME "/" Version`.
    fn profile(&mut self) -> Result<ServiceChangeProfile<'a>> {
        const WHAT: &str = "a profile, `/` and its version";
        let start = self.at;
        let word = self.word(WHAT)?;
        let slash = word.iter().rposition(|&octet| octet == b'/').filter(|&slash| slash > 0);
        let slash = slash.ok_or_else(|| Error::new(start, WHAT))?;
        let version = number(&word[slash + 1..], 99).ok_or_else(|| Error::new(start, WHAT))?;
        Ok(ServiceChangeProfile { profile_name: Name::borrowed(&word[..slash]), version: version as u8 })
    }

    /// `serviceChangeReplyDescriptor` behind its token.
    pub(super) fn service_change_res_parms(&mut self) -> Result<ServiceChangeResParm<'a>> {
        const WHAT: &str = "a parameter of the reply to a change";
        let mut parms = ServiceChangeResParm::default();
        self.open()?;
        loop {
            let at = self.at;
            let word = self.word(WHAT)?;
            match self.token_of(word) {
                Some(Token::ServiceChangeAddress) if parms.service_change_mgc_id.is_none() => {
                    self.equal()?;
                    let address = self.service_change_address()?;
                    once(&mut parms.service_change_address, address, at)?;
                }
                Some(Token::MgcIdToTry) if parms.service_change_address.is_none() => {
                    self.equal()?;
                    let m_id = self.m_id()?;
                    once(&mut parms.service_change_mgc_id, m_id, at)?;
                }
                Some(Token::Profile) => {
                    self.equal()?;
                    let profile = self.profile()?;
                    once(&mut parms.service_change_profile, profile, at)?;
                }
                Some(Token::Version) => {
                    self.equal()?;
                    let version = self.version_number()?;
                    once(&mut parms.service_change_version, version, at)?;
                }
                _ => {
                    let time: TimeNotation = time_stamp(word).ok_or_else(|| Error::new(at, WHAT))?;
                    once(&mut parms.time_stamp, time, at)?;
                }
            }
            if !self.more()? {
                return Ok(parms);
            }
        }
    }
}

/// Whether the octets of a vendor's parameter are a `parmValue` with its mark. All others are a value as it is.
pub(in crate::text) fn begins_as_text(data: &[u8]) -> bool {
    matches!(data, [b'=' | b'#' | b'<' | b'>', ..])
}

/// What the octets of a vendor's parameter say, if they are such a text in the one form in which it is written.
pub(in crate::text) fn vendor_values(data: &[u8]) -> Option<(Values<'_>, Option<Extra>)> {
    let mut s = Scanner::new(data);
    let (values, extra) = s.parm_value().ok().filter(|_| s.at_end())?;
    let is_plain = extra.is_none() && !begins_as_text(&values[0]);
    let again = vendor_data(&values, extra).ok()?;
    (!is_plain && *again == *data).then_some((values, extra))
}
