//! Erlang's own codecs, measured in the same run where Erlang is there.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a configuration of OTP takes: octets a message, and microseconds to encode and to decode one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) size: f64,
    pub(super) encode: f64,
    pub(super) decode: f64,
}

/// Compiles the module that comes in a frame, and gives it the port.
const LOADER: &str = "
    P = open_port({fd, 0, 1}, [binary, {packet, 4}]),
    Split = fun Split([], []) -> []; Split([], L) -> [lists:reverse(L)];
                Split([{dot, _} = D | R], L) -> [lists:reverse([D | L]) | Split(R, [])];
                Split([T | R], L) -> Split(R, [T | L]) end,
    receive {P, {data, Source}} ->
        {ok, Tokens, _} = erl_scan:string(binary_to_list(Source)),
        Forms = [begin {ok, F} = erl_parse:parse_form(T), F end || T <- Split(Tokens, [])],
        {ok, Module, Code} = compile:forms(Forms),
        {module, Module} = code:load_binary(Module, \"meas\", Code),
        receive {P, {data, <<Time:32>>}} -> Module:main(P, Time) end
    end, halt().";

/// Measures messages, given as terms, so long for each configuration and direction; nothing if there is no Erlang with its
/// megaco application here.
pub(super) fn measure(terms: &[Vec<u8>], time: Duration) -> Option<Vec<(String, Measured)>> {
    let mut child = Command::new("erl")
        .args(["-noinput", "-eval", LOADER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    let mut messages = Vec::new();
    for term in terms {
        messages.extend_from_slice(&u32::try_from(term.len()).ok()?.to_be_bytes());
        messages.extend_from_slice(term);
    }
    let milliseconds = u32::try_from(time.as_millis()).unwrap_or(u32::MAX).to_be_bytes();
    let frames: [&[u8]; 3] = [include_str!("meas.erl").as_bytes(), &milliseconds, &messages];
    let sent = frames.iter().try_for_each(|frame| {
        let length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        input.write_all(&length.to_be_bytes())?;
        input.write_all(frame)
    });
    let mut answer = Vec::new();
    if sent.is_ok() {
        _ = child.stdout.take()?.read_to_end(&mut answer);
    }
    // Kept open until here: Erlang ends when its input does.
    drop(input);
    _ = child.wait();
    let text = String::from_utf8_lossy(answer.get(4..)?).into_owned();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        let mut number = || words.next()?.parse::<f64>().ok();
        let (size, encode, decode) = (number()?, number()? / 1e3, number()? / 1e3);
        Some((name, Measured { size, encode, decode }))
    };
    let measured: Vec<_> = text.lines().filter_map(line).collect();
    (!measured.is_empty()).then_some(measured)
}
