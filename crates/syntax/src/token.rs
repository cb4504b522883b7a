//! Lexical items (X.680 §12). The lexer makes them; each is twelve bytes and borrows nothing.

use crate::source::Span;

/// A lexical item with its place. The characters are those of the source at [`Token::span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

const _: () = assert!(size_of::<Token>() == 12);

/// The kinds of lexical item. White space and comments are none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name that begins with a capital letter and is not reserved: typereference, modulereference, class name …
    Upper,
    /// A name that begins with a small letter: identifier, valuereference.
    Lower,
    /// A reserved word (§12.38).
    Word(Keyword),
    /// Digits (§12.8).
    Number,
    /// Digits with a fraction or an exponent (§12.9).
    Real,
    /// `"…"` (§12.14).
    CString,
    /// `'01'B` (§12.10).
    BString,
    /// `'0F'H` (§12.12).
    HString,
    /// `&Type` (X.681 §7.4).
    UpperField,
    /// `&value` (X.681 §7.5).
    LowerField,
    /// An XML value behind `::=`, from its first `<` to its last `>`.
    Xml,
    /// `::=`
    Assign,
    /// `..`
    Range,
    /// `...`
    Ellipsis,
    /// `[[`
    OpenVersion,
    /// `]]`
    CloseVersion,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `-`
    Minus,
    /// `:`
    Colon,
    /// `=`
    Equal,
    /// `;`
    Semicolon,
    /// `@`
    At,
    /// `|`
    Bar,
    /// `!`
    Bang,
    /// `^`
    Caret,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// Characters that no lexical item begins with.
    Unknown,
    /// The end of what is read.
    End,
}

impl TokenKind {
    /// What to call it in a message, literals in backticks.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Upper => "a name in capitals",
            Self::Lower => "an identifier",
            Self::Word(_) => "a reserved word",
            Self::Number => "a number",
            Self::Real => "a real number",
            Self::CString => "a character string",
            Self::BString => "a binary string",
            Self::HString => "a hexadecimal string",
            Self::UpperField | Self::LowerField => "a field name",
            Self::Xml => "an XML value",
            Self::Assign => "`::=`",
            Self::Range => "`..`",
            Self::Ellipsis => "`...`",
            Self::OpenVersion => "`[[`",
            Self::CloseVersion => "`]]`",
            Self::OpenBrace => "`{`",
            Self::CloseBrace => "`}`",
            Self::OpenParen => "`(`",
            Self::CloseParen => "`)`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::Less => "`<`",
            Self::Greater => "`>`",
            Self::Comma => "`,`",
            Self::Dot => "`.`",
            Self::Minus => "`-`",
            Self::Colon => "`:`",
            Self::Equal => "`=`",
            Self::Semicolon => "`;`",
            Self::At => "`@`",
            Self::Bar => "`|`",
            Self::Bang => "`!`",
            Self::Caret => "`^`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::Unknown => "a character that ASN.1 does not use",
            Self::End => "the end of the text",
        }
    }
}

macro_rules! keywords {
    ($($name:ident $text:literal)*) => {
        /// The reserved words of X.680 §12.38, X.681 §7.9 and X.208.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the standard's own words")]
        pub enum Keyword { $($name),* }

        impl Keyword {
            /// Every reserved word, in alphabetical order of its text.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The characters.
            #[inline]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

keywords! {
    Absent "ABSENT" AbstractSyntax "ABSTRACT-SYNTAX" All "ALL" Any "ANY" Application "APPLICATION"
    Automatic "AUTOMATIC" Begin "BEGIN" Bit "BIT" BmpString "BMPString" Boolean "BOOLEAN" By "BY"
    Character "CHARACTER" Choice "CHOICE" Class "CLASS" Component "COMPONENT" Components "COMPONENTS"
    Constrained "CONSTRAINED" Containing "CONTAINING" Date "DATE" DateTime "DATE-TIME" Default "DEFAULT"
    Defined "DEFINED" Definitions "DEFINITIONS" Duration "DURATION" Embedded "EMBEDDED" Encoded "ENCODED"
    EncodingControl "ENCODING-CONTROL" End "END" Enumerated "ENUMERATED" Except "EXCEPT" Explicit "EXPLICIT"
    Exports "EXPORTS" Extensibility "EXTENSIBILITY" External "EXTERNAL" False "FALSE" From "FROM"
    GeneralizedTime "GeneralizedTime" GeneralString "GeneralString" GraphicString "GraphicString"
    Ia5String "IA5String" Identifier "IDENTIFIER" Implicit "IMPLICIT" Implied "IMPLIED" Imports "IMPORTS"
    Includes "INCLUDES" Instance "INSTANCE" Instructions "INSTRUCTIONS" Integer "INTEGER"
    Intersection "INTERSECTION" Iso646String "ISO646String" Macro "MACRO" Max "MAX" Min "MIN"
    MinusInfinity "MINUS-INFINITY" NotANumber "NOT-A-NUMBER" Null "NULL" NumericString "NumericString"
    Object "OBJECT" ObjectDescriptor "ObjectDescriptor" Octet "OCTET" Of "OF" OidIri "OID-IRI"
    Optional "OPTIONAL" Pattern "PATTERN" Pdv "PDV" PlusInfinity "PLUS-INFINITY" Present "PRESENT"
    PrintableString "PrintableString" Private "PRIVATE" Real "REAL" RelativeOid "RELATIVE-OID"
    RelativeOidIri "RELATIVE-OID-IRI" Sequence "SEQUENCE" Set "SET" Settings "SETTINGS" Size "SIZE"
    String "STRING" Syntax "SYNTAX" T61String "T61String" Tags "TAGS" TeletexString "TeletexString" Time "TIME"
    TimeOfDay "TIME-OF-DAY" True "TRUE" TypeIdentifier "TYPE-IDENTIFIER" Union "UNION" Unique "UNIQUE"
    Universal "UNIVERSAL" UniversalString "UniversalString" UtcTime "UTCTime" Utf8String "UTF8String"
    VideotexString "VideotexString" VisibleString "VisibleString" With "WITH"
}

impl Keyword {
    /// The reserved word with exactly these characters.
    pub fn lookup(text: &[u8]) -> Option<Self> {
        if !(2..=16).contains(&text.len()) {
            return None;
        }
        let mut slot = hash(text);
        // The table is less than half full, so that a probe ends soon.
        while TABLE[slot] != 0 {
            let word = Self::ALL[TABLE[slot] as usize - 1];
            if word.text().as_bytes() == text {
                return Some(word);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// The reserved word with these characters, whatever their case.
    pub fn lookup_any_case(text: &str) -> Option<Self> {
        // Few names begin as a reserved word of their length does.
        let first = text.bytes().next()?.to_ascii_uppercase().wrapping_sub(b'A');
        let firsts = FIRSTS.get(text.len())?.checked_shr(first.into())?;
        if firsts & 1 == 0 {
            return None;
        }
        Self::ALL.iter().copied().find(|word| word.text().eq_ignore_ascii_case(text))
    }
}

/// For each length the letters that reserved words begin with, a bit each.
static FIRSTS: [u32; 17] = {
    let mut firsts = [0; 17];
    let mut i = 0;
    while i < Keyword::ALL.len() {
        let text = Keyword::ALL[i].text().as_bytes();
        firsts[text.len()] |= 1 << (text[0] - b'A');
        i += 1;
    }
    firsts
};

const SLOTS: usize = 512;
static TABLE: [u8; SLOTS] = table();

const fn hash(text: &[u8]) -> usize {
    let n = text.len();
    (text[0] as usize * 7
        + text[1] as usize * 31
        + text[n - 1] as usize * 131
        + text[n / 2] as usize * 17
        + n * 3)
        % SLOTS
}

const fn table() -> [u8; SLOTS] {
    let mut table = [0; SLOTS];
    let mut i = 0;
    while i < Keyword::ALL.len() {
        let mut slot = hash(Keyword::ALL[i].text().as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        i += 1;
        table[slot] = i as u8;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reserved_word_is_found() {
        for &word in Keyword::ALL {
            assert_eq!(Keyword::lookup(word.text().as_bytes()), Some(word));
        }
        for text in ["", "A", "Foo", "INTEGERS", "integer", "RELATIVE-OID-IRIX"] {
            assert_eq!(Keyword::lookup(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Keyword::lookup_any_case("ia5string"), Some(Keyword::Ia5String));
        for &word in Keyword::ALL {
            assert_eq!(Keyword::lookup_any_case(&word.text().to_ascii_lowercase()), Some(word));
        }
        for text in ["", "ia5-string", "Ia5Strings", "\u{df}eal", "_bit", "[SET", "CallEventDetailRecords"] {
            assert_eq!(Keyword::lookup_any_case(text), None, "{text}");
        }
    }
}
