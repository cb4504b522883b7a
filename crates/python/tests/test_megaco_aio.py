"""`tercet.megaco.aio`: gateways and controllers with asyncio."""

import asyncio
import socket

import pytest

import tercet
from tercet import megaco
from tercet.megaco import aio

REGISTRATION = 'C=-{SC=ROOT{SV{MT=RS,RE="901 Cold Boot",V=3}}}'


async def accept_all(endpoint: aio.Endpoint) -> list[str]:
    """Accepts requests until the endpoint is closed; their texts."""
    texts = []
    async for request in endpoint:
        texts.append(request.text)
        request.accept()
    return texts


@pytest.mark.parametrize("scheme", ["udp", "tcp"])
@pytest.mark.parametrize("encoding", ["compact", "pretty", "ber", "per", "etf"])
def test_a_call(scheme: str, encoding: str) -> None:
    async def run() -> list[str]:
        async with (
            await aio.open("<mgc>", f"{scheme}://127.0.0.1:0") as controller,
            await aio.open("<mg>", encoding=encoding) as gateway,
        ):
            accepting = asyncio.create_task(accept_all(gateway))
            up = await gateway.connect(controller.urls[0])
            assert up.mid == "preliminary"
            registering = asyncio.create_task(up.request(REGISTRATION))
            request = await anext(controller)
            assert request.registers and request.actions[0]["contextId"] == 0
            request.accept()
            assert (await registering).text == "C=-{SC=root{SV{V=3}}}"
            assert (up.mid, up.version, request.connection.mid, request.connection.version) == ("<mgc>", 3, "<mg>", 3)
            added = await request.connection.request("C=${A=line1,A=$}")
            assert added.text == "C=1{A=line1,A=rtp1}"
            assert [next(iter(reply)) for reply in added.actions[0]["commandReply"]] == ["addReply", "addReply"]
            await request.connection.request("C=1{S=*}")
            assert controller.counters["results_ok"] == 2
        return await accepting

    assert asyncio.run(run()) == ["C=${A=line1,A=$}", "C=1{S=*}"]


def test_answers_and_errors() -> None:
    async def run() -> None:
        async with await aio.open("<mgc>", "udp://127.0.0.1:0") as controller, await aio.open("<mg>") as gateway:
            up = await gateway.connect(controller.urls[0])
            asking = asyncio.create_task(up.request("C=-{N=line1{OE=1{al/of}}}"))
            request = await anext(controller)
            with pytest.raises(megaco.DecodeError) as fault:
                request.reply("C=-{N=line1")
            assert fault.value.offset == 11
            request.refuse(503, "Out of service")
            with pytest.raises(aio.RequestFailed) as failed:
                await asking
            assert (failed.value.error, failed.value.code, failed.value.text) == (
                "error_descriptor",
                503,
                "Out of service",
            )
            with pytest.raises(tercet.ArgumentError, match="answered"):
                request.accept()
            asking = asyncio.create_task(up.request("C=-{N=line1{OE=1{al/on}}}"))
            (await anext(controller)).reply("C=-{N=line1}")
            assert (await asking).text == "C=-{N=line1}"
            waiting = asyncio.create_task(up.request("C=1{S=a}"))
            await anext(controller)
            up.cancel()
            with pytest.raises(aio.RequestFailed, match="cancelled"):
                await waiting
            with pytest.raises(megaco.DecodeError, match="actions of one request"):
                await up.request("C=1{S=a}} T=2{C=1{S=b}")

    asyncio.run(run())


def test_a_request_without_a_reply() -> None:
    async def run() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            async with await aio.open("<mg>", request_timer="20ms*1+0x2") as gateway:
                up = await gateway.connect(f"udp://127.0.0.1:{silent.getsockname()[1]}")
                with pytest.raises(aio.RequestFailed, match="timeout"):
                    await up.request("C=1{S=a}")
                assert gateway.counters["timer_recovery"] == 2

    asyncio.run(run())


def test_a_repeated_request_is_answered_once() -> None:
    async def run() -> None:
        async with await aio.open("<mgc>", "udp://127.0.0.1:0") as controller:
            accepting = asyncio.create_task(accept_all(controller))
            port = int(controller.urls[0].rsplit(":", 1)[1])
            loop = asyncio.get_running_loop()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
                peer.setblocking(False)
                peer.bind(("127.0.0.1", 0))
                for _ in range(3):
                    await loop.sock_sendto(peer, b"!/1 <mg> T=7{C=1{S=a}}", ("127.0.0.1", port))
                    assert await loop.sock_recv(peer, 100) == b"!/1 <mgc>\nP=7{C=1{S=a}}"
        assert await accepting == ["C=1{S=a}"]

    asyncio.run(run())


def test_a_stream_with_a_bad_header_is_closed() -> None:
    async def run() -> None:
        async with await aio.open("<mgc>", "tcp://127.0.0.1:0") as controller:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(controller.urls[0].rsplit(":", 1)[1]))
            writer.write(b"\x03\x00\x00\x02")
            assert await reader.read() == b""
            writer.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("urls", "items", "text"),
    [
        (["http://localhost"], {}, "expected udp://HOST:PORT"),
        ([], {"reqest_timer": "1s"}, "request_timer"),
        ([], {"request_timer": "soon"}, "bad value `soon`"),
    ],
)
def test_bad_options(urls: list[str], items: dict[str, str], text: str) -> None:
    with pytest.raises(tercet.ArgumentError, match=text):
        asyncio.run(aio.open("<mgc>", *urls, **items))
