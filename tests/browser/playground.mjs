// The playground: the page that `scripts/playground` builds, on a server for static files that knows nothing else.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { browser, check, open, pictures, root } from "./page.mjs";

const folder = process.env.TERCET_PLAYGROUND ?? join(root, "out/playground");
const skip = existsSync(join(folder, "tercet.wasm")) ? false : "no module: make test-playground";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

let server, url;

before(async () => {
  server = createServer((request, answer) => {
    const path = join(folder, normalize(decodeURI(new URL(request.url, "http://a").pathname)));
    if (!existsSync(path) || !statSync(path).isFile()) return answer.writeHead(404).end();
    answer.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${server.address().port}/index.html`;
});

after(() => server.close());

// Opens an example and waits for its answer.
async function example(name = "", options = {}) {
  const page = await open(`${url}#${name}`, options);
  await page.waitForSelector("html[data-answers]");
  return page;
}

// Does something and waits for the answer.
async function answered(page, act) {
  const count = () => page.evaluate(() => Number(document.documentElement.dataset.answers));
  const known = await count();
  await act();
  await page.waitForFunction((known) => Number(document.documentElement.dataset.answers) > known, {}, known);
}

const text = (page, id) => page.$eval(`#${id}`, (it) => it.value ?? it.textContent);

async function write(page, id, content) {
  await answered(page, () => page.$eval(`#${id}`, (it, content) => {
    it.value = content;
    it.dispatchEvent(new Event("input"));
  }, content));
}

test("six examples are decoded", { skip }, async () => {
  const { default: examples } = await import(`data:text/javascript,export default ${readFileSync(join(folder, "examples.json"), "utf8")}`);
  assert.equal(examples.length, 6);
  for (const { name, type } of examples) {
    const page = await example(name);
    assert.equal(await text(page, "type"), type);
    assert.ok(JSON.parse(await text(page, "value")), name);
    assert.equal(await page.$eval("#problems", (it) => it.children.length), 0);
    assert.ok((await page.$$("#parts tr")).length >= 6, name);
    await check(page);
    await page.close();
  }
});

test("a change of one text changes the other", { skip }, async () => {
  const page = await example("rocket");
  await write(page, "encoding", "3009 8004 4D6F6279 A200 5");
  assert.match(await text(page, "problems"), /odd number/);
  await write(page, "encoding", "3008 8004 4D6F6279 A200");
  assert.deepEqual(JSON.parse(await text(page, "value")), { name: "Moby", engines: [] });
  await write(page, "value", '{"name": "Ahab", "range": 7, "engines": [{"solid": 9}]}');
  assert.equal(await text(page, "encoding"), "30 0E 80 04 41 68 61 62 81 01 07 A2 03 80 01 09");
  // Other rules encode the value.
  await answered(page, () => page.select("#rules", "uper"));
  assert.match(await text(page, "encoding"), /^41 10 5A/);
  assert.match(await text(page, "parts"), /0\.0.*preamble|extension-bit/);
  await answered(page, () => page.select("#rules", "gser"));
  assert.equal(await text(page, "encoding"), '{ name "Ahab", range 7, engines { solid:9 } }');
  await check(page);
  await page.close();
});

test("diagnostics have places, and fixes are applied", { skip }, async () => {
  const page = await example("rocket");
  await write(page, "specification", "A DEFINITIONS ::= BEGIN Rocket ::= SEQUENCE { engine Engin } Engine ::= BOOLEAN END");
  assert.match(await text(page, "diagnostics"), /E\d+ .*Engin/);
  assert.equal(await page.$eval(".lines mark.error", (it) => it.textContent), "Engin");
  await check(page);
  await page.click("#diagnostics button");
  const chosen = await page.$eval("#specification", (it) => it.value.slice(it.selectionStart, it.selectionEnd));
  assert.equal(chosen, "Engin");
  await answered(page, () => page.click("#diagnostics button + button"));
  assert.match(await text(page, "specification"), /engine Engine \}/);
  assert.equal(await text(page, "diagnostics"), "");
  await page.close();
});

test("parts and bytes lead to one another", { skip }, async () => {
  const page = await example("rocket");
  await page.click("#parts tr:nth-child(4) button");
  assert.equal(await page.$eval("mark.part", (it) => it.textContent), "04");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.$eval("mark.part", (it) => it.textContent), "46 61 6C 6B");
  await page.$eval("#encoding", (it) => { it.focus(); it.setSelectionRange(24, 24); });
  await page.keyboard.press("ArrowRight");
  assert.match(await page.$eval("tr[aria-current]", (it) => it.textContent), /Rocket\.range/);
  await check(page);
  await page.close();
});

test("constraints, faults and samples", { skip }, async () => {
  const page = await example("rocket");
  await write(page, "value", '{"name": "Falk", "range": 5000, "engines": []}');
  assert.match(await text(page, "problems"), /constraint Rocket\.range: 5000/);
  await page.click("#problems button");
  assert.equal(await page.$eval("#specification", (it) => it.value.slice(it.selectionStart, it.selectionEnd)), "(0..999)");
  await write(page, "encoding", "30 11 80 04 46 61 6C 6B");
  assert.match(await text(page, "problems"), /fault/);
  assert.deepEqual(JSON.parse(await text(page, "value")).name, "Falk");
  await check(page);
  const seen = new Set();
  for (let at = 0; at < 3; at += 1) {
    await answered(page, () => page.click("#sample"));
    assert.equal(await text(page, "problems"), "");
    seen.add(await text(page, "value"));
  }
  assert.equal(seen.size, 3);
  await page.close();
});

test("PEM is read", { skip }, async () => {
  const page = await example("rocket");
  await write(page, "encoding", "-----BEGIN ROCKET-----\nMAiABE1vYnmiAA==\n-----END ROCKET-----\n");
  assert.equal(await text(page, "encoding"), "30 08 80 04 4D 6F 62 79 A2 00");
  assert.equal(JSON.parse(await text(page, "value")).name, "Moby");
  await page.close();
});

test("markup stays text", { skip }, async () => {
  const page = await example("rocket");
  const markup = "<img src=x onerror=document.title=1>";
  await write(page, "value", JSON.stringify({ name: markup, engines: [] }));
  await write(page, "specification", `A DEFINITIONS ::= BEGIN B ::= ${markup} END`);
  await write(page, "encoding", markup);
  assert.equal(await page.title(), "Tercet playground");
  assert.equal(await page.$("img"), null);
  const policy = await page.$eval('meta[http-equiv="Content-Security-Policy"]', (it) => it.content);
  assert.match(policy, /^default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:/);
  await page.close();
});

test("the policy lets the page work", { skip }, async () => {
  // Without axe-core, whose text would not be allowed to run.
  const page = await browser.newPage();
  const faults = [];
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  await page.goto(`${url}#call-record`);
  await page.waitForSelector("html[data-answers]");
  assert.match(await text(page, "value"), /"moCall"/);
  assert.deepEqual(faults, []);
  // Once it is loaded, there is no network to need.
  await page.setOfflineMode(true);
  await answered(page, () => page.select("#rules", "oer"));
  assert.notEqual(await text(page, "encoding"), "");
  await page.close();
});

test("what is hostile is stopped, and the engine goes on", { skip }, async () => {
  const page = await example("rocket");
  const depth = 100_000;
  await write(page, "specification", `A DEFINITIONS ::= BEGIN B ::= ${"SEQUENCE { a ".repeat(depth)} NULL ${"}".repeat(depth)} END`);
  assert.match(await text(page, "status") + await text(page, "diagnostics"), /deep|nest|stopped/);
  // An engine that hangs: its thread answers nothing.
  await page.evaluate(() => { self.own = Worker.prototype.postMessage; Worker.prototype.postMessage = () => {}; });
  await page.evaluate(() => { document.getElementById("specification").value = ""; });
  page.setDefaultTimeout(20_000);
  await answered(page, () => page.click("#sample"));
  assert.match(await text(page, "status"), /stopped/);
  await page.evaluate(() => { Worker.prototype.postMessage = self.own; });
  await write(page, "specification", "A DEFINITIONS ::= BEGIN B ::= NULL END");
  assert.equal(await text(page, "status"), "");
  await page.close();
});

test("zoom, narrow pages, dark colours", { skip }, async () => {
  for (const [name, options] of [["light", {}], ["dark", { theme: "dark" }], ["narrow", { size: [360, 800] }]]) {
    const page = await example("signalling", options);
    await check(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
    await page.screenshot({ path: join(pictures, `playground-${name}.png`) });
    await page.close();
  }
});

test("times", { skip }, async () => {
  const page = await example("rocket");
  const times = [];
  for (let at = 0; at < 20; at += 1) {
    const begin = performance.now();
    await write(page, "value", `{"name": "Falk", "range": ${at}, "engines": []}`);
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(`a change to its answer, with the delay of 60 ms: median ${times[10].toFixed(0)} ms, most ${times[19].toFixed(0)} ms`);
  await page.close();
});
