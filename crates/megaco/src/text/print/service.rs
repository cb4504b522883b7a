//! Parameters of changes of service.

use super::Printer;
use crate::model::{
    NonStandardData, NonStandardIdentifier, ServiceChangeAddress, ServiceChangeMethod, ServiceChangeParm,
    ServiceChangeProfile, ServiceChangeResParm,
};
use crate::text::read::service::{begins_as_text, vendor_values};
use crate::text::scan::{is_safe, is_vendor_name};
use crate::text::token::Token;

impl Printer<'_> {
    pub(super) fn service_change_parms(&mut self, parms: &ServiceChangeParm<'_>) {
        self.token(Token::Services);
        self.open();
        self.token(Token::Method);
        self.equal();
        self.token(match parms.service_change_method {
            ServiceChangeMethod::Failover => Token::Failover,
            ServiceChangeMethod::Forced => Token::Forced,
            ServiceChangeMethod::Graceful => Token::Graceful,
            ServiceChangeMethod::Restart => Token::Restart,
            ServiceChangeMethod::Disconnected => Token::Disconnected,
            ServiceChangeMethod::HandOff => Token::HandOff,
        });
        let mut first = false;
        self.address(parms.service_change_address.as_ref(), &mut first);
        self.service_version(parms.service_change_version, &mut first);
        self.profile(parms.service_change_profile.as_ref(), &mut first);
        match &parms.service_change_reason[..] {
            [reason] if !reason.is_empty() => {
                self.comma();
                self.token(Token::Reason);
                self.equal();
                self.quoted(reason);
            }
            _ => self.refuse("one reason"),
        }
        if let Some(delay) = parms.service_change_delay {
            self.comma();
            self.token(Token::Delay);
            self.equal();
            self.number(delay);
        }
        self.mgc_id(parms.service_change_mgc_id.as_ref(), &mut first);
        if let Some(time) = &parms.time_stamp {
            self.comma();
            self.time_notation(time);
        }
        if let Some(data) = &parms.non_standard_data {
            self.comma();
            self.vendor_parameter(data);
        }
        if let Some(audit) = &parms.service_change_info {
            if self.version < 2 {
                self.refuse("audit items of a change are of version 2");
            }
            self.comma();
            self.audit_items(audit);
        }
        if parms.service_change_incomplete_flag.is_some() {
            if self.version < 3 {
                self.refuse("ServiceChangeInc is of version 3");
            }
            self.comma();
            self.token(Token::ServiceChangeInc);
        }
        self.close();
    }

    /// `extension`: the text has names for what vendors add, and no other identifiers.
    fn vendor_parameter(&mut self, data: &NonStandardData<'_>) {
        match &data.non_standard_identifier {
            NonStandardIdentifier::Experimental(name)
                if is_vendor_name(name) && name.iter().all(|&octet| is_safe(octet)) =>
            {
                self.raw(name);
            }
            _ => self.refuse("what a vendor adds under a name that begins with X- or X+"),
        }
        if !begins_as_text(&data.data) {
            self.octet(b'=');
            return self.value(&data.data);
        }
        match vendor_values(&data.data) {
            Some((values, extra)) => self.parm_values(&values, extra),
            None => self.refuse("a vendor's value that is a value of the text where it begins like one"),
        }
    }

    fn address(&mut self, address: Option<&ServiceChangeAddress<'_>>, first: &mut bool) {
        let Some(address) = address else { return };
        self.next(first);
        self.token(Token::ServiceChangeAddress);
        self.equal();
        match address {
            ServiceChangeAddress::PortNumber(port) => self.number(u32::from(*port)),
            ServiceChangeAddress::Ip4Address(address) => self.ip4_address(address),
            ServiceChangeAddress::Ip6Address(address) => self.ip6_address(address),
            ServiceChangeAddress::DomainName(name) => self.domain_name(name),
            ServiceChangeAddress::DeviceName(name) => self.name(name),
            ServiceChangeAddress::MtpAddress(address) => self.mtp_address(address),
        }
    }

    fn service_version(&mut self, version: Option<u8>, first: &mut bool) {
        let Some(version) = version else { return };
        self.next(first);
        self.token(Token::Version);
        self.equal();
        self.number(u32::from(version));
    }

    fn profile(&mut self, profile: Option<&ServiceChangeProfile<'_>>, first: &mut bool) {
        let Some(profile) = profile else { return };
        self.next(first);
        self.token(Token::Profile);
        self.equal();
        self.name(&profile.profile_name);
        self.octet(b'/');
        self.number(u32::from(profile.version));
    }

    fn mgc_id(&mut self, m_id: Option<&crate::model::MId<'_>>, first: &mut bool) {
        let Some(m_id) = m_id else { return };
        self.next(first);
        self.token(Token::MgcIdToTry);
        self.equal();
        self.m_id(m_id);
    }

    pub(super) fn service_change_res_parms(&mut self, parms: &ServiceChangeResParm<'_>) {
        self.token(Token::Services);
        self.open();
        let mut first = true;
        self.address(parms.service_change_address.as_ref(), &mut first);
        self.service_version(parms.service_change_version, &mut first);
        self.profile(parms.service_change_profile.as_ref(), &mut first);
        self.mgc_id(parms.service_change_mgc_id.as_ref(), &mut first);
        if let Some(time) = &parms.time_stamp {
            self.next(&mut first);
            self.time_notation(time);
        }
        self.close();
    }
}
