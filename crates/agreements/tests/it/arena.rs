//! Any protocol among several coordinators and participants with limited room, over a channel
//! that delays, loses, repeats, reorders and parts, on machines that crash between any two
//! outputs. Faults end at some time; then all must come to an end.
//!
//! What must hold is looked at whenever somebody is told something, and at the end. A unit of
//! time is a microsecond.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use haggle_agreements::account::Account;
use haggle_agreements::back_off::BackOff;
use haggle_agreements::contention::{Contention, Finding};
use haggle_agreements::negotiation::Windowed;
use haggle_agreements::protocol::{
    Coordinates, Duty, Machine, Message, Outcome, Outputs, Participates, Parts, Protocol, Verdict,
};
use haggle_agreements::{AgreementId, Output, Payload, Record, Subject};
use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

/// What is agreed on: processors, now or in a window of starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Room;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) procs: u32,
    /// For how long; only of importance in a window.
    pub(crate) length: Span,
    /// The first and last start; `None` = now.
    pub(crate) window: Option<(Time, Time)>,
    /// Whether others may be put out for it.
    pub(crate) urgent: bool,
}

impl Subject for Room {
    type Request = Ask;
    /// The start.
    type Terms = Time;
    /// The first start that would be possible.
    type Counter = Time;
    type Order = ();
}

impl Windowed for Room {
    fn window(request: &Ask) -> (Time, Time) {
        request.window.unwrap_or_default()
    }

    fn within(request: &Ask, from: Time, until: Time) -> Ask {
        Ask { window: Some((from, until)), ..*request }
    }

    fn start(terms: &Time) -> Time {
        *terms
    }

    fn earliest(counter: &Time) -> Time {
        *counter
    }
}

pub(crate) fn procs(procs: u32) -> Ask {
    Ask { procs, length: Span::ZERO, window: None, urgent: false }
}

/// A group that somebody wants to start.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) coordinator: u32,
    /// In the order in which they are asked, where that is of importance.
    pub(crate) parts: Vec<(u32, Ask)>,
    pub(crate) at: Time,
    pub(crate) work: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) coordinators: u32,
    /// Processors of each participant.
    pub(crate) room: Vec<u32>,
    pub(crate) witnesses: u32,
    /// Whether a participant serves one agreement at a time.
    pub(crate) lock: bool,
    /// Time that a message takes: least and most.
    pub(crate) delay: (i64, i64),
    /// Delays that differ, for scripts: from, to.
    pub(crate) delays: BTreeMap<(u32, u32), i64>,
    /// Whether messages between two keep their order.
    pub(crate) fifo: bool,
    /// Time that an owner takes to answer: least and most.
    pub(crate) thinks: (i64, i64),
    /// Per thousand messages.
    pub(crate) loss: u64,
    pub(crate) copies: u64,
    /// Per thousand outputs.
    pub(crate) crash: u64,
    /// How long who crashed is down, at most.
    pub(crate) outage: i64,
    /// Who is cut off from all others, from when until when.
    pub(crate) partitions: Vec<(u32, i64, i64)>,
    /// Whoever crashes at a time of its own, and for how long.
    pub(crate) crashes: Vec<(u32, i64, i64)>,
    /// When losses and crashes end.
    pub(crate) calm: i64,
    pub(crate) jobs: Vec<Job>,
    /// How often a group is tried, and what lies between two tries.
    pub(crate) trials: u32,
    pub(crate) back_off: BackOff,
    /// What lies between two tries of a job, for scripts.
    pub(crate) pauses: BTreeMap<usize, i64>,
    /// Whether nobody may begin unless all hold; not if leases are shorter than faults.
    pub(crate) strict: bool,
}

impl Setup {
    /// Nothing goes wrong, messages take `delay`.
    pub(crate) fn calm(coordinators: u32, room: Vec<u32>, delay: i64) -> Setup {
        Setup {
            seed: 0,
            coordinators,
            room,
            witnesses: 0,
            lock: false,
            delay: (delay, delay),
            delays: BTreeMap::new(),
            fifo: true,
            thinks: (0, 0),
            loss: 0,
            copies: 0,
            crash: 0,
            outage: 0,
            partitions: Vec::new(),
            crashes: Vec::new(),
            calm: 0,
            jobs: Vec::new(),
            trials: 1,
            back_off: BackOff::None,
            pauses: BTreeMap::new(),
            strict: true,
        }
    }
}

pub(crate) fn coordinator(number: u32) -> ActorId {
    ActorId(number)
}

pub(crate) fn participant(number: u32) -> ActorId {
    ActorId(100 + number)
}

pub(crate) fn witness(number: u32) -> ActorId {
    ActorId(200 + number)
}

struct Side<P: Protocol, M: Machine<P>> {
    machine: Option<M>,
    records: Vec<M::Record>,
    timers: BTreeMap<M::Timer, (Time, u64)>,
}

impl<P: Protocol, M: Machine<P>> Side<P, M> {
    fn next_timer(&self) -> Option<(Time, u64, M::Timer)> {
        self.timers.iter().map(|(&timer, &(at, seq))| (at, seq, timer)).min()
    }
}

enum Event<M> {
    Deliver {
        from: ActorId,
        to: ActorId,
        message: M,
    },
    Answer(ActorId, AgreementId),
    Restart(ActorId),
    Crash(ActorId, Span),
    Open(usize),
    /// The work of a group that its coordinator ends.
    Close(ActorId, u64),
    /// The work of a part that its participant ends.
    Done(ActorId, AgreementId, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Asked,
    Held,
    Started,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) ask: Ask,
    start: Time,
    lease: Span,
    standing: Standing,
    /// Tells its work from that of a part with the same name that was given up.
    work: u64,
}

/// What became of an agreement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) job: usize,
    parts: BTreeMap<ActorId, Ask>,
    pub(crate) decided: Option<Time>,
    pub(crate) agreed: Option<Time>,
    pub(crate) failed: Option<Time>,
    pub(crate) broken: bool,
    /// Whose part has begun and was not taken back.
    carried: BTreeSet<ActorId>,
    /// Whose part came to its end: when it began, and by how much starts may differ.
    over: BTreeMap<ActorId, (Time, Span)>,
    /// When the last part began.
    pub(crate) all_carried: Option<Time>,
    /// Whether its coordinator crashed before it was over.
    orphaned: bool,
    closed: bool,
    pub(crate) terms: BTreeMap<ActorId, Time>,
}

pub(crate) struct Arena<P: Protocol<Subject = Room>> {
    setup: Setup,
    rules: P::Rules,
    pub(crate) now: Time,
    chance: u64,
    serial: u64,
    queue: BTreeMap<(Time, u8, u64), Event<P::Message>>,
    last: BTreeMap<(ActorId, ActorId), Time>,
    coordinators: BTreeMap<ActorId, Side<P, P::Coordinator>>,
    participants: BTreeMap<ActorId, Side<P, P::Participant>>,
    witnesses: BTreeMap<ActorId, Side<P, P::Witness>>,
    pub(crate) plans: BTreeMap<ActorId, BTreeMap<AgreementId, Part>>,
    /// What participants said that they hold, and have not given back or ended.
    promised: BTreeSet<(ActorId, AgreementId)>,
    watches: BTreeMap<(ActorId, AgreementId), (Ask, bool)>,
    /// Bookings that are there from the start: from, to, processors.
    pub(crate) busy: BTreeMap<ActorId, Vec<(Time, Time, u32)>>,
    pub(crate) groups: BTreeMap<AgreementId, Group>,
    tries: Vec<u32>,
    contention: Contention<usize>,
    pub(crate) findings: Vec<Finding<usize>>,
    pub(crate) account: Account,
    pub(crate) violation: Option<String>,
    pub(crate) log: Option<Vec<String>>,
}

impl<P: Protocol<Subject = Room>> Arena<P>
where
    P::Message: Payload,
{
    pub(crate) fn new(setup: Setup, rules: P::Rules) -> Arena<P> {
        let mut arena = Arena {
            rules,
            now: Time::ZERO,
            chance: setup.seed,
            serial: 0,
            queue: BTreeMap::new(),
            last: BTreeMap::new(),
            coordinators: BTreeMap::new(),
            participants: BTreeMap::new(),
            witnesses: BTreeMap::new(),
            plans: BTreeMap::new(),
            promised: BTreeSet::new(),
            watches: BTreeMap::new(),
            busy: BTreeMap::new(),
            groups: BTreeMap::new(),
            tries: vec![0; setup.jobs.len()],
            contention: Contention::new(setup.trials),
            findings: Vec::new(),
            account: Account::default(),
            violation: None,
            log: None,
            setup,
        };
        for number in 0..arena.setup.coordinators {
            let side = Side { machine: None, records: Vec::new(), timers: BTreeMap::new() };
            arena.coordinators.insert(coordinator(number), side);
            arena.restart(coordinator(number));
        }
        for number in 0..arena.setup.room.len() as u32 {
            let side = Side { machine: None, records: Vec::new(), timers: BTreeMap::new() };
            arena.participants.insert(participant(number), side);
            arena.plans.insert(participant(number), BTreeMap::new());
            arena.restart(participant(number));
        }
        for number in 0..arena.setup.witnesses {
            let side = Side { machine: None, records: Vec::new(), timers: BTreeMap::new() };
            arena.witnesses.insert(witness(number), side);
            arena.restart(witness(number));
        }
        for job in 0..arena.setup.jobs.len() {
            let Job { at, parts, .. } = &arena.setup.jobs[job];
            let asked = parts.iter().map(|it| participant(it.0)).collect();
            arena.contention.begins(job, asked);
            let at = *at;
            arena.schedule(at, Event::Open(job));
        }
        for (who, at, down) in arena.setup.crashes.clone() {
            let event = Event::Crash(ActorId(who), Span::from_micros(down));
            arena.schedule(Time::from_micros(at), event);
        }
        arena
    }

    /// Lets everything happen, within so many events.
    pub(crate) fn run(&mut self, limit: usize) {
        for _ in 0..limit {
            if self.violation.is_some() {
                return;
            }
            if !self.step() {
                self.check_end();
                return;
            }
        }
        self.violate(format!("it goes on after {limit} events"));
    }

    /// Lets everything happen until then.
    pub(crate) fn run_until(&mut self, end: Time) {
        while self.violation.is_none() && self.next_time().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    fn next_time(&self) -> Option<Time> {
        let timers = self.coordinators.values().filter_map(|it| Some(it.next_timer()?.0));
        let timers =
            timers.chain(self.participants.values().filter_map(|it| Some(it.next_timer()?.0)));
        let timers =
            timers.chain(self.witnesses.values().filter_map(|it| Some(it.next_timer()?.0)));
        let queued = self.queue.keys().next().map(|key| key.0);
        timers.chain(queued).min().filter(|&at| at < Time::FOREVER)
    }

    /// The messages of an instant come before its timers.
    fn step(&mut self) -> bool {
        let Some(at) = self.next_time() else { return false };
        self.now = at.max(self.now);
        if let Some((&key, _)) = self.queue.iter().next()
            && key.0 <= self.now
        {
            let event = self.queue.remove(&key).expect("it is there");
            self.handle(event);
            return true;
        }
        let first = |it: Option<(Time, u64)>| it.unwrap_or((Time::FOREVER, u64::MAX));
        let who = |timers: Vec<(Time, u64, ActorId)>| timers.into_iter().min();
        let of_coordinators = who(collect(&self.coordinators));
        let of_participants = who(collect(&self.participants));
        let of_witnesses = who(collect(&self.witnesses));
        let key = |it: &Option<(Time, u64, ActorId)>| first(it.map(|(at, seq, _)| (at, seq)));
        let least = key(&of_coordinators).min(key(&of_participants)).min(key(&of_witnesses));
        let now = self.now;
        if key(&of_coordinators) == least {
            let who = of_coordinators.expect("it is the first").2;
            let side = self.coordinators.get_mut(&who).expect("an actor");
            let (_, _, timer) = side.next_timer().expect("it is the first");
            side.timers.remove(&timer);
            let mut out = Vec::new();
            side.machine.as_mut().expect("it is up").on_timer(now, timer, &mut out);
            self.note(|| format!("{} wakes for {timer:?}", name(who)));
            self.coordinator_outputs(who, out);
        } else if key(&of_participants) == least {
            let who = of_participants.expect("it is the first").2;
            let side = self.participants.get_mut(&who).expect("an actor");
            let (_, _, timer) = side.next_timer().expect("it is the first");
            side.timers.remove(&timer);
            let mut out = Vec::new();
            side.machine.as_mut().expect("it is up").on_timer(now, timer, &mut out);
            self.note(|| format!("{} wakes for {timer:?}", name(who)));
            self.participant_outputs(who, out);
        } else {
            let who = of_witnesses.expect("it is the first").2;
            let side = self.witnesses.get_mut(&who).expect("an actor");
            let (_, _, timer) = side.next_timer().expect("it is the first");
            side.timers.remove(&timer);
            let mut out = Vec::new();
            side.machine.as_mut().expect("it is up").on_timer(now, timer, &mut out);
            self.note(|| format!("{} wakes for {timer:?}", name(who)));
            self.witness_outputs(who, out);
        }
        true
    }

    fn handle(&mut self, event: Event<P::Message>) {
        let now = self.now;
        match event {
            Event::Deliver { from, to, message } => self.deliver(from, to, message),
            Event::Answer(who, id) => {
                let mut out = Vec::new();
                self.answer(who, id, &mut out);
                self.participant_outputs(who, out);
            }
            Event::Restart(who) => self.restart(who),
            Event::Crash(who, down) => {
                if self.is_up(who) {
                    self.crash(who, down, &[]);
                }
            }
            Event::Open(job) => self.open(job),
            Event::Close(who, number) => {
                let mut out = Vec::new();
                let id = AgreementId { coordinator: who, number };
                let Some(machine) = &mut self.coordinators.get_mut(&who).expect("one").machine
                else {
                    // It is told again after its restart.
                    return;
                };
                machine.close(now, number, &mut out);
                self.groups.get_mut(&id).expect("a group").closed = true;
                self.note(|| format!("{} ends {number}", name(who)));
                self.coordinator_outputs(who, out);
            }
            Event::Done(who, id, work) => {
                let plan = self.plans.get_mut(&who).expect("a plan");
                if plan.get(&id).is_none_or(|part| part.work != work) {
                    return;
                }
                let part = plan.remove(&id).expect("it is there");
                self.promised.remove(&(who, id));
                if let Some(group) = self.groups.get_mut(&id) {
                    let tolerance = part.ask.window.map_or(Span::FOREVER, |it| it.1 - it.0);
                    group.over.insert(who, (part.start, tolerance));
                }
                let mut out = Vec::new();
                if let Some(machine) = &mut self.participants.get_mut(&who).expect("one").machine {
                    machine.over(now, id, &mut out);
                    machine.room_changed(now, &mut out);
                    self.participant_outputs(who, out);
                }
            }
        }
    }

    fn open(&mut self, job: usize) {
        let Job { coordinator: who, parts, .. } = self.setup.jobs[job].clone();
        let who = coordinator(who);
        let now = self.now;
        if !self.is_up(who) {
            // Its owner would know of it once it is back.
            self.schedule(now + Span::from_micros(self.setup.outage.max(1)), Event::Open(job));
            return;
        }
        let parts: Parts<Room> =
            parts.into_iter().map(|(part, ask)| (participant(part), ask)).collect();
        let mut out = Vec::new();
        let machine = self.coordinators.get_mut(&who).and_then(|it| it.machine.as_mut());
        let number = machine.expect("it is up").open(now, parts.clone(), &mut out);
        let number = number.expect("it is up");
        self.tries[job] += 1;
        let id = AgreementId { coordinator: who, number };
        let group = Group { job, parts: parts.into_iter().collect(), ..Group::default() };
        if self.groups.get(&id).is_some_and(|it| it.decided.is_some() || it.agreed.is_some()) {
            self.violate(format!("{id:?} is used twice"));
        }
        self.account.opened(now, id, group.parts.keys().copied().collect());
        self.groups.insert(id, group);
        self.note(|| format!("{} opens {number} for job {job}", name(who)));
        self.coordinator_outputs(who, out);
    }

    fn deliver(&mut self, from: ActorId, to: ActorId, message: P::Message) {
        let now = self.now;
        if !self.is_up(to) {
            return;
        }
        self.note(|| format!("{} > {} {}", name(from), name(to), spell(&message)));
        if let Some(side) = self.coordinators.get_mut(&to) {
            let mut out = Vec::new();
            side.machine.as_mut().expect("it is up").on_message(now, from, message, &mut out);
            self.coordinator_outputs(to, out);
        } else if let Some(side) = self.participants.get_mut(&to) {
            let mut out = Vec::new();
            side.machine.as_mut().expect("it is up").on_message(now, from, message, &mut out);
            self.participant_outputs(to, out);
        } else {
            let mut out = Vec::new();
            let side = self.witnesses.get_mut(&to).expect("an actor");
            side.machine.as_mut().expect("it is up").on_message(now, from, message, &mut out);
            self.witness_outputs(to, out);
        }
    }

    fn coordinator_outputs(&mut self, who: ActorId, out: Outputs<P, P::Coordinator>) {
        let mut queue = VecDeque::from(out);
        while let Some(output) = queue.pop_front() {
            if self.strikes(who, &[]) {
                return;
            }
            let side = self.coordinators.get_mut(&who).expect("an actor");
            match output {
                Output::Send { to, message } => self.send(who, to, message),
                Output::Persist(record) => side.records.push(by_wire(&record)),
                Output::Set { timer, at } => {
                    self.serial += 1;
                    side.timers.insert(timer, (at.max(self.now), self.serial));
                }
                Output::Stop(timer) => {
                    side.timers.remove(&timer);
                }
                Output::Tell(verdict) => self.on_verdict(who, verdict),
            }
        }
    }

    fn participant_outputs(&mut self, who: ActorId, out: Outputs<P, P::Participant>) {
        let mut queue = VecDeque::from(out);
        while let Some(output) = queue.pop_front() {
            let given_up: Vec<AgreementId> = std::iter::once(&output)
                .chain(&queue)
                .filter_map(|it| match it {
                    Output::Tell(Duty::GiveUp { id }) => Some(*id),
                    _ => None,
                })
                .collect();
            if self.strikes(who, &given_up) {
                return;
            }
            let side = self.participants.get_mut(&who).expect("an actor");
            match output {
                Output::Send { to, message } => {
                    if message.promises() {
                        let plan = &self.plans[&who];
                        let bound = side.machine.iter().flat_map(|it| it.bound());
                        if bound.into_iter().any(|it| it.id == message.id())
                            && plan.contains_key(&message.id())
                        {
                            self.promised.insert((who, message.id()));
                        }
                    }
                    self.send(who, to, message);
                }
                Output::Persist(record) => side.records.push(by_wire(&record)),
                Output::Set { timer, at } => {
                    self.serial += 1;
                    side.timers.insert(timer, (at.max(self.now), self.serial));
                }
                Output::Stop(timer) => {
                    side.timers.remove(&timer);
                }
                Output::Tell(duty) => {
                    let mut more = Vec::new();
                    self.on_duty(who, duty, &mut more);
                    queue.extend(more);
                }
            }
        }
        self.check_room(who);
        self.look_for_cycles();
        self.tell_watchers(who);
    }

    /// Nobody holds more than there is.
    fn check_room(&mut self, who: ActorId) {
        let bound = self.plans[&who].values().filter(|it| it.standing != Standing::Asked);
        let now: Vec<u32> =
            bound.filter(|it| it.ask.window.is_none()).map(|it| it.ask.procs).collect();
        let room = self.setup.room[(who.0 - 100) as usize];
        let full = if self.setup.lock { now.len() > 1 } else { now.iter().sum::<u32>() > room };
        if full {
            self.violate(format!("{} has {now:?} in {room}", name(who)));
        }
    }

    fn witness_outputs(&mut self, who: ActorId, out: Outputs<P, P::Witness>) {
        for output in out {
            if self.strikes(who, &[]) {
                return;
            }
            let side = self.witnesses.get_mut(&who).expect("an actor");
            match output {
                Output::Send { to, message } => self.send(who, to, message),
                Output::Persist(record) => side.records.push(by_wire(&record)),
                Output::Set { timer, at } => {
                    self.serial += 1;
                    side.timers.insert(timer, (at.max(self.now), self.serial));
                }
                Output::Stop(timer) => {
                    side.timers.remove(&timer);
                }
                Output::Tell(_) => {}
            }
        }
    }

    fn on_verdict(&mut self, who: ActorId, verdict: Verdict<Room>) {
        let now = self.now;
        self.note(|| format!("{} is told {verdict:?}", name(who)));
        let id = AgreementId { coordinator: who, number: verdict.number() };
        let Some(group) = self.groups.get_mut(&id) else {
            self.violate(format!("{verdict:?} is about nothing"));
            return;
        };
        let job = group.job;
        match verdict {
            Verdict::Decided { .. } => {
                group.decided.get_or_insert(now);
                self.account.decided(now, id);
                if group.failed.is_some() {
                    self.violate(format!("{id:?} is decided after it failed"));
                }
            }
            Verdict::Agreed { terms, .. } => {
                let again = group.agreed.is_some();
                group.agreed.get_or_insert(now);
                group.decided.get_or_insert(now);
                // Of candidates only those that were selected matter.
                group.parts.retain(|who, _| terms.is_empty() || terms.contains_key(who));
                group.terms = terms;
                let (failed, broken) = (group.failed.is_some(), group.broken);
                let parts: Vec<ActorId> = group.parts.keys().copied().collect();
                let carried = group.carried.clone();
                if failed || broken {
                    self.violate(format!("{id:?} is agreed on after it failed"));
                }
                if !again {
                    for part in parts {
                        let holds = self.plans[&part]
                            .get(&id)
                            .is_some_and(|it| it.standing != Standing::Asked);
                        if !holds && !carried.contains(&part) {
                            self.violate(format!(
                                "{id:?} is agreed on, {} holds nothing",
                                name(part)
                            ));
                        }
                    }
                    self.account.agreed(now, id);
                    self.contention.succeeded(job);
                }
                if P::TRAITS.closes {
                    let at = now + self.setup.jobs[job].work;
                    self.schedule(at, Event::Close(who, id.number));
                }
            }
            Verdict::Failed { .. } => {
                let undecided = group.decided.is_none() && group.agreed.is_none();
                let first = group.failed.replace(now).is_none();
                if !undecided {
                    self.violate(format!("{id:?} fails after it was decided"));
                }
                if first {
                    self.account.failed(now, id);
                    self.failed(job);
                }
            }
            Verdict::Broken { .. } => {
                group.broken = true;
                if self.setup.strict {
                    self.violate(format!("{id:?} is broken"));
                }
                self.account.failed(now, id);
                self.failed(job);
            }
        }
    }

    /// A try has failed: the owner tries again.
    fn failed(&mut self, job: usize) {
        let finding = self.contention.failed(self.now, job);
        self.findings.extend(finding);
        if self.tries[job] < self.setup.trials {
            let draw = self.below(u64::MAX);
            let drawn = self.setup.back_off.wait(self.tries[job], draw);
            let pause = self.setup.pauses.get(&job).map_or(drawn, |&it| Span::from_micros(it));
            self.schedule(self.now + pause, Event::Open(job));
        }
    }

    fn on_duty(&mut self, who: ActorId, duty: Duty<Room>, more: &mut Outputs<P, P::Participant>) {
        let now = self.now;
        self.note(|| format!("{} is told {duty:?}", name(who)));
        match duty {
            Duty::Consider { id, request, lease } => {
                if self.groups.get(&id).is_some_and(|it| it.over.contains_key(&who)) {
                    self.violate(format!("{} is to hold {id:?}, which is over", name(who)));
                }
                let standing = Standing::Asked;
                let part = Part { ask: request, start: now, lease, standing, work: 0 };
                self.plans.get_mut(&who).expect("a plan").entry(id).or_insert(part);
                let (least, most) = self.setup.thinks;
                if most == 0 {
                    self.answer(who, id, more);
                } else {
                    let thinks = least + self.below((most - least) as u64 + 1) as i64;
                    self.schedule(now + Span::from_micros(thinks), Event::Answer(who, id));
                }
            }
            Duty::CarryOut { id } => self.carry_out(who, id),
            Duty::GiveUp { id } => {
                self.promised.remove(&(who, id));
                self.plans.get_mut(&who).expect("a plan").remove(&id);
                self.account.given_up(now, who, id);
                if let Some(group) = self.groups.get_mut(&id) {
                    group.carried.remove(&who);
                    if group.agreed.is_some() && !group.broken && !group.closed {
                        self.violate(format!("{} gives up {id:?} after all agreed", name(who)));
                    }
                }
                let machine = self.participants.get_mut(&who).and_then(|it| it.machine.as_mut());
                machine.expect("it is up").room_changed(now, more);
            }
            Duty::Watch { id, request } => {
                let fits = self.fits(who, &request);
                self.watches.insert((who, id), (request, fits));
                self.say_available(who, id, fits, more);
            }
            Duty::Unwatch { id } => {
                self.watches.remove(&(who, id));
            }
        }
    }

    fn say_available(
        &mut self,
        who: ActorId,
        id: AgreementId,
        fits: bool,
        more: &mut Outputs<P, P::Participant>,
    ) {
        let now = self.now;
        let machine = self.participants.get_mut(&who).and_then(|it| it.machine.as_mut());
        machine.expect("it is up").available(now, id, fits, more);
    }

    /// Those whose watch has another answer now.
    fn tell_watchers(&mut self, who: ActorId) {
        if !self.is_up(who) {
            return;
        }
        let watched: Vec<(AgreementId, Ask, bool)> = self
            .watches
            .iter()
            .filter(|((it, _), _)| *it == who)
            .map(|(&(_, id), &(ask, fits))| (id, ask, fits))
            .collect();
        for (id, ask, before) in watched {
            let fits = self.fits(who, &ask);
            if fits != before && self.is_up(who) {
                self.watches.insert((who, id), (ask, fits));
                let mut out = Vec::new();
                self.say_available(who, id, fits, &mut out);
                self.participant_outputs(who, out);
            }
        }
    }

    fn carry_out(&mut self, who: ActorId, id: AgreementId) {
        let now = self.now;
        self.serial += 1;
        let work = self.serial;
        let Some(part) = self.plans.get_mut(&who).expect("a plan").get_mut(&id) else {
            self.violate(format!("{} carries out {id:?}, which it does not hold", name(who)));
            return;
        };
        if part.standing == Standing::Started {
            self.violate(format!("{} carries out {id:?} twice", name(who)));
            return;
        }
        (part.standing, part.work) = (Standing::Started, work);
        self.account.started(now, who, id);
        let start = part.start;
        let Some(group) = self.groups.get_mut(&id) else {
            self.violate(format!("{id:?} was never opened"));
            return;
        };
        group.carried.insert(who);
        if group.carried.len() == group.parts.len() {
            group.all_carried = Some(now);
        }
        let (job, failed) = (group.job, group.failed.is_some());
        let parts: Vec<ActorId> = group.parts.keys().copied().collect();
        let carried = group.carried.clone();
        if P::TRAITS.outcome == Outcome::Atomic {
            if failed {
                self.violate(format!("{} carries out {id:?}, which failed", name(who)));
            }
            for part in parts.into_iter().filter(|part| !carried.contains(part)) {
                let holds =
                    self.plans[&part].get(&id).is_some_and(|it| it.standing != Standing::Asked);
                if !holds && self.setup.strict {
                    self.violate(format!("{id:?} begins, but {} holds nothing", name(part)));
                }
            }
        }
        let end = start.max(now) + self.setup.jobs[job].work;
        self.schedule(end, Event::Done(who, id, work));
    }

    /// The owner of a participant says whether there is room.
    fn answer(&mut self, who: ActorId, id: AgreementId, out: &mut Outputs<P, P::Participant>) {
        let now = self.now;
        let Some(part) = self.plans[&who].get(&id).cloned() else { return };
        if part.standing != Standing::Asked || !self.is_up(who) {
            return;
        }
        if part.ask.urgent {
            self.put_out(who, &part.ask, out);
        }
        let start = self.first_start(who, &part.ask);
        let last = part.ask.window.map_or(now, |(_, until)| until);
        let plan = self.plans.get_mut(&who).expect("a plan");
        let side = self.participants.get_mut(&who).expect("an actor");
        let machine = side.machine.as_mut().expect("it is up");
        if start.is_some_and(|start| start <= last) {
            let start = start.expect("there is one");
            self.account.held(now, who, id, part.ask.procs);
            plan.insert(id, Part { start, standing: Standing::Held, ..part });
            machine.ready(now, id, start, part.lease, out);
        } else {
            plan.remove(&id);
            machine.not_ready(now, id, start.unwrap_or(Time::FOREVER), out);
        }
    }

    /// Takes what others hold, the largest first, if that is enough.
    fn put_out(&mut self, who: ActorId, ask: &Ask, out: &mut Outputs<P, P::Participant>) {
        let held = self.plans[&who].iter();
        let held = held.filter(|(_, it)| it.standing == Standing::Held && !it.ask.urgent);
        let mut held: Vec<(u32, AgreementId)> = held.map(|(&id, it)| (it.ask.procs, id)).collect();
        held.sort_unstable_by(|a, b| b.cmp(a));
        let before = self.plans[&who].clone();
        let mut victims = Vec::new();
        for (_, id) in held {
            if self.fits(who, ask) {
                break;
            }
            self.plans.get_mut(&who).expect("a plan").remove(&id);
            victims.push(id);
        }
        let enough = self.fits(who, ask);
        self.plans.insert(who, before);
        for id in victims.into_iter().filter(|_| enough) {
            let side = self.participants.get_mut(&who).expect("an actor");
            let machine = side.machine.as_mut().expect("it is up");
            if machine.preempt(self.now, id, out) {
                self.plans.get_mut(&who).expect("a plan").remove(&id);
                self.promised.remove(&(who, id));
                self.account.given_up(self.now, who, id);
            }
        }
    }

    fn fits(&self, who: ActorId, ask: &Ask) -> bool {
        self.first_start(who, ask) == Some(self.now)
    }

    /// The first instant from which on there is room.
    fn first_start(&self, who: ActorId, ask: &Ask) -> Option<Time> {
        let room = self.setup.room[(who.0 - 100) as usize];
        let bound = self.plans[&who].values().filter(|it| it.standing != Standing::Asked);
        let taken: Vec<(Time, Time, u32)> = match ask.window {
            None => bound.map(|it| (Time::ZERO, Time::FOREVER, it.ask.procs)).collect(),
            Some(_) => bound.map(|it| (it.start, it.start + it.ask.length, it.ask.procs)).collect(),
        };
        let busy = self.busy.get(&who).into_iter().flatten().copied();
        let taken: Vec<_> = taken.into_iter().chain(busy).collect();
        let Some((from, _)) = ask.window else {
            let used: u32 = taken.iter().map(|it| it.2).sum();
            let free = if self.setup.lock { taken.is_empty() } else { used + ask.procs <= room };
            return free.then_some(self.now);
        };
        let ends = taken.iter().map(|it| it.1).filter(|&end| end > from);
        let mut starts: Vec<Time> = std::iter::once(from).chain(ends).collect();
        starts.sort_unstable();
        starts.into_iter().find(|&start| {
            // Usage grows only where something begins.
            let end = start + ask.length;
            let inside = taken.iter().map(|it| it.0).filter(|&it| start < it && it < end);
            std::iter::once(start).chain(inside).all(|at| {
                let used: u32 =
                    taken.iter().filter(|it| it.0 <= at && at < it.1).map(|it| it.2).sum();
                used + ask.procs <= room
            })
        })
    }

    fn look_for_cycles(&mut self) {
        if !P::TRAITS.waits {
            return;
        }
        let job = |id: &AgreementId| self.groups.get(id).map(|group| group.job);
        for (&who, side) in &self.participants {
            let waits: Vec<_> = side.machine.iter().flat_map(|it| it.waits()).collect();
            let edges = waits.iter().filter_map(|(who, whom)| Some((job(who)?, job(whom)?)));
            self.findings.extend(self.contention.waits(self.now, who, edges));
        }
    }

    fn send(&mut self, from: ActorId, to: ActorId, message: P::Message) {
        self.account.sent(message.id(), message.kind());
        let message = by_wire(&message);
        let cut = |(who, since, until): &(u32, i64, i64)| {
            let now = self.now.as_micros();
            (from.0 == *who || to.0 == *who) && (*since..*until).contains(&now)
        };
        let parted = self.setup.partitions.iter().any(cut);
        if parted || self.unlucky(self.setup.loss) {
            self.note(|| format!("{} > {} {} is lost", name(from), name(to), spell(&message)));
            return;
        }
        let times = if self.unlucky(self.setup.copies) { 2 } else { 1 };
        for copy in 0..times {
            let (least, most) = self.setup.delay;
            let mut drawn = least + self.below((most - least) as u64 + 1) as i64;
            if copy > 0 && !self.setup.fifo {
                // It may come when all is long over.
                drawn *= 1 + self.below(20) as i64;
            }
            let delay = self.setup.delays.get(&(from.0, to.0)).copied().unwrap_or(drawn);
            let mut at = self.now + Span::from_micros(delay);
            if self.setup.fifo {
                let last = self.last.entry((from, to)).or_default();
                at = at.max(*last);
                *last = at;
            }
            self.serial += 1;
            let event = Event::Deliver { from, to, message: message.clone() };
            self.queue.insert((at, 0, self.serial), event);
        }
    }

    fn schedule(&mut self, at: Time, event: Event<P::Message>) {
        self.serial += 1;
        // An owner that has made up its mind has done so before it is asked again.
        let class = if matches!(event, Event::Answer(..)) { 0 } else { 1 };
        self.queue.insert((at, class, self.serial), event);
    }

    /// Whether something of so many in a thousand happens, while there are faults.
    fn unlucky(&mut self, permille: u64) -> bool {
        permille > 0 && self.now.as_micros() < self.setup.calm && self.below(1000) < permille
    }

    /// A number below this, by SplitMix64.
    fn below(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut drawn = self.chance;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (drawn ^ (drawn >> 31)) % end.max(1)
    }

    fn is_up(&self, who: ActorId) -> bool {
        self.coordinators.get(&who).is_some_and(|it| it.machine.is_some())
            || self.participants.get(&who).is_some_and(|it| it.machine.is_some())
            || self.witnesses.get(&who).is_some_and(|it| it.machine.is_some())
    }

    /// Whether the actor is down: it may crash before each of its outputs.
    fn strikes(&mut self, who: ActorId, given_up: &[AgreementId]) -> bool {
        if self.is_up(who) && self.unlucky(self.setup.crash) {
            let down = 1 + self.below(self.setup.outage.max(1) as u64) as i64;
            self.crash(who, Span::from_micros(down), given_up);
        }
        !self.is_up(who)
    }

    fn crash(&mut self, who: ActorId, down: Span, given_up: &[AgreementId]) {
        self.note(|| format!("{} crashes", name(who)));
        self.account.crashed(self.now, who);
        if let Some(side) = self.coordinators.get_mut(&who) {
            (side.machine, side.timers) = (None, BTreeMap::new());
            let mine = |id: &AgreementId| id.coordinator == who;
            for (_, group) in self.groups.iter_mut().filter(|(id, _)| mine(id)) {
                group.orphaned |= group.agreed.is_none();
            }
        } else if let Some(side) = self.participants.get_mut(&who) {
            (side.machine, side.timers) = (None, BTreeMap::new());
            self.watches.retain(|(it, _), _| *it != who);
            // What was on record as given up, but not carried out any more.
            for &id in given_up {
                self.promised.remove(&(who, id));
            }
        } else if let Some(side) = self.witnesses.get_mut(&who) {
            (side.machine, side.timers) = (None, BTreeMap::new());
        }
        self.schedule(self.now + down, Event::Restart(who));
    }

    fn restart(&mut self, who: ActorId) {
        let now = self.now;
        if now > Time::ZERO {
            self.note(|| format!("{} restarts", name(who)));
        }
        let rules = self.rules.clone();
        if let Some(side) = self.coordinators.get_mut(&who) {
            let mut out = Vec::new();
            // What is over may be left out at any time.
            side.records = Record::compact(std::mem::take(&mut side.records));
            let records = side.records.clone();
            side.machine = Some(P::Coordinator::start(who, &rules, records, now, &mut out));
            self.coordinator_outputs(who, out);
        } else if let Some(side) = self.participants.get_mut(&who) {
            let mut out = Vec::new();
            // What is over may be left out at any time.
            side.records = Record::compact(std::mem::take(&mut side.records));
            let records = side.records.clone();
            let machine = P::Participant::start(who, &rules, records, now, &mut out);
            let bound = machine.bound();
            side.machine = Some(machine);
            self.recall(who, bound.clone());
            let plan = &self.plans[&who];
            let over = bound.iter().filter(|it| it.started && !plan.contains_key(&it.id));
            let machine = self.participants.get_mut(&who).and_then(|it| it.machine.as_mut());
            let machine = machine.expect("it is up");
            over.for_each(|it| machine.over(now, it.id, &mut out));
            self.participant_outputs(who, out);
        } else {
            let mut out = Vec::new();
            let side = self.witnesses.get_mut(&who).expect("an actor");
            // What is over may be left out at any time.
            side.records = Record::compact(std::mem::take(&mut side.records));
            let records = side.records.clone();
            side.machine = Some(P::Witness::start(who, &rules, records, now, &mut out));
            self.witness_outputs(who, out);
        }
    }

    /// What an owner knows after a restart: what runs, and what the machine says it is bound to.
    fn recall(&mut self, who: ActorId, bound: Vec<haggle_agreements::protocol::Bound<Room>>) {
        let now = self.now;
        let plan = self.plans.get_mut(&who).expect("a plan");
        let before = plan.clone();
        plan.retain(|id, part| {
            part.standing == Standing::Started || bound.iter().any(|it| it.id == *id)
        });
        plan.retain(|_, part| part.standing != Standing::Asked);
        let mut carried_out = Vec::new();
        for it in &bound {
            match plan.get(&it.id) {
                // A crash came between the record and the work.
                Some(part) if it.started && part.standing == Standing::Held => {
                    carried_out.push(it.id);
                }
                Some(_) => {}
                None if it.started => {}
                // A crash came before the record that it was given to somebody else.
                None => {
                    let ask = it.request.expect("it was asked for");
                    let (lease, standing) = (Span::FOREVER, Standing::Held);
                    let part = Part { ask, start: now, lease, standing, work: 0 };
                    plan.insert(it.id, part);
                }
            }
        }
        for id in before.into_keys().filter(|id| !self.plans[&who].contains_key(id)) {
            self.account.given_up(now, who, id);
        }
        let forgotten = |&&(it, id): &&(ActorId, AgreementId)| {
            it == who
                && !self.plans[&who].contains_key(&id)
                && !bound.iter().any(|bound| bound.id == id)
        };
        if let Some((_, id)) = self.promised.iter().find(forgotten) {
            let line = format!("{} has forgotten {id:?}", name(who));
            self.violate(line);
        }
        for id in carried_out {
            self.carry_out(who, id);
        }
    }

    fn check_end(&mut self) {
        let open: Vec<String> = self
            .coordinators
            .iter()
            .filter_map(|(who, side)| Some((who, side.machine.as_ref()?.open_numbers())))
            .filter(|(_, numbers)| !numbers.is_empty())
            .map(|(who, numbers)| format!("{} has {numbers:?} open", name(*who)))
            .collect();
        if !open.is_empty() {
            self.violate(format!("at the end {open:?}"));
        }
        let held = self.plans.iter().find_map(|(who, plan)| {
            let held = plan.iter().find(|(_, part)| part.standing != Standing::Started);
            held.map(|(id, part)| format!("{} has {id:?} as {part:?} at the end", name(*who)))
        });
        if let Some(held) = held {
            self.violate(held);
        }
        let silent =
            |it: &&Group| it.agreed.is_none() && it.failed.is_none() && !it.broken && !it.orphaned;
        if let Some(group) = self.groups.values().find(silent) {
            let line = format!("nobody was told what became of {group:?}");
            self.violate(line);
        }
        if P::TRAITS.closes {
            return;
        }
        let groups: Vec<(AgreementId, Group)> =
            self.groups.iter().map(|(&id, it)| (id, it.clone())).collect();
        for (id, group) in groups {
            let (count, all) = (group.carried.len(), group.parts.len());
            let excused = P::TRAITS.outcome == Outcome::Orphans && group.orphaned;
            // What has come to its end before it could be taken back cannot be.
            let ran = |who: &ActorId| group.over.contains_key(who);
            let too_late = P::TRAITS.outcome != Outcome::Atomic && group.carried.iter().all(ran);
            let whole = count == 0 || count == all || too_late;
            let told = (group.agreed.is_none() || group.broken || count == all)
                && (group.failed.is_none() || count == 0 || too_late);
            if !excused && (!whole || !told) {
                self.violate(format!("{id:?} ends with {count} of {all} as {group:?}"));
            }
            self.check_starts(id, &group);
        }
    }

    /// Parts that came to their end began together.
    fn check_starts(&mut self, id: AgreementId, group: &Group) {
        let starts = || group.over.values().map(|&(start, _)| start);
        let tolerance = group.over.values().map(|&(_, tolerance)| tolerance).min();
        if let (Some(first), Some(last), Some(tolerance)) =
            (starts().min(), starts().max(), tolerance)
            && last - first > tolerance
        {
            self.violate(format!("{id:?} ran from {first} and from {last} on"));
        }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.account.messages()
    }

    pub(crate) fn agreed(&self) -> usize {
        self.groups.values().filter(|it| it.agreed.is_some()).count()
    }

    pub(crate) fn violate(&mut self, line: String) {
        let now = self.now.as_micros();
        self.violation.get_or_insert(format!("{now} {line}"));
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now.as_micros();
        if let Some(log) = &mut self.log {
            log.push(format!("{now} {}", line()));
        }
    }
}

fn collect<P: Protocol, M: Machine<P>>(
    sides: &BTreeMap<ActorId, Side<P, M>>,
) -> Vec<(Time, u64, ActorId)> {
    let timer = |(&who, side): (&ActorId, &Side<P, M>)| {
        side.next_timer().map(|(at, seq, _)| (at, seq, who))
    };
    sides.iter().filter_map(timer).collect()
}

/// A record as it comes back from a file, a message as it arrives.
fn by_wire<T: Payload>(it: &T) -> T {
    let text = serde_json::to_string(it).expect("it can be written");
    serde_json::from_str(&text).expect("it can be read")
}

fn name(who: ActorId) -> String {
    match who.0 {
        number @ 0..100 => format!("c{number}"),
        number @ 100..200 => format!("p{}", number - 100),
        number => format!("w{}", number - 200),
    }
}

fn spell(message: &impl Message) -> String {
    let AgreementId { coordinator, number } = message.id();
    format!("{} {}.{number}", message.kind(), name(coordinator))
}
