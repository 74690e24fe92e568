//! Reports of a provider that holds a share of a bag to the bag's metascheduler.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

/// A provider's side of the [table](crate::bag_table::BagTable), for one bag.
///
/// A provider reports only if it may hold the task that ends last: its latest report must not be below the
/// bag's completion as it knows it. A provider that moved forward while others were later has not reported
/// it. If the others then move forward too, its entry in the table is too late. Providers therefore *catch
/// up*: on notice of an earlier completion, a provider that would now be last reports at once. The table
/// is then right whenever no message is in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Completion of the whole bag, from the latest message.
    known: Time,
    /// Own latest completion, as last reported to the metascheduler.
    reported: Time,
    catches_up: bool,
}

impl Holder {
    /// For a share that was committed with `own` as its latest completion; `bag` is the completion of the
    /// whole bag.
    pub fn new(own: Time, bag: Time, catches_up: bool) -> Holder {
        Holder { known: bag, reported: own, catches_up }
    }

    /// Completion of the whole bag, from the latest message.
    pub fn known(&self) -> Time {
        self.known
    }

    /// Own latest completion, as last reported to the metascheduler.
    pub fn reported(&self) -> Time {
        self.reported
    }

    /// The completion to report after an early end here and a revision of the plan. `latest` is the latest
    /// completion of the bag's tasks at this provider, planned or past; for a share that is over, its end
    /// (Netto 2009, Algorithm 7).
    pub fn after_rescheduling(&mut self, latest: Time) -> Option<Time> {
        let news = self.reported >= self.known && latest < self.reported;
        news.then(|| {
            self.reported = latest;
            latest
        })
    }

    /// The whole bag will be done at `completion`. Returns the completion to report in return, if providers
    /// catch up; `latest` is as in [`Holder::after_rescheduling`].
    pub fn on_bag_completion(&mut self, completion: Time, latest: Time) -> Option<Time> {
        // Messages may overtake each other: an older, later completion must not raise it.
        self.known = completion.min(self.known);
        if self.catches_up { self.after_rescheduling(latest) } else { None }
    }
}
