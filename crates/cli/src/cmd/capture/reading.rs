//! What the commands on captures share: their options, and the loop over the messages of files.

use super::rows::{Source, rules};
use super::specifications::SpecificationArgs;
use super::threads::{Pool, Rendering};
use crate::args::Elements;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::term;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::io::Read;
use std::thread;
use tercet::captures::{
    Condition, Decoded, Decoder, DecoderOptions, Form, ReadValue, Signalled, Signalling, object,
};
use tercet_capture::file::{Item, PacketReader};
use tercet_capture::{Balance, Capture, DecodeAs, Event, Options, Pdu, Time, protocol, protocols};

/// Which messages are read, and how they are decoded.
#[derive(Args, Debug)]
pub(super) struct ReadingArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,

    #[command(flatten)]
    specifications: SpecificationArgs,

    /// Read messages of these protocols only
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known)]
    protocol: Vec<&'static str>,

    /// Rule for messages that the table of protocols does not find: FIELD==VALUE[,VALUE|A-B]=PROTOCOL[.TYPE][:RULES], or
    /// tshark's FIELD==VALUE,PROTOCOL; fields: sctp.ppid, sctp.port, tcp.port, udp.port, ethertype, dlt, sccp.ssn, m3ua.si,
    /// btp.port, gsmtap.type, gtpp.format. The last one that fits wins
    #[arg(short, long, value_name = "RULE")]
    decode_as: Vec<DecodeAs>,

    /// Read the messages that meet a condition: `protocol = 'ngap' and message like 'Initial%' and ids.amf = 17`; columns
    /// are the keys of `list --json`, and `value` with the components of the message
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Vec<Condition>,

    /// Read the messages that frames from A to B complete
    #[arg(long, value_name = "A-B", value_parser = frames)]
    frames: Option<(u64, u64)>,

    /// Read messages of this time and later ones, in UTC: 2023-11-14T22:13:20
    #[arg(long, value_name = "TIME")]
    after: Option<Time>,

    /// Read messages before this time
    #[arg(long, value_name = "TIME")]
    before: Option<Time>,

    /// Do not decode messages
    #[arg(long)]
    no_decode: bool,

    /// Read several files as one capture, in the order of their first packets; fragments and numbers of frames go on
    #[arg(long)]
    one_capture: bool,

    /// Messages of which the capture has only the begin
    #[arg(long, value_enum, default_value_t = Partial::Keep, value_name = "ACTION")]
    partial: Partial,

    /// Memory for fragments that wait for others, in bytes; K, M and G multiply by 1024, its square and its cube
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    limit_memory: usize,

    /// Lists of information elements in values
    #[arg(long, value_enum, default_value_t = Elements::Map, value_name = "FORM")]
    ies: Elements,

    /// Show constants of values as numbers instead of their names in the specification
    #[arg(long)]
    numbers: bool,

    /// Report every deviation of a message from its specification as an error
    ///
    /// By default, a message that can be read is decoded, and deviations are warnings: characters outside of an alphabet,
    /// sizes and numbers outside of a constraint, defaults that are sent.
    #[arg(long)]
    strict: bool,
}

/// What is done with messages that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Partial {
    /// Keep them, marked as partial
    Keep,
    /// Skip them
    Drop,
}

/// A message, decoded if that is asked for.
pub(super) struct Message<'a> {
    pub(super) pdu: &'a Pdu<'a>,
    pub(super) decoded: Option<&'a Decoded>,
    /// Its specification, and the value as far as it was read.
    pub(super) value: Option<ReadValue<'a>>,
    /// The name of its file, if there are several.
    pub(super) file: Option<&'a str>,
}

/// What reading a file came to.
pub(super) struct FileTotals<'a> {
    pub(super) name: &'a str,
    pub(super) balance: &'a Balance,
    pub(super) undecoded: u64,
}

/// Takes messages, and what files came to.
pub(super) trait Reader {
    /// Takes a message.
    fn message(&mut self, message: Message<'_>) -> Outcome<()>;

    /// Returns whether no further message is asked for.
    fn is_done(&self) -> bool {
        false
    }

    /// Takes what a file came to.
    fn end(&mut self, _totals: &FileTotals<'_>) -> Outcome<()> {
        Ok(())
    }
}

/// Takes the messages of captures as they are found.
pub(super) trait Consumer {
    /// Returns whether it decodes messages.
    fn decodes(&self) -> bool;

    /// Takes a message; one that is not wanted only to know which sockets it announces. Returns these sockets.
    fn pdu(&mut self, pdu: &Pdu<'_>, file: Option<&str>, is_wanted: bool) -> Outcome<Vec<Signalled>>;

    /// Reports a packet that cannot be read.
    fn fault(&mut self, text: String);

    /// Finishes all messages of a capture, and returns the number of those that were not decoded.
    fn finish(&mut self) -> Outcome<u64>;

    /// Returns whether no further message is asked for.
    fn is_done(&self) -> bool;

    /// Takes what a file came to.
    fn end(&mut self, _totals: &FileTotals<'_>) -> Outcome<()> {
        Ok(())
    }
}

/// Hands messages to a reader one by one.
struct OneByOne<'a> {
    arguments: &'a ReadingArgs,
    decoder: Option<Decoder>,
    reader: &'a mut dyn Reader,
    undecoded: u64,
}

impl Consumer for OneByOne<'_> {
    fn decodes(&self) -> bool {
        self.decoder.is_some()
    }

    fn pdu(&mut self, pdu: &Pdu<'_>, file: Option<&str>, is_wanted: bool) -> Outcome<Vec<Signalled>> {
        let Self { arguments, decoder, reader, undecoded } = self;
        let mut act = |message: Message<'_>| reader.message(message);
        let sockets = decode(arguments, decoder.as_mut(), pdu, file, is_wanted, undecoded, &mut act)?;
        say_notices(decoder.as_mut().map(Decoder::take_notices).unwrap_or_default());
        Ok(sockets)
    }

    fn fault(&mut self, text: String) {
        term::warning(text);
    }

    fn finish(&mut self) -> Outcome<u64> {
        Ok(std::mem::take(&mut self.undecoded))
    }

    fn is_done(&self) -> bool {
        self.reader.is_done()
    }

    fn end(&mut self, totals: &FileTotals<'_>) -> Outcome<()> {
        self.reader.end(totals)
    }
}

/// Decodes a message if there is a decoder, and hands it on if it is wanted and meets the conditions. Returns the sockets that
/// it announces.
pub(super) fn decode(
    arguments: &ReadingArgs,
    decoder: Option<&mut Decoder>,
    pdu: &Pdu<'_>,
    file: Option<&str>,
    is_wanted: bool,
    undecoded: &mut u64,
    act: &mut dyn FnMut(Message<'_>) -> Outcome<()>,
) -> Outcome<Vec<Signalled>> {
    let mut taken = Ok(());
    let mut take = |decoded: Option<&Decoded>, value: Option<ReadValue<'_>>| {
        if !is_wanted || !arguments.holds(pdu, decoded, file) {
            return;
        }
        let fault = decoded.and_then(|it| it.fault.as_ref());
        *undecoded += u64::from(fault.is_some_and(|fault| fault.stage != "schema"));
        taken = act(Message { pdu, decoded, value, file });
    };
    let sockets = match decoder {
        None => {
            take(None, None);
            Vec::new()
        }
        Some(decoder) => decoder.decode_with(pdu, &mut |decoded, value| take(Some(decoded), value)).sockets,
    };
    taken.map(|()| sockets)
}

/// Returns the name of a protocol.
fn known(name: &str) -> Result<&'static str, String> {
    let names = || protocols().iter().map(|it| &*it.name);
    protocol(name).map(|it| &*it.name).ok_or_else(|| tercet::suggest::unknown("protocol", name, names()))
}

/// Reads numbers of frames: `5`, `5-9`, `5-`.
fn frames(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number of a frame"));
    Ok((number(first)?, if last.is_empty() { u64::MAX } else { number(last)? }))
}

/// Reads a number of bytes: `64M`.
fn size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| format!("`{text}` is not a size such as `64M`"))
}

impl ReadingArgs {
    /// Returns the arguments for messages that are read as records, of some protocols or of all.
    pub(super) fn of_records(
        source: &Source,
        specifications: SpecificationArgs,
        protocol: Vec<&'static str>,
    ) -> Outcome<Self> {
        let condition = |text: &String| {
            text.parse::<Condition>().map_err(|error| Failure::usage(format_args!("`{text}`: {error}")))
        };
        Ok(Self {
            input: InputArgs { options: source.input.clone() },
            specifications,
            protocol,
            decode_as: rules(&source.capture.decode_as)?,
            condition: source.conditions.iter().map(condition).collect::<Outcome<_>>()?,
            frames: None,
            after: None,
            before: None,
            no_decode: false,
            one_capture: false,
            partial: Partial::Keep,
            limit_memory: Options::default().memory_limit,
            ies: Elements::Map,
            numbers: false,
            strict: source.schema.reading.strict,
        })
    }

    /// Reads the messages of all files; values are made if `values` asks for them.
    pub(super) fn read(&self, values: bool, reader: &mut dyn Reader) -> Outcome {
        let decoder = self.decoder(values)?;
        self.read_files(&mut OneByOne { arguments: self, decoder, reader, undecoded: 0 })
    }

    /// Reads the messages of all files in batches, which threads render.
    pub(super) fn render(&self, rendering: Rendering<'_>) -> Outcome {
        let decoder = self.decoder(false)?;
        thread::scope(|scope| self.read_files(&mut Pool::new(scope, self, decoder, rendering)))
    }

    /// Returns the decoder, if messages are decoded.
    fn decoder(&self, values: bool) -> Outcome<Option<Decoder>> {
        if self.no_decode {
            return Ok(None);
        }
        let needs_values = values || self.condition.iter().any(Condition::needs_values);
        let mut options = DecoderOptions::default();
        let form = Form { lists: self.ies == Elements::List, numbers: self.numbers };
        options.form = needs_values.then_some(form);
        options.strict = self.strict;
        Ok(Some(Decoder::new(self.specifications.find()?, options)))
    }

    fn read_files(&self, consumer: &mut dyn Consumer) -> Outcome {
        let mut inputs = self.input.expand()?;
        if self.one_capture {
            let mut timed = Vec::new();
            for input in inputs {
                timed.push((first_time(&input)?, input));
            }
            timed.sort_by_key(|(time, _)| *time);
            inputs = timed.into_iter().map(|(_, input)| input).collect();
            return self.read_capture(&inputs, false, consumer);
        }
        let mut exit = Exit::Good;
        for input in &inputs {
            let several = inputs.len() > 1;
            exit = exit.max(self.read_capture(std::slice::from_ref(input), several, consumer)?);
        }
        Ok(exit)
    }

    /// Reads the messages of a capture of one or several files.
    fn read_capture(&self, inputs: &[Input], several: bool, consumer: &mut dyn Consumer) -> Outcome {
        let Some((first, rest)) = inputs.split_first() else { return Ok(Exit::Good) };
        let mut options = Options::default();
        options.decode_as.clone_from(&self.decode_as);
        options.memory_limit = self.limit_memory;
        let mut capture = Capture::new(first.open()?, options);
        let mut name = first.name();
        let (mut taken, mut unreadable) = (Ok(()), false);
        let mut remaining = rest.iter();
        let (decodes, is_done) = (consumer.decodes(), Cell::new(consumer.is_done()));
        let sockets = RefCell::new(Vec::new());
        loop {
            capture.expect_more(remaining.len() > 0);
            let file = several.then_some(&*name);
            let mut sink = |event: Event<'_>| match event {
                Event::Pdu(pdu) => {
                    let is_wanted = self.is_wanted(&pdu, file);
                    // Signalling says where messages of others are, also if it is not asked for.
                    let announces = decodes && Signalling::is_of(pdu.protocol);
                    if is_done.get() || !is_wanted && !announces {
                        return;
                    }
                    match consumer.pdu(&pdu, file, is_wanted) {
                        Ok(found) if found.is_empty() => {}
                        Ok(found) => sockets.borrow_mut().extend(found),
                        Err(failure) => taken = Err(failure),
                    }
                    is_done.set(taken.is_err() || consumer.is_done());
                }
                Event::Fault(fault) => consumer.fault(format!("{name}: {fault}")),
                _ => {}
            };
            let mut read = Ok(true);
            while !is_done.get() && matches!(read, Ok(true)) {
                read = capture.read_packet(&mut sink);
                for (transport, socket, protocol) in sockets.take() {
                    capture.expect_messages(transport, socket, protocol);
                }
            }
            if let Err(error) = read {
                // What came before the damage is kept, and other files are read.
                unreadable = true;
                term::error(Failure::io(&name, &error).message);
            }
            match remaining.next().filter(|_| !is_done.get()) {
                Some(input) => {
                    capture.continue_with(input.open()?);
                    name = input.name();
                }
                None => break,
            }
        }
        taken?;
        let undecoded = consumer.finish()?;
        let balance = capture.balance();
        consumer.end(&FileTotals { name: &name, balance, undecoded })?;
        if balance.faults == 0 && undecoded == 0 && !unreadable {
            return Ok(Exit::Good);
        }
        // Without a packet there is nothing that was a capture.
        if balance.packets == 0 && (balance.faults > 0 || unreadable) {
            return Ok(Exit::Io);
        }
        term::say(format_args!("{name}: {}", summary(balance, undecoded)));
        Ok(if unreadable { Exit::Io } else { Exit::Rejected })
    }

    /// Returns whether a message may be read, as far as is known before it is decoded.
    fn is_wanted(&self, pdu: &Pdu<'_>, file: Option<&str>) -> bool {
        let is_listed = self.protocol.is_empty() || self.protocol.contains(&&*pdu.protocol.name);
        let is_in_frames = self.frames.is_none_or(|(first, last)| (first..=last).contains(&pdu.frame));
        // A message without a time is neither before nor after one.
        let is_in_time = self.after.is_none_or(|after| pdu.time.is_some_and(|time| time >= after))
            && self.before.is_none_or(|before| pdu.time.is_some_and(|time| time < before));
        if !is_listed || !is_in_frames || !is_in_time || pdu.partial && self.partial == Partial::Drop {
            return false;
        }
        if self.condition.is_empty() {
            return true;
        }
        let line = Value::from(object(pdu, None, file));
        self.condition.iter().all(|condition| condition.may_hold(&line))
    }

    /// Returns whether a message meets the conditions.
    fn holds(&self, pdu: &Pdu<'_>, decoded: Option<&Decoded>, file: Option<&str>) -> bool {
        if self.condition.is_empty() {
            return true;
        }
        let mut line: Map<String, Value> = object(pdu, decoded, file);
        if let Some(value) = decoded.and_then(|it| it.value.clone()) {
            line.insert("value".to_owned(), value);
        }
        let line = Value::from(line);
        self.condition.iter().all(|condition| condition.holds(&line))
    }
}

/// Returns the time of the first packet of a file.
fn first_time(input: &Input) -> Outcome<Option<Time>> {
    let mut packets = PacketReader::new(input.open()? as Box<dyn Read>);
    match packets.next_item().map_err(|error| Failure::io(input.name(), &error))? {
        Some(Item::Packet(packet)) => Ok(packet.time),
        _ => Ok(None),
    }
}

/// Prints what users have to know about specifications.
pub(super) fn say_notices(notices: Vec<String>) {
    for notice in notices {
        match notice.starts_with("no specification") {
            true => term::warning(format_args!(
                "{notice}\nhelp: `--schema PATH` or TERCET_SCHEMAS names specifications"
            )),
            false => term::warning(notice),
        }
    }
}

/// Where the packets went, for people.
fn summary(balance: &Balance, undecoded: u64) -> String {
    format!(
        "{}: {} with messages, {} bad, {} with fragments, {} not looked into, {} without messages; {}, {undecoded} not decoded",
        term::count(balance.packets, "packet"),
        balance.with_pdus,
        balance.bad,
        balance.waiting,
        balance.unread,
        balance.nothing,
        term::count(balance.pdus, "message"),
    )
}
