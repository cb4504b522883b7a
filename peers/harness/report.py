"""The result of a run as Markdown."""

from __future__ import annotations

from collections import Counter
from typing import Any


def text(run: Any, options: Any) -> str:
    source = "values of the corpora" if options.vectors else f"random values, seed {options.seed}"
    lines = [
        f"{run.values} {source}, of {run.specs} specifications.",
        "",
        "| peer | rule | checked | identical | same value | explained | unexplained |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for (peer, rule), count in run.counts.items():
        cells = [str(count[key]) for key in ("checked", "identical", "same value", "explained", "unexplained")]
        lines.append(f"| {run.names.get(peer, peer)} | {rule} | " + " | ".join(cells) + " |")
    lines += ["", "| peer | specifications | refused, or by some rule |", "|---|---:|---:|"]
    for peer in run.compared:
        refused = len({spec.split(" ")[0] for name, spec in run.refused if name == peer})
        lines.append(f"| {run.names.get(peer, peer)} | {len(run.compared[peer])} | {refused} |")
    if run.unexplained:
        lines += ["", "Unexplained:", ""]
        kinds = Counter((d.peer, d.spec, d.type, d.rule, d.cause[:90]) for d in run.unexplained)
        lines += [f"- {count} x {' '.join(kind)}" for kind, count in kinds.most_common(60)]
    return "\n".join(lines) + "\n"
