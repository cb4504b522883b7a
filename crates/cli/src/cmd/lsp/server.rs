//! Messages of the editor, one after the other. A snapshot is made when an answer needs one, after all edits that have come.

use super::answers;
use super::documents::Documents;
use super::places::{World, line_column, refused};
use super::settings::Settings;
use super::uri;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response, ResponseError};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use tercet::{Rules, SchemaOptions};
use tercet_ide::Snapshot;

type Done<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Serves until the editor ends it.
pub(super) fn run(paths: &[PathBuf], options: SchemaOptions) -> Done<()> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection.initialize_start()?;
    let info = json!({ "name": "tercet", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": info }))?;
    let mut server = Server {
        connection,
        options,
        documents: Documents::default(),
        world: None,
        pulls: false,
        rules: tercet_ide::HOVER_RULES.to_vec(),
    };
    server.pulls = !params.pointer("/capabilities/textDocument/diagnostic").unwrap_or(&Value::Null).is_null();
    for root in paths {
        let faults = server.documents.add_root(root);
        server.tell(faults)?;
    }
    for folder in roots(&params) {
        let faults = server.add_folder(&folder);
        server.tell(faults)?;
    }
    server.serve()?;
    drop(server);
    threads.join()?;
    Ok(())
}

/// The folders that the editor has opened.
fn roots(params: &Value) -> Vec<PathBuf> {
    let folders = params.get("workspaceFolders").and_then(Value::as_array);
    let folders =
        folders.map(|list| list.iter().filter_map(|it| it.get("uri")?.as_str()).collect::<Vec<_>>());
    let root = || params.get("rootUri").and_then(Value::as_str).into_iter().collect();
    folders
        .filter(|list| !list.is_empty())
        .unwrap_or_else(root)
        .into_iter()
        .filter_map(uri::to_path)
        .collect()
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2 },
        "diagnosticProvider": { "interFileDependencies": true, "workspaceDiagnostics": false },
        "hoverProvider": true,
        "definitionProvider": true,
        "typeDefinitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "inlayHintProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor.extract", "source.organizeImports"] },
        "renameProvider": { "prepareProvider": true },
        "signatureHelpProvider": { "triggerCharacters": ["{", ","] },
        "completionProvider": { "triggerCharacters": [".", "&"] },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": answers::TOKEN_TYPES, "tokenModifiers": ["declaration"] },
            "full": true,
            "range": true,
        },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    })
}

struct Server {
    connection: Connection,
    options: SchemaOptions,
    documents: Documents,
    /// What the texts mean; none if they have changed since.
    world: Option<World>,
    /// Whether the editor asks for diagnostics itself.
    pulls: bool,
    /// The encoding rules whose sizes hovers have.
    rules: Vec<Rules>,
}

impl Server {
    /// Reads the specifications of a folder that the editor has open, as its `tercet.toml` says. Returns what could not be read.
    fn add_folder(&mut self, folder: &Path) -> Vec<String> {
        let mut faults = Vec::new();
        let settings = Settings::of(folder).unwrap_or_else(|fault| {
            faults.push(fault);
            Settings::default()
        });
        settings.apply(&mut self.options);
        match settings.rules() {
            Ok(rules) => self.rules = rules.unwrap_or_else(|| std::mem::take(&mut self.rules)),
            Err(fault) => faults.push(fault),
        }
        for root in settings.roots(folder) {
            faults.extend(self.documents.add_root(&root));
        }
        faults
    }

    fn serve(&mut self) -> Done<()> {
        let mut is_shown = false;
        loop {
            // Edits that have arrived are applied before diagnostics are sent.
            let message = match self.connection.receiver.try_recv() {
                Ok(message) => message,
                Err(_) => {
                    if !is_shown && !self.pulls {
                        self.show_diagnostics()?;
                        is_shown = true;
                    }
                    let Ok(message) = self.connection.receiver.recv() else { return Ok(()) };
                    message
                }
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(Message::Response(response))?;
                }
                Message::Notification(it) => {
                    is_shown &= !self.take(&it)?;
                }
                Message::Response(_) => {}
            }
        }
    }

    /// Takes a notification; returns whether texts have changed.
    fn take(&mut self, it: &Notification) -> Done<bool> {
        let params = &it.params;
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let version = params.pointer("/textDocument/version").and_then(Value::as_i64).unwrap_or(0);
        let document = text("/textDocument/uri");
        let mut faults = Vec::new();
        match it.method.as_str() {
            "textDocument/didOpen" => {
                self.documents.open(document, text("/textDocument/text").to_owned(), version)
            }
            "textDocument/didChange" => {
                for change in list(params.get("contentChanges")) {
                    let end = |name: &str| change.pointer(name).and_then(line_column);
                    let range = end("/range/start").zip(end("/range/end")).map(|(from, to)| [from, to]);
                    let new = change.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.documents.edit(document, version, range, new);
                }
            }
            "textDocument/didClose" => {
                faults.extend(self.documents.close(document));
                self.publish(&uri::normal(document), None, json!([]))?;
            }
            "workspace/didChangeWatchedFiles" => {
                for change in list(params.get("changes")) {
                    let changed = change.get("uri").and_then(Value::as_str);
                    faults.extend(changed.and_then(|uri| self.documents.changed_outside(uri)));
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                let paths = |pointer: &str| -> Vec<PathBuf> {
                    let uris = list(params.pointer(pointer)).iter();
                    uris.filter_map(|it| uri::to_path(it.get("uri")?.as_str()?)).collect()
                };
                paths("/event/removed").iter().for_each(|path| self.documents.remove_root(path));
                paths("/event/added").iter().for_each(|path| faults.extend(self.add_folder(path)));
            }
            _ => return Ok(false),
        }
        self.world = None;
        self.tell(faults)?;
        Ok(true)
    }

    fn answer(&mut self, Request { id, method, params }: Request) -> Response {
        let rules = self.rules.clone();
        match answers::answer(self.world(), &method, &params, &rules) {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, error.code, error.message),
        }
    }

    fn world(&mut self) -> &World {
        let Self { documents, options, world, .. } = self;
        world.get_or_insert_with(|| World::new(Snapshot::with_options(documents.texts(), options)))
    }

    /// Tells the diagnostics of all texts that the editor holds.
    fn show_diagnostics(&mut self) -> Done<()> {
        self.world();
        let Some(world) = &self.world else { return Ok(()) };
        for (uri, version) in self.documents.open_ones() {
            if let Some(file) = world.snapshot.file(uri) {
                self.publish(uri, Some(version), json!(answers::diagnostics(world, file)))?;
            }
        }
        Ok(())
    }

    fn publish(&self, uri: &str, version: Option<i64>, diagnostics: Value) -> Done<()> {
        let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
        let message = Notification::new("textDocument/publishDiagnostics".to_owned(), params);
        Ok(self.connection.sender.send(Message::Notification(message))?)
    }

    /// Shows what went wrong with files.
    fn tell(&self, faults: Vec<String>) -> Done<()> {
        for fault in faults {
            let params = json!({ "type": 2, "message": fault });
            let message = Notification::new("window/showMessage".to_owned(), params);
            self.connection.sender.send(Message::Notification(message))?;
        }
        Ok(())
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The answer to a method that is not known.
pub(super) fn unknown(method: &str) -> ResponseError {
    ResponseError { code: ErrorCode::MethodNotFound as i32, ..refused(format!("no method `{method}`")) }
}
