// Changes of records, comparisons, and what leaves the page.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { check, demo, file, folder, inspect, open, root, selected, settle } from "./page.mjs";

const duration = "CallRecord.moCall.duration";
const closed = async (page) => { await page.waitForFunction(() => !document.getElementById("dialog").open); await settle(page); };
// Keys reach a field only when its dialog is open: it takes the focus then.
const opened = async (page, field) => { await page.waitForFunction(() => document.getElementById("dialog").open); await page.waitForSelector(field); };
const value = (page, path) => page.$eval(`[data-path="${path}"] .node-value`, (it) => it.textContent);

test("a value is changed, undone, done again and saved", async () => {
  const page = await open(`${await inspect("--edit", "-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber")}#record=5&path=${duration}`);
  await page.keyboard.press("2");
  await page.keyboard.press("e");
  await opened(page, "#edit-value");
  await check(page);
  // The constraint is checked while it is written.
  await page.$eval("#edit-value", (it) => { it.value = ""; });
  await page.type("#edit-value", "604801");
  await page.waitForFunction(() => document.getElementById("edit-result").textContent.includes("(0..604800)"));
  await check(page);
  await page.$eval("#edit-value", (it) => { it.value = ""; });
  await page.type("#edit-value", "75");
  await page.waitForFunction(() => document.getElementById("edit-result").textContent.startsWith("No problem"));
  await page.click("#apply");
  await closed(page);
  assert.equal(await value(page, duration), "75");
  assert.deepEqual((await selected(page)).explained, duration);
  assert.match(await page.$eval('[data-record="5"]', (it) => it.textContent), /changed/);
  await check(page);
  // A component less, an element more.
  for (const [path, button] of [["CallRecord.moCall.answerTime", "#remove"], ["CallRecord.moCall.supplementary", "#add"]]) {
    await page.click(`[data-path="${path}"]`);
    await page.keyboard.press("e");
    await opened(page, button);
    await page.click(button);
    await closed(page);
  }
  assert.equal(await page.$('[data-path="CallRecord.moCall.answerTime"]'), null);
  const before = await page.$$eval('[data-path^="CallRecord.moCall.supplementary["]', (found) => found.length);
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  await settle(page);
  assert.ok(await page.$$eval('[data-path^="CallRecord.moCall.supplementary["]', (found) => found.length) < before);
  await page.click("#redo");
  await settle(page);
  assert.equal(await page.$$eval('[data-path^="CallRecord.moCall.supplementary["]', (found) => found.length), before);
  // Saved: the other records are as they were.
  await page.click("#save");
  await opened(page, "#save-name");
  await check(page);
  const path = join(folder, "saved.ber");
  await page.$eval("#save-name", (it) => { it.value = ""; });
  await page.type("#save-name", path);
  await page.click("#save-now");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("written"));
  const [old, saved] = [readFileSync(join(root, "examples/calls.ber")), readFileSync(path)];
  assert.deepEqual(saved.subarray(0, 278), old.subarray(0, 278));
  assert.deepEqual(saved.subarray(-500), old.subarray(-500));
  assert.ok(!saved.equals(old));
  await page.close();
});

test("another alternative, and bytes by hand", async () => {
  const schema = file("c.asn", "C DEFINITIONS AUTOMATIC TAGS ::= BEGIN M ::= SEQUENCE { c CHOICE { a INTEGER, b UTF8String }, e ENUMERATED { red, green } } END");
  const page = await open(await inspect("--edit", "-s", schema, "-t", "M", "--rules", "der", file("c.der", Buffer.from("3008a003800105810101", "hex"))));
  await page.click('[data-path="M.c"]');
  await page.keyboard.press("e");
  await opened(page, "#add-name");
  await page.select("#add-name", "M.c.b");
  await page.click("#add");
  await page.waitForSelector('[data-path="M.c.b"]');
  await closed(page);
  await page.click('[data-path="M.e"]');
  await page.keyboard.press("e");
  await opened(page, "select#edit-value");
  await page.select("#edit-value", '"red"');
  await page.click("#apply");
  await page.waitForFunction(() => document.querySelector('[data-path="M.e"]')?.textContent.includes("red"));
  await closed(page);
  await page.keyboard.press("e");
  await opened(page, "#edit-bytes");
  await page.$eval("#edit-bytes", (it) => { it.value = ""; });
  await page.type("#edit-bytes", "81 01 07");
  await page.waitForFunction(() => !document.getElementById("edit-result").textContent.startsWith("No problem") && document.getElementById("edit-result").textContent);
  await page.click("#apply");
  await closed(page);
  assert.match(await page.$eval('[data-pane="octets"]', (it) => it.textContent), /07/);
  await check(page);
  await page.close();
});

test("without --edit nothing can be changed", async () => {
  const page = await open(`${await demo()}#record=5&path=${duration}`);
  assert.equal(await page.$eval("#editing", (it) => it.hidden), true);
  await page.keyboard.press("2");
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("--edit"));
  const answer = await page.evaluate(async (path) => {
    const found = await fetch(`api/edit?record=5&op=set&path=${path}`, { method: "POST", body: "1" });
    return [found.status, await found.text()];
  }, duration);
  assert.equal(answer[0], 422);
  assert.match(answer[1], /--edit/);
  const path = join(folder, "never.ber");
  await page.evaluate((path) => fetch(`api/save?to=${encodeURIComponent(path)}`, { method: "POST" }), path);
  assert.equal(existsSync(path), false);
  await page.close();
});

test("two records side by side", async () => {
  const url = await demo();
  const page = await open(`${url}#record=5&path=CallRecord`);
  await page.keyboard.press("2");
  await page.keyboard.press("d");
  await page.waitForSelector("#compare-record");
  await check(page);
  await page.$eval("#compare-record", (it) => { it.value = ""; });
  await page.type("#compare-record", "7");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#compare[open] .compare-row");
  await check(page);
  assert.match(await page.$eval("#compare-note", (it) => it.textContent), /^11 differences/);
  const active = () => page.$eval("#compare .compare-row.active", (it) => [it.dataset.path, it.dataset.state]);
  const first = await active();
  assert.equal(first[0], "CallRecord.moCall.recordNumber");
  await page.keyboard.press("n");
  assert.notDeepEqual(await active(), first);
  await page.keyboard.press("p");
  assert.deepEqual(await active(), first);
  // Bytes, and only what differs.
  await page.click("#compare-bytes");
  await page.click("#only-differences");
  await check(page);
  assert.equal(await page.$$eval('#compare .compare-row[data-state="same"]', (it) => it.length), 0);
  // The address keeps it.
  const address = page.url();
  assert.match(address, /with=7/);
  await page.close();
  const again = await open(address);
  await again.waitForSelector("#compare[open] .compare-row");
  await again.keyboard.press("Escape");
  await again.waitForFunction(() => !location.hash.includes("with="));
  await again.close();
});

test("the same value by other rules", async () => {
  const schema = file("d.asn", "D DEFINITIONS AUTOMATIC TAGS ::= BEGIN M ::= SEQUENCE { a INTEGER (0..31), b BOOLEAN } END");
  const [ber, uper] = [file("d.der", Buffer.from("300680010581 01ff".replace(" ", ""), "hex")), file("d.uper", Buffer.from([0b00101100]))];
  const page = await open(await inspect("-s", schema, "-t", "M", "--rules", "ber", ber, uper));
  await page.keyboard.press("d");
  await page.waitForSelector("#compare-file");
  await page.$eval("#compare-record", (it) => { it.value = "0"; });
  await page.select("#compare-file", "1");
  await page.select("#compare-rules", "uper");
  await page.click("#compare-now");
  await page.waitForSelector("#compare[open] .compare-row");
  assert.match(await page.$eval("#compare-note", (it) => it.textContent), /^the same value/);
  await check(page);
  await page.close();
});

test("traces, base64 and a page leave the page", async () => {
  const page = await open(`${await demo()}#record=5&path=${duration}`);
  await page.keyboard.press("2");
  await page.keyboard.press("c");
  await page.waitForSelector("#form");
  const form = async (name, start) => {
    await page.select("#form", name);
    await page.waitForFunction((start) => document.getElementById("copied").value.startsWith(start), {}, start);
    return page.$eval("#copied", (it) => it.value);
  };
  assert.match(await form("markdown", "| offset | bytes |"), /\| contents \| CallRecord\.moCall\.duration \|/);
  assert.match(await form("trace", "       278"), /X\.690 8\.3/);
  await form("base64", "iA");
  const html = await form("html", "<!doctype html>");
  assert.doesNotMatch(html, /<script|src=|href=/);
  const alone = await open(page.url());
  await alone.setContent(html);
  assert.match(await alone.$eval("body", (it) => it.innerText), /duration/);
  await alone.close();
  await page.close();
});

test("short pasted text is in the address", async () => {
  const page = await open(await demo());
  const text = "0x30, 0x03, 0x02, 0x01, 0x05";
  await page.click("#paste");
  await page.type("#pasted", text);
  await page.click("#show-pasted");
  await page.waitForFunction(() => location.hash.includes("input="));
  const fragment = new URL(page.url()).hash;
  const asked = page.requests.filter((url) => url.includes("input="));
  assert.deepEqual(asked, [], "the text is sent in no address");
  await page.close();
  // Another server.
  const other = await open(`${await inspect("examples/certificate.pem")}${fragment.replace(/rules=\w+/, "")}`);
  await other.waitForFunction(() => document.querySelector('[data-pane="value"] [data-path="$"]')?.textContent.includes("SEQUENCE"));
  assert.equal(await other.$$eval('[data-pane="octets"] [data-offset]', (it) => it.length), 5);
  await other.close();
});

for (const [name, text, first] of [
  ["a stream of digits", "300302010530030201 06", "30"],
  ["Wireshark's dump", "0000   30 03 02 01 05                                    0....", "30"],
  ["xxd", "00000000: 3003 0201 05                             0....", "30"],
  ["hexdump -C", "00000000  30 03 02 01 05                                    |0....|\n00000005", "30"],
  ["commas", "0x30, 0x03, 0x02, 0x01, 0x05", "30"],
  ["an array in C", "static const unsigned char a[] = {\n  0x30, 0x03, 0x02, 0x01, 0x05 };", "30"],
  ["base64", "MAMCAQU=", "30"],
  ["several of PEM", "-----BEGIN A-----\nMAMCAQU=\n-----END A-----\n-----BEGIN B-----\nMAMCAQY=\n-----END B-----\n", "30"],
]) {
  test(`pasted: ${name}`, async () => {
    const page = await open(await inspect("examples/certificate.pem"));
    await page.click("#paste");
    await page.evaluate((text) => { document.getElementById("pasted").value = text; }, text);
    await page.click("#show-pasted");
    await page.waitForFunction(() => /input=|file=/.test(location.hash));
    await settle(page);
    assert.equal(await page.$eval('[data-pane="octets"] [data-offset="0"]', (it) => it.textContent), first);
    assert.match(await page.$eval('[data-pane="value"]', (it) => it.textContent), /SEQUENCE[\s\S]*INTEGER/);
    await page.close();
  });
}
