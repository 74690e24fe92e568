//! The same clock over actix: every actor lives in an actix actor of its own,
//! and the clock awaits each answer before it hands out the next message.

use actix::{Context, Handler, MessageResult};
use haggle_agents::{Actor, AnyActor, Message, Outbox};
use haggle_model::{ActorId, Time};

use crate::world::{Course, RunError, RunStats, is_arrival};

/// An actix actor that hosts one of ours.
struct Host(AnyActor);

impl actix::Actor for Host {
    type Context = Context<Host>;
}

/// A message handed to a host, with an empty outbox to be filled and returned.
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

/// Runs `course` to its end with `actors` hosted by actix on this thread.
pub(crate) fn finish(mut course: Course<'_>, actors: Vec<AnyActor>) -> Result<RunStats, RunError> {
    actix::System::new().block_on(async move {
        let hosts: Vec<actix::Addr<Host>> =
            actors.into_iter().map(|actor| actix::Actor::start(Host(actor))).collect();
        let mut out = Outbox::default();
        while let Some(delivery) = course.take_next()? {
            let (to, hops) = (delivery.to, delivery.hops);
            let arrival = is_arrival(&delivery.message);
            let handover = Handover {
                now: course.now(),
                from: delivery.from,
                message: delivery.message,
                out: std::mem::take(&mut out),
            };
            let answer = hosts[to.index()].send(handover).await;
            out = answer.expect("a host lives as long as its address and returns its outbox");
            course.carry_out(to, hops, arrival, &mut out)?;
        }
        Ok(course.into_stats())
    })
}
