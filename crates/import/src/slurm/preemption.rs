//! Preemption: running jobs that are stopped for others.

use std::collections::BTreeSet;

use haggle_model::Span;
use haggle_scenario::file::{OnPreemption, Qos, Queue};
use haggle_scenario::quantity::{Name, TimeSpan};
use haggle_workloads::logs::slurm::values;

use super::numbers::Numbers;
use super::{ImportError, Site};
use crate::Remarks;

/// The part of a site's settings by which jobs stop others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Partition,
    Qos,
}

fn by(site: &Site, remarks: &mut Remarks) -> Option<By> {
    match site.config.get("PreemptType") {
        Some("preempt/partition_prio") => Some(By::Partition),
        Some("preempt/qos") => Some(By::Qos),
        Some("preempt/none") | None => None,
        Some(other) => {
            remarks.add("the kind of preemption is left out", &other.escape_default().to_string());
            None
        }
    }
}

/// The treatment of jobs with this mode; `None` if they are not stopped. Suspended jobs have no counterpart.
fn treatment(mode: &str, owner: &str, remarks: &mut Remarks) -> Option<OnPreemption> {
    let has = |word: &str| mode.split(',').any(|it| it.trim().eq_ignore_ascii_case(word));
    if has("REQUEUE") {
        return Some(OnPreemption::Requeue);
    }
    if has("CANCEL") {
        return Some(OnPreemption::Cancel);
    }
    if !has("OFF") {
        let mode = mode.chars().take(40).collect::<String>();
        remarks.add(
            "jobs that Slurm suspends for others are not stopped",
            &format!("{owner} ({})", mode.escape_default()),
        );
    }
    None
}

fn grace(time: Option<Span>) -> Option<TimeSpan> {
    time.filter(|&it| it > Span::ZERO).map(TimeSpan)
}

/// Jobs of a partition stop those of partitions with a lower tier that share nodes with it.
pub(super) fn of_queues(
    site: &Site,
    numbers: &Numbers,
    queues: &mut [Queue],
    remarks: &mut Remarks,
) -> Result<(), ImportError> {
    if by(site, remarks) != Some(By::Partition) {
        return Ok(());
    }
    let general = site.config.get("PreemptMode").unwrap_or("OFF");
    let mut lower: Vec<(u32, Name, Option<Vec<Name>>)> = Vec::new();
    for record in &site.partitions {
        let Some(name) = record.get("PartitionName") else { continue };
        let own = numbers.partitions.written(name);
        let Some(queue) = queues.iter_mut().find(|it| it.name == own) else { continue };
        let mode = record.get("PreemptMode").unwrap_or(general);
        let Some(then) = treatment(mode, name, remarks) else { continue };
        let seconds = record.number("GraceTime")?.map(|it| it.min(1 << 31) as i64);
        queue.on_preemption = then;
        queue.grace = grace(seconds.map(Span::from_secs));
        lower.push((queue.tier, own, queue.nodes.clone()));
    }
    for queue in queues.iter_mut() {
        let shares = |nodes: &Option<Vec<Name>>| match (nodes, &queue.nodes) {
            (Some(one), Some(other)) => one.iter().any(|it| other.contains(it)),
            _ => true,
        };
        let stopped = lower.iter().filter(|it| it.0 < queue.tier && shares(&it.2));
        queue.preempts = stopped.map(|it| it.1.clone()).collect();
    }
    let stops = queues.iter().any(|it| !it.preempts.is_empty());
    remark_exempt(site, stops, remarks);
    let named: Vec<Name> = queues.iter().flat_map(|it| it.preempts.clone()).collect();
    for queue in queues.iter_mut().filter(|it| !named.contains(&it.name)) {
        (queue.on_preemption, queue.grace) = (OnPreemption::default(), None);
    }
    Ok(())
}

/// Jobs of a QOS stop those of the QOS that it lists.
pub(super) fn of_qualities(
    site: &Site,
    numbers: &Numbers,
    qualities: &mut [Qos],
    remarks: &mut Remarks,
) -> Result<(), ImportError> {
    let is_by_qos = by(site, remarks) == Some(By::Qos);
    let general = site.config.get("PreemptMode").unwrap_or("OFF");
    let mut named: Vec<Name> = Vec::new();
    for record in &site.qualities {
        let (Some(name), Some(list)) = (record.get("Name"), record.get("Preempt")) else {
            continue;
        };
        if !is_by_qos {
            remarks.add(
                "QOS list others that they preempt, without effect in Slurm's configuration",
                name,
            );
            continue;
        }
        let own = numbers.qualities.written(name);
        for other in list.split(',').map(str::trim).filter(|it| !it.is_empty() && *it != name) {
            let Some(record) = site.qualities.iter().find(|it| it.get("Name") == Some(other))
            else {
                remarks.add("QOS that others preempt, and that are not in qos.txt", other);
                continue;
            };
            let mode = record.get("PreemptMode").filter(|it| !it.eq_ignore_ascii_case("cluster"));
            let Some(then) = treatment(mode.unwrap_or(general), other, remarks) else { continue };
            let time = record.read("GraceTime", "a time such as 00:01:00", values::limit)?;
            let other = numbers.qualities.written(other);
            if reaches(qualities, &other, &own) {
                remarks.add("QOS that preempt each other in turn do so in one direction", name);
                continue;
            }
            if let Some(qos) = qualities.iter_mut().find(|it| it.name == own)
                && !qos.preempts.contains(&other)
            {
                qos.preempts.push(other.clone());
            }
            if let Some(qos) = qualities.iter_mut().find(|it| it.name == other) {
                qos.on_preemption = then;
                qos.grace = grace(time.flatten());
            }
            named.push(other);
        }
    }
    remark_exempt(site, !named.is_empty(), remarks);
    Ok(())
}

/// True if jobs of one QOS stop those of another one, directly or by way of others.
fn reaches(qualities: &[Qos], from: &Name, to: &Name) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(name) = next.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name.as_str()) {
            let found = qualities.iter().find(|it| it.name == *name);
            next.extend(found.into_iter().flat_map(|it| &it.preempts));
        }
    }
    false
}

/// Running jobs are exempt from preemption for a time in Slurm.
fn remark_exempt(site: &Site, stops: bool, remarks: &mut Remarks) {
    let is_time = |it: Option<&str>| it.is_some_and(|it| !["00:00:00", "NONE"].contains(&it));
    let of_qos = site.qualities.iter().any(|it| is_time(it.get("PreemptExemptTime")));
    if stops && (of_qos || is_time(site.config.get("PreemptExemptTime"))) {
        remarks.add("PreemptExemptTime is left out: running jobs may be stopped at any time", "");
    }
}
