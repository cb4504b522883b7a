//! Choices about the printed types that a specification does not make: a file in TOML beside it.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// What one may choose for a program's types.
///
/// ```
/// let overlay = tercet_codegen::Overlay::from_toml(
///     "roots = ['Rocket']
///      strings = 'owned'
///      [types.Rocket]
///      derive = ['Default']
///      [fields.'Rocket.range']
///      rename = 'reach'",
/// )?;
/// assert_eq!(overlay.roots, ["Rocket"]);
/// # Ok::<(), tercet_codegen::OverlayError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Overlay {
    /// The types to begin with, where the caller names none.
    pub roots: Vec<String>,
    /// Whether types have `Eq` and `Hash`.
    pub hash: bool,
    /// Where lists are, and what is in a box.
    pub memory: Memory,
    /// How strings, big integers and open types are kept where nothing else is said.
    pub strings: Strings,
    /// How lists are kept where nothing else is said.
    pub lists: Lists,
    /// What is an INTEGER without bounds where nothing else is said.
    pub integers: IntegerType,
    /// What is a REAL where nothing else is said.
    pub reals: RealType,
    /// Whether types have room for values that break their constraints.
    pub bounds: Bounds,
    /// What becomes of extension additions of later versions.
    #[serde(rename = "extension-additions")]
    pub extension_additions: Additions,
    /// Alternatives and OPTIONAL components of more than so many octets of memory, by an estimate, are in a box. Without: of
    /// more than 96 with lists inside, which take memory anyway, of more than 512 otherwise.
    #[serde(rename = "boxed-above")]
    pub boxed_above: Option<usize>,
    /// Whether types have `Serialize` and `Deserialize`.
    pub serde: Serde,
    /// Whether codecs of PER are fast, or small.
    pub codecs: Codecs,
    /// In Java, the package of the annotation `Nullable` that marks absent values, such as `org.jspecify.annotations`: that of
    /// the runtime unless specified, which not every tool knows.
    pub nullable: Option<String>,
    /// More derives for all types.
    pub derive: Vec<String>,
    /// By `Type` or `Module.Type`.
    pub types: BTreeMap<String, Choice>,
    /// By type and components: `Rocket.range`, `Rocket.stages.*.mass`, where `*` is the element of a list.
    pub fields: BTreeMap<String, Choice>,
}

/// What is chosen for a type wherever it stands, or for one component or alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Choice {
    /// The Rust name.
    pub rename: Option<String>,
    /// In a box, or in place; in place is not possible where a type would be inside of itself.
    pub boxed: Option<bool>,
    /// How a string, a big integer or an open type is kept.
    pub strings: Option<Strings>,
    /// How a list is kept; the first element is not in place in a type that may contain itself.
    pub lists: Option<Lists>,
    /// What an INTEGER is that is not as small by its constraint.
    pub integer: Option<IntegerType>,
    /// What a REAL is.
    pub real: Option<RealType>,
    /// Whether there is room for values that break the constraint.
    pub bounds: Option<Bounds>,
    /// Whether the elements of a list are decoded when they are asked for.
    pub lazy: Lazy,
    /// More derives; for types only.
    pub derive: Vec<String>,
}

/// When the elements of a list are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "LazyText")]
pub enum Lazy {
    /// At once.
    #[default]
    No,
    /// When they are asked for.
    Yes,
    /// When they are asked for; each is decoded once before to see what is wrong with it.
    Checked,
}

/// `true`, `false` or `"checked"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`true`, `false` or `\"checked\"`")]
enum LazyText {
    Plain(bool),
    Named(LazyName),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LazyName {
    Checked,
}

impl From<LazyText> for Lazy {
    fn from(text: LazyText) -> Self {
        match text {
            LazyText::Plain(false) => Self::No,
            LazyText::Plain(true) => Self::Yes,
            LazyText::Named(LazyName::Checked) => Self::Checked,
        }
    }
}

/// Whether types have `Serialize` and `Deserialize`, in the shapes of JER (X.697). The text then needs the feature `serde` of
/// `tercet-runtime`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Serde {
    /// They have not.
    #[default]
    None,
    /// They have.
    Always,
    /// They have if the crate that the text stands in has its own feature `serde`.
    Feature,
}

/// What becomes of extension additions that a SEQUENCE or SET does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Additions {
    /// They are kept and written again.
    #[default]
    Kept,
    /// They are passed over.
    Skipped,
}

/// What codecs of PER are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codecs {
    /// Straight-line code for each type.
    #[default]
    Fast,
    /// Tables for each type, which one codec follows: less to compile, smaller programs, slower.
    Small,
}

/// How much room types have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bounds {
    /// As much as constraints allow: what is larger is refused.
    #[default]
    Narrow,
    /// More: INTEGERs with bounds have 64 bits, strings any size. BER of real systems often breaks constraints.
    Wide,
}

/// Where lists are, and what is in a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// In memory of their own.
    #[default]
    Heap,
    /// In an arena that the caller has, so that a value has nothing to free; in Rust, for BER, DER and CER alone. Strings are slices
    /// of the input; those in segments, and those of types whose characters are not in UTF-8, are in the arena too. What has a
    /// REAL or a string with CONTAINING in it has memory of its own.
    Arena,
}

/// How strings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strings {
    /// They borrow from the input where they can.
    #[default]
    Borrowed,
    /// They never borrow, so that types have no lifetime for them.
    Owned,
    /// They are slices of the input, which take less memory and have nothing to free; in Rust, for BER, DER and CER alone.
    /// A string in segments, and characters that are not of the type, are errors.
    Slices,
}

/// How lists are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lists {
    /// As vectors.
    #[default]
    Vec,
    /// The first element is in place, so that a list of one takes no memory beside: `List`; in Rust, for BER, DER and CER alone.
    /// Said of all types, it holds for elements of up to 32 octets of memory, by an estimate.
    Inline,
}

/// What an INTEGER is that has no bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum IntegerType {
    /// `Integer`, of any size.
    #[default]
    Big,
    I32,
    U32,
    I64,
    U64,
}

/// What a REAL is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RealType {
    /// `ExactReal`, which is written again as it came.
    #[default]
    Exact,
    /// The nearest number that the machine has; what came in base 10 is written in base 2.
    F64,
}

impl IntegerType {
    /// Whether it has a sign, and its bits.
    pub(crate) const fn machine(self) -> Option<(bool, u8)> {
        match self {
            Self::Big => None,
            Self::I32 => Some((true, 32)),
            Self::U32 => Some((false, 32)),
            Self::I64 => Some((true, 64)),
            Self::U64 => Some((false, 64)),
        }
    }
}

impl Overlay {
    /// Reads it.
    ///
    /// # Errors
    /// The text is no TOML, or has members that are not known; the place is told.
    pub fn from_toml(text: &str) -> Result<Self, OverlayError> {
        toml::from_str(text).map_err(|error| OverlayError(error.to_string().trim_end().to_owned()))
    }
}

/// What is wrong with an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayError(pub(crate) String);

impl fmt::Display for OverlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "overlay: {}", self.0)
    }
}

impl std::error::Error for OverlayError {}
