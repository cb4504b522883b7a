// The list of records, with what is beside them: fillers, headers, rejects.

import { List } from "./list.js";
import { ask, count, events, grouped, make, on, state, status, tell } from "./state.js";

const CHUNK = 200;
const HEIGHT = 38;
const scroller = document.getElementById("records-list");
const note = document.getElementById("records-note");

let chunks = new Map();
let loading = new Map();
let total = 0;
let complete = false;
let generation = 0;
let timer = 0;

const list = new List(scroller, HEIGHT, render, want);

function known(index) {
  return chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK] ?? null;
}

function render(index) {
  const row = known(index);
  if (!row) return null;
  const isRecord = row.record !== null;
  const summary = row.summary ?? (isRecord ? "" : row.kind);
  const edited = row.edited ? " · changed" : "";
  const element = make("div", {
    class: `row${isRecord ? "" : " beside"}`, role: "option", "aria-setsize": total, "aria-posinset": index + 1,
    "aria-selected": state.row?.row === row.row ? "true" : "false",
    "data-row": row.row, "data-record": row.record,
  },
    make("span", { class: "record-number", text: isRecord ? grouped(row.record) : "–" }),
    make("div", { class: "record-text" },
      make("div", {}, make("strong", { text: row.label ?? "" }), row.label && summary ? "  " : "", summary || (row.label ? "" : `record ${row.record}`)),
      make("div", { class: "second", text: row.frame === undefined ? `at ${grouped(row.offset)} · ${count(row.length, "byte")}${edited}`
        : `frame ${grouped(row.frame)} · ${row.time.slice(11, 26)} · ${row.from} → ${row.to} · ${count(row.length, "byte")}${edited}`, title: row.time })),
    row.problem ? make("span", { class: `badge ${row.problem}`, text: row.problem }) : null);
  element.addEventListener("click", () => open(row));
  return element;
}

function want(from, to) {
  const [first, last] = [Math.floor(from / CHUNK), Math.floor(Math.max(from, to - 1) / CHUNK)];
  // What has been scrolled past is not waited for.
  for (const [chunk, controller] of loading) {
    if (chunk < first - 1 || chunk > last + 1) { controller.abort(); loading.delete(chunk); }
  }
  for (let chunk = first; chunk <= last; chunk++) {
    if (chunk * CHUNK < total && !chunks.has(chunk) && !loading.has(chunk)) load(chunk);
  }
}

async function load(chunk) {
  const [mine, controller] = [generation, new AbortController()];
  loading.set(chunk, controller);
  try {
    const answer = await ask("records", { from: chunk * CHUNK, count: CHUNK, ...state.filter }, controller.signal);
    if (mine !== generation) return;
    progress(answer);
    const isWhole = answer.rows.length === CHUNK || answer.complete;
    if (isWhole || answer.rows.length) chunks.set(chunk, answer.rows);
    if (chunks.size > 64) for (const old of [...chunks.keys()].slice(0, 16)) if (old !== chunk) chunks.delete(old);
    list.draw(true);
    return answer;
  } catch (error) {
    if (error.name === "AbortError") return;
    if (isFiltered()) refuse(error.message);
    else status(error.message);
  } finally {
    if (mine === generation && loading.get(chunk) === controller) loading.delete(chunk);
  }
}

function progress(answer) {
  const grown = answer.total !== total;
  total = answer.total;
  complete = answer.complete;
  if (grown) {
    // The last chunk may have been read before it was whole.
    for (const [chunk, rows] of chunks) if (rows.length < CHUNK) chunks.delete(chunk);
    list.setTotal(total);
  }
  const framing = answer.framing && answer.framing !== "plain" ? ` · ${answer.framing}` : "";
  const kept = answer.searched === undefined ? "" : `${grouped(total)} of `;
  note.textContent = `${kept}${grouped(answer.records)}${complete ? "" : " so far"}${framing}`;
  note.title = note.textContent;
  if (answer.problem) status(answer.problem);
  if (grown) list.later();
  clearTimeout(timer);
  if (!complete) timer = setTimeout(poll, 250);
}

async function poll() {
  const mine = generation;
  try {
    const answer = await ask("records", { from: total, count: 0, ...state.filter });
    if (mine === generation) progress(answer);
  } catch (error) { status(error.message); }
}

function isFiltered() { return Object.keys(state.filter).length > 0; }

function clear() {
  generation++;
  for (const controller of loading.values()) controller.abort();
  [chunks, loading, total, complete] = [new Map(), new Map(), 0, false];
  list.setTotal(0);
  list.active = -1;
  list.draw(true);
}

// Shows what is wrong with a filter.
function refuse(text) {
  const error = document.getElementById("filter-error");
  error.hidden = !text;
  error.textContent = text;
  document.getElementById("where").setAttribute("aria-invalid", text ? "true" : "false");
}

// Reads the list again for another filter; the record that is open stays if the filter keeps it.
export async function refilter() {
  refuse("");
  clear();
  const answer = await load(0);
  if (!answer) return;
  if (!answer.total && answer.complete) status("no record is kept by the filter");
  else status("");
  if (state.row) await place(state.row.row);
  tell("filtered");
}

// Brings a row into sight, if the list has it.
async function place(row) {
  if (!isFiltered()) { list.reveal(row, true); return; }
  const mine = generation;
  const { position } = await ask("position", { row, ...state.filter });
  if (mine === generation && position < total) list.reveal(position, true);
}

// Reads the rows in sight again, after a change.
export async function refresh() {
  if (isFiltered()) { await refilter(); return; }
  chunks = new Map();
  list.draw(true);
}

// Opens the record after or before in the list.
export async function step(by) {
  if (!state.row) return;
  if (!isFiltered()) {
    const row = state.row.row + by;
    if (row >= 0 && row < total) await goTo({ row });
    return;
  }
  const { position } = await ask("position", { row: state.row.row, ...state.filter });
  const at = known(position)?.row === state.row.row || by < 0 ? position + by : position;
  await openAt(at);
}

async function openAt(index) {
  if (index < 0 || index >= total) return;
  if (!known(index)) await load(Math.floor(index / CHUNK));
  const row = known(index);
  if (row) await open(row);
}

// Reads the list of the file again; opens a record of it.
export async function restart(goal = {}) {
  clear();
  refuse("");
  state.row = null;
  const answer = await load(0);
  if (!answer) return;
  if (!answer.total && !isFiltered()) { tell("nothing", answer.problem ?? "there are no bytes"); return; }
  const asked = goal.row !== null && goal.row !== undefined ? { row: goal.row }
    : goal.record !== null && goal.record !== undefined ? { record: goal.record } : null;
  const first = answer.rows[0] ? { row: answer.rows[0].row } : { row: 0 };
  await goTo(asked ?? (answer.records && !isFiltered() ? { record: 0 } : first), goal.path);
}

// Opens the row with a number, the record with a number, or the row that holds a byte.
export async function goTo(asked, path = null) {
  const mine = generation;
  try {
    const message = await ask("message", asked);
    if (mine !== generation) return;
    show(message, path);
  } catch (error) {
    status(error.message);
    tell("nothing", error.message);
  }
}

function show(message, path) {
  state.row = message;
  state.message = message;
  if (isFiltered()) { list.draw(true); place(message.row).catch((error) => status(error.message)); }
  else list.reveal(message.row, true);
  tell("message", { path });
}

function open(row, path = null) {
  return goTo({ row: row.row }, path);
}

export async function nextProblem(direction) {
  if (!state.row) return;
  const answer = await ask("problem", { row: state.row.row, direction });
  if (answer.row) await goTo({ row: answer.row.row });
  else status(direction === "back" ? "no problem in the records before" : "no problem in the records after");
  return answer.row;
}

scroller.addEventListener("keydown", (event) => {
  const index = event.key === "Enter" || event.key === " " ? list.active : list.moved(event.key);
  if (index === null || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  openAt(index);
});

export { list as recordList, events, on };
