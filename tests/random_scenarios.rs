//! The rules for every scenario hold for scenarios drawn at random.

use std::path::{Path, PathBuf};
use std::{env, fs};

use haggle::trial::draw::round;
use haggle::trial::features;
use serde_json::Value;

use crate::command::{Folder, json_of};

/// Cases that are drawn in tests, without optimisation. The gate draws more. A renewal of the page
/// draws as many as every key and every word needs.
const CASES: usize = 100;

#[test]
fn random_scenarios_hold() {
    let folder = Folder::with(&[]);
    let renews = env::var_os("UPDATE_CROSSING").is_some();
    let cases = if renews { round() } else { CASES }.to_string();
    let arguments = ["verify", "--random", "--seed", "1", "--cases", &cases, "--json", "--quiet"];
    let shown = folder.haggle(&arguments);
    let report = json_of(&shown);
    let count = |name: &str| report[name].as_u64().expect("a count");
    let failures = report["failures"].as_object().expect("failures by their marks");
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(count("refused") * 20 <= count("cases"), "{} are refused", count("refused"));
    assert!(count("stopped") * 5 <= count("cases"), "{} are stopped", count("stopped"));
    assert!(count("long") * 20 <= count("cases"), "{} are too long to be looked at", count("long"));
    let drawn = &report["pairs"]["stacked-bars"]["stacked-bars"];
    assert!(drawn.as_u64() > Some(0), "stacked bars are never drawn: {drawn}");
    if !renews {
        return;
    }
    renew_page(&report);
    let never = report["never"].as_array().expect("keys and words in no accepted case");
    // A repair may remove the feature that a case is about, but that of another case stays.
    assert!(never.len() * 100 <= round(), "in no accepted case: {never:#?}");
}

/// A case depends only on the seed and its number, not on other cases.
#[test]
fn one_case_can_be_had_again() {
    let folder = Folder::with(&[]);
    for _ in 0..2 {
        let shown = folder.haggle(&["verify", "--random", "--seed", "1", "--case", "3", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        assert!(shown.contains("seed 1: 1 case\n"), "{shown}");
    }
}

/// A failing case is kept, and a smaller one that fails for the same reason.
#[test]
fn what_fails_is_found_kept_and_made_small() {
    let folder = Folder::with(&[]);
    // Almost no run has so few messages, or 30 times as many. The number of such a case changes
    // with the keys.
    let failed = (1..=20).find_map(|case| {
        let number = case.to_string();
        let arguments =
            ["verify", "--random", "--seed", "1", "--case", &number, "--quiet", "--messages", "1"];
        let shown = folder.haggle(&arguments);
        shown.contains("too long: more than 30 messages").then_some((case, shown))
    });
    let (case, shown) = failed.expect("one of the first cases has more messages");
    assert!(shown.starts_with("exit code: 1"), "{shown}");
    let (whole, smallest) = (format!("case-1-{case}.toml"), format!("case-1-{case}-smallest.toml"));
    let kept = folder.names_in("verify-random");
    assert!(kept.contains(&whole) && kept.contains(&smallest), "{kept:?}");
    let size = |name: &str| folder.read(&format!("verify-random/{name}")).len();
    assert!(size(&smallest) < size(&whole));
}

/// Marks of the page around the counts of the test's cases.
const MARKS: [&str; 2] = ["<!-- counts -->\n", "<!-- end of counts -->\n"];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/crossing.md")
}

/// The page on crossings has a row for each feature, in this order.
#[test]
fn the_page_on_crossings_has_every_feature() {
    let page = fs::read_to_string(page()).expect("the page can be read");
    let rows = page.lines().filter_map(|line| {
        let (number, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        number.parse::<usize>().ok()?;
        Some(rest.split(" | ").next()?.trim())
    });
    let named: Vec<&str> = rows.collect();
    assert_eq!(named, features::names(), "renew docs/crossing.md as it says");
}

/// Writes the counts into the page.
fn renew_page(report: &Value) {
    let text = fs::read_to_string(page()).expect("the page can be read");
    let (before, rest) = text.split_once(MARKS[0]).expect("the first mark is there");
    let (_, after) = rest.split_once(MARKS[1]).expect("the second mark is there");
    let names = features::names();
    let numbers: String = (1..=names.len()).map(|number| format!(" {number} |")).collect();
    let mut table = format!("|  | feature |{numbers}\n|--:|---|{}\n", "--:|".repeat(names.len()));
    for (place, one) in names.iter().enumerate() {
        table.push_str(&format!("| {} | {one} |", place + 1));
        for other in &names[..=place] {
            table.push_str(&format!(" {} |", report["pairs"][one][other].as_u64().unwrap_or(0)));
        }
        table.push_str(&" |".repeat(names.len() - place - 1));
        table.push('\n');
    }
    table.push_str(&never_met(report, &names));
    let text = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
    fs::write(page(), text).expect("the page can be written");
}

/// Features of worlds come first; all others are tests of a case, or figures.
const LAST_OF_WORLD: &str = "logs";

/// Features that no scenario can have together.
const APART: [(&str, &str, &str); 5] = [
    ("grid", "sessions", "a scenario has one grid, and its policy is for jobs or for sessions"),
    ("tasks on a grid", "sessions", "the policies for sessions take no tasks"),
    ("static schedules", "sessions", "sessions are placed when they arrive"),
    ("static schedules", "replicas", "a static schedule gives each task one place"),
    ("replicas", "sessions", "a session holds a share of one resource"),
];

/// The pairs of features of worlds that met in no case, each with the reason.
fn never_met(report: &Value, names: &[&str]) -> String {
    let last = names.iter().position(|&name| name == LAST_OF_WORLD).expect("a feature");
    let count = |one: &str, other: &str| report["pairs"][one][other].as_u64().unwrap_or(0);
    let mut rows = String::new();
    let mut number = 0;
    for (place, &one) in names.iter().enumerate().take(last + 1) {
        for &other in names[..place].iter().filter(|&&other| count(one, other) == 0) {
            let apart = APART
                .iter()
                .find(|it| (it.0, it.1) == (other, one) || (it.0, it.1) == (one, other));
            let reason = match apart {
                Some((.., reason)) => format!("cannot be: {reason}"),
                None => {
                    let (ones, others) = (count(one, one), count(other, other));
                    format!("rare: {others} cases have the first, {ones} the second")
                }
            };
            rows.push_str(&format!("| {other} | {one} | {reason} |\n"));
            number += 1;
        }
    }
    format!(
        "\n{number} pairs of the first {} features met in no case:\n\n| feature | feature | reason |\n|---|---|---|\n{rows}",
        last + 1
    )
}
