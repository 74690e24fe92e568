//! The part of a resource for heavy sessions: the rest that light sessions do not need.
//!
//! The publication names Erlang's B formula only. The rule here: with a = λ·h/N Erlang of light sessions
//! per resource, m* is the smallest number of places with B(m*, a) ≤ B*. While there are fewer than m*
//! light sessions, the missing places are kept free, c each; the rest is open to heavy sessions.

use haggle_model::work::Fraction;
use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::erlang::places_for;
use crate::time_shared::Share;

/// Light sessions needed before their statistics are trusted.
const SAMPLES: u32 = 30;

/// The load by light sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LightLoad {
    /// Mean time between arrivals, 1/λ.
    pub inter_arrival: Span,
    /// Mean length of a session, h.
    pub holding: Span,
    /// Mean share, c.
    pub share: Share,
}

/// Parameters of a dynamic limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DynamicLimit {
    /// L0: sessions up to this share are light.
    pub light: Share,
    /// B*: the share of light sessions that may be blocked, above 0.
    pub blocking: Fraction,
    /// Load by light sessions, as assumed until 30 of them have ended.
    pub initial: LightLoad,
}

/// Room that a resource keeps free under a dynamic limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    light: Share,
    /// m*: places for light sessions.
    places: u32,
    /// c: the size of a place.
    share: Share,
}

impl DynamicLimit {
    /// The room that each of `resources` keeps free for this load.
    pub(super) fn room(&self, load: LightLoad, resources: u32) -> Room {
        let between = load.inter_arrival.as_secs_f64() * f64::from(resources);
        let offered = load.holding.as_secs_f64() / between;
        let target = f64::from(self.blocking.as_ppm()) / 1e6;
        // A place takes at least 1/10,000 of a resource, and that many sessions may run. Twice as many
        // places already keep everything free, so a larger number changes nothing.
        let places = places_for(target, offered, 2 * Share::WHOLE.0);
        Room { light: self.light, places, share: load.share }
    }
}

impl Room {
    /// The largest accepted share, if `free` is free beside `light` light sessions: max(L0, free − c·max(0,
    /// m* − light)).
    pub(super) fn limit(&self, free: Share, light: u32) -> Share {
        // Saturating: more room than a whole resource keeps all of it free.
        let reserve = self.places.saturating_sub(light).saturating_mul(self.share.0);
        self.light.max(Share(free.0.saturating_sub(reserve)))
    }
}

/// The light sessions so far.
///
/// λ and c are means over all light arrivals, including rejected ones; h is the mean over all light
/// sessions that have ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LightSessions {
    arrivals: u32,
    shares: u64,
    first: Time,
    last: Time,
    ended: u32,
    held: Span,
}

impl LightSessions {
    /// A session has arrived.
    pub(super) fn arrived(&mut self, now: Time, share: Share) {
        if self.arrivals == 0 {
            self.first = now;
        }
        self.last = now;
        self.arrivals += 1;
        self.shares += u64::from(share.0);
    }

    /// A session has ended after `holding`.
    pub(super) fn departed(&mut self, holding: Span) {
        self.ended += 1;
        self.held += holding;
    }

    /// Their load; `None` while there are too few of them for an estimate.
    pub(super) fn load(&self) -> Option<LightLoad> {
        // n arrivals have n − 1 times between them.
        let between = (self.last - self.first).as_micros() / i64::from(self.arrivals.max(2) - 1);
        (self.ended >= SAMPLES && between > 0).then(|| LightLoad {
            inter_arrival: Span::from_micros(between),
            holding: Span::from_micros(self.held.as_micros() / i64::from(self.ended)),
            // Rounded up, so that a place is never too small for its session.
            share: Share(self.shares.div_ceil(u64::from(self.arrivals)) as u32),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{Session, SessionPolicy, Sessions};

    fn percent(percent: u32) -> Share {
        Share::from_percent(percent)
    }

    /// Three Erlang of light sessions.
    fn three_erlang() -> DynamicLimit {
        let initial = LightLoad {
            inter_arrival: Span::from_secs(20),
            holding: Span::from_secs(60),
            share: percent(10),
        };
        DynamicLimit { light: percent(10), blocking: Fraction::from_percent(5), initial }
    }

    #[test]
    fn gm_m8_the_limit_leaves_places_for_light_sessions() {
        let rule = three_erlang();
        let room = rule.room(rule.initial, 1);
        assert_eq!(room.places, 7);
        let limit = |free, light| room.limit(percent(free), light);
        assert_eq!(limit(60, 4), percent(30));
        assert_eq!(limit(30, 7), percent(30));
        assert_eq!(limit(30, 4), percent(10));
        assert_eq!(limit(20, 8), percent(20));
    }

    #[test]
    fn light_sessions_are_taken_where_heavy_ones_are_not() {
        let mut sessions = Sessions::new(SessionPolicy::DynamicLimit(three_erlang()), 1);
        let mut arrive = |share| {
            let session = Session { share: percent(share), ..Session::default() };
            sessions.arrive(Time::ZERO, session, |_| true).is_some()
        };
        assert!(!arrive(40) && arrive(30));
        assert!((0..7).all(|_| arrive(10)));
        assert!(!arrive(10));
    }

    #[test]
    fn statistics_are_trusted_after_thirty_sessions() {
        let mut seen = LightSessions::default();
        for number in 0..31 {
            seen.arrived(Time::from_secs(number * 10), percent(5));
        }
        for _ in 0..29 {
            seen.departed(Span::from_secs(100));
        }
        assert_eq!(seen.load(), None);
        seen.departed(Span::from_secs(100));
        let load = LightLoad {
            inter_arrival: Span::from_secs(10),
            holding: Span::from_secs(100),
            share: percent(5),
        };
        assert_eq!(seen.load(), Some(load));
    }
}
