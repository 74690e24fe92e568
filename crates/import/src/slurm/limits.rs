//! Limits of QOS and associations.

use haggle_scenario::file::Limits;
use haggle_scenario::quantity::{Bytes, TimeSpan};
use haggle_workloads::logs::slurm::values::{self, Tres};

use super::{ImportError, Record};
use crate::Remarks;

/// Rules that the site enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Enforced {
    /// Limits of QOS and associations.
    pub(super) limits: bool,
}

impl Enforced {
    pub(super) fn of(config: &Record) -> Enforced {
        let words = config.get("AccountingStorageEnforce").unwrap_or_default().to_ascii_lowercase();
        let has = |word: &str| words.split(',').any(|it| it.trim() == word);
        // Each of these words includes limits.
        Enforced { limits: has("limits") || has("safe") || has("all") }
    }
}

/// The columns of limits of jobs together: running jobs, submitted jobs, and resources.
pub(super) type Columns = [&'static str; 3];

pub(super) const OF_GROUP: Columns = ["GrpJobs", "GrpSubmit", "GrpTRES"];
pub(super) const OF_USER: Columns = ["MaxJobsPU", "MaxSubmitPU", "MaxTRESPU"];
pub(super) const OF_ACCOUNT: Columns = ["MaxJobsPA", "MaxSubmitPA", "MaxTRESPA"];

/// Description of the expected text of a list of resources.
const A_LIST: &str = "resources such as cpu=8,mem=16G";

/// Limits on jobs together.
pub(super) fn together(
    record: &Record,
    columns: Columns,
    name: &str,
    remarks: &mut Remarks,
) -> Result<Limits, ImportError> {
    let [running, submitted, tres] = columns;
    let amounts = record.read(tres, A_LIST, Tres::read)?.unwrap_or_default();
    for other in &amounts.others {
        remarks.add(format!("limits on {} are left out", other.escape_default()), name);
    }
    let mut positive = |limit: Option<u64>, column: &str| {
        if limit == Some(0) {
            remarks.add(format!("{column} of 0, which permits no job, is left out"), name);
        }
        limit.and_then(|it| u32::try_from(it).ok()).filter(|&it| it > 0)
    };
    Ok(Limits {
        running: positive(record.number(running)?, running),
        submitted: positive(record.number(submitted)?, submitted),
        processors: positive(amounts.processors, tres),
        memory: amounts.memory.filter(|&it| it > 0).map(Bytes),
        nodes: positive(amounts.nodes, tres),
        gpus: positive(amounts.gpus, tres),
    })
}

/// Limits on each job: the longest, and the most processors.
pub(super) fn of_job(
    record: &Record,
    name: &str,
    remarks: &mut Remarks,
) -> Result<(Option<TimeSpan>, Option<u32>), ImportError> {
    let amounts = record.read("MaxTRES", A_LIST, Tres::read)?.unwrap_or_default();
    let others = amounts.memory.is_some() || amounts.nodes.is_some() || amounts.gpus.is_some();
    if others || !amounts.others.is_empty() {
        remarks.add("limits of each job (MaxTRES) beside processors are left out", name);
    }
    let longest = record.read("MaxWall", "a time such as 1-00:00:00", values::limit)?.flatten();
    let widest = amounts.processors.and_then(|it| u32::try_from(it).ok());
    Ok((longest.map(TimeSpan), widest))
}

/// Remarks on limits that no scenario has.
pub(super) fn remark_others(record: &Record, known: &[&str], name: &str, remarks: &mut Remarks) {
    for column in record.known().filter(|it| !known.contains(it)) {
        remarks.add(format!("{} is left out", column.escape_default()), name);
    }
}
