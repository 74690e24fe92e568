//! Facts about recorded failures, whose files are not part of this repository.

use haggle_model::{Span, Time};
use haggle_testing::real_log;
use haggle_workloads::failures::recorded::{NodeChoice, RecordFormat, Recording};
use haggle_workloads::failures::{Cause, Failures, Resource, Window, availability};
use haggle_workloads::swf::Malformed;

fn recording(name: &str, format: RecordFormat) -> Recording {
    Recording::open(&real_log(name), format, Malformed::Refuse).expect("an archive file")
}

fn percent(part: f64) -> f64 {
    (part * 1000.0).round() / 10.0
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn grid5000_nodes_were_up_for_81_percent_of_the_time() {
    let recording = recording("fta-g5k06/event_trace.tab.gz", RecordFormat::Fta);
    assert_eq!(recording.nodes.len(), 1288);
    assert_eq!(percent(recording.availability()), 81.4);
    assert_eq!(recording.from(), Time::from_secs(1_115_811_139));
    assert_eq!(recording.until(), Time::from_secs(1_163_165_604));
    let count = |site: &str| {
        recording.choose(&NodeChoice::Sites(vec![site.to_owned()])).map(|nodes| nodes.len())
    };
    assert_eq!(count("site8"), Ok(342));
    assert_eq!(count("site1"), Ok(64 + 64 + 99 + 32));
    assert_eq!(count("site6/c2"), Ok(24));

    // Half a year of a site, as the failures of a run.
    let half_year = Span::from_secs(182 * 86_400);
    let window = Window { start: recording.from() + half_year, length: half_year };
    let nodes = recording.choose(&NodeChoice::Sites(vec!["site3".into()])).expect("a known site");
    let resource = |node: &&haggle_workloads::failures::RecordedNode| Resource {
        name: node.name.clone(),
        cause: Cause::List(node.outages.within(window)),
    };
    let failures =
        Failures { resources: nodes.iter().map(resource).collect(), ..Failures::default() };
    let outages: Vec<_> = failures.outages().expect("recorded").collect();
    assert!(outages.len() > 100 && outages.is_sorted_by_key(|(_, outage)| outage.fail));
    let end = Time::ZERO + half_year;
    let first = availability(failures.outages_of(0).expect("recorded"), end);
    assert!((0.1..1.0).contains(&first), "{first}");
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn los_alamos_nodes_were_up_for_99_percent_of_the_time() {
    let recording = recording("fta-lanl05/event_trace.tab.gz", RecordFormat::Fta);
    assert_eq!(recording.nodes.len(), 3577);
    assert_eq!(percent(recording.availability()), 99.6);
    let system_2 = recording.choose(&NodeChoice::Sites(vec!["2".into()]));
    assert_eq!(system_2.map(|nodes| nodes.len()), Ok(49));
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn los_alamos_records_tell_of_the_same_nodes() {
    let name = "lanl/LA-UR-05-7318-failure-data-1996-2005.csv.gz";
    let recording = recording(name, RecordFormat::Lanl);
    assert_eq!(recording.nodes.len(), 3577);
    let outages: usize = recording.nodes.iter().map(|node| node.outages.as_slice().len()).sum();
    eprintln!("{outages} outages, available {}", recording.availability());
    assert!((23_300..23_739).contains(&outages), "{outages}");
    let system_20 = recording.choose(&NodeChoice::Sites(vec!["20".into()]));
    assert_eq!(system_20.map(|nodes| nodes.len()), Ok(400));
}
