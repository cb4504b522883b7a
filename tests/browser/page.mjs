// What the tests of the page share: the command, a browser, axe-core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import axe from "axe-core";
import puppeteer from "puppeteer-core";

export const root = join(import.meta.dirname, "../..");
export const pictures = process.env.PICTURES ?? join(import.meta.dirname, "pictures");
export const folder = mkdtempSync(join(tmpdir(), "tercet-"));
const AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export let browser;
const servers = [];

before(async () => {
  for (const path of [pictures, join(import.meta.dirname, "pictures")]) mkdirSync(path, { recursive: true });
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-lcd-text"] });
});

after(async () => {
  await browser?.close();
  for (const server of servers) server.kill();
});

// Starts the command; returns the address that it prints.
export function inspect(...words) {
  const server = spawn(process.env.TERCET ?? join(root, "target/debug/tercet"), ["inspect", "--no-open", ...words], { cwd: root });
  servers.push(server);
  return new Promise((found, failed) => {
    let text = "";
    server.stdout.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) found(text.trim());
    });
    server.on("exit", (code) => failed(new Error(`the command has ended: ${code}`)));
  });
}

export function file(name, octets) {
  const path = join(folder, name);
  writeFileSync(path, octets);
  return path;
}

// Opens a page that must not fail: no error in its script, no request to anybody else.
export async function open(url, { theme = "light", size = [1440, 860] } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.setBypassCSP(true); // for axe-core alone; the policy itself is tested below
  await page.setViewport({ width: size[0], height: size[1] });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  page.faults = [];
  page.requests = [];
  page.on("pageerror", (error) => page.faults.push(error.stack ?? error.message));
  page.on("console", (message) => { if (message.type() === "error") page.faults.push(message.text()); });
  page.on("request", (request) => page.requests.push(request.url()));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  await settle(page);
  return page;
}

// Waits until nothing is asked for any more.
export async function settle(page) {
  await page.waitForNetworkIdle({ idleTime: 120, timeout: 120_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function check(page) {
  await settle(page);
  const found = await page.evaluate(`${axe.source}; axe.run({ runOnly: ${JSON.stringify(AA)} })`);
  const text = found.violations.map((it) => `${it.id}: ${it.help}\n${it.nodes.slice(0, 3).map((node) => node.html).join("\n")}`);
  assert.deepEqual(text, [], "axe-core");
  assert.deepEqual(page.faults, []);
  const own = new URL(page.url()).origin;
  assert.deepEqual(page.requests.filter((url) => !url.startsWith(own) && !url.startsWith("data:")), [], "other hosts");
  const count = await page.evaluate(() => document.querySelectorAll(".row").length);
  assert.ok(count <= 600, `${count} rows in the document`);
}

export async function selected(page) {
  await settle(page);
  return page.evaluate(() => ({
    path: document.querySelector('[data-pane="value"] [aria-selected="true"]')?.dataset.path,
    octets: [...document.querySelectorAll('[data-pane="octets"] [data-offset][aria-selected="true"]')].map((it) => Number(it.dataset.offset)),
    line: document.querySelector('[data-pane="schema"] [aria-current="true"]')?.textContent,
    explained: document.querySelector('[data-pane="explain"] h3')?.textContent,
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }));
}

export const demo = () => inspect("-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber");
