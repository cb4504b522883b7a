// What is looked at, and questions to the server. Panes listen to events and know nothing of each other.

export const events = new EventTarget();

export const state = {
  about: null,          // api/state
  file: 0, type: null, rules: null,
  row: null,            // the row of the list that is open
  message: null,        // api/message of it
  node: null,           // the number of the selected node
  hover: null,          // the number of the node under the pointer
  filter: {},           // which records the list has: where, holds, problem
  other: null,          // what the value is compared with: file, record, type, rules
  pasted: new Map(),    // the texts of inputs that were pasted, if they are short
};

// Bytes of a pasted text that the address holds.
export const MOST_IN_ADDRESS = 8192;

// The state changes before panes hear of it.
export function tell(name, detail) {
  if (name === "select") state.node = detail.node;
  if (name === "hover") {
    if (state.hover === detail) return;
    state.hover = detail;
  }
  events.dispatchEvent(new CustomEvent(name, { detail }));
}

export function on(name, listener) {
  events.addEventListener(name, (event) => listener(event.detail));
}

// Asks the server. Parameters that are null are left out.
export async function ask(question, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...way(), ...parameters })) {
    if (value !== null && value !== undefined) query.set(name, value);
  }
  const answer = await fetch(`api/${question}?${query}`, { signal, cache: "no-store" });
  const body = await answer.json().catch(() => ({ error: `${answer.status} ${answer.statusText}` }));
  if (!answer.ok) throw new Error(body.error ?? answer.statusText);
  return body;
}

// Sends a request with a body: a change, or text.
export async function send(question, parameters, text = "") {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, value);
  }
  const answer = await fetch(`api/${question}?${query}`, { method: "POST", body: text, cache: "no-store" });
  const body = await answer.json().catch(() => ({ error: `${answer.status} ${answer.statusText}` }));
  if (!answer.ok) throw new Error(body.error ?? answer.statusText);
  return body;
}

// Adds text that spells bytes to the inputs; returns the number of the first. Short text becomes part of the address.
export async function paste(text) {
  for (const [file, known] of state.pasted) if (known === text) return file;
  const { file, files } = await send("paste", {}, text);
  if (files === 1 && new TextEncoder().encode(text).length <= MOST_IN_ADDRESS) state.pasted.set(file, text);
  return file;
}

// Text as characters that an address may have, and back.
function packed(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function unpacked(text) {
  try {
    const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (it) => it.charCodeAt(0)));
  } catch { return null; }
}

// The file, the type and the rules that questions are about.
export function way() {
  return { file: state.file, type: state.type, rules: state.rules };
}

// The fragment of the address keeps what is looked at, so that the address can be sent to others on this machine.
export function readFragment() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  return {
    file: number("file") ?? 0, record: number("record"), row: number("row"),
    path: fields.get("path"), rules: fields.get("rules"), type: fields.get("type"), schema: fields.get("schema"),
    input: fields.has("input") ? unpacked(fields.get("input")) : null,
    filter: Object.fromEntries(["where", "holds", "problem", "protocol"].filter((name) => fields.get(name)).map((name) => [name, fields.get(name)])),
    other: number("with") === null ? null : { record: number("with"), file: number("with-file"), rules: fields.get("with-rules"), type: fields.get("with-type") },
  };
}

let written = "";

export function writeFragment(path) {
  const fields = new URLSearchParams();
  if (state.pasted.has(state.file)) fields.set("input", packed(state.pasted.get(state.file)));
  else if (state.file) fields.set("file", state.file);
  if (state.row?.record !== null && state.row?.record !== undefined) fields.set("record", state.row.record);
  else if (state.row) fields.set("row", state.row.row);
  if (path) fields.set("path", path);
  const isCaptured = state.message?.frame !== undefined && !state.rules;
  const rules = isCaptured ? null : state.message?.rules ?? state.rules;
  if (rules) fields.set("rules", rules);
  if (state.type && state.type !== state.about.type) fields.set("type", state.type);
  if (state.about.schema) fields.set("schema", state.about.schema);
  for (const [name, value] of Object.entries(state.filter)) if (value) fields.set(name, value);
  if (state.other) {
    fields.set("with", state.other.record);
    for (const name of ["file", "type", "rules"]) if (state.other[name] !== null && state.other[name] !== undefined) fields.set(`with-${name}`, state.other[name]);
  }
  written = `#${fields}`;
  history.replaceState(null, "", written);
}

export function isOwnFragment() {
  return location.hash === written;
}

export function status(text) {
  document.getElementById("status").textContent = text;
}

// Makes an element. Texts are always text: no value becomes markup.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function count(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// `12` for whole bytes, else `12.3`: byte and bit.
export function place(bit, withBits) {
  return withBits ? `${Math.floor(bit / 8)}.${bit % 8}` : String(Math.floor(bit / 8));
}

export function size(bits) {
  return bits % 8 ? count(bits, "bit") : count(bits / 8, "byte");
}
