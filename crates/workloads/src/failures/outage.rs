//! An outage of a resource, and lists of outages.

use super::error::OutageListError;
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// The time from a failure to the restoration after it: down at `fail`, up again at `restore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Outage {
    /// Time of the failure.
    pub fail: Time,
    /// Time of the restoration; [`Time::FOREVER`] = never.
    pub restore: Time,
}

impl Outage {
    /// True if the resource failed before time zero, so that it is down when the run starts.
    pub fn is_down_at_start(self) -> bool {
        self.fail < Time::ZERO
    }

    /// True if the resource is never restored.
    pub fn is_open(self) -> bool {
        self.restore >= Time::FOREVER
    }
}

/// A part of recorded time that is replayed in a run: `start` becomes time zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start, in the time of the record.
    pub start: Time,
    /// Length of the part. No resource fails after it.
    pub length: Span,
}

/// Outages of one resource: in order of time, with time up between any two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutageList(Vec<Outage>);

impl OutageList {
    /// A list of outages that must be in order. The first outage that is not is an error.
    pub fn new(outages: Vec<Outage>) -> Result<OutageList, OutageListError> {
        let mut restored: Option<Time> = None;
        for (index, &Outage { fail, restore }) in outages.iter().enumerate() {
            let number = index + 1;
            if restore <= fail {
                return Err(OutageListError::Empty { number, fail, restore });
            }
            // Outages that touch are refused as well, because the resource must be up between two.
            if let Some(restored) = restored.filter(|&restored| fail <= restored) {
                return Err(OutageListError::Overlap { number, fail, restored });
            }
            restored = Some(restore);
        }
        Ok(OutageList(outages))
    }

    /// A list from outages in any order. Outages that overlap or touch become one; outages that end
    /// before they begin are left out. An outage of zero length counts: its resource fails and is up
    /// again at once.
    pub fn united(mut outages: Vec<Outage>) -> OutageList {
        outages.retain(|outage| outage.fail <= outage.restore);
        outages.sort_unstable();
        // `dedup_by` passes the later element first.
        outages.dedup_by(|next, kept| {
            let touches = next.fail <= kept.restore;
            if touches {
                kept.restore = kept.restore.max(next.restore);
            }
            touches
        });
        OutageList(outages)
    }

    /// The outages that fall into `window`, with times counted from its start.
    ///
    /// An outage that is going on at the start keeps its failure, which is then before zero. An outage
    /// that is going on at the end keeps its restoration, which is then after the end. All outages
    /// therefore keep their lengths.
    pub fn within(&self, window: Window) -> OutageList {
        let Window { start, length } = window;
        let shifted = |time: Time| {
            // Moved by the start, "never" would become an instant of restoration.
            if time >= Time::FOREVER {
                return Time::FOREVER;
            }
            Time::from_micros(time.as_micros().saturating_sub(start.as_micros()))
        };
        // An outage of zero length at the very start is within the window.
        let is_over = |outage: &Outage| outage.restore <= start && outage.fail < start;
        let first = self.0.partition_point(is_over);
        let outages = self.0[first..]
            .iter()
            .map(|outage| Outage { fail: shifted(outage.fail), restore: shifted(outage.restore) })
            .take_while(|outage| outage.fail < Time::ZERO + length)
            .collect();
        OutageList(outages)
    }

    /// The outages.
    pub fn as_slice(&self) -> &[Outage] {
        &self.0
    }
}

impl IntoIterator for OutageList {
    type Item = Outage;
    type IntoIter = std::vec::IntoIter<Outage>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outages(seconds: &[(i64, i64)]) -> Vec<Outage> {
        let time = Time::from_secs;
        seconds.iter().map(|&(f, r)| Outage { fail: time(f), restore: time(r) }).collect()
    }

    fn check_united(given: &[(i64, i64)], expected: &[(i64, i64)]) {
        assert_eq!(OutageList::united(outages(given)).as_slice(), outages(expected), "{given:?}");
    }

    #[test]
    fn outages_that_overlap_or_touch_are_united() {
        check_united(&[], &[]);
        check_united(&[(5, 9), (1, 3)], &[(1, 3), (5, 9)]);
        check_united(&[(1, 3), (3, 4)], &[(1, 4)]);
        check_united(&[(1, 9), (2, 3), (8, 12), (13, 14)], &[(1, 12), (13, 14)]);
        check_united(&[(1, 1), (4, 3), (6, 7)], &[(1, 1), (6, 7)]);
        check_united(&[(1, 3), (3, 3), (2, 2)], &[(1, 3)]);
    }

    #[test]
    fn a_list_that_is_not_in_order_is_refused_by_number() {
        let message = |list: &[(i64, i64)]| {
            OutageList::new(outages(list)).expect_err("a wrong list").to_string()
        };
        assert!(OutageList::new(outages(&[(1, 2), (3, 4)])).is_ok());
        assert_eq!(
            message(&[(1, 2), (2, 4)]),
            "outage 2 starts at 2 s, when the one before it is not over (restored at 2 s)"
        );
        assert_eq!(
            message(&[(1, 2), (7, 4)]),
            "outage 2 is restored at 4 s, which is not after its failure at 7 s"
        );
    }

    #[test]
    fn a_window_counts_from_its_start_and_cuts_no_outage() {
        let list = OutageList::united(outages(&[(0, 10), (20, 40), (60, 90), (95, 99)]));
        let window = Window { start: Time::from_secs(30), length: Span::from_secs(40) };
        assert_eq!(list.within(window).as_slice(), outages(&[(-10, 10), (30, 60)]));
        let instants = OutageList::united(outages(&[(29, 29), (30, 30), (70, 70)]));
        assert_eq!(instants.within(window).as_slice(), outages(&[(0, 0)]));
        let open = OutageList::new(vec![Outage { fail: Time::ZERO, restore: Time::FOREVER }]);
        let open = open.expect("a good list").within(window);
        assert!(open.as_slice()[0].is_open() && open.as_slice()[0].is_down_at_start());
    }
}
