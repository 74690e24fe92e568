//! Hours of waiting by owner.

use crate::experiment::compare::owners::{OwnedWaits, OwnerKind, OwnerWaits};
use crate::scenario::quantity::TimeSpan;
use haggle_model::Span;

use crate::commands::table::{alike, lines, row};

/// Number of a job by which waiting times are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// Its user
    User,
    /// Its group, or its account in a log of accounts
    Group,
    /// Its queue, or its QOS in a log of sacct
    Queue,
    /// Its partition
    Partition,
}

impl By {
    pub(super) fn to_model(self) -> OwnerKind {
        match self {
            By::User => OwnerKind::User,
            By::Group => OwnerKind::Group,
            By::Queue => OwnerKind::Queue,
            By::Partition => OwnerKind::Partition,
        }
    }
}

/// A line for each owner, and one for all; the heads are those of A, B and the difference.
pub(super) fn as_text(waits: &OwnedWaits, [a, b, difference]: [&str; 3]) -> String {
    let first = format!("hours of waiting by {}", waits.by.name());
    let mut table = vec![row([&first, "jobs", a, b, difference, "95 % of it"])];
    let name = |owner: i64| match owner {
        -1 => "unknown".to_owned(),
        owner => owner.to_string(),
    };
    table.extend(waits.owners.iter().map(|it| line(name(it.owner), it)));
    table.push(line("all".to_owned(), &waits.all));
    let block = TimeSpan(Span::from_micros((waits.block * 1e6).round() as i64));
    format!("\n{}the intervals count blocks of {block} as independent\n", lines(&table, &[0]))
}

fn line(name: String, it: &OwnerWaits) -> Vec<String> {
    let values = [Some(it.a), Some(it.b), Some(it.difference()), it.half_width];
    let [a, b, difference, half] = alike(values);
    let difference = super::signed(Some(it.difference()), difference);
    vec![name, it.jobs.to_string(), a, b, difference, super::width(it.half_width, half)]
}
