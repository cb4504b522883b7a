//! `tercet capture`: messages in packet captures.

mod decoder;
mod list;
mod protocols;
mod specifications;

use crate::exit::Outcome;
use clap::{Args, Subcommand};

/// Find the ASN.1 messages in packet captures and decode them
#[derive(Args, Debug)]
#[command(after_help = "\
Captures: pcap and pcapng, compressed or not. Messages: S1AP, NGAP and others over SCTP, H.248 over
UDP, through VLANs, MPLS, tunnels and fragments. TCP and SIGTRAN are not read.

Examples:
  tercet capture list -s specifications/ attach.pcap
  tercet capture list --json --protocol ngap *.pcapng.gz
  tercet capture protocols -s specifications/")]
pub struct Capture {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(list::List),
    Protocols(protocols::Protocols),
}

impl Capture {
    pub fn run(&self) -> Outcome {
        match &self.command {
            Command::List(command) => command.run(),
            Command::Protocols(command) => command.run(),
        }
    }
}
