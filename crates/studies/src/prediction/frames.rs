//! A model of the time to render the frames of three animations.
//!
//! The times of the ray tracer behind the published measurements are not available; their totals and the
//! course of each animation are (Netto 2009, section 7.4.1, Table 7.1). The curves here follow that course
//! and are scaled to those totals. The fixed cost of a frame was fitted to the table. So agreement with the
//! table tests the fit, not the source.

use std::f64::consts::TAU;

/// Frames of every animation.
pub const FRAMES: usize = 200;

/// An animation of the published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Animation {
    /// A vase turns before a sky: all frames take about the same time.
    SkyVase,
    /// The camera enters a box and leaves it on the other side: frames take longer and longer, then little
    /// time.
    Box,
    /// Fish swim through a scene: each frame differs from the next.
    Fish,
}

impl Animation {
    /// All animations, in the order of the published table.
    pub const ALL: [Animation; 3] = [Animation::SkyVase, Animation::Box, Animation::Fish];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Animation::SkyVase => "sky-vase",
            Animation::Box => "box",
            Animation::Fish => "fish",
        }
    }

    /// Seconds that all frames take at full resolution.
    pub const fn total(self) -> f64 {
        match self {
            Animation::SkyVase => 129_600.0,
            Animation::Box => 9_000.0,
            Animation::Fish => 28_800.0,
        }
    }

    /// Seconds that each frame costs at a low resolution, independent of its size.
    const fn fixed_cost(self) -> f64 {
        match self {
            Animation::SkyVase => 0.78,
            Animation::Box => 0.34,
            Animation::Fish => 0.84,
        }
    }

    /// The course of the animation, up to a factor.
    fn course(self, frame: usize) -> f64 {
        let turn = TAU * frame as f64 / FRAMES as f64;
        match self {
            Animation::SkyVase => 1.0 + 0.02 * turn.sin(),
            Animation::Box => {
                let way = frame as f64 / (FRAMES - 1) as f64;
                let inside = way / 0.6;
                let height = if inside <= 1.0 {
                    inside * inside * inside
                } else {
                    (1.0 - (way - 0.6) / 0.2).max(0.0)
                };
                11.4 + 134.4 * height
            }
            Animation::Fish => {
                let slow = 0.65 * (2.0 * turn).sin();
                let fast = 0.50 * (7.0 * turn + 1.0).sin() + 0.25 * (23.0 * turn + 2.0).sin();
                (1.0 + slow + fast).max(0.3)
            }
        }
    }
}

/// Resolution of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// 2048 x 1536, the resolution of the animation.
    Full,
    /// 640 x 480.
    W640,
    /// 320 x 240.
    W320,
    /// 160 x 120.
    W160,
}

impl Resolution {
    /// The resolutions at which run times are predicted, largest first.
    pub const LOW: [Resolution; 3] = [Resolution::W640, Resolution::W320, Resolution::W160];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Resolution::Full => "2048x1536",
            Resolution::W640 => "640x480",
            Resolution::W320 => "320x240",
            Resolution::W160 => "160x120",
        }
    }

    /// Pixels of the animation for each pixel at this resolution.
    const fn pixel_ratio(self) -> f64 {
        match self {
            Resolution::Full => 1.0,
            Resolution::W640 => 10.24,
            Resolution::W320 => 40.96,
            Resolution::W160 => 163.84,
        }
    }
}

/// The times of an animation's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameModel {
    animation: Animation,
    /// Seconds at full resolution, [`FRAMES`] of them.
    times: Vec<f64>,
}

impl FrameModel {
    /// The model of an animation.
    pub fn new(animation: Animation) -> FrameModel {
        let course: Vec<f64> = (0..FRAMES).map(|frame| animation.course(frame)).collect();
        let scale = animation.total() / course.iter().sum::<f64>();
        FrameModel { animation, times: course.into_iter().map(|time| time * scale).collect() }
    }

    /// Seconds that a frame takes; frames count from 0.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn time(&self, frame: usize, resolution: Resolution) -> f64 {
        match resolution {
            Resolution::Full => self.times[frame],
            low => self.animation.fixed_cost() + self.times[frame] / low.pixel_ratio(),
        }
    }

    /// Seconds that all frames take at full resolution.
    pub fn total(&self) -> f64 {
        self.times.iter().sum()
    }

    /// The first of the frames that take the longest at full resolution.
    pub fn longest(&self) -> usize {
        self.first_best(|time, best| time > best)
    }

    /// The first of the frames that take the shortest time at full resolution.
    pub fn shortest(&self) -> usize {
        self.first_best(|time, best| time < best)
    }

    fn first_best(&self, better: impl Fn(f64, f64) -> bool) -> usize {
        let best = |best, frame| {
            // The comparison is strict, so the first of equal frames wins.
            if better(self.times[frame], self.times[best]) { frame } else { best }
        };
        (1..FRAMES).fold(0, best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CX-9 and CR-CFG-c.
    #[test]
    fn totals_and_extreme_frames_are_those_of_the_description() {
        let expected = [
            (129_600.0, 660.96, 50, 635.04, 150),
            (9_000.0, 145.00, 119, 11.44, 0),
            (28_800.0, 306.71, 34, 41.78, 70),
        ];
        for (animation, expected) in Animation::ALL.into_iter().zip(expected) {
            let model = FrameModel::new(animation);
            let (total, max, longest, min, shortest) = expected;
            assert!((model.total() - total).abs() < 1e-6, "{animation:?}");
            assert_eq!((model.longest(), model.shortest()), (longest, shortest), "{animation:?}");
            assert!((model.time(longest, Resolution::Full) - max).abs() < 0.01, "{animation:?}");
            assert!((model.time(shortest, Resolution::Full) - min).abs() < 0.01, "{animation:?}");
        }
    }
}
