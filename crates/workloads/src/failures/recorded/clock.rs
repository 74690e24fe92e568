//! Dates and times of day of a local clock.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use haggle_model::Time;

/// Reads a date and time by ISO 8601, such as `2001-03-14 10:54`, `2001-03-14T10:54:30.5` or a date alone, as
/// time since 1970-01-01 00:00 on the same clock. With an offset, such as `Z` or `+01:00`, it is UTC.
pub(super) fn iso_time(text: &[u8]) -> Option<Time> {
    const FORMATS: [&str; 4] =
        ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"];
    let text = std::str::from_utf8(text).ok()?;
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let on_a_clock = |format| NaiveDateTime::parse_from_str(text, format).ok();
    let with_offset = DateTime::parse_from_rfc3339(text).ok().map(|it| it.naive_utc());
    let mut clocks = FORMATS.into_iter().filter_map(on_a_clock);
    let found =
        with_offset.or_else(|| clocks.next()).or_else(|| Some(day()?.and_time(NaiveTime::MIN)))?;
    let micros = found.and_utc().timestamp_micros();
    Some(Time::from_micros(micros)).filter(|_| micros.abs() <= MICROS_MAX)
}

/// Some 31,700 years, as for logs.
const MICROS_MAX: i64 = 1_000_000_000_000_000_000;

/// Reads `month/day/year hour:minute`, such as `3/14/2001 10:54`, as time since
/// 1970-01-01 00:00 on the same clock. The year has four digits.
pub(super) fn wall_time(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (date, clock) = text.split_once(' ')?;
    let mut date = date.split('/');
    let month = number(date.next()?, 2).filter(|month| (1..=12).contains(month))?;
    let day = number(date.next()?, 2)?;
    let year = date.next().filter(|year| year.len() == 4).and_then(|year| number(year, 4))?;
    let (hour, minute) = clock.trim_start().split_once(':')?;
    let hour = number(hour, 2).filter(|&hour| hour < 24)?;
    let minute = number(minute, 2).filter(|&minute| minute < 60)?;
    // The length of the month depends on the year, so the day is checked after it.
    let is_date = date.next().is_none() && (1..=days_in_month(year, month)).contains(&day);
    is_date.then(|| {
        let days = days_before(year, month) + day - 1;
        Time::from_secs(((days * 24 + hour) * 60 + minute) * 60)
    })
}

fn number(text: &str, digits_max: usize) -> Option<i64> {
    // `parse` alone would accept a sign.
    let is_number =
        !text.is_empty() && text.len() <= digits_max && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of the month, in the Gregorian calendar.
fn days_before(year: i64, month: i64) -> i64 {
    // Leap days before the year, counted from the year 1; 477 of them are before 1970.
    let past = year - 1;
    let leap_days = past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) - 477;
    let months: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    (year - 1970) * 365 + leap_days + months
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_read() {
        let secs = |text: &str| wall_time(text.as_bytes()).map(|time| time.as_micros() / 1_000_000);
        assert_eq!(secs("1/1/1970 0:00"), Some(0));
        assert_eq!(secs("12/31/1969 23:59"), Some(-60));
        assert_eq!(secs("2/29/2000 12:00"), Some(951_825_600));
        assert_eq!(secs(" 03/01/2000  00:00 "), Some(951_868_800));
        assert_eq!(secs("9/9/2001 1:46"), Some(999_999_960));
        assert_eq!(secs("11/21/2026 18:41"), Some(1_795_286_460));
    }

    #[test]
    fn dates_of_iso_8601_are_read() {
        let secs = |text: &str| iso_time(text.as_bytes()).map(|time| time.as_micros() / 1_000);
        assert_eq!(secs("1970-01-02"), Some(86_400_000));
        assert_eq!(secs("2000-02-29 12:00"), Some(951_825_600_000));
        assert_eq!(secs("2000-02-29T12:00:01.5"), Some(951_825_601_500));
        assert_eq!(secs("2000-02-29T12:00:00Z"), Some(951_825_600_000));
        assert_eq!(secs("2000-02-29T12:00:00+02:00"), Some(951_818_400_000));
        for wrong in
            ["", "2000-02-30", "2000-02-29 24:00", "29.2.2000", "2000-02-29 12", "+262000-01-01"]
        {
            assert_eq!(iso_time(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(iso_time(b"\xff"), None);
    }

    #[test]
    fn what_no_clock_shows_is_refused() {
        for wrong in [
            "",
            "1/1/1970",
            "1/1/70 0:00",
            "13/1/1999 0:00",
            "0/1/1999 0:00",
            "2/29/1999 0:00",
            "4/31/1999 0:00",
            "1/0/1999 0:00",
            "1/1/1999 24:00",
            "1/1/1999 0:60",
            "1/1/1999 0",
            "1/1/1999/2 0:00",
            "+1/1/1999 0:00",
            "1/1/1999 0:00:00",
            "1-1-1999 0:00",
            "\u{661}/1/1999 0:00",
        ] {
            assert_eq!(wall_time(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(wall_time(b"\xff/1/1999 0:00"), None);
    }
}
