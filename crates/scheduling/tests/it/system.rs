//! Queues of bags, a metascheduler's table and the reports between them,
//! without message delays.

use std::collections::BTreeMap;

use haggle_model::{JobId, ProviderId, Span, Time};
use haggle_scheduling::bag_table::{BagTable, Change};
use haggle_scheduling::{
    Award, BagRequest, Bargainer, ConservativeBags, Fractions, Holder, LocalScheduler, Offer,
    Request, ReschedulingRule, Slot,
};
use haggle_testing::at_micros;

/// Messages between a provider and the metascheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A provider reports when it will be done with its tasks of a bag.
    Report(usize, JobId, Time),
    /// A provider is notified of the completion of the whole bag.
    BagCompletion(usize, JobId, Time),
}

/// A provider's share of a bag.
#[derive(Clone, Debug)]
struct Share {
    slot: Slot,
    holder: Holder,
    /// The end of its last task.
    ended: Option<Time>,
}

#[derive(Clone, Debug)]
struct Run {
    end: i64,
    site: usize,
    slot: Slot,
    tasks: u32,
    planned_end: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) sites: Vec<ConservativeBags>,
    pub(crate) table: BagTable,
    shares: BTreeMap<(JobId, usize), Share>,
    /// Run times of the work in each slot, by provider.
    run_times: Vec<Vec<(i64, i64, bool)>>,
    running: Vec<Run>,
    coordinated: bool,
    catches_up: bool,
    pub(crate) now: i64,
    /// All messages, in the order in which they were handled.
    pub(crate) told: Vec<(i64, Message)>,
    /// (provider, slot, end of a task), in order.
    pub(crate) ends: Vec<(usize, Slot, i64)>,
}

impl System {
    /// One provider for each number of processors.
    pub(crate) fn new(machines: &[u32], rule: ReschedulingRule, catches_up: bool) -> System {
        let site = |&processors: &u32| {
            ConservativeBags::new(processors, rule.into(), Fractions::default())
        };
        System {
            sites: machines.iter().map(site).collect(),
            table: BagTable::default(),
            shares: BTreeMap::new(),
            run_times: vec![Vec::new(); machines.len()],
            running: Vec::new(),
            coordinated: rule == ReschedulingRule::Coordinated,
            catches_up,
            now: 0,
            told: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn new_slot(&mut self, site: usize, span: i64, run: i64, bag: bool) -> Slot {
        self.run_times[site].push((span, run, bag));
        Slot(self.run_times[site].len() as u32 - 1)
    }

    pub(crate) fn submit(&mut self, site: usize, processors: u32, span: i64, run: i64) -> Slot {
        let slot = self.new_slot(site, span, run, false);
        let span = Some(Span::from_micros(span));
        let request = Request::new(slot, processors, span);
        self.sites[site].submit(at_micros(self.now), request);
        slot
    }

    pub(crate) fn offers(&mut self, site: usize, bag: &BagRequest) -> Vec<Offer> {
        self.sites[site].offers(at_micros(self.now), bag)
    }

    /// Awards (provider, tasks) of a bag and notifies all of these providers of its completion.
    pub(crate) fn award(&mut self, id: JobId, bag: &BagRequest, run: i64, parts: &[(usize, u32)]) {
        let mut committed = Vec::new();
        for &(site, tasks) in parts {
            let slot = self.new_slot(site, bag.span.as_micros(), run, true);
            let offer = Offer { tasks, completion: Time::FOREVER };
            let award = Award::Offered { tasks, offer };
            let completion = self.sites[site].award(at_micros(self.now), slot, bag, &award);
            let completion = completion.expect("any completion will do");
            self.table.commit(id, ProviderId(site as u32), completion);
            committed.push((site, slot, completion));
        }
        let whole = self.table.completion(id).expect("just committed");
        for (site, slot, completion) in committed {
            let holder = Holder::new(completion, whole, self.catches_up);
            self.shares.insert((id, site), Share { slot, holder, ended: None });
            if self.coordinated {
                self.sites[site].bag_expected(slot, whole);
            }
        }
    }

    /// Latest completion of a bag's tasks at a provider, planned or past.
    pub(crate) fn latest(&self, bag: JobId, site: usize) -> Time {
        let share = &self.shares[&(bag, site)];
        let planned = || self.sites[site].latest_completion(share.slot);
        share.ended.or_else(planned).expect("a share that has not ended has a plan")
    }

    /// Runs through all instants before `time`, and handles the ends at `time`.
    pub(crate) fn run_to(&mut self, time: i64) {
        while let Some(next) = self.next().filter(|&next| next < time) {
            self.now = next;
            self.take_ends();
            self.settle();
        }
        self.now = time;
        self.take_ends();
    }

    pub(crate) fn run_out(&mut self) {
        while let Some(next) = self.next() {
            self.now = next;
            self.take_ends();
            self.settle();
        }
    }

    fn next(&self) -> Option<i64> {
        let ends = self.running.iter().map(|run| run.end);
        let starts = self.sites.iter().filter_map(|site| site.next_start());
        ends.chain(starts.map(Time::as_micros)).min()
    }

    fn take_ends(&mut self) {
        self.running.sort_by_key(|run| run.end);
        let ended = self.running.partition_point(|run| run.end <= self.now);
        for Run { site, slot, tasks, planned_end, .. } in self.running.drain(..ended) {
            self.ends.push((site, slot, self.now));
            if self.run_times[site][slot.index()].2 {
                self.sites[site].tasks_finished(
                    at_micros(self.now),
                    slot,
                    tasks,
                    at_micros(planned_end),
                );
            } else {
                self.sites[site].finished(at_micros(self.now), slot);
            }
            if self.sites[site].latest_completion(slot).is_none() {
                let of_slot = |((_, s), share): &(&(JobId, usize), &mut Share)| {
                    *s == site && share.slot == slot
                };
                if let Some((_, share)) = self.shares.iter_mut().find(of_slot) {
                    share.ended = Some(at_micros(self.now));
                }
            }
        }
    }

    /// Providers revise their plans and start due work; then all messages are delivered.
    pub(crate) fn settle(&mut self) {
        let mut queue = self.revise();
        while !queue.is_empty() {
            let message = queue.remove(0);
            queue.extend(self.deliver(message));
        }
    }

    /// The providers' part of an instant. Returns the messages that follow from it.
    pub(crate) fn revise(&mut self) -> Vec<Message> {
        for site in 0..self.sites.len() {
            let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
            self.sites[site].start_due(at_micros(self.now), &mut jobs);
            self.sites[site].tasks_due(at_micros(self.now), &mut tasks);
            tasks.extend(jobs.into_iter().map(|slot| (slot, 1)));
            for (slot, tasks) in tasks {
                let (span, run, _) = self.run_times[site][slot.index()];
                let (end, planned_end) = (self.now + run, self.now + span);
                self.running.push(Run { end, site, slot, tasks, planned_end });
            }
        }
        let mut messages = Vec::new();
        let all: Vec<_> = self.shares.keys().copied().collect();
        for (bag, site) in all.into_iter().filter(|_| self.coordinated) {
            let latest = self.latest(bag, site);
            let share = self.shares.get_mut(&(bag, site)).expect("it is there");
            let report = share.holder.after_rescheduling(latest);
            messages.extend(report.map(|completion| Message::Report(site, bag, completion)));
        }
        messages
    }

    /// Delivers one message. Returns the messages that follow from it.
    pub(crate) fn deliver(&mut self, message: Message) -> Vec<Message> {
        self.told.push((self.now, message));
        match message {
            Message::Report(site, bag, completion) => {
                match self.table.report(bag, ProviderId(site as u32), completion) {
                    Change::Local => Vec::new(),
                    Change::Global { completion } => {
                        let holders = self.table.providers(bag);
                        let tell = |(site, _): (ProviderId, Time)| {
                            Message::BagCompletion(site.index(), bag, completion)
                        };
                        holders.map(tell).collect()
                    }
                }
            }
            Message::BagCompletion(site, bag, completion) => {
                let latest = self.latest(bag, site);
                let share = self.shares.get_mut(&(bag, site)).expect("it holds tasks");
                if share.ended.is_none() {
                    self.sites[site].bag_expected(share.slot, completion);
                }
                let report = share.holder.on_bag_completion(completion, latest);
                report.into_iter().map(|latest| Message::Report(site, bag, latest)).collect()
            }
        }
    }

    /// Completion of each bag, as each holder knows it.
    pub(crate) fn known(&self) -> Vec<((JobId, usize), Time)> {
        self.shares.iter().map(|(&share, of)| (share, of.holder.known())).collect()
    }
}
