//! The same clock over actix: every actor is hosted by an actix actor of its own, and each answer is
//! awaited before the next message is delivered.

use actix::{Addr, Context, Handler, MessageResult, SystemRunner};
use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};

/// An actix actor that hosts one of ours.
struct Host(AnyActor);

impl actix::Actor for Host {
    type Context = Context<Host>;
}

/// A message for a host, with an empty outbox to be filled and returned.
struct Handover {
    now: Time,
    from: ActorId,
    message: Message,
    out: Outbox,
}

impl actix::Message for Handover {
    type Result = Outbox;
}

impl Handler<Handover> for Host {
    type Result = MessageResult<Handover>;

    fn handle(&mut self, handover: Handover, _: &mut Context<Host>) -> Self::Result {
        let Handover { now, from, message, mut out } = handover;
        self.0.on_message(now, from, message, &mut out);
        MessageResult(out)
    }
}

/// Asks a host for a copy of its actor.
struct Copy;

impl actix::Message for Copy {
    type Result = AnyActor;
}

impl Handler<Copy> for Host {
    type Result = MessageResult<Copy>;

    fn handle(&mut self, _: Copy, _: &mut Context<Host>) -> Self::Result {
        MessageResult(self.0.clone())
    }
}

/// All hosts of a run, on this thread, and the system that drives them.
pub(crate) struct Hosts {
    /// `None` = the actor had handled its last message when the snapshot was made.
    hosts: Vec<Option<Addr<Host>>>,
    system: SystemRunner,
}

impl Hosts {
    pub(super) fn new(actors: Vec<Option<AnyActor>>) -> Hosts {
        let system = actix::System::new();
        let start = |actor: Option<_>| actor.map(|it| actix::Actor::start(Host(it)));
        let hosts = system.block_on(async { actors.into_iter().map(start).collect() });
        Hosts { hosts, system }
    }

    /// Copies of all actors.
    pub(super) fn copy(&self) -> Vec<Option<AnyActor>> {
        self.hosts.iter().map(|host| host.as_ref().map(|host| self.copy_at(host))).collect()
    }

    /// A copy of one actor; `None` if there is no such actor, or it was dropped.
    pub(super) fn copy_of(&self, place: ActorId) -> Option<AnyActor> {
        let host = self.hosts.get(place.index())?.as_ref()?;
        Some(self.copy_at(host))
    }

    fn copy_at(&self, host: &Addr<Host>) -> AnyActor {
        let copied = self.system.block_on(host.send(Copy));
        copied.expect("a host lives as long as its address")
    }

    pub(super) fn count(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn push(&mut self, actor: AnyActor) {
        let host = self.system.block_on(async { actix::Actor::start(Host(actor)) });
        self.hosts.push(Some(host));
    }

    pub(super) fn replace(&mut self, place: ActorId, actor: AnyActor) {
        // The old host stops with its last address.
        let host = self.system.block_on(async { actix::Actor::start(Host(actor)) });
        self.hosts[place.index()] = Some(host);
    }

    pub(super) fn deliver(
        &self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: Message,
        out: &mut Outbox,
    ) {
        let Some(host) = &self.hosts[to.index()] else { return };
        let handover = Handover { now, from, message, out: std::mem::take(out) };
        let answer = self.system.block_on(host.send(handover));
        *out = answer.expect("a host lives as long as its address and returns its outbox");
    }
}
