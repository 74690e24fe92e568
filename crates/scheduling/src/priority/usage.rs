//! Usage of associations in weighted processor-seconds.
//!
//! A second s in which a job ran adds rate × 2^(-(t - s) / half-life) to the usage of its user at an instant t.
//! Seconds before the last reset add nothing. The sum is evaluated in closed form. So it does not depend on
//! the instants at which it is read, except for rounding. An account has the sum of its members.
//!
//! Slurm approximates the same number in steps of `PriorityCalcPeriod`: the factor of a second is
//! 1 - 0.693 / half-life, and usage within a step decays by the whole step. With its defaults, a step of 5
//! minutes and a half-life of 7 days, both differ by some hundredths of a percent.

use std::f64::consts::LN_2;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::resets::Resets;
use super::resources::Billing;
use super::tree::{Association, Tree};

/// Usage of one user.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Charged {
    /// Processor-seconds at [`Charged::at`].
    raw: f64,
    at: Time,
    /// Sum of the rates of running jobs.
    rate: Billing,
}

impl Charged {
    const NONE: Charged = Charged { raw: 0.0, at: Time::PAST, rate: Billing(0) };
}

/// Usage of all users, charged while jobs run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Usage {
    half_life: Option<Span>,
    resets: Resets,
    /// By association; accounts have no entries of their own.
    users: Vec<Charged>,
}

impl Usage {
    /// No usage. Past usage counts half after `half_life` (`PriorityDecayHalfLife`), or for ever without one. A
    /// half-life that is not positive is none.
    pub fn new(tree: &Tree, half_life: Option<Span>, resets: Resets) -> Usage {
        let half_life = half_life.filter(|&half_life| half_life > Span::ZERO);
        Usage { half_life, resets, users: vec![Charged::NONE; tree.len()] }
    }

    /// Associations have been added to the tree.
    pub fn grow(&mut self, tree: &Tree) {
        self.users.resize(tree.len(), Charged::NONE);
    }

    /// Adds usage of the past, in processor-seconds as of this instant.
    pub fn add(&mut self, user: Association, processor_seconds: f64, now: Time) {
        self.settle(user, now).raw += processor_seconds;
    }

    /// A job of this user starts, and is charged from this instant on.
    pub fn start(&mut self, user: Association, billing: Billing, now: Time) {
        let user = self.settle(user, now);
        user.rate = Billing(user.rate.0.saturating_add(billing.0));
    }

    /// A job of this user ends, and is charged up to this instant.
    pub fn end(&mut self, user: Association, billing: Billing, now: Time) {
        let user = self.settle(user, now);
        user.rate = Billing(user.rate.0.saturating_sub(billing.0));
    }

    /// Processor-seconds of each association at an instant, by number. The sums of accounts are made in the
    /// reverse order of numbers, so equal members give equal sums. The instant must not be before the last change.
    pub fn raw(&self, tree: &Tree, now: Time) -> Vec<f64> {
        let reset = self.resets.last(now);
        let mut raw: Vec<f64> =
            self.users.iter().map(|user| self.value(user, now, reset)).collect();
        for association in tree.associations().rev() {
            if association != Association::ROOT {
                raw[tree.parent(association).index()] += raw[association.index()];
            }
        }
        raw
    }

    /// Brings a user to an instant.
    fn settle(&mut self, user: Association, now: Time) -> &mut Charged {
        let reset = self.resets.last(now);
        let raw = self.value(&self.users[user.index()], now, reset);
        let user = &mut self.users[user.index()];
        (user.raw, user.at) = (raw, now);
        user
    }

    /// Usage of a user at an instant after its last change; `reset` is the last one before it.
    fn value(&self, user: &Charged, now: Time, reset: Option<Time>) -> f64 {
        let (raw, from) = match reset {
            Some(reset) if reset > user.at => (0.0, reset),
            _ => (user.raw, user.at),
        };
        if raw == 0.0 && user.rate == Billing(0) {
            return 0.0;
        }
        let seconds = (now - from).max(Span::ZERO).as_secs_f64();
        let rate = user.rate.processors();
        match self.half_life {
            None => raw + rate * seconds,
            Some(half_life) => {
                let decay = LN_2 / half_life.as_secs_f64();
                // Functions of libm give the same bits on every machine.
                let lost = -libm::expm1(-decay * seconds);
                raw * (1.0 - lost) + rate * (lost / decay)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::resets::ResetPeriod;
    use super::super::tree::Shares;
    use super::*;

    const DAY: i64 = 86_400;

    /// Users 2 and 3 of account 1, and user 4 of the root account.
    fn tree() -> (Tree, [Association; 3]) {
        let mut tree = Tree::new();
        let account = tree.account(Association::ROOT, Shares::Of(1)).unwrap();
        let users = [account, account, Association::ROOT];
        let users = users.map(|account| tree.user(account, Shares::Of(1)).unwrap());
        (tree, users)
    }

    fn at(days: i64) -> Time {
        Time::from_secs(days * DAY)
    }

    #[test]
    fn usage_is_halved_after_a_half_life() {
        let (tree, [first, ..]) = tree();
        let mut usage = Usage::new(&tree, Some(Span::from_secs(7 * DAY)), Resets::default());
        usage.add(first, 1000.0, at(1));
        let raw = |days| usage.raw(&tree, at(days))[first.index()];
        assert_eq!(raw(1), 1000.0);
        assert!((raw(8) - 500.0).abs() < 1e-9);
        assert!((raw(22) - 125.0).abs() < 1e-9);
    }

    #[test]
    fn a_running_job_is_charged_up_to_the_instant() {
        let (tree, [first, second, third]) = tree();
        let mut usage = Usage::new(&tree, None, Resets::default());
        let raw = |usage: &Usage, days| {
            let raw = usage.raw(&tree, at(days)).into_iter();
            raw.map(|seconds| seconds / DAY as f64).collect::<Vec<f64>>()
        };
        usage.start(first, Billing::of(4.0), at(0));
        assert_eq!(raw(&usage, 1), [4.0, 4.0, 4.0, 0.0, 0.0]);
        usage.start(second, Billing::of(1.5), at(1));
        usage.end(first, Billing::of(4.0), at(2));
        usage.start(third, Billing::of(1.0), at(2));
        assert_eq!(raw(&usage, 3), [12.0, 11.0, 8.0, 3.0, 1.0]);
    }

    /// A job that runs for ever tends to rate × half-life / ln 2.
    #[test]
    fn a_running_job_decays_while_it_is_charged() {
        let (tree, [first, ..]) = tree();
        let half_life = Span::from_secs(DAY);
        let mut usage = Usage::new(&tree, Some(half_life), Resets::default());
        usage.start(first, Billing::of(2.0), at(0));
        let limit = 2.0 * DAY as f64 / LN_2;
        let raw = |days| usage.raw(&tree, at(days))[first.index()] / limit;
        assert!((raw(1) - 0.5).abs() < 1e-12);
        assert!((raw(3) - 0.875).abs() < 1e-12);
        assert!((raw(100) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_reset_forgets_all_usage_before_it() {
        let (tree, [first, second, _]) = tree();
        let resets = Resets { period: ResetPeriod::Daily, start: 0 };
        let mut usage = Usage::new(&tree, None, resets);
        usage.add(first, 1e6, at(0));
        usage.start(second, Billing::of(1.0), Time::from_secs(DAY / 2));
        let noon = Time::from_secs(DAY + DAY / 2);
        assert_eq!(usage.raw(&tree, noon)[first.index()], 0.0);
        assert_eq!(usage.raw(&tree, noon)[second.index()], DAY as f64 / 2.0);
        usage.end(second, Billing::of(1.0), noon);
        assert_eq!(usage.raw(&tree, noon)[0], DAY as f64 / 2.0);
        assert_eq!(usage.raw(&tree, at(2))[0], 0.0);
    }

    #[test]
    fn the_rate_is_zero_again_when_all_jobs_have_ended() {
        let (tree, [first, ..]) = tree();
        let mut usage = Usage::new(&tree, None, Resets::default());
        let bills = [0.1, 0.7, 0.2].map(Billing::of);
        bills.iter().for_each(|&billing| usage.start(first, billing, at(0)));
        bills.iter().rev().for_each(|&billing| usage.end(first, billing, at(1)));
        assert_eq!(usage.raw(&tree, at(1)), usage.raw(&tree, at(9)));
    }
}
