//! A value is within the limit of depth in all transfer syntaxes or in none.

use tercet_schema::dynamic::{Encoder, Options, Tape, Value};
use tercet_schema::plan::Plan;
use tercet_schema::{Rules, Schema, TapeCodec};

/// A type that may contain itself, its innermost value and what stands around each level, as JSON.
struct Case {
    specification: &'static str,
    innermost: &'static str,
    before: &'static str,
    after: &'static str,
    /// Values with parts that a level adds, and those of the innermost value.
    level: u16,
    inner: u16,
}

const fn case(
    specification: &'static str,
    (before, innermost, after): (&'static str, &'static str, &'static str),
    level: u16,
    inner: u16,
) -> Case {
    Case { specification, innermost, before, after, level, inner }
}

const CASES: [Case; 13] = [
    // A filter of LDAP: a CHOICE, whose alternative has an explicit tag.
    case(
        "T ::= CHOICE { not [2] T, present [7] OCTET STRING }",
        (r#"{"not":"#, r#"{"present":"61"}"#, "}"),
        1,
        1,
    ),
    case("T ::= SEQUENCE { t T OPTIONAL, n NULL }", (r#"{"t":"#, r#"{"n":null}"#, r#","n":null}"#), 1, 1),
    case("T ::= SET { t [0] EXPLICIT T OPTIONAL }", (r#"{"t":"#, "{}", "}"), 1, 1),
    case("T ::= SEQUENCE OF T", ("[", "[]", "]"), 1, 1),
    case("T ::= CHOICE { and SET OF T, leaf BOOLEAN }", (r#"{"and":["#, r#"{"leaf":true}"#, "]}"), 2, 1),
    // Extension additions have octets of their own in PER and OER.
    case("T ::= SEQUENCE { n NULL, ..., t T OPTIONAL }", (r#"{"n":null,"t":"#, r#"{"n":null}"#, "}"), 1, 1),
    case(
        "T ::= SEQUENCE { n NULL, ..., [[ t T OPTIONAL, m BOOLEAN ]] }",
        (r#"{"n":null,"t":"#, r#"{"n":null}"#, r#","m":true}"#),
        1,
        1,
    ),
    case("T ::= CHOICE { leaf NULL, ..., t T }", (r#"{"t":"#, r#"{"leaf":null}"#, "}"), 1, 1),
    // Tags that no other rules have.
    case(
        "T ::= [1] EXPLICIT [2] EXPLICIT SEQUENCE { t [3] EXPLICIT [4] EXPLICIT T OPTIONAL }",
        (r#"{"t":"#, "{}", "}"),
        1,
        1,
    ),
    // Octets of their own.
    case(
        "T ::= CHOICE { leaf NULL, t OCTET STRING (CONTAINING T) }",
        (r#"{"t":{"containing":"#, r#"{"leaf":null}"#, "}}"),
        2,
        1,
    ),
    case(
        "T ::= SEQUENCE { n NULL, t BIT STRING (CONTAINING T) OPTIONAL }",
        (r#"{"n":null,"t":{"containing":"#, r#"{"n":null}"#, "}}"),
        2,
        1,
    ),
    case(
        "T ::= SEQUENCE { k C.&k ({S}), t C.&T ({S}{@k}) } C ::= CLASS { &k INTEGER UNIQUE, &T } S C ::= { {&k 1, &T T} | {&k 2, &T NULL} }",
        (r#"{"k":1,"t":"#, r#"{"k":2,"t":null}"#, "}"),
        2,
        2,
    ),
    case(
        "T ::= SEQUENCE { c CHOICE { t T, l SEQUENCE OF NULL } }",
        (r#"{"c":{"t":"#, r#"{"c":{"l":[null]}}"#, "}}"),
        2,
        3,
    ),
];

const RULES: [Rules; 9] = Rules::BINARY;

fn options(depth: u16) -> Options {
    let mut options = Options::default();
    options.limits.depth = depth;
    options
}

impl Case {
    fn plans(&self) -> Vec<Plan> {
        let text = format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {} END", self.specification);
        Schema::from_text("m.asn", &text).plans(&RULES, &["T"]).unwrap()
    }

    /// Whether a value with so many levels is read in each syntax, under a limit.
    fn verdicts(&self, plans: &[Plan], levels: u16, limit: u16) -> Vec<(Rules, bool)> {
        let count = usize::from(levels);
        let json = [self.before.repeat(count), self.innermost.to_owned(), self.after.repeat(count)].concat();
        let mut tape = Tape::new();
        let root = plans[0].root("T").unwrap();
        TapeCodec::new(Rules::Jer, &plans[0])
            .read(root, json.as_bytes(), &mut tape, &options(1000))
            .unwrap_or_else(|error| panic!("{error} in {json}"));
        let verdicts = Rules::ALL.into_iter().map(|syntax| {
            let rules = syntax.plan_rules();
            let plan = &plans[RULES.iter().position(|known| *known == rules).unwrap()];
            let mut octets = Vec::new();
            if syntax.is_text() {
                TapeCodec::new(syntax, plan).write(tape.view(&[]), &mut octets).unwrap();
            } else {
                Encoder::new().encode(plan, rules, tape.view(&[]), &mut octets).unwrap();
            }
            let read = TapeCodec::new(syntax, plan).read(root, &octets, &mut Tape::new(), &options(limit));
            if let Err(error) = &read {
                let message = error.to_string();
                let is_depth = message.contains("values are nested deeper than the limit");
                assert!(is_depth, "{}: {levels} in {syntax}: {message}", self.specification);
            }
            (syntax, read.is_ok())
        });
        verdicts.collect()
    }
}

#[test]
fn a_value_is_within_the_limit_in_every_syntax_or_in_none() {
    for case in CASES {
        let plans = case.plans();
        for limit in [10, 64, 90] {
            let most = (limit - case.inner) / case.level;
            for levels in [most - 1, most, most + 1, most + 2] {
                for (syntax, read) in case.verdicts(&plans, levels, limit) {
                    assert_eq!(read, levels <= most, "{}: {levels} in {syntax}, {limit}", case.specification);
                }
            }
        }
    }
}

#[test]
fn the_limit_is_64_unless_specified() {
    let case = &CASES[0];
    let (plans, limit) = (case.plans(), Options::default().limits.depth);
    assert!(case.verdicts(&plans, 63, limit).iter().all(|(_, read)| *read));
    assert!(case.verdicts(&plans, 64, limit).iter().all(|(_, read)| !*read));
}

/// What no decoder has read has the limit of 64 when it is written.
#[test]
fn what_is_written_has_the_limit_too() {
    for case in CASES {
        let plans = case.plans();
        let most = (64 - case.inner) / case.level;
        for levels in [most, most + 1] {
            let count = usize::from(levels);
            let json =
                [case.before.repeat(count), case.innermost.to_owned(), case.after.repeat(count)].concat();
            let (mut read, mut made) = (Tape::new(), Tape::new());
            let root = plans[0].root("T").unwrap();
            let mut codec = TapeCodec::new(Rules::Jer, &plans[0]);
            codec.read(root, json.as_bytes(), &mut read, &options(1000)).unwrap();
            let value = Value::from_view(&plans[0].shape, read.view(&[])).unwrap();
            value.to_tape(&plans[0].shape, root, &mut made).unwrap();
            for syntax in Rules::ALL {
                let plan = &plans[RULES.iter().position(|known| *known == syntax.plan_rules()).unwrap()];
                let write = |tape: &Tape| TapeCodec::new(syntax, plan).write(tape.view(&[]), &mut Vec::new());
                match write(&made) {
                    Ok(()) => assert_eq!(levels, most, "{}: {syntax}", case.specification),
                    Err(error) => {
                        assert_eq!(levels, most + 1, "{}: {syntax}: {error}", case.specification);
                        assert!(
                            error.to_string().contains("values are nested deeper than the limit"),
                            "{error}"
                        );
                    }
                }
                // What was read with another limit is written with it.
                write(&read).unwrap_or_else(|error| panic!("{}: {syntax}: {error}", case.specification));
            }
        }
    }
}
