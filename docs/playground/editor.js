// A text area with marks: a copy of its text below it carries them.

// Of longer texts no copy is made.
const MOST_MARKED = 200_000;

export class Editor {
  constructor(id, changed) {
    this.area = document.getElementById(id);
    this.copy = this.area.previousElementSibling;
    this.area.addEventListener("input", changed);
    this.area.addEventListener("scroll", () => this.#follow());
    new ResizeObserver(() => this.#follow()).observe(this.area);
  }

  get text() { return this.area.value; }

  set text(text) {
    if (this.area.value !== text) this.area.value = text;
    this.mark([]);
  }

  // Shows ranges of characters, each with the name of its class. The first of overlapping ones counts.
  mark(ranges) {
    const text = this.text;
    if (text.length > MOST_MARKED || ranges.length === 0) return this.copy.replaceChildren();
    const pieces = [];
    let at = 0;
    for (const { from, to, kind } of [...ranges].sort((a, b) => a.from - b.from)) {
      if (from < at) continue;
      const mark = document.createElement("mark");
      // An empty range is shown at the character after it.
      const end = Math.max(to, from + 1);
      mark.className = kind;
      mark.textContent = text.slice(from, end);
      pieces.push(text.slice(at, from), mark);
      at = end;
    }
    // A line feed at the end of the copy counts only if something comes after it.
    this.copy.replaceChildren(...pieces, `${text.slice(at)}\n`);
    this.#follow();
  }

  // Goes to a range and selects it.
  select(from, to) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    this.reveal(from);
  }

  // Scrolls to the line of a character, if it does not wrap.
  reveal(at) {
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    const line = this.text.slice(0, at).split("\n").length - 1;
    const top = line * height;
    if (top < this.area.scrollTop || top > this.area.scrollTop + this.area.clientHeight - 2 * height) {
      this.area.scrollTop = Math.max(0, top - this.area.clientHeight / 2);
    }
  }

  #follow() {
    this.copy.scrollTop = this.area.scrollTop;
    this.copy.scrollLeft = this.area.scrollLeft;
  }
}
