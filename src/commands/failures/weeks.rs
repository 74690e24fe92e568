//! Observed and working nodes, week by week.

use haggle_model::Time;
use haggle_workloads::failures::recorded::Recording;

/// A week in microseconds.
const WEEK: i64 = 7 * 24 * 3600 * 1_000_000;

/// Sums over a week, counted from the beginning of the record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Week {
    /// Length in microseconds: the record may end within the last week.
    pub(super) length: i64,
    /// Time for which nodes were observed, in microseconds of a node.
    pub(super) observed: i128,
    /// Time for which they were down.
    pub(super) down: i128,
    /// Outages that began.
    pub(super) outages: u64,
}

impl Week {
    /// The part of the observed time in which nodes were up; `None` if none was observed.
    pub(super) fn availability(&self) -> Option<f64> {
        (self.observed > 0).then(|| 1.0 - self.down as f64 / self.observed as f64)
    }

    /// Mean number of observed nodes over its length.
    pub(super) fn nodes(&self) -> f64 {
        self.observed as f64 / self.length as f64
    }

    /// Length in days.
    pub(super) fn length_days(&self) -> f64 {
        self.length as f64 / (WEEK / 7) as f64
    }
}

/// The weeks of a record; the last one ends with the record.
pub(super) fn weeks(recording: &Recording) -> Vec<Week> {
    let begin = recording.from();
    let length = (recording.until() - begin).as_micros().max(0);
    let starts = (0..length).step_by(WEEK as usize);
    let week = |start: i64| Week { length: WEEK.min(length - start), ..Week::default() };
    let mut weeks: Vec<Week> = starts.map(week).collect();
    for node in &recording.nodes {
        spread(&mut weeks, begin, node.from, node.until, |week, part| week.observed += part);
        for outage in node.outages.as_slice() {
            let at = ((outage.fail - begin).as_micros() / WEEK) as usize;
            // An outage that begins with the end of the record belongs to no week.
            if let Some(week) = weeks.get_mut(at) {
                week.outages += 1;
            }
            spread(&mut weeks, begin, outage.fail, outage.restore, |week, part| week.down += part);
        }
    }
    weeks
}

/// Gives each week its part of a stretch of time.
fn spread(
    weeks: &mut [Week],
    begin: Time,
    from: Time,
    until: Time,
    mut give: impl FnMut(&mut Week, i128),
) {
    let (from, until) = ((from - begin).as_micros(), (until - begin).as_micros());
    // For speed: earlier weeks have no part.
    let first = usize::try_from(from.div_euclid(WEEK)).unwrap_or(0);
    for (at, week) in weeks.iter_mut().enumerate().skip(first) {
        let start = at as i64 * WEEK;
        if until <= start {
            break;
        }
        let part = until.min(start + WEEK) - from.max(start);
        give(week, part.max(0).into());
    }
}

#[cfg(test)]
mod tests {
    use haggle_workloads::failures::recorded::{RecordFormat, parse_bytes};
    use haggle_workloads::swf::Malformed;

    use super::*;

    const SECONDS: i64 = WEEK / 1_000_000;

    /// A node that is up for two and a half weeks, except for a quarter of a week around the end of
    /// the first one.
    fn recorded() -> Recording {
        let quarter = SECONDS / 4;
        let cut = SECONDS - quarter / 2;
        let event = |number: i64, kind: i64, start: i64, end: i64| {
            format!("{number}\t0\t1\t1\tG1/s/c/n\t{kind}\t{start}\t{end}\t0\n")
        };
        let text = [
            event(1, 1, 0, cut),
            event(2, 0, cut, cut + quarter),
            event(3, 1, cut + quarter, 2 * SECONDS + SECONDS / 2),
        ];
        let bytes = text.concat().into_bytes();
        parse_bytes(&bytes, RecordFormat::Fta, Malformed::Refuse).expect("a sound record")
    }

    #[test]
    fn an_outage_over_the_border_of_two_weeks_is_in_both() {
        let weeks = weeks(&recorded());
        // The last week has half the days, with the same node in all of them.
        assert_eq!(weeks.iter().map(|it| it.nodes()).collect::<Vec<_>>(), [1.0, 1.0, 1.0]);
        assert_eq!(weeks[2].length_days(), 3.5);
        let available: Vec<_> = weeks.iter().filter_map(Week::availability).collect();
        assert_eq!(available, [0.875, 0.875, 1.0]);
        assert_eq!(weeks.iter().map(|it| it.outages).collect::<Vec<_>>(), [1, 0, 0]);
    }
}
