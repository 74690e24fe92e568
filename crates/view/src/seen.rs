//! A view as one of its actors sees it: its own charts, the jobs that it knows, its messages, and what it was told.
//!
//! All routes answer from this view when a request names an actor. Hidden facts are refused or missing, and never in an
//! answer.

mod table;

use std::sync::{Arc, RwLockReadGuard};

use serde_json::Value;

use crate::jobs::JobTable;
use crate::legend::{self, Legend};
use crate::scene::{AreaSum, Band, Scene, Tile, TileQuery};
use crate::shown::shown;
use crate::simulation::Simulated;
use crate::view::{
    ChartEntry, Identity, JobAnswer, JobAttempt, JobValue, Known, ListedAnswer, Match,
    MessagesAnswer, MessagesQuery, Overview, Picture, PictureQuery, SeriesAnswer, SeriesQuery,
    Story, StoryLine, Told, area_sum,
};
use crate::{Refusal, View};
use table::{KnownTable, is_description};

/// Most messages in a story.
const MESSAGES_MAX: usize = 2_000;

/// A view as an actor sees it.
pub struct Seen {
    view: Arc<dyn View>,
    actor: String,
    known: Arc<Known>,
}

impl Seen {
    /// A view as an actor sees it now.
    ///
    /// # Errors
    /// If the actor is unknown, or the view cannot tell what it knows.
    pub fn by(view: Arc<dyn View>, actor: String) -> Result<Seen, Refusal> {
        let known = view.known_to(&actor)?;
        Ok(Seen { view, actor, known })
    }

    fn hidden(&self, what: &str) -> Refusal {
        Refusal {
            help: Some("view as everyone to see the whole run".to_owned()),
            ..Refusal::missing(format!("{} does not know {what}", self.actor))
        }
    }

    fn is_own(&self, chart: usize) -> bool {
        self.known.charts.contains(&chart)
    }

    fn is_me(&self, actor: &str) -> bool {
        shown(actor) == shown(&self.actor)
    }

    /// The chart without anything that only its owner knows.
    fn entry(&self, entry: ChartEntry) -> ChartEntry {
        if self.is_own(entry.id) {
            return entry;
        }
        ChartEntry {
            hidden: true,
            rows: 1,
            first_number: 0,
            bands: 0,
            scheduler: String::new(),
            speed: None,
            utilisation: None,
            jobs: None,
            ..entry
        }
    }

    /// The messages and own attempts of a job in order of time.
    fn story(&self, job: u32, title: String, attempts: &[JobAttempt]) -> Result<Story, Refusal> {
        let query =
            MessagesQuery { job: Some(job), count: MESSAGES_MAX, ..MessagesQuery::default() };
        let messages = self.messages(&query)?.rows;
        let mut lines = Vec::from_iter(messages.iter().map(StoryLine::of_message));
        lines.extend(attempts.iter().flat_map(StoryLine::of_attempt));
        // Stable: messages of one instant keep their order.
        lines.sort_by_key(|line| line.time);
        Ok(Story { title, lines })
    }
}

impl View for Seen {
    fn identity(&self) -> Identity {
        self.view.identity()
    }

    fn version(&self) -> u64 {
        self.view.version()
    }

    fn seen_by(&self) -> Option<&str> {
        Some(&self.actor)
    }

    fn overview(&self) -> Result<Overview, Refusal> {
        let mut overview = self.view.overview()?;
        overview.seen_by = Some(shown(&self.actor));
        overview.charts = overview.charts.into_iter().map(|it| self.entry(it)).collect();
        overview.series.retain(|it| it.chart.is_some_and(|chart| self.is_own(chart)));
        // A run is over, and so is its time. The plans of others in a simulation are their own.
        if let Some(simulation) = self.view.simulation() {
            let now = overview.now.unwrap_or(0);
            (overview.from, overview.until) = simulation.time(now, |chart| self.is_own(chart))?;
        }
        // Numbers of rows are sums over all actors, and so are metrics, problems and pictures.
        overview.tables.iter_mut().for_each(|it| it.rows = None);
        overview.metrics.clear();
        overview.problems.clear();
        overview.pictures.clear();
        Ok(overview)
    }

    fn scene(&self) -> Result<RwLockReadGuard<'_, Scene>, Refusal> {
        Err(self.hidden("all charts"))
    }

    fn legend(&self) -> Result<Legend, Refusal> {
        legend::legend(&*self.view, Some(&self.known))
    }

    fn job_table(&self) -> Result<Arc<dyn JobTable>, Refusal> {
        Ok(Arc::new(KnownTable::new(self.view.job_table()?, &self.actor, &self.known)?))
    }

    fn known_to(&self, actor: &str) -> Result<Arc<Known>, Refusal> {
        match self.is_me(actor) {
            true => Ok(Arc::clone(&self.known)),
            false => Err(self.hidden(&format!("the knowledge of {actor}"))),
        }
    }

    fn series(&self, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal> {
        let is_own = |id: &&String| {
            let chart = id.split_once(':').and_then(|it| it.1.parse().ok());
            chart.is_some_and(|chart| self.is_own(chart))
        };
        match query.ids.iter().find(|id| !is_own(id)) {
            Some(id) => Err(self.hidden(&format!("the series `{id}`"))),
            None => self.view.series(query),
        }
    }

    fn job(&self, job: u32) -> Result<JobAnswer, Refusal> {
        // A job that is not there is no different from one that is unknown.
        if !self.known.jobs.contains(&job) {
            return Err(self.hidden(&format!("job {job}")));
        }
        let mut answer = self.view.job(job)?;
        if self.known.described.contains(&job) {
            let hidden = |it: &&mut JobValue| !is_description(it.name);
            answer.values.iter_mut().filter(hidden).for_each(|it| {
                it.value = Value::Null;
                it.hidden = true;
            });
        }
        answer.attempts.retain(|it| self.is_me(&it.provider));
        let own = Vec::from_iter(answer.attempts.iter().map(|it| it.attempt));
        answer.promises.retain(|it| it.attempt.is_some_and(|it| own.contains(&it)));
        answer.bars.retain(|it| self.is_own(it.chart));
        let known = |job: &u32| self.known.jobs.contains(job);
        answer.previous_of_user = answer.previous_of_user.filter(known);
        answer.next_of_user = answer.next_of_user.filter(known);
        answer.story = self.story(job, answer.story.title, &answer.attempts)?;
        Ok(answer)
    }

    fn find(&self, text: &str, _known: Option<&Known>) -> Result<Vec<Match>, Refusal> {
        self.view.find(text, Some(&self.known))
    }

    fn messages(&self, query: &MessagesQuery) -> Result<MessagesAnswer, Refusal> {
        let query = MessagesQuery { known_to: Some(self.actor.clone()), ..query.clone() };
        let mut answer = self.view.messages(&query)?;
        // Numbers count the messages of all others.
        answer.rows.iter_mut().for_each(|it| it.number = None);
        if self.view.simulation().is_some() {
            answer.note = answer.note.map(|_| "the first messages are no longer kept".to_owned());
        }
        Ok(answer)
    }

    fn told(&self, actor: &str, until: Option<i64>) -> Result<Vec<Told>, Refusal> {
        match self.is_me(actor) {
            true => self.view.told(actor, until),
            false => Err(self.hidden(&format!("what {actor} was told"))),
        }
    }

    fn picture(&self, _query: &PictureQuery) -> Result<Picture, Refusal> {
        Err(self.hidden("the tables from which pictures are drawn"))
    }

    fn bands(&self, chart: usize, first: usize, count: usize) -> Result<Vec<Band>, Refusal> {
        match self.is_own(chart) {
            true => self.view.bands(chart, first, count),
            false => Ok(Vec::new()),
        }
    }

    fn simulation(&self) -> Option<&Simulated> {
        self.view.simulation()
    }

    fn panel(&self, actor: &str) -> Result<Value, Refusal> {
        match self.is_me(actor) {
            true => self.view.panel(actor),
            false => Err(self.hidden(&format!("what {actor} knows"))),
        }
    }

    fn tile(&self, chart: usize, query: &TileQuery<'_>) -> Result<Tile, Refusal> {
        match self.is_own(chart) {
            true => self.view.tile(chart, query),
            false => Ok(Tile::blank(query)),
        }
    }

    fn listed(
        &self,
        chart: usize,
        window: (i64, i64),
        rows: (u32, u32),
        page: (usize, usize),
    ) -> Result<ListedAnswer, Refusal> {
        match self.is_own(chart) {
            true => self.view.listed(chart, window, rows, page),
            false => Ok(ListedAnswer::default()),
        }
    }

    fn at(&self, chart: usize, time: i64, row: u32) -> Result<Option<u32>, Refusal> {
        match self.is_own(chart) {
            true => self.view.at(chart, time, row),
            false => Ok(None),
        }
    }

    fn sum(&self, chart: usize, window: (i64, i64), rows: (u32, u32)) -> Result<AreaSum, Refusal> {
        if !self.is_own(chart) {
            return Err(self.hidden(&format!("chart {chart}")));
        }
        area_sum(&*self.view.scene()?, self.job_table(), chart, window, rows)
    }
}
