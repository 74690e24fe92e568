//! A pilot job: it has the processors of a node, and programs are steps of it.
//!
//! A promise lasts as long as the pilot job. `srun` runs on the machine of the node, under a supervisor.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::super::local::Local;
use super::super::supervisor::write_whole;
use super::super::{Limits, Machine, MachineError, State, Work};
use super::ask::ask;
use super::{POLL, Site};
use crate::core::WorkKey;

/// The pilot job, and its steps.
pub(super) struct Pilot {
    id: String,
    steps: Local,
    due: Option<Instant>,
}

impl Pilot {
    /// Finds the pilot job of an earlier process, or submits one, and waits until it runs or `stop` is raised.
    pub(super) fn open(
        folder: &Path,
        site: &Site<'_>,
        time: &str,
        supervisor: &[String],
        stop: &AtomicBool,
    ) -> Result<Pilot, MachineError> {
        let name = format!("haggle-{}-pilot", site.mark);
        let id = match alive(&name)? {
            Some(Alive { id, .. }) => id,
            None if site.is_over => String::new(),
            None => submit(folder, &name, site, time)?,
        };
        if !site.is_over {
            until_running(&name, &id, stop)?;
        }
        tracing::info!(job = %id, "the pilot job is known");
        let jobid = format!("--jobid={id}");
        let words = ["srun", &jobid, "--exact", "--ntasks={processors}", "--quiet"];
        let before = words.map(str::to_owned).to_vec();
        let steps = Local::open(folder, supervisor.to_vec(), Limits::default(), before)?;
        Ok(Pilot { id, steps, due: None })
    }
}

/// Waits until the pilot job runs.
fn until_running(name: &str, id: &str, stop: &AtomicBool) -> Result<(), MachineError> {
    let mut said = String::new();
    for asks in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            tracing::warn!(job = %id, "the pilot job stays; the next start of the node finds it");
            return Err(MachineError::Stopped);
        }
        if asks.is_multiple_of(20) {
            match alive(name)? {
                Some(Alive { reason: None, .. }) => break,
                Some(Alive { reason: Some(reason), .. }) if reason != said => {
                    tracing::warn!(job = %id, %reason, "the pilot job waits in Slurm");
                    said = reason;
                }
                Some(_) => {}
                None => return Err(gone(id)),
            }
        }
        std::thread::sleep(POLL / 20);
    }
    Ok(())
}

fn submit(folder: &Path, name: &str, site: &Site<'_>, time: &str) -> Result<String, MachineError> {
    let Site { processors, options, .. } = site;
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
    let words: Vec<&str> = words.iter().chain(*options).map(String::as_str).collect();
    let said = ask("sbatch", &[&words[..], &[&script]].concat())?;
    Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
}

/// A pilot job that waits or runs.
struct Alive {
    id: String,
    /// The word of Slurm for the reason why it waits; `None` = it runs.
    reason: Option<String>,
}

/// The pilot job that waits or runs.
fn alive(name: &str) -> Result<Option<Alive>, MachineError> {
    let name = format!("--name={name}");
    let words = ["--me", "--noheader", "--states=PENDING,CONFIGURING,RUNNING", &name];
    let said = ask("squeue", &[&words[..], &["--sort=i", "--format=%i|%T|%r"]].concat())?;
    let mut cells = said.lines().next().unwrap_or_default().trim().split('|');
    let (Some(id), Some(word)) = (cells.next().filter(|it| !it.is_empty()), cells.next()) else {
        return Ok(None);
    };
    let reason = cells.next().unwrap_or_default().to_owned();
    Ok(Some(Alive { id: id.to_owned(), reason: (word != "RUNNING").then_some(reason) }))
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
        match self.id.is_empty() {
            true => Ok(()),
            false => ask("scancel", &[&self.id]).map(drop),
        }
    }
}
