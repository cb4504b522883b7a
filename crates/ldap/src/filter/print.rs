//! From filter to text (RFC 4515 clause 3), without recursion.

use std::fmt::{self, Write as _};

use crate::generated::{AttributeValueAssertion, Filter, Substring};

impl fmt::Display for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is left to be written, last first; `None` is a closing parenthesis.
        let mut left: Vec<Option<&Filter<'_>>> = vec![Some(self)];
        while let Some(next) = left.pop() {
            let Some(filter) = next else {
                f.write_char(')')?;
                continue;
            };
            f.write_char('(')?;
            left.push(None);
            match filter {
                Self::And(list) | Self::Or(list) => {
                    f.write_char(if matches!(filter, Self::And(_)) { '&' } else { '|' })?;
                    left.extend(list.iter().rev().map(Some));
                }
                Self::Not(inner) => {
                    f.write_char('!')?;
                    left.push(Some(inner));
                }
                Self::EqualityMatch(assertion) => item(f, "=", assertion)?,
                Self::GreaterOrEqual(assertion) => item(f, ">=", assertion)?,
                Self::LessOrEqual(assertion) => item(f, "<=", assertion)?,
                Self::ApproxMatch(assertion) => item(f, "~=", assertion)?,
                Self::Present(description) => write!(f, "{}=*", description.escape_ascii())?,
                Self::Substrings(filter) => {
                    write!(f, "{}=", filter.r#type.escape_ascii())?;
                    let mut after_final = false;
                    for (index, part) in filter.substrings.iter().enumerate() {
                        let (text, star) = match part {
                            Substring::Initial(text) => (text, false),
                            Substring::Any(text) | Substring::Final(text) => (text, true),
                            Substring::Unknown(part) => (&part.octets, true),
                        };
                        if star || index > 0 {
                            f.write_char('*')?;
                        }
                        f.write_str(&escape(text))?;
                        after_final = matches!(part, Substring::Final(_));
                    }
                    if !after_final {
                        f.write_char('*')?;
                    }
                }
                Self::ExtensibleMatch(assertion) => {
                    if let Some(description) = &assertion.r#type {
                        write!(f, "{}", description.escape_ascii())?;
                    }
                    if assertion.dn_attributes {
                        f.write_str(":dn")?;
                    }
                    if let Some(rule) = &assertion.matching_rule {
                        write!(f, ":{}", rule.escape_ascii())?;
                    }
                    write!(f, ":={}", escape(&assertion.match_value))?;
                }
                // An alternative of a later version has no text: RFC 4511 says that it is Undefined.
                Self::Unknown(_) => f.write_char('?')?,
            }
        }
        Ok(())
    }
}

fn item(f: &mut fmt::Formatter<'_>, operator: &str, assertion: &AttributeValueAssertion<'_>) -> fmt::Result {
    let description = assertion.attribute_desc.escape_ascii();
    write!(f, "{description}{operator}{}", escape(&assertion.assertion_value))
}

/// A value as it stands in a filter: `*`, `(`, `)`, `\`, control characters and all that is not UTF-8 become escapes.
/// What users enter has to go through this before it becomes part of a filter.
#[must_use]
pub fn escape(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len());
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            if matches!(character, '*' | '(' | ')' | '\\') || character.is_ascii_control() {
                _ = write!(text, "\\{:02x}", u32::from(character));
            } else {
                text.push(character);
            }
        }
        for octet in chunk.invalid() {
            _ = write!(text, "\\{octet:02x}");
        }
    }
    text
}
