//! Answers at marked places: `‸` in a text is the cursor.

use tercet_ide::{Colour, HintKind, Kind, RenameError, Snapshot};
use tercet_syntax::Span;

const SHIPS: &str = "-- Ships of a fleet.
Ships DEFINITIONS AUTOMATIC TAGS ::= BEGIN
IMPORTS Port FROM Ports;

-- One ship.
-- It has a crew.
Ship ::= SEQUENCE {
    name  UTF8String (SIZE (1..20)),
    state State DEFAULT moored,
    home  Port OPTIONAL,
    crew  Count
}
State ::= ENUMERATED { moored, sailing, lost (9) }
Count ::= INTEGER (0..most)
most INTEGER ::= 500
ship Ship ::= { name \"Argo\", crew 50 }
Pair{Item} ::= SEQUENCE { first Item, second Item }
Ships ::= SEQUENCE OF Pair{Ship}
END
";
const PORTS: &str = "Ports DEFINITIONS ::= BEGIN Port ::= IA5String Pier ::= INTEGER END\n";

fn snapshot() -> Snapshot {
    Snapshot::new([("ships.asn", SHIPS), ("ports.asn", PORTS)])
}

/// The position in front of the last letter of a piece of the first text.
fn at(snapshot: &Snapshot, piece: &str) -> u32 {
    let offset = SHIPS.find(piece).expect(piece) + piece.len() - 1;
    snapshot.position("ships.asn", offset).unwrap()
}

fn texts(snapshot: &Snapshot, spans: impl IntoIterator<Item = Span>) -> Vec<&str> {
    spans.into_iter().map(|span| snapshot.text(span)).collect()
}

#[test]
fn names_lead_to_their_definitions() {
    let snapshot = snapshot();
    let kind = |piece: &str| {
        let name = snapshot.name_at(at(&snapshot, piece)).expect(piece);
        let found = snapshot.definition(name.definition).expect(piece);
        (snapshot.text(found.name).to_owned(), found.kind)
    };
    assert_eq!(kind("home  Port"), ("Port".to_owned(), Kind::Type));
    assert_eq!(kind("IMPORTS Port"), ("Port".to_owned(), Kind::Type));
    assert_eq!(kind("FROM Ports"), ("Ports".to_owned(), Kind::Module));
    assert_eq!(kind("DEFAULT moored"), ("moored".to_owned(), Kind::Item));
    assert_eq!(kind("(0..most"), ("most".to_owned(), Kind::Value));
    assert_eq!(kind("{ name"), ("name".to_owned(), Kind::Component));
    assert_eq!(kind("first Item"), ("Item".to_owned(), Kind::Parameter));
    assert_eq!(snapshot.name_at(snapshot.position("ships.asn", 3).unwrap()), None);
}

#[test]
fn uses_are_those_of_all_modules() {
    let snapshot = snapshot();
    let port = snapshot.name_at(at(&snapshot, "home  Port")).unwrap();
    let uses: Vec<Span> = snapshot.uses(port.definition).iter().map(|it| it.at).collect();
    assert_eq!(texts(&snapshot, uses), ["Port", "Port"]);
    let definition = snapshot.definition(port.definition).unwrap();
    assert_eq!(snapshot.sources().file(snapshot.sources().file_of(definition.name.lo)).name, "ports.asn");
    let home = snapshot.name_at(at(&snapshot, "    home")).unwrap();
    let home = snapshot.definition(home.definition).unwrap();
    assert_eq!(snapshot.type_definition(home), Some(port.definition));
}

#[test]
fn hovers_say_what_a_name_means() {
    let snapshot = snapshot();
    let hover = |piece: &str| snapshot.hover(at(&snapshot, piece)).expect(piece).markdown;
    let ship = hover("crew.\nShip");
    assert!(
        ship.starts_with("One ship.  \nIt has a crew.  \n```asn1\nShip ::= SEQUENCE {\n    name"),
        "{ship}"
    );
    assert!(ship.contains("SEQUENCE, tags `[UNIVERSAL 16]`") && ship.ends_with("Module `Ships`\n"), "{ship}");
    let crew = hover("    crew");
    assert!(crew.contains("INTEGER, tags `[3]`") && crew.contains("`(0..500)`"), "{crew}");
    assert!(hover("    name").contains("`(SIZE (1..20))`"));
    assert!(hover("DEFAULT moored").contains("Number: 0"));
    assert!(hover("(0..most").contains("Value: `500`"));
    assert!(hover("FROM Ports").contains("Ports DEFINITIONS ::= BEGIN"));
}

#[test]
fn renaming_changes_all_places_or_says_why_not() {
    let snapshot = snapshot();
    let rename = |piece: &str, new: &str| snapshot.rename(at(&snapshot, piece), new);
    assert_eq!(rename("    crew", "people").map(|places| places.len()), Ok(2));
    assert_eq!(rename("home  Port", "Harbour").map(|places| places.len()), Ok(3));
    assert!(matches!(rename("home  Port", "Pier"), Err(RenameError::Taken(_))));
    assert!(matches!(rename("home  Port", "Ship"), Err(RenameError::Taken(_))));
    assert!(matches!(rename("    crew", "home"), Err(RenameError::Taken(_))));
    assert!(matches!(rename("    crew", "Crew"), Err(RenameError::Malformed(_))));
    assert!(matches!(rename("    crew", "c--w"), Err(RenameError::Malformed(_))));
    assert_eq!(rename("home  Port", "BOOLEAN"), Err(RenameError::Reserved));
    assert_eq!(rename("-- Shi", "x"), Err(RenameError::NoName));
}

#[test]
fn a_renamed_text_means_the_same() {
    let snapshot = snapshot();
    let mut text = SHIPS.to_owned();
    let places = snapshot.rename(at(&snapshot, "crew.\nShip"), "Vessel").unwrap();
    assert_eq!(places.len(), 3);
    for place in places.iter().rev() {
        text.replace_range(snapshot.sources().range(*place), "Vessel");
    }
    let renamed = Snapshot::new([("ships.asn", text.as_str()), ("ports.asn", PORTS)]);
    assert_eq!(renamed.schema().diagnostics().len(), snapshot.schema().diagnostics().len());
    assert!(renamed.schema().model().find_type("Ships.Vessel").is_some());
}

#[test]
fn completions_propose_names_words_and_imports() {
    let snapshot = snapshot();
    let file = snapshot.file("ships.asn").unwrap();
    let (prefix, found) = snapshot.completions(file, at(&snapshot, "crew  Cou") + 1);
    assert_eq!(snapshot.text(prefix), "Cou");
    let one = |label: &str| found.iter().find(|it| it.label == label).unwrap_or_else(|| panic!("{label}"));
    assert_eq!(one("Count").kind, Some(Kind::Type));
    assert_eq!(one("Port").detail, "from Ports");
    assert_eq!(one("sailing").kind, Some(Kind::Item));
    assert_eq!(one("SEQUENCE").kind, None);
    // Names of other modules are proposed for a letter of theirs.
    assert!(found.iter().all(|it| it.label != "Pier"));
    let (_, found) = snapshot.completions(file, at(&snapshot, "home  Po") + 1);
    let pier = found.iter().find(|it| it.label == "Pier").unwrap();
    assert_eq!((pier.detail.as_str(), pier.edits[0].text.as_str()), ("import from Ports", ", Pier"));
    let text = "A DEFINITIONS ::= BEGIN B ::= Ports. END";
    let snapshot = Snapshot::new([("a.asn", text), ("ports.asn", PORTS)]);
    let dot = snapshot.position("a.asn", text.find('.').unwrap() + 1).unwrap();
    let (_, found) = snapshot.completions(snapshot.file("a.asn").unwrap(), dot);
    assert_eq!(found.iter().map(|it| it.label.as_str()).collect::<Vec<_>>(), ["Pier", "Port"]);
}

#[test]
fn outlines_have_components_inside_of_types() {
    let snapshot = snapshot();
    let symbols = snapshot.symbols(snapshot.file("ships.asn").unwrap());
    assert_eq!(symbols.len(), 1);
    let names: Vec<&str> = symbols[0].children.iter().map(|it| snapshot.text(it.definition.name)).collect();
    assert_eq!(names, ["Ship", "State", "Count", "most", "ship", "Pair", "Ships"]);
    let inner: Vec<&str> =
        symbols[0].children[0].children.iter().map(|it| snapshot.text(it.definition.name)).collect();
    assert_eq!(inner, ["name", "state", "home", "crew"]);
    let folds = texts(&snapshot, snapshot.folds(snapshot.file("ships.asn").unwrap()));
    assert!(
        folds.iter().any(|fold| fold.starts_with("-- One"))
            && folds.iter().any(|fold| fold.starts_with("Ship "))
    );
}

#[test]
fn places_have_words_components_and_modules_around() {
    let snapshot = snapshot();
    let around = snapshot.around(snapshot.file("ships.asn").unwrap(), at(&snapshot, "home  Por"));
    let shown: Vec<String> =
        texts(&snapshot, around).iter().map(|text| text.chars().take(10).collect()).collect();
    assert_eq!(shown, ["Port", "home  Port", "Ship ::= S", "Ships DEFI", "-- Ships o"]);
}

#[test]
fn hints_show_tags_and_numbers() {
    let snapshot = snapshot();
    let file = snapshot.file("ships.asn").unwrap();
    let whole = Span::new(0, SHIPS.len() as u32);
    let kinds = [HintKind::Tag, HintKind::Number];
    let hints: Vec<String> =
        snapshot.hints_of(file, whole, &kinds, None).into_iter().map(|hint| hint.text).collect();
    assert_eq!(hints, [" [0]", " [1]", " [2]", " [3]", " (0)", " (1)", " [0]", " [1]"]);
}

#[test]
fn colours_follow_what_a_name_stands_for() {
    let snapshot = snapshot();
    let colours = snapshot.colours(snapshot.file("ships.asn").unwrap());
    let of = |word: &str| colours.iter().find(|it| snapshot.text(it.span) == word).unwrap().colour;
    assert_eq!(of("SEQUENCE"), Colour::Keyword);
    assert_eq!(of("State"), Colour::Name(Kind::Type));
    assert_eq!(of("moored"), Colour::Name(Kind::Item));
    assert_eq!(of("20"), Colour::Number);
    assert_eq!(of("-- One ship."), Colour::Comment);
    assert!(colours.windows(2).all(|pair| pair[0].span.hi <= pair[1].span.lo));
}

#[test]
fn fixes_are_those_of_the_place() {
    let snapshot = Snapshot::new([("a.asn", "A DEFINITIONS ::= BEGIN B ::= Pier END"), ("ports.asn", PORTS)]);
    let at = snapshot.position("a.asn", 31).unwrap();
    let titles: Vec<&str> = snapshot.fixes(Span::new(at, at)).map(|(_, fix)| fix.title.as_str()).collect();
    assert_eq!(titles, ["insert `IMPORTS Pier FROM Ports;`"]);
}

#[test]
fn imports_that_nothing_uses_are_found_and_removed() {
    let text = "A DEFINITIONS ::= BEGIN IMPORTS Pier, Port FROM Ports; B ::= Port END";
    let snapshot = Snapshot::new([("a.asn", text), ("ports.asn", PORTS)]);
    let unused = snapshot.unused_imports(snapshot.file("a.asn").unwrap());
    assert_eq!(texts(&snapshot, unused.iter().map(|it| it.symbol)), ["Pier"]);
    let edit = &unused[0].fix.edits[0];
    let mut mended = text.to_owned();
    mended.replace_range(snapshot.sources().range(edit.span), &edit.text);
    assert_eq!(mended, "A DEFINITIONS ::= BEGIN IMPORTS Port FROM Ports; B ::= Port END");
    let snapshot = Snapshot::new([("a.asn", mended.as_str()), ("ports.asn", PORTS)]);
    assert_eq!(snapshot.unused_imports(snapshot.file("a.asn").unwrap()), []);
}

#[test]
fn parameters_are_shown_while_they_are_written() {
    let text =
        "A DEFINITIONS ::= BEGIN P{T, INTEGER:n} ::= SEQUENCE (SIZE (0..n)) OF T B ::= P{BOOLEAN, 5} END";
    let snapshot = Snapshot::new([("a.asn", text)]);
    let file = snapshot.file("a.asn").unwrap();
    let active = |piece: &str| {
        let at = snapshot.position("a.asn", text.find(piece).unwrap() + piece.len()).unwrap();
        snapshot.signature(file, at).map(|it| (it.label, it.parameters.len(), it.active))
    };
    let label = "P{T, INTEGER:n}".to_owned();
    assert_eq!(active("P{BOO"), Some((label.clone(), 2, 0)));
    assert_eq!(active("P{BOOLEAN, "), Some((label, 2, 1)));
    assert_eq!(active("B ::= "), None);
}

/// Every position of texts that people type has answers, and none panics.
#[test]
fn half_written_texts_have_answers() {
    for end in (0..SHIPS.len()).step_by(7).filter(|end| SHIPS.is_char_boundary(*end)) {
        let snapshot = Snapshot::new([("ships.asn", &SHIPS[..end]), ("ports.asn", PORTS)]);
        let file = snapshot.file("ships.asn").unwrap();
        for offset in (0..=end).step_by(5) {
            let at = snapshot.position("ships.asn", offset).unwrap();
            let _ = (snapshot.hover(at), snapshot.completions(file, at), snapshot.around(file, at));
            let _ = snapshot.signature(file, at);
            let _ = snapshot.rename(at, "other");
        }
        let _ = (snapshot.symbols(file), snapshot.folds(file), snapshot.colours(file));
        let _ = snapshot.unused_imports(file);
        let _ = snapshot.hints(file, Span::new(0, end as u32));
    }
}
