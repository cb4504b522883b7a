// The engine as a module of WebAssembly: what it needs of a system (WASI preview 1), and a function that asks it.

const SUCCESS = 0, BAD_DESCRIPTOR = 8, NOT_SUPPORTED = 58;

// Starts the module. The answer is a function from requests to answers, both JSON texts of one line.
//
// The program reads its standard input to the end and answers each line. `_start` runs it once; after that its `main` can be called
// again, and what it has compiled is still there.
export function start(module) {
  let input = new Uint8Array(), errors = "";
  let output = [];
  let isStarted = false;
  const memory = () => new DataView(instance.exports.memory.buffer);
  const bytes = (at, length) => new Uint8Array(instance.exports.memory.buffer, at, length);
  // The buffers of a list: address and length of each.
  const buffers = (list, count) => Array.from({ length: count }, (_, index) => {
    const view = memory();
    return bytes(view.getUint32(list + index * 8, true), view.getUint32(list + index * 8 + 4, true));
  });
  const counted = (list) => (count, size) => {
    memory().setUint32(count, list, true);
    memory().setUint32(size, 0, true);
    return SUCCESS;
  };
  const system = {
    args_sizes_get: counted(0), environ_sizes_get: counted(0),
    args_get: () => SUCCESS, environ_get: () => SUCCESS,
    fd_prestat_get: () => BAD_DESCRIPTOR,
    fd_read(descriptor, list, count, read) {
      if (descriptor !== 0) return BAD_DESCRIPTOR;
      let total = 0;
      for (const buffer of buffers(list, count)) {
        const piece = input.subarray(0, buffer.length);
        buffer.set(piece);
        input = input.subarray(piece.length);
        total += piece.length;
      }
      memory().setUint32(read, total, true);
      return SUCCESS;
    },
    fd_write(descriptor, list, count, written) {
      if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
      let total = 0;
      for (const buffer of buffers(list, count)) {
        if (descriptor === 1) output.push(buffer.slice());
        else errors += new TextDecoder().decode(buffer);
        total += buffer.length;
      }
      memory().setUint32(written, total, true);
      return SUCCESS;
    },
    random_get: (at, length) => {
      // At most 64 KiB at a time.
      for (let from = 0; from < length; from += 65536) crypto.getRandomValues(bytes(at + from, Math.min(65536, length - from)));
      return SUCCESS;
    },
    clock_time_get: (_clock, _precision, at) => {
      memory().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return SUCCESS;
    },
    proc_exit: (code) => { throw new Error(`exit code ${code}`); },
  };
  const known = (name) => system[name] ?? (() => NOT_SUPPORTED);
  const imports = { wasi_snapshot_preview1: {} };
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from === "wasi_snapshot_preview1") imports[from][name] = known(name);
  }
  const instance = new WebAssembly.Instance(module, imports);

  return (request) => {
    input = new TextEncoder().encode(request);
    output = [];
    errors = "";
    try {
      if (isStarted) instance.exports.__main_void();
      else { isStarted = true; instance.exports._start(); }
    } catch (error) {
      throw new Error(errors.trim() || error.message, { cause: error });
    }
    const size = output.reduce((sum, piece) => sum + piece.length, 0);
    const text = new Uint8Array(size);
    let at = 0;
    for (const piece of output) { text.set(piece, at); at += piece.length; }
    return new TextDecoder().decode(text).trimEnd();
  };
}
