//! Attributes that are made of others.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::Draft;
use crate::error::{Error, ErrorKind, Result};

/// What makes the values of an attribute.
type Make = dyn Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync;

#[derive(Clone)]
struct Generator {
    attribute: String,
    requires: Vec<String>,
    make: Arc<Make>,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attribute, requires, .. } = self;
        f.debug_struct("Generator")
            .field("attribute", attribute)
            .field("requires", requires)
            .finish_non_exhaustive()
    }
}

/// Generators of attributes. Each requires attributes, which may be generated themselves; they run in an order in which all that is
/// required is there.
///
/// ```
/// use tercet_ldap::Draft;
/// use tercet_ldap::entry::{Generators, ready};
///
/// let mut generators = Generators::new();
/// generators.add("homeDirectory", &["uid"], ready::from_attribute("uid", "/home/", ""));
/// generators.add("uid", &["givenName", "sn"], ready::login_name("givenName", "sn"));
/// let mut draft = Draft::new("cn=Ada,o=test", [("givenName", vec!["Ada"]), ("sn", vec!["Lovelace"])]);
/// generators.generate(&mut draft, &["homeDirectory"])?;
/// assert!(draft.has_value("homeDirectory", "/home/alovelace"));
/// # Ok::<(), tercet_ldap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Generators(Vec<Generator>);

impl Generators {
    /// No generators.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the generator of an attribute, instead of one that was there: the attributes that it requires, and what makes the values
    /// of an entry that has them.
    pub fn add(
        &mut self,
        attribute: impl Into<String>,
        requires: &[&str],
        make: impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static,
    ) {
        let attribute = attribute.into();
        self.0.retain(|known| !known.attribute.eq_ignore_ascii_case(&attribute));
        let requires = requires.iter().map(|&name| name.to_owned()).collect();
        self.0.push(Generator { attribute, requires, make: Arc::new(make) });
    }

    /// Returns whether an attribute has a generator.
    #[must_use]
    pub fn has(&self, attribute: &str) -> bool {
        self.find(attribute).is_some()
    }

    fn find(&self, attribute: &str) -> Option<&Generator> {
        self.0.iter().find(|known| known.attribute.eq_ignore_ascii_case(attribute))
    }

    /// Generates attributes that an entry lacks, and before them those that they require and that have a generator too. Attributes
    /// with values stay as they are. Returns what was generated, in this order.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`]: an attribute without a generator, a required attribute that is missing and has no generator, generators
    /// that require each other in a cycle (the message names its members), one that makes no value; what a generator fails with. The
    /// entry is as before.
    pub fn generate(&self, draft: &mut Draft, attributes: &[&str]) -> Result<Vec<String>> {
        let order = self.order(draft, attributes)?;
        let mut changed = draft.clone();
        let mut generated = Vec::new();
        for generator in order {
            let values = (generator.make)(&changed).map_err(|error| {
                Error::new(
                    error.kind(),
                    format!("generator of `{}`: {}", generator.attribute, error.message()),
                )
            })?;
            if values.is_empty() {
                return Err(usage(format!("generator of `{}`: no value", generator.attribute)));
            }
            changed.set(&generator.attribute, values);
            generated.push(generator.attribute.clone());
        }
        *draft = changed;
        Ok(generated)
    }

    /// The generators that have to run, in their order. Without recursion: a stack has each attribute with what it still waits for.
    fn order(&self, draft: &Draft, attributes: &[&str]) -> Result<Vec<&Generator>> {
        let mut order: Vec<&Generator> = Vec::new();
        // Whether an attribute is done with, or still waits.
        let mut states: HashMap<String, bool> = HashMap::new();
        for attribute in attributes.iter().filter(|attribute| !draft.has(attribute)) {
            let generator =
                self.find(attribute).ok_or_else(|| usage(format!("no generator of `{attribute}`")))?;
            let mut stack = vec![(generator, 0)];
            while let Some((generator, next)) = stack.pop() {
                let key = generator.attribute.to_ascii_lowercase();
                if next == 0 && states.get(&key) == Some(&true) {
                    continue;
                }
                states.insert(key.clone(), false);
                let Some(required) = generator.requires.get(next) else {
                    states.insert(key, true);
                    order.push(generator);
                    continue;
                };
                stack.push((generator, next + 1));
                if draft.has(required) {
                    continue;
                }
                let Some(other) = self.find(required) else {
                    let name = &generator.attribute;
                    return Err(usage(format!(
                        "generator of `{name}`: the entry lacks `{required}`, which has no generator"
                    )));
                };
                match states.get(&required.to_ascii_lowercase()) {
                    Some(true) => {}
                    Some(false) => return Err(cycle(&stack, other)),
                    None => stack.push((other, 0)),
                }
            }
        }
        Ok(order)
    }
}

fn cycle(stack: &[(&Generator, usize)], again: &Generator) -> Error {
    let names = stack.iter().map(|(generator, _)| generator.attribute.as_str());
    let members = names.skip_while(|name| !name.eq_ignore_ascii_case(&again.attribute));
    let members: Vec<String> =
        members.chain([again.attribute.as_str()]).map(|name| format!("`{name}`")).collect();
    usage(format!("generators require each other in a cycle: {}", members.join(" requires ")))
}

fn usage(message: String) -> Error {
    Error::new(ErrorKind::Usage, message)
}

/// Generators that are ready to be used.
pub mod ready {
    use super::{Draft, Error, ErrorKind, Result};

    fn first(draft: &Draft, attribute: &str) -> Result<String> {
        let value = draft.values(attribute).next().map(|value| String::from_utf8_lossy(value).into_owned());
        value.ok_or_else(|| Error::new(ErrorKind::Usage, format!("the entry lacks `{attribute}`")))
    }

    /// Makes a value that is always the same, as a number that was taken out of a pool before.
    pub fn constant(
        value: impl AsRef<[u8]>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        let value = value.as_ref().to_vec();
        move |_| Ok(vec![value.clone()])
    }

    /// Makes the first value of another attribute with a text before and behind it, as a home directory of a login name.
    pub fn from_attribute(
        attribute: impl Into<String>,
        before: impl Into<String>,
        behind: impl Into<String>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        let (attribute, before, behind) = (attribute.into(), before.into(), behind.into());
        move |draft| Ok(vec![format!("{before}{}{behind}", first(draft, &attribute)?).into_bytes()])
    }

    /// Makes a login name of letters and digits in lower case: the first letter of one attribute and another attribute. Letters with
    /// accents, ligatures and umlauts become letters of ASCII.
    pub fn login_name(
        given: impl Into<String>,
        family: impl Into<String>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        let (given, family) = (given.into(), family.into());
        move |draft| {
            let initial: String = ascii(&first(draft, &given)?).chars().take(1).collect();
            let name = initial + &ascii(&first(draft, &family)?);
            // POSIX names do not begin with a digit.
            if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
                let message = format!("`{given}` and `{family}` have no letter for a login name");
                return Err(Error::new(ErrorKind::Usage, message));
            }
            Ok(vec![name.into_bytes()])
        }
    }

    /// Makes the `gecos` of another attribute: ASCII without colons and commas, which separate fields there.
    pub fn gecos(
        attribute: impl Into<String>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        let attribute = attribute.into();
        move |draft| {
            let text = first(draft, &attribute)?;
            let folded = text.chars().flat_map(|c| {
                letters(c)
                    .chars()
                    .map(move |l| if c.is_uppercase() { l.to_ascii_uppercase() } else { l })
                    .collect::<Vec<_>>()
            });
            Ok(vec![folded.filter(|c| !matches!(c, ':' | ',')).collect::<String>().into_bytes()])
        }
    }

    /// Makes `userPassword` of a password in plain text: argon2id, as [`crate::directory`] keeps it.
    #[cfg(feature = "directory")]
    pub fn argon2id(
        password: impl AsRef<[u8]>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        let password = password.as_ref().to_vec();
        move |_| Ok(vec![crate::directory::hashed_password(&password)?])
    }

    /// Makes `userPassword` of a password in plain text: `{SSHA512}`, which most servers check.
    #[cfg(feature = "client")]
    pub fn ssha512(
        password: impl AsRef<[u8]>,
    ) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> + Send + Sync + 'static {
        use base64::Engine as _;
        use ring::digest::{Context, SHA512};
        use ring::rand::{SecureRandom as _, SystemRandom};
        let password = password.as_ref().to_vec();
        move |_| {
            let mut salt = [0; 16];
            let fault = |_| Error::new(ErrorKind::Auth, "the system has no random bytes");
            SystemRandom::new().fill(&mut salt).map_err(fault)?;
            let mut context = Context::new(&SHA512);
            context.update(&password);
            context.update(&salt);
            let octets = [context.finish().as_ref(), &salt].concat();
            let text = base64::engine::general_purpose::STANDARD.encode(octets);
            Ok(vec![format!("{{SSHA512}}{text}").into_bytes()])
        }
    }

    /// Letters and digits of ASCII in lower case.
    fn ascii(text: &str) -> String {
        text.chars().map(letters).collect::<String>().chars().filter(char::is_ascii_alphanumeric).collect()
    }

    /// A character in letters of ASCII, in lower case; nothing for characters of other scripts.
    fn letters(character: char) -> String {
        if character.is_ascii() {
            return character.to_ascii_lowercase().to_string();
        }
        let lower: String = character.to_lowercase().collect();
        let found = LETTERS.iter().find(|(_, all)| lower.chars().all(|c| all.contains(c)));
        found.map_or("", |(ascii, _)| ascii).to_owned()
    }

    /// Letters of Latin scripts, by what they become.
    const LETTERS: [(&str, &str); 30] = [
        ("ae", "äæ"),
        ("oe", "öœø"),
        ("ue", "ü"),
        ("ss", "ß"),
        ("th", "þ"),
        ("ij", "ĳ"),
        ("a", "àáâãåāăą"),
        ("c", "çćĉċč"),
        ("d", "ðďđ"),
        ("e", "èéêëēĕėęě"),
        ("g", "ĝğġģ"),
        ("h", "ĥħ"),
        ("i", "ìíîïĩīĭįı"),
        ("j", "ĵ"),
        ("k", "ķĸ"),
        ("l", "ĺļľŀł"),
        ("n", "ñńņňŉŋ"),
        ("o", "òóôõōŏő"),
        ("r", "ŕŗř"),
        ("s", "śŝşšș"),
        ("t", "ţťŧț"),
        ("u", "ùúûũūŭůűų"),
        ("w", "ŵ"),
        ("y", "ýÿŷ"),
        ("z", "źżž"),
        (" ", "\u{a0}"),
        ("-", "‐–—"),
        ("'", "’"),
        ("\"", "“”"),
        ("i", "i̇"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(attribute: &'static str) -> impl Fn(&Draft) -> Result<Vec<Vec<u8>>> {
        ready::from_attribute(attribute, "<", ">")
    }

    #[test]
    fn in_the_order_of_what_is_required() {
        let mut generators = Generators::new();
        generators.add("d", &["b", "c"], |draft| {
            Ok(vec![draft.values("b").chain(draft.values("c")).flatten().copied().collect()])
        });
        generators.add("c", &["B"], echo("b"));
        generators.add("b", &["a"], echo("a"));
        let mut draft = Draft::new("cn=x", [("a", vec!["1"])]);
        assert_eq!(generators.generate(&mut draft, &["D"]).unwrap(), ["b", "c", "d"]);
        assert!(draft.has_value("d", "<1><<1>>"));
        // Twice is once, and what is there wins.
        assert!(generators.generate(&mut draft, &["d", "b"]).unwrap().is_empty());
        let mut draft = Draft::new("cn=x", [("b", vec!["own"])]);
        assert_eq!(generators.generate(&mut draft, &["c"]).unwrap(), ["c"]);
        assert!(draft.has_value("c", "<own>"));
    }

    #[test]
    fn faults() {
        let mut generators = Generators::new();
        generators.add("a", &["b"], echo("b"));
        generators.add("b", &["x", "c"], echo("c"));
        generators.add("c", &["A"], echo("a"));
        generators.add("z", &["nothing"], echo("nothing"));
        generators.add("none", &[], |_| Ok(Vec::new()));
        generators.add("own", &["own"], echo("own"));
        let mut draft = Draft::new("cn=x", [("x", vec!["1"])]);
        let before = draft.clone();
        for (attribute, message) in [
            ("a", "generators require each other in a cycle: `a` requires `b` requires `c` requires `a`"),
            ("c", "generators require each other in a cycle: `c` requires `a` requires `b` requires `c`"),
            ("own", "generators require each other in a cycle: `own` requires `own`"),
            ("z", "generator of `z`: the entry lacks `nothing`, which has no generator"),
            ("none", "generator of `none`: no value"),
            ("q", "no generator of `q`"),
        ] {
            let error = generators.generate(&mut draft, &[attribute]).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Usage, message));
            assert_eq!(draft, before);
        }
        // A value breaks the cycle.
        let mut draft = Draft::new("cn=x", [("x", vec!["1"]), ("c", vec!["2"])]);
        assert_eq!(generators.generate(&mut draft, &["a"]).unwrap(), ["b", "a"]);
    }

    #[test]
    fn names_become_ascii() {
        for (given, family, name) in [
            ("Ada", "Lovelace", "alovelace"),
            ("Øystein", "Bråten-Sørlie", "obratensoerlie"),
            ("Jürgen", "Groß", "jgross"),
            ("Łucja", "O’Żak", "lozak"),
            ("İpek", "Yıldız", "iyildiz"),
        ] {
            let draft = Draft::new("cn=x", [("givenName", vec![given]), ("sn", vec![family])]);
            let made = ready::login_name("givenName", "sn")(&draft).unwrap();
            assert_eq!(String::from_utf8(made.concat()).unwrap(), name);
        }
        let draft = Draft::new("cn=x", [("givenName", vec!["美"]), ("sn", vec!["7"])]);
        assert!(ready::login_name("givenName", "sn")(&draft).is_err());
        let draft = Draft::new("cn=x", [("cn", vec!["Bob Løv, B: 1"])]);
        assert_eq!(ready::gecos("cn")(&draft).unwrap(), [b"Bob Loev B 1".to_vec()]);
    }

    #[cfg(feature = "directory")]
    #[test]
    fn passwords() {
        let draft = Draft::new("cn=x", [("cn", vec!["x"])]);
        let one = ready::ssha512("secret")(&draft).unwrap().concat();
        let other = ready::argon2id("secret")(&draft).unwrap().concat();
        assert!(one.starts_with(b"{SSHA512}") && other.starts_with(b"{ARGON2}$argon2id$"));
    }
}
