//! Effects of light sessions on a dynamic limit.

use haggle_grids::{
    DynamicLimit, Fraction, LightLoad, ResourceId, Session, SessionPolicy, Sessions, Share, erlang,
};
use haggle_model::{Span, Time};

const RESOURCE: ResourceId = ResourceId(0);

fn of(percent: u32) -> Session {
    Session { share: Share::from_percent(percent), ..Session::default() }
}

/// A light session arrives each second and stays for 10 s, and there is room for five. Every other one is rejected,
/// and places are kept for these, too.
#[test]
fn light_sessions_that_are_rejected_count_as_load() {
    let second = Span::from_secs(1);
    let initial = LightLoad { inter_arrival: second * 1_000, holding: second, share: of(1).share };
    let limit = DynamicLimit { light: of(1).share, blocking: Fraction::from_percent(5), initial };
    let mut sessions = Sessions::new(SessionPolicy::DynamicLimit(limit), 1);
    assert_eq!(sessions.arrive(Time::ZERO, of(95), |_| true), Some(RESOURCE));
    let mut running: Vec<Time> = Vec::new();
    for number in 0..200 {
        let now = Time::from_secs(number);
        while let Some(&start) = running.first().filter(|&&start| start + second * 10 <= now) {
            running.remove(0);
            sessions.depart(start, now, of(1), RESOURCE);
        }
        running.extend(sessions.arrive(now, of(1), |_| true).map(|_| now));
    }
    assert_eq!(running.len(), 5);
    sessions.depart(Time::ZERO, Time::from_secs(200), of(95), RESOURCE);
    let kept = erlang::places_for(0.05, 10.0, 1_000) - 5;
    assert_eq!(sessions.limit(RESOURCE), of(95 - kept).share);
}
