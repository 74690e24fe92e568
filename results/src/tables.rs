//! Tables whose columns are each stated once, as the field of a row.
//!
//! From a `table!` come the table's columns ([`Column`](crate::columns::Column)), the row that its readers get and the cells
//! that its writer gives. A new column is one line there, and a value where the row is written:
//!
//! ```text
//! queued: Option<f64> = Seconds, "queued_time", "s", "when …", Empty("it was not told");
//!    │        │             │            │        │
//!    │        │             └ its kind   └ name, unit, meaning and when it is missing, as in the manual
//!    │        └ what readers get; an `Option` where a value may be missing
//!    └ the field of row and cells
//! ```

mod attempts;
mod checkpoints;
mod outages;
mod placements;
mod workflows;

use haggle_model::{AttemptOutcome, ProcessorSet};

use crate::ResultsError;
use crate::buffer::Values;
use crate::columns::{Kind, Missing};
use crate::digits::push_unsigned;
use crate::reader::Place;

pub use attempts::AttemptRow;
pub(crate) use attempts::{ATTEMPTS, AttemptCells};
pub use checkpoints::CheckpointRow;
pub(crate) use checkpoints::{CHECKPOINTS, CheckpointCells};
pub use outages::OutageRow;
pub(crate) use outages::{OUTAGES, OutageCells};
pub use placements::PlacementRow;
pub(crate) use placements::{PLACEMENTS, PlacementCells};
pub use workflows::WorkflowRow;
pub(crate) use workflows::{WORKFLOWS, WorkflowCells};

/// A kind of columns, as far as values are given and read in one way.
pub(crate) trait OfKind {
    const KIND: Kind;
}

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $kind:ident;)*) => {$(
        $(#[$about])*
        pub(crate) enum $name {}

        impl OfKind for $name {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

kinds! {
    /// Times and spans, given in microseconds and read in seconds.
    Seconds = Seconds;
    /// Other floats.
    Real = Real;
    /// Integers.
    Integer = Integer;
    /// One of few texts, given as it is.
    Word = Word;
    /// One of few texts, given by the code that the run has for it.
    Code = Word;
    /// Texts that mostly differ.
    Text = Text;
}

/// What readers get of a column of kind `K`.
pub(crate) trait Cell<K>: Sized {
    /// Whether there may be none.
    const IS_OPTIONAL: bool = false;
    /// What its writer gives.
    type Given<'a>;

    /// Appends what is given to a column.
    fn give(given: Self::Given<'_>, column: &mut Values);

    /// Reads it.
    fn read(place: &Place<'_>) -> Result<Self, ResultsError>;
}

impl<K, T: Cell<K>> Cell<K> for Option<T> {
    const IS_OPTIONAL: bool = true;
    type Given<'a> = Option<T::Given<'a>>;

    fn give(given: Option<T::Given<'_>>, column: &mut Values) {
        match given {
            Some(given) => T::give(given, column),
            None => column.push_missing(),
        }
    }

    fn read(place: &Place<'_>) -> Result<Option<T>, ResultsError> {
        if place.is_missing() { Ok(None) } else { T::read(place).map(Some) }
    }
}

impl Cell<Seconds> for f64 {
    type Given<'a> = i64;

    fn give(micros: i64, column: &mut Values) {
        column.push_micros(micros);
    }

    fn read(place: &Place<'_>) -> Result<f64, ResultsError> {
        place.real()
    }
}

impl Cell<Real> for f64 {
    type Given<'a> = f64;

    fn give(value: f64, column: &mut Values) {
        column.push_real(value);
    }

    fn read(place: &Place<'_>) -> Result<f64, ResultsError> {
        place.real()
    }
}

impl Cell<Integer> for i64 {
    type Given<'a> = i64;

    fn give(value: i64, column: &mut Values) {
        column.push_integer(value);
    }

    fn read(place: &Place<'_>) -> Result<i64, ResultsError> {
        place.integer()
    }
}

impl Cell<Integer> for bool {
    type Given<'a> = bool;

    fn give(value: bool, column: &mut Values) {
        column.push_integer(i64::from(value));
    }

    fn read(place: &Place<'_>) -> Result<bool, ResultsError> {
        place.integer().map(|value| value != 0)
    }
}

impl Cell<Code> for String {
    type Given<'a> = u32;

    fn give(code: u32, column: &mut Values) {
        column.push_code(code);
    }

    fn read(place: &Place<'_>) -> Result<String, ResultsError> {
        place.text().map(str::to_owned)
    }
}

impl Cell<Word> for AttemptOutcome {
    type Given<'a> = AttemptOutcome;

    fn give(outcome: AttemptOutcome, column: &mut Values) {
        column.push_word(outcome.name());
    }

    fn read(place: &Place<'_>) -> Result<AttemptOutcome, ResultsError> {
        let word = place.text()?;
        let known = AttemptOutcome::ALL.into_iter().find(|outcome| outcome.name() == word);
        known.ok_or_else(|| place.damaged(format!("`{word}` is no outcome of an attempt")))
    }
}

/// Processors of a provider, whose first one has this number in the run.
pub(crate) type Numbered<'a> = (&'a ProcessorSet, u32);

impl Cell<Text> for ProcessorSet {
    type Given<'a> = Numbered<'a>;

    fn give((processors, first): Numbered<'_>, column: &mut Values) {
        column.push_text(|out| push_processors(out, processors, first));
    }

    fn read(place: &Place<'_>) -> Result<ProcessorSet, ResultsError> {
        place.text()?.parse().map_err(|error| place.damaged(error))
    }
}

/// Appends intervals in the run's numbering, `0-3 5`.
pub(crate) fn push_processors(out: &mut Vec<u8>, processors: &ProcessorSet, first: u32) {
    for (i, &(from, to)) in processors.intervals().iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        push_unsigned(out, u64::from(from + first));
        if to > from {
            out.push(b'-');
            push_unsigned(out, u64::from(to + first));
        }
    }
}

/// Whether a column is said to have no value sometimes.
pub(crate) const fn is_empty(missing: Missing) -> bool {
    matches!(missing, Missing::Empty(_))
}

/// States a table, see the head of this file.
macro_rules! table {
    (
        $(#[$about:meta])*
        $columns:ident, $row:ident, $cells:ident;
        $($field:ident: $read:ty = $kind:ident, $name:literal, $unit:literal, $meaning:literal, $missing:expr $(, $flag:ident)?;)*
    ) => {
        pub(crate) const $columns: &[$crate::columns::Column] = &[$({
            assert!($crate::tables::is_empty($missing) == <$read as $crate::tables::Cell<$kind>>::IS_OPTIONAL, $name);
            $crate::columns::column($name, <$kind as $crate::tables::OfKind>::KIND, $unit, $meaning, $missing)
                $(.$flag())?
        }),*];

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row {
            $(#[doc = $meaning] pub $field: $read,)*
        }

        /// A row as its writer gives it.
        pub(crate) struct $cells<'a> {
            $(pub(crate) $field: <$read as $crate::tables::Cell<$kind>>::Given<'a>,)*
        }

        impl $cells<'_> {
            /// Appends the row.
            pub(crate) fn give(self, buffer: &mut $crate::buffer::Buffer) {
                let mut columns = buffer.next_row();
                $(if let Some(column) = columns.next() {
                    <$read as $crate::tables::Cell<$kind>>::give(self.$field, column);
                })*
            }
        }

        impl $row {
            /// Reads a row of which all columns are there, in order.
            pub(crate) fn read(
                row: &$crate::reader::Row<'_>,
            ) -> Result<$row, $crate::ResultsError> {
                let mut places = row.places();
                Ok($row {
                    $($field: <$read as $crate::tables::Cell<$kind>>::read(&places.next($name))?,)*
                })
            }
        }
    };
}

pub(crate) use table;
