//! Whatever bytes a log has, plain or packed, reading it ends in a count or in
//! an error of one line.

#![no_main]

use haggle_model::workload::swf::{Malformed, parse_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = parse_bytes(bytes, Malformed::Refuse) {
        assert!(!error.to_string().contains('\n'), "{error:?} is more than a line");
    }
    // What is skipped is skipped; only broken packing can still be an error.
    let _ = parse_bytes(bytes, Malformed::Skip);
});
