"""The boundary to Python: whatever comes, an exception and never a panic, an abort or a leak."""

import contextlib
import gc
import mmap
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tercet


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"name": "leaf"}
    for _ in range(levels):
        value = {"name": "branch", "below": [value]}
    return value


@pytest.mark.parametrize("rules", ["ber", "der", "uper", "aper", "oer", "jer", "xer"])
def test_depth_and_circles(everything: tercet.Schema, rules: str) -> None:
    data = everything.encode("Tree", rules, deep(20))
    assert everything.decode("Tree", rules, data) == deep(20)
    with pytest.raises(tercet.EncodeError) as caught:
        everything.encode("Tree", rules, deep(10_000))
    assert caught.value.kind == "depth-limit"
    circle: dict[str, Any] = {"name": "self"}
    circle["below"] = [circle]
    with pytest.raises(tercet.EncodeError):
        everything.encode("Tree", rules, circle)


def test_depth_of_data(everything: tercet.Schema) -> None:
    data = everything.codec("Tree", "ber", max_depth=1_000).encode(deep(100))
    with pytest.raises(tercet.DecodeError) as caught:
        everything.decode("Tree", "ber", data)
    assert caught.value.kind == "depth-limit"
    assert everything.decode("Tree", "ber", data, max_depth=1_000) == deep(100)
    with pytest.raises(tercet.DecodeError):
        everything.decode("Tree", "ber", b"\x30\x80\xa1\x80" * 100_000)


def test_small_stacks(everything: tercet.Schema) -> None:
    data = everything.codec("Tree", "ber", max_depth=1_000).encode(deep(100))
    done = []

    def work() -> None:
        value = everything.decode("Tree", "ber", data, max_depth=1_000)
        done.append(everything.codec("Tree", "ber", max_depth=1_000).encode(value) == data)

    threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert done == [True]


def test_huge_integers(everything: tercet.Schema) -> None:
    codec = everything.codec("All", "der")
    for number in [1 << 100_000, -(1 << 100_000), (1 << 100_000) - 1]:
        assert codec.decode(codec.encode({"number": number})) == {"number": number}
    data = everything.encode("All", "jer", {"number": 10**5000})
    assert everything.decode("All", "jer", data)["number"] == 10**5000


def test_limits(everything: tercet.Schema) -> None:
    data = everything.encode("All", "ber", {"list": list(range(1000)), "octets": bytes(1000)})
    for limits in [{"max_elements": 100}, {"max_size": 100}]:
        with pytest.raises(tercet.DecodeError):
            everything.decode("All", "ber", data, **limits)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        everything.decode("All", "ber", data, max_depth=1 << 40)
    with pytest.raises(OverflowError):
        everything.decode("All", "ber", data, max_size=-1)


def test_bytes_likes(demo: tercet.Schema, tmp_path: Path) -> None:
    data = demo.sample("CallRecord", rules="ber")[0]
    value = demo.decode("CallRecord", "ber", data)
    file = tmp_path / "record"
    file.write_bytes(data)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        forms: list[Any] = [bytearray(data), memoryview(data), mapped, memoryview(bytearray(data)).cast("b")]
        for form in forms:
            assert demo.decode("CallRecord", "ber", form) == value
    view = memoryview(data)
    view.release()
    with pytest.raises(ValueError, match="released"):
        demo.decode("CallRecord", "ber", view)
    for wrong in [None, 5, "text", [1], object()]:
        with pytest.raises(TypeError):
            demo.decode("CallRecord", "ber", wrong)  # type: ignore[arg-type]


def test_text_with_surrogates(everything: tercet.Schema) -> None:
    with pytest.raises(tercet.ArgumentError, match="surrogates"):
        everything.decode("Tree", "jer", '{"name": "\ud800"}')
    with pytest.raises(tercet.ArgumentError, match="surrogates"):
        everything.decode("Tree\ud800", "ber", b"")


class Hostile:
    """Raises whenever it is looked at."""

    def __index__(self) -> int:
        raise RuntimeError("index")

    def __len__(self) -> int:
        raise RuntimeError("length")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("equal")

    def __hash__(self) -> int:
        return hash("number")


@pytest.mark.parametrize(
    "name", ["flag", "number", "real", "bits", "octets", "utf8", "list", "set", "choice", "wrapped"]
)
def test_objects_that_raise(everything: tercet.Schema, name: str) -> None:
    with pytest.raises((tercet.EncodeError, RuntimeError)):
        everything.encode("All", "ber", {name: Hostile()})
    with pytest.raises((tercet.EncodeError, RuntimeError)):
        everything.encode("All", "ber", {Hostile(): 1})


def test_every_prefix_and_flipped_bit(demo: tercet.Schema, everything: tercet.Schema) -> None:
    for schema, name in [(demo, "CallRecord"), (everything, "All"), (everything, "Frame")]:
        for rules in ["ber", "der", "uper", "aper", "oer", "jer", "xer", "gser"]:
            codec = schema.codec(name, rules)
            for data in schema.sample(name, 3, rules=rules):
                broken = [data[:at] for at in range(len(data))]
                for at in range(min(len(data), 150)):
                    broken.extend(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :] for bit in range(8))
                for octets in broken:
                    try:
                        codec.decode(octets)
                    except tercet.DecodeError as error:
                        assert 0 <= error.offset <= len(octets)
                        assert len(str(error)) <= 512


def test_many_threads(demo: tercet.Schema) -> None:
    codec = demo.codec("CallRecord")
    records = demo.sample("CallRecord", 50, rules="ber")

    def work(seed: int) -> bool:
        fresh = tercet.Schema.load(Path(__file__).resolve().parents[3] / "schemas" / "demo")
        mine = records[seed:] + records[:seed]
        good = all(codec.encode(codec.decode(data)) == data for data in mine for _ in range(5))
        return good and all(fresh.encode("CallRecord", "ber", codec.decode(data)) == data for data in mine)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_other_threads_run_while_much_is_decoded(everything: tercet.Schema) -> None:
    data = everything.encode("All", "ber", {"list": [1000] * 300_000})
    ticks, stop = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        everything.transcode("All", "ber", "jer", data)
    finally:
        stop.set()
        thread.join()
    assert ticks > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="platform: no fork")
def test_forks(demo: tercet.Schema) -> None:
    records = demo.sample("CallRecord", 20, rules="ber")
    script = (
        "import os, sys, tercet\n"
        "schema = tercet.Schema.load(sys.argv[1])\n"
        "codec = schema.codec('CallRecord')\n"
        "data = bytes.fromhex(sys.argv[2])\n"
        "value = codec.decode(data)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if codec.decode(data) == value else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    schemas = Path(__file__).resolve().parents[3] / "schemas" / "demo"
    subprocess.run([sys.executable, "-c", script, str(schemas), records[0].hex()], check=True, timeout=60)


def test_other_interpreters_are_refused_and_nothing_ends() -> None:
    script = (
        "import tercet\n"
        "try:\n"
        "    import _xxsubinterpreters as interpreters\n"
        "except ImportError:\n"
        "    try:\n"
        "        import _interpreters as interpreters\n"
        "    except ImportError:\n"
        "        raise SystemExit(0)\n"
        "other = interpreters.create()\n"
        "try:\n"
        "    print(interpreters.run_string(other, 'import tercet'))\n"
        "except Exception as error:\n"
        "    print(error)\n"
        "assert tercet.Schema.parse('A DEFINITIONS ::= BEGIN T ::= NULL END').decode('T', 'ber', b'\\x05\\0') is None\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60, capture_output=True)


def test_nothing_leaks(everything: tercet.Schema) -> None:
    codec = everything.codec("All", "ber")
    value = {"number": 2**70, "bits": {"first"}, "utf8": "x" * 100, "wrapped": ("Everything.Inner", {"x": 1})}
    data = codec.encode(value)

    def work(times: int) -> int:
        for _ in range(times):
            codec.encode(codec.decode(data))
            for broken in [data[:-1], b"", data + b"\0"]:
                with contextlib.suppress(tercet.DecodeError):
                    codec.decode(broken)
            with contextlib.suppress(tercet.EncodeError):
                codec.encode({"number": "none"})
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("platform: no /proc")
    # Six calls a round: LEAK_ROUNDS=170000 makes a million of them.
    rounds = int(os.environ.get("LEAK_ROUNDS", "10000"))
    before = work(2_000)
    grown = work(rounds) - before
    print(f"{6 * rounds} calls, {grown} octets more")
    assert grown < 5_000_000
