//! `tercet inspect`.

use crate::args::{self, SchemaArgs, SyntaxOrAuto};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs, SpellingArgs};
use crate::term;
use clap::Args;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tercet::Rules;
use tercet::records::conversion::RecordOptions;
use tercet_inspect::{Server, Setup, Source, Workbench};

/// Show files in the browser: records, values, bytes and bits, specifications, all linked
#[derive(Args, Debug)]
#[command(after_help = "\
The page is served on 127.0.0.1, at an address with a secret token, until Ctrl-C. Files stay on this machine. Nothing is written
unless `--edit` is given.

Examples:
  tercet inspect -s schemas/demo -t CallRecord calls.ber
  tercet inspect -s schemas/signalling --rules uper message.uper
  tercet inspect -s specifications/ attach.pcapng
  tercet inspect certificate.pem")]
// Without a specification the page shows elements of BER.
#[command(mut_arg("schema", args::optional))]
pub struct Inspect {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`; the one that fits the first input best unless given
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: Option<String>,

    /// List inside of the type whose elements are the records, such as `TransferBatch.callEventDetails`
    #[arg(short, long, value_name = "PATH")]
    records: Option<String>,

    /// How records are framed, such as `plain` or `u16be`; found by trial by default
    #[arg(long, value_name = "FRAMING")]
    framing: Option<String>,

    /// Encoding rules of the inputs; by default the ones that fit the first input best
    #[arg(long, value_enum, default_value = "auto")]
    rules: SyntaxOrAuto,

    #[command(flatten)]
    spelling: SpellingArgs,

    #[cfg(feature = "capture")]
    #[command(flatten)]
    capture: args::CaptureArgs,

    /// Port of the page; any free one by default
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Allow changes: records can be edited in the page, and saved to new files
    #[arg(long)]
    edit: bool,

    /// Print the address of the page only, and do not open a browser
    #[arg(long)]
    no_open: bool,
}

impl Inspect {
    pub fn run(&self) -> Outcome {
        let schema = match self.schema.is_empty() {
            true => None,
            // The page shows the texts, which a plan of an earlier run does not have.
            false if self.schema.plan.is_some() => Some(Arc::new(self.schema.load()?)),
            false => Some(Arc::new(self.schema.specifications()?)),
        };
        if schema.is_none() && self.type_name.is_some() {
            return Err(Failure::usage("`--type` requires the specification; name it with `--schema`"));
        }
        let mut sources = Vec::new();
        for input in self.input.expand()? {
            sources.extend(self.open(&input)?);
        }
        let framing = match &self.framing {
            None => None,
            Some(framing) => {
                let options = RecordOptions { framing: framing.clone(), ..RecordOptions::default() };
                Some(options.given_framing()?)
            }
        };
        let bench = Workbench::new(Setup {
            sources,
            schema,
            type_name: self.type_name.clone(),
            rules: self.rules.0,
            records: self.records.clone(),
            framing,
            is_editable: self.edit,
        })
        .map_err(Failure::usage)?;
        if let Some((type_name, rules)) = bench.initial() {
            term::say(format_args!(
                "{}: {type_name} in {rules}",
                term::count(bench.inputs() as u64, "input")
            ));
        }
        let server = Server::bind(bench, self.port)
            .map_err(|error| Failure::io(format_args!("127.0.0.1:{}", self.port), &error))?;
        let url = server.url();
        {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{url}")?;
            out.flush()?;
        }
        if !self.no_open && std::io::stdout().is_terminal() {
            open_browser(&url);
        }
        server.run()?;
        Ok(Exit::Good)
    }

    /// Reads the messages of a packet capture.
    #[cfg(feature = "capture")]
    fn captured(&self, input: &Input) -> Outcome<Arc<Source>> {
        use tercet_capture::{Capture, Event, Options, Pdu, protocol_and_type};
        use tercet_inspect::{CaptureBuilder, Captured};
        let mut options = Options::default();
        options.decode_as = crate::cmd::capture::rules(&self.capture.decode_as)?;
        let wanted = self.capture.protocol.iter().map(|name| protocol_and_type(name).map_err(Failure::usage));
        let wanted: Vec<_> = wanted.collect::<Outcome<_>>()?;
        let is_wanted = |pdu: &Pdu<'_>| {
            let fits =
                |(protocol, variant): &(&tercet_capture::Protocol, Option<Arc<tercet_capture::Variant>>)| {
                    protocol.name == pdu.protocol.name && (variant.is_none() || *variant == pdu.variant)
                };
            wanted.is_empty() || wanted.iter().any(fits)
        };
        let named = |error: std::io::Error| Failure::io(input.shown(), &error);
        let mut builder = CaptureBuilder::new().map_err(named)?;
        let mut capture = Capture::new(input.open()?, options);
        let (mut taken, mut faults) = (Ok(true), 0_u64);
        let mut sink = |event: Event<'_>| match event {
            Event::Pdu(pdu) if is_wanted(&pdu) && matches!(taken, Ok(true)) => {
                let variant = pdu.variant.as_deref();
                let module = variant.and_then(|it| it.module.as_ref()).or(pdu.protocol.module.as_ref());
                let type_name = variant.map(|it| &it.type_name).or(pdu.protocol.type_name.as_ref());
                let rules = variant.and_then(|it| it.rules.as_ref()).or(pdu.protocol.rules.as_ref());
                let rules = rules.and_then(|rules| rules.parse::<Rules>().ok());
                let name = type_name.map(|name| match module {
                    Some(module) => format!("{module}.{name}"),
                    None => name.clone(),
                });
                let from = Captured {
                    frame: pdu.frame,
                    time: pdu.time.map_or_else(String::new, |time| time.to_string()),
                    source: pdu.source.to_string(),
                    destination: pdu.destination.to_string(),
                    protocol: pdu.protocol.name.clone(),
                    way: name.zip(rules),
                };
                taken = builder.push(&from, pdu.octets);
            }
            Event::Fault(_) => faults += 1,
            _ => {}
        };
        while capture.read_packet(&mut sink).map_err(named)? {}
        let name = input.name();
        if !taken.map_err(named)? {
            term::warning(format_args!("{name}: only the first messages are listed"));
        }
        if faults > 0 {
            let faults = term::count(faults, "part");
            term::warning(format_args!(
                "{name}: {faults} of the capture cannot be read; `tercet capture stat` lists them"
            ));
        }
        Ok(Arc::new(builder.finish(&name).map_err(named)?))
    }

    fn open(&self, input: &Input) -> Outcome<Vec<Arc<Source>>> {
        #[cfg(feature = "capture")]
        if !self.spelling.binary && !self.spelling.hex && crate::cmd::capture::is_capture(input) {
            return Ok(vec![self.captured(input)?]);
        }
        let SpellingArgs { hex, binary, .. } = self.spelling;
        // Where values show their ends, the lines of a text are one input.
        let joined = self.rules.0.is_none_or(Rules::delimits);
        let opened = match input {
            Input::File(path) => Source::open(path, hex, binary, joined),
            other => Source::read(&other.name(), other.open()?, hex, joined),
        };
        Ok(opened?)
    }
}

/// Opens the page in the browser of the desktop. Where there is none, the address has been printed.
fn open_browser(url: &str) {
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let silent = || Stdio::null();
    let mut command = Command::new(program);
    _ = command.args(words).arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
}
