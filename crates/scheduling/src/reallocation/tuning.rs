//! Number of processors of a moldable job on a cluster (Caniou, Charrier and Desprez 2010, section 3.2.1).

use haggle_model::{Sizing, Time};
use serde::{Deserialize, Serialize};

haggle_model::words! {
    /// Search of a provider for the number of processors of a moldable job.
    #[derive(Default)]
    pub enum Tuning {
        // Assumes that more processors are better up to a point and worse behind it; a plan with holes
        // violates that.
        /// By halving the range of numbers; the search may miss the best one.
        #[default]
        Binary = "binary",
        /// All numbers.
        Exhaustive = "exhaustive",
    }
}

impl Tuning {
    /// The number of processors from 1 to `widest` with the earliest completion of all that it `evaluate`s;
    /// the smallest one of equal numbers. `None` if one cannot be evaluated.
    pub fn best(
        self,
        widest: u32,
        mut evaluate: impl FnMut(u32) -> Option<Sizing>,
    ) -> Option<Sizing> {
        let mut best: Option<Sizing> = None;
        let mut see = |processors| {
            let sizing = evaluate(processors)?;
            let rank = |it: &Sizing| (it.completion(), it.processors);
            if best.is_none_or(|best| rank(&sizing) < rank(&best)) {
                best = Some(sizing);
            }
            Some(sizing.completion())
        };
        match self {
            Tuning::Exhaustive => {
                for processors in 1..=widest {
                    see(processors)?;
                }
            }
            Tuning::Binary => bisect(widest, &mut see)?,
        }
        best
    }
}

/// Choice of the size of a job at a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sizes {
    /// The provider searches for the best size.
    Searched(Tuning),
    /// The job keeps the processors that it had at another provider, or as many as the machine has.
    Kept(u32),
}

impl Sizes {
    /// The size of a job that can use up to `widest` processors: see [`Tuning::best`].
    pub fn best(
        self,
        widest: u32,
        mut evaluate: impl FnMut(u32) -> Option<Sizing>,
    ) -> Option<Sizing> {
        match self {
            Sizes::Searched(tuning) => tuning.best(widest, evaluate),
            Sizes::Kept(processors) => evaluate(processors.min(widest)),
        }
    }
}

/// Halves the range of numbers, towards the better of its two ends.
fn bisect(widest: u32, see: &mut impl FnMut(u32) -> Option<Time>) -> Option<()> {
    let mut low = (1, see(1)?);
    if widest <= 1 {
        return Some(());
    }
    let mut high = (widest, see(widest)?);
    while high.0 - low.0 > 1 {
        let middle = low.0.midpoint(high.0);
        let seen = (middle, see(middle)?);
        // Between equal ends towards fewer processors.
        if low.1 <= high.1 {
            high = seen;
        } else {
            low = seen;
        }
    }
    Some(())
}
