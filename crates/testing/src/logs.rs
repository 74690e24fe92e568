//! Logs of real machines, which are not part of this repository.

use std::env;
use std::path::PathBuf;

/// Path of a log in the folder that the environment variable `HAGGLE_TRACES` names.
///
/// Tests that call it stand in a module `real_logs` and are ignored with the reason "needs the logs
/// of HAGGLE_TRACES". The gate runs them by this name where the logs are available.
///
/// # Panics
///
/// If the variable is not set, or if the folder has no such file.
#[track_caller]
pub fn real_log(name: &str) -> PathBuf {
    let Some(folder) = env::var_os("HAGGLE_TRACES") else {
        panic!("this test needs logs: set HAGGLE_TRACES to the folder that holds {name}");
    };
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "the folder that HAGGLE_TRACES names lacks {name}");
    path
}
