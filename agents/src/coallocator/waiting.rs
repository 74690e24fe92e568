//! Jobs that wait for their turn, and their order.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, JobId};
use haggle_scheduling::coallocation::RequestOrder;
use serde::{Deserialize, Serialize};

/// Jobs that wait to be placed or, at the request of a provider, to be moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    order: RequestOrder,
    /// First come, first served; each with the provider that requests the move.
    queue: VecDeque<(JobId, Option<ActorId>)>,
    /// Requests for moves that are served provider by provider.
    requests: BTreeMap<ActorId, VecDeque<JobId>>,
    /// The provider whose requests are served.
    served: Option<ActorId>,
}

impl Waiting {
    /// An empty queue.
    pub(super) fn new(order: RequestOrder) -> Waiting {
        Waiting { order, queue: VecDeque::new(), requests: BTreeMap::new(), served: None }
    }

    pub(super) fn push(&mut self, job: JobId, asked_by: Option<ActorId>) {
        match asked_by.filter(|_| self.order == RequestOrder::ByProvider) {
            Some(provider) => self.requests.entry(provider).or_default().push_back(job),
            None => self.queue.push_back((job, asked_by)),
        }
    }

    /// The next job, and the provider that requests its move.
    pub(super) fn next(&mut self) -> Option<(JobId, Option<ActorId>)> {
        self.next_request().or_else(|| self.queue.pop_front())
    }

    /// The next request of the served provider. If it has none left, the first provider with requests is served next.
    fn next_request(&mut self) -> Option<(JobId, Option<ActorId>)> {
        let goes_on = self.served.filter(|it| self.requests.contains_key(it));
        self.served = goes_on.or_else(|| self.requests.keys().next().copied());
        let provider = self.served?;
        let theirs = self.requests.get_mut(&provider)?;
        let job = theirs.pop_front()?;
        // Removed, so that `contains_key` shows whether the provider has requests.
        if theirs.is_empty() {
            self.requests.remove(&provider);
        }
        Some((job, self.served))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Option<ActorId> = Some(ActorId(0));
    const B: Option<ActorId> = Some(ActorId(1));

    fn job(number: u32) -> JobId {
        JobId(number)
    }

    #[test]
    fn requests_are_served_as_they_come_or_provider_by_provider() {
        for (order, expected) in [
            (RequestOrder::InTurns, [(1, None), (2, B), (3, A), (4, B), (5, A)]),
            (RequestOrder::ByProvider, [(3, A), (5, A), (2, B), (4, B), (1, None)]),
        ] {
            let mut waiting = Waiting::new(order);
            for (number, asked_by) in [(1, None), (2, B), (3, A)] {
                waiting.push(job(number), asked_by);
            }
            let mut served = Vec::from_iter(waiting.next());
            waiting.push(job(4), B);
            waiting.push(job(5), A);
            served.extend(std::iter::from_fn(|| waiting.next()));
            assert_eq!(served, expected.map(|(number, by)| (job(number), by)), "{order:?}");
        }
    }

    #[test]
    fn who_asks_later_than_all_others_have_been_served_does_not_come_before_them() {
        let mut waiting = Waiting::new(RequestOrder::ByProvider);
        waiting.push(job(1), B);
        assert_eq!(waiting.next(), Some((job(1), B)));
        assert_eq!(waiting.next(), None, "it asks no more");
        waiting.push(job(2), B);
        waiting.push(job(3), A);
        assert_eq!(waiting.next(), Some((job(3), A)));
    }
}
