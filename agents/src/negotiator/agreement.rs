//! Agreements on compositions: all providers hold their parts and run them, or all give them back
//! and the bag is composed again.
//!
//! Each round is an agreement of its own, with a number from the [`Coordinator`]. It waits for all
//! votes, because a provider that cannot hold its part sends new offers with its vote.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agreements::seat::{self, Act, Keeps};
use haggle_agreements::{
    self as agreements, Coordinator, InDoubt, Progress, Rules, ToCoordinator, ToParticipant, Vote,
};
use haggle_model::{ActorId, BagRecord, Job, JobId, Refusal, Span, Time};
use haggle_scheduling::Award;
use haggle_scheduling::composition::{AnyView, BagCall, Composition, CompositionOptions};
use serde::{Deserialize, Serialize};

use super::answers::Answer;
use super::{Negotiator, NegotiatorConfig, Stage};
use crate::Outbox;
use crate::desk::Entry;
use crate::protocol::agreement::{Bags, ShareOrder};
use crate::protocol::{AgreementMessage, Timer};

/// Number of times that an unanswered request for a hold is repeated before the round is given up.
const REPETITIONS: i64 = 4;

/// Rules of holds. A provider holds a part for as long as it will. A commit is never too late, because
/// a provider carries out the share even if the hold has ended.
///
/// If answers may be lost, the lease is limited: a hold may end before the coordinator knows of it.
fn rules(config: &NegotiatorConfig) -> Rules {
    let retry = config.retry;
    Rules {
        lease: retry.map_or(Span::FOREVER, |retry| retry * REPETITIONS),
        margin: Span::ZERO,
        in_doubt: InDoubt::Release,
        retry: retry.filter(|_| config.resends),
        hears_all: true,
    }
}

/// The coordinator of a metascheduler, in its seat.
pub(super) type Seat = seat::Seat<Coordinator<Bags>>;

type Acts = seat::Acts<ToParticipant<Bags>, Progress<Bags>>;

/// A composition that is being agreed on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Preparing {
    pub(super) agreement: u64,
    pub(super) composition: Composition,
}

impl Preparing {
    /// The part that a provider must hold.
    pub(super) fn part_of(&self, place: usize) -> Option<usize> {
        self.composition.parts.iter().position(|part| part.provider == place)
    }
}

/// The seat of a metascheduler at its start.
pub(super) fn seat(me: ActorId, retry: Option<Span>) -> Seat {
    let keeps = if retry.is_some() { Keeps::All } else { Keeps::Nothing };
    let mut seat = Seat::new(me, (), keeps);
    // The coordinator has no records yet, so its start causes no acts.
    seat.start(Time::ZERO, &mut Acts::new());
    seat
}

impl Negotiator {
    pub(super) fn compose(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        if entry.withdrawn {
            self.cancel(now, id, out);
            return;
        }
        let job = Arc::clone(&entry.submission.job);
        let Some(bargain) = entry.open() else { return };
        let mut views = Vec::new();
        let mut who = Vec::new();
        for (place, answer) in bargain.answers.iter().enumerate() {
            if let Answer::Offers { view, .. } = answer {
                views.push(view.clone());
                who.push(place);
            }
        }
        let call = bag_call(&job, now);
        // A relaxed award may be refused, but an award as offered is always valid.
        let relax = self.config.options.relax_to_composite && bargain.round == 0;
        let options = CompositionOptions { relax_to_composite: relax, ..self.config.options };
        let composed = self.config.policy.compose(&call, &views, options, bargain.turn);
        let Some(mut composition) = composed else {
            self.give_back(now, id, out);
            return;
        };
        for part in &mut composition.parts {
            // Numbers of parts count the views, which leave out providers without offers.
            part.provider = who[part.provider];
        }
        // After the composition, because a bag that no provider can take is given back and not forced on one.
        if bargain.round >= self.config.rounds {
            self.force(now, id, out);
            return;
        }
        // A fixed order of the messages, whatever the order in which the policy gives parts.
        composition.parts.sort_by_key(|part| part.provider);
        let wanted = composition
            .parts
            .iter()
            .map(|part| (self.config.providers[part.provider], Arc::new(part.award.clone())));
        let (wanted, rules) = (wanted.collect(), rules(&self.config));
        let mut acts = Acts::new();
        let agreement = self.seat.with(&mut acts, |coordinator, out| {
            // The number is the present time, so it does not disclose how many agreements there were.
            coordinator.skip_to(number_at(now));
            coordinator.open(now, wanted, rules, out)
        });
        // Without repetitions every message of an agreement belongs to the bag that is being handled.
        if self.config.retry.is_some() {
            self.jobs.extend(agreement.map(|agreement| (agreement, id)));
        }
        bargain.preparing = agreement.map(|agreement| Preparing { agreement, composition });
        self.carry_out(now, id, acts, out);
    }

    /// A provider votes, or reports that it runs its share.
    pub(super) fn on_vote(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        message: ToCoordinator<Bags>,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        let (id, number) = (message.id, message.id.number);
        // Messages take time, so a vote may arrive after its hold has ended and the parts have been
        // given up. The coordinator answers it.
        let settled = self.seat.machine().is_some_and(|it| it.is_settled(number));
        if id.coordinator == self.config.me && settled {
            self.hear(now, from, job, message, out);
            return true;
        }
        let is_own = id.coordinator == self.config.me;
        let repeats = self.config.retry.is_some();
        let Some(entry) = self.desk.get_mut(job) else {
            // The last share may be over before its provider has acknowledged the commit.
            if is_own && repeats {
                self.hear(now, from, job, message, out);
            }
            return repeats;
        };
        let is_expected = match (&mut entry.stage, &message.answer) {
            (
                Stage::Open(bargain),
                agreements::Answer::Ready { .. } | agreements::Answer::NotReady(_),
            ) => {
                let preparing = bargain.preparing.as_ref().filter(|it| it.agreement == number);
                preparing.is_some_and(|it| it.part_of(place).is_some())
            }
            (Stage::Placed(placed), agreements::Answer::Committed(_)) => {
                placed.agreement == number && placed.promised_end.is_none()
            }
            _ => false,
        };
        // A repeated answer is for the coordinator, which drops it or repeats its decision.
        if !is_own || !(is_expected || repeats) {
            return false;
        }
        // These new offers may become stale before all have voted.
        if is_expected
            && let Stage::Open(bargain) = &mut entry.stage
            && let agreements::Answer::NotReady(offers) = &message.answer
        {
            bargain.answers[place] = Answer::offers(now, (**offers).clone());
        }
        self.hear(now, from, job, message, out);
        true
    }

    fn hear(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        message: ToCoordinator<Bags>,
        out: &mut Outbox,
    ) {
        let mut acts = Acts::new();
        self.seat.hear(now, from, message, &mut acts);
        self.carry_out(now, job, acts, out);
    }

    /// Carries out the acts of the coordinator, most likely about this bag.
    fn carry_out(&mut self, now: Time, likely: JobId, acts: Acts, out: &mut Outbox) {
        seat::carry_out(acts, |act, _| match act {
            Act::Send { to, message } => {
                let job = self.jobs.get(&message.id.number).copied().unwrap_or(likely);
                let message = Box::new(message);
                out.send(to, AgreementMessage::Instruct { job, message });
            }
            Act::Tell(progress) => {
                let number = progress.number();
                let job = self.jobs.get(&number).copied().unwrap_or(likely);
                // Only an agreement of which all are ready goes on; all other progress ends it.
                if !matches!(progress, Progress::AllReady { .. }) {
                    self.jobs.remove(&number);
                }
                self.on_progress(now, job, progress, out);
            }
        });
    }

    /// Wakes the coordinator for all timers that are due.
    pub(super) fn on_agreement_due(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        // One timer at a time, because carrying out its acts may set or stop others.
        while self.seat.wake(now, &mut acts) {
            self.carry_out(now, JobId::default(), std::mem::take(&mut acts), out);
        }
    }

    pub(super) fn set_agreement_timer(&self, now: Time, out: &mut Outbox) {
        match self.seat.next_wake() {
            Some(at) => out.set(at.max(now), Timer::AgreementDue),
            None => out.stop(Timer::AgreementDue),
        }
    }

    /// The coordinator starts again from its records. The agreements that it forgot were not decided: their
    /// bags are composed again.
    pub(super) fn on_restarted(&mut self, now: Time, out: &mut Outbox) {
        let mut acts = Acts::new();
        self.seat.start(now, &mut acts);
        self.carry_out(now, JobId::default(), acts, out);
        let open = |number: u64| {
            self.seat.machine().is_none_or(|it| it.states().any(|(open, _)| open == number))
        };
        let lost = self.desk.jobs().into_iter().filter(|&job| {
            let Some(Entry { stage: Stage::Open(bargain), .. }) = self.desk.get(job) else {
                return false;
            };
            bargain.preparing.as_ref().is_some_and(|it| !open(it.agreement))
        });
        for job in Vec::from_iter(lost) {
            self.on_lost(now, job, out);
        }
    }

    /// The coordinator has crashed before it decided. Providers give their parts back when they are asked for
    /// new offers.
    fn on_lost(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.desk.get_mut(id).and_then(Entry::open) else { return };
        let Some(Preparing { agreement, composition }) = bargain.preparing.take() else { return };
        for part in &composition.parts {
            bargain.answers[part.provider] = Answer::Stale;
        }
        bargain.round += 1;
        self.jobs.remove(&agreement);
        self.compose_if_complete(now, id, out);
    }

    fn on_progress(&mut self, now: Time, job: JobId, progress: Progress<Bags>, out: &mut Outbox) {
        match progress {
            Progress::AllReady { number, terms } => self.decide(now, job, (number, terms), out),
            Progress::Aborted { votes, .. } => self.on_aborted(now, job, &votes, out),
            Progress::Committed { receipts, .. } => {
                let latest = receipts.into_values().flatten().max();
                self.on_committed(job, latest, out);
            }
            // No provider reports that a commit is too late.
            Progress::Broken { .. } => {}
        }
    }

    /// All parts are held.
    fn decide(
        &mut self,
        now: Time,
        id: JobId,
        (number, terms): (u64, BTreeMap<ActorId, Time>),
        out: &mut Outbox,
    ) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        // Read before the mutable borrow of the bargain.
        let withdrawn = entry.withdrawn;
        let Some(preparing) = entry.open().and_then(|it| it.preparing.as_ref()) else { return };
        let latest = terms.values().copied().max().unwrap_or(preparing.composition.completion);
        let expected = self.config.coordinated.then_some(latest);
        let order = |provider: ActorId, _: &Time| {
            let place = self.places.get(&provider).copied();
            let mut parts = preparing.composition.parts.iter();
            let part = parts.find(|part| Some(part.provider) == place);
            ShareOrder { expected, unheld: part.map_or(0, |part| part.tasks()) }
        };
        let mut acts = Acts::new();
        let committed = self.seat.with(&mut acts, |coordinator, out| {
            // A withdrawn bag must not be placed. A refused commit came too late for a hold.
            let commits = !withdrawn && coordinator.commit(now, number, order, out);
            if !commits {
                coordinator.abort(number, out);
            }
            commits
        });
        if committed != Some(true) {
            return self.carry_out(now, id, acts, out);
        }
        // Only now: an abort leaves the bargain open for the next composition.
        let Some(mut bargain) = self.close(now, id, out) else { return };
        let Some(Preparing { composition, .. }) = bargain.preparing.take() else { return };
        let deadline = self.desk.get(id).and_then(|entry| entry.submission.job.deadline);
        let completion = match deadline {
            Some(_) => composition.completion,
            None => latest,
        };
        if self.config.coordinated {
            for (&provider, &completion) in &terms {
                self.expect(id, provider, completion);
            }
        }
        self.carry_out(now, id, acts, out);
        let record = BagRecord {
            balanced: composition.balanced,
            parts: composition.parts.iter().map(|part| pieces(&part.award)).sum(),
            equal_offers: composition.balanced && composition.sizes == 1,
            recompositions: bargain.round,
            ..BagRecord::default()
        };
        let providers: Vec<usize> = composition.parts.iter().map(|part| part.provider).collect();
        self.place(now, id, (number, record), &providers, completion, out);
    }

    /// A provider was not ready, or the bag was withdrawn. The held parts are given back, and
    /// earlier offers are stale.
    fn on_aborted(
        &mut self,
        now: Time,
        id: JobId,
        votes: &BTreeMap<ActorId, Vote<Bags>>,
        out: &mut Outbox,
    ) {
        let Some(bargain) = self.desk.get_mut(id).and_then(Entry::open) else { return };
        bargain.preparing = None;
        bargain.round += 1;
        for (provider, vote) in votes {
            // Providers that were not ready sent new offers with their votes, which are recorded already.
            if matches!(vote, Vote::Ready(_)) {
                bargain.answers[self.places[provider]] = Answer::Stale;
            }
        }
        self.compose_if_complete(now, id, out);
    }

    /// After too many rounds the whole bag goes to the provider with the earliest known completion,
    /// even if its plan has changed since. The promise is the completion that this provider reports
    /// then, but not earlier than the completion that it must expect.
    fn force(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        let Some(entry) = self.desk.get(id) else { return };
        let (tasks, policy) = (entry.submission.job.processors, self.config.policy);
        // The earliest completion counts, even after the deadline: this is the last chance of the bag.
        let call = BagCall { deadline: None, ..bag_call(&entry.submission.job, now) };
        let earliest = entry.submission.job.deadline.unwrap_or(now);
        let alone = |view: &AnyView| {
            let view = std::slice::from_ref(view);
            let composed = policy.compose(&call, view, self.config.options, bargain.turn);
            composed.map_or(Time::FOREVER, |it| it.completion)
        };
        let answers = bargain.answers.iter().enumerate();
        let offered = answers.filter_map(|(place, answer)| match answer {
            Answer::Offers { view, .. } => Some((alone(view), place)),
            _ => None,
        });
        // Of equal completions the first provider in the list.
        let Some((completion, place)) = offered.min() else { return };
        let to = self.config.providers[place];
        if self.config.coordinated {
            self.expect(id, to, completion);
        }
        let expected = self.config.coordinated.then_some(completion);
        let order = ShareOrder { expected, unheld: tasks };
        let retry = self.config.retry.filter(|_| self.config.resends);
        let mut acts = Acts::new();
        let agreement = self.seat.with(&mut acts, |coordinator, out| {
            coordinator.skip_to(number_at(now));
            coordinator.commit_unprepared(now, to, order, retry, out)
        });
        let Some(agreement) = agreement else { return };
        if self.config.retry.is_some() {
            self.jobs.insert(agreement, id);
        }
        self.carry_out(now, id, acts, out);
        let record = BagRecord { parts: 1, recompositions: bargain.round, ..BagRecord::default() };
        // A provider that knows the expected completion of the bag may use the time up to it.
        let promised = expected.map_or(earliest, |expected| earliest.max(expected));
        self.place(now, id, (agreement, record), &[place], promised, out);
    }

    /// The bargain over the bag ends: no provider needs to keep it.
    fn release(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if self.close(now, id, out).is_some() {
            for &provider in &self.config.providers {
                out.send(provider, AgreementMessage::Release { job: id });
            }
        }
    }

    /// No provider takes the bag.
    fn give_back(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        self.release(now, id, out);
        self.desk.refuse(id, Refusal::NoProvider, out);
    }

    fn cancel(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        self.release(now, id, out);
        self.desk.cancel(now, id, out);
    }
}

/// The least number of an agreement at this instant. It discloses to a provider only the time of
/// the request, which the provider knows.
fn number_at(now: Time) -> u64 {
    now.as_micros().unsigned_abs()
}

fn bag_call(job: &Job, now: Time) -> BagCall {
    BagCall {
        tasks: job.processors,
        span: job.requested_time.unwrap_or(Span::FOREVER),
        deadline: job.deadline,
        now,
    }
}

/// Number of offers or free time slots that an award takes up.
fn pieces(award: &Award) -> u32 {
    match award {
        Award::Offered { .. } => 1,
        Award::Placed { batches, .. } => batches.len() as u32,
    }
}
