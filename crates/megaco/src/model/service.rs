//! Changes of service.

use super::records::{atoms, choice, record};
use super::{
    AuditDescriptor, DomainName, ErrorDescriptor, Ip4Address, Ip6Address, MId, TerminationId, Values,
};
use crate::list::List;
use crate::octets::{Name, Str};

record! {
    /// ServiceChange.
    ServiceChangeRequest<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        service_change_parms "serviceChangeParms": Box<ServiceChangeParm<'a>>,
    }
}

record! {
    /// What came of it.
    ServiceChangeReply<'a> [...] {
        termination_id "terminationID": List<TerminationId<'a>>,
        service_change_result "serviceChangeResult": ServiceChangeResult<'a>,
    }
}

choice! {
    /// An error, or parameters.
    ServiceChangeResult<'a> [closed] {
        ErrorDescriptor "errorDescriptor" (ErrorDescriptor<'a>),
        ServiceChangeResParms "serviceChangeResParms" (Box<ServiceChangeResParm<'a>>),
    }
}

record! {
    /// Parameters of a change.
    ServiceChangeParm<'a> in Reason [...] {
        service_change_method "serviceChangeMethod": ServiceChangeMethod,
        service_change_address "serviceChangeAddress": Option<ServiceChangeAddress<'a>>,
        service_change_version "serviceChangeVersion": Option<u8>,
        service_change_profile "serviceChangeProfile": Option<ServiceChangeProfile<'a>>,
        service_change_reason "serviceChangeReason": Values<'a>,
        service_change_delay "serviceChangeDelay": Option<u32>,
        service_change_mgc_id "serviceChangeMgcId": Option<MId<'a>>,
        time_stamp "timeStamp": Option<TimeNotation>,
        non_standard_data "nonStandardData": Option<Box<NonStandardData<'a>>>,
        ; 2:
        service_change_info "serviceChangeInfo": Option<AuditDescriptor<'a>>,
        ; 3:
        service_change_incomplete_flag "serviceChangeIncompleteFlag": Option<()>,
    }
}

record! {
    /// Parameters of the reply.
    #[derive(Default)]
    ServiceChangeResParm<'a> [...] {
        service_change_mgc_id "serviceChangeMgcId": Option<MId<'a>>,
        service_change_address "serviceChangeAddress": Option<ServiceChangeAddress<'a>>,
        service_change_version "serviceChangeVersion": Option<u8>,
        service_change_profile "serviceChangeProfile": Option<ServiceChangeProfile<'a>>,
        time_stamp "timeStamp": Option<TimeNotation>,
    }
}

atoms! {
    /// How the service changes.
    ServiceChangeMethod [...] {
        Failover "failover",
        Forced "forced",
        Graceful "graceful",
        Restart "restart",
        Disconnected "disconnected",
        HandOff "handOff",
    }
}

choice! {
    /// Where further messages go.
    ServiceChangeAddress<'a> [...] {
        PortNumber "portNumber" (u16),
        Ip4Address "ip4Address" (Ip4Address),
        Ip6Address "ip6Address" (Ip6Address),
        DomainName "domainName" (DomainName<'a>),
        DeviceName "deviceName" (Name<'a> as Path),
        MtpAddress "mtpAddress" (Str<'a> as Mtp),
    }
}

record! {
    /// A profile and its version.
    ServiceChangeProfile<'a> [by_hand] {
        profile_name "profileName": Name<'a>,
        version "version": u8,
    }
}

record! {
    /// A time: `yyyymmdd` and `hhmmssss`.
    TimeNotation [closed] {
        date "date": [u8; 8],
        time "time": [u8; 8],
    }
}

record! {
    /// What a vendor adds. In text it is a parameter `X-…`: its name is the experimental identifier, and the data are its
    /// value; a relation or a list of values, or a value that begins like them, is there with its mark: `>5`, `=[1,2]`.
    NonStandardData<'a> [closed] {
        non_standard_identifier "nonStandardIdentifier": NonStandardIdentifier<'a>,
        data "data": Str<'a>,
    }
}

choice! {
    /// Who the vendor is.
    NonStandardIdentifier<'a> in Vendor [by_hand] {
        Object "object" (List<u32>),
        H221NonStandard "h221NonStandard" (H221NonStandard),
        Experimental "experimental" (Str<'a>),
    }
}

record! {
    /// A vendor by its codes of T.35.
    H221NonStandard [...] {
        t35_country_code1 "t35CountryCode1": u8 as Octet,
        t35_country_code2 "t35CountryCode2": u8 as Octet,
        t35_extension "t35Extension": u8 as Octet,
        manufacturer_code "manufacturerCode": u16,
    }
}
