//! The envelope of a frame: 60 bytes in front of the body.
//!
//! Its bytes are fixed for each version, little endian, without gaps.

use haggle_model::{ActorId, Time};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of every frame, in every version.
pub const MAGIC: [u8; 4] = *b"HGLw";

/// Version of the envelope.
pub const VERSION: u16 = 1;

/// Length of the envelope in bytes.
pub const HEADER: usize = 60;

/// Place of the length of the body.
pub(super) const LENGTH_AT: usize = 12;

/// Place of the check sum, the last field.
const CHECK_AT: usize = HEADER - 4;

/// The envelope of a frame, without magic, version, length and check sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Number of the kind of its body.
    pub kind: u16,
    /// The sender's name as a number, see [`name_hash`].
    pub sender: u64,
    /// Number of starts of the sender's process.
    pub incarnation: u32,
    /// Number of the frame among all from this sender to this receiver.
    pub sequence: u64,
    /// The sender has taken all frames of its receiver up to this number.
    pub acknowledged: u64,
    /// The receiver.
    pub receiver: ActorId,
    /// Logical time of the sender.
    pub time: Time,
}

/// Reason why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unframed {
    /// The sender is no node.
    #[error("the peer does not send frames of haggle")]
    NotHaggle,
    /// The layout of the rest is unknown.
    #[error("the envelope has version {0}, and this program reads version {VERSION}")]
    OtherVersion(u16),
}

/// The number of a name in envelopes.
pub fn name_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// Checks the part of an envelope that all versions share, as far as it has arrived.
pub(super) fn check_start(bytes: &[u8]) -> Result<(), Unframed> {
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err(Unframed::NotHaggle);
    }
    match bytes.get(4..6) {
        Some(&[low, high]) if u16::from_le_bytes([low, high]) != VERSION => {
            Err(Unframed::OtherVersion(u16::from_le_bytes([low, high])))
        }
        _ => Ok(()),
    }
}

/// Reads integers one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("the header has all fields");
        self.0 = rest;
        *field
    }
}

impl Envelope {
    /// The envelope of a frame with this body.
    pub(super) fn write(&self, body: &[u8]) -> [u8; HEADER] {
        let &Envelope { kind, sender, incarnation, sequence, acknowledged, receiver, time } = self;
        let length = u32::try_from(body.len()).expect("a body is at most BODY_MAX bytes");
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(sender.to_le_bytes());
        bytes.extend(incarnation.to_le_bytes());
        bytes.extend(receiver.0.to_le_bytes());
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(acknowledged.to_le_bytes());
        bytes.extend(time.as_micros().to_le_bytes());
        bytes.extend(check_sum(&bytes, body).to_le_bytes());
        bytes.try_into().expect("the fields have the length of the header")
    }

    /// The envelope in the first bytes of a frame. Its check sum is not compared.
    pub(super) fn read(header: &[u8; HEADER]) -> Envelope {
        let mut fields = Fields(&header[6..]);
        let kind = u16::from_le_bytes(fields.next());
        let [_flags, _length] =
            [u32::from_le_bytes(fields.next()), u32::from_le_bytes(fields.next())];
        Envelope {
            kind,
            sender: u64::from_le_bytes(fields.next()),
            incarnation: u32::from_le_bytes(fields.next()),
            receiver: ActorId(u32::from_le_bytes(fields.next())),
            sequence: u64::from_le_bytes(fields.next()),
            acknowledged: u64::from_le_bytes(fields.next()),
            time: Time::from_micros(i64::from_le_bytes(fields.next())),
        }
    }

    /// Length of the body.
    pub(super) fn length(header: &[u8; HEADER]) -> u32 {
        u32::from_le_bytes(Fields(&header[LENGTH_AT..]).next())
    }
}

/// True if the check sum of a frame is right, and its flags are those of this version: none.
pub(super) fn is_intact(header: &[u8; HEADER], body: &[u8]) -> bool {
    let written = u32::from_le_bytes(Fields(&header[CHECK_AT..]).next());
    written == check_sum(&header[..CHECK_AT], body) && header[8..LENGTH_AT] == [0; 4]
}

/// CRC-32C of the envelope up to its check sum, and of the body.
fn check_sum(header: &[u8], body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(header), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: Envelope = Envelope {
        kind: 0x0102,
        sender: 0x1122_3344_5566_7788,
        incarnation: 0x0A0B_0C0D,
        sequence: 0x0102_0304_0506_0708,
        acknowledged: 0x1112_1314_1516_1718,
        receiver: ActorId(0x2122_2324),
        time: Time::from_micros(-2),
    };

    /// The bytes on record: they never change in this version.
    #[test]
    fn an_envelope_has_these_bytes() {
        let bytes = ENVELOPE.write(b"body");
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let fields = [
            "48474c77",
            "0100",
            "0201",
            "00000000",
            "04000000",
            "8877665544332211",
            "0d0c0b0a",
            "24232221",
            "0807060504030201",
            "1817161514131211",
            "feffffffffffffff",
            "CHECK",
        ];
        let check = &hex[2 * CHECK_AT..];
        assert_eq!(hex, fields.concat().replace("CHECK", check));
        // CRC-32C of the 60 bytes without the last four, and of the body, computed bit by bit.
        let mut crc = u32::MAX;
        for byte in bytes[..CHECK_AT].iter().chain(b"body") {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 };
            }
        }
        assert_eq!(u32::from_le_bytes(bytes[CHECK_AT..].try_into().expect("four bytes")), !crc);
        assert_eq!(Envelope::read(&bytes), ENVELOPE);
        assert_eq!(Envelope::length(&bytes), 4);
    }

    #[test]
    fn any_changed_bit_is_noticed() {
        let good = ENVELOPE.write(b"body");
        assert!(is_intact(&good, b"body"));
        assert!(!is_intact(&good, b"bodx"));
        for bit in 0..HEADER * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(check_start(&bad).is_err() || !is_intact(&bad, b"body"), "bit {bit}");
        }
    }

    #[test]
    fn a_foreign_start_is_noticed_at_its_first_byte() {
        assert_eq!(check_start(b"G"), Err(Unframed::NotHaggle));
        assert_eq!(check_start(b"GET / HTTP"), Err(Unframed::NotHaggle));
        assert_eq!(check_start(b"HGL"), Ok(()));
        assert_eq!(check_start(b"HGLw\x02\x00"), Err(Unframed::OtherVersion(2)));
        assert_eq!(check_start(b"HGLw\x01\x00"), Ok(()));
    }

    /// Names of senders are numbers in journals and on the wire.
    #[test]
    fn the_number_of_a_name_never_changes() {
        assert_eq!(name_hash(""), 0x2D06_8005_38D3_94C2);
        assert_ne!(name_hash("anl"), name_hash("sdsc"));
    }
}
