//! Code that the benchmarks share.

/// A reproducible stream of numbers below 2^31. Its quality is sufficient for synthetic work.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// As often between 10 and 20 as between 1000 and 2000.
    pub fn magnitude(&mut self, from: u64, doublings: u64) -> u64 {
        let lower = from << self.below(doublings);
        lower + self.below(lower)
    }

    /// A power of two up to 256.
    pub fn width(&mut self) -> u32 {
        1 << self.below(9)
    }
}
