//! No input makes the readers of recorded failures panic, and every error names file and line.

use haggle_workloads::failures::recorded::{RecordFormat, parse_bytes};
use haggle_workloads::swf::Malformed;
use proptest::prelude::*;

const FTA: &str = "\
# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
    0\t    0\t    0\t    5\tG1/site1/c1/node1\t         0\t   1000000000\t   1000086400\t       NULL
    1\t    0\t    0\t    5\tG1/site1/c1/node1\t         1\t   1000086400\t   1000090000\t       NULL
    0\t    0\t   12\t    3\t             7.3\t         0\t   1000200000\t   1000300000\t       17
";
const LANL: &str = "\
System,machine type,nodenumz,purpose,Prob Started,Prob Fixed,Down Time,Software
2,cluster,0,compute,3/14/2001 10:54,3/14/2001 11:00,6,
2,cluster,1,\"graphics, fe\",5/7/2001 8:10,5/7/2001 8:40,30,\"MPI, \"\"PVM\"\"\"
24,smp,0,compute,11/2/2001 4:30,11/2/2001 5:00,30,None
";
const CSV: &str = "\
# by hand
node,start,end,cause
r1/n1,2001-03-14 10:54,2001-03-14T11:00:30.5Z,fan
\"r1, n2\",984567240,984567240,
";

fn check(bytes: &[u8]) {
    for format in RecordFormat::ALL.map(Some).into_iter().chain([None]) {
        if let Err(error) = parse_bytes(bytes, format, Malformed::Refuse) {
            let text = error.to_string();
            assert!(text.starts_with("<memory>:") && !text.contains('\n'), "{text}");
            assert!(text.len() < 400, "{text}");
            let line = text["<memory>:".len()..].split(':').next().map(str::parse::<u64>);
            assert!(!error.problem.is_one_line() || matches!(line, Some(Ok(1..))), "{text}");
        }
        if let Ok(recording) = parse_bytes(bytes, format, Malformed::Skip) {
            assert!((0.0..=1.0).contains(&recording.availability()), "{recording:?}");
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("memory takes it");
    gzip.finish().expect("memory takes it")
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
    let value = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"0123456789.-+eE# ,\"/:\t\r\n\0\xff".to_vec())
    ];
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), value), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_records_never_panic(
        changes in mutations(),
        text in prop::sample::select(vec![FTA, LANL, CSV]),
        cut in any::<prop::sample::Index>(),
    ) {
        for mut bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
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
        start in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0", LANL.as_bytes(), CSV.as_bytes()]),
        noise in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        check(&[start, &noise].concat());
    }

    #[test]
    fn odd_fields_never_panic(fields in prop::collection::vec(prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        "[0-9]{1,2}/[0-9]{1,2}/[0-9]{1,4} [0-9]{1,2}:[0-9]{1,2}",
        "[01]",
        "[0-9]{9,13}",
    ], 8..10)) {
        check(fields.join("\t").as_bytes());
        check(format!("{LANL}{}\n", fields[..8].join(",")).as_bytes());
        check(format!("{CSV}{}\n", fields[..4].join(",")).as_bytes());
    }
}

#[test]
fn whole_records_are_read() {
    let nodes = |text: &str, format| {
        parse_bytes(&gzip(text.as_bytes()), format, Malformed::Refuse).map(|r| r.nodes.len()).ok()
    };
    assert_eq!(nodes(FTA, RecordFormat::Fta), Some(2));
    assert_eq!(nodes(LANL, RecordFormat::Lanl), Some(3));
    assert_eq!(nodes(CSV, RecordFormat::Csv), Some(2));
}

#[test]
fn endless_lines_and_endless_fields_are_refused() {
    for bytes in [vec![b'7'; 200_000], vec![b','; 60_000], vec![b'\t'; 60_000], vec![b'"'; 60_000]]
    {
        check(&bytes);
        check(&[LANL.as_bytes(), &bytes].concat());
    }
}
