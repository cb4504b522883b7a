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


def expand(url: str) -> tuple[list[tuple[str, str]], bool]:
    """Returns the URLs of a file, or of the files of a directory or a glob, with their paths below it.

    The second value is true if the URL is a glob.
    """
    system, path = _fsspec(url).core.url_to_fs(url)
    first = next((at for at, it in enumerate(path) if it in MAGIC), None)
    if first is not None:
        base, listed = path[:first].rpartition("/")[0], system.glob(path, detail=True)
        found = [name for name, of in listed.items() if of["type"] != "directory"]
    elif system.isdir(path):
        base, found = path, system.find(path)
    elif system.exists(path):
        return [(url, "")], False
    else:
        raise FileNotFoundError(f"{url}: no such file")
    files = [(system.unstrip_protocol(name), name.removeprefix(base).lstrip("/")) for name in sorted(found)]
    return files, first is not None


def open(url: str) -> Any:
    """The file of a URL, opened to read bytes."""
    return _fsspec(url).open(url, "rb").open()
