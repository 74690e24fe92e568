//! What a provider that holds a share of a bag tells its metascheduler.

use haggle_model::Time;

/// A provider's side of the [table](crate::bag_table::BagTable), for one bag.
///
/// A provider speaks up only if it may hold the task that ends last, that is if
/// what it has reported is not below what it knows of the whole bag. One that
/// moved forward while others were later has not said so; if the others then
/// move forward too, what stands in the table for it is too late. *Catching up*
/// mends that: told of an earlier completion, a provider that would now be last
/// reports at once. The table is then right whenever no message is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// When the whole bag will be done, as last heard.
    known: Time,
    /// Own latest completion, as the metascheduler knows it.
    reported: Time,
    catches_up: bool,
}

impl Holder {
    /// For a share that was committed with `own` as its latest completion,
    /// `bag` being that of the whole bag.
    pub fn new(own: Time, bag: Time, catches_up: bool) -> Holder {
        Holder { known: bag, reported: own, catches_up }
    }

    /// When the whole bag will be done, as last heard.
    pub fn known(&self) -> Time {
        self.known
    }

    /// Own latest completion, as the metascheduler knows it.
    pub fn reported(&self) -> Time {
        self.reported
    }

    /// What to report after something has ended early here and the plan was
    /// revised: `latest` is the latest completion of the bag's tasks at this
    /// provider, planned or past; for a share that is over, when it ended
    /// (Netto 2009, Algorithm 7).
    pub fn after_rescheduling(&mut self, latest: Time) -> Option<Time> {
        let news = self.reported >= self.known && latest < self.reported;
        news.then(|| {
            self.reported = latest;
            latest
        })
    }

    /// The whole bag will be done at `completion`. What to report in return, if
    /// providers catch up; `latest` is as in [`Holder::after_rescheduling`].
    pub fn on_bag_completion(&mut self, completion: Time, latest: Time) -> Option<Time> {
        // A message that was overtaken must not raise it.
        self.known = completion.min(self.known);
        if self.catches_up { self.after_rescheduling(latest) } else { None }
    }
}
