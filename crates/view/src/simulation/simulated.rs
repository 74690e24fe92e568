//! A simulation as a view.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use haggle_agents::Message;
use haggle_experiment::run::cut;
use haggle_model::{ActorId, ActorKind, Cast, JobId, Span};
use haggle_scenario::Source;
use serde_json::Value;

use super::contents::contents;
use super::job;
use super::measures::MEASURES;
use super::panel::panel;
use super::past::{Delivered, Last, Past, Record};
use super::rows::{DoneRows, Rows};
use super::stepper::{Moment, Phase, Stepper};
use super::until;
use super::walk::{Script, WalkError, name};
use super::{drawn, series};
use crate::clock::clamped;
use crate::jobs::JobTable;
use crate::scene::{ChartKind, Scene};
use crate::shown::shown;
use crate::view::{
    ActorEntry, ChartEntry, FOUND_MAX, Identity, JobAnswer, Known, Match, MessageEntry,
    MessagesAnswer, MessagesKept, MessagesQuery, MetricEntry, Overview, Picture, PictureQuery,
    SeriesAnswer, SeriesEntry, SeriesQuery, TableEntry, Told,
};
use crate::{Kind, Refusal, View};

/// Most messages of an answer.
const MESSAGES_MAX: usize = 10_000;

/// A scenario that is stepped, and its place among the views.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// File of the scenario.
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    /// The view from which it branched, and the time of the branch, µs.
    pub(crate) branch: Option<(usize, i64)>,
}

/// A simulation that is viewed.
pub struct Simulated {
    pub(crate) origin: Origin,
    pub(crate) script: Script,
    pub(crate) stepper: Stepper,
    scene: RwLock<Scene>,
    /// Version of the scene.
    drawn: AtomicU64,
    done: Arc<Mutex<DoneRows>>,
    table: Mutex<Option<(u64, Arc<Rows>)>>,
    /// The knowledge of an actor in a version.
    known: Mutex<Option<(u64, ActorId, Arc<Known>)>>,
    /// Number of jobs that will ever arrive; `None` = unknown.
    jobs: OnceLock<Option<usize>>,
}

impl Simulated {
    pub(crate) fn start(origin: Origin, script: Script) -> Result<Simulated, WalkError> {
        let stepper = Stepper::start(script.clone())?;
        let done = DoneRows::new(&stepper.cast, threshold(&script));
        Ok(Simulated {
            origin,
            stepper,
            scene: RwLock::default(),
            drawn: AtomicU64::new(0),
            done: Arc::new(Mutex::new(done)),
            table: Mutex::new(None),
            known: Mutex::new(None),
            jobs: OnceLock::new(),
            script,
        })
    }

    /// Refuses a job that never arrives.
    pub(crate) fn expects(&self, job: JobId) -> Result<(), Refusal> {
        if self.stepper.moment().past.job(job).is_some() {
            return Ok(());
        }
        match *self.jobs.get_or_init(|| self.script.jobs()) {
            Some(jobs) if job.index() >= jobs => {
                let last = jobs.checked_sub(1);
                let help = last.map_or("the run has no jobs".to_owned(), |last| {
                    format!("the jobs of the run have the numbers from 0 to {last}")
                });
                let missing = Refusal::missing(format!("there is no job {}", job.0));
                Err(Refusal { help: Some(help), ..missing })
            }
            _ => Ok(()),
        }
    }

    /// The last message that was delivered; for an actor, the last one that it sent or received.
    pub(crate) fn last(&self, known_to: Option<&str>) -> Result<Option<MessageEntry>, Refusal> {
        let known_to = known_to.map(|it| self.actor(it)).transpose()?;
        let moment = self.stepper.moment();
        let past = &moment.past;
        let is_known = |from, to| known_to.is_none_or(|me| from == me || to == me);
        let last = past.last.as_ref().filter(|it| is_known(it.from, it.to)).map(|it| {
            let &Last { time, from, to, kind, job, .. } = it;
            let delivered =
                Delivered { number: past.number, time, from, to, kind, job, fault: None };
            job::entry(past.cast(), &delivered, Some(&it.message))
        });
        // Others have spoken since.
        let earlier = || {
            let places = (past.messages.dropped()..past.messages.len()).rev();
            let mut all = places.filter_map(|at| Some((at, past.messages.get(at)?)));
            let found = all.find(|(_, it)| is_known(it.from, it.to) && it.fault.is_none());
            found.map(|(at, it)| job::entry(past.cast(), it, past.contents(at)))
        };
        let last = last.or_else(|| known_to.and_then(|_| earlier()));
        // The number counts the messages of all others.
        Ok(last.map(|it| MessageEntry { number: it.number.filter(|_| known_to.is_none()), ..it }))
    }

    /// First and last time of some charts, of the present and of the horizon.
    pub(crate) fn time(
        &self,
        now: i64,
        is_there: impl Fn(usize) -> bool,
    ) -> Result<(i64, i64), Refusal> {
        let (from, until) = self.scene()?.span_of(is_there).unwrap_or((0, 0));
        let horizon = self.script.scenario.scenario.horizon;
        let horizon = horizon.map_or(0, |it| clamped(it.0.as_micros()));
        Ok((from.min(0), until.max(now).max(horizon).max(1)))
    }

    /// The scenario as a file with all its values.
    pub(crate) fn source(&self) -> Source {
        Source::new(self.origin.path.clone(), self.script.scenario.to_toml())
    }

    pub(crate) fn actor(&self, name: &str) -> Result<ActorId, Refusal> {
        until::actor(&self.stepper.cast, name)
    }

    fn rows(&self, moment: &Moment) -> Rows {
        let at = (moment.now, threshold(&self.script));
        let cut = cut(&self.script.scenario.results);
        Rows::of(&self.done, &moment.past, at, (cut, moment.phase == Phase::Over))
    }

    /// The jobs of which an actor knows more than their descriptions: those that its own machine alone has run.
    fn own_jobs(past: &Past, actor: ActorId) -> HashSet<u32> {
        let over = past.records.iter().filter_map(|record| match record {
            Record::Job(record) => {
                let is_here = record.provider.is_some_and(|it| it.0 == actor.0)
                    && record.bag.is_none()
                    && record.given_up.is_empty()
                    && record.lost.iter().all(|it| it.provider.0 == actor.0);
                is_here.then_some(record.job.id.0)
            }
            Record::Settled(_) | Record::Late { .. } => None,
        });
        over.collect()
    }
}

fn threshold(script: &Script) -> Span {
    script.scenario.results.bounded_slowdown_threshold.0
}

impl View for Simulated {
    fn identity(&self) -> Identity {
        Identity {
            kind: Kind::Simulation,
            name: self.origin.name.clone(),
            path: self.origin.path.clone(),
            base: self.origin.branch.map(|it| it.0),
            branch_at: self.origin.branch.map(|it| it.1),
        }
    }

    fn version(&self) -> u64 {
        self.stepper.moment().version
    }

    fn overview(&self) -> Result<Overview, Refusal> {
        let moment = self.stepper.moment();
        let now = clamped(moment.now.as_micros());
        let (from, until) = self.time(now, |_| true)?;
        let scene = self.scene()?;
        let charts =
            scene.charts.iter().enumerate().map(|(id, it)| ChartEntry::of(id, it)).collect();
        let metric = |(measure, value): (&super::measures::Measure, &Option<f64>)| {
            value.map(|value| MetricEntry {
                name: measure.name.to_owned(),
                title: measure.meaning.to_owned(),
                unit: measure.unit.to_owned(),
                value,
            })
        };
        let counts = [
            ("jobs", moment.past.arrived as usize),
            ("messages", moment.past.messages.len()),
            ("disclosures", moment.past.told.len()),
        ];
        Ok(Overview {
            id: 0,
            kind: Kind::Simulation,
            name: shown(&self.origin.name),
            seen_by: None,
            seed: Some(self.script.scenario.scenario.seed),
            version: moment.version,
            loading: Vec::new(),
            from,
            until,
            now: Some(now),
            charts,
            actors: actors(&self.stepper.cast),
            series: series_of(&scene),
            metrics: MEASURES.iter().zip(&moment.measures).filter_map(metric).collect(),
            tables: counts.map(|(name, rows)| TableEntry { name, rows: Some(rows) }).into(),
            messages: MessagesKept::All,
            kinds: Message::kinds().into_iter().collect(),
            problems: moment.error.iter().map(|it| shown(it)).collect(),
            pictures: Vec::new(),
        })
    }

    fn scene(&self) -> Result<RwLockReadGuard<'_, Scene>, Refusal> {
        // Another thread may replace the scene between both locks by a later one, which serves as well.
        let moment = self.stepper.moment();
        if self.drawn.load(Ordering::Acquire) < moment.version {
            let mut scene = self.scene.write().unwrap_or_else(PoisonError::into_inner);
            if self.drawn.load(Ordering::Acquire) < moment.version {
                *scene = drawn::scene(&moment.past, moment.now);
                self.drawn.store(moment.version, Ordering::Release);
            }
        }
        Ok(self.scene.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn job_table(&self) -> Result<Arc<dyn JobTable>, Refusal> {
        let moment = self.stepper.moment();
        let mut kept = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, rows)) = &*kept
            && *version == moment.version
        {
            return Ok(Arc::clone(rows) as Arc<dyn JobTable>);
        }
        let rows = Arc::new(self.rows(&moment));
        *kept = Some((moment.version, Arc::clone(&rows)));
        Ok(rows)
    }

    fn known_to(&self, actor: &str) -> Result<Arc<Known>, Refusal> {
        let id = self.actor(actor)?;
        let moment = self.stepper.moment();
        let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, of, known)) = &*kept
            && (*version, *of) == (moment.version, id)
        {
            return Ok(Arc::clone(known));
        }
        let past = &moment.past;
        let charts = past.bars.layout.charts.iter().enumerate();
        let own = charts.filter(|(_, chart)| chart.kind != ChartKind::Grid && chart.first == id.0);
        let spoken = past.messages.iter().filter(|it| it.from == id || it.to == id);
        let mut jobs = HashSet::from_iter(spoken.filter_map(|it| Some(it.job?.0)));
        jobs.extend(past.machines.get(&id).iter().flat_map(|it| &it.jobs).map(|work| work.job.0));
        let described = jobs.difference(&Simulated::own_jobs(past, id)).copied().collect();
        let charts = own.map(|(number, _)| number).collect();
        let known = Arc::new(Known { charts, jobs, described });
        *kept = Some((moment.version, id, Arc::clone(&known)));
        Ok(known)
    }

    fn series(&self, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal> {
        let moment = self.stepper.moment();
        series::answer(&moment.past, &*self.scene()?, query, moment.now)
    }

    fn job(&self, number: u32) -> Result<JobAnswer, Refusal> {
        let moment = self.stepper.moment();
        let table = self.job_table()?;
        let scene = self.scene()?;
        job::answer(&moment.past, &scene, &*table, (number, moment.now))
    }

    fn find(&self, text: &str, known: Option<&Known>) -> Result<Vec<Match>, Refusal> {
        let moment = self.stepper.moment();
        let scene = self.scene()?;
        Ok(found(&moment.past, &scene, text, known))
    }

    fn messages(&self, query: &MessagesQuery) -> Result<MessagesAnswer, Refusal> {
        let moment = self.stepper.moment();
        let past = &moment.past;
        let cast = past.cast();
        let actor = query.actor.as_deref().map(|it| self.actor(it)).transpose()?;
        let known_to = query.known_to.as_deref().map(|it| self.actor(it)).transpose()?;
        let first = query.from.map_or(0, |from| {
            past.messages.partition_point(|it| clamped(it.time.as_micros()) < from)
        });
        let from = first.max(past.messages.dropped());
        let here = (from..).zip(past.messages.from(first));
        let here =
            here.take_while(|(_, it)| query.to.is_none_or(|to| clamped(it.time.as_micros()) < to));
        let involves = |it: &super::past::Delivered, actor: Option<ActorId>| {
            actor.is_none_or(|actor| it.from == actor || it.to == actor)
        };
        let matching = here.filter(|(_, it)| {
            query.job.is_none_or(|job| it.job.is_some_and(|it| it.0 == job))
                && involves(it, actor)
                && involves(it, known_to)
        });
        let mut answer = MessagesAnswer::default();
        for (at, it) in matching {
            let place = answer.total;
            answer.total += 1;
            if place < query.first || place - query.first >= query.count.min(MESSAGES_MAX) {
                continue;
            }
            answer.rows.push(job::entry(cast, it, past.contents(at)));
        }
        let dropped = past.messages.dropped();
        answer.note =
            (dropped > 0).then(|| format!("the first {dropped} messages are no longer kept"));
        Ok(answer)
    }

    fn told(&self, actor: &str, until: Option<i64>) -> Result<Vec<Told>, Refusal> {
        let id = self.actor(actor)?;
        Ok(told(&self.stepper.moment().past, id, until))
    }

    fn picture(&self, _query: &PictureQuery) -> Result<Picture, Refusal> {
        Err(Refusal::conflict(
            "pictures are drawn from the tables of a run",
            "run the scenario with `haggle run`, and view its results",
        ))
    }

    fn simulation(&self) -> Option<&Simulated> {
        Some(self)
    }

    fn panel(&self, actor: &str) -> Result<Value, Refusal> {
        panel(self, actor)
    }
}

/// Items that were told to an actor.
pub(crate) fn told(past: &Past, actor: ActorId, until: Option<i64>) -> Vec<Told> {
    let cast = past.cast();
    // With each sum, the place of the last message.
    let mut sums: BTreeMap<(ActorId, &'static str), (Told, usize)> = BTreeMap::new();
    let here = past.told.iter().filter(|it| it.to == actor);
    for it in here {
        let time = clamped(it.time.as_micros());
        if until.is_some_and(|until| time > until) {
            break;
        }
        let (sum, last) = sums.entry((it.from, it.item.name())).or_insert_with(|| {
            let (sender, item) = (shown(name(cast, it.from)), it.item.name().to_owned());
            (Told { sender, item, count: 0, first: time, last: time, values: None }, 0)
        });
        sum.count += i64::from(it.count);
        sum.last = time;
        *last = it.message;
    }
    let with_values = |(sum, last): (Told, usize)| Told {
        values: past.contents(last).map(|it| contents(it, cast)),
        ..sum
    };
    sums.into_values().map(with_values).collect()
}

fn actors(cast: &Cast) -> Vec<ActorEntry> {
    let entry = |(id, it): (usize, &haggle_model::ActorInfo)| ActorEntry {
        id,
        name: shown(&it.name),
        kind: kind_name(it.kind),
    };
    cast.actors.iter().enumerate().map(entry).collect()
}

pub(crate) fn kind_name(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::Provider => "provider",
        ActorKind::Metascheduler => "metascheduler",
        ActorKind::User => "user",
        _ => "actor",
    }
}

fn series_of(scene: &Scene) -> Vec<SeriesEntry> {
    let of = |chart: Option<usize>, name: Option<&str>| {
        let place = chart.map_or_else(|| "all".to_owned(), |it| it.to_string());
        let behind = name.map_or_else(String::new, |it| format!(", {}", shown(it)));
        [("queue", "waiting jobs", "jobs"), ("busy", "busy processors", "processors")].map(
            |(id, title, unit)| SeriesEntry {
                id: format!("{id}:{place}"),
                title: format!("{title}{behind}"),
                unit,
                chart,
            },
        )
    };
    let each = scene.charts.iter().enumerate().flat_map(|(id, it)| of(Some(id), Some(&it.name)));
    of(None, None).into_iter().chain(each).collect()
}

/// Jobs, charts, actors and bands with a text in their names.
fn found(past: &Past, scene: &Scene, text: &str, known: Option<&Known>) -> Vec<Match> {
    let knows = |job: u32| known.is_none_or(|it| it.jobs.contains(&job));
    let is_own = |chart: usize| known.is_none_or(|it| it.charts.contains(&chart));
    let wanted = text.trim().to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let has = |name: &str| name.to_lowercase().contains(&wanted);
    let plain =
        |kind, id, label: &str| Match { kind, id, label: shown(label), chart: None, row: None };
    let number = wanted
        .parse::<u32>()
        .ok()
        .filter(|it| knows(*it))
        .and_then(|it| past.jobs.get(it as usize)?.as_ref());
    let label = |known: &super::past::Known| {
        let workload = past.cast().workloads.get(usize::from(known.job.workload));
        format!("{}!{}", workload.map_or("", String::as_str), known.job.number)
    };
    let by_number = number.map(|known| plain("job", known.job.id.0 as usize, &label(known)));
    let charts = scene.charts.iter().enumerate().filter(|(_, it)| has(&it.name));
    let charts = charts.map(|(id, it)| plain("chart", id, &it.name));
    let actors = past.cast().actors.iter().enumerate().filter(|(_, it)| has(&it.name));
    let actors = actors.map(|(id, it)| plain("actor", id, &it.name));
    let grids = scene
        .charts
        .iter()
        .enumerate()
        .filter(|(chart, it)| it.kind == ChartKind::Grid && is_own(*chart));
    let bands =
        grids.flat_map(|(chart, it)| it.bands.iter().enumerate().map(move |band| (chart, band)));
    let bands = bands.filter(|(_, (_, band))| has(&band.name)).map(|(chart, (id, band))| Match {
        chart: Some(chart),
        row: Some(band.first_row),
        ..plain("band", id, &band.name)
    });
    let is_label = wanted.contains('!');
    let labelled = past
        .jobs
        .iter()
        .flatten()
        .filter(|known| is_label && knows(known.job.id.0) && has(&label(known)));
    let labelled = labelled.map(|known| plain("job", known.job.id.0 as usize, &label(known)));
    by_number
        .into_iter()
        .chain(charts)
        .chain(actors)
        .chain(bands)
        .chain(labelled)
        .take(FOUND_MAX + 1)
        .collect()
}
