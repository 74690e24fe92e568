//! A host takes messages from other parts alone.

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{AnyActor, Message, RunMessage};
use haggle_model::{ActorId, JobId, Time};
use haggle_runtime::{Host, HostError, Leaving};

use crate::any_message::worlds;

#[test]
fn a_host_takes_no_message_that_is_not_sent_to_it() {
    let (_, make) = &worlds()[0];
    let world = make();
    let provider = ActorId(world.actors.iter().position(is_provider).expect("a provider") as u32);
    let user = world.actors.iter().position(|it| matches!(it, AnyActor::User(_)));
    let user = ActorId(user.expect("a user") as u32);
    let nobody = ActorId(world.actors.len() as u32);
    let mut host = Host::new(world, [provider].into()).expect("good jobs");
    let said = Message::from(SubmissionMessage::Started { job: JobId(0) });
    let mut refusal = |sent: Time, from: ActorId, to: ActorId, message: &Message| {
        let message = Leaving { sent, from, to, message: message.clone() };
        host.receive(Time::from_secs(1), message).expect("it goes on").err()
    };
    let now = Time::ZERO;
    assert_eq!(refusal(now, provider, user, &said), Some(HostError::NotHere { to: user }));
    assert_eq!(refusal(now, user, nobody, &said), Some(HostError::NotHere { to: nobody }));
    let own = HostError::NotFromOutside { from: provider };
    assert_eq!(refusal(now, provider, provider, &said), Some(own));
    let from_nobody = HostError::NotFromOutside { from: nobody };
    assert_eq!(refusal(now, nobody, provider, &said), Some(from_nobody));
    let of_world = Message::from(RunMessage::Crashed);
    let not_sent = HostError::NotSent { kind: "crashed" };
    assert_eq!(refusal(now, user, provider, &of_world), Some(not_sent));
    let never = HostError::NoTime { sent: Time::FOREVER };
    assert_eq!(refusal(Time::FOREVER, user, provider, &said), Some(never));
    assert_eq!(refusal(now, user, provider, &said), None, "the actor itself refuses it");
    assert_eq!(host.stats().refused, 1);
}

fn is_provider(actor: &AnyActor) -> bool {
    matches!(actor, AnyActor::Provider(_))
}
