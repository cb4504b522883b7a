//! Properties and their values.

use super::records::{atoms, choice, record};
use crate::list::List;
use crate::octets::{Name, Str};

/// Values of a property: none means CHOOSE, more than one is a list or range as [`Extra`] says.
pub type Values<'a> = List<Str<'a>>;

/// Properties that belong together: the lines of one session description.
pub type PropertyGroup<'a> = Vec<PropertyParm<'a>>;

record! {
    /// A property and its values.
    PropertyParm<'a> in Property [...] {
        name "name": Name<'a>,
        value "value": Values<'a>,
        extra_info "extraInfo": Option<Extra>,
    }
}

choice! {
    /// What several values, or a relation, mean.
    #[derive(Copy)]
    Extra [closed] {
        Relation "relation" (Relation),
        Range "range" (bool),
        Sublist "sublist" (bool),
    }
}

atoms! {
    /// How the value of a property has to stand to the one given.
    Relation [...] {
        GreaterThan "greaterThan",
        SmallerThan "smallerThan",
        UnequalTo "unequalTo",
    }
}
