//! What names, strings and numbers are where they stand. A place is read by code of its own: its marker is a constant
//! there.

use crate::packages::Item;

/// What a type is about, or what a component of it is that is not as its type mostly is.
#[derive(Clone, Copy)]
pub(crate) enum Marker {
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
    /// IA5String.
    Ia5,
    /// IA5String (SIZE (1..64)): `PathName`.
    Path,
    /// IA5String (SIZE (1..67)): of a profile.
    Profile,
    /// IA5String (SIZE (8)), filled up with spaces.
    Filled,
    /// OCTET STRING (SIZE (12..32)).
    AuthData,
    /// OCTET STRING (SIZE (2..4)).
    Mtp,
    /// OCTET STRING (SIZE (1..8)): of a termination.
    Levels,
    /// INTEGER (0..15).
    Nibble,
    /// INTEGER (0..255).
    Octet,
}

impl Marker {
    /// The marker of a number.
    pub(crate) const fn of(number: u8) -> Self {
        const ALL: [Marker; 19] = [
            Marker::Plain,
            Marker::Property,
            Marker::Event,
            Marker::Signal,
            Marker::Statistic,
            Marker::Parameter,
            Marker::Package,
            Marker::DigitMap,
            Marker::Reason,
            Marker::Vendor,
            Marker::Ia5,
            Marker::Path,
            Marker::Profile,
            Marker::Filled,
            Marker::AuthData,
            Marker::Mtp,
            Marker::Levels,
            Marker::Nibble,
            Marker::Octet,
        ];
        ALL[number as usize]
    }

    /// The kind of the items that are named so.
    pub(crate) const fn item(self) -> Option<Item> {
        match self {
            Self::Property => Some(Item::Property),
            Self::Event => Some(Item::Event),
            Self::Signal => Some(Item::Signal),
            Self::Statistic => Some(Item::Statistic),
            _ => None,
        }
    }

    /// Whether the standard wants strings encoded inside of their OCTET STRINGs.
    pub(crate) const fn wraps(self) -> bool {
        matches!(self, Self::Property | Self::Statistic | Self::Parameter | Self::Reason)
    }
}

/// The number of the marker of a component: its own, or that of its type.
macro_rules! marked {
    ([$marker:ident] [$($kind:ident)?]) => {
        $crate::binary::Marker::$marker as u8
    };
    ([] [$kind:ident]) => {
        $crate::binary::Marker::$kind as u8
    };
    ([] []) => {
        $crate::binary::Marker::Plain as u8
    };
}

pub(crate) use marked;
