//! `tercet show`.

use crate::args::{ReadingArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use crate::rendering::profile;
use clap::{Args, ValueEnum};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use tercet::columns::{ColumnPath, DataType, Layout};
use tercet::dynamic::sizes::{sizes, typical};
use tercet::model::ir::{Type, TypeId, TypeKind};
use tercet::model::keyword;
use tercet::plan::{Code, NodeId, Plan};
use tercet::records::conversion::RenderingOptions;
use tercet::records::{Shown, conversion::FormOptions};
use tercet::syntax::{self, ParseOptions};
use tercet::{Rules, Schema, SchemaOptions};

/// Show types, columns, or what a stage of the compiler makes of specifications
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet show types schemas/demo
  tercet show columns --type CallRecord schemas/demo
  tercet show sizes --type CallRecord schemas/demo
  tercet show sizes -s schemas/demo -t CallRecord
  tercet show --stage plan --type CallRecord schemas/demo/Demo-CDR.asn")]
pub struct Show {
    /// Specification files, or directories of them; the first word may be a stage
    #[arg(required_unless_present = "schema", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The same, as other commands take it; may be given several times
    #[arg(short, long, value_name = "PATH")]
    schema: Vec<PathBuf>,

    /// Kind of listing; `model` by default
    #[arg(long, value_enum)]
    stage: Option<Stage>,

    /// For plan, columns and sizes: the types to begin with (those that no other refers to, if none is given)
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// For plan and sizes: the encoding rules; BER for the plan by default, all for sizes
    #[arg(long, value_enum, value_delimiter = ',')]
    rules: Vec<Syntax>,

    #[command(flatten)]
    rendering: RenderingOptions,

    #[command(flatten)]
    reading: ReadingArgs,

    /// For plan and sizes: allow missing modules and undefined names in PER and OER
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// All types, and which of them no other type refers to
    Types,
    /// The columns of a type, as `--columns` of other commands takes them, with their column types
    Columns,
    /// The least, typical and greatest number of bytes that a value takes by each encoding rule
    Sizes,
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
        let (stage, paths) = self.stage();
        let options = SchemaOptions { allow_missing: self.allow_missing, ..self.reading.options() };
        let paths: Vec<PathBuf> = paths.iter().chain(&self.schema).cloned().collect();
        let schema = Schema::load(&paths, &options)?;
        let text = match stage {
            Stage::Types => types(&schema),
            Stage::Columns => self.columns(&schema)?,
            Stage::Sizes => self.sizes(&schema)?,
            Stage::Tokens => {
                let options = ParseOptions { lenient: !self.reading.strict, ..ParseOptions::default() };
                let lexed =
                    |id| syntax::dump_tokens(&schema.sources, &syntax::lex(&schema.sources, id, &options));
                schema.sources.files().map(|(id, _)| lexed(id)).collect()
            }
            Stage::Ast => syntax::dump_ast(&schema.sources, schema.modules()),
            Stage::Model => schema.model().show(),
            Stage::Plan => {
                let types: Vec<_> = self.types.iter().map(String::as_str).collect();
                let rules = match self.rules[..] {
                    [] => Syntax::default(),
                    [rules] => rules,
                    _ => {
                        return Err(Failure::usage(
                            "a plan is for one of the encoding rules; give `--rules` one name",
                        ));
                    }
                };
                schema.plan(rules.0.plan_rules(), &types).map_err(Failure::usage)?.dump()
            }
        };
        crate::term::stdout(crate::term::Quotes::Ignored).write_all(text.as_bytes())?;
        if schema.has_errors() {
            crate::term::say_text(&schema.render(crate::term::colour()));
            return Ok(Exit::Usage);
        }
        Ok(Exit::Good)
    }

    /// What to show of which files: `tercet show types FILE` is `tercet show --stage types FILE`.
    fn stage(&self) -> (Stage, &[PathBuf]) {
        if let (None, [first, paths @ ..]) = (self.stage, &self.paths[..])
            && (!paths.is_empty() || !self.schema.is_empty())
            && let Some(stage) = first.to_str().and_then(|name| Stage::from_str(name, false).ok())
            && !first.exists()
        {
            return (stage, paths);
        }
        (self.stage.unwrap_or(Stage::Model), &self.paths)
    }

    /// The types given, or those that no other type refers to.
    fn names(&self, schema: &Schema) -> Vec<String> {
        match &self.types[..] {
            [] => schema.outermost().into_iter().map(|(name, _)| name).collect(),
            types => types.to_vec(),
        }
    }

    /// A table of encoded sizes for each type: a row for each of the rules.
    fn sizes(&self, schema: &Schema) -> Outcome<String> {
        let binary = Rules::BINARY.into_iter();
        let given = self.rules.iter().map(|syntax| syntax.0);
        let syntaxes: Vec<_> = if self.rules.is_empty() { binary.collect() } else { given.collect() };
        let mut text = String::new();
        for name in &self.names(schema) {
            let mut rows = vec![["rules", "least", "typical", "most"].map(str::to_owned)];
            for syntax in &syntaxes {
                let Some(rules) = syntax.binary() else {
                    let message = format!("`{}` is text, whose size depends on its layout", syntax.name());
                    return Err(Failure::usage(message));
                };
                let plan = schema.plan(rules, &[name]).map_err(Failure::usage)?;
                let Some(root) = plan.root(name) else { continue };
                rows.push(sizes_row(&plan, rules, root));
            }
            if !text.is_empty() {
                text.push('\n');
            }
            _ = writeln!(text, "{name}");
            push_table(&rows, &mut text);
        }
        text.push_str(
            "\nBytes, in PER with the bits; values within constraints, without later versions' additions.\n",
        );
        Ok(text)
    }

    /// The columns of the types asked for, as `convert` makes them.
    fn columns(&self, schema: &Schema) -> Outcome<String> {
        let names = self.names(schema);
        let mut text = String::new();
        for name in &names {
            let plan = schema.plan(Rules::Ber, &[name]).map_err(Failure::usage)?;
            let Some(root) = plan.root(name) else { continue };
            let profile = profile(&self.rendering, &plan.shape)?;
            let rendering = self.rendering.rendering(&profile, &plan.shape, root)?;
            let shown = rendering.as_ref().map_or_else(|| Shown::from(&plan), Shown::from);
            let layout = Layout::new(shown.shape(), root, &FormOptions::default().columns_of(shown));
            if names.len() > 1 {
                _ = writeln!(text, "{}{name}", if text.is_empty() { "" } else { "\n" });
            }
            push_columns(&layout.leaves(), &mut text);
        }
        Ok(text)
    }
}

/// The name of the rules, and three sizes.
fn sizes_row(plan: &Plan, rules: Rules, root: NodeId) -> [String; 4] {
    let Some(sizes) = sizes(plan, rules, root) else {
        return [rules.name(), "no finite value", "", ""].map(str::to_owned);
    };
    let has_bits = matches!(plan.code, Code::Per(_));
    let shown = |bits: u64| {
        let bytes = bits.div_ceil(8).max(1).to_string();
        if has_bits { format!("{bytes} ({bits} bits)") } else { bytes }
    };
    let typical = typical(plan, rules, root).map_or_else(|| "none".to_owned(), |bytes| bytes.to_string());
    let most = sizes.most.map_or_else(|| "no limit".to_owned(), shown);
    [rules.name().to_owned(), shown(sizes.least), typical, most]
}

/// Lines of cells, the columns side by side.
fn push_table(rows: &[[String; 4]], text: &mut String) {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// A line for each column: its path and its type.
fn push_columns(columns: &[ColumnPath], text: &mut String) {
    let width = columns.iter().map(|column| column.path.len()).max().unwrap_or(0);
    for ColumnPath { path, data_type, lists } in columns {
        let lists = "list of ".repeat(*lists as usize);
        _ = writeln!(text, "{path:<width$}  {lists}{}", type_name(data_type));
    }
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 => "text".to_owned(),
        DataType::Boolean => "boolean".to_owned(),
        DataType::Binary => "binary".to_owned(),
        DataType::Float64 => "float64".to_owned(),
        DataType::Int64 => "int64".to_owned(),
        DataType::Int16 => "int16".to_owned(),
        DataType::Decimal128(digits, places) => format!("decimal128({digits}, {places})"),
        DataType::Date32 => "date32".to_owned(),
        DataType::Time64(_) => "time64 (microseconds)".to_owned(),
        DataType::Timestamp(..) => "timestamp (microseconds, UTC)".to_owned(),
        other => other.to_string(),
    }
}

/// A line for each type: a star where no other type refers to it, its name, and what it is.
fn types(schema: &Schema) -> String {
    let outermost: HashSet<TypeId> = schema.outermost().into_iter().map(|(_, id)| id).collect();
    let mut all: Vec<(String, TypeId)> = schema.names().collect();
    // The types that a file may consist of are what most look for.
    all.sort_by_key(|(_, id)| !outermost.contains(id));
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, id) in &all {
        let star = if outermost.contains(id) { '*' } else { ' ' };
        _ = writeln!(text, "{star} {name:<width$}  {}", described(schema, *id));
    }
    _ = writeln!(text, "\n* outermost: no other type refers to it");
    text
}

/// The kind of a type, with the number of its parts.
fn described(schema: &Schema, mut id: TypeId) -> String {
    let types = &schema.model().types;
    // A reference to itself is an error that has been reported.
    for _ in 0..64 {
        match types.get(id.index()).map(|ty| &ty.kind) {
            Some(TypeKind::Reference(to)) => id = *to,
            _ => break,
        }
    }
    let Some(Type { kind, .. }) = types.get(id.index()) else { return String::new() };
    let parts = match kind {
        TypeKind::Sequence(parts) | TypeKind::Set(parts) => {
            format!(", {}", crate::term::count(parts.list.len() as u64, "component"))
        }
        TypeKind::Choice(parts) => {
            format!(", {}", crate::term::count(parts.list.len() as u64, "alternative"))
        }
        TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => {
            let name = types.get(element.index()).and_then(|ty| match &ty.kind {
                TypeKind::Reference(to) => types.get(to.index())?.name.as_ref(),
                _ => None,
            });
            name.map_or_else(String::new, |name| format!(" {}", name.name))
        }
        _ => String::new(),
    };
    format!("{}{parts}", keyword(kind))
}
