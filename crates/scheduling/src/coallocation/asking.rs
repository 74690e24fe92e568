//! Requests of metaschedulers to providers, and how often they repeat.

/// Default for how often a spread job is placed in vain before it is given back.
pub const TRIALS: u32 = 5;

/// As [`TRIALS`], of an iterative application.
pub const MAPPING_TRIALS: u32 = 10;

haggle_model::words! {
    /// Facts requested from providers.
    #[derive(Default)]
    pub enum AsksFor {
        /// The processors that are available first, without the free times behind later plans.
        #[default]
        Machines = "machines",
        /// All free times; needs disclosure "slots".
        Slots = "slots",
    }
}
