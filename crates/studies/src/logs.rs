//! Logs that a figure needs. They belong to others, so they are not part of the program.

use super::catalogue::{Origin, Study};
use super::library::Library;
use super::study::Compute;
use haggle_scenario::{Experiment, log_path};

/// A log with its name in scenarios, `$HAGGLE_TRACES/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Log {
    path: String,
}

/// Origins of logs, by the beginning of their names; the last entry fits all other logs.
const ARCHIVES: [(&str, &str); 4] = [
    ("fta-", "Failure Trace Archive, http://fta.scem.uws.edu.au/"),
    ("lanl/", "failures of Los Alamos (LA-UR-05-7318), https://www.usenix.org/cfdr"),
    (
        "lublin_256",
        "output of the Lublin-Feitelson model, as `haggle workload generate` makes others",
    ),
    ("", "Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/workload/"),
];

impl Log {
    /// Its name in the folder of all logs.
    pub fn name(&self) -> &str {
        self.path.split_once('/').map_or(&self.path, |(_, name)| name)
    }

    /// Archive or program from which it is available.
    pub fn archive(&self) -> &'static str {
        let (.., last) = ARCHIVES[ARCHIVES.len() - 1];
        let found = ARCHIVES.iter().find(|(part, _)| self.name().starts_with(part));
        found.map_or(last, |(_, archive)| archive)
    }

    /// Reason why it cannot be read, if any.
    pub fn missing(&self) -> Option<String> {
        match log_path(&self.path, "".as_ref()) {
            Err(error) => Some(error.to_string()),
            Ok(file) if !file.is_file() => Some("no such file there".to_owned()),
            Ok(_) => None,
        }
    }
}

/// The logs that the data of a study need, each once, sorted by name. Mistakes in a scenario are
/// reported when it is run.
pub fn needed(
    library: &Library,
    studies: &[&dyn Compute],
    study: &Study,
    origins: &[Origin],
) -> Vec<Log> {
    let mut logs = Vec::new();
    for origin in origins {
        match origin {
            Origin::Sweep(file) => logs.extend(read_by(library, &study.name, file)),
            Origin::Study(name) => {
                // A study by code reads no logs unless it names a scenario, and that one is always embedded.
                let known = studies.iter().find(|known| known.name() == name);
                let scenario = known.and_then(|known| known.scenario());
                logs.extend(
                    scenario
                        .map(|(study, file)| read_by(&Library::Embedded, study, file))
                        .into_iter()
                        .flatten(),
                );
            }
        }
    }
    logs.sort();
    logs.dedup();
    logs
}

fn read_by(library: &Library, study: &str, file: &str) -> Vec<Log> {
    // A scenario that cannot be read needs no logs here. Its run reports the mistake.
    let paths = library.read(study, file).map(|source| Experiment::logs(&source));
    paths.unwrap_or_default().into_iter().map(|path| Log { path }).collect()
}
