//! Published instances, against numbers that another program counted in them.

use haggle_testing::real_log;
use haggle_workflows::files::read;

/// File, tasks, edges, levels, microseconds of work, bytes over edges, from storage and to it.
type Row = (&'static str, usize, usize, usize, i64, u64, u64, u64);

const COUNTED: [Row; 16] = [
    (
        "wfcommons/1000genome-chameleon-2ch-100k-001.json.gz",
        52,
        76,
        3,
        2_771_295_000,
        11_240_567,
        20_839_310_908,
        5_732_911,
    ),
    (
        "wfcommons/1000genome-chameleon-4ch-100k-001.json.gz",
        104,
        152,
        3,
        8_609_878_000,
        40_566_065,
        42_040_427_184,
        11_575_280,
    ),
    (
        "wfcommons/bacass-dirt02-001.json.gz",
        11,
        14,
        5,
        3_961_870_000,
        233_593_583,
        454_191_619,
        70_629_052,
    ),
    (
        "wfcommons/blast-chameleon-small-001.json.gz",
        43,
        120,
        3,
        382_912_720,
        794,
        204_497_333_125,
        454,
    ),
    (
        "wfcommons/bwa-chameleon-small-001.json.gz",
        104,
        400,
        3,
        379_989_466,
        17_612_492,
        20_392_625,
        3_457,
    ),
    (
        "wfcommons/epigenomics-chameleon-hep-1seq-100k-001.json.gz",
        41,
        48,
        9,
        539_307_000,
        353_323_676,
        587_856_816,
        6_924_527,
    ),
    (
        "wfcommons/epigenomics-chameleon-ilmn-1seq-100k-001.json.gz",
        125,
        153,
        9,
        2_578_345_000,
        1_336_310_212,
        1_933_648_680,
        4_595_783,
    ),
    (
        "wfcommons/montage-chameleon-2mass-005d-001.json.gz",
        58,
        114,
        8,
        221_726_000,
        549_181_584,
        17_879_588,
        938_728,
    ),
    (
        "wfcommons/montage-chameleon-2mass-01d-001.json.gz",
        103,
        231,
        8,
        362_633_000,
        1_238_267_911,
        31_555_193,
        31_084_113,
    ),
    (
        "wfcommons/montage-chameleon-dss-05d-001.json.gz",
        58,
        114,
        8,
        5_585_811_000,
        7_139_413_893,
        90_505_224,
        87_283_810,
    ),
    (
        "wfcommons/seismology-chameleon-100p-001.json.gz",
        101,
        100,
        2,
        71_893_000,
        605_920,
        922_530,
        63_471,
    ),
    (
        "wfcommons/soykb-chameleon-10fastq-10ch-001.json.gz",
        96,
        194,
        11,
        11_814_517_000,
        22_288_969,
        229_454_874_183,
        363_521,
    ),
    (
        "wfcommons/srasearch-chameleon-10a-001.json.gz",
        22,
        30,
        3,
        6_996_779_000,
        10_763_460_131,
        98_721,
        2_412,
    ),
    (
        "wfcommons/srasearch-chameleon-20a-001.json.gz",
        42,
        60,
        3,
        46_182_798_000,
        30_221_355_570,
        98_721,
        4_156,
    ),
    (
        "pegasus-dax/cybershake-100.xml.gz",
        100,
        192,
        4,
        2_236_610_000,
        21_921_896_180,
        81_725_031_646,
        149_022,
    ),
    (
        "pegasus-dax/inspiral-100.xml.gz",
        100,
        119,
        6,
        21_023_960_000,
        38_885_305,
        2_949_678_111,
        105_718,
    ),
];

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn numbers_of_published_instances() {
    for (name, tasks, edges, levels, work, between, from, to) in COUNTED {
        let workflow = read(&real_log(name)).expect("a published file");
        let input: u64 = workflow.tasks().iter().map(|task| task.input).sum();
        let output: u64 = workflow.tasks().iter().map(|task| task.output).sum();
        let found = (workflow.tasks().len(), workflow.edge_count(), workflow.levels().len());
        assert_eq!(found, (tasks, edges, levels), "{name}");
        let found = (workflow.work().as_micros(), workflow.edge_bytes(), input, output);
        assert_eq!(found, (work, between, from, to), "{name}");
    }
}

/// As the list of the instances has them, in seconds without data.
#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn critical_paths_of_published_instances() {
    let listed = [
        ("montage-chameleon-2mass-005d-001", 21.4),
        ("epigenomics-chameleon-ilmn-1seq-100k-001", 143.4),
        ("1000genome-chameleon-4ch-100k-001", 329.7),
        ("soykb-chameleon-10fastq-10ch-001", 2_933.3),
        ("bwa-chameleon-small-001", 91.4),
        ("bacass-dirt02-001", 2_150.0),
    ];
    for (name, seconds) in listed {
        let workflow =
            read(&real_log(&format!("wfcommons/{name}.json.gz"))).expect("a published file");
        let found = workflow.critical_path_by_work().length.as_secs_f64();
        assert!((found - seconds).abs() <= 0.05, "{name}: {found} s, listed {seconds} s");
    }
}
