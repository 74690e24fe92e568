//! Tasks of static schedules. Each has a resource of its own, so the outages and other tasks of
//! that resource decide, and the scheduler's knowledge of them.

use haggle_results::about::LearnsOf;
use haggle_results::reader::AttemptRow;
use haggle_results::{About, JobRow};
use serde::Serialize;

use super::Chronicle;
use super::spent::{Ledger, Part, micros, seconds};

/// Reasons why a task waited at the resource of its schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statics {
    /// The resource; for a task that was sent several times, the last one.
    pub resource: String,
    /// Intervals in which it was down while the task waited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub down: Vec<(f64, f64)>,
    /// Intervals in which it worked again, but the scheduler did not know it yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<(f64, f64)>,
    /// Other tasks that it had meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// A task that had its turn on a resource while another one waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// When it was sent there.
    pub from: f64,
    /// When it gave its slot back.
    pub until: f64,
}

/// A task of a static schedule that waits for its resource.
pub(super) struct Place<'a> {
    resource: &'a str,
    /// When the task may be sent there.
    ready: Option<i64>,
    /// When it is sent there next.
    sent: i64,
    /// Outages: failure, return, and time at which the scheduler knew of the return.
    outages: Vec<[i64; 3]>,
    /// Attempts of other tasks there: sent, gone, and the row.
    others: Vec<(i64, i64, &'a AttemptRow)>,
}

impl<'a> Place<'a> {
    /// The resource to which a task was sent next from an instant on; `None` if the
    /// schedule may have had it elsewhere.
    pub(super) fn of(
        all: &'a Chronicle,
        job: &JobRow,
        own: &[&'a AttemptRow],
        now: i64,
    ) -> Option<Place<'a>> {
        // A task that is scheduled anew may have waited for another resource than the one that ran it.
        if !all.about.static_schedules || all.about.schedules_anew {
            return None;
        }
        let sent = |it: &AttemptRow| it.queued.map_or(i64::MAX, micros);
        // A lost task is sent to the same resource again.
        let next = own.iter().find(|it| sent(it) >= now).or(own.last())?;
        let here = all.attempts.iter().filter(|it| it.provider == next.provider);
        let others = here.filter(|it| it.job != job.job).filter_map(|it| {
            let (from, until) = it.slot()?;
            Some((micros(from), micros(until), it))
        });
        let mut place = Place {
            resource: &next.provider,
            ready: job.ready.map(micros),
            // After the last attempt the task is not sent any more.
            sent: if sent(next) >= now { sent(next) } else { i64::MAX },
            outages: Vec::new(),
            others: others.collect(),
        };
        for it in all.outages.iter().filter(|it| it.provider == next.provider) {
            let (failed, back) = (micros(it.failed), it.restored.map_or(i64::MAX, micros));
            let lost = all.attempts.iter().any(|attempt| {
                attempt.provider == it.provider
                    && attempt.has_failed()
                    && attempt.end.map(micros) == Some(failed)
            });
            let known = place.known(&all.about, (failed, back), lost);
            place.outages.push([failed, back, known]);
        }
        Some(place)
    }

    /// When the scheduler knew that the resource was back.
    fn known(&self, about: &About, (failed, back): (i64, i64), lost: bool) -> i64 {
        let late = match about.information {
            None => back,
            Some(LearnsOf::Periodic(period)) => {
                let period = micros(period).max(1);
                let next = |time: i64| (time + period - 1) / period * period;
                // The scheduler notices an outage between two updates only by lost attempts.
                if back == i64::MAX || !lost && next(failed) > back { back } else { next(back) }
            }
            // The drawn delay is in no table, so the longest one is taken.
            Some(LearnsOf::Within(longest)) => back.saturating_add(micros(longest)),
        };
        // A task that was sent there after the return shows that the scheduler knew of it.
        let sent = self.others.iter().map(|it| it.0).chain([self.sent]);
        sent.filter(|&it| it >= back).fold(late, i64::min)
    }

    /// Fills the ledger until then: the task waited.
    pub(super) fn tell(&self, ledger: &mut Ledger, until: i64, statics: &mut Option<Statics>) {
        let until = until.min(ledger.left());
        ledger.until(until.min(self.ready.unwrap_or(0)), Part::NotReady);
        let story = statics.get_or_insert_with(|| Statics {
            resource: String::new(),
            down: Vec::new(),
            unknown: Vec::new(),
            turns: Vec::new(),
        });
        self.resource.clone_into(&mut story.resource);
        let mut times = Vec::from_iter(self.outages.iter().flatten().copied());
        times.extend(self.others.iter().flat_map(|it| [it.0, it.1]));
        // The reason changes only at these instants.
        times.retain(|&it| ledger.told() < it && it < until);
        times.push(until);
        times.sort_unstable();
        for time in times {
            let now = ledger.told();
            if time <= now {
                continue;
            }
            let part = self.part(now);
            match part {
                Part::Down => extend(&mut story.down, now, time),
                Part::RepairUnknown => extend(&mut story.unknown, now, time),
                _ => {}
            }
            ledger.until(time, part);
        }
        let met = self.others.iter().filter(|it| it.0 < until && self.sent >= it.0);
        let waited = self.ready.unwrap_or(0);
        let met = met.filter(|it| it.1 > waited);
        story.turns.extend(met.map(|&(from, until, it)| Turn {
            job: it.job,
            workload: it.workload.clone(),
            job_id: it.job_id,
            from: seconds(from),
            until: seconds(until),
        }));
        story.turns.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.job.cmp(&b.job)));
        // This is called once for each wait, and a turn may meet several of them.
        story.turns.dedup();
    }

    /// Reason why the task is not sent at an instant.
    fn part(&self, now: i64) -> Part {
        let is_in = |from: i64, until: i64| from <= now && now < until;
        if self.outages.iter().any(|it| is_in(it[0], it[1])) {
            Part::Down
        // Before an unknown repair: a resource with a task is known to work.
        } else if self.others.iter().any(|it| is_in(it.0, it.1)) {
            Part::Busy
        } else if self.outages.iter().any(|it| is_in(it[1], it[2])) {
            Part::RepairUnknown
        } else if self.others.iter().any(|it| now <= it.0 && it.0 < self.sent) {
            Part::Order
        } else {
            Part::Round
        }
    }
}

/// Adds a stretch; it is joined to the last one if that ends where it begins.
fn extend(stretches: &mut Vec<(f64, f64)>, from: i64, until: i64) {
    let (from, until) = (seconds(from), seconds(until));
    match stretches.last_mut().filter(|last| last.1 == from) {
        Some(last) => last.1 = until,
        None => stretches.push((from, until)),
    }
}
