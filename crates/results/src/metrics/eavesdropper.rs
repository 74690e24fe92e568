//! Estimates about a provider by an eavesdropper that reads all of its answers.
//!
//! The eavesdropper knows one law. A provider of power C with work W ahead of a bag completes n tasks
//! of length T about (W + n T) / C from now. An offer that meets the deadline only shows that this time
//! is early enough. Offers beyond the deadline are points on that line. Their slope within a call is
//! 1/C, pooled over all calls (a regression with fixed effects), and their height is W/C. Disclosed
//! items need no estimate.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Disclosure, OffersMade, Time};
use serde::{Deserialize, Serialize};

/// Errors of the eavesdropper at the end of a run, means over providers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eavesdropping {
    /// Answers read.
    pub answers: u64,
    /// 100 x |estimated - true| / true computing power, from all answers.
    pub power_error_percent: f64,
    /// 100 x sum of |estimated - true| / sum of true work left, over the provider's answers. Each
    /// estimate uses the answers read so far.
    pub load_error_percent: f64,
}

/// Reads answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Eavesdropper {
    providers: BTreeMap<ActorId, Estimate>,
}

/// Estimate of one provider; work in processor-seconds of the reference processor.
#[derive(Clone, Debug, Default)]
struct Estimate {
    answers: u64,
    /// Sums of the regression.
    sum_xx: f64,
    sum_xy: f64,
    /// Least power of a provider that could have made these offers.
    least_power: f64,
    told_power: Option<f64>,
    true_power: f64,
    load_error: f64,
    true_load: f64,
}

impl Eavesdropper {
    pub(super) fn read(&mut self, now: Time, provider: ActorId, answer: &OffersMade) {
        self.providers.entry(provider).or_default().read(now, answer);
    }

    pub(super) fn sum_up(&self) -> Option<Eavesdropping> {
        if self.providers.is_empty() {
            return None;
        }
        let mean = |value: &dyn Fn(&Estimate) -> f64| {
            self.providers.values().map(value).sum::<f64>() / self.providers.len() as f64
        };
        Some(Eavesdropping {
            answers: self.providers.values().map(|it| it.answers).sum(),
            power_error_percent: mean(&|it| {
                100.0 * (it.power() - it.true_power).abs() / it.true_power
            }),
            load_error_percent: mean(&|it| {
                if it.true_load > 0.0 { 100.0 * it.load_error / it.true_load } else { 0.0 }
            }),
        })
    }
}

const MICROS: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

impl Estimate {
    fn read(&mut self, now: Time, answer: &OffersMade) {
        self.answers += 1;
        self.true_power = answer.power as f64 / 1e3;
        let load = answer.load as f64 / 1e3 / MICROS;
        let task = answer.task_time.as_secs_f64();
        // (work of the offer, time to its completion); `open` = not rounded up to the deadline.
        let points: Vec<(f64, f64, bool)> = answer
            .offers
            .iter()
            .map(|&(tasks, completion)| {
                let open = answer.deadline.is_none_or(|deadline| completion > deadline);
                (f64::from(tasks) * task, (completion - now).as_secs_f64(), open)
            })
            .collect();
        for &(work, time, _) in points.iter().filter(|point| point.1 > 0.0) {
            self.least_power = self.least_power.max(work / time);
        }
        let open: Vec<(f64, f64)> =
            points.iter().filter(|point| point.2).map(|&(work, time, _)| (work, time)).collect();
        // Without open points, the means are not numbers, and nothing uses them.
        let count = open.len() as f64;
        let mean_work = open.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_time = open.iter().map(|point| point.1).sum::<f64>() / count;
        for &(work, time) in &open {
            self.sum_xx += (work - mean_work) * (work - mean_work);
            self.sum_xy += (work - mean_work) * (time - mean_time);
        }
        // Comes first, because the estimate below uses it.
        if answer.level >= Disclosure::Power {
            self.told_power = Some(self.true_power);
        }
        let estimate = if answer.level >= Disclosure::Load {
            load
        } else if !open.is_empty() {
            (self.power() * mean_time - mean_work).max(0.0)
        } else {
            // It is only known that the whole bag fits before its deadline. The estimate is half of the
            // work that could be ahead of it.
            let room = points.last().map_or(0.0, |&(work, time, _)| self.power() * time - work);
            room.max(0.0) / 2.0
        };
        self.load_error += (estimate - load).abs();
        self.true_load += load;
    }

    fn power(&self) -> f64 {
        // A slope needs two open points of one call.
        let fitted = if self.sum_xy > 0.0 { self.sum_xx / self.sum_xy } else { 0.0 };
        // A fitted power cannot be less than one that an offer has proved.
        self.told_power.unwrap_or(fitted.max(self.least_power))
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::{JobId, Span};

    use super::*;

    fn answer(level: Disclosure, load: f64, offers: &[(u32, i64)]) -> OffersMade {
        OffersMade {
            to: ActorId(9),
            job: JobId(0),
            tasks: 40,
            task_time: Span::from_secs(10),
            deadline: Some(Time::from_secs(15)),
            level,
            offers: offers.iter().map(|&(n, at)| (n, Time::from_secs(at))).collect(),
            power: 10_000,
            load: (load * 1e9) as u128,
        }
    }

    fn errors(answers: &[OffersMade]) -> Eavesdropping {
        let mut eavesdropper = Eavesdropper::default();
        for answer in answers {
            eavesdropper.read(Time::ZERO, ActorId(1), answer);
        }
        eavesdropper.sum_up().expect("answers were read")
    }

    #[test]
    fn offers_beyond_the_deadline_give_power_and_load_away() {
        // 10 processors with 100 processor-seconds ahead: (100 + 10 n) / 10 seconds.
        let found = errors(&[answer(Disclosure::Offers, 100.0, &[(10, 20), (20, 30), (40, 50)])]);
        assert!(found.power_error_percent < 1e-9, "{found:?}");
        assert!(found.load_error_percent < 1e-9, "{found:?}");
    }

    #[test]
    fn an_offer_at_the_deadline_gives_away_little() {
        let found = errors(&[answer(Disclosure::Offers, 100.0, &[(4, 15)])]);
        // 40 processor-seconds in 15 s need 2.7 processors; there are 10.
        assert!((found.power_error_percent - 73.333).abs() < 0.01, "{found:?}");
        assert_eq!(found.load_error_percent, 100.0);
    }

    #[test]
    fn what_is_disclosed_is_known() {
        let found = errors(&[answer(Disclosure::Load, 100.0, &[(4, 15)])]);
        assert_eq!((found.power_error_percent, found.load_error_percent), (0.0, 0.0));
        let found = errors(&[answer(Disclosure::Power, 100.0, &[(4, 15)])]);
        assert_eq!(found.power_error_percent, 0.0);
    }
}
