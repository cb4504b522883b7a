//! `tercet lsp`, driven as an editor drives it.

#![cfg(feature = "lsp")]

#[path = "common/editor.rs"]
mod editor;

use editor::{Editor, PORTS, SHIPS};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;

#[test]
fn edits_bring_diagnostics_and_fixes_take_them_away() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", SHIPS);
    assert_eq!(editor.diagnostics("ships.asn"), [json!(null); 0]);
    // `home Port` becomes `home Pier`, which is not imported.
    let range = json!({ "start": { "line": 2, "character": 42 }, "end": { "line": 2, "character": 46 } });
    let change = json!([{ "range": range, "text": "Pier" }]);
    let document = json!({ "uri": editor.uri("ships.asn"), "version": 2 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
    let found = editor.diagnostics("ships.asn");
    let unknown = found.iter().find(|it| it["code"] == "E0201").expect("a diagnostic");
    assert_eq!(unknown["range"], range);
    assert_eq!(unknown["severity"], 1);
    let params = json!({ "textDocument": { "uri": editor.uri("ships.asn") }, "range": range, "context": {} });
    let actions = editor.ask("textDocument/codeAction", params);
    let edits = &actions[0]["edit"]["changes"][editor.uri("ships.asn")];
    assert_eq!(edits[0]["newText"], ", Pier");
    let change = json!([{ "range": edits[0]["range"], "text": edits[0]["newText"] }]);
    let document = json!({ "uri": editor.uri("ships.asn"), "version": 3 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
    let found = editor.diagnostics("ships.asn");
    assert!(!found.iter().any(|it| it["code"] == "E0201"), "{found:?}");
    // Nothing uses `Port` any more.
    assert!(found.iter().any(|it| it["tags"] == json!([1])), "{found:?}");
    editor.end();
}

#[test]
fn editors_that_pull_get_no_diagnostics_unasked() {
    let mut editor = Editor::new(&json!({ "textDocument": { "diagnostic": {} } }));
    editor.open("ships.asn", &SHIPS.replace("FROM Ports", "FROM Harbours"));
    let document = json!({ "textDocument": { "uri": editor.uri("ships.asn") } });
    let answer = editor.ask("textDocument/diagnostic", document);
    assert_eq!(answer["kind"], "full");
    assert_ne!(answer["items"], json!([]));
    editor.end();
}

#[test]
fn names_are_found_and_renamed_across_files() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", SHIPS);
    let place = editor.at("ships.asn", 2, 43);
    let definition = editor.ask("textDocument/definition", place.clone());
    assert_eq!(definition["uri"], editor.uri("ports.asn"));
    assert_eq!(definition["range"]["start"], json!({ "line": 1, "character": 0 }));
    let hover = editor.ask("textDocument/hover", place.clone());
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Port ::= IA5String"), "{hover}");
    let mut params = place.clone();
    params["context"] = json!({ "includeDeclaration": false });
    assert_eq!(editor.ask("textDocument/references", params).as_array().unwrap().len(), 2);
    assert_eq!(editor.ask("textDocument/documentHighlight", place.clone()).as_array().unwrap().len(), 2);
    assert_eq!(editor.ask("textDocument/prepareRename", place.clone())["placeholder"], "Port");
    let mut params = place;
    params["newName"] = json!("Harbour");
    let edit = editor.ask("textDocument/rename", params.clone());
    assert_eq!(edit["changes"][editor.uri("ports.asn")].as_array().unwrap().len(), 1);
    assert_eq!(edit["changes"][editor.uri("ships.asn")].as_array().unwrap().len(), 2);
    params["newName"] = json!("Pier");
    let refused = editor.answer("textDocument/rename", params);
    assert_eq!(refused["error"]["message"], "the name is taken");
    let ty = editor.at("ships.asn", 2, 38);
    assert_eq!(editor.ask("textDocument/typeDefinition", ty)["uri"], editor.uri("ports.asn"));
    editor.end();
}

#[test]
fn documents_have_structure_colours_and_proposals() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", SHIPS);
    let document = json!({ "textDocument": { "uri": editor.uri("ships.asn") } });
    let symbols = editor.ask("textDocument/documentSymbol", document.clone());
    assert_eq!(symbols[0]["children"][0]["children"][1]["name"], "home");
    let found = editor.ask("workspace/symbol", json!({ "query": "pie" }));
    assert_eq!(
        (found[0]["name"].clone(), found[0]["containerName"].clone()),
        (json!("Pier"), json!("Ports"))
    );
    let tokens = editor.ask("textDocument/semanticTokens/full", document.clone());
    assert_eq!(tokens["data"].as_array().unwrap().len() % 5, 0);
    assert_eq!(&tokens["data"].as_array().unwrap()[..5], &json!([0, 0, 5, 4, 1]).as_array().unwrap()[..]);
    let place = editor.at("ships.asn", 2, 44);
    let completion = editor.ask("textDocument/completion", place);
    let items = completion["items"].as_array().unwrap();
    let pier = items.iter().find(|it| it["label"] == "Pier").unwrap();
    assert_eq!(pier["additionalTextEdits"][0]["newText"], ", Pier");
    let place = editor.at("ships.asn", 2, 44);
    assert_eq!(editor.ask("textDocument/signatureHelp", place), Value::Null);
    let hints = editor.ask("textDocument/inlayHint", document.clone());
    assert_eq!(hints[0]["label"], " [0]");
    assert_eq!(hints[0]["tooltip"], "given by AUTOMATIC TAGS");
    assert_ne!(editor.ask("textDocument/foldingRange", document.clone()), json!([]));
    let positions = json!([{ "line": 2, "character": 43 }]);
    let ranges = json!({ "textDocument": { "uri": editor.uri("ships.asn") }, "positions": positions });
    assert!(editor.ask("textDocument/selectionRange", ranges)[0]["parent"]["parent"].is_object());
    let formatted = editor.ask("textDocument/formatting", document);
    assert!(formatted[0]["newText"].as_str().unwrap().contains("    home"), "{formatted}");
    editor.end();
}

#[test]
fn half_written_texts_stay_as_they_are() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", &SHIPS[..SHIPS.len() - 6]);
    assert_ne!(editor.diagnostics("ships.asn"), [json!(null); 0]);
    let document = json!({ "textDocument": { "uri": editor.uri("ships.asn") } });
    assert_eq!(editor.ask("textDocument/formatting", document), json!([]));
    editor.end();
}

#[test]
fn files_that_change_outside_are_read_again() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", SHIPS);
    assert_eq!(editor.diagnostics("ships.asn"), [json!(null); 0]);
    std::fs::write(editor.folder.path().join("ports.asn"), PORTS.replace("Port ::=", "Harbour ::=")).unwrap();
    let change = json!([{ "uri": editor.uri("ports.asn"), "type": 2 }]);
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": change }));
    assert_ne!(editor.diagnostics("ships.asn"), [json!(null); 0]);
    std::fs::remove_file(editor.folder.path().join("ports.asn")).unwrap();
    let change = json!([{ "uri": editor.uri("ports.asn"), "type": 3 }]);
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": change }));
    let found = editor.diagnostics("ships.asn");
    assert!(found.iter().any(|it| it["message"].as_str().unwrap().contains("Ports")), "{found:?}");
    editor.end();
}

#[test]
fn what_is_not_a_request_of_ours_is_refused() {
    let mut editor = Editor::new(&json!({}));
    assert_eq!(editor.answer("textDocument/moniker", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.answer("textDocument/hover", json!({}))["error"]["code"], -32602);
    assert_eq!(editor.answer("textDocument/hover", Value::Null)["error"]["code"], -32602);
    let far = editor.at("ships.asn", 4_000_000_000, 4_000_000_000);
    assert_eq!(editor.ask("textDocument/hover", far), Value::Null);
    let unknown = editor.at("nowhere.asn", 0, 0);
    assert_eq!(editor.answer("textDocument/hover", unknown)["error"]["code"], -32803);
    editor.end();
}

#[test]
fn parts_are_laid_out_and_types_extracted() {
    let mut editor = Editor::new(&json!({}));
    let text = "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n\
        IMPORTS Port, Pier FROM Ports;\n\
        Ship::=SEQUENCE { home Port, size ENUMERATED { small, large }, other ANY }\n\
        Boat::=SEQUENCE { home Port }\nEND\n";
    editor.open("ships.asn", text);
    let found = editor.diagnostics("ships.asn");
    let deprecated: Vec<_> = found.iter().filter(|it| it["tags"] == json!([2])).collect();
    assert_eq!(deprecated.len(), 1, "{found:?}");
    assert_eq!(deprecated[0]["range"]["start"], json!({ "line": 2, "character": 69 }));
    let document = json!({ "uri": editor.uri("ships.asn") });
    let range = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    let params = json!({ "textDocument": document, "range": range(3, 0, 4), "options": {} });
    let edits = editor.ask("textDocument/rangeFormatting", params);
    assert_eq!(edits.as_array().unwrap().len(), 1);
    assert!(edits[0]["newText"].as_str().unwrap().starts_with("Boat ::= SEQUENCE {"), "{edits}");
    let mut actions = |only: &[&str], range: Value| {
        let context = json!({ "diagnostics": [], "only": only });
        let params = json!({ "textDocument": document, "range": range, "context": context });
        editor.ask("textDocument/codeAction", params).as_array().unwrap().clone()
    };
    let sorted = actions(&["source.organizeImports"], range(0, 0, 0));
    assert_eq!(sorted.len(), 1, "{sorted:?}");
    assert!(sorted[0]["edit"].to_string().contains("Port\\n        FROM Ports"), "{}", sorted[0]);
    let extracted = actions(&["refactor.extract"], range(2, 36, 36));
    assert_eq!(extracted.len(), 1, "{extracted:?}");
    assert_eq!(extracted[0]["title"], "extract the type as `Size`");
    let hover = editor.ask("textDocument/hover", editor.at("ships.asn", 3, 1));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Bytes: BER 4 or more"), "{hover}");
    editor.end();
}

#[test]
fn hints_have_the_bits_of_per_and_can_be_switched() {
    let text = "Ships DEFINITIONS ::= BEGIN\n\
        Ship ::= SEQUENCE { crew INTEGER (0..63), flag BOOLEAN OPTIONAL, ... }\nEND\n";
    let labels = |options: Value, toml: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tercet.toml"), toml).unwrap();
        let mut editor = Editor::with(&json!({}), &options, folder);
        editor.open("ships.asn", text);
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 50 } });
        let params = json!({ "textDocument": { "uri": editor.uri("ships.asn") }, "range": range });
        let hints = editor.ask("textDocument/inlayHint", params);
        editor.end();
        hints
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["label"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = [" EXPLICIT TAGS", " extension bit, 1 presence bit", " 6 bits", " 1 bit"];
    assert_eq!(labels(Value::Null, ""), all);
    assert_eq!(labels(Value::Null, "hints = [\"widths\"]"), [" 6 bits", " 1 bit"]);
    assert_eq!(labels(json!({ "hints": ["tag-default"] }), ""), [" EXPLICIT TAGS"]);
    // Without PER among the rules, nobody asks for its bits.
    assert_eq!(labels(Value::Null, "rules = [\"ber\"]"), [" EXPLICIT TAGS"]);
}

#[test]
fn types_have_commands() {
    let capabilities = json!({ "window": { "showDocument": { "support": true } } });
    let mut editor = Editor::new(&capabilities);
    editor.open("ships.asn", SHIPS);
    // They would come between the answers otherwise.
    assert_eq!(editor.diagnostics("ships.asn"), [json!(null); 0]);
    let document = json!({ "uri": editor.uri("ships.asn") });
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": document }));
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|it| it["command"]["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["sample value", "open in inspector"]);
    let at = json!({ "line": 2, "character": 2 });
    let params = json!({ "textDocument": document, "range": { "start": at, "end": at }, "context": {} });
    let actions = editor.ask("textDocument/codeAction", params).as_array().unwrap().clone();
    let titles: Vec<&str> = actions.iter().map(|it| it["title"].as_str().unwrap()).collect();
    let expected = [
        "add an extension marker (changes encodings by PER and OER)",
        "show a sample value of `Ship`",
        "open `Ship` in the inspector",
    ];
    assert!(expected.iter().all(|it| titles.contains(it)), "{titles:?}");

    // The command of the lens; the editor is asked to show what it gives.
    editor.send(&json!({ "jsonrpc": "2.0", "id": 900, "method": "workspace/executeCommand", "params": lenses[0]["command"] }));
    let request = editor.receive();
    assert_eq!(request["method"], "window/showDocument", "{request}");
    let shown = request["params"]["uri"].as_str().unwrap().strip_prefix("file://").unwrap().to_owned();
    editor.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "success": true } }));
    let answer = editor.receive();
    let text = answer["result"]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("sample Ship ::= {") && text.contains("home"), "{answer}");
    assert_eq!(std::fs::read_to_string(&shown).unwrap(), text);
    // It is a value of the type.
    let whole = SHIPS.replace("END", &format!("{text}END"));
    let change = json!([{ "text": whole }]);
    let versioned = json!({ "uri": document["uri"], "version": 2 });
    editor.tell("textDocument/didChange", json!({ "textDocument": versioned, "contentChanges": change }));
    assert_eq!(editor.diagnostics("ships.asn"), [json!(null); 0]);

    let unknown = json!({ "command": "tercet.nothing", "arguments": [] });
    let refused = editor.answer("workspace/executeCommand", unknown);
    assert!(refused["error"]["message"].as_str().unwrap().contains("tercet.sample"), "{refused}");
    let unknown = json!({ "command": "tercet.sample", "arguments": [document["uri"], "Ships.Nothing"] });
    let refused = editor.answer("workspace/executeCommand", unknown);
    assert!(refused["error"]["message"].as_str().unwrap().contains("Nothing"), "{refused}");
    editor.end();
    assert!(!Path::new(&shown).exists(), "the folder is removed at the end");
}

#[cfg(feature = "inspect")]
#[test]
fn the_inspector_opens_from_the_editor() {
    let mut editor = Editor::new(&json!({}));
    editor.open("ships.asn", SHIPS);
    let at = json!({ "line": 2, "character": 2 });
    let params = json!({ "command": "tercet.inspect", "arguments": [editor.uri("ships.asn"), at] });
    let answer = editor.ask("workspace/executeCommand", params);
    assert_eq!(answer["type"], "Ships.Ship");
    let url = answer["url"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let path = url.split_once(address).unwrap().1;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = Vec::new();
    stream.read_to_end(&mut page).unwrap();
    assert!(page.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&page[..60]));
    editor.end();
}

#[test]
fn columns_are_bytes_if_the_editor_can_count_them() {
    let text =
        "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nShip ::= SEQUENCE { /* \u{1d11e} */ home Shp }\nEND\n";
    for (encodings, expected, column) in
        [(json!(["utf-8", "utf-16"]), "utf-8", 36), (json!(["utf-16"]), "utf-16", 34)]
    {
        let mut editor = Editor::new(&json!({ "general": { "positionEncodings": encodings } }));
        assert_eq!(editor.capabilities["positionEncoding"], expected);
        editor.open("ships.asn", text);
        let found = editor.diagnostics("ships.asn");
        assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": column }), "{expected}");
        // The fix of `Shp`, by columns of that kind.
        let end = json!({ "line": 1, "character": column + 3 });
        let change =
            json!([{ "range": { "start": found[0]["range"]["start"], "end": end }, "text": "NULL" }]);
        let document = json!({ "uri": editor.uri("ships.asn"), "version": 2 });
        editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
        assert_eq!(editor.diagnostics("ships.asn"), [json!(null); 0], "{expected}");
        editor.end();
    }
}

#[test]
fn objects_and_values_are_completed_by_what_governs_them() {
    let mut editor = Editor::new(&json!({}));
    let text = "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n\
        OP ::= CLASS { &code INTEGER, &Arg } WITH SYNTAX { CODE &code [TAKES &Arg] }\n\
        Ship ::= SEQUENCE { name UTF8String, crew INTEGER }\n\
        op OP ::= { CODE 5 T }\n\
        ship Ship ::= { name \"Argo\", c }\nEND\n";
    editor.open("ships.asn", text);
    let mut labels = |line: u32, character: u32| {
        let found = editor.ask("textDocument/completion", editor.at("ships.asn", line, character));
        let items = found["items"].as_array().unwrap().clone();
        items.iter().map(|it| it["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels(3, 20), ["TAKES"]);
    assert_eq!(labels(4, 30), ["crew"]);
    editor.end();
}

#[test]
fn a_folder_has_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("specs")).unwrap();
    std::fs::write(path("specs/ports.asn"), PORTS).unwrap();
    std::fs::write(path("specs/ships.asn"), SHIPS.replace("FROM Ports", "FROM Harbours")).unwrap();
    // Outside of the roots.
    std::fs::write(path("other.asn"), "Other DEFINITIONS ::= BEGIN Broken ::= Nothing END").unwrap();
    let text =
        "roots = [\"specs\"]\ntags = \"explicit\"\nrules = [\"uper\"]\n[aliases]\nHarbours = \"Ports\"\n";
    std::fs::write(path("tercet.toml"), text).unwrap();
    let mut editor = Editor::in_folder(&json!({}), folder);
    assert_eq!(editor.ask("workspace/symbol", json!({ "query": "Broken" })), json!([]));
    editor.open("specs/ships.asn", &SHIPS.replace("FROM Ports", "FROM Harbours"));
    assert_eq!(editor.diagnostics("specs/ships.asn"), [json!(null); 0]);
    let hover = editor.ask("textDocument/hover", editor.at("specs/ships.asn", 2, 1));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("Bytes: unaligned PER ") && !text.contains("OER"), "{text}");
    editor.end();

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tercet.toml"), "root = 5\n").unwrap();
    let mut editor = Editor::in_folder(&json!({}), folder);
    let message = loop {
        let message = editor.receive();
        if message["method"] == "window/showMessage" {
            break message["params"]["message"].as_str().unwrap().to_owned();
        }
    };
    assert!(message.contains("tercet.toml") && message.contains("roots"), "{message}");
    editor.end();
}

#[test]
fn types_that_nothing_uses_are_faded() {
    let text = "Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n\
        IMPORTS Port FROM Ports;\n\
        Ship ::= SEQUENCE { home Port, crew Count }\n\
        Count ::= INTEGER\n\
        Depth ::= REAL\n\
        END\n";
    let faded = |found: &[Value]| -> Vec<(u64, String)> {
        let found = found.iter().filter(|it| it["tags"] == json!([1]));
        found
            .map(|it| {
                (it["range"]["start"]["line"].as_u64().unwrap(), it["message"].as_str().unwrap().to_owned())
            })
            .collect()
    };
    let mut editor = Editor::new(&json!({}));
    let unused = |line: u64| (line, "no definition uses this type".to_owned());
    editor.open("ships.asn", text);
    assert_eq!(faded(&editor.diagnostics("ships.asn")), [unused(4)]);
    // The types of a module are used where others import them, and no longer where they do not.
    editor.open("ports.asn", PORTS);
    assert_eq!(faded(&editor.diagnostics("ports.asn")), [unused(2)]);
    let change = |text: &str| json!([{ "text": text }]);
    let document = json!({ "uri": editor.uri("ships.asn"), "version": 2 });
    let other = text.replace("IMPORTS Port ", "IMPORTS Port, Pier ").replace("crew Count", "at Pier");
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": change(&other) }),
    );
    assert_eq!(faded(&editor.diagnostics("ports.asn")), []);
    assert_eq!(faded(&editor.diagnostics("ships.asn")), [unused(3), unused(4)]);
    // What EXPORTS leaves out can be used here alone, a message too.
    let document = json!({ "uri": editor.uri("ships.asn"), "version": 3 });
    let other = text.replace("IMPORTS", "EXPORTS Depth; IMPORTS");
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": change(&other) }),
    );
    assert_eq!(faded(&editor.diagnostics("ships.asn")), [unused(2)]);
    editor.end();
}

#[test]
fn strictness_sets_severities() {
    let text = "Ships DEFINITIONS ::= BEGIN Ship ::= Boat a_b INTEGER ::= 1 END\n";
    let severities = |toml: &str| -> Vec<(String, u64)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tercet.toml"), toml).unwrap();
        let mut editor = Editor::in_folder(&json!({}), folder);
        editor.open("ships.asn", text);
        let found = editor.diagnostics("ships.asn");
        editor.end();
        let found = found.iter().filter(|it| it["code"].is_string());
        found.map(|it| (it["code"].as_str().unwrap().to_owned(), it["severity"].as_u64().unwrap())).collect()
    };
    let (given, strict, lenient) =
        (severities(""), severities("strict = true"), severities("strict = false"));
    let of = |list: &[(String, u64)], code: &str| list.iter().find(|it| it.0 == code).map(|it| it.1);
    // An unknown name: an error to who writes, a warning to who reads what others have written.
    assert_eq!(
        [of(&given, "E0201"), of(&strict, "E0201"), of(&lenient, "E0201")],
        [Some(1), Some(1), Some(2)]
    );
    assert!(strict.iter().all(|(_, severity)| *severity == 1), "{strict:?}");
    assert!(given.iter().any(|(_, severity)| *severity == 2), "{given:?}");
}
