//! SETTINGS: the properties of time values (X.680 §38.2, Table 6), as far as the text of a value tells them.

/// Whether a value has all the properties that are wanted (`Basic=Date Date=YMD`).
///
/// A property that the kind of value cannot have is not met; one that nobody knows is passed over, since the compiler
/// has said so.
pub(crate) fn agree(wanted: &str, value: &str) -> bool {
    let has = properties(value);
    wanted.split_whitespace().filter_map(|setting| setting.split_once('=')).all(|(name, want)| {
        !KNOWN.contains(&name) || has.iter().any(|(own, value)| *own == name && is(name, want, value))
    })
}

const KNOWN: [&str; 9] =
    ["Basic", "Date", "Year", "Time", "Local-or-UTC", "Interval-type", "SE-point", "Recurrence", "Midnight"];

fn is(name: &str, want: &str, value: &str) -> bool {
    // `HF3` has three digits of fraction; `HF` of a value has as many as it says.
    want == value || name == "Year" && want == "L5" && value.starts_with('L')
}

type Properties = Vec<(&'static str, String)>;

/// The properties of a value in the notation of X.680 §38.3.
fn properties(value: &str) -> Properties {
    let mut all = Properties::new();
    let mut rest = value;
    if let Some(recurring) = value.strip_prefix('R')
        && let Some((times, interval)) = recurring.split_once('/')
    {
        let recurrence = if times.is_empty() { "Unlimited".to_owned() } else { format!("R{}", times.len()) };
        all.push(("Recurrence", recurrence));
        rest = interval;
    }
    let parts: Vec<&str> = rest.split('/').collect();
    let kind = match parts[..] {
        [one] if one.starts_with('P') => Some("D"),
        [from, _] if from.starts_with('P') => Some("DE"),
        [_, to] if to.starts_with('P') => Some("SD"),
        [_, _] => Some("SE"),
        _ => None,
    };
    match kind {
        Some(kind) => {
            let recurring = !all.is_empty();
            all.push(("Basic", if recurring { "Rec-Interval" } else { "Interval" }.into()));
            all.push(("Interval-type", kind.into()));
            for part in parts.into_iter().filter(|part| !part.starts_with('P')).take(1) {
                all.push(("SE-point", point(part, &mut all.clone()).into()));
                point(part, &mut all);
            }
        }
        None => {
            let basic = point(rest, &mut all);
            all.push(("Basic", basic.into()));
        }
    }
    all
}

/// The properties of a date, a time of day or both; says which it is.
fn point(text: &str, all: &mut Properties) -> &'static str {
    match text.split_once('T') {
        Some((day, clock)) => {
            date(day, all);
            time(clock, all);
            "Date-Time"
        }
        None if text.len() >= 2
            && !text.starts_with(['+', '-'])
            && !text.ends_with('C')
            && text.bytes().take_while(u8::is_ascii_digit).count() == 2 =>
        {
            time(text, all);
            "Time"
        }
        None => {
            date(text, all);
            "Date"
        }
    }
}

fn date(text: &str, all: &mut Properties) {
    let signed = text.starts_with(['+', '-']);
    let digits = text.trim_start_matches(['+', '-']);
    let year_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let rest = digits.get(year_digits..).unwrap_or_default();
    let form = match rest {
        "C" => "C",
        "" => "Y",
        _ if rest.starts_with("-W") && rest.len() > 4 => "YWD",
        _ if rest.starts_with("-W") => "YW",
        _ if rest.len() == 4 => "YD",
        _ if rest.len() == 3 => "YM",
        _ => "YMD",
    };
    all.push(("Date", form.into()));
    let four = if form == "C" { 2 } else { 4 };
    let year: i64 = digits.get(..year_digits.min(18)).and_then(|d| d.parse().ok()).unwrap_or(0);
    all.push((
        "Year",
        if year_digits > four {
            format!("L{}", if form == "C" { year_digits + 2 } else { year_digits })
        } else if signed && text.starts_with('-') {
            "Negative".into()
        } else if year * if form == "C" { 100 } else { 1 } < 1582 {
            "Proleptic".into()
        } else {
            "Basic".into()
        },
    ));
}

fn time(text: &str, all: &mut Properties) {
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let zone = match zone {
        None => "L",
        Some("Z") => "Z",
        Some(_) => "LD",
    };
    let (whole, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let form = match whole.len() {
        0..=2 => "H",
        3..=5 => "HM",
        _ => "HMS",
    };
    let form = if fraction.is_empty() { form.to_owned() } else { format!("{form}F{}", fraction.len()) };
    all.push(("Time", form));
    all.push(("Local-or-UTC", zone.into()));
    if whole.starts_with("24") {
        all.push(("Midnight", "End".into()));
    } else if whole.bytes().all(|octet| matches!(octet, b'0' | b':')) {
        all.push(("Midnight", "Start".into()));
    }
}

/// Values to choose from when one with some properties is wanted.
pub(crate) const EXAMPLES: [&str; 33] = [
    "2024-02-29",
    "1999-12-31",
    "2024-02",
    "2024",
    "20C",
    "2024-060",
    "2024-W09",
    "2024-W09-4",
    "-0044-03-15",
    "1066-10-14",
    "12:30:45",
    "12:30",
    "12",
    "12:30:45Z",
    "12:30Z",
    "12:30:45+02:00",
    "12:30:45.123",
    "00:00:00",
    "24:00:00",
    "2024-02-29T12:30:45",
    "2024-02-29T12:30:45Z",
    "P1Y2M3DT4H5M6S",
    "2024-02-29/2024-03-01",
    "R5/2024-02-29T12:30:45/P1D",
    "12:30+01:30",
    "12:30-05",
    "12:30:45.123Z",
    "12:30/P1Y",
    "00:00/PT0.5S",
    "P3W/2024-02",
    "R12/2024-02/2024-03",
    "R/2024-02-29/2025",
    "+12024-02-29",
];

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn values_have_their_properties() {
        for (wanted, good, bad) in [
            ("Basic=Date Date=YMD", "2024-02-29", "2024-02"),
            ("Basic=Date Date=YD", "2024-060", "2024-02"),
            ("Basic=Time Time=HMS Local-or-UTC=Z", "12:30:45Z", "12:30:45"),
            ("Basic=Time Time=HMSF3", "12:30:45.123", "12:30:45.12"),
            ("Basic=Date-Time", "2024-02-29T12:30:45", "2024-02-29"),
            ("Basic=Interval Interval-type=D", "P1Y", "2024-02-29/P1Y"),
            ("Basic=Interval Interval-type=SE SE-point=Date", "2024-02-29/2024-03-01", "P1D"),
            ("Basic=Rec-Interval Recurrence=Unlimited", "R/2024-02-29/P1D", "R5/2024-02-29/P1D"),
            ("Year=Negative", "-0044", "1999"),
            ("Year=Proleptic", "1066-10-14", "1999-10-14"),
            ("Date=C", "20C", "2024"),
            ("Midnight=End", "24:00:00", "00:00:00"),
        ] {
            assert!(agree(wanted, good), "{wanted} {good}");
            assert!(!agree(wanted, bad), "{wanted} {bad}");
        }
    }
}
