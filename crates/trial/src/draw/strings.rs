//! Meanings of the strings of a scenario that a schema cannot express.

/// Meaning of a string without a format of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Name of its own table, beginning with this letter.
    Own(&'static str),
    /// Name of something of these kinds.
    Names(&'static [Kind]),
    /// Free text.
    Text,
    /// A log of jobs.
    Log,
    /// A record of failures.
    Record,
    /// A record of loads.
    Loads,
    /// A table of jobs that run or wait at time zero.
    StartState,
    /// A workflow.
    Workflow,
    /// A site or cluster of such a record.
    RecordedSite,
    /// Path to a value of the scenario.
    Path,
    /// Another scenario; made by splitting one, never drawn.
    Scenario,
}

/// Kind of thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Workload,
    Provider,
    Metascheduler,
    Store,
    User,
    Grid,
    Site,
    Resource,
    Plans,
    Cluster,
    Axis,
    /// Nodes of a provider.
    NodeGroup,
    /// Account of a provider.
    Account,
    /// Queue of a provider.
    Queue,
    /// Quality of service of a provider.
    Qos,
    /// Groups of jobs of one run.
    Group,
}

impl Kind {
    /// Table of a scenario that contains things of this kind.
    pub(super) const fn table(self) -> &'static str {
        match self {
            Kind::Workload => "workload",
            Kind::Provider | Kind::NodeGroup | Kind::Account | Kind::Queue | Kind::Qos => {
                "provider"
            }
            Kind::Metascheduler => "metascheduler",
            Kind::Store => "network",
            Kind::User => "user",
            Kind::Grid | Kind::Site | Kind::Resource => "grid",
            Kind::Plans | Kind::Cluster => "plans",
            Kind::Axis | Kind::Group => "sweep",
        }
    }
}

/// Meaning of the string at a key of a table; for a list, of its members.
pub(super) fn role(table: &str, key: &str) -> Option<Role> {
    use Kind::{
        Account, Axis, Cluster, Grid, Group, Metascheduler, NodeGroup, Plans, Provider, Qos, Queue,
        Resource, Site, Store, User, Workload,
    };
    Some(match (table, key) {
        ("Workload", "name") => Role::Own("w"),
        ("Provider", "name") => Role::Own("p"),
        ("Metascheduler", "name") => Role::Own("m"),
        ("Node", "name") => Role::Own("n"),
        ("Queue", "name") => Role::Own("q"),
        ("Qos", "name") => Role::Own("quality"),
        ("Account", "name") => Role::Own("a"),
        ("Queue", "nodes") => Role::Names(&[NodeGroup]),
        ("Queue", "preempts") => Role::Names(&[Queue]),
        ("Qos", "preempts") => Role::Names(&[Qos]),
        ("Account", "parent") => Role::Names(&[Account]),
        ("User", "name") => Role::Own("u"),
        ("Grid", "name") => Role::Own("g"),
        ("Site", "name") => Role::Own("s"),
        // A type of machine has the name of a provider, so that applications run somewhere.
        ("Provider", "machine" | "site") | ("IterativeMachine", "name") => Role::Names(&[Provider]),
        ("Plans", "name") => Role::Own("g"),
        ("PlanCluster", "name") => Role::Own("c"),
        ("Figure", "name") => Role::Own("f"),
        ("Axis", "name") => Role::Own("a"),
        ("AxisVariant", "name") => Role::Own("v"),
        ("Branch", "name") => Role::Own("b"),
        ("SubmittedJobs", "user") => Role::Names(&[User]),
        ("Header", "name") => Role::Own("case"),
        ("Step", "pool") => Role::Own("pool"),
        ("User", "workload") | ("Workload", "merge") => Role::Names(&[Workload]),
        ("User", "submits-to") => {
            Role::Names(&[Provider, Metascheduler, Metascheduler, Grid, Plans])
        }
        ("Metascheduler", "providers") => Role::Names(&[Provider, Provider, Provider, Grid]),
        ("Overflow", "to") => Role::Names(&[Provider, Metascheduler]),
        ("Maintenance", "of") => Role::Names(&[Provider]),
        ("Failures", "of") => Role::Names(&[Provider, Site, Cluster]),
        ("Failures", "actors") => Role::Names(&[Provider, Metascheduler, User]),
        ("Figure", "providers") => Role::Names(&[Provider, Site, Resource, Cluster]),
        ("Figure", "x") => Role::Names(&[Axis]),
        ("Figure", "group-by") => Role::Names(&[Axis, Group, Group]),
        ("Network", "stores") => Role::Own("d"),
        ("Checkpoints", "store") => Role::Names(&[Provider, Metascheduler, Store, Store]),
        ("Link", "between") => Role::Names(&[Provider, Metascheduler, Store, User, Grid]),
        ("Partition", "between") => Role::Names(&[Provider, Metascheduler, User, Grid]),
        ("Header", "description") | ("Figure", "title" | "label") => Role::Text,
        ("Workload", "log") => Role::Log,
        ("LogReading", "columns" | "mapping") | ("LogNames", _) => Role::Text,
        ("Recorded", "log") => Role::Record,
        ("Plans", "loads") => Role::Loads,
        ("Provider", "initial-file") => Role::StartState,
        ("GridInitialJob", "resource") => Role::Names(&[Resource]),
        ("Workflows", "files") => Role::Workflow,
        ("MeasuredTimes", "cluster") => Role::Names(&[Cluster]),
        ("Recorded", "sites") => Role::RecordedSite,
        ("Axis", "path") => Role::Path,
        ("Header", "extends") => Role::Scenario,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::keys::{Value, keys};

    /// A string must be a word of a list, a quantity that the generator draws, or in the table.
    #[test]
    fn the_meaning_of_every_string_of_the_schema_is_known() {
        let mut strings = 0;
        for key in keys() {
            let Value::String { format } = &key.value else { continue };
            strings += 1;
            let named = matches!(format.as_deref(), None | Some("name" | "title"));
            let known = match named {
                true => role(&key.table, &key.key).is_some(),
                false => super::super::document::quantities(format.as_deref().unwrap_or_default())
                    .is_some(),
            };
            assert!(known, "say in strings.rs what `{}` is, or draw its format", key.shown);
        }
        assert!(strings > 60, "only {strings} strings were looked at");
    }
}
