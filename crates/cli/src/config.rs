//! `tercet convert --config FILE` and `--print-config`: a conversion in a file.
//!
//! Keys are the long names of options. What the command line gives comes before what the file gives.

use crate::args::{CacheArgs, NOT_WITH_PLAN, ReadingArgs, SchemaArgs};
use crate::cmd::convert::Convert;
use crate::exit::{Failure, Outcome};
use crate::help;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::collections::HashSet;
use std::fs;
use tercet::records::Conversion;
use tercet::records::conversion::{OptionFault, OptionSet, changed};

impl Convert {
    /// Returns the command with the options of its file, where the command line does not give them.
    pub fn with_config(mut self, matches: &ArgMatches) -> Outcome<Self> {
        let Some(path) = self.config.take() else { return Ok(self) };
        let shown = tercet_printable::path(&path);
        let text = fs::read_to_string(&path).map_err(|error| Failure::io(&shown, &error))?;
        let given = given(matches);
        let named = |fault: OptionFault| Failure::usage(format_args!("{shown}: {fault}"));
        let mut set = OptionSet::from_toml(&text).map_err(named)?;
        self.replace_in(&mut set, &given)?;
        let read = Self::taken(&mut set).and_then(|read| set.finish(&[]).map(|()| read)).map_err(named)?;
        if read.schema.is_empty() {
            return Err(Failure::usage(format_args!(
                "no specification\nhelp: name one with `--schema`, or with `schema` in `{shown}`"
            )));
        }
        let schema = SchemaArgs { cache: self.schema.cache, ..read.schema };
        Ok(Self { schema, print_config: self.print_config, ..read })
    }

    /// Replaces options by those that the command line gives.
    fn replace_in(&self, set: &mut OptionSet, given: &HashSet<String>) -> Outcome<()> {
        for key in given {
            set.remove(key);
        }
        let is_given = |key: &str| given.contains(key);
        set.overlay(&self.schema, is_given)?;
        set.overlay(&self.schema.reading, is_given)?;
        set.overlay(&self.run, is_given)?;
        self.conversion.overlay(set, &is_given)?;
        // Specifications and a plan file replace each other.
        let of_specifications = NOT_WITH_PLAN.map(|id| id.replace('_', "-"));
        if is_given("plan") {
            of_specifications.iter().for_each(|key| set.remove(key));
        } else if is_given("schema") {
            set.remove("plan");
        }
        let other = of_specifications.iter().find(|key| set.get(key).is_some());
        match other.filter(|_| set.get("plan").is_some()) {
            Some(other) => {
                Err(OptionFault::about(format!("`{{plan}}` does not go with `{{{other}}}`")).into())
            }
            None => Ok(()),
        }
    }

    /// Takes all options out of a set.
    fn taken(set: &mut OptionSet) -> Result<Self, OptionFault> {
        let reading: ReadingArgs = set.take()?;
        let schema = SchemaArgs { reading, ..set.take()? };
        let conversion = Conversion::take(set)?;
        Ok(Self { schema, conversion, run: set.take()?, config: None, print_config: false })
    }

    /// Returns the text of a file that gives the same options.
    pub fn config_text(&self) -> Outcome<String> {
        let mut groups = vec![changed(&self.schema)?, changed(&self.schema.reading)?];
        groups.extend(self.conversion.changed()?);
        groups.push(changed(&self.run)?);
        let text = groups.iter().map(ToString::to_string).collect::<String>();
        // Whoever runs it gets the same outputs, which do not depend on the cache.
        let schema = SchemaArgs { cache: CacheArgs::default(), ..self.schema.clone() };
        let read = OptionSet::from_toml(&text).and_then(|mut set| Self::taken(&mut set))?;
        let is_same = read.conversion == self.conversion && read.run == self.run && read.schema == schema;
        match is_same {
            true => Ok(text),
            false => Err(Failure::usage("these options have no form in a file")),
        }
    }
}

/// Returns the keys of the options that the command line gives.
fn given(matches: &ArgMatches) -> HashSet<String> {
    let Some((name, matches)) = matches.subcommand() else { return HashSet::new() };
    let command = help::command();
    let args = command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let is_given = |id: &str| {
        matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let key = |arg: &clap::Arg| arg.get_long().unwrap_or_else(|| arg.get_id().as_str()).to_owned();
    args.filter(|arg| is_given(arg.get_id().as_str())).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Options that are not part of a conversion.
    const OTHERS: [&str; 5] = ["config", "print-config", "no-cache", "help", "version"];

    fn parsed(words: &str) -> Convert {
        use clap::FromArgMatches;
        let matches = help::command().try_get_matches_from(words.split(' ')).unwrap();
        Convert::from_arg_matches(matches.subcommand_matches("convert").unwrap()).unwrap()
    }

    #[test]
    fn every_option_has_a_key_and_one_default() {
        let mut set = OptionSet::default();
        let read = Convert::taken(&mut set).unwrap();
        let known: BTreeSet<&str> = set.known().iter().copied().collect();
        let command = help::command();
        let convert = command.find_subcommand("convert").unwrap();
        let options =
            convert.get_arguments().map(|arg| arg.get_long().unwrap_or_else(|| arg.get_id().as_str()));
        let options: BTreeSet<&str> = options.filter(|name| !OTHERS.contains(name)).collect();
        assert_eq!(options, known);
        let given = parsed("tercet convert -s a");
        assert_eq!((given.conversion, given.run), (read.conversion, read.run));
        assert_eq!(given.schema.reading, read.schema.reading);
    }

    #[test]
    fn what_is_printed_gives_the_same_options() {
        for words in [
            "-s a -s b --alias A=B --alias C=D --tags implicit --strict --allow-errors --allow-missing",
            "-s a -t T -r T.list --framing u16be --rules ber --filler 00 --record-limit 5 --max-depth 7 --unknown keep --values strict",
            "-s a -r T.list --defaults -f csv -o b.csv --header h --rejects r --marks m --max-rejects 5 --max-reject-ratio 0.5 -n 3",
            "-s a --max-rejects none --skip-rejects --dedupe --dedupe-file d --total a,b --sequence c=0..9 --file-sequence 0..99",
            "-s a --where a=1 --where b=2 --child a,b --children --by-type --columns x,y** --rename a=b,c=d --provenance",
            "-s a --record-hash --json-style plain --octets HEX --integers decimal --reals text --guard-formulas --explode l",
            "-s a --render auto --render a.b=tbcd --profile tap3 --on-interrupt finish --summary s --hash-inputs -j 2 --resume",
            "-s a -o out/ --skip-existing --watch --interval 0.25 --prometheus p --quiet --allow-empty x y z",
        ] {
            let convert = parsed(&format!("tercet convert {words}"));
            // The text is compared with the options before it is given.
            let text = convert.config_text().unwrap_or_else(|failure| panic!("{words}: {}", failure.message));
            assert!(text.contains("schema = [\"a\""), "{text}");
        }
    }
}
