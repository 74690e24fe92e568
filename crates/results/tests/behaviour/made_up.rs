//! A made-up run: two providers, first come, first served, and every outcome of a job.

use std::path::Path;

use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, ActorInfo, ActorKind, Cast, Job, JobClass, JobOutcome, JobRecord, ProcessorSet,
    ProviderId, ProviderInfo, Refusal, Span, Time,
};
use haggle_results::{Metrics, Provenance, ResultsError, RunWriter, Summary, WriteOptions, sha256};

/// Two providers of 64 and 256 processors, the second with a name that CSV must quote.
pub(crate) fn cast() -> Cast {
    let actor = |name: &str, kind| ActorInfo { name: name.to_owned(), kind };
    let provider = |name: &str, processors, first_processor, speed| ProviderInfo {
        name: name.to_owned(),
        processors,
        first_processor,
        speed,
        may_preempt: false,
        scheduler: "first come, first served".to_owned(),
        may_fail: false,
        nodes: None,
    };
    Cast {
        actors: vec![
            actor("users", ActorKind::User),
            actor("broker", ActorKind::Metascheduler),
            actor("north", ActorKind::Provider),
            actor("south, \"big\"", ActorKind::Provider),
        ],
        providers: vec![provider("north", 64, 0, 1.0), provider("south, \"big\"", 256, 64, 1.5)],
        workloads: vec!["made up".to_owned()],
        ..Cast::default()
    }
}

/// `count` jobs, in the order in which they leave the system.
pub(crate) fn records(count: u32) -> Vec<JobRecord> {
    let mut dice = Dice(1);
    let mut sites: Vec<Site> = cast().providers.into_iter().map(Site::new).collect();
    let mut records = Vec::new();
    let mut now = 0;
    for number in 0..count {
        now += dice.up_to(300) * dice.up_to(4);
        let run = 5 + dice.up_to(60) * dice.up_to(120);
        let width = 1 << dice.up_to(8);
        let at = dice.up_to(3).min(1) as usize;
        let mut job = Job::new(number, Time::from_secs(now), width, Span::from_secs(run * 2));
        job.run_time = haggle_model::job::HiddenRunTime::new(Span::from_secs(run));
        job.origin.user = dice.up_to(50) as i32;
        records.push(sites[at].run(job, at as u32, &mut dice));
    }
    records.sort_by_key(|record| record.end);
    records
}

/// Writes the records and `messages` messages about them, and publishes the run.
pub(crate) fn write(
    folder: &Path,
    options: WriteOptions,
    records: &[JobRecord],
    messages: usize,
) -> Result<(Summary, String), ResultsError> {
    let cast = cast();
    let mut metrics = Metrics::new(cast.clone(), options.metrics);
    let mut writer = RunWriter::create(folder, cast, options)?;
    let kinds = ["job_submitted", "estimate_asked", "estimate", "job_started", "job_ended"];
    for record in records {
        metrics.job_over(record);
        writer.job_over(record)?;
        let (from, to, job) = (ActorId(2), ActorId(1), Some(record.job.id));
        writer.disclosed(record.end, from, to, DisclosedItem::Estimate, 1, job)?;
    }
    for i in 0..messages {
        let record = &records[i * records.len() / messages];
        let (from, to) = (ActorId(i as u32 % 4), ActorId((i as u32 + 1) % 4));
        writer.message(record.end, from, to, kinds[i % 5], Some(record.job.id))?;
    }
    publish(writer, &metrics)
}

/// Ends the run, and gives its folder the final name.
pub(crate) fn publish(
    mut writer: RunWriter,
    metrics: &Metrics,
) -> Result<(Summary, String), ResultsError> {
    writer.counted(&metrics.counted())?;
    let run = writer.finish()?;
    let summary = metrics.summarise();
    run.write_summary(&summary)?;
    run.write_provenance(&Provenance {
        about: haggle_results::About::default(),
        format: haggle_results::provenance::FORMAT,
        version: "0.1.0".to_owned(),
        build: "0".to_owned(),
        scenario_sha256: sha256(b"made up"),
        seed: 1,
        inputs: Vec::new(),
        own_rules: Vec::new(),
        local_time_at_zero: None,
        digest: run.digest().clone(),
        tables: run.table_sizes()?,
    })?;
    let digest = run.digest().overall.clone();
    run.publish()?;
    Ok((summary, digest))
}

struct Site {
    info: ProviderInfo,
    free: ProcessorSet,
    running: Vec<(Time, ProcessorSet)>,
    last_start: Time,
}

impl Site {
    fn new(info: ProviderInfo) -> Site {
        Site {
            free: ProcessorSet::range(0, info.processors),
            running: Vec::new(),
            last_start: Time::ZERO,
            info,
        }
    }

    fn run(&mut self, job: Job, provider: u32, dice: &mut Dice) -> JobRecord {
        let class = if dice.up_to(3) == 0 { JobClass::External } else { JobClass::Local };
        let mut record = JobRecord {
            class,
            outcome: JobOutcome::Rejected(Refusal::TooWide),
            provider: None,
            queued: None,
            start: None,
            end: job.submit,
            walltime: None,
            promised_end: None,
            processors: ProcessorSet::new(),
            bag: None,
            lost: Vec::new(),
            given_up: Vec::new(),
            checkpointing: Span::ZERO,
            checkpoints: Vec::new(),
            job: job.into(),
            granted: None,
            alternative: None,
            recorded: None,
            priority: None,
        };
        if record.job.processors > self.info.processors {
            return record;
        }
        record.provider = Some(ProviderId(provider));
        record.queued = Some(record.job.submit);
        let requested = record.job.requested_time.unwrap_or(Span::ZERO);
        let walltime = requested.at_speed(self.info.speed);
        record.walltime = Some(walltime);
        if dice.up_to(40) == 0 {
            record.outcome = JobOutcome::Cancelled;
            record.end += Span::from_secs(30);
            return record;
        }
        let start = self.start(&mut record);
        let too_long = dice.up_to(50) == 0;
        let run = record.job.run_time.reveal_to_machine().at_speed(self.info.speed);
        record.outcome = if too_long { JobOutcome::WalltimeReached } else { JobOutcome::Completed };
        record.start = Some(start);
        record.end = start + if too_long { walltime } else { run };
        record.promised_end = Some(start + walltime);
        self.running.push((record.end, record.processors.clone()));
        record
    }

    /// Takes the job's processors at the earliest instant at which they are free.
    fn start(&mut self, record: &mut JobRecord) -> Time {
        let mut now = self.last_start.max(record.job.submit);
        loop {
            self.running.sort_by_key(|(end, _)| *end);
            let over = self.running.partition_point(|(end, _)| *end <= now);
            for (_, processors) in self.running.drain(..over) {
                self.free.insert_all(&processors);
            }
            if let Some(taken) = self.free.take_lowest(record.job.processors) {
                record.processors = taken;
                self.last_start = now;
                return now;
            }
            now = self.running[0].0;
        }
    }
}

/// A small generator (SplitMix64), so that the run is the same everywhere.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as i64
    }
}
