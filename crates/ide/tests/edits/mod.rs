//! Specifications made at random, and edits of them.

use std::fmt;

/// A row of numbers that is the same everywhere (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() >> 16) as usize % count.max(1)
    }

    fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

#[derive(Clone)]
enum Ty {
    Boolean,
    Null,
    Oid,
    Integer(i64, i64, bool),
    Unbounded,
    Octets(u32, u32),
    Bits(u32, u32, bool),
    Text(&'static str, u32, u32),
    Enumerated(Vec<String>, bool, Vec<String>),
    /// SEQUENCE, SET or CHOICE.
    Fields(&'static str, Vec<Field>, bool, Vec<Field>),
    List(&'static str, u32, u32, Box<Self>),
    Reference(usize),
}

#[derive(Clone)]
struct Field {
    name: String,
    ty: Ty,
    presence: &'static str,
}

/// A module with the type `T`, and others that it refers to.
#[derive(Clone)]
pub(crate) struct Spec {
    tags: &'static str,
    types: Vec<Ty>,
    names: usize,
}

impl Spec {
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut spec =
            Self { tags: random.pick(&["AUTOMATIC", "AUTOMATIC", "EXPLICIT"]), types: Vec::new(), names: 0 };
        // Types refer to those after them.
        for number in 0..3 {
            let ty = match number {
                0 => spec.fields(random, 0, "SEQUENCE"),
                _ => spec.ty(random, 1, 3),
            };
            spec.types.push(ty);
        }
        spec
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn fields(&mut self, random: &mut Random, depth: u32, kind: &'static str) -> Ty {
        let root = (0..1 + random.below(4)).map(|_| self.field(random, depth, kind)).collect();
        let extensible = random.is(60);
        let additions = if extensible { random.below(3) } else { 0 };
        let additions = (0..additions).map(|_| self.field(random, depth, kind)).collect();
        Ty::Fields(kind, root, extensible, additions)
    }

    fn field(&mut self, random: &mut Random, depth: u32, kind: &str) -> Field {
        let mut ty = self.ty(random, depth + 1, if depth == 0 { 1 } else { 3 });
        if matches!(ty, Ty::Fields(..)) && random.is(50) {
            ty = Ty::Boolean;
        }
        let presence = match ty {
            _ if kind == "CHOICE" => "",
            Ty::Boolean if random.is(20) => "DEFAULT TRUE",
            Ty::Unbounded if random.is(30) => "DEFAULT 5",
            _ if random.is(40) => "OPTIONAL",
            _ => "",
        };
        Field { name: self.name(), ty, presence }
    }

    /// A type; one of those from a number on may be referred to.
    fn ty(&mut self, random: &mut Random, depth: u32, from: usize) -> Ty {
        let kinds = if depth < 3 { 14 } else { 9 };
        match random.below(kinds) {
            0 => Ty::Boolean,
            1 => Ty::Integer(
                random.pick(&[0, 1, -5]),
                random.pick(&[7, 10, 100, 255, 300, 70_000]),
                random.is(20),
            ),
            2 => Ty::Unbounded,
            3 => Ty::Octets(random.below(3) as u32, 3 + random.below(4) as u32),
            4 => Ty::Bits(2, 2 + random.below(4) as u32, random.is(50)),
            5 => Ty::Text(random.pick(&TEXTS), 0, 1 + random.below(6) as u32),
            6 => {
                let items = (0..1 + random.below(4)).map(|_| self.name()).collect();
                let extensible = random.is(50);
                let additions = if extensible { random.below(3) } else { 0 };
                Ty::Enumerated(items, extensible, (0..additions).map(|_| self.name()).collect())
            }
            7 => Ty::Oid,
            8 => Ty::Null,
            9 => self.fields(random, depth, "SEQUENCE"),
            10 => self.fields(random, depth, "SET"),
            11 => self.fields(random, depth, "CHOICE"),
            12 => {
                let element = self.ty(random, depth + 1, 3);
                Ty::List(random.pick(&["SEQUENCE", "SET"]), 0, 1 + random.below(4) as u32, Box::new(element))
            }
            _ if from < 3 => Ty::Reference(from + random.below(3 - from)),
            _ => Ty::Boolean,
        }
    }

    /// Makes one edit, or a few.
    pub(crate) fn edit(&mut self, random: &mut Random) {
        for _ in 0..1 + random.below(2) {
            let number = random.below(self.types.len());
            let mut ty = std::mem::replace(&mut self.types[number], Ty::Null);
            self.change(&mut ty, random, if number == 0 { 0 } else { 1 });
            self.types[number] = ty;
        }
    }

    fn change(&mut self, ty: &mut Ty, random: &mut Random, depth: u32) {
        match ty {
            Ty::Fields(kind, root, extensible, additions) => {
                let kind = *kind;
                let all = root.len() + additions.len();
                let at = random.below(root.len());
                match random.below(11) {
                    0 => root.insert(at, self.field(random, depth, kind)),
                    1 => root.push(self.field(random, depth, kind)),
                    2 if *extensible => additions.push(self.field(random, depth, kind)),
                    3 if root.len() > 1 => _ = root.remove(at),
                    4 => root[at].name = self.name(),
                    5 if root.len() > 1 => {
                        let other = random.below(root.len());
                        root.swap(at, other);
                    }
                    6 if additions.is_empty() => *extensible = !*extensible,
                    7 if kind != "CHOICE" => {
                        root[at].presence = match root[at].ty {
                            Ty::Boolean => random.pick(&["", "OPTIONAL", "DEFAULT FALSE"]),
                            Ty::Unbounded => random.pick(&["", "OPTIONAL", "DEFAULT 6"]),
                            _ => random.pick(&["", "OPTIONAL"]),
                        };
                    }
                    8 if !additions.is_empty() => _ = additions.pop(),
                    _ => {
                        let at = random.below(all);
                        let field =
                            if at < root.len() { &mut root[at] } else { &mut additions[at - root.len()] };
                        let mut inner = std::mem::replace(&mut field.ty, Ty::Null);
                        self.change(&mut inner, random, depth + 1);
                        let is_default = field.presence.starts_with("DEFAULT");
                        if is_default && !matches!(inner, Ty::Boolean | Ty::Unbounded) {
                            field.presence = "OPTIONAL";
                        }
                        if field.presence == "DEFAULT TRUE" && matches!(inner, Ty::Unbounded) {
                            field.presence = "DEFAULT 5";
                        }
                        field.ty = inner;
                    }
                }
            }
            Ty::Integer(lo, hi, extensible) => match random.below(4) {
                0 => *hi += random.pick(&[1, 4, 100, 1000]),
                1 => *hi = (*lo + 1).max(*hi - random.pick(&[1, 3, 50])),
                2 => *lo -= 1,
                _ => *extensible = !*extensible,
            },
            Ty::Octets(lo, hi) | Ty::Bits(lo, hi, _) | Ty::List(_, lo, hi, _) if random.is(60) => {
                match random.below(3) {
                    0 => *hi += 1 + random.below(4) as u32,
                    1 => *lo = *hi,
                    _ => *hi = (*lo).max(*hi - 1),
                }
            }
            Ty::Text(kind, _, hi) => {
                if random.is(50) {
                    *kind = random.pick(&TEXTS)
                } else {
                    *hi += 1
                }
            }
            Ty::Enumerated(items, extensible, additions) => match random.below(6) {
                0 => items.push(self.name()),
                1 if *extensible => additions.push(self.name()),
                2 if items.len() > 1 => _ = items.pop(),
                3 if items.len() > 1 => items.swap(0, 1),
                4 => items[0] = self.name(),
                _ if additions.is_empty() => *extensible = !*extensible,
                _ => _ = additions.pop(),
            },
            Ty::List(kind, _, _, element) => {
                if random.is(40) {
                    *kind = if *kind == "SET" { "SEQUENCE" } else { "SET" };
                } else {
                    self.change(element, random, depth + 1);
                }
            }
            Ty::Unbounded if random.is(50) => *ty = Ty::Integer(0, 1000, false),
            _ => *ty = self.ty(random, depth.max(2), 3),
        }
    }
}

const TEXTS: [&str; 6] =
    ["UTF8String", "IA5String", "VisibleString", "PrintableString", "NumericString", "BMPString"];

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "M DEFINITIONS {} TAGS ::= BEGIN", self.tags)?;
        let is_tagged = self.tags != "AUTOMATIC";
        for (number, ty) in self.types.iter().enumerate() {
            let name = if number == 0 { "T".to_owned() } else { format!("T{number}") };
            writeln!(f, "{name} ::= {}", Shown(ty, is_tagged))?;
        }
        writeln!(f, "{}\nEND", super::WRAPPER)
    }
}

struct Shown<'a>(&'a Ty, bool);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size =
            |lo: &u32, hi: &u32| if lo == hi { format!("SIZE ({lo})") } else { format!("SIZE ({lo}..{hi})") };
        match self.0 {
            Ty::Boolean => f.write_str("BOOLEAN"),
            Ty::Null => f.write_str("NULL"),
            Ty::Oid => f.write_str("OBJECT IDENTIFIER"),
            Ty::Integer(lo, hi, extensible) => {
                write!(f, "INTEGER ({lo}..{hi}{})", if *extensible { ", ..." } else { "" })
            }
            Ty::Unbounded => f.write_str("INTEGER"),
            Ty::Octets(lo, hi) => write!(f, "OCTET STRING ({})", size(lo, hi)),
            Ty::Bits(lo, hi, named) => {
                write!(f, "BIT STRING {}({})", if *named { "{x(0), y(1)} " } else { "" }, size(lo, hi))
            }
            Ty::Text(kind, lo, hi) => write!(f, "{kind} ({})", size(lo, hi)),
            Ty::Enumerated(items, extensible, additions) => {
                write!(f, "ENUMERATED {{{}", items.join(", "))?;
                if *extensible {
                    f.write_str(", ...")?;
                }
                for item in additions {
                    write!(f, ", {item}")?;
                }
                f.write_str("}")
            }
            Ty::Fields(kind, root, extensible, additions) => {
                write!(f, "{kind} {{")?;
                let mut comma = "";
                // Tags follow from names, which edits keep: automatic ones follow from places.
                let field = |f: &mut fmt::Formatter<'_>, field: &Field| {
                    let tag = if self.1 { format!("[{}] ", &field.name[1..]) } else { String::new() };
                    write!(f, "{} {tag}{} {}", field.name, Shown(&field.ty, self.1), field.presence)
                };
                for it in root {
                    f.write_str(comma)?;
                    field(f, it)?;
                    comma = ", ";
                }
                if *extensible {
                    f.write_str(", ...")?;
                }
                for it in additions {
                    f.write_str(", ")?;
                    field(f, it)?;
                }
                f.write_str("}")
            }
            Ty::List(kind, lo, hi, element) => {
                write!(f, "{kind} ({}) OF {}", size(lo, hi), Shown(element, self.1))
            }
            Ty::Reference(number) => write!(f, "T{number}"),
        }
    }
}
