//! No input makes the readers panic, and every error is one line that names the file.

use std::io::Write;

use haggle_workflows::files::parse_bytes;
use proptest::prelude::*;

use crate::files::{DAX, NEW, OLD};

fn check(bytes: &[u8]) {
    if let Err(error) = parse_bytes(bytes) {
        let text = error.to_string();
        assert!(text.starts_with("<memory>:") && !text.contains('\n'), "{text}");
        assert!(text.len() < 4_000, "{text}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("memory takes it");
    gzip.finish().expect("memory takes it")
}

#[test]
fn cut_short() {
    for text in [NEW, OLD, DAX] {
        for end in 0..text.trim_end().len() {
            assert!(parse_bytes(&text.as_bytes()[..end]).is_err(), "{end}");
        }
        let packed = gzip(text.as_bytes());
        assert!(parse_bytes(&packed).is_ok());
        for end in 10..packed.len() {
            let error = parse_bytes(&packed[..end]).expect_err("cut short").to_string();
            assert!(error.starts_with("<memory>: cannot read on: "), "{error}");
        }
    }
}

/// Places and bytes to write, put in or take out there.
fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    let value = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"0123456789.-+eE\"{}[]<>/=&,: abc\n\0\xff".to_vec())
    ];
    proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, value), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_files(mutations in mutations(), which in 0..3_usize, packed in any::<bool>()) {
        let text = [NEW, OLD, DAX][which].as_bytes();
        let mut bytes = if packed { gzip(text) } else { text.to_vec() };
        for (place, kind, value) in mutations {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = value,
                1 => bytes.insert(place, value),
                _ => {
                    bytes.remove(place);
                }
            }
        }
        check(&bytes);
    }

    /// Parts of good files in any order.
    #[test]
    fn shuffled_lines(order in proptest::collection::vec(any::<prop::sample::Index>(), 0..40), which in 0..3_usize) {
        let lines: Vec<&str> = [NEW, OLD, DAX][which].lines().collect();
        let text: Vec<&str> = order.iter().map(|place| lines[place.index(lines.len())]).collect();
        check(text.join("\n").as_bytes());
        check(format!("{}\n{}", lines[..2].join("\n"), text.join("\n")).as_bytes());
    }
}
