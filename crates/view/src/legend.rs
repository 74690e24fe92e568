//! The looks that occur in a view, and the workloads behind its colours.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::scene::flag;
use crate::shown::shown;
use crate::view::Known;
use crate::{Refusal, View};

/// Colours of workloads.
const COLOURS: usize = 8;

/// Most names of a colour that are listed.
const NAMES_MAX: usize = 20;

/// Larger numbers of jobs are those of a damaged table.
const JOB_MAX: usize = 1 << 28;

/// Looks that occur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Legend {
    /// Colours that occur, with their workloads.
    pub colours: Vec<ColourEntry>,
    /// Classes that occur, as in the low four bits of a style.
    pub classes: Vec<u8>,
    /// Flags that occur, as bits of a style: lost, running, planned, given up.
    pub flags: Vec<u8>,
    /// Kinds of marks that occur.
    pub marks: Vec<u32>,
    /// Kinds of ticks that occur.
    pub ticks: Vec<u32>,
}

/// A colour and its workloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColourEntry {
    /// Number of the colour.
    pub colour: u8,
    /// Names of workloads in order, at most 20.
    pub names: Vec<String>,
    /// Number of further names.
    pub more: usize,
}

/// The looks in the charts of a view; with `known`, in those that an actor knows. Without a table of jobs, colours have no names.
///
/// # Errors
/// If the view has no charts now.
pub fn legend<V: View + ?Sized>(view: &V, known: Option<&Known>) -> Result<Legend, Refusal> {
    let (mut looks, mut used) = ([false; 256], [false; COLOURS]);
    let (mut marks, mut ticks) = (BTreeSet::new(), BTreeSet::new());
    // Colour + 1 by number of the job; 0 = no bar.
    let mut colour_of: Vec<u8> = Vec::new();
    let scene = view.scene()?;
    for (number, chart) in scene.charts.iter().enumerate() {
        if known.is_some_and(|it| !it.charts.contains(&number)) {
            continue;
        }
        for bar in chart.bars() {
            looks[usize::from(bar.look)] = true;
            used[usize::from(bar.colour) % COLOURS] = true;
            let job = bar.job as usize;
            if job >= JOB_MAX {
                continue;
            }
            if colour_of.len() <= job {
                colour_of.resize(job + 1, 0);
            }
            colour_of[job] = bar.colour + 1;
        }
        marks.extend(chart.marks().iter().map(|it| it.kind as u32));
        ticks.extend(chart.ticks().iter().map(|it| it.kind as u32));
    }
    drop(scene);
    let names = names(view, &colour_of).unwrap_or_default();
    let entry = |(colour, names): (usize, BTreeSet<String>)| ColourEntry {
        colour: colour as u8,
        more: names.len().saturating_sub(NAMES_MAX),
        names: names.iter().take(NAMES_MAX).map(|it| shown(it)).collect(),
    };
    let looks = Vec::from_iter((0..=u8::MAX).filter(|look| looks[usize::from(*look)]));
    let flags = [flag::LOST, flag::RUNNING, flag::PLANNED, flag::GIVEN_UP];
    Ok(Legend {
        colours: names.into_iter().enumerate().filter(|it| used[it.0]).map(entry).collect(),
        classes: (0..16).filter(|class| looks.iter().any(|look| look & 15 == *class)).collect(),
        flags: flags.into_iter().filter(|it| looks.iter().any(|look| look & it != 0)).collect(),
        marks: marks.into_iter().collect(),
        ticks: ticks.into_iter().collect(),
    })
}

/// The names of the workloads of each colour.
fn names<V: View + ?Sized>(
    view: &V,
    colour_of: &[u8],
) -> Result<[BTreeSet<String>; COLOURS], Refusal> {
    let table = view.job_table()?;
    let (jobs, workloads) = (table.column("job")?, table.column("workload_name")?);
    let mut names: [BTreeSet<String>; COLOURS] = Default::default();
    for row in 0..table.rows() {
        let colour = jobs.number(row).and_then(|job| colour_of.get(job as usize));
        let Some(colour) = colour.and_then(|it| it.checked_sub(1)) else { continue };
        let names = &mut names[usize::from(colour) % COLOURS];
        match workloads.text(row) {
            Some(name) if !names.contains(name) => names.insert(name.to_owned()),
            _ => continue,
        };
    }
    Ok(names)
}
