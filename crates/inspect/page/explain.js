// What the selected bits are: the parts of the encoding with their clauses, type, constraint, sizes, problems.

import { ask, count, grouped, make, on, place, size, state, tell } from "./state.js";

const body = document.getElementById("explain-body");
let asked = null;

function fact(list, name, ...values) {
  if (values.every((value) => value === null || value === undefined || value === "")) return;
  list.append(make("dt", { text: name }), make("dd", {}, ...values));
}

function sizes({ least, most, unit }) {
  if (least === most) return count(least, unit.slice(0, -1));
  return most === null ? `${grouped(least)} ${unit} or more` : `${grouped(least)} to ${grouped(most)} ${unit}`;
}

function show(it, node) {
  const message = state.message;
  const bits = message.hasBits;
  const own = message.problems.filter((problem) => problem.node === node);
  const parts = [];
  parts.push(make("h3", { text: it.path }));
  for (const problem of own) {
    parts.push(make("div", { class: `problem-box${problem.kind === "fault" ? "" : " weak"}` },
      make("p", {}, make("strong", { text: { fault: "Fault: ", constraint: "Constraint not met: ", value: "Breaks its type: ", trailing: "More follows: " }[problem.kind] ?? "" }), problem.message),
      problem.constraint ? make("p", {}, make("code", { text: problem.constraint }), problem.place ? ` ${problem.place}` : "") : null));
  }
  const facts = make("dl", { class: "facts" });
  if (message.frame !== undefined && node === 0) fact(facts, "message", `${message.protocol}, frame ${grouped(message.frame)}, ${message.time}, ${message.from} → ${message.to}`);
  fact(facts, "type", it.type === it.kind ? it.kind : `${it.type} (${it.kind})`);
  if (it.state === "default") fact(facts, "presence", "absent; this is its DEFAULT");
  if (it.state === "unknown") fact(facts, "presence", "the specification does not define it");
  if (it.shown !== undefined) fact(facts, "value", make("code", { text: it.shown }));
  if (it.value !== undefined) fact(facts, it.shown === undefined ? "value" : "in JER", make("code", { text: it.value }));
  if (it.raw !== undefined) fact(facts, "contents", make("code", { text: it.raw.replace(/(..)(?=.)/g, "$1 ").slice(0, 480) }), it.rawLength > 160 ? ` … ${count(it.rawLength, "byte")}` : "");
  if (it.meanings?.length && it.shown === undefined) fact(facts, "may be", it.meanings.join("  ·  "));
  if (it.bit !== undefined) fact(facts, "place", `${bits ? "bit" : "byte"} ${place(it.bit, bits)}, ${size(it.bits)}`);
  if (it.size) fact(facts, "size of the type", sizes(it.size));
  for (const line of it.facts ?? []) {
    const [name, ...rest] = line.split(/: | /);
    const named = /^(Effective constraint|Module|Value|Number)\b:? ?(.*)$/.exec(line);
    if (named) fact(facts, named[1].toLowerCase(), named[1] === "Module" ? named[2] : make("code", { text: named[2] }));
    else if (name || rest.length) fact(facts, "encoded as", line);
  }
  parts.push(facts);
  if (it.parts.length) {
    const head = make("tr", {}, ...[bits ? "bit" : "byte", bits ? "bits" : "bytes", "encoding", "part", "meaning", "clause"].map((name) => make("th", { scope: "col", text: name })));
    const rows = it.parts.map((part) => make("tr", {},
      make("td", { text: place(part.bit, bits) }),
      make("td", { text: bits ? part.bits : part.bits / 8 }),
      make("td", { class: "encoding mono", text: part.encoding }),
      make("td", {}, make("span", { class: `swatch p-${part.part}`, text: part.part.replaceAll("-", " ") })),
      make("td", { text: part.meaning }),
      make("td", { text: part.clause })));
    parts.push(make("h4", { text: "Parts of the encoding" }), make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  } else if (it.bit === undefined && it.state !== "default") {
    parts.push(make("p", { class: "note", text: message.hasPlaces ? "It takes no bits." : "By extended XER, parts of text have no places." }));
  }
  if (it.definition) parts.push(make("h4", { text: "Definition" }), make("pre", { class: "mono", tabindex: "0", "aria-label": "Definition", text: it.definition }));
  body.replaceChildren(...parts);
  body.scrollTop = 0;
}

on("select", async ({ from }) => {
  asked?.abort();
  if (state.node === null) { body.replaceChildren(); return; }
  asked = new AbortController();
  const node = state.node;
  try {
    const it = await ask("explain", { row: state.row.row, node }, asked.signal);
    if (node !== state.node) return;
    show(it, node);
    tell("explained", { location: it.location, from });
  } catch (error) {
    if (error.name !== "AbortError") body.replaceChildren(make("p", { text: error.message }));
  }
});

on("nothing", (text) => body.replaceChildren(make("p", { text })));
