use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;

fn get() -> BoundRequest {
    BoundRequest {
        method: "GET".to_owned(),
        path: "/page?x=1".to_owned(),
        headers: BTreeMap::from([("Accept-Encoding".to_owned(), "gzip".to_owned())]),
        body: None,
    }
}

/// A server that reads one head (and as many body bytes as told) and answers with fixed bytes.
async fn serve(mut stream: DuplexStream, body: usize, answer: Vec<u8>) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    let mut rest = vec![0; body];
    stream.read_exact(&mut rest).await.unwrap();
    request.extend(rest);
    // The client may stop reading early; that is its own affair.
    let _ = stream.write_all(&answer).await;
    String::from_utf8(request).unwrap()
}

async fn ask(request: &BoundRequest, answer: &[u8]) -> (String, Result<Answer, HttpFault>) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let body = request.body.as_ref().map_or(0, Vec::len);
    let server = tokio::spawn(serve(far, body, answer.to_vec()));
    let answer = exchange(
        Box::new(near),
        "127.0.0.1:8080",
        request,
        Duration::from_secs(5),
    )
    .await;
    (server.await.unwrap(), answer)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn answer_with(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn what_goes_out_is_what_the_generator_sends() {
    let (sent, answer) = ask(&get(), &answer_with("", b"hello")).await;
    assert_eq!(
        sent,
        "GET /page?x=1 HTTP/1.1\r\nhost: 127.0.0.1:8080\r\naccept: */*\r\n\
         accept-encoding: gzip\r\nuser-agent: loadlab\r\n\r\n"
    );
    let answer = answer.unwrap();
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (200, b"hello".as_slice())
    );
    assert_eq!(answer.wire_bytes, 5);
}

#[tokio::test]
async fn a_body_and_an_own_host_go_out_too() {
    let request = BoundRequest {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: BTreeMap::from([("Host".to_owned(), "shop.example".to_owned())]),
        body: Some(b"a=1".to_vec()),
    };
    let (sent, answer) = ask(&request, &answer_with("", b"")).await;
    assert_eq!(
        sent,
        "POST / HTTP/1.1\r\nhost: shop.example\r\naccept: */*\r\nuser-agent: loadlab\r\n\
         content-length: 3\r\n\r\na=1"
    );
    assert_eq!(answer.unwrap().wire_bytes, 0);
}

#[tokio::test]
async fn encoded_bodies_are_decoded_and_counted_as_they_came() {
    let text = b"loadlab ".repeat(500);
    let packed = gzip(&text);
    let (_, answer) = ask(&get(), &answer_with("Content-Encoding: GZIP\r\n", &packed)).await;
    let answer = answer.unwrap();
    assert_eq!(answer.body, text);
    assert_eq!(answer.wire_bytes, packed.len() as u64);

    let twice = gzip(&packed);
    let coding = "content-encoding: gzip\r\ncontent-encoding: gzip\r\n";
    let (_, answer) = ask(&get(), &answer_with(coding, &twice)).await;
    assert_eq!(answer.unwrap().body, text);

    for raw in [false, true] {
        use std::io::Write;
        let level = flate2::Compression::default();
        let packed = if raw {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(&text).unwrap();
            encoder.finish().unwrap()
        } else {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(&text).unwrap();
            encoder.finish().unwrap()
        };
        let (_, answer) = ask(
            &get(),
            &answer_with("content-encoding: deflate\r\n", &packed),
        )
        .await;
        assert_eq!(answer.unwrap().body, text);
    }
}

#[tokio::test]
async fn chunks_and_an_end_by_closing_are_read_whole() {
    let chunked =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let (_, answer) = ask(&get(), chunked).await;
    assert_eq!(
        (answer.as_ref().unwrap().wire_bytes, answer.unwrap().body),
        (5, b"abcde".to_vec())
    );
    let (_, answer) = ask(&get(), b"HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    assert_eq!(answer.unwrap().body, b"until the end");
}

#[tokio::test]
async fn what_is_no_answer_is_said_and_is_safe_to_print() {
    let mut messages = Vec::new();
    let cases: [&[u8]; 7] = [
        b"",
        b"\x1b[31mHTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: \x1bx\r\ncontent-length: 3\r\n\r\nabc",
    ];
    for bytes in cases {
        messages.push(ask(&get(), bytes).await.1.unwrap_err().to_string());
    }
    let large = format!(
        "HTTP/1.1 200 OK\r\nx: {}\r\n\r\n",
        "a".repeat(LARGEST_HEAD + 1)
    );
    messages.push(
        ask(&get(), large.as_bytes())
            .await
            .1
            .unwrap_err()
            .to_string(),
    );
    insta::assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn a_body_that_unfolds_without_end_is_refused() {
    let mut bomb = gzip(&vec![0; LARGEST_BODY + 1]);
    let (_, answer) = ask(&get(), &answer_with("content-encoding: gzip\r\n", &bomb)).await;
    assert_eq!(answer, Err(HttpFault::TooLarge { decoded: true }));
    bomb.truncate(bomb.len() - 9);
    let (_, answer) = ask(&get(), &answer_with("content-encoding: gzip\r\n", &bomb)).await;
    assert!(answer.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_runs_out_of_time() {
    let (near, _far) = tokio::io::duplex(1024);
    let answer = exchange(Box::new(near), "h", &get(), Duration::from_millis(250)).await;
    let fault = answer.unwrap_err();
    assert_eq!(fault, HttpFault::Timeout(Duration::from_millis(250)));
    assert_eq!(fault.to_string(), "no complete answer within 250 ms");
}

#[tokio::test]
async fn a_request_that_is_none_is_refused() {
    for change in [
        |request: &mut BoundRequest| request.path = "/a b".to_owned(),
        |request: &mut BoundRequest| request.method = "GE T".to_owned(),
        |request: &mut BoundRequest| {
            request.headers.insert("x\n".to_owned(), String::new());
        },
    ] {
        let mut request = get();
        change(&mut request);
        let (near, _far) = tokio::io::duplex(1024);
        let answer = exchange(Box::new(near), "h", &request, Duration::from_secs(5)).await;
        assert!(matches!(answer, Err(HttpFault::Request(_))), "{answer:?}");
    }
}

fn answer(status: u16, body: &[u8]) -> Answer {
    Answer {
        status,
        headers: vec![
            ("content-type".to_owned(), b"text/plain".to_vec()),
            ("x-twice".to_owned(), b"1".to_vec()),
            ("x-twice".to_owned(), b"2".to_vec()),
        ],
        body: body.to_vec(),
        wire_bytes: body.len() as u64,
    }
}

fn expect(body: Option<ExpectBody>) -> Expect {
    Expect {
        status: 200,
        headers: BTreeMap::from([("Content-Type".to_owned(), "text/plain".to_owned())]),
        body,
    }
}

#[test]
fn an_answer_as_expected_has_no_difference() {
    let text = |text: &str| {
        Some(ExpectBody::Text {
            text: text.to_owned(),
        })
    };
    let file = Some(ExpectBody::SameAsFile {
        file: "a".to_owned(),
    });
    let length = |bytes| Some(ExpectBody::Length { bytes });
    assert_eq!(check(&answer(200, b"ok"), &expect(None), None), None);
    assert_eq!(check(&answer(200, b"ok"), &expect(text("ok")), None), None);
    assert_eq!(check(&answer(200, b"ok"), &expect(length(2)), None), None);
    assert_eq!(
        check(&answer(200, b"ok"), &expect(length(2)), Some(b"ok")),
        None
    );
    assert_eq!(check(&answer(200, b"ok"), &expect(file), Some(b"ok")), None);
}

#[test]
fn each_difference_is_named_and_safe_to_print() {
    let text = |text: &str| {
        Some(ExpectBody::Text {
            text: text.to_owned(),
        })
    };
    let mut other_headers = expect(None);
    other_headers.headers = BTreeMap::from([
        ("content-type".to_owned(), "text/html".to_owned()),
        ("x-none".to_owned(), "a\u{1b}b".to_owned()),
        ("x-twice".to_owned(), "1".to_owned()),
    ]);
    let long = b"<p>\x1b[31mred\xff".repeat(20);
    let file = Some(ExpectBody::SameAsFile {
        file: "a\u{1b}".to_owned(),
    });
    let messages: Vec<String> = [
        check(&answer(500, &long), &expect(None), None),
        check(&answer(404, b""), &expect(text("x")), None),
        check(&answer(200, b"ok"), &other_headers, None),
        check(&answer(200, b"hello"), &expect(text("help")), None),
        check(&answer(200, b"hello"), &expect(text("jello")), None),
        check(&answer(200, b"hell"), &expect(text("hello")), None),
        check(
            &answer(200, b"ok"),
            &expect(Some(ExpectBody::Length { bytes: 3 })),
            None,
        ),
        check(&answer(200, b"ok"), &expect(None), Some(b"no")),
        check(&answer(200, b"ok"), &expect(file), None),
    ]
    .map(|difference| difference.unwrap())
    .to_vec();
    insta::assert_snapshot!(messages.join("\n"));
}
