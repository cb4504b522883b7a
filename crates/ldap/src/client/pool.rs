//! Many connections to the same servers, made when they are needed and again when they break.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Client, Config};
use crate::error::{Error, ErrorKind, Result};

/// What is done with every new connection, as a bind.
type Setup = Arc<dyn Fn(Client) -> Pin<Box<dyn Future<Output = Result<()>> + Send>> + Send + Sync>;

/// A pool of connections. Those that are broken are replaced, by the first server of the list that can be reached.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    setup: Setup,
    idle: Mutex<Vec<Client>>,
    room: Arc<Semaphore>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool of at most `size` connections; `setup` gets every new one, to bind it.
    pub fn new<F, S>(config: Config, size: usize, setup: S) -> Self
    where
        S: Fn(Client) -> F + Send + Sync + 'static,
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let setup: Setup = Arc::new(move |client| Box::pin(setup(client)));
        let room = Arc::new(Semaphore::new(size));
        Self { inner: Arc::new(Inner { config, setup, idle: Mutex::new(Vec::new()), room }) }
    }

    /// A connection, for as long as it is held; waits while all are in use.
    ///
    /// # Errors
    /// No server can be reached, or `setup` fails.
    pub async fn get(&self) -> Result<PooledClient> {
        let permit = Arc::clone(&self.inner.room).acquire_owned().await;
        let permit = permit.map_err(|_| Error::new(ErrorKind::Closed, "the pool is closed"))?;
        loop {
            let idle = self.idle().pop();
            match idle {
                Some(client) if client.is_closed() => {}
                Some(client) => return Ok(PooledClient { client, pool: self.clone(), _permit: permit }),
                None => break,
            }
        }
        let client = Client::connect_with(&self.inner.config).await?;
        (self.inner.setup)(client.clone()).await?;
        Ok(PooledClient { client, pool: self.clone(), _permit: permit })
    }

    /// Does something with a connection, and once more with another if the connection breaks. What is done has to bear
    /// that: a search does; an add may have been done when it is tried again.
    ///
    /// # Errors
    /// What the second try says, or the first if it was no fault of the connection.
    pub async fn run<T, F, W>(&self, work: W) -> Result<T>
    where
        W: Fn(Client) -> F,
        F: Future<Output = Result<T>>,
    {
        let client = self.get().await?;
        match work(client.client.clone()).await {
            Err(error) if matches!(error.kind(), ErrorKind::Closed | ErrorKind::Io | ErrorKind::Protocol) => {
                drop(client);
                let client = self.get().await?;
                work(client.client.clone()).await
            }
            outcome => outcome,
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection of a pool, given back when it is dropped.
#[derive(Debug)]
pub struct PooledClient {
    client: Client,
    pool: Pool,
    _permit: OwnedSemaphorePermit,
}

impl Deref for PooledClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for PooledClient {
    fn drop(&mut self) {
        if !self.client.is_closed() {
            self.pool.idle().push(self.client.clone());
        }
    }
}
