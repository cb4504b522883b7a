// Starts `tercet lsp` and hands its answers to VS Code. Nothing is downloaded.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("tercet");
  const command = settings.get("path") || "tercet";
  const schema = (settings.get("schema") || []).flatMap((path) => ["--schema", path]);
  const args = ["lsp", ...schema, ...(settings.get("arguments") || [])];
  client = new LanguageClient(
    "tercet",
    "ASN.1 (Tercet)",
    { command, args },
    {
      documentSelector: [{ language: "asn1" }],
      initializationOptions: { hints: settings.get("hints") },
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{asn,asn1,txt}") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(
      `Cannot start \`${command}\`: ${error.message}. Install Tercet, or set its path.`,
      "How to install",
      "Open settings",
    );
    if (choice === "How to install") {
      vscode.env.openExternal(vscode.Uri.parse("https://github.com/tercet/tercet/blob/main/docs/install.md"));
    } else if (choice === "Open settings") {
      vscode.commands.executeCommand("workbench.action.openSettings", "tercet.path");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

exports.activate = async (context) => {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("tercet.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("tercet") && restart()),
  );
  await start();
};

exports.deactivate = stop;
