//! Messages against packages: every kind of name and value, and every form that a value may have.

use std::fs;

use tercet_megaco::binary::{Binary, Rules};
use tercet_megaco::codec::{Codec, Encoding, decode_any};
use tercet_megaco::packages::{Definition, Fault, Item, Package, Packages, Parameter, Type, When};
use tercet_megaco::text::read_message;

/// What is found in the only action of a message, without the way to its command.
fn findings(packages: &Packages, version: u8, commands: &str) -> Vec<String> {
    let text = format!("!/{version} mg1\nT=1{{C=1{{{commands}}}}}");
    let message = read_message(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    let begin = "Transaction=1 Context=1 ";
    let found = packages.check(&message);
    found.iter().map(|finding| finding.to_string().strip_prefix(begin).unwrap().to_owned()).collect()
}

#[track_caller]
fn check(commands: &str, expected: &[&str]) {
    assert_eq!(findings(&Packages::default(), 3, commands), expected, "{commands}");
}

fn local_control(property: &str) -> String {
    format!("MF=a1{{M{{ST=2{{O{{{property}}}}}}}}}")
}

#[test]
fn values_in_all_their_forms() {
    for good in [
        "tdmc/ec=on",
        "TDMC/EC=OFF",
        "tdmc/ec=$",
        "nt/jit=*",
        "nt/jit=0x28",
        "nt/jit>40",
        "nt/jit<40",
        "nt/jit#40",
        "nt/jit=[20:40]",
        "nt/jit={20,40}",
        "tdmc/gain=automatic",
        "tdmc/gain=-3",
        "tdmc/jit=40",
        "0x000d/0x0008=on",
        "nt/*=1",
        "*/*=1",
    ] {
        check(&local_control(good), &[]);
    }
    let integer = "is not of its type, Integer of 4 bytes";
    for (bad, value) in [("=4.5", "4.5"), (">many", "many"), ("=[20:high]", "high"), ("={20,low}", "low")] {
        let expected = format!("Modify=a1 Media Stream=2 LocalControl nt/jit: `{value}` {integer}");
        check(&local_control(&format!("nt/jit{bad}")), &[&expected]);
    }
    check(
        &local_control("nt/jit=[20,40]"),
        &[
            "Modify=a1 Media Stream=2 LocalControl nt/jit: several values for one of its type, Integer of 4 bytes",
        ],
    );
    check(
        &local_control("0x000d/0x0008=7"),
        &[
            "Modify=a1 Media Stream=2 LocalControl 0x000d/0x0008: `7` is not of its type, Boolean, `on` or `off`",
        ],
    );
}

#[test]
fn names_that_are_not_known() {
    check(
        &local_control("nt/size=1,own/x=1,own/y=2"),
        &[
            "Modify=a1 Media Stream=2 LocalControl nt/size: the package has no such property",
            "Modify=a1 Media Stream=2 LocalControl own: the package is not known",
        ],
    );
    check("MF=a1{SG{cg/xx,cg/rt}}", &["Modify=a1 Signals cg/xx: the package has no such signal"]);
    check(
        "MF=a1{SA{rtp/xx=1,rtp/os=1}}",
        &["Modify=a1 Statistics rtp/xx: the package has no such statistic"],
    );
    check("MF=a1{E=1{al/xx,al/on}}", &["Modify=a1 Events al/xx: the package has no such event"]);
    check(
        "AV=a1{AT{PG{own-1},SA{nt/xx}}}",
        &[
            "AuditValue=a1 Audit Packages own: the package is not known",
            "AuditValue=a1 Audit Statistics nt/xx: the package has no such statistic",
        ],
    );
}

#[test]
fn parameters_of_events_and_signals() {
    check("MF=a1{E=1{al/on{strict=failWrong},dd/etd{tl=d0},al/fl{mindur=50}}}", &[]);
    check("N=a1{OE=1{al/on{init=false},dd/ce{ds=\"123\",Meth=UM},dd/etd{tid=d0,dur=40}}}", &[]);
    check("MF=a1{SG{al/ri{cad=[2000,4000],freq=25},dg/pt{tl=d0,ind=3}}}", &[]);
    check(
        "MF=a1{E=1{al/on{strict=maybe,init=on,loud=1}}}",
        &[
            "Modify=a1 Events al/on strict: `maybe` is not of its type, Enumeration of `exact`, `state`, `failWrong`",
            "Modify=a1 Events al/on init: a parameter of events that were observed",
            "Modify=a1 Events al/on loud: the event has no such parameter",
        ],
    );
    check(
        "N=a1{OE=1{dd/ce{Meth=XX},al/of{strict=state}}}",
        &[
            "Notify=a1 ObservedEvents dd/ce Meth: `XX` is not of its type, Enumeration of `UM`, `PM`, `FM`",
            "Notify=a1 ObservedEvents al/of strict: a parameter of events that are requested",
        ],
    );
    check(
        "MF=a1{SG{SL=7{al/ri{cad=[2000,long],tone=1}}}}",
        &[
            "Modify=a1 Signals SignalList=7 al/ri cad: `long` is not of its type, Sub-list of Integer of 4 bytes",
            "Modify=a1 Signals SignalList=7 al/ri tone: the signal has no such parameter",
        ],
    );
}

#[test]
fn what_comes_of_an_event() {
    check(
        "MF=a1{E=1{al/on{EM{SG{cg/xx},E=2{al/fl{mindur=x,EM{SG{cg/yy}}}}}}}}",
        &[
            "Modify=a1 Events al/on Events al/fl mindur: `x` is not of its type, Integer of 4 bytes",
            "Modify=a1 Events al/on Events al/fl Signals cg/yy: the package has no such signal",
            "Modify=a1 Events al/on Signals cg/xx: the package has no such signal",
        ],
    );
}

#[test]
fn properties_that_can_only_be_read() {
    check(
        "MF=root{M{TS{root/maxNumberOfContexts=5}}}",
        &["Modify=root Media TerminationState root/maxNumberOfContexts: the property can only be read"],
    );
    let reply =
        "!/2 mg1\nP=1{C=-{AV=root{M{TS{root/maxNumberOfContexts=5,root/normalMGExecutionTime=soon}}}}}";
    let found = Packages::default().check(&read_message(reply.as_bytes()).unwrap());
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        finding.path,
        "Reply=1 Context=- AuditValue=root Media TerminationState root/normalMGExecutionTime"
    );
    assert_eq!(finding.fault, Fault::Value { value: "soon".to_owned(), expected: Type::Integer.to_string() });
}

#[test]
fn statistics_have_types() {
    check("MF=a1{SA{nt/dur=18446744073709551615,rtp/pl=0.2}}", &[]);
    check(
        "MF=a1{SA{nt/os=1.5}}",
        &["Modify=a1 Statistics nt/os: `1.5` is not of its type, Double, an integer of 8 bytes"],
    );
}

#[test]
fn private_packages() {
    let mut packages = Packages::default();
    let mode = Type::enumeration(&[("slow", 0), ("fast", 1)]);
    let blink = Definition::new(Item::Signal, "blink", 1).parameter(Parameter::new("mode", 1).of(mode));
    let broken = Definition::new(Item::Event, "broken", 1)
        .parameter(Parameter::new("key", 1).of(Type::OctetString).when(When::Observed));
    packages.add(Package::new("lamp", 0x8001).define(blink).define(broken).extending("bulb"));
    packages.add(Package::new("bulb", 0x8002).with(Item::Property, "watts", 1, &[]).extending("lamp"));
    assert!(findings(&packages, 1, &local_control("lamp/watts=any")).is_empty());
    // The two extend each other.
    assert_eq!(
        findings(&packages, 1, &local_control("lamp/volts=1")),
        ["Modify=a1 Media Stream=2 LocalControl lamp/volts: the package has no such property"]
    );
    assert_eq!(
        findings(&packages, 1, "MF=a1{SG{bulb/blink{mode=slowly}}}"),
        ["Modify=a1 Signals bulb/blink mode: `slowly` is not of its type, Enumeration of `slow`, `fast`"]
    );
    assert_eq!(
        findings(&packages, 1, "N=a1{OE=1{lamp/broken{key=0g}}}"),
        [
            "Notify=a1 ObservedEvents lamp/broken key: `0g` is not of its type, Octet String, two hexadecimal digits for \
          each byte"
        ]
    );
}

#[test]
fn packages_known_in_part() {
    // Later versions of H.248.2 define more than is known here: that is a note, not a fault.
    let message = "!/3 mg1\nT=1{C=1{MF=a1{M{TS{ctyp/calltyp=[FAX,TEXT]}},E=1{ctyp/dtone{more=1}}}}}";
    let found = Packages::default().check(&read_message(message.as_bytes()).unwrap());
    let faults: Vec<_> = found.iter().map(|finding| (&finding.fault, finding.is_information())).collect();
    let expected = [(&Fault::NotKnown(Item::Property), true), (&Fault::ParameterNotKnown(Item::Event), true)];
    assert_eq!(faults, expected);
    let mut packages = Packages::default();
    packages.add(Package::new("lamp", 0x8001).with(Item::Property, "watts", 1, &[]).partly_known());
    assert_eq!(
        findings(&packages, 1, &local_control("lamp/volts=1")),
        [
            "Modify=a1 Media Stream=2 LocalControl lamp/volts: the property is not known: the package is known in part"
        ]
    );
    assert!(findings(&packages, 1, &local_control("lamp/watts=1")).is_empty());
}

#[test]
fn later_packages() {
    check("MF=a1{SG{an/apf{an=5,noc=2},bcg/bdt{btd=ext},bt/bit{bit=0aff}}}", &[]);
    check(
        "MF=a1{SG{bcg/bdt{btd=up}}}",
        &["Modify=a1 Signals bcg/bdt btd: `up` is not of its type, Enumeration of `ext`, `int`, `both`"],
    );
    check(&local_control("bnct/bncct=Early"), &[]);
    // Of the contents of others nothing is known.
    check(&local_control("h245/any=thing"), &[]);
    check(
        &local_control("threegup/any=thing"),
        &["Modify=a1 Media Stream=2 LocalControl threegup/any: the package has no such property"],
    );
}

#[test]
fn numbers_of_packages() {
    let round = |commands: &str, expected: &[u8]| {
        let text = format!("!/3 mg1\nT=1{{C=1{{{commands}}}}}");
        let message = read_message(text.as_bytes()).unwrap();
        for rules in [Rules::Ber, Rules::Per] {
            let mut octets = Vec::new();
            Binary::standard().encode(&message, rules, &mut octets).unwrap();
            let is_there = octets.windows(4).any(|four| four == expected);
            assert!(is_there, "{commands} {rules:?} {octets:02x?}");
            assert_eq!(Binary::standard().decode(&octets, rules).unwrap(), message);
        }
    };
    round("MF=a1{SG{an/apf{an=5,noc=1}}}", &[0, 0x1d, 0, 1]);
    round(&local_control("threegup/initdir=1"), &[0, 0x2f, 0, 5]);
    round("N=a1{OE=1{threegtfoc/status{tfostatus=on}}}", &[0, 0x31, 0, 0x14]);
    // A number in a package of which only the name is known.
    round(&local_control("h245/0x0007=1"), &[0, 0x2a, 0, 7]);
    // What a package has from the one that it extends keeps its number there.
    round("MF=a1{SA{rtp/dur}}", &[0, 12, 0, 1]);
    round("MF=a1{SG{cg/pt{ind=1}}}", &[0, 7, 0, 1]);
}

#[test]
fn the_same_from_binary() {
    let text = format!("!/1 mg1\nT=1{{C=1{{{}}}}}", local_control("tdmc/ec=g165,nt/jit=40"));
    let message = read_message(text.as_bytes()).unwrap();
    let packages = Packages::default();
    let expected = packages.check(&message);
    assert_eq!(expected.len(), 1);
    for (rules, strict) in [(Rules::Ber, false), (Rules::Ber, true), (Rules::Per, false)] {
        let binary = Binary { strict, ..Binary::default() };
        let mut octets = Vec::new();
        binary.encode(&message, rules, &mut octets).unwrap();
        assert_eq!(packages.check(&binary.decode(&octets, rules).unwrap()), expected);
    }
}

#[test]
fn findings_are_short() {
    let long = "x".repeat(100_000);
    let parameters = vec![format!("{long}=1"); 20].join(",");
    let text = format!("!/1 mg1\nT=1{{C=1{{MF=a1{{E=1{{al/on{{{parameters}}}}}}}}}}}");
    let found = Packages::default().check(&read_message(text.as_bytes()).unwrap());
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|finding| finding.to_string().len() < 200));
}

/// The messages of Erlang/OTP: echo cancellation is on or off (E.13) and no recommendation, and the jitter buffer has one
/// size (E.11), where brackets are for values that hold together.
#[test]
fn of_the_corpus_what_is_wrong_is_known() {
    let Some(folder) = tercet_testing::corpora("megaco/pretty") else { return };
    let files = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for path in &paths {
        let octets = fs::read(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        for finding in Packages::default().check(&decode_any(&octets).unwrap()) {
            wrong.push(format!("{name} {finding}"));
        }
    }
    let echo = |number, third| {
        format!(
            "{number} Transaction=9999 Context=- Modify=11111111/00000000/{third} Media Stream=1 LocalControl tdmc/ec: \
             `g165` is not of its type, Boolean, `on` or `off`"
        )
    };
    let jitter =
        "075 Transaction=9898 Context=1 nt/jit: several values for one of its type, Integer of 4 bytes";
    let expected =
        [echo("001", "00000000"), echo("002", "11111111"), echo("003", "00000000"), jitter.to_owned()];
    assert_eq!(wrong, expected);
}

/// The packages of H.248.14, and of H.248.23 by its name alone: known, and written in binary as far as their numbers are.
#[test]
fn inactivity_and_display() {
    let packages = Packages::default();
    let read = |text: &'static str| read_message(text.as_bytes()).unwrap();
    let inactivity = read("!/1 mg1\nT=1{C=-{MF=root{E=1199{it/ito{mit=2100}}}}}");
    assert_eq!(packages.check(&inactivity), []);
    let mut out = Vec::new();
    Encoding::Ber.encode(&inactivity, &mut out).unwrap();
    assert_eq!(Encoding::Ber.decode(&out).unwrap(), inactivity);
    let display = read("!/1 mg1\nT=1{C=-{MF=a1{SG{andisp/data{db=82060B,tas=dt}}}}}");
    assert_eq!(packages.check(&display), []);
}
