//! The disclosure ladder: levels of information that a provider discloses about itself.

crate::words! {
    /// Facts that a provider discloses about itself; each level includes those before it.
    #[derive(Default)]
    pub enum Disclosure {
        /// Start and end that a requested job would have.
        #[default]
        Offers = "offers",
        /// Its total computing power.
        Power = "power",
        /// A rough load: remaining work per processor.
        Load = "load",
        /// Its free time slots.
        Slots = "slots",
        /// Its whole queue; no placement and no composition needs it.
        Queue = "queue",
    }
}
