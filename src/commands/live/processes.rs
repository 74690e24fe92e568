//! The nodes of a live run, each in a process of its own on this machine.

use std::fs::{File, OpenOptions};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use haggle_live::ending::Agreement;
use haggle_live::keys::{Fingerprint, certificate_of};
use haggle_live::run::{Ended, LiveError as Failed, Plan};
use haggle_live::status::{Answer, ask};
use haggle_model::{Span, Time};

use super::LiveError;
use super::folder::{LiveFolder, NODE, NodeSettings, parse};
use crate::interrupt::STOP;
use crate::progress::OneRun;

/// A node and its process.
struct Process {
    name: String,
    /// Address of its state.
    status: Option<String>,
    certificate: Fingerprint,
    child: Child,
    ended: Option<ExitStatus>,
}

/// Time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(50);
/// Looks between two questions about the progress.
const ASKS: u32 = 10;

/// Runs all nodes of a plan as processes, until all have ended.
pub(super) fn run(folder: &LiveFolder, plan: &Plan, bar: &OneRun) -> Result<Ended, LiveError> {
    let mut processes = Vec::new();
    for node in &plan.run.nodes {
        processes.push(start(folder, node.as_str())?);
    }
    for look in 0_u32.. {
        sleep(LOOK);
        for Process { name, child, ended, .. } in &mut processes {
            let lost = |error| LiveError::Process { name: name.clone(), error };
            if ended.is_none() {
                *ended = child.try_wait().map_err(lost)?;
            }
        }
        let failed = |it: &&Process| it.ended.is_some_and(|it| !it.success());
        if let Some(failed) = processes.iter().find(failed)
            && !STOP.load(Ordering::Relaxed)
        {
            let (name, path) = (failed.name.clone(), folder.path.join(&failed.name));
            let status = failed.ended.unwrap_or_default();
            stop(processes);
            return Err(LiveError::Ended { name, status, log: path.join(LOG) });
        }
        if STOP.load(Ordering::Relaxed) {
            stop(processes);
            return Ok(Ended::Stopped);
        }
        if processes.iter().all(|it| it.ended.is_some()) {
            return Ok(Ended::Complete);
        }
        if look.is_multiple_of(ASKS) {
            show(&processes, bar);
        }
    }
    Ok(Ended::Stopped)
}

/// The log of a node, in its folder.
const LOG: &str = "log.jsonl";

fn start(folder: &LiveFolder, name: &str) -> Result<Process, LiveError> {
    let path = folder.path.join(name);
    let settings: NodeSettings = parse(&path.join(NODE))?;
    let certificate = certificate_of(&path).map_err(Failed::from)?.fingerprint;
    let failed = |error| LiveError::Process { name: name.to_owned(), error };
    let log: File =
        OpenOptions::new().create(true).append(true).open(path.join(LOG)).map_err(failed)?;
    let child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(["live", "node", "--log", "json", "--with-parent"])
        .arg(&path)
        // It ends with this process, and the node with it.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(failed)?;
    Ok(Process { name: name.to_owned(), status: settings.status, certificate, child, ended: None })
}

/// Stops all nodes: each keeps its promises in its journal.
fn stop(mut processes: Vec<Process>) {
    for process in &mut processes {
        drop(process.child.stdin.take());
    }
    for process in &mut processes {
        // Its own exit code is no news.
        let _ = process.child.wait();
    }
}

/// Shows the sum of the progress of all nodes that answer.
fn show(processes: &[Process], bar: &OneRun) {
    let mut known = Agreement::new(0);
    let mut now = 0.0_f64;
    for (part, process) in (0..).zip(processes) {
        let answer = process.status.as_deref().map(|it| ask(it, process.certificate));
        if let Some(Ok(Answer::Runs(status))) = answer {
            known.report(part, status.progress);
            now = now.max(status.time);
        }
    }
    let now = Time::ZERO + Span::from_secs_f64(now);
    super::run::show(bar, now, known.sum());
}
