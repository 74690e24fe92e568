//! Bars in an order in which a window is searched fast: by classes of length and height, and by start
//! within a class.

use std::ops::Range;

use super::Bar;

/// Bars of a chart in the order of their classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    bars: Vec<Bar>,
    classes: Vec<ClassOfBars>,
    /// Time from the first start to the last end.
    span: Option<(i64, i64)>,
}

/// Consecutive bars whose lengths and heights are each between a power of two and the next one.
#[derive(Clone, Debug)]
pub(super) struct ClassOfBars {
    /// All lengths are below this, µs.
    pub(super) length_below: i64,
    /// Places of its bars.
    pub(super) bars: Range<usize>,
}

fn log2(value: u64) -> u32 {
    value.max(1).ilog2()
}

/// The class of a bar: of its length, then of its height.
fn class(bar: &Bar) -> u32 {
    log2(bar.length().max(0) as u64) << 5 | log2(u64::from(bar.rows))
}

impl Index {
    pub(crate) fn new(mut bars: Vec<Bar>) -> Index {
        bars.shrink_to_fit();
        // By all of its place, so that the order of a tile never depends on the reading. Sorted in
        // place, because a second list of all bars would need as much memory again.
        bars.sort_unstable_by_key(|bar| (class(bar), bar.start, bar.row, bar.job, bar.attempt));
        let spans = bars.iter().map(|bar| (bar.start, bar.end));
        let span = spans.reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)));
        let mut classes = Vec::new();
        let mut first = 0;
        for same in bars.chunk_by(|a, b| class(a) == class(b)) {
            let length = same.first().map_or(0, class) >> 5;
            classes.push(ClassOfBars {
                length_below: 1 << (length + 1),
                bars: first..first + same.len(),
            });
            first += same.len();
        }
        Index { bars, classes, span }
    }

    pub(crate) fn bars(&self) -> &[Bar] {
        &self.bars
    }

    /// Time from the first start to the last end.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    pub(super) fn bars_mut(&mut self) -> &mut [Bar] {
        &mut self.bars
    }

    pub(super) fn classes(&self) -> &[ClassOfBars] {
        &self.classes
    }

    /// Places of the bars of a class that may overlap `[from, to)`. A bar without length is at its start.
    pub(super) fn candidates(&self, class: &ClassOfBars, from: i64, to: i64) -> Range<usize> {
        let bars = &self.bars[class.bars.clone()];
        let earliest = from.saturating_sub(class.length_below);
        let first = bars.partition_point(|bar| bar.start <= earliest);
        let last = bars.partition_point(|bar| bar.start < to).max(first);
        class.bars.start + first..class.bars.start + last
    }

    /// The bars of the classes with lengths below a power of two.
    pub(super) fn shorter(&self, length: i64) -> impl Iterator<Item = &Bar> {
        let short = self.classes.iter().filter(move |it| it.length_below <= length);
        short.flat_map(|it| &self.bars[it.bars.clone()])
    }

    /// The bars of a class that may overlap `[from, to)`.
    pub(super) fn places(&self, class: &ClassOfBars, from: i64, to: i64) -> &[Bar] {
        &self.bars[self.candidates(class, from, to)]
    }

    /// The bars that overlap a window of time and rows.
    pub(super) fn within(
        &self,
        (from, to): (i64, i64),
        rows: Range<u32>,
    ) -> impl Iterator<Item = &Bar> {
        let classes = self.classes.iter();
        let bars = classes.flat_map(move |class| &self.bars[self.candidates(class, from, to)]);
        bars.filter(move |bar| overlaps(bar, (from, to), &rows))
    }
}

/// True if a bar overlaps a window. A bar without length is at its start.
pub(super) fn overlaps(bar: &Bar, (from, to): (i64, i64), rows: &Range<u32>) -> bool {
    bar.start < to
        && (bar.end > from || bar.start >= from)
        && bar.row < rows.end
        && bar.row.saturating_add(bar.rows) > rows.start
}
