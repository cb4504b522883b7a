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
    #: specification to the number of its types and values.
    sizes: dict[str, tuple[int, int]]
    #: (specification, peer, rule) to counts of `checked`, `identical`, `same value`.
    counts: dict[tuple[str, str, str], dict[str, int]]
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
    total: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (_, peer, rule), count in result.counts.items():
        total[peer, rule].update(count)
    order = {name: place for place, name in enumerate(sorted(result.names))}
    for (peer, rule), count in sorted(total.items(), key=lambda item: order[item[0][0]]):
        found = [count.get(key, 0) for key in ("checked", "identical", "same value")]
        found += [judged[peer, rule][key] for key in ("explained", "unexplained")]
        lines.append(f"| {result.names.get(peer, peer)} | {rule} | " + " | ".join(f"{n:,}" for n in found) + " |")
    lines += ["", *_by_specification(result, unexplained)]
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


def _by_specification(result: Result, unexplained: list[Difference]) -> list[str]:
    """How many values each peer was given by how many rules, of each specification."""
    peers = sorted(result.names)
    lines = ["| specification | types | values | " + " | ".join(peers) + " | unexplained |"]
    lines.append("|---|" + "---:|" * (len(peers) + 3))
    left = Counter(difference.spec for difference in unexplained)
    for spec, (types, values) in result.sizes.items():
        cells = []
        for peer in peers:
            checked = [count["checked"] for (s, p, _), count in result.counts.items() if (s, p) == (spec, peer)]
            cells.append(f"{sum(checked):,} by {len(checked)}" if checked else "refused")
        lines.append(f"| {spec} | {types} | {values} | " + " | ".join(cells) + f" | {left[spec]} |")
    return lines
