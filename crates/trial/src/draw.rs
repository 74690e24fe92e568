//! Draws whole scenarios at random, over all keys of the schema.
//!
//! ```text
//! schema ── draw ──> document ── fill ──> names and paths in it lead somewhere
//!                        ▲                      │ validate
//!                        └────── repair <───────┴──> accepted, or given up
//! ```
//!
//! The generator follows the schema, so a new key is drawn as soon as it exists. It has no rules for keys that fit
//! together: a problem that `validate` reports is repaired at its place, so every key meets every other. Each case
//! wants one key or word, so that all of them occur: see `wanted`. Meanings of strings that a schema cannot
//! express (such as references to names) are in `strings`, and the sizes of worlds in `size`.

mod beside;
mod dice;
mod document;
mod fill;
mod keys;
mod records;
mod repair;
mod simpler;
mod size;
mod split;
mod strings;
mod wanted;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use keys::{Key, keys, keys_of};
pub use simpler::Simpler;
pub use split::split;
pub use wanted::round;

use dice::Dice;
use document::Draw;
use size::Theme;
use wanted::Wanted;

use haggle_scenario::{Experiment, InvalidScenario, Logs, Source};

/// Largest number of repairs of a drawn scenario.
const REPAIRS_MAX: u32 = 400;

/// Share of accepted worlds that get another world beside them, in percent.
const BESIDE: usize = 30;

/// Share of two worlds with providers in common, in percent.
const MEET: usize = 50;

/// Number of the repair from which on the wanted key of a case may be removed.
const REPAIRS_WANTED: u32 = 360;

/// A drawn scenario and its result.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The scenario.
    pub document: toml::Table,
    /// Number of repairs.
    pub repairs: u32,
    /// First problem of a scenario that was given up; `None` if it is accepted.
    pub refused: Option<String>,
}

/// Draws case `number` under `seed`: one world, or two side by side. Each text is at `path` before it is read, so
/// that a text whose reading ends in a panic can be found there.
///
/// # Errors
/// If a file cannot be written.
pub fn draw(seed: u64, number: u64, path: &Path) -> io::Result<Drawn> {
    let mut dice = Dice::new(seed, number);
    // Logs are drawn in one format, so no theme has the keys of others.
    let has_theme = |it: &Wanted| Theme::ALL.into_iter().any(|theme| it.suits(theme));
    let wanted = Some(Wanted::of_case(seed, number)).filter(has_theme);
    let suits = |theme: &Theme| wanted.as_ref().is_none_or(|it| it.suits(*theme));
    let themes: Vec<Theme> = Theme::ALL.into_iter().filter(suits).collect();
    let theme = match themes[..] {
        // A key that suits only one theme is hardly ever accepted in any other world.
        [Theme::Anything, only] => only,
        _ => *dice.pick(&themes),
    };
    let one = draw_about(theme, &mut dice, wanted.clone(), path)?;
    if one.refused.is_some() || !dice.chance(BESIDE) {
        return Ok(one);
    }
    let two = draw_beside(&one, theme, &mut dice, wanted, path)?;
    if two.refused.is_none() {
        return Ok(two);
    }
    // The refused world has overwritten the file.
    write_with_records(path, &to_text(&one.document))?;
    Ok(one)
}

/// Draws a case of a theme.
fn draw_about(
    theme: Theme,
    dice: &mut Dice,
    mut wanted: Option<Wanted>,
    path: &Path,
) -> io::Result<Drawn> {
    let mut draw = Draw::new(dice, theme);
    let document = draw.document(&mut wanted);
    accept(document, &mut draw, wanted, path)
}

/// Draws a world of another theme and puts it beside an accepted one.
fn draw_beside(
    one: &Drawn,
    theme: Theme,
    dice: &mut Dice,
    wanted: Option<Wanted>,
    path: &Path,
) -> io::Result<Drawn> {
    let others: Vec<Theme> = Theme::ALL.into_iter().filter(|other| *other != theme).collect();
    let other = *dice.pick(&others);
    // The first world has the wanted key already.
    let two = draw_about(other, dice, None, path)?;
    if two.refused.is_some() {
        return Ok(two);
    }
    let mut document = one.document.clone();
    beside::join(&mut document, two.document);
    // Kinds of work meet in one queue only if they have a provider in common.
    if dice.chance(MEET) {
        beside::meet(&mut document, &one.document, dice);
    }
    // Names of tables that were left out lead elsewhere.
    let mut draw = Draw::new(dice, Theme::Anything);
    fill::fill(&mut document, &mut draw);
    accept(document, &mut draw, wanted, path)
}

/// Repairs a document until it is accepted, or given up.
fn accept(
    mut document: toml::Table,
    draw: &mut Draw<'_>,
    mut wanted: Option<Wanted>,
    path: &Path,
) -> io::Result<Drawn> {
    let mut repairs = 0;
    loop {
        let text = to_text(&document);
        write_with_records(path, &text)?;
        let Err(invalid) = read(path, &text) else {
            return Ok(Drawn { document, repairs, refused: None });
        };
        // A drift is an error of the program, which no repair of the document ends.
        if repairs == REPAIRS_MAX || invalid.is_drift() {
            return Ok(Drawn { document, repairs, refused: Some(first_line(&invalid)) });
        }
        repairs += 1;
        if repairs == REPAIRS_WANTED {
            // Late: a key that cannot be had in this world should not cost the whole case.
            wanted = None;
        }
        repair::repair(&mut document, &invalid, repairs, &mut wanted, draw);
    }
}

/// A document as the text of a scenario.
pub fn to_text(document: &toml::Table) -> String {
    toml::to_string(document).expect("what is drawn are tables with string keys")
}

/// Writes a scenario, and beside it the logs and records that it names.
///
/// # Errors
/// If a file cannot be written.
pub fn write_with_records(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for (name, content) in records::named_in(text) {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}

fn read(path: &Path, text: &str) -> Result<Experiment, InvalidScenario> {
    Experiment::read(Source::new(PathBuf::from(path), text), Logs::MustExist)
}

fn first_line(invalid: &InvalidScenario) -> String {
    invalid.problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haggle_scenario::Scenario;

    #[test]
    fn a_case_is_always_the_same() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("case.toml");
        let text = |number| to_text(&draw(7, number, &path).expect("it can be written").document);
        assert_eq!(text(3), text(3));
        assert_ne!(text(3), text(4));
    }

    /// Most cases of a theme have its subject, although nothing else forces it.
    #[test]
    fn cases_about_shared_links_have_them() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("case.toml");
        let shares = |theme: Theme, moves: fn(&Scenario) -> bool| {
            let shares = |number: &u64| {
                let mut dice = Dice::new(11, *number);
                let drawn = draw_about(theme, &mut dice, None, &path).expect("it is written");
                let text = to_text(&drawn.document);
                let shares = |it: &Scenario| it.link_sharing().is_some() && moves(it);
                read(&path, &text).is_ok_and(|it| shares(&it.scenario))
            };
            let count = (0..100).filter(shares).count();
            assert!(count >= 60, "{theme:?}: {count} of 100");
        };
        shares(Theme::Shared, Scenario::moves_data);
        shares(Theme::Saved, Scenario::carries_checkpoints);
    }
}
