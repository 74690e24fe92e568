//! Parts that are held for transactions.

use haggle_model::{ActorId, AgreementEvent, AgreementId, JobId, Time};
use haggle_results::{Format, Metrics, RunWriter, WriteOptions};

use crate::made_up::{cast, publish};

/// The second hold of an agreement replaces the first one, which has a row all the same.
#[test]
fn each_hold_of_an_agreement_has_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let options = WriteOptions { format: Format::Csv, ..WriteOptions::default() };
    let metrics = Metrics::new(cast(), options.metrics);
    let mut writer = RunWriter::create(&run, cast(), options).expect("it can be written");
    let id = AgreementId { coordinator: ActorId(1), number: 0 };
    let held = |processors| AgreementEvent::Held {
        processors,
        start: Time::from_secs(100),
        end: None,
        lease_end: None,
    };
    for (now, event) in [(1, held(4)), (2, held(8)), (3, AgreementEvent::PartOver)] {
        let now = Time::from_secs(now);
        writer.agreement(now, ActorId(2), id, JobId(0), &event).expect("it can be written");
    }
    publish(writer, &metrics).expect("it can be written");
    let table = std::fs::read_to_string(run.join("holds.csv")).expect("it is there");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a header");
    let place = |name: &str| head.iter().position(|it| *it == name).expect("a column");
    let columns = ["processors", "end_time", "outcome"].map(place);
    let rows: Vec<_> = rows.map(|row| columns.map(|column| row[column].to_owned())).collect();
    assert_eq!(rows, [["4", "2.0", "given_up"], ["8", "3.0", "over"]]);
}
