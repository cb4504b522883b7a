//! What is not in the model as it is in the module.

use tercet_runtime::codec::per::Whole;
use tercet_runtime::{Result, Tag};

use super::leaves::{Arcs, ascii, bounded, text};
use super::{
    Alternative, BerWriter, Component, Context, Named, PLAIN, PerWriter, Write, write_named,
    write_named_choice,
};
use crate::binary::{Binary, Marker};
use crate::list::List;
use crate::model::{
    EventSpecParameter, EventsDescriptor, IndAudSignalsDescriptor, LocalRemoteDescriptor, MuxType,
    NonStandardIdentifier, PropertyParm, SecondEventsDescriptor, ServiceChangeProfile, SignalDirection,
    TerminationId,
};
use crate::octets::{Name, Str};
use crate::sdp::Lines;

write_named! { ['a] TerminationId<'a>, Tag::SEQUENCE }

impl Named for TerminationId<'_> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        let (wildcards, id) = self.octets(cx)?;
        let end = w.open();
        w.octet_string(Tag::context(1), id.octets());
        Write::<PLAIN>::ber(&wildcards, w, Tag::context(0), cx)?;
        w.close(tag, end);
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let (wildcards, id) = self.octets(cx)?;
        w.bit(false);
        Write::<PLAIN>::per(&wildcards, w, cx)?;
        cx.bounded(w.octet_string(bounded(1, 8, Whole::Bits(3)), id.octets()))
    }
}

impl TerminationId<'_> {
    fn octets(&self, cx: &mut Context<'_>) -> Result<(Vec<[u8; 1]>, crate::binary::termination::Id)> {
        let Binary { provisioned, levels, .. } = cx.binary;
        provisioned.encode(&self.0).or_else(|| levels.encode(&self.0)).ok_or_else(|| {
            cx.refuse(
                "a termination name of bits or of at most 8 characters (11 of a-z, 0-9, _ / - .), or its id of 1 to 8 bytes in a registry (`[[termination]]` of `--registry`)",
            )
        })
    }
}

write_named! { ['a] LocalRemoteDescriptor<'a>, Tag::SEQUENCE }

impl Named for LocalRemoteDescriptor<'_> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        let end = w.open();
        match self {
            Self::Text(text) => Write::<PLAIN>::ber(&groups(text), w, Tag::context(0), cx)?,
            Self::Groups(groups) => Write::<PLAIN>::ber(groups, w, Tag::context(0), cx)?,
        }
        w.close(tag, end);
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        w.bit(false);
        match self {
            Self::Text(text) => Write::<PLAIN>::per(&groups(text), w, cx),
            Self::Groups(groups) => Write::<PLAIN>::per(groups, w, cx),
        }
    }
}

/// The lines of descriptions as properties.
fn groups<'t>(text: &'t [u8]) -> Vec<Vec<PropertyParm<'t>>> {
    let mut groups: Vec<Vec<PropertyParm<'t>>> = Vec::new();
    for line in Lines::new(text) {
        if groups.is_empty() || line.begins_group() {
            groups.push(Vec::new());
        }
        let value = List::One(Str::borrowed(line.value));
        let parm = PropertyParm { name: Name::borrowed(line.name), value, extra_info: None };
        if let Some(group) = groups.last_mut() {
            group.push(parm);
        }
    }
    groups
}

write_named! { ['a] ServiceChangeProfile<'a>, Tag::SEQUENCE }

impl Named for ServiceChangeProfile<'_> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        let profile = self.profile(cx)?;
        let end = w.open();
        w.octet_string(Tag::context(0), &profile);
        w.close(tag, end);
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let profile = self.profile(cx)?;
        text(&profile, bounded(1, 67, Whole::Bits(7)), w, cx)
    }
}

impl ServiceChangeProfile<'_> {
    /// Name, slash and version.
    fn profile(&self, cx: &mut Context<'_>) -> Result<Vec<u8>> {
        let mut profile = ascii(&self.profile_name, cx)?.to_ascii_lowercase();
        profile.push(b'/');
        profile.extend_from_slice(itoa::Buffer::new().format(self.version).as_bytes());
        Ok(profile)
    }
}

write_named_choice! { ['a] NonStandardIdentifier<'a> }

impl Named for NonStandardIdentifier<'_> {
    fn ber(&self, w: &mut BerWriter, _: Tag, cx: &mut Context<'_>) -> Result<()> {
        match self {
            Self::Object(arcs) => Named::ber(&Arcs(arcs), w, Tag::context(0), cx),
            Self::H221NonStandard(codes) => Named::ber(codes, w, Tag::context(1), cx),
            Self::Experimental(name) => Write::<FILLED>::ber(name, w, Tag::context(2), cx),
        }
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        let number = match self {
            Self::Object(_) => 0,
            Self::H221NonStandard(_) => 1,
            Self::Experimental(_) => 2,
        };
        w.bits(number, 3);
        match self {
            Self::Object(arcs) => Named::per(&Arcs(arcs), w, cx),
            Self::H221NonStandard(codes) => Named::per(codes, w, cx),
            Self::Experimental(name) => Write::<FILLED>::per(name, w, cx),
        }
    }
}

const FILLED: u8 = Marker::Filled as u8;

/// Events without a request id ask for none. The module of version 1 wants an id even there, which is 0.
const NO_REQUEST: u32 = 0;

macro_rules! events {
    ($($name:ident)*) => {$(
        write_named! { ['a] $name<'a>, Tag::SEQUENCE }

        impl Named for $name<'_> {
            fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
                let request_id = self.request_id.or((cx.version == 1).then_some(NO_REQUEST));
                let end = w.open();
                Write::<PLAIN>::ber(&self.event_list, w, Tag::context(1), cx)?;
                Component::<PLAIN>::ber(&request_id, w, 0, cx)?;
                w.close(tag, end);
                Ok(())
            }

            fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
                if cx.is_first {
                    w.bit(false);
                    Write::<PLAIN>::per(&self.request_id.unwrap_or(NO_REQUEST), w, cx)?;
                } else {
                    w.bits(u64::from(self.request_id.is_some()), 2);
                    Component::<PLAIN>::per(&self.request_id, w, cx)?;
                }
                Write::<PLAIN>::per(&self.event_list, w, cx)
            }
        }
    )*};
}

events!(EventsDescriptor SecondEventsDescriptor);

write_named! { [] MuxType, Tag::ENUMERATED }

/// Version 1 has one less.
impl Named for MuxType {
    fn ber(&self, w: &mut BerWriter, tag: Tag, _: &mut Context<'_>) -> Result<()> {
        w.integer(tag, *self as i64);
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        match self {
            Self::Nx64k if cx.is_first => Err(cx.refuse("a value of MuxType that version 1 has")),
            Self::Nx64k => w.added_item(0),
            _ => {
                w.bits(*self as u64, 3);
                Ok(())
            }
        }
    }
}

write_named! { [] SignalDirection, Tag::ENUMERATED }

/// `both` has the number 3.
impl Named for SignalDirection {
    fn ber(&self, w: &mut BerWriter, tag: Tag, _: &mut Context<'_>) -> Result<()> {
        let number = match self {
            Self::Internal => 0,
            Self::External => 1,
            Self::Both => 3,
        };
        w.integer(tag, number);
        Ok(())
    }

    fn per(&self, w: &mut PerWriter, _: &mut Context<'_>) -> Result<()> {
        w.bits(*self as u64, 3);
        Ok(())
    }
}

write_named! { ['a] EventSpecParameter<'a>, Tag::INTEGER }

/// The module has a stream alone.
impl Named for EventSpecParameter<'_> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        Write::<PLAIN>::ber(&self.stream(cx)?, w, tag, cx)
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        Write::<PLAIN>::per(&self.stream(cx)?, w, cx)
    }
}

impl EventSpecParameter<'_> {
    fn stream(&self, cx: &mut Context<'_>) -> Result<u16> {
        match self {
            Self::Stream(stream) => Ok(*stream),
            Self::Parameter(_) => {
                Err(cx.refuse("the stream of a buffered event: binary has no parameter there"))
            }
        }
    }
}

/// The module cannot audit no signal.
impl<const M: u8> Alternative<M> for Option<IndAudSignalsDescriptor<'_>> {
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        Write::<PLAIN>::ber(signals(self, cx)?, w, tag, cx)
    }

    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        Write::<PLAIN>::per(signals(self, cx)?, w, cx)
    }
}

fn signals<'m, 'a>(
    signals: &'m Option<IndAudSignalsDescriptor<'a>>,
    cx: &mut Context<'_>,
) -> Result<&'m IndAudSignalsDescriptor<'a>> {
    signals.as_ref().ok_or_else(|| cx.refuse("a signal to audit: binary cannot audit none"))
}
