//! Whole runs on grids of clusters (sections 7.2.3 and 7.2.4).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use haggle_agents::planning::PlansConfig;
use haggle_agents::{AnyActor, Seats, User, UserConfig};
use haggle_model::phased::{IntervalRecord, Move};
use haggle_model::{ActorId, Job, JobClass, Observation, Phased, Span, Time};
use haggle_planning::Method;
use haggle_planning::synthetic::{ApplicationKind, SyntheticGrid};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};

use super::{Compute, Effort, MIGRATION, THRESHOLD, each, methods};
use crate::data::Data;

/// Course of an application on a grid.
#[derive(Default)]
struct Course {
    end: Time,
    intervals: f64,
    within: f64,
    between: f64,
}

impl Sink for Course {
    fn observed(
        &mut self,
        now: Time,
        _: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        if let Observation::IntervalOver(record) = observation {
            let IntervalRecord { how, .. } = **record;
            // Observations are in order of time, so the last end is that of the application.
            self.end = now;
            self.intervals += 1.0;
            self.within += f64::from(u8::from(how == Move::Within));
            self.between += f64::from(u8::from(how == Move::Between));
        }
        Ok(())
    }
}

/// A whole run: an application that arrives at a grid at time zero.
fn course(
    grid: &SyntheticGrid,
    phased: &Arc<Phased>,
    method: Option<Method>,
) -> Result<Course, String> {
    let plans = PlansConfig::on(grid, MIGRATION, method, THRESHOLD);
    let seats = Seats::alone(plans.clusters.len() as u32);
    let built = plans.actors(seats).map_err(|error| error.to_string())?;
    let mut actors = built.places;
    actors.extend(built.services);
    let me = ActorId(actors.len() as u32);
    actors.push(AnyActor::User(Box::new(User::new(UserConfig::new(
        me,
        built.rescheduler,
        JobClass::External,
    )))));
    let job = Job::new(0, Time::ZERO, 1, Span::ZERO);
    let job = Job { phases: Some(Arc::clone(phased)), ..job };
    let world = World {
        actors,
        arrivals: vec![(me, Box::new(std::iter::once(Ok(job))))],
        initial: built.initial,
        ..World::default()
    };
    let mut course = Course::default();
    run(world, Driver::Sequential, &mut course, &AtomicBool::new(false))
        .map_err(|error| error.to_string())?;
    Ok(course)
}

fn push_course(data: &mut Data, at: &[&str], seed: u64, grid: &SyntheticGrid, course: &Course) {
    let moves = course.within + course.between;
    let mut values = vec![
        ("time", (course.end - Time::ZERO).as_secs_f64()),
        ("intervals", course.intervals),
        ("within", course.within),
        ("between", course.between),
        ("ratio", grid.heterogeneity()),
    ];
    // An application that never moves has no such share.
    values.extend((moves > 0.0).then(|| ("between_percent", 100.0 * course.between / moves)));
    data.push(at, seed, &values);
}

fn md() -> Arc<Phased> {
    Arc::new(Phased::Modelled { phases: ApplicationKind::Md.draw(1), size: 1.0, merged: 1 })
}

/// Runs of MD on grids, with one method.
fn runs(grids: &[u64], method: Option<Method>) -> Result<Vec<(SyntheticGrid, Course)>, String> {
    let phased = md();
    each(grids, |number| {
        let grid = SyntheticGrid::draw(number);
        course(&grid, &phased, method).map(|course| (grid, course))
    })
}

/// Runs of MD on 250 grids of 5 to 12 clusters, with three methods and without rescheduling.
pub(in crate::study) struct PlanRuns;

impl Compute for PlanRuns {
    fn name(&self) -> &'static str {
        "plan-runs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["method"]);
        let grids = Vec::from_iter(0..u64::from(effort.replications(GRIDS, &mut data)));
        let methods = methods().map(|(name, method)| (name, Some(method)));
        for (name, method) in methods.into_iter().chain([("none", None)]) {
            for (grid, course) in &runs(&grids, method)? {
                push_course(&mut data, &[name], grid.number(), grid, course);
            }
        }
        Ok(data)
    }
}

/// Number of grids (section 7.2.3).
pub(super) const GRIDS: u32 = 250;
/// Minimum number of grids in a group (section 7.2.4).
const FEWEST: usize = 5;

/// The same runs, grouped by the heterogeneity of a grid's clusters.
pub(in crate::study) struct PlanGroups;

impl Compute for PlanGroups {
    fn name(&self) -> &'static str {
        "plan-groups"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["group", "method"]);
        let all = Vec::from_iter(0..u64::from(effort.replications(GRIDS, &mut data)));
        let mut groups: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &number in &all {
            groups.entry(group(&SyntheticGrid::draw(number))).or_default().push(number);
        }
        // The few grids of a quick reproduction would leave no group of that size.
        let fewest = if effort == Effort::Full { FEWEST } else { 1 };
        for (first, grids) in groups.into_iter().filter(|(_, grids)| grids.len() >= fewest) {
            let text = format!("{first}-{}", first + WIDTH);
            for (name, method) in methods() {
                for (grid, course) in &runs(&grids, Some(method))? {
                    push_course(&mut data, &[&text, name], grid.number(), grid, course);
                }
            }
        }
        Ok(data)
    }
}

/// Width of a group; the paper does not give it.
const WIDTH: u32 = 4;

/// Start of a grid's group by heterogeneity, the largest over the smallest capacity of a cluster: 1, 5, 9, ….
fn group(grid: &SyntheticGrid) -> u32 {
    1 + WIDTH * ((grid.heterogeneity() - 1.0) / f64::from(WIDTH)) as u32
}

/// Runs of MD on 50 grids with equal bandwidths between all clusters, for five bandwidths.
pub(in crate::study) struct PlanLinks;

impl Compute for PlanLinks {
    fn name(&self) -> &'static str {
        "plan-links"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["bandwidth", "method"]);
        let grids = Vec::from_iter(0..u64::from(effort.replications(50, &mut data)));
        let phased = md();
        for (text, mbits) in [("0.6", 0.6), ("0.8", 0.8), ("1", 1.0), ("5", 5.0), ("10", 10.0)] {
            for (name, method) in &methods()[..2] {
                let all = each(&grids, |number| {
                    let grid = SyntheticGrid::draw(number).with_links(mbits);
                    course(&grid, &phased, Some(*method)).map(|course| (grid, course))
                })?;
                for (&number, (grid, course)) in grids.iter().zip(&all) {
                    push_course(&mut data, &[text, name], number, grid, course);
                }
            }
        }
        Ok(data)
    }
}
