//! A future of the client may be dropped at any await: what it was for is abandoned, and no answer of it comes to
//! somebody else, nor is the connection lost.

mod common;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use common::{ROOT, SECRET, people};
use tercet_ldap::directory::Directory;
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, Config, Pool, Result, Search};

/// How often a future is polled at most before it is dropped.
const POLLS: usize = 60;
/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A future that is given up once it has been polled so often: each time that it asks for it, or all the time, so that it
/// is given up while it waits.
struct Polled<F> {
    future: F,
    left: usize,
    restless: bool,
}

impl<F: Future + Unpin> Future for Polled<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        match Pin::new(&mut self.future).poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => {
                if self.restless {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
        }
    }
}

/// Drops an operation after each number of polls, and asks after each whether the connection still answers what was
/// asked. The answer is how often it was dropped.
async fn dropped_anywhere<T, F: Future<Output = Result<T>>>(
    what: &str,
    client: &Client,
    operation: impl Fn(Client) -> F,
) -> usize {
    let mut dropped = 0;
    for (polls, restless) in (0..POLLS).flat_map(|polls| [(polls, false), (polls, true)]) {
        let outcome = {
            let future = pin!(operation(client.clone()));
            Polled { future, left: polls, restless }.await
        };
        dropped += usize::from(outcome.is_none());
        if let Some(Err(error)) = outcome {
            panic!("{what}, after {polls} polls: {error}");
        }
        for (value, expected) in [("test", true), ("other", false)] {
            let answer =
                tokio::time::timeout(PATIENCE, client.compare("o=test", "o", value.as_bytes())).await;
            let answer = answer.unwrap_or_else(|_| panic!("{what} dropped after {polls} polls: no answer"));
            assert_eq!(answer.unwrap(), expected, "{what} dropped after {polls} polls");
        }
    }
    dropped
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_future_may_be_dropped_at_any_await() {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(300).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let url = server.url();
    let connect = || async {
        let client = Client::connect(&url).await.unwrap();
        client.bind(ROOT, SECRET).await.unwrap();
        client
    };
    let client = connect().await;
    let all = || Search::new("o=test").filter("(uid=p*)").unwrap();
    let mut dropped = 0;

    dropped += dropped_anywhere("compare", &client, |client| async move {
        client.compare("o=test", "o", b"other").await
    })
    .await;
    dropped += dropped_anywhere("who am I", &client, |client| async move { client.who_am_i().await }).await;
    dropped += dropped_anywhere("search", &client, |client| async move {
        client.search_all(all()).await.map(|found| assert_eq!(found.0.len(), 300))
    })
    .await;
    dropped += dropped_anywhere("paged search", &client, |client| async move {
        client.search_all(all().page_size(7)).await.map(|found| assert_eq!(found.0.len(), 300))
    })
    .await;
    dropped += dropped_anywhere("entries", &client, |client| async move {
        let mut entries = client.search(all()).await?;
        while let Some(entry) = entries.next().await? {
            assert!(entry.dn().starts_with("uid=p"));
        }
        Ok(())
    })
    .await;
    dropped += dropped_anywhere("modify", &client, |client| async move {
        let change = RecordModification {
            kind: ModificationKind::Replace,
            attribute: "sn".to_owned(),
            values: vec![b"New".to_vec()],
        };
        client.modify("uid=p00001,o=test", &[change]).await
    })
    .await;
    dropped += dropped_anywhere("password", &client, |client| async move {
        let user = Some("uid=p00002,o=test".to_owned());
        client.modify_password(&PasswordModify { user, old: None, new: Some(b"x".to_vec()) }).await
    })
    .await;
    dropped += dropped_anywhere("another connection", &client, |_| async {
        Client::connect(&url).await?.bind(ROOT, SECRET).await
    })
    .await;
    let config = Config::new(&url).unwrap();
    let pool = Pool::new(config, 2, |client| async move { client.bind(ROOT, SECRET).await.map(drop) });
    dropped += dropped_anywhere("pool", &client, |_| {
        pool.run(|client| async move { client.compare("o=test", "o", b"test").await })
    })
    .await;
    assert!(dropped > 9 * 4, "only {dropped} futures have been dropped on their way");

    // A bind that is dropped leaves it open who one is: the next bind tells.
    for polls in 0..POLLS {
        let bound = connect().await;
        drop(Polled { future: pin!(bound.bind(ROOT, SECRET)), left: polls, restless: true }.await);
        let again = tokio::time::timeout(PATIENCE, bound.bind(ROOT, SECRET)).await.expect("an answer");
        if again.is_ok() {
            assert_eq!(bound.who_am_i().await.unwrap(), "dn:o=test");
        }
    }
}
