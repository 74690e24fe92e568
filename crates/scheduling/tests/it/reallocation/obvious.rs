//! Both algorithms by their definition: nothing is remembered, and every job is estimated anew whenever one is
//! selected.

use haggle_model::{JobId, Sizing, Time};
use haggle_scheduling::reallocation::{
    Algorithm, Clusters, Reallocated, ReallocationHeuristic, Rule, first_done,
};

use super::world::{Queue, World};

pub(super) fn reallocate<Q: Queue>(rule: Rule, world: &mut World<Q>) -> Vec<Reallocated> {
    let clusters = 0..world.count();
    let mut jobs = Vec::new();
    for cluster in clusters.clone() {
        let waiting = world.waiting(cluster).into_iter();
        jobs.extend(waiting.map(|it| (it.job, cluster, it.completion)));
    }
    jobs.sort();
    if rule.algorithm == Algorithm::Regular && rule.heuristic != ReallocationHeuristic::Mct {
        jobs.truncate(rule.window);
    }
    if rule.algorithm == Algorithm::AllCancellation {
        for cluster in clusters.clone() {
            let of = jobs.iter().filter(|it| it.1 == cluster);
            let of: Vec<JobId> = of.map(|it| it.0).collect();
            world.cancel(cluster, &of);
        }
    }
    let window = rule.window.min(jobs.len());
    let mut behind =
        jobs.split_off(if rule.heuristic == ReallocationHeuristic::Mct { 0 } else { window });
    let mut done = Vec::new();
    while !(jobs.is_empty() && behind.is_empty()) {
        if jobs.is_empty() {
            jobs.push(behind.remove(0));
        }
        let mut ranked = Vec::new();
        for (place, &(job, own, before)) in jobs.iter().enumerate() {
            let regular = rule.algorithm == Algorithm::Regular;
            let counted = clusters.clone().filter(|&it| !regular || rule.resizes || it != own);
            let said = Vec::from_iter(counted.map(|cluster| (cluster, world.size(cluster, job))));
            let present = if regular { world.completion(own, job) } else { Some(before) };
            let rank = rank(rule.heuristic, &said, present.unwrap_or(Time::FOREVER), regular);
            ranked.push((rank, place, first_done(said.into_iter()), present));
        }
        // The job with the highest rank; of several, the oldest.
        let highest = ranked.iter().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
        let (_, place, best, present) = ranked.into_iter().find(|it| it.0 == highest).expect("one");
        let (job, from, _) = jobs.remove(place);
        match (rule.algorithm, best, present) {
            (Algorithm::AllCancellation, Some((to, _)), _) => {
                world.submit(to, job);
                done.push(Reallocated { job, from, to });
            }
            (Algorithm::Regular, Some((to, sizing)), Some(present))
                if sizing.completion() + rule.threshold < present =>
            {
                world.cancel(from, &[job]);
                world.submit(to, job);
                done.push(Reallocated { job, from, to });
            }
            _ => {}
        }
    }
    done
}

/// Jobs with a higher rank come earlier. All times of the tests are small whole seconds.
fn rank(
    heuristic: ReallocationHeuristic,
    said: &[(usize, Sizing)],
    present: Time,
    regular: bool,
) -> f64 {
    let mut all = Vec::from_iter(said.iter().map(|it| it.1.completion()));
    let best = all.iter().copied().min().unwrap_or(Time::FOREVER);
    if regular {
        all.push(present);
    }
    if let Some(place) = all.iter().position(|&it| it == best) {
        all.remove(place);
    }
    let second = all.into_iter().min().unwrap_or(Time::FOREVER);
    let gain = (present - best).as_secs_f64();
    match heuristic {
        ReallocationHeuristic::Mct => 0.0,
        ReallocationHeuristic::MinMin => -best.as_secs_f64(),
        ReallocationHeuristic::MaxMin => best.as_secs_f64(),
        ReallocationHeuristic::Sufferage => (second - best).as_secs_f64(),
        ReallocationHeuristic::MaxGain => gain,
        ReallocationHeuristic::MaxRelGain => {
            let processors = first_done(said.iter().copied()).map_or(1, |it| it.1.processors);
            gain / f64::from(processors)
        }
    }
}
