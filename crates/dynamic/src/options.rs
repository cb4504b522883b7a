//! What a decoder may be told.

use tercet_plan::Rules;

/// How a decoder behaves. Start from [`Options::default`] (or [`Options::strict`]) and change what matters:
///
/// ```
/// use tercet_dynamic::{Options, Unknown};
/// let mut options = Options::default();
/// options.unknown = Unknown::Keep;
/// options.limits.depth = 200;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The rules that the input has to follow; BER unless told. With DER or CER the clause that is broken is named.
    pub rules: Rules,
    /// What one input may cost.
    pub limits: Limits,
    /// What to do with elements that the schema does not know; [`Unknown::Extensible`] unless told.
    pub unknown: Unknown,
    /// Whether absent components with a DEFAULT are told to the sink; not unless told.
    pub fill_defaults: bool,
    /// Whether open types are decoded where a table says what is inside; they are unless told.
    pub resolve_tables: bool,
    /// Whether a key that a table without `...` does not have is an error; if not, as unless told, the open type is
    /// left as octets.
    pub strict_tables: bool,
    /// Whether strings with CONTAINING are decoded; they are unless told. A string whose content does not decode is
    /// left as octets, unless constraints are checked.
    pub decode_containing: bool,
    /// Whether an ENUMERATED without `...` may have only the numbers of its items; not unless told.
    pub strict_enumerations: bool,
    /// Whether an INTEGER or ENUMERATED in BER must have the fewest octets (X.690 8.3.2), as it must in DER and CER
    /// whatever is told here; not unless told, since much equipment sends a fixed number of octets.
    pub strict_integers: bool,
    /// Whether values must meet their constraints (ranges, sizes, alphabets; in BER and OER also that the content of a
    /// string with CONTAINING decodes, X.682 11); not unless told.
    pub check_constraints: bool,
    /// Whether BER, too, refuses character strings and times whose contents octets are not of their type: `*` in a
    /// PrintableString, octets that are no UTF-8, `0000000000Z`. By default such a value is kept and reported
    /// ([`crate::Sink::marked`]). DER, CER and a check of constraints always refuse it.
    pub strict_values: bool,
    /// What may follow a value in an input that holds one value and nothing else; nothing unless specified. The decoder
    /// itself returns where the value ends: those that read whole inputs ask [`Trailing::allows`].
    pub trailing: Trailing,
    /// Absolute offset of the first octet of the input, for errors; 0 unless told.
    pub base_offset: u64,
}

impl Options {
    /// Reports whether values that break the characters or the form of their type are kept.
    pub(crate) fn keeps_marked(&self) -> bool {
        self.rules == Rules::Ber && !self.strict_values && !self.check_constraints
    }

    /// Everything that the standard forbids is an error.
    pub fn strict(rules: Rules) -> Self {
        Self {
            rules: rules.plan_rules(),
            strict_tables: true,
            strict_enumerations: true,
            strict_integers: true,
            check_constraints: true,
            strict_values: true,
            ..Self::default()
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::Ber,
            limits: Limits::default(),
            unknown: Unknown::Extensible,
            fill_defaults: false,
            resolve_tables: true,
            strict_tables: false,
            decode_containing: true,
            strict_enumerations: false,
            strict_integers: false,
            check_constraints: false,
            strict_values: false,
            trailing: Trailing::Error,
            base_offset: 0,
        }
    }
}

/// What one input may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Values with parts inside one another: SEQUENCE, SET, SEQUENCE OF, SET OF, CHOICE, and open types and strings with
    /// CONTAINING whose content is decoded. 64 unless specified; no more than 1,000 count. The measure is one of the value:
    /// tags and extensions do not count, so that a value is within the limit in all encoding rules or in none.
    pub depth: u16,
    /// Elements altogether; unlimited unless told, since each needs two octets of input.
    pub elements: u64,
    /// Octets of contents in one element; unlimited unless told, since nothing is allocated from a length.
    pub size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, elements: u64::MAX, size: u64::MAX }
    }
}

/// What may follow a value, in rules whose values do not tell where an input ends: transport blocks are filled up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trailing {
    /// Nothing.
    #[default]
    Error,
    /// Zero octets.
    Zeros,
    /// Any octets.
    Any,
}

impl Trailing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Error, Self::Zeros, Self::Any];

    /// Returns the name as options have it: `error`, `zeros`, `any`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Zeros => "zeros",
            Self::Any => "any",
        }
    }

    /// Whether these octets may follow a value.
    pub fn allows(self, rest: &[u8]) -> bool {
        match self {
            Self::Error => rest.is_empty(),
            Self::Zeros => rest.iter().all(|octet| *octet == 0),
            Self::Any => true,
        }
    }
}

/// What to do with elements that the schema does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// They are an error everywhere.
    Error,
    /// They are kept where the type has `...` ([`crate::Sink::unknown`]), in a SEQUENCE behind the additions that are
    /// known (X.680 §25.4), and an error elsewhere.
    #[default]
    Extensible,
    /// They are kept in every SEQUENCE, SET and CHOICE, wherever they stand.
    Keep,
}
