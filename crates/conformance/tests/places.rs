//! The parts of encodings of large specifications are all bits, each once, in all rules; and of damaged encodings those
//! before the fault.

use tercet::{Rules, Schema, SchemaOptions};
use tercet_conformance::{fuzz, hex, places};
use tercet_dynamic::{Decoder, Encoder, Options, Tape};

/// A specification, a type with messages of it, and the rules of the messages.
type Messages = (&'static str, &'static str, &'static [&'static str], Rules);

const MESSAGES: [Messages; 6] = [
    (
        "ngap",
        "NGAP-PDU",
        &["bench/ngap_setup.per.hex", "bench/ngap_ics_var.per.hex", "bench/ngap_ulnas_var.per.hex"],
        Rules::Aper,
    ),
    ("nbap", "NBAP-PDU", &["bench/nbap_rldel_var.per.hex"], Rules::Aper),
    (
        "s1ap",
        "S1AP-PDU",
        &["captures/S1AP/sample-S1AP-PDU-1.aper", "captures/S1AP/sample-S1AP-PDU-4.aper"],
        Rules::Aper,
    ),
    ("nr-rrc", "UL-DCCH-Message", &["bench/nrrrc_measreport_var.uper.hex"], Rules::Uper),
    ("nr-rrc", "DL-DCCH-Message", &["bench/nrrrc_reconfig_var.uper.hex"], Rules::Uper),
    ("personnelA3", "PersonnelRecord", &["bench/personnelA3_var.uper.hex"], Rules::Uper),
];

/// Octets of the longest encoding that is damaged.
const DAMAGED: usize = 64;

#[test]
fn parts_of_messages_are_the_messages() {
    let Some(folder) = tercet_testing::corpora("asn1") else { return };
    for (specification, root, files, from) in MESSAGES {
        let specification = folder.join("bench/specs").join(specification);
        let schema = Schema::load(&[specification], &SchemaOptions::default()).unwrap();
        let plans = schema.plans(&Rules::BINARY, &[root]).unwrap();
        let plan_of = |rules| &plans[Rules::BINARY.iter().position(|known| *known == rules).unwrap()];
        for file in files {
            let mut message = std::fs::read(folder.join(file)).unwrap();
            if file.ends_with(".hex") {
                message = hex::parse(String::from_utf8(message).unwrap().lines().next().unwrap()).unwrap();
            }
            let (plan, mut tape) = (plan_of(from), Tape::new());
            let node = plan.root(root).unwrap();
            let mut options = Options::default();
            options.rules = from;
            Decoder::new().decode(plan, node, &message, &mut tape, &options).unwrap();
            for rules in Rules::BINARY {
                let plan = plan_of(rules);
                let mut octets = Vec::new();
                let mut encoder = Encoder::new().with_foreign_octets(true);
                encoder.encode(plan, rules, tape.view(&message), &mut octets).unwrap();
                options.rules = rules;
                let parts = places::check(plan, node, &octets, &options);
                let parts = parts.unwrap_or_else(|wrong| panic!("{file} {rules}: {wrong}"));
                assert!(parts > 5, "{file} {rules}: {parts} parts");
                if octets.len() <= DAMAGED {
                    fuzz::each_damage(&octets, &mut |damaged| {
                        let checked = places::check(plan, node, damaged, &options);
                        checked.unwrap_or_else(|wrong| panic!("{file} {rules}: {damaged:02X?}: {wrong}"));
                    });
                }
            }
        }
    }
}
