//! Density: the share of each cell of a tile that is covered by bars that are too small to draw.
//!
//! Shares are integers, so that their sums are exact in any order. Bars over many cells are added at
//! their corners alone; the sums along lanes and columns follow at the end.

/// A fully covered cell.
const FULL: f64 = (1_u64 << 40) as f64;

/// Most columns that a bar may cover to be added column by column.
const NARROW: u32 = 8;

/// Shares of the cells of a tile.
#[derive(Debug)]
pub(super) struct Density {
    columns: u32,
    lanes: u32,
    /// Differences along the lanes, lane after lane, with one lane behind the last one.
    narrow: Vec<i64>,
    /// Differences along lanes and columns, for bars over many columns.
    wide: Vec<i64>,
}

/// A run of consecutive cells with one share of coverage.
type Run = (u32, u32, f64);

/// The cells that an interval covers: its first one, the whole ones, and its last one.
fn runs(from: f64, to: f64, count: u32) -> [Option<Run>; 3] {
    let end = f64::from(count);
    let (from, to) = (from.clamp(0.0, end), to.clamp(0.0, end));
    // An interval at the very end, and one without length, belongs to the cell before or behind it.
    let first = (from as u32).min(count.saturating_sub(1));
    let last = (to.ceil() as u32).clamp(first + 1, count.max(1)) - 1;
    if first == last {
        return [Some((first, first + 1, to - from)), None, None];
    }
    let middle = (last > first + 1).then_some((first + 1, last, 1.0));
    let head = Some((first, first + 1, f64::from(first + 1) - from));
    [head, middle, Some((last, last + 1, to - f64::from(last)))]
}

impl Density {
    pub(super) fn new(columns: u32, lanes: u32) -> Density {
        Density { columns, lanes, narrow: Vec::new(), wide: Vec::new() }
    }

    /// Adds a rectangle, in columns and lanes, of which the share `covered` is busy.
    pub(super) fn add(
        &mut self,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
        covered: f64,
    ) {
        let across = runs(left, right, self.columns);
        let along = runs(top, bottom, self.lanes);
        let first = across[0].map_or(0, |it| it.0);
        let last = across.iter().flatten().last().map_or(0, |it| it.1);
        let is_wide = last - first > NARROW;
        let cells = if is_wide { &mut self.wide } else { &mut self.narrow };
        let width = self.columns as usize + usize::from(is_wide);
        if cells.is_empty() {
            cells.resize(width * (self.lanes as usize + 1), 0);
        }
        for (column, column_end, share) in across.into_iter().flatten() {
            for (lane, lane_end, height) in along.into_iter().flatten() {
                // At least one unit, so that a cell with the shortest job is not empty.
                let value = ((share * height * covered * FULL) as i64).max(1);
                let places = [lane as usize * width, lane_end as usize * width];
                if is_wide {
                    cells[places[0] + column as usize] += value;
                    cells[places[0] + column_end as usize] -= value;
                    cells[places[1] + column as usize] -= value;
                    cells[places[1] + column_end as usize] += value;
                } else {
                    for column in column as usize..column_end as usize {
                        cells[places[0] + column] += value;
                        cells[places[1] + column] -= value;
                    }
                }
            }
        }
    }

    /// True if nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.narrow.is_empty() && self.wide.is_empty()
    }

    /// The shares as bytes, lane after lane: 0 is empty, 255 full.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.map(|share| rounded(share, 255.0) as u8)
    }

    /// The shares as numbers from 0 to [`STEPS`], lane after lane.
    pub(super) fn shares(&self) -> Vec<u16> {
        self.map(|share| rounded(share, f64::from(STEPS)) as u16)
    }

    fn map<T>(&self, form: impl Fn(i64) -> T) -> Vec<T> {
        let columns = self.columns as usize;
        let (mut narrow, mut wide) = (vec![0_i64; columns], vec![0_i64; columns]);
        let mut all = Vec::with_capacity(columns * self.lanes as usize);
        for lane in 0..self.lanes as usize {
            if let Some(changes) = self.narrow.get(lane * columns..(lane + 1) * columns) {
                narrow.iter_mut().zip(changes).for_each(|(sum, change)| *sum += change);
            }
            let changes = self.wide.get(lane * (columns + 1)..(lane + 1) * (columns + 1));
            let mut along = 0;
            for (column, (narrow, wide)) in narrow.iter().zip(&mut wide).enumerate() {
                if let Some(changes) = changes {
                    along += changes[column];
                    *wide += along;
                }
                all.push(form(narrow + *wide));
            }
        }
        all
    }
}

/// The largest number that stands for a share.
pub(super) const STEPS: u16 = u16::MAX;

/// A share in steps; a cell that is not empty has at least 1.
fn rounded(share: i64, steps: f64) -> f64 {
    if share <= 0 {
        return 0.0;
    }
    (share as f64 / FULL * steps).round().clamp(1.0, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_covered_share() {
        let mut density = Density::new(3, 2);
        density.add((0.5, 2.0), (0.0, 1.5), 1.0);
        density.add((2.0, 2.5), (1.0, 2.0), 1.0);
        assert_eq!(density.bytes(), [128, 255, 0, 64, 128, 128]);
    }

    #[test]
    fn a_wide_rectangle_adds_the_same_as_its_columns() {
        let (mut one, mut many) = (Density::new(40, 4), Density::new(40, 4));
        one.add((1.25, 38.5), (0.5, 2.25), 1.0);
        for column in 1..39 {
            let (left, right) = (f64::from(column).max(1.25), f64::from(column + 1).min(38.5));
            many.add((left, right), (0.5, 2.25), 1.0);
        }
        assert_eq!(one.bytes(), many.bytes());
    }

    #[test]
    fn nothing_is_so_short_that_it_vanishes() {
        let mut density = Density::new(4, 1);
        assert!(density.is_empty());
        density.add((4.0, 4.0), (0.0, 1.0), 1.0);
        density.add((1.0, 1.0 + 1e-12), (0.3, 0.300_001), 1.0);
        assert_eq!(density.bytes(), [0, 1, 0, 1]);
    }
}
