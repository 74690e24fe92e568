//! Random worlds are the same in every run, unless a run asks for others.

use proptest::test_runner::{Config, RngSeed};

/// So many cases from a fixed seed; the environment variable `PROPTEST_RNG_SEED` chooses another one.
pub(crate) fn the_same(cases: u32) -> Config {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0),
        fixed => fixed,
    };
    Config { rng_seed, ..config }
}
