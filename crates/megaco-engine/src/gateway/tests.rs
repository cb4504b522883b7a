//! Requests in compact text, and what comes of them.

use std::time::Duration;

use tercet_megaco::List;
use tercet_megaco::binary::Binary;
use tercet_megaco::codec::Encoding;
use tercet_megaco::model::{
    ActionRequest, IntoOwned, Lenient, MId, MessageBody, ServiceChangeMethod, Transaction, TransactionReply,
    TransactionRequest, TransactionResult,
};
use tercet_megaco::text::read_message;

use super::{GatewayOptions, VirtualGateway};
use crate::time::Time;
use crate::wire::Dialect;

fn actions(text: &str) -> List<ActionRequest<'static>> {
    let message = format!("!/3 mgc T=1{{{text}}}");
    match read_message(message.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}")).mess.message_body
    {
        MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) => {
            request.actions.into_owned()
        }
        _ => panic!("{text}"),
    }
}

/// A transaction in compact text, without what is around its actions.
fn shown(transaction: Transaction<'_>) -> String {
    let dialect = Dialect { encoding: Encoding::Compact, version: 3 };
    let octets = dialect
        .message(Binary::standard(), &MId::DeviceName("a".into()), List::One(transaction), &mut Vec::new())
        .unwrap();
    let text = String::from_utf8(octets.to_vec()).unwrap().replace("\r\n", "|").replace('\n', "|");
    let (_, text) = text.split_once("=1{").unwrap();
    text.strip_suffix('}').unwrap().to_owned()
}

struct Gateway {
    gateway: VirtualGateway,
    now: u64,
}

impl Gateway {
    fn new() -> Self {
        let options = GatewayOptions {
            terminations: 3,
            max_in_context: 4,
            // 2026-01-02 03:04:05.
            epoch_millis: 1_767_323_045_000,
            ..GatewayOptions::default()
        };
        Self { gateway: VirtualGateway::new(options), now: 0 }
    }

    fn time(&self) -> Time {
        Time::from_millis(self.now)
    }

    fn ask(&mut self, text: &str) -> String {
        let transaction_result = self.gateway.execute(self.time(), &actions(text));
        for encoding in [Encoding::Ber, Encoding::Per, Encoding::Pretty] {
            let reply = reply(transaction_result.clone());
            let dialect = Dialect { encoding, version: 3 };
            dialect
                .message(Binary::standard(), &MId::DeviceName("a".into()), List::One(reply), &mut Vec::new())
                .unwrap();
        }
        shown(reply(transaction_result))
    }

    /// What the controller is asked.
    fn asks(&mut self) -> Vec<String> {
        let all = std::iter::from_fn(|| self.gateway.poll_request());
        all.map(|actions| {
            let request = TransactionRequest { transaction_id: Lenient(Some(1)), actions };
            shown(Transaction::TransactionRequest(request))
        })
        .collect()
    }

    fn event(&mut self, termination: &str, event: &str) {
        self.gateway.event(self.time(), termination, event, &[]).unwrap();
    }

    /// Lets time pass.
    fn wait(&mut self, millis: u64) {
        let end = self.now + millis;
        while let Some(due) = self.gateway.poll_timeout().map(Time::as_millis).filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.gateway.handle_timeout(self.time());
        }
        self.now = end;
    }
}

fn reply(transaction_result: TransactionResult<'_>) -> Transaction<'_> {
    Transaction::TransactionReply(TransactionReply {
        transaction_id: Lenient(Some(1)),
        imm_ack_required: None,
        transaction_result,
        segment_number: None,
        segmentation_complete: None,
    })
}

#[track_caller]
fn check(gateway: &mut Gateway, all: &[(&str, &str)]) {
    for (request, expected) in all {
        assert_eq!(gateway.ask(request), *expected, "{request}");
    }
}

#[test]
fn contexts_and_terminations() {
    let mut gateway = Gateway::new();
    let all = [
        // A context begins with its first termination and ends with its last one.
        ("C=${A=line1,A=$}", "C=1{A=line1,A=rtp1}"),
        ("C=1{S=rtp1{AT{}}}", "C=1{S=rtp1}"),
        ("C=1{S=line1{AT{}}}", "C=1{S=line1}"),
        ("C=1{A=line1}", "C=1{ER=411{\"The transaction refers to an unknown ContextID\"}}"),
        // Names of terminations.
        ("C=${A=line9}", "C=${A=line9{ER=430{\"Unknown TerminationID\"}}}"),
        ("C=${A=line$}", "C=2{A=line1}"),
        ("C=${A=line1}", "C=${A=line1{ER=433{\"TerminationID is already in a Context\"}}}"),
        ("C=2{MF=line2}", "C=2{MF=line2{ER=435{\"Termination ID is not in specified Context\"}}}"),
        ("C=2{MF=line9}", "C=2{MF=line9{ER=430{\"Unknown TerminationID\"}}}"),
        ("C=2{S=rtp*}", "C=2{S=rtp*{ER=431{\"No TerminationID matched a wildcard\"}}}"),
        ("C=2{A=*}", "C=2{A=line2,A=line3}"),
    ];
    check(&mut gateway, &all);
    let full = gateway.ask("C=2{A=$,A=$}");
    assert!(full.starts_with("C=2{A=rtp2,A=${ER=434{"), "{full}");
    check(
        &mut gateway,
        &[
            ("C=${A=line$}", "C=${A=line${ER=432{\"Out of TerminationIDs or no TerminationID available\"}}}"),
            // Between contexts.
            ("C=${MV=line2}", "C=3{MV=line2}"),
            ("C=3{MV=line3,MV=line1}", "C=3{MV=line3,MV=line1}"),
            ("C=2{S=*{AT{}}}", "C=2{S=rtp2}"),
            ("C=2{A=$}", "C=2{ER=411{\"The transaction refers to an unknown ContextID\"}}"),
            ("C=*{W-S=*{AT{}}}", "C=3{S=*}"),
            ("C=*{S=*}", "C=*{S=*{ER=431{\"No TerminationID matched a wildcard\"}}}"),
            ("C=-{A=line1}", "C=-{A=line1{ER=421{\"Unknown action or illegal combination of actions\"}}}"),
        ],
    );
    assert_eq!(gateway.gateway.contexts().count(), 0);
    assert_eq!(gateway.gateway.terminations(0).collect::<Vec<_>>(), ["line1", "line2", "line3"]);
}

/// The first command that fails ends the request, unless it may fail; what it has begun is undone.
#[test]
fn commands_that_fail() {
    let mut gateway = Gateway::new();
    check(
        &mut gateway,
        &[
            (
                "C=${A=line1,A=line9,A=line2},C=${A=line3}",
                "C=1{A=line1,A=line9{ER=430{\"Unknown TerminationID\"}}}",
            ),
            ("C=1{O-A=line9,A=line2}", "C=1{A=line9{ER=430{\"Unknown TerminationID\"}},A=line2}"),
            (
                "C=1{MF=line1{M{O{MO=SR}},E=1{xx/yy}}}",
                "C=1{MF=line1{ER=440{\"Unsupported or unknown Package\"}}}",
            ),
            ("C=1{AV=line1{AT{M}}}", "C=1{AV=line1{M{TS{SI=IV}}}}"),
            ("C=1{MF=*{E=1{al/xx}}}", "C=1{MF=*{ER=451{\"No such event in this package\"}}}"),
            ("C=1{MF=line1{SG{cg/xx}}}", "C=1{MF=line1{ER=452{\"No such signal in this package\"}}}"),
            ("C=1{MF=line1{M{O{tdmc/xx=1}}}}", "C=1{MF=line1{ER=450{\"No such property in this package\"}}}"),
            (
                "C=1{MF=line1{M{O{tdmc/ec=g165}}}}",
                "C=1{MF=line1{ER=449{\"Unsupported or unknown parameter or property value\"}}}",
            ),
            (
                "C=1{MF=line1{E=1{al/of},E=2{al/on}}}",
                "C=1{MF=line1{ER=448{\"Descriptor appears twice in a command\"}}}",
            ),
            (
                "C=1{MF=line1{E=1{dd/ce{DM=none}}}}",
                "C=1{MF=line1{ER=520{\"Digit Map undefined in the MG\"}}}",
            ),
            (
                "C=-{MF=root{M{TS{root/maxNumberOfContexts=5}}}}",
                "C=-{MF=root{ER=534{\"Illegal write or read-only property\"}}}",
            ),
            ("C=-{N=line3{OE=1{al/of}}}", "C=-{N=line3{ER=443{\"Unsupported or unknown Command\"}}}"),
            ("C=-{AV=line9{AT{M}}}", "C=-{AV=line9{ER=430{\"Unknown TerminationID\"}}}"),
        ],
    );
}

#[test]
fn media_and_statistics() {
    let mut gateway = Gateway::new();
    let local = "L{v=0\nc=IN IP4 $\nm=audio $ RTP/AVP 8\n}";
    assert_eq!(
        gateway.ask(&format!("C=${{A=line1,A=${{M{{O{{MO=SR}},{local}}}}}}}")),
        "C=1{A=line1,A=rtp1{M{L{|v=0|c=IN IP4 127.0.0.1|m=audio 30000 RTP/AVP 8|}}}}"
    );
    check(
        &mut gateway,
        &[(
            "C=1{MF=rtp1{M{R{v=0\nc=IN IP4 192.0.2.1\nm=audio 4000 RTP/AVP 8\n}}},AV=rtp1{AT{M}}}",
            "C=1{MF=rtp1,AV=rtp1{M{TS{SI=IV},O{MO=SR},L{|v=0|c=IN IP4 127.0.0.1|m=audio 30000 RTP/AVP 8|},\
             R{|v=0|c=IN IP4 192.0.2.1|m=audio 4000 RTP/AVP 8|}}}}",
        )],
    );
    gateway.wait(2000);
    check(
        &mut gateway,
        &[
            (
                "C=1{S=rtp1}",
                "C=1{S=rtp1{SA{nt/dur=2000,nt/os=16000,nt/or=16000,rtp/ps=100,rtp/pr=100,rtp/pl=0,rtp/jit=0,rtp/delay=0}}}",
            ),
            (
                "C=1{MF=line1{M{ST=2{O{MO=RC}}}},AV=line1{AT{M{ST=2{O{MO}}}}}}",
                "C=1{MF=line1,AV=line1{M{ST=2{O{MO=RC}}}}}",
            ),
            // A termination that leaves its context is as it was.
            ("C=1{S=line1{AT{}}},C=-{AV=line1{AT{M,SA,E}}}", "C=1{S=line1},C=-{AV=line1{M{TS{SI=IV}},SA,E}}"),
        ],
    );
}

#[test]
fn audits() {
    let mut gateway = Gateway::new();
    check(
        &mut gateway,
        &[
            (
                "C=-{AV=root{AT{M,PG}}}",
                "C=-{AV=root{M{TS{root/maxnumberofcontexts=10000,root/maxterminationspercontext=4,SI=IV}},PG{g-1,root-2,it-1}}}",
            ),
            ("C=-{AV=*{AT{}}}", "C=-{AV=C{line1,line2,line3}}"),
            ("C=*{AV=*{AT{}}}", "C=-{AV=C{line1,line2,line3}}"),
            ("C=${A=line1,A=$},C=${A=line2}", "C=1{A=line1,A=rtp1},C=2{A=line2}"),
            ("C=*{AV=*{AT{}}}", "C=-{AV=C{line3}},C=1{AV=C{line1,rtp1}},C=2{AV=C{line2}}"),
            // All contexts, and the context of a termination.
            ("C=*{AV=root{AT{}}}", "C=1,C=2"),
            ("C=*{AV=line2{AT{}}}", "C=2{AV=line2}"),
            ("C=1{AV=line*{AT{PG}}}", "C=1{AV=line1{PG{g-1,tonegen-1,tonedet-1,cg-1,dg-1,dd-1,al-1,nt-1}}}"),
            (
                "C=1{MF=line1{E=5{al/of,al/fl},SG{cg/dt}},AV=line1{AT{E,SG}}}",
                "C=1{MF=line1,AV=line1{E=5{al/of,al/fl},SG{cg/dt}}}",
            ),
            ("C=1{AV=line1{AT{E=5{al/fl}}}}", "C=1{AV=line1{E=5{al/fl}}}"),
            (
                "C=1{AV=line1{AT{SG{cg/bt}}}}",
                "C=1{AV=line1{ER=532{\"Audited Property, Statistic, Event or Signal does not exist\"}}}",
            ),
            ("C=1{PR=3,TP{line1,rtp1,OW},MF=line1}", "C=1{MF=line1}"),
            ("C=1{CA{PR,TP}}", "C=1{PR=3,TP{line1,rtp1,OW}}"),
            (
                "C=1{TP{line1,line2,OW},MF=line1}",
                "C=1{MF=line1,ER=435{\"Termination ID is not in specified Context\"}}",
            ),
            ("C=1{S=rtp1{AT{}}},C=1{CA{TP,PR}}", "C=1{S=rtp1},C=1{PR=3}"),
        ],
    );
}

#[test]
fn events_and_signals() {
    let mut gateway = Gateway::new();
    check(
        &mut gateway,
        &[("C=-{MF=line1{E=7{al/of{EM{SG{cg/dt},E=8{al/on}}}},SG{al/ri}}}", "C=-{MF=line1}")],
    );
    gateway.event("line1", "al/on");
    assert!(gateway.asks().is_empty(), "not asked for");
    gateway.event("line1", "al/of");
    assert_eq!(gateway.asks(), ["C=-{N=line1{OE=7{20260102T03040500:al/of}}}"]);
    check(
        &mut gateway,
        &[(
            "C=-{AV=line1{AT{E,SG,OE}}}",
            "C=-{AV=line1{E=8{al/on},SG{cg/dt},OE=7{20260102T03040500:al/of}}}",
        )],
    );
    gateway.wait(60);
    gateway.event("line1", "al/on");
    assert_eq!(gateway.asks(), ["C=-{N=line1{OE=8{20260102T03040506:al/on}}}"]);
    // The event has ended the signal.
    check(&mut gateway, &[("C=-{AV=line1{AT{SG}}}", "C=-{AV=line1{SG}}")]);

    // The end of a signal, by its time, by another one, by an event.
    gateway.ask("C=-{MF=line2{E=9{g/sc,al/of},SG{al/ri{DR=20,NC={TO,IBS,IBE}}}}}");
    gateway.wait(300);
    assert_eq!(gateway.asks(), ["C=-{N=line2{OE=9{20260102T03040526:g/sc{sigid=al/ri,meth=TO}}}}"]);
    gateway.ask("C=-{MF=line2{SG{al/ri{NC={IBS,IBE}}}}}");
    gateway.ask("C=-{MF=line2{SG{cg/dt{NC={IBE}}}}}");
    assert_eq!(gateway.asks(), ["C=-{N=line2{OE=9{20260102T03040536:g/sc{sigid=al/ri,meth=SD}}}}"]);
    gateway.event("line2", "al/of");
    let told = gateway.asks();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("g/sc{sigid=cg/dt,meth=EV}"), "{told:?}");

    // A list: one after the other.
    gateway.ask("C=-{MF=line3{SG{SL=4{al/ri{DR=10},cg/bt{DR=10}}}}}");
    gateway.wait(150);
    check(&mut gateway, &[("C=-{AV=line3{AT{SG}}}", "C=-{AV=line3{SG{SL=4{cg/bt{DR=10}}}}}")]);
    gateway.wait(100);
    check(&mut gateway, &[("C=-{AV=line3{AT{SG}}}", "C=-{AV=line3{SG}}")]);
}

#[test]
fn events_in_lock_step() {
    let mut gateway = Gateway::new();
    gateway.ask("C=-{MF=line1{M{TS{BF=LOCKSTEP}},E=1{al/*}}}");
    for event in ["al/of", "al/fl", "al/on"] {
        gateway.event("line1", event);
    }
    assert_eq!(gateway.asks().len(), 1);
    gateway.ask("C=-{MF=line1{E=2{al/*}}}");
    let told = gateway.asks();
    assert!(told.len() == 1 && told[0].contains("OE=2{") && told[0].contains("al/fl"), "{told:?}");
    gateway.ask("C=-{MF=line1{E=3{al/of}}}");
    assert!(gateway.asks().is_empty(), "al/on is not asked for");
}

#[test]
fn digits() {
    let mut gateway = Gateway::new();
    gateway.ask("C=-{MF=line1{DM=plan{T:5,S:2,L:3,(0|1xx|9x.)},E=1{dd/ce{DM=plan}}}}");
    for digit in "123".chars() {
        gateway.gateway.digit(gateway.time(), "line1", digit).unwrap();
    }
    assert_eq!(gateway.asks(), ["C=-{N=line1{OE=1{20260102T03040500:dd/ce{ds=\"123\",meth=UM}}}}"]);
    // The map of another termination, known by its name; a number that may go on.
    gateway.ask("C=-{MF=line2{E=2{dd/ce{DM=plan}}}}");
    for digit in "90".chars() {
        gateway.gateway.digit(gateway.time(), "line2", digit).unwrap();
    }
    assert!(gateway.asks().is_empty());
    gateway.wait(2500);
    assert_eq!(gateway.asks(), ["C=-{N=line2{OE=2{20260102T03040700:dd/ce{ds=\"90\",meth=FM}}}}"]);
    // Nothing is dialled, or something that fits nowhere.
    gateway.ask("C=-{MF=line3{E=3{dd/ce{DM={(12)}}}}}");
    gateway.wait(20_000);
    assert!(gateway.asks()[0].contains("meth=PM"));
    gateway.ask("C=-{MF=line3{E=3{dd/ce{DM={(12)}}}}}");
    for digit in "17".chars() {
        gateway.gateway.digit(gateway.time(), "line3", digit).unwrap();
    }
    assert!(gateway.asks()[0].contains("ds=\"17\",meth=PM"));
    // A map without a value removes it.
    check(
        &mut gateway,
        &[
            ("C=-{MF=line1{DM=plan}}", "C=-{MF=line1}"),
            (
                "C=-{MF=line2{E=2{dd/ce{DM=plan}}}}",
                "C=-{MF=line2{ER=520{\"Digit Map undefined in the MG\"}}}",
            ),
        ],
    );
}

#[test]
fn changes_of_service() {
    let mut gateway = Gateway::new();
    let graceful = |gateway: &mut Gateway, method, delay| {
        let delay = Duration::from_secs(delay);
        gateway.gateway.change_service(gateway.time(), "line1", method, delay).unwrap();
        gateway.asks()
    };
    let told = graceful(&mut gateway, ServiceChangeMethod::Graceful, 5);
    assert_eq!(told, ["C=-{SC=line1{SV{MT=GR,RE=\"905 Termination Taken Out Of Service\",DL=5}}}"]);
    gateway.wait(4000);
    let told = graceful(&mut gateway, ServiceChangeMethod::Restart, 0);
    assert_eq!(told, ["C=-{SC=line1{SV{MT=RS,RE=\"918 Cancel Graceful\"}}}"]);
    gateway.wait(4000);
    check(&mut gateway, &[("C=-{AV=line1{AT{M}}}", "C=-{AV=line1{M{TS{SI=IV}}}}")]);
    graceful(&mut gateway, ServiceChangeMethod::Graceful, 5);
    gateway.wait(5000);
    check(
        &mut gateway,
        &[
            ("C=-{AV=line1{AT{M}}}", "C=-{AV=line1{M{TS{SI=OS}}}}"),
            ("C=${A=line1}", "C=${A=line1{ER=503{\"Service unavailable\"}}}"),
            // The controller takes it back, and another one out.
            ("C=-{SC=line1{SV{MT=RS,RE=\"900\"}},SC=line2{SV{MT=FO,RE=\"905\"}}}", "C=-{SC=line1,SC=line2}"),
            ("C=-{AV=line1{AT{M}},AV=line2{AT{M}}}", "C=-{AV=line1{M{TS{SI=IV}}},AV=line2{M{TS{SI=OS}}}}"),
            ("C=-{SC=ROOT{SV{MT=HO,RE=\"903\",V=3}}}", "C=-{SC=root{SV{V=3}}}"),
        ],
    );
}

#[test]
fn the_root_package_configures_the_engine() {
    let mut gateway = Gateway::new();
    assert!(!gateway.gateway.take_configured());
    gateway.ask("C=-{MF=root{M{TS{root/normalMGCExecutionTime=200,root/MGProvisionalResponseTimerValue=300,root/MGCOriginatedPendingLimit=5,root/MGOriginatedPendingLimit=6}}}}");
    assert!(gateway.gateway.take_configured());
    let mut items = crate::Items::default();
    gateway.gateway.configure(&mut items);
    for (name, value) in [
        ("request_timer", "200ms*2+0xinf"),
        ("pending_timer", "300ms*1+0xinf"),
        ("recv_pending_limit", "5"),
        ("sent_pending_limit", "6"),
    ] {
        assert_eq!(items.value(name).as_deref(), Some(value), "{name}");
    }
}

/// H.248.14: the controller asks to be notified of its own silence.
#[test]
fn silence_of_the_controller() {
    use crate::items::Items;
    use crate::time::Period;
    let mut gateway = Gateway::new();
    let idle = |gateway: &mut Gateway| {
        let mut items = Items::default();
        assert!(gateway.gateway.take_configured());
        gateway.gateway.configure(&mut items);
        items.idle_timer
    };
    gateway.gateway.controller_is_silent(gateway.time());
    assert_eq!(gateway.asks(), [""; 0], "nobody has asked for it");
    for (request, expected) in [
        ("C=-{MF=root{E=1199{it/ito{mit=2100}}}}", Period::millis(21_000)),
        ("C=-{MF=root{E=7{it/ito}}}", Period::millis(120_000)),
    ] {
        assert_eq!(gateway.ask(request), "C=-{MF=root}");
        assert_eq!(idle(&mut gateway), expected, "{request}");
    }
    gateway.gateway.controller_is_silent(gateway.time());
    assert_eq!(gateway.asks(), ["C=-{N=root{OE=7{20260102T03040500:it/ito}}}"]);
    gateway.ask("C=-{MF=root{E}}");
    assert_eq!(idle(&mut gateway), Period::INFINITE);
    gateway.gateway.controller_is_silent(gateway.time());
    assert_eq!(gateway.asks(), [""; 0]);
}
