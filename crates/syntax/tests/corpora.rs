//! Real and hostile specifications: those of this repository, and those of the large corpora where they exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tercet_syntax::{ParseOptions, SourceMap, dump_ast_bare, format, parse};

/// Files under these folders whose names end in `.asn` or `.asn1` must be read without errors …
const FOLDERS: [&str; 4] = ["asn1/specs", "cdr/specs", "asn1/traps", "asn1/bench/specs"];

/// … but for these, whose text is not ASN.1 or is damaged, with the reason.
const BROKEN: &[(&str, &str)] = &[
    ("erlang-megaco/megaco_ber_media_gateway_control_v1.set.asn", "a list of module names"),
    ("erlang-megaco/megaco_ber_media_gateway_control_v2.set.asn", "a list of module names"),
    ("erlang-megaco/megaco_ber_media_gateway_control_v3.set.asn", "a list of module names"),
    ("erlang-megaco/megaco_per_media_gateway_control_v1.set.asn", "a list of module names"),
    ("erlang-megaco/megaco_per_media_gateway_control_v2.set.asn", "a list of module names"),
    ("erlang-megaco/megaco_per_media_gateway_control_v3.set.asn", "a list of module names"),
    ("erlang-public_key/OTP-PUB-KEY.set.asn", "a list of module names"),
    ("erlang-public_key/PKCS-FRAME.set.asn", "a list of module names"),
    ("itu-db/h225/itu-t_h_h225-0_2006_H323-MESSAGES.asn1", "stretches of text are lost"),
    ("itu-db/h245/itu-t_h_h245_2001_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2003v09_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2005v11_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2005v12_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2006v13_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2008v14_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h245/itu-t_h_h245_2011v16_MULTIMEDIA-SYSTEM-CONTROL.asn1", "remains of HTML, text lost"),
    ("itu-db/h248/itu-t_h_h248.1_2005_MEDIA-GATEWAY-CONTROL.asn1", "remains of HTML, text lost"),
    (
        "itu-db/ietf_rfc_rfc3281/ietf_rfc_rfc3281_PKIXAttributeCertificate.asn1",
        "a space is lost: `proxyingOBJECT`",
    ),
    ("itu-db/t126/itu-t_t_t126_2007_SI-PROTOCOL.asn1", "stretches of text are lost"),
    ("itu-db/t127/itu-t_t_t127_2007_MBFT-PROTOCOL.asn1", "an opening brace is lost"),
    ("itu-db/t135/itu-t_t_t135_2007_URST-PROTOCOL.asn1", "remains of HTML, text lost"),
    ("itu-db/x1303/itu-t_x_x1303_2007_CAP-1-1.asn1", "line ends are lost behind `--` comments"),
    ("itu-db/x227/itu-t_x_x227bis_1998_ACSE-1.asn1", "a closing brace too many"),
    ("itu-db/x501/itu-t_x_x501_2012_InformationFramework.asn1", "remains of HTML"),
    ("itu-db/x509/itu-t_x_x509_2000_AttributeCertificateDefinitions.asn1", "stretches of text are lost"),
    ("itu-db/x509/itu-t_x_x509_2005_CertificateExtensions.asn1", "remains of HTML"),
    ("itu-db/x509/itu-t_x_x509_2008_AttributeCertificateDefinitions.asn1", "stretches of text are lost"),
    ("itu-db/x509/itu-t_x_x509_2008_CertificateExtensions.asn1", "stretches of text are lost"),
    ("itu-db/x511/itu-t_x_x511_2005_DirectoryAbstractService.asn1", "stretches of text are lost"),
    (
        "itu-db/x511/itu-t_x_x511_2019_DirectoryAbstractService.asn1",
        "prose of the recommendation between two modules",
    ),
    ("itu-db/x520/itu-t_x_x520_2008_SelectedAttributeTypes.asn1", "stretches of text are lost"),
    ("itu-db/x530/itu-t_x_x530_2005_DirectoryManagement.asn1", "stretches of text are lost"),
    ("itu-db/x692/itu-t_x_x692_2002_Example1-EDM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_Example1-ELM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_Example2-EDM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_Example2-ELM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_Example3-EDM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_Example3-ELM.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_LegacyProtocol-EDM-Module.asn1", "ECN (X.692), another language"),
    ("itu-db/x692/itu-t_x_x692_2002_LegacyProtocol-ELM-Module.asn1", "ECN (X.692), another language"),
];

#[test]
fn real_specifications_are_read_and_formatted() {
    for root in tercet_testing::all_corpora("") {
        let is_own = root == tercet_testing::own_corpora();
        are_read_and_formatted(&root, if is_own { &[] } else { BROKEN });
    }
}

fn are_read_and_formatted(root: &Path, exceptions: &[(&str, &str)]) {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 10, "{} files in {}", files.len(), root.display());
    let mut wrong = Vec::new();
    let mut broken: HashSet<_> = exceptions.iter().map(|(path, _)| *path).collect();
    for path in &files {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        let listed = exceptions.iter().find(|(end, _)| name.ends_with(end)).map(|(end, _)| *end);
        match (check(path), listed) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some(_)) => wrong.push(format!("{name}: read, though it is listed as broken")),
            (Err(error), None) => wrong.push(format!("{name}: {error}")),
        }
        broken.remove(listed.unwrap_or_default());
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    assert!(broken.is_empty(), "listed as broken but absent: {broken:?}");
}

/// Reads a file, formats it, formats that again, and compares the trees.
fn check(path: &Path) -> Result<(), String> {
    let mut map = SourceMap::new();
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let (id, _) = map.add_bytes(path.display().to_string(), bytes);
    let options = ParseOptions::default();
    let (modules, diagnostics) = parse(&map, id, &options);
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        let at = map.line_column(error.primary.span.lo);
        return Err(format!("{}:{}: {}", at.line, at.column, error.message));
    }
    let once = format(&map, id).map_err(|e| format!("not formatted: {e:?}"))?;
    let again = map.add(path.display().to_string(), once.clone());
    let (formatted, diagnostics) = parse(&map, again, &options);
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        return Err(format!(
            "formatted text: {}: {}",
            map.line_column(error.primary.span.lo).line,
            error.message
        ));
    }
    // `format` itself compares all items; printing megabytes of tree would only take long.
    if once.len() < 10_000 && dump_ast_bare(&modules) != dump_ast_bare(&formatted) {
        return Err("the formatted text has another tree".into());
    }
    let twice = format(&map, again).map_err(|e| format!("not formatted twice: {e:?}"))?;
    match once.lines().zip(twice.lines()).enumerate().find(|(_, (a, b))| a != b) {
        None if once == twice => Ok(()),
        found => Err(format!("formatting is not idempotent: {found:?}")),
    }
}

#[test]
fn hostile_sources_end_soon_and_without_panic() {
    let mut files = Vec::new();
    for root in tercet_testing::all_corpora("hostile/gen") {
        collect(&root, &mut files);
    }
    assert!(files.len() > 3);
    for path in files {
        for lenient in [true, false] {
            let mut map = SourceMap::new();
            let (id, _) = map.add_bytes("hostile", std::fs::read(&path).expect("a readable file"));
            parse(&map, id, &ParseOptions { lenient, ..ParseOptions::default() });
            let _ = format(&map, id);
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "asn" || e == "asn1") {
            files.push(path);
        }
    }
    files.sort();
}
