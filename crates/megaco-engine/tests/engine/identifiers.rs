//! Transaction ids: counted per user over all its connections, in a range, never twice at a time.

use super::harness::{Side, actions, route};
use tercet_megaco_engine::{Error, RequestOptions};

const REQUEST: &str = "C=-{S=a}";

/// Messages of several transactions take as many ids, also across the wrap.
#[test]
fn otp_7216_7303_ids_wrap_with_several_transactions() {
    let mut a = Side::new(&[("min_trans_id", "5"), ("max_trans_id", "9")]);
    let conn = a.connect();
    let mut all = Vec::new();
    for _ in 0..3 {
        let both = vec![actions(REQUEST), actions(REQUEST)];
        let requests = a.engine.request(a.time(), conn, both, &RequestOptions::default()).unwrap();
        for (_, id) in requests {
            all.push(id);
            a.receive(&format!("P={id}{{C=-{{S=a}}}}"));
        }
    }
    assert_eq!(all, [5, 6, 7, 8, 9, 5]);
}

#[test]
fn otp_5887_the_next_id() {
    let mut a = Side::new(&[("min_trans_id", "7")]);
    let conn = a.connect();
    for expected in 7..10 {
        assert_eq!(a.engine.next_transaction(a.user), Some(expected));
        assert_eq!(a.request(conn, REQUEST), expected);
    }
    let waiting = a.engine.waiting_requests(conn);
    assert_eq!(waiting, [7, 8, 9]);
}

#[test]
fn an_id_is_used_by_one_request_at_a_time() {
    let mut a = Side::new(&[("min_trans_id", "4294967293"), ("request_timer", "inf")]);
    let conn = a.connect();
    assert_eq!([(); 3].map(|()| a.request(conn, REQUEST)), [4_294_967_293, 4_294_967_294, u32::MAX]);
    let full = a.try_request(conn, REQUEST, &RequestOptions::default());
    assert_eq!(full, Err(Error::LimitReached("max_trans_id")));
    a.receive("P=4294967294{C=-{S=a}}");
    assert_eq!(a.request(conn, REQUEST), 4_294_967_294);
}

#[test]
fn ids_are_unique_over_the_connections_of_a_user() {
    let mut a = Side::new(&[("request_timer", "inf")]);
    let first = a.connect();
    let mid = tercet_megaco::text::read_mid(b"<c>").unwrap();
    let second = a.engine.connect(a.time(), a.user, Some(mid), route(2)).unwrap();
    let mut ids: Vec<u32> =
        (0..1000).map(|n| a.request(if n % 3 == 0 { first } else { second }, REQUEST)).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=1000).collect::<Vec<_>>());
}
