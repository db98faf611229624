use std::path::PathBuf;

use indexmap::IndexMap;

use super::*;
use crate::model::candidate::{Endpoint, Ready};
use crate::model::standards::{self, Difference};
use crate::model::{EngineKind, Nanoseconds, Role, Share};

fn member(command: &[&str], files: &[(&str, &str)]) -> Member {
    Member {
        program: Program::Process(Process {
            command: command.iter().map(|word| word.parse().unwrap()).collect(),
            version: None,
        }),
        env: BTreeMap::from([(
            "UPSTREAM".to_owned(),
            "{{ service.db.url }}".parse().unwrap(),
        )]),
        files: files
            .iter()
            .map(|(to, from)| ((*to).to_owned(), (*from).to_owned()))
            .collect(),
        user: None,
        ports: vec!["http".parse().unwrap(), "admin".parse().unwrap()],
        grace: Nanoseconds::seconds(1),
    }
}

fn definition(member: Member) -> Definition {
    Definition {
        engine: EngineKind::Process,
        members: IndexMap::from([("main".parse().unwrap(), member)]),
        endpoint: Endpoint {
            member: "main".parse().unwrap(),
            port: "http".parse().unwrap(),
        },
        values: BTreeMap::from([("gzip".to_owned(), "on".to_owned())]),
        ready: Ready::Tcp {
            within: Nanoseconds::seconds(1),
        },
        prewarm: Vec::new(),
        departures: Vec::new(),
        witness: None,
    }
}

fn group() -> Group {
    let port = |port: &str, number| (("main".parse().unwrap(), port.parse().unwrap()), number);
    Group {
        id: "g".to_owned(),
        role: Role::Candidate,
        host: "127.0.0.1".to_owned(),
        ports: BTreeMap::from([port("admin", 9001), port("http", 9000)]),
        work: BTreeMap::from([("main".parse().unwrap(), PathBuf::from("/run/w"))]),
    }
}

fn members(definition: &Definition, files: &[(&str, &str)]) -> Result<Vec<MemberSpec>, RunError> {
    let files = files
        .iter()
        .map(|(path, text)| (*path, text.as_bytes().to_vec()));
    let services = BTreeMap::from([(
        "db".parse().unwrap(),
        ServiceAddress {
            host: "127.0.0.1".to_owned(),
            port: 5432,
        },
    )]);
    let programs = Programs {
        nginx: PathBuf::from("/nginx"),
        stub: PathBuf::from("/stub"),
        found: BTreeMap::from([("server".to_owned(), PathBuf::from("/opt/server"))]),
    };
    Binder {
        definition,
        group: &group(),
        budget: &Budget {
            cores: Some(2),
            ..Budget::default()
        },
        services: &services,
        files: &Files::of(files),
        programs: &programs,
    }
    .members()
}

#[test]
fn texts_and_files_are_bound_to_what_the_engine_gave() {
    let command = [
        "server",
        "-p",
        "{{ work }}",
        "{{ port }}",
        "{{ port.admin }}",
        "{{ budget.cores }}",
    ];
    let files = [
        ("conf/server.conf", "server.conf.j2"),
        ("page.html", "page.html"),
    ];
    let template = "listen {{ port }} {{ port.admin }};\n{% if gzip == 'on' %}gzip {{ value.gzip }};\n{% endif %}\
                    up {{ service.db.host }}:{{ service.db.port }} {{ member.main.work }} {{ budget.cores }}\n";
    let page = "{{ not a template }}\n";
    let bound = members(
        &definition(member(&command, &files)),
        &[("server.conf.j2", template), ("page.html", page)],
    );
    let bound = bound.unwrap().remove(0);
    assert_eq!(
        bound.command,
        ["/opt/server", "-p", "/run/w", "9000", "9001", "2"]
    );
    assert_eq!(bound.env["UPSTREAM"], "http://127.0.0.1:5432");
    let text = |file: &str| String::from_utf8(bound.files[file].clone()).unwrap();
    assert_eq!(
        text("conf/server.conf"),
        "listen 9000 9001;\ngzip on;\nup 127.0.0.1:5432 /run/w 2\n"
    );
    assert_eq!(text("page.html"), page);
}

#[test]
fn an_unknown_name_is_an_error_with_its_file_and_line() {
    for (template, message) in [
        (
            "a\n{{ prot }}",
            "cannot render `c.j2`, line 2: undefined value",
        ),
        (
            "{{ value.gzp }}",
            "cannot render `c.j2`, line 1: undefined value",
        ),
        (
            "{{ port.web }}",
            "cannot render `c.j2`, line 1: undefined value",
        ),
        (
            "{% if %}",
            "cannot render `c.j2`, line 1: syntax error: unexpected end of block",
        ),
    ] {
        let definition = definition(member(&["server"], &[("c", "c.j2")]));
        let fault = members(&definition, &[("c.j2", template)]).unwrap_err();
        assert!(
            fault.to_string().starts_with(message),
            "{template}: {fault}"
        );
    }
}

#[test]
fn a_placeholder_without_a_value_is_an_error() {
    let definition = definition(member(&["server", "{{ budget.memory }}"], &[]));
    assert_eq!(
        members(&definition, &[]).unwrap_err().to_string(),
        "cannot render a text of member `main`: `{{ budget.memory }}` in `{{ budget.memory }}` has no value"
    );
}

fn weight(weight: Weight) -> MemberSpec {
    let member = Member {
        program: Program::Weight(weight),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        ..member(&[], &[])
    };
    members(&definition(member), &[]).unwrap().remove(0)
}

#[test]
fn a_planted_server_is_one_of_loadlabs_own_with_a_companion_where_something_is_on_top() {
    let work = Nanoseconds(150_000);
    let by = Share::percent(5);
    let plain = weight(Weight::stub(work)).command.join(" ");
    assert!(
        plain.starts_with("/stub --listen 127.0.0.1:9000 --work 150us --wait 0s"),
        "{plain}"
    );
    let dearer = weight(Weight::with(Difference::Cpu { by }, work));
    assert_eq!(
        dearer.command.join(" "),
        format!("/stub beside --extra 5% --hold 0B -- {plain}")
    );
    let nginx = weight(Weight::with(Difference::Nginx { by }, work));
    assert_eq!(
        nginx.command.join(" "),
        "/stub beside --extra 5% --hold 0B -- /nginx -p . -c nginx.conf"
    );
    let configuration = String::from_utf8(nginx.files["nginx.conf"].clone()).unwrap();
    assert!(
        configuration.contains("worker_processes 2;"),
        "{configuration}"
    );
    assert!(configuration.contains("127.0.0.1:9000"), "{configuration}");
    let by = Nanoseconds::milliseconds(2);
    let later = weight(Weight::with(Difference::Delay { by }, work));
    assert_eq!(
        later.command.join(" "),
        plain.replace("--wait 0s", "--wait 2ms")
    );
}

#[test]
fn planted_servers_answer_and_count_as_their_programs_do() {
    assert_eq!(standards::BODY.0, nginx::BODY.len() as u64);
    let counts = |weight: Weight| match weight.witness() {
        crate::model::candidate::Witness::Counter { path, pattern } => {
            assert_eq!(path, stub::COUNT_PATH);
            let account = stub::StubCount {
                answered: 12,
                cpu_ns: 3,
            };
            let page = serde_json::to_string(&account).unwrap();
            let found = regex::Regex::new(&pattern).unwrap();
            assert_eq!(&found.captures(&page).unwrap()[1], "12");
        }
        crate::model::candidate::Witness::StubStatus { path } => {
            assert_eq!(path, nginx::STATUS_PATH);
        }
        crate::model::candidate::Witness::Stub => panic!("the page is named"),
    };
    counts(Weight::stub(Nanoseconds(1)));
    counts(Weight::nginx());
}
