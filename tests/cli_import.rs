//! `haggle import`: scenarios from the dumps of sites.

use crate::command::{Folder, unwrapped};

const CONFIG: &str = "\
Configuration data as of 2026-01-01T00:00:00
AccountingStorageEnforce = associations,limits,qos
ClusterName             = tiny
PriorityType            = priority/multifactor
PriorityDecayHalfLife   = 7-00:00:00
PriorityCalcPeriod      = 00:05:00
PriorityMaxAge          = 1-00:00:00
PriorityWeightAge       = 100
PriorityWeightFairShare = 1000
PriorityWeightPartition = 50
PriorityWeightQOS       = 20
SchedulerType           = sched/backfill
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE_MEMORY
";

const NODES: &str = "\
NodeName=n1 CPUTot=4 Gres=(null) RealMemory=4000 State=IDLE Weight=1 Partitions=batch,short CfgTRES=cpu=4,mem=4000M,billing=4
NodeName=n2 CPUTot=4 Gres=(null) RealMemory=4000 State=IDLE Weight=1 Partitions=batch,short CfgTRES=cpu=4,mem=4000M,billing=4
NodeName=g1 CPUTot=8 Gres=gpu:2 RealMemory=8000 State=IDLE+DRAIN Weight=1 Partitions=batch CfgTRES=cpu=8,mem=8000M,gres/gpu=2
";

const PARTITIONS: &str = "\
PartitionName=short AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Default=NO QoS=few MaxNodes=UNLIMITED MaxTime=00:10:00 Nodes=n[1-2] PriorityJobFactor=10 PriorityTier=2 State=UP
PartitionName=batch AllowGroups=ALL AllowAccounts=a1,a2 AllowQos=ALL Default=YES QoS=N/A MaxNodes=2 MaxTime=UNLIMITED Nodes=n[1-2],g1 PriorityJobFactor=5 PriorityTier=1 State=UP
";

const QOS: &str = "\
Name|Priority|Flags|UsageFactor|GrpTRES|GrpJobs|GrpSubmit|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU|MaxTRESPA|MaxJobsPA|MaxSubmitPA|MinTRES
normal|0||1.000000||||||||||||
few|10|OverPartQOS|1.000000|cpu=6,mem=4G||||||1|||||gres/gpu=1
";

const ASSOC: &str = "\
Cluster|Account|User|Partition|ParentName|Share|GrpJobs|GrpSubmit|GrpTRES|MaxJobs|MaxSubmit|MaxWall|MaxTRES|QOS|Def QOS
tiny|root||||1|||||||||
tiny|a2|||a1|1|||||||||
tiny|a1|||root|3|||cpu=12|||||normal|
tiny|a1|u1|||2|||||||||
tiny|a2|u2|||1|||||||||
";

const EVENTS: &str = "\
NodeName|TimeStart|TimeEnd|State|Reason
n2|1000|1500|DRAIN|
n2|1500|4600|DOWN|Not responding
g1|4600|Unknown|DRAIN|
";

const JOBS: &str = "\
JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|ReqMem|ReqTRES|AllocTRES|Partition|QOS|Account|User
1|1|1000|1000|1600|600|20|COMPLETED|4|4|1|1|2000M|cpu=4,mem=2000M|cpu=4,mem=2000M,node=1|batch|normal|a1|u1
2|2|1010|1600|1900|300|10|COMPLETED|4|8|2|2|1000M|cpu=4,mem=1000M|cpu=8,mem=8000M,node=2|batch|normal|a2|u2
3|3|1020|1020|1320|300|30|COMPLETED|1|1|1|1|500M|cpu=1,gres/gpu=1|cpu=1,mem=500M,node=1,gres/gpu=1|batch|normal|a1|u1
4|4|1030|1030|1090|60|5|COMPLETED|1|1|1|1|500M|cpu=1|cpu=1,mem=500M,node=1|short|few|a1|u1
5|5|1040|1100|1160|60|5|COMPLETED|1|1|1|1|500M|cpu=1|cpu=1,mem=500M,node=1|short|few|a1|u1
6|6|1050|Unknown|1100|0|5|CANCELLED|1|0|1|1|500M|cpu=1||short|few|a1|u1
";

const SETTINGS: &str = "start=0\nend=6000\ntaken=6000\ntime-zone=Etc/UTC\nnames=removed\n";

const FILES: [(&str, &str); 8] = [
    ("dump/config.txt", CONFIG),
    ("dump/nodes.txt", NODES),
    ("dump/partitions.txt", PARTITIONS),
    ("dump/qos.txt", QOS),
    ("dump/assoc.txt", ASSOC),
    ("dump/events.txt", EVENTS),
    ("dump/sacct.txt", JOBS),
    ("dump/dump.txt", SETTINGS),
];

fn import(folder: &Folder) -> String {
    folder.haggle(&["import", "slurm", "dump", "-o", "site.toml"])
}

#[test]
fn a_dump_becomes_a_scenario() {
    let folder = Folder::with(&FILES);
    let told = import(&folder);
    assert!(told.starts_with("exit code: 0"), "{told}");
    let counts = "site.toml: 3 nodes with 16 processors, 2 partitions, 2 QOS, 2 accounts, 5 jobs, 2 down times";
    assert!(told.contains(counts), "{told}");
    insta::assert_snapshot!(folder.read("site.toml"), @r##"
    # tiny as a scenario, made by `haggle import slurm`: 5 jobs on 3 nodes with 16 processors.
    #
    #   haggle run FILE -o results/site
    #   haggle compare results/site --recorded   # waiting times beside those of the log
    #
    # Differences from the site:
    #
    # - files that the dump does not have: past-reservations.txt
    # - nodes that were down or drained when the dump was taken are up behind its end: g1
    # - MaxNodes of a partition is a limit on processors: so many of its largest nodes: batch
    # - MinTRES is left out: QOS few
    # - Slurm's backfilling (sched/backfill) is EASY here; `policy = { name = "conservative", compression = "replan" }` is closer, and slower

    [scenario]
    description = "Jobs, nodes and rules of tiny"

    [[workload]]
    name = "jobs"
    log = "dump/sacct.txt"

    [workload.rules]
    processors-from = "allocated-then-requested"
    order = "sort"

    [workload.reading]
    demands = ["nodes", "memory", "gpus"]

    [workload.reading.names]
    users = ["u1"]
    groups = ["a1", "a2"]
    queues = ["normal", "few"]
    partitions = ["short", "batch"]

    [[provider]]
    name = "site"
    policy = "easy"
    on-failure = "drain"

    [provider.priority]
    max-age = "1d"
    favours = "large"
    fair-share = "fair-tree"
    half-life = "7d"
    calculation-period = "5min"

    [provider.priority.weights]
    age = 100
    fair-share = 1000
    queue = 50
    qos = 20

    [[provider.node]]
    name = "n-1"
    count = 2
    cores = 4
    memory = "4194304 kB"

    [[provider.node]]
    name = "g-2"
    count = 1
    cores = 8
    memory = "8388608 kB"
    gpus = 2

    [[provider.queue]]
    name = "batch"
    partition = 2
    priority = 5
    groups = [1, 2]
    widest = 16

    [[provider.queue]]
    name = "short"
    partition = 1
    tier = 2
    priority = 10
    nodes = ["n-1"]
    longest = "10min"

    [provider.queue.limits]
    processors = 6
    memory = "4294967296 B"

    [provider.queue.user-limits]
    running = 1

    [[provider.qos]]
    name = "normal"
    number = 1

    [[provider.qos]]
    name = "few"
    number = 2
    priority = 10
    over-queue = true

    [provider.qos.limits]
    processors = 6
    memory = "4294967296 B"

    [provider.qos.user-limits]
    running = 1

    [[provider.account]]
    name = "a1"
    groups = [1]
    shares = 3

    [[provider.account.users]]
    user = 1
    shares = 2

    [provider.account.limits]
    processors = 12

    [[provider.account]]
    name = "a2"
    parent = "a1"
    groups = [2]

    [[user]]
    name = "users"
    workload = "jobs"
    submits-to = "site"

    [[failures]]
    of = ["site"]
    outages = [["0s", "1h"]]
    nodes = 1
    first-node = 2

    [[failures]]
    of = ["site"]
    outages = [["1h", "5000s"]]
    nodes = 1
    first-node = 3
    "##);
    let checked = folder.haggle(&["validate", "site.toml"]);
    assert!(checked.starts_with("exit code: 0"), "{checked}");
    let ran = folder.haggle(&["run", "site.toml", "-o", "out", "--check"]);
    assert!(ran.starts_with("exit code: 0"), "{ran}");
    let compared = folder.haggle(&["compare", "out", "--recorded"]);
    assert!(compared.starts_with("exit code: 0"), "{compared}");
}

/// The second job is on two nodes of four processors, and the node n2 is closed from the first submission on.
#[test]
fn the_jobs_keep_the_rules_of_the_site() {
    let folder = Folder::with(&FILES);
    import(&folder);
    folder.haggle(&["run", "site.toml", "-o", "out", "--format", "csv"]);
    let told = folder.haggle(&["explain", "out", "jobs!5"]);
    assert!(unwrapped(&told).contains("QOSMaxJobsPerUserLimit"), "{told}");
    let nodes = folder.read("out/nodes.csv");
    assert_eq!(nodes.lines().count(), 4, "{nodes}");
}

#[test]
fn a_path_of_the_dump_starts_from_the_folder_of_the_scenario() {
    let folder = Folder::with(&FILES);
    let told = folder.haggle(&["import", "slurm", "dump", "-o", "made/here/site.toml"]);
    assert!(!told.starts_with("exit code: 0"), "{told}");
    std::fs::create_dir(folder.path().join("made")).expect("a folder");
    folder.haggle(&["import", "slurm", "dump", "-o", "made/site.toml"]);
    assert!(folder.read("made/site.toml").contains(r#"log = "../dump/sacct.txt""#));
    let again = folder.haggle(&["import", "slurm", "dump", "-o", "made/site.toml"]);
    assert!(again.contains("exists already"), "{again}");
}

#[test]
fn damaged_dumps_are_refused_with_the_place() {
    for (file, from, to, expected) in [
        ("dump/qos.txt", "cpu=6", "cpu=six", "dump/qos.txt, line 3: GrpTRES is `cpu=six,mem=4G`"),
        (
            "dump/partitions.txt",
            "00:10:00",
            "soon",
            "dump/partitions.txt, line 1: MaxTime is `soon`",
        ),
        (
            "dump/events.txt",
            "4600|DOWN",
            "later|DOWN",
            "dump/events.txt, line 3: TimeEnd is `later`",
        ),
        (
            "dump/assoc.txt",
            "tiny|a2|u2|||1|||||||||",
            "tiny|a2|u2",
            "line 6 has 3 values, but there are 15 columns",
        ),
        ("dump/sacct.txt", "JobIDRaw|JobID|", "JobIDRaw JobID ", "columns of a fixed width"),
        ("dump/sacct.txt", "|", " ", "no line of names"),
    ] {
        let mut files = FILES.map(|(name, text)| (name, text.to_owned()));
        let found = files.iter_mut().find(|it| it.0 == file).expect("a file");
        assert!(found.1.contains(from), "{from}");
        found.1 = found.1.replace(from, to);
        let files = Vec::from_iter(files.iter().map(|it| (it.0, it.1.as_str())));
        let folder = Folder::with(&files);
        let told = unwrapped(&import(&folder));
        assert!(told.contains(expected), "{told}");
        assert!(!told.starts_with("exit code: 0"), "{told}");
        assert!(!folder.path().join("site.toml").exists());
    }
    let folder = Folder::with(&[("dump/nodes.txt", NODES)]);
    let told = import(&folder);
    assert!(told.contains("config.txt"), "{told}");
    let told = folder.haggle(&["import", "slurm", "nothing"]);
    assert!(told.contains("not a folder"), "{told}");
}

/// Names are data: they end neither a comment nor a text of the scenario.
#[test]
fn names_of_a_dump_change_nothing_but_names() {
    let odd = "b\u{1b}[2J\"]";
    let partitions = PARTITIONS.replace("PartitionName=batch", &format!("PartitionName={odd}"));
    let nodes = NODES.replace("batch", odd);
    let jobs = JOBS.replace("batch", odd);
    let files = FILES.map(|(name, text)| match name {
        "dump/partitions.txt" => (name, partitions.as_str()),
        "dump/nodes.txt" => (name, nodes.as_str()),
        "dump/sacct.txt" => (name, jobs.as_str()),
        _ => (name, text),
    });
    let folder = Folder::with(&files);
    let told = import(&folder);
    assert!(told.starts_with("exit code: 0"), "{told}");
    assert!(!told.contains('\u{1b}'));
    let checked = folder.haggle(&["validate", "site.toml"]);
    assert!(checked.starts_with("exit code: 0"), "{checked}");
}

#[test]
fn the_script_is_the_one_of_the_manual() {
    let told = Folder::with(&[]).haggle(&["import", "script"]);
    assert!(told.contains(include_str!("../docs/slurm-dump.sh")), "{told}");
}

/// Jobs of the short queue, which has the higher tier, stop those of the other one; the site's QOS have no say then.
#[test]
fn preemption_by_partition_or_by_qos_is_imported() {
    let preempting =
        |kind: &str, mode: &str| format!("{CONFIG}PreemptType = {kind}\nPreemptMode = {mode}\n");
    let partitions = PARTITIONS
        .replace("Nodes=n[1-2],g1", "PreemptMode=REQUEUE GraceTime=60 Nodes=n[1-2],g1")
        .replace("Nodes=n[1-2] ", "PreemptMode=SUSPEND Nodes=n[1-2] ");
    let qos = "\
Name|Priority|Flags|GraceTime|Preempt|PreemptMode
normal|0||00:01:30||cluster
few|10||00:00:00|normal|cluster
";
    let imported = |config: &str| {
        let files = FILES.map(|(name, text)| match name {
            "dump/config.txt" => (name, config),
            "dump/partitions.txt" => (name, partitions.as_str()),
            "dump/qos.txt" => (name, qos),
            _ => (name, text),
        });
        let folder = Folder::with(&files);
        let told = import(&folder);
        assert!(told.starts_with("exit code: 0"), "{told}");
        let told = folder.haggle(&["run", "site.toml", "-o", "out", "--quiet", "--check"]);
        assert!(told.starts_with("exit code: 0"), "{told}");
        folder.read("site.toml")
    };
    let tables = |text: &str, kind: &str| -> Vec<(String, String)> {
        let read: toml::Table = text.parse().expect("it is TOML");
        let all = read["provider"][0][kind].as_array().expect("a list").clone();
        let one = |it: &toml::Value| {
            let keys = ["preempts", "on-preemption", "grace"]
                .map(|key| it.get(key).map_or_else(String::new, ToString::to_string));
            (it["name"].to_string(), keys.join(" "))
        };
        all.iter().map(one).collect()
    };
    let by_partition = imported(&preempting("preempt/partition_prio", "REQUEUE"));
    let expected = [("\"batch\"", "  \"1min\""), ("\"short\"", "[\"batch\"]  ")];
    let expected = expected.map(|(name, keys)| (name.to_owned(), keys.to_owned()));
    assert_eq!(tables(&by_partition, "queue"), expected, "{by_partition}");
    assert!(by_partition.contains("QOS list others that they preempt"), "{by_partition}");
    assert!(by_partition.contains("jobs that Slurm suspends for others are not stopped: short"));
    let by_qos = imported(&preempting("preempt/qos", "CANCEL"));
    let expected = [("\"normal\"", " \"cancel\" \"90s\""), ("\"few\"", "[\"normal\"]  ")];
    let expected = expected.map(|(name, keys)| (name.to_owned(), keys.to_owned()));
    assert_eq!(tables(&by_qos, "qos"), expected, "{by_qos}");
    assert!(!by_qos.contains("preempts = [\"batch\"]"), "{by_qos}");
}
