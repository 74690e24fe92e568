//! Axes of time with dates and local times as ticks.

use chrono::{DateTime, Datelike, Months, NaiveDateTime};

use crate::axis::{Axis, TICK_SIZE};
use crate::type_face::width;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Distance between two ticks.
#[derive(Clone, Copy)]
enum Step {
    /// A number of seconds, counted from a Monday.
    Seconds(i64),
    /// A number of months, counted from a January.
    Months(u32),
}

/// From the finest to the coarsest.
const STEPS: [Step; 23] = [
    Step::Seconds(1),
    Step::Seconds(10),
    Step::Seconds(30),
    Step::Seconds(60),
    Step::Seconds(120),
    Step::Seconds(300),
    Step::Seconds(600),
    Step::Seconds(1_800),
    Step::Seconds(HOUR),
    Step::Seconds(2 * HOUR),
    Step::Seconds(3 * HOUR),
    Step::Seconds(6 * HOUR),
    Step::Seconds(12 * HOUR),
    Step::Seconds(DAY),
    Step::Seconds(2 * DAY),
    Step::Seconds(7 * DAY),
    Step::Seconds(14 * DAY),
    Step::Months(1),
    Step::Months(3),
    Step::Months(6),
    Step::Months(12),
    Step::Months(60),
    Step::Months(120),
];

/// An axis from `low` to `high` seconds. `zero` is the local time at 0, seconds since 1970-01-01. An
/// axis outside of all dates has no ticks.
pub(crate) fn axis((low, high): (f64, f64), zero: i64, room: f64) -> Axis {
    // Ticks lie within the axis, also if it does not end at whole seconds.
    let (from, until) = (zero + low.ceil() as i64, zero + high.floor() as i64);
    let mut axis = Axis::linear(&label(from, until), low, high, 2);
    axis.ticks = Vec::new();
    for step in STEPS {
        let Some(instants) = instants(from, until, step, room) else { continue };
        let tick = |&at: &i64| Some(((at - zero) as f64, text(date(at)?, step)));
        let ticks: Vec<(f64, String)> = instants.iter().filter_map(tick).collect();
        if ticks.iter().map(|(_, text)| width(text, TICK_SIZE) + 30.0).sum::<f64>() <= room {
            axis.ticks = ticks;
            break;
        }
    }
    axis
}

fn date(at: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(at, 0).map(|it| it.naive_utc())
}

/// The days that the axis covers.
fn label(from: i64, until: i64) -> String {
    let day = |at: i64| date(at).map(|it| it.format("%Y-%m-%d").to_string());
    match (day(from), day(until)) {
        (Some(first), Some(last)) if first == last => format!("local time of {first}"),
        (Some(first), Some(last)) => format!("local time, {first} to {last}"),
        _ => "local time".to_owned(),
    }
}

/// The ticks of a step; `None` if there are too many for labels.
fn instants(from: i64, until: i64, step: Step, room: f64) -> Option<Vec<i64>> {
    let most = (room / TICK_SIZE) as i64;
    match step {
        Step::Seconds(step) => {
            // 1970-01-01 was a Thursday.
            const MONDAY: i64 = 4 * DAY;
            // Rounded up to the first multiple that is not before the axis.
            let first = (from - MONDAY).div_euclid(step) + i64::from((from - MONDAY) % step != 0);
            let last = (until - MONDAY).div_euclid(step);
            let few = last - first < most;
            few.then(|| (first..=last).map(|i| i * step + MONDAY).collect())
        }
        Step::Months(step) => {
            let first = date(from)?.date();
            let month0 = first.month0() / step * step;
            // Counted from the year 0, so that ticks of ten years are round years.
            let year = if step < 12 {
                first.year()
            } else {
                first.year().div_euclid(step as i32 / 12) * (step as i32 / 12)
            };
            let start = first
                .with_day(1)?
                .with_month0(if step < 12 { month0 } else { 0 })?
                .with_year(year)?;
            let months = (0..)
                .map_while(|i: u32| start.checked_add_months(Months::new(i.checked_mul(step)?)));
            let seconds =
                months.filter_map(|it| Some(it.and_hms_opt(0, 0, 0)?.and_utc().timestamp()));
            let inside = seconds.skip_while(|&at| at < from).take_while(|&at| at <= until);
            // One tick more than fits shows that there are too many.
            let found: Vec<i64> = inside.take(most.max(0) as usize + 1).collect();
            (found.len() as i64 <= most).then_some(found)
        }
    }
}

/// Text of a tick: the date at the beginning of a day, otherwise the time of day.
fn text(at: NaiveDateTime, step: Step) -> String {
    let day_begins = at.and_utc().timestamp() % DAY == 0;
    let format = match step {
        Step::Months(step) if step >= 12 => "%Y",
        Step::Months(_) => "%b %Y",
        Step::Seconds(_) if day_begins => "%-d %b",
        Step::Seconds(step) if step < 60 => "%H:%M:%S",
        Step::Seconds(_) => "%H:%M",
    };
    at.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks from 1996-06-25 20:00 on, a Tuesday.
    fn ticks(hours: i64) -> (String, String) {
        let zero = 835_732_800;
        let axis = axis((0.0, (hours * HOUR) as f64), zero, 1_000.0);
        let texts = axis.ticks.iter().map(|(at, text)| format!("{:.1} h {text}", at / 3_600.0));
        (axis.label, texts.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn ticks_are_round_on_the_wall() {
        let (label, day) = ticks(12);
        assert_eq!(label, "local time, 1996-06-25 to 1996-06-26");
        assert!(day.contains("2.0 h 22:00") && day.contains("4.0 h 26 Jun"), "{day}");
        let (label, _) = ticks(2);
        assert_eq!(label, "local time of 1996-06-25");
        // Weeks begin on Mondays.
        let (_, month) = ticks(60 * 24);
        assert!(month.starts_with("124.0 h 1 Jul, 292.0 h 8 Jul"), "{month}");
        let (label, years) = ticks(3 * 365 * 24);
        assert_eq!(label, "local time, 1996-06-25 to 1999-06-25");
        assert!(years.contains("Jan 1997") && years.contains("Jan 1999"), "{years}");
    }

    #[test]
    fn times_beyond_all_dates_have_no_ticks() {
        assert!(axis((0.0, 9.0), i64::MAX / 2, 1_000.0).ticks.is_empty());
    }
}
