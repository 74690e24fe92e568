//! Partitions as queues, qualities of service, and the policy of the scheduler.

use std::collections::BTreeSet;

use haggle_scenario::file::{Limits, OnPreemption, Policy, Qos, Queue};
use haggle_scenario::quantity::TimeSpan;
use haggle_workloads::logs::slurm::values;

use super::limits::{self, OF_ACCOUNT, OF_GROUP, OF_USER};
use super::nodes::NodeGroups;
use super::numbers::Numbers;
use super::{ImportError, Record, Site, preemption};
use crate::Remarks;

/// Largest tier of a queue.
const TIER_MAX: u64 = 65_533;

/// Largest priority of a queue.
const PRIORITY_MAX: u64 = 1_000_000_000;

/// Columns of QOS that are read, or have no effect on jobs.
const KNOWN: [&str; 16] = [
    "Name",
    "Priority",
    "Flags",
    "UsageFactor",
    "PreemptMode",
    "GraceTime",
    "PreemptExemptTime",
    "MaxWall",
    "MaxTRES",
    "Preempt",
    "GrpJobs",
    "GrpSubmit",
    "GrpTRES",
    "MaxJobsPU",
    "MaxSubmitPU",
    "MaxTRESPU",
];
const OF_ACCOUNTS: [&str; 3] = OF_ACCOUNT;

/// The policy of the provider: backfilling, or the order of the queue alone.
pub(super) fn policy(site: &Site, remarks: &mut Remarks) -> Policy {
    match site.config.get("SchedulerType") {
        Some("sched/builtin") => Policy::fcfs(),
        Some("sched/backfill") | None => {
            remarks.add(
                "Slurm's backfilling (sched/backfill) is EASY here; `policy = { name = \"conservative\", compression = \
                 \"replan\" }` is closer, and slower",
                "",
            );
            Policy::easy()
        }
        Some(other) => {
            remarks.add(
                "the scheduler is taken as EASY backfilling",
                &other.escape_default().to_string(),
            );
            Policy::easy()
        }
    }
}

fn small(number: Option<u64>, most: u64) -> u32 {
    number.unwrap_or(0).min(most) as u32
}

/// The QOS of this name.
fn quality<'a>(site: &'a Site, name: &str) -> Option<&'a Record> {
    site.qualities.iter().find(|it| it.get("Name") == Some(name))
}

/// The limits of a QOS: of all of its jobs, of each user, of each account.
fn limits_of(
    record: &Record,
    name: &str,
    remarks: &mut Remarks,
) -> Result<[Limits; 3], ImportError> {
    let mut of = |columns| limits::together(record, columns, name, remarks);
    Ok([of(OF_GROUP)?, of(OF_USER)?, of(OF_ACCOUNT)?])
}

/// The queues. The default partition comes first: jobs of an unknown partition go there.
pub(super) fn queues(
    site: &Site,
    groups: &NodeGroups,
    numbers: &Numbers,
    remarks: &mut Remarks,
) -> Result<Vec<Queue>, ImportError> {
    let mut records = Vec::from_iter(&site.partitions);
    records.sort_by_key(|it| it.get("Default") != Some("YES"));
    let mut queues = Vec::new();
    for record in records {
        let Some(name) = record.get("PartitionName") else { continue };
        let nodes = groups.names_of(name);
        if nodes.as_ref().is_some_and(Vec::is_empty) {
            remarks.add("partitions without nodes are left out, and their jobs are refused", name);
            continue;
        }
        remark_partition(record, name, remarks);
        let mut queue = Queue {
            name: numbers.partitions.written(name),
            number: None,
            partition: numbers.partitions.number(name),
            tier: small(record.number("PriorityTier")?, TIER_MAX).max(1),
            priority: small(record.number("PriorityJobFactor")?, PRIORITY_MAX),
            nodes,
            users: None,
            groups: groups_of(record, name, numbers, remarks),
            longest: record
                .read("MaxTime", "a time such as 1-00:00:00", values::limit)?
                .flatten()
                .map(TimeSpan),
            widest: widest(record, name, groups, remarks)?,
            preempts: Vec::new(),
            on_preemption: OnPreemption::default(),
            grace: None,
            limits: Limits::default(),
            user_limits: Limits::default(),
            account_limits: Limits::default(),
        };
        if let Some(own) = record.get("QoS").and_then(|it| quality(site, it))
            && site.enforced.limits
        {
            [queue.limits, queue.user_limits, queue.account_limits] =
                limits_of(own, name, remarks)?;
            let (longest, processors) = limits::of_job(own, name, remarks)?;
            queue.longest = longest.or(queue.longest);
            queue.widest = processors.or(queue.widest);
        }
        queues.push(queue);
    }
    preemption::of_queues(site, numbers, &mut queues, remarks)?;
    Ok(queues)
}

/// The most processors of a job, from the most nodes.
fn widest(
    record: &Record,
    name: &str,
    groups: &NodeGroups,
    remarks: &mut Remarks,
) -> Result<Option<u32>, ImportError> {
    let most = record.get("MaxNodes").filter(|it| *it != "UNLIMITED");
    if most.is_none() {
        return Ok(None);
    }
    let Some(most) = record.number("MaxNodes")? else { return Ok(None) };
    let own = groups.groups.iter().filter(|it| it.partitions.iter().any(|it| it == name));
    let cores = own.map(|it| it.node.cores).max().unwrap_or(1);
    remarks.add(
        "MaxNodes of a partition is a limit on processors: so many of its largest nodes",
        name,
    );
    let processors = most.saturating_mul(u64::from(cores)).clamp(1, 100_000_000);
    Ok(Some(processors as u32))
}

/// Accounts that may use a partition.
fn groups_of(
    record: &Record,
    name: &str,
    numbers: &Numbers,
    remarks: &mut Remarks,
) -> Option<Vec<i32>> {
    let listed = |key: &str| record.get(key).filter(|it| *it != "ALL");
    let named = |list: &str| -> BTreeSet<String> { list.split(',').map(str::to_owned).collect() };
    let (allowed, denied) = (listed("AllowAccounts").map(named), listed("DenyAccounts").map(named));
    if allowed.is_none() && denied.is_none() {
        return None;
    }
    let mut own = Vec::new();
    for (account, number) in numbers.accounts.iter() {
        let may = allowed.as_ref().is_none_or(|it| it.contains(account));
        let must_not = denied.as_ref().is_some_and(|it| it.contains(account));
        if may && !must_not {
            own.push(number);
        }
    }
    if own.is_empty() {
        remarks.add("partitions whose accounts are not in the dump are open to all", name);
        return None;
    }
    Some(own)
}

/// Remarks on settings of a partition that no queue has.
fn remark_partition(record: &Record, name: &str, remarks: &mut Remarks) {
    let usual: [(&str, &[&str]); 11] = [
        ("AllowGroups", &["ALL"]),
        ("AllowQos", &["ALL"]),
        ("DenyQos", &[]),
        ("ExclusiveUser", &["NO"]),
        ("MaxCPUsPerNode", &["UNLIMITED"]),
        ("MaxMemPerNode", &["UNLIMITED"]),
        ("MaxMemPerCPU", &["UNLIMITED"]),
        ("MinNodes", &["0", "1"]),
        ("OverTimeLimit", &["NONE", "0"]),
        ("OverSubscribe", &["NO", "EXCLUSIVE"]),
        ("State", &["UP"]),
    ];
    for (key, values) in usual {
        if let Some(value) = record.get(key).filter(|it| !values.contains(it)) {
            let value = value.chars().take(40).collect::<String>();
            remarks.add(
                format!("{key} of partitions is left out"),
                &format!("{name} ({})", value.escape_default()),
            );
        }
    }
}

/// The qualities of service.
pub(super) fn qualities(
    site: &Site,
    numbers: &Numbers,
    remarks: &mut Remarks,
) -> Result<Vec<Qos>, ImportError> {
    let mut qualities = Vec::new();
    for record in &site.qualities {
        let Some(name) = record.get("Name") else { continue };
        let Some(number) = numbers.qualities.number(name) else { continue };
        let flags = record.get("Flags").unwrap_or_default();
        let mut qos = Qos {
            name: numbers.qualities.written(name),
            number,
            priority: small(record.number("Priority")?, PRIORITY_MAX),
            over_queue: flags.split(',').any(|it| it.eq_ignore_ascii_case("OverPartQOS")),
            users: None,
            groups: None,
            longest: None,
            widest: None,
            preempts: Vec::new(),
            on_preemption: OnPreemption::default(),
            grace: None,
            limits: Limits::default(),
            user_limits: Limits::default(),
            account_limits: Limits::default(),
        };
        let factor = record.get("UsageFactor").and_then(|it| it.parse::<f64>().ok()).unwrap_or(1.0);
        if (factor - 1.0).abs() > f64::EPSILON {
            remarks.add("factors of usage of QOS are left out", name);
        }
        if site.enforced.limits {
            [qos.limits, qos.user_limits, qos.account_limits] = limits_of(record, name, remarks)?;
            (qos.longest, qos.widest) = limits::of_job(record, name, remarks)?;
            let known = Vec::from_iter(KNOWN.into_iter().chain(OF_ACCOUNTS));
            limits::remark_others(record, &known, &format!("QOS {name}"), remarks);
        }
        let limits = [&qos.limits, &qos.user_limits, &qos.account_limits];
        if qos.over_queue && limits.into_iter().all(|it| *it == Limits::default()) {
            qos.over_queue = false;
        }
        qualities.push(qos);
    }
    preemption::of_qualities(site, numbers, &mut qualities, remarks)?;
    Ok(qualities)
}
