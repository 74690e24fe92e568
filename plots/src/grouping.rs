//! Groupings of the jobs of a run.

use haggle_results::about::UserInfo;
use haggle_results::metrics::Group;
use haggle_results::{About, Summary};

use crate::error::PlotError;
use crate::load::By;

/// Grouping of the jobs of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// By the provider that ran them.
    Provider,
    /// By class.
    Class,
    /// By the user that submitted them.
    User,
    /// By workload.
    Workload,
    /// By queue.
    Queue,
    /// By account.
    Account,
}

impl Grouping {
    /// Those of which summaries have metrics.
    pub const IN_SUMMARY: [Grouping; 4] =
        [Grouping::Provider, Grouping::Class, Grouping::User, Grouping::Workload];

    /// The grouping with this word; by default, by provider.
    ///
    /// # Errors
    /// If there is no such grouping.
    pub fn of(word: Option<&str>) -> Result<Grouping, PlotError> {
        match word {
            None | Some("provider") => Ok(Grouping::Provider),
            Some("class") => Ok(Grouping::Class),
            Some("user") => Ok(Grouping::User),
            Some("workload") => Ok(Grouping::Workload),
            Some("queue") => Ok(Grouping::Queue),
            Some("account") => Ok(Grouping::Account),
            Some(other) => Err(PlotError::Unsuitable(format!(
                "jobs of one run cannot be grouped by \"{other}\": \
                 use provider, user, class, workload, queue or account"
            ))),
        }
    }

    /// The property of jobs by which this grouping divides them.
    pub const fn by(self) -> By {
        match self {
            Grouping::Provider => By::Provider,
            Grouping::Class => By::Class,
            // Tables have no users; these are known by the workloads that they submit.
            Grouping::User | Grouping::Workload => By::Workload,
            Grouping::Queue => By::Queue,
            Grouping::Account => By::Account,
        }
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Grouping::Provider => "provider",
            Grouping::Class => "class",
            Grouping::User => "user",
            Grouping::Workload => "workload",
            Grouping::Queue => "queue",
            Grouping::Account => "account",
        }
    }

    /// The groups of a run; `None` if summaries have no metrics of them.
    pub fn groups(self, summary: &Summary) -> Option<&[Group]> {
        match self {
            Grouping::Provider => Some(&summary.providers),
            Grouping::Class => Some(&summary.classes),
            Grouping::User | Grouping::Workload => Some(&summary.workloads),
            Grouping::Queue | Grouping::Account => None,
        }
    }

    /// Name of a group in figures. Tables name workloads only, so users that submit the same workload
    /// share a name. A further workload of the same users has its own name behind theirs: jobs of changes are one.
    pub fn label(self, name: &str, about: &About) -> String {
        let users = names(about.users_of(name));
        if self != Grouping::User || users.is_empty() {
            return name.to_owned();
        }
        let first = about.workloads.iter().find(|it| names(&it.users) == users);
        match first.is_some_and(|first| first.name != name) {
            true => format!("{users} ({})", name.trim_matches(['(', ')'])),
            false => users,
        }
    }
}

fn names(users: &[UserInfo]) -> String {
    users.iter().map(|user| user.name.as_str()).collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use haggle_results::about::WorkloadInfo;

    use super::*;

    #[test]
    fn users_of_two_workloads_have_two_names() {
        let workload = |name: &str, users: &[&str]| WorkloadInfo {
            name: name.to_owned(),
            users: users
                .iter()
                .map(|&name| UserInfo { name: name.to_owned(), submits_to: "north".to_owned() })
                .collect(),
            on_grid: haggle_results::about::RunsOnGrid::Never,
            share: None,
        };
        let workloads = vec![
            workload("day", &["ann", "bob"]),
            workload("part", &[]),
            workload("(submitted)", &["ann", "bob"]),
        ];
        let about = About { workloads, ..About::default() };
        let label = |grouping: Grouping, name| grouping.label(name, &about);
        assert_eq!(label(Grouping::User, "day"), "ann + bob");
        assert_eq!(label(Grouping::User, "part"), "part");
        assert_eq!(label(Grouping::User, "(submitted)"), "ann + bob (submitted)");
        assert_eq!(label(Grouping::Workload, "(submitted)"), "(submitted)");
    }
}
