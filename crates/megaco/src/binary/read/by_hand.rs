//! What is not in the model as it is in the module.

use std::borrow::Cow;

use tercet_runtime::codec::ber;
use tercet_runtime::types::Octets;
use tercet_runtime::{Result, Tag};

use super::leaves::Arcs;
use super::records::{Preamble, read_choice, read_record};
use super::{
    Alternative, BerReader, Component, Context, Named, PerReader, Read, read_named, read_named_choice, whole,
};
use crate::binary::{Binary, Marker};
use crate::list::Token;
use crate::model::{
    EventSpecParameter, EventsDescriptor, H221NonStandard, IndAudSignalsDescriptor, LocalRemoteDescriptor,
    MuxType, NonStandardIdentifier, PropertyGroup, SecondEventsDescriptor, ServiceChangeProfile,
    SignalDirection, TerminationId,
};
use crate::octets::{Name, Str};

const PLAIN: u8 = Marker::Plain as u8;

/// Reads a type by another one, as which the module has it.
macro_rules! by {
    ($($ty:ty, $wire:ty: |$value:ident, $cx:ident| $make:expr;)*) => {$(
        read_named! { $ty, Tag::SEQUENCE }

        impl<'a> Named<'a> for $ty {
            fn ber(r: &mut BerReader<'a>, tag: Tag, $cx: &mut Context<'a>) -> Result<Self> {
                let $value = <$wire as Named>::ber(r, tag, $cx)?;
                $make
            }

            fn per(r: &mut PerReader<'a>, $cx: &mut Context<'a>) -> Result<Self> {
                let $value = <$wire as Named>::per(r, $cx)?;
                $make
            }
        }
    )*};
}

by! {
    TerminationId<'a>, TerminationOctets<'a>: |value, cx| {
        let Binary { provisioned, levels, .. } = cx.binary;
        let name = provisioned.decode(&value.wildcard, &value.id).map(Cow::Borrowed);
        let name = name.or_else(|| levels.decode(&value.wildcard, &value.id));
        Ok(name.map(|name| Self(Name(name))).unwrap_or_else(|| cx.refuse("a termination id with the levels that are set")))
    };
    LocalRemoteDescriptor<'a>, Groups<'a>: |value, cx| Ok(Self::Groups(value.prop_grps));
    ServiceChangeProfile<'a>, ProfileName<'a>: |value, cx| Ok(profile(&value.profile_name)
        .unwrap_or_else(|| cx.refuse("a profile, `/` and its version")));
}

struct TerminationOctets<'a> {
    wildcard: Vec<[u8; 1]>,
    id: Octets<'a>,
}

read_record! {
    TerminationOctets ['a] [] [...] { [wildcard: Vec<[u8; 1]>, []] [id: Octets<'a>, [Levels]] } {}
}

struct Groups<'a> {
    prop_grps: Vec<PropertyGroup<'a>>,
}

read_record! { Groups ['a] [] [...] { [prop_grps: Vec<PropertyGroup<'a>>, []] } {} }

struct ProfileName<'a> {
    profile_name: Str<'a>,
}

read_record! { ProfileName ['a] [] [closed] { [profile_name: Str<'a>, [Profile]] } {} }

enum Identifier<'a> {
    Object(Arcs),
    H221NonStandard(H221NonStandard),
    Experimental(Str<'a>),
}

read_choice! {
    Identifier ['a] [] [...]
    { [Object: Arcs, []] [H221NonStandard: H221NonStandard, []] [Experimental: Str<'a>, [Filled]] } {}
}

/// A profile: name, slash and version.
fn profile(profile: &[u8]) -> Option<ServiceChangeProfile<'static>> {
    let slash = memchr::memrchr(b'/', profile)?;
    let version = std::str::from_utf8(&profile[slash + 1..]).ok()?.parse().ok()?;
    Some(ServiceChangeProfile { profile_name: Name::from(profile[..slash].to_vec()), version })
}

read_named_choice! { NonStandardIdentifier<'a> }

impl<'a> Named<'a> for NonStandardIdentifier<'a> {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        <Identifier<'a> as Named>::ber(r, tag, cx).map(Self::from)
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        <Identifier<'a> as Named>::per(r, cx).map(Self::from)
    }
}

impl<'a> From<Identifier<'a>> for NonStandardIdentifier<'a> {
    fn from(identifier: Identifier<'a>) -> Self {
        match identifier {
            Identifier::Object(Arcs(arcs)) => Self::Object(arcs),
            Identifier::H221NonStandard(codes) => Self::H221NonStandard(codes),
            Identifier::Experimental(name) => Self::Experimental(name),
        }
    }
}

/// Events without a request id ask for none. The module of version 1 wants an id even there, which is 0; with it, no events
/// are the same as without.
const NO_REQUEST: u32 = 0;

macro_rules! events {
    ($($name:ident $recursive:literal)*) => {$(
        read_named! { $name<'a>, Tag::SEQUENCE }

        impl<'a> $name<'a> {
            fn without_none(mut self) -> Self {
                let is_request = self.request_id != Some(NO_REQUEST) || !self.event_list.is_empty();
                self.request_id = self.request_id.filter(|_| is_request);
                self
            }
        }

        impl<'a> Named<'a> for $name<'a> {
            fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
                let level = ber::enter(r, tag)?;
                let request_id = <Option<u32> as Component<'a, PLAIN>>::ber::<2, true>(r, 0, cx)?;
                let event_list = <Vec<_> as Component<'a, PLAIN>>::ber::<2, true>(r, 1, cx)?;
                ber::leave_extensible(r, level, super::place::<2>)?;
                Ok(Self { request_id, event_list }.without_none())
            }

            fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
                // Second events may have others inside of them: both the SEQUENCE and its list count.
                if $recursive {
                    r.enter()?;
                }
                let mut preamble = Preamble::read(r, true, u32::from(!cx.is_first))?;
                let request_id = if cx.is_first {
                    Some(preamble.component::<PLAIN, u32>(r, cx)?)
                } else {
                    preamble.component::<PLAIN, Option<u32>>(r, cx)?
                };
                if $recursive {
                    r.enter()?;
                }
                let event_list = preamble.component::<PLAIN, Vec<_>>(r, cx)?;
                if $recursive {
                    r.leave();
                }
                if preamble.is_extended() {
                    r.skip_all_additions()?;
                }
                if $recursive {
                    r.leave();
                }
                Ok(Self { request_id, event_list }.without_none())
            }
        }
    )*};
}

events!(EventsDescriptor false SecondEventsDescriptor true);

read_named! { MuxType, Tag::ENUMERATED }

/// Version 1 has one less.
impl<'a> Named<'a> for MuxType {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        let number = ber::integer(r, tag)?;
        let known = u8::try_from(number).ok().and_then(Self::of_number);
        Ok(known.unwrap_or_else(|| cx.refuse("a value of MuxType")))
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        if !r.bit()? {
            return r.root_item(whole(4), &[Self::H221, Self::H223, Self::H226, Self::V76]);
        }
        match r.small_number()? {
            0 if !cx.is_first => Ok(Self::Nx64k),
            _ => Ok(cx.refuse("a value of MuxType")),
        }
    }
}

read_named! { SignalDirection, Tag::ENUMERATED }

/// `both` has the number 3.
impl<'a> Named<'a> for SignalDirection {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        match ber::integer(r, tag)? {
            0 => Ok(Self::Internal),
            1 => Ok(Self::External),
            3 => Ok(Self::Both),
            _ => Ok(cx.refuse("a value of SignalDirection")),
        }
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        if r.bit()? {
            r.small_number()?;
            return Ok(cx.refuse("a value of SignalDirection"));
        }
        r.root_item(whole(3), &[Self::Internal, Self::External, Self::Both])
    }
}

read_named! { EventSpecParameter<'a>, Tag::INTEGER }

/// The module has a stream alone.
impl<'a> Named<'a> for EventSpecParameter<'a> {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        <u16 as Read<'a, PLAIN>>::ber(r, tag, cx).map(Self::Stream)
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        <u16 as Read<'a, PLAIN>>::per(r, cx).map(Self::Stream)
    }
}

/// The module cannot audit no signal.
impl<'a, const M: u8> Alternative<'a, M> for Option<IndAudSignalsDescriptor<'a>> {
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        <IndAudSignalsDescriptor<'a> as Read<'a, PLAIN>>::ber(r, tag, cx).map(Some)
    }

    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        <IndAudSignalsDescriptor<'a> as Read<'a, PLAIN>>::per(r, cx).map(Some)
    }
}
