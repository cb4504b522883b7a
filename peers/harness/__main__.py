"""The differential run: see peers/README.md."""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import report, specifications
from .exceptions import Difference, Exceptions
from .peers import PEERS, Peer
from .processes import BUILD, Gone, Process
from .processes import PEERS as FOLDER
from .report import Result
from .specifications import Specification

RULES = ["ber", "der", "cer", "aper", "caper", "uper", "cuper", "oer", "coer", "jer", "xer"]
#: Rules by which a value has one encoding: others' octets have to be ours.
CANONICAL = {"der", "cer", "caper", "cuper", "coer"}
#: Octets from which on a specification gets a tenth of the values.
GIANT = 500_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="peers/run", description="Compares our encodings with those of peers.")
    parser.add_argument("specifications", nargs="*", help="names or patterns (all when none is given)")
    parser.add_argument("--peer", action="append", choices=PEERS, help="only this peer")
    parser.add_argument("--rule", action="append", choices=RULES, help="only this rule")
    parser.add_argument("--values", type=int, default=500, help="values of each specification, a tenth of giants (default 500)")
    parser.add_argument("--types", type=int, default=40, help="types of each specification at most (default 40)")
    parser.add_argument("--each", type=int, default=40, help="values of each type at most (default 40)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same values (default 1)")
    parser.add_argument("--vectors", action="store_true", help="values of the corpora instead of random ones")
    parser.add_argument("--judge", action="store_true", help="hold the last run against exceptions.toml again")
    parser.add_argument("--record", action="store_true", help="keep the result in peers/RECORD.md")
    options = parser.parse_args()
    kept = BUILD / "last-run.pickle"
    if options.judge:
        result = pickle.loads(kept.read_bytes())
    else:
        run = Run(options)
        for spec in specifications.load(options.specifications):
            run.specification(spec)
            kept.write_bytes(pickle.dumps(run.result()))
        result = run.result()
    text, good = report.text(result, Exceptions())
    print(text)
    if options.record:
        (FOLDER / "RECORD.md").write_text(text)
    return 0 if good else 1


class Run:
    """All that is met in one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rules: list[str] = options.rule or RULES
        self.ours = Process([str(BUILD / "tercet" / "release" / "tercet-peers")])
        #: The peers are asked at the same time, ours by one after the other.
        self.turn = threading.Lock()
        self.peers = [Peer(name) for name in options.peer or PEERS]
        self.names: dict[str, str] = {}
        #: (specification, peer, rule) to counts of `checked`, `identical`, `same value`.
        self.counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        #: peer to specifications compared.
        self.compared: dict[str, set[str]] = defaultdict(set)
        #: (peer, specification) to why there is nothing to compare.
        self.refused: dict[tuple[str, str], str] = {}
        #: specification to the number of its types and values.
        self.sizes: dict[str, tuple[int, int]] = {}
        self.differences: list[Difference] = []

    def result(self) -> Result:
        """What a report is made of."""
        source = "values of the corpora" if self.options.vectors else f"random values, seed {self.options.seed}"
        types, values = (sum(size[i] for size in self.sizes.values()) for i in (0, 1))
        title = f"{values:,} {source}, of {types:,} types of {len(self.sizes)} specifications."
        counts = {key: dict(count) for key, count in self.counts.items()}
        differences = sorted(self.differences, key=lambda d: PEERS.index(d.peer) if d.peer in PEERS else -1)
        return Result(title, self.names, self.sizes, counts, dict(self.compared), self.refused, differences)

    def specification(self, spec: Specification) -> None:
        try:
            opened = self._ask({"do": "open", "schema": [str(file) for file in spec.files]}, 120)
            values = self._values(spec, opened)
        except Gone as error:
            self.refused["tercet", spec.name] = str(error)
            return
        if not values:
            return
        self.sizes[spec.name] = len({name for name, _ in values}), len(values)
        print(f"{spec.name}: {len(values)} values of {self.sizes[spec.name][0]} types", file=sys.stderr)
        with ThreadPoolExecutor(len(self.peers)) as pool:
            list(pool.map(lambda peer: self._compare(peer, spec, opened, values), self.peers))

    def _ask(self, request: Any, seconds: float) -> Any:
        answer = self.ours.ask(request, seconds)
        if "error" in answer:
            raise Gone(answer["error"])
        return answer

    def _values(self, spec: Specification, opened: Any) -> list[tuple[str, Any]]:
        """Types and their values in all encodings; which types is a matter of the seed."""
        chance = random.Random(f"{self.options.seed} {spec.name}")
        names = [name for name in opened["names"] if not self.options.vectors or name in spec.values]
        part = 1 if sum(file.stat().st_size for file in spec.files) < GIANT else 10
        types = chance.sample(names, min(len(names), self.options.types))
        if not types:
            return []
        self._ask({"do": "plan", "types": types}, 120)
        share = min(self.options.each, -(-self.options.values // len(types) // part))
        found = []
        for name in types:
            if self.options.vectors:
                given = [{"do": "value", "type": name, "json": value} for value in spec.values[name][:share]]
                answers = [self.ours.ask(request, 60) for request in given]
            else:
                request = {"do": "samples", "type": name, "seed": chance.getrandbits(32), "count": share}
                answers = self._ask(request, 120)["values"]
            for answer in answers:
                if "error" in answer:
                    self._differ("tercet", spec, name, "jer", answer["error"], {})
                    continue
                for rule, error in answer["faults"].items():
                    self._differ("tercet", spec, name, rule, error, answer)
                found.append((name, answer))
        return found

    def _compare(self, peer: Peer, spec: Specification, opened: Any, values: list[tuple[str, Any]]) -> None:
        modules, names = opened["modules"], opened["names"]
        try:
            ready = peer.open(spec, modules, names, self.rules)
        except Gone as error:
            self.refused[peer.name, spec.name] = str(error)
            return
        self.names[peer.name] = ready["name"]
        for rule, why in ready["rules"].items():
            if why:
                self.refused[peer.name, f"{spec.name} {rule}"] = why
        rules = [rule for rule in self.rules if ready["rules"].get(rule) == ""]
        if rules:
            self.compared[peer.name].add(spec.name)
        lost = 0
        for rule in rules:
            for name, value in values:
                if rule not in value["encodings"] or lost > 3:
                    continue
                try:
                    answer = peer.check(name, rule, value)
                except Gone as error:
                    lost += 1
                    self._differ(peer.name, spec, name, rule, f"is gone: {error}", value)
                    peer.close()
                    peer.open(spec, modules, names, self.rules)
                    continue
                self._judge(peer, spec, name, rule, value, answer)
        peer.close()

    def _judge(self, peer: Peer, spec: Specification, name: str, rule: str, value: Any, answer: Any) -> None:
        if "unknown" in answer:  # the peer has no such type
            return
        count = self.counts[spec.name, peer.name, rule]
        count["checked"] += 1
        said = answer["decoded"] or answer["encoded"]
        if said:
            self._differ(peer.name, spec, name, rule, said, value)
        elif answer["octets"] == value["encodings"][rule]:
            count["identical"] += 1
        else:
            base = value["encodings"].get("der", "") if rule in ("jer", "xer") else value["encodings"][rule]
            request = {"do": "same", "type": name, "rule": rule, "hex": answer["octets"], "ours": base}
            with self.turn:
                read = self.ours.ask(request, 60)
            if read.get("same") and rule not in CANONICAL:
                count["same value"] += 1
                return
            why = read.get("error", "the same value" if read.get("same") else "another value")
            self._differ(peer.name, spec, name, rule, f"written otherwise: {why}: {answer['octets']}", value)

    def _differ(self, peer: str, spec: Specification, name: str, rule: str, cause: str, value: Any) -> None:
        octets = value.get("encodings", {}).get(rule, "")
        text = value.get("json", "")[:2000]
        self.differences.append(Difference(peer, spec.name, name, rule, cause[:2000], octets[:4000], text))


if __name__ == "__main__":
    sys.exit(main())
