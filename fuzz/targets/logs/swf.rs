//! For any bytes, reading a log in the Standard Workload Format, plain or packed, gives jobs or an error of one line.

#![no_main]

mod check;

use haggle_workloads::logs::LogFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check::check(bytes, Some(LogFormat::Swf)));
