"""LDAP with asyncio, against the directory in memory."""

import asyncio
import gc
import io
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from test_ldap import PEOPLE, Silent, people

from tercet import ldap
from tercet.ldap import aio, controls


def run(work: Callable[[aio.Connection], Awaitable[None]]) -> None:
    async def main() -> None:
        with ldap.Directory(people(2000), root=("o=test", "secret")) as directory:
            async with aio.connect(directory.url) as connection:
                await connection.bind("o=test", "secret")
                await work(connection)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_searches_stream() -> None:
    async def work(connection: aio.Connection) -> None:
        found = connection.search("o=test", "(uid=p*)", attributes=["uid"])
        assert found.result is None
        names = [entry.text("uid") async for entry in found]
        assert names == [f"p{number:05}" for number in range(2000)]
        assert found.result is not None and found.result.code == 0
        with pytest.raises(StopAsyncIteration):
            await found.__anext__()
        names = [entry.dn async for entry in connection.search("o=test", "(uid=p*)", page_size=300)]
        assert len(names) == 2000
        given_up = connection.search("o=test")
        await given_up.__anext__()
        await given_up.aclose()
        assert [entry async for entry in given_up] == []
        async for entry in connection.search("o=test"):
            assert entry.dn
            break
        with pytest.raises(ldap.NoSuchObject):
            async for _ in connection.search("uid=nobody,o=test"):
                pass
        kept = [entry async for entry in connection.search("o=test")]
        connection.close()
        gc.collect()
        assert kept[1].text("cn") == "Ada Lovelace"

    run(work)


def test_operations() -> None:
    async def work(connection: aio.Connection) -> None:
        assert await connection.who_am_i() == "dn:o=test"
        await connection.add("cn=new,o=test", {"objectClass": "device", "cn": "new"})
        await connection.modify("cn=new,o=test", [("add", "l", "here")])
        assert await connection.compare("cn=new,o=test", "l", "HERE")
        await connection.rename("cn=new,o=test", "cn=newer")
        await connection.delete("cn=newer,o=test")
        with pytest.raises(ldap.NoSuchObject):
            await connection.delete("cn=newer,o=test")
        assert await connection.modify_password("uid=ada,o=test", new="new") is None
        await connection.bind("uid=ada,o=test", "new")
        await connection.bind_sasl("PLAIN", "ada", "new")
        assert (await connection.extended("1.3.6.1.4.1.4203.1.11.3")).value == b"dn:uid=ada,o=test"

    run(work)


def test_several_operations_at_once() -> None:
    async def work(connection: aio.Connection) -> None:
        async def count() -> int:
            return len([entry async for entry in connection.search("o=test", "(uid=p*)")])

        answers = await asyncio.gather(*(connection.compare("o=test", "o", "test") for _ in range(500)))
        assert answers == [True] * 500
        assert list(await asyncio.gather(count(), count(), count())) == [2000] * 3
        found = await asyncio.gather(
            connection.delete("uid=nobody,o=test"), connection.who_am_i(), return_exceptions=True
        )
        assert isinstance(found[0], ldap.NoSuchObject) and found[1] == "dn:o=test"

    run(work)


def test_to_cancel_abandons() -> None:
    received, ended = bytearray(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while octets := await reader.read(1000):
            received.extend(octets)
        writer.close()
        ended.set()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with aio.connect(f"ldap://127.0.0.1:{port}") as connection:
            waiting = asyncio.create_task(connection.compare("o=test", "o", "test"))
            while b"o=test" not in received:
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            unheard = asyncio.create_task(connection.delete("o=other"))
            unheard.cancel()
            with pytest.raises(asyncio.CancelledError):
                await unheard
            # AbandonRequest ::= [APPLICATION 16] MessageID (RFC 4511 4.11)
            while b"\x50\x01\x01" not in received:
                await asyncio.sleep(0.01)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(connection.search("o=test").__anext__(), 0.05)
            assert not connection.closed and b"o=other" not in received
        await ended.wait()
        # UnbindRequest ::= [APPLICATION 2] NULL (RFC 4511 4.3)
        assert received.endswith(b"\x42\x00")
        server.close()

    async def bounded() -> None:
        await asyncio.wait_for(main(), 60)

    asyncio.run(bounded())


def test_every_wait_ends() -> None:
    async def main() -> None:
        with Silent() as server:
            async with aio.connect(server.url, timeout=0.05) as connection:
                with pytest.raises(ldap.Timeout):
                    await connection.who_am_i()
                with pytest.raises(ldap.Timeout):
                    async for _ in connection.search("o=test"):
                        pass
            with pytest.raises(ldap.Timeout):
                await aio.connect(server.url, start_tls=True, connect_timeout=0.05)
        with pytest.raises(ldap.NetworkError):
            await aio.connect(server.url)
        with pytest.raises(ldap.ClosedError):
            await connection.who_am_i()

    asyncio.run(main())


def test_awaited_without_async_with() -> None:
    async def main() -> None:
        with ldap.Directory(PEOPLE) as directory:
            connection = await aio.connect(directory.url)
            assert await connection.compare("o=test", "o", "test")
            connection.close()
            assert connection.closed

    # One event loop after the other.
    asyncio.run(main())
    asyncio.run(main())


def test_ldif(tmp_path: Path) -> None:
    async def work(connection: aio.Connection) -> None:
        whole = io.BytesIO()
        assert await connection.search_ldif(whole, "o=test", "(uid=p*)") == 2000
        assert await connection.search_ldif(tmp_path / "people.ldif", "o=test", "(uid=p*)") == 2000
        assert (tmp_path / "people.ldif").read_bytes() == whole.getvalue()
        with pytest.raises(ldap.NoSuchObject):
            await connection.search_ldif(whole, "uid=nobody,o=test")

    run(work)


async def synchronizes(url: str) -> None:
    """A search that goes on tells of changes (RFC 4533)."""
    async with aio.connect(url) as connection, aio.connect(url) as other:
        await connection.bind("o=test", "secret")
        await other.bind("o=test", "secret")
        changes = connection.search(
            "o=test", "(uid=b*)", controls=[controls.sync(persist=True)], everything=True, timeout=None
        )
        told = []
        async for item in changes:
            if isinstance(item, ldap.Entry):
                state = controls.find(item.controls, controls.SyncState)
                assert state is not None and len(state.uuid) == 16
                told.append((item.dn, state.state))
                if len(told) == 2:
                    break
            elif isinstance(item, ldap.Intermediate):
                info = controls.sync_info(item)
                if info is not None and info.done:
                    await other.modify("uid=bob,o=test", [("replace", "sn", "Changed")])
        assert told == [("uid=bob,o=test", "add"), ("uid=bob,o=test", "modify")]
        await changes.aclose()
        assert await connection.who_am_i() == "dn:o=test"


def test_synchronization() -> None:
    with ldap.Directory(PEOPLE, root=("o=test", "secret")) as directory:
        asyncio.run(asyncio.wait_for(synchronizes(directory.url), 60))


def test_a_loop_that_ends_too_early() -> None:
    async def main() -> None:
        with Silent() as server:
            connection = await aio.connect(server.url)
            waiting = asyncio.create_task(connection.compare("o=test", "o", "test"))
            await asyncio.sleep(0.01)
            assert not waiting.done()

    asyncio.run(main())
    gc.collect()


def test_without_a_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        aio.connect("ldap://127.0.0.1").__await__().send(None)
