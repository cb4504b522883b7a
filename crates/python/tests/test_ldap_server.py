"""Servers in Python: what handlers get, and what clients get of their answers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tercet import ldap
from tercet.ldap import aio, controls, server


def user(name: str, **more: Any) -> ldap.Draft:
    return ldap.Draft(f"uid={name},o=users", {"objectClass": "account", "uid": name, **more})


class Users(ldap.Handler):
    """A list of users. Some methods are coroutines, others plain functions."""

    supported_controls = ("1.3.6.1.1.12",)
    root_dse = {"namingContexts": ["o=users"]}

    def __init__(self) -> None:
        self.users = {draft.dn: draft for draft in (user("ada", l="London"), user("bob"))}
        self.seen: list[object] = []

    async def bind(self, cx: ldap.Context, request: server.Bind) -> server.Answered:
        self.seen.append(request)
        if request.mechanism == "PLAIN":
            return ldap.Answer(identity="uid=plain,o=users")
        if request.password == b"engine":
            cx.state["since"] = cx.message_id
            return None
        return ldap.ResultCode.INVALID_CREDENTIALS if request.dn else None

    async def search(self, cx: ldap.Context, request: server.Search) -> AsyncIterator[ldap.Draft]:
        self.seen.append(request)
        if request.base == "o=none":
            raise ldap.Refused(ldap.ResultCode.NO_SUCH_OBJECT, "nothing there", matched_dn="o=users")
        if request.base == "o=bad":
            raise KeyError("a fault of the handler")
        for entry in self.users.values():
            if request.matches(entry):
                yield entry

    def add(self, cx: ldap.Context, request: server.Add) -> server.Answered:
        if not cx.identity:
            return ldap.ResultCode.INSUFFICIENT_ACCESS_RIGHTS
        self.users[request.dn] = request.entry
        return None

    def modify(self, cx: ldap.Context, request: server.Modify) -> server.Answered:
        self.users[request.dn].apply(request.modifications)
        return ldap.Answer(message=f"since {cx.state['since']}")

    def delete(self, cx: ldap.Context, request: server.Delete) -> server.Answered:
        del self.users[request.dn]
        return None

    def rename(self, cx: ldap.Context, request: server.Rename) -> server.Answered:
        self.seen.append(request)
        return None

    def compare(self, cx: ldap.Context, request: server.Compare) -> bool:
        return self.users[request.dn].has_value(request.attribute, request.value)

    async def extended(self, cx: ldap.Context, request: server.Extended) -> server.Answered:
        return ldap.Answer(name=request.name, value=(request.value or b"")[::-1])


@pytest.fixture
def users() -> Users:
    return Users()


@pytest.fixture
def served(users: Users) -> Iterator[ldap.Server]:
    with ldap.Server(users) as listening:
        yield listening


def test_each_operation_has_its_method(served: ldap.Server, users: Users) -> None:
    with ldap.connect(served.url) as connection:
        assert [entry.dn for entry in connection.search("o=users", "(l=*)")] == ["uid=ada,o=users"]
        with pytest.raises(ldap.InsufficientAccess):
            connection.add("uid=eve,o=users", {"uid": "eve"})
        with pytest.raises(ldap.InvalidCredentials):
            connection.bind("uid=ada,o=users", "wrong")
        connection.bind("uid=ada,o=users", "engine")
        assert connection.who_am_i() == "dn:uid=ada,o=users"
        connection.add("uid=eve,o=users", {"objectClass": "account", "uid": "eve"})
        done = connection.modify("uid=eve,o=users", [("add", "l", ["Rome", "Paris"]), ("delete", "l", "Rome")])
        assert done.message.startswith("since ")
        [eve] = connection.search("uid=eve,o=users", scope="base", attributes=["l"])
        assert (list(eve), eve["l"]) == (["l"], [b"Paris"])
        with pytest.raises(ldap.NoSuchAttribute):
            connection.modify("uid=eve,o=users", [("delete", "mail")])
        assert connection.compare("uid=eve,o=users", "l", "PARIS")
        assert not connection.compare("uid=eve,o=users", "l", "Rome")
        connection.rename("uid=eve,o=users", "uid=eva", superior="o=users", delete_old=False)
        assert users.seen[-1] == server.Rename("uid=eve,o=users", "uid=eva", False, "o=users")
        connection.delete("uid=eve,o=users")
        extended = connection.extended("1.2.3", b"abc")
        assert (extended.name, extended.value) == ("1.2.3", b"cba")
        [root] = connection.search("", scope="base")
        assert root["namingContexts"] == [b"o=users"] and root["supportedControl"] == [b"1.3.6.1.1.12"]
        assert len(users.users) == 2


def test_searches_are_passed_whole(served: ldap.Server, users: Users) -> None:
    with ldap.connect(served.url) as connection:
        found = connection.search(
            "o=users", "(|(uid=a*)(l=x))", scope="one", attributes=["uid"], size_limit=5, time_limit=9, types_only=True
        )
        assert [list(entry) for entry in found] == [["uid"]]
        request = users.seen[-1]
        expected = server.Search("o=users", "one", ldap.Filter("(|(uid=a*)(l=x))"), ["uid"], 5, 9, True)
        assert request == expected
        with pytest.raises(ldap.SizeLimitExceeded):
            list(connection.search("o=users", size_limit=1))
        assert not expected.is_in_scope("o=users") and expected.is_in_scope(ldap.Dn("uid=x,o=users"))


def test_errors_of_handlers(served: ldap.Server, caplog: pytest.LogCaptureFixture) -> None:
    with ldap.connect(served.url) as connection:
        with pytest.raises(ldap.NoSuchObject, match="nothing there") as caught:
            list(connection.search("o=none"))
        assert caught.value.matched_dn == "o=users"
        with pytest.raises(ldap.ResultError, match="internal error") as other:
            list(connection.search("o=bad"))
        assert other.value.code == 80 and "a fault of the handler" in caplog.text
        with pytest.raises(ldap.ResultError) as other:
            connection.compare("uid=none,o=users", "l", "x")
        assert other.value.code == 80
        with pytest.raises(ldap.ResultError) as unknown:
            list(connection.search("o=users", controls=[ldap.Control("1.2.3", True)]))
        assert unknown.value.code == 12
        # The connection goes on.
        assert len(list(connection.search("o=users", controls=[controls.authorization_identity()]))) == 2


def test_sasl_and_defaults(served: ldap.Server, users: Users) -> None:
    with ldap.connect(served.url) as connection:
        connection.bind_sasl("PLAIN", "ada", "engine")
        assert connection.who_am_i() == "dn:uid=plain,o=users"
        [bind] = [one for one in users.seen if isinstance(one, server.Bind)]
        assert (bind.mechanism, bind.credentials) == ("PLAIN", b"\0ada\0engine")
        assert "engine" not in repr(bind)
    with ldap.Server(ldap.Handler()) as nothing, ldap.connect(nothing.url) as connection:
        connection.bind()
        for refused in (
            lambda: list(connection.search("o=users")),
            lambda: connection.bind("uid=ada,o=users", "engine"),
            lambda: connection.delete("o=users"),
        ):
            with pytest.raises(ldap.ResultError) as caught:
                refused()
            assert caught.value.code == 53


class Many(ldap.Handler):
    """Sends users for ever."""

    def __init__(self) -> None:
        self.sent = 0
        self.ended = threading.Event()

    async def search(self, cx: ldap.Context, request: server.Search) -> AsyncIterator[ldap.Draft]:
        try:
            while True:
                self.sent += 1
                yield user(f"u{self.sent}", description="x" * 10_000)
        finally:
            self.ended.set()


def test_handlers_wait_for_clients_and_end_with_them() -> None:
    handler = Many()
    with ldap.Server(handler) as served:
        connection = ldap.connect(served.url)
        found = iter(connection.search("o=users"))
        for _ in range(3):
            next(found)
        # What waits is bounded: buffers of both sides and of the system.
        before = -1
        while before != handler.sent:
            before = handler.sent
            time.sleep(0.2)
        assert handler.sent < 20_000
        # The socket is closed with what uses it.
        connection.close()
        del found, connection
        assert handler.ended.wait(30)
        # A limit of size ends it too.
        handler.ended.clear()
        with ldap.connect(served.url) as connection, pytest.raises(ldap.SizeLimitExceeded):
            list(connection.search("o=users", size_limit=20))
        assert handler.ended.wait(30)


class Plain(ldap.Handler):
    """Searches without coroutines: a generator, or an iterable."""

    def search(self, cx: ldap.Context, request: server.Search) -> Any:
        if request.base == "o=list":
            return [ldap.Record("o=list", {"o": [b"list"]})]
        return (user(str(number)) for number in range(100))

    def compare(self, cx: ldap.Context, request: server.Compare) -> Any:
        return "yes"


def test_plain_generators_and_iterables() -> None:
    with ldap.Server(Plain()) as served, ldap.connect(served.url) as connection:
        assert len(list(connection.search("o=users"))) == 100
        assert [entry.dn for entry in connection.search("o=list")] == ["o=list"]
        with pytest.raises(ldap.ResultError, match="internal error"):
            connection.compare("o=list", "o", "list")


def test_on_the_loop_of_the_program() -> None:
    async def work() -> None:
        users = Users()
        with ldap.Server(users, loop=asyncio.get_running_loop()) as served:
            async with aio.connect(served.url) as connection:
                names = [entry.dn async for entry in connection.search("o=users")]
                assert names == ["uid=ada,o=users", "uid=bob,o=users"]
                many = await asyncio.gather(*(connection.compare("uid=ada,o=users", "l", "London") for _ in range(50)))
                assert all(many)

    asyncio.run(work())


def test_servers_are_closed() -> None:
    served = ldap.Server(ldap.Handler())
    assert repr(served) == f"Server({served.url})"
    assert served.close() and served.close()
    with pytest.raises(ldap.NetworkError):
        ldap.connect(served.url)
    with pytest.raises(ldap.UsageError, match="certificate"):
        ldap.Server(ldap.Handler(), certificate=b"x")
    with pytest.raises(OSError):
        ldap.Server(ldap.Handler(), listen="192.0.2.1:389")
