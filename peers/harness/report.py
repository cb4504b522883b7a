"""The result of a run as Markdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from .exceptions import Difference, Exceptions


@dataclass
class Result:
    """All that was met in a run, before it is judged."""

    title: str
    #: Peers with their versions.
    names: dict[str, str]
    #: (peer, rule) to counts of `checked`, `identical`, `same value`.
    counts: dict[tuple[str, str], dict[str, int]]
    #: peer to the specifications that it was compared by.
    compared: dict[str, set[str]]
    #: (peer, specification, and the rule if it is one only) to why there is nothing to compare.
    refused: dict[tuple[str, str], str]
    differences: list[Difference]


def text(result: Result, exceptions: Exceptions) -> tuple[str, bool]:
    """The report, and whether all differences are explained."""
    judged: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    unexplained: list[Difference] = []
    for difference in result.differences:
        explained = exceptions.explains(difference)
        judged[difference.peer, difference.rule]["explained" if explained else "unexplained"] += 1
        if not explained:
            unexplained.append(difference)
    lines = [
        result.title,
        "",
        "| peer | rule | checked | identical | same value | explained | unexplained |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for (peer, rule), count in result.counts.items():
        found = [count.get(key, 0) for key in ("checked", "identical", "same value")]
        found += [judged[peer, rule][key] for key in ("explained", "unexplained")]
        lines.append(f"| {result.names.get(peer, peer)} | {rule} | " + " | ".join(f"{n:,}" for n in found) + " |")
    lines += ["", "| peer | specifications | refused altogether | refused by some rule |", "|---|---:|---:|---:|"]
    for peer in result.names:
        whole = {spec for name, spec in result.refused if name == peer and " " not in spec}
        some = {spec.split(" ")[0] for name, spec in result.refused if name == peer and " " in spec}
        lines.append(f"| {result.names[peer]} | {len(result.compared.get(peer, ()))} | {len(whole)} | {len(some)} |")
    ours = [f"- {spec}: {why}" for (name, spec), why in result.refused.items() if name == "tercet"]
    lines += ["", "Specifications that ours refused:", "", *ours] if ours else []
    explained = [(n, exceptions.entries[index]) for index, n in sorted(exceptions.met.items())]
    if explained:
        lines += ["", "| explained | peer | rules | clause | cause |", "|---:|---|---|---|---|"]
        for n, entry in explained:
            cells = [f"{n:,}", entry["peer"], entry.get("rule", "all"), entry["clause"], entry["why"]]
            lines.append("| " + " | ".join(cells) + " |")
    if unexplained:
        lines += ["", f"{len(unexplained)} unexplained:", ""]
        kinds = Counter((d.peer, d.rule, d.cause[:60], f"{d.spec}:{d.type}") for d in unexplained)
        lines += [f"- {count} x {' '.join(kind)}" for kind, count in kinds.most_common(80)]
    return "\n".join(lines) + "\n", not unexplained
