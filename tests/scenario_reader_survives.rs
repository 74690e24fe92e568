//! Reading a scenario of any bytes returns a scenario, or problems that point into the text; it
//! never panics.

use std::fs;

use haggle::scenario::{Experiment, Lines, Logs, Source};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::command::Folder;
use crate::scenario_round_trips::EVERYTHING;

/// Bytes with a meaning in TOML or in quantities, so that mutations reach deep parts of the reader.
const TELLING: &[u8] = b"[]{}=.,\"'#\n \\0123456789-+_%:*$eEnstx\xc3\xa9\xff";

fn survives(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(invalid) = Experiment::read(Source::new("fuzz.toml", &*text), Logs::Ignore) {
        assert!(!invalid.problems.is_empty(), "refused without a reason: {text}");
        let lines = Lines::of(&text);
        for problem in &invalid.problems {
            assert!(
                text.get(problem.span.clone()).is_some(),
                "{problem:?} points outside of {text}"
            );
            assert!(lines.line(problem.span.start) <= text.lines().count().max(1) + 1);
        }
    }
}

#[test]
fn changed_scenarios_are_read_or_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..500 {
        survives(&changed(&mut random));
    }
}

#[test]
fn problems_of_changed_scenarios_can_be_printed() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let folder = Folder::with(&[]);
    let names: Vec<String> = (0..100).map(|number| format!("{number}.toml")).collect();
    for name in &names {
        let text = changed(&mut random);
        fs::write(folder.path().join(name), String::from_utf8_lossy(&text).as_bytes())
            .expect("a file can be written");
    }
    let mut arguments = vec!["validate", "--ignore-logs"];
    arguments.extend(names.iter().map(String::as_str));
    let printed = folder.haggle(&arguments);
    assert!(
        printed.starts_with("exit code: 3\n") || printed.starts_with("exit code: 0\n"),
        "{printed}"
    );
    for name in &names {
        let verdict = [format!("error: {name} has "), format!("{name}: valid")];
        assert!(verdict.iter().any(|verdict| printed.contains(verdict)), "no verdict on {name}");
    }
}

/// The scenario with every key, with a few changed bytes or lines.
fn changed(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = EVERYTHING.as_bytes().to_vec();
    for _ in 0..=random.next_u32() % 6 {
        let at = random.next_u32() as usize % bytes.len();
        let byte = TELLING[random.next_u32() as usize % TELLING.len()];
        match random.next_u32() % 4 {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => {
                // Moves a line to another place, so that keys occur in tables where they do not
                // belong.
                let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
                let from = random.next_u32() as usize % lines.len();
                let line = lines.remove(from);
                lines.insert(random.next_u32() as usize % (lines.len() + 1), line);
                bytes = lines.join(&b'\n');
            }
        }
    }
    bytes
}

#[test]
fn random_bytes_are_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..3_000 {
        let length = random.next_u32() as usize % 60;
        let byte = |random: &mut ChaCha8Rng| match random.next_u32() % 3 {
            0 => random.next_u32() as u8,
            _ => TELLING[random.next_u32() as usize % TELLING.len()],
        };
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
        survives(&bytes);
    }
}
