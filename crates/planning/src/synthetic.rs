//! Applications and loads for experiments with planners.
//!
//! The performance models of the five applications that Sanjay and Vadhiyar 2011 measured are not
//! published. These models have the published number of phases and the published qualities: how much
//! phases differ from one another, and whether they compute or communicate. They are drawn by
//! SplitMix64, so that any other program can draw the same.

mod grid;

use haggle_model::phased::{Phase, Speedup, Term};
use haggle_model::random::splitmix;

pub use grid::{
    BANDWIDTH, CPU, GridLoads, SyntheticGrid, SyntheticView, loaded, loaded_between, symmetric,
};

haggle_model::words! {
    /// A published application.
    pub enum ApplicationKind {
        /// Molecular dynamics: 30 phases, highly non-uniform.
        Md = "md",
        /// ChaNGa: 50 phases in regimes, the least uniform.
        Changa = "changa",
        /// Athena: 100 phases, fairly uniform.
        Athena = "athena",
        /// LAMMPS: 26 phases, ever more communication as a crack grows.
        Lammps = "lammps",
        /// MPB: 32 phases, fairly uniform.
        Mpb = "mpb",
    }
}

/// A kind of phase: exponents of the problem size and of the numbers of processors by which
/// computation and communication are divided, and the usual share of communication.
struct Character {
    size: f64,
    computing: f64,
    communicating: f64,
    share: f64,
}

const COMPUTING: Character =
    Character { size: 3.0, computing: 0.95, communicating: 0.0, share: 0.05 };
const BALANCED: Character =
    Character { size: 2.0, computing: 0.85, communicating: -0.25, share: 0.30 };
const COMMUNICATING: Character =
    Character { size: 1.0, computing: 0.70, communicating: -0.50, share: 0.65 };

/// Conditions under which a phase takes the drawn time: 64 processors, of which half is available.
const PROCESSORS: f64 = 64.0;
const AVAILABLE: f64 = 0.5;

impl ApplicationKind {
    /// The published number of phases.
    pub fn phases(self) -> usize {
        match self {
            ApplicationKind::Md => 30,
            ApplicationKind::Changa => 50,
            ApplicationKind::Athena => 100,
            ApplicationKind::Lammps => 26,
            ApplicationKind::Mpb => 32,
        }
    }

    /// The published number of phases, for a problem of size 1.
    pub fn draw(self, seed: u64) -> Vec<Phase> {
        self.draw_phases(seed, self.phases())
    }

    /// `phases` phases of the same kind.
    pub fn draw_phases(self, seed: u64, phases: usize) -> Vec<Phase> {
        let mut draws = Draws::new(seed);
        match self {
            ApplicationKind::Md => {
                let mut character = draws.character(0.45, 0.65);
                let phase = |number| {
                    if number > 0 && draws.uniform() > 0.3 {
                        character = draws.character(0.45, 0.65);
                    }
                    // The mean of a lognormal factor of deviation 0.8 is 1 with -0.32 = -0.8²/2.
                    let seconds = 900.0 * (0.8 * draws.normal() - 0.32).exp();
                    character.phase(seconds, character.share + 0.1 * (draws.uniform() - 0.5))
                };
                (0..phases).map(phase).collect()
            }
            ApplicationKind::Changa => draws.regimes(phases, 0.8),
            ApplicationKind::Athena => {
                let phase = |_| {
                    let seconds = 250.0 * (0.1 * draws.normal()).exp();
                    BALANCED.phase(seconds, 0.30 + 0.04 * (draws.uniform() - 0.5))
                };
                (0..phases).map(phase).collect()
            }
            ApplicationKind::Lammps => {
                let phase = |number| {
                    let grown = number as f64 / (phases.max(2) - 1) as f64;
                    let character = match grown {
                        grown if grown < 0.34 => COMPUTING,
                        grown if grown < 0.67 => BALANCED,
                        _ => COMMUNICATING,
                    };
                    let seconds = 900.0 * (0.6 + 0.8 * grown) * (0.3 * draws.normal()).exp();
                    character.phase(seconds, 0.1 + 0.6 * grown)
                };
                (0..phases).map(phase).collect()
            }
            ApplicationKind::Mpb => {
                let phase = |_| {
                    let seconds = 800.0 * (0.1 * draws.normal()).exp();
                    COMPUTING.phase(seconds, 0.08 + 0.02 * (draws.uniform() - 0.5))
                };
                (0..phases).map(phase).collect()
            }
        }
    }
}

/// Phases as those of ChaNGa, but a regime lasts longer the closer `stay` is to 1. With 0.95, few large
/// phases consist of smaller ones, which suits the division heuristic.
pub fn hierarchical(seed: u64, phases: usize, stay: f64) -> Vec<Phase> {
    Draws::new(seed).regimes(phases, stay)
}

impl Character {
    fn phase(&self, seconds: f64, share: f64) -> Phase {
        let share = share.clamp(0.01, 0.95);
        let term = |seconds: f64, size, exponent: f64| Term {
            // Chosen so that the term takes `seconds` on the usual number of processors and available
            // part.
            coefficient: seconds * AVAILABLE * PROCESSORS.powf(exponent),
            size,
            load: 1.0,
            speedup: Speedup::Power(exponent),
        };
        Phase {
            computation: term(seconds * (1.0 - share), self.size, self.computing),
            communication: term(seconds * share, 1.0, self.communicating),
        }
    }
}

/// Draws by SplitMix64, in an order that other programs can repeat.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Draws {
        Draws { state: seed }
    }

    fn next(&mut self) -> u64 {
        let drawn = splitmix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn
    }

    /// Uniform in \[0, 1), in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// One of the numbers from `low` to `high`, both included.
    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + (self.uniform() * f64::from(high - low + 1)) as u32
    }

    /// One of `values`, each with the same probability.
    pub fn one_of(&mut self, values: &[f64]) -> f64 {
        values[(self.uniform() * values.len() as f64) as usize]
    }

    /// Standard normal, by Box and Muller's cosine; takes two draws.
    pub fn normal(&mut self) -> f64 {
        // The draw is never 1, so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn character(&mut self, computing: f64, balanced: f64) -> Character {
        match self.uniform() {
            drawn if drawn < computing => COMPUTING,
            drawn if drawn < balanced => BALANCED,
            _ => COMMUNICATING,
        }
    }

    fn regimes(&mut self, phases: usize, stay: f64) -> Vec<Phase> {
        let mut regime = self.regime();
        let phase = |number| {
            if number > 0 && self.uniform() > stay {
                regime = self.regime();
            }
            let (character, level) = &regime;
            // As above: -0.125 = -0.5²/2 makes the mean of the factor 1.
            let seconds = 700.0 * level * (0.5 * self.normal() - 0.125).exp();
            character.phase(seconds, character.share + 0.1 * (self.uniform() - 0.5))
        };
        (0..phases).map(phase).collect()
    }

    fn regime(&mut self) -> (Character, f64) {
        let character = self.character(0.4, 0.6);
        (character, (0.8 * self.normal() - 0.32).exp())
    }
}
