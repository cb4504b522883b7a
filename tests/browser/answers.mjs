// Answers requests to the playground, a line of standard input each, by the module of WebAssembly in a folder that
// `scripts/playground` has built.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

const folder = process.argv[2];
// As text: Node takes a file `.js` for a module of another kind.
const { start } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(join(folder, "wasi.js"), "utf8"))}`);
const ask = start(new WebAssembly.Module(readFileSync(join(folder, "tercet.wasm"))));
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${ask(line)}\n`);
