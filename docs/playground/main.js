// The page: texts and choices of a person become requests, answers become texts, marks and lists. All texts stay texts: nothing of an
// answer becomes markup.

import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { Encoding, rows } from "./parts.js";

const RULES = {
  ber: "BER", der: "DER", cer: "CER", aper: "PER, aligned", uper: "PER, unaligned", "canonical-aper": "canonical PER, aligned",
  "canonical-uper": "canonical PER, unaligned", oer: "OER", coer: "canonical OER", xer: "XER", cxer: "canonical XER", exer: "extended XER",
  jer: "JER", gser: "GSER",
};
const OF_TEXT = ["xer", "cxer", "exer", "jer", "gser"];
const DELAY = 60;

const element = (id) => document.getElementById(id);
const [exampleList, typeList, rulesList] = ["example", "type", "rules"].map(element);
const specification = new Editor("specification", () => later());
const encoding = new Editor("encoding", () => { fromPem(); [source, isExample] = ["encoding", false]; later(); });
const value = new Editor("value", () => { source = "value"; later(); });

let engine = null;
let examples = [];
// The text that was written last: the other one follows it.
let source = "encoding";
// Whether the bytes are those of an example: once they are decoded, other rules encode the value.
let isExample = false;
let seed = 0;
let shown = new Encoding("", [], false);
let timer = 0;

function status(text) {
  element("status").textContent = text;
}

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// Asks when a person has stopped typing.
function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, DELAY);
}

function ask(member = source) {
  const input = { encoding: encoding.text, value: value.text, sample: seed };
  engine?.ask({ specification: specification.text, type: typeList.value, rules: rulesList.value, [member]: input[member] });
}

// PEM becomes hexadecimal digits.
function fromPem() {
  const [, text] = /-----BEGIN [^-]+-----([\s\S]+?)-----END/.exec(encoding.text) ?? [];
  if (!text) return;
  try {
    const digits = [...atob(text.replace(/\s/g, ""))].map((it) => it.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0"));
    encoding.text = digits.join(" ");
  } catch { /* not base64: the engine reports it */ }
}

function hear(answer, request) {
  element("specification-note").textContent = answer.diagnosticsCount === undefined ? "" : count(answer.diagnosticsCount, "diagnostic");
  if (answer.types) showTypes(answer.types, answer.type);
  if (answer.diagnostics) showDiagnostics(answer.diagnostics);
  const isText = OF_TEXT.includes(request.rules);
  if ("sample" in request) {
    source = "value";
    if (answer.value) value.text = answer.value;
  }
  if ("encoding" in request) value.text = answer.value ?? "";
  else encoding.text = answer.encoding ?? "";
  if (isExample && answer.problems?.length === 0) source = "value";
  element("encoding-title").firstChild.textContent = isText ? "Text" : "Bytes";
  const notes = { encoding: "made from the value", value: answer.isPartial ? "up to the fault" : "made from the bytes" };
  for (const name of Object.keys(notes)) element(`${name}-note`).textContent = source === name ? "" : notes[name];
  showParts(answer, isText);
  showProblems(answer);
  status(answer.error ?? "");
  document.documentElement.dataset.answers = Number(document.documentElement.dataset.answers ?? 0) + 1;
}

function showTypes(types, type) {
  if (types.length !== typeList.length || types.some((name, index) => typeList.options[index].value !== name)) {
    typeList.replaceChildren(...types.map((name) => new Option(name.slice(name.indexOf(".") + 1), name)));
  }
  if (type) typeList.value = type;
}

function showDiagnostics(diagnostics) {
  const kind = (it) => (it.isError ? "error" : "warning");
  specification.mark(diagnostics.map((it) => ({ ...it, kind: kind(it) })));
  element("diagnostics").replaceChildren(...diagnostics.map((it) => {
    const line = make("li", {},
      make("span", { className: `badge ${kind(it)}`, textContent: `${it.code} ` }), it.label ? `${it.message}: ${it.label}` : it.message,
      make("button", { type: "button", textContent: `line ${it.line}:${it.column}`, onclick: () => specification.select(it.from, it.to) }),
      ...it.fixes.map((fix) => make("button", { type: "button", textContent: fix.title, onclick: () => apply(fix) })));
    for (const help of [it.help, it.note]) if (help) line.append(make("span", { className: "help", textContent: help }));
    return line;
  }));
}

// Changes the specification. Places behind a change would move, so that the last change is made first.
function apply(fix) {
  let text = specification.text;
  for (const { from, to, text: fresh } of [...fix.edits].sort((a, b) => b.from - a.from)) text = text.slice(0, from) + fresh + text.slice(to);
  specification.text = text;
  ask();
}

function showParts(answer, isText) {
  shown = new Encoding(encoding.text, answer.parts, isText);
  element("parts").replaceChildren(...rows(shown, choose));
  const { partsCount = 0 } = answer;
  element("parts-note").textContent = partsCount > shown.parts.length ? `the first ${shown.parts.length} of ${partsCount}` : count(partsCount, "part");
}

function showProblems({ problems = [] }) {
  const marks = [];
  element("problems").replaceChildren(...problems.map((it) => {
    const path = it.kind === "constraint" && it.path ? `${it.path}: ` : "";
    const line = make("li", {}, make("span", { className: "badge", textContent: `${it.kind} ` }), path + it.message);
    if (it.constraint) line.append(make("span", { className: "help", textContent: it.constraint }));
    if (Number.isInteger(it.bit) && !shown.isText && shown.octets.found.length) {
      const { from, to } = shown.range(it.bit);
      if (source === "encoding") marks.push({ from, to, kind: "error" });
      line.append(make("button", { type: "button", textContent: "show", onclick: () => encoding.select(from, to) }));
    }
    if (it.place) line.append(make("button", { type: "button", textContent: `line ${it.place.line}`, onclick: () => specification.select(it.place.from, it.place.to) }));
    return line;
  }));
  encoding.mark(marks);
}

// Marks a part in the table and in the encoding.
function choose(number) {
  const lines = element("parts").children;
  for (const line of lines) line.removeAttribute("aria-current");
  if (number < 0 || !lines[number]) return;
  for (const button of element("parts").querySelectorAll('[tabindex="0"]')) button.tabIndex = -1;
  lines[number].querySelector("button").tabIndex = 0;
  lines[number].setAttribute("aria-current", "true");
  lines[number].scrollIntoView({ block: "nearest" });
  const part = shown.parts[number];
  encoding.mark([{ ...shown.range(part.at, part.size), kind: "part" }]);
}

async function load(name) {
  const example = examples.find((it) => it.name === name) ?? examples[0];
  const text = async (url) => {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return answer.text();
  };
  exampleList.value = example.name;
  specification.text = await text(example.specification);
  [source, isExample] = ["encoding", true];
  value.text = "";
  encoding.text = example.file ? await text(example.file) : example.encoding;
  fromPem();
  rulesList.value = example.rules;
  typeList.replaceChildren(new Option(example.type));
  ask();
}

element("parts").addEventListener("keydown", (event) => {
  const row = event.target.closest("tr");
  const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
  if (!next) return;
  event.preventDefault();
  choose([...next.parentElement.children].indexOf(next));
  next.querySelector("button").focus();
});
exampleList.addEventListener("change", () => { location.hash = exampleList.value; });
window.addEventListener("hashchange", () => load(location.hash.slice(1)).catch((error) => status(error.message)));
typeList.addEventListener("change", () => ask());
rulesList.addEventListener("change", () => ask());
element("sample").addEventListener("click", () => { seed += 1; ask("sample"); });
element("open").addEventListener("click", () => element("files").click());
element("files").addEventListener("change", async ({ target }) => {
  specification.text = (await Promise.all([...target.files].map((file) => file.text()))).join("\n");
  target.value = "";
  ask();
});
for (const event of ["keyup", "click"]) {
  encoding.area.addEventListener(event, () => choose(shown.text === encoding.text ? shown.partAt(encoding.area.selectionStart) : -1));
}

rulesList.append(...Object.entries(RULES).map(([name, label]) => new Option(label, name)));
status("loading the engine");
try {
  [engine, examples] = await Promise.all([
    Engine.load("tercet.wasm", hear),
    fetch("examples.json").then((answer) => answer.json()),
  ]);
  exampleList.append(...examples.map((it) => new Option(it.title, it.name)));
  await load(location.hash.slice(1));
  document.documentElement.dataset.ready = "true";
} catch (error) {
  status(`the engine cannot be loaded: ${error.message}`);
}
