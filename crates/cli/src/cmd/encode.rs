//! `tercet encode`.

use crate::args::{OutputArg, SchemaArgs, Syntax};
use crate::cmd::transcode::{To, Work};
use crate::exit::Outcome;
use crate::inputs::{InputArgs, SpellingArgs};
use clap::Args;
use tercet::Rules;
use tercet::records::Format;
use tercet::records::conversion::RenderingOptions;
use tercet::records::conversion::{UnknownPolicy, ValuesPolicy};

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

    /// The rules to encode by; by the suffix of the output file, or BER
    #[arg(long, value_enum, value_name = "RULES")]
    rules: Option<Syntax>,

    /// Text format of the input
    #[arg(long, value_enum, default_value_t = Syntax(Rules::Jer), value_name = "RULES")]
    from: Syntax,

    /// Write hexadecimal text, a line for each value
    #[arg(long)]
    hex: bool,

    #[command(flatten)]
    rendering: RenderingOptions,

    #[command(flatten)]
    output: OutputArg,
}

impl Encode {
    /// The rules given, or those of the suffix of the output.
    fn to(&self) -> Outcome<To> {
        let (given, default) = (self.rules.map(|rules| To::Rules(rules.0)), To::Rules(Rules::Ber));
        let Some(path) = self.output.file().filter(|_| !self.hex) else {
            return Ok(given.unwrap_or(default));
        };
        match To::of_output(path, given, None, default)? {
            // JSON and XML are the text of rules; other formats cannot be encoded to.
            To::Text(format) if format.is_like(Format::JSON) => Ok(To::Rules(Rules::Jer)),
            To::Text(format) if format == Format::XML => Ok(To::Rules(Rules::Xer)),
            To::Text(_) => To::of_output(path, Some(default), None, default),
            to @ To::Rules(_) => Ok(to),
        }
    }

    pub fn run(&self) -> Outcome {
        Work {
            input: &self.input,
            schema: &self.schema,
            type_name: Some(&self.type_name),
            from: Some(self.from.0),
            to: self.to()?,
            spelling: SpellingArgs { hex: self.hex, ..SpellingArgs::default() },
            hex_output: self.hex,
            unknown: UnknownPolicy::Extensible,
            values: ValuesPolicy::default(),
            rendering: Some(&self.rendering),
            output: &self.output,
        }
        .run()
    }
}
