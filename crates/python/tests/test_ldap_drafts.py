"""Drafts of entries: recorded changes, schemas, generators and services."""

from __future__ import annotations

import asyncio

import pytest

from tercet import ldap
from tercet.ldap import aio

SCHEMA = """\
dn: cn=subschema
attributeTypes: ( 2.5.4.0 NAME 'objectClass' )
attributeTypes: ( 2.5.4.3 NAME ( 'cn' 'commonName' ) EQUALITY caseIgnoreMatch )
attributeTypes: ( 2.5.4.4 NAME ( 'sn' 'surname' ) EQUALITY caseExactMatch )
attributeTypes: ( 1.3.6.1.1.1.1.3 NAME 'homeDirectory' SINGLE-VALUE )
objectClasses: ( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )
objectClasses: ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) )
objectClasses: ( 1.3.6.1.1.1.2.0 NAME 'posixAccount' SUP top AUXILIARY MUST homeDirectory )
"""

LDIF = """\
dn: o=test
objectClass: organization
o: test

dn: uid=ada,o=test
objectClass: inetOrgPerson
uid: ada
cn: Ada
sn: Lovelace
mail: ada@example.net
"""


def test_changes_are_recorded() -> None:
    draft = ldap.Draft("uid=ada,o=test", {"mail": ["ada@example.net"], "title": "Countess"})
    assert draft.dn == "uid=ada,o=test"
    assert draft["MAIL"] == [b"ada@example.net"]
    draft["mail"] += [b"a@example.net"]
    del draft["title"]
    assert "title" not in draft and "mail" in draft and 7 not in draft
    assert list(draft) == ["mail"] and len(draft) == 1
    assert [tuple(change) for change in draft.changes()] == [
        ("add", "mail", [b"a@example.net"]),
        ("delete", "title", [b"Countess"]),
    ]
    draft.undo()
    assert draft.changes() == [] and draft == ldap.Draft(
        "uid=ada,o=test", {"mail": "ada@example.net", "title": "Countess"}
    )
    with pytest.raises(KeyError):
        draft["nothing"]
    with pytest.raises(KeyError):
        del draft["nothing"]
    draft.add("mail", "ADA@example.net")
    draft.remove("title", "countess")
    assert draft.has_value("mail", "Ada@Example.net") and len(draft.changes()) == 1


def test_modifications_as_by_a_server() -> None:
    draft = ldap.Draft("cn=a", {"cn": "a", "n": 1})
    draft.apply([("increment", "n", 1), ("add", "l", ["x", "y"])])
    assert draft["n"] == [b"2"]
    with pytest.raises(ldap.NoSuchAttribute, match="modification 2: mail"):
        draft.apply([("replace", "l", "z"), ("delete", "mail", "x")])
    assert draft["l"] == [b"x", b"y"]
    other = ldap.Draft("cn=a", {"cn": "a", "n": 2})
    assert [tuple(change) for change in draft.diff(other)] == [("delete", "l", [b"x", b"y"])]


def test_drafts_go_to_a_server() -> None:
    with ldap.Directory(LDIF) as directory, ldap.connect(directory.url) as connection:
        [entry] = connection.search("o=test", "(uid=ada)")
        draft = ldap.Draft(entry)
        draft["sn"] = "King"
        connection.modify(draft.dn, draft.changes())
        [entry] = connection.search("o=test", "(uid=ada)")
        assert entry.text("sn") == "King"
        schema = ldap.Schema.of(connection)
        assert "inetOrgPerson" in schema.object_classes and ldap.SchemaDraft(draft, schema).is_allowed("mail")


def test_schemas_of_servers_are_awaited() -> None:
    async def main() -> None:
        with ldap.Directory(LDIF) as directory:
            async with aio.connect(directory.url) as connection:
                schema = await ldap.Schema.of(connection)
                assert "posixAccount" in schema.object_classes

    asyncio.run(main())


def test_schema_drafts() -> None:
    schema = ldap.Schema.read(SCHEMA)
    assert schema.object_classes == ["top", "person", "posixAccount"] and "cn" in schema.attribute_types
    plain = ldap.Draft("cn=Ada", {"objectClass": "person", "cn": "Ada", "homeDirectory": "/home/ada"})
    draft = ldap.SchemaDraft(plain, schema)
    assert isinstance(draft, ldap.Draft)
    assert draft.missing() == ["sn"] and draft.illegal() == ["homeDirectory"]
    assert draft.allowed() == ["cn", "objectClass", "sn"] and draft.present() == ["cn", "homeDirectory", "objectClass"]
    assert draft.is_allowed("surname") and draft.is_missing("SN") and not draft.is_allowed("homeDirectory")
    assert "missing attribute `sn`, required by object class `person`" in draft.check()
    planned = draft.plan("optimistic")
    assert draft.repair("optimistic") == planned
    assert planned == ["object class `posixAccount` added: it allows `homeDirectory`"]
    draft["sn"] = "Lovelace"
    assert draft.check() == [] and draft.repair("optimistic") == []
    # The rule of the schema: sn is compared with case.
    draft.add("sn", "LOVELACE")
    assert len(draft["sn"]) == 2
    draft["objectClass"] = "person"
    assert draft.repair("pessimistic") == ["attribute `homeDirectory` dropped with 1 value: no object class allows it"]
    with pytest.raises(ldap.ResultError, match="modification 1"):
        draft.apply([("delete", "sn")])
    assert "sn" not in plain
    with pytest.raises(ldap.ParseError):
        ldap.Schema.read("dn: o=x\no: x\n")


def test_generators() -> None:
    generators = ldap.Generators()
    generators.add_login_name()
    generators.add_from_attribute("homeDirectory", "uid", "/home/")
    generators.add("mail", ["uid"], lambda draft: draft["uid"][0] + b"@example.net")
    draft = ldap.Draft("cn=Ada", {"givenName": "Ada", "sn": "Lovelace"})
    assert generators.generate(draft, ["mail", "homeDirectory"]) == ["uid", "mail", "homeDirectory"]
    assert draft["mail"] == [b"alovelace@example.net"] and draft["homeDirectory"] == [b"/home/alovelace"]
    assert generators.generate(draft, ["mail"]) == []
    generators.add("a", ["b"], lambda draft: "x")
    generators.add("b", ["a"], lambda draft: "x")
    with pytest.raises(ldap.UsageError, match="`a` requires `b` requires `a`"):
        generators.generate(draft, ["a"])
    generators.add("fails", [], lambda draft: draft["nothing"])
    with pytest.raises(KeyError, match="nothing"):
        generators.generate(draft, ["fails"])
    generators.add_password("secret")
    generators.generate(draft, ["userPassword"])
    assert draft["userPassword"][0].startswith(b"{ARGON2}$argon2id$")


def test_services() -> None:
    generators = ldap.Generators()
    generators.add_from_attribute("homeDirectory", "uid", "/home/")
    services = ldap.Services(generators)
    services.add("posix", {"objectClass": "posixAccount"}, generate=["homeDirectory"])
    services.add("mail", {"objectClass": ["mailUser"], "quota": 5}, depends=["posix"])
    draft = ldap.Draft("uid=ada", {"objectClass": "account", "uid": "ada"})
    assert services.add_service(draft, "mail") == ["posix", "mail"]
    assert services.add_service(draft, "mail") == []
    assert services.services(draft) == ["posix", "mail"] and services.has_service(draft, "mail")
    assert services.remove_service(draft, "posix") == ["mail", "posix"]
    assert draft.changes() == []
    with pytest.raises(ldap.UsageError, match="unknown service `x`; known: posix, mail"):
        services.add_service(draft, "x")
