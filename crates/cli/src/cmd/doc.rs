//! `tercet doc`.

use crate::args::{ReadingArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use std::fs;
use std::path::PathBuf;
use tercet::files;
use tercet::records::Guard;
use tercet::syntax::SourceMap;
use tercet::{Rules, SchemaOptions};
use tercet_ide::{Snapshot, site};

/// Write specifications as HTML pages with links, tags, constraints and sizes
#[derive(Args, Debug)]
#[command(after_help = "\
Each module has a page with its definitions as they are written. Names lead to their definitions; each type has its tags, effective
constraint, components, the least and greatest sizes of its encodings, and the types that use it. The pages need no scripts and no
network. Open DIR/index.html.

Examples:
  tercet doc schemas/ -o site/
  tercet doc 38331/ -o site/ --rules uper --title 'NR RRC'")]
pub struct Doc {
    /// Specification files, or directories of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Directory of the pages; made if it does not exist
    #[arg(short, long, value_name = "DIR", required = true)]
    output: PathBuf,

    /// Title of the first page
    #[arg(long, default_value = "ASN.1 modules")]
    title: String,

    /// Encoding rules whose sizes are shown
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ber,aper,uper,oer")]
    rules: Vec<Syntax>,

    #[command(flatten)]
    reading: ReadingArgs,
}

impl Doc {
    pub fn run(&self) -> Outcome {
        let rules: Vec<Rules> = self.rules.iter().map(|syntax| syntax.0).collect();
        if let Some(text) = rules.iter().find(|rules| rules.is_text()) {
            return Err(Failure::usage(format_args!("`{text}` is text, whose size depends on its layout")));
        }
        let (mut sources, mut guard) = (SourceMap::new(), Guard::default());
        for path in files::specifications(&self.paths)? {
            guard.reads("specification", &path)?;
            let octets = fs::read(&path).map_err(|error| Failure::io(path.display(), &error))?;
            sources.add_bytes(path.display().to_string(), octets);
        }
        let options = SchemaOptions { allow_missing: true, ..self.reading.options() };
        let snapshot = Snapshot::of_sources(sources, &options);
        fs::create_dir_all(&self.output).map_err(|error| Failure::io(self.output.display(), &error))?;
        let pages = site::Options { title: self.title.clone(), rules };
        let mut count = 0;
        site::pages(&snapshot, &pages, |name, text| {
            count += 1;
            let path = self.output.join(name);
            guard.writes("`-o`", &path)?;
            fs::write(&path, text).map_err(|error| Failure::io(path.display(), &error))
        })?;
        term::say(format_args!("{}: {}", tercet_printable::path(&self.output), term::count(count, "file")));
        if snapshot.schema().has_errors() {
            term::warning("the specifications have errors; `tercet check` lists them");
        }
        Ok(Exit::Good)
    }
}
