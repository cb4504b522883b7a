//! The tokens of H.248.1 B.2: each has a long and a short form, and some came with version 3.

macro_rules! tokens {
    ($($name:ident $long:literal $short:literal $since:literal [$($alias:literal),*],)*) => {
        /// A keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Token {
            $($name,)*
        }

        /// Long form, short form, first version with it.
        const FORMS: &[(&str, &str, u8)] = &[$(($long, $short, $since),)*];

        const ALL: &[Token] = &[$(Token::$name,)*];

        /// Every way to write a token, in lower case.
        const WORDS: &[(&str, Token)] = &[$(($long, Token::$name), ($short, Token::$name), $(($alias, Token::$name),)*)*];
    };
}

tokens! {
    Add "Add" "A" 1 [],
    AndLogic "ANDLgc" "ANDLgc" 3 [],
    Audit "Audit" "AT" 1 [],
    AuditCapability "AuditCapability" "AC" 1 [],
    AuditValue "AuditValue" "AV" 1 [],
    Authentication "Authentication" "AU" 1 [],
    Both "Both" "B" 3 [],
    Bothway "Bothway" "BW" 1 [],
    Brief "Brief" "BR" 1 [],
    Buffer "Buffer" "BF" 1 [],
    Context "Context" "C" 1 [],
    ContextAttr "ContextAttr" "CT" 3 [],
    ContextList "ContextList" "CLT" 3 [],
    ContextAudit "ContextAudit" "CA" 1 [],
    DigitMap "DigitMap" "DM" 1 [],
    Direction "SPADirection" "SPADI" 3 ["direction", "di"],
    Disconnected "Disconnected" "DC" 1 [],
    Delay "Delay" "DL" 1 [],
    Duration "Duration" "DR" 1 [],
    Embed "Embed" "EM" 1 [],
    Emergency "Emergency" "EG" 1 [],
    EmergencyOff "EmergencyOff" "EGO" 1 ["emergencyofftoken"],
    EmergencyValue "EmergencyValue" "EGV" 3 [],
    Error "Error" "ER" 1 [],
    EventBuffer "EventBuffer" "EB" 1 [],
    Events "Events" "E" 1 [],
    External "External" "EX" 3 [],
    Failover "Failover" "FL" 1 [],
    Forced "Forced" "FO" 1 [],
    Graceful "Graceful" "GR" 1 [],
    HandOff "HandOff" "HO" 1 [],
    Ieps "IEPSCall" "IEPS" 3 [],
    Inactive "Inactive" "IN" 1 [],
    Internal "Internal" "IT" 3 [],
    ImmAckRequired "ImmAckRequired" "IA" 1 [],
    InService "InService" "IV" 1 [],
    Intersignal "Intersignal" "SPAIS" 3 [],
    IntByEvent "IntByEvent" "IBE" 1 [],
    IntBySigDescr "IntBySigDescr" "IBS" 1 [],
    Isolate "Isolate" "IS" 1 [],
    Iteration "Iteration" "IR" 3 ["iterationtoken"],
    KeepActive "KeepActive" "KA" 1 [],
    Local "Local" "L" 1 [],
    LocalControl "LocalControl" "O" 1 [],
    LockStep "LockStep" "SP" 1 [],
    Loopback "Loopback" "LB" 1 [],
    Media "Media" "M" 1 [],
    Segment "Segment" "SM" 3 [],
    Method "Method" "MT" 1 [],
    Mtp "MTP" "MTP" 1 [],
    MgcIdToTry "MgcIdToTry" "MG" 1 [],
    Mode "Mode" "MO" 1 [],
    Modify "Modify" "MF" 1 [],
    Modem "Modem" "MD" 1 [],
    Move "Move" "MV" 1 [],
    Mux "Mux" "MX" 1 [],
    NeverNotify "NeverNotify" "NBNN" 3 [],
    Notify "Notify" "N" 1 [],
    NotifyCompletion "NotifyCompletion" "NC" 1 [],
    ImmediateNotify "ImmediateNotify" "NBIN" 3 [],
    RegulatedNotify "RegulatedNotify" "NBRN" 3 [],
    ObservedEvents "ObservedEvents" "OE" 1 [],
    Oneway "Oneway" "OW" 1 [],
    OnewayBoth "OnewayBoth" "OWB" 3 [],
    OnewayExternal "OnewayExternal" "OWE" 3 [],
    Off "OFF" "OFF" 1 [],
    On "ON" "ON" 1 [],
    OnOff "OnOff" "OO" 1 [],
    OrLogic "ORLgc" "ORLgc" 3 [],
    OtherReason "OtherReason" "OR" 1 [],
    OutOfService "OutOfService" "OS" 1 [],
    Packages "Packages" "PG" 1 [],
    Pending "Pending" "PN" 1 [],
    Priority "Priority" "PR" 1 [],
    Profile "Profile" "PF" 1 [],
    Reason "Reason" "RE" 1 [],
    ReceiveOnly "ReceiveOnly" "RC" 1 [],
    RequestId "SPARequestID" "SPARQ" 1 ["requestid", "rq"],
    Reply "Reply" "P" 1 [],
    ResetEventsDescriptor "ResetEventsDescriptor" "RSE" 3 [],
    TransactionResponseAck "TransactionResponseAck" "K" 1 [],
    Restart "Restart" "RS" 1 [],
    Remote "Remote" "R" 1 [],
    ReservedGroup "ReservedGroup" "RG" 1 [],
    ReservedValue "ReservedValue" "RV" 1 [],
    SendOnly "SendOnly" "SO" 1 [],
    SendReceive "SendReceive" "SR" 1 [],
    Services "Services" "SV" 1 [],
    ServiceStates "ServiceStates" "SI" 1 [],
    ServiceChange "ServiceChange" "SC" 1 [],
    ServiceChangeAddress "ServiceChangeAddress" "AD" 1 [],
    ServiceChangeInc "ServiceChangeInc" "SIC" 3 [],
    SignalList "SignalList" "SL" 1 [],
    Signals "Signals" "SG" 1 [],
    SignalType "SignalType" "SY" 1 [],
    Statistics "Statistics" "SA" 1 [],
    Stream "Stream" "ST" 1 [],
    Subtract "Subtract" "S" 1 [],
    TerminationState "TerminationState" "TS" 1 [],
    Test "Test" "TE" 1 [],
    TimeOut "TimeOut" "TO" 1 [],
    Topology "Topology" "TP" 1 [],
    Transaction "Transaction" "T" 1 [],
    Version "Version" "V" 1 [],
}

/// More than the letters of any token.
const LONGEST: usize = 64;

/// Size of the table; a power of two.
const SIZE: usize = 2048;

/// Length, first, middle and last letter of a word, the letters in lower case: all of a word of at most three letters.
/// Only letters become letters by the bit that makes them small, and tokens have nothing else.
const fn key(word: &[u8]) -> u32 {
    let length = word.len();
    let letters = u32::from_le_bytes([word[0], word[length / 2], word[length - 1], 0]) | 0x20_2020;
    letters | (length as u32) << 24
}

/// Where a key stands in the table. The factor was searched for, until no two tokens met; [`build`] stops the compiler if
/// two do.
const fn slot(key: u32) -> usize {
    (key.wrapping_mul(FACTOR) >> 21) as usize
}

const FACTOR: u32 = 0x6c93_d841;

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] | 0x20 != b[index] | 0x20 {
            return false;
        }
        index += 1;
    }
    true
}

/// Keys of all words and what they are, by slot.
const fn build() -> [(u32, u8); SIZE] {
    let mut table = [(0, 0); SIZE];
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index].0.as_bytes();
        let key = key(word);
        let taken = table[slot(key)];
        assert!(
            taken.0 == 0 || same(WORDS[taken.1 as usize].0.as_bytes(), word),
            "two tokens have one slot: search for a new factor"
        );
        table[slot(key)] = (key, index as u8);
        index += 1;
    }
    table
}

static TABLE: [(u32, u8); SIZE] = build();

/// Both forms of a token with room behind them, and how long they are.
#[derive(Clone, Copy)]
struct Padded {
    long: [u8; 24],
    short: [u8; 8],
    lengths: (u8, u8),
}

static PADDED: [Padded; FORMS.len()] = {
    const fn padded<const N: usize>(text: &str) -> [u8; N] {
        let mut room = [0; N];
        let mut index = 0;
        while index < text.len() {
            room[index] = text.as_bytes()[index];
            index += 1;
        }
        room
    }
    let mut all = [Padded { long: [0; 24], short: [0; 8], lengths: (0, 0) }; FORMS.len()];
    let mut index = 0;
    while index < FORMS.len() {
        let (long, short, _) = FORMS[index];
        all[index] = Padded {
            long: padded(long),
            short: padded(short),
            lengths: (long.len() as u8, short.len() as u8),
        };
        index += 1;
    }
    all
};

impl Token {
    /// The token that a word is, in upper or lower case.
    #[inline]
    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > LONGEST {
            return None;
        }
        let key = key(word);
        let (known, index) = TABLE[slot(key)];
        if known != key {
            return None;
        }
        let (text, token) = *WORDS.get(usize::from(index))?;
        (word.len() <= 3 || same(word, text.as_bytes())).then_some(token)
    }

    /// The form that is easy to read.
    #[inline]
    pub(crate) const fn long(self) -> &'static str {
        FORMS[self as usize].0
    }

    /// The short form.
    #[inline]
    pub(crate) const fn short(self) -> &'static str {
        FORMS[self as usize].1
    }

    /// Adds the form of a layout. A copy of a known length is a few moves; what it has too much is cut off again.
    #[inline]
    pub(crate) fn append_to(self, out: &mut Vec<u8>, long: bool) {
        let start = out.len();
        let form = &PADDED[self as usize];
        if long {
            out.extend_from_slice(&form.long);
            out.truncate(start + usize::from(form.lengths.0));
        } else {
            out.extend_from_slice(&form.short);
            out.truncate(start + usize::from(form.lengths.1));
        }
    }

    /// The first version that has it.
    #[inline]
    pub(crate) const fn since(self) -> u8 {
        FORMS[self as usize].2
    }
}

/// Both forms of every token, as users may ask for them.
pub fn token_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().map(|token| (token.long(), token.short()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_any_case() {
        for &(word, token) in WORDS {
            for text in [word.to_ascii_lowercase(), word.to_ascii_uppercase()] {
                assert_eq!(Token::of(text.as_bytes()), Some(token), "{text}");
            }
            assert_eq!(Token::of(format!("{word}x").as_bytes()).filter(|found| *found == token), None);
        }
        assert_eq!(Token::of(b""), None);
        assert_eq!(Token::of(b"al/of"), None);
    }
}
