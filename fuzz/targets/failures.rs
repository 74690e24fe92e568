//! For any bytes, reading a record of failures, plain or packed, gives nodes or an error of one line that names the
//! file. Outages of a node never overlap.

#![no_main]

use haggle_workloads::failures::recorded::{RecordFormat, parse_bytes};
use haggle_workloads::swf::Malformed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in RecordFormat::ALL.map(Some).into_iter().chain([None]) {
        if let Err(error) = parse_bytes(bytes, format, Malformed::Refuse) {
            let text = error.to_string();
            assert!(text.starts_with("<memory>:") && !text.contains('\n'), "{text}");
        }
        // Malformed lines are skipped, so only broken packing is an error here.
        let Ok(recording) = parse_bytes(bytes, format, Malformed::Skip) else { continue };
        for node in &recording.nodes {
            let outages = node.outages.as_slice();
            assert!(outages.windows(2).all(|pair| pair[0].restore < pair[1].fail), "{node:?}");
        }
    }
});
