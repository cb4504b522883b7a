// The page of `tercet inspect`, used as a person uses it: clicks, keys, the address; axe-core after each step.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, check, demo, file, inspect, open, pictures, root, selected, settle } from "./page.mjs";

test("selecting anywhere selects everywhere", async () => {
  const page = await open(await demo());
  await check(page);
  // A record.
  await page.click('[data-pane="records"] [data-record="5"]');
  assert.equal((await selected(page)).fragment.record, "5");
  await check(page);
  // A part of the value.
  const cell = "CallRecord.moCall.location.cell";
  await page.click(`[data-path="${cell}"]`);
  let now = await selected(page);
  assert.deepEqual([now.path, now.explained, now.fragment.path, now.fragment.rules], [cell, cell, cell, "ber"]);
  assert.deepEqual(now.octets, [313, 314, 315, 316, 317, 318, 319, 320, 321]);
  assert.match(now.line, /^\s*77\s*cell/);
  await check(page);
  // A byte: the second of the exchange.
  await page.click('[data-pane="octets"] [data-offset="325"]');
  now = await selected(page);
  assert.equal(now.path, "CallRecord.moCall.location.exchange");
  assert.match(now.line, /exchange/);
  // A line of the specification.
  await page.click('[data-pane="schema"] [data-line="76"]');
  assert.equal((await selected(page)).path, "CallRecord.moCall.location");
  await check(page);
  await page.close();
});

test("the address is the state", async () => {
  const url = await demo();
  const page = await open(`${url}#record=6&path=CallRecord.data.recordNumber&rules=ber`);
  let now = await selected(page);
  assert.deepEqual([now.path, now.fragment.record], ["CallRecord.data.recordNumber", "6"]);
  // Somebody edits it.
  await page.evaluate(() => { location.hash = "#record=5&path=CallRecord.moCall.duration"; });
  await page.waitForSelector('[data-path="CallRecord.moCall.duration"][aria-selected="true"]');
  now = await selected(page);
  assert.deepEqual([now.fragment.record, now.explained], ["5", "CallRecord.moCall.duration"]);
  await page.close();
});

test("keys reach everything", async () => {
  const page = await open(await demo());
  await page.keyboard.press("2");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.equal((await selected(page)).path, "CallRecord.sms.servedIMSI");
  await page.keyboard.press("ArrowLeft");
  assert.equal((await selected(page)).path, "CallRecord.sms");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.$eval('[data-path="CallRecord.sms"]', (it) => it.getAttribute("aria-expanded")), "false");
  await page.keyboard.press("ArrowRight");
  // Bytes.
  await page.keyboard.press("3");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.equal((await selected(page)).path, "CallRecord.sms.recordNumber");
  // Records.
  await page.keyboard.press("1");
  await page.keyboard.press("End");
  assert.equal((await selected(page)).fragment.record, "23");
  await page.keyboard.press("[");
  assert.equal((await selected(page)).fragment.record, "22");
  // To a record, to a byte.
  for (const [goal, record] of [["5", "5"], ["0x30", "1"]]) {
    await page.keyboard.press("g");
    await page.waitForSelector("dialog[open]");
    await check(page);
    await page.keyboard.type(goal);
    await page.keyboard.press("Enter");
    assert.equal((await selected(page)).fragment.record, record);
  }
  // Find.
  await page.keyboard.press("/");
  await page.keyboard.type("imsi");
  await page.keyboard.press("Enter");
  assert.equal((await selected(page)).path, "CallRecord.mtCall.servedIMSI");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await check(page);
  await page.keyboard.press("Escape");
  // For other programs.
  await page.keyboard.press("2");
  await page.keyboard.press("c");
  await page.waitForFunction(() => document.getElementById("copied")?.value.includes('"mtCall"'));
  await check(page);
  await page.select("#form", "python");
  await page.waitForFunction(() => document.getElementById("copied").value.startsWith("message = bytes.fromhex("));
  await page.keyboard.press("Escape");
  // Light and dark.
  await page.keyboard.press("t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await check(page);
  await page.close();
});

test("bits of PER belong to their values", async () => {
  const schema = file("p.asn", "P DEFINITIONS AUTOMATIC TAGS ::= BEGIN M ::= SEQUENCE { a INTEGER (0..31), b INTEGER (0..7), c BOOLEAN OPTIONAL } END");
  const message = file("m.uper", Buffer.from([0b10001010, 0b11000000]));
  const page = await open(await inspect("-s", schema, "-t", "M", "--rules", "uper", message));
  // A value of three bits over two bytes.
  await page.click('[data-path="M.b"]');
  await settle(page);
  const bits = await page.$$eval('[data-pane="octets"] .bit.in-select', (found) => found.map((it) => Number(it.dataset.bit)));
  assert.deepEqual(bits, [6, 7, 8]);
  await page.click('[data-pane="octets"] [data-bit="0"]');
  await settle(page);
  assert.match(await page.$eval('[data-pane="explain"]', (it) => it.textContent), /preamble.*X\.691 19\.2/s);
  await check(page);
  await page.click('[data-mode="hex"]');
  await check(page);
  await page.close();
});

test("characters of text belong to their values", async () => {
  const schema = file("t.asn", "P DEFINITIONS AUTOMATIC TAGS ::= BEGIN M ::= SEQUENCE { a INTEGER, b SEQUENCE OF BOOLEAN } END");
  const texts = {
    // Members in another order than in the type.
    jer: ['{"b":[true],"a":50}', [12, 13, 14, 15, 16, 17], [6, 7, 8, 9], "contents", "X.697 21"],
    xer: ["<M><a>50</a><b><true/></b></M>", [3, 4, 5, 6, 7, 8, 9, 10, 11], [15, 16, 17, 18, 19, 20, 21], "start tag", "X.680 19"],
    gser: ["{ a 50, b { TRUE } }", [2, 3, 4, 5], [12, 13, 14, 15], "name", "RFC 3641 3.8"],
  };
  for (const [rules, [text, number, element, part, clause]] of Object.entries(texts)) {
    const page = await open(await inspect("-s", schema, "-t", "M", "--rules", rules, file(`m.${rules}`, text)));
    assert.equal(await page.$eval('[data-mode="text"]', (it) => it.getAttribute("aria-pressed")), "true");
    await page.click('[data-path="M.a"]');
    const now = await selected(page);
    assert.deepEqual(now.octets, number, rules);
    const explained = await page.$eval('[data-pane="explain"]', (it) => it.textContent);
    assert.ok(explained.includes(clause) && explained.includes("50") && explained.includes(part), explained);
    await check(page);
    await page.click(`[data-pane="octets"] [data-offset="${element[1]}"]`);
    assert.equal((await selected(page)).path, "M.b[0]");
    assert.deepEqual((await selected(page)).octets, element, rules);
    await page.close();
  }
  // Characters after a fault are not read.
  const page = await open(await inspect("-s", schema, "-t", "M", "--rules", "jer", file("w.json", '{"a":5,"b":[7]}')));
  await page.waitForSelector('[data-pane="octets"] .p-unread');
  assert.equal(await page.$eval('[data-pane="octets"] .p-unread', (it) => it.dataset.offset), "12");
  await check(page);
  await page.close();
});

test("problems are shown where they are, and keys lead to them", async () => {
  const octets = readFileSync(join(root, "examples/calls.ber"));
  octets[46 + 5] = 0x85;
  const page = await open(await inspect("-s", "schemas/demo", "-t", "CallRecord", "--rules", "ber", file("bad.ber", octets)));
  assert.equal(await page.$$eval('[data-pane="records"] .badge', (it) => it.length), 1);
  await page.keyboard.press("n");
  await page.waitForSelector('[data-path="CallRecord.mtCall.location"][aria-selected="true"]');
  const now = await selected(page);
  assert.deepEqual([now.fragment.record, now.octets[0]], ["1", 51]);
  assert.match(now.line, /location/);
  assert.match(await page.$eval('[data-pane="explain"]', (it) => it.textContent), /Fault: .*primitive.*X\.690 8\.1\.2\.5/s);
  await check(page);
  await page.screenshot({ path: join(import.meta.dirname, "pictures", "fault.png") });
  await page.close();
});

test("values are text, whatever they hold", async () => {
  const schema = file("x.asn", "X DEFINITIONS ::= BEGIN M ::= UTF8String END");
  const markup = "<img src=x onerror=document.title=1><script>document.title=2</script>";
  const message = file("x.ber", Buffer.concat([Buffer.from([0x0c, markup.length]), Buffer.from(markup)]));
  const page = await open(await inspect("-s", schema, "-t", "M", "--rules", "ber", message));
  assert.match(await page.$eval('[data-pane="value"]', (it) => it.textContent), /<img src=x/);
  assert.equal(await page.$$eval('[data-pane="value"] img', (it) => it.length), 0);
  assert.match(await page.title(), /^x\.ber/);
  await page.close();
});

test("the policy keeps the page from everybody else", async () => {
  const page = await browser.newPage();
  await page.goto(await demo());
  await page.waitForSelector("html[data-ready]");
  const refused = await page.evaluate(() => new Promise((found) => {
    document.addEventListener("securitypolicyviolation", (event) => found(event.violatedDirective));
    fetch("http://127.0.0.1:9/").catch(() => {});
  }));
  assert.equal(refused, "connect-src");
  await page.close();
});

test("a million records are scrolled through", async () => {
  const record = Buffer.from([0x30, 3, 2, 1, 5]);
  const schema = file("n.asn", "N DEFINITIONS ::= BEGIN M ::= SEQUENCE { n INTEGER } END");
  const big = file("big.ber", Buffer.alloc(5 * 1_000_000, record));
  const page = await open(await inspect("-s", schema, "-t", "M", "--rules", "ber", big));
  await page.keyboard.press("1");
  await page.waitForFunction(() => /1,000,000$/.test(document.getElementById("records-note").textContent), { timeout: 120_000 });
  await page.keyboard.press("End");
  await page.waitForFunction(() => location.hash.includes("record=999999"), { timeout: 120_000 });
  await check(page);
  const before = page.requests.length;
  const steps = 10;
  for (let step = 0; step < steps; step++) {
    await page.evaluate((share) => {
      const list = document.getElementById("records-list");
      list.scrollTop = list.scrollHeight * share;
    }, step / steps);
    await settle(page);
  }
  assert.ok(page.requests.length - before <= 2 * steps, `${page.requests.length - before} requests`);
  await check(page);
  await page.close();
});

test("narrow windows and large letters", async () => {
  const page = await open(await demo(), { size: [720, 900] });
  await check(page);
  await page.setViewport({ width: 360, height: 700 });
  await check(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
  await page.close();
});

test("types and rules by trial", async () => {
  const page = await open(await inspect("-s", "schemas/demo", "examples/calls.ber"));
  await page.click("#try");
  await page.waitForSelector("dialog[open] table");
  await check(page);
  await page.click('[aria-label^="Take uper"]');
  await page.waitForFunction(() => location.hash.includes("rules=uper"));
  await check(page);
  await page.close();
});

test("elements without a specification", async () => {
  const page = await open(await inspect("examples/certificate.pem"));
  assert.match(await page.$eval('[data-pane="value"]', (it) => it.textContent), /ecdsa-with-SHA256/);
  await page.click('[data-pane="octets"] [data-offset="1"]');
  assert.match((await selected(page)).explained, /^\$/);
  await check(page);
  await page.close();
});

test("bytes from text", async () => {
  const page = await open(await demo());
  await page.click("#paste");
  await check(page);
  await page.type("#pasted", "a2 2c 80 01 00 81 08 99 79 00 00 20 65 72 f6 82 01 00 83 07 91 94 71 00 36 68 08 84 06 91 94 71 00 00 70 85 09 26 11 01 00 00 17 2b 01 00");
  await page.click("#show-pasted");
  await page.waitForFunction(() => location.hash.includes("input="));
  assert.equal((await selected(page)).explained, "CallRecord");
  await check(page);
  await page.close();
});

test("pictures", async () => {
  const url = await demo();
  for (const theme of ["light", "dark"]) {
    const page = await open(`${url}#record=5&path=CallRecord.moCall.location.cell`, { theme, size: [1200, 700] });
    await check(page);
    await page.screenshot({ path: join(pictures, `inspector-${theme}.webp`), type: "webp", quality: 72 });
    await page.close();
    const other = await open(`${url}#record=5&path=CallRecord.moCall&with=7`, { theme, size: [1200, 560] });
    await other.waitForSelector("#compare[open] .compare-row");
    await check(other);
    await other.screenshot({ path: join(pictures, `inspector-compare-${theme}.webp`), type: "webp", quality: 72 });
    await other.close();
  }
});
