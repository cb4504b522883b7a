//! The files of the page.

/// A file of the page: its name, its type, its contents.
pub(crate) type Asset = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files of the page; the first is the document.
pub(crate) const ASSETS: &[Asset] = &[
    ("", HTML, include_str!("../page/index.html")),
    ("style.css", CSS, include_str!("../page/style.css")),
    ("main.js", SCRIPT, include_str!("../page/main.js")),
    ("state.js", SCRIPT, include_str!("../page/state.js")),
    ("list.js", SCRIPT, include_str!("../page/list.js")),
    ("records.js", SCRIPT, include_str!("../page/records.js")),
    ("value.js", SCRIPT, include_str!("../page/value.js")),
    ("octets.js", SCRIPT, include_str!("../page/octets.js")),
    ("schema.js", SCRIPT, include_str!("../page/schema.js")),
    ("edit.js", SCRIPT, include_str!("../page/edit.js")),
    ("compare.js", SCRIPT, include_str!("../page/compare.js")),
    ("explain.js", SCRIPT, include_str!("../page/explain.js")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// Returns the file with a name.
pub(crate) fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|(known, ..)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the page may have, in bytes: `docs/guide-inspector.md` says so.
    const MOST: usize = 300 << 10;

    #[test]
    fn the_page_is_small_and_asks_nobody_else() {
        let size: usize = ASSETS.iter().map(|(_, _, text)| text.len()).sum();
        assert!(size < MOST, "{size}");
        for (name, _, text) in ASSETS {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{name} names another host");
            for unsafe_way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                assert!(!text.contains(unsafe_way), "{name} has {unsafe_way}: values are text");
            }
        }
    }
}
