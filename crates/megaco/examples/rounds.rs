//! Encodes or decodes the messages of a folder again and again, for a profiler that counts instructions or allocations:
//!
//!     rounds FOLDER pretty|compact|ber|… decode|encode ROUNDS
//!
//! What a round costs is the difference of two runs.

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use tercet_megaco::codec::{Codec, Encoding, decode_any};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, encoding, direction, rounds] = &arguments[..] else { return ExitCode::from(2) };
    match (Encoding::named(encoding), rounds.parse()) {
        (Some(encoding), Ok(rounds)) if run(Path::new(folder), encoding, direction, rounds).is_ok() => {
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(2),
    }
}

fn run(folder: &Path, encoding: Encoding, direction: &str, rounds: usize) -> std::io::Result<()> {
    let files = std::fs::read_dir(folder)?.map(|entry| std::fs::read(entry?.path()));
    let files = files.collect::<std::io::Result<Vec<Vec<u8>>>>()?;
    let messages: Vec<_> = files.iter().filter_map(|file| decode_any(file).ok()).collect();
    let mut out = Vec::with_capacity(1 << 20);
    let mut encoded = Vec::new();
    for message in &messages {
        out.clear();
        if encoding.encode(message, &mut out).is_ok() {
            encoded.push(out.clone());
        }
    }
    for _ in 0..rounds {
        if direction == "encode" {
            for message in &messages {
                out.clear();
                _ = black_box(encoding.encode(message, &mut out));
            }
        } else {
            for octets in &encoded {
                _ = black_box(encoding.decode(octets));
            }
        }
    }
    Ok(())
}
