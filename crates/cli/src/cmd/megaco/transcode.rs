//! `tercet megaco transcode`, and `decode` and `encode`, which are it to and from JSON.

use super::captures::each_message;
use super::registry::RegistryArgs;
use super::{encodings, fault, inputs};
use crate::args::writes_stdout;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use crate::term::{self, Quotes};
use clap::Args;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use tercet::records::{Guard, Output};
use tercet_megaco::codec::Encoding;

/// Write messages in another encoding
#[derive(Args, Debug)]
pub struct Transcode {
    #[command(flatten)]
    input: InputArgs,

    /// Encoding to write
    #[arg(long, value_name = "ENCODING", value_parser = encodings())]
    to: Encoding,

    /// Encoding to read; found by the first bytes by default
    #[arg(long, value_name = "ENCODING", value_parser = encodings())]
    from: Option<Encoding>,

    /// Directory for the output; files keep their names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// Show messages as JSON, one line each; also those in packet captures
#[derive(Args, Debug)]
pub struct Decode {
    #[command(flatten)]
    input: InputArgs,

    /// Encoding to read; found by the first bytes by default
    #[arg(long, value_name = "ENCODING", value_parser = encodings())]
    from: Option<Encoding>,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// Write messages that are given as JSON
#[derive(Args, Debug)]
pub struct Encode {
    #[command(flatten)]
    input: InputArgs,

    /// Encoding to write
    #[arg(long, value_name = "ENCODING", value_parser = encodings())]
    to: Encoding,

    /// Directory for the output; files keep their names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    registry: RegistryArgs,
}

impl Decode {
    pub fn run(&self) -> Outcome {
        let registry = self.registry.clone();
        let (input, from) = (self.input.clone(), self.from);
        Transcode { input, to: Encoding::Json, from, output: None, registry }.run()
    }
}

impl Encode {
    pub fn run(&self) -> Outcome {
        let from = Some(Encoding::Json);
        let registry = self.registry.clone();
        let (input, output) = (self.input.clone(), self.output.clone());
        Transcode { input, to: self.to, from, output, registry }.run()
    }
}

impl Transcode {
    pub fn run(&self) -> Outcome {
        let is_text = matches!(self.to, Encoding::Pretty | Encoding::Compact | Encoding::Json);
        if self.output.is_none() && !is_text && io::stdout().is_terminal() {
            return Err(Failure::usage("refusing to write binary output to a terminal; use `--output DIR`"));
        }
        let binary = self.registry.read()?;
        let mut failed = false;
        let mut guard = Guard::default();
        if let Some(path) = &self.registry.registry {
            guard.reads("registry", path)?;
        }
        if self.output.is_none() {
            writes_stdout(&mut guard)?;
        }
        let inputs = inputs(&self.input, &mut guard)?;
        if let Some(directory) = &self.output {
            for (input, below) in &inputs {
                guard.writes(&format!("the output of `{}`", input.shown()), &directory.join(below))?;
            }
        }
        for (input, below) in inputs {
            each_message(&input, &mut |frame, octets| {
                if frame.is_some() && self.output.is_some() {
                    return Err(Failure::usage(format_args!(
                        "{}: a capture has several messages\nhelp: `tercet capture extract` writes them to files",
                        input.shown()
                    )));
                }
                let name = match frame {
                    Some(frame) => format!("{}: frame {frame}", input.shown()),
                    None => input.shown(),
                };
                let from = self.from.unwrap_or_else(|| Encoding::detect(octets));
                let mut out = Vec::new();
                let written =
                    from.decode_with(&binary, octets).map_err(|error| fault(&error, octets, name.as_ref()));
                let written = written.and_then(|message| {
                    let written = self.to.encode_with(&binary, &message, &mut out);
                    written.map_err(|error| {
                        format!("{name}: {} cannot express it: it requires {}", self.to.name(), error.what)
                    })
                });
                if let Err(message) = written {
                    term::error(message);
                    failed = true;
                    return Ok(());
                }
                match &self.output {
                    Some(directory) => {
                        let path = directory.join(&below);
                        let parent = path.parent().unwrap_or(directory);
                        fs::create_dir_all(parent).map_err(|error| Failure::io(parent.display(), &error))?;
                        let mut output = Output::create_derived(&path)?;
                        output.write_all(&out)?;
                        output.commit()?;
                    }
                    None => {
                        if is_text {
                            out.push(b'\n');
                        }
                        term::stdout(Quotes::Ignored)
                            .write_all(&out)
                            .map_err(|error| Failure::io("<stdout>", &error))?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(if failed { Exit::Usage } else { Exit::Good })
    }
}
