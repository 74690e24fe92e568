//! Workloads of Batsim, versions 4 and 5: a JSON text with jobs, and with the profiles that these execute.
//!
//! Only a profile of the type delay has a run time. That of all others depends on a platform and a network.
//! Jobs mostly stand before their profiles, so the whole text is read before the first record.

mod jobs;
mod workload;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use jobs::BatsimJobs;
pub use workload::{BatsimVersion, BatsimWorkload};

use super::Options;
use super::error::{LogError, LogProblem};
use super::json::{self, Json, Part};
use super::members::{Members, OtherMembers};
use super::notes::{NoteKind, Notes};
use super::reader::Records;
use super::source::Source;
use crate::spill::{InTurn, Spill};
use crate::swf::{HeaderLine, Malformed, SwfHeader, SwfRecord, UNKNOWN_SPAN};
use haggle_model::{Span, Time};

const WANTED: &[&str] = &["jobs", "profiles", "nb_res"];

/// Members of a job that a record has.
const USED: [&str; 5] = ["id", "subtime", "res", "walltime", "profile"];

/// The type of delays, in version 4 and in version 5.
const DELAYS: [&str; 2] = ["delay", "DelayProfile"];

/// Reads records one by one.
pub(super) struct Batsim {
    source: Source,
    header: SwfHeader,
    jobs: InTurn<Waiting>,
    profiles: BTreeMap<Box<str>, Profile>,
    others: OtherMembers,
    /// Values of the last job in the columns that are kept.
    further: Vec<String>,
    notes: Notes,
}

/// A job that waits until all profiles are known.
#[derive(Serialize, Deserialize)]
struct Waiting {
    number: i64,
    submit: Time,
    processors: i32,
    limit: Span,
    profile: String,
    further: Vec<String>,
    /// Its place.
    line: u64,
    column: usize,
}

enum Profile {
    Delay {
        time: Span,
        /// True if a job fails that has executed it.
        fails: bool,
    },
    /// A type whose run time is not known.
    Other(Box<str>),
}

/// Members of a profile that have a meaning here.
#[derive(Deserialize)]
struct ProfileMembers<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    delay: Option<f64>,
    /// The code with which the job ends.
    #[serde(default)]
    ret: i64,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or a text")]
enum Id<'a> {
    Number(i64),
    Text(#[serde(borrow)] Cow<'a, str>),
}

impl Batsim {
    /// Reads the whole text.
    pub(super) fn new(
        input: Box<dyn BufRead + Send>,
        log: Arc<str>,
        options: &Options,
        malformed: Malformed,
    ) -> Result<Batsim, LogError> {
        let mut json = Json::new(input, log, malformed, WANTED);
        let mut header = SwfHeader::default();
        header.push("Version", "2.2");
        let mut jobs = Spill::new(|_| ());
        let mut profiles = BTreeMap::new();
        let mut others = OtherMembers::new(&USED, options.keep.clone());
        let mut notes = Notes::default();
        let mut count = 0;
        while let Some((key, part)) = json.next()? {
            let read = match (key, part) {
                ("jobs", Part::Element) => {
                    count += 1;
                    match job(&json, count, &mut others, &mut notes) {
                        Ok(job) => {
                            jobs.push(job).map_err(|error| json.error(waiting(&error)))?;
                            Ok(())
                        }
                        Err(error) => Err(error),
                    }
                }
                ("profiles", Part::Member) => profile(&json).map(|profile| {
                    profiles.insert(Box::from(json.name.as_str()), profile);
                }),
                ("nb_res", Part::Whole) => match serde_json::from_slice::<u32>(&json.value) {
                    Ok(count) if count > 0 => {
                        header.push("MaxProcs", count);
                        Ok(())
                    }
                    _ => Err(json.error(LogProblem::field(
                        "nb_res",
                        "a number of processors above 0",
                        &json.value,
                    ))),
                },
                _ => {
                    let expected = if key == "jobs" { "a list" } else { "an object" };
                    let problem = format!("{key}: expected {expected}, as Batsim has it");
                    return Err(json.error(LogProblem::Whole(problem)));
                }
            };
            read.or_else(|error| json.source.skip_or_fail(error))?;
        }
        let jobs = jobs.finish().map_err(|error| json.error(waiting(&error)))?.in_turn();
        let source = json.source;
        Ok(Batsim { source, header, jobs, profiles, others, further: Vec::new(), notes })
    }

    /// The record of a job, and otherwise its problem.
    fn record(&mut self, job: &Waiting) -> Result<SwfRecord, LogProblem> {
        let name = &job.profile;
        let (run_time, fails) = match self.profiles.get(name.as_str()) {
            Some(Profile::Delay { time, fails }) => (*time, *fails),
            Some(Profile::Other(kind)) => {
                return Err(LogProblem::Record(format!(
                    "profile {name:?} is of the type {kind:?}, whose run time depends on a platform; only delays \
                     have a run time"
                )));
            }
            None => {
                return Err(LogProblem::Record(format!("`profiles` has no profile {name:?}")));
            }
        };
        Ok(SwfRecord {
            run_time,
            requested_processors: job.processors,
            requested_time: job.limit,
            status: i32::from(!fails),
            ..SwfRecord::unknown(job.number, job.submit)
        })
    }
}

fn job(
    json: &Json<Box<dyn BufRead + Send>>,
    count: i64,
    others: &mut OtherMembers,
    notes: &mut Notes,
) -> Result<Waiting, LogError> {
    let members: Members<'_> =
        serde_json::from_slice(&json.value).map_err(|error| json.value_error(&error))?;
    let job = Waiting::read(&members, json.source.line, json.column(), count, others, notes);
    job.map_err(|problem| json.error(problem))
}

impl Waiting {
    /// The job with these members, which is the one of this number in the list.
    fn read(
        members: &Members<'_>,
        line: u64,
        column: usize,
        count: i64,
        others: &mut OtherMembers,
        notes: &mut Notes,
    ) -> Result<Waiting, LogProblem> {
        others.find(members)?;
        let limit = members.read::<Option<f64>>("walltime")?.flatten();
        Ok(Waiting {
            number: number(members.needed("id")?, count, notes, line),
            submit: Time::ZERO + json::span("subtime", members.needed("subtime")?)?,
            processors: members.needed("res")?,
            // Version 4 writes -1 for a job without a limit.
            limit: match limit.filter(|&limit| limit >= 0.0) {
                Some(limit) => json::span("walltime", limit)?,
                None => UNKNOWN_SPAN,
            },
            profile: members.needed("profile")?,
            further: others.values(members, notes, line),
            line,
            column,
        })
    }
}

/// The number of a job. That of `workload!7` is 7.
fn number(id: Id<'_>, count: i64, notes: &mut Notes, line: u64) -> i64 {
    let text = match id {
        Id::Number(number) => return number,
        Id::Text(text) => text,
    };
    let own = text.rsplit('!').next().unwrap_or_default();
    own.parse().unwrap_or_else(|_| {
        notes.add(NoteKind::Changed, "id of a job that is no number: its place in the list", line);
        count
    })
}

fn profile(json: &Json<Box<dyn BufRead + Send>>) -> Result<Profile, LogError> {
    let members: ProfileMembers<'_> =
        serde_json::from_slice(&json.value).map_err(|error| json.value_error(&error))?;
    if !DELAYS.contains(&&*members.kind) {
        return Ok(Profile::Other(Box::from(&*members.kind)));
    }
    let missing = || LogProblem::Record("a delay needs the member `delay`, in seconds".to_owned());
    let time = members.delay.ok_or_else(missing).and_then(|delay| json::span("delay", delay));
    let time = time.map_err(|problem| json.error(problem))?;
    Ok(Profile::Delay { time, fails: members.ret != 0 })
}

fn waiting(error: &io::Error) -> LogProblem {
    LogProblem::Whole(format!(
        "a temporary file for jobs: {error}; is there room in the folder that TMPDIR names?"
    ))
}

impl Records for Batsim {
    fn source(&self) -> &Source {
        &self.source
    }

    fn header(&self) -> &SwfHeader {
        &self.header
    }

    fn next_job(&mut self) -> Result<Option<SwfRecord>, LogError> {
        loop {
            let next = self.jobs.next();
            let next = next.map_err(|error| self.source.error(0, waiting(&error)))?;
            let Some(mut job) = next else {
                return Ok(None);
            };
            self.source.line = job.line;
            self.further = std::mem::take(&mut job.further);
            match self.record(&job) {
                Ok(record) => return Ok(Some(record)),
                Err(problem) => {
                    let error = self.source.error(job.column, problem);
                    self.source.skip_or_fail(error)?;
                }
            }
        }
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn has_names(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<HeaderLine> {
        Vec::new()
    }

    fn columns(&self) -> &[String] {
        self.others.names()
    }

    fn further(&self) -> Vec<String> {
        self.further.clone()
    }
}
