//! What is not the same in the model and the modules: events of version 1 without a request id, and names of vendors.

use tercet_runtime::types::{ObjectIdentifier, Text};

use super::map::{Context, To, refuse, text};
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

        impl<'a> To<'a, v3::$name<'a>> for $name<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<v3::$name<'a>> {
                let request_id = self.request_id.or((cx.version == 1).then_some(NO_REQUEST));
                Ok(v3::$name { request_id, event_list: self.event_list.to(cx)? })
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
