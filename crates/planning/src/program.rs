//! A program as one cluster predicts it: by models of its phases, or by times measured there.

use std::sync::Arc;

use haggle_model::{Phased, ProviderId, Span};
use serde::{Deserialize, Serialize};

use crate::{
    Application, ApplicationError, Cluster, ClusterOracle, Interval, IntervalOracle, Machines,
    PlanSearch, Table, TableError,
};

/// A cluster's predictions for an application.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Program {
    /// A model of each phase.
    Models(Arc<Application>),
    /// Measured times, for each number of machines with measurements.
    Measured(Arc<Measured>),
}

/// Times measured on idle machines of one cluster. On loaded machines, the time of a phase is divided by
/// the least available part of their processors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    phases: usize,
    /// Numbers of machines, ascending.
    machines: Vec<u32>,
    /// One row for each of these numbers; `None` if there are none.
    table: Option<Table>,
}

/// Reason why a program is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Error in a model.
    #[error(transparent)]
    Application(#[from] ApplicationError),
    /// Error in measured times.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A row of measured times has no machines, or the same number of machines as another row.
    #[error("each row of a cluster is of another number of machines, at least one")]
    Machines,
}

impl Program {
    /// The predictions of `cluster` for `phased`.
    ///
    /// # Errors
    /// If a model or a table of measured times is invalid.
    pub fn new(phased: &Phased, cluster: ProviderId) -> Result<Program, ProgramError> {
        match phased {
            Phased::Modelled { phases, size, merged } => {
                let application = Application::new(phases, *size)?.merged(*merged as usize);
                Ok(Program::Models(Arc::new(application)))
            }
            Phased::Measured(rows) => {
                let all = Vec::from_iter(rows.iter().map(|row| row.times.clone()));
                // Rows of other clusters are checked too, so that a mistake is found on whichever cluster
                // comes first.
                Table::new(&all)?;
                let mut own = Vec::from_iter(rows.iter().filter(|row| row.cluster == cluster));
                own.sort_by_key(|row| row.machines);
                let machines = Vec::from_iter(own.iter().map(|row| row.machines));
                // The rows are sorted, so that equal numbers are adjacent.
                if machines.first() == Some(&0) || machines.windows(2).any(|two| two[0] == two[1]) {
                    return Err(ProgramError::Machines);
                }
                let own = Vec::from_iter(own.iter().map(|row| row.times.clone()));
                let table = (!own.is_empty()).then(|| Table::new(&own)).transpose()?;
                let measured = Measured { phases: phased.phases(), machines, table };
                Ok(Program::Measured(Arc::new(measured)))
            }
        }
    }

    /// Φ: number of phases.
    pub fn phases(&self) -> usize {
        match self {
            Program::Models(application) => application.phases(),
            Program::Measured(measured) => measured.phases,
        }
    }

    /// Time of an interval on these machines under the loads of the cluster; [`Span::FOREVER`] for a
    /// number of machines without measurements.
    pub fn time_on(&self, cluster: &Cluster, machines: &Machines, interval: Interval) -> Span {
        match self {
            Program::Models(application) => application.time_on(cluster, machines, interval),
            Program::Measured(measured) => measured.time_on(cluster, machines, interval),
        }
    }

    /// The oracle for the usable machines of a cluster; `None` if the program can run on none of them.
    pub fn oracle(
        &self,
        cluster: &Arc<Cluster>,
        search: PlanSearch,
        may_use: impl Fn(u32) -> bool,
    ) -> Option<ProgramOracle> {
        match self {
            Program::Models(application) => {
                let oracle = ClusterOracle::among(application, cluster, search, may_use)?;
                Some(ProgramOracle::Models(Box::new(oracle)))
            }
            Program::Measured(measured) => {
                let (measured, cluster) = (Arc::clone(measured), Arc::clone(cluster));
                let mut usable = Vec::from_iter(
                    (0..cluster.machines() as u32).filter(|&machine| may_use(machine)),
                );
                // Equally loaded machines by number, so that the same sets are built in every run.
                usable.sort_by(|&a, &b| cluster.cpu(b).total_cmp(&cluster.cpu(a)).then(a.cmp(&b)));
                let fits = |machines: &&u32| **machines as usize <= usable.len();
                let sets = measured.machines.iter().take_while(fits);
                let sets = sets.map(|&count| Machines::new(usable[..count as usize].to_vec()));
                let sets = Vec::from_iter(sets);
                (!sets.is_empty()).then_some(ProgramOracle::Measured { measured, cluster, sets })
            }
        }
    }
}

impl Measured {
    fn time_on(&self, cluster: &Cluster, machines: &Machines, interval: Interval) -> Span {
        let count = machines.numbers().len() as u32;
        let row = self.machines.binary_search(&count).ok();
        let (Some(row), Some(table)) = (row, &self.table) else { return Span::FOREVER };
        let idle = table.time_on(&row, interval);
        match cluster.shares(machines).cpu {
            // A conversion to seconds and back could change a time that is exact.
            1.0 => idle,
            part => Span::from_secs_f64(idle.as_secs_f64() / part),
        }
    }
}

/// Predictions for a program on a cluster under its present loads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ProgramOracle {
    /// By models.
    Models(Box<ClusterOracle>),
    /// By measured times.
    Measured {
        /// The times.
        measured: Arc<Measured>,
        /// The loads.
        cluster: Arc<Cluster>,
        /// For each measured and usable number of machines: the machines with the most CPU.
        sets: Vec<Machines>,
    },
}

impl ProgramOracle {
    /// Number of intervals for which machines were searched; 0 for measured times, which are looked up.
    pub fn searches(&self) -> u64 {
        match self {
            ProgramOracle::Models(oracle) => oracle.effort().searches,
            ProgramOracle::Measured { .. } => 0,
        }
    }
}

impl IntervalOracle for ProgramOracle {
    type Schedule = Machines;

    fn phases(&self) -> usize {
        match self {
            ProgramOracle::Models(oracle) => oracle.phases(),
            ProgramOracle::Measured { measured, .. } => measured.phases,
        }
    }

    fn least_time(&self, interval: Interval) -> Span {
        match self {
            ProgramOracle::Models(oracle) => oracle.least_time(interval),
            ProgramOracle::Measured { .. } => self.time_on(&self.best_schedule(interval), interval),
        }
    }

    fn best_schedule(&self, interval: Interval) -> Machines {
        match self {
            ProgramOracle::Models(oracle) => oracle.best_schedule(interval),
            // Sets ascend by size, so the smallest of equally fast ones wins.
            ProgramOracle::Measured { sets, .. } => sets
                .iter()
                .min_by_key(|set| self.time_on(set, interval))
                .cloned()
                .expect("there is a set"),
        }
    }

    fn time_on(&self, schedule: &Machines, interval: Interval) -> Span {
        match self {
            ProgramOracle::Models(oracle) => oracle.time_on(schedule, interval),
            ProgramOracle::Measured { measured, cluster, .. } => {
                measured.time_on(cluster, schedule, interval)
            }
        }
    }
}
