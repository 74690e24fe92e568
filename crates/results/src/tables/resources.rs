//! The table `resources`.

use super::{Integer, Provider, Real, Site, Word, table};
use crate::columns::Missing::{Empty, Never};

table! {
    Resources, resources, required: "One row a provider, a cluster that plans, or a resource of a grid.";

    /// A row of `resources`.
    ResourceRow, ResourceCells;

    provider: String = Provider, "provider", "", "name of the provider", Never;
    first: i64 = Integer, "first_resource", "", "its first processor, run-wide number", Never;
    last: i64 = Integer, "last_resource", "", "its last processor, included; first_resource - 1 if it has none", Never;
    processors: i64 = Integer, "processors", "processors", "how many it has", Never;
    speed: f64 = Real, "speed", "", "speed of its processors; 1 = the reference processor", Never;
    scheduler: String = Word, "scheduler", "", "its local scheduler in words", Never;
    jobs: i64 = Integer, "jobs", "jobs", "jobs that started there; of a resource of a grid, attempts that did", Never;
    busy_time: f64 = Real, "busy_time", "processor-seconds", "sum of execution_time x processors over those jobs, unfinished ones up to the end, and what jobs that wait again have saved; without what failures undid; of a time-shared one, the time in which it had anything to compute or to write", Never;
    utilisation: Option<f64> = Real, "utilisation", "", "busy_time / (processors x makespan of the run); 0 to 1", Empty("no job ran anywhere, no processors, or time-shared");
    site: Option<String> = Site, "site", "", "of a resource of a grid, its site", Empty("jobs hold whole processors here"), if_used;
    sharing: Option<String> = Word, "sharing", "", "how the jobs of a resource divide it among them: `equal` (all that compute get the same) or `reserved` (each has the share that it asks for)", Empty("jobs hold whole processors here"), if_used;
    slots: Option<i64> = Integer, "slots", "jobs", "how many jobs share a resource at most", Empty("any number, or jobs hold whole processors here"), if_used;
}

impl ResourceRow {
    /// Whether it is a resource of a grid, which jobs share; elsewhere they hold whole processors.
    pub fn is_shared(&self) -> bool {
        self.site.is_some()
    }
}
