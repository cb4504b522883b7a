//! A record as a file of HTML that needs nothing else: the value, its bytes with their parts, the problems.

use crate::message::Message;
use crate::rows::Row;
use crate::source::Source;
use crate::tree::NONE;
use std::fmt::Write as _;

/// Parts of a value that are written.
const MOST_NODES: usize = 20_000;
/// Bytes that are written.
const MOST_OCTETS: usize = 64 << 10;
/// Bytes in a line.
const IN_LINE: usize = 16;

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}\
ul{list-style:none;padding-left:1.4em;margin:0}.type,.note{opacity:.7}code,pre{font-family:ui-monospace,monospace}\
.problem{color:light-dark(#b3202c,#ff9a9f);font-weight:600}pre span{border-bottom:2px solid transparent}\
.identifier,.tag{border-color:#8a4fd3!important}.length,.quantity{border-color:#2b7fd0!important;border-bottom-style:dotted!important}\
.preamble,.extension-bit,.bitmap{border-color:#c06a10!important;border-bottom-style:dashed!important}\
.index{border-color:#c33d85!important;border-bottom-style:double!important}.unread{text-decoration:line-through}";

/// Returns the page of a record.
pub(crate) fn page(message: &Message, source: &Source, row: &Row) -> String {
    let name = escaped(source.name());
    let (type_name, rules) = match message.view.as_deref() {
        Some(view) => (view.type_name.as_str(), view.rules.name()),
        None => ("elements", "ber"),
    };
    let mut out = String::new();
    let title = format!("{} – {name}, record {}", escaped(type_name), row.record);
    // Writing to memory does not fail.
    _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>{STYLE}</style></head>\n\
         <body><h1>{}</h1><p class=\"note\">{name}, record {}, {} bytes at offset {}, {rules}</p>\n",
        escaped(type_name),
        row.record,
        message.octets.len(),
        message.offset
    );
    if !message.problems.is_empty() {
        out.push_str("<h2>Problems</h2><ul>\n");
        for problem in &message.problems {
            let path = message.tree.path(problem.node);
            _ = writeln!(
                out,
                "<li class=\"problem\"><code>{}</code> {}</li>",
                escaped(&path),
                escaped(&problem.message)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<h2>Value</h2>\n");
    value(&mut out, message);
    out.push_str("<h2>Bytes</h2>\n");
    octets(&mut out, message);
    out.push_str("</body></html>\n");
    out
}

fn value(out: &mut String, message: &Message) {
    let tree = &message.tree;
    // Nodes that are still to be written, the next one last; `NONE` ends a list.
    let mut open = vec![NONE];
    open.extend((!tree.nodes.is_empty()).then_some(0));
    out.push_str("<ul>\n");
    let mut count = 0;
    while let Some(index) = open.pop() {
        let Some(node) = tree.nodes.get(index as usize) else {
            out.push_str(if open.is_empty() { "</ul>\n" } else { "</ul></li>\n" });
            continue;
        };
        count += 1;
        if count > MOST_NODES {
            continue;
        }
        let is_faulty = message.problems.iter().any(|problem| problem.node == index);
        let class = if is_faulty { " class=\"problem\"" } else { "" };
        let shown = node.shown.as_ref().or(node.value.as_ref());
        let shown = shown.map_or_else(String::new, |value| format!(" <code>{}</code>", escaped(value)));
        let (name, type_name) = (escaped(&node.name), escaped(&node.type_name));
        _ = write!(out, "<li{class}><b>{name}</b>{shown} <span class=\"type\">{type_name}</span>");
        if node.children == 0 {
            out.push_str("</li>\n");
            continue;
        }
        out.push_str("<ul>\n");
        open.push(NONE);
        let from = open.len();
        open.extend(tree.children(index).map(|(child, _)| child));
        open[from..].reverse();
    }
    if count > MOST_NODES {
        _ = writeln!(out, "<p class=\"note\">{} more parts</p>", count - MOST_NODES);
    }
}

fn octets(out: &mut String, message: &Message) {
    let shown = message.octets.len().min(MOST_OCTETS);
    let mut classes = vec![""; shown];
    for piece in &message.tree.pieces {
        let (from, to) = ((piece.at / 8) as usize, (piece.at + piece.bits).div_ceil(8) as usize);
        let name = piece.part.map_or("unread", |part| part.name());
        classes[from.min(shown)..to.min(shown)].fill(name);
    }
    out.push_str("<pre>");
    for (line, octets) in message.octets[..shown].chunks(IN_LINE).enumerate() {
        let at = line * IN_LINE;
        _ = write!(out, "{:06X}  ", message.offset + at as u64);
        for (octet, class) in octets.iter().zip(&classes[at..]) {
            _ = write!(out, "<span class=\"{class}\">{octet:02X}</span> ");
        }
        let text: String =
            octets.iter().map(|it| if matches!(it, 0x20..0x7F) { char::from(*it) } else { '.' }).collect();
        let gap = "   ".repeat(IN_LINE - octets.len());
        _ = writeln!(out, "{gap} {}", escaped(&text));
    }
    out.push_str("</pre>\n");
    if shown < message.octets.len() {
        _ = writeln!(out, "<p class=\"note\">{} more bytes</p>", message.octets.len() - shown);
    }
}

/// Text as HTML, whatever it holds.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(it),
        }
    }
    out
}
