//! Record files: framing, rejects, streaming conversion.
//!
//! [`RecordReader`] cuts a stream into records without holding more than one of them. [`Converter`] decodes and renders
//! them; what does not decode goes to a [`RejectFile`]; [`Balance`] accounts for every byte read. [`Output`] is a file
//! that is there whole or not at all. [`inputs`] finds and opens what is to be read.

mod balance;
mod builder;
mod children;
mod component;
mod control_totals;
pub mod conversion;
mod convert;
mod dedupe;
mod envelope;
mod explode;
mod figures;
mod filter;
mod fit;
mod formats;
mod framing;
mod guard;
mod guess;
pub mod inputs;
mod interpret;
mod marks;
mod other_rules;
mod output;
mod own;
mod parallel;
pub mod path;
mod reach;
mod reject;
mod reshape;
mod rows;
mod run;
mod sequence;
mod setting;
mod settling;
mod split;
mod tar_names;
mod writer;
mod zipped;

pub use balance::Balance;
pub use builder::ConverterBuilder;
pub use children::{ChildTable, Children};
pub use control_totals::{Checked, ControlTotalRules, Sum};
pub use conversion::{Conversion, Prepared};
pub use convert::{Converter, REJECT_LEAST, SHARE_FROM, Settings, Stopped, Summary, Targets};
pub use dedupe::Dedupe;
pub use explode::Explode;
pub use figures::{Amount, Extreme, Figure, FigureKind, Figures, Total, circle_of};
pub use filter::{Condition, Filter, FilterError, FilterState};
pub use fit::{Budget, Fit, fit};
pub use formats::{FORMATS, Format, FormatInfo, OutputFormat, RowKind, Shown, TableRole};
pub use framing::{
    Carvings, DEFAULT_RECORD_LIMIT, Decodes, Detected, FRAMINGS, FileFraming, FileHeader, Framing,
    GivenFraming, Identifiers, Item, Part, Prefix, Reason, RecordFormat, RecordReader, Replacement, Score,
    Used, detect, replace_records, score,
};
pub use guard::{Guard, Overwrite};
pub use guess::{Guess, guess};
pub use interpret::{CodeRule, Interpretation, Leaves, Profile, RenderKind, Scratch, TableRules, Tables};
pub use marks::{Marking, Marks};
pub use other_rules::{Check, OtherRules};
pub use output::{Output, abandon, sweep};
pub use own::MANIFEST;
pub use reject::{KEEP_UNKNOWN, Reject, RejectFile, reject_path};
pub use rows::Undecoded;
pub use sequence::{SAMPLES as SEQUENCE_SAMPLES, Sequence};
pub use setting::SettingError;
pub use split::{Split, splits};
pub use writer::{EachNulled, MakeWriter, Origin, RowWriter, WrittenPart};
