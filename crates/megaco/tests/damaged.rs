//! Binary messages that are damaged: the model is read from their octets at once, and what is refused is what the types of
//! the modules refuse, at the same place.

use tercet_megaco::binary::{Binary, Rules};
use tercet_megaco::codec::decode_any;
use tercet_megaco::generated::{v1, v3};
use tercet_runtime::codec::{Aper, Decode, Fault, StrictBer};

const MESSAGES: &[&str] = &[
    "!/1 [1.2.3.4]:55555 T=1{C=-{SC=root{SV{MT=RS,AD=55555,PF=gw/1,RE=\"901 Cold Boot\"}}}}",
    "!/1 <gw.example.net> T=2{C=5{TP{a,b,BW},MF=11111111/00000000/1*{M{ST=1{O{MO=SR,tdmc/gain=[1,5]},L{\r\nv=0\r\nm=audio 2222 \
     RTP/AVP 4\r\n}}},E=7{al/on{strict=state},dd/ce{DM=dm}},SG{SL=7{cg/dt{SY=OO,DR=200,NC={TO,IBE}}}}}}}",
    "!/2 mgc T=3{C=${PR=3,EG,A=${M{TS{BF=OFF,SI=IV}}},AV=*{AT{PG,SA}}}}K{1,4-8}",
    "!/3 mgc P=4{IA,C=7{N=a,AV=b{OE=1{19990729T22000001:al/of{init=false}},SA{nt/os=1}}}}",
    "!/3 mtp{0F2A} T=5{C=7{CA{TP,PR},MF=t1{E=8{al/on{EM{SG{cg/bt},E=9{al/fl}}}},SA{nt/os}}}}",
    "!/3 [::1] ER=406{\"Version not supported\"}",
];

fn check(octets: &[u8], rules: Rules) {
    let is_first = octets.len() > 1 && octets[0] == 0 && octets[1] >> 7 == 1;
    let fault: Option<Fault> = match rules {
        Rules::Ber => <v3::MegacoMessage<'_> as Decode<'_, StrictBer>>::decode(octets).err(),
        Rules::Per if is_first => <v1::MegacoMessage<'_> as Decode<'_, Aper>>::decode(octets).err(),
        // Of one with an authentication header the version is further in.
        Rules::Per if octets.first().is_some_and(|first| first & 0x80 != 0) => return,
        Rules::Per => <v3::MegacoMessage<'_> as Decode<'_, Aper>>::decode(octets).err(),
    };
    match (Binary::standard().decode(octets, rules), fault) {
        (Err(error), Some(fault)) => {
            assert_eq!((error.at as u64, error.what), (fault.at(), fault.kind().name()), "{octets:02x?}");
        }
        // What is right by the module may mean nothing.
        (Err(error), None) => assert!(error.what.contains(' '), "{error} in {octets:02x?}"),
        (Ok(message), Some(fault)) => panic!("{message:?} where there is {fault}"),
        (Ok(_), None) => {}
    }
}

#[test]
fn damage_is_told_as_the_modules_tell_it() {
    for text in MESSAGES {
        let message = decode_any(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        for rules in [Rules::Ber, Rules::Per] {
            let mut octets = Vec::new();
            Binary::standard().encode(&message, rules, &mut octets).unwrap();
            assert_eq!(Binary::standard().decode(&octets, rules).as_ref(), Ok(&message));
            for at in 0..octets.len() {
                check(&octets[..at], rules);
                let whole = octets[at];
                for damage in (0..8).map(|bit| whole ^ 1 << bit).chain([0, 0x80, 0xff, whole.wrapping_add(1)])
                {
                    octets[at] = damage;
                    check(&octets, rules);
                }
                octets[at] = whole;
                let mut longer = octets.clone();
                longer.insert(at, 0xa0);
                check(&longer, rules);
            }
        }
    }
}

/// Values that the model does not have do not hide damage behind them.
#[test]
fn damage_after_a_refused_value_is_reported_first() {
    let is_refused = |octets: &[u8], rules| {
        Binary::standard().decode(octets, rules).is_err_and(|error| error.at == 0 && error.what.contains(' '))
    };
    let mut damaged = 0;
    for text in MESSAGES {
        let message = decode_any(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        for rules in [Rules::Ber, Rules::Per] {
            let mut octets = Vec::new();
            Binary::standard().encode(&message, rules, &mut octets).unwrap();
            for at in 0..octets.len() {
                let whole = octets[at];
                for bit in 0..8 {
                    octets[at] = whole ^ 1 << bit;
                    if !is_refused(&octets, rules) {
                        continue;
                    }
                    for after in at + 1..octets.len() {
                        check(&octets[..after], rules);
                        let second = octets[after];
                        for damage in [second ^ 0x80, second.wrapping_add(1), 0, 0xff] {
                            octets[after] = damage;
                            check(&octets, rules);
                            damaged += usize::from(!is_refused(&octets, rules));
                        }
                        octets[after] = second;
                    }
                }
                octets[at] = whole;
            }
        }
    }
    assert!(damaged > 1000, "{damaged} messages that are wrong after a refused value");
}
