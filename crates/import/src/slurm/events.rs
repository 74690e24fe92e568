//! Times in which nodes were down, drained or reserved.

use std::collections::BTreeMap;
use std::path::Path;

use haggle_model::Time;
use haggle_scenario::file::Failures;
use haggle_scenario::quantity::{Name, TimeSpan};

use super::hosts;
use super::jobs::Jobs;
use super::nodes::NodeGroups;
use super::text::PROVIDER;
use super::{ImportError, Record, Site};
use crate::{Remarks, dump};

/// Expected form of a time.
const A_TIME: &str = "seconds since 1970, as the dump script writes them";

fn time(record: &Record, column: &str) -> Result<Option<Time>, ImportError> {
    let seconds = |text: &str| text.parse().ok().filter(|it| (0..=1_i64 << 40).contains(it));
    Ok(record.read(column, A_TIME, seconds)?.map(Time::from_secs))
}

/// The outages of each node with some, from the first submission on. They are drains: a job that a failure ended is
/// short in its record already.
pub(super) fn outages(
    site: &Site,
    groups: &NodeGroups,
    jobs: &Jobs,
    folder: &Path,
    remarks: &mut Remarks,
) -> Result<Vec<Failures>, ImportError> {
    let settings = dump::configuration(&folder.join("dump.txt"))?;
    let taken = settings.map(|it| time(&it, "end")).transpose()?.flatten();
    let mut of_nodes: BTreeMap<u32, Vec<(Time, Time)>> = BTreeMap::new();
    for record in &site.events {
        let Some(host) = record.get("NodeName") else { continue };
        let Some(&node) = groups.places.get(host) else {
            remarks.add("events of nodes that are not in nodes.txt are left out", host);
            continue;
        };
        let Some(start) = time(record, "TimeStart")? else { continue };
        let end = match (time(record, "TimeEnd")?, taken) {
            (Some(end), _) => end,
            (None, Some(taken)) => taken,
            (None, None) => {
                remarks.add("events without an end are left out, as the dump has no end", host);
                continue;
            }
        };
        if end > start.max(jobs.zero) {
            of_nodes.entry(node).or_default().push((start.max(jobs.zero), end));
        }
    }
    for record in &site.reservations {
        let name = record.get("Name").unwrap_or_default();
        let flags = record.get("Flags").unwrap_or_default();
        if !flags.split(',').any(|it| it == "MAINT") {
            remarks.add("reservations for some users are left out", name);
            continue;
        }
        let listed = record.get("NodeName").or_else(|| record.get("NodeNames"));
        let times = time(record, "TimeStart")?.zip(time(record, "TimeEnd")?);
        let Some((start, end)) = times else { continue };
        remarks.add("maintenance is a down time that the scheduler does not foresee", name);
        let hosts = listed.and_then(hosts::expand).unwrap_or_default();
        for node in hosts.iter().filter_map(|host| groups.places.get(host)) {
            if end > start.max(jobs.zero) {
                of_nodes.entry(*node).or_default().push((start.max(jobs.zero), end));
            }
        }
    }
    let of = |node: u32, times: Vec<(Time, Time)>| Failures {
        of: vec![Name::like(PROVIDER)],
        first_node: Some(node),
        nodes: Some(1),
        outages: Some(united(times, jobs.zero)),
        ..Failures::default()
    };
    Ok(of_nodes.into_iter().map(|(node, times)| of(node, times)).collect())
}

/// Times in order, without overlaps, since time zero.
fn united(mut times: Vec<(Time, Time)>, zero: Time) -> Vec<Vec<TimeSpan>> {
    times.sort_unstable();
    let mut united: Vec<(Time, Time)> = Vec::new();
    for (start, end) in times {
        match united.last_mut() {
            // Two states in a row, such as a drain that became a failure, are one outage.
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => united.push((start, end)),
        }
    }
    let since = |time: Time| TimeSpan(time - zero);
    united.into_iter().map(|(start, end)| vec![since(start), since(end)]).collect()
}

#[cfg(test)]
mod tests {
    use haggle_model::Span;

    use super::*;

    #[test]
    fn outages_in_a_row_are_one() {
        let at = Time::from_secs;
        let times = vec![(at(50), at(60)), (at(10), at(20)), (at(20), at(30)), (at(12), at(15))];
        let secs = |seconds| TimeSpan(Span::from_secs(seconds));
        assert_eq!(united(times, at(5)), [vec![secs(5), secs(25)], vec![secs(45), secs(55)]]);
    }
}
