//! A job in parts of about one size.

use std::cmp::Reverse;

/// Divides `processors` as evenly as possible, by the places of providers from `first` on, which get the
/// remainder. Providers without a processor are left out.
pub fn divide(processors: u32, providers: usize, first: usize) -> Vec<(usize, u32)> {
    let count = providers.max(1) as u32;
    let part = |turn: usize| {
        let part = processors / count + u32::from((turn as u32) < processors % count);
        ((first + turn) % providers.max(1), part)
    };
    (0..providers).map(part).filter(|&(_, part)| part > 0).collect()
}

/// Divides a job into exactly `count` parts of at least `least` processors each, by the places of providers
/// in ascending order.
///
/// `room` lists (provider, free processors), in the order in which providers give. The first providers with
/// which the job finds room take part. The parts are as equal as the free processors allow. Returns `None`
/// if there is no room, or if the job is too narrow.
pub(super) fn divide_over(
    count: usize,
    processors: u32,
    least: u32,
    room: &[(usize, u32)],
) -> Option<Vec<(usize, u32)>> {
    if u64::from(processors) < count as u64 * u64::from(least) {
        return None;
    }
    let room: Vec<(usize, u32)> = room.iter().copied().filter(|it| it.1 >= least).collect();
    let mut chosen: Vec<(usize, u32)> = Vec::with_capacity(count);
    for (at, &provider) in room.iter().enumerate() {
        let missing = count - chosen.len();
        if missing == 0 {
            break;
        }
        let sum = |of: &[(usize, u32)]| of.iter().map(|it| u64::from(it.1)).sum::<u64>();
        let with = sum(&chosen) + u64::from(provider.1);
        // The provider takes part if the job still finds room with the largest of those behind it.
        if with + most_of(missing - 1, &room[at + 1..])? >= u64::from(processors) {
            chosen.push(provider);
        }
    }
    if chosen.len() < count {
        return None;
    }
    // The provider with the least room gives first, so that the others share the processors it lacks.
    chosen.sort_unstable_by_key(|&(place, free)| (free, Reverse(place)));
    let mut left = processors;
    for (providers, part) in (1..=count as u32).rev().zip(&mut chosen) {
        part.1 = part.1.min(left / providers);
        left -= part.1;
    }
    chosen.sort_unstable();
    Some(chosen)
}

/// Free processors of the `count` providers that have most; `None` if there are fewer providers.
fn most_of(count: usize, room: &[(usize, u32)]) -> Option<u64> {
    let mut free: Vec<u32> = room.iter().map(|it| it.1).collect();
    free.sort_unstable_by_key(|&free| Reverse(free));
    free.get(..count).map(|most| most.iter().copied().map(u64::from).sum())
}

#[cfg(test)]
mod tests {
    use super::{divide, divide_over};

    #[test]
    fn a_job_is_divided_over_exactly_so_many() {
        let over = |count, processors, least, free: &[u32]| {
            let room: Vec<(usize, u32)> = free.iter().copied().enumerate().collect();
            divide_over(count, processors, least, &room)
        };
        assert_eq!(over(2, 8, 1, &[8, 8, 8]), Some(vec![(0, 4), (1, 4)]));
        assert_eq!(over(2, 7, 1, &[8, 8]), Some(vec![(0, 4), (1, 3)]));
        // As equal as possible, on the first two providers with enough room together.
        assert_eq!(over(2, 8, 1, &[1, 2, 7]), Some(vec![(0, 1), (2, 7)]));
        assert_eq!(over(2, 8, 2, &[1, 2, 7]), Some(vec![(1, 2), (2, 6)]));
        assert_eq!(over(3, 9, 1, &[2, 9, 9, 9]), Some(vec![(0, 2), (1, 4), (2, 3)]));
        assert_eq!(over(3, 9, 1, &[2, 2, 9]), Some(vec![(0, 2), (1, 2), (2, 5)]));
        assert_eq!(over(2, 9, 1, &[4, 4, 4]), None, "too little room at two");
        assert_eq!(over(2, 1, 1, &[4, 4]), None, "too narrow");
        assert_eq!(over(2, 5, 3, &[4, 4]), None, "too narrow for parts of three");
        assert_eq!(over(3, 3, 1, &[4, 4]), None, "two providers");
    }

    #[test]
    fn a_job_is_divided_evenly_and_nobody_gets_none() {
        assert_eq!(divide(7, 3, 0), [(0, 3), (1, 2), (2, 2)]);
        assert_eq!(divide(8, 3, 1), [(1, 3), (2, 3), (0, 2)]);
        assert_eq!(divide(2, 4, 3), [(3, 1), (0, 1)]);
    }
}
