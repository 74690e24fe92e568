//! Scenarios built in code: the tables of a file, one after the other, checked as a file is.

use crate::file::{Metascheduler, Provider, User, Workload};
use crate::quantity::{FormatError, Name};
use crate::{Experiment, InvalidScenario, Logs, Rules, Scenario, Source};

/// Builds a scenario in code.
///
/// Each method adds a table with its required keys. A closure sets other keys, which are the fields of the types
/// in [`file`](mod@crate::file). [`Builder::build`] checks the scenario by the rules for files.
///
/// ```
/// use haggle_scenario::Builder;
/// use haggle_scenario::file::{Disclosure, Lublin, Model, Placement, Policy};
///
/// let experiment = Builder::new("two-sites")
///     .seed(7)
///     .workload("jobs", |jobs| {
///         jobs.model = Some(Model::LublinFeitelson);
///         jobs.lublin = Some(Lublin { load: Some(0.8), ..Lublin::of(100, 64) });
///     })
///     .provider("north", 64, |north| {
///         north.policy = Policy::easy();
///         north.disclosure = Disclosure::Load;
///     })
///     .provider("south", 128, |south| south.disclosure = Disclosure::Load)
///     .metascheduler("broker", |broker| broker.placement = Placement::LeastLoaded)
///     .user("users", "jobs", "broker", |_| {})
///     .build()?;
/// assert_eq!(experiment.runs().count(), 1);
/// # Ok::<(), haggle_scenario::InvalidBuild>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    scenario: Scenario,
    /// First invalid name. It is reported by [`Builder::build`], so that calls can be chained.
    wrong: Option<FormatError>,
}

/// Error of a scenario that was built in code.
#[derive(Debug, thiserror::Error)]
pub enum InvalidBuild {
    /// The name of an actor or a workload is invalid.
    #[error(transparent)]
    Name(#[from] FormatError),
    /// Problems of the scenario, each at its place in the text of the equivalent file.
    #[error(transparent)]
    Scenario(#[from] InvalidScenario),
}

impl Builder {
    /// Begins an empty scenario of this name.
    pub fn new(name: &str) -> Builder {
        let mut builder = Builder { scenario: Scenario::default(), wrong: None };
        builder.scenario.scenario.name = builder.name(name);
        builder
    }

    /// Sets the seed of all randomness; 1 if not given.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.scenario.reseed(seed);
        self
    }

    /// Sets the rules of one's own that the scenario may name, such as `Order::Own`.
    pub fn rules(mut self, own: Rules) -> Builder {
        self.scenario.own = own;
        self
    }

    /// Adds a `[[workload]]`.
    pub fn workload(self, name: &str, set: impl FnOnce(&mut Workload)) -> Builder {
        self.table([name], |[name]| Workload::named(name), set, |it| &mut it.workloads)
    }

    /// Adds a `[[provider]]` with this number of processors.
    pub fn provider(self, name: &str, processors: u32, set: impl FnOnce(&mut Provider)) -> Builder {
        let make = |[name]: [Name; 1]| Provider::named(name, processors);
        self.table([name], make, set, |it| &mut it.providers)
    }

    /// Adds a `[[metascheduler]]`.
    pub fn metascheduler(self, name: &str, set: impl FnOnce(&mut Metascheduler)) -> Builder {
        self.table([name], |[name]| Metascheduler::named(name), set, |it| &mut it.metaschedulers)
    }

    /// Adds a `[[user]]` that submits the jobs of a workload to a provider, a metascheduler, a grid or plans.
    pub fn user(
        self,
        name: &str,
        workload: &str,
        submits_to: &str,
        set: impl FnOnce(&mut User),
    ) -> Builder {
        let make = |[name, workload, to]: [Name; 3]| User::named(name, workload, to);
        self.table([name, workload, submits_to], make, set, |it| &mut it.users)
    }

    /// Sets other parts of a scenario, such as a grid, failures or a sweep.
    pub fn with(mut self, set: impl FnOnce(&mut Scenario)) -> Builder {
        set(&mut self.scenario);
        self
    }

    /// Checks and expands the scenario. Relative paths of logs start from the current folder.
    ///
    /// # Errors
    /// The first invalid name, or all other problems together.
    pub fn build(self) -> Result<Experiment, InvalidBuild> {
        match self.wrong {
            Some(error) => Err(error.into()),
            None => Ok(Experiment::of(&self.scenario, Logs::MustExist)?),
        }
    }

    fn table<T, const N: usize>(
        mut self,
        names: [&str; N],
        make: impl FnOnce([Name; N]) -> T,
        set: impl FnOnce(&mut T),
        tables: impl FnOnce(&mut Scenario) -> &mut Vec<T>,
    ) -> Builder {
        let names = names.map(|name| self.name(name));
        // A table with an invalid name is left out; `build` reports the name.
        if names.iter().all(Option::is_some) {
            let mut table = make(names.map(|name| name.expect("asked just before")));
            set(&mut table);
            tables(&mut self.scenario).push(table);
        }
        self
    }

    fn name(&mut self, text: &str) -> Option<Name> {
        match text.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                self.wrong.get_or_insert(error);
                None
            }
        }
    }
}

impl Experiment {
    /// Checks and expands a scenario that was built in code, as the file with its text. Relative paths start from
    /// the current folder.
    ///
    /// # Errors
    /// All problems together, each with its place in the text of that file.
    pub fn of(scenario: &Scenario, logs: Logs) -> Result<Experiment, InvalidScenario> {
        let source = Source::new("scenario.toml", scenario.to_toml());
        Experiment::read_with(source, logs, &scenario.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_site() -> Builder {
        Builder::new("tiny").provider("north", 8, |_| {}).workload("jobs", |jobs| {
            let job = toml::from_str("submit = \"0s\"\nprocessors = 4\nrun = \"1h\"");
            jobs.jobs = Some(vec![job.expect("a job")]);
        })
    }

    #[test]
    fn what_is_built_is_what_a_file_says() {
        let built = one_site().user("users", "jobs", "north", |_| {}).build().expect("valid");
        let text = "
            scenario = { name = \"tiny\" }
            provider = [{ name = \"north\", processors = 8 }]
            workload = [{ name = \"jobs\", jobs = [{ submit = \"0s\", processors = 4, run = \"1h\" }] }]
            user = [{ name = \"users\", workload = \"jobs\", submits-to = \"north\" }]
        ";
        let read = Experiment::read(Source::new("scenario.toml", text), Logs::MustExist);
        assert_eq!(built.scenario, read.expect("valid").scenario);
    }

    #[test]
    fn what_is_wrong_is_said_at_the_end() {
        let error = one_site().user("users", "jobs", "south", |_| {}).build().unwrap_err();
        assert!(
            error.to_string().contains("no provider or metascheduler is called \"south\""),
            "{error}"
        );
        let error = one_site().user("us ers", "jobs", "north", |_| {}).build().unwrap_err();
        assert!(error.to_string().starts_with("`us ers` cannot be a name"), "{error}");
    }
}
