//! One type in one transfer syntax, octets to values and back.

use crate::schema::{PlanError, Schema};
use crate::transfer::{CodecError, TapeCodec, check_trailing};
use crate::{Rules, UnknownRules};
use std::fmt;
use tercet_dynamic::value::Value;
use tercet_dynamic::{NodeId, Options, Plan, Tape, Trailing};

/// Decodes and encodes values of one type in one transfer syntax; made by [`Schema::codec`].
///
/// It owns its plan and may be shared by threads. [`TapeCodec`] does the same without a [`Value`] for each value, for bulk
/// work.
#[derive(Debug)]
pub struct Codec {
    plan: Plan,
    root: NodeId,
    syntax: Rules,
    options: Options,
    trailing: Trailing,
}

/// Why there is no codec of a type in a transfer syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCodec {
    /// No transfer syntax has that name.
    Syntax(UnknownRules),
    /// The type is unknown, or the specification cannot be used for it.
    Plan(PlanError),
}

impl fmt::Display for NoCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Plan(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoCodec {}

impl Schema {
    /// Makes the codec of a type, by the name of a transfer syntax ([`Rules`]): `ber`, `uper`, `jer`, …
    ///
    /// ```
    /// use tercet_schema::Schema;
    ///
    /// let schema = Schema::from_text(
    ///     "rocket.asn",
    ///     "Rockets DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    ///      Rocket ::= SEQUENCE { name UTF8String, range INTEGER OPTIONAL }
    ///      END",
    /// );
    /// let octets = b"\x30\x09\x80\x04Falk\x81\x01\x05";
    /// let rocket = schema.codec("Rocket", "ber")?.decode(octets)?;
    /// assert_eq!(rocket.to_string(), r#"{name "Falk", range 5}"#);
    /// assert_eq!(schema.codec("Rocket", "jer")?.encode(&rocket)?, br#"{"name":"Falk","range":5}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The syntax or the type is unknown, or the specification has errors that the type depends on.
    pub fn codec(&self, type_name: &str, syntax: &str) -> Result<Codec, NoCodec> {
        let syntax: Rules = syntax.parse().map_err(NoCodec::Syntax)?;
        let plan = self.plan_for(syntax, &[type_name]).map_err(NoCodec::Plan)?;
        let root = plan.root(type_name).ok_or(NoCodec::Plan(PlanError::Empty))?;
        Ok(Codec { plan, root, syntax, options: Options::default(), trailing: Trailing::default() })
    }
}

impl Codec {
    /// Replaces the options of the decoder: limits, defaults, how strict it is.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Allows bytes after the value; by default none.
    #[must_use]
    pub fn with_trailing(mut self, trailing: Trailing) -> Self {
        self.trailing = trailing;
        self
    }

    /// Returns the transfer syntax.
    pub fn syntax(&self) -> Rules {
        self.syntax
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the type in the plan.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Decodes one value that takes the whole input.
    ///
    /// # Errors
    /// The input is no value of the type, or more follows it; with place and path.
    pub fn decode(&self, input: &[u8]) -> Result<Value, CodecError> {
        let mut tape = Tape::new();
        let mut codec = TapeCodec::new(self.syntax, &self.plan);
        let length = codec.read(self.root, input, &mut tape, &self.options)?;
        check_trailing(&self.plan, self.root, &input[length..], length as u64, self.trailing)?;
        Ok(Value::from_view(&self.plan.shape, tape.view(input)).unwrap_or(Value::Null))
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// The value is none of the type; with the path of what is wrong.
    pub fn encode(&self, value: &Value) -> Result<Vec<u8>, CodecError> {
        let mut tape = Tape::new();
        value.to_tape(&self.plan.shape, self.root, &mut tape)?;
        let mut octets = Vec::new();
        TapeCodec::new(self.syntax, &self.plan).write(tape.view(&[]), &mut octets)?;
        Ok(octets)
    }
}
