//! What is not the same in the model and the modules: events of version 1 without a request id, and names of vendors.

use tercet_runtime::types::{ObjectIdentifier, OidRef, Text};

use super::map::{Context, Of, To, refuse, text};
use crate::Result;
use crate::generated::{v1, v3};
use crate::list::List;
use crate::model::{EventsDescriptor, SecondEventsDescriptor};

/// Events without a request id ask for none. The module of version 1 wants an id even there, which is 0; with it, no events
/// are the same as without.
const NO_REQUEST: u32 = 0;

macro_rules! events {
    ($($name:ident)*) => {$(
        impl<'a> To<'a, v1::$name<'a>> for $name<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<v1::$name<'a>> {
                let request_id = self.request_id.unwrap_or(NO_REQUEST);
                Ok(v1::$name { request_id, event_list: self.event_list.to(cx)? })
            }
        }

        impl<'a> Of<'a, v1::$name<'a>> for $name<'a> {
            fn of(value: v1::$name<'a>, cx: &mut Context<'a>) -> Result<Self> {
                let is_request = value.request_id != NO_REQUEST || !value.event_list.is_empty();
                let request_id = is_request.then_some(value.request_id);
                Ok(Self { request_id, event_list: Of::of(value.event_list, cx)? })
            }
        }

        impl<'a> To<'a, v3::$name<'a>> for $name<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<v3::$name<'a>> {
                let request_id = self.request_id.or((cx.version == 1).then_some(NO_REQUEST));
                Ok(v3::$name { request_id, event_list: self.event_list.to(cx)? })
            }
        }

        impl<'a> Of<'a, v3::$name<'a>> for $name<'a> {
            fn of(value: v3::$name<'a>, cx: &mut Context<'a>) -> Result<Self> {
                let is_request = value.request_id != Some(NO_REQUEST) || !value.event_list.is_empty();
                let request_id = value.request_id.filter(|_| is_request);
                Ok(Self { request_id, event_list: Of::of(value.event_list, cx)? })
            }
        }
    )*};
}

events!(EventsDescriptor SecondEventsDescriptor);

/// The name of a vendor's parameter: `IA5String (SIZE (8))`, where the text has 3 to 8 characters (`extensionParameter`).
/// Shorter names are filled up with spaces.
pub(super) fn vendor_name(name: &[u8]) -> Result<Text<'_>> {
    match name.len() {
        8 => text(name),
        0..8 => Ok(Text::copied(&format!("{:<8}", text(name)?.as_str()))),
        _ => Err(refuse("a vendor's parameter with a name of at most 8 characters")),
    }
}

impl<'a> To<'a, ObjectIdentifier<'a>> for List<u32> {
    fn to(&'a self, _: &mut Context<'_>) -> Result<ObjectIdentifier<'a>> {
        let arcs = self.iter().map(|&arc| u128::from(arc));
        ObjectIdentifier::from_arcs(arcs).map_err(|_| refuse("a vendor's object identifier"))
    }
}

impl Of<'_, ObjectIdentifier<'_>> for List<u32> {
    fn of(value: ObjectIdentifier<'_>, _: &mut Context<'_>) -> Result<Self> {
        let value = OidRef::new(value.as_bytes(), 0).ok();
        let arcs = value.and_then(|value| value.arcs().map(|arc| u32::try_from(arc).ok()).collect());
        arcs.ok_or_else(|| refuse("a vendor's object identifier with arcs of at most 32 bits"))
    }
}
