//! Rules for passwords (draft-behera-ldap-password-policy-10): length, history, age, and locks after wrong ones.

use std::str::FromStr;
use std::time::Duration;

use super::entry::{Stored, now, timestamp};
use super::password;
use super::store::Done;
use crate::controls::PasswordPolicy;
use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::ldif::{Change, ModificationKind, Reader, RecordModification};
use crate::proto::control::encoded;
use crate::proto::{Control, LdapResult, ResponseControl as _, ResultCode};

/// Rules for passwords of entries; the root user has none.
#[derive(Clone, Debug)]
pub struct PasswordRules {
    min_age: u64,
    max_age: u64,
    in_history: usize,
    check_quality: u64,
    min_length: usize,
    max_length: usize,
    expire_warning: u64,
    grace_limit: usize,
    lockout: bool,
    lockout_duration: u64,
    max_failure: usize,
    failure_interval: u64,
    must_change: bool,
    allow_user_change: bool,
    safe_modify: bool,
}

impl Default for PasswordRules {
    fn default() -> Self {
        Self {
            min_age: 0,
            max_age: 0,
            in_history: 0,
            check_quality: 0,
            min_length: 0,
            max_length: 0,
            expire_warning: 0,
            grace_limit: 0,
            lockout: false,
            lockout_duration: 0,
            max_failure: 0,
            failure_interval: 0,
            must_change: false,
            allow_user_change: true,
            safe_modify: false,
        }
    }
}

/// Attributes in which entries keep what the rules need; shown as attributes of the directory are.
pub(super) const STATE: [&str; 6] = [CHANGED, LOCKED, FAILURES, HISTORY, GRACE, RESET];
const CHANGED: &str = "pwdChangedTime";
const LOCKED: &str = "pwdAccountLockedTime";
const FAILURES: &str = "pwdFailureTime";
const HISTORY: &str = "pwdHistory";
const GRACE: &str = "pwdGraceUseTime";
const RESET: &str = "pwdReset";

/// Checks whether an attribute is one of [`STATE`].
pub(super) fn is_state(name: &str) -> bool {
    STATE.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Checks whether an attribute is about wrong passwords.
pub(super) fn is_failure(name: &str) -> bool {
    name.eq_ignore_ascii_case(FAILURES) || name.eq_ignore_ascii_case(LOCKED)
}

/// Checks whether an attribute is the time of the last change of the password.
pub(super) fn is_time_of_change(name: &str) -> bool {
    name.eq_ignore_ascii_case(CHANGED)
}

/// Errors of the control (draft-behera 6.2).
const EXPIRED: u8 = 0;
const ACCOUNT_LOCKED: u8 = 1;
const CHANGE_AFTER_RESET: u8 = 2;
const NOT_ALLOWED: u8 = 3;
const MUST_SUPPLY_OLD: u8 = 4;
const QUALITY: u8 = 5;
const TOO_SHORT: u8 = 6;
const TOO_YOUNG: u8 = 7;
const IN_HISTORY: u8 = 8;

impl FromStr for PasswordRules {
    type Err = Error;

    /// Reads an entry in LDIF with the attributes of `pwdPolicy`, such as `pwdMinLength` and `pwdMaxFailure`.
    ///
    /// # Errors
    /// The LDIF is malformed, or an attribute is unknown or has no value of its kind.
    fn from_str(text: &str) -> Result<Self> {
        let fault = |message: String| Error::new(ErrorKind::Syntax, message);
        let mut records = Reader::new(text.as_bytes());
        let record = records.record()?.ok_or_else(|| fault("password policy: no entry".to_owned()))?;
        let Change::Add(attributes) = record.change else {
            return Err(fault("password policy: an entry expected, not a change".to_owned()));
        };
        let mut rules = Self::default();
        for (name, values) in attributes {
            let value = values.first().map(|value| String::from_utf8_lossy(value).into_owned());
            let value = value.unwrap_or_default();
            let number =
                || value.parse::<u64>().map_err(|_| fault(format!("{name}: `{value:.100}` is not a number")));
            let count = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            let truth = || match value.to_ascii_uppercase().as_str() {
                "TRUE" => Ok(true),
                "FALSE" => Ok(false),
                _ => Err(fault(format!("{name}: `{value:.100}` is not TRUE or FALSE"))),
            };
            match name.to_ascii_lowercase().as_str() {
                "pwdminage" => rules.min_age = number()?,
                "pwdmaxage" => rules.max_age = number()?,
                "pwdinhistory" => rules.in_history = count()?,
                "pwdcheckquality" => rules.check_quality = number()?,
                "pwdminlength" => rules.min_length = count()?,
                "pwdmaxlength" => rules.max_length = count()?,
                "pwdexpirewarning" => rules.expire_warning = number()?,
                "pwdgraceauthnlimit" => rules.grace_limit = count()?,
                "pwdlockout" => rules.lockout = truth()?,
                "pwdlockoutduration" => rules.lockout_duration = number()?,
                "pwdmaxfailure" => rules.max_failure = count()?,
                "pwdfailurecountinterval" => rules.failure_interval = number()?,
                "pwdmustchange" => rules.must_change = truth()?,
                "pwdallowuserchange" => rules.allow_user_change = truth()?,
                "pwdsafemodify" => rules.safe_modify = truth()?,
                // What makes the entry one.
                "objectclass" | "cn" | "pwdattribute" | "description" => {}
                _ => return Err(fault(format!("password policy: unknown attribute `{name:.100}`"))),
            }
        }
        Ok(rules)
    }
}

/// Microseconds of a GeneralizedTime in UTC as [`timestamp`] writes it.
fn micros(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let part = |at: std::ops::Range<usize>| whole.get(at)?.parse::<u64>().ok();
    let (year, month, day) = (part(0..4)?, part(4..6)?, part(6..8)?);
    let seconds = part(8..10)? * 3600 + part(10..12)? * 60 + part(12..14)?;
    // Days since 1970, by eras of 400 years that begin in March.
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let days = (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)?;
    let fraction: u64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some((days * 86_400 + seconds) * 1_000_000 + fraction)
}

fn time(stored: &Stored, name: &str) -> Option<u64> {
    stored.values(name).next().and_then(micros)
}

fn replace(name: &str, values: Vec<Vec<u8>>) -> RecordModification {
    RecordModification { kind: ModificationKind::Replace, attribute: name.to_owned(), values }
}

/// Returns the control with which the rules answer.
pub(super) fn control(answer: &PasswordPolicy) -> Control {
    let PasswordPolicy { expires_in, grace_logins, error, .. } = *answer;
    let warning = match (expires_in, grace_logins) {
        (Some(seconds), _) => Some(asn1::PasswordPolicyWarning::TimeBeforeExpiration(seconds)),
        (None, Some(count)) => Some(asn1::PasswordPolicyWarning::GraceAuthNsRemaining(count)),
        (None, None) => None,
    };
    Control::new(PasswordPolicy::OID).with_value(encoded(&asn1::PasswordPolicy { warning, error }))
}

fn refusal(code: ResultCode, error: u8) -> LdapResult {
    let answer = PasswordPolicy { error: Some(error), ..PasswordPolicy::default() };
    let message = answer.error_text().unwrap_or_default();
    // Why a bind fails is for the control alone.
    let message = if code == ResultCode::INVALID_CREDENTIALS { "" } else { message };
    let result = LdapResult::new(code).with_message(message);
    LdapResult { controls: vec![control(&answer)], ..result }
}

/// What a good bind has come to.
#[derive(Debug)]
pub(super) struct Accepted {
    /// What changes in the entry.
    pub(super) state: Vec<RecordModification>,
    pub(super) answer: PasswordPolicy,
    pub(super) must_change: bool,
}

/// What a new password has come to.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// What changes in the entry beside the password.
    pub(super) state: Vec<RecordModification>,
}

/// A password that is to be changed.
#[derive(Debug)]
pub(super) struct New<'n> {
    pub(super) password: &'n [u8],
    /// The old one, as far as the client knows it.
    pub(super) has_old: bool,
    /// Whether the user changes it, and not somebody else.
    pub(super) by_user: bool,
}

impl PasswordRules {
    /// Checks that an account is not locked.
    ///
    /// # Errors
    /// invalidCredentials (49).
    pub(super) fn check_lock(&self, stored: &Stored) -> Done {
        let Some(locked) = time(stored, LOCKED) else { return Ok(()) };
        let end = locked.saturating_add(self.lockout_duration.saturating_mul(1_000_000));
        if self.lockout && (self.lockout_duration == 0 || now() < end) {
            return Err(refusal(ResultCode::INVALID_CREDENTIALS, ACCOUNT_LOCKED));
        }
        Ok(())
    }

    /// Returns what changes in an entry after a wrong password.
    pub(super) fn failed(&self, stored: &Stored) -> Vec<RecordModification> {
        if self.max_failure == 0 {
            return Vec::new();
        }
        let now = now();
        let since = match self.failure_interval {
            0 => 0,
            seconds => now.saturating_sub(seconds.saturating_mul(1_000_000)),
        };
        let is_recent = |value: &&[u8]| micros(value).is_some_and(|time| time >= since);
        let mut failures: Vec<Vec<u8>> =
            stored.values(FAILURES).filter(is_recent).map(<[u8]>::to_vec).collect();
        failures.push(timestamp(now, true).into_bytes());
        let is_locked = self.lockout && failures.len() >= self.max_failure;
        // No more than have to be counted are kept.
        let surplus = failures.len().saturating_sub(self.max_failure);
        failures.drain(..surplus);
        let mut state = vec![replace(FAILURES, failures)];
        if is_locked {
            state.push(replace(LOCKED, vec![timestamp(now, false).into_bytes()]));
        }
        state
    }

    /// Decides about a bind with the right password.
    ///
    /// # Errors
    /// invalidCredentials (49): it has expired.
    pub(super) fn succeeded(&self, stored: &Stored) -> Done<Accepted> {
        let now = now();
        let mut answer = PasswordPolicy::default();
        let mut state = Vec::new();
        for name in [FAILURES, LOCKED] {
            if stored.values(name).next().is_some() {
                state.push(replace(name, Vec::new()));
            }
        }
        let must_change = self.must_change
            && stored.values(RESET).next().is_some_and(|value| value.eq_ignore_ascii_case(b"TRUE"));
        if must_change {
            answer.error = Some(CHANGE_AFTER_RESET);
            return Ok(Accepted { state, answer, must_change });
        }
        let Some(changed) = time(stored, CHANGED).filter(|_| self.max_age > 0) else {
            return Ok(Accepted { state, answer, must_change });
        };
        let end = changed.saturating_add(self.max_age.saturating_mul(1_000_000));
        if let Some(left) = end.checked_sub(now).filter(|left| *left > 0) {
            let seconds = Duration::from_micros(left).as_secs();
            if seconds <= self.expire_warning {
                answer.expires_in = u32::try_from(seconds).ok();
            }
            return Ok(Accepted { state, answer, must_change });
        }
        let mut used: Vec<Vec<u8>> = stored.values(GRACE).map(<[u8]>::to_vec).collect();
        if used.len() >= self.grace_limit {
            return Err(refusal(ResultCode::INVALID_CREDENTIALS, EXPIRED));
        }
        used.push(timestamp(now, true).into_bytes());
        answer.grace_logins = u32::try_from(self.grace_limit - used.len()).ok();
        state.push(replace(GRACE, used));
        Ok(Accepted { state, answer, must_change })
    }

    /// Decides about a new password of an entry; of one that is not there yet, without it. It compares with passwords of the past,
    /// which takes long by intention.
    ///
    /// # Errors
    /// constraintViolation (19) or insufficientAccessRights (50).
    pub(super) fn changed(&self, stored: Option<&Stored>, new: &New<'_>) -> Done<Changed> {
        let current: Vec<&[u8]> =
            stored.into_iter().flat_map(|stored| stored.values(super::entry::PASSWORD)).collect();
        let denied = |error| refusal(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, error);
        let wrong = |error| refusal(ResultCode::CONSTRAINT_VIOLATION, error);
        if new.by_user {
            let is_reset = stored.is_some_and(|stored| stored.values(RESET).next().is_some());
            if !self.allow_user_change && !is_reset {
                return Err(denied(NOT_ALLOWED));
            }
            if self.safe_modify && !new.has_old {
                return Err(denied(MUST_SUPPLY_OLD));
            }
            let changed = stored.and_then(|stored| time(stored, CHANGED)).filter(|_| !is_reset);
            let young = changed.map(|time| time.saturating_add(self.min_age.saturating_mul(1_000_000)));
            if young.is_some_and(|end| now() < end) && self.min_age > 0 {
                return Err(wrong(TOO_YOUNG));
            }
        }
        if self.check_quality > 0 {
            if password::has_scheme(new.password) {
                // What is made of a password does not show its quality.
                if self.check_quality > 1 {
                    return Err(wrong(QUALITY));
                }
            } else {
                if new.password.len() < self.min_length {
                    return Err(wrong(TOO_SHORT));
                }
                if self.max_length > 0 && new.password.len() > self.max_length {
                    return Err(wrong(QUALITY));
                }
            }
        }
        if self.in_history > 0 {
            // Values are `time#syntax#length#password`.
            let old = stored.into_iter().flat_map(|stored| stored.values(HISTORY));
            let old = old.filter_map(|value| value.splitn(4, |octet| *octet == b'#').nth(3));
            if old.chain(current.iter().copied()).any(|known| password::is_same(known, new.password)) {
                return Err(wrong(IN_HISTORY));
            }
        }
        Ok(Changed { state: self.after(stored, new.by_user) })
    }

    /// Returns what changes in an entry beside its password when that is changed.
    pub(super) fn after(&self, stored: Option<&Stored>, by_user: bool) -> Vec<RecordModification> {
        let mut history: Vec<Vec<u8>> =
            stored.into_iter().flat_map(|stored| stored.values(HISTORY)).map(<[u8]>::to_vec).collect();
        let time = timestamp(now(), false);
        for known in stored.into_iter().flat_map(|stored| stored.values(super::entry::PASSWORD)) {
            let head = format!("{time}#1.3.6.1.4.1.1466.115.121.1.40#{}#", known.len());
            history.push([head.as_bytes(), known].concat());
        }
        let surplus = history.len().saturating_sub(self.in_history);
        history.drain(..surplus);
        let mut state = vec![replace(CHANGED, vec![time.into_bytes()])];
        for name in [LOCKED, FAILURES, GRACE] {
            state.push(replace(name, Vec::new()));
        }
        state.push(replace(HISTORY, history));
        let resets = self.must_change && !by_user;
        state.push(replace(RESET, if resets { vec![b"TRUE".to_vec()] } else { Vec::new() }));
        state
    }

    /// Whether the age of passwords counts.
    pub(super) const fn has_age(&self) -> bool {
        self.max_age > 0
    }

    /// Whether earlier passwords count.
    pub(super) const fn has_history(&self) -> bool {
        self.in_history > 0
    }

    /// The answer to a user who has to change the password before anything else.
    pub(super) fn change_first() -> LdapResult {
        refusal(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, CHANGE_AFTER_RESET)
    }
}
