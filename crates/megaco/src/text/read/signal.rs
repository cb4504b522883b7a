//! Signals.

use crate::list::TokenSet;
use crate::model::{
    NotifyCompletion, SeqSigList, SigParameter, Signal, SignalDirection, SignalRequest, SignalType,
};
use crate::octets::Name;
use crate::text::scan::Scanner;
use crate::text::token::Token;
use crate::{Error, Result};

const ONCE: &str = "each parameter of the signal once";

fn once<T>(slot: &mut Option<T>, value: T, at: usize) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(at, ONCE)),
    }
}

impl<'a> Scanner<'a> {
    /// `signalsDescriptor` behind its token. No brace, and empty braces, are no signals.
    pub(super) fn signals_descriptor(&mut self) -> Result<Vec<SignalRequest<'a>>> {
        let mut signals = Vec::new();
        if !self.accept(b'{') || self.accept(b'}') {
            return Ok(signals);
        }
        loop {
            signals.push(self.signal_request()?);
            if !self.more()? {
                return Ok(signals);
            }
        }
    }

    fn signal_request(&mut self) -> Result<SignalRequest<'a>> {
        let before = *self;
        let word = self.word("a signal, or SignalList")?;
        if self.token_of(word) == Some(Token::SignalList) {
            self.equal()?;
            let id = self.uint16("the id of a list of signals: a number of 16 bits")?;
            self.open()?;
            let mut signal_list = Vec::new();
            loop {
                signal_list.push(self.signal()?);
                if !self.more()? {
                    return Ok(SignalRequest::SeqSigList(SeqSigList { id, signal_list }));
                }
            }
        }
        *self = before;
        self.signal().map(SignalRequest::Signal)
    }

    pub(super) fn signal(&mut self) -> Result<Signal<'a>> {
        let mut signal = Signal { signal_name: self.pkgd_name()?, ..Signal::default() };
        if !self.accept(b'{') {
            return Ok(signal);
        }
        loop {
            let at = self.at;
            let word = self.word("a parameter of the signal")?;
            match self.token_of(word) {
                Some(Token::Stream) => {
                    let stream = self.stream_id()?;
                    once(&mut signal.stream_id, stream, at)?;
                }
                Some(Token::SignalType) => {
                    self.equal()?;
                    let sig_type = self.signal_type()?;
                    once(&mut signal.sig_type, sig_type, at)?;
                }
                Some(Token::Duration) => {
                    self.equal()?;
                    let duration = self.uint16("a duration: a number of 16 bits")?;
                    once(&mut signal.duration, duration, at)?;
                }
                Some(Token::NotifyCompletion) => {
                    self.equal()?;
                    let completion = self.notify_completion()?;
                    once(&mut signal.notify_completion, completion, at)?;
                }
                Some(Token::KeepActive) if matches!(self.peek(), b',' | b'}') => {
                    once(&mut signal.keep_active, true, at)?;
                }
                Some(Token::Direction) => {
                    self.equal()?;
                    let direction = self.signal_direction()?;
                    once(&mut signal.direction, direction, at)?;
                }
                Some(Token::RequestId) if self.version >= 3 => {
                    self.equal()?;
                    let request_id = self.request_id()?;
                    once(&mut signal.request_id, request_id, at)?;
                }
                Some(Token::Intersignal) => {
                    self.equal()?;
                    let delay = self.uint16("a delay: a number of 16 bits")?;
                    once(&mut signal.intersig_delay, delay, at)?;
                }
                _ => {
                    let (value, extra_info) = self.parm_value()?;
                    let sig_parameter_name = Name::borrowed(word);
                    signal.sig_par_list.push(SigParameter { sig_parameter_name, value, extra_info });
                }
            }
            if !self.more()? {
                return Ok(signal);
            }
        }
    }

    fn signal_type(&mut self) -> Result<SignalType> {
        const WHAT: &str = "OnOff, TimeOut or Brief";
        let start = self.at;
        Ok(match self.token(WHAT)? {
            Token::OnOff => SignalType::OnOff,
            Token::TimeOut => SignalType::TimeOut,
            Token::Brief => SignalType::Brief,
            _ => return Err(Error::new(start, WHAT)),
        })
    }

    fn signal_direction(&mut self) -> Result<SignalDirection> {
        const WHAT: &str = "Internal, External or Both";
        let start = self.at;
        Ok(match self.token(WHAT)? {
            Token::Internal => SignalDirection::Internal,
            Token::External => SignalDirection::External,
            Token::Both => SignalDirection::Both,
            _ => return Err(Error::new(start, WHAT)),
        })
    }

    fn notify_completion(&mut self) -> Result<TokenSet<NotifyCompletion>> {
        const WHAT: &str = "TimeOut, IntByEvent, IntBySigDescr, OtherReason or Iteration";
        self.open()?;
        let mut reasons = TokenSet::new();
        loop {
            let start = self.at;
            reasons.insert(match self.token(WHAT)? {
                Token::TimeOut => NotifyCompletion::OnTimeOut,
                Token::IntByEvent => NotifyCompletion::OnInterruptByEvent,
                Token::IntBySigDescr => NotifyCompletion::OnInterruptByNewSignalDescr,
                Token::OtherReason => NotifyCompletion::OtherReason,
                Token::Iteration => NotifyCompletion::OnIteration,
                _ => return Err(Error::new(start, WHAT)),
            });
            if !self.more()? {
                return Ok(reasons);
            }
        }
    }
}
