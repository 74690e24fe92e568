//! Size and subject of a drawn world.
//!
//! Small worlds reach more states than large ones: with three jobs, two often meet at one instant. These rules do
//! not define validity. A key that is not named here is drawn from the whole range of its schema.

/// Subject of a drawn scenario. Without themes, worlds of bags or sessions would be rare, because several keys
/// must agree before one is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// No subject.
    Anything,
    /// Jobs that need all their processors at once.
    Rigid,
    /// Jobs that are reserved in advance.
    Reserved,
    /// Bags of tasks that metaschedulers compose from offers.
    Bags,
    /// A grid whose jobs share resources.
    Grid,
    /// A grid whose jobs reserve shares.
    Sessions,
    /// A grid whose jobs are tasks of workflows.
    Workflows,
    /// Providers that run tasks of workflows.
    Flows,
    /// Providers that exchange data over shared links.
    Shared,
    /// Jobs that save their progress in a storage, over shared links.
    Saved,
    /// Applications of phases that are rescheduled over clusters.
    Plans,
    /// Iterative applications that are mapped to cores of several providers.
    Mapped,
    /// Jobs on several providers at once, which move while they wait.
    Moving,
    /// Providers and a grid, side by side.
    Both,
}

/// Wish of a theme for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The key is absent.
    Absent,
    /// The key is present.
    Present,
    /// The value is one of these words.
    OneOf(&'static [&'static str]),
}

impl Theme {
    pub(super) const ALL: [Theme; 14] = [
        Theme::Anything,
        Theme::Rigid,
        Theme::Reserved,
        Theme::Bags,
        Theme::Grid,
        Theme::Sessions,
        Theme::Workflows,
        Theme::Flows,
        Theme::Shared,
        Theme::Saved,
        Theme::Plans,
        Theme::Mapped,
        Theme::Moving,
        Theme::Both,
    ];

    /// Wish for a key of a table, if any.
    pub(super) fn wish(self, table: &str, key: &str) -> Option<Wish> {
        use Theme::{
            Anything, Bags, Both, Flows, Grid, Mapped, Moving, Plans, Reserved, Rigid, Saved,
            Sessions, Shared, Workflows,
        };
        use Wish::{Absent, OneOf, Present};
        // Drawn logs are in one format, which needs no choices.
        if (table, key) == ("Workload", "reading") {
            return Some(Absent);
        }
        Some(match (self, table, key) {
            (Anything, ..) => return None,
            (
                Rigid | Reserved | Bags | Mapped | Moving | Flows | Shared | Saved,
                "Scenario",
                "grid" | "plans",
            ) => Absent,
            (Grid | Sessions | Workflows, "Scenario", "plans") => Absent,
            (Workflows | Flows | Shared, "Workload", "model") => OneOf(&["workflows"]),
            (Workflows | Flows | Shared, "Workload", "workflows") => Present,
            (
                Workflows | Flows | Shared,
                "Workload",
                "step" | "share" | "log" | "jobs" | "merge",
            ) => Absent,
            (
                Workflows | Flows | Shared,
                "Workload",
                "lublin" | "independent-jobs" | "synthetic-month",
            ) => Absent,
            (Flows | Shared, "Workflows", "progress") => Absent,
            (Flows | Shared, "Metascheduler", "composition" | "negotiation" | "mapping") => Absent,
            (Flows | Shared, "Metascheduler", "coallocation" | "reallocation") => Absent,
            // Tasks of a drawn shape have megabytes of data. At these rates transfers take minutes, so they
            // overlap.
            (Shared, "Workflows", "shape") => Present,
            (Shared, "Workflows", "width" | "width-max" | "work" | "spread" | "ends") => Absent,
            (Shared, "Workflows", "files") => Absent,
            (Shared, "Scenario", "metascheduler" | "network") => Present,
            (Shared, "Network", "sharing") => Present,
            // With long latencies, or little time for all jobs, few transfers overlap.
            (Shared, "Network" | "Link", "latency") => OneOf(&["0s", "1s", "1min"]),
            (Shared, "Header", "until") => Absent,
            (Shared, "Network", "bandwidth") => OneOf(&["56 kbit/s", "1 Mbit/s", "10 Mbit/s"]),
            // Nodes take none of these jobs. Without nodes, a provider states its processors.
            (Reserved | Bags | Mapped | Moving | Saved, "Provider", "node") => Absent,
            (Reserved | Bags | Mapped | Moving | Saved, "Provider", "processors") => Present,
            // The first four kinds are refused with these rules. With them, the last one would need many repairs.
            (
                Reserved | Bags | Mapped | Moving | Saved,
                "Provider",
                "queue" | "qos" | "account" | "priority",
            ) => Absent,
            (Saved, "Scenario", "failures" | "network") => Present,
            (Saved, "Failures", "actors" | "first-node") => Absent,
            (Saved, "Provider", "on-failure") => OneOf(&["resume"]),
            (Saved, "Provider", "checkpoints") => Present,
            (Saved, "Checkpoints", "size" | "store") => Present,
            (Saved, "Checkpoints", "bandwidth") => Absent,
            (Saved, "Network", "sharing" | "stores") => Present,
            (Saved, "Network", "bandwidth") => OneOf(&["1 Mbit/s", "10 Mbit/s", "1 Gbit/s"]),
            (Saved, "Network" | "Link", "latency") => OneOf(&["0s", "1s", "1min"]),
            (Saved, "Metascheduler", "composition" | "negotiation" | "mapping") => Absent,
            (Saved, "Metascheduler", "coallocation") => Absent,
            (Workflows, "Workflows", "processors" | "processors-max") => Absent,
            (Workflows, "Grid", "policy") => {
                OneOf(&["workflow", "balanced-workflow", "static-workflow", "rescheduling", "wqr"])
            }
            (Plans, "Scenario", "plans") => Present,
            (Plans, "Scenario", "grid" | "provider" | "metascheduler" | "maintenance") => Absent,
            (Plans, "Workload", "model") => OneOf(&["applications"]),
            (Plans, "Workload", "applications") => Present,
            (Plans | Mapped, "Workload", "step" | "data" | "share" | "log" | "jobs" | "merge") => {
                Absent
            }
            (Plans | Mapped, "Workload", "lublin" | "independent-jobs" | "synthetic-month") => {
                Absent
            }
            (Mapped, "Scenario" | "Metascheduler", "metascheduler" | "mapping") => Present,
            (Mapped, "Scenario", "provider") => Present,
            (Mapped, "Metascheduler", "composition" | "coallocation" | "reallocation") => Absent,
            (Mapped, "Metascheduler", "negotiation") => Absent,
            (Moving, "Scenario" | "Metascheduler", "metascheduler" | "coallocation") => Present,
            (Moving, "Scenario", "provider") => Present,
            (Moving, "Metascheduler", "composition" | "mapping" | "reallocation") => Absent,
            (Moving, "Metascheduler", "negotiation") => Absent,
            // Parts that a protocol has got do not move.
            (Moving, "Coallocation", "protocol") => Absent,
            (Moving, "Coallocation", "policy") => OneOf(&["shift", "shift-remap"]),
            (Mapped | Moving, "Provider", "policy") => {
                OneOf(&["fcfs", "easy", "conservative", "edf", "bags"])
            }
            (Mapped | Moving, "Provider", "disclosure") => OneOf(&["slots", "queue"]),
            (Mapped | Moving, "Provider", "overrun") => OneOf(&["kill"]),
            (Mapped | Moving, "Provider", "speed") => Absent,
            (Mapped, "Workload", "model") => OneOf(&["iterative"]),
            (Mapped, "Workload", "iterative") => Present,
            (Both, "Scenario", "provider" | "grid") => Present,
            (Both, "Workload", "share" | "applications") => Absent,
            (Both, "Site", "sharing") => OneOf(&["equal"]),
            (Both, "InlineJob", "processors") => Absent,
            // Behind the arm of `Mapped`, the only theme with such applications.
            (_, "Workload", "iterative") => Absent,
            (
                Rigid | Reserved | Bags | Sessions | Plans | Mapped | Moving | Saved,
                "Workload",
                "workflows",
            ) => Absent,
            (Rigid | Bags, "Metascheduler", "mapping") => Absent,
            (
                Rigid | Reserved | Bags | Grid | Sessions | Workflows | Flows | Shared | Saved
                | Mapped | Moving,
                "Workload",
                "applications",
            ) => Absent,
            (Rigid | Reserved | Bags | Flows | Shared | Saved, "Scenario", "provider") => Present,
            (Reserved, "Scenario", "metascheduler") => Absent,
            (Reserved, "Provider", "policy") => {
                OneOf(&["fcfs", "easy", "conservative", "edf", "bags", "reservations"])
            }
            (Reserved, "Workload", "step") => Present,
            (Rigid, "Metascheduler", "composition" | "negotiation") => Absent,
            (Bags, "Metascheduler", "coallocation" | "reallocation") => Absent,
            (Bags, "Scenario" | "Metascheduler", "metascheduler" | "composition") => Present,
            (Bags, "Provider", "policy") => OneOf(&["edf", "bags"]),
            (Bags, "Provider", "disclosure") => OneOf(&["slots", "queue", "load", "offers"]),
            (Bags, "Workload", "step") => Present,
            (
                Rigid | Reserved | Bags | Flows | Shared | Saved | Moving,
                "Workload",
                "data" | "share",
            ) => Absent,
            (Grid | Sessions | Workflows, "Scenario", "grid") => Present,
            (
                Grid | Sessions | Workflows,
                "Scenario",
                "provider" | "metascheduler" | "maintenance",
            ) => Absent,
            (Grid | Sessions, "InlineJob", "processors") => Absent,
            (Grid, "Workload", "share") => Absent,
            (Grid | Workflows, "Site", "sharing") => OneOf(&["equal"]),
            (Sessions, "Grid", "policy") => OneOf(&[
                "user-clustering",
                "full-fill",
                "full-fill-round-robin",
                "with-limit",
                "with-dynamic-limit",
            ]),
            (Sessions, "Workload", "share") => Present,
            (Sessions, "Site", "sharing") => OneOf(&["reserved"]),
            _ => return None,
        })
    }

    /// True if its users must submit to metaschedulers: no other target serves the subject of the theme.
    pub(super) fn submits_to_metaschedulers(self) -> bool {
        matches!(self, Theme::Mapped | Theme::Shared)
    }

    /// True if a theme avoids a kind of member in a list of tagged tables.
    pub(super) fn avoids(self, table: &str, word: &str) -> bool {
        let its_own = match (table, word) {
            ("Step", "bags") => Theme::Bags,
            ("Step", "reservations") => Theme::Reserved,
            _ => return false,
        };
        self != Theme::Anything && self != its_own
    }

    /// Kind that one member of a list of tagged tables must have.
    pub(super) fn member(self, table: &str, key: &str) -> Option<&'static str> {
        match (self, table, key) {
            (Theme::Bags, "Workload", "step") => Some("bags"),
            (Theme::Reserved, "Workload", "step") => Some("reservations"),
            _ => None,
        }
    }
}

/// True if a key is always drawn, because hardly any scenario is valid without it.
pub(super) fn always(table: &str, key: &str) -> bool {
    matches!((table, key), ("Scenario", "workload" | "user"))
}

/// True if a key is nearly always drawn: worlds without it are empty, or repeat failed attempts for long.
pub(super) fn usual(table: &str, key: &str) -> bool {
    matches!((table, key), ("Scenario", "provider") | ("Provider", "max-attempts"))
}

/// Fewest and most members of a list.
pub(super) fn members(table: &str, key: &str) -> (usize, usize) {
    match (table, key) {
        ("Scenario", "workload" | "user") => (1, 3),
        ("Scenario", "provider") => (1, 4),
        ("Network", "stores") => (1, 2),
        ("Workload", "jobs") => (1, 14),
        ("Sweep", "axis") => (1, 2),
        ("Plans", "cluster") => (1, 3),
        ("IterativeApplications", "processes") | ("IterativeMachine", "throughputs") => (1, 2),
        ("IterativeApplications", "machine") => (1, 3),
        _ => (0, 3),
    }
}

/// Largest number that is drawn for a key that makes a world grow.
pub(super) fn most(table: &str, key: &str) -> Option<i64> {
    Some(match (table, key) {
        ("Provider", "processors") => 16,
        ("Provider", "count") => 3,
        ("Site", "resources") => 4,
        ("Lublin" | "IndependentJobs" | "MonthSite", "jobs") => 25,
        ("Lublin" | "MonthSite", "processors") => 16,
        ("IndependentJobs" | "SyntheticMonth", "days") => 3,
        ("SyntheticMonth", "site") => 2,
        ("IndependentJobs", "users") => 4,
        ("InlineJob", "processors") => 20,
        // A batch has e^mu jobs, and more by its deviation: e^10 of them would keep a queue busy for an hour.
        ("Law", "mu") => 4,
        // Times are exact to the microsecond only for the first 71 years.
        ("Law" | "TimeLaw", "sigma") => 2,
        ("Sweep", "replications") => 3,
        ("Split", "parts" | "part" | "count") => 3,
        ("Step", "weeks") => 4,
        ("Provider", "max-attempts") => 40,
        ("Maintenance", "processors") => 16,
        ("Maintenance", "times") => 5,
        ("Workflows", "count" | "width" | "width-max") => 4,
        ("Workflows", "tasks") => 20,
        // A task recorded on a machine that is a million times as fast takes centuries here, in rounds of minutes.
        ("Workflows", "recorded-mips") => 1_000,
        ("Workflows", "processors" | "processors-max") => 8,
        ("Workflows", "days") => 1,
        ("Reallocation", "window") => 6,
        ("Replicas" | "MaxReplicas" | "SwitchedReplicas", "min" | "max") => 5,
        ("PlanCluster" | "MeasuredTimes", "machines") => 8,
        ("PlanGenetic", "generations" | "population") => 9,
        ("Applications", "count") => 9,
        ("Applications", "jobs" | "merge") => 4,
        ("Applications", "tasks") => 16,
        ("ApplicationInGraph", "needs") => 2,
        ("IterativeApplications", "jobs" | "cores" | "processes") => 5,
        ("IterativeApplications", "iterations") => 40,
        ("Figure", "job") => 20,
        _ => return None,
    })
}

/// True if the numbers of a list must be in ascending order.
pub(super) fn ascending(table: &str, key: &str) -> bool {
    matches!((table, key), ("Law" | "TimeLaw", "edges"))
}

/// True if a time is the period of something that recurs. Such a time is long enough for a run to end within
/// bounds.
pub(super) fn recurs(table: &str, key: &str) -> bool {
    matches!(
        (table, key),
        ("Grid", "period")
            | ("Reallocation", "period")
            | ("Coallocation", "retry")
            | ("Load", "period")
            | ("Plans", "period")
            | ("Checkpoints", "interval" | "interval-min" | "first" | "step" | "mtbf")
            | ("Information", "delay")
            | ("TimeLaw", _)
    )
}
