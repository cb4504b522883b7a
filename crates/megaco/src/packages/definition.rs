//! Packages and what they define (H.248.1 12.1).

use super::Type;

/// What a name stands for in a package: each kind has its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A property.
    Property,
    /// An event.
    Event,
    /// A signal.
    Signal,
    /// A statistic.
    Statistic,
}

/// Where a parameter of an event may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In the events that are asked for.
    Requested,
    /// In the events that happened.
    Observed,
}

/// A package: its name, its number, the package that it extends, and what is in it.
///
/// ```
/// use tercet_megaco::packages::{Definition, Item, Package, Packages, Parameter, Type};
///
/// let lamp = Definition::new(Item::Signal, "blink", 1).parameter(Parameter::new("rate", 1).of(Type::Integer));
/// let level = Definition::new(Item::Property, "level", 1).of(Type::Integer);
/// let mut packages = Packages::default();
/// packages.add(Package::new("lamp", 0x8001).define(lamp).define(level));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub(super) name: String,
    pub(super) id: u16,
    pub(super) extends: Option<String>,
    pub(super) is_partial: bool,
    pub(super) items: Vec<Definition>,
}

/// A property, event, signal or statistic of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub(super) item: Item,
    pub(super) name: String,
    pub(super) id: u16,
    pub(super) of: Option<Type>,
    pub(super) is_read_only: bool,
    pub(super) parameters: Vec<Parameter>,
}

/// A parameter of an event or a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub(super) name: String,
    pub(super) id: u16,
    pub(super) of: Option<Type>,
    pub(super) when: Option<When>,
}

impl Package {
    /// A package with nothing in it: [`Packages::check`](super::Packages::check) takes any name in it.
    pub fn new(name: &str, id: u16) -> Self {
        Self { name: name.to_owned(), id, extends: None, is_partial: false, items: Vec::new() }
    }

    /// The same as an extension of another package: what that defines may be named by this one too (H.248.1 6.2.3).
    #[must_use]
    pub fn extending(mut self, package: &str) -> Self {
        self.extends = Some(package.to_owned());
        self
    }

    /// The same as a package of which only a part is known: other names in it are not known, rather than wrong.
    #[must_use]
    pub const fn partly_known(mut self) -> Self {
        self.is_partial = true;
        self
    }

    /// The same with one thing more, of which names and numbers are known.
    #[must_use]
    pub fn with(self, item: Item, name: &str, id: u16, parameters: &[(&str, u16)]) -> Self {
        let parameters = parameters.iter().map(|&(name, id)| Parameter::new(name, id)).collect();
        self.define(Definition { parameters, ..Definition::new(item, name, id) })
    }

    /// The same with one thing more.
    #[must_use]
    pub fn define(mut self, definition: Definition) -> Self {
        self.items.push(definition);
        self
    }
}

impl Definition {
    /// A name and its number; nothing is known of its values.
    pub fn new(item: Item, name: &str, id: u16) -> Self {
        Self { item, name: name.to_owned(), id, of: None, is_read_only: false, parameters: Vec::new() }
    }

    /// The same with the type of its values, for properties and statistics.
    #[must_use]
    pub fn of(mut self, of: Type) -> Self {
        self.of = Some(of);
        self
    }

    /// The same as a property that the controller cannot set.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Returns whether a controller cannot set it.
    pub const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns the type of its values, if that is known.
    pub const fn value_type(&self) -> Option<&Type> {
        self.of.as_ref()
    }

    /// The same with one more parameter, for events and signals.
    #[must_use]
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }
}

impl Parameter {
    /// A name and its number; nothing is known of its values.
    pub fn new(name: &str, id: u16) -> Self {
        Self { name: name.to_owned(), id, of: None, when: None }
    }

    /// The same with the type of its values.
    #[must_use]
    pub fn of(mut self, of: Type) -> Self {
        self.of = Some(of);
        self
    }

    /// The same for events of one kind only.
    #[must_use]
    pub const fn when(mut self, when: When) -> Self {
        self.when = Some(when);
        self
    }
}

impl Definition {
    /// A parameter by its name or number.
    pub(super) fn parameter_named(&self, name: &[u8]) -> Option<&Parameter> {
        let id = super::numeric(name);
        let is_it =
            |known: &&Parameter| known.name.as_bytes().eq_ignore_ascii_case(name) || Some(known.id) == id;
        self.parameters.iter().find(is_it)
    }
}
