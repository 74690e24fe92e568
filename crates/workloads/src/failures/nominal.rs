//! Uniform failures by nominal availability (Chtepen 2011, Table 3.1).

use super::law::FailureLaw;
use haggle_model::Span;
use haggle_model::law::Law;

/// A row of the table: time to failure U(1, `up_max`), time to repair U(1, `down_max`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NominalRow {
    /// The row's name: an availability in percent. The availability of the process differs, see
    /// [`FailureLaw::availability`].
    pub percent: u32,
    /// Longest time to failure.
    pub up_max: u32,
    /// Longest time to repair.
    pub down_max: u32,
}

/// All rows, from the most to the least available.
pub const NOMINAL_ROWS: [NominalRow; 11] = [
    NominalRow { percent: 100, up_max: 500, down_max: 40 },
    NominalRow { percent: 95, up_max: 400, down_max: 60 },
    NominalRow { percent: 80, up_max: 300, down_max: 100 },
    NominalRow { percent: 70, up_max: 300, down_max: 150 },
    NominalRow { percent: 60, up_max: 300, down_max: 200 },
    NominalRow { percent: 50, up_max: 200, down_max: 200 },
    NominalRow { percent: 30, up_max: 200, down_max: 280 },
    NominalRow { percent: 20, up_max: 200, down_max: 350 },
    NominalRow { percent: 15, up_max: 100, down_max: 350 },
    NominalRow { percent: 10, up_max: 50, down_max: 350 },
    NominalRow { percent: 5, up_max: 20, down_max: 350 },
];

impl NominalRow {
    /// The row of a nominal availability in percent.
    pub fn named(percent: u32) -> Option<NominalRow> {
        NOMINAL_ROWS.into_iter().find(|row| row.percent == percent)
    }

    /// The row as a law that starts up.
    ///
    /// The table gives seconds. With seconds, no resource would be up for longer than 500 s and no job
    /// of 600 s could ever end, against the published loss of 3 %. The unit should therefore be
    /// [`super::MINUTE`]; a second serves for comparison.
    pub fn law(self, unit: Span) -> FailureLaw {
        let uniform = |max: u32| Law::Uniform { low: 1.0, high: f64::from(max) };
        FailureLaw::new(uniform(self.up_max), uniform(self.down_max), unit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MINUTE;
    use super::*;

    #[test]
    fn gm_a3_renewal_availability_of_the_rows() {
        let percent = |row: NominalRow| (1000.0 * row.law(MINUTE).availability()).round() / 10.0;
        assert_eq!(
            NOMINAL_ROWS.map(percent),
            [92.4, 86.8, 74.9, 66.6, 60.0, 50.0, 41.7, 36.4, 22.3, 12.7, 5.6]
        );
    }

    #[test]
    fn rows_are_found_by_name_only() {
        assert_eq!(NominalRow::named(50).map(|row| row.up_max), Some(200));
        assert_eq!(NominalRow::named(51), None);
    }
}
