//! Messages of the editor, one after the other. A snapshot is made when an answer needs one, after all edits that have come.

use super::answers::{self, Wishes};
use super::commands::{self, Shown};
use super::documents::Documents;
use super::places::{World, line_column, refused};
use super::settings::{Settings, hint_kinds};
use super::uri;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use tercet::{Schema, SchemaOptions};
use tercet_ide::{Columns, HintKind, Near, Reach, Snapshot};

/// Requests about all texts.
const ALL: [&str; 3] = ["textDocument/references", "textDocument/prepareRename", "textDocument/rename"];
/// Texts that somebody works on at a time.
const MOST_FOCUS: usize = 4;

type Done<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Serves until the editor ends it.
pub(super) fn run(paths: &[PathBuf], options: SchemaOptions) -> Done<()> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection.initialize_start()?;
    let info = json!({ "name": "tercet", "version": env!("CARGO_PKG_VERSION") });
    // Bytes are what texts have: no columns are counted then.
    let encodings = list(params.pointer("/capabilities/general/positionEncodings"));
    let columns = if encodings.contains(&json!("utf-8")) { Columns::Utf8 } else { Columns::Utf16 };
    connection.initialize_finish(id, json!({ "capabilities": capabilities(columns), "serverInfo": info }))?;
    // The connection holds one message at a time: here all wait that have arrived while an answer is made.
    let (sender, incoming) = mpsc::channel();
    let receiver = connection.receiver.clone();
    std::thread::spawn(move || receiver.into_iter().all(|message| sender.send(message).is_ok()));
    let mut server = Server {
        connection,
        incoming,
        options,
        documents: Documents::new(columns),
        world: None,
        near: None,
        reach: Reach::default(),
        focus: Vec::new(),
        changed: BTreeSet::new(),
        pulls: false,
        shows_documents: params.pointer("/capabilities/window/showDocument/support") == Some(&json!(true)),
        wishes: Wishes { rules: tercet_ide::HOVER_RULES.to_vec(), hints: HintKind::ALL.to_vec() },
        shown: Shown::default(),
        requests: 0,
    };
    server.pulls = !params.pointer("/capabilities/textDocument/diagnostic").unwrap_or(&Value::Null).is_null();
    if let Some(names) = params.pointer("/initializationOptions/hints").and_then(Value::as_array) {
        match hint_kinds(names.iter().filter_map(Value::as_str)) {
            Ok(hints) => server.wishes.hints = hints,
            Err(fault) => server.tell(vec![fault])?,
        }
    }
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

fn capabilities(columns: Columns) -> Value {
    let encoding = match columns {
        Columns::Utf16 => "utf-16",
        Columns::Utf8 => "utf-8",
    };
    let action_kinds =
        ["quickfix", "refactor.extract", "refactor.rewrite", "source.organizeImports", "source.tercet"];
    json!({
        "positionEncoding": encoding,
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
        "codeActionProvider": { "codeActionKinds": action_kinds },
        "codeLensProvider": { "resolveProvider": false },
        "executeCommandProvider": { "commands": commands::names() },
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
    /// The messages of the editor.
    incoming: mpsc::Receiver<Message>,
    options: SchemaOptions,
    documents: Documents,
    /// What all texts mean; none if they have changed since.
    world: Option<World>,
    /// What the texts mean that somebody works on, with all that they depend on; none if they have changed since.
    near: Option<World>,
    reach: Reach,
    /// The texts that somebody works on, the last one at the end.
    focus: Vec<String>,
    /// The texts that have changed since diagnostics were shown.
    changed: BTreeSet<String>,
    /// Whether the editor asks for diagnostics itself.
    pulls: bool,
    /// Whether the editor shows files and addresses that it is given.
    shows_documents: bool,
    wishes: Wishes,
    shown: Shown,
    /// How many requests have been sent to the editor.
    requests: i32,
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
            Ok(rules) => self.wishes.rules = rules.unwrap_or_else(|| std::mem::take(&mut self.wishes.rules)),
            Err(fault) => faults.push(fault),
        }
        match settings.hints() {
            Ok(hints) => self.wishes.hints = hints.unwrap_or_else(|| std::mem::take(&mut self.wishes.hints)),
            Err(fault) => faults.push(fault),
        }
        for root in settings.roots(folder) {
            faults.extend(self.documents.add_root(&root));
        }
        faults
    }

    fn serve(&mut self) -> Done<()> {
        let mut is_shown = false;
        // Messages that have arrived; a request among them may be cancelled by a later one.
        let mut arrived = VecDeque::new();
        loop {
            arrived.extend(self.incoming.try_iter());
            // Edits that have arrived are applied before diagnostics are sent.
            if arrived.is_empty() {
                if !is_shown && !self.pulls {
                    self.show_diagnostics()?;
                    is_shown = true;
                }
                let Ok(message) = self.incoming.recv() else { return Ok(()) };
                arrived.push_back(message);
                continue;
            }
            let Some(message) = arrived.pop_front() else { continue };
            match message {
                Message::Request(request) => {
                    if request.method == "shutdown" {
                        self.connection.sender.send(Response::new_ok(request.id, Value::Null).into())?;
                        return self.wait_for_exit(arrived);
                    }
                    let response = match arrived.iter().any(|later| cancels(later, &request.id)) {
                        true => cancelled(request.id),
                        false => self.answer(request),
                    };
                    self.connection.sender.send(Message::Response(response))?;
                }
                Message::Notification(it) => {
                    is_shown &= !self.take(&it)?;
                }
                Message::Response(_) => {}
            }
        }
    }

    /// Waits until the editor says `exit`, or ends; requests are refused.
    fn wait_for_exit(&self, mut arrived: VecDeque<Message>) -> Done<()> {
        while let Some(message) = arrived.pop_front().or_else(|| self.incoming.recv().ok()) {
            match message {
                Message::Notification(it) if it.method == "exit" => break,
                Message::Request(request) => {
                    let (code, message) = (ErrorCode::InvalidRequest as i32, "the server has shut down");
                    let refused = Response::new_err(request.id, code, message.to_owned());
                    self.connection.sender.send(refused.into())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a notification; returns whether texts have changed.
    fn take(&mut self, it: &Notification) -> Done<bool> {
        let params = &it.params;
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let version = params.pointer("/textDocument/version").and_then(Value::as_i64).unwrap_or(0);
        let document = text("/textDocument/uri");
        let mut faults = Vec::new();
        self.touch(document, it.method != "textDocument/didChange");
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
                    changed.into_iter().for_each(|uri| self.touch(uri, true));
                    faults.extend(changed.and_then(|uri| self.documents.changed_outside(uri)));
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                let paths = |pointer: &str| -> Vec<PathBuf> {
                    let uris = list(params.pointer(pointer)).iter();
                    uris.filter_map(|it| uri::to_path(it.get("uri")?.as_str()?)).collect()
                };
                // Which texts there are has changed.
                self.reach = Reach::default();
                self.changed.extend(self.documents.open_ones().map(|(uri, _)| uri.to_owned()));
                paths("/event/removed").iter().for_each(|path| self.documents.remove_root(path));
                paths("/event/added").iter().for_each(|path| faults.extend(self.add_folder(path)));
            }
            _ => return Ok(false),
        }
        (self.world, self.near) = (None, None);
        self.tell(faults)?;
        Ok(true)
    }

    /// Notes that a text changes; `is_other` if it is not an edit of the text that was known.
    fn touch(&mut self, uri: &str, is_other: bool) {
        if uri.is_empty() {
            return;
        }
        let uri = uri::normal(uri);
        if is_other {
            // Names may have come or gone that any text uses.
            self.reach.forget(&uri);
            self.changed.extend(self.documents.open_ones().map(|(open, _)| open.to_owned()));
        }
        self.changed.insert(uri);
    }

    fn answer(&mut self, Request { id, method, params }: Request) -> Response {
        if method == "workspace/executeCommand" {
            return match self.execute(&params) {
                Ok(value) => Response::new_ok(id, value),
                Err(error) => Response::new_err(id, error.code, error.message),
            };
        }
        let document = params.pointer("/textDocument/uri").and_then(Value::as_str).map(uri::normal);
        let world = match document.filter(|_| !ALL.contains(&method.as_str())) {
            Some(document) => {
                self.focus_on(&document);
                self.near.as_ref()
            }
            // Texts that all belong together are not read twice.
            None if self.near.as_ref().is_some_and(|near| near.is_whole) => self.near.as_ref(),
            None => {
                self.read_all();
                self.world.as_ref()
            }
        };
        let answer = match world {
            Some(world) => answers::answer(world, &self.reach, &method, &params, &self.wishes),
            None => Err(refused("no texts")),
        };
        match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, error.code, error.message),
        }
    }

    /// Runs a command of [`commands`] about a type of a text.
    fn execute(&mut self, params: &Value) -> Result<Value, ResponseError> {
        let command = params.get("command").and_then(Value::as_str).unwrap_or_default();
        if !commands::names().contains(&command) {
            let known = commands::names().join(", ");
            return Err(refused(format!("unknown command `{command}`; known: {known}")));
        }
        let document = params.pointer("/arguments/0").and_then(Value::as_str).unwrap_or_default();
        self.focus_on(&uri::normal(document));
        let world = self.near.as_ref().ok_or_else(|| refused("no texts"))?;
        let name = commands::subject(world, params)?;
        if command == commands::SAMPLE {
            let text = commands::sample(world.snapshot.schema(), &name).map_err(refused)?;
            self.show_text(&name, &text).map_err(refused)?;
            return Ok(json!({ "type": name, "text": text }));
        }
        self.inspect(&name)
    }

    /// Opens a sample of a type in the inspector.
    #[cfg(feature = "inspect")]
    fn inspect(&mut self, name: &str) -> Result<Value, ResponseError> {
        let texts = self.near.iter().flat_map(|world| world.snapshot.sources().files());
        let mut sources = tercet::syntax::SourceMap::new();
        for (_, file) in texts {
            // The page shows paths, as `tercet inspect` does.
            let path = uri::to_path(&file.name).map(|path| path.display().to_string());
            sources.add(path.unwrap_or_else(|| file.name.clone()), file.text.clone());
        }
        let schema = Schema::from_sources(sources, &self.options);
        let url = commands::inspect(schema, name, &self.wishes.rules).map_err(refused)?;
        let shown = if self.shows_documents {
            self.request("window/showDocument", json!({ "uri": url, "external": true }))
        } else {
            self.message(3, &format!("{name}: {url}"))
        };
        shown.map_err(refused)?;
        Ok(json!({ "type": name, "url": url }))
    }

    #[cfg(not(feature = "inspect"))]
    fn inspect(&mut self, _: &str) -> Result<Value, ResponseError> {
        Err(refused("this command was built without the inspector"))
    }

    /// Shows a text that is in no file of the workspace.
    fn show_text(&mut self, name: &str, text: &str) -> Done<()> {
        if !self.shows_documents {
            return self.message(3, text);
        }
        let path = self.shown.write(name, text)?;
        self.request("window/showDocument", json!({ "uri": uri::of_path(&path), "takeFocus": true }))
    }

    /// Asks the editor for something; its answer is not waited for.
    fn request(&mut self, method: &str, params: Value) -> Done<()> {
        self.requests += 1;
        let request = Request::new(self.requests.into(), method.to_owned(), params);
        Ok(self.connection.sender.send(Message::Request(request))?)
    }

    /// Reads all texts, if they have changed.
    fn read_all(&mut self) {
        let Self { documents, options, world, .. } = self;
        let columns = documents.columns;
        world.get_or_insert_with(|| {
            let snapshot = Snapshot::with_options(documents.texts(), options);
            World::new(Near { snapshot, is_whole: true }, columns)
        });
    }

    /// Reads a text and all that it depends on, if they have changed.
    fn focus_on(&mut self, document: &str) {
        let is_new = !self.focus.iter().any(|known| known == document);
        if is_new {
            self.focus.push(document.to_owned());
            if self.focus.len() > MOST_FOCUS {
                self.focus.remove(0);
            }
        }
        let has_text = |world: &World| world.snapshot.file(document).is_some();
        if !self.near.as_ref().is_some_and(has_text) {
            self.near = Some(self.make_near());
        }
    }

    /// Reads the texts that somebody works on, those that depend on changed ones, and what they depend on.
    fn make_near(&mut self) -> World {
        let Self { documents, options, reach, focus, changed, .. } = self;
        let texts: BTreeMap<&str, &str> = documents.texts().collect();
        reach.read(&texts, options);
        let open = documents.open_ones().map(|(uri, _)| uri);
        let mut start: Vec<&str> = open.filter(|uri| reach.depends(uri, changed, options)).collect();
        start.extend(focus.iter().map(String::as_str).filter(|uri| texts.contains_key(uri)));
        World::new(reach.near(&texts, &start, options), documents.columns)
    }

    /// Sends the diagnostics of all texts that the editor holds and that the changes can have an effect on.
    fn show_diagnostics(&mut self) -> Done<()> {
        let is_near = |server: &Self, world: &World| {
            let mut open = server.documents.open_ones();
            let concerns = |uri: &str| server.reach.depends(uri, &server.changed, &server.options);
            open.all(|(uri, _)| world.snapshot.file(uri).is_some() || !concerns(uri))
        };
        let mut world =
            self.near.take().filter(|world| is_near(self, world)).unwrap_or_else(|| self.make_near());
        if self.reach.take_new_names() {
            self.changed.extend(self.documents.open_ones().map(|(uri, _)| uri.to_owned()));
            if !is_near(self, &world) {
                world = self.make_near();
                self.reach.take_new_names();
            }
        }
        for (uri, version) in self.documents.open_ones() {
            let file =
                world.snapshot.file(uri).filter(|_| self.reach.depends(uri, &self.changed, &self.options));
            if let Some(file) = file {
                self.publish(uri, Some(version), json!(answers::diagnostics(&world, &self.reach, file)))?;
            }
        }
        self.changed.clear();
        self.near = Some(world);
        Ok(())
    }

    fn publish(&self, uri: &str, version: Option<i64>, diagnostics: Value) -> Done<()> {
        let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
        let message = Notification::new("textDocument/publishDiagnostics".to_owned(), params);
        Ok(self.connection.sender.send(Message::Notification(message))?)
    }

    /// Shows what went wrong with files.
    fn tell(&self, faults: Vec<String>) -> Done<()> {
        faults.iter().try_for_each(|fault| self.message(2, fault))
    }

    /// Shows a message, as MessageType of the protocol: 2 a warning, 3 information.
    fn message(&self, kind: u8, text: &str) -> Done<()> {
        let params = json!({ "type": kind, "message": text });
        let message = Notification::new("window/showMessage".to_owned(), params);
        Ok(self.connection.sender.send(Message::Notification(message))?)
    }
}

/// Reports whether a message cancels a request.
fn cancels(message: &Message, id: &RequestId) -> bool {
    let Message::Notification(it) = message else { return false };
    let known = it.params.get("id").and_then(|it| serde_json::from_value::<RequestId>(it.clone()).ok());
    it.method == "$/cancelRequest" && known.as_ref() == Some(id)
}

/// The answer to a request that was cancelled before it was looked at.
fn cancelled(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::RequestCanceled as i32, "cancelled by the editor".to_owned())
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The answer to a method that is not known.
pub(super) fn unknown(method: &str) -> ResponseError {
    ResponseError { code: ErrorCode::MethodNotFound as i32, ..refused(format!("no method `{method}`")) }
}
