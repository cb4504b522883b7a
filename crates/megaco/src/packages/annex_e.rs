//! The packages of H.248.1 annex E. A value has a type where the annex names one that all versions share; names of tones
//! are open to extensions and have none.

use super::When::{Observed, Requested};
use super::{Definition, Item, Package, Packages, Parameter, Type};

const DIGITS: &[(&str, u16)] = &[
    ("d0", 16),
    ("d1", 17),
    ("d2", 18),
    ("d3", 19),
    ("d4", 20),
    ("d5", 21),
    ("d6", 22),
    ("d7", 23),
    ("d8", 24),
    ("d9", 25),
    ("ds", 32),
    ("do", 33),
    ("da", 26),
    ("db", 27),
    ("dc", 28),
    ("dd", 29),
];

const TONES: &[(&str, u16)] = &[
    ("dt", 48),
    ("rt", 49),
    ("bt", 50),
    ("ct", 51),
    ("sit", 52),
    ("wt", 53),
    ("prt", 54),
    ("cw", 55),
    ("cr", 56),
];

/// Properties of the gateway that may be set, all of them Integer.
const ROOT: &[(&str, u16)] = &[
    ("normalMGExecutionTime", 3),
    ("normalMGCExecutionTime", 4),
    ("MGProvisionalResponseTimerValue", 5),
    ("MGCProvisionalResponseTimerValue", 6),
    ("MGCOriginatedPendingLimit", 7),
    ("MGOriginatedPendingLimit", 8),
    ("MGSegmentationTimerValue", 9),
    ("MGCSegmentationTimerValue", 10),
    ("MGMaxPDUSize", 11),
    ("MGCMaxPDUSize", 12),
];

/// Adds the packages of the annex.
pub(super) fn add_to(packages: &mut Packages) {
    let tones = |name, id, extends, item| each(Package::new(name, id).extending(extends), item, TONES, &[]);
    let all = [
        generic(),
        root(),
        tone_generator(),
        tone_detection(),
        each(Package::new("dg", 5).extending("tonegen"), Item::Signal, DIGITS, &[("btd", 1)]),
        dtmf_detection(),
        tones("cg", 7, "tonegen", Item::Signal),
        tones("cd", 8, "tonedet", Item::Event),
        analog_line(),
        continuity(),
        network(),
        rtp(),
        tdm_circuit(),
        switch_board(),
    ];
    all.into_iter().for_each(|package| packages.add(package));
}

fn generic() -> Package {
    let general = Type::enumeration(&[("NR", 1), ("UR", 2), ("FT", 3), ("FP", 4), ("IW", 5), ("UN", 6)]);
    Package::new("g", 1)
        .define(
            event("cause", 1)
                .parameter(Parameter::new("Generalcause", 1).of(general).when(Observed))
                .parameter(Parameter::new("Failurecause", 2).when(Observed)),
        )
        .define(
            event("sc", 2)
                .parameter(Parameter::new("SigID", 1).when(Observed))
                // Later versions have more methods than the first.
                .parameter(Parameter::new("Meth", 2).when(Observed))
                .parameter(Parameter::new("SLID", 3).of(Type::Integer).when(Observed))
                .parameter(Parameter::new("RID", 4).when(Observed)),
        )
}

fn root() -> Package {
    let package = Package::new("root", 2)
        .define(property("maxNumberOfContexts", 1).of(Type::Double).read_only())
        .define(property("maxTerminationsPerContext", 2).of(Type::Integer).read_only());
    ROOT.iter().fold(package, |package, &(name, id)| package.define(property(name, id).of(Type::Integer)))
}

fn tone_generator() -> Package {
    Package::new("tonegen", 3).define(
        Definition::new(Item::Signal, "pt", 1)
            .parameter(Parameter::new("tl", 1))
            .parameter(Parameter::new("ind", 2).of(Type::Integer))
            .parameter(Parameter::new("btd", 3)),
    )
}

fn tone_detection() -> Package {
    let tones = || Parameter::new("tl", 1).when(Requested);
    let duration = || Parameter::new("dur", 2).of(Type::Integer);
    let tone = || Parameter::new("tid", 3).when(Observed);
    Package::new("tonedet", 4)
        .define(event("std", 1).parameter(tones()).parameter(tone()))
        .define(event("etd", 2).parameter(tones()).parameter(duration().when(Observed)).parameter(tone()))
        .define(event("ltd", 3).parameter(tones()).parameter(duration().when(Requested)).parameter(tone()))
}

fn dtmf_detection() -> Package {
    let method = Type::enumeration(&[("UM", 1), ("PM", 2), ("FM", 3)]);
    let completion = event("ce", 4)
        .parameter(Parameter::new("ds", 1).of(Type::String).when(Observed))
        .parameter(Parameter::new("Meth", 3).of(method).when(Observed));
    let package = Package::new("dd", 6).extending("tonedet").define(completion);
    each(package, Item::Event, DIGITS, &[("btd", 1)])
}

fn analog_line() -> Package {
    let strict = Type::enumeration(&[("exact", 0), ("state", 1), ("failWrong", 2)]);
    let hook = |name, id| {
        event(name, id)
            .parameter(Parameter::new("strict", 1).of(strict.clone()).when(Requested))
            .parameter(Parameter::new("init", 2).of(Type::Boolean).when(Observed))
    };
    let ring = Definition::new(Item::Signal, "ri", 2)
        .parameter(Parameter::new("cad", 6).of(Type::list_of(Type::Integer)))
        .parameter(Parameter::new("freq", 7).of(Type::Integer));
    let flash = event("fl", 6)
        .parameter(Parameter::new("mindur", 4).of(Type::Integer).when(Requested))
        .parameter(Parameter::new("maxdur", 5).of(Type::Integer).when(Requested));
    Package::new("al", 9).define(hook("on", 4)).define(hook("of", 5)).define(flash).define(ring)
}

fn continuity() -> Package {
    let result = Type::enumeration(&[("failure", 0), ("success", 1)]);
    Package::new("ct", 10)
        .define(event("cmp", 5).parameter(Parameter::new("res", 8).of(result).when(Observed)))
        .with(Item::Signal, "ct", 3, &[])
        .with(Item::Signal, "rsp", 4, &[])
}

fn network() -> Package {
    Package::new("nt", 11)
        .define(property("jit", 7).of(Type::Integer))
        .define(event("netfail", 5).parameter(Parameter::new("cs", 1).of(Type::String).when(Observed)))
        .define(event("qualert", 6).parameter(Parameter::new("th", 1).of(Type::Integer)))
        .define(statistic("dur", 1).of(Type::Double))
        .define(statistic("os", 2).of(Type::Double))
        .define(statistic("or", 3).of(Type::Double))
}

fn rtp() -> Package {
    Package::new("rtp", 12)
        .extending("nt")
        .define(event("pltrans", 1).parameter(Parameter::new("rtppltype", 1).when(Observed)))
        .define(statistic("ps", 4).of(Type::Double))
        .define(statistic("pr", 5).of(Type::Double))
        // A Double that is a number and a fraction, for which the text has no form.
        .define(statistic("pl", 6))
        .define(statistic("jit", 7))
        .define(statistic("delay", 8))
}

fn tdm_circuit() -> Package {
    let gain = Type::OneOf(vec![Type::Integer, Type::enumeration(&[("automatic", u32::MAX)])]);
    Package::new("tdmc", 13)
        .extending("nt")
        .define(property("ec", 8).of(Type::Boolean))
        .define(property("gain", 10).of(gain))
}

/// No package of the annex: OTP has it beside those, for its tests.
fn switch_board() -> Package {
    Package::new("swb", 0xfefe).define(statistic("fs", 0)).define(statistic("as", 1))
}

pub(super) fn property(name: &str, id: u16) -> Definition {
    Definition::new(Item::Property, name, id)
}

pub(super) fn event(name: &str, id: u16) -> Definition {
    Definition::new(Item::Event, name, id)
}

fn statistic(name: &str, id: u16) -> Definition {
    Definition::new(Item::Statistic, name, id)
}

pub(super) fn each(
    package: Package,
    item: Item,
    names: &[(&str, u16)],
    parameters: &[(&str, u16)],
) -> Package {
    names.iter().fold(package, |package, &(name, id)| package.with(item, name, id, parameters))
}
