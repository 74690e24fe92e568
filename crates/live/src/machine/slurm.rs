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
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use self::ask::{ask, quoted};
use self::jobs::{Queued, Seen};
use super::supervisor::{Order, WORK, synced, write_whole};
use super::{Limits, Machine, MachineError, State, Work};
use crate::clock::unix_micros;
use crate::core::WorkKey;

/// Time after which an attempt that Slurm does not know is submitted again.
const AGAIN: Duration = Duration::from_secs(3);
/// Time after which an attempt that Slurm has forgotten is lost.
const FORGOTTEN: Duration = Duration::from_secs(30);
/// Tries to give the reservation back: it is in use until Slurm has cleaned up after its last job.
const TRIES: u32 = 20;
/// Longest time for which the exit code of a job may come after the end of the job.
const LATE: Duration = Duration::from_secs(10);
/// Time between two questions to Slurm, at least; a slow controller is asked less often.
const POLL: Duration = Duration::from_secs(2);

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

/// The node of a machine.
pub(super) struct Site<'s> {
    /// Folder of its attempts.
    pub(super) folder: &'s Path,
    /// Name of the run and the node.
    pub(super) mark: &'s str,
    /// Processors of its providers.
    pub(super) processors: u32,
    /// Further options for sbatch.
    pub(super) options: &'s [String],
    /// True if the run is over, and nothing is held for it any more.
    pub(super) is_over: bool,
}

/// Opens the machine.
pub(super) fn open(
    site: &Site<'_>,
    supervisor: &[String],
    hold: &Hold,
    stop: &AtomicBool,
) -> Result<Box<dyn Machine>, MachineError> {
    fs::create_dir_all(site.folder).map_err(MachineError::file(site.folder))?;
    let folder = std::path::absolute(site.folder).map_err(MachineError::file(site.folder))?;
    match hold {
        Hold::Operator { nodes } => {
            let reservation = match site.is_over {
                true => format!("haggle-{}", site.mark),
                false => reserve(site.mark, nodes, site.processors)?,
            };
            Ok(Box::new(Slurm::open(folder, site.mark, reservation, site.options.to_vec())?))
        }
        Hold::User { time } => {
            Ok(Box::new(pilot::Pilot::open(&folder, site, time, supervisor, stop)?))
        }
    }
}

/// True if a reservation exists.
fn is_reserved(name: &str) -> Result<bool, MachineError> {
    let all = ask("scontrol", &["--oneliner", "show", "reservations"])?;
    let wanted = format!("ReservationName={name}");
    Ok(all.lines().any(|line| line.split(' ').next() == Some(&wanted)))
}

/// Makes the reservation of a node, unless it exists. It must have all processors of the provider.
fn reserve(mark: &str, nodes: &str, processors: u32) -> Result<String, MachineError> {
    let name = format!("haggle-{mark}");
    let wanted = format!("ReservationName={name}");
    let find = || -> Result<Option<String>, MachineError> {
        let all = ask("scontrol", &["--oneliner", "show", "reservations"])?;
        let mut lines = all.lines().filter(|line| line.split(' ').next() == Some(&wanted));
        Ok(lines.next().map(str::to_owned))
    };
    if find()?.is_none() {
        let user = ask("id", &["--user", "--name"])?;
        let (nodes, users) = (format!("Nodes={nodes}"), format!("Users={}", user.trim()));
        let words = ["create", "reservation", &wanted, "StartTime=now", "Duration=UNLIMITED"];
        ask("scontrol", &[&words[..], &[&nodes, &users]].concat())?;
    }
    let said = find()?.unwrap_or_default();
    let held = jobs::processors_of(&said);
    if held.is_some_and(|held| held < processors) {
        let held = held.unwrap_or_default();
        return Err(MachineError::TooFew { name, held, processors });
    }
    tracing::info!(reservation = %name, processors = held, "Slurm holds the processors");
    Ok(name)
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
        folder: PathBuf,
        mark: &str,
        reservation: String,
        options: Vec<String>,
    ) -> Result<Slurm, MachineError> {
        let mut open = BTreeMap::new();
        for work in super::local::orders(&folder)?.into_values() {
            let note = read_note(&folder.join(&work.name));
            open.insert(work.key, Open { id: note.map(|it| it.id), work, silent: None });
        }
        let mark = mark.to_owned();
        Ok(Slurm { folder, mark, reservation, options, open, due: None })
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
        let mut words: Vec<&str> = options.iter().map(String::as_str).collect();
        words.push(&script);
        // An estimate is for information: a site may refuse the question.
        let test = [&["--test-only"], &words[..]].concat();
        let estimate = ask::both("sbatch", &test).ok().and_then(|said| jobs::foretold(&said));
        let submitted = unix_micros();
        let said = ask("sbatch", &[&["--parsable"], &words[..]].concat())?;
        let id = said.trim().split(';').next().unwrap_or_default().to_owned();
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_digit()) {
            return Err(MachineError::NotUnderstood { command: "sbatch --parsable".into(), said });
        }
        let note = Note { id: id.clone(), estimate, submitted };
        write_whole(&folder.join(JOB), &serde_json::to_vec(&note).unwrap_or_default())?;
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

    /// Compares the open attempts with the jobs of Slurm, if it is time for that.
    fn ask_slurm(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        let now = now();
        if self.due.is_some_and(|due| now < due) || self.open.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked = Seen::read(&format!("haggle-{}-", self.mark));
        self.due = Some(now + POLL.max(now.elapsed() * 5));
        let seen = asked?;
        let mut states = BTreeMap::new();
        for key in Vec::from_iter(self.open.keys().copied()) {
            if let Some(state) = self.judge(key, &seen, now)? {
                states.insert(key, state);
            }
        }
        Ok(states)
    }

    /// The state of an attempt after the answer of Slurm; `None` = it goes on.
    fn judge(
        &mut self,
        key: WorkKey,
        seen: &Seen,
        now: Instant,
    ) -> Result<Option<State>, MachineError> {
        let Some(open) = self.open.get(&key) else { return Ok(None) };
        let queued = seen.of(&self.name(&open.work));
        let since = open.silent.unwrap_or(now);
        let silent = now - since;
        let (state, is_silent) = match queued {
            Some((id, Queued::Alive)) => {
                let id = Some(id.to_owned());
                let open = self.open.get_mut(&key);
                open.into_iter().for_each(|open| open.id.clone_from(&id));
                (None, false)
            }
            // The file of the exit code may come later than the news.
            Some((_, Queued::Ended | Queued::Lost)) if silent < LATE => (None, true),
            // It was cancelled while it waited.
            Some((_, Queued::Ended)) if !self.folder.join(&open.work.name).join(BEGUN).exists() => {
                (Some(State::Lost), true)
            }
            Some((_, Queued::Ended)) => {
                (Some(State::Ended { at: unix_micros(), code: None, error: None }), true)
            }
            Some((_, Queued::Lost)) => (Some(State::Lost), true),
            None if silent < AGAIN => (None, true),
            None if open.id.is_none()
                && !self.folder.join(&open.work.name).join(BEGUN).exists() =>
            {
                tracing::info!(work = %open.work.name, "Slurm does not have it: it is submitted");
                let id = self.submit(&open.work)?;
                let open = self.open.get_mut(&key);
                open.into_iter().for_each(|open| open.id = Some(id.clone()));
                (None, false)
            }
            None if silent < FORGOTTEN => (None, true),
            None => (Some(State::Lost), true),
        };
        if let Some(open) = self.open.get_mut(&key) {
            open.silent = is_silent.then_some(since);
        }
        Ok(state)
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

#[expect(clippy::disallowed_methods, reason = "programs run in real time")]
fn now() -> Instant {
    Instant::now()
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
         export HAGGLE_JOB={job} HAGGLE_NAME={name} HAGGLE_PROCESSORS={processors}\n{words}\ncode=$?\necho $code >{part}\nmv {part} {code}\nexit $code\n"
    )
}

impl Machine for Slurm {
    fn start(&mut self, work: &Work) -> Result<(), MachineError> {
        let folder = self.folder.join(&work.name);
        fs::create_dir_all(&folder).map_err(MachineError::file(&folder))?;
        write_whole(&folder.join("script.sh"), script(&folder, work).as_bytes())?;
        let order = Order { work: work.clone(), limits: Limits::default() };
        write_whole(&folder.join(WORK), &serde_json::to_vec(&order).unwrap_or_default())?;
        synced(&self.folder)?;
        // From now on it counts as handed over: if the answer is lost, Slurm is asked for its name.
        let open = Open { work: work.clone(), id: None, silent: None };
        self.open.insert(work.key, open);
        let id = self.submit(work)?;
        self.open.insert(work.key, Open { work: work.clone(), id: Some(id), silent: None });
        Ok(())
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
            if !is_reserved(&self.reservation)? || ask("scontrol", &["delete", &name]).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        ask("scontrol", &["delete", &name]).map(drop)
    }
}
