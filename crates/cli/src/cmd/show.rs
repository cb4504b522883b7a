//! `tercet show`.

use crate::args::{ReadingArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;
use tercet::Schema;
use tercet::syntax::{self, ParseOptions};

/// Show what a stage of the compiler makes of specifications
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet show --stage ast schemas/demo/Demo-CDR.asn
  tercet show --stage plan --type CallRecord schemas/demo/Demo-CDR.asn")]
pub struct Show {
    /// Specification files, or directories of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The stage
    #[arg(long, value_enum, default_value_t = Stage::Model)]
    stage: Stage,

    /// For the plan: the types to begin with (those that no other refers to, if none is given)
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// For the plan: the encoding rules
    #[arg(long, value_enum, default_value_t = Syntax::default())]
    rules: Syntax,

    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stage {
    /// Lexical items and comments
    Tokens,
    /// The syntax tree
    Ast,
    /// Types with all names bound
    Model,
    /// The executable form
    Plan,
}

impl Show {
    pub fn run(&self) -> Outcome {
        let schema = Schema::load(&self.paths, &self.reading.options())?;
        let text = match self.stage {
            Stage::Tokens => {
                let options = ParseOptions { lenient: !self.reading.strict, ..ParseOptions::default() };
                let lexed =
                    |id| syntax::dump_tokens(&schema.sources, &syntax::lex(&schema.sources, id, &options));
                schema.sources.files().map(|(id, _)| lexed(id)).collect()
            }
            Stage::Ast => syntax::dump_ast(&schema.sources, &schema.modules),
            Stage::Model => schema.model.show(),
            Stage::Plan => {
                let types: Vec<_> = self.types.iter().map(String::as_str).collect();
                schema.plan(self.rules.0.plan_rules(), &types).map_err(Failure::usage)?.dump()
            }
        };
        io::stdout().write_all(text.as_bytes())?;
        if schema.has_errors() {
            crate::term::say_text(&schema.render(crate::term::colour()));
            return Ok(Exit::Usage);
        }
        Ok(Exit::Good)
    }
}
