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

/// All hosts of a run, on this thread, and the system that drives them.
pub(crate) struct Hosts {
    hosts: Vec<Addr<Host>>,
    system: SystemRunner,
}

impl Hosts {
    pub(super) fn new(actors: Vec<AnyActor>) -> Hosts {
        let system = actix::System::new();
        let start = |actor| actix::Actor::start(Host(actor));
        let hosts = system.block_on(async { actors.into_iter().map(start).collect() });
        Hosts { hosts, system }
    }

    pub(super) fn replace(&mut self, place: ActorId, actor: AnyActor) {
        // The old host stops with its last address.
        let host = self.system.block_on(async { actix::Actor::start(Host(actor)) });
        self.hosts[place.index()] = host;
    }

    pub(super) fn deliver(
        &self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: Message,
        out: &mut Outbox,
    ) {
        let handover = Handover { now, from, message, out: std::mem::take(out) };
        let answer = self.system.block_on(self.hosts[to.index()].send(handover));
        *out = answer.expect("a host lives as long as its address and returns its outbox");
    }
}
