//! For any bytes, reading a log, plain or packed, gives a count or an error of one line.

#![no_main]

use haggle_workloads::swf::{Malformed, parse_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = parse_bytes(bytes, Malformed::Refuse) {
        assert!(!error.to_string().contains('\n'), "{error:?} is more than a line");
    }
    // Malformed lines are skipped, so only broken packing is an error here.
    let _ = parse_bytes(bytes, Malformed::Skip);
});
