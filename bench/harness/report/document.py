"""A document of few kinds of blocks, as Markdown and as HTML. Text within blocks is Markdown of one line."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TypeAlias


@dataclass
class Heading:
    level: int
    text: str


@dataclass
class Text:
    text: str


@dataclass
class Items:
    items: list[str]


@dataclass
class Table:
    #: Headings; one that ends in a colon is of numbers, aligned to the right.
    columns: list[str]
    rows: list[list[str]]


@dataclass
class Figure:
    """A picture in a file of its own, with what it shows in words."""

    file: str
    svg: str
    alt: str


@dataclass
class Folded:
    """Blocks that a reader opens when they are wanted."""

    summary: str
    blocks: list[Block]


Block: TypeAlias = Heading | Text | Items | Table | Figure | Folded


def markdown(blocks: list[Block]) -> str:
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"- {item}" for item in items)
        case Table(columns, rows):
            heads = [column.rstrip(":") for column in columns]
            marks = ["---:" if column.endswith(":") else "---" for column in columns]
            lines = [" | ".join(heads), "|".join(marks), *(" | ".join(row) for row in rows)]
            return "\n".join(f"| {line} |" if i != 1 else f"|{line}|" for i, line in enumerate(lines))
        case Figure(file, _, alt):
            return f"![{alt}]({file})"
        case Folded(summary, blocks):
            return f"<details><summary>{_inline(summary)}</summary>\n\n{markdown(blocks)}\n</details>"


def page(title: str, blocks: list[Block]) -> str:
    """One file of HTML with everything in it, pictures too."""
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f'<h{level} id="{anchor(text)}">{_inline(text)}</h{level}>'
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Items(items):
            return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>"
        case Table(columns, rows):
            numbers = [' class="n"' if column.endswith(":") else "" for column in columns]
            head = "".join(f"<th{n}>{_inline(c.rstrip(':'))}</th>" for c, n in zip(columns, numbers, strict=True))
            lines = [
                "<tr>" + "".join(f"<td{n}>{_inline(cell)}</td>" for cell, n in zip(row, numbers, strict=True)) + "</tr>"
                for row in rows
            ]
            return (
                f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
                + "\n".join(lines)
                + "\n</tbody>\n</table></div>"
            )
        case Figure(_, svg, alt):
            return f'<figure role="img" aria-label="{html.escape(alt)}">\n{svg}</figure>'
        case Folded(summary, blocks):
            inner = "\n".join(map(_html, blocks))
            return f"<details><summary>{_inline(summary)}</summary>\n{inner}\n</details>"


def anchor(text: str) -> str:
    """The name that Markdown on the web gives a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![*\w])\*([^*]+)\*(?![*\w])", r"<em>\1</em>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


STYLE = """\
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --mark: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9198a1; --line: #30363d; --back: #0d1117; --mark: #151b23; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 68rem; margin: 2rem auto 6rem; padding: 0 1.25rem; }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 0.6em; }
h1 { margin-top: 0; }
h2 { border-bottom: 1px solid var(--line); padding-bottom: 0.3em; }
a { color: #0a7ea4; }
code { font-size: 0.88em; background: var(--mark); padding: 0.1em 0.25em; border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; margin: 0.8em 0; }
th, td { padding: 0.32em 0.7em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; border-bottom-width: 2px; }
.n { text-align: right; white-space: nowrap; }
figure { margin: 1.2em 0; }
figure svg { width: 100%; height: auto; display: block; }
details { margin: 0.6em 0; }
summary { cursor: pointer; }
"""
