//! Tests that need logs of real machines: [`haggle_testing::real_log`] explains their names and their attribute.

mod forecast;
mod recorded;
mod reference_results;

use haggle_testing::real_log;

use crate::claims::verdicts;
use crate::scenarios_in_the_repository::{haggle, scenarios, text};

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn the_published_workloads_come_out_of_the_logs() {
    insta::assert_snapshot!(verdicts(&["netto-t6.2"]), @r"
    exit code: 0
    OF-T6.2-a held
    OF-T6.2-b held
    OF-T6.2-c held
    OF-T6.2-d held
    OF-T6.2-e held
    OF-T6.2-f held
    OF-CFG-c held
    OF-CFG-d held
    ");
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn the_scenarios_of_the_repository_agree_with_their_logs() {
    // Without the variable, the scenarios alone would be checked.
    real_log("CTC-SP2-1996-3.1-cln.swf.gz");
    for scenario in scenarios() {
        haggle(&["validate", text(&scenario)]);
    }
}
