//! No input makes the readers panic, and every error is one line that names the file.

use std::io::Write;

use haggle_workflows::files::{Described, NegativeValues, Rules, parse_bytes};
use proptest::prelude::*;

use crate::files::{DAX, NEW, OLD};

/// Files of several writers, a negative size, and a run time as a profile.
const IN_PLACE: &str = r#"<adag name="in-place">
  <job id="a" name="p" runtime="1"><uses name="f" link="output" size="1.0E2"/></job>
  <job id="b" name="p"><profile namespace="pegasus" key="runtime">20</profile>
    <uses name="f" link="inout" size="-100"/></job>
  <job id="c" name="p" runtime="5"><uses name="f" link="input" size="100.0"/></job>
  <child ref="b"><parent ref="a"/></child>
  <child ref="c"><parent ref="b"/></child>
</adag>
"#;

fn check(bytes: &[u8]) {
    let zero = Rules { negative_values: NegativeValues::Zero };
    if let Ok(Described { notes, .. }) = zero.parse_bytes(bytes) {
        assert!(notes.iter().all(|note| note.len() < 1_000 && !note.contains('\n')), "{notes:?}");
    }
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
    fn mutated_files(mutations in mutations(), which in 0..4_usize, packed in any::<bool>()) {
        let text = [NEW, OLD, DAX, IN_PLACE][which].as_bytes();
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
    fn shuffled_lines(order in proptest::collection::vec(any::<prop::sample::Index>(), 0..40), which in 0..4_usize) {
        let lines: Vec<&str> = [NEW, OLD, DAX, IN_PLACE][which].lines().collect();
        let text: Vec<&str> = order.iter().map(|place| lines[place.index(lines.len())]).collect();
        check(text.join("\n").as_bytes());
        check(format!("{}\n{}", lines[..2].join("\n"), text.join("\n")).as_bytes());
    }
}
