//! Folders of variants: `policy=easy/load=0.6`, one folder for each axis inside that of the axis before. Hive
//! names partitions in this way, so pandas, Polars and DuckDB read the axes as columns.

use std::fmt::Write;

use haggle_results::sweep::axis_column;

/// Longest encoded value in bytes. Some systems refuse longer names of files; this leaves room for the name of the
/// axis.
const LONGEST: usize = 120;

/// Folder of the value with index `place` on an axis, from 0. No two values have the same folder.
pub(super) fn of_value(axis: &str, value: &str, place: usize) -> String {
    let name = encoded(&axis_column(axis));
    let whole = encoded(value);
    if whole.len() <= LONGEST {
        return format!("{name}={whole}");
    }
    let mut start = value.to_owned();
    // Character by character, because the code of one must not be cut.
    while encoded(&start).len() > LONGEST {
        start.pop();
    }
    // A `~` in the value itself is encoded, so this cannot clash with another value.
    format!("{name}={}~{}", encoded(&start), place + 1)
}

/// Percent-encodes, byte by byte, all characters that are special in folders, shells or readers of partitions.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || "-_.".contains(c) {
            encoded.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            write!(encoded, "%{byte:02X}").expect("a text takes everything");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(axis: &str, values: &[&str]) -> Vec<String> {
        let values = values.iter().enumerate();
        values.map(|(place, value)| of_value(axis, value, place)).collect()
    }

    #[test]
    fn what_folders_do_not_allow_is_encoded_as_readers_expect() {
        let values = ["easy", "0.6", "$LOGS/a b.swf", "50%", "Müller", "{ law = 1 }"];
        assert_eq!(
            folders("mean time", &values),
            [
                "mean%20time=easy",
                "mean%20time=0.6",
                "mean%20time=%24LOGS%2Fa%20b.swf",
                "mean%20time=50%25",
                "mean%20time=Müller",
                "mean%20time=%7B%20law%20%3D%201%20%7D",
            ]
        );
        assert_eq!(folders("seed", &["3"]), ["axis.seed=3"]);
        assert_eq!(folders("makespan", &["3"]), ["axis.makespan=3"]);
    }

    #[test]
    fn no_two_values_share_a_folder_however_long_they_are() {
        let long = "é".repeat(400);
        let folders = folders("log", &[&long, &format!("{long}."), "1~4"]);
        let start = format!("log={}", "é".repeat(LONGEST / 2));
        assert_eq!(folders, [format!("{start}~1"), format!("{start}~2"), "log=1%7E4".into()]);
    }
}
