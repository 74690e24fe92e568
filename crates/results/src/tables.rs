//! Definitions of all tables, one file a table. A column is stated once, as the field of a row.
//!
//! A `table!` defines the columns of a table ([`Column`](crate::columns::Column)), the row that its
//! readers get, the functions that read it ([`RunReader`](crate::RunReader)), and the cells that its
//! writer gives. A new column is one line there, and a value where the row is written:
//!
//! ```text
//! queued: Option<f64> = Seconds, "queued_time", "s", "when …", Empty("not recorded");
//!    │        │             │            │        │
//!    │        │             └ its kind   └ name, unit, meaning and when it is missing, as in the manual
//!    │        └ what readers get; an `Option` where a value may be missing
//!    └ the field of row and cells
//! ```
//!
//! A column that is added to an existing table, and that few runs use, ends with `if_used`. Numbers are not negative,
//! and integers have 32 bits, unless a word behind the column says otherwise (`at_least_one`, `or_none`, `also_before_run`,
//! `large`, `any_integer` of [`Column`](crate::columns::Column)). A new table is a file here and a line in `columns.rs`.

mod attempts;
mod bookings;
mod checkpoints;
mod crashes;
mod disclosures;
mod displacements;
mod failures;
mod holds;
mod inputs;
mod intervals;
mod jobs;
mod maintenance;
mod messages;
mod moves;
mod nodes;
mod offers;
mod outages;
mod placements;
mod reservations;
mod resources;
mod tasks;
mod transactions;
mod transfers;
mod workflows;

use haggle_model::{ActorId, AttemptOutcome, JobClass, ProcessorSet, ProviderId};

use crate::ResultsError;
use crate::buffer::{Buffer, Values};
use crate::columns::{Definition, Kind, Missing, Table};
use crate::digits::push_unsigned;
use crate::reader::{Place, Row};
use crate::words::Words;

pub(crate) use attempts::AttemptCells;
pub use attempts::{AttemptRow, SlotTimes};
pub(crate) use bookings::BookingCells;
pub use bookings::BookingRow;
pub(crate) use checkpoints::CheckpointCells;
pub use checkpoints::CheckpointRow;
pub(crate) use crashes::CrashCells;
pub use crashes::CrashRow;
pub(crate) use disclosures::DisclosureCells;
pub use disclosures::DisclosureRow;
pub(crate) use displacements::DisplacementCells;
pub use displacements::DisplacementRow;
pub(crate) use failures::FailureCells;
pub use failures::FailureRow;
pub(crate) use holds::HoldCells;
pub use holds::HoldRow;
pub(crate) use inputs::InputCells;
pub use inputs::InputRow;
pub(crate) use intervals::IntervalCells;
pub use intervals::IntervalRow;
pub(crate) use jobs::JobCells;
pub use jobs::{JobRow, JobTimes};
pub(crate) use maintenance::MaintenanceCells;
pub use maintenance::MaintenanceRow;
pub(crate) use messages::{MessageCells, MessageCountCells, MessageFaultCells};
pub use messages::{MessageCountRow, MessageFaultRow, MessageRow};
pub(crate) use moves::MoveCells;
pub use moves::MoveRow;
pub(crate) use nodes::NodeCells;
pub use nodes::NodeRow;
pub(crate) use offers::OfferCells;
pub use offers::OfferRow;
pub(crate) use outages::OutageCells;
pub use outages::OutageRow;
pub(crate) use placements::PlacementCells;
pub use placements::{PlacementRow, PlacementTimes};
pub(crate) use reservations::ReservationCells;
pub use reservations::ReservationRow;
pub(crate) use resources::ResourceCells;
pub use resources::ResourceRow;
pub(crate) use tasks::TaskCells;
pub use tasks::TaskRow;
pub(crate) use transactions::TransactionCells;
pub use transactions::TransactionRow;
pub(crate) use transfers::TransferCells;
pub use transfers::TransferRow;
pub(crate) use workflows::WorkflowCells;
pub use workflows::WorkflowRow;

/// A row of a table, or the part of it that some columns are.
pub(crate) trait ReadRow: Sized {
    const TABLE: Table;
    const COLUMNS: &'static [&'static str];

    /// Reads a row that has all of these columns, in order.
    fn read(row: &Row<'_>) -> Result<Self, ResultsError>;
}

/// A row as its readers get it.
pub(crate) trait TableRow: ReadRow {
    const DEFINITION: Definition;
}

/// A row as its writer gives it.
pub(crate) trait Cells {
    const TABLE: Table;

    /// Appends the row.
    fn give(self, buffer: &mut Buffer);
}

/// A kind of columns whose values are given and read in one way.
pub(crate) trait OfKind {
    const KIND: Kind;
    const WORDS: Words = Words::Found;
}

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $kind:ident $($words:ident)?;)*) => {$(
        $(#[$about])*
        pub(crate) enum $name {}

        impl OfKind for $name {
            const KIND: Kind = Kind::$kind;
            $(const WORDS: Words = Words::$words;)?
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
    /// One of few texts.
    Word = Word;
    /// The name of a workload, given by its number.
    Workload = Word Workloads;
    /// The name of a provider, given by its number.
    Provider = Word Providers;
    /// The name of an actor, given by its number.
    Actor = Word Actors;
    /// The name of a site or service between which data flow, given by its number among these.
    Site = Word Sites;
    /// A class of jobs.
    Class = Word Classes;
    /// Texts that mostly differ.
    Text = Text;
}

/// Value of a column of kind `K`, as readers get it.
pub(crate) trait Cell<K>: Sized {
    /// True if the value may be missing.
    const IS_OPTIONAL: bool = false;
    /// True if the value is 0 or 1.
    const IS_FLAG: bool = false;
    /// Value as the writer gives it.
    type Given<'a>;

    /// Appends a value to a column.
    fn give(given: Self::Given<'_>, column: &mut Values);

    /// Reads the value.
    fn read(place: &Place<'_>) -> Result<Self, ResultsError>;
}

impl<K, T: Cell<K>> Cell<K> for Option<T> {
    const IS_OPTIONAL: bool = true;
    const IS_FLAG: bool = T::IS_FLAG;
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
    const IS_FLAG: bool = true;
    type Given<'a> = bool;

    fn give(value: bool, column: &mut Values) {
        column.push_integer(i64::from(value));
    }

    fn read(place: &Place<'_>) -> Result<bool, ResultsError> {
        place.integer().map(|value| value != 0)
    }
}

macro_rules! words {
    ($($kind:ident: $given:ty, $it:ident => $push:ident($value:expr);)*) => {$(
        impl Cell<$kind> for String {
            type Given<'a> = $given;

            fn give($it: <String as Cell<$kind>>::Given<'_>, column: &mut Values) {
                column.$push($value);
            }

            fn read(place: &Place<'_>) -> Result<String, ResultsError> {
                place.text().map(str::to_owned)
            }
        }
    )*};
}

words! {
    Word: &'a str, it => push_word(it);
    Workload: u16, it => push_code(u32::from(it));
    Provider: ProviderId, it => push_code(it.0);
    Actor: ActorId, it => push_code(it.0);
    Site: u32, it => push_code(it);
    Class: JobClass, it => push_word(it.name());
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

/// Processors of a provider, and the number of its first processor in the run.
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

/// True if the definition of a column allows missing values.
pub(crate) const fn is_empty(missing: Missing) -> bool {
    matches!(missing, Missing::Empty(_))
}

/// Defines a table, see the head of this file.
macro_rules! table {
    (
        $table:ident, $name:ident, $presence:ident: $about:literal;

        $(#[$doc:meta])*
        $row:ident, $cells:ident;

        $($field:ident: $read:ty = $kind:ident, $column:literal, $unit:literal, $meaning:literal, $missing:expr $(, $flag:ident)*;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row {
            $(#[doc = $meaning] pub $field: $read,)*
        }

        /// A row as its writer gives it.
        pub(crate) struct $cells<'a> {
            $(pub(crate) $field: <$read as $crate::tables::Cell<$kind>>::Given<'a>,)*
        }

        impl $crate::tables::TableRow for $row {
            const DEFINITION: $crate::columns::Definition = $crate::columns::Definition {
                name: stringify!($name),
                about: $about,
                columns: &[$({
                    let missing = $missing;
                    assert!($crate::tables::is_empty(missing) == <$read as $crate::tables::Cell<$kind>>::IS_OPTIONAL, $column);
                    let column = $crate::columns::Column::of::<$kind>($column, $unit, $meaning, missing)
                        $(.$flag())*;
                    if <$read as $crate::tables::Cell<$kind>>::IS_FLAG { column.with_most(1.0) } else { column }
                }),*],
            };
        }

        impl $crate::tables::ReadRow for $row {
            const TABLE: $crate::Table = $crate::Table::$table;
            const COLUMNS: &'static [&'static str] = &[$($column),*];

            fn read(row: &$crate::reader::Row<'_>) -> Result<$row, $crate::ResultsError> {
                let mut places = row.places();
                Ok($row {
                    $($field: <$read as $crate::tables::Cell<$kind>>::read(&places.next($column))?,)*
                })
            }
        }

        impl $crate::tables::Cells for $cells<'_> {
            const TABLE: $crate::Table = $crate::Table::$table;

            fn give(self, buffer: &mut $crate::buffer::Buffer) {
                let mut columns = buffer.next_row();
                $(if let Some(column) = columns.next() {
                    <$read as $crate::tables::Cell<$kind>>::give(self.$field, column);
                })*
            }
        }

        $crate::tables::reader!($name, $presence, $row);
    };
}

/// Functions that read a table, which each run has (`required`) or not (`optional`).
macro_rules! reader {
    ($name:ident, required, $row:ident) => {
        impl $crate::RunReader {
            #[doc = concat!("All rows of `", stringify!($name), "`.")]
            ///
            /// # Errors
            /// If the table is missing or damaged.
            pub fn $name(&self) -> Result<Vec<$row>, $crate::ResultsError> {
                $row::some(self, &$crate::reader::Rows::all())
            }
        }

        $crate::tables::reader!(of $name, $row, |_| true);
    };
    ($name:ident, optional, $row:ident) => {
        impl $crate::RunReader {
            #[doc = concat!("All rows of `", stringify!($name), "`; none where the run does not have it.")]
            ///
            /// # Errors
            /// If the table is damaged.
            pub fn $name(&self) -> Result<Vec<$row>, $crate::ResultsError> {
                $row::some(self, &$crate::reader::Rows::all())
            }
        }

        $crate::tables::reader!(of $name, $row, |run: &$crate::RunReader| {
            run.has(<$row as $crate::tables::ReadRow>::TABLE)
        });
    };
    (of $name:ident, $row:ident, $is_there:expr) => {
        impl $row {
            #[doc = concat!("The rows of `", stringify!($name), "` that are asked for, in the order of the table.")]
            ///
            /// # Errors
            /// If the table is missing, though each run has it, or damaged.
            pub fn some(
                run: &$crate::RunReader,
                rows: &$crate::reader::Rows,
            ) -> Result<Vec<$row>, $crate::ResultsError> {
                if ($is_there)(run) { run.rows(rows) } else { Ok(Vec::new()) }
            }

            /// The same rows one after the other, so that the whole table is never in memory.
            ///
            /// # Errors
            /// If the table is missing, though each run has it, or damaged.
            pub fn each(
                run: &$crate::RunReader,
                rows: &$crate::reader::Rows,
                mut take: impl FnMut($row),
            ) -> Result<(), $crate::ResultsError> {
                if ($is_there)(run) { run.each_row(rows, &mut take) } else { Ok(()) }
            }
        }
    };
}

/// States a row of some columns of a table. Its readers take less time and memory than those of whole rows.
macro_rules! part {
    (
        $table:ident, $name:ident;

        $(#[$doc:meta])*
        $row:ident;

        $($field:ident: $read:ty = $kind:ident, $column:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row {
            $(#[doc = concat!("The column `", $column, "`.")] pub $field: $read,)*
        }

        impl $crate::tables::ReadRow for $row {
            const TABLE: $crate::Table = $crate::Table::$table;
            const COLUMNS: &'static [&'static str] = &[$($column),*];

            fn read(row: &$crate::reader::Row<'_>) -> Result<$row, $crate::ResultsError> {
                let mut places = row.places();
                Ok($row {
                    $($field: <$read as $crate::tables::Cell<$kind>>::read(&places.next($column))?,)*
                })
            }
        }

        $crate::tables::reader!(of $name, $row, |_: &$crate::RunReader| true);
    };
}

pub(crate) use part;
pub(crate) use reader;
pub(crate) use table;
