//! Iterative applications: their cores and run times, predicted from measured throughputs (Netto 2009, chapter 5).
//!
//! ```text
//!   job ──▶ profiling ──▶ asking ──▶ map, run time ──▶ agreeing ──▶ placed
//!            once for each   ▲                            │
//!            application     └── no room there before t ──┘   at most `trials` rounds
//! ```
//!
//! Providers disclose either their first available processors, and nothing of their plans, or all of their free
//! times. With all free times, the metascheduler finds a free place in fewer rounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_model::job::HiddenRunTime;
use haggle_model::{Iterative, Job, JobId, ProviderId, Span, Time};
use haggle_planning::iterative::{Core, Offer, Predictor, earliest_machines};
use haggle_scheduling::coallocation::{Allocation, AsksFor, FreeTimes};
use serde::{Deserialize, Serialize};

use super::Coallocator;
use crate::Outbox;
use crate::protocol::CoallocationMessage;

/// Default for the tolerance: a throughput is steady if it changes by no more than this part.
pub const TOLERANCE: f64 = 0.02;

/// Configuration of a metascheduler that maps iterative applications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MappingConfig {
    /// Data that providers are asked for.
    pub asks: AsksFor,
    /// Type of machine of each provider.
    pub machines: Vec<String>,
    /// Site of each provider; data between sites take longer.
    pub sites: Vec<usize>,
    /// Throughputs are measured until they change by no more than this part; `None` = they are known.
    pub tolerance: Option<f64>,
}

/// The application scheduler of a metascheduler, with its knowledge of applications.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mapper {
    config: MappingConfig,
    /// Few entries: all jobs of a workload share one application.
    known: Vec<(Arc<Iterative>, Knowledge)>,
}

/// Knowledge about an application.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Knowledge {
    /// It is being measured, in the name of the first job that needs it.
    Measuring(Measuring),
    /// Result of the measurement; `None` if no machine runs it.
    Measured(Option<Predictor>),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Measuring {
    /// In the order of arrival.
    jobs: Vec<JobId>,
    /// Places of the providers that have not answered.
    awaited: Vec<usize>,
    rates: BTreeMap<String, Vec<f64>>,
}

impl Mapper {
    pub(super) fn new(config: MappingConfig) -> Mapper {
        Mapper { config, known: Vec::new() }
    }

    fn predictor(&self, job: &Job) -> Option<&Predictor> {
        let application = job.iterative.as_ref()?;
        let (_, knowledge) = self.known.iter().find(|(known, _)| is_same(known, application))?;
        match knowledge {
            Knowledge::Measured(predictor) => predictor.as_ref(),
            Knowledge::Measuring(_) => None,
        }
    }

    /// The first provider of each type of machine.
    fn of_each_type(&self) -> Vec<usize> {
        let machines = &self.config.machines;
        let is_first = |&place: &usize| !machines[..place].contains(&machines[place]);
        (0..machines.len()).filter(is_first).collect()
    }

    /// True run time of a job on these cores, for the machines.
    pub(super) fn hidden_run_time(&self, job: &Job, at: &Allocation) -> Option<HiddenRunTime> {
        let predictor = self.predictor(job)?;
        predictor.hidden_run_time(&self.cores(predictor, &at.parts)?).ok()
    }

    /// The cores of these parts, in the order of providers.
    fn cores(&self, predictor: &Predictor, parts: &[(usize, u32)]) -> Option<Vec<Core>> {
        let mut cores = Vec::new();
        for &(place, processors) in parts {
            let kind = predictor.kind(&self.config.machines[place])?;
            let site = self.config.sites[place];
            cores.extend(std::iter::repeat_n(Core { kind, site }, processors as usize));
        }
        Some(cores)
    }

    /// The earliest place for a job from `now` on that is `wanted`.
    pub(super) fn find(
        &self,
        free: &[FreeTimes],
        not_before: &[Time],
        job: &Job,
        now: Time,
        wanted: impl Fn(&Allocation) -> bool,
    ) -> Option<Allocation> {
        let predictor = self.predictor(job)?;
        let from = now.max(job.ready.unwrap_or(job.submit));
        match self.config.asks {
            AsksFor::Machines => {
                let offers = self.offers(predictor, free, not_before, from);
                let found = self.place(predictor, &offers, job.processors, from)?;
                // One candidate only: the answers do not show which machines are free later.
                wanted(&found).then_some(found)
            }
            AsksFor::Slots => {
                let mut starts = Vec::from_iter(free.iter().flat_map(|free| free.steps()));
                starts.sort_unstable();
                // Free machines change at steps only, so the earliest place begins now or at a step.
                let later = starts.into_iter().map(|&(start, _)| start).filter(|&it| it > from);
                let mut starts = Vec::from_iter(std::iter::once(from).chain(later));
                starts.dedup();
                let fit = |start| self.fit(predictor, free, job.processors, start);
                starts.into_iter().filter_map(fit).find(wanted)
            }
        }
    }

    /// Machines that are available first, each with the time from which it is available.
    fn offers(
        &self,
        predictor: &Predictor,
        free: &[FreeTimes],
        not_before: &[Time],
        from: Time,
    ) -> Vec<Offer> {
        let mut offers = Vec::new();
        for (place, free) in free.iter().enumerate() {
            let Some(kind) = predictor.kind(&self.config.machines[place]) else { continue };
            let provider = ProviderId(place as u32);
            let mut before = 0;
            // Each step adds the machines that were not available before it.
            for &(step, processors) in free.available(u32::MAX, Time::ZERO).steps() {
                let from = step.max(from).max(not_before[place]);
                offers.push(Offer { provider, kind, machines: processors - before, from });
                before = processors;
            }
        }
        offers
    }

    /// A place on the first available machines, for as long as the application takes there.
    fn place(
        &self,
        predictor: &Predictor,
        offers: &[Offer],
        processors: u32,
        from: Time,
    ) -> Option<Allocation> {
        let chosen = earliest_machines(offers, processors, |kind| predictor.speed(kind))?;
        let mut parts: Vec<(usize, u32)> = Vec::new();
        for Offer { provider, machines, .. } in chosen.taken {
            match parts.iter_mut().find(|(place, _)| *place == provider.index()) {
                Some((_, processors)) => *processors += machines,
                // One part for each provider, however many steps its machines came from.
                None => parts.push((provider.index(), machines)),
            }
        }
        // The prediction takes cores in the order of providers.
        parts.sort_unstable();
        let span = predictor.run_time(&self.cores(predictor, &parts)?).ok()?;
        Some(Allocation { start: chosen.start.max(from), span: span.max(Span::TICK), parts })
    }

    /// A place from `start` on, on the fastest machines that are free for the whole run time.
    fn fit(
        &self,
        predictor: &Predictor,
        free: &[FreeTimes],
        processors: u32,
        start: Time,
    ) -> Option<Allocation> {
        // The first try asks for machines that are free at the start, whatever happens later.
        let mut end = start + Span::TICK;
        // A later end leaves fewer machines free, so the loop ends.
        loop {
            let room = |place: usize| {
                let kind = predictor.kind(&self.config.machines[place])?;
                let machines = free[place].min_free(start, end);
                Some(Offer { provider: ProviderId(place as u32), kind, machines, from: start })
            };
            let offers: Vec<Offer> = (0..free.len()).filter_map(room).collect();
            let found = self.place(predictor, &offers, processors, start)?;
            let completion = found.completion();
            let is_free = |&(place, processors): &(usize, u32)| {
                free[place].min_free(start, completion) >= processors
            };
            if found.parts.iter().all(is_free) {
                return Some(found);
            }
            end = completion.max(end);
        }
    }
}

impl Coallocator {
    /// An application is placed as soon as its throughput is known.
    pub(super) fn on_application(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        let application = self.desk.get(job).and_then(|it| it.submission.job.iterative.clone());
        let (Some(mapper), Some(application)) = (&mut self.mapper, application) else { return };
        let known = mapper.known.iter_mut().find(|(known, _)| is_same(known, &application));
        match (known, mapper.config.tolerance) {
            // The application is measured once for all its jobs.
            (Some((_, Knowledge::Measuring(measuring))), _) => measuring.jobs.push(job),
            (Some((_, Knowledge::Measured(_))), _) => self.enqueue(now, job, None, out),
            // Without a tolerance the true throughputs are known, and nothing is measured.
            (None, None) => {
                let predictor =
                    Predictor::new(Arc::clone(&application), application.throughputs.clone());
                mapper.known.push((application, Knowledge::Measured(predictor.ok())));
                self.enqueue(now, job, None, out);
            }
            (None, Some(tolerance)) => {
                let awaited = mapper.of_each_type();
                for &place in &awaited {
                    let application = Arc::clone(&application);
                    let profile = CoallocationMessage::Profile { job, application, tolerance };
                    out.send(self.config.providers[place], profile);
                }
                let rates = BTreeMap::new();
                let measuring = Measuring { jobs: vec![job], awaited, rates };
                mapper.known.push((application, Knowledge::Measuring(measuring)));
            }
        }
    }

    /// A provider has measured an application, in the name of this job.
    pub(super) fn on_throughput(
        &mut self,
        now: Time,
        place: usize,
        job: JobId,
        rates: Vec<f64>,
        out: &mut Outbox,
    ) -> bool {
        let Some(mapper) = &mut self.mapper else { return false };
        let is_meant = |(_, knowledge): &(_, Knowledge)| match knowledge {
            // The measurement runs in the name of the first job.
            Knowledge::Measuring(it) => it.jobs[0] == job && it.awaited.contains(&place),
            Knowledge::Measured(_) => false,
        };
        let Some(index) = mapper.known.iter().position(is_meant) else { return false };
        let (application, Knowledge::Measuring(measuring)) = &mut mapper.known[index] else {
            return false;
        };
        let is_sound = rates.iter().all(|rate| rate.is_finite() && *rate > 0.0);
        // An empty list is valid: the application does not run there.
        if !is_sound || ![0, application.processes.len()].contains(&rates.len()) {
            return false;
        }
        measuring.awaited.retain(|&it| it != place);
        if !rates.is_empty() {
            // Rates are kept in the order of type names, so the order of answers has no effect.
            measuring.rates.insert(mapper.config.machines[place].clone(), rates);
        }
        if measuring.awaited.is_empty() {
            // Taken, because the entry is replaced by the result.
            let measuring = std::mem::take(measuring);
            let predictor = Predictor::new(Arc::clone(application), measuring.rates);
            mapper.known[index].1 = Knowledge::Measured(predictor.ok());
            for job in measuring.jobs {
                self.enqueue(now, job, None, out);
            }
        }
        true
    }

    /// Request to a provider before a job is placed or moved.
    pub(super) fn question(&self, now: Time, job: JobId, not_before: Time) -> CoallocationMessage {
        let asks = self.mapper.as_ref().map(|mapper| mapper.config.asks);
        match self.desk.get(job).filter(|_| asks == Some(AsksFor::Machines)) {
            // Four messages until the last provider knows of an agreement, as in `choose_when_all_have_answered`.
            Some(entry) => {
                let description = &entry.submission.job;
                let ready = description.ready.unwrap_or(description.submit);
                let from = (now + self.config.latency_max * 4).max(ready).max(not_before);
                let machines = description.processors;
                CoallocationMessage::EarliestMachines { job, machines, from }
            }
            None => CoallocationMessage::GetSlots { job },
        }
    }
}

fn is_same(known: &Arc<Iterative>, other: &Arc<Iterative>) -> bool {
    Arc::ptr_eq(known, other) || known == other
}
