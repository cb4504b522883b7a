//! The Rust of the guide runs: its block is the text between the marks `// guide` and `// end` here.

use std::fs;
use std::path::Path;

#[test]
fn the_rust_of_the_guide_runs() -> tercet_megaco::Result<()> {
    let octets = b"MEGACO/1 [192.0.2.1]:2944 Transaction = 1 { Context = - { Subtract = line/7 } }".to_vec();
    // guide
    use tercet_megaco::codec::{Codec, Encoding, decode_any};

    let message = decode_any(&octets)?;
    let mut out = Vec::new();
    Encoding::Compact.encode(&message, &mut out)?;
    // end
    assert_eq!(String::from_utf8_lossy(&out), "!/1 [192.0.2.1]:2944\nT=1{C=-{S=line/7}}");

    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(folder.join("../../docs/guide-megaco.md")).unwrap();
    let (_, rest) = guide.split_once("```rust,ignore\n").unwrap();
    let (_, code) = include_str!("guide.rs").split_once("    // guide\n").unwrap();
    let lines = code.lines().take_while(|line| line.trim() != "// end");
    let code: String = lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    assert_eq!(rest.split("```\n").next(), Some(&*code));
    Ok(())
}
