//! Generated code that is compiled here: for the schemas that we ship, and for those that have all there is.
//!
//! Some is committed, for people to read. The rest is made by the build script, of which this file is a part too.

use std::fs;
use std::path::{Path, PathBuf};

use tercet_schema::codegen::{Overlay, Serde};
use tercet_schema::{Rules, RustOptions, Schema, SchemaOptions};

use crate::corpora::repository;

/// A file of generated code.
#[derive(Clone, Copy, Debug)]
pub struct Generated {
    /// Specification, from the repository's folder.
    pub schema: &'static str,
    /// The types to begin with.
    pub roots: &'static [&'static str],
    /// The file: from the repository's folder if it is committed, else its name in the folder of the build script.
    pub file: &'static str,
    /// Whether types have `Eq` and `Hash`.
    pub hash: bool,
    /// The rules that it has codecs for.
    pub rules: &'static [Rules],
    /// Whether types have `Serialize` and `Deserialize`.
    pub serde: bool,
    /// The file of an overlay.
    pub overlay: Option<&'static str>,
}

/// The rules that the files of the tests have.
pub const RULES: &[Rules] = &[Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer];

/// The types of `leaves.asn`.
const LEAVES: &[&str] = &[
    "Reals",
    "Number",
    "Decimal",
    "Single",
    "Double",
    "Times",
    "Day",
    "Clock",
    "Moment",
    "Lasts",
    "Century",
    "Month",
    "Far",
    "Week",
    "Zoned",
    "Exact",
    "Interval",
    "Again",
    "Mixed",
    "Utf8",
    "Numeric",
    "Printable",
    "Teletex",
    "Videotex",
    "Ia5",
    "Graphic",
    "Visible",
    "General",
    "Universal",
    "Bmp",
    "Descriptor",
    "Iri",
    "Relative",
    "Utc",
    "Instant",
    "Texts",
    "Simple",
    "Flags",
    "Ranged",
    "Fixed",
    "Grown",
    "Marks",
];

/// The types of `depths.asn`.
const DEPTHS: &[&str] = &["Nest", "Around"];

/// All of them.
pub const ALL: &[Generated] = &[
    Generated {
        schema: "schemas/personnel",
        roots: &["PersonnelRecord"],
        file: "crates/conformance/tests/generated/personnel.rs",
        hash: true,
        rules: RULES,
        serde: true,
        overlay: None,
    },
    Generated {
        schema: "schemas/demo",
        roots: &["CallRecord"],
        file: "demo.rs",
        hash: false,
        rules: RULES,
        serde: true,
        overlay: None,
    },
    Generated {
        schema: "crates/conformance/tests/generated/zoo.asn",
        roots: &[
            "Zoo", "Tree", "Names", "Nests", "Nest", "Letter", "Errand", "Sparse", "Preset", "Maybe",
            "Mixed", "Grown",
        ],
        file: "crates/conformance/tests/generated/zoo.rs",
        hash: true,
        rules: RULES,
        serde: true,
        overlay: None,
    },
    Generated {
        schema: "crates/conformance/tests/generated/depths.asn",
        roots: DEPTHS,
        file: "depths.rs",
        hash: false,
        rules: RULES,
        serde: true,
        overlay: None,
    },
    Generated {
        schema: "crates/conformance/tests/generated/depths.asn",
        roots: DEPTHS,
        file: "depths_tabled.rs",
        hash: false,
        rules: RULES,
        serde: false,
        overlay: Some("crates/conformance/tests/generated/depths.toml"),
    },
    Generated {
        schema: "schemas/ldap",
        roots: &[
            "LDAPMessage",
            "Filter",
            "SearchResultEntry",
            "PagedResults",
            "SortKeyList",
            "SortResult",
            "VirtualListViewRequest",
            "VirtualListViewResponse",
            "SyncRequest",
            "SyncState",
            "SyncDone",
            "SyncInfo",
            "ValuesReturnFilter",
            "PasswordPolicy",
            "PasswdModifyRequest",
            "PasswdModifyResponse",
            "CancelRequest",
            "EndTransaction",
            "PersistentSearch",
            "EntryChange",
            "DirSync",
        ],
        file: "crates/ldap/src/generated.rs",
        hash: true,
        rules: &[Rules::Ber],
        serde: false,
        overlay: Some("schemas/ldap/ldap.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/zoo.asn",
        roots: &["Zoo", "Tree", "Names", "Nests", "Nest"],
        file: "choices.rs",
        hash: false,
        rules: RULES,
        serde: true,
        overlay: Some("crates/conformance/tests/generated/choices.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/zoo.asn",
        roots: &[
            "Zoo", "Tree", "Names", "Nests", "Nest", "Letter", "Errand", "Sparse", "Preset", "Maybe",
            "Mixed", "Grown",
        ],
        file: "small.rs",
        hash: false,
        rules: RULES,
        serde: false,
        overlay: Some("crates/conformance/tests/generated/small.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/leaves.asn",
        roots: LEAVES,
        file: "leaves.rs",
        hash: true,
        rules: RULES,
        serde: true,
        overlay: None,
    },
    Generated {
        schema: "crates/conformance/tests/generated/leaves.asn",
        roots: LEAVES,
        file: "leaves_small.rs",
        hash: true,
        rules: RULES,
        serde: false,
        overlay: Some("crates/conformance/tests/generated/leaves.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/leaves.asn",
        roots: &["Reals", "Times", "Texts", "Simple", "Marks"],
        file: "leaves_owned.rs",
        hash: true,
        rules: RULES,
        serde: false,
        overlay: Some("crates/conformance/tests/generated/leaves_owned.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/zoo.asn",
        roots: &["Zoo", "Names", "Letter", "Errand", "Sparse"],
        file: "slices.rs",
        hash: false,
        rules: &[Rules::Ber],
        serde: false,
        overlay: Some("crates/conformance/tests/generated/slices.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/leaves.asn",
        roots: LEAVES,
        file: "leaves_slices.rs",
        hash: true,
        rules: &[Rules::Ber],
        serde: false,
        overlay: Some("crates/conformance/tests/generated/slices.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/zoo.asn",
        roots: &["Zoo", "Names", "Letter", "Errand", "Sparse"],
        file: "arena.rs",
        hash: false,
        rules: &[Rules::Ber],
        serde: false,
        overlay: Some("crates/conformance/tests/generated/arena.toml"),
    },
    Generated {
        schema: "crates/conformance/tests/generated/leaves.asn",
        roots: LEAVES,
        file: "leaves_arena.rs",
        hash: true,
        rules: &[Rules::Ber],
        serde: false,
        overlay: Some("crates/conformance/tests/generated/arena.toml"),
    },
    Generated {
        schema: "schemas/h248/MEDIA-GATEWAY-CONTROL-v1.asn",
        roots: &["MegacoMessage"],
        file: "crates/megaco/src/generated/v1.rs",
        hash: false,
        // On the wire of BER, version 1 is a part of version 3.
        rules: &[Rules::Aper],
        serde: false,
        overlay: Some("schemas/h248/h248.toml"),
    },
    Generated {
        schema: "schemas/h248/MEDIA-GATEWAY-CONTROL-v3.asn",
        // With those that are encoded as parts of messages, or read alone.
        roots: &[
            "MegacoMessage",
            "AuthenticationHeader",
            "MId",
            "Transaction",
            "ActionRequest",
            "ActionReply",
            "CommandRequest",
            "CommandReply",
            "AmmDescriptor",
            "TerminationID",
        ],
        file: "crates/megaco/src/generated/v3.rs",
        hash: false,
        rules: &[Rules::Ber, Rules::Aper],
        serde: false,
        overlay: Some("schemas/h248/h248.toml"),
    },
];

impl Generated {
    /// The specification.
    ///
    /// # Errors
    /// It cannot be read, or has errors.
    pub fn load(&self) -> Result<Schema, String> {
        let path = repository().join(self.schema);
        let schema = Schema::load(&[path], &SchemaOptions::default()).map_err(|error| error.to_string())?;
        if schema.has_errors() { Err(schema.render(false)) } else { Ok(schema) }
    }

    /// Returns whether the file is committed.
    pub fn is_committed(&self) -> bool {
        self.file.contains('/')
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        match self.is_committed() {
            true => repository().join(self.file),
            // Not known to the build script itself when it is compiled.
            false => Path::new(option_env!("OUT_DIR").unwrap_or_default()).join(self.file),
        }
    }

    /// Makes the text of the file.
    ///
    /// # Errors
    /// The specification or the overlay cannot be read, or there is no code for a type.
    pub fn text(&self) -> Result<String, String> {
        let header = format!(
            "@generated by `cargo xtask codegen` from {} for {}; do not edit",
            self.schema,
            self.roots.join(", ")
        );
        let mut options = RustOptions { header, hash: self.hash, ..RustOptions::default() };
        if let Some(file) = self.overlay {
            let text =
                fs::read_to_string(repository().join(file)).map_err(|error| format!("{file}: {error}"))?;
            options.overlay = Overlay::from_toml(&text).map_err(|error| format!("{file}: {error}"))?;
        }
        if self.serde {
            options.overlay.serde = Serde::Always;
        }
        self.load()?.rust(self.rules, self.roots, &options).map_err(|error| error.to_string())
    }
}

/// Writes all files that are committed; with `check`, says instead whether they are current.
///
/// # Errors
/// A file cannot be made or written, or is not current.
pub fn run(check: bool) -> Result<(), String> {
    for generated in ALL.iter().filter(|it| it.is_committed()) {
        let text = generated.text()?;
        if fs::read_to_string(generated.path()).is_ok_and(|known| known == text) {
            continue;
        }
        if check {
            return Err(format!("{} is not current: run `cargo xtask codegen`", generated.file));
        }
        fs::write(generated.path(), text).map_err(|error| format!("{}: {error}", generated.file))?;
    }
    Ok(())
}
