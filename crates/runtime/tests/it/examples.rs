//! The output of the examples.

#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../../examples/actor.rs"]
mod actor;
#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../../examples/step.rs"]
mod step;
#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../../examples/world.rs"]
mod world;

/// Output of an example.
fn told(tell: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>>) -> String {
    let mut out = Vec::new();
    tell(&mut out).expect("it runs to its end");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_world_runs_to_its_end() {
    let expected = "\
job 3: submitted 2, started 2, completed 52
job 1: submitted 0, started 0, completed 100
job 2: submitted 1, started 100, completed 160
3 jobs, 23 messages, 160 s
";
    assert_eq!(told(world::tell), expected);
}

#[test]
fn a_world_is_stepped() {
    let expected = "\
the first five messages:
0 users -> users: job_due
0 users -> broker: submit
0 users -> users: job_due
0 users -> broker: submit
1 broker -> north: estimate_request
every half a minute:
0: 5 messages so far, the next at 1
30: 24 messages so far, the next at 67
60: 24 messages so far, the next at 67
90: 27 messages so far, the next at 103
over at 104
";
    assert_eq!(told(step::tell), expected);
}

#[test]
fn a_cloud_stands_beside_a_provider() {
    let expected = "\
job 1 waited 0 and ended at 60 on north
job 2 waited 0 and ended at 60 on cloud
job 4 waited 0 and ended at 60 on cloud
job 6 waited 0 and ended at 60 on cloud
job 3 waited 60 and ended at 120 on north
job 5 waited 120 and ended at 180 on north
";
    assert_eq!(told(actor::tell), expected);
}
