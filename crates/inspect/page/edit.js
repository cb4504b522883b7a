// Changes of values and bytes: a dialog for the selected part, undo, redo, and new files.

import { goTo, refresh } from "./records.js";
import { node, pathOf } from "./value.js";
import { ask, count, make, on, send, state, status, way } from "./state.js";

const element = (id) => document.getElementById(id);
const dialog = element("dialog");

function asked(more) { return { ...way(), row: state.row.row, ...more }; }

// Sends a change, and shows the record again.
async function change(more, text, path = null) {
  const answer = await send("edit", asked(more), text);
  status(answer.notes?.join("; ") ?? "");
  await goTo({ row: state.row.row }, path ?? (state.node === null ? null : pathOf(state.node)));
  await refresh();
  return answer;
}

export async function undo(op) {
  if (!state.about.editable || !state.row) return;
  try { await change({ op }); status(op === "undo" ? "undone" : "done again"); } catch (error) { status(error.message); }
}

function problemsOf(answer, path) {
  const own = answer.problems.map((it) => make("li", { text: `${it.path === path ? "" : `${it.path}: `}${it.message}${it.constraint ? ` ${it.constraint}` : ""}` }));
  return own.length ? make("ul", { class: "problem-box weak" }, ...own)
    : make("p", { class: "note", text: `No problem. The record takes ${count(answer.length, "byte")}.` });
}

// The bytes of a node, counted from the start of the record.
function range(it) {
  const first = it?.bit === undefined ? 0 : Math.floor(it.bit / 8) - state.message.offset;
  const last = it?.bit === undefined ? state.message.length : Math.ceil((it.bit + it.bits) / 8) - state.message.offset;
  return { from: first, count: last - first };
}

export async function editDialog(open) {
  if (!state.about.editable) { status("this page only shows files; start tercet inspect with --edit"); return; }
  if (!state.row || state.node === null) return;
  const path = pathOf(state.node);
  const it = node(state.node);
  let fields;
  try { fields = await ask("fields", { row: state.row.row, node: state.node }); } catch (error) { status(error.message); return; }
  if (!fields.editable) { status("only records can be changed"); return; }
  const hasValue = fields.json !== undefined && fields.json !== null;
  const result = make("div", { id: "edit-result", role: "status" });
  const place = range(it);
  const text = (fields.choices ?? []).length
    ? make("select", { id: "edit-value" }, ...fields.choices.map((name) => make("option", { value: name, text: name, selected: name === fields.json ? "" : null })))
    : make("textarea", { id: "edit-value", rows: Math.min(14, (fields.json ?? "").split("\n").length + 1), spellcheck: "false", class: "mono" });
  if (hasValue && text.tagName === "TEXTAREA") text.value = fields.json;
  const bytes = make("textarea", { id: "edit-bytes", rows: 3, spellcheck: "false", class: "mono" });
  const octets = await ask("export", { row: state.row.row, as: "hex", node: it?.bit === undefined ? null : state.node }).catch(() => ({ text: "" }));
  bytes.value = octets.text.replace(/(..)(?=.)/g, "$1 ");
  const original = bytes.value;
  const current = () => (bytes.value !== original || !hasValue
    ? [{ op: "octets", ...place }, bytes.value] : [{ op: "set", path }, text.value]);
  let timer = 0;
  let number = 0;
  // The change is tried while somebody types.
  const tried = () => {
    clearTimeout(timer);
    const mine = ++number;
    timer = setTimeout(async () => {
      const [more, value] = current();
      let found;
      try { found = problemsOf(await send("edit", asked({ ...more, try: 1 }), value), path); }
      catch (error) { found = make("p", { class: "problem-box", text: error.message }); }
      if (mine === number) result.replaceChildren(found);
    }, 120);
  };
  const act = async (more, value, to = path) => {
    clearTimeout(timer);
    number++;
    try { await change(more, value, to); dialog.close(); element("value-tree").focus(); }
    catch (error) { result.replaceChildren(make("p", { class: "problem-box", text: error.message })); }
  };
  const apply = () => { const [more, value] = current(); act(more, value); };
  for (const field of [text, bytes]) {
    field.addEventListener("input", tried);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey || field.tagName === "SELECT")) { event.preventDefault(); apply(); }
    });
  }
  const parts = [make("p", { class: "note", text: path })];
  if (hasValue) parts.push(make("p", {}, make("label", { for: "edit-value", text: "Value in JSON" }), make("br"), text));
  parts.push(make("p", {}, make("label", { for: "edit-bytes", text: "Bytes in hexadecimal, with identifier and length" }), make("br"), bytes), result);
  const buttons = make("p", { class: "buttons" }, make("button", { type: "button", id: "apply", text: "Apply", title: "Ctrl-Enter", onclick: apply }));
  if (fields.canRemove) buttons.append(make("button", { type: "button", id: "remove", text: "Remove", onclick: () => act({ op: "remove", path }, "", path.replace(/(\.[^.[]+|\[\d+\])$/, "")) }));
  if (fields.add?.length) {
    const select = make("select", { id: "add-name", "aria-label": "Component to add" }, ...fields.add.map((part) => make("option", { value: part.path, text: `${part.name}  ${part.type}` })));
    buttons.append(select, make("button", {
      type: "button", id: "add", text: fields.add[0].kind === "alternative" ? "Choose" : "Add", onclick: async () => {
        try {
          const sample = await ask("sample", { row: state.row.row, path: select.value });
          await act({ op: "set", path: select.value }, sample.json, select.value);
        } catch (error) { result.replaceChildren(make("p", { class: "problem-box", text: error.message })); }
      },
    }));
  }
  parts.push(buttons);
  open("Edit", ...parts);
  (hasValue ? text : bytes).focus();
}

export function saveDialog(open) {
  if (!state.about.editable || !state.row) return;
  const old = state.about.files[state.file].name;
  const dot = old.lastIndexOf(".");
  const input = make("input", { id: "save-name", size: 48, spellcheck: "false", autocomplete: "off", value: dot > old.lastIndexOf("/") ? `${old.slice(0, dot)}-new${old.slice(dot)}` : `${old}-new` });
  const result = make("div", { role: "status" });
  const save = async () => {
    try {
      const answer = await send("save", { ...way(), to: input.value });
      dialog.close();
      status(`${answer.path}: written with ${count(answer.records, "changed record")}`);
    } catch (error) { result.replaceChildren(make("p", { class: "problem-box", text: error.message })); }
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save(); } });
  open("Save a new file", make("p", {}, make("label", { for: "save-name", text: "Name " }), input, " ", make("button", { type: "button", id: "save-now", text: "Save", onclick: save })),
    make("p", { class: "note", text: "All records of this input, those that were changed with their changes. Lengths around them are adjusted." }), result);
  input.focus();
  input.select();
}

on("message", () => {
  element("editing").hidden = !state.about.editable;
  element("undo").disabled = !state.message.undo;
  element("redo").disabled = !state.message.redo;
  element("save").disabled = !state.message.edited;
});
