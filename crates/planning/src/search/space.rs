//! The points of a search, their times, and the sets of machines they represent.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::hulls::Hulls;
use super::map::Map;
use super::{Found, Incumbent, PlanSearch, Point, Rank, boxes, scan};
use crate::Interval;
use crate::cluster::Cluster;
use crate::performance::{Application, Class};

/// The common state of all searches on one cluster, for any interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Space {
    pub(super) map: Map,
    cpu: Factors,
    bandwidth: Factors,
    computing: Factors,
    communicating: Factors,
    /// Prepared at the first use; `None` if hulls do not apply.
    #[serde(skip)]
    hulls: OnceCell<Option<Hulls>>,
}

/// Factors of the classes of terms, one row for each level.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Factors {
    classes: usize,
    rows: Vec<f64>,
}

impl Factors {
    fn new<T: Copy>(classes: &[Class], levels: &[T], factor: impl Fn(Class, T) -> f64) -> Factors {
        let row =
            |&level: &T| classes.iter().map(|&class| factor(class, level)).collect::<Vec<_>>();
        Factors { classes: classes.len(), rows: levels.iter().flat_map(row).collect() }
    }

    fn row(&self, level: u32) -> &[f64] {
        &self.rows[level as usize * self.classes..][..self.classes]
    }

    /// The common factor of all classes at each level, if there is one.
    fn common(&self) -> Option<Vec<f64>> {
        let rows = self.rows.chunks_exact(self.classes);
        rows.map(|row| row.iter().all(|factor| *factor == row[0]).then_some(row[0])).collect()
    }
}

/// The work of an interval: seconds for each class of terms, on one idle machine.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) computation: Vec<f64>,
    pub(crate) communication: Vec<f64>,
}

impl Work {
    /// The work of an interval on machines of `speed`.
    pub(crate) fn of(application: &Application, interval: Interval, speed: f64) -> Work {
        let [mut computation, communication] = application.works(interval);
        computation.iter_mut().for_each(|work| *work /= speed);
        Work { computation, communication }
    }
}

impl Space {
    /// The space of the sets of `usable` machines; `None` if there are none.
    pub(crate) fn new(
        application: &Application,
        cluster: &Cluster,
        usable: Vec<u32>,
    ) -> Option<Space> {
        let most = usable.len() as u32;
        let map = Map::new(cluster, usable)?;
        let [computation, communication] = application.classes();
        let numbers: Vec<u32> = (1..=most).collect();
        let by_share = |class: Class, share| class.inverse_share(share);
        let by_number = |class: Class, processors| class.speedup.inverse(processors);
        Some(Space {
            cpu: Factors::new(computation, map.cpu_levels(), by_share),
            bandwidth: Factors::new(communication, map.bandwidth_levels(), by_share),
            computing: Factors::new(computation, &numbers, by_number),
            communicating: Factors::new(communication, &numbers, by_number),
            hulls: OnceCell::new(),
            map,
        })
    }

    /// The best set for the work of an interval, and the number of sets priced.
    pub(crate) fn search(&self, search: PlanSearch, work: &Work) -> (Found, u64) {
        let incumbent = match search {
            PlanSearch::Scan => scan::scan(self, work),
            PlanSearch::Hulls => match self.hulls() {
                Some(hulls) => hulls.search(self, work),
                None => boxes::eliminate(self, work, u64::MAX),
            },
            PlanSearch::Boxes => boxes::eliminate(self, work, u64::MAX),
            PlanSearch::BoxesWithinBudget => boxes::eliminate(self, work, boxes::budget(self)),
        };
        let (rank, asked) = incumbent.best.expect("one machine is a set");
        (Found { seconds: rank.seconds, asked }, incumbent.priced)
    }

    fn hulls(&self) -> Option<&Hulls> {
        let hulls = self.hulls.get_or_init(|| {
            let Map::Uplinks(uplinks) = &self.map else { return None };
            let (x, y) = (self.cpu.common()?, self.bandwidth.common()?);
            Some(Hulls::new(uplinks, |cpu| x[cpu as usize], |bandwidth| y[bandwidth as usize]))
        });
        hulls.as_ref()
    }

    /// Factors of x and y on `processors`, if all classes have the same ones.
    pub(super) fn slopes(&self, work: &Work, processors: u32) -> [f64; 2] {
        let sum = |work: &[f64], factors: &Factors| {
            work.iter().zip(factors.row(processors - 1)).map(|(work, n)| work * n).sum()
        };
        let communication =
            if processors == 1 { 0.0 } else { sum(&work.communication, &self.communicating) };
        [sum(&work.computation, &self.computing), communication]
    }

    /// The machines to which `asked` is mapped; not empty for a found point.
    pub(crate) fn machines(&self, asked: Point) -> Vec<u32> {
        self.map.machines(asked)
    }

    /// The points with the smallest and the largest requirements.
    pub(super) fn corners(&self) -> (Point, Point) {
        let low = Point { cpu: 0, bandwidth: 0, processors: 1 };
        let high = Point {
            cpu: self.map.cpu_levels().len() as u32 - 1,
            bandwidth: self.map.bandwidth_levels().len() as u32 - 1,
            processors: self.map.usable(),
        };
        (low, high)
    }

    /// Prices the set to which a point is mapped. Returns true if there is one.
    pub(super) fn try_point(&self, work: &Work, asked: Point, incumbent: &mut Incumbent) -> bool {
        let real = self.map.real(asked);
        if let Some(real) = real {
            incumbent.offer(self.rank(work, real), self.map.canonical(asked, real));
        }
        real.is_some()
    }

    /// Prices a set with a known real point.
    pub(super) fn offer(&self, work: &Work, real: Point, incumbent: &mut Incumbent) {
        incumbent.offer(self.rank(work, real), self.map.canonical(real, real));
    }

    /// Rank of a set with these levels.
    fn rank(&self, work: &Work, point: Point) -> Rank {
        let processors = point.processors - 1;
        let computation =
            price(&work.computation, self.cpu.row(point.cpu), self.computing.row(processors));
        // A single machine communicates with no other.
        let communication = if processors == 0 {
            0.0
        } else {
            let bandwidth = self.bandwidth.row(point.bandwidth);
            price(&work.communication, bandwidth, self.communicating.row(processors))
        };
        Rank { seconds: computation + communication, point }
    }

    /// A rank that no set between two points beats: all of the CPU and bandwidth there, and as many
    /// processors as would be best for each class of terms alone.
    ///
    /// Classes may react differently to more processors. A sum may therefore have its minimum in
    /// between although no class has.
    pub(super) fn bound(&self, work: &Work, low: Point, high: Point) -> Rank {
        let most = high.processors - 1;
        // Computing takes no longer on more processors, so the largest number bounds it.
        let computation =
            price(&work.computation, self.cpu.row(high.cpu), self.computing.row(most));
        // The region has single machines, which do not communicate.
        let communication = if low.processors == 1 {
            0.0
        } else {
            let (few, many) = (low.processors - 1, most);
            let ends = self.communicating.row(few).iter().zip(self.communicating.row(many));
            let shares = self.bandwidth.row(high.bandwidth);
            let classes = work.communication.iter().zip(shares).zip(ends);
            // Each class has its least time at one of both ends. The order of factors is that of `price`, so
            // that rounding puts no bound above a time.
            classes.map(|((work, share), (few, many))| (work * share) * few.min(*many)).sum()
        };
        // This point wins every tie within the region.
        let point = Point { processors: low.processors, ..high };
        Rank { seconds: computation + communication, point }
    }
}

fn price(work: &[f64], shares: &[f64], processors: &[f64]) -> f64 {
    work.iter().zip(shares).zip(processors).map(|((work, share), n)| work * share * n).sum()
}
