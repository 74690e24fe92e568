//! When resources fail and when they come back.
//!
//! ```text
//! law of up and down times \
//! list of outages           >-> Failures -> outages, in order of time
//! recorded failures        /        ^
//!                           correlations: sites, racks
//! ```
//!
//! A resource is either up or down. An [`Outage`] is the time from a failure to
//! the restoration after it. The outages of a resource come in order of time,
//! with time up between any two of them. [`Failures`] describes the resources and their laws, and [`Failures::outages`]
//! gives the outages of all resources one by one, without end and without a clock: the caller decides
//! when to stop.
//!
//! Draws belong to (seed, resource, purpose). Another resource, another law
//! elsewhere, or a correlation changes neither times to failure nor times to repair of this resource.
//!
//! # Trouble
//!
//! - An outage may have begun before time zero. Then the resource is down when
//!   the run starts ([`Outage::is_down_at_start`]), and its failure is no event
//!   of the run.
//! - An outage that is never over has the restoration [`haggle_model::Time::FOREVER`].
//! - The iterators have no end where a law has none: bound them by time.

mod availability;
mod correlation;
mod error;
mod law;
mod nominal;
mod outage;
mod platform;
pub mod recorded;
mod renewal;
mod sites;

pub use availability::{availability, mean_availability};
pub use correlation::Correlation;
pub use error::{FailureError, OutageListError};
pub use law::{FailureLaw, FailureStart, MINUTE};
pub use nominal::{NOMINAL_ROWS, NominalRow};
pub use outage::{Outage, OutageList, Window};
pub use platform::{Cause, Failures, PlatformOutages, Resource, ResourceOutages};
pub use recorded::{RecordedNode, Recording};
pub use sites::{DEFAULT_SITES, SiteReliability};
