//! Commands that editors run: a sample value of a type, and a type in the inspector.

use super::places::{At, World, refused};
use lsp_server::ResponseError;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use tercet::dynamic::{Tape, sample};
use tercet::records::{Format, Origin, conversion::FormOptions};
use tercet::syntax::{FileId, Span};
use tercet::{Rules, Schema};
use tercet_ide::{Definition, Kind};

use crate::cmd::transcode::{To, Unwritten, Writer};
use crate::values::unfit;

/// Shows a sample value of a type.
pub(super) const SAMPLE: &str = "tercet.sample";
/// Opens a sample of a type in the inspector.
pub(super) const INSPECT: &str = "tercet.inspect";

/// The commands that there are.
pub(super) fn names() -> Vec<&'static str> {
    let mut names = vec![SAMPLE];
    if cfg!(feature = "inspect") {
        names.push(INSPECT);
    }
    names
}

fn title(command: &str, name: &str) -> String {
    match command {
        SAMPLE => format!("show a sample value of `{name}`"),
        _ => format!("open `{name}` in the inspector"),
    }
}

/// A command about a type, as the protocol has it.
fn command(world: &World, definition: &Definition, command: &str, title: &str) -> Option<Value> {
    let snapshot = &world.snapshot;
    let module = snapshot.schema().modules().get(definition.module)?;
    let name = format!("{}.{}", module.name.text, snapshot.text(definition.name));
    // A parameterized type has no values.
    snapshot.schema().model().find_type(&name)?;
    let arguments = [world.uri(definition.name), &name];
    Some(json!({ "title": title, "command": command, "arguments": arguments }))
}

/// The commands about the type whose name a part of a text touches in its definition, as actions.
pub(super) fn actions(world: &World, file: FileId, span: Span) -> Vec<Value> {
    let touches = |found: Span| found.lo <= span.hi && span.lo <= found.hi;
    let snapshot = &world.snapshot;
    let here = |it: &&Definition| {
        it.kind == Kind::Type && touches(it.name) && snapshot.sources().file_of(it.name.lo) == file
    };
    let Some(definition) = snapshot.definitions().iter().find(here) else { return Vec::new() };
    let action = |name: &&str| {
        let title = title(name, snapshot.text(definition.name));
        let command = command(world, definition, name, &title)?;
        Some(json!({ "title": title, "kind": "source.tercet", "command": command }))
    };
    names().iter().filter_map(action).collect()
}

/// Lenses over the types of a text that no other type refers to: what is sent and stored.
pub(super) fn lenses(world: &World, file: FileId) -> Value {
    let snapshot = &world.snapshot;
    let outermost: HashSet<String> =
        snapshot.schema().outermost().into_iter().map(|(name, _)| name).collect();
    let modules = snapshot.schema().modules();
    let is_outermost = |it: &&Definition| {
        let name = snapshot.text(it.name);
        it.kind == Kind::Type
            && snapshot.sources().file_of(it.name.lo) == file
            && modules
                .get(it.module)
                .is_some_and(|module| outermost.contains(&format!("{}.{name}", module.name.text)))
    };
    let mut lenses = Vec::new();
    for definition in snapshot.definitions().iter().filter(is_outermost) {
        for (name, title) in names().into_iter().zip(["sample value", "open in inspector"]) {
            let command = command(world, definition, name, title);
            lenses.extend(command.map(|it| json!({ "range": world.range(definition.name), "command": it })));
        }
    }
    Value::Array(lenses)
}

/// The text and the type that the arguments of a command name: a URI with a type, or with a position.
pub(super) fn subject(world: &World, params: &Value) -> Result<String, ResponseError> {
    let second = params.pointer("/arguments/1");
    if let Some(name) = second.and_then(Value::as_str) {
        return Ok(name.to_owned());
    }
    let place = json!({
        "textDocument": { "uri": params.pointer("/arguments/0") },
        "position": second,
    });
    let At { position, .. } = world.at(&place)?;
    let snapshot = &world.snapshot;
    let named = snapshot.name_at(position).and_then(|name| snapshot.definition(name.definition));
    let definition =
        named.filter(|it| it.kind == Kind::Type).ok_or_else(|| refused("no type at this position"))?;
    let module = snapshot.schema().modules().get(definition.module);
    let module = module.map_or("", |module| module.name.text.as_str());
    Ok(format!("{module}.{}", snapshot.text(definition.name)))
}

/// Makes up a value of a type, in value notation as an assignment.
pub(super) fn sample(schema: &Schema, name: &str) -> Result<String, String> {
    let octets = made(schema, name, To::Text(Format::VALUE))?;
    let text = String::from_utf8_lossy(&octets).trim_end().to_owned();
    let short = name.rsplit('.').next().unwrap_or(name);
    Ok(format!("sample {short} ::= {text}\n"))
}

/// Makes up a value of a type, in some form.
fn made(schema: &Schema, name: &str, to: To) -> Result<Vec<u8>, String> {
    let rules = match to {
        To::Rules(rules) => rules,
        To::Text(_) => Rules::Ber,
    };
    let plan = schema.plan_for(rules, &[name]).map_err(|error| error.to_string())?;
    let root = plan.root(name).ok_or_else(|| format!("unknown type `{name}`"))?;
    let mut tape = Tape::new();
    let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
    sampler.sample(root, &mut tape).map_err(|error| unfit(&error))?;
    let render = FormOptions::default();
    let mut writer = Writer::new(to, false, &render, (&plan, &plan), root);
    let origin = Origin { input: "", index: 0, offset: 0, octets: &[], elements: &[] };
    let mut octets = Vec::new();
    match writer.value(tape.view(&[]), &origin, &mut octets) {
        Err(Unwritten::Value(message)) => Err(message),
        Err(_) => Err("the value cannot be written".to_owned()),
        Ok(_) => Ok(octets),
    }
}

/// Serves a sample of a type, in the first of some encoding rules, as `tercet inspect` does; returns the address of the page.
#[cfg(feature = "inspect")]
pub(super) fn inspect(schema: Schema, name: &str, rules: &[Rules]) -> Result<String, String> {
    use std::sync::Arc;
    use tercet_inspect::{Server, Setup, Source, Workbench};
    let rules = rules.first().copied().unwrap_or(Rules::Ber);
    let octets = made(&schema, name, To::Rules(rules))?;
    let source = Source::of_octets(format!("sample of {name}"), octets, "");
    let bench = Workbench::new(Setup {
        sources: vec![Arc::new(source)],
        schema: Some(Arc::new(schema)),
        type_name: Some(name.to_owned()),
        rules: Some(rules),
        records: None,
        framing: None,
        is_editable: false,
    })?;
    let server = Server::bind(bench, 0).map_err(|error| format!("127.0.0.1: {error}"))?;
    let url = server.url();
    // It ends with the process.
    let thread = std::thread::Builder::new().name("inspector".to_owned());
    thread.spawn(move || _ = server.run()).map_err(|error| error.to_string())?;
    Ok(url)
}

/// A folder of this process for texts that editors show, removed at its end.
#[derive(Debug, Default)]
pub(super) struct Shown {
    folder: Option<PathBuf>,
}

impl Shown {
    /// Writes a text; returns its path.
    pub(super) fn write(&mut self, name: &str, text: &str) -> io::Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(private_folder()?),
        };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
        let name: String = name.chars().filter(|letter| is_plain(*letter)).collect();
        let path = folder.join(format!("{name}.sample"));
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        _ = self.folder.as_deref().map(fs::remove_dir_all::<&Path>);
    }
}

/// A new folder that nobody else reads.
fn private_folder() -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..1000 {
        let path = std::env::temp_dir().join(format!("tercet-lsp-{}-{number}", std::process::id()));
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            // What is there may belong to somebody else.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
