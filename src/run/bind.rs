//! Placeholders and files of a role, bound to what an engine gave it.
//!
//! A source that ends in `.j2` is rendered by minijinja, strictly: an unknown name is an error with its
//! line. Every other file is copied byte for byte.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Enumerator, Object, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::error::RunError;
use super::files::Files;
use super::rig::Programs;
use crate::engine::{Group, MemberSpec};
use crate::load::stub;
use crate::model::candidate::{Definition, Member, Process, Program};
use crate::model::standards::{Server, Weight};
use crate::model::template::{Bindings, Placeholder};
use crate::model::{Budget, MemberName, PortName, ServiceName, Template};
use crate::probe::nginx;

/// Where a service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAddress {
    /// Host name or address.
    pub host: String,
    /// The port of its endpoint.
    pub port: u16,
}

/// A command and the files that it brings along, by name in the work folder.
type Started = (Vec<String>, BTreeMap<String, Vec<u8>>);

/// What a role's texts and files are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binder<'a> {
    /// What runs.
    pub definition: &'a Definition,
    /// What the engine gave it.
    pub group: &'a Group,
    /// What it may use.
    pub budget: &'a Budget,
    /// The services that run.
    pub services: &'a BTreeMap<ServiceName, ServiceAddress>,
    /// The experiment's files.
    pub files: &'a Files,
    /// Programs that loadlab knows the place of.
    pub programs: &'a Programs,
}

impl Binder<'_> {
    /// Every member as it is started, in starting order.
    ///
    /// # Errors
    /// When a placeholder or a file cannot be bound.
    pub fn members(&self) -> Result<Vec<MemberSpec>, RunError> {
        let members = self.definition.members.iter();
        members
            .map(|(name, member)| self.member(name, member))
            .collect()
    }

    /// The values of every placeholder that a member's texts may name.
    #[must_use]
    pub fn bindings(&self, name: &MemberName) -> Bindings {
        let mut bindings = Bindings::new();
        if let Some(member) = self.definition.members.get(name) {
            bindings.extend(self.own(name, member));
        }
        for (other, member) in &self.definition.members {
            bindings.extend(self.of_member(other, member));
        }
        let values = self.definition.values.iter();
        bindings
            .extend(values.map(|(name, value)| (Placeholder::Value(name.clone()), value.clone())));
        let budget = budget_fields(self.budget).into_iter();
        bindings
            .extend(budget.map(|(field, value)| (Placeholder::Budget(field.to_owned()), value)));
        for (service, address) in self.services {
            for (field, value) in address.fields() {
                let placeholder = Placeholder::Service(service.clone(), field.to_owned());
                bindings.insert(placeholder, value);
            }
        }
        bindings
    }

    fn own(&self, name: &MemberName, member: &Member) -> Vec<(Placeholder, String)> {
        let port = |port: &PortName| self.port(name, port).map(|number| number.to_string());
        let mut bindings: Vec<_> = member
            .ports
            .iter()
            .filter_map(|named| Some((Placeholder::Port(Some(named.clone())), port(named)?)))
            .collect();
        let first = member.ports.first().and_then(port);
        bindings.extend(first.map(|port| (Placeholder::Port(None), port)));
        bindings.extend(self.work(name).map(|work| (Placeholder::Work, work)));
        bindings
    }

    fn of_member(&self, name: &MemberName, member: &Member) -> Vec<(Placeholder, String)> {
        let port = member.ports.first().and_then(|port| self.port(name, port));
        let field =
            |field: &str, value| (Placeholder::Member(name.clone(), field.to_owned()), value);
        let port = port.map(|port| field("port", port.to_string()));
        let work = self.work(name).map(|work| field("work", work));
        port.into_iter().chain(work).collect()
    }

    fn port(&self, member: &MemberName, port: &PortName) -> Option<u16> {
        let key = (member.clone(), port.clone());
        self.group.ports.get(&key).copied()
    }

    fn work(&self, member: &MemberName) -> Option<String> {
        let work = self.group.work.get(member)?;
        Some(work.to_string_lossy().into_owned())
    }

    fn member(&self, name: &MemberName, member: &Member) -> Result<MemberSpec, RunError> {
        let bindings = self.bindings(name);
        let env = member.env.iter();
        let env = env.map(|(key, value)| Ok((key.clone(), self.bind(name, value, &bindings)?)));
        let files = member.files.iter();
        let files = files.map(|(to, from)| Ok((to.clone(), self.render(name, member, from)?)));
        let mut files = files.collect::<Result<BTreeMap<_, _>, RunError>>()?;
        let (command, own) = self.command(name, member, &bindings)?;
        files.extend(own);
        Ok(MemberSpec {
            name: name.clone(),
            command,
            env: env.collect::<Result<_, RunError>>()?,
            files,
            user: member.user.clone(),
            grace: member.grace.duration(),
            gated: false,
            outputs: Vec::new(),
        })
    }

    fn command(
        &self,
        name: &MemberName,
        member: &Member,
        bindings: &Bindings,
    ) -> Result<Started, RunError> {
        match &member.program {
            Program::Process(Process { command, .. }) => {
                let words = command.iter();
                let words = words.map(|word| self.bind(name, word, bindings));
                let words = self.programs.placed(words.collect::<Result<_, _>>()?);
                Ok((words, BTreeMap::new()))
            }
            Program::Stub(stub) => {
                let port = self.only_port(name, member)?;
                let command = stub::command(&self.programs.stub, stub, port);
                Ok((command, BTreeMap::new()))
            }
            Program::Weight(weight) => self.weight(name, member, weight),
        }
    }

    /// The command of a planted server and the files that it brings along.
    fn weight(
        &self,
        name: &MemberName,
        member: &Member,
        weight: &Weight,
    ) -> Result<Started, RunError> {
        let port = self.only_port(name, member)?;
        let (server, files) = match &weight.server {
            Server::Stub(stub) => (
                stub::command(&self.programs.stub, stub, port),
                BTreeMap::new(),
            ),
            Server::Nginx => {
                let workers = self.budget.cores.unwrap_or(1);
                let nginx = nginx::member(&self.programs.nginx, port, workers);
                (nginx.command, nginx.files)
            }
        };
        let mut command = Vec::new();
        if weight.has_companion() {
            command = stub::beside(&self.programs.stub, weight.extra, weight.hold);
        }
        command.extend(server);
        Ok((command, files))
    }

    fn only_port(&self, name: &MemberName, member: &Member) -> Result<u16, RunError> {
        let port = member.ports.first();
        let port = port.and_then(|port| self.port(name, port));
        port.ok_or_else(|| RunError::Unbound {
            what: format!("the test server `{name}`"),
            because: "it has no port".to_owned(),
        })
    }

    /// A text of a member with every placeholder replaced.
    ///
    /// # Errors
    /// When a placeholder has no value.
    pub fn bind(
        &self,
        name: &MemberName,
        template: &Template,
        bindings: &Bindings,
    ) -> Result<String, RunError> {
        template
            .bind(bindings)
            .map_err(|unbound| RunError::Unbound {
                what: format!("a text of member `{name}`"),
                because: unbound.to_string(),
            })
    }

    fn render(
        &self,
        name: &MemberName,
        member: &Member,
        source: &str,
    ) -> Result<Vec<u8>, RunError> {
        let bytes = self.files.get(source)?;
        if !source.ends_with(".j2") {
            return Ok(bytes.to_vec());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| RunError::Unbound {
            what: format!("`{source}`"),
            because: format!("it is no UTF-8 text: {error}"),
        })?;
        let rendered = render(source, text, self.context(name, member));
        rendered.map(String::into_bytes)
    }

    fn context(&self, name: &MemberName, member: &Member) -> Value {
        let members = self.definition.members.iter();
        let members = members.map(|(other, member)| {
            let fields = self.of_member(other, member).into_iter();
            let fields = fields.map(|(placeholder, value)| (last_word(&placeholder), value));
            (other.to_string(), fields.collect::<BTreeMap<_, _>>())
        });
        let services = self.services.iter();
        let services = services
            .map(|(service, address)| (service.to_string(), BTreeMap::from(address.fields())));
        let named = context! {
            port => Value::from_object(self.ports(name, member)),
            work => self.work(name),
            value => self.definition.values.clone(),
            budget => budget_fields(self.budget),
            member => members.collect::<BTreeMap<_, _>>(),
            service => services.collect::<BTreeMap<_, _>>(),
        };
        let bare: BTreeMap<String, String> = self.definition.values.clone();
        let bare = Value::from(bare);
        // What comes first wins: a value named `port` cannot hide the port.
        context! { ..named, ..bare }
    }

    fn ports(&self, name: &MemberName, member: &Member) -> Ports {
        let ports = member.ports.iter();
        let ports = ports.filter_map(|port| Some((port.to_string(), self.port(name, port)?)));
        Ports {
            ports: ports.collect(),
        }
    }
}

impl ServiceAddress {
    fn fields(&self) -> [(&'static str, String); 3] {
        let Self { host, port } = self;
        [
            ("url", format!("http://{host}:{port}")),
            ("host", host.clone()),
            ("port", port.to_string()),
        ]
    }
}

fn last_word(placeholder: &Placeholder) -> String {
    let text = placeholder.to_string();
    text.rsplit('.').next().unwrap_or_default().to_owned()
}

fn budget_fields(budget: &Budget) -> BTreeMap<&'static str, String> {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let fields = [
        ("cores", number(budget.cores)),
        ("memory", budget.memory.map(|memory| memory.0.to_string())),
        ("processes", number(budget.processes)),
        ("connections", number(budget.connections)),
    ];
    let known = fields.into_iter();
    known
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn render(source: &str, text: &str, context: Value) -> Result<String, RunError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    environment.set_syntax(
        syntax
            .build()
            .expect("Jinja's own marks are a valid syntax"),
    );
    let template = environment.template_from_named_str(source, text);
    let rendered = template.and_then(|template| template.render(context));
    rendered.map_err(|error| RunError::Unbound {
        what: error.line().map_or_else(
            || format!("`{source}`"),
            |line| format!("`{source}`, line {line}"),
        ),
        because: error.detail().map_or_else(
            || error.kind().to_string(),
            |detail| format!("{}: {detail}", error.kind()),
        ),
    })
}

/// The ports of a member: printed alone it is the first one, and each has its name.
#[derive(Debug)]
struct Ports {
    ports: Vec<(String, u16)>,
}

impl Object for Ports {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        let port = self.ports.iter().find(|(port, _)| port == name);
        port.map(|(_, number)| Value::from(*number))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let names = self.ports.iter().map(|(name, _)| Value::from(name.clone()));
        Enumerator::Values(names.collect())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ports.first() {
            Some((_, number)) => write!(f, "{number}"),
            None => Err(fmt::Error),
        }
    }
}

#[cfg(test)]
mod tests;
