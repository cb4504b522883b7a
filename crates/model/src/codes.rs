//! What the codes of diagnostics mean, for `docs/reference/diagnostics.md`.
//!
//! Codes never change their meaning. `W` codes are always warnings; `E` codes of faults that lenient reading works around
//! are shown as `W` codes with the same number there; `L` codes are slips of notation, errors in strict mode alone.
//! 0200–0299 come from binding names, 0300–0399 from values,
//! 0400–0499 from constraints, 0500–0599 from classes and objects, 0600–0699
//! from encoding instructions.

/// Code, title, explanation.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E0201",
        "unknown name",
        "The name is neither a parameter, nor defined in the module, nor imported (X.680 §14, X.683 §8). The help names \
         a module that defines it, or a name much like it. In lenient mode a name that just one other module defines is \
         taken from there; else types are taken as open types and the rest is ignored.",
    ),
    (
        "E0203",
        "something else is needed here",
        "The name is known but means another kind of thing: a class where a type is needed, for example. The \
         governor of an assignment determines what it defines (X.681 §11, §12).",
    ),
    (
        "E0210",
        "missing module",
        "An import, or a reference `Module.Name`, names a module that was not given. Give its file as well, or an alias \
         when the module has another name here.",
    ),
    (
        "W0211",
        "module given twice",
        "Two of the modules have one name. Only one of them can be meant; the option for duplicates chooses.",
    ),
    (
        "E0212",
        "defined twice",
        "A module defines a name more than once (X.680 §13.11). The first definition is used.",
    ),
    (
        "E0213",
        "imported name not defined",
        "The module in the FROM clause neither defines nor imports the name (X.680 §13.12).",
    ),
    (
        "W0214",
        "not exported",
        "The module has an EXPORTS clause without the name (X.680 §13.10). The definition is used all the same.",
    ),
    (
        "E0221",
        "defined by itself",
        "To know the value, object or object set one would have to know it already.",
    ),
    (
        "E0222",
        "type defined by itself",
        "References lead in a circle without any component between (`A ::= B`, `B ::= A`), so that no type is ever named. \
         Recursion through components is fine.",
    ),
    (
        "E0223",
        "COMPONENTS OF in a circle",
        "The components of a type cannot be taken into the type itself (X.680 §25.5).",
    ),
    (
        "E0224",
        "constrained by itself",
        "A contained subtype leads back to the type that it constrains (`K ::= INTEGER (K)`), so that the values of neither \
         are known (X.680 §51.3).",
    ),
    (
        "E0225",
        "DEFAULT without end",
        "The value that replaces an absent component lacks that component again: `B ::= SEQUENCE { a B DEFAULT {} }`. In \
         lenient mode the component is taken as OPTIONAL.",
    ),
    (
        "E0231",
        "no parameters expected",
        "The definition is not parameterized (X.683 §8), so that parameters after its name mean nothing.",
    ),
    (
        "E0232",
        "parameters missing",
        "A parameterized definition can only be used with actual parameters (X.683 §9.2). In lenient mode it is used \
         with its parameters unknown.",
    ),
    ("E0233", "wrong number of parameters", "Each dummy parameter needs one actual parameter (X.683 §9.6)."),
    (
        "E0234",
        "endless expansion",
        "An instance of the definition needs another instance with new parameters, and so on (X.683 §9.9).",
    ),
    (
        "E0235",
        "too many instances",
        "Parameterized definitions multiply: each level may double the number of instances. The limit keeps time and \
         memory in bounds; the option `instance_limit` raises it.",
    ),
    (
        "E0236",
        "parameter of another kind",
        "The governor of the dummy parameter determines what is needed: a type, a value, an object or a set (X.683 §9.5).",
    ),
    (
        "E0237",
        "too much expansion",
        "References copy what they name: values into values, parameterized definitions into instances, components by \
         COMPONENTS OF. Copies of copies multiply at each step. The limit keeps time and memory in bounds; the option \
         `expansion_limit` raises it.",
    ),
    (
        "W0241",
        "macro not expanded",
        "MACRO notation (X.208 Annex A) is read over. Values of macro instances are known when they are numbers or object \
         identifiers; the types inside are taken as open types.",
    ),
    (
        "E0251",
        "tag number out of range",
        "Tag numbers are not negative (X.680 §31.2.2) and stay below 2^32 here.",
    ),
    (
        "E0252",
        "IMPLICIT on a CHOICE",
        "A CHOICE or open type does not have a tag that could be replaced (X.680 §31.2.9). EXPLICIT is assumed.",
    ),
    (
        "E0253",
        "item named twice",
        "Items of an ENUMERATED, named numbers and named bits have distinct names.",
    ),
    (
        "E0254",
        "number given twice",
        "Items of an ENUMERATED, named numbers and named bits have distinct numbers.",
    ),
    (
        "E0255",
        "addition out of order",
        "Items after the `...` of an ENUMERATED have numbers that ascend and are not in the root (X.680 §20.4–20.6).",
    ),
    ("E0256", "negative bit", "Bits are counted from zero (X.680 §22.4)."),
    ("E0257", "enumeration number too large", "Numbers of enumeration items have 64 bits here."),
    (
        "E0261",
        "COMPONENTS OF something else",
        "In a SEQUENCE it needs a SEQUENCE type, in a SET a SET type (X.680 §25.5, §27.2).",
    ),
    (
        "E0262",
        "too many components",
        "COMPONENTS OF that doubles at each step would give more components than fit.",
    ),
    (
        "E0263",
        "component named twice",
        "Components and alternatives have distinct names (X.680 §25.11, §27.3, §29.3).",
    ),
    (
        "E0264",
        "same tag twice",
        "Decoders distinguish alternatives of a CHOICE, elements of a SET, and components of a SEQUENCE that may be \
         absent by their tags, which must differ (X.680 §25.6, §27.3, §29.3). AUTOMATIC TAGS avoids it.",
    ),
    (
        "E0265",
        "open type among alternatives",
        "An open type without a tag may begin with any tag, so that it cannot be distinguished from its neighbours.",
    ),
    (
        "W0266",
        "no finite value",
        "Each value of the type needs another one inside it, without end. One component on the way should be OPTIONAL.",
    ),
    (
        "E0271",
        "field without fields",
        "Only object and object set fields lead on to further fields (X.681 §14).",
    ),
    ("E0272", "unknown field", "The class does not define the field (X.681 §9)."),
    ("E0273", "field of another kind", "The field does not hold what is needed at this place (X.681 §15)."),
    (
        "E0274",
        "field not set",
        "The object leaves the field out, and the class gives no default (X.681 §15).",
    ),
    (
        "E0275",
        "unknown alternative",
        "A selection type names an alternative that the CHOICE does not have (X.680 §30).",
    ),
    ("E0276", "selection from something else", "A selection type picks from a CHOICE type (X.680 §30.2)."),
    (
        "E0299",
        "too deep",
        "Definitions nest so deeply that resolving stops, to keep within its stack. Give the inner parts names.",
    ),
    ("E0301", "value of another type", "The notation is not one of the governor's values (X.680 §17.7)."),
    (
        "E0302",
        "number too long",
        "Numbers are read up to a limit of digits, so that a text cannot buy time with them.",
    ),
    ("E0303", "bytes or bits for a number", "A bit or hexadecimal string is used where a number is needed."),
    (
        "E0304",
        "unknown bit",
        "The BIT STRING has no bit of that name, or the bit lies too far out (X.680 §22).",
    ),
    (
        "E0305",
        "character outside the type",
        "The character string type does not have the character (X.680 §41).",
    ),
    ("E0306", "field without a value", "The object's field holds something else than a value (X.681 §15)."),
    (
        "E0307",
        "object identifier not understood",
        "A component is neither a number, nor an arc of X.660, nor a value; or the first two arcs do not exist.",
    ),
    ("E0309", "XML value notation", "Values in XML notation (X.680 §17.9) are read over."),
    ("E0401", "range upside down", "The lower end of a range lies above the upper one (X.680 §51.4)."),
    ("E0402", "size without SIZE", "A bare range after a string or list type is taken as its size."),
    (
        "E0403",
        "constraint on another type",
        "The type cannot be constrained in this way (X.680 §51.3, Table 9).",
    ),
    (
        "E0404",
        "unknown component in a constraint",
        "WITH COMPONENTS names a component that is not there (X.680 §51.8).",
    ),
    ("E0405", "constraints that leave nothing", "Serial constraints have no value in common (X.680 §50.4)."),
    (
        "E0406",
        "value outside its type",
        "A DEFAULT or a value assignment does not satisfy the constraints of its type.",
    ),
    (
        "E0407",
        "object set without braces",
        "As a constraint an object set requires braces: `({Set})` (X.682 §10.3).",
    ),
    ("E0408", "negative size", "Sizes count from zero (X.680 §51.5)."),
    (
        "L0401",
        "string as the DEFAULT of a list",
        "A binary or hexadecimal string is not a value of a SEQUENCE OF or SET OF (X.680 §26.3). The component is taken as \
         OPTIONAL.",
    ),
    (
        "L0402",
        "enumeration number given twice",
        "Two items of an ENUMERATED have one number (X.680 §20.4), as where one is another name of the first. Both can be \
         encoded; decoding gives the first.",
    ),
    (
        "L0403",
        "another version of a module",
        "An import names an object identifier that the module at hand does not have (X.680 §13.15): it was written for another \
         version. WITH SUCCESSORS and WITH DESCENDANTS allow later ones.",
    ),
    ("E0501", "field defined twice", "The fields of a class have distinct names (X.681 §9.3)."),
    (
        "E0502",
        "object not understood",
        "The object follows neither the class's WITH SYNTAX nor the default one (X.681 §11).",
    ),
    (
        "E0503",
        "not an object or object set",
        "Object sets are made of objects and object sets (X.681 §12.3).",
    ),
    (
        "E0504",
        "field not set",
        "The object lacks a field that is neither OPTIONAL nor has a DEFAULT (X.681 §11.6).",
    ),
    ("E0505", "comma in an object", "The WITH SYNTAX of the class has no comma at this place."),
    (
        "E0506",
        "default of another kind",
        "The DEFAULT of a class field is of another kind than the field (X.681 §9).",
    ),
    (
        "E0507",
        "identifier used twice",
        "Objects of one set have different values in a field that the class marks UNIQUE (X.681 §9.20): a receiver could \
         not know which one is meant.",
    ),
    (
        "E0601",
        "encoding instruction not understood",
        "The text in brackets before a type, or in an ENCODING-CONTROL section, follows neither X.693 (clauses 14 to \
         39) nor X.697 (clause 13). It has no effect.",
    ),
    (
        "E0602",
        "no place for an encoding instruction",
        "A path such as `Type.component` names a type of the module and then its components, `*` the element of a list \
         (X.693 clause 15).",
    ),
    (
        "E0603",
        "encoding instruction not supported",
        "Extended XER (X.693 clause 10) is asked for, and a type has an instruction that is not followed here: \
         ANY-ATTRIBUTES, ANY-ELEMENT, ELEMENT, EMBED-VALUES, PI-OR-COMMENT, USE-QNAME. Basic and canonical XER ignore \
         instructions.",
    ),
    (
        "E0604",
        "encoding instruction of another type",
        "Most encoding instructions mean something for some types only: LIST for a SEQUENCE OF, UNWRAPPED for a CHOICE, \
         ATTRIBUTE for values that are characters alone (X.693 clauses 18 to 39, X.697 clause 13).",
    ),
];
