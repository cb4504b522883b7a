//! What a run may choose.

/// How modules are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether slips found in vendors' specifications, missing modules among them, are warnings rather than errors.
    pub lenient: bool,
    /// Modules under another name: `("TAP-03XX", "TAP-0312")` lets imports from the first find the second.
    pub aliases: Vec<(String, String)>,
    /// What tags mean.
    pub tagging: Tagging,
    /// Whether a tag on a dummy reference follows the type that it stands for. X.680 §31.2.7 c makes it EXPLICIT, which
    /// several widespread tools overlook: data of theirs needs `true` here.
    pub dummies_tagged_as_actual: bool,
    /// Which of several modules with one name counts.
    pub duplicates: Duplicates,
    /// Whether [`crate::Model::occurrences`] is filled.
    pub occurrences: bool,
    /// How many instances of parameterized definitions there may be.
    pub instance_limit: u32,
    /// How many types, values and components references may copy, beside one for each byte of the text.
    pub expansion_limit: u64,
}

impl Default for Options {
    /// Strict, tags as written, the last of several modules, 100,000 instances, a million copies.
    fn default() -> Self {
        Self {
            lenient: false,
            aliases: Vec::new(),
            tagging: Tagging::AsWritten,
            dummies_tagged_as_actual: false,
            duplicates: Duplicates::Last,
            occurrences: false,
            instance_limit: 100_000,
            expansion_limit: 1_000_000,
        }
    }
}

/// What tags mean, for specifications whose text and data disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tagging {
    /// As the module's header and the tags say.
    #[default]
    AsWritten,
    /// All tags replace the type's own, but on CHOICE and open types.
    ImplicitExceptChoice,
    /// All tags wrap.
    Explicit,
}

/// Which of several modules with one name counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// The first given.
    First,
    /// The last given.
    #[default]
    Last,
}
