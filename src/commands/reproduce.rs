//! `haggle reproduce`: draws published figures again, and tests the claims about them.

mod on_cluster;
mod text;
mod trouble;

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command::own_rules;
use crate::experiment::sweep::SweepError;
use crate::scenario::nearest;
use crate::studies::catalogue::Origin;
use crate::studies::draw::draw;
use crate::studies::judge::Failure;
use crate::studies::live::RunLive;
use crate::studies::logs;
use crate::studies::obtain::{Stock, Task};
use crate::studies::page::{self, Tested, Told};
use crate::studies::{
    Catalogue, Claim, Data, Figure, Finding, Judgement, Library, Study, judge, study,
};
use chrono::DateTime;
use haggle_script::Language;
use serde_json::json;

use trouble::MissingLogs;

use super::cluster::OnCluster;
use super::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;
use crate::progress::{Show, many_runs};
use crate::report::{report, say};

/// Draw published figures again and test the published claims about them
///
/// Makes the runs that a figure needs, draws it and prints each claim beside the reproduced result. Finished runs are
/// kept and serve other figures; a reproduction that was stopped continues from them. `haggle list figures` lists all
/// figures, their times and the logs that they need.
///
/// A claim is missed if the result differs from the published one. A missed claim is a result and no error; the command
/// then exits with 1, so that scripts notice it. A claim is undecided if the difference is within the noise of its
/// replications, or if --quick has left some of them out. Undecided claims are counted separately, and are no failure.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle reproduce netto-t7.1
  haggle reproduce chtepen-4.9 chtepen-4.10 --quick -o figures
  haggle reproduce all --json > claims.json
  haggle reproduce haggle-sessions --quick --json > sessions.json
  haggle reproduce --page sessions.json > sessions.md")]
pub(crate) struct Args {
    /// Names of figures, names of studies (all their figures), or `all`
    #[arg(required_unless_present = "page", value_name = "FIGURE")]
    figures: Vec<String>,
    /// Make no runs; print a page in Markdown from the output of --json: the score of all claims, by study and figure
    #[arg(long, value_name = "CLAIMS.JSON", num_args = 1.., conflicts_with_all = ["figures", "quick", "json"])]
    page: Vec<PathBuf>,
    /// Make fewer replications and values, for a first look; the output lists what is left out
    #[arg(long)]
    quick: bool,
    /// Print the claims as JSON
    #[arg(long)]
    json: bool,
    /// Print no tables, and one line for each claim; written files stay the same
    #[arg(short, long, conflicts_with_all = ["json", "page"])]
    brief: bool,
    /// Folder of figures and runs; quick ones go to `quick` in it
    #[arg(short, long, value_name = "DIR", default_value = "runs/reproduce")]
    output: PathBuf,
    /// Runs at the same time; without it, one for each processor core, and all live runs of a study
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Count finished runs of other builds of this version of haggle as done
    #[arg(long)]
    any_build: bool,
    /// Print no progress
    #[arg(short, long)]
    quiet: bool,
    /// Folder of studies, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Draw and test from existing runs, and make none
    #[arg(long, conflicts_with_all = ["slurm", "jobs"])]
    no_runs: bool,
    #[command(flatten)]
    cluster: OnCluster,
}

/// The studies in a folder, or those embedded in the program.
pub(crate) fn library(folder: Option<&Path>) -> Library {
    folder.map_or(Library::Embedded, |folder| Library::Folder(folder.to_owned()))
}

/// Draws the figures and tests the claims.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let library = library(args.scenarios.as_deref());
    let catalogue = Catalogue::read(&library, study::ALL)?;
    // Before the folder is created: a page makes no runs and no figures.
    if !args.page.is_empty() {
        print(&page(&catalogue, &args.page)?)?;
        return Ok(Exit::Success);
    }
    let wanted = wanted(&catalogue, &args.figures)?;
    let output = if args.quick { args.output.join("quick") } else { args.output.clone() };
    fs::create_dir_all(&output).map_err(|error| Error::Write { path: output.clone(), error })?;
    if let Some(task) = &args.cluster.task {
        return on_cluster::task(args, &library, &catalogue, &output, task);
    }
    let mut desk = Desk { args, library, output, obtained: BTreeMap::new(), worst: None };
    // All missing logs are told at once, before the first run, which may take hours.
    let wanted = desk.with_logs(wanted);
    if args.cluster.slurm {
        return on_cluster::submit(args, &desk.library, &desk.output, &wanted);
    }
    let mut findings: Vec<Finding<'_>> = Vec::new();
    for (study, figure) in &wanted {
        desk.draw(study, figure)?;
        // A claim about several figures is tested with the first of them only.
        let new = |claim: &&Claim| !findings.iter().any(|known| std::ptr::eq(known.claim, *claim));
        let claims: Vec<&Claim> = study.claims_about(&figure.name).filter(new).collect();
        let found = desk.test(study, &claims)?;
        if !args.json {
            print(&text::findings(&found, args.brief))?;
        }
        findings.extend(found);
    }
    if args.json {
        let tested = Tested {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: today(),
            claims: findings.iter().map(Told::of).collect(),
        };
        print(&format!("{:#}\n", json!(tested)))?;
    } else if !wanted.is_empty() {
        print(&text::reasons(&findings))?;
        print(&text::counts(&findings))?;
        if missed(&findings) && !args.quiet {
            say(text::MISSED);
        }
    }
    let exit = if missed(&findings) { Exit::Differs } else { Exit::Success };
    // An error counts more than a missed claim, whose data may be lacking because of it.
    Ok(desk.worst.unwrap_or(exit))
}

/// Carries out live runs; `None` = they are no part of this program.
fn live_runs() -> Option<&'static RunLive> {
    #[cfg(feature = "live")]
    return Some(&super::live::run_for_study);
    #[cfg(not(feature = "live"))]
    None
}

fn missed(findings: &[Finding<'_>]) -> bool {
    findings.iter().any(|it| matches!(it.judgement, Judgement::Missed(_)))
}

/// The figures of these names, in the order of the catalogue for `all`.
fn wanted<'a>(
    catalogue: &'a Catalogue,
    names: &[String],
) -> Result<Vec<(&'a Rc<Study>, &'a Figure)>, Error> {
    let mut wanted: Vec<(&Rc<Study>, &Figure)> = Vec::new();
    for name in names {
        if name == "all" {
            // In place of earlier names, which would otherwise come first.
            wanted = catalogue.figures().collect();
            break;
        }
        let found = match catalogue.figure(name) {
            // A figure precedes a study of the same name.
            Some(found) => vec![found],
            None => catalogue.figures().filter(|(study, _)| study.name == *name).collect(),
        };
        if found.is_empty() {
            let known = || catalogue.figures().map(|(_, figure)| figure.name.as_str());
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean \"{near}\"? "),
                None => String::new(),
            };
            return Err(Error::Unfit {
                message: format!("there is no figure \"{name}\""),
                hint: format!("{hint}`haggle list figures` lists all figures"),
            });
        }
        for (study, figure) in found {
            if !wanted.iter().any(|(_, other)| other.name == figure.name) {
                wanted.push((study, figure));
            }
        }
    }
    Ok(wanted)
}

/// Data obtained so far, and errors so far.
struct Desk<'a> {
    args: &'a Args,
    library: Library,
    output: PathBuf,
    /// Data by study and origin; `None` if obtaining them failed, which has been reported.
    obtained: BTreeMap<(String, Origin), Option<Rc<Data>>>,
    /// Exit code of the first error.
    worst: Option<Exit>,
}

impl Desk<'_> {
    /// The figures whose logs exist; the missing logs of the others are reported at once.
    fn with_logs<'c>(
        &mut self,
        wanted: Vec<(&'c Rc<Study>, &'c Figure)>,
    ) -> Vec<(&'c Rc<Study>, &'c Figure)> {
        let mut missing = MissingLogs::default();
        let mut ready = Vec::new();
        for (study, figure) in wanted {
            let logs = logs::needed(&self.library, study::ALL, study, &figure.origins);
            let lacking: Vec<_> =
                logs.iter().filter_map(|log| Some((log.missing()?, log))).collect();
            if lacking.is_empty() {
                ready.push((study, figure));
                continue;
            }
            missing.figures.push(figure.name.clone());
            for (why, log) in lacking {
                missing.logs.insert(log.clone(), why);
            }
        }
        if !missing.figures.is_empty() {
            self.tell(&missing.into());
        }
        ready
    }

    /// Obtains a figure's data, draws it and reports the files.
    fn draw(&mut self, study: &Study, figure: &Figure) -> Result<(), Error> {
        let mut said = text::heading(figure);
        if let Some(sources) = self.sources(study, &figure.origins)? {
            let language = Language::new(sources.clone(), &study.functions);
            let language = language.map_err(|mistake| trouble::functions(study, &mistake))?;
            for how in &figure.draws {
                match draw(figure, how, &sources, &language, &self.output).map_err(Error::from) {
                    Ok(drawn) => said.push_str(&text::drawn(&drawn, self.args.brief)),
                    Err(error) => self.tell(&error),
                }
            }
            for source in sources.iter().filter(|_| self.args.quick) {
                let line = text::quick(&source.name, source.cuts.text().as_deref());
                if self.args.json {
                    say(&line);
                } else {
                    said.push_str(&line);
                }
            }
        }
        if self.args.json { Ok(()) } else { print(&said) }
    }

    /// Tests claims of a study.
    fn test<'c>(&mut self, study: &Study, claims: &[&'c Claim]) -> Result<Vec<Finding<'c>>, Error> {
        let mut findings = Vec::new();
        for claim in claims {
            let origins = study.origins(claim.figures.iter().map(String::as_str));
            let finding = match self.sources(study, &origins)? {
                Some(sources) => {
                    let language = Language::new(sources, &study.functions)
                        .map_err(|mistake| trouble::functions(study, &mistake))?;
                    judge(claim, Some(&language))
                }
                None => judge(claim, None),
            };
            // Other failures follow from data that were not obtained, which has been reported.
            if let Judgement::Failed(Failure::Expression(problem)) = &finding.judgement {
                self.tell(&Error::InvalidScenario(problem.clone()));
            }
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Reports an error that does not prevent the other figures.
    fn tell(&mut self, error: &Error) {
        let exit = report(error);
        self.worst.get_or_insert(exit);
    }

    /// The data of all origins; `None` if one could not be obtained.
    fn sources(
        &mut self,
        study: &Study,
        origins: &[Origin],
    ) -> Result<Option<Vec<Rc<Data>>>, Error> {
        let mut sources = Some(Vec::new());
        for origin in origins {
            let key = (study.name.clone(), origin.clone());
            // Figures share data, and a failure is reported only once.
            if !self.obtained.contains_key(&key) {
                let obtained = match self.obtain(study, origin) {
                    Ok(obtained) => Some(obtained),
                    // Such an error would meet every further figure as well.
                    Err(error) if trouble::ends_all(&error) => return Err(error),
                    Err(error) => {
                        self.tell(&error);
                        None
                    }
                };
                self.obtained.insert(key.clone(), obtained);
            }
            match (self.obtained.get(&key), &mut sources) {
                (Some(Some(obtained)), Some(sources)) => sources.push(Rc::clone(obtained)),
                _ => sources = None,
            }
        }
        Ok(sources)
    }

    fn obtain(&self, study: &Study, origin: &Origin) -> Result<Rc<Data>, Error> {
        let &Args { quick, any_build, .. } = self.args;
        let (library, output) = (&self.library, &self.output);
        let stock = Stock { library, studies: study::ALL, own: own_rules(), live: live_runs() };
        let task = Task::new(stock, study, origin, output, quick, any_build)?;
        let (runs, done) = task.progress().map_or((0, 0), |it| (it.runs, it.done));
        if self.args.no_runs && done < runs {
            return Err(SweepError::Missing { missing: runs - done, runs }.into());
        }
        if done > 0 && !self.args.quiet {
            say(&format!("{}: {done} of {runs} runs are done already\n", task.name()));
        }
        let bar = many_runs(Show::unless(self.args.quiet), runs as u64, done as u64);
        let data = task.carry_out(self.args.jobs, &STOP, &|| bar.inc(1));
        // Before an error is returned, whose text the bar would overwrite.
        bar.finish_and_clear();
        Ok(Rc::new(data?))
    }
}

/// The page made from the JSON output of earlier reproductions.
fn page(catalogue: &Catalogue, files: &[PathBuf]) -> Result<String, Error> {
    let unfit = |message: String| Error::Unfit {
        message,
        hint: "name files that `haggle reproduce --json` has written".to_owned(),
    };
    let read = |file: &PathBuf| {
        let unreadable = |error| unfit(format!("cannot read `{}`: {error}", file.display()));
        let text = fs::read_to_string(file).map_err(unreadable)?;
        serde_json::from_str(&text)
            .map_err(|error| unfit(format!("`{}` has no claims: {error}", file.display())))
    };
    let tested = files.iter().map(read).collect::<Result<Vec<Tested>, Error>>()?;
    page::page(catalogue, &tested).map_err(unfit)
}

/// The day, by the machine's clock in UTC.
#[expect(clippy::disallowed_methods, reason = "when claims were tested decides nothing of them")]
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    let now = i64::try_from(seconds).ok().and_then(|it| DateTime::from_timestamp(it, 0));
    now.unwrap_or_default().format("%Y-%m-%d").to_string()
}
