//! loadlab's own HTTP client: ready requests, the contract, samples, witnesses.
//!
//! One request a connection, over whatever connection the engine opened. Nothing is followed,
//! repeated or guessed; sizes and times are bounded.

use std::io::Read;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use crate::engine::Duplex;
use crate::load::{headers_sent, host_sent};
use crate::model::account::BoundRequest;
use crate::model::scenario::{Expect, ExpectBody};

/// The largest body accepted, as it comes and after decoding.
pub const LARGEST_BODY: usize = 64 << 20;
/// The largest head of an answer accepted.
pub const LARGEST_HEAD: usize = 64 << 10;
/// How much of a body or a header a message shows.
const EXCERPT: usize = 48;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers in the order they came, names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body after content decoding.
    pub body: Vec<u8>,
    /// Length of the body as it came over the wire, before content decoding, bytes.
    pub wire_bytes: u64,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpFault {
    /// The request cannot be sent as HTTP/1.1.
    #[error("cannot send the request: {0}")]
    Request(String),
    /// The answer did not come in time.
    #[error("no complete answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The connection ended, or what came is no HTTP/1.1.
    #[error("no HTTP answer: {0}")]
    Protocol(String),
    /// The answer is larger than accepted.
    #[error("the answer's body is larger than {} MiB{}", LARGEST_BODY >> 20, if *.decoded { " after decoding" } else { "" })]
    TooLarge {
        /// Whether only after content decoding.
        decoded: bool,
    },
    /// The body's encoding is not known or its bytes do not fit it.
    #[error("cannot decode the answer's body: {0}")]
    Encoding(String),
}

/// Sends one request and reads its answer whole. The head may have `LARGEST_HEAD` bytes, the body
/// `LARGEST_BODY`.
///
/// # Errors
/// When no complete answer comes within the time, or it is none that loadlab can read.
pub async fn exchange(
    connection: Box<dyn Duplex>,
    host: &str,
    request: &BoundRequest,
    within: Duration,
) -> Result<Answer, HttpFault> {
    let request = build(host, request)?;
    let talk = talk(connection, request);
    let (parts, wire) = tokio::time::timeout(within, talk)
        .await
        .map_err(|_| HttpFault::Timeout(within))??;
    let wire_bytes = u64::try_from(wire.len()).unwrap_or(u64::MAX);
    let headers: Vec<(String, Vec<u8>)> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect();
    Ok(Answer {
        status: parts.status.as_u16(),
        body: decode(&headers, wire.to_vec())?,
        headers,
        wire_bytes,
    })
}

/// The request with exactly the headers that the load generator sends.
fn build(host: &str, request: &BoundRequest) -> Result<Request<Full<Bytes>>, HttpFault> {
    let mut builder = Request::builder()
        .method(request.method.as_str())
        .uri(request.path.as_str())
        .header("host", host_sent(request, host));
    for (name, value) in headers_sent(request) {
        builder = builder.header(name, value);
    }
    let body = Full::new(Bytes::from(request.body.clone().unwrap_or_default()));
    builder
        .body(body)
        .map_err(|fault| HttpFault::Request(causes(&fault)))
}

async fn talk(
    connection: Box<dyn Duplex>,
    request: Request<Full<Bytes>>,
) -> Result<(hyper::http::response::Parts, Bytes), HttpFault> {
    let protocol = |fault: hyper::Error| HttpFault::Protocol(causes(&fault));
    let (mut sender, driver) = http1::Builder::new()
        .max_buf_size(LARGEST_HEAD)
        .handshake(TokioIo::new(connection))
        .await
        .map_err(protocol)?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(protocol)?;
        let (parts, body) = Response::into_parts(response);
        Ok((parts, collect(body).await?))
    };
    tokio::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        // The connection may end with its last byte: what it delivered is still to be read.
        _ = driver => answer.await,
    }
}

async fn collect(body: Incoming) -> Result<Bytes, HttpFault> {
    match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(fault) if fault.is::<LengthLimitError>() => Err(HttpFault::TooLarge { decoded: false }),
        Err(fault) => Err(HttpFault::Protocol(causes(fault.as_ref()))),
    }
}

/// An error with the chain of its causes, safe to print.
fn causes(fault: &(dyn std::error::Error + 'static)) -> String {
    let mut text = fault.to_string();
    let mut cause = fault.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text.escape_debug().to_string()
}

fn header<'a>(headers: &'a [(String, Vec<u8>)], name: &str) -> impl Iterator<Item = &'a [u8]> {
    let name = name.to_ascii_lowercase();
    headers
        .iter()
        .filter(move |(given, _)| *given == name)
        .map(|(_, value)| value.as_slice())
}

/// Undoes the content codings, last one first.
fn decode(headers: &[(String, Vec<u8>)], wire: Vec<u8>) -> Result<Vec<u8>, HttpFault> {
    let codings: Vec<String> = header(headers, "content-encoding")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(|coding| String::from_utf8_lossy(coding).trim().to_ascii_lowercase())
        .collect();
    if wire.is_empty() {
        return Ok(wire);
    }
    codings.iter().rev().try_fold(wire, |body, coding| {
        let from = body.as_slice();
        match coding.as_str() {
            "" | "identity" => Ok(body),
            "gzip" | "x-gzip" => inflate(flate2::read::MultiGzDecoder::new(from), coding),
            "deflate" => inflate(flate2::read::ZlibDecoder::new(from), coding)
                .or_else(|_| inflate(flate2::read::DeflateDecoder::new(from), coding)),
            other => Err(HttpFault::Encoding(format!(
                "expected gzip, deflate or identity, found `{}`",
                shown(other.as_bytes())
            ))),
        }
    })
}

fn inflate(decoder: impl Read, coding: &str) -> Result<Vec<u8>, HttpFault> {
    let mut body = Vec::new();
    let most = u64::try_from(LARGEST_BODY).unwrap_or(u64::MAX);
    decoder
        .take(most + 1)
        .read_to_end(&mut body)
        .map_err(|fault| HttpFault::Encoding(format!("it is no {coding}: {fault}")))?;
    if body.len() > LARGEST_BODY {
        return Err(HttpFault::TooLarge { decoded: true });
    }
    Ok(body)
}

/// What differs from what is expected, safe to print; absent: nothing. `body` is what the body must
/// be, where that is known beforehand: the bytes of [`ExpectBody::SameAsFile`], or an answer that was
/// recorded earlier.
#[must_use]
pub fn check(answer: &Answer, expect: &Expect, body: Option<&[u8]>) -> Option<String> {
    let mut differences = Vec::new();
    if answer.status != expect.status {
        differences.push(format!(
            "status {} instead of {}{}",
            answer.status,
            expect.status,
            beginning(&answer.body)
        ));
    }
    for (name, value) in &expect.headers {
        differences.extend(check_header(answer, name, value));
    }
    match (body, &expect.body) {
        (Some(wanted), _) => differences.extend(check_body(&answer.body, wanted)),
        (None, Some(ExpectBody::Text { text })) => {
            differences.extend(check_body(&answer.body, text.as_bytes()));
        }
        (None, Some(ExpectBody::SameAsFile { file })) => differences.push(format!(
            "the body could not be compared: `{}` was not read",
            shown(file.as_bytes())
        )),
        (None, Some(ExpectBody::Length { .. }) | None) => {}
    }
    if let Some(ExpectBody::Length { bytes }) = &expect.body
        && u64::try_from(answer.body.len()) != Ok(*bytes)
    {
        differences.push(format!(
            "body of {} bytes instead of {bytes}",
            answer.body.len()
        ));
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

fn check_header(answer: &Answer, name: &str, wanted: &str) -> Option<String> {
    let found: Vec<&[u8]> = header(&answer.headers, name).collect();
    let name = shown(name.as_bytes());
    let wanted_text = shown(wanted.as_bytes());
    match found.as_slice() {
        [] => Some(format!("no header `{name}`, expected `{wanted_text}`")),
        [value] if *value == wanted.as_bytes() => None,
        [value] => Some(format!(
            "header `{name}` is `{}` instead of `{wanted_text}`",
            shown(value)
        )),
        several => Some(format!("header `{name}` came {} times", several.len())),
    }
}

fn check_body(found: &[u8], wanted: &[u8]) -> Option<String> {
    if found == wanted {
        return None;
    }
    let pairs = found.iter().zip(wanted);
    let at = pairs.take_while(|(found, wanted)| found == wanted).count();
    let lengths = if found.len() == wanted.len() {
        format!("body of {} bytes", found.len())
    } else {
        format!("body of {} bytes instead of {}", found.len(), wanted.len())
    };
    Some(format!(
        "{lengths} differs from byte {at} on: `{}` instead of `{}`",
        shown(&found[at..]),
        shown(&wanted[at..])
    ))
}

fn beginning(body: &[u8]) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!(", its body begins `{}`", shown(body))
    }
}

/// The beginning of untrusted bytes as printable ASCII.
fn shown(bytes: &[u8]) -> String {
    let more = if bytes.len() > EXCERPT { "…" } else { "" };
    let bytes = &bytes[..bytes.len().min(EXCERPT)];
    let escaped = bytes.iter().flat_map(|byte| match byte {
        b'"' | b'\'' => vec![*byte],
        other => std::ascii::escape_default(*other).collect(),
    });
    let text: String = escaped.map(char::from).collect();
    format!("{text}{more}")
}

#[cfg(test)]
mod tests;
