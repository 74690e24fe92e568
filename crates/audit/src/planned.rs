//! The plan of one provider at one time fits its processors.

use std::collections::{BTreeMap, BTreeSet};

use super::Books;
use super::findings::Findings;
use super::rows::Micros;

/// Processors that a provider has planned for a part.
pub(super) struct Planned {
    /// Time during which the plan has this entry.
    pub(super) known: (Micros, Micros),
    /// Planned time of the part.
    pub(super) booked: (Micros, Micros),
    pub(super) processors: i64,
}

/// At each instant, the plan of a provider fits its processors. After missed starts or failures
/// other places are found, and no table has these.
pub(super) fn have_room(
    books: &Books,
    mut planned: BTreeMap<&str, Vec<Planned>>,
    rule: &'static str,
    findings: &mut Findings,
) {
    let rows = &books.rows;
    let crashed = rows.crashes.iter().map(|it| it.actor.as_str());
    let failed = rows.failures.iter().map(|it| it.provider.as_str());
    let elsewhere: BTreeSet<&str> = crashed.chain(failed).collect();
    let told = |provider: &str| !elsewhere.contains(provider);
    for it in rows.resources.iter().filter(|it| told(&it.provider)) {
        let mut here = planned.remove(it.provider.as_str()).unwrap_or_default();
        here.sort_by_key(|it| it.known);
        let mut standing: Vec<&Planned> = Vec::new();
        for new in here.iter().filter(|it| it.known.0 < it.known.1) {
            // Entries that the plan has given up by then make room.
            standing.retain(|it| new.known.0 < it.known.1);
            standing.push(new);
            let most = most_at_once(&standing, new.booked);
            let place = || format!("{} from {} us on", it.provider, new.booked.0);
            findings.expect(most <= it.processors, rule, place);
        }
    }
}

/// Most processors planned for one instant from `from` until `until`.
fn most_at_once(planned: &[&Planned], (from, until): (Micros, Micros)) -> i64 {
    let meets = |it: &&&Planned| it.booked.0 < until && from < it.booked.1;
    let changes =
        |it: &&Planned| [(it.booked.0.max(from), it.processors), (it.booked.1, -it.processors)];
    let mut changes: Vec<(Micros, i64)> = planned.iter().filter(meets).flat_map(changes).collect();
    // At one instant processors are given back before others are taken.
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}
