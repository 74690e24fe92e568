//! The table `resources`.

use super::{Integer, Provider, Real, Site, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Resources, resources, required: "One row a provider, a cluster that plans, or a resource of a grid.";

    /// A row of `resources`.
    ResourceRow, ResourceCells;

    provider: String = Provider, "provider", "", "name of the provider", Never;
    first: i64 = Integer, "first_resource", "", "its first processor, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "its last processor, included; first_resource - 1 if it has none", Never, or_none;
    processors: i64 = Integer, "processors", "processors", "number of its processors", Never;
    speed: f64 = Real, "speed", "", "speed of its processors; 1 = the reference processor", Never;
    scheduler: String = Word, "scheduler", "", "its local scheduler in words", Never;
    jobs: i64 = Integer, "jobs", "jobs", "jobs that started there; of a resource of a grid, attempts that started", Never;
    busy_time: f64 = Real, "busy_time", "processor-seconds", "Σ execution_time x processors over those jobs, of unfinished ones up to the end of the run, plus the saved work of jobs that wait again, without work lost by failures; of a time-shared resource, the time in which it computed or wrote", Never;
    utilisation: Option<f64> = Real, "utilisation", "", "busy_time / (processors x makespan of the run); 0 to 1", Empty("no job ran anywhere, no processors, or time-shared");
    site: Option<String> = Site, "site", "", "of a resource of a grid, its site", Empty("jobs hold whole processors here"), if_used;
    sharing: Option<String> = Word, "sharing", "", "sharing of a resource by its jobs: `equal` (all jobs that compute get the same share) or `reserved` (each gets the share that it requests)", Empty("jobs hold whole processors here"), if_used;
    slots: Option<i64> = Integer, "slots", "jobs", "most jobs that share the resource", Empty("any number, or jobs hold whole processors here"), if_used;
}

impl ResourceRow {
    /// Returns whether it is a resource of a grid, which jobs share; elsewhere jobs hold whole processors.
    pub fn is_shared(&self) -> bool {
        self.site.is_some()
    }
}
