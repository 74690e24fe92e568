//! What a week of a grid costs whose jobs save their progress often (Chtepen 2011, section
//! 4.3.4). To see it: `cargo test --release -p haggle-runtime --test it -- --ignored
//! --nocapture frequent`, with `HAGGLE_INTERVAL` in seconds.

use std::time::Instant;

use haggle_agents::Message;
use haggle_agents::grid::{Checkpoints, Delay, JobData, Routes};
use haggle_model::failures::{Outage, OutageList};
use haggle_model::grid::{GridJobRecord, ResourceAccount, TryRecord};
use haggle_model::network::{Capacity, Star, StarParameters};
use haggle_model::random::{Stream, stream};
use haggle_model::{ActorId, Job, Observation, Span, Time};
use haggle_runtime::Recorder;
use haggle_runtime::world::OutsideError;
use haggle_scheduling::grid::checkpoint::MeanFailure;
use haggle_scheduling::grid::{CheckpointCost, GridPolicy, IntervalRule, Share};
use rand::RngExt;
use std::sync::Arc;

use crate::grid_setup::{Grid, secs};

const WEEK: f64 = 7.0 * 86_400.0;

/// Scale of the times up, median of the times down, seconds, by site.
const SITES: [(f64, f64); 4] =
    [(9_070.7, 700.9), (18_141.4, 1_314.2), (108_848.4, 7_009.2), (1_451_312.6, 64_572.6)];

fn outages((scale, median): (f64, f64), draws: &mut Stream) -> OutageList {
    let mut list = Vec::new();
    let mut now = 0.0;
    loop {
        let mut unit = || draws.random::<f64>().max(1e-12);
        let fail = now + scale * (-unit().ln()).powf(1.0 / 0.75);
        let normal = (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
        now = fail + median * (1.2 * normal).exp();
        if fail > WEEK {
            return OutageList::new(list).expect("in order");
        }
        let at = |seconds| Time::ZERO + secs(seconds);
        list.push(Outage { fail: at(fail), restore: at(now) });
    }
}

fn week(interval: f64) -> Grid {
    let mut grid = Grid::new(GridPolicy::Migration { checkpointing: true });
    let draws = &mut stream(1, "week", "random");
    for (site, &law) in (0..).zip(&SITES) {
        for _ in 0..32 {
            grid.outages.insert(grid.plan.resources.len(), outages(law, draws));
            grid = grid.resource_at(site, 1, 2);
        }
    }
    for id in 0..7_000 {
        let submit = Time::ZERO + secs(WEEK * draws.random::<f64>());
        let length = secs(9_000.0 * (0.1 - draws.random::<f64>().max(1e-4).ln()));
        grid.jobs.push(Job::new(id, submit, 1, length));
    }
    let sizes = StarParameters {
        sites: vec![32; 4],
        services: 2,
        lan_capacity: Capacity::Shared(100e6),
        wan_capacity: Capacity::PerFlow(100e6),
        ..StarParameters::default()
    };
    let megabytes = 10_000_000;
    let plan = &mut grid.plan;
    plan.routes = Routes::Star(Arc::new(Star::new(&sizes, 1).expect("good links")));
    plan.period = secs(600.0);
    plan.delay = Delay::Random(secs(300.0));
    plan.output_survives = true;
    plan.data = vec![JobData {
        input: megabytes,
        output: megabytes,
        checkpoint: megabytes,
        share: Share::WHOLE,
    }];
    plan.checkpoints = Some(Checkpoints {
        rule: IntervalRule::Periodic { interval: secs(interval) },
        cost: CheckpointCost::BY_LENGTH,
        recovery: Span::ZERO,
        mean_failure: MeanFailure::Elapsed,
    });
    grid.until(WEEK)
}

/// Adds up what is observed.
#[derive(Default)]
struct Sums {
    tries: Vec<TryRecord>,
    jobs: Vec<GridJobRecord>,
    accounts: Vec<ResourceAccount>,
    checkpoints: u64,
}

impl Recorder for Sums {
    fn delivered(
        &mut self,
        _now: Time,
        _from: ActorId,
        _to: ActorId,
        _message: &Message,
    ) -> Result<(), OutsideError> {
        Ok(())
    }

    fn observed(
        &mut self,
        _now: Time,
        _actor: ActorId,
        observation: Observation,
    ) -> Result<(), OutsideError> {
        match observation {
            Observation::TryOver(record) => {
                let mut record = *record;
                self.checkpoints += record.checkpoints.len() as u64;
                record.checkpoints = Vec::new();
                self.tries.push(record);
            }
            Observation::GridJobOver(record) => self.jobs.push(*record),
            Observation::ResourceAccount(account) => self.accounts.push(account),
            _ => {}
        }
        Ok(())
    }
}

impl Sums {
    /// FNV-1a of all but the checkpoints.
    fn digest(&mut self) -> u64 {
        self.tries.sort_by_key(|it| (it.job, it.number));
        self.jobs.sort_by_key(|it| it.job.id);
        let tries = self.tries.iter().map(|it| {
            let times = (it.dispatched, it.started, it.left, it.end, it.computing, it.writing);
            let work = (it.from, it.done, it.parent, it.omitted, it.ending);
            format!("{:?} {} {} {times:?} {work:?}", it.job, it.number, it.resource)
        });
        let jobs = self.jobs.iter().map(|it| format!("{it:?}"));
        let accounts = self.accounts.iter().map(|it| format!("{it:?}"));
        tries
            .chain(jobs)
            .chain(accounts)
            .flat_map(String::into_bytes)
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }
}

#[test]
#[ignore = "a measurement"]
fn frequent_checkpoints() {
    let chosen = std::env::var("HAGGLE_INTERVAL").ok().and_then(|it| it.parse().ok());
    for interval in chosen.map_or(vec![30.0, 600.0], |it| vec![it]) {
        let grid = week(interval);
        let mut sums = Sums::default();
        let start = Instant::now();
        let stats = grid.run_into(&mut sums);
        let took = start.elapsed();
        let digest = sums.digest();
        println!(
            "I = {interval} s: {} messages, {} checkpoints, {} tries, {took:.2?}, {digest:016x}",
            stats.messages,
            sums.checkpoints,
            sums.tries.len()
        );
    }
}
