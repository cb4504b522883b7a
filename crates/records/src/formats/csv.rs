//! CSV.

use super::prefix::Prefix;
use super::{FormatInfo, OutputFormat, RowKind, Shown};
use crate::conversion::{FormOptions, OptionFault};
use crate::rows::Undecoded;
use crate::writer::{Origin, RowWriter};
use std::borrow::Cow;
use std::collections::HashSet;
use tercet_columns::Layout;
use tercet_dynamic::{Error, NodeId, View, csv};
use tercet_suggest::with_known;

/// CSV.
#[derive(Debug)]
pub(super) struct Csv;

static INFO: FormatInfo = FormatInfo {
    name: "csv",
    help: "A row for each record, a column for each nested component",
    suffixes: &["csv"],
    family: "csv",
    rows: RowKind::Cells,
    quotes_text: true,
    options: &[
        "json-style",
        "octets",
        "columns",
        "rename",
        "guard-formulas",
        "provenance",
        "child",
        "children",
        "by-type",
    ],
};

impl OutputFormat for Csv {
    fn info(&self) -> &FormatInfo {
        &INFO
    }

    fn writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        Box::new(Writer(cells(form, shown, node), Prefix::new(form, shown)))
    }

    fn check_columns(&self, form: &FormOptions, shown: Shown<'_>, node: NodeId) -> Result<(), OptionFault> {
        let layout = Layout::new(shown.shape(), node, &form.columns_of(shown));
        let writer = cells(form, shown, node);
        let mut wanted = form.columns.iter().chain(form.rename.iter().map(|it| &it.path));
        // What a pattern matches may be inside of lists.
        let unknown = wanted.find(|path| {
            let nowhere = layout.unknown_columns().contains(path);
            !writer.columns().has(path) && (nowhere || !form.is_pattern() || form.asked.contains(path))
        });
        if let Some(path) = unknown {
            let text = format!("unknown column `{path}`");
            // A column of Parquet that CSV does not have is inside of a list.
            if !layout.unknown_columns().contains(path) {
                return Err(OptionFault::new(format!(
                    "{text} in CSV: lists are one column\nhelp: elements such as `LIST[0..3]` have columns, and `--explode LIST` \
                     makes rows of them"
                )));
            }
            let all = cells(&form.with_columns(Vec::new()), shown, node);
            let known = all.columns().columns().iter().map(|column| column.name.as_str());
            return Err(OptionFault::new(with_known(&text, path, known)));
        }
        let mut names = HashSet::new();
        let double = writer.names().find(|name| !names.insert(name.clone())).map(Cow::into_owned);
        match double.filter(|_| !form.rename.is_empty()) {
            Some(name) => Err(OptionFault::new(format!("two columns are named `{name}`"))),
            None => Ok(()),
        }
    }
}

fn cells<'p>(form: &FormOptions, shown: Shown<'p>, node: NodeId) -> csv::Writer<'p> {
    let options = csv::Options {
        octets: form.octets(),
        columns: form.columns.clone(),
        names: form.names(),
        guard_formulas: form.guard_formulas,
        ..csv::Options::default()
    };
    csv::Writer::new(shown.shape(), node, options)
}

struct Writer<'p>(csv::Writer<'p>, Prefix);

impl RowWriter for Writer<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.1.csv_header(out);
        self.0.header(out);
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.1.csv(origin, out);
        record.say(&mut self.0.sink(out))
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.1.csv(origin, out);
        self.0.write(value, out);
        Ok(())
    }
}
