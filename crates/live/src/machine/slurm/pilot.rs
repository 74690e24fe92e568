//! A pilot job: it has the processors of a node, and programs are steps of it.
//!
//! A promise lasts as long as the pilot job. `srun` runs on the machine of the node, under a supervisor.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::local::Local;
use super::super::supervisor::write_whole;
use super::super::{Limits, Machine, MachineError, State, Work};
use super::POLL;
use super::ask::ask;
use crate::core::WorkKey;

/// The pilot job, and its steps.
pub(super) struct Pilot {
    id: String,
    steps: Local,
    due: Option<Instant>,
}

impl Pilot {
    /// Finds the pilot job of an earlier process, or submits one, and waits until it runs.
    pub(super) fn open(
        folder: &Path,
        mark: &str,
        supervisor: &[String],
        processors: u32,
        time: &str,
        options: &[String],
    ) -> Result<Pilot, MachineError> {
        let name = format!("haggle-{mark}-pilot");
        let id = match alive(&name)? {
            Some((id, _)) => id,
            None => submit(folder, &name, processors, time, options)?,
        };
        tracing::info!(job = %id, "the pilot job is awaited");
        loop {
            match alive(&name)? {
                Some((_, true)) => break,
                Some((_, false)) => std::thread::sleep(POLL),
                None => return Err(gone(&id)),
            }
        }
        tracing::info!(job = %id, "the pilot job runs");
        let jobid = format!("--jobid={id}");
        let words = ["srun", &jobid, "--exact", "--ntasks={processors}", "--quiet"];
        let before = words.map(str::to_owned).to_vec();
        let steps = Local::open(folder, supervisor.to_vec(), Limits::default(), before)?;
        Ok(Pilot { id, steps, due: None })
    }
}

fn submit(
    folder: &Path,
    name: &str,
    processors: u32,
    time: &str,
    options: &[String],
) -> Result<String, MachineError> {
    let script = folder.join("pilot.sh");
    write_whole(&script, b"#!/bin/sh\nexec sleep infinity\n")?;
    let (script, log) = (script.display().to_string(), folder.join("pilot.log"));
    let words = [
        format!("--job-name={name}"),
        format!("--ntasks={processors}"),
        format!("--time={time}"),
        format!("--output={}", log.display()),
        "--no-requeue".to_owned(),
        // Two jobs of one name never run at once, also if the answer of the first submission was lost.
        "--dependency=singleton".to_owned(),
        "--parsable".to_owned(),
    ];
    let words: Vec<&str> = words.iter().chain(options).map(String::as_str).collect();
    let said = ask("sbatch", &[&words[..], &[&script]].concat())?;
    Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
}

/// The number of the pilot job that waits or runs; true if it runs.
fn alive(name: &str) -> Result<Option<(String, bool)>, MachineError> {
    let name = format!("--name={name}");
    let words = ["--me", "--noheader", "--states=PENDING,CONFIGURING,RUNNING", &name];
    let said = ask("squeue", &[&words[..], &["--sort=i", "--format=%i|%T"]].concat())?;
    let first = said.lines().next().and_then(|line| line.trim().split_once('|'));
    Ok(first.map(|(id, word)| (id.to_owned(), word == "RUNNING")))
}

fn gone(id: &str) -> MachineError {
    let said =
        "it does not run any more, so nothing can start; start the node again for another one";
    MachineError::Command { command: format!("pilot job {id}"), said: said.to_owned() }
}

impl Machine for Pilot {
    fn start(&mut self, work: &Work) -> Result<(), MachineError> {
        self.steps.start(work)
    }

    fn stop(&mut self, key: WorkKey) -> Result<(), MachineError> {
        self.steps.stop(key)
    }

    fn look(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        let now = super::now();
        if self.due.is_none_or(|due| now >= due) {
            let word = ask("squeue", &["--me", "--noheader", "--format=%i"]);
            self.due = Some(now + POLL.max(now.elapsed() * 5));
            if !word?.lines().any(|line| line.trim() == self.id) {
                tracing::error!(job = %self.id, "the pilot job has ended: its promises have, too");
            }
        }
        self.steps.look()
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    fn close(&mut self) -> Result<(), MachineError> {
        ask("scancel", &[&self.id]).map(drop)
    }
}
