//! How JSON text looks and what of it is accepted.

use crate::text::Octets;

/// What JSON text looks like. The default is X.697; start from it and change what matters:
///
/// ```
/// use tercet_dynamic::json::Options;
/// let mut options = Options::default();
/// options.indent = Some(2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether the encoding instructions of the specification are followed (X.697 clause 13); they are unless told.
    pub instructions: bool,
    /// Spaces for each level, every member on its own line; unless told all is on one line without spaces.
    pub indent: Option<u8>,
    /// How octet strings, and the octets of bit strings, are written. The reader needs to know of base64 only.
    pub octets: Octets,
    /// How bit strings are written; the reader takes all forms.
    pub bits: BitStrings,
    /// How strings whose characters escape sequences choose are written and read.
    pub general_strings: GeneralStrings,
    /// Whether enumerations are written as numbers; the reader takes both.
    pub enumerations_as_numbers: bool,
    /// Whether integers beyond 2^53, which many readers of JSON round, are written as texts; the reader takes both.
    pub large_integers_as_text: bool,
    /// Whether values of REAL of base 10 are written as numbers everywhere, which X.697 23.4 has only where a constraint
    /// leaves no other base; the reader takes both.
    pub decimals_as_numbers: bool,
    /// Whether absent components with a DEFAULT are written, if the decoder tells of them.
    pub defaults: bool,
    /// How open types with known content are written; the reader takes both.
    pub open_types: OpenTypes,
    /// Whether extension additions that the schema does not know are written, as a last member `"..."`: a list of
    /// their encodings. Those of a CHOICE always are, for nothing else is there.
    pub unknown: bool,
    /// Reader: whether members that the schema does not know are passed over in every type, not only in extensible
    /// ones.
    pub ignore_unknown_members: bool,
    /// Reader: whether the tape is told of absent components with a DEFAULT; not unless told.
    pub fill_defaults: bool,
    /// Reader: values with parts inside one another, as [`crate::Limits::depth`]: 64 unless specified.
    pub depth: u16,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            instructions: true,
            indent: None,
            octets: Octets::UpperHex,
            bits: BitStrings::Standard,
            general_strings: GeneralStrings::Octets,
            enumerations_as_numbers: false,
            large_integers_as_text: false,
            decimals_as_numbers: false,
            defaults: true,
            open_types: OpenTypes::Plain,
            unknown: false,
            ignore_unknown_members: false,
            fill_defaults: false,
            depth: 64,
        }
    }
}

impl Options {
    /// The form of files that hold the expected values of records: octets in lower case, bit strings as octets and
    /// length, all strings as their characters, every REAL as a number.
    pub fn truth() -> Self {
        Self {
            octets: Octets::LowerHex,
            bits: BitStrings::BitsAndLen,
            general_strings: GeneralStrings::Characters,
            decimals_as_numbers: true,
            ..Self::default()
        }
    }
}

/// How BIT STRING values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitStrings {
    /// X.697 clause 24: octets if all values of the type have the same size, else `{"value": octets, "length": bits}`.
    #[default]
    Standard,
    /// `{"bits": octets, "len": bits}`.
    BitsAndLen,
}

/// How TeletexString (T61String), VideotexString, GraphicString and GeneralString are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeneralStrings {
    /// X.697 38.2: as an OCTET STRING of the octets of X.690 8.23.5.
    #[default]
    Octets,
    /// As their characters, as all other strings are.
    Characters,
}

/// How open types with known content are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenTypes {
    /// The value.
    #[default]
    Plain,
    /// `{"$type": "Module.Type", "$value": value}`.
    Tagged,
}
