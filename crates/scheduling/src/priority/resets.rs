//! Instants at which usage begins again at zero.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime};
use haggle_model::Time;
use haggle_model::time::MICROS_PER_SECOND;
use serde::{Deserialize, Serialize};

haggle_model::words! {
    /// How often usage begins again at zero, always at midnight (`PriorityUsageResetPeriod`).
    #[derive(Default)]
    pub enum ResetPeriod {
        /// Never.
        #[default]
        None = "none",
        /// Each day.
        Daily = "daily",
        /// Each Sunday.
        Weekly = "weekly",
        /// On the first day of each month.
        Monthly = "monthly",
        /// On the first days of January, April, July and October.
        Quarterly = "quarterly",
        /// On the first day of each year.
        Yearly = "yearly",
    }
}

/// Months of a quarter.
const QUARTER: u32 = 3;

/// The resets of a run, by the provider's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resets {
    /// How often.
    pub period: ResetPeriod,
    /// Local time at the start of the run, in seconds since midnight of 1970-01-01. A clock that is changed for
    /// summer is not followed.
    pub start: i64,
}

impl Resets {
    /// The last reset at or before this instant; `None` without resets.
    pub fn last(&self, now: Time) -> Option<Time> {
        let seconds = now.as_micros().div_euclid(MICROS_PER_SECOND).saturating_add(self.start);
        // Instants beyond the calendar are 250,000 years away, so no run reaches them.
        let today = DateTime::from_timestamp(seconds, 0)?.date_naive();
        let first = match self.period {
            ResetPeriod::None => return None,
            ResetPeriod::Daily => today,
            ResetPeriod::Weekly => {
                let days = today.weekday().num_days_from_sunday();
                today.checked_sub_days(Days::new(u64::from(days)))?
            }
            ResetPeriod::Monthly => today.with_day(1)?,
            ResetPeriod::Quarterly => {
                let month = today.month0() / QUARTER * QUARTER;
                NaiveDate::from_ymd_opt(today.year(), month + 1, 1)?
            }
            ResetPeriod::Yearly => NaiveDate::from_ymd_opt(today.year(), 1, 1)?,
        };
        let midnight = first.and_time(NaiveTime::MIN).and_utc().timestamp();
        Some(Time::from_secs(midnight - self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    /// A run that begins on Wednesday, 2020-02-26, at 06:00.
    fn last(period: ResetPeriod, days: i64) -> Option<i64> {
        let start = DateTime::parse_from_rfc3339("2020-02-26T06:00:00Z").unwrap().timestamp();
        let last = Resets { period, start }.last(Time::from_secs(days * DAY));
        last.map(|last| last.as_micros() / MICROS_PER_SECOND)
    }

    #[test]
    fn usage_begins_again_at_midnight() {
        let sixth = -6 * 3600;
        assert_eq!(last(ResetPeriod::None, 40), None);
        assert_eq!(last(ResetPeriod::Daily, 0), Some(sixth));
        assert_eq!(last(ResetPeriod::Daily, 40), Some(40 * DAY + sixth));
        assert_eq!(last(ResetPeriod::Weekly, 3), Some(-3 * DAY + sixth), "a Saturday");
        assert_eq!(last(ResetPeriod::Weekly, 4), Some(4 * DAY + sixth), "a Sunday");
        assert_eq!(last(ResetPeriod::Monthly, 3), Some(-25 * DAY + sixth), "29 February");
        assert_eq!(last(ResetPeriod::Monthly, 4), Some(4 * DAY + sixth), "1 March");
        assert_eq!(last(ResetPeriod::Quarterly, 34), Some(-56 * DAY + sixth), "31 March");
        assert_eq!(last(ResetPeriod::Quarterly, 36), Some(35 * DAY + sixth), "2 April");
        assert_eq!(last(ResetPeriod::Yearly, 309), Some(-56 * DAY + sixth), "31 December");
        assert_eq!(last(ResetPeriod::Yearly, 310), Some(310 * DAY + sixth), "1 January");
    }
}
