//! All operations but search.

use tercet_runtime::types::Octets;

use super::Client;
use super::driver::{ChannelChange, Deliveries, Delivery};
use crate::error::{Error, ErrorKind, Result};
use crate::extended::{self, PasswordModify};
use crate::generated::{self as asn1, ProtocolOp};
use crate::ldif::{Change, ModificationKind, Record, RecordModification};
use crate::proto::{Extended, LdapResult, Reply, ResultCode};
use crate::sasl::{Begin, ChannelBinding, Layer, Mechanism};

/// Rounds of a SASL exchange.
const SASL_ROUNDS: usize = 32;

fn octets(text: &str) -> Octets<'_> {
    Octets::borrowed(text.as_bytes())
}

impl Client {
    /// Binds with a name and a password. Without either, the bind is anonymous.
    ///
    /// # Errors
    /// A name with an empty password, which servers take for anonymous (RFC 4513 5.1.2); a password on a connection
    /// without encryption to another host, unless [`super::Config::allow_plain_passwords`] says so; the server refuses.
    pub async fn bind(&self, dn: &str, password: &str) -> Result<LdapResult> {
        if password.is_empty() && !dn.is_empty() {
            return Err(Error::new(
                ErrorKind::Usage,
                "a bind with a name and an empty password would be anonymous",
            ));
        }
        self.check_privacy(!password.is_empty())?;
        let authentication = asn1::AuthenticationChoice::Simple(octets(password));
        let (result, _) = self.bind_step(dn, authentication, None).await?;
        result.success()
    }

    /// Binds by a SASL mechanism (RFC 4513 5.2). If it has negotiated a security layer, that is in force from then on.
    ///
    /// # Errors
    /// The server refuses, or does not show that it knows the password where the mechanism has it so; a second security layer.
    pub async fn bind_sasl(&self, mut mechanism: Box<dyn Mechanism>) -> Result<LdapResult> {
        self.check_privacy(mechanism.shows_password())?;
        let channel = self.handle.channel();
        mechanism.begin(&Begin {
            strength: channel.strength(),
            binding: channel.end_point.map(ChannelBinding::ServerEndPoint),
            iterations: self.config.scram_iterations,
            host: channel.host,
        });
        let name = mechanism.name();
        let mut challenge: Option<Vec<u8>> = None;
        for _ in 0..SASL_ROUNDS {
            // A step may be thousands of rounds of a digest: not on the thread that drives connections.
            let step = tokio::task::spawn_blocking(move || {
                let response = mechanism.step(challenge.as_deref());
                (mechanism, response)
            });
            let step =
                async { step.await.map_err(|error| Error::new(ErrorKind::Auth, format!("SASL: {error}"))) };
            let (returned, response) = self.in_time(step).await?;
            mechanism = returned;
            let response = response?;
            let layer = mechanism.layer();
            if layer.is_some() && channel.layer > 0 {
                return Err(Error::new(ErrorKind::Usage, "a second security layer on a connection"));
            }
            let credentials = asn1::SaslCredentials {
                mechanism: octets(name),
                credentials: response.as_deref().map(Octets::borrowed),
            };
            let (result, said) =
                self.bind_step("", asn1::AuthenticationChoice::Sasl(credentials), layer).await?;
            if result.code != ResultCode::SASL_BIND_IN_PROGRESS {
                let result = result.success()?;
                mechanism.finish(said.as_deref())?;
                return Ok(result);
            }
            challenge = said.or_else(|| Some(Vec::new()));
        }
        Err(Error::new(ErrorKind::Limit, format!("SASL: no end after {SASL_ROUNDS} rounds")))
    }

    async fn bind_step(
        &self,
        dn: &str,
        authentication: asn1::AuthenticationChoice<'_>,
        layer: Option<Box<dyn Layer>>,
    ) -> Result<(LdapResult, Option<Vec<u8>>)> {
        let request = asn1::BindRequest { version: 3, name: octets(dn), authentication };
        match self.call_with(ProtocolOp::BindRequest(request), layer.map(ChannelChange::Layer)).await? {
            Reply::Bind(result, credentials) => Ok((result, credentials)),
            _ => Err(Error::new(ErrorKind::Protocol, "something else than an answer to a bind")),
        }
    }

    fn check_privacy(&self, shows_password: bool) -> Result<()> {
        if shows_password && !self.handle.channel().is_private && !self.config.allow_plain_passwords {
            let message =
                "a password would go over the network unencrypted: use ldaps or StartTLS, or allow it";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(())
    }

    /// Encrypts a connection that is open until now (StartTLS, RFC 4511 4.14), as [`super::Config::tls`] says. To do it
    /// before anything else is sent, there is [`super::Config::start_tls`].
    ///
    /// # Errors
    /// Other operations are in flight, or there is TLS already: nothing has been sent then. In all other cases the
    /// connection ends, as nobody could tell what comes over it: the server refuses, it sends something between its answer
    /// and the handshake, its certificate is not trusted, the time has passed, the future is dropped.
    pub async fn start_tls(&self) -> Result<LdapResult> {
        self.in_time(self.handle.start_tls(&self.config.tls)).await
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn add<V: AsRef<[u8]>>(&self, dn: &str, attributes: &[(&str, &[V])]) -> Result<LdapResult> {
        let attributes =
            attributes.iter().map(|(name, values)| attribute(name, values.iter().map(AsRef::as_ref)));
        let request = asn1::AddRequest { entry: octets(dn), attributes: attributes.collect() };
        self.done(ProtocolOp::AddRequest(request)).await?.success()
    }

    /// Changes an entry.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn modify(&self, dn: &str, modifications: &[RecordModification]) -> Result<LdapResult> {
        let changes = modifications.iter().map(|modification| asn1::Change {
            operation: match modification.kind {
                ModificationKind::Add => asn1::ChangeOperation::Add,
                ModificationKind::Delete => asn1::ChangeOperation::Delete,
                ModificationKind::Replace => asn1::ChangeOperation::Replace,
                ModificationKind::Increment => asn1::ChangeOperation::Increment,
            },
            modification: attribute(&modification.attribute, modification.values.iter().map(Vec::as_slice)),
        });
        let request = asn1::ModifyRequest { object: octets(dn), changes: changes.collect() };
        self.done(ProtocolOp::ModifyRequest(request)).await?.success()
    }

    /// Deletes an entry.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn delete(&self, dn: &str) -> Result<LdapResult> {
        self.done(ProtocolOp::DelRequest(octets(dn))).await?.success()
    }

    /// Gives an entry another name, and with `superior` another place.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn modify_dn(
        &self,
        dn: &str,
        new_rdn: &str,
        delete_old: bool,
        superior: Option<&str>,
    ) -> Result<LdapResult> {
        let request = asn1::ModifyDnRequest {
            entry: octets(dn),
            newrdn: octets(new_rdn),
            deleteoldrdn: delete_old,
            new_superior: superior.map(octets),
        };
        self.done(ProtocolOp::ModDnRequest(request)).await?.success()
    }

    /// Whether an entry has a value.
    ///
    /// # Errors
    /// The server cannot tell.
    pub async fn compare(&self, dn: &str, attribute: &str, value: &[u8]) -> Result<bool> {
        let ava = asn1::AttributeValueAssertion {
            attribute_desc: octets(attribute),
            assertion_value: Octets::borrowed(value),
        };
        let result =
            self.done(ProtocolOp::CompareRequest(asn1::CompareRequest { entry: octets(dn), ava })).await?;
        match result.code {
            ResultCode::COMPARE_TRUE => Ok(true),
            ResultCode::COMPARE_FALSE => Ok(false),
            _ => Err(Error::from_result(result)),
        }
    }

    /// Does what a record of LDIF says, with its controls.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn apply(&self, record: &Record) -> Result<LdapResult> {
        let client = Self {
            controls: self.controls.iter().chain(&record.controls).cloned().collect(),
            ..self.clone()
        };
        match &record.change {
            Change::Add(attributes) => {
                let attributes =
                    attributes.iter().map(|(name, values)| attribute(name, values.iter().map(Vec::as_slice)));
                let request =
                    asn1::AddRequest { entry: octets(&record.dn), attributes: attributes.collect() };
                client.done(ProtocolOp::AddRequest(request)).await?.success()
            }
            Change::Delete => client.delete(&record.dn).await,
            Change::Modify(modifications) => client.modify(&record.dn, modifications).await,
            Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
                client.modify_dn(&record.dn, new_rdn, *delete_old_rdn, new_superior.as_deref()).await
            }
        }
    }

    /// An extended operation, whatever its result.
    ///
    /// # Errors
    /// The connection fails. StartTLS is not for here but for [`Client::start_tls`].
    pub async fn extended(&self, name: &str, value: Option<&[u8]>) -> Result<Extended> {
        if name == extended::START_TLS {
            return Err(Error::new(ErrorKind::Usage, "StartTLS is a separate operation"));
        }
        let request =
            asn1::ExtendedRequest { request_name: octets(name), request_value: value.map(Octets::borrowed) };
        match self.call(ProtocolOp::ExtendedReq(request)).await? {
            Reply::Extended(extended) => Ok(extended),
            _ => {
                Err(Error::new(ErrorKind::Protocol, "something else than an answer to an extended operation"))
            }
        }
    }

    /// Who the server takes the user for (RFC 4532): `dn:…`, `u:…`, or nothing for anonymous.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn who_am_i(&self) -> Result<String> {
        let answer = self.extended(extended::WHO_AM_I, None).await?;
        answer.result.success()?;
        String::from_utf8(answer.value.unwrap_or_default())
            .map_err(|_| Error::new(ErrorKind::Protocol, "an authorization identity that is not UTF-8"))
    }

    /// Changes a password (RFC 3062); gives the one that the server made up, if it had to.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn modify_password(&self, request: &PasswordModify) -> Result<Option<Vec<u8>>> {
        self.check_privacy(true)?;
        let answer = self.extended(extended::PASSWORD_MODIFY, Some(&request.value())).await?;
        answer.result.success()?;
        answer.value.map_or(Ok(None), |value| PasswordModify::generated(&value))
    }

    /// Cancels an operation (RFC 3909), which then ends with `canceled`.
    ///
    /// # Errors
    /// It is over, or cannot be canceled.
    pub async fn cancel(&self, id: u32) -> Result<LdapResult> {
        self.extended(extended::CANCEL, Some(&extended::cancel(id))).await?.result.success()
    }

    /// Begins a transaction (RFC 5805); its identifier goes with [`crate::controls::Transaction`].
    ///
    /// # Errors
    /// The server refuses.
    pub async fn start_transaction(&self) -> Result<Vec<u8>> {
        let answer = self.extended(extended::START_TRANSACTION, None).await?;
        answer.result.success()?;
        Ok(answer.value.unwrap_or_default())
    }

    /// Ends a transaction.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn end_transaction(&self, identifier: &[u8], commit: bool) -> Result<LdapResult> {
        let value = extended::end_transaction(identifier, commit);
        self.extended(extended::END_TRANSACTION, Some(&value)).await?.result.success()
    }

    async fn done(&self, operation: ProtocolOp<'_>) -> Result<LdapResult> {
        match self.call(operation).await? {
            Reply::Done(result) => Ok(result),
            _ => Err(Error::new(ErrorKind::Protocol, "an answer of another kind")),
        }
    }

    /// Starts an operation and waits for its last answer.
    pub(crate) async fn call(&self, operation: ProtocolOp<'_>) -> Result<Reply> {
        self.call_with(operation, None).await
    }

    /// The same of an operation that changes the channel.
    async fn call_with(&self, operation: ProtocolOp<'_>, change: Option<ChannelChange>) -> Result<Reply> {
        let changes = change.is_some();
        let (id, deliveries) = self.handle.start_with(operation, &self.controls, change)?;
        let mut guard = Guard { client: self, id, deliveries, changes, done: false };
        let answer = self.in_time(guard.answer()).await;
        guard.done = answer.is_ok();
        answer
    }

    async fn in_time<T>(&self, answer: impl Future<Output = Result<T>>) -> Result<T> {
        match self.timeout {
            None => answer.await,
            Some(timeout) => tokio::time::timeout(timeout, answer)
                .await
                .unwrap_or_else(|_| Err(Error::new(ErrorKind::Timeout, "no answer in time"))),
        }
    }
}

/// Abandons its operation if it is dropped before the answer: by a time limit, or by whoever awaits it.
struct Guard<'c> {
    client: &'c Client,
    id: u32,
    deliveries: Deliveries,
    /// Whether nobody could tell what comes over the connection if the operation is given up.
    changes: bool,
    done: bool,
}

impl Guard<'_> {
    async fn answer(&mut self) -> Result<Reply> {
        while let Some(delivery) = self.deliveries.recv().await {
            let delivery = delivery?;
            self.client.handle.taken(delivery.octets());
            if let Delivery::Reply(reply) = delivery
                && reply.result().is_some()
            {
                return Ok(reply);
            }
        }
        let closed = self.client.handle.closed();
        Err(closed.unwrap_or_else(|| Error::new(ErrorKind::Closed, "the operation was given up")))
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.client.handle.abandon(self.id);
            if self.changes {
                self.client.handle.close();
            }
        }
    }
}

fn attribute<'v>(name: &'v str, values: impl Iterator<Item = &'v [u8]>) -> asn1::PartialAttribute<'v> {
    asn1::PartialAttribute { r#type: octets(name), vals: values.map(Octets::borrowed).collect() }
}
