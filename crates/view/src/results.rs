//! A view of the results of a run: a folder, or a run in a pack, with tables in Parquet or CSV.
//!
//! Tables are read on a thread of the view, single columns in batches: first the charts, then what
//! needs the jobs. A missing or damaged table is a problem in the overview; the other parts stay.
//!
//! ```text
//! places ──> charts: bars, marks ──> looks: classes, lost attempts, promises
//! jobs, series, messages: read when they are asked for
//! ```

mod check;
mod facts;
mod find;
mod job;
mod jobs;
mod known;
mod load;
mod looks;
mod marks;
mod open;
mod picture;
mod places;
mod said;
mod series;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{self, JoinHandle};

use haggle_experiment::compare::RunTimes;
use haggle_results::{ResultsError, RunReader, Table};

use crate::jobs::JobTable;
use crate::scene::Scene;
use crate::shown::shown;
use crate::view::{
    ChartEntry, Identity, JobAnswer, Known, Match, MessagesAnswer, MessagesQuery, Overview,
    Picture, PictureQuery, SeriesAnswer, SeriesQuery, Told,
};
use crate::{Kind, Refusal, View};

pub use open::{VIEWS_MAX, runs_of};

/// A run that is viewed.
pub struct RunView {
    data: Arc<Data>,
    start: Once,
    reading: Mutex<Option<JoinHandle<()>>>,
}

/// Data of a run, shared with the thread that reads them.
struct Data {
    path: PathBuf,
    name: String,
    run: OnceLock<Result<RunReader, String>>,
    facts: OnceLock<facts::Facts>,
    places: OnceLock<places::Places>,
    scene: RwLock<Scene>,
    version: AtomicU64,
    /// Number of changes of the places of bars.
    bars: AtomicU64,
    state: Mutex<State>,
    stop: AtomicBool,
    jobs: jobs::Cache,
    series: series::Cache,
    known: Mutex<Vec<Kept<Known>>>,
}

/// Data in memory, with their name and the version from which they were made.
type Kept<T> = ((String, u64), Arc<T>);

/// State of the reading.
#[derive(Default)]
struct State {
    loading: Vec<&'static str>,
    problems: Vec<String>,
}

/// Most problems that are listed.
const PROBLEMS_MAX: usize = 100;

impl RunView {
    /// A view of a run. Nothing is read until the first request.
    pub fn new(path: &Path, name: String) -> RunView {
        let state = State { loading: load::PARTS.to_vec(), ..State::default() };
        let data = Data {
            path: path.to_owned(),
            name,
            run: OnceLock::new(),
            facts: OnceLock::new(),
            places: OnceLock::new(),
            scene: RwLock::default(),
            version: AtomicU64::new(1),
            bars: AtomicU64::new(0),
            state: Mutex::new(state),
            stop: AtomicBool::new(false),
            jobs: jobs::Cache::default(),
            series: series::Cache::default(),
            known: Mutex::default(),
        };
        RunView { data: Arc::new(data), start: Once::new(), reading: Mutex::new(None) }
    }

    /// Starts to read the tables, once.
    pub fn start(&self) {
        self.start.call_once(|| {
            // The places are few rows, and the first overview needs them.
            load::begin(&self.data);
            let data = Arc::clone(&self.data);
            let reading = thread::Builder::new().name("tables".to_owned()).spawn(move || {
                let done = Done(Arc::clone(&data));
                load::everything(&data);
                drop(done);
            });
            match reading {
                Ok(reading) => *lock(&self.reading) = Some(reading),
                Err(error) => {
                    self.data.problem(&format!("no thread can be started: {error}"));
                    lock(&self.data.state).loading.clear();
                }
            }
        });
    }

    /// True if all tables that are read without a request have been read.
    pub fn is_read(&self) -> bool {
        lock(&self.started().state).loading.is_empty()
    }

    /// Problems with the files of the run, as far as they have been read. Warnings of the run itself are none.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.data.state).problems.clone()
    }

    fn started(&self) -> &Arc<Data> {
        self.start();
        &self.data
    }
}

/// The end of the reading, also by a panic: the page must not wait for parts that never come.
struct Done(Arc<Data>);

impl Drop for Done {
    fn drop(&mut self) {
        lock(&self.0.state).loading.clear();
        self.0.changed();
    }
}

impl Drop for RunView {
    fn drop(&mut self) {
        self.data.stop.store(true, Ordering::Relaxed);
        if let Some(reading) = lock(&self.reading).take() {
            // A panic there has printed its message.
            let _ = reading.join();
        }
    }
}

/// A lock. Data behind it are whole after a panic, too, because they are replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Data {
    fn run(&self) -> Result<&RunReader, Refusal> {
        let run = self
            .run
            .get_or_init(|| RunReader::open(&self.path).map_err(|error| shown(&error.to_string())));
        run.as_ref().map_err(|error| Refusal::conflict(error.clone(), "name another folder"))
    }

    fn problem(&self, text: &str) {
        let mut state = lock(&self.state);
        let text = shown(text);
        // Several parts may read a damaged table.
        if state.problems.len() < PROBLEMS_MAX && !state.problems.contains(&text) {
            state.problems.push(text);
        }
        drop(state);
        self.changed();
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    fn has_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// True if the run had a table when it was opened. Reading a table that has been deleted since is an error.
    fn had(&self, table: Table) -> bool {
        let tables = self.facts.get().map_or(&[][..], |it| &it.tables);
        tables.iter().any(|it| it.name == table.name())
    }

    /// Refusal because of a table.
    fn refusal(error: &ResultsError) -> Refusal {
        Refusal::conflict(error.to_string(), "run the scenario again, or view another run")
    }

    fn loaded(&self, part: &str) {
        lock(&self.state).loading.retain(|it| *it != part);
        self.changed();
    }
}

impl View for RunView {
    fn identity(&self) -> Identity {
        Identity {
            kind: Kind::Run,
            name: self.data.name.clone(),
            path: self.data.path.clone(),
            base: None,
            branch_at: None,
        }
    }

    fn version(&self) -> u64 {
        self.data.version.load(Ordering::Acquire)
    }

    fn overview(&self) -> Result<Overview, Refusal> {
        let data = self.started();
        // Before the data, so that a later change has a later number.
        let version = self.version();
        let facts = data.facts.get_or_init(facts::Facts::default);
        let state = lock(&data.state);
        let (loading, mut problems) = (state.loading.clone(), state.problems.clone());
        drop(state);
        problems.extend(facts.warnings.iter().map(|it| shown(it)));
        let scene = self.scene()?;
        let (from, until) = facts.time(scene.span());
        Ok(Overview {
            id: 0,
            kind: Kind::Run,
            name: shown(&data.name),
            seen_by: None,
            seed: facts.seed,
            version,
            loading,
            from,
            until,
            now: None,
            charts: scene
                .charts
                .iter()
                .enumerate()
                .map(|(id, it)| ChartEntry::of(id, it))
                .collect(),
            actors: facts.actors.clone(),
            series: facts.series(&scene.charts),
            metrics: facts.metrics.clone(),
            tables: facts.tables.clone(),
            messages: facts.messages,
            kinds: Vec::new(),
            problems,
            pictures: facts.pictures.clone(),
        })
    }

    fn scene(&self) -> Result<RwLockReadGuard<'_, Scene>, Refusal> {
        Ok(self.started().scene.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn job_table(&self) -> Result<Arc<dyn JobTable>, Refusal> {
        Ok(Arc::new(jobs::Table::open(Arc::clone(self.started()))?))
    }

    fn known_to(&self, actor: &str) -> Result<Arc<Known>, Refusal> {
        known::known_to(self.started(), actor)
    }

    fn run_times(&self) -> Result<RunTimes, Refusal> {
        // Without a needed table, all run times are unknown.
        Ok(RunTimes::of(self.started().run()?).unwrap_or_default())
    }

    fn series(&self, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal> {
        series::answer(self.started(), query)
    }

    fn job(&self, job: u32) -> Result<JobAnswer, Refusal> {
        job::answer(self.started(), job)
    }

    fn find(&self, text: &str, known: Option<&Known>) -> Result<Vec<Match>, Refusal> {
        Ok(find::find(self.started(), text, known))
    }

    fn messages(&self, query: &MessagesQuery) -> Result<MessagesAnswer, Refusal> {
        said::messages(self.started(), query)
    }

    fn told(&self, actor: &str, until: Option<i64>) -> Result<Vec<Told>, Refusal> {
        said::told(self.started(), actor, until)
    }

    fn picture(&self, query: &PictureQuery) -> Result<Picture, Refusal> {
        picture::draw(self.started(), query)
    }
}
