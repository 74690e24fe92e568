//! Workflows: the order in which applications get machines.

mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haggle_model::Span;
use haggle_planning::multi::{Move, Placed, Terms};
use haggle_planning::workflow::{Grants, Step};
use haggle_planning::{Application, Cluster, Interval, Method, Phase, Speedup, Term};
use haggle_testing::secs;
use proptest::prelude::*;
use reference::{Applications, MachineId, Proposal, Workflow, grant, run_levels};

/// c/n + d (n - 1) seconds.
fn phase(computing: f64, communicating: f64) -> Phase {
    let term = |coefficient, speedup| Term { coefficient, size: 0.0, load: 1.0, speedup };
    Phase {
        computation: term(computing, Speedup::Power(1.0)),
        communication: term(communicating, Speedup::InverseOthers),
    }
}

fn application(phases: &[Phase]) -> Arc<Application> {
    Arc::new(Application::new(phases, 1.0).expect("good phases"))
}

fn idle(machines: usize) -> Arc<Cluster> {
    let cluster = Cluster::with_uplinks(1.0, vec![1.0; machines], vec![1.0; machines]);
    Arc::new(cluster.expect("good shares"))
}

#[test]
fn the_critical_application_keeps_the_machines_that_both_want() {
    // X takes 2400, 1400, 1200, 1200 s on 1 to 4 machines, Y 900, 650, 700, 825 s.
    let applications =
        vec![application(&[phase(2400.0, 200.0)]), application(&[phase(900.0, 200.0)])];
    let terms = Terms { method: Method::Optimum, threshold: Span::ZERO };
    let mut workflow = Workflow::new(applications, vec![idle(4)], terms);
    let free = workflow.machines();
    let alone = [0, 1].map(|number| workflow.propose(Span::ZERO, number, &free).expect("machines"));
    assert_eq!(alone.each_ref().map(|proposal| proposal.remaining), [secs(1200), secs(650)]);
    assert_eq!(alone.each_ref().map(|proposal| proposal.machines.len()), [3, 2]);
    assert_eq!(run_levels(&[vec![0, 1]], &free, &mut workflow), Some(vec![secs(1200)]));
    let summary: Vec<_> = workflow
        .started
        .iter()
        .map(|(at, number, placed)| (*at, *number, placed.schedule.numbers().to_vec(), placed.time))
        .collect();
    let expected =
        vec![(Span::ZERO, 0, vec![0, 1, 2], secs(1200)), (Span::ZERO, 1, vec![3], secs(900))];
    assert_eq!(summary, expected);
}

#[test]
fn who_has_no_machine_waits() {
    let one = || application(&[phase(600.0, 0.0)]);
    let terms = Terms { method: Method::Optimum, threshold: Span::ZERO };
    let mut workflow = Workflow::new(vec![one(), one(), one()], vec![idle(1)], terms);
    let machines = workflow.machines();
    let ends = run_levels(&[vec![0, 1], vec![2]], &machines, &mut workflow);
    assert_eq!(ends, Some(vec![secs(1200), secs(1800)]));
    let starts: Vec<_> = workflow.started.iter().map(|&(at, number, _)| (at, number)).collect();
    assert_eq!(starts, [(secs(0), 0), (secs(600), 1), (secs(1200), 2)]);
    assert_eq!(run_levels(&[vec![0]], &BTreeSet::new(), &mut workflow), None);
}

#[test]
fn an_application_stays_where_it_is_unless_its_machines_are_gone() {
    // Two phases that want the same machines: the second one is not worth a move.
    let applications = vec![application(&[phase(2400.0, 200.0), phase(2400.0, 200.0)])];
    let terms = Terms { method: Method::Division, threshold: secs(1000) };
    let mut workflow = Workflow::new(applications, vec![idle(4), idle(2)], terms);
    let whole = workflow.machines();
    let first = workflow.propose(Span::ZERO, 0, &whole).expect("machines");
    assert!(first.last && first.what.how == Move::Start);
    let half = Placed { interval: Interval::new(1, 1), ..first.what };
    workflow.before[0] = Some(half);
    let rest = workflow.propose(Span::ZERO, 0, &whole).expect("machines").what;
    assert_eq!((rest.how, rest.time), (Move::Stay, secs(1200)));
    let elsewhere = whole.into_iter().filter(|&machine| machine != (0, 0)).collect();
    let rest = workflow.propose(Span::ZERO, 0, &elsewhere).expect("machines").what;
    assert_eq!((rest.how, rest.time, rest.moving), (Move::Within, secs(1200), secs(60)));
    let gone = [(1, 0), (1, 1)].into_iter().collect();
    let rest = workflow.propose(Span::ZERO, 0, &gone).expect("machines").what;
    assert_eq!((rest.how, rest.time, rest.moving), (Move::Between, secs(1400), secs(300)));
}

/// Wishes of applications: number of machines, from the first or the last free one, seconds, and intervals.
fn wishes() -> impl Strategy<Value = Vec<(usize, bool, i64, usize)>> {
    prop::collection::vec((1_usize..=5, any::<bool>(), 1_i64..=6, 1_usize..=4), 1..=6)
}

fn wanted(
    wish: (usize, bool, i64, usize),
    left: usize,
    free: &BTreeSet<MachineId>,
) -> Option<Proposal<()>> {
    let (number, from_the_end, seconds, _) = wish;
    let number = number.min(free.len());
    let machines: Vec<MachineId> = if from_the_end {
        free.iter().rev().take(number).copied().collect()
    } else {
        free.iter().take(number).copied().collect()
    };
    // The fewer machines, the longer.
    let time = secs(seconds * 60 / number.max(1) as i64);
    let remaining = time * left as i64;
    (number > 0).then_some(Proposal { remaining, machines, time, last: left == 1, what: () })
}

/// Applications that each want the same for all of their intervals.
struct Wishes {
    left: Vec<usize>,
    wishes: Vec<(usize, bool, i64, usize)>,
    events: Vec<(usize, Span, Span, Vec<MachineId>)>,
}

impl Applications for Wishes {
    type What = ();

    fn propose(
        &mut self,
        _: Span,
        number: usize,
        free: &BTreeSet<MachineId>,
    ) -> Option<Proposal<()>> {
        wanted(self.wishes[number], self.left[number], free)
    }

    fn granted(&mut self, now: Span, number: usize, proposal: &Proposal<()>) {
        assert_eq!(proposal.last, self.left[number] == 1);
        self.left[number] -= 1;
        self.events.push((number, now, now + proposal.time, proposal.machines.clone()));
    }
}

proptest! {
    #[test]
    fn grants_are_in_order_of_length_and_never_overlap(wishes in wishes(), machines in 0_u32..12) {
        let all: BTreeSet<MachineId> = (0..machines).map(|machine| (0, machine)).collect();
        let mut free = all.clone();
        let pending: Vec<usize> = (0..wishes.len()).collect();
        let granted = grant(&pending, &mut free, |number, free| wanted(wishes[number], 1, free));
        // Each grant is the proposal of its application for the machines that the earlier grants have left.
        // No waiting application would run longer than the preferred one.
        let mut left = all.clone();
        let mut waiting = pending.clone();
        for (number, proposal) in &granted {
            for machine in &proposal.machines {
                prop_assert!(left.contains(machine));
            }
            let fits = |other: usize| wanted(wishes[other], 1, &left);
            prop_assert_eq!(fits(*number).map(|other| other.machines.len()), Some(proposal.machines.len()));
            waiting.retain(|other| other != number);
            for &other in &waiting {
                let longest = fits(other).is_none_or(|other| other.remaining <= proposal.remaining);
                prop_assert!(longest, "{} before {}", number, other);
            }
            left.retain(|machine| !proposal.machines.contains(machine));
        }
        prop_assert_eq!(&left, &free);
        prop_assert!(waiting.is_empty() || free.is_empty());
    }

    /// Applications that know no machines, and are notified of lapsed proposals, come to the same grants.
    #[test]
    fn lapsed_proposals_lead_to_the_same_grants(wishes in wishes(), machines in 0_u32..12) {
        let all: BTreeSet<MachineId> = (0..machines).map(|machine| (0, machine)).collect();
        let mut free = all.clone();
        let pending: Vec<usize> = (0..wishes.len()).collect();
        let expected = grant(&pending, &mut free, |number, free| wanted(wishes[number], 1, free));
        let mut left = all;
        let mut grants = Grants::new(pending);
        let mut proposals: BTreeMap<usize, Proposal<()>> = BTreeMap::new();
        let mut granted = Vec::new();
        loop {
            match grants.step() {
                Step::Over => break,
                Step::Propose(number) => match wanted(wishes[number], 1, &left) {
                    None => grants.leave(number),
                    Some(proposal) => {
                        grants.propose(number, proposal.remaining);
                        proposals.insert(number, proposal);
                    }
                },
                Step::Grant(number) => {
                    grants.leave(number);
                    let proposal = proposals.remove(&number).expect("it has proposed");
                    left.retain(|machine| !proposal.machines.contains(machine));
                    let lapsed = |other: &Proposal<()>| {
                        other.machines.iter().any(|machine| !left.contains(machine))
                    };
                    for (&other, _) in proposals.iter().filter(|(_, other)| lapsed(other)) {
                        prop_assert!(grants.lapse(other));
                    }
                    granted.push((number, proposal));
                }
            }
        }
        prop_assert_eq!(granted, expected);
        prop_assert_eq!(left, free);
    }

    #[test]
    fn levels_come_one_after_the_other(wishes in wishes(), machines in 1_u32..6, cut in 0_usize..6) {
        let all: BTreeSet<MachineId> = (0..machines).map(|machine| (0, machine)).collect();
        let cut = cut.min(wishes.len());
        let levels = [(0..cut).collect::<Vec<_>>(), (cut..wishes.len()).collect()];
        let mut asked = Wishes {
            left: wishes.iter().map(|wish| wish.3).collect(),
            wishes: wishes.clone(),
            events: Vec::new(),
        };
        let ends = run_levels(&levels, &all, &mut asked).expect("there are machines");
        prop_assert!(asked.left.iter().all(|&left| left == 0));
        let events = asked.events;
        for &(number, start, end, _) in &events {
            let begin = if number < cut { Span::ZERO } else { ends[0] };
            prop_assert!(start >= begin && end <= ends[usize::from(number >= cut)]);
        }
        for (place, (_, start, end, machines)) in events.iter().enumerate() {
            for (_, other_start, other_end, others) in &events[..place] {
                let together = start < other_end && other_start < end;
                prop_assert!(!together || machines.iter().all(|machine| !others.contains(machine)));
            }
        }
    }
}
