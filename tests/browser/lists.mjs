// The list of records: filters, and what is looked for in the records.

import assert from "node:assert/strict";
import { test } from "node:test";
import { check, demo, file, inspect, open, selected, settle } from "./page.mjs";

const note = (page) => page.$eval("#records-note", (it) => it.textContent);
const records = (page) => page.$$eval('[data-pane="records"] [data-record]', (found) => found.map((it) => Number(it.dataset.record)));

test("a condition keeps the records that match", async () => {
  const url = await demo();
  const page = await open(url);
  await page.keyboard.press("f");
  await page.keyboard.type("duration > 30");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("records-note").textContent.startsWith("17 of 24"));
  await check(page);
  assert.ok(!(await records(page)).includes(0));
  // The next record of the list, and the address.
  await page.click('[data-pane="records"] [data-record="1"]');
  await settle(page);
  await page.keyboard.press("]");
  let now = await selected(page);
  assert.deepEqual([now.fragment.record, now.fragment.where], ["3", "duration > 30"]);
  await page.keyboard.press("[");
  assert.equal((await selected(page)).fragment.record, "1");
  const address = page.url();
  await page.close();
  const again = await open(address);
  assert.match(await note(again), /^17 of 24/);
  assert.equal(await again.$eval("#where", (it) => it.value), "duration > 30");
  // By type.
  await again.select("#alternative", "data");
  await again.waitForFunction(() => /^\d of 24/.test(document.getElementById("records-note").textContent));
  now = await selected(again);
  assert.equal(now.fragment.where, "(duration > 30) and choice = 'data'");
  await again.close();
});

test("a wrong condition is explained where it is written", async () => {
  const page = await open(await demo());
  await page.type("#where", "duratio > 30");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.getElementById("filter-error").hidden);
  assert.match(await page.$eval("#filter-error", (it) => it.textContent), /duratio[\s\S]*duration/);
  assert.equal(await page.$eval("#where", (it) => it.getAttribute("aria-invalid")), "true");
  // The answer has the status of a fault, which the browser notes.
  page.faults = page.faults.filter((text) => !text.includes("422"));
  await check(page);
  await page.close();
});

test("bytes, text and digits of numbers are found in all records", async () => {
  const page = await open(await demo());
  for (const [text, kept] of [["boîte", null], ["MSC02", null], ["4D534330 32", null], ["+4917006386", "0"]]) {
    await page.$eval("#holds", (it) => { it.value = ""; });
    await page.type("#holds", text);
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => location.hash.includes(`holds=${new URLSearchParams({ a: text }).toString().slice(2)}`), {}, text);
    await settle(page);
    assert.match(await note(page), /^[1-9]\d* of 24/, text);
    if (kept !== null) assert.equal((await records(page))[0], Number(kept));
  }
  await check(page);
  // In the record: the byte is selected.
  await page.keyboard.press("Escape");
  await page.click('[data-pane="records"] [data-record="0"]');
  await settle(page);
  await page.keyboard.press("/");
  await page.keyboard.type("94 71 00 36");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("4 bytes at offset"));
  assert.equal((await selected(page)).path, "CallRecord.sms.otherParty");
  await page.close();
});

test("records with problems", async () => {
  const page = await open(await demo());
  await page.select("#with-problem", "any");
  await page.waitForFunction(() => document.getElementById("records-note").textContent.startsWith("0 of 24"));
  await check(page);
  await page.close();
});

test("messages of a packet capture", async () => {
  const packet = (second, message) => {
    const octets = Buffer.from(message, "hex");
    const length = 28 + octets.length;
    return Buffer.concat([
      Buffer.from([second, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, length, 0, 0, 0]),
      Buffer.from([0x45, 0, 0, length, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]),
      Buffer.from([0xc0, 0, 0, 161, 0, length - 20, 0, 0]), octets,
    ]);
  };
  const head = Buffer.from([0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
  const capture = file("a.pcap", Buffer.concat([head, packet(1, "300e020100040446616c6ba003020105"), packet(2, "300e02010004044d6f6279a003020106")]));
  const schema = file("snmp.asn", "RFC1157-SNMP DEFINITIONS ::= BEGIN Message ::= SEQUENCE { version INTEGER, community OCTET STRING, pdu CHOICE { get [0] IMPLICIT SEQUENCE { n INTEGER } } } END");
  const page = await open(await inspect("-s", schema, capture));
  assert.match(await page.$eval('[data-record="1"]', (it) => it.textContent), /snmp.*frame 2 · 00:00:02\.000000 · 10\.0\.0\.1:49152 → 10\.0\.0\.2:161/);
  await check(page);
  await page.click('[data-record="1"]');
  await page.waitForSelector('[data-path="Message.pdu.get.n"]');
  await page.select("#alternative", "snmp");
  await page.waitForFunction(() => location.hash.includes("protocol=snmp"));
  await check(page);
  await page.close();
});
