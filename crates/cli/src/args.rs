//! Options that several subcommands have.

use crate::exit::{Failure, Outcome};
use crate::term;
use clap::builder::{PossibleValue, Resettable};
use clap::{Arg, Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use tercet::model::Tagging;
use tercet::records::Guard;
use tercet::{Listener, PlanCache, Rules, Schema, SchemaOptions};

/// The options about specifications, which a plan file has no use for.
pub const NOT_WITH_PLAN: [&str; 6] = ["schema", "strict", "alias", "tags", "allow_errors", "allow_missing"];

/// Which specifications, and how they are read.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SchemaArgs {
    /// Specification file, or a directory of them; may be given several times
    #[arg(short, long = "schema", value_name = "PATH", required_unless_present = "plan")]
    pub schema: Vec<PathBuf>,

    /// Plan file of `tercet compile --plan`, instead of specifications
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_WITH_PLAN)]
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    #[serde(skip)]
    pub reading: ReadingArgs,

    /// Use the specifications even if they have errors
    #[arg(long)]
    pub allow_errors: bool,

    /// Use types that need missing modules or undefined names; PER and OER cannot read such values reliably
    #[arg(long)]
    pub allow_missing: bool,

    #[command(flatten)]
    #[serde(skip)]
    pub cache: CacheArgs,
}

/// The option for specifications, of a command that needs none.
pub fn optional(schema: Arg) -> Arg {
    schema.required_unless_present(Resettable::Reset)
}

/// Which messages of packet captures are read.
#[cfg(feature = "capture")]
#[derive(Args, Clone, Debug, Default)]
pub struct CaptureArgs {
    /// Of packet captures: read the messages of these protocols, or of one type of theirs: `lte-rrc.dl-dcch`
    ///
    /// By default those that the specifications decode. `tercet capture protocols` lists them.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub protocol: Vec<String>,

    /// Of packet captures: rule for messages that the table of protocols does not find, as in `tercet capture list`
    #[arg(long, value_name = "RULE")]
    pub decode_as: Vec<String>,
}

/// How lists of information elements of packet captures are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elements {
    /// A member for each element, by its name
    #[default]
    Map,
    /// The list as the specification has it
    List,
}

/// Whether inputs are packet captures.
#[cfg(feature = "capture")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CaptureFraming {
    /// Packet captures are found by their first bytes
    #[default]
    Auto,
    /// They are
    Capture,
}

#[cfg(feature = "capture")]
impl CaptureFraming {
    /// Returns whether inputs are captures, if that is given.
    pub fn is_capture(self) -> Option<bool> {
        (self == Self::Capture).then_some(true)
    }
}

/// Whether plans of earlier runs are used.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheArgs {
    /// Compile the specifications even if a plan is in the cache, and keep none there
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// Returns the options of the library for plans that are kept between runs.
    pub fn with(&self, options: SchemaOptions) -> SchemaOptions {
        let cache = if self.no_cache { None } else { PlanCache::of_user() };
        SchemaOptions { cache, ..options }
    }
}

/// Where a result goes.
#[derive(Args, Clone, Debug)]
pub struct OutputArg {
    /// Output file; standard output if not given, or `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl OutputArg {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|path| path.as_os_str() != "-")
    }

    /// What a command reads, beside its inputs, and writes.
    pub fn guard(&self, schema: &SchemaArgs) -> Outcome<Guard> {
        let mut guard = schema.guard()?;
        match self.file() {
            Some(path) => guard.writes("`-o`", path)?,
            None => writes_stdout(&mut guard)?,
        }
        Ok(guard)
    }
}

/// How specifications are read.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ReadingArgs {
    /// Report every deviation from the standard in a specification as an error
    #[arg(long)]
    pub strict: bool,

    /// Let imports from module NAME use module OTHER
    #[arg(long, value_name = "NAME=OTHER")]
    pub alias: Vec<Alias>,

    /// Meaning of tags, where specification and data disagree
    #[arg(long, value_enum, default_value_t = TagMode::Auto, value_name = "MODE")]
    pub tags: TagMode,
}

/// What tags mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TagMode {
    /// As written; `convert` tries the others if the first records do not decode
    #[default]
    Auto,
    /// As the module header and the tags are written
    AsWritten,
    /// All replace the type's own tag, but on CHOICE and open types
    Implicit,
    /// All wrap
    Explicit,
}

impl TagMode {
    /// The same for the library; what is to be found out is first taken as it is written.
    pub fn tagging(self) -> Tagging {
        match self {
            Self::Auto | Self::AsWritten => Tagging::AsWritten,
            Self::Implicit => Tagging::ImplicitExceptChoice,
            Self::Explicit => Tagging::Explicit,
        }
    }
}

/// A module that imports use instead of the one they name: `NAME=OTHER`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Alias {
    pub name: String,
    pub other: String,
}

impl FromStr for Alias {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (name, other) = text.split_once('=').ok_or("NAME=OTHER expected")?;
        Ok(Self { name: name.to_owned(), other: other.to_owned() })
    }
}

impl TryFrom<String> for Alias {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl From<Alias> for String {
    fn from(Alias { name, other }: Alias) -> Self {
        format!("{name}={other}")
    }
}

impl ReadingArgs {
    /// The same for the library.
    pub fn options(&self) -> SchemaOptions {
        SchemaOptions {
            strict: self.strict,
            aliases: self.alias.iter().map(|it| (it.name.clone(), it.other.clone())).collect(),
            tagging: self.tags.tagging(),
            listener: Listener::new(|text| term::warning(text)),
            ..SchemaOptions::default()
        }
    }
}

/// Adds the file that standard output has been redirected to, if it is one, to what a command writes.
pub fn writes_stdout(guard: &mut Guard) -> Outcome<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let file = io::stdout().as_fd().try_clone_to_owned().map(fs::File::from);
        if let Ok(found) = file.and_then(|file| file.metadata()) {
            guard.writes_open("standard output", &found)?;
        }
    }
    #[cfg(not(unix))]
    let _ = guard;
    Ok(())
}

impl SchemaArgs {
    /// What is read of the specifications: no output may be one of them.
    pub fn guard(&self) -> Outcome<Guard> {
        let mut guard = Guard::default();
        // What cannot be read is an error once it is read.
        for path in self.files().unwrap_or_default() {
            guard.reads(if self.plan.is_some() { "plan file" } else { "specification" }, &path)?;
        }
        Ok(guard)
    }

    /// Lists the files that are read: specifications, or the plan file.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        match &self.plan {
            Some(path) => Ok(vec![path.clone()]),
            None => tercet::files::specifications(&self.schema),
        }
    }

    /// Whether there is neither a specification nor a plan file.
    pub fn is_empty(&self) -> bool {
        self.schema.is_empty() && self.plan.is_none()
    }

    /// Returns what tags mean: in a plan file, what they meant when it was made.
    pub fn tags(&self) -> TagMode {
        if self.plan.is_some() { TagMode::AsWritten } else { self.reading.tags }
    }

    /// Reads the specifications, or the plan file; errors in them end the command.
    pub fn load(&self) -> Outcome<Schema> {
        match &self.plan {
            Some(path) => {
                let octets = fs::read(path).map_err(|error| Failure::io(path.display(), &error))?;
                let named = |fault| Failure::usage(format_args!("{}: {fault}", tercet_printable::path(path)));
                Schema::from_plan_file(&octets).map_err(named)
            }
            None => self.read(&self.cache.with(self.options())),
        }
    }

    /// As [`SchemaArgs::load`], for a command that reads them once and ends soon: they are never freed. To free all parts
    /// of a large specification one by one takes a tenth of the time of its first message.
    pub fn load_for_good(&self) -> Outcome<Arc<Schema>> {
        let schema = Arc::new(self.load()?);
        std::mem::forget(schema.clone());
        Ok(schema)
    }

    /// Reads the specifications for more than plans; errors in them end the command.
    pub fn specifications(&self) -> Outcome<Schema> {
        self.read(&self.options())
    }

    fn options(&self) -> SchemaOptions {
        SchemaOptions { allow_missing: self.allow_missing, ..self.reading.options() }
    }

    fn read(&self, options: &SchemaOptions) -> Outcome<Schema> {
        let schema = Schema::load(&self.schema, options)?;
        if !self.allow_errors && schema.has_errors() {
            for diagnostic in schema.diagnostics().iter().filter(|diagnostic| diagnostic.is_error()) {
                let text = tercet::syntax::render(&schema.sources, diagnostic, term::colour());
                term::say_diagnostic(&text);
            }
            return Err(Failure::usage(
                "the specifications have errors (`--allow-errors` uses what could be understood)",
            ));
        }
        Ok(schema)
    }
}

/// A transfer syntax on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syntax(pub Rules);

/// All transfer syntaxes, as the command line has them.
const SYNTAXES: [Syntax; Rules::ALL.len()] = {
    let mut all = [Syntax(Rules::Ber); Rules::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = Syntax(Rules::ALL[i]);
        i += 1;
    }
    all
};

impl ValueEnum for Syntax {
    fn value_variants<'a>() -> &'a [Self] {
        &SYNTAXES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let it = self.0;
        Some(PossibleValue::new(it.name()).aliases(it.aliases().iter().copied()).help(it.description()))
    }
}

/// A transfer syntax, or none: it is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxOrAuto(pub Option<Rules>);

impl Default for SyntaxOrAuto {
    fn default() -> Self {
        Self(Some(Rules::default()))
    }
}

/// `auto`, then all.
const SYNTAXES_OR_AUTO: [SyntaxOrAuto; Rules::ALL.len() + 1] = {
    let mut all = [SyntaxOrAuto(None); Rules::ALL.len() + 1];
    let mut i = 0;
    while i < Rules::ALL.len() {
        all[i + 1] = SyntaxOrAuto(Some(Rules::ALL[i]));
        i += 1;
    }
    all
};

impl ValueEnum for SyntaxOrAuto {
    fn value_variants<'a>() -> &'a [Self] {
        &SYNTAXES_OR_AUTO
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self.0 {
            Some(syntax) => Syntax(syntax).to_possible_value(),
            None => Some(PossibleValue::new("auto").help("Whatever fits the input best")),
        }
    }
}
