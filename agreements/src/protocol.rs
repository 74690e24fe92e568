//! The shape that all protocols share, so that an actor can drive any of them.
//!
//! A [`Protocol`] names its rules, its messages and its machines: a coordinator, a participant
//! and, where a decision is replicated, a witness. Each machine takes messages, timers, the time
//! and what its owner says, and puts out [`Output`]s. The owner of a coordinator is told of a
//! [`Verdict`], the owner of a participant of a [`Duty`].
//!
//! ```text
//!   owner of the coordinator                            owner of a participant
//!      │ open, close     ▲ Verdict                         ▲ Duty     │ ready, not_ready,
//!      ▼                 │                                 │          ▼ room_changed
//!   ┌─────────────────────────┐        messages        ┌─────────────────────────┐
//!   │       Coordinates       │◀──────────────────────▶│      Participates       │
//!   └─────────────────────────┘    ┌─────────┐         └─────────────────────────┘
//!                 ▲───────────────▶│ Witness │◀───────────────▲   (Paxos commit only)
//!                                  └─────────┘
//! ```
//!
//! A lost machine is started again from the records that it put out, in their order.

use std::fmt::Debug;
use std::hash::Hash;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::{AgreementId, Output, Payload, Record, Subject};

/// A way for one coordinator to get parts from several participants.
pub trait Protocol: Sized {
    /// What it promises.
    const TRAITS: Traits;
    /// What is agreed on.
    type Subject: Subject;
    /// What all machines of a run know: times, orders, who the witnesses are.
    type Rules: Clone + Debug;
    /// What is sent, in both directions.
    type Message: Message;
    /// Who asks.
    type Coordinator: Coordinates<Self>;
    /// Who holds.
    type Participant: Participates<Self>;
    /// Who remembers decisions for others, [`Nobody`] in most protocols.
    type Witness: Machine<Self>;
}

/// What a protocol promises, for tables of protocols and for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Its word.
    pub name: &'static str,
    /// What becomes of a group.
    pub outcome: Outcome,
    /// Whether requests wait at a participant until there is room, so that there can be cycles
    /// of those who wait.
    pub waits: bool,
    /// Whether parts are held until the coordinator gives them back with
    /// [`Coordinates::close`]; otherwise their participants carry them out and end them.
    pub closes: bool,
}

/// What becomes of a group of parts in the end, losses and crashes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All are carried out or none: nobody begins before all hold.
    Atomic,
    /// Some may begin for a while and are taken back: in the end all or none.
    Compensated,
    /// As compensated, but what a coordinator that crashes has booked is left behind.
    Orphans,
}

/// Something that is sent about an agreement.
pub trait Message: Payload {
    /// The agreement.
    fn id(&self) -> AgreementId;
    /// The word by which it is counted.
    fn kind(&self) -> &'static str;
    /// Whether its sender promises to hold or carry out a part: it must not forget that.
    fn promises(&self) -> bool;
}

/// What a machine puts out, in order.
pub type Outputs<P, M> = Vec<
    Output<
        <P as Protocol>::Message,
        <M as Machine<P>>::Record,
        <M as Machine<P>>::Timer,
        <M as Machine<P>>::News,
    >,
>;

/// One role in a protocol.
pub trait Machine<P: Protocol>: Sized {
    /// What it must not forget.
    type Record: Record;
    /// What it is woken up for.
    type Timer: Copy + Debug + Ord + Hash;
    /// What its owner learns.
    type News: Clone + Debug + PartialEq;

    /// A machine with these records, none at its first start.
    fn start(
        me: ActorId,
        rules: &P::Rules,
        records: Vec<Self::Record>,
        now: Time,
        out: &mut Outputs<P, Self>,
    ) -> Self;

    /// Somebody has said something.
    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: P::Message,
        out: &mut Outputs<P, Self>,
    );

    /// A timer has gone off.
    fn on_timer(&mut self, now: Time, timer: Self::Timer, out: &mut Outputs<P, Self>);
}

/// The coordinator's side.
pub trait Coordinates<P: Protocol>: Machine<P, News = Verdict<P::Subject>> {
    /// Asks for these parts, all or none; protocols that ask one after the other ask in this
    /// order unless they have one of their own. Returns the agreement's number.
    fn open(&mut self, now: Time, parts: Parts<P::Subject>, out: &mut Outputs<P, Self>) -> u64;

    /// Gives up what is not decided. Where parts are held until they are given back, gives them
    /// back: the work is over.
    fn close(&mut self, now: Time, number: u64, out: &mut Outputs<P, Self>);

    /// The agreements that are not over.
    fn open_numbers(&self) -> Vec<u64>;
}

/// Who is asked for what.
pub type Parts<S> = Vec<(ActorId, <S as Subject>::Request)>;

/// The participant's side.
pub trait Participates<P: Protocol>: Machine<P, News = Duty<P::Subject>> {
    /// What it was asked for is held from now on, for so long where the protocol knows leases.
    fn ready(
        &mut self,
        now: Time,
        id: AgreementId,
        terms: <P::Subject as Subject>::Terms,
        lease: Span,
        out: &mut Outputs<P, Self>,
    );

    /// What it was asked for cannot be held now, but this could.
    fn not_ready(
        &mut self,
        now: Time,
        id: AgreementId,
        counter: <P::Subject as Subject>::Counter,
        out: &mut Outputs<P, Self>,
    );

    /// What it was asked for can never be held: nobody is to wait for it.
    fn never(
        &mut self,
        now: Time,
        id: AgreementId,
        counter: <P::Subject as Subject>::Counter,
        out: &mut Outputs<P, Self>,
    ) {
        self.not_ready(now, id, counter, out);
    }

    /// A part that was carried out has come to its end. A protocol that may ask for it again remembers
    /// that. After a restart the owner says so of each part which [`Participates::bound`] lists as
    /// started and which is over.
    fn over(&mut self, _now: Time, _id: AgreementId, _out: &mut Outputs<P, Self>) {}

    /// Somebody's room may have become free: who waits is considered again.
    fn room_changed(&mut self, _now: Time, _out: &mut Outputs<P, Self>) {}

    /// Takes what is held, and not carried out yet, for somebody more urgent, where the protocol
    /// knows that. Returns whether it is free now.
    fn preempt(&mut self, _now: Time, _id: AgreementId, _out: &mut Outputs<P, Self>) -> bool {
        false
    }

    /// There is room for what somebody watches, or no longer.
    fn available(
        &mut self,
        _now: Time,
        _id: AgreementId,
        _fits: bool,
        _out: &mut Outputs<P, Self>,
    ) {
    }

    /// What it holds or carries out by its records: an owner takes that after a restart.
    fn bound(&self) -> Vec<Bound<P::Subject>>;

    /// Who waits here for whom to give back what it holds.
    fn waits(&self) -> Vec<(AgreementId, AgreementId)> {
        Vec::new()
    }
}

/// A part that a participant is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound<S: Subject> {
    /// The agreement.
    pub id: AgreementId,
    /// What was asked for; `None` = it was carried out without having been asked for.
    pub request: Option<S::Request>,
    /// Whether it is carried out; otherwise it is held.
    pub started: bool,
}

/// What the owner of a coordinator learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S: Subject> {
    /// It is decided that all carry out their parts, and on record.
    Decided {
        /// The agreement.
        number: u64,
    },
    /// All carry out their parts, or hold them until they are given back.
    Agreed {
        /// The agreement.
        number: u64,
        /// What they hold them on, as far as they said so.
        terms: BTreeMap<ActorId, S::Terms>,
    },
    /// Nobody will carry out a part.
    Failed {
        /// The agreement.
        number: u64,
        /// What those proposed that could not hold theirs.
        counters: BTreeMap<ActorId, S::Counter>,
    },
    /// It was decided, but some could no longer carry out theirs; the others have given theirs
    /// up.
    Broken {
        /// The agreement.
        number: u64,
    },
}

impl<S: Subject> Verdict<S> {
    /// The agreement.
    pub fn number(&self) -> u64 {
        match self {
            Verdict::Decided { number }
            | Verdict::Agreed { number, .. }
            | Verdict::Failed { number, .. }
            | Verdict::Broken { number } => *number,
        }
    }
}

/// What the owner of a participant has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty<S: Subject> {
    /// Say whether it can hold this: [`Participates::ready`] or [`Participates::not_ready`].
    Consider {
        /// The agreement.
        id: AgreementId,
        /// What is to be held.
        request: S::Request,
        /// For how long it is asked to.
        lease: Span,
    },
    /// Carry out what is held.
    CarryOut {
        /// The agreement.
        id: AgreementId,
    },
    /// Give up what is considered, held or carried out, if it still is: after a crash it is told
    /// again.
    GiveUp {
        /// The agreement.
        id: AgreementId,
    },
    /// Say, now and whenever that changes, whether there is room for this.
    Watch {
        /// The agreement.
        id: AgreementId,
        /// What there would have to be room for.
        request: S::Request,
    },
    /// Nobody is interested in that room any more.
    Unwatch {
        /// The agreement.
        id: AgreementId,
    },
}

/// What a protocol's messages have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Said<B: Body> {
    /// The agreement.
    pub id: AgreementId,
    /// All agreements of this coordinator with smaller numbers are over: messages about them
    /// are old. Participants repeat what they were told.
    pub settled: u64,
    /// What is said.
    pub body: B,
}

/// What is said in a protocol.
pub trait Body: Payload {
    /// The word by which it is counted.
    fn kind(&self) -> &'static str;
    /// Whether its sender promises to hold or carry out a part.
    fn promises(&self) -> bool {
        false
    }
}

impl<B: Body> Message for Said<B> {
    fn id(&self) -> AgreementId {
        self.id
    }

    fn kind(&self) -> &'static str {
        self.body.kind()
    }

    fn promises(&self) -> bool {
        self.body.promises()
    }
}

/// A role that a protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nobody;

impl<P: Protocol> Machine<P> for Nobody {
    type Record = ();
    type Timer = ();
    type News = ();

    fn start(_: ActorId, _: &P::Rules, _: Vec<()>, _: Time, _: &mut Outputs<P, Nobody>) -> Nobody {
        Nobody
    }

    fn on_message(&mut self, _: Time, _: ActorId, _: P::Message, _: &mut Outputs<P, Nobody>) {}

    fn on_timer(&mut self, _: Time, (): (), _: &mut Outputs<P, Nobody>) {}
}
