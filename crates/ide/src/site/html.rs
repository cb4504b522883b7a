//! Pages of HTML.

use std::borrow::Cow;

/// A page that is being made.
pub(super) struct Page {
    text: String,
}

impl Page {
    pub(super) fn new(title: &str) -> Self {
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; script-src 'self'\">\n\
             <title>{}</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n",
            escaped(title)
        );
        Self { text }
    }

    /// Appends HTML.
    pub(super) fn push(&mut self, html: &str) {
        self.text.push_str(html);
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.text.push_str("<h1>");
        self.text.push_str(&escaped(text));
        self.text.push_str("</h1>\n");
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("\n</body>\n</html>\n");
        self.text
    }
}

/// A text as HTML, in elements and in attributes.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let special = |it: char| {
        matches!(it, '&' | '<' | '>' | '"' | '\'') || it.is_control() && !matches!(it, '\n' | '\t')
    };
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\r' => {}
            control if special(control) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_is_text() {
        assert_eq!(escaped("<b a='x'>&\"\u{7}\r\n"), "&lt;b a=&#39;x&#39;&gt;&amp;&quot;\u{fffd}\n");
    }
}
