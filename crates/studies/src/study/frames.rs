//! Table 7.1 and figures 7.6 to 7.8 of Netto 2009: run time estimates of a ray
//! tracer from frames at low resolution, on a synthetic model of frame times.

use crate::prediction::frames::{Animation, FRAMES, FrameModel, Resolution};
use crate::prediction::{BaseFrame, estimate};

use super::{Compute, Effort};
use crate::data::Data;

/// The study.
pub(super) struct Frames;

impl Compute for Frames {
    fn name(&self) -> &'static str {
        "frames"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let axes = ["animation", "resolution", "base", "samples"];
        let mut data = Data::table(self.name(), &axes);
        for animation in Animation::ALL {
            let model = FrameModel::new(animation);
            for resolution in Resolution::LOW {
                for base in [BaseFrame::Longest, BaseFrame::Shortest] {
                    for samples in (5..=FRAMES).step_by(5) {
                        let found = estimate(&model, resolution, base, samples);
                        let point = [
                            animation.name(),
                            resolution.name(),
                            base.name(),
                            &samples.to_string(),
                        ];
                        let values = [
                            ("actual", model.total() / 60.0),
                            ("prediction", found.prediction / 60.0),
                            ("profiling_time", found.profiling_time / 60.0),
                            ("profiling_share", 100.0 * found.profiling_time / model.total()),
                            ("error", 100.0 * found.error),
                        ];
                        data.push(&point, 1, &values);
                    }
                }
            }
        }
        Ok(data)
    }
}
