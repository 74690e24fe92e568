//! Recorded starts of real logs: jobs that start exactly as recorded, later ones, and jobs without a waiting time.

use assert_cmd::Command;
use haggle_testing::real_log;
use serde_json::Value;

/// Recorded starts, those of them that are later, and jobs without one.
type Counted = [u64; 3];

fn check(log: &str, rules: &str, expected: Counted) {
    let mut command = Command::cargo_bin("haggle").expect("cargo builds the command for its tests");
    command.arg("replay").arg(real_log(log)).args(["--policy", "recorded", "--json", "--check"]);
    let output = command.args(["--rules", rules]).output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let recorded = &result["all"]["recorded"];
    let counted = ["jobs", "later_jobs", "unknown_jobs"].map(|key| recorded[key].as_u64());
    assert_eq!(counted, expected.map(Some), "{log}, {rules}: {recorded}");
}

/// The expected numbers are those of an independent loop that counts free processors at each event.
#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn nearly_all_jobs_of_real_logs_start_as_recorded() {
    check("SDSC-SP2-1998-4.2-cln.swf.gz", "careful", [54_034, 144, 0]);
    check("SDSC-SP2-1998-4.2-cln.swf.gz", "canonical", [53_999, 144, 0]);
    check("CTC-SP2-1996-3.1-cln.swf.gz", "careful", [77_222, 1_261, 0]);
    check("CTC-SP2-1996-3.1-cln.swf.gz", "canonical", [77_199, 1_260, 0]);
    check("HPC2N-2002-2.2-cln.swf.gz", "careful", [202_870, 1, 1]);
    check("HPC2N-2002-2.2-cln.swf.gz", "canonical", [202_870, 84, 1]);
}
