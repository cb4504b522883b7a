// The text of the specification, with the lines that define what is selected.

import { List } from "./list.js";
import { ask, make, on, state, status, tell } from "./state.js";

const CHUNK = 400;
const scroller = document.getElementById("schema-lines");
const select = document.getElementById("text");

let text = 0;
let chunks = new Map();
let loading = new Set();
let defined = null;

const list = new List(scroller, 19, render, want);

function render(index) {
  const line = chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
  if (!line) return null;
  const isDefined = defined && defined.text === text && index >= defined.line && index < defined.line + defined.lines;
  const row = make("div", {
    class: `row${isDefined ? " defined" : ""}${isDefined && index === defined.line ? " first" : ""}`, role: "option",
    "aria-selected": "false", "aria-current": isDefined ? "true" : null, "aria-setsize": list.total, "aria-posinset": index + 1, "data-line": index + 1,
  }, make("span", { class: "line-number", text: index + 1 }),
    ...line.map(([kind, piece]) => (kind ? make("span", { class: `c-${kind}`, text: piece }) : piece)));
  row.addEventListener("click", () => { list.active = index; valueOf(index); });
  return row;
}

function want(from, to) {
  if (!list.total) return;
  for (let chunk = Math.floor(from / CHUNK); chunk <= Math.floor(Math.max(from, to - 1) / CHUNK); chunk++) {
    if (chunk * CHUNK < list.total && !chunks.has(chunk) && !loading.has(chunk)) load(chunk);
  }
}

async function load(chunk) {
  const mine = text;
  loading.add(chunk);
  try {
    const answer = await ask("schema", { text: mine, from: chunk * CHUNK, count: CHUNK });
    if (mine !== text) return;
    chunks.set(chunk, answer.lines);
    list.draw(true);
  } catch (error) {
    status(error.message);
  } finally {
    loading.delete(chunk);
  }
}

// Selects what a line defines in the value that is open.
async function valueOf(line) {
  list.draw(true);
  if (!state.row) return;
  try {
    const { nodes } = await ask("line", { row: state.row.row, text, line });
    if (!nodes.length) { status("nothing in this value is defined on that line"); return; }
    const at = nodes.indexOf(state.node);
    status(nodes.length > 1 ? `${nodes.length} values are defined here; click again for the next` : "");
    tell("select", { node: nodes[(at + 1) % nodes.length], from: "schema" });
  } catch (error) { status(error.message); }
}

function show(number) {
  text = number;
  [chunks, loading] = [new Map(), new Set()];
  select.value = String(number);
  list.setTotal(state.about.specifications[number].lines);
  list.draw(true);
}

export function start() {
  const texts = state.about.specifications;
  document.getElementById("panes").classList.toggle("no-schema", !texts?.length);
  if (!texts?.length) return;
  select.replaceChildren(...texts.map((it, index) => make("option", { value: index, text: it.name.split("/").at(-1), title: it.name })));
  select.hidden = texts.length < 2;
  select.parentElement.append(texts.length < 2 ? texts[0].name.split("/").at(-1) : "");
  select.addEventListener("change", () => show(Number(select.value)));
  show(0);
}

on("explained", ({ location, from }) => {
  defined = location ?? null;
  if (!defined || !state.about.specifications?.length) { list.draw(true); return; }
  if (defined.text !== text) show(defined.text);
  if (from === "schema") list.draw(true);
  else list.reveal(defined.line, true);
});

scroller.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Enter" && list.active >= 0) { event.preventDefault(); valueOf(list.active); return; }
  const moved = list.moved(event.key);
  if (moved === null) return;
  event.preventDefault();
  list.reveal(moved);
});
