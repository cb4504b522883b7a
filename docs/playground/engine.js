// Requests to the engine in its thread. One is answered at a time; of those that wait, only the newest counts.

const SECONDS = 10;

export class Engine {
  #module; #worker = null; #waiting = null; #timer = 0; #heard; #current = null;

  // `heard` gets each answer, or `{ error }`, with the request. It is called for all but those that a newer one has replaced.
  constructor(module, heard) {
    this.#module = module;
    this.#heard = heard;
  }

  static async load(url, heard) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
    // Some servers have no type for modules, which `compileStreaming` requires.
    return new Engine(await WebAssembly.compile(await answer.arrayBuffer()), heard);
  }

  ask(request) {
    this.#waiting = request;
    if (!this.#current) this.#next();
  }

  #next() {
    const request = this.#current = this.#waiting;
    this.#waiting = null;
    if (!request) return;
    this.#worker ??= this.#begin();
    this.#timer = setTimeout(() => this.#end(`no answer in ${SECONDS} seconds: the engine was stopped`), SECONDS * 1000);
    this.#worker.postMessage({ request: JSON.stringify(request) });
  }

  #begin() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      if (data.error) this.#end(`the engine stopped: ${data.error}`);
      else this.#answer(JSON.parse(data.answer));
    });
    worker.addEventListener("error", (event) => this.#end(`the engine stopped: ${event.message}`));
    worker.postMessage({ module: this.#module });
    return worker;
  }

  // After a fault the memory of the module means nothing: the next request gets a new one.
  #end(error) {
    this.#worker?.terminate();
    this.#worker = null;
    this.#answer({ error });
  }

  #answer(answer) {
    clearTimeout(this.#timer);
    const request = this.#current;
    if (!this.#waiting) this.#heard(answer, request);
    this.#next();
  }
}
