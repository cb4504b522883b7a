//! The engine against a reference: the rules for one transaction on each side, written down as plainly as possible, with a
//! list for all tables and a search for all timers. Both get the same random sequences of inputs.

use proptest::prelude::*;

use super::harness::Side;
use tercet_megaco_engine::AckMode;

/// Timers of both: `request_timer` with two retries, long timer, `pending_timer`, `reply_timer`.
const REQUEST: [u64; 3] = [300, 600, 1200];
const LONG: [u64; 2] = [1000, 1000];
const PENDING: u64 = 400;
const REPLY: u64 = 3000;
const SENT_LIMIT: u32 = 2;
const RECV_LIMIT: u32 = 2;

#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    /// Our user asks.
    Ask,
    /// Our user answers.
    Answer(u32),
    /// The peer sends these.
    Request(u32),
    Reply(u32, bool),
    Pending(u32),
    Ack(u32, u32),
}

#[derive(Debug)]
struct Asked {
    id: u32,
    periods: Vec<u64>,
    due: u64,
    is_long: bool,
    pendings: u32,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Executing,
    Answered(String),
    Acked,
    Aborted(String),
}

#[derive(Debug)]
struct Got {
    id: u32,
    stage: Stage,
    pendings: u32,
    arrived: u64,
    together: Option<u64>,
    last_pending: Option<u64>,
    pending_due: Option<u64>,
    forget: Option<u64>,
}

#[derive(Debug, Default)]
struct Model {
    now: u64,
    next: u32,
    asked: Vec<Asked>,
    got: Vec<Got>,
    out: Vec<String>,
}

impl Model {
    fn say(&mut self, text: String) {
        self.out.push(text);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Pass(millis) => self.pass(self.now + millis),
            Step::Ask => {
                self.next += 1;
                let id = self.next;
                let due = self.now + REQUEST[0];
                self.asked.push(Asked {
                    id,
                    periods: REQUEST[1..].to_vec(),
                    due,
                    is_long: false,
                    pendings: 0,
                });
                self.say(format!("T={id}{{C=-{{S=a}}}}"));
            }
            Step::Answer(id) => {
                let Some(place) = self.got.iter().position(|got| got.id == id) else { return };
                let got = &mut self.got[place];
                match got.stage {
                    Stage::Executing => {
                        let ack = if got.pendings > 0 { "IA," } else { "" };
                        let text = format!("P={id}{{{ack}C=-{{S=a}}}}");
                        got.stage = Stage::Answered(text.clone());
                        (got.pending_due, got.together, got.forget) = (None, None, Some(self.now + REPLY));
                        self.say(text);
                    }
                    _ => self.say("swallowed".to_owned()),
                }
            }
            Step::Request(id) => match self.got.iter().position(|got| got.id == id) {
                None => {
                    self.got.push(Got {
                        id,
                        stage: Stage::Executing,
                        pendings: 0,
                        arrived: self.now,
                        together: None,
                        last_pending: None,
                        pending_due: Some(self.now + PENDING),
                        forget: None,
                    });
                    self.say(format!("execute {id}"));
                }
                Some(place) => match &self.got[place].stage {
                    Stage::Executing => {
                        let now = self.now;
                        let got = &mut self.got[place];
                        if got.last_pending.is_none_or(|last| now - last >= 50) {
                            if now - got.arrived >= 5 {
                                self.pending(place);
                            } else if got.together.is_none() {
                                got.together = Some(now + 5);
                            }
                        }
                    }
                    Stage::Answered(text) | Stage::Aborted(text) => {
                        let text = format!("again {text}");
                        self.say(text);
                    }
                    Stage::Acked => {}
                },
            },
            Step::Reply(id, wants_ack) => {
                if wants_ack {
                    self.say(format!("K{{{id}}}"));
                }
                match self.asked.iter().position(|asked| asked.id == id) {
                    Some(place) => {
                        self.asked.remove(place);
                        self.say(format!("result {id} ok"));
                    }
                    None => self.say(format!("unexpected Reply {id}")),
                }
            }
            Step::Pending(id) => {
                let Some(place) = self.asked.iter().position(|asked| asked.id == id) else {
                    return self.say(format!("unexpected Pending {id}"));
                };
                let asked = &mut self.asked[place];
                asked.pendings += 1;
                if asked.pendings > RECV_LIMIT {
                    self.asked.remove(place);
                    return self.say(format!("result {id} PendingLimit"));
                }
                if !asked.is_long {
                    asked.is_long = true;
                    asked.periods = LONG[1..].to_vec();
                    asked.due = self.now + LONG[0];
                } else if !asked.periods.is_empty() {
                    asked.due = self.now + asked.periods.remove(0);
                }
                self.say(format!("pending in {id}"));
            }
            Step::Ack(first, last) => {
                let mut is_known = false;
                for got in &mut self.got {
                    if (first..=last).contains(&got.id) && got.stage != Stage::Executing {
                        is_known = true;
                        got.stage = Stage::Acked;
                    }
                }
                if !is_known && first <= last {
                    self.say(format!("unexpected Ack {first}"));
                }
            }
        }
    }

    fn pending(&mut self, place: usize) {
        let now = self.now;
        let got = &mut self.got[place];
        let id = got.id;
        if got.pendings == SENT_LIMIT {
            let text = format!("P={id}{{ER=506{{\"Number of TransactionPendings exceeded\"}}}}");
            got.stage = Stage::Aborted(text.clone());
            (got.pending_due, got.together, got.forget) = (None, None, Some(now + REPLY));
            self.say(format!("abort {id} 506"));
            return self.say(text);
        }
        got.pendings += 1;
        got.last_pending = Some(now);
        self.say(format!("pending out {id}"));
        self.say(format!("PN={id}{{}}"));
    }

    fn pass(&mut self, until: u64) {
        loop {
            let asked = self.asked.iter().map(|asked| asked.due);
            let got = self.got.iter().flat_map(|got| [got.pending_due, got.together, got.forget]).flatten();
            let Some(due) = asked.chain(got).min().filter(|&due| due <= until) else { break };
            self.now = due;
            let mut place = 0;
            while place < self.asked.len() {
                let asked = &mut self.asked[place];
                if asked.due > due {
                    place += 1;
                    continue;
                }
                let id = asked.id;
                if asked.periods.is_empty() {
                    self.asked.remove(place);
                    self.say(format!("result {id} Timeout"));
                } else {
                    asked.due = due + asked.periods.remove(0);
                    if !asked.is_long {
                        self.say(format!("again T={id}{{C=-{{S=a}}}}"));
                    }
                }
            }
            for place in 0..self.got.len() {
                if self.got[place].pending_due.is_some_and(|at| at <= due) {
                    self.got[place].pending_due = Some(due + PENDING);
                    self.pending(place);
                }
                if self.got[place].together.is_some_and(|at| at <= due) {
                    self.got[place].together = None;
                    if self.got[place].last_pending.is_none() {
                        self.pending(place);
                    }
                }
            }
            self.got.retain(|got| got.forget.is_none_or(|at| at > due));
        }
        self.now = until;
    }
}

fn step() -> impl Strategy<Value = Step> {
    let ours = 1..5_u32;
    let theirs = 11..14_u32;
    prop_oneof![
        4 => prop_oneof![1..60_u64, 100..900_u64, 1000..4000_u64].prop_map(Step::Pass),
        3 => Just(Step::Ask),
        3 => theirs.clone().prop_map(Step::Answer),
        5 => theirs.clone().prop_map(Step::Request),
        2 => (ours.clone(), any::<bool>()).prop_map(|(id, ack)| Step::Reply(id, ack)),
        3 => ours.prop_map(Step::Pending),
        2 => (theirs.clone(), theirs).prop_map(|(first, last)| Step::Ack(first, last)),
    ]
}

fn run(steps: &[Step]) {
    let mut side = Side::new(&[
        ("request_timer", "300ms*2+0x2"),
        ("long_request_timer", "1s*1+0x1"),
        ("pending_timer", "400ms*1+0xinf"),
        ("reply_timer", "3s"),
        ("sent_pending_limit", "2"),
        ("recv_pending_limit", "2"),
    ]);
    let conn = side.connect();
    let mut model = Model::default();
    for (number, step) in steps.iter().enumerate() {
        let mut happened = Vec::new();
        match *step {
            Step::Pass(millis) => {
                let lines = side.run(side.now + millis);
                happened.extend(lines.iter().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())));
            }
            Step::Ask => {
                side.request(conn, "C=-{S=a}");
            }
            Step::Answer(id) => {
                if model.got.iter().any(|got| got.id == id) {
                    _ = side.reply(id, "C=-{S=a}", AckMode::Discard);
                }
            }
            Step::Request(id) => side.receive(&format!("T={id}{{C=-{{S=a}}}}")),
            Step::Reply(id, ack) => {
                side.receive(&format!("P={id}{{{}C=-{{S=a}}}}", if ack { "IA," } else { "" }))
            }
            Step::Pending(id) => side.receive(&format!("PN={id}{{}}")),
            Step::Ack(first, last) => side.receive(&format!("K{{{first}-{last}}}")),
        }
        happened.extend(side.sent());
        happened.extend(side.events());
        model.step(step);
        let mut expected = std::mem::take(&mut model.out);
        // What happens in one step is a set: the order of timers of one tick is the engine's.
        happened.sort();
        expected.sort();
        assert_eq!(happened, expected, "step {number}: {step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_engine_is_as_the_reference(steps in prop::collection::vec(step(), 1..60)) {
        run(&steps);
    }
}
