//! Schemas that are plans: read from a plan file, without the specifications.

use crate::cache::Question;
use crate::{PlanError, Rules, Schema, SchemaOptions};
use tercet_plan::{Plan, Shape, bytes, shape::is_same_name};
use tercet_syntax::SourceMap;

impl Schema {
    /// Reads a plan file, which [`Schema::plan_file`] made. The schema has the plans of the file and no model; the types
    /// are the roots that the file was made for.
    ///
    /// ```
    /// use tercet_schema::{Schema, Rules};
    /// let text = "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END";
    /// let octets = Schema::from_text("a.asn", text).plan_file(&[Rules::Uper], &[]).unwrap();
    /// let schema = Schema::from_plan_file(&octets).unwrap();
    /// assert_eq!(schema.codec("Age", "uper").unwrap().decode(b"\x2A").unwrap().to_string(), "42");
    /// assert!(schema.codec("Age", "ber").is_err());
    /// ```
    ///
    /// # Errors
    /// [`bytes::Error`] with the offset of the fault.
    pub fn from_plan_file(octets: &[u8]) -> Result<Self, bytes::Error> {
        let compiled = bytes::read(octets)?;
        let mut schema = Self::unresolved(SourceMap::new(), &SchemaOptions::default());
        schema.compiled = compiled;
        Ok(schema)
    }

    /// Returns the bytes of a plan file for some types, or for those that no other refers to, with a plan for each of some
    /// transfer syntaxes.
    ///
    /// # Errors
    /// As [`Schema::plans_for`], and [`PlanError::File`] for types that a plan file cannot hold.
    pub fn plan_file(&self, syntaxes: &[Rules], types: &[&str]) -> Result<Vec<u8>, PlanError> {
        let mut plans: Vec<Plan> = Vec::new();
        for plan in self.plans_for(syntaxes, types)? {
            // BER, DER and CER have one.
            if !plans.iter().any(|known| known.code == plan.code) {
                plans.push(plan);
            }
        }
        let octets = bytes::write(&plans).ok_or(PlanError::Empty)?;
        // What cannot be read again is found now.
        bytes::read(&octets).map_err(|error| PlanError::File(error.to_string()))?;
        Ok(octets)
    }

    /// Whether this is a plan file.
    pub fn is_compiled(&self) -> bool {
        !self.compiled.is_empty()
    }

    /// Whether a plan for these rules can be had: always, unless it is missing in the plan file.
    pub(crate) fn has_plan(&self, rules: Rules) -> bool {
        !self.is_compiled() || self.compiled.iter().any(|plan| plan.serves(rules))
    }

    /// Returns the full names of the types that no other refers to; of a plan file those of its roots.
    pub fn outermost_names(&self) -> Vec<String> {
        match self.shape() {
            Some(shape) => root_names(shape),
            None => {
                let find = || self.outermost().into_iter().map(|(name, _)| name).collect();
                self.kept_names(&Question::Outermost, find)
            }
        }
    }

    /// Checks that there is a type `Module.Type`, or one module with a type `Type`.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn check_type(&self, name: &str) -> Result<(), PlanError> {
        let Some(shape) = self.shape() else {
            let mut found = Ok(());
            let is_found = || {
                found = self.find(name).map(drop);
                found.is_ok()
            };
            self.holds(&Question::Defined(name), is_found);
            return found;
        };
        if shape.root(name).is_some() {
            return Ok(());
        }
        let all = root_names(shape);
        let candidates: Vec<String> = all.iter().filter(|full| is_same_name(full, name)).cloned().collect();
        if !candidates.is_empty() {
            return Err(PlanError::Ambiguous { name: name.to_owned(), candidates });
        }
        Err(PlanError::unknown(name, all.into_iter()))
    }

    /// Returns the shape of the plan file, if the schema is one.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        self.compiled.first().map(|plan| &*plan.shape)
    }

    /// Returns plans of the plan file, one for each of some rules.
    pub(crate) fn compiled_plans(&self, rules: &[Rules], types: &[&str]) -> Result<Vec<Plan>, PlanError> {
        types.iter().try_for_each(|name| self.check_type(name))?;
        let plan = |rules: &Rules| {
            self.compiled
                .iter()
                .find(|plan| plan.serves(*rules))
                .cloned()
                .ok_or(PlanError::NotCompiled(*rules))
        };
        rules.iter().map(plan).collect()
    }

    /// Returns the plans of the plan file for transfer syntaxes: text needs the shape alone, which all have.
    pub(crate) fn compiled_plans_for(
        &self,
        syntaxes: &[Rules],
        types: &[&str],
    ) -> Result<Vec<Plan>, PlanError> {
        let instructions = self.shape().and_then(|shape| Some((shape, shape.instructions.as_ref()?)));
        if let Some((shape, instructions)) = instructions
            && syntaxes.contains(&Rules::Exer)
            && !instructions.unsupported.is_empty()
        {
            let names: Vec<&str> = instructions.unsupported.iter().map(|name| shape.name(*name)).collect();
            return Err(PlanError::Instructions(names.join("\n")));
        }
        let each = syntaxes.iter().map(|syntax| match (syntax.binary(), self.compiled.first()) {
            (None, Some(any)) => self.compiled_plans(&[], types).map(|_| any.clone()),
            (rules, _) => {
                let mut plans = self.compiled_plans(&[rules.unwrap_or_default()], types)?;
                plans.pop().ok_or(PlanError::Empty)
            }
        });
        each.collect()
    }
}

fn root_names(shape: &Shape) -> Vec<String> {
    shape.roots.iter().map(|root| shape.name(root.name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_file_names_what_it_lacks() {
        let text =
            "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN Call ::= SEQUENCE { a INTEGER (0..7) } Pall ::= NULL END";
        let schema = Schema::from_text("m.asn", text);
        let octets = schema.plan_file(&[Rules::Der, Rules::Ber], &[]).unwrap();
        let read = Schema::from_plan_file(&octets).unwrap();
        assert!(read.is_compiled() && !schema.is_compiled());
        assert_eq!(read.outermost_names(), schema.outermost_names());
        assert_eq!(read.plan(Rules::Cer, &["Call"]), schema.plan(Rules::Cer, &[]));
        assert_eq!(read.plan(Rules::Uper, &["Call"]), Err(PlanError::NotCompiled(Rules::Uper)));
        assert!(matches!(read.plan(Rules::Ber, &["Cal"]), Err(PlanError::Unknown { known, .. })
            if known.first().is_some_and(|near| near == "Call")));
        assert!(read.plan_for(Rules::Jer, &["M.Pall"]).is_ok());
    }
}
