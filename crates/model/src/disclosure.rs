//! The disclosure ladder: levels of information that a provider discloses about itself.

crate::words! {
    /// What a provider tells others about itself; each level includes those before it.
    #[derive(Default)]
    pub enum Disclosure {
        /// When a job that is asked about would start and end.
        #[default]
        Offers = "offers",
        /// Its total computing power.
        Power = "power",
        /// A rough load: remaining work per processor.
        Load = "load",
        /// Its free time slots.
        Slots = "slots",
        /// Its whole queue; no placement and no composition asks for it.
        Queue = "queue",
    }
}
