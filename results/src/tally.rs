//! How much actors have told each other.

use haggle_model::ActorId;
use smallvec::SmallVec;

/// Counts by sender, receiver and whatever else is told apart.
///
/// A count is kept with the partner of the lower number. Everybody who runs jobs has one, and those behind
/// them are few: so a grid of a hundred thousand resources has as many short lists, and what a
/// resource says and hears at one time is counted in one place. A hash map of all pairs would
/// cost a miss of the cache for each message. `N` is how many counts a list has room for by itself.
#[derive(Clone, Debug)]
pub(crate) struct Tally<K, const N: usize>(Vec<SmallVec<[Count<K>; N]>>);

#[derive(Clone, Copy, Debug)]
struct Count<K> {
    /// The one with the greater number.
    partner: ActorId,
    /// True if it is the one that was told.
    hears: bool,
    what: K,
    count: u64,
}

/// Sender, receiver and what was told.
pub(crate) type Told<K> = (ActorId, ActorId, K);

impl<K, const N: usize> Default for Tally<K, N> {
    fn default() -> Self {
        Tally(Vec::new())
    }
}

impl<K: Copy + Ord, const N: usize> Tally<K, N> {
    #[inline]
    pub(crate) fn add(&mut self, (from, to, what): Told<K>, count: u64) {
        let hears = from <= to;
        let (owner, partner) = if hears { (from, to) } else { (to, from) };
        if owner.index() >= self.0.len() {
            self.0.resize_with(owner.index() + 1, SmallVec::new);
        }
        let counts = &mut self.0[owner.index()];
        let place = (partner, hears, what);
        match counts.binary_search_by_key(&place, |it| (it.partner, it.hears, it.what)) {
            Ok(at) => counts[at].count += count,
            Err(at) => counts.insert(at, Count { partner, hears, what, count }),
        }
    }

    /// All counts, in the order of what they are of.
    pub(crate) fn sorted(&self) -> Vec<(Told<K>, u64)> {
        let told = |(owner, it): (usize, &Count<K>)| {
            let owner = ActorId(owner as u32);
            let (from, to) = if it.hears { (owner, it.partner) } else { (it.partner, owner) };
            ((from, to, it.what), it.count)
        };
        let counts = self.0.iter().enumerate();
        let all = counts.flat_map(|(owner, counts)| counts.iter().map(move |it| (owner, it)));
        let mut sorted: Vec<_> = all.map(told).collect();
        sorted.sort_unstable_by_key(|&(told, _)| told);
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_counted_by_itself() {
        let mut tally = Tally::<_, 1>::default();
        let told = [(3, 1, 'b'), (1, 3, 'b'), (3, 1, 'a'), (1, 3, 'b'), (2, 2, 'a'), (0, 3, 'c')];
        for (count, (from, to, what)) in (1..).zip(told) {
            tally.add((ActorId(from), ActorId(to), what), count);
        }
        let sorted = tally.sorted().into_iter();
        let sorted: Vec<_> = sorted.map(|((from, to, what), n)| (from.0, to.0, what, n)).collect();
        let expected =
            [(0, 3, 'c', 6), (1, 3, 'b', 6), (2, 2, 'a', 5), (3, 1, 'a', 3), (3, 1, 'b', 1)];
        assert_eq!(sorted, expected);
    }
}
