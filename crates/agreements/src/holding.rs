//! The participant of all protocols that hold a part for a lease, as in [two-phase
//! commit](crate::two_phase): a [`Participant`] among the messages and timers of the protocol.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::protocol::{Bound, Duty, Machine, Outputs, Participates, Protocol};
use crate::{
    AgreementId, Output, Participant, ParticipantOutput, ParticipantRecord, ParticipantState,
    Subject, Task, ToCoordinator, ToParticipant,
};

/// A protocol whose participants hold parts for a lease.
pub trait Leases: Protocol + Clone {
    /// State of a participant beside its holds. Lost in a crash.
    type Beside: Clone + Debug + Send + Serialize + DeserializeOwned;
    /// Timers of a participant: those of its leases, and others.
    type Timer: Copy + Debug + Ord + Hash + Send + From<AgreementId> + Serialize + DeserializeOwned;

    /// That state at the start of a participant.
    fn beside(rules: &Self::Rules, now: Time) -> Self::Beside;

    /// The message in which an answer is sent; `None` = coordinators poll for it.
    fn answer(answer: ToCoordinator<Self::Subject>) -> Option<Self::Message>;

    /// A message has arrived.
    fn hear(
        holder: &mut Holder<Self>,
        now: Time,
        from: ActorId,
        message: Self::Message,
        out: &mut Out<Self>,
    );

    /// A timer has expired.
    fn expire(holder: &mut Holder<Self>, now: Time, timer: Self::Timer, out: &mut Out<Self>);

    /// Notifies the watchers of a request whether there is room for it.
    fn available(_: &mut Holder<Self>, _: Time, _: AgreementId, _fits: bool, _: &mut Out<Self>) {}
}

/// A participant that takes only parts that it holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Holder<P: Leases> {
    pub(crate) participant: Participant<P::Subject>,
    pub(crate) beside: P::Beside,
}

/// Outputs of a holder.
pub type Out<P> = Outputs<P, Holder<P>>;

impl<P: Leases> Holder<P> {
    /// Passes an instruction on to the participant.
    pub(crate) fn instruct(
        &mut self,
        now: Time,
        from: ActorId,
        message: ToParticipant<P::Subject>,
        out: &mut Out<P>,
    ) {
        self.step(out, |it, said| it.on_message(now, from, message, said));
    }

    /// A lease has ended, or the next inquiry is due.
    pub(crate) fn lease_over(&mut self, now: Time, id: AgreementId, out: &mut Out<P>) {
        self.step(out, |it, said| it.on_timer(now, id, said));
    }

    /// Passes on the outputs of a step, in the form of the protocol. A commit that arrives too late is
    /// answered with expired.
    fn step(
        &mut self,
        out: &mut Out<P>,
        step: impl FnOnce(&mut Participant<P::Subject>, &mut Vec<ParticipantOutput<P::Subject>>),
    ) {
        let mut said = Vec::new();
        step(&mut self.participant, &mut said);
        let mut queue = VecDeque::from(said);
        while let Some(output) = queue.pop_front() {
            out.push(match output {
                Output::Send { to, message } => match P::answer(message) {
                    Some(message) => Output::Send { to, message },
                    None => continue,
                },
                Output::Persist(record) => Output::Persist(record),
                Output::Set { timer, at } => Output::Set { timer: timer.into(), at },
                Output::Stop(timer) => Output::Stop(timer.into()),
                Output::Tell(Task::Consider { id, request, lease }) => {
                    Output::Tell(Duty::Consider { id, request, lease })
                }
                Output::Tell(Task::CarryOut { id, .. }) => Output::Tell(Duty::CarryOut { id }),
                Output::Tell(Task::GiveUp { id }) => Output::Tell(Duty::GiveUp { id }),
                Output::Tell(Task::TakeUnheld { id, .. }) => {
                    let mut more = Vec::new();
                    self.participant.expired(id, &mut more);
                    queue.extend(more);
                    continue;
                }
            });
        }
    }
}

impl<P: Leases> Machine<P> for Holder<P> {
    type Record = ParticipantRecord<P::Subject>;
    type Timer = P::Timer;
    type News = Duty<P::Subject>;

    fn start(
        me: ActorId,
        rules: &P::Rules,
        records: Vec<Self::Record>,
        now: Time,
        out: &mut Out<P>,
    ) -> Self {
        let mut said = Vec::new();
        let participant = Participant::start(me, &(), records, now, &mut said);
        // After a crash, the duties to give parts up are repeated.
        for (id, state) in participant.states() {
            if matches!(state, ParticipantState::Over | ParticipantState::Lapsed) {
                out.push(Output::Tell(Duty::GiveUp { id }));
            }
        }
        let mut holder = Holder { participant, beside: P::beside(rules, now) };
        holder.step(out, |_, started| *started = said);
        holder
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: P::Message, out: &mut Out<P>) {
        P::hear(self, now, from, message, out);
    }

    fn on_timer(&mut self, now: Time, timer: P::Timer, out: &mut Out<P>) {
        P::expire(self, now, timer, out);
    }
}

impl<S: Subject, P: Leases<Subject = S>> Participates<S, Out<P>> for Holder<P> {
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: S::Terms,
        lease: Span,
        out: &mut Out<P>,
    ) {
        self.step(out, |it, said| it.ready(now, id, terms, lease, said));
    }

    fn not_ready(&mut self, _: Time, id: AgreementId, counter: S::Counter, out: &mut Out<P>) {
        self.step(out, |it, said| it.not_ready(id, counter, said));
    }

    fn available(&mut self, now: Time, id: AgreementId, fits: bool, out: &mut Out<P>) {
        P::available(self, now, id, fits, out);
    }

    fn bound(&self) -> Vec<Bound<S>> {
        let bound = |(id, state): (AgreementId, &ParticipantState<S>)| {
            let (hold, started) = match state {
                ParticipantState::Held(hold) => (Some(hold), false),
                ParticipantState::Committed { hold, .. } => (hold.as_ref(), true),
                _ => return None,
            };
            Some(Bound { id, request: hold.map(|it| it.request.clone()), started })
        };
        self.participant.states().filter_map(bound).collect()
    }
}
