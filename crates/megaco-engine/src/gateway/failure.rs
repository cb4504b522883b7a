//! Errors of commands (H.248.8).

use std::fmt;

use tercet_megaco::Str;
use tercet_megaco::model::ErrorDescriptor;

/// Why a command has failed: a code of H.248.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure(pub(super) u16);

impl Failure {
    /// Returns the code.
    pub const fn code(self) -> u16 {
        self.0
    }

    /// Returns what the code means.
    pub const fn text(self) -> &'static str {
        match self.0 {
            411 => "The transaction refers to an unknown ContextID",
            412 => "No ContextIDs available",
            421 => "Unknown action or illegal combination of actions",
            430 => "Unknown TerminationID",
            431 => "No TerminationID matched a wildcard",
            432 => "Out of TerminationIDs or no TerminationID available",
            433 => "TerminationID is already in a Context",
            434 => "Max number of Terminations in a Context exceeded",
            435 => "Termination ID is not in specified Context",
            440 => "Unsupported or unknown Package",
            442 => "Syntax error in command",
            443 => "Unsupported or unknown Command",
            447 => "Descriptor not legal in this command",
            448 => "Descriptor appears twice in a command",
            449 => "Unsupported or unknown parameter or property value",
            450 => "No such property in this package",
            451 => "No such event in this package",
            452 => "No such signal in this package",
            453 => "No such statistic in this package",
            458 => "Unexpected Event/Request ID",
            502 => "Not ready",
            503 => "Service unavailable",
            510 => "Insufficient resources",
            520 => "Digit Map undefined in the MG",
            532 => "Audited Property, Statistic, Event or Signal does not exist",
            534 => "Illegal write or read-only property",
            _ => "Error",
        }
    }

    pub(super) fn descriptor(self) -> ErrorDescriptor<'static> {
        ErrorDescriptor { error_code: self.0, error_text: Some(Str::from(self.text())) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.text())
    }
}

impl std::error::Error for Failure {}
