//! For any text, reading a scenario gives runs, or problems that point into the text. A scenario that has runs can be
//! written and read back.

#![no_main]

use haggle::scenario::{Experiment, Logs, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Experiment::read(Source::new("fuzz.toml", text), Logs::Ignore) {
        Ok(experiment) => {
            let resolved = experiment.scenario.to_toml();
            if let Err(invalid) =
                Experiment::read(Source::new("fuzz.toml", &*resolved), Logs::Ignore)
            {
                panic!("{invalid}, though written by ourselves:\n{resolved}");
            }
        }
        Err(invalid) => {
            assert!(!invalid.problems.is_empty(), "refused without a reason");
            for problem in &invalid.problems {
                assert!(text.get(problem.span.clone()).is_some(), "{problem:?} points outside");
            }
        }
    }
});
