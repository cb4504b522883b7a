//! `tercet show`.

use crate::args::{ReadingArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use crate::render::{RenderArgs, Shown};
use crate::rendering::RenderingArgs;
use clap::{Args, ValueEnum};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use tercet::columns::{ColumnPath, DataType, Layout};
use tercet::model::ir::{Type, TypeId, TypeKind};
use tercet::model::keyword;
use tercet::plan::Rules;
use tercet::syntax::{self, ParseOptions};
use tercet::{Schema, SchemaOptions};

/// Show types, columns, or what a stage of the compiler makes of specifications
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet show types schemas/demo
  tercet show columns --type CallRecord schemas/demo
  tercet show --stage plan --type CallRecord schemas/demo/Demo-CDR.asn")]
pub struct Show {
    /// Specification files, or directories of them; the first word may be a stage
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Kind of listing; `model` by default
    #[arg(long, value_enum)]
    stage: Option<Stage>,

    /// For plan and columns: the types to begin with (those that no other refers to, if none is given)
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// For the plan: the encoding rules
    #[arg(long, value_enum, default_value_t = Syntax::default())]
    rules: Syntax,

    #[command(flatten)]
    rendering: RenderingArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// For the plan: allow missing modules and undefined names in PER and OER
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// All types, and which of them no other type refers to
    Types,
    /// The columns of a type, as `--columns` of other commands takes them, with their column types
    Columns,
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
        let schema = Schema::load(paths, &options)?;
        let text = match stage {
            Stage::Types => types(&schema),
            Stage::Columns => self.columns(&schema)?,
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
            && !paths.is_empty()
            && let Some(stage) = first.to_str().and_then(|name| Stage::from_str(name, false).ok())
            && !first.exists()
        {
            return (stage, paths);
        }
        (self.stage.unwrap_or(Stage::Model), &self.paths)
    }

    /// The columns of the types asked for, as `convert` makes them.
    fn columns(&self, schema: &Schema) -> Outcome<String> {
        let mut names = self.types.clone();
        if names.is_empty() {
            names.extend(schema.outermost().into_iter().map(|(name, _)| name));
        }
        let mut text = String::new();
        for name in &names {
            let plan = schema.plan(Rules::Ber, &[name]).map_err(Failure::usage)?;
            let Some(root) = plan.root(name) else { continue };
            let profile = self.rendering.profile(&plan.shape)?;
            let rendering = self.rendering.rendering(&profile, &plan.shape, root)?;
            let shown = rendering.as_ref().map_or_else(|| Shown::from(&plan), Shown::from);
            let render = RenderArgs::default();
            let layout = Layout::new(shown.shape(), root, &render.columnar.options(&render, shown));
            if names.len() > 1 {
                _ = writeln!(text, "{}{name}", if text.is_empty() { "" } else { "\n" });
            }
            push_columns(&layout.leaves(), &mut text);
        }
        Ok(text)
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
    let types = &schema.model.types;
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
