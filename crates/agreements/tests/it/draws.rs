//! How random cases are drawn.

use proptest::test_runner::{Config, RngSeed};

/// So many random cases, the same in every run: a run of the gate does not fail by chance. The variable
/// `PROPTEST_RNG_SEED` selects other cases.
pub(crate) fn the_same(cases: u32) -> Config {
    let config = others(cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0),
        chosen => chosen,
    };
    Config { rng_seed, ..config }
}

/// So many random cases, others in every run.
pub(crate) fn others(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}
