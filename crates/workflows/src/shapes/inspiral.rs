//! LIGO Inspiral: template banks are matched against detector data, coincidences are found, and the
//! data that triggered them are matched again. Our own assumption: groups of about five template banks
//! share no data, so each group has two tasks that find coincidences.

use super::draw::{Draw, Stored, parts};
use crate::GraphError;

/// Three frames of detector data, and two files of calibration.
const DETECTOR: f64 = 3.0 * 15_595_958.08 + 8_415_922.0 + 902_334.0;
const INJECTIONS: f64 = 2_421_423.0;
const BANK: (f64, f64) = (986_917.26, 18_948.0 * 18_948.0);
const MATCHED: (f64, f64) = (312_935.68, 335_782_981_511.87);
const COINCIDENT: (f64, f64) = (33_820.71, 1_888_180_029.78);
const TRIGGERS: (f64, f64) = (12_779.67, 137_597_136.79);
const MATCHING: (f64, f64) = (460.21, 545.0 * 545.0);
const FINDING: (f64, f64) = (5.37, 0.06);
const TASKS_PER_GROUP: usize = 22;

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let tasks = tasks - tasks % 2;
    let mut groups = ((tasks + TASKS_PER_GROUP / 2) / TASKS_PER_GROUP).max(1);
    // Each group has two tasks, and each bank has four.
    if !(tasks - 2 * groups).is_multiple_of(4) {
        groups = if groups > 1 { groups - 1 } else { 2 };
    }
    let banks = (tasks - 2 * groups) / 4;
    // With eight tasks, two are left out.
    let (banks, groups) = if banks < groups { ((tasks - 2) / 4, 1) } else { (banks, groups) };
    for banks in parts(banks, groups) {
        group(draw, banks)?;
    }
    Ok(())
}

fn group(draw: &mut Draw, banks: usize) -> Result<(), GraphError> {
    let mut matched = Vec::with_capacity(banks);
    for _ in 0..banks {
        let bank = draw.drawn("TmpltBank", (18.14, 0.18), Stored::input(DETECTOR))?;
        let inspiral = draw.drawn("Inspiral", MATCHING, Stored::input(DETECTOR + INJECTIONS))?;
        let bytes = draw.size(BANK);
        draw.edge(bank, inspiral, bytes)?;
        matched.push((inspiral, draw.size(MATCHED)));
    }
    let first = draw.drawn("Thinca", FINDING, Stored::NOTHING)?;
    for (inspiral, bytes) in matched {
        draw.edge(inspiral, first, bytes)?;
    }
    let coincident = draw.size(COINCIDENT);
    let mut again = Vec::with_capacity(banks);
    for _ in 0..banks {
        let bank = draw.drawn("TrigBank", (5.11, 0.1), Stored::NOTHING)?;
        draw.edge(first, bank, coincident)?;
        let inspiral = draw.drawn("Inspiral", MATCHING, Stored::input(DETECTOR + INJECTIONS))?;
        let bytes = draw.size(TRIGGERS);
        draw.edge(bank, inspiral, bytes)?;
        again.push((inspiral, draw.size(MATCHED)));
    }
    let output = Stored::output(draw.size(COINCIDENT));
    let last = draw.drawn("Thinca", FINDING, output)?;
    for (inspiral, bytes) in again {
        draw.edge(inspiral, last, bytes)?;
    }
    Ok(())
}
