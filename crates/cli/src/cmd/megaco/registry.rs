//! Private packages and the ids of terminations from a file.

use crate::exit::{Failure, Outcome};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use tercet_megaco::binary::{Binary, Levels, Provisioned};
use tercet_megaco::packages::{Definition, Item, Package, Parameter, Type, When};
use toml::{Table, Value};

type Read<T> = Result<T, String>;

/// What the binary encodings need to know beside the modules.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct RegistryArgs {
    /// Packages to add to the public ones, or to replace those with their numbers, and ids of terminations in BER and PER (`tercet megaco check --help`)
    #[arg(long, value_name = "FILE.toml")]
    pub(super) registry: Option<PathBuf>,
}

impl RegistryArgs {
    /// The public packages, and what is in the file.
    pub(super) fn read(&self) -> Outcome<Binary> {
        let mut binary = Binary::default();
        if let Some(file) = &self.registry {
            let text = fs::read_to_string(file).map_err(|error| Failure::io(file.display(), &error))?;
            let table: Table = text.parse().map_err(|error| wrong(file, &error))?;
            registry(&table, &mut binary).map_err(|error| wrong(file, &error))?;
        }
        Ok(binary)
    }
}

fn wrong(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format_args!("{}: {}", tercet_printable::path(file), error.to_string().trim_end()))
}

fn registry(table: &Table, binary: &mut Binary) -> Read<()> {
    only(table, &["package", "levels", "termination"])?;
    for table in tables(table, "package")? {
        binary.packages.add(within(table, package(table))?);
    }
    if let Some(levels) = table.get("levels") {
        let bits = |level: &Value| level.as_integer().and_then(|bits| u8::try_from(bits).ok());
        let levels: Option<Vec<u8>> = levels.as_array().and_then(|all| all.iter().map(bits).collect());
        let levels =
            levels.filter(|all| (1..=64).contains(&all.iter().map(|&bits| u32::from(bits)).sum::<u32>()));
        binary.levels = Levels(levels.ok_or("`levels` is a list of numbers of bits, of 64 bits at most")?);
    }
    for table in tables(table, "termination")? {
        within(table, termination(table, &mut binary.provisioned))?;
    }
    Ok(())
}

/// The octets of a termination in the binary encodings.
fn termination(table: &Table, provisioned: &mut Provisioned) -> Read<()> {
    only(table, &["name", "id", "wildcards"])?;
    let octets = |key: &str| match table.get(key) {
        None => Ok(Vec::new()),
        Some(value) => value
            .as_str()
            .and_then(hexadecimal)
            .ok_or_else(|| format!("`{key}` is a string of hexadecimal digits, two for each byte")),
    };
    let (name, id, wildcards) = (name(table)?, octets("id")?, octets("wildcards")?);
    provisioned.add_with_wildcards(name, &wildcards, &id).map_err(|error| error.to_string())
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let digit = |octet: u8| char::from(octet).to_digit(16);
    let octet = |pair: &[u8]| match *pair {
        [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(octet).collect()
}

fn package(table: &Table) -> Read<Package> {
    only(table, &["name", "id", "extends", "partial", "property", "event", "signal", "statistic"])?;
    let mut package = Package::new(name(table)?, id(table)?);
    if let Some(base) = table.get("extends") {
        package = package.extending(base.as_str().ok_or("`extends` is the name of a package")?);
    }
    match table.get("partial").map(Value::as_bool) {
        None | Some(Some(false)) => {}
        Some(Some(true)) => package = package.partly_known(),
        Some(None) => return Err("`partial` is true or false".to_owned()),
    }
    let kinds = [
        ("property", Item::Property),
        ("event", Item::Event),
        ("signal", Item::Signal),
        ("statistic", Item::Statistic),
    ];
    for (kind, item) in kinds {
        for table in tables(table, kind)? {
            package = package.define(within(table, definition(item, table))?);
        }
    }
    Ok(package)
}

fn definition(item: Item, table: &Table) -> Read<Definition> {
    let (keys, lists): (&[&str], &[(&str, Option<When>)]) = match item {
        Item::Property => (&["name", "id", "type", "access"], &[]),
        Item::Statistic => (&["name", "id", "type"], &[]),
        Item::Event => (
            &["name", "id", "requested", "observed"],
            &[("requested", Some(When::Requested)), ("observed", Some(When::Observed))],
        ),
        Item::Signal => (&["name", "id", "parameter"], &[("parameter", None)]),
    };
    only(table, keys)?;
    let mut definition = Definition::new(item, name(table)?, id(table)?);
    if let Some(of) = table.get("type") {
        definition = definition.of(type_of(of)?);
    }
    match table.get("access").map(Value::as_str) {
        None | Some(Some("read-write")) => {}
        Some(Some("read-only")) => definition = definition.read_only(),
        _ => return Err("`access` is `read-only` or `read-write`".to_owned()),
    }
    for (list, when) in lists {
        for table in tables(table, list)? {
            let parameter = within(table, parameter(table))?;
            definition = definition.parameter(when.map_or(parameter.clone(), |when| parameter.when(when)));
        }
    }
    Ok(definition)
}

fn parameter(table: &Table) -> Read<Parameter> {
    only(table, &["name", "id", "type"])?;
    let parameter = Parameter::new(name(table)?, id(table)?);
    Ok(match table.get("type") {
        Some(of) => parameter.of(type_of(of)?),
        None => parameter,
    })
}

fn type_of(value: &Value) -> Read<Type> {
    let unknown = || match value {
        Value::String(name) => format!("unknown type `{name}`"),
        _ => "a `type` is a name, an enumeration, a list or an array of types".to_owned(),
    };
    match value {
        Value::String(name) => Ok(match name.as_str() {
            "boolean" => Type::Boolean,
            "string" => Type::String,
            "octet-string" => Type::OctetString,
            "integer" => Type::Integer,
            "double" => Type::Double,
            "character" => Type::Character,
            _ => return Err(unknown()),
        }),
        Value::Array(types) => types.iter().map(type_of).collect::<Read<_>>().map(Type::OneOf),
        Value::Table(table) => match (table.len(), table.get("list"), table.get("enumeration")) {
            (1, Some(element), _) => type_of(element).map(Type::list_of),
            (1, _, Some(Value::Table(values))) => {
                let value = |(name, number): (&String, &Value)| {
                    let number = number.as_integer().and_then(|number| u32::try_from(number).ok());
                    number.map(|number| (name.clone(), number)).ok_or_else(unknown)
                };
                values.iter().map(value).collect::<Read<_>>().map(Type::Enumeration)
            }
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// An error with the name of what it is in.
fn within<T>(table: &Table, read: Read<T>) -> Read<T> {
    read.map_err(|error| match table.get("name").and_then(Value::as_str) {
        Some(name) => format!("{name}: {error}"),
        None => error,
    })
}

fn only(table: &Table, keys: &[&str]) -> Read<()> {
    match table.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` is none of {}", keys.join(", "))),
        None => Ok(()),
    }
}

fn tables<'t>(table: &'t Table, key: &str) -> Read<Vec<&'t Table>> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let elements = value.as_array().and_then(|array| array.iter().map(Value::as_table).collect());
    elements.ok_or_else(|| format!("`{key}` is a list of tables"))
}

fn name(table: &Table) -> Read<&str> {
    let name = table.get("name").and_then(Value::as_str);
    name.filter(|name| !name.is_empty()).ok_or_else(|| "a `name` is missing".to_owned())
}

fn id(table: &Table) -> Read<u16> {
    let id = table.get("id").and_then(Value::as_integer).and_then(|id| u16::try_from(id).ok());
    id.ok_or_else(|| "an `id` of at most 0xffff is missing".to_owned())
}
