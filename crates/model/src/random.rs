//! Streams of random numbers: one for each (actor, purpose). A new draw in one stream shifts no other
//! stream, so two policies with one seed see the same world.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The generator of every stream: portable, so that results are the same on every machine.
pub type Stream = ChaCha8Rng;

/// The stream of `purpose` for `actor` under the run's master `seed`.
///
/// ```
/// use rand::Rng;
/// let mut a = haggle_model::random::stream(1, "users of north", "arrivals");
/// let mut b = haggle_model::random::stream(1, "users of north", "estimates");
/// assert_ne!(a.next_u64(), b.next_u64());
/// ```
pub fn stream(seed: u64, actor: &str, purpose: &str) -> Stream {
    // A hash of the names, with a separator that no name contains, is mixed with the seed by
    // SplitMix64: simple, and stable across versions and platforms.
    let hash = hash(actor.bytes().chain([0]).chain(purpose.bytes()));
    let mut key = [0; 32];
    let mut state = seed ^ hash.rotate_left(32);
    for chunk in key.chunks_exact_mut(8) {
        // An odd step gives the sequence its full period.
        state = state.wrapping_add(hash | 1);
        chunk.copy_from_slice(&mix(state).to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// A stream between draws. It takes an eighth of the memory of an active stream. Waking it costs as
/// much as some twenty draws. It suits many streams that draw several numbers at a time.
#[derive(Clone, Copy, Debug)]
pub struct Resting {
    key: [u8; 32],
    /// In words. The last words of a stream are never drawn.
    position: u64,
}

impl Resting {
    /// The rest of a stream.
    pub fn of(stream: &Stream) -> Resting {
        // No stream comes near 2^64 words.
        Resting { key: stream.get_seed(), position: stream.get_word_pos() as u64 }
    }

    /// The stream, where it was left.
    pub fn wake(self) -> Stream {
        let mut stream = ChaCha8Rng::from_seed(self.key);
        stream.set_word_pos(u128::from(self.position));
        stream
    }
}

/// FNV-1a.
pub(crate) fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The draw of SplitMix64 from `state`, for draws that any other program can repeat.
pub fn splitmix(state: u64) -> u64 {
    mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_stream_that_rests_goes_on_where_it_was() {
        let (mut awake, mut rests) =
            (stream(1, "north", "x"), Resting::of(&stream(1, "north", "x")));
        for draws in 0..200 {
            let mut woken = rests.wake();
            for draw in 0..draws % 7 {
                // Words and half words, so that the stream is left at every place of a block.
                match (draws + draw) % 2 {
                    0 => assert_eq!(woken.next_u64(), awake.next_u64()),
                    _ => assert_eq!(woken.next_u32(), awake.next_u32()),
                }
            }
            rests = Resting::of(&woken);
        }
    }

    /// The first draws of the published generator from the seed 0.
    #[test]
    fn splitmix_is_the_published_one() {
        let drawn = [0, 0x9e37_79b9_7f4a_7c15].map(splitmix);
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn streams_depend_on_seed_actor_and_purpose_only() {
        let first = |seed, actor, purpose| stream(seed, actor, purpose).next_u64();
        let reference = first(7, "north", "arrivals");
        assert_eq!(reference, first(7, "north", "arrivals"));
        assert_ne!(reference, first(8, "north", "arrivals"));
        assert_ne!(reference, first(7, "south", "arrivals"));
        assert_ne!(reference, first(7, "north", "run times"));
        assert_ne!(first(7, "ab", "c"), first(7, "a", "bc"));
    }
}
