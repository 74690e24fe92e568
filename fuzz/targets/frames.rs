//! For any bytes, a stream gives frames and at last an error or nothing. The body of each frame is a message or an
//! error, and what is read is written and read as the same. The first two bytes also stand for a kind, so that bodies
//! of all kinds are found without a check sum.

#![no_main]

use bytes::BytesMut;
use haggle_live::wire::{Complaint, FrameCodec, KINDS, Limits, decode, encode, line};
use libfuzzer_sys::fuzz_target;
use tokio_util::codec::Decoder;

fn body(kind: u16, bytes: &[u8]) {
    let Ok(message) = decode(kind, bytes, &Limits::default()) else { return };
    let (number, written) = encode(message.clone()).expect("what was read can be written");
    assert_eq!(number, kind);
    let again = decode(kind, &written, &Limits::default()).expect("and read again");
    assert_eq!(format!("{again:?}"), format!("{message:?}"));
}

fuzz_target!(|bytes: &[u8]| {
    let (mut codec, mut stream) = (FrameCodec::new(1 << 12), BytesMut::from(bytes));
    while let Ok(Some(frame)) = codec.decode(&mut stream) {
        assert!(!line(&frame).contains('\n'));
        body(frame.envelope.kind, &frame.body);
    }
    if let Some((&[high, low], rest)) = bytes.split_first_chunk() {
        // Most numbers are unused, so they are taken in turns.
        let kind = &KINDS[usize::from(u16::from_le_bytes([low, high])) % KINDS.len()];
        body(kind.number, rest);
        let _ = Complaint::decode(rest);
    }
});
