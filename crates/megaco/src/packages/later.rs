//! Packages that came after annex E: their names and numbers, and what is in those that bearers are controlled with. Of a
//! package with nothing in it here, items can be told by number (`xcg/0x004a`).

use super::When::Observed;
use super::annex_e::{each, event, property};
use super::{Definition, Item, Package, Packages, Parameter, Type};

/// Packages that only their names are known of. Series H, Q and J of ITU-T, and 3GPP TS 29.232.
const NAMES: &[(&str, u16)] = &[
    // H.248.2: facsimile and text.
    ("ftmd", 0x0e),
    ("txc", 0x0f),
    ("txp", 0x10),
    ("fax", 0x12),
    ("ipfax", 0x13),
    // H.248.3: user interface elements.
    ("dis", 0x14),
    ("key", 0x15),
    ("kp", 0x16),
    ("labelkey", 0x17),
    ("kf", 0x18),
    ("ind", 0x19),
    ("ks", 0x1a),
    ("anci", 0x1b),
    // H.248.6: dynamic tone definition.
    ("dtd", 0x1c),
    // Q.1950 annex A: tones.
    ("xcg", 0x24),
    ("srvtn", 0x25),
    ("xsrvtn", 0x26),
    ("int", 0x27),
    ("biztn", 0x28),
    // H.248.12: H.323 and H.324.
    ("h245", 0x2a),
    ("h323bc", 0x2b),
    ("h324", 0x2c),
    ("h245com", 0x2d),
    ("h245ind", 0x2e),
    // H.248.23: enhanced alerting.
    ("andisp", 0x3c),
    // TS 29.232.
    ("threegxcg", 0x32),
    ("threegmlc", 0x46),
    ("threegctm", 0x68),
    ("threegcsden", 0x82),
    ("threegiptra", 0x83),
    ("threegflex", 0x84),
    // H.248.9: audio server.
    ("aasb", 0x33),
    ("aasdc", 0x34),
    ("aasrec", 0x35),
    ("aassm", 0x36),
    // J.171 annex B, H.248.29 annex B, H.248.72.
    ("isuptn", 0x6c),
    ("icascgen", 0x94),
    ("monapref", 0xf8),
];

/// Tones of Q.1950 A.8.
const TONES: &[(&str, u16)] = &[
    ("bdt", 0x40),
    ("brt", 0x41),
    ("bbt", 0x42),
    ("bct", 0x43),
    ("bsit", 0x44),
    ("bwt", 0x45),
    ("bpt", 0x46),
    ("bcw", 0x47),
    ("bcr", 0x48),
    ("bpy", 0x49),
];

/// Adds the packages.
pub(super) fn add_to(packages: &mut Packages) {
    NAMES.iter().for_each(|&(name, id)| packages.add(Package::new(name, id)));
    let some = [
        call_type(),
        inactivity(),
        announcement(),
        bearer_characteristics(),
        cut_through(),
        reuse_idle(),
        generic_bearer(),
        bearer_tunnel(),
        tones_with_direction(),
        congestion(),
        user_plane(),
        circuit_switched_data(),
        tandem_free(),
    ];
    some.into_iter().for_each(|package| packages.add(package));
}

/// H.248.2: call type discrimination. What later versions define (as the property `calltyp`) has no number here.
fn call_type() -> Package {
    let tone = Parameter::new("dtt", 1);
    let package = Package::new("ctyp", 0x11).partly_known();
    package.define(event("dtone", 1).parameter(tone)).define(event("calldisres", 2))
}

/// H.248.14: the timer of inactivity.
fn inactivity() -> Package {
    let time = Parameter::new("mit", 1).of(Type::Integer);
    Package::new("it", 0x45).partly_known().define(event("ito", 1).parameter(time))
}

/// H.248.7: announcements.
fn announcement() -> Package {
    let name = || Parameter::new("an", 1);
    let cycles = || Parameter::new("noc", 2);
    let variant = || Parameter::new("av", 3);
    let fixed = signal("apf", 1).parameter(name()).parameter(cycles()).parameter(variant());
    let variable = signal("apv", 2)
        .parameter(name())
        .parameter(cycles())
        .parameter(variant())
        .parameter(Parameter::new("num", 4))
        .parameter(Parameter::new("spi", 5))
        .parameter(Parameter::new("sp", 6));
    Package::new("an", 0x1d)
        .define(fixed.parameter(direction("di", 4)))
        .define(variable.parameter(direction("di", 7)))
}

/// Q.1950 A.3. Characteristics are those of Q.765.5, a list that grows.
fn bearer_characteristics() -> Package {
    Package::new("bcp", 0x1e).define(property("BNCChar", 1))
}

/// Q.1950 A.4.
fn cut_through() -> Package {
    let when = Type::enumeration(&[("Early", 1), ("Late", 2)]);
    Package::new("bnct", 0x1f).define(property("BNCCT", 1).of(when))
}

/// Q.1950 A.5.
fn reuse_idle() -> Package {
    Package::new("ri", 0x20).define(property("RII", 1))
}

/// Q.1950 A.6.
fn generic_bearer() -> Package {
    let general = Type::enumeration(&[("NR", 1), ("UR", 2), ("FT", 3), ("FP", 4), ("IW", 5), ("UN", 6)]);
    let release = signal("RelBNC", 3)
        .parameter(Parameter::new("Generalcause", 1).of(general))
        .parameter(Parameter::new("Failurecause", 2))
        .parameter(Parameter::new("Reset", 3).of(Type::Boolean));
    Package::new("gb", 0x21)
        .define(event("BNCChange", 1).parameter(Parameter::new("Type", 1)))
        .define(signal("EstBNC", 1))
        .define(signal("ModBNC", 2))
        .define(release)
}

/// Q.1950 A.7.
fn bearer_tunnel() -> Package {
    let octets = || Parameter::new("BIT", 1).of(Type::OctetString);
    Package::new("bt", 0x22)
        .define(property("TunOpt", 1))
        .define(event("TIND", 1).parameter(octets().when(Observed)))
        .define(signal("BIT", 1).parameter(octets()))
}

/// Q.1950 A.8.
fn tones_with_direction() -> Package {
    TONES.iter().fold(Package::new("bcg", 0x23), |package, &(name, id)| {
        package.define(signal(name, id).parameter(direction("btd", 1)))
    })
}

/// H.248.10: the gateway asks for less.
fn congestion() -> Package {
    Package::new("chp", 0x29)
        .define(event("MGCon", 1).parameter(Parameter::new("reduction", 1).of(Type::Integer).when(Observed)))
}

/// TS 29.232 15.1.1. Names of values differ by release.
fn user_plane() -> Package {
    let names = [("mode", 1), ("upversions", 2), ("delerrsdu", 3), ("interface", 4), ("initdir", 5)];
    each(Package::new("threegup", 0x2f), Item::Property, &names, &[])
}

/// TS 29.232 15.2.1.
fn circuit_switched_data() -> Package {
    let result = event("protres", 1)
        .parameter(Parameter::new("result", 1).when(Observed))
        .parameter(Parameter::new("cause", 2).when(Observed));
    let rate = event("ratechg", 2).parameter(Parameter::new("rate", 1).of(Type::Integer).when(Observed));
    Package::new("threegcsd", 0x30)
        .define(property("plmnbc", 1))
        .define(property("gsmchancod", 2))
        .define(result)
        .define(rate)
        .define(signal("actprot", 1).parameter(Parameter::new("localpeer", 1)))
}

/// TS 29.232 15.2.2.
fn tandem_free() -> Package {
    Package::new("threegtfoc", 0x31)
        .define(property("tfoenable", 1).of(Type::enumeration(&[("On", 1), ("Off", 2)])))
        .define(property("codeclist", 2))
        .define(event("codec_modify", 0x10).parameter(Parameter::new("optimalcodec", 0x11)))
        .define(event("distant_codec_list", 0x12).parameter(Parameter::new("distlist", 0x13)))
        .define(event("status", 0x14).parameter(Parameter::new("tfostatus", 1)))
}

/// Which way a tone or an announcement goes.
fn direction(name: &str, id: u16) -> Parameter {
    Parameter::new(name, id).of(Type::enumeration(&[("ext", 1), ("int", 2), ("both", 3)]))
}

fn signal(name: &str, id: u16) -> Definition {
    Definition::new(Item::Signal, name, id)
}
