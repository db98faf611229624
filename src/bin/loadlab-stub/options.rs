//! The words of the command line.

use std::net::SocketAddr;

use clap::{Args, Parser};
use loadlab::model;

/// A server whose every cost is known beforehand, with faults on demand.
///
/// Requests are numbered from 1 in the order of their arrival; the server's own account, at /__stub/count,
/// is not numbered.
#[derive(Parser)]
#[command(
    name = "loadlab-stub",
    version,
    after_help = "Examples:\n  loadlab-stub --listen 127.0.0.1:8080 --work 300us\n  loadlab-stub --listen 127.0.0.1:8080 --wrong-every 5 --wrong-body 3B\n  loadlab-stub --calibrate"
)]
pub struct Options {
    /// Address to listen on; port 0: any free one.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        required_unless_present = "calibrate"
    )]
    pub listen: Option<SocketAddr>,
    /// Burn known amounts of work, print what independent clocks show of them as JSON, and end.
    #[arg(long, conflicts_with = "listen")]
    pub calibrate: bool,
    /// CPU time burnt for each request.
    #[arg(long, default_value = "0us")]
    pub work: model::Nanoseconds,
    /// Time waited before each answer.
    #[arg(long, default_value = "0ms")]
    pub wait: model::Nanoseconds,
    /// Memory held from a request's arrival until its answer.
    #[arg(long, default_value = "0B")]
    pub hold: model::Bytes,
    /// Status of each answer.
    #[arg(long, default_value_t = 200)]
    pub status: u16,
    /// Length of each answer's body.
    #[arg(long, default_value = "64B")]
    pub body: model::Bytes,
    /// What goes wrong on purpose.
    #[command(flatten)]
    pub faults: Faults,
}

/// What goes wrong on purpose.
#[derive(Args, Clone)]
#[command(next_help_heading = "Faults on demand")]
pub struct Faults {
    /// One in so many requests gets a wrong answer: other bytes of the same length, unless told otherwise.
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub wrong_every: Option<u64>,
    /// Length of a wrong answer's body.
    #[arg(long, value_name = "SIZE", requires = "wrong_every")]
    pub wrong_body: Option<model::Bytes>,
    /// Status of a wrong answer.
    #[arg(long, value_name = "STATUS", requires = "wrong_every")]
    pub wrong_status: Option<u16>,
    /// One in so many requests ends its connection without an answer.
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub drop_every: Option<u64>,
    /// Stand still this often, from the beginning of one time to the beginning of the next.
    #[arg(long, value_name = "TIME", requires = "stall_time")]
    pub stall_every: Option<model::Nanoseconds>,
    /// How long to stand still.
    #[arg(long, value_name = "TIME", requires = "stall_every")]
    pub stall_time: Option<model::Nanoseconds>,
    /// Answer nothing any more after so many requests.
    #[arg(long, value_name = "REQUESTS")]
    pub silent_after: Option<u64>,
    /// Exit after so many requests, with code 3.
    #[arg(long, value_name = "REQUESTS")]
    pub exit_after: Option<u64>,
    /// Memory that each request leaves behind for ever.
    #[arg(long, value_name = "SIZE", default_value = "0B")]
    pub eat: model::Bytes,
    /// CPU time that each request costs more than the one before.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub grow: model::Nanoseconds,
    /// One in so many requests starts a child in the server's group.
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub child_every: Option<u64>,
    /// How long each child lives, whether the server does or not.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub child_time: model::Nanoseconds,
    /// Share of a core that each child burns.
    #[arg(long, value_name = "SHARE", requires = "child_every")]
    pub child_cpu: Option<model::Share>,
    /// Share of a core that a process outside the server's group burns on the same CPUs, from the first
    /// request until the server ends.
    #[arg(long, value_name = "SHARE")]
    pub escape: Option<model::Share>,
    /// Time after the start until connections are accepted.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub listen_after: model::Nanoseconds,
}
