//! Parameters of a request.

/// The parameters after `?` of a request, decoded.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

/// Parameters of a request that are read; the others are ignored.
const MOST: usize = 32;

impl Query {
    /// Reads `a=1&b=%20`.
    pub(crate) fn new(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).take(MOST);
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        Self(decoded.collect())
    }

    /// Returns a parameter; `None` if it is absent or empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the parameters of another record: those that begin with `prefix` without it, and of the others those that they do
    /// not replace. A record that is named replaces the one of this question, however that is named.
    pub(crate) fn other(&self, prefix: &str) -> Self {
        const RECORD: [&str; 3] = ["row", "record", "offset"];
        let own =
            |(name, value): &(String, String)| Some((name.strip_prefix(prefix)?.to_owned(), value.clone()));
        let mut found: Vec<(String, String)> = self.0.iter().filter_map(own).collect();
        let names_record = found.iter().any(|(name, _)| RECORD.contains(&name.as_str()));
        for (name, value) in &self.0 {
            let is_named = found.iter().any(|(known, _)| known == name);
            let is_other_record = names_record && RECORD.contains(&name.as_str());
            if !(is_named || is_other_record) {
                found.push((name.clone(), value.clone()));
            }
        }
        Self(found)
    }

    /// Returns a number, or a default if it is absent.
    pub(crate) fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("`{name}`: `{text}` is not a number")),
        }
    }
}

/// Text with `%20` and `+` decoded; what is not UTF-8 becomes U+FFFD.
fn decoded(text: &str) -> String {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|octet| char::from(*octet).to_digit(16));
        (octets, rest) = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                octets.push((high * 16 + low) as u8);
                (octets, &after[2..])
            }
            (b'+', ..) => {
                octets.push(b' ');
                (octets, after)
            }
            _ => {
                octets.push(first);
                (octets, after)
            }
        };
    }
    String::from_utf8_lossy(&octets).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::new("a=1&path=Call.parties%5B2%5D&b=x+y&c&d=%zz");
        assert_eq!(query.text("path"), Some("Call.parties[2]"));
        assert_eq!((query.text("b"), query.text("c"), query.text("d")), (Some("x y"), None, Some("%zz")));
        assert_eq!((query.number("a", 5), query.number("z", 5)), (Ok(1), Ok(5)));
        assert!(query.number("b", 5).is_err());
        let other = Query::new("file=1&record=3&rules=ber&with-row=7&with-rules=uper").other("with-");
        assert_eq!(
            (other.text("file"), other.text("record"), other.text("row")),
            (Some("1"), None, Some("7"))
        );
        assert_eq!(other.text("rules"), Some("uper"));
    }
}
