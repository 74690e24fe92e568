//! Coordinators and participants around a channel that loses, repeats, delays and reorders,
//! on machines that crash between any two outputs. What must hold is looked at after each.
//!
//! Nothing here is random: who runs a world chooses among its [`Move`]s.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use haggle_agreements::protocol::Machine;
use haggle_agreements::{
    AgreementId, Answer, Coordinator, CoordinatorOutput, CoordinatorRecord, CoordinatorState,
    CoordinatorTimer, InDoubt, Instruction, Output, Participant, ParticipantOutput,
    ParticipantRecord, ParticipantState, Progress, Rules, Subject, Task, ToCoordinator,
    ToParticipant,
};
use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What is agreed on: a thing by its number, in all messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thing;

impl Subject for Thing {
    type Request = u8;
    type Terms = u8;
    type Counter = u8;
    type Order = u8;
}

/// Faults that may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    pub(crate) losses: u8,
    pub(crate) copies: u8,
    /// Messages that take as long as they like.
    pub(crate) delays: u8,
    pub(crate) crashes: u8,
}

/// What does not change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    pub(crate) coordinators: u32,
    /// Holds and shares each participant has room for.
    pub(crate) room: Vec<usize>,
    /// Whether a participant takes, late, what it has room for.
    pub(crate) takes_late: bool,
    /// Whether participants take time to answer.
    pub(crate) thinks: bool,
    pub(crate) rules: Rules,
    /// Time that participant 10 takes off the lease it is asked for.
    pub(crate) shorter: Span,
    /// How long a message takes at most, unless it is delayed.
    pub(crate) transit: Span,
    /// How long who crashed is down at most.
    pub(crate) outage: Span,
    pub(crate) faults: Faults,
    /// Agreements to open, by coordinator, with their participants.
    pub(crate) agreements: Vec<(u32, Vec<u32>)>,
}

impl Setup {
    /// Whether nobody may be left out at any time: a commit never takes longer than the margin,
    /// or whoever is in doubt waits.
    pub(crate) fn is_strict(&self) -> bool {
        self.rules.in_doubt != InDoubt::Release || self.needed() <= self.rules.margin
    }

    /// How long it takes at most until a commit has arrived.
    pub(crate) fn needed(&self) -> Span {
        let Faults { losses, delays, crashes, .. } = self.faults;
        let retry = self.rules.retry.unwrap_or(Span::ZERO).max(Span::TICK);
        // A crash takes what arrives while somebody is down, and what was under way then.
        let crash = self.outage + self.transit + retry;
        let lost = retry * i64::from(losses + delays);
        // Who thinks, and who repeats at a timer, may do so after the timers of an instant, and
        // a lease that ends in that instant is over by then.
        let after_timers = self.thinks || losses + delays + crashes > 0;
        let instant = if after_timers { Span::TICK } else { Span::ZERO };
        lost + crash * i64::from(crashes) + self.transit + instant
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Body {
    Down(ToParticipant<Thing>),
    Up(ToCoordinator<Thing>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Flying {
    /// When it is there at the latest.
    latest: Time,
    from: ActorId,
    to: ActorId,
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Timer {
    Coordinator(ActorId, CoordinatorTimer),
    Participant(ActorId, AgreementId),
}

/// An actor: a machine that is lost in a crash, and records that are not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Side<M, R> {
    machine: Option<M>,
    records: Vec<R>,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Open,
    /// At once, or as late as may be.
    Deliver(usize, bool),
    Fire(Timer),
    /// The owner of a participant has made up its mind.
    Answer(ActorId, AgreementId),
    /// In the instant of the crash, or as late as may be.
    Restart(ActorId, bool),
    Lose(usize),
    Copy(usize),
    Delay(usize),
    Crash(ActorId),
}

impl Move {
    pub(crate) fn is_fault(self) -> bool {
        matches!(self, Move::Lose(_) | Move::Copy(_) | Move::Delay(_) | Move::Crash(_))
    }
}

/// What a participant's owner does about an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// It thinks about what it is asked to hold for so long.
    Asked(u8, Span),
    Held,
    CarriedOut,
    /// It thinks about a commit that is too late.
    Late(u8),
}

impl Part {
    /// What follows from a state.
    fn of(state: &ParticipantState<Thing>) -> Option<Part> {
        match state {
            ParticipantState::Asked { request, .. } => Some(Part::Asked(*request, Span::ZERO)),
            ParticipantState::Held(_) => Some(Part::Held),
            ParticipantState::Committed { .. } => Some(Part::CarriedOut),
            ParticipantState::Late(order) => Some(Part::Late(*order)),
            ParticipantState::Refused(_) | ParticipantState::Lapsed | ParticipantState::Over => {
                None
            }
        }
    }
}

/// How far a participant has come in an agreement, by its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Standing {
    Refused,
    Held,
    Committed,
    Lapsed,
    Over,
}

/// What is on record of an agreement, for those who look on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Ledger {
    parts: BTreeSet<ActorId>,
    /// Whether anybody was told of it.
    spoken_of: bool,
    committed: bool,
    undone: bool,
    told: Option<Fate>,
    /// Who has dealt with an abort.
    aborted: BTreeSet<ActorId>,
    standing: BTreeMap<ActorId, Standing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Aborted,
    Committed,
    Broken,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) setup: Rc<Setup>,
    now: Time,
    faults: Faults,
    to_open: usize,
    coordinators: BTreeMap<ActorId, Side<Coordinator<Thing>, CoordinatorRecord<Thing>>>,
    participants: BTreeMap<ActorId, Side<Participant<Thing>, ParticipantRecord<Thing>>>,
    /// What participants hold and carry out, as they were told.
    plans: BTreeMap<ActorId, BTreeMap<AgreementId, Part>>,
    flying: Vec<Flying>,
    timers: BTreeMap<Timer, Time>,
    ledgers: BTreeMap<AgreementId, Ledger>,
    /// The first thing that must not be.
    pub(crate) violation: Option<String>,
    /// All that happened, if somebody wants to read it.
    pub(crate) log: Option<Vec<String>>,
    /// Lines that go wrong, for scripts: a message is lost, or whoever does this crashes
    /// and is down for so long.
    pub(crate) script: Vec<(&'static str, Option<Span>)>,
    /// Until when who crashed is down at most.
    down: BTreeMap<ActorId, Time>,
}

pub(crate) fn coordinator(number: u32) -> ActorId {
    ActorId(number)
}

pub(crate) fn participant(number: u32) -> ActorId {
    ActorId(10 + number)
}

enum Handled {
    Coordinator(ActorId, Vec<CoordinatorOutput<Thing>>),
    Participant(ActorId, Vec<ParticipantOutput<Thing>>),
}

impl World {
    pub(crate) fn new(setup: Setup) -> World {
        let mut world = World {
            now: Time::ZERO,
            faults: setup.faults,
            to_open: 0,
            coordinators: BTreeMap::new(),
            participants: BTreeMap::new(),
            plans: BTreeMap::new(),
            flying: Vec::new(),
            timers: BTreeMap::new(),
            ledgers: BTreeMap::new(),
            violation: None,
            log: None,
            script: Vec::new(),
            down: BTreeMap::new(),
            setup: Rc::new(setup),
        };
        for number in 0..world.setup.coordinators {
            let side = Side { machine: None, records: Vec::new() };
            world.coordinators.insert(coordinator(number), side);
            world.restart(coordinator(number), usize::MAX);
        }
        for number in 0..world.setup.room.len() as u32 {
            let side = Side { machine: None, records: Vec::new() };
            world.participants.insert(participant(number), side);
            world.restart(participant(number), usize::MAX);
        }
        world
    }

    /// Tells worlds apart. What waits in the channel is in no order.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut flying: Vec<u64> = self.flying.iter().map(hash).collect();
        flying.sort_unstable();
        let clock = (self.now, self.faults, self.to_open);
        let machines = (&self.coordinators, &self.participants, &self.plans);
        hash(&(clock, machines, flying, &self.timers, &self.down, &self.ledgers))
    }

    /// All that can happen; what happens without faults comes first.
    pub(crate) fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        let first_timer = self.timers.values().min().copied().unwrap_or(Time::FOREVER);
        let first_message = self.flying.iter().map(|it| it.latest).min().unwrap_or(Time::FOREVER);
        let first_back = self.down.values().min().copied().unwrap_or(Time::FOREVER);
        // Time passes to what comes first: an instant's messages before its timers.
        let first = first_timer.min(first_message).min(first_back);
        let may_wait = |until: Time| until == first && until > self.now && until < Time::FOREVER;
        if let Some(&(who, _)) = self.setup.agreements.get(self.to_open)
            && !self.down.contains_key(&coordinator(who))
        {
            moves.push(Move::Open);
        }
        for (place, it) in self.flying.iter().enumerate() {
            moves.push(Move::Deliver(place, false));
            if may_wait(it.latest) {
                moves.push(Move::Deliver(place, true));
            }
        }
        for (&who, plan) in &self.plans {
            let asked = |part: &Part| matches!(part, Part::Asked(..) | Part::Late(_));
            let asked = plan.iter().filter(|(_, part)| asked(part));
            moves.extend(asked.map(|(&id, _)| Move::Answer(who, id)));
        }
        if first_timer == first && first_timer < first_message {
            let due = self.timers.iter().filter(|&(_, &at)| at == first);
            moves.extend(due.map(|(&timer, _)| Move::Fire(timer)));
        }
        for (&who, &at) in &self.down {
            if at <= self.now || at == self.now + self.setup.outage {
                moves.push(Move::Restart(who, false));
            }
            if may_wait(at) {
                moves.push(Move::Restart(who, true));
            }
        }
        for (place, it) in self.flying.iter().enumerate() {
            if self.faults.losses > 0 {
                moves.push(Move::Lose(place));
            }
            if self.faults.copies > 0 {
                moves.push(Move::Copy(place));
            }
            if self.faults.delays > 0 && it.latest < Time::FOREVER {
                moves.push(Move::Delay(place));
            }
        }
        if self.faults.crashes > 0 {
            moves.extend(self.actors().filter(|who| !self.down.contains_key(who)).map(Move::Crash));
        }
        moves
    }

    /// What happens without further faults if everything takes as long as it may; nothing when
    /// all is over.
    pub(crate) fn on_time(&self) -> Option<Move> {
        let moves = self.moves();
        let rank = |it: &&Move| match it {
            Move::Open | Move::Answer(..) => 0,
            Move::Deliver(place, _) if self.flying[*place].latest <= self.now => 1,
            Move::Deliver(_, true) => 2,
            Move::Restart(who, late) if *late || self.down[who] <= self.now => 3,
            Move::Fire(_) => 4,
            Move::Deliver(place, _) if self.flying[*place].latest == Time::FOREVER => 5,
            _ => 6,
        };
        moves.iter().filter(|it| !it.is_fault() && rank(it) < 6).min_by_key(rank).copied()
    }

    /// Lets all happen that is still to come, on time, within so many moves.
    pub(crate) fn run_out(&mut self, limit: usize) {
        for _ in 0..limit {
            let Some(it) = self.on_time() else {
                self.check_end();
                return;
            };
            self.make(it, usize::MAX);
        }
        self.violation.get_or_insert(format!("it goes on after {limit} moves"));
    }

    /// Makes a move. Whoever acts crashes after `outputs` of what it puts out; returns how many
    /// it carried out.
    pub(crate) fn make(&mut self, it: Move, outputs: usize) -> usize {
        match it {
            Move::Open => self.open(outputs),
            Move::Deliver(place, late) => {
                let message = self.flying.remove(place);
                if late {
                    self.pass_time(message.latest);
                }
                self.deliver(message, outputs)
            }
            Move::Answer(who, id) => {
                let mut out = Vec::new();
                self.answer(who, id, &mut out);
                self.carry_out(Handled::Participant(who, out), outputs)
            }
            Move::Fire(timer) => {
                let at = self.timers.remove(&timer).expect("it is set");
                self.pass_time(at);
                self.fire(timer, outputs)
            }
            Move::Restart(who, late) => {
                let at = self.down[&who];
                if late {
                    self.pass_time(at);
                }
                self.restart(who, outputs)
            }
            Move::Lose(place) => {
                self.flying.remove(place);
                self.faults.losses -= 1;
                0
            }
            Move::Copy(place) => {
                let copy = self.flying[place].clone();
                self.flying.insert(place, copy);
                self.faults.copies -= 1;
                0
            }
            Move::Delay(place) => {
                self.flying[place].latest = Time::FOREVER;
                self.faults.delays -= 1;
                0
            }
            Move::Crash(who) => {
                self.crash(who);
                0
            }
        }
    }

    pub(crate) fn may_crash(&self) -> bool {
        self.faults.crashes > 0
    }

    fn actors(&self) -> impl Iterator<Item = ActorId> {
        self.coordinators.keys().chain(self.participants.keys()).copied()
    }

    fn is_up(&self, who: ActorId) -> bool {
        !self.down.contains_key(&who)
    }

    fn pass_time(&mut self, to: Time) {
        if to <= self.now {
            return;
        }
        for (&who, side) in &self.participants {
            for (id, state) in side.machine.iter().flat_map(|it| it.states()) {
                let ParticipantState::Held(hold) = state else { continue };
                if hold.in_doubt == InDoubt::Release && hold.until < to {
                    self.violation.get_or_insert(format!("{who} {id:?} outlives its lease"));
                }
            }
        }
        self.now = to;
    }

    fn open(&mut self, outputs: usize) -> usize {
        let (who, parts) = self.setup.agreements[self.to_open].clone();
        self.to_open += 1;
        let parts: BTreeSet<ActorId> = parts.into_iter().map(participant).collect();
        let requests = parts.iter().map(|&part| (part, part.0 as u8)).collect();
        let (who, mut out) = (coordinator(who), Vec::new());
        let machine = self.coordinators.get_mut(&who).and_then(|side| side.machine.as_mut());
        let machine = machine.expect("who opens is up");
        let number = machine.open(self.now, requests, self.setup.rules, &mut out);
        let id = AgreementId { coordinator: who, number };
        let ledger = Ledger { parts, ..Ledger::default() };
        if self.ledgers.insert(id, ledger).is_some_and(|before| before.spoken_of) {
            self.violation.get_or_insert(format!("{id:?} is used twice"));
        }
        self.carry_out(Handled::Coordinator(who, out), outputs)
    }

    fn deliver(&mut self, message: Flying, outputs: usize) -> usize {
        let Flying { from, to, body, .. } = message;
        if !self.is_up(to) {
            return 0;
        }
        let now = self.now;
        self.note(format!("{} {}", tick(now), spell(from, to, &body)));
        match body {
            Body::Down(message) => {
                let mut out = Vec::new();
                let abort = (message.instruction == Instruction::Abort).then_some(message.id);
                self.participant(to).on_message(now, from, message, &mut out);
                let carried_out = self.carry_out(Handled::Participant(to, out), outputs);
                if let Some(id) = abort
                    && self.is_up(to)
                {
                    self.ledgers.entry(id).or_default().aborted.insert(to);
                }
                carried_out
            }
            Body::Up(message) => {
                let mut out = Vec::new();
                self.coordinator(to).on_message(now, from, message, &mut out);
                self.carry_out(Handled::Coordinator(to, out), outputs)
            }
        }
    }

    fn fire(&mut self, timer: Timer, outputs: usize) -> usize {
        let now = self.now;
        match timer {
            Timer::Coordinator(who, timer) => {
                let mut out = Vec::new();
                self.coordinator(who).on_timer(now, timer, &mut out);
                self.carry_out(Handled::Coordinator(who, out), outputs)
            }
            Timer::Participant(who, id) => {
                let mut out = Vec::new();
                self.participant(who).on_timer(now, id, &mut out);
                self.carry_out(Handled::Participant(who, out), outputs)
            }
        }
    }

    fn coordinator(&mut self, who: ActorId) -> &mut Coordinator<Thing> {
        self.coordinators.get_mut(&who).and_then(|it| it.machine.as_mut()).expect("it is up")
    }

    fn participant(&mut self, who: ActorId) -> &mut Participant<Thing> {
        self.participants.get_mut(&who).and_then(|it| it.machine.as_mut()).expect("it is up")
    }

    fn crash(&mut self, who: ActorId) {
        self.note(format!("{} {} crashes", tick(self.now), name(who)));
        self.faults.crashes = self.faults.crashes.saturating_sub(1);
        self.down.insert(who, self.now + self.setup.outage);
        self.timers.retain(|timer, _| match timer {
            Timer::Coordinator(it, _) | Timer::Participant(it, _) => *it != who,
        });
        match self.coordinators.get_mut(&who) {
            Some(side) => side.machine = None,
            None => {
                self.participants.get_mut(&who).expect("an actor").machine = None;
                self.plans.remove(&who);
            }
        }
    }

    fn restart(&mut self, who: ActorId, outputs: usize) -> usize {
        let now = self.now;
        self.down.remove(&who);
        let handled = if let Some(side) = self.coordinators.get_mut(&who) {
            let mut out = Vec::new();
            let records = side.records.iter().map(by_wire);
            side.machine = Some(Coordinator::start(who, &(), records.collect(), now, &mut out));
            Handled::Coordinator(who, out)
        } else {
            let side = self.participants.get_mut(&who).expect("an actor");
            let mut out = Vec::new();
            let records = side.records.iter().map(by_wire);
            let machine =
                side.machine.insert(Participant::start(who, &(), records.collect(), now, &mut out));
            let plan = machine.states().filter_map(|(id, state)| Some((id, Part::of(state)?)));
            self.plans.insert(who, plan.collect());
            Handled::Participant(who, out)
        };
        if now > Time::ZERO {
            self.note(format!("{} {} restarts", tick(now), name(who)));
        }
        self.carry_out(handled, outputs)
    }

    /// Carries out at most so many outputs, those of the owner's answers among them, and
    /// crashes if there are more.
    fn carry_out(&mut self, handled: Handled, outputs: usize) -> usize {
        let mut carried_out = 0;
        match handled {
            Handled::Coordinator(who, out) => {
                let mut queue = VecDeque::from(out);
                while let Some(output) = queue.pop_front() {
                    if carried_out == outputs || !self.is_up(who) {
                        self.crash_if_up(who);
                        return carried_out;
                    }
                    carried_out += 1;
                    queue.extend(self.coordinator_output(who, output));
                }
            }
            Handled::Participant(who, out) => {
                let mut queue = VecDeque::from(out);
                while let Some(output) = queue.pop_front() {
                    if carried_out == outputs || !self.is_up(who) {
                        self.crash_if_up(who);
                        return carried_out;
                    }
                    carried_out += 1;
                    queue.extend(self.participant_output(who, output));
                }
                self.check_plan(who);
            }
        }
        carried_out
    }

    fn crash_if_up(&mut self, who: ActorId) {
        if self.is_up(who) {
            self.crash(who);
        }
    }

    fn send(&mut self, from: ActorId, to: ActorId, body: Body) {
        let latest = self.now + self.setup.transit;
        let line = spell(from, to, &body);
        if self.strikes(&line).is_some() {
            self.note(format!("{} {line} is lost", tick(self.now)));
        } else {
            // Scripts send everything as text.
            let body = if self.log.is_some() { by_wire(&body) } else { body };
            self.flying.push(Flying { latest, from, to, body });
            self.flying.sort_by_key(|it| it.latest);
        }
    }

    fn coordinator_output(
        &mut self,
        who: ActorId,
        output: CoordinatorOutput<Thing>,
    ) -> Vec<CoordinatorOutput<Thing>> {
        let mut more = Vec::new();
        match output {
            Output::Send { to, message } => {
                let ledger = self.ledgers.entry(message.id).or_default();
                ledger.spoken_of = true;
                let guarded = match message.instruction {
                    Instruction::Commit(order) => ledger.committed && u32::from(order) == to.0,
                    Instruction::Undo => ledger.undone,
                    Instruction::Abort => {
                        !ledger.committed
                            || ledger.standing.get(&to) == Some(&Standing::Committed)
                            || ledger.undone
                    }
                    Instruction::Prepare { .. } => true,
                };
                let body = Body::Down(message);
                if !guarded {
                    let line = format!("{} is not on record", spell(who, to, &body));
                    self.violation.get_or_insert(line);
                }
                self.send(who, to, body);
            }
            Output::Persist(record) => {
                self.on_decision(who, &record);
                let word = match &record {
                    CoordinatorRecord::Reserved(_) => "numbers".to_owned(),
                    CoordinatorRecord::Entered(number, CoordinatorState::Undoing { .. }) => {
                        format!("undo {number}")
                    }
                    CoordinatorRecord::Entered(number, _) => format!("commit {number}"),
                    CoordinatorRecord::Over(number) => format!("over {number}"),
                };
                self.coordinators.get_mut(&who).expect("an actor").records.push(record);
                self.happens(who, &format!("persists {word}"));
            }
            Output::Set { timer, at } => {
                self.timers.insert(Timer::Coordinator(who, timer), at);
            }
            Output::Stop(timer) => {
                self.timers.remove(&Timer::Coordinator(who, timer));
            }
            Output::Tell(progress) => self.on_progress(who, progress, &mut more),
        }
        self.check();
        more
    }

    fn on_progress(
        &mut self,
        who: ActorId,
        progress: Progress<Thing>,
        more: &mut Vec<CoordinatorOutput<Thing>>,
    ) {
        let (number, fate) = match progress {
            Progress::AllReady { number, .. } => {
                let now = self.now;
                self.coordinator(who).commit(now, number, |_, &terms| terms, more);
                self.happens(who, &format!("all ready {number}"));
                return;
            }
            Progress::Aborted { number, .. } => (number, Fate::Aborted),
            Progress::Committed { number, .. } => (number, Fate::Committed),
            Progress::Broken { number, .. } => (number, Fate::Broken),
        };
        self.note(format!("{} {} told {fate:?} {number}", tick(self.now), name(who)));
        let ledger = self.ledgers.entry(AgreementId { coordinator: who, number }).or_default();
        let stands = |it: &Standing| *it == Standing::Committed;
        let all = ledger.parts.iter().all(|part| ledger.standing.get(part).is_some_and(stands));
        let none = !ledger.standing.values().any(stands);
        let truth = match fate {
            Fate::Aborted => none && !ledger.committed,
            Fate::Committed => all,
            Fate::Broken => none && ledger.undone,
        };
        if !truth || ledger.told.is_some_and(|told| told != fate) {
            self.violation.get_or_insert(format!("{number} of {who} is told as {fate:?}"));
        }
        ledger.told = Some(fate);
    }

    /// A record of a coordinator: it decides only what all are ready for.
    fn on_decision(&mut self, who: ActorId, record: &CoordinatorRecord<Thing>) {
        let CoordinatorRecord::Entered(number, state) = record else { return };
        let ledger =
            self.ledgers.entry(AgreementId { coordinator: who, number: *number }).or_default();
        let undone = matches!(state, CoordinatorState::Undoing { .. });
        let held = |part| {
            let standing = ledger.standing.get(part);
            let lapsed = !self.setup.is_strict() && standing == Some(&Standing::Lapsed);
            lapsed || standing == Some(&Standing::Held)
        };
        if !undone && !ledger.parts.iter().all(held) {
            self.violation.get_or_insert(format!("{number} is committed without all votes"));
        }
        if undone && self.setup.is_strict() {
            self.violation.get_or_insert(format!("{number} is broken"));
        }
        (ledger.committed, ledger.undone) = (true, undone);
    }

    fn participant_output(
        &mut self,
        who: ActorId,
        output: ParticipantOutput<Thing>,
    ) -> Vec<ParticipantOutput<Thing>> {
        let mut more = Vec::new();
        match output {
            Output::Send { to, message } => {
                let ledger = self.ledgers.entry(message.id).or_default();
                let standing = ledger.standing.get(&who).copied();
                let guarded = match message.answer {
                    Answer::Ready { .. } | Answer::Inquire => standing == Some(Standing::Held),
                    Answer::Committed(_) => standing == Some(Standing::Committed),
                    Answer::NotReady(_) => standing == Some(Standing::Refused),
                    Answer::Expired | Answer::Undone => standing == Some(Standing::Over),
                };
                let body = Body::Up(message);
                if !guarded {
                    let line = format!("{} is not on record", spell(who, to, &body));
                    self.violation.get_or_insert(line);
                }
                self.send(who, to, body);
            }
            Output::Persist(record) => {
                let word = self.on_standing(who, &record);
                self.participants.get_mut(&who).expect("an actor").records.push(record);
                self.happens(who, &format!("persists {word}"));
            }
            Output::Set { timer, at } => {
                self.timers.insert(Timer::Participant(who, timer), at);
            }
            Output::Stop(timer) => {
                self.timers.remove(&Timer::Participant(who, timer));
            }
            Output::Tell(task) => self.on_task(who, task, &mut more),
        }
        self.check();
        more
    }

    /// A record of a participant: what is over never begins again, and is not done twice.
    fn on_standing(&mut self, who: ActorId, record: &ParticipantRecord<Thing>) -> String {
        let (id, state) = match record {
            ParticipantRecord::Entered(id, state) => (*id, state),
            ParticipantRecord::Settled(coordinator, number) => {
                let settled =
                    |id: &AgreementId| id.coordinator == *coordinator && id.number < *number;
                for (_, ledger) in self.ledgers.iter_mut().filter(|(id, _)| settled(id)) {
                    if let Some(standing @ (Standing::Held | Standing::Lapsed)) =
                        ledger.standing.get_mut(&who)
                    {
                        *standing = Standing::Over;
                    }
                }
                return format!("settled {number}");
            }
        };
        let next = match state {
            ParticipantState::Refused(_) => Standing::Refused,
            ParticipantState::Held(_) => Standing::Held,
            ParticipantState::Committed { .. } => Standing::Committed,
            ParticipantState::Lapsed => Standing::Lapsed,
            ParticipantState::Over => Standing::Over,
            ParticipantState::Asked { .. } | ParticipantState::Late(_) => {
                self.violation.get_or_insert(format!("{state:?} is persisted"));
                return String::new();
            }
        };
        let records = self.participants[&who].records.iter().rev();
        let mut states = records.filter_map(|record| match record {
            ParticipantRecord::Entered(it, state) if *it == id => Some(state),
            _ => None,
        });
        if next == Standing::Committed
            && let Some(ParticipantState::Held(hold)) = states.next()
            && hold.in_doubt == InDoubt::Release
            && hold.until < self.now
        {
            self.violation.get_or_insert(format!("{who} {id:?} is committed after its lease"));
        }
        let ledger = self.ledgers.entry(id).or_default();
        let before = ledger.standing.insert(who, next);
        let follows = match (before, next) {
            (None | Some(Standing::Refused), Standing::Over) => true,
            (None, Standing::Held | Standing::Refused) => !ledger.aborted.contains(&who),
            (Some(Standing::Held), Standing::Committed | Standing::Lapsed | Standing::Over) => true,
            (Some(Standing::Committed), Standing::Over) => ledger.undone,
            (Some(Standing::Lapsed), Standing::Committed | Standing::Over) => true,
            _ => false,
        };
        if !follows {
            self.violation.get_or_insert(format!("{who} {id:?} goes from {before:?} to {next:?}"));
        }
        format!("{} {}", format!("{next:?}").to_lowercase(), id.number)
    }

    fn on_task(
        &mut self,
        who: ActorId,
        task: Task<Thing>,
        more: &mut Vec<ParticipantOutput<Thing>>,
    ) {
        let now = self.now;
        let plan = self.plans.get_mut(&who).expect("it is up");
        match task {
            Task::Consider { id, request, lease } => {
                plan.insert(id, Part::Asked(request, lease));
                if !self.setup.thinks {
                    self.answer(who, id, more);
                }
            }
            Task::CarryOut { id, .. } => {
                if plan.insert(id, Part::CarriedOut) != Some(Part::Held) {
                    self.violation.get_or_insert(format!("{who} does not hold {id:?}"));
                }
                self.note(format!("{} {} carries out {}", tick(now), name(who), id.number));
            }
            Task::TakeUnheld { id, order } => {
                plan.insert(id, Part::Late(order));
                if !self.setup.thinks {
                    self.answer(who, id, more);
                }
            }
            Task::GiveUp { id } => {
                if plan.remove(&id).is_none() {
                    self.violation.get_or_insert(format!("{who} has nothing of {id:?}"));
                }
                self.note(format!("{} {} gives up {}", tick(now), name(who), id.number));
            }
        }
    }

    /// An owner that was asked something answers, by the room it has.
    fn answer(&mut self, who: ActorId, id: AgreementId, more: &mut Vec<ParticipantOutput<Thing>>) {
        let now = self.now;
        let shorter = if who == participant(0) { self.setup.shorter } else { Span::ZERO };
        let plan = self.plans.get_mut(&who).expect("it is up");
        let taken = plan.values().filter(|it| matches!(it, Part::Held | Part::CarriedOut));
        let has_room = taken.count() < self.setup.room[who.index() - 10];
        match plan.remove(&id) {
            Some(Part::Asked(request, lease)) if has_room => {
                plan.insert(id, Part::Held);
                self.participant(who).ready(now, id, request, lease - shorter, more);
            }
            Some(Part::Asked(request, _)) => self.participant(who).not_ready(id, request, more),
            Some(Part::Late(order)) if has_room && self.setup.takes_late => {
                plan.insert(id, Part::CarriedOut);
                self.note(format!("{} {} takes {} late", tick(now), name(who), id.number));
                self.participant(who).take(id, order, more);
            }
            Some(Part::Late(_)) => self.participant(who).expired(id, more),
            other => {
                self.violation.get_or_insert(format!("{who} asked itself {id:?}: {other:?}"));
            }
        }
    }

    /// What is carried out anywhere is decided, and nobody is left out where nobody may be.
    fn check(&mut self) {
        for (id, ledger) in &self.ledgers {
            if !ledger.standing.values().any(|&it| it == Standing::Committed) {
                continue;
            }
            let bound = |part| {
                matches!(ledger.standing.get(part), Some(Standing::Held | Standing::Committed))
            };
            let left_out = self.setup.is_strict() && !ledger.parts.iter().all(bound);
            if !ledger.committed || left_out {
                self.violation.get_or_insert(format!("{id:?} is half committed: {ledger:?}"));
            }
        }
    }

    /// What a participant was told is what it knows.
    fn check_plan(&mut self, who: ActorId) {
        let Some(machine) = &self.participants[&who].machine else { return };
        let known: BTreeMap<AgreementId, Part> =
            machine.states().filter_map(|(id, state)| Some((id, Part::of(state)?))).collect();
        // Shares that the agreement has forgotten go on.
        let plan = &self.plans[&who];
        let kind = |(id, part): (&AgreementId, &Part)| (*id, std::mem::discriminant(part));
        let told = plan
            .iter()
            .filter(|(id, part)| known.contains_key(id) || **part != Part::CarriedOut)
            .map(kind);
        if !told.eq(known.iter().map(kind)) {
            self.violation.get_or_insert(format!("{who} knows {known:?} and was told {plan:?}"));
        }
    }

    /// How the agreements ended, by their ledgers.
    pub(crate) fn endings(&self) -> BTreeSet<&'static str> {
        let ending = |ledger: &Ledger| match (ledger.committed, ledger.undone) {
            (_, true) => "broken",
            (true, false) => "committed",
            (false, false) => "aborted",
        };
        self.ledgers.values().map(ending).collect()
    }

    /// What holds when nothing can happen any more.
    pub(crate) fn check_end(&mut self) {
        let open = self
            .coordinators
            .values()
            .flat_map(|it| &it.machine)
            .any(|it| it.states().next().is_some());
        let binding = |state: &ParticipantState<Thing>| {
            let holds = matches!(state, ParticipantState::Held(_));
            holds || matches!(state, ParticipantState::Asked { .. } | ParticipantState::Late(_))
        };
        let mut states =
            self.participants.values().flat_map(|it| &it.machine).flat_map(|it| it.states());
        if open || states.any(|(_, state)| binding(state)) {
            self.violation.get_or_insert("it ends with something open".to_owned());
        }
        drop(states);
        for (id, ledger) in &self.ledgers {
            let committed = |part| ledger.standing.get(part) == Some(&Standing::Committed);
            let count = ledger.parts.iter().filter(|part| committed(part)).count();
            let told = match ledger.told {
                Some(Fate::Committed) => count == ledger.parts.len(),
                Some(Fate::Broken) => count == 0 && ledger.undone,
                // Who crashed before it decided has nothing to tell.
                Some(Fate::Aborted) | None => count == 0 && !ledger.committed,
            };
            if !told {
                self.violation.get_or_insert(format!("{id:?} ends as {ledger:?}"));
            }
        }
    }

    fn note(&mut self, line: String) {
        if let Some(log) = &mut self.log {
            log.push(line);
        }
    }

    /// Something that somebody may crash after, by the script.
    fn happens(&mut self, who: ActorId, what: &str) {
        let line = format!("{} {what}", name(who));
        self.note(format!("{} {line}", tick(self.now)));
        if let Some(back_after) = self.strikes(&line) {
            self.crash(who);
            self.down.insert(who, self.now + back_after.unwrap_or(self.setup.outage));
        }
    }

    /// Whether the script has a fault for this line.
    fn strikes(&mut self, line: &str) -> Option<Option<Span>> {
        let place = self.script.iter().position(|(it, _)| *it == line)?;
        Some(self.script.remove(place).1)
    }
}

fn hash(it: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

/// A record as it comes back from a file, a message as it arrives.
fn by_wire<T: Serialize + DeserializeOwned>(record: &T) -> T {
    let text = serde_json::to_string(record).expect("records can be written");
    serde_json::from_str(&text).expect("records can be read")
}

/// Instants are in microseconds.
fn tick(now: Time) -> i64 {
    now.as_micros()
}

fn name(who: ActorId) -> String {
    if who < participant(0) { format!("c{}", who.0) } else { format!("p{}", who.0 - 10) }
}

fn spell(from: ActorId, to: ActorId, body: &Body) -> String {
    let (number, word) = match body {
        Body::Down(message) => {
            let word = match message.instruction {
                Instruction::Prepare { .. } => "prepare",
                Instruction::Commit(_) => "commit",
                Instruction::Abort => "abort",
                Instruction::Undo => "undo",
            };
            (message.id.number, word)
        }
        Body::Up(message) => {
            let word = match message.answer {
                Answer::Ready { .. } => "ready",
                Answer::NotReady(_) => "not ready",
                Answer::Committed(None) => "committed",
                Answer::Committed(Some(_)) => "committed late",
                Answer::Expired => "expired",
                Answer::Undone => "undone",
                Answer::Inquire => "inquire",
            };
            (message.id.number, word)
        }
    };
    format!("{} > {} {word} {number}", name(from), name(to))
}
