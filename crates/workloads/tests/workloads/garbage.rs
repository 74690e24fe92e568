//! No input makes the reader panic: real-looking logs with damage, and noise.

use haggle_workloads::swf::{Malformed, parse_bytes};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

const LOG: &str = "\
; Version: 2.2
; MaxProcs: 338 (batch partition; 512 total)
;
    1        0 588530    937  306 142.00    -1   -1  35100    -1  1  97  -1 307  3 -1 -1 -1
    2   164472 356587     75   17   2.00    -1   -1    300    -1  1  81  -1 195  3 -1 -1 -1
   16   340050  50601    563   81     -1    -1   -1   3600    -1  0  43  -1  72  1 -1 -1 -1
";

/// Either result is fine, as long as there is one and its message is one line.
fn check(bytes: &[u8]) {
    if let Err(error) = parse_bytes(bytes, Malformed::Refuse) {
        let text = error.to_string();
        assert!(text.starts_with("<memory>:") && !text.contains('\n'), "{text}");
        assert!(text.len() < 400, "{text}");
    }
    // Malformed lines are skipped; only broken packing can still be an error.
    let _ = parse_bytes(bytes, Malformed::Skip);
}

fn packed(bytes: &[u8]) -> [Vec<u8>; 2] {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("memory takes it");
    let gzip = gzip.finish().expect("memory takes it");
    [gzip, compress_to_vec(bytes, CompressionLevel::Fastest)]
}

/// A change of one byte: overwrite, insert or remove.
fn mutate(bytes: &mut Vec<u8>, at: prop::sample::Index, kind: u8, value: u8) {
    if bytes.is_empty() {
        return;
    }
    let at = at.index(bytes.len());
    match kind % 3 {
        0 => bytes[at] = value,
        1 => bytes.insert(at, value),
        _ => {
            bytes.remove(at);
        }
    }
}

fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    let value =
        prop_oneof![any::<u8>(), prop::sample::select(b"0123456789.-+eE; \t\r\n\0\xff".to_vec())];
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), value), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_lines_never_panic(changes in mutations(), cut in any::<prop::sample::Index>()) {
        let mut bytes = LOG.as_bytes().to_vec();
        for (at, kind, value) in changes {
            mutate(&mut bytes, at, kind, value);
        }
        check(&bytes);
        bytes.truncate(cut.index(bytes.len() + 1));
        check(&bytes);
    }

    #[test]
    fn damaged_packings_never_panic(changes in mutations(), cut in any::<prop::sample::Index>()) {
        for mut bytes in packed(LOG.as_bytes()) {
            for (at, kind, value) in &changes {
                mutate(&mut bytes, *at, *kind, *value);
            }
            check(&bytes);
            bytes.truncate(cut.index(bytes.len() + 1));
            check(&bytes);
        }
    }

    #[test]
    fn noise_never_panics(
        start in prop::sample::select(vec![&b""[..], b"\x1f\x8b", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd"]),
        noise in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        check(&[start, &noise].concat());
    }

    #[test]
    fn odd_numbers_never_panic(fields in prop::collection::vec(
        prop_oneof![
            any::<i64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| format!("{number:e}")),
            "[0-9]{15,40}(\\.[0-9]{0,30})?",
            "[-+.0-9eE]{1,8}",
            Just("-1".to_owned()),
        ], 17..20))
    {
        check(fields.join(" ").as_bytes());
    }
}

#[test]
fn a_whole_log_is_counted() {
    assert_eq!(parse_bytes(LOG.as_bytes(), Malformed::Refuse).ok(), Some(3));
    for bytes in packed(LOG.as_bytes()) {
        assert_eq!(parse_bytes(&bytes, Malformed::Refuse).ok(), Some(3));
    }
}

#[test]
fn lines_of_every_length_around_the_bound_are_handled() {
    for length in [65_535, 65_536, 65_537, 200_000] {
        let mut bytes = vec![b' '; length];
        bytes.push(b'\n');
        bytes.extend_from_slice(LOG.as_bytes());
        let found = parse_bytes(&bytes, Malformed::Refuse);
        assert_eq!(found.is_ok(), length <= 65_536, "{length}");
        check(&bytes);
    }
}
