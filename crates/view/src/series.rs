//! Series: step functions of time, such as the number of waiting jobs.

use crate::view::SeriesColumns;

/// A step function. Before its first step it is 0.
#[derive(Debug, Default)]
pub struct Steps {
    times: Vec<i64>,
    /// Value from each time on. Runs have millions of steps, so larger values than those of 32 bits are not kept.
    values: Vec<i32>,
}

impl Steps {
    /// The function that changes by these numbers at these times, in any order.
    pub fn of(mut changes: Vec<(i64, i32)>) -> Steps {
        changes.sort_unstable_by_key(|it| it.0);
        let count = changes.chunk_by(|a, b| a.0 == b.0).count();
        let mut steps =
            Steps { times: Vec::with_capacity(count), values: Vec::with_capacity(count) };
        let mut value: i64 = 0;
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            value += same.iter().map(|it| i64::from(it.1)).sum::<i64>();
            steps.times.push(same[0].0);
            steps.values.push(value.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        }
        steps
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.times.len() * 12
    }

    /// The value at a time.
    pub fn at(&self, time: i64) -> i64 {
        let next = self.times.partition_point(|it| *it <= time);
        next.checked_sub(1).map_or(0, |at| i64::from(self.values[at]))
    }

    /// Smallest, largest and mean value in each column of a window.
    pub fn columns(&self, id: &str, (from, to): (i64, i64), columns: u32) -> SeriesColumns {
        let edge = |column: u32| {
            let part = i128::from(to - from) * i128::from(column) / i128::from(columns.max(1));
            from + part as i64
        };
        let mut answer =
            SeriesColumns { id: id.to_owned(), min: vec![], max: vec![], mean: vec![] };
        let mut next = self.times.partition_point(|it| *it <= from);
        let mut value = next.checked_sub(1).map_or(0, |at| i64::from(self.values[at]));
        for column in 0..columns {
            let (start, end) = (edge(column), edge(column + 1));
            let (mut low, mut high, mut area, mut since) = (value, value, 0_i128, start);
            while let Some(&time) = self.times.get(next).filter(|it| **it < end.max(start + 1)) {
                // A value that is replaced at the start of the column is not in it.
                if time > start {
                    area += i128::from(value) * i128::from(time - since);
                    since = time;
                    value = i64::from(self.values[next]);
                    (low, high) = (low.min(value), high.max(value));
                } else {
                    value = i64::from(self.values[next]);
                    (low, high) = (value, value);
                }
                next += 1;
            }
            area += i128::from(value) * i128::from(end - since);
            // A column of less than a microsecond has the value of its instant.
            let mean = if end > start { area as f64 / (end - start) as f64 } else { value as f64 };
            answer.min.push(low as f64);
            answer.max.push(high as f64);
            answer.mean.push(mean);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_extremes_and_means() {
        let steps = Steps::of(vec![(0, 2), (10, 3), (15, -4), (30, -1)]);
        let columns = steps.columns("x", (0, 40), 4);
        assert_eq!(columns.min, [2.0, 1.0, 1.0, 0.0]);
        assert_eq!(columns.max, [2.0, 5.0, 1.0, 0.0]);
        assert_eq!(columns.mean, [2.0, 3.0, 1.0, 0.0]);
        assert_eq!((steps.at(-1), steps.at(14), steps.at(99)), (0, 5, 0));
    }

    #[test]
    fn columns_may_be_narrower_than_a_microsecond() {
        let columns = Steps::of(vec![(1, 7)]).columns("x", (0, 2), 8);
        assert_eq!(columns.mean, [0.0, 0.0, 0.0, 0.0, 7.0, 7.0, 7.0, 7.0]);
    }

    #[test]
    fn changes_of_one_instant_are_one_step() {
        let steps = Steps::of(vec![(5, 1), (5, -1), (5, 1)]);
        assert_eq!(steps.columns("x", (0, 10), 1).max, [1.0]);
        assert_eq!(steps.bytes(), 12);
    }
}
