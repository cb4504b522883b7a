// The tree of the value.

import { List } from "./list.js";
import { ask, count, grouped, make, on, size, state, status, tell } from "./state.js";

const HEIGHT = 22;
const CHUNK = 2000;
// Values with more nodes open with their first levels only.
const OPEN_ALL = 400;
const scroller = document.getElementById("value-tree");
const note = document.getElementById("value-note");

let nodes = new Map();
let visible = [];
let positions = new Map();
let problems = new Map();

const list = new List(scroller, HEIGHT, render);

export function node(id) {
  return nodes.get(id);
}

// `CallEvent.parties[2].number`
export function pathOf(id) {
  const steps = [];
  for (let it = nodes.get(id); it; it = nodes.get(it.parent)) steps.unshift(it.name);
  return steps.reduce((path, step) => (path && !step.startsWith("[") ? `${path}.${step}` : path + step), "");
}

// Whether a node is another one or inside of it.
export function isWithin(id, outer) {
  for (let it = nodes.get(id); it; it = nodes.get(it.parent)) if (it.id === outer) return true;
  return false;
}

function add(found) {
  const old = nodes.get(found.id);
  if (old) return old;
  const added = { ...found, kids: found.children ? null : [], open: false };
  nodes.set(found.id, added);
  return added;
}

function flatten() {
  visible = [];
  const walk = (it, level) => {
    visible.push({ id: it.id, level });
    if (!it.open || !it.kids) return;
    for (const id of it.kids) walk(nodes.get(id), level + 1);
    if (it.kids.length < it.children) visible.push({ id: null, parent: it.id, level: level + 1 });
  };
  const root = nodes.get(0);
  if (root) walk(root, 0);
  positions = new Map(visible.map((row, index) => [row.id, index]));
  list.setTotal(visible.length);
}

function render(index) {
  const { id, level, parent } = visible[index];
  const levels = Array.from({ length: Math.min(level, 40) }, () => make("span", { class: "level" }));
  if (id === null) {
    const outer = nodes.get(parent);
    const row = make("div", { class: "row", role: "treeitem", "aria-level": level + 1, "aria-selected": "false", "data-more": parent },
      ...levels, make("span", { class: "twisty" }), `… ${grouped(outer.children - outer.kids.length)} more`);
    row.addEventListener("click", () => more(outer));
    return row;
  }
  const it = nodes.get(id);
  const problem = problems.get(id);
  const weak = problem && problem.own && problem.kind !== "fault";
  const classes = ["row", it.state ?? "", problem?.own ? (weak ? "weak" : "faulty") : "", id === state.hover ? "hover" : ""];
  const siblings = it.parent === null ? null : nodes.get(it.parent);
  const row = make("div", {
    class: classes.filter(Boolean).join(" "), role: "treeitem", "aria-level": level + 1,
    "aria-expanded": it.children ? String(it.open) : null, "aria-selected": id === state.node ? "true" : "false",
    "aria-setsize": siblings?.children ?? 1, "aria-posinset": (siblings?.kids?.indexOf(id) ?? 0) + 1,
    "data-path": pathOf(id), "data-node": id,
  }, ...levels,
    make("span", { class: "twisty", "aria-hidden": "true", text: it.children ? (it.open ? "▾" : "▸") : "" }),
    make("span", { class: "node-name", text: it.name }),
    it.value === undefined ? null : make("span", { class: `node-value ${kindOf(it.value)}`, text: it.shown ?? it.value, title: it.shown ? it.value : null }),
    make("span", { class: "node-type", text: typeOf(it) }),
    problem ? make("span", { class: "mark", text: problem.own ? `⚠ ${problem.message}` : "⚠", title: problem.message }) : null);
  row.addEventListener("click", (event) => {
    if (event.target.classList.contains("twisty") && it.children) toggle(it);
    else tell("select", { node: id, from: "value" });
  });
  row.addEventListener("dblclick", () => { if (it.children) toggle(it); });
  row.addEventListener("mouseenter", () => tell("hover", id));
  row.addEventListener("mouseleave", () => tell("hover", null));
  return row;
}

function typeOf(it) {
  const type = it.type === it.name && state.message.type ? it.kind : it.type;
  const many = it.kind.endsWith(" OF") || it.kind === "constructed" ? ` · ${grouped(it.children)}` : "";
  const special = it.state === "default" ? " · default, absent" : it.state === "unknown" ? " · not in the specification" : "";
  return type + many + special;
}

function kindOf(value) {
  if (value.startsWith('"')) return "value-string";
  return /^-?\d/.test(value) ? "value-number" : "value-word";
}

async function more(it) {
  const answer = await ask("nodes", { row: state.row.row, node: it.id, from: it.kids?.length ?? 0, count: CHUNK });
  const found = answer.nodes.map((child) => add(child).id);
  // Nodes that a search has shown before are in their place now.
  it.kids = [...new Set([...(it.kids ?? []), ...found])].sort((a, b) => a - b);
  flatten();
  list.draw(true);
}

async function toggle(it, open = !it.open) {
  it.open = open;
  if (open && it.children && (it.kids === null || it.partial)) { it.partial = false; await more(it); return; }
  flatten();
  list.draw(true);
}

// Opens everything around a node and brings it into sight.
export async function reveal(id) {
  const row = state.row.row;
  if (!nodes.has(id)) {
    const { chain } = await ask("node", { row, node: id });
    for (const found of chain) {
      const it = add(found);
      const outer = nodes.get(it.parent);
      if (!outer) continue;
      while (!outer.kids?.includes(it.id) && (outer.kids?.length ?? 0) < outer.children && (outer.kids?.length ?? 0) < 100_000) {
        const before = outer.kids?.length ?? 0;
        await more(outer);
        if (outer.kids.length === before) break;
      }
    }
  }
  for (let it = nodes.get(nodes.get(id)?.parent); it; it = nodes.get(it.parent)) {
    if (!it.open) { it.open = true; if (it.kids === null) await more(it); }
  }
  flatten();
  list.reveal(positions.get(id) ?? 0, true);
}

export async function nodeAt(asked) {
  const { chain } = await ask("node", { row: state.row.row, ...asked });
  return chain.at(-1)?.id ?? null;
}

function load() {
  const message = state.message;
  nodes = new Map();
  problems = new Map();
  for (const found of message.nodes) add(found);
  if (message.all) {
    for (const it of nodes.values()) if (it.children) it.kids = [];
    for (const it of nodes.values()) nodes.get(it.parent)?.kids.push(it.id);
  }
  for (const it of nodes.values()) {
    let level = 0;
    for (let outer = nodes.get(it.parent); outer; outer = nodes.get(outer.parent)) level++;
    it.open = it.children > 0 && message.all && (message.count <= OPEN_ALL || level < 2);
  }
  for (const problem of message.problems) {
    problems.set(problem.node, { ...problem, own: true });
    const outer = problem.path;
    for (const it of nodes.values()) {
      const path = pathOf(it.id);
      const isAround = path !== outer && outer.startsWith(path) && ".[".includes(outer[path.length]);
      if (isAround && !problems.has(it.id)) problems.set(it.id, { ...problem, own: false });
    }
  }
  note.textContent = `${message.type ?? "elements"} · ${count(message.count, "value")} · ${size(message.length * 8)}`;
  flatten();
  list.active = 0;
  scroller.scrollTop = 0;
  list.draw(true);
  if (!message.all && nodes.get(0)) toggle(nodes.get(0), true);
}

export async function openAll(open) {
  const within = state.node ?? 0;
  for (const it of nodes.values()) {
    if (it.children && isWithin(it.id, within) && it.id !== (open ? -1 : 0)) {
      it.open = open;
      if (open && it.kids === null) {
        if (state.message.count > 20_000) { status("too many values to open all of them"); break; }
        await more(it);
      }
    }
  }
  flatten();
  list.draw(true);
}

on("message", load);
on("select", () => {
  if (state.node === null) return;
  const at = positions.get(state.node);
  if (at === undefined) reveal(state.node).then(() => tell("known"));
  else list.reveal(at);
});
on("hover", () => {
  for (const row of scroller.querySelectorAll("[data-node]")) row.classList.toggle("hover", Number(row.dataset.node) === state.hover);
});

scroller.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const row = visible[list.active];
  const it = nodes.get(row?.id);
  const select = (index) => {
    const goal = visible[index];
    if (goal && goal.id !== null) tell("select", { node: goal.id, from: "value" });
    else if (goal) list.reveal(index);
  };
  const moved = list.moved(event.key);
  if (moved !== null) select(moved);
  else if (event.key === "ArrowRight" && it?.children) { if (it.open) select(list.active + 1); else toggle(it, true); }
  else if (event.key === "ArrowLeft" && it) { if (it.open && it.children) toggle(it, false); else if (it.parent !== null) select(positions.get(it.parent)); }
  else if (event.key === "Enter" && row?.id === null) more(nodes.get(row.parent));
  else if ((event.key === "Enter" || event.key === " ") && it?.children) toggle(it);
  else if (event.key === "*") openAll(true);
  else return;
  event.preventDefault();
});
