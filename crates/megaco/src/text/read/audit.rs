//! What audits ask for and find.

use crate::list::TokenSet;
use crate::model::{AuditDescriptor, AuditReturnParameter, AuditToken, TerminationAudit};
use crate::text::scan::Scanner;
use crate::text::token::Token;
use crate::{Error, Result};

impl<'a> Scanner<'a> {
    /// `auditDescriptor` behind its token: `LBRKT [auditItem *(COMMA auditItem)] RBRKT`.
    pub(super) fn audit_descriptor(&mut self) -> Result<AuditDescriptor<'a>> {
        let mut audit = AuditDescriptor::default();
        self.open()?;
        if self.accept(b'}') {
            return Ok(audit);
        }
        loop {
            let start = self.at;
            let token = self.token("a descriptor to audit")?;
            self.audit_item(token, start, &mut audit)?;
            if !self.more()? {
                return Ok(audit);
            }
        }
    }

    /// `auditItem`: a descriptor as a whole, or from version 2 a part of it.
    pub(super) fn audit_item(
        &mut self,
        token: Token,
        at: usize,
        audit: &mut AuditDescriptor<'a>,
    ) -> Result<()> {
        if self.version >= 2 && matches!(self.peek(), b'{' | b'=') {
            let part = self.ind_aud_parameter(token, at)?;
            audit.audit_property_token.get_or_insert_default().push(part);
            return Ok(());
        }
        let token = audit_token(token).ok_or_else(|| Error::new(at, "a descriptor to audit"))?;
        audit.audit_token.get_or_insert_default().insert(token);
        Ok(())
    }

    /// `terminationAudit` behind its brace.
    pub(super) fn termination_audit(&mut self) -> Result<TerminationAudit<'a>> {
        let mut found = TerminationAudit::new();
        let mut empty = TokenSet::new();
        loop {
            let start = self.at;
            let token = self.token("a descriptor")?;
            let follows = self.peek();
            let parameter = match token {
                Token::Media if follows == b'{' => {
                    AuditReturnParameter::MediaDescriptor(self.media_descriptor()?)
                }
                Token::Modem if matches!(follows, b'=' | b'[') => {
                    AuditReturnParameter::ModemDescriptor(Box::new(self.modem_descriptor()?))
                }
                Token::Mux if follows == b'=' => AuditReturnParameter::MuxDescriptor(self.mux_descriptor()?),
                Token::Events => AuditReturnParameter::EventsDescriptor(self.events_descriptor()?),
                Token::Signals => AuditReturnParameter::SignalsDescriptor(self.signals_descriptor()?),
                Token::DigitMap if matches!(follows, b'=' | b'{') => {
                    AuditReturnParameter::DigitMapDescriptor(self.digit_map_descriptor()?)
                }
                Token::ObservedEvents if follows == b'=' => {
                    AuditReturnParameter::ObservedEventsDescriptor(self.observed_events()?)
                }
                Token::EventBuffer => AuditReturnParameter::EventBufferDescriptor(self.event_buffer()?),
                Token::Statistics if follows == b'{' => {
                    AuditReturnParameter::StatisticsDescriptor(self.statistics_descriptor()?)
                }
                Token::Packages if follows == b'{' => {
                    AuditReturnParameter::PackagesDescriptor(self.packages_descriptor()?)
                }
                Token::Error => AuditReturnParameter::ErrorDescriptor(self.error_descriptor()?),
                _ => {
                    // `auditReturnItem`: a descriptor that is empty.
                    let token = audit_token(token).ok_or_else(|| Error::new(start, "a descriptor"))?;
                    empty.insert(token);
                    if !self.more()? {
                        break;
                    }
                    continue;
                }
            };
            // Modems are of version 1; later versions read over them.
            if token != Token::Modem || self.version == 1 {
                found.push(parameter);
            }
            if !self.more()? {
                break;
            }
        }
        if !empty.is_empty() {
            // A set; in the order in which OTP has it, from the last token of the module to the first.
            let mut tokens: Vec<AuditToken> = empty.iter().collect();
            tokens.sort_by(|a, b| b.cmp(a));
            let audit = AuditDescriptor {
                audit_token: Some(tokens.into_iter().collect()),
                audit_property_token: None,
            };
            found.push(AuditReturnParameter::EmptyDescriptors(audit));
        }
        Ok(found)
    }
}

fn audit_token(token: Token) -> Option<AuditToken> {
    Some(match token {
        Token::Mux => AuditToken::MuxToken,
        Token::Modem => AuditToken::ModemToken,
        Token::Media => AuditToken::MediaToken,
        Token::Events => AuditToken::EventsToken,
        Token::Signals => AuditToken::SignalsToken,
        Token::DigitMap => AuditToken::DigitMapToken,
        Token::Statistics => AuditToken::StatsToken,
        Token::ObservedEvents => AuditToken::ObservedEventsToken,
        Token::Packages => AuditToken::PackagesToken,
        Token::EventBuffer => AuditToken::EventBufferToken,
        _ => return None,
    })
}
