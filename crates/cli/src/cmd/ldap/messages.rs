//! LDAP messages as JSON, for `decode`: one object a message.

use super::rows::json_value;
use serde_json::{Map, Value, json};
use tercet_ldap::generated::{self as asn1, AuthenticationChoice, LdapMessage, ProtocolOp};
use tercet_ldap::{Scope, oids};

/// How messages are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Values as they are in hexadecimal digits instead of texts.
    pub octets: bool,
    /// Passwords too.
    pub passwords: bool,
}

/// The fields of a message: `id`, `op`, those of the operation, and `controls`.
pub fn fields(message: &LdapMessage<'_>, shown: Shown) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("id".to_owned(), Value::from(message.message_id));
    operation(&message.protocol_op, shown, &mut out);
    let controls = message.controls.iter().flatten().map(|control| {
        let mut object = json!({ "oid": text(&control.control_type), "critical": control.criticality });
        if let Some(name) = name(&control.control_type) {
            object["name"] = Value::from(name);
        }
        if let Some(value) = &control.control_value {
            object["value"] = Value::from(hex(value));
        }
        object
    });
    let controls: Vec<Value> = controls.collect();
    out.insert("controls".to_owned(), Value::from(controls));
    out
}

/// Returns whether an operation is one of a client.
pub const fn is_request(operation: &ProtocolOp<'_>) -> bool {
    matches!(
        operation,
        ProtocolOp::BindRequest(_)
            | ProtocolOp::UnbindRequest(())
            | ProtocolOp::SearchRequest(_)
            | ProtocolOp::ModifyRequest(_)
            | ProtocolOp::AddRequest(_)
            | ProtocolOp::DelRequest(_)
            | ProtocolOp::ModDnRequest(_)
            | ProtocolOp::CompareRequest(_)
            | ProtocolOp::AbandonRequest(_)
            | ProtocolOp::ExtendedReq(_)
    )
}

fn text(octets: &[u8]) -> Value {
    json_value(octets)
}

fn name(oid: &[u8]) -> Option<&'static str> {
    tercet_ldap::oid(std::str::from_utf8(oid).ok()?).map(|one: oids::OidInfo| one.name)
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

const PASSWORD: &str = "***";

/// A value of an attribute; passwords are not shown unless asked for.
fn value(attribute: &[u8], octets: &[u8], shown: Shown) -> Value {
    let base = attribute.split(|octet| *octet == b';').next().unwrap_or_default();
    let hidden = [&b"userPassword"[..], b"unicodePwd", b"2.5.4.35", b"sambaNTPassword", b"authPassword"];
    if !shown.passwords && hidden.iter().any(|name| name.eq_ignore_ascii_case(base)) {
        return Value::from(PASSWORD);
    }
    if shown.octets { Value::from(hex(octets)) } else { json_value(octets) }
}

fn attributes<'a>(
    all: impl IntoIterator<Item = &'a asn1::PartialAttribute<'a>>,
    shown: Shown,
) -> Map<String, Value> {
    let list = |one: &asn1::PartialAttribute<'_>| -> Value {
        one.vals.iter().map(|octets| value(&one.r#type, octets, shown)).collect()
    };
    all.into_iter().map(|one| (String::from_utf8_lossy(&one.r#type).into_owned(), list(one))).collect()
}

type Out = Map<String, Value>;

fn put(out: &mut Out, name: &str, value: impl Into<Value>) {
    out.insert(name.to_owned(), value.into());
}

fn operation(operation: &ProtocolOp<'_>, shown: Shown, out: &mut Out) {
    match operation {
        ProtocolOp::BindRequest(bind) => {
            put(out, "op", "bind");
            put(out, "version", bind.version);
            put(out, "dn", text(&bind.name));
            match &bind.authentication {
                AuthenticationChoice::Simple(password) => {
                    put(out, "auth", "simple");
                    let is_shown = shown.passwords || password.is_empty();
                    put(out, "password", if is_shown { text(password) } else { Value::from(PASSWORD) });
                }
                AuthenticationChoice::Sasl(sasl) => {
                    put(out, "auth", "sasl");
                    put(out, "mechanism", text(&sasl.mechanism));
                    if let Some(credentials) = &sasl.credentials {
                        let shown = if shown.passwords { hex(credentials) } else { PASSWORD.to_owned() };
                        put(out, "credentials", shown);
                    }
                }
                _ => put(out, "auth", "unknown"),
            }
        }
        ProtocolOp::BindResponse(bind) => {
            put(out, "op", "bindResponse");
            result(
                out,
                &bind.result_code,
                [&bind.matched_dn, &bind.diagnostic_message],
                bind.referral.as_ref(),
            );
            if let Some(credentials) = &bind.server_sasl_creds {
                put(out, "credentials", hex(credentials));
            }
        }
        ProtocolOp::UnbindRequest(()) => put(out, "op", "unbind"),
        ProtocolOp::SearchRequest(search) => {
            put(out, "op", "search");
            put(out, "base", text(&search.base_object));
            let scopes = [Scope::Base, Scope::One, Scope::Sub, Scope::Children];
            let scope = usize::try_from(search.scope.number()).ok().and_then(|number| scopes.get(number));
            put(out, "scope", scope.map_or("unknown", |scope| scope.word()));
            let words = ["never", "search", "find", "always"];
            let deref =
                usize::try_from(search.deref_aliases.number()).ok().and_then(|number| words.get(number));
            put(out, "deref", deref.copied().unwrap_or("unknown"));
            put(out, "sizeLimit", search.size_limit);
            put(out, "timeLimit", search.time_limit);
            put(out, "typesOnly", search.types_only);
            put(out, "filter", search.filter.to_string());
            put(out, "attrs", search.attributes.iter().map(|name| text(name)).collect::<Vec<_>>());
        }
        ProtocolOp::SearchResEntry(entry) => {
            put(out, "op", "searchEntry");
            put(out, "dn", text(&entry.object_name));
            put(out, "attributes", attributes(&entry.attributes, shown));
        }
        ProtocolOp::SearchResRef(urls) => {
            put(out, "op", "searchReference");
            put(out, "urls", urls.iter().map(|url| text(url)).collect::<Vec<_>>());
        }
        ProtocolOp::SearchResDone(done) => answer(out, "searchDone", done),
        ProtocolOp::ModifyRequest(modify) => {
            put(out, "op", "modify");
            put(out, "dn", text(&modify.object));
            let words = ["add", "delete", "replace", "increment"];
            let changes = modify.changes.iter().map(|change| {
                let kind =
                    usize::try_from(change.operation.number()).ok().and_then(|number| words.get(number));
                let one = &change.modification;
                let values = one.vals.iter().map(|octets| value(&one.r#type, octets, shown));
                json!({
                    "kind": kind.copied().unwrap_or("unknown"),
                    "attribute": text(&one.r#type),
                    "values": values.collect::<Vec<_>>(),
                })
            });
            put(out, "changes", changes.collect::<Vec<_>>());
        }
        ProtocolOp::ModifyResponse(done) => answer(out, "modifyResponse", done),
        ProtocolOp::AddRequest(add) => {
            put(out, "op", "add");
            put(out, "dn", text(&add.entry));
            put(out, "attributes", attributes(&add.attributes, shown));
        }
        ProtocolOp::AddResponse(done) => answer(out, "addResponse", done),
        ProtocolOp::DelRequest(dn) => {
            put(out, "op", "delete");
            put(out, "dn", text(dn));
        }
        ProtocolOp::DelResponse(done) => answer(out, "deleteResponse", done),
        ProtocolOp::ModDnRequest(rename) => {
            put(out, "op", "rename");
            put(out, "dn", text(&rename.entry));
            put(out, "newRdn", text(&rename.newrdn));
            put(out, "deleteOldRdn", rename.deleteoldrdn);
            if let Some(superior) = &rename.new_superior {
                put(out, "newSuperior", text(superior));
            }
        }
        ProtocolOp::ModDnResponse(done) => answer(out, "renameResponse", done),
        ProtocolOp::CompareRequest(compare) => {
            put(out, "op", "compare");
            put(out, "dn", text(&compare.entry));
            put(out, "attribute", text(&compare.ava.attribute_desc));
            put(out, "value", value(&compare.ava.attribute_desc, &compare.ava.assertion_value, shown));
        }
        ProtocolOp::CompareResponse(done) => answer(out, "compareResponse", done),
        ProtocolOp::AbandonRequest(id) => {
            put(out, "op", "abandon");
            put(out, "abandoned", *id);
        }
        ProtocolOp::ExtendedReq(request) => {
            put(out, "op", "extended");
            put(out, "oid", text(&request.request_name));
            if let Some(name) = name(&request.request_name) {
                put(out, "name", name);
            }
            if let Some(octets) = &request.request_value {
                // That of Password Modify has passwords in it.
                let is_shown = shown.passwords || &*request.request_name != b"1.3.6.1.4.1.4203.1.11.1";
                put(out, "value", if is_shown { hex(octets) } else { PASSWORD.to_owned() });
            }
        }
        ProtocolOp::ExtendedResp(response) => {
            put(out, "op", "extendedResponse");
            let texts = [&response.matched_dn, &response.diagnostic_message];
            result(out, &response.result_code, texts, response.referral.as_ref());
            if let Some(oid) = &response.response_name {
                put(out, "oid", text(oid));
            }
            if let Some(octets) = &response.response_value {
                put(out, "value", hex(octets));
            }
        }
        ProtocolOp::IntermediateResponse(response) => {
            put(out, "op", "intermediate");
            if let Some(oid) = &response.response_name {
                put(out, "oid", text(oid));
                if let Some(name) = name(oid) {
                    put(out, "name", name);
                }
            }
            if let Some(octets) = &response.response_value {
                put(out, "value", hex(octets));
            }
        }
        _ => put(out, "op", "unknown"),
    }
}

fn answer(out: &mut Out, name: &str, done: &asn1::LdapResult<'_>) {
    put(out, "op", name);
    result(out, &done.result_code, [&done.matched_dn, &done.diagnostic_message], done.referral.as_ref());
}

fn result(
    out: &mut Out,
    code: &asn1::ResultCode,
    [matched, message]: [&asn1::LdapString<'_>; 2],
    referrals: Option<&asn1::Referral<'_>>,
) {
    put(out, "code", code.number());
    if !matched.is_empty() {
        put(out, "matched", text(matched));
    }
    if !message.is_empty() {
        put(out, "message", text(message));
    }
    if let Some(urls) = referrals {
        put(out, "referrals", urls.iter().map(|url| text(url)).collect::<Vec<_>>());
    }
}
