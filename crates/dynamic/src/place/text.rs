//! Clauses about the types of values in text: all parts of a value have the clause of its type.

use tercet_plan::Kind;

/// Returns the clause about JSON.
pub(super) const fn clause_of_jer(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "X.697 20",
        Kind::Integer => "X.697 21",
        Kind::Enumerated => "X.697 22",
        Kind::Real => "X.697 23",
        Kind::BitString => "X.697 24",
        Kind::OctetString => "X.697 25",
        Kind::Null => "X.697 26",
        Kind::Sequence => "X.697 27",
        Kind::SequenceOf => "X.697 28",
        Kind::Set => "X.697 29",
        Kind::SetOf => "X.697 30",
        Kind::Choice => "X.697 31",
        Kind::ObjectIdentifier => "X.697 32",
        Kind::RelativeOid => "X.697 33",
        Kind::OidIri => "X.697 34",
        Kind::RelativeOidIri => "X.697 35",
        Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => "X.697 40",
        Kind::Open => "X.697 41",
        _ => "X.697 38",
    }
}

/// Returns the clause about the XML value notation, which XER uses (X.693 8).
pub(super) const fn clause_of_xer(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "X.680 18",
        Kind::Integer => "X.680 19",
        Kind::Enumerated => "X.680 20",
        Kind::Real => "X.680 21",
        Kind::BitString => "X.680 22",
        Kind::OctetString => "X.680 23",
        Kind::Null => "X.680 24",
        Kind::Sequence => "X.680 25",
        Kind::SequenceOf => "X.680 26",
        Kind::Set => "X.680 27",
        Kind::SetOf => "X.680 28",
        Kind::Choice => "X.680 29",
        Kind::ObjectIdentifier => "X.680 32",
        Kind::RelativeOid => "X.680 33",
        Kind::OidIri => "X.680 34",
        Kind::RelativeOidIri => "X.680 35",
        Kind::Time | Kind::Date | Kind::TimeOfDay | Kind::DateTime | Kind::Duration => "X.680 38",
        Kind::GeneralizedTime => "X.680 46",
        Kind::UtcTime => "X.680 47",
        Kind::ObjectDescriptor => "X.680 48",
        Kind::Open => "X.680 14.6",
        _ => "X.680 12.15",
    }
}

/// Returns the clause about GSER.
pub(super) const fn clause_of_gser(kind: Kind) -> &'static str {
    match kind {
        Kind::BitString => "RFC 3641 3.5",
        Kind::Boolean => "RFC 3641 3.6",
        Kind::Enumerated => "RFC 3641 3.7",
        Kind::Integer => "RFC 3641 3.8",
        Kind::Null => "RFC 3641 3.9",
        Kind::ObjectIdentifier | Kind::RelativeOid => "RFC 3641 3.10",
        Kind::OctetString => "RFC 3641 3.11",
        Kind::Choice => "RFC 3641 3.12",
        Kind::Sequence | Kind::Set => "RFC 3641 3.13",
        Kind::SequenceOf | Kind::SetOf => "RFC 3641 3.14",
        Kind::Real => "RFC 3641 3.19",
        Kind::Open => "RFC 3641 3.1",
        _ => "RFC 3641 3.2",
    }
}
