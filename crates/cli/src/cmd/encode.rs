//! `tercet encode`.

use crate::args::{OutputArg, SchemaArgs, Syntax};
use crate::cmd::transcode::{To, Work};
use crate::exit::Outcome;
use crate::inputs::{InputArgs, SpellingArgs};
use crate::job::{UnknownArg, ValuesArg};
use crate::rendering::RenderingArgs;
use clap::Args;
use tercet::TransferSyntax;

/// Encode values given as text: JSON, XML or GSER
#[derive(Args, Debug)]
#[command(after_help = "\
An input of JSON holds one value or several one after the other, such as a file of JSON lines; one of XML holds one;
one of GSER one in each line.

Examples:
  tercet encode -s schemas/personnel -t PersonnelRecord john.json -o john.ber
  tercet decode -s a.asn -t A a.ber | tercet encode -s a.asn -t A --rules der --hex
  tercet encode -s a.asn -t A --rules uper a.json -o a.uper")]
pub struct Encode {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: String,

    /// The rules to encode by
    #[arg(long, value_enum, default_value_t = Syntax::default())]
    rules: Syntax,

    /// Text format of the input
    #[arg(long, value_enum, default_value_t = Syntax(TransferSyntax::Jer), value_name = "RULES")]
    from: Syntax,

    /// Write hexadecimal text, a line for each value
    #[arg(long)]
    hex: bool,

    #[command(flatten)]
    rendering: RenderingArgs,

    #[command(flatten)]
    output: OutputArg,
}

impl Encode {
    pub fn run(&self) -> Outcome {
        Work {
            input: &self.input,
            schema: &self.schema,
            type_name: Some(&self.type_name),
            from: Some(self.from.0),
            to: To::Rules(self.rules.0),
            spelling: SpellingArgs { hex: self.hex, ..SpellingArgs::default() },
            hex_output: self.hex,
            unknown: UnknownArg::Extensible,
            values: ValuesArg::default(),
            rendering: Some(&self.rendering),
            output: &self.output,
        }
        .run()
    }
}
