//! For any bytes, the format of a log is recognised, and reading it gives jobs or an error of one line.

#![no_main]

mod check;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check::check(bytes, None));
