//! `tercet encode`.

use crate::args::{RulesArg, SchemaArgs};
use crate::exit::{Exit, Outcome};
use crate::inputs::InputArgs;
use clap::Args;

/// Encode values given as JSON or XML
#[derive(Args, Debug)]
pub struct Encode {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    /// The type, as `Type` or `Module.Type`
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: String,
    /// The rules to encode by
    #[arg(long, value_enum, default_value_t = RulesArg::Ber)]
    rules: RulesArg,
}

impl Encode {
    pub fn run(&self) -> Outcome {
        _ = (&self.input, &self.schema, &self.type_name, self.rules);
        Ok(Exit::Good)
    }
}
