//! A pilot job: it has the processors of a node, and programs are steps of it.
//!
//! A promise lasts as long as the pilot job. `srun` runs on the machine of the node, under a supervisor.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::super::local::Local;
use super::super::{Limits, Machine, MachineError, Site, State, Work, now};
use super::POLL;
use super::ask::ask;
use super::jobs::number_of;
use crate::core::WorkKey;
use crate::durable::write_whole;

/// The pilot job, and its steps.
pub(super) struct Pilot {
    /// `None` = the run is over, and it has ended.
    id: Option<String>,
    steps: Local,
    /// Time of the next question to Slurm.
    due: Option<Instant>,
    /// True if it has ended before the run.
    is_gone: bool,
}

impl Pilot {
    /// Finds the pilot job of an earlier process, or submits one, and waits until it runs.
    pub(super) fn open(
        site: &Site<'_>,
        time: &str,
        options: &[String],
    ) -> Result<Pilot, MachineError> {
        std::fs::create_dir_all(&site.folder).map_err(MachineError::file(&site.folder))?;
        let name = format!("haggle-{}-pilot", site.mark);
        let id = match alive(&name)? {
            Some(Alive { id, .. }) => Some(id),
            None if site.is_over => None,
            None => Some(submit(&name, site, time, options)?),
        };
        if let Some(id) = id.as_ref().filter(|_| !site.is_over) {
            until_running(&name, id, site.stop)?;
            tracing::info!(job = %id, "the pilot job runs");
        }
        let jobid = format!("--jobid={}", id.as_deref().unwrap_or_default());
        let words = ["srun", &jobid, "--exact", "--ntasks={processors}", "--quiet"];
        let before = words.map(str::to_owned).to_vec();
        let steps = Local::open(site, Limits::default(), before)?;
        Ok(Pilot { id, steps, due: None, is_gone: false })
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
        std::thread::sleep(POLL.0 / 20);
    }
    Ok(())
}

fn submit(
    name: &str,
    site: &Site<'_>,
    time: &str,
    options: &[String],
) -> Result<String, MachineError> {
    let script = site.folder.join("pilot.sh");
    write_whole(&script, b"#!/bin/sh\nexec sleep infinity\n")
        .map_err(MachineError::file(&script))?;
    let words = [
        "--parsable".to_owned(),
        format!("--job-name={name}"),
        format!("--ntasks={}", site.processors),
        format!("--time={time}"),
        format!("--output={}", site.folder.join("pilot.log").display()),
        "--no-requeue".to_owned(),
        // Two jobs of one name never run at once, also if the answer of the first submission was lost.
        "--dependency=singleton".to_owned(),
    ];
    let script = vec![script.display().to_string()];
    number_of(&ask("sbatch", &[words.to_vec(), options.to_vec(), script].concat())?)
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
        match &self.id {
            Some(id) if self.is_gone => Err(gone(id)),
            _ => self.steps.start(work),
        }
    }

    fn stop(&mut self, key: WorkKey) -> Result<(), MachineError> {
        self.steps.stop(key)
    }

    fn look(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        let now = now();
        let is_due = !self.is_gone && self.due.is_none_or(|due| now >= due);
        if let Some(id) = self.id.as_ref().filter(|_| is_due) {
            let said = ask("squeue", &["--me", "--noheader", "--format=%i"]);
            self.due = Some(now + POLL.1.max(now.elapsed() * 5));
            // Without an answer, steps go on.
            if said.is_ok_and(|said| !said.lines().any(|line| line.trim() == id)) {
                self.is_gone = true;
                tracing::error!(job = %id, "the pilot job has ended: its promises have, too");
            }
        }
        self.steps.look()
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    fn close(&mut self) -> Result<(), MachineError> {
        match &self.id {
            Some(id) => ask("scancel", &[id]).map(drop),
            None => Ok(()),
        }
    }
}
