//! Values without the message that they borrow from.

use std::borrow::Cow;

use super::{EventSpecParameter, Lenient, LocalRemoteDescriptor, Message, TerminationId};
use crate::list::{List, Token, TokenSet};
use crate::octets::{Name, Str};

/// A value that can be kept longer than the message that it was read from.
///
/// ```
/// use tercet_megaco::model::{IntoOwned, MegacoMessage};
/// use tercet_megaco::text::read_message;
///
/// fn keep(octets: &[u8]) -> tercet_megaco::Result<MegacoMessage<'static>> {
///     Ok(read_message(octets)?.into_owned())
/// }
/// # keep(b"!/1 mg T=1{C=-{S=a}}").unwrap();
/// ```
pub trait IntoOwned {
    /// The type of the value without a borrow.
    type Owned;

    /// Copies what is borrowed.
    fn into_owned(self) -> Self::Owned;
}

macro_rules! plain {
    ($($ty:ty),*) => {
        $(impl IntoOwned for $ty {
            type Owned = Self;

            fn into_owned(self) -> Self {
                self
            }
        })*
    };
}

plain!((), bool, u8, u16, u32, [u8; 4], [u8; 8], [u8; 16]);

impl<T: Token> IntoOwned for TokenSet<T> {
    type Owned = Self;

    fn into_owned(self) -> Self {
        self
    }
}

impl IntoOwned for Str<'_> {
    type Owned = Str<'static>;

    fn into_owned(self) -> Str<'static> {
        Str(Cow::Owned(self.0.into_owned()))
    }
}

impl IntoOwned for Name<'_> {
    type Owned = Name<'static>;

    fn into_owned(self) -> Name<'static> {
        Name(Cow::Owned(self.0.into_owned()))
    }
}

impl IntoOwned for TerminationId<'_> {
    type Owned = TerminationId<'static>;

    fn into_owned(self) -> TerminationId<'static> {
        TerminationId(self.0.into_owned())
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

impl<T: IntoOwned> IntoOwned for Lenient<T> {
    type Owned = Lenient<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        Lenient(self.0.into_owned())
    }
}

impl<T: IntoOwned> IntoOwned for Box<T> {
    type Owned = Box<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        Box::new((*self).into_owned())
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(T::into_owned).collect()
    }
}

impl<T: IntoOwned> IntoOwned for List<T> {
    type Owned = List<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        match self {
            Self::One(one) => List::One(one.into_owned()),
            Self::Many(many) => List::Many(many.into_owned()),
        }
    }
}

impl IntoOwned for EventSpecParameter<'_> {
    type Owned = EventSpecParameter<'static>;

    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Stream(stream) => EventSpecParameter::Stream(stream),
            Self::Parameter(name) => EventSpecParameter::Parameter(name.into_owned()),
        }
    }
}

impl IntoOwned for LocalRemoteDescriptor<'_> {
    type Owned = LocalRemoteDescriptor<'static>;

    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Text(text) => LocalRemoteDescriptor::Text(text.into_owned()),
            Self::Groups(groups) => LocalRemoteDescriptor::Groups(groups.into_owned()),
        }
    }
}

impl IntoOwned for Message<'_> {
    type Owned = Message<'static>;

    fn into_owned(self) -> Self::Owned {
        Message {
            version: self.version,
            m_id: self.m_id.into_owned(),
            message_body: self.message_body.into_owned(),
        }
    }
}
