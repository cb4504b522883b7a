"""What people wait for: answers of `tercet lsp` while they type, and of `tercet inspect` on a large file.

Prints a line for each figure: what, the median, the 95th percentile and the greatest of the waits in milliseconds, how
many there were, and a note. The clock is that of the client, from the request to the whole answer, so that process
switches are in it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import commands, definitions

RRC = "3GPP_NR_RRC_38331"
DEMO = Path(__file__).parents[2] / "schemas" / "demo"
CALLS = Path(__file__).parents[2] / "examples" / "calls.ber"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/waits", description=__doc__.splitlines()[0])
    parser.add_argument("--tercet", help="the command to measure (the one that bench/setup builds, or $TERCET)")
    parser.add_argument(
        "--edits", type=int, default=200, help="keystrokes and requests of each kind (default %(default)s)"
    )
    parser.add_argument(
        "--octets", type=float, default=1e9, help="size of the file of records; 0: none (default %(default)g)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file, too")
    options = parser.parse_args()
    command = options.tercet or commands.tercet()
    print(subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.strip())
    figures: list[dict[str, Any]] = []
    folder = definitions.corpora() / "asn1" / "specs" / "3gpp"
    texts = sorted((folder / RRC).glob("*.asn*")) if folder.is_dir() else []
    if texts:
        text = max(texts, key=lambda path: path.stat().st_size)
        _editor(command, folder / RRC, text, "38.331", options.edits, figures)
        _editor(command, folder, text, "3GPP", max(options.edits // 10, 2), figures)
    else:
        print(f"bench/waits: no specifications in {folder}", file=sys.stderr)
    if options.octets:
        _inspector(command, int(options.octets), figures)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def _figure(figures: list[dict[str, Any]], what: str, waits: list[float], note: str = "") -> None:
    """Notes and prints one figure; waits are in seconds."""
    waits = sorted(wait * 1e3 for wait in waits)
    p95 = waits[min(len(waits) - 1, round(0.95 * len(waits)))]
    figure = {"what": what, "median": statistics.median(waits), "p95": p95, "most": waits[-1], "count": len(waits)}
    figures.append({**figure, "note": note})
    print(f"{what:46} {figure['median']:9.1f} {p95:9.1f} {waits[-1]:9.1f} ms {len(waits):5} {note}", flush=True)


def _resident(process: subprocess.Popen[bytes]) -> float:
    """The greatest resident memory of a process, in MB."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


class Editor:
    """A client of the Language Server Protocol that waits for each answer."""

    def __init__(self, command: str, folder: Path) -> None:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen([command, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        self.ask("initialize", {"capabilities": {}, "workspaceFolders": folders})
        self.tell("initialized", {})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            if name == b"Content-Length":
                length = int(value)
        if not length:
            raise RuntimeError("the server has ended")
        return json.loads(self.process.stdout.read(length))

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: dict[str, Any] | None) -> Any:
        self.id += 1
        self._send({"id": self.id, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.id and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def diagnostics(self, version: int) -> list[Any]:
        while True:
            message = self.receive()
            params = message.get("params", {})
            if message.get("method") == "textDocument/publishDiagnostics" and params.get("version") == version:
                return params["diagnostics"]

    def end(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", {})
        self.process.wait(10)


def _editor(command: str, folder: Path, path: Path, name: str, edits: int, figures: list[dict[str, Any]]) -> None:
    """Types into the middle of a specification, with all of a folder open."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    # A component of a type in the middle: `    name   Type ...`.
    middle = next(
        at
        for at in range(len(lines) // 2, len(lines))
        if len(words := lines[at].split()) >= 2
        and words[0][0].islower()
        and words[1][0].isupper()
        and words[1][1].islower()
    )
    column = lines[middle].index(lines[middle].split()[1]) + 1
    editor = Editor(command, folder)
    document = {"uri": path.resolve().as_uri()}
    opened = {**document, "languageId": "asn1", "version": 1, "text": text}
    editor.tell("textDocument/didOpen", {"textDocument": opened})
    found = editor.diagnostics(1)
    files = sum(1 for _ in folder.rglob("*.asn*"))
    begun = time.perf_counter() - editor.begin
    _figure(
        figures, f"{name}: start to diagnostics", [begun], f"{files} files, {len(lines)} lines, {len(found)} findings"
    )
    waits = []
    # An even number: the text is whole again at the end.
    for version in range(2, edits + edits % 2 + 2):
        # A letter comes, and goes again.
        is_new = version % 2 == 0
        end = column if is_new else column + 1
        place = {"start": {"line": middle, "character": column}, "end": {"line": middle, "character": end}}
        change = [{"range": place, "text": "q" if is_new else ""}]
        begin = time.perf_counter()
        params = {"textDocument": {**document, "version": version}, "contentChanges": change}
        editor.tell("textDocument/didChange", params)
        editor.diagnostics(version)
        waits.append(time.perf_counter() - begin)
    _figure(figures, f"{name}: keystroke to diagnostics", waits)
    at = {"textDocument": document, "position": {"line": middle, "character": column}}
    part = {"start": {"line": middle - 25, "character": 0}, "end": {"line": middle + 25, "character": 0}}
    context = {"context": {"includeDeclaration": True}}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("hover", "textDocument/hover", at),
        ("definition", "textDocument/definition", at),
        ("completion", "textDocument/completion", at),
        ("inlay hints of 50 lines", "textDocument/inlayHint", {"textDocument": document, "range": part}),
        ("tokens of 50 lines", "textDocument/semanticTokens/range", {"textDocument": document, "range": part}),
        ("tokens of the text", "textDocument/semanticTokens/full", {"textDocument": document}),
        ("code lenses", "textDocument/codeLens", {"textDocument": document}),
        ("references", "textDocument/references", {**at, **context}),
        ("rename", "textDocument/rename", {**at, "newName": "AnotherName"}),
    ]
    for what, method, params in requests:
        waits, answer = _times(min(edits, 20), lambda method=method, params=params: editor.ask(method, params))
        _figure(figures, f"{name}: {what}", waits, f"{len(json.dumps(answer))} bytes")
    print(f"{name + ': resident':46} {_resident(editor.process):9.1f} MB")
    figures.append({"what": f"{name}: resident", "megabytes": _resident(editor.process)})
    editor.end()


def _times(rounds: int, work: Callable[[], Any]) -> tuple[list[float], Any]:
    """The waits for some work, and its last result. The first round reads what an edit has changed and counts, too."""
    waits, answer = [], None
    for _ in range(rounds):
        begin = time.perf_counter()
        answer = work()
        waits.append(time.perf_counter() - begin)
    return waits, answer


def _inspector(command: str, octets: int, figures: list[dict[str, Any]]) -> None:
    """Looks at the begin and at the end of a file of records: those of the demo, over and over."""
    folder = Path(tempfile.mkdtemp(prefix="waits"))
    try:
        path = folder / "calls.ber"
        block = CALLS.read_bytes()
        with path.open("wb") as file:
            large = block * max(1, (1 << 20) // len(block))
            while file.tell() < octets:
                file.write(large)
        _pages(command, path, figures)
    finally:
        shutil.rmtree(folder)


def _pages(command: str, path: Path, figures: list[dict[str, Any]]) -> None:
    size = f"{path.stat().st_size / 1e6:,.0f} MB"
    begin = time.perf_counter()
    words = [command, "inspect", "-s", str(DEMO), "-t", "CallRecord", "--rules", "ber", "--no-open", str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout
        url = process.stdout.readline().decode().strip()

        def ask(question: str) -> Any:
            with urllib.request.urlopen(f"{url}api/{question}") as answer:
                return json.load(answer)

        ask("state")
        first = ask("records?from=0&count=200")
        begun = time.perf_counter() - begin
        _figure(figures, "inspector: start to the first records", [begun], f"{size}, {len(first['rows'])} rows")
        answer = first
        while not answer["complete"]:
            answer = ask(f"records?from={answer['total']}&count=0")
        last = ask(f"records?from={answer['total'] - 1}&count=1")["rows"]
        note = f"record {answer['total']:,} at offset {last[0]['offset']:,}"
        _figure(figures, "inspector: start to the last record", [time.perf_counter() - begin], note)
        row = answer["total"] - 1
        waits, message = _times(50, lambda: ask(f"message?row={row}"))
        _figure(figures, "inspector: the value of the last record", waits, f"{message['length']} bytes")
        waits, _ = _times(50, lambda: ask(f"explain?row={row}&node=1"))
        _figure(figures, "inspector: what one node means", waits)
        sizes, names = 0, [""]
        for name in names:
            with urllib.request.urlopen(url + name) as answer:
                body = answer.read()
            sizes += len(body)
            names += [part for part in _parts(body.decode()) if part not in names]
        print(f"{'inspector: page':46} {sizes / 1024:9.1f} KiB {len(names)} files")
        figures.append({"what": "inspector: page", "bytes": sizes})
        print(f"{'inspector: resident':46} {_resident(process):9.1f} MB")
        figures.append({"what": "inspector: resident", "megabytes": _resident(process)})
    finally:
        process.terminate()
        process.wait(10)


def _parts(text: str) -> list[str]:
    """The files that a file of the page names."""
    words = text.replace("'", '"').split('"')
    found = [word.removeprefix("./") for word in words if word.endswith((".js", ".css", ".svg"))]
    return [name for name in found if name and "/" not in name and " " not in name]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
