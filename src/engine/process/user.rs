//! Users that members run as.

use std::fs;

/// User and group of a name in `/etc/passwd`, of a number, or of two numbers `user:group`.
pub(super) fn find(name: &str) -> Result<(u32, u32), String> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    parse(name, &passwd).ok_or_else(|| {
        format!(
            "there is no user `{}` in /etc/passwd; a number or `user:group` in numbers is fine too",
            name.escape_debug()
        )
    })
}

fn parse(name: &str, passwd: &str) -> Option<(u32, u32)> {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let numbers = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
        Some((fields[0].to_owned(), numbers))
    };
    let users: Vec<(String, (u32, u32))> = passwd.lines().filter_map(of_line).collect();
    if let Some((_, found)) = users.iter().find(|(known, _)| known == name) {
        return Some(*found);
    }
    if let Some((user, group)) = name.split_once(':') {
        return Some((user.parse().ok()?, group.parse().ok()?));
    }
    let number: u32 = name.parse().ok()?;
    let group = users
        .iter()
        .find(|(_, (user, _))| *user == number)
        .map(|(_, (_, group))| *group);
    Some((number, group.unwrap_or(number)))
}

/// Whether this process may become that user.
pub(super) fn may_become(user: u32) -> bool {
    let own = rustix::process::geteuid();
    own.is_root() || own.as_raw() == user
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_a_name_or_numbers() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nweb:x:33:44::/:/bin/false\nbad line\n";
        for (name, expected) in [
            ("web", Some((33, 44))),
            ("33", Some((33, 44))),
            ("7", Some((7, 7))),
            ("7:8", Some((7, 8))),
            ("nobody-here", None),
            ("a:b", None),
        ] {
            assert_eq!(parse(name, passwd), expected, "{name}");
        }
    }
}
