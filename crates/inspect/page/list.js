// A list of any length, of which only the rows in sight are in the document.

// Browsers clamp the height of an element: beyond this the list is scrolled by shares of its length.
const TALLEST = 12_000_000;
const SPARE = 6;

export class List {
  // `render(index)` makes a row, or returns null while it is not known; `want(from, to)` is told what is in sight.
  constructor(scroller, height, render, want = () => {}) {
    Object.assign(this, { scroller, height, render, want, total: 0, active: -1, rows: new Map() });
    this.runway = document.createElement("div");
    this.runway.className = "runway";
    this.runway.setAttribute("role", "presentation");
    scroller.append(this.runway);
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(scroller);
  }

  setTotal(total) {
    this.total = total;
    const full = total * this.height;
    this.scaled = full > TALLEST;
    this.runway.style.height = `${Math.min(full, TALLEST)}px`;
  }

  // The first row in sight, as a fraction.
  first() {
    const top = this.scroller.scrollTop;
    if (!this.scaled) return top / this.height;
    const visible = this.scroller.clientHeight;
    return (top / Math.max(1, TALLEST - visible)) * Math.max(0, this.total - visible / this.height);
  }

  later() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  // Draws the rows in sight again, all of them or those that are new.
  draw(again = false) {
    const first = this.first();
    const visible = Math.ceil(this.scroller.clientHeight / this.height) + 1;
    const from = Math.max(0, Math.floor(first) - SPARE);
    const to = Math.min(this.total, Math.floor(first) + visible + SPARE);
    const top = this.scaled ? this.scroller.scrollTop - first * this.height : 0;
    for (const [index, row] of this.rows) {
      if (again || index < from || index >= to) { row.remove(); this.rows.delete(index); }
    }
    for (let index = from; index < to; index++) {
      let row = this.rows.get(index);
      if (!row) {
        row = this.render(index);
        if (!row) continue;
        row.id = `${this.scroller.id}-${index}`;
        this.rows.set(index, row);
        // In the order of the list, for those who read the document.
        const next = [...this.rows].filter(([other]) => other > index).sort(([a], [b]) => a - b)[0];
        this.runway.insertBefore(row, next ? next[1] : null);
      }
      row.style.top = `${top + index * this.height}px`;
      row.classList.toggle("active", index === this.active);
    }
    if (this.rows.has(this.active)) this.scroller.setAttribute("aria-activedescendant", `${this.scroller.id}-${this.active}`);
    else this.scroller.removeAttribute("aria-activedescendant");
    this.want(from, to);
  }

  // Brings a row into sight.
  reveal(index, center = false) {
    this.active = index;
    const visible = this.scroller.clientHeight / this.height;
    const first = this.first();
    if (index < first || index + 1 > first + visible) {
      const goal = center ? index - visible / 2 : index < first ? index : index + 1 - visible;
      const at = Math.max(0, goal);
      if (this.scaled) {
        const share = at / Math.max(1, this.total - visible);
        this.scroller.scrollTop = share * (TALLEST - this.scroller.clientHeight);
      } else this.scroller.scrollTop = at * this.height;
    }
    this.draw(true);
  }

  // The row that a key leads to from the active one; null for other keys.
  moved(key) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(key in steps) || this.total === 0) return null;
    return Math.max(0, Math.min(this.total - 1, this.active + steps[key]));
  }
}
