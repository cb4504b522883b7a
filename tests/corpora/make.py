"""Makes the corpora of this folder that are not typed: record files, vectors and traps.

    python3 -m venv venv && venv/bin/pip install asn1tools==0.169.0
    venv/bin/python tests/corpora/make.py

Nothing here comes from Tercet: the record files are encoded by the few lines below, the vectors by asn1tools. `zstd` is required.
"""

import json
import random
import subprocess
from pathlib import Path

import asn1tools

HERE = Path(__file__).resolve().parent


def element(tag: int, contents: bytes, constructed: bool = False, indefinite: bool = False) -> bytes:
    """An element with a context-specific tag below 31."""
    first = bytes([0x80 | (0x20 if constructed else 0) | tag])
    if indefinite:
        return first + b"\x80" + contents + b"\0\0"
    size = len(contents)
    if size < 128:
        return first + bytes([size]) + contents
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return first + bytes([0x80 | len(octets)]) + octets + contents


def integer(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def digits(text: str) -> bytes:
    """Two digits in an octet, the low half first."""
    text += "f" * (len(text) % 2)
    return bytes(int(text[at + 1] + text[at], 16) for at in range(0, len(text), 2))


class Calls:
    """Records of schemas/demo: octets, values without renderings, and what the octets mean."""

    def __init__(self, seed: int, indefinite: bool) -> None:
        self.random = random.Random(seed)
        self.indefinite = indefinite

    def constructed(self, tag: int, parts: list[bytes]) -> bytes:
        return element(tag, b"".join(parts), True, self.indefinite and self.random.random() < 0.7)

    def number(self) -> str:
        return "49170" + "".join(self.random.choice("0123456789") for _ in range(self.random.randint(5, 8)))

    def record(self, number: int) -> tuple[bytes, dict, dict]:
        parts: list[bytes] = []
        value: dict = {}
        shown: dict = {}

        def leaf(tag: int, name: str, octets: bytes, what: object, path: str = "", mean: str = "") -> None:
            parts.append(element(tag, octets))
            value[name] = what
            if mean:
                shown[f"{name}{path}"] = mean

        def imsi() -> None:
            text = "99970" + f"{self.random.randrange(10**10):010}"
            leaf(1, "servedIMSI", digits(text), digits(text).hex(), mean=text)

        def address(tag: int, name: str) -> None:
            text = self.number()
            octets = b"\x91" + digits(text)
            leaf(tag, name, octets, octets.hex(), ".digits", text)

        def time(tag: int, name: str, seconds: int) -> None:
            second, minute, hour = seconds % 60, seconds // 60 % 60, seconds // 3600 % 24
            octets = bytes.fromhex(f"261101{hour:02}{minute:02}{second:02}2b0100")
            leaf(tag, name, octets, octets.hex(), mean=f"2026-11-01T{hour:02}:{minute:02}:{second:02}+01:00")

        def location(tag: int) -> None:
            area, cell = self.random.randrange(65536), self.random.randrange(65536)
            octets = bytes.fromhex("99f907") + area.to_bytes(2, "big") + cell.to_bytes(2, "big")
            inner, what = [element(0, octets)], {"cell": octets.hex()}
            if self.random.random() < 0.5:
                what["exchange"] = f"MSC{self.random.randrange(100):02}"
                inner.append(element(1, what["exchange"].encode()))
            parts.append(self.constructed(tag, inner))
            value["location"] = what
            shown["location.cell.lac"], shown["location.cell.ci"] = area, cell

        kind = self.random.choice(["moCall", "mtCall", "sms", "data"])
        begin, long = self.random.randrange(80_000), self.random.randrange(3000)
        leaf(0, "recordNumber", integer(number), number)
        imsi()
        if kind == "moCall":
            address(3, "callingNumber")
            address(4, "calledNumber")
            location(5)
            time(7, "releaseTime", begin + long)
            leaf(8, "duration", integer(long), long)
            if long % 4 == 0:
                leaf(9, "cause", b"\x03", "unsuccessfulAttempt")
            if long % 5 == 0:
                services = [(bytes([self.random.randrange(256)]), "ä" * self.random.randrange(4)) for _ in range(3)]
                each = [
                    self.constructed(0x10, [element(0, code), element(1, text.encode())]) for code, text in services
                ]
                # SEQUENCE is a universal tag.
                parts.append(self.constructed(10, [bytes([0x30]) + one[1:] for one in each]))
                value["supplementary"] = [{"code": code.hex(), "parameter": text} for code, text in services]
        elif kind == "mtCall":
            location(5)
            if long:
                time(6, "answerTime", begin)
            time(7, "releaseTime", begin + long)
            leaf(8, "duration", integer(long), long)
        elif kind == "sms":
            leaf(2, "originating", b"\xff" if long % 2 else b"\0", bool(long % 2))
            address(3, "otherParty")
            address(4, "serviceCentre")
            time(5, "eventTime", begin)
            if long % 3 == 0:
                leaf(6, "parts", b"\x02", 2)
        else:
            leaf(2, "accessPoint", b"internet.example", "internet.example")
            address_octets = self.random.randbytes(4)
            parts.append(self.constructed(3, [element(0, address_octets)]))
            value["servedAddress"] = {"v4": address_octets.hex()}
            time(4, "openingTime", begin)
            leaf(5, "duration", integer(long), long)
            volumes, each = [], []
            for _ in range(self.random.randrange(3)):
                up, down = self.random.randrange(10**12), self.random.randrange(10**12)
                stamp = bytes.fromhex("2611012359592d0330")
                inner = [element(0, integer(up)), element(1, integer(down)), element(2, stamp), element(3, b"\x33")]
                each.append(bytes([0x30]) + self.constructed(0x10, inner)[1:])
                volumes.append({"uplink": up, "downlink": down, "changeTime": stamp.hex(), "ratType": "nr"})
            parts.append(self.constructed(6, each))
            value["volumes"] = volumes
            if long % 2:
                leaf(7, "features", b"\x04\x50", [5, 4])
        tag = ["moCall", "mtCall", "sms", "data"].index(kind)
        octets = self.constructed(tag, parts)
        return octets, {kind: value}, {f"{kind}.{path}": mean for path, mean in shown.items()}


def compressed(path: Path, octets: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", path], input=octets, check=True)


def calls(name: str, count: int, seed: int, indefinite: bool) -> None:
    maker, data, truth, rendered = Calls(seed, indefinite), b"", "", ""
    for number in range(count):
        octets, value, shown = maker.record(number)
        truth += json.dumps({"i": number, "offset": len(data), "length": len(octets), "value": value}) + "\n"
        rendered += json.dumps({"i": number, "rendered": shown}) + "\n"
        data += octets
    folder = HERE / "cdr/synth/demo"
    compressed(folder / f"{name}.ber.zst", data)
    compressed(folder / f"{name}.truth.jsonl.zst", truth.encode())
    compressed(folder / f"{name}.rendered.jsonl.zst", rendered.encode())


def jer(value: object) -> object:
    """A value of asn1tools in the form of X.697."""
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, tuple) and isinstance(value[0], bytes):
        return value[0].hex().upper()
    if isinstance(value, tuple):
        return {value[0]: jer(value[1])}
    if isinstance(value, dict):
        return {name: jer(inner) for name, inner in value.items()}
    return [jer(inner) for inner in value] if isinstance(value, list) else value


def vectors(spec: str, files: list[str], module: str, cases: list[tuple[str, object]]) -> None:
    paths = [HERE / f"asn1/specs/{spec}/{file}" for file in files]
    lines = ""
    for number, (kind, value) in enumerate(cases):
        encodings = {}
        for rules in ("der", "per", "uper", "oer"):
            octets = asn1tools.compile_files([str(path) for path in paths], rules).encode(kind, value)
            encodings[rules] = {"hex": octets.hex(), "by": ["asn1tools"]}
        line = {
            "id": f"{module}-{number}",
            "files": [f"specs/{spec}/{file}" for file in files],
            "spec": spec,
            "module": module,
            "type": kind,
            "value": jer(value),
            "enc": encodings,
        }
        lines += json.dumps(line, ensure_ascii=False) + "\n"
    (HERE / f"asn1/vectors/{module}.jsonl").write_text(lines)


def readings() -> list[tuple[str, object]]:
    made = random.Random(7)
    numbers = [0, 1, 127, 128, 255, 256, 65535, 65536, 2**31, 2**63 - 1]
    values = [("count", number) for number in numbers] + [("balance", -number) for number in numbers]
    values += [
        ("level", -40),
        ("level", 85),
        ("curve", []),
        ("curve", [0, 1023, 5]),
        ("curve", [7] * 130),
        ("missing", None),
    ]
    cases: list[tuple[str, object]] = []
    for number, value in enumerate(values):
        reading: dict = {"meter": made.randbytes(4), "sequence": made.randrange(65536), "value": value}
        reading["kind"] = made.choice(["electricity", "water", "gas", "heat"])
        # asn1tools writes values that are the DEFAULT in PER and OER too.
        if number % 3 == 0:
            reading["quality"] = made.choice(["doubtful", "bad"])
        if number % 4 == 0:
            # The last bit is set: asn1tools does not remove zero bits at the end, as X.690 11.2.2 asks.
            reading["flags"] = (bytes([made.randrange(256) | 1]), 8)
        if number % 5 == 0:
            reading["remark"] = "Zähler €" * made.randrange(5)
        if number % 6 == 0:
            reading["signature"] = made.randbytes(8)
        cases.append(("Reading", reading))
    return cases + [("Batch", []), ("Batch", [case[1] for case in cases[:3]])]


def books() -> list[tuple[str, object]]:
    person = {"given": "Ada", "family": "Lovelace", "born": 1815}
    other = {"given": "Émilie", "family": "du Châtelet"}
    states: list[object] = [("available", None), ("lost", True), ("lost", False)]
    for days in (1, 27, 90):
        reader = {"card": days * 40_000_000 + 1, "person": other, "mail": "e@example.net"}
        states.append(("lent", {"reader": reader, "days": days, "renewals": days % 3 + 1}))
    cases: list[tuple[str, object]] = []
    for number, state in enumerate(states):
        isbn = "9790123456785" if number % 2 else "9780123456786"
        book = {"isbn": isbn, "title": "On the Engine" * (number + 1), "authors": [person, other][: number % 2 + 1]}
        cases.append(("Book", {**book, "shelf": number * 80, "state": state}))
    return cases + [("Shelf", [case[1] for case in cases]), ("Shelf", [])]


TRAPS = {
    "per-int-fixed0": "INTEGER (5)",
    "per-int-semi-neg": "INTEGER (-1..MAX)",
    "per-int-ub-only": "INTEGER (MIN..255)",
    "per-int-ext-root": "INTEGER (0..7, ..., 8..20)",
    "per-int-serial-ext": "INTEGER (0..9, ...) (2..5)",
    "per-int-union": "INTEGER (1 | 4 | 9)",
    "per-int-hull2": "INTEGER (0..7 | 25..30)",
    "per-int-except": "INTEGER (0..20 EXCEPT 7)",
    "per-int-intersect": "INTEGER (0..20 ^ 10..40)",
    "per-int-openrange": "INTEGER (3<..<12)",
    "per-size-ext": "OCTET STRING (SIZE (1..2, ...))",
    "per-size-union": "OCTET STRING (SIZE (1 | 3..6))",
    "per-size-on-ref": "Ta (SIZE (2))\nTa ::= OCTET STRING",
    "per-alpha-1": 'IA5String (SIZE (0..3) ^ FROM ("A"))',
    "per-alpha-binary": 'IA5String (SIZE (4) ^ FROM ("A".."B"))',
    "per-utf8-size": "UTF8String (SIZE (1..4))",
    "per-str-ext-alpha": 'IA5String (SIZE (1, ...) ^ FROM ("a".."c", ...))',
}


# Name, type of hostile/gen/adv.asn, octets, and whether BER, DER and CER accept them (X.690, the clause in the note).
BER = [
    ("integer", "Number", "020105", "accept accept accept", ""),
    ("integer-empty", "Number", "0200", "reject reject reject", "8.3.1"),
    ("integer-padded", "Number", "02020005", "reject reject reject", "8.3.2"),
    ("integer-padded-ones", "Number", "0202FF80", "reject reject reject", "8.3.2"),
    ("integer-cut", "Number", "020405", "reject reject reject", "8.1.4"),
    ("integer-constructed", "Number", "2203020105", "reject reject reject", "8.3.1"),
    ("integer-long-length", "Number", "02810105", "accept reject reject", "10.1"),
    ("length-reserved", "Number", "02FF05", "reject reject reject", "8.1.3.5 c"),
    ("length-huge", "Number", "0284FFFFFFFF05", "reject reject reject", "8.1.3"),
    ("length-of-64-bits", "Number", "0288FFFFFFFFFFFFFFFF05", "reject reject reject", "8.1.3"),
    ("boolean", "Flag", "0101FF", "accept accept accept", ""),
    ("boolean-1", "Flag", "010101", "accept reject reject", "11.1"),
    ("boolean-2-octets", "Flag", "0102FFFF", "reject reject reject", "8.2.1"),
    ("null", "Nothing", "0500", "accept accept accept", ""),
    ("null-contents", "Nothing", "050100", "reject reject reject", "8.8.2"),
    ("pair", "Pair", "30060201050101FF", "accept accept reject", "9.1"),
    ("pair-indefinite", "Pair", "30800201050101FF0000", "accept reject accept", "10.1"),
    ("pair-unended", "Pair", "30800201050101FF", "reject reject reject", "8.1.3.6"),
    ("pair-primitive", "Pair", "10060201050101FF", "reject reject reject", "8.9.1"),
    ("pair-without-number", "Pair", "30030101FF", "reject reject reject", "8.9"),
    ("pair-swapped", "Pair", "30060101FF020105", "reject reject reject", "8.9.2"),
    ("pair-inner-too-long", "Pair", "30060201050103FF", "reject reject reject", "8.1.3"),
    ("bits", "Bits", "03020640", "accept accept accept", ""),
    ("bits-unused-8", "Bits", "03020840", "reject reject reject", "8.6.2.2"),
    ("bits-empty-unused", "Bits", "030101", "reject reject reject", "8.6.2.3"),
    ("bits-without-octets", "Bits", "0300", "reject reject reject", "8.6.2"),
    ("octets-segments", "Octets", "2480040141040142 0000", "accept reject reject", "10.2, 9.2"),
    ("octets-wrong-segments", "Octets", "24800201410000", "reject reject reject", "8.7.3"),
    ("oid", "Oid", "06022A03", "accept accept accept", ""),
    ("oid-empty", "Oid", "0600", "reject reject reject", "8.19.1"),
    ("oid-padded", "Oid", "06032A8003", "reject reject reject", "8.19.2"),
    ("oid-cut", "Oid", "06022A83", "reject reject reject", "8.19.2"),
    ("tree-of-200", "Tree", "3080" * 200 + "0000" * 200, "reject reject reject", "limit of depth"),
]

# Name, type, text, and whether JER (X.697) accepts it.
JER = [
    ("number", "Number", "5", "accept"),
    ("number-negative", "Number", "-70000000000000000000000", "accept"),
    ("number-text", "Number", '"5"', "reject"),
    ("number-cut", "Number", "-", "reject"),
    ("empty", "Number", "", "reject"),
    ("flag", "Flag", "true", "accept"),
    ("flag-word", "Flag", "True", "reject"),
    ("nothing", "Nothing", "null", "accept"),
    ("pair", "Pair", '{"number":5,"flag":false}', "accept"),
    ("pair-spaces", "Pair", ' { "number" : 5 , "flag" : false } ', "accept"),
    ("pair-without-number", "Pair", '{"flag":false}', "reject"),
    ("pair-comma", "Pair", '{"number":5,"flag":false,}', "reject"),
    ("pair-unended", "Pair", '{"number":5,"flag":false', "reject"),
    ("octets", "Octets", '"00FF"', "accept"),
    ("octets-half", "Octets", '"00F"', "reject"),
    ("octets-letter", "Octets", '"0G"', "reject"),
    ("tree-of-3000", "Tree", '{"below":' * 3000 + "{}" + "}" * 3000, "reject"),
]

# Name, whether the compiler accepts it, text of the module.
SOURCES = [
    ("good", "accept", "A ::= SEQUENCE { a INTEGER, b B OPTIONAL } B ::= [5] OCTET STRING (SIZE (0..4))"),
    ("comments", "accept", "/* a /* nested */ comment */ A ::= INTEGER -- one -- (0..5) -- to the end"),
    ("unended-comment", "reject", "A ::= INTEGER /* no end"),
    ("unended-string", "reject", 'a IA5String ::= "no end'),
    ("unended-braces", "reject", "A ::= SEQUENCE { a SEQUENCE { b INTEGER"),
    ("unknown-type", "reject", "A ::= SEQUENCE { a Missing }"),
    ("circle-of-types", "reject", "A ::= B B ::= C C ::= A"),
    ("circle-of-values", "reject", "a INTEGER ::= b b INTEGER ::= a"),
    ("deep", "reject", "A ::= " + "SEQUENCE OF " * 2_000 + "INTEGER ("),
    ("two-tags", "reject", "A ::= CHOICE { a INTEGER, b [UNIVERSAL 2] IMPLICIT BOOLEAN }"),
    ("control-characters", "reject", "A ::= \x01\x7f INTEGER"),
]


def hostile() -> None:
    folder, rows = HERE / "hostile/gen", []

    def row(path: str, octets: bytes, codec: str, kind: str, expect: dict[str, str], note: str = "") -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(octets)
        rows.append({"id": path, "file": path, "codec": codec, "pdu": kind, "expect": expect, "note": note})

    for name, kind, text, verdicts, note in BER:
        expect = dict(zip(("ber", "der", "cer"), verdicts.split(), strict=True))
        row(f"ber/{name}.bin", bytes.fromhex(text), "ber/der/cer", kind, expect, note)
    for name, kind, text, verdict in JER:
        row(f"jer/{name}.json", text.encode(), "jer", kind, {"jer": verdict})
    for name, verdict, text in SOURCES:
        module = f"Source DEFINITIONS ::= BEGIN {text}\nEND\n".encode()
        row(f"asn1src/{name}.asn", module, "asn1-source", "-", {"compile": verdict})
    (folder / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows))


def main() -> None:
    hostile()
    calls("calls_800", 800, 1, False)
    calls("calls_indefinite_200", 200, 2, True)
    vectors("metering", ["Metering.asn"], "Metering", readings())
    vectors("library", ["Library-Types.asn", "Library.asn"], "Library", books())
    for number, (name, text) in enumerate(TRAPS.items()):
        module = f"Trap-{number} DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nT ::= {text}\nEND\n"
        (HERE / f"asn1/traps/{name}.asn1").write_text(module)


if __name__ == "__main__":
    main()
