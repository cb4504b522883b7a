"""What `scripts/docs` needs beside mdBook.

    docs.py outside [supports RENDERER]   mdBook's preprocessor: links out of docs/ lead to the repository
    docs.py check DIR                     every link and anchor within a built site leads to something
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"\]\(([^)\s]+)\)")
# The link to the playground, and what is there if the site has none.
PLAYGROUND = re.compile(r"\*\*\[[^]]*\]\(playground/index\.html\)\*\*")
WITHOUT = "**This site has no playground**, because the compiler that built it lacks the target `wasm32-wasip1`."


def outside(context: dict, book: dict) -> dict:
    """The book with links that leave it as links to the repository."""
    repository = context["config"]["output"]["html"]["git-repository-url"]

    def absolute(page: str, target: str) -> str:
        if target.startswith("#") or urlsplit(target).scheme:
            return target
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        return target if path.startswith("docs/") else f"{repository}/blob/main/{path}"

    def walk(items: list) -> None:
        for item in items:
            chapter = item.get("Chapter") if isinstance(item, dict) else None
            if chapter:
                page = chapter["source_path"] or ""
                if "DOCS_PLAYGROUND" not in os.environ:
                    chapter["content"] = PLAYGROUND.sub(WITHOUT, chapter["content"])
                chapter["content"] = LINK.sub(lambda found: f"]({absolute(page, found[1])})", chapter["content"])
                walk(chapter["sub_items"])

    walk(book["items"])
    return book


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def check(folder: Path) -> int:
    """Prints the links of a site that lead nowhere, and returns their number."""
    # The page for what is not found has links from the root of the site.
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html")) if path.name not in ("404.html", "toc.html")}
    count, wrong = 0, 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = pages.get(target)
            if not target.exists() or (found and unquote(parts.fragment) not in found.anchors):
                print(f"{path.relative_to(folder)}: {link}", file=sys.stderr)
                wrong += 1
    print(f"{len(pages)} pages, {count} links within the site, {wrong} lead nowhere")
    return wrong


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["outside"]:
        if arguments[1:2] == ["supports"]:
            return 0
        json.dump(outside(*json.load(sys.stdin)), sys.stdout)
        return 0
    if arguments[:1] == ["check"] and len(arguments) == 2:
        return min(check(Path(arguments[1]).resolve()), 1)
    print(__doc__, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
