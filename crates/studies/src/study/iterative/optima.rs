//! Progress of optimisation over time (figures 5.12 and 5.13). Our own optimiser runs by the maps of
//! three resource sets, with processes of all four topologies, or of one. Also the topologies
//! themselves (figure 5.3).

use haggle_model::Span;
use haggle_planning::iterative::case_study::{
    PROCESSES, RESOURCE_SETS, TOPOLOGIES, application, cores,
};
use haggle_planning::iterative::optimiser::{Course, Islands, Topology, front};
use haggle_planning::iterative::{MappingError, Merge};
use haggle_planning::synthetic::Draws;

use super::{MODELS, TRANSFER, TRANSFERS};
use crate::data::Data;
use crate::study::{Compute, Effort, each};

/// Side of the grid of a process of the thesis, which has 1024 individuals.
const SIDE: usize = 32;

/// The same for our runs, with 36 individuals: otherwise all runs would take more than half an hour on
/// two cores.
const SIDE_SMALL: usize = 6;

/// Our own: number of reference points on the true front, at equal steps of its first angle.
const REFERENCE: usize = 101;

/// Our own: runs, each with other draws and other topologies.
const SEEDS: u32 = 5;

/// Our own: number of topologies of each kind, which are very similar.
const GRAPHS: u32 = 3;

/// The thesis draws three sets and names the third; the other two, the fastest and the slowest, are ours.
const SETS: [usize; 3] = [1, 3, 7];

/// Our own: interval between two values of epsilon, s; the last one is after the slowest run.
const STEP: i64 = 20;
/// See [`STEP`].
const UNTIL: i64 = 1020;

/// Numbers of processes by topology: a mix of all, or only one topology.
fn mixes() -> impl Iterator<Item = (&'static str, [u32; 4])> {
    let all = 4 * PROCESSES;
    let single = move |size: usize| std::array::from_fn(|it| if it == size { all } else { 0 });
    let singles = TOPOLOGIES.iter().enumerate().map(move |(size, name)| (*name, single(size)));
    [("mixed", [PROCESSES; 4])].into_iter().chain(singles)
}

/// The runs: all mixes on the first set, and only the mix of all topologies on the others.
fn runs() -> Vec<(usize, &'static str, [u32; 4])> {
    let on = |&set: &usize| mixes().map(move |(name, processes)| (set, name, processes));
    SETS.iter().flat_map(on).filter(|(set, name, _)| *set == 1 || *name == "mixed").collect()
}

/// Epsilon of the results so far, at regular intervals of each run.
pub(in crate::study) struct Optima;

impl Compute for Optima {
    fn name(&self) -> &'static str {
        "iterative-optima"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["set", "topologies", "model", "time"]);
        let seeds = u64::from(effort.replications(SEEDS, &mut data));
        let runs = runs();
        let of =
            // All runs under one seed come before those under the next.
            |number: u64| (&runs[number as usize % runs.len()], number / runs.len() as u64 + 1);
        let numbers = Vec::from_iter(0..seeds * runs.len() as u64);
        let found = each(&numbers, |number| {
            let ((set, _, processes), seed) = of(number);
            optimised(&RESOURCE_SETS[set - 1], *processes, seed)
        })?;
        for (number, courses) in numbers.into_iter().zip(found) {
            let ((set, topologies, _), seed) = of(number);
            for (model, (course, run_time)) in MODELS.iter().zip(courses) {
                for time in (0..=UNTIL / STEP).map(|step| step * STEP) {
                    let values = [
                        ("epsilon", course.at(Span::from_secs(time))),
                        ("run_time", run_time.as_secs_f64()),
                    ];
                    let (set, time) = (set.to_string(), time.to_string());
                    data.push(&[&set, topologies, model, &time], seed, &values);
                }
            }
        }
        Ok(data)
    }
}

/// Results and run times of both models on a set. Under one seed, all runs begin with the same
/// individuals on the same topologies.
fn optimised(
    set: &[u32; 7],
    processes: [u32; 4],
    seed: u64,
) -> Result<[(Course, Span); 2], String> {
    let topologies = topologies(SIDE_SMALL, seed)?;
    let islands = Islands { topologies: &topologies, reference: &front(REFERENCE) };
    let (application, cores) = (application(processes), cores(set));
    let failed = |error: MappingError| error.to_string();
    let merge = Merge { transfer: TRANSFER, transfers: TRANSFERS, fixed: Span::ZERO };
    let synchronous = application.synchronous(&cores, merge, false).map_err(failed)?;
    let asynchronous = application.asynchronous(&cores, Span::ZERO).map_err(failed)?;
    let one = islands.synchronous(&synchronous, merge.time(&cores), &mut Draws::new(seed));
    let other = islands.asynchronous(&asynchronous, &mut Draws::new(seed));
    Ok([(one, synchronous.run_time), (other, asynchronous.run_time)])
}

/// One topology of each kind, for `side` x `side` individuals.
fn topologies(side: usize, seed: u64) -> Result<Vec<Topology>, String> {
    // A stream of its own, apart from that of the individuals.
    let mut draws = Draws::new(1000 + seed);
    let sizes = 0..TOPOLOGIES.len();
    let graphs = sizes.map(|size| Topology::of_case_study(size, side, &mut draws));
    graphs.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The four topologies, for the numbers of individuals in the thesis and in our runs.
pub(in crate::study) struct Topologies;

impl Compute for Topologies {
    fn name(&self) -> &'static str {
        "iterative-topologies"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["topology", "individuals"]);
        for seed in 1..=u64::from(effort.replications(GRAPHS, &mut data)) {
            for side in [SIDE, SIDE_SMALL] {
                for (name, topology) in TOPOLOGIES.iter().zip(topologies(side, seed)?) {
                    let path_length = topology.path_length().ok_or("a topology is in pieces")?;
                    let values = [("degree", topology.degree()), ("path_length", path_length)];
                    data.push(&[name, &topology.nodes().to_string()], seed, &values);
                }
            }
        }
        Ok(data)
    }
}
