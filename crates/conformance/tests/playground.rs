//! The playground's engine as a module of WebAssembly, in Node, answers as it does here.
//!
//! `make test-browser` builds the module and runs these tests; elsewhere they skip.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tercet_conformance::corpora::repository;
use tercet_conformance::literate::Document;
use tercet_conformance::literate::inputs::{Content, Input};
use tercet_playground::Playground;

/// The folder that `scripts/playground` has built, and Node.
fn built() -> Option<(PathBuf, PathBuf)> {
    let Some(folder) = std::env::var_os("TERCET_PLAYGROUND") else {
        tercet_testing::skip("playground", "TERCET_PLAYGROUND is not set");
        return None;
    };
    let [node] = tercet_testing::programs("playground", ["node"])?;
    Some((folder.into(), node))
}

/// Asks the module of a page.
fn answers(folder: &Path, node: &Path, requests: &[Value]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let path = directory.path().join("requests");
    fs::write(&path, lines).unwrap();
    let mut command = Command::new(node);
    command.arg(repository().join("tests/browser/answers.mjs")).arg(folder);
    let output = command.stdin(File::open(&path).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn digits(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02X}")).collect()
}

fn request(input: &Input) -> Value {
    let Input { specification, type_name, rules, content } = input;
    let mut request = json!({ "specification": specification, "type": type_name, "rules": rules.name() });
    match content {
        Content::Octets(octets) => request["encoding"] = digits(octets).into(),
        Content::Value(text) => request["value"] = text.as_str().into(),
    }
    request
}

#[test]
fn vectors_of_ber_per_and_oer_agree() {
    let Some((folder, node)) = built() else { return };
    let mut requests = Vec::new();
    for entry in fs::read_dir(repository().join("tests/spec")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if ["690-", "691-", "696-"].iter().any(|standard| name.starts_with(standard)) {
            let inputs = Document::parse(&fs::read_to_string(&path).unwrap()).inputs();
            requests.extend(inputs.unwrap_or_else(|message| panic!("{name}:{message}")).iter().map(request));
        }
    }
    let found = answers(&folder, &node, &requests);
    assert_eq!(found.len(), requests.len());
    let mut playground = Playground::new();
    let (mut values, mut encodings, mut faults) = (0, 0, 0);
    for (request, found) in requests.iter().zip(found) {
        assert_eq!(found, playground.answer(&request.to_string()), "{request}");
        let answer: Value = serde_json::from_str(&found).unwrap();
        assert!(answer["error"].is_null(), "{request}: {answer}");
        values += usize::from(answer["value"].is_string() && answer["problems"] == json!([]));
        encodings += usize::from(answer["encoding"].is_string());
        faults += usize::from(answer["problems"] != json!([]));
    }
    // The vectors have all kinds of each.
    let counts = [values, encodings, faults];
    assert!(counts.iter().all(|count| *count > 400), "{counts:?}");
}

#[test]
fn examples_of_the_page_are_good() {
    let page = repository().join("docs/playground");
    let examples: Value =
        serde_json::from_str(&fs::read_to_string(page.join("examples.json")).unwrap()).unwrap();
    let examples = examples.as_array().unwrap();
    assert_eq!(examples.len(), 6);
    // Files are beside the page, or have the path that they have in the repository.
    let text = |file: &str| {
        fs::read_to_string(page.join(file)).or_else(|_| fs::read_to_string(repository().join(file))).unwrap()
    };
    let mut playground = Playground::new();
    for example in examples {
        let word = |name: &str| example[name].as_str().unwrap_or_default();
        let encoding = match word("file") {
            "" => word("encoding").to_owned(),
            file => {
                let text = text(file);
                let lines = text.lines().filter(|line| !line.starts_with("-----"));
                digits(&STANDARD.decode(lines.collect::<String>()).unwrap())
            }
        };
        let mut request = json!({
            "specification": text(word("specification")), "type": word("type"), "rules": word("rules"), "encoding": encoding,
        });
        let answer: Value = serde_json::from_str(&playground.answer(&request.to_string())).unwrap();
        assert_eq!((&answer["diagnosticsCount"], &answer["problems"]), (&json!(0), &json!([])), "{answer}");
        // The value gives the same bytes.
        request.as_object_mut().unwrap().remove("encoding");
        request["value"] = answer["value"].clone();
        let again: Value = serde_json::from_str(&playground.answer(&request.to_string())).unwrap();
        let spelled = again["encoding"].as_str().unwrap_or_default().replace(' ', "");
        assert_eq!(spelled, encoding.replace(' ', ""), "{}", word("name"));
    }
}
