mod weather {
    include!(concat!(env!("OUT_DIR"), "/weather.rs"));
}

use tercet_runtime::codec::{Decode, Der, Encode, Uper};
use weather::{Report, Sky};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Report {
        station: "HARBOUR".into(),
        temperature: -35,
        wind: Some(120),
        sky: Sky::Snow,
        extension_additions: Default::default(),
    };
    let der = Encode::<Der>::encode(&report)?;
    let uper = Encode::<Uper>::encode(&report)?;
    println!("DER {} bytes, UPER {} bytes", der.len(), uper.len());

    let (again, rest) = <Report<'_> as Decode<'_, Uper>>::decode(&uper)?;
    assert!(rest.is_empty());
    println!("{again:#?}");

    // A value that breaks a constraint is refused, with its path.
    let hot = Report { temperature: 9_000, ..report };
    if let Err(error) = Encode::<Uper>::encode(&hot) {
        println!("error: {error}");
    }
    // So are bytes that end too early.
    if let Err(error) = <Report<'_> as Decode<'_, Der>>::decode(&der[..8]) {
        println!("error: {error}");
    }
    Ok(())
}
