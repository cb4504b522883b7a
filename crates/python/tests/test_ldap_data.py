"""Filters, names, URLs, LDIF and controls."""

import io
from pathlib import Path

import pytest
from test_ldap import PEOPLE, people

from tercet import ldap
from tercet.ldap import controls, ldif


def test_filters() -> None:
    filter = ldap.Filter("(&(cn=a*)(!(sn=b)))")
    assert str(filter) == "(&(cn=a*)(!(sn=b)))" and repr(filter) == "Filter('(&(cn=a*)(!(sn=b)))')"
    made = ldap.Filter("(cn=a*)") & ~ldap.Filter.equal("sn", "b")
    assert made == filter and hash(made) == hash(filter) and made != ldap.Filter("(cn=a)")
    assert str(~~made | ldap.Filter.present("mail")) == "(|(&(cn=a*)(!(sn=b)))(mail=*))"
    assert str(made & ldap.Filter.at_least("uidNumber", 7) & ldap.Filter.at_most("l", "x")).count("&") == 1
    assert str(ldap.Filter.equal("cn", "*)(uid=*")) == r"(cn=\2a\29\28uid=\2a)"
    assert ldap.escape_filter("a*b") == r"a\2ab" and ldap.escape_filter(b"\xff\x00") == r"\ff\00"
    for attribute in ("", "cn=a)(b", "cn:", "c n", "(cn"):
        with pytest.raises(ValueError, match="not an attribute description"):
            ldap.Filter.equal(attribute, "x")
    for text in ("", "(", "(cn=a", "cn=a)", "(cn=a)(cn=b)", "(" * 100_000, "(!" * 100_000):
        with pytest.raises(ldap.Error):
            ldap.Filter(text)


def test_filters_do_not_grow_without_end() -> None:
    filter = one = ldap.Filter("(cn=a)")
    with pytest.raises(ldap.LimitError):
        for _ in range(1000):
            filter = (filter & one) | one
    # Those beside one another are no deeper.
    for _ in range(1000):
        one = one | ldap.Filter("(cn=b)")
    assert len(str(one)) == 3 + 1001 * 6


def test_filters_match() -> None:
    records = list(ldif.read(PEOPLE))
    selected = [
        record.dn for record in records if ldap.Filter("(&(objectClass=inetOrgPerson)(mail=*))").matches(record)
    ]
    assert selected == ["uid=ada,o=test"]
    with ldap.Directory(PEOPLE) as directory, ldap.connect(directory.url) as connection:
        filter = ldap.Filter.equal("cn", "ada  LOVELACE")
        assert [filter.matches(entry) for entry in connection.search("o=test")] == [False, True, False]
        assert [entry.dn for entry in connection.search("o=test", filter)] == ["uid=ada,o=test"]
    [change] = ldif.read("dn: o=test\nchangetype: delete\n")
    with pytest.raises(TypeError, match="no change"):
        filter.matches(change)


def test_names() -> None:
    name = ldap.Dn("UID=Ada + cn=a\\,b , O=Test")
    assert name == ldap.Dn("cn=A\\2cb+uid=ada,o=test") and hash(name) == hash(ldap.Dn(name.normalized()))
    assert name.rdns == [[("UID", b"Ada"), ("cn", b"a,b")], [("O", b"Test")]]
    assert len(name) == 2 and name.parent == ldap.Dn("o=test") and name.parent.parent == ldap.Dn()
    assert ldap.Dn().parent is None and ldap.Dn()
    assert name.is_within("o=test") and name.is_within(name) and not name.is_within(ldap.Dn("o=other"))
    assert str(ldap.Dn("o=test").child("cn", "x, y+z")) == "cn=x\\, y\\+z,o=test"
    assert name != "o=test" and repr(ldap.Dn("o=a")) == "Dn('o=a')"
    with pytest.raises(ldap.ParseError, match="DN") as caught:
        ldap.Dn("o=test,")
    assert caught.value.offset == 7
    with ldap.Directory(PEOPLE) as directory, ldap.connect(directory.url) as connection:
        assert connection.compare(ldap.Dn("o=test").child("uid", "ada"), "sn", "lovelace")
        with pytest.raises(TypeError, match="`Dn`"):
            connection.delete(7)  # type: ignore[arg-type]


def test_urls() -> None:
    url = ldap.Url("ldaps://[::1]:1636/o=a%20b?cn,sn?sub?(uid=x)?!ext=1")
    assert (url.scheme, url.host, url.port, url.dn) == ("ldaps", "::1", 1636, "o=a b")
    assert (url.attributes, url.scope, url.filter, url.extensions) == (["cn", "sn"], "sub", "(uid=x)", ["!ext=1"])
    made = ldap.Url.of(host="example.net", dn=ldap.Dn("o=a?b"), scope="one", filter=ldap.Filter("(cn=a)"))
    assert str(made) == "ldap://example.net/o=a%3Fb??one?(cn=a)" and made == ldap.Url(str(made))
    assert {made: 1}[ldap.Url(str(made))] == 1 and made != url
    for text in ("", "http://x", "ldap://x:port", "ldap://x/%zz"):
        with pytest.raises(ldap.ParseError):
            ldap.Url(text)
    with pytest.raises(ldap.ParseError):
        ldap.Url.of(host="a:b:c/")
    with ldap.Directory(PEOPLE) as directory, ldap.connect(ldap.Url(directory.url)) as connection:
        assert connection.compare("o=test", "o", "test")


def test_ldif_in_all_its_forms(tmp_path: Path) -> None:
    path = tmp_path / "people.ldif"
    path.write_text(people(100))
    expected = list(ldif.read(people(100)))
    assert len(expected) == 103 and expected[1].attributes["jpegPhoto"] == [b"\xff\xd8\xff\xe0"]
    with path.open("rb") as file, io.FileIO(path) as raw:
        assert list(ldif.read(path)) == list(ldif.read(file)) == list(ldif.read(raw)) == expected
    assert list(ldif.read(path.read_bytes())) == expected
    whole = io.BytesIO()
    assert ldif.write(whole, expected) == 103
    assert ldif.write(tmp_path / "again.ldif", expected) == 103
    assert (tmp_path / "again.ldif").read_bytes() == whole.getvalue()
    assert list(ldif.read(whole.getvalue())) == expected
    long = ldap.Record("cn=a", {"description": [b"x" * 200]})
    assert len(ldif.text(long).splitlines()) == 5 and len(ldif.text(long, wrap=None).splitlines()) == 3


def test_ldif_that_is_none(tmp_path: Path) -> None:
    for text, message in (
        ("cn: a\n", "line 1: `dn:` expected"),
        ("dn: cn=a\nchangetype: explode\n", "line 2"),
        ("dn: cn=a\njpegPhoto:: %%\n", "base64"),
        ("dn: cn=a\nphoto:< file:///etc/hostname\n", "line 2"),
    ):
        reading = ldif.read(text)
        with pytest.raises(ldap.ParseError, match=message):
            list(reading)
        assert list(reading) == []
    with pytest.raises(FileNotFoundError, match="absent"):
        ldif.read(tmp_path / "absent")
    with pytest.raises(OSError, match="bytes-like"):
        list(ldif.read(io.StringIO("dn: cn=a\n")))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="record of LDIF"):
        ldif.text("dn: cn=a")  # type: ignore[arg-type]


CHANGES = """\
dn: uid=eve,o=test
changetype: add
objectClass: device
uid: eve
serialNumber: 1

dn: uid=eve,o=test
changetype: modify
increment: serialNumber
serialNumber: 4
-
add: l
l: here
-

dn: uid=eve,o=test
changetype: modrdn
newrdn: uid=mallory
deleteoldrdn: 1

dn: uid=bob,o=test
control: 1.3.6.1.1.12 true:: owQEAm91BAE=
changetype: delete
"""


def test_changes() -> None:
    changes = list(ldif.read(CHANGES.replace("owQEAm91BAE=", "owcEAnNuBAF4")))
    assert [change.change for change in changes] == ["add", "modify", "rename", "delete"]
    assert changes[1].modifications[0] == ldap.Modification("increment", "serialNumber", [b"4"])
    assert changes[2].new_rdn == "uid=mallory" and changes[2].superior is None
    assert changes[3].controls == [ldap.Control("1.3.6.1.1.12", True, b"\xa3\x07\x04\x02sn\x04\x01x")]
    assert list(ldif.read(b"".join(map(ldif.text, changes)))) == changes
    with ldap.Directory(PEOPLE) as directory, ldap.connect(directory.url) as connection:
        for change in changes[:3]:
            connection.apply(change)
        with pytest.raises(ldap.AssertionFailed):
            connection.apply(changes[3])
        [entry] = connection.search("uid=mallory,o=test")
        assert entry["serialNumber"] == [b"5"] and entry["uid"] == [b"mallory"]
        connection.delete(entry.dn)
        connection.apply(entry)
        assert connection.compare(entry.dn, "l", "here")


def test_differences() -> None:
    later = PEOPLE.replace("sn: Lovelace", "sn: King").replace("uid=bob", "uid=rob").replace("uid: bob", "uid: rob")
    changes = ldif.difference(ldif.read(PEOPLE), ldif.read(later))
    assert [(change.dn, change.change) for change in changes] == [
        ("uid=rob,o=test", "add"),
        ("uid=ada,o=test", "modify"),
        ("uid=bob,o=test", "delete"),
    ]
    # Passwords are shown to the root user alone.
    root = ("o=test", "secret")
    with ldap.Directory(PEOPLE, root=root) as directory, ldap.connect(directory.url) as connection:
        connection.bind(*root)
        for change in changes:
            connection.apply(change)
        assert ldif.difference(connection.search("o=test"), ldif.read(later)) == []


def test_searches_as_ldif(tmp_path: Path) -> None:
    with ldap.Directory(people(2000)) as directory, ldap.connect(directory.url) as connection:
        expected = b"".join(entry.ldif() for entry in connection.search("o=test"))
        path, whole = tmp_path / "found.ldif", io.BytesIO()
        assert connection.search_ldif(path, "o=test") == 2003
        assert connection.search_ldif(whole, "o=test", page_size=500) == 2003
        assert path.read_bytes() == whole.getvalue() == expected
        with open(path, "wb", buffering=0) as raw:
            assert connection.search_ldif(raw, "o=test", wrap=None) == 2003
        assert path.read_bytes() == b"".join(entry.ldif(wrap=None) for entry in connection.search("o=test"))
        # What came before the limit is in a file; at a path is what was there.
        few = io.BytesIO()
        for target in (few, path):
            with pytest.raises(ldap.SizeLimitExceeded):
                connection.search_ldif(target, "o=test", size_limit=7)
        assert len(list(ldif.read(few.getvalue()))) == 7
        assert len(list(ldif.read(path))) == 2003
        assert list(tmp_path.iterdir()) == [path]
        with pytest.raises(ValueError, match="closed"):
            whole.close()
            connection.search_ldif(whole, "o=test")
        assert connection.compare("o=test", "o", "test")


def test_controls() -> None:
    with ldap.Directory(people(30)) as directory, ldap.connect(directory.url) as connection:
        by_name = controls.sort("-sn", critical=True)
        found = connection.search("o=test", "(uid=p*)", controls=[by_name])
        names = [entry.text("sn") or "" for entry in found]
        assert names == sorted(names, reverse=True) and len(names) == 30
        assert found.result is not None
        assert controls.find(found.result.controls, controls.SortResult) == controls.SortResult(0, None)
        assert controls.find(found.result.controls, controls.PagedResults) is None
        page = connection.search("o=test", "(uid=p*)", controls=[controls.paged_results(7)])
        assert len(list(page)) == 7 and page.result is not None
        told = controls.find(page.result.controls, controls.PagedResults)
        assert told is not None and told.cookie
        [entry] = connection.search("uid=ada,o=test", controls=[controls.matched_values("(mail=c*)")])
        assert entry["mail"] == [b"countess@example.net"]
        changed = connection.modify(
            "uid=ada,o=test",
            [("replace", "sn", "King")],
            controls=[controls.assertion("(sn=Lovelace)"), controls.pre_read("sn"), controls.post_read("sn")],
        )
        before = controls.find(changed.controls, controls.PreRead)
        after = controls.find(changed.controls, controls.PostRead)
        assert before is not None and after is not None
        assert (before.attributes, after.attributes) == ({"sn": [b"Lovelace"]}, {"sn": [b"King"]})
        with pytest.raises(ldap.AssertionFailed):
            connection.delete("uid=ada,o=test", controls=[controls.assertion(ldap.Filter.equal("sn", "Lovelace"))])
        with pytest.raises(ldap.ResultError, match="16654"):
            connection.delete("uid=ada,o=test", controls=[controls.no_op()])
        assert len(directory) == 33
        connection.delete("o=test", controls=[controls.tree_delete()])
        assert len(directory) == 0
        with pytest.raises(ldap.ResultError) as caught:
            connection.add("o=x", {"o": "x"}, controls=[ldap.Control("1.2.3", True)])
        assert caught.value.code == ldap.ResultCode.UNAVAILABLE_CRITICAL_EXTENSION


def test_values_of_controls() -> None:
    made = [
        controls.manage_dsa_it(),
        controls.relax(),
        controls.domain_scope(),
        controls.dont_use_copy(),
        controls.password_policy(),
        controls.authorization_identity(),
        controls.subentries(),
        controls.proxied_authorization("dn:o=test"),
        controls.persistent_search(),
        controls.transaction(b"7"),
        controls.sync(persist=True, cookie=b"c"),
        controls.virtual_list_view(0, 9, offset=1),
        controls.virtual_list_view(0, 9, value="m", context=b"c"),
    ]
    assert len({control.oid for control in made}) == 12 and all(isinstance(it, ldap.Control) for it in made)
    assert controls.read(controls.dir_sync(b"c", max_bytes=9)) == controls.DirSync(0, 9, b"c")
    policy = ldap.Control("1.3.6.1.4.1.42.2.27.8.5.1", value=bytes.fromhex("3008a003810105810102"))
    assert controls.read(policy) == controls.PasswordPolicy(None, 5, 2, "Password must be changed")
    info = ldap.Intermediate("1.3.6.1.4.1.4203.1.9.1.4", bytes.fromhex("a103010100"), [])
    assert controls.sync_info(info) == controls.SyncInfo("refresh-delete", None, False, [])
    assert controls.sync_info(info._replace(name="1.2.3")) is None
    assert controls.read(ldap.Control("1.2.3")) is None
    with pytest.raises(ldap.ProtocolError):
        controls.read(ldap.Control(policy.oid, value=b"\x30\x80"))
    with pytest.raises(ValueError, match="offset or a value"):
        controls.virtual_list_view(0, 9)
