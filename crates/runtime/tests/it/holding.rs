//! A metascheduler that agrees with two providers, whose messages are given to it one by one.

use std::sync::Arc;

use haggle_agents::protocol::bargain::Answer as Offered;
use haggle_agents::protocol::{AgreementMessage, BargainMessage, SubmissionMessage};
use haggle_agents::{Actor, Effect, Message, Negotiator, NegotiatorConfig, Outbox, Submission};
use haggle_agreements::{AgreementId, Answer, ToCoordinator};
use haggle_model::{ActorId, Job, JobClass, JobId, JobShape, Span, Time};
use haggle_scheduling::Offer;
use haggle_scheduling::composition::{AnyView, CompositionOptions, CompositionPolicy};
use haggle_testing::at;
use serde_json::json;

use crate::setup::job;

const ME: ActorId = ActorId(2);

/// The metascheduler, its bag, and the messages that it has sent.
struct Scene {
    negotiator: Negotiator,
    job: JobId,
    said: Vec<(ActorId, Message)>,
}

impl Scene {
    /// A bag of eight tasks with the deadline 30 s, and providers that each offer to take half of it.
    fn with(providers: [ActorId; 2]) -> Scene {
        Scene::offered(&providers, 4, Some(at(30)), config(&providers))
    }

    /// A bag of eight tasks, and providers that each offer to complete `tasks` of them by 20 s. The offers of 1 s are
    /// valid until 9 s.
    fn offered(
        providers: &[ActorId],
        tasks: u32,
        deadline: Option<Time>,
        config: NegotiatorConfig,
    ) -> Scene {
        let bag = Job { shape: JobShape::Bag, deadline, ..job(1, 0, 5, 5, 8) };
        let negotiator = Negotiator::new(config);
        let mut scene = Scene { negotiator, job: bag.id, said: Vec::new() };
        let user = ActorId(3);
        let submission = Submission { job: Arc::new(bag), class: JobClass::External, user };
        scene.tell(at(0), user, SubmissionMessage::Submit(submission));
        assert_eq!(scene.told("call"), providers);
        for &provider in providers {
            let offers = [Offer { tasks, completion: at(20) }];
            let view: AnyView =
                serde_json::from_value(json!({ "Offers": { "offers": offers, "extra": null } }))
                    .expect("a view of offers");
            let valid = (at(1), at(9));
            let answer = Offered { job: scene.job, answer: 1, valid, view };
            scene.tell(at(1), provider, BargainMessage::Offers(Box::new(answer)));
        }
        scene
    }

    /// Drops the earlier messages of the metascheduler and delivers one to it.
    fn tell(&mut self, now: Time, from: ActorId, message: impl Into<Message>) {
        let mut out = Outbox::default();
        self.negotiator.on_message(now, from, message.into(), &mut out);
        assert_eq!(out.observations, [], "it refuses that");
        self.said = Vec::from_iter(out.effects.into_iter().filter_map(|effect| match effect {
            Effect::Send { to, message } => Some((to, message)),
            _ => None,
        }));
    }

    /// Receivers of the last messages of this kind, in order.
    fn told(&self, kind: &str) -> Vec<ActorId> {
        let told = self.said.iter().filter(|(_, message)| message.kind() == kind);
        told.map(|&(to, _)| to).collect()
    }

    /// The present agreement.
    fn agreement(&self) -> AgreementId {
        let instructed = self.said.iter().find_map(|(_, message)| match message {
            Message::Agreement(AgreementMessage::Instruct { message, .. }) => Some(message.id),
            _ => None,
        });
        instructed.expect("somebody is to hold something")
    }

    fn ready(&mut self, now: Time, from: ActorId, id: AgreementId, lease: i64) {
        let answer = Answer::Ready { terms: at(20), lease: Span::from_secs(lease) };
        let message = Box::new(ToCoordinator { id, answer });
        let job = self.job;
        self.tell(now, from, AgreementMessage::Answer { job, message });
    }
}

fn config(providers: &[ActorId]) -> NegotiatorConfig {
    NegotiatorConfig {
        me: ME,
        policy: CompositionPolicy::OffersPlb,
        options: CompositionOptions::default(),
        providers: providers.to_vec(),
        coordinated: false,
        rounds: 5,
        offers_wait: None,
        retry: None,
        resends: true,
    }
}

const BOTH: [ActorId; 2] = [ActorId(0), ActorId(1)];

/// Prepares were sent at 1 s, and a part is held for 2 s. So a commit is possible until 3 s.
#[test]
fn a_round_whose_first_hold_has_ended_is_given_up() {
    for (second, in_time) in [(2, true), (3, true), (4, false), (5, false)] {
        let mut scene = Scene::with(BOTH);
        assert_eq!(scene.told("prepare"), BOTH);
        let id = scene.agreement();
        scene.ready(at(2), ActorId(0), id, 2);
        assert_eq!(scene.said, [], "one is still to vote");
        scene.ready(at(second), ActorId(1), id, 100);
        let (commits, aborts) = (scene.told("commit"), scene.told("abort"));
        if in_time {
            assert_eq!((commits, aborts), (BOTH.to_vec(), vec![]), "{second}");
        } else {
            assert_eq!((commits, aborts), (vec![], BOTH.to_vec()), "{second}");
            // The bag is composed anew, from new offers.
            assert_eq!(scene.told("refresh"), BOTH, "{second}");
        }
    }
}

/// Providers are asked in the order of their list, but receive prepares and commits in the order of the scenario.
#[test]
fn providers_are_told_to_hold_and_to_commit_in_the_order_of_the_scenario() {
    let mut scene = Scene::with([ActorId(1), ActorId(0)]);
    assert_eq!(scene.told("prepare"), BOTH);
    let id = scene.agreement();
    scene.ready(at(1), ActorId(1), id, 5);
    scene.ready(at(1), ActorId(0), id, 5);
    assert_eq!(scene.told("commit"), BOTH);
}

/// A provider may use the time up to the expected completion that it was sent. So its user is promised no earlier
/// end, even if the provider would be earlier now.
#[test]
fn a_bag_that_nobody_held_is_promised_no_earlier_than_its_provider_is_told_to_expect() {
    for (done_by, promised) in [(15, 20), (20, 20), (25, 25)] {
        let only = ActorId(0);
        let config = NegotiatorConfig { coordinated: true, rounds: 0, ..config(&[only]) };
        let mut scene = Scene::offered(&[only], 8, None, config);
        assert_eq!(scene.told("commit"), [only]);
        let (id, job) = (scene.agreement(), scene.job);
        let answer = Answer::Committed(Some(at(done_by)));
        let message = Box::new(ToCoordinator { id, answer });
        scene.tell(at(2), only, AgreementMessage::Answer { job, message });
        let promise = SubmissionMessage::Promise { job, completion: at(promised) };
        assert_eq!(scene.said, [(ActorId(3), promise.into())], "done by {done_by}");
    }
}
