//! `tercet capture`: messages in packet captures.

mod conversations;
mod convert;
mod doctor;
mod extract;
mod follow;
mod line;
mod list;
mod protocols;
mod reading;
mod rows;
mod show;
mod specifications;
mod stat;
mod threads;
mod values;

pub use convert::convert;
pub use doctor::diagnose;
#[cfg(feature = "inspect")]
pub use rows::rules;
pub use rows::{Source, are_captures, is_capture, not_applied, refuse_others};
pub use values::print;

use crate::exit::Outcome;
use clap::{Args, Subcommand};

/// Find the ASN.1 messages in packet captures and decode them
#[derive(Args, Debug)]
#[command(after_help = "\
Captures: pcap and pcapng, compressed or not. Messages: those of radio and core networks, SIGTRAN, H.323, H.248, LDAP,
SNMP, Kerberos, MMS and others (`tercet capture protocols` lists them), through VLANs, MPLS, tunnels, fragments and
streams of TCP.

Examples:
  tercet capture list -s specifications/ attach.pcap
  tercet capture list --json --protocol ngap *.pcapng.gz
  tercet capture show -s specifications/ attach.pcap --frame 12
  tercet capture follow -s specifications/ --ue 17 attach.pcap
  tercet capture protocols -s specifications/")]
pub struct Capture {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum Command {
    List(list::List),
    Show(show::Show),
    Stat(stat::Stat),
    Follow(follow::Follow),
    Extract(extract::Extract),
    Protocols(protocols::Protocols),
}

impl Capture {
    pub fn run(&self) -> Outcome {
        match &self.command {
            Command::List(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Stat(command) => command.run(),
            Command::Follow(command) => command.run(),
            Command::Extract(command) => command.run(),
            Command::Protocols(command) => command.run(),
        }
    }
}
