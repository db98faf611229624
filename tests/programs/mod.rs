//! Where the programs are that a run of real processes needs.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};

/// The generator: named by the environment, beside `loadlab`, or in the release folder.
pub fn generator() -> Option<PathBuf> {
    let named = std::env::var_os("LOADLAB_GENERATOR").map(PathBuf::from);
    let programs = Path::new(env!("CARGO_BIN_EXE_loadlab")).parent()?;
    let release = programs.parent()?.join("release/loadlab-oha");
    let places = [named, Some(programs.join("loadlab-oha")), Some(release)];
    places.into_iter().flatten().find(|place| place.is_file())
}

/// The generator, or why no run can be made here.
pub fn needed() -> Result<PathBuf, String> {
    let generator = generator().ok_or("loadlab-oha is not built")?;
    let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"];
    if !nginx.iter().any(|place| Path::new(place).is_file()) {
        return Err("nginx is not installed".to_owned());
    }
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        return Err("there are fewer than two cores".to_owned());
    }
    Ok(generator)
}
