//! What holds for every type and every value: random modules, random values.

use serde_json::Value;
use tercet_conformance::engine::{Specification, Type};
use tercet_conformance::generate::{Random, module, value};
use tercet_conformance::{hex, same};
use tercet_plan::Rules;

/// Modules tried; `SEEDS=n` for more, `SEED=s` for one.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(300),
    }
}

#[test]
fn random_values_of_random_types() {
    let mut failures = Vec::new();
    for seed in seeds() {
        let mut random = Random::new(seed);
        let module = module(&mut random);
        let specification = match Specification::from_text("random.asn", &module.text) {
            Ok(specification) => specification,
            Err(message) => {
                failures.push(format!("seed {seed}: {message}\n{}", module.text));
                continue;
            }
        };
        for (i, of) in module.types.iter().enumerate() {
            let mut ready = match specification.root(&format!("T{i}")) {
                Ok(ready) => ready,
                Err(message) => {
                    failures.push(format!("seed {seed}: T{i}: {message}\n{}", module.text));
                    continue;
                }
            };
            for _ in 0..6 {
                let value = value(&mut random, &module.types, of);
                if let Err(message) = properties(&mut ready, &value) {
                    failures.push(format!("seed {seed}: T{i}: {message}\n{}\n{value}", module.text));
                    break;
                }
            }
        }
    }
    let shown: Vec<_> = failures.iter().take(8).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n\n"));
}

fn properties(of: &mut Type, value: &Value) -> Result<(), String> {
    let mut encodings = Vec::new();
    for rules in [Rules::Ber, Rules::Der, Rules::Cer, Rules::Oer, Rules::Coer] {
        let octets = of.encode(rules, value).map_err(|e| format!("encode {rules:?}: {e}"))?;
        let shown = hex::brief(&octets);
        let again = of.decode(rules, &octets).map_err(|e| format!("decode {rules:?} {shown}: {e}"))?;
        same::compare(of.shape(), of.node(), value, &again).map_err(|d| format!("{rules:?} {shown}: {d}"))?;
        let second = of.encode(rules, &again).map_err(|e| format!("encode again {rules:?}: {e}"))?;
        if rules != Rules::Ber && second != octets {
            return Err(format!("{rules:?}: {shown} became {} by way of JSON", hex::brief(&second)));
        }
        encodings.push((rules, octets));
    }
    let der = &encodings[1].1;
    texts(of, value, der)?;
    for (rules, octets) in &encodings {
        let made = of.transcode(*rules, octets, Rules::Der)?;
        if made != *der {
            return Err(format!("{rules:?} to DER: {} instead of {}", hex::brief(&made), hex::brief(der)));
        }
        // What is DER or CER is BER, what is canonical OER is OER.
        let basic = if matches!(rules, Rules::Oer | Rules::Coer) { Rules::Oer } else { Rules::Ber };
        let made = of.transcode(basic, octets, Rules::Der)?;
        if made != *der {
            return Err(format!(
                "{rules:?} as {basic:?} to DER: {} instead of {}",
                hex::brief(&made),
                hex::brief(der)
            ));
        }
        let same_rules = of.transcode(*rules, octets, *rules)?;
        if same_rules != *octets && !(*rules == Rules::Ber) {
            return Err(format!("{rules:?} is no fixed point: {}", hex::brief(octets)));
        }
    }
    Ok(())
}

/// What is written as text reads as the same, to the same DER; what is canonical is one text for one value.
fn texts(of: &mut Type, value: &Value, der: &[u8]) -> Result<(), String> {
    for rules in Rules::ALL.into_iter().filter(|rules| rules.is_text()) {
        let text = of.write_text(rules, value).map_err(|e| format!("write {rules:?}: {e}"))?;
        let again = of.read_text(rules, &text).map_err(|e| format!("read {rules:?} {text}: {e}"))?;
        same::compare(of.shape(), of.node(), value, &again).map_err(|d| format!("{rules:?} {text}: {d}"))?;
        let made = of.encode(Rules::Der, &again).map_err(|e| format!("{rules:?} to DER: {e}"))?;
        if made != der {
            return Err(format!(
                "{rules:?} {text} became {} in DER, not {}",
                hex::brief(&made),
                hex::brief(der)
            ));
        }
        let canonical = of.decode(Rules::Der, der)?;
        if rules == Rules::Cxer && of.write_text(rules, &canonical)? != text {
            return Err(format!("{text} is another text by way of DER"));
        }
    }
    Ok(())
}
