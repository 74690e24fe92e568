//! The instants at which jobs arrive.

use rand::RngExt;

use super::super::error::WorkloadError;
use super::{counts, sampler, wrong};
use haggle_model::law::Law;
use haggle_model::random::Stream;
use haggle_model::{Span, Time};

/// Hours of a day.
pub const HOURS: usize = 24;

const HOUR: Span = Span::from_secs(3_600);
const DAY: Span = Span::from_secs(86_400);

/// A hundred years. Longer periods are typing errors, and times could overflow.
const MOST_DAYS: u32 = 36_500;

/// Largest number of instants drawn for one day; they are held in memory.
const MOST_A_DAY: u32 = 1_000_000;

/// Instants in the order in which they are drawn.
pub(super) type Instants = Box<dyn Iterator<Item = Time> + Send>;

/// Arrivals of jobs from time zero on, which is midnight.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// A renewal process: times between arrivals are drawn one after another.
    Renewal {
        /// Time between two arrivals, and before the first, in seconds; below 0 counts as 0.
        between: Law,
        /// No job arrives at this time or later; `None` = until the number of jobs is reached.
        length: Option<Span>,
    },
    /// For each arrival: a day, drawn uniformly; an hour of that day, drawn by its weight; an instant
    /// in that hour, drawn uniformly. The number of jobs must be given.
    Hourly {
        /// The weights of the hours, relative to each other, from midnight on.
        weights: [f64; HOURS],
        /// Number of days.
        days: u32,
    },
    /// For each day a number of arrivals, each at a uniformly drawn instant of that day.
    Daily {
        /// The number, rounded to a whole one from 0 to a million.
        number: Law,
        /// Number of days.
        days: u32,
    },
}

impl Arrivals {
    /// Expected number of instants; infinite if only the number of jobs ends them.
    pub(super) fn expected(&self) -> f64 {
        match self {
            Arrivals::Renewal { between, length: Some(length) } => {
                let mean = between.mean();
                // An invalid law of times between arrivals is refused before the first arrival is drawn.
                if mean > 0.0 { length.as_secs_f64() / mean } else { 0.0 }
            }
            Arrivals::Renewal { length: None, .. } | Arrivals::Hourly { .. } => f64::INFINITY,
            Arrivals::Daily { number, days } => number.mean().max(0.0) * f64::from(*days),
        }
    }

    /// The parameter that determines their number.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Arrivals::Renewal { .. } => "between",
            Arrivals::Hourly { .. } => "hours",
            Arrivals::Daily { .. } => "per_day",
        }
    }

    /// The instants. They come in order of time, except for [`Arrivals::Hourly`], which also never
    /// ends. `bounded` is true if the number of jobs is given.
    pub(super) fn instants(
        &self,
        bounded: bool,
        stream: Stream,
    ) -> Result<Instants, WorkloadError> {
        match self {
            Arrivals::Renewal { between, length } => renewal(between, *length, bounded, stream),
            // Draws of this process never end by themselves.
            Arrivals::Hourly { .. } if !bounded => {
                Err(wrong("jobs", "is missing, which goes with hours".to_owned()))
            }
            Arrivals::Hourly { weights, days } => hourly(weights, *days, stream),
            Arrivals::Daily { number, days } => daily(number, *days, stream),
        }
    }
}

fn renewal(
    between: &Law,
    length: Option<Span>,
    bounded: bool,
    mut stream: Stream,
) -> Result<Instants, WorkloadError> {
    let law = sampler("between", between)?;
    if length.is_none() && !bounded {
        return Err(wrong("jobs", "is missing, and so is length".to_owned()));
    }
    if let Some(length) = length.filter(|&length| length <= Span::ZERO) {
        return Err(wrong("length", format!("is {length} s, expected more than 0 s")));
    }
    let mean = between.mean();
    // The clock may never reach the length.
    if !bounded && mean <= 0.0 {
        let problem = format!("is {mean} s on average, expected more than 0 s to reach the length");
        return Err(wrong("between", problem));
    }
    let mut clock = Time::ZERO;
    Ok(Box::new(std::iter::from_fn(move || {
        let gap = Span::from_secs_f64(law.sample(&mut stream).max(0.0));
        // A gap of a heavy-tailed law may pass the end of time.
        clock = (clock + gap).min(Time::FOREVER);
        length.is_none_or(|length| clock < Time::ZERO + length).then_some(clock)
    })))
}

fn hourly(
    weights: &[f64; HOURS],
    days: u32,
    mut stream: Stream,
) -> Result<Instants, WorkloadError> {
    let days = checked(days)?;
    let edges = (0..=HOURS).map(|hour| (HOUR * hour as i64).as_secs_f64()).collect();
    let law = sampler("hours", &Law::Histogram { edges, weights: weights.to_vec() })?;
    Ok(Box::new(std::iter::repeat_with(move || {
        let day = DAY * stream.random_range(0..days);
        // Rounded down, so that an instant stays in its hour.
        let micros = (law.sample(&mut stream) * 1e6).floor() as i64;
        Time::ZERO + day + Span::from_micros(micros)
    })))
}

fn daily(number: &Law, days: u32, mut stream: Stream) -> Result<Instants, WorkloadError> {
    let days = checked(days)?;
    let law = counts("per_day", number)?;
    let mean = number.mean();
    if mean > f64::from(MOST_A_DAY) {
        let problem = format!("is {mean} on average, expected {MOST_A_DAY} at most");
        return Err(wrong("per_day", problem));
    }
    Ok(Box::new((0..days).flat_map(move |day| {
        // The conversion to a whole number turns negative values into 0.
        let count = (law.sample(&mut stream).round() as u32).min(MOST_A_DAY);
        let mut instant = || stream.random_range(0..DAY.as_micros());
        let mut instants: Vec<i64> = (0..count).map(|_| instant()).collect();
        instants.sort_unstable();
        instants.into_iter().map(move |micros| Time::ZERO + DAY * day + Span::from_micros(micros))
    })))
}

fn checked(days: u32) -> Result<i64, WorkloadError> {
    if (1..=MOST_DAYS).contains(&days) {
        return Ok(i64::from(days));
    }
    Err(wrong("days", format!("is {days}, expected 1 to {MOST_DAYS}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haggle_model::random;

    fn instants(arrivals: &Arrivals) -> Instants {
        let stream = random::stream(1, "test", "arrivals");
        arrivals.instants(true, stream).expect("good parameters")
    }

    /// Day and hour of an instant, from 0.
    fn day_and_hour(instant: Time) -> (i64, usize) {
        let micros = (instant - Time::ZERO).as_micros();
        let hour = micros % DAY.as_micros() / HOUR.as_micros();
        (micros / DAY.as_micros(), hour as usize)
    }

    #[test]
    fn a_renewal_process_ends_before_its_length() {
        let arrivals = |length| Arrivals::Renewal { between: Law::Constant(60.0), length };
        let found: Vec<Time> = instants(&arrivals(Some(Span::from_secs(180)))).collect();
        assert_eq!(found, [60, 120].map(Time::from_secs));
        assert_eq!(instants(&arrivals(None)).nth(999), Some(Time::from_secs(60_000)));
    }

    #[test]
    fn hours_are_as_frequent_as_their_weights() {
        let mut weights = [0.0; HOURS];
        (weights[3], weights[23]) = (1.0, 3.0);
        let mut counts = [[0.0_f64; HOURS]; 2];
        for instant in instants(&Arrivals::Hourly { weights, days: 2 }).take(20_000) {
            let (day, hour) = day_and_hour(instant);
            counts[day as usize][hour] += 1.0 / 20_000.0;
        }
        for day in counts {
            // Five standard errors of an eighth.
            assert!((day[3] - 0.125).abs() < 0.012, "{}", day[3]);
            assert!((day[3] + day[23] - 0.5).abs() < 0.018, "{}", day[23]);
            assert!((0..HOURS).all(|hour| [3, 23].contains(&hour) || day[hour] == 0.0));
        }
    }

    #[test]
    fn every_day_has_its_number_of_arrivals() {
        let arrivals = Arrivals::Daily { number: Law::among([1.0, 2.0]), days: 4_000 };
        let found: Vec<Time> = instants(&arrivals).collect();
        assert!(found.is_sorted());
        let mut counts = [0; 4_000];
        let mut hours = [0; HOURS];
        for (day, hour) in found.into_iter().map(day_and_hour) {
            counts[day as usize] += 1;
            hours[hour] += 1;
        }
        let twice = counts.iter().filter(|&&count| count == 2).count();
        assert!(counts.iter().all(|count| [1, 2].contains(count)));
        assert!((1_840..2_160).contains(&twice), "five standard errors: {twice}");
        assert!(hours.iter().all(|hour| (170..330).contains(hour)), "any time of day: {hours:?}");
    }

    #[test]
    fn more_days_add_days() {
        let arrivals = |days| Arrivals::Daily { number: Law::Poisson { mean: 3.0 }, days };
        let few: Vec<Time> = instants(&arrivals(5)).collect();
        let more: Vec<Time> = instants(&arrivals(9)).take(few.len()).collect();
        assert_eq!(few, more);
    }

    #[test]
    fn what_would_not_end_or_never_begin_is_refused() {
        let refusal = |arrivals: Arrivals, bounded| {
            let stream = random::stream(1, "test", "arrivals");
            let refused = arrivals.instants(bounded, stream).map(|_| ());
            refused.expect_err("out of range").to_string()
        };
        let renewal = |seconds, length| {
            let length = Option::map(length, Span::from_secs);
            Arrivals::Renewal { between: Law::Constant(seconds), length }
        };
        let daily = |number, days| Arrivals::Daily { number: Law::Constant(number), days };
        let hourly = |weight, days| Arrivals::Hourly { weights: [weight; HOURS], days };
        for (arrivals, bounded, expected) in [
            (renewal(1.0, None), false, "jobs is missing, and so is length"),
            (renewal(1.0, Some(0)), true, "length is 0 s, expected more than 0 s"),
            (
                renewal(0.0, Some(9)),
                false,
                "between is 0 s on average, expected more than 0 s to reach the length",
            ),
            (hourly(1.0, 1), false, "jobs is missing, which goes with hours"),
            (hourly(1.0, 0), true, "days is 0, expected 1 to 36500"),
            (
                hourly(0.0, 1),
                true,
                "hours is no law: histogram law: sum of weights is 0, expected above 0",
            ),
            (daily(0.4, 1), true, "per_day is never more than 0.4, expected 1 or more"),
            (daily(1e9, 1), true, "per_day is 1000000000 on average, expected 1000000 at most"),
            (daily(1.0, 40_000), true, "days is 40000, expected 1 to 36500"),
        ] {
            assert_eq!(refusal(arrivals, bounded), format!("independent-jobs: {expected}"));
        }
    }
}
