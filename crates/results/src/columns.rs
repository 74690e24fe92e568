//! The tables and the definition of a column. The writer, the reader and the manual's page all use it.
//!
//! Each table is defined in a file of its own in `tables/`. This definition gives the columns in order,
//! with their names, types and meanings.

use crate::reader::TableData;
use crate::tables::{OfKind, TableRow};
use crate::words::Words;
use crate::{ResultsError, RunReader};

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds with microsecond resolution: kept as an integer, written as a 64-bit float.
    Seconds,
    /// Any other 64-bit float.
    Real,
    /// A 64-bit integer.
    Integer,
    /// A text from a small set.
    Word,
    /// A text that is mostly unique; the empty text is the missing value.
    Text,
}

impl Kind {
    /// The type as named in the manual.
    pub const fn type_name(self) -> &'static str {
        match self {
            Kind::Seconds | Kind::Real => "float",
            Kind::Integer => "integer",
            Kind::Word | Kind::Text => "text",
        }
    }
}

/// A column's definition.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in Parquet and CSV.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// For a column of words: the words that have fixed codes.
    pub(crate) words: Words,
    /// Its unit; empty for texts and bare numbers.
    pub unit: &'static str,
    /// Its meaning, or its formula over other columns.
    pub formula: &'static str,
    /// The reason for missing values, or the number that stands for unknown.
    pub missing: Missing,
    /// Of numbers: the values that a run can have.
    pub range: Range,
    /// True if the digest of a table skips this column when it has no value. Columns that few runs use
    /// are added to existing tables in this way.
    pub if_used: bool,
}

impl Column {
    /// A column that counts in every digest.
    pub(crate) const fn of<K: OfKind>(
        name: &'static str,
        unit: &'static str,
        formula: &'static str,
        missing: Missing,
    ) -> Column {
        let least = match missing {
            Missing::Number(_) => UNKNOWN,
            Missing::Never | Missing::Empty(_) => 0.0,
        };
        let most = match K::KIND {
            Kind::Seconds => SECONDS_MOST,
            Kind::Real => REAL_MOST,
            Kind::Integer => u32::MAX as f64,
            Kind::Word | Kind::Text => 0.0,
        };
        let (kind, words, range) = (K::KIND, K::WORDS, Range { least, most });
        Column { name, kind, words, unit, formula, missing, range, if_used: false }
    }

    pub(crate) const fn if_used(self) -> Column {
        Column { if_used: true, ..self }
    }

    /// Numbers that begin at 1, and numbers of things of which there is at least one.
    pub(crate) const fn at_least_one(self) -> Column {
        self.with_least(1.0)
    }

    /// -1 stands for nothing.
    pub(crate) const fn or_none(self) -> Column {
        self.with_least(UNKNOWN)
    }

    /// Times that may be before the run: those of jobs of a start state.
    pub(crate) const fn also_before_run(self) -> Column {
        self.with_least(-SECONDS_MOST)
    }

    /// Integers of 64 bits that are not negative: bytes, and counts over the whole run.
    pub(crate) const fn large(self) -> Column {
        self.with_most(INTEGER_MOST)
    }

    /// Any integers, which files of users have.
    pub(crate) const fn any_integer(self) -> Column {
        self.with_least(-INTEGER_MOST).with_most(INTEGER_MOST)
    }

    const fn with_least(self, least: f64) -> Column {
        Column { range: Range { least, ..self.range }, ..self }
    }

    /// With no greater values than these.
    pub(crate) const fn with_most(self, most: f64) -> Column {
        Column { range: Range { most, ..self.range }, ..self }
    }
}

/// Number that stands for unknown.
const UNKNOWN: f64 = -1.0;
/// Times are kept as microseconds in 64 bits.
const SECONDS_MOST: f64 = i64::MAX as f64 / 1e6;
/// Greater than all products of times, processors and speeds.
const REAL_MOST: f64 = 1e30;
const INTEGER_MOST: f64 = i64::MAX as f64;

/// Values that a column of numbers can have in a run; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least one.
    pub least: f64,
    /// The greatest one.
    pub most: f64,
}

impl Range {
    /// True if a run can have this value. No run has infinite values, or values that are no numbers.
    pub fn has(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// Representation of a missing value in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There always is a value.
    Never,
    /// A number of the column's own type, such as -1, with its meaning.
    Number(&'static str),
    /// An empty CSV field, a null in Parquet, with the reason.
    Empty(&'static str),
}

/// A table: its name, the meaning of its rows for the manual, and its columns in order.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) columns: &'static [Column],
}

macro_rules! tables {
    ($($(#[$about:meta])* $table:ident: $row:ident,)*) => {
        /// A table of a run's folder.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Table {
            $($(#[$about])* $table,)*
        }

        impl Table {
            /// All tables, in the order of the manual.
            pub const ALL: [Table; [$(Table::$table),*].len()] = [$(Table::$table),*];

            const fn definition(self) -> &'static Definition {
                match self {
                    $(Table::$table => &<crate::tables::$row as TableRow>::DEFINITION,)*
                }
            }
        }

        impl RunReader {
            /// Reads a whole table and forgets it, to see that each of its rows has the values that its columns define.
            /// `look` gets all columns of each batch of rows that has them. It ends early once `is_needless` is true.
            ///
            /// # Errors
            /// If the table is missing or damaged, or `look` fails.
            pub fn check(
                &self,
                table: Table,
                is_needless: &dyn Fn() -> bool,
                look: &mut dyn FnMut(&TableData) -> Result<(), ResultsError>,
            ) -> Result<(), ResultsError> {
                match table {
                    $(Table::$table => self.check_rows::<crate::tables::$row>(is_needless, look),)*
                }
            }
        }
    };
}

tables! {
    /// One row a job.
    Jobs: JobRow,
    /// One row an attempt to run a job.
    Attempts: AttemptRow,
    /// One row a contiguous interval of processors held by an attempt.
    Placements: PlacementRow,
    /// One row a delivered message.
    Messages: MessageRow,
    /// One row a (sender, receiver, kind), instead of `messages`.
    MessageCounts: MessageCountRow,
    /// One row a message that was lost or doubled.
    MessageFaults: MessageFaultRow,
    /// One row a disclosure of information.
    Disclosures: DisclosureRow,
    /// One row an offer.
    Offers: OfferRow,
    /// One row a reservation that was granted.
    Reservations: ReservationRow,
    /// One row a time that a reservation lost its place.
    Displacements: DisplacementRow,
    /// One row a move of a job that waited.
    Moves: MoveRow,
    /// One row a part of a booked place of a job on several providers.
    Bookings: BookingRow,
    /// One row a try to get the parts of a job from several providers by a protocol.
    Transactions: TransactionRow,
    /// One row a part that a provider held for a transaction.
    Holds: HoldRow,
    /// One row an interval of an application of phases.
    Intervals: IntervalRow,
    /// One row a provider.
    Resources: ResourceRow,
    /// One row a node.
    Nodes: NodeRow,
    /// One row a failure or repair.
    Failures: FailureRow,
    /// One row an outage, from failure to repair.
    Outages: OutageRow,
    /// One row a crash of an actor.
    Crashes: CrashRow,
    /// One row an interval of processors in a window of maintenance, or a window that had none.
    Maintenance: MaintenanceRow,
    /// One row a checkpoint of an attempt.
    Checkpoints: CheckpointRow,
    /// One row per route over which data of a grid arrived.
    Transfers: TransferRow,
    /// One row an input of a task for a provider.
    Inputs: InputRow,
    /// One row a workflow.
    Workflows: WorkflowRow,
    /// One row a task of a workflow that is read from a file.
    Tasks: TaskRow,
}

impl Table {
    /// The file's name without its ending.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// Meaning of its rows, for the manual.
    pub const fn about(self) -> &'static str {
        self.definition().about
    }

    /// Its columns, in order.
    pub const fn columns(self) -> &'static [Column] {
        self.definition().columns
    }

    /// Columns of intervals: their beginnings and their ends, which are not smaller.
    pub const fn intervals(self) -> &'static [[&'static str; 2]] {
        const PROCESSORS: [&str; 2] = ["first_resource", "last_resource"];
        const TIME: [&str; 2] = ["starting_time", "finish_time"];
        match self {
            Table::Jobs | Table::Attempts | Table::Workflows => &[TIME],
            Table::Placements | Table::Maintenance => &[TIME, PROCESSORS],
            Table::Nodes => &[PROCESSORS],
            Table::Intervals => &[TIME, ["first_phase", "last_phase"]],
            Table::Outages => &[["failure_time", "restoration_time"], PROCESSORS],
            Table::Failures => &[PROCESSORS],
            Table::Crashes => &[["crash_time", "restart_time"]],
            Table::Checkpoints => &[["requested_time", "written_time"]],
            Table::Inputs => &[["sent_time", "arrival_time"]],
            Table::Messages
            | Table::MessageCounts
            | Table::MessageFaults
            | Table::Disclosures
            | Table::Offers
            | Table::Reservations
            | Table::Displacements
            | Table::Moves
            | Table::Bookings
            | Table::Transactions
            | Table::Holds
            | Table::Resources
            | Table::Transfers
            | Table::Tasks => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_start_with_the_columns_of_batsim() {
        let names: Vec<_> =
            Table::Jobs.columns().iter().take(17).map(|column| column.name).collect();
        assert_eq!(
            names.join(","),
            "job_id,workload_name,profile,submission_time,requested_number_of_resources,\
             requested_time,success,final_state,starting_time,execution_time,finish_time,\
             waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"
        );
    }

    #[test]
    fn no_table_has_a_column_twice() {
        for table in Table::ALL {
            let mut names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns().len(), "{}", table.name());
        }
    }
}
