//! Batches of roaming events: nested SEQUENCEs of components that may all be absent, with tags of the class APPLICATION.
//! There are the components that the input has.

use crate::ber::{APPLICATION, List, choice, key, record, structure};

record! {
    /// A file with one batch.
    Record of File
}

choice! {
    /// A batch.
    File {
        Batch: Box<Batch<'a>> = APPLICATION 1;
    }
}

const fn application(form: u32, number: u32) -> u32 {
    key(APPLICATION, form, number)
}

type Taxes<'a> = List<Tax<'a>, { application(1, 213) }>;
type Charges<'a> = List<Charge<'a>, { application(1, 69) }>;
type Details<'a> = List<Detail<'a>, { application(1, 63) }>;
type Services<'a> = List<Service<'a>, { application(1, 39) }>;
type Codes = List<i64, { application(0, 184) }>;
type Notes<'a> = List<&'a [u8], { application(0, 163) }>;

structure! {
    /// The batch.
    sequence Batch {
        control: Control<'a> = APPLICATION 4;
        accounting: Accounting<'a> = APPLICATION 5;
        network: Network<'a> = APPLICATION 6;
        events: List<Event<'a>, 0> = APPLICATION 3;
        audit: Audit<'a> = APPLICATION 15;
    }
}

structure! {
    /// Who sends what to whom.
    sequence Control {
        sender: &'a [u8] = APPLICATION 196;
        recipient: &'a [u8] = APPLICATION 182;
        number: &'a [u8] = APPLICATION 109;
        created: LongTime<'a> = APPLICATION 108;
        until: LongTime<'a> = APPLICATION 227;
        available: LongTime<'a> = APPLICATION 107;
        version: i64 = APPLICATION 201;
        release: i64 = APPLICATION 189;
        notes: Notes<'a> = APPLICATION 162;
    }
}

structure! {
    /// A time and its distance from UTC.
    sequence LongTime {
        local: &'a [u8] = APPLICATION 16;
        offset: &'a [u8] = APPLICATION 231;
    }
}

structure! {
    /// A time and the code of its distance from UTC.
    sequence Time {
        local: &'a [u8] = APPLICATION 16;
        offset: i64 = APPLICATION 232;
    }
}

structure! {
    /// Taxes and currencies.
    sequence Accounting {
        taxation: List<Taxation<'a>, { application(1, 216) }> = APPLICATION 211;
        local: &'a [u8] = APPLICATION 135;
        currency: &'a [u8] = APPLICATION 210;
        conversions: List<Conversion<'a>, { application(1, 106) }> = APPLICATION 80;
        places: i64 = APPLICATION 244;
    }
}

structure! {
    /// A tax.
    sequence Taxation {
        code: i64 = APPLICATION 212;
        sort: &'a [u8] = APPLICATION 217;
        rate: &'a [u8] = APPLICATION 215;
        charged: &'a [u8] = APPLICATION 71;
    }
}

structure! {
    /// A rate of exchange.
    sequence Conversion {
        code: i64 = APPLICATION 105;
        places: i64 = APPLICATION 159;
        rate: i64 = APPLICATION 104;
    }
}

structure! {
    /// Offsets and entities that events refer to.
    sequence Network {
        offsets: List<Offset<'a>, { application(1, 233) }> = APPLICATION 234;
        entities: List<Entity<'a>, { application(1, 183) }> = APPLICATION 188;
    }
}

structure! {
    /// A distance from UTC.
    sequence Offset {
        code: i64 = APPLICATION 232;
        offset: &'a [u8] = APPLICATION 231;
    }
}

structure! {
    /// An entity that records.
    sequence Entity {
        code: i64 = APPLICATION 184;
        sort: i64 = APPLICATION 186;
        name: &'a [u8] = APPLICATION 400;
    }
}

choice! {
    /// An event.
    Event {
        Originated: Originated<'a> = APPLICATION 9;
        Terminated: Terminated<'a> = APPLICATION 10;
        Packet: Packet<'a> = APPLICATION 14;
    }
}

structure! {
    /// A call from a mobile.
    sequence Originated {
        basic: OriginatedBasic<'a> = APPLICATION 147;
        location: Location<'a> = APPLICATION 138;
        equipment: Equipment<'a> = APPLICATION 429;
        services: Services<'a> = APPLICATION 38;
        camel: Camel<'a> = APPLICATION 57;
        notes: Notes<'a> = APPLICATION 162;
    }
}

structure! {
    /// What a call from a mobile has for itself.
    sequence OriginatedBasic {
        subscriber: Subscriber<'a> = APPLICATION 427;
        destination: Destination<'a> = APPLICATION 89;
        start: Time<'a> = APPLICATION 44;
        duration: i64 = APPLICATION 223;
        cause: i64 = APPLICATION 58;
    }
}

structure! {
    /// A call to a mobile.
    sequence Terminated {
        basic: TerminatedBasic<'a> = APPLICATION 153;
        location: Location<'a> = APPLICATION 138;
        equipment: Equipment<'a> = APPLICATION 429;
        services: Services<'a> = APPLICATION 38;
        camel: Camel<'a> = APPLICATION 57;
        notes: Notes<'a> = APPLICATION 162;
    }
}

structure! {
    /// What a call to a mobile has for itself.
    sequence TerminatedBasic {
        subscriber: Subscriber<'a> = APPLICATION 427;
        originator: Originator<'a> = APPLICATION 41;
        start: Time<'a> = APPLICATION 44;
        duration: i64 = APPLICATION 223;
        cause: i64 = APPLICATION 58;
    }
}

structure! {
    /// A session of data.
    sequence Packet {
        basic: PacketBasic<'a> = APPLICATION 114;
        location: PacketLocation<'a> = APPLICATION 117;
        equipment: Equipment<'a> = APPLICATION 429;
        service: PacketService<'a> = APPLICATION 121;
        camel: Camel<'a> = APPLICATION 57;
        notes: Notes<'a> = APPLICATION 162;
    }
}

structure! {
    /// What a session has for itself.
    sequence PacketBasic {
        subscriber: PacketSubscriber<'a> = APPLICATION 115;
        destination: PacketDestination<'a> = APPLICATION 116;
        start: Time<'a> = APPLICATION 44;
        duration: i64 = APPLICATION 223;
        cause: i64 = APPLICATION 58;
        partial: &'a [u8] = APPLICATION 166;
        charging: i64 = APPLICATION 72;
    }
}

structure! {
    /// A subscriber with an address.
    sequence PacketSubscriber {
        subscriber: Subscriber<'a> = APPLICATION 427;
        address: &'a [u8] = APPLICATION 167;
    }
}

structure! {
    /// An access point.
    sequence PacketDestination {
        network: &'a [u8] = APPLICATION 261;
        operator: &'a [u8] = APPLICATION 262;
    }
}

structure! {
    /// Where a session was.
    sequence PacketLocation {
        network: PacketCell<'a> = APPLICATION 118;
        place: Place<'a> = APPLICATION 113;
    }
}

structure! {
    /// A cell with the entities around it.
    sequence PacketCell {
        entities: Codes = APPLICATION 185;
        area: i64 = APPLICATION 136;
        cell: i64 = APPLICATION 59;
    }
}

structure! {
    /// What a session used.
    sequence PacketService {
        incoming: i64 = APPLICATION 250;
        outgoing: i64 = APPLICATION 251;
        charges: Charges<'a> = APPLICATION 70;
    }
}

choice! {
    /// A subscriber.
    Subscriber {
        Sim: Sim<'a> = APPLICATION 199;
    }
}

structure! {
    /// A card and its number.
    sequence Sim {
        imsi: &'a [u8] = APPLICATION 129;
        number: &'a [u8] = APPLICATION 152;
    }
}

choice! {
    /// Equipment.
    Equipment {
        Imei: &'a [u8] = APPLICATION 128;
    }
}

structure! {
    /// Who was called.
    sequence Destination {
        called: &'a [u8] = APPLICATION 407;
        dialled: &'a [u8] = APPLICATION 279;
        place: &'a [u8] = APPLICATION 42;
    }
}

structure! {
    /// Who called.
    sequence Originator {
        calling: &'a [u8] = APPLICATION 405;
        clir: i64 = APPLICATION 75;
    }
}

structure! {
    /// Where a call was.
    sequence Location {
        network: Cell<'a> = APPLICATION 156;
        place: Place<'a> = APPLICATION 113;
    }
}

structure! {
    /// A cell with the entity that recorded.
    sequence Cell {
        entity: i64 = APPLICATION 184;
        reference: &'a [u8] = APPLICATION 45;
        area: i64 = APPLICATION 136;
        cell: i64 = APPLICATION 59;
    }
}

structure! {
    /// A place on earth.
    sequence Place {
        network: &'a [u8] = APPLICATION 195;
        description: &'a [u8] = APPLICATION 414;
    }
}

structure! {
    /// A service that was used.
    sequence Service {
        basic: BasicService<'a> = APPLICATION 36;
        time: Time<'a> = APPLICATION 410;
        charges: Charges<'a> = APPLICATION 70;
    }
}

structure! {
    /// Its kind.
    sequence BasicService {
        code: Code<'a> = APPLICATION 426;
        transparency: i64 = APPLICATION 228;
    }
}

choice! {
    /// A code of a service.
    Code {
        Tele: &'a [u8] = APPLICATION 218;
        Bearer: &'a [u8] = APPLICATION 40;
    }
}

structure! {
    /// A charge.
    sequence Charge {
        item: &'a [u8] = APPLICATION 66;
        rate: i64 = APPLICATION 105;
        group: Group<'a> = APPLICATION 258;
        details: Details<'a> = APPLICATION 64;
        taxes: Taxes<'a> = APPLICATION 214;
    }
}

structure! {
    /// The group of a charge.
    sequence Group {
        one: i64 = APPLICATION 259;
        two: i64 = APPLICATION 255;
        three: i64 = APPLICATION 256;
    }
}

structure! {
    /// An amount.
    sequence Detail {
        sort: &'a [u8] = APPLICATION 71;
        amount: i64 = APPLICATION 62;
        chargeable: i64 = APPLICATION 65;
        charged: i64 = APPLICATION 68;
        time: Time<'a> = APPLICATION 410;
    }
}

structure! {
    /// A tax on a charge.
    sequence Tax {
        code: i64 = APPLICATION 212;
        value: i64 = APPLICATION 397;
        taxable: i64 = APPLICATION 398;
    }
}

structure! {
    /// A service by CAMEL.
    sequence Camel {
        level: i64 = APPLICATION 56;
        service: i64 = APPLICATION 55;
        handling: i64 = APPLICATION 87;
    }
}

structure! {
    /// Sums.
    sequence Audit {
        earliest: LongTime<'a> = APPLICATION 101;
        latest: LongTime<'a> = APPLICATION 133;
        charge: i64 = APPLICATION 415;
        tax: i64 = APPLICATION 226;
        discount: i64 = APPLICATION 225;
        count: i64 = APPLICATION 43;
    }
}
