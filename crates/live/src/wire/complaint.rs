//! The answer to a frame that cannot be taken.

use serde::{Deserialize, Serialize};

use super::codec::Broken;
use super::envelope::Unframed;
use super::kinds::Unread;

/// Tells a peer which frame was not taken, and why. A peer that gets it answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Sequence of the frame; 0 if it is not known.
    pub sequence: u64,
    /// Kind of the frame; 0 if it is not known.
    pub kind: u16,
    /// The reason.
    pub problem: Problem,
}

/// Reason why a frame was not taken. Variants are only appended, because peers know them by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    /// The receiver does not know the kind.
    Unsupported,
    /// The body is none of that kind.
    Malformed,
    /// A number in the body is out of its bounds.
    OutOfBounds,
    /// The sender may not send this kind.
    NotAllowed,
    /// The check sum is wrong. The connection closes.
    Damaged,
    /// The body is larger than the receiver takes. The connection closes.
    TooLarge,
    /// The envelope has another version. The connection closes.
    OtherVersion,
}

impl Complaint {
    /// Number of the kind of its frames.
    pub const KIND: u16 = 0x0001;

    /// The complaint about a body; the connection stays.
    pub fn about(sequence: u64, kind: u16, unread: &Unread) -> Complaint {
        let problem = match unread {
            Unread::Unsupported(_) => Problem::Unsupported,
            Unread::Malformed(_) => Problem::Malformed,
            Unread::OutOfBounds(_) => Problem::OutOfBounds,
        };
        Complaint { sequence, kind, problem }
    }

    /// The last frame of a connection that must close, unless nobody would understand it.
    pub fn last(broken: &Broken) -> Option<Complaint> {
        let (envelope, problem) = match broken {
            Broken::Unframed(Unframed::NotHaggle) | Broken::Io(_) => return None,
            Broken::Unframed(Unframed::OtherVersion(_)) => (None, Problem::OtherVersion),
            Broken::TooLarge { envelope, .. } => (Some(envelope), Problem::TooLarge),
            Broken::Damaged { envelope } => (Some(envelope), Problem::Damaged),
        };
        let (sequence, kind) = envelope.map_or((0, 0), |it| (it.sequence, it.kind));
        Some(Complaint { sequence, kind, problem })
    }

    /// Its body.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("memory takes it")
    }

    /// The complaint in a body; `None` if it is none.
    pub fn decode(body: &[u8]) -> Option<Complaint> {
        match postcard::take_from_bytes(body) {
            Ok((complaint, [])) => Some(complaint),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::{ActorId, Time};

    use super::*;
    use crate::wire::Envelope;

    #[test]
    fn it_says_what_was_wrong() {
        let complaint = Complaint { sequence: 300, kind: 0x0104, problem: Problem::Unsupported };
        assert_eq!(complaint.encode(), [0xAC, 0x02, 0x84, 0x02, 0x00], "the bytes on record");
        assert_eq!(Complaint::decode(&complaint.encode()), Some(complaint));
        assert_eq!(Complaint::decode(b"\xAC\x02\x84\x02\x63"), None);
        assert_eq!(Complaint::decode(b""), None);
        let malformed = Unread::Malformed(0x0104);
        let about = Complaint::about(300, 0x0104, &malformed);
        assert_eq!(about, Complaint { problem: Problem::Malformed, ..complaint });
    }

    #[test]
    fn a_stream_ends_with_a_reason_if_the_peer_can_read_it() {
        let envelope = Envelope {
            kind: 0x0104,
            sender: 1,
            incarnation: 1,
            sequence: 8,
            acknowledged: 0,
            receiver: ActorId(0),
            time: Time::ZERO,
        };
        let last = |broken| Complaint::last(&broken).map(|it| (it.sequence, it.problem));
        assert_eq!(last(Broken::Damaged { envelope }), Some((8, Problem::Damaged)));
        let large = Broken::TooLarge { envelope, length: 2, max: 1 };
        assert_eq!(last(large), Some((8, Problem::TooLarge)));
        let other = Broken::Unframed(Unframed::OtherVersion(2));
        assert_eq!(last(other), Some((0, Problem::OtherVersion)));
        assert_eq!(last(Broken::Unframed(Unframed::NotHaggle)), None);
    }
}
