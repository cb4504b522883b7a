//! Packages (H.248.1 clause 12, annex E, and later ones), open to more: names, numbers and types of what is in them, and a check of
//! messages against these.

mod annex_e;
mod check;
mod definition;
mod index;
mod later;
mod path;
mod types;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use index::{Index, Scope};

pub use check::{Fault, Finding};
pub use definition::{Definition, Item, Package, Parameter, When};
pub use types::Type;

/// All packages that are known. Names that are not known are numbers: `0x00fe/0x0001`.
#[derive(Clone, Debug)]
pub struct Packages {
    packages: Vec<Package>,
    by_id: BTreeMap<u16, usize>,
    /// Made when the first name or number is asked for.
    index: OnceLock<Index>,
}

/// Number that stands for all packages, or all items of one.
const WILDCARD: u16 = 0xffff;

/// Properties of annex C that stand in no package: addresses, and the lines of SDP.
const NATIVE: &[(&str, u16)] = &[
    ("v", 0xb001),
    ("o", 0xb002),
    ("s", 0xb003),
    ("i", 0xb004),
    ("u", 0xb005),
    ("e", 0xb006),
    ("p", 0xb007),
    ("c", 0xb008),
    ("b", 0xb009),
    ("z", 0xb00a),
    ("k", 0xb00b),
    ("a", 0xb00c),
    ("t", 0xb00d),
    ("r", 0xb00e),
    ("m", 0xb00f),
    ("IPv4", 0x6001),
    ("IPv6", 0x6002),
    ("Port", 0x6003),
    ("Porttype", 0x6004),
];

/// The packages of annex E, and those after it that are public.
impl Default for Packages {
    fn default() -> Self {
        let mut packages = Self { packages: Vec::new(), by_id: BTreeMap::new(), index: OnceLock::new() };
        annex_e::add_to(&mut packages);
        later::add_to(&mut packages);
        packages
    }
}

impl Packages {
    /// Adds a package, or replaces the one with its number.
    pub fn add(&mut self, package: Package) {
        self.index = OnceLock::new();
        match self.by_id.get(&package.id) {
            Some(&index) => self.packages[index] = package,
            None => {
                self.by_id.insert(package.id, self.packages.len());
                self.packages.push(package);
            }
        }
    }

    /// The number of a package.
    pub(crate) fn package_id(&self, name: &[u8]) -> Option<u16> {
        if name == b"*" {
            return Some(WILDCARD);
        }
        let package = self.packages.iter().find(|package| package.name.as_bytes().eq_ignore_ascii_case(name));
        package.map(|package| package.id).or_else(|| numeric(name))
    }

    /// The name of a package.
    pub(crate) fn package_name(&self, id: u16) -> Vec<u8> {
        if id == WILDCARD {
            return b"*".to_vec();
        }
        self.package(id).map_or_else(|| number(id), |package| package.name.to_ascii_lowercase().into_bytes())
    }

    fn package(&self, id: u16) -> Option<&Package> {
        self.by_id.get(&id).and_then(|&index| self.packages.get(index))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    /// The numbers of package and item.
    pub(crate) fn item_id(&self, item: Item, name: &[u8]) -> Option<(u16, u16)> {
        let known = self.index().number(Scope::Item(item), name);
        known.or_else(|| self.look_for_item_id(item, name))
    }

    /// The name of package and item.
    pub(crate) fn item_name(&self, item: Item, package: u16, id: u16) -> Cow<'_, [u8]> {
        match self.index().name(Scope::Item(item), (package, id)) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.look_for_item_name(item, package, id)),
        }
    }

    /// The number of a parameter of an event or signal.
    pub(crate) fn parameter_id(&self, item: Item, of: (u16, u16), name: &[u8]) -> Option<u16> {
        let known = self.index().number(Scope::Parameter(item, of), name);
        known.map(|known| known.1).or_else(|| self.look_for_parameter_id(item, of, name))
    }

    /// The name of a parameter of an event or signal.
    pub(crate) fn parameter_name(&self, item: Item, of: (u16, u16), id: u16) -> Cow<'_, [u8]> {
        match self.index().name(Scope::Parameter(item, of), (0, id)) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.look_for_parameter_name(item, of, id)),
        }
    }

    fn look_for_item_id(&self, item: Item, name: &[u8]) -> Option<(u16, u16)> {
        let Some(slash) = memchr::memchr(b'/', name) else {
            let native = NATIVE.iter().find(|native| native.0.as_bytes().eq_ignore_ascii_case(name));
            return native.map(|native| native.1).or_else(|| numeric(name)).map(|id| (0, id));
        };
        let (package, name) = (self.package_id(&name[..slash])?, &name[slash + 1..]);
        if name == b"*" {
            return Some((package, WILDCARD));
        }
        let mut items = self.items(package, item);
        let known = items.find(|known| known.name.as_bytes().eq_ignore_ascii_case(name));
        known.map(|known| known.id).or_else(|| numeric(name)).map(|id| (package, id))
    }

    fn look_for_item_name(&self, item: Item, package: u16, id: u16) -> Vec<u8> {
        // Longer than most.
        let mut name = Vec::with_capacity(24);
        if package == 0 {
            let native = NATIVE.iter().find(|native| native.1 == id);
            match native {
                Some(native) => name.extend_from_slice(native.0.as_bytes()),
                None => name = number(id),
            }
        } else {
            match self.package(package) {
                _ if package == WILDCARD => name.push(b'*'),
                Some(known) => name.extend_from_slice(known.name.as_bytes()),
                None => name.append(&mut number(package)),
            }
            name.push(b'/');
            match self.item(item, package, id) {
                _ if id == WILDCARD => name.push(b'*'),
                Some(known) => name.extend_from_slice(known.name.as_bytes()),
                None => name.append(&mut number(id)),
            }
        }
        name.make_ascii_lowercase();
        name
    }

    /// What a package defines, and then the packages that it extends, whose numbers hold in it too (H.248.1 6.2.3).
    fn items(&self, package: u16, item: Item) -> impl Iterator<Item = &Definition> {
        self.family(package).filter(move |known| known.item == item)
    }

    fn family(&self, package: u16) -> impl Iterator<Item = &Definition> {
        let base = |package: &&Package| package.extends.as_ref().and_then(|base| self.named(base.as_bytes()));
        // Packages of a user may extend one another in a ring.
        let family = std::iter::successors(self.package(package), base).take(self.packages.len());
        family.flat_map(|package| &package.items)
    }

    fn item(&self, item: Item, package: u16, id: u16) -> Option<&Definition> {
        self.items(package, item).find(|known| known.id == id)
    }

    /// A package by its name or number.
    fn named(&self, name: &[u8]) -> Option<&Package> {
        self.package(self.package_id(name)?)
    }

    /// Looks up a property, event, signal or statistic by its name `package/item`. There is none for names without a package, for
    /// wildcards, and for packages of which nothing but their name is known.
    ///
    /// ```
    /// use tercet_megaco::packages::{Fault, Item, Packages};
    ///
    /// let packages = Packages::default();
    /// assert!(packages.look_up(Item::Event, b"al/of").unwrap().is_some());
    /// assert_eq!(packages.look_up(Item::Event, b"al/xx"), Err(Fault::UnknownItem(Item::Event)));
    /// ```
    ///
    /// # Errors
    /// The package is not known, or it has no such thing.
    pub fn look_up(&self, item: Item, name: &[u8]) -> Result<Option<&Definition>, Fault> {
        let Some(slash) = memchr::memchr(b'/', name) else { return Ok(None) };
        let (package, local) = (&name[..slash], &name[slash + 1..]);
        if package == b"*" {
            return Ok(None);
        }
        let known = self.named(package).ok_or(Fault::UnknownPackage)?;
        if matches!(local, b"*" | b"$") || known.items.is_empty() {
            return Ok(None);
        }
        match self.defined(known, item, local) {
            Some(found) => Ok(Some(found)),
            None if known.is_partial => Err(Fault::NotKnown(item)),
            None => Err(Fault::UnknownItem(item)),
        }
    }

    /// What a package defines by its name or number, or a package that it extends.
    fn defined(&self, package: &Package, item: Item, name: &[u8]) -> Option<&Definition> {
        let id = numeric(name);
        let is_it =
            |known: &&Definition| known.name.as_bytes().eq_ignore_ascii_case(name) || Some(known.id) == id;
        self.items(package.id, item).find(is_it)
    }

    fn look_for_parameter_id(&self, item: Item, of: (u16, u16), name: &[u8]) -> Option<u16> {
        let parameters = self.item(item, of.0, of.1).into_iter().flat_map(|known| &known.parameters);
        let mut parameters = parameters.filter(|known| known.name.as_bytes().eq_ignore_ascii_case(name));
        parameters.next().map(|known| known.id).or_else(|| numeric(name))
    }

    fn look_for_parameter_name(&self, item: Item, of: (u16, u16), id: u16) -> Vec<u8> {
        let parameters = self.item(item, of.0, of.1).into_iter().flat_map(|known| &known.parameters);
        let mut parameters = parameters.filter(|known| known.id == id);
        parameters.next().map_or_else(|| number(id), |known| known.name.to_ascii_lowercase().into_bytes())
    }
}

/// A number as a name.
fn number(id: u16) -> Vec<u8> {
    format!("0x{id:04x}").into_bytes()
}

/// A name that is a number.
fn numeric(name: &[u8]) -> Option<u16> {
    match name {
        [b'0', b'x' | b'X', digits @ ..] if digits.len() == 4 => {
            u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        }
        _ => None,
    }
}
