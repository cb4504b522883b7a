"""LDAP with asyncio: the connection of ``tercet.ldap``, whose operations are awaited.

    async with ldap.aio.connect("ldaps://ldap.example.net") as connection:
        await connection.bind("uid=me,o=test", password)
        async for entry in connection.search("o=test", "(sn=L*)"):
            ...

Several operations may be on their way on one connection (``asyncio.gather``). To cancel a task abandons its operation.
"""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tercet.ldap import _ldap
from tercet.ldap._ldap import AsyncConnection as Connection
from tercet.ldap._ldap import AsyncEntries as Entries
from tercet.ldap._ldap import search_cldap_async as search_cldap

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Connecting", "Connection", "Entries", "connect", "search_cldap"]


class Connecting:
    """A connection that is to be made: ``await`` it, or enter it by ``async with``."""

    def __init__(self, urls: tuple[str | _ldap.Url, ...], options: dict[str, Any]) -> None:
        self._urls = urls
        self._options = options
        self._connection: Connection | None = None

    def __await__(self) -> Generator[Any, None, Connection]:
        return _ldap.connect_async(*self._urls, **self._options).__await__()

    async def __aenter__(self) -> Connection:
        self._connection = await self
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()


def connect(*urls: str | _ldap.Url, **options: Unpack[_ldap.ConnectOptions]) -> Connecting:
    """Connects to the first of these servers that can be reached; takes what ``tercet.ldap.connect`` does."""
    return Connecting(urls, dict(options))
