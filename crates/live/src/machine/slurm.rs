//! Programs as jobs of Slurm, through Slurm's own commands.
//!
//! | verb | command |
//! |---|---|
//! | estimate | `sbatch --test-only`, kept beside the real start |
//! | submit | `sbatch`, with a job name that no other attempt has |
//! | query | the file of the exit code, `squeue`, and `sacct` for jobs that `squeue` has forgotten |
//! | cancel | `scancel` |
//! | reserve | `scontrol create reservation`, or a pilot job |
//!
//! An attempt is written down before it is submitted. If the answer of `sbatch` is lost, Slurm is asked for the name
//! before it is submitted again. Each job first makes a folder, and ends if that exists: even two jobs of one name run
//! the program once.

mod ask;
mod jobs;
mod pilot;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use self::ask::{ask, quoted};
use self::jobs::{Queued, Seen};
use super::local::{note, orders};
use super::supervisor::Order;
use super::{Limits, Machine, MachineError, Site, State, Work, now};
use crate::clock::unix_micros;
use crate::core::WorkKey;
use crate::durable::write_whole;

/// Time after which an attempt that Slurm does not know is submitted again.
const AGAIN: Duration = Duration::from_secs(3);
/// Time after which an attempt that Slurm has forgotten is lost.
const FORGOTTEN: Duration = Duration::from_secs(30);
/// Tries to give the reservation back: it is in use until Slurm has cleaned up after its last job.
const TRIES: u32 = 20;
/// Longest time for which the exit code of a job may come after the end of the job.
const LATE: Duration = Duration::from_secs(10);
/// Time between two questions to Slurm, at least: while the answer about an attempt is missing, and otherwise. A slow
/// controller is asked less often.
const POLL: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// The right by which a node has its processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Hold {
    /// A reservation of Slurm. Only operators of Slurm may make one.
    Operator {
        /// Nodes of the reservation, such as `n[1-4]`.
        nodes: String,
    },
    /// A pilot job: one job of the user that has all processors. Programs are its steps.
    User {
        /// Time limit of the pilot job, as for `sbatch --time`.
        time: String,
    },
}

/// Opens the machine.
pub(super) fn open(
    site: &Site<'_>,
    hold: &Hold,
    options: &[String],
) -> Result<Box<dyn Machine>, MachineError> {
    // Slurm starts jobs on other machines, in other folders.
    let folder = std::path::absolute(&site.folder).map_err(MachineError::file(&site.folder))?;
    let site = &Site { folder, ..site.clone() };
    match hold {
        Hold::Operator { nodes } => {
            let reservation = format!("haggle-{}", site.mark);
            if !site.is_over {
                reserve(&reservation, nodes, site.processors)?;
            }
            Ok(Box::new(Slurm::open(site, reservation, options.to_vec())?))
        }
        Hold::User { time } => Ok(Box::new(pilot::Pilot::open(site, time, options)?)),
    }
}

/// A reservation, as Slurm shows it.
fn reserved(name: &str) -> Result<Option<String>, MachineError> {
    let all = ask("scontrol", &["--oneliner", "show", "reservations"])?;
    let wanted = format!("ReservationName={name}");
    let mut lines = all.lines().filter(|line| line.split(' ').next() == Some(&wanted));
    Ok(lines.next().map(str::to_owned))
}

/// Makes the reservation of a node, unless it exists. It must have all processors of the providers.
fn reserve(name: &str, nodes: &str, processors: u32) -> Result<(), MachineError> {
    if reserved(name)?.is_none() {
        let user = ask("id", &["--user", "--name"])?;
        let words = [
            "create".to_owned(),
            "reservation".to_owned(),
            format!("ReservationName={name}"),
            "StartTime=now".to_owned(),
            "Duration=UNLIMITED".to_owned(),
            format!("Nodes={nodes}"),
            format!("Users={}", user.trim()),
        ];
        ask("scontrol", &words)?;
    }
    let held = reserved(name)?.and_then(|said| jobs::processors_of(&said));
    if let Some(held) = held
        && held < processors
    {
        return Err(MachineError::TooFew { name: name.to_owned(), held, processors });
    }
    tracing::info!(reservation = %name, processors = held, "Slurm holds the processors");
    Ok(())
}

/// An attempt whose end is unknown.
struct Open {
    work: Work,
    /// Its number in Slurm; `None` = the answer of sbatch is not known.
    id: Option<String>,
    /// Time since which Slurm does not know it, or knows only its end.
    silent: Option<Instant>,
}

/// A cluster, with a reservation.
pub(super) struct Slurm {
    folder: PathBuf,
    mark: String,
    reservation: String,
    options: Vec<String>,
    open: BTreeMap<WorkKey, Open>,
    /// Time of the next question to Slurm.
    due: Option<Instant>,
    /// The last refusal of a submission, which is not logged again and again.
    said: String,
}

/// The file of a number in Slurm.
const JOB: &str = "job";
/// The folder that the first job of a name makes.
const BEGUN: &str = "begun";
/// The file of the exit code.
const CODE: &str = "code";

/// The note about the submission of an attempt.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    id: String,
    /// Start that `sbatch --test-only` foretold, seconds since 1970.
    estimate: Option<i64>,
    /// Microseconds since 1970.
    submitted: i64,
}

impl Slurm {
    fn open(
        site: &Site<'_>,
        reservation: String,
        options: Vec<String>,
    ) -> Result<Slurm, MachineError> {
        let Site { folder, mark, .. } = site.clone();
        let known = |work: Work| {
            let id = read_note(&folder.join(&work.name)).map(|it| it.id);
            (work.key, Open { id, work, silent: None })
        };
        let open = orders(&folder)?.into_iter().map(known).collect();
        Ok(Slurm { folder, mark, reservation, options, open, due: None, said: String::new() })
    }

    /// The name of an attempt in Slurm.
    fn name(&self, work: &Work) -> String {
        format!("haggle-{}-{}", self.mark, work.name)
    }

    /// Submits an attempt that Slurm does not know.
    fn submit(&self, work: &Work) -> Result<String, MachineError> {
        let folder = self.folder.join(&work.name);
        let options = self.options_of(work, &folder);
        let script = folder.join("script.sh").display().to_string();
        let words =
            |first: &str| [vec![first.to_owned()], options.clone(), vec![script.clone()]].concat();
        // An estimate is for information: a site may refuse the question.
        let estimate = ask::both("sbatch", &words("--test-only")).ok();
        let estimate = estimate.and_then(|said| jobs::foretold(&said));
        let submitted = unix_micros();
        let id = jobs::number_of(&ask("sbatch", &words("--parsable"))?)?;
        let path = folder.join(JOB);
        let note = Note { id: id.clone(), estimate, submitted };
        write_whole(&path, &serde_json::to_vec(&note).unwrap_or_default())
            .map_err(MachineError::file(&path))?;
        Ok(id)
    }

    fn options_of(&self, work: &Work, folder: &Path) -> Vec<String> {
        let mut options = vec![
            format!("--job-name={}", self.name(work)),
            format!("--ntasks={}", work.processors),
            format!("--reservation={}", self.reservation),
            "--no-requeue".to_owned(),
            format!("--chdir={}", folder.display()),
            format!("--output={}", folder.join("output").display()),
            format!("--error={}", folder.join("errors").display()),
        ];
        if let Some(limit) = work.limit {
            // Slurm counts minutes; its provider stops the job in time.
            options.push(format!("--time={}", limit.as_secs().div_ceil(60) + 1));
        }
        options.extend(self.options.iter().cloned());
        options
    }

    /// The state of an attempt by its files.
    fn ended(&self, work: &Work) -> Option<State> {
        let path = self.folder.join(&work.name).join(CODE);
        let text = fs::read_to_string(&path).ok()?;
        let code = text.trim().parse().ok();
        let at = modified(&path).unwrap_or_else(unix_micros);
        Some(State::Ended { at, code, error: None })
    }

    /// Writes the estimate of an attempt beside its real start.
    fn note_start(&self, work: &Work) {
        let folder = self.folder.join(&work.name);
        // An earlier process may have noted it.
        if fs::File::create_new(folder.join("noted")).is_err() {
            return;
        }
        let Some(note) = read_note(&folder) else { return };
        let seconds = |micros: i64| format!("{:.3}", micros as f64 / 1e6);
        let started = modified(&folder.join(BEGUN)).map(seconds).unwrap_or_default();
        let estimate = note.estimate.map(|it| it.to_string()).unwrap_or_default();
        let path = self.folder.join("starts.csv");
        let write = || {
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&path)?;
            if file.metadata()?.len() == 0 {
                writeln!(file, "name,slurm_job,submitted,estimated_start,start")?;
            }
            let submitted = seconds(note.submitted);
            writeln!(file, "{},{},{submitted},{estimate},{started}", work.name, note.id)
        };
        if let Err(error) = write() {
            tracing::warn!(file = %path.display(), %error, "a start is not noted");
        }
    }

    /// Compares the open attempts with the jobs of Slurm, if it is time for that. Returns those that are over.
    fn ask_slurm(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        let now = now();
        if self.due.is_some_and(|due| now < due) || self.open.is_empty() {
            return Ok(BTreeMap::new());
        }
        let names = self.open.values().map(|it| self.name(&it.work)).collect();
        let asked = Seen::read(&names);
        let unknown = asked.is_err() || self.open.values().any(|it| it.id.is_none());
        let poll = if unknown { POLL.0 } else { POLL.1 };
        self.due = Some(now + poll.max(now.elapsed() * 5));
        let seen = asked?;
        let mut over = BTreeMap::new();
        for (key, mut open) in std::mem::take(&mut self.open) {
            let state = self.judge(&mut open, &seen, now);
            over.extend(state.map(|state| (key, state)));
            self.open.insert(key, open);
        }
        Ok(over)
    }

    /// The state of an attempt after the answer of Slurm; `None` = it goes on.
    fn judge(&mut self, open: &mut Open, seen: &Seen, now: Instant) -> Option<State> {
        let has_begun = self.folder.join(&open.work.name).join(BEGUN).exists();
        let queued = seen.of(&self.name(&open.work));
        if let Some((id, Queued::Alive)) = queued {
            (open.id, open.silent) = (Some(id.to_owned()), None);
            return None;
        }
        let silent = now - *open.silent.get_or_insert(now);
        match queued {
            // The file of the exit code may come later than the news.
            Some(_) if silent < LATE => None,
            // Without a begin, it was cancelled while it waited.
            Some((_, Queued::Ended)) if has_begun => {
                Some(State::Ended { at: unix_micros(), code: None, error: None })
            }
            Some(_) => Some(State::Lost),
            None if open.id.is_none() && !has_begun => {
                if silent >= AGAIN {
                    self.submit_again(open);
                }
                None
            }
            None => (silent >= FORGOTTEN).then_some(State::Lost),
        }
    }

    /// Submits an attempt that Slurm does not have, although it was submitted.
    fn submit_again(&mut self, open: &mut Open) {
        open.silent = None;
        match self.submit(&open.work) {
            Ok(id) => {
                tracing::info!(work = %open.work.name, "Slurm did not have it: it was submitted again");
                open.id = Some(id);
            }
            Err(error) => {
                let text = error.to_string();
                if self.said != text {
                    tracing::warn!(work = %open.work.name, %error, "it is submitted again");
                    self.said = text;
                }
            }
        }
    }
}

fn read_note(folder: &Path) -> Option<Note> {
    serde_json::from_slice(&fs::read(folder.join(JOB)).ok()?).ok()
}

/// Time at which a file was written, microseconds since 1970.
fn modified(path: &Path) -> Option<i64> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok()
}

/// The script of an attempt: it runs the program, unless another job of the same name has begun.
fn script(folder: &Path, work: &Work) -> String {
    let file = |name: &str| quoted(&folder.join(name).display().to_string());
    let words = work.command.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ");
    let Work { key, name, processors, .. } = work;
    let job = key.job.0;
    let (begun, part, code) = (file(BEGUN), file("code.part"), file(CODE));
    format!(
        "#!/bin/sh\nmkdir {begun} || exit 75\n\
         export HAGGLE_JOB={job} HAGGLE_NAME={name} HAGGLE_PROCESSORS={processors}\n\
         {words}\n\
         code=$?\n\
         echo $code >{part}\n\
         mv {part} {code}\n\
         exit $code\n"
    )
}

impl Machine for Slurm {
    fn start(&mut self, work: &Work) -> Result<(), MachineError> {
        let folder = self.folder.join(&work.name);
        note(&self.folder, &Order { work: work.clone(), limits: Limits::default() })?;
        let path = folder.join("script.sh");
        write_whole(&path, script(&folder, work).as_bytes()).map_err(MachineError::file(&path))?;
        // From now on it counts as handed over: if the answer is lost, Slurm is asked for its name.
        let submitted = self.submit(work);
        let id = submitted.as_ref().ok().cloned();
        if id.is_none() {
            self.due = None;
        }
        self.open.insert(work.key, Open { work: work.clone(), id, silent: None });
        submitted.map(drop)
    }

    fn stop(&mut self, key: WorkKey) -> Result<(), MachineError> {
        let Some(open) = self.open.get(&key) else { return Ok(()) };
        let name = format!("--name={}", self.name(&open.work));
        ask("scancel", &["--me", &name]).map(drop)
    }

    fn look(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        let ended = self.open.values().filter_map(|it| Some((it.work.key, self.ended(&it.work)?)));
        let mut states: BTreeMap<WorkKey, State> = ended.collect();
        for (key, state) in self.ask_slurm()? {
            states.entry(key).or_insert(state);
        }
        for key in states.keys() {
            if let Some(open) = self.open.remove(key) {
                self.note_start(&open.work);
            }
        }
        states.extend(self.open.keys().map(|&key| (key, State::Running)));
        Ok(states)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn close(&mut self) -> Result<(), MachineError> {
        let name = format!("ReservationName={}", self.reservation);
        for _ in 1..TRIES {
            if reserved(&self.reservation)?.is_none() || ask("scontrol", &["delete", &name]).is_ok()
            {
                return Ok(());
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        ask("scontrol", &["delete", &name]).map(drop)
    }
}
