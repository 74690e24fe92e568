//! The load by users outside the grid, who compute on a resource, too.

use haggle_grids::ResourceId;
use haggle_model::random::Stream;
use haggle_model::work::Speed;
use haggle_model::{Span, Time};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::GridResource;
use crate::Outbox;
use crate::protocol::GridTimer;

/// Variation of the load by others (Chtepen 2011, section 5.6.1). Every period it is set to its
/// initial value, plus or minus a drawn part of that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackgroundLoad {
    /// The load at first.
    pub initial: Speed,
    /// Time between changes; `None` = it never changes.
    pub period: Option<Span>,
    /// The smallest and largest change, parts of the initial load.
    pub change: (f64, f64),
}

impl BackgroundLoad {
    /// A load between two shares of the capacity, uniform, and never almost all of it.
    pub fn draw(capacity: Speed, (low, high): (f64, f64), stream: &mut Stream) -> Speed {
        let part = (low + (high - low) * stream.random::<f64>()).min(MOST);
        Speed::from_micro_mips((capacity.as_micro_mips() as f64 * part).round() as u64)
    }
}

/// The load of one resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    law: BackgroundLoad,
    capacity: Speed,
    stream: Stream,
}

/// The largest part of a resource that the load by others can take.
const MOST: f64 = 0.95;

impl GridResource {
    /// The same resource with load by others.
    pub fn with_load(mut self, law: BackgroundLoad, stream: Stream) -> GridResource {
        let capacity = self.machine.avail();
        self.machine.set_background(Time::ZERO, law.initial);
        self.load = law.period.is_some().then(|| Box::new(Load { law, capacity, stream }));
        self
    }

    /// Its number in the scheduler's view.
    pub fn id(&self) -> ResourceId {
        self.id
    }

    /// The part of its speed that the load by others leaves.
    pub fn avail(&self) -> Speed {
        self.machine.avail()
    }

    pub(super) fn on_load_changes(&mut self, now: Time, out: &mut Outbox) {
        let Some(load) = &mut self.load else { return };
        let (least, most) = load.law.change;
        let part = least + (most - least) * load.stream.random::<f64>();
        // The range gives only the size of a change.
        let sign = if load.stream.random::<bool>() { 1.0 } else { -1.0 };
        let initial = load.law.initial.as_micro_mips() as f64;
        let most = load.capacity.as_micro_mips() as f64 * MOST;
        let background = (initial * (1.0 + sign * part)).clamp(0.0, most).round() as u64;
        self.machine.set_background(now, Speed::from_micro_mips(background));
        if let Some(period) = load.law.period {
            out.wake(now + period, GridTimer::LoadChanges);
        }
        self.tell_status(now, out);
    }
}
