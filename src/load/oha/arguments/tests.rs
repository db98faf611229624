use super::*;
use crate::load::LoadGenerator;
use crate::model::account::BoundRequest;
use crate::model::{Digest, Nanoseconds, Quantile, Rate};

fn shot() -> Shot {
    Shot {
        request: BoundRequest {
            method: "GET".to_owned(),
            path: "/page.html?a=1&b=%20".to_owned(),
            headers: BTreeMap::from([("Accept-Encoding".to_owned(), "gzip".to_owned())]),
            body: None,
        },
        at: LoadPoint::Rate(Rate::per_second(1000).unwrap()),
        connections: 32,
        duration: Nanoseconds::seconds(60),
        timeout: Nanoseconds::milliseconds(2_500),
        threads: 2,
        keep_requests: false,
        status: 200,
        quantiles: vec![Quantile::P50],
    }
}

fn oha() -> Oha {
    Oha::new("/opt/loadlab-oha".into(), Digest::of(b"program"))
}

fn described(shot: &Shot) -> Result<MemberSpec, String> {
    let address = Address {
        host: "127.0.0.1".to_owned(),
        port: 8080,
    };
    let cpus = "2-3".parse().unwrap();
    oha()
        .member(shot, &address, &cpus)
        .map_err(|fault| fault.to_string())
}

#[test]
fn an_open_loop_says_everything() {
    let member = described(&shot()).unwrap();
    let expected = "/opt/loadlab-oha --pin 2-3 --gate --watch watch.json -- --no-tui --output-format json \
        --output oha.json --worker-threads 2 --http-version 1.1 --redirect 0 --disable-compression \
        -t 2500ms --connect-timeout 2500ms -z 1min -c 32 -q 1000 --latency-correction -w -m GET \
        --host=127.0.0.1:8080 -H accept: */* -H accept-encoding: gzip -H user-agent: loadlab \
        http://127.0.0.1:8080/page.html?a=1&b=%20";
    assert_eq!(member.command.join(" "), expected);
    assert_eq!(member.outputs, ["oha.json", "watch.json"]);
    assert!(member.gated && member.files.is_empty() && member.user.is_none());
    let env: Vec<_> = member
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(env, ["SSL_CERT_FILE=/dev/null"]);
}

#[test]
fn a_closed_loop_with_body_own_host_and_every_request_kept() {
    let mut shot = shot();
    shot.at = LoadPoint::Connections(32);
    shot.keep_requests = true;
    shot.request.method = "POST".to_owned();
    shot.request.body = Some(b"a=\0".to_vec());
    shot.request.headers = BTreeMap::from([
        ("Host".to_owned(), "shop.example".to_owned()),
        ("User-Agent".to_owned(), "own".to_owned()),
    ]);
    let member = described(&shot).unwrap();
    let expected = "/opt/loadlab-oha --pin 2-3 --gate --watch watch.json --requests requests.csv.gz -- --no-tui \
        --output-format json --output oha.json --worker-threads 2 --http-version 1.1 --redirect 0 \
        --disable-compression -t 2500ms --connect-timeout 2500ms -z 1min -c 32 -m POST \
        --host=shop.example -H accept: */* -H user-agent: own -D request-body \
        http://127.0.0.1:8080/page.html?a=1&b=%20";
    assert_eq!(member.command.join(" "), expected);
    assert_eq!(
        member.outputs,
        ["oha.json", "watch.json", "requests.csv.gz"]
    );
    assert_eq!(member.files["request-body"], b"a=\0");
}

#[test]
fn an_address_of_version_six_is_bracketed() {
    let address = Address {
        host: "::1".to_owned(),
        port: 80,
    };
    let member = oha()
        .member(&shot(), &address, &"0".parse().unwrap())
        .unwrap();
    let target = member.command.last().unwrap();
    assert_eq!(target, "http://[::1]:80/page.html?a=1&b=%20");
}

#[test]
fn a_debug_build_is_marked() {
    let oha = oha().allowing_debug_builds();
    assert_eq!(oha.facts().version, "1.16.0, debug build allowed");
    let address = Address {
        host: "127.0.0.1".to_owned(),
        port: 80,
    };
    let member = oha
        .member(&shot(), &address, &"0".parse().unwrap())
        .unwrap();
    assert_eq!(member.env["LOADLAB_ALLOW_DEBUG_GENERATOR"], "1");
}

#[test]
fn what_would_go_out_otherwise_is_refused() {
    let refused = |change: fn(&mut Shot)| {
        let mut shot = shot();
        change(&mut shot);
        described(&shot).unwrap_err()
    };
    let header = |name: &str, value: &str| {
        let mut shot = shot();
        shot.request
            .headers
            .insert(name.to_owned(), value.to_owned());
        described(&shot).unwrap_err()
    };
    let messages = [
        refused(|shot| shot.request.path = "page.html".to_owned()),
        refused(|shot| shot.request.path = "/a b".to_owned()),
        refused(|shot| shot.request.path = "/é".to_owned()),
        refused(|shot| shot.request.path = "/a#b".to_owned()),
        refused(|shot| shot.request.path = "/a/%2E./b".to_owned()),
        refused(|shot| shot.request.path = "/\u{1b}[31m".to_owned()),
        refused(|shot| shot.request.method = "-z".to_owned()),
        refused(|shot| shot.duration = Nanoseconds(0)),
        refused(|shot| shot.timeout = Nanoseconds(0)),
        refused(|shot| shot.connections = 0),
        refused(|shot| shot.at = LoadPoint::Connections(8)),
        header("accept-encoding", "br"),
        header("x y", "1"),
        header("-x", "1"),
        header("x", "a\nb"),
        header("x", " a"),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn markers_are_recognised_and_nothing_else_is() {
    use crate::engine::{MemberChange, MemberEvent};
    let event = |line: &[u8]| MemberEvent {
        member: "oha".parse().unwrap(),
        monotonic_ns: 0,
        what: MemberChange::Line(line.to_vec()),
    };
    let oha = oha();
    assert!(oha.at_gate(&event(b"loadlab-oha: ready")));
    assert!(!oha.at_gate(&event(b"loadlab-oha: ready ")));
    let start = oha.window(&event(b"loadlab-oha: start 123456789012345"));
    assert_eq!(start.unwrap().monotonic_ns, 123_456_789_012_345);
    let others: [&[u8]; 4] = [
        b"loadlab-oha: ready",
        b"loadlab-oha: start ",
        b"loadlab-oha: start -1",
        b"\xff",
    ];
    for other in others {
        assert_eq!(oha.window(&event(other)), None);
    }
}
