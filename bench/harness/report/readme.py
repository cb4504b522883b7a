"""What the first page of the repository shows of the report: a picture and a few figures, between two marks."""

from __future__ import annotations

from ..records import Record
from . import overview, whole, words

BEGIN = "<!-- figures of bench/report: `bench/write-report` writes this part -->"
END = "<!-- end of figures -->"


def filled(text: str, records: list[Record]) -> str:
    """The page with the figures of the records between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_figures(records)}\n{END}{after}"


#: Lines of the picture that are said in words, where there are records of them: the first three.
SAID = [
    "MSC call records, decode",
    "LDAP, as LDIF",
    "Employee, aligned, decode",
    "Megaco pretty text, C scanner",
    "TAP 3 batches, decode",
    "SCP call records, decode",
]


def _figures(records: list[Record]) -> str:
    lines = overview.rows(records)
    nearest = {row.label: min(row.peers, key=lambda peer: peer[1]) for row in lines}
    first = sum(ratio >= 1 for _, ratio in nearest.values())
    tasks = f"{len(lines)} tasks of this chart"
    count = f"the {tasks}" if first == len(lines) else f"{first} of the {tasks}"
    said = sorted((row for row in lines if row.label in SAID), key=lambda row: SAID.index(row.label))[:3]
    items = [
        f"- {row.label}: {row.detail}; the nearest peer, {words.short(nearest[row.label][0])}, takes "
        f"{words.times(nearest[row.label][1]).rstrip('×')} times as long"
        for row in said
    ]
    slower = len(whole.behind(records)[0])
    rows = f"the {slower} rows in which a peer wins" if slower != 1 else "the row in which a peer wins"
    where = rows if slower else "the limits of the machine"
    return (
        f"![{overview.ALT}](bench/report/overview.svg)\n\n"
        f"Tercet is the fastest in {count}; [the report](bench/report/README.md) starts with "
        f"{where} and has every peer and the command for each figure.\n\n" + "\n".join(items) + "\n"
    )
