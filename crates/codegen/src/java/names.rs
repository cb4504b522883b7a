//! Java names for ASN.1 names.

use crate::names::{Style, upper_camel, words};

/// The names of Java.
pub(super) static STYLE: Style = Style {
    taken: TAKEN,
    ty,
    component,
    taken_components: &[],
    alternative: ty,
    taken_alternatives: &["Unknown"],
    other_row: "Unknown",
    item: constant,
    taken_items: &["TYPE"],
    additions: "unknownAdditions",
    file_suffix: Some("Codec"),
};

/// A type's name: `AMF-UE-NGAP-ID` is `AmfUeNgapId`, `String` is `String_`.
fn ty(name: &str) -> String {
    let name = upper_camel(name);
    if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(&name)) { name + "_" } else { name }
}

/// A component's name: `call-id` is `callId`, `class` is `class_`.
fn component(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut characters = part.chars();
        match characters.next() {
            Some(first) if out.is_empty() => out.push(first.to_ascii_lowercase()),
            Some(first) => out.push(first.to_ascii_uppercase()),
            None => {}
        }
        out.push_str(characters.as_str());
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'n');
    }
    if KEYWORDS.contains(&&*out) || METHODS.contains(&&*out) { out + "_" } else { out }
}

/// An item's name: `normalCall` is `NORMAL_CALL`.
fn constant(name: &str) -> String {
    let mut out = words(name).collect::<Vec<_>>().join("_").to_uppercase();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

pub(super) const KEYWORDS: &[&str] = &[
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

/// Methods without parameters that every object or every printed class has.
const METHODS: &[&str] = &[
    "all",
    "builder",
    "clone",
    "finalize",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "toBuilder",
    "toString",
    "wait",
];

/// Type names that the printed text uses for other things, and those of `java.lang` that would be in the way of its own.
const TAKEN: &[&str] = &[
    "Appendable",
    "Arrays",
    "Asn1Exception",
    "Asn1Real",
    "Asn1Type",
    "Asn1Value",
    "AssertionError",
    "AutoCloseable",
    "BerReader",
    "BerTag",
    "BerWriter",
    "BigInteger",
    "BitString",
    "Boolean",
    "Builder",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "ClassLoader",
    "ClassValue",
    "Cloneable",
    "Comparable",
    "Compiler",
    "Components",
    "Consumer",
    "Contained",
    "Decoded",
    "Deprecated",
    "Double",
    "Encoder",
    "Enum",
    "Error",
    "ErrorKind",
    "Exception",
    "Float",
    "FunctionalInterface",
    "IllegalArgumentException",
    "IllegalStateException",
    "InheritableThreadLocal",
    "Integer",
    "Iterable",
    "JerItems",
    "JerMembers",
    "JerReader",
    "JsonText",
    "Key",
    "Known",
    "Limits",
    "List",
    "Lists",
    "Long",
    "Math",
    "Module",
    "ModuleLayer",
    "Null",
    "NullPointerException",
    "Nullable",
    "Number",
    "Object",
    "ObjectIdentifier",
    "Objects",
    "Octets",
    "OerReader",
    "OerTime",
    "OerWriter",
    "Override",
    "Package",
    "PerAdditions",
    "PerAlphabet",
    "PerReader",
    "PerSize",
    "PerTime",
    "PerWhole",
    "PerWriter",
    "Place",
    "Process",
    "ProcessBuilder",
    "ProcessHandle",
    "Readable",
    "Record",
    "RelativeObjectIdentifier",
    "Rules",
    "Runnable",
    "Runtime",
    "RuntimeException",
    "RuntimePermission",
    "SafeVarargs",
    "ScopedValue",
    "SecurityManager",
    "Short",
    "StackTraceElement",
    "StackWalker",
    "StrictMath",
    "String",
    "StringBuffer",
    "StringBuilder",
    "SuppressWarnings",
    "System",
    "Table",
    "TableKey",
    "TableRows",
    "Tag",
    "Text",
    "Thread",
    "ThreadGroup",
    "ThreadLocal",
    "Throwable",
    "Unknown",
    "UnknownAddition",
    "UnknownAdditions",
    "UnknownAlternative",
    "ValueWriter",
    "Void",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_classes_are_no_names_of_types() {
        for (_, class) in super::super::IMPORTS {
            assert!(TAKEN.contains(class), "{class}");
        }
    }

    #[test]
    fn names() {
        for (name, as_type, as_component, as_item) in [
            ("AMF-UE-NGAP-ID", "AmfUeNgapId", "aMFUENGAPID", "AMF_UE_NGAP_ID"),
            ("iE-Extensions", "IEExtensions", "iEExtensions", "I_E_EXTENSIONS"),
            ("class", "Class_", "class_", "CLASS"),
            ("toString", "ToString", "toString_", "TO_STRING"),
            ("string", "String_", "string", "STRING"),
            ("call-id", "CallId", "callId", "CALL_ID"),
            ("n1", "N1", "n1", "N1"),
        ] {
            assert_eq!(
                (ty(name), component(name), constant(name)),
                (as_type.to_owned(), as_component.to_owned(), as_item.to_owned()),
                "{name}"
            );
        }
    }
}
