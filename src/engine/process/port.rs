//! Ports given out to members: free, and none twice in one run.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::Mutex;

use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};

use crate::measure::value;

/// How many ports below the kernel's own range are tried.
const SPAN: u16 = 8000;

/// The ports given out so far.
#[derive(Debug, Default)]
pub(super) struct Ports {
    given: Mutex<BTreeSet<u16>>,
}

impl Ports {
    /// A port that nobody listens on and that was not given out before; absent when there is none left.
    ///
    /// Ports come from below the range that the kernel takes for outgoing connections, so that no
    /// connection of the load sits on a port between its reservation and the member's start.
    pub(super) fn give(&self) -> Option<u16> {
        let end = first_outgoing();
        let start = end.saturating_sub(SPAN).max(1024);
        let count = u32::from(end.saturating_sub(start));
        // Runs beside each other begin at different places.
        let offset = std::process::id().wrapping_mul(97);
        let mut given = self.given.lock().expect("no holder panics");
        let port = (0..count).find_map(|step| {
            let place = offset.wrapping_add(step) % count;
            let port = start + u16::try_from(place).ok()?;
            (!given.contains(&port) && is_free(port)).then_some(port)
        })?;
        given.insert(port);
        Some(port)
    }
}

fn first_outgoing() -> u16 {
    let first = |text: &str| text.split_ascii_whitespace().next()?.parse().ok();
    let file = Path::new("/proc/sys/net/ipv4/ip_local_port_range");
    value(file, "a range", first).unwrap_or(32768).max(2048)
}

/// Whether a member could listen there, on loopback as on all addresses. Binds without listening, so
/// that nothing is open to the outside meanwhile.
fn is_free(port: u16) -> bool {
    let free = || {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))
    };
    free().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice_nor_one_in_use() {
        let ports = Ports::default();
        let first = ports.give().unwrap();
        let listener = std::net::TcpListener::bind(("127.0.0.1", first)).unwrap();
        assert!(!is_free(first));
        let others = Ports::default();
        let given: BTreeSet<u16> = (0..50).map(|_| others.give().unwrap()).collect();
        assert_eq!(given.len(), 50);
        assert!(!given.contains(&first));
        drop(listener);
        assert!(given.iter().all(|port| *port < first_outgoing()));
    }
}
