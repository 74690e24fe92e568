//! Numbers of items that actors have sent to each other.

use haggle_model::ActorId;
use smallvec::SmallVec;

/// Counts by sender, receiver and a further key.
///
/// A count is kept in the list of the actor with the lower number. All places where jobs run come
/// first, and the few other actors follow. A grid of a hundred thousand resources therefore has as many
/// short lists, and the items that a resource sends and receives at one time are counted in one place.
/// A hash map of all pairs would cost a cache miss for each message. A list has room for `N` counts
/// without an allocation.
#[derive(Clone, Debug)]
pub(crate) struct Tally<K, const N: usize>(Vec<SmallVec<[Count<K>; N]>>);

#[derive(Clone, Copy, Debug)]
struct Count<K> {
    /// The actor with the greater number.
    partner: ActorId,
    /// True if the partner is the receiver.
    hears: bool,
    what: K,
    count: u64,
}

/// Sender, receiver and key.
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

    /// All counts, ordered by sender, receiver and key.
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
