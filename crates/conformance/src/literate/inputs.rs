//! The inputs of vectors alone, for others than the engine here to read.

use super::{Document, claims, first_type, lines, module, repeated};
use tercet_plan::Rules;

/// An input of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The specification, a whole module.
    pub specification: String,
    /// The name of the type.
    pub type_name: String,
    /// The encoding rules.
    pub rules: Rules,
    /// The input itself.
    pub content: Content,
}

/// What there is of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An encoding, which may be a faulty one.
    Octets(Vec<u8>),
    /// A value in JSON.
    Value(String),
}

impl Document {
    /// Returns the inputs of blocks of octets, good and faulty ones, and of the values above them, in order.
    ///
    /// # Errors
    /// Octets that cannot be read, with the line of their block.
    pub fn inputs(&self) -> Result<Vec<Input>, String> {
        let mut inputs = Vec::new();
        let (mut specification, mut first, mut value) = (String::new(), String::new(), None);
        for step in &self.steps {
            let word = |at: usize| step.info.get(at).map(String::as_str);
            let mut add = |type_name: &str, rules, content| {
                let (specification, type_name) = (specification.clone(), type_name.to_owned());
                inputs.push(Input { specification, type_name, rules, content });
            };
            let (name, type_name) = match word(0) {
                Some("asn1") => {
                    (specification, value) = (module(&step.text), None);
                    first = first_type(&step.text).unwrap_or_default();
                    continue;
                }
                Some("value") => {
                    value = Some((word(1).unwrap_or(&first).to_owned(), repeated(&step.text)));
                    continue;
                }
                Some("error") => (word(1).unwrap_or("ber"), word(2).unwrap_or(&first)),
                Some(name) => match &value {
                    Some((type_name, _)) => (name, type_name.as_str()),
                    None => continue,
                },
                None => continue,
            };
            // Blocks of text have no such claims.
            let Some(all) = claims(name, false, true) else { continue };
            if let Some((of, text)) = value.as_ref().filter(|_| word(0) != Some("error")) {
                for claim in &all {
                    add(of, claim.rules, Content::Value(text.clone()));
                }
            }
            for (octets, _) in lines(&step.text).map_err(|message| format!("{}: {message}", step.line))? {
                for claim in &all {
                    add(type_name, claim.rules, Content::Octets(octets.clone()));
                }
            }
        }
        Ok(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_their_type_and_value() {
        let text = "```asn1\nT ::= NULL\n```\n```value\nnull\n```\n```der\n05 00\n```\n```error ber U\n05 01 00\n```\n";
        let inputs = Document::parse(text).inputs().unwrap();
        let found = inputs.iter().map(|it| (it.type_name.as_str(), it.rules, it.content.clone()));
        let value = || Content::Value("null\n".to_owned());
        let octets = || Content::Octets(vec![5, 0]);
        let expected = [
            ("T", Rules::Ber, value()),
            ("T", Rules::Der, value()),
            ("T", Rules::Ber, octets()),
            ("T", Rules::Der, octets()),
            ("U", Rules::Ber, Content::Octets(vec![5, 1, 0])),
        ];
        assert_eq!(Vec::from_iter(found), expected);
    }
}
