//! Looks of bars: classes of their jobs, colours of their workloads, attempts that were lost; and
//! ticks of promises.

use std::collections::{BTreeMap, HashMap};
use std::sync::PoisonError;

use haggle_results::reader::{CellValue, Rows};
use haggle_results::{ResultsError, RunReader, Table};

use super::Data;
use super::load::{MISSING, Skipped, number_of};
use super::places::Places;
use crate::clock::{drawn, micros};
use crate::promise::Promise;
use crate::scene::{ChartKind, Class, Tick, TickKind, flag};

/// Look of a job: class and colour.
#[derive(Clone, Copy, Default)]
struct Look {
    /// `None` = the table has no such job.
    class: Option<Class>,
    colour: u8,
}

/// Reads what the looks need, and changes the bars.
pub(super) fn read(data: &Data, run: &RunReader, _places: &Places) {
    let mut jobs = Jobs::default();
    let classes = jobs.classes(run);
    let has_jobs = classes.is_ok();
    for error in
        [classes, jobs.reservations(run), jobs.losses(run)].into_iter().filter_map(Result::err)
    {
        data.problem(&error.to_string());
    }
    jobs.tell(data);
    if data.has_stopped() {
        return;
    }
    let mut strange = [0; 2];
    let mut scene = data.scene.write().unwrap_or_else(PoisonError::into_inner);
    for chart in &mut scene.charts {
        let is_grid = chart.kind == ChartKind::Grid;
        chart.change_looks(|bar| {
            let look = jobs.looks.get(bar.job as usize).copied().unwrap_or_default();
            bar.colour = look.colour;
            if has_jobs && look.class.is_none() {
                strange[usize::from(is_grid)] += 1;
            }
            let class = match look.class {
                _ if is_grid => Class::GridTask,
                class => class.unwrap_or(Class::Local),
            };
            let flags = match jobs.losses.get(&(bar.job, bar.attempt)) {
                // The other tasks of a bag may have continued.
                Some(&(flags, end)) if is_grid || end.is_none_or(|end| end == bar.end) => flags,
                _ => 0,
            };
            bar.look = class as u8 | flags;
        });
        let ticks = ticks(chart, &jobs.promises);
        chart.set_ticks(ticks);
    }
    drop(scene);
    for (table, count) in ["placements", "attempts"].into_iter().zip(strange).filter(|it| it.1 > 0)
    {
        data.problem(&format!("`{table}`: {count} rows have a job that is not in `jobs`"));
    }
}

/// Ticks at the last bars of jobs with a promise.
fn ticks(chart: &crate::scene::Chart, promises: &HashMap<u32, (i64, TickKind)>) -> Vec<Tick> {
    if promises.is_empty() {
        return Vec::new();
    }
    let mut last: HashMap<u32, (i64, u32, u32)> = HashMap::new();
    for bar in chart.bars().filter(|bar| promises.contains_key(&bar.job)) {
        let place = last.entry(bar.job).or_insert((bar.start, bar.row, bar.rows));
        if (bar.start, bar.row) > (place.0, place.1) {
            *place = (bar.start, bar.row, bar.rows);
        }
    }
    let tick = |(&job, &(_, row, rows)): (&u32, &(i64, u32, u32))| {
        let (time, kind) = *promises.get(&job)?;
        Some(Tick { time, row, rows, job, kind })
    };
    // The chart sorts them.
    last.iter().filter_map(tick).collect()
}

/// Columns that the looks need.
#[derive(Default)]
struct Jobs {
    looks: Vec<Look>,
    promises: HashMap<u32, (i64, TickKind)>,
    /// Flags of attempts that did not complete, and their ends.
    losses: HashMap<(u32, u16), (u8, Option<i64>)>,
    /// Rows of `jobs` without a number that can be one, and those with the number of another row.
    unnumbered: usize,
    repeated: usize,
    /// Promises and losses that cannot be drawn.
    odd_promises: usize,
    odd_losses: Skipped,
}

impl Jobs {
    fn tell(&self, data: &Data) {
        let of_jobs = [
            (self.unnumbered, "have no number, or a number that no job can have"),
            (self.repeated, "have the number of another row"),
            (self.odd_promises, "have a promise that is out of range"),
        ];
        for (count, text) in of_jobs.into_iter().filter(|it| it.0 > 0) {
            data.problem(&format!("`jobs`: {count} rows {text}"));
        }
        self.odd_losses.tell("attempts", data);
    }

    fn classes(&mut self, run: &RunReader) -> Result<(), ResultsError> {
        const COLUMNS: [&str; 9] = [
            "job",
            "workload_name",
            "class",
            "shape",
            "providers_used",
            "promised_finish_time",
            "finish_time",
            "left_time",
            "outcome",
        ];
        let mut colours: BTreeMap<String, u8> = BTreeMap::new();
        let about = run.about().ok();
        for (number, workload) in about.iter().flat_map(|it| &it.workloads).enumerate() {
            colours.insert(workload.name.clone(), (number % 8) as u8);
        }
        run.in_batches(Table::Jobs, &COLUMNS, &Rows::all(), |batch| {
            let (workloads, shapes, classes) =
                (batch.text("workload_name")?, batch.text("shape")?, batch.text("class")?);
            let colour_of = |name: &String| colours.get(name).copied().unwrap_or(0);
            let colour = Vec::from_iter(workloads.texts.iter().map(colour_of));
            let is_bag = Vec::from_iter(shapes.texts.iter().map(|it| it == "bag"));
            let is_external = Vec::from_iter(classes.texts.iter().map(|it| it == "external"));
            let has = |all: &[bool], code: Option<u32>| {
                code.and_then(|it| all.get(it as usize).copied()).unwrap_or(false)
            };
            let outcomes = batch.text("outcome")?;
            let (numbers, used) = (batch.integer("job")?, batch.integer("providers_used")?);
            for row in 0..batch.rows() {
                let Some(job) = number_of(numbers[row]) else {
                    self.unnumbered += 1;
                    continue;
                };
                let place = job as usize;
                let class = match used[row] {
                    _ if has(&is_bag, shapes.codes[row]) => Class::BagShare,
                    Some(used) if used > 1 => Class::Part,
                    _ if has(&is_external, classes.codes[row]) => Class::External,
                    _ => Class::Local,
                };
                let code = workloads.codes[row].map_or(usize::MAX, |it| it as usize);
                let colour = colour.get(code).copied().unwrap_or(0);
                if self.looks.len() <= place {
                    self.looks.resize(place + 1, Look::default());
                }
                self.repeated += usize::from(self.looks[place].class.is_some());
                self.looks[place] = Look { class: Some(class), colour };
                let real = |name| match batch.cell(row, name) {
                    CellValue::Real(value) => Some(value),
                    _ => None,
                };
                let Some(promised) = real("promised_finish_time") else { continue };
                let Some(promised) = drawn(promised) else {
                    self.odd_promises += 1;
                    continue;
                };
                let outcome = outcomes.at(row).and_then(Promise::outcome);
                let end = real("finish_time").or_else(|| real("left_time")).and_then(micros);
                if let Some(kind) = Promise::of(outcome, promised, end).tick() {
                    self.promises.insert(job, (promised, kind));
                }
            }
            Ok(())
        })
    }

    fn reservations(&mut self, run: &RunReader) -> Result<(), ResultsError> {
        if !run.has(Table::Reservations) {
            return Ok(());
        }
        let rows = run.columns(Table::Reservations, &["job"])?;
        for job in rows.integer("job")?.iter().flatten() {
            let job = usize::try_from(*job).ok();
            if let Some(look) = job.and_then(|it| self.looks.get_mut(it)) {
                look.class = Some(Class::Reservation);
            }
        }
        Ok(())
    }

    fn losses(&mut self, run: &RunReader) -> Result<(), ResultsError> {
        const COLUMNS: [&str; 4] = ["job", "attempt", "finish_time", "outcome"];
        let words =
            ["failed", "preempted", "given_up", "unfinished", "stranded"].map(str::to_owned);
        let lost = Rows::all().with("outcome", words);
        run.in_batches(Table::Attempts, &COLUMNS, &lost, |batch| {
            let (jobs, attempts) = (batch.integer("job")?, batch.integer("attempt")?);
            let (ends, outcomes) = (batch.real("finish_time")?, batch.text("outcome")?);
            for row in 0..batch.rows() {
                let flags = match outcomes.at(row) {
                    Some("failed" | "preempted" | "stranded") => flag::LOST,
                    Some("given_up") => flag::GIVEN_UP,
                    _ => flag::RUNNING,
                };
                let attempt = attempts[row].filter(|it| *it > 0);
                let attempt = attempt.map(|it| u16::try_from(it).unwrap_or(u16::MAX));
                match number_of(jobs[row]).zip(attempt) {
                    Some(key) => {
                        self.losses.insert(key, (flags, ends[row].and_then(micros)));
                    }
                    None => self.odd_losses.add(MISSING),
                }
            }
            Ok(())
        })
    }
}
