"""Gateways and controllers of Megaco/H.248 with asyncio, over UDP and TCP.

    async with await aio.open("<mgc>", "udp://127.0.0.1:2944") as controller:
        async for request in controller:
            request.accept()
            if request.registers:
                reply = await request.connection.request("C=-{AV=root{AT{PG}}}")

Requests are sent again, repeated requests are answered from memory, Pending and acknowledgements follow H.248.1: the
engine is that of ``tercet megaco mgc`` and ``mg``, with the same configuration items.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, cast
from urllib.parse import urlsplit

from tercet._errors import ArgumentError
from tercet.megaco._megaco import Engine

__all__ = ["Connection", "Endpoint", "Reply", "Request", "RequestFailed", "open"]

Way = tuple[str, int, str, int]


class RequestFailed(Exception):
    """A request ended without the action replies of its peer."""

    error: str
    """``error_descriptor`` if the reply is an error, otherwise ``timeout``, ``pending_limit``, ``segment_timeout``,
    ``segment_limit``, ``cancelled``, ``send_failed`` or ``wrong_mid``."""
    code: int | None
    """The code of the error (H.248.8)."""
    text: str | None
    """Its text."""

    def __init__(self, error: str, code: int | None = None, text: str | None = None) -> None:
        described = " ".join(str(part) for part in (error, code, text) if part is not None)
        super().__init__(described)
        self.error, self.code, self.text = error, code, text


def _transaction(message: str) -> dict[str, Any]:
    """Returns the one transaction of a message in JSON."""
    [transaction] = json.loads(message)["mess"]["messageBody"]["transactions"][0].values()
    return cast("dict[str, Any]", transaction)


@dataclass(frozen=True)
class Reply:
    """The reply to a request."""

    actions: list[dict[str, Any]]
    """The action replies in the form of ``tercet.megaco.decode``."""
    text: str
    """The action replies in compact text."""


@dataclass(frozen=True)
class Request:
    """A request of a peer. It is answered by ``reply``, ``accept`` or ``refuse``, at any time."""

    connection: Connection
    """The connection with the peer."""
    trans: int
    """The transaction id."""
    version: int
    """The version of its message."""
    registers: bool
    """True for a ServiceChange by which a gateway registers."""
    actions: list[dict[str, Any]]
    """The action requests in the form of ``tercet.megaco.decode``."""
    text: str
    """The action requests in compact text."""
    _number: int = field(repr=False)

    def reply(self, actions: str) -> None:
        """Answers by action replies in compact text such as ``C=1{A=rtp1}``.

        Raises DecodeError for text that is not the actions of one reply, ArgumentError if the request has its answer.
        """
        endpoint = self.connection._endpoint
        endpoint._engine.reply(endpoint._now(), self._number, actions)
        endpoint._run()

    def accept(self) -> None:
        """Answers by success of all its commands. What ``$`` leaves open is chosen: contexts 1, 2 and so on,
        terminations ``rtp1``, ``rtp2`` and so on. A registration gets the lower version of both sides."""
        endpoint = self.connection._endpoint
        endpoint._engine.accept(endpoint._now(), self._number)
        endpoint._run()

    def refuse(self, code: int, text: str | None = None) -> None:
        """Answers by an error of the transaction (H.248.8)."""
        endpoint = self.connection._endpoint
        endpoint._engine.refuse(endpoint._now(), self._number, code, text)
        endpoint._run()


class Connection:
    """A connection with a gateway or a controller."""

    def __init__(self, endpoint: Endpoint, number: int) -> None:
        self._endpoint = endpoint
        self._number = number

    def __repr__(self) -> str:
        return f"<Connection with {self.mid}>"

    @property
    def mid(self) -> str:
        """The message identifier of the peer; ``preliminary`` if it has not sent anything."""
        return self._endpoint._engine.mid(self._number)

    @property
    def version(self) -> int:
        """The version of messages. A registration negotiates it."""
        return self._endpoint._engine.version(self._number)

    async def request(self, actions: str) -> Reply:
        """Sends a request, actions in compact text such as ``C=${A=line1,A=$}``, and waits for its reply.

        Raises RequestFailed for an error of the peer and for a request without a reply, DecodeError for text that is
        not the actions of one request.
        """
        endpoint = self._endpoint
        trans = endpoint._engine.request(endpoint._now(), self._number, actions)
        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        endpoint._waiting[trans] = waiting
        endpoint._run()
        try:
            return await waiting
        finally:
            endpoint._waiting.pop(trans, None)

    def cancel(self) -> None:
        """Ends the requests that wait on this connection."""
        self._endpoint._engine.cancel(self._endpoint._now(), self._number)
        self._endpoint._run()

    def close(self) -> None:
        """Ends the connection."""
        self._endpoint._engine.disconnect(self._endpoint._now(), self._number)
        self._endpoint._run()


class Endpoint:
    """A gateway or a controller. It is an asynchronous iterator of the requests of its peers, and a context manager
    that closes it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._begin = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._links: dict[int, asyncio.DatagramTransport | asyncio.Transport] = {}
        self._servers: list[asyncio.Server] = []
        self._connections: dict[int, Connection] = {}
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._requests: asyncio.Queue[Request | None] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._next_link = 1
        self._is_closed = False
        self.urls: list[str] = []
        """Where it listens."""

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[Request]:
        return self

    async def __anext__(self) -> Request:
        request = await self._requests.get()
        if request is None:
            # Others may wait, too.
            self._requests.put_nowait(None)
            raise StopAsyncIteration
        return request

    @property
    def counters(self) -> dict[str, int]:
        """All counters by their names: ``requests_sent``, ``duplicates`` and so on."""
        return self._engine.counters()

    async def connect(self, url: str) -> Connection:
        """Connects to a peer at ``udp://HOST:PORT`` or ``tcp://HOST:PORT``."""
        transport, host, port = _parts(url)
        if transport == "udp":
            address = await self._address(host, port)
            local = "::" if ":" in address else "0.0.0.0"
            link, _ = await self._datagrams(local, 0)
            way = ("udp", link, address, port)
        else:
            _, stream = await self._loop.create_connection(lambda: _Stream(self), host, port)
            way = stream.way
        return self._connection(self._engine.connect(self._now(), way))

    def close(self) -> None:
        """Closes its sockets. Requests that wait end with ``cancelled``."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for server in self._servers:
            server.close()
        for link in list(self._links.values()):
            link.close()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(RequestFailed("cancelled"))
        self._requests.put_nowait(None)

    async def _listen(self, url: str) -> None:
        transport, host, port = _parts(url)
        if transport == "udp":
            _, socket = await self._datagrams(host, port)
        else:
            server = await self._loop.create_server(lambda: _Stream(self), host, port)
            self._servers.append(server)
            socket = server.sockets[0]
        host, port = socket.getsockname()[:2]
        self.urls.append(f"{transport}://[{host}]:{port}" if ":" in host else f"{transport}://{host}:{port}")

    async def _datagrams(self, host: str, port: int) -> tuple[int, Any]:
        transport, protocol = await self._loop.create_datagram_endpoint(
            lambda: _Datagrams(self), local_addr=(host, port)
        )
        return protocol.link, transport.get_extra_info("socket")

    async def _address(self, host: str, port: int) -> str:
        found = await self._loop.getaddrinfo(host, port)
        address: str = found[0][4][0]  # type: ignore[assignment]
        return address

    def _link(self, transport: asyncio.DatagramTransport | asyncio.Transport) -> int:
        link = self._next_link
        self._next_link += 1
        self._links[link] = transport
        return link

    def _now(self) -> float:
        return time.monotonic() - self._begin

    def _connection(self, number: int) -> Connection:
        return self._connections.setdefault(number, Connection(self, number))

    def _receive(self, way: Way, data: bytes) -> None:
        if not self._is_closed:
            self._engine.receive(self._now(), way, data)
            self._run()

    def _tick(self) -> None:
        self._engine.tick(self._now())
        self._run()

    def _run(self) -> None:
        """Sends and reports what the engine has, and waits for what it does next."""
        for event in self._engine.events():
            self._event(event)
        for (transport, number, host, port), data in self._engine.transmits():
            link = self._links.get(number)
            if link is None:
                # A stream that is closed: the engine sends again by the next one.
                continue
            if transport == "udp":
                cast("asyncio.DatagramTransport", link).sendto(data, (host, port))
            else:
                cast("asyncio.Transport", link).write(bytes((3, 0)) + (len(data) + 4).to_bytes(2, "big") + data)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._engine.deadline()
        if deadline is not None and not self._is_closed:
            # A millisecond later, so that the deadline is over.
            self._timer = self._loop.call_later(max(0.0, deadline - self._now()) + 0.001, self._tick)

    def _event(self, event: dict[str, Any]) -> None:
        name = event["event"]
        if name == "request":
            message, text = event["actions"]
            self._requests.put_nowait(
                Request(
                    self._connection(event["connection"]),
                    event["trans"],
                    event["version"],
                    event["registers"],
                    _transaction(message)["actions"],
                    text,
                    event["request"],
                )
            )
        elif name == "result":
            waiting = self._waiting.pop(event["trans"], None)
            if waiting is None or waiting.done():
                return
            if event["error"] is not None:
                waiting.set_exception(RequestFailed(event["error"], event["code"], event["text"]))
                return
            actions: list[dict[str, Any]] = []
            texts = []
            for message, text in event["actions"]:
                actions += _transaction(message)["transactionResult"]["actionReplies"]
                texts.append(text)
            waiting.set_result(Reply(actions, ",".join(texts)))
        elif name == "disconnect":
            self._connections.pop(event["connection"], None)


async def open(mid: str, *urls: str, **items: str) -> Endpoint:
    """Opens a gateway or controller with a message identifier such as ``<mgc>``, ``[192.0.2.1]:2944`` or a device name.

    It listens at each of ``urls``: ``udp://HOST:PORT`` or ``tcp://HOST:PORT``; port 0 takes any. ``items`` are
    configuration items of the engine, such as ``request_timer="500ms*2+0x4"``; by default messages are compact text,
    and answers are in the encoding of their request.

    Raises ArgumentError for an unknown item and for a bad value or URL.
    """
    engine = Engine(mid, seed=random.getrandbits(63), items={"encoding": "auto", **items})
    endpoint = Endpoint(engine)
    try:
        for url in urls:
            await endpoint._listen(url)
    except BaseException:
        endpoint.close()
        raise
    return endpoint


def _parts(url: str) -> tuple[str, str, int]:
    found = urlsplit(url)
    try:
        port = found.port
    except ValueError:
        port = None
    if found.scheme not in ("udp", "tcp") or not found.hostname or port is None:
        raise ArgumentError(f"bad URL `{url}`: expected udp://HOST:PORT or tcp://HOST:PORT")
    return found.scheme, found.hostname, port


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.link = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Transports are not always instances of the classes that asyncio documents.
        self.link = self.endpoint._link(cast("asyncio.DatagramTransport", transport))

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        self.endpoint._receive(("udp", self.link, addr[0], addr[1]), data)


class _Stream(asyncio.Protocol):
    """Messages with TPKT headers (RFC 1006)."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.way: Way = ("tcp", 0, "", 0)
        self.transport: asyncio.Transport | None = None
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        host, port = transport.get_extra_info("peername")[:2]
        self.way = ("tcp", self.endpoint._link(self.transport), host, port)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while len(self.buffer) >= 4 and self.transport is not None:
            length = int.from_bytes(self.buffer[2:4], "big")
            if self.buffer[0] != 3 or length < 4:
                # What follows has no begin.
                self.transport.close()
                return
            if len(self.buffer) < length:
                return
            message = bytes(self.buffer[4:length])
            del self.buffer[:length]
            self.endpoint._receive(self.way, message)

    def connection_lost(self, exc: Exception | None) -> None:
        endpoint = self.endpoint
        endpoint._links.pop(self.way[1], None)
        if not endpoint._is_closed:
            endpoint._engine.closed(endpoint._now(), self.way)
            endpoint._run()
