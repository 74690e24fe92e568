//! Times of local clocks: the instants that they mean, and the doubts about them.
//!
//! The rules of all zones are part of the program, so that a log gives the same times on every machine.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::notes::{NoteKind, Notes};
use haggle_model::{Span, Time};

/// Latest year of a time: the lengths of time between all instants then fit their type.
const YEAR_MAX: i16 = 9998;

/// A time zone by its name, such as `Europe/Berlin`, or by its offset from UTC, such as `+01:00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Offset from UTC without summer time in 2024, seconds.
    pub(super) fn standard_offset(&self) -> i32 {
        // Summer time is in one of these months.
        const JANUARY: i64 = 1_704_067_200;
        const JULY: i64 = 1_719_792_000;
        let at = |second| Timestamp::from_second(second).unwrap_or_default();
        let infos = [JANUARY, JULY].map(|second| self.zone.to_offset_info(at(second)));
        let standard = infos.iter().find(|info| info.dst().is_std()).unwrap_or(&infos[0]);
        standard.offset().seconds()
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(name: &str) -> Result<Zone, String> {
        let zone = match offset(name.as_bytes()) {
            Some(offset) => Ok(TimeZone::fixed(offset)),
            None => TimeZone::get(name),
        };
        let zone = zone.map_err(|_| {
            "expected the name of a time zone such as Europe/Berlin, or an offset such as +01:00".to_owned()
        })?;
        Ok(Zone { name: name.to_owned(), zone })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The clock of a log: in a zone, or in one that is not known and is taken as UTC.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Option<Zone>);

/// Description of the expected text where a time could not be read.
pub(super) const A_TIME: &str = "a time such as 2024-01-31T10:54:00, or seconds since 1970";

impl Clock {
    pub(super) fn new(zone: Option<Zone>) -> Clock {
        Clock(zone)
    }

    /// The instant that a text means: `2024-01-31T10:54:00` with a `T` or a space, decimals and an offset
    /// if there are any, or seconds since 1970-01-01 UTC.
    ///
    /// A local time that occurs twice is the first one that is not before `earliest`. One that the clock
    /// skips is as much later as the clock was put forward.
    pub(super) fn time(
        &self,
        text: &[u8],
        earliest: Option<Time>,
        notes: &mut Notes,
        line: u64,
    ) -> Option<Time> {
        let Some((civil, rest)) = civil_time(text) else {
            return seconds(text);
        };
        if !rest.is_empty() {
            return instant(offset(rest)?, civil);
        }
        self.local(civil, earliest, notes, line)
    }

    /// The instant at which the local clock shows `civil`.
    pub(super) fn local(
        &self,
        civil: civil::DateTime,
        earliest: Option<Time>,
        notes: &mut Notes,
        line: u64,
    ) -> Option<Time> {
        let Some(Zone { zone, .. }) = &self.0 else {
            notes.add(NoteKind::Guessed, "local time of an unknown zone: taken as UTC", line);
            return instant(Offset::UTC, civil);
        };
        match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => instant(offset, civil),
            AmbiguousOffset::Gap { before, .. } => {
                let fact = "local time that summer time skips: moved behind the gap";
                notes.add(NoteKind::Changed, fact, line);
                instant(before, civil)
            }
            AmbiguousOffset::Fold { before, after } => {
                let fact = "local time that occurs twice at the end of summer time: the earlier one taken, \
                            unless the job was not that far";
                notes.add(NoteKind::Guessed, fact, line);
                let first = instant(before, civil)?;
                if earliest.is_some_and(|earliest| first < earliest) {
                    return instant(after, civil);
                }
                Some(first)
            }
        }
    }
}

/// True if a text has the form of a time.
pub(super) fn is_time(text: &[u8]) -> bool {
    civil_time(text).is_some() || seconds(text).is_some()
}

fn instant(offset: Offset, civil: civil::DateTime) -> Option<Time> {
    let timestamp = offset.to_timestamp(civil).ok()?;
    Some(Time::from_micros(timestamp.as_microsecond()))
}

/// Seconds since 1970, to the microsecond.
fn seconds(text: &[u8]) -> Option<Time> {
    let is_number = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let span = crate::swf::number::span(text).ok().filter(|_| is_number)?;
    (span < Span::from_secs(253_370_764_800)).then_some(Time::ZERO + span)
}

/// The date and time at the beginning of a text, and the rest behind them.
fn civil_time(text: &[u8]) -> Option<(civil::DateTime, &[u8])> {
    let (&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2], rest) = text.split_first_chunk()? else {
        return None;
    };
    let year = i16::try_from(digits(&[y1, y2, y3, y4])?).ok().filter(|year| *year <= YEAR_MAX)?;
    let date = civil::Date::new(year, small(&[m1, m2])?, small(&[d1, d2])?).ok()?;
    if rest.is_empty() {
        return Some((date.to_datetime(civil::Time::midnight()), rest));
    }
    let (&[b'T' | b' ', h1, h2, b':', i1, i2], rest) = rest.split_first_chunk()? else {
        return None;
    };
    let (second, rest) = match rest.split_first_chunk() {
        Some((&[b':', s1, s2], rest)) => (small(&[s1, s2])?, rest),
        _ => (0, rest),
    };
    let (nanos, rest) = match rest.split_first() {
        Some((b'.', decimals)) => {
            let end = decimals.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (nanoseconds(&decimals[..end])?, &decimals[end..])
        }
        _ => (0, rest),
    };
    let time = civil::Time::new(small(&[h1, h2])?, small(&[i1, i2])?, second, nanos).ok()?;
    Some((date.to_datetime(time), rest))
}

/// An offset from UTC: `Z`, `+01:00`, `+0100` or `+01`.
fn offset(text: &[u8]) -> Option<Offset> {
    let (sign, rest) = match text {
        b"Z" | b"z" => return Some(Offset::UTC),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest {
        [h1, h2] => (digits(&[*h1, *h2])?, 0),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?),
        _ => return None,
    };
    let is_offset = hours < 24 && minutes < 60;
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok().filter(|_| is_offset)
}

fn nanoseconds(decimals: &[u8]) -> Option<i32> {
    let known = &decimals[..decimals.len().min(9)];
    let scale = 10_i32.pow(9 - known.len() as u32);
    Some(digits(known)? * scale)
}

fn small(text: &[u8; 2]) -> Option<i8> {
    i8::try_from(digits(text)?).ok()
}

/// A number of at most nine digits; 0 without any.
fn digits(text: &[u8]) -> Option<i32> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i32::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(zone: &str) -> Clock {
        Clock::new(Some(zone.parse().expect("a zone")))
    }

    fn read(clock: &Clock, text: &str, earliest: Option<i64>) -> (Option<i64>, Vec<String>) {
        let mut notes = Notes::default();
        let earliest = earliest.map(Time::from_secs);
        let time = clock.time(text.as_bytes(), earliest, &mut notes, 7);
        let facts = notes.as_slice().iter().map(|note| note.kind.name().to_owned()).collect();
        (time.map(|time| time.as_micros() / 1_000), facts)
    }

    #[test]
    fn local_times_follow_summer_time() {
        let berlin = clock("Europe/Berlin");
        assert_eq!(read(&berlin, "2024-01-31T10:54:00", None), (Some(1_706_694_840_000), vec![]));
        assert_eq!(read(&berlin, "2024-07-31 10:54", None), (Some(1_722_416_040_000), vec![]));
        assert_eq!(read(&berlin, "2024-07-31T10:54:00.25Z", None).0, Some(1_722_423_240_250));
        assert_eq!(read(&berlin, "2024-07-31T10:54:00+0530", None).0, Some(1_722_403_440_000));
        assert_eq!(read(&berlin, "1706694840", None), (Some(1_706_694_840_000), vec![]));
    }

    #[test]
    fn a_local_time_that_occurs_twice_is_the_first_that_fits() {
        let berlin = clock("Europe/Berlin");
        // 02:30 is 00:30 UTC in summer time, and 01:30 UTC an hour later.
        let first = 1_729_989_000;
        let text = "2024-10-27T02:30:00";
        let guessed = vec!["guessed".to_owned()];
        assert_eq!(read(&berlin, text, None), (Some(first * 1_000), guessed.clone()));
        assert_eq!(read(&berlin, text, Some(first)), (Some(first * 1_000), guessed.clone()));
        assert_eq!(read(&berlin, text, Some(first + 1)), (Some((first + 3_600) * 1_000), guessed));
    }

    #[test]
    fn a_local_time_that_is_skipped_moves_behind_the_gap() {
        let berlin = clock("Europe/Berlin");
        let (time, facts) = read(&berlin, "2024-03-31T02:30:00", None);
        assert_eq!((time, facts), (Some(1_711_848_600_000), vec!["changed".to_owned()]));
        assert_eq!(read(&berlin, "2024-03-31T03:30:00", None).0, time);
    }

    #[test]
    fn a_zone_that_is_not_known_is_taken_as_utc() {
        let found = read(&Clock::default(), "1970-01-02", None);
        assert_eq!(found, (Some(86_400_000), vec!["guessed".to_owned()]));
        assert_eq!(read(&clock("-01:30"), "1970-01-02T00:00:00", None).0, Some(91_800_000));
        assert!("Berlin".parse::<Zone>().is_err_and(|it| it.contains("Europe/Berlin")));
    }

    #[test]
    fn the_offset_without_summer_time() {
        let offset = |name: &str| name.parse::<Zone>().map(|zone| zone.standard_offset());
        assert_eq!(offset("Europe/Berlin"), Ok(3_600));
        assert_eq!(offset("Australia/Sydney"), Ok(36_000));
        assert_eq!(offset("-03:30"), Ok(-12_600));
    }

    #[test]
    fn texts_that_are_no_times_are_refused() {
        for wrong in [
            "",
            "Unknown",
            "2024-02-30T00:00:00",
            "2024-01-01T24:00:00",
            "2024-01-01T10:00:60",
            "2024-1-1",
            "2024-01-01T10:00:00 x",
            "2024-01-01T10:00:00+25:00",
            "-5",
            "1e9",
            "9999-12-31T23:59:59",
            "12345678901234",
            "2024-01-01X10:00:00",
            "20\u{e9}4-01-01",
        ] {
            assert_eq!(read(&clock("UTC"), wrong, None).0, None, "{wrong}");
        }
    }
}
