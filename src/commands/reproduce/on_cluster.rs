//! A reproduction on a cluster: the sweeps of all figures as arrays, and the command itself after them.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::rc::Rc;

use crate::command::own_rules;
use crate::experiment::Figures;
use crate::studies::catalogue::Origin;
use crate::studies::obtain::{Stock, Task as Obtain};
use crate::studies::{Catalogue, Figure, Library, Study, study};

use super::Args;
use crate::commands::Error;
use crate::commands::cluster::{Task, Words, Work, submit_all, task as carry_out};
use crate::exit::Exit;
use crate::report::say;

/// Submits the runs of figures.
pub(super) fn submit(
    args: &Args,
    library: &Library,
    output: &Path,
    wanted: &[(&Rc<Study>, &Figure)],
) -> Result<Exit, Error> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (study, figure) in wanted {
        for origin in &figure.origins {
            let name = name_of(study, origin);
            let task = obtain(args, library, output, study, origin)?;
            if task.is_live() && !args.quiet {
                let name = &figure.name;
                say(&format!(
                    "{name}: its live runs are not submitted; make them without --slurm first\n"
                ));
            }
            // Figures share sweeps, and each is submitted once.
            if task.sweep().is_some() && known.insert(name.clone()) {
                all.push((name, task));
            }
        }
    }
    let works: Vec<Work<'_>> =
        all.iter().filter_map(|(name, task)| work_of(Some(name), task)).collect();
    // The logs of studies use only this variable.
    let traces = env::var("HAGGLE_TRACES").ok();
    let variables: Vec<_> =
        traces.into_iter().map(|value| ("HAGGLE_TRACES".to_owned(), value)).collect();
    let words = Words {
        name: "reproduce",
        arguments: &arguments(args),
        // The last job makes no runs: if tasks have left some out, it says so.
        sum: "--no-runs",
        variables: &variables,
        quiet: args.quiet,
    };
    submit_all(&args.cluster, &works, &words)
}

/// Carries out a chunk of the runs of a figure.
pub(super) fn task(
    args: &Args,
    library: &Library,
    catalogue: &Catalogue,
    output: &Path,
    task: &Task,
) -> Result<Exit, Error> {
    // All figures, because a task knows only the name of its sweep.
    for (study, figure) in catalogue.figures() {
        for origin in &figure.origins {
            if task.of.as_deref() != Some(name_of(study, origin).as_str()) {
                continue;
            }
            let found = obtain(args, library, output, study, origin)?;
            if let Some(work) = work_of(None, &found) {
                return carry_out(&work, task);
            }
        }
    }
    Err(Error::Unfit {
        message: format!("there is no sweep \"{}\"", task.of.as_deref().unwrap_or_default()),
        hint: "`haggle reproduce FIGURE --slurm` submits tasks".to_owned(),
    })
}

fn name_of(study: &Study, origin: &Origin) -> String {
    format!("{}/{}", study.name, origin.name())
}

fn obtain<'a>(
    args: &Args,
    library: &Library,
    output: &Path,
    of: &Study,
    origin: &Origin,
) -> Result<Obtain<'a>, Error> {
    let &Args { quick, any_build, .. } = args;
    let stock = Stock { library, studies: study::ALL, own: own_rules(), live: None };
    Ok(Obtain::new(stock, of, origin, output, quick, any_build)?)
}

fn work_of<'a>(of: Option<&'a String>, task: &'a Obtain<'_>) -> Option<Work<'a>> {
    let (experiment, folder, output, wanted) = task.sweep()?;
    let (of, figures) = (of.map(String::as_str), Figures::Skip);
    Some(Work { of, experiment, folder, output, wanted, pack: None, figures })
}

/// The arguments of the command without those for Slurm.
fn arguments(args: &Args) -> Vec<String> {
    let mut arguments = vec!["reproduce".to_owned()];
    arguments.extend(args.figures.iter().cloned());
    arguments.extend(["-o".to_owned(), args.output.display().to_string(), "--quiet".to_owned()]);
    if let Some(folder) = &args.scenarios {
        arguments.extend(["--scenarios".to_owned(), folder.display().to_string()]);
    }
    let flags = [
        (args.quick, "--quick"),
        (args.any_build, "--any-build"),
        (args.json, "--json"),
        (args.brief, "--brief"),
    ];
    arguments.extend(flags.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()));
    arguments
}
