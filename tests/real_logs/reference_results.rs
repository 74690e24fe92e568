//! Results of other simulators on the same logs under the same policies, to the digit that they
//! print. The logs are those of the Parallel Workloads Archive.
//!
//! The rules are the canonical reading of a log and compression job by job. With one decision after each event, and
//! submissions before completions at one instant, the numbers are pyss's (src/schedulers of dinesh121991/pyss). With
//! one decision per instant they are those of an independent loop that counts free processors.

use assert_cmd::Command;
use haggle_testing::real_log;
use serde_json::Value;

/// Mean wait (s), mean bounded slowdown, makespan (s), utilisation, largest wait (s), as printed.
type Printed = [&'static str; 5];

/// Output with one decision per instant, and after each event.
fn check(
    log: &str,
    processors: u32,
    arguments: &[&str],
    jobs: u64,
    [instant, event]: [Printed; 2],
) {
    check_passes(log, processors, &[arguments, &["--passes", "instant"]].concat(), jobs, instant);
    check_passes(log, processors, &[arguments, &["--passes", "event"]].concat(), jobs, event);
}

fn check_passes(log: &str, processors: u32, arguments: &[&str], jobs: u64, expected: Printed) {
    let processors = processors.to_string();
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    command.arg("replay").arg(real_log(log)).args([
        "--processors",
        &processors,
        "--json",
        "--check",
    ]);
    command.args(["--rules", "canonical"]);
    let output = command.args(arguments).output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(result["jobs"], jobs);
    let number = |key: &str| result[key].as_f64().unwrap_or_else(|| panic!("{key} is a number"));
    let printed = [
        format!("{:.2}", number("mean_waiting_time")),
        format!("{:.3}", number("mean_bounded_slowdown")),
        format!("{:.0}", number("makespan")),
        format!("{:.4}", number("utilisation")),
        format!("{:.0}", number("max_waiting_time")),
    ];
    assert_eq!(printed, expected, "{arguments:?}");
}

const SDSC: &str = "SDSC-SP2-1998-4.2-cln.swf.gz";
const CTC: &str = "CTC-SP2-1996-3.1-cln.swf.gz";
const LUBLIN: &str = "lublin_256.swf.gz";
const EASY: [&str; 2] = ["--policy", "easy"];
const CONSERVATIVE: [&str; 4] = ["--policy", "conservative", "--compression", "job-by-job"];

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn sdsc_sp2_easy() {
    let arguments = [&EASY[..], &["--first", "10000"]].concat();
    let instant = ["5769.14", "19.741", "8808273", "0.7080", "123929"];
    let event = ["5769.23", "19.743", "8808273", "0.7080", "123929"];
    check(SDSC, 128, &arguments, 8_943, [instant, event]);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn sdsc_sp2_conservative() {
    let arguments = [&CONSERVATIVE[..], &["--first", "10000"]].concat();
    let expected = ["6004.24", "25.596", "8808273", "0.7080", "123742"];
    check(SDSC, 128, &arguments, 8_943, [expected; 2]);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn ctc_sp2_easy() {
    let instant = ["13943.01", "48.837", "29306682", "0.8358", "303954"];
    let event = ["14272.59", "49.571", "29306682", "0.8358", "303954"];
    check(CTC, 338, &EASY, 77_199, [instant, event]);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn ctc_sp2_conservative() {
    let instant = ["17642.03", "55.927", "29306682", "0.8358", "359456"];
    let event = ["16753.12", "53.110", "29306682", "0.8358", "347906"];
    check(CTC, 338, &CONSERVATIVE, 77_199, [instant, event]);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn lublin_256_easy() {
    let arguments = [&EASY[..], &["--estimates", "exact"]].concat();
    let expected = ["97155.99", "590.054", "8730698", "0.9363", "1029731"];
    check(LUBLIN, 256, &arguments, 10_000, [expected; 2]);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn lublin_256_conservative() {
    let expected = ["131567.51", "489.201", "8729497", "0.9365", "994667"];
    let exact = ["--estimates", "exact"];
    check(LUBLIN, 256, &[&CONSERVATIVE[..], &exact].concat(), 10_000, [expected; 2]);
    // With exact requests no time is given back early, so new plans change nothing.
    let replan = ["--policy", "conservative", "--compression", "replan"];
    check(LUBLIN, 256, &[&replan[..], &exact].concat(), 10_000, [expected; 2]);
}
