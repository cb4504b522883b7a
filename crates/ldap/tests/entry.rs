//! Entries checked and repaired by a schema.

use std::sync::Arc;

use tercet_ldap::entry::{Repair, Repaired, SchemaDraft, Violation};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::schema::Schema;
use tercet_ldap::{Draft, ResultCode};

const SCHEMA: &str = "\
dn: cn=subschema
attributeTypes: ( 2.5.4.0 NAME 'objectClass' EQUALITY objectIdentifierMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.38 )
attributeTypes: ( 2.5.4.41 NAME 'name' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{32768} )
attributeTypes: ( 2.5.4.3 NAME ( 'cn' 'commonName' ) SUP name )
attributeTypes: ( 2.5.4.4 NAME ( 'sn' 'surname' ) SUP name )
attributeTypes: ( 2.5.4.6 NAME ( 'c' 'countryName' ) SUP name SYNTAX 1.3.6.1.4.1.1466.115.121.1.11 SINGLE-VALUE )
attributeTypes: ( 0.9.2342.19200300.100.1.1 NAME ( 'uid' 'userid' ) EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributeTypes: ( 0.9.2342.19200300.100.1.3 NAME ( 'mail' 'rfc822Mailbox' ) EQUALITY caseIgnoreIA5Match SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 )
attributeTypes: ( 1.3.6.1.1.1.1.0 NAME 'uidNumber' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributeTypes: ( 1.3.6.1.1.1.1.3 NAME 'homeDirectory' EQUALITY caseExactIA5Match SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 SINGLE-VALUE )
attributeTypes: ( 1.9.1 NAME 'code' EQUALITY caseExactMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributeTypes: ( 1.9.2 NAME 'color' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributeTypes: ( 1.9.3 NAME 'size' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
attributeTypes: ( 1.9.4 NAME 'lone' SUP name )
attributeTypes: ( 2.5.18.1 NAME 'createTimestamp' SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE NO-USER-MODIFICATION USAGE directoryOperation )
objectClasses: ( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )
objectClasses: ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) MAY c )
objectClasses: ( 2.5.6.7 NAME 'organizationalPerson' SUP person STRUCTURAL )
objectClasses: ( 2.16.840.1.113730.3.2.2 NAME 'inetOrgPerson' SUP organizationalPerson STRUCTURAL MAY ( mail $ uid ) )
objectClasses: ( 0.9.2342.19200300.100.4.5 NAME 'account' SUP top STRUCTURAL MUST uid )
objectClasses: ( 1.3.6.1.1.1.2.0 NAME 'posixAccount' SUP top AUXILIARY MUST ( cn $ uid $ uidNumber $ homeDirectory ) )
objectClasses: ( 1.3.6.1.4.1.1466.101.120.111 NAME 'extensibleObject' SUP top AUXILIARY )
objectClasses: ( 1.10.2 NAME 'second' SUP top AUXILIARY MAY ( color $ code ) )
objectClasses: ( 1.9.10 NAME 'first' SUP top AUXILIARY MAY color )
objectClasses: ( 1.9.9 NAME 'strict' SUP top AUXILIARY MUST size MAY color )
objectClasses: ( 1.9.11 NAME 'base' SUP top AUXILIARY MAY size )
objectClasses: ( 1.9.12 NAME 'derived' SUP base AUXILIARY MAY lone )
objectClasses: ( 1.9.13 NAME 'thing' SUP top STRUCTURAL MAY cn )
dITContentRules: ( 1.9.13 NAME 'thingRule' AUX ( second $ strict ) MUST size NOT code )
";

fn schema() -> Arc<Schema> {
    Arc::new(Schema::read(SCHEMA.as_bytes()).unwrap())
}

fn draft(attributes: &[(&str, &[&str])]) -> SchemaDraft {
    let attributes = attributes.iter().map(|(name, values)| (*name, values.to_vec()));
    Draft::new("cn=a,o=test", attributes).with_schema(schema())
}

fn names(list: &[tercet_ldap::entry::AttributeRef]) -> Vec<&str> {
    list.iter().map(|attribute| attribute.name.as_str()).collect()
}

fn texts<T: ToString>(list: &[T]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn sets_of_attributes() {
    let entry = draft(&[
        ("objectClass", &["organizationalPerson", "POSIXaccount"]),
        ("commonName", &["a"]),
        ("MAIL", &["a@b"]),
        ("unknown", &["x"]),
        ("createTimestamp", &["20260101000000Z"]),
    ]);
    assert_eq!(
        names(&entry.allowed()),
        ["c", "cn", "homeDirectory", "objectClass", "sn", "uid", "uidNumber"]
    );
    assert_eq!(names(&entry.missing()), ["homeDirectory", "sn", "uid", "uidNumber"]);
    assert_eq!(names(&entry.present()), ["cn", "createTimestamp", "mail", "objectClass", "unknown"]);
    assert_eq!(names(&entry.illegal()), ["mail", "unknown"]);
    assert_eq!(entry.illegal()[1].oid, None);
    assert_eq!(entry.allowed()[1].oid.as_deref(), Some("2.5.4.3"));
    assert!(entry.is_allowed("surname") && entry.is_allowed("2.5.4.4;lang-de") && !entry.is_allowed("mail"));
    assert!(entry.is_missing("SN") && !entry.is_missing("cn") && !entry.is_missing("c"));
}

#[test]
fn violations() {
    let check = |attributes: &[(&str, &[&str])]| texts(&draft(attributes).check());
    let good: &[(&str, &[&str])] = &[("objectClass", &["top", "person"]), ("cn", &["a"]), ("sn", &["b"])];
    assert!(check(good).is_empty());
    for (attributes, expected) in [
        (
            &[("objectClass", &["person", "ghost"][..]), ("cn", &["a"]), ("sn", &["b"])][..],
            &["unknown object class `ghost`"][..],
        ),
        (
            &[("objectClass", &["inetOrgPerson", "person"]), ("cn", &["a"]), ("sn", &["b"])],
            &["object class `inetOrgPerson` requires its superior `organizationalPerson`"],
        ),
        (&[("objectClass", &["base", "top"])], &["no structural object class"]),
        (
            &[("cn", &["a"])],
            &[
                "no structural object class",
                "missing attribute `objectClass`, required by object class `top`",
                "attribute `cn` is not allowed by any object class of the entry",
            ],
        ),
        (&[("objectClass", &["top"])], &["only abstract object classes"]),
        (
            &[("objectClass", &["person", "account"]), ("cn", &["a"]), ("sn", &["b"]), ("uid", &["c"])],
            &["two structural object classes, `account` and `person`, neither derived from the other"],
        ),
        (
            &[("objectClass", &["person"]), ("cn", &["a"]), ("c", &["DE", "FR"]), ("sn", &["s", ""])],
            &[
                "attribute `c` has 2 values, but allows one",
                "attribute `sn`, value 2: a text in UTF-8, not empty expected",
            ],
        ),
        (
            &[
                ("objectClass", &["account", "extensibleObject"]),
                ("uid", &["a"]),
                ("code", &["x"]),
                ("what", &["y"]),
            ],
            &["unknown attribute `what`"],
        ),
        (&[("objectClass", &["account"])], &["missing attribute `uid`, required by object class `account`"]),
        (
            &[("objectClass", &["thing", "second"]), ("cn", &["a"]), ("code", &["x"])],
            &[
                "missing attribute `size`, required by object class `thingRule`",
                "attribute `code` is not allowed by any object class of the entry",
            ],
        ),
    ] {
        assert_eq!(check(attributes), expected, "{attributes:?}");
    }
    let mut entry = draft(good);
    entry.set("createTimestamp", ["20260101000000Z"]);
    assert_eq!(entry.check(), [Violation::NotUserModifiable { attribute: "createTimestamp".to_owned() }]);
    assert_eq!(entry.check()[0].attribute(), Some("createTimestamp"));
}

#[test]
fn optimistic_repair_adds_what_requires_least() {
    for (attributes, expected) in [
        // `second` and `first` require nothing, `strict` requires size: ties go by the numbers of the identifier.
        (
            &[("objectClass", &["person"][..]), ("color", &["red"])][..],
            &["object class `first` added: it allows `color`"][..],
        ),
        // A class that is added for one attribute is used for the next.
        (
            &[("objectClass", &["person"]), ("color", &["red"]), ("code", &["x"])],
            &["object class `second` added: it allows `code`"],
        ),
        // With size there, `strict` requires nothing more.
        (
            &[("objectClass", &["person"]), ("color", &["red"]), ("size", &["1"])],
            &["object class `strict` added: it allows `color`"],
        ),
        (
            &[("objectClass", &["person"]), ("lone", &["x"])],
            &[
                "object class `derived` added: it allows `lone`",
                "object class `base` added: `derived` is derived from it",
            ],
        ),
        (
            &[("objectClass", &["account"]), ("mail", &["x@y"]), ("ghost", &["x"])],
            &[
                "attribute `ghost` not repaired: the schema does not have it",
                "attribute `mail` not repaired: only structural object classes allow it",
            ],
        ),
        (
            &[("objectClass", &["inetOrgPerson"]), ("sn", &["x"])],
            &[
                "object class `organizationalPerson` added: `inetOrgPerson` is derived from it",
                "object class `person` added: `organizationalPerson` is derived from it",
            ],
        ),
        // A DIT content rule names the auxiliary classes.
        (
            &[("objectClass", &["thing"]), ("color", &["x"])],
            &["object class `second` added: it allows `color`"],
        ),
        (
            &[("objectClass", &["thing"]), ("lone", &["x"])],
            &["attribute `lone` not repaired: the DIT content rule has no auxiliary class that allows it"],
        ),
        (&[("objectClass", &["person"]), ("cn", &["x"])], &[]),
    ] {
        let mut entry = draft(attributes);
        let before = entry.clone();
        let planned = entry.plan(Repair::Optimistic).unwrap();
        assert_eq!(*entry, *before, "a plan changes nothing");
        let done = entry.repair(Repair::Optimistic).unwrap();
        assert_eq!(done, planned);
        assert_eq!(texts(&done), expected, "{attributes:?}");
        // Idempotent; all other values are as they were.
        let again = entry.plan(Repair::Optimistic).unwrap();
        assert!(again.iter().all(|one| matches!(one, Repaired::NotRepaired { .. })), "{again:?}");
        for (name, values) in before.attributes().filter(|(name, _)| *name != "objectClass") {
            assert!(entry.values(name).eq(values.iter().map(Vec::as_slice)));
        }
        assert!(before.values("objectClass").all(|class| entry.has_value("objectClass", class)));
    }
}

#[test]
fn pessimistic_repair_drops_what_has_lost_its_ground() {
    for (attributes, expected, left) in [
        (
            &[
                ("objectClass", &["top", "person", "inetOrgPerson"][..]),
                ("sn", &["s"]),
                ("mail", &["a", "b"]),
                ("uid", &["u"]),
            ][..],
            &[
                "object class `inetOrgPerson` dropped: its superior `organizationalPerson` is missing",
                "attribute `mail` dropped with 2 values: no object class allows it",
                "attribute `uid` dropped with 1 value: no object class allows it",
            ][..],
            &["objectClass", "sn"][..],
        ),
        (
            &[("objectClass", &["organizationalPerson", "inetOrgPerson", "account"]), ("uid", &["u"])],
            &[
                "object class `organizationalPerson` dropped: its superior `person` is missing",
                "object class `inetOrgPerson` dropped: its superior `organizationalPerson` is missing",
            ],
            &["objectClass", "uid"],
        ),
        // The name of the entry is cn=a.
        (
            &[("objectClass", &["account"]), ("uid", &["u"]), ("cn", &["a"]), ("ghost;x-1", &["x"])],
            &[
                "attribute `cn` not repaired: the name of the entry has it",
                "attribute `ghost` dropped with 1 value: no object class allows it",
            ],
            &["objectClass", "uid", "cn"],
        ),
        (&[("objectClass", &["person"]), ("sn", &["x"])], &[], &["objectClass", "sn"]),
    ] {
        let mut entry = draft(attributes);
        assert_eq!(texts(&entry.repair(Repair::Pessimistic).unwrap()), expected, "{attributes:?}");
        assert_eq!(entry.attributes().map(|(name, _)| name).collect::<Vec<_>>(), left);
        let again = entry.repair(Repair::Pessimistic).unwrap();
        assert!(again.iter().all(|one| matches!(one, Repaired::NotRepaired { .. })), "{again:?}");
    }
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

#[test]
fn modifications_keep_the_rules_of_the_schema() {
    use ModificationKind::{Add, Delete, Replace};
    let entry = draft(&[("objectClass", &["person"]), ("cn", &["a"]), ("sn", &["b"]), ("ghost", &["x"])]);
    for (bad, code) in [
        (change(Add, "phantom", &["x"]), ResultCode::UNDEFINED_ATTRIBUTE_TYPE),
        (change(Add, "mail", &["x@y"]), ResultCode::OBJECT_CLASS_VIOLATION),
        (change(Delete, "sn", &[]), ResultCode::OBJECT_CLASS_VIOLATION),
        (change(Add, "c", &["DE", "FR"]), ResultCode::CONSTRAINT_VIOLATION),
        (change(Add, "c", &["DEU"]), ResultCode::INVALID_ATTRIBUTE_SYNTAX),
        (change(Add, "objectClass", &["account"]), ResultCode::OBJECT_CLASS_VIOLATION),
        (change(Delete, "c", &[]), ResultCode::NO_SUCH_ATTRIBUTE),
    ] {
        let mut changed = entry.clone();
        let error = changed.apply(&[change(Replace, "sn", &["d"]), bad.clone()]).unwrap_err();
        assert_eq!(error.result().unwrap().code, code, "{bad:?}: {error}");
        assert!(error.to_string().contains("modification 2: "), "{error}");
        assert_eq!(*changed, *entry);
    }
    // `ghost` was there before, and is no reason to refuse another change.
    let mut changed = entry;
    changed
        .apply(&[
            change(Replace, "sn", &["c"]),
            change(Add, "objectClass", &["second"]),
            change(Add, "code", &["x", "X"]),
        ])
        .unwrap();
    assert_eq!(changed.values("code").count(), 2, "caseExactMatch");
    assert!(changed.apply(&[change(Add, "code", &["x"])]).is_err());
}

/// Values are compared by the rules of the schema, by whatever name.
#[test]
fn differences_follow_the_schema() {
    let with = |values: &[&str]| draft(&[("code", values), ("color", values), ("size", &["007"])]);
    let (one, other) = (with(&["a"]), with(&["A"]));
    let kinds: Vec<_> = one.diff(&other).into_iter().map(|change| (change.kind, change.attribute)).collect();
    use ModificationKind::{Add, Delete};
    // Spelling is a change too, in either case by naming the value.
    assert_eq!(
        kinds,
        [
            (Delete, "code".to_owned()),
            (Add, "code".to_owned()),
            (Delete, "color".to_owned()),
            (Add, "color".to_owned())
        ]
    );
    assert!(one.has_value("color", "A") && !one.has_value("code", "A") && one.has_value("size", "7"));
}

#[test]
fn schemas_of_active_directory() {
    let text = "\
dn: CN=Top,CN=Schema
objectClass: classSchema
lDAPDisplayName: top
governsID: 2.5.6.0
subClassOf: top
objectClassCategory: 2
systemMustContain: objectClass
systemMayContain: cn

dn: CN=Person,CN=Schema
objectClass: top
objectClass: classSchema
lDAPDisplayName: person
governsID: 2.5.6.6
subClassOf: top
objectClassCategory: 0
systemAuxiliaryClass: mailRecipient
mustContain: sn

dn: CN=Mail-Recipient,CN=Schema
objectClass: classSchema
lDAPDisplayName: mailRecipient
governsID: 1.2.840.113556.1.3.46
subClassOf: top
objectClassCategory: 3
systemMayContain: mail

dn: CN=Object-Class,CN=Schema
objectClass: attributeSchema
lDAPDisplayName: objectClass
attributeID: 2.5.4.0
isSingleValued: FALSE

dn: CN=Surname,CN=Schema
objectClass: attributeSchema
lDAPDisplayName: sn
attributeID: 2.5.4.4
isSingleValued: TRUE

dn: CN=Mail,CN=Schema
objectClass: attributeSchema
lDAPDisplayName: mail
attributeID: 0.9.2342.19200300.100.1.3
isSingleValued: TRUE
";
    let schema = Arc::new(Schema::read(text.as_bytes()).unwrap());
    let draft = Draft::new("CN=a", [("objectClass", vec!["top", "person"]), ("mail", vec!["a@b", "c@d"])])
        .with_schema(schema);
    assert_eq!(names(&draft.missing()), ["sn"]);
    assert!(draft.is_allowed("mail"));
    assert!(texts(&draft.check()).contains(&"attribute `mail` has 2 values, but allows one".to_owned()));
    assert!(Schema::read("dn: o=x\no: x\n".as_bytes()).is_err());
}

#[test]
fn schemas_of_openldap_are_read() {
    let file = "\
# A file.
objectidentifier Base 1.3.6.1.4.1.99999
objectidentifier Types Base:1

attributetype ( Types:1 NAME 'myNum'
\tEQUALITY integerMatch
\tSYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
objectclass ( Base:2.1 NAME 'myAux' SUP top AUXILIARY MAY myNum )
";
    let config = "\
# Generated by hand.
dn: cn=my,cn=schema,cn=config
objectClass: olcSchemaConfig
cn: my
olcObjectIdentifier: {0}Base 1.3.6.1.4.1.99999
olcObjectIdentifier: {1}Types Base:1
olcAttributeTypes: {0}( Types:1 NAME 'myNum' EQUALITY integerMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
olcObjectClasses: {0}( Base:2.1 NAME 'myAux' SUP top AUXILIARY MAY myNum )
";
    for text in [file, config] {
        let schema = Schema::read(text.as_bytes()).unwrap();
        assert_eq!(schema.attribute_type("myNum").unwrap().oid, "1.3.6.1.4.1.99999.1.1", "{text}");
        assert_eq!(schema.object_class("MYAUX").unwrap().oid, "1.3.6.1.4.1.99999.2.1", "{text}");
    }
    let error = Schema::read("attributetype ( 1.2 NAME 'a' )\nnoword ( 1.3 )\n".as_bytes()).unwrap_err();
    assert!(error.to_string().contains("line 2: unknown word `noword`"), "{error}");
}
