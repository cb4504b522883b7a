// Two values side by side.

import { List } from "./list.js";
import { reveal } from "./value.js";
import { ask, count, grouped, make, state, status, tell, writeFragment } from "./state.js";
import { pathOf } from "./value.js";

const element = (id) => document.getElementById(id);
const dialog = element("compare");
const scroller = element("compare-lines");

let lines = [];
let shown = [];
let bytes = false;

const list = new List(scroller, 24, render);

function side(it, other) {
  if (!it) return make("span", { class: "compare-value", role: "gridcell" });
  const text = bytes ? it.hex ?? "" : it.value ?? "";
  const differs = other && (bytes ? it.hex !== other.hex : it.value !== other.value);
  return make("span", { class: `compare-value mono${differs ? " differs" : ""}`, role: "gridcell", title: it.path, text });
}

function render(index) {
  const line = shown[index];
  const it = line.left ?? line.right;
  const moved = line.left && line.right && line.left.name !== line.right.name ? ` → ${line.right.name}` : "";
  const state_ = bytes && line.state === "same" && line.octets ? "octets" : line.state;
  const sign = { added: "+", removed: "−", changed: "≠", octets: "≠" }[state_] ?? "";
  const row = make("div", {
    class: `row compare-row ${state_}`, role: "row", "aria-level": line.level + 1, "aria-rowindex": index + 1,
    "aria-selected": index === list.active ? "true" : "false", "data-state": state_, "data-path": it.path,
  }, make("span", { class: "compare-name", role: "rowheader" },
    make("span", { class: "sign", text: sign, "aria-label": { added: "only in the second", removed: "only in the first", changed: "differs", octets: "bytes differ" }[state_] ?? null, role: sign ? "img" : null }),
    ...Array.from({ length: Math.min(line.level, 30) }, () => make("span", { class: "level" })),
    make("span", { class: "node-name", text: it.name + moved }), make("span", { class: "node-type", text: it.type })),
  side(line.left, line.right), side(line.right, line.left));
  row.addEventListener("click", () => { list.reveal(index); });
  row.addEventListener("dblclick", () => take(index));
  return row;
}

// The selected part of the first value, in the panes.
async function take(index) {
  const node = shown[index]?.left?.node;
  if (node === undefined) { status("this part is in the second value only"); return; }
  close();
  await reveal(node);
  tell("select", { node, from: "compare" });
}

function isDifference(line) {
  return bytes ? line.octets || ["added", "removed", "changed"].includes(line.state) : ["added", "removed", "changed"].includes(line.state);
}

function draw() {
  const only = element("only-differences").checked;
  bytes = element("compare-bytes").checked;
  shown = only ? lines.filter((line) => line.state === "inside" || isDifference(line)) : lines;
  scroller.setAttribute("aria-rowcount", shown.length);
  list.setTotal(shown.length);
  list.active = Math.min(Math.max(0, list.active), Math.max(0, shown.length - 1));
  list.draw(true);
}

function step(by) {
  for (let at = list.active + by; at >= 0 && at < shown.length; at += by) {
    if (isDifference(shown[at])) { list.reveal(at, true); return; }
  }
  element("compare-note").textContent = `${summary} · no more differences ${by > 0 ? "after" : "before"} this one`;
}

let summary = "";

function title(it, file) {
  const what = it.record === null ? `row ${it.row}` : `record ${it.record}`;
  const name = state.about.files[file]?.name.split("/").at(-1) ?? "";
  return `${state.about.files.length > 1 ? `${name}, ` : ""}${what} · ${it.rules ?? "elements"} · ${count(it.length, "byte")}`;
}

export async function compare(other) {
  const answer = await ask("compare", {
    row: state.row.row, "with-record": other.record, "with-file": other.file, "with-type": other.type, "with-rules": other.rules,
  });
  state.other = other;
  lines = answer.lines;
  element("compare-title").textContent = "Compare";
  summary = answer.differences ? `${count(answer.differences, "difference")}${answer.cut ? ", list cut" : ""}` : "the same value";
  if (answer.octets) summary += ` · bytes of ${grouped(answer.octets)} parts differ`;
  element("compare-note").textContent = summary;
  element("compare-left").textContent = title(answer.left, state.file);
  element("compare-right").textContent = title(answer.right, other.file ?? state.file);
  if (!dialog.open) dialog.showModal();
  list.active = 0;
  scroller.scrollTop = 0;
  draw();
  const first = shown.findIndex(isDifference);
  if (first >= 0) list.reveal(first, true);
  scroller.focus();
  writeFragment(state.node === null ? null : pathOf(state.node));
}

function close() {
  dialog.close();
}

export function compareDialog(open) {
  if (!state.row) return;
  const number = make("input", { id: "compare-record", inputmode: "numeric", size: 10, autocomplete: "off", value: state.row.record === null ? 0 : state.row.record + 1 });
  const files = make("select", { id: "compare-file" }, ...state.about.files.map((it, index) => make("option", { value: index, text: it.name, selected: index === state.file ? "" : null })));
  const rules = make("select", { id: "compare-rules" }, make("option", { value: "", text: "the same rules" }), ...state.about.allRules.map((name) => make("option", { value: name, text: name })));
  const type = make("input", { id: "compare-type", size: 24, list: "types", autocomplete: "off", spellcheck: "false", placeholder: "the same type" });
  const result = make("div", { role: "status" });
  const go = async () => {
    if (!/^\d+$/.test(number.value.trim())) { result.replaceChildren(make("p", { class: "problem-box", text: `“${number.value}” is not the number of a record` })); return; }
    try {
      const dialogs = element("dialog");
      await compare({ record: Number(number.value), file: Number(files.value), rules: rules.value || null, type: type.value || null });
      dialogs.close();
      scroller.focus();
    } catch (error) { result.replaceChildren(make("p", { class: "problem-box", text: error.message })); }
  };
  number.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); go(); } });
  const fields = [make("p", {}, make("label", { for: "compare-record", text: "Record " }), number)];
  if (state.about.files.length > 1) fields.push(make("p", {}, make("label", { for: "compare-file", text: "File " }), files));
  if (state.about.type) fields.push(make("p", {}, make("label", { for: "compare-rules", text: "Rules " }), rules), make("p", {}, make("label", { for: "compare-type", text: "Type " }), type));
  open("Compare with", ...fields, make("p", {}, make("button", { type: "button", id: "compare-now", text: "Compare", onclick: go })), result);
  number.focus();
  number.select();
}

dialog.addEventListener("close", () => { [lines, shown] = [[], []]; list.setTotal(0); list.draw(true); state.other = null; writeFragment(state.node === null ? null : pathOf(state.node)); element("value-tree").focus(); });
element("compare-close").addEventListener("click", close);
element("difference-on").addEventListener("click", () => step(1));
element("difference-back").addEventListener("click", () => step(-1));
for (const id of ["only-differences", "compare-bytes"]) element(id).addEventListener("change", draw);
dialog.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input[type=text]")) return;
  if (event.key === "n") step(1);
  else if (event.key === "p") step(-1);
  else if (event.target === scroller && event.key === "Enter") take(list.active);
  else if (event.target === scroller && list.moved(event.key) !== null) list.reveal(list.moved(event.key));
  else return;
  event.preventDefault();
});
