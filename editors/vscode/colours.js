// Colours specifications with the grammar by the engine of VS Code: `scripts/editors test`. Each word of the text has to get the scope
// that its letters ask for, and comments and strings end where they end.
"use strict";

const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");

const [grammarFile, ...files] = process.argv.slice(2);
const raw = fs.readFileSync(grammarFile, "utf8");
const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm")).buffer;
const library = oniguruma.loadWASM(wasm).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));
const registry = new Registry({ onigLib: library, loadGrammar: async () => parseRawGrammar(raw, grammarFile) });

function tokens(grammar, text) {
  let state = INITIAL;
  return text.split(/\r?\n/).flatMap((line) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    return result.tokens.map((it) => [line.slice(it.startIndex, it.endIndex), it.scopes.at(-1)]);
  });
}

(async () => {
  const grammar = await registry.loadGrammar("source.asn1");
  const sample = 'A ::= SEQUENCE { a-1 DATE-TIME DEFAULT "x""--", b &Type-x } -- c -- B /* d /* e */ f */ g \'0F\'H -5 TRUE-x';
  const seen = tokens(grammar, sample);
  const scope = (word) => seen.find(([text]) => text === word)?.[1];
  for (const [word, expected] of [
    ["SEQUENCE", "support.type"], ["DATE-TIME", "support.type"], ["DEFAULT", "keyword.other"], ["a-1", "variable.other"],
    ["A", "entity.name.type"], ["B", "entity.name.type"], ["-- c --", "comment.line"], ["&Type-x", "variable.other.member"],
    ["g", "variable.other"], ["'0F'H", "constant.numeric"], ["TRUE-x", "entity.name.type"], ['""', "constant.character.escape"],
  ]) {
    if (!scope(word)?.startsWith(expected)) {
      throw new Error(`${word}: ${scope(word)}, not ${expected}: ${JSON.stringify(seen)}`);
    }
  }
  let count = 0;
  for (const file of files) {
    for (const [text, found] of tokens(grammar, fs.readFileSync(file, "utf8"))) {
      const word = text.trim();
      if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(word) || /comment|string/.test(found)) continue;
      count += 1;
      if (found === "source.asn1") throw new Error(`${file}: ${word} has no colour`);
    }
  }
  if (count < 1000) throw new Error(`${count} words`);
  console.log(`${files.length} files, ${count} words have colours`);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
