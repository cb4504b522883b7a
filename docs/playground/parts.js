// The table of the parts of an encoding, and where they are in its text.

const MOST_BYTES = 16, MOST_BITS = 40;

// Bytes of hexadecimal text, with the place of each: as the engine reads it.
function octets(text) {
  const found = [], places = [];
  let first = null;
  for (let at = 0; at < text.length; at += 1) {
    if (first === null && text[at] === "0" && /x/i.test(text[at + 1] ?? "")) { at += 1; continue; }
    if (!/[0-9a-f]/i.test(text[at])) continue;
    if (first === null) { first = at; continue; }
    found.push(parseInt(text[first] + text[at], 16));
    places.push([first, at + 1]);
    first = null;
  }
  return { found, places };
}

export class Encoding {
  // `parts` are those of an answer: at, size, part, path, type, meaning, value, clause.
  constructor(text, parts, isText) {
    this.text = text;
    this.isText = isText;
    this.parts = (parts ?? []).map(([at, size, part, path, type, meaning, value, clause]) => ({ at, size, part, path, type, meaning, value, clause }));
    this.octets = isText ? null : octets(text);
    this.hasBits = this.parts.some((it) => (it.at % 8 || it.size % 8) && !isText);
  }

  // `12` for whole bytes, else `12.3`: byte and bit.
  place(part) {
    if (this.isText) return String(part.at);
    return this.hasBits ? `${Math.floor(part.at / 8)}.${part.at % 8}` : String(part.at / 8);
  }

  // The bytes of a part, or its bits if they are not whole bytes.
  spelled(part) {
    const { at, size } = part;
    if (this.isText) return this.text.slice(at, at + size);
    const { found } = this.octets;
    if (at % 8 || size % 8) {
      const bits = Array.from({ length: Math.min(size, MOST_BITS) }, (_, index) => found[(at + index) >> 3] >> (7 - ((at + index) & 7)) & 1);
      return bits.join("") + (size > MOST_BITS ? "…" : "");
    }
    const bytes = found.slice(at / 8, (at + Math.min(size, MOST_BYTES * 8)) / 8);
    return bytes.map((it) => it.toString(16).toUpperCase().padStart(2, "0")).join(" ") + (size > MOST_BYTES * 8 ? " …" : "");
  }

  // The characters that a part, or a bit, is spelled by.
  range(at, size = 1) {
    if (this.isText) return { from: at, to: at + size };
    const { places } = this.octets;
    const [first, last] = [Math.floor(at / 8), Math.ceil((at + size) / 8) - 1].map((it) => Math.min(it, places.length - 1));
    return first < 0 ? { from: 0, to: 0 } : { from: places[first][0], to: places[Math.max(first, last)][1] };
  }

  // The number of the part that a character belongs to; -1 if there is none.
  partAt(character) {
    const at = this.isText ? character : this.octets.places.findIndex(([, to]) => character < to) * 8;
    if (at < 0) return -1;
    return this.parts.findIndex((it) => it.at + it.size > at && it.size > 0);
  }
}

function cell(text, className = "") {
  const element = document.createElement("td");
  element.textContent = text;
  element.className = className;
  return element;
}

// Rows of the table. `chosen` gets the number of a part.
export function rows(encoding, chosen) {
  return encoding.parts.map((part, number) => {
    const row = document.createElement("tr");
    const button = document.createElement("button");
    button.type = "button";
    // Tab leads to one row, arrows to the others.
    button.tabIndex = number === 0 ? 0 : -1;
    button.textContent = encoding.place(part);
    const place = document.createElement("td");
    place.append(button);
    row.append(place, cell(encoding.spelled(part), "mono"), cell(part.part), cell(part.path, "mono"), cell(part.value ?? part.meaning, "mono"), cell(part.clause));
    row.addEventListener("click", () => chosen(number));
    return row;
  });
}
