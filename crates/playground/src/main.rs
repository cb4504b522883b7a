//! Answers requests, a line of standard input each, by a line of standard output each.
//!
//! `scripts/playground` builds it for `wasm32-wasip1`. The page calls `main` again for each request, so that what one request has
//! compiled is there for the next.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};
use tercet_playground::Playground;

static PLAYGROUND: Mutex<Playground> = Mutex::new(Playground::new());

fn main() -> io::Result<()> {
    let mut playground = PLAYGROUND.lock().unwrap_or_else(PoisonError::into_inner);
    for line in io::stdin().lock().lines() {
        let mut answer = playground.answer(&line?);
        answer.push('\n');
        io::stdout().lock().write_all(answer.as_bytes())?;
    }
    io::stdout().lock().flush()
}
