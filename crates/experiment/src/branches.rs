//! Branches: a scenario with a further change, from the words of a user.

use std::str::FromStr;

use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::{InvalidScenario, Problem, Source, document, setting_lines};
use toml::{Table, Value};

/// Changes of a branch, as a user gives them.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Instant from which the branch differs, from the start of the run.
    pub at: TimeSpan,
    /// Paths and values.
    pub settings: Vec<(String, String)>,
    /// Processors that fail together.
    pub failures: Vec<Failure>,
    /// Further jobs: a file of `[[submit]]` tables.
    pub submit: Option<Source>,
    /// Seed of all randomness from the instant on.
    pub seed: Option<u64>,
}

/// Processors of a provider, or resources of a site, that fail together: `NAME:COUNT@FROM..UNTIL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    of: String,
    count: u32,
    from: TimeSpan,
    /// `None` = for ever.
    until: Option<TimeSpan>,
}

/// Reason why there is no such branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBranch {
    /// A change cannot be made.
    #[error("{message}")]
    Change {
        /// The reason.
        message: String,
        /// A remedy.
        hint: String,
    },
    /// The file of further jobs has mistakes.
    #[error(transparent)]
    Jobs(Box<InvalidScenario>),
}

impl InvalidBranch {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> InvalidBranch {
        InvalidBranch::Change { message: message.into(), hint: hint.into() }
    }
}

/// A path and its value, with the first `=` between them.
///
/// # Errors
/// The form in words.
pub fn setting(text: &str) -> Result<(String, String), String> {
    // The first one: a path has no such sign, a value may have one.
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok((path.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write a path, `=` and a value, such as provider.north.policy=easy".to_owned()),
    }
}

impl FromStr for Failure {
    type Err = String;

    fn from_str(text: &str) -> Result<Failure, String> {
        let form = || "write NAME:COUNT@FROM..UNTIL, such as north:8@3d..4d".to_owned();
        let (whose, times) = text.rsplit_once('@').ok_or_else(form)?;
        let (of, count) = whose.rsplit_once(':').ok_or_else(form)?;
        let (from, until) = match times.split_once("..") {
            Some((from, until)) => (from, Some(until)),
            None => (times, None),
        };
        let time = |text: &str| text.trim().parse().map_err(|error| format!("{error}; {}", form()));
        let count = count.trim().parse().ok().filter(|&count| count > 0).ok_or_else(form)?;
        let until = until.map(time).transpose()?;
        Ok(Failure { of: of.trim().to_owned(), count, from: time(from)?, until })
    }
}

impl Branch {
    /// The scenario of the branch: `base` with one more `[[change]]`, and further `tables`. A branch may change nothing only
    /// if such tables vary it.
    ///
    /// # Errors
    /// If a change cannot be written as a table of a scenario. Other mistakes are found when the scenario is read.
    pub fn extend(&self, base: Source, tables: Table) -> Result<Source, InvalidBranch> {
        // A file with mistakes has no table here: its mistakes are reported when it is read.
        let scenario: Table = base.text.parse().unwrap_or_default();
        self.check_counts(&scenario)?;
        let change = self.change()?;
        if change.len() == 1 && tables.is_empty() {
            return Err(InvalidBranch::new(
                "the branch changes nothing",
                "add --set, --fail, --submit, --seed or --runs",
            ));
        }
        let mut changes = changes_of(&scenario);
        changes.push(Value::Table(change));
        let mut tables = tables;
        tables.insert("change".to_owned(), changes.into());
        Ok(base.extended("branch", &tables.to_string()))
    }

    /// Refuses failures of more processors than a provider has.
    fn check_counts(&self, scenario: &Table) -> Result<(), InvalidBranch> {
        let providers = scenario.get("provider").and_then(Value::as_array);
        for provider in providers.into_iter().flatten() {
            let name = provider.get("name").and_then(Value::as_str);
            let Some(processors) = provider.get("processors").and_then(Value::as_integer) else {
                continue;
            };
            let mut failures = self.failures.iter().filter(|it| Some(it.of.as_str()) == name);
            if let Some(it) = failures.find(|it| i64::from(it.count) > processors) {
                return Err(InvalidBranch::new(
                    format!(
                        "`{}` has {processors} processors, and {} cannot fail",
                        it.of, it.count
                    ),
                    "name at most the processors of the provider",
                ));
            }
        }
        Ok(())
    }

    /// The change as a table of a scenario.
    fn change(&self) -> Result<Table, InvalidBranch> {
        let mut change = Table::new();
        change.insert("at".to_owned(), self.at.to_string().into());
        if !self.settings.is_empty() {
            let set = setting_lines(&self.settings).parse::<Table>();
            let set = set.map_err(|error| {
                InvalidBranch::new(
                    format!("the settings cannot be read: {}", error.message()),
                    "name each path once, with a value",
                )
            })?;
            change.insert("set".to_owned(), set.into());
        }
        if let Some(seed) = self.seed {
            let seed = i64::try_from(seed).unwrap_or(i64::MAX);
            change.insert("seed".to_owned(), seed.into());
        }
        if !self.failures.is_empty() {
            let failures = Vec::from_iter(self.failures.iter().map(|it| Value::Table(it.table())));
            change.insert("failures".to_owned(), failures.into());
        }
        if let Some(source) = &self.submit {
            change.insert("submit".to_owned(), submitted(source)?);
        }
        Ok(change)
    }
}

impl Failure {
    /// A table of failures of a scenario: one node with these processors.
    fn table(&self) -> Table {
        let outage = [Some(self.from), self.until];
        let outage = Vec::from_iter(outage.iter().flatten().map(|it| Value::from(it.to_string())));
        Table::from_iter([
            ("of".to_owned(), vec![self.of.clone()].into()),
            ("processors-per-node".to_owned(), i64::from(self.count).into()),
            ("nodes".to_owned(), 1.into()),
            ("outages".to_owned(), vec![Value::Array(outage)].into()),
        ])
    }
}

/// The changes that a scenario has already.
pub fn changes_of(scenario: &Table) -> Vec<Value> {
    match scenario.get("change") {
        Some(Value::Array(changes)) => changes.clone(),
        _ => Vec::new(),
    }
}

/// The jobs of a file.
fn submitted(source: &Source) -> Result<Value, InvalidBranch> {
    let invalid =
        |problems| InvalidBranch::Jobs(Box::new(InvalidScenario::new(source.clone(), problems)));
    let root = document::parse(&source.text).map_err(invalid)?;
    let problems = not_submitted(&root);
    match root.get("submit") {
        Some(jobs) if problems.is_empty() => Ok(jobs.to_toml()),
        _ => Err(invalid(problems)),
    }
}

/// Problems of a file of jobs that has other keys, or no jobs.
fn not_submitted(root: &document::Node) -> Vec<Problem> {
    const HELP: &str = "write tables such as [[submit]] with user = \"users\" and jobs = [{ submit = \"3d\", \
                        processors = 4, run = \"1h\" }]";
    let problem = |message: String, span, label: &str| Problem {
        message,
        span,
        label: label.to_owned(),
        help: Some(HELP.to_owned()),
    };
    let document::Value::Table(entries) = &root.value else { return Vec::new() };
    let others = entries.iter().filter(|entry| entry.key != "submit");
    let mut problems = Vec::from_iter(others.map(|entry| {
        let message = format!("a file of jobs has no key `{}`", entry.key.escape_debug());
        problem(message, entry.key_span.clone(), "unknown key")
    }));
    match root.get("submit").map(|it| (&it.value, it.span.clone())) {
        Some((document::Value::Array(_), _)) => {}
        Some((_, span)) => {
            problems.push(problem("`submit` is no list of tables".to_owned(), span, "no tables"));
        }
        None => {
            problems.push(problem("the file has no [[submit]]".to_owned(), 0..0, "no jobs"));
        }
    }
    problems
}
