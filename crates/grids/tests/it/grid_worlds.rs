//! Grid policies in random worlds, against their definitions. Slots are never overfilled, no job has two replicas on
//! one resource, and the indexes agree with a search of everything.

use std::collections::BTreeSet;

use haggle_grids::{
    Action, Choice, CombinedFt, Detection, Fraction, GridJob, GridScheduler, Insight, LoadUnit,
    Preference, QueueOrder, QueueScheduler, Replicas, Replication, Report, Rescheduling,
    ResourceId, Round, SiteId, Speed, View, Work, Wqr,
};
use haggle_model::{JobId, Span, Time};
use proptest::prelude::*;

use crate::obvious_grid::{Decisions, Plain};

/// An event.
#[derive(Clone, Debug)]
enum Step {
    Submit { mi: u64 },
    Round,
    Computed { which: usize },
    Complete { which: usize },
    Save { which: usize },
    Fail { which: usize },
    Restore { which: usize },
    Load { which: usize, mips: u64 },
    Report { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..20_u64).prop_map(|mi| Step::Submit { mi }),
        4 => Just(Step::Round),
        1 => any::<usize>().prop_map(|which| Step::Computed { which }),
        3 => any::<usize>().prop_map(|which| Step::Complete { which }),
        1 => any::<usize>().prop_map(|which| Step::Save { which }),
        1 => any::<usize>().prop_map(|which| Step::Fail { which }),
        2 => any::<usize>().prop_map(|which| Step::Restore { which }),
        1 => (any::<usize>(), 0..5_u64).prop_map(|(which, mips)| Step::Load { which, mips }),
        3 => any::<usize>().prop_map(|which| Step::Report { which }),
    ];
    prop::collection::vec(step, 1..150)
}

fn policies() -> impl Strategy<Value = Policy> {
    let order = prop_oneof![
        Just(QueueOrder::Arrival),
        Just(QueueOrder::LongestFirst),
        Just(QueueOrder::ShortestFirst)
    ];
    let detection = || {
        prop_oneof![Just(Detection::None), Just(Detection::State), Just(Detection::RestartReport)]
    };
    let choice = prop_oneof![Just(Choice::Random), Just(Choice::Fastest)];
    let unit = prop::sample::select(&LoadUnit::ALL[..]);
    let replicas = (1..3_u32, 0..3_u32, 0..6_u64, unit)
        .prop_map(|(min, more, room, unit)| Replicas { min, max: min + more, room, unit });
    let queue = (order, choice, detection(), any::<bool>()).prop_map(
        |(order, choice, detection, checkpointing)| {
            Policy::Queue(QueueScheduler { order, choice, detection, checkpointing })
        },
    );
    let reschedule = (any::<bool>(), detection()).prop_map(|(checkpointing, detection)| {
        Policy::Rescheduling(Rescheduling { gain: Fraction::ZERO, checkpointing, detection })
    });
    prop_oneof![
        queue,
        (replicas.clone(), detection()).prop_map(|(replicas, detection)| {
            Policy::Replication(Replication { replicas, detection })
        }),
        (1..4_u32).prop_map(|max| Policy::Wqr(Wqr { max })),
        replicas.prop_map(|replicas| Policy::Combined(CombinedFt::new(replicas), replicas)),
        reschedule,
    ]
}

#[derive(Clone, Debug)]
enum Policy {
    Queue(QueueScheduler),
    Replication(Replication),
    Wqr(Wqr),
    Combined(CombinedFt, Replicas),
    Rescheduling(Rescheduling),
}

impl Policy {
    fn scheduler(&mut self) -> &mut dyn GridScheduler {
        match self {
            Policy::Queue(policy) => policy,
            Policy::Replication(policy) => policy,
            Policy::Wqr(policy) => policy,
            Policy::Combined(policy, _) => policy,
            Policy::Rescheduling(policy) => policy,
        }
    }
}

/// Progress and distances that seem random.
struct Facts;

impl Insight for Facts {
    fn progress(&self, job: JobId, resource: ResourceId) -> Work {
        Work::from_mi(u64::from((job.0 * 7 + resource.0 * 3) % 5))
    }

    fn moving_time(&self, job: JobId, from: ResourceId, to: ResourceId) -> Option<Span> {
        let seconds = (job.0 * 3 + from.0 * 5 + to.0 * 11) % 7;
        (seconds > 0).then(|| Span::from_secs(seconds.into()))
    }
}

fn draws() -> impl FnMut(usize) -> usize {
    let mut count = 0;
    move |bound| {
        count += 1;
        count * 7_919 % bound
    }
}

/// The true state of a resource.
#[derive(Clone, Debug)]
struct Truth {
    up: bool,
    avail: Speed,
    slots: usize,
    /// Jobs that hold a slot.
    jobs: BTreeSet<JobId>,
    /// Jobs that send their output.
    outputs: BTreeSet<JobId>,
}

impl Truth {
    fn all(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().chain(&self.outputs).copied()
    }

    fn end(&mut self, job: JobId) {
        self.jobs.remove(&job);
        self.outputs.remove(&job);
    }
}

/// All replicas that really exist.
fn replicas(truth: &[Truth]) -> Vec<(JobId, ResourceId)> {
    let resources = (0..).map(ResourceId).zip(truth);
    resources.flat_map(|(id, there)| there.all().map(move |job| (job, id))).collect()
}

/// Time that all working resources would need for all jobs, without saved work: whole MI and MIPS.
fn drain_time(plain: &Plain) -> Span {
    let left = |job: &GridJob| job.length.as_mi_f64() - job.saved.as_mi_f64();
    let work: f64 = plain.jobs.values().map(|job| left(job).max(0.0)).sum();
    let up = plain.resources.iter().filter(|it| it.up);
    let micro_mips: u64 = up.map(|it| it.avail.as_micro_mips()).sum();
    match (work as u128 * 1_000_000, u128::from(micro_mips / 1_000_000)) {
        (0, _) => Span::ZERO,
        (_, 0) => Span::FOREVER,
        (micros, mips) => Span::from_micros(micros.div_ceil(mips) as i64),
    }
}

fn decided(actions: &[Action], view: &View) -> Decisions {
    let mut decisions = Decisions::none(view);
    for action in actions {
        match *action {
            Action::Cancel { job, resource } => decisions.cancelled.push((job, resource)),
            Action::Checkpointing { job, on } => decisions.switched.push((job, on)),
            Action::Dispatch { job, resource, .. } => decisions.sent.push((job, resource)),
            Action::Migrate { job, from, to, .. } => decisions.moved.push((job, from, to)),
            Action::GiveUp { job, .. } => panic!("{job} can wait"),
            Action::Relocate { job, .. } | Action::Suspend { job, .. } => {
                panic!("{job} is no task of a workflow")
            }
        }
    }
    decisions
}

fn obvious(
    policy: &Policy,
    preference: Preference,
    view: &View,
    holds_slot: &dyn Fn(JobId, ResourceId) -> bool,
) -> Decisions {
    let decisions = Decisions::none(view);
    let mut draw = draws();
    match policy {
        Policy::Queue(policy) => {
            decisions.queue(policy.order, policy.choice, preference, &mut draw)
        }
        Policy::Replication(policy) => decisions.replication(policy.replicas),
        Policy::Wqr(policy) => decisions.wqr(policy.max, &mut draw),
        Policy::Combined(_, replicas) => {
            if replicas.have_room(view.resources()) {
                decisions.replicate(*replicas)
            } else {
                decisions.protect(&Facts, holds_slot, &mut draw)
            }
        }
        Policy::Rescheduling(policy) => decisions.reschedule(&Facts, policy.checkpointing).queue(
            QueueOrder::Arrival,
            Choice::Fastest,
            preference,
            &mut draw,
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rounds_are_those_of_the_definitions_and_fill_no_slot_twice(
        mut policy in policies(),
        resources in prop::collection::vec((0..4_u32, 0..5_u64, 1..4_u32), 1..9),
        literal in any::<bool>(),
        steps in steps(),
    ) {
        let preference =
            if literal { Preference::SpeedThenLoad } else { Preference::EffectiveSpeed };
        let mut view = View::new(policy.scheduler().detection(), preference);
        let mut truth = Vec::new();
        for &(site, mips, slots) in &resources {
            let avail = Speed::from_mips(mips);
            view.add_resource(SiteId(site), true, avail, slots);
            let (jobs, outputs) = (BTreeSet::new(), BTreeSet::new());
            truth.push(Truth { up: true, avail, slots: slots as usize, jobs, outputs });
        }
        let (mut now, mut submitted) = (Time::ZERO, 0);
        for step in steps {
            now += Span::TICK;
            match step {
                Step::Submit { mi } => {
                    // Numbers need not be in order of arrival.
                    let arrival = Time::from_micros(now.as_micros() / 8 * 8);
                    view.submit(JobId(submitted), arrival, Work::from_mi(mi));
                    submitted += 1;
                }
                Step::Round => {
                    for loss in view.consult() {
                        let alive = replicas(&truth).contains(&(loss.job, loss.resource));
                        prop_assert!(!alive, "what is seen to have failed has");
                    }
                    let before = view.clone();
                    let mut draw = draws();
                    let mut round = Round::new(now, &Facts, &mut draw);
                    policy.scheduler().round(&mut view, &mut round);
                    let actions = round.into_actions();

                    // Slots are those of the view, in which replicas that failed unseen still hold one.
                    let held = |job: JobId, resource: ResourceId| {
                        let mut without = before.clone();
                        without.cancel(job, resource);
                        let held = |view: &View| view.resources().get(resource).held;
                        held(&without) < held(&before)
                    };
                    let expected = obvious(&policy, preference, &before, &held);
                    let found = decided(&actions, &view);
                    prop_assert_eq!(&found.moved, &expected.moved);
                    prop_assert_eq!(&found.sent, &expected.sent);
                    prop_assert_eq!(&found.cancelled, &expected.cancelled);
                    prop_assert_eq!(&found.switched, &expected.switched);
                    prop_assert_eq!(&found.view.resources, &expected.view.resources);
                    prop_assert_eq!(&found.view.jobs, &expected.view.jobs);

                    let mut moved = Vec::new();
                    for action in actions {
                        match action {
                            Action::Cancel { job, resource } => {
                                truth[resource.index()].end(job);
                            }
                            Action::Checkpointing { .. } => {}
                            Action::GiveUp { job, .. } => panic!("{job} can wait"),
                            Action::Relocate { job, .. } | Action::Suspend { job, .. } => {
                                panic!("{job} is no task of a workflow")
                            }
                            Action::Dispatch { job, resource, .. }
                            | Action::Migrate { job, to: resource, .. } => {
                                let there = &mut truth[resource.index()];
                                prop_assert!(there.jobs.len() < there.slots, "slots are never overfilled");
                                if there.up {
                                    prop_assert!(there.jobs.insert(job), "one replica a resource");
                                } else {
                                    view.refuse(job, resource);
                                }
                                if let Action::Migrate { from, .. } = action {
                                    moved.push((job, from));
                                }
                            }
                        }
                    }
                    for (job, from) in moved {
                        truth[from.index()].end(job);
                        view.leave(job, from);
                    }
                }
                Step::Computed { which } => {
                    let replicas = replicas(&truth);
                    if let Some(&(job, resource)) = replicas.get(which % replicas.len().max(1)) {
                        view.computed(job, resource);
                        truth[resource.index()].end(job);
                        truth[resource.index()].outputs.insert(job);
                    }
                }
                Step::Complete { which } => {
                    let running = replicas(&truth);
                    if let Some(&(job, resource)) = running.get(which % running.len().max(1)) {
                        let others = view.complete(job, resource);
                        truth[resource.index()].end(job);
                        for other in others {
                            truth[other.index()].end(job);
                        }
                        prop_assert!(replicas(&truth).iter().all(|replica| replica.0 != job));
                    }
                }
                Step::Save { which } if submitted > 0 => {
                    view.save(now, JobId(which as u32 % submitted), Work::from_mi(1));
                }
                Step::Save { .. } => {}
                Step::Fail { which } => {
                    let there = &mut truth[which % resources.len()];
                    there.up = false;
                    there.jobs.clear();
                    there.outputs.clear();
                }
                Step::Restore { which } => truth[which % resources.len()].up = true,
                Step::Load { which, mips } => {
                    truth[which % resources.len()].avail = Speed::from_mips(mips);
                }
                Step::Report { which } => {
                    let index = which % resources.len();
                    let there = &truth[index];
                    let jobs = there.all().collect();
                    let report = Report { taken: now, up: there.up, avail: there.avail, jobs };
                    view.report(ResourceId(index as u32), report);
                }
            }
            let plain = Plain::of(&view);
            for resource in &plain.resources {
                prop_assert!(resource.held <= resource.slots);
            }
            for job in plain.jobs.values() {
                let distinct: BTreeSet<_> = job.replicas.iter().collect();
                prop_assert_eq!(distinct.len(), job.replicas.len());
            }
            let waiting = plain.jobs.values().filter(|job| job.replicas.is_empty());
            prop_assert_eq!(view.jobs().waiting(), waiting.count());
            prop_assert_eq!(view.drain_time(), drain_time(&plain));
        }
    }
}
