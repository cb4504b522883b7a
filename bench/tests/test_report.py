"""The report is a pure function of the records, and says where Tercet is not first."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from harness import counts, records
from harness.definitions import BENCH, REPOSITORY
from harness.records import Row
from harness.report import document, readme, whole


def test_committed_report_is_current() -> None:
    wanted = whole.files(records.load())
    there = {path.name: path.read_text() for path in (BENCH / "report").glob("*")}
    stale = [name for name in {*wanted, *there} if wanted.get(name) != there.get(name)]
    assert not stale, "run bench/write-report"


def test_figures_of_the_first_page_are_current() -> None:
    text = (REPOSITORY / "README.md").read_text()
    assert readme.BEGIN in text and readme.END in text
    assert readme.filled(text, records.load()) == text, "run bench/write-report"


def row(work: str, engine: str, median: float, **more: object) -> Row:
    figures = dict(octets=100.0, low=median * 0.9, median=median, high=median * 1.1, digest="d")
    return Row("x509", work, engine, **(figures if median else {}), **more)  # type: ignore[arg-type]


def report(folder: Path, rows: list[Row], kind: str = records.CODECS) -> dict[str, str]:
    records.write(rows, kind, folder)
    return whole.files(records.load(folder))


def line(text: str, engine: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| {engine} "))


def test_a_faster_peer_is_told_in_bold(tmp_path: Path) -> None:
    rows = [row("decode", "tercet 0.1.0", 300), row("decode", "rasn 1", 200), row("decode", "pycrate 1", 30_000)]
    text = report(tmp_path, rows)["README.md"]
    assert "Nowhere" not in text
    assert "**Certificates, decode: rasn 200 ns, ours 300 ns** (0.67×)" in text
    assert line(text, "tercet 0.1.0").startswith("| tercet 0.1.0 | **300** |")
    assert line(text, "rasn 1").startswith("| rasn 1 | **200** | 500 | 0.67× |")
    assert "**" not in line(text, "pycrate 1")


def test_generated_code_that_is_first_does_not_hide_an_engine_that_is_not(tmp_path: Path) -> None:
    rows = [row("decode", "tercet 0.1.0", 300), row("decode", "tercet-generated", 100), row("decode", "rasn 1", 200)]
    text = report(tmp_path, rows)["README.md"]
    assert "Nowhere, in what is recorded here." in text
    assert "decode: rasn 200 ns, the engine 300 ns, generated code 100 ns" in text
    assert line(text, "tercet 0.1.0").startswith("| tercet 0.1.0 | **300** |")
    assert line(text, "rasn 1").startswith("| rasn 1 | 200 | 500 | 2.0× |")


def test_counts_have_a_table_of_their_own(tmp_path: Path) -> None:
    ours = row("decode", "tercet-generated", 100, instructions=2274.4, allocations=1.0)
    text = report(tmp_path, [ours, row("decode", "erlang 1", 200)])["README.md"]
    assert "| engine | decode, instructions | decode, allocations | encode, instructions |" in text
    assert "| tercet-generated | 2,274 | 1.0 | – | – |" in text
    assert text.count("| erlang 1 |") == 1


def test_few_records_have_a_table_beside_all(tmp_path: Path) -> None:
    rows = [
        row("decode", "tercet-generated", 300),
        row("decode", "tercet-generated, lists as views", 30),
        row("decode", "rasn 1", 900),
        row("decode-few", "tercet-generated", 200),
        row("decode-few", "rasn 1", 600),
        row("decode-few", "floor, by hand", 100),
    ]
    text = report(tmp_path, rows)["README.md"]
    assert "| Certificates, decode | 300 | 200 | 1.5× | rasn | 900 | 600 | 1.5× |  |  |  |" in text
    assert "300 of them again and again" not in report(tmp_path, rows[:3])["README.md"]


def test_the_floor_is_no_peer_and_has_a_table(tmp_path: Path) -> None:
    rows = [
        row("decode", "tercet-generated", 300, instructions=3000.0),
        row("decode", "tercet-generated-arena", 200, instructions=2250.0),
        row("decode", "floor, by hand", 100, instructions=1500.0),
        row("encode", "tercet-generated", 50),
        row("encode", "floor, by hand", 40),
        row("reuse", "floor, by hand", 80),
    ]
    text = report(tmp_path, rows)["README.md"]
    assert "Nowhere, in what is recorded here." in text
    assert "| Certificates, decode | 300 | 100 | 3.0× | 3,000 | 1,500 | 2.0× | 80.0 |  |" in text
    assert "| Certificates, decode, arena | 200 | 100 | 2.0× | 2,250 | 1,500 | 1.5× | 80.0 |  |" in text
    assert "| Certificates, encode | 50.0 | 40.0 | 1.2× |  |  |  |  |  |" in text
    assert line(text, "floor, by hand").startswith("| floor, by hand | 100 | 1,000 | (0.50×) |")


def test_the_size_of_a_table_is_told_beside_its_time(tmp_path: Path) -> None:
    rows = [
        Row("msc", "parquet", "tercet 1", 110.0, 900, 1000, 1100, records=100_000, written=60.0),
        Row("msc", "parquet", "duckdb 1, copies the table", 110.0, 90, 100, 110, records=100_000, written=30.0),
    ]
    text = report(tmp_path, rows, "convert")["README.md"]
    assert line(text, "MSC call records to parquet | tercet 1").endswith("| 6.00 MB |")
    copied = line(text, "MSC call records to parquet | duckdb 1, copies the table")
    assert "| (0.10×) |" in copied and copied.endswith("| 3.00 MB |")
    # It is no peer: it decodes nothing.
    assert "duckdb" not in text.split("## ")[1]


def test_a_refusal_is_a_line_that_says_why(tmp_path: Path) -> None:
    rows = [
        row("decode", "tercet 0.1.0", 300),
        row("decode", "hampi", 0, note="ParseError: at | line 3"),
        row("decode", "asn1c 1", 100, note="other values: a instead of b"),
        row("decode", "rasn 2, open types as octets", 100),
        row("decode", "tercet-generated, lists as views", 60),
        row("encode", "hampi", 0, note="ParseError: at | line 3"),
    ]
    text = report(tmp_path, rows)["README.md"]
    assert line(text, "hampi").endswith("|  | does not compile the specification |")
    # Other values have no figure; less work has one, in brackets, that counts for nothing.
    assert line(text, "asn1c 1").startswith("| asn1c 1 | – | – | – |")
    assert line(text, "rasn 2, open types as octets").split(" | ")[3] == "(0.33×)"
    assert line(text, "tercet-generated, lists as views").split(" | ")[3] == "(0.20×)"
    assert line(text, "tercet 0.1.0").split(" | ")[3] == "1.00×"
    assert "Nowhere, in what is recorded here." in text


def test_each_kind_of_record_has_its_table(tmp_path: Path) -> None:
    def measured(name: str, work: str, engine: str, median: float, **more: int) -> Row:
        figures = dict(octets=336.0, low=median, median=median, high=median, wall=median, peak=9000, records=1000)
        return Row(name, work, engine, **(figures | more))  # type: ignore[arg-type]

    for work in ("encode", "decode", "mstone"):
        rows = [measured("pretty", work, "tercet 0.1.0", 500, workers=n) for n in (1, 2)]
        report(tmp_path, [*rows, measured("pretty", work, "Erlang/OTP 25", 2000)], "megaco")
    rows = [measured("pretty", work, "tercet 0.1.0", 500) for work in ("encode", "decode")]
    rows += [measured("pretty", work, "Erlang/OTP 25", 2000) for work in ("encode", "decode")]
    rows += [measured("pretty", "mstone", "tercet 0.1.0", 500 / n, workers=n) for n in (1, 2)]
    report(tmp_path, rows, "megaco")
    works = ("discard", "ldif")
    rows = [
        measured("people", work, name, ns) for work in works for name, ns in (("tercet 1", 300), ("go-ldap 3", 900))
    ]
    report(tmp_path, [*rows, measured("people", "discard", "recv", 50)], "ldap")
    report(tmp_path, [measured("msc", "csv", "tercet 1", 300), measured("msc", "csv", "asn1tools", 9000)], "convert")
    made = dict(low=1e6, high=1e6, records=34_000)
    rows = [measured("nbap", "code", "tercet 1", 2e6, **made), measured("nbap", "code", "asn1c", 1e6, **made)]
    report(tmp_path, rows, "compilers")
    report(tmp_path, [measured("msc", "read", "tercet-python 1, values", 300)], "python")
    sizes = [measured("msc", "csv", "tercet 1", 300, records=10**n, workers=w) for n in (3, 5) for w in (1, 2)]
    sizes += [measured("msc", "csv", "tercet 1", 2e4, records=1, workers=w) for w in (1, 2)]
    files = report(tmp_path, sizes, "growth")
    text = files["README.md"]
    assert "No record yet: `bench/run" in text and "No record yet: `bench/captures" in text
    assert text.count("No record yet") == 3
    assert line(text, "pretty text").startswith("| pretty text | 336 | 336 | 0.50 | 2.00 | 4.0× | 0.50 | 2.00 | 4.0× |")
    assert "| pretty text | 2.00 M | 4.00 M | 2.00 |" in text
    assert line(text, "go-ldap 3").startswith("| go-ldap 3 | 373 | 3.0× | 373 | 3.0× |")
    assert "| limit: recv | 6,720 |" in text
    assert "| NBAP, 34.0 KB | code made | tercet 1 | **2.00** | 1.00× | 9.22 MB | 336 B |  |" in text
    assert "- **NBAP, code made: asn1c 1.00 ms, ours 2.00 ms**" in text
    assert "| 336 KB | 1,000 | 300 | 300 | 280 | 280 | 1.00 |" in text
    assert {"megaco.svg", "mstone.svg", "ldap-people.svg", "growth-msc-csv.svg", "overview.svg"} <= set(files)
    for name, svg in files.items():
        if name.endswith(".svg"):
            ElementTree.fromstring(svg)


def test_records_of_any_age_are_read(tmp_path: Path) -> None:
    old = tmp_path / "here" / "2026-01-02.csv"
    old.parent.mkdir()
    old.write_text(
        "input,work,engine,octets,ns_median,ns_min,ns_max,allocations,digest,note\nmsc,decode,tercet 0,1,2,1,3,0.5,d,\n"
    )
    (read,) = records.read(old)
    assert read == Row("msc", "decode", "tercet 0", 1.0, 1.0, 2.0, 3.0, 0.5, "d")


def test_a_row_is_read_as_it_was_written(tmp_path: Path) -> None:
    whole_row = Row("a", "b", "c, d", 1.5, 2.0, 3.0, 4.0, 0.25, "e", 'f "g"', 5.0, 6, 7, 8, 9.5, 10.5)
    path = records.write([whole_row, Row("h", "i", "j", note="no")], "growth", tmp_path)
    assert records.read(path) == [whole_row, Row("h", "i", "j", note="no")]
    # The same input again takes the place of what was there.
    records.write([Row("a", "b", "k")], "growth", tmp_path)
    assert records.read(path) == [Row("h", "i", "j", note="no"), Row("a", "b", "k")]


def test_calls_of_allocators_from_elsewhere_are_allocations() -> None:
    # `realloc` calls `malloc` once, which is one allocation; the names stand where a function is seen first.
    text = """fn=(1) main
cfn=(2) malloc
calls=3 0
+1 30
cfn=(3) realloc
calls=2 0
+1 20
fn=(3)
cfn=(2)
calls=1 0
+1 5
fn=(4) free
cfn=(5) unmap
calls=7 0
+1 1
totals: 1234
"""
    assert counts.read(text) == counts.Counts(1234.0, 5.0)


def test_an_input_is_of_one_record_and_of_the_newest(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    head = "input,work,engine,octets,ns_median,ns_min,ns_max,allocations,digest,note\n"
    (folder / "2026-01-02.csv").write_text(head + "msc,decode,tercet 0,1,2,1,3,,d,\nscp,decode,tercet 0,1,2,1,3,,d,\n")
    (folder / "2026-01-03.csv").write_text(head + "msc,encode,tercet 1,1,2,1,3,,d,\n")
    found = records.newest(records.load(tmp_path), records.CODECS)
    assert [(name, record.date) for name, (record, _) in found.items()] == [
        ("msc", "2026-01-03"),
        ("scp", "2026-01-02"),
    ]
    assert [row.work for row in found["msc"][1]] == ["encode"]


def test_a_kind_is_of_the_machine_that_has_its_newest_record(tmp_path: Path) -> None:
    head = "input,work,engine,octets,ns_median,ns_min,ns_max,allocations,digest,note\n"
    for place, day, kind in (("old", 2, ""), ("old", 2, "-ldap"), ("new", 3, ""), ("newer", 1, "-ldap")):
        path = tmp_path / place / f"2026-01-0{day}{kind}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + "people,decode,tercet 0,1,2,1,3,,d,\n")
    found = records.load(tmp_path)
    assert [record.name for record in found] == ["old/2026-01-02-ldap.csv", "new/2026-01-03.csv"]
    assert "Machine: `new` for codecs; `old` for ldap. Records of" in whole.files(found)["README.md"]


def test_of_two_machines_on_a_day_the_one_with_more_figures_counts(tmp_path: Path) -> None:
    head = "input,work,engine,octets,ns_median,ns_min,ns_max,allocations,digest,note\n"
    for place, count in (("more", 2), ("zero", 1)):
        path = tmp_path / place / "2026-01-02.csv"
        path.parent.mkdir()
        path.write_text(head + "people,decode,tercet 0,1,2,1,3,,d,\n" * count)
    assert [record.machine for record in records.load(tmp_path)] == ["more"]


def test_blocks_are_said_in_markdown_and_in_html() -> None:
    blocks: list[document.Block] = [
        document.Heading(2, "A & B"),
        document.Text("**x** *y* `a<b` [there](y.csv)"),
        document.Table(["name", "ns:"], [["a", "1"]]),
    ]
    assert document.markdown(blocks).endswith("| name | ns |\n|---|---:|\n| a | 1 |\n")
    page = document.page("t", blocks)
    assert '<h2 id="a--b">A &amp; B</h2>' in page
    assert '<p><strong>x</strong> <em>y</em> <code>a&lt;b</code> <a href="y.csv">there</a></p>' in page
    assert '<td>a</td><td class="n">1</td>' in page


def test_spark_is_compared_by_workers(tmp_path: Path) -> None:
    rows = [
        row("spark", "tercet-python 1", 300, workers=1),
        row("spark", "pyspark-asn1 1", 900, workers=1),
        row("spark", "tercet-python 1", 200, workers=2),
        row("spark", "pyspark-asn1 1", 100, workers=2),
        row("read", "tercet-python 1, Arrow table", 10),
        row("read", "tercet-python 1, values", 20),
        row("read", "asn1tools 1", 0, note="fails: CompileError"),
    ]
    text = report(tmp_path, rows, "python")["README.md"]
    assert "**Certificates, Spark to Parquet, 2 workers: pyspark-asn1 1 10.0 M records/s, ours 5.00 M**" in text
    assert "| Certificates, Spark to Parquet, 1 worker | pyspark-asn1 1 | 1.11 M | 111 | 3.0× |" in text
    assert "| Certificates, read | tercet-python 1, values | 50.0 M | 5,000 | 2.0× |" in text
    assert "| Certificates, read | asn1tools 1 | – | – | – | – | does not compile the specification |" in text


def test_captures_are_a_section_of_the_report(tmp_path: Path) -> None:
    def captured(work: str, engine: str, median: float, packets: int = 1000, name: str = "signalling") -> Row:
        figures = dict(octets=100.0, low=median, median=median, high=median, peak=1024, records=packets)
        return Row(name, work, engine, **figures)  # type: ignore[arg-type]

    rows = [
        captured("list", "tercet 0.1.0", 1000),
        captured("list", "tshark 4", 500),
        captured("json", "tercet 0.1.0", 4000),
        captured("json", "tshark 4", 400_000),
        captured("json", "tercet 0.1.0", 4000, 10_000_000, "signalling, long"),
    ]
    files = report(tmp_path, rows, "captures")
    text = files["README.md"]
    assert "4. Packet captures" in text and "captures.svg" in files
    assert "Packet captures, a line for each packet: tshark 4" in text
    assert "100" in line(text, "JSON of decoded messages:")
    assert "10,000,000 packets, 1.0 GB: 1.0 MB (json)" in text or "10,000,000 packets" in text


def test_gateways_are_rows_of_the_report(tmp_path: Path) -> None:
    def spent(work: str, engine: str, best: float) -> Row:
        figures = dict(octets=100.0, low=best, median=2 * best, high=3 * best)
        return Row("compact Notify", work, engine, **figures)  # type: ignore[arg-type]

    rows = [
        *(spent(work, "tercet 0.1.0", 3000) for work in ("gateway", "controller")),
        spent("both", "tercet 0.1.0", 6000),
        *(spent(work, "Erlang/OTP 25 megaco 4.4", 30_000) for work in ("gateway", "controller")),
        spent("both", "Erlang/OTP 25 megaco 4.4", 48_000),
    ]
    text = report(tmp_path, rows, "gateways")["README.md"]
    assert "| compact Notify | 3.00 | 3.00 | 6.00 | 30.00 | 30.00 | 48.00 | 8.0× |" in text
    assert "Below 10 times: compact Notify (8.0×)." in text
    rows[-1] = spent("both", "Erlang/OTP 25 megaco 4.4", 4000)
    text = report(tmp_path, rows, "gateways")["README.md"]
    assert "**Gateways, compact Notify: Erlang/OTP 25 megaco 4.4 4.00 µs, ours 6.00 µs**" in text
    assert "p99" not in text
    rows += [spent("p50 at half load", "tercet 0.1.0", 2e5), spent("p99 at half load", "tercet 0.1.0", 3e6)]
    text = report(tmp_path, rows, "gateways")["README.md"]
    assert "ours ms at half load" in text
    assert line(text, "compact Notify").endswith("| 0.20 | 3.00 |")
