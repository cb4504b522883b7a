// The page: what stands above the panes, keys, and what joins the panes.

import { compare, compareDialog } from "./compare.js";
import { editDialog, saveDialog, undo } from "./edit.js";
import { goTo, nextProblem, refilter, restart, step } from "./records.js";
import { node, nodeAt, openAll, pathOf, reveal } from "./value.js";
import { goToByte } from "./octets.js";
import { start as startSchema } from "./schema.js";
import "./explain.js";
import { ask, count, grouped, isOwnFragment, make, on, paste, readFragment, state, status, tell, writeFragment } from "./state.js";

const element = (id) => document.getElementById(id);
const dialog = element("dialog");

// Whether the selected problem has been shown.
let atProblem = false;

// Theme: by the system, or by choice.
const system = matchMedia("(prefers-color-scheme: dark)");
function theme() {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* no storage: by the system */ }
  document.documentElement.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
}
function turnTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", next); } catch { /* stays for this page */ }
  document.documentElement.dataset.theme = next;
}
system.addEventListener("change", theme);
theme();

// Splits: the share of the room that a pane has, by pointer or arrow keys.
for (const split of document.querySelectorAll(".split")) {
  const name = split.dataset.split;
  const panes = element("panes");
  const isAcross = split.classList.contains("across");
  const set = (share) => {
    const value = Math.max(Number(split.getAttribute("aria-valuemin")), Math.min(Number(split.getAttribute("aria-valuemax")), share));
    panes.style.setProperty(`--${name}`, `${value.toFixed(1)}fr`);
    panes.style.setProperty(`--${name}-rest`, `${(100 - value).toFixed(1)}fr`);
    split.setAttribute("aria-valuenow", Math.round(value));
  };
  split.addEventListener("pointerdown", (event) => {
    split.setPointerCapture(event.pointerId);
    const box = panes.getBoundingClientRect();
    const move = (at) => {
      if (isAcross) return set(((at.clientY - box.top) / box.height) * 100);
      if (name === "records") return set(((at.clientX - box.left) / box.width) * 100);
      const left = document.querySelector('[data-pane="value"]').getBoundingClientRect().left;
      set(((at.clientX - left) / (box.right - left)) * 100);
    };
    split.addEventListener("pointermove", move);
    split.addEventListener("pointerup", () => split.removeEventListener("pointermove", move), { once: true });
  });
  split.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[event.key];
    if (!step) return;
    event.preventDefault();
    set(Number(split.getAttribute("aria-valuenow")) + step);
  });
}

function drawPath() {
  const chain = [];
  for (let it = node(state.node); it; it = node(it.parent)) chain.unshift(it);
  element("path").replaceChildren(...chain.map((it) => make("li", {},
    make("button", { type: "button", text: it.name, onclick: () => tell("select", { node: it.id, from: "path" }) }))));
}

function drawProblems() {
  const count = state.message?.problems.length ?? 0;
  const button = element("problems");
  button.hidden = count === 0;
  button.className = "problem";
  button.textContent = count === 1 ? "1 problem" : `${grouped(count)} problems`;
}

async function problem(direction) {
  const list = state.message?.problems ?? [];
  const nodes = [...new Set(list.map((it) => it.node))].sort((a, b) => a - b);
  const next = direction === "back" ? nodes.filter((id) => id < state.node).at(-1) : nodes.find((id) => id > (state.node ?? -1) || (state.node === 0 && id === 0 && !atProblem));
  if (next !== undefined && next !== null) {
    atProblem = true;
    await reveal(next);
    tell("select", { node: next, from: "problem" });
    const it = list.find((found) => found.node === next);
    status(it.message);
    return;
  }
  if (!(await nextProblem(direction))) return;
  const first = state.message.problems[direction === "back" ? state.message.problems.length - 1 : 0];
  if (first) { atProblem = true; await reveal(first.node); tell("select", { node: first.node, from: "problem" }); status(first.message); }
}

function open(title, ...children) {
  element("dialog-title").textContent = title;
  element("dialog-body").replaceChildren(...children);
  if (!dialog.open) dialog.showModal();
}

function help() {
  const keys = [
    ["↑ ↓ ← →", "move in the pane that has the focus; → opens, ← closes"], ["Tab", "the next pane"],
    ["n  p", "next and previous problem, in this record and in others"], ["g", "go to a record, or to a byte"],
    ["Ctrl-V", "show bytes from text: hexadecimal, base64, PEM"], ["c", "copy or save the value, its bytes or a trace"], ["/", "find a name, a value, bytes or digits in this record"], ["f", "filter the records"], ["[  ]", "previous and next record"], ["*", "open all"],
    ["d", "compare with another record; n and p lead to differences"], ["e", "edit the selected part, if the command has --edit"], ["Ctrl-Z  Ctrl-Y", "undo and redo"],
    ["1 … 5", "records, value, bytes, schema, explanation"], ["t", "light or dark"], ["?", "this list"],
  ];
  open("Keys", make("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [
    make("dt", {}, ...key.split(/\s+/).flatMap((it) => [make("kbd", { text: it }), " "])), make("dd", { text })])));
}

function goDialog() {
  const input = make("input", { id: "goal", autocomplete: "off", spellcheck: "false", "aria-describedby": "goal-help" });
  const go = () => {
    const text = input.value.trim();
    dialog.close();
    if (/^(0x[0-9a-f]+|@\d+)$/i.test(text)) goOffset(Number(text.replace("@", "")));
    else if (/^\d+$/.test(text)) goTo({ record: Number(text) });
    else if (text) status(`“${text}” is not the number of a record; 0x… or @… is a byte`);
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); go(); } });
  open("Go to", make("p", {}, make("label", { for: "goal", text: "Record or byte " }), input, " ", make("button", { type: "button", text: "Go", onclick: go })),
    make("p", { id: "goal-help", class: "note", text: "23 is a record, from 0; 0x1F or @31 is a byte of the file." }));
  input.focus();
}

async function goOffset(offset) {
  await goTo({ offset });
  if (state.row && offset >= state.row.offset && offset < state.row.offset + state.row.length) goToByte(offset);
}

// The value in a notation, or the bytes of what is selected as an array.
function copyDialog() {
  if (!state.row) return;
  const forms = {
    json: "JSON", xml: "XML", gser: "GSER", value: "value notation", hex: "bytes in hexadecimal", base64: "bytes in base64", c: "bytes in C", rust: "bytes in Rust", python: "bytes in Python",
    trace: "trace", markdown: "trace as a table of Markdown", html: "page of HTML",
  };
  const ofBytes = ["hex", "base64", "c", "rust", "python"];
  const known = state.message.type ? Object.keys(forms) : [...ofBytes, "html"];
  const suffixes = { json: "json", xml: "xml", html: "html", markdown: "md", c: "h", rust: "rs", python: "py" };
  const select = make("select", { id: "form" }, ...known.map((name) => make("option", { value: name, text: forms[name] })));
  const text = make("textarea", { id: "copied", readonly: "", rows: 16, spellcheck: "false", "aria-label": "Text", class: "mono" });
  const draw = async () => {
    const part = ofBytes.includes(select.value) ? state.node : null;
    try { text.value = (await ask("export", { row: state.row.row, as: select.value, node: part })).text; }
    catch (error) { text.value = error.message; }
  };
  const copy = async () => {
    text.select();
    try { await navigator.clipboard.writeText(text.value); status("copied"); }
    catch { status("the browser does not allow it; the text is selected"); }
  };
  const save = () => {
    const address = URL.createObjectURL(new Blob([text.value], { type: "application/octet-stream" }));
    const name = `record-${state.row.record ?? state.row.row}.${suffixes[select.value] ?? "txt"}`;
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  select.addEventListener("change", draw);
  open("Copy as", make("p", {}, make("label", { for: "form", text: "Form " }), select, " ", make("button", { type: "button", text: "Copy", onclick: copy }), " ", make("button", { type: "button", id: "save-text", text: "Save", onclick: save })), text);
  draw();
}

// Text that spells bytes becomes an input beside the files.
async function addText(text) {
  try {
    const file = await paste(text);
    state.about = await ask("state");
    drawFiles();
    state.file = file;
    element("file").value = String(file);
    await restart();
  } catch (error) { status(error.message); }
}

function pasteDialog() {
  const text = make("textarea", { id: "pasted", rows: 12, spellcheck: "false", class: "mono", "aria-label": "Text that spells bytes", "aria-describedby": "paste-help" });
  const show = () => { dialog.close(); addText(text.value); };
  open("Paste bytes", make("p", { id: "paste-help", class: "note", text: "Hexadecimal in any form, a hexdump, base64, PEM, or an array in C." }), text,
    make("p", {}, make("button", { type: "button", id: "show-pasted", text: "Show", onclick: show })));
  text.focus();
}

async function candidates() {
  status("trying types and rules …");
  try {
    const answer = await ask("candidates", { row: state.row?.row ?? null });
    status("");
    const head = make("tr", {}, ...["use", "rules", "type", "reason"].map((name) => make("th", { scope: "col", text: name })));
    const rows = answer.candidates.map((it) => {
      const reasons = it.fits
        ? [`${it.octets} bytes`, it.values > 1 ? `${it.values} values` : "", `${it.elements} elements`, it.again ? "" : "written otherwise",
          it.violations ? `${it.violations} constraints not met` : "", it.unknown ? `${it.unknown} parts of unknown type` : ""]
        : [`${it.octets} bytes, then ${it.error}`];
      const take = make("button", { type: "button", text: "Take", "aria-label": `Take ${it.rules} ${it.type}`, onclick: () => { dialog.close(); change(it.type, it.rules); } });
      return make("tr", { "aria-current": it.type === currentType() && it.rules === currentRules() ? "true" : null },
        make("td", {}, take), make("td", { text: it.rules }), make("td", { text: it.type }), make("td", { text: reasons.filter(Boolean).join(", ") }));
    });
    open("Types and rules by trial, the best first", rows.length
      ? make("table", { class: "candidates" }, make("thead", {}, head), make("tbody", {}, ...rows))
      : make("p", { text: "There is no specification to try types of." }));
  } catch (error) { status(error.message); }
}

function currentType() { return state.type ?? state.about.type; }
function currentRules() { return state.rules ?? state.about.rules; }

async function change(type, rules) {
  [state.type, state.rules] = [type, rules];
  [element("type").value, element("rules").value] = [currentType() ?? "", currentRules() ?? ""];
  const goal = state.row?.record !== null && state.row !== null && state.message?.hasPlaces !== false ? { record: state.row.record } : {};
  await restart(goal);
}

let last = { text: null, offset: null };

async function find(text) {
  if (!text || !state.row) return;
  try {
    const after = last.text === text && last.row === state.row.row ? last.offset : null;
    const { node: found, wrapped, offset, length } = await ask("find", { row: state.row.row, text, after: state.node ?? 0, "after-offset": after });
    if (found === null) { status(`“${text}” is not in this value`); return; }
    last = { text, offset: offset ?? null, row: state.row.row };
    status(offset === undefined ? (wrapped ? "from the start again" : "") : `${count(length, "byte")} at offset ${offset}${wrapped ? ", from the start again" : ""}`);
    await reveal(found);
    tell("select", { node: found, from: "find" });
    if (offset !== undefined && offset !== null) goToByte(offset);
  } catch (error) { status(error.message); }
}

// The filter of the list, from its fields.
function readFilter() {
  const field = (id) => element(id).value.trim();
  const [where, alternative] = [field("where"), field("alternative")];
  const isCapture = protocols().length > 0;
  const both = isCapture ? where : alternative && where ? `(${where}) and choice = '${alternative}'` : alternative ? `choice = '${alternative}'` : where;
  state.filter = {};
  if (both) state.filter.where = both;
  if (isCapture && alternative) state.filter.protocol = alternative;
  if (field("holds")) state.filter.holds = field("holds");
  if (field("with-problem")) state.filter.problem = field("with-problem");
}

async function filter() {
  readFilter();
  await refilter();
}

// The protocols of a capture.
function protocols() { return state.about.files[state.file]?.protocols ?? []; }

function drawAlternatives() {
  const names = protocols().length ? protocols() : state.about.alternatives;
  const all = protocols().length ? "all protocols" : "all types";
  element("alternative").replaceChildren(make("option", { value: "", text: all }), ...names.map((name) => make("option", { value: name, text: name })));
  element("alternative").hidden = !names.length;
}

function drawFilter() {
  const { where = "", holds = "", problem = "" } = state.filter;
  drawAlternatives();
  if (protocols().length) { element("where").value = where; element("alternative").value = state.filter.protocol ?? ""; [element("holds").value, element("with-problem").value] = [holds, problem]; return; }
  const parts = /^(?:\((.*)\) and )?choice = '([\w-]+)'$/s.exec(where);
  [element("where").value, element("alternative").value] = parts ? [parts[1] ?? "", parts[2]] : [where, ""];
  [element("holds").value, element("with-problem").value] = [holds, problem];
}

function drawFiles() {
  const { files } = state.about;
  element("file").replaceChildren(...files.map((it, index) => make("option", { value: index, text: it.note ? `${it.name} (${it.note})` : it.name })));
  element("file-field").hidden = files.length < 2;
}

function start() {
  const { files, types, type, allRules } = state.about;
  drawFiles();
  element("types").replaceChildren(...types.map((name) => make("option", { value: name })));
  element("rules").replaceChildren(...allRules.map((name) => make("option", { value: name, text: name })));
  for (const id of ["type-field", "rules-field", "try"]) element(id).hidden = !type;
  drawAlternatives();
  element("where").hidden = !type;
  document.title = `${files[0]?.name.split("/").at(-1) ?? ""} – Tercet inspector`;
  startSchema();
}

async function follow() {
  const goal = readFragment();
  if (goal.input) {
    try {
      goal.file = await paste(goal.input);
      state.about = await ask("state");
      drawFiles();
    } catch (error) { status(error.message); }
  }
  const isFiltered = JSON.stringify(goal.filter) !== JSON.stringify(state.filter);
  state.filter = goal.filter;
  const rules = goal.rules && goal.rules !== state.about.rules ? goal.rules : null;
  const isOther = goal.file !== state.file || goal.type !== state.type || rules !== state.rules || !state.row || isFiltered;
  [state.file, state.type, state.rules] = [Math.min(goal.file, state.about.files.length - 1), goal.type, rules];
  element("file").value = String(state.file);
  drawFilter();
  [element("type").value, element("rules").value] = [currentType() ?? "", currentRules() ?? ""];
  if (isOther) await restart(goal);
  else if (goal.row !== null) await goTo({ row: goal.row }, goal.path);
  else await goTo({ record: goal.record ?? 0 }, goal.path);
  if (goal.schema && state.about.schema && goal.schema !== state.about.schema) status("the address was made with other specifications");
  if (goal.other && state.row) await compare(goal.other).catch((error) => status(error.message));
}

on("message", async ({ path }) => {
  drawProblems();
  atProblem = false;
  let first = 0;
  if (path) first = await nodeAt({ path }).catch(() => 0);
  if (first) await reveal(first);
  if (state.message.nodes.length) tell("select", { node: first, from: path ? "fragment" : "message" });
  else { state.node = null; writeFragment(null); }
});

on("select", () => {
  drawPath();
  writeFragment(state.node === null ? null : pathOf(state.node));
});

on("known", () => {
  drawPath();
  writeFragment(pathOf(state.node));
});

on("nothing", () => { element("problems").hidden = true; });

element("file").addEventListener("change", () => { state.file = Number(element("file").value); state.filter = {}; drawFilter(); restart(); });
element("type").addEventListener("change", () => change(element("type").value || null, state.rules));
element("rules").addEventListener("change", () => change(state.type, element("rules").value));
element("try").addEventListener("click", candidates);
element("problems").addEventListener("click", () => problem("on"));
element("copy").addEventListener("click", copyDialog);
element("compare-with").addEventListener("click", () => compareDialog(open));
element("edit").addEventListener("click", () => editDialog(open));
element("undo").addEventListener("click", () => undo("undo"));
element("redo").addEventListener("click", () => undo("redo"));
element("save").addEventListener("click", () => saveDialog(open));
for (const id of ["alternative", "with-problem"]) element(id).addEventListener("change", filter);
for (const id of ["where", "holds"]) {
  element(id).addEventListener("change", filter);
  element(id).addEventListener("search", () => { if (!element(id).value) filter(); });
  element(id).addEventListener("keydown", (event) => { if (event.key === "Escape") { event.preventDefault(); element("records-list").focus(); } });
}
on("filtered", () => writeFragment(state.node === null ? null : pathOf(state.node)));
element("goto").addEventListener("click", goDialog);
element("paste").addEventListener("click", pasteDialog);
document.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text");
  if (!text || dialog.open || event.target.closest?.("input, textarea, select")) return;
  event.preventDefault();
  addText(text);
});
element("theme").addEventListener("click", turnTheme);
element("help").addEventListener("click", help);
element("expand").addEventListener("click", () => openAll(true));
element("collapse").addEventListener("click", () => openAll(false));
element("skip").addEventListener("click", (event) => { event.preventDefault(); element("value-tree").focus(); });
element("find").addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); find(element("find").value.trim()); }
  if (event.key === "Escape") element("value-tree").focus();
});

document.addEventListener("keydown", (event) => {
  if (dialog.open || element("compare").open || event.target.closest("input, select, textarea")) return;
  if ((event.ctrlKey || event.metaKey) && "zy".includes(event.key.toLowerCase())) {
    event.preventDefault();
    undo(event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo");
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const panes = ["records-list", "value-tree", "octets-grid", "schema-lines", "explain-body"];
  const actions = {
    n: () => problem("on"), p: () => problem("back"), g: goDialog, c: copyDialog, t: turnTheme, "?": help, d: () => compareDialog(open), e: () => editDialog(open),
    f: () => element(state.about.type ? "where" : "holds").focus(),
    "/": () => element("find").focus(),
    "]": () => step(1), "[": () => step(-1),
  };
  const pane = panes[Number(event.key) - 1];
  const action = pane ? () => element(pane).focus() : actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

window.addEventListener("hashchange", () => { if (!isOwnFragment()) follow(); });

ask("state").then(async (about) => {
  state.about = about;
  start();
  await follow();
  document.documentElement.dataset.ready = "true";
}).catch((error) => status(error.message));
