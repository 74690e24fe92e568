//! For any bytes, reading a file of a workflow, plain or packed, gives a workflow or an error of one line that names
//! the file. A workflow that was read can be written, and is the same when it is read back.

#![no_main]

use haggle_workflows::files::{NegativeValues, Rules, parse_bytes, write};
use libfuzzer_sys::fuzz_target;

const RULES: Rules = Rules { negative_values: NegativeValues::Zero };

fuzz_target!(|bytes: &[u8]| match RULES.parse_bytes(bytes).map(|read| read.workflow) {
    Ok(workflow) => {
        let mut written = Vec::new();
        write(&workflow, "fuzzed", &mut written).expect("memory takes it");
        let read = parse_bytes(&written).expect("what is written is good");
        assert!(read.tasks().len() == workflow.tasks().len() && read.edges().eq(workflow.edges()));
    }
    Err(error) => {
        let text = error.to_string();
        assert!(text.starts_with("<memory>:") && !text.contains('\n'), "{text}");
    }
});
