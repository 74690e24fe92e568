//! What has changed since when: outside the hull of these stretches all is as it was.

use std::collections::VecDeque;

use haggle_model::Time;

/// Stretches of time in which something has changed, in the order of learning of them.
///
/// A hull is asked for since any of them, so that only those are kept that reach further to one side
/// than all that came after them.
#[derive(Clone, Debug, Default)]
pub struct News {
    count: u64,
    /// Ever later begins, each with the number of the one that begins so.
    begins: VecDeque<(u64, Time)>,
    /// Ever earlier ends.
    ends: VecDeque<(u64, Time)>,
}

impl News {
    /// How many there have been: what is asked since.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Something has changed between two times.
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

    /// The hull of all but the first so many; `None` if there are no more.
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
