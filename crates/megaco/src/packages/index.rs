//! Names and numbers of all that packages define, so that each is found at once: a message has several, and to look for one
//! in the packages takes longer than to read its octets.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Item, NATIVE, Packages};

/// What an item or a parameter of one is, by name and by number. What is not there is looked for in the packages.
#[derive(Clone, Default)]
pub(super) struct Index {
    names: Map<Box<[u8]>>,
    numbers: Map<(Box<[u8]>, Number)>,
}

/// Numbers of a package and an item of it; of a parameter, none and its own.
pub(super) type Number = (u16, u16);

/// Where a name holds: among what packages define, or among the parameters of one of these.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    Item(Item),
    Parameter(Item, Number),
}

impl Index {
    /// The index of packages.
    pub(super) fn of(packages: &Packages) -> Self {
        let mut index = Self::default();
        for &(name, id) in NATIVE {
            for item in [Item::Property, Item::Event, Item::Signal, Item::Statistic] {
                index.add(packages, Scope::Item(item), (0, id), name.as_bytes());
            }
        }
        for package in &packages.packages {
            for known in packages.family(package.id) {
                let number = (package.id, known.id);
                let name = [package.name.as_bytes(), known.name.as_bytes()].join(&b'/');
                index.add(packages, Scope::Item(known.item), number, &name);
                for parameter in &known.parameters {
                    let scope = Scope::Parameter(known.item, number);
                    index.add(packages, scope, (0, parameter.id), parameter.name.as_bytes());
                }
            }
        }
        index
    }

    /// Adds a name and a number as the packages have them: each may stand for something else there that comes first.
    fn add(&mut self, packages: &Packages, scope: Scope, number: Number, name: &[u8]) {
        self.names.entry(scope.of_number(number)).or_insert_with(|| match scope {
            Scope::Item(item) => packages.look_for_item_name(item, number.0, number.1).into(),
            Scope::Parameter(item, of) => packages.look_for_parameter_name(item, of, number.1).into(),
        });
        let found = match scope {
            Scope::Item(item) => packages.look_for_item_id(item, name),
            Scope::Parameter(item, of) => packages.look_for_parameter_id(item, of, name).map(|id| (0, id)),
        };
        if let Some(found) = found {
            self.numbers
                .entry(scope.of_name(name))
                .or_insert_with(|| (name.to_ascii_lowercase().into(), found));
        }
    }

    /// The name of a number, in lower case.
    pub(super) fn name(&self, scope: Scope, number: Number) -> Option<&[u8]> {
        self.names.get(&scope.of_number(number)).map(|name| &**name)
    }

    /// The number of a name.
    pub(super) fn number(&self, scope: Scope, name: &[u8]) -> Option<Number> {
        let (known, number) = self.numbers.get(&scope.of_name(name))?;
        // Another name may have the same key.
        (**known == *name || known.eq_ignore_ascii_case(name)).then_some(*number)
    }
}

/// An odd number with its bits all over (2^64 by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The bit that tells lower case from upper case, in eight octets.
const LOWER: u64 = 0x2020_2020_2020_2020;

const fn mixed(key: u64, more: u64) -> u64 {
    let key = (key ^ more).wrapping_mul(SPREAD);
    key ^ key >> 32
}

impl Scope {
    const fn key(self) -> u64 {
        match self {
            Self::Item(item) => (item as u64) << 48,
            Self::Parameter(item, (package, id)) => {
                1 << 63 | (item as u64) << 48 | (package as u64) << 32 | (id as u64) << 16
            }
        }
    }

    /// No two numbers have one key before it is mixed, and to mix it is to permute.
    const fn of_number(self, (package, id): Number) -> u64 {
        mixed(self.key(), (package as u64) << 32 | id as u64)
    }

    fn of_name(self, name: &[u8]) -> u64 {
        let (words, rest) = name.as_chunks::<8>();
        let key = words.iter().fold(self.key(), |key, word| mixed(key, u64::from_le_bytes(*word) | LOWER));
        let rest = rest.iter().fold(0, |word, octet| word << 8 | u64::from(*octet | 0x20));
        mixed(key, rest)
    }
}

type Map<V> = HashMap<u64, V, BuildHasherDefault<Mixed>>;

/// Keys that are spread already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        for &octet in octets {
            self.0 = mixed(self.0, u64::from(octet));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Definition, Item, NATIVE, Package, Packages, Parameter};

    const ITEMS: [Item; 4] = [Item::Property, Item::Event, Item::Signal, Item::Statistic];

    /// What is found by the index is what is found by looking for it.
    fn check(packages: &Packages) {
        let numbers = packages.packages.iter().map(|package| package.id).chain([0, 0x7fff, 0xffff]);
        let ids = NATIVE.iter().map(|native| native.1).chain(0..80).chain([0xffff]);
        let ids: Vec<u16> = ids.collect();
        for package in numbers {
            for item in ITEMS {
                for &id in &ids {
                    let name = packages.look_for_item_name(item, package, id);
                    assert_eq!(packages.item_name(item, package, id), name);
                    for name in [name.to_ascii_uppercase(), name] {
                        assert_eq!(packages.item_id(item, &name), packages.look_for_item_id(item, &name));
                    }
                    let of = (package, id);
                    for parameter in 0..10 {
                        let name = packages.look_for_parameter_name(item, of, parameter);
                        assert_eq!(packages.parameter_name(item, of, parameter), name);
                        let found = packages.look_for_parameter_id(item, of, &name);
                        assert_eq!(packages.parameter_id(item, of, &name), found);
                    }
                }
            }
        }
    }

    #[test]
    fn the_index_says_what_the_packages_say() {
        let mut packages = Packages::default();
        check(&packages);
        // A name that is there already, a ring, a number that is there twice, an item that takes the place of another.
        let lamp = Definition::new(Item::Signal, "Blink", 1).parameter(Parameter::new("Rate", 1));
        packages.add(Package::new("G", 0x41).define(lamp.clone()).extending("lamp"));
        packages.add(Package::new("lamp", 0x42).define(lamp.clone()).define(lamp).extending("G"));
        packages.add(
            Package::new("tonegen", 0x43).with(Item::Signal, "pt", 7, &[("tl", 9), ("tl", 3)]).with(
                Item::Event,
                "a-name-of-many-octets",
                7,
                &[],
            ),
        );
        packages.add(Package::new("none", 0).with(Item::Event, "nothing", 1, &[]));
        check(&packages);
        assert_eq!(packages.item_id(Item::Signal, b"LAMP/blinK"), Some((0x42, 1)));
        assert_eq!(packages.parameter_id(Item::Signal, (0x41, 1), b"rate"), Some(1));
        assert_eq!(packages.item_id(Item::Signal, b"lamp/none"), None);
    }
}
