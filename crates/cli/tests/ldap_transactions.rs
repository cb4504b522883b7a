//! Transactions of processes that are killed: after `recover`, all changes of a transaction are there, or none.
#![cfg(unix)]

#[path = "common/serve.rs"]
#[expect(dead_code, reason = "the commands of this test bind at other servers too")]
mod serve;

use serve::Serve;
use std::process::{Command, Output};

const ACCOUNTS: usize = 10;
const BALANCE: i64 = 1000;

/// The lines of the journal of a transfer: begin, intent and result of either change, commit.
const LINES: usize = 6;

/// Each account holds one balance for either worker, as a value `WORKER:BALANCE`: a change names the value that it replaces, which all
/// servers can do, whether they can increment or not.
fn accounts(base: &str, class: &str) -> String {
    let mut text = String::new();
    for number in 0..ACCOUNTS {
        text += &format!(
            "dn: cn=account{number},{base}\nobjectClass: {class}\ncn: account{number}\ndescription: 0:{BALANCE}\ndescription: 1:{BALANCE}\n\n"
        );
    }
    text
}

/// A server, and the options by which one binds there.
struct Bank {
    serve: Option<Serve>,
    url: String,
    bind: Vec<String>,
    base: String,
    folder: tempfile::TempDir,
}

impl Bank {
    /// `tercet ldap serve`; with `TERCET_TEST_LDAP="URL|BASE|DN|PASSWORD"`, another server, on which entries may be added
    /// below BASE. Active Directory has a class of its own for them: `…|container`.
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let given = std::env::var("TERCET_TEST_LDAP").ok();
        let Some(given) = given else {
            let base = "o=test".to_owned();
            let tree = format!("dn: {base}\nobjectClass: organization\no: test\n\n");
            let serve = Serve::start(&(tree + &accounts(&base, "device")), &[]);
            return Self { url: serve.url.clone(), serve: Some(serve), bind: Vec::new(), base, folder };
        };
        let mut words = given.split('|').map(str::to_owned);
        let (url, base) = (words.next().unwrap(), words.next().unwrap());
        let bind = vec!["-D".to_owned(), words.next().unwrap(), "-w".to_owned(), words.next().unwrap()];
        let class = words.next().unwrap_or_else(|| "device".to_owned());
        let bank = Self { serve: None, url, bind, base, folder };
        bank.clear();
        std::fs::write(bank.folder.path().join("accounts"), accounts(&bank.base, &class)).unwrap();
        let added = bank.run(&["add", "-f", "accounts"], None);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        bank
    }

    fn clear(&self) {
        for number in 0..ACCOUNTS {
            self.run(&["delete", &format!("cn=account{number},{}", self.base)], None);
        }
    }

    fn run(&self, words: &[&str], crash_at: Option<usize>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.arg("ldap").arg(words[0]).args(["-H", &self.url]).args(&self.bind).args(&words[1..]);
        if let Some(line) = crash_at {
            command.env("TERCET_TEST_CRASH_AT_LINE", line.to_string());
        }
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).output().unwrap()
    }

    /// What each account holds for either worker.
    fn balances(&self) -> [Vec<i64>; 2] {
        let found = self.run(
            &["search", "-b", &self.base, "-s", "one", "-LLL", "(cn=account*)", "cn", "description"],
            None,
        );
        let text = String::from_utf8(found.stdout).unwrap();
        let mut all = [vec![0; ACCOUNTS], vec![0; ACCOUNTS]];
        // Search references have no name.
        for entry in text.split("\n\n").filter(|entry| entry.contains("cn: account")) {
            let of = |name: &str| entry.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let number: usize = of("cn: account").parse().unwrap();
            for (worker, balances) in all.iter_mut().enumerate() {
                balances[number] = of(&format!("description: {worker}:")).parse().unwrap();
            }
        }
        all
    }

    /// Transfers of one process after another, of which each is killed at some line of its journal; returns the balances after them.
    fn transfers(&self, worker: usize, count: usize) -> Vec<i64> {
        let mut balances = vec![BALANCE; ACCOUNTS];
        let journal = format!("journal{worker}");
        let file = format!("transfer{worker}");
        for round in 0..count {
            let from = (round * 7 + worker * 3) % ACCOUNTS;
            let to = (from + 1 + (round * 3 + worker) % (ACCOUNTS - 1)) % ACCOUNTS;
            let amount = i64::try_from(round % 9 + 1).unwrap();
            let change = |number: usize, amount: i64| {
                let before = balances[number];
                format!(
                    "dn: cn=account{number},{}\nchangetype: modify\ndelete: description\ndescription: {worker}:{before}\n-\n\
                     add: description\ndescription: {worker}:{}\n-\n\n",
                    self.base,
                    before + amount
                )
            };
            std::fs::write(self.folder.path().join(&file), change(from, -amount) + &change(to, amount))
                .unwrap();
            // One of seven is not killed.
            let line = round % (LINES + 1) + 1;
            let words = [
                "modify",
                "--atomic=advisory",
                "--locks",
                &self.base,
                "--journal",
                &journal,
                "--lease",
                "2",
                "--lock-wait",
                "120",
                "-f",
                &file,
            ];
            let done = self.run(&words, Some(line));
            let errors = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(
                done.status.code(),
                if line <= LINES { None } else { Some(0) },
                "{worker} {round}: {errors}"
            );
            let recovered = self.run(&["recover", "--journal", &journal, "--lock-wait", "120"], None);
            let errors = String::from_utf8_lossy(&recovered.stderr).into_owned();
            assert_eq!(recovered.status.code(), Some(0), "{worker} {round}: {errors}");
            if line >= LINES {
                balances[from] -= amount;
                balances[to] += amount;
            }
        }
        balances
    }
}

/// Two at a time make transfers and are killed at each line of their journals: each transfer is made or not, never half. 14 each;
/// `TERCET_TRANSFERS=200` for more.
#[test]
fn killed_transfers_are_made_or_not() {
    let count = std::env::var("TERCET_TRANSFERS").map_or(14, |count| count.parse().unwrap());
    let bank = Bank::open();
    let expected: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                scope.spawn({
                    let bank = &bank;
                    move || bank.transfers(worker, count)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(bank.balances().as_slice(), expected);
    for balances in expected {
        assert_eq!(balances.iter().sum::<i64>(), BALANCE * i64::try_from(ACCOUNTS).unwrap());
    }
    let locks = bank.run(&["lock", "--locks", &bank.base, "--list"], None);
    assert_eq!(String::from_utf8(locks.stdout).unwrap(), "");
    if bank.serve.is_none() {
        bank.clear();
    }
}
