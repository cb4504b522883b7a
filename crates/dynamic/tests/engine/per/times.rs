//! Times as numbers (X.691 clause 32).

use super::faults::probe_damaged;
use super::{body, check, error, hex, to_hex, transcode};
use tercet_dynamic::ErrorKind;

/// A time in DER.
fn tagged(tag: u8, text: &str) -> String {
    let mut der = if tag < 31 { vec![tag] } else { vec![0x1f, tag] };
    der.push(text.len() as u8);
    der.extend_from_slice(text.as_bytes());
    to_hex(&der)
}

#[test]
fn times_as_numbers() {
    let plans = body(
        "D ::= DATE T ::= TIME-OF-DAY B ::= DATE-TIME P ::= DURATION
         C ::= TIME((SETTINGS \"Basic=Date Date=C Year=Basic\") | (SETTINGS \"Basic=Date Date=C Year=Proleptic\"))
         W ::= TIME(SETTINGS \"Basic=Date Date=YWD Year=L5\")
         H ::= TIME(SETTINGS \"Basic=Time Time=HF3 Local-or-UTC=Z\")
         L ::= TIME(SETTINGS \"Basic=Date-Time Date=YMD Year=Basic Time=HMSF2 Local-or-UTC=LD\")",
    );
    for (text, aper, uper) in [
        ("20100615", "155c", "155c"),
        ("20201231", "3efc", "3efc"),
        ("21000615", "404f5700", "53d5c0"),
        ("22761231", "40ffbf00", "7fefc0"),
        ("18000615", "80335700", "8cd5c0"),
        ("17480520", "c00206d44980", "c081b51260"),
        ("22770704", "c00208e56180", "c082395860"),
    ] {
        check(&plans, "D", &tagged(31, text), aper, uper);
    }
    // 6, 30, 0: 5, 6 and 6 bits.
    check(&plans, "T", &tagged(32, "063000"), "33c000", "33c000");
    check(&plans, "B", &tagged(33, "20100615063000"), "155c6780", "155c6780");
    for (text, aper, uper) in [
        ("3W", "2006", "2006"),
        ("10W", "2014", "2014"),
        ("T0S", "0200", "0200"),
        ("5.0Y", "8114000000", "81140000"),
        ("T64M", "04800140", "0480a000"),
    ] {
        check(&plans, "P", &tagged(34, text), aper, uper);
    }
    check(&plans, "C", &tagged(14, "19C"), "26", "26");
    // The year with a length, then 6 and 3 bits.
    check(&plans, "W", &tagged(14, "+12345-W15-5"), "0230393a00", "0230393a00");
    // 15 and 5/10 as 500/1000: the extension bit, then 10 bits, in two octets where aligned.
    check(&plans, "H", &tagged(14, "15.500Z"), "7801f4", "79f4");
    assert_eq!(error(&plans, 2, "P", "00").kind(), ErrorKind::TimeSyntax);
    assert_eq!(error(&plans, 2, "D", "15").kind(), ErrorKind::Incomplete);
    // The 31st of June.
    assert_eq!(error(&plans, 2, "D", "157c").kind(), ErrorKind::TimeSyntax);
    let other = tagged(14, "15:27Z");
    assert_eq!(transcode(0, 2, &plans, "H", &hex(&other)).unwrap_err().kind(), ErrorKind::ConstraintViolated);
    let zone = tagged(14, "2010-06-15T10:15:30.25-04:30");
    let uper = transcode(0, 2, &plans, "L", &hex(&zone)).unwrap();
    assert_eq!(to_hex(&transcode(2, 0, &plans, "L", &uper).unwrap()), zone);
    // 15 + 17 + 11 + 1 + 1 + 4 + 6 bits.
    assert_eq!(uper.len(), 7);
}

#[test]
fn intervals() {
    let points = ["SE-point=Date Date=YMD Year=Basic", "SE-point=Time Time=HMSF2 Local-or-UTC=LD"];
    for (point, start, end) in
        [(points[0], "1999-12-31", "2021-02-28"), (points[1], "15:27:46.05+01:30", "16:00:00.00-02")]
    {
        for (kind, interval) in [
            ("SE", format!("{start}/{end}")),
            ("SD", format!("{start}/P1Y2DT3.5H")),
            ("DE", format!("P3W/{end}")),
            ("D", "PT0S".to_owned()),
        ] {
            for (basic, times) in [
                ("Interval", ""),
                ("Rec-Interval Recurrence=Unlimited", "R/"),
                ("Rec-Interval Recurrence=R3", "R012/"),
            ] {
                let text = format!("{times}{interval}");
                let plans =
                    body(&format!("T ::= TIME (SETTINGS \"Basic={basic} Interval-type={kind} {point}\")"));
                let der = tagged(14, &text);
                for rules in 1..=4 {
                    let per = transcode(0, rules, &plans, "T", &hex(&der))
                        .unwrap_or_else(|e| panic!("{text}: {e}"));
                    assert_eq!(to_hex(&transcode(rules, 0, &plans, "T", &per).unwrap()), der, "{text}");
                    probe_damaged(&plans, rules, "T", &per);
                }
            }
        }
    }
}

/// A value outside of the settings: a point for an interval, parts too few and too many, a start for a duration, zeros in front.
#[test]
fn intervals_of_other_forms() {
    let point = "SE-point=Date Date=YM Year=Basic";
    for (settings, text) in [
        ("Basic=Interval Interval-type=SE", "2021-02"),
        ("Basic=Interval Interval-type=SE", "R7/2021-02/2021-03"),
        ("Basic=Interval Interval-type=SE", "P1D/2021-02"),
        ("Basic=Interval Interval-type=SE", "2021-02/2021-03-01"),
        ("Basic=Interval Interval-type=DE", "2021-02/P1D"),
        ("Basic=Interval Interval-type=D", "2021-02/P1D"),
        ("Basic=Rec-Interval Recurrence=R1 Interval-type=D", "P1D"),
        ("Basic=Rec-Interval Recurrence=R1 Interval-type=D", "R007/P1D"),
    ] {
        let plans = body(&format!("T ::= TIME (SETTINGS \"{settings} {point}\")"));
        let got = transcode(0, 2, &plans, "T", &hex(&tagged(14, text)));
        assert_eq!(got.expect_err(text).kind(), ErrorKind::ConstraintViolated, "{text} for {settings}");
    }
}
