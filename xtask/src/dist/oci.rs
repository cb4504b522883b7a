//! A container image without a base: OCI Image Format 1.1, as an OCI image layout in a tar file.
//!
//! `skopeo copy oci-archive:FILE …`, `podman load -i FILE` and `docker load -i FILE` (from 25) read it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tar::Builder;

use super::{Commit, archive, sha256};

/// The image of the command in a stage: `/tercet`, the entry point, with the user's own number.
///
/// # Errors
/// The command cannot be read, or is linked dynamically: a base is missing for it.
pub(super) fn image(stage: &Path, version: &str, target: &str, commit: &Commit) -> Result<Vec<u8>, String> {
    if !target.ends_with("-musl") {
        return Err(format!(
            "oci: requires a static command, and {target} is not: rustup target add …-linux-musl"
        ));
    }
    let command = stage.join("tercet");
    let octets = fs::read(&command).map_err(|error| format!("{}: {error}", command.display()))?;
    let mut layer = Builder::new(Vec::new());
    archive::append(&mut layer, Path::new("tercet"), &octets, true, commit.time)?;
    let layer = layer.into_inner().map_err(|error| error.to_string())?;
    let compressed = archive::gzip(&layer)?;

    let architecture = if target.starts_with("aarch64") { "arm64" } else { "amd64" };
    let config = json!({
        "created": commit.date,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "Entrypoint": ["/tercet"],
            "WorkingDir": "/data",
            "Labels": {
                "org.opencontainers.image.title": "tercet",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256(&layer))] },
    })
    .to_string();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", config.as_bytes()),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", &compressed)],
    })
    .to_string();
    let mut of_manifest = descriptor("application/vnd.oci.image.manifest.v1+json", manifest.as_bytes());
    of_manifest["platform"] = json!({ "architecture": architecture, "os": "linux" });
    of_manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [of_manifest],
    })
    .to_string();

    let mut layout = Builder::new(Vec::new());
    let mut add =
        |path: &str, octets: &[u8]| archive::append(&mut layout, Path::new(path), octets, false, commit.time);
    add("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    add("index.json", index.as_bytes())?;
    for blob in [config.as_bytes(), manifest.as_bytes(), &compressed] {
        add(&format!("blobs/sha256/{}", sha256(blob)), blob)?;
    }
    layout.into_inner().map_err(|error| error.to_string())
}

fn descriptor(media_type: &str, octets: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{}", sha256(octets)), "size": octets.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::io::Read;

    #[test]
    fn an_image_holds_the_command_and_digests_lead_to_it() {
        let stage = tempfile::tempdir().unwrap();
        fs::write(stage.path().join("tercet"), "a program").unwrap();
        let image = image(stage.path(), "1.2.3", "x86_64-unknown-linux-musl", &Commit::default()).unwrap();

        let mut files = HashMap::new();
        for entry in tar::Archive::new(&image[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut octets = Vec::new();
            entry.read_to_end(&mut octets).unwrap();
            files.insert(entry.path().unwrap().display().to_string(), octets);
        }
        let blob = |descriptor: &Value| {
            let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
            let octets = &files[&format!("blobs/sha256/{digest}")];
            assert_eq!(
                (sha256(octets), octets.len() as u64),
                (digest.to_owned(), descriptor["size"].as_u64().unwrap())
            );
            octets
        };
        let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
        let manifest: Value = serde_json::from_slice(blob(&index["manifests"][0])).unwrap();
        let config: Value = serde_json::from_slice(blob(&manifest["config"])).unwrap();
        let mut layer = Vec::new();
        flate2::read::GzDecoder::new(&blob(&manifest["layers"][0])[..]).read_to_end(&mut layer).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", sha256(&layer)));
        let mut layer = tar::Archive::new(&layer[..]);
        let mut entry = layer.entries().unwrap().next().unwrap().unwrap();
        assert_eq!((entry.path().unwrap().to_str(), entry.header().mode().unwrap()), (Some("tercet"), 0o755));
        let mut program = String::new();
        entry.read_to_string(&mut program).unwrap();
        assert_eq!(program, "a program");

        let dynamic = super::image(stage.path(), "1.2.3", "x86_64-unknown-linux-gnu", &Commit::default());
        assert!(dynamic.unwrap_err().contains("requires a static command"));
    }
}
