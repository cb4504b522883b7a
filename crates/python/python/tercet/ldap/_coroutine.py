"""Operations as coroutines."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def coroutine(begin: Callable[[], Awaitable[T]]) -> T:
    """Begins an operation when it is awaited, and not before, so that a task that is cancelled earlier does nothing."""
    return await begin()
