//! What the engine does for components, alternatives and elements.

/// All that the engine needs to know of a component, alternative or element, in one place; of a size that places are
/// found by a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Step {
    /// How it is written.
    pub op: Op,
    /// Its number among the fields of the shape.
    pub field: u32,
    /// Its node.
    pub node: u32,
    /// Its DEFAULT: an index into the defaults of the shape, or [`NO_DEFAULT`].
    pub constant: u32,
    /// The register that its value goes to, or [`NO_KEY`].
    pub key: u16,
    /// How many steps from this one on have a presence bit, one behind the other; 0 if this one has none.
    pub run: u8,
    /// How many presence bits stand before its own, or before those of the steps behind it; [`MANY`] for more.
    pub bit: u8,
}

/// More presence bits than are read at once.
pub const MANY: u8 = 56;

/// How a value is written: the forms that most have, and for all others where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// NULL.
    Null,
    /// A BOOLEAN, and an INTEGER or ENUMERATED whose root is a bit-field or one or two octets: the difference to `lo`.
    /// What is greater than `span` is read as the code of the node says.
    Number {
        /// The least value.
        lo: i32,
        /// The greatest value minus the least.
        span: u32,
        /// Bits of the field, together with an extension bit, which makes the number too great.
        width: u8,
        /// 7 where it begins at an octet, else 0.
        pad: u8,
    },
    /// A SEQUENCE or SET without keys and with fewer than [`MANY`] presence bits.
    Sequence {
        /// Where the root begins among [`Program::steps`].
        first: u32,
        /// How many steps it has.
        count: u32,
        /// Presence bits.
        optional: u8,
        /// Those and the extension bit, if there is one.
        width: u8,
    },
    /// A SEQUENCE of a key, another number and an open type that the key selects: with the length of the open type, if it
    /// is below 128, one field of bits. Protocols are made of such SEQUENCEs.
    Keyed {
        /// Where its three steps stand among [`Program::steps`].
        first: u32,
        /// Bits of the field.
        width: u8,
        /// 7 where it begins at an octet, else 0.
        pad: u8,
        /// Bits behind the key.
        behind: u8,
        /// Bits behind the other number, the last eight of them the length.
        rest: u8,
    },
    /// A SEQUENCE OF or SET OF whose size is one field of bits, with elements of one bit at least.
    List {
        /// The step of the element.
        element: u32,
        /// The least size.
        lo: u16,
        /// The greatest size minus the least.
        span: u16,
        /// Bits of the field, together with an extension bit, which makes the size too great.
        width: u8,
        /// 7 where it begins at an octet, else 0.
        pad: u8,
    },
    /// A CHOICE that is no key, with an index that is one field of bits.
    Choice {
        /// Where the root begins among [`Program::steps`].
        first: u32,
        /// The greatest index into the root.
        most: u32,
        /// Bits of the index, together with an extension bit, which makes it too great.
        width: u8,
        /// 7 where it begins at an octet, else 0.
        pad: u8,
    },
    /// An open type whose content follows from one whole number or two.
    Open {
        /// Index into [`Program::tables`].
        table: u32,
        /// The register of the key.
        key: u16,
        /// That of the second one, or [`NO_KEY`].
        second: u16,
    },
    /// An OCTET STRING that is no key, whose size is one field of bits, or below 128 behind a general length determinant.
    Octets(Counted),
    /// A BIT STRING of the same kind.
    Bits(Counted),
    /// A known-multiplier string of the same kind, with characters of one octet in any order: the number of characters and
    /// an entry of [`Program::alphabets`].
    Characters(Counted, u16),
    /// The same where what is written for a character is its octet.
    Text(Counted, u16),
    /// Any other value without parts, and a string with CONTAINING, as the code of its node says.
    Leaf,
    /// Any other value that has parts or may have some, as the code of its node says.
    Part,
}

/// The number of octets, bits or characters of a string in front of them. What is greater than `most`, and none, is read as the code
/// of the node says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The least size.
    pub lo: u16,
    /// The greatest size minus the least.
    pub most: u16,
    /// Bits of the field, together with an extension bit, which makes the number too great.
    pub width: u8,
    /// 7 where it begins at an octet, else 0.
    pub pad: u8,
    /// 7 where the contents begin at an octet, else 0.
    pub align: u8,
}

/// No DEFAULT.
pub const NO_DEFAULT: u32 = u32::MAX;

/// No register.
pub const NO_KEY: u16 = u16::MAX;
