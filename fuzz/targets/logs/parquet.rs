//! For any bytes, reading a Parquet file by a mapping gives jobs or an error of one line.

#![no_main]

mod check;

use std::panic::{PanicHookInfo, set_hook};

use haggle_workloads::logs::LogFormat;
use libfuzzer_sys::fuzz_target;

/// The reader catches panics of the library of Parquet. All others end the process, as they do in other targets.
fn end_unless_in_library(panic: &PanicHookInfo<'_>) {
    if !panic.location().is_some_and(|it| it.file().contains("/parquet-")) {
        eprintln!("{panic}");
        std::process::abort();
    }
}

fuzz_target!(init: set_hook(Box::new(end_unless_in_library)), |bytes: &[u8]| {
    check::check(bytes, Some(LogFormat::Parquet));
});
