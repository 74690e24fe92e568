//! What providers keep to themselves.

use haggle_model::{Disclosure, JobOutcome};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::setup::{Setup, job};

#[test]
fn a_provider_refuses_questions_above_its_level() {
    for level in Disclosure::ALL {
        let ran = Setup::default()
            .provider(4, Policy::Easy)
            .change(|provider| provider.disclosure = level)
            .metascheduler(Placement::LeastLoaded)
            .user(1, vec![job(1, 0, 10, 10, 1)])
            .run_on_both();
        let told = ran.log.contains("tells 1 load");
        assert_eq!(told, level >= Disclosure::Load, "{level:?}");
        assert_eq!(ran.log.contains("no_answer_not_disclosed"), !told);
        let placed = ran.outcomes()[0] == JobOutcome::Completed;
        assert_eq!(placed, told);
    }
}
