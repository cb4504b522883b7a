//! Answers to requests, in the objects of the protocol.

use super::commands;
use super::places::{At, World, refused};
use super::server::unknown;
use lsp_server::ResponseError;
use serde_json::{Value, json};
use std::cell::LazyCell;
use tercet::Rules;
use tercet::syntax::{self, Diagnostic, Edit, FileId, Fix, Severity, Span};
use tercet_ide::{Colour, Coloured, Hint, HintKind, Kind, Reach, Symbol};

type Answer = Result<Value, ResponseError>;

/// Symbols that a search of the workspace returns.
const MOST_SYMBOLS: usize = 1000;
/// Proposals for a word.
const MOST_COMPLETIONS: usize = 500;
/// Where the diagnostics are explained.
const DIAGNOSTICS: &str = "https://github.com/tercet/tercet/blob/main/docs/reference/diagnostics.md";

/// What answers depend on besides the texts.
#[derive(Debug)]
pub(super) struct Wishes {
    /// The encoding rules whose sizes are shown.
    pub(super) rules: Vec<Rules>,
    /// The hints that are shown.
    pub(super) hints: Vec<HintKind>,
}

impl Wishes {
    /// The rules whose bits hints have: those of PER, unaligned ones first.
    fn per(&self) -> Option<Rules> {
        let order = [Rules::Uper, Rules::CanonicalUper, Rules::Aper, Rules::CanonicalAper];
        order.into_iter().find(|rules| self.rules.contains(rules))
    }
}

/// Answers a request.
pub(super) fn answer(world: &World, reach: &Reach, method: &str, params: &Value, wishes: &Wishes) -> Answer {
    match method {
        "textDocument/hover" => hover(world, world.at(params)?, &wishes.rules),
        "textDocument/definition" => definition(world, world.at(params)?),
        "textDocument/typeDefinition" => type_definition(world, world.at(params)?),
        "textDocument/references" => {
            let with_definition = params.pointer("/context/includeDeclaration").and_then(Value::as_bool);
            references(world, world.at(params)?, with_definition.unwrap_or(true))
        }
        "textDocument/documentHighlight" => highlights(world, world.at(params)?),
        "textDocument/prepareRename" => prepare_rename(world, world.at(params)?),
        "textDocument/rename" => {
            let new = params.get("newName").and_then(Value::as_str).unwrap_or_default();
            rename(world, world.at(params)?, new)
        }
        "textDocument/signatureHelp" => Ok(signature(world, world.at(params)?)),
        "textDocument/completion" => completion(world, reach, world.at(params)?),
        "textDocument/documentSymbol" => {
            let symbols = world.snapshot.symbols(world.file(params)?);
            Ok(symbols.iter().map(|it| symbol(world, it)).collect())
        }
        "workspace/symbol" => {
            let query = params.get("query").and_then(Value::as_str).unwrap_or_default();
            Ok(workspace_symbols(world, query))
        }
        "textDocument/foldingRange" => {
            let folds = world.snapshot.folds(world.file(params)?).into_iter().map(|span| {
                let (from, to) = (world.line_column(span.lo).0, world.line_column(span.hi).0);
                json!({ "startLine": from, "endLine": to })
            });
            Ok(folds.collect())
        }
        "textDocument/selectionRange" => selection_ranges(world, params),
        "textDocument/formatting" => Ok(formatting(world, world.file(params)?)),
        "textDocument/rangeFormatting" => {
            let file = world.file(params)?;
            let edits = world.snapshot.layout(file, world.span(file, params));
            let edits =
                edits.iter().map(|edit| json!({ "range": world.range(edit.span), "newText": edit.text }));
            Ok(edits.collect())
        }
        "textDocument/inlayHint" => {
            let file = world.file(params)?;
            let per = wishes.per();
            let hints = world.snapshot.hints_of(file, world.span(file, params), &wishes.hints, per);
            Ok(hints.iter().map(|hint| shown_hint(world, hint, per)).collect())
        }
        "textDocument/codeLens" => Ok(commands::lenses(world, world.file(params)?)),
        "textDocument/codeAction" => {
            let file = world.file(params)?;
            let only = params.pointer("/context/only").and_then(Value::as_array);
            let is_wanted = |kind: &str| {
                // An editor may ask for all of a family: `source` for `source.organizeImports`.
                only.is_none_or(|only| {
                    only.iter()
                        .filter_map(Value::as_str)
                        .any(|it| kind == it || kind.starts_with(&format!("{it}.")))
                })
            };
            let all = actions(world, file, world.span(file, params));
            Ok(all.into_iter().filter(|it| it["kind"].as_str().is_some_and(is_wanted)).collect())
        }
        "textDocument/semanticTokens/full" | "textDocument/semanticTokens/range" => {
            let file = world.file(params)?;
            Ok(tokens(world, file, world.span(file, params)))
        }
        "textDocument/diagnostic" => {
            Ok(json!({ "kind": "full", "items": diagnostics(world, reach, world.file(params)?) }))
        }
        _ => Err(unknown(method)),
    }
}

fn shown_hint(world: &World, hint: &Hint, per: Option<Rules>) -> Value {
    let per = per.map_or("", Rules::label);
    let tooltip = match hint.kind {
        HintKind::Tag => "given by AUTOMATIC TAGS".to_owned(),
        HintKind::Number => "number of the item".to_owned(),
        HintKind::TagDefault => "the header has no default of tags".to_owned(),
        HintKind::Width => format!("bits of a value within the constraints, {per}"),
        HintKind::Presence => format!("bits in front of the contents, {per}"),
    };
    json!({
        "position": world.shown_position(hint.at),
        "label": hint.text,
        "paddingLeft": false,
        "tooltip": tooltip,
    })
}

fn hover(world: &World, at: At, rules: &[Rules]) -> Answer {
    let found = world.snapshot.hover_by(at.position, rules);
    Ok(found.map_or(Value::Null, |hover| {
        json!({ "contents": { "kind": "markdown", "value": hover.markdown }, "range": world.range(hover.span) })
    }))
}

fn definition(world: &World, at: At) -> Answer {
    let name = world.snapshot.name_at(at.position);
    Ok(name.map_or(Value::Null, |name| world.location(name.definition)))
}

fn type_definition(world: &World, at: At) -> Answer {
    let snapshot = &world.snapshot;
    let definition = snapshot.name_at(at.position).and_then(|name| snapshot.definition(name.definition));
    let ty = definition.and_then(|definition| snapshot.type_definition(definition));
    Ok(ty.map_or(Value::Null, |ty| world.location(ty)))
}

/// The places of the name at a position, its definition first.
fn places(world: &World, at: At) -> Vec<Span> {
    let Some(name) = world.snapshot.name_at(at.position) else { return Vec::new() };
    let uses = world.snapshot.uses(name.definition).iter().map(|it| it.at);
    std::iter::once(name.definition).chain(uses).collect()
}

fn references(world: &World, at: At, with_definition: bool) -> Answer {
    let places = places(world, at);
    let skipped = usize::from(!with_definition && !places.is_empty());
    Ok(places[skipped..].iter().map(|span| world.location(*span)).collect())
}

fn highlights(world: &World, at: At) -> Answer {
    let here = |span: &Span| world.snapshot.sources().file_of(span.lo) == at.file;
    let places = places(world, at).into_iter().filter(here);
    Ok(places.map(|span| json!({ "range": world.range(span), "kind": 1 })).collect())
}

fn prepare_rename(world: &World, at: At) -> Answer {
    let name =
        world.snapshot.name_at(at.position).filter(|it| world.snapshot.definition(it.definition).is_some());
    let name = name.ok_or_else(|| refused("no name that is defined in these specifications"))?;
    Ok(json!({ "range": world.range(name.span), "placeholder": world.snapshot.text(name.span) }))
}

fn rename(world: &World, at: At, new: &str) -> Answer {
    let places = world.snapshot.rename(at.position, new).map_err(refused)?;
    let edits: Vec<Edit> = places.into_iter().map(|span| Edit { span, text: new.to_owned() }).collect();
    Ok(world.workspace_edit(&edits))
}

fn completion(world: &World, reach: &Reach, at: At) -> Answer {
    let outside = reach.outside(&world.snapshot);
    let (prefix, found) = world.snapshot.completions_with(at.file, at.position, outside);
    let range = world.range(prefix);
    // Editors take letters out of the middle too; the first one has to be there.
    let first = world.snapshot.text(prefix).chars().next().map(|letter| letter.to_ascii_lowercase());
    let fits =
        |label: &str| first.is_none_or(|first| label.chars().any(|it| it.to_ascii_lowercase() == first));
    let mut found: Vec<_> = found.into_iter().filter(|it| fits(&it.label)).collect();
    let word = world.snapshot.text(prefix).to_ascii_lowercase();
    found.sort_by_key(|it| (!it.label.to_ascii_lowercase().starts_with(&word), !it.edits.is_empty()));
    let is_incomplete = found.len() > MOST_COMPLETIONS;
    found.truncate(MOST_COMPLETIONS);
    let items: Vec<Value> = found
        .into_iter()
        .map(|it| {
            let edits =
                it.edits.iter().map(|edit| json!({ "range": world.range(edit.span), "newText": edit.text }));
            // What has to be imported comes behind what is at hand.
            let order = if it.edits.is_empty() { '0' } else { '1' };
            json!({
                "label": it.label,
                "kind": it.kind.map_or(14, completion_kind),
                "detail": it.detail,
                "sortText": format!("{order}{}", it.label),
                "textEdit": { "range": range, "newText": it.label },
                "additionalTextEdits": edits.collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(json!({ "isIncomplete": is_incomplete, "items": items }))
}

/// CompletionItemKind of the protocol.
fn completion_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Module => 9,
        Kind::Type => 22,
        Kind::Class => 7,
        Kind::Value | Kind::Set => 21,
        Kind::Macro => 15,
        Kind::Parameter => 25,
        Kind::Item => 20,
        _ => 5,
    }
}

/// SymbolKind of the protocol.
fn symbol_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Module => 2,
        Kind::Type => 23,
        Kind::Class => 5,
        Kind::Value => 14,
        Kind::Set => 18,
        Kind::Macro => 12,
        Kind::Parameter => 26,
        Kind::Item => 22,
        _ => 8,
    }
}

fn symbol(world: &World, it: &Symbol) -> Value {
    let definition = &it.definition;
    json!({
        "name": world.snapshot.text(definition.name),
        "kind": symbol_kind(definition.kind),
        "range": world.range(definition.whole),
        "selectionRange": world.range(definition.name),
        "children": it.children.iter().map(|child| symbol(world, child)).collect::<Vec<_>>(),
    })
}

fn workspace_symbols(world: &World, query: &str) -> Value {
    let query = query.to_ascii_lowercase();
    let snapshot = &world.snapshot;
    let named = snapshot.definitions().iter().filter(|it| it.depth < 2);
    let found = named.filter(|it| snapshot.text(it.name).to_ascii_lowercase().contains(&query));
    let module =
        |index: usize| snapshot.schema().modules().get(index).map(|module| module.name.text.as_str());
    let shown = found.take(MOST_SYMBOLS).map(|it| {
        json!({
            "name": snapshot.text(it.name),
            "kind": symbol_kind(it.kind),
            "location": world.location(it.name),
            "containerName": module(it.module),
        })
    });
    shown.collect()
}

fn selection_ranges(world: &World, params: &Value) -> Answer {
    let file = world.file(params)?;
    let positions = params.get("positions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ranges = positions.iter().filter_map(super::places::line_column).map(|position| {
        let around = world.snapshot.around(file, world.position(file, position));
        around.into_iter().rev().fold(Value::Null, |parent, span| {
            let mut range = json!({ "range": world.range(span) });
            if !parent.is_null() {
                range["parent"] = parent;
            }
            range
        })
    });
    Ok(ranges.collect())
}

/// The text in its canonical layout; nothing for a text that has errors.
fn formatting(world: &World, file: FileId) -> Value {
    let sources = world.snapshot.sources();
    match syntax::format(sources, file) {
        Ok(text) if text != sources.file(file).text => {
            let whole = world.span(file, &Value::Null);
            json!([{ "range": world.range(whole), "newText": text }])
        }
        _ => json!([]),
    }
}

fn actions(world: &World, file: FileId, span: Span) -> Vec<Value> {
    let fixes = world.snapshot.fixes(span).map(|(diagnostic, fix)| {
        let title = match fix.title.starts_with("insert `IMPORTS") || fix.edits.len() != 1 {
            true => fix.title.replace('\n', " "),
            false => format!("{}: {}", diagnostic.message, fix.title),
        };
        json!({
            "title": title,
            "kind": "quickfix",
            "isPreferred": fix.is_certain,
            "diagnostics": [shown(world, diagnostic)],
            "edit": world.workspace_edit(&fix.edits),
        })
    });
    let touches = |found: Span| found.lo <= span.hi && span.lo <= found.hi;
    let unused = world.snapshot.unused_imports(file).into_iter().filter(|it| touches(it.symbol)).map(|it| {
        json!({
            "title": it.fix.title,
            "kind": "quickfix",
            "isPreferred": true,
            "edit": world.workspace_edit(&it.fix.edits),
        })
    });
    let made = |kind: &'static str| move |fix: Fix| json!({ "title": fix.title, "kind": kind, "edit": world.workspace_edit(&fix.edits) });
    let sorted = world.snapshot.sorted_imports(file).into_iter().map(made("source.organizeImports"));
    let extracted = world.snapshot.extracted_type(span.lo).into_iter().map(made("refactor.extract"));
    let marked = world.snapshot.extension_marker(span.lo).into_iter().map(made("refactor.rewrite"));
    let commands = commands::actions(world, file, span);
    fixes.chain(unused).chain(extracted).chain(marked).chain(sorted).chain(commands).collect()
}

fn signature(world: &World, at: At) -> Value {
    world.snapshot.signature(at.file, at.position).map_or(Value::Null, |it| {
        let parameters = it.parameters.iter().map(|label| json!({ "label": label })).collect::<Vec<_>>();
        let signature = json!({ "label": it.label, "parameters": parameters });
        json!({ "signatures": [signature], "activeSignature": 0, "activeParameter": it.active })
    })
}

/// The diagnostics of a text.
pub(super) fn diagnostics(world: &World, reach: &Reach, file: FileId) -> Vec<Value> {
    let hint = |span: Span, message: &str, tag: u32| {
        json!({
            "range": world.range(span),
            "severity": 4,
            "source": "tercet",
            "message": message,
            "tags": [tag],
        })
    };
    // Editors fade what is unnecessary (1), and strike through what is deprecated (2).
    let unused = world.snapshot.unused_imports(file).into_iter();
    let unused = unused.map(|it| hint(it.symbol, "imported and not used", 1));
    let imported = LazyCell::new(|| reach.imported_names());
    let types = world.snapshot.unused_types(file, |name| imported.contains(name)).into_iter();
    let types = types.map(|name| hint(name, "no definition uses this type", 1));
    let deprecated = world.snapshot.deprecated(file).into_iter();
    let deprecated = deprecated.map(|(span, message)| hint(span, message, 2));
    let found = world.snapshot.diagnostics(file).map(|diagnostic| shown(world, diagnostic));
    found.chain(unused).chain(types).chain(deprecated).collect()
}

fn shown(world: &World, diagnostic: &Diagnostic) -> Value {
    let parts = [&diagnostic.message, &diagnostic.primary.text].into_iter().filter(|text| !text.is_empty());
    let more = [("help", &diagnostic.help), ("note", &diagnostic.note)].into_iter();
    let more = more.filter_map(|(word, text)| Some(format!("{word}: {}", text.as_ref()?)));
    let message: Vec<String> =
        [parts.cloned().collect::<Vec<_>>().join(": ")].into_iter().chain(more).collect();
    let related = diagnostic
        .secondary
        .iter()
        .map(|label| json!({ "location": world.location(label.span), "message": label.text }));
    json!({
        "range": world.range(diagnostic.primary.span),
        "severity": match diagnostic.severity { Severity::Error => 1, Severity::Warning => 2 },
        "code": diagnostic.code,
        "codeDescription": { "href": format!("{DIAGNOSTICS}#{}", diagnostic.code.to_ascii_lowercase()) },
        "source": "tercet",
        "message": message.join("\n"),
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

/// The types of semantic tokens, by their number.
pub(super) const TOKEN_TYPES: [&str; 12] = [
    "keyword",
    "comment",
    "number",
    "string",
    "namespace",
    "type",
    "class",
    "variable",
    "macro",
    "parameter",
    "property",
    "enumMember",
];

fn token_type(colour: Colour) -> usize {
    let name = match colour {
        Colour::Keyword => "keyword",
        Colour::Comment => "comment",
        Colour::Number => "number",
        Colour::String => "string",
        Colour::Name(Kind::Module) => "namespace",
        Colour::Name(Kind::Type) => "type",
        Colour::Name(Kind::Class) => "class",
        Colour::Name(Kind::Macro) => "macro",
        Colour::Name(Kind::Parameter) => "parameter",
        Colour::Name(Kind::Component | Kind::Alternative | Kind::Field) => "property",
        Colour::Name(Kind::Item) => "enumMember",
        Colour::Name(_) => "variable",
    };
    TOKEN_TYPES.iter().position(|known| *known == name).unwrap_or_default()
}

/// Semantic tokens: five numbers each, places relative to the one before. Pieces of several lines are split.
fn tokens(world: &World, file: FileId, span: Span) -> Value {
    let mut data: Vec<u32> = Vec::new();
    let mut last = (0, 0);
    let mut push = |at: u32, text: &str, coloured: &Coloured| {
        let (line, column) = world.line_column(at);
        let length = world.columns.count(text.trim_end_matches('\r')) as u32;
        if length > 0 {
            let from = if line == last.0 { last.1 } else { 0 };
            let kind = token_type(coloured.colour) as u32;
            data.extend([line - last.0, column - from, length, kind, u32::from(coloured.is_definition)]);
            last = (line, column);
        }
    };
    for coloured in world.snapshot.colours_in(file, span) {
        let mut at = coloured.span.lo;
        for line in world.snapshot.text(coloured.span).split('\n') {
            push(at, line, &coloured);
            at += line.len() as u32 + 1;
        }
    }
    json!({ "data": data })
}
