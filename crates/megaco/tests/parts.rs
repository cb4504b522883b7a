//! Parts of messages: what is encoded in parts is what is encoded as a whole; and the begin of broken messages.

use tercet_megaco::binary::{Binary, Rules};
use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::{Command, MId, MegacoMessage, MessageBody, Transaction, TransactionResult};
use tercet_megaco::parts::{Around, Form, Part, join, write};
use tercet_megaco::text::{Layout, read_message};

const MESSAGES: &[&str] = &[
    "!/1 <mgc.example>:2944 T=1{C=${A=${M{O{MO=SR,nt/jit=40},L{\nv=0\nm=audio $ RTP/AVP 0\n}},E=1{al/of}},S=root},C=-{S=root}}\
     T=4294967295{C=*{S=root{AT{M,E}}}}",
    "!/2 [192.0.2.1]:5 P=128{IA,C=1{S=root{SA{nt/os=1}},A=root{M{O{MO=RC}}}}}P=5{C=1{MF=root}}PN=4{}K{1,2-9}",
    "!/3 [2001:DB8::1] T=65536{C=7{W-MF=root{SG{cg/dt},DM=dialplan00},MV=*}}",
    "!/3 mg1 SM=1/2/END\nSM=1/3\nPN=7{}",
];

/// Encodes in one form.
struct Whole(Form<'static>, u8);

impl Whole {
    fn part(&self, part: Part<'_, '_>) -> Vec<u8> {
        let mut out = Vec::new();
        write(part, self.0, self.1, &mut out).unwrap_or_else(|error| panic!("{error}: {part:?}"));
        out
    }

    fn around(&self, around: Around<'_>, parts: &[Vec<u8>]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        join(around, parts, self.0, self.1, &mut out).unwrap_or_else(|error| panic!("{error}: {around:?}"));
        out.split_off(6)
    }

    /// A message from its smallest parts.
    fn message(&self, message: &MegacoMessage<'_>) -> Vec<u8> {
        let MessageBody::Transactions(transactions) = &message.mess.message_body else { panic!() };
        let transactions: Vec<_> =
            transactions.iter().map(|transaction| self.transaction(transaction)).collect();
        self.around(Around::Message(&message.mess.m_id), &transactions)
    }

    fn transaction(&self, transaction: &Transaction<'_>) -> Vec<u8> {
        let whole = self.part(Part::Transaction(transaction));
        let joined = match transaction {
            Transaction::TransactionRequest(request) => {
                let actions = request.actions.iter().map(|action| {
                    let whole = self.part(Part::ActionRequest(action));
                    let commands: Vec<_> =
                        action.command_requests.iter().map(|command| self.command(command)).collect();
                    assert_eq!(self.around(Around::Context(action.context_id), &commands), whole);
                    whole
                });
                self.around(Around::Request(request.transaction_id.unwrap()), &actions.collect::<Vec<_>>())
            }
            Transaction::TransactionReply(reply) => {
                let TransactionResult::ActionReplies(actions) = &reply.transaction_result else { panic!() };
                let actions: Vec<_> = actions
                    .iter()
                    .map(|action| {
                        let whole = self.part(Part::ActionReply(action));
                        let commands = action.command_reply.iter();
                        let commands: Vec<_> =
                            commands.map(|command| self.part(Part::CommandReply(command))).collect();
                        assert_eq!(self.around(Around::Context(action.context_id), &commands), whole);
                        whole
                    })
                    .collect();
                let (id, immediate_ack) = (reply.transaction_id.unwrap(), reply.imm_ack_required.is_some());
                self.around(Around::Reply { id, immediate_ack }, &actions)
            }
            _ => whole.clone(),
        };
        assert_eq!(joined, whole, "{}\n{}", joined.escape_ascii(), whole.escape_ascii());
        whole
    }

    fn command(&self, command: &tercet_megaco::model::CommandRequest<'_>) -> Vec<u8> {
        let whole = self.part(Part::CommandRequest(command));
        let (around, request) = match &command.command {
            Command::AddReq(request) => (Around::Add(&request.termination_id[0]), request),
            Command::MoveReq(request) => (Around::Move(&request.termination_id[0]), request),
            Command::ModReq(request) => (Around::Modify(&request.termination_id[0]), request),
            _ => return whole,
        };
        if command.wildcard_return.is_none() {
            let descriptors = request.descriptors.iter();
            let descriptors: Vec<_> = descriptors.map(|one| self.part(Part::Descriptor(one))).collect();
            assert_eq!(self.around(around, &descriptors), whole, "{}", whole.escape_ascii());
        }
        whole
    }
}

#[test]
fn parts_make_the_whole_octet_for_octet() {
    let forms = [
        ("pretty", Form::Text(Layout::Pretty)),
        ("compact", Form::Text(Layout::Compact)),
        ("ber", Form::Ber(Binary::standard())),
    ];
    for text in MESSAGES {
        let message = read_message(text.as_bytes()).unwrap();
        for (name, form) in forms {
            let joined = Whole(form, message.mess.version).message(&message);
            let mut whole = Vec::new();
            Encoding::named(name).unwrap().encode(&message, &mut whole).unwrap();
            assert_eq!(joined, whole, "{name}\n{}\n{}", joined.escape_ascii(), whole.escape_ascii());
        }
    }
    // Lengths of two and three octets.
    let message = read_message(MESSAGES[2].as_bytes()).unwrap();
    let whole = Whole(Form::Ber(Binary::standard()), 3);
    let MessageBody::Transactions(transactions) = &message.mess.message_body else { panic!() };
    let transaction = whole.part(Part::Transaction(&transactions[0]));
    for count in [1, 2, 3, 10, 2000] {
        let joined = whole.around(Around::Message(&message.mess.m_id), &vec![transaction.clone(); count]);
        let again = Encoding::Ber.decode(&joined).unwrap();
        let MessageBody::Transactions(found) = &again.mess.message_body else { panic!() };
        assert_eq!(found.len(), count);
    }
}

#[test]
fn parts_that_cannot_be() {
    let sender = MId::DeviceName("mg".into());
    for form in [Form::Text(Layout::Pretty), Form::Ber(Binary::standard())] {
        let none: [&[u8]; 0] = [];
        for around in [Around::Message(&sender), Around::Request(1), Around::Context(1)] {
            assert!(join(around, &none, form, 1, &mut Vec::new()).is_err());
        }
        assert!(join(Around::Add(&"root".into()), &none, form, 1, &mut Vec::new()).is_ok());
        assert!(join(Around::Request(1), &[b"C=1{}"], form, 4, &mut Vec::new()).is_err());
        // A part of version 3 in version 2.
        let segment = read_message(b"!/3 a SM=1/2").unwrap();
        let MessageBody::Transactions(transactions) = &segment.mess.message_body else { panic!() };
        if matches!(form, Form::Text(_)) {
            assert!(write(Part::Transaction(&transactions[0]), form, 2, &mut Vec::new()).is_err());
        }
    }
    assert!(
        join(
            Around::Add(&"no bits, no name".into()),
            &[b""],
            Form::Ber(Binary::standard()),
            1,
            &mut Vec::new()
        )
        .is_err()
    );
}

/// Version and sender come out of a message as soon as they are there, whatever follows.
#[test]
fn version_and_sender_of_broken_messages() {
    for text in [
        "!/1 <mgc.example>:2944 T=1{C=1{S=root}}",
        "AU=0x00000001:0x00000002:0x000102030405060708090a0b0c0d !/2 [192.0.2.1] T=1{C=1{S=root}}",
        "!/3 [2001:DB8::1]:9 T=1{C=1{S=root}}",
        "!/3 MTP{12345678} PN=1{}",
        "!/2 device/name@7 PN=1{}",
    ] {
        let message = read_message(text.as_bytes()).unwrap();
        let expected = (message.mess.version, message.mess.m_id.clone());
        for name in ["compact", "pretty", "ber", "per", "etf", "json"] {
            let encoding = Encoding::named(name).unwrap();
            let mut octets = Vec::new();
            encoding.encode(&message, &mut octets).unwrap();
            let found: Vec<bool> = (0..=octets.len())
                .map(|length| match encoding.decode_version_and_mid(&octets[..length]) {
                    Ok(found) => {
                        // Text may break off in the sender, which nobody sees.
                        assert!(
                            found == expected || encoding.name().ends_with(['t', 'y']),
                            "{name} {length}"
                        );
                        true
                    }
                    Err(error) => {
                        assert!(error.at <= length, "{name} {length}: {error}");
                        false
                    }
                })
                .collect();
            let first = found.iter().rposition(|found| !found).unwrap() + 1;
            let is_text = matches!(name, "compact" | "pretty");
            assert!(is_text || !found[..first].contains(&true), "{name}: once there, it stays there");
            // Every prefix of a port is one.
            let head = octets
                .windows(2)
                .position(|octets| octets[0] == b'\n' && octets[1] != b'!' && octets[1] != b'M');
            let first = if is_text { head.unwrap() } else { first };
            // What follows: at least a transaction's id and what is around it.
            assert!(first + 3 <= octets.len(), "{name}: {first} of {}", octets.len());
            assert!(encoding.decode(&octets[..octets.len() - 1]).is_err(), "{name}");
            for octet in &mut octets[first + 1..] {
                *octet = b'~';
            }
            assert!(encoding.decode(&octets).is_err());
            if name != "ber" {
                assert_eq!(encoding.decode_version_and_mid(&octets).unwrap().0, expected.0, "{name}");
            }
        }
    }
    // The forms of lengths in BER, and one that is not there.
    for (octets, is_there) in [
        (&b"\x30\x80\xa1\x80\x80\x01\x01\xa1\x80\x83\x02mg\0\0"[..], true),
        (b"\x30\x80\xa0\x80\x80\x04abcd\x81\x04abcd\x82\x0cabcdefghijkl\0\0\xa1\x80\x80\x01\x02\xa1\x04\x83\x02mg", true),
        (b"\x30\x84\xff\xff\xff\xff\xa1\x83\xff\xff\xff\x80\x01\x03\xa1\x04\x83\x02mg", true),
        (b"\x30\x80\xa1\x80\x80\x01\x63\xa1\x04\x83\x02mg", true),
        (b"\x30\x80\xa1\x80\x80\x01\x64\xa1\x04\x83\x02mg", false),
        (b"\x30\x80\xa1\x80\x80\x01\x01\xa1\x04\x83\x03mg", false),
        (b"\x30\x80\xa0\x84\xff\xff\xff\xff\xa1\x80\x80\x01\x01", false),
        (b"\x30\x85\x01", false),
        (b"\x31\x00", false),
        (b"", false),
    ] {
        let found = tercet_megaco::binary::read_version_and_mid(octets, Rules::Ber);
        assert_eq!(found.is_ok(), is_there, "{found:?}");
    }
    // Of versions that nobody knows, too.
    assert_eq!(Encoding::Pretty.decode_version_and_mid(b"MEGACO/17 mg T=1{").unwrap().0, 17);
    assert!(Encoding::Pretty.decode(b"MEGACO/17 mg PN=1{}").is_err());
}
