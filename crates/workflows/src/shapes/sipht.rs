//! SIPHT: candidates for small RNAs are predicted by several programs, and annotated. The workflow has
//! parts of 12 tasks with about 18 additional tasks "Patser", which share no data. Our own assumptions:
//! sizes are the means of the files of a task, and the numbers of tasks of parts differ by at most one.

use super::draw::{Draw, Stored, parts};
use crate::GraphError;

const TASKS_PER_PART: usize = 30;
/// Tasks of a part other than Patser.
const OTHERS: usize = 12;

const GENOME: f64 = 5_248_967.25;
const GENES: f64 = 328_510.50;
/// The program blast and its arguments.
const BLAST: f64 = 786_856.0 + 380_164.0 + 11_944.0;
/// Data between the genes of the genome and of about 889 partners.
const PARTNERS: f64 = 890.2 * 288_565.20;
const SEQUENCES: f64 = 84_073.0;

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let count = ((tasks + TASKS_PER_PART / 2) / TASKS_PER_PART).max(1);
    for patsers in parts(tasks - count * OTHERS, count) {
        part(draw, patsers)?;
    }
    Ok(())
}

fn part(draw: &mut Draw, patsers: usize) -> Result<(), GraphError> {
    let mut found = Vec::with_capacity(patsers);
    for _ in 0..patsers {
        let input = Stored::input(GENOME + 170_917.0 + 14.0 + 16.0);
        found.push(draw.drawn("Patser", (1.27, 0.11), input)?);
    }
    let concate = draw.drawn("Patser_concate", (0.08, 0.01), Stored::NOTHING)?;
    for patser in found {
        draw.edge(patser, concate, 91_780.15)?;
    }

    // Kind, run time, input from storage, output to storage, and output to SRNA.
    let predictors = [
        ("Findterm", (1_349.47, 796.0 * 796.0), GENOME + 591_942.0, 0.0, 34_383_745.00),
        ("RNAMotif", (36.42, 78.15), GENOME + 17_626.0, 0.0, 1_053_820.50),
        ("Transterm", (55.78, 48.0 * 48.0), GENOME + 45_788.0 + GENES, 0.0, 440_505.50),
        ("Blast", (2_350.58, 1_016.0 * 1_016.0), BLAST + PARTNERS, 548.75, 5_271_234.0),
    ];
    let mut predicted = Vec::new();
    for (kind, seconds, input, output, bytes) in predictors {
        let stored = Stored { output, ..Stored::input(input) };
        predicted.push((draw.drawn(kind, seconds, stored)?, bytes));
    }
    let known = 83_722.0 + 1_198.0 + 11_664_926.25 + 1_028_403.0;
    let stored = Stored { output: 5_707_941.00, ..Stored::input(known + GENOME + GENES) };
    let srna = draw.drawn("SRNA", (361.33, 342.0 * 342.0), stored)?;
    for (predictor, bytes) in predicted {
        draw.edge(predictor, srna, bytes)?;
    }
    let parse = Stored::input(4_202_875.0 + GENES);
    let parse = draw.drawn("FFN_Parse", (1.64, 0.06), parse)?;
    draw.edge(srna, parse, SEQUENCES)?;

    // The same, and output to SRNA_annotate.
    let qrna = 1_062_413.0 + BLAST + PARTNERS;
    let comparisons = [
        ("Blast_candidate", (5.18, 0.99), 172_432.0 + BLAST, 0.0, 14_937.50),
        ("Blast_QRNA", (1_412.09, 9_702.26), qrna, 4_135_972.62, 175_489.75),
        ("Blast_synteny", (33.0, 0.0), 1_419_426.0 + BLAST, 0.0, 1_146_801.25),
        ("Blast_paralogues", (4.99, 1.32), BLAST, 0.0, 690_731.50),
    ];
    let mut compared = Vec::new();
    for (kind, seconds, input, output, bytes) in comparisons {
        let stored = Stored { output, ..Stored::input(input) };
        let task = draw.drawn(kind, seconds, stored)?;
        draw.edge(srna, task, SEQUENCES)?;
        if kind == "Blast_synteny" {
            draw.edge(parse, task, 802_506.75)?;
        }
        compared.push((task, bytes));
    }
    let stored = Stored { output: 1_254_332.25, ..Stored::input(170_917.0 + 1_198.0) };
    let annotate = draw.drawn("SRNA_annotate", (1.68, 0.92), stored)?;
    draw.edge(srna, annotate, SEQUENCES + 331_823.50)?;
    draw.edge(concate, annotate, 91_780.15 * patsers as f64)?;
    for (task, bytes) in compared {
        draw.edge(task, annotate, bytes)?;
    }
    Ok(())
}
