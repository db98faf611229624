//! The reference nginx as a member, with a configuration of loadlab's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::MemberSpec;

/// The path that load is sent to.
pub const PATH: &str = "/";
/// The path of nginx's own count of requests, read through [`super::witness`].
pub const STATUS_PATH: &str = "/loadlab/status";
/// The body of every answer.
pub const BODY: &str = "loadlab reference answer\n";
/// The name of the configuration in the member's work folder.
pub const CONFIGURATION: &str = "nginx.conf";

/// Places that distributions put nginx in when it is not in `PATH`.
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/local/nginx/sbin"];

/// Why there is no reference nginx.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no program nginx in {searched}: the reference probe needs it; \
     install it with `apt-get install nginx-light` (Debian, Ubuntu) or the package `nginx`"
)]
pub struct NoNginx {
    /// The folders that were searched.
    pub searched: String,
}

/// The nginx of this machine: looked up in `PATH` and in the usual system folders.
///
/// # Errors
/// When no folder has an executable of that name.
pub fn find() -> Result<PathBuf, NoNginx> {
    find_in(&std::env::var_os("PATH").unwrap_or_default())
}

fn find_in(path: &std::ffi::OsStr) -> Result<PathBuf, NoNginx> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .collect();
    folders.extend(PLACES.map(PathBuf::from));
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    let executable = |file: &PathBuf| {
        file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let found = folders
        .iter()
        .map(|folder| folder.join("nginx"))
        .find(executable);
    found.ok_or_else(|| NoNginx {
        searched: folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// The reference nginx on a port of 127.0.0.1 with one worker for each of the candidate's cores.
///
/// # Panics
/// Never: the member's name is plain.
#[must_use]
pub fn member(program: &Path, port: u16, workers: u32) -> MemberSpec {
    let root = rustix::process::geteuid().is_root();
    let configuration = configuration(port, workers, root);
    MemberSpec {
        name: "nginx".parse().expect("the name is plain"),
        command: vec![
            program.display().to_string(),
            "-p".to_owned(),
            ".".to_owned(),
            "-c".to_owned(),
            CONFIGURATION.to_owned(),
        ],
        env: BTreeMap::new(),
        files: BTreeMap::from([(CONFIGURATION.to_owned(), configuration.into_bytes())]),
        user: None,
        grace: Duration::from_secs(2),
        gated: false,
        outputs: Vec::new(),
    }
}

/// The configuration, every path relative to the work folder. As root the workers must be told to
/// stay root: the work folder belongs to whoever runs loadlab, and nginx's default user may not
/// enter it.
#[must_use]
pub fn configuration(port: u16, workers: u32, root: bool) -> String {
    let user = if root { "user root;\n" } else { "" };
    format!(
        "\
# The reference nginx of loadlab: no application code, a fixed answer.
{user}daemon off;
worker_processes {workers};
pid nginx.pid;
error_log stderr error;
events {{
    worker_connections 8192;
}}
http {{
    access_log off;
    server_tokens off;
    default_type text/plain;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_body_temp_path temp-body;
    proxy_temp_path temp-proxy;
    fastcgi_temp_path temp-fastcgi;
    uwsgi_temp_path temp-uwsgi;
    scgi_temp_path temp-scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location = {STATUS_PATH} {{
            stub_status;
        }}
        location / {{
            return 200 \"loadlab reference answer\\n\";
        }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_nginx_gets_told_what_to_install() {
        let fault = find_in(std::ffi::OsStr::new("/nowhere/at/all:relative"));
        if let Err(fault) = fault {
            let text = fault.to_string();
            assert!(
                text.starts_with("no program nginx in /nowhere/at/all, /usr/sbin"),
                "{text}"
            );
            assert!(text.contains("apt-get install nginx-light"), "{text}");
            assert!(!text.contains("relative"), "{text}");
        }
    }

    #[test]
    fn the_configuration_names_the_user_only_as_root() {
        insta::assert_snapshot!(configuration(8080, 2, false));
        let as_root = configuration(8080, 2, true);
        assert_eq!(
            as_root.replace("user root;\n", ""),
            configuration(8080, 2, false)
        );
    }

    #[test]
    fn the_answer_is_the_published_body() {
        assert!(configuration(1, 1, false).contains(&format!("\"{}\"", BODY.escape_default())));
    }
}
