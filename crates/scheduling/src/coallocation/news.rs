//! Changes over time: outside the hull of the stretches noted here nothing has changed.

use std::collections::VecDeque;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

/// Stretches of time in which something has changed, in the order of their notices.
///
/// A query may ask for the hull since any of them. So a stretch is kept only if it reaches further to one
/// side than all later ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct News {
    count: u64,
    /// Ascending begins, each with the number of its stretch.
    begins: VecDeque<(u64, Time)>,
    /// Descending ends, each with the number of its stretch.
    ends: VecDeque<(u64, Time)>,
}

impl News {
    /// Number of changes so far, for a later call of [`News::since`].
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Notes a change between two times.
    pub fn add(&mut self, begin: Time, end: Time) {
        self.count += 1;
        while self.begins.back().is_some_and(|&(_, it)| begin <= it) {
            self.begins.pop_back();
        }
        self.begins.push_back((self.count, begin));
        while self.ends.back().is_some_and(|&(_, it)| it <= end) {
            self.ends.pop_back();
        }
        self.ends.push_back((self.count, end));
    }

    /// The hull of all changes after the first `count`; `None` if there are none.
    pub fn since(&self, count: u64) -> Option<(Time, Time)> {
        let first = |of: &VecDeque<(u64, Time)>| {
            let place = of.partition_point(|&(number, _)| number <= count);
            of.get(place).map(|&(_, time)| time)
        };
        first(&self.begins).zip(first(&self.ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_is_that_of_all_since() {
        let all = [(5, 9), (1, 3), (7, 8), (2, 8), (4, 12), (3, 4), (3, 4), (6, 7)];
        let mut news = News::default();
        for (index, &(begin, end)) in all.iter().enumerate() {
            news.add(Time::from_secs(begin), Time::from_secs(end));
            assert_eq!(news.count(), index as u64 + 1);
            for count in 0..=index + 1 {
                let later = &all[count..=index.max(count.saturating_sub(1))];
                let later = if count > index { &[][..] } else { later };
                let begin = later.iter().map(|it| Time::from_secs(it.0)).min();
                let end = later.iter().map(|it| Time::from_secs(it.1)).max();
                assert_eq!(news.since(count as u64), begin.zip(end), "{count} of {index}");
            }
        }
    }
}
