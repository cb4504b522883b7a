//! What takes requests and replies while their messages are decoded, and keeps what happened in its order.

use super::events;
use super::gateway::Answering;
use super::load::Generator;
use super::registering::hand_off;
use std::collections::VecDeque;
use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, Command, ErrorDescriptor, IntoOwned, MId, TransactionResult};
use tercet_megaco_engine::{
    AckMode, Asked, BEFORE_REGISTRATION, ConnId, Engine, Event, Handler, Replied, ReplyOptions, RequestId,
    Token, registration,
};

/// Answers requests, and queues what is to be written about them.
pub(super) struct Desk {
    pub(super) answers: Answering,
    pub(super) generator: Option<Generator>,
    pub(super) ack: AckMode,
    /// Whether requests take time.
    pub(super) works: bool,
    pub(super) max_version: u8,
    /// The ServiceChange of a gateway that waits for its reply, and the way to the controller.
    pub(super) waiting: Option<(RequestId, ConnId)>,
    /// Whether requests are executed: a gateway that has never been registered answers with an error.
    pub(super) is_open: bool,
    pub(super) happened: VecDeque<Happened>,
}

/// What happened, in its order.
pub(super) enum Happened {
    Event(Event),
    Executed(Executed),
    /// Requests of one message that are answered later.
    Work {
        message: u64,
        conn: ConnId,
        requests: VecDeque<Later>,
    },
    /// A request of ours has its reply: the action replies as compact text.
    Replied {
        transaction: u32,
        texts: Vec<String>,
    },
}

/// A request that was given to this side.
pub(super) struct Executed {
    pub(super) conn: ConnId,
    pub(super) transaction: u32,
    /// The number of its actions.
    pub(super) actions: usize,
    pub(super) registers: bool,
    /// Where it sends a gateway to.
    pub(super) hand_off: Option<MId<'static>>,
}

/// A request that is answered later.
pub(super) struct Later {
    token: Token,
    version: u8,
    actions: List<ActionRequest<'static>>,
}

impl Handler for Desk {
    fn request(&mut self, engine: &mut Engine, asked: Asked<'_, '_>) {
        let Asked { conn, version, token, transaction, actions, .. } = asked;
        if !self.is_open {
            let (code, text) = BEFORE_REGISTRATION;
            let error = ErrorDescriptor { error_code: code, error_text: Some(text.into()) };
            let (now, error) = (engine.now(), TransactionResult::TransactionError(error));
            _ = engine.reply(now, token, error, &ReplyOptions::default());
            return;
        }
        self.happened.push_back(Happened::Executed(Executed {
            conn,
            transaction,
            actions: actions.len(),
            registers: registration(actions).is_some(),
            hand_off: hand_off(actions),
        }));
        if !self.works || changes_service(actions) {
            return self.answer(engine, conn, token, version, actions);
        }
        let message = engine.counters().in_messages;
        let actions = actions.iter().cloned().map(IntoOwned::into_owned).collect();
        let later = Later { token, version, actions };
        // After the lines of all requests of the message.
        let place = self.happened.len().saturating_sub(2);
        match self.happened.get_mut(place) {
            Some(Happened::Work { message: of, requests, .. }) if *of == message => {
                requests.push_back(later);
                self.happened.swap(place, place + 1);
            }
            _ => {
                let requests = VecDeque::from([later]);
                self.happened.push_back(Happened::Work { message, conn, requests });
            }
        }
    }

    fn reply(&mut self, engine: &mut Engine, replied: Replied<'_, '_>) -> bool {
        if let Some(generator) = &mut self.generator
            && generator.replied(replied.request, engine.now(), replied.actions)
        {
            return true;
        }
        if self.waiting.is_some_and(|(waiting, _)| waiting == replied.request) {
            return false;
        }
        let texts = events::action_texts(replied.actions);
        self.happened.push_back(Happened::Replied { transaction: replied.transaction, texts });
        true
    }

    fn event(&mut self, _: &mut Engine, event: Event) {
        self.happened.push_back(Happened::Event(event));
    }
}

impl Desk {
    /// Answers a request that was kept.
    pub(super) fn answer_later(&mut self, engine: &mut Engine, conn: ConnId, later: &Later) {
        self.answer(engine, conn, later.token, later.version, &later.actions);
    }

    fn answer(
        &mut self,
        engine: &mut Engine,
        conn: ConnId,
        token: Token,
        version: u8,
        actions: &[ActionRequest<'_>],
    ) {
        let mut options = ReplyOptions::default();
        options.ack = self.ack;
        let now = engine.now();
        let result = self.answers.answer(now, actions);
        // An aborted request has its answer: other errors mean nothing.
        if let Err(tercet_megaco_engine::Error::Encode(error)) = engine.reply(now, token, result, &options) {
            let text = tercet_megaco::Str::from(error.what);
            let descriptor = ErrorDescriptor { error_code: 500, error_text: Some(text) };
            _ = engine.reply(now, token, TransactionResult::TransactionError(descriptor), &options);
        }
        if let Some(parms) = registration(actions) {
            let asked = parms.service_change_version.unwrap_or(version);
            _ = engine.set_version(conn, asked.clamp(1, self.max_version));
        }
    }
}

/// Whether an action has a ServiceChange.
fn changes_service(actions: &[ActionRequest<'_>]) -> bool {
    let mut commands = actions.iter().flat_map(|action| action.command_requests.iter());
    commands.any(|request| matches!(request.command, Command::ServiceChangeReq(_)))
}
