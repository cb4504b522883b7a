// A thread that the engine runs in, so that the page stays alive and can end it.

import { start } from "./wasi.js";

let ask = null;

self.addEventListener("message", ({ data }) => {
  if (data.module) { ask = start(data.module); return; }
  try {
    self.postMessage({ answer: ask(data.request) });
  } catch (error) {
    self.postMessage({ error: error.message });
  }
});
