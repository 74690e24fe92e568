//! CyberShake: seismograms are synthesized from strain Green tensors of a site, and peak values are
//! computed from each. Two tasks collect all results. About 0.8 % of the tasks extract tensors, at
//! least two if the size allows. Our own assumption: the numbers of seismograms of extractions differ
//! by at most one.

use super::draw::{Draw, Stored, parts};
use crate::GraphError;

const TENSOR: (f64, f64) = (19_958_666_972.0, 93_654_683_371_233_792.0);
const EXTRACTED: (f64, f64) = (231_720_131.58, 27_081_652_820_787_388.0);
const VARIATION: (f64, f64) = (3_708_598.53, 3_187_576.0 * 3_187_576.0);
const SEISMOGRAM: f64 = 24_000.0;
const PEAKS: f64 = 216.0;
/// Compression ratio of the collected results.
const PACKED: f64 = 1.0 / 6.0;

pub(super) fn draw(draw: &mut Draw, tasks: usize) -> Result<(), GraphError> {
    let rest = tasks - 2;
    let wanted = ((0.0081 * rest as f64).round() as usize).max(2).min(rest / 3);
    // Each seismogram has two tasks.
    let extractions = if (rest - wanted).is_multiple_of(2) { wanted } else { wanted.abs_diff(1) };
    let extractions = extractions.max(1); // of six tasks, one is left out
    let seismograms = (rest - extractions) / 2;

    let mut synthesized = Vec::with_capacity(seismograms);
    for seismograms in parts(seismograms, extractions) {
        let input = 2.0 * draw.size(TENSOR);
        let extract = draw.drawn("ExtractSGT", (137.45, 206.0 * 206.0), Stored::input(input))?;
        let extracted = 2.0 * draw.size(EXTRACTED);
        for _ in 0..seismograms {
            let input = Stored::input(draw.size(VARIATION));
            let task = draw.drawn("SeismogramSynthesis", (43.40, 31.0 * 31.0), input)?;
            draw.edge(extract, task, extracted)?;
            let peaks = draw.drawn("PeakValCalcOkaya", (1.09, 3.71), Stored::NOTHING)?;
            draw.edge(task, peaks, SEISMOGRAM)?;
            synthesized.push((task, peaks));
        }
    }
    let packed = PACKED * SEISMOGRAM * seismograms as f64;
    let zip = draw.task("ZipSeis", packed / 228_180.0, Stored::output(packed))?;
    for &(task, _) in &synthesized {
        draw.edge(task, zip, SEISMOGRAM)?;
    }
    let packed = PACKED * PEAKS * seismograms as f64;
    let zip = draw.task("ZipPSA", packed / 2_782.0, Stored::output(packed))?;
    for &(_, peaks) in &synthesized {
        draw.edge(peaks, zip, PEAKS)?;
    }
    Ok(())
}
