"""The client of LDAP against the directory in memory."""

import asyncio
import gc
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping

import pytest

import tercet
from tercet import ldap
from tercet.ldap import aio

PEOPLE = """\
dn: o=test
objectClass: organization
o: test

dn: uid=ada,o=test
objectClass: inetOrgPerson
uid: ada
cn: Ada Lovelace
sn: Lovelace
mail: ada@example.net
mail: countess@example.net
uidNumber: 41
userPassword: engine
jpegPhoto:: /9j/4A==

dn: uid=bob,o=test
objectClass: inetOrgPerson
uid: bob
cn: Bob Løv
sn: Løv
"""


def people(count: int) -> str:
    entry = "dn: uid=p{0:05},o=test\nobjectClass: inetOrgPerson\nuid: p{0:05}\ncn: Person {0}\nsn: {1:04}\n"
    return PEOPLE + "\n" + "\n".join(entry.format(number, number * 7919 % 10_000) for number in range(count))


@pytest.fixture
def directory() -> Iterator[ldap.Directory]:
    with ldap.Directory(people(2000), root=("o=test", "secret")) as directory:
        yield directory


@pytest.fixture
def connection(directory: ldap.Directory) -> Iterator[ldap.Connection]:
    with ldap.connect(directory.url) as connection:
        connection.bind("o=test", "secret")
        yield connection


def test_entries_are_mappings(connection: ldap.Connection) -> None:
    [entry] = connection.search("o=test", "(uid=ada)", attributes=["cn", "mail", "jpegPhoto"])
    assert entry.dn == "uid=ada,o=test"
    assert entry["mail"] == entry["MAIL"] == [b"ada@example.net", b"countess@example.net"]
    assert entry.text("cn") == "Ada Lovelace"
    assert entry.text("sn") is None
    assert entry.texts("mail") == ["ada@example.net", "countess@example.net"]
    assert entry.texts("sn") == []
    assert entry.get("sn") is None
    assert entry.get("sn", [b"none"]) == [b"none"]
    assert "cn" in entry and "sn" not in entry
    keys: list[object] = [7, b"cn", None]
    assert not any(key in entry for key in keys)
    assert isinstance(entry, Mapping)
    assert sorted(entry) == sorted(entry.keys()) == ["cn", "jpegPhoto", "mail"]
    assert len(entry) == 3
    assert dict(entry) == dict(entry.items()) == entry.to_dict()
    assert sorted(map(len, entry.values())) == [1, 1, 2]
    with pytest.raises(KeyError, match="sn"):
        entry["sn"]
    with pytest.raises(UnicodeDecodeError):
        entry.text("jpegPhoto")
    assert "Ada Lovelace" in repr(entry)
    assert entry.ldif().decode().startswith("dn: uid=ada,o=test\n")
    assert entry.controls == []


def test_entries_outlive_their_connection(directory: ldap.Directory) -> None:
    connection = ldap.connect(directory.url)
    kept = list(connection.search("o=test", "(uid=p*)"))
    few = [entry.compact() for entry in kept[:3]]
    connection.close()
    directory.close()
    del connection
    gc.collect()
    assert [entry.text("uid") for entry in kept] == [f"p{number:05}" for number in range(2000)]
    del kept
    assert [entry.dn for entry in few] == [f"uid=p{number:05},o=test" for number in range(3)]


def test_a_search_in_all_its_forms(connection: ldap.Connection) -> None:
    def names(*arguments: str, **options: object) -> list[str | None]:
        return [entry.text("uid") for entry in connection.search("o=test", *arguments, **options)]  # type: ignore[call-overload]

    assert len(names()) == 2003
    assert len(names(scope="children")) == 2002
    assert names(scope="base") == [None]
    assert names("(uid=p0000*)", page_size=3) == [f"p0000{digit}" for digit in range(10)]
    assert names("(cn=*løv)", timeout=5.0, deref="never", time_limit=3, size_limit=2) == ["bob"]
    [entry] = connection.search("o=test", "(uid=ada)", types_only=True)
    assert entry["mail"] == []
    found = connection.search("o=test", "(uid=bob)", attributes="sn")
    assert found.result is None
    assert [dict(entry) for entry in found] == [{"sn": ["Løv".encode()]}]
    assert found.result is not None and found.result.code == ldap.ResultCode.SUCCESS
    assert list(found) == [] and found.references == []


def test_the_server_says_no(connection: ldap.Connection) -> None:
    with pytest.raises(ldap.NoSuchObject, match=r"No such object \(32\)") as caught:
        list(connection.search("uid=nobody,o=test"))
    error = caught.value
    assert (error.code, error.matched_dn, error.referrals) == (ldap.ResultCode.NO_SUCH_OBJECT, "o=test", [])
    assert isinstance(error, (ldap.ResultError, ldap.Error, tercet.Error, ValueError))
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.result) == (type(error), str(error), error.result)
    found = connection.search("o=test", size_limit=5)
    come = []
    with pytest.raises(ldap.SizeLimitExceeded):
        for entry in found:
            come.append(entry.dn)
    assert len(come) == 5
    assert list(found) == []
    with pytest.raises(ldap.InvalidCredentials):
        connection.bind("uid=ada,o=test", "difference")


def test_keep_alive(directory: ldap.Directory) -> None:
    for seconds in (30, 0.5, None):
        with ldap.connect(directory.url, keep_alive=seconds) as connection:
            assert connection.who_am_i() == ""
    with pytest.raises(ValueError, match="seconds"):
        ldap.connect(directory.url, keep_alive=-1)


def test_calls_that_make_no_sense(connection: ldap.Connection) -> None:
    with pytest.raises(ldap.ParseError, match="filter") as caught:
        connection.search("o=test", "(uid=ada")
    assert caught.value.offset == 8
    with pytest.raises(ldap.UsageError, match="anonymous"):
        connection.bind("uid=ada,o=test")
    with pytest.raises(ldap.UsageError, match="no server"):
        ldap.connect()
    with pytest.raises(ldap.ParseError, match="URL"):
        ldap.connect("http://example.net")
    with pytest.raises(TypeError, match="no option `far`"):
        connection.search("o=test", far=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="no option `slow`"):
        ldap.connect("ldap://localhost", slow=True)  # type: ignore[call-arg]
    with pytest.raises(ldap.ParseError, match="scope"):
        connection.search("o=test", scope="wide")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="seconds"):
        connection.search("o=test", timeout=-1.0)
    with pytest.raises(ValueError, match="seconds"):
        connection.search("o=test", timeout=float("nan"))
    assert len(list(connection.search("o=test", "(uid=ada)", timeout=float("inf")))) == 1
    with pytest.raises(ValueError, match="page_size"):
        connection.search("o=test", page_size=0)


def test_operations(connection: ldap.Connection) -> None:
    assert connection.who_am_i() == "dn:o=test"
    connection.add("cn=new,o=test", {"objectClass": "device", "cn": ["new"], "serialNumber": 7, "x": [True, b"\xff"]})
    [entry] = connection.search("cn=new,o=test")
    assert entry["serialNumber"] == [b"7"] and entry["x"] == [b"TRUE", b"\xff"]
    assert connection.compare("cn=new,o=test", "serialNumber", 7)
    assert not connection.compare("cn=new,o=test", "serialNumber", "8")
    connection.modify(
        "cn=new,o=test",
        [("increment", "serialNumber", 5), ("add", "l", ["here", "there"]), ("delete", "x"), ("replace", "cn", "new")],
    )
    [entry] = connection.search("cn=new,o=test")
    assert entry["serialNumber"] == [b"12"] and entry["l"] == [b"here", b"there"] and "x" not in entry
    connection.rename("cn=new,o=test", "cn=newer", superior="uid=bob,o=test")
    with pytest.raises(ldap.AlreadyExists):
        connection.add("cn=newer,uid=bob,o=test", {"cn": "newer"})
    connection.delete("cn=newer,uid=bob,o=test")
    with pytest.raises(ldap.NoSuchObject):
        connection.delete("cn=newer,uid=bob,o=test")
    connection.modify_password("uid=bob,o=test", new="hers")
    made_up = connection.modify_password("uid=ada,o=test")
    assert made_up
    connection.bind("uid=ada,o=test", made_up.decode())
    assert connection.who_am_i() == "dn:uid=ada,o=test"
    with pytest.raises(ldap.InsufficientAccess):
        connection.delete("uid=bob,o=test")
    connection.bind_sasl("PLAIN", "bob", "hers")
    with pytest.raises(ldap.UsageError, match="GSSAPI: this package was built without it"):
        connection.bind_sasl("GSSAPI")
    with pytest.raises(ldap.UsageError, match="NTLM: this package was built without it"):
        connection.bind_sasl("NTLM", "EXAMPLE\\bob", "hers")
    assert connection.who_am_i() == "dn:uid=bob,o=test"
    answer = connection.extended("1.3.6.1.4.1.4203.1.11.3")
    assert (answer.result.code, answer.value) == (0, b"dn:uid=bob,o=test")
    assert connection.extended("1.2.3.4", b"x").result.code == ldap.ResultCode.PROTOCOL_ERROR
    connection.bind()
    assert connection.who_am_i() == ""
    with pytest.raises(ValueError, match="`add`, `delete`"):
        connection.modify("o=test", [("change", "l", "x")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="modification"):
        connection.modify("o=test", ["l"])  # type: ignore[list-item]


def test_searches_that_are_given_up(connection: ldap.Connection) -> None:
    found = connection.search("o=test")
    next(found)
    assert connection.who_am_i() == "dn:o=test"
    found.close()
    assert list(found) == []
    for entry in connection.search("o=test"):
        assert entry.dn
        break
    # Two searches and a compare take turns on one connection.
    one, other = connection.search("o=test", "(uid=p*)"), connection.search("o=test", "(uid=p*)")
    for first, second in zip(one, other, strict=True):
        assert first.dn == second.dn


def test_closed(directory: ldap.Directory) -> None:
    with ldap.connect(directory.url) as connection:
        assert not connection.closed
        found = connection.search("o=test")
        next(found)
    assert connection.closed
    with pytest.raises(ldap.ClosedError) as caught:
        connection.who_am_i()
    assert isinstance(caught.value, ConnectionError)
    with pytest.raises(ldap.ClosedError):
        connection.search("o=test")
    with ldap.connect(directory.url) as connection:
        directory.close()
        with pytest.raises(ldap.NetworkError):
            connection.who_am_i()


class Silent:
    """A server that takes connections and says nothing."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"ldap://127.0.0.1:{self.socket.getsockname()[1]}"

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def test_every_wait_ends() -> None:
    with Silent() as server:
        with ldap.connect(server.url, timeout=0.05) as connection:
            for call in (connection.who_am_i, lambda: list(connection.search("o=test"))):
                with pytest.raises(ldap.Timeout) as caught:
                    call()
                assert isinstance(caught.value, TimeoutError)
            with pytest.raises(ldap.Timeout):
                list(connection.with_timeout(None).search("o=test", timeout=0.05))
        with pytest.raises(ldap.Timeout):
            ldap.connect(server.url, start_tls=True, connect_timeout=0.05)


@pytest.mark.skipif(os.name != "posix", reason="platform: no signals of POSIX")
def test_an_interrupt_ends_a_wait(request: pytest.FixtureRequest) -> None:
    def interrupt() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    # Who runs the tests in the background may have made Python ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with Silent() as server, ldap.connect(server.url) as connection:
        for call in (connection.who_am_i, lambda: list(connection.search("o=test"))):
            thread = threading.Thread(target=interrupt)
            begin = time.monotonic()
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                call()
            thread.join()
            # The time limit of the connection is a minute.
            assert time.monotonic() - begin < 30
            assert not connection.closed


def test_threads_share_a_connection(connection: ldap.Connection) -> None:
    counts: list[int] = []

    def work() -> None:
        for _ in range(5):
            counts.append(sum(1 for _ in connection.search("o=test", "(uid=p*)")))
            assert connection.compare("o=test", "o", "test")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert counts == [2000] * 20


def test_the_first_server_that_can_be_reached(directory: ldap.Directory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        refused = f"ldap://127.0.0.1:{gone.getsockname()[1]}"
    with ldap.connect(refused, directory.url) as connection:
        assert connection.compare("o=test", "o", "test")
    with pytest.raises(ldap.NetworkError, match="127.0.0.1"):
        ldap.connect(refused)


@pytest.mark.skipif(os.name != "posix", reason="platform: no sockets of Unix")
def test_datagrams() -> None:
    ldif = "dn: o=test\nobjectClass: organization\no: test\n"
    with ldap.Directory(ldif, cldap=True) as directory:
        assert directory.url.startswith("cldap://")
        [entry] = ldap.search_cldap(directory.url, "o=test", attributes=["o"])
        assert (entry.dn, dict(entry)) == ("o=test", {"o": [b"test"]})
        assert ldap.search_cldap(ldap.Url(directory.url), "o=test", "(o=other)") == []
        with pytest.raises(ldap.NoSuchObject):
            ldap.search_cldap(directory.url, "o=other")

        async def awaited() -> list[ldap.Entry]:
            return await aio.search_cldap(directory.url, "o=test", scope="sub")

        assert [entry.dn for entry in asyncio.run(awaited())] == ["o=test"]
        with pytest.raises(ldap.UsageError, match="no connection"):
            ldap.connect(directory.url)
    with pytest.raises(ldap.UsageError, match="`cldap` expected"):
        ldap.search_cldap("ldap://localhost")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(ldap.Timeout, match="to 3 datagrams"):
            ldap.search_cldap(f"cldap://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)


def test_a_local_socket(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "socket")
    with ldap.Directory(PEOPLE, socket=path) as directory, ldap.connect(directory.url) as connection:
        connection.bind_sasl("EXTERNAL")
        assert connection.who_am_i().endswith("cn=peercred,cn=external,cn=auth")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="platform: no fork")
def test_a_child_makes_connections_of_its_own(directory: ldap.Directory) -> None:
    with ldap.connect(directory.url) as connection:
        assert connection.compare("o=test", "o", "test")
        child = os.fork()
        if child == 0:
            try:
                with ldap.connect(directory.url) as mine:
                    fine = mine.compare("o=test", "o", "test")
                with ldap.Directory(PEOPLE) as own, ldap.connect(own.url) as mine:
                    fine = fine and len(list(mine.search("o=test"))) == 3
            finally:
                os._exit(0 if fine else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert connection.compare("o=test", "o", "test")
