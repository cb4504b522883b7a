//! Names and numbers of packages and what is in them (H.248.1 annex E), open to more.

use std::collections::BTreeMap;

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

/// A package: its name, its number, and what is in it, with the parameters of events and signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    name: String,
    id: u16,
    items: Vec<Known>,
}

/// One thing of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    item: Item,
    name: String,
    id: u16,
    /// Names and numbers.
    parameters: Vec<(String, u16)>,
}

impl Package {
    /// A package with nothing in it.
    pub fn new(name: &str, id: u16) -> Self {
        Self { name: name.to_owned(), id, items: Vec::new() }
    }

    /// The same with one thing more.
    #[must_use]
    pub fn with(mut self, item: Item, name: &str, id: u16, parameters: &[(&str, u16)]) -> Self {
        let parameters = parameters.iter().map(|&(name, id)| (name.to_owned(), id)).collect();
        self.items.push(Known { item, name: name.to_owned(), id, parameters });
        self
    }
}

/// All packages that are known. Names that are not known are numbers: `0x00fe/0x0001`.
#[derive(Clone, Debug)]
pub struct Packages {
    packages: Vec<Package>,
    by_id: BTreeMap<u16, usize>,
}

/// Number that stands for all packages, or all items of one.
const WILDCARD: u16 = 0xffff;

const DIGITS: &[(&str, u16)] = &[
    ("d0", 16),
    ("d1", 17),
    ("d2", 18),
    ("d3", 19),
    ("d4", 20),
    ("d5", 21),
    ("d6", 22),
    ("d7", 23),
    ("d8", 24),
    ("d9", 25),
    ("ds", 32),
    ("do", 33),
    ("da", 26),
    ("db", 27),
    ("dc", 28),
    ("dd", 29),
];

const TONES: &[(&str, u16)] = &[
    ("dt", 48),
    ("rt", 49),
    ("bt", 50),
    ("ct", 51),
    ("sit", 52),
    ("wt", 53),
    ("prt", 54),
    ("cw", 55),
    ("cr", 56),
];

const ROOT: &[&str] = &[
    "maxNumberOfContexts",
    "maxTerminationsPerContext",
    "normalMGExecutionTime",
    "normalMGCExecutionTime",
    "MGProvisionalResponseTimerValue",
    "MGCProvisionalResponseTimerValue",
    "MGCOriginatedPendingLimit",
    "MGOriginatedPendingLimit",
    "MGSegmentationTimerValue",
    "MGCSegmentationTimerValue",
    "MGMaxPDUSize",
    "MGCMaxPDUSize",
];

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

impl Default for Packages {
    fn default() -> Self {
        let mut packages = Self { packages: Vec::new(), by_id: BTreeMap::new() };
        packages.add(
            Package::new("g", 1)
                .with(Item::Event, "cause", 1, &[("Generalcause", 1), ("Failurecause", 2)])
                .with(Item::Event, "sc", 2, &[("SigID", 1), ("Meth", 2), ("SLID", 3), ("RID", 4)]),
        );
        let root = Package::new("root", 2);
        packages.add(
            ROOT.iter().zip(1..).fold(root, |root, (name, id)| root.with(Item::Property, name, id, &[])),
        );
        packages.add(Package::new("tonegen", 3).with(
            Item::Signal,
            "pt",
            1,
            &[("tl", 1), ("ind", 2), ("btd", 3)],
        ));
        packages.add(
            Package::new("tonedet", 4)
                .with(Item::Event, "std", 1, &[("tl", 1), ("tid", 3)])
                .with(Item::Event, "etd", 2, &[("tl", 1), ("dur", 2), ("tid", 3)])
                .with(Item::Event, "ltd", 3, &[("tl", 1), ("dur", 2), ("tid", 3)]),
        );
        let all = |package: Package, item, names: &[(&str, u16)], parameters: &[(&str, u16)]| {
            names.iter().fold(package, |package, &(name, id)| package.with(item, name, id, parameters))
        };
        packages.add(all(Package::new("dg", 5), Item::Signal, DIGITS, &[("btd", 1)]));
        let completion = Package::new("dd", 6).with(Item::Event, "ce", 4, &[("ds", 1), ("Meth", 3)]);
        packages.add(all(completion, Item::Event, DIGITS, &[("btd", 1)]));
        packages.add(all(Package::new("cg", 7), Item::Signal, TONES, &[]));
        packages.add(all(Package::new("cd", 8), Item::Event, TONES, &[]));
        packages.add(
            Package::new("al", 9)
                .with(Item::Event, "on", 4, &[("strict", 1), ("init", 2)])
                .with(Item::Event, "of", 5, &[("strict", 1), ("init", 2)])
                .with(Item::Event, "fl", 6, &[("mindur", 4), ("maxdur", 5)])
                .with(Item::Signal, "ri", 2, &[("cad", 6), ("freq", 7)]),
        );
        packages.add(
            Package::new("ct", 10)
                .with(Item::Event, "cmp", 5, &[("res", 8)])
                .with(Item::Signal, "ct", 3, &[])
                .with(Item::Signal, "rsp", 4, &[]),
        );
        packages.add(
            Package::new("nt", 11)
                .with(Item::Property, "jit", 7, &[])
                .with(Item::Event, "netfail", 5, &[("cs", 1)])
                .with(Item::Event, "qualert", 6, &[("th", 1)])
                .with(Item::Statistic, "dur", 1, &[])
                .with(Item::Statistic, "os", 2, &[])
                .with(Item::Statistic, "or", 3, &[]),
        );
        packages.add(
            Package::new("rtp", 12)
                .with(Item::Event, "pltrans", 1, &[("rtppltype", 1)])
                .with(Item::Statistic, "ps", 4, &[])
                .with(Item::Statistic, "pr", 5, &[])
                .with(Item::Statistic, "pl", 6, &[])
                .with(Item::Statistic, "jit", 7, &[])
                .with(Item::Statistic, "delay", 8, &[]),
        );
        packages.add(Package::new("tdmc", 13).with(Item::Property, "ec", 8, &[]).with(
            Item::Property,
            "gain",
            10,
            &[],
        ));
        packages.add(Package::new("swb", 0xfefe).with(Item::Statistic, "fs", 0, &[]).with(
            Item::Statistic,
            "as",
            1,
            &[],
        ));
        packages
    }
}

impl Packages {
    /// Adds a package, or replaces the one with its number.
    pub fn add(&mut self, package: Package) {
        match self.by_id.get(&package.id) {
            Some(&index) => self.packages[index] = package,
            None => {
                self.by_id.insert(package.id, self.packages.len());
                self.packages.push(package);
            }
        }
    }

    /// The number of a package.
    pub(super) fn package_id(&self, name: &[u8]) -> Option<u16> {
        if name == b"*" {
            return Some(WILDCARD);
        }
        let package = self.packages.iter().find(|package| package.name.as_bytes().eq_ignore_ascii_case(name));
        package.map(|package| package.id).or_else(|| numeric(name))
    }

    /// The name of a package.
    pub(super) fn package_name(&self, id: u16) -> Vec<u8> {
        if id == WILDCARD {
            return b"*".to_vec();
        }
        self.package(id).map_or_else(|| number(id), |package| package.name.to_ascii_lowercase().into_bytes())
    }

    fn package(&self, id: u16) -> Option<&Package> {
        self.by_id.get(&id).and_then(|&index| self.packages.get(index))
    }

    /// The numbers of package and item.
    pub(super) fn item_id(&self, item: Item, name: &[u8]) -> Option<(u16, u16)> {
        let Some(slash) = memchr::memchr(b'/', name) else {
            let native = NATIVE.iter().find(|native| native.0.as_bytes().eq_ignore_ascii_case(name));
            return native.map(|native| native.1).or_else(|| numeric(name)).map(|id| (0, id));
        };
        let (package, name) = (self.package_id(&name[..slash])?, &name[slash + 1..]);
        if name == b"*" {
            return Some((package, WILDCARD));
        }
        let items = self.package(package).into_iter().flat_map(|package| &package.items);
        let mut items = items.filter(|known| known.item == item);
        let known = items.find(|known| known.name.as_bytes().eq_ignore_ascii_case(name));
        known.map(|known| known.id).or_else(|| numeric(name)).map(|id| (package, id))
    }

    /// The name of package and item.
    pub(super) fn item_name(&self, item: Item, package: u16, id: u16) -> Vec<u8> {
        if package == 0 {
            let native = NATIVE.iter().find(|native| native.1 == id);
            return native.map_or_else(|| number(id), |native| native.0.to_ascii_lowercase().into_bytes());
        }
        let mut name = self.package_name(package);
        name.push(b'/');
        if id == WILDCARD {
            name.push(b'*');
            return name;
        }
        match self.item(item, package, id) {
            Some(known) => name.extend(known.name.bytes().map(|octet| octet.to_ascii_lowercase())),
            None => name.extend(number(id)),
        }
        name
    }

    fn item(&self, item: Item, package: u16, id: u16) -> Option<&Known> {
        self.package(package)?.items.iter().find(|known| known.item == item && known.id == id)
    }

    /// The number of a parameter of an event or signal.
    pub(super) fn parameter_id(&self, item: Item, of: (u16, u16), name: &[u8]) -> Option<u16> {
        let parameters = self.item(item, of.0, of.1).into_iter().flat_map(|known| &known.parameters);
        let mut parameters = parameters.filter(|known| known.0.as_bytes().eq_ignore_ascii_case(name));
        parameters.next().map(|known| known.1).or_else(|| numeric(name))
    }

    /// The name of a parameter of an event or signal.
    pub(super) fn parameter_name(&self, item: Item, of: (u16, u16), id: u16) -> Vec<u8> {
        let parameters = self.item(item, of.0, of.1).into_iter().flat_map(|known| &known.parameters);
        let mut parameters = parameters.filter(|known| known.1 == id);
        parameters.next().map_or_else(|| number(id), |known| known.0.to_ascii_lowercase().into_bytes())
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
