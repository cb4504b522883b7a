// Bytes: hexadecimal, text or bits, each coloured by the part of the encoding that it belongs to.

import { List } from "./list.js";
import { isWithin, node, nodeAt } from "./value.js";
import { ask, count, make, on, state, status, tell } from "./state.js";

const CHUNK = 4096;
const scroller = document.getElementById("octets-grid");
const note = document.getElementById("octets-note");
const legend = document.getElementById("legend");
const WIDTHS = { hex: 16, text: 64, bits: 6 };
const NAMES = {
  identifier: "identifier", tag: "tag", length: "length", quantity: "quantity", "extension-bit": "extension bit",
  preamble: "presence bits", index: "index", bitmap: "bitmap", contents: "contents", padding: "padding",
  "end-padding": "end padding", "end-of-contents": "end of contents", name: "name", "start-tag": "start tag",
  "end-tag": "end tag", delimiter: "delimiter", unread: "not read",
};

let mode = "hex";
let chosen = false;
let width = 16;
let chunks = new Map();
let loading = new Set();
let cursor = 0;
let generation = 0;

const list = new List(scroller, 22, render, want);

function base() { return state.message?.offset ?? 0; }
function length() { return state.message?.length ?? 0; }

function layout() {
  const room = Math.max(120, scroller.clientWidth - 100);
  const [most, each] = mode === "hex" ? [16, 31.4] : mode === "text" ? [128, 11] : [8, 85];
  const fit = Math.floor(room / each);
  width = mode === "hex" ? (fit >= 16 ? 16 : fit >= 8 ? 8 : 4) : Math.max(1, Math.min(most, fit));
  if (mode === "text") width = Math.max(8, width - (width % 8));
  scroller.classList.toggle("text", mode === "text");
  scroller.setAttribute("aria-rowcount", Math.ceil(length() / width));
  scroller.setAttribute("aria-colcount", width + 1);
  list.setTotal(Math.ceil(length() / width));
  list.active = Math.floor(cursor / width);
}

// The byte at a position in the value: its number, and the parts that its bits belong to.
function byteAt(at) {
  const chunk = chunks.get(Math.floor(at / CHUNK));
  if (!chunk) return null;
  return { value: chunk.bytes[at % CHUNK], parts: chunk.owners[at % CHUNK].map((index) => chunk.parts[index]) };
}

function want(from, to) {
  const [first, last] = [Math.floor((from * width) / CHUNK), Math.floor(Math.max(0, Math.min(length(), to * width) - 1) / CHUNK)];
  for (let chunk = first; chunk <= last; chunk++) if (length() && !chunks.has(chunk) && !loading.has(chunk)) load(chunk);
}

async function load(chunk) {
  const mine = generation;
  loading.add(chunk);
  try {
    const answer = await ask("octets", { row: state.row.row, from: chunk * CHUNK, count: CHUNK });
    if (mine !== generation) return;
    const bytes = Uint8Array.from(answer.hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
    const owners = Array.from(bytes, () => []);
    const start = (base() + chunk * CHUNK) * 8;
    answer.parts.forEach(([bit, bits], index) => {
      const to = Math.min(bytes.length - 1, Math.floor((bit + bits - 1 - start) / 8));
      for (let at = Math.max(0, Math.floor((bit - start) / 8)); at <= to; at++) owners[at].push(index);
    });
    chunks.set(chunk, { bytes, owners, parts: answer.parts });
    if (chunks.size > 64) chunks.delete(chunks.keys().next().value);
    list.draw(true);
    drawLegend();
  } catch (error) {
    status(error.message);
  } finally {
    loading.delete(chunk);
  }
}

function holds(part, outer) {
  return outer !== null && part !== undefined && isWithinKnown(part[3], outer);
}

// Nodes that have not been asked for are compared by their bits.
function isWithinKnown(id, outer) {
  if (id === outer) return true;
  if (node(id)) return isWithin(id, outer);
  const it = node(outer);
  return it !== undefined && it.children > 0 && id > outer && it.bit !== undefined && lastOf(outer) >= id;
}

function lastOf(outer) {
  const it = node(outer);
  const siblings = node(it.parent)?.kids ?? [];
  const next = siblings[siblings.indexOf(outer) + 1];
  if (next !== undefined) return next - 1;
  return it.parent === null ? Infinity : lastOf(it.parent);
}

function classes(part) {
  if (!part) return "";
  const found = [`p-${part[2]}`];
  if (selectsPart(part)) found.push("in-select");
  if (state.hover !== null && holds(part, state.hover)) found.push("in-hover");
  return found.join(" ");
}

// The part with most bits of a byte.
function main(parts, at) {
  const share = ([bit, bits]) => Math.min(bit + bits, (at + 1) * 8) - Math.max(bit, at * 8);
  return parts.reduce((best, part) => (!best || share(part) > share(best) ? part : best), null);
}

function render(index) {
  const from = index * width;
  const row = make("div", { class: "row", role: "row", "aria-rowindex": index + 1 },
    make("span", { class: "offset", role: "rowheader", text: (base() + from).toString(16).toUpperCase().padStart(6, "0") }));
  const chars = make("span", { class: "chars", "aria-hidden": "true" });
  for (let at = from; at < Math.min(from + width, length()); at++) {
    const byte = byteAt(at);
    if (!byte) return null;
    row.append(cell(at, byte, at - from));
    if (mode === "hex") chars.append(make("span", { class: `char ${selects(byte) ? "in-select" : ""}`, text: character(byte.value), "data-at": at }));
  }
  if (mode === "hex") {
    for (let at = length(); at < from + width; at++) row.append(make("span", { class: `cell blank${(at - from) % 8 === 7 ? " gap" : ""}` }));
    row.append(chars);
  }
  return row;
}

function selects(byte) { return byte.parts.some(selectsPart); }

// All bytes are of the whole value: nothing is marked then.
function selectsPart(part) { return state.node !== 0 && holds(part, state.node); }

function character(value) { return value >= 0x20 && value < 0x7f ? String.fromCharCode(value) : "·"; }

function cell(at, byte, column) {
  const absolute = base() + at;
  const { value, parts } = byte;
  const hex = value.toString(16).toUpperCase().padStart(2, "0");
  const shown = mode === "bits" ? value.toString(2).padStart(8, "0") : mode === "text" ? `${character(value)} ${hex}` : hex;
  const of = main(parts, absolute);
  const words = parts.map((part) => NAMES[part[2]] ?? part[2]).join(", ");
  const element = make("span", {
    class: "cell", role: "gridcell", "data-offset": absolute, "aria-colindex": column + 2,
    "aria-selected": selects(byte) ? "true" : "false",
    "aria-label": `${shown}, byte ${absolute}${words ? `, ${words}` : ""}`, "data-at": at,
  });
  if (at === cursor) element.classList.add("cursor");
  if (mode === "bits") {
    element.classList.add("byte");
    for (let bit = 0; bit < 8; bit++) {
      const number = absolute * 8 + bit;
      const part = parts.find(([begin, bits]) => number >= begin && number < begin + bits);
      const isFirst = part && part[0] === number && bit > 0;
      element.append(make("span", { class: `bit ${classes(part)}${isFirst ? " first" : ""}`, "data-bit": number, text: String((value >> (7 - bit)) & 1) }));
    }
    return element;
  }
  element.className += ` ${classes(of)}`;
  if (mode === "hex" && column % 8 === 7) element.classList.add("gap");
  element.textContent = mode === "hex" ? hex : character(value);
  // Bits of several values in one byte: the selected ones have their share of its width.
  if (parts.length > 1 && selects(byte)) {
    element.classList.remove("in-select");
    const stops = parts.flatMap((part) => {
      const [a, b] = [Math.max(0, part[0] - absolute * 8), Math.min(8, part[0] + part[1] - absolute * 8)];
      const colour = holds(part, state.node) ? "var(--tint)" : "transparent";
      return [`${colour} ${a * 12.5}%`, `${colour} ${b * 12.5}%`];
    });
    element.style.backgroundImage = `linear-gradient(90deg, ${stops.join(", ")})`;
  }
  return element;
}

function drawLegend() {
  const seen = new Set();
  for (const chunk of chunks.values()) for (const part of chunk.parts) seen.add(part[2]);
  legend.replaceChildren(...Object.keys(NAMES).filter((name) => seen.has(name)).map((name) => make("span", { class: `p-${name}`, text: NAMES[name] })));
}

async function select(at, bit = null) {
  cursor = at;
  const byte = byteAt(at);
  const number = bit ?? (base() + at) * 8;
  const part = byte && (bit === null ? main(byte.parts, base() + at) : byte.parts.find(([begin, bits]) => number >= begin && number < begin + bits));
  if (part) tell("select", { node: part[3], from: "octets", part });
  else {
    const found = await nodeAt({ bit: number }).catch(() => null);
    if (found !== null) tell("select", { node: found, from: "octets" });
  }
}

function setMode(next) {
  mode = next;
  for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  layout();
  list.reveal(Math.floor(cursor / width), true);
}

on("message", () => {
  generation++;
  [chunks, loading, cursor] = [new Map(), new Set(), 0];
  note.textContent = `${count(length(), "byte")} at offset ${base()}`;
  legend.replaceChildren();
  if (!chosen) setMode(state.message.hasBits ? "bits" : state.message.isText ? "text" : "hex");
  layout();
  scroller.scrollTop = 0;
  list.draw(true);
});

on("select", ({ from }) => {
  const it = node(state.node);
  if (from !== "octets" && it?.bit !== undefined) {
    cursor = Math.floor(it.bit / 8) - base();
    list.reveal(Math.floor(cursor / width));
  } else {
    list.active = Math.floor(cursor / width);
    list.draw(true);
  }
  // The cell is what is active in a row.
  const active = scroller.querySelector(".cell.cursor");
  if (active) { active.id = "octet-cursor"; scroller.setAttribute("aria-activedescendant", "octet-cursor"); }
});
on("hover", () => list.draw(true));

scroller.addEventListener("click", (event) => {
  const at = event.target.closest("[data-at]")?.dataset.at;
  const bit = event.target.dataset.bit;
  if (at !== undefined) select(Number(at), bit === undefined ? null : Number(bit));
});
let hovered = null;
scroller.addEventListener("mousemove", (event) => {
  const at = event.target.closest?.("[data-at]")?.dataset.at;
  const bit = event.target.dataset?.bit;
  const key = bit ?? at ?? null;
  if (key === hovered) return;
  hovered = key;
  const byte = at === undefined ? null : byteAt(Number(at));
  const part = byte && (bit === undefined ? main(byte.parts, base() + Number(at)) : byte.parts.find(([begin, bits]) => Number(bit) >= begin && Number(bit) < begin + bits));
  tell("hover", part ? part[3] : null);
});
scroller.addEventListener("mouseleave", () => { hovered = null; tell("hover", null); });
scroller.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const page = width * Math.max(1, Math.floor(scroller.clientHeight / 22) - 1);
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const goal = Math.max(0, Math.min(length() - 1, cursor + steps[event.key]));
  cursor = goal;
  list.reveal(Math.floor(goal / width));
  select(goal);
});
for (const button of document.querySelectorAll("[data-mode]")) {
  button.addEventListener("click", () => { chosen = true; setMode(button.dataset.mode); });
}
new ResizeObserver(() => { const before = width; layout(); if (before !== width) list.reveal(Math.floor(cursor / width), true); }).observe(scroller);

export function goToByte(offset) {
  cursor = Math.max(0, Math.min(length() - 1, offset - base()));
  list.reveal(Math.floor(cursor / width), true);
  select(cursor);
}
