"""Servers of LDAP in Python: a handler answers requests, the server does all else."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tercet.ldap import _ldap
from tercet.ldap._errors import ResultError
from tercet.ldap._ldap import Dn, Draft, Entry, Filter
from tercet.ldap._values import Control, Modification, Record, ResultCode

if TYPE_CHECKING:
    from typing_extensions import Self

_log = logging.getLogger("tercet.ldap")


@dataclass(frozen=True, slots=True)
class Context:
    """The connection and the message of a request."""

    connection: int
    """The number of the connection, from 1."""
    peer: str
    """The address of the client."""
    tls: bool
    """True if the connection is encrypted."""
    identity: str
    """The name that is bound; empty for anonymous."""
    message_id: int
    controls: list[Control]
    """The controls of the request; critical ones are among ``Handler.supported_controls``."""
    state: dict[str, Any]
    """A place for the handler to keep what belongs to the connection."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A bind. ``password`` is that of a simple one, ``mechanism`` and ``credentials`` are those of SASL."""

    dn: str
    password: bytes | None = field(default=None, repr=False)
    mechanism: str | None = None
    credentials: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Search:
    """A search. The server selects the attributes, and keeps the limits of size and time."""

    base: str
    scope: Literal["base", "one", "sub", "children"]
    filter: Filter
    attributes: list[str]
    size_limit: int
    time_limit: int
    types_only: bool

    def is_in_scope(self, dn: str | Dn) -> bool:
        """Reports whether a name is in the base and scope."""
        name, base = (one if isinstance(one, Dn) else Dn(one) for one in (dn, self.base))
        if not name.is_within(base):
            return False
        levels = len(name) - len(base)
        return {"base": levels == 0, "one": levels == 1, "sub": True, "children": levels > 0}[self.scope]

    def matches(self, entry: Draft | Entry | Record) -> bool:
        """Reports whether an entry is in the base and scope, and the filter selects it."""
        return self.is_in_scope(entry.dn) and self.filter.matches(entry)


@dataclass(frozen=True, slots=True)
class Add:
    """An addition."""

    dn: str
    entry: Draft


@dataclass(frozen=True, slots=True)
class Modify:
    """A modification; ``Draft.apply`` makes it."""

    dn: str
    modifications: list[Modification]


@dataclass(frozen=True, slots=True)
class Delete:
    """A deletion."""

    dn: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A new name, and with ``superior`` another place."""

    dn: str
    new_rdn: str
    delete_old: bool
    superior: str | None


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison."""

    dn: str
    attribute: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Extended:
    """An extended operation. StartTLS, Cancel and Who am I? never come to a handler."""

    name: str
    value: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    code: int = ResultCode.SUCCESS
    message: str = ""
    matched_dn: str = ""
    referrals: Sequence[str] = ()
    controls: Sequence[Control] = ()
    identity: str | None = None
    """The name that a bind gives the connection, if it is not that of the request."""
    credentials: bytes | None = None
    """``serverSaslCreds`` of a bind."""
    name: str | None = None
    """``responseName`` of an extended operation."""
    value: bytes | None = None
    """``responseValue`` of an extended operation."""


class Refused(Exception):
    """Ends a request with an answer other than success: ``raise Refused(ResultCode.BUSY, "later")``."""

    answer: Answer
    """The answer."""

    def __init__(self, code: int, message: str = "", *, matched_dn: str = "", referrals: Sequence[str] = ()) -> None:
        super().__init__(message or str(code))
        self.answer = Answer(code, message, matched_dn, referrals)


Answered: TypeAlias = Answer | int | None
"""An answer; a result code; None for success."""
Found: TypeAlias = Draft | Entry | Record

_UNWILLING = ResultCode.UNWILLING_TO_PERFORM


class Handler:
    """Answers requests. Methods that are not overridden answer ``UNWILLING_TO_PERFORM``; anonymous binds succeed.

    Methods are coroutines, or plain functions, which run on threads. ``search`` yields entries, as an asynchronous
    or a plain generator; it may return an iterable instead. While a client does not read, it is not asked for the
    next entry. If the client abandons the request or goes away, the coroutine is cancelled. ``Refused`` and
    ``ResultError``, as drafts and connections raise it, are passed on; other exceptions are logged, and the answer is
    ``OTHER``.
    """

    supported_controls: Sequence[str] = ()
    """The object identifiers of the controls that the handler knows."""
    root_dse: Mapping[str, Sequence[str]] = {}
    """Attributes of the root DSE besides those of the server, such as ``namingContexts``."""

    def bind(self, cx: Context, request: Bind) -> Answered | Awaitable[Answered]:
        """Answers a bind. Binds with a name and an empty password never come here."""
        return None if not request.dn and request.password == b"" else _UNWILLING

    def search(
        self, cx: Context, request: Search
    ) -> AsyncIterable[Found] | Iterable[Found] | Answered | Awaitable[Iterable[Found] | Answered]:
        """Answers a search."""
        return _UNWILLING

    def add(self, cx: Context, request: Add) -> Answered | Awaitable[Answered]:
        """Answers an addition."""
        return _UNWILLING

    def modify(self, cx: Context, request: Modify) -> Answered | Awaitable[Answered]:
        """Answers a modification."""
        return _UNWILLING

    def delete(self, cx: Context, request: Delete) -> Answered | Awaitable[Answered]:
        """Answers a deletion."""
        return _UNWILLING

    def rename(self, cx: Context, request: Rename) -> Answered | Awaitable[Answered]:
        """Answers a request for another name or place."""
        return _UNWILLING

    def compare(self, cx: Context, request: Compare) -> bool | Answered | Awaitable[bool | Answered]:
        """Answers a comparison: True for equal."""
        return _UNWILLING

    def extended(self, cx: Context, request: Extended) -> Answered | Awaitable[Answered]:
        """Answers an extended operation."""
        return _UNWILLING


_REQUESTS = {
    "bind": Bind,
    "search": Search,
    "add": Add,
    "modify": Modify,
    "delete": Delete,
    "rename": Rename,
    "compare": Compare,
    "extended": Extended,
}


def _answer(operation: str, answered: object) -> Answer:
    if isinstance(answered, Answer):
        return answered
    if answered is None:
        return Answer()
    if operation == "compare" and isinstance(answered, bool):
        return Answer(ResultCode.COMPARE_TRUE if answered else ResultCode.COMPARE_FALSE)
    if isinstance(answered, int) and not isinstance(answered, bool):
        return Answer(answered)
    raise TypeError(f"{operation}: an Answer, a result code or None expected, not {type(answered).__name__}")


async def _send(responder: _ldap.Responder, found: object) -> object:
    """Sends what a search has found; returns its answer."""
    if isinstance(found, AsyncIterable):
        try:
            async for entry in found:
                waiting = responder.entry(entry)
                if waiting is not None:
                    await waiting
        finally:
            # A generator ends with its request, not when its memory is collected.
            if isinstance(found, AsyncGenerator):
                await found.aclose()
        return None
    if isinstance(found, Iterable):
        entries, end = iter(found), object()
        while (entry := await asyncio.to_thread(next, entries, end)) is not end:
            waiting = responder.entry(entry)
            if waiting is not None:
                await waiting
        return None
    return found


async def _respond(
    handler: Handler, operation: str, cx: tuple[Any, ...], request: tuple[Any, ...], responder: _ldap.Responder
) -> None:
    try:
        method = getattr(handler, operation)
        arguments = Context(*cx), _REQUESTS[operation](*request)
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            found = method(*arguments)
        else:
            found = await asyncio.to_thread(method, *arguments)
        if inspect.isawaitable(found):
            found = await found
        if operation == "search":
            found = await _send(responder, found)
        answer = _answer(operation, found)
    except Refused as refused:
        answer = refused.answer
    except ResultError as error:
        answer = Answer(error.code, error.diagnostic_message, error.matched_dn, error.referrals)
    except _ldap.Stopped:
        return
    except Exception:
        _log.exception("%s of %s", operation, type(handler).__name__)
        answer = Answer(ResultCode.OTHER, "internal error")
    responder.done(
        answer.code,
        answer.message,
        answer.matched_dn,
        list(answer.referrals),
        list(answer.controls),
        answer.identity,
        answer.credentials,
        answer.name,
        answer.value,
    )


class Server:
    """A server that listens until it is closed, and whose requests a handler answers.

    Coroutines of the handler run on ``loop``, by default on one that the server runs in a thread. With a certificate
    and its key there is StartTLS, or TLS at once with ``ldaps``. ``max_connections`` and ``idle`` (seconds) limit
    connections; those beyond are closed.

    Raises UsageError, OSError; TypeError if the handler is none.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        listen: str = "127.0.0.1:0",
        certificate: bytes | str | PathLike[str] | None = None,
        key: bytes | str | PathLike[str] | None = None,
        ldaps: bool = False,
        max_connections: int | None = None,
        idle: float | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        if not isinstance(handler, Handler):
            raise TypeError(f"a server needs a Handler, not {type(handler).__name__}")
        self._thread: threading.Thread | None = None
        self._loop = asyncio.new_event_loop() if loop is None else loop
        try:
            self._serving = _ldap.serve(
                functools.partial(self._start, handler),
                listen,
                list(handler.supported_controls),
                {name: list(values) for name, values in handler.root_dse.items()},
                certificate,
                key,
                ldaps,
                max_connections,
                idle,
            )
        except BaseException:
            if loop is None:
                self._loop.close()
            raise
        if loop is None:
            self._thread = threading.Thread(target=self._loop.run_forever, name="tercet-ldap-server", daemon=True)
            self._thread.start()

    def _start(
        self,
        handler: Handler,
        operation: str,
        cx: tuple[Any, ...],
        request: tuple[Any, ...],
        responder: _ldap.Responder,
    ) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(_respond(handler, operation, cx, request, responder), self._loop)

    @property
    def url(self) -> str:
        """The URL to connect to."""
        return self._serving.url

    def close(self, timeout: float = 5.0) -> bool:
        """Stops: requests that run have ``timeout`` seconds to end. Reports whether all ended in time."""
        ended = self._serving.close(timeout)
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._thread = None
        return ended

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Server({self.url})"
