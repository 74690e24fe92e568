//! Built-in worlds: one for each protocol between metaschedulers and providers. Two providers have room for one
//! of the two jobs that two metaschedulers submit at the same instant.

use std::fmt::Write;

/// A built-in world, as a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The name of the protocol.
    pub name: &'static str,
    /// The scenario.
    pub scenario: String,
}

/// A protocol with its metaschedulers, and the faults that they permit.
struct Kind {
    name: &'static str,
    /// Keys of a metascheduler.
    metascheduler: &'static str,
    provider: &'static str,
    /// Keys of each job.
    job: &'static str,
    workload: &'static str,
    faults: bool,
}

/// Jobs that need more processors than one provider has.
const WIDE: &str = "processors = 4";
const PARTS: &str = "policy = \"conservative\"";
const FAULTLESS: &str = "";

/// Keys of a metascheduler that follows a protocol.
macro_rules! protocol {
    ($name:literal, $keys:literal) => {
        protocol!($name, $keys, "patience = \"1s\"\n")
    };
    ($name:literal, $keys:literal, $patience:literal) => {
        Kind {
            name: $name,
            metascheduler: concat!(
                "[metascheduler.coallocation]\npolicy = \"rigid\"\nretry = \"500ms\"\ntrials = 20\n",
                $patience,
                "back-off = { name = \"fixed\", wait = \"1s\" }\n",
                "overhead = { law = \"constant\", value = 0 }\nprotocol = ",
                $keys,
                "\n"
            ),
            provider: PARTS,
            job: WIDE,
            workload: FAULTLESS,
            faults: true,
        }
    };
}

const KINDS: [Kind; 15] = [
    protocol!("two-phase", "{ name = \"two-phase\", lease = \"5s\" }"),
    protocol!("two-phase-inquire", "{ name = \"two-phase\", in-doubt = \"inquire\" }"),
    protocol!("one-phase", "\"one-phase\""),
    protocol!("polling", "\"polling\""),
    protocol!("paxos", "\"paxos\""),
    protocol!("negotiation", "\"negotiation\""),
    protocol!("claiming", "{ name = \"claiming\", scan = \"2s\" }", ""),
    protocol!("ordered", "\"ordered\"", "patience = \"60s\"\n"),
    protocol!("probing", "\"probing\""),
    protocol!("watch", "\"watch\""),
    Kind {
        name: "coallocation",
        metascheduler: "[metascheduler.coallocation]\npolicy = \"rigid\"\nretry = \"500ms\"\n\
                        overhead = { law = \"constant\", value = 0 }\n",
        provider: "policy = \"conservative\"\ndisclosure = \"slots\"",
        job: WIDE,
        workload: FAULTLESS,
        faults: true,
    },
    Kind {
        name: "coallocation-moves",
        metascheduler: "[metascheduler.coallocation]\npolicy = \"shift-remap\"\n\
                        overhead = { law = \"constant\", value = 0 }\n",
        provider: "policy = \"conservative\"\ndisclosure = \"slots\"",
        job: WIDE,
        workload: FAULTLESS,
        faults: false,
    },
    Kind {
        name: "bargain",
        metascheduler: "composition = \"offers-no-lb\"\n[metascheduler.negotiation]\nretry = \"500ms\"\n",
        provider: "policy = { name = \"bags\", offers = { validity = \"2s\" } }",
        job: WIDE,
        workload: "\n[[workload.step]]\nkind = \"bags\"\n",
        faults: true,
    },
    Kind {
        name: "query",
        metascheduler: "placement = \"minimum-completion-time\"\n",
        provider: "policy = \"conservative\"",
        job: "processors = 2",
        workload: FAULTLESS,
        faults: false,
    },
    Kind {
        name: "reallocation",
        metascheduler: "[metascheduler.reallocation]\nperiod = \"1s\"\nthreshold = \"1s\"\n",
        provider: "policy = \"conservative\"",
        job: "processors = 2",
        workload: "\n[[workload.step]]\nkind = \"moldable\"\n",
        faults: false,
    },
];

/// The built-in worlds.
pub fn examples() -> Vec<Example> {
    KINDS.iter().map(|kind| Example { name: kind.name, scenario: scenario(kind) }).collect()
}

fn scenario(kind: &Kind) -> String {
    let Kind { name, metascheduler, provider, job, workload, faults } = kind;
    let mut text = format!("[scenario]\nname = \"{name}\"\nhorizon = \"1h\"\n");
    for number in 1..=2 {
        let _ = write!(
            text,
            "\n[[workload]]\nname = \"jobs-{number}\"\njobs = [{{ submit = \"0s\", {job}, run = \"4s\", requested = \"6s\" \
             }}]\n{workload}\n[[user]]\nname = \"user-{number}\"\nworkload = \"jobs-{number}\"\nsubmits-to = \
             \"m{number}\"\n\n[[metascheduler]]\nname = \"m{number}\"\n{metascheduler}\n[[provider]]\nname = \
             \"p{number}\"\nprocessors = 3\n{provider}\n"
        );
    }
    text.push_str("\n[network]\nlatency = \"50ms\"\n");
    if *faults {
        // The search decides about losses and crashes; their shares and laws have no effect.
        text.push_str(
            "loss = \"1%\"\n\n[[failures]]\nactors = [\"m1\", \"m2\", \"p1\", \"p2\"]\nlaw = { up = { law = \
             \"constant\", value = \"1h\" }, down = { law = \"constant\", value = \"5s\" } }\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use haggle_model::Span;
    use haggle_scenario::{Experiment, Logs, Source};

    use super::*;
    use crate::histories::World;

    #[test]
    fn the_built_in_worlds_are_scenarios_of_two_providers_and_two_metaschedulers() {
        for Example { name, scenario } in examples() {
            let source = Source::new(format!("{name}.toml"), scenario.as_str());
            let experiment = Experiment::read(source, Logs::MustExist)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{scenario}"));
            assert!(experiment.warnings.found.is_empty(), "{name} has a key without effect");
            let scenario = &experiment.variants[0].scenario;
            let world = World::of(scenario, Path::new("."), Span::from_secs(5));
            let world = world.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(world.may_lose, !world.crashing.is_empty(), "{name}");
        }
    }
}
