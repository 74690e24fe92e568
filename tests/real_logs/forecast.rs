//! Coverage of forecasts on logs of real machines.

use assert_cmd::Command;
use haggle_testing::real_log;
use serde_json::Value;

/// Mean over 50 instants of the coverage of the 50 % and the 90 % intervals.
fn coverage(log: &str, truth: &str) -> [f64; 2] {
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    command.args(["forecast", "coverage"]).arg(real_log(log));
    command.args(["--policy", "easy", "--runs", "40", "--json", "--truth", truth]);
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(found["instants"], 50);
    [0, 1].map(|level| found["levels"][level]["mean_of_instants"].as_f64().expect("a share"))
}

/// One more draw of the law is covered as often as it should be. The jobs of an instant are not independent, so the
/// mean over 50 instants has a standard error of some 4 %.
#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn intervals_cover_draws_of_their_own_law() {
    for log in ["SDSC-SP2-1998-4.2-cln.swf.gz", "HPC2N-2002-2.2-cln.swf.gz"] {
        let [half, most] = coverage(log, "drawn");
        assert!((0.38..0.62).contains(&half) && (0.78..=1.0).contains(&most), "{half} {most}");
    }
}

/// Real run times do not obey the law: the jobs of a user are alike. docs/forecast.md has the numbers.
#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn intervals_cover_less_of_what_then_happened() {
    let log = "SDSC-SP2-1998-4.2-cln.swf.gz";
    let (drawn, simulated, recorded) =
        (coverage(log, "drawn"), coverage(log, "simulated"), coverage(log, "recorded"));
    assert!(drawn[1] > simulated[1] && simulated[1] > recorded[1], "{simulated:?} {recorded:?}");
    assert!(simulated[1] > 0.6, "{simulated:?}");
}
