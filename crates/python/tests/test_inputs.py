"""What files, tables and records are read from; inputs that are empty or wrong are errors."""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import tercet

pa = pytest.importorskip("pyarrow")

COUNT = 3_000


def numbers(source: Any, demo: tercet.Schema, **options: Any) -> list[int]:
    return [record.index for record in tercet.iter_records(source, demo, "CallRecord", **options)]


def test_bytes_are_read(demo: tercet.Schema, calls: Path) -> None:
    data = calls.read_bytes()
    for form in [data, bytearray(data), memoryview(data), gzip.compress(data), [data]]:
        assert numbers(form, demo) == list(range(COUNT))
    record = next(tercet.iter_records(data, demo, "CallRecord"))
    assert record.file == "<bytes>"
    table = tercet.read(data, demo, "CallRecord", columns=["choice"])
    assert pa.table(table) == pa.table(table) == pa.table(tercet.read(calls, demo, "CallRecord", columns=["choice"]))
    assert numbers([data, calls, data], demo) == list(range(COUNT)) * 3


def test_file_objects_are_read(demo: tercet.Schema, calls: Path) -> None:
    data = calls.read_bytes()
    with calls.open("rb") as file:
        table = tercet.read(file, demo, "CallRecord")
        assert len(table) == len(table) == COUNT
        # Behind its end there is nothing.
        with pytest.raises(tercet.RejectError, match="0 bytes"):
            len(tercet.read(file, demo, "CallRecord"))
        file.seek(0)
        assert next(tercet.iter_records(file, demo, "CallRecord")).file == str(calls)
    memory = io.BytesIO(b"junk" + data)
    memory.seek(4)
    table = tercet.read(memory, demo, "CallRecord")
    assert len(table) == len(table) == COUNT
    assert numbers(io.BytesIO(gzip.compress(data)), demo) == list(range(COUNT))
    # One that cannot go back is read once.
    here, there = os.pipe()

    def write() -> None:
        with os.fdopen(there, "wb") as end:
            end.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(here, "rb") as pipe:
        table = tercet.read(pipe, demo, "CallRecord", framing="plain")
        assert len(table) == COUNT
        with pytest.raises(tercet.FileError, match="read once only"):
            len(table)
    writer.join()


def test_file_objects_are_read_by_libraries_that_hold_the_interpreter(demo: tercet.Schema, calls: Path) -> None:
    polars = pytest.importorskip("polars")
    with calls.open("rb") as file:
        assert polars.DataFrame(tercet.read(file, demo, "CallRecord")).height == COUNT
        file.seek(0)
        assert pa.table(tercet.read(file, demo, "CallRecord")).num_rows == COUNT


class Broken:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def read(self, length: int) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("text", 'open it with mode "rb"'),
        (5, "bytes-like"),
        (None, "that blocks"),
        (b"x" * (1 << 22), "more bytes than it was asked for"),
        (OSError("the line is dead"), "the line is dead"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_file_objects_that_are_wrong(demo: tercet.Schema, answer: Any, words: str) -> None:
    with pytest.raises(tercet.FileError, match=words):
        list(tercet.iter_records(Broken(answer), demo, "CallRecord"))


def test_urls_are_read(demo: tercet.Schema, calls: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    data = calls.read_bytes()
    for name in ["/calls/a.ber", "/calls/b.ber", "/calls/deep/c.ber.gz"]:
        memory.pipe(name, gzip.compress(data) if name.endswith(".gz") else data)
    for url, files in [
        ("memory://calls/a.ber", 1),
        ("memory://calls/*.ber", 2),
        ("memory://calls", 3),
        (calls.as_uri(), 1),
    ]:
        assert numbers(url, demo) == list(range(COUNT)) * files
    assert next(tercet.iter_records("memory://calls/a.ber", demo, "CallRecord")).file == "memory://calls/a.ber"
    [split] = tercet.splits("memory://calls/a.ber", demo, "CallRecord", size=1000, index=True)
    assert numbers(split, demo) == list(range(COUNT))
    with pytest.raises(FileNotFoundError, match="none"):
        tercet.read("memory://calls/none.ber", demo, "CallRecord")
    with pytest.raises(tercet.Error, match="no file matches"):
        tercet.read("memory://calls/*.none", demo, "CallRecord")
    with pytest.raises(tercet.Error, match="nosuch"):
        tercet.read("nosuch://calls", demo, "CallRecord")


def test_what_is_skipped_of_a_url_is_what_is_skipped_of_a_directory(demo: tercet.Schema, calls: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for name in ["a.ber", ".hidden", ".git/b.ber", "c.ber.tmp", "d.ber~"]:
        memory.pipe("/skipped/" + name, calls.read_bytes())
    with pytest.warns(UserWarning, match="skipping") as warnings:
        assert numbers("memory://skipped", demo) == list(range(COUNT))
    words = sorted(str(it.message).split(":")[0] for it in warnings)
    assert words == ["skipping 2 hidden files", "skipping 2 temporary files"]
    # A suffix that is asked for is read.
    assert numbers("memory://skipped/*.tmp", demo) == list(range(COUNT))
    with pytest.warns(UserWarning, match="skipping 2 temporary files"):
        assert numbers("memory://skipped/*", demo) == list(range(COUNT))
    memory.pipe("/nothing/.hidden", b"x")
    with (
        pytest.warns(UserWarning, match="1 hidden"),
        pytest.raises(FileNotFoundError, match="no file in the directory"),
    ):
        tercet.read("memory://nothing", demo, "CallRecord")


def test_fsspec_is_imported_for_urls_alone(calls: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['fsspec'] = None\n"
        "import tercet\n"
        "assert len(tercet.read(sys.argv[1], 'schemas/demo', 'CallRecord')) > 0\n"
        "try:\n"
        "    tercet.read('s3://bucket/calls', 'schemas/demo', 'CallRecord')\n"
        "except tercet.Error as error:\n"
        "    assert isinstance(error, ImportError) and error.name == 'fsspec'\n"
        "    assert 'requires the package fsspec' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('read')\n"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", script, str(calls)], check=True, timeout=60, cwd=root)


def test_no_input_is_an_error(demo: tercet.Schema, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").write_bytes(b"x")
    nothing: list[tuple[Any, str]] = [([], "no input"), ((), "no input"), (tmp_path, "no file in the directory")]
    functions: list[Any] = [tercet.read, tercet.read_tables, tercet.iter_records, tercet.splits, tercet.scan_polars]
    for given, words in nothing:
        for function in functions:
            with pytest.raises(tercet.Error, match=words):
                function(given, demo, "CallRecord")
        assert len(tercet.read(given, demo, "CallRecord", allow_empty=True)) == 0
    with pytest.raises(FileNotFoundError):
        tercet.read(str(tmp_path), demo, "CallRecord")


def test_inputs_without_records_are_errors(demo: tercet.Schema, calls: Path, tmp_path: Path) -> None:
    for text in [b"", b"hello, world\n" * 50, bytes(1000), b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10]:
        file = tmp_path / "wrong"
        file.write_bytes(text)
        for source in [file, text, io.BytesIO(text)]:
            for options in [{}, {"max_rejects": None}]:
                table = tercet.read(source, demo, "CallRecord", **options)  # type: ignore[arg-type]
                for read in (table.read, table.to_arrow, table.head, lambda table=table: list(table.batches())):
                    with pytest.raises(tercet.RejectError):
                        read()
                with pytest.raises(tercet.RejectError):
                    list(tercet.iter_records(source, demo, "CallRecord", **options))  # type: ignore[arg-type]
                with pytest.raises(tercet.RejectError):
                    tercet.read_tables(source, demo, "CallRecord", **options).read()  # type: ignore[arg-type]
    # One file may be empty where others are not.
    assert numbers([b"", calls], demo) == list(range(COUNT))


def test_specifications_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(tercet.ArgumentError, match="no specification"):
        tercet.Schema.load([])
    with pytest.raises(tercet.SchemaError, match="no module in"):
        tercet.Schema.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        tercet.Schema.load(tmp_path / "none")
    for wrong in (5, None, [5]):
        with pytest.raises(tercet.ArgumentError):
            tercet.Schema.load(wrong)  # type: ignore[arg-type]
