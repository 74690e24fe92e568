//! Tiny cases with expected starts that other simulators publish in their tests.
//!
//! A job is (submitted, requested, run, processors -> start), in seconds.
//! Sources: pyss (dinesh121991/pyss, src/schedulers/Input_test_files), SchedGym
//! (renatolfc/sched-rl-gym, schedgym/test_schedgym.py), WRENCH (wrench-project/wrench,
//! test/services/compute_services).

use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};

use crate::replay::{TestJob, replay};

use Policy::{Conservative, Easy};

fn check(policies: &[Policy], processors: u32, jobs: &[(i64, i64, i64, u32, i64)]) {
    for &policy in policies {
        check_with(policy, Compression::JobByJob, processors, jobs);
    }
}

fn check_with(
    policy: Policy,
    compression: Compression,
    processors: u32,
    jobs: &[(i64, i64, i64, u32, i64)],
) {
    let config =
        SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None };
    let input: Vec<TestJob> =
        jobs.iter().map(|&(s, requested, run, p, _)| TestJob::new(s, requested, run, p)).collect();
    let starts = replay(&mut **config.build(processors), processors, &input).starts;
    let expected: Vec<i64> = jobs.iter().map(|&(.., start)| start).collect();
    assert_eq!(starts, expected, "{config}");
}

#[test]
fn case_01_pyss_bf_input_0() {
    check(
        &[Easy, Conservative],
        100,
        &[
            (0, 100, 100, 50, 0),
            (1, 200, 100, 100, 100),
            (2, 100, 100, 60, 200),
            (20, 10, 10, 10, 20),
        ],
    );
}

#[test]
fn case_02_pyss_bf_input_3() {
    check(
        &[Easy, Conservative],
        100,
        &[
            (0, 100, 100, 15, 0),
            (0, 100, 100, 15, 0),
            (0, 100, 100, 15, 0),
            (0, 100, 100, 15, 0),
            (0, 100, 100, 15, 0),
            (0, 100, 100, 15, 0),
            (5, 100, 100, 60, 100),
            (6, 11, 10, 1, 6),
            (6, 12, 10, 1, 6),
            (6, 1000, 100, 99, 200),
            (7, 1, 1, 100, 300),
            (8, 20, 2, 1, 8),
            (8, 21, 2, 1, 8),
        ],
    );
}

#[test]
fn case_03_pyss_bf_input_4() {
    check(
        &[Easy, Conservative],
        100,
        &[
            (0, 100, 100, 50, 0),
            (1, 1000, 100, 95, 100),
            (2, 1000, 100, 95, 200),
            (5, 11, 10, 1, 5),
            (6, 12, 11, 1, 6),
            (6, 12, 12, 1, 6),
            (6, 12, 10, 2, 6),
            (6, 1000, 100, 95, 300),
            (7, 100, 100, 100, 400),
            (8, 20, 2, 1, 8),
            (8, 21, 2, 1, 8),
            (10, 1200, 1000, 6, 500),
        ],
    );
}

#[test]
fn case_04_pyss_bf_input_5() {
    check(
        &[Easy, Conservative],
        100,
        &[(0, 600, 600, 50, 0), (10, 400, 200, 100, 600), (20, 1000, 1000, 10, 800)],
    );
}

#[test]
fn case_05_pyss_bf_input_6() {
    check(
        &[Easy, Conservative],
        100,
        &[(0, 700, 600, 50, 0), (10, 400, 200, 100, 600), (20, 10, 10, 60, 800)],
    );
}

#[test]
fn case_06_pyss_bf_input_7() {
    check(
        &[Easy, Conservative],
        100,
        &[(100, 600, 100, 50, 100), (101, 600, 10, 60, 204), (104, 100, 100, 50, 104)],
    );
}

#[test]
fn case_07_pyss_bf_input_8() {
    check(
        &[Easy, Conservative],
        100,
        &[
            (100, 600, 100, 60, 100),
            (101, 600, 10, 60, 200),
            (102, 700, 10, 60, 210),
            (103, 600, 10, 60, 220),
            (104, 900, 10, 60, 230),
        ],
    );
}

#[test]
fn case_08_pyss_cons_bf_input_0() {
    check(
        &[Conservative],
        100,
        &[
            (0, 100, 100, 70, 0),
            (1, 100, 100, 80, 100),
            (2, 100, 100, 90, 200),
            (50, 250, 250, 20, 300),
        ],
    );
}

#[test]
fn case_09_pyss_easy_bf_input_0() {
    check(
        &[Easy],
        100,
        &[
            (0, 100, 100, 70, 0),
            (1, 100, 100, 80, 100),
            (2, 100, 100, 90, 300),
            (50, 250, 250, 20, 50),
        ],
    );
}

#[test]
fn case_10_pyss_cons_bf_input_1() {
    check(
        &[Conservative],
        100,
        &[
            (0, 800, 600, 50, 0),
            (1, 400, 200, 100, 600),
            (2, 200, 100, 10, 2),
            (99, 10, 10, 10, 99),
            (100, 31, 30, 40, 102),
        ],
    );
}

#[test]
fn case_11_pyss_basic_input_20() {
    check(
        &[Easy, Conservative],
        100,
        &[
            (0, 2000, 1000, 10, 0),
            (0, 2000, 1000, 10, 0),
            (10, 3000, 990, 10, 10),
            (10, 3000, 990, 10, 10),
            (20, 1980, 980, 10, 20),
            (20, 1980, 980, 10, 20),
            (30, 2, 1, 100, 1000),
        ],
    );
}

#[test]
fn case_12_schedgym_six() {
    check(
        &[Easy, Conservative],
        3,
        &[
            (0, 2, 2, 2, 0),
            (1, 2, 2, 1, 1),
            (1, 2, 2, 3, 3),
            (2, 1, 1, 2, 2),
            (2, 1, 1, 2, 5),
            (4, 1, 1, 2, 6),
        ],
    );
}

#[test]
fn case_13_schedgym_seven() {
    check(
        &[Conservative],
        3,
        &[
            (0, 2, 2, 2, 0),
            (1, 2, 2, 1, 1),
            (1, 3, 3, 1, 2),
            (1, 1, 1, 1, 2),
            (1, 4, 4, 2, 3),
            (1, 4, 4, 1, 5),
            (1, 2, 2, 2, 7),
        ],
    );
}

#[test]
fn case_14_wrench_easy_1() {
    check(
        &[Easy],
        4,
        &[(0, 60, 60, 2, 0), (0, 30, 30, 4, 60), (0, 30, 30, 2, 0), (0, 50, 50, 2, 90)],
    );
}

#[test]
fn case_15_wrench_easy_2() {
    check(
        &[Easy],
        6,
        &[
            (0, 6000, 6000, 1, 0),
            (0, 70, 70, 2, 0),
            (0, 20, 20, 4, 70),
            (0, 20, 20, 5, 6000),
            (0, 6000, 6000, 1, 0),
        ],
    );
}

#[test]
fn case_16_wrench_easy_3() {
    check(
        &[Easy],
        6,
        &[
            (0, 660, 660, 3, 0),
            (1, 120, 120, 1, 1),
            (2, 1740, 1740, 3, 121),
            (3, 1080, 1080, 1, 660),
        ],
    );
}

/// Case 17: the rules differ. WRENCH plans everything anew; pyss and Batsim move job by job.
#[test]
fn case_17_wrench_conservative() {
    check_with(
        Conservative,
        Compression::Replan,
        4,
        &[(0, 600, 60, 2, 0), (0, 120, 60, 2, 0), (0, 120, 60, 4, 60), (0, 300, 60, 2, 120)],
    );
    check_with(
        Conservative,
        Compression::JobByJob,
        4,
        &[(0, 600, 60, 2, 0), (0, 120, 60, 2, 0), (0, 120, 60, 4, 120), (0, 300, 60, 2, 60)],
    );
}

/// Case 18: Batsim's test_delays, without the simulated message delays.
#[test]
fn case_18_batsim_delays() {
    let starts = [0, 3, 10, 13, 20, 23, 30, 33, 40, 43];
    let jobs: Vec<_> = (0..10).map(|i| (3 * i, 10, 10, 1, starts[i as usize])).collect();
    check(&[Easy], 2, &jobs);
}
