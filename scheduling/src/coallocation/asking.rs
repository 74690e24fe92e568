//! What metaschedulers ask providers for, and how often.

/// How often a job that is spread is placed in vain before it is given back, where nothing else is said.
pub const TRIALS: u32 = 5;

/// The same of an iterative application.
pub const MAPPING_TRIALS: u32 = 10;

haggle_model::words! {
    /// What providers are asked for.
    #[derive(Default)]
    pub enum AsksFor {
        /// The processors that are available first, and nothing of what is planned behind that.
        #[default]
        Machines = "machines",
        /// All free times; needs disclosure "slots".
        Slots = "slots",
    }
}
