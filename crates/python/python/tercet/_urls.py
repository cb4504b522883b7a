"""Inputs by URL, with `fsspec`, which is imported only if there is one."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tercet._errors import PackageError

MAGIC = "*?["


def _fsspec(url: str) -> ModuleType:
    try:
        import fsspec
    except ImportError as error:
        raise PackageError(f"reading `{url}` requires the package fsspec: pip install fsspec", name="fsspec") from error
    module: ModuleType = fsspec
    return module


def expand(url: str) -> list[str]:
    """The URLs of the files that a URL stands for: of a file, of all in a directory, or of those that match a glob."""
    system, path = _fsspec(url).core.url_to_fs(url)
    if any(it in path for it in MAGIC):
        found = sorted(system.glob(path))
    elif system.isdir(path):
        found = sorted(name for name in system.find(path) if not name.rsplit("/", 1)[-1].startswith("."))
    elif system.exists(path):
        return [url]
    else:
        raise FileNotFoundError(f"{url}: no such file")
    if not found:
        raise FileNotFoundError(f"{url}: no file matches")
    return [system.unstrip_protocol(name) for name in found]


def open(url: str) -> Any:
    """The file of a URL, opened to read bytes."""
    return _fsspec(url).open(url, "rb").open()
