//! The programs that the owner of a node lists, with fields for the data of a job.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use haggle_model::Job;
use thiserror::Error;

/// The fields of a program, in the order of the manual.
const FIELDS: [&str; 6] = ["job", "number", "processors", "seconds", "user", "application"];

/// Programs of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    others: Vec<String>,
    by_application: BTreeMap<i32, Vec<String>>,
}

/// Reason why a list of programs is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramsError {
    /// A program has no words.
    #[error(
        "`{key}` is empty: give the program and its arguments, such as [\"sleep\", \"{{seconds}}\"]"
    )]
    Empty {
        /// Its key.
        key: String,
    },
    /// A word has a zero byte.
    #[error("`{key}` has a word with a zero byte, which no program can get")]
    Nul {
        /// Its key.
        key: String,
    },
    /// An application is no number.
    #[error("`applications.{0}` is no application number of a workload, such as 3")]
    NoNumber(String),
    /// A field does not exist.
    #[error("`{key}` has the unknown field {{{field}}}; the fields are {known}")]
    Field {
        /// Key of the program.
        key: String,
        /// The field.
        field: String,
        /// All fields.
        known: String,
    },
}

impl Programs {
    /// The programs of these words: `command` of all jobs, except those of `applications`.
    ///
    /// # Errors
    /// If a program is empty, or has an unknown field.
    pub fn new(
        command: &[String],
        applications: &BTreeMap<String, Vec<String>>,
    ) -> Result<Programs, ProgramsError> {
        check("command", command)?;
        let mut by_application = BTreeMap::new();
        for (number, words) in applications {
            check(&format!("applications.{number}"), words)?;
            let number = number.parse().map_err(|_| ProgramsError::NoNumber(number.clone()))?;
            by_application.insert(number, words.clone());
        }
        Ok(Programs { others: command.to_vec(), by_application })
    }

    /// The same programs, whose relative paths start from a folder.
    #[must_use]
    pub fn below(mut self, folder: &Path) -> Programs {
        for words in self.by_application.values_mut().chain([&mut self.others]) {
            if let Some(program) = words.first_mut()
                && program.contains('/')
            {
                *program = folder.join(&*program).to_string_lossy().into_owned();
            }
        }
        self
    }

    /// A program that is no executable file of this machine.
    pub fn missing(&self) -> Option<&str> {
        let programs = self.by_application.values().chain([&self.others]);
        let mut programs = programs.filter_map(|words| words.first().map(String::as_str));
        // A field may be part of its name.
        programs.find(|it| !it.contains('{') && !is_executable(it))
    }

    /// The program of a job on so many processors, in a run of this scale. The time of the job stands for its program in
    /// workloads without programs; it is shortened by the scale.
    pub fn of(&self, job: &Job, processors: u32, scale: f64) -> Vec<String> {
        let words = self.by_application.get(&job.origin.executable).unwrap_or(&self.others);
        let seconds = job.run_time.reveal_to_machine().as_secs_f64() / scale;
        let seconds = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).as_secs_f64();
        let value = |field: &str| match field {
            "job" => job.id.0.to_string(),
            "number" => job.number.to_string(),
            "processors" => processors.to_string(),
            "seconds" => format!("{seconds:.6}"),
            "user" => job.origin.user.to_string(),
            _ => job.origin.executable.to_string(),
        };
        let filled = |word: &String| {
            FIELDS.iter().fold(word.clone(), |word, field| {
                let place = format!("{{{field}}}");
                if word.contains(&place) { word.replace(&place, &value(field)) } else { word }
            })
        };
        words.iter().map(filled).collect()
    }
}

/// True if a program is an executable file, or one of the folders of `PATH` has such a file.
fn is_executable(program: &str) -> bool {
    let is_there = |path: &Path| {
        let found = path.metadata();
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_there(Path::new(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_there(&folder.join(program)))
}

fn check(key: &str, words: &[String]) -> Result<(), ProgramsError> {
    if words.first().is_none_or(String::is_empty) {
        return Err(ProgramsError::Empty { key: key.to_owned() });
    }
    for word in words {
        if word.contains('\0') {
            return Err(ProgramsError::Nul { key: key.to_owned() });
        }
        let mut rest = word.as_str();
        while let Some((field, after)) =
            rest.split_once('{').and_then(|(_, behind)| behind.split_once('}'))
        {
            // Other braces are those of the program.
            let is_field = !field.is_empty() && field.bytes().all(|it| it.is_ascii_lowercase());
            if is_field && !FIELDS.contains(&field) {
                let known = FIELDS.map(|it| format!("{{{it}}}")).join(", ");
                let (key, field) = (key.to_owned(), field.to_owned());
                return Err(ProgramsError::Field { key, field, known });
            }
            rest = after;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use haggle_model::{Span, Time};

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn fields_are_filled_with_the_data_of_a_job() {
        let applications = BTreeMap::from([("3".to_owned(), words("./bt -n {processors}"))]);
        let programs =
            Programs::new(&words("sleep {seconds} #{job}"), &applications).expect("good");
        let mut job = Job::new(7, Time::ZERO, 4, Span::from_secs(90));
        assert_eq!(programs.of(&job, 4, 60.0), words("sleep 1.500000 #7"));
        job.origin.executable = 3;
        assert_eq!(programs.of(&job, 4, 60.0), words("./bt -n 4"));
    }

    #[test]
    fn mistakes_are_named_with_their_key() {
        let none = BTreeMap::new();
        let error = |command: &[String], applications| {
            Programs::new(command, applications).expect_err("a mistake").to_string()
        };
        assert!(error(&[], &none).starts_with("`command` is empty"));
        let unknown = error(&words("a {size}"), &none);
        assert!(unknown.contains("{size}") && unknown.contains("{seconds}"), "{unknown}");
        let odd = BTreeMap::from([("bt".to_owned(), words("a"))]);
        assert!(error(&words("a"), &odd).contains("applications.bt"));
    }
}
