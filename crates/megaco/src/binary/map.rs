//! From the model to the generated types of versions 1 and 3. Version 2 differs from version 3 by what it does not
//! have yet; on the wire it is the same.

mod strings;

use tercet_runtime::types::{BitString, Octets, Text};

use super::Binary;
use crate::list::{List, Token, TokenSet};
use crate::model::{
    AuditDescriptor, EventSpecParameter, IndAudSignalsDescriptor, Lenient, LocalRemoteDescriptor,
    ObservedEventsDescriptor, ServiceChangeProfile, ServiceChangeResParm, TerminationId,
};
use crate::octets::Name;
use crate::packages::Item;
use crate::sdp::Lines;
use crate::{Error, Result};

pub(super) use strings::text;

/// What names and values mean where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Property,
    Event,
    Signal,
    Statistic,
    Parameter,
    Package,
    DigitMap,
    Reason,
    Vendor,
}

/// The way there.
pub(crate) struct Context<'b> {
    binary: &'b Binary,
    pub(super) version: u8,
    kind: Kind,
    /// The event or signal whose parameters come.
    item: Option<(Item, u16, u16)>,
}

impl<'b> Context<'b> {
    pub(super) const fn new(binary: &'b Binary, version: u8) -> Self {
        Self { binary, version, kind: Kind::Plain, item: None }
    }

    fn enter(&mut self, kind: Kind) -> (Kind, Option<(Item, u16, u16)>) {
        (std::mem::replace(&mut self.kind, kind), self.item)
    }

    fn leave(&mut self, before: (Kind, Option<(Item, u16, u16)>)) {
        (self.kind, self.item) = before;
    }

    const fn item_kind(&self) -> Item {
        match self.kind {
            Kind::Event => Item::Event,
            Kind::Signal => Item::Signal,
            Kind::Statistic => Item::Statistic,
            _ => Item::Property,
        }
    }

    /// Whether a string is one that the standard wants encoded inside of its OCTET STRING.
    const fn wraps(&self) -> bool {
        self.binary.strict
            && matches!(self.kind, Kind::Property | Kind::Statistic | Kind::Parameter | Kind::Reason)
    }
}

#[cold]
pub(super) const fn refuse(what: &'static str) -> Error {
    Error::new(0, what)
}

/// From the model to a generated type.
pub(crate) trait To<'a, G> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<G>;
}

macro_rules! same {
    ($($ty:ty),*) => {$(
        impl<'a> To<'a, $ty> for $ty {
            fn to(&'a self, _: &mut Context<'_>) -> Result<$ty> {
                Ok(*self)
            }
        }
    )*};
}

same!(u8, u16, u32, bool, (), [u8; 4], [u8; 16]);

/// A priority: text allows more than the module does.
impl<'a> To<'a, u8> for u16 {
    fn to(&'a self, _: &mut Context<'_>) -> Result<u8> {
        u8::try_from(*self).map_err(|_| refuse("a priority of at most 15"))
    }
}

impl<'a, T: To<'a, G>, G> To<'a, Option<G>> for Option<T> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<Option<G>> {
        self.as_ref().map(|value| value.to(cx)).transpose()
    }
}

impl<'a, T: To<'a, G>, G> To<'a, Vec<G>> for Vec<T> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<Vec<G>> {
        all_to(self, cx)
    }
}

/// Not `collect`, which sets aside room for four where there is one.
fn all_to<'a, T: To<'a, G>, G>(values: &'a [T], cx: &mut Context<'_>) -> Result<Vec<G>> {
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        all.push(value.to(cx)?);
    }
    Ok(all)
}

impl<'a, T: To<'a, G>, G> To<'a, Vec<G>> for List<T> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<Vec<G>> {
        all_to(self, cx)
    }
}

impl<'a, T: To<'a, G>, G> To<'a, G> for Box<T> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<G> {
        (**self).to(cx)
    }
}

/// What the module has to have if the text has nothing.
pub(crate) trait Missing: Sized {
    /// It, if there is something that says the same.
    fn missing<'x>() -> Option<&'x Self>;
}

impl Missing for u32 {
    fn missing<'x>() -> Option<&'x Self> {
        None
    }
}

impl Missing for AuditDescriptor<'_> {
    fn missing<'x>() -> Option<&'x Self> {
        static EMPTY: AuditDescriptor<'static> =
            AuditDescriptor { audit_token: None, audit_property_token: None };
        Some(&EMPTY)
    }
}

impl Missing for ObservedEventsDescriptor<'_> {
    fn missing<'x>() -> Option<&'x Self> {
        static EMPTY: ObservedEventsDescriptor<'static> =
            ObservedEventsDescriptor { request_id: 0, observed_event_lst: Vec::new() };
        Some(&EMPTY)
    }
}

impl<'a, T: To<'a, G> + Missing, G> To<'a, G> for Lenient<T> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<G> {
        self.0.as_ref().or_else(|| T::missing()).ok_or_else(|| refuse("a transaction id"))?.to(cx)
    }
}

impl<'a, T: Token> To<'a, BitString<'a>> for TokenSet<T> {
    fn to(&'a self, _: &mut Context<'_>) -> Result<BitString<'a>> {
        let bits = self.bits();
        let length = u16::BITS - bits.leading_zeros();
        Ok(BitString::from_bits((0..length).map(|bit| bits >> bit & 1 == 1)))
    }
}

macro_rules! by_hand {
    ($($v:ident)*) => {$(
        impl<'a> To<'a, crate::generated::$v::TerminationId<'a>> for TerminationId<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<crate::generated::$v::TerminationId<'a>> {
                let (wildcard, id) = cx.binary.levels.encode(&self.0).ok_or_else(|| {
                    refuse("a termination whose name is bits in the levels that are set, or at most 8 characters")
                })?;
                Ok(crate::generated::$v::TerminationId { wildcard, id: Octets::copied(id.octets()) })
            }
        }

        impl<'a> To<'a, crate::generated::$v::LocalRemoteDescriptor<'a>> for LocalRemoteDescriptor<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<crate::generated::$v::LocalRemoteDescriptor<'a>> {
                let before = cx.enter(Kind::Plain);
                let mut prop_grps = Vec::new();
                match self {
                    Self::Text(text) => {
                        for line in Lines::new(text) {
                            if prop_grps.is_empty() || line.begins_group() {
                                prop_grps.push(Vec::new());
                            }
                            let name = Name::borrowed(line.name).to(cx)?;
                            let value = vec![Octets::borrowed(line.value)];
                            let parm = crate::generated::$v::PropertyParm { name, value, extra_info: None };
                            if let Some(group) = prop_grps.last_mut() {
                                group.push(parm);
                            }
                        }
                    }
                    Self::Groups(groups) => prop_grps = groups.to(cx)?,
                }
                cx.leave(before);
                Ok(crate::generated::$v::LocalRemoteDescriptor { prop_grps })
            }
        }

        impl<'a> To<'a, crate::generated::$v::ServiceChangeProfile<'a>> for ServiceChangeProfile<'a> {
            fn to(&'a self, _: &mut Context<'_>) -> Result<crate::generated::$v::ServiceChangeProfile<'a>> {
                let name = self.profile_name.to_ascii_lowercase();
                let profile = format!("{}/{}", text(&name)?.as_str(), self.version);
                Ok(crate::generated::$v::ServiceChangeProfile { profile_name: Text::copied(&profile) })
            }
        }
    )*};
}

by_hand!(v1 v3);

macro_rules! res_parm {
    ($($v:ident $time:ident)*) => {$(
        impl<'a> To<'a, crate::generated::$v::ServiceChangeResParm<'a>> for ServiceChangeResParm<'a> {
            fn to(&'a self, cx: &mut Context<'_>) -> Result<crate::generated::$v::ServiceChangeResParm<'a>> {
                Ok(crate::generated::$v::ServiceChangeResParm {
                    service_change_mgc_id: self.service_change_mgc_id.to(cx)?,
                    service_change_address: self.service_change_address.to(cx)?,
                    service_change_version: self.service_change_version.to(cx)?,
                    service_change_profile: self.service_change_profile.to(cx)?,
                    $time: self.time_stamp.to(cx)?,
                })
            }
        }
    )*};
}

// The component has another name in each module, and the same tag.
res_parm!(v1 time_stamp v3 timestamp);

impl<'a> To<'a, u16> for EventSpecParameter<'a> {
    fn to(&'a self, _: &mut Context<'_>) -> Result<u16> {
        match self {
            Self::Stream(stream) => Ok(*stream),
            Self::Parameter(_) => {
                Err(refuse("the stream of a buffered event: binary has no parameter there"))
            }
        }
    }
}

type AudSignals<'a> = crate::generated::v3::IndAudSignalsDescriptor<'a>;

impl<'a> To<'a, AudSignals<'a>> for Option<IndAudSignalsDescriptor<'a>> {
    fn to(&'a self, cx: &mut Context<'_>) -> Result<AudSignals<'a>> {
        self.as_ref().ok_or_else(|| refuse("a signal to audit: binary cannot audit none"))?.to(cx)
    }
}

/// The kind that a type sets; none leaves it as it is.
macro_rules! kind_of {
    () => {
        $crate::binary::map::Kind::Plain
    };
    ($kind:ident) => {
        $crate::binary::map::Kind::$kind
    };
}

macro_rules! mapped_record {
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [both $($gl:lifetime)? $(as $g:ident)? $(, $($ext:tt)*)?] $f1:tt $f2:tt $f3:tt) => {
        $crate::binary::map::mapped_record! { @ v1 $name [$($life)?] [$($kind)?] [$($gl)?] [$($g)?] $f1 {} {} $f2 $f3 }
        $crate::binary::map::mapped_record! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] [$($g)?] $f1 $f2 $f3 {} {} }
    };
    // Only the type of version 3 borrows.
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [split $gl:lifetime $(, $($ext:tt)*)?] $f1:tt $f2:tt $f3:tt) => {
        $crate::binary::map::mapped_record! { @ v1 $name [$($life)?] [$($kind)?] [] [] $f1 {} {} $f2 $f3 }
        $crate::binary::map::mapped_record! { @ v3 $name [$($life)?] [$($kind)?] [$gl] [] $f1 $f2 $f3 {} {} }
    };
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [three $($gl:lifetime)? $(as $g:ident)? $(, $($ext:tt)*)?] $f1:tt $f2:tt $f3:tt) => {
        $crate::binary::map::mapped_record! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] [$($g)?] $f1 $f2 $f3 {} {} }
    };
    // By hand.
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [$($other:ident)? $(, $($ext:tt)*)?] $f1:tt $f2:tt $f3:tt) => {};
    (@ $v:ident $name:ident [$($life:lifetime)?] [$($kind:ident)?] [$($gl:lifetime)?] []
        {$($f1:ident)*} {$($f2:ident)*} {$($f3:ident)*} {$($n2:ident)*} {$($n3:ident)*}
    ) => {
        impl<'a> $crate::binary::map::To<'a, $crate::generated::$v::$name $(<$gl>)?> for $name $(<$life>)? {
            fn to(
                &'a self,
                cx: &mut $crate::binary::map::Context<'_>,
            ) -> $crate::Result<$crate::generated::$v::$name $(<$gl>)?> {
                $(cx.no_more(2, stringify!($n2), self.$n2 != Default::default())?;)*
                $(cx.no_more(3, stringify!($n3), self.$n3 != Default::default())?;)*
                $(cx.no_more(2, stringify!($f2), self.$f2 != Default::default())?;)*
                $(cx.no_more(3, stringify!($f3), self.$f3 != Default::default())?;)*
                let before = cx.begin($crate::binary::map::kind_of!($($kind)?));
                let value = $crate::generated::$v::$name {
                    $($f1: $crate::binary::map::To::to(&self.$f1, cx)?,)*
                    $($f2: $crate::binary::map::To::to(&self.$f2, cx)?,)*
                    $($f3: $crate::binary::map::To::to(&self.$f3, cx)?,)*
                };
                cx.end(before);
                Ok(value)
            }
        }
    };
}

macro_rules! mapped_choice {
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [both $($gl:lifetime)? $(, $($ext:tt)*)?] $a1:tt $a2:tt $a3:tt) => {
        $crate::binary::map::mapped_choice! { @ v1 $name [$($life)?] [$($kind)?] [$($gl)?] $name $a1 {} {} }
        $crate::binary::map::mapped_choice! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] $name $a1 $a2 $a3 }
    };
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [both $($gl:lifetime)? as $g:ident $($more:ident)* $(, $($ext:tt)*)?] $a1:tt $a2:tt $a3:tt) => {
        $crate::binary::map::mapped_choice! { @ v1 $name [$($life)?] [$($kind)?] [$($gl)?] $g $a1 {} {} }
        $crate::binary::map::mapped_choice! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] $g $a1 $a2 $a3 }
        $(
            $crate::binary::map::mapped_choice! { @ v1 $name [] [] [] $more $a1 {} {} }
            $crate::binary::map::mapped_choice! { @ v3 $name [] [] [] $more $a1 {} {} }
        )*
    };
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [three $($gl:lifetime)? $(, $($ext:tt)*)?] $a1:tt $a2:tt $a3:tt) => {
        $crate::binary::map::mapped_choice! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] $name $a1 $a2 $a3 }
    };
    ($name:ident [$($life:lifetime)?] [$($kind:ident)?] [three $($gl:lifetime)? as $g:ident $(, $($ext:tt)*)?] $a1:tt $a2:tt $a3:tt) => {
        $crate::binary::map::mapped_choice! { @ v3 $name [$($life)?] [$($kind)?] [$($gl)?] $g $a1 $a2 $a3 }
    };
    (@ $v:ident $name:ident [$($life:lifetime)?] [$($kind:ident)?] [$($gl:lifetime)?] $g:ident
        {$($a1:ident)*} {$($a2:ident)*} {$($a3:ident)*}
    ) => {
        impl<'a> $crate::binary::map::To<'a, $crate::generated::$v::$g $(<$gl>)?> for $name $(<$life>)? {
            #[allow(unreachable_patterns, reason = "not every module has alternatives that the other lacks")]
            fn to(
                &'a self,
                cx: &mut $crate::binary::map::Context<'_>,
            ) -> $crate::Result<$crate::generated::$v::$g $(<$gl>)?> {
                let before = cx.begin($crate::binary::map::kind_of!($($kind)?));
                let value = match self {
                    $(Self::$a1(value) => $crate::generated::$v::$g::$a1($crate::binary::map::To::to(value, cx)?),)*
                    $(Self::$a2(value) => {
                        cx.no_more(2, stringify!($a2), true)?;
                        $crate::generated::$v::$g::$a2($crate::binary::map::To::to(value, cx)?)
                    })*
                    $(Self::$a3(value) => {
                        cx.no_more(3, stringify!($a3), true)?;
                        $crate::generated::$v::$g::$a3($crate::binary::map::To::to(value, cx)?)
                    })*
                    _ => {
                        return Err($crate::binary::map::unknown("what version 1 has: an alternative is of a later one"));
                    }
                };
                cx.end(before);
                Ok(value)
            }
        }
    };
}

macro_rules! mapped_atoms {
    ($name:ident [both as $g:ident $(, $($ext:tt)*)?] $a:tt) => {
        $crate::binary::map::mapped_atoms! { @ v1 $name $g $a }
        $crate::binary::map::mapped_atoms! { @ v3 $name $g $a }
    };
    ($name:ident [three as $g:ident $(, $($ext:tt)*)?] $a:tt) => {
        $crate::binary::map::mapped_atoms! { @ v3 $name $g $a }
    };
    ($name:ident [mux $(, $($ext:tt)*)?] {$($a:ident)* }) => {
        $crate::binary::map::mapped_atoms! { @ v1 $name MuxType { H221 H223 H226 V76 } }
        $crate::binary::map::mapped_atoms! { @ v3 $name MuxType {$($a)*} }
    };
    ($name:ident [] $a:tt) => {};
    (@ $v:ident $name:ident $g:ident {$($a:ident)*}) => {
        impl<'a> $crate::binary::map::To<'a, $crate::generated::$v::$g> for $name {
            #[allow(unreachable_patterns, reason = "version 1 has fewer values of one type")]
            fn to(
                &'a self,
                _: &mut $crate::binary::map::Context<'_>,
            ) -> $crate::Result<$crate::generated::$v::$g> {
                Ok(match self {
                    $(Self::$a => $crate::generated::$v::$g::$a,)*
                    _ => return Err($crate::binary::map::unknown(concat!("a value of ", stringify!($name), " that version 1 has"))),
                })
            }
        }
    };
}

pub(crate) use {kind_of, mapped_atoms, mapped_choice, mapped_record};

#[cold]
pub(crate) const fn unknown(what: &'static str) -> Error {
    refuse(what)
}

impl Context<'_> {
    /// Refuses what is of a later version than the message.
    pub(crate) fn no_more(&self, since: u8, what: &'static str, is_there: bool) -> Result<()> {
        _ = what;
        match (is_there && self.version < since, since) {
            (false, _) => Ok(()),
            (true, 2) => Err(refuse("what version 1 has: a component is of version 2")),
            (true, _) => Err(refuse("what the version of the message has: a component is of version 3")),
        }
    }

    /// Begins a type; [`Kind::Plain`] keeps parameters where they are.
    pub(crate) fn begin(&mut self, kind: Kind) -> (Kind, Option<(Item, u16, u16)>) {
        self.enter(kind)
    }

    /// Ends it.
    pub(crate) fn end(&mut self, before: (Kind, Option<(Item, u16, u16)>)) {
        self.leave(before);
    }
}
