//! The command line of one shot: everything that oha could decide by itself is told to it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{ALLOW_DEBUG, Oha, REQUESTS_FILE, RESULT_FILE, WATCH_FILE};
use crate::engine::MemberSpec;
use crate::load::{Address, headers_sent, host_sent};
use crate::model::{CpuSet, LoadPoint, Shot};

/// The file with the request's body in the work folder.
const BODY_FILE: &str = "request-body";

pub(super) fn member(
    oha: &Oha,
    shot: &Shot,
    address: &Address,
    cpus: &CpuSet,
) -> Result<MemberSpec, String> {
    check(shot)?;
    let mut command = own(oha, shot, cpus);
    command.push("--".to_owned());
    command.extend(fixed(shot));
    command.extend(shape(shot));
    command.extend(request(shot, address)?);
    let body = shot.request.body.clone();
    let mut outputs = vec![RESULT_FILE.to_owned(), WATCH_FILE.to_owned()];
    outputs.extend(shot.keep_requests.then(|| REQUESTS_FILE.to_owned()));
    Ok(MemberSpec {
        name: "oha".parse().map_err(|_| "have a name".to_owned())?,
        command,
        env: environment(oha),
        files: body
            .map(|bytes| (BODY_FILE.to_owned(), bytes))
            .into_iter()
            .collect(),
        user: None,
        grace: Duration::from_secs(2),
        gated: true,
        outputs,
    })
}

/// The certificates of the machine are of no use here and cost time before the first request.
fn environment(oha: &Oha) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([("SSL_CERT_FILE".to_owned(), "/dev/null".to_owned())]);
    if oha.allow_debug {
        env.insert(ALLOW_DEBUG.to_owned(), "1".to_owned());
    }
    env
}

fn check(shot: &Shot) -> Result<(), String> {
    if shot.duration.0 == 0 || shot.timeout.0 == 0 {
        return Err("make load for no time, or wait no time for an answer".to_owned());
    }
    if shot.connections == 0 || shot.threads == 0 {
        return Err("make load without connections or threads".to_owned());
    }
    match shot.at {
        LoadPoint::Connections(count) if count != shot.connections => Err(format!(
            "use {count} connections and {} at once",
            shot.connections
        )),
        _ => Ok(()),
    }
}

/// What `loadlab-oha` itself is told, before the `--`.
fn own(oha: &Oha, shot: &Shot, cpus: &CpuSet) -> Vec<String> {
    let program = oha.program.display().to_string();
    let mut words = vec![
        program,
        "--pin".to_owned(),
        cpus.to_string(),
        "--gate".to_owned(),
        "--watch".to_owned(),
        WATCH_FILE.to_owned(),
    ];
    if shot.keep_requests {
        words.extend(["--requests".to_owned(), REQUESTS_FILE.to_owned()]);
    }
    words
}

fn fixed(shot: &Shot) -> Vec<String> {
    let timeout = shot.timeout.to_string();
    let threads = shot.threads.to_string();
    [
        "--no-tui",
        "--output-format",
        "json",
        "--output",
        RESULT_FILE,
        "--worker-threads",
        &threads,
        "--http-version",
        "1.1",
        "--redirect",
        "0",
        "--disable-compression",
        "-t",
        &timeout,
        "--connect-timeout",
        &timeout,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// An open loop waits for what is under way at the window's end; a closed loop gives it up, so that
/// no answer comes from after the window.
fn shape(shot: &Shot) -> Vec<String> {
    let mut words = vec![
        "-z".to_owned(),
        shot.duration.to_string(),
        "-c".to_owned(),
        shot.connections.to_string(),
    ];
    if let Some(rate) = shot.rate() {
        words.extend(["-q".to_owned(), rate.get().to_string()]);
        words.extend(["--latency-correction", "-w"].map(str::to_owned));
    }
    words
}

fn request(shot: &Shot, address: &Address) -> Result<Vec<String>, String> {
    let request = &shot.request;
    let host = host_sent(request, &address.to_string());
    let mut words = vec!["-m".to_owned(), method(&request.method)?.to_owned()];
    words.push(format!("--host={}", header_value("host", &host)?));
    let headers = headers_sent(request);
    let given = request
        .headers
        .keys()
        .filter(|name| !name.eq_ignore_ascii_case("host"));
    let defaults = ["accept", "user-agent"].iter().filter(|name| {
        !request
            .headers
            .keys()
            .any(|given| given.eq_ignore_ascii_case(name))
    });
    if given.count() + defaults.count() != headers.len() {
        return Err("send one header twice".to_owned());
    }
    for (name, value) in &headers {
        let value = header_value(name, value)?;
        words.extend(["-H".to_owned(), format!("{}: {value}", header_name(name)?)]);
    }
    if request.body.is_some() {
        words.extend(["-D".to_owned(), BODY_FILE.to_owned()]);
    }
    words.push(format!("http://{address}{}", path(&request.path)?));
    Ok(words)
}

fn is_token(text: &str) -> bool {
    let mark = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte) || byte.is_ascii_alphanumeric();
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(mark)
}

fn method(method: &str) -> Result<&str, String> {
    if is_token(method) {
        Ok(method)
    } else {
        Err(format!("send the method `{}`", method.escape_debug()))
    }
}

fn header_name(name: &str) -> Result<&str, String> {
    if is_token(name) {
        Ok(name)
    } else {
        Err(format!("send a header named `{}`", name.escape_debug()))
    }
}

fn header_value<'a>(name: &str, value: &'a str) -> Result<&'a str, String> {
    let printable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if printable && value.trim() == value {
        Ok(value)
    } else {
        Err(format!(
            "send the value `{}` of the header `{}`: only printable ASCII without spaces at its ends",
            value.escape_debug(),
            name.escape_debug()
        ))
    }
}

/// oha reads its target as a URL and writes it anew, which changes some paths on the way: those
/// are refused, so that what the manifest says is what goes out.
fn path(path: &str) -> Result<&str, String> {
    let fault = |why: &str| Err(format!("send the path `{}`: {why}", path.escape_debug()));
    if !path.starts_with('/') {
        return fault("it does not begin with `/`");
    }
    let kept =
        |character: char| ('!'..='~').contains(&character) && !"\"#<>\\^`{|}'".contains(character);
    if let Some(character) = path.chars().find(|character| !kept(*character)) {
        let shown = character.escape_debug();
        return fault(&format!("`{shown}` has to be percent-encoded"));
    }
    let plain = path.split('?').next().unwrap_or(path).to_ascii_lowercase();
    let dots = plain.replace("%2e", ".");
    if dots.split('/').any(|part| part == "." || part == "..") {
        return fault("`.` and `..` would be resolved before it is sent");
    }
    Ok(path)
}

#[cfg(test)]
mod tests;
