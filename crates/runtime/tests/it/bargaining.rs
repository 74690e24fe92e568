//! Bags of tasks over providers that make offers: whole exchanges, word for word.

use haggle_agents::Estimates;
use haggle_model::{Disclosure, EventsOrder, Job, JobOutcome, JobShape, Span, Time};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::{
    EdfConfig, Fractions, Overrun, Policy, ReschedulingConfig, ReschedulingRule, Scheduling, Shares,
};

use crate::setup::{Ran, Setup, job};

/// A bag in seconds: submitted, requested and run time of a task, tasks, deadline.
fn bag(
    number: i64,
    submit: i64,
    requested: i64,
    run: i64,
    tasks: u32,
    deadline: Option<i64>,
) -> Job {
    let mut job = job(number, submit, requested, run, tasks);
    job.shape = JobShape::Bag;
    job.deadline = deadline.map(Time::from_secs);
    job
}

fn edf(setup: Setup, processors: u32, disclosure: Disclosure) -> Setup {
    setup.provider(processors, Policy::Fcfs).change(|provider| {
        provider.scheduler = Scheduling::Edf(EdfConfig::default());
        provider.disclosure = disclosure;
    })
}

fn backfilling(setup: Setup, processors: u32, rule: ReschedulingRule) -> Setup {
    setup.provider(processors, Policy::Fcfs).change(|provider| {
        let rescheduling = ReschedulingConfig::from(rule);
        provider.scheduler = Scheduling::Bags {
            rescheduling,
            fractions: Fractions::default(),
            shares: Shares::Tasks,
        };
    })
}

/// Lines of the log that are about the bag with this number in the run.
fn about(ran: &Ran, job: u32) -> Vec<&str> {
    let ending = format!(" {job}");
    ran.log.lines().filter(|line| line.ends_with(&ending)).collect()
}

/// Starts of the tasks of a bag: (provider, start, tasks), in order.
fn starts(ran: &Ran, number: i64) -> Vec<(u32, i64, u32)> {
    let record = ran.records.iter().find(|record| record.job.number == number);
    let bag = record.expect("the bag is over").bag.as_ref().expect("it was placed");
    let mut starts: Vec<_> = bag
        .shares
        .iter()
        .flat_map(|share| share.runs.iter().map(move |run| (share.provider.0, run)))
        .map(|(provider, run)| {
            (provider, run.start.as_micros() / 1_000_000, run.processors.count())
        })
        .collect();
    starts.sort_unstable();
    starts
}

fn end(ran: &Ran, number: i64) -> i64 {
    let record = ran.records.iter().find(|record| record.job.number == number);
    record.expect("it is over").end.as_micros() / 1_000_000
}

fn promised(ran: &Ran, number: i64) -> i64 {
    let record = ran.records.iter().find(|record| record.job.number == number);
    let promised = record.expect("it is over").promised_end.expect("promised");
    promised.as_micros() / 1_000_000
}

/// OX-8, end to end: empty machines of 4 and 2 processors, S = 8, T = 3, D = 6.
#[test]
fn ox_8_a_bag_is_spread_in_proportion_to_the_offers() {
    let setup = edf(Setup::default(), 4, Disclosure::Offers);
    let ran = edf(setup, 2, Disclosure::Offers)
        .negotiator(CompositionPolicy::OffersPlb)
        .user(2, vec![bag(1, 0, 3, 3, 8, Some(6))])
        .run_on_both();
    assert_eq!(starts(&ran, 1), [(0, 0, 4), (0, 3, 1), (1, 0, 2), (1, 3, 1)]);
    assert_eq!((promised(&ran, 1), end(&ran, 1)), (6, 6));
    assert_eq!(
        about(&ran, 0),
        [
            "0 3>3 job_due 0",
            "0 3>2 submit 0",
            "0 2>0 call 0",
            "0 2>1 call 0",
            "0 0>2 offers 0",
            "0 1>2 offers 0",
            "0 2>0 prepare 0",
            "0 2>1 prepare 0",
            "0 0>2 ready 0",
            "0 1>2 ready 0",
            "0 2>0 commit 0",
            "0 2>1 commit 0",
            "0 2>3 accepted 0",
            "0 0>2 committed 0",
            "0 1>2 committed 0",
            "0 2>3 promise 0",
            "0 0>2 share_started 0",
            "0 2>3 started 0",
            "0 1>2 share_started 0",
            "6 0>2 share_finished 0",
            "6 1>2 share_finished 0",
            "6 2>3 finished 0",
        ]
    );
}

/// OX-10 (b): free time slots come too late for the deadline. An offer does not, because only the provider knows that
/// its local job can wait.
#[test]
fn ox_10b_offers_move_local_jobs_that_can_wait_and_slots_do_not() {
    let local = |number| {
        let mut job = job(number, 0, 10, 10, 1);
        job.deadline = Some(Time::from_secs(40));
        job
    };
    let run = |policy, local_first: i64| {
        edf(Setup::default(), 1, Disclosure::Slots)
            .negotiator(policy)
            .user(0, vec![local(1)])
            .user(1, vec![bag(2, local_first, 5, 5, 1, Some(8))])
            .run_on_both()
    };
    // At one instant the local job is planned first and nothing has started yet.
    let ran = run(CompositionPolicy::FreeTimeSlots, 0);
    assert_eq!((starts(&ran, 2), promised(&ran, 2)), (vec![(0, 10, 1)], 15));
    let ran = run(CompositionPolicy::OffersPlb, 0);
    assert_eq!((starts(&ran, 2), promised(&ran, 2)), (vec![(0, 0, 1)], 8));
    assert_eq!(end(&ran, 1), 15);
}

/// As CX-4: both providers move a task of one bag up. The provider that was not the last receives no request; it
/// reports when it becomes the last.
#[test]
fn cx_4_a_provider_catches_up_when_it_turns_out_to_be_the_last() {
    let run = |rule| {
        let setup = backfilling(Setup::default(), 1, rule);
        backfilling(setup, 1, rule)
            .negotiator(CompositionPolicy::OffersNoLb)
            .change_negotiator(|it| it.coordinated = rule == ReschedulingRule::Coordinated)
            // Planned until 10 and 15, they end at 4 and 5.
            .user(0, vec![job(1, 0, 10, 4, 1)])
            .user(1, vec![job(2, 0, 15, 5, 1)])
            .user(2, vec![bag(3, 0, 10, 10, 2, None)])
            .run_on_both()
    };
    let ran = run(ReschedulingRule::Coordinated);
    assert_eq!(promised(&ran, 3), 25);
    assert_eq!((starts(&ran, 3), end(&ran, 3)), (vec![(0, 4, 1), (1, 5, 1)], 15));
    let told: Vec<&str> = ran
        .log
        .lines()
        .filter(|line| !line.contains('|'))
        .filter(|line| line.contains("completion_times") || line.contains("bag_completion"))
        .collect();
    // 25 -> 20 by the second provider, 20 -> 15 by the first; each change is sent to both.
    assert_eq!(
        told,
        [
            "5 1>2 new_completion_times -",
            "5 2>0 bag_completion 2",
            "5 2>1 bag_completion 2",
            "5 0>2 new_completion_times -",
            "5 2>0 bag_completion 2",
            "5 2>1 bag_completion 2",
        ]
    );
    let ran = run(ReschedulingRule::Uncoordinated);
    assert_eq!(end(&ran, 3), 15);
    assert!(!ran.log.contains("completion_times"));
}

/// Waiting work gets returned time before a job that arrives at that instant, whether completions or submissions come
/// first.
#[test]
fn who_waits_moves_up_before_a_newcomer_is_offered_the_time() {
    for rule in
        [ReschedulingRule::Coordinated, ReschedulingRule::Uncoordinated, ReschedulingRule::Compress]
    {
        for order in EventsOrder::ALL {
            let mut setup = backfilling(Setup::default(), 1, rule)
                .negotiator(CompositionPolicy::OffersNoLb)
                .change_negotiator(|it| it.coordinated = rule == ReschedulingRule::Coordinated)
                // Planned until 20, it ends at 10.
                .user(0, vec![job(1, 0, 20, 10, 1)])
                .user(1, vec![bag(2, 0, 10, 10, 1, None), bag(3, 10, 5, 5, 1, None)]);
            setup.order = order;
            let ran = setup.run_on_both();
            assert_eq!(starts(&ran, 2), [(0, 10, 1)], "{rule:?} {order:?}");
            assert_eq!(starts(&ran, 3), [(0, 20, 1)], "{rule:?} {order:?}");
        }
    }
}

/// Two providers reschedule at one instant: the second one receives the reports of the first about a bag before it
/// reschedules.
#[test]
fn what_one_provider_reports_is_heard_before_the_next_one_reschedules() {
    let rule = ReschedulingRule::Coordinated;
    let setup = backfilling(Setup::default(), 1, rule);
    let ran = backfilling(setup, 1, rule)
        .negotiator(CompositionPolicy::OffersNoLb)
        .change_negotiator(|it| it.coordinated = true)
        // Planned until 20 and 15, both end at 5.
        .user(0, vec![job(1, 0, 20, 5, 1)])
        .user(1, vec![job(2, 0, 15, 5, 1)])
        .user(2, vec![bag(3, 0, 10, 10, 2, None)])
        .run_on_both();
    let at_5 = ran.log.lines().filter(|line| !line.contains('|') && line.starts_with("5 "));
    let wanted = |line: &&str| line.contains("wake") || line.contains("completion");
    let told: Vec<&str> = at_5.filter(wanted).collect();
    let rescheduled = [
        "5 0>0 wake -",
        "5 0>2 new_completion_times -",
        "5 2>0 bag_completion 2",
        "5 2>1 bag_completion 2",
        "5 1>1 wake -",
        "5 1>2 new_completion_times -",
        "5 2>0 bag_completion 2",
        "5 2>1 bag_completion 2",
    ];
    // Both ends come first, and the starts last.
    assert_eq!(told[2..10], rescheduled, "{told:?}");
    assert_eq!(starts(&ran, 3), [(0, 5, 1), (1, 5, 1)]);
}

/// CX-10: a provider that still profiles keeps the bag open. An offer of another provider becomes stale in the
/// meantime, and a probe reports that.
#[test]
fn cx_10_a_stale_offer_is_not_taken_up() {
    let rule = ReschedulingRule::Uncoordinated;
    let setup = backfilling(Setup::default(), 2, rule);
    let profiles =
        Estimates::Profiled { error: (1, 2), time: (Span::from_secs(300), Span::from_secs(300)) };
    // 1,000 s as the user estimates it, 800 s in truth, hence 900 s profiled.
    let ran = backfilling(setup, 1, rule)
        .change(|provider| provider.bargaining.estimates = profiles)
        .negotiator(CompositionPolicy::OffersNoLb)
        .user(0, vec![job(1, 100, 2_000, 2_000, 2)])
        .user(2, vec![bag(2, 0, 1_000, 800, 2, None)])
        .run_on_both();
    assert_eq!(starts(&ran, 2), [(1, 300, 1), (1, 1_100, 1)]);
    assert_eq!(promised(&ran, 2), 2_100);
    assert_eq!(
        about(&ran, 0),
        [
            "0 4>4 job_due 0",
            "0 4>2 submit 0",
            "0 2>0 call 0",
            "0 2>1 call 0",
            "0 0>2 offers 0",
            "100 0>2 probe 0",
            "300 1>1 wake 0",
            "300 1>2 offers 0",
            "300 2>0 refresh 0",
            "300 0>2 offers 0",
            "300 2>1 prepare 0",
            "300 1>2 ready 0",
            "300 2>1 commit 0",
            "300 2>0 release 0",
            "300 2>4 accepted 0",
            "300 1>2 committed 0",
            "300 2>4 promise 0",
            "300 1>2 share_started 0",
            "300 2>4 started 0",
            "1900 1>2 share_finished 0",
            "1900 2>4 finished 0",
        ]
    );
}

/// As CX-10, but the metascheduler waits for 200 s only. It requests new offers from the provider that has answered,
/// and does not wait for the other.
#[test]
fn waiting_for_offers_ends_even_where_some_have_gone_stale() {
    let rule = ReschedulingRule::Coordinated;
    let profiles =
        Estimates::Profiled { error: (1, 2), time: (Span::from_secs(300), Span::from_secs(300)) };
    let setup = backfilling(Setup::default(), 2, rule);
    let ran = backfilling(setup, 1, rule)
        .change(|provider| provider.bargaining.estimates = profiles)
        .negotiator(CompositionPolicy::OffersNoLb)
        .change_negotiator(|it| it.offers_wait = Some(Span::from_secs(200)))
        .user(0, vec![job(1, 100, 2_000, 2_000, 2)])
        .user(2, vec![bag(2, 0, 1_000, 800, 2, None)])
        .run_on_both();
    assert_eq!(starts(&ran, 2), [(0, 2_100, 2)]);
    assert_eq!(promised(&ran, 2), 3_100);
    assert!(about(&ran, 0).contains(&"200 2>0 commit 0"));
}

/// A provider refuses a question above its disclosure level, and the others get the bag.
#[test]
fn a_question_above_a_providers_level_is_refused() {
    let setup = edf(Setup::default(), 4, Disclosure::Offers);
    let ran = edf(setup, 4, Disclosure::Power)
        .negotiator(CompositionPolicy::OffersDplb)
        .user(2, vec![bag(1, 0, 3, 3, 4, Some(6))])
        .run_on_both();
    assert_eq!(starts(&ran, 1), [(1, 0, 4)]);
    assert!(ran.log.contains("no_answer_not_disclosed"));
}

/// Without any round, the bag goes unheld to one provider: the one with the earliest completion by its disclosed
/// slots. The completion that this provider reports is promised.
#[test]
fn a_bag_that_goes_unheld_goes_to_the_best_and_is_promised_what_that_one_says() {
    let rule = ReschedulingRule::Coordinated;
    for policy in [CompositionPolicy::FreeTimeSlots, CompositionPolicy::OffersNoLb] {
        let slots = |setup: Setup| setup.change(|it| it.disclosure = Disclosure::Slots);
        let setup = slots(backfilling(Setup::default(), 2, rule));
        let ran = slots(backfilling(setup, 8, rule))
            .negotiator(policy)
            .change_negotiator(|it| it.rounds = 0)
            .user(2, vec![bag(1, 0, 100, 100, 4, None), bag(2, 10, 100, 100, 4, None)])
            .run_on_both();
        assert_eq!((starts(&ran, 1), starts(&ran, 2)), (vec![(1, 0, 4)], vec![(1, 10, 4)]));
        assert_eq!((promised(&ran, 1), promised(&ran, 2)), (100, 110), "{policy:?}");
    }
}

/// A task may overrun where jobs may. It is then planned for as long again as it has run.
#[test]
fn tasks_run_over_their_time_where_that_is_allowed() {
    for kind in [None, Some(ReschedulingRule::Coordinated)] {
        let setup = match kind {
            Some(rule) => backfilling(Setup::default(), 2, rule),
            None => edf(Setup::default(), 2, Disclosure::Offers),
        };
        let ran = setup
            .change(|it| it.overrun = Overrun::Extend)
            .negotiator(CompositionPolicy::OffersNoLb)
            .user(1, vec![bag(1, 0, 10, 35, 2, None), bag(2, 1, 10, 5, 1, None)])
            .run_on_both();
        assert_eq!((starts(&ran, 1), end(&ran, 1)), (vec![(0, 0, 2)], 35), "{kind:?}");
        assert_eq!((starts(&ran, 2), promised(&ran, 2)), (vec![(0, 35, 1)], 20), "{kind:?}");
        assert!(ran.outcomes().iter().all(|&it| it == JobOutcome::Completed));
    }
}

/// The tasks would take longer than the range of times. No completion is promised; the tasks end early and run one
/// after the other, seven of them at one provider. If they really take that long, the run reports it.
#[test]
fn a_bag_that_would_last_longer_than_time_is_planned_as_it_goes() {
    let run = |run: i64| {
        let setup = backfilling(Setup::default(), 1, ReschedulingRule::Coordinated);
        edf(setup, 1, Disclosure::Offers)
            .negotiator(CompositionPolicy::OffersNoLb)
            .user(2, vec![bag(1, 15, 1_000_000_000_000, run, 8, None)])
            .run_on_both()
    };
    let ran = run(10);
    assert_eq!((end(&ran, 1), ran.records[0].promised_end), (85, None));
    let error = run(1_000_000_000_000).result.expect_err("time ends");
    assert!(error.to_string().contains("the end of time"), "{error}");
}

/// With latency, offers are valid for a while, and tasks start after that.
#[test]
fn offers_hold_as_long_as_an_agreement_takes() {
    let mut setup = edf(Setup::default(), 4, Disclosure::Offers)
        .change(|provider| provider.bargaining.validity = Span::from_secs(8))
        .negotiator(CompositionPolicy::OffersPlb)
        .user(1, vec![bag(1, 0, 3, 3, 4, Some(60)), bag(2, 1, 3, 3, 4, Some(60))]);
    setup.latency = Span::from_secs(1);
    let ran = setup.run_on_both();
    let first = starts(&ran, 1)[0].1;
    assert_eq!(first, 2 + 2 * 8, "called at 2, an offer is good and then held for 8 s");
    assert!(end(&ran, 2) <= promised(&ran, 2));
}
