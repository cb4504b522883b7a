"""Pictures as SVG, written by hand: numbers have one decimal, so that the same figures always give the same octets.

A picture stands on a card of its own, light or dark as the reader's system says, so that it is readable on any page.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field

from . import words

WIDTH = 880

FONTS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

#: Colours by language: those of Okabe and Ito, which colour-blind readers can tell apart.
COLOURS = {
    "Rust": ("#d55e00", "#f08a4b"),
    "C": ("#0072b2", "#4ea8de"),
    "Java": ("#b5528b", "#dd8fbf"),
    "Erlang": ("#a4161a", "#f07178"),
    "Go": ("#3a9bc4", "#7fd0f0"),
    "Perl": ("#5a7d2a", "#a3c76d"),
    "OCaml": ("#7a5c3e", "#c9a27e"),
    "Python": ("#c98a00", "#f2c14e"),
    "other": ("#6e7781", "#8b949e"),
}

#: Class, light, dark.
INKS = [
    ("card", "#ffffff", "#0d1117"),
    ("ink", "#1f2328", "#e6edf3"),
    ("soft", "#59636e", "#9198a1"),
    ("ours", "#0a7e8c", "#2bb3c0"),
    ("lead", "#0a7e8c", "#2bb3c0"),
    ("behind", "#cf222e", "#ff7b72"),
]

LIGHT = (
    ".lead{fill-opacity:.85}.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}.card{stroke:#d1d9e0}"
    ".grid{stroke:#d8dee4}.axis{stroke:#59636e}.dot{stroke:#ffffff;stroke-width:1.2}"
)
DARK = ".card{stroke:#30363d}.grid{stroke:#262c36}.axis{stroke:#9198a1}.dot{stroke:#0d1117}"


@dataclass
class Lead:
    """One work: how many times as long each peer takes."""

    label: str
    detail: str
    #: Engine and ratio.
    peers: list[tuple[str, float]]


@dataclass
class Series:
    """A line."""

    name: str
    points: list[tuple[float, float]]
    #: The place of its colour in the list of inks; ours first.
    colour: str = "ours"
    dashed: bool = False


@dataclass
class Canvas:
    """The elements of a picture, and what it is called."""

    title: str
    height: float
    elements: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, kind: str = "ink", size: float = 13, anchor: str = "start",
             weight: int = 400) -> None:  # fmt: skip
        heavy = f' font-weight="{weight}"' if weight != 400 else ""
        where = f' text-anchor="{anchor}"' if anchor != "start" else ""
        style = f'font-size="{size:g}"{where}{heavy}'
        self.elements.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" {style}>{html.escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "grid", width: float = 1) -> None:
        self.elements.append(
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width:g}"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.elements.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"/>'
        )

    def dot(self, x: float, y: float, kind: str, tip: str = "", radius: float = 4.5) -> None:
        told = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.elements.append(f'<circle class="{kind} dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">{told}</circle>')

    def svg(self) -> str:
        inks = [*INKS, *((f"l-{name.lower()}", *pair) for name, pair in COLOURS.items())]
        light = "".join(f".{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}" for name, colour, _ in inks)
        dark = "".join(f".{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}" for name, _, colour in inks)
        style = f"{light}{LIGHT}@media(prefers-color-scheme:dark){{{dark}{DARK}}}"
        body = "\n".join(self.elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:.0f}" width="{WIDTH}" '
            f'height="{self.height:.0f}" font-family="{FONTS}">\n'
            f"<title>{html.escape(self.title)}</title>\n<style>{style}</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1:.0f}" rx="8"/>\n'
            f"{body}\n</svg>\n"
        )


LEFT, RIGHT, ROW = 332.0, 716.0, 26.0


def leads(title: str, subtitle: str, rows: list[Lead], source: str) -> str:
    """How many times as long peers take, on a logarithmic scale with ours at 1: a bar to the nearest, dots for all."""
    ratios = [ratio for row in rows for _, ratio in row.peers]
    low = min(1.0, *(0.94 * ratio for ratio in ratios))
    high = max(10.0, *(1.15 * ratio for ratio in ratios))
    top = 118.0
    canvas = Canvas(title, top + ROW * len(rows) + 58)

    def x(ratio: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(ratio / low) / math.log(high / low)

    canvas.text(24, 36, title, size=18, weight=650)
    canvas.text(24, 57, subtitle, "soft", 12.5)
    _legend(canvas, 24, 80, [engine for row in rows for engine, _ in row.peers])
    bottom = top + ROW * len(rows)
    for tick in _ticks(low, high):
        canvas.line(x(tick), top - 4, x(tick), bottom, "axis" if tick == 1 else "grid")
        canvas.text(x(tick), top - 10, f"{tick:g}×", "soft", 11, "middle")
    canvas.text(x(1), bottom + 16, "Tercet", "ours", 11.5, "middle", 650)
    for i, row in enumerate(rows):
        y = top + ROW * i + ROW / 2
        canvas.text(24, y + 4.3, row.label, size=12.5, weight=550)
        canvas.text(LEFT - 14, y + 4.3, row.detail, "soft", 12, "end")
        engine, nearest = min(row.peers, key=lambda peer: peer[1])
        kind = "lead" if nearest >= 1 else "behind"
        canvas.bar(min(x(1), x(nearest)), y - 6, abs(x(nearest) - x(1)), 12, kind)
        for other, ratio in sorted(row.peers, key=lambda peer: -peer[1]):
            canvas.dot(x(ratio), y, f"l-{words.language(other).lower()}", f"{other}: {words.times(ratio)}")
        canvas.text(RIGHT + 14, y + 4.3, words.times(nearest), "ink" if nearest >= 1 else "behind", 13, weight=650)
        canvas.text(RIGHT + 68, y + 4.3, words.short(engine).removesuffix(" megaco").removesuffix(" asn1"), "soft", 12)
    canvas.text(24, bottom + 40, source, "soft", 11)
    return canvas.svg()


def _legend(canvas: Canvas, x: float, y: float, engines: list[str]) -> None:
    names: dict[str, list[str]] = {}
    for engine in engines:
        known = names.setdefault(words.language(engine), [])
        if words.short(engine) not in known:
            known.append(words.short(engine))
    for language in (name for name in COLOURS if name in names):
        canvas.dot(x + 5, y - 4, f"l-{language.lower()}", ", ".join(names[language]))
        canvas.text(x + 14, y, language, "soft", 12)
        x += 30 + 7.2 * len(language)


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, and what is between them where there are few."""
    steps = [1.0] if high / low > 300 else [1.0, 3.0] if high / low > 40 else [1.0, 2.0, 5.0]
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**e for e in exponents for step in steps if low <= step * 10.0**e <= high]


def curves(
    title: str, subtitle: str, series: list[Series], axes: tuple[str, str], source: str, log: bool = False
) -> str:
    """Lines over an axis; the other axis begins at zero."""
    canvas = Canvas(title, 400)
    left, right, top, bottom = 84.0, 690.0, 92.0, 320.0
    xs = sorted({x for line in series for x, _ in line.points})
    most = _round_up(max(y for line in series for _, y in line.points))

    def place(x: float) -> float:
        if len(xs) == 1:
            return (left + right) / 2
        if log:
            return left + (right - left) * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
        return left + (right - left) * (x - xs[0]) / (xs[-1] - xs[0])

    def height(y: float) -> float:
        return bottom - (bottom - top) * y / most

    canvas.text(24, 36, title, size=18, weight=650)
    canvas.text(24, 57, subtitle, "soft", 12.5)
    for part in range(5):
        y = most * part / 4
        canvas.line(left, height(y), right, height(y), "axis" if part == 0 else "grid")
        canvas.text(left - 8, height(y) + 4, words.rate(y) if y else "0", "soft", 11, "end")
    for value in xs:
        canvas.text(place(value), bottom + 18, _size(value) if log else f"{value:g}", "soft", 11, "middle")
    canvas.text((left + right) / 2, bottom + 38, axes[0], "soft", 12, "middle")
    canvas.text(24, 80, axes[1], "soft", 12)
    ends: list[float] = []
    for line in sorted(series, key=lambda line: -line.points[-1][1]):
        path = " ".join(f"{place(x):.1f},{height(y):.1f}" for x, y in line.points)
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        canvas.elements.append(f'<polyline class="curve s-{line.colour}" points="{path}"{dash}/>')
        for x, y in line.points:
            canvas.dot(place(x), height(y), line.colour, f"{line.name}: {words.rate(y)}", 3.6)
        # Names keep a line's distance from each other.
        at = max([height(line.points[-1][1]), *(end + 15 for end in ends[-1:])])
        ends.append(at)
        canvas.text(right + 14, at + 4, line.name, line.colour, 12, weight=600 if line.colour == "ours" else 400)
    canvas.text(24, 384, source, "soft", 11)
    return canvas.svg()


def _size(octets: float) -> str:
    """A size with two digits."""
    unit, name = max(pair for pair in ((1e3, "KB"), (1e6, "MB"), (1e9, "GB")) if pair[0] <= max(octets, 1e3))
    return f"{float(f'{octets / unit:.2g}'):g} {name}"


def _round_up(value: float) -> float:
    """A round number that is not less, and divides by four."""
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * step for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if unit * step >= value)
