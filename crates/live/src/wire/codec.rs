//! Frames in a stream of bytes.

use std::io;

use bytes::{Bytes, BytesMut};
use thiserror::Error;
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

use super::envelope::{Envelope, HEADER, LENGTH_AT, Unframed, check_start, is_intact};

/// Largest body that a codec takes unless it is made with another maximum: 1 MiB.
pub const BODY_MAX: usize = 1 << 20;

/// A frame whose check sum is right. Its kind may be unknown, and its body may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The envelope.
    pub envelope: Envelope,
    /// The body, see [`decode`](super::decode).
    pub body: Bytes,
}

/// Reason why no further frame can be read from a stream: the connection must close. Most can be answered
/// before, see [`Complaint::last`](super::Complaint::last).
#[derive(Debug, Error)]
pub enum Broken {
    /// The peer is no node, or one of another version.
    #[error(transparent)]
    Unframed(#[from] Unframed),
    /// The body is larger than the maximum.
    #[error("a frame of {length} bytes; the limit is {max}")]
    TooLarge {
        /// The envelope. Its check sum is not known to be right.
        envelope: Envelope,
        /// Bytes of the body.
        length: usize,
        /// Bytes that it may have.
        max: usize,
    },
    /// The check sum is wrong, so the length may be as well.
    #[error("a frame was damaged on its way")]
    Damaged {
        /// The envelope as it arrived.
        envelope: Envelope,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads and writes frames.
///
/// A stream that claims a long body makes the codec reserve room for it, at most the maximum.
#[derive(Clone, Debug)]
pub struct FrameCodec {
    inner: LengthDelimitedCodec,
    max: usize,
}

impl FrameCodec {
    /// A codec for bodies of up to `max` bytes.
    ///
    /// # Panics
    /// If that does not fit into the field of the envelope.
    pub fn new(max: usize) -> FrameCodec {
        assert!(u32::try_from(max).is_ok(), "the envelope has four bytes for the length");
        let inner = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_offset(LENGTH_AT)
            .length_field_type::<u32>()
            .length_adjustment(HEADER as isize)
            .num_skip(0)
            .max_frame_length(max)
            .new_codec();
        FrameCodec { inner, max }
    }
}

impl Default for FrameCodec {
    fn default() -> FrameCodec {
        FrameCodec::new(BODY_MAX)
    }
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = Broken;

    fn decode(&mut self, from: &mut BytesMut) -> Result<Option<Frame>, Broken> {
        // At once: a foreign peer must not make the node wait for the rest of a frame.
        check_start(from)?;
        let Some(header) = from.first_chunk::<HEADER>() else { return Ok(None) };
        let (envelope, length) = (Envelope::read(header), Envelope::length(header) as usize);
        if length > self.max {
            return Err(Broken::TooLarge { envelope, length, max: self.max });
        }
        let Some(bytes) = self.inner.decode(from)? else { return Ok(None) };
        let (header, body) = bytes.split_first_chunk().expect("a frame begins with its header");
        if !is_intact(header, body) {
            return Err(Broken::Damaged { envelope });
        }
        Ok(Some(Frame { envelope, body: bytes.freeze().slice(HEADER..) }))
    }
}

impl Encoder<Frame> for FrameCodec {
    type Error = Broken;

    fn encode(&mut self, frame: Frame, to: &mut BytesMut) -> Result<(), Broken> {
        let Frame { envelope, body } = frame;
        if body.len() > self.max {
            return Err(Broken::TooLarge { envelope, length: body.len(), max: self.max });
        }
        to.reserve(HEADER + body.len());
        to.extend_from_slice(&envelope.write(&body));
        to.extend_from_slice(&body);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::{ActorId, Time};
    use proptest::prelude::*;

    use super::*;

    fn frame(sequence: u64, body: &[u8]) -> Frame {
        let envelope = Envelope {
            kind: 0x0104,
            sender: 7,
            incarnation: 1,
            sequence,
            acknowledged: 3,
            receiver: ActorId(2),
            time: Time::from_secs(5),
        };
        Frame { envelope, body: Bytes::copy_from_slice(body) }
    }

    fn bytes_of(frames: &[Frame]) -> BytesMut {
        let mut bytes = BytesMut::new();
        for frame in frames {
            FrameCodec::default().encode(frame.clone(), &mut bytes).expect("it is small");
        }
        bytes
    }

    /// The bytes of all frames, given to the codec in pieces.
    fn read(pieces: impl Iterator<Item = Vec<u8>>) -> Result<Vec<Frame>, Broken> {
        let (mut codec, mut buffer, mut frames) =
            (FrameCodec::new(100), BytesMut::new(), Vec::new());
        for piece in pieces {
            buffer.extend_from_slice(&piece);
            while let Some(frame) = codec.decode(&mut buffer)? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_arrive_whatever_the_pieces() {
        let frames = [frame(1, b""), frame(2, b"a body"), frame(3, &[0x77; 100]), frame(4, b"x")];
        let bytes = bytes_of(&frames).to_vec();
        for size in 1..=bytes.len() {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec);
            assert_eq!(read(pieces).expect("they are good"), frames, "pieces of {size}");
        }
    }

    #[test]
    fn a_body_above_the_maximum_is_refused_before_it_arrives() {
        let bytes = bytes_of(&[frame(9, &[1; 101])]);
        let Err(Broken::TooLarge { envelope, length, max }) =
            read([bytes[..HEADER].to_vec()].into_iter())
        else {
            panic!("it is taken");
        };
        assert_eq!((envelope.sequence, length, max), (9, 101, 100));
        let written = FrameCodec::new(100).encode(frame(9, &[1; 101]), &mut BytesMut::new());
        assert!(matches!(written, Err(Broken::TooLarge { .. })));
    }

    #[test]
    fn a_damaged_frame_ends_the_stream() {
        let mut bytes = bytes_of(&[frame(1, b"good"), frame(2, b"bad")]).to_vec();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let Err(Broken::Damaged { envelope }) = read([bytes].into_iter()) else {
            panic!("it is taken");
        };
        assert_eq!(envelope.sequence, 2);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, start in 0_usize..70, size in 1_usize..90) {
            let good = bytes_of(&[frame(1, b"a body"), frame(2, b"")]);
            // Random bytes alone are never more than a wrong magic.
            let mixed = [&good[..start], &bytes].concat();
            let _ = read(bytes.chunks(size).map(<[u8]>::to_vec));
            let _ = read(mixed.chunks(size).map(<[u8]>::to_vec));
        }

        #[test]
        fn no_changed_byte_is_taken(at in 0_usize..66, to: u8) {
            let mut bytes = bytes_of(&[frame(1, b"a body")]).to_vec();
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            let frames = read([bytes].into_iter());
            // A longer length waits for bytes that never come.
            prop_assert!(frames.is_err() || frames.is_ok_and(|it| it.is_empty()));
        }
    }
}
