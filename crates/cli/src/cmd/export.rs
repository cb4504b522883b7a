//! `tercet export`.

use crate::args::{OutputArg, SchemaArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::rendering::profile;
use crate::term;
use clap::{Args, ValueEnum};
use std::io::Write;
use tercet::columns::Layout;
use tercet::records::conversion::{FormOptions, RenderingOptions};
use tercet::records::{Output, Shown};
use tercet::{Rules, Schema};
use tercet_ide::export::{self, Table};

/// Write types as JSON Schema, Avro, Arrow, SQL or Python types
#[derive(Args, Debug)]
#[command(after_help = "\
JSON Schema and Python types describe values: those of `decode --format json`, and those of `tercet.Schema.decode`. Avro, Arrow and
SQL describe the columns that `convert` writes; SQL has those of `--flat`.

Examples:
  tercet export json-schema -s schemas/demo -t CallRecord
  tercet export sql -s schemas/demo -t CallRecord -o calls.sql
  tercet export python -s schemas/personnel -o personnel_types.py")]
pub struct Export {
    /// The language
    #[arg(value_enum, value_name = "FORMAT")]
    format: Language,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The types; those that no other type refers to unless given; may be repeated
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,

    #[command(flatten)]
    rendering: RenderingOptions,

    #[command(flatten)]
    output: OutputArg,
}

/// What types are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// JSON Schema 2020-12 of values in JER
    JsonSchema,
    /// Avro schema (.avsc) of the columns that `convert` gives
    Avro,
    /// Arrow schema as JSON of the columns that `convert` gives
    Arrow,
    /// CREATE TABLE with the columns that `convert --flat` gives
    Sql,
    /// Python types (TypedDict) of the values that `tercet.Schema.decode` returns
    Python,
}

impl Export {
    pub fn run(&self) -> Outcome {
        self.output.guard(&self.schema)?;
        let schema = self.schema.load_for_good()?;
        let text = self.text(&schema)?;
        match self.output.file() {
            Some(path) => {
                let failed = |error: std::io::Error| Failure::io(path.display(), &error);
                let mut file = Output::create(path).map_err(failed)?;
                file.write_all(text.as_bytes()).map_err(failed)?;
                file.commit().map_err(failed)?;
            }
            None => term::stdout(term::Quotes::HoldText).write_all(text.as_bytes())?,
        }
        Ok(Exit::Good)
    }

    fn text(&self, schema: &Schema) -> Outcome<String> {
        let is_table = matches!(self.format, Language::Avro | Language::Arrow | Language::Sql);
        if !is_table && !self.rendering.is_default() {
            return Err(Failure::usage(
                "`--render` and `--profile` are for the columns of avro, arrow and sql",
            ));
        }
        let types: Vec<&str> = self.types.iter().map(String::as_str).collect();
        Ok(match self.format {
            Language::JsonSchema => {
                export::json_schema(&schema.plan(Rules::Ber, &types).map_err(Failure::usage)?)
            }
            Language::Python => export::python(&schema.plan(Rules::Ber, &types).map_err(Failure::usage)?),
            Language::Avro => export::avro(&self.tables(schema, false)?),
            Language::Arrow => export::arrow(&self.tables(schema, false)?),
            Language::Sql => export::sql(&self.tables(schema, true)?),
        })
    }

    /// The columns of each type, as `convert` makes them.
    fn tables(&self, schema: &Schema, flat: bool) -> Outcome<Vec<Table>> {
        let names = match &self.types[..] {
            [] => schema.outermost().into_iter().map(|(name, _)| name).collect(),
            types => types.to_vec(),
        };
        let mut form = FormOptions::default();
        form.files.flat = flat;
        let mut tables = Vec::new();
        for name in &names {
            let plan = schema.plan(Rules::Ber, &[name]).map_err(Failure::usage)?;
            let Some(root) = plan.shape.roots.first().copied() else { continue };
            let profile = profile(&self.rendering, &plan.shape)?;
            let rendering = self.rendering.rendering(&profile, &plan.shape, root.node)?;
            let shown = rendering.as_ref().map_or_else(|| Shown::from(&plan), Shown::from);
            let layout = Layout::new(shown.shape(), root.node, &form.columns_of(shown));
            tables.push((plan.shape.name(root.name).to_owned(), layout.schema()));
        }
        Ok(tables)
    }
}
