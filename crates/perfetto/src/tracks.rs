//! Packets of a trace, one at a time, and the numbers of tracks.

use std::io::{self, Write};

use prost::Message;
use prost::encoding::{WireType, encode_key};

use crate::TraceError;
use crate::proto::{
    ChildOrder, CounterDescriptor, Data, DebugAnnotation, EventType, TracePacket, TrackDescriptor,
    TrackEvent, Value,
};

/// The only writer of packets.
const WRITER: u32 = 1;
/// Nanoseconds of a second.
const NANOSECONDS: f64 = 1e9;
/// Readers of traces have signed numbers of nanoseconds.
const LAST: f64 = i64::MAX as f64;
/// Field `packet` of a trace.
const PACKET: u32 = 1;

/// Number of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track(u64);

/// A trace that is being written.
pub(crate) struct Packets<W> {
    out: W,
    bytes: Vec<u8>,
    tracks: u64,
    /// Time that becomes zero, s.
    origin: f64,
}

impl<W: Write> Packets<W> {
    pub(crate) fn new(out: W, origin: f64) -> Packets<W> {
        Packets { out, bytes: Vec::new(), tracks: 0, origin }
    }

    /// A track that holds other tracks, or intervals and instants.
    pub(crate) fn track(&mut self, name: &str, parent: Option<Track>) -> Result<Track, TraceError> {
        let child_ordering = Some(ChildOrder::Chronological.into());
        self.describe(
            parent,
            TrackDescriptor {
                name: Some(name.to_owned()),
                child_ordering,
                ..TrackDescriptor::default()
            },
        )
    }

    pub(crate) fn counter(
        &mut self,
        name: &str,
        unit: &str,
        parent: Track,
    ) -> Result<Track, TraceError> {
        let counter = Some(CounterDescriptor { unit_name: Some(unit.to_owned()) });
        self.describe(
            Some(parent),
            TrackDescriptor { name: Some(name.to_owned()), counter, ..TrackDescriptor::default() },
        )
    }

    fn describe(
        &mut self,
        parent: Option<Track>,
        track: TrackDescriptor,
    ) -> Result<Track, TraceError> {
        // Number 0 is the track of all events without a track.
        self.tracks += 1;
        let (uuid, parent_uuid) = (Some(self.tracks), parent.map(|it| it.0));
        let track = TrackDescriptor { uuid, parent_uuid, ..track };
        self.packet(&TracePacket {
            data: Some(Data::TrackDescriptor(track)),
            trusted_packet_sequence_id: Some(WRITER),
            timestamp: None,
        })?;
        Ok(Track(self.tracks))
    }

    /// An interval. The intervals of a track must be given in order, and must not overlap.
    pub(crate) fn slice(
        &mut self,
        track: Track,
        (from, to): (f64, f64),
        event: TrackEvent,
    ) -> Result<(), TraceError> {
        self.event(track, from, EventType::SliceBegin, event)?;
        self.event(track, to.max(from), EventType::SliceEnd, TrackEvent::default())
    }

    pub(crate) fn instant(
        &mut self,
        track: Track,
        at: f64,
        event: TrackEvent,
    ) -> Result<(), TraceError> {
        self.event(track, at, EventType::Instant, event)
    }

    pub(crate) fn count(&mut self, track: Track, at: f64, value: i64) -> Result<(), TraceError> {
        let event = TrackEvent { counter_value: Some(value), ..TrackEvent::default() };
        self.event(track, at, EventType::Counter, event)
    }

    fn event(
        &mut self,
        Track(track): Track,
        at: f64,
        kind: EventType,
        event: TrackEvent,
    ) -> Result<(), TraceError> {
        let event = TrackEvent { track_uuid: Some(track), r#type: Some(kind.into()), ..event };
        let nanoseconds = ((at - self.origin) * NANOSECONDS).round();
        if nanoseconds >= LAST {
            return Err(TraceError::Late { seconds: at });
        }
        // A cast saturates, so a time of a damaged table before all others is the first one.
        let timestamp = nanoseconds as u64;
        self.packet(&TracePacket {
            timestamp: Some(timestamp),
            trusted_packet_sequence_id: Some(WRITER),
            data: Some(Data::TrackEvent(event)),
        })
    }

    fn packet(&mut self, packet: &TracePacket) -> Result<(), TraceError> {
        self.bytes.clear();
        encode_key(PACKET, WireType::LengthDelimited, &mut self.bytes);
        packet.encode_length_delimited(&mut self.bytes).map_err(io::Error::other)?;
        Ok(self.out.write_all(&self.bytes)?)
    }
}

/// An event of this text and class.
pub(crate) fn event(name: impl Into<String>, category: &str) -> TrackEvent {
    TrackEvent {
        name: Some(name.into()),
        categories: vec![category.to_owned()],
        ..TrackEvent::default()
    }
}

/// A fact about an event.
pub(crate) fn fact(name: &str, value: Value) -> DebugAnnotation {
    DebugAnnotation { name: Some(name.to_owned()), value: Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_the_format_does_not_have_is_an_error() {
        let mut bytes = Vec::new();
        let mut packets = Packets::new(&mut bytes, -5.0);
        let track = packets.track("north", None).expect("a track");
        let mut at = |seconds| packets.instant(track, seconds, event("x", "x"));
        // 292 years.
        assert!(at(9.2e9).is_ok());
        for seconds in [9.3e9, 1e300, f64::INFINITY] {
            let error = at(seconds).expect_err("it is too late");
            assert!(matches!(error, TraceError::Late { .. }), "{error}");
            assert!(error.to_string().contains("292 years"), "{error}");
        }
    }
}
