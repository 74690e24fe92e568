use proptest::prelude::*;

use haggle_model::Span;

use super::super::resources::{Preference, SiteId};
use super::super::view::{Detection, Report};
use super::*;

/// The same, examining every resource at every step, to the end of the job.
fn obvious(
    view: &View,
    now: Time,
    (first, rounds): (Time, Rounds),
    order: QueueOrder,
    length: Option<Work>,
) -> Estimate {
    let ids = Vec::from_iter((0..view.resources().len() as u32).map(ResourceId));
    let machine = |id: &ResourceId| Machine::of(&view.last_reported(*id), now);
    let mut machines = Vec::from_iter(ids.iter().map(machine));
    let mut queue = view.queue(order, length);
    let (mut start, mut round) = (Time::FOREVER, Some(first));
    loop {
        let ends = ids.iter().filter_map(|&id| Some((machines[id.index()].next_end()?, id)));
        match (ends.min(), round) {
            (Some((end, id)), at) if at.is_none_or(|at| end <= at) => {
                machines[id.index()].go_on_to(end);
                for who in machines[id.index()].end() {
                    if who == Who::Asked {
                        return Estimate { start, completion: end };
                    }
                    for other in machines.iter_mut().filter(|it| it.has(who)) {
                        other.go_on_to(end);
                        other.running.retain(|it| it.who != who);
                    }
                }
                round = round.or((!queue.is_empty()).then(|| rounds.decided_after(end)));
            }
            (_, Some(at)) => {
                while let Some(&(who, left)) = queue.first() {
                    let rank = |id: &ResourceId| {
                        let &Machine { avail, slots, .. } = &machines[id.index()];
                        let held = machines[id.index()].held();
                        let site = view.resources().get(*id).site;
                        let state = Resource { site, up: true, avail, slots, held };
                        (held < slots).then(|| view.resources().rank(*id, &state))
                    };
                    let Some(best) = ids.iter().filter_map(rank).max() else { break };
                    let machine = &mut machines[best.resource().index()];
                    machine.go_on_to(at);
                    machine.running.push(Running { who, left });
                    queue.remove(0);
                    start = if who == Who::Asked { at } else { start };
                }
                round = None;
            }
            (_, None) => return Estimate { start, completion: Time::FOREVER },
        }
    }
}

impl Machine {
    fn has(&self, who: Who) -> bool {
        self.running.iter().any(|it| it.who == who)
    }
}

/// An event of a view: a kind, and numbers that select the job and the resource.
type Step = (u8, u32, u32, i64);

struct World {
    view: View,
    now: Time,
    submitted: u32,
    /// A job must not return to a resource that it has not left yet.
    leaves: BTreeSet<(JobId, ResourceId)>,
}

impl World {
    fn step(&mut self, (kind, job, resource, value): Step) {
        let World { view, now, submitted, leaves } = self;
        *now += Span::from_micros(value);
        let resource = ResourceId(resource % view.resources().len() as u32);
        if kind < 3 {
            let length = Work::from_parts(Work::PER_MICRO * 10 * (1 + value as u128));
            view.submit(JobId(*submitted), *now, length);
            *submitted += 1;
            return;
        }
        let job = JobId(job % (*submitted).max(1));
        let Some(known) = view.jobs().open(job).cloned() else { return };
        let is_free = view.resources().get(resource).is_available();
        let stays_away = known.replicas.contains(&resource) || leaves.contains(&(job, resource));
        let comes = is_free && !stays_away;
        let from = known.replicas.first().copied();
        match (kind, from) {
            (3..=6, _) if comes => view.dispatch(*now, job, resource),
            (7, Some(from)) if comes => {
                view.migrate(*now, job, from, resource);
                leaves.insert((job, from));
            }
            (8, Some(from)) => view.computed(job, from),
            (9, Some(from)) => _ = view.complete(job, from),
            (10, _) => view.save(*now, job, Work::from_parts(known.length.as_parts() / 3)),
            (11, _) => {
                let up = value % 3 > 0;
                let jobs = if up && value % 2 == 0 { vec![job] } else { Vec::new() };
                let avail = Speed::from_micro_mips(1 + value as u64 % 5);
                view.report(resource, Report { taken: *now, up, avail, jobs });
            }
            (12, _) => _ = view.consult(),
            (13, _) => view.leave(job, resource),
            (14, Some(from)) => view.cancel(job, from),
            _ => {}
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..15_u8, 0..40_u32, 0..6_u32, 0..30_i64), 0..80)
}

#[test]
fn a_job_goes_on_from_its_checkpoint() {
    let mut view = View::new(Detection::None, Preference::default());
    let resource = view.add_resource(SiteId(0), true, Speed::from_mips(1), 1);
    let at = Time::from_secs;
    view.submit(JobId(0), at(0), Work::from_mi(100));
    view.save(at(50), JobId(0), Work::from_mi(60));
    view.dispatch(at(100), JobId(0), resource);
    // At 120 s it has its saved 60 MI and its computing of 20 s.
    let now = |seconds| (at(seconds), (at(seconds), Rounds::default()));
    let told = |view: &View, (now, decides)| {
        view.estimate(now, decides, QueueOrder::Arrival, Some(Work::from_mi(10)))
    };
    let (start, completion) = (at(140), at(150));
    assert_eq!(told(&view, now(120)), Estimate { start, completion });
    // A checkpoint of 90 MI at 125 s shows that it is faster than that.
    view.save(at(125), JobId(0), Work::from_mi(90));
    let (start, completion) = (at(135), at(145));
    assert_eq!(told(&view, now(130)), Estimate { start, completion });
}

proptest! {
    #[test]
    fn as_if_all_resources_were_followed(
        resources in prop::collection::vec((1..6_u64, 1..4_u32, any::<bool>()), 1..6),
        steps in steps(),
        (by_speed, order, period) in (any::<bool>(), 0..3_usize, 0..20_i64),
        asked in prop::collection::vec(0..80_usize, 0..5),
        length in prop::option::of(1..30_u64),
    ) {
        let preference = if by_speed { Preference::EffectiveSpeed } else { Preference::SpeedThenLoad };
        let mut view = View::new(Detection::RestartReport, preference);
        for (speed, slots, up) in resources {
            view.add_resource(SiteId(0), up, Speed::from_micro_mips(speed), slots);
        }
        let mut world = World { view, now: Time::ZERO, submitted: 0, leaves: BTreeSet::new() };
        let order = [QueueOrder::Arrival, QueueOrder::LongestFirst, QueueOrder::ShortestFirst][order];
        let rounds = Rounds { period: Span::from_micros(period), ..Rounds::default() };
        let length = length.map(|it| Work::from_parts(Work::PER_MICRO * 10 * u128::from(it)));
        let last = steps.len();
        for (at, step) in steps.into_iter().enumerate() {
            world.step(step);
            if asked.contains(&at) || at + 1 == last {
                let World { view, now, .. } = &world;
                let decides = (rounds.decided_after(*now), rounds);
                let told = view.estimate(*now, decides, order, length);
                prop_assert_eq!(told, obvious(view, *now, decides, order, length));
            }
        }
    }
}
