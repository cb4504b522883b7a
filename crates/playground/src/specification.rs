//! The specification of requests, and what was made of it.

use crate::units::Units;
use serde_json::{Map, Value, json};
use tercet_schema::plan::Plan;
use tercet_schema::syntax::{Diagnostic, Fix, SourceMap, Span};
use tercet_schema::{Rules, Schema, SchemaOptions};

/// The name of the text in messages.
const NAME: &str = "specification";
/// Diagnostics that are listed.
const MOST_DIAGNOSTICS: usize = 200;
/// Types that are listed.
const MOST_TYPES: usize = 5000;
/// Plans that are kept.
const MOST_PLANS: usize = 16;

/// A text, what it means, and the plans that requests needed.
#[derive(Debug)]
pub(crate) struct Specification {
    schema: Schema,
    /// What each answer has of it.
    description: Map<String, Value>,
    /// The types that no other type refers to.
    outermost: Vec<String>,
    plans: Vec<(String, Rules, Plan)>,
}

impl Specification {
    /// Reads a text as `tercet check` does.
    pub(crate) fn new(text: &str) -> Self {
        let mut sources = SourceMap::new();
        sources.add(NAME, text);
        let options = SchemaOptions { faults_are_errors: true, ..SchemaOptions::default() };
        let schema = Schema::from_sources(sources, &options);
        let outermost: Vec<String> = schema.outermost().into_iter().map(|(name, _)| name).collect();
        let mut types = outermost.clone();
        types.extend(schema.names().map(|(name, _)| name).filter(|name| !outermost.contains(name)));
        types.truncate(MOST_TYPES);
        let mut description = Map::new();
        description.insert("diagnostics".to_owned(), diagnostics(&schema));
        description.insert("diagnosticsCount".to_owned(), schema.diagnostics().len().into());
        description.insert("types".to_owned(), types.into());
        Self { schema, description, outermost, plans: Vec::new() }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        self.schema.sources.files().next().map_or("", |(_, file)| &file.text)
    }

    /// Returns the members of an answer that are about the text.
    pub(crate) fn describe(&self) -> Map<String, Value> {
        self.description.clone()
    }

    /// Returns the full name of a type; if it is unknown, that of the first that no other type refers to.
    pub(crate) fn type_name(&self, name: &str) -> Option<String> {
        let found = self.schema.find(name).ok();
        let full = found.and_then(|id| self.schema.names().find(|(_, it)| *it == id));
        full.map(|(name, _)| name).or_else(|| self.outermost.first().cloned())
    }

    /// Returns the plan of a type by some rules, and the schema that it is of.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn plan(&mut self, type_name: &str, rules: Rules) -> Result<(&Schema, &Plan), String> {
        let known = self.plans.iter().position(|(name, of, _)| name == type_name && *of == rules);
        let index = match known {
            Some(index) => index,
            None => {
                let plan = self.schema.plan_for(rules, &[type_name]).map_err(|error| error.to_string())?;
                if self.plans.len() >= MOST_PLANS {
                    self.plans.remove(0);
                }
                self.plans.push((type_name.to_owned(), rules, plan));
                self.plans.len() - 1
            }
        };
        Ok((&self.schema, &self.plans[index].2))
    }
}

/// Returns the diagnostics of the text, with places.
fn diagnostics(schema: &Schema) -> Value {
    let sources = &schema.sources;
    let text = sources.files().next().map_or("", |(_, file)| &*file.text);
    let mut units = Units::new(text);
    let mut place = |span: Span| {
        let range = sources.range(span);
        (units.before(range.start), units.before(range.end))
    };
    let mut of_fix = |fix: &Fix| {
        let edits = fix.edits.iter().map(|edit| {
            let (from, to) = place(edit.span);
            json!({ "from": from, "to": to, "text": edit.text })
        });
        json!({ "title": fix.title, "edits": edits.collect::<Vec<_>>() })
    };
    let mut fixes: Vec<Value> = Vec::new();
    for diagnostic in schema.diagnostics().iter().take(MOST_DIAGNOSTICS) {
        fixes.push(diagnostic.fixes.iter().map(&mut of_fix).collect());
    }
    let mut of_diagnostic = |(diagnostic, fixes): (&Diagnostic, Value)| {
        let (from, to) = place(diagnostic.primary.span);
        let start = sources.line_column(diagnostic.primary.span.lo);
        json!({
            "isError": diagnostic.is_error(),
            "code": diagnostic.shown_code(),
            "message": diagnostic.message,
            "label": diagnostic.primary.text,
            "help": diagnostic.help,
            "note": diagnostic.note,
            "line": start.line,
            "column": start.column,
            "from": from,
            "to": to,
            "fixes": fixes,
        })
    };
    schema.diagnostics().iter().zip(fixes).map(&mut of_diagnostic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_have_places_and_fixes() {
        let text =
            "-- ü\nA DEFINITIONS ::= BEGIN Rocket ::= SEQUENCE { engine Engin } Engine ::= BOOLEAN END";
        let specification = Specification::new(text);
        let description = specification.describe();
        let found = &description["diagnostics"][0];
        let units: Vec<u16> = text.encode_utf16().collect();
        let place = |it: &Value| {
            let at = |name: &str| it[name].as_u64().unwrap() as usize;
            String::from_utf16(&units[at("from")..at("to")]).unwrap()
        };
        assert_eq!((found["line"].as_u64(), found["column"].as_u64()), (Some(2), Some(54)), "{found}");
        assert_eq!(place(found), "Engin");
        let edit = &found["fixes"][0]["edits"][0];
        assert_eq!((place(edit).as_str(), edit["text"].as_str()), ("Engin", Some("Engine")));
    }

    #[test]
    fn unknown_types_give_the_first_outermost() {
        let specification = Specification::new(
            "A DEFINITIONS ::= BEGIN Engine ::= BOOLEAN Rocket ::= SEQUENCE { engine Engine } END",
        );
        let name = |name: &str| specification.type_name(name).unwrap_or_default();
        assert_eq!(
            ["Engine", "A.Engine", "", "Wing"].map(name),
            ["A.Engine", "A.Engine", "A.Rocket", "A.Rocket"]
        );
        assert_eq!(Specification::new("").type_name("A"), None);
    }
}
