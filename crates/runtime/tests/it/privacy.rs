//! Information that bargaining actors disclose to each other, message by message.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agents::Message;
use haggle_agents::protocol::{BargainMessage, RunMessage, SubmissionMessage};
use haggle_model::{Disclosure, Job, JobShape, Span, Time};
use haggle_runtime::Driver;
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::{
    EdfConfig, Fractions, Policy, ReschedulingConfig, ReschedulingRule, Scheduling, Shares,
};

use crate::setup::{Ran, Setup, job, offers_in};

/// Two providers, one of each kind that bargains, local jobs at both, and bags.
fn world(policy: CompositionPolicy, disclosure: Disclosure) -> Setup {
    let rescheduling = ReschedulingConfig::from(ReschedulingRule::Coordinated);
    let bags =
        Scheduling::Bags { rescheduling, fractions: Fractions::default(), shares: Shares::Tasks };
    Setup::default()
        .provider(4, Policy::Fcfs)
        .change(|it| (it.scheduler, it.disclosure) = (bags, disclosure))
        .provider(3, Policy::Fcfs)
        .change(|it| {
            (it.scheduler, it.disclosure) = (Scheduling::Edf(EdfConfig::default()), disclosure);
        })
        .negotiator(policy)
        .change_negotiator(|it| it.coordinated = true)
        .user(0, vec![job(1, 0, 30, 12, 2), job(2, 5, 20, 20, 3)])
        .user(1, vec![job(3, 0, 10, 4, 2), job(4, 1, 40, 30, 2)])
        .user(2, (0..8).map(|i| bag(10 + i, i, 10 + 3 * i, 7 + i, 5)).collect())
}

fn bag(number: i64, submit: i64, requested: i64, run: i64, tasks: u32) -> Job {
    Job { shape: JobShape::Bag, ..job(number, submit, requested, run, tasks) }
}

/// Names of the fields in text printed by `{:?}`.
fn fields(printed: &str) -> BTreeSet<String> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let before = printed.match_indices(": ").filter_map(|(at, _)| {
        let start = printed[..at].rfind(|c| !name(c)).map_or(0, |start| start + 1);
        Some(&printed[start..at]).filter(|field| !field.is_empty())
    });
    before.map(str::to_owned).collect()
}

/// Messages of a run: "who to whom: kind", with the fields of such messages.
fn said(ran: &Ran, metascheduler: u32) -> BTreeMap<String, BTreeSet<String>> {
    let mut said: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, from, to, message) in &ran.messages {
        let direction = match (from.0, to.0) {
            (from, _) if from == metascheduler && to.0 < metascheduler => "asks",
            (from, to) if from < metascheduler && to == metascheduler => "answers",
            _ => continue,
        };
        let kind = format!("{direction} {}", message.kind());
        said.entry(kind).or_default().extend(fields(&format!("{message:?}")));
    }
    said
}

/// All messages that are allowed, and no others: Netto 2009, sections 6.2 and 7.3.
const OFFERS: &str = "\
answers committed: answer coordinator id job message number
answers new_completion_times: entries
answers not_ready: answer completion coordinator extra id job message number offers tasks valid view
answers offers: answer completion extra job offers tasks valid view
answers probe: answer job
answers ready: answer coordinator id job lease message number terms
answers share_finished: job outcome
answers share_started: job
asks abort: coordinator id instruction job message number settled
asks bag_completion: completion job
asks call: asks deadline job lot program task_time tasks wants_offers
asks commit: coordinator expected id instruction job message number settled unheld
asks prepare: completion coordinator id in_doubt instruction job lease message number offer request settled tasks
asks refresh: job
asks release: job
";

/// With free time slots there are no offers: answers contain slots, and requests contain places.
const SLOTS: &str = "\
answers committed: answer coordinator id job message number
answers new_completion_times: entries
answers not_ready: answer coordinator end extra id job message number offers slots start task valid view
answers offers: answer end extra job offers slots start task valid view
answers probe: answer job
answers ready: answer coordinator id job lease message number terms
answers share_finished: job outcome
answers share_started: job
asks abort: coordinator id instruction job message number settled
asks bag_completion: completion job
asks call: asks deadline job lot program task_time tasks wants_offers
asks commit: coordinator expected id instruction job message number settled unheld
asks prepare: batches coordinator deadline id in_doubt instruction job lease message number request settled start tasks
asks refresh: job
asks release: job
";

#[test]
fn t3_messages_have_the_fields_on_record() {
    let mut seen = BTreeSet::new();
    for (policy, level, extra) in LEVELS {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for latency in 0..3 {
            let mut setup = world(policy, level);
            setup.latency = Span::from_secs(latency);
            for provider in &mut setup.providers {
                provider.bargaining.validity = Span::from_secs(4 * latency);
            }
            // A slow provider lets the offers of others become stale.
            setup.providers[0].bargaining.delay = Span::from_secs(2);
            let ran = setup.run(Driver::Sequential);
            for (kind, fields) in said(&ran, 2) {
                all.entry(kind).or_default().extend(fields);
            }
            for (.., message) in &ran.messages {
                if let Some(answer) = offers_in(message) {
                    let printed = format!("{:?}", answer.view);
                    assert!(printed.starts_with(extra), "{level:?} answers with {printed}");
                }
            }
        }
        let known = if policy == CompositionPolicy::FreeTimeSlots { SLOTS } else { OFFERS };
        let known: BTreeSet<&str> = known.lines().collect();
        for (kind, fields) in all {
            let line = format!("{kind}: {}", Vec::from_iter(fields).join(" "));
            assert!(known.contains(line.as_str()), "{level:?}: not on record: {line}");
            seen.insert(kind);
        }
    }
    // A list of messages that are never sent would prove nothing.
    let kinds = OFFERS.lines().filter_map(|line| line.split(':').next());
    let unheard: Vec<&str> = kinds.filter(|&kind| !seen.contains(kind)).collect();
    assert!(unheard.is_empty(), "never said in these worlds: {unheard:?}");
}

/// Each policy with the level that it needs and the name of its views.
const LEVELS: [(CompositionPolicy, Disclosure, &str); 4] = [
    (CompositionPolicy::OffersPlb, Disclosure::Offers, "Offers("),
    (CompositionPolicy::OffersDplb, Disclosure::Power, "Power("),
    (CompositionPolicy::OffersDplbV2, Disclosure::Load, "Load("),
    (CompositionPolicy::FreeTimeSlots, Disclosure::Slots, "Slots("),
];

/// Answers of a provider until its first agreement, printed.
fn first_offers(ran: &Ran, provider: u32) -> Vec<String> {
    let said = ran.messages.iter().filter(|(_, from, ..)| from.0 == provider);
    let until = said.take_while(|(.., message)| message.kind() != "ready");
    until.map(|(now, .., message)| format!("{now} {message:?}")).collect()
}

#[test]
fn t4_offers_do_not_depend_on_other_providers() {
    for (policy, level, _) in LEVELS {
        let alone = world(policy, level).run(Driver::Sequential);
        let mut setup = world(policy, level);
        setup.providers[1].processors = 40;
        setup.providers[1].speed = 2.0;
        let changed = setup.run(Driver::Sequential);
        let (before, after) = (first_offers(&alone, 0), first_offers(&changed, 0));
        assert!(!before.is_empty() && !after.is_empty(), "{policy:?}: nothing was offered");
        assert_eq!(before[0], after[0], "{policy:?}");
    }
}

/// Earlier work of a provider for its own users is not disclosed: neither its amount, nor how often the plan has
/// changed.
#[test]
fn what_is_over_leaves_no_trace_in_what_is_answered() {
    for (policy, level, _) in LEVELS {
        let answers = |before: i64| -> Vec<String> {
            let mut setup = world(policy, level);
            setup.latency = Span::from_secs(1);
            for provider in &mut setup.providers {
                provider.bargaining.validity = Span::from_secs(4);
            }
            setup =
                setup.user(0, (0..before).map(|n| job(100 + n, 1_000 + 3 * n, 2, 1, 1)).collect());
            let late = (0..4).map(|n| bag(200 + n, 2_000 + n, 10, 8, 5));
            setup = setup.user(2, late.collect());
            let ran = setup.run(Driver::Sequential);
            let late = ran.messages.iter().filter(|(now, ..)| *now > Time::from_secs(2_000));
            let said = late.filter(|(_, from, to, _)| from.0 < 2 && to.0 == 2);
            said.map(|(now, from, _, message)| unnumbered(&format!("{now} {from} {message:?}")))
                .collect()
        };
        let (few, many) = (answers(1), answers(40));
        assert!(few.len() > 10, "{policy:?}: little is answered");
        assert_eq!(few, many, "{policy:?}");
    }
}

/// A metascheduler does not disclose how many bags it has placed before, not even by the numbers of its agreements.
#[test]
fn bags_that_are_over_leave_no_trace_in_what_is_asked() {
    for (policy, level, _) in LEVELS {
        let asked = |before: i64| -> Vec<String> {
            let mut setup = world(policy, level);
            setup.latency = Span::from_secs(1);
            for provider in &mut setup.providers {
                provider.bargaining.validity = Span::from_secs(4);
            }
            setup = setup
                .user(2, (0..before).map(|n| bag(100 + n, 500 + 20 * n, 10, 8, 5)).collect())
                .user(2, (0..4).map(|n| bag(200 + n, 2_000 + n, 10, 8, 5)).collect());
            let ran = setup.run(Driver::Sequential);
            let late = ran.messages.iter().filter(|(now, ..)| *now > Time::from_secs(2_000));
            let said = late.filter(|(_, from, to, _)| from.0 == 2 && to.0 < 2);
            said.map(|(now, _, to, message)| unnumbered(&format!("{now} {to} {message:?}")))
                .collect()
        };
        // Some policies use providers in turn.
        let (few, many) = (asked(12), asked(48));
        assert!(few.len() > 10, "{policy:?}: little is asked");
        assert_eq!(few, many, "{policy:?}");
    }
}

/// Numbers of jobs count all jobs of the run.
fn unnumbered(line: &str) -> String {
    let parts = line.split("job#");
    parts.map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit())).collect()
}

/// Calls and submissions carry the program itself, which only machines run.
fn fields_are_public(message: &Message) -> bool {
    !matches!(
        message,
        Message::Bargain(BargainMessage::Call(_))
            | Message::Submission(SubmissionMessage::Submit(_) | SubmissionMessage::SubmitAhead(_))
            | Message::Run(RunMessage::JobDue(_))
    )
}

/// Before the first end, no actor can know any true run time.
#[test]
fn run_times_decide_nothing_before_the_first_completion() {
    for (policy, level, _) in LEVELS {
        let run = |shift: usize| {
            let mut setup = world(policy, level);
            setup.permute_run_times(shift);
            setup.run(Driver::Sequential)
        };
        let (one, other) = (run(0), run(3));
        let first_end = |ran: &Ran| {
            let runs = ran.records.iter().filter_map(|record| record.bag.as_ref());
            let runs = runs.flat_map(|bag| bag.shares.iter().flat_map(|share| &share.runs));
            let ends = ran.records.iter().map(|record| record.end);
            ends.chain(runs.map(|run| run.end)).min().expect("something has run")
        };
        let first_end = first_end(&one).min(first_end(&other));
        let before = |ran: &Ran| -> Vec<String> {
            let messages = ran.messages.iter().take_while(|(now, ..)| *now < first_end);
            let said = messages.filter(|(.., message)| fields_are_public(message));
            said.map(|(now, from, to, message)| format!("{now} {from}>{to} {message:?}")).collect()
        };
        let (one_before, other_before) = (before(&one), before(&other));
        assert!(one_before.len() > 20, "{policy:?}: too little happens before the first end");
        assert_eq!(one_before, other_before, "{policy:?}");
        assert_ne!(one.log, other.log, "{policy:?}: the run times make no difference at all");
    }
}
