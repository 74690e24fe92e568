//! Parts of jobs by any protocol: exact counts and times of messages, and invariants of worlds with rivals, losses,
//! copies, partitions and crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use haggle_agents::{Message, RunMessage, Transaction};
use haggle_agreements::back_off::BackOff;
use haggle_agreements::claiming::ClaimingRules;
use haggle_agreements::negotiation::NegotiationRules;
use haggle_agreements::one_phase::OnePhaseRules;
use haggle_agreements::ordered::{LockOrder, OrderedRules};
use haggle_agreements::paxos::PaxosRules;
use haggle_agreements::polling::PollingRules;
use haggle_agreements::probing::ProbingRules;
use haggle_agreements::protocol::Outcome;
use haggle_agreements::watch::WatchRules;
use haggle_agreements::{InDoubt, Rules};
use haggle_model::job::HiddenRunTime;
use haggle_model::{
    ActorId, AgreementEvent, AgreementId, Job, JobOutcome, JobRecord, Observation, ProcessorSet,
    Refusal, Span, Time,
};
use haggle_runtime::{Driver, OutsideError, Sink, run};
use haggle_scheduling::Overrun;
use proptest::prelude::*;

use crate::draws::the_same;
use crate::setup::{Ran, Setup, job};
use crate::trouble::Trouble;

pub(crate) fn millis(millis: i64) -> Span {
    Span::from_micros(1000 * millis)
}

/// Every protocol with the usual parameters; "paxos" only if the setup has acceptors.
pub(crate) fn protocols(setup: &Setup, retry: Option<Span>) -> Vec<Transaction> {
    let acceptors = setup.acceptor_ids();
    let (patience, lease) = (millis(1000), millis(5000));
    let margin = millis(4000);
    let locks = |order| Transaction::Ordered(OrderedRules { order, patience: None, retry });
    let mut all = vec![
        Transaction::TwoPhase(Rules {
            lease,
            margin,
            in_doubt: InDoubt::Release,
            retry,
            hears_all: true,
        }),
        Transaction::OnePhase(OnePhaseRules { sequential: false, patience, retry }),
        Transaction::OnePhase(OnePhaseRules { sequential: true, patience, retry }),
        Transaction::Polling(PollingRules { lease, margin, interval: millis(500), retry }),
        Transaction::Negotiation(NegotiationRules {
            tolerance: Span::ZERO,
            rounds: 10,
            patience,
            retry,
        }),
        Transaction::Claiming(ClaimingRules { scan: millis(10_000), trials: Some(10), retry }),
        locks(LockOrder::Ascending),
        locks(LockOrder::Parallel),
        Transaction::Probing(ProbingRules {
            needed: None,
            patience,
            lease,
            margin: millis(200),
            subscription: millis(30_000),
            retry,
        }),
        Transaction::Watch(WatchRules { patience, retry }),
    ];
    if let [leader, acceptors @ ..] = &acceptors[..] {
        all.push(Transaction::Paxos(PaxosRules {
            leader: *leader,
            acceptors: acceptors.to_vec(),
            economical: false,
            patience,
            doubt: patience,
            retry,
        }));
    }
    all
}

/// `n` providers of 4 processors, messages take 50 ms.
fn idle(n: usize, protocol: usize) -> (Transaction, Setup) {
    let mut setup = Setup::default();
    for _ in 0..n {
        setup = setup.coallocating(4);
    }
    let mut setup = setup.transactor(protocols(&Setup::default(), None)[0].clone()).acceptors(4);
    let transaction = protocols(&setup, None)[protocol].clone();
    setup = setup.change_transactor(|it| it.transaction = transaction.clone());
    setup.latency = millis(50);
    (transaction, setup)
}

/// One job that takes all processors.
fn alone(n: usize, protocol: usize) -> (Transaction, Setup) {
    let (transaction, setup) = idle(n, protocol);
    (transaction, setup.user(n, vec![job(1, 0, 100, 60, 4 * n as u32)]))
}

fn said(ran: &Ran) -> BTreeMap<&'static str, usize> {
    let mut kinds = BTreeMap::new();
    for (.., message) in &ran.messages {
        if let Message::Transaction(haggle_agents::protocol::TransactionMessage::Said {
            message,
            ..
        }) = message
        {
            *kinds.entry(message.kind()).or_default() += 1;
        }
    }
    kinds
}

/// A job that is too wide is refused, and the next job does not wait for it.
#[test]
fn a_job_that_is_too_wide_is_given_back_and_the_next_one_runs() {
    for protocol in 0..protocols(&alone(2, 0).1, None).len() {
        let (transaction, setup) = idle(2, protocol);
        let ran = setup.user(2, vec![job(1, 0, 100, 60, 9), job(2, 600, 100, 60, 8)]).run_on_both();
        let outcomes: Vec<_> = ran.records.iter().map(|it| (it.job.id.0, it.outcome)).collect();
        let too_wide = JobOutcome::Rejected(Refusal::TooWide);
        assert_eq!(outcomes, [(0, too_wide), (1, JobOutcome::Completed)], "{transaction:?}");
        ran.assert_disclosures();
        let asked = ran.messages.iter().filter(|(.., it)| {
            matches!(
                it,
                Message::Transaction(haggle_agents::protocol::TransactionMessage::TooWide { .. })
            )
        });
        assert!((1..=2).contains(&asked.count()), "each is asked once at most: {transaction:?}");
    }
}

/// CP-E1 and micro-example M1.
#[test]
fn messages_of_one_job_are_as_many_as_the_formulas_say() {
    for n in 2..=6 {
        for protocol in 0..protocols(&alone(n, 0).1, None).len() {
            let (transaction, setup) = alone(n, protocol);
            let ran = setup.run_on_both();
            ran.assert_disclosures();
            let expected = match &transaction {
                Transaction::TwoPhase(_) => 4 * n,
                Transaction::OnePhase(_) | Transaction::Negotiation(_) => 2 * n,
                Transaction::Polling(_) => n * (4 + 2 + 2),
                // Three acceptors beside the leader.
                Transaction::Paxos(_) => 2 * n + 3 * n + 3 + 2,
                Transaction::Claiming(_) => 4 * n,
                Transaction::Ordered(rules) if rules.order == LockOrder::Parallel => 4 * n - 1 + n,
                Transaction::Ordered(_) => 3 * n,
                Transaction::Probing(_) => 2 * n + 4 * n,
                Transaction::Watch(_) => 4 * n,
            };
            let kinds = said(&ran);
            let sent: usize = kinds.values().sum();
            assert_eq!(
                sent,
                expected,
                "{} of {n}: {kinds:?}\n{}",
                transaction.traits().name,
                ran.log
            );
            let record = &ran.records[0];
            assert_eq!(record.outcome, JobOutcome::Completed, "{transaction:?}");
            let bag = record.bag.as_ref().expect("by parts");
            assert_eq!(bag.shares.len(), n);
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            for run in runs {
                assert_eq!(run.end - run.start, Span::from_secs(60), "{transaction:?}");
            }
        }
    }
}

/// Two metaschedulers want all processors of both providers at once, for 60 s.
#[test]
fn who_comes_too_late_tries_again() {
    let two = |protocol: usize| {
        let mut setup = Setup::default().coallocating(4).coallocating(4);
        let transaction = protocols(&Setup::default(), None)[protocol].clone();
        for _ in 0..2 {
            setup = setup.transactor(transaction.clone()).change_transactor(|it| {
                it.back_off = BackOff::Exponential { first: millis(100), cap: millis(60_000) };
                it.trials = 40;
            });
        }
        setup.latency = millis(50);
        setup.user(2, vec![job(1, 0, 100, 60, 8)]).user(3, vec![job(2, 0, 100, 60, 8)])
    };
    for protocol in 0..protocols(&Setup::default(), None).len() {
        let ran = two(protocol).run_on_both();
        assert_eq!(ran.outcomes(), [JobOutcome::Completed; 2], "{protocol}:\n{}", ran.log);
    }
}

/// Observations of transactions in a run, and the runs on each processor.
#[derive(Default)]
struct Watcher {
    now: Time,
    records: Vec<JobRecord>,
    /// By agreement: the participants that were asked, and in the end those that agreed.
    asked: BTreeMap<AgreementId, BTreeSet<ActorId>>,
    agreed: BTreeSet<AgreementId>,
    failed: BTreeSet<AgreementId>,
    parts: BTreeMap<(ActorId, AgreementId), Part>,
    /// Start for which each part is held.
    starts: BTreeMap<(ActorId, AgreementId), Time>,
    /// Parts that were held again after their end.
    again: Vec<(ActorId, AgreementId)>,
    /// Crashes, by actor.
    crashed: BTreeMap<ActorId, Time>,
    /// Agreements of which a part began although another part was not held.
    too_soon: Vec<AgreementId>,
    runs: BTreeMap<(u32, u32), Vec<(Time, Time)>>,
    said: u64,
    log: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Held,
    Begun,
    Over,
    GivenUp,
    /// It has lost its processors or its place.
    Failed,
}

impl Sink for Watcher {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        self.now = now;
        self.said += 1;
        if *message == Message::Run(RunMessage::Crashed) {
            self.crashed.insert(to, now);
        }
        if self.log.len() < 40_000 {
            writeln!(self.log, "{now} {from}>{to} {}", message.kind())?;
        }
        Ok(())
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        match observation {
            Observation::JobOver(record) => self.records.push(JobRecord::clone(record)),
            Observation::RunLost { run, .. } => {
                for &(first, last) in run.processors.intervals() {
                    for processor in first..=last {
                        let stretches = self.runs.entry((run.provider.0, processor)).or_default();
                        stretches.push((run.start, run.end));
                    }
                }
            }
            Observation::TasksOver { provider, run, .. } => {
                for &(first, last) in run.processors.intervals() {
                    for processor in first..=last {
                        let stretches = self.runs.entry((provider.0, processor)).or_default();
                        stretches.push((run.start, run.end));
                    }
                }
            }
            Observation::Agreement { id, event, .. } => {
                if !matches!(event, AgreementEvent::Sent(_)) && self.log.len() < 40_000 {
                    writeln!(self.log, "{now} {actor} | {id:?} {event:?}")?;
                }
                self.note(actor, *id, event);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Watcher {
    fn note(&mut self, actor: ActorId, id: AgreementId, event: &AgreementEvent) {
        match event {
            AgreementEvent::Opened { asked } => {
                self.asked.insert(id, asked.iter().copied().collect());
            }
            AgreementEvent::Agreed { parts } => {
                self.asked.insert(id, parts.iter().copied().collect());
                self.agreed.insert(id);
            }
            AgreementEvent::Failed | AgreementEvent::Broken => {
                self.failed.insert(id);
            }
            &AgreementEvent::Held { start, .. } => {
                self.starts.insert((actor, id), start);
                if self.parts.insert((actor, id), Part::Held) == Some(Part::Over) {
                    self.again.push((actor, id));
                }
            }
            AgreementEvent::CarriedOut { .. } => {
                self.parts.insert((actor, id), Part::Begun);
                let holds = |who: &ActorId| {
                    self.parts.get(&(*who, id)).is_some_and(|part| *part != Part::GivenUp)
                };
                if !self.asked[&id].iter().all(holds) {
                    self.too_soon.push(id);
                }
            }
            AgreementEvent::GivenUp => {
                self.parts.insert((actor, id), Part::GivenUp);
            }
            AgreementEvent::PartFailed => {
                self.parts.insert((actor, id), Part::Failed);
            }
            AgreementEvent::PartOver => {
                self.parts.insert((actor, id), Part::Over);
            }
            AgreementEvent::Decided | AgreementEvent::Occupied | AgreementEvent::Sent(_) => {}
        }
    }

    /// Checks the invariants at the end of a run in which all jobs have ended.
    fn check(&self, transactions: &[Transaction], faultless: bool) -> Result<(), TestCaseError> {
        let of = |id: &AgreementId| &transactions[id.coordinator.0 as usize - FIRST];
        let traits = |id: &AgreementId| of(id).traits();
        // A lease may end while the coordinator is down. A participant that may block waits for it, so it is never
        // too late.
        let strict = |id: &AgreementId| {
            traits(id).outcome == Outcome::Atomic && (faultless || of(id).may_block())
        };
        for ((who, id), part) in &self.parts {
            // No hold is leaked, no promise forgotten.
            let over = matches!(part, Part::Over | Part::GivenUp | Part::Failed);
            prop_assert!(over, "{} has {:?} as {:?} at the end", who, id, part);
            let kept = !self.agreed.contains(id)
                || self.failed.contains(id)
                || matches!(part, Part::Over | Part::Failed);
            prop_assert!(kept, "{} gives up {:?}, which was agreed on", who, id);
        }
        prop_assert!(self.again.is_empty(), "what is over is held again: {:?}", self.again);
        let fails = |id: &AgreementId| {
            self.parts.iter().any(|((_, of), part)| of == id && *part == Part::Failed)
        };
        for (id, asked) in self.asked.iter().filter(|(id, _)| !fails(id)) {
            let over =
                asked.iter().filter(|&&who| self.parts.get(&(who, *id)) == Some(&Part::Over));
            let starts: BTreeSet<Time> = over.map(|&who| self.starts[&(who, *id)]).collect();
            let negotiates = matches!(of(id), Transaction::Negotiation(_));
            prop_assert!(!negotiates || starts.len() <= 1, "{:?} runs from {:?} on", id, starts);
            let ran = asked.iter().filter(|&&who| self.parts.get(&(who, *id)) == Some(&Part::Over));
            let ran = ran.count();
            let whole = ran == 0 || ran == asked.len();
            let orphaned = traits(id).outcome == Outcome::Orphans
                && self.crashed.contains_key(&id.coordinator);
            // The selected candidates are known when all have agreed. A part that ends before its group is given up
            // cannot be given up.
            let may_be_torn = orphaned || !(faultless || strict(id));
            prop_assert!(whole || may_be_torn, "{:?} runs {} of {:?}", id, ran, asked);
            let told = !self.agreed.contains(id) || ran == asked.len();
            prop_assert!(told, "{:?} is agreed on and runs {} of {:?}", id, ran, asked);
        }
        if let Some(id) = self.too_soon.iter().find(|id| strict(id)) {
            prop_assert!(false, "{:?} begins before all hold their parts", id);
        }
        for (place, stretches) in &self.runs {
            let mut stretches = stretches.clone();
            stretches.sort_unstable();
            for pair in stretches.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0, "processor {:?} holds two", place);
            }
        }
        let is_whole = |it: &&JobRecord| it.bag.is_some() && it.outcome != JobOutcome::Failed;
        for record in self.records.iter().filter(is_whole) {
            let bag = record.bag.as_ref().expect("by parts");
            let runs = bag.shares.iter().flat_map(|share| &share.runs);
            let processors: u32 = runs.map(|run| run.processors.count()).sum();
            prop_assert_eq!(processors, record.job.processors, "{} is torn", record.job.number);
        }
        Ok(())
    }
}

/// Number of providers of a drawn world; metaschedulers come after them.
const FIRST: usize = 3;

/// (provider, processor that fails, its outages in seconds), as drawn.
type Failing = (u32, u32, Vec<(i64, i64)>);

#[derive(Clone, Debug)]
struct Drawn {
    processors: Vec<u32>,
    /// Protocols of the three metaschedulers.
    protocols: Vec<usize>,
    in_doubt: bool,
    jobs: Vec<Vec<(i64, i64, u32)>>,
    local: Vec<(i64, i64, u32)>,
    latency: i64,
    jitter: i64,
    reordering: bool,
    trouble: Option<Trouble>,
    back_off: BackOff,
    trials: u32,
    patience: Option<i64>,
    /// True if jobs take milliseconds instead of seconds.
    short: bool,
    /// Processors that fail, each with its outages in seconds.
    failing: Vec<Failing>,
    /// True if local jobs may run longer than they request.
    overruns: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let job = |most: u32| (0_i64..40, 1_i64..30, 1_u32..=most);
    let back_off = prop_oneof![
        Just(BackOff::Fixed(millis(300))),
        Just(BackOff::Exponential { first: millis(500), cap: millis(20_000) }),
    ];
    let trouble = crate::trouble::trouble().prop_map(|trouble| {
        trouble.map(|it| Trouble { datagram: true, loss: it.loss.min(0.3), ..it })
    });
    (
        prop::collection::vec(1_u32..=4, FIRST),
        prop_oneof![
            (0_usize..11).prop_map(|one| vec![one; 3]),
            prop::collection::vec(0_usize..11, 3),
        ],
        any::<bool>(),
        prop::collection::vec(prop::collection::vec(job(8), 0..4), 3),
        prop::collection::vec(job(2), 0..5),
        (prop_oneof![Just(0_i64), 1_i64..200], prop_oneof![Just(0_i64), 1_i64..100], any::<bool>()),
        trouble,
        (back_off, 1_u32..6, prop::option::of(1_i64..60)),
    )
        .prop_map(
            |(
                processors,
                protocols,
                in_doubt,
                jobs,
                local,
                (latency, jitter, reordering),
                trouble,
                (back_off, trials, patience),
            )| Drawn {
                processors,
                protocols,
                in_doubt,
                jobs,
                local,
                latency,
                jitter,
                reordering,
                trouble,
                back_off,
                trials,
                patience,
                short: false,
                failing: Vec::new(),
                overruns: false,
            },
        )
}

/// The same on processors that fail and come back, beside local jobs that may run over.
fn on_failing_processors() -> impl Strategy<Value = Drawn> {
    let outages = prop::collection::vec((0_i64..60, 1_i64..30), 1..4).prop_map(|gaps| {
        let mut at = 0;
        let outage = |(gap, lasts): (i64, i64)| {
            let from = at + gap;
            at = from + lasts;
            (from, at)
        };
        Vec::from_iter(gaps.into_iter().map(outage))
    });
    let failing = prop::collection::vec((0_u32..FIRST as u32, any::<u32>(), outages), 1..6);
    (drawn(), failing, any::<bool>()).prop_map(|(drawn, failing, overruns)| Drawn {
        failing,
        overruns,
        ..drawn
    })
}

/// Jobs of milliseconds that are booked at once, while 20 % to 40 % of the messages are lost. Parts end before their
/// metascheduler receives reports about them.
fn short_and_lossy() -> impl Strategy<Value = Drawn> {
    let books = || prop::sample::select(vec![1_usize, 2, 4, 9]);
    let protocols =
        prop_oneof![books().prop_map(|one| vec![one; 3]), prop::collection::vec(books(), 3)];
    (drawn(), protocols, 0.2..0.4, 0.0..0.2, any::<u64>()).prop_map(
        |(drawn, protocols, loss, duplication, seed)| {
            let trouble = Trouble {
                timeout: 1,
                loss,
                duplication,
                partitions: Vec::new(),
                crashes: Vec::new(),
                datagram: true,
                recovers: false,
                seed,
            };
            Drawn { protocols, trouble: Some(trouble), patience: None, short: true, ..drawn }
        },
    )
}

impl Drawn {
    /// A job. With `short`, its times are in milliseconds, and submissions in tenths of seconds; otherwise all are in
    /// seconds.
    fn job(&self, number: i64, submit: i64, time: i64, processors: u32) -> Job {
        let time_requested = if self.overruns { (time - 5).max(1) } else { time + 5 };
        let job = job(number, submit, time_requested, time, processors);
        if !self.short {
            return job;
        }
        Job {
            submit: Time::ZERO + millis(100 * submit),
            requested_time: Some(millis(time + 5)),
            run_time: HiddenRunTime::new(millis(time)),
            ..job
        }
    }
}

fn play(drawn: &Drawn) -> Result<(), TestCaseError> {
    let mut setup = Setup::default();
    for &processors in &drawn.processors {
        setup = setup.coallocating(processors).change(|it| {
            it.overrun = if drawn.overruns { Overrun::Extend } else { Overrun::Kill };
        });
    }
    setup.failing = Vec::from_iter(drawn.failing.iter().map(|(provider, processor, outages)| {
        let processor = processor % drawn.processors[*provider as usize];
        (*provider, ProcessorSet::range(processor, 1), outages.clone())
    }));
    let placeholder = protocols(&Setup::default(), None)[0].clone();
    for _ in 0..3 {
        setup = setup.transactor(placeholder.clone());
    }
    setup = setup.acceptors(4);
    let retry = Some(millis(if drawn.short { 300 } else { 1_500 }));
    let known = protocols(&setup, retry);
    let mut transactions = Vec::new();
    for (place, &protocol) in drawn.protocols.iter().enumerate() {
        let mut transaction = known[protocol].clone();
        if let Transaction::TwoPhase(rules) = &mut transaction
            && drawn.in_doubt
        {
            rules.in_doubt = InDoubt::Inquire { every: millis(1000) };
        }
        // Without a lock order, only patience ends a deadlock.
        if let Transaction::Ordered(rules) = &mut transaction {
            rules.patience = Some(millis(60_000));
        }
        transactions.push(transaction.clone());
        setup = setup.change_transactor_at(place, |it| {
            (it.transaction, it.back_off, it.trials) = (transaction, drawn.back_off, drawn.trials);
        });
    }
    let paxos = transactions.iter().find(|it| matches!(it, Transaction::Paxos(_)));
    setup = setup.acceptors_of(paxos.unwrap_or(&known[10]).clone());
    setup.latency = millis(drawn.latency);
    setup.jitter = millis(drawn.jitter);
    setup.reordering = drawn.reordering;
    setup.trouble = drawn.trouble.clone();
    let patience = drawn.patience.map(Span::from_secs);
    let mut number = 0;
    for (place, jobs) in drawn.jobs.iter().enumerate() {
        let mut submit = 0;
        let jobs = jobs.iter().map(|&(gap, time, processors)| {
            (number, submit) = (number + 1, submit + gap);
            drawn.job(number, submit, time, processors)
        });
        let jobs = jobs.collect();
        setup = setup.user_with_patience(FIRST + place, patience, jobs);
    }
    let mut submit = 0;
    let local = drawn.local.iter().map(|&(gap, time, processors)| {
        (number, submit) = (number + 1, submit + gap);
        drawn.job(number, submit, time, processors.min(drawn.processors[0]))
    });
    let local = local.collect();
    setup = setup.user(0, local);
    let mut watcher = Watcher::default();
    let stop = AtomicBool::new(false);
    let result = run(setup.world(), Driver::Sequential, &mut watcher, &stop);
    let stats = result.map_err(|error| TestCaseError::fail(format!("{error}\n{}", watcher.log)))?;
    prop_assert_eq!(watcher.records.len() as u64, stats.jobs, "jobs are lost:\n{}", watcher.log);
    watcher
        .check(&transactions, drawn.trouble.is_none())
        .map_err(|error| TestCaseError::fail(format!("{error}\n{}", watcher.log)))
}

fn cases(count: u32, drawn: impl Strategy<Value = Drawn>) {
    // More cases than a gate runs are drawn anew.
    let config = match count {
        ..=1_000 => the_same(count),
        _ => ProptestConfig { cases: count, failure_persistence: None, ..Default::default() },
    };
    proptest!(config, |(drawn in drawn)| play(&drawn)?);
}

#[test]
fn short_parts_run_once_however_much_is_lost() {
    cases(500, short_and_lossy());
}

#[test]
#[ignore = "takes minutes"]
fn short_parts_run_once_however_much_is_lost_at_length() {
    cases(20_000, short_and_lossy());
}

#[test]
fn parts_run_whole_or_their_job_fails_on_processors_that_fail() {
    cases(500, on_failing_processors());
}

#[test]
#[ignore = "takes minutes"]
fn parts_run_whole_or_their_job_fails_on_processors_that_fail_at_length() {
    cases(20_000, on_failing_processors());
}

#[test]
fn parts_run_whole_or_not_at_all_whatever_fails() {
    cases(500, drawn());
}

#[test]
#[ignore = "takes minutes"]
fn parts_run_whole_or_not_at_all_whatever_fails_at_length() {
    cases(20_000, drawn());
}
