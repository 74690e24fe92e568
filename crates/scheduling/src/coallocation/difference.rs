//! The stretch in which two courses of free processors differ.

use haggle_model::Time;

use crate::Profile;

/// The stretch outside which two courses are equal from `now` on; `None` if they are equal.
pub(super) fn difference(one: &Profile, other: &Profile, now: Time) -> Option<(Time, Time)> {
    let steps = |course: &Profile| {
        let steps = course.steps_from(now).map(|(start, free)| (start.max(now), free));
        Vec::from_iter(steps)
    };
    let (one, other) = (steps(one), steps(other));
    let before = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let starts = [one.get(before), other.get(before)].into_iter().flatten();
    let begin = starts.map(|&(start, _)| start).min()?;
    let behind = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    // The last steps before the equal ones.
    let (first, second) = (one.len() - behind, other.len() - behind);
    let (&(start, free), &(other_start, other_free)) =
        (one[..first].last()?, other[..second].last()?);
    let end = match free == other_free {
        true => start.max(other_start),
        false => one.get(first).map_or(Time::FOREVER, |&(start, _)| start),
    };
    Some((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Time {
        Time::from_secs(secs)
    }

    #[test]
    fn courses_differ_from_the_first_to_the_last_other_step() {
        let free = Profile::new(4);
        assert_eq!(difference(&free, &free, at(0)), None);
        let mut booked = free.clone();
        booked.add(at(10), at(20), 2);
        assert_eq!(difference(&free, &booked, at(5)), Some((at(10), at(20))));
        assert_eq!(difference(&booked, &free, at(15)), Some((at(15), at(20))));
        assert_eq!(difference(&booked, &free, at(20)), None, "the past does not count");
        let mut more = booked.clone();
        more.add(at(12), at(14), 1);
        assert_eq!(difference(&booked, &more, at(0)), Some((at(12), at(14))));
        more.add(at(30), Time::FOREVER, 1);
        let (begin, end) = difference(&booked, &more, at(0)).expect("they differ");
        assert_eq!(begin, at(12));
        assert!(end >= Time::FOREVER);
    }
}
