//! How much of a resource heavy sessions may take: what light ones do not need.
//!
//! The publication names Erlang's B formula only. The rule here: with
//! a = λ·h/N Erlang of light sessions a resource, m* is the smallest number of
//! places with B(m*, a) ≤ B*. While fewer than m* light sessions are there, the
//! missing places are kept free, c each; the rest is open to heavy ones.

use haggle_model::{Span, Time};

use crate::grid::erlang::places_for;
use crate::grid::time_shared::Share;

/// Light sessions needed before their statistics are trusted.
const SAMPLES: u32 = 30;

/// The load by light sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightLoad {
    /// Mean time between arrivals, 1/λ.
    pub inter_arrival: Span,
    /// Mean length of a session, h.
    pub holding: Span,
    /// Mean share, c.
    pub share: Share,
}

/// The limit, and the light sessions seen so far.
///
/// λ and c are means over all light arrivals, those rejected as well, h over all
/// light sessions that have ended. Until 30 have ended the initial values hold.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicLimit {
    /// L0: sessions up to this share are light.
    light: Share,
    /// B*: how many light sessions may be blocked.
    blocking: f64,
    initial: LightLoad,
    arrivals: u32,
    shares: u64,
    first: Time,
    last: Time,
    ended: u32,
    held: Span,
}

impl DynamicLimit {
    /// Sessions up to `light` are light; `blocking`, such as 0.05, of them may be rejected.
    ///
    /// # Panics
    /// If that is not above 0, or no time passes between initial arrivals.
    pub fn new(light: Share, blocking: f64, initial: LightLoad) -> DynamicLimit {
        assert!(blocking > 0.0, "some sessions are always blocked");
        assert!(initial.inter_arrival > Span::ZERO, "time passes between arrivals");
        DynamicLimit {
            light,
            blocking,
            initial,
            arrivals: 0,
            shares: 0,
            first: Time::ZERO,
            last: Time::ZERO,
            ended: 0,
            held: Span::ZERO,
        }
    }

    /// Whether a session of this share is light.
    pub fn is_light(&self, share: Share) -> bool {
        share <= self.light
    }

    /// A session has arrived.
    pub(super) fn arrived(&mut self, now: Time, share: Share) {
        if self.is_light(share) {
            if self.arrivals == 0 {
                self.first = now;
            }
            self.last = now;
            self.arrivals += 1;
            self.shares += u64::from(share.0);
        }
    }

    /// A session has ended.
    pub(super) fn departed(&mut self, holding: Span, share: Share) {
        if self.is_light(share) {
            self.ended += 1;
            self.held += holding;
        }
    }

    /// The light load as it is seen now.
    pub fn load(&self) -> LightLoad {
        let between = (self.last - self.first).as_micros() / i64::from(self.arrivals.max(2) - 1);
        if self.ended < SAMPLES || between == 0 {
            return self.initial;
        }
        LightLoad {
            inter_arrival: Span::from_micros(between),
            holding: Span::from_micros(self.held.as_micros() / i64::from(self.ended)),
            share: Share(self.shares.div_ceil(u64::from(self.arrivals)) as u32),
        }
    }

    /// m*: places for light sessions on each of `resources`.
    pub fn places(&self, resources: u32) -> u32 {
        let load = self.load();
        let offered = load.holding.as_secs_f64()
            / (load.inter_arrival.as_secs_f64() * f64::from(resources.max(1)));
        places_for(self.blocking, offered)
    }

    /// The largest share that is taken where so much is free beside `light` light
    /// sessions: max(L0, free − c·max(0, m* − light)).
    pub fn limit(&self, places: u32, free: Share, light: u32) -> Share {
        let reserve = places.saturating_sub(light).saturating_mul(self.load().share.0);
        self.light.max(Share(free.0.saturating_sub(reserve)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::sessions::{Session, SessionPolicy, Sessions, User};

    fn percent(percent: u32) -> Share {
        Share::from_percent(percent)
    }

    /// Three Erlang of light sessions.
    fn three_erlang() -> DynamicLimit {
        let load = LightLoad {
            inter_arrival: Span::from_secs(20),
            holding: Span::from_secs(60),
            share: percent(10),
        };
        DynamicLimit::new(percent(10), 0.05, load)
    }

    #[test]
    fn gm_m8_the_limit_leaves_places_for_light_sessions() {
        let rule = three_erlang();
        assert_eq!(rule.places(1), 7);
        let limit = |free, light| rule.limit(7, percent(free), light);
        assert_eq!(limit(60, 4), percent(30));
        assert_eq!(limit(30, 7), percent(30));
        assert_eq!(limit(30, 4), percent(10));
        assert_eq!(limit(20, 8), percent(20));
    }

    #[test]
    fn light_sessions_are_taken_where_heavy_ones_are_not() {
        let mut sessions = Sessions::new(SessionPolicy::DynamicLimit(three_erlang()), 1);
        let mut arrive = |share| {
            let session = Session { user: User(0), share: percent(share) };
            sessions.arrive(Time::ZERO, session).is_some()
        };
        assert!(!arrive(40) && arrive(30));
        assert!((0..7).all(|_| arrive(10)));
        assert!(!arrive(10));
    }

    #[test]
    fn statistics_replace_the_initial_load_after_thirty_sessions() {
        let mut rule = three_erlang();
        for number in 0..31 {
            rule.arrived(Time::from_secs(number * 10), percent(5));
            rule.arrived(Time::from_secs(number * 10), percent(50));
        }
        for _ in 0..29 {
            rule.departed(Span::from_secs(100), percent(5));
        }
        assert_eq!(rule.load(), rule.initial);
        rule.departed(Span::from_secs(100), percent(5));
        let seen = LightLoad {
            inter_arrival: Span::from_secs(10),
            holding: Span::from_secs(100),
            share: percent(5),
        };
        assert_eq!(rule.load(), seen);
    }
}
