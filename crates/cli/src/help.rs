//! How help is arranged: options in groups with headings, and the common ones alone in `-h`.
//!
//! The text of an option stands beside it; here is which group it belongs to, in all commands that have it. A test checks that
//! every option of a long list has a group, and that `-h` fits a screen.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command, CommandFactory};
use std::ffi::OsString;
use tercet::suggest::nearest;

/// A group of options under a heading; what is in no group is under `Options`.
struct Group {
    heading: &'static str,
    /// Options that `-h` lists, by their long names.
    common: &'static [&'static str],
    /// Options that only `--help` lists.
    rare: &'static [&'static str],
}

/// The groups. Help shows them in the order in which a command has their first options.
const GROUPS: [Group; 28] = [
    Group {
        heading: "Specification",
        common: &["schema", "type"],
        rare: &["plan", "strict", "lenient", "alias", "tags", "allow-errors", "allow-missing", "no-cache"],
    },
    Group {
        heading: "Input",
        common: &["records", "framing", "from", "hex", "rules-a", "rules-b"],
        rare: &[
            "rules",
            "filler",
            "record-limit",
            "max-depth",
            "unknown",
            "defaults",
            "trailing",
            "values",
            "allow-empty",
            "hash-inputs",
        ],
    },
    Group {
        heading: "Output",
        common: &["format", "output", "limit", "count", "numbers", "vertical", "to", "json", "csv"],
        rare: &[
            "header",
            "width",
            "json-style",
            "on-interrupt",
            "partial",
            "hex-input",
            "hex-output",
            "explain",
        ],
    },
    Group { heading: "Language", common: &["language", "package"], rare: &["serde", "small"] },
    Group {
        heading: "Values",
        common: &["render", "profile"],
        rare: &["octets", "integers", "reals", "oids", "open"],
    },
    Group {
        heading: "Columns",
        common: &["columns"],
        rare: &["rename", "provenance", "flat", "compression", "hex-octets", "guard-formulas", "record-hash"],
    },
    Group {
        heading: "Rows",
        common: &["where", "explode", "dedupe"],
        rare: &["children", "by-type", "child", "dedupe-file"],
    },
    Group {
        heading: "Rejects",
        common: &["rejects"],
        rare: &["max-rejects", "skip-rejects", "max-reject-ratio", "marks"],
    },
    Group {
        heading: "Messages",
        common: &["frames", "frame", "ue", "tid", "call", "stream"],
        rare: &[
            "protocol",
            "decode-as",
            "after",
            "before",
            "no-decode",
            "one-capture",
            "limit-memory",
            "ies",
            "layers",
            "ladder",
            "pairs",
        ],
    },
    Group {
        heading: "Timers and limits",
        common: &["request-timer", "reply-timer", "pending-timer"],
        rare: &[
            "long-request-timer",
            "long-request-resend",
            "segment-timer",
            "sent-pending-limit",
            "recv-pending-limit",
            "idle-frame-timeout",
        ],
    },
    Group {
        heading: "Transactions",
        common: &["encoding", "h248-version"],
        rare: &[
            "auto-ack",
            "batch-acks",
            "batch-requests",
            "batch-size",
            "batch-timer",
            "segment",
            "max-pdu",
            "reply-ack",
        ],
    },
    Group {
        heading: "Copies of messages and counters",
        common: &[],
        rare: &["metrics", "write-pcap", "hep"],
    },
    Group {
        heading: "Simulation and TLS",
        common: &["work"],
        rare: &["threaded", "terminations", "tls-cert", "tls-key", "tls-ca"],
    },
    Group {
        heading: "Totals",
        common: &[],
        rare: &["summary", "total", "sequence", "file-sequence", "prometheus"],
    },
    Group {
        heading: "Runs over many files",
        common: &["jobs", "resume"],
        rare: &["config", "print-config", "watch", "skip-existing", "interval"],
    },
    Group {
        heading: "Connection",
        common: &["uri", "simple", "bind_dn", "password", "prompt", "password_file", "start_tls", "insecure"],
        rare: &[
            "ca",
            "plain-password",
            "chase",
            "extensions",
            "options",
            "verbose",
            "debug",
            "ldap-version",
            "interactive",
            "ldap-exit",
        ],
    },
    Group {
        heading: "Search",
        common: &["base", "scope", "search_extensions", "size_limit", "time_limit", "types_only", "level"],
        rare: &["deref", "manage_dsa_it", "no-ranges", "filters", "sort_by"],
    },
    Group { heading: "Passwords", common: &[], rare: &["ask_old", "ask", "old_file", "new_file"] },
    Group {
        heading: "SASL",
        common: &["mechanism"],
        rare: &[
            "sasl_user",
            "sasl_realm",
            "authorization",
            "sasl_properties",
            "service",
            "canonical-host",
            "no_canonical_host",
            "sasl_quiet",
        ],
    },
    Group {
        heading: "Transactions of several entries",
        common: &["atomic"],
        rare: &["locks", "journal", "lock-wait", "lease", "allow-irreversible"],
    },
    Group {
        heading: "Printed entries",
        common: &[],
        rare: &["value_files", "temporary", "url_prefix", "friendly", "jsonl-values"],
    },
    Group {
        heading: "Changes to follow",
        common: &["sync", "persistent", "dirsync", "poll", "cookie"],
        rare: &["once"],
    },
    Group {
        heading: "Pace",
        common: &["op", "connections", "operations", "duration"],
        rare: &["in-flight", "rate", "warm-up", "seed", "percentiles", "writes"],
    },
    Group { heading: "Directory on disk", common: &["data"], rare: &["durability", "read-only"] },
    Group { heading: "TLS", common: &["certificate", "key", "tls"], rare: &[] },
    Group {
        heading: "Rules of the server",
        common: &["acl"],
        rare: &["password-policy", "schema-check", "unique", "integrity", "member-of"],
    },
    Group {
        heading: "Messages of the proxy",
        common: &["balance", "log", "map"],
        rare: &["show-passwords", "answer", "as"],
    },
    Group {
        heading: "Limits and reports of the server",
        common: &["index", "size-limit", "time-limit"],
        rare: &["workers", "max-connections", "idle", "access-log", "metrics"],
    },
];

/// Commands whose lists of options are short enough as they are: fewer options, and one heading.
const SHORT: usize = 12;

/// What `-h` of a command ends with where it does not list all options.
const MORE: &str = "`--help` lists all options";

/// The command line, all of it and arranged: for what describes it.
pub fn command() -> Command {
    arranged(whole(crate::Cli::command()), false)
}

/// The same without the commands `help`, which have no pages of a manual.
pub fn command_without_help() -> Command {
    arranged(whole(crate::Cli::command().disable_help_subcommand(true)), false)
}

/// The values of these words. What no word names is not made, unless there is something to tell: help, or what is wrong.
pub fn matches(words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    match crate::Cli::command().try_get_matches_from(words) {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {
            let is_short = words.iter().any(|word| word == "-h");
            arranged(whole(crate::Cli::command()), is_short).try_get_matches_from(words)
        }
        parsed => parsed,
    }
}

/// A command with all its commands made.
fn whole(mut command: Command) -> Command {
    command.build();
    with_help(command)
}

/// A command whose commands `help` know the others, which were not made when these were.
fn with_help(command: Command) -> Command {
    let command = command.mut_subcommands(with_help);
    let known: Vec<Command> = command.get_subcommands().cloned().collect();
    command.mut_subcommands(|help| if help.get_name() == "help" { told(help, &known) } else { help })
}

/// A command of `help` with the text and the commands of what it tells of.
fn told(help: Command, known: &[Command]) -> Command {
    help.mut_subcommands(|command| match known.iter().find(|known| known.get_name() == command.get_name()) {
        Some(known) => command.about(known.get_about().cloned().unwrap_or_default()),
        None => command,
    })
}

/// An error of the command line that names the nearest value of an option, or the nearest option or command, by the measure of
/// all other messages: a swap of letters is one slip.
pub fn with_nearest(mut error: clap::Error) -> clap::Error {
    let pairs = [
        (ContextKind::InvalidValue, ContextKind::ValidValue, ContextKind::SuggestedValue),
        (ContextKind::InvalidSubcommand, ContextKind::ValidSubcommand, ContextKind::SuggestedSubcommand),
    ];
    for (invalid, valid, suggested) in pairs {
        if error.get(suggested).is_some() {
            continue;
        }
        let near = match (error.get(invalid), error.get(valid)) {
            (Some(ContextValue::String(value)), Some(ContextValue::Strings(known))) => {
                nearest(value, known.iter().map(String::as_str)).map(str::to_owned)
            }
            _ => None,
        };
        if let Some(near) = near {
            error.insert(suggested, ContextValue::String(near));
        }
    }
    error
}

/// A command with its options in groups, and those of its commands; `is_short` if `-h` is what will be shown.
fn arranged(command: Command, is_short: bool) -> Command {
    let command = command.mut_subcommands(|command| arranged(command, is_short));
    let has_all = |arg: &Arg| arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str());
    let is_own = |arg: &&Arg| !arg.is_positional() && !has_all(arg);
    if command.get_arguments().filter(is_own).count() <= SHORT {
        return if is_short { command.mut_args(without_values) } else { command };
    }
    let has_framing = command.get_opts().any(|arg| arg.get_long() == Some("framing"));
    let mut hidden = false;
    let mut command = command.mut_args(|arg| {
        let (arg, is_rare) = grouped(arg, has_framing);
        hidden |= is_rare;
        if is_short { without_values(arg) } else { arg }
    });
    if is_short && hidden {
        let examples = command.get_after_help().map(|text| format!("\n{}", examples(&text.to_string())));
        command = command.after_help(format!("{MORE}.{}", examples.unwrap_or_default()));
    }
    command
}

/// An option under its heading; whether `-h` leaves it to `--help`.
fn grouped(arg: Arg, has_framing: bool) -> (Arg, bool) {
    // Options of the tools of OpenLDAP are letters: they go by what they are called here.
    let name = arg.get_long().unwrap_or_else(|| arg.get_id().as_str()).to_owned();
    let has = |names: &[&str]| names.contains(&name.as_str());
    for group in &GROUPS {
        if has(group.common) || has(group.rare) {
            // Records are in BER as a rule, and their framing says where they are not.
            let is_rare = has(group.rare) && (name != "rules" || has_framing);
            return (arg.help_heading(group.heading).hide_short_help(is_rare), is_rare);
        }
    }
    (arg, false)
}

/// An option without the list of its values, which `--help` explains.
fn without_values(arg: Arg) -> Arg {
    let many = arg.get_possible_values().len() > 4;
    if many { arg.hide_possible_values(true) } else { arg }
}

/// The examples of a text behind the options, without what stands before them.
fn examples(text: &str) -> &str {
    text.find("Example").map_or(text, |begin| &text[begin..])
}
