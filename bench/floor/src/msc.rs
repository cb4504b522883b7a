//! Call records of a switch: a SET of components that may all be absent. Of its hundred components there are the first 38,
//! which are all that the input has.

use crate::ber::{Ascii, Item, List, choice, record, structure};

record! {
    /// A call record, or several of one call.
    Record of Call
}

choice! {
    /// One record, or a list.
    Call {
        Single: Kind<'a> = CONTEXT 0;
        Composite: List<Kind<'a>, 0> = CONTEXT 1;
    }
}

choice! {
    /// The kinds of records, which have these components in common.
    Kind {
        Transit: Box<Components<'a>> = CONTEXT 0;
        Originating: Box<Components<'a>> = CONTEXT 1;
        Roaming: Box<Components<'a>> = CONTEXT 2;
        Forwarding: Box<Components<'a>> = CONTEXT 3;
        Terminating: Box<Components<'a>> = CONTEXT 4;
        SentMessage: Box<Components<'a>> = CONTEXT 5;
        GotMessage: Box<Components<'a>> = CONTEXT 6;
        Service: Box<Components<'a>> = CONTEXT 7;
        Isdn: Box<Components<'a>> = CONTEXT 8;
        Location: Box<Components<'a>> = CONTEXT 9;
    }
}

structure! {
    /// Components by the numbers of their tags.
    set Components {
        c0: &'a [u8] = CONTEXT 0;
        c1: [u8; 3] = CONTEXT 1;
        c2: [u8; 3] = CONTEXT 2;
        c3: Item<2> = CONTEXT 3;
        c4: &'a [u8] = CONTEXT 4;
        c5: &'a [u8] = CONTEXT 5;
        c6: [u8; 8] = CONTEXT 6;
        c7: &'a [u8] = CONTEXT 7;
        c8: &'a [u8] = CONTEXT 8;
        c9: Item<2> = CONTEXT 9;
        c10: [u8; 3] = CONTEXT 10;
        c11: [u8; 3] = CONTEXT 11;
        c12: [u8; 3] = CONTEXT 12;
        c13: [u8; 3] = CONTEXT 13;
        c14: [u8; 3] = CONTEXT 14;
        c15: [u8; 3] = CONTEXT 15;
        c16: Ascii<'a> = CONTEXT 16;
        c17: Ascii<'a> = CONTEXT 17;
        c18: Ascii<'a> = CONTEXT 18;
        c19: [u8; 1] = CONTEXT 19;
        c20: [u8; 1] = CONTEXT 20;
        c21: i64 = CONTEXT 21;
        c22: i64 = CONTEXT 22;
        c23: [u8; 1] = CONTEXT 23;
        c24: [u8; 1] = CONTEXT 24;
        c25: &'a [u8] = CONTEXT 25;
        c26: [u8; 3] = CONTEXT 26;
        c27: [u8; 7] = CONTEXT 27;
        c28: [u8; 7] = CONTEXT 28;
        c29: [u8; 7] = CONTEXT 29;
        c30: [u8; 7] = CONTEXT 30;
        c31: Camel<'a> = CONTEXT 31;
        c32: Net<'a> = CONTEXT 32;
        c33: &'a [u8] = CONTEXT 33;
        c34: [u8; 1] = CONTEXT 34;
        c35: &'a [u8] = CONTEXT 35;
        c36: Item<6> = CONTEXT 36;
        c37: Item<5> = CONTEXT 37;
    }
}

structure! {
    /// A service and its address.
    sequence Camel {
        service: i64 = CONTEXT 0;
        address: &'a [u8] = CONTEXT 1;
    }
}

structure! {
    /// A network.
    sequence Net {
        country: [u8; 2] = CONTEXT 0;
        network: &'a [u8] = CONTEXT 1;
    }
}
