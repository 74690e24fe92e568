//! Short histories in words: what goes wrong is the script, the rest the log. `c` is the
//! coordinator, `p` are participants; a message takes a microsecond.

use std::collections::BTreeMap;

use haggle_agreements::protocol::Machine;
use haggle_agreements::{
    AgreementId, Answer, Coordinator, CoordinatorRecord, CoordinatorState, CoordinatorTimer, Hold,
    InDoubt, Instruction, Output, Participant, ParticipantRecord, ParticipantState, Progress, Task,
    ToCoordinator, ToParticipant,
};
use haggle_model::{Span, Time};

use crate::every_history::small;
use crate::world::{Faults, Setup, Thing, World, coordinator, participant};

/// Two participants hold for 16 us; a commit may need 10 of them.
fn lease() -> Setup {
    let mut setup = small(InDoubt::Release, 10);
    setup.rules.lease = Span::from_micros(16);
    setup
}

/// The same, but a commit is believed to need no more than 1 us.
fn short_margin() -> Setup {
    small(InDoubt::Release, 1)
}

fn inquiring() -> Setup {
    small(InDoubt::Inquire { every: Span::from_micros(2) }, 1)
}

/// Plays a history in which these messages are lost and these crash when they have persisted
/// something, for so many microseconds.
fn play(setup: Setup, lost: &[&'static str], crashes: &[(&'static str, i64)]) -> String {
    let count = |faults: usize| u8::try_from(faults).expect("scripts are short");
    let (losses, crashes_left) = (count(lost.len()), count(crashes.len()));
    let faults = Faults { losses, crashes: crashes_left, ..Faults::default() };
    let mut world = World::new(Setup { faults, ..setup });
    world.log = Some(Vec::new());
    let lost = lost.iter().map(|&line| (line, None));
    let crashes = crashes.iter().map(|&(line, down)| (line, Some(Span::from_micros(down))));
    world.script = lost.chain(crashes).collect();
    world.run_out(200);
    assert_eq!(world.violation, None);
    assert_eq!(world.script, [], "not all of the script happened");
    world.log.expect("it was kept").join("\n")
}

#[test]
fn all_are_ready_and_commit() {
    let log = play(lease(), &[], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 persists commit 0
3 c0 > p0 commit 0
3 p0 persists committed 0
3 p0 carries out 0
3 c0 > p1 commit 0
3 p1 persists committed 0
3 p1 carries out 0
4 p0 > c0 committed 0
4 p1 > c0 committed 0
4 c0 told Committed 0
4 c0 persists over 0"
    );
}

/// Nobody waits for whoever loses the abort: the lease ends by itself.
#[test]
fn one_is_not_ready() {
    let log = play(Setup { room: vec![1, 0], ..lease() }, &["c0 > p0 abort 0"], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists refused 0
2 p0 > c0 ready 0
2 p1 > c0 not ready 0
2 c0 > p0 abort 0 is lost
2 c0 told Aborted 0
17 p0 persists lapsed 0
17 p0 gives up 0"
    );
}

#[test]
fn a_retried_prepare_is_answered_as_before() {
    let log = play(lease(), &["p1 > c0 ready 0"], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
1 p1 > c0 ready 0 is lost
2 p0 > c0 ready 0
3 c0 > p1 prepare 0
4 p1 > c0 ready 0
4 c0 all ready 0
4 c0 persists commit 0
5 c0 > p0 commit 0
5 p0 persists committed 0
5 p0 carries out 0
5 c0 > p1 commit 0
5 p1 persists committed 0
5 p1 carries out 0
6 p0 > c0 committed 0
6 p1 > c0 committed 0
6 c0 told Committed 0
6 c0 persists over 0"
    );
}

#[test]
fn a_missing_vote_aborts() {
    let log = play(lease(), &["c0 > p1 prepare 0"; 3], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
0 c0 > p1 prepare 0 is lost
1 c0 > p0 prepare 0
1 p0 persists held 0
2 p0 > c0 ready 0
2 c0 > p1 prepare 0 is lost
4 c0 > p1 prepare 0 is lost
6 c0 told Aborted 0
7 c0 > p0 abort 0
7 p0 persists settled 1
7 p0 gives up 0
7 c0 > p1 abort 0
7 p1 persists settled 1"
    );
}

#[test]
fn whoever_is_in_doubt_inquires() {
    let log = play(inquiring(), &["c0 > p1 commit 0"; 2], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 persists commit 0
2 c0 > p1 commit 0 is lost
3 c0 > p0 commit 0
3 p0 persists committed 0
3 p0 carries out 0
4 p0 > c0 committed 0
4 c0 > p1 commit 0 is lost
6 p1 > c0 inquire 0
7 c0 > p1 commit 0
7 p1 persists committed 0
7 p1 carries out 0
7 c0 > p1 commit 0
8 p1 > c0 committed 0
8 c0 told Committed 0
8 c0 persists over 0
8 p1 > c0 committed 0"
    );
}

#[test]
fn a_late_commit_breaks_the_agreement() {
    let log = play(short_margin(), &["c0 > p1 commit 0"; 2], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 persists commit 0
2 c0 > p1 commit 0 is lost
3 c0 > p0 commit 0
3 p0 persists committed 0
3 p0 carries out 0
4 p0 > c0 committed 0
4 c0 > p1 commit 0 is lost
5 p1 persists lapsed 0
5 p1 gives up 0
7 c0 > p1 commit 0
7 p1 persists over 0
8 p1 > c0 expired 0
8 c0 persists undo 0
9 c0 > p0 undo 0
9 p0 persists over 0
9 p0 gives up 0
10 p0 > c0 undone 0
10 c0 told Broken 0
10 c0 persists over 0"
    );
}

#[test]
fn a_late_commit_may_be_taken() {
    let log = play(Setup { takes_late: true, ..short_margin() }, &["c0 > p1 commit 0"; 2], &[]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 persists commit 0
2 c0 > p1 commit 0 is lost
3 c0 > p0 commit 0
3 p0 persists committed 0
3 p0 carries out 0
4 p0 > c0 committed 0
4 c0 > p1 commit 0 is lost
5 p1 persists lapsed 0
5 p1 gives up 0
7 c0 > p1 commit 0
7 p1 takes 0 late
7 p1 persists committed 0
8 p1 > c0 committed late 0
8 c0 told Committed 0
8 c0 persists over 0"
    );
}

#[test]
fn a_coordinator_that_decided_goes_on() {
    let log = play(lease(), &["c0 > p1 commit 0"], &[("c0 persists commit 0", 3)]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 persists commit 0
2 c0 crashes
5 c0 restarts
5 c0 > p1 commit 0 is lost
6 c0 > p0 commit 0
6 p0 persists committed 0
6 p0 carries out 0
7 p0 > c0 committed 0
8 c0 > p1 commit 0
8 p1 persists committed 0
8 p1 carries out 0
9 p1 > c0 committed 0
9 c0 told Committed 0
9 c0 persists over 0"
    );
}

/// Nobody has anything to undo, and the crash comes before the end is on record.
#[test]
fn a_broken_agreement_ends_after_a_crash() {
    let alone = Setup { room: vec![1], agreements: vec![(0, vec![0])], ..short_margin() };
    let log = play(alone, &["c0 > p0 commit 0"; 2], &[("c0 persists undo 0", 1)]);
    let end = "\
c0 persists undo 0
8 c0 crashes
9 c0 restarts
9 c0 told Broken 0
9 c0 persists over 0";
    assert!(log.ends_with(end), "{log}");
}

#[test]
fn a_coordinator_that_did_not_decide_has_aborted() {
    let log = play(inquiring(), &[], &[("c0 all ready 0", 5)]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
2 p0 > c0 ready 0
2 p1 > c0 ready 0
2 c0 all ready 0
2 c0 crashes
7 c0 restarts
8 p0 > c0 inquire 0
8 p1 > c0 inquire 0
9 c0 > p0 abort 0
9 p0 persists settled 1024
9 p0 gives up 0
9 c0 > p1 abort 0
9 p1 persists settled 1024
9 p1 gives up 0"
    );
}

#[test]
fn a_participant_restarts_with_what_it_held() {
    let log = play(lease(), &[], &[("p1 persists held 0", 1)]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
1 p1 crashes
2 p0 > c0 ready 0
2 p1 restarts
3 c0 > p1 prepare 0
4 p1 > c0 ready 0
4 c0 all ready 0
4 c0 persists commit 0
5 c0 > p0 commit 0
5 p0 persists committed 0
5 p0 carries out 0
5 c0 > p1 commit 0
5 p1 persists committed 0
5 p1 carries out 0
6 p0 > c0 committed 0
6 p1 > c0 committed 0
6 c0 told Committed 0
6 c0 persists over 0"
    );
}

#[test]
fn a_lease_ends_while_its_participant_is_down() {
    let log = play(short_margin(), &[], &[("p1 persists held 0", 9)]);
    assert_eq!(
        log,
        "\
0 c0 persists numbers
1 c0 > p0 prepare 0
1 p0 persists held 0
1 c0 > p1 prepare 0
1 p1 persists held 0
1 p1 crashes
2 p0 > c0 ready 0
3 c0 told Aborted 0
4 c0 > p0 abort 0
4 p0 persists settled 1
4 p0 gives up 0
10 p1 restarts
10 p1 persists lapsed 0
10 p1 gives up 0"
    );
}

/// The timer has not gone off yet, for its participant was down.
#[test]
fn a_commit_that_comes_before_the_timer_is_late_all_the_same() {
    let id = AgreementId { coordinator: coordinator(0), number: 7 };
    let until = Time::from_micros(5);
    let hold = |in_doubt| Hold::<Thing> {
        request: 1,
        terms: 1,
        lease: Span::from_micros(4),
        until,
        in_doubt,
    };
    let told = |in_doubt, now| {
        let held = ParticipantRecord::Entered(id, ParticipantState::Held(hold(in_doubt)));
        let mut out = Vec::new();
        let mut participant = Participant::start(participant(0), &(), vec![held], now, &mut out);
        let instruction = Instruction::Commit(2);
        let commit = ToParticipant { id, settled: 7, instruction };
        participant.on_message(now, coordinator(0), commit, &mut out);
        let told = out.into_iter().filter_map(|output| match output {
            Output::Tell(task) => Some(task),
            _ => None,
        });
        told.collect::<Vec<Task<Thing>>>()
    };
    let later = until + Span::TICK;
    let inquires = InDoubt::Inquire { every: Span::TICK };
    assert_eq!(told(InDoubt::Release, until), [Task::CarryOut { id, order: 2 }]);
    assert_eq!(told(inquires, later), [Task::CarryOut { id, order: 2 }]);
    let late = [Task::GiveUp { id }, Task::TakeUnheld { id, order: 2 }];
    assert_eq!(told(InDoubt::Release, later), late);
}

#[test]
fn a_part_that_was_never_held_is_taken() {
    let (now, to) = (Time::ZERO, participant(0));
    let mut out = Vec::new();
    let mut asks = Coordinator::<Thing>::start(coordinator(0), &(), Vec::new(), now, &mut out);
    let number = asks.commit_unprepared(now, to, 5, None, &mut out);
    let id = AgreementId { coordinator: coordinator(0), number };
    let (orders, receipts) = (BTreeMap::from([(to, 5)]), BTreeMap::new());
    let decided = CoordinatorState::Committing { retry: None, orders, receipts };
    let commit = ToParticipant { id, settled: number, instruction: Instruction::Commit(5) };
    let expected = [
        Output::Persist(CoordinatorRecord::Entered(number, decided)),
        Output::Send { to, message: commit.clone() },
    ];
    assert_eq!(out.split_off(1), expected);

    let mut said = Vec::new();
    let mut takes = Participant::<Thing>::start(to, &(), Vec::new(), now, &mut said);
    takes.on_message(now, id.coordinator, commit, &mut said);
    takes.take(id, 9, &mut said);
    let (hold, receipt) = (None, Some(9));
    let taken = ParticipantState::Committed { hold, order: 5, receipt };
    let committed = ToCoordinator { id, answer: Answer::Committed(receipt) };
    let expected = [
        Output::Tell(Task::TakeUnheld { id, order: 5 }),
        Output::Persist(ParticipantRecord::Entered(id, taken)),
        Output::Send { to: id.coordinator, message: committed.clone() },
    ];
    assert_eq!(said, expected);

    asks.on_message(now, to, committed, &mut out);
    let receipts = BTreeMap::from([(to, receipt)]);
    let expected = [
        Output::Tell(Progress::Committed { number, receipts }),
        Output::Persist(CoordinatorRecord::Over(number)),
        Output::Stop(CoordinatorTimer::Retry(number)),
    ];
    assert_eq!(out.split_off(1), expected);
}
