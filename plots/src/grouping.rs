//! By what the jobs of a run are told apart.

use haggle_results::metrics::Group;
use haggle_results::{About, Summary};

use crate::error::PlotError;
use crate::load::By;

/// By what the jobs of one run are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// By who ran them.
    Provider,
    /// By class.
    Class,
    /// By who submitted them.
    User,
    /// By workload.
    Workload,
}

impl Grouping {
    /// All of them.
    pub const ALL: [Grouping; 4] =
        [Grouping::Provider, Grouping::Class, Grouping::User, Grouping::Workload];

    /// The one of this word; providers are what most figures are about.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(word: Option<&str>) -> Result<Grouping, PlotError> {
        match word {
            None | Some("provider") => Ok(Grouping::Provider),
            Some("class") => Ok(Grouping::Class),
            Some("user") => Ok(Grouping::User),
            Some("workload") => Ok(Grouping::Workload),
            Some(other) => Err(PlotError::Unsuitable(format!(
                "jobs of one run cannot be grouped by \"{other}\": \
                 use provider, user, class or workload"
            ))),
        }
    }

    /// By what of theirs jobs are told apart.
    pub const fn by(self) -> By {
        match self {
            Grouping::Provider => By::Provider,
            Grouping::Class => By::Class,
            Grouping::User | Grouping::Workload => By::Workload,
        }
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Grouping::Provider => "provider",
            Grouping::Class => "class",
            Grouping::User => "user",
            Grouping::Workload => "workload",
        }
    }

    /// The groups of a run.
    pub fn groups(self, summary: &Summary) -> &[Group] {
        match self {
            Grouping::Provider => &summary.providers,
            Grouping::Class => &summary.classes,
            Grouping::User | Grouping::Workload => &summary.workloads,
        }
    }

    /// What a group is called in figures. Tables name workloads only, so users that
    /// submit the same one share a name.
    pub fn label(self, name: &str, about: &About) -> String {
        let users: Vec<&str> = about.users_of(name).iter().map(|user| user.name.as_str()).collect();
        if self == Grouping::User && !users.is_empty() {
            return users.join(" + ");
        }
        name.to_owned()
    }
}
