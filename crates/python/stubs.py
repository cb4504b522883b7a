"""Writes the docstrings of the compiled modules into their type stubs: the doc comments of the Rust sources are the one
source of both. `scripts/python stubs` runs it, `tests/test_stubs.py` checks that nothing is left to write."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent / "python"
MODULES = ["tercet._tercet", "tercet.ldap._ldap", "tercet.megaco._megaco"]

Item = ast.FunctionDef | ast.ClassDef


def path_of(module: str) -> Path:
    return PACKAGE / (module.replace(".", "/") + ".pyi")


def items(module: str) -> Iterator[tuple[str, Item, Any]]:
    """The documented functions, classes, methods and properties of a stub, with their objects at run time."""
    compiled = importlib.import_module(module)
    for node in ast.parse(path_of(module).read_text()).body:
        # Dictionaries of keyword arguments exist in stubs only.
        if not isinstance(node, Item) or not hasattr(compiled, node.name):
            continue
        found = getattr(compiled, node.name)
        yield node.name, node, found
        if isinstance(node, ast.ClassDef):
            seen: set[str] = set()
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("__"):
                    # Of overloads, the first is documented.
                    if method.name not in seen:
                        yield f"{node.name}.{method.name}", method, inspect.getattr_static(found, method.name)
                    seen.add(method.name)


def docstring(found: Any) -> str:
    # A static method has the text of `staticmethod` itself; its function has its own.
    return inspect.cleandoc(getattr(getattr(found, "__func__", found), "__doc__", None) or "")


def written(module: str) -> str:
    """The text of a stub with the docstrings of the compiled module."""
    lines = path_of(module).read_text().split("\n")
    for _, node, found in sorted(items(module), key=lambda item: -item[1].lineno):
        text, first = docstring(found), node.body[0]
        if text == (ast.get_docstring(node) or ""):
            continue
        indent = " " * (node.col_offset + 4)
        if ast.get_docstring(node) is not None:
            del lines[first.lineno - 1 : first.end_lineno]
        elif isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...:
            line = lines[first.lineno - 1]
            lines[first.lineno - 1] = line[: first.col_offset].rstrip()
        # A decorator stands before the line of its function.
        at = first.lineno - (1 if ast.get_docstring(node) is not None or isinstance(node, ast.ClassDef) else 0)
        text = text.replace("\\", "\\\\")
        end = f"\n{indent}" if "\n\n" in text else ""
        body = text.replace("\n", f"\n{indent}")
        quoted = f'{indent}"""{body}{end}"""'.split("\n")
        lines[at:at] = [line.rstrip() for line in quoted]
    return "\n".join(lines)


if __name__ == "__main__":
    for module in MODULES:
        path_of(module).write_text(written(module))
