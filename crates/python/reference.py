"""Writes the pages of the docs about the package: every public class, function and option, from the stubs and sources
that editors read too. `scripts/python stubs` runs it, `tests/test_reference.py` checks that nothing is left to
write."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent / "python"
DOCS = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {
    "python.md": ("tercet", []),
    "python-ldap.md": (
        "tercet.ldap",
        ["tercet.ldap.aio", "tercet.ldap.ldif", "tercet.ldap.controls", "tercet.ldap.server"],
    ),
    "python-megaco.md": ("tercet.megaco", ["tercet.megaco.aio", "tercet.megaco.sdp"]),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def source(module: str) -> ast.Module:
    """The stub of a module, or the module itself."""
    path = PACKAGE / module.replace(".", "/")
    for file in (path.with_suffix(".pyi"), path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return ast.parse(file.read_text())
    raise FileNotFoundError(module)


def public(module: str) -> Iterator[tuple[str, ast.stmt]]:
    """The classes and functions that a module exports, in alphabetical order, wherever they are defined."""
    tree = source(module)
    homes = {
        name.asname or name.name: (node.module or "", name.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tercet")
        for name in node.names
    }
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    lists = [node.value for node in assigned if ast.unparse(node.targets[0]) == "__all__"]
    own = {node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    exported = ast.literal_eval(lists[0]) if lists else [name for name in own if not name.startswith("_")]
    for name in sorted(exported, key=str.lower):
        home, inner = homes.get(name, (module, name))
        found = [node for node in source(home).body if isinstance(node, ast.ClassDef | Function) and node.name == inner]
        for node in found:
            yield name, node


def text(node: ast.ClassDef | Function | ast.Module) -> str:
    return prose(ast.get_docstring(node) or "")


def prose(doc: str) -> str:
    """A docstring as Markdown: examples between fences."""
    lines: list[str] = []
    fence = ""
    for line in inspect.cleandoc(doc).replace("``", "`").splitlines():
        if (fence == "pycon" and not line) or (fence == "py" and line and not line.startswith("    ")):
            while fence == "py" and not lines[-1]:
                lines.pop()
            lines += ["```"] if fence == "pycon" else ["```", ""]
            fence = ""
        if not fence and line.startswith(">>>"):
            fence = "pycon"
        elif not fence and line.startswith("    ") and not lines[-1]:
            fence = "py"
        else:
            lines.append(line if fence != "py" else line[4:])
            continue
        lines += [*([""] if lines and lines[-1] else []), f"```{fence}", line if fence != "py" else line[4:]]
    return "\n".join(lines + ["```"] * bool(fence)).strip()


def signature(name: str, node: Function) -> str:
    arguments = node.args
    for leading in (arguments.posonlyargs, arguments.args):
        if leading and leading[0].arg in ("self", "cls"):
            del leading[0]
            break
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    begin = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{begin}{name}({ast.unparse(arguments)}){returns}"


def decorators(node: Function) -> set[str]:
    return {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}


def functions(title: str, name: str, nodes: list[Function]) -> str:
    """A function, with all of its overloads."""
    doc = next((found for node in nodes if (found := text(node))), "")
    if "property" in decorators(nodes[0]):
        kind = ast.unparse(nodes[0].returns) if nodes[0].returns else ""
        return f"{title} {name}\n\n`{kind}`\n\n{doc}\n"
    shown = "\n".join(signature(name, node) for node in nodes)
    return f"{title} {name}\n\n```py\n{shown}\n```\n\n{doc}\n"


def members(node: ast.ClassDef) -> list[str]:
    """The attributes of a class that have no function, as rows of a table."""
    rows = []
    for at, item in enumerate(node.body):
        if isinstance(item, ast.AnnAssign) and not ast.unparse(item.target).startswith("_"):
            after = node.body[at + 1] if at + 1 < len(node.body) else None
            doc = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            words = " ".join(str(doc).split()).replace("|", "\\|").replace("``", "`")
            kind = ast.unparse(item.annotation).replace("|", "\\|")
            rows.append(f"| `{ast.unparse(item.target)}` | `{kind}` | {words} |")
    return rows


def whole(name: str, node: ast.ClassDef) -> str:
    bases = [ast.unparse(base) for base in node.bases]
    bases = [base for base in bases if base not in ("Protocol", "NamedTuple", "TypedDict", "enum.IntEnum", "object")]
    page = f"## {name}\n\n" + (f"A class on top of {', '.join(f'`{base}`' for base in bases)}. " if bases else "")
    page += text(node) + "\n"
    if rows := members(node):
        page += "\n| attribute | type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    methods: dict[str, list[Function]] = {}
    for item in node.body:
        if isinstance(item, Function) and (not item.name.startswith("_") or item.name in ("__new__", "__init__")):
            methods.setdefault(item.name, []).append(item)
    for method, nodes in methods.items():
        nodes = [node for node in nodes if "setter" not in decorators(node)]
        if method in ("__new__", "__init__"):
            made = [signature(name, node).split(" -> ")[0] for node in nodes]
            page += "\n```py\n" + "\n".join(made) + "\n```\n"
        elif nodes:
            page += "\n" + functions("###", f"{name}.{method}", nodes)
    return page


def options(modules: list[str]) -> Iterator[ast.ClassDef]:
    """The dictionaries of keyword arguments."""
    for module in modules:
        known: set[str] = {"TypedDict"}
        for node in source(module).body:
            if isinstance(node, ast.ClassDef) and known & {ast.unparse(base) for base in node.bases}:
                known.add(node.name)
                yield node


def section(module: str) -> str:
    page = ""
    found: dict[str, list[ast.stmt]] = {}
    for name, node in public(module):
        found.setdefault(name, []).append(node)
    for name, nodes in found.items():
        if isinstance(nodes[0], ast.ClassDef):
            page += "\n" + whole(name, nodes[0])
        else:
            page += "\n" + functions("##", name, [node for node in nodes if isinstance(node, Function)])
    return page


def page(name: str) -> str:
    """A page as it should be."""
    module, more = PAGES[name]
    made = "<!-- Made by `scripts/python stubs`; do not edit. -->"
    out = f"# Python: `{module}`\n\n{made}\n\n{text(source(module))}\n" + section(module)
    for other in more:
        out += f"\n# `{other}`\n\n{text(source(other))}\n" + section(other)
    inner = f"{module}._{module.split('.')[-1]}"
    for node in options([inner]):
        out += "\n" + whole(node.name, node)
    return out


def stale() -> list[str]:
    """The pages that are not as they should be."""
    files = {name: DOCS / name for name in PAGES}
    return [name for name, file in files.items() if not file.exists() or file.read_text() != page(name)]


if __name__ == "__main__":
    for name in stale():
        (DOCS / name).write_text(page(name))
        sys.stdout.write(f"docs/reference/{name}\n")
