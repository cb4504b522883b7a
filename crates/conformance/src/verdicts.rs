//! `cargo conformance verdicts`: what is said of the certificates, revocation lists and messages that others collected.
//!
//! Every input is read by DER and by BER as its type of RFC 5912, with what extensions and attributes hold and with all
//! constraints. `docs/verdicts.md` counts the verdicts and their reasons, and has the digest of a list with one line for
//! each input (promise 11), so that a change of one is seen. Where others say which inputs are good, theirs and ours are
//! held against each other: the certificates of PKITS are, and Wycheproof tells which signatures are no DER (promise 8).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tercet::{CodecError, Rules, Schema, SchemaOptions, TapeCodec};
use tercet_dynamic::{Options, Plan, Tape};

use crate::{Tally, corpora, hex};

/// Where inputs are, below `hostile`, and the type of those that do not say what they are.
const COLLECTIONS: &[(&str, Option<&str>)] = &[
    ("nist-pkits/nist-pkits/certs", Some(CERTIFICATE)),
    ("nist-pkits/nist-pkits/crls", Some(LIST)),
    ("openssl-fuzz/x509.tar.gz", Some(CERTIFICATE)),
    ("openssl-fuzz/crl.tar.gz", Some(LIST)),
    ("openssl-fuzz/acert.tar.gz", Some("PKIXAttributeCertificate-2009.AttributeCertificate")),
    ("openssl-fuzz/cms.tar.gz", Some(MESSAGE)),
    ("openssl-fuzz/cmp.tar.gz", Some("PKIXCMP-2009.PKIMessage")),
    ("boringssl-fuzz/cert_corpus", Some(CERTIFICATE)),
    ("boringssl-fuzz/parse_certificate_fuzzer_corpus", Some(CERTIFICATE)),
    ("boringssl-fuzz/ocsp_parse_ocsp_response_fuzzer_corpus", Some(RESPONSE)),
    ("boringssl-pki", None),
    ("cryptography-vectors", None),
];

const CERTIFICATE: &str = "PKIX1Explicit-2009.Certificate";
const LIST: &str = "PKIX1Explicit-2009.CertificateList";
const MESSAGE: &str = "CryptographicMessageSyntax-2009.ContentInfo";
const REQUEST: &str = "PKCS-10.CertificationRequest";
const RESPONSE: &str = "OCSP-2009.OCSPResponse";

/// What the label of a PEM block says (RFC 7468, and the names that these collections use).
const LABELS: &[(&str, &str)] = &[
    ("CERTIFICATE", CERTIFICATE),
    ("CA CERTIFICATE", CERTIFICATE),
    ("X509 CRL", LIST),
    ("CRL", LIST),
    ("CERTIFICATE REQUEST", REQUEST),
    ("OCSP RESPONSE", RESPONSE),
    ("PKCS7", MESSAGE),
];

/// Types of what Wycheproof signs and agrees with.
const SIGNATURES: &str =
    "Wycheproof DEFINITIONS ::= BEGIN Signature ::= SEQUENCE { r INTEGER, s INTEGER } END";

/// The one certificate of PKITS that is made to break a constraint: the size of an explicitText (RFC 5280 4.2.1.4).
const TOO_LONG: &str = "UserNoticeQualifierTest19EE.crt";

/// Flags of Wycheproof that say of a signature that its octets are no DER for it.
const NO_DER: &[&str] = &["InvalidEncoding", "BerEncodedSignature", "InvalidTypesInSignature"];

/// One input, and what is said of it.
struct Judged {
    collection: &'static str,
    name: String,
    der: Verdict,
    ber: Verdict,
}

/// Nothing, if it is a value; or why not, and where.
type Verdict = Option<Fault>;

struct Fault {
    reason: &'static str,
    clause: Option<&'static str>,
    offset: u64,
    path: String,
}

/// What becomes of the verdicts.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Say whether docs/verdicts.md is current
    #[arg(long)]
    check: bool,
    /// Write a list with one line for each instead of the page
    #[arg(long, value_name = "FILE.csv", conflicts_with = "check")]
    list: Option<PathBuf>,
}

/// Writes the page of verdicts.
///
/// # Errors
/// The collections are not there, a page cannot be written, or it is not current.
pub fn run(Arguments { check, list }: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let folder = tercet_testing::find_corpora().ok_or("no folder with the corpora: set TERCET_CORPORA")?;
    let hostile = folder.join("hostile");
    let plan = plan(&folder.join("asn1/specs/ietf/IETF_PKI_RFC5912"))?;
    let mut judged = Vec::new();
    for (collection, of) in COLLECTIONS {
        for (name, octets) in inputs(&hostile.join(collection))? {
            let values = match of {
                Some(of) => vec![(name, *of, octets)],
                None => blocks(&name, &octets),
            };
            judged.extend(values.into_iter().map(|(name, of, octets)| Judged {
                collection,
                name,
                der: verdict(Rules::Der, &plan, of, &octets),
                ber: verdict(Rules::Ber, &plan, of, &octets),
            }));
        }
    }
    let mut tally = Tally::default();
    for it in judged.iter().filter(|it| it.collection.starts_with("nist-pkits")) {
        let said = it.der.as_ref().map_or("value", |fault| fault.reason);
        let good = if it.name == TOO_LONG { said == "constraint-violated" } else { said == "value" };
        tally.count(good);
        if !good {
            let _ = writeln!(out, "{}: {said}", it.name);
        }
    }
    let certificates = tally.passed;
    signatures(&hostile.join("wycheproof-asn1/vectors.jsonl"), &mut tally, out)?;
    let held = [certificates, tally.passed - certificates];
    let lines = lines(&judged);
    if let Some(file) = list {
        fs::write(file, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(tally);
    }
    let (page, path) = (page(&judged, held, &lines), corpora::repository().join("docs/verdicts.md"));
    if !fs::read_to_string(&path).is_ok_and(|old| old == page) {
        if *check {
            return Err("docs/verdicts.md is not current: run `cargo conformance verdicts`".into());
        }
        fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(tally)
}

/// A plan for the types of all inputs.
fn plan(specification: &Path) -> Result<Plan, String> {
    let schema = Schema::load(&[specification.to_owned()], &SchemaOptions::default());
    let schema = schema.map_err(|error| error.to_string())?;
    let mut roots: Vec<&str> = COLLECTIONS.iter().filter_map(|(_, of)| *of).collect();
    roots.extend(LABELS.iter().map(|(_, of)| *of));
    roots.sort_unstable();
    roots.dedup();
    schema.plan_for(Rules::Ber, &roots).map_err(|error| error.to_string())
}

fn verdict(syntax: Rules, plan: &Plan, of: &str, octets: &[u8]) -> Verdict {
    let root = plan.root(of).expect("a root that was asked for");
    let mut options = Options::default();
    options.check_constraints = true;
    let read = TapeCodec::new(syntax, plan).read(root, octets, &mut Tape::new(), &options);
    let beyond = |at: usize| Fault {
        reason: tercet_runtime::ErrorKind::TrailingData.name(),
        clause: None,
        offset: at as u64,
        path: String::new(),
    };
    match read {
        Ok(taken) if taken < octets.len() => Some(beyond(taken)),
        Ok(_) => None,
        Err(CodecError::Octets(error)) => Some(Fault {
            reason: error.kind().name(),
            clause: error.clause(),
            offset: error.offset(),
            path: error.path().to_owned(),
        }),
        Err(CodecError::Text(_)) => unreachable!("rules of octets"),
    }
}

/// Names and octets of the files of a folder, and of those below it, or of an archive; in the order of their names.
fn inputs(path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut inputs = Vec::new();
    if path.is_dir() {
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).map_err(named)? {
                let file: PathBuf = entry.map_err(named)?.path();
                if file.is_dir() {
                    folders.push(file);
                } else {
                    let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
                    inputs.push((name, fs::read(&file).map_err(named)?));
                }
            }
        }
    } else {
        let file = fs::File::open(path).map_err(named)?;
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
        for entry in archive.entries().map_err(named)? {
            let mut entry = entry.map_err(named)?;
            if entry.header().entry_type().is_file() {
                let name = entry.path().map_err(named)?;
                let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let mut octets = Vec::new();
                entry.read_to_end(&mut octets).map_err(named)?;
                inputs.push((name, octets));
            }
        }
    }
    inputs.sort();
    Ok(inputs)
}

/// The PEM blocks of a text whose labels are known, each named by the text and its number.
fn blocks(name: &str, text: &[u8]) -> Vec<(String, &'static str, Vec<u8>)> {
    let text = String::from_utf8_lossy(text);
    let mut blocks = Vec::new();
    for (number, block) in text.split("-----BEGIN ").skip(1).enumerate() {
        let Some((label, body)) = block.split_once("-----") else { continue };
        let Some((_, of)) = LABELS.iter().find(|(known, _)| *known == label) else { continue };
        let digits: String = body.split("-----").next().unwrap_or_default().split_whitespace().collect();
        if let Ok(octets) = base64::engine::general_purpose::STANDARD.decode(digits) {
            blocks.push((format!("{name}#{}", number + 1), *of, octets));
        }
    }
    blocks
}

/// Signatures of Wycheproof: valid ones are DER, and those that are flagged for their octets are not.
fn signatures(path: &Path, tally: &mut Tally, out: &mut impl Write) -> Result<(), String> {
    let schema = Schema::from_text("signature.asn", SIGNATURES);
    let plan = schema.plan_for(Rules::Der, &["Signature"]).map_err(|error| error.to_string())?;
    for line in corpora::read_text(path)?.lines() {
        let vector: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let flagged = |flags: &[&str]| {
            let its = vector["flags"].as_array();
            its.is_some_and(|its| {
                its.iter().any(|flag| flag.as_str().is_some_and(|flag| flags.contains(&flag)))
            })
        };
        let good = match (vector["field"].as_str(), vector["result"].as_str()) {
            (Some("sig"), Some("valid")) => true,
            (Some("sig"), _) if flagged(NO_DER) => false,
            _ => continue,
        };
        let octets = hex::parse(vector["hex"].as_str().unwrap_or_default())?;
        let said = verdict(Rules::Der, &plan, "Signature", &octets);
        tally.count(said.is_none() == good);
        if said.is_none() != good {
            let _ = writeln!(out, "{} {}: {}", vector["file"], vector["tcId"], vector["comment"]);
        }
    }
    Ok(())
}

/// One line for each input.
fn lines(judged: &[Judged]) -> String {
    let mut text = String::from("collection,input,der,ber,offset,path\n");
    for it in judged {
        let word = |verdict: &Verdict| verdict.as_ref().map_or("value", |fault| fault.reason);
        let (offset, path) = match &it.der {
            Some(fault) => (fault.offset.to_string(), fault.path.as_str()),
            None => (String::new(), ""),
        };
        let (der, ber) = (word(&it.der), word(&it.ber));
        let _ = writeln!(text, "{},{},{der},{ber},{offset},{path}", it.collection, it.name);
    }
    text
}

/// How many, by collection and by reason.
fn page(judged: &[Judged], [certificates, signatures]: [usize; 2], lines: &str) -> String {
    let digest = hex::show(&Sha256::digest(lines));
    let mut page = format!(
        "# Verdicts on certificates, revocation lists and messages\n\n\
         <!-- Made by `cargo conformance verdicts`; do not edit. -->\n\n\
         Inputs that others collected, most of them to break readers, each read as its type of RFC 5912 with what its \
         extensions and attributes hold, and with all constraints. `cargo conformance verdicts --list FILE.csv` writes what is \
         said of each one, where and on which path; the SHA-256 of that list is `{digest}`.\n\n\
         Two collections come with verdicts of their own, and ours are the same: the {certificates} certificates and lists of \
         PKITS are DER but for the one whose text is too long on purpose, and of Wycheproof's signatures the valid ones are and those with wrong octets are not \
         ({signatures}).\n\n\
         | collection | inputs | DER | BER, not DER | neither |\n|---|---:|---:|---:|---:|\n"
    );
    for (collection, _) in COLLECTIONS {
        let of: Vec<&Judged> = judged.iter().filter(|it| it.collection == *collection).collect();
        let der = of.iter().filter(|it| it.der.is_none()).count();
        let ber = of.iter().filter(|it| it.der.is_some() && it.ber.is_none()).count();
        let _ = writeln!(page, "| {collection} | {} | {der} | {ber} | {} |", of.len(), of.len() - der - ber);
    }
    page.push_str("\nWhy inputs are no DER:\n\n| reason | clause | inputs |\n|---|---|---:|\n");
    let mut reasons: BTreeMap<&str, (Option<&str>, usize)> = BTreeMap::new();
    for fault in judged.iter().filter_map(|it| it.der.as_ref()) {
        reasons.entry(fault.reason).or_insert((fault.clause, 0)).1 += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
    for (reason, (clause, count)) in reasons {
        let _ = writeln!(page, "| {reason} | {} | {count} |", clause.unwrap_or(""));
    }
    page
}
