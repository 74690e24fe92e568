//! Synthetic months: the six months and the half-year of Caniou, Charrier and Desprez 2010, table 1,
//! at a load of 0.8, by the sums of all that is drawn.

use haggle_model::{Job, Span};
use haggle_workloads::{MonthSite, Source, SyntheticMonth, Workload};

/// Days, and jobs at Bordeaux, Lyon and Toulouse, from January to June.
const MONTHS: [(u32, [u32; 3]); 6] = [
    (31, [13_084, 583, 488]),
    (29, [5_822, 2_695, 1_123]),
    (31, [11_673, 8_315, 949]),
    (30, [33_250, 1_330, 1_461]),
    (31, [6_765, 2_179, 1_573]),
    (30, [4_094, 3_540, 1_548]),
];

/// Processors at the three.
const PROCESSORS: [u32; 3] = [640, 270, 434];

/// Sums of submission times, processors, run times and requested times, in seconds, and the number
/// of jobs on one processor.
const SUMS: [[[i64; 5]; 3]; 6] = [
    [
        [17_870_145_778, 319_740, 113_819_405, 430_490_840, 4_464],
        [679_585_837, 16_296, 4_534_814, 18_812_981, 244],
        [585_146_856, 5_067, 4_735_167, 20_486_170, 229],
    ],
    [
        [7_655_421_047, 171_556, 109_178_476, 425_834_191, 2_402],
        [2_893_305_340, 41_053, 46_222_009, 162_251_638, 843],
        [1_409_144_490, 16_509, 13_045_452, 47_415_648, 439],
    ],
    [
        [15_671_621_247, 314_125, 41_262_206, 152_091_732, 4_083],
        [11_289_077_253, 162_699, 24_328_510, 95_264_437, 2_741],
        [1_172_378_952, 24_247, 4_790_579, 16_313_762, 257],
    ],
    [
        [41_937_490_877, 809_323, 69_932_549, 267_833_362, 12_103],
        [1_671_288_887, 25_263, 1_842_096, 8_093_470, 461],
        [2_042_309_413, 18_732, 1_488_289, 6_333_078, 768],
    ],
    [
        [8_755_195_099, 225_556, 67_141_356, 240_526_069, 2_002],
        [2_983_654_445, 29_414, 23_724_450, 79_248_565, 720],
        [2_078_871_159, 50_826, 10_171_537, 35_846_168, 434],
    ],
    [
        [5_044_457_275, 164_499, 42_637_644, 168_698_052, 1_407],
        [4_415_659_020, 50_653, 24_940_020, 94_445_646, 1_019],
        [2_377_893_227, 29_769, 15_117_533, 53_291_288, 471],
    ],
];

fn jobs(month: &SyntheticMonth) -> Vec<Job> {
    let workload = Workload::new("month", Source::SyntheticMonth(Box::new(month.clone())));
    let open = workload.open().expect("good parameters");
    open.jobs.map(|job| job.expect("the model has no errors")).collect()
}

fn sums(jobs: &[Job]) -> [i64; 5] {
    let seconds = |span: Span| span.as_micros() / 1_000_000;
    let sum = |of: &dyn Fn(&Job) -> i64| jobs.iter().map(of).sum();
    [
        sum(&|job| job.submit.as_micros() / 1_000_000),
        sum(&|job| i64::from(job.processors)),
        sum(&|job| seconds(job.run_time.reveal_to_machine())),
        sum(&|job| seconds(job.requested_time.expect("every job has a limit"))),
        sum(&|job| i64::from(job.processors == 1)),
    ]
}

#[test]
fn months_are_the_same_for_everybody() {
    for (number, (days, counts)) in (0..).zip(MONTHS) {
        let site = |(&jobs, processors)| MonthSite { jobs, processors };
        let sites = Vec::from_iter(counts.iter().zip(PROCESSORS).map(site));
        for (site, &count) in counts.iter().enumerate() {
            let (sites, load, seed) = (sites.clone(), 0.8, 42);
            let jobs = jobs(&SyntheticMonth { number, days, sites, site, load, seed });
            assert_eq!(jobs.len(), count as usize);
            assert_eq!(sums(&jobs), SUMS[number as usize][site], "month {number}, site {site}");
        }
    }
}

/// The other two sites of the half-year have logs.
#[test]
fn so_is_half_a_year_at_one_site() {
    let sites = vec![MonthSite { jobs: 74_647, processors: 640 }];
    let month = SyntheticMonth { number: 6, days: 182, sites, site: 0, load: 0.8, seed: 42 };
    let expected = [592_015_779_731, 1_925_317, 312_546_839, 1_158_043_780, 26_411];
    assert_eq!(sums(&jobs(&month)), expected);
}

#[test]
fn what_is_no_month_is_refused() {
    let sites = vec![MonthSite { jobs: 5, processors: 4 }];
    let month = SyntheticMonth { number: 0, days: 1, sites, site: 0, load: 1.0, seed: 1 };
    assert_eq!(jobs(&month).len(), 5);
    let refused =
        |month: SyntheticMonth| month.generate("month").expect_err("no month").to_string();
    assert_eq!(
        refused(SyntheticMonth { site: 1, ..month.clone() }),
        "synthetic-month: site is 1; there are 1, from 0"
    );
    assert!(refused(SyntheticMonth { days: 0, ..month.clone() }).contains("days is 0"));
    assert!(refused(SyntheticMonth { load: f64::NAN, ..month.clone() }).contains("load is NaN"));
    let none = vec![MonthSite { jobs: 5, processors: 0 }];
    assert!(refused(SyntheticMonth { sites: none, ..month }).contains("at least one processor"));
}
